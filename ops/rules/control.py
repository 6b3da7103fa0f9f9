"""Instructions that pass arrays on, call computations, or make arrays from nothing."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, TypeAlias

from indexing.layout import ElementType
from ops import index_maps
from ops.hlo import Computation, HloModule, Instruction
from ops.hlo.attributes import COMMON_ATTRIBUTES
from ops.hlo.errors import AttributeValueError
from ops.hlo.opcodes import CALLEE_ATTRIBUTES, PASS_ELEMENTS
from ops.hlo.shape_inference import Application, Sized
from ops.index_maps import Sizes
from ops.rules import rule
from ops.rules.elementwise import ELEMENTWISE
from ops.rules.rule import Call, Calls, OpIndexing, OpRule, Route, sizes_of


def through_tuple(instruction: Instruction) -> Iterator[Route]:
    """The arrays of all operands, in order."""
    arrays = enumerate(rule.arrays_in_operands(instruction))
    return ((output, *array) for output, array in arrays)


def _through_get_tuple_element(instruction: Instruction) -> Iterator[Route]:
    """The arrays of one element, which follow those of the elements before it."""
    (operand,) = instruction.operands
    before = operand.shape.elements[: instruction.attributes["index"]]
    first = sum(len(element.arrays) for element in before)
    return ((output, 0, first + output) for output in range(len(instruction.shape.arrays)))


def _always(*routes: Route) -> rule.RoutesFunction:
    """The same routes for every instruction."""
    return lambda _: routes


def _with_all_operands(attribute: str, *, is_start: bool = False) -> rule.CallsFunction:
    """The computation in an attribute, with all operands as arguments."""

    def calls(instruction: Instruction) -> Calls:
        operands = tuple(range(len(instruction.operands)))
        return Calls((Call(instruction.attributes[attribute], operands),), is_start=is_start)

    return calls


def _branches(instruction: Instruction) -> Calls:
    """One branch for each operand after the first; the first chooses."""
    branches = enumerate(instruction.branches, start=1)
    return Calls(tuple(Call(branch, (number,)) for number, branch in branches), selector=0)


def _iterations(instruction: Instruction) -> Calls:
    """The body of a loop, which runs on its own result."""
    attributes = instruction.attributes
    return Calls((Call(attributes["body"], (0,)),), condition=attributes["condition"])


# Parts of asynchronous operations, and transfers. A start gives its operands, its results and a
# context; its end gives the results. Data from outside of the program depends on nothing in it.


def _from(first: Callable[[Instruction], int]) -> rule.RoutesFunction:
    """The result is the arrays of the operand from some number on, without tokens."""
    return lambda instruction: (
        (output, 0, first(instruction) + output)
        for output, array in enumerate(instruction.shape.arrays)
        if array.element_type is not ElementType.TOKEN
    )


_FIRST_ARRAYS: Final = _from(lambda _: 0)
_AFTER_OPERANDS: Final = _from(lambda instruction: len(instruction.shape.arrays))
"""Of a start, whose results follow as many operands."""
_AFTER_TUPLE: Final = _from(
    lambda instruction: len(instruction.operands[0].shape.elements[0].arrays)
)
"""Of a start, whose results follow the tuple of the operands."""


def _sent(instruction: Instruction) -> Iterator[Route]:
    """The arrays that are sent, as they are."""
    data, _ = instruction.operands
    return ((number, 0, number) for number in range(len(data.shape.arrays)))


_OF_NOTHING: Final = ("after-all", "infeed", "outfeed", "parameter", "recv", "send-done")
"""The opcodes of tokens, contexts and data from outside, which depend on nothing."""

_OF_FIRST_ARRAYS: Final = ("all-reduce-done", "async-update", "copy-done", "recv-done")


# Where an array is computed that is passed on: through tuples, calls, and loops that keep it.

Array: TypeAlias = "tuple[Instruction, int]"
"""An instruction, and the number of an array in its result, counted through nested tuples."""

Callers: TypeAlias = "tuple[Instruction, ...]"
"""Fusions, calls and loops, outermost first, in whose run an instruction is."""

RoutesOf: TypeAlias = "Callable[[Instruction], Iterable[Route] | None]"
"""The arrays that an instruction passes on; ``None`` if it is no such instruction."""


def standard_routes(instruction: Instruction) -> Iterable[Route] | None:
    """The arrays that an instruction passes on, as the library knows it; as a registry's do."""
    found = RULES.get(instruction.opcode)
    return found.routes(instruction) if found and found.routes else None


def source_of(
    array: Array, ends: Container[Instruction] = (), routes: RoutesOf = standard_routes
) -> Array:
    """The array that is passed on as this one, as far back as the program passes it on.

    Where the way comes to one of ``ends``, such as the state of a loop, it ends there.

    >>> from ops import hlo
    >>> module = hlo.parse('''HloModule m
    ... double { x = f32[] parameter(0) ROOT r = f32[] add(x, x) }
    ... ENTRY e { a = f32[] parameter(0) t = (f32[], f32[]) tuple(a, a)
    ...           b = f32[] get-tuple-element(t), index=1
    ...           ROOT c = f32[] call(b), to_apply=double }''')
    >>> source_of((module["b"], 0))
    (<%a = f32[] parameter(0)>, 0)
    >>> source_of((module["x"], 0))
    (<%a = f32[] parameter(0)>, 0)
    """
    while array[0] not in ends and (before := _passed_on(array, routes)) is not None:
        array = before
    return array


def routed_from(array: Array, routes: RoutesOf = standard_routes) -> Array:
    """The source of an array among the instructions of its own computation."""
    while (before := _routes(array[0], routes).get(array[1])) is not None:
        array = before
    return array


@lru_cache(maxsize=64)
def kept_by(body: Computation, routes: RoutesOf = standard_routes) -> frozenset[int]:
    """The numbers of the arrays in the state of a loop that its body passes on as they are."""
    start = body.parameters[0]
    return frozenset(
        number
        for number in range(len(start.shape.arrays))
        if source_of((body.root, number), (start,), routes) == (start, number)
    )


@lru_cache(maxsize=4)
def callers_in(module: HloModule) -> Mapping[Computation, list[Instruction]]:
    """Callers of each computation."""
    callers: dict[Computation, list[Instruction]] = {}
    for instruction in module.instructions:
        for callee in instruction.computations:
            callers.setdefault(callee, []).append(instruction)
    return callers


def only_caller(computation: Computation) -> Instruction | None:
    """The instruction that calls a computation, if there is exactly one."""
    callers = callers_in(computation.module).get(computation, ())
    return callers[0] if len(callers) == 1 else None


def outside(array: Array, callers: Callers) -> tuple[Array, Callers]:
    """The outermost array that gives an array its values in every run of its callers.

    The last of the callers runs the instruction. With the array come the callers that are left.
    """
    while True:
        instruction, _ = array
        if instruction.parameter_number is not None:
            before = argument_of(callers[-1], array) if callers else None
            left = callers[:-1]
        else:
            is_call = instruction.opcode in CALLEE_ATTRIBUTES
            before, left = None if is_call else _passed_on(array, standard_routes), callers
        if before is None:
            return array, callers
        array, callers = before, left


@lru_cache(maxsize=1 << 10)
def value_of_call(instruction: Instruction, callers: Callers) -> tuple[Array, Callers]:
    """Key of the value of an instruction, in the run that callers make."""
    first = callers[0] if callers else instruction
    while (caller := only_caller(first.computation)) is not None:
        callers, first = (caller, *callers), caller
    (source, number), left = outside((instruction, 0), callers)
    return (_alike(source.computation)[source], number), left


@lru_cache(maxsize=64)
def _alike(computation: Computation) -> Mapping[Instruction, Instruction]:
    """First instruction that computes the same of the same operands as each one."""
    found: dict[Instruction, Instruction] = {}
    first: dict[object, Instruction] = {}
    for each in computation.instructions:
        values = each.literal and each.literal.values
        given = ((name, str(each.attributes[name])) for name in sorted(each.attributes))
        named = tuple(pair for pair in given if pair[0] not in COMMON_ATTRIBUTES)
        key = each.opcode, each.shape, values, named, *map(found.__getitem__, each.operands)
        is_told = each.opcode in _TOLD_BY_OPERANDS and (values or not each.literal)
        found[each] = first.setdefault(key, each) if is_told else each
    return found


_TOLD_BY_OPERANDS: Final = (
    ELEMENTWISE
    | PASS_ELEMENTS
    | {"concatenate", "constant", "dynamic-slice", "get-tuple-element", "iota"}
)
"""The opcodes by which indices are computed: without calls, and the same every time."""


def argument_of(
    caller: Instruction, array: Array, routes: RoutesOf = standard_routes
) -> Array | None:
    """The argument of a caller for an array of a parameter; ``None`` if runs may differ in it."""
    parameter, number = array
    if caller.opcode == "while":
        is_kept = number in kept_by(caller.attributes["body"], routes)
        return (caller.operands[0], number) if is_kept else None
    if caller.opcode in CALLEE_ATTRIBUTES:
        return caller.operands[parameter.parameter_number or 0], number
    return None


def _passed_on(array: Array, routes: RoutesOf) -> Array | None:
    """The array that an instruction passes on as this; ``None`` if it computes it."""
    instruction, number = array
    if instruction.parameter_number is not None:
        caller = only_caller(instruction.computation)
        return argument_of(caller, array, routes) if caller else None
    if instruction.opcode == "while":
        is_kept = number in kept_by(instruction.attributes["body"], routes)
        return (instruction.operands[0], number) if is_kept else None
    callee = CALLEE_ATTRIBUTES.get(instruction.opcode)
    if callee is not None:
        return instruction.attributes[callee].root, number
    return _routes(instruction, routes).get(number)


@lru_cache(maxsize=1 << 8)
def _routes(instruction: Instruction, routes: RoutesOf) -> Mapping[int, Array]:
    """Sources of the arrays that an instruction passes on as they are."""
    return {
        output: (instruction.operands[operand], element)
        for output, operand, element in reversed([*(routes(instruction) or ())])
    }


# Tensors made from nothing, or from a few numbers: constants, iotas, random numbers.


def generated(output_sizes: Sizes) -> OpIndexing:
    """Makes a tensor from nothing: a constant, an iota.

    >>> generated((5, 111)).output_to_input
    ()
    """
    return OpIndexing(index_maps.checked_sizes("generated", "output", output_sizes))


def rng(output_sizes: Sizes, parameters: int = 2) -> OpIndexing:
    """Draws random numbers from a distribution with scalar parameters.

    Shapes:
        parameters: scalars, such as the bounds of a uniform distribution.
        result: ``output_sizes``.

    Source:
        XLA operation semantics, RngNormal and RngUniform.

    >>> print(rng((4,)).output_to_input[1])
    (d0) -> (), domain: d0 in [0, 3]
    """
    sizes = index_maps.checked_sizes("rng", "result", output_sizes)
    parameters = index_maps.checked_operand_count("rng", "parameters", parameters)
    return OpIndexing.between(sizes, *(index_maps.paired(sizes, ()),) * parameters)


def rng_bit_generator(state_sizes: Sizes, output_sizes: Sizes) -> tuple[OpIndexing, OpIndexing]:
    """Makes random bits and the next state from a state.

    The results are the next state and the bits. The algorithm is free: each element of either may
    depend on all of the state.

    Shapes:
        state, next state: ``state_sizes``.
        bits: ``output_sizes``.

    Source:
        XLA operation semantics, RngBitGenerator.

    >>> _, bits = rng_bit_generator((2,), (3, 5))
    >>> print(bits.output_to_input[0])
    (d0, d1)[s0] -> (s0), domain: d0 in [0, 2], d1 in [0, 4], s0 in [0, 1]
    """
    state = index_maps.checked_sizes("rng-bit-generator", "state", state_sizes)
    bits = index_maps.checked_sizes("rng-bit-generator", "result", output_sizes)
    return (
        OpIndexing.between(state, index_maps.paired(state, state)),
        OpIndexing.between(bits, index_maps.paired(bits, state)),
    )


# Reading instructions.


def _generated(instruction: Instruction) -> OpIndexing:
    return generated(sizes_of(instruction))


def _rng(instruction: Instruction) -> OpIndexing:
    rule.check_scalars("rng", instruction.operands)
    return rng(sizes_of(instruction), len(instruction.operands))


def _rng_bit_generator(instruction: Instruction) -> tuple[OpIndexing, ...]:
    """The bits alone, if the result is no tuple: so programs for TPUs write it."""
    bits = instruction.shape.arrays[-1]
    both = rng_bit_generator(sizes_of(instruction.operands[0]), bits.dimensions)
    return both if instruction.shape.is_tuple else both[1:]


def _tuple_shape(op: Application) -> Sized:
    return Sized.together(op.operands)


def _tuple_element_shape(op: Application) -> Sized:
    (operand,), index = op.operands, int(op.attributes["index"])
    if not 0 <= index < len(operand.shape.elements):
        raise AttributeValueError(f"{operand.shape} has no element {index}")
    return operand.element(index)


def _call_shape(op: Application) -> Sized:
    return Sized(op.attributes["to_apply"].root.shape, ())


def _conditional_shape(op: Application) -> Sized:
    several: Sequence[Any] = op.attributes.get("branch_computations", ())
    first = several[0] if several else op.attributes.get("true_computation")
    if first is None:
        raise AttributeValueError("expected attribute branch_computations or true_computation")
    return Sized(first.root.shape, ())


RULES: Final[Mapping[str, OpRule]] = {
    **dict.fromkeys(_OF_NOTHING, OpRule(routes=_always())),
    **dict.fromkeys(_OF_FIRST_ARRAYS, OpRule(routes=_FIRST_ARRAYS)),
    **dict.fromkeys(("domain", "opt-barrier"), OpRule(routes=through_tuple)),
    "tuple": OpRule(routes=through_tuple, shape=_tuple_shape),
    "add-dependency": OpRule(routes=_always((0, 0, 0))),  # the value, and a token
    "all-gather-done": OpRule(routes=_AFTER_OPERANDS),
    "async-done": OpRule(routes=_AFTER_TUPLE),
    "async-start": OpRule(calls=_with_all_operands("calls", is_start=True)),
    "collective-permute-done": OpRule(routes=_AFTER_OPERANDS),
    "conditional": OpRule(calls=_branches, shape=_conditional_shape),
    "copy-start": OpRule(routes=_always((0, 0, 0), (1, 0, 0))),  # the copy, and the operand
    "get-tuple-element": OpRule(routes=_through_get_tuple_element, shape=_tuple_element_shape),
    "send": OpRule(routes=_sent),
    "while": OpRule(calls=_iterations),
    "call": OpRule(calls=_with_all_operands("to_apply"), shape=_call_shape),
    "fusion": OpRule(calls=_with_all_operands("calls")),
    **dict.fromkeys(
        ("constant", "iota", "partition-id", "replica-id", "rng-get-and-update-state"),
        OpRule(_generated),
    ),
    "rng": OpRule(_rng),
    "rng-bit-generator": OpRule(_rng_bit_generator),
}
