"""The table of all laws, and how often each one was applied."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from simplifier.laws.catalogue import GROUPS
from simplifier.laws.rewrite_log import COUNTS

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class Rule:
    """One law: what it says, when it holds and why, and how often it was applied."""

    name: str
    group: str
    identity: str
    condition: str
    why: str
    fired: int


class Rules(tuple[Rule, ...]):
    """All laws, in the order of the catalogue; printed as a table."""

    __slots__ = ()

    def __str__(self) -> str:
        rows = [("fired", "name", "identity, and when it holds")]
        rows += [(str(rule.fired), rule.name, _claim(rule)) for rule in self]
        first, second = (max(len(row[place]) for row in rows) for place in (0, 1))
        lines = [f"{fired:>{first}}  {name:<{second}}  {claim}" for fired, name, claim in rows]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in ("name", "identity", "if", "why", "fired"))
        body = "".join(_row(rule) for rule in self)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def rules() -> Rules:
    """Every law of the simplifier, and how often it was applied in this process so far.

    Capital letters stand for any integer expressions, small letters for integer constants. A law
    holds wherever its condition does and its left side is defined; the test-suite proves each one.
    Answers from memory apply no law.

    >>> remainder = rules()[0]
    >>> remainder.name, remainder.identity, remainder.condition
    ('remainder', 'A mod B == A - B * (A floordiv B)', '')
    """
    return Rules(
        Rule(law.name, group.title, law.identity, law.condition, law.why, COUNTS[law])
        for group in GROUPS
        for law in group.laws
    )


def _claim(rule: Rule) -> str:
    return f"{rule.identity}  if {rule.condition}" if rule.condition else rule.identity


def _row(rule: Rule) -> str:
    code = (f"<code>{escape(text)}</code>" for text in (rule.identity, rule.condition))
    return _cells((escape(rule.name), *code, escape(rule.why), str(rule.fired)))


def _cells(contents: Iterable[str]) -> str:
    return "<tr>" + "".join(f"<td>{content}</td>" for content in contents) + "</tr>"
