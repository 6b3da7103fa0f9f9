"""The schedule of a fusion: the emitter that XLA takes for it, and what each thread does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count, product
from typing import Any, cast

from indexing import IndexingMap
from indexing.layout import Shape, bitcast_map
from ops.analysis.queries import output_to_input
from ops.dependence.dependence import NOTHING, AnyDependence
from ops.dependence.operand_indexing import OperandIndexing, RuntimeOrigin
from ops.fusion.fusion import Fusion, FusionError
from ops.hlo import Computation, HloModule, Instruction
from ops.hlo.module import INSTRUCTION
from ops.hlo.opcodes import PASS_ELEMENTS
from ops.index_maps import index_map
from ops.limits import Device
from ops.rules.rule import known
from ops.xla_gpu.emitters import (
    KERNELS,
    Emitter,
    KernelPlan,
    Unrolling,
    check_has_kernel,
    check_no_library,
    each_hero,
    emitter_and_heroes,
    fused_computation,
    groups_of,
    results_of,
)
from ops.xla_gpu.schedule import (
    Access,
    BlockLevel,
    BlockSchedule,
    LaunchDimensions,
    Schedule,
    block_schedule,
    check_positive,
    contracted_tile,
)
from simplifier.errors import INTEGER, check_type
from simplifier.tools.display import Displayed
from simplifier.tools.graphs import postorder


@dataclass(frozen=True, slots=True, repr=False)
class FusionSchedule(Displayed):
    """Division of the work of a fusion among the threads of a kernel.

    Attributes:
        fusion: a whole computation.
        emitter: what makes the kernel.
        heroes: for each array of the result, the instruction that the kernel is made for, if there
            is one; a loop is made for none.
        schedules: for each array of the result, what threads read and write of its hero. They
            differ where heroes read arrays of other shapes, or have blocks of their own.
    """

    fusion: Fusion
    emitter: Emitter
    heroes: tuple[Instruction | None, ...]
    schedules: tuple[Schedule, ...]

    def __str__(self) -> str:
        lines = [f"{self.emitter.value} kernel of {self.fusion}"]
        for number, (hero, schedule) in enumerate(zip(self.heroes, self.schedules, strict=True)):
            lines.append(f"result {number}" + ("" if hero is None else f", for %{hero.name}"))
            lines += (f"  {line}" for line in str(schedule).splitlines())
        return "\n".join(lines)

    @property
    def schedule(self) -> Schedule:
        """The schedule of the first hero; all have its launch."""
        return self.schedules[0]

    def writes(self, output: int = 0) -> tuple[Access, ...]:
        """Writes of each thread to an array of the result.

        Beside a hero, an array of as many elements as the hero reads is written where that is read.

        Raises:
            FusionError: it is not known where the kernel writes the array, or there is none.
        """
        self._check_number(output, len(self.schedules), "result")
        shape, hero = self.fusion.roots[0].shape.arrays[output], self.heroes[output]
        schedule = self.schedules[output]
        if isinstance(schedule, BlockSchedule):
            return schedule.writes
        if hero:
            return tuple(self._behind(hero, output, shape))
        beside = schedule.writes if self.emitter is Emitter.LOOP else schedule.reads[:1]
        return tuple(each.through(_same_place(each.shape, shape), shape) for each in beside if each)

    def reads(self, operand: int = 0) -> tuple[Access, ...]:
        """Reads of an operand by each thread: an access for each indexing.

        Raises:
            FusionError: there is no such operand.
        """
        self._check_number(operand, len(self.fusion.operands), "operand")
        parameter = self.fusion.operands[operand]
        found = [*self._before_heroes(parameter), *self._beside_heroes(parameter)]
        return tuple(dict.fromkeys(found))

    def writes_exactly_once(self, output: int = 0) -> bool:
        """Whether every element of an array of the result is written, by one thread, once."""
        return Schedule(self.schedule.launch, (), self.writes(output)).writes_exactly_once()

    def _check_number(self, number: int, count: int, what: str) -> None:
        """Raise an error unless the kernel has a result or operand of this number."""
        check_type(number, INTEGER, f"schedule: the number of the {what}", "an integer")
        if not 0 <= number < count:
            raise FusionError(f"{self.fusion}: there is no {what} {number} among {count}")

    def _behind(self, hero: Instruction, output: int, shape: Shape) -> Iterator[Access]:
        """Places to which the epilogue writes the hero's result."""
        writes = self.schedules[output].writes
        for number in hero.shape.array_indices:
            for one in _known(self.fusion.epilogue(hero, output=number)):
                if one.element == output:
                    yield from (each.through(one.map, shape, _origins(one)) for each in writes)

    def _before_heroes(self, parameter: Instruction) -> Iterator[Access]:
        """Reads of a parameter for the operands of the heroes."""
        scheduled = dict(zip(self.heroes, self.schedules, strict=True))
        for hero in each_hero(self.heroes):
            schedule = scheduled[hero]
            if isinstance(schedule, BlockSchedule):
                yield from self._contracted(hero, schedule, parameter)
                continue
            for operand, access in zip(hero.operands, _read_by(hero, schedule), strict=True):
                if access:
                    answer = self.fusion.indexing(operand).get(parameter, NOTHING)
                    yield from _through([access], answer, parameter)

    def _contracted(
        self, dot: Instruction, schedule: BlockSchedule, parameter: Instruction
    ) -> Iterator[Access]:
        """Loads of a parameter by a block for a dot, step by step along its contraction."""
        for operand, wanted in zip(dot.operands, self.fusion.hero_inputs(dot), strict=True):
            answer = self.fusion.indexing(operand).get(parameter, NOTHING)
            for one in _known(wanted):
                steps = contracted_tile(dot)
                steps = steps if len(steps) == len(one.map.ranges) else ()
                own = Access(one.map, operand.shape, _origins(one))
                for found in _through([own], answer, parameter):
                    yield schedule.load(found.map, found.shape, steps, found.origins)

    def _beside_heroes(self, parameter: Instruction) -> Iterator[Access]:
        """Reads of a parameter without any hero."""
        root, heroes = self.fusion.roots[0], each_hero(self.heroes)
        others = [each for each in self.fusion.instructions if each not in heroes]
        if root in others:
            rest = Fusion.of_instructions(others, registry=self.fusion.registry)
            for output, schedule in enumerate(self.schedules):
                answer = rest.indexing(root, output).get(parameter, NOTHING)
                if isinstance(schedule, BlockSchedule):
                    for one in _known(answer):
                        array = parameter.shape.arrays[one.element]
                        yield schedule.load(one.map, array, (), _origins(one))
                else:
                    yield from _through(self.writes(output), answer, parameter)


def schedule_of(
    fusion: Instruction,
    launch: LaunchDimensions | None = None,
    *,
    unroll: int | None = None,
    device: Device | None = None,
    producer: Instruction | None = None,
) -> FusionSchedule:
    """The schedule that XLA's GPU code generator takes for a fusion.

    The emitter follows from the instructions (:func:`emitter_and_heroes`) or, for kernels of tiles,
    from the ``backend_config``. Another instruction is a fusion of itself, as XLA wraps it. A
    thread handles ``unroll`` neighbours at a time: by default as many as XLA's rules say for the
    ``device``, or 1. ``launch`` is for the schedules that go through elements one after the other;
    by default it has a thread for each ``unroll`` of them. Transposes, reductions, sorts and tiles
    have launches of their own.

    With a ``producer``, the schedule is that of both as one fusion (:func:`joined`): ``fusion``
    may then be any instruction that reads it.

    Raises:
        FusionError: the fusion has no schedule here: it is for a library that chooses its own
            tiles, or it only copies; or no kernel runs for the instruction.
        ShapeError: as the functions of :mod:`ops.xla_gpu`.
        DeviceError: the device lacks a figure.

    >>> from ops import hlo
    >>> module = hlo.parse('''HloModule m
    ... fused { p = f32[64,128] parameter(0)
    ...   t = f32[128,64] transpose(p), dimensions={1,0}
    ...   ROOT e = f32[128,64] exponential(t) }
    ... ENTRY e { p = f32[64,128] parameter(0) n = f32[64,128] negate(p)
    ...   ROOT f = f32[128,64] fusion(n), kind=kInput, calls=fused }''')
    >>> schedule = schedule_of(module.entry.root)
    >>> schedule.emitter.value, schedule.heroes[0].name, schedule.writes_exactly_once()
    ('transpose', 't', True)
    >>> (read,) = schedule.reads()
    >>> print(read)
    (th_x, bl_x)[loop_id] ->
    ((bl_x floordiv 4) * 32 + loop_id * 8 + th_x floordiv 32, (bl_x mod 4) * 32 + th_x mod 32),
    domain: th_x in [0, 255], bl_x in [0, 7], loop_id in [0, 3]
    >>> pair = schedule_of(module.entry.root, producer=module.entry.root.operands[0])
    >>> pair.emitter.value, pair.reads() == schedule.reads()
    ('transpose', True)
    """
    check_type(fusion, Instruction, "schedule_of: the fusion", INSTRUCTION)
    if device is not None:
        check_type(device, Device, "schedule_of: the device", "a Device such as A100")
    if unroll is not None:
        check_positive("schedule_of", "unroll", unroll)
    if producer is not None:
        check_type(producer, Instruction, "schedule_of: the producer", INSTRUCTION)
        check_no_library(fusion)
        check_no_library(producer)
        computation = joined(producer, fusion)
    elif fusion.opcode != "fusion":
        check_has_kernel(fusion)
        computation = _wrapped(fusion)
    else:
        computation, blocks = fused_computation(fusion)
        if blocks:
            return _of_tiles(fusion, computation, blocks)
    return _of_heroes(Unrolling(computation, unroll, device), launch)


def _of_heroes(unrolling: Unrolling, launch: LaunchDimensions | None) -> FusionSchedule:
    """The schedule for the heroes; another array of the result has that of the first hero."""
    computation = unrolling.computation
    (emitter, heroes), results = emitter_and_heroes(computation.root), results_of(computation.root)
    groups = groups_of(results, heroes) if emitter is Emitter.REDUCTION else [0] * len(results)
    first = next(filter(None, heroes), results[0])
    count = max(groups) + 1
    plans = (KernelPlan(unrolling, launch, first, group, count) for group in groups)
    pairs = zip(heroes, plans, strict=True)
    schedules = tuple(KERNELS[emitter].schedule(hero or first, plan) for hero, plan in pairs)
    return FusionSchedule(Fusion.of_computation(computation), emitter, heroes, schedules)


def _of_tiles(fusion: Instruction, computation: Computation, blocks: BlockLevel) -> FusionSchedule:
    """The schedule of a kernel whose blocks compute tiles; the hero is the dot, if there is one."""
    arrays = fusion.shape.arrays
    if len(blocks.output_tiles) != len(arrays):
        message = f"fusion: no schedule of %{fusion.name}, which its backend_config gives to"
        expected = f"expected a tile for each of {len(arrays)} results"
        raise FusionError(f"{message} {blocks.kind}, with {len(blocks.output_tiles)}; {expected}")
    dots = [each for each in computation.instructions if each.opcode == "dot"]
    hero = dots[0] if len(dots) == 1 and len(arrays) == 1 else None
    pairs = zip(arrays, blocks.output_tiles, strict=True)
    schedules = tuple(block_schedule(*pair, warps=blocks.warps) for pair in pairs)
    whole = Fusion.of_computation(computation)
    return FusionSchedule(whole, Emitter.TRITON, (hero,) * len(arrays), schedules)


def _read_by(hero: Instruction, schedule: Schedule) -> Iterator[Access | None]:
    """Reads of each operand of a hero; every thread that writes reads its scalars."""
    for operand, access in zip(hero.operands, schedule.reads, strict=True):
        if access is None and not operand.shape.rank:
            written = schedule.writes[0]
            yield written.through(index_map((), written.shape.dimensions), operand.shape)
        else:
            yield access


def _through(
    accesses: Iterable[Access], answer: AnyDependence, array: Instruction
) -> Iterator[Access]:
    """Elements of an array touched for these accesses, along each indexing."""
    for access, one in product(accesses, _known(answer)):
        yield access.through(one.map, array.shape.arrays[one.element], _origins(one))


def _origins(indexing: OperandIndexing) -> tuple[RuntimeOrigin, ...]:
    """Origins of values, followed through instructions that only move elements."""
    return tuple(map(_moved, indexing.runtime))


def _moved(origin: RuntimeOrigin) -> RuntimeOrigin:
    while origin.instruction.opcode in PASS_ELEMENTS:
        ((way,),) = map(_known, output_to_input(origin.instruction).indexing)
        (source,) = origin.instruction.operands
        origin = replace(origin, instruction=source, map=origin.map.compose(way.map))
    return origin


def _known(answer: AnyDependence) -> tuple[OperandIndexing, ...]:
    message = "fusion: no schedule where maps are unknown: "
    return known(answer, lambda reason: FusionError(message + reason))


def _same_place(shape: Shape, other: Shape) -> IndexingMap:
    """Map from an element of an array to the one at its place in the memory of another."""
    found = bitcast_map(shape.with_element_type(other.element_type), other)
    if shape.element_count != other.element_count or found.is_undefined:
        raise FusionError(f"fusion: no schedule where {other} is written beside {shape}")
    return found


# A producer and its consumer as one computation, as if XLA had fused them.


def joined(producer: Instruction, consumer: Instruction) -> Computation:
    """The computation of a fusion of both, in a module of its own.

    Its parameters are what the consumer and the producer read outside, each once. Both may be
    fusions; the producer gives one array.

    Raises:
        FusionError: the consumer does not read the producer, or that does not compute one array.

    >>> from ops import hlo
    >>> entry = hlo.parse('''ENTRY e { p = f32[8] parameter(0) q = f32[8] parameter(1)
    ...   a = f32[8] negate(p) ROOT b = f32[8] add(a, q) }''').entry
    >>> print(joined(entry.instructions[2], entry.root))
    ENTRY %b_with_a (p: f32[8], q: f32[8]) -> f32[8] {
      %p = f32[8]{0} parameter(0)
      %q = f32[8]{0} parameter(1)
      %a = f32[8]{0} negate(%p)
      ROOT %b = f32[8]{0} add(%a, %q)
    }
    """
    if producer not in consumer.operands:
        raise FusionError(f"fusion: %{consumer.name} does not read %{producer.name}")
    if producer.parameter_number is not None:
        message = f"fusion: %{producer.name} is a parameter"
        raise FusionError(f"{message}; expected a producer that computes an array")
    if producer.shape.is_tuple:
        message = f"fusion: %{producer.name} gives several arrays"
        raise FusionError(f"{message}; expected a producer of one")
    writer = _Writer()
    read = dict.fromkeys(each for each in consumer.operands if each is not producer)
    read = dict.fromkeys(chain(producer.operands, read))
    outside = {each: writer.parameter(number, each) for number, each in enumerate(read)}
    outside[producer] = writer.body_of(producer, [outside[each] for each in producer.operands])
    root = writer.body_of(consumer, [outside[each] for each in consumer.operands])
    return writer.computation(f"{consumer.name}_with_{producer.name}", root, consumer)


def _wrapped(instruction: Instruction) -> Computation:
    """The computation of a fusion of one instruction, in a module of its own."""
    writer = _Writer()
    read = [writer.parameter(number, each) for number, each in enumerate(instruction.operands)]
    root = writer.body_of(instruction, read)
    return writer.computation(f"wrapped_{instruction.name}", root, instruction)


class _Writer:
    """Writes instructions of several computations into one, each with a name of its own."""

    def __init__(self) -> None:
        self.written: list[Instruction] = []
        self._names: set[str] = set()

    def parameter(self, number: int, like: Instruction) -> Instruction:
        """A parameter in the place of an instruction outside."""
        return self._write(Instruction(like.name, "parameter", like.shape, parameter_number=number))

    def computation(self, name: str, root: Instruction, like: Instruction) -> Computation:
        """What is written, as the entry of a module like that of an instruction."""
        body = Computation(name, tuple(self.written), root)
        module = like.computation.own_module
        attributes = cast("Mapping[str, Any]", module.attributes if module else {})
        return HloModule(name, (*postorder([body], _callees),), body, attributes, "").entry

    def body_of(self, unit: Instruction, operands: list[Instruction]) -> Instruction:
        """The computation of an instruction on these operands; its root gives the result."""
        if unit.opcode != "fusion":
            return self._write(unit, operands)
        body: Computation = unit.attributes["calls"]
        copies: dict[Instruction, Instruction] = {}
        for each in body.instructions:
            if each.parameter_number is not None:
                copies[each] = operands[each.parameter_number]
            else:
                copies[each] = self._write(each, [copies[operand] for operand in each.operands])
        return copies[body.root]

    def _write(self, instruction: Instruction, operands: Sequence[Instruction] = ()) -> Instruction:
        """Write a copy that reads other operands, and has no place in a text."""
        names = chain([instruction.name], (f"{instruction.name}.{n}" for n in count(1)))
        name = next(name for name in names if name not in self._names)
        self._names.add(name)
        self.written.append(replace(instruction, name=name, operands=(*operands,), start=0, stop=0))
        return self.written[-1]


def _callees(computation: Computation) -> Iterable[Computation]:
    """The computations called by the instructions of one."""
    return chain.from_iterable(each.computations for each in computation.instructions)
