"""Inputs whose canonical form grows with every level: the work is bounded, the result right."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from simplifier import Interval, operations
from simplifier import form as forms
from simplifier.cost import cost_of_form
from simplifier.scope import scope_of
from simplifier.settling import range_of, simplified
from tests.evaluation import values_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from simplifier.form import Form

x, y = forms.variable("x"), forms.variable("y")
BOUNDS = (("x", Interval(0, 10**6)), ("y", Interval(0, 100)))
LEVELS = 100

# One level more; each leaves one more quotient in the canonical form.
GROWING: dict[str, Callable[[Form, int], Form]] = {
    "quotients": lambda form, _: operations.floordiv(form * 3 + y, forms.constant(2)),
    "remainders": lambda form, level: operations.mod(form * 3 + y, forms.constant(1000 + level)),
    "all divisors": lambda form, level: (
        form + operations.floordiv(x, forms.constant(level + 2)) * (level + 1)
    ),
}


@pytest.mark.parametrize("grow", GROWING.values(), ids=GROWING)
def test_growing_forms_end_with_a_sound_result(grow: Callable[[Form, int], Form]) -> None:
    form = x
    for level in range(LEVELS):
        form = grow(form, level)
    scope = scope_of(BOUNDS)
    result = simplified(scope, form)
    points = {
        "x": np.array([0, 1, 999, 54321, 10**6], dtype=object),
        "y": np.array([0, 7, 100, 31, 99], dtype=object),
    }
    expected, _ = values_of(form, points)
    found, _ = values_of(result, points)
    assert list(found) == list(expected)
    assert all(int(value) in range_of(scope, form) for value in expected)
    assert cost_of_form(result) <= cost_of_form(form)
