"""What each thread of a GPU reads and writes for a fusion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from indexing.layout import bitcast_map
from ops.dependence.dependence import NOTHING, Unknown
from ops.fusion.emitters import (
    KERNELS,
    Emitter,
    each_hero,
    emitter_and_heroes,
    fused_computation,
    results_of,
)
from ops.fusion.fusion import Fusion, FusionError
from ops.hlo.module import INSTRUCTION, Instruction
from ops.index_maps import no_dimensions
from ops.schedules import Access, LaunchDimensions, Schedule
from simplifier.errors import check_type

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from indexing import IndexingMap
    from indexing.layout import Shape
    from ops.dependence.dependence import AnyDependence
    from ops.dependence.operand_indexing import OperandIndexing


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
        for hero in each_hero(self.heroes):
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
        root, heroes = self.fusion.roots[0], each_hero(self.heroes)
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
        FusionError: the fusion has no schedule here: it is for Triton or another library, it
            scatters, sorts or only copies, or its reductions run in blocks of their own.
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
    check_type(fusion, Instruction, "schedule_of: the fusion", INSTRUCTION)
    computation = fused_computation(fusion)
    emitter, heroes = emitter_and_heroes(computation.root)
    alike = each_hero(heroes) or [results_of(computation.root)[0]]
    made = [KERNELS[emitter].schedule(each, launch, unroll) for each in alike]
    if any(other != made[0] for other in made):
        names = ", ".join(f"%{each.name}" for each in alike)
        raise FusionError(f"fusion: {names} are not read in the same way; expected one schedule")
    return FusionSchedule(Fusion.of_computation(computation), emitter, heroes, made[0])


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
