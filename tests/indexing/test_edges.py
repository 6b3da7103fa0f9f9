"""Generated code near the ends of the integer types, run in each language against Python."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec

import numpy as np
import pytest

from benchmarks.fuzzing.edge_code import RUNNERS, WHOLE, drawn, faults
from benchmarks.fuzzing.edge_maps import EdgeMap
from indexing import MapError, emit, emit_loops, parse_map
from indexing.code.coder import Ranges
from indexing.code.language import NARROW
from simplifier.expr.form import Form
from tests.cases import for_all
from tests.extent import IN_CI
from tests.indexing.stand_in import functions_of

FIRST = -(2**31)


def skip_without(language: str) -> None:
    needed = RUNNERS[language].needs
    if shutil.which(needed) is None and find_spec(needed) is None:
        pytest.skip(f"there is no {needed}")


FAR = "d0 in [-2147483648, 2147483647]"
DEEP = "(((d0 floordiv 3 * 5) floordiv 7 * 5) floordiv 9 * 4) floordiv 5 * 9"
POINTS = {
    "numpy-ceiling": (
        "numpy",
        "(d0) -> (d0 ceildiv 1024), domain: d0 in [-2147483648, 0]",
        (FIRST,),
        (-2097152,),
    ),
    "numpy-minus-one": ("numpy", f"(d0) -> (d0 // -1), domain: {FAR}", (FIRST,), (2147483648,)),
    "numpy-wide-choice": (
        "numpy",
        "(d0, d1) -> (select(d0 < d1, d0, 2147483648)), domain: d0 in [0, 7], d1 in [0, 9]",
        (3, 1),
        (2147483648,),
    ),
    "numpy-wide-bits": (
        "numpy",
        "(d0) -> (bitxor(d0, 2147483648)), domain: d0 in [0, 7]",
        (1,),
        (2147483649,),
    ),
    "numpy-wide-extremum": (
        "numpy",
        "(d0) -> (max(d0, 2147483648), min(d0, -2147483649)), domain: d0 in [0, 7]",
        (1,),
        (2147483648, -2147483649),
    ),
    "numpy-wide-divisor": (
        "numpy",
        "(d0) -> (d0 floordiv 2147483649, d0 mod 4294967296), domain: d0 in [-7, 7]",
        (-1,),
        (-1, 4294967295),
    ),
    "numpy-first-constant": (
        "numpy",
        "(d0) -> (d0 * 3 - 2147483648), domain: d0 in [0, 7]",
        (7,),
        (-2147483627,),
    ),
    "numpy-wide-condition": (
        "numpy",
        "(d0) -> (d0), domain: d0 in [0, 9], (d0 >= 5) * 5000000000 in [1, 5000000000]",
        (7,),
        (7,),
    ),
    "numpy-mask-of-a-ceiling": (
        "numpy",
        "(d0) -> (0), domain: d0 in [-2147483648, 0], d0 ceildiv 1024 in [-2097152, -5]",
        (FIRST,),
        (0,),
    ),
    "c-negation": (
        "c",
        "(d0) -> ((-d0) floordiv 1024), domain: d0 in [0, 2147483648]",
        (2147483648,),
        (-2097152,),
    ),
    "c-subtracted-multiple": (
        "c",
        "(d0, d1) -> (d0 - d1 * 4), domain: d0 in [0, 7], d1 in [0, 536870912]",
        (0, 536870912),
        (FIRST,),
    ),
    "c-remainder-by-minus-one": ("c", f"(d0) -> (d0 % -1), domain: {FAR}", (FIRST,), (0,)),
    "c-far-shift": (
        "c",
        f"(d0) -> (d0 floordiv 1099511627776, d0 floordiv 4294967296), domain: {FAR}",
        (FIRST,),
        (-1, -1),
    ),
    "c-what-is-too-deep-to-ask": (
        "c",
        f"(d0) -> (bitand({DEEP}, 2147483647) * 1000), domain: d0 in [0, 100000000]",
        (100000000,),
        (95238081000,),
    ),
    "c-what-the-type-never-passes": (
        "c",
        (
            "(d0, d1) -> (0), domain: d0 in [0, 9], d1 in [1, 3], "
            "((d0 floordiv d1) mod 8) floordiv d1 in [0, 2147483648]"
        ),
        (9, 1),
        (0,),
    ),
    "c-what-never-holds": (
        "c",
        "(d0) -> (0), domain: d0 in [0, 9], d0 * d0 in [0, 9223372036854775808]",
        (9,),
        (0,),
    ),
    "triton-minus-one": (
        "triton",
        f"(d0) -> (d0 floordiv -1), domain: {FAR}",
        (FIRST,),
        (2147483648,),
    ),
    "triton-wide-constants": (
        "triton",
        "(d0) -> (select(d0 < 5, 2147483648, 4294967295) - d0 * 2), domain: d0 in [0, 9]",
        (9,),
        (4294967277,),
    ),
    "triton-wide-bounds": (
        "triton",
        "(d0) -> (d0), domain: d0 in [0, 2147483648]",
        (2147483647,),
        (2147483647,),
    ),
    "javascript-zero": ("javascript", "(d0) -> (-d0), domain: d0 in [0, 4]", (0,), (0,)),
    "javascript-zeros": (
        "javascript",
        (
            "(d0, d1) -> (d0 * d1, d0 * -3, -d0 - d1, min(d0 * d1, 5), d0 floordiv -3, "
            "(d1 * 2) ceildiv 7, d1 % -2, (-d0) mod 3), domain: d0 in [0, 4], d1 in [-4, 0]"
        ),
        (0, 0),
        (0,) * 8,
    ),
    "javascript-ceiling": (
        "javascript",
        "(d0) -> (d0 ceildiv 7), domain: d0 in [-4, 4]",
        (-4,),
        (0,),
    ),
    "javascript-odd-multiple": (
        "javascript",
        "(d0) -> (d0 mod 3002399751580333), domain: d0 in [-9007199254740991, 0]",
        (-9007199254740991,),
        (8,),
    ),
}


OUTSIDE = {
    "c-below-the-first-bound": ("c", "d0 in [-9223372036854775807, 0]", (-(2**63),)),
    "mlir-below-the-first-bound": ("mlir", "d0 in [-9223372036854775807, 0]", (-(2**63),)),
    "javascript-above-the-last-bound": ("javascript", "d0 in [0, 9007199254740991]", (2**53,)),
    "c-never": ("c", "d0 in [0, 9], d0 * d0 in [9223372036854775808, 9223372036854775809]", (3,)),
    "mlir-never": (
        "mlir",
        "d0 in [0, 9], d0 * d0 in [9223372036854775808, 9223372036854775809]",
        (3,),
    ),
    "triton-last-bound": ("triton", "d0 in [0, 2147483647], d0 mod 4 in [0, 2]", (-1,)),
}


def named() -> Iterator[tuple[str, str, EdgeMap]]:
    """A name, a language, and a map with a point and what is right there."""
    for name, (language, text, row, right) in POINTS.items():
        yield name, language, EdgeMap(parse_map(text), [(row, right)], [(row, True)])
    for name, (language, domain, row) in OUTSIDE.items():
        drawn_map = parse_map(f"(d0) -> (d0), domain: {domain}")
        yield name, language, EdgeMap(drawn_map, [], [(row, False)])


@cache
def said_of_named(language: str) -> dict[str, list[str]]:
    """What is wrong with each map of a language; they share a file."""
    rows = [(name, each) for name, own, each in named() if own == language]
    found = faults(language, [each for _, each in rows])
    return {
        name: [said for at, said in found if at in (place, WHOLE)]
        for place, (name, _) in enumerate(rows)
    }


@for_all([*POINTS, *OUTSIDE])
def test_code_is_right_at_the_ends(name: str) -> None:
    language = {**POINTS, **OUTSIDE}[name][0]
    skip_without(language)
    assert said_of_named(language)[name] == []


@pytest.mark.parametrize("name", POINTS)
def test_what_is_right_is_what_integers_of_python_give(name: str) -> None:
    _, text, row, right = POINTS[name]
    assert parse_map(text).evaluate(row) == right


def test_what_is_multiplied_with_zero_must_fit_too() -> None:
    huge = "(d0, d1) -> (d0 * (d1 * 9223372036854775807 + 1)), domain: d0 in [0, 0], d1 in [0, 9]"
    with pytest.raises(MapError, match="may need more than 64 bits"):
        emit(parse_map(huge), "c")


def test_bits_below_the_first_integer_are_refused() -> None:
    beyond = "(d0) -> (bitxor(d0, 1) ceildiv -1), domain: d0 in [-9223372036854775807, 0]"
    with pytest.raises(MapError, match="may need more than 64 bits"):
        emit(parse_map(beyond), "c")
    (found,) = parse_map(beyond).to_numpy()(np.array([1 - 2**63]))
    assert found.tolist() == [2**63]


def test_unused_parameters_must_fit_too() -> None:
    with pytest.raises(MapError, match="d0 may need more than 53 bits and a sign"):
        emit(parse_map("(d0) -> (0), domain: d0 in [0, 9007199254740992]"), "javascript")


# Loops.


def test_a_loop_ends_before_the_last_integer() -> None:
    last = "()[s0] -> (s0), domain: s0 in [9223372036854775805, 9223372036854775807]"
    with pytest.raises(MapError, match=r"s0 \+ 1 may need more than 64 bits"):
        emit_loops(parse_map(last), "c", "")


def test_ends_of_loops_that_64_bits_do_not_hold_are_asked() -> None:
    far = parse_map(
        "(d0)[s0] -> (s0), domain: d0 in [0, 0], s0 in [0, 11], d0 mod 3 in [1, 1], "
        "d0 + s0 + 1 in [-9223372036854775807, 5]"
    )
    assert "9223372036854775808" not in emit_loops(far, "c", "")


def test_a_counter_that_goes_in_steps_has_the_type_of_its_first_value() -> None:
    steps = parse_map(
        "()[s0] -> (s0), domain: s0 in [-2147483649, -2147483646], s0 mod 2 in [1, 1]"
    )
    assert "for (int64_t s0 = -2147483649; s0 < -2147483645; s0 += 2)" in emit_loops(steps, "c", "")


def test_counters_in_triton_have_the_type_of_their_bounds() -> None:
    wide = parse_map("()[s0] -> (s0 * 2), domain: s0 in [2147483646, 2147483649]")
    rows: list[int] = []
    text = emit_loops(wide, "triton", "rows.append(int(r.values))", "r", parameters="rows")
    functions_of(text)["r_loops"](rows)
    assert rows == [4294967292, 4294967294, 4294967296, 4294967298]


# Remainders.

BOUNDS = "domain: x in [0, 1023], z in [0, 3]"
SUM = parse_map(f"(x, z) -> ((x * 2 + z) mod 3), {BOUNDS}")
NATURAL = {
    "remainder-of-a-difference": (
        parse_map(f"(x, z) -> ((z - x) mod 3), {BOUNDS}"),
        "(z - x + 1023) % 3",
    ),
    "remainder-of-a-sum": (SUM.simplify(), "(x * 2 + z) % 3"),
    "remainder-of-a-sum, as given": (SUM, "(x * 2 + z) % 3"),
    "remainder-of-a-rolled-index": (
        parse_map("(x)<n> -> ((x - 2) mod n), domain: x in [0, n - 1], n in [4, 9]"),
        "(x + n - 2) % n",
    ),
    "where 32 bits do not hold the sum": (
        parse_map("(d0) -> ((d0 + 5) mod 7), domain: d0 in [-8, 2147483642]"),
        "floormod32(d0 + 5, 7)",
    ),
}


@pytest.mark.parametrize("name", NATURAL)
def test_dividends_stay_at_least_zero(name: str) -> None:
    given, text = NATURAL[name]
    assert f"results[0] = {text};" in given.to_c()


# Random maps.

COUNTS = {"c": 40, "cuda": 25, "mlir": 10, "javascript": 60}
SHARE = 1 if IN_CI else 4
"""Of so many maps, one is asked about."""


@pytest.mark.parametrize("language", [each for each in RUNNERS if each != "nvcc"])
def test_random_maps_are_right(language: str) -> None:
    skip_without(language)
    numbers = range(0, COUNTS.get(language, 80), SHARE)
    assert faults(language, drawn(language, "test", numbers)) == []


def always_narrow(_: Ranges, __: Form) -> int:
    return NARROW


def test_the_search_finds_sums_that_are_too_narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Ranges, "bits_of_sum", always_narrow)
    assert faults("numpy", drawn("numpy", "test", range(80)))
