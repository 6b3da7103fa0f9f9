"""The tables in docs/operations.md and the list beside it; run as a program, it writes them."""

from __future__ import annotations

import inspect
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Final

import ops
from benchmarks.coverage import Coverage, coverage_of_modules, table
from indexing.layout import ArrayShape
from ops import Unknown, input_to_output, output_to_input
from ops.cli.maps import short_text
from ops.dependence.dependence import Indexings
from ops.dependence.operand_indexing import OperandIndexing
from ops.hlo import Instruction
from ops.rules.registry import CUSTOM_CALLS
from tests.ops.opcode_programs import PROGRAMS, Program
from tests.pages import with_generated

PAGE: Final = Path(__file__).parents[2] / "docs" / "operations.md"
LIST: Final = PAGE.with_suffix(".txt")
"""Each family with an example."""
OPERATIONS: Final = "operations"
COVERAGE: Final = "coverage"
"""The names of the marks between which something is generated."""

_WITHOUT_BUILDER: Final = {
    "passed on": "The identity: the operation passes arrays on unchanged.",
    "called computations": "The maps follow from the computations that the operation runs.",
    "custom calls": "Known targets: " + ", ".join(CUSTOM_CALLS) + ".",
    "nothing": "Tokens, parameters, infeed and outfeed: no array depends on an operand.",
}
"""Families that no function in ``ops`` makes."""


def overview() -> str:
    """One row for each answer that is not exact, with its opcodes; last, how many are exact."""
    rows: dict[str, list[str]] = defaultdict(list)
    for program in PROGRAMS.values():
        rows[_answers(program)].append(f"`{program.opcode}`")
    rows[_EXACT] = [f"the {len(rows[_EXACT])} others"]
    answers = sorted(rows.items(), key=lambda each: each[0] == _EXACT)
    return "\n".join([_HEAD, *(f"| {', '.join(who)} | {says} |" for says, who in answers)])


_EXACT: Final = "exact | exact"


_HEAD: Final = """| opcodes | result to operands | operands to results |
| --- | --- | --- |"""


def _answers(program: Program) -> str:
    root = program.root
    back = [output_to_input(root, each).indexing for each in root.shape.array_indices]
    forth = [input_to_output(root, each).indexing for each in range(len(root.operands))]
    statuses = [_status(program, [*chain.from_iterable(answers)]) for answers in (back, forth)]
    if program.family == "custom calls":
        statuses = ["depends on the target"] * 2
    elif statuses[0] == statuses[1] and program.wider:
        statuses[1] = "the same"
    return " | ".join(statuses)


def _status(program: Program, answers: Sequence[Indexings]) -> str:
    """What the answers are together: exact maps, maps that hold more, none needed, or unknown."""
    reasons = {answer.reason: None for answer in answers if isinstance(answer, Unknown)}
    if reasons:
        return "unknown: " + "; ".join(reasons)
    if not any(answers):
        return "none"
    return f"may: {program.wider}" if program.wider else "exact"


# Each family with an example.


def examples() -> str:
    """A section for each family: what it means, its opcodes, and the maps of an instruction."""
    families: dict[str, list[Program]] = defaultdict(list)
    for program in PROGRAMS.values():
        families[program.family].append(program)
    return "\n".join(chain.from_iterable(_section(*family) for family in sorted(families.items())))


def _section(family: str, programs: list[Program]) -> Iterator[str]:
    yield f"{family}\n{'-' * len(family)}"
    yield f"{_meaning(family)}{_source(family)}"
    yield from filter(None, [_opcodes(family, programs)])
    shown = programs if family == "called computations" else programs[:1]
    yield "\n\n".join("\n".join(_maps(program)) for program in shown)
    yield ""


def _meaning(family: str) -> str:
    """What an operation means, in the words of its function."""
    return _WITHOUT_BUILDER.get(family) or _in_a_line(_docstring(family).split("\n\n")[0])


def _source(family: str) -> str:
    """Where that is written, if the function says it."""
    found = re.search(r"\nSource:\n(.*?)(\n\n|$)", _docstring(family), re.DOTALL)
    return f" Source: {_in_a_line(found[1])}" if found else ""


def _docstring(family: str) -> str:
    return inspect.getdoc(getattr(ops, family, None)) or ""


def _in_a_line(text: str) -> str:
    return re.sub(r":\w+:`(\w+)`", r"\1", " ".join(text.split()).replace("``", ""))


def _opcodes(family: str, programs: list[Program]) -> str:
    """The opcodes of a family, if they are not its name."""
    opcodes = [program.opcode for program in programs]
    if opcodes == [family.replace("_", "-")]:
        return ""
    return f"Opcodes: {', '.join(opcodes)}."


def _maps(program: Program) -> Iterator[str]:
    """An instruction, and the maps from its result; operands with the same maps share lines."""
    yield program.body.rpartition("ROOT ")[2]
    arrays: dict[tuple[str, str], list[str]] = defaultdict(list)
    root = program.root
    for output, (name, result) in enumerate(zip(_names(root), root.shape.arrays, strict=True)):
        for operand, answer in zip(
            root.operands, output_to_input(root, output).indexing, strict=True
        ):
            for way in _ways(answer):
                arrays[name, _short(way, result, operand)].append(_names(operand)[way.element])
    for (name, text), operands in arrays.items():
        yield f"{name} -> {', '.join(dict.fromkeys(operands))}: {text}"


def _short(way: OperandIndexing, result: ArrayShape, operand: Instruction) -> str:
    """A map without the bounds that the shapes tell, and the notes on its variables."""
    array = operand.shape.arrays[way.element]
    text = short_text(way.map, (result.dimensions, array.dimensions))
    return "\n".join([text, *(f"{name}: {note}" for name, note in way.notes())])


def map_lines(root: Instruction) -> Iterator[str]:
    """The maps from every array of the result to every array of the operands, and back."""
    names = _names(root)
    for output, name in enumerate(names):
        for operand, answer in enumerate(output_to_input(root, output).indexing):
            for way in _ways(answer):
                yield f"{name} -> {_names(root.operands[operand])[way.element]}: {way}"
    for operand, given in enumerate(root.operands):
        for name, answer in zip(names, input_to_output(root, operand).indexing, strict=True):
            for way in _ways(answer):
                yield f"{_names(given)[way.element]} -> {name}: {way}"


def _names(instruction: Instruction) -> list[str]:
    """The names of the arrays in a result: with a number, where that is a tuple."""
    if not instruction.shape.is_tuple:
        return [instruction.name]
    return [f"{instruction.name}[{number}]" for number in range(len(instruction.shape.arrays))]


def _ways(answer: Indexings) -> list[OperandIndexing]:
    """The maps that have points."""
    ways = () if isinstance(answer, Unknown) else answer
    return [way for way in ways if not way.map.is_known_empty]


def with_operations(page: str) -> str:
    return with_generated(page, OPERATIONS, f"{overview()}\n")


def with_coverage(page: str, coverage: Coverage) -> str:
    share = f"Custom calls aside, {coverage.share_unknown:.2%} are unknown."
    return with_generated(page, COVERAGE, f"{table(coverage)}\n\n{share}\n")


if __name__ == "__main__":
    LIST.write_text(examples(), "utf-8")
    written = with_operations(PAGE.read_text("utf-8"))
    PAGE.write_text(with_coverage(written, coverage_of_modules()), "utf-8")
