"""Many questions that follow the same steps together.

Where paths of several questions lead to an array, most of them have the same answer there, such as
all results of a layer in front of it. So an array holds each answer once, with the set of questions
that have it: an integer with a bit for each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, TypeVar

from ops.analysis import chaining

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from indexing.layout import Shape
    from ops.analysis.known import Known

Crowd: TypeAlias = "Mapping[Known, int]"
"""The answers on an array, each with the set of questions that have it; no question has two."""

_Arrivals: TypeAlias = "dict[tuple[Known, ...], int]"
"""The answers that came to an array, in order, with the set of questions that have them there."""

_Key = TypeVar("_Key")


class Compositions:
    """Follows answers, with no more than :data:`MOST_COMPOSITIONS` for each question in all.

    What a question asks again costs it nothing, nor does one map after another one.
    """

    def __init__(self) -> None:
        self._paid: dict[tuple[Known, Known], int] = {}
        self._spent: dict[int, int] = {}

    def followed(self, crowd: Crowd, step: Known) -> Crowd:
        """The answers behind a step; of one way each for questions that have nothing left."""
        behind: dict[Known, int] = {}
        for known, questions in crowd.items():
            able = self._able(known, step, questions)
            if able:
                _add(behind, known.followed(step), able)
            if able != questions:
                _add(behind, known.narrowed().followed(step.narrowed()), questions & ~able)
        return behind

    def _able(self, known: Known, step: Known, questions: int) -> int:
        """Those of some questions that can pay for an answer behind a step, and now have."""
        cost = known.cost(step)
        if cost <= 1:
            return questions
        paid = self._paid.get((known, step), 0)
        for question in singles(questions & ~paid):
            spent = self._spent.get(question, 0) + cost
            if spent <= chaining.MOST_COMPOSITIONS:
                self._spent[question] = spent
                paid |= question
        self._paid[known, step] = paid
        return questions & paid


def met(crowds: Sequence[Crowd], array: Shape) -> Crowd:
    """The answers on an array, in which those that each question brings there are joined."""
    first = crowds[0]
    others = [crowd for crowd in crowds[1:] if crowd != first]
    if not others and all(known.count <= 1 for known in first):
        return first
    together: _Arrivals = {(known,): questions for known, questions in first.items()}
    for crowd in others:
        together = _with_arrivals(together, crowd)
    found: dict[Known, int] = {}
    for (known, *more), questions in together.items():
        _add(found, known.joined(more, array), questions)
    return found


def _with_arrivals(before: _Arrivals, crowd: Crowd) -> _Arrivals:
    """What has come to an array when another crowd comes."""
    both = sum(before.values()) & sum(crowd.values())  # no question is in two sets of a crowd
    after: _Arrivals = {}
    for knowns, questions in before.items():
        _add(after, knowns, questions & ~both)
    for known, questions in crowd.items():
        _add(after, (known,), questions & ~both)
    for knowns, known, questions in _meetings(before, crowd, both):
        _add(after, knowns if known in knowns else (*knowns, known), questions)
    return after


def _meetings(
    before: _Arrivals, crowd: Crowd, both: int
) -> Iterator[tuple[tuple[Known, ...], Known, int]]:
    """What some questions have and get: all pairs, or question by question if these are fewer."""
    if len(before) * len(crowd) <= both.bit_count():
        for knowns, questions in before.items():
            for known, others in crowd.items():
                yield knowns, known, questions & others
    else:
        there = {one: known for known, each in crowd.items() for one in singles(each & both)}
        for knowns, questions in before.items():
            for one in singles(questions & both):
                yield knowns, there[one], one


def _add(crowd: dict[_Key, int], key: _Key, questions: int) -> None:
    """Let questions have something, too."""
    if questions:
        crowd[key] = crowd.get(key, 0) | questions


def singles(questions: int) -> Iterator[int]:
    """The sets of one question each that make up a set.

    >>> [bin(question) for question in singles(0b1101)]
    ['0b1', '0b100', '0b1000']
    """
    while questions:
        lowest = questions & -questions
        yield lowest
        questions ^= lowest
