"""The table of operations in docs/operations.md; run as a program, it writes it."""

from __future__ import annotations

import inspect
import re
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

import ops
from ops import Unknown, input_to_output, output_to_input
from ops.building import arrays_of
from tests.ops.operations import PROGRAMS, Program

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ops.answers import Answer
    from ops.hlo import Instruction

PAGE: Final = Path(__file__).parents[2] / "docs" / "operations.md"
START: Final = "<!-- operations -->\n"
END: Final = "<!-- end of operations -->\n"

_WITHOUT_BUILDER: Final = {
    "passed on": ("Arrays that are passed on as they are", "XLA's shape inference"),
    "called computations": ("What follows from the called computations", "XLA operation semantics"),
    "custom calls": ("Custom calls", "see below"),
    "nothing": ("What depends on no operand", "XLA operation semantics"),
}
"""Families that no builder makes: what they are, and where that is written."""


def overview() -> str:
    """One row for each opcode: where its maps come from, and how much they say."""
    return "\n".join([_HEAD, *map(_row, PROGRAMS.values())])


_HEAD: Final = (
    "| opcode | family | result to operands | operands to results |\n| --- | --- | --- | --- |"
)


def _row(program: Program) -> str:
    back, forth = _backward(program), _forward(program)
    return f"| `{program.opcode}` | {program.family} | {back} | {forth} |"


def _backward(program: Program) -> str:
    root = program.root
    outputs = range(len(arrays_of(root.shape)))
    return _status(
        program, [answer for k in outputs for answer in output_to_input(root, k).indexing]
    )


def _forward(program: Program) -> str:
    root = program.root
    operands = range(len(root.operands))
    return _status(
        program, [answer for k in operands for answer in input_to_output(root, k).indexing]
    )


def _status(program: Program, answers: Iterable[Answer]) -> str:
    """What the answers are together: exact maps, maps that hold more, none needed, or unknown."""
    reasons = {answer.reason: None for answer in answers if isinstance(answer, Unknown)}
    if reasons:
        return "unknown: " + "; ".join(reasons)
    if not any(answers):
        return "none"
    return f"may: {program.wider}" if program.wider else "exact"


# Each family with an example.


def examples() -> str:
    """A section for each family: what it means, its source, and the maps of an instruction."""
    families: dict[str, list[Program]] = defaultdict(list)
    for program in PROGRAMS.values():
        families[program.family].append(program)
    return "\n".join(
        line for family in sorted(families) for line in _section(family, families[family])
    )


def _section(family: str, programs: list[Program]) -> Iterator[str]:
    meaning, source = _described(family)
    yield f"### {family if family in _WITHOUT_BUILDER else f'`{family}`'}\n"
    yield f"{meaning}\n"
    yield f"Opcodes: {', '.join(f'`{program.opcode}`' for program in programs)}. Source: {source}\n"
    yield "```text"
    shown = programs if family == "called computations" else programs[:1]
    yield "\n\n".join("\n".join(_maps(program)) for program in shown)
    yield "```\n"


def _described(family: str) -> tuple[str, str]:
    """What an operation means, and where that is written, in words of its builder's docstring."""
    if family in _WITHOUT_BUILDER:
        meaning, source = _WITHOUT_BUILDER[family]
        return f"{meaning}.", f"{source}."
    text = inspect.getdoc(getattr(ops, family)) or ""
    found = re.search(r"\nSource:\n(.*?)(\n\n|$)", text, re.DOTALL)
    source = " ".join(found[1].split()) if found else "XLA operation semantics."
    return _as_markdown(text.split("\n\n")[0]), _as_markdown(source)


def _as_markdown(text: str) -> str:
    return " ".join(text.split()).replace("``", "`")


def _maps(program: Program) -> Iterator[str]:
    """An instruction, and its maps from and to every operand."""
    root = program.root
    yield program.body.rpartition("ROOT ")[2]
    names = _names(root)
    for output, name in enumerate(names):
        for operand, answer in enumerate(output_to_input(root, output).indexing):
            yield from _ways(f"{name} from", _names(root.operands[operand]), answer)
    for operand, given in enumerate(root.operands):
        for name, answer in zip(names, input_to_output(root, operand).indexing, strict=True):
            yield from _ways(f"{name} to", _names(given), answer)


def _names(instruction: Instruction) -> list[str]:
    """The names of the arrays in a result: with a number, where that is a tuple."""
    if not instruction.shape.is_tuple:
        return [instruction.name]
    return [f"{instruction.name}[{number}]" for number in range(len(arrays_of(instruction.shape)))]


def _ways(start: str, names: list[str], answer: Answer) -> Iterator[str]:
    if isinstance(answer, Unknown):
        yield f"{start} {', '.join(names)}: {answer}"
        return
    for way in answer:
        yield f"{start} {names[way.element]}: {way}"


def with_tables(page: str) -> str:
    """The page with what is generated between the two marks."""
    before, _, rest = page.partition(START)
    _, _, after = rest.partition(END)
    return f"{before}{START}\n{overview()}\n\n{examples()}\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text("utf-8")), "utf-8")
