"""Exact answers: never a guess, for either sign, without bounds, in any depth; refusals by name."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Thread
from typing import TypeAlias

import pytest
from hypothesis import given

from simplifier import Interval, equivalent, parse_expr
from simplifier.exact import MissingIslError, NotQuasiAffineError, Space, differing_point
from simplifier.exact.isl import asked_of_kept
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import Form
from simplifier.expr.sympy import from_sympy
from tests.evaluation import first_difference
from tests.strategies import bounded_boxes, points_of, quasi_affine

Bounds: TypeAlias = "dict[str, tuple[int | None, int | None]]"

EQUIVALENT: list[tuple[str, str, Bounds]] = [
    # a, b, bounds
    ("(x floordiv 8) * 8 + x mod 8", "x", {}),
    ("x % -3", "x - (x floordiv -3) * -3", {}),
    ("x floordiv -3", "(-x) floordiv 3", {}),
    ("x ceildiv 4", "-((-x) floordiv 4)", {}),
    ("x ceildiv -4", "-(x floordiv 4)", {}),
    ("(x floordiv 2) floordiv 3", "x floordiv 6", {}),
    ("min(x, y) + max(x, y)", "x + y", {}),
    ("max(x, 0)", "x", {"x": (0, None)}),
    ("max(x, 0)", "0", {"x": (None, 0)}),
    ("x mod 8", "x", {"x": (0, 7)}),
    ("x mod 5", "x + 5", {"x": (-5, -1)}),
    ("x * y", "x * 3", {"y": (3, 3)}),
    ("x floordiv y", "x floordiv 4", {"y": (4, 4)}),
    ("x", "y", {"x": (1, 0)}),
    ("x * y + 1", "y * x + 1", {}),
    (f"(x * {2 * 10**40}) floordiv {10**40}", "x * 2", {}),
]
DIFFERENT: list[tuple[str, str, Bounds]] = [
    # a, b, bounds
    ("x mod 8", "x", {"x": (0, 8)}),
    ("x floordiv -7", "-(x floordiv 7)", {}),
    ("(x floordiv 2) floordiv -7", "x floordiv -14", {"x": (15, 15)}),
    ("min(x, y, 3)", "min(x, y)", {"x": (0, 5), "y": (0, 5)}),
    ("max(x, 0)", "x", {"x": (-1, None)}),
    (f"(x + {10**40}) floordiv 7", "x floordiv 7", {}),
]


@pytest.mark.parametrize(
    ("a", "b", "bounds"), EQUIVALENT, ids=[f"{a}, {b}" for a, b, _ in EQUIVALENT]
)
def test_equivalent(a: str, b: str, bounds: Bounds) -> None:
    assert equivalent(parse_expr(a), parse_expr(b), bounds)


@pytest.mark.parametrize(
    ("a", "b", "bounds"), DIFFERENT, ids=[f"{a}, {b}" for a, b, _ in DIFFERENT]
)
def test_different(a: str, b: str, bounds: Bounds) -> None:
    left, right = parse_expr(a), parse_expr(b)
    assert not equivalent(left, right, bounds)
    box = {name: Interval.of(ends) for name, ends in bounds.items()}
    point = differing_point(from_sympy(left), from_sympy(right), box)
    assert point is not None
    values = {str(symbol): point[symbol.name] for symbol in (left - right).free_symbols}
    assert left.subs(values) != right.subs(values)
    assert all(
        value in Interval.of(bounds.get(name, (None, None))) for name, value in point.items()
    )


def test_constraints_count() -> None:
    a, b = parse_expr("(d0 * 86 + d1) floordiv 1024"), 0
    bounds = {"d0": (0, 11), "d1": (0, 85)}
    assert not equivalent(a, b, bounds)
    assert equivalent(a, b, bounds, [(parse_expr("d0 * 86 + d1"), (0, 1023))])
    assert equivalent(
        parse_expr("d0"), 4, bounds, [(parse_expr("d0 mod 5"), 4), (parse_expr("d0"), (0, 8))]
    )


@given(quasi_affine(), quasi_affine(), bounded_boxes())
def test_the_answer_is_that_of_all_points(a: Form, b: Form, box: dict[str, Interval]) -> None:
    point = differing_point(a, b, box)
    if point is None:
        assert first_difference(a, b, points_of(box)) is None
    else:
        assert all(point[name] in box[name] for name in box)
        values = {name: forms.constant(value) for name, value in point.items()}
        left, right = operations.substitute((a, b), values)
        assert left != right


REFUSED = [
    # text, term, what it is
    ("x * y + 1", "x * y", "a product of variables"),
    ("(x * x) mod 3", "x * x", "a product of variables"),
    ("x floordiv (y + 1)", "x floordiv (y + 1)", "a division by what is not a constant"),
    ("x mod y", "x mod y", "a division by what is not a constant"),
    ("x ceildiv y", "x ceildiv y", "a division by what is not a constant"),
    ("x floordiv 0", "x floordiv 0", "a division by zero"),
    ("x mod 0", "x mod 0", "a division by zero"),
]


@pytest.mark.parametrize(("text", "term", "what"), REFUSED, ids=[text for text, _, _ in REFUSED])
def test_what_is_not_quasi_affine_is_named(text: str, term: str, what: str) -> None:
    with pytest.raises(NotQuasiAffineError) as caught:
        equivalent(parse_expr(text), 0, {})
    assert caught.value.term == term
    assert str(caught.value) == f"{term}: is {what}; exact answers need a quasi-affine expression"


def test_a_thread_without_islpy_keeps_no_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "islpy", None)
    with pytest.raises(MissingIslError):
        asked_of_kept(str)
    monkeypatch.undo()
    found: list[bool] = []
    thread = Thread(target=lambda: found.append(asked_of_kept(bool)), daemon=True)
    thread.start()
    thread.join(timeout=600)
    assert found == [True]


def test_without_islpy_one_line_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "islpy", None)
    with pytest.raises(
        MissingIslError, match="need islpy, which is not installed: pip install islpy"
    ):
        equivalent(parse_expr("x mod 8"), parse_expr("x"), {})


@pytest.mark.parametrize(
    "value", [0, 1, -1, 1 << 62, -(1 << 62) - 1, 3**500, -(10**6000)], ids=hash
)
def test_integers_of_any_size_pass(value: int) -> None:
    space = Space({"x": Interval(value, value)})
    assert space.sample(space.domain()) == {"x": value}


def test_deep_nests_need_no_recursion() -> None:
    form = forms.variable("x")
    for _ in range(2_000):
        form = operations.floordiv(form + 1, forms.constant(2))
    assert differing_point(form, forms.ONE, {"x": Interval(1, 10**6)}) is None
    assert differing_point(form, forms.ONE, {"x": Interval(0, 10**6)}) == {"x": 0}


def test_threads_do_not_meet() -> None:
    a, b = (
        parse_expr("((x * 12 + y) floordiv 5) mod 7"),
        parse_expr("(x * 12 + y) mod 35 floordiv 5"),
    )

    def ask(number: int) -> bool:
        return equivalent(a, b + number % 2, {"x": (0, 100), "y": (0, 11)})

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, range(64))) == [True, False] * 32
