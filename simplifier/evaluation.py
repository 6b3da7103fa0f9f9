"""Values of forms: in Python integers at one point, in arrays of NumPy at many.

Of a choice only the branch that is chosen is computed, so the others may divide by zero.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial, reduce
from itertools import accumulate, pairwise
from math import gcd, prod
from typing import Any, Final, TypeAlias, TypeVar

from simplifier.bounds.interval import Interval
from simplifier.conditions import outermost
from simplifier.errors import IndexingError
from simplifier.expr import form as forms
from simplifier.expr.form import BITWISE, FOREIGN, Atom, AtomKind, Form
from simplifier.expr.operations import ON_BITS, floordiv, mod
from simplifier.tools.late import np

Name = TypeVar("Name")

Value: TypeAlias = Any
"""A Python integer, or a NumPy array of integers."""
_OfTwo: TypeAlias = Callable[[Value, Value], Value]


MAX_INT64: Final = (1 << 63) - 1
"""The greatest integer of 64 bits."""


class EvaluationError(IndexingError, ArithmeticError):
    """A division by zero, or a term that is not integer arithmetic."""


def values_of(wanted: Sequence[Form], used: Mapping[str, Value]) -> tuple[Value, ...]:
    """The values of forms where the variables have these, all of one dtype.

    Raises:
        EvaluationError: naming the term that has no value.

    >>> from simplifier.expr.text import parse_form
    >>> values_of([parse_form("select(x != 0, y floordiv x, 7)")], {"x": 0, "y": 5})
    (7,)
    """
    known = {atom: _chosen(atom, used) for atom in outermost(wanted, (AtomKind.SELECT,))}
    return forms.evaluate(wanted, used, OPERATIONS, known)


def _chosen(atom: Atom, used: Mapping[str, Value]) -> Value:
    condition, *branches = atom.arguments
    (holds,) = values_of([condition], used)
    if not is_array(holds):
        return values_of([branches[0] if holds else branches[1]], used)[0]
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
    """Greatest distance from 0 of each value computed on the way.

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

    known = forms.fold(wanted, of_atom, of_form)
    yield from known.values()
    yield from (of_form(form, known) for form in wanted)


def _divided(operate: _OfTwo, atom: Atom, values: tuple[Value, ...]) -> Value:
    """A division of numbers or arrays that refuses zero."""
    numerator, divisor = values
    has_zero = bool((divisor == 0).any()) if is_array(divisor) else divisor == 0
    if has_zero:
        message = f"division by zero in {Form(0, {atom: 1})}"
        raise EvaluationError(message)
    return operate(numerator, divisor)


def _folded(name: str, on_integers: _OfTwo, _: Atom, values: tuple[Value, ...]) -> Value:
    """An extremum, computed by NumPy if an operand is an array."""

    def choose(left: Value, right: Value) -> Value:
        if is_array(left) or is_array(right):
            return getattr(np, name)(left, right)
        return on_integers(left, right)

    return reduce(choose, values)


def _number_of(truth: Value, compared: Value) -> Value:
    """1 or 0, in the dtype of the operands: truth values do not add up as numbers do."""
    return truth.astype(compared.dtype) if is_array(truth) else int(truth)


def _foreign(atom: Atom, _: tuple[Value, ...]) -> Value:
    message = f"{Form(0, {atom: 1})} is not integer arithmetic"
    raise EvaluationError(message)


OPERATIONS: Final[Mapping[AtomKind, Callable[[Atom, tuple[Value, ...]], Value]]] = {
    AtomKind.FLOORDIV: partial(_divided, lambda numerator, divisor: numerator // divisor),
    AtomKind.QUOTIENT: partial(_divided, lambda numerator, divisor: numerator // divisor),
    AtomKind.MOD: partial(_divided, operator.mod),
    AtomKind.CEILDIV: partial(_divided, lambda numerator, divisor: -(-numerator // divisor)),
    AtomKind.MIN: partial(_folded, "minimum", min),
    AtomKind.MAX: partial(_folded, "maximum", max),
    AtomKind.PRODUCT: lambda _, values: reduce(operator.mul, values),
    **dict.fromkeys(FOREIGN, _foreign),
    AtomKind.NONNEGATIVE: lambda _, values: _number_of(values[0] >= 0, values[0]),
    AtomKind.ZERO: lambda _, values: _number_of(values[0] == 0, values[0]),
    AtomKind.AND: partial(_folded, "minimum", min),
    **dict.fromkeys(BITWISE, lambda atom, values: reduce(ON_BITS[atom.kind], values)),
}
"""Functions of the kinds of atoms on the values of arguments; variables have values."""


# From a table of integers to a formula in the index of its entries.
#
# Tables that people write are mostly regular: they count, they repeat, or do both at once. A
# regular table becomes a short expression in the digits of the index. Any other table becomes a
# line and a jump wherever its values leave the line, which is exact all the same.


def tabulated(values: Sequence[int], index: Form) -> Form:
    """The entry of a table at an index, for indices from 0 to the last one.

    >>> from simplifier.expr.form import variable
    >>> tabulated([7, 5, 3, 1], variable("d0"))
    Form(d0 * -2 + 7)
    >>> tabulated([0, 4, 8, 1, 5, 9], variable("d0"))
    Form((d0 mod 3) * 4 + d0 floordiv 3)
    >>> tabulated([3, 0, 1, 2], variable("d0"))
    Form(d0 - ((d0 + 3) floordiv 4) * 4 + 3)
    """
    first, *others = values
    step = others[0] - first if others else 0
    if all(value == first + step * number for number, value in enumerate(others, 1)):
        return index * step + forms.constant(first)
    period = _period(values)
    if not period:
        return _stepwise(values, index)
    within = [value - first for value in values[:period]]
    major, minor = (operation(index, forms.constant(period)) for operation in (floordiv, mod))
    return tabulated(values[::period], major) + tabulated(within, minor)


def _period(values: Sequence[int]) -> int | None:
    """The length of runs that are equal but for a number added to each; the first run's at best."""
    steps = [after - before for before, after in pairwise(values)]
    counting = next(number for number, step in enumerate(steps, 1) if step != steps[0])
    lengths = (counting, *range(2, len(values) // 2 + 1))
    return next((length for length in lengths if length > 1 and _repeats(values, length)), None)


def _repeats(values: Sequence[int], length: int) -> bool:
    if len(values) % length:
        return False
    return all(
        value - values[number - number % length] == values[number % length] - values[0]
        for number, value in enumerate(values)
    )


def _stepwise(values: Sequence[int], index: Form) -> Form:
    """A line of the most frequent slope, and a jump wherever the values leave it.

    ``floor((index + n - k)/n)`` is 0 before entry ``k`` of ``n`` and 1 from there on. Equal jumps
    at equal distances, with nothing between them, are one quotient.
    """
    steps = [after - before for before, after in pairwise(values)]
    ((slope, _),) = Counter(steps).most_common(1)
    jumps = {number: step - slope for number, step in enumerate(steps, 1) if step != slope}
    places, heights = list(jumps), set(jumps.values())
    first, last, count = places[0], places[-1], len(values)
    period = places[1] - first if len(places) > 1 else first
    is_regular = len(heights) == 1 and places == [*range(first, last + 1, period)]
    if not slope and is_regular and max(first, count - last) <= period:
        jumps, count = {first: jumps[first]}, period
    quotients = (
        (height, floordiv(index + forms.constant(count - number), forms.constant(count)))
        for number, height in jumps.items()
    )
    return forms.weighted_sum([(1, forms.constant(values[0])), (slope, index), *quotients])


def tabulated_partly(
    values: Mapping[int, int], index: Form
) -> tuple[Form, list[tuple[Form, Interval]]]:
    """The entry at an index that a table lists, and constraints that hold for these indices alone.

    >>> from simplifier.expr.form import variable
    >>> tabulated_partly({1: 0, 2: 1, 3: 2}, variable("d0"))
    (Form(d0 - 1), [(Form(d0), Interval(lower=1, upper=3))])
    """
    listed = sorted(values)
    first, last = listed[0], listed[-1]
    step = gcd(*(number - first for number in listed)) or 1
    away = index - forms.constant(first)
    number = away if step == 1 else floordiv(away, forms.constant(step))
    constraints = [(index, Interval(first, last))]
    if step > 1:
        constraints.append((mod(away, forms.constant(step)), Interval(0, 0)))
    regular = range(first, last + 1, step)
    if len(listed) < len(regular):
        is_listed = tabulated([int(each in values) for each in regular], number)
        constraints.append((is_listed, Interval(1, 1)))
    # Where no entry is listed, that of the index before.
    filled = accumulate(regular[1:], lambda last, at: values.get(at, last), initial=values[first])
    return tabulated([*filled], number), constraints


def tabulated_affinely(
    table: Mapping[tuple[int, ...], int], box: Sequence[range], index: Sequence[Form]
) -> Form | None:
    """The entry of a table at an index in a box, if each step along a dimension adds the same.

    >>> from simplifier.expr.form import variable
    >>> table = {(row, column): 10 - row + 3 * column for row in range(2) for column in range(4)}
    >>> tabulated_affinely(table, [range(2), range(4)], [variable("d0"), variable("d1")])
    Form(d1 * 3 - d0 + 10)
    """
    corner = tuple(along.start for along in box)
    steps = [
        table[(*corner[:number], along[1], *corner[number + 1 :])] - table[corner]
        if len(along) > 1
        else 0
        for number, along in enumerate(box)
    ]
    at_zero = table[corner] - sum(map(operator.mul, corner, steps))
    if any(value != at_zero + sum(map(operator.mul, each, steps)) for each, value in table.items()):
        return None
    terms = (form * step for form, step in zip(index, steps, strict=True))
    return sum(terms, forms.constant(at_zero))
