"""Values: at a point, on arrays of any size of integer, over the domain."""

from __future__ import annotations

from ast import literal_eval
from itertools import islice, product
from typing import Any, cast

import numpy as np
import pytest
import sympy
from hypothesis import given

from indexing import IndexingMap, MapError, parse_map
from indexing.domain import Domain
from indexing.variable import Variable
from simplifier.expr import operations
from simplifier.expr.form import Form
from simplifier.expr.sympy import from_sympy
from tests.cases import for_all
from tests.evaluation import values_of
from tests.indexing.tables import each_named, each_row, each_text, evaluated, refusals
from tests.strategies import NAMES, bounded_boxes, expressions, points_of

tiles = IndexingMap.from_sizes("d0 floordiv 4, d0 mod 4 + s0 * rt0, min(d0, s0)", [16], [4], [3])


def on_point(dims: int, ranges: int, runtime: int) -> tuple[int, ...]:
    """What the map above says, in Python."""
    return dims // 4, dims % 4 + ranges * runtime, min(dims, ranges)


@pytest.mark.parametrize(
    "point",
    [(0, 0, 0), (15, 3, 2), (-5, 7, -1), (10**30, 1, 10**20), (np.int8(-5), np.uint8(7), -1)],
)
def test_a_point(point: tuple[int, int, int]) -> None:
    dims, ranges, runtime = point
    values = tiles.evaluate([dims], [ranges], [runtime])
    assert values == on_point(*map(int, point))
    assert {type(value) for value in values} == {int}


def test_arrays_broadcast() -> None:
    dims = np.arange(16)[:, None]
    ranges = np.arange(4)[None, :]
    found = tiles.evaluate([dims], [ranges], [2])
    for i, j in product(range(16), range(4)):
        expected = on_point(i, j, 2)
        assert tuple(np.broadcast_to(result, (16, 4))[i, j] for result in found) == expected
    assert found[1].dtype == np.int64


# results => values
@each_named(f"""
small integers do not wrap: d0 * 100 => np.int8([100, 127])
products: d0 * d0 * d0 => [2**40, -(2**40)]
coefficients: d0 * {2**63} => [1, 2]
constants: (d0 + {2**63}) mod {2**64} => [1, 2]
inside only: (d0 * {2**20}) floordiv {2**30} => [3, 2**62]
unsigned: d0 + 1, d0 floordiv -3 => np.uint64([2**64 - 1, 0])
the smallest: -d0, d0 - 1, d0 mod 7 => [-(2**63)]
Python integers: d0 mod 97, d0 - 1 => np.array([10**40, -(10**40)], dtype=object)
quotients by -1: d0 floordiv -1 => [-(2**63)]
""")
def test_arrays_are_exact_beyond_64_bits(text: str, values: str) -> None:
    wide = parse_map(f"(d0) -> ({text}), domain: d0 in [-inf, inf]")
    column = np.array(evaluated(values, {"np": np}))
    found = wide.evaluate([column])
    points = [wide.evaluate([int(value)]) for value in column]
    assert list(zip(*(map(int, each) for each in found), strict=True)) == points


@each_text(f"""
the number is chosen: select(d1 > 1, d0 * d0, 0)
the number comes first: select(d1 > 1, d1 * d0, d0)
sums of conditions: (d1 > 1) * {2**63} + (d1 > 0) * {2**63} + d0 * d0
""")
def test_choices_are_exact_beyond_64_bits(text: str) -> None:
    made = parse_map(f"(d0, d1) -> ({text}), domain: d0 in [0, {2**40}], d1 in [0, {2**60}]")
    for number in (5, 2**40):
        (found,) = made.evaluate([number, np.array([1, 2, 2**60])])
        points = [made.evaluate([number, value])[0] for value in (1, 2, 2**60)]
        assert found.tolist() == points


def test_choices_in_functions_of_bits() -> None:
    bits = "bitor(d0, select(d1 != 0, d0 floordiv d1, 5))"
    made = IndexingMap.from_sizes(f"{bits}, (select(d1 > 0, d0 mod d1, d0) >= 2) * 8", [8, 4])
    points = [*product(range(8), range(4))]
    expected = [
        (d0 | (d0 // d1 if d1 else 5), 8 * ((d0 % d1 if d1 else d0) >= 2)) for d0, d1 in points
    ]
    assert [made.evaluate(point) for point in points] == expected
    columns = made.evaluate([*np.array(points).T])
    assert [*zip(*(column.tolist() for column in columns), strict=True)] == expected


def test_empty_arrays() -> None:
    halves = parse_map("(d0) -> (d0 mod 3, 7), domain: d0 in [0, 9]")
    found, constant = halves.evaluate([np.array([], dtype=int)])
    assert found.shape == (0,)
    assert constant == 7


test_what_is_refused = refusals(globals(), MapError, whole=True)("""
tiles.evaluate([1], [1]) => evaluate: runtime has 0 values; expected 1
tiles.evaluate([1, 2], [1], [1]) => evaluate: dims has 2 values; expected 1
tiles.evaluate([0.5], [1], [1])
    evaluate: dims has the value 0.5; expected an integer or an array of integers
tiles.evaluate([1], [np.array([0.5])], [1])
    evaluate: ranges has the value array([0.5]); expected an integer or an array of integers
parse_map("(d0) -> (7 floordiv d0), domain: d0 in [0, 1]").evaluate([0])
    evaluate: division by zero in 7 floordiv d0
parse_map("(d0) -> (7 mod d0), domain: d0 in [0, 1]").evaluate([np.arange(3)])
    evaluate: division by zero in 7 mod d0
next(parse_map("(d0) -> (d0), domain: d0 in [0, inf]").points())
    points: d0 has the bounds [0, inf]; expected a bounded variable
""")


@given(expressions(), bounded_boxes())
def test_arrays_points_and_plain_arithmetic_agree(form: Form, box: dict[str, Any]) -> None:
    domain = Domain.of([Variable(box[name], name) for name in NAMES])
    made = IndexingMap.from_forms(operations.substitute([form], domain.by_name), domain)
    points = points_of(box)
    expected, defined = values_of(form, points)
    columns = [column[defined].astype(np.int64) for column in points.values()]
    (found,) = made.evaluate(columns)
    assert np.broadcast_to(found, columns[0].shape).tolist() == expected[defined].tolist()
    for row, value in list(zip(zip(*columns, strict=True), expected[defined], strict=True))[:3]:
        assert made.evaluate(row) == (value,)


@for_all([-(2**64), -(2**63) - 1, -(2**63), 2**63 - 2, 2**64])
def test_points_beyond_64_bits(first: int) -> None:
    made = parse_map(f"(d0) -> (d0 + 1), domain: d0 in [{first}, {first + 2}]")
    pairs = [(int(dim), int(result)) for (dim,), _, _, (result,) in made.points()]
    assert pairs == [(first + at, first + at + 1) for at in range(3)]


# a map => its first two points: those of a large domain come at once
@each_row("""
(d0 < 1000000000, d1 < 1000000000) -> (d1) => [((0, 0), (), (), (0,)), ((0, 1), (), (), (1,))]
() -> (7) => [((), (), (), (7,))]
() -> (0), domain: KNOWN EMPTY => []
() -> () => [((), (), (), ())]
""")
def test_points_come_one_after_the_other(text: str, first: str) -> None:
    assert [*islice(parse_map(text).points(), 2)] == literal_eval(first)
    assert not parse_map("() -> (0), domain: KNOWN EMPTY").contains([])


def test_foreign_functions_have_no_values() -> None:
    foreign = cast("Any", sympy).Function("f", integer=True)
    result = from_sympy(foreign(sympy.Symbol("d0", integer=True)))
    made = IndexingMap.from_forms([result], Domain.of([Variable((0, 3))]))
    with pytest.raises(MapError, match="is not integer arithmetic"):
        made.evaluate([1])
