"""Conditions on an instruction beyond the grammar, so that later code need not check them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from indexing.layout import ElementType, Shape
from ops.hlo.attributes import CALLED_ATTRIBUTES
from ops.hlo.errors import AttributeValueError
from ops.hlo.module import Computation, Instruction
from ops.hlo.opcodes import FIRST_START, Arity


def verify(instruction: Instruction) -> None:
    """Check that operands, attributes and shape of an instruction fit together.

    Raises:
        AttributeValueError: they do not.
    """
    check = _CHECKS.get(instruction.opcode)
    if check:
        check(instruction)
    if instruction.opcode in _CALLERS:
        _check_computations(instruction)


def signature(
    opcode: str, attribute: str, operands: Sequence[Shape], result: Shape, place: int = 0
) -> tuple[Sequence[Shape], Shape]:
    """Types of arguments and results of the ``place``-th computation in an attribute.

    >>> vector, scalar = map(Shape.parse, ("f32[8]", "f32[]"))
    >>> (one, other), given = signature("reduce", "to_apply", [vector, scalar], scalar)
    >>> print(one, other, given)
    f32[] f32[] f32[]
    """
    if opcode == "conditional":
        first = 1 + place + (attribute == "false_computation")
        return operands[first : first + 1], result
    if opcode not in _ON_ELEMENTS:
        started = result.elements[1:2] if opcode == "async-start" else ()
        return operands, _PREDICATE if attribute == "condition" else (*started, result)[0]
    elements = [*map(_element, operands)]
    if opcode == "sort":
        return [each for each in elements for _ in range(2)], _PREDICATE
    if opcode in _COMBINING:
        return elements[:1] * 2, _PREDICATE if attribute == "select" else [*elements, result][0]
    indices = len(elements) // 2 if opcode == "scatter" else len(elements)
    return elements[:indices] + elements[indices + 1 :], _element(result)


_COMBINING: Final = frozenset(
    ("all-reduce", "all-reduce-start", "collective-reduce", "reduce-scatter", "select-and-scatter")
)
_ON_ELEMENTS: Final = _COMBINING | {"map", "reduce", "reduce-window", "scatter", "sort"}
"""Opcodes that run a computation on elements: on two of one operand, or on one of each."""

_CALLERS: Final = _ON_ELEMENTS - _COMBINING | {
    *("async-start", "call", "conditional", "fusion", "select-and-scatter", "while")
}
"""Opcodes that run computations that are looked at."""

_EXACT: Final = frozenset(("call", "conditional", "fusion", "while"))
"""Those that pass their operands on, and the result: the types of elements may differ."""


def _check_computations(instruction: Instruction) -> None:
    """Check the types of arguments and results of each computation of an instruction."""
    opcode, shapes = instruction.opcode, [each.shape for each in instruction.operands]
    for name in filter(CALLED_ATTRIBUTES.__contains__, instruction.attributes):
        value: Computation | tuple[Computation, ...] = instruction.attributes[name]
        for place, called in enumerate(value if isinstance(value, tuple) else (value,)):
            taken, given = signature(opcode, name, shapes, instruction.shape, place)
            _check_arity(called, len(taken))
            for number in range(len(taken) if opcode in _EXACT else 0):
                what = f"parameter {number} of %{called.name} is"
                _check_like(what, called.parameters[number].shape, taken[number])
            if opcode in _EXACT or given is _PREDICATE:
                _check_like(f"computation %{called.name} gives", called.root.shape, given)


def _element(shape: Shape) -> Shape:
    """An element of an array, or of each array of a tuple."""
    if shape.is_tuple:
        return Shape.of_tuple([_element(each) for each in shape.elements])
    return Shape(shape.element_type) if shape.is_array else shape


def _reshape(instruction: Instruction) -> None:
    operand, result = instruction.operands[0].shape, instruction.shape
    if operand.is_unbounded or result.is_unbounded:
        return
    if not operand.is_array or not result.is_array:
        message = f"reshape makes an array from an array, but not {result} from {operand}"
        raise AttributeValueError(message)
    if operand.element_count != result.element_count:
        raise AttributeValueError(
            f"reshape keeps the number of elements, but {operand} has {operand.element_count} "
            f"and {result} has {result.element_count}"
        )


def _get_tuple_element(instruction: Instruction) -> None:
    shape, result = instruction.operands[0].shape, instruction.shape
    index: int = instruction.attributes["index"]
    if not shape.is_tuple:
        message = f"get-tuple-element takes an element of a tuple, but the operand is {shape}"
        raise AttributeValueError(message)
    if not 0 <= index < len(shape.elements):
        raise AttributeValueError(f"the tuple {shape} has no element {index}")
    _check_like(f"element {index} of the operand is", shape.elements[index], result)


def _infeed(instruction: Instruction) -> None:
    shape = instruction.shape
    if not shape.is_tuple or not shape.elements:
        raise AttributeValueError(f"infeed makes a tuple of the data and a token, not {shape}")


def _tuple(instruction: Instruction) -> None:
    _check_elements(instruction.shape, instruction)


def _check_elements(shape: Shape, instruction: Instruction) -> None:
    """A tuple has one element for each operand."""
    count = len(instruction.operands)
    if len(shape.elements if shape.is_tuple else ()) != count:
        raise AttributeValueError(f"{shape} does not have one element for each of {count} operands")


def _start_indices(instruction: Instruction) -> None:
    """The last operands are one start index for each dimension, or one for all of them."""
    given = len(instruction.operands) - FIRST_START[instruction.opcode]
    shape = instruction.operands[0].shape
    is_vector = given == 1 and instruction.operands[-1].shape.rank == 1
    if given != shape.rank and not is_vector:
        raise AttributeValueError(f"{shape} takes {shape.rank} start indices, not {given}")


def _check_like(what: str, found: Shape, expected: Shape) -> None:
    if not found.is_compatible_with(expected):
        raise AttributeValueError(f"{what} {found}, not {expected}")


def _sort(instruction: Instruction) -> None:
    _check_axes(instruction.attributes["dimensions"], "dimensions", instruction.operands[0].shape)


def _iota(instruction: Instruction) -> None:
    _check_axes((instruction.attributes["iota_dimension"],), "iota_dimension", instruction.shape)


def _check_axes(axes: Sequence[int], name: str, shape: Shape) -> None:
    for axis in axes:
        if not 0 <= axis < shape.rank:
            message = f"{name} is {axis}, but {shape} has rank {shape.rank}"
            raise AttributeValueError(message)


def _compare(instruction: Instruction) -> None:
    if instruction.shape.element_type is not ElementType.PRED:
        raise AttributeValueError(f"compare gives an array of pred, not {instruction.shape}")


def _select(instruction: Instruction) -> None:
    predicate = instruction.operands[0].shape
    if predicate.element_type is not ElementType.PRED:
        raise AttributeValueError(f"select chooses by an array of pred, not by {predicate}")


def _check_arity(computation: Computation, count: int) -> None:
    taken = Arity(len(computation.parameters))
    if count not in taken:
        message = f"computation %{computation.name} takes {taken}, not {count}"
        raise AttributeValueError(message)


def _parameter(instruction: Instruction) -> None:
    flags = instruction.attributes.get("parameter_replication")
    if flags is None:
        return
    count = len(instruction.shape.arrays)
    if len(flags) != count:
        raise AttributeValueError(
            f"parameter_replication has {len(flags)} entries for {count} arrays of the parameter"
        )


def _custom_call(instruction: Instruction) -> None:
    constraints = instruction.attributes.get("operand_layout_constraints")
    if constraints is None:
        return
    count = len(instruction.operands)
    if len(constraints) != count:
        message = f"operand_layout_constraints has {len(constraints)} shapes for {count} operands"
        raise AttributeValueError(message)
    for operand, constraint in zip(instruction.operands, constraints, strict=True):
        if not constraint.is_compatible_with(operand.shape):
            message = f"operand %{operand.name} is {operand.shape}, not {constraint}"
            raise AttributeValueError(f"{message} as operand_layout_constraints says")


def _conditional(instruction: Instruction) -> None:
    index = instruction.operands[0].shape
    by_type = {ElementType.PRED: "true_computation", ElementType.S32: "branch_computations"}
    if index.rank or index.element_type not in by_type:
        raise AttributeValueError(f"the first operand is {index}; expected pred[] or s32[]")
    if by_type[index.element_type] not in instruction.attributes:
        raise AttributeValueError(f"a conditional by {index} has {by_type[index.element_type]}")
    count, given = len(instruction.branches), len(instruction.operands) - 1
    if count != given:
        raise AttributeValueError(f"there are {count} branches, but {given} operands for them")


def _async_start(instruction: Instruction) -> None:
    shape = instruction.shape
    elements = shape.elements if shape.is_tuple else ()
    if len(elements) < 2 or not elements[0].is_tuple:  # noqa: PLR2004  (operands and outputs)
        message = f"the shape of a start is ((operands), outputs, state...), not {shape}"
        raise AttributeValueError(message)
    _check_elements(elements[0], instruction)


def _async_successor(instruction: Instruction) -> None:
    operand = instruction.operands[0]
    if operand.opcode not in {"async-start", "async-update"}:
        name = instruction.opcode
        message = f"{name} continues an asynchronous operation, not {operand.opcode}"
        raise AttributeValueError(message)
    if instruction.opcode == "async-update" and instruction.shape != operand.shape:
        message = f"an update has the shape of its operand, {operand.shape}"
        raise AttributeValueError(f"{message}, not {instruction.shape}")
    thread = instruction.attributes.get("async_execution_thread")
    started_in = _thread(operand)
    if thread not in {None, started_in}:
        raise AttributeValueError(f"the operation runs in thread {started_in}, not {thread}")
    called, started = instruction.attributes["calls"], operand.attributes["calls"]
    if called is not started:
        raise AttributeValueError(f"the operand calls %{started.name}, not %{called.name}")


def _thread(instruction: Instruction) -> str:
    """The thread that an asynchronous operation was started in."""
    while instruction.opcode == "async-update":
        instruction = instruction.operands[0]
    return instruction.attributes.get("async_execution_thread", "main")


_PREDICATE = Shape(ElementType.PRED)

_CHECKS: dict[str, Callable[[Instruction], None]] = {
    "async-done": _async_successor,
    "async-start": _async_start,
    "async-update": _async_successor,
    "compare": _compare,
    "conditional": _conditional,
    "custom-call": _custom_call,
    **dict.fromkeys(FIRST_START, _start_indices),
    "get-tuple-element": _get_tuple_element,
    "infeed": _infeed,
    "iota": _iota,
    "parameter": _parameter,
    "reshape": _reshape,
    "select": _select,
    "sort": _sort,
    "tuple": _tuple,
}
