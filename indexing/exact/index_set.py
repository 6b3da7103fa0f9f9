"""Sets of index tuples, and their algebra: images of maps, boxes, masks, texts, isl's sets.

A set is kept as boxes, for which :mod:`indexing.exact.boxes` has closed forms, or as isl's
set. What it says of itself, its bounds, pieces and boxes, is read off when it is looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from functools import partial, reduce
from heapq import merge
from itertools import chain, combinations
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self, TypeAlias, cast

from indexing import validation
from indexing.domain import Constraint, Domain, limit_texts, limits
from indexing.errors import MapError
from indexing.exact import boxes as box_algebra
from indexing.exact import isl
from indexing.exact.boxes import MAX_BOXES, Box, Boxes, StridedInterval, TooManyError, where_few
from indexing.exact.counting import count_points
from indexing.exact.few_points import Rows, boxes_of_rows, rows_of_mask
from indexing.exact.symbolic import symbolic_count
from indexing.formats.notebook import latex_of_set
from indexing.formats.text import declarations, read_declarations, read_ends
from indexing.relation import Emptiness
from indexing.simplify import simplified_domain
from indexing.validation import ByName
from indexing.variable import Variable, interval_of, size_of
from simplifier import exact, forms
from simplifier.errors import check_integers, check_type, quoted
from simplifier.exact import BUDGET, Allowance, Budget, BudgetError, Space
from simplifier.forms import EVERYTHING, AtomKind, ExpressionLexer, Form, Interval, IntervalLike
from simplifier.tools.display import Displayed
from simplifier.tools.late import sympy

if TYPE_CHECKING:
    import islpy
    import numpy as np

Index = tuple[int, ...]

Conjunction: TypeAlias = "tuple[tuple[sympy.Expr, Interval], ...]"

Side: TypeAlias = "IntervalLike | StridedInterval | range"


class IndexSet(Displayed):
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

    __slots__ = ("_boxes", "_is_by_hand", "_names", "_points", "_reading")

    _names: SetNames
    _boxes: Boxes | None
    """The elements, for closed forms; without them isl is asked."""
    _points: islpy.Set | None
    """Isl's set in the context that is kept, as soon as isl is asked."""
    _reading: Reading | None
    """The parts of the set, read as soon as one is looked at."""
    _is_by_hand: bool
    """Whether somebody wrote the reading: then a piece may have no points."""

    def __init__(
        self, hull: Domain, pieces: Iterable[Domain], boxes: tuple[Box, ...] | None = None
    ) -> None:
        check_type(hull, Domain, "IndexSet: hull", "a Domain; see IndexSet.box and parse")
        check_type(pieces, Iterable, "IndexSet: pieces", "Domains")
        given = boxes and tuple(box for box in boxes if box_algebra.box_size(box) != 0)
        self._names, self._boxes, self._points = SetNames.of(hull), given, None
        self._reading, self._is_by_hand = Reading(hull, tuple(pieces), given), True

    # Making sets.

    @classmethod
    def made(
        cls,
        names: SetNames,
        boxes: Boxes | None = None,
        points: islpy.Set | None = None,
        reading: Reading | None = None,
    ) -> IndexSet:
        """The set of boxes, of isl's set in the context that is kept, or of a reading of one.

        One of them is given; what it says in another way is found once, when it is needed.
        """
        found = cls.__new__(cls)
        found._names, found._boxes, found._points = names, boxes, points  # noqa: SLF001 - of its own class
        found._reading, found._is_by_hand = reading, False  # noqa: SLF001
        return found

    @classmethod
    def box(cls, *sides: Side) -> IndexSet:
        """All tuples with each coordinate within its side: an interval, a ``range``, or a number.

        Intervals are closed, as everywhere; a number is one value. :meth:`from_sizes` takes sizes.

        >>> print(IndexSet.box((0, 9), range(0, 20, 5), 3))
        (d0, d1, d2): d0 in [0, 9], d1 in [0, 15] step 5, d2 in [3, 3]
        """
        read = [side_of(side, f"IndexSet.box: side {place}") for place, side in enumerate(sides)]
        is_empty = any(side.size is not None and side.size < 1 for side in read)
        return cls.made(SetNames(("",) * len(read)), () if is_empty else (tuple(read),))

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
            return _set_of_isl(text, "IndexSet.parse")
        hull, pieces, _ = read_set_text(text, file)
        names = SetNames.of(hull)
        boxes = [(box,) for piece in pieces if (box := box_of(piece)) is not None]
        if len(boxes) == len(pieces) and not names.given:
            with suppress(TooManyError):
                return cls.made(names, reduce(box_algebra.union, boxes, ()))
        return cls.made(names, None, exact.asked_of_kept(partial(isl_of, names, pieces)))

    @classmethod
    def from_isl(cls, points: str | islpy.Set | islpy.BasicSet) -> IndexSet:
        """The set that isl's text or islpy's object describes; isl's parameters are parameters.

        Raises:
            TextError: the text is not isl's.
            MapError: it is no set, the sets have several spaces, or it has rational numbers.

        >>> print(IndexSet.from_isl("[N] -> { [i] : 0 <= i < N }"))
        (i)<N>: i in [0, N - 1], N in [1, inf]
        """
        return _set_of_isl(points, "IndexSet.from_isl")

    @classmethod
    def from_mask(cls, mask: np.ndarray) -> IndexSet:
        """The indices at which an array of NumPy is true.

        Raises:
            MapError: more boxes would be needed than a reader could read.

        >>> import numpy as np
        >>> print(IndexSet.from_mask(np.arange(24).reshape(4, 6) % 6 < 2))
        (d0, d1): d0 in [0, 3], d1 in [0, 1]
        """
        found = set_of_rows(rows_of_mask(mask))
        if found is None:
            raise MapError("IndexSet.from_mask: the mask has no pattern of a few boxes")
        return found

    # Its parts.

    @property
    def rank(self) -> int:
        """The number of coordinates."""
        return len(self._names.coordinates)

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
        return self.reading.hull

    @property
    def pieces(self) -> tuple[Domain, ...]:
        """Domains of the variables; an element lies in at least one of them."""
        return self.reading.pieces

    @property
    def boxes(self) -> tuple[Box, ...] | None:
        """The elements as disjoint boxes of strided intervals, in order; ``None`` if many."""
        return self.reading.boxes

    @property
    def reading(self) -> Reading:
        """The hull, the pieces and the boxes."""
        if self._reading is None:
            if self._boxes is not None:
                self._reading = reading_of_boxes(self._boxes, self._names)
            else:
                self._reading = exact.asked_of_kept(self._read)
        return self._reading

    def _read(self, context: islpy.Context) -> Reading:
        points = parameters_last(self.points_in(context), self._names)
        return reading_of_points(points, self._names)

    def points_in(self, context: islpy.Context) -> islpy.Set:
        """Isl's set, in a question that is asked in the context that is kept."""
        if self._points is None:
            self._points = isl_of(self._names, self.pieces, context)
        return self._points

    @property
    def bounds(self) -> tuple[Interval, ...]:
        """The least interval of each coordinate that holds all its values."""
        return tuple(variable.bounds for variable in self.hull.dims)

    @property
    def parameters(self) -> tuple[Variable, ...]:
        """The runtime variables and parameters that the set depends on."""
        return self.hull.called[2] + self.hull.parameters if self._names.given else ()

    @property
    def is_empty(self) -> Emptiness:
        """Whether there is no element: ``points.is_empty`` and ``points.is_empty()`` are one.

        >>> IndexSet.box((0, 9)).is_empty, IndexSet.box((0, 9)).is_empty()
        (False, False)
        """
        return Emptiness(self._is_empty)

    def _is_empty(self, *, budget: Budget) -> bool:
        if self._boxes is not None:
            return not self._boxes
        if self._reading is not None and not (self._is_by_hand and self.pieces):
            return not self.pieces
        return exact.asked_of_kept(lambda context: bool(self.points_in(context).is_empty()), budget)

    def __bool__(self) -> bool:
        return not self.is_empty()

    @property
    def constraints(self) -> tuple[Conjunction, ...]:
        """The elements meet all pairs of an expression and an interval of one of these tuples."""
        return tuple(
            tuple((forms.to_sympy(form), interval) for form, interval in piece.limits())
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
        context = exact.load_isl().Context()  # of its own: the iterator may live long
        return isl.in_order(isl_of(self._names, self.pieces, context))

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
        if self._names.parameters and not self._names.runtime:
            return symbolic_count(self.disjoint_pieces("count"), self.hull.parameters)
        self._check_fixed("count")
        self._check_bounded("count")
        if self.boxes is not None:
            return sum(box_algebra.box_size(box) or 0 for box in self.boxes)
        return exact.asked_of_kept(lambda context: count_points(self.points_in(context)), budget)

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

    def _combined(self, other: IndexSet, operator: str, budget: Budget = BUDGET) -> IndexSet:
        """The result of an operator on two sets; names are those of the first."""
        if not isinstance(other, IndexSet):  # pyright: ignore[reportUnnecessaryIsInstance] - untyped callers
            return NotImplemented
        self._check_rank(other, operator)

        found = self._asked(other, operator, budget)
        if isinstance(found, tuple):
            return self.made(self._names, cast("Boxes", found))
        return self.made(self._names.with_those_of(other._names), None, found)

    def _asked(self, other: IndexSet, operator: str, budget: Budget = BUDGET) -> Any:  # noqa: ANN401 - boxes, isl's set, or a truth value
        """The answer that closed forms give for two sets of boxes, and isl for others."""
        in_boxes, name_in_isl = OPERATORS[operator]
        if self._boxes is not None and other._boxes is not None:
            with suppress(TooManyError):
                return in_boxes(self._boxes, other._boxes)

        def ask(context: islpy.Context) -> islpy.Set | bool:
            found = getattr(self.points_in(context), name_in_isl)(other.points_in(context))
            return found if isinstance(found, bool) else found.coalesce()

        return exact.asked_of_kept(ask, budget)

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
        return self._asked(other, "<=", budget)

    def complement(self, box: IndexSet | Sequence[Side], *, budget: Budget = BUDGET) -> IndexSet:
        """The rest of a box, given as a set or by its sides, as :meth:`box` takes them.

        >>> print(IndexSet.box((2, 5)).complement([(0, 9)]))
        (d0): d0 in [0, 1] or d0 in [6, 9]
        """
        check_type(box, Iterable, "complement: box", "an IndexSet, or a side for each")
        whole = box if isinstance(box, IndexSet) else IndexSet.box(*box)
        self._check_rank(whole, "complement")
        rest = whole._combined(self, "-", budget)  # noqa: SLF001 - of its own class
        names = rest._names._replace(coordinates=self._names.coordinates)  # noqa: SLF001
        return self.made(names, rest._boxes, rest._points)  # noqa: SLF001

    def project_out(self, coordinates: Iterable[int | str], *, budget: Budget = BUDGET) -> IndexSet:
        """The projection to all other coordinates; these are given by number or name.

        Raises:
            MapError: there is no such coordinate.

        >>> triangle = IndexSet.parse("{ [i, j] : 0 <= i <= j and j < 10 }")
        >>> print(triangle.project_out(["j"]))
        (i): i in [0, 9]
        """
        check_type(coordinates, Iterable, "project_out: coordinates", "numbers or names")
        out = {self._axis_of(each) for each in coordinates}
        left = [each for each in range(self.rank) if each not in out]
        called = self._names.coordinates
        names = self._names._replace(coordinates=tuple(called[axis] for axis in left))
        if self._boxes is not None:
            with suppress(TooManyError):
                return self.made(names, box_algebra.projection(self._boxes, left))

        def project(context: islpy.Context) -> IndexSet:
            points, kind = self.points_in(context), exact.load_isl().dim_type.set
            for axis in sorted(out, reverse=True):
                points = points.project_out(kind, axis, 1)
            return self.made(names, None, points.coalesce())

        return exact.asked_of_kept(project, budget)

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
        is_first = question == "lexmin"
        ends = [each.lower if is_first else each.upper for each in self.bounds]
        found: tuple[int | None, ...]
        if self._boxes is not None:
            found = box_algebra.extreme(self._boxes, is_first=is_first)
        elif None in ends:  # isl has an error of its own
            found = (*ends[: ends.index(None)], None)
        else:

            def ask(context: islpy.Context) -> Index:
                return isl.first_point(getattr(self.points_in(context), question)())

            found = exact.asked_of_kept(ask, budget)
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
        values = validation.in_order(parameters, self._names.given, "at: parameters")
        check_integers(values, "at: parameters")
        if len(values) != len(self._names.given):
            expected = f"expected {len(self._names.given)}"
            raise MapError(f"at: there are {len(values)} values; {expected}")

        def fix(context: islpy.Context) -> IndexSet:
            points = parameters_last(self.points_in(context), self._names)
            for number in reversed(values):
                points = isl.slice_at(points, isl.rank_of(points) - 1, number)
            return self.made(SetNames(self._names.coordinates), None, points)

        return exact.asked_of_kept(fix, budget)

    def to_isl(self, context: islpy.Context | None = None) -> islpy.Set:
        """The set as isl's, with its coordinates and parameters by name.

        >>> from indexing import parse_map
        >>> even = parse_map("(d0) -> (d0 * 2), domain: d0 in [0, 9]").image()
        >>> print(even.to_isl())
        { [d0] : (d0) mod 2 = 0 and 0 <= d0 <= 18 }
        """
        islpy = exact.load_isl()
        points = isl_of(self._names, self.pieces, exact.context_of(context))
        for axis, name in enumerate(self.hull.names[: self.rank]):
            points = points.set_dim_name(islpy.dim_type.set, axis, name)
        return points

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, IndexSet):
            return NotImplemented
        is_alike = self.rank == other.rank and self._names.given == other._names.given
        return is_alike and self._asked(other, "==")

    def __hash__(self) -> int:
        return hash((self.bounds, len(self._names.given)))

    def __reduce__(self) -> tuple[Callable[..., IndexSet], tuple[object, ...]]:
        return IndexSet, tuple(self.reading)

    def __str__(self) -> str:
        head = declarations(self.hull)
        alternatives = " or ".join(self._alternatives())
        return f"{head}: {alternatives}" if alternatives else head

    def __repr__(self) -> str:
        return f"IndexSet({str(self)!r})"

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
        if self._names.given:
            names = ", ".join(self._names.given)
            raise MapError(f"{question}: the set depends on {names}; expected none, see at()")

    def _check_bounded(self, question: str) -> None:
        for name, bounds in zip(self.hull.names, self.bounds, strict=False):
            if bounds.size is None:
                raise MapError(f"{question}: {name} has the bounds {bounds}; expected bounded ones")


# From maps.


def read_set(
    points: islpy.Set,
    names: Sequence[str] = (),
    runtime: Sequence[str] = (),
    parameters: Sequence[str] = (),
    *,
    budget: Budget = BUDGET,
) -> IndexSet:
    """An :class:`IndexSet` from one of isl's sets, as a part of a question.

    ``names`` are those of the first coordinates; the last coordinates are the runtime variables
    and the parameters that the set depends on. Boxes that take more than a budget of their own, or
    than a part of the question's, are left out.
    """
    rank = isl.rank_of(points) - len(runtime) - len(parameters)
    called = SetNames((*names, *[""] * (rank - len(names))), tuple(runtime), tuple(parameters))
    reading = reading_of_points(points, called, budget)
    return IndexSet.made(SetNames.of(reading.hull), reading.boxes, None, reading)


@where_few
def set_of_rows(rows: Rows | None, names: Sequence[str] = ()) -> IndexSet:
    """The set of a table's rows; ``None`` without a table, or if they are too many to list."""
    if rows is None:
        raise TooManyError
    boxes = boxes_of_rows(rows)
    called = SetNames((*names, *[""] * (rows.shape[1] - len(names))))
    if len(boxes) <= MAX_BOXES:
        return IndexSet.made(called, boxes)
    reading = reading_of_boxes(boxes, called)._replace(boxes=None)
    return IndexSet.made(called, reading=reading)


OPERATORS: Final[Mapping[str, tuple[Callable[[Boxes, Boxes], Any], str]]] = {
    "&": (box_algebra.intersection, "intersect"),
    "|": (box_algebra.union, "union"),
    "-": (box_algebra.difference, "subtract"),
    "<=": (box_algebra.is_subset, "is_subset"),
    "==": (box_algebra.is_equal, "is_equal"),
}
"""The operators of sets on boxes, and their names in isl."""


def _set_of_isl(points: str | islpy.Set | islpy.BasicSet, asker: str) -> IndexSet:
    """The set that isl's text or object describes; messages begin with the name of the asker.

    Raises:
        TextError: the text is not isl's.
        MapError: it is no set, or a parameter is called as a coordinate is by its place.
    """
    with exact.kept_context() as context:
        found = isl.isl_set(points, context, asker)
    kinds = exact.load_isl().dim_type
    coordinates, parameters = (
        [str(found.get_dim_name(kind, place) or "") for place in range(found.dim(kind))]
        for kind in (kinds.set, kinds.param)
    )
    for name in parameters:
        if name in {f"d{place}" for place in range(len(coordinates))}:
            message = f"{asker}: a parameter is called {name}, as a coordinate is by its place"
            raise MapError(f"{message}; expected another name")
    names = SetNames(tuple(map(isl.readable, coordinates)), (), tuple(sorted(parameters)))
    return IndexSet.made(names, None, found)


# Sources of sets: sides of boxes, domains, points, and isl's sets with parameters.


def side_of(side: IntervalLike | StridedInterval | range, where: str) -> StridedInterval:
    """The side of a box that a user gave.

    >>> print(side_of(range(9, 0, -4), "side"))
    [1, 9] step 4
    """
    if isinstance(side, range):
        values = side if side.step > 0 else side[::-1]
        side = StridedInterval(values.start, values.stop - 1, values.step)
    if not isinstance(side, StridedInterval):
        return box_algebra.whole(interval_of(side, where))
    if side.step < 1 or (side.step > 1 and side.bounds == EVERYTHING):
        raise MapError(f"{where} is {side!r}; expected a positive step, counted from an end")
    found = box_algebra.in_class(side.lower, side.upper, side.step, side.anchor)
    return found or StridedInterval(0, -1)


def box_of(piece: Domain) -> Box | None:
    """The box of a domain whose only constraints are remainders of coordinates, if it is one.

    >>> from indexing.exact.index_set import read_set_text
    >>> (piece,) = read_set_text("(i, j): i in [0, 9], j mod 3 in [2, 2], j in [0, 9]").pieces
    >>> print(*box_of(piece), sep=", ")
    [0, 9], [2, 8] step 3
    """
    classes: dict[str, tuple[int, int]] = {}
    for form, interval in piece.constraints:
        atom = form.only_atom
        if atom is None or atom.kind is not AtomKind.MOD or not atom.divisor:
            return None
        shift = atom.numerator.constant
        name = atom.numerator.plus_constant(-shift).single_variable()
        if name is None or name in classes or not interval.is_point:
            return None
        classes[name] = (atom.divisor, (interval.lower or 0) - shift)
    sides = [
        box_algebra.in_class(bounds.lower, bounds.upper, *classes.get(name, (1, 0)))
        for name, bounds in piece.bounds.items()
    ]
    found = [side for side in sides if side is not None]
    return tuple(found) if len(found) == len(sides) else None


def holds(piece: Domain, element: Sequence[int]) -> bool:
    """Whether an element meets the bounds and constraints."""
    values = dict(zip(piece.identifiers, map(forms.constant, element), strict=True))
    limits = piece.limits()
    found = forms.substitute((form for form, _ in limits), values)
    return all(form.constant in interval for form, (_, interval) in zip(found, limits, strict=True))


def elements_of(box: Box) -> Iterator[tuple[int, ...]]:
    """The points of a box in lexicographic order."""
    if not box:
        yield ()
        return
    first, *others = box
    for value in first:
        for rest in elements_of(tuple(others)):
            yield (value, *rest)


# isl's sets: coordinates without names, parameters by name.


def isl_of(names: SetNames, pieces: Sequence[Domain], context: islpy.Context) -> islpy.Set:
    """The points of some domains of the same variables; their parameters are those of the set."""
    kinds, rank = exact.load_isl().dim_type, len(names.coordinates)
    given = [Space(piece.bounds, context).domain(piece.constraints) for piece in pieces]
    points = isl.united_parts([isl.nothing(rank + len(names.given), context), *given])
    points = points.move_dims(kinds.param, 0, kinds.set, rank, len(names.given))
    for axis, name in enumerate(names.given):
        points = points.set_dim_name(kinds.param, axis, name)
    return points


def parameters_last(points: islpy.Set, names: SetNames) -> islpy.Set:
    """The set with its parameters as its last coordinates, in the order of the names."""
    kinds = exact.load_isl().dim_type
    for name in names.given:
        place = points.find_dim_by_name(kinds.param, name)
        if place < 0:
            points = points.add_dims(kinds.set, 1)
        else:
            points = points.move_dims(kinds.set, isl.rank_of(points), kinds.param, place, 1)
    return points


# Parts of a set: its hull, its pieces and its boxes, read off isl's or from boxes.

MAX_OPERATIONS_FOR_BOXES: Final = 50_000
"""With so many operations boxes are looked for: constraints alone say the same."""


class SetNames(NamedTuple):
    """The names of coordinates, empty where they have none, and of the set's parameters."""

    coordinates: tuple[str, ...]
    runtime: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()

    @classmethod
    def of(cls, hull: Domain) -> SetNames:
        """The names of a hull's variables."""
        given = tuple(variable.given_name for variable in hull.dims)
        _, _, runtime = hull.by_role(hull.names)
        return cls(given, runtime, tuple(parameter.name for parameter in hull.parameters))

    @property
    def given(self) -> tuple[str, ...]:
        """The parameters of the set."""
        return self.runtime + self.parameters

    def with_those_of(self, other: Self) -> SetNames:
        """The coordinates, and the parameters of either set."""
        runtime = (*self.runtime, *(each for each in other.runtime if each not in self.runtime))
        parameters = {*self.parameters, *other.parameters}.difference(runtime)
        return SetNames(self.coordinates, runtime, tuple(sorted(parameters)))

    def hull(self, bounds: Sequence[Interval]) -> Domain:
        """The variables with these bounds, in order.

        A coordinate that is called as what the set depends on is called after its place.
        """
        coordinates = ("" if name in self.given else name for name in self.coordinates)
        called = (*coordinates, *self.runtime, *self.parameters)
        variables = [*map(Variable, bounds, called)]
        rank, behind = len(self.coordinates), len(self.coordinates) + len(self.runtime)
        return Domain.of(variables[:rank], (), variables[rank:behind], (), variables[behind:])


class Reading(NamedTuple):
    """The variables within their least bounds, domains that make up the set, and boxes if few."""

    hull: Domain
    pieces: tuple[Domain, ...]
    boxes: tuple[Box, ...] | None = None


def reading_of_boxes(boxes: tuple[Box, ...], names: SetNames) -> Reading:
    """The reading of some disjoint boxes."""
    hull = names.hull([_around(boxes, axis) for axis in range(len(names.coordinates))])
    return Reading(hull, tuple(_piece_of_box(box, hull) for box in boxes), boxes)


def _around(boxes: Sequence[Box], axis: int) -> Interval:
    """The least interval that holds a coordinate of all boxes."""
    return reduce(Interval.union, (box[axis].bounds for box in boxes), Interval(0, -1))


def reading_of_points(points: islpy.Set, names: SetNames, budget: Budget = BUDGET) -> Reading:
    """The reading of a set of isl's, as a part of a question.

    The last coordinates are what the set depends on. Boxes that take more than a budget of their
    own are left out.
    """
    is_empty = points.is_empty()
    lone = None if names.given or is_empty else box_algebra.lone_box(points)
    if lone is not None:
        return reading_of_boxes((lone,), names)
    axes = range(len(names.coordinates) + len(names.given))
    hull = names.hull([Interval(0, -1) if is_empty else isl.extent(points, axis) for axis in axes])
    # Coalescing may bring quotients in that are not known as such.
    points = points.compute_divs().coalesce().compute_divs()
    pieces = sorted(_pieces(points, hull), key=_order)
    if not names.given:
        # No more than the question has itself; with a time, than the attempt that this is part of.
        context = points.get_ctx()
        whole = context.get_max_operations() if isinstance(budget, timedelta) else budget
        own = Allowance(min(MAX_OPERATIONS_FOR_BOXES, whole or MAX_OPERATIONS_FOR_BOXES))
        with suppress(BudgetError, TooManyError), own.attempt(context):
            return reading_of_boxes(box_algebra.boxes_of(points), names)
    return Reading(hull, tuple(pieces))


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
    """The domain of the points of a box."""
    rows = map(StridedInterval.constraints, box, hull.identifiers)
    return hull.constrained(chain.from_iterable(rows))


# The text of sets: `(d0, d1)<N>: d0 in [0, N - 1], d1 in [1, 9] step 2 or d0 in [40, 40]`.
#
# Alternatives are joined by `or`. What an alternative does not limit is unbounded. A condition
# such as `d0 < d1` may stand for an interval.


def read_set_text(text: str, file: str = "") -> Reading:
    """The set that a text describes.

    Raises:
        TextError: with line, column, and a caret under the place.
    """
    lexer = ExpressionLexer(text, file)
    coordinates, ranges, runtime, parameters = read_declarations(lexer)
    if ranges:
        raise lexer.error("a set has no ranges", hint="expected such as (d0, d1){rt0}<N>")
    roles = (_open(coordinates), (), _open(runtime), (), _open(parameters))
    hull = Domain.of(*roles)
    if not lexer.text:
        return Reading(hull, (hull,))
    lexer.expect(":", "before the limits")
    if lexer.accept("EMPTY"):
        lexer.finish()
        return Reading(hull, ())
    known = hull.by_name
    ends = {name: known[name] for name in parameters}
    pieces = lexer.joined(lambda: _read_alternative(lexer, hull, ends), "or")
    lexer.finish()
    return Reading(hull, pieces)


def _open(names: Mapping[str, None]) -> list[Variable]:
    return [Variable(EVERYTHING, name) for name in names]


def _read_alternative(lexer: ExpressionLexer, hull: Domain, ends: Mapping[str, Form]) -> Domain:
    read = lexer.joined(lambda: [*_read_limits(lexer, hull, ends)])
    return hull.constrained(chain.from_iterable(read))


def _read_limits(
    lexer: ExpressionLexer, hull: Domain, ends: Mapping[str, Form]
) -> Iterator[Constraint]:
    """``d0 in [0, 9]``, ``d0 in [0, 18] step 2``, or a condition."""
    form = forms.read_expression(lexer, hull.by_name, takes_conditions=True)
    if lexer.text != "in":
        yield from forms.facts_of(form)
        return
    found = read_ends(lexer, ends)
    interval, others = limits(form, found)
    yield form, interval
    yield from others
    if lexer.accept("step"):
        yield _read_step(lexer, form, found.lower if found.lower is not None else found.upper)


def _read_step(lexer: ExpressionLexer, form: Form, start: Form | None) -> Constraint:
    span = lexer.span
    step = lexer.integer()
    if step < 1 or start is None:
        message = "a step needs an end to count from" if start is None else "a step of 0"
        raise lexer.error(message, span, "expected such as [0, 18] step 2")
    return (form - start) % step, Interval(0, 0)
