"""Counts the fusions of real modules that `ops.emit_kernel` writes, and why it refuses others.

    python -m benchmarks.emitted [LANGUAGE ...]

The fusions are those of tests/data/hlo; fusions that differ in names and metadata alone count once.
The default language is Triton.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

import ops
from benchmarks.coverage import MODULES
from ops import hlo
from ops.hlo import Computation, Instruction
from ops.kernels import KernelError

TARGETS: Final = ("cpu", "gpu", "tpu", "printing_styles")
"""The folders of modules that have fusions."""

_NOTES: Final = re.compile(r', metadata=\{(?:[^{}"]|"(?:[^"\\]|\\.)*")*\}|, backend_config=\{.*\}')
_NAME: Final = re.compile(r"%[\w.-]+")
_SHAPE: Final = re.compile(r"(\w+)\[[\d,]*\](\{[^}]*\})?")


def fusions(targets: Iterable[str] = TARGETS) -> list[Instruction]:
    """A fusion of each kind in the modules of some targets."""
    found: dict[str, Instruction] = {}
    for path in sorted(path for each in targets for path in (MODULES / each).glob("*.hlo.gz")):
        for each in hlo.load(path).find(opcode="fusion"):
            found.setdefault(_key_of(each.attributes["calls"]), each)
    return [*found.values()]


def _key_of(computation: Computation) -> str:
    """The text of a computation and of those that it calls, without names and metadata."""
    numbers: dict[str, str] = {}
    text = "\n".join(map(str, _called_by(computation)))
    return _NAME.sub(
        lambda name: numbers.setdefault(name[0], f"%{len(numbers)}"), _NOTES.sub("", text)
    )


def _called_by(computation: Computation) -> Iterator[Computation]:
    for instruction in computation.instructions:
        for each in instruction.computations:
            yield from _called_by(each)
    yield computation


def refusals(given: Iterable[Instruction], language: str) -> Counter[str]:
    """How many fusions are refused, by the reason; those that are written have none."""
    found: Counter[str] = Counter()
    for each in given:
        try:
            ops.emit_kernel(each, language)
            found[""] += 1
        except KernelError as error:
            found[_SHAPE.sub(r"\1", str(error).split(": ", 2)[-1])] += 1
    return found


def main(languages: list[str]) -> None:
    """Print a table for each language."""
    given = fusions()
    for language in languages or ["triton"]:
        found = refusals(given, language)
        print(f"{language}: {found.pop('', 0)} of {len(given)} fusions are written")
        for reason, count in found.most_common():
            print(f"{count:6} {reason}")


if __name__ == "__main__":
    main(sys.argv[1:])
