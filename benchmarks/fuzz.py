"""Searches for expressions, programs and layouts that we get wrong; prints each as a test case.

    python -m benchmarks.fuzz --seconds 60 --seed 1 --kinds affine,symbolic
    python -m benchmarks.fuzz --programs --cases 2000 --jobs 2
    python -m benchmarks.fuzz --layouts --cases 10000

Every answer is compared with direct evaluation and isl. It must not cost more than the question. It
must not change when it is simplified again or after other work. The parser must read its text. The
search shrinks a failing case and prints it as a row of the table in
tests/simplifier/test_found_by_fuzzing.py. The exit status is 1 if a case fails.

``--programs`` makes programs of JAX from all families of operations, as written and as compiled for
the CPU, changes the elements of their inputs one by one, and compares what changes with the maps in
both directions. It prints how many programs have an operation of each family. ``--layouts``
compares offsets and maps of shapes with the memory that NumPy makes of them.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING

from benchmarks.fuzzing import layouts
from benchmarks.fuzzing.checks import complaint, complaints
from benchmarks.fuzzing.kinds import KINDS
from benchmarks.fuzzing.shrink import shrunk
from benchmarks.problems import seeded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmarks.fuzzing.case import Case


@dataclass(frozen=True, slots=True)
class Find:
    """A failure: the smallest case that shows it, the check that found it, and its message."""

    case: Case
    check: str
    complaint: str
    origin: str

    @property
    def reproducer(self) -> str:
        """A row of a table of tests, below a comment with the failure."""
        return f'    # {self.complaint}\n    pytest.param({self.case.row}, id="{self.origin}"),'


def main(arguments: list[str] | None = None) -> int:
    """Print the failures; return 1 if there are any."""
    options = _options(arguments)
    if options.programs:
        return _programs(options)
    if options.layouts:
        return _layouts(options)
    end, known = monotonic() + options.seconds, set[str]()
    cases, found = 0, 0
    for cases, number in enumerate(_numbers(options.first, options.cases), 1):
        fault = find(options.seed, number, options.kinds, known)
        if fault is not None:
            found += 1
            print(fault.reproducer, flush=True)
        if cases % 1000 == 0:
            print(f"{cases} cases, {found} found", file=sys.stderr)
        if monotonic() > end:
            break
    print(f"{cases} cases of seed {options.seed}: {found} found", file=sys.stderr)
    return 1 if found else 0


def _programs(options: argparse.Namespace) -> int:
    from benchmarks.fuzzing import program_search  # noqa: PLC0415 - JAX is an extra

    answers: list[program_search.Answer] = []
    for answer in program_search.search(
        options.seed, options.first, options.cases or 100, options.jobs
    ):
        answers.append(answer)
        if answer.reproducer:
            print(answer.reproducer, flush=True)
    found = sum(bool(answer.reproducer) for answer in answers)
    print(program_search.counted(answers), file=sys.stderr)
    print(f"{len(answers)} programs of seed {options.seed}: {found} found", file=sys.stderr)
    return 1 if found else 0


def _layouts(options: argparse.Namespace) -> int:
    numbers, found = range(options.first, options.first + (options.cases or 1000)), 0
    for number in numbers:
        shape = layouts.drawn(seeded("layouts", options.seed, number))
        said = layouts.complaint(shape)
        if said:
            found += 1
            print(f'    # {said}\n    pytest.param("{shape}", id="{options.seed}/{number}"),')
    print(f"{len(numbers)} layouts of seed {options.seed}: {found} found", file=sys.stderr)
    return 1 if found else 0


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=60, help="how long to search (60)")
    parser.add_argument("--cases", type=int, help="the largest number of cases")
    parser.add_argument("--seed", type=int, default=0, help="the seed of the cases (0)")
    parser.add_argument("--first", type=int, default=0, help="the number of the first case (0)")
    parser.add_argument("--kinds", type=_kinds, default=list(KINDS), help=", ".join(KINDS))
    parser.add_argument("--programs", action="store_true", help="search for programs (with JAX)")
    parser.add_argument("--layouts", action="store_true", help="search for layouts")
    parser.add_argument("--jobs", type=int, default=1, help="processes for programs (1)")
    return parser.parse_args(arguments)


def _kinds(text: str) -> list[str]:
    kinds = text.split(",")
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown:
        message = f"{unknown[0]!r} is no kind; expected some of {', '.join(KINDS)}"
        raise argparse.ArgumentTypeError(message)
    return kinds


def _numbers(first: int, count: int | None) -> Iterator[int]:
    number = first
    while count is None or number < first + count:
        yield number
        number += 1


def find(seed: int, number: int, kinds: Sequence[str], known: set[str]) -> Find | None:
    """The shrunk failure of the case with this number; ``None`` if there is no new one."""
    kind = kinds[number % len(kinds)]
    case = KINDS[kind](seeded(seed, number)).without_idle_variables()
    check, said = next(complaints(case), ("", ""))
    if not said or said in known:
        return None
    smallest = shrunk(case, lambda near: complaint(near, check) is not None)
    small_complaint = complaint(smallest, check) or said
    known.update((said, small_complaint))
    return Find(smallest, check, small_complaint, f"{check}, {kind} {seed}/{number}")


if __name__ == "__main__":
    sys.exit(main())
