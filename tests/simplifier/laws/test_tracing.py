"""Which laws made a result: sound step by step, the same whatever came before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given

from simplifier import Interval, Trace, format_expr, parse_expr, rules, simplify
from simplifier.bounds.context import Constraints
from simplifier.canonical.scope import scope_of, traced_scope
from simplifier.expr import operations
from simplifier.expr.form import Form, constant, variable, variables_of
from simplifier.expr.text import parse_form
from simplifier.fixpoint import simplified
from simplifier.laws.catalogue import LAWS
from simplifier.laws.law import Law
from simplifier.limits import MAX_OPERANDS
from simplifier.problem import rewrites_of
from simplifier.tools.display import html
from tests.cases import for_all
from tests.conformance import Row, for_each, rows
from tests.evaluation import first_difference, where
from tests.extent import in_ci
from tests.simplifier.laws.law_examples import Case, every_case, known, question
from tests.simplifier.suite import Row as Family
from tests.simplifier.suite import families
from tests.strategies import Problem, points_of, problems, reshape_chains

every_law_and_case = for_all({f"{row[0].name}, {row[1]}": row for row in every_case()})


def traced(case: Case) -> Trace:
    trace = Trace()
    assert format_expr(simplify(*question(case), trace=trace)) == case.result
    return trace


@every_law_and_case
def test_a_law_fires_in_its_example(law: Law, kind: str, case: Case) -> None:
    trace = traced(case)
    if kind.startswith("example"):
        assert law in (*trace.laws, *trace.lemmas), f"{case}\n{trace}"
    elif kind == "near miss":
        assert law not in trace.laws, f"{case}\n{trace}"


def test_the_published_cases_and_the_examples_fire_every_law() -> None:
    traces = [traced(case) for _, _, case in every_case()]
    for row in rows("expressions"):
        traces.append(Trace())
        simplify(parse_expr(row["expr"]), _box(row), trace=traces[-1])
    assert {law for trace in traces for law in (*trace.laws, *trace.lemmas)} == set(LAWS)


def _box(row: Row) -> dict[str, Interval]:
    return {name: Interval(*ends) for name, ends in row["bounds"].items()}


def test_laws_are_counted_whether_or_not_somebody_traces() -> None:
    def fired() -> int:
        return next(rule.fired for rule in rules() if rule.name == "distribution")

    before = fired()
    simplify(parse_expr("(counted + x) * (counted - y)"), {})
    assert fired() > before


@in_ci
@for_all(families())
def test_a_trace_changes_no_result(row: Family) -> None:
    expression, bounds, constraints = row.question.parsed()
    result = simplify(expression, bounds, constraints, trace=Trace())
    assert result == simplify(expression, bounds, constraints)


def check_steps(form: Form, box: Mapping[str, Interval], known: Constraints = ()) -> None:
    """Every step is sound; the result is that of a scope which nobody follows."""
    bounds = tuple(sorted(box.items()))
    scope = traced_scope(bounds, known)
    assert simplified(scope, form) == simplified(scope_of(bounds, known), form)
    points = where(points_of(box), known)
    for fact in rewrites_of(scope, form):
        assert first_difference(fact.before, fact.after, points) is None, fact


@for_each(rows("expressions"))
def test_steps_of_published_cases_are_sound(row: Row) -> None:
    check_steps(parse_form(row["expr"]), _box(row))


@given(problems(), reshape_chains())
def test_steps_of_random_expressions_are_sound(problem: Problem, chain: Problem) -> None:
    check_steps(problem.form, problem.box)
    check_steps(chain.form, chain.box)


@every_law_and_case
def test_steps_of_examples_are_sound(law: Law, kind: str, case: Case) -> None:
    del law, kind
    form = parse_form(case.expression)
    limits = tuple((fact, ends) for fact, ends in known(case) if fact.single_variable() is None)
    names = sorted(variables_of([form, *(fact for fact, _ in limits)]))
    check_steps(form, dict.fromkeys(names, Interval(None, None)) | question(case).bounds, limits)


def test_a_trace_does_not_depend_on_what_was_simplified_before() -> None:
    questions = [question(case) for _, _, case in every_case()]
    forwards, backwards = ({each: Trace() for each in range(len(questions))} for _ in range(2))
    for number, asked in enumerate(questions):
        simplify(*asked, trace=forwards[number])
    for number, asked in reversed([*enumerate(questions)]):
        simplify(*asked)
        simplify(*asked, trace=backwards[number])
    assert [*map(str, forwards.values())] == [*map(str, backwards.values())]


def test_a_trace_is_a_sequence_of_steps_of_the_last_simplification() -> None:
    trace = Trace()
    expression = parse_expr("(x floordiv 8) * 8 + x mod 8")
    assert format_expr(simplify(expression, {}, trace=trace)) == "x"
    (step,) = trace
    assert trace[0] is step
    assert (len(trace), trace[:1]) == (1, (step,))
    assert [law.name for law in step.laws] == ["remainder"]
    assert [*map(format_expr, (step.before, step.after))] == ["x mod 8", "x - (x floordiv 8) * 8"]
    assert str(trace) == "x mod 8\n  -> x - (x floordiv 8) * 8  (remainder)"
    drawn = "<pre>x mod 8\n  -&gt; x - (x floordiv 8) * 8  (remainder)</pre>"
    assert trace._repr_html_() == html(drawn)
    trace = Trace()
    for text, bounds, count in (("x mod 8", (0, 7), 1), ("x", (0, 7), 0), ("x", (1, 0), 0)):
        simplify(parse_expr(text), {"x": bounds}, trace=trace)
        assert len(list(trace)) == len(trace) == count


MANY = ", ".join(f"x{number}" for number in range(MAX_OPERANDS))
FIRED: list[tuple[list[str], str, dict[str, tuple[int, int | None]]]] = [
    (["minimum", "dominated operand"], "min(x, 0)", {"x": (0, 1)}),
    (["cancellation"], "(x * n) floordiv (y * n)", {"y": (1, None), "n": (1, None)}),
    (["dominated operand"], f"max(x0 - 1, {MANY})", {}),
]
"""Laws, an expression, and bounds."""


@for_all(FIRED)
def test_a_step_names_all_laws_that_it_took(laws: list[str], text: str, *bounds: Any) -> None:  # noqa: ANN401 - in a mapping
    trace = Trace()
    simplify(parse_expr(text), *bounds, trace=trace)
    assert [law.name for law in trace.laws] == laws


def test_steps_are_over_the_users_own_symbols() -> None:
    trace = Trace()
    (symbol,) = parse_expr("n").free_symbols
    own = type(symbol)(symbol.name, positive=True, integer=True)
    simplify(8 * parse_expr("n floordiv 8").xreplace({symbol: own}), {own: (8, 15)}, trace=trace)
    assert {name for step in trace for name in step.before.free_symbols} == {own}


def test_a_form_with_inner_operations_abstracted_is_the_last_step() -> None:
    """The form costs far more than that, so nobody reads it by its parts."""
    trace = Trace()
    text = """((d1 mod 128) * 4 + ((d0 mod 8) floordiv 4) * 512 + (d0 floordiv 8) * 3072
        + (d1 floordiv 128) * 1024 + (d0 mod 8) mod 4) mod 384"""
    result = simplify(parse_expr(text), {"d0": (0, 47), "d1": (0, 383)}, trace=trace)
    assert "d1 mod 128" in format_expr(result)
    assert trace[-1].after == result


@pytest.mark.needs("islpy")
def test_what_isl_finishes_is_the_last_step() -> None:
    trace = Trace()
    expression = parse_expr("(3 * (x mod 4)) mod 5")
    known = [(parse_expr("x mod 4 + x mod 6"), 0)]
    result = simplify(expression, {"x": (0, 99)}, known, exact=True, trace=trace)
    assert format_expr(result) == "0"
    assert str(trace[-1]).endswith("(proved by isl)") == (trace[-1].laws == ())


def test_deep_nests_are_traced() -> None:
    form = variable("x")
    for _ in range(2_000):
        form = operations.floordiv(form + 1, constant(2))
    scope = traced_scope((("x", Interval(0, 9)),))
    simplified(scope, form)
    assert len(list(rewrites_of(scope, form))) > 0
