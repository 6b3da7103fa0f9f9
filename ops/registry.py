"""From an instruction to the maps between its operands and its results: a table by opcode.

An operation is supported when it has a row in :data:`BUILDERS` or :data:`ROUTES`; what calls a
computation has a row in :data:`CALLS` and is followed by :mod:`ops.fusion`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeAlias

from indexing import IndexingMap
from indexing.layout import ShapeError
from ops.answers import Answer, OperandIndexing, OpIndexing, Unknown
from ops.bitcasting import bitcast_convert, bitcast_of_shapes, obstacle
from ops.broadcasting import broadcast
from ops.contraction import dot
from ops.hlo.errors import HloTextError
from ops.padding import pad
from ops.pointwise import ELEMENTWISE, elementwise, generated
from ops.reduction import reduce
from ops.reordering import reverse, transpose
from ops.reshaping import reshape
from ops.slicing import concatenate, slice  # noqa: A004 - the operation's name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from indexing.layout import Shape
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


def dependencies(instruction: Instruction) -> tuple[Dependency, ...]:
    """All pairs of arrays of result and operands of which one depends on the other.

    Raises:
        HloTextError: shapes and attributes of the instruction do not fit.
    """
    opcode = instruction.opcode
    try:
        if opcode in ROUTES:
            return tuple(_routed(instruction, ROUTES[opcode](instruction)))
        return tuple(_built(instruction, _indexing_of(instruction)))
    except ShapeError as error:
        raise HloTextError(str(error), instruction.span, instruction=instruction.name) from error


def _indexing_of(instruction: Instruction) -> OpIndexing | Unknown:
    build = BUILDERS.get(instruction.opcode)
    if build is None:
        return Unknown(f"{instruction.opcode}: no indexing map")
    shapes = (instruction.shape, *(operand.shape for operand in instruction.operands))
    if any(array.is_unbounded for shape in shapes for array in arrays_of(shape)):
        return Unknown(f"{instruction.opcode}: no indexing map of dimensions without bound")
    return build(instruction)


def _built(instruction: Instruction, indexing: OpIndexing | Unknown) -> Iterator[Dependency]:
    """Every array of the result depends on every operand in the same way."""
    for output, shape in enumerate(arrays_of(instruction.shape)):
        if isinstance(indexing, Unknown):
            for number, operand in enumerate(instruction.operands):
                for element in range(len(arrays_of(operand.shape))):
                    yield Dependency(output, number, element, indexing, indexing)
            continue
        if shape.dimensions != indexing.output_sizes:
            message = f"{instruction.opcode}: the result has sizes {shape.dimensions}"
            raise ShapeError(f"{message}; expected {indexing.output_sizes}")
        pairs = zip(indexing.output_to_input, indexing.input_to_output, strict=True)
        for number, (there, back) in enumerate(pairs):
            yield Dependency(output, number, 0, (OperandIndexing(there),), (OperandIndexing(back),))


def arrays_of(shape: Shape) -> tuple[Shape, ...]:
    """The shapes in nested tuples, in order; a shape that is no tuple by itself.

    >>> from indexing.layout import Shape
    >>> [str(array) for array in arrays_of(Shape.parse("(f32[2], (s32[], (), token[]))"))]
    ['f32[2]{0}', 's32[]', 'token[]']
    """
    arrays: list[Shape] = []
    waiting = [shape]
    while waiting:
        inner = waiting.pop()
        if inner.is_tuple:
            waiting += reversed(inner.elements)
        else:
            arrays.append(inner)
    return tuple(arrays)


def identity_of(array: Shape) -> Answer:
    """How an array depends on itself."""
    if array.is_unbounded:
        return Unknown(f"{array}: no indexing map of dimensions without bound")
    return _identity(array.dimensions)


@lru_cache(maxsize=256)
def _identity(sizes: tuple[int, ...]) -> tuple[OperandIndexing]:
    """Wide tuples hold many arrays of few sizes."""
    return (OperandIndexing(IndexingMap.identity(sizes)),)


# Operations that compute: every array of the result depends on every operand in the same way.


def _sizes(instruction: Instruction) -> tuple[int, ...]:
    return instruction.shape.dimensions


def _elementwise(instruction: Instruction) -> OpIndexing:
    return elementwise([_sizes(operand) for operand in instruction.operands])


def _on_dimensions(build: Callable[[tuple[int, ...], tuple[int, ...]], OpIndexing]) -> Builder:
    """A builder of the operand's sizes and the attribute ``dimensions``."""

    def adapted(instruction: Instruction) -> OpIndexing:
        return build(_sizes(instruction.operands[0]), instruction.attributes["dimensions"])

    return adapted


def _between_shapes(build: Callable[[tuple[int, ...], tuple[int, ...]], OpIndexing]) -> Builder:
    """A builder of the operand's sizes and the result's."""

    def adapted(instruction: Instruction) -> OpIndexing:
        return build(_sizes(instruction.operands[0]), _sizes(instruction))

    return adapted


def _broadcast(instruction: Instruction) -> OpIndexing:
    (operand,) = instruction.operands
    return broadcast(_sizes(operand), _sizes(instruction), instruction.attributes["dimensions"])


def _bitcast(instruction: Instruction) -> OpIndexing | Unknown:
    (operand,) = instruction.operands
    reason = obstacle(operand.shape, instruction.shape)
    if reason:
        return Unknown(f"bitcast: no indexing map, because {reason}")
    return bitcast_of_shapes(operand.shape, instruction.shape)


def _slice(instruction: Instruction) -> OpIndexing:
    (operand,) = instruction.operands
    bounds = instruction.attributes["slice"]
    starts, limits, strides = ([triple[place] for triple in bounds] for place in range(3))
    return slice(_sizes(operand), starts, limits, strides)


def _concatenate(instruction: Instruction) -> OpIndexing:
    dimensions = instruction.attributes["dimensions"]
    if len(dimensions) != 1:
        raise ShapeError(f"concatenate: there are {len(dimensions)} dimensions; expected 1")
    return concatenate([_sizes(operand) for operand in instruction.operands], dimensions[0])


def _reduce(instruction: Instruction) -> OpIndexing:
    count = len(instruction.operands) // 2
    inputs = instruction.operands[:count]
    elementwise([_sizes(operand) for operand in inputs])
    _check_scalars("reduce", instruction.operands[count:])
    return reduce(_sizes(inputs[0]), instruction.attributes["dimensions"], len(inputs))


def _check_scalars(op: str, operands: Iterable[Instruction]) -> None:
    for operand in operands:
        if operand.shape.rank:
            raise ShapeError(f"{op}: %{operand.name} is {operand.shape}; expected a scalar")


_PAIRED: Final = (
    "lhs_contracting_dims",
    "rhs_contracting_dims",
    "lhs_batch_dims",
    "rhs_batch_dims",
)


def _dot(instruction: Instruction) -> OpIndexing:
    lhs, rhs = instruction.operands
    attributes = {name: instruction.attributes.get(name, ()) for name in _PAIRED}
    return dot(_sizes(lhs), _sizes(rhs), **attributes)


def _pad(instruction: Instruction) -> OpIndexing:
    operand, value = instruction.operands
    _check_scalars("pad", [value])
    return pad(_sizes(operand), instruction.attributes["padding"])


def _generated(instruction: Instruction) -> OpIndexing:
    return generated(_sizes(instruction))


Builder: TypeAlias = "Callable[[Instruction], OpIndexing | Unknown]"

BUILDERS: Final[Mapping[str, Builder]] = {
    **dict.fromkeys(sorted(ELEMENTWISE), _elementwise),
    **dict.fromkeys(("constant", "iota", "partition-id", "replica-id"), _generated),
    "bitcast": _bitcast,
    "bitcast-convert": _between_shapes(bitcast_convert),
    "broadcast": _broadcast,
    "concatenate": _concatenate,
    "dot": _dot,
    "pad": _pad,
    "reduce": _reduce,
    "reshape": _between_shapes(reshape),
    "reverse": _on_dimensions(reverse),
    "slice": _slice,
    "transpose": _on_dimensions(transpose),
}
"""Opcode -> maps of an operation whose results all depend on its operands in the same way."""


# Operations that pass arrays on as they are.

Route: TypeAlias = "tuple[int, int, int]"
"""``(output, operand, element)``: an array of the result is an array of an operand."""


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


def _through_tuple(instruction: Instruction) -> Iterator[Route]:
    """The arrays of all operands, in order."""
    elements = (
        (number, element)
        for number, operand in enumerate(instruction.operands)
        for element in range(len(arrays_of(operand.shape)))
    )
    return ((output, number, element) for output, (number, element) in enumerate(elements))


def _through_get_tuple_element(instruction: Instruction) -> Iterator[Route]:
    """The arrays of one element, which stand behind those of the elements before it."""
    (operand,) = instruction.operands
    before = operand.shape.elements[: instruction.attributes["index"]]
    first = sum(len(arrays_of(element)) for element in before)
    return ((output, 0, first + output) for output in range(len(arrays_of(instruction.shape))))


def _always(*routes: Route) -> Router:
    """The same routes for every instruction."""
    return lambda _: routes


Router: TypeAlias = "Callable[[Instruction], Iterable[Route]]"

ROUTES: Final[Mapping[str, Router]] = {
    "add-dependency": _always((0, 0, 0)),  # the value, and a token
    "after-all": _always(),
    "copy-done": _always((0, 0, 0)),
    "copy-start": _always((0, 0, 0), (1, 0, 0)),  # the copy, the operand itself, and a context
    "domain": _through_tuple,
    "get-tuple-element": _through_get_tuple_element,
    "opt-barrier": _through_tuple,
    "parameter": _always(),
    "tuple": _through_tuple,
}
"""Opcode -> which array of the result is which array of an operand."""


# Operations that call a computation with their operands as its arguments.

CALLS: Final[Mapping[str, str]] = {"call": "to_apply", "fusion": "calls"}
"""Opcode -> the attribute that holds the computation."""

SUPPORTED: Final = frozenset({*BUILDERS, *ROUTES, *CALLS})
"""Opcodes that have maps."""
