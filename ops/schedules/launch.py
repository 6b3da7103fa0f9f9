"""The launch of a GPU kernel: its threads and blocks, and maps from their coordinates."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Final, TypeAlias

from indexing import IndexingMap, Variable
from indexing.domain import Domain
from indexing.layout import ShapeError
from indexing.layout.maps import form_of
from indexing.layout.steps import Reshape, Transpose
from indexing.validation import read_grid
from ops.index_maps import dim, symbol
from simplifier import Interval
from simplifier.errors import INTEGER, check_type

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from indexing.domain import Constraint
    from indexing.layout import Shape
    from simplifier.expr.form import Form

Counts: TypeAlias = tuple[int, int, int]
"""How many threads or blocks there are in x, y and z."""

WARP_SIZE: Final = 32
"""Threads that run together."""

THREADS_OF_BLOCK: Final = 4 * WARP_SIZE
"""Threads of a block by default: a warp for each scheduler of a multiprocessor."""

_AXES: Final = 3


@dataclass(frozen=True, slots=True)
class LaunchDimensions:
    """The numbers of threads in a block and of blocks, in x, y and z.

    Raises:
        ShapeError: a number is not positive, or there are not three of each.

    >>> launch = LaunchDimensions.of(8, threads=128)
    >>> launch
    LaunchDimensions(threads=(128, 1, 1), blocks=(8, 1, 1))
    >>> launch.grid, launch.thread_count
    ((128, 1, 1, 8, 1, 1), 1024)
    """

    threads: Counts
    blocks: Counts

    def __post_init__(self) -> None:
        for role, counts in (("threads", self.threads), ("blocks", self.blocks)):
            if len(counts) != _AXES or any(count < 1 for count in counts):
                message = f"launch: there are {counts} {role}; expected three positive numbers"
                raise ShapeError(message)

    def __str__(self) -> str:
        """The launch in words.

        >>> print(LaunchDimensions((32, 4, 1), (8, 1, 1)))
        8 blocks of 32 x 4 threads
        """
        blocks, threads = (
            " x ".join(str(count) for count in counts if count != 1) or "1"
            for counts in (self.blocks, self.threads)
        )
        return f"{blocks} blocks of {threads} threads"

    @classmethod
    def of(
        cls, blocks: int, threads: int, *, groups: int = 1, most_blocks: int | None = None
    ) -> LaunchDimensions:
        """A launch in x, and in z a group of blocks for each of several jobs.

        More than ``most_blocks`` are laid out in x and y. Then some blocks may have nothing to do.

        >>> LaunchDimensions.of(10, 32, groups=2, most_blocks=4).blocks
        (4, 3, 2)
        """
        if most_blocks is None:
            return cls((threads, 1, 1), (blocks, 1, groups))
        check_positive("launch", "most_blocks", most_blocks)
        rows = step_count(blocks, most_blocks)
        return cls((threads, 1, 1), (-(-blocks // rows), rows, groups))

    @classmethod
    def for_elements(
        cls, count: int, *, unroll: int = 1, most_blocks: int | None = None
    ) -> LaunchDimensions:
        """A launch with a thread for every ``unroll`` elements, which is XLA's default.

        With at most ``most_blocks`` blocks, as many as the device runs at a time, threads go on to
        further elements.

        >>> LaunchDimensions.for_elements(20).grid
        (20, 1, 1, 1, 1, 1)
        >>> LaunchDimensions.for_elements(6_000_000, unroll=4, most_blocks=1008).grid
        (128, 1, 1, 1008, 1, 1)
        """
        check_positive("launch", "unroll", unroll)
        wanted = step_count(count, unroll)
        threads = min(wanted, THREADS_OF_BLOCK)
        blocks = step_count(wanted, threads)
        return cls.of(blocks if most_blocks is None else min(blocks, most_blocks), threads)

    @property
    def grid(self) -> tuple[int, ...]:
        """The sizes of the coordinates of a launch: ``th_x th_y th_z bl_x bl_y bl_z``."""
        return (*self.threads, *self.blocks)

    @property
    def thread_count(self) -> int:
        """The number of threads of all blocks."""
        return prod(self.grid)

    def map(
        self,
        results: Iterable[Form],
        ranges: Mapping[str, int],
        constraints: Iterable[Constraint] = (),
        runtime: Iterable[Variable] = (),
        parameters: Iterable[Variable] = (),
    ) -> IndexingMap:
        """The map from the coordinates of a thread and the loops that it runs, by name."""
        loops = (Variable.of_size(size, name) for name, size in ranges.items())
        domain = Domain.of(read_grid(self.grid), loops, runtime, constraints, parameters)
        return IndexingMap.from_forms(results, domain)


def step_count(size: int, step: int) -> int:
    """How many steps cover a size; one for size 0, so that there is a launch.

    >>> step_count(10, 4), step_count(0, 4)
    (3, 1)
    """
    return max(1, -(-size // step))


def check_positive(op: str, role: str, number: int) -> None:
    """Raise an error unless a number of a schedule is a positive integer.

    Raises:
        ShapeError: it is less than 1.
        ArgumentError: it is no integer.
    """
    check_type(number, INTEGER, f"{op}: {role}", "a positive integer")
    if number < 1:
        raise ShapeError(f"{op}: {role} is {number}; expected 1 or more")


def thread_id(axis: int = 0) -> Form:
    """The number of a thread in its block, along x, y or z."""
    return dim(axis)


def block_id(axis: int = 0) -> Form:
    """The number of a block, along x, y or z."""
    return dim(_AXES + axis)


def loop_id(number: int) -> Form:
    """The iteration of one of the loops that a thread runs."""
    return symbol(number)


def block_number(launch: LaunchDimensions) -> Form:
    """The number of a block, which :meth:`LaunchDimensions.of` may have laid out in x and y."""
    return block_id(0) + block_id(1) * launch.blocks[0]


# Indices of elements: from a number, and from an index in memory.


def unflattened(number: Form, sizes: Sequence[int]) -> tuple[Form, ...]:
    """The row-major index of a number in a tensor of these sizes.

    >>> from ops.index_maps import dim
    >>> for digit in unflattened(dim(0), (4, 8)):
    ...     print(digit)
    d0 floordiv 8
    d0 mod 8
    """
    return tuple(map(form_of, Reshape.of([((prod(sizes),), tuple(sizes))]).forward((number,))))


def in_array(shape: Shape, sizes: Sequence[int], index: Sequence[Form]) -> tuple[Form, ...]:
    """The index of an element of an array, from its index in dimensions of other sizes.

    These are the dimensions of the array in memory, major first, merged or split. Tiles do not
    matter.

    >>> from indexing.layout import Shape
    >>> from ops.index_maps import dim
    >>> for part in in_array(Shape.parse("f32[8,4,2]{0,2,1}"), (8, 8), (dim(0), dim(1))):
    ...     print(part)
    d1
    d0 floordiv 2
    d0 mod 2
    """
    order = Transpose.of(shape.dimensions, shape.array_layout.major_to_minor)
    there = Reshape.between(tuple(sizes), order.sizes).forward(tuple(index))
    return tuple(map(form_of, order.backward(there)))


def within(sizes: Sequence[int], index: Sequence[Form]) -> list[Constraint]:
    """The constraints that an index lies in a tensor of these sizes."""
    return [(part, Interval(0, size - 1)) for part, size in zip(index, sizes, strict=True)]
