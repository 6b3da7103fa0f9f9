"""Answers depend on the question alone: not on process, hash seed, order of work, or threads."""

from __future__ import annotations

import json
import multiprocessing
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simplifier import Interval, simplify
from simplifier.canonical.scope import scope_of
from simplifier.expr.form import Form
from simplifier.fixpoint import simplified
from tests.cases import for_all
from tests.extent import part, seldom
from tests.simplifier.answers import answer, answers, forget
from tests.simplifier.suite import Question, questions
from tests.strategies import Problem, any_problem, expressions

ROOT = Path(__file__).parents[2]
WORKERS = 8
FEW = part(questions(), 100)
"""Enough for what only starts differently; the process tests ask them all."""


@pytest.fixture(scope="module")
def one_by_one() -> dict[str, str]:
    """Every answer, with nothing remembered from other questions."""
    found: dict[str, str] = {}
    for question in questions():
        forget()
        found[str(question)] = answer(question)
    return found


@pytest.fixture
def impatient() -> Iterator[None]:
    """Threads take turns as often as the interpreter can."""
    patience = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(patience)


@pytest.mark.parametrize("seed", part([0, 1], 1))
def test_the_order_of_work_makes_no_difference(seed: int, one_by_one: dict[str, str]) -> None:
    forget()
    assert answers(seed, threads=1) == one_by_one


@pytest.mark.parametrize(
    ("hash_seed", "seed", "threads"), part([("4711", 3, WORKERS), ("0", 2, 1)], 1)
)
def test_every_process_gives_the_same_texts(
    hash_seed: str, seed: int, threads: int, one_by_one: dict[str, str]
) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "tests.simplifier.answers", str(seed), str(threads)],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        check=True,
        capture_output=True,
        text=True,
    )
    assert json.loads(run.stdout) == one_by_one


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # a worker of xdist has threads
@pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")  # so says JAX, once it is loaded
@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_forked_and_spawned_processes_answer_alike(method: str, one_by_one: dict[str, str]) -> None:
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(2, context) as pool:
        found = dict(zip(map(str, FEW), pool.map(answer, FEW, chunksize=32), strict=True))
        assert found == {text: one_by_one[text] for text in found}


@pytest.mark.usefixtures("impatient")
def test_threads_that_ask_the_same_at_once_answer_alike(one_by_one: dict[str, str]) -> None:
    barrier = Barrier(WORKERS)

    def work(_: int) -> list[str]:
        barrier.wait()
        return [answer(question) for question in FEW]

    forget()
    with ThreadPoolExecutor(WORKERS) as pool:
        for found in pool.map(work, range(WORKERS)):
            assert found == [one_by_one[str(question)] for question in FEW]


@seldom
@pytest.mark.usefixtures("impatient")
@given(st.lists(any_problem, min_size=8, max_size=8))
def test_threads_that_ask_different_things_answer_alike(many: list[Problem]) -> None:
    alone = [problem.result() for problem in many]
    scope_of.cache_clear()

    def work(problem: Problem) -> Form:
        return simplified(problem.scope(), problem.form)

    with ThreadPoolExecutor(WORKERS) as pool:
        assert list(pool.map(work, many)) == alone


@seldom
@given(st.lists(expressions(), min_size=2, max_size=4), st.data())
def test_a_scope_that_has_worked_answers_alike(forms: list[Form], data: st.DataObject) -> None:
    box = {name: Interval(0, 13) for name in ("x", "y", "z")}
    alone = {form: Problem(form, box).result() for form in forms}
    scope_of.cache_clear()
    scope = scope_of(tuple(sorted(box.items())))
    for form in data.draw(st.permutations(forms)):
        assert simplified(scope, form) == alone[form]


@for_all(FEW)
def test_results_are_pickled(question: Question) -> None:
    expression, bounds, constraints = question.parsed()
    result = simplify(expression, bounds, constraints)
    copy = pickle.loads(pickle.dumps(result))  # noqa: S301 - our own
    assert copy == result
    assert simplify(copy, bounds, constraints) == result
