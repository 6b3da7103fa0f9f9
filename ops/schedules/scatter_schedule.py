"""Scatter schedules: threads go through the updates, and change the result where indices say."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final

from indexing.layout import ShapeError
from ops.index_maps import dim, index_map, symbol
from ops.rules.gather_scatter import scatter
from ops.schedules.launch import (
    WARP_SIZE,
    LaunchDimensions,
    block_id,
    check_positive,
    loop_id,
    step_count,
    thread_id,
    unflattened,
    within,
)
from ops.schedules.loop_schedules import loop_schedule
from ops.schedules.schedule import Access, Schedule
from simplifier.expr import form as forms
from simplifier.expr import operations

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indexing.layout import Shape

WARPS_OF_BLOCK: Final = 4


def scatter_schedule(  # noqa: PLR0913 - what a launch depends on
    operand: Shape,
    indices: Shape,
    updates: Shape,
    dimensions: Sequence[int],
    launch: LaunchDimensions,
    unroll: int = 1,
    *,
    inputs: int = 1,
) -> Schedule:
    """Loops over the updates: each thread changes the result by the updates that it reads.

    The result lies in the memory of the operand already. Where a thread changes it, the index
    vector of the window decides, whose components are the runtime variables of the access. An
    element is written as often as updates land on it; a window that does not lie in the operand is
    not written.

    Shapes:
        operand: that of each of the ``inputs``, and of the results.
        indices: an index vector in each row, for these ``dimensions`` of the operand.
        updates: the windows, numbered by the first dimension.
        launch: for the elements of the updates.

    Source:
        XLA's scatter emitter with distributed updates, which has no map to the result. XLA brings
        all scatters into this form before.

    Raises:
        ShapeError: the shapes are not those of such a scatter, or as :func:`loop_schedule`.

    >>> from indexing.layout import Shape
    >>> from ops.schedules import LaunchDimensions
    >>> operand, indices, updates = map(Shape.parse, ("f32[10,4]", "s32[6,1]", "f32[6,1,4]"))
    >>> launch = LaunchDimensions.for_elements(24)
    >>> schedule = scatter_schedule(operand, indices, updates, (0,), launch)
    >>> print(schedule.reads[1])
    (th_x) -> (th_x floordiv 4, 0), domain: th_x in [0, 23]
    >>> print(schedule.writes[0])
    (th_x){rt0} -> (rt0, th_x mod 4), domain: th_x in [0, 23], rt0 in [0, 9]
    """
    (read,) = loop_schedule(updates, launch, unroll).writes
    return _of_updates(launch, read, operand, indices, dimensions, inputs)


def sorted_scatter_schedule(  # noqa: PLR0913 - what a launch depends on
    operand: Shape,
    indices: Shape,
    updates: Shape,
    dimensions: Sequence[int],
    *,
    windows_of_warp: int,
    vector_size: int = 1,
    inputs: int = 1,
) -> Schedule:
    """Each warp adds up the windows of several index vectors in a row.

    That pays where indices are sorted, so that neighbours are often equal: the warp writes only
    when the next window has another place. These maps have a write for each window.

    Shapes:
        operand, indices, updates: as of :func:`scatter_schedule`.
        launch: ``windows_of_warp`` windows for each of the 4 warps of a block. A thread reads
            ``vector_size`` neighbours at a time.

    Source:
        XLA's scatter emitter with distributed indices.

    Raises:
        ShapeError: as :func:`scatter_schedule`, or a number is not positive.

    >>> from indexing.layout import Shape
    >>> operand, indices = Shape.parse("f32[10,64]"), Shape.parse("s32[600,1]")
    >>> schedule = sorted_scatter_schedule(
    ...     operand, indices, Shape.parse("f32[600,1,64]"), (0,), windows_of_warp=5, vector_size=2
    ... )
    >>> print(schedule.reads[2])
    (th_x, bl_x)[window_id, vector_id] ->
    ((th_x floordiv 32) * 5 + bl_x * 20 + window_id, 0, (th_x mod 32) * 2 + vector_id),
    domain: th_x in [0, 127], bl_x in [0, 29], window_id in [0, 4], vector_id in [0, 1]
    """
    check_positive("scatter", "windows_of_warp", windows_of_warp)
    check_positive("scatter", "vector_size", vector_size)
    if not updates.rank:
        expected = "expected windows that the first dimension numbers"
        raise ShapeError(f"scatter: the updates are {updates}; {expected}")
    count, *window = updates.dimensions
    launch = LaunchDimensions.of(
        step_count(count, windows_of_warp * WARPS_OF_BLOCK), WARPS_OF_BLOCK * WARP_SIZE
    )
    lanes = forms.constant(WARP_SIZE)
    warp = block_id() * WARPS_OF_BLOCK + operations.floordiv(thread_id(), lanes)
    number = warp * windows_of_warp + loop_id(0)
    vector = loop_id(1) * WARP_SIZE + operations.mod(thread_id(), lanes)
    element = vector * vector_size + loop_id(2)
    loops = {
        "window_id": windows_of_warp,
        "update_id": step_count(prod(window), WARP_SIZE * vector_size),
        "vector_id": vector_size,
    }
    inside = within((count, prod(window)), (number, element))
    places = launch.map((number, *unflattened(element, window)), loops, inside)
    read = Access(places.simplify(preserve_ranges=True), updates)
    return _of_updates(launch, read, operand, indices, dimensions, inputs)


def _of_updates(
    launch: LaunchDimensions,
    read: Access,
    operand: Shape,
    indices: Shape,
    dimensions: Sequence[int],
    inputs: int,
) -> Schedule:
    """The schedule in which threads read the updates so."""
    check_positive("scatter", "inputs", inputs)
    sizes = read.shape.dimensions
    indexing = scatter(
        operand.dimensions,
        indices.dimensions,
        sizes,
        update_window_dims=range(1, len(sizes)),
        inserted_window_dims=(),
        scatter_dims_to_operand_dims=dimensions,
        index_vector_dim=1,
    )
    vector = index_map((dim(0), symbol(0)), sizes, [len(dimensions)]).rename({"s0": "component_id"})
    written = read.through(indexing.input_to_output[2], operand, indexing.input_origins[2])
    reads = (*(None,) * inputs, read.through(vector, indices), *(read,) * inputs)
    return Schedule(launch, reads, (written,))
