"""Equal questions: answered from memory, in microseconds, and never mixed up with others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import pytest
import sympy
from sympy import Eq

from simplifier import Facts, Interval, bounds_of, fixpoint, simplify, symbol
from simplifier import problem as memory
from simplifier.canonical.scope import scope_of
from simplifier.errors import IndexingError
from simplifier.expr.functions import FloorDiv, Mod
from simplifier.expr.text import parse_form
from simplifier.fixpoint import simplified
from tests.call_counts import calls_of
from tests.cases import for_all
from tests.simplifier.answers import forget

x, y, n, k = map(symbol, "xynk")
EXPRESSION = 8 * FloorDiv(x, 8) + Mod(x, 8) + 3 * FloorDiv(y, 3)
MAX_CALLS = 150
"""Functions that an answer from memory calls at most."""

Bounds: TypeAlias = dict[Any, Any]

SPELLINGS: dict[str, Bounds] = {
    "pairs": {x: (0, 63), y: (0, 2)}, "lists": {x: [0, 63], y: [0, 2]},
    "intervals": {x: Interval(0, 63), y: Interval(0, 2)}, "names": {"x": (0, 63), "y": (0, 2)},
    "point": {x: (0, 63), y: 2},
}  # fmt: skip


@pytest.fixture
def solved(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What the solver is really asked, from an empty memory on."""
    forget()
    asked: list[object] = []
    solve = memory.Problem.scope

    def watched(problem: memory.Problem) -> object:
        asked.append(problem)
        return solve(problem)

    monkeypatch.setattr(memory.Problem, "scope", watched)
    return asked


@pytest.mark.parametrize("ask", [simplify, bounds_of])
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_an_equal_question_takes_few_calls(
    ask: Callable[..., object], spelling: str, solved: list[object]
) -> None:
    bounds, known = SPELLINGS[spelling], ((x + y, (0, 63)),)
    first = ask(EXPRESSION, bounds, known)
    assert ask(EXPRESSION, dict(bounds), list(known)) is first
    assert len(solved) == 1
    assert calls_of(lambda: ask(EXPRESSION, bounds)) > MAX_CALLS  # another question
    assert calls_of(lambda: ask(EXPRESSION, bounds)) <= MAX_CALLS


def test_spellings_of_intervals_are_one_question(solved: list[object]) -> None:
    results = {simplify(EXPRESSION, SPELLINGS[name]) for name in ("pairs", "lists", "intervals")}
    assert results == {x}
    assert len(solved) == 1


real = sympy.Symbol("x", real=True)
DIFFERENT: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
    # two questions that Python's == takes for one, or nearly so
    "true-is-not-one": (lambda: simplify(1, {}), lambda: simplify(True, {})),
    "float-is-not-one": (lambda: simplify(1, {}), lambda: simplify(1.0, {})),  # pyright: ignore[reportArgumentType]
    "end-true": (lambda: simplify(x, {x: (0, 1)}), lambda: simplify(x, {x: (0, True)})),
    "end-float": (lambda: bounds_of(x, {x: [0, 1]}), lambda: bounds_of(x, {x: [0, 1.0]})),  # pyright: ignore[reportArgumentType]
    "fact-true": (lambda: simplify(x, {}, [(1, 1)]), lambda: simplify(x, {}, [(True, 1)])),
    "three-ends": (lambda: simplify(x, {x: (0, 1)}), lambda: simplify(x, {x: (0, 1, 2)})),  # pyright: ignore[reportArgumentType]
    "other-symbol": (lambda: simplify(x, {"x": 1}), lambda: simplify(x + real, {"x": 1})),
}


@for_all(DIFFERENT)
def test_refusals_remain(answered: Callable[[], object], refused: Callable[[], object]) -> None:
    for _ in range(2):
        answered()
        with pytest.raises(IndexingError):
            refused()


def test_assumptions_tell_symbols_apart() -> None:
    natural = sympy.Symbol("x", integer=True, nonnegative=True)
    expression = sympy.Max(x, -1)
    assert simplify(expression, {}) == simplify(expression, {})
    assert simplify(expression.xreplace({x: natural}), {}) == natural
    assert simplify(sympy.Max(real, -1), {}).free_symbols == {real}
    assert bounds_of(natural, {}) != bounds_of(x, {})


NO_MAPPING = "expected a mapping from symbols or their names"
NO_PAIR = "expected an expression and an interval"
NO_FACTS: list[tuple[str, tuple[Any, ...]]] = [
    *((NO_MAPPING, (bounds,)) for bounds in ([(x, (0, 3))], "x", None, 3)),
    *((NO_PAIR, ({}, [constraint])) for constraint in (x, (x,), (x, 0, 3))),
]


@for_all(NO_FACTS)
def test_what_is_known_are_a_mapping_and_pairs(message: str, known: tuple[Any, ...]) -> None:
    with pytest.raises(IndexingError, match=message):
        simplify(x, *known)


def test_what_cannot_be_hashed_is_still_answered() -> None:
    class End:
        __hash__ = None  # pyright: ignore[reportAssignmentType]

        def __index__(self) -> int:
            return 3

    unhashable: Bounds = {x: (End(), 3)}
    assert simplify(x, unhashable) == 3
    with pytest.raises(IndexingError, match="expected integer arithmetic"):
        simplify([x], {})  # pyright: ignore[reportArgumentType]


def test_a_scope_of_very_many_results_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    bounds = (("x", Interval(0, 63)),)
    forms = [parse_form(f"(x * {number} + 5) floordiv 7") for number in range(1, 31)]

    def answers() -> tuple[list[object], int]:
        scope_of.cache_clear()
        found = [(scope_of(bounds), simplified(scope_of(bounds), form)) for form in forms]
        return [result for _, result in found], len({scope for scope, _ in found})

    expected, scopes = answers()
    assert scopes == 1
    monkeypatch.setattr(fixpoint, "_REMEMBERED_RESULTS", 16)
    again, scopes = answers()
    assert again == expected
    assert 1 < scopes < len(forms) // 4


def test_a_contradiction_about_another_variable_is_remembered_for_itself() -> None:
    """It makes anything true; without it, an expression of the same form keeps its value."""
    one, other, apart = (symbol(name) for name in ("one", "other", "apart"))
    assert simplify(one + 77, {apart: (1, 0)}) == 0
    assert bounds_of(one + 77, {apart: (1, 0)}).is_empty
    for each in (one, other):
        assert simplify(each + 77, {}) == each + 77
        assert bounds_of(each + 77, {apart: (0, 1)}) == Interval(None, None)


names = [symbol(name) for name in ("r2", "r10", "p", "q", "s", "t1")]
LINKED = {"facts of others": Facts({n: (1, 99)}, [Eq(n, 2 * k)]), "nothing": Facts()}


@for_all(LINKED)
def test_other_names_are_answered_from_memory(known: Facts) -> None:
    """As long as they have the same order: that of terms is by names."""

    def asked(one: sympy.Symbol, other: sympy.Symbol) -> tuple[sympy.Expr, Interval]:
        facts = Facts({one: (0, 63), other: (0, 2)}, [one < n]) & known
        return simplify(EXPRESSION.xreplace({x: one, y: other}), facts), bounds_of(one, facts)

    first = asked(x, y)
    before = scope_of.cache_info().misses
    for one, other in zip(names[::2], names[1::2], strict=True):
        assert asked(one, other) == (first[0].xreplace({x: one, y: other}), first[1])
    assert scope_of.cache_info().misses == before
