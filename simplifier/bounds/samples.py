"""Values at a few points of the domain: a claim that fails there need not be checked further."""

from __future__ import annotations

from functools import partial
from math import prod
from typing import TYPE_CHECKING, Final, TypeAlias
from zlib import crc32

from simplifier.expr.fold import fold
from simplifier.expr.form import AtomKind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from simplifier.bounds.context import Context
    from simplifier.bounds.interval import Range
    from simplifier.expr.form import Atom, Form

POINTS: Final = 12
_FAR: Final = 1000
"""How far from its other end a variable without an end is looked at."""

Values: TypeAlias = "list[int] | None"
"""A value for each point; ``None`` where they are not known."""


def is_somewhere_negative(context: Context, forms: Sequence[Form]) -> bool:
    """Whether all the forms are negative at one and the same point where the facts hold."""
    rows = [_values(context, form) for form in forms]
    known = [row for row in rows if row is not None]
    if len(known) < len(rows):
        return False
    columns = zip(*known, strict=True)
    inside = context.memory(_Inside).points
    return any(
        max(column) < 0 for column, is_inside in zip(columns, inside, strict=True) if is_inside
    )


class _Inside:
    """For each point, whether all facts hold there, as far as they can be evaluated."""

    def __init__(self, context: Context) -> None:
        rows = [(fact.ends, _values(context, fact.form)) for fact in context.facts]
        self.points = [
            all(values and lower <= values[point] <= upper for (lower, upper), values in rows)
            for point in range(POINTS)
        ]


class _Samples:
    """The values of atoms at the points, each computed once."""

    def __init__(self, context: Context) -> None:
        self._of_atom = partial(_values_of_atom, context.variable_range)
        self._known: dict[Atom, Values] = {}

    def of(self, form: Form) -> Mapping[Atom, Values]:
        """The values of the atoms of a form, and of others."""
        return fold((form,), self._of_atom, _sum, self._known)


def _values(context: Context, form: Form) -> Values:
    return _sum(form, context.memory(_Samples).of(form))


def _sum(form: Form, known: Mapping[Atom, Values]) -> Values:
    total = [form.constant] * POINTS
    for atom, factor in form.terms.items():
        values = known[atom]
        if values is None:
            return None
        total = [before + factor * value for before, value in zip(total, values, strict=True)]
    return total


def _values_of_atom(
    range_of: Callable[[Atom], Range], atom: Atom, rows: tuple[Values, ...]
) -> Values:
    if atom.kind is AtomKind.VARIABLE:
        some = _some_of(range_of(atom))
        start = crc32(atom.name.encode())
        return [some[(start * (point + 1) + point) % len(some)] for point in range(POINTS)]
    operation = _OPERATIONS.get(atom.kind)
    if operation is None:
        return None
    known = [row for row in rows if row is not None]
    return list(map(operation, zip(*known, strict=True))) if len(known) == len(rows) else None


def _some_of(ends: Range) -> list[int]:
    """The ends of a range, what is next to them, the middle, and numbers around zero."""
    lower, upper = ends
    low = (
        lower
        if isinstance(lower, int)
        else min(-_FAR, upper - _FAR if isinstance(upper, int) else 0)
    )
    high = upper if isinstance(upper, int) else max(_FAR, low + _FAR)
    found = (low, high, (low + high) // 2, 0, low + 1, high - 1, 1, -1)
    return [value for value in dict.fromkeys(found) if low <= value <= high] or [low]


_OPERATIONS: Final[Mapping[AtomKind, Callable[[tuple[int, ...]], int]]] = {
    AtomKind.FLOORDIV: lambda operands: operands[0] // operands[1],
    AtomKind.QUOTIENT: lambda operands: operands[0] // operands[1] if operands[1] else 0,
    AtomKind.MAX: max,
    AtomKind.PRODUCT: prod,
    AtomKind.SUM: lambda operands: operands[0],
}
