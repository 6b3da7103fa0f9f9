"""Searches for programs whose maps are wrong, each in a process that XLA may end."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

from benchmarks.fuzzing.program_checks import NotRunError, complaint
from benchmarks.fuzzing.program_families import FAMILIES
from benchmarks.fuzzing.programs import Program, drawn
from benchmarks.problems import seeded

CHUNK: Final = 50
"""So many programs share a process; XLA keeps what it compiled."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What was found out about one program, as it is written between processes."""

    number: int
    families: tuple[str, ...]
    not_run: int = 0
    reproducer: str = ""

    @property
    def line(self) -> str:
        """The answer as JSON."""
        return json.dumps([self.number, self.families, self.not_run, self.reproducer])

    @classmethod
    def read(cls, line: str) -> Answer:
        """The answer from JSON."""
        number, families, not_run, reproducer = json.loads(line)
        return cls(number, tuple(families), not_run, reproducer)


def search(seed: int, first: int, count: int, jobs: int) -> Iterator[Answer]:
    """The answers about programs with these numbers, in any order."""
    chunks = [
        (seed, number, min(CHUNK, first + count - number))
        for number in range(first, first + count, CHUNK)
    ]
    with ThreadPoolExecutor(jobs) as pool:
        for answers in pool.map(_in_process, chunks):
            yield from answers


def _in_process(chunk: tuple[int, int, int]) -> list[Answer]:
    """The answers of a process; where XLA ends it, another one goes on behind that program."""
    seed, first, count = chunk
    answers: list[Answer] = []
    while count:
        command = [sys.executable, "-m", "benchmarks.fuzzing.program_search"]
        ran = subprocess.run(
            [*command, *map(str, (seed, first, count))],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            check=False,
        )
        found = [Answer.read(line) for line in ran.stdout.splitlines() if line.startswith("[")]
        answers += found
        first, count = first + len(found), count - len(found)
        if count:
            answers.append(Answer(first, ("ended by XLA",), 2))
            first, count = first + 1, count - 1
    return answers


def answer(seed: int, number: int) -> Answer:
    """The answer about the program with this number."""
    program = drawn(seeded("programs", seed, number))
    not_run = 0
    for kind, text in program.texts().items():
        try:
            said = complaint(text, is_exact=_is_exact(program, kind))
        except NotRunError:
            not_run += 1
            continue
        if said:
            smallest = _smallest(seed, number, kind, program)
            return Answer(
                number, program.families, not_run, _row(f"{seed}/{number}", kind, *smallest)
            )
    return Answer(number, program.families, not_run)


def _is_exact(program: Program, kind: str) -> bool:
    """Whether all that is said must be felt; XLA compiles some sums into products with masks."""
    return program.is_exact and kind == "unoptimized"


def _smallest(seed: int, number: int, kind: str, program: Program) -> tuple[Program, str, str]:
    """The first steps that are wrong by themselves, their text, and what is wrong."""
    for most in range(1, len(program.steps) + 1):
        shorter = drawn(seeded("programs", seed, number), most=most)
        text = shorter.texts()[kind]
        try:
            said = complaint(text, is_exact=_is_exact(shorter, kind))
        except NotRunError:
            continue
        if said:
            return shorter, text, said
    raise AssertionError("the whole program was wrong")


def _row(origin: str, kind: str, program: Program, text: str, said: str) -> str:
    """A row of the table in tests/ops/test_programs_found_by_fuzzing.py."""
    name = f"{' '.join(program.families)}, {kind} {origin}"
    whole = text.strip().replace("\\", "\\\\")
    exact = _is_exact(program, kind)
    lines = [f"# {said}", "pytest.param(", f'    """{whole}""",', f"    {exact},"]
    return "\n".join(f"        {line}" for line in (*lines, f'    id="{name}",', "),"))


def counted(answers: list[Answer]) -> str:
    """How many programs have an operation of each family."""
    counts = Counter(name for each in answers for name in set(each.families))
    rows = [f"{name} {counts[name]}" for name in (*FAMILIES, "ended by XLA") if counts[name]]
    texts = sum(each.not_run for each in answers)
    return f"{', '.join(rows)}; {texts} of {2 * len(answers)} texts not run by XLA"


def main(arguments: list[str]) -> None:
    """Print the answers about some programs, one a line."""
    seed, first, count = map(int, arguments)
    for number in range(first, first + count):
        try:
            print(answer(seed, number).line, flush=True)
        except Exception as error:  # noqa: BLE001 - of JAX, which does not take every program
            said: Any = f"        # {type(error).__name__}: {error}"
            print(Answer(number, ("refused by JAX",), 2, said).line, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
