"""The indexing map: which elements of one tensor belong to an element of another.

Its methods are the algorithms of the rooms below, with plain imports; here they are documented.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Concatenate, Final, NoReturn, ParamSpec

from indexing import validation
from indexing.derived_map import DerivableMap
from indexing.errors import MapError
from indexing.exact.inversion import inverse
from indexing.index_relation import IndexRelation
from indexing.set_relations import applied, distances
from indexing.simplify import simplified, simplified_by_isl
from indexing.tile.tiling import masked_tile_of
from indexing.transform.compose import compose
from simplifier.errors import check_type
from simplifier.exact import BUDGET, NotQuasiAffineError
from simplifier.expr import form as forms
from simplifier.expr.sympy_writing import to_sympy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import sympy

    from indexing.domain import ByRole
    from indexing.exact.sets import IndexSet
    from indexing.tile.tile import Tile
    from indexing.validation import (
        ByName,
        Condition,
        Parameter,
        Results,
        Size,
        Sizes,
        Variables,
    )
    from simplifier import Interval
    from simplifier.exact import Budget

P = ParamSpec("P")


class IndexingMap(DerivableMap):
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
        cls,
        results: Results,
        dims: Sizes = (),
        ranges: Sizes = (),
        runtime: Sizes = (),
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
    def identity(cls, sizes: Iterable[Size]) -> IndexingMap:
        """The map from every element of a tensor to itself.

        >>> print(IndexingMap.identity([4, 8]))
        (d0, d1) -> (d0, d1), domain: d0 in [0, 3], d1 in [0, 7]
        """
        dims = validation.read_sizes("sizes", sizes)
        parameters = validation.counted_parameters(dims)
        domain = validation.read_domain(dims, parameters=parameters)
        index, *_ = domain.by_role(map(forms.variable, domain.identifiers))
        return cls.from_forms(index, domain)

    @property
    def results(self) -> tuple[sympy.Expr, ...]:
        """The index in the other tensor, as expressions over the variables' symbols."""
        return tuple(to_sympy(self.domain.named(form)) for form in self.forms)

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
        rows = self.domain.constraint_texts()
        return tuple((to_sympy(self.domain.named(form)), interval) for _, (form, interval) in rows)

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
        """The map that is made of these arguments, and of what this map has for the others.

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
        return compose(self, producer)

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
        """What is added to dimensions to get to results: the distances of a dependence.

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
        """What at least one of two maps relates; ``&`` is what both do, ``-`` what the first alone.

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
        for all sizes that meet the constraints of the tile. Numbers always have a tile, whose mask
        or :meth:`Tile.elements` say which elements of its box belong to it.

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


UNDEFINED: Final = "UNDEFINED"
"""What the text of an undefined map begins with, as in XLA."""


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
        """Why there is no map; empty if none was given."""
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
        self,
        algorithm: Callable[Concatenate[IndexingMap, P], IndexingMap],  # noqa: ARG002 - it cannot run
        /,
        *_: P.args,
        **__: P.kwargs,
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
