"""Sets of index tuples, and their algebra: what maps reach, boxes, masks, texts, isl's sets.

A set is kept as boxes, for which :mod:`indexing.exact.box_algebra` has closed forms, or as isl's
set. What it says of itself, its bounds, pieces and boxes, is read off when it is looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from heapq import merge
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

from indexing import validation
from indexing.domain import Domain
from indexing.errors import MapError
from indexing.exact.box_algebra import union
from indexing.exact.boxes import MAX_BOXES, box_size
from indexing.exact.counting import count_points
from indexing.exact.emptiness import asks_emptiness
from indexing.exact.few_points import MAX_POINTS, boxes_of_rows, elements, rows_of_mask
from indexing.exact.isl_sets import in_order, rank_of
from indexing.exact.set_algebra import (
    SetValue,
    combined,
    difference_from,
    extreme,
    fixed,
    is_equal,
    is_subset,
    projected,
    value_of_isl,
)
from indexing.exact.set_reading import Reading, SetNames, reading_of_boxes, reading_of_points
from indexing.exact.set_values import (
    box_of,
    elements_of,
    holds,
    isl_of,
    limits_of,
    side_of,
)
from indexing.exact.symbolic_counting import symbolic_count
from indexing.formats.notebook import latex_of_set
from indexing.formats.set_text import read_set_text
from indexing.formats.text import declarations
from indexing.symbolic_bounds import limit_texts
from indexing.variable import size_of
from simplifier.errors import check_integers, check_type, quoted
from simplifier.exact import BUDGET, Space
from simplifier.exact.budget import asked_of_kept
from simplifier.exact.isl import context_of, load_isl
from simplifier.expr.sympy_writing import to_sympy
from simplifier.tools.display import html_of_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import islpy
    import numpy as np
    import sympy

    from indexing.exact.box_algebra import Boxes
    from indexing.exact.boxes import Box, StridedInterval
    from indexing.exact.few_points import Rows
    from indexing.relation import Relation
    from indexing.validation import ByName
    from indexing.variable import Variable
    from simplifier import Interval
    from simplifier.bounds.interval import IntervalLike
    from simplifier.exact import Budget

    Index = tuple[int, ...]
    Conjunction = tuple[tuple[sympy.Expr, Interval], ...]
    Side: TypeAlias = IntervalLike | StridedInterval | range


class IndexSet:
    """A set of tuples of integers, such as the elements of a tensor that a map reaches.

    :meth:`IndexingMap.image <indexing.map.IndexingMap.image>` and its like give such sets;
    :meth:`box`, :meth:`parse`, :meth:`from_isl` and :meth:`from_mask` make them. ``&``, ``|``,
    ``-``, ``<=``, ``<``, ``>=``, ``>`` and ``==`` mean what they do for Python's sets, and a set is
    true if it has an element. Iteration is in lexicographic order. A set is an immutable value.

    Operations on a few boxes take microseconds; others are asked of isl, and take little longer
    than isl does. Each ends within seconds, with an answer or a ``BudgetError``.

    Args:
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
    >>> print(rows & IndexSet.box((0, 1), (4, 6)))
    (d0, d1): d0 in [0, 0], d1 in [6, 6] or d0 in [1, 1], d1 in [4, 6]
    """

    __slots__ = ("_value",)

    _value: SetValue

    def __init__(
        self, hull: Domain, pieces: Iterable[Domain], boxes: tuple[Box, ...] | None = None
    ) -> None:
        check_type(hull, Domain, "IndexSet: hull", "a Domain; see IndexSet.box and parse")
        check_type(pieces, Iterable, "IndexSet: pieces", "Domains")
        given = None if boxes is None else tuple(box for box in boxes if box_size(box) != 0)
        reading = Reading(hull, tuple(pieces), given)
        self._value = SetValue(SetNames.of(hull), given, None, reading, is_by_hand=True)

    # Making sets.

    @classmethod
    def box(cls, *sides: Side) -> IndexSet:
        """All tuples with each coordinate within its side: an interval, a ``range``, or a number.

        Intervals are closed, as everywhere; a number is one value. :meth:`from_sizes` takes sizes.

        >>> print(IndexSet.box((0, 9), range(0, 20, 5), 3))
        (d0, d1, d2): d0 in [0, 9], d1 in [0, 15] step 5, d2 in [3, 3]
        """
        read = [side_of(side, f"IndexSet.box: side {place}") for place, side in enumerate(sides)]
        is_empty = any(side.size is not None and side.size < 1 for side in read)
        return set_of(SetValue(SetNames(("",) * len(read)), () if is_empty else (tuple(read),)))

    @classmethod
    def from_sizes(cls, sizes: Iterable[int]) -> IndexSet:
        """All elements of a tensor of these sizes.

        >>> print(IndexSet.from_sizes([4, 8]))
        (d0, d1): d0 in [0, 3], d1 in [0, 7]
        """
        check_integers(sizes, "IndexSet.from_sizes: sizes")
        return cls.box(*((0, size_of(size, "IndexSet.from_sizes: a size") - 1) for size in sizes))

    @classmethod
    def parse(cls, text: str, file: str = "") -> IndexSet:
        """The set that a text describes: ``str`` of a set, or isl's text in braces.

        What is not limited is unbounded. Conditions may stand for intervals.

        Raises:
            TextError: with line, column, and a caret under the place.

        >>> print(IndexSet.parse("(i, j): i in [0, 4], j in [0, 8] step 4 or i in [9, 9]"))
        (i, j): i in [0, 4], j in [0, 8] step 4 or i in [9, 9], j in [-inf, inf]
        >>> print(IndexSet.parse("{ [i, j] : 0 <= i < j and j < 10 }"))
        (i, j): i in [0, 8], j in [1, 9], i - j in [-9, -1]
        >>> IndexSet.parse("(i): k in [0, 4]")
        Traceback (most recent call last):
        simplifier.errors.TextError: 1:6: 'k' is not a declared variable
        (i): k in [0, 4]
             ^
        hint: declared: i
        """
        check_type(text, str, "IndexSet.parse: text", "a string")
        if text.lstrip()[:1] in ("{", "["):
            return set_of(value_of_isl(text, "IndexSet.parse"))
        hull, pieces = read_set_text(text, file)
        bounded = [box_of(piece) for piece in pieces]
        names = SetNames.of(hull)
        boxes: Boxes | None = None if names.given else ()
        for box in bounded:
            boxes = None if boxes is None or box is None else union(boxes, (box,))
        points = None if boxes is not None else asked_of_kept(partial(isl_of, names, pieces))
        return set_of(SetValue(names, boxes, points))

    @classmethod
    def from_isl(cls, points: str | islpy.Set | islpy.BasicSet) -> IndexSet:
        """The set that isl's text or islpy's object describes; isl's parameters are parameters.

        Raises:
            TextError: the text is not isl's.
            MapError: it is no set, the sets have several spaces, or it has rational numbers.

        >>> print(IndexSet.from_isl("[N] -> { [i] : 0 <= i < N }"))
        (i)<N>: i in [0, N - 1], N in [1, inf]
        """
        return set_of(value_of_isl(points, "IndexSet.from_isl"))

    @classmethod
    def from_mask(cls, mask: np.ndarray) -> IndexSet:
        """The indices at which an array of NumPy is true.

        Raises:
            MapError: more boxes would be needed than a reader could read.

        >>> import numpy as np
        >>> print(IndexSet.from_mask(np.arange(24).reshape(4, 6) % 6 < 2))
        (d0, d1): d0 in [0, 3], d1 in [0, 1]
        """
        rows = rows_of_mask(mask)
        found = set_of_rows(rows)
        if found is None:
            raise MapError("IndexSet.from_mask: the mask has no pattern of a few boxes")
        return found

    # What it says of itself.

    @property
    def rank(self) -> int:
        """The number of coordinates."""
        return len(self._value.names.coordinates)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the coordinates; each has one.

        >>> IndexSet.parse("{ [i, j] : 0 <= i <= j <= 9 }").names, IndexSet.box(3, 4).names
        (('i', 'j'), ('d0', 'd1'))
        """
        return self.hull.names[: self.rank]

    @property
    def hull(self) -> Domain:
        """One variable for each coordinate, within the least bounds that hold all elements."""
        return self._value.reading.hull

    @property
    def pieces(self) -> tuple[Domain, ...]:
        """Domains of the variables; an element lies in at least one of them."""
        return self._value.reading.pieces

    @property
    def boxes(self) -> tuple[Box, ...] | None:
        """The elements as disjoint boxes of strided intervals, in order; ``None`` if many."""
        return self._value.reading.boxes

    @property
    def bounds(self) -> tuple[Interval, ...]:
        """For each coordinate the least interval that holds all its values."""
        return tuple(variable.bounds for variable in self.hull.dims)

    @property
    def parameters(self) -> tuple[Variable, ...]:
        """The runtime variables and parameters that the set depends on."""
        return self.hull.called[2] + self.hull.parameters if self._value.names.given else ()

    @asks_emptiness
    def is_empty(self, *, budget: Budget = BUDGET) -> bool:
        """Whether there is no element: ``points.is_empty`` and ``points.is_empty()`` are one.

        >>> IndexSet.box((0, 9)).is_empty, IndexSet.box((0, 9)).is_empty()
        (False, False)
        """
        return self._value.is_empty(budget)

    def __bool__(self) -> bool:
        return not self.is_empty()

    @property
    def constraints(self) -> tuple[Conjunction, ...]:
        """The elements meet all pairs of an expression and an interval of one of these tuples."""
        return tuple(
            tuple((to_sympy(piece.named(form)), interval) for form, interval in limits_of(piece))
            for piece in self.pieces
        )

    def __contains__(self, element: Sequence[int]) -> bool:
        check_integers(element, "in: element")
        self._check_fixed("in")
        if len(element) != self.rank:
            raise MapError(f"in: {element!r} has {len(element)} coordinates; expected {self.rank}")
        return any(holds(piece, element) for piece in self.pieces)

    def __iter__(self) -> Iterator[Index]:
        self._check_fixed("iteration")
        self._check_bounded("iteration")
        if self.boxes is not None:
            return merge(*map(elements_of, self.boxes))
        context = load_isl().Context()  # of its own: the iterator may live long
        return in_order(isl_of(self._value.names, self.pieces, context))

    def count(self, *, budget: Budget = BUDGET) -> int | sympy.Expr:
        """The number of elements, without looking at each.

        Costs next to nothing for boxes, and milliseconds if at most two coordinates or quotients
        depend on each other; of more, the thinnest is gone through value by value.

        Of a set with parameters, it is an expression, as :meth:`IndexingMap.count
        <indexing.map.IndexingMap.count>` gives.

        Raises:
            MapError: there are infinitely many, there is no expression over the parameters, or it
                depends on runtime variables how many there are.
            BudgetError: the answer takes more than the budget.

        >>> from indexing import parse_map
        >>> rows = parse_map("(d0)<N> -> (d0 * 2 + 1), domain: d0 in [0, N - 1], N in [0, inf]")
        >>> rows.image().count()
        N
        """
        if self._value.names.parameters and not self._value.names.runtime:
            return symbolic_count(self.disjoint_pieces("count"), self.hull.parameters)
        self._check_fixed("count")
        self._check_bounded("count")
        if self.boxes is not None:
            return sum(box_size(box) or 0 for box in self.boxes)
        value = self._value
        return asked_of_kept(lambda context: count_points(value.points_in(context)), budget)

    def disjoint_pieces(self, question: str) -> tuple[Domain, ...]:
        """The pieces, if no two have an element in common.

        Raises:
            MapError: some have.
        """
        for one, other in combinations(self.pieces, 2):
            if IndexSet(self.hull, (one,)) & IndexSet(self.hull, (other,)):
                message = f"{question}: elements are counted in pieces, and two pieces overlap"
                raise MapError(f"{message}; expected numbers for all parameters, see at()")
        return self.pieces

    # Algebra.

    def __and__(self, other: IndexSet) -> IndexSet:
        return self._combined(other, "&")

    def __or__(self, other: IndexSet) -> IndexSet:
        return self._combined(other, "|")

    def __sub__(self, other: IndexSet) -> IndexSet:
        return self._combined(other, "-")

    def _combined(self, other: IndexSet, operator: str) -> IndexSet:
        if not isinstance(other, IndexSet):  # pyright: ignore[reportUnnecessaryIsInstance] - untyped callers
            return NotImplemented
        self._check_rank(other, operator)
        return set_of(combined(self._value, other._value, operator))

    def __le__(self, other: IndexSet) -> bool:
        return self.is_subset(other) if isinstance(other, IndexSet) else NotImplemented  # pyright: ignore[reportUnnecessaryIsInstance] - untyped callers

    def __lt__(self, other: IndexSet) -> bool:
        return (self <= other) and not other.is_subset(self)

    def is_subset(self, other: IndexSet, *, budget: Budget = BUDGET) -> bool:
        """Whether another set has all elements: ``self <= other``, within a budget.

        Raises:
            MapError: the sets have different numbers of coordinates.
        """
        check_type(other, IndexSet, "is_subset: the other set", "an IndexSet")
        self._check_rank(other, "<=")
        return is_subset(self._value, other._value, budget)

    def complement(self, box: IndexSet | Sequence[Side], *, budget: Budget = BUDGET) -> IndexSet:
        """What is left of a box, given as a set or by its sides, as :meth:`box` takes them.

        >>> print(IndexSet.box((2, 5)).complement([(0, 9)]))
        (d0): d0 in [0, 1] or d0 in [6, 9]
        """
        check_type(box, Iterable, "complement: box", "an IndexSet, or a side for each")
        whole = box if isinstance(box, IndexSet) else IndexSet.box(*box)
        self._check_rank(whole, "complement")
        return set_of(difference_from(whole._value, self._value, budget))  # noqa: SLF001 - of its own class

    def project_out(self, coordinates: Iterable[int | str], *, budget: Budget = BUDGET) -> IndexSet:
        """The set without some coordinates, by number or name: what the others may be.

        Raises:
            MapError: there is no such coordinate.

        >>> triangle = IndexSet.parse("{ [i, j] : 0 <= i <= j and j < 10 }")
        >>> print(triangle.project_out(["j"]))
        (i): i in [0, 9]
        """
        check_type(coordinates, Iterable, "project_out: coordinates", "numbers or names")
        out = {self._axis_of(each) for each in coordinates}
        left = [each for each in range(self.rank) if each not in out]
        return set_of(projected(self._value, left, budget))

    def lexmin(self, *, budget: Budget = BUDGET) -> Index:
        """The lexicographically least element.

        Raises:
            MapError: the set is empty or goes down without end, or depends on parameters.

        >>> triangle = IndexSet.parse("{ [i, j] : 0 <= i <= j and j < 10 }")
        >>> triangle.lexmin(), triangle.lexmax()
        ((0, 0), (9, 9))
        """
        return self._extreme("lexmin", budget)

    def lexmax(self, *, budget: Budget = BUDGET) -> Index:
        """The lexicographically greatest element; see :meth:`lexmin`."""
        return self._extreme("lexmax", budget)

    def _extreme(self, question: str, budget: Budget) -> Index:
        self._check_fixed(question)
        if self.is_empty(budget=budget):
            raise MapError(f"{question}: the set is empty; expected an element")
        found = extreme(self._value, question, budget)
        if None in found:
            name = self.hull.names[len(found) - 1]
            raise MapError(f"{question}: {name} has the bounds {self.bounds[len(found) - 1]}")
        return tuple(end for end in found if end is not None)

    def at(self, parameters: Sequence[int] | ByName[int], *, budget: Budget = BUDGET) -> IndexSet:
        """The set for one value of each parameter, in order or by name.

        Raises:
            MapError: a wrong number of values.

        >>> from indexing import parse_map
        >>> slices = "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 7], rt0 in [0, 92]"
        >>> depends = parse_map(slices).image(runtime_as_parameters=True)
        >>> print(depends.at({"rt0": 5}))
        (d0): d0 in [5, 12]
        """
        values = validation.in_order(parameters, self._value.names.given, "at: parameters")
        check_integers(values, "at: parameters")
        if len(values) != len(self._value.names.given):
            expected = f"expected {len(self._value.names.given)}"
            raise MapError(f"at: there are {len(values)} values; {expected}")
        return set_of(fixed(self._value, values, budget))

    def to_isl(self, context: islpy.Context | None = None) -> islpy.Set:
        """The set as isl's, with its coordinates and parameters by name.

        >>> from indexing import parse_map
        >>> even = parse_map("(d0) -> (d0 * 2), domain: d0 in [0, 9]").image()
        >>> print(even.to_isl())
        { [d0] : (d0) mod 2 = 0 and 0 <= d0 <= 18 }
        """
        isl = load_isl()
        points = isl_of(self._value.names, self.pieces, context_of(context))
        for axis, name in enumerate(self.hull.names[: self.rank]):
            points = points.set_dim_name(isl.dim_type.set, axis, name)
        return points

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, IndexSet):
            return NotImplemented
        mine, others = self._value, other._value
        is_alike = mine.rank == other.rank and mine.names.given == others.names.given
        return is_alike and is_equal(mine, others)

    def __hash__(self) -> int:
        return hash((self.bounds, len(self._value.names.given)))

    def __reduce__(self) -> tuple[Callable[..., IndexSet], tuple[object, ...]]:
        return IndexSet, tuple(self._value.reading)

    def __str__(self) -> str:
        head = declarations(self.hull)
        alternatives = " or ".join(self._alternatives())
        return f"{head}: {alternatives}" if alternatives else head

    def __repr__(self) -> str:
        return f"IndexSet({str(self)!r})"

    def _repr_html_(self) -> str:
        return html_of_text(str(self))

    def _repr_latex_(self) -> str:
        return latex_of_set(self.hull, () if self.is_empty() else self.pieces)

    def _alternatives(self) -> Iterator[str]:
        """The text of each box or piece."""
        if self.is_empty():
            yield "EMPTY"
        elif self.boxes is not None:
            for box in self.boxes:
                limits = zip(self.hull.names, box, strict=True)
                yield ", ".join(f"{limited} in {values}" for limited, values in limits)
        else:
            for piece in self.pieces:
                yield ", ".join(limit_texts(piece))

    def _axis_of(self, coordinate: int | str) -> int:
        names = self.hull.names[: self.rank] if isinstance(coordinate, str) else range(self.rank)
        if coordinate not in names or isinstance(coordinate, bool):
            expected = f"expected one of {', '.join(map(str, names))}"
            raise MapError(f"project_out: there is no coordinate {quoted(coordinate)}; {expected}")
        return [*names].index(coordinate)

    def _check_rank(self, other: IndexSet, operator: str) -> None:
        if self.rank != other.rank:
            ranks = f"{self.rank} and {other.rank} coordinates"
            raise MapError(f"{operator}: the sets have {ranks}; expected as many")

    def _check_fixed(self, question: str) -> None:
        if self._value.names.given:
            names = ", ".join(self._value.names.given)
            raise MapError(f"{question}: the set depends on {names}; expected none, see at()")

    def _check_bounded(self, question: str) -> None:
        for name, bounds in zip(self.hull.names, self.bounds, strict=False):
            if bounds.size is None:
                raise MapError(f"{question}: {name} has the bounds {bounds}; expected bounded ones")


def set_of(value: SetValue) -> IndexSet:
    """The public face of a value."""
    made = IndexSet.__new__(IndexSet)
    made._value = value  # noqa: SLF001 - of its own class
    return made


def isl_points(elements: IndexSet) -> islpy.Set:
    """The elements in the context that is kept; coordinates have no names."""
    return elements._value.points()  # noqa: SLF001 - of its own module


# From maps.


def read_set(
    points: islpy.Set,
    space: Space,
    names: Sequence[str] = (),
    runtime: Sequence[str] = (),
    parameters: Sequence[str] = (),
    *,
    budget: Budget = BUDGET,
) -> IndexSet:
    """An :class:`IndexSet` from one of isl's sets, as a part of a question in a space.

    ``names`` are those of the first coordinates; the last coordinates are the runtime variables
    and the parameters that the set depends on. Boxes that take more than a budget of their own, or
    than a part of the question's, are left out.
    """
    rank = rank_of(points) - len(runtime) - len(parameters)
    called = SetNames((*names, *[""] * (rank - len(names))), tuple(runtime), tuple(parameters))
    reading = reading_of_points(points, space, called, budget)
    return set_of(SetValue(SetNames.of(reading.hull), reading.boxes, None, reading))


def set_of_points(
    relation: Relation, names: Sequence[str] = (), most: int = MAX_POINTS
) -> IndexSet | None:
    """The values of the results, found at each point; ``None`` if they are too many to list.

    >>> from indexing import parse_map
    >>> print(set_of_points(parse_map("(d0) -> (d0 * d0), domain: d0 in [0, 5]")))
    (d0): d0 in [0, 1] or d0 in [4, 4] or d0 in [9, 9] or d0 in [16, 16] or d0 in [25, 25]
    """
    return set_of_rows(elements(relation, relation.forms, most), names)


def set_of_rows(rows: Rows | None, names: Sequence[str] = ()) -> IndexSet | None:
    """The set of a table's rows; ``None`` without a table, or if they are too many to list."""
    boxes = None if rows is None else boxes_of_rows(rows)
    if rows is None or boxes is None:
        return None
    called = SetNames((*names, *[""] * (rows.shape[1] - len(names))))
    if len(boxes) <= MAX_BOXES:
        return set_of(SetValue(called, boxes))
    hull, pieces, _ = reading_of_boxes(boxes, called)
    return set_of(SetValue(called, None, None, Reading(hull, pieces)))
