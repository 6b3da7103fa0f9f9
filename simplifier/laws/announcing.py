"""How the simplifier says which law it applies: counted always, written down when somebody asks.

Whoever applies a law announces it on the scope that it works in: one line, which costs a count as
long as nobody traces. What a step rewrites is given as a function, called for a journal only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from simplifier.laws.catalogue import LAWS

if TYPE_CHECKING:
    from collections.abc import Callable

    from simplifier.form import Form, Key
    from simplifier.laws.law import Law

COUNTS: Final[dict[Law, int]] = dict.fromkeys(LAWS, 0)
"""How often each law was applied in this process, as :func:`simplifier.rules` shows it.

Counted without a lock: of two threads that count at the same time, one may be lost.
"""


class Fact(NamedTuple):
    """``before`` was rewritten to ``after``, by these laws at once; both are as they were spelled.

    Where no law is named, the two are the same by meaning: a sum that is now one term, or a form
    and what it came to when it was brought into canonical form and written out.
    """

    laws: tuple[Law, ...]
    before: Form
    after: Form


class Journal:
    """What was announced while a problem was worked out, by what was rewritten.

    It holds more than went into a result: the laws are also asked for ranges and for spellings that
    turn out too dear. :mod:`simplifier.tracing` follows what did.
    """

    def __init__(self) -> None:
        self.applied: dict[Key, Fact] = {}
        """Operations on canonical forms, by what became of them."""
        self.spelled: dict[Key, Fact] = {}
        """Spellings, by the cheaper one that was taken."""
        self.settled: list[Fact] = []
        """From the input to the result."""
        self.lemmas: dict[Law, None] = {}
        """What ranges rest on, in the order of first use."""


class Announcer:
    """What announces; a scope is one.

    >>> from simplifier.laws.catalogue.quotients import REMAINDER
    >>> from simplifier.text import parse_form
    >>> scope = Announcer()
    >>> scope.journal = Journal()
    >>> scope.fired(lambda: (parse_form("x mod 8"), parse_form("x - 8 * (x // 8)")), REMAINDER)
    >>> scope.journal.applied[parse_form("x mod 8").key].after
    Form(x - (x floordiv 8) * 8)
    """

    journal: Journal | None = None
    """What is announced goes in here, if somebody asks."""

    def fired(self, step: Callable[[], tuple[Form, Form]], *laws: Law) -> None:
        """Laws made another form of an operation on canonical forms.

        ``step`` gives the operation as an atom that is not evaluated, and what became of it, where
        operations that are still to be done are not evaluated either.
        """
        for law in laws:
            COUNTS[law] += 1
        if self.journal is not None:
            before, after = step()
            if before != after:
                self.journal.applied.setdefault(before.key, Fact(laws, before, after))

    def used(self, lemma: Law) -> None:
        """A range got tighter by a lemma."""
        COUNTS[lemma] += 1
        if self.journal is not None:
            self.journal.lemmas[lemma] = None

    def spelled(self, before: Form, after: Form, *laws: Law) -> None:
        """Of all spellings of one step this one was the cheapest."""
        for law in laws:
            COUNTS[law] += 1
        if self.journal is not None:
            self.journal.spelled.setdefault(before.key, Fact(laws, before, after))

    def settled(self, before: Form, after: Form, *laws: Law) -> None:
        """A form of the user's became another one: by laws, or by being written out."""
        for law in laws:
            COUNTS[law] += 1
        if self.journal is not None:
            self.journal.settled.append(Fact(laws, before, after))
