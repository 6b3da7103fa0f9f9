"""Results that take all values between two ends, a step apart, on every box of their variables."""

from __future__ import annotations

from functools import reduce
from math import gcd
from typing import TYPE_CHECKING, NamedTuple

from simplifier import Interval
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.fold import fold
from simplifier.expr.form import EXTREMA, VARIABLE, AtomKind, Form

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from indexing.tile.axes import TileAxis
    from simplifier.expr.form import Atom

_NONE = Interval(0, 0)
_UP = Interval(0, 1)
_DOWN = Interval(-1, 0)


class Monotone(NamedTuple):
    """``fixed + stride * steps``, where ``steps`` takes all values between its ends."""

    fixed: Form
    """What is the same in a whole tile."""
    stride: int
    steps: Form
    rising: dict[str, bool]
    """For each variable, whether ``steps`` rises along it; it never turns."""

    @property
    def falls(self) -> bool:
        """Whether ``steps`` falls along all variables, at least one."""
        return bool(self.rising) and not any(self.rising.values())


def monotone(form: Form, axes: Mapping[str, TileAxis]) -> Monotone | None:
    """How a result rises and falls, if it takes all values between its ends on every tile.

    >>> from simplifier.expr.parser import parse_form
    >>> row = monotone(parse_form("N - (d0 floordiv 4) * 3"), dict.fromkeys(["d0"]))
    >>> row.fixed, row.stride, row.steps, row.rising
    (Form(N), 3, Form(-(d0 floordiv 4)), {'d0': False})
    """
    moving = {atom: factor for atom, factor in form.terms.items() if _uses(atom, axes)}
    stride = gcd(*moving.values()) or 1
    steps = Form(0, moving)
    fixed, steps = form - steps, steps.exactly_divided(stride)
    names = [name for name in forms.variables_of((steps,)) if name in axes]
    changes = {name: _changes(steps, name) for name in names}
    if not all(map(_is_small, changes.values())) and not _has_no_gaps(steps, axes):
        return None
    rising = {name: change is not None and change.ends[1] > 0 for name, change in changes.items()}
    return Monotone(fixed, stride, steps, rising)


def _is_small(change: Interval | None) -> bool:
    """Whether a value never jumps or turns along a variable."""
    return change is not None and (_UP.contains(change) or _DOWN.contains(change))


def _has_no_gaps(steps: Form, axes: Mapping[str, TileAxis]) -> bool:
    """Whether each variable of a sum moves it no farther than those with smaller strides reach."""
    if any(atom.kind is not VARIABLE and _uses(atom, axes) for atom in steps.terms):
        return False
    reach = 1
    for factor, name in sorted(
        (abs(factor), atom.name) for atom, factor in steps.terms.items() if atom.name in axes
    ):
        if factor > reach:
            return False
        whole = axes[name].whole
        if whole is not None:  # of another dimension, a tile may have one value
            reach += factor * (whole - 1)
    return True


def _uses(atom: Atom, axes: Mapping[str, TileAxis]) -> bool:
    return any(name in axes for name in forms.variables_of((Form(0, {atom: 1}),)))


def _changes(form: Form, name: str) -> Interval | None:
    """An interval of the changes along a variable from each value to the next."""

    def of_atom(atom: Atom, inner: tuple[Interval | None, ...]) -> Interval | None:
        if atom.kind is VARIABLE:
            return Interval.of(int(atom.name == name))
        known = [change for change in inner if change is not None]
        if len(known) < len(inner):
            return None
        return _NONE if set(known) == {_NONE} else _change_of_operation(atom, known)

    def of_form(part: Form, known: Mapping[Atom, Interval | None]) -> Interval | None:
        total = _NONE
        for atom, factor in part.terms.items():
            change = known[atom]
            if change is None:
                return None
            total = total + change * Interval.of(factor)
        return total

    return of_form(form, fold((form,), of_atom, of_form))


def _change_of_operation(atom: Atom, inner: Sequence[Interval]) -> Interval | None:
    """The changes of a rounded quotient or an extremum from those of its arguments."""
    if atom.kind in (AtomKind.FLOORDIV, AtomKind.CEILDIV) and atom.divisor > 0:
        lower, upper = inner[0].ends
        return Interval.from_range((lower // atom.divisor, -(-upper // atom.divisor)))
    if atom.kind in EXTREMA:
        return reduce(Interval.union, inner)
    return None


def span(form: Form, axes: Mapping[str, TileAxis]) -> Form:
    """By how much a form may rise in a tile, at most; exact for sums of variables."""

    def of_atom(atom: Atom, inner: tuple[Form, ...]) -> Form:
        if atom.kind is VARIABLE:
            return axes[atom.name].count.plus_constant(-1) if atom.name in axes else forms.ZERO
        if atom.kind in (AtomKind.FLOORDIV, AtomKind.CEILDIV):
            return _quotient_span(atom, inner[0], axes)
        if atom.kind in EXTREMA:
            return operations.maximum(inner)
        return forms.ZERO

    def of_form(part: Form, known: Mapping[Atom, Form]) -> Form:
        return forms.weighted_sum((abs(factor), known[atom]) for atom, factor in part.terms.items())

    return of_form(form, fold((form,), of_atom, of_form))


def _quotient_span(atom: Atom, inner: Form, axes: Mapping[str, TileAxis]) -> Form:
    """A quotient rises by one more than it must, unless tiles begin where it rises."""
    divisor = forms.constant(atom.divisor)
    widest = operations.ceildiv(inner, divisor)
    numerator = atom.arguments[0]
    name = numerator.plus_constant(-numerator.constant).single_variable()
    axis = axes.get(name or "")
    shift = numerator.constant + (atom.kind is AtomKind.CEILDIV) * (atom.divisor - 1)
    if axis is None or (axis.origin + shift) % atom.divisor:
        return widest
    count = axis.count
    fills = operations.zero(operations.mod(count, divisor))
    fits = operations.zero(operations.mod(divisor, count))
    last = operations.floordiv(count, divisor).plus_constant(-1)
    return operations.select(fills, last, operations.select(fits, forms.ZERO, widest))
