"""How many neighbours a thread handles: as the caller says, or by XLA's rules for a device."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd, prod
from typing import TYPE_CHECKING, Final

from indexing.layout.element_type import Kind
from ops.fusion.heroes import reduction_in_memory, transpose_in_memory
from ops.schedules.launch import WARP_SIZE
from ops.schedules.reduce_schedule import block_count, threads_of_row
from ops.schedules.scatter_schedule import WARPS_OF_BLOCK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indexing.layout import Shape
    from ops.accelerators import Device
    from ops.hlo import Computation, Instruction
    from ops.schedules import ReductionDimensions

MAX_UNROLL: Final = 4
"""Vectors of more elements take too many registers."""

MAX_CONCATENATED: Final = 10
"""Unrolled code for more operands spills registers."""

_TILE: Final = 32

_WORD: Final = 32
"""Bits of a word: of wider elements a vector is no faster."""


@dataclass(frozen=True, slots=True)
class Unrolling:
    """How many neighbours the threads of a kernel handle.

    Attributes:
        computation: what the kernel computes.
        given: the number, if the caller says it.
        device: for which XLA's rules tell it. Without either it is 1.

    Source:
        XLA's ``ComputeLoopFusionConfig``, ``GetVectorSizeForMlir``, and the constructors of its
        emitters.
    """

    computation: Computation
    given: int | None = None
    device: Device | None = None

    def of_loop(self, array: Shape) -> int:
        """For a loop over an array: 4, 2 or 1 as it divides, if every thread has something to do.

        A thread writes whole bytes, so it has several elements of less than one.
        """
        if self.given or not self.device:
            return self.given or 1
        widest = 1
        if array.element_count >= _resident_threads(self.device) and not self._has_long_code():
            widest = gcd(array.element_count, MAX_UNROLL)
        return max(widest, 8 // min(_bits(shape) for shape in self._results))

    def of_concatenate(self, operands: Sequence[Shape], dimension: int) -> int:
        """For the largest operand of a concatenation: what divides all of them."""
        largest = max(operands, key=lambda operand: operand.dimensions[dimension])
        unroll = self.of_loop(largest)
        if self.given:
            return unroll
        return gcd(unroll, *(operand.dimensions[dimension] for operand in operands))

    def of_reduction(self, hero: Instruction) -> tuple[str, int]:
        """The kind of schedule of a reduction, and its vectors."""
        found = reduction_in_memory(hero)
        if self.given or not self.device:
            return found.kind, self.given or 1
        if found.of_rows:
            several = self._of_several_rows(found, self.device)
            if several:
                return "multi_row", several
            minor = found.sizes[2]
            return "row", self._vector(minor, threads_of_row(minor), hero)
        _, folded, minor = found.sizes
        columns = minor * folded if found.kind == "small_column" else minor
        return found.kind, self._vector(columns, _TILE, hero)

    def of_transpose(self, heroes: Sequence[Instruction]) -> int:
        """For the sides of tiles, if there are enough tiles and enough shared memory for larger."""
        if self.given or not self.device:
            return self.given or 1
        sizes, order = transpose_in_memory(heroes[0])
        if order[-1] == len(order) - 1:
            return 1
        sides = sizes[-1], sizes[order[-1]]
        bytes_of = [hero.shape.element_type.bytes for hero in heroes]
        tiles = prod(sizes) // prod(sides) * prod(-(-side // _TILE) for side in sides)
        shared = self.device.figure("shared_memory_bytes", "schedule_of")
        vector = MAX_UNROLL // max(bytes_of)
        while vector > 1:
            factor = vector * vector
            fits = sum(bytes_of) * _TILE * (_TILE + 1) * factor <= shared
            has_work = tiles * 8 * _TILE >= factor * _resident_threads(self.device)
            if fits and has_work and not any(side % vector for side in sides):
                return vector
            vector //= 2
        return 1

    def of_scatter(self, scatter: Instruction) -> tuple[int | None, int]:
        """How many windows a warp adds up, ``None`` if it does not, and the vectors.

        Only sorted indices that are often equal are added up before they are written.
        """
        count = len(scatter.operands) // 2
        operand, indices, updates = (scatter.operands[n].shape for n in (0, count, count + 1))
        windows, *window = updates.dimensions
        if self.given or not self.device:
            return None, self.given or 1
        warps = WARPS_OF_BLOCK * self.device.figure("core_count", "schedule_of")
        is_sorted = scatter.attributes.get("indices_are_sorted", False)
        is_unique = scatter.attributes.get("unique_indices", False)
        if not is_sorted or is_unique or windows <= warps:
            return None, gcd(prod(window), self.of_loop(updates))
        length = indices.dimensions[1]
        pairs = zip(operand.dimensions[:length], window, strict=False)
        places = prod(size - part + 1 for size, part in pairs)
        together = -(-windows // max(warps, places))
        at_a_time = 128 // _bits(indices)
        if length == 1 and together > at_a_time:
            together = -(-together // at_a_time) * at_a_time
        vector = gcd(prod(window), 128 // _bits(operand))
        while vector > 1 and WARP_SIZE * vector > prod(window):
            vector //= 2
        return together, vector

    # What is asked of the computation.

    @property
    def _results(self) -> tuple[Shape, ...]:
        return self.computation.root.shape.arrays

    @property
    def _smallest_input(self) -> int | None:
        """The bits of the narrowest parameter."""
        shapes = [shape for each in self.computation.parameters for shape in each.shape.arrays]
        return min(map(_bits, shapes), default=None)

    def _has_long_code(self) -> bool:
        """Whether it has instructions that a vector would make too much code of."""
        return any(map(_is_long, self.computation.instructions))

    def _vector(self, count: int, threads: int, hero: Instruction) -> int:
        """For ``count`` neighbours and so many threads, that all have something to do."""
        is_complex = any(
            operand.shape.element_type.kind is Kind.COMPLEX for operand in hero.operands
        )
        if count % 2 or threads * 2 > count or is_complex:
            return 1
        narrow = self._smallest_input or _WORD
        if narrow >= 2 * _WORD:
            return 1
        return 2 if narrow >= _WORD or threads * 4 > count or count % 4 else 4

    def _of_several_rows(self, found: ReductionDimensions, device: Device) -> int | None:
        """The vectors of a warp that folds several rows; ``None`` if rows are too long for that."""
        minor = found.sizes[2]
        if minor < 1 or minor.bit_count() != 1:
            return None
        outputs = min(map(_bits, self._results))
        narrow = self._smallest_input or outputs
        vector = min(minor, 64 // min(narrow, outputs))
        if max(narrow, outputs) >= _WORD:
            vector = min(128 // max(narrow, outputs), vector)
        cores = device.figure("core_count", "schedule_of")
        while WARP_SIZE * vector >= minor:
            if vector <= 1 or block_count(found, "multi_row", vector) >= cores:
                return vector
            vector //= 2
        return None


def _is_long(instruction: Instruction) -> bool:
    if instruction.opcode == "concatenate":
        return len(instruction.operands) > MAX_CONCATENATED
    if instruction.opcode == "reduce":
        return len(instruction.shape.arrays) > 1
    return instruction.opcode in {"dot", "sort"}


def _resident_threads(device: Device) -> int:
    """How many threads the device holds at a time."""
    figures = (device.figure(name, "schedule_of") for name in ("core_count", "threads_per_core"))
    return prod(figures)


def _bits(array: Shape) -> int:
    """The bits of an element; a truth value fills a byte."""
    return 8 if array.element_type.kind is Kind.BOOLEAN else array.element_type.bits
