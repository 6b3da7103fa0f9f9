"""Sets of index tuples: the image of a map, or its domain."""

from __future__ import annotations

from collections.abc import Sized
from contextlib import suppress
from dataclasses import dataclass, replace
from heapq import merge
from itertools import chain
from typing import TYPE_CHECKING, Final

from indexing.domain import Domain
from indexing.errors import MapError
from indexing.exact.boxes import MAX_BOXES, box_size, boxes_of, lone_box
from indexing.exact.counting import count_points
from indexing.exact.few_points import boxes_of_rows, elements
from indexing.exact.isl_sets import EVERYTHING, extent, in_order, rank_of, slice_at
from indexing.simplify import simplified_domain
from indexing.symbolic_bounds import limit_texts
from indexing.variable import Variable
from simplifier import Interval
from simplifier.errors import check_integers, check_type
from simplifier.exact import BUDGET, Allowance, BudgetError, Space, own_context
from simplifier.exact.isl import asked, load_isl
from simplifier.expr import form as forms
from simplifier.expr.operations import substitute
from simplifier.expr.sympy_conversion import to_sympy

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import islpy
    import sympy

    from indexing.domain import Constraint
    from indexing.exact.boxes import Box
    from indexing.exact.few_points import Rows
    from indexing.relation import Relation

    Index = tuple[int, ...]
    Conjunction = tuple[tuple[sympy.Expr, Interval], ...]


@dataclass(frozen=True, eq=False)
class IndexSet:
    """A set of tuples of integers, such as the elements of a tensor that a map reaches.

    :meth:`IndexingMap.image <indexing.map.IndexingMap.image>` and its like give such sets. Two sets
    with the same elements are equal; iteration is in lexicographic order.

    Attributes:
        hull: one variable for each coordinate, within the least bounds that hold all elements; the
            set depends on its runtime variables and parameters.
        pieces: domains of the same variables; an element lies in at least one of them.
        boxes: the elements as disjoint boxes of strided intervals, in order; ``None`` if there are
            many boxes, or parameters.

    >>> from indexing import parse_map
    >>> rows = parse_map("(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [6, 23]").image()
    >>> print(rows)
    (d0, d1): d0 in [0, 0], d1 in [6, 7] or d0 in [1, 2], d1 in [0, 7]
    >>> len(rows.boxes), rows.count(), (0, 5) in rows, next(iter(rows))
    (2, 18, False, (0, 6))
    """

    hull: Domain
    pieces: tuple[Domain, ...]
    boxes: tuple[Box, ...] | None = None

    @property
    def rank(self) -> int:
        """The number of coordinates."""
        return len(self.hull.dims)

    @property
    def bounds(self) -> tuple[Interval, ...]:
        """For each coordinate the least interval that holds all its values."""
        return tuple(variable.bounds for variable in self.hull.dims)

    @property
    def parameters(self) -> tuple[Variable, ...]:
        """The runtime variables and parameters that the set depends on."""
        return self.hull.runtime + self.hull.parameters

    @property
    def is_empty(self) -> bool:
        """Whether there is no element."""
        return not self.pieces

    @property
    def constraints(self) -> tuple[Conjunction, ...]:
        """The elements meet all pairs of an expression and an interval of one of these tuples."""
        return tuple(
            tuple(
                (to_sympy(piece.named(form)), interval)
                for form, interval in _bounds_and_constraints(piece)
            )
            for piece in self.pieces
        )

    def __contains__(self, element: Sequence[int]) -> bool:
        check_type(element, Sized, "in: element", "a sequence")
        self._check_fixed("in")
        if len(element) != self.rank:
            raise MapError(f"in: {element!r} has {len(element)} coordinates; expected {self.rank}")
        return any(_holds(piece, element) for piece in self.pieces)

    def __iter__(self) -> Iterator[Index]:
        self._check_fixed("iteration")
        self._check_bounded("iteration")
        if self.boxes is not None:
            return merge(*map(_elements, self.boxes))
        return in_order(self._points(load_isl().Context()))

    def count(self, *, budget: int | None = BUDGET) -> int:
        """The number of elements, without looking at each.

        Costs next to nothing for boxes, and milliseconds if at most two coordinates or quotients
        depend on each other; of more, the thinnest is gone through value by value.

        Raises:
            MapError: there are infinitely many, or it depends on parameters how many there are.
            BudgetError: the answer takes more operations of isl than the budget.
        """
        self._check_fixed("count")
        self._check_bounded("count")
        if self.boxes is not None:
            return sum(box_size(box) or 0 for box in self.boxes)
        return asked(lambda space: count_points(self._points(space.context)), budget)

    def at(self, parameters: Sequence[int]) -> IndexSet:
        """The set for one value of each parameter.

        Raises:
            MapError: a wrong number of values.

        >>> from indexing import parse_map
        >>> slices = "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 7], rt0 in [0, 92]"
        >>> depends = parse_map(slices).image(runtime_as_parameters=True)
        >>> print(depends.at([5]))
        (d0): d0 in [5, 12]
        """
        check_integers(parameters, "at: parameters")
        if len(parameters) != len(self.parameters):
            expected = f"expected {len(self.parameters)}"
            raise MapError(f"at: there are {len(parameters)} values; {expected}")

        def ask(space: Space) -> IndexSet:
            points = self._points(space.context)
            for value in reversed(parameters):
                points = slice_at(points, rank_of(points) - 1, value)
            return read_set(points, space, self.hull.names[: self.rank])

        return asked(ask, BUDGET)

    def to_isl(self, context: islpy.Context | None = None) -> islpy.Set:
        """The set as isl's, with its coordinates and parameters by name.

        >>> from indexing import parse_map
        >>> even = parse_map("(d0) -> (d0 * 2), domain: d0 in [0, 9]").image()
        >>> print(even.to_isl())
        { [d0] : (d0) mod 2 = 0 and 0 <= d0 <= 18 }
        """
        isl = load_isl()
        kinds, names = isl.dim_type, self.hull.names
        points = self._points(context or isl.DEFAULT_CONTEXT)
        points = points.move_dims(kinds.param, 0, kinds.set, self.rank, len(self.parameters))
        for kind, called in ((kinds.set, names[: self.rank]), (kinds.param, names[self.rank :])):
            for axis, name in enumerate(called):
                points = points.set_dim_name(kind, axis, name)
        return points

    def _points(self, context: islpy.Context) -> islpy.Set:
        """The set in isl's coordinates; parameters are coordinates behind the others."""
        space = Space(dict.fromkeys(self.hull.identifiers, EVERYTHING), context)
        points = space.isl.Set.empty(space.domain().get_space())
        for piece in self.pieces:
            points = points.union(Space(piece.bounds, context).domain(piece.constraints))
        return points

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, IndexSet):
            return NotImplemented
        if (self.rank, self.bounds) != (other.rank, other.bounds):
            return False
        if len(self.parameters) != len(other.parameters):
            return False
        with own_context() as context:
            return bool(self._points(context).is_equal(other._points(context)))

    def __hash__(self) -> int:
        return hash((self.bounds, len(self.parameters)))

    def __str__(self) -> str:
        head = f"({', '.join(self.hull.names[: self.rank])})"
        if self.hull.runtime:
            head += f"{{{', '.join(self.hull.by_role(self.hull.names)[2])}}}"
        if self.hull.parameters:
            head += f"<{', '.join(parameter.name for parameter in self.hull.parameters)}>"
        alternatives = " or ".join(self._alternatives())
        return f"{head}: {alternatives}" if alternatives else head

    def _alternatives(self) -> Iterator[str]:
        """The text of each box or piece."""
        if self.is_empty:
            yield "EMPTY"
        elif self.boxes is not None:
            for box in self.boxes:
                yield _conjunction_text(zip(self.hull.names, box, strict=True))
        else:
            for piece in self.pieces:
                yield ", ".join(limit_texts(piece))

    def _check_fixed(self, question: str) -> None:
        if self.parameters:
            names = ", ".join(self.hull.names[self.rank :])
            raise MapError(f"{question}: the set depends on {names}; expected none, see at()")

    def _check_bounded(self, question: str) -> None:
        for name, bounds in zip(self.hull.names, self.bounds, strict=False):
            if bounds.size is None:
                raise MapError(f"{question}: {name} has the bounds {bounds}; expected bounded ones")


def _bounds_and_constraints(piece: Domain) -> Iterator[Constraint]:
    """The bounds of all variables, then the constraints."""
    for identifier, bounds in piece.bounds.items():
        yield forms.variable(identifier), bounds
    for _, constraint in piece.constraint_texts():
        yield constraint


def _conjunction_text(limits: Iterable[tuple[object, object]]) -> str:
    return ", ".join(f"{limited} in {values}" for limited, values in limits)


def _holds(piece: Domain, element: Sequence[int]) -> bool:
    """Whether an element meets the bounds and constraints."""
    values = dict(zip(piece.identifiers, map(forms.constant, element), strict=True))
    limits = list(_bounds_and_constraints(piece))
    found = substitute((form for form, _ in limits), values)
    return all(form.constant in interval for form, (_, interval) in zip(found, limits, strict=True))


def _elements(box: Box) -> Iterator[Index]:
    """The points of a box in lexicographic order."""
    if not box:
        yield ()
        return
    first, *others = box
    for value in first:
        for rest in _elements(tuple(others)):
            yield (value, *rest)


# From isl.

MAX_OPERATIONS_FOR_BOXES: Final = 50_000
"""With so many operations boxes are looked for: constraints alone say the same."""


def read_set(
    points: islpy.Set,
    space: Space,
    names: Sequence[str] = (),
    runtime: Sequence[str] = (),
    parameters: Sequence[str] = (),
) -> IndexSet:
    """An :class:`IndexSet` from one of isl's sets, as a part of a question in a space.

    ``names`` are those of the first coordinates; the last coordinates are the runtime variables
    and the parameters that the set depends on. Boxes that take more than a budget of their own are
    left out.
    """
    hull = _hull(points, names, runtime, parameters)
    is_fixed = not (runtime or parameters)
    lone = lone_box(points) if is_fixed and not points.is_empty() else None
    if lone is not None:
        return _set_of_boxes(hull, (lone,))
    # Coalescing may bring quotients in that are not known as such.
    points = points.compute_divs().coalesce().compute_divs()
    pieces = sorted(_pieces(points, hull), key=_order)
    if is_fixed:
        own = Allowance(MAX_OPERATIONS_FOR_BOXES)
        with suppress(BudgetError), own.attempt({}, space.context):
            boxes = boxes_of(points)
            if boxes is not None:
                return _set_of_boxes(hull, boxes)
    return IndexSet(hull, tuple(pieces))


def set_of_points(relation: Relation, names: Sequence[str] = ()) -> IndexSet | None:
    """The values of the results, found at each point; ``None`` if they are too many to list.

    >>> from indexing import parse_map
    >>> print(set_of_points(parse_map("(d0) -> (d0 * d0), domain: d0 in [0, 5]")))
    (d0): d0 in [0, 1] or d0 in [4, 4] or d0 in [9, 9] or d0 in [16, 16] or d0 in [25, 25]
    """
    return set_of_rows(elements(relation, relation.forms), names)


def set_of_rows(rows: Rows | None, names: Sequence[str] = ()) -> IndexSet | None:
    """The set of a table's rows; ``None`` without a table, or if they are too many to list."""
    boxes = None if rows is None else boxes_of_rows(rows)
    if rows is None or boxes is None:
        return None
    ends = zip(rows.min(0).tolist(), rows.max(0).tolist(), strict=True) if len(rows) else ()
    bounds = [Interval(*pair) for pair in ends] or [Interval(0, -1)] * rows.shape[1]
    called = [*names, *[""] * (len(bounds) - len(names))]
    found = _set_of_boxes(Domain.of(map(Variable, bounds, called)), boxes)
    return found if len(boxes) <= MAX_BOXES else replace(found, boxes=None)


def _set_of_boxes(hull: Domain, boxes: tuple[Box, ...]) -> IndexSet:
    return IndexSet(hull, tuple(_piece_of_box(box, hull) for box in boxes), boxes)


def _hull(
    points: islpy.Set, names: Sequence[str], runtime: Sequence[str], parameters: Sequence[str]
) -> Domain:
    """The variables within the least bounds."""
    rank = rank_of(points) - len(runtime) - len(parameters)
    behind = rank + len(runtime)
    called = [*names, *[""] * (rank - len(names)), *runtime, *parameters]
    is_empty = points.is_empty()
    variables = [
        Variable(Interval(0, -1) if is_empty else extent(points, axis), name)
        for axis, name in enumerate(called)
    ]
    return Domain.of(variables[:rank], (), variables[rank:behind], (), variables[behind:])


def _pieces(points: islpy.Set, hull: Domain) -> Iterator[Domain]:
    """The conjunctions of a set; ends over parameters take the place of numbers that follow."""
    if hull.parameters:
        hull = hull.with_variables(variable.within(EVERYTHING) for variable in hull)
    space = Space(dict.fromkeys(hull.identifiers, EVERYTHING), points.get_ctx())
    for conjunction in points.get_basic_sets():
        if not conjunction.is_empty():
            yield simplified_domain(hull.constrained(constraints_of(conjunction, space)))


def constraints_of(conjunction: islpy.BasicSet, space: Space) -> Iterator[Constraint]:
    """The equations and inequalities of a conjunction."""
    for row in conjunction.get_constraints():
        if row.is_div_constraint():
            continue
        form = space.form_of(row.get_aff())
        limit = Interval(-form.constant, -form.constant if row.is_equality() else None)
        sum_ = form.plus_constant(-form.constant)
        is_negative = next(iter(sum_.terms.values()), 1) < 0
        yield (-sum_, -limit) if is_negative else (sum_, limit)


def _order(piece: Domain) -> tuple[object, ...]:
    """Sorts pieces by their bounds, then by their texts."""
    texts = [f"{text} in {interval}" for text, (_, interval) in piece.constraint_texts()]
    return [bounds.ends for bounds in piece.bounds.values()], texts


def _piece_of_box(box: Box, hull: Domain) -> Domain:
    rows = (
        interval.constraints(axis) for axis, interval in zip(hull.identifiers, box, strict=True)
    )
    return hull.constrained(chain.from_iterable(rows))
