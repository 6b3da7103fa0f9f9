"""A producer and its consumer as one computation, as if XLA had fused them."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, count
from typing import TYPE_CHECKING, Any, cast

from ops.fusion.fusion import FusionError
from ops.hlo import Computation, HloModule, Instruction
from simplifier.tools.postorder import postorder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


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
    if producer.opcode == "parameter":
        message = f"fusion: %{producer.name} is a parameter"
        raise FusionError(f"{message}; expected a producer that computes an array")
    if producer.shape.is_tuple:
        message = f"fusion: %{producer.name} gives several arrays"
        raise FusionError(f"{message}; expected a producer of one")
    writer = _Writer()
    read = dict.fromkeys(each for each in consumer.operands if each is not producer)
    read = dict.fromkeys(chain(producer.operands, read))
    outside = {each: writer.parameter(number, each) for number, each in enumerate(read)}
    given = writer.body_of(producer, [outside[each] for each in producer.operands])
    outside[producer] = given
    root = writer.body_of(consumer, [outside[each] for each in consumer.operands])
    name = f"{consumer.name}_with_{producer.name}"
    body = Computation(name, tuple(writer.written), root)
    return HloModule(name, (*_called(body), body), body, _attributes(consumer), "").entry


class _Writer:
    """Writes instructions of several computations into one, each with a name of its own."""

    def __init__(self) -> None:
        self.written: list[Instruction] = []
        self._names: set[str] = set()

    def parameter(self, number: int, like: Instruction) -> Instruction:
        """A parameter in the place of an instruction outside."""
        return self._write(Instruction(like.name, "parameter", like.shape, parameter_number=number))

    def body_of(self, unit: Instruction, operands: list[Instruction]) -> Instruction:
        """All that an instruction computes from these operands; what gives its result."""
        if unit.opcode != "fusion":
            return self._write(_with_operands(unit, operands))
        body: Computation = unit.attributes["calls"]
        copies: dict[Instruction, Instruction] = {}
        for each in body.instructions:
            if each.parameter_number is not None:
                copies[each] = operands[each.parameter_number]
            else:
                read = [copies[operand] for operand in each.operands]
                copies[each] = self._write(_with_operands(each, read))
        return copies[body.root]

    def _write(self, instruction: Instruction) -> Instruction:
        names = chain([instruction.name], (f"{instruction.name}.{n}" for n in count(1)))
        name = next(name for name in names if name not in self._names)
        self._names.add(name)
        self.written.append(replace(instruction, name=name))
        return self.written[-1]


def _with_operands(instruction: Instruction, operands: list[Instruction]) -> Instruction:
    return Instruction(
        instruction.name,
        instruction.opcode,
        instruction.shape,
        tuple(operands),
        instruction.attributes,
        instruction.literal,
        instruction.parameter_number,
        sizes=instruction.sizes,
    )


def _called(body: Computation) -> Iterable[Computation]:
    """What a computation calls, callees first."""

    def callees(computation: Computation) -> Iterator[Computation]:
        for each in computation.instructions:
            yield from each.computations

    return (each for each in postorder([body], callees) if each is not body)


def _attributes(consumer: Instruction) -> Mapping[str, Any]:
    module = consumer.computation.own_module
    return cast("Mapping[str, Any]", module.attributes if module else {})
