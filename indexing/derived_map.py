"""Maps derived from maps: other variables, names, roles and results, or a part of the domain.

Nothing is simplified here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Concatenate, Final, ParamSpec

from indexing import validation
from indexing.readable_map import ReadableMap
from indexing.set_relations import restricted, with_results_in
from indexing.transform.substitute import (
    concatenate_results,
    ranges_to_dims,
    rename,
    select_results,
    substitute,
    symbols_to_dims,
)
from indexing.transform.unused import (
    rescale_symbols,
    unused_symbols,
    unused_variables,
    without_unused_symbols,
    without_unused_variables,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Self

    import sympy
    from sympy.logic.boolalg import Boolean

    from indexing.domain import ByRole, Constraint
    from indexing.exact.sets import IndexSet
    from indexing.relation import RelationT
    from indexing.validation import ByName, Parameter, Results, Variables
    from simplifier.bounds.interval import IntervalLike

P = ParamSpec("P")

_NO_NAMES: Final[dict[str, str | None]] = {}


class DerivableMap(ReadableMap):
    """A map from which others are derived, each of its own class."""

    __slots__ = ()

    def _derive(
        self,
        algorithm: Callable[Concatenate[Self, P], Self],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> Self:
        """The map that an algorithm makes of this one; an undefined map stays what it is."""
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
        return unused_variables(self)

    def unused_symbols(self) -> ByRole[int]:
        """The positions of the unused ranges and runtime variables.

        As :meth:`unused_variables`, but dimensions count as used.
        """
        return unused_symbols(self)

    def without_unused_variables(self) -> Self:
        """The map without its :meth:`unused_variables` and the constraints on them.

        If no values meet these constraints, the result is the empty map.

        >>> from indexing import parse_map
        >>> odd = "(d0, d1) -> (d1), domain: d0 in [0, 49], d1 in [0, 59], d0 mod 3 in [0, 0]"
        >>> print(parse_map(odd).without_unused_variables())
        (d0) -> (d0), domain: d0 in [0, 59]
        """
        return self._derive(without_unused_variables)

    def without_unused_symbols(self) -> Self:
        """The map without its :meth:`unused_symbols` and the constraints on them.

        If no values meet these constraints, the result is the empty map.

        >>> from indexing import parse_map
        >>> reduced = "(d0)[s0, s1] -> (d0, s1), domain: d0 in [0, 3], s0 in [0, 7], s1 in [0, 9]"
        >>> print(parse_map(reduced).without_unused_symbols())
        (d0)[s0] -> (d0, s0), domain: d0 in [0, 3], s0 in [0, 9]
        """
        return self._derive(without_unused_symbols)

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
        return self._derive(ranges_to_dims, indices)

    def symbols_to_dims(self) -> Self:
        """The map with all ranges and then all runtime variables as trailing dimensions.

        >>> from indexing import parse_map
        >>> sliced = "(d0)[s0]{rt0} -> (d0 + rt0, s0), domain: d0 in [0, 3], s0 in [0, 7], "
        >>> print(parse_map(sliced + "rt0 in [0, 9]").symbols_to_dims())
        (d0, d1, d2) -> (d0 + d2, d1), domain: d0 in [0, 3], d1 in [0, 7], d2 in [0, 9]
        """
        return self._derive(symbols_to_dims)

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
        return self._derive(rescale_symbols)

    def rename(
        self,
        names: ByName[str | None] = _NO_NAMES,
        /,
        **by_name: str | None,
    ) -> Self:
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
        return self._derive(rename, validation.read_names(names, "rename") | by_name)

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
        and used by a value stays, within what these constraints say. What values of parameters use
        becomes a parameter, if it is no variable of the map.

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
            substitute,
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
        return self._derive(select_results, indices)

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
        return concatenate_results(self, other)


def _with_constraints(indexing_map: RelationT, constraints: Sequence[Constraint]) -> RelationT:
    return indexing_map.derived(indexing_map.forms, indexing_map.domain.with_named(constraints))


def _with_results(indexing_map: RelationT, results: Results) -> RelationT:
    domain = indexing_map.domain
    read = validation.read_results(results, domain)
    return indexing_map.derived(domain.resolved(read, "result", "with_results"), domain)
