"""The indexing map: which elements of one tensor belong to an element of another.

Its methods are the algorithms of the rooms below, with plain imports; here they are documented.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Concatenate, Final, NoReturn, ParamSpec, Self, TypeAlias

from indexing import validation
from indexing.domain import ByRole, Constraint
from indexing.errors import MapError
from indexing.exact.index_set import IndexSet
from indexing.exact.inverse import inverse
from indexing.exact.questions import ExactRelation
from indexing.exact.strides import ByVariable, Contiguity, Stride, contiguity, strides
from indexing.formats.einsum import EinopsPattern, to_einops
from indexing.formats.isl import to_isl
from indexing.formats.mlir import to_affine_map, to_affine_set
from indexing.formats.notebook import html_of_map, latex_of_map
from indexing.formats.text import format_map
from indexing.index_relation import IndexRelation, applied, distances, restricted, with_results_in
from indexing.pictures.access_picture import AccessPicture, Choices, PlaneChoice, access_picture
from indexing.relation import Relation, RelationT
from indexing.simplify import result_bounds, simplified, simplified_by_isl
from indexing.tile.tile import Tile, masked_tile_of
from indexing.transform import evaluate, substitute
from indexing.transform.evaluate import NO_PARAMETERS, CompiledMap, Index, Point, Value
from indexing.validation import Boolean, ByName, Condition, Parameter, Results, Sizes, Variables
from simplifier import forms
from simplifier.errors import check_type
from simplifier.exact import BUDGET, Budget, NotQuasiAffineError
from simplifier.forms import Form, Interval, IntervalLike
from simplifier.tools.late import load_announced, sympy

if TYPE_CHECKING:
    import islpy

P = ParamSpec("P")

_NO_NAMES: Final[dict[str, str | None]] = {}

CodeWriter: TypeAlias = Callable[[Sequence[Relation], Sequence[str], str], str]
"""One text for maps with their names; the last argument is the function that asks, for messages."""

CODE_WRITERS: Final[dict[str, CodeWriter]] = {}
"""Writers by language; :mod:`indexing.code` adds its own."""


class IndexingMap(ExactRelation):
    """A function from dimensions, ranges and runtime variables to an index, on a domain.

    The map relates the element at ``dims`` of one tensor to the elements at ``results`` of another.
    There is one for every value of the range variables; each runtime variable has one value, known
    when the program runs. All values lie within the bounds and meet the constraints.

    Args:
        results: one integer expression for each dimension of the other tensor, over the
            variables' symbols, or its text; or one text with commas.
        dims: one variable for each dimension of the tensor that the map comes from; or a mapping
            from names to bounds or sizes, as for the other roles.
        ranges: variables that run over all their values, such as a reduced dimension.
        runtime: variables known only while the program runs, such as the offset of a dynamic-slice.
        constraints: pairs of an expression and the interval it must lie in, or conditions such as
            ``d0 < d1``.
        parameters: variables that maps share by name, such as a size ``N``, or their symbols; ends
            of other variables may be expressions over them. Those in ends need not be listed.

    Raises:
        MapError: an argument has the wrong type, a name is used twice, or an expression uses a name
            that is not declared; the message names the argument.
        ConversionError: an expression is not integer arithmetic. A result such as ``N/2`` is, where
            bounds and constraints say that it is an integer.

    A map is an immutable value: equal to a map with the same fields, hashable, picklable. A map
    that is known to have no point is stored as the empty map: every bound is ``[0, -1]``, every
    result 0.

    >>> from simplifier import symbol, FloorDiv
    >>> d0 = symbol("d0")
    >>> print(IndexingMap.from_sizes([FloorDiv(d0, 8), d0 + 1], dims=[32]))
    (d0) -> (d0 floordiv 8, d0 + 1), domain: d0 in [0, 31]
    >>> print(IndexingMap("row * 8 + lane", {"row": 4, "lane": (2, 5)}, constraints=["row < lane"]))
    (row, lane) -> (row * 8 + lane), domain: row in [0, 3], lane in [2, 5], lane - row in [1, inf]
    """

    __slots__ = ()

    def __init__(
        self,
        results: Results,
        dims: Variables,
        ranges: Variables = (),
        runtime: Variables = (),
        constraints: Iterable[Condition] = (),
        parameters: Iterable[Parameter] = (),
    ) -> None:
        domain = validation.read_domain(dims, ranges, runtime, parameters)
        domain.check()
        domain = domain.with_named(validation.read_constraints(constraints))
        self._set(domain.resolved(validation.read_results(results, domain), "result"), domain)

    @classmethod
    def from_sizes(
        cls, results: Results, dims: Sizes = (), ranges: Sizes = (), runtime: Sizes = ()
    ) -> IndexingMap:
        """A map whose variables count from 0 to one less than their size.

        The symbols in sizes are parameters; sizes are not negative.

        >>> from simplifier import symbol
        >>> d0, d1, N = symbol("d0"), symbol("d1"), symbol("N")
        >>> print(IndexingMap.from_sizes([d0 * 4 + d1], dims=[N, 4]))
        (d0, d1)<N> -> (d0 * 4 + d1), domain: d0 in [0, N - 1], d1 in [0, 3], N in [0, inf]
        """
        roles = (
            validation.read_sizes("dims", dims),
            validation.read_sizes("ranges", ranges),
            validation.read_sizes("runtime", runtime),
        )
        parameters = validation.counted_parameters(chain(*roles))
        return cls(results, *roles, parameters=parameters)

    @classmethod
    def over(
        cls,
        dims: Sizes,
        results: Results,
        *,
        ranges: Variables = (),
        runtime: Variables = (),
        constraints: Iterable[Condition] = (),
    ) -> IndexingMap:
        """A map written in the order of reading: sizes of the dimensions first, then the results.

        >>> print(IndexingMap.over({"row": 4, "column": 8}, "column, row"))
        (row, column) -> (column, row), domain: row in [0, 3], column in [0, 7]
        """
        read = validation.read_sizes("dims", dims)
        parameters = validation.counted_parameters(read)
        return cls(results, read, ranges, runtime, constraints, parameters)

    @classmethod
    def from_gpu_grid(
        cls,
        results: Results,
        grid: Iterable[int],
        ranges: Variables = (),
        runtime: Variables = (),
        constraints: Iterable[Condition] = (),
    ) -> IndexingMap:
        """A map from the coordinates of a GPU launch: ``th_x th_y th_z bl_x bl_y bl_z``.

        ``grid`` says how many threads there are in x, y and z, and then how many blocks.

        Raises:
            MapError: the grid has not six sizes, or as for :class:`IndexingMap`.

        >>> from simplifier import symbol
        >>> element = symbol("bl_x") * 128 + symbol("th_x")
        >>> print(IndexingMap.from_gpu_grid([element], [128, 1, 1, 8, 1, 1]))
        (th_x, th_y, th_z, bl_x, bl_y, bl_z) -> (bl_x * 128 + th_x), domain: th_x in [0, 127],
        th_y in [0, 0], th_z in [0, 0], bl_x in [0, 7], bl_y in [0, 0], bl_z in [0, 0]
        """
        return cls(results, validation.read_grid(grid), ranges, runtime, constraints)

    @classmethod
    def identity(cls, sizes: Iterable[validation.Size]) -> IndexingMap:
        """The map from every element of a tensor to itself.

        >>> print(IndexingMap.identity([4, 8]))
        (d0, d1) -> (d0, d1), domain: d0 in [0, 3], d1 in [0, 7]
        """
        dims = validation.read_sizes("sizes", sizes)
        parameters = validation.counted_parameters(dims)
        domain = validation.read_domain(dims, parameters=parameters)
        index, *_ = domain.by_role_as_forms
        return cls.from_forms(index, domain)

    @property
    def results(self) -> tuple[sympy.Expr, ...]:
        """The index in the other tensor, as expressions over the variables' symbols."""
        return tuple(forms.to_sympy(self.domain.named(form)) for form in self.forms)

    @property
    def names(self) -> ByRole[str]:
        """The names of dimensions, ranges and runtime variables; each has one.

        >>> from indexing import parse_map
        >>> parse_map("(row)[s0] -> (row, s0), domain: row in [0, 3], s0 in [0, 7]").names
        (('row',), ('s0',), ())
        """
        return self.domain.by_role(self.domain.names)

    @property
    def free_symbols(self) -> set[sympy.Symbol]:
        """The symbols of the variables and parameters that results and constraints use.

        >>> sorted(map(str, IndexingMap.over({"i": 4, "j": 8}, "j").free_symbols))
        ['j']
        """
        parts = (*self.results, *(expression for expression, _ in self.constraints))
        return {each for part in parts for each in part.free_symbols}

    @property
    def constraints(self) -> tuple[tuple[sympy.Expr, Interval], ...]:
        """Pairs of an expression and the interval it must lie in, sorted by their texts."""
        pairs = (pair for _, pair in self.domain.constraint_texts())
        return tuple((forms.to_sympy(self.domain.named(form)), within) for form, within in pairs)

    def replace(
        self,
        *,
        results: Results | None = None,
        dims: Variables | None = None,
        ranges: Variables | None = None,
        runtime: Variables | None = None,
        constraints: Iterable[Condition] | None = None,
        parameters: Iterable[Parameter] | None = None,
    ) -> IndexingMap:
        """The map with these parts in place of its own.

        >>> rows = IndexingMap.over({"i": 4, "j": 8}, "i, j")
        >>> print(rows.replace(results="j, i", constraints=["i < j"]))
        (i, j) -> (j, i), domain: i in [0, 3], j in [0, 7], i - j in [-inf, -1]
        """
        return IndexingMap(
            self.results if results is None else results,
            self.dims if dims is None else dims,
            self.ranges if ranges is None else ranges,
            self.runtime if runtime is None else runtime,
            self.constraints if constraints is None else constraints,
            self.parameters if parameters is None else parameters,
        )

    # Smaller and greater maps.

    def simplify(
        self,
        *,
        exact: bool = False,
        budget: Budget = BUDGET,
        preserve_size_one: bool = False,
        preserve_ranges: bool = False,
    ) -> IndexingMap:
        """The same relation in its smallest form: results, constraints, bounds and ranges.

        Simplifying twice changes nothing. A map in its smallest form is returned itself. Ranges
        that only enumerate what one range enumerates become that one, so that an element may be
        reached by fewer values of ranges than before.

        Args:
            exact: whether isl finishes what the fast way leaves: every bound is reached, no
                constraint follows from the others, and results are as small as
                :func:`simplifier.simplify` finds them with ``exact``.
            budget: operations of isl for all attempts; one that takes more than a hundredth is left
                out.
            preserve_size_one: whether a variable that has one value stays a variable instead of
                being replaced by the value, such as a dimension of size 1.
            preserve_ranges: whether every range stays, as where each is a loop of a kernel, or its
                values are counted.

        Raises:
            NotQuasiAffineError: if ``exact``, an expression multiplies variables or divides by one.

        >>> from indexing import parse_map
        >>> low = "(d0, d1) -> (d0 + d1 floordiv 8, d1 mod 8), domain: d0 in [0, 6], d1 in [0, 7]"
        >>> print(parse_map(low).simplify())
        (d0, d1) -> (d0, d1), domain: d0 in [0, 6], d1 in [0, 7]
        >>> odd = "(d0) -> (d0), domain: d0 in [0, 13], d0 mod 4 in [1, 1], d0 mod 6 in [3, 3]"
        >>> print(parse_map(odd).simplify(exact=True))
        (d0) -> (9), domain: d0 in [9, 9]
        >>> print(parse_map(odd).simplify(exact=True, preserve_size_one=True))
        (d0) -> (d0), domain: d0 in [9, 9]
        >>> tiles = "(d0)[s0, s1] -> (d0 + s0 * 16 + s1), "
        >>> tiles += "domain: d0 in [0, 7], s0 in [0, 3], s1 in [0, 15]"
        >>> print(parse_map(tiles).simplify())
        (d0)[s0] -> (d0 + s0), domain: d0 in [0, 7], s0 in [0, 63]
        """
        preserved = {"preserve_size_one": preserve_size_one, "preserve_ranges": preserve_ranges}
        if self._simplest is not None and not (exact or any(preserved.values())):
            return self._simplest
        if exact:
            return self._derive(simplified_by_isl, budget, **preserved)
        return self._derive(simplified, **preserved)

    def compose(self, producer: IndexingMap) -> IndexingMap:
        """The map that applies ``producer`` to this map's results: ``producer @ consumer``.

        ``consumer.compose(producer)`` reads in the order of the indices, which go through the
        consumer first; ``producer @ consumer`` in the order of functions, and of the data::

            element of the result --consumer--> element between --producer--> element of the operand

        Ranges and runtime variables of the producer come before this map's, as in XLA. The results
        must lie in the bounds of the producer's dimensions. Nothing is simplified.

        Raises:
            MapError: the producer has another number of dimensions than this map has results.
        """
        return substitute.compose(self, producer)

    def inverse(self) -> IndexingMap:
        """The map from results to dimensions: the same relation, read the other way.

        Its dimensions are this map's results, within their bounds; constraints say which results
        there are. If several elements lead to one, as for a broadcast, ranges run over all of them.
        Ranges of this map that become unused go, and runtime variables stay.

        The inverse of a map that is not quasi-affine is an :class:`UndefinedMap` that names the
        term, but bijections of bits, such as swizzles by ``bitxor``, have one. Costs about as much
        as simplifying both maps: no sets are computed.

        >>> from indexing import parse_map
        >>> odd = parse_map("(d0) -> (d0 * 2 + 1), domain: d0 in [0, 3]")
        >>> print(odd.inverse())
        (d0) -> (d0 floordiv 2), domain: d0 in [1, 7], d0 mod 2 in [1, 1]
        >>> print(parse_map("(d0) -> (d0 floordiv 8), domain: d0 in [0, 31]").inverse())
        (d0)[s0] -> (d0 * 8 + s0), domain: d0 in [0, 3], s0 in [0, 7]
        """
        try:
            return self._derive(inverse)
        except NotQuasiAffineError as error:
            return UndefinedMap(f"inverse: {error}")

    def __matmul__(self, consumer: IndexingMap) -> IndexingMap:
        """``producer @ consumer`` is ``consumer.compose(producer)``: the consumer runs first."""
        if not isinstance(consumer, IndexingMap):  # pyright: ignore[reportUnnecessaryIsInstance] - untyped callers
            return NotImplemented
        return consumer.compose(self)

    # Sets.

    def apply(self, elements: IndexSet, *, budget: Budget = BUDGET) -> IndexSet:
        """The elements that are reached from those of a set of dimensions.

        Costs an :meth:`image` for each piece of the set.

        Raises:
            MapError: the set has another number of coordinates than the map has dimensions.

        >>> from indexing import IndexSet, parse_map
        >>> blocks = parse_map("(d0)[s0] -> (d0 * 8 + s0), domain: d0 in [0, 9], s0 in [0, 5]")
        >>> print(blocks.apply(IndexSet.parse("(d0): d0 in [1, 1] or d0 in [4, 4]")))
        (d0): d0 in [8, 13] or d0 in [32, 37]
        """
        return applied(self, elements, budget)

    def distances(self, *, budget: Budget = BUDGET) -> IndexSet:
        """Distances from dimensions to results, as those of a dependence.

        Raises:
            MapError: the map has different numbers of dimensions and results.

        >>> from indexing import parse_map
        >>> stencil = "(d0, d1)[s0] -> (d0 + 1, d1 + s0 - 1), "
        >>> stencil += "domain: d0 in [0, 9], d1 in [1, 98], s0 in [0, 2]"
        >>> print(parse_map(stencil).distances())
        (d0, d1): d0 in [1, 1], d1 in [-1, 1]
        """
        return distances(self, budget)

    # Relations.

    def lexmin(self, *, budget: Budget = BUDGET) -> IndexRelation[IndexingMap]:
        """The lexicographically least element that each point of the dimensions leads to.

        Its ``maps`` have no ranges. Costs milliseconds for everyday maps.

        Raises:
            MapError: from some point there is no least one.

        >>> from indexing import parse_map
        >>> window = "(d0)[s0] -> (d0 + s0), domain: d0 in [0, 9], s0 in [0, 2], d0 + s0 in [2, 9]"
        >>> print(parse_map(window).lexmin())
        (d0) -> (2), domain: d0 in [0, 1] or (d0) -> (d0), domain: d0 in [2, 9]
        """
        return IndexRelation(self).lexmin(budget=budget)

    def lexmax(self, *, budget: Budget = BUDGET) -> IndexRelation[IndexingMap]:
        """The lexicographically greatest element of each point; see :meth:`lexmin`."""
        return IndexRelation(self).lexmax(budget=budget)

    def __or__(self, other: IndexingMap) -> IndexRelation[IndexingMap]:
        """The pairs of either map; ``&`` has those of both, ``-`` those of the first alone.

        >>> from indexing import parse_map
        >>> low, high = "(i) -> (i), domain: i in [0, 5]", "(i) -> (i), domain: i in [4, 9]"
        >>> print(parse_map(low) | parse_map(high))
        (i) -> (i), domain: i in [0, 9]
        """
        return IndexRelation(self, other) if isinstance(other, IndexingMap) else NotImplemented  # pyright: ignore[reportUnnecessaryIsInstance] - untyped callers

    def __and__(self, other: IndexingMap) -> IndexRelation[IndexingMap]:
        return IndexRelation(self) & other if isinstance(other, IndexingMap) else NotImplemented  # pyright: ignore[reportUnnecessaryIsInstance] - untyped callers

    def __sub__(self, other: IndexingMap) -> IndexRelation[IndexingMap]:
        return IndexRelation(self) - other if isinstance(other, IndexingMap) else NotImplemented  # pyright: ignore[reportUnnecessaryIsInstance] - untyped callers

    def __le__(self, other: IndexingMap) -> bool:
        """Whether another map relates all that this one does: :meth:`is_subset`."""
        return self.is_subset(other) if isinstance(other, IndexingMap) else NotImplemented  # pyright: ignore[reportUnnecessaryIsInstance] - untyped callers

    # Tiles.

    def tile(
        self,
        sizes: Sequence[sympy.Expr | int] | ByName[sympy.Expr | int],
        constraints: Iterable[Condition] = (),
    ) -> Tile:
        """The elements that belong to a tile of the dimensions, as formulas of its sizes and id.

        ``sizes`` has a number or an expression for each dimension, from 1 to its size, in order or
        by name; what is known of the symbols is given as ``constraints``. The formulas are exact
        for all sizes that meet the constraints of the tile. Numbers have a tile wherever results
        are bounded: its mask or :meth:`Tile.elements` say which elements of its box belong to it.

        Raises:
            TileError: no size has such a tile, or a size does not fit; the message says why.

        >>> from indexing import parse_map
        >>> from simplifier import symbol
        >>> merged = parse_map("(d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 3], d1 in [0, 7]")
        >>> print(merged.tile([2, 8]))
        offsets: t0 * 16
        sizes: 16
        strides: 1
        >>> print(merged.tile([symbol("M"), symbol("N")]).constraints)
        M in [1, 1] || N in [1, 1] || N in [8, 8]
        """
        known = validation.read_constraints(constraints)
        dims, *_ = self.domain.by_role(self.domain.names)
        in_order = validation.in_order(sizes, dims, "tile: sizes")
        return masked_tile_of(self.simplify(), self.dims, in_order, known)

    # Answers of a map: values, strides, texts in other languages.

    def evaluate(
        self,
        dims: Index | ByName[Value],
        ranges: Index | ByName[Value] = (),
        runtime: Index | ByName[Value] = (),
        parameters: ByName[Value] = NO_PARAMETERS,
    ) -> Index:
        """The index at one point, or at many: NumPy arrays broadcast. The domain is not checked.

        Values are in order, or by name. A call of the map checks the domain.

        >>> from indexing import parse_map
        >>> halves = "(d0)[s0] -> (d0 floordiv 2, s0), domain: d0 in [0, 9], s0 in [0, 3]"
        >>> parse_map(halves).evaluate([-3], [1])
        (-2, 1)
        >>> parse_map(halves).evaluate({"d0": 7}, {"s0": 1})
        (3, 1)
        >>> reverse = parse_map("(d0)<N> -> (N - 1 - d0), domain: d0 in [0, N - 1], N in [0, inf]")
        >>> reverse.evaluate([3], parameters={"N": 64})
        (60,)
        """
        given = validation.read_names(parameters, "evaluate: parameters")
        return evaluate.evaluate(self, (dims, ranges, runtime), given)

    def __call__(self, *values: Value, **by_name: Value) -> Index:
        """The index at a point of the domain, or at many: NumPy arrays broadcast.

        Values are those of all variables in order of declaration, or by name.

        Raises:
            MapError: a value is missing, or a point lies outside the domain.

        >>> from indexing import parse_map
        >>> blocks = parse_map("(d0)[s0] -> (d0 * 4 + s0), domain: d0 in [0, 9], s0 in [0, 3]")
        >>> blocks(2, 1), blocks(2, s0=1)
        ((9,), (9,))
        >>> blocks(2, 4)
        Traceback (most recent call last):
        indexing.errors.MapError: call: d0 = 2, s0 = 4 is outside the domain; see contains()
        """
        return evaluate.called(self, values, by_name)

    def contains(
        self,
        dims: Index | ByName[Value],
        ranges: Index | ByName[Value] = (),
        runtime: Index | ByName[Value] = (),
        parameters: ByName[Value] = NO_PARAMETERS,
    ) -> Value:
        """Whether the point lies in the domain; of arrays, a mask. Values are as for `evaluate`.

        >>> import numpy as np
        >>> from indexing import parse_map
        >>> triangle = "(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 9], d0 - d1 in [0, 9]"
        >>> parse_map(triangle).contains([3, np.arange(2, 6)])
        array([ True,  True, False, False])
        """
        given = validation.read_names(parameters, "contains: parameters")
        return evaluate.contains(self, (dims, ranges, runtime), given)

    def points(self) -> Iterator[Point]:
        """All points of the domain with their results, in order; the last variable is fastest.

        A point is ``(dims, ranges, runtime, results)``.

        Raises:
            MapError: a variable is not bounded.
        """
        return evaluate.points(self)

    def picture(
        self,
        at: Choices = (),
        *,
        sizes: Sequence[int] | None = None,
        plane: PlaneChoice = (),
        result_plane: PlaneChoice = (),
    ) -> AccessPicture:
        """Two grids: points of the dimensions, and the elements of the results that they read.

        ``at`` chooses the points: a number or a ``range`` for each dimension in order, or for any
        variable by name. Without it, all points are chosen, and the grid shows how often each
        element is read. A runtime variable that is not chosen has its least value.

        ``sizes`` are those of the array that is read; without them it is the least that holds all
        results. ``plane`` and ``result_plane`` choose what is shown of more than two dimensions:
        an index with ``None`` for rows and columns. Without them, the last two dimensions are rows
        and columns, and the planes with lit elements are shown.

        A notebook shows the picture, ``picture(...).save("reads.svg")`` writes it.

        Raises:
            MapError: the map has parameters or negative dimensions, a value lies outside of the
                bounds, or there are more than 1,048,576 points.

        >>> from indexing import parse_map
        >>> window = parse_map("(d0)[s0] -> (d0 * 2 + s0), domain: d0 in [0, 4], s0 in [0, 2]")
        >>> print(window.picture(at=[range(1, 3)], sizes=[12]))
        (d0) -> (d0 * 2 + s0) at d0 in [1, 2]
        (d0): 2 of 5 elements
        (d0 * 2 + s0): 5 of 12 elements, read 1 to 2 times
        """
        return access_picture(self, at, sizes=sizes, plane=plane, result_plane=result_plane)

    def result_bounds(self) -> tuple[Interval, ...]:
        """An interval for each result that holds all its values under the constraints."""
        return result_bounds(self)

    def strides(self, *, budget: Budget = BUDGET) -> tuple[ByVariable[Stride], ...]:
        """Changes of each result with each step of each variable.

        A stride is the same at every step, or within runs of so many elements, or it varies. The
        answer is exact on the domain. Closed forms of affine results cost microseconds, other
        results what :meth:`image` does, and up to a quarter of a second for swizzles of one index.

        Raises:
            MapError: a stride depends on parameters.
            BudgetError: the answer takes more than the budget.

        >>> from indexing import parse_map
        >>> split = parse_map("(d0)[s0] -> (d0 floordiv 8, (d0 mod 8) * 4 + s0), "
        ...                   "domain: d0 in [0, 63], s0 in [0, 3]")
        >>> for of_result in split.strides():
        ...     print(of_result)
        d0: 0 in runs of 8, s0: 0
        d0: 4 in runs of 8, s0: 1
        >>> split.strides()[1]["d0"].differences
        Interval(lower=-28, upper=4)
        """
        return strides(self, budget)

    def contiguity(self, *, budget: Budget = BUDGET) -> tuple[ByVariable[Contiguity], ...]:
        """Contiguous groups of each result along each variable, their alignment, and bounds.

        The words are those of Triton's axis information; the answers are exact on the domain, and
        need not be powers of two.

        Raises:
            MapError: the answer depends on parameters.
            BudgetError: the answer takes more than the budget.

        >>> from indexing import parse_map
        >>> rows = parse_map("(d0, d1) -> (d0 * 24 + d1), domain: d0 in [0, 9], d1 in [0, 11]")
        >>> along = rows.contiguity()[0]["d1"]
        >>> along.contiguity, along.divisibility
        (12, 24)
        """
        return contiguity(self, budget)

    def verify(self) -> None:
        """Raise a :class:`MapError` with the reason if a name is used twice or not declared."""
        self.domain.check()
        self.domain.check_forms(self.forms, "result")

    # In other tools.

    def to_numpy(self) -> CompiledMap:
        """The results as a compiled function of NumPy arrays that broadcast, one for each variable.

        It computes in 64-bit integers, some 50 million points a second for everyday maps, and in
        Python integers if 64 bits may not be enough. Quotients are rounded down exactly.

        >>> import numpy as np
        >>> from indexing import parse_map
        >>> reshape = parse_map("(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]")
        >>> compiled = reshape.to_numpy()
        >>> compiled(np.array([7, 8, 31]))
        (array([0, 1, 3]), array([7, 0, 7]))
        """
        return CompiledMap(self)

    def to_c(self, name: str = "indexing_map") -> str:
        """C11 text: a function for the results, and one that checks if a point is in the domain.

        ``void NAME(d0, ..., int64_t *results)`` computes the results at a point of the domain;
        ``bool NAME_contains(int64_t d0, ...)`` tells whether a point, within the bounds of the
        variables or not, is one. See :func:`indexing.emit` for several maps at once.

        Raises:
            MapError: a variable is not bounded, a value may need more than 64 bits, or ``name`` is
                no name in C.

        >>> from indexing import parse_map
        >>> print(parse_map("(d0) -> (d0 floordiv 8), domain: d0 in [0, 31]").to_c("row_of"))
        /* (d0) -> (d0 floordiv 8), domain: d0 in [0, 31] */
        <BLANKLINE>
        #include <stdbool.h>
        #include <stdint.h>
        <BLANKLINE>
        static inline void row_of(int32_t d0, int64_t *results) {
          results[0] = d0 >> 3;
        }
        <BLANKLINE>
        static inline bool row_of_contains(int64_t d0) {
          return d0 >= 0 && d0 < 32;
        }
        <BLANKLINE>
        """
        return self._code("c", name)

    def to_cuda(self, name: str = "indexing_map") -> str:
        """CUDA text: the functions of :meth:`to_c`, for the device and for the host.

        Raises:
            MapError: as of :meth:`to_c`.

        >>> from indexing import parse_map
        >>> text = parse_map("(d0) -> (d0 floordiv 8), domain: d0 in [0, 31]").to_cuda("row_of")
        >>> print(text.splitlines()[4])
        static __host__ __device__ __forceinline__ void row_of(int32_t d0, int64_t *results) {
        """
        return self._code("cuda", name)

    def to_triton(self, name: str = "indexing_map") -> str:
        """Triton text: a function for the results, and one for the mask of points in the domain.

        ``NAME(d0, ...)`` gives the results, a tuple if there are several, at points of the domain;
        ``NAME_mask(d0, ...)`` tells which points are in the domain, for the mask of a load.

        Raises:
            MapError: a variable is not bounded, a value may need more than 64 bits, or ``name`` is
                no name in Python.

        >>> from indexing import parse_map
        >>> print(parse_map("(d0) -> (d0 floordiv 8), domain: d0 in [0, 31]").to_triton("row_of"))
        # (d0) -> (d0 floordiv 8), domain: d0 in [0, 31]
        <BLANKLINE>
        import triton
        import triton.language as tl
        <BLANKLINE>
        <BLANKLINE>
        @triton.jit
        def row_of(d0):
            d0 = tl.cast(d0, tl.int32)
            return d0 // 8
        <BLANKLINE>
        <BLANKLINE>
        @triton.jit
        def row_of_mask(d0):
            return (d0 >= 0) & (d0 < 32)
        <BLANKLINE>
        """
        return self._code("triton", name)

    def to_mlir(self, name: str = "indexing_map") -> str:
        r"""MLIR text: functions of ``affine.apply`` and ``arith`` for the results and the domain.

        Raises:
            MapError: a variable is not bounded, a value may need more than 64 bits, or ``name`` is
                no name.

        >>> from indexing import parse_map
        >>> text = parse_map("(d0) -> (max(d0 floordiv 8, 1)), domain: d0 in [0, 31]").to_mlir()
        >>> print(*text.splitlines()[2:7], sep="\n")
        func.func private @indexing_map(%d0: index) -> (index) {
          %0 = affine.apply affine_map<(a0) -> (a0 floordiv 8)>(%d0)
          %1 = arith.constant 1 : index
          %2 = arith.maxsi %0, %1 : index
          return %2 : index
        """
        return self._code("mlir", name)

    def _code(self, language: str, name: str) -> str:
        load_announced("indexing.map.CODE_WRITERS")
        return CODE_WRITERS[language]([self], [name], f"to_{language}")

    def to_isl(
        self, *, runtime_as_parameters: bool = False, context: islpy.Context | None = None
    ) -> islpy.Map:
        """All pairs of ``dims`` and ``results`` as isl's relation; its ``str`` is isl's text.

        Ranges are projected out: elements are related if some values of the ranges relate them. So
        are runtime variables, unless they become parameters. The relation belongs to islpy's
        default context unless another one is given: isl does not mix contexts. Costs about a
        millisecond; :func:`indexing.from_isl` is the way back.

        Raises:
            NotQuasiAffineError: an expression multiplies variables or divides by one.

        >>> from indexing import parse_map
        >>> blocks = parse_map("(d0)[s0] -> (d0 * 8 + s0), domain: d0 in [0, 3], s0 in [0, 7]")
        >>> print(blocks.to_isl())
        { [d0] -> [o0] : 0 <= d0 <= 3 and 8d0 <= o0 <= 7 + 8d0 }
        """
        return to_isl(self, runtime_as_parameters=runtime_as_parameters, context=context)

    def to_affine_map(self) -> str:
        """The results as MLIR's ``affine_map``, which has no domain.

        Symbols are the ranges, then the runtime variables. MLIR has no quotients by negative
        constants, so they are rewritten. :func:`indexing.from_affine_map` reads both texts.

        Raises:
            MapError: naming the term that MLIR does not have: a minimum or maximum, a product of
                dimensions, a quotient by one, a constant beyond 64 bits.

        >>> from indexing import parse_map
        >>> halves = parse_map("()[s0] -> (s0 floordiv 2, s0), domain: s0 in [0, 9]")
        >>> print(halves.to_affine_map())
        affine_map<()[s0] -> (s0 floordiv 2, s0)>
        >>> print(halves.to_affine_set())
        affine_set<()[s0] : (s0 >= 0, -s0 + 9 >= 0)>
        """
        return to_affine_map(self)

    def to_affine_set(self) -> str:
        """The bounds and constraints as MLIR's ``affine_set``; see :meth:`to_affine_map`."""
        return to_affine_set(self)

    def to_einops(self) -> EinopsPattern:
        """The pattern of einops for the map from result to operand, and sizes of axes.

        Variables that results split are several axes. Ranges are reduced, and dimensions that no
        result has are repeated. :func:`indexing.from_einops` reads patterns.

        Raises:
            MapError: naming what einops does not have: a diagonal, an offset, a window, a part of
                the operand, a constraint, a parameter.

        >>> from indexing import parse_map
        >>> heads = "(d0, d1) -> (d0, d1 mod 8, d1 floordiv 8), domain: d0 in [0, 3], d1 in [0, 15]"
        >>> print(parse_map(heads).to_einops())
        a b c -> a (c b)
        """
        return to_einops(self)

    def _repr_latex_(self) -> str:
        return latex_of_map(self)

    def _repr_html_(self) -> str:
        return html_of_map(self)

    def __str__(self) -> str:
        return format_map(self)

    def __repr__(self) -> str:
        return f"IndexingMap({str(self)!r})"

    # Maps derived from this one; nothing is simplified here.

    def _derive(
        self, algorithm: Callable[Concatenate[Self, P], Self], /, *args: P.args, **kwargs: P.kwargs
    ) -> Self:
        """The map that an algorithm makes of this one; an undefined map stays undefined."""
        return algorithm(self, *args, **kwargs)

    def with_constraint(
        self, expression: sympy.Expr | Boolean | int | str, interval: IntervalLike | None = None
    ) -> Self:
        """The map on the points at which the expression lies in the interval, or a condition holds.

        Raises:
            MapError: a name is not declared; ``replace(parameters=[K])`` declares a parameter.

        >>> from indexing import parse_map
        >>> from simplifier import symbol
        >>> rows = parse_map("(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 9]")
        >>> print(rows.with_constraint(symbol("d0") <= 5).simplify())
        (d0, d1) -> (d0), domain: d0 in [0, 5], d1 in [0, 9]
        >>> rows.with_constraint("d0 <= 5") == rows.with_constraint("d0", (0, 5))
        True
        """
        read = validation.read_constraint(expression, interval)
        return self._derive(_with_constraints, read)

    # Parts.

    def restrict(self, elements: IndexSet) -> Self:
        """The map on the dimensions that lie in a set.

        Raises:
            MapError: the set has another number of coordinates than the map has dimensions.

        >>> from indexing import IndexSet, parse_map
        >>> rows = parse_map("(d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 9], d1 in [0, 7]")
        >>> print(rows.restrict(IndexSet.box((2, 3), range(0, 8, 2))))
        (d0, d1) -> (d0 * 8 + d1), domain: d0 in [2, 3], d1 in [0, 6], d1 mod 2 in [0, 0]
        """
        return self._derive(restricted, elements)

    def restrict_results(self, elements: IndexSet) -> Self:
        """The map where it reaches elements of a set; its :meth:`domain_set` is their preimage.

        Raises:
            MapError: the set has another number of coordinates than the map has results.

        >>> from indexing import IndexSet, parse_map
        >>> windows = parse_map("(d0)[s0] -> (d0 + s0), domain: d0 in [0, 9], s0 in [0, 2]")
        >>> print(windows.restrict_results(IndexSet.box((5, 6))).domain_set())
        (d0): d0 in [3, 6]
        """
        return self._derive(with_results_in, elements)

    # What a pass asks first.

    @property
    def is_identity(self) -> bool:
        """Whether the results are the dimensions, in their order, wherever the map is defined.

        >>> from indexing import parse_map
        >>> parse_map("(d0, d1) -> (d0 mod 4, d1), domain: d0 in [0, 3], d1 in [0, 7]").is_identity
        True
        """
        return self.simplify().forms == self._simplest_dims()

    @property
    def is_permutation(self) -> bool:
        """Whether each dimension is one of the results, and nothing else is.

        >>> from indexing import parse_map
        >>> parse_map("(d0, d1) -> (d1, d0), domain: d0 in [0, 3], d1 in [0, 7]").is_permutation
        True
        """
        return Counter(self.simplify().forms) == Counter(self._simplest_dims())

    @property
    def is_constant(self) -> bool:
        """Whether every result is one number, wherever the map is defined.

        >>> from indexing import parse_map
        >>> parse_map("(d0) -> (d0 floordiv 8, 2), domain: d0 in [0, 7]").is_constant
        True
        """
        return all(form.is_constant for form in self.simplify().forms)

    def _simplest_dims(self) -> tuple[Form, ...]:
        """The dimensions as results are simplified: 0, if one has only that value."""
        return simplified(self.derived(self.domain.by_role_as_forms[0], self.domain)).forms

    def is_symbol_constrained(self, symbol: int | str) -> bool:
        """Whether a constraint limits a range or runtime variable, beside its bounds.

        Symbols are given by name, or by number: the ranges, then the runtime variables.

        Raises:
            MapError: there is no such symbol.

        Source:
            XLA's ``IndexingMap::IsSymbolConstrained``.

        >>> from indexing import parse_map
        >>> text = "(d0)[s0, s1] -> (d0), domain: d0 in [0, 3], s0 in [0, 7], s1 in [0, 7], "
        >>> odd = parse_map(text + "s1 mod 2 in [1, 1]")
        >>> odd.is_symbol_constrained(0), odd.is_symbol_constrained("s1")
        (False, True)
        """
        return substitute.is_symbol_constrained(self, symbol)

    # Unused variables.

    def unused_variables(self) -> ByRole[int]:
        """The positions of the unused variables among dims, ranges and runtime.

        A variable is unused if no result uses it and every constraint on it is on unused variables
        alone. If it takes long to decide whether these constraints have a solution, their variables
        count as used.

        >>> from indexing import parse_map
        >>> m = "(d0, d1)[s0]{rt0} -> (d1), domain: d0 in [0, 3], d1 in [0, 3], "
        >>> m += "s0 in [0, 9], rt0 in [0, 3], s0 mod 4 in [1, 1]"
        >>> parse_map(m).unused_variables()
        ((0,), (0,), (0,))
        """
        return substitute.unused(self, substitute.variables)

    def unused_symbols(self) -> ByRole[int]:
        """The positions of the unused ranges and runtime variables.

        As :meth:`unused_variables`, but dimensions count as used.
        """
        return substitute.unused(self, substitute.symbols)

    def without_unused_variables(self) -> Self:
        """The map without its :meth:`unused_variables` and the constraints on them.

        If no values meet these constraints, the result is the empty map.

        >>> from indexing import parse_map
        >>> odd = "(d0, d1) -> (d1), domain: d0 in [0, 49], d1 in [0, 59], d0 mod 3 in [0, 0]"
        >>> print(parse_map(odd).without_unused_variables())
        (d0) -> (d0), domain: d0 in [0, 59]
        """
        return self._derive(substitute.without_unused, substitute.variables)

    def without_unused_symbols(self) -> Self:
        """The map without its :meth:`unused_symbols` and the constraints on them.

        If no values meet these constraints, the result is the empty map.

        >>> from indexing import parse_map
        >>> reduced = "(d0)[s0, s1] -> (d0, s1), domain: d0 in [0, 3], s0 in [0, 7], s1 in [0, 9]"
        >>> print(parse_map(reduced).without_unused_symbols())
        (d0)[s0] -> (d0, s0), domain: d0 in [0, 3], s0 in [0, 9]
        """
        return self._derive(substitute.without_unused, substitute.symbols)

    # Other roles, steps and names.

    def ranges_to_dims(self, indices: Iterable[int | str] | None = None) -> Self:
        """The map with some ranges, or all, as trailing dimensions, in the order given.

        Ranges are given by number or name. The map then gives the elements for one value of each
        such range. Negative numbers count from the end. Names that are not taken stay.

        Raises:
            MapError: there is no such range, or one is given twice.

        >>> from indexing import parse_map
        >>> pairs = "()[s0, s1] -> (s0, s1), domain: s0 in [0, 7], s1 in [0, 9]"
        >>> print(parse_map(pairs).ranges_to_dims([1]))
        (d0)[s0] -> (s0, d0), domain: d0 in [0, 9], s0 in [0, 7]
        """
        return self._derive(substitute.ranges_to_dims, indices)

    def symbols_to_dims(self) -> Self:
        """The map with all ranges and then all runtime variables as trailing dimensions.

        >>> from indexing import parse_map
        >>> sliced = "(d0)[s0]{rt0} -> (d0 + rt0, s0), domain: d0 in [0, 3], s0 in [0, 7], "
        >>> print(parse_map(sliced + "rt0 in [0, 9]").symbols_to_dims())
        (d0, d1, d2) -> (d0 + d2, d1), domain: d0 in [0, 3], d1 in [0, 7], d2 in [0, 9]
        """
        return self._derive(substitute.symbols_to_dims)

    def rescale_symbols(self) -> Self:
        """The map with symbols that count steps, if constraints leave only every n-th value.

        If the constraint is ``s0 mod 6 in [3, 3]``, or says as much of one range or runtime
        variable, then ``s0`` counts the values 3, 9, 15, ...: the map has ``s0 * 6 + 3`` instead of
        ``s0``, the bounds are those of the steps, and the constraint goes.

        >>> from indexing import parse_map
        >>> m = "()[s0] -> (s0), domain: s0 in [-8, 41], (s0 + 1) mod 6 in [4, 4]"
        >>> print(parse_map(m).rescale_symbols())
        ()[s0] -> (s0 * 6 + 3), domain: s0 in [-1, 6]
        """
        return self._derive(substitute.rescale_symbols)

    def rename(self, names: ByName[str | None] = _NO_NAMES, /, **by_name: str | None) -> Self:
        """The map with other names of variables, by their old names; all change at once.

        ``None`` or an empty name removes a name: the variable is then called ``d0``, ``s0`` or
        ``rt0`` by its role and position. A variable that is called like a coordinate of a launch
        (:class:`VariableKind`) becomes one.

        Raises:
            MapError: there is no variable of an old name, or a new name is taken or not one.

        >>> from indexing import IndexingMap
        >>> print(IndexingMap.identity([4, 8]).rename(d0="row", d1="column"))
        (row, column) -> (row, column), domain: row in [0, 3], column in [0, 7]
        >>> print(IndexingMap.identity([4, 8]).rename({"d0": "d1", "d1": "d0"}))
        (d1, d0) -> (d1, d0), domain: d1 in [0, 3], d0 in [0, 7]
        """
        return self._derive(substitute.rename, validation.read_names(names, "rename") | by_name)

    def substitute(
        self,
        values: ByName[sympy.Expr | int | str],
        *,
        dims: Variables = (),
        ranges: Variables = (),
        runtime: Variables = (),
        parameters: Iterable[Parameter] = (),
    ) -> Self:
        """The map with expressions, texts or integers for some variables, all at once.

        The bounds of a replaced variable become a constraint on its value. Values use the variables
        of the map, and new ones, which become the last of their role. A variable that is replaced
        and used by a value stays, within what these constraints say. Symbols in values of
        parameters become parameters, if they are no variables of the map.

        Raises:
            MapError: there is no variable with a name, or a value uses one that is not declared.
            ConversionError: a value is not integer arithmetic.

        >>> from indexing import IndexingMap, Variable
        >>> from simplifier import symbol
        >>> tile, lane = symbol("tile"), symbol("lane")
        >>> new = [Variable.of_size(4, "tile"), Variable.of_size(8, "lane")]
        >>> print(IndexingMap.identity([30]).substitute({"d0": tile * 8 + lane}, dims=new))
        (tile, lane) -> (tile * 8 + lane), domain: tile in [0, 3], lane in [0, 7],
        tile * 8 + lane in [0, 29]
        >>> print(IndexingMap.identity([4, 8]).substitute({"d0": 3}))
        (d0) -> (3, d0), domain: d0 in [0, 7]
        >>> print(IndexingMap.identity([4, 8]).substitute({"d0": "d1", "d1": "d0"}))
        (d0, d1) -> (d1, d0), domain: d0 in [0, 7], d1 in [0, 3]
        >>> rows = IndexingMap.identity([symbol("N"), 8])
        >>> print(rows.substitute({"N": 64}))
        (d0, d1) -> (d0, d1), domain: d0 in [0, 63], d1 in [0, 7]
        >>> print(rows.substitute({"N": symbol("M") * 4}))
        (d0, d1)<M> -> (d0, d1), domain: d0 in [0, M * 4 - 1], d1 in [0, 7], M in [0, inf]
        """
        return self._derive(
            substitute.substitute,
            validation.read_values(values, "substitute"),
            validation.read_roles(dims, ranges, runtime),
            validation.read_parameters(parameters),
        )

    def subs(
        self,
        old: ByName[sympy.Expr | int | str] | sympy.Symbol | str,
        new: sympy.Expr | int | str | None = None,
    ) -> Self:
        """:meth:`substitute` as sympy calls it: of a mapping, or of one variable and its value.

        >>> from indexing import IndexingMap
        >>> print(IndexingMap.identity([4, 8]).subs("d0", 3))
        (d0) -> (3, d0), domain: d0 in [0, 7]
        """
        if new is None:
            return self.substitute(old)  # pyright: ignore[reportArgumentType] - it checks
        return self.substitute({str(old): new})

    def xreplace(self, values: ByName[sympy.Expr | int | str]) -> Self:
        """:meth:`substitute` as sympy calls it."""
        return self.substitute(values)

    # Results.

    def with_results(self, results: Results) -> Self:
        """The map with other results, over the same variables.

        >>> from indexing import IndexingMap
        >>> print(IndexingMap.identity([4, 8]).with_results("d0 * 8 + d1"))
        (d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 3], d1 in [0, 7]
        """
        return self._derive(_with_results, results)

    def select_results(self, indices: Iterable[int]) -> Self:
        """The map with some results, in the order given; one may be selected twice.

        Negative indices count from the end.

        Raises:
            MapError: there is no such result.

        >>> from indexing import IndexingMap
        >>> print(IndexingMap.identity([4, 8]).select_results([1, 0, 0]))
        (d0, d1) -> (d1, d0, d0), domain: d0 in [0, 3], d1 in [0, 7]
        """
        return self._derive(substitute.select_results, indices)

    def concatenate_results(self, other: Self) -> Self:
        """The results of this map, then those of another, on the points where both are defined.

        Both maps have variables of the same roles, positions and names. The bounds and constraints
        of both hold.

        Raises:
            MapError: the maps have different numbers or names of variables.

        >>> from indexing import IndexingMap, parse_map
        >>> halves = parse_map("(d0) -> (d0 floordiv 2), domain: d0 in [0, 9]")
        >>> print(halves.concatenate_results(IndexingMap.identity([8])))
        (d0) -> (d0 floordiv 2, d0), domain: d0 in [0, 7]
        """
        return substitute.concatenate_results(self, other)


def _with_constraints(indexing_map: RelationT, constraints: Sequence[Constraint]) -> RelationT:
    return indexing_map.derived(indexing_map.forms, indexing_map.domain.with_named(constraints))


def _with_results(indexing_map: RelationT, results: Results) -> RelationT:
    domain = indexing_map.domain
    read = validation.read_results(results, domain)
    return indexing_map.derived(domain.resolved(read, "result", "with_results"), domain)


UNDEFINED: Final = "UNDEFINED"
"""The begin of the text of an undefined map, as in XLA."""


class UndefinedMap(IndexingMap):
    """No map, and the reason why.

    Composing, simplifying or renaming an undefined map gives the undefined map itself. It has no
    variables, results or points: asking for them raises a :class:`MapError` with the reason. Two
    undefined maps with the same reason are equal. The text is ``UNDEFINED: reason``.

    Args:
        reason: why there is no map, on one line; other white space becomes blanks.

    >>> nobody_knows = UndefinedMap("the layout of the operand is not known")
    >>> print(IndexingMap.identity([4]).compose(nobody_knows))
    UNDEFINED: the layout of the operand is not known
    >>> nobody_knows.dims
    Traceback (most recent call last):
    indexing.errors.MapError: the map is undefined: the layout of the operand is not known
    """

    __slots__ = ("_reason",)

    _reason: str

    def __init__(self, reason: str = "") -> None:
        check_type(reason, str, "UndefinedMap: reason", "a string")
        self._reason = " ".join(reason.split())
        self._simplest = self

    @property
    def reason(self) -> str:
        """The reason why there is no map; empty if none was given."""
        return self._reason

    @property
    def is_undefined(self) -> bool:
        """Always true."""
        return True

    @property
    def domain(self) -> NoReturn:
        """Raises a :class:`MapError` with the reason."""
        raise self._error()

    @property
    def forms(self) -> NoReturn:
        """Raises a :class:`MapError` with the reason."""
        raise self._error()

    def _error(self) -> MapError:
        return MapError(": ".join(filter(None, ("the map is undefined", self._reason))))

    def _derive(
        self, _: Callable[Concatenate[IndexingMap, P], IndexingMap], /, *__: P.args, **___: P.kwargs
    ) -> IndexingMap:
        """The undefined map itself."""
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, IndexingMap):
            return NotImplemented
        return isinstance(other, UndefinedMap) and self._reason == other._reason

    def __hash__(self) -> int:
        return hash((UNDEFINED, self._reason))

    def __reduce__(self) -> tuple[Callable[..., UndefinedMap], tuple[object, ...]]:
        return UndefinedMap, (self._reason,)

    def __str__(self) -> str:
        return ": ".join(filter(None, (UNDEFINED, self._reason)))

    def __repr__(self) -> str:
        return f"UndefinedMap({self._reason!r})"
