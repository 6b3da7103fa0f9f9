"""Searches for expressions that the simplifier gets wrong, and prints each as a test case.

    python -m benchmarks.fuzz --seconds 60 --seed 1 --kinds affine,symbolic

Every answer is compared with direct evaluation and isl. It must not cost more than the question. It
must not change when it is simplified again or after other work. The parser must read its text. The
search shrinks a failing case and prints it as a row of the table in
tests/simplifier/test_found_by_fuzzing.py. The exit status is 1 if a case fails.
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
    parser.add_argument("--seconds", type=float, default=60, help="how long to search (60)")
    parser.add_argument("--cases", type=int, help="the largest number of cases")
    parser.add_argument("--seed", type=int, default=0, help="the seed of the cases (0)")
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
