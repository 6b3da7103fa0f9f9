"""From a table of integers to a formula in the index of its entries.

Tables that people write are mostly regular: they count, they repeat, or do both at once. A regular
table becomes a short expression in the digits of the index. Any other table becomes a line and a
jump wherever its values leave the line, which is exact all the same.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from math import gcd
from operator import mul
from typing import TYPE_CHECKING

from simplifier.bounds.interval import Interval
from simplifier.expr import form as forms
from simplifier.expr.operations import floordiv, mod

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from simplifier.expr.form import Form


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
    """The length of runs that are equal but for what is added to each; the first run's at best."""
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
    return tabulated(_filled(values, regular), number), constraints


def _filled(values: Mapping[int, int], indices: range) -> list[int]:
    """An entry for every index: where none is listed, that of the index before."""
    filled: list[int] = []
    for index in indices:
        filled.append(values[index] if index in values else filled[-1])
    return filled


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
    at_zero = table[corner] - sum(map(mul, corner, steps))
    if any(value != at_zero + sum(map(mul, each, steps)) for each, value in table.items()):
        return None
    terms = (form * step for form, step in zip(index, steps, strict=True))
    return sum(terms, forms.constant(at_zero))
