"""Compares the maps of real fusions with what they compute under JAX, and prints a table.

    python -m benchmarks.agreement [NAME ...]

It runs every fusion, call, loop and branch of the modules in tests/data/hlo, or of the named ones
such as gpu/softmax, as a program. It changes the elements of the operands one by one, and compares
the pairs (element of a result, element of an operand) that change together with the pairs that the
maps relate. Each module runs in its own process, because some programs crash XLA. Half an hour.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator

from benchmarks.coverage import TARGETS
from ops import hlo
from tests.hlo.modules import NAMES, module_text
from tests.ops.perturbation import tallies
from tests.ops.tested_computations import Subject, UnknownMapError, subjects_in

COUNTS = ("programs", "not run", "unknown", "pairs", "exact", "wrong", "related", "observed")
"""Computations (``programs``); pairs of a result and an operand; pairs of elements that the maps
relate and that were observed. A pair of arrays is ``exact`` if both are equal, and ``wrong`` if the
maps miss an observed pair of elements."""


def counts_of(name: str, subject: Subject) -> Counter[str]:
    """The counts of one computation; prints what is wrong."""
    try:
        found = tallies(subject, trials=3, most=40)
    except UnknownMapError:
        return Counter({"programs": 1, "unknown": 1})
    except (RuntimeError, IndexError, NotImplementedError) as error:
        print(f"{name}: {str(error).splitlines()[0]}", file=sys.stderr)
        return Counter({"programs": 1, "not run": 1})
    for tally in found:
        if not tally.is_sound:
            print(f"{name}: WRONG: {tally}"[:1000], file=sys.stderr)
    return Counter(
        {
            "programs": 1,
            "pairs": len(found),
            "exact": sum(tally.is_exact for tally in found),
            "wrong": sum(not tally.is_sound for tally in found),
            "related": sum(tally.said for tally in found),
            "observed": sum(tally.felt for tally in found),
        }
    )


def lines_of(name: str) -> Iterator[str]:
    """The counts of each computation of a module, as JSON."""
    for computation, subject in subjects_in(hlo.parse(module_text(name))):
        yield json.dumps(counts_of(f"{name} {computation}", subject))


def counts_in_process(name: str) -> Counter[str]:
    """The counts of a module, up to the point where XLA ended its process."""
    command = [sys.executable, "-m", "benchmarks.agreement", "--lines", name]
    ran = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if ran.returncode:
        print(f"{name}: its process ended with {ran.returncode}", file=sys.stderr)
    found: list[dict[str, int]] = [json.loads(line) for line in ran.stdout.splitlines()]
    return sum(map(Counter[str], found), Counter[str]())


def report(names: list[str]) -> None:
    """Print a table with a row for each target."""
    print("| target |", " | ".join(COUNTS), "|")
    print("| --- |", " | ".join(["---"] * len(COUNTS)), "|")
    total = Counter[str]()
    for target in TARGETS:
        own = [name for name in names if name.startswith(f"{target}/")]
        if not own:
            continue
        found = sum(map(counts_in_process, own), Counter[str]())
        total += found
        print(f"| {target} |", " | ".join(str(found[each]) for each in COUNTS), "|", flush=True)
    print("| all |", " | ".join(str(total[each]) for each in COUNTS), "|")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--lines"]:
        for line in lines_of(sys.argv[2]):
            print(line, flush=True)
    else:
        report(sys.argv[1:] or NAMES)
