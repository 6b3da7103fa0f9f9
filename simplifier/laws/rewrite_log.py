"""How the simplifier says which law it applies: counted always, written down when somebody asks.

Whoever applies a law announces it on the scope that it works in: one line, which costs a count as
long as nobody traces.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, NamedTuple

from simplifier.expr import operations
from simplifier.laws.catalogue import LAWS

if TYPE_CHECKING:
    from collections.abc import Generator

    from simplifier.expr.form import Atom, Form, Key
    from simplifier.laws.law import Law

COUNTS: Final[dict[Law, int]] = dict.fromkeys(LAWS, 0)
"""How often each law was applied in this process, as :func:`simplifier.laws.rules` shows it.

Counted without a lock: of two threads that count at the same time, one may be lost.
"""


class Fact(NamedTuple):
    """``before`` was rewritten to ``after``, by these laws at once.

    Where no law is named, the two are the same by meaning: what is too large to be looked into is
    kept as one term.
    """

    laws: tuple[Law, ...]
    before: Form
    after: Form


class Journal:
    """What was announced while a problem was worked out.

    It holds more than went into a result: canonical forms are also asked for spellings that turn
    out too dear. :mod:`simplifier.trace` follows what did.
    """

    def __init__(self, lemmas: dict[Law, None] | None = None) -> None:
        self.laws: dict[Law, None] = {}
        """Those of the operation that is being brought into canonical form."""
        self.lemmas: dict[Law, None] = {} if lemmas is None else lemmas
        """What ranges rest on, in the order of first use; problems within a problem share it."""
        self.canonical: dict[Atom, Fact] = {}
        """What became of the operations of forms: on canonical arguments, in canonical form."""
        self.spelled: dict[Key, Fact] = {}
        """Spellings, by the dearer one that each replaced."""
        self.parts: dict[Key, list[Form]] = {}
        """Forms of which only parts were written out, and these."""
        self.rounds: dict[Key, list[Form]] = {}
        """What was read and written again and again, from the first form to the cheapest."""
        self.filled: dict[Key, Fact] = {}
        """Settled forms in which parts were replaced by what they are worth."""
        self.read: dict[Key, Fact] = {}
        """Forms that were read in another way before all else."""
        self.solved: dict[Key, Fact] = {}
        """What the smaller problem made of forms, in terms of the variables of this one."""

    def begin(self) -> None:
        """The next operation's laws begin here."""
        self.laws.clear()

    def end(self, atom: Atom, arguments: tuple[Form, ...], value: Form) -> None:
        """An operation on these canonical arguments has this value."""
        before = operations.rebuilt(atom, arguments)
        self.canonical[atom] = Fact(tuple(self.laws), before, value)
        self.begin()


class Announcer:
    """What announces; a scope is one.

    >>> from simplifier.laws.catalogue.quotients import REMAINDER
    >>> scope = Announcer()
    >>> scope.journal = Journal()
    >>> scope.fired(REMAINDER)
    >>> list(scope.journal.laws)
    [<law remainder>]
    """

    journal: Journal | None = None
    """What is announced goes in here, if somebody asks."""

    def fired(self, law: Law) -> None:
        """A law was applied to the operation at hand."""
        COUNTS[law] += 1
        if self.journal is not None:
            self.journal.laws[law] = None

    @contextmanager
    def aside(self) -> Generator[None]:
        """Laws that are applied to something else, while an operation is at hand."""
        laws = None if self.journal is None else dict(self.journal.laws)
        yield
        if self.journal is not None and laws is not None:
            self.journal.laws = laws

    def used(self, lemma: Law) -> None:
        """A lemma bounds a range."""
        COUNTS[lemma] += 1
        if self.journal is not None:
            self.journal.lemmas[lemma] = None

    def spelled(self, fact: Fact) -> None:
        """Of all spellings of one step this one was the cheapest."""
        for law in fact.laws:
            COUNTS[law] += 1
        if self.journal is not None:
            self.journal.spelled.setdefault(fact.before.key, fact)

    def filled(self, fact: Fact) -> None:
        """Parts of a settled form were replaced by what they are worth."""
        for law in fact.laws:
            COUNTS[law] += 1
        if self.journal is not None:
            self.journal.filled[fact.before.key] = fact

    def read(self, fact: Fact) -> None:
        """A form was read in another way, and the whole is cheaper for it."""
        for law in fact.laws:
            COUNTS[law] += 1
        if self.journal is not None:
            self.journal.read[fact.before.key] = fact

    def solved(self, fact: Fact) -> None:
        """A form became a cheaper one in the problem with an equation solved."""
        for law in fact.laws:
            COUNTS[law] += 1
        if self.journal is not None:
            self.journal.solved[fact.before.key] = fact
