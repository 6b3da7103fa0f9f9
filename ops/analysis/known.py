"""Answers that are kept once, so that what was found out about two of them is looked up.

The same few answers meet again and again along the paths of a program: all results of a layer ask
for the same arrays in front of it, and layers repeat each other. Maps are dear to compare; answers
that are kept once are compared as objects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ops.analysis import chaining
from ops.rules.op_indexing import Unknown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indexing.layout import Shape
    from ops.analysis.answers import Answer

MOST_ANSWERS: Final = 1 << 16
"""When so many are kept, all are forgotten: equal answers are then found out again, no more."""

_USUAL_WEIGHT: Final = 16
"""The terms that may work at once in a way without costing more than others."""


class Known:
    """An answer, and the answers that come of it and others of the same :class:`Answers`.

    ``count`` says how many ways it has; 1 if that is unknown.
    """

    __slots__ = ("_all", "_burden", "_followed", "_hash", "_joined", "answer", "count")

    def __init__(self, answer: Answer, all_answers: Answers) -> None:
        self.answer: Final = answer
        self.count: Final = 1 if isinstance(answer, Unknown) else len(answer)
        self._all = all_answers
        self._hash = hash(answer)
        self._burden: int | None = None
        self._followed: dict[Known, Known] = {}
        self._joined: dict[tuple[object, ...], Known] = {}

    def followed(self, step: Known) -> Known:
        """Every way of this answer with every way of the step behind it."""
        found = self._followed.get(step)
        if found is None:
            found = self._all.known(chaining.followed(self.answer, step.answer))
            self._followed[step] = found
        return found

    def joined(self, others: Sequence[Known], array: Shape) -> Known:
        """All ways of several answers, which lead to one array."""
        if not others and self.count <= 1:
            return self
        key = (array.dimensions, *others)
        found = self._joined.get(key)
        if found is None:
            several = (self.answer, *(other.answer for other in others))
            found = self._all.known(chaining.joined(*several, sizes=array.dimensions))
            self._joined[key] = found
        return found

    def cost(self, step: Known) -> int:
        """What it costs to follow a step: one for each pair of ways, more if they are long."""
        pairs = self.count * step.count
        return pairs + self.burden * step.count + step.burden * self.count

    @property
    def burden(self) -> int:
        """What long formulas add to a cost: it grows with the square of their weight."""
        if self._burden is None:
            ways = () if isinstance(self.answer, Unknown) else self.answer
            beyond = (max(0, chaining.weight_of(way) - _USUAL_WEIGHT) for way in ways)
            self._burden = sum(weight**2 // 64 for weight in beyond)
        return self._burden

    def narrowed(self) -> Known:
        """One way to each array in the place of all."""
        return self._all.known(chaining.narrowed(self.answer))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Known):
            return NotImplemented
        return self is other or (self._hash == other._hash and self.answer == other.answer)

    def __hash__(self) -> int:
        return self._hash


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
