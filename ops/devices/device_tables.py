"""What depends on the number of a device alone, told by tables again where formulas have grown.

Round after round of a ring, the number of the next device takes the place of the last one in a
formula, which nests deeper and deeper; but it is a table, of no more entries than before.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from indexing import IndexingMap, Variable
from indexing.domain import Domain
from indexing.transform.hull import terms_in
from ops.index_maps import dim
from simplifier import Interval
from simplifier.expr import form as forms
from simplifier.expr.operations import substitute
from simplifier.tabulate import tabulated_partly

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from indexing.domain import Constraint
    from simplifier.expr.form import Form

MOST_DEVICES: Final = 4096
"""Among more devices nothing is told by tables."""

SHORT: Final = 8
"""A formula of no more terms is left as it is."""

MOST_TERMS: Final = 32
"""A table whose formula has more terms is left, too: it is hardly better."""


def with_tables_of_devices(whole: IndexingMap, devices: Interval) -> IndexingMap:
    """The same map with tables in the place of long formulas in the number of the device.

    That number is the last dimension, and ``devices`` holds the numbers of all devices.
    """
    domain = whole.domain
    place = domain.identifiers[len(domain.dims) - 1]
    limits = [pair for pair in domain.constraints if _is_of(pair[0], place)]
    told = (*whole.forms, *(form for form, _ in limits))
    long = [*dict.fromkeys(form for form in told if _is_long(form, place))]
    if not long or domain.is_known_empty or not 1 < (devices.size or 0) <= MOST_DEVICES:
        return whole
    asking = _numbers_within(limits, place, domain.bounds[place])
    if not asking:
        return IndexingMap.from_forms(whole.forms, domain.emptied())
    tables = dict(zip(long, _tables(long, place, asking), strict=True))
    constraints = tabulated_partly(dict.fromkeys(asking, 0), forms.variable(place))[1]
    if any(terms_in(form) > MOST_TERMS for form in (*tables.values(), *map(_form, constraints))):
        return whole
    others = [pair for pair in domain.constraints if pair not in limits]
    plain = Domain(domain.dims, domain.ranges, domain.runtime)
    results = [tables.get(form, form) for form in whole.forms]
    told_anew = plain.constrained([*others, *constraints])
    return IndexingMap.from_forms(results, told_anew)


def _form(constraint: Constraint) -> Form:
    return constraint[0]


def _is_of(form: Form, place: str) -> bool:
    """Whether a form depends on this variable and no other."""
    return {*forms.variables_of([form])} == {place}


def _is_long(form: Form, place: str) -> bool:
    return _is_of(form, place) and terms_in(form) > SHORT


def _numbers_within(limits: Sequence[Constraint], place: str, bounds: Interval) -> list[int]:
    """The values of a variable that meet constraints in it alone."""
    numbers = [*bounds]
    rows = zip(*_values([form for form, _ in limits], place, numbers), strict=True)
    intervals = [interval for _, interval in limits]
    return (
        [
            number
            for number, row in zip(numbers, rows, strict=True)
            if all(value in interval for value, interval in zip(row, intervals, strict=True))
        ]
        if limits
        else numbers
    )


def _tables(long: Sequence[Form], place: str, numbers: Sequence[int]) -> Iterator[Form]:
    """For each form one with the same values at these numbers."""
    for values in _values(long, place, numbers):
        listed = _continued(dict(zip(numbers, values, strict=True)))
        yield tabulated_partly(listed, forms.variable(place))[0]


def _continued(values: dict[int, int]) -> dict[int, int]:
    """The values at all numbers from the first to the last; in gaps they go on as mostly."""
    pairs = pairwise(values.items())
    steps = Counter(after - before for (n, before), (m, after) in pairs if m == n + 1)
    ((step, _),) = steps.most_common(1) or [(0, 0)]
    first, last = min(values), max(values)
    listed = {first: values[first]}
    for number in range(first + 1, last + 1):
        listed[number] = values.get(number, listed[number - 1] + step)
    return listed


def _values(told: Iterable[Form], place: str, numbers: Sequence[int]) -> Iterator[list[int]]:
    """The values of forms in one variable at some numbers."""
    import numpy as np  # noqa: PLC0415 - NumPy is loaded when arrays are wanted

    single = Domain((Variable(Interval(numbers[0], numbers[-1])),))
    renamed = IndexingMap.from_forms(substitute(told, {place: dim(0)}), single)
    for values in renamed.evaluate([np.array(numbers)]):
        yield np.broadcast_to(values, len(numbers)).tolist()
