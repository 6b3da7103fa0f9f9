"""A computation of a module, such as a fused one, as a program of its own that JAX can run.

Operands and results are arrays, one for each array in a tuple. Layouts are left out, since a
program is handed over without them; what looks at layouts, a bitcast, becomes a table of where its
elements are in the memory of its operand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from indexing.layout import ElementType, Shape, linear_index
from ops.hlo import Computation, Instruction
from simplifier.tools.graphs import postorder
from tests.ops.oracle import Array

ABOUT_THE_TARGET = frozenset({"sharding", "backend_config", "metadata", "frontend_attributes"})
"""Attributes that are nothing to the values."""


def standalone(computation: Computation, watched: Sequence[Instruction] = ()) -> str:
    """The text of a module that runs a computation.

    The results are the arrays of its root, and then those of instructions that are ``watched``.
    """
    inner = (body for body in postorder([computation], _callees) if body is not computation)
    bodies = [f"{body.name} {{\n{_lines(body)}\n}}\n" for body in inner]
    results = _results([computation.root, *watched])
    entry = "\n".join([*_parameters(computation), _lines(computation, is_entry=True), *results])
    return "\n".join(["HloModule standalone", *bodies, f"ENTRY standalone {{\n{entry}\n}}\n"])


def leading_to(instruction: Instruction) -> Computation:
    """What of a computation is needed for one of its instructions, as a computation."""
    copies = tuple(map(replace, postorder([instruction], lambda each: each.operands)))
    return Computation(f"to.{instruction.name}", copies, copies[-1])


def inputs_of(computation: Computation) -> list[tuple[Instruction, int]]:
    """The arrays in the parameters, in the order in which the program takes them."""
    pairs = ((each, range(len(each.shape.arrays))) for each in computation.parameters)
    return [(parameter, element) for parameter, numbers in pairs for element in numbers]


def shapes_of_inputs(computation: Computation) -> list[Shape]:
    return [parameter.shape.arrays[number] for parameter, number in inputs_of(computation)]


def _callees(computation: Computation) -> Iterator[Computation]:
    for instruction in computation.instructions:
        for value in instruction.attributes.values():
            several = cast("tuple[Any, ...]", value if isinstance(value, tuple) else (value,))
            yield from (each for each in several if isinstance(each, Computation))


def _lines(computation: Computation, *, is_entry: bool = False) -> str:
    lines: list[str] = []
    for instruction in computation.instructions:
        if is_entry and instruction.parameter_number is not None:
            continue
        *before, last = _written(instruction)
        is_root = instruction.is_root and not is_entry
        lines += [*before, f"ROOT {last}" if is_root else last]
    return "\n".join(lines)


def _written(instruction: Instruction) -> list[str]:
    target = instruction.attributes.get("custom_call_target", instruction.opcode)
    rewrite = _REWRITTEN.get(target)
    if rewrite:
        return rewrite(instruction)
    target, shape = instruction.shape.element_type, _plain(instruction.shape)
    converted: list[str] = []
    operands = list(instruction.operands)
    for place, operand in enumerate(operands) if instruction.opcode in _MOVES else ():
        if operand.shape.element_type not in (target, ElementType.PRED):
            into = _plain(operand.shape.with_element_type(target))
            operands[place] = replace(operand, name=f"{instruction.name}.{place}", shape=into)
            converted.append(f"%{instruction.name}.{place} = {into} convert(%{operand.name})")
    attributes = instruction.attributes.items()
    kept = {name: value for name, value in attributes if name not in ABOUT_THE_TARGET}
    plain = replace(instruction, shape=shape, operands=tuple(operands), attributes=kept)
    return [*converted, str(plain)]


_MOVES = {"broadcast", "concatenate", "copy", "pad", "reshape", "select", "slice", "transpose"}
"""What may also convert the elements that it moves, for a TPU."""


def _called(instruction: Instruction) -> list[str]:
    attributes = {"to_apply": instruction.attributes["calls"]}
    shape = _plain(instruction.shape)
    return [str(replace(instruction, opcode="call", shape=shape, attributes=attributes))]


def _itself(instruction: Instruction) -> list[str]:
    (operand,) = instruction.operands
    return [f"%{instruction.name} = {_plain(instruction.shape)} copy(%{operand.name})"]


def _copied(instruction: Instruction) -> list[str]:
    """A copy that runs beside others is done at once; its start has a number as its context."""
    name, shape, (operand,) = instruction.name, _plain(instruction.shape), instruction.operands
    if instruction.opcode == "copy-done":
        return [f"%{name} = {shape} get-tuple-element(%{operand.name}), index=0"]
    made = f"%{name} = {shape} tuple(%{operand.name}, %{operand.name}, %{name}.context)"
    return [f"%{name}.context = u32[] constant(0)", made]


def _plain(shape: Shape) -> Shape:
    """The shape in the layout that it has if nobody says which."""
    return Shape.parse(shape.text(layout=False))


def _parameters(computation: Computation) -> Iterator[str]:
    """The arrays that the program takes, and the tuples that the computation takes."""
    for number, (parameter, element) in enumerate(inputs_of(computation)):
        name = f"{parameter.name}.{element}" if parameter.shape.is_tuple else parameter.name
        array = _plain(parameter.shape.arrays[element])
        yield f"%{name} = {array} parameter({number})"
    for parameter in computation.parameters:
        if parameter.shape.is_tuple:
            numbers = iter(range(len(parameter.shape.arrays)))
            yield from _tuple(parameter.name, parameter.shape, parameter.name, numbers)


def _tuple(name: str, shape: Shape, stem: str, numbers: Iterator[int]) -> Iterator[str]:
    """The instructions that make a tuple of arrays, which bear a stem and numbers."""
    names: list[str] = []
    for place, element in enumerate(shape.elements):
        if element.is_tuple:
            names.append(f"{name}.of{place}")
            yield from _tuple(names[-1], element, stem, numbers)
        else:
            names.append(f"{stem}.{next(numbers)}")
    yield f"%{name} = {_plain(shape)} tuple({', '.join(f'%{each}' for each in names)})"


def _results(instructions: Sequence[Instruction]) -> list[str]:
    """The root: one tuple of all arrays of the results of instructions."""
    lines: list[str] = []
    found = [each for one in instructions for each in _taken_apart(one.name, one.shape, lines)]
    shapes = ", ".join(shape.text(layout=False) for _, shape in found)
    names = ", ".join(f"%{name}" for name, _ in found)
    return [*lines, f"ROOT %all.results = ({shapes}) tuple({names})"]


def _taken_apart(name: str, shape: Shape, lines: list[str]) -> Iterator[tuple[str, Shape]]:
    """The arrays of a value, which the lines take out of tuples."""
    if not shape.is_tuple:
        yield name, shape
    for number, part in enumerate(shape.elements if shape.is_tuple else ()):
        inner = f"{name}.part{number}"
        lines.append(f"%{inner} = {_plain(part)} get-tuple-element(%{name}), index={number}")
        yield from _taken_apart(inner, part, lines)


def _bitcast(instruction: Instruction) -> list[str]:
    (operand,) = instruction.operands
    name, source, shape = instruction.name, operand.shape, instruction.shape
    if source.element_type is not shape.element_type:
        converted = f"{shape.element_type}[{','.join(map(str, shape.dimensions))}]"
        if source.dimensions != shape.dimensions:
            raise NotImplementedError(f"a bitcast from {source} to {shape}")
        return [f"%{name} = {converted} bitcast-convert(%{operand.name})"]
    table = places_in_memory(source, shape)
    if np.array_equal(table, np.arange(source.element_count)):
        return [f"%{name} = {_plain(shape)} reshape(%{operand.name})"]
    kind, count = shape.element_type, len(table)
    rows = ", ".join(f"{{{number}}}" for number in table.tolist())
    return [
        f"%{name}.flat = {kind}[{source.element_count}] reshape(%{operand.name})",
        f"%{name}.table = s32[{count},1] constant({{{rows}}})",
        f"%{name}.taken = {kind}[{count}] gather(%{name}.flat, %{name}.table), {_ONE_BY_ONE}",
        f"%{name} = {_plain(shape)} reshape(%{name}.taken)",
    ]


_ONE_BY_ONE = """offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1,
  slice_sizes={1}"""


def places_in_memory(source: Shape, shape: Shape) -> Array:
    """For each element of an array, by its number, that of the one at its place in ``source``."""
    there, here = (_offsets(each) for each in (source, shape))
    at = {offset: number for number, offset in enumerate(there.tolist())}
    return np.array([at[offset] for offset in here.tolist()], dtype=np.int64)


def _offsets(shape: Shape) -> Array:
    index: Any = [axis.ravel() for axis in np.indices(shape.dimensions)]
    return np.broadcast_to(linear_index(index, shape), (shape.element_count,))


_REWRITTEN: Mapping[str, Callable[[Instruction], list[str]]] = {
    "AssumeGatherIndicesInBound": _itself,
    "bitcast": _bitcast,
    "copy-done": _copied,
    "copy-start": _copied,
    "fusion": _called,
}
