"""One dependence after the other: maps composed, with the origins of their runtime variables.

What is read on another device is computed there: the values that lead to it are that device's, and
its own number is the one that a collective operation behind it asks with.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Final

from indexing.transform.hull import longest_formula, shortened, weight
from ops.analysis.answers import Answer, OperandIndexing
from ops.analysis.dependences import dependence_of, devices_in
from ops.analysis.known_values import with_known_values
from ops.analysis.widening import is_held, widened
from ops.rules.op_indexing import Unknown

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from indexing import IndexingMap

MOST_MAPS: Final = 128
"""Where more different maps lead to an array, one map that holds them all takes their place."""

MOST_COMPOSITIONS: Final = 4096
"""How many different compositions are made for a question; beyond, sets of maps become one map."""

MOST_TERMS: Final = 128
"""A formula that has more terms only since maps were composed becomes a range."""

SHORT: Final = 8
"""The terms that a formula may have where no more compositions are made."""

_TOO_LONG: Final = f"formulas of more than {MOST_TERMS} terms"

_REMEMBERED: Final = 1 << 14
"""How many compositions of maps are remembered."""


def compose(consumer: OperandIndexing, producer: OperandIndexing) -> OperandIndexing:
    """``producer`` after ``consumer``: see :meth:`OperandIndexing.compose`."""
    if not (consumer.runtime or producer.runtime or consumer.replica_id or producer.replica_id):
        plain, reason = _composed(consumer.map, producer.map)
        reason = consumer.approximation or producer.approximation or reason
        return OperandIndexing(plain, element=producer.element, approximation=reason)
    devices = devices_in(consumer, producer)
    parts = dependence_of(consumer, devices), dependence_of(producer, devices)
    whole = parts[0].compose(parts[1]).told_by_tables()
    most = _longest_to_keep(*(part.joint.flat for part in parts))
    if longest_formula(whole.joint.flat) > most:
        limits = parts[1].joint.element.result_bounds()
        whole = whole.for_any_values().shortened(most, limits, _TOO_LONG)
    return with_known_values(whole.simplified(producer.element))


@lru_cache(maxsize=_REMEMBERED)
def _composed(consumer: IndexingMap, producer: IndexingMap) -> tuple[IndexingMap, str]:
    """The composition, and why it is approximate; along the layers of a model it is the same."""
    whole, reason = consumer.compose(producer), ""
    most = _longest_to_keep(consumer, producer)
    if longest_formula(whole) > most:
        whole, reason = shortened(whole, most, producer.result_bounds()), _TOO_LONG
    return whole.simplify().without_unused_symbols(), reason


def _longest_to_keep(*maps: IndexingMap) -> int:
    """What is long already may stay so, but not grow."""
    return max(MOST_TERMS, *map(longest_formula, maps))


# Sets of dependences.


def joined(*answers: Answer, sizes: Sequence[int] | None = None) -> Answer:
    """All ways of several answers, each once; unknown if one of them is.

    Of approximate ways to an array one is left, which holds them all. It also takes the place of
    what is seen to be a part of it, and of all others if they are more than :data:`MOST_MAPS`.
    ``sizes`` are those of the array that all of them lead to.
    """
    found: dict[OperandIndexing, None] = {}
    for answer in answers:
        if isinstance(answer, Unknown):
            return answer
        found.update(dict.fromkeys(answer))
    return _limited(found, MOST_MAPS, f"more than {MOST_MAPS} different maps", sizes)


def followed(answer: Answer, step: Answer) -> Answer:
    """Every way of the one after every way of the other, each once; unknown if one of them is.

    If these are more than :data:`MOST_COMPOSITIONS`, as if both were :func:`narrowed`.
    """
    if isinstance(answer, Unknown):
        return answer
    if isinstance(step, Unknown):
        return step
    if len(answer) * len(step) > MOST_COMPOSITIONS:
        return followed(narrowed(answer), narrowed(step))
    return tuple(dict.fromkeys(first.compose(second) for first in answer for second in step))


def narrowed(answer: Answer) -> Answer:
    """One way to each array that holds all ways there, in short formulas; marked if it holds more.

    This is what becomes of answers that take part in more than :data:`MOST_COMPOSITIONS`.
    """
    if isinstance(answer, Unknown):
        return answer
    reason = f"more than {MOST_COMPOSITIONS} compositions of maps"
    return tuple(_shortened(way, reason) for way in _limited(answer, 1, reason))


def weight_of(way: OperandIndexing) -> int:
    """How many terms work at once where a way is simplified."""
    replica = [way.replica_id] if way.replica_id else []
    return sum(map(weight, (way.map, *replica, *(origin.map for origin in way.runtime))))


def _length_of(way: OperandIndexing) -> int:
    """How long the formulas of a way are: the longest, and the longest of each origin."""
    told = [way.map, *([way.replica_id] if way.replica_id else [])]
    return max(map(longest_formula, told)) + sum(
        longest_formula(origin.map) for origin in way.runtime
    )


def _shortened(way: OperandIndexing, reason: str) -> OperandIndexing:
    """The way without long formulas, and if there are any, for any values."""
    if _length_of(way) <= SHORT:
        return way
    whole = dependence_of(way, devices_in(way)).for_any_values()
    limits = whole.joint.element.result_bounds()
    return whole.shortened(SHORT, limits, way.approximation or reason).simplified(way.element)


def _limited(
    ways: Collection[OperandIndexing], most: int, reason: str, sizes: Sequence[int] | None = None
) -> tuple[OperandIndexing, ...]:
    """The ways, or one instead of those to an array that are more than ``most``."""
    if len(ways) <= most and not any(way.approximation for way in ways):
        return tuple(ways)
    targets: dict[tuple[int, bool], list[OperandIndexing]] = defaultdict(list)
    for way in ways:
        targets[way.element, way.replica_id is None].append(way)
    settled = (_settled(each, most, reason, sizes) for each in targets.values())
    return tuple(chain.from_iterable(settled))


def _settled(
    ways: Iterable[OperandIndexing], most: int, reason: str, sizes: Sequence[int] | None
) -> Sequence[OperandIndexing]:
    """Ways to one array, all on the device that asks or all on others, as :func:`joined` says."""
    exact = [way for way in ways if not way.approximation]
    marked = [way for way in ways if way.approximation]
    if marked:
        wide = widened(marked, marked[0].approximation, sizes)
        is_exact = replace(wide, approximation="") in exact
        marked = [] if is_exact else [wide]
        exact = [way for way in exact if is_exact or not is_held(way, wide)]
    left = [*exact, *marked]
    return left if len(left) <= most else [widened(left, reason, sizes)]
