"""The tile of one result: an arithmetic progression, and which of its places the map touches."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from indexing.tile.monotone import hull, stepped
from simplifier.expr import form as forms
from simplifier.expr import operations

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from indexing.domain import Constraint
    from indexing.tile.axes import TileAxis
    from indexing.tile.tile_constraints import Clause
    from simplifier.canonical.scope import Scope
    from simplifier.expr.form import Form


@dataclass(frozen=True, slots=True)
class Progression:
    """``offset + stride * i`` with ``0 <= i < size``."""

    offset: Form
    size: Form
    stride: Form
    conditions: Sequence[Form] = ()
    """What the position ``i`` of a place meets that the map touches."""
    clause: tuple[tuple[Constraint, ...], ...] = ((),)
    """The sizes for which this is the tile: one of these conjunctions holds."""
    values: dict[str, Form] = field(default_factory=dict[str, "Form"])
    """The variables that the position tells."""

    def element(self, position: Form) -> Form:
        """The index at a position."""
        return operations.product((self.stride, position)) + self.offset


class ResultTiles(NamedTuple):
    """The tiles of all results, when positions are in them, and for which sizes they are these."""

    results: dict[int, Progression]
    conditions: Sequence[Form] = ()
    clauses: Sequence[Clause] = ()


def box(form: Form, axes: Mapping[str, TileAxis], scope: Scope) -> Progression:
    """The values from the least in a tile to the greatest; ``scope`` is what is known of points."""
    fixed, stride, steps = stepped(form, axes)
    low, span = hull(steps, axes, scope)
    return Progression(low.times(stride) + fixed, span.plus_constant(1), forms.constant(stride))


def of_monotone(
    form: Form, rising: Mapping[str, bool], axes: Mapping[str, TileAxis], scope: Scope, at: Form
) -> Progression:
    """The tile of a result that takes all values between its ends; ``at`` is a position."""
    fixed, stride, steps = stepped(form, axes)
    used = {name: axes[name] for name in rising}
    found = box(form, axes, scope)
    lone = steps.single_variable()
    if lone:
        value = used[lone].begin + at
        conditions = within_ends(value, used[lone])
        return replace(found, conditions=conditions, values={lone: value})
    here = (found.element(at) - fixed).exactly_divided(stride)
    return replace(found, conditions=_conditions(steps, rising, used, here))


def within_ends(value: Form, axis: TileAxis) -> list[Form]:
    """The conditions that a value is within the ends of its axis."""
    found: list[Form] = []
    if axis.lower is not None and not axis.is_range:
        found.append(operations.nonnegative(value - axis.lower))
    if axis.upper is not None:
        found.append(operations.nonnegative(axis.upper - value))
    return found


def _conditions(
    steps: Form, rising: Mapping[str, bool], axes: Mapping[str, TileAxis], here: Form
) -> list[Form]:
    """The conditions that a number of steps is between the ends, if a tile may have others."""
    is_cut = any(axis.lower is not None or axis.upper is not None for axis in axes.values())
    if not is_cut and steps.is_affine:  # a quotient has one value more in some tiles
        return []
    kept = {name: _kept(axis) for name, axis in axes.items()}
    first = {name: ends[not rising[name]] for name, ends in kept.items()}
    last = {name: ends[rising[name]] for name, ends in kept.items()}
    (least,), (greatest,) = (operations.substitute((steps,), ends) for ends in (first, last))
    nonempty = [
        operations.nonnegative(kept[name][1] - kept[name][0])
        for name, axis in axes.items()
        if axis.lower is not None or not axis.ends_with_tensor
    ]
    between = map(operations.nonnegative, (here - least, greatest - here))
    return [*between, *nonempty]


def _kept(axis: TileAxis) -> tuple[Form, Form]:
    """The first and the last value of a tile that is left within the bounds."""
    begin, end = axis.begin, (axis.begin + axis.count).plus_constant(-1)
    return (
        begin if axis.lower is None or axis.is_range else operations.maximum((begin, axis.lower)),
        end if axis.upper is None else operations.minimum((end, axis.upper)),
    )
