"""Published cases: no costlier than what isl, TVM, tinygrad, MLIR, JAX and Wave make of them."""

from __future__ import annotations

import json
import re
from functools import reduce
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given

from simplifier import Facts, Interval, Trace, bounds_of, format_expr, parse_expr, simplify
from simplifier.canonical.scope import scope_of
from simplifier.errors import ArgumentError
from simplifier.expr.form import variables_of
from simplifier.expr.functions import symbol
from simplifier.expr.sympy import from_sympy, to_sympy
from simplifier.expr.text import parse_form
from simplifier.simplification import cost, equivalent, operator_count
from tests.call_counts import calls_of
from tests.cases import for_all
from tests.conformance import Row, rows
from tests.evaluation import Bounds, differing_point, first_difference, values_of, where
from tests.extent import examples, in_ci, part
from tests.simplifier.objective import is_good
from tests.simplifier.suite import Row as TextRow
from tests.simplifier.suite import for_questions
from tests.strategies import Problem, any_problem, points_of
from tests.wave_kernels import kernel, kernels, value_at

TOTAL_COST = 264
"""All 68 results together; the best narrow results of the peers cost 282."""


def ends_of(row: Row) -> Bounds:
    return {name: Interval(*ends) for name, ends in row["bounds"].items()}


@for_all(rows("expressions"), itemgetter("id"))
def test_no_peer_is_cheaper(row: Row) -> None:
    expression, best, bounds = parse_expr(row["expr"]), parse_expr(row["best"]), ends_of(row)
    result = simplify(expression, bounds)
    assert equivalent(expression, result, bounds)
    assert equivalent(expression, best, bounds)
    assert cost(result, bounds) <= cost(best, bounds), result
    assert simplify(result, bounds) == result


def test_all_results_together() -> None:
    asked = [(parse_expr(row["expr"]), ends_of(row)) for row in rows("expressions")]
    assert sum(cost(simplify(*each), each[1]) for each in asked) <= TOTAL_COST


x, y, n = map(symbol, "xyn")
ROLLED = Facts({x: (0, n - 1), n: (4, None)})
WINDOW = Facts({x: (0, 7)})
DIGITS = Facts(dict.fromkeys(("x", "y"), (0, 9)))
TRUNCATED: list[tuple[str, Facts, str, str]] = [
    # remainders of rolled indices, facts, results where division rounds down and to 0
    ("(x - 2) floordiv 8", WINDOW, "(x - 2) floordiv 8", "(x + 6) floordiv 8 - 1"),
    ("(x + n * 3 - 9) mod n", ROLLED, "(n * 3 + x - 9) mod n", "(n * 3 + x - 9) mod n"),
    ("(x + n) mod n", Facts({n: (1, 9)}, [x + n >= 0, x < 9]), "(n + x) mod n", "(n + x) mod n"),
    ("(x * 2 + y) mod 3", DIGITS, "(x * 2 + y) mod 3", "(x * 2 + y) mod 3"),
    ("(x + 8) floordiv 8", Facts({x: (-8, 99)}), "(x + 8) floordiv 8", "(x + 8) floordiv 8"),
    ("x mod 8", Facts({x: (-9, 9)}), "x mod 8", "(x + 16) mod 8"),
    ("x mod 8", Facts(), "x mod 8", "x mod 8"),
    (
        "(x mod 16 + (x floordiv 16) * 128) floordiv 3",
        Facts({x: (0, 99)}),
        "((x floordiv 16) * 128 + x mod 16) floordiv 3",
        "((x floordiv 16) * 112 + x) floordiv 3",
    ),
]


@for_all(TRUNCATED)
def test_dividends_stay_natural_in_c(text: str, facts: Facts, floored: str, truncated: str) -> None:
    expression = parse_expr(text)
    results = [simplify(expression, facts, target=target) for target in (None, "c", "torch")]
    assert [*map(format_expr, results)] == [floored, truncated, truncated]
    assert simplify(results[1], facts, target="c") == results[1]


@for_questions("""
(x + y) * (n + 2)  =>  n * x + n * y + x * 2 + y * 2
((x + 3) * (n + 1)) floordiv 4  =>  (n * x + x - n + 3) floordiv 4 + n
(x mod 8 + 1) * (n - 1)  =>  n * x + n - x - 1  where x in [0, 7]
(x mod 8 + 1) * (n - 1)  =>  (x mod 8) * n + n - x mod 8 - 1
(-x - 1) floordiv 8 + min(x, 5)  =>  x - max(x - 5, 0) - 1  where x in [0, 7]
(x - 7) mod 8 * -3  =>  ((x + 1) mod 8) * -3  where x in [-99, -9]
((x * -9) floordiv 2) mod 12
    =>  ((x * 3 + 7) floordiv 8) * 12 - (x mod 2) * 5 - (x floordiv 2) * 9  where x in [0, 1023]
(x + 1) * (n mod 0)  =>  (n mod 0) * x + n mod 0
x floordiv -8  =>  -((x + 7) floordiv 8)  where x in [-inf, -9]
s * x - ((x floordiv 8) * s - t * (x floordiv 8 mod 4) + s * 6) * 8 + s * 48
    =>  ((x floordiv 8) mod 4) * t * 8 + (x mod 8) * s
    where x in [0, 1023], s in [1, inf], t in [1, inf]
((x + 3) mod 7) * ((y + 2) mod 5)  stays
((x mod 8) * s + y) floordiv 16  stays  where x in [0, 1023], s in [1, inf]
((x mod 8) * s + y) mod 16  stays  where x in [0, 1023], s in [1, inf]
(x * n + y) floordiv n  =>  x  where y in [0, inf], y < n
(x * 2 + y) mod 8 - x  =>  (x mod 2) * 3 - (x floordiv 2) * 2  where y - 2 * x in [0, 0]
select(x >= 8, (x + 1) * (n + 1), 0)  =>  select(x >= 8, n * x + n + x + 1, 0)
""")
def test_sums_of_products_depend_on_the_function_alone(row: TextRow) -> None:
    expression, bounds, constraints = row.question.parsed()
    facts = Facts(bounds, constraints)
    result = simplify(expression, facts, form="sum")
    assert format_expr(result) == row.expected
    for other in (result, simplify(expression, facts)):
        assert simplify(other, facts, form="sum") == result
    assert simplify(expression, facts, form="sum", trace=Trace()) == result


@examples(100)
@given(any_problem)
def test_sums_of_products_are_equal_to_the_expression(problem: Problem) -> None:
    result = simplify(to_sympy(problem.form), problem.box, form="sum")
    assert first_difference(problem.form, from_sympy(result), problem.points()) is None
    assert simplify(result, problem.box, form="sum") == result


def test_a_sum_of_products_that_doubles_with_each_dividend_is_not_written() -> None:
    text = reduce("(({0} + {1}) * 2) floordiv 3".format, "abcdefghij", "x")
    expression = parse_expr(text)
    assert simplify(expression, {}, form="sum") == simplify(expression, {})
    result = simplify((x - 7) % 8 * (n + 1), {"x": (-9, 9)}, form="sum", target="c")
    assert format_expr(result) == "((x + 9) mod 8) * n + (x + 9) mod 8"


def test_unknown_options_are_refused() -> None:
    with pytest.raises(ArgumentError, match="target is 'odd'; expected one of c, cuda"):
        simplify(x, {}, target="odd")  # pyright: ignore[reportArgumentType]
    with pytest.raises(ArgumentError, match="expected one of sum"):
        simplify(x, {}, form="odd")  # pyright: ignore[reportArgumentType]


FOLDER = Path(__file__).parents[1] / "data" / "simplifier" / "peers"
ROWS: list[Row] = [
    json.loads(line)
    for file in sorted(FOLDER.glob("*.jsonl"))
    for line in file.read_text("utf-8").splitlines()
]
SIMPLIFICATIONS = [row for row in ROWS if "expected" in row]
DEARER = {"tvm_rewrite_scalable_9": "vscale * 4 is computed anyway, so 4 % (vscale * 4) is cheaper"}
"""Results that cost more than what a peer expects, and why it is cheaper."""
RANGES = [row for row in ROWS if "expected_bounds" in row]


@for_all(part(SIMPLIFICATIONS, 400), itemgetter("id"))
def test_no_peer_expects_a_cheaper_result(row: Row) -> None:
    """Unless it divides by a negative number or is wide."""
    (expression, *known), expected = question(row), parse_expr(row["expected"])
    result = simplify(expression, *known)
    assert differing_point(expression, result, *known) is None, result
    is_reached = cost(result, *known) <= cost(expected, *known) or not is_good(expected, *known)
    assert is_reached != (row["id"] in DEARER), result
    assert simplify(result, *known) == result


@in_ci
@for_all(SIMPLIFICATIONS, itemgetter("id"))
def test_what_peers_expect_is_equal(row: Row) -> None:
    expression, *known = question(row)
    assert differing_point(expression, parse_expr(row["expected"]), *known) is None


@for_all(RANGES, itemgetter("id"))
def test_no_peer_expects_tighter_bounds(row: Row) -> None:
    assert Interval(*row["expected_bounds"]).contains(bounds_of(*question(row)))


def question(row: Row) -> tuple[Any, ...]:
    constraints = [(parse_expr(text), Interval(*ends)) for text, ends in row.get("constraints", ())]
    ranges = {name: parse_expr(size) for name, size in row.get("ranges", {}).items()}
    below = [(size - symbol(name), Interval(1, None)) for name, size in ranges.items()]
    bounds = ends_of(row) | dict.fromkeys(ranges, Interval(0, None))
    return parse_expr(row["expression"]), bounds, constraints + below


NAME = re.compile(r"\b[a-z]\b")
LIMITS = [row for row in rows("shape_poly") if "expr" in row]
EQUALITIES = [row for row in rows("shape_poly") if "left" in row]


def sizes_in(*texts: str) -> Bounds:
    """JAX's sizes are at least 1."""
    return dict.fromkeys(NAME.findall(" ".join(texts)), Interval(1, None))


@for_all(LIMITS)
def test_bounds_are_at_least_as_tight_as_those_of_jax(row: Row) -> None:
    bounds = sizes_in(row["expr"], *row["constraints"])
    constraints = [(parse_expr(text), 1) for text in row["constraints"]]
    found = bounds_of(parse_expr(row["expr"]), bounds, constraints)
    assert Interval(*row["jax"]).contains(found), found
    form, *facts = (parse_form(text) for text in (row["expr"], *row["constraints"]))
    box = dict.fromkeys(variables_of([form, *facts]), Interval(1, 9))
    points = where(points_of(box), [(fact, Interval(1, 1)) for fact in facts])
    assert all(value in found for value in values_of(form, points)[0]), found


@for_all(EQUALITIES, itemgetter("left"))
def test_what_jax_finds_equal_has_one_text(row: Row) -> None:
    bounds = sizes_in(row["left"], row["right"])
    left, right = (simplify(parse_expr(row[side]), bounds) for side in ("left", "right"))
    assert left == right


@for_all(rows("symbolic"), itemgetter("expr"))
def test_identities_with_symbolic_sizes_are_found(row: Row) -> None:
    known = ends_of(row), [(parse_expr(text), ends) for text, *ends in row["constraints"]]
    result = simplify(parse_expr(row["expr"]), *known)
    assert cost(result, *known) <= cost(parse_expr(row["expected"]), *known), result
    assert simplify(result, *known) == result


POINTS: Final = 12
MAX_CALLS: Final = 14_000_000
"""Of functions, to simplify all kernels: under two seconds on one core."""


@for_all(part([row["id"] for row in rows("wave")], 100))
def test_a_kernel_is_right_and_no_costlier(name: str) -> None:
    given = kernel(name)
    _, expression, bounds, constraints, most = given
    result = simplify(expression, bounds, constraints)
    interval = bounds_of(expression, bounds, constraints)
    assert operator_count(result) <= most
    assert parse_form(format_expr(result)) == from_sympy(result)
    values = [(point, value_at(expression, point)) for point in given.points(POINTS)]
    defined = [(point, value) for point, value in values if value is not None]
    assert defined
    for point, value in defined:
        assert value_at(result, point) == value, point
        assert value in interval


@in_ci
def test_simplifying_all_kernels_takes_a_bounded_amount_of_work() -> None:
    given = kernels()
    scope_of.cache_clear()

    def simplify_all() -> None:
        for _, expression, bounds, constraints, _ in given:
            simplify(expression, bounds, constraints)

    assert calls_of(simplify_all) < MAX_CALLS


def test_points_meet_the_constraints_and_a_wrong_result_is_seen() -> None:
    given = kernel(next(row["id"] for row in rows("wave") if row["constraints"]))
    for point in given.points(POINTS):
        for form, (lower, upper) in given.constraints:
            assert lower <= value_at(form, point) <= upper
    given = kernel("w130")
    wrong = simplify(given.expression, given.bounds) + 1
    assert any(value_at(wrong, p) != value_at(given.expression, p) for p in given.points(POINTS))
