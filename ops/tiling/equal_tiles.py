"""For which tile sizes two tiles of an array are the same, so that a program loads it once.

Two tiles are the same if their formulas are, with the numbers for sizes. For thousands of sizes
that is asked in steps: most have tiles that begin elsewhere, and need no formulas.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from indexing import TileError
from indexing.tile.tiling import tile_of
from indexing.transform.evaluate import evaluate_forms
from simplifier.expr import form as forms
from simplifier.expr.sympy_conversion import to_sympy

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from indexing import Tile, Variable
    from indexing.tile.tile import Formulas
    from ops.performance.tally import Column
    from ops.tiling.tile_propagation import ArrayTile
    from simplifier import Interval

_FEW: Final = 1 << 8
"""Sizes of the dimensions in which two tiles differ that are looked at: a second at most."""

_VERY_FEW: Final = 1 << 6
"""Sizes of all dimensions that are looked at."""


class TileEquality(NamedTuple):
    """For which sizes two tiles are known to be equal, and for which that is decided."""

    is_equal: Column
    is_decided: Column


class TileComparison:
    """Compares tiles of a space, for the sizes in some columns that are kept."""

    def __init__(
        self,
        variables: Sequence[Variable],
        wholes: Sequence[int],
        columns: Sequence[Column],
        kept: Column,
    ) -> None:
        self.variables = variables
        self.columns = columns
        self.kept = kept
        self.last = [-(-whole // size) - 1 for whole, size in zip(wholes, columns, strict=True)]

    def __call__(self, one: ArrayTile, other: ArrayTile) -> TileEquality:
        """For which sizes two tiles of one array are equal."""
        import numpy as np  # noqa: PLC0415 - NumPy is loaded when arrays are wanted

        every = np.ones(self.kept.shape, dtype=bool)
        if _values_read(one) != _values_read(other) or _reached(one) != _reached(other):
            return TileEquality(~every, every)
        numbers = _dimensions_that_differ(one.checked_tile(), other.checked_tile())
        left = self.kept & self._begin_alike(one, other, numbers)
        found = ~every
        for dimensions, most in ((numbers, _FEW), (range(len(self.columns)), _VERY_FEW)):
            agreed = self._where_they_agree(one, other, dimensions, left, most)
            if agreed is None:
                return TileEquality(found, ~left)
            found, left = found | agreed, left & ~agreed
        return TileEquality(found, every)

    def _where_they_agree(
        self, one: ArrayTile, other: ArrayTile, numbers: Sequence[int], wanted: Column, most: int
    ) -> Column | None:
        """Where two tiles are the same by the sizes of some dimensions; ``None`` for too many."""
        import numpy as np  # noqa: PLC0415 - NumPy is loaded when arrays are wanted

        columns = [self.columns[number][wanted] for number in numbers]
        table = np.stack([*columns, 0 * wanted[wanted]])
        rows, places = np.unique(table, axis=1, return_inverse=True)
        if rows.shape[1] > most:
            return None
        sizes = [dict(zip(numbers, row, strict=False)) for row in rows.T.tolist()]
        agreed = np.array([self._agree(one, other, each) for each in sizes], dtype=bool)
        found = np.zeros(wanted.shape, dtype=bool)
        found[wanted] = agreed[places.reshape(-1)]
        return found

    def _begin_alike(self, one: ArrayTile, other: ArrayTile, numbers: Sequence[int]) -> Column:
        """For which sizes the first and the last tiles have equal offsets, sizes and strides."""
        found: Column = True
        for moved in ((), *((number,) for number in numbers), numbers):
            pairs = zip(self._rows(one, moved), self._rows(other, moved), strict=True)
            for (offset, size, stride), (start, count, step) in pairs:
                same_stride = (stride == step) | (size == 1)
                found = found & (offset == start) & (size == count) & same_stride
        return found

    def _rows(
        self, array: ArrayTile, moved: Sequence[int]
    ) -> Iterator[tuple[Column, Column, Column]]:
        """The formulas of the first tile, or of the last along some dimensions."""
        tile = array.checked_tile()
        given: dict[str, Column] = {}
        for number, (count, sizes, last) in enumerate(
            zip(tile.counts, self.columns, self.last, strict=True)
        ):
            given |= dict.fromkeys(forms.variables_of((count,)), sizes)
            given[f"t{number}"] = last if number in moved else 0 * last
        for place in range(len(array.indexings[0].map.runtime)):
            given[f"rt{place}"] = 0 * self.columns[0]
        for row in tile.formulas.results:
            offset, size, stride = evaluate_forms(row, given)
            yield offset, size, stride

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
