"""Prints the time to import ``indexing``, and its ratio to importing sympy alone.

Each import runs in fresh interpreters, and the least time counts, because it has the least noise
from other processes. The goal is a ratio of at most 1.33.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

RUNS = 9
_PROGRAM = "import time; start = time.perf_counter(); import {}; print(time.perf_counter() - start)"


def import_seconds(module: str) -> float:
    """The least time, in seconds, that a fresh interpreter took to import a module."""
    command = [sys.executable, "-c", _PROGRAM.format(module)]
    root = Path(__file__).parents[1]
    return min(
        float(subprocess.run(command, cwd=root, check=True, capture_output=True).stdout)
        for _ in range(RUNS)
    )


def main() -> None:
    """Print one line a module."""
    sympy_seconds = import_seconds("sympy")
    for module in ("sympy", "simplifier", "indexing", "ops", "ops.cli"):
        seconds = sympy_seconds if module == "sympy" else import_seconds(module)
        print(f"import {module:18} {seconds * 1000:7.1f} ms  {seconds / sympy_seconds:5.2f}")


if __name__ == "__main__":
    main()
