"""Where an array is computed that is passed on: through tuples, calls, and loops that keep it."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeAlias

from ops.hlo.attributes import COMMON_ATTRIBUTES
from ops.rules import control
from ops.rules.elementwise import ELEMENTWISE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from ops.hlo import Computation, HloModule, Instruction
    from ops.rules.rule import Route

Array: TypeAlias = "tuple[Instruction, int]"
"""An instruction, and the number of an array in its result, counted through nested tuples."""

Callers: TypeAlias = "tuple[Instruction, ...]"
"""Fusions, calls and loops, outermost first, in whose run an instruction is."""

RoutesOf: TypeAlias = "Callable[[Instruction], Iterable[Route] | None]"
"""The arrays that an instruction passes on; ``None`` if it is no such instruction."""


def standard_routes(instruction: Instruction) -> Iterable[Route] | None:
    """The arrays that an instruction passes on, as the library knows it; as a registry's do."""
    rule = control.RULES.get(instruction.opcode)
    return rule.routes(instruction) if rule and rule.routes else None


def source_of(array: Array) -> Array:
    """The array that is passed on as this one, as far back as the program passes it on.

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
    while (before := _passed_on(array, standard_routes)) is not None:
        array = before
    return array


def source_within(start: Instruction, array: Array, routes: RoutesOf = standard_routes) -> Array:
    """The source of an array in a computation and what that calls, back to where it starts."""
    while array[0] is not start and (before := _passed_on(array, routes)) is not None:
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
        if source_within(start, (body.root, number), routes) == (start, number)
    )


@lru_cache(maxsize=4)
def callers_in(module: HloModule) -> Mapping[Computation, list[Instruction]]:
    """For each computation the instructions that call it."""
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
    """Where an array comes from, as far out of the callers as one array gives it in every run.

    The last of the callers runs the instruction. With the array come the callers that are left.
    """
    while True:
        instruction, _ = array
        if instruction.opcode == "parameter":
            before = argument_of(callers[-1], array) if callers else None
            left = callers[:-1]
        else:
            is_call = instruction.opcode in control.CALLEE_ATTRIBUTES
            before, left = None if is_call else _passed_on(array, standard_routes), callers
        if before is None:
            return array, callers
        array, callers = before, left


@lru_cache(maxsize=1 << 10)
def value_of_call(instruction: Instruction, callers: Callers) -> tuple[Array, Callers]:
    """What tells the value of an instruction, in the run that callers make, from all others."""
    first = callers[0] if callers else instruction
    while (caller := only_caller(first.computation)) is not None:
        callers, first = (caller, *callers), caller
    (source, number), left = outside((instruction, 0), callers)
    return (_alike(source.computation)[source], number), left


@lru_cache(maxsize=64)
def _alike(computation: Computation) -> Mapping[Instruction, Instruction]:
    """For each instruction the first that computes the same of the same operands."""
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


_TOLD_BY_OPERANDS: Final = ELEMENTWISE | {
    *("bitcast", "broadcast", "concatenate", "constant", "copy", "dynamic-slice", "iota"),
    *("get-tuple-element", "reshape", "reverse", "slice", "transpose"),
}
"""The opcodes by which indices are computed: without calls, and the same every time."""


def argument_of(
    caller: Instruction, array: Array, routes: RoutesOf = standard_routes
) -> Array | None:
    """What a caller passes as an array of a parameter; ``None`` if runs may differ in it."""
    parameter, number = array
    if caller.opcode == "while":
        is_kept = number in kept_by(caller.attributes["body"], routes)
        return (caller.operands[0], number) if is_kept else None
    if caller.opcode in control.CALLEE_ATTRIBUTES:
        return caller.operands[parameter.parameter_number or 0], number
    return None


def _passed_on(array: Array, routes: RoutesOf) -> Array | None:
    """The array that an instruction passes on as this; ``None`` if it computes it."""
    instruction, number = array
    if instruction.opcode == "parameter":
        caller = only_caller(instruction.computation)
        return argument_of(caller, array, routes) if caller else None
    if instruction.opcode == "while":
        is_kept = number in kept_by(instruction.attributes["body"], routes)
        return (instruction.operands[0], number) if is_kept else None
    callee = control.CALLEE_ATTRIBUTES.get(instruction.opcode)
    if callee is not None:
        return instruction.attributes[callee].root, number
    return _routes(instruction, routes).get(number)


@lru_cache(maxsize=1 << 8)
def _routes(instruction: Instruction, routes: RoutesOf) -> Mapping[int, Array]:
    """For each array that an instruction passes on as it is, where it comes from."""
    return {
        output: (instruction.operands[operand], element)
        for output, operand, element in reversed([*(routes(instruction) or ())])
    }
