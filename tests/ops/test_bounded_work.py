"""Questions that took minutes or gigabytes once, and random ones: each ends within bounded work.

Work is counted in calls of functions, which are the same everywhere; isl counts its own.
"""

from __future__ import annotations

import json
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from benchmarks.fuzzing.kinds import KINDS
from benchmarks.problems import seeded
from indexing import parse_map
from indexing.exact.multiplicity import multiplicities
from indexing.layout import Shape, bitcast_map
from ops import Fusion, Unknown, hlo, output_to_input
from simplifier import IndexingError, Interval, bounds_of, parse_expr, simplify
from simplifier.canonical.scope import Scope, scope_of
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import Form
from simplifier.fixpoint import simplified
from tests.call_counts import calls_of
from tests.cases import for_all

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import sympy

    from ops.dependence.dependence import Indexings

FOLDER: Final = Path(__file__).parents[1] / "data" / "bounded_work"
MAX_CALLS: Final = 20_000_000
"""Some four seconds."""
MAX_TEXT: Final = 20_000


def _rows() -> list[dict[str, Any]]:
    lines = (FOLDER / "questions.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def _problem(row: Mapping[str, Any]) -> tuple[sympy.Expr, dict[str, Any], list[Any]]:
    limits = [(parse_expr(text), tuple(ends)) for text, ends in row["constraints"]]
    bounds = {name: tuple(ends) for name, ends in row["bounds"].items()}
    return parse_expr(row["expr"]), bounds, limits


def _epilogue(row: Mapping[str, Any]) -> object:
    entry = hlo.parse(row["hlo"]).entry
    return _texts(Fusion.of_computation(entry).epilogue(entry.parameters[0]))


def _output_to_input(row: Mapping[str, Any]) -> object:
    found = output_to_input(hlo.parse(row["hlo"]).entry.root).indexing
    return [*map(_texts, found)]


def _texts(found: Indexings) -> list[str]:
    return [str(found)] if isinstance(found, Unknown) else [*map(str, found)]


def _bitcast_map(row: Mapping[str, Any]) -> object:
    return bitcast_map(Shape.parse(row["source"]), Shape.parse(row["target"]))


QUESTIONS: Mapping[str, Callable[[Mapping[str, Any]], object]] = {
    "simplify": lambda row: simplify(*_problem(row)),
    "simplify exact": lambda row: simplify(*_problem(row), exact=True),
    "bounds exact": lambda row: bounds_of(*_problem(row), exact=True),
    "inverse": lambda row: parse_map(row["map"]).inverse(),
    "image": lambda row: parse_map(row["map"]).image(),
    "multiplicities": lambda row: multiplicities([parse_map(row["map"])]),
    "bitcast_map": _bitcast_map,
    "epilogue": _epilogue,
    "output_to_input": _output_to_input,
}


@pytest.mark.parametrize("row", _rows(), ids=lambda row: row["name"])
def test_a_question_ends_within_bounded_work(row: Mapping[str, Any]) -> None:
    texts: list[str] = []

    def ask() -> None:
        try:
            texts.append(str(QUESTIONS[row["question"]](row)))
        except IndexingError as error:
            texts.append(str(error))

    scope_of.cache_clear()
    assert calls_of(ask) <= MAX_CALLS
    assert len(texts[0]) <= MAX_TEXT


@for_all(range(16))
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
    cases = [KINDS["long"](seeded(15, number)) for number in range(12)]
    whole = reduce(JOINED[way], (case.form for case in cases))
    box = {name: Interval(0, 63) for name in forms.variables_of([whole])}
    assert calls_of(lambda: simplified(Scope(tuple(box.items())), whole)) <= MAX_CALLS
