"""What each thread of a GPU reads and writes for a fusion: an emitter, its schedule, its kernel.

One of XLA's GPU emitters makes the kernel of a fusion. An emitter is made for one operation, the
hero. The hero is found behind what computes element by element or is the same memory; and it takes
the emitter only if that is faster than a plain loop. :data:`KERNELS` has all that is known of each.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from indexing.layout import ShapeError, bitcast_map
from ops.dependence.dependence import NOTHING, Unknown
from ops.fusion.fusion import Fusion, FusionError
from ops.index_maps import no_dimensions
from ops.rules.elementwise import ELEMENTWISE
from ops.schedules import (
    Access,
    LaunchDimensions,
    ReductionDimensions,
    Schedule,
    concatenate_schedule,
    in_place_update_schedule,
    loop_schedule,
    reduce_schedule,
    transpose_schedule,
)
from ops.schedules.launch import WARP_SIZE
from ops.schedules.transpose_schedule import merged_in_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from indexing import IndexingMap
    from indexing.layout import Shape
    from ops.dependence.dependence import AnyDependence
    from ops.dependence.operand_indexing import OperandIndexing
    from ops.hlo import Computation, Instruction

SHORTEST_SIDE: Final = 16
"""Both sides of a matrix that the transpose emitter turns have so many elements at least."""

_SHORTEST_SIDE_OF_LARGE: Final = 8
_LARGE: Final = 64 * 128
"""A matrix of so many elements may have shorter sides."""

_MAX_VECTOR_BITS: Final = 64
"""A last dimension of so many bits may stay the last."""

_FEWEST_ROWS: Final = ((4 * WARP_SIZE, 8), (8 * WARP_SIZE, 3))
"""A loop folds columns of fewer elements than the first if there are fewer than the second."""

SAME_MEMORY: Final = frozenset({"bitcast", "get-tuple-element", "reshape"})
_LOOKED_THROUGH: Final = ELEMENTWISE | SAME_MEMORY


class Emitter(enum.Enum):
    """What makes a kernel; each has a schedule in :mod:`ops.schedules`."""

    LOOP = "loop"
    TRANSPOSE = "transpose"
    REDUCTION = "reduction"
    CONCATENATE = "concatenate"
    IN_PLACE_UPDATE = "in-place update"


@dataclass(frozen=True, slots=True)
class FusionSchedule:
    """How the threads of a kernel divide the work of a fusion.

    Attributes:
        fusion: a whole computation.
        emitter: what makes the kernel.
        heroes: for each array of the result, the instruction that the kernel is made for, if there
            is one; a loop is made for none.
        schedule: what threads read and write of the first hero, and so of the others.
    """

    fusion: Fusion
    emitter: Emitter
    heroes: tuple[Instruction | None, ...]
    schedule: Schedule

    def writes(self, output: int = 0) -> tuple[Access, ...]:
        """What each thread writes of an array of the result.

        Beside a hero, an array of as many elements as the hero reads is written where that is read.

        Raises:
            FusionError: it is not known where the kernel writes the array.
        """
        root = self.fusion.roots[0]
        shape, hero = root.shape.arrays[output], self.heroes[output]
        if hero:
            return tuple(self._behind(hero, output, shape))
        beside = self.schedule.writes if self.emitter is Emitter.LOOP else self.schedule.reads[:1]
        return tuple(each.through(_same_place(each.shape, shape), shape) for each in beside if each)

    def reads(self, operand: int = 0) -> tuple[Access, ...]:
        """What each thread reads of an operand: an access for each indexing."""
        parameter = self.fusion.operands[operand]
        found = [*self._before_heroes(parameter), *self._beside_heroes(parameter)]
        return tuple(dict.fromkeys(found))

    def writes_exactly_once(self, output: int = 0) -> bool:
        """Whether every element of an array of the result is written, by one thread, once."""
        return Schedule(self.schedule.launch, (), self.writes(output)).writes_exactly_once()

    def _behind(self, hero: Instruction, output: int, shape: Shape) -> Iterator[Access]:
        """Where the epilogue writes what the hero gives."""
        for number in hero.shape.array_indices:
            for one in _known(self.fusion.epilogue(hero, output=number)):
                if one.element == output:
                    yield from (each.through(one.map, shape) for each in self.schedule.writes)

    def _before_heroes(self, parameter: Instruction) -> Iterator[Access]:
        """What is read of a parameter for what the heroes read."""
        for hero in _each(self.heroes):
            for operand, access in zip(hero.operands, self._read_by(hero), strict=True):
                if access:
                    answer = self.fusion.indexing(operand).get(parameter, NOTHING)
                    yield from _through([access], answer, parameter)

    def _read_by(self, hero: Instruction) -> Iterator[Access | None]:
        """What is read of each operand of a hero; every thread that writes reads its scalars."""
        for operand, access in zip(hero.operands, self.schedule.reads, strict=True):
            if access is None and not operand.shape.rank:
                written = self.schedule.writes[0]
                sizes = written.shape.dimensions
                yield written.through(no_dimensions(sizes), operand.shape)
            else:
                yield access

    def _beside_heroes(self, parameter: Instruction) -> Iterator[Access]:
        """What is read of a parameter without any hero."""
        root, heroes = self.fusion.roots[0], _each(self.heroes)
        others = [each for each in self.fusion.instructions if each not in heroes]
        if root in others:
            rest = Fusion.of_instructions(others, registry=self.fusion.registry)
            for output in range(len(self.heroes)):
                answer = rest.indexing(root, output).get(parameter, NOTHING)
                yield from _through(self.writes(output), answer, parameter)


def schedule_of(
    fusion: Instruction,
    launch: LaunchDimensions | None = None,
    *,
    unroll: int = 1,
) -> FusionSchedule:
    """The schedule that XLA's GPU code generator takes for a fusion.

    The emitter follows from the instructions (:func:`emitter_and_heroes`). A thread handles
    ``unroll`` neighbours at a time. ``launch`` is for the schedules that go through elements one
    after the other; by default it has a thread for each ``unroll`` of them.
    Transposes and reductions have launches of their own.

    Raises:
        FusionError: the fusion is of a kind that has no schedule here, such as one for Triton.
        ShapeError: as the functions of :mod:`ops.schedules`.

    >>> from ops import hlo
    >>> module = hlo.parse('''HloModule m
    ... fused { p = f32[64,128] parameter(0)
    ...   t = f32[128,64] transpose(p), dimensions={1,0}
    ...   ROOT e = f32[128,64] exponential(t) }
    ... ENTRY e { p = f32[64,128] parameter(0)
    ...   ROOT f = f32[128,64] fusion(p), kind=kInput, calls=fused }''')
    >>> schedule = schedule_of(module.entry.root)
    >>> schedule.emitter.value, schedule.heroes[0].name, schedule.writes_exactly_once()
    ('transpose', 't', True)
    >>> (read,) = schedule.reads()
    >>> print(read.in_memory())
    (th_x, th_y, th_z, bl_x, bl_y, bl_z)[loop_id, vector_id] ->
    ((bl_x mod 4) * 32 + (bl_x floordiv 4) * 4096 + (th_x floordiv 32) * 128 + loop_id * 1024
     + th_x mod 32),
    domain: th_x in [0, 255], th_y in [0, 0], th_z in [0, 0], bl_x in [0, 7], bl_y in [0, 0],
    bl_z in [0, 0], loop_id in [0, 3], vector_id in [0, 0]
    """
    computation = _fused(fusion)
    emitter, heroes = emitter_and_heroes(computation.root)
    alike = _each(heroes) or [results_of(computation.root)[0]]
    made = [KERNELS[emitter].schedule(each, launch, unroll) for each in alike]
    if any(other != made[0] for other in made):
        names = ", ".join(f"%{each.name}" for each in alike)
        raise FusionError(f"fusion: {names} are not read in the same way; expected one schedule")
    return FusionSchedule(Fusion.of_computation(computation), emitter, heroes, made[0])


def _fused(fusion: Instruction) -> Computation:
    kind = fusion.attributes.get("kind")
    if kind not in {"kLoop", "kInput"}:
        given = f"{fusion.opcode} of kind {kind}" if kind else fusion.opcode
        message = f"fusion: no schedule of %{fusion.name}, a {given}"
        raise FusionError(f"{message}; expected a fusion of kind kLoop or kInput")
    called: Computation = fusion.attributes["calls"]
    if any(each.opcode == "scatter" for each in called.instructions):
        raise FusionError(f"fusion: no schedule of %{fusion.name}, which scatters")
    return called


def _each(heroes: Iterable[Instruction | None]) -> list[Instruction]:
    """Each hero once."""
    return list(dict.fromkeys(hero for hero in heroes if hero))


def _through(
    accesses: Iterable[Access], answer: AnyDependence, array: Instruction
) -> Iterator[Access]:
    """What is touched of an array for these accesses, along each indexing."""
    for access in accesses:
        yield from (
            access.through(one.map, array.shape.arrays[one.element]) for one in _known(answer)
        )


def _known(answer: AnyDependence) -> tuple[OperandIndexing, ...]:
    if isinstance(answer, Unknown):
        raise FusionError(f"fusion: no schedule where maps are unknown: {answer.reason}")
    return answer


def _same_place(shape: Shape, other: Shape) -> IndexingMap:
    """From an element of an array to the one at its place in the memory of another."""
    found = bitcast_map(shape.with_element_type(other.element_type), other)
    if shape.element_count != other.element_count or found.is_undefined:
        raise FusionError(f"fusion: no schedule where {other} is written beside {shape}")
    return found


# Emitters and their heroes.


def results_of(root: Instruction) -> list[Instruction]:
    """What gives each array of a root, where that is a tuple of instructions."""
    results: list[Instruction] = []
    waiting = [root]
    while waiting:
        instruction = waiting.pop()
        if instruction.opcode == "tuple":
            waiting += reversed(instruction.operands)
        else:
            results += [instruction] * len(instruction.shape.arrays)
    return results


def emitter_and_heroes(root: Instruction) -> tuple[Emitter, tuple[Instruction | None, ...]]:
    """The emitter of a fusion with this root, and the hero of each array of its result, if any.

    Source:
        XLA's ``HloFusionAnalysis``: reductions before transposes, before what has one result only.
    """
    results = results_of(root)
    for emitter, kernel in KERNELS.items():
        heroes = tuple(_hero(result, kernel) for result in results)
        if any(heroes) and (not kernel.has_one_result or len(results) == 1):
            return emitter, heroes
    return Emitter.LOOP, (None,) * len(results)


def _hero(result: Instruction, kernel: Kernel) -> Instruction | None:
    """The only hero of a kernel that a result is made of."""
    found = [each for each in _leading_to(result, kernel.through) if kernel.is_hero(each)]
    return found[0] if len(found) == 1 else None


def _leading_to(result: Instruction, through: frozenset[str]) -> Iterator[Instruction]:
    """The instructions that a result is made of through some opcodes, and itself."""
    waiting, seen = [result], {result}
    while waiting:
        instruction = waiting.pop()
        yield instruction
        if instruction.opcode in through:
            fresh = [each for each in instruction.operands if each not in seen]
            waiting += fresh
            seen |= {*fresh}


def _is_fast_reduction(instruction: Instruction) -> bool:
    """Whether rows or columns are long enough for threads to share them."""
    if instruction.opcode != "reduce":
        return False
    try:
        found = ReductionDimensions.of(
            instruction.operands[0].shape, instruction.attributes["dimensions"]
        )
    except ShapeError:
        return False
    _, folded, columns = found.sizes
    if found.of_rows:
        return columns >= WARP_SIZE or (columns > 0 and WARP_SIZE % columns == 0)
    few = ((WARP_SIZE, columns + 1), (2 * WARP_SIZE, WARP_SIZE), *_FEWEST_ROWS)
    return not any(folded < rows and columns < most for rows, most in few)


def _is_tiled_transpose(instruction: Instruction) -> bool:
    """Whether the last dimension in memory changes places with one that is long enough.

    A last one of a few bits may stay.
    """
    if instruction.opcode not in {"copy", "transpose"}:
        return False
    (operand,) = instruction.operands
    sizes, order = merged_in_memory(operand.shape, instruction.shape, permutation_of(instruction))
    if order and order[-1] == len(order) - 1:
        if sizes[-1] * operand.shape.element_size_in_bits > _MAX_VECTOR_BITS:
            return False
        sizes, order = sizes[:-1], order[:-1]
    if not order:
        return False
    sides = sizes[-1], sizes[order[-1]]
    is_large = sides[0] * sides[1] >= _LARGE and min(sides) >= _SHORTEST_SIDE_OF_LARGE
    return min(sides) >= SHORTEST_SIDE or is_large


def _is_update_in_place(instruction: Instruction) -> bool:
    """Whether what is updated is in memory already, an operand of the fusion."""
    if instruction.opcode != "dynamic-update-slice":
        return False
    updated = instruction.operands[0]
    return any(each.opcode == "parameter" for each in _leading_to(updated, SAME_MEMORY))


def permutation_of(instruction: Instruction) -> tuple[int, ...]:
    """The dimensions of a transpose; those of a copy stay, and only its layout changes."""
    if instruction.opcode == "copy":
        return tuple(range(instruction.shape.rank))
    dimensions: tuple[int, ...] = instruction.attributes["dimensions"]
    return dimensions


def _is_concatenate(instruction: Instruction) -> bool:
    return instruction.opcode == "concatenate"


def _is_none(_: Instruction) -> bool:
    return False


# Schedules of heroes.


def _launch(array: Shape, launch: LaunchDimensions | None, unroll: int) -> LaunchDimensions:
    return launch or LaunchDimensions.for_elements(array.element_count, unroll=unroll)


def _loop(result: Instruction, launch: LaunchDimensions | None, unroll: int) -> Schedule:
    (shape, *_) = result.shape.arrays
    return loop_schedule(shape, _launch(shape, launch, unroll), unroll)


def _transpose(hero: Instruction, _: LaunchDimensions | None, unroll: int) -> Schedule:
    (operand,) = hero.operands
    return transpose_schedule(operand.shape, hero.shape, permutation_of(hero), vector_size=unroll)


def _reduction(hero: Instruction, _: LaunchDimensions | None, unroll: int) -> Schedule:
    operand, (result, *others) = hero.operands[0].shape, hero.shape.arrays
    dimensions: tuple[int, ...] = hero.attributes["dimensions"]
    return reduce_schedule(operand, result, dimensions, inputs=1 + len(others), vector_size=unroll)


def _concatenate(hero: Instruction, launch: LaunchDimensions | None, unroll: int) -> Schedule:
    operands = [operand.shape for operand in hero.operands]
    (dimension,) = hero.attributes["dimensions"]
    largest = max(operands, key=lambda operand: operand.element_count)
    launched = _launch(largest, launch, unroll)
    return concatenate_schedule(operands, hero.shape, dimension, launched, unroll)


def _in_place_update(hero: Instruction, launch: LaunchDimensions | None, unroll: int) -> Schedule:
    operand, update, *_ = (each.shape for each in hero.operands)
    return in_place_update_schedule(operand, update, _launch(update, launch, unroll), unroll)


class Kernel(NamedTuple):
    """What is known of the kernels of an emitter.

    Attributes:
        schedule: the schedule for a hero, or for the first result of a fusion without one.
        is_hero: whether it is faster than a loop for an instruction.
        through: the opcodes behind which the hero may be.
        has_one_result: whether the fusion must not have several.
    """

    schedule: Callable[[Instruction, LaunchDimensions | None, int], Schedule]
    is_hero: Callable[[Instruction], bool]
    through: frozenset[str] = _LOOKED_THROUGH
    has_one_result: bool = False


KERNELS: Final[Mapping[Emitter, Kernel]] = {
    Emitter.REDUCTION: Kernel(_reduction, _is_fast_reduction),
    Emitter.TRANSPOSE: Kernel(_transpose, _is_tiled_transpose),
    Emitter.CONCATENATE: Kernel(_concatenate, _is_concatenate, has_one_result=True),
    Emitter.IN_PLACE_UPDATE: Kernel(
        _in_place_update, _is_update_in_place, SAME_MEMORY, has_one_result=True
    ),
    Emitter.LOOP: Kernel(_loop, _is_none),
}
"""The emitters, in the order in which they are tried; a loop is for all that none is for."""
