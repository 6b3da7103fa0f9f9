"""Looks for expressions that the simplifier gets wrong, and makes each into a test case.

    python -m benchmarks.fuzz --seconds 60 --seed 1 --kinds affine,symbolic

Every answer is held against direct evaluation and isl, must never cost more than the question, must
not change when it is simplified again or after other work, and its text must be read back. What is
found is made small and printed as a row of the table in tests/simplifier/test_found_by_fuzzing.py.
The exit status is 1 where something was found.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING

from benchmarks.fuzzing.checks import complaint, complaints
from benchmarks.fuzzing.kinds import KINDS
from benchmarks.fuzzing.shrink import shrunk
from benchmarks.problems import seeded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmarks.fuzzing.case import Case


@dataclass(frozen=True, slots=True)
class Find:
    """A fault: the smallest case that shows it, which check found it, and what it said."""

    case: Case
    check: str
    complaint: str
    origin: str

    @property
    def reproducer(self) -> str:
        """A row of a table of tests, and above it what is wrong."""
        return f'    # {self.complaint}\n    pytest.param({self.case.row}, id="{self.origin}"),'


def main(arguments: list[str] | None = None) -> int:
    """Print what is found; 1 if that is anything."""
    options = _options(arguments)
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


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=60, help="how long to look (60)")
    parser.add_argument("--cases", type=int, help="at most so many cases")
    parser.add_argument("--seed", type=int, default=0, help="which cases to look at (0)")
    parser.add_argument("--first", type=int, default=0, help="the number of the first case (0)")
    parser.add_argument("--kinds", type=_kinds, default=list(KINDS), help=", ".join(KINDS))
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
    """What is wrong with the case of this number, made small; nothing if that is known."""
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
