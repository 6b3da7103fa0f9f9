"""Counts the points of a set without looking at each.

isl has no closed form for this. The set is split into disjoint polytopes, in which quotients are
coordinates of their own, and each polytope into factors that share no inequality. Coordinates that
others determine are projected out. A factor with one or two coordinates has a closed form; any
other is cut into slices across its thinnest direction.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial, reduce
from itertools import chain, product
from math import prod
from operator import mul
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, TypeAlias

from indexing.errors import MapError
from indexing.exact import few_points
from indexing.exact.boxes import box_size, lone_box
from indexing.exact.isl import check_bounded, coordinates, graph_of, points_of, rank_of, relation_of
from indexing.relation import Relation, RelationT, check_map, check_without_parameters
from indexing.simplify import result_bounds
from indexing.transform.evaluate import numbered, result_columns
from indexing.transform.substitute import part_over
from simplifier import exact, forms
from simplifier.errors import listed, quoted
from simplifier.exact import ATTEMPT, BUDGET, Budget, BudgetError, NotQuasiAffineError
from simplifier.forms import MAX_INT64, Interval, np
from simplifier.tools.graphs import united

if TYPE_CHECKING:
    import islpy

_PLANE: Final = 2


def number_of_points(relation: Relation, budget: Budget) -> int:
    """The number of points of a domain without parameters.

    Raises:
        MapError: a variable is not bounded.
    """
    check_without_parameters(relation, "count")

    def count(context: islpy.Context) -> int:
        points = points_of(relation, context)
        check_bounded(points, relation.domain.names, "count")
        return count_points(points)

    return exact.asked(count, budget, otherwise=lambda most: few_points.count(relation, most))


def number_of_results(maps: Sequence[Relation], budget: Budget) -> int:
    """The number of different elements that some relations without parameters reach.

    Raises:
        MapError: a result is not bounded.
    """
    for each in maps:
        check_without_parameters(each, "count_results")
    names = [f"result {number}" for number in range(len(maps[0].forms))]

    def count(context: islpy.Context) -> int:
        graphs = [graph_of(each, context) for each in maps]
        reached = reduce(exact.load_isl().Set.union, (graph.range() for graph in graphs))
        check_bounded(reached, names, "count_results")
        # Of a map that reaches nothing twice it is far less work to count the points.
        is_injective = len(graphs) == 1 and graphs[0].is_injective()
        return count_points(graphs[0].domain() if is_injective else reached)

    def go_through(most: int) -> int | None:
        rows = few_points.reached(maps, most)
        return None if rows is None else len(rows)

    return exact.asked(count, budget, otherwise=go_through)


def count_points(points: islpy.Set) -> int:
    """The number of points of a bounded set.

    Costs time for each slice if more than two coordinates depend on each other.
    """
    lone = None if points.is_empty() else lone_box(points)
    return _count_pieces(points) if lone is None else box_size(lone) or 0


def _count_pieces(points: islpy.Set) -> int:
    disjoint = points.coalesce().compute_divs().make_disjoint()
    return sum(_count(piece.lift().flatten()) for piece in disjoint.get_basic_sets())


def _count(polytope: islpy.BasicSet) -> int:
    """The number of points of a conjunction without quotients."""
    polytope = polytope.detect_equalities().remove_redundancies()
    if polytope.is_empty():
        return 0
    axis = _determined_axis(polytope)
    if axis is not None:
        return _count_pieces(polytope.project_out(coordinates(), axis, 1).to_set())
    factors = [_factor(polytope, axes) for axes in _independent_axes(polytope)]
    return prod(map(_count_factor, factors))


def _count_factor(polytope: islpy.BasicSet) -> int:
    """The number of points of a polytope that has some and cannot be split further."""
    if rank_of(polytope) > _PLANE:
        return sum(map(_count, _slices(polytope)))
    line = polytope.to_set()
    first, last = exact.integer(line.dim_min_val(0)), exact.integer(line.dim_max_val(0))
    if rank_of(polytope) < _PLANE:
        return last - first + 1
    rows = polytope.get_constraints()
    sides = [(*_factors(row), exact.integer(row.get_constant_val())) for row in rows]
    return points_in_polygon(sides, first, last)


# Coordinates.


def _determined_axis(polytope: islpy.BasicSet) -> int | None:
    """A coordinate that an equation determines, if possible without a division."""
    equations = [_factors(row) for row in polytope.get_constraints() if row.is_equality()]
    candidates = (
        (abs(factor), axis)
        for factors in equations
        for axis, factor in enumerate(factors)
        if factor
    )
    return min(candidates, default=(0, None))[1]


def _independent_axes(polytope: islpy.BasicSet) -> list[list[int]]:
    """The coordinates in groups, such that no inequality involves two groups."""
    involved = [
        {axis for axis, factor in enumerate(_factors(row)) if factor}
        for row in polytope.get_constraints()
    ]
    alone = ({axis} for axis in range(rank_of(polytope)))
    return [sorted(group) for group in united([*alone, *filter(None, involved)])]


def _factor(polytope: islpy.BasicSet, axes: Sequence[int]) -> islpy.BasicSet:
    """The inequalities between these coordinates alone."""
    for axis in reversed(range(rank_of(polytope))):
        if axis not in axes:
            polytope = polytope.drop_constraints_involving_dims(coordinates(), axis, 1)
            polytope = polytope.project_out(coordinates(), axis, 1)
    return polytope


def _factors(row: islpy.Constraint) -> list[int]:
    """The coefficients of the coordinates."""
    kind = coordinates()
    return [exact.integer(row.get_coefficient_val(kind, axis)) for axis in range(row.dim(kind))]


# Slices.


def _slices(polytope: islpy.BasicSet) -> Iterator[islpy.BasicSet]:
    """The slices in which the sum with the fewest values has one of them."""
    directions = (_direction(polytope, row) for row in polytope.get_constraints())
    total, values = min(directions, key=lambda direction: len(direction[1]))
    for value in values:
        offset = total.add_constant_val(exact.number(-value, polytope.get_ctx()))
        yield polytope.add_constraint(exact.load_isl().Constraint.equality_from_aff(offset))


def _direction(polytope: islpy.BasicSet, row: islpy.Constraint) -> tuple[islpy.Aff, range]:
    """The sum that an inequality bounds, and its values."""
    total = row.get_aff().set_constant_val(exact.number(0, polytope.get_ctx()))
    lower, upper = (exact.integer(polytope.max_val(side)) for side in (total.neg(), total))
    return total, range(-lower, upper + 1)


# The number of integer points in a polygon, in closed form however large it is.


class Line(NamedTuple):
    """The values ``(slope * x + constant) / divisor``."""

    slope: int
    constant: int
    divisor: int

    def at(self, x: int) -> Fraction:
        """The exact value at ``x``."""
        return Fraction(self.slope * x + self.constant, self.divisor)

    @property
    def steepness(self) -> Fraction:
        """Growth of the value for each 1 of ``x``."""
        return Fraction(self.slope, self.divisor)


def points_in_polygon(sides: Sequence[Sequence[int]], first: int, last: int) -> int:
    """Number of integer points in all half-planes, with ``first <= x <= last``.

    A half-plane ``(a, b, c)`` has the points with ``a * x + b * y + c >= 0``. All together must
    leave some real ``y`` for each such ``x``, and bound it on both sides.

    >>> triangle = [(0, 1, 0), (1, -1, 0)]  # 0 <= y <= x
    >>> points_in_polygon(triangle, 0, 9)
    55
    >>> points_in_polygon(triangle, 0, 2**40) == (2**40 + 1) * (2**40 + 2) // 2
    True
    """
    above = [Line(slope, constant, -factor) for slope, factor, constant in sides if factor < 0]
    below = [Line(slope, constant, factor) for slope, factor, constant in sides if factor > 0]
    # From ceil(-a) to floor(b) there are floor(a) + floor(b) + 1 integers, if -a <= b.
    return sum_of_least(above, first, last) + sum_of_least(below, first, last) + last - first + 1


def sum_of_least(lines: Sequence[Line], first: int, last: int) -> int:
    """The sum of the least of the lines' values, rounded down, from ``first`` to ``last``.

    >>> sum_of_least([Line(1, 0, 2), Line(-1, 9, 1)], 0, 9)  # 0 0 1 1 2 2 3 2 1 0
    12
    """
    total = 0
    while first <= last:
        least = min(lines, key=lambda line: (line.at(first), line.steepness))
        end = min([last, *_crossings(least, lines, first)])
        constant = least.slope * first + least.constant
        total += sum_of_floors(end - first + 1, least.slope, constant, least.divisor)
        first = end + 1
    return total


def _crossings(least: Line, lines: Iterable[Line], first: int) -> Iterator[int]:
    """The last point where the least line is lower, for each line that it will meet."""
    for line in lines:
        closing = least.steepness - line.steepness
        if closing > 0:
            yield first + (line.at(first) - least.at(first)) // closing


def sum_of_floors(count: int, slope: int, constant: int, divisor: int) -> int:
    """The sum of ``floor((slope * i + constant) / divisor)`` for ``0 <= i < count``.

    As many steps as Euclid's algorithm takes for ``slope`` and ``divisor``: what is whole in both
    summands is summed at once, and the points left under the line are counted by columns of its
    mirror image.

    >>> sum_of_floors(10, 3, 1, 4) == sum((3 * i + 1) // 4 for i in range(10))
    True
    """
    total = 0
    while count:
        whole, slope = divmod(slope, divisor)
        start, constant = divmod(constant, divisor)
        total += whole * (count * (count - 1) // 2) + start * count
        height, rest = divmod(slope * count + constant, divisor)
        count, slope, constant, divisor = height, divisor, rest, slope
    return total


# How many points of some maps to one tensor lead to each element: its multiplicity.
#
# Every value of a variable counts, even if no result uses it. Maps are split into independent
# parts that share no variable. For each part isl, or going through all points if it is small,
# tells which elements each map reaches how often; the multiplicities of the parts multiply.

Array: TypeAlias = Any
"""An array of NumPy."""

Times: TypeAlias = "tuple[int, ...]"
"""How often each of several maps reaches an element."""

MAX_POINTS: Final = 1 << 23
"""Points of a part that are gone through if isl has no answer: seconds."""

_MAX_ELEMENTS: Final = 1 << 22
"""Elements that each map may reach from these points, counted together: 300 MB."""

_FEW_POINTS: Final = 1 << 12
"""Points that are gone through before isl is asked: it takes longer to ask."""

_MAX_KINDS: Final = 1 << 16
"""Kinds of elements, which differ in how often each map reaches them: memory for their table."""


def multiplicities(maps: Iterable[Relation], *, budget: Budget = BUDGET) -> dict[int, int]:
    """The number of elements for each multiplicity above 0: ``{times: number of elements}``.

    Exact for tensors of any size if, in each independent part of a map, the points that lead to an
    element lie on a line; in other parts all points are gone through.

    Raises:
        MapError: these are more than :data:`MAX_POINTS`, or reach too many elements; a variable has
            no bounds; or the maps have different numbers of results.
        BudgetError: isl takes more operations than the budget, or the budget is not positive.
        NotQuasiAffineError: a map with too many points to go through is not quasi-affine.

    >>> from indexing import parse_map
    >>> windows = parse_map("(d0)[s0] -> (d0 * 2 + s0), domain: d0 in [0, 99], s0 in [0, 2]")
    >>> multiplicities([windows])
    {1: 102, 2: 99}
    >>> same = parse_map("(d0) -> (d0), domain: d0 in [0, 200]")
    >>> multiplicities([windows, same])
    {2: 102, 3: 99}
    """
    exact.checked_budget(budget)
    given = _checked(maps)
    known = [each for each in given if not each.is_known_empty]
    if not known:
        return {}
    parts, rests = independent_parts(known)
    kinds: Mapping[Times, int] = {tuple(number_of_points(rest, budget) for rest in rests): 1}
    for part in parts:
        kinds = _multiplied(kinds, _kinds_of(part.maps, budget))
    found: dict[int, int] = defaultdict(int)
    for times, elements in kinds.items():
        found[sum(times)] += elements
    return {times: found[times] for times in sorted(found) if times}


def _checked(maps: Iterable[RelationT]) -> list[RelationT]:
    if not hasattr(maps, "__iter__"):
        raise MapError(f"multiplicities: {quoted(maps)} is given; expected several maps")
    given = [*maps]
    for each in given:
        check_map(each, "multiplicities: one of the maps")
        check_without_parameters(each, "multiplicities")
    ranks = sorted({len(each.forms) for each in given})
    if len(ranks) > 1:
        message = f"multiplicities: there are maps with {listed([*map(str, ranks)])} results"
        raise MapError(f"{message}; expected as many in all")
    return given


def _multiplied(kinds: Mapping[Times, int], more: Mapping[Times, int]) -> Mapping[Times, int]:
    """The kinds of elements with more coordinates, which are independent of the others."""
    found: dict[Times, int] = defaultdict(int)
    for (times, elements), (other_times, others) in product(kinds.items(), more.items()):
        both = tuple(map(mul, times, other_times))
        if any(both):
            found[both] += elements * others
    if len(found) > _MAX_KINDS:
        message = f"multiplicities: elements are of {len(found)} kinds"
        raise MapError(f"{message}; expected {_MAX_KINDS} at most")
    return found


def _kinds_of(maps: Sequence[Relation], budget: Budget) -> Mapping[Times, int]:
    """The kinds of the elements that any of the maps reaches, and how many there are of each."""
    points = sum(_volume([*each.domain.bounds.values()]) for each in maps)
    is_countable = points <= MAX_POINTS and _volume(hull_of(maps)) <= MAX_INT64
    if is_countable and points <= _FEW_POINTS:
        return _kinds_by_enumeration(maps)
    if is_countable:
        budget = ATTEMPT if budget is None else min(budget, ATTEMPT)
    try:
        found = exact.asked(partial(_kinds_by_isl, maps), budget)
    except (NotQuasiAffineError, BudgetError):
        if not is_countable:
            raise
        found = None
    if found is None and not is_countable:
        message = f"multiplicities: {points} points would have to be gone through"
        raise MapError(f"{message}; expected {MAX_POINTS} at most")
    return _kinds_by_enumeration(maps) if found is None else found


def _volume(box: Iterable[Interval]) -> int:
    sizes = [interval.size for interval in box]
    if None in sizes:
        message = "multiplicities: a variable or a result has no bounds"
        raise MapError(f"{message}; expected bounded ones")
    return prod(size or 0 for size in sizes)


def hull_of(maps: Iterable[Relation]) -> list[Interval]:
    """Interval of each coordinate that holds its values in all maps."""
    columns = zip(*(result_bounds(each) for each in maps), strict=True)
    return [reduce(Interval.union, column) for column in columns]


def _kinds_by_isl(maps: Sequence[Relation], context: islpy.Context) -> Mapping[Times, int] | None:
    """The kinds, if isl can tell which elements each map reaches how often."""
    isl = exact.load_isl()
    levels = {each: levels_of(each, context) for each in dict.fromkeys(maps)}
    rank = len(maps[0].forms)
    kinds = {(): isl.Set.universe(isl.Space.set_alloc(context, 0, rank))}
    for each in maps:
        found = levels[each]
        if found is None:
            return None
        kinds = _refined(kinds, found)
    return {times: count_points(kind) for times, kind in kinds.items() if any(times)}


def _refined(
    kinds: Mapping[Times, islpy.Set], levels: Mapping[int, islpy.Set]
) -> dict[Times, islpy.Set]:
    """The kinds, split by how often one more map reaches an element."""
    somewhere = reduce(exact.load_isl().Set.union, levels.values())
    found = {
        (*times, more): kind.intersect(reached).coalesce()
        for times, kind in kinds.items()
        for more, reached in {0: somewhere.complement(), **levels}.items()
    }
    return {times: kind for times, kind in found.items() if not kind.is_empty()}


def _kinds_by_enumeration(maps: Sequence[Relation]) -> Mapping[Times, int]:
    """The kinds, by going through all points."""
    hull = hull_of(maps)
    reached = [_elements(each, hull) for each in maps]
    elements, places = np.unique(np.concatenate(reached), return_inverse=True)
    _check_count(len(elements))
    ends = np.cumsum([len(each) for each in reached])
    parts = np.split(places, ends[:-1])
    tables: Array = np.stack([np.bincount(part, minlength=len(elements)) for part in parts])
    _check_count(int(np.count_nonzero(tables)))
    kinds = np.zeros(len(elements), dtype=np.int64)
    for table in tables:
        _, kinds = np.unique(kinds * (table.max(initial=0) + 1) + table, return_inverse=True)
    _, examples, numbers = np.unique(kinds, return_index=True, return_counts=True)
    rows: list[list[int]] = tables[:, examples].T.tolist()
    return {tuple(times): number for times, number in zip(rows, numbers.tolist(), strict=True)}


def _elements(indexing_map: Relation, hull: Sequence[Interval]) -> Array:
    """The numbers of the elements that a map leads to, one for each point."""
    found = [np.zeros(0, dtype=np.int64)]
    for points, columns in result_columns(indexing_map):
        numbers = np.asarray(numbered(columns, hull), dtype=np.int64)
        found.append(np.broadcast_to(numbers, points))
    return np.concatenate(found)


def _check_count(elements: int) -> None:
    if elements > _MAX_ELEMENTS:
        message = f"multiplicities: {elements} elements would have to be counted"
        raise MapError(f"{message}; expected {_MAX_ELEMENTS} at most")


# Independent parts.

Node: TypeAlias = "int | tuple[int, str]"
"""A coordinate; or a variable, by the number of its map and its identifier there."""


class IndependentPart(NamedTuple, Generic[RelationT]):
    """Some coordinates, and for each map the part that leads to them, with dimensions only."""

    coordinates: tuple[int, ...]
    maps: tuple[RelationT, ...]


def independent_parts(
    maps: Sequence[RelationT],
) -> tuple[list[IndependentPart[RelationT]], list[RelationT]]:
    """The independent parts of maps to one tensor, and the rest of each map.

    Two parts share no variable or constraint of any map. The rest leads to no coordinate.

    >>> from indexing import parse_map
    >>> text = "(d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 3], d1 in [0, 7], s0 in [0, 5]"
    >>> rows = parse_map(text)
    >>> parts, (rest,) = independent_parts([rows])
    >>> for part in parts:
    ...     print(part.coordinates, *part.maps)
    (0,) (d0) -> (d0), domain: d0 in [0, 3]
    (1,) (d0) -> (d0), domain: d0 in [0, 5]
    >>> print(rest)
    (d0) -> (), domain: d0 in [0, 7]
    """
    dependent = (group for number, each in enumerate(maps) for group in _dependent(number, each))
    leading = [group for group in united(dependent) if any(isinstance(node, int) for node in group)]
    inside = frozenset(chain.from_iterable(leading))
    parts = (_part(maps, group) for group in leading)
    rests = [
        part_over(each, (), [id_ for id_ in each.domain.identifiers if (number, id_) not in inside])
        for number, each in enumerate(maps)
    ]
    return sorted(parts, key=lambda part: part.coordinates), rests


def _dependent(number: int, indexing_map: Relation) -> Iterator[set[Node]]:
    """Groups of coordinates and variables of a map that depend on each other."""
    for coordinate, form in enumerate(indexing_map.forms):
        yield {coordinate, *((number, identifier) for identifier in forms.variables_of((form,)))}
    for form, _ in indexing_map.domain.constraints:
        yield {(number, identifier) for identifier in forms.variables_of((form,))}


def _part(maps: Sequence[RelationT], group: Collection[Node]) -> IndependentPart[RelationT]:
    coordinates = sorted(node for node in group if isinstance(node, int))
    made = (
        part_over(
            each,
            [each.forms[coordinate] for coordinate in coordinates],
            [name for name in each.domain.identifiers if (number, name) in group],
        )
        for number, each in enumerate(maps)
    )
    return IndependentPart(tuple(coordinates), tuple(made))


_MAX_LEVELS: Final = 64
"""Multiplicities that isl tells apart, each with a set of its own: time grows with them."""


# Multiplicities by isl.


def levels_of(indexing_map: Relation, context: islpy.Context) -> dict[int, islpy.Set] | None:
    """The elements of each multiplicity; ``None`` if isl cannot tell.

    The map has dimensions only. isl cannot count the points of a fiber, those that lead to one
    element; but if they lie on a line, a step apart, the first and the last give their number.
    """
    pairs = relation_of(indexing_map, context)
    if pairs.is_injective():
        return {1: pairs.range()}
    fibers = pairs.reverse().compute_divs().make_disjoint().get_basic_maps()
    sizes = [_sizes(each.to_map()) for each in fibers]
    known = [each for each in sizes if each is not None]
    if len(known) < len(sizes):
        return None
    return _level_sets(reduce(exact.load_isl().PwAff.union_add, known))


def _level_sets(sizes: islpy.PwAff) -> dict[int, islpy.Set] | None:
    """The set for each value of an expression, if there are few."""
    values = exact.load_isl().Map.from_pw_aff(sizes).range()
    first, last = exact.integer(values.dim_min_val(0)), exact.integer(values.dim_max_val(0))
    if last - first >= _MAX_LEVELS:
        return None
    context = sizes.get_ctx()
    return {
        value: sizes.add_constant_val(exact.number(-value, context)).zero_set()
        for value in range(first, last + 1)
    }


def _sizes(fibers: islpy.Map) -> islpy.PwAff | None:
    """The number of points of each fiber, if the points differ in one coordinate."""
    kind = exact.load_isl().dim_type
    rank = fibers.dim(kind.out)
    for axis in range(rank):
        element_and_axis = fibers.move_dims(kind.in_, fibers.dim(kind.in_), kind.out, axis, 1)
        if element_and_axis.is_single_valued():
            behind = fibers.project_out(kind.out, axis + 1, rank - axis - 1)
            sizes = _sizes_of_lines(behind.project_out(kind.out, 0, axis))
            if sizes is not None:
                return sizes
    return None


def _sizes_of_lines(lines: islpy.Map) -> islpy.PwAff | None:
    """The number of integers that each element is related to, if all are one step apart."""
    step = lines.reverse().apply_range(lines).deltas().get_stride(0)
    next_ = _shift(lines, step)
    beyond = lines.apply_range(next_).subtract(lines)
    if not beyond.is_subset(lines.lexmax().apply_range(next_)):
        return None
    first = lines.lexmin_pw_multi_aff().get_pw_aff(0)
    last = lines.lexmax_pw_multi_aff().get_pw_aff(0)
    steps = last.sub(first).scale_down_val(step).floor()
    return steps.add_constant_val(exact.number(1, lines.get_ctx()))


def _shift(lines: islpy.Map, by: islpy.Val) -> islpy.Map:
    """The relation from an integer to the one that is greater by a number."""
    isl = exact.load_isl()
    line = isl.LocalSpace.from_space(lines.range().get_space())
    return isl.Map.from_aff(isl.Aff.var_on_domain(line, isl.dim_type.set, 0).add_constant_val(by))
