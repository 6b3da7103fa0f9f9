"""The loads of the warps of a launch: which elements the lanes of each one touch.

A warp is the threads of a block whose numbers, ``th_x`` fastest, follow each other. It loads once
for each point of the ranges: the loops that its threads run. Blocks that touch the same elements,
moved by a whole period of memory, are looked at once.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, TypeVar

from indexing import IndexingMap, MapError
from indexing.domain import Domain
from indexing.relation import check_without_parameters
from indexing.variable import GRID, VariableKind
from ops.performance.tally import size_of
from simplifier import Interval
from simplifier.evaluation import points_in
from simplifier.expr.form import Form, variables_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from ops.performance.tally import Column
    from simplifier.expr.form import Atom

Name = TypeVar("Name")

Coordinates: TypeAlias = "Mapping[VariableKind, Column]"
"""Coordinates of a launch at some threads or blocks."""

MAX_LOADS: Final = 1 << 26
"""Loads of threads that are gone through: some seconds."""

_CHUNK: Final = 1 << 20
"""Loads that are looked at together, so that memory stays small."""

_THREADS, _BLOCKS = GRID[:3], GRID[3:]


class Loads(NamedTuple):
    """Some loads of warps.

    Attributes:
        offsets: a row for each load, with the element that each lane touches.
        is_active: the lanes that load at all.
        counts: how many loads of the launch each row stands for.
    """

    offsets: Column
    is_active: Column
    counts: Column


def loads_of_warps(
    indexing_map: IndexingMap, warp_size: int, period: int, vector: int = 1
) -> Iterator[Loads]:
    """The loads of all warps; of ``vector`` neighbours of the innermost loop only the first.

    What differs by a multiple of ``period`` elements is looked at once.

    Raises:
        MapError: the map is not from the coordinates of a launch to one offset, or not bounded, or
            there are more than :data:`MAX_LOADS` different loads.
    """
    launch = _Launch.of(indexing_map)
    for blocks, counts in launch.blocks(period, vector):
        offsets, is_active = launch.values(blocks, launch.loops(vector))
        yield _in_warps(offsets, is_active, counts, warp_size)


def vector_width(indexing_map: IndexingMap, most: int, period: int) -> int:
    """How many neighbours of the innermost loop each thread can load at once.

    A power of two: the neighbours lie side by side in memory, the first at a multiple of their
    number, and a thread loads all or none.
    """
    launch = _Launch.of(indexing_map)
    while most > 1 and (launch.innermost_size % most or not launch.is_vector(most, period)):
        most //= 2
    return most


class _Launch(NamedTuple):
    """A map from the coordinates of a launch to an offset, to be evaluated block by block.

    Arrays have three axes: blocks, points of the loops, and threads of a block.

    Attributes:
        map: from the coordinates that there are.
        probe: from the same variables to the offset and to what constraints limit.
    """

    map: IndexingMap
    probe: IndexingMap

    @classmethod
    def of(cls, indexing_map: IndexingMap) -> _Launch:
        check_without_parameters(indexing_map, "coalescing")
        _check_variables(indexing_map)
        domain = indexing_map.domain
        limited = (form for form, _ in domain.constraints)
        unlimited = Domain.of(domain.dims, domain.ranges)
        return cls(indexing_map, IndexingMap.from_forms([*indexing_map.forms, *limited], unlimited))

    # Arrays.

    def values(self, blocks: Coordinates, loops: Sequence[Column]) -> tuple[Column, Column]:
        """The offsets at some blocks and all threads, and where the constraints are met."""
        import numpy as np  # noqa: PLC0415 - NumPy is loaded when arrays are wanted

        launch = {**self.threads(), **blocks}
        dims = [launch[variable.kind] for variable in self.map.dims]
        offsets, *limited = self.probe.evaluate(dims, loops)
        shape = np.broadcast_shapes(*(np.shape(each) for each in (*launch.values(), *loops)))
        is_active = np.ones(shape, dtype=bool)
        limits = [interval for _, interval in self.map.domain.constraints]
        bounds = [variable.bounds for variable in self.map.dims]
        for column, interval in zip((*limited, *dims), (*limits, *bounds), strict=True):
            lower, upper = interval.ends
            is_active &= np.asarray((column >= lower) & (column <= upper), dtype=bool)
        return np.broadcast_to(offsets, shape), is_active

    def threads(self) -> Coordinates:
        """The coordinates of the threads of a block, which begin at 0, ``th_x`` fastest."""
        box = {kind: Interval(0, self._bounds(kind).upper) for kind in reversed(_THREADS)}
        return {kind: column[None, None, :] for kind, column in _points(box).items()}

    def loops(self, vector: int) -> list[Column]:
        """The points of the loops; of each ``vector`` neighbours of the innermost one the first."""
        starts = [variable.bounds.lower or 0 for variable in self.map.ranges]
        sizes, steps = self._loop_sizes(vector)
        columns = _points({place: Interval(0, size - 1) for place, size in enumerate(sizes)})
        return [
            (column * step + start)[None, :, None]
            for column, step, start in zip(columns.values(), steps, starts, strict=True)
        ]

    def _loop_sizes(self, vector: int) -> tuple[list[int], list[int]]:
        """How often each loop runs, and by which steps."""
        sizes = [variable.bounds.size or 0 for variable in self.map.ranges]
        steps = [1] * len(sizes)
        if self.innermost is not None:
            steps[self.innermost] = vector
        return [size // step for size, step in zip(sizes, steps, strict=True)], steps

    @property
    def innermost(self) -> int | None:
        """The last loop that runs more than once."""
        places = [n for n, each in enumerate(self.map.ranges) if (each.bounds.size or 0) > 1]
        return places[-1] if places else None

    @property
    def innermost_size(self) -> int:
        """How often the last loop runs that runs more than once."""
        return 1 if self.innermost is None else self.map.ranges[self.innermost].bounds.size or 0

    def _bounds(self, kind: VariableKind) -> Interval:
        """The bounds of a coordinate; 0 where it is none of the map's."""
        return next((each.bounds for each in self.map.dims if each.kind is kind), Interval(0, 0))

    # Blocks.

    def blocks(self, period: int, vector: int) -> Iterator[tuple[Coordinates, Column]]:
        """Coordinates of blocks, some at a time, and how many blocks each stands for."""
        import numpy as np  # noqa: PLC0415 - NumPy is loaded when arrays are wanted

        box = {kind: self._bounds(kind) for kind in reversed(_BLOCKS)}
        count = size_of(box.values())
        _check_work(count)
        columns, counts = _points(box), np.ones(count, dtype=np.int64)
        alike = self._alike(columns, period)
        if alike is not None:
            _, first, counts = np.unique(alike, axis=0, return_index=True, return_counts=True)
            columns = {kind: column[first] for kind, column in columns.items()}
        work = prod(self._loop_sizes(vector)[0]) * self.threads()[VariableKind.TH_X].size
        _check_work(len(counts) * work)
        step = max(1, _CHUNK // max(work, 1))
        for start in range(0, len(counts), step):
            chunk = slice(start, start + step)
            some = {kind: column[chunk, None, None] for kind, column in columns.items()}
            yield some, counts[chunk]

    def _alike(self, blocks: Coordinates, period: int) -> Column | None:
        """Equal rows for blocks that are alike; ``None`` where blocks and threads are mixed.

        A constraint is either met by all threads of a block, or its part that depends on the block
        tells which ones meet it.
        """
        import numpy as np  # noqa: PLC0415 - NumPy is loaded when arrays are wanted

        identifiers = self.map.domain.identifiers
        names = {
            name
            for name, variable in zip(identifiers, self.map.dims, strict=False)
            if variable.kind in blocks
        }
        parts = [parted(form, names) for form in self.probe.forms]
        both = [each for each in parts if each is not None]
        if len(both) < len(parts):
            return None
        of_blocks, of_threads = zip(*both, strict=True)
        dims = [blocks.get(variable.kind, 0) for variable in self.map.dims]
        zeros = [0] * len(self.map.ranges)
        offset, *limited = self._derived(of_blocks).evaluate(dims, zeros)
        _, *inner = self._derived(of_threads).result_bounds()
        limits = (interval for _, interval in self.map.domain.constraints)
        rows = [offset % period]
        for column, around, interval in zip(limited, inner, limits, strict=True):
            lower, upper = interval.ends
            least, most = around.ends
            is_met = (column + least >= lower) & (column + most <= upper)
            rows += [is_met, np.where(is_met, 0, column)]
        shape = blocks[VariableKind.BL_X].shape
        return np.stack([np.broadcast_to(row, shape) for row in rows], axis=1)

    def _derived(self, forms: Sequence[Form]) -> IndexingMap:
        return IndexingMap.from_forms(forms, self.probe.domain)

    # Vectors.

    def is_vector(self, width: int, period: int) -> bool:
        """Whether each thread can load so many neighbours of the innermost loop at once."""
        for blocks, _ in self.blocks(period, 1):
            first, is_active = self.values(blocks, self.loops(width))
            if (first[is_active] % width).any():
                return False
            for step in range(1, width):
                loops = self.loops(width)
                loops[self.innermost or 0] = loops[self.innermost or 0] + step
                other, is_active_there = self.values(blocks, loops)
                if (is_active != is_active_there).any():
                    return False
                if (other != first + step)[is_active].any():
                    return False
        return True


def _in_warps(offsets: Column, is_active: Column, counts: Column, warp_size: int) -> Loads:
    """Rows of lanes, from arrays with the threads of a block as the last axis."""
    import numpy as np  # noqa: PLC0415 - NumPy is loaded when arrays are wanted

    blocks, loops, threads = offsets.shape
    warps = -(-threads // warp_size)
    padding = [(0, 0), (0, 0), (0, warps * warp_size - threads)]
    rows = (blocks * loops * warps, warp_size)
    return Loads(
        np.pad(offsets, padding).reshape(rows),
        np.pad(is_active, padding).reshape(rows),
        np.repeat(counts, loops * warps),
    )


def _points(box: Mapping[Name, Interval]) -> dict[Name, Column]:
    """All points of a box, the last variable fastest."""
    import numpy as np  # noqa: PLC0415 - NumPy is loaded when arrays are wanted

    return points_in(box, np.arange(size_of(box.values()), dtype=np.int64))


def parted(form: Form, names: Collection[str]) -> tuple[Form, Form] | None:
    """The terms over some variables, and those without any; ``None`` where a term has both."""
    within: list[Atom] = []
    for atom in form.terms:
        found = {name in names for name in variables_of((Form(0, {atom: 1}),))}
        if len(found) > 1:
            return None
        if True in found:
            within.append(atom)
    rest = form.without(*within)
    return form - rest, rest


def _check_work(loads: int) -> None:
    if loads > MAX_LOADS:
        message = f"coalescing: there are {loads} different loads; expected at most {MAX_LOADS}"
        raise MapError(message)


def _check_variables(indexing_map: IndexingMap) -> None:
    count = len(indexing_map.forms)
    if count != 1:
        message = f"coalescing: the map has {count} results; expected one, the offset of an element"
        raise MapError(message)
    for variable, name in zip(indexing_map.dims, indexing_map.domain.names, strict=False):
        if variable.kind not in GRID:
            expected = "expected th_x, th_y, th_z, bl_x, bl_y, bl_z"
            raise MapError(f"coalescing: {name} is no coordinate of a launch; {expected}")
    for variable, name in zip(indexing_map.domain, indexing_map.domain.names, strict=True):
        if variable.bounds.size is None:
            expected = "expected a bounded variable"
            raise MapError(f"coalescing: {name} has the bounds {variable.bounds}; {expected}")
