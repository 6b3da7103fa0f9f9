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
from simplifier.expr.form import Form
from simplifier.expr.sympy import from_sympy
from simplifier.extraction import costs_of
from simplifier.fixpoint import is_kept


def is_never_costlier(scope: Scope, result: Form, form: Form) -> bool:
    """Whether a result costs no more than a form, or the form is none to keep."""
    costs = costs_of(scope)
    return costs.of(result) <= costs.of(form) or not is_kept(scope, form)


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
