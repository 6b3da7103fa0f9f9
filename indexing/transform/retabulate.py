"""Shortens a long formula with few values: a table of them gives a new formula.

When relations are composed over and over, as along a ring of devices or a chain of reshapes and
transposes, the formula of one step takes the place of a variable in the next, and nests deeper and
deeper. But it is a table, of no more entries than its variables have values.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, Final

from indexing.domain import Domain
from indexing.relation import Relation
from indexing.transform.evaluate import evaluate, result_columns
from indexing.transform.hull import terms_in
from indexing.variable import Variable
from simplifier import Interval
from simplifier.expr import form as forms
from simplifier.expr.operations import substitute
from simplifier.tabulate import tabulated, tabulated_partly

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from indexing.domain import Constraint
    from indexing.relation import RelationT
    from simplifier.expr.form import Form

MAX_VALUES: Final = 4096
"""A variable of more values has no table: finding its pattern takes longer than it saves."""

MAX_SHORT: Final = 8
"""A formula of no more terms stays as it is: a table is hardly shorter."""

MAX_TABLE_TERMS: Final = 32
"""If the formula of a table has more terms, it is irregular, and the nested formula stays."""


def retabulated(indexing_map: RelationT, variable: str) -> RelationT:
    """The map with tables for long results and constraints in this variable alone.

    >>> from indexing import parse_map
    >>> step = steps = parse_map("(d0) -> ((d0 + 3) mod 7), domain: d0 in [0, 6]")
    >>> for _ in range(9):
    ...     steps = steps.compose(step)
    >>> print(retabulated(steps, "d0"))
    (d0) -> (d0 - ((d0 + 2) floordiv 7) * 7 + 2), domain: d0 in [0, 6]
    """
    domain = indexing_map.domain
    limits = [pair for pair in domain.constraints if _is_in(pair[0], variable)]
    single = (*indexing_map.forms, *(form for form, _ in limits))
    long = [*dict.fromkeys(form for form in single if _is_long(form, variable))]
    count = domain.bounds[variable].size or 0
    if not long or domain.is_known_empty or not 1 < count <= MAX_VALUES:
        return indexing_map
    values = _values_within(limits, variable, domain.bounds[variable])
    if not values:
        return indexing_map.derived(indexing_map.forms, domain.emptied())
    tables = dict(zip(long, _tables(long, variable, values), strict=True))
    constraints = tabulated_partly(dict.fromkeys(values, 0), forms.variable(variable))[1]
    written = (*tables.values(), *(form for form, _ in constraints))
    if any(terms_in(form) > MAX_TABLE_TERMS for form in written):
        return indexing_map
    others = [pair for pair in domain.constraints if pair not in limits]
    plain = domain.with_constraints()
    results = [tables.get(form, form) for form in indexing_map.forms]
    return indexing_map.derived(results, plain.constrained([*others, *constraints]))


def with_tables(indexing_map: RelationT, most: int) -> RelationT:
    """The map with tables in place of results of more than ``most`` terms and few values.

    The index of a table is the number of a point of the variables in order. A table of more than
    ``most`` terms does not take the place of a result.

    >>> from indexing import parse_map
    >>> text = "((((d0 * 3 + 1) mod 7) floordiv 2) mod 3 + ((d0 * 3 + 1) mod 7) * 2)"
    >>> print(with_tables(parse_map(f"(d0) -> {text}, domain: d0 in [0, 3]"), 5))
    (d0) -> (d0 * 8 - ((d0 + 2) floordiv 4) * 18 - (d0 + 1) floordiv 4 + 2), domain: d0 in [0, 3]
    """
    domain = indexing_map.domain
    results = (
        form if terms_in(form) <= most else _table_of(form, domain, most) or form
        for form in indexing_map.forms
    )
    return indexing_map.derived(results, domain)


def _table_of(form: Form, domain: Domain, most: int) -> Form | None:
    """The form as a table of its values, if that is short."""
    values = values_in_box(form, domain)
    if len(values) < 2:  # noqa: PLR2004 - a table
        return None
    number = forms.ZERO
    for name in forms.variables_of([form]):
        bounds = domain.bounds[name]
        away = forms.variable(name).plus_constant(-(bounds.lower or 0))
        number = number.times(bounds.size or 0).plus(away)
    table = tabulated(values, number)
    return table if terms_in(table) <= most else None


def values_in_box(form: Form, domain: Domain) -> list[int]:
    """The values of a form at all points of its variables, in order; none if there are too many."""
    names = [*forms.variables_of([form])]
    box = [domain.bounds[name] for name in names]
    if not 0 < prod(bounds.size or 0 for bounds in box) <= MAX_VALUES:
        return []
    dims = {name: forms.variable(f"d{number}") for number, name in enumerate(names)}
    renamed = Relation.from_forms(substitute([form], dims), Domain(tuple(map(Variable, box))))
    return [value for _, (column,) in result_columns(renamed) for value in column.tolist()]


def _is_in(form: Form, variable: str) -> bool:
    """Whether a form depends on this variable and no other."""
    return {*forms.variables_of([form])} == {variable}


def _is_long(form: Form, variable: str) -> bool:
    return _is_in(form, variable) and terms_in(form) > MAX_SHORT


def _values_within(limits: Sequence[Constraint], variable: str, bounds: Interval) -> list[int]:
    """The values of a variable that meet constraints in it alone."""
    values = [*bounds]
    if not limits:
        return values
    rows = zip(*_evaluated([form for form, _ in limits], variable, values), strict=True)
    intervals = [interval for _, interval in limits]
    return [
        value
        for value, row in zip(values, rows, strict=True)
        if all(each in interval for each, interval in zip(row, intervals, strict=True))
    ]


def _tables(long: Sequence[Form], variable: str, values: Sequence[int]) -> Iterator[Form]:
    """For each form one with the same results for these values."""
    for results in _evaluated(long, variable, values):
        listed = _continued(dict(zip(values, results, strict=True)))
        yield tabulated_partly(listed, forms.variable(variable))[0]


def _continued(table: dict[int, int]) -> dict[int, int]:
    """The table without gaps: in a gap it goes on by its most frequent step."""
    pairs = pairwise(table.items())
    steps = Counter(after - before for (n, before), (m, after) in pairs if m == n + 1)
    ((step, _),) = steps.most_common(1) or [(0, 0)]
    first, last = min(table), max(table)
    listed = {first: table[first]}
    for value in range(first + 1, last + 1):
        listed[value] = table.get(value, listed[value - 1] + step)
    return listed


def _evaluated(single: Iterable[Form], variable: str, values: Sequence[int]) -> Iterator[list[int]]:
    """The results of forms in one variable for some of its values."""
    import numpy as np  # noqa: PLC0415 - NumPy is loaded when arrays are wanted

    domain = Domain((Variable(Interval(values[0], values[-1])),))
    renamed = Relation.from_forms(substitute(single, {variable: forms.variable("d0")}), domain)
    for results in evaluate(renamed, [np.array(values)]):
        yield np.broadcast_to(results, len(values)).tolist()
