"""Generated code near the ends of the integer types, run in each language against Python."""

from __future__ import annotations

import shutil
from ast import literal_eval
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
from tests.indexing.tables import named


def skip_without(language: str) -> None:
    needed = RUNNERS[language].needs
    if shutil.which(needed) is None and find_spec(needed) is None:
        pytest.skip(f"there is no {needed}")


# a language and a case: a map => a point near an end => what is right there
POINTS = named("""
numpy-ceiling: (d0 in [-2147483648, 0]) -> (d0 ceildiv 1024) => (-2147483648,) => (-2097152,)
numpy-minus-one: (d0 in [-2147483648, 2147483647]) -> (d0 // -1) => (-2147483648,) => (2147483648,)
numpy-wide-choice: (d0 < 8, d1 < 10) -> (select(d0 < d1, d0, 2147483648)) => (3, 1) => (2147483648,)
numpy-wide-bits: (d0 < 8) -> (bitxor(d0, 2147483648)) => (1,) => (2147483649,)
numpy-wide-extremum: (d0 < 8) -> (max(d0, 2147483648), min(d0, -2147483649)) => (1,)
    (2147483648, -2147483649)
numpy-wide-divisor: (d0 in [-7, 7]) -> (d0 floordiv 2147483649, d0 mod 4294967296) => (-1,)
    (-1, 4294967295)
numpy-first-constant: (d0 < 8) -> (d0 * 3 - 2147483648) => (7,) => (-2147483627,)
numpy-wide-condition: (d0 < 10) -> (d0), domain: (d0 >= 5) * 5000000000 in [1, 5000000000] => (7,)
    (7,)
numpy-mask-of-a-ceiling: (d0 in [-2147483648, 0]) -> (0), domain: d0 ceildiv 1024 in [-2097152, -5]
    (-2147483648,) => (0,)
c-negation: (d0 < 2147483649) -> ((-d0) floordiv 1024) => (2147483648,) => (-2097152,)
c-subtracted-multiple: (d0 < 8, d1 < 536870913) -> (d0 - d1 * 4) => (0, 536870912) => (-2147483648,)
c-remainder-by-minus-one: (d0 in [-2147483648, 2147483647]) -> (d0 % -1) => (-2147483648,) => (0,)
c-far-shift: (d0 in [-2147483648, 2147483647]) -> (d0 floordiv 1099511627776, d0 floordiv
        4294967296) => (-2147483648,) => (-1, -1)
c-what-is-too-deep-to-ask: (d0 < 100000001) -> (bitand((((d0 floordiv 3 * 5) floordiv 7 * 5)
        floordiv 9 * 4) floordiv 5 * 9, 2147483647) * 1000) => (100000000,) => (95238081000,)
c-what-the-type-never-passes: (d0 < 10, d1 in [1, 3]) -> (0), domain: ((d0 floordiv d1) mod 8)
        floordiv d1 in [0, 2147483648] => (9, 1) => (0,)
c-what-never-holds: (d0 < 10) -> (0), domain: d0 * d0 in [0, 9223372036854775808] => (9,) => (0,)
triton-minus-one: (d0 in [-2147483648, 2147483647]) -> (d0 floordiv -1) => (-2147483648,)
    (2147483648,)
triton-wide-constants: (d0 < 10) -> (select(d0 < 5, 2147483648, 4294967295) - d0 * 2) => (9,)
    (4294967277,)
triton-wide-bounds: (d0 < 2147483649) -> (d0) => (2147483647,) => (2147483647,)
javascript-zero: (d0 < 5) -> (-d0) => (0,) => (0,)
javascript-zeros: (d0 < 5, d1 in [-4, 0]) -> (d0 * d1, d0 * -3, -d0 - d1, min(d0 * d1, 5), d0
        floordiv -3, (d1 * 2) ceildiv 7, d1 % -2, (-d0) mod 3) => (0, 0) => (0, 0, 0, 0, 0, 0, 0, 0)
javascript-ceiling: (d0 in [-4, 4]) -> (d0 ceildiv 7) => (-4,) => (0,)
javascript-odd-multiple: (d0 in [-9007199254740991, 0]) -> (d0 mod 3002399751580333)
    (-9007199254740991,) => (8,)
""")


# a domain => a point outside of it
OUTSIDE = named("""
c-below-the-first-bound: d0 in [-9223372036854775807, 0] => (-9223372036854775808,)
mlir-below-the-first-bound: d0 in [-9223372036854775807, 0] => (-9223372036854775808,)
javascript-above-the-last-bound: d0 in [0, 9007199254740991] => (9007199254740992,)
c-never: d0 in [0, 9], d0 * d0 in [9223372036854775808, 9223372036854775809] => (3,)
mlir-never: d0 in [0, 9], d0 * d0 in [9223372036854775808, 9223372036854775809] => (3,)
triton-last-bound: d0 in [0, 2147483647], d0 mod 4 in [0, 2] => (-1,)
""")


def language_of(name: str) -> str:
    return name.partition("-")[0]


def named_maps() -> Iterator[tuple[str, EdgeMap]]:
    """A name, and a map with a point and what is right there."""
    for name, (text, point, right) in POINTS.items():
        row = literal_eval(point)
        yield name, EdgeMap(parse_map(text), [(row, literal_eval(right))], [(row, True)])
    for name, (domain, point) in OUTSIDE.items():
        drawn_map = parse_map(f"(d0) -> (d0), domain: {domain}")
        yield name, EdgeMap(drawn_map, [], [(literal_eval(point), False)])


@cache
def said_of_named(language: str) -> dict[str, list[str]]:
    """What is wrong with each map of a language; they share a file."""
    rows = [(name, each) for name, each in named_maps() if language_of(name) == language]
    found = faults(language, [each for _, each in rows])
    return {
        name: [said for at, said in found if at in (place, WHOLE)]
        for place, (name, _) in enumerate(rows)
    }


@for_all([*POINTS, *OUTSIDE])
def test_code_is_right_at_the_ends(name: str) -> None:
    language = language_of(name)
    skip_without(language)
    assert said_of_named(language)[name] == []


@for_all(POINTS)
def test_what_is_right_is_what_integers_of_python_give(text: str, row: str, right: str) -> None:
    assert parse_map(text).evaluate(literal_eval(row)) == literal_eval(right)


# a map and a language => what may need more bits than the language has
TOO_WIDE = named("""
what is multiplied with zero: (d0 < 1, d1 < 10) -> (d0 * (d1 * 9223372036854775807 + 1)) => c
    may need more than 64 bits
bits below the first integer: (d0 in [-9223372036854775807, 0]) -> (bitxor(d0, 1) ceildiv -1) => c
    may need more than 64 bits
an unused parameter: (d0 < 9007199254740993) -> (0) => javascript
    d0 may need more than 53 bits and a sign
""")


@for_all(TOO_WIDE)
def test_what_does_not_fit_is_refused(text: str, language: str, message: str) -> None:
    with pytest.raises(MapError, match=message):
        emit(parse_map(text), language)


def test_numpy_has_bits_below_the_first_integer() -> None:
    (found,) = parse_map(TOO_WIDE["bits below the first integer"][0]).to_numpy()(
        np.array([1 - 2**63])
    )
    assert found.tolist() == [2**63]


# Loops.


def test_a_loop_ends_before_the_last_integer() -> None:
    last = "()[s0] -> (s0), domain: s0 in [9223372036854775805, 9223372036854775807]"
    with pytest.raises(MapError, match=r"s0 \+ 1 may need more than 64 bits"):
        emit_loops(parse_map(last), "c", "")


def test_ends_of_loops_that_64_bits_do_not_hold_are_asked() -> None:
    text = """(d0)[s0] -> (s0), domain: d0 in [0, 0], s0 in [0, 11], d0 mod 3 in [1, 1],
    d0 + s0 + 1 in [-9223372036854775807, 5]"""
    assert "9223372036854775808" not in emit_loops(parse_map(text), "c", "")


def test_a_counter_that_goes_in_steps_has_the_type_of_its_first_value() -> None:
    steps = "()[s0] -> (s0), domain: s0 in [-2147483649, -2147483646], s0 mod 2 in [1, 1]"
    head = "for (int64_t s0 = -2147483649; s0 < -2147483645; s0 += 2)"
    assert head in emit_loops(parse_map(steps), "c", "")


def test_counters_in_triton_have_the_type_of_their_bounds() -> None:
    wide = parse_map("()[s0] -> (s0 * 2), domain: s0 in [2147483646, 2147483649]")
    rows: list[int] = []
    text = emit_loops(wide, "triton", "rows.append(int(r.values))", "r", parameters="rows")
    functions_of(text)["r_loops"](rows)
    assert rows == [4294967292, 4294967294, 4294967296, 4294967298]


# Remainders.

NATURAL = named("""
a difference: (x < 1024, z < 4) -> ((z - x) mod 3) => (z - x + 1023) % 3
a sum: (x < 1024, z < 4) -> ((x * 2 + z) mod 3) => (x * 2 + z) % 3
a rolled index: (x < n)<n in [4, 9]> -> ((x - 2) mod n) => (x + n - 2) % n
where 32 bits do not hold the sum: (d0 in [-8, 2147483642]) -> ((d0 + 5) mod 7)
    floormod32(d0 + 5, 7)
""")


@for_all(NATURAL)
def test_dividends_stay_at_least_zero(text: str, written: str) -> None:
    assert f"results[0] = {written};" in parse_map(text).to_c()


def test_dividends_of_simplified_maps_stay_at_least_zero() -> None:
    text, written = NATURAL["a sum"]
    assert f"results[0] = {written};" in parse_map(text).simplify().to_c()


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
