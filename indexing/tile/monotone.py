"""Results that take all values between two ends, a step apart, on every box of their variables."""

from __future__ import annotations

from functools import reduce
from math import gcd
from typing import TYPE_CHECKING, TypeAlias

from indexing.errors import TileError
from simplifier import Interval
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.fold import fold
from simplifier.expr.form import EXTREMA, VARIABLE, AtomKind, Form
from simplifier.fixpoint import range_of, simplified

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from indexing.tile.axes import TileAxis
    from simplifier.canonical.scope import Scope
    from simplifier.expr.form import Atom

_QUOTIENTS = (AtomKind.FLOORDIV, AtomKind.CEILDIV)

_NONE = Interval(0, 0)
_UP = Interval(0, 1)
_DOWN = Interval(-1, 0)


def monotone(form: Form, axes: Mapping[str, TileAxis]) -> dict[str, bool] | None:
    """For each variable whether the steps of a result rise along it; they never turn.

    ``None`` if there is a tile on which they do not take all values between their ends.

    >>> from simplifier.expr.parser import parse_form
    >>> monotone(parse_form("N - (d0 floordiv 4) * 3"), dict.fromkeys(["d0"]))
    {'d0': True}
    """
    _, _, steps = stepped(form, axes)
    names = [name for name in forms.variables_of((steps,)) if name in axes]
    changes = {name: _changes(steps, name) for name in names}
    if not all(map(_is_small, changes.values())) and not _has_no_gaps(steps, axes):
        return None
    return {name: change is not None and change.ends[1] > 0 for name, change in changes.items()}


def stepped(form: Form, axes: Mapping[str, TileAxis]) -> tuple[Form, int, Form]:
    """What is the same in a whole tile, and the greatest stride of the other terms with the rest.

    The stride is negative if all of them fall.

    >>> from simplifier.expr.parser import parse_form
    >>> stepped(parse_form("N - (d0 floordiv 4) * 3"), dict.fromkeys(["d0"]))
    (Form(N), -3, Form(d0 floordiv 4))
    """
    moving = Form(0, {atom: factor for atom, factor in form.terms.items() if _uses(atom, axes)})
    stride = gcd(*moving.terms.values()) or 1
    if moving.terms and max(moving.terms.values()) < 0:
        stride = -stride
    return form - moving, stride, moving.exactly_divided(stride)


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
    if atom.kind in _QUOTIENTS and atom.divisor > 0:
        lower, upper = inner[0].ends
        return Interval.from_range((lower // atom.divisor, -(-upper // atom.divisor)))
    if atom.kind in EXTREMA:
        return reduce(Interval.union, inner)
    return None


Hull: TypeAlias = tuple[Form, Form]
"""The least value, and by how much it may rise."""


def hull(form: Form, axes: Mapping[str, TileAxis], scope: Scope) -> Hull:
    """The least value of a form in a tile, and by how much it may rise, at most.

    Both are exact for sums of variables; ``scope`` is what is known of points.

    Raises:
        TileError: a part has no bounds.
    """

    def of_atom(atom: Atom, inner: tuple[Hull, ...]) -> Hull:
        if atom.name in axes:
            return axes[atom.name].begin, axes[atom.name].count.plus_constant(-1)
        spans = [span for _, span in inner]
        low = operations.rebuilt(atom, tuple(least for least, _ in inner))
        if {*spans} <= {forms.ZERO}:
            return low, forms.ZERO
        if atom.kind in _QUOTIENTS and atom.divisor > 0:
            return _quotient_hull(atom, inner[0], axes, scope)
        if atom.kind in EXTREMA:
            return low, operations.maximum(spans)
        values = range_of(scope, Form(0, {atom: 1}))
        if values.lower is None or values.size is None:
            raise TileError(f"tile: {Form(0, {atom: 1})} has no bounds; expected some")
        return forms.constant(values.lower), forms.constant(values.size - 1)

    def of_form(part: Form, known: Mapping[Atom, Hull]) -> Hull:
        terms = [(factor, *known[atom]) for atom, factor in part.terms.items()]
        ends = ((factor, low if factor > 0 else low + span) for factor, low, span in terms)
        span = forms.weighted_sum((abs(factor), span) for factor, _, span in terms)
        return forms.weighted_sum(ends).plus_constant(part.constant), span

    return of_form(form, fold((form,), of_atom, of_form))


def _quotient_hull(atom: Atom, inner: Hull, axes: Mapping[str, TileAxis], scope: Scope) -> Hull:
    """A quotient rises by one more than it must, unless tiles begin where it rises."""
    (low, span), (numerator, divisor) = inner, atom.arguments
    axis = axes.get(numerator.plus_constant(-numerator.constant).single_variable() or "")
    if atom.kind is AtomKind.CEILDIV:
        low, numerator = (each.plus_constant(atom.divisor - 1) for each in (low, numerator))
    remainder = simplified(scope, operations.mod(numerator, divisor))
    if remainder.is_constant:  # as of every n-th value
        return operations.ceildiv(low - remainder, divisor), operations.floordiv(span, divisor)
    start, step = low.constant, gcd(atom.divisor, *low.terms.values())
    greatest = atom.divisor - step + start % step  # the remainder where a tile begins, at most
    widest = operations.floordiv(span.plus_constant(greatest), divisor)
    low = operations.floordiv(low, divisor)
    if axis is None or axis.is_range or start % atom.divisor:
        return low, widest
    fills = operations.zero(operations.mod(axis.count, divisor))
    fits = operations.zero(operations.mod(divisor, axis.count))
    last = operations.floordiv(axis.count, divisor).plus_constant(-1)
    return low, operations.select(fills, last, operations.select(fits, forms.ZERO, widest))
