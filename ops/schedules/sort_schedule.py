"""Sort schedules: a bitonic sort, whose stages are kernels that exchange elements in place."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Final

from indexing.layout import ShapeError
from ops.index_maps import checked_dimensions
from ops.schedules.launch import (
    LaunchDimensions,
    block_id,
    check_positive,
    loop_id,
    step_count,
    thread_id,
    unflattened,
    within,
)
from ops.schedules.schedule import Access, Schedule
from simplifier.expr import form as forms
from simplifier.expr import operations

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from indexing.layout import Shape
    from simplifier.expr.form import Form

ELEMENTS_OF_THREAD: Final = 4
"""Neighbours that a thread brings into shared memory and back."""

MAX_THREADS: Final = 1024
"""The largest number of threads in a block that GPUs run."""

SHARED_BYTES: Final = 48 << 10
"""Shared memory of a block without asking for more."""


@dataclass(frozen=True, slots=True)
class SortKernel:
    """One launch of a sort, which compares the elements whose numbers differ by these masks.

    Attributes:
        masks: what each step xors the number of an element with to find its partner.
        schedule: what threads read and write of each input. A thread of a kernel with several
            masks moves neighbours; with one mask, it holds the two elements that it compares.
    """

    masks: tuple[int, ...]
    schedule: Schedule


@dataclass(frozen=True, slots=True)
class SortSchedule(Schedule):
    """A :class:`Schedule` of several launches.

    ``reads`` are those of the first kernel, ``launch`` and ``writes`` those of the last. The
    kernels between them read and write the result.
    """

    kernels: tuple[SortKernel, ...]


def sort_schedule(
    inputs: Sequence[Shape], dimension: int, *, shared_bytes: int = SHARED_BYTES
) -> SortSchedule:
    """Sorts along a dimension by comparing and exchanging elements, in place.

    Blocks bring tiles of the dimension into shared memory, 4 neighbours each thread, and make all
    comparisons there that stay within a tile. Comparisons of elements further apart have a kernel
    for each mask, in which a thread handles 4 pairs.

    Shapes:
        inputs: arrays of the same sizes; their order in memory is that of the first. The tile has
            the size of the dimension or, if that is less, as many elements as 1,024 threads move
            and as the shared memory holds of all inputs; a power of 2.
        launch: a block for each tile, in the order of memory, with the sorted dimension last.

    Source:
        XLA's sort emitter.

    Raises:
        ShapeError: there is no input, they have other sizes, there is no such dimension, or it has
            less than two elements, so that there is nothing to sort.

    >>> from indexing.layout import Shape
    >>> schedule = sort_schedule([Shape.parse("f32[6,5]")], 0)
    >>> print(schedule.reads[0])
    (th_x, bl_x)[unroll_id] -> (th_x * 4 + unroll_id, bl_x),
    domain: th_x in [0, 1], bl_x in [0, 4], unroll_id in [0, 3], th_x * 4 + unroll_id in [0, 5]
    >>> long = sort_schedule([Shape.parse("f32[20000]")], 0)
    >>> [len(kernel.masks) for kernel in long.kernels]
    [78, 1, 12, 1, 1, 12, 1, 1, 1, 12]
    """
    plan = _BitonicSort.of(inputs, dimension, shared_bytes)
    kernels = tuple(SortKernel(masks, plan.schedule(masks)) for masks in plan.kernels())
    first, last = kernels[0].schedule, kernels[-1].schedule
    return SortSchedule(last.launch, first.reads, last.writes, kernels)


@dataclass(frozen=True, slots=True)
class _BitonicSort:
    """The inputs, the dimension, and how many elements of it a block holds."""

    inputs: Sequence[Shape]
    dimension: int
    tile: int

    @classmethod
    def of(cls, inputs: Sequence[Shape], dimension: int, shared_bytes: int) -> _BitonicSort:
        if not inputs:
            raise ShapeError("sort: there is no input; expected one or more")
        first, *others = inputs
        (checked,) = checked_dimensions("sort", "dimensions", [dimension], first.rank)
        for other in others:
            if other.dimensions != first.dimensions:
                message = f"sort: the inputs are {first} and {other}"
                raise ShapeError(f"{message}; expected arrays of the same sizes")
        count = first.dimensions[checked]
        if count < 2:  # noqa: PLR2004 - a pair
            message = f"sort: {first} has {count} elements along dimension {checked}"
            raise ShapeError(f"{message}; expected two or more, to compare them")
        check_positive("sort", "shared_bytes", shared_bytes)
        held = shared_bytes // sum(shape.element_type.bytes for shape in inputs)
        most = max(2, min(MAX_THREADS * ELEMENTS_OF_THREAD, held))
        return cls(inputs, checked, min(_power_below(most), _power_above(count)))

    @property
    def count(self) -> int:
        """The elements that are sorted together."""
        return self.inputs[0].dimensions[self.dimension]

    def kernels(self) -> Iterator[tuple[int, ...]]:
        """The masks of each kernel: all of a row that stay within a tile, or one."""
        together: list[int] = []
        for mask in _masks(self.count):
            if mask < self.tile:
                together.append(mask)
                continue
            if together:
                yield tuple(together)
                together.clear()
            yield (mask,)
        if together:
            yield tuple(together)

    def schedule(self, masks: tuple[int, ...]) -> Schedule:
        """What the threads of one kernel read, and write back."""
        first, *others = masks
        return self._tiled() if others else self._exchanged(first)

    def _tiled(self) -> Schedule:
        threads = max(1, self.tile // ELEMENTS_OF_THREAD)
        steps = step_count(self.count, self.tile) * self.tile // ELEMENTS_OF_THREAD
        blocks = step_count(self._rows * steps, threads)
        element = self._step(threads, steps) * ELEMENTS_OF_THREAD + loop_id(0)
        loops = {"unroll_id": ELEMENTS_OF_THREAD}
        return self._moving(LaunchDimensions.of(blocks, threads), steps, loops, element, element)

    def _exchanged(self, mask: int) -> Schedule:
        steps = step_count(_power_above(self.count) // 2, ELEMENTS_OF_THREAD)
        launch = LaunchDimensions.for_elements(self._rows * steps)
        pair = self._step(launch.threads[0], steps) * ELEMENTS_OF_THREAD + loop_id(0)
        element, last = _element_of_pair(pair, mask)
        return self._moving(
            launch, steps, {"unroll_id": ELEMENTS_OF_THREAD, "side_id": 2}, element, last
        )

    def _step(self, threads: int, steps: int) -> Form:
        """The number of a thread among those that go through the same elements."""
        number = block_id() * threads + thread_id()
        return operations.mod(number, forms.constant(steps))

    def _moving(
        self,
        launch: LaunchDimensions,
        steps: int,
        loops: Mapping[str, int],
        element: Form,
        last: Form,
    ) -> Schedule:
        """Threads that read and write an element of the dimension, if the last of a pair is one."""
        threads = block_id() * launch.threads[0] + thread_id()
        sizes = (*(self.inputs[0].dimensions[axis] for axis in self._others), steps)
        places = dict(zip(self._others, unflattened(threads, sizes), strict=False))
        index = [places.get(axis, element) for axis in range(self.inputs[0].rank)]
        limits = [*within((prod(sizes), self.count), (threads, last))]
        moved = launch.map(index, loops, limits).simplify(preserve_ranges=True)
        accesses = tuple(Access(moved, shape) for shape in self.inputs)
        return Schedule(launch, accesses, accesses[:1])

    @property
    def _rows(self) -> int:
        """How often the dimension is there."""
        return prod(self.inputs[0].dimensions) // self.count

    @property
    def _others(self) -> tuple[int, ...]:
        """The dimensions that stay, in the order of the launch: minor ones first."""
        order = self.inputs[0].array_layout.minor_to_major
        return tuple(axis for axis in order if axis != self.dimension)


def _masks(count: int) -> Iterator[int]:
    """The masks of a bitonic sort: in each stage blocks of twice the size are turned, then merged.

    >>> list(_masks(8))
    [1, 3, 1, 7, 2, 1]
    """
    for stage in range((count - 1).bit_length()):
        yield (2 << stage) - 1
        yield from (1 << step for step in reversed(range(stage)))


def _element_of_pair(pair: Form, mask: int) -> tuple[Form, Form]:
    """Either element of a pair, by the side of the second loop, and the greater of both.

    A mask of ones turns a block around, so the sides meet in the middle; another mask is the
    distance of both.
    """
    turned = mask & (mask + 1) == 0
    half = forms.constant((mask + 1) // 2 if turned else mask)
    first = operations.floordiv(pair, half) * (2 * half.constant)
    own, side = operations.mod(pair, half), loop_id(1)
    if not turned or mask == 1:
        return first + own + side * mask, first + own + mask
    mirrored = side * mask - own
    return first + operations.maximum((mirrored, -mirrored)), first - own + mask


def _power_below(number: int) -> int:
    return 1 << (number.bit_length() - 1)


def _power_above(number: int) -> int:
    return 1 << (number - 1).bit_length()
