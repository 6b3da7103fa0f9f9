"""Analyses for notebooks: the instructions of a module as a table, and the maps of one of them."""

from __future__ import annotations

from html import escape
from itertools import islice
from typing import TYPE_CHECKING, Final

from ops.rules.op_indexing import Unknown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ops.dependence.dependence import AnyDependence
    from ops.hlo import Instruction
    from ops.modules.analysis import InstructionAnalysis, ModuleAnalysis

_MOST: Final = 50
"""Instructions, and pairs of tensors, that are shown; of more it says that there are more."""

_COLUMNS: Final = ("computation", "instruction", "opcode", "shape")


def html_of_module(analysis: ModuleAnalysis) -> str:
    """The first instructions of a module, a row for each."""
    shown = list(islice(analysis.module.instructions, _MOST))
    more = len(analysis) - len(shown)
    rows = [_row("th", *_COLUMNS), *map(_row_of, shown)]
    rows += [f"<tr><td colspan='{len(_COLUMNS)}'>and {more} more</td></tr>"] if more else []
    return f"<div><p>{escape(repr(analysis))}</p><table>{''.join(rows)}</table></div>"


def html_of_instruction(part: InstructionAnalysis) -> str:
    """The maps from every result of an instruction to the operands that it needs."""
    pairs = [*islice(_pairs(part), _MOST + 1)]
    told = "".join(f"<p>{title}</p>{_html_of(answer)}" for title, answer in pairs[:_MOST])
    rest = "<p>and more</p>" if len(pairs) > _MOST else ""
    nothing = "" if pairs else "<p>depends on nothing</p>"
    return f"<div><p>{escape(repr(part))}</p>{told}{rest}{nothing}</div>"


def _row(cell: str, *texts: str) -> str:
    return f"<tr>{''.join(f'<{cell}>{escape(text)}</{cell}>' for text in texts)}</tr>"


def _row_of(instruction: Instruction) -> str:
    home, shape = instruction.computation.name, str(instruction.shape)
    return _row("td", home, instruction.name, instruction.opcode, shape)


def _pairs(part: InstructionAnalysis) -> Iterator[tuple[str, AnyDependence]]:
    """From which result to which operand, and the answer, where the operand is needed."""
    instruction = part.instruction
    count = len(instruction.shape.arrays)
    for output in range(count):
        result = f"result {output}" if count > 1 else "result"
        answers = part.output_to_input(output).indexing
        for number, answer in enumerate(answers):
            if answer != ():
                name = escape(instruction.operands[number].name)
                yield f"{result} to operand {number}, %{name}", answer


def _html_of(answer: AnyDependence) -> str:
    if isinstance(answer, Unknown):
        return f"<p>{escape(str(answer))}</p>"
    return "".join(way.simplify()._repr_html_() for way in answer)
