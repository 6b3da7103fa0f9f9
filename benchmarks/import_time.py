"""Prints the time from a fresh interpreter to names and answers, and its ratio to importing sympy.

Each statement runs in fresh interpreters, and the least time counts, because it has the least noise
from other processes. The goal is a ratio of at most 1: names and first answers need no sympy.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

RUNS = 9
STATEMENTS = (
    "import sympy",
    "import ops",
    "from ops import *",
    "from ops import hlo, analyze",
    "from ops.cli import main; main(['fusions', 'examples/softmax.hlo'])",
)
_PROGRAM = """
import sys, time
start = time.process_time()
{}
print(time.process_time() - start, file=sys.stderr)
"""


def seconds_of(statement: str) -> float:
    """The least processor time, in seconds, that a fresh interpreter took to run a statement."""
    command = [sys.executable, "-c", _PROGRAM.format(statement)]
    root = Path(__file__).parents[1]
    return min(
        float(subprocess.run(command, cwd=root, check=True, capture_output=True).stderr)
        for _ in range(RUNS)
    )


def main() -> None:
    """Print one line a statement."""
    times = {statement: seconds_of(statement) for statement in STATEMENTS}
    for statement, seconds in times.items():
        ratio = seconds / times[STATEMENTS[0]]
        print(f"{seconds * 1000:7.1f} ms {ratio:5.2f}  {statement}")


if __name__ == "__main__":
    main()
