"""Log of the laws applied: always counted, logged during a trace, shown as a table.

Code that applies a law says so in one line, ``scope.fired(LAW)``, which costs a count outside
of traces.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias, get_args

from simplifier.expr import operations
from simplifier.expr.form import Atom, Form, Key, postorder
from simplifier.laws.catalogue import GROUPS, LAWS
from simplifier.laws.law import Law, claimed
from simplifier.tools.display import html_of_table

COUNTS: Final[dict[Law, int]] = dict.fromkeys(LAWS, 0)
"""How often each law was applied in this process, as :func:`rules` shows it.

Counted without a lock: of two threads that count at the same time, one may be lost.
"""


class Rewrite(NamedTuple):
    """``before`` was rewritten to ``after``, by these laws at once.

    Without a law, the two are equal by meaning: a form that is too large stays one opaque term.
    """

    laws: tuple[Law, ...]
    before: Form
    after: Form


How: TypeAlias = Literal["extracted", "shared", "read", "solved"]
"""How a form was rewritten: by a step of the extraction; what it was written as became another form
that shares more work; it was read in another way before all else; in the smaller problem, in terms
of the variables of this one."""


class RewriteLog:
    """The laws that were applied while a problem was worked out.

    The log holds more than went into a result: canonical forms are also asked for candidates that
    turn out to cost too much. :mod:`simplifier.problem` follows what did.
    """

    def __init__(self, lemmas: dict[Law, None] | None = None) -> None:
        self.laws: dict[Law, None] = {}
        """The laws of the operation that is being brought into canonical form."""
        self.lemmas: dict[Law, None] = {} if lemmas is None else lemmas
        """The lemmas of ranges, in the order of first use; problems within a problem share it."""
        self.canonical: dict[Atom, Rewrite] = {}
        """The operations of forms on canonical arguments, with their canonical forms."""
        self.rewrites: dict[How, dict[Key, Rewrite]] = {how: {} for how in get_args(How)}
        """The rewritings of each kind, by the form that each replaced."""
        self.parts: dict[Key, list[Form]] = {}
        """Forms of which only parts were extracted, and these."""
        self.iterations: dict[Key, list[Form]] = {}
        """The way to the fixpoint, from the first form to the cheapest."""

    def end(self, atom: Atom, arguments: tuple[Form, ...], value: Form) -> None:
        """An operation on these canonical arguments has this value."""
        before = operations.rebuilt(atom, arguments)
        self.canonical[atom] = Rewrite(tuple(self.laws), before, value)
        self.laws.clear()  # the next operation's laws begin here

    def operations(self, form: Form) -> Iterator[Rewrite]:
        """The steps of each operation of a form on the way to its canonical form."""
        rewrites = map(self.canonical.__getitem__, postorder((form,)))
        return (each for each in rewrites if each.before != each.after)

    def extractions(self, canonical: Form) -> Iterator[Rewrite]:
        """The steps of the extraction from a canonical form, then from the forms inside."""
        seen: set[Key] = set()
        stack = [canonical]
        while stack:
            form = stack.pop()
            if form.key in seen:
                continue
            seen.add(form.key)
            rewrite = self.rewrites["extracted"].get(form.key)
            if rewrite is not None:
                yield rewrite
                stack.append(rewrite.after)
                continue
            for atom in reversed(form.terms):
                stack += reversed(atom.arguments)
                stack.append(Form(0, {atom: 1}))


class Recorder:
    """Counts the laws that are applied, and logs them during a trace.

    >>> from simplifier.laws.catalogue.floordiv import REMAINDER
    >>> recorder = Recorder()
    >>> recorder.log = RewriteLog()
    >>> recorder.fired(REMAINDER)
    >>> list(recorder.log.laws)
    [<law remainder>]
    """

    log: RewriteLog | None = None

    def fired(self, law: Law) -> None:
        """A law was applied to the operation at hand."""
        COUNTS[law] += 1
        if self.log is not None:
            self.log.laws[law] = None

    @contextmanager
    def aside(self) -> Generator[None]:
        """Laws that are applied to something else, while an operation is at hand."""
        laws = None if self.log is None else dict(self.log.laws)
        yield
        if self.log is not None and laws is not None:
            self.log.laws = laws

    def used(self, lemma: Law) -> None:
        """A lemma bounds a range."""
        COUNTS[lemma] += 1
        if self.log is not None:
            self.log.lemmas[lemma] = None

    def rewrote(self, how: How, rewrite: Rewrite, form: Form | None = None) -> None:
        """Count and log a rewriting; what the form was written as, if it is given."""
        for law in rewrite.laws:
            COUNTS[law] += 1
        if self.log is not None:
            self.log.rewrites[how][(form or rewrite.before).key] = rewrite


# The table of all laws.


@dataclass(frozen=True, slots=True)
class Rule:
    """One law: its statement, condition and reason, and number of applications."""

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
        rows += [
            (str(each.fired), each.name, claimed(each.identity, each.condition)) for each in self
        ]
        first, second = (max(len(row[column]) for row in rows) for column in (0, 1))
        lines = [f"{fired:>{first}}  {name:<{second}}  {claim}" for fired, name, claim in rows]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<{len(self)} laws>"

    def _repr_html_(self) -> str:
        rows = (
            (each.name, each.identity, each.condition, each.why, str(each.fired)) for each in self
        )
        return html_of_table(("name", "identity", "if", "why", "fired"), rows, most=len(self))


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
        Rule(law.name, group, law.identity, law.condition, law.why, COUNTS[law])
        for group, laws in GROUPS.items()
        for law in laws
    )
