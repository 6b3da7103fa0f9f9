"""Times C that `ops.emit_kernel` writes for fusions of real modules, beside C by hand and NumPy.

    python -m benchmarks.code
    python -m benchmarks.code sum_rows gelu --rounds 40

benchmarks/hand_written.c has the functions by hand, for 40 fusions of tests/data/hlo. The system's
compiler compiles both with the same flags, each fusion in a file of its own. Results must be those
of NumPy. Then hand-written and emitted functions run in turn, and NumPy's program, and the least
processor time of all rounds counts: a ratio of 1 is as fast as by hand.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from math import exp, log
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import ops
from benchmarks.clock import timed
from benchmarks.kernels import KERNELS, Kernel
from benchmarks.native import COMPILER, Native, Workshop, check

ROUNDS: Final = 20
SECONDS: Final = 0.003
"""Of processor time that a round takes about."""

SLOWER: Final = 1.05
"""The ratio of times from which an emitted function counts as slower."""


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds of one call."""

    emitted: float
    by_hand: float
    numpy: float

    @property
    def ratio(self) -> float:
        """The emitted function's time by the hand-written one's."""
        return self.emitted / self.by_hand


def times_of(kernel: Kernel, workshop: Workshop, rounds: int) -> Times:
    """The least times of rounds in turn.

    Raises:
        ArithmeticError: a result is wrong.
    """
    text = ops.emit_kernel(kernel.fusion, "c")
    functions = [workshop.emitted(kernel, text), workshop.by_hand(kernel)]
    for what, function in zip(("emitted C", "C by hand"), functions, strict=True):
        check(kernel, function, what)
    calls = _calls_in(SECONDS, functions[1])
    taken: list[tuple[float, ...]] = []
    for number in range(rounds):
        order = functions if number % 2 else functions[::-1]
        seconds = {id(each): _seconds(each, calls) for each in order}
        numpy = timed(kernel.by_numpy)[1]
        taken.append((*(seconds[id(each)] for each in functions), numpy))
    return Times(*map(min, zip(*taken, strict=True)))


def _calls_in(seconds: float, function: Native) -> int:
    calls = 1
    while _seconds(function, calls) * calls < seconds:
        calls *= 2
    return calls


def _seconds(function: Native, calls: int) -> float:
    return timed(lambda: function.run(calls))[1] / calls


# The program.


def main(arguments: list[str] | None = None) -> None:
    """Print one line a fusion, and the mean."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help="functions of hand_written.c (all)")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"rounds in turn ({ROUNDS})")
    options = parser.parse_args(arguments)
    if shutil.which(COMPILER) is None:
        print(f"skipped: there is no C compiler: {COMPILER}")
        return
    known = {kernel.name: kernel for kernel in KERNELS}
    unknown = [name for name in options.names if name not in known]
    if unknown:
        parser.error(f"there is no function {unknown[0]}; expected one of {', '.join(known)}")
    with TemporaryDirectory() as folder:
        workshop = Workshop(Path(folder))
        wanted = [known[name] for name in options.names or known]
        _print_report(wanted, workshop, options.rounds)


def _print_report(kernels: Iterable[Kernel], workshop: Workshop, rounds: int) -> None:
    print(f"{'function':24}{'fusion':52}{'emitted':>9}{'by hand':>9}{'NumPy':>9}{'ratio':>7}  us")
    rows: list[Times] = []
    for kernel in kernels:
        rows.append(times_of(kernel, workshop, rounds))
        print(_line(kernel, rows[-1]), flush=True)
    mean = exp(sum(log(row.ratio) for row in rows) / len(rows))
    faster = exp(sum(log(row.numpy / row.emitted) for row in rows) / len(rows))
    slower = sum(row.ratio > SLOWER for row in rows)
    print(
        f"{len(rows)} fusions: ratio {mean:.2f} in the geometric mean, "
        f"at most {max(row.ratio for row in rows):.2f}; more than {SLOWER - 1:.0%} slower than by "
        f"hand: {slower}; {faster:.0f} times as fast as NumPy in the mean"
    )


def _line(kernel: Kernel, times: Times) -> str:
    cells: list[Any] = [f"{kernel.name:24}{kernel.module + ' ' + kernel.fusion_name:52}"]
    cells += [f"{each * 1e6:9.2f}" for each in (times.emitted, times.by_hand, times.numpy)]
    return "".join([*cells, f"{times.ratio:7.2f}"])


if __name__ == "__main__":
    main()
