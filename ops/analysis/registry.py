"""From an instruction to the maps between its operands and its results: tables by opcode.

What a :class:`Registry` holds for an opcode answers for its instructions; :data:`REGISTRY` holds
what the library knows. What calls a computation is followed by :mod:`ops.analysis.fusion`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from indexing import IndexingMap, UndefinedMap
from indexing.layout import ShapeError
from ops.adapters import BUILDERS, CALLERS, CUSTOM_CALLS, ROUTES
from ops.adapters.shared import arrays_in_operands
from ops.analysis.answers import Answer, OperandIndexing, RuntimeOrigin
from ops.analysis.known_values import with_known_values
from ops.builders.building import arrays_of, check_sizes
from ops.builders.op_indexing import OpIndexing, Unknown
from ops.devices.numbering import asking_device, devices_of
from ops.hlo.errors import HloTextError
from ops.hlo.opcodes import find_opcode

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from indexing.layout import Shape
    from ops.adapters.shared import Builder, Caller, Calls, Maps, Pair, Route, Router
    from ops.builders.op_indexing import Origin
    from ops.hlo import Instruction


@dataclass(frozen=True, slots=True)
class Dependency:
    """How an array of the result and an array of an operand depend on each other, both ways.

    Arrays in tuples are numbered through nested tuples: ``output`` in the result, ``element``
    in the operand.
    """

    output: int
    operand: int
    element: int
    output_to_input: Answer
    input_to_output: Answer


@dataclass(frozen=True, slots=True, eq=False)
class Registry:
    """What answers for which instruction: a value that is handed to the analyses.

    ``builders`` make the maps of an opcode, ``routes`` say which arrays an opcode passes on,
    ``callers`` say which computations it runs; ``custom_calls`` are builders by the target of a
    custom call. ``docs/custom_operations.md`` shows how to add to it.

    >>> from ops import hlo, output_to_input, transpose
    >>> def turn(instruction):
    ...     return transpose(instruction.operands[0].shape.dimensions, (1, 0))
    >>> text = 'f32[3,2] custom-call(p), custom_call_target="turn"'
    >>> module = hlo.parse(f"ENTRY e {{ p = f32[2,3] parameter(0) ROOT r = {text} }}")
    >>> print(*output_to_input(module.entry.root).indexing)
    unknown (custom-call: no indexing map of turn)
    >>> registry = REGISTRY.with_custom_call("turn", turn)
    >>> ((way,),) = output_to_input(module.entry.root, registry=registry).indexing
    >>> print(way)
    (d0, d1) -> (d1, d0), domain: d0 in [0, 2], d1 in [0, 1]
    """

    builders: Mapping[str, Builder]
    routes: Mapping[str, Router]
    callers: Mapping[str, Caller]
    custom_calls: Mapping[str, Builder]

    def with_custom_call(self, target: str, builder: Builder) -> Registry:
        """The registry in which ``builder`` answers for the custom calls of a target."""
        return replace(self, custom_calls={**self.custom_calls, target: builder})

    def with_opcode(self, opcode: str, builder: Builder) -> Registry:
        """The registry in which ``builder`` answers for an opcode, whatever did so before.

        Raises:
            ShapeError: there is no such opcode.
        """
        if find_opcode(opcode) is None:
            raise ShapeError(f"there is no opcode {opcode}")
        return replace(
            self,
            builders={**self.builders, opcode: builder},
            routes={other: router for other, router in self.routes.items() if other != opcode},
            callers={other: caller for other, caller in self.callers.items() if other != opcode},
        )

    def __repr__(self) -> str:
        """In few words: it stands in the signatures of functions, whose help it would fill."""
        return f"<Registry of {len(self.opcodes)} opcodes, {len(self.custom_calls)} custom calls>"

    @property
    def opcodes(self) -> frozenset[str]:
        """The opcodes that have maps."""
        return frozenset({*self.builders, *self.routes, *self.callers})

    def calls(self, instruction: Instruction) -> Calls | None:
        """The computations that an instruction runs, if it does."""
        caller = self.callers.get(instruction.opcode)
        return caller(instruction) if caller else None

    def dependencies(self, instruction: Instruction) -> tuple[Dependency, ...]:
        """All pairs of arrays of result and operands of which one depends on the other.

        Raises:
            HloTextError: shapes and attributes of the instruction do not fit.
        """
        router = self.routes.get(instruction.opcode)
        try:
            if router:
                return tuple(_routed(instruction, router(instruction)))
            return tuple(_built(instruction, self._maps_of(instruction)))
        except ShapeError as error:
            raise HloTextError(
                str(error), instruction.span, instruction=instruction.name
            ) from error

    def _maps_of(self, instruction: Instruction) -> Maps:
        opcode = instruction.opcode
        target = instruction.attributes.get("custom_call_target", "")
        build = self.custom_calls.get(target) or self.builders.get(opcode)
        if build is None:
            of = f" of {target}" if target else ""
            return Unknown(f"{opcode}: no indexing map{of}")
        shapes = (instruction.shape, *(operand.shape for operand in instruction.operands))
        if any(array.is_unbounded for shape in shapes for array in arrays_of(shape)):
            return Unknown(f"{opcode}: no indexing map of dimensions without bound")
        return build(instruction)


REGISTRY: Final = Registry(BUILDERS, ROUTES, CALLERS, CUSTOM_CALLS)
"""What the library answers for."""


def identity_of(array: Shape) -> Answer:
    """How an array depends on itself."""
    if array.is_unbounded:
        return Unknown(f"{array}: no indexing map of dimensions without bound")
    return _identity(array.dimensions)


@lru_cache(maxsize=256)
def _identity(sizes: tuple[int, ...]) -> tuple[OperandIndexing]:
    """Wide tuples hold many arrays of few sizes."""
    return (OperandIndexing(IndexingMap.identity(sizes)),)


# Arrays that are passed on as they are.


def _routed(instruction: Instruction, routes: Iterable[Route]) -> Iterator[Dependency]:
    outputs = arrays_of(instruction.shape)
    inputs = [arrays_of(operand.shape) for operand in instruction.operands]
    for output, operand, element in routes:
        is_there = output < len(outputs) and element < len(inputs[operand])
        if not (is_there and outputs[output].is_compatible_with(inputs[operand][element])):
            given = ", ".join(str(each.shape) for each in instruction.operands)
            message = f"{instruction.opcode}: {instruction.shape} is not made of {given}"
            raise ShapeError(message)
        identity = identity_of(outputs[output])
        yield Dependency(output, operand, element, identity, identity)


# Maps that builders make.


def _built(instruction: Instruction, maps: Maps) -> Iterator[Dependency]:
    outputs = arrays_of(instruction.shape)
    if isinstance(maps, Mapping):
        yield from _paired(instruction, maps)
        return
    each = maps if isinstance(maps, tuple) else (maps,) * len(outputs)
    _check_number(instruction, "results", len(each), len(outputs))
    for output, (shape, indexing) in enumerate(zip(outputs, each, strict=True)):
        if isinstance(indexing, Unknown):
            for operand, element in arrays_in_operands(instruction):
                yield Dependency(output, operand, element, indexing, indexing)
        else:
            _check_sizes(instruction, shape, indexing)
            yield from _of_output(instruction, output, indexing)


def _paired(instruction: Instruction, maps: Mapping[Pair, OpIndexing]) -> Iterator[Dependency]:
    """The dependences of the pairs of arrays that are listed."""
    outputs = arrays_of(instruction.shape)
    inputs = [*arrays_in_operands(instruction)]
    for (output, number), indexing in maps.items():
        _check_sizes(instruction, outputs[output], indexing)
        yield from _dependencies(instruction, output, inputs[number : number + 1], indexing)


def _of_output(instruction: Instruction, output: int, indexing: OpIndexing) -> Iterator[Dependency]:
    return _dependencies(instruction, output, [*arrays_in_operands(instruction)], indexing)


def _dependencies(
    instruction: Instruction, output: int, inputs: list[tuple[int, int]], indexing: OpIndexing
) -> Iterator[Dependency]:
    """The dependences of an array of the result on arrays in the operands."""
    there = _answers(
        instruction, indexing.output_to_input, indexing.output_origins, indexing.output_replicas
    )
    back = _answers(
        instruction, indexing.input_to_output, indexing.input_origins, indexing.input_replicas
    )
    _check_number(instruction, "operands", len(there), len(inputs))
    _check_number(instruction, "operands", len(back), len(inputs))
    result = arrays_of(instruction.shape)[output]
    for (operand, element), *answers in zip(inputs, there, back, strict=True):
        other = arrays_of(instruction.operands[operand].shape)[element]
        _check_ranks(instruction, answers[0], result, other)
        _check_ranks(instruction, answers[1], other, result)
        yield Dependency(output, operand, element, *answers)


def _answers(
    instruction: Instruction,
    maps: tuple[IndexingMap, ...],
    origins: tuple[tuple[Origin, ...], ...],
    replicas: tuple[IndexingMap | None, ...],
) -> list[Answer]:
    """One answer for each map."""
    count = len(maps)
    beside = zip(origins or ((),) * count, replicas or (None,) * count, strict=True)
    return [_answer(instruction, found, *more) for found, more in zip(maps, beside, strict=True)]


def _answer(
    instruction: Instruction,
    found: IndexingMap,
    origins: tuple[Origin, ...],
    replica: IndexingMap | None,
) -> Answer:
    if isinstance(found, UndefinedMap):
        return Unknown(found.reason)
    _check_number(instruction, "runtime variables", len(origins), len(found.runtime))
    runtime = (
        RuntimeOrigin(_source(instruction, each.operand), each.map, each.clamp, each.replica)
        for each in origins
    )
    return (with_known_values(OperandIndexing(found, tuple(runtime), replica)),)


def _source(instruction: Instruction, operand: int | None) -> Instruction:
    """The operand that holds a value; without one, what gives the number of the replica."""
    if operand is None:
        return asking_device(devices_of(instruction.computation.module))
    return instruction.operands[operand]


def _check_sizes(instruction: Instruction, shape: Shape, indexing: OpIndexing) -> None:
    check_sizes(instruction.opcode, "the result", shape.dimensions, indexing.output_sizes)


def _check_ranks(instruction: Instruction, answer: Answer, source: Shape, target: Shape) -> None:
    """Raise a :class:`ShapeError` unless all maps lead from the one shape to the other."""
    for way in () if isinstance(answer, Unknown) else answer:
        given = len(way.map.dims), len(way.map.forms)
        if given != (source.rank, target.rank):
            message = f"{instruction.opcode}: its builder has a map from rank {given[0]} to"
            expected = f"expected {source.rank} to {target.rank}, from {source} to {target}"
            raise ShapeError(f"{message} {given[1]}; {expected}")


def _check_number(instruction: Instruction, what: str, given: int, expected: int) -> None:
    """Raise a :class:`ShapeError` unless a builder spoke of as many things as there are."""
    if given != expected:
        message = f"{instruction.opcode}: its builder speaks of {given} {what}"
        raise ShapeError(f"{message}; expected {expected}")
