"""Counts the instructions of real modules that have maps, and the reasons why others have none.

    python -m benchmarks.coverage [FILE ...]

The default is the modules in tests/data/hlo, which JAX dumped for four targets. An instruction
counts as unknown if one of its answers is unknown, in either direction.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.read_hlo import text_of
from ops import Unknown, hlo, input_to_output, output_to_input
from ops.dependence.dependence import Indexings

MODULES = Path(__file__).parents[1] / "tests" / "data" / "hlo"
TARGETS = ("unoptimized", "cpu", "gpu", "tpu")


@dataclass(frozen=True)
class Coverage:
    """For each opcode: the number of instructions, the number of unknown ones, and the reasons."""

    instructions: Counter[str] = field(default_factory=Counter[str])
    unknown: Counter[str] = field(default_factory=Counter[str])
    reasons: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])

    def __add__(self, other: Coverage) -> Coverage:
        return Coverage(
            self.instructions + other.instructions,
            self.unknown + other.unknown,
            self.reasons + other.reasons,
        )

    @property
    def share_unknown(self) -> float:
        """The share of unknown instructions, not counting custom calls."""
        aside = {"custom-call": 0}
        unknown, all_ = (
            sum({**each, **aside}.values()) for each in (self.unknown, self.instructions)
        )
        return unknown / all_


def coverage_of(module: hlo.HloModule) -> Coverage:
    """The coverage of one module."""
    found = Coverage()
    for instruction in module.instructions:
        reasons = {
            _without_numbers(answer.reason)
            for answer in answers(instruction)
            if isinstance(answer, Unknown)
        }
        found.instructions[instruction.opcode] += 1
        found.unknown.update([instruction.opcode] if reasons else [])
        found.reasons.update((instruction.opcode, reason) for reason in reasons)
    return found


def answers(instruction: hlo.Instruction) -> Iterator[Indexings]:
    """All answers for one instruction, in both directions."""
    for output in range(len(instruction.shape.arrays)):
        yield from output_to_input(instruction, output).indexing
    for operand in range(len(instruction.operands)):
        yield from input_to_output(instruction, operand).indexing


def coverage_of_modules() -> Coverage:
    """The coverage of the modules in tests/data/hlo."""
    paths = (path for target in TARGETS for path in sorted((MODULES / target).glob("*.hlo.gz")))
    return sum(map(coverage_of_file, paths), Coverage())


def coverage_of_file(path: Path) -> Coverage:
    """The coverage of the module in a file."""
    return coverage_of(hlo.parse(text_of(path)))


def _without_numbers(reason: str) -> str:
    """The reason without sizes, so that reasons that differ only in sizes are counted together."""
    return re.sub(r"(?<= )\d+(?= )|(?<= )\d+$", "n", reason)


def table(coverage: Coverage) -> str:
    """A Markdown table: a row for each opcode that has unknown instructions, and for the rest."""
    head = "| opcode | instructions | with maps | unknown, and why |\n| --- | --- | --- | --- |"
    total = sum(coverage.instructions.values())
    known = total - sum(coverage.unknown.values())
    rows = [_row(coverage, opcode) for opcode in sorted(coverage.unknown)]
    count = sum(coverage.instructions[opcode] for opcode in coverage.unknown)
    others = f"{len(coverage.instructions) - len(coverage.unknown)} other opcodes"
    rows += [f"| {others} | {total - count} | {total - count} | |"]
    return "\n".join([head, *rows, f"| all | {total} | {known} | {total - known} |"])


def _row(coverage: Coverage, opcode: str) -> str:
    count, unknown = coverage.instructions[opcode], coverage.unknown[opcode]
    reasons = sorted((reason, n) for (of, reason), n in coverage.reasons.items() if of == opcode)
    why = "; ".join(f"{reason} ({n})" for reason, n in reasons)
    return (
        f"| `{opcode}` | {count} | {count - unknown} | {f'{unknown}: {why}' if unknown else ''} |"
    )


def main(paths: Iterable[str]) -> None:
    """Print the table of the modules in files."""
    given = [coverage_of_file(Path(path)) for path in paths]
    coverage = sum(given, Coverage()) if given else coverage_of_modules()
    print(table(coverage))
    print(f"\n{coverage.share_unknown:.2%} are unknown, custom calls aside")


if __name__ == "__main__":
    main(sys.argv[1:])
