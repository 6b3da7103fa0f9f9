"""Prints the time to compose and simplify maps, with constraints, in chains, and on arrays.

    python benchmarks/maps.py [--runs N]

Our code and islpy process every pair of maps and every map with constraints in the same run, cold,
with no results of other problems in a cache. isl composes, takes the gist against the domain, and
coalesces. Both start from their own maps in memory. The least processor time of several runs
counts. The ratio is isl's time divided by ours.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from statistics import median
from typing import TYPE_CHECKING, Final

import numpy as np

from benchmarks.clock import timed
from benchmarks.ours import forget
from indexing import IndexingMap, compose, parse_map

if TYPE_CHECKING:
    import islpy

# Consumer and producer: the producer is applied to the results of the consumer.
PAIRS: Final = {
    "reshape back": (
        "(d0, d1) -> (d0 * 128 + d1), domain: d0 in [0, 1023], d1 in [0, 127]",
        "(d0) -> (d0 floordiv 128, d0 mod 128), domain: d0 in [0, 131071]",
    ),
    "reshape of reshape": (
        (
            "(d0, d1, d2) -> (d0 * 4 + d1 floordiv 32, (d1 mod 32) * 16 + d2), "
            "domain: d0 in [0, 63], d1 in [0, 127], d2 in [0, 15]"
        ),
        (
            "(d0, d1) -> (d0 floordiv 8, (d0 mod 8) * 512 + d1), "
            "domain: d0 in [0, 255], d1 in [0, 511]"
        ),
    ),
    "sizes that do not divide each other": (
        (
            "(d0, d1) -> ((d0 * 21 + d1) floordiv 35, (d0 * 21 + d1) mod 35), "
            "domain: d0 in [0, 14], d1 in [0, 20]"
        ),
        (
            "(d0, d1) -> ((d0 * 35 + d1) floordiv 15, (d0 * 35 + d1) mod 15), "
            "domain: d0 in [0, 8], d1 in [0, 34]"
        ),
    ),
    "transpose of bitcast": (
        "(d0, d1, d2) -> (d1, d0, d2), domain: d0 in [0, 15], d1 in [0, 63], d2 in [0, 127]",
        (
            "(d0, d1, d2) -> (d0 * 16 + d1, d2 floordiv 8, d2 mod 8), "
            "domain: d0 in [0, 63], d1 in [0, 15], d2 in [0, 127]"
        ),
    ),
    "slice of pad": (
        "(d0) -> (d0 * 2 + 3), domain: d0 in [0, 60]",
        "(d0) -> ((d0 - 4) floordiv 3), domain: d0 in [4, 124], (d0 - 4) mod 3 in [0, 0]",
    ),
    "reduce of broadcast": (
        "(d0)[s0] -> (d0, s0), domain: d0 in [0, 255], s0 in [0, 1023]",
        "(d0, d1) -> (d0 floordiv 16), domain: d0 in [0, 255], d1 in [0, 1023]",
    ),
    "convolution of pad": (
        (
            "(d0, d1)[s0, s1] -> (d0 * 2 + s0, d1, s1), domain: d0 in [0, 54], d1 in [0, 31], "
            "s0 in [0, 2], s1 in [0, 15]"
        ),
        "(d0, d1, d2) -> (d0 - 1, d1, d2), domain: d0 in [1, 110], d1 in [0, 31], d2 in [0, 15]",
    ),
    "dynamic slice of dynamic slice": (
        "(d0, d1){rt0} -> (d0 + rt0, d1), domain: d0 in [0, 7], d1 in [0, 63], rt0 in [0, 24]",
        "(d0, d1){rt0} -> (d0, d1 + rt0), domain: d0 in [0, 31], d1 in [0, 63], rt0 in [0, 192]",
    ),
    "tiled layout T(8,128)(2,1)": (
        (
            "(d0, d1) -> (d0 floordiv 8, d1 floordiv 128, (d0 mod 8) floordiv 2, d1 mod 128, "
            "d0 mod 2), "
            "domain: d0 in [0, 1023], d1 in [0, 1279]"
        ),
        (
            "(d0, d1, d2, d3, d4) -> (d0 * 10240 + d1 * 1024 + d2 * 256 + d3 * 2 + d4), "
            "domain: d0 in [0, 127], d1 in [0, 9], d2 in [0, 3], d3 in [0, 127], d4 in [0, 1]"
        ),
    ),
    "thread map of a transpose": (
        (
            "(th_x, bl_x)[s0] -> ((bl_x floordiv 32) * 32 + s0 * 4 + th_x floordiv 32, "
            "(bl_x mod 32) * 32 + th_x mod 32), "
            "domain: th_x in [0, 127], bl_x in [0, 1023], s0 in [0, 7]"
        ),
        "(d0, d1) -> (d1 * 1024 + d0), domain: d0 in [0, 1023], d1 in [0, 1023]",
    ),
}

CONSTRAINED: Final = {
    "a sum in an interval": (
        "(d0)[s0, s1] -> (d0 * 6 + s0 * 3 + s1), domain: d0 in [0, 1999], s0 in [0, 1], "
        "s1 in [0, 2], d0 * 6 + s0 * 3 + s1 in [0, 598]"
    ),
    "residues": (
        "(d0)[s0, s1] -> (d0, s1, s0), domain: d0 in [0, 3], s0 in [-21, -2], s1 in [0, 10], "
        "d0 mod 3 in [0, 0], s0 mod 2 in [0, 0], s0 mod 3 in [0, 0], s1 mod 5 in [1, 1]"
    ),
    "a quotient": (
        "(d0)[s0] -> (d0 mod 64), domain: d0 in [0, 999], s0 in [0, 3], d0 floordiv 8 in [8, 11]"
    ),
    "a window": (
        "(d0)[s0] -> ((d0 * 2 + s0 - 3) floordiv 2), domain: d0 in [0, 9], s0 in [0, 2], "
        "d0 * 2 + s0 in [3, 20], (d0 * 2 + s0 + 1) mod 2 in [0, 0]"
    ),
    "threads inside a tensor": (
        "(th_x, bl_x)[s0] -> ((bl_x * 128 + th_x) * 4 + s0), domain: th_x in [0, 127], "
        "bl_x in [0, 195], s0 in [0, 3], (bl_x * 128 + th_x) * 4 + s0 in [0, 99999]"
    ),
    "a contradiction": (
        "(d0)[s0] -> (d0 + s0), domain: d0 in [0, 99], s0 in [0, 99], d0 + s0 in [0, 10], "
        "d0 - s0 in [20, 30]"
    ),
}

CHAIN: Final = (250, 500, 1000)
POINTS: Final = 1 << 20


def main() -> None:
    """Print the four tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument(
        "--runs", type=int, default=20, help="the number of runs; the fastest counts"
    )
    runs = parser.parse_args().runs
    print_compared("compose and simplify", runs, dict(map(composition, PAIRS)))
    print_compared("simplify constraints", runs, dict(map(simplification, CONSTRAINED)))
    print_chains()
    print_evaluation(runs)


# Composition and simplification, compared with isl.


def composition(name: str) -> tuple[str, tuple[Callable[[], object], Callable[[], object]]]:
    """Our composition of a pair of maps, and that of isl."""
    consumer, producer = map(parse_map, PAIRS[name])
    first, second = consumer.to_isl(), producer.to_isl()

    def ours() -> IndexingMap:
        return compose(consumer, producer).simplify()

    return name, (ours, lambda: simplified_by_isl(first.apply_range(second)))


def simplification(name: str) -> tuple[str, tuple[Callable[[], object], Callable[[], object]]]:
    """Our simplification of a map with constraints, and that of isl."""
    given = parse_map(CONSTRAINED[name])
    relation = given.to_isl()

    def ours() -> IndexingMap:
        # A new map each time, because a map remembers its simplified form.
        return IndexingMap.from_forms(given.forms, given.domain).simplify()

    return name, (ours, lambda: simplified_by_isl(relation))


def simplified_by_isl(relation: islpy.Map) -> islpy.Map:
    """The smallest description that isl finds: gist against the domain, pieces coalesced."""
    domain = relation.domain().coalesce()
    return relation.coalesce().gist_domain(domain).detect_equalities()


def print_compared(
    title: str, runs: int, rows: dict[str, tuple[Callable[[], object], Callable[[], object]]]
) -> None:
    """Print a line for each pair of calls, and the median of the ratios."""
    print(f"{title:42} {'us':>8} {'isl us':>8} {'isl / ours':>10}")
    ratios: list[float] = []
    for name, (ours, isl) in rows.items():
        mine, theirs = seconds(ours, runs), seconds(isl, runs)
        ratios.append(theirs / mine)
        print(f"  {name:40} {mine * 1e6:8.0f} {theirs * 1e6:8.0f} {ratios[-1]:10.1f}")
    print(f"  {'median':40} {'':8} {'':8} {median(ratios):10.1f}\n")


def seconds(call: Callable[[], object], runs: int) -> float:
    """The least processor time of a cold call."""
    times: list[float] = []
    for _ in range(runs):
        forget()
        times.append(timed(call)[1])
    return min(times)


# Chains, and arrays.


def print_chains() -> None:
    """Print the time of a chain of compositions, simplified after each; it grows linearly."""
    print(f"{'chain of compositions':42} {'ms':>8} {'us each':>8}")
    step = parse_map(
        "(d0, d1) -> ((d1 * 8 + d0) floordiv 16, (d1 * 8 + d0) mod 16), "
        "domain: d0 in [0, 15], d1 in [0, 15]"
    )
    for length in CHAIN:
        forget()
        _, spent = timed(lambda length=length: chained(step, length))
        print(f"  {length:<40} {spent * 1e3:8.0f} {spent / length * 1e6:8.0f}")
    print()


def chained(step: IndexingMap, length: int) -> IndexingMap:
    """The map composed with itself this many times."""
    total = step
    for _ in range(length):
        total = compose(total, step).simplify()
    return total


def print_evaluation(runs: int) -> None:
    """Print how many points a second are evaluated on arrays and enumerated."""
    given = parse_map(PAIRS["tiled layout T(8,128)(2,1)"][0])
    columns = [np.arange(POINTS) % 1024, np.arange(POINTS) % 1280]
    compiled = given.to_numpy()
    rows = {
        "evaluate": (lambda: given.evaluate(columns), POINTS),
        "to_numpy": (lambda: compiled(*columns), POINTS),
        "points": (lambda: sum(1 for _ in given.points()), 1024 * 1280),
    }
    print(f"{'millions of points a second':42}")
    for name, (call, count) in rows.items():
        print(f"  {name:40} {count / seconds(call, min(runs, 5)) / 1e6:8.1f}")


if __name__ == "__main__":
    main()
