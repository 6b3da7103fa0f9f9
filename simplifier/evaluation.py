"""Values of forms: in Python integers at one point, in arrays of NumPy at many.

Of a choice only the branch that is chosen is computed, so the others may divide by zero.
"""

from __future__ import annotations

import operator
from functools import reduce
from math import prod
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from simplifier.errors import IndexingError
from simplifier.expr import fold
from simplifier.expr.form import BITWISE, FOREIGN, AtomKind, Form
from simplifier.expr.operations import ON_BITS
from simplifier.surroundings import outermost

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from simplifier.bounds.interval import Interval
    from simplifier.expr.form import Atom

Name = TypeVar("Name")

Value: TypeAlias = Any
"""A Python integer, or a NumPy array of integers."""

MAX_INT64: Final = (1 << 63) - 1
"""The greatest integer of 64 bits."""


class EvaluationError(IndexingError, ArithmeticError):
    """A division by zero, or a term that is not integer arithmetic."""


def values_of(wanted: Sequence[Form], used: Mapping[str, Value]) -> tuple[Value, ...]:
    """The values of forms where the variables have these, all of one dtype.

    Raises:
        EvaluationError: naming the term that has no value.

    >>> from simplifier.expr.parser import parse_form
    >>> values_of([parse_form("select(x != 0, y floordiv x, 7)")], {"x": 0, "y": 5})
    (7,)
    """
    known = {atom: _chosen(atom, used) for atom in outermost(wanted, (AtomKind.SELECT,))}
    return fold.evaluate(wanted, used, OPERATIONS, known)


def _chosen(atom: Atom, used: Mapping[str, Value]) -> Value:
    condition, *branches = atom.arguments
    (holds,) = values_of([condition], used)
    if not is_array(holds):
        return values_of([branches[0] if holds else branches[1]], used)[0]
    import numpy as np  # noqa: PLC0415 - NumPy is loaded when arrays are wanted

    # Numbers take the dtype of the arrays: 64 bits may not hold what is computed with them.
    arrays = (np.asarray(value, dtype=holds.dtype) for value in used.values())
    columns = dict(zip(used, np.broadcast_arrays(*arrays), strict=True))
    where = np.broadcast_to(holds != 0, next(iter(columns.values())).shape)
    chosen = np.empty(where.shape, dtype=holds.dtype)
    for branch, here in zip(branches, (where, ~where), strict=True):
        chosen[here] = values_of([branch], {name: each[here] for name, each in columns.items()})[0]
    return chosen


def is_array(value: Value) -> bool:
    """Whether a value is an array, not a Python integer."""
    return hasattr(value, "dtype")


def points_in(box: Mapping[Name, Interval], numbers: Value) -> dict[Name, Value]:
    """The points of a bounded box that have these numbers; the last variable is fastest.

    >>> from simplifier import Interval
    >>> points_in({"x": Interval(3, 5), "y": Interval(0, 9)}, 11)
    {'x': 4, 'y': 1}
    """
    columns: dict[Name, Value] = {}
    for name, interval in reversed([*box.items()]):
        size = interval.size or 1
        columns[name] = numbers % size + (interval.lower or 0)
        numbers = numbers // size
    return {name: columns[name] for name in box}


def magnitudes(wanted: Sequence[Form], sizes: Mapping[str, int]) -> Iterator[int]:
    """How far from 0 each value can be that is computed on the way.

    ``sizes`` says it of the variables. A partial sum, in any order, is no farther than the sum of
    the magnitudes of its terms.
    """

    def of_atom(atom: Atom, inner: tuple[int, ...]) -> int:
        if atom.kind is AtomKind.VARIABLE:
            return sizes[atom.name]
        if atom.kind in BITWISE:
            return 1 << max(inner).bit_length()  # that far only below 0: -3 ^ 1 is -4
        if atom.kind is AtomKind.PRODUCT:
            return prod(max(each, 1) for each in inner)  # 0 comes after the others
        return max(inner, default=0)

    def of_form(form: Form, known: Mapping[Atom, int]) -> int:
        terms = (abs(factor) * known[atom] for atom, factor in form.terms.items())
        return abs(form.constant) + sum(terms)

    known = fold.fold(wanted, of_atom, of_form)
    yield from known.values()
    for form in wanted:
        yield of_form(form, known)


def _divided(
    operate: Callable[[Value, Value], Value],
) -> Callable[[Atom, tuple[Value, ...]], Value]:
    """A division of numbers or arrays that refuses zero."""

    def divide(atom: Atom, values: tuple[Value, ...]) -> Value:
        numerator, divisor = values
        has_zero = bool((divisor == 0).any()) if is_array(divisor) else divisor == 0
        if has_zero:
            message = f"division by zero in {Form(0, {atom: 1})}"
            raise EvaluationError(message)
        return operate(numerator, divisor)

    return divide


def _folded(
    name: str, on_integers: Callable[[Value, Value], Value]
) -> Callable[[Atom, tuple[Value, ...]], Value]:
    """An extremum, computed by NumPy if an operand is an array."""

    def choose(left: Value, right: Value) -> Value:
        if is_array(left) or is_array(right):
            import numpy as np  # noqa: PLC0415 - NumPy is loaded when arrays are wanted

            return getattr(np, name)(left, right)
        return on_integers(left, right)

    return lambda _, values: reduce(choose, values)


def _number_of(truth: Value, compared: Value) -> Value:
    """1 or 0, in the dtype of what was compared: truth values do not add up as numbers do."""
    return truth.astype(compared.dtype) if is_array(truth) else int(truth)


def _foreign(atom: Atom, _: tuple[Value, ...]) -> Value:
    message = f"{Form(0, {atom: 1})} is not integer arithmetic"
    raise EvaluationError(message)


OPERATIONS: Final[Mapping[AtomKind, Callable[[Atom, tuple[Value, ...]], Value]]] = {
    AtomKind.FLOORDIV: _divided(lambda numerator, divisor: numerator // divisor),
    AtomKind.QUOTIENT: _divided(lambda numerator, divisor: numerator // divisor),
    AtomKind.MOD: _divided(lambda numerator, divisor: numerator % divisor),
    AtomKind.CEILDIV: _divided(lambda numerator, divisor: -(-numerator // divisor)),
    AtomKind.MIN: _folded("minimum", min),
    AtomKind.MAX: _folded("maximum", max),
    AtomKind.PRODUCT: lambda _, values: reduce(operator.mul, values),
    **dict.fromkeys(FOREIGN, _foreign),
    AtomKind.NONNEGATIVE: lambda _, values: _number_of(values[0] >= 0, values[0]),
    AtomKind.ZERO: lambda _, values: _number_of(values[0] == 0, values[0]),
    AtomKind.AND: _folded("minimum", min),
    **dict.fromkeys(BITWISE, lambda atom, values: reduce(ON_BITS[atom.kind], values)),
}
"""What each kind of atom computes from the values of its arguments; variables have theirs."""
