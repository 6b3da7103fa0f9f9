"""Prints the time of each operation on sets and relations beside islpy's, and of exact questions.

    python -m benchmarks.sets [--runs N]

Both sides start from their own objects in memory and answer the same question; the ratio is our
time divided by islpy's. Boxes are closed forms of ours, all else is isl's with our dress. The
dependences of loop nests are ours against isl's own data-flow analysis. The last table has every
exact question of everyday maps of two to four dimensions. The least processor time of several runs
counts.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from math import ceil
from time import process_time
from typing import Any, Final

import islpy

from benchmarks.loop_nests import NESTS, accesses, isl_dependences
from indexing import (
    IndexingMap,
    IndexRelation,
    IndexSet,
    flow_dependences,
    parse_map,
    parse_relation,
)
from simplifier import IndexingError

Call = Callable[[], object]

BATCH: Final = 0.002
"""Calls are timed together until they take so many seconds."""

SETS: Final = {
    "boxes": ("(i, j): i in [0, 63], j in [0, 127]", "(i, j): i in [16, 79], j in [0, 126] step 2"),
    "triangles": ("{ [i, j] : 0 <= i <= j < 100 }", "{ [i, j] : 20 <= i < 90 and i <= 2j < 150 }"),
    "remainders": (
        "{ [i, j] : 0 <= i, j < 128 and (i + 2j) mod 8 <= 3 }",
        "{ [i, j] : 0 <= i < 100 and 0 <= j < 200 and (3i + j) mod 5 = 1 }",
    ),
    "of a parameter": (
        "[N] -> { [i, j] : 0 <= i < N and 0 <= j <= i }",
        "[N] -> { [i, j] : 4 <= i < 2N and j < N }",
    ),
}
"""Two sets of each kind."""

RELATIONS: Final = {
    "affine": (
        "{ [i, j] -> [i + 1, j] : 0 <= i < 63 and 0 <= j < 64 }",
        "{ [i, j] -> [i, j + 1] : 0 <= i < 64 and j < 63; [i, 63] -> [i + 1, 0] : 0 <= i < 63 }",
    ),
    "windows": (
        "{ [i, j] -> [p, q] : 0 <= i, j < 64 and i <= p <= i + 2 and j <= q <= j + 2 }",
        "{ [i, j] -> [p, q] : 0 <= i, j < 64 and i - 1 <= p <= i + 1 and q = j }",
    ),
    "reshapes": (
        "{ [i, j] -> [floor((96i + j)/64), (96i + j) mod 64] : 0 <= i < 16 and 0 <= j < 96 }",
        "{ [i, j] -> [j, i] : 0 <= i < 24 and 0 <= j < 64 }",
    ),
    "of a parameter": (
        "[N] -> { [i, j] -> [j, i] : 0 <= i, j < N }",
        "[N] -> { [i, j] -> [i, p] : 0 <= i, j < N and 0 <= p <= j }",
    ),
}
"""Two relations of each kind, each from pairs to pairs."""

_Two = Callable[[Any, Any], object]

ON_SETS: Final[dict[str, tuple[_Two, _Two]]] = {
    "&": (lambda a, b: a & b, lambda a, b: a.intersect(b)),
    "|": (lambda a, b: a | b, lambda a, b: a.union(b).coalesce()),
    "-": (lambda a, b: a - b, lambda a, b: a.subtract(b).coalesce()),
    "<=": (lambda a, b: a <= b, lambda a, b: a.is_subset(b)),
    "==": (lambda a, b: a == b, lambda a, b: a.is_equal(b)),
    "is_empty of a & b": (lambda a, b: (a & b).is_empty(), lambda a, b: a.intersect(b).is_empty()),
    "project_out": (
        lambda a, _: a.project_out([1]),
        lambda a, _: a.project_out(islpy.dim_type.set, 1, 1).coalesce(),
    ),
    "lexmin": (
        lambda a, _: None if a.parameters else a.lexmin(),
        lambda a, _: None if a.dim(islpy.dim_type.param) else a.lexmin(),
    ),
}
"""What is asked of two sets: of ours, and of islpy's."""

ON_RELATIONS: Final[dict[str, tuple[_Two, _Two]]] = {
    **{name: ON_SETS[name] for name in ("&", "|", "-", "<=", "==", "is_empty of a & b")},
    "compose": (lambda a, b: b @ a, lambda a, b: a.apply_range(b).coalesce()),
    "inverse": (lambda a, _: a.inverse(), lambda a, _: a.reverse()),
    "domain_set": (lambda a, _: a.domain_set(), lambda a, _: a.domain().coalesce()),
    "image": (lambda a, _: a.image(), lambda a, _: a.range().coalesce()),
    "distances": (lambda a, _: a.distances(), lambda a, _: a.deltas().coalesce()),
    "lexmax": (lambda a, _: a.lexmax(), lambda a, _: a.lexmax()),
    "is_function of a | b": (
        lambda a, b: (a | b).is_function,
        lambda a, b: a.union(b).coalesce().is_single_valued(),
    ),
}
"""What is asked of two relations: of ours, and of islpy's."""

MAPS: Final = {
    "transpose": ("(d0, d1) -> (d1, d0), domain: d0 in [0, 1023], d1 in [0, 1023]", (1024, 1024)),
    "reshape": (
        (
            "(d0, d1, d2) -> ((d0 * 96 + d1 * 12 + d2) floordiv 64, "
            "(d0 * 96 + d1 * 12 + d2) mod 64), domain: d0 in [0, 15], d1 in [0, 7], d2 in [0, 11]"
        ),
        (24, 64),
    ),
    "tiles T(8,128)": (
        (
            "(d0, d1) -> ((d0 floordiv 8) * 8192 + (d1 floordiv 128) * 1024 + (d0 mod 8) * 128 "
            "+ d1 mod 128), domain: d0 in [0, 1023], d1 in [0, 1023]"
        ),
        (1 << 20,),
    ),
    "a swizzle by xor": (
        (
            "(d0, d1) -> (d0 * 64 + ((d1 floordiv 32 + d0 floordiv 4) mod 2) * 32 "
            "+ ((d1 floordiv 16 + d0 floordiv 2) mod 2) * 16 + ((d1 floordiv 8 + d0) mod 2) * 8 "
            "+ d1 mod 8), domain: d0 in [0, 63], d1 in [0, 63]"
        ),
        (4096,),
    ),
    "the same of 128 rows, flat": (
        (
            "(d0) -> ((d0 floordiv 128) * 128 + ((d0 floordiv 64 + d0 floordiv 512) mod 2) * 64 "
            "+ ((d0 floordiv 32 + d0 floordiv 256) mod 2) * 32 "
            "+ ((d0 floordiv 16 + d0 floordiv 128) mod 2) * 16 + d0 mod 16), "
            "domain: d0 in [0, 16383]"
        ),
        (16384,),
    ),
    "two modes": ("(d0) -> ((d0 mod 64) * 128 + d0 floordiv 64), domain: d0 in [0, 8191]", (8192,)),
    "a padded window": (
        (
            "(d0, d1)[s0, s1] -> (d0 * 2 + s0 - 1, d1 * 2 + s1 - 1), domain: d0 in [0, 111], "
            "d1 in [0, 111], s0 in [0, 2], s1 in [0, 2], d0 * 2 + s0 in [1, 224], "
            "d1 * 2 + s1 in [1, 224]"
        ),
        (224, 224),
    ),
    "a bit function": (
        (
            "(d0, d1) -> (d0, bitxor(d1 floordiv 8, d0 mod 8) * 8 + d1 mod 8), "
            "domain: d0 in [0, 63], d1 in [0, 63]"
        ),
        (64, 64),
    ),
    "four dimensions": (
        (
            "(d0, d1, d2, d3) -> (d0 * 2 + d2 floordiv 4, d3 * 8 + (d2 mod 4) * 2 + d1), "
            "domain: d0 in [0, 15], d1 in [0, 1], d2 in [0, 7], d3 in [0, 15]"
        ),
        (32, 128),
    ),
}
"""Everyday maps, each with the sizes of the tensor that it leads to."""

QUESTIONS: Final[dict[str, Callable[[IndexingMap, tuple[int, ...]], object]]] = {
    "is_empty": lambda m, _: m.is_empty(),
    "equals": lambda m, _: m.equals(m.simplify().with_constraint(m.results[0], (-1, None))),
    "is_subset": lambda m, _: m.is_subset(m.with_constraint(m.results[0], (-1, None))),
    "first_difference": lambda m, _: m.first_difference(m.with_constraint(m.results[0], (0, 5))),
    "image": lambda m, _: m.image(),
    "domain_set": lambda m, _: m.domain_set(),
    "count": lambda m, _: m.count(),
    "count_results": lambda m, _: m.count_results(),
    "is_injective": lambda m, _: m.is_injective(),
    "covers": lambda m, sizes: m.covers(sizes),
    "is_bijective_onto": lambda m, sizes: m.is_bijective_onto(sizes),
    "sample": lambda m, _: m.sample(),
    "strides": lambda m, _: m.strides(),
    "contiguity": lambda m, _: m.contiguity(),
    "inverse": lambda m, _: m.inverse(),
    "simplify(exact)": lambda m, _: m.simplify(exact=True),
    "lexmax": lambda m, _: str(m.lexmax()),
    "m | inverse": lambda m, _: str(m | m.simplify()),
}
"""Every exact question of a map."""


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="the least of so many runs counts")
    runs: int = parser.parse_args().runs
    print_beside("sets", runs, SETS, IndexSet.parse, islpy.Set, ON_SETS)
    print_beside("relations", runs, RELATIONS, parse_relation, islpy.Map, ON_RELATIONS)
    print_dependences(runs)
    print_questions(runs)


def print_beside(
    title: str,
    runs: int,
    pairs: dict[str, tuple[str, str]],
    parse: Callable[[str], IndexSet | IndexRelation[IndexingMap]],
    read: Callable[[str], Any],
    questions: dict[str, tuple[_Two, _Two]],
) -> None:
    """Print for each question the ratio to islpy for each kind of operands."""
    print(f"{title:20} " + " ".join(f"{kind:>24}" for kind in pairs) + "   ours us (ratio)")
    worst = 0.0
    for name, (ours, theirs) in questions.items():
        cells: list[str] = []
        for texts in pairs.values():
            own = [parse(text) for text in texts]
            isl = [read(_isl_text(each)) for each in own]
            mine = seconds(partial(ours, *own), runs)
            other = seconds(partial(theirs, *isl), runs)
            worst = max(worst, mine / other)
            cells.append(f"{mine * 1e6:14.1f} ({mine / other:5.2f})")
        print(f"{name:20} " + " ".join(f"{cell:>24}" for cell in cells))
    print(f"the worst ratio is {worst:.1f}\n")


def _isl_text(given: IndexSet | IndexRelation[IndexingMap]) -> str:
    return str(given.to_isl())


def print_dependences(runs: int) -> None:
    """Print the time of the dependences of each loop nest, ours and isl's."""
    print(f"{'flow dependences':64} {'ms':>6} {'isl ms':>7} {'ratio':>6}")
    for name, nest in NESTS.items():
        texts = [accesses(text) for text in (nest.writes, nest.reads)]
        own = [parse_relation(text) for text in texts]
        isl = [islpy.UnionMap(text) for text in texts]
        mine = seconds(partial(flow_dependences, *own), runs)
        other = seconds(partial(isl_dependences, *isl), runs)
        print(f"{name:64} {mine * 1e3:6.2f} {other * 1e3:7.2f} {mine / other:6.2f}")
    print()


def print_questions(runs: int) -> None:
    """Print the milliseconds of every exact question of every map, and the slowest."""
    print("milliseconds of each question (a new map each time)")
    for number, name in enumerate(MAPS):
        print(f"  {number}: {name}")
    print(f"{'':20} " + " ".join(f"{number:>8}" for number in range(len(MAPS))))
    for question, ask in QUESTIONS.items():
        cells = [_cell(partial(_asked, ask, *each), runs) for each in MAPS.values()]
        print(f"{question:20} " + " ".join(f"{cell:>8}" for cell in cells))


def _cell(call: Call, runs: int) -> str:
    """The milliseconds of a call; a dash where it has no answer."""
    try:
        return f"{seconds(call, runs) * 1e3:.2f}"
    except IndexingError:
        return "-"


def _asked(ask: Callable[..., object], text: str, sizes: tuple[int, ...]) -> object:
    return ask(parse_map(text), sizes)


def seconds(call: Call, runs: int) -> float:
    """The least processor time of a call, of as many together as a clock can see."""
    start = process_time()
    call()
    times = max(1, ceil(BATCH / max(process_time() - start, 1e-6)))
    return min(_together(call, times) for _ in range(runs)) / times


def _together(call: Call, times: int) -> float:
    start = process_time()
    for _ in range(times):
        call()
    return process_time() - start


if __name__ == "__main__":
    main()
