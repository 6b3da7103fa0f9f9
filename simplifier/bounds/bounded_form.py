"""Arithmetic on bounded forms: bounds decide comparisons, clamps and roundings where they can.

The operations are those of machine integers without overflow: division rounds towards zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from simplifier.bounds.interval import Interval
from simplifier.expr import form as forms
from simplifier.expr import operations

if TYPE_CHECKING:
    from collections.abc import Callable

    from simplifier.expr.form import Form


@dataclass(frozen=True, slots=True)
class BoundedForm:
    """A form, and an interval that holds its values."""

    form: Form
    bounds: Interval


def clamp(value: BoundedForm, bounds: Interval) -> Form:
    """The value, or the bound that it lies beyond; only bounds that it may lie beyond are written.

    >>> value = BoundedForm(forms.variable("x"), Interval(0, 9))
    >>> clamp(value, Interval(0, 5))
    Form(min(x, 5))
    """
    form, lower, upper = value.form, bounds.lower, bounds.upper
    if lower is not None and not Interval(lower, None).contains(value.bounds):
        form = operations.maximum([form, forms.constant(lower)])
    if upper is not None and not Interval(None, upper).contains(value.bounds):
        form = operations.minimum([form, forms.constant(upper)])
    return form


def clamp_between(least: BoundedForm, value: BoundedForm, most: BoundedForm) -> Form:
    """The value, or the bound that it lies beyond. ``most`` wins where it lies below ``least``."""
    bounds = Interval(least.form.constant, most.form.constant)
    if least.form.is_constant and most.form.is_constant and not bounds.is_empty:
        return clamp(value, bounds)
    return operations.minimum([operations.maximum([value.form, least.form]), most.form])


def multiply(left: BoundedForm, right: BoundedForm) -> Form | None:
    """The product, if it is affine: if one of the factors is constant."""
    factor, constant = sorted((left.form, right.form), key=lambda form: form.is_constant)
    return factor * constant.constant if constant.is_constant else None


def divide(numerator: BoundedForm, divisor: BoundedForm) -> Form | None:
    """The quotient by a constant, rounded towards zero; ``None`` for another divisor, or zero.

    >>> two = BoundedForm(forms.constant(2), Interval(2, 2))
    >>> divide(BoundedForm(forms.variable("x"), Interval(-9, 0)), two)
    Form(-((-x) floordiv 2))
    """
    quotient = _with_its_sign(operations.floordiv, numerator, divisor)
    return -quotient if quotient is not None and divisor.form.constant < 0 else quotient


def remainder(numerator: BoundedForm, divisor: BoundedForm) -> Form | None:
    """What :func:`divide` leaves: it has the sign of the numerator."""
    return _with_its_sign(operations.mod, numerator, divisor)


def _with_its_sign(
    operation: Callable[[Form, Form], Form], numerator: BoundedForm, divisor: BoundedForm
) -> Form | None:
    """What an operation gives for both without their signs, with that of the numerator."""
    form, by = numerator.form, forms.constant(abs(divisor.form.constant))
    if not divisor.form.is_constant or not by.constant:
        return None
    above, below = operation(form, by), -operation(-form, by)
    if Interval(0, None).contains(numerator.bounds):
        return above
    if Interval(None, 0).contains(numerator.bounds):
        return below
    return operations.select(operations.nonnegative(form), above, below)


def compare(left: BoundedForm, right: BoundedForm, direction: str) -> bool | None:
    """Whether a comparison holds, if it holds for all values or for none.

    ``direction`` is one of ``LT LE EQ NE GE GT``.

    >>> value = BoundedForm(forms.variable("x"), Interval(0, 9))
    >>> compare(value, BoundedForm(forms.constant(10), Interval(10, 10)), "LT")
    True
    """
    difference = left.bounds - right.bounds
    if left.form == right.form:
        difference = Interval(0, 0)
    answers = {
        holds
        for part, holds in zip(_PARTS, _HOLDS[direction], strict=True)
        if not difference.intersect(part).is_empty
    }
    return answers.pop() if len(answers) == 1 else None


_PARTS: Final = (Interval(None, -1), Interval(0, 0), Interval(1, None))
_HOLDS: Final = {
    "LT": (True, False, False),
    "LE": (True, True, False),
    "EQ": (False, True, False),
    "NE": (True, False, True),
    "GE": (False, True, True),
    "GT": (False, False, True),
}
"""Whether a comparison holds for a difference in each of :data:`_PARTS`."""
