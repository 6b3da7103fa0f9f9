"""What all programs of a tiling load or store, for many candidate sizes at once.

An access splits into parts that share no dimension: their numbers multiply. The numbers of a part
are counted once for each combination of sizes of its few dimensions.
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple

from indexing import IndexingMap, TileError
from indexing.tile.tiling import tile_of
from indexing.transform.substitute import arranged
from ops.index_maps import dim
from ops.performance.tally import Deadline, OutOfTimeError, tally_of
from ops.performance.xla_verdict import with_midpoints
from ops.tiling.tile_propagation import values_of
from ops.tiling.touched import touched
from simplifier import NotQuasiAffineError
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.sympy_conversion import to_sympy
from simplifier.tools.disjoint_set import united

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from indexing import Tile, Variable
    from indexing.tile.tile import Formulas
    from ops.dependence.operand_indexing import OperandIndexing
    from ops.performance.tally import Column
    from ops.tiling.tile_propagation import ArrayTile
    from ops.tiling.tiling_space import TilingSpace
    from simplifier import Interval

SECONDS: Final = 10.0
"""What counting may take: a part that is injective is counted at once, others are small."""

_BITS: Final = 8

_FEW: Final = 1 << 8
"""Combinations of sizes for which two masks are compared: a second at most."""

_VERY_FEW: Final = 1 << 6
"""Combinations of sizes of all dimensions for which two tiles are compared."""


class _LoadPart(NamedTuple):
    """Dimensions of a space that depend on each other, and a map from them alone."""

    dimensions: tuple[int, ...]
    map: IndexingMap


class TileLoads:
    """Counts what the programs of a space touch; ``choices`` are the sizes of each dimension."""

    def __init__(self, space: TilingSpace, choices: Sequence[Sequence[int]]) -> None:
        self.variables = space.variables
        self.wholes = [max(each.size or 1, 1) for each in space.dimensions]
        self.parallel = range(len(space.parallel))
        self.choices = choices
        self.deadline = Deadline(SECONDS)

    def programs(self, columns: Sequence[Column]) -> Column:
        """How many programs there are."""
        return self._product(self.parallel, columns)

    def tiles(self, columns: Sequence[Column]) -> Column:
        """How many tiles the space has."""
        return self._product(range(len(columns)), columns)

    def bytes_of(self, arrays: Sequence[ArrayTile], columns: Sequence[Column]) -> Column:
        """The bytes of all tiles of some arrays, each different tile of an array once."""
        total: Column = 0 * self.tiles(columns)
        for number, array in enumerate(arrays):
            bits = array.instruction.shape.arrays[array.element].element_size_in_bits
            earlier = [
                each
                for each in arrays[:number]
                if each.instruction is array.instruction and each.element == array.element
            ]
            is_new: Column = self.tiles(columns) > 0
            for before in earlier:
                is_new = is_new & ~self._are_equal(before, array, columns)
            access = array.indexings[0]
            total = total + is_new * -(-self._elements(access, columns) * bits // _BITS)
        return total

    def _product(self, numbers: Iterable[int], columns: Sequence[Column]) -> Column:
        import numpy as np  # noqa: PLC0415 - NumPy is loaded when arrays are wanted

        found: Column = np.ones(columns[0].shape if columns else 1, dtype=np.int64)
        for number in numbers:
            found = found * -(-self.wholes[number] // columns[number])
        return found

    def _elements(self, access: OperandIndexing, columns: Sequence[Column]) -> Column:
        """How many elements all programs load for an access."""
        parts = list(_parts(access, self.variables))
        used = {number for part in parts for number in part.dimensions}
        found = self._product((each for each in self.parallel if each not in used), columns)
        for part in parts:
            found = found * self._of_part(part, columns)
        return found

    def _of_part(self, part: _LoadPart, columns: Sequence[Column]) -> Column:
        """The pairs of tile ids and elements, for the sizes in the columns."""
        try:
            whole = tally_of(part.map, self.deadline)
            if whole.points == whole.elements:
                return whole.points
            choices = [sorted(self.choices[number]) for number in part.dimensions]
            counts = touched(part.map, choices) or [
                tally_of(_with_tile_ids(part.map, sizes), self.deadline).elements
                for sizes in product(*choices)
            ]
        except (OutOfTimeError, NotQuasiAffineError):
            raise TileError(f"tilings: {part.map} cannot be counted; give fewer sizes") from None
        return _looked_up(counts, part.dimensions, choices, columns)

    def _are_equal(self, one: ArrayTile, other: ArrayTile, columns: Sequence[Column]) -> Column:
        """For which sizes two tiles of an array are the same.

        Of few combinations each is looked at. Of more, only those are found where the dimensions in
        which the tiles differ are whole, or where no more than masks differ.
        """
        every: Column = self.tiles(columns) > 0
        if _values_read(one) != _values_read(other) or _reached(one) != _reached(other):
            return ~every
        dimensions = range(len(self.choices))
        if prod(map(len, self.choices)) <= _VERY_FEW:
            return every & self._where_they_agree(one, other, dimensions, columns)
        numbers = _dimensions_that_differ(one.checked_tile(), other.checked_tile())
        wholes = {number: self.wholes[number] for number in numbers}
        if not self._agree(one, other, wholes):
            return ~every
        if (
            _differ_in_masks(one, other)
            and prod(len(self.choices[each]) for each in numbers) <= _FEW
        ):
            return every & self._where_they_agree(one, other, numbers, columns)
        for number in numbers:
            fewer = {each: whole for each, whole in wholes.items() if each != number}
            if self._agree(one, other, fewer):
                wholes = fewer
        for number, whole in wholes.items():
            every = every & (columns[number] == whole)
        return every

    def _where_they_agree(
        self, one: ArrayTile, other: ArrayTile, numbers: Sequence[int], columns: Sequence[Column]
    ) -> Column:
        """Whether two tiles are the same, by the sizes of some dimensions."""
        choices = [sorted(self.choices[number]) for number in numbers]
        sizes = (dict(zip(numbers, each, strict=True)) for each in product(*choices))
        found = [self._agree(one, other, each) for each in sizes]
        return _looked_up(found, numbers, choices, columns)

    def _agree(self, one: ArrayTile, other: ArrayTile, sizes: Mapping[int, int]) -> bool:
        """Whether two tiles are the same where some dimensions have these sizes."""
        try:
            return self._formulas(one, sizes) == self._formulas(other, sizes)
        except TileError:  # no tile has these sizes
            return False

    def _formulas(self, array: ArrayTile, sizes: Mapping[int, int]) -> Formulas:
        """The formulas of a tile where some dimensions have these sizes."""
        symbols = map(to_sympy, array.checked_tile().counts)
        given = [sizes.get(number, each) for number, each in enumerate(symbols)]
        return tile_of(array.indexings[0].map.simplify(), self.variables, given).formulas


def _looked_up(
    values: Sequence[int],
    numbers: Sequence[int],
    choices: Sequence[Sequence[int]],
    columns: Sequence[Column],
) -> Column:
    """The value that belongs to the sizes of some dimensions; there is one for each combination."""
    import numpy as np  # noqa: PLC0415 - NumPy is loaded when arrays are wanted

    table = np.array(values).reshape([len(each) for each in choices])
    pairs = zip(choices, numbers, strict=True)
    places: list[Column] = [np.searchsorted(each, columns[number]) for each, number in pairs]
    return table[tuple(places)]


def _differ_in_masks(one: ArrayTile, other: ArrayTile) -> bool:
    """Whether two tiles would be the same without their masks."""
    return one.checked_tile().formulas.results == other.checked_tile().formulas.results


def _values_read(array: ArrayTile) -> object:
    """What tiles must have in common beside their formulas."""
    access = array.indexings[0]
    return access.runtime, access.replica_id


def _reached(array: ArrayTile) -> Sequence[Interval]:
    """What all tiles together lie in: it is the same for tiles that are equal."""
    return array.indexings[0].map.result_bounds()


def _dimensions_that_differ(one: Tile, other: Tile) -> tuple[int, ...]:
    """The dimensions that the formulas in which two tiles differ use."""
    pairs = [
        *zip(one.formulas.results, other.formulas.results, strict=True),
        ((one.formulas.condition,), (other.formulas.condition,)),
    ]
    differing = [form for pair in pairs if pair[0] != pair[1] for row in pair for form in row]
    used = set(forms.variables_of(differing))
    sizes = enumerate(each.single_variable() for each in one.counts)
    return tuple(number for number, size in sizes if used & {f"t{number}", size})


def _parts(access: OperandIndexing, variables: Sequence[Variable]) -> Iterator[_LoadPart]:
    """The independent parts of an access to a space with these dimensions.

    A dimension of which the access has some values only is one: other tiles load nothing. What is
    at another place, or on another replica, is another element, too.
    """
    together = [*access.map.forms, *values_of(access)]
    placed = IndexingMap.from_forms(together, access.map.domain)
    found = (with_midpoints(placed) if access.runtime else placed).simplify()
    pairs = enumerate(zip(found.dims, variables, strict=True))
    cut = [dim(number) for number, (own, whole) in pairs if own.bounds != whole.bounds]
    results = found.forms
    limited = [form for form, _ in found.domain.constraints]
    groups = united(set(forms.variables_of((form,))) for form in (*results, *limited, *cut))
    for names in groups:
        numbers = sorted(int(name[1:]) for name in names)
        kept = [form for form in results if names & set(forms.variables_of((form,)))]
        order = [f"d{number}" for number in numbers]
        domain = found.domain.with_constraints(found.domain.constraints_among(order))
        yield _LoadPart(tuple(numbers), arranged(IndexingMap.from_forms(kept, domain), order))


def _with_tile_ids(part: IndexingMap, sizes: Sequence[int]) -> IndexingMap:
    """The map that leads to tile ids, too."""
    ids = [
        operations.floordiv(dim(number), forms.constant(size)) for number, size in enumerate(sizes)
    ]
    return IndexingMap.from_forms([*part.forms, *ids], part.domain).simplify()
