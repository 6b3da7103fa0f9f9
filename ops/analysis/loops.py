"""What any number of rounds of a loop does: steps between arrays, taken again and again.

The arrays are those of the loop's state. Rounds go on until they lead along no other maps; if these
do not come to an end, one map that holds whatever rounds may do takes their place.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from ops.analysis import chaining
from ops.analysis.dependences import devices_in
from ops.analysis.known import Answers
from ops.analysis.patterns import identity_of
from ops.analysis.widening import boxed
from ops.rules.op_indexing import Unknown
from simplifier.errors import IndexingError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from indexing import IndexingMap
    from indexing.layout import Shape
    from ops.analysis.answers import Answer, OperandIndexing
from ops.analysis.known import Known

MOST_MAPS_OF_LOOP: Final = 64
"""Where rounds lead along more different maps between two arrays, one map takes their place."""

_MOST_STEPS_OF_COMPARISON: Final = 100_000
"""How many operations of isl are spent on finding that one map is a part of another."""


class _Meeting(NamedTuple):
    """Ways between two arrays of some sizes, to which more come; maybe there is no end to it."""

    before: Known
    more: Known
    sizes: tuple[tuple[int, ...], tuple[int, ...]]
    is_endless: bool


class Rounds:
    """The steps of one round of a loop, which begin at each of its arrays, by their numbers.

    What is found for one array is remembered for the others: they often take the same steps.
    """

    def __init__(
        self, arrays: Sequence[Shape], steps: Mapping[int, Sequence[tuple[int, Answer]]]
    ) -> None:
        self._arrays = arrays
        self._answers = Answers()
        self._nothing = self._answers.known(())
        self._itself = [self._answers.known(identity_of(array)) for array in arrays]
        self._steps = {
            begin: [(end, self._answers.known(answer)) for end, answer in each]
            for begin, each in steps.items()
        }
        listed = (answer for each in steps.values() for _, answer in each)
        self._devices = devices_in(*_ways(listed))
        self._paid: set[tuple[Known, Known]] = set()
        self._left = chaining.MOST_COMPOSITIONS
        self._meetings: dict[_Meeting, tuple[Known, Known]] = {}

    def reached(self, begin: int) -> dict[int, Answer]:
        """All arrays that steps lead to from one of them, and the maps that they lead along."""
        found = {begin: self._itself[begin]}
        fresh = dict(found)
        came: Counter[int] = Counter()
        while fresh:
            place = next(iter(fresh))
            known = fresh.pop(place)
            for target, step in self._steps.get(place, ()):
                before = found.get(target, self._nothing)
                more = self._followed(known, step)
                pair = self._arrays[begin].dimensions, self._arrays[target].dimensions
                question = _Meeting(before, more, pair, came[target] > MOST_MAPS_OF_LOOP)
                found[target], new = self._met(question)
                if new.count:
                    came[target] += new.count
                    fresh[target] = self._united(fresh.get(target, self._nothing), new)
        return {place: known.answer for place, known in found.items() if known.count}

    def _followed(self, known: Known, step: Known) -> Known:
        """Every way of the one after every way of the other; of one each if too many were made."""
        if (known, step) not in self._paid:
            if known.cost(step) > self._left:
                return known.narrowed().followed(step.narrowed())
            self._left -= known.cost(step)
            self._paid.add((known, step))
        return known.followed(step)

    def _met(self, meeting: _Meeting) -> tuple[Known, Known]:
        """The ways between two arrays when more are found, and those that are new."""
        before = meeting.before
        if meeting.more is before:
            return before, self._nothing
        if meeting not in self._meetings:
            after = self._answers.known(self._widest(meeting))
            new = () if after == before else _without(after.answer, before.answer)
            self._meetings[meeting] = after, self._answers.known(new)
        return self._meetings[meeting]

    def _widest(self, meeting: _Meeting) -> Answer:
        """All ways without those that are parts of others, or one way if they do not end."""
        before, more = meeting.before.answer, meeting.more.answer
        if isinstance(before, Unknown):
            return before
        if isinstance(more, Unknown):
            return more
        ways = _without_parts(before, more)
        reasons = [way.approximation for way in ways if way.approximation]
        goes_on = meeting.is_endless or len(ways) > MOST_MAPS_OF_LOOP or (before and reasons)
        if ways == before or not goes_on:
            return ways
        reason = f"rounds of a loop along more than {MOST_MAPS_OF_LOOP} different maps"
        both = (*before, *more)
        return (boxed(both, [*reasons, reason][0], *meeting.sizes, self._devices),)

    def _united(self, one: Known, other: Known) -> Known:
        return self._answers.known(_united(one.answer, other.answer))


def _without_parts(
    before: tuple[OperandIndexing, ...], more: tuple[OperandIndexing, ...]
) -> tuple[OperandIndexing, ...]:
    """The ways that are not seen to be parts of others; when they are too many, maybe not all."""
    ways = before
    for way in more:
        if not way.map.is_known_empty and not any(_is_part(way, wide) for wide in ways):
            ways = (*(other for other in ways if not _is_part(other, way)), way)
        if len(ways) > MOST_MAPS_OF_LOOP:
            break
    return ways


def _is_part(way: OperandIndexing, wide: OperandIndexing) -> bool:
    """Whether everything that a way relates is seen to be related by another one."""
    if way.replica_id or wide.replica_id or way.runtime != wide.runtime:
        return way == wide
    return _has_smaller_domain(way.map, wide.map) or (
        bool(way.map.ranges and wide.map.ranges) and _reaches_no_further(way.map, wide.map)
    )


def _has_smaller_domain(narrow: IndexingMap, wide: IndexingMap) -> bool:
    """Whether the first is the second with less in its domain."""
    domain = wide.domain
    return (
        narrow.forms == wide.forms
        and narrow.domain.places == domain.places
        and {*domain.constraints} <= {*narrow.domain.constraints}
        and all(
            bounds.contains(narrow.domain.bounds[place]) for place, bounds in domain.bounds.items()
        )
    )


def _reaches_no_further(narrow: IndexingMap, wide: IndexingMap) -> bool:
    """Whether isl finds, without much effort, that the second has all pairs of the first."""
    pairs = zip(narrow.result_bounds(), wide.result_bounds(), strict=True)
    if not all(theirs.contains(mine) for mine, theirs in pairs):
        return False
    try:
        return narrow.is_subset(wide, budget=_MOST_STEPS_OF_COMPARISON, runtime_as_parameters=True)
    except IndexingError:
        return False


def _ways(answers: Iterable[Answer]) -> Iterator[OperandIndexing]:
    for answer in answers:
        if not isinstance(answer, Unknown):
            yield from answer


def _united(one: Answer, other: Answer) -> Answer:
    """All ways of both, each once."""
    if isinstance(one, Unknown):
        return one
    if isinstance(other, Unknown):
        return other
    return tuple(dict.fromkeys(one + other))


def _without(answer: Answer, known: Answer) -> Answer:
    """What is new."""
    if isinstance(answer, Unknown) or isinstance(known, Unknown):
        return answer
    return tuple(way for way in answer if way not in known)
