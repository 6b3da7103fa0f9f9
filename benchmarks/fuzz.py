"""Searches for questions that are answered wrongly, and prints each as a test case.

    python -m benchmarks.fuzz --seconds 60 --seed 1 --kinds affine,symbolic
    python -m benchmarks.fuzz --about maps --seconds 60
    python -m benchmarks.fuzz --about inverses --seconds 60
    python -m benchmarks.fuzz --about texts --cases 100000
    python -m benchmarks.fuzz --about layouts --cases 10000
    python -m benchmarks.fuzz --about code --cases 20000 --kinds c,numpy
    python -m benchmarks.fuzz --programs --cases 2000 --jobs 2
    python -m benchmarks.fuzz --about kernels --cases 5000

Every simplified expression is compared with direct evaluation and isl. It must not cost more than
the question. It must not change when it is simplified again or after other work. The parser must
read its text. Checks that take longer are made of every tenth case. Of small maps every method is
compared with an enumeration of the points, and of inverses the step alone that solves for the
dimensions. Most cases are of kinds that are quick; the search prints how many it made of each kind,
and of each check.

Hostile texts are those of the tests' tables, garbled. They are read, and what is read is written
and read back as the same; or they are refused, with an error that points into the text.

Code, whose kinds are languages, is written from maps with values near the ends of the integer
types, compiled with sanitizers where it is C or CUDA, and compared with integers of Python.
Layouts are compared with the memory that NumPy makes of them. Programs are JAX programs of all
families of operations, as written and as compiled for the CPU: the elements of their inputs change
one by one, and what changes with them is compared with the maps in both directions. Kernels are
those of small programs in HLO, in each language that runs here; XLA computes the same.

The search shrinks a failing case and prints it as a row of a table:
tests/simplifier/test_found_by_fuzzing.py, tests/indexing/test_found_by_fuzzing.py for maps,
tests/benchmarks/test_fuzz.py for texts,
tests/indexing/test_generated_code.py for code,
tests/ops/test_programs_found_by_fuzzing.py for programs,
tests/kernels/test_kernels_found_by_fuzzing.py for kernels. The exit status is 1 if a case fails.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping
from time import monotonic
from typing import Final

from benchmarks.fuzzing import layouts
from benchmarks.fuzzing.search import SUBJECTS, Search
from benchmarks.problems import seeded

REPORTED: Final = 1000
"""After so many cases the search says how far it is."""


def main(arguments: list[str] | None = None) -> int:
    """Print the failures; return 1 if there are any."""
    options = _options(arguments)
    if options.about in _WHOLE:
        return _WHOLE[options.about](options)
    search = Search(SUBJECTS[options.about], options.seed, options.kinds)
    end, cases = monotonic() + options.seconds, 0
    for cases, number in enumerate(_numbers(options.first, options.cases), 1):
        fault = search.find(number)
        if fault is not None:
            print(fault.reproducer, flush=True)
        if cases % REPORTED == 0:
            print(f"{cases} cases, {search.found} found", file=sys.stderr)
        if monotonic() > end:
            break
    print(search.counts, file=sys.stderr)
    print(f"{cases} cases of seed {options.seed}: {search.found} found", file=sys.stderr)
    return 1 if search.found else 0


def _programs(options: argparse.Namespace) -> int:
    from benchmarks.fuzzing import program_search  # noqa: PLC0415 - needs JAX

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


def _kernels(options: argparse.Namespace) -> int:
    from benchmarks.fuzzing import kernel_search  # noqa: PLC0415 - needs JAX

    tally, found = kernel_search.Tally(), 0
    numbers = range(options.first, options.first + (options.cases or 100))
    for case, language, said in kernel_search.search(options.seed, numbers, tally):
        found += 1
        print(f"# {case.name} in {language}: {said}\n{case.text}", flush=True)
    print(f"{tally}\n{len(numbers)} kernels of seed {options.seed}: {found} found", file=sys.stderr)
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


def _code(options: argparse.Namespace) -> int:
    from benchmarks.fuzzing import edge_code  # noqa: PLC0415 - needs the tests' stand-ins

    numbers, found = range(options.first, options.first + (options.cases or 300)), 0
    for language in (options.kinds or "numpy,triton,python,c,javascript").split(","):
        for place in range(0, len(numbers), edge_code.BATCH):
            batch = edge_code.drawn(language, options.seed, numbers[place:][: edge_code.BATCH])
            for at, said in edge_code.faults(language, batch):
                found += 1
                print(f"{language}: {batch[at].map if at >= 0 else 'a map'}: {said}", flush=True)
        print(f"{language}: {len(numbers)} maps of seed {options.seed}", file=sys.stderr)
    return 1 if found else 0


_WHOLE: Final[Mapping[str, Callable[[argparse.Namespace], int]]] = {
    "code": _code,
    "kernels": _kernels,
    "layouts": _layouts,
    "programs": _programs,
}
"""Searches of cases that are drawn whole, without kinds."""


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    kinds = "; ".join(f"{name}: {', '.join(each.kinds)}" for name, each in SUBJECTS.items())
    about = [*SUBJECTS, *_WHOLE]
    parser.add_argument("--about", choices=about, default="expressions", help="(expressions)")
    parser.add_argument("--programs", action="store_const", dest="about", const="programs")
    parser.add_argument("--jobs", type=int, default=1, help="processes for programs (1)")
    parser.add_argument("--seconds", type=float, default=60, help="how long to search (60)")
    parser.add_argument("--cases", type=int, help="the largest number of cases")
    parser.add_argument("--seed", type=int, default=0, help="the seed of the cases (0)")
    parser.add_argument("--first", type=int, default=0, help="the number of the first case (0)")
    parser.add_argument("--kinds", help=f"all, or some with commas between them; of {kinds}")
    options = parser.parse_args(arguments)
    if options.about in _WHOLE:
        return options
    every = SUBJECTS[options.about].kinds
    options.kinds = options.kinds.split(",") if options.kinds else [*every]
    for kind in options.kinds:
        if kind not in every:
            parser.error(f"--kinds: {kind!r} is no kind; expected some of {', '.join(every)}")
    return options


def _numbers(first: int, count: int | None) -> Iterator[int]:
    number = first
    while count is None or number < first + count:
        yield number
        number += 1


if __name__ == "__main__":
    sys.exit(main())
