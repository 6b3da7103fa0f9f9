"""The tables in docs/operations.md; run as a program, it writes them."""

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
from ops import Unknown, input_to_output, output_to_input
from ops.dependence.dependence import Indexings
from ops.dependence.operand_indexing import OperandIndexing
from ops.hlo import Instruction
from ops.rules.registry import CUSTOM_CALLS
from tests.ops.opcode_programs import PROGRAMS, Program
from tests.pages import with_generated

PAGE: Final = Path(__file__).parents[2] / "docs" / "operations.md"
OPERATIONS: Final = "operations"
COVERAGE: Final = "coverage"
"""The names of the marks between which something is generated."""

_WITHOUT_BUILDER: Final = {
    "passed on": "The identity: the operation passes arrays on unchanged.",
    "called computations": "The maps follow from the computations that the operation runs.",
    "custom calls": "Known targets: " + ", ".join(f"`{target}`" for target in CUSTOM_CALLS) + ".",
    "nothing": "Tokens, parameters, infeed and outfeed: no array depends on an operand.",
}
"""Families that no function in ``ops`` makes."""


def overview() -> str:
    """One row for each opcode: where its maps come from, and how much they say."""
    return "\n".join([_HEAD, *map(_row, PROGRAMS.values())])


_HEAD: Final = """| opcode | family | result to operands | operands to results |
| --- | --- | --- | --- |"""


def _row(program: Program) -> str:
    root = program.root
    back = [output_to_input(root, each).indexing for each in root.shape.array_indices]
    forth = [input_to_output(root, each).indexing for each in range(len(root.operands))]
    statuses = [_status(program, [*chain.from_iterable(answers)]) for answers in (back, forth)]
    if program.family == "custom calls":
        statuses = ["depends on the target"] * 2
    return f"| `{program.opcode}` | {program.family} | {' | '.join(statuses)} |"


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
    """A section for each family: what it means, its source, and the maps of an instruction."""
    families: dict[str, list[Program]] = defaultdict(list)
    for program in PROGRAMS.values():
        families[program.family].append(program)
    return "\n".join(chain.from_iterable(_section(*family) for family in sorted(families.items())))


def _section(family: str, programs: list[Program]) -> Iterator[str]:
    yield f"### {family if family in _WITHOUT_BUILDER else f'`{family}`'}\n"
    yield f"{_meaning(family)}\n"
    yield f"Opcodes: {', '.join(f'`{program.opcode}`' for program in programs)}.{_source(family)}\n"
    yield "```text"
    shown = programs if family == "called computations" else programs[:1]
    yield "\n\n".join("\n".join(_maps(program)) for program in shown)
    yield "```\n"


def _meaning(family: str) -> str:
    """What an operation means, in the words of its function."""
    return _WITHOUT_BUILDER.get(family) or _as_markdown(_docstring(family).split("\n\n")[0])


def _source(family: str) -> str:
    """Where that is written, if the function says it."""
    found = re.search(r"\nSource:\n(.*?)(\n\n|$)", _docstring(family), re.DOTALL)
    return f" Source: {_as_markdown(found[1])}" if found else ""


def _docstring(family: str) -> str:
    return inspect.getdoc(getattr(ops, family, None)) or ""


def _as_markdown(text: str) -> str:
    return re.sub(r":\w+:`", "`", " ".join(text.split()).replace("``", "`"))


def _maps(program: Program) -> Iterator[str]:
    """An instruction, and its maps from and to every operand."""
    yield program.body.rpartition("ROOT ")[2]
    yield from map_lines(program.root)


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
    return with_generated(page, OPERATIONS, f"{overview()}\n\n{examples()}")


def with_coverage(page: str, coverage: Coverage) -> str:
    share = f"Custom calls aside, {coverage.share_unknown:.2%} are unknown."
    return with_generated(page, COVERAGE, f"{table(coverage)}\n\n{share}\n")


if __name__ == "__main__":
    written = with_operations(PAGE.read_text("utf-8"))
    PAGE.write_text(with_coverage(written, coverage_of_modules()), "utf-8")
