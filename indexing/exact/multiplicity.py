"""How often elements are reached: by how many points of the domains of some maps to one tensor.

Every value of a variable counts, also of one that no result depends on. Maps are taken
apart into parts that share no variable; each part says which of its elements are reached how often
by which map, by isl or, where it is small, by going through all points; and the parts multiply.
"""

from __future__ import annotations

from collections import defaultdict
from functools import reduce
from itertools import product
from math import prod
from operator import mul
from typing import TYPE_CHECKING, Final, TypeAlias

from indexing.errors import MapError
from indexing.exact.counting import count_points
from indexing.exact.fibres import levels_of
from indexing.exact.parts import parts_of
from indexing.exact.points import check_bounded
from indexing.exact.relations import points_of
from indexing.relation import check_map
from indexing.simplify import result_bounds
from indexing.transform.evaluate import result_columns
from simplifier import Interval, NotQuasiAffineError
from simplifier.errors import listed, quoted
from simplifier.exact import BUDGET, BudgetError, Space
from simplifier.exact.isl import load_isl

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import islpy

    from indexing.relation import Relation, RelationT

Times: TypeAlias = "tuple[int, ...]"
"""How often each of several maps reaches an element."""

MOST_POINTS: Final = 1 << 24
"""So many points of a part are gone through, if isl cannot tell without that."""

_FEW_POINTS: Final = 1 << 12
"""So many are gone through sooner than isl is asked."""

_MOST_KINDS: Final = 1 << 16
"""So many kinds of elements may differ in how often each map reaches them."""


def multiplicities(maps: Iterable[Relation], *, budget: int | None = BUDGET) -> dict[int, int]:
    """How many elements are reached how often: ``{times: number of elements}``, for all times > 0.

    Exact, however large the tensor is, where the points that lead to an element lie on a line in
    each part of a map; in other parts all points are gone through.

    Raises:
        MapError: that are more than :data:`MOST_POINTS`; a variable has no bounds; or the maps have
            different numbers of results.
        BudgetError: isl takes more operations than the budget.
        NotQuasiAffineError: isl cannot be told of a map that has too many points to go through.

    >>> from indexing import parse_map
    >>> windows = parse_map("(d0)[s0] -> (d0 * 2 + s0), domain: d0 in [0, 99], s0 in [0, 2]")
    >>> multiplicities([windows])
    {1: 102, 2: 99}
    >>> same = parse_map("(d0) -> (d0), domain: d0 in [0, 200]")
    >>> multiplicities([windows, same])
    {2: 102, 3: 99}
    """
    given = _checked(maps)
    known = [each for each in given if not each.is_known_empty]
    if not known:
        return {}
    parts, rests = parts_of(known)
    kinds: Mapping[Times, int] = {tuple(_count(rest, budget) for rest in rests): 1}
    for part in parts:
        kinds = _multiplied(kinds, _kinds_of(part.maps, budget))
    found: dict[int, int] = defaultdict(int)
    for times, number in kinds.items():
        found[sum(times)] += number
    return {times: found[times] for times in sorted(found) if times}


def _checked(maps: Iterable[RelationT]) -> list[RelationT]:
    if not hasattr(maps, "__iter__"):
        raise MapError(f"multiplicities: {quoted(maps)} is given; expected several maps")
    given = [*maps]
    for each in given:
        check_map(each, "multiplicities: one of the maps")
    ranks = sorted({len(each.forms) for each in given})
    if len(ranks) > 1:
        message = f"multiplicities: there are maps with {listed([*map(str, ranks)])} results"
        raise MapError(f"{message}; expected as many in all")
    return given


def _count(rest: Relation, budget: int | None) -> int:
    """How many points the rest of a map has."""
    space = Space({}, budget=budget)
    with space.within_budget():
        points = points_of(rest, space.context)
        check_bounded(points, rest.domain.names, "count")
        return count_points(points)


def _multiplied(kinds: Mapping[Times, int], more: Mapping[Times, int]) -> Mapping[Times, int]:
    """The kinds of elements, with more coordinates that depend on no other."""
    found: dict[Times, int] = defaultdict(int)
    for (times, number), (other_times, other_number) in product(kinds.items(), more.items()):
        both = tuple(map(mul, times, other_times))
        if any(both):
            found[both] += number * other_number
    if len(found) > _MOST_KINDS:
        message = f"multiplicities: elements are of {len(found)} kinds"
        raise MapError(f"{message}; expected {_MOST_KINDS} at most")
    return found


def _kinds_of(maps: Sequence[Relation], budget: int | None) -> Mapping[Times, int]:
    """How many elements the maps reach so many times each, of those that any of them reaches."""
    work = _work(maps)
    if work <= _FEW_POINTS:
        return _tabulated(maps)
    try:
        told = _told_apart(maps, budget)
    except (NotQuasiAffineError, BudgetError):
        if work > MOST_POINTS:
            raise
        told = None
    if told is None and work > MOST_POINTS:
        message = f"multiplicities: {work} points would have to be gone through"
        raise MapError(f"{message}; expected {MOST_POINTS} at most")
    return _tabulated(maps) if told is None else told


def _work(maps: Sequence[Relation]) -> int:
    """How many points there are to go through, of each map and of the box that they reach."""
    points = sum(_volume([*each.domain.bounds.values()]) for each in maps)
    return points + len(maps) * _volume(_hull(maps))


def _volume(box: Iterable[Interval]) -> int:
    sizes = [interval.size for interval in box]
    if None in sizes:
        message = "multiplicities: a variable or a result has no bounds"
        raise MapError(f"{message}; expected bounded ones")
    return prod(size or 0 for size in sizes)


def _hull(maps: Iterable[Relation]) -> list[Interval]:
    """For each coordinate an interval that holds its values in all maps."""
    columns = zip(*(result_bounds(each) for each in maps), strict=True)
    return [reduce(Interval.union, column) for column in columns]


def _told_apart(maps: Sequence[Relation], budget: int | None) -> Mapping[Times, int] | None:
    """The kinds, if isl can tell for each map which elements it reaches how often."""
    space, isl = Space({}, budget=budget), load_isl()
    with space.within_budget():
        levels = {each: levels_of(each, space.context) for each in dict.fromkeys(maps)}
        rank = len(maps[0].forms)
        kinds = {(): isl.Set.universe(isl.Space.set_alloc(space.context, 0, rank))}
        for each in maps:
            found = levels[each]
            if found is None:
                return None
            kinds = _refined(kinds, found)
        return {times: count_points(kind) for times, kind in kinds.items() if any(times)}


def _refined(
    kinds: Mapping[Times, islpy.Set], levels: Mapping[int, islpy.Set]
) -> dict[Times, islpy.Set]:
    """The kinds, parted by how often one more map reaches an element."""
    somewhere = reduce(load_isl().Set.union, levels.values())
    found = {
        (*times, more): kind.intersect(reached).coalesce()
        for times, kind in kinds.items()
        for more, reached in {0: somewhere.complement(), **levels}.items()
    }
    return {times: kind for times, kind in found.items() if not kind.is_empty()}


def _tabulated(maps: Sequence[Relation]) -> Mapping[Times, int]:
    """The kinds, by going through all points."""
    import numpy as np  # noqa: PLC0415 - NumPy is loaded when arrays are wanted

    hull = _hull(maps)
    tables = np.zeros((len(maps), _volume(hull)), dtype=np.int64)
    for table, each in zip(tables, maps, strict=True):
        for points, columns in result_columns(each):
            place = np.zeros(points, dtype=np.int64)
            for column, interval in zip(columns, hull, strict=True):
                offset = np.asarray(column - (interval.lower or 0), dtype=np.int64)
                place = place * (interval.size or 0) + offset
            reached, times = np.unique(place, return_counts=True)
            table[reached] += times
    kinds, numbers = np.unique(tables, axis=1, return_counts=True)
    rows = zip(kinds.T.tolist(), numbers.tolist(), strict=True)
    return {tuple(times): number for times, number in rows if any(times)}
