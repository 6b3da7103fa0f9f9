"""Bounds of what spellings cost: what is not spelled because of them would have been too dear."""

from __future__ import annotations

import pytest
from hypothesis import assume, given

from simplifier.expr.form import AtomKind
from simplifier.expr.parser import parse_form
from simplifier.extraction import extracted
from simplifier.extraction.cost import cost_of_form
from simplifier.extraction.lower_bounds import least_cost
from simplifier.extraction.prices import FINE
from tests.strategies import Problem, any_problem

REACHED = [
    ("(y floordiv 3) * 9 + x * 2", "(y floordiv 3) * 9 + x * 2"),
    ("x - (x floordiv 8) * 8", "x mod 8"),
    ("x - ((x + 2) floordiv 3) * 3 + 2", "(x + 2) mod 3"),
    ("(x + y) floordiv 3 + 5", "(x + y + 15) floordiv 3"),
]


@pytest.mark.parametrize(("text", "cheapest"), REACHED, ids=[text for text, _ in REACHED])
def test_the_least_cost_is_reached(text: str, cheapest: str) -> None:
    form = parse_form(text)
    assert least_cost(form) == cost_of_form(parse_form(cheapest)) * FINE


@given(any_problem)
def test_no_spelling_costs_less(problem: Problem) -> None:
    scope = problem.scope()
    form = scope.canonical(problem.form)
    assume(all(atom.kind in (AtomKind.VARIABLE, AtomKind.FLOORDIV) for atom in form.terms))
    assume(all(argument.is_affine for atom in form.terms for argument in atom.arguments))
    assert least_cost(form) <= cost_of_form(extracted(scope, form)) * FINE
