"""What all programs of a tiling load or store, for many candidate sizes at once.

An access splits into parts that share no dimension: their numbers multiply. The numbers of a part
are counted once for each combination of sizes of its few dimensions.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Final, NamedTuple

from indexing import IndexingMap, TileError
from indexing.transform.substitute import arranged
from ops.index_maps import dim
from ops.performance.tally import Deadline, OutOfTimeError, tally_of
from ops.performance.xla_verdict import with_midpoints
from ops.tiling.tile_propagation import dimensions_of_one_value
from simplifier import NotQuasiAffineError
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.tools.disjoint_set import united

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ops.dependence.operand_indexing import OperandIndexing
    from ops.performance.tally import Column
    from ops.tiling.tile_propagation import ArrayTile
    from ops.tiling.tiling_space import TilingSpace
    from simplifier.expr.form import Form

SECONDS: Final = 10.0
"""What counting may take: a part that is injective is counted at once, others are small."""

_BITS: Final = 8


class _LoadPart(NamedTuple):
    """Dimensions of a space that depend on each other, and a map from them alone."""

    dimensions: tuple[int, ...]
    map: IndexingMap


class TileLoads:
    """Counts what the programs of a space touch; ``choices`` are the sizes of each dimension."""

    def __init__(self, space: TilingSpace, choices: Sequence[Sequence[int]]) -> None:
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
            access = array.indexings[0]
            earlier = (
                each.indexings[0]
                for each in arrays[:number]
                if each.instruction is array.instruction and each.element == array.element
            )
            is_new: Column = self.tiles(columns) > 0
            for before in earlier:
                is_new = is_new & ~self._are_equal(before, access, columns)
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
        parts = list(_parts(access))
        used = {number for part in parts for number in part.dimensions}
        found = self._product((each for each in self.parallel if each not in used), columns)
        for part in parts:
            found = found * self._of_part(part, columns)
        return found

    def _of_part(self, part: _LoadPart, columns: Sequence[Column]) -> Column:
        """The pairs of tile ids and elements, for the sizes in the columns."""
        import numpy as np  # noqa: PLC0415 - NumPy is loaded when arrays are wanted

        try:
            whole = tally_of(part.map, self.deadline)
            if whole.points == whole.elements:
                return whole.points
            choices = [sorted(self.choices[number]) for number in part.dimensions]
            counts = [
                tally_of(_with_tile_ids(part.map, sizes), self.deadline).elements
                for sizes in product(*choices)
            ]
        except (OutOfTimeError, NotQuasiAffineError):
            raise TileError(f"tilings: {part.map} cannot be counted; give fewer sizes") from None
        table = np.array(counts, dtype=np.int64).reshape([len(each) for each in choices])
        pairs = zip(choices, part.dimensions, strict=True)
        places: list[Column] = [np.searchsorted(each, columns[number]) for each, number in pairs]
        return table[tuple(places)]

    def _are_equal(
        self, one: OperandIndexing, other: OperandIndexing, columns: Sequence[Column]
    ) -> Column:
        """Whether two tiles of an array are the same, because dimensions that differ are whole."""
        found: Column = self.tiles(columns) > 0
        if one.runtime or other.runtime:
            return ~found
        renaming = _renaming(one.map.simplify(), other.map.simplify())
        if renaming is None:
            return ~found
        for number in {each for pair in renaming for each in pair if pair[0] != pair[1]}:
            found = found & (columns[number] == self.wholes[number])
        return found


def _parts(access: OperandIndexing) -> Iterator[_LoadPart]:
    """The independent parts of an access; each runtime value is another one."""
    single = list(dimensions_of_one_value(access))
    found = with_midpoints(access.map).simplify() if access.runtime else access.map.simplify()
    results = [*found.forms, *map(dim, single)]
    limited = [form for form, _ in found.domain.constraints]
    groups = united(set(forms.variables_of((form,))) for form in (*results, *limited))
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


def _renaming(one: IndexingMap, other: IndexingMap) -> list[tuple[int, int]] | None:
    """The dimensions of one map and those of another that is the same but for their numbers."""
    pairs: dict[str, str] = {}
    for mine, others in zip(one.forms, other.forms, strict=True):
        names = [[*dict.fromkeys(forms.variables_of((form,)))] for form in (mine, others)]
        if len(names[0]) != len(names[1]):
            return None
        if any(pairs.setdefault(old, new) != new for old, new in zip(*names, strict=True)):
            return None
    numbers = [(int(old[1:]), int(new[1:])) for old, new in pairs.items()]
    sizes = [variable.bounds for variable in one.dims]
    if len({*pairs.values()}) < len(pairs) or any(sizes[old] != sizes[new] for old, new in numbers):
        return None
    renaming = {old: forms.variable(new) for old, new in pairs.items()}
    are_equal = operations.substitute(one.forms, renaming) == tuple(other.forms)
    return numbers if are_equal and _limits(one, renaming) == _limits(other, {}) else None


def _limits(of: IndexingMap, renaming: dict[str, Form]) -> set[object]:
    constraints = of.domain.constraints
    renamed = operations.substitute([form for form, _ in constraints], renaming)
    return {(form, interval) for form, (_, interval) in zip(renamed, constraints, strict=True)}
