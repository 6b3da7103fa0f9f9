"""Questions that took minutes or gigabytes once, and random ones: each ends within bounded work.

Work is counted in calls of functions, which are the same everywhere. What isl does is seen from
outside alone, so ``limited_questions.py`` asks in processes that may not take more.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from functools import partial, reduce
from pathlib import Path
from typing import Any, Final

import pytest
import sympy

from benchmarks.fuzzing.kinds import KINDS
from benchmarks.fuzzing.map_kinds import KINDS as MAP_KINDS
from benchmarks.problems import seeded
from indexing import IndexingMap, from_isl, parse_map
from indexing.domain import Domain
from indexing.exact.counting import multiplicities
from indexing.exact.questions import reached_again
from indexing.layout import Shape, bitcast_map
from ops import Fusion, Unknown, hlo, output_to_input
from ops.dependence.dependence import Indexings
from simplifier import Interval, bounds_of, equivalent, parse_expr, problem, simplify
from simplifier.canonical.scope import Scope, scope_of
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import Form
from simplifier.fixpoint import simplified
from tests.call_counts import calls_of
from tests.cases import for_all
from tests.extent import IN_CI, part

FOLDER: Final = Path(__file__).parents[1] / "data" / "bounded_work"
MAX_CALLS: Final = 20_000_000
"""Some four seconds."""
MAX_SHARE_OF_FACTS: Final = 2
"""What an expression costs with facts, in terms of the same without: it was 2.6 once, and 9."""


def rows(name: str = "questions.jsonl") -> list[dict[str, Any]]:
    """The rows of a table; those that take seconds only in CI."""
    lines = (FOLDER / name).read_text("utf-8").splitlines()
    return [row for row in map(json.loads, lines) if IN_CI or "takes" not in row]


def _problem(row: Mapping[str, Any]) -> tuple[sympy.Expr, dict[str, Any], list[Any]]:
    limits = [(parse_expr(text), tuple(ends)) for text, ends in row["constraints"]]
    bounds = {name: tuple(ends) for name, ends in row["bounds"].items()}
    return parse_expr(row["expr"]), bounds, limits


def _texts(found: Indexings) -> list[str]:
    return [str(found)] if isinstance(found, Unknown) else [*map(str, found)]


def _equivalent(row: Mapping[str, Any]) -> object:
    expression, bounds, limits = _problem(row)
    return equivalent(expression, simplify(expression, bounds, limits), bounds, limits)


def _epilogue(entry: hlo.Computation) -> object:
    return _texts(Fusion.of_computation(entry).epilogue(entry.parameters[0]))


def _again(given: IndexingMap) -> object:
    return reached_again([given], len(given.results))


QUESTIONS: Mapping[str, Callable[[Mapping[str, Any]], object]] = {
    "simplify": lambda row: simplify(*_problem(row)),
    "simplify exact": lambda row: simplify(*_problem(row), exact=True),
    "bounds exact": lambda row: bounds_of(*_problem(row), exact=True),
    "equivalent": _equivalent,
    "inverse": lambda row: parse_map(row["map"]).inverse(),
    "is_injective": lambda row: parse_map(row["map"]).is_injective(),
    "through isl": lambda row: from_isl(parse_map(row["map"]).to_isl()),
    "image": lambda row: parse_map(row["map"]).image(),
    "multiplicities": lambda row: multiplicities([parse_map(row["map"])]),
    "multiplicities of two": lambda row: multiplicities([parse_map(row["map"])] * 2),
    "reached again": lambda row: _again(parse_map(row["map"])),
    "bitcast_map": lambda row: bitcast_map(*map(Shape.parse, (row["source"], row["target"]))),
    "epilogue": lambda row: _epilogue(hlo.parse(row["hlo"]).entry),
    "output_to_input": lambda row: [
        *map(_texts, output_to_input(hlo.parse(row["hlo"]).entry.root).indexing)
    ],
}


@pytest.mark.parametrize("row", rows("facts.jsonl"), ids=lambda row: row["name"])
def test_facts_cost_little(row: Mapping[str, Any]) -> None:
    expression, bounds, limits = _problem(row)
    calls: list[int] = []
    for known in ([], limits):
        scope_of.cache_clear()
        problem._remembered.cache_clear()
        problem._found.cache_clear()
        calls.append(calls_of(partial(simplify, expression, bounds, known)))
    assert calls[1] <= MAX_SHARE_OF_FACTS * calls[0]


def asked_of(drawn: IndexingMap) -> dict[str, Callable[[], object]]:
    """The questions to a map that may take long."""
    return {
        "image": drawn.image,
        "count_results": drawn.count_results,
        "is_injective": drawn.is_injective,
        "inverse": drawn.inverse,
        "exact": lambda: drawn.simplify(exact=True),
        "through isl": lambda: from_isl(drawn.to_isl()),
        "multiplicities": lambda: multiplicities([drawn]),
        "reached again": lambda: _again(drawn),
    }


def drawn_map(number: int) -> IndexingMap:
    """A random map whose variables have hundreds or millions of values."""
    random = seeded("wide map", number)
    drawn = MAP_KINDS[random.choice([*MAP_KINDS])](random).map
    held = [each for each in drawn.domain.variables if not each.bounds.is_empty]
    ends = [(each.bounds.upper or 0) * random.choice((1, 9, 999)) for each in held]
    pairs = zip(held, ends, strict=True)
    wider = [each.within(Interval(each.bounds.lower, end)) for each, end in pairs]
    domain = Domain(*drawn.domain.by_role(wider), drawn.domain.constraints)
    return IndexingMap.from_forms(drawn.forms, domain)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="each question has a process of its own")
def test_no_question_takes_more_than_some_calls_and_500_megabytes() -> None:
    command = [sys.executable, "-m", "tests.ops.limited_questions"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (found.stdout, found.stderr, found.returncode) == ("", "", 0)


@for_all(part(range(16), 4))
def test_random_long_expressions_end_within_bounded_work(number: int) -> None:
    case = KINDS["long"](seeded(15, number))
    scope_of.cache_clear()
    assert calls_of(lambda: simplified(case.scope, case.form)) <= MAX_CALLS


JOINED: Final[Mapping[str, Callable[[Form, Form], Form]]] = {
    "summed": Form.plus,
    "the greatest": lambda left, right: operations.maximum((left, right)),
    "divided": lambda left, right: operations.floordiv(left.plus(right), forms.constant(3)),
}


@pytest.mark.parametrize("way", JOINED)
def test_many_of_them_together_end_within_bounded_work(way: str) -> None:
    cases = [KINDS["long"](seeded(15, number)) for number in part(range(12), 4)]
    whole = reduce(JOINED[way], (case.form for case in cases))
    box = {name: Interval(0, 63) for name in forms.variables_of([whole])}
    assert calls_of(lambda: simplified(Scope(tuple(box.items())), whole)) <= MAX_CALLS
