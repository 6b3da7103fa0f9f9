"""Law: an identity over the integers and its side condition, with the reasons.

Identity and condition are statements in this project's own syntax. Capital letters stand for any
integer-valued expressions, small letters for integer constants. A law says: for all integers, where
the condition holds and the left side is defined, which is where it divides by nothing that is zero,
the right side is defined and the identity holds. Each identity stands once; some are also read from
right to left, to write a form out. Lemmas about ranges are laws whose identity is an inequality.

A statement is a conjunction of comparisons as text, ``A <= B and B < A + c``, ``0 <= x <= 63``;
comparisons may be chained. So what laws say is data that programs read: the tests do, and have z3
prove each law for all integers, and show that it fails without any one part of its condition.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Example:
    """An expression that a law rewrites, and its result where a statement about variables holds."""

    expression: str
    result: str
    where: str = ""


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A similar expression to which the law does not apply, and why not."""

    expression: str
    why: str
    where: str = ""
    becomes: str = ""
    """What other laws make of it; without it, nothing."""

    @property
    def result(self) -> str:
        """The simplified expression: the expression itself, if no other law applies."""
        return self.becomes or self.expression


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Law:
    """A rewriting that keeps every value, from the left side of the identity to the right one.

    There is one object for each law, made in :mod:`simplifier.laws.catalogue`; compare with ``is``.
    """

    name: str
    identity: str
    condition: str = ""
    why: str
    proof: tuple[str, ...] = ()
    """Statements in between, each following from the condition and those before it."""
    example: Example
    near_miss: NearMiss

    def __str__(self) -> str:
        return f"{self.name}: {claimed(self.identity, self.condition)}"

    def __repr__(self) -> str:
        return f"<law {self.name}>"


def claimed(identity: str, condition: str) -> str:
    """What a law says, in a line."""
    return f"{identity}  if {condition}" if condition else identity
