"""A kernel whose threads write what a schedule says: its coordinates and loops lead to elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ops.fusion import FusionSchedule
from ops.kernels.element_writer import array_of, placed, unknown
from ops.kernels.errors import refused
from simplifier.expr.form import constant, variables_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from indexing import IndexingMap
    from indexing.formats.code.loop_nest import LoopBlock
    from ops.hlo.module import Instruction
    from ops.kernels.element_writer import ElementWriter
    from ops.kernels.indices import Index
    from ops.schedules import Schedule

COORDINATES: Final = {
    "th_x": "threadIdx.x",
    "th_y": "threadIdx.y",
    "th_z": "threadIdx.z",
    "bl_x": "blockIdx.x",
    "bl_y": "blockIdx.y",
    "bl_z": "blockIdx.z",
}
"""What the dimensions of a schedule's maps are in CUDA."""


def scheduled_writes(
    schedule: Schedule | FusionSchedule, source: Instruction, output: int, number: int
) -> tuple[IndexingMap, ...]:
    """What threads write of an array of the result, which has a number among all results.

    Raises:
        KernelError: the schedule is one of other arrays, or of other coordinates.
    """
    is_of_fusion = isinstance(schedule, FusionSchedule)
    writes = schedule.writes(number) if is_of_fusion else schedule.writes
    shape = array_of(source, output)
    if shape.dynamic_dimensions:
        raise refused(source, f"a schedule is for sizes that are numbers, and the shape is {shape}")
    for access in writes:
        if access.shape.dimensions != shape.dimensions:
            raise refused(source, f"the schedule writes {access.shape}; expected one of {shape}")
        if access.map.runtime or access.map.parameters:
            raise refused(source, "the schedule writes where a value of the program says")
        if len(access.map.dims) != len(COORDINATES):
            raise refused(source, "the schedule has no threads; expected one of a launch")
    return tuple(access.map for access in writes)


def write_scheduled(
    writer: ElementWriter,
    top: LoopBlock,
    written: IndexingMap,
    store: Callable[[LoopBlock, Index], None],
    *,
    has_threads: bool,
) -> None:
    """Writes the elements of a map from the coordinates of a launch."""
    coordinates = dict.fromkeys(range(len(written.dims)), constant(0))
    opened: list[tuple[LoopBlock, LoopBlock]] = []
    block = top
    for number, name in reversed([*enumerate(COORDINATES)]):
        bounds = written.dims[number].bounds
        coordinates[number] = constant(bounds.lower or 0)
        if bounds.size != 1:
            inner, coordinates[number] = block.loop(bounds, name)
            opened.append((block, inner))
            block = inner
    index = tuple(coordinates[number] for number in range(len(written.dims)))
    _write_thread(writer, block, written, index, store)
    for outer, inner in reversed(opened):
        if has_threads:
            outer.lines += [_coordinate(inner, outer), *inner.lines]
        else:
            outer.close_loop(inner)


def _coordinate(inner: LoopBlock, outer: LoopBlock) -> str:
    """The line that names a coordinate."""
    counter = inner.variables[-1]
    wish = "_".join(counter.name.split("_")[:2])
    return f"const {outer.type_of(counter.bounds)} {counter.name} = {COORDINATES[wish]};"


def _write_thread(
    writer: ElementWriter,
    block: LoopBlock,
    written: IndexingMap,
    index: Index,
    store: Callable[[LoopBlock, Index], None],
) -> None:
    """The loops of one thread; what only its coordinates decide is asked outside of them."""
    known = dict(zip(written.domain.identifiers, index, strict=False))
    rows = [row for row in written.domain.constraints if known.keys() >= {*variables_of((row[0],))}]
    outside = unknown(placed(rows, known), block)
    thread = writer.guarded(block, outside) if outside else block
    opened, counters, inside = writer.loops_over(written, index, thread)
    inner = opened[-1] if opened else thread
    body = writer.guarded(inner, inside) if inside else inner
    store(body, writer.applied(written, (*index, *counters)))
    if inside:
        writer.close_guard(inner, body, inside)
    for outer, within in reversed([*zip((thread, *opened), opened, strict=False)]):
        outer.close_loop(within)
    if outside:
        writer.close_guard(block, thread, outside)
