"""HLO text from modules, in the form that XLA prints by default."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ops.hlo.attributes import ATTRIBUTES, MODULE_ATTRIBUTES, Reference
from ops.hlo.codecs import Format
from ops.hlo.lexer import escape

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.hlo.module import Computation, HloModule, Instruction


def instruction_text(instruction: Instruction) -> str:
    """``%b = f32[2]{0} reduce(%a, %zero), dimensions={1}, to_apply=%add``, on one line."""
    attributes = [
        f"{name}={_attribute_text(name, value)}" for name, value in instruction.attributes.items()
    ]
    return ", ".join([_definition(instruction, _arguments(instruction)), *attributes])


def definition_text(instruction: Instruction) -> str:
    """``%b = f32[2]{0} reduce(%a, %zero)``: no attributes, and no values of a large constant."""
    arguments = _arguments(instruction)
    is_large = instruction.literal is not None and len(arguments) > _LONGEST_LITERAL
    return _definition(instruction, "{...}" if is_large else arguments)


def _definition(instruction: Instruction, arguments: str) -> str:
    return f"%{instruction.name} = {instruction.shape} {instruction.opcode}({arguments})"


_LONGEST_LITERAL = 40


def computation_text(computation: Computation) -> str:
    """The head, and one line for each instruction."""
    parameters = ", ".join(
        f"{p.name}: {p.shape.text(layout=False)}" for p in computation.parameters
    )
    head = f"%{computation.name} ({parameters}) -> {computation.root.shape.text(layout=False)} {{"
    lines = [
        "  " + "ROOT " * instruction.is_root + str(instruction)
        for instruction in computation.instructions
    ]
    thread = computation.execution_thread
    tail = "}" if thread == "main" else f"}}, execution_thread={escape(thread)}"
    return "\n".join(["ENTRY " * computation.is_entry + head, *lines, tail])


def module_text(module: HloModule) -> str:
    """A text that reads back as the same module."""
    attributes = [
        f"{name}={MODULE_ATTRIBUTES[name].write(value)}"
        for name, value in module.attributes.items()
    ]
    head = ", ".join([f"HloModule {module.name}", *attributes])
    tables = [_table_text(name, rows) for name, rows in module.tables.items()]
    return "\n\n".join([head, *tables, *map(str, module.computations)]) + "\n"


def _table_text(name: str, rows: Mapping[int, str | Mapping[str, int]]) -> str:
    return "\n".join([name, *(f"{number} {_row_text(row)}" for number, row in rows.items())])


def _row_text(row: str | Mapping[str, int]) -> str:
    if isinstance(row, str):
        return escape(row)
    return f"{{{' '.join(f'{name}={value}' for name, value in row.items())}}}"


def _arguments(instruction: Instruction) -> str:
    if instruction.literal is not None:
        return instruction.literal.text
    if instruction.parameter_number is not None:
        return str(instruction.parameter_number)
    return ", ".join(f"%{operand.name}" for operand in instruction.operands)


def _attribute_text(name: str, value: Any) -> str:  # noqa: ANN401  (one type for each format)
    form = ATTRIBUTES[name]
    if isinstance(form, Format):
        return form.write(value)
    if form is Reference.LITERAL:
        return str(value)
    names = (
        f"%{value.name}"
        if form is Reference.COMPUTATION
        else ", ".join(f"%{item.name}" for item in value)
    )
    return names if form is Reference.COMPUTATION else f"{{{names}}}"
