"""Choice among XLA's GPU emitters for the kernel of a fusion, and its heroes.

An emitter is made for one operation, the hero. The hero is found behind what computes element by
element or is the same memory; and it takes the emitter only if that is faster than a plain loop.
:data:`KERNELS` has all that is known of each.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import gcd, prod
from typing import Final, NamedTuple, TypeAlias

from indexing.layout import Kind, Shape, ShapeError, deduce_transpose, reshape_is_bitcast
from ops.fusion.fusion import FusionError
from ops.hlo import Computation, Instruction
from ops.limits import Device
from ops.rules.elementwise import ELEMENTWISE
from ops.xla_gpu import loops, shared_memory
from ops.xla_gpu.loops import WARPS_OF_BLOCK
from ops.xla_gpu.schedule import WARP_SIZE, BlockLevel, LaunchDimensions, Schedule, block_level
from ops.xla_gpu.shared_memory import ReductionDimensions
from simplifier.errors import naming_wrong_arguments
from simplifier.tools.graphs import connected_components, postorder

# Purposes of XLA's GPU emitters: the heroes, and the instructions that fit into one kernel.


def leading_to(result: Instruction, through: frozenset[str] | None = None) -> list[Instruction]:
    """The instructions that a result is made of through some opcodes or all, and itself."""

    def behind(each: Instruction) -> Sequence[Instruction]:
        return each.operands if through is None or each.opcode in through else ()

    return postorder([result], behind)


def each_hero(heroes: Iterable[Instruction | None]) -> list[Instruction]:
    """Each hero once."""
    return list(dict.fromkeys(hero for hero in heroes if hero))


# The purpose of each emitter.

_SHORTEST_SIDE: Final = 16
"""Both sides of a matrix that the transpose emitter turns have so many elements at least."""

_SHORTEST_SIDE_OF_LARGE: Final = 8
_LARGE: Final = 64 * 128
"""A matrix of so many elements may have shorter sides."""

_MAX_VECTOR_BITS: Final = 64
"""A last dimension of so many bits may stay the last."""

_FEWEST_BITS: Final = 128
"""With it, either dimension that changes places has so many bits at least."""

_FEWEST_ROWS: Final = ((4 * WARP_SIZE, 8), (8 * WARP_SIZE, 3))
"""A loop folds columns of fewer elements than the first if there are fewer than the second."""

SAME_MEMORY: Final = frozenset({"bitcast", "get-tuple-element", "reshape"})
LOOKED_THROUGH: Final = ELEMENTWISE | SAME_MEMORY


def is_fast_reduction(instruction: Instruction) -> bool:
    """Whether rows or columns are long enough for threads to share them."""
    try:
        found = reduction_in_memory(instruction)
    except ShapeError:
        return False
    _, folded, columns = found.sizes
    if found.of_rows:
        return columns >= WARP_SIZE or (columns > 0 and WARP_SIZE % columns == 0)
    few = ((WARP_SIZE, columns + 1), (2 * WARP_SIZE, WARP_SIZE), *_FEWEST_ROWS)
    return not any(folded < rows and columns < most for rows, most in few)


def is_tiled_transpose(instruction: Instruction) -> bool:
    """Whether the last dimension in memory changes places with one that is long enough.

    A last one of a few bits may stay, if both neighbours make up 16 bytes with it.
    """
    array = shared_memory.transpose_in_memory(instruction)
    if array.changes_nothing:
        return False
    bits = max(1, instruction.shape.element_type.bytes) * 8
    if shared_memory.keeps_last(array):
        vector = array.sizes[-1] * bits
        sides = array.sizes_before[-2], array.sizes[-2]
        return vector <= _MAX_VECTOR_BITS and vector * min(sides) >= _FEWEST_BITS
    if is_packed_transpose(instruction):
        return True
    sides = array.sizes_before[-1], array.sizes[-1]
    is_large = sides[0] * sides[1] >= _LARGE and min(sides) >= _SHORTEST_SIDE_OF_LARGE
    return min(sides) >= _SHORTEST_SIDE or is_large


def is_packed_transpose(instruction: Instruction) -> bool:
    """Whether the elements are narrow, and words of shared memory hold several of them."""
    array = shared_memory.transpose_in_memory(instruction)
    return shared_memory.is_packable(array, instruction.shape.element_size_in_bits)


def updates_memory(instruction: Instruction, inputs: int = 1) -> bool:
    """Whether the updated arrays are in memory: operands of the fusion, maybe in another shape."""
    return all(
        any(each.parameter_number is not None for each in leading_to(updated, SAME_MEMORY))
        for updated in instruction.operands[:inputs]
    )


# Results that fit together.

Heroes: TypeAlias = "Sequence[Instruction | None]"
"""The hero of each array of a result, if it has one."""

MAX_CONCATENATED: Final = 4
"""XLA takes a loop for more operands: code for each of them would crowd a thread's registers."""


def _has_as_many(shape: Shape, other: Shape) -> bool:
    return shape.element_count == other.element_count


def reduction_in_memory(hero: Instruction) -> ReductionDimensions:
    """The dimensions of a reduction in memory."""
    return ReductionDimensions.of(hero.operands[0].shape, hero.attributes["dimensions"])


def _is_same_memory(shape: Shape, other: Shape) -> bool:
    """Whether a reshape or a transpose would move nothing, whatever the elements are."""
    if not _has_as_many(shape, other):
        return False
    alike = shape.with_element_type(other.element_type)
    return reshape_is_bitcast(alike, other) or deduce_transpose(alike, other) is not None


def _fit_together(
    in_memory: Callable[[Instruction], object],
    fits_beside: Callable[[Shape, Shape], bool],
    results: Sequence[Instruction],
    heroes: Heroes,
) -> bool:
    """Whether all heroes are the same in memory, and other results fit their operands."""
    several = each_hero(heroes)
    first, *others = map(in_memory, several)
    read = several[0].operands[0].shape
    beside = (result for result, hero in zip(results, heroes, strict=True) if not hero)
    return all(other == first for other in others) and all(
        fits_beside(array, read) for result in beside for array in result.shape.arrays
    )


def fits_concatenate(results: Sequence[Instruction], heroes: Heroes) -> bool:
    """Whether there is one result, of few operands."""
    counts = [len(hero.operands) for hero in each_hero(heroes)]
    return len(results) == 1 and max(counts) <= MAX_CONCATENATED


def fit_updates(_: Sequence[Instruction], heroes: Heroes) -> bool:
    """Whether every result is an update, all of one shape."""
    updates = {tuple(operand.shape for operand in hero.operands[:2]) for hero in each_hero(heroes)}
    return all(heroes) and len(updates) == 1


def is_only_root(results: Sequence[Instruction], _: Heroes) -> bool:
    """Whether all results are those of one instruction."""
    return len({*results}) == 1


def always(*_: object) -> bool:
    """Whatever they are."""
    return True


# Choice of XLA's GPU emitter for the kernel of a fusion, and its heroes.


class Emitter(enum.Enum):
    """Maker of a kernel; each has a schedule in :mod:`ops.xla_gpu`.

    Triton is not found by heroes: the ``backend_config`` of a fusion says so.
    """

    LOOP = "loop"
    TRANSPOSE = "transpose"
    REDUCTION = "reduction"
    CONCATENATE = "concatenate"
    IN_PLACE_UPDATE = "in-place update"
    SCATTER = "scatter"
    SORT = "sort"
    TRITON = "triton"


@naming_wrong_arguments
def results_of(root: Instruction) -> list[Instruction]:
    """The instruction of each array of a root, where that is a tuple of instructions."""
    if root.opcode != "tuple":
        return [root] * len(root.shape.arrays)
    return [each for operand in root.operands for each in results_of(operand)]


@naming_wrong_arguments
def emitter_and_heroes(root: Instruction) -> tuple[Emitter, tuple[Instruction | None, ...]]:
    """The emitter of a fusion with this root, and the hero of each array of its result, if any.

    If the results do not fit together, the next emitter is tried, and the loop takes all.

    Source:
        XLA's ``HloFusionAnalysis``: reductions before transposes, before what has one result only.
    """
    results = results_of(root)
    for emitter, kernel in KERNELS.items():
        heroes = tuple(_hero(result, kernel) for result in results)
        if any(heroes) and kernel.fits(results, heroes):
            return emitter, heroes
    return Emitter.LOOP, (None,) * len(results)


def _hero(result: Instruction, kernel: Kernel) -> Instruction | None:
    """The only hero of a kernel that a result is made of."""
    found = [each for each in leading_to(result, kernel.through) if kernel.is_hero(each)]
    return found[0] if len(found) == 1 else None


# Schedules of heroes.


class KernelPlan(NamedTuple):
    """Parameters of the schedule of a hero.

    Attributes:
        unrolling: how many neighbours a thread handles.
        launch: what the caller says, for schedules that go through elements one after the other.
        first: the first hero of the kernel, which decides for all.
        group: the number of the hero's group of reductions.
        groups: how many there are, each on blocks of its own.
    """

    unrolling: Unrolling
    launch: LaunchDimensions | None
    first: Instruction
    group: int = 0
    groups: int = 1

    def launched(self, array: Shape, unroll: int) -> LaunchDimensions:
        """The launch for the elements of an array."""
        return self.launch or LaunchDimensions.for_elements(array.element_count, unroll=unroll)


def _loop(result: Instruction, plan: KernelPlan) -> Schedule:
    (shape, *_) = result.shape.arrays
    unroll = plan.unrolling.of_loop(shape)
    return loops.loop_schedule(shape, plan.launched(shape, unroll), unroll)


def _transpose(hero: Instruction, plan: KernelPlan) -> Schedule:
    (operand,) = hero.operands
    shapes = operand.shape, hero.shape, shared_memory.permutation_of(hero)
    if is_packed_transpose(plan.first):
        return shared_memory.packed_transpose_schedule(*shapes)
    vector_size = plan.unrolling.of_transpose(plan.first)
    return shared_memory.transpose_schedule(*shapes, vector_size=vector_size)


def _reduction(hero: Instruction, plan: KernelPlan) -> Schedule:
    operand, (result, *others) = hero.operands[0].shape, hero.shape.arrays
    kind, vector_size = plan.unrolling.of_reduction(plan.first)
    return shared_memory.reduce_schedule(
        operand,
        result,
        hero.attributes["dimensions"],
        kind=kind,
        vector_size=vector_size,
        inputs=1 + len(others),
        group=plan.group,
        groups=plan.groups,
    )


def _concatenate(hero: Instruction, plan: KernelPlan) -> Schedule:
    operands = [operand.shape for operand in hero.operands]
    (dimension,) = hero.attributes["dimensions"]
    largest = max(operands, key=lambda operand: operand.element_count)
    unroll = plan.unrolling.of_concatenate(operands, dimension)
    launch = plan.launched(largest, unroll)
    return loops.concatenate_schedule(operands, hero.shape, dimension, launch, unroll)


def _in_place_update(hero: Instruction, plan: KernelPlan) -> Schedule:
    operand, update, *_ = (each.shape for each in hero.operands)
    unroll = plan.unrolling.of_loop(update)
    return loops.in_place_update_schedule(operand, update, plan.launched(update, unroll), unroll)


def _scatter(hero: Instruction, plan: KernelPlan) -> Schedule:
    inputs = len(hero.operands) // 2
    operand, indices, updates = (hero.operands[n].shape for n in (0, inputs, inputs + 1))
    named = hero.attributes
    windows = tuple(range(1, updates.rank))
    is_plain = indices.rank == 2 and named["index_vector_dim"] == 1  # noqa: PLR2004 - rows
    if not is_plain or named["update_window_dims"] != windows or named["inserted_window_dims"]:
        expected = "expected windows of the operand's rank, one for each row of the indices"
        raise FusionError(f"fusion: no schedule of the scatter %{hero.name}; {expected}")
    if not updates_memory(hero, inputs):
        message = f"fusion: no schedule of the scatter %{hero.name}, whose operand is computed"
        raise FusionError(f"{message}; expected one that is in memory already")
    shapes = operand, indices, updates, named["scatter_dims_to_operand_dims"]
    windows_of_warp, vector_size = plan.unrolling.of_scatter(hero)
    if windows_of_warp and not plan.launch:
        return loops.sorted_scatter_schedule(
            *shapes, windows_of_warp=windows_of_warp, vector_size=vector_size, inputs=inputs
        )
    launch = plan.launched(updates, vector_size)
    return loops.scatter_schedule(*shapes, launch, vector_size, inputs=inputs)


def _sort(hero: Instruction, _: KernelPlan) -> Schedule:
    (dimension,) = hero.attributes["dimensions"]
    return loops.sort_schedule([operand.shape for operand in hero.operands], dimension)


class Kernel(NamedTuple):
    """The kernels of an emitter.

    Attributes:
        schedule: the schedule for a hero, or for the first result of a fusion without one.
        opcodes: those of the heroes.
        is_faster: whether it is faster than a loop for an instruction with one of them.
        fits: whether one schedule serves the results of a fusion with these heroes.
        through: the opcodes behind which a hero may be.
    """

    schedule: Callable[[Instruction, KernelPlan], Schedule]
    opcodes: Collection[str] = ()
    is_faster: Callable[[Instruction], bool] = always
    fits: Callable[[Sequence[Instruction], Heroes], bool] = always
    through: frozenset[str] = LOOKED_THROUGH

    def is_hero(self, instruction: Instruction) -> bool:
        """Whether the kernel is made for an instruction."""
        return instruction.opcode in self.opcodes and self.is_faster(instruction)


_ROOTS: Final = frozenset[str]()
"""Opcodes to look through for a hero that only a root may be."""

_TURNS: Final = ("copy", "transpose")

_FIT_REDUCTIONS: Final = partial(_fit_together, reduction_in_memory, _has_as_many)
"""Whether one walk through memory serves all reductions, and the results written with them."""

_FIT_TRANSPOSES: Final = partial(_fit_together, shared_memory.transpose_in_memory, _is_same_memory)
"""Whether all transposes turn memory in one way, and other results lie as they read."""

KERNELS: Final[Mapping[Emitter, Kernel]] = {
    Emitter.REDUCTION: Kernel(_reduction, ("reduce",), is_fast_reduction, _FIT_REDUCTIONS),
    Emitter.TRANSPOSE: Kernel(_transpose, _TURNS, is_tiled_transpose, _FIT_TRANSPOSES),
    Emitter.SCATTER: Kernel(_scatter, ("scatter",), always, is_only_root, _ROOTS),
    Emitter.SORT: Kernel(_sort, ("sort",), always, is_only_root, _ROOTS),
    Emitter.CONCATENATE: Kernel(_concatenate, ("concatenate",), fits=fits_concatenate),
    Emitter.IN_PLACE_UPDATE: Kernel(
        _in_place_update, ("dynamic-update-slice",), updates_memory, fit_updates, SAME_MEMORY
    ),
    Emitter.LOOP: Kernel(_loop),
}
"""The emitters, in the order in which they are tried; a loop is for all that none is for."""


# How many neighbours a thread handles: as the caller says, or by XLA's rules for a device.

MAX_UNROLL: Final = 4
"""Vectors of more elements take too many registers."""

MAX_UNROLLED_OPERANDS: Final = 10
"""Unrolled code for more operands spills registers."""

_TILE: Final = 32

_WORD: Final = 32
"""Bits of a word: of wider elements a vector is no faster."""


@dataclass(frozen=True, slots=True)
class Unrolling:
    """Number of neighbours that the threads of a kernel handle.

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
        """Neighbours in a loop over an array: 4, 2 or 1 as it divides, if all threads have work.

        A thread writes whole bytes, so it has several elements of less than one.
        """
        if self.given or not self.device:
            return self.given or 1
        widest = 1
        is_large = array.element_count >= _resident_threads(self.device)
        if is_large and not any(map(_is_long, self.computation.instructions)):
            widest = gcd(array.element_count, MAX_UNROLL)
        return max(widest, 8 // min(_bits(shape) for shape in self._results))

    def of_concatenate(self, operands: Sequence[Shape], dimension: int) -> int:
        """Common divisor for the largest operand of a concatenation."""
        largest = max(operands, key=lambda operand: operand.dimensions[dimension])
        sizes = (operand.dimensions[dimension] for operand in operands)
        return self.given or gcd(self.of_loop(largest), *sizes)

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
            return "row", self._vector(minor, shared_memory.threads_of_row(minor), hero)
        _, folded, minor = found.sizes
        columns = minor * folded if found.kind == "small_column" else minor
        return found.kind, self._vector(columns, _TILE, hero)

    def of_transpose(self, hero: Instruction) -> int:
        """Neighbours along sides of tiles, if there are enough tiles and shared memory for more."""
        if self.given or not self.device:
            return self.given or 1
        array, bytes_moved = shared_memory.transpose_in_memory(hero), hero.shape.element_type.bytes
        if shared_memory.keeps_last(array):
            return 1
        sides = array.sizes_before[-1], array.sizes[-1]
        tiles = prod(array.sizes) // prod(sides) * prod(-(-side // _TILE) for side in sides)
        shared = self.device.figure("shared_memory_bytes", "schedule_of")
        vector = MAX_UNROLL // bytes_moved
        while vector > 1:
            factor = vector * vector
            fits = bytes_moved * _TILE * (_TILE + 1) * factor <= shared
            has_work = tiles * 8 * _TILE >= factor * _resident_threads(self.device)
            if fits and has_work and not any(side % vector for side in sides):
                return vector
            vector //= 2
        return 1

    def of_scatter(self, scatter: Instruction) -> tuple[int | None, int]:
        """Number of windows that a warp adds up, ``None`` if it does not, and the vectors.

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

    # Questions about the computation.

    @property
    def _results(self) -> tuple[Shape, ...]:
        """The arrays that are written: a token has no bits."""
        return tuple(shape for shape in self.computation.root.shape.arrays if _bits(shape))

    @property
    def _smallest_input(self) -> int | None:
        """The bits of the narrowest parameter."""
        shapes = [shape for each in self.computation.parameters for shape in each.shape.arrays]
        return min(map(_bits, shapes), default=None)

    def _vector(self, count: int, threads: int, hero: Instruction) -> int:
        """Size of a vector for ``count`` neighbours, so that so many threads all have work."""
        kinds = {operand.shape.element_type.kind for operand in hero.operands}
        if count % 2 or threads * 2 > count or Kind.COMPLEX in kinds:
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
            if vector <= 1 or shared_memory.block_count(found, "multi_row", vector) >= cores:
                return vector
            vector //= 2
        return None


def _is_long(instruction: Instruction) -> bool:
    """Whether a vector would make too much code of an instruction."""
    if instruction.opcode == "concatenate":
        return len(instruction.operands) > MAX_UNROLLED_OPERANDS
    if instruction.opcode == "reduce":
        return len(instruction.shape.arrays) > 1
    return instruction.opcode in {"dot", "sort"}


def _resident_threads(device: Device) -> int:
    """Number of threads that the device holds at a time."""
    figures = (device.figure(name, "schedule_of") for name in ("core_count", "threads_per_core"))
    return prod(figures)


def _bits(array: Shape) -> int:
    """The bits of an element; a truth value fills a byte."""
    return 8 if array.element_type.kind is Kind.BOOLEAN else array.element_type.bits


# Groups of reductions in one kernel: those that share no input run in blocks of their own.


def groups_of(results: Sequence[Instruction], heroes: Heroes) -> list[int]:
    """The number of the group of each result, in the order in which groups first appear.

    Results that are not reduced are one group, with what shares an input with any of them.

    Source:
        XLA's ``GroupDisjointReductions``.
    """
    reduced = dict(zip(results, heroes, strict=True))
    of_scalars: dict[Instruction, Instruction] = {}

    def shared(result: Instruction) -> Iterator[Hashable]:
        """Keys that put a result into one group with others that share one."""
        yield result
        if not reduced[result]:
            yield "not reduced"
        for each in leading_to(result):
            # Of the reductions, only the first that reads a scalar is grouped by it.
            first = of_scalars.setdefault(each, result) if reduced[result] else result
            if first is result or not _is_scalar(each):
                yield each

    groups = connected_components(reduced, shared)
    numbers = {each: number for number, group in enumerate(groups) for each in group}
    return [numbers[result] for result in results]


def _is_scalar(instruction: Instruction) -> bool:
    """Whether it is a scalar, a constant, or one of these broadcast."""
    if instruction.opcode == "broadcast":
        return _is_scalar(instruction.operands[0])
    is_single = not instruction.shape.is_tuple and not instruction.shape.rank
    return is_single or instruction.opcode == "constant"


# Fusions that XLA's own emitters make a kernel for, and those that it gives away.

_OWN_KINDS: Final = frozenset({"kLoop", "kInput"})


def fused_computation(fusion: Instruction) -> tuple[Computation, BlockLevel | None]:
    """The computation of a fusion, with its tiles if it is for Triton.

    Raises:
        FusionError: XLA takes a library that names no tiles, or no kernel at all.
    """
    blocks = block_level(fusion) if fusion.opcode == "fusion" else None
    if blocks and not blocks.output_tiles:
        raise _for_library(fusion, blocks.kind)
    kind = fusion.attributes.get("kind")
    called: Computation | None = fusion.attributes.get("calls")
    if called is None or not (blocks or kind in _OWN_KINDS or called.root.opcode == "sort"):
        given = f"{fusion.opcode} of kind {kind}" if kind else fusion.opcode
        message = f"fusion: no schedule of %{fusion.name}, a {given}"
        raise FusionError(f"{message}; expected a fusion of kind kLoop or kInput")
    _check_computes(fusion, called.root)
    return called, blocks


def check_has_kernel(instruction: Instruction) -> None:
    """Refuse an instruction that XLA makes no kernel for."""
    if instruction.opcode in _NO_KERNELS:
        message = f"fusion: no schedule of %{instruction.name}, a {instruction.opcode}"
        raise FusionError(f"{message}; expected an instruction that a kernel runs for")
    _check_computes(instruction, instruction)


_NO_KERNELS: Final = {
    *("bitcast", "call", "conditional", "constant", "get-tuple-element", "parameter"),
    *("tuple", "while"),
}
"""Opcodes that run others, or that nothing runs for."""


def _check_computes(fusion: Instruction, root: Instruction) -> None:
    if all(map(_is_plain_copy, results_of(root))):
        raise FusionError(f"fusion: no schedule of %{fusion.name}, which only copies memory")


def check_no_library(instruction: Instruction) -> None:
    """Refuse a fusion that XLA gives to a library, which it does not join with others."""
    if instruction.opcode == "fusion":
        _, blocks = fused_computation(instruction)
        if blocks:
            raise _for_library(instruction, blocks.kind)


def _for_library(fusion: Instruction, kind: str) -> FusionError:
    message = f"fusion: no schedule of %{fusion.name}, which its backend_config gives to {kind}"
    return FusionError(f"{message}; expected a fusion for XLA's own emitters")


def _is_plain_copy(result: Instruction) -> bool:
    """Whether XLA calls a function that copies bytes, and makes no kernel."""
    if result.opcode != "copy":
        return False
    (operand,) = result.operands
    return operand.parameter_number is not None and operand.shape.layout == result.shape.layout
