"""What can be made of a map: its variables and results removed, moved, renamed, replaced."""

# The one class that inherits from this one is the map; pyright knows that only of protocols.
# pyright: reportGeneralTypeIssues=false

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from indexing import arguments

if TYPE_CHECKING:
    from collections.abc import Iterable

    import sympy

    from indexing.arguments import ByName
    from indexing.domain import ByRole
    from indexing.map import IndexingMap
    from indexing.variable import Variable


_NO_NAMES: Final[dict[str, str | None]] = {}


class Transformable:
    """Methods of maps that give new maps; nothing is simplified, and no map is changed."""

    __slots__ = ()

    # Variables that nothing depends on.

    def unused_variables(self: IndexingMap) -> ByRole[int]:
        """Positions of the variables that nothing depends on: of dims, ranges and runtime.

        A variable is unused if no result uses it and every constraint on it is on such
        variables alone. Where it takes long to tell whether these constraints have a solution,
        their variables count as used.

        >>> from indexing import parse_map
        >>> m = "(d0, d1)[s0]{rt0} -> (d1), domain: d0 in [0, 3], d1 in [0, 3], "
        >>> m += "s0 in [0, 9], rt0 in [0, 3], s0 mod 4 in [1, 1]"
        >>> parse_map(m).unused_variables()
        ((0,), (0,), (0,))
        """
        from indexing.transform.unused import unused_variables  # noqa: PLC0415 - it builds maps

        return unused_variables(self)

    def unused_symbols(self: IndexingMap) -> ByRole[int]:
        """Positions of the ranges and runtime variables that nothing depends on.

        As :meth:`unused_variables`, but dimensions count as used.
        """
        from indexing.transform.unused import unused_symbols  # noqa: PLC0415 - it builds maps

        return unused_symbols(self)

    def without_unused_variables(self: IndexingMap) -> IndexingMap:
        """The map less its :meth:`unused_variables` and the constraints on them.

        If these have no values, neither has the map, and it becomes the empty map instead.

        >>> from indexing import parse_map
        >>> odd = "(d0, d1) -> (d1), domain: d0 in [0, 49], d1 in [0, 59], d0 mod 3 in [0, 0]"
        >>> print(parse_map(odd).without_unused_variables())
        (d0) -> (d0), domain: d0 in [0, 59]
        """
        from indexing.transform.unused import without_unused_variables  # noqa: PLC0415 - it builds maps

        return without_unused_variables(self)

    def without_unused_symbols(self: IndexingMap) -> IndexingMap:
        """The map less its :meth:`unused_symbols` and the constraints on them.

        If these have no values, neither has the map, and it becomes the empty map instead.

        >>> from indexing import parse_map
        >>> reduced = "(d0)[s0, s1] -> (d0, s1), domain: d0 in [0, 3], s0 in [0, 7], s1 in [0, 9]"
        >>> print(parse_map(reduced).without_unused_symbols())
        (d0)[s0] -> (d0, s0), domain: d0 in [0, 3], s0 in [0, 9]
        """
        from indexing.transform.unused import without_unused_symbols  # noqa: PLC0415 - it builds maps

        return without_unused_symbols(self)

    # Other roles, steps and names.

    def ranges_to_dims(self: IndexingMap, indices: Iterable[int] | None = None) -> IndexingMap:
        """The map with some ranges as trailing dimensions, in the order given; with all if none is.

        Negative indices count from the end. The map now tells the elements for one value of each
        such range; names stay where they are free.

        Raises:
            MapError: there is no such range, or one is given twice.

        >>> from indexing import parse_map
        >>> pairs = "()[s0, s1] -> (s0, s1), domain: s0 in [0, 7], s1 in [0, 9]"
        >>> print(parse_map(pairs).ranges_to_dims([1]))
        (d0)[s0] -> (s0, d0), domain: d0 in [0, 9], s0 in [0, 7]
        """
        from indexing.transform.substitute import ranges_to_dims  # noqa: PLC0415 - it builds maps

        return ranges_to_dims(self, indices)

    def symbols_to_dims(self: IndexingMap) -> IndexingMap:
        """The map with all ranges and then all runtime variables as trailing dimensions.

        >>> from indexing import parse_map
        >>> sliced = "(d0)[s0]{rt0} -> (d0 + rt0, s0), domain: d0 in [0, 3], s0 in [0, 7], "
        >>> print(parse_map(sliced + "rt0 in [0, 9]").symbols_to_dims())
        (d0, d1, d2) -> (d0 + d2, d1), domain: d0 in [0, 3], d1 in [0, 7], d2 in [0, 9]
        """
        from indexing.transform.substitute import symbols_to_dims  # noqa: PLC0415 - it builds maps

        return symbols_to_dims(self)

    def rescale_symbols(self: IndexingMap) -> IndexingMap:
        """The map whose symbols count steps, where constraints leave every so many of their values.

        With ``s0 mod 6 in [3, 3]``, and with whatever else says as much of one range or
        runtime variable, the variable counts the values 3, 9, 15, ...: ``s0 * 6 + 3`` takes its
        place, its bounds are those of the steps, and the constraint goes.

        >>> from indexing import parse_map
        >>> m = "()[s0] -> (s0), domain: s0 in [-8, 41], (s0 + 1) mod 6 in [4, 4]"
        >>> print(parse_map(m).rescale_symbols())
        ()[s0] -> (s0 * 6 + 3), domain: s0 in [-1, 6]
        """
        from indexing.transform.rescale import rescale_symbols  # noqa: PLC0415 - it builds maps

        return rescale_symbols(self)

    def rename(
        self: IndexingMap,
        names: ByName[str | None] = _NO_NAMES,
        /,
        **by_name: str | None,
    ) -> IndexingMap:
        """The map with other names of variables, given by their old names; all change at once.

        ``None`` or an empty name stands for the one that says the place. The coordinates of a
        launch (:class:`VariableKind`) are those that are called so.

        Raises:
            MapError: there is no variable of an old name, or a new name is taken or not one.

        >>> from indexing import IndexingMap
        >>> print(IndexingMap.identity([4, 8]).rename(d0="row", d1="column"))
        (row, column) -> (row, column), domain: row in [0, 3], column in [0, 7]
        >>> print(IndexingMap.identity([4, 8]).rename({"d0": "d1", "d1": "d0"}))
        (d1, d0) -> (d1, d0), domain: d1 in [0, 3], d0 in [0, 7]
        """
        from indexing.transform.substitute import rename  # noqa: PLC0415 - it builds maps

        return rename(self, arguments.read_names(names, "rename") | by_name)

    def substitute(
        self: IndexingMap,
        values: ByName[sympy.Expr | int],
        *,
        dims: Iterable[Variable] = (),
        ranges: Iterable[Variable] = (),
        runtime: Iterable[Variable] = (),
    ) -> IndexingMap:
        """The map with expressions or integers in place of some variables, which go.

        The bounds of a variable that goes become a constraint on its value. Values are over the
        variables that stay and those that are given as new: these become the last ones of their
        role.

        Raises:
            MapError: there is no variable of a name, or a value uses a variable that is replaced
                itself or not there.
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
        """
        from indexing.transform.substitute import substitute  # noqa: PLC0415 - it builds maps

        new = arguments.read_roles(dims, ranges, runtime)
        return substitute(self, arguments.read_values(values, "substitute"), new)

    # Results.

    def select_results(self: IndexingMap, indices: Iterable[int]) -> IndexingMap:
        """The map with some results in the order given, also more than once; the domain stays.

        Negative indices count from the end.

        Raises:
            MapError: there is no such result.

        >>> from indexing import IndexingMap
        >>> print(IndexingMap.identity([4, 8]).select_results([1, 0, 0]))
        (d0, d1) -> (d1, d0, d0), domain: d0 in [0, 3], d1 in [0, 7]
        """
        from indexing.transform.select import select_results  # noqa: PLC0415 - it builds maps

        return select_results(self, indices)

    def concatenate_results(self: IndexingMap, other: IndexingMap) -> IndexingMap:
        """The results of this map and then those of another, where both are defined.

        Variables are the same if they have the same role, position and name; within the bounds of
        both maps, and where the constraints of both hold.

        Raises:
            MapError: the maps differ in number or names of variables.

        >>> from indexing import IndexingMap, parse_map
        >>> halves = parse_map("(d0) -> (d0 floordiv 2), domain: d0 in [0, 9]")
        >>> print(halves.concatenate_results(IndexingMap.identity([8])))
        (d0) -> (d0 floordiv 2, d0), domain: d0 in [0, 7]
        """
        from indexing.transform.select import concatenate_results  # noqa: PLC0415 - it builds maps

        return concatenate_results(self, other)
