"""What accesses touch whose places depend on values, over all of these values.

The value is either a scalar, such as the start of a slice: then the access is looked at for each
value. Or each element has a value of its own, such as the indices of a gather: then all may be the
same, or all different.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from indexing import IndexingMap
from indexing.domain import substituted_constraints
from indexing.symbolic_bounds import Ends
from indexing.transform.evaluate import MAX_INT64, result_columns
from indexing.transform.substitute import arranged
from ops.performance.tally import (
    MAX_MARKS,
    MAX_POINTS,
    OutOfTimeError,
    Tally,
    hull_of,
    numbered,
    size_of,
    tally_of,
    volume,
)
from simplifier import Interval
from simplifier.evaluation import points_in
from simplifier.expr import form as forms
from simplifier.expr.operations import substitute

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ops.dependence.operand_indexing import OperandIndexing, RuntimeOrigin
    from ops.performance.tally import Column, Deadline
    from simplifier.expr.form import Form


class Extremes(NamedTuple):
    """Least and most over all values: of points, and of the elements that they lead to."""

    points: Interval
    elements: Interval


def source_of(origin: RuntimeOrigin) -> object:
    """What tells a value from others; the values of different elements have one source."""
    return origin.instruction, origin.callers, None if key_of(origin) else origin.map.forms


def key_of(origin: RuntimeOrigin) -> tuple[Form, ...]:
    """The index of a value where elements have values of their own."""
    return origin.map.forms if any(forms.variables_of(origin.map.forms)) else ()


# Scalars.


def alike_at_each_offset(part: IndexingMap, deadline: Deadline) -> Tally | None:
    """The numbers if they are seen to be the same for all values of its runtime variables.

    Values only move what is touched, or what is left out of it. ``None`` if they may do more.

    Raises:
        MapError, OutOfTimeError, NotQuasiAffineError: as :func:`tally_of`.

    >>> from indexing import parse_map
    >>> from ops.performance.tally import Deadline
    >>> text = "(d0){rt0} -> (d0), domain: d0 in [0, 9], rt0 in [0, 8], d0 - rt0 in [0, 1]"
    >>> alike_at_each_offset(parse_map(text), Deadline(1))
    Tally(points=2, elements=2)
    >>> left = text.replace("d0 - rt0 in [0, 1]", "max(rt0 - d0, d0 - rt0 - 1) in [1, 9]")
    >>> alike_at_each_offset(parse_map(left), Deadline(1))
    Tally(points=8, elements=8)
    """
    still = at_one_offset(_from_values(part))
    if still is not None:
        return tally_of(still, deadline)
    pieces = [at_one_offset(_from_values(each)) for each in _whole_and_hole(part)]
    pieces = [each for each in pieces if each is not None]
    if len(pieces) != 2:  # noqa: PLR2004 - the whole, and what is left out of it
        return None
    whole, hole = (tally_of(each, deadline) for each in pieces)
    left = whole.points - hole.points
    return Tally(left, left) if whole.points == whole.elements else None


def _whole_and_hole(part: IndexingMap) -> Sequence[IndexingMap]:
    """The map without its only constraint on values, and the map where that does not hold.

    None if that always holds for some value, or never.
    """
    domain = part.domain
    moving = [each for each in domain.constraints if _uses_values(each[:1], part)]
    if len(moving) != 1:
        return ()
    ((form, inside),) = moving
    free = domain.with_constraints(each for each in domain.constraints if each not in moving)
    (reach,) = IndexingMap.from_forms([form], free).result_bounds()
    before, behind = _one_beyond(inside)
    sides = [Interval(None, before), Interval(behind, None)]
    outside = [each for each in map(reach.intersect, sides) if not each.is_empty]
    if len(outside) != 1:
        return ()
    hole = IndexingMap.from_forms(part.forms, free.constrained([(form, outside[0])])).simplify()
    is_always = hole.domain.runtime == domain.runtime
    return [IndexingMap.from_forms(part.forms, free), hole] if is_always else ()


def _uses_values(given: Iterable[Form], part: IndexingMap) -> bool:
    """Whether forms depend on runtime variables of a map."""
    *_, runtime = part.domain.by_role(part.domain.identifiers)
    return not {*runtime}.isdisjoint(forms.variables_of(given))


def at_one_offset(part: IndexingMap) -> IndexingMap | None:
    """The map at one value of its runtime variables, if others only move its elements.

    >>> from indexing import parse_map
    >>> window = "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 8]"
    >>> print(at_one_offset(parse_map(window)))
    (d0) -> (d0), domain: d0 in [0, 3]
    """
    domain = part.domain
    dims, _, runtime = domain.by_role(domain.identifiers)
    still: list[Form] = []
    for form in part.forms:
        variables = (atom for atom in form.terms if atom.kind is forms.VARIABLE)
        still.append(form.without(*(each for each in variables if each.name in runtime)))
    if _uses_values([*still, *(form for form, _ in domain.constraints)], part):
        return None
    return arranged(IndexingMap.from_forms(still, domain), dims)


def _from_values(part: IndexingMap) -> IndexingMap:
    """The map with dimensions counted from values on, where a constraint limits their distance."""
    dims, *_ = part.domain.by_role(part.domain.identifiers)
    for form, inside in part.domain.constraints:
        for name in dims if _uses_values([form], part) else ():
            factor = form.terms.get(forms.variable_atom(name), 0)
            if abs(factor) == 1:
                moved = _counted_from(part, name, form * factor, inside * factor)
                if moved is not None:
                    return _from_values(moved)
    return part


def _counted_from(
    part: IndexingMap, name: str, distance: Form, inside: Interval
) -> IndexingMap | None:
    """The map with a distance in the place of a dimension; ``None`` if that may be out of bounds.

    The distance lies in an interval.
    """
    domain = part.domain
    place = {name: forms.variable(name) * 2 - distance}
    free = domain.with_constraints().with_variables(
        each.within(inside) if identifier == name else each
        for identifier, each in zip(domain.identifiers, domain.variables, strict=True)
    )
    (reach,) = IndexingMap.from_forms(place.values(), free).result_bounds()
    if not domain.bounds[name].contains(reach):
        return None
    limits = substituted_constraints(domain.constraints, place)
    return IndexingMap.from_forms(substitute(part.forms, place), free.constrained(limits))


def at_each_offset(part: IndexingMap, deadline: Deadline) -> Extremes:
    """The numbers for the values of its runtime variables, one by one.

    Raises:
        OutOfTimeError: there are too many, or no time is left.
    """
    points, is_reached = _by_offset(part, part.result_bounds(), deadline)
    return Extremes(_range(points), _range(is_reached.sum(axis=1)))


def together_at_each_offset(ways: Sequence[OperandIndexing], deadline: Deadline) -> Extremes:
    """The numbers of several accesses for the values that they have together, one by one.

    Raises:
        OutOfTimeError: there are too many, or they differ from element to element.
    """
    import numpy as np  # noqa: PLC0415 - NumPy is loaded when arrays are wanted

    values, hull = _values_of(ways), hull_of([way.map for way in ways])
    count = size_of(values.values())
    if count * size_of(hull) > MAX_MARKS:
        raise OutOfTimeError
    columns = points_in(values, np.arange(count, dtype=np.int64))
    points = np.zeros(count, dtype=np.int64)
    is_reached = np.zeros((count, size_of(hull)), dtype=bool)
    for way in ways:
        own_points, own_reached = _by_offset(way.map, hull, deadline)
        own, is_met = _own_offset(way, columns, count)
        points[is_met] += own_points[own[is_met]]
        is_reached[is_met] |= own_reached[own[is_met]]
    return Extremes(_range(points), _range(is_reached.sum(axis=1)))


def _values_of(ways: Sequence[OperandIndexing]) -> dict[object, Interval]:
    """The values of each scalar that make a difference."""
    values: dict[object, Interval] = {}
    for way in ways:
        for origin, variable in zip(way.runtime, way.map.runtime, strict=True):
            if key_of(origin) or isinstance(origin.clamp, Ends):
                raise OutOfTimeError
            reach = origin.clamp or Interval(*_one_beyond(variable.bounds))
            source = source_of(origin)
            values[source] = values.get(source, reach).union(reach)
    return values


def _one_beyond(bounds: Interval) -> tuple[int | None, int | None]:
    """A value on either side stands for all that lie there."""
    lower, upper = bounds.lower, bounds.upper
    return None if lower is None else lower - 1, None if upper is None else upper + 1


def _own_offset(
    way: OperandIndexing, columns: Mapping[object, Column], count: int
) -> tuple[Column, Column]:
    """The numbers of an access's offsets at each combination, and where it has one."""
    import numpy as np  # noqa: PLC0415 - NumPy is loaded when arrays are wanted

    own: list[Column] = []
    is_met: Column = np.ones(count, dtype=bool)
    for origin, variable in zip(way.runtime, way.map.runtime, strict=True):
        value = columns[source_of(origin)]
        if origin.clamp is not None:
            value = value.clip(origin.clamp.lower, origin.clamp.upper)
        lower, upper = variable.bounds.ends
        is_met &= (value >= lower) & (value <= upper)
        own.append(value)
    number = numbered(own, [variable.bounds for variable in way.map.runtime])
    return np.broadcast_to(number, count), is_met


def _by_offset(
    part: IndexingMap, hull: Sequence[Interval], deadline: Deadline
) -> tuple[Column, Column]:
    """The points at each offset, and a row of the places in a box that they lead to."""
    import numpy as np  # noqa: PLC0415 - NumPy is loaded when arrays are wanted

    domain = part.domain
    dims, ranges, runtime = domain.by_role(domain.identifiers)
    offsets = [domain.bounds[name] for name in runtime]
    count = size_of(offsets)
    if count * size_of(hull) > MAX_MARKS or count * volume(part) > MAX_POINTS:
        raise OutOfTimeError
    wanted = [*map(forms.variable, runtime), *part.forms]
    by_offset = arranged(IndexingMap.from_forms(wanted, domain), [*runtime, *dims, *ranges])
    points = np.zeros(count, dtype=np.int64)
    is_reached = np.zeros((count, size_of(hull)), dtype=bool)
    for number, columns in result_columns(by_offset):
        deadline.check()
        offset = np.broadcast_to(numbered(columns[: len(offsets)], offsets), number)
        points += np.bincount(offset, minlength=count)
        is_reached[offset, numbered(columns[len(offsets) :], hull)] = True
    return points, is_reached


def _range(column: Column) -> Interval:
    return Interval(int(column.min()), int(column.max()))


# A value for each element.


def if_same_or_different(
    part: IndexingMap, keys: Sequence[Sequence[Form]], deadline: Deadline
) -> Extremes | None:
    """The numbers if all values are the same, and if they differ as much as they can.

    ``keys`` are the indices of the values of the runtime variables. ``None`` if a coordinate is
    computed from a value, or a constraint is on one.

    Raises:
        OutOfTimeError: there are too many points, or no time is left.
    """
    _, _, runtime = part.domain.by_role(part.domain.identifiers)
    static = [form for form in part.forms if {*runtime}.isdisjoint(forms.variables_of((form,)))]
    if part.domain.constraints or not _are_values(part.forms, static, runtime):
        return None
    choices = size_of(part.domain.bounds[name] for name in runtime)
    known = _of_single_variables(part, static, [form for key in keys for form in key], choices)
    if known is not None:
        return known
    points, is_there = _by_place_and_key(part, static, keys, deadline)
    different = is_there.sum(axis=1)
    most = different.clip(max=choices).sum()
    return Extremes(points, Interval(int((different > 0).sum()), int(most)))


def _of_single_variables(
    part: IndexingMap, places: Sequence[Form], keys: Sequence[Form], choices: int
) -> Extremes | None:
    """The numbers as products of sizes, where each place and key is a dimension or a constant.

    ``None`` where one is more than that. Most gathers are so plain, and need no NumPy.
    """
    bounds, points = part.domain.bounds, volume(part)
    _, ranges, _ = part.domain.by_role(part.domain.identifiers)
    if ranges or not 0 < points < MAX_INT64:
        return None
    of_places, of_keys = _dimensions(places), _dimensions(keys)
    if of_places is None or of_keys is None:
        return None
    reached = size_of(bounds[name] for name in of_places)
    different = size_of(bounds[name] for name in of_keys - of_places)
    return Extremes(Interval(points, points), Interval(reached, reached * min(different, choices)))


def _dimensions(index: Sequence[Form]) -> set[str] | None:
    """The dimensions that are coordinates; ``None`` if a coordinate is computed from some."""
    moved = [form for form in index if form.terms]
    names = [name for form in moved if (name := form.single_variable()) is not None]
    return {*names} if len(names) == len(moved) else None


def _are_values(wanted: Sequence[Form], static: Sequence[Form], runtime: Sequence[str]) -> bool:
    """Whether the other coordinates are the values themselves, each of them once."""
    moved = [form for form in wanted if form not in static]
    atoms = [form.only_atom for form in moved]
    names = [atom.name for atom in atoms if atom is not None and atom.kind is forms.VARIABLE]
    return len(names) == len(moved) and sorted(names) == sorted(runtime)


def bounds_for_any_values(
    part: IndexingMap, keys: Sequence[Sequence[Form]], deadline: Deadline
) -> Extremes | None:
    """Bounds of the numbers: what has one value keeps its shape, wherever it is.

    ``None`` if a constraint is on a value, or it does more than move elements.

    Raises:
        OutOfTimeError: there are too many points, or no time is left.
    """
    still = at_one_offset(part)
    if still is None:
        return None
    points, is_there = _by_place_and_key(part, still.forms, keys, deadline)
    together = is_there.sum(axis=0)
    most = min(int(together.sum()), size_of(part.result_bounds()))
    return Extremes(points, Interval(int(together.max()), most))


def _by_place_and_key(
    part: IndexingMap, places: Sequence[Form], keys: Sequence[Sequence[Form]], deadline: Deadline
) -> tuple[Interval, Column]:
    """The points, and for each place a row of the values that lead there."""
    import numpy as np  # noqa: PLC0415 - NumPy is loaded when arrays are wanted

    dims, *_ = part.domain.by_role(part.domain.identifiers)
    index = [form for key in keys for form in key]
    both = arranged(IndexingMap.from_forms([*places, *index], part.domain), dims)
    hull, rank = hull_of([both]), len(places)
    if volume(part) > MAX_POINTS or size_of(hull) > MAX_MARKS:
        raise OutOfTimeError
    is_there = np.zeros((size_of(hull[:rank]), size_of(hull[rank:])), dtype=bool)
    points = 0
    for count, columns in result_columns(both):
        deadline.check()
        place = numbered(columns[:rank], hull[:rank])
        is_there[place, numbered(columns[rank:], hull[rank:])] = True
        points += count
    return Interval(points, points), is_there
