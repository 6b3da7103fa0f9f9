"""Index expressions of GPU kernels, simplified: size beside Wave's own results, time beside sympy.

    python -m benchmarks.symbolic
    python -m benchmarks.symbolic --sample 20 --limit 10

The expressions are from the corpus of iree-org/wave, with bounds and facts. Wave's own simplifier,
ixsimpl, is written in C; its results are recorded. An expression is right if it has the value of
the original at random points. Sizes are those of ``simplifier.operator_count``. Sympy's
``simplify`` gets some of the expressions, and some seconds for each. The times are processor times.
"""

from __future__ import annotations

import argparse
import gc
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import sympy

from benchmarks.clock import time_limit, timed
from simplifier import ConversionError, operator_count, simplify
from simplifier.problem import Expression
from tests.wave_kernels import KernelExpression, kernels, value_at


class TimedResult(NamedTuple):
    """What a kernel's expression comes to, and the seconds that it took."""

    kernel: KernelExpression
    result: Expression
    seconds: float

    def is_right(self, points: int) -> bool:
        """Whether it has the value of the original at some points where that has one."""
        for point in self.kernel.points(points):
            value = value_at(self.kernel.expression, point)
            if value is not None and value_at(self.result, point) != value:
                return False
        return True


def answers(given: Sequence[KernelExpression]) -> Iterator[TimedResult]:
    """Our results, of those that can be expressed."""
    gc.collect()
    gc.freeze()  # the expressions are not garbage, and are not looked through
    for kernel in given:
        try:
            result, seconds = timed(
                lambda each=kernel: simplify(each.expression, each.bounds, each.constraints)
            )
        except ConversionError:
            continue
        yield TimedResult(kernel, result, seconds)


def seconds_of_sympy(kernel: KernelExpression, limit: float) -> float:
    """The time of sympy's ``simplify``, or the limit where that is not enough."""

    def simplify_by_sympy() -> None:
        try:
            with time_limit(limit):
                sympy.simplify(sympy.sympify(kernel.expression))
        except TimeoutError:
            pass

    return timed(simplify_by_sympy)[1]


def report(points: int, sample: int, limit: float) -> Iterator[str]:
    """The lines that are printed."""
    given = kernels()
    found = [*answers(given)]
    seconds = [answer.seconds for answer in found]
    yield f"expressible {len(found)} of {len(given)}"
    yield f"right       {sum(answer.is_right(points) for answer in found)} at {points} points each"
    yield from _sizes([(operator_count(each.result), each.kernel.cost) for each in found])
    yield f"time        {sum(seconds):.2f} s in all, {max(seconds) * 1000:.0f} ms at worst"
    if sample:
        yield from _beside_sympy(found, sample, limit)


def _sizes(pairs: Sequence[tuple[int, int]]) -> Iterator[str]:
    """Our sizes beside recorded ones."""
    ours, theirs = map(sum, zip(*pairs, strict=True))
    smaller = sum(our < their for our, their in pairs)
    equal = sum(our == their for our, their in pairs)
    yield f"size        {ours} operators, {ours / theirs:.2f} of ixsimpl's {theirs}"
    yield f"            smaller {smaller}, equal {equal}, larger {len(pairs) - smaller - equal}"


def _beside_sympy(found: Sequence[TimedResult], sample: int, limit: float) -> Iterator[str]:
    """The ratio of times on some expressions, each asked for the first time."""
    distinct = {answer.kernel.expression: answer for answer in reversed(found)}
    sampled = [*distinct.values()][:: max(1, len(distinct) // sample)][:sample]
    ours = sum(answer.seconds for answer in sampled)
    theirs = sum(seconds_of_sympy(answer.kernel, limit) for answer in sampled)
    yield f"sympy       {theirs / ours:.0f} times as long on {len(sampled)} of them"
    yield f"            (with at most {limit:g} s for each)"


def main() -> None:
    """Print the report."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--points", type=int, default=10, help="of each expression; default 10")
    parser.add_argument(
        "--sample", type=int, default=10, help="expressions that sympy gets; default 10"
    )
    parser.add_argument("--limit", type=float, default=20, help="seconds for sympy; default 20")
    arguments = parser.parse_args()
    for line in report(arguments.points, arguments.sample, arguments.limit):
        print(line, flush=True)


if __name__ == "__main__":
    main()
