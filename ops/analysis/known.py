"""Answers that are kept once, so that what was found out about two of them is looked up.

The same few answers meet again and again along the paths of a program: all results of a layer ask
for the same arrays in front of it, and layers repeat each other. Maps are dear to compare; answers
that are kept once are compared as objects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ops.analysis import chaining

if TYPE_CHECKING:
    from ops.analysis.answers import Answer

MOST_ANSWERS: Final = 1 << 16
"""When so many are kept, all are forgotten: equal answers are then found out again, no more."""


class Known:
    """An answer, and the answers that come of it and others of the same :class:`Answers`."""

    __slots__ = ("_all", "_followed", "_joined", "answer")

    def __init__(self, answer: Answer, all_answers: Answers) -> None:
        self.answer: Final = answer
        self._all = all_answers
        self._followed: dict[Known, Known] = {}
        self._joined: dict[Known, Known] = {}

    def followed(self, step: Known) -> Known:
        """Every way of this answer with every way of the step behind it."""
        found = self._followed.get(step)
        if found is None:
            found = self._all.known(chaining.followed(self.answer, step.answer))
            self._followed[step] = found
        return found

    def joined(self, other: Known) -> Known:
        """All ways of both."""
        if other is self:
            return self
        found = self._joined.get(other)
        if found is None:
            found = self._all.known(chaining.joined(self.answer, other.answer))
            self._joined[other] = found
        return found


class Answers:
    """Keeps each answer once.

    >>> answers = Answers()
    >>> nothing = answers.known(())
    >>> answers.known(()) is nothing
    True
    >>> nothing.followed(nothing) is nothing
    True
    """

    def __init__(self) -> None:
        self._known: dict[Answer, Known] = {}

    def known(self, answer: Answer) -> Known:
        """The one that is equal to the answer."""
        found = self._known.get(answer)
        if found is None:
            if len(self._known) >= MOST_ANSWERS:
                self._known.clear()
            found = self._known[answer] = Known(answer, self)
        return found
