"""What all programs of a tiling load or store, for many candidate sizes at once.

An access splits into parts that share no dimension: their numbers multiply. The numbers of a part
are counted once for each combination of sizes of its few dimensions.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Final, NamedTuple

from indexing import IndexingMap
from indexing.transform.substitute import arranged
from ops.index_maps import dim
from ops.performance.tally import Deadline, OutOfTimeError, tally_of, volume
from ops.performance.xla_verdict import with_midpoints
from ops.tiling.equal_tiles import TileComparison
from ops.tiling.tile_propagation import values_of
from ops.tiling.touched import touched
from simplifier import NotQuasiAffineError
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.tools.disjoint_set import united

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from indexing import Variable
    from ops.dependence.operand_indexing import OperandIndexing
    from ops.performance.tally import Column
    from ops.tiling.tile_propagation import ArrayTile
    from ops.tiling.tiling_space import TilingSpace

SECONDS: Final = 10.0
"""What counting may take: a part that is injective is counted at once, others are small. Behind
that time, numbers are bounds, and say so."""

_BITS: Final = 8


class LoadCount(NamedTuple):
    """How much is loaded for each combination of sizes; at most so much where it is not exact."""

    number: Column
    is_exact: Column | bool


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

    def bytes_of(
        self, arrays: Sequence[ArrayTile], columns: Sequence[Column], kept: Column | None = None
    ) -> LoadCount:
        """The bytes of all tiles of some arrays, each different tile of an array once.

        Only the numbers for the sizes that are kept mean something.
        """
        total: Column = 0 * self.tiles(columns)
        every: Column = total == 0
        is_exact = every
        kept = every if kept is None else every & kept
        compared = TileComparison(self.variables, columns, kept)
        for number, array in enumerate(arrays):
            bits = array.instruction.shape.arrays[array.element].element_size_in_bits
            is_new, is_decided = every, every
            for before in arrays[:number]:
                if before.instruction is array.instruction and before.element == array.element:
                    found = compared(before, array)
                    is_new, is_decided = is_new & ~found.is_equal, is_decided & found.is_decided
            counted = self._elements(array.indexings[0], columns)
            total = total + is_new * -(-counted.number * bits // _BITS)
            is_exact = is_exact & (~is_new | (is_decided & counted.is_exact))
        return LoadCount(total, is_exact)

    def _product(self, numbers: Iterable[int], columns: Sequence[Column]) -> Column:
        import numpy as np  # noqa: PLC0415 - NumPy is loaded when arrays are wanted

        found: Column = np.ones(columns[0].shape if columns else 1, dtype=np.int64)
        for number in numbers:
            found = found * -(-self.wholes[number] // columns[number])
        return found

    def _elements(self, access: OperandIndexing, columns: Sequence[Column]) -> LoadCount:
        """How many elements all programs load for an access."""
        parts = list(_parts(access, self.variables))
        used = {number for part in parts for number in part.dimensions}
        found = self._product((each for each in self.parallel if each not in used), columns)
        is_exact = True
        for part in parts:
            try:
                found = found * self._of_part(part, columns)
            except (OutOfTimeError, NotQuasiAffineError):
                found, is_exact = found * volume(part.map), False  # each point loads one at most
        return LoadCount(found, is_exact)

    def _of_part(self, part: _LoadPart, columns: Sequence[Column]) -> Column:
        """The pairs of tile ids and elements, for the sizes in the columns.

        Raises:
            OutOfTimeError, NotQuasiAffineError: they cannot be counted.
        """
        whole = tally_of(part.map, self.deadline)
        if whole.points == whole.elements:
            return whole.points
        choices = [sorted(self._sizes_counted(number)) for number in part.dimensions]
        counts = touched(part.map, choices) or [
            tally_of(_with_tile_ids(part.map, sizes), self.deadline).elements
            for sizes in product(*choices)
        ]
        return self._once(_LoadTable(part.dimensions, choices, counts), columns)

    def _sizes_counted(self, number: int) -> set[int]:
        """The sizes of a dimension; of steps also the one of a single step."""
        single = set[int]() if number in self.parallel else {self.wholes[number]}
        return {*self.choices[number], *single}

    def _once(self, counts: _LoadTable, columns: Sequence[Column]) -> Column:
        """The counts without steps that load what the step before them has loaded.

        If each step loads as much as all steps together, all load the same.
        """
        import numpy as np  # noqa: PLC0415 - NumPy is loaded when arrays are wanted

        found = counts.of(columns)
        for number in counts.dimensions:
            if number not in self.parallel:
                size, whole = columns[number], self.wholes[number]
                single = [*columns[:number], 0 * size + whole, *columns[number + 1 :]]
                is_same = found == counts.of(single) * -(-whole // size)
                merged = np.where(is_same, whole, size)
                columns = [*columns[:number], merged, *columns[number + 1 :]]
                found = counts.of(columns)
        return found


class _LoadTable(NamedTuple):
    """A number for each combination of sizes of some dimensions, the last fastest."""

    dimensions: tuple[int, ...]
    choices: Sequence[Sequence[int]]
    values: Sequence[int]

    def of(self, columns: Sequence[Column]) -> Column:
        """The numbers for the sizes in the columns."""
        import numpy as np  # noqa: PLC0415 - NumPy is loaded when arrays are wanted

        table = np.array(self.values).reshape([len(each) for each in self.choices])
        pairs = zip(self.choices, self.dimensions, strict=True)
        places: list[Column] = [np.searchsorted(each, columns[number]) for each, number in pairs]
        return table[tuple(places)]


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
