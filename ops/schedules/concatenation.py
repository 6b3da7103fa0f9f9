"""The concatenate schedule: each thread goes through all operands at once, at the same index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ops.index_maps import check_sizes, dimensions_of, index_map
from ops.rules.slice import concatenate
from ops.schedules.loop import thread_map
from ops.schedules.schedule import Access, Schedule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indexing.layout import Shape
    from ops.schedules.launch import LaunchDimensions


def concatenate_schedule(
    operands: Sequence[Shape],
    result: Shape,
    dimension: int,
    launch: LaunchDimensions,
    unroll: int = 1,
) -> Schedule:
    """A loop over the largest operand: a thread moves that element of every operand that has it.

    So no thread has to ask which operand an element of the result comes from. Each operand is
    written to its own part of the result, and ``writes`` has an access for each.

    Shapes:
        operands, result: as of a concatenation along ``dimension``; the layout of the largest
            operand tells the order of the elements.
        launch: for the elements of the largest operand.

    Source:
        XLA's concatenate emitter. XLA has no map to the result, and that of the largest operand
        for all operands; here each ends where its operand ends.

    Raises:
        ShapeError: the shapes are not those of a concatenation, or as :func:`loop_schedule`.

    >>> from indexing.layout import Shape
    >>> from ops.schedules import LaunchDimensions
    >>> operands = [Shape.parse(text) for text in ("f32[200]", "f32[400]", "f32[300]")]
    >>> launch = LaunchDimensions.for_elements(400)
    >>> schedule = concatenate_schedule(operands, Shape.parse("f32[900]"), 0, launch)
    >>> print(schedule.reads[2].map)
    (th_x, th_y, th_z, bl_x, bl_y, bl_z)[chunk_id, unroll_id] ->
    (bl_x * 128 + th_x),
    domain: th_x in [0, 127], th_y in [0, 0], th_z in [0, 0], bl_x in [0, 2], bl_y in [0, 0],
    bl_z in [0, 0], chunk_id in [0, 0], unroll_id in [0, 0], bl_x * 128 + th_x in [0, 299]
    >>> print(schedule.writes[2].map)
    (th_x, th_y, th_z, bl_x, bl_y, bl_z)[chunk_id, unroll_id] ->
    (bl_x * 128 + th_x + 600),
    domain: th_x in [0, 127], th_y in [0, 0], th_z in [0, 0], bl_x in [0, 2], bl_y in [0, 0],
    bl_z in [0, 0], chunk_id in [0, 0], unroll_id in [0, 0], bl_x * 128 + th_x in [0, 299]
    >>> schedule.writes_exactly_once()
    True
    """
    indexing = concatenate([operand.dimensions for operand in operands], dimension)
    sizes = indexing.output_sizes
    check_sizes("concatenate", "the result", result.dimensions, sizes, "as of the operands")
    largest = max(operands, key=lambda operand: operand.dimensions[dimension])
    every = Access(thread_map(largest, launch, unroll), largest)
    # An operand has the index of the largest one, as far as it goes.
    reads = [
        every.through(index_map(dimensions_of(operand.dimensions), operand.dimensions), operand)
        for operand in operands
    ]
    writes = (
        read.through(way, result) for read, way in zip(reads, indexing.input_to_output, strict=True)
    )
    return Schedule(launch, tuple(reads), tuple(writes))
