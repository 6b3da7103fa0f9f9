"""Code and loops made from maps, run: at all points of small maps, and near ends of integers."""

from __future__ import annotations

import ctypes
import json
import pickle
import re
import shutil
import subprocess
from ast import literal_eval
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.fuzzing.edge_code import RUNNERS, drawn, faults
from benchmarks.fuzzing.edge_maps import EdgeMap
from indexing import (
    IndexingMap,
    MapError,
    Variable,
    VariableKind,
    compose,
    emit,
    emit_loops,
    parse_map,
)
from indexing.code.coder import Ranges, names_in
from indexing.code.language import LANGUAGES, NARROW
from simplifier import symbol
from simplifier.errors import ArgumentError
from tests.cases import for_all
from tests.extent import IN_CI, examples, seldom
from tests.indexing import mlir_stand_in
from tests.indexing.stand_in import functions_of, plain_values, tensors, values_in
from tests.indexing.tables import each_named, evaluated, named, refusals, texts
from tests.strategies import maps

Row = tuple[int, ...]

few = examples(15)

MAPS = texts("""
no variables: () -> (3, -2)
no results: (d0 < 4) -> ()
identity: (d0 < 4, d1 in [-2, 2]) -> (d1, d0)
natural quotients: (d0 < 10, d1 < 7) -> ((d0 * 7 + d1) floordiv 5, (d0 * 7 + d1) mod 5 * 3, d1
        floordiv 2 + d0)
negative numerators and divisors: (d0 in [-13, 13]) -> (d0 floordiv 4, d0 mod 4, d0 floordiv -4, d0
        % -4, -(d0 floordiv 3), d0 ceildiv 3, d0 ceildiv -3, (d0 floordiv 2) * -3)
divided by variables: (d0 in [-9, 9])[s0 in [1, 5]] -> (d0 floordiv s0, d0 mod s0, d0 ceildiv s0)
by negative variables: (d0 in [-9, 9])[s0 in [-5, -1]] -> (d0 floordiv s0, d0 mod s0, d0 ceildiv s0)
extrema: (d0 in [-4, 4])[s0 < 4]{rt0 in [-1, 1]} -> (min(d0, s0, rt0) * 2, max(d0 + 1, -s0),
        -min(d0, 3) floordiv 2)
products: (d0 in [-4, 4])[s0 in [-3, 3]] -> (d0 * s0 * 3, -(d0 * s0), (d0 * s0) floordiv 2)
constraints: (d0 in [-5, 5])[s0 < 4] -> (d0 * 4 + s0), domain: (d0 * 4 + s0) mod 3 in [1, 1], d0 +
        s0 in [0, 5], d0 floordiv 3 in [0, 1]
one-sided constraints: (d0 < 6)[s0 < 6] -> (d0 - s0), domain: d0 - s0 in [-inf, 2], d0 * 3 - s0 in
        [1, inf]
shared parts: (d0 in [-20, 20]) -> ((d0 floordiv 3) * 2 + (d0 floordiv 3) mod 4, min(d0 floordiv 3,
        2))
names of the languages: (float < 4, t0 < 4)[minimum in [-3, 3]] -> (float floordiv 2 + t0, minimum
        mod 2)
names that say something: (row in [-3, 3], t0 < 4) -> ((row + t0) floordiv 3 * 2, (row + t0)
        floordiv 3)
choices in functions of bits and comparisons: (d0 in [-7, 7], d1 in [-3, 3]) -> (bitor(d0, select(d1
        != 0, d0 floordiv d1, 5)), (select(d1 > 0, d0 mod d1, d0) >= 2) * 8)
choices where no point is: (d0 in [-5, 6], d1 < 5) -> (select(d0 < 9, -3, d1) mod 3), domain:
        bitor(max(d1, 9), 0) in [-9, 2]
a parameter: (d0 < 3)[s0 < 2]<N in [1, 4]> -> (d0 * N + s0), domain: d0 * 2 + s0 - N in [-3, 3]
empty: (d0) -> (d0), domain: KNOWN EMPTY
""")


def skip_without(language: str) -> None:
    needed = RUNNERS[language].needs
    if shutil.which(needed) is None and find_spec(needed) is None:
        pytest.skip(f"there is no {needed}")
    if language == "nvcc" and not IN_CI:
        pytest.skip("run with CI=1")


def points_around(made: IndexingMap, margin: int = 1) -> list[Row]:
    """Every point of the box of a map, and of a margin; ends that are expressions are small."""
    bounds = [each.bounds for each in made.domain]
    ends = ((each.lower or 0, 9 if each.upper is None else each.upper) for each in bounds)
    return [*product(*(range(low - margin, high + margin + 1) for low, high in ends))]


def parameters_at(made: IndexingMap, row: Sequence[Any]) -> dict[str, Any]:
    names = [each.name for each in made.parameters]
    return dict(zip(names, row[len(row) - len(names) :], strict=True))


def is_inside(made: IndexingMap, row: Row) -> bool:
    return bool(made.contains(*made.domain.by_role(row), parameters=parameters_at(made, row)))


def values_at(made: IndexingMap, row: Sequence[Any]) -> tuple[Any, ...]:
    """The results where all variables have these values, or columns of them."""
    return tuple(made.evaluate(*made.domain.by_role(row), parameters=parameters_at(made, row)))


def with_points(made: IndexingMap) -> EdgeMap:
    """A map with what is right at all points of its domain, and where these are."""
    asked = [(row, is_inside(made, row)) for row in points_around(made)]
    inside = [row for row, holds in asked if holds and made.forms]
    return EdgeMap(made, [(row, values_at(made, row)) for row in inside], asked)


@pytest.mark.parametrize("language", [each for each in RUNNERS if each != "python"])
def test_code_of_all_maps_is_right(language: str) -> None:
    skip_without(language)
    assert faults(language, [with_points(parse_map(text)) for text in MAPS.values()]) == []


@pytest.mark.parametrize("language", ["numpy", "c", "javascript"])
@few
@given(several=st.lists(maps(), min_size=1, max_size=4))
def test_code_of_any_maps_is_right(language: str, several: list[IndexingMap]) -> None:
    skip_without(language)
    assert faults(language, [*map(with_points, several)]) == []


# Arrays of 32 bits, and points outside of the bounds.


def columns_of(rows: Sequence[Row]) -> list[np.ndarray[Any, Any]]:
    return [np.array(column, dtype="int64") for column in zip(*rows, strict=True)]


def check_values(made: IndexingMap, columns: list[Any], found: Sequence[Any]) -> None:
    right = values_at(made, columns)
    for one, other in zip(found, right, strict=True):
        assert np.array_equal(np.broadcast_to(one, np.shape(other)), np.asarray(other))


@for_all(MAPS)
def test_numpy_is_right_outside_of_the_bounds(text: str) -> None:
    made = parse_map(text)
    rows = points_around(made, 6)
    if " s0, " in text:
        rows = [row for row in rows if row[-1]]  # not divided by zero
    columns, parameters = columns_of(rows), parameters_at(made, columns_of(rows))
    others = columns[: len(columns) - len(parameters)]
    check_values(made, columns, made.to_numpy()(*others, **parameters))


def check_triton(made: IndexingMap) -> None:
    """On tensors of 32 bits, as a kernel has them at first."""
    columns = columns_of([row for row in points_around(made, 0) if is_inside(made, row)])
    if columns:
        found = functions_of(emit(made, "triton", "f"))["f"](*tensors(columns))
        check_values(made, columns, plain_values(found))


@for_all(MAPS)
def test_triton_is_right_where_32_bits_do(text: str) -> None:
    check_triton(parse_map(text))


@few
@given(maps())
def test_triton_is_right_for_any_map(made: IndexingMap) -> None:
    check_triton(made)


def check_mlir(made: IndexingMap) -> None:
    functions = mlir_stand_in.functions_of(emit(made, "mlir", "f"))
    for row in points_around(made)[:200]:
        holds = is_inside(made, row)
        divides_by_zero = "s0" in str(made) and row[-1] == 0
        if not divides_by_zero:
            assert functions["f_contains"](*row) == [int(holds)]
        if holds:
            assert functions["f"](*row) == list(values_at(made, row))


@pytest.mark.needs("jax")
@for_all(MAPS)
def test_mlir_is_read_and_right(text: str) -> None:
    check_mlir(parse_map(text))


@pytest.mark.needs("jax")
@few
@given(maps())
def test_mlir_is_right_for_any_map(made: IndexingMap) -> None:
    check_mlir(made)


# a map => values => the type of the results
@each_named(f"""
beyond the integers of a float: (d0 in [-{2**61}, {2**61}]) -> (d0 floordiv 3, d0 mod 3)
    [2**53 - 1, 2**53, 2**53 + 1, 2**60 + 7, -(2**53) - 1, -(2**60) - 7] => int64
small integers do not wrap: (d0 < 128) -> (d0 * 100) => np.int8([100, 127]) => int64
an overflow within the bounds: (d0 < {2**63}) -> (d0 * d0) => [3, 2**62, 2**61 + 1] => object
no bounds: (d0 in [-inf, inf]) -> (d0 * {2**62}) => [3, 2**62, 2**61 + 1] => object
outside the bounds: (d0 < 4) -> (d0 * 1000000) => [3, 2**62, 2**61 + 1] => object
""")
def test_numpy_is_exact(text: str, values: str, kind: str) -> None:
    made, column = parse_map(text), np.array(evaluated(values, {"np": np}))
    found = made.to_numpy()(column)
    assert {result.dtype for result in found} == {np.dtype(kind)}
    right = [made.evaluate([value]) for value in column.tolist()]
    assert [*zip(*(result.tolist() for result in found), strict=True)] == right


def test_numpy_arrays_broadcast_with_integers() -> None:
    compiled = parse_map("(d0)[s0] -> (d0 * 4 + s0), domain: d0 in [0, 3], s0 in [0, 3]").to_numpy()
    (found,) = compiled(np.arange(4)[:, None], np.arange(4))
    assert found.tolist() == np.arange(16).reshape(4, 4).tolist()
    assert compiled(np.arange(4), 3)[0].tolist() == [3, 7, 11, 15]
    assert compiled(2, np.int8(3)) == (11,)
    assert type(compiled(2, 3)[0]) is int


def test_numpy_results_are_not_the_arguments() -> None:
    given_values = np.arange(4)
    (found,) = IndexingMap.identity([4]).to_numpy()(given_values)
    found[:] = 0
    assert given_values.tolist() == [0, 1, 2, 3]


def test_numpy_functions_can_be_pickled() -> None:
    compiled = parse_map(MAPS["natural quotients"]).to_numpy()
    again = pickle.loads(pickle.dumps(compiled))  # noqa: S301 - our own bytes
    assert again(9, 5) == compiled(9, 5) == (13, 9, 11)


def test_numpy_arguments_are_checked() -> None:
    quotients = parse_map("(d0)[s0] -> (d0 floordiv s0), domain: d0 in [0, 3], s0 in [0, 3]")
    values = np.arange(3)
    for given_values, message in (
        ([values], "to_numpy: got 1 values; expected 2"),
        ([values, 0.5], "expected an integer or an array of integers"),
        ([values, values], "division by zero in d0 floordiv s0"),
    ):
        with pytest.raises(MapError, match=message):
            quotients.to_numpy()(*given_values)


@pytest.mark.parametrize("language", ["c", "cuda", "triton", "mlir"])
def test_methods_write_what_emit_writes(language: str) -> None:
    made = parse_map(MAPS["constraints"])
    assert getattr(made, f"to_{language}")("f") == emit(made, language, "f")


# a map => its results in C
@each_named("""
never negative: (d0 < 32) -> (d0 floordiv 6, d0 mod 6) => d0 / 6 => d0 % 6
by powers: (d0 < 32) -> (d0 floordiv 8, d0 mod 8) => d0 >> 3 => d0 & 7
negative: (d0 in [-1, 31]) -> (d0 floordiv 6, d0 mod 6) => floordiv32(d0, 6) => (d0 + 6) % 6
far: (d0 in [-1, 2147483648]) -> (d0 floordiv 6, d0 mod 6) => floordiv64(d0, 6) => floormod64(d0, 6)
# 64 bits are for what needs them
all fit: (d0 < 2000001) -> (d0 * 1000 + 7) => d0 * 1000 + 7
a sum does not: (d0 < 2000001) -> (d0 * 2000) => (int64_t)d0 * 2000
what is divided does not: (d0 < 2000001) -> ((d0 * 2001) floordiv 5000)
    ((int64_t)d0 * 2001) / 5000
a partial sum does not: (d0 < 2147483648, d1 in [-1, 0]) -> (d0 - d1) => (int64_t)d0 - (int64_t)d1
# dividends stay at least zero
a difference: (x < 1024, z < 4) -> ((z - x) mod 3) => (z - x + 1023) % 3
a sum: (x < 1024, z < 4) -> ((x * 2 + z) mod 3) => (x * 2 + z) % 3
a rolled index: (x < n)<n in [4, 9]> -> ((x - 2) mod n) => (x + n - 2) % n
where 32 bits do not hold the sum: (d0 in [-8, 2147483642]) -> ((d0 + 5) mod 7)
    floormod32(d0 + 5, 7)
""")
def test_c_is_as_cheap_as_the_values_allow(text: str, *written: str) -> None:
    lines = [f"results[{place}] = {value};" for place, value in enumerate(written)]
    assert [line for line in lines if line not in parse_map(text).to_c()] == []


def test_dividends_of_simplified_maps_stay_at_least_zero() -> None:
    made = parse_map("(x, z) -> ((x * 2 + z) mod 3), domain: x in [0, 1023], z in [0, 3]")
    assert "results[0] = (x * 2 + z) % 3;" in made.simplify().to_c()


@each_named("""
all below: d0 in [0, 999], d0 mod 136 in [16, 135] => floormod(d0, 136) >= 16
all above: d0 in [0, 999], d0 mod 136 in [0, 134] => floormod(d0, 136) < 135
both: d0 in [0, 999], d0 mod 136 in [1, 134] => floormod(d0, 136) >= 1 && floormod(d0, 136) < 135
none: d0 in [0, 999], d0 mod 136 in [0, 135] => d0 >= 0 && d0 < 1000
of what may divide by 0: d0 in [0, 5], d1 in [0, 3], d0 floordiv d1 in [0, 5]
    floordiv(d0, d1) >= 0 && floordiv(d0, d1) < 6
""")
def test_masks_ask_what_can_be_false(domain: str, asked: str) -> None:
    dims = "d0, d1" if "d1" in domain else "d0"
    text = emit(parse_map(f"({dims}) -> (d0), domain: {domain}"), "javascript")
    assert text.endswith(f"  return {asked};\n}}\n")


# a map => the name of the function => what is said
@each_named("""
unbounded: (d0 in [0, inf]) -> (d0) => f => d0 has the bounds [0, inf]; expected a bounded variable
too large: (d0 < 4611686018427387905) -> (d0 * 4) => f => d0 * 4 may need more than 64 bits
a constraint: (d0 < 4611686018427387905, d1 < 2) -> (d0), domain: d0 * 5 + d1 in [0, 9] => f
    may need more than 64 bits
a bad name: (d0 < 4) -> (d0) => f(); system => cannot name a function
a keyword: (d0 < 4) -> (d0) => while => cannot name a function
""")
def test_what_64_bits_cannot_hold_is_refused(text: str, name: str, message: str) -> None:
    for language in ("to_c", "to_cuda", "to_triton", "to_mlir"):
        with pytest.raises(MapError, match=f"{language}: .*{re.escape(message)}"):
            getattr(parse_map(text), language)(name)


def test_kinds_name_the_parameters() -> None:
    grid_map = IndexingMap([symbol("th_x")], [Variable((0, 127), "", VariableKind.TH_X)])
    assert "void indexing_map(int32_t th_x, int64_t *results)" in grid_map.to_c()


def test_deep_nests_become_lines() -> None:
    step = parse_map("(d0) -> (max((d0 + 1) floordiv 2, d0 mod 7)), domain: d0 in [0, 9]")
    deep = step
    for _ in range(300):
        deep = compose(deep, step)
    unbounded = IndexingMap.from_forms(deep.forms, step.domain)
    (found,) = unbounded.to_numpy()(np.arange(10))
    assert found.tolist() == [unbounded.evaluate([value])[0] for value in range(10)]
    assert max(map(len, unbounded.to_c().splitlines())) < 500


ROW = IndexingMap.from_sizes("(d0 * 8 + d1) floordiv 6", [10, 8])
COLUMN = IndexingMap.from_sizes("(d0 * 8 + d1) mod 6, d0 + s0", [6, 8], [3])


def test_several_maps_share_what_they_have_in_common() -> None:
    for language in ("c", "cuda", "triton", "numpy", "javascript"):
        text = emit([ROW, COLUMN], language, ["row", "column"])
        assert text.partition("row_column(")[2].count("d0 * 8 + d1") == 1, language


@few
@given(st.lists(maps(), min_size=2, max_size=3))
def test_several_maps_are_right_where_all_are_defined(drawn: list[IndexingMap]) -> None:
    seen: dict[str, Any] = {}
    try:
        text = emit(drawn, "numpy")
    except MapError:
        return  # a name of one is another's kind of variable
    exec(text, seen)  # noqa: S102 - the text under test
    names = list(dict.fromkeys(name for each in drawn for name in each.domain.names))
    boxes = [dict(zip(each.domain.names, each.domain, strict=True)) for each in drawn]
    sizes = [[box[name].bounds for box in boxes if name in box] for name in names]
    lows = [max(bounds.lower or 0 for bounds in each) for each in sizes]
    function = seen["_".join(f"map{number}" for number in range(len(drawn)))]
    point = dict(zip(names, lows, strict=True))
    pairs = [(each, tuple(point[name] for name in each.domain.names)) for each in drawn]
    if all(is_inside(each, row) for each, row in pairs):
        right = [values_at(each, row) for each, row in pairs]
        assert [tuple(map(int, each)) for each in function(*lows)] == right


def test_masks_compare_with_sizes() -> None:
    text = emit(parse_map("(d0) -> (d0), domain: d0 in [0, 196607]"), "triton")
    assert "(d0 < 196608)" in text
    assert "<=" not in text


test_wrong_input_is_refused = refusals(globals(), MapError, ArgumentError)("""
emit([], "c") => emit: maps is empty
emit([None], "c") => emit: maps[0] is None; expected an IndexingMap
emit(7, "c") => emit: maps is 7; expected a map or several
emit([ROW], "basic") => language is 'basic'; expected c, cuda
emit([ROW], ["c"]) => expected its name
emit([ROW], "c", ["a", "b"]) => got 2 names; expected 1
emit([ROW, ROW], "c", ["a", "a"]) => expected different names
emit([ROW], "c", ["while"]) => 'while' cannot name a function
emit([parse_map("(d0) -> (d0 * 3), domain: d0 in [0, 9007199254740992]")], "javascript")
    may need more than 53 bits and a sign
""")


# Near the ends of the integer types, against Python.

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


def edge_maps(language: str) -> Iterator[tuple[str, EdgeMap]]:
    """The maps of a language by name, each with a point and what is right there."""
    for name, (text, point, right) in POINTS.items():
        if name.startswith(f"{language}-"):
            row = literal_eval(point)
            yield name, EdgeMap(parse_map(text), [(row, literal_eval(right))], [(row, True)])
    for name, (domain, point) in OUTSIDE.items():
        if name.startswith(f"{language}-"):
            made = parse_map(f"(d0) -> (d0), domain: {domain}")
            yield name, EdgeMap(made, [], [(literal_eval(point), False)])


@pytest.mark.parametrize("language", ["numpy", "c", "triton", "mlir", "javascript"])
def test_code_is_right_at_the_ends(language: str) -> None:
    skip_without(language)
    named_maps = dict(edge_maps(language))
    names = dict(enumerate(named_maps))
    found = faults(language, [*named_maps.values()])
    assert [(names.get(at, "all"), said) for at, said in found] == []


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
    below = parse_map(TOO_WIDE["bits below the first integer"][0])
    (found,) = below.to_numpy()(np.array([1 - 2**63]))
    assert found.tolist() == [2**63]


COUNTS = {"c": 40, "cuda": 25, "mlir": 10, "javascript": 60}


@pytest.mark.parametrize("language", [each for each in RUNNERS if each != "nvcc"])
def test_random_maps_are_right(language: str) -> None:
    skip_without(language)
    numbers = range(0, COUNTS.get(language, 80), 1 if IN_CI else 4)
    assert faults(language, drawn(language, "test", numbers)) == []


def test_the_search_finds_sums_that_are_too_narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Ranges, "bits_of_sum", Mock(return_value=NARROW))
    assert faults("numpy", drawn("numpy", "test", range(80)))


# Loops made from maps: they visit the points of the domain in order.


def shared_library(text: str, folder: Path) -> ctypes.CDLL:
    """The compiled C of a text, where a warning and what C does not define are errors."""
    strict = ["-Wall", "-Wextra", "-Werror"]
    unused = [f"-Wno-unused-{what}" for what in ("function", "parameter", "variable")]
    checked = ["-fsanitize=undefined", "-fno-sanitize-recover"]
    source, made = folder / "map.c", folder / "map.so"
    source.write_text(text)
    command = ["cc", "-std=c11", *strict, *unused, *checked, "-shared", "-fPIC", "-o", str(made)]
    subprocess.run([*command, str(source)], check=True)
    return ctypes.CDLL(str(made))


def run_node(text: str, script: Path) -> str:
    script.write_text(text)
    command = ["node", str(script)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


LOOPED = MAPS | texts("""
a window: (d0 < 8)[s0 < 3] -> (d0 * 2 + s0 - 1), domain: d0 * 2 + s0 in [1, 16]
a dilated window: (d0 < 10)[s0 < 5] -> ((d0 + s0 - 1) floordiv 2), domain: d0 + s0 in [1, 9], (d0 +
        s0) mod 2 in [1, 1]
backwards: (d0 < 10)[s0 < 10] -> (d0 - s0), domain: d0 * 3 - s0 * 2 in [-4, 7], (d0 - s0) mod 3 in
        [2, 2]
two residues: (d0 < 10)[s0 < 31] -> (s0), domain: (d0 + s0) mod 3 in [1, 1], s0 mod 4 in [2, 2]
no remainder: (d0 < 4)[s0 < 10] -> (s0), domain: (d0 + s0) mod 3 in [4, 4]
a triangle: (d0 < 5)[s0 < 5, s1 < 5] -> (s0 * 5 + s1), domain: s0 + s1 in [0, 4], d0 - s1 in [-3, 0]
no line: (d0 in [-2, 2])[s0 < 5, s1 < 5] -> (s0 * s1), domain: s0 * s0 in [1, 9], d0 * s1 in [-3,
        3], d0 * d0 in [1, 4]
digits: (d0 < 2)[s0 < 48] -> (s0 floordiv 12 + d0, s0 floordiv 4 mod 3, s0 mod 4)
nothing: ()[s0] -> (s0), domain: KNOWN EMPTY
a range that does not begin at 0: ()[s0 in [4, 11]] -> (s0 floordiv 4)
a runtime variable: (d0 < 4)[s0 < 4]{rt0 < 3} -> (d0 + s0 + rt0), domain: s0 + rt0 in [1, 3]
a parameter: (d0 < 3)[s0 < N]<N in [1, 4]> -> (d0 * N + s0)
""")


def expected(indexing_map: IndexingMap) -> dict[Row, list[list[int]]]:
    """For all values of what is no range: the ranges and results of each point in the domain."""
    domain = indexing_map.domain
    dims, ranges = len(domain.dims), len(domain.ranges)
    found: dict[Row, list[list[int]]] = {}
    for point in points_around(indexing_map, 0):
        rows = found.setdefault((*point[:dims], *point[dims + ranges :]), [])
        if is_inside(indexing_map, point):
            rows.append([*point[dims : dims + ranges], *values_at(indexing_map, point)])
    return found


def seen_in_body(indexing_map: IndexingMap, language: str) -> list[str]:
    """The names of what a point has: its ranges, then its results."""
    domain, count = indexing_map.domain, len(indexing_map.results)
    own = [*domain.by_role(names_in(domain, LANGUAGES[language].reserved))[1]]
    return own + (["r"] if count == 1 else [f"r{number}" for number in range(count)])


@pytest.mark.parametrize("text", LOOPED.values(), ids=LOOPED)
def test_loops_in_c_visit_the_points_of_the_domain(text: str, tmp_path: Path) -> None:
    skip_without("c")
    indexing_map = parse_map(text)
    right = expected(indexing_map)
    body = "".join(f"*(*seen)++ = {name};\n" for name in seen_in_body(indexing_map, "c"))
    source = emit_loops(
        indexing_map, "c", body + "++*count;", "r", parameters="int64_t **seen, int64_t *count"
    )
    outer = len(indexing_map.domain.variables) - len(indexing_map.ranges)
    arguments = ", ".join([*(f"point[{place}]" for place in range(outer)), "&seen", "&count"])
    source += f"""int64_t run(const int64_t *point, int64_t *seen) {{
  int64_t count = 0;
  r_loops({arguments});
  return count;
}}
"""
    compiled = shared_library(source, tmp_path)
    compiled.run.restype = ctypes.c_int64
    width = len(seen_in_body(indexing_map, "c"))
    buffer = (ctypes.c_int64 * (1 << 12))()
    for point, wanted in right.items():
        count = compiled.run((ctypes.c_int64 * (outer + 1))(*point), buffer)
        found = [list(buffer[place * width :][:width]) for place in range(count)]
        assert found == wanted, point


def test_loops_in_javascript_visit_the_points_of_the_domain(tmp_path: Path) -> None:
    skip_without("javascript")
    lines: list[str] = []
    right: list[list[list[list[int]]]] = []
    for text in LOOPED.values():
        indexing_map = parse_map(text)
        body = f"seen.push([{', '.join(seen_in_body(indexing_map, 'javascript'))}]);"
        source = emit_loops(indexing_map, "javascript", body, "r", parameters="seen")
        by_point = expected(indexing_map)
        right.append([*by_point.values()])
        calls = "".join(
            f"seen = []; r_loops({', '.join([*map(str, point), 'seen'])}); all.push(seen);\n"
            for point in by_point
        )
        lines.append(f"{{ {source}\nlet seen; const all = [];\n{calls} every.push(all); }}")
    program = (
        f'"use strict"; const every = []; {"".join(lines)}; console.log(JSON.stringify(every))'
    )
    printed = run_node(program, tmp_path / "loops.js")
    for name, found, wanted in zip(LOOPED, json.loads(printed), right, strict=True):
        assert found == wanted, name


def check_masks(indexing_map: IndexingMap, rows: list[tuple[Any, ...]]) -> None:
    """Compares masks, ranges and results with those of each point."""
    right = expected(indexing_map)
    found: dict[Row, list[list[int]]] = {point: [] for point in right}
    for mask, *values in rows:
        columns = [
            np.broadcast_to(values_in(each), len(right)).tolist() for each in (mask, *values)
        ]
        for point, is_inside, *row in zip(right, *columns, strict=True):
            if is_inside:
                found[point].append(row)
    assert found == right


def outer_columns(indexing_map: IndexingMap) -> list[np.ndarray[Any, Any]]:
    outer = len(indexing_map.domain.variables) - len(indexing_map.ranges)
    points = [*expected(indexing_map)]
    return [*np.array(points, dtype=np.int64).reshape(len(points), outer).T]


def seeing(indexing_map: IndexingMap, language: str) -> str:
    body = f"seen.append(({', '.join(['mask', *seen_in_body(indexing_map, language)])},))"
    return emit_loops(indexing_map, language, body, "r", parameters="seen")


def check_numpy(indexing_map: IndexingMap) -> None:
    scope: dict[str, Any] = {}
    exec(seeing(indexing_map, "numpy"), scope)  # noqa: S102 - the text under test
    rows: list[tuple[Any, ...]] = []
    with np.errstate(divide="ignore"):
        scope["r_loops"](*outer_columns(indexing_map), rows)
    check_masks(indexing_map, rows)


@for_all(LOOPED)
def test_loops_in_numpy_say_which_points_are_inside(text: str) -> None:
    check_numpy(parse_map(text))


@seldom
@given(maps())
def test_loops_of_random_maps_say_which_points_are_inside(indexing_map: IndexingMap) -> None:
    check_numpy(indexing_map)


@for_all(LOOPED)
def test_loops_in_triton_say_which_points_are_inside(text: str) -> None:
    indexing_map = parse_map(text)
    rows: list[tuple[Any, ...]] = []
    compute = functions_of(seeing(indexing_map, "triton"))["r_loops"]
    with np.errstate(divide="ignore"):  # what is chosen away is computed, too
        compute(*tensors(outer_columns(indexing_map)), rows)
    check_masks(indexing_map, rows)


def looped(name: str, language: str = "c") -> str:
    """The loops of a map, with nothing in them."""
    return emit_loops(parse_map(LOOPED[name]), language, "", "r")


def test_constraints_become_the_ends_of_loops() -> None:
    text = looped("a window")
    assert "for (int32_t s0 = maximum32(d0 * -2 + 1, 0); s0 < 3; ++s0) {" in text
    assert "if" not in re.sub("#.*", "", text)


def test_residues_become_the_steps_of_loops() -> None:
    text = looped("a dilated window")
    assert "; s0 += 2) {" in text
    assert "if (" not in text


def test_what_no_loop_can_meet_is_asked_outside_of_the_loops_that_do_not_change_it() -> None:
    text = looped("no line")
    heads = re.findall(r"(if|for) \((?:int32_t (\w+) = )?(.*?)[;)]", text)
    assert [(word, name or asked) for word, name, asked in heads] == [
        ("if", "d0 * d0 >= 1"),
        ("for", "s0"),
        ("if", "s0 * s0 >= 1 && s0 * s0 < 10"),
        ("for", "s1"),
        ("if", "d0 * s1 >= -3 && d0 * s1 < 4"),
    ]


def test_masks_stand_outside_of_the_loops_that_do_not_change_them() -> None:
    text = looped("no line", "triton")
    before, outer, inner = re.split(r"for s\d in", text)
    assert "d0 * d0 >= 1" in before
    assert "s0 * s0 < 10" in outer
    assert "mask = is_inside & is_inside_2 & is_inside_3 & (d0 * s1 >= -3)" in inner


def test_loops_are_split_where_that_spares_divisions() -> None:
    text = looped("digits")
    counters = [("s0_by_12", "4"), ("s0_by_4", "3"), ("s0_by_1", "4")]
    assert re.findall(r"int32_t (\w+) = 0; \w+ < (\d+)", text) == counters
    assert not re.search(r"[/%&]|>>", text.partition("{")[2])


def test_results_are_computed_where_they_are_known() -> None:
    made = parse_map("(d0)[s0] -> (d0 floordiv 3, s0), domain: d0 in [0, 8], s0 in [0, 2]")
    text = emit_loops(made, "c", "", "r")
    assert text.index("r0 =") < text.index("for (") < text.index("r1 =")


def test_ranges_of_one_name_are_one_loop(tmp_path: Path) -> None:
    skip_without("c")
    read = parse_map(
        "(d0)[s0] -> (d0 + s0 - 1), domain: d0 in [0, 9], s0 in [0, 2], d0 + s0 in [1, 10]"
    )
    weight = parse_map("()[s0] -> (2 - s0), domain: s0 in [0, 2]")
    arrays = "const int32_t *x, const int32_t *w, int32_t *y"
    body, names = "*y += x[read] * w[weight];", ["read", "weight"]
    text = emit_loops([read, weight], "c", body, names, parameters=arrays)
    text += (
        f"void run({arrays})"
        + """ {
  for (int32_t d0 = 0; d0 < 10; ++d0) read_weight_loops(d0, x, w, &y[d0]);
}
"""
    )
    x, w, y = np.arange(3, 13, dtype="int32"), np.array([2, 3, 5], "int32"), np.zeros(10, "int32")
    shared_library(text, tmp_path).run(
        *(each.ctypes.data_as(ctypes.c_void_p) for each in (x, w, y))
    )
    assert y.tolist() == np.convolve(x, w, "same").tolist()


IDENTITY = parse_map("(d0)[s0] -> (d0 + s0), domain: d0 in [0, 3], s0 in [0, 3]")
test_what_cannot_be_written_is_refused = refusals(globals(), MapError, TypeError)("""
emit_loops([IDENTITY], "mlir", "") => emit_loops: language is 'mlir'; expected c, cuda
emit_loops([IDENTITY], ["c"], "") => expected its name
emit_loops([IDENTITY], "c", "", "d0") => emit_loops: d0 is a result and also a variable
emit_loops([IDENTITY], "c", "", "mask")
    emit_loops: mask is a result and also what says which points are inside
emit_loops([IDENTITY], "c", 3) => emit_loops: body is 3; expected a string
emit_loops([IDENTITY], "c", "", ["a", "b"]) => emit_loops: got 2 names; expected 1, one for each map
emit_loops([], "c", "") => emit_loops: maps is empty; expected a map at least
emit_loops([IDENTITY, parse_map("(s0) -> (s0), domain: s0 in [0, 3]")], "c", "")
    emit_loops: s0 is a range of one map and none of another; expected names of one role
emit_loops([parse_map("(d0)[s0] -> (s0), domain: d0 in [0, 3], s0 in [0, inf]")], "c", "")
    emit_loops: s0 has the bounds
""")


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
