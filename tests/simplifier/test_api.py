"""What users call: their own symbols, bounds by symbol or name, assumptions, costs, refusals."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import itemgetter
from typing import Any, TypeAlias
from warnings import catch_warnings

import pytest
import sympy

from simplifier import BoundsWarning, Facts, Interval, bounds_of, parse_expr, simplify
from simplifier.expr.functions import CeilDiv, FloorDiv, Max, Min, Mod, symbol
from simplifier.expr.sympy import ConversionError
from simplifier.problem import BoundsError
from simplifier.simplification import cost, equivalent, operator_count
from tests.cases import for_all

Expression: TypeAlias = "sympy.Expr | int"
Bounds: TypeAlias = dict[Any, Any]
Ends: TypeAlias = tuple[int | None, int | None]

x, y = symbol("x"), symbol("y")
inner = symbol("inner.1")
"""Called like a new variable, but without bounds."""
plain = sympy.Symbol("x")
natural = sympy.Symbol("n", integer=True, nonnegative=True)
positive = sympy.Symbol("p", integer=True, positive=True)
negative = sympy.Symbol("m", integer=True, negative=True)
even, odd = sympy.Symbol("e", even=True), sympy.Symbol("o", odd=True)
MINOR, FIFTH = Mod(x, 5), FloorDiv(x, 5)

SIMPLIFIED: list[tuple[Any, ...]] = [
    # expression, bounds, result, constraints
    (8 * FloorDiv(x, 8) + Mod(x, 8), {x: (0, 63)}, x),
    (8 * FloorDiv(x, 8) + Mod(x, 8), {"x": Interval(0, 63)}, x),
    (FloorDiv(plain, 8), {plain: (0, 7)}, 0),
    (Mod(plain, 8) + 1, {"x": (0, 7)}, plain + 1),
    (FloorDiv(x, 8), {"x": (8, 15), "unused": (0, 3)}, 1),
    (x + y, {x: 3}, y + 3),
    (7, {}, 7),
    (x, {}, x),
    (FloorDiv(2 * inner + 3 * MINOR + FIFTH, 2), {x: (0, 59)},
     inner + FloorDiv(MINOR + FIFTH, 2) + MINOR),
    # sympy's own functions
    (8 * sympy.floor(x / 8) + sympy.Mod(x, 8), {}, x),
    (sympy.ceiling(x / 4), {x: (1, 4)}, 1),
    (sympy.Max(sympy.Min(x, 9), 0), {x: (0, 9)}, x),
    # what symbols assume about themselves
    (Max(natural, 0), {}, natural),
    (Min(positive, 1), {}, 1),
    (Max(negative, 0), {}, 0),
    (Mod(natural, 8), {"n": (None, 7)}, natural),
    # an infinite end is none
    (FloorDiv(x, 4), {x: (0, sympy.S.Infinity)}, FloorDiv(x, 4)),
    (Max(FloorDiv(x, 4), 0), {x: (sympy.S.NegativeInfinity, float("inf"))}, Max(FloorDiv(x, 4), 0)),
    (sympy.floor(even / 2) * 2, {}, even),
    (sympy.Symbol("nought", zero=True), {}, 0),
    # no value at all
    (x + 5, {x: (1, 0)}, 0),
    (x + 5, {y: (1, 0)}, 0),
    (natural, {"n": (None, -1)}, 0),
    # under a constraint
    (FloorDiv(x, 64), {}, 0, [(x, (0, 63))]),
    (FloorDiv(86 * x + y, 1024), {}, 0, [(86 * x + y, (0, 1023))]),
    (Mod(86 * x + y, 1024), {}, 86 * x + y, [(86 * x + y, (0, 1023))]),
    (FloorDiv(86 * x + y + 1, 1024), {}, 0, [(86 * x + y, (0, 1022))]),
    (Max(x - y, 0), {}, x - y, [(x - y, (0, None))]),
    (x, {}, 0, [(Mod(x, 5), (7, 6))]),
]  # fmt: skip


@for_all(SIMPLIFIED)
def test_simplified(row: tuple[Any, ...]) -> None:
    expression, bounds, result, *constraints = row
    assert simplify(expression, bounds, *constraints) == result
    assert simplify(result, bounds, *constraints) == result


def test_bounds_by_symbol_and_by_name_are_joined_and_may_be_none() -> None:
    assert simplify(8 * FloorDiv(x, 8) + Mod(x, 8)) == x
    assert bounds_of(Mod(x, 8)) == Interval(0, 7)
    assert equivalent(Mod(x, 6) // 2, FloorDiv(x, 2) % 3)
    both: Bounds = {"p": (0, 9), positive: (-5, 20)}
    assert bounds_of(positive, both) == Interval(1, 9)
    assert bounds_of(positive, dict(reversed(both.items()))) == Interval(1, 9)


CONTRADICTIONS: list[list[tuple[Expression, Ends]]] = [
    # constraints that leave no point
    [(x, (1, 3)), (x, (5, 9))], [(x + y, (0, 3)), (x + y, (5, 9))], [(7, (0, 3))],
    [(Mod(x, 4), (5, 9))], [(y, (1, None)), (y, (None, 0))],
]  # fmt: skip


@for_all(CONTRADICTIONS)
def test_contradictions_end_in_an_answer(constraints: list[tuple[Expression, Ends]]) -> None:
    expression = FloorDiv(FloorDiv(x, y), 2) + Mod(x, 3)
    assert cost(simplify(expression, {}, constraints)) <= cost(expression)
    bounds_of(expression, {}, constraints)


BOUNDS: list[tuple[Expression, Bounds, Ends]] = [
    # expression, bounds, interval
    (x * 2 + y, {x: (0, 9), y: (-10, -1)}, (-10, 17)), (Mod(x, 8), {}, (0, 7)),
    (Mod(x, -8), {}, (-7, 0)), (FloorDiv(x, -3), {x: (-4, 9)}, (-3, 1)),
    (CeilDiv(x, 4), {x: (1, 9)}, (1, 3)), (Min(x, y), {x: (0, 9), y: (-10, -1)}, (-10, -1)),
    (x - 32 * FloorDiv(x, 32) + 32 * y, {x: (0, 1023), y: (0, 31)}, (0, 1023)),
    (x * y, {x: (-2, 3), y: (-5, 7)}, (-15, 21)), (x * x, {x: (-2, 3)}, (0, 9)),
    (x, {}, (None, None)), (natural + 1, {}, (1, None)), (x, {x: (3, 2)}, (0, -1)),
    (FloorDiv(8 * x + y, 12), {x: (0, 2), y: (0, 7)}, (0, 1)),
]  # fmt: skip


@for_all(BOUNDS)
def test_bounds(expression: Expression, bounds: Bounds, interval: Ends) -> None:
    assert bounds_of(expression, bounds) == Interval.of(interval)


COSTS = [
    # text, cost, operators as written
    ("0", 0, 0), ("x", 0, 0), ("-x", 1, 1), ("-5", 0, 0), ("x + 1", 1, 1), ("x - y", 1, 1),
    ("-x - y", 2, 2), ("13 - x", 1, 1), ("x * 8", 1, 1), ("x * 3", 2, 1), ("x * -3", 2, 1),
    ("x * 3 - y * 3", 5, 2), ("x * 3 + y * 2", 4, 3), ("x floordiv 8", 1, 3),
    ("x floordiv 7", 4, 3), ("x mod 7", 6, 3), ("x ceildiv 8", 2, 4), ("x floordiv n", 4, 3),
    ("min(x, y)", 2, 3), ("min(x, y, 3)", 4, 6), ("x * y", 2, 1), ("x * y * 2", 3, 2),
    ("(x + 1) * (y + 1)", 4, 3), ("(x * 8 + y) floordiv 3", 6, 5), ("d0 * 8 + s0 mod 3", 8, 5),
    ("x >= y", 1, 1), ("select(x >= y, x, 0)", 3, 4),
    # what is used again costs nothing
    ("x mod 7 + x floordiv 7", 7, 7), ("(x + 6) floordiv 7 + x ceildiv 7", 6, 9),
    ("(x floordiv 7) * y + x floordiv 7", 7, 8),
    ("(x * 3 + y) mod 8 + (x * 3 + z) mod 8", 7, 11),
    ("x floordiv 7 + y floordiv 7", 9, 7), ("x + x floordiv 8", 2, 4),
]  # fmt: skip


@for_all(COSTS)
def test_costs(text: str, *expected: int) -> None:
    assert (cost(parse_expr(text)), operator_count(parse_expr(text))) == expected


HINT = "expected an integer, floor around it, or a fact such as x mod 2 == 0"
TWO_SYMBOLS = "two different symbols are called 'x'; expected one"
WHAT_IS_BOUNDED = "bounds are given for {}; expected a symbol or its name".format
ask_any: Any = simplify
bounds_any: Any = bounds_of
"""As those call it who check no types."""

NAMED: list[tuple[Bounds | Facts, str]] = [
    # bounds for `x % 8 + d0`, which of their names are said to be wrong
    ({"do": (0, 7)}, "do, which does not occur, but not for d0"),
    ({"x": (0, 7), "0d": 8}, "0d, which does not occur, but not for d0"),
    ({"X": 3, "D0": 4, "s1": 1}, "D0, X, which does not occur, but not for d0, x"),
    ({}, ""), ({"x": (0, 7)}, ""), ({y: (0, 7)}, ""), (Facts({"do": (0, 7)}), ""),
    ({"d1": 3, "s0": 4}, ""), ({"x": 3, "d0": (None, None), "do": 5}, ""),
]  # fmt: skip


@for_all(NAMED)
def test_a_misspelt_name_is_noted(bounds: Bounds | Facts, said: str) -> None:
    question = Mod(x, 8) + symbol("d0")
    calls = [partial(each, question) for each in (simplify, bounds_of, cost)]
    for ask in (*calls, partial(equivalent, 0, question), *calls):  # again: also from memory
        with catch_warnings(record=True, action="always") as caught:
            ask(bounds)
        expected = f"bounds are given for {said}"
        assert all(expected in str(each.message) for each in caught)
        assert [each.category for each in caught] == [BoundsWarning] * bool(said)
        assert all(each.filename == __file__ for each in caught)


REFUSED: list[tuple[Callable[[], object], type[Exception], str]] = [
    (lambda: simplify(x / 2), ConversionError, f"x/2: is a fraction; {HINT}"),
    (
        lambda: ask_any("x + 1"),
        ConversionError,
        "x + 1: has type str; expected integer arithmetic; parse_expr reads texts",
    ),
    (lambda: simplify(x + plain), BoundsError, f"simplify: {TWO_SYMBOLS}"),
    (lambda: equivalent(x, plain), BoundsError, f"equivalent: {TWO_SYMBOLS}"),
    (lambda: ask_any(x, {x + 1: (0, 3)}), BoundsError, f"simplify: {WHAT_IS_BOUNDED('x + 1')}"),
    (lambda: bounds_any(x, {3: (0, 3)}), BoundsError, f"bounds_of: {WHAT_IS_BOUNDED('3')}"),
]


@for_all(REFUSED, itemgetter(2))
def test_what_is_refused(ask: Callable[[], object], error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        ask()
    assert str(caught.value) == message


def test_the_exact_tier_knows_assumptions_too() -> None:
    assert simplify(Mod(even, 2) + Mod(odd, 4) * 3 + Mod(odd, 2), {odd: (4, 6)}, exact=True) == 4
    assert bounds_of(even, {even: (1, 9)}, exact=True) == Interval(2, 8)
    assert equivalent(Max(natural, 0), natural, {})
    assert not equivalent(Max(x, 0), x, {})
