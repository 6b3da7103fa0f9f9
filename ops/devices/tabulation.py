"""Functions given by tables, such as the members of replica groups, as expressions.

Tables that people write are mostly regular: they count, they repeat, or do both at once. What is
regular becomes a short expression in the digits of the place; what is not goes up or down step by
step, exactly all the same.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from math import gcd
from typing import TYPE_CHECKING

from simplifier import Interval
from simplifier.expr import form as forms
from simplifier.expr.operations import floordiv, mod

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from indexing.domain import Constraint
    from simplifier.expr.form import Form


def tabulated(values: Sequence[int], place: Form) -> Form:
    """The value at a place of a table, for places from 0 to the last one.

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
        return place * step + forms.constant(first)
    period = _period(values)
    if not period:
        return _stepwise(values, place)
    within = [value - first for value in values[:period]]
    major, minor = (operation(place, forms.constant(period)) for operation in (floordiv, mod))
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


def _stepwise(values: Sequence[int], place: Form) -> Form:
    """A line of the most frequent slope, and a jump wherever the values leave it.

    ``floor((place + n - k)/n)`` is 0 before place ``k`` of ``n`` and 1 from there on.
    """
    count = len(values)
    steps = [after - before for before, after in pairwise(values)]
    ((slope, _),) = Counter(steps).most_common(1)
    jumps = (
        (step - slope, floordiv(place + forms.constant(count - number), forms.constant(count)))
        for number, step in enumerate(steps, 1)
        if step != slope
    )
    return forms.weighted_sum([(1, forms.constant(values[0])), (slope, place), *jumps])


def tabulated_partly(values: Mapping[int, int], place: Form) -> tuple[Form, list[Constraint]]:
    """The value at the places that a table lists, and constraints that hold at these alone.

    >>> from simplifier.expr.form import variable
    >>> tabulated_partly({1: 0, 2: 1, 3: 2}, variable("d0"))
    (Form(d0 - 1), [(Form(d0), Interval(lower=1, upper=3))])
    """
    places = sorted(values)
    first, last = places[0], places[-1]
    step = gcd(*(number - first for number in places)) or 1
    away = place - forms.constant(first)
    number = away if step == 1 else floordiv(away, forms.constant(step))
    constraints = [(place, Interval(first, last))]
    if step > 1:
        constraints.append((mod(away, forms.constant(step)), Interval(0, 0)))
    regular = range(first, last + 1, step)
    if len(places) < len(regular):
        is_listed = tabulated([int(each in values) for each in regular], number)
        constraints.append((is_listed, Interval(1, 1)))
    return tabulated(_filled(values, regular), number), constraints


def _filled(values: Mapping[int, int], places: range) -> list[int]:
    """Values for all places: those between two that are listed continue the one before."""
    filled: list[int] = []
    for place in places:
        filled.append(values[place] if place in values else filled[-1])
    return filled
