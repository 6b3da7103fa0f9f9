"""Values at a few points of the domain: what fails there need not be looked at any further."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final, TypeAlias
from zlib import crc32

from simplifier.expr.form import Kind, postorder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from simplifier.bounds.interval import Range
    from simplifier.canonical.scope import Scope
    from simplifier.expr.form import Atom, Form

POINTS: Final = 12
_FAR: Final = 1000
"""How far from its other end a variable without an end is looked at."""

Values: TypeAlias = "list[int] | None"
"""A value for each point; ``None`` where they are not known."""


def is_somewhere_negative(scope: Scope, forms: Sequence[Form]) -> bool:
    """Whether all the forms are negative at one of the points together."""
    if scope.facts:
        return False
    rows = [_values(scope, form) for form in forms]
    known = [row for row in rows if row is not None]
    return len(known) == len(rows) and any(max(column) < 0 for column in zip(*known, strict=True))


def spread(scope: Scope, form: Form) -> int:
    """How far apart the form's values at the points are; 0 where that is not known."""
    values = None if scope.facts else _values(scope, form)
    return max(values) - min(values) if values is not None else 0


def _values(scope: Scope, form: Form) -> Values:
    known = scope.samples
    for atom in postorder((form,), skip=known.__contains__):
        known[atom] = _values_of_atom(scope, atom)
    return _sum(form, known)


def _sum(form: Form, known: Mapping[Atom, Values]) -> Values:
    total = [form.constant] * POINTS
    for atom, factor in form.terms.items():
        values = known[atom]
        if values is None:
            return None
        total = [before + factor * value for before, value in zip(total, values, strict=True)]
    return total


def _values_of_atom(scope: Scope, atom: Atom) -> Values:
    if atom.kind is Kind.VARIABLE:
        places = _places(scope.ranges[atom])
        start = crc32(atom.name.encode())
        return [places[(start * (point + 1) + point) % len(places)] for point in range(POINTS)]
    operation = _OPERATIONS.get(atom.kind)
    if operation is None:
        return None
    rows = [_sum(argument, scope.samples) for argument in atom.arguments]
    known = [row for row in rows if row is not None]
    return list(map(operation, zip(*known, strict=True))) if len(known) == len(rows) else None


def _places(ends: Range) -> list[int]:
    """The ends of a range, what is next to them, the middle, and numbers around zero."""
    lower, upper = ends
    low = (
        lower
        if isinstance(lower, int)
        else min(-_FAR, upper - _FAR if isinstance(upper, int) else 0)
    )
    high = upper if isinstance(upper, int) else max(_FAR, low + _FAR)
    found = (low, high, (low + high) // 2, 0, low + 1, high - 1, 1, -1)
    return [place for place in dict.fromkeys(found) if low <= place <= high] or [low]


_OPERATIONS: Final[Mapping[Kind, Callable[[tuple[int, ...]], int]]] = {
    Kind.FLOORDIV: lambda operands: operands[0] // operands[1],
    Kind.QUOTIENT: lambda operands: operands[0] // operands[1] if operands[1] else 0,
    Kind.MAX: max,
    Kind.PRODUCT: prod,
    Kind.SUM: lambda operands: operands[0],
}
