"""The tile of one result: an arithmetic progression, and which of its places the map touches."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from indexing.tile.monotone import span
from simplifier.expr import form as forms
from simplifier.expr import operations

if TYPE_CHECKING:
    from collections.abc import Mapping

    from indexing.domain import Constraint
    from indexing.tile.axes import TileAxis
    from indexing.tile.monotone import Monotone
    from indexing.tile.radices import TileDigit
    from simplifier.expr.form import Form


@dataclass(frozen=True, slots=True)
class Progression:
    """``offset + stride * i`` with ``0 <= i < size``."""

    offset: Form
    size: Form
    stride: Form
    conditions: tuple[Form, ...] = ()
    """What the position ``i`` of a place meets that the map touches."""
    clause: tuple[tuple[Constraint, ...], ...] = ((),)
    """The sizes for which this is the tile: one of these conjunctions holds."""
    values: dict[str, Form] = field(default_factory=dict[str, "Form"])
    """The variables that the position tells."""
    places: dict[TileDigit, Form] = field(default_factory=dict["TileDigit", "Form"])
    """How far a digit is from its first value in the tile."""

    def element(self, position: Form) -> Form:
        """The index at a position."""
        return operations.product((self.stride, position)) + self.offset


def of_monotone(result: Monotone, axes: Mapping[str, TileAxis], position: Form) -> Progression:
    """The tile of a result that takes all values between its ends."""
    used = {name: axes[name] for name in result.rising}
    first, last = _corners(result, used, {name: _whole(axis) for name, axis in used.items()})
    start, sign = (last, -1) if result.falls else (first, 1)
    lone = result.steps.single_variable() or (-result.steps).single_variable()
    return Progression(
        start.times(result.stride) + result.fixed,
        span(result.steps, axes).plus_constant(1),
        forms.constant(sign * result.stride),
        tuple(
            within_ends(used[lone].begin + position, used[lone])
            if lone
            else _conditions(result, used, start + position.times(sign))
        ),
        values={lone: used[lone].begin + position} if lone else {},
    )


def within_ends(value: Form, axis: TileAxis) -> list[Form]:
    """The conditions that a value is within the ends of its axis."""
    found: list[Form] = []
    if axis.lower is not None and not axis.is_range:
        found.append(operations.nonnegative(value - axis.lower))
    if axis.upper is not None:
        found.append(operations.nonnegative(axis.upper - value))
    return found


def _conditions(result: Monotone, used: Mapping[str, TileAxis], here: Form) -> list[Form]:
    """The conditions that a number of steps is between the ends, if a tile may have others."""
    is_cut = any(axis.lower is not None or axis.upper is not None for axis in used.values())
    if not is_cut and result.steps.is_affine:  # a quotient has one value more in some tiles
        return []
    kept = {name: _kept(axis) for name, axis in used.items()}
    least, greatest = _corners(result, used, kept)
    nonempty = [
        operations.nonnegative(kept[name][1] - kept[name][0])
        for name, axis in used.items()
        if axis.lower is not None or not axis.ends_with_tensor
    ]
    return [
        operations.nonnegative(here - least),
        operations.nonnegative(greatest - here),
        *nonempty,
    ]


def _whole(axis: TileAxis) -> tuple[Form, Form]:
    """The first and the last value of a tile that is not cut off."""
    return axis.begin, (axis.begin + axis.count).plus_constant(-1)


def _kept(axis: TileAxis) -> tuple[Form, Form]:
    """The first and the last value that is left within the bounds."""
    begin, end = _whole(axis)
    return (
        begin if axis.lower is None or axis.is_range else operations.maximum((begin, axis.lower)),
        end if axis.upper is None else operations.minimum((end, axis.upper)),
    )


def _corners(
    result: Monotone, axes: Mapping[str, TileAxis], ends: Mapping[str, tuple[Form, Form]]
) -> tuple[Form, Form]:
    """The least and the greatest value between the ends of all variables."""
    least = {name: ends[name][not result.rising[name]] for name in axes}
    greatest = {name: ends[name][result.rising[name]] for name in axes}
    (low,), (high,) = (operations.substitute((result.steps,), each) for each in (least, greatest))
    return low, high


def of_every_nth(
    form: Form, digit: TileDigit, remainder: int, axis: TileAxis, position: Form
) -> Progression:
    """The tile of a multiple of a quotient, where all values have one remainder by its divisor.

    ``variable + shift == weight * q + remainder``; so each ``q`` between the ends is there once.
    """
    weight = forms.constant(digit.weight)
    shift = digit.shift - remainder
    begin, end = _kept(axis)
    first = operations.ceildiv(axis.begin.plus_constant(shift), weight)
    least = operations.ceildiv(begin.plus_constant(shift), weight)
    greatest = operations.floordiv(end.plus_constant(shift), weight)
    here = first + position
    quotient = next(atom for atom in form.terms if axis.name in forms.variables_of(atom.arguments))
    factor = form.terms[quotient]
    inner = quotient.arguments[0].constant - digit.shift + remainder
    rest = form - forms.Form(0, {quotient: factor})
    return Progression(
        first.plus_constant(inner // digit.weight).times(factor) + rest,
        operations.ceildiv(axis.count, weight),
        forms.constant(factor),
        (operations.nonnegative(here - least), operations.nonnegative(greatest - here)),
        values={axis.name: here.times(digit.weight).plus_constant(-shift)},
    )
