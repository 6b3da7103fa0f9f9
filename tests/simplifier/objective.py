"""What a result may cost: no more than the input, where the input is a formula to keep.

A formula that divides by a negative number, or that needs far wider integers than its natural
reading, is not kept, however cheap it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import sympy

from simplifier import Interval
from simplifier.bounds.interval import IntervalLike
from simplifier.canonical.scope import Scope, scope_of
from simplifier.expr.form import AtomKind, Form, postorder
from simplifier.expr.sympy import from_sympy
from simplifier.extraction import costs_of
from simplifier.fixpoint import is_kept, range_of, simplified
from tests.evaluation import Columns, first_difference, values_of

DIVISIONS = (AtomKind.FLOORDIV, AtomKind.QUOTIENT, AtomKind.CEILDIV, AtomKind.MOD)


def is_never_costlier(scope: Scope, result: Form, form: Form) -> bool:
    """Whether a result costs no more than a form, or the form is none to keep."""
    costs = costs_of(scope)
    is_cheap = costs.of(result) <= costs.of(form)
    return is_cheap or not is_kept(scope, form) or _divides_by_what_is_negative(scope, form)


def _divides_by_what_is_negative(scope: Scope, form: Form) -> bool:
    """Whether a divisor is negative everywhere, as ``y`` is where ``y in [-3, -3]``."""
    divisors = (atom.arguments[1] for atom in postorder((form,)) if atom.kind in DIVISIONS)
    return any((range_of(scope, divisor) < Interval(0, 0)) is True for divisor in divisors)


def check_range(scope: Scope, form: Form, points: Columns) -> None:
    values, defined = values_of(form, points)
    interval = range_of(scope, form)
    assert all(value in interval for value in values[defined]), interval


def check_simplified(scope: Scope, form: Form, points: Columns) -> Form:
    """What a form becomes: equal at some points, settled, no costlier; its range holds them."""
    result = simplified(scope, form)
    assert first_difference(form, result, points) is None, result
    assert simplified(scope, result) == result
    assert is_never_costlier(scope, result, form)
    check_range(scope, form, points)
    return result


def is_good(
    expression: sympy.Expr,
    bounds: Mapping[str, IntervalLike],
    constraints: Sequence[tuple[sympy.Expr, IntervalLike]] = (),
) -> bool:
    """Whether an expression has positive divisors, and is no trick with wide integers."""
    box = tuple((name, Interval.of(bounds[name])) for name in sorted(bounds))
    facts = tuple((from_sympy(fact), Interval.of(ends)) for fact, ends in constraints)
    scope, form = scope_of(box, facts), from_sympy(expression)
    return is_kept(scope, form)
