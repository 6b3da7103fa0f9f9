"""Conditions, choices, functions of bits: as values, as facts, as text."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st
from sympy import And, Eq, Ne, Not, Or, Piecewise, Symbol

from indexing import parse_map
from simplifier import Interval, bounds_of, format_expr, parse_expr, simplify
from simplifier.bounds.context import facts_of
from simplifier.canonical.scope import scope_of
from simplifier.errors import TextError
from simplifier.expr import operations
from simplifier.expr.form import BITWISE, Form, constant, variable
from simplifier.expr.functions import BitAnd, BitOr, BitXor, FloorDiv, Max, Min, Mod
from simplifier.expr.sympy import ConversionError
from simplifier.expr.text import parse_form
from simplifier.extraction import costs_of
from simplifier.extraction.width import is_wide
from simplifier.fixpoint import simplified
from simplifier.problem import BoundsError, Constraints
from tests.cases import for_all, for_table
from tests.evaluation import every_point, first_difference, values_of
from tests.simplifier.objective import check_range

x, y, z, n, a, b, K = (Symbol(name, integer=True) for name in "xyznabK")

CASES: dict[str, tuple[Any, ...]] = {
    # expression, result, bounds, facts
    "decided by bounds": (Piecewise((1, x < 5), (2, True)), 1, {x: (0, 4)}),
    "decided by a fact": (Piecewise((1, x < y), (2, True)), 1, {}, [x < y]),
    "branch under its condition": (Piecewise((Max(x, 3), x >= 5), (0, True)),
     Piecewise((x, x >= 5), (0, True))),
    "branch under the negation": (Piecewise((y, x >= 5), (Max(x, 5), True)),
     Piecewise((y, x >= 5), (5, True))),
    "maximum": (Piecewise((x, x >= 5), (5, True)), Max(x, 5)),
    "minimum": (Piecewise((6, x > 6), (x, True)), Min(x, 6)),
    "clamp": (Piecewise((0, x < 0), (6, x > 6), (x, True)), Min(Max(x, 0), 6), {x: (-20, 20)}),
    "neither less nor greater": (Piecewise((x, x >= 5), (7, True)),
     Piecewise((x, x >= 5), (7, True))),
    "index from the end": (Piecewise((x + 64, x < 0), (x, True)), Mod(x, 64), {x: (-64, 63)}),
    "index that wraps": (Piecewise((x, x < 10), (x - 10, True)), Mod(x, 10), {x: (0, 19)}),
    "index that wraps twice": (Piecewise((x, x < 10), (x - 10, True)),
     x + Piecewise((-10, x >= 10), (0, True)), {x: (0, 20)}),
    "minimum without a value": (Piecewise((FloorDiv(x, n), n >= 1), (0, True)),
     Piecewise((FloorDiv(x, n), n >= 1), (0, True)), {x: (0, 9)}),
    "equal branches": (Piecewise((0, Eq(x, 0)), (x, True)), x),
    "what both branches share": (Piecewise((x + z, x >= y), (n + z, True)) - z,
     Piecewise((x, x >= y), (n, True))),
    "later branch of several": (Piecewise((1, x > 5), (2, x > 7), (3, True)),
     Piecewise((1, x >= 6), (3, True))),
    "remainder of a choice": (sympy.Mod(Piecewise((8 * x, y > 5), (16 * z, True)) + a, 8),
     a, {a: (0, 7)}),
    "only where it is defined": (Piecewise((FloorDiv(x * n, n), Ne(n, 0)), (x, True)), x),
    "condition": (x + 3 < y + 3, x < y),
    "quotients of neighbours": (FloorDiv(x, 8) < FloorDiv(x + 3, 8), Mod(x, 8) >= 5),
    "quotients of neighbours, turned": (FloorDiv(x, 8) >= FloorDiv(x + 3, 8), Mod(x, 8) < 5),
    "equal quotients of neighbours": (Eq(FloorDiv(x + 6, 8), FloorDiv(x + 3, 8)),
     Mod(x + 3, 8) < 5),
    "decided condition": (x < 5, sympy.true, {x: (0, 4)}),
    "contradiction": (And(x < 5, x > 7), sympy.false),
    "redundant condition": (And(x < 5, x < 7), x < 5),
    "alternatives": (Or(x < 5, x < 7), x < 7),
    "equation of a remainder": (Eq(Mod(x, 8), 9), sympy.false),
    "negation": (Not(x < 5), x >= 5),
    "fractions of a fact": (K * x / 2, FloorDiv(K * x, 2), {}, [Eq(sympy.Mod(K, 256), 0)]),
    "fractions in branches": (Piecewise((K / 4, x < 5), (y, True)),
     Piecewise((FloorDiv(K, 4), x < 5), (y, True)), {}, [Eq(sympy.Mod(K, 256), 0)]),
    "fractions under their conditions": (
     Piecewise((x / 2, Eq(sympy.Mod(x, 2), 0)), ((x + 1) / 2, True)),
     FloorDiv(x + 1, 2)),
    "product of neighbours": (x * (x + 1) / 2, FloorDiv(x**2 + x, 2), {x: (0, None)}),
    "product of three neighbours": (x * (x + 1) * (x + 2) / 6, 20, {x: (4, 4)}),
    "implication": (Piecewise((x, sympy.Implies(x < 5, y < 3)), (y, True)),
     Piecewise((x, y < 3), (y, True)), {x: (0, 4)}),
    "all or none": (sympy.Equivalent(x < 5, y < 3, Eq(z, 0)), And(y < 3, Eq(z, 0)), {x: (0, 4)}),
    "fraction in a fact alone": (x, x, {}, [Eq(sympy.Mod(K, 256), 0), (K / 2, (0, 9))]),
    "divisor of a fact": (sympy.Mod(x, K / 32),
     Mod(x, FloorDiv(K, 32)), {K: (1, None)}, [Eq(sympy.Mod(K, 256), 0)]),
    "symbols as conditions": (Piecewise((1, Not(x)), (2, And(x, y)), (3, True)),  # pyright: ignore[reportArgumentType] - sympy takes them
     Piecewise((1, Eq(x, 0)), (2, Ne(y, 0)), (3, True))),
    "bits apart": (BitXor(8 * x, y), 8 * x + y, {y: (0, 7)}),
    "disjoint bits": (BitOr(16 * x, 4 * y), 16 * x + 4 * y, {y: (0, 3)}),
    "low bits": (BitAnd(x, 7) + 8 * FloorDiv(x, 8), x),
    "flipped bits": (BitXor(x, 15), 15 - x, {x: (0, 15)}),
    "same bits": (BitXor(x + y, y + x), 0),
    "same high bits": (BitXor(Mod(x, 8), Mod(y, 4) + 4) - BitXor(Mod(x, 8), Mod(y, 4)),
     4 - 8 * Mod(FloorDiv(x, 4), 2)),
    "bits that meet again": (BitXor(x, 5, y, x, 9), BitXor(y, 12)),
    "bits in any order": (BitXor(x, BitXor(y, z)) - BitXor(z, BitXor(x, y)), 0),
    "bits once": (BitOr(BitAnd(x, y, x), BitAnd(y, x)), BitAnd(x, y)),
    "equal low bits": (BitXor(8 * x + y, 8 * z + y), 8 * BitXor(x, z), {y: (0, 7)}),
    "equal high bits": (BitXor(8 * x + y, 8 * x + z), BitXor(y, z), {y: (0, 7), z: (0, 7)}),
    "low bits that may carry": (BitXor(8 * x + y, 8 * z + y),
     BitXor(8 * x + y, y + 8 * z), {y: (0, 8)}),
    "bits as they stand": (3 * BitXor(Mod(x, 8), Mod(y, 4)), 3 * BitXor(Mod(y, 4), Mod(x, 8))),
    "bits of numbers": (BitXor(12, 10) + BitAnd(12, 10) + BitOr(12, 10), 28),
}  # fmt: skip


@for_all(CASES)
def test_simplified(row: tuple[Any, ...]) -> None:
    expression, result, *known = row
    assert simplify(expression, *known) == result


FACTS: dict[str, tuple[Any, Constraints, tuple[int | None, int | None]]] = {
    "less": (n - x, [x < n], (1, None)),
    "greater or equal": (x, [x >= 5], (5, None)),
    "equation": (x - y, [Eq(x, y + 3)], (3, 3)),
    "all of several": (x, [And(x >= 5, x <= 8, y > 2)], (5, 8)),
    "not less": (x, [Not(x < 5)], (5, None)),
    "not zero": (x, [Ne(x, 0), x >= 0], (1, None)),
    "scaled": (4 * a + 6 * b, [2 * a + 3 * b >= 10], (20, None)),
    "product": ((n - 2) * (y - 2) - a, [a < (n - 2) * (y - 2)], (1, None)),
    "fraction": (x, [x / 2 < sympy.Rational(7, 2)], (None, 6)),
    "what is always so": (x, [sympy.true, True], (None, None)),
    "as a pair": (x, [(x >= 5, 0)], (None, 4)),
    "of alternatives": (x, [Or(x < 5, And(x < 7, y > 2))], (None, 6)),
}


@for_all(FACTS)
def test_conditions_are_facts(asked: Any, facts: Constraints, ends: tuple[int, int]) -> None:  # noqa: ANN401 - an expression
    assert bounds_of(asked, {}, facts) == Interval(*ends)


def test_one_of_two_facts_decides_what_says_the_same() -> None:
    either = Or(x < 5, y < 2)
    assert simplify(Piecewise((1, either), (2, True)), {}, [either]) == 1
    assert simplify(Piecewise((1, y < 2), (2, True)), {}, [either, x > 5]) == 1


TEXTS = [
    "select(x >= 5, x, y mod 8)", "select(x == 5 or (y != 2 and z < 3), x, y)",
    "(x >= 5) * 3 + (y < 2)", "bitxor(x, 7) + bitand(x, y) * 2 - bitor(y, 3)", "max((x > y), 3)",
]  # fmt: skip


@for_all(TEXTS)
def test_text_is_read_as_it_is_written(text: str) -> None:
    form = parse_form(text)
    assert parse_form(str(form)) == form
    assert parse_form(format_expr(parse_expr(text))) == form


@for_table("""
select(x, a, b) => 1:1: select begins with a value; expected a condition such as x >= 5
select(x >= 5, a) => 1:1: select has 2 arguments; expected a condition and two values
x and y => 1:3: expected a comparison, but found 'and'
(x < 2 or y) => 1:12: expected a comparison, but found ')'
not x => 1:6: expected a comparison, but the text ends
not not x => 1:10: expected a comparison, but the text ends
2 * not x => 1:5: expected an expression, but found 'not'
x not y < 3 => 1:3: expected the end of the text, but found 'not'
bitand(x) => 1:1: bitand has 1 argument; expected 2 or more
x ! y => 1:3: unexpected character '!'
x >> y => 1:6: expected a constant from 0 to 4096 to shift by
x << -1 => 1:6: expected a constant from 0 to 4096 to shift by
x + 1 >> (y - y + 2 * z) + 1 => 1:10: expected a constant from 0 to 4096 to shift by
x << 4097 => 1:6: expected a constant from 0 to 4096 to shift by
(x >> y) * 2 => 1:7: expected a constant from 0 to 4096 to shift by
x >> y < 3 => 1:6: expected a constant from 0 to 4096 to shift by
x >> y >> ( => 1:6: expected a constant from 0 to 4096 to shift by
x >> 1 << z => 1:11: expected a constant from 0 to 4096 to shift by
x >> => 1:5: expected an expression, but the text ends
>> 3 => 1:1: expected an expression, but found '>>'
x > > 3 => 1:5: expected an expression, but found '>'
x << not y => 1:6: expected an expression, but found 'not'
x >> 3 y => 1:8: expected the end of the text, but found 'y'
""")
def test_wrong_texts_are_refused(text: str, message: str) -> None:
    with pytest.raises(TextError) as caught:
        parse_form(text)
    assert str(caught.value).startswith(message)


@for_table("""
x >> 3 => x floordiv 8
x << 2 => x * 4
x + y << 1 => x * 2 + y * 2
-x >> 1 => (-x) floordiv 2
x << 1 + 1 => x * 4
x << 3 >> 1 => (x * 8) floordiv 2
x >> 1 < y << 1 => (y * 2 > x floordiv 2)
min(x >> 1, 1 << 3) * 2 => min(x floordiv 2, 8) * 2
(x >> 2) * 4 + x mod 4 >> 1 => ((x floordiv 4) * 4 + x mod 4) floordiv 2
select(x >> 1 == 2 and y > 1 << 2, x << 1, 0) => select(y >= 5 and x floordiv 2 == 2, x * 2, 0)
""")
def test_shifts_are_quotients_and_products(text: str, written: str) -> None:
    assert format_expr(parse_expr(text)) == written


def test_maps_have_shifts_and_code_computes_conditions() -> None:
    domain = "domain: d0 in [0, 63], N in [0, 9]"
    shifts = parse_map(f"(d0)<N> -> (d0 >> 3, d0 + N << 2), {domain}")
    assert shifts == parse_map(f"(d0)<N> -> (d0 floordiv 8, (d0 + N) * 4), {domain}")
    with pytest.raises(TextError, match="1:19: expected a constant from 0 to 4096 to shift by"):
        parse_map(f"(d0)<N> -> (d0 >> N), {domain}")
    text = "(d0, d1) -> (select(d0 < d1, d0 floordiv d1, (d0 == 3) * 8)), domain: d0 in [0, 7],"
    code = parse_map(f"{text} d1 in [0, 3]").to_c()
    assert "(d0 - d1 >= 0)" in code
    assert "(d0 - 3 == 0) * 8" in code


@st.composite
def shifted(draw: st.DrawFn, depth: int = 3) -> str:
    """Texts that Python computes, too, with few parentheses."""
    if not depth:
        return draw(st.sampled_from(["x", "y", "-x", "7", "1"]))
    text = draw(shifted(depth - 1))
    joint = draw(st.sampled_from([">>", "<<", "+", "-", "*", "//", "("]))
    if joint == "(":
        return f"({text})"
    if joint in (">>", "<<"):
        return f"{text} {joint} {draw(st.sampled_from(['0', '1', '3', '1 + 1']))}"
    return f"{text} {joint} {draw(st.sampled_from(['x', '2', '(y - 5)', '3 * y', '7']))}"


@given(shifted(depth=5), st.integers(-40, 40), st.integers(-9, 4))
def test_shifts_compute_what_python_computes(text: str, at_x: int, at_y: int) -> None:
    try:
        expected = eval(text, {"x": at_x, "y": at_y})  # noqa: S307 - the text is ours
    except (ZeroDivisionError, ValueError):  # a sum with x after a shift may be negative
        return
    try:
        form = parse_form(text)
    except TextError as error:
        assert "to shift by" in str(error)  # noqa: PT017 - Python shifts by variables
        return
    assert values_of(form, {"x": np.array([at_x]), "y": np.array([at_y])})[0][0] == expected


def test_fractions_and_numbers_are_refused() -> None:
    with pytest.raises(ConversionError, match=r"a fact such as K mod 2 == 0"):
        simplify(K / 2, {})
    with pytest.raises(BoundsError, match="or a condition such as x < n"):
        simplify(x, {}, [x])  # pyright: ignore[reportArgumentType] - what is tested


def _condition(draw: random.Random, depth: int) -> Form:
    kind = draw.random()
    if kind < 0.6 or not depth:
        compare = draw.choice([operations.nonnegative, operations.zero])
        return compare(_value(draw, depth - 1))
    first, second = (_condition(draw, depth - 1) for _ in range(2))
    join = draw.choice([operations.conjunction, operations.disjunction])
    return operations.negation(first) if kind < 0.75 else join([first, second])


def _value(draw: random.Random, depth: int) -> Form:
    if depth <= 0 or draw.random() < 0.15:
        scaled = variable(draw.choice("xyz")).times(draw.choice([1, 1, 2, -1, 4, 8]))
        return scaled + draw.choice([0, 0, 1, -1, 3, -5, 8])
    first, second = (_value(draw, depth - 1) for _ in range(2))
    by = constant(draw.choice([2, 3, 4, 8, 15]))
    choice = operations.select(_condition(draw, depth - 1), first, second)
    bits = operations.bitwise(draw.choice(BITWISE), [first, draw.choice([second, by])])
    divided = [operations.floordiv(first, by), operations.mod(first, by)]
    divided.append(operations.floordiv(first, variable("y")))
    others = [operations.maximum([first, second]), _condition(draw, depth - 1).times(3)]
    return draw.choice([first + second, choice, bits, *divided, *others])


@given(st.randoms(use_true_random=False))
def test_drawn_choices_keep_their_values_under_facts(draw: random.Random) -> None:
    box = {"x": Interval(-3, 8), "y": Interval(-2, 3), "z": Interval(0, 4)}
    form, condition = _value(draw, draw.choice([2, 3])), _condition(draw, 1)
    scope = scope_of(tuple(box.items()), facts_of(condition))
    holds, is_decided = values_of(condition, every_point(box))
    inside = is_decided & np.asarray(holds == 1, dtype=bool)
    points = {name: column[inside] for name, column in every_point(box).items()}
    if scope.is_empty:
        assert not inside.any()
        return
    assert first_difference(form, simplified(scope, form), points) is None
    check_range(scope, form, points)


@given(st.randoms(use_true_random=False))
def test_drawn_choices_keep_their_values(draw: random.Random) -> None:
    """And their text; a result is settled and no dearer."""
    ends = {"x": (-2, 9), "y": (draw.choice([-2, 0, 1]), 3), "z": (0, draw.choice([1, 7]))}
    box = {name: Interval(*pair) for name, pair in ends.items()}
    form = _value(draw, draw.choice([2, 3, 4]))
    scope, points = scope_of(tuple(box.items())), every_point(box)
    result = simplified(scope, form)
    assert first_difference(form, result, points) is None
    assert simplified(scope, result) == result
    # Narrow goes before cheap: a form that holds greater numbers may cost less. A choice computes
    # one branch, so what its branches share counts twice.
    costs = costs_of(scope)
    is_short = costs.operators(result) <= costs.operators(form)
    assert is_wide(scope, form) or is_short or costs.of(result) <= costs.of(form)
    check_range(scope, form, points)
    assert parse_form(str(form)) == form
