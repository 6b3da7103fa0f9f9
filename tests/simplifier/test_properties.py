"""What must hold for every expression: sound, never costlier, settled, whatever was done before."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simplifier import Interval
from simplifier.cost import cost_of_form
from simplifier.scope import scope_of
from simplifier.settling import range_of, simplified
from simplifier.text import format_form, parse_form
from tests.conformance import rows
from tests.evaluation import first_difference, plain_range, values_of, where
from tests.strategies import (
    Problem,
    constraints,
    expressions,
    problems,
    quasi_affine,
    reshape_chains,
)

if TYPE_CHECKING:
    from simplifier.form import Form

any_problem = st.one_of(problems(), problems(quasi_affine()), reshape_chains())


def result_of(problem: Problem, form: Form | None = None) -> Form:
    """The simplified expression, with nothing remembered from other problems."""
    scope_of.cache_clear()
    scope = scope_of(tuple(sorted(problem.box.items())))
    return simplified(scope, problem.form if form is None else form)


@given(any_problem)
def test_simplified_and_original_agree_at_every_point(problem: Problem) -> None:
    result = result_of(problem)
    assert first_difference(problem.form, result, problem.points()) is None, result


@given(any_problem)
def test_bounds_contain_every_value(problem: Problem) -> None:
    interval = range_of(scope_of(tuple(sorted(problem.box.items()))), problem.form)
    values, defined = values_of(problem.form, problem.points())
    outside = [value for value in values[defined] if value not in interval]
    assert not outside, interval


@given(any_problem)
def test_a_result_is_never_costlier(problem: Problem) -> None:
    assert cost_of_form(result_of(problem)) <= cost_of_form(problem.form)


@given(any_problem)
def test_simplifying_twice_changes_nothing(problem: Problem) -> None:
    result = result_of(problem)
    assert result_of(problem, result) == result


@given(any_problem)
def test_the_text_of_a_result_is_the_result(problem: Problem) -> None:
    result = result_of(problem)
    assert parse_form(format_form(result)) == result


@given(any_problem)
def test_bounds_are_no_wider_than_interval_arithmetic(problem: Problem) -> None:
    interval = range_of(scope_of(tuple(sorted(problem.box.items()))), problem.form)
    plain = plain_range(problem.form, problem.box)
    assert plain.contains(interval), f"{interval} is wider than {plain}"


@given(problems(), constraints())
def test_constraints_are_facts(problem: Problem, known: list[tuple[Form, Interval]]) -> None:
    """The result agrees, and the bounds hold, wherever all constraints do."""
    scope_of.cache_clear()
    scope = scope_of(tuple(sorted(problem.box.items())), tuple(known))
    result = simplified(scope, problem.form)
    points = where(problem.points(), known)
    assert first_difference(problem.form, result, points) is None, result
    interval = range_of(scope, problem.form)
    values, defined = values_of(problem.form, points)
    assert all(value in interval for value in values[defined]), interval
    assert cost_of_form(result) <= cost_of_form(problem.form)


@given(st.lists(expressions(), min_size=2, max_size=4), st.data())
def test_results_do_not_depend_on_the_order_of_work(forms: list[Form], data: st.DataObject) -> None:
    box = {name: Interval(0, 13) for name in ("x", "y", "z")}
    alone = {form: result_of(Problem(form, box)) for form in forms}
    scope_of.cache_clear()
    scope = scope_of(tuple(sorted(box.items())))
    for form in data.draw(st.permutations(forms)):
        assert simplified(scope, form) == alone[form]


@given(st.lists(any_problem, min_size=8, max_size=8))
def test_threads_get_the_same_results(many: list[Problem]) -> None:
    alone = [result_of(problem) for problem in many]
    scope_of.cache_clear()

    def work(problem: Problem) -> Form:
        return simplified(scope_of(tuple(sorted(problem.box.items()))), problem.form)

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, many)) == alone


SCRIPT = """
import json, sys
from simplifier import Interval, format_expr, parse_expr, simplify
rows = json.load(sys.stdin)
if sys.argv[1] == "backwards":
    rows.reverse()
texts = {row["id"]: format_expr(simplify(parse_expr(row["expr"]), row["bounds"])) for row in rows}
print(json.dumps(texts, sort_keys=True))
"""


def texts_in_a_fresh_process(hash_seed: str, direction: str) -> str:
    """The simplified texts of all published expressions."""
    root = Path(__file__).parents[2]
    return subprocess.run(
        [sys.executable, "-c", SCRIPT, direction],
        input=json.dumps(rows("expressions")),
        env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(root)},
        check=True,
        capture_output=True,
        text=True,
    ).stdout


def test_texts_are_the_same_in_every_process() -> None:
    runs = [("0", "forwards"), ("1", "forwards"), ("4711", "backwards")]
    first, *others = [texts_in_a_fresh_process(*run) for run in runs]
    assert json.loads(first)
    assert others == [first, first]


FOUND = [
    # what random search found once: expression, bounds
    ("((x mod min(y, x mod 2)) * x * x * x) floordiv 2", {"y": Interval(0, None)}),
    (
        "(((x mod (min(x, y) ceildiv 2)) * x * x) floordiv 2) * x",
        {"x": Interval(0, None), "y": Interval(0, None)},
    ),
    ("max(x floordiv 2, min(x, z))", {"x": Interval(0, 1), "z": Interval(-1, None)}),
    ("(y mod 12) mod -100", {"y": Interval(11, None)}),
    ("(y * 7 + z * 2 - 4) floordiv -10", {"y": Interval(-5, None), "z": Interval(5, None)}),
    ("min(x, y) * min(x, y)", {"x": Interval(0, 26), "y": Interval(0, 26)}),
    ("max(x, y) * 5 + x mod -6 + 7", {"x": Interval(16, 23), "y": Interval(0, 0)}),
]


@pytest.mark.parametrize(("text", "bounds"), FOUND, ids=[text for text, _ in FOUND])
def test_what_was_found_stays_right(text: str, bounds: dict[str, Interval]) -> None:
    everything = Interval(None, None)
    problem = Problem(
        parse_form(text), {"x": everything, "y": everything, "z": everything, **bounds}
    )
    result = result_of(problem)
    assert first_difference(problem.form, result, problem.points()) is None
    assert cost_of_form(result) <= cost_of_form(problem.form)
    assert result_of(problem, result) == result
    interval = range_of(scope_of(tuple(sorted(problem.box.items()))), problem.form)
    assert plain_range(problem.form, problem.box).contains(interval)


DEEP = {
    "floordiv": "(" * 1_000 + "x" + " + 1) floordiv 2" * 1_000,
    "mod": "(" * 300 + "x" + " * 3 + y) mod 7" * 300,
    "min": "min(y, " * 300 + "x" + " + 1)" * 300,
    "product": "(" * 60 + "x" + " + 1) * y" * 60,
}


@pytest.mark.parametrize("name", list(DEEP))
def test_deep_nests_end(name: str) -> None:
    problem = Problem(parse_form(DEEP[name]), {"x": Interval(0, 99), "y": Interval(0, 9)})
    result = result_of(problem)
    assert first_difference(problem.form, result, problem.points()) is None
