"""``Facts``: bounds and constraints as one value, in the place of either."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import partial
from itertools import count, pairwise
from typing import Any

import pytest
import sympy
from hypothesis import given
from sympy import And, Eq, Ne, Or

from indexing import IndexingMap
from simplifier import (
    BoundsError,
    Facts,
    FloorDiv,
    IndexingError,
    Interval,
    Mod,
    bounds_of,
    equivalent,
    simplify,
    symbol,
)
from simplifier.bounds.context import Constraints
from simplifier.expr.sympy import to_sympy
from tests.call_counts import calls_of
from tests.simplifier.test_constraints import solvable_problems
from tests.strategies import Problem

x, y, n, k = map(symbol, "xynk")
FACTS = Facts({x: (0, 63), n: (1, None)}, [x < n, sympy.Eq(Mod(k, 8), 0)])


@given(solvable_problems())
def test_facts_answer_as_bounds_and_constraints_do(asked: tuple[Problem, Constraints]) -> None:
    problem, known = asked
    expression = to_sympy(problem.form)
    constraints = [(to_sympy(form), ends) for form, ends in known]
    facts = Facts(problem.box, constraints)
    plain = problem.box, constraints
    for question in (simplify, bounds_of):
        answer = question(expression, *plain)
        assert question(expression, facts) == answer
        assert question(expression, {}, facts) == answer
        assert question(expression, Facts(problem.box), Facts(constraints=constraints)) == answer
        assert question(expression, Facts(problem.box), constraints) == answer
        assert question(expression, problem.box, Facts(constraints=constraints)) == answer
    simpler = simplify(expression, facts)
    assert equivalent(expression, simpler, facts)


def test_facts_are_read_once() -> None:
    first, second = FACTS.problem([x]), FACTS.problem([FloorDiv(x, 3)])
    assert first.scope() is second.scope()


def test_what_a_symbol_assumes_counts_in_its_question_alone() -> None:
    size = sympy.Symbol("p", integer=True, positive=True)
    assert bounds_of(size + x, FACTS) == Interval(1, None)
    assert "p" not in FACTS.bounds
    assert bounds_of(symbol("p"), FACTS) == Interval(None, None)


def test_facts_are_values() -> None:
    same = Facts({x: Interval(0, 63), n: (1, None)}, [x < n, sympy.Eq(Mod(k, 8), 0)])
    assert same == FACTS
    assert hash(same) == hash(FACTS)
    assert Facts({x: (0, 63)}) != FACTS
    assert pickle.loads(pickle.dumps(FACTS)) == FACTS  # noqa: S301 - our own
    assert str(FACTS) == "Facts({x: [0, 63], n: [1, inf]}, [x < n, Eq((k % 8), 0)])"
    assert FACTS.bounds == {"x": Interval(0, 63), "n": Interval(1, None)}
    assert FACTS.constraints[0] == (x < n, Interval(1, 1))
    with pytest.raises(AttributeError):
        FACTS.bounds = {}  # pyright: ignore[reportAttributeAccessIssue] - a value


def test_both_facts_hold() -> None:
    both = Facts({x: (0, 9)}) & Facts({"x": (5, 12)}, [n <= x])
    assert both.bounds["x"] == Interval(5, 9)
    assert bounds_of(n, both) == Interval(None, 9)


def test_bounds_and_constraints_are_read_together() -> None:
    even = Facts(constraints=[sympy.Eq(Mod(k, 2), 0)])
    half = [(k / 2, (0, 9))]
    assert bounds_of(FloorDiv(k, 2), even, half) == Interval(0, 9)
    assert bounds_of(x - FloorDiv(k, 2), {x: (0, k / 2)}, even) == Interval(None, 0)
    size = sympy.Symbol("x", integer=True, positive=True)
    assert bounds_of(size, {"x": (0, n)}, Facts({n: (0, 5)})) == Interval(1, 5)


def test_facts_are_constraints_of_maps() -> None:
    d0 = symbol("d0")
    facts = Facts({d0: (0, 5)}, [sympy.Eq(Mod(d0, 2), 0)])
    limited = IndexingMap([d0], IndexingMap.from_sizes([d0], dims=[10]).dims, constraints=facts)
    assert str(limited) == "(d0) -> (d0), domain: d0 in [0, 5], d0 mod 2 in [0, 0]"


G: Any = sympy.Function("g", integer=True)

BOUNDED = [
    pytest.param(x, Facts({}, [Or(x < 5, x < 3)]), "[-inf, 4]", id="the greater of two ends"),
    pytest.param(x, Facts({}, [Or(x < 5, And(x > 7, x < 9))]), "[-inf, 8]", id="a gap between"),
    pytest.param(
        x, Facts({}, [Or(Eq(x, 9), And(x > 2, x < 4), Eq(x, 5))]), "[3, 9]", id="points and a pair"
    ),
    pytest.param(x, Facts({}, [Or(x < 5, G(x) < 3)]), "[-inf, inf]", id="about other things"),
    pytest.param(x, Facts({}, [Or(Ne(x, 5), x < 3)]), "[-inf, inf]", id="all but a point"),
    pytest.param(G(x) + 1, Facts({G(x): (0, 5)}), "[1, 6]", id="a function"),
    pytest.param(G(x), Facts({G(x): (0, x), x: (1, 4)}), "[0, 4]", id="a function up to a symbol"),
]


@pytest.mark.parametrize(("expression", "facts", "expected"), BOUNDED)
def test_choices_and_functions_have_bounds(
    expression: sympy.Expr, facts: Facts, expected: str
) -> None:
    assert str(bounds_of(expression, facts)) == expected


g = [symbol(f"g{number}") for number in range(14)]
GUARD = Facts({g[1]: (2, 4096)})
"""One fact, and many that say no more of it."""
GUARDS = Facts(
    dict.fromkeys(g, (2, 4096)),
    [
        fact
        for one, other in pairwise(g)
        for fact in (FloorDiv(one, 3) <= 4 * FloorDiv(other, 2) + 7, Ne(one * other, 5))
    ]
    + [Eq(Mod(g[2], 8), 0), Eq(g[3], 2 * g[4])],
)
MAX_SHARE_OF_GUARDS = 2.5
"""What new names cost under many facts about others, in terms of the same under one: it was 40."""

LIMITS: dict[str, Callable[[sympy.Symbol, Facts], Interval]] = {
    "joined": lambda y, known: bounds_of(y, Facts({y: (1, None)}, [y < g[1]]) & known),
    "joining": lambda y, known: bounds_of(y, known & Facts({y: (1, None)}, [y < g[1]])),
    "beside": lambda y, known: bounds_of(y, known, [(y, (1, None)), y < g[1]]),
    "by another name": lambda y, known: bounds_of(y, known, [(y, (1, None)), y <= n, n < g[1]]),
}


@pytest.mark.parametrize(
    "asked", LIMITS.values(), ids=map("guards-of-other-symbols {}".format, LIMITS)
)
def test_facts_about_others_are_read_once(asked: Callable[[sympy.Symbol, Facts], Interval]) -> None:
    names = (symbol(f"new{number}") for number in count())
    calls: list[int] = []
    for known in (GUARD, GUARDS):
        assert asked(next(names), known) == Interval(1, 4095)
        calls.append(calls_of(partial(asked, next(names), known)))
    assert calls[1] <= MAX_SHARE_OF_GUARDS * calls[0]


def test_facts_that_were_given_together_are_read_once_for_all_of_their_names() -> None:
    names = [symbol(f"chain{number}") for number in range(40)]
    links = [one <= other + 5 for one, other in pairwise(names)]
    chain = Facts(dict.fromkeys(names, (0, 99)), links)
    first, second = (calls_of(partial(bounds_of, name, chain)) for name in names[10:12])
    assert second < first / 3


FAR: dict[str, tuple[list[Any], Interval]] = {
    "narrow what is asked": ([n < k, k < 9, k > 3], Interval(1, 6)),
    "of a multiple": ([Eq(n, 4 * k), k > -9, k < 3], Interval(1, 7)),
    "of an operand": ([Eq(Mod(n, 4), 2), k > n, k < 12], Interval(1, 9)),
    "contradict each other": ([k < 3, k > 3], Interval(0, -1)),
    "leave nothing": ([n < k, k < 2], Interval(0, -1)),
}


@pytest.mark.parametrize(("facts", "expected"), FAR.values(), ids=FAR)
def test_facts_that_name_nothing_asked_count(facts: list[Any], expected: Interval) -> None:
    near, far = Facts({x: (1, None), n: (-9, 99)}, [x < n]), Facts({}, facts)
    for known in (
        near & far,
        far & near,
        Facts({}, [x < n, *facts]) & Facts({x: (1, None), n: (-9, 99)}),
    ):
        found = bounds_of(x, known)
        assert found == expected or (found.is_empty and expected.is_empty)


def test_facts_may_link_others_that_nothing_asked_depends_on() -> None:
    near, far = Facts({}, [x + y >= 3, n >= 0, n <= 8]), Facts({k: (0, 5)}, [n <= k])
    assert bounds_of(x + y, near & far) == Interval(3, None)


WRONG: dict[str, Callable[[], Any]] = {
    "Facts: bounds are 3; expected a mapping": lambda: Facts(3),  # pyright: ignore[reportArgumentType]
    "Facts: constraints is 3; expected a sequence": lambda: Facts({}, 3),  # pyright: ignore[reportArgumentType]
    "Facts: constraints: one is 3; expected an expression": lambda: Facts({}, [3]),  # pyright: ignore[reportArgumentType]
    "Facts: bounds are given for 3; expected a symbol": lambda: Facts({3: (0, 1)}),  # pyright: ignore[reportArgumentType]
    "Facts: two different symbols are called 'x'": lambda: Facts(
        {x: (0, 1), sympy.Symbol("x"): (0, 1)}
    ),
    "simplify: two different symbols are called 'x'": lambda: simplify(sympy.Symbol("x"), FACTS),
    "x/2: is a fraction; expected an integer": lambda: Facts({}, [(x / 2, 0)]),
}


@pytest.mark.parametrize(("message", "make"), WRONG.items(), ids=WRONG)
def test_wrong_facts_are_refused_by_name(message: str, make: Callable[[], Any]) -> None:
    with pytest.raises(IndexingError) as error:
        make()
    assert str(error.value).startswith(message)


def test_facts_join_with_facts_alone() -> None:
    with pytest.raises(TypeError, match="unsupported operand"):
        FACTS & 3  # pyright: ignore[reportOperatorIssue, reportUnusedExpression]
    with pytest.raises(BoundsError, match="one is Facts"):
        simplify(x, {}, [FACTS])  # pyright: ignore[reportArgumentType]
