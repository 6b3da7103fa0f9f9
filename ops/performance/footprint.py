"""How many elements some accesses touch, and how often, over all offsets that there may be.

What an access touches splits into parts that share no variable: their numbers multiply.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from itertools import chain, combinations, islice, zip_longest
from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple

from indexing import IndexingMap, MapError
from indexing.transform.evaluate import MAX_INT64
from indexing.transform.substitute import arranged
from ops.dependence.operand_indexing import OperandIndexing
from ops.devices.joint_indexing import deciding
from ops.performance.offsets import (
    alike_at_each_offset,
    at_each_offset,
    bounds_for_any_values,
    if_same_or_different,
    key_of,
    source_of,
    together_at_each_offset,
)
from ops.performance.tally import (
    REMEMBERED,
    OutOfTimeError,
    elements_together,
    hull_of,
    size_of,
    volume,
)
from simplifier import Interval, NotQuasiAffineError
from simplifier.expr import form as forms
from simplifier.tools.disjoint_set import united

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ops.dependence.operand_indexing import RuntimeOrigin
    from ops.performance.tally import Deadline
    from ops.rules.rule import Doubt
    from simplifier.expr.form import Form


@dataclass(frozen=True, slots=True)
class Footprint:
    """Least and most over all offsets, of the reads and of the elements that they touch.

    Attributes:
        is_exact: whether there are offsets with these numbers; else they are bounds.
    """

    reads: Interval
    elements: Interval
    is_exact: bool = True

    def times(self, other: Footprint) -> Footprint:
        """Of pairs of independent coordinates."""
        is_exact = self.is_exact and other.is_exact
        return Footprint(self.reads * other.reads, self.elements * other.elements, is_exact)

    def or_nothing(self) -> Footprint:
        """The same if there are also offsets for which nothing is read."""
        reads, elements = Interval(0, self.reads.upper), Interval(0, self.elements.upper)
        return Footprint(reads, elements, self.is_exact)

    def but_for(self, doubt: Doubt | None) -> Footprint:
        """The same if values decide what is needed of it."""
        if doubt is None:
            return self
        sure = 0 if doubt.spared is None else (self.elements.lower or 0) - doubt.spared
        reads, elements = (Interval(max(0, sure), of.upper) for of in (self.reads, self.elements))
        return Footprint(reads, elements, is_exact=False)


_NONE: Final = Footprint(Interval(0, 0), Interval(0, 0))
_ONE: Final = Footprint(Interval(1, 1), Interval(1, 1))
NO_IDEA: Final = Footprint(Interval(0, None), Interval(0, None), is_exact=False)

_FAILURES: Final = (OutOfTimeError, NotQuasiAffineError, MapError)
"""Why there may be no exact answer."""


def footprint_of(
    ways: Sequence[OperandIndexing],
    sizes: Sequence[int],
    deadline: Deadline,
    doubts: Sequence[Doubt | None] = (),
) -> Footprint:
    """The footprint of some accesses to an array; each point of a map is a read, but for doubts.

    >>> from indexing import parse_map
    >>> from ops import OperandIndexing
    >>> from ops.performance.tally import Deadline
    >>> window = parse_map("(d0)[s0] -> (d0 + s0), domain: d0 in [0, 9], s0 in [0, 2]")
    >>> found = footprint_of([OperandIndexing(window)], [20], Deadline(1))
    >>> print(found.reads, found.elements, found.is_exact)
    [30, 30] [12, 12] True
    """
    pairs = zip_longest(ways, doubts)
    found = [
        _of_way(way, deadline).but_for(doubt) for way, doubt in pairs if not way.map.is_known_empty
    ]
    ways = [way for way in ways if not way.map.is_known_empty]
    if len(found) <= 1:
        return found[0] if found else _NONE
    bounds = _sum_of(found, prod(sizes))
    is_unsure = any(doubts) or any(way.approximation or way.replica_id is not None for way in ways)
    is_symbolic = any(way.map.parameters for way in ways)
    if bounds.is_exact or is_unsure or is_symbolic:
        return bounds
    try:
        return _together(ways, bounds.reads, len(sizes), deadline)
    except _FAILURES:
        return bounds


def _sum_of(found: Sequence[Footprint], size: int) -> Footprint:
    """What several accesses to an array of so many elements touch at least and at most."""
    reads = sum((each.reads for each in found), _NONE.reads)
    least = max(each.elements.lower or 0 for each in found)
    most = sum((each.elements for each in found), _NONE.elements).min(size).upper
    is_exact = all(each.is_exact for each in found) and reads.size == 1 and least == most
    return Footprint(reads, Interval(least, most), is_exact)


def _together(
    ways: Sequence[OperandIndexing], reads: Interval, rank: int, deadline: Deadline
) -> Footprint:
    """The footprint of several accesses."""
    if any(way.runtime for way in ways):
        return Footprint(*together_at_each_offset(ways, deadline))
    elements = elements_together([way.map for way in ways], rank, deadline)
    return Footprint(reads, Interval(elements, elements))


# One access.


def _of_way(way: OperandIndexing, deadline: Deadline) -> Footprint:
    if way.approximation or way.replica_id is not None:
        wide = _bounds(way.map)
        return Footprint(Interval(0, None), wide.elements, is_exact=False)
    found = _parts(way) if way.runtime else _plain_parts(way.map)
    whole = reduce(Footprint.times, (_of_part(part, deadline) for part in found), _ONE)
    whole = whole.or_nothing() if _may_be_nothing(way) else whole
    is_known = whole.reads.size == whole.elements.size == 1
    return whole if is_known or not _reads_twice(way) else _at_each_value(way, whole, deadline)


def _reads_twice(way: OperandIndexing) -> bool:
    """Whether two variables are one scalar, maybe clamped in two ways."""
    sources = [source_of(origin) for origin in way.runtime if not key_of(origin)]
    return len({*sources}) < len(sources)


def _at_each_value(way: OperandIndexing, bounds: Footprint, deadline: Deadline) -> Footprint:
    """The footprint for the values that the variables have together, within bounds."""
    try:
        return Footprint(*together_at_each_offset([way], deadline))
    except _FAILURES:
        return replace(bounds, is_exact=False)


def _may_be_nothing(way: OperandIndexing) -> bool:
    """Whether a value that the program may give lies outside the bounds."""
    if not way.runtime:
        return False
    domain = way.map.domain
    unlimited = domain.with_constraints(())
    return any(deciding(unlimited, way.runtime))


def _bounds(whole: IndexingMap) -> Footprint:
    """What is known at once: each point may be a read of another element, or none."""
    points, hull = volume(whole), size_of(hull_of([whole]))
    reads, elements = (
        Interval(0, most if most < MAX_INT64 else None) for most in (points, min(points, hull))
    )
    return Footprint(reads, elements, is_exact=False)


class _Part(NamedTuple):
    """Coordinates and variables that depend on each other.

    Attributes:
        map: from the variables, as dimensions, and from runtime variables to the coordinates.
        keys: the index of the value of each runtime variable; none for a scalar.
        are_free: whether no two of the values are the same element of an array.
    """

    map: IndexingMap
    keys: tuple[tuple[Form, ...], ...]
    are_free: bool


@lru_cache(maxsize=REMEMBERED)
def _plain_parts(whole: IndexingMap) -> Sequence[_Part]:
    """The independent parts of a map without runtime variables."""
    return [*_parts(OperandIndexing(whole))]


def _parts(way: OperandIndexing) -> Iterator[_Part]:
    """The independent parts of an access."""
    domain = way.map.domain
    dims, ranges, runtime = domain.by_role(domain.identifiers)
    origins = dict(zip(runtime, way.runtime, strict=True))
    for group in united(_dependent(way, origins)):
        coordinates = sorted(node for node in group if isinstance(node, int))
        static = [name for name in (*dims, *ranges) if name in group]
        values = [name for name in runtime if name in group]
        kept = domain.with_constraints(domain.constraints_among([*static, *values]))
        results = [way.map.forms[number] for number in coordinates]
        keys = [key_of(origins[name]) for name in values]
        both = IndexingMap.from_forms([*results, *chain.from_iterable(keys)], kept)
        part = arranged(both, static, (), values)
        behind = iter(part.forms[len(results) :])
        renamed = tuple(tuple(islice(behind, len(key))) for key in keys)
        are_free = _are_free([origins[name] for name in values])
        yield _Part(part.select_results(range(len(results))), renamed, are_free)


def _are_free(origins: Sequence[RuntimeOrigin]) -> bool:
    """Whether values of elements are found at indices that differ in a constant coordinate."""
    return all(map(key_of, origins)) and not any(
        source_of(one) == source_of(other) and not _differ(one.map, other.map)
        for one, other in combinations(origins, 2)
    )


def _differ(one: IndexingMap, other: IndexingMap) -> bool:
    """Whether a coordinate is one constant here, and another one there."""
    pairs = zip(one.forms, other.forms, strict=True)
    return any((here - there).is_constant and here != there for here, there in pairs)


def _dependent(
    way: OperandIndexing, origins: Mapping[str, RuntimeOrigin]
) -> Iterator[set[int | str]]:
    """Coordinates and variables that depend on each other."""
    domain = way.map.domain
    for coordinate, form in enumerate(way.map.forms):
        yield {coordinate, *forms.variables_of((form,))}
    for form, _ in domain.constraints:
        yield set[int | str](forms.variables_of((form,)))
    alike: dict[object, set[int | str]] = defaultdict(set)
    for name, origin in origins.items():
        yield {name, *forms.variables_of(origin.map.forms)}
        alike[source_of(origin)].add(name)
    yield from alike.values()
    for name in domain.identifiers:
        yield {name}


def _of_part(part: _Part, deadline: Deadline) -> Footprint:
    if part.map.parameters:
        return _bounds(part.map)
    try:
        if any(part.keys):
            return _of_values(part, deadline)
        found = alike_at_each_offset(part.map, deadline)
        if found is None:
            return Footprint(*at_each_offset(part.map, deadline))
        points, elements = found
    except _FAILURES:
        return _bounds(part.map)
    return Footprint(Interval(points, points), Interval(elements, elements))


def _of_values(part: _Part, deadline: Deadline) -> Footprint:
    """The footprint of a part in which elements have values of their own."""
    deadline.check()
    exact = if_same_or_different(part.map, part.keys, deadline) if part.are_free else None
    if exact is not None:
        return Footprint(*exact)
    found = bounds_for_any_values(part.map, part.keys, deadline)
    if found is None:
        return _bounds(part.map)
    return Footprint(*found, is_exact=found.elements.size == 1)
