"""The hull of maps: one map that relates all that they relate, and maybe more.

A result that is the same in all of them stays. Any other becomes a range over all values between
the least and the greatest that it has in any of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, reduce
from itertools import chain, count, pairwise
from math import prod
from typing import Final

from indexing.domain import Constraint, Domain, substituted_constraints
from indexing.relation import Relation, RelationT, formulas, terms_in
from indexing.simplify import result_bounds, simplified
from indexing.transform.evaluate import columns_of, evaluate_forms, numbered, points
from indexing.variable import Variable
from simplifier import forms
from simplifier.forms import EVERYTHING, Form, Interval, np, tabulated, tabulated_partly


def hull(maps: Sequence[RelationT], limits: Sequence[Interval] | None = None) -> RelationT:
    """A simplified map that holds all that some maps relate.

    The maps are not empty, and have the same numbers of dimensions and results, and the same
    runtime variables. ``limits`` are known to hold the results.

    >>> from indexing import parse_map
    >>> here = parse_map("(d0, d1) -> (d0, d1), domain: d0 in [0, 3], d1 in [0, 5]")
    >>> there = parse_map("(d0, d1) -> (d0, d1 + 2), domain: d0 in [0, 3], d1 in [1, 5]")
    >>> print(hull([here, there]))
    (d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 3], d1 in [0, 5], s0 in [0, 7]
    """
    shared = _shared_domain([each.domain for each in maps])
    columns = zip(*(each.forms for each in maps), strict=True)
    bounds = map(_union, zip(*map(_bounds, maps), strict=True))
    known = limits or [EVERYTHING] * len(maps[0].forms)
    chosen = (
        first if all(form == first for form in others) else within.intersect(limit)
        for (first, *others), within, limit in zip(columns, bounds, known, strict=True)
    )
    results, ranges = _with_free_ranges(chosen, shared.ranges)
    return simplified(maps[0].derived(results, replace(shared, ranges=ranges)))


def _with_free_ranges(
    results: Iterable[Form | Interval], ranges: tuple[Variable, ...]
) -> tuple[list[Form], tuple[Variable, ...]]:
    """The results with a range for each interval, which comes after those that are there."""
    given = [*results]
    added = [Variable(each) for each in given if isinstance(each, Interval)]
    free = (forms.variable(f"s{number}") for number in count(len(ranges)))
    found = [next(free) if isinstance(each, Interval) else each for each in given]
    return found, (*ranges, *added)


def box(indexing_map: RelationT, dims: Sequence[Interval], limits: Sequence[Interval]) -> RelationT:
    """A map that holds another one and keeps only the results that are functions of dimensions.

    Its dimensions have all values of ``dims``. Each other result is any value within its limit or,
    if that is unbounded, within the bounds that it has in the other map.

    >>> from indexing import parse_map
    >>> some = parse_map("(d0)[s0] -> (d0, s0, d0 + 2), domain: d0 in [2, 5], s0 in [1, 2]")
    >>> every = Interval(0, 7)
    >>> print(box(some, [every], [every] * 3))
    (d0)[s0, s1] -> (d0, s0, s1), domain: d0 in [0, 7], s0 in [0, 7], s1 in [0, 7]
    """
    variables, parameters = zip(indexing_map.dims, dims, strict=True), indexing_map.parameters
    begin = tuple(variable.within(bounds) for variable, bounds in variables)
    of_dims = [form if _is_of_dims(form) else forms.ZERO for form in indexing_map.forms]
    everywhere = _bounds(indexing_map.derived(of_dims, Domain(begin, parameters=parameters)))
    rows = zip(indexing_map.forms, everywhere, _bounds(indexing_map), limits, strict=True)
    chosen = (
        form
        if _is_of_dims(form) and limit.contains(values)
        else (own if limit.size is None else limit)
        for form, values, own, limit in rows
    )
    results, free = _with_free_ranges(chosen, ())
    return simplified(indexing_map.derived(results, Domain(begin, free, parameters=parameters)))


def shortened(indexing_map: RelationT, most: int, limits: Sequence[Interval]) -> RelationT:
    """A map that holds another one, without formulas of more than ``most`` terms.

    Such results become ranges within their limits, and such constraints are left out.

    >>> from indexing import parse_map
    >>> long = parse_map("(d0) -> (d0, d0 floordiv 2 + d0 floordiv 3), domain: d0 in [0, 9]")
    >>> print(shortened(long, 3, [Interval(0, 9), Interval(0, 7)]))
    (d0)[s0] -> (d0, s0), domain: d0 in [0, 9], s0 in [0, 7]
    """
    domain = indexing_map.domain
    rows = zip(indexing_map.forms, limits, strict=True)
    chosen = (form if terms_in(form) <= most else limit for form, limit in rows)
    results, ranges = _with_free_ranges(chosen, domain.ranges)
    constraints = tuple(pair for pair in domain.constraints if terms_in(pair[0]) <= most)
    shorter = replace(domain, ranges=ranges, constraints=constraints)
    return indexing_map.derived(results, shorter)


def _shared_domain(domains: Sequence[Domain]) -> Domain:
    """The variables that all domains have, their bounds joined, and the constraints of all."""
    roles = zip(*(each.roles for each in domains), strict=True)
    dims, ranges, runtime = map(_shared_variables, roles)
    parameters = _shared_parameters([each.parameters for each in domains])
    plain = Domain.of(dims, ranges, runtime, parameters=parameters)
    known, shared = plain.bounds.keys(), _shared_constraints([each.constraints for each in domains])
    return plain.constrained(pair for pair in shared if known >= {*forms.variables_of(pair[:1])})


def _shared_variables(roles: Iterable[Sequence[Variable]]) -> tuple[Variable, ...]:
    """The variables at positions that all have, with bounds that hold those of all."""
    columns = zip(*roles, strict=False)
    return tuple(column[0].within(_union(each.bounds for each in column)) for column in columns)


def _shared_parameters(listed: Sequence[Sequence[Variable]]) -> Iterator[Variable]:
    """The parameters of any, with bounds that hold those of all; unbounded where one has it not."""
    by_name = [{each.name: each for each in parameters} for parameters in listed]
    for parameter in chain(*listed):
        found = (known.get(parameter.name) for known in by_name)
        bounds = (EVERYTHING if each is None else each.bounds for each in found)
        yield parameter.within(_union(bounds))


def _shared_constraints(listed: Sequence[Sequence[Constraint]]) -> Iterator[Constraint]:
    first, *others = map(dict, listed)
    for form, interval in first.items():
        if all(form in other for other in others):
            yield form, _union([interval, *(other[form] for other in others)])


def _union(intervals: Iterable[Interval]) -> Interval:
    return reduce(Interval.union, intervals)


def holds(wide: Relation, narrow: Relation) -> bool:
    """Whether a quick look shows that one map holds all that another relates.

    Both have as many dimensions and results. The look shows it if each result of the first is a
    range of its own that reaches as far, or the same function of the dimensions, and the second has
    all constraints of the first. It understands no runtime variables.
    """
    inner, outer = narrow.domain, wide.domain
    known = dict(inner.constraints)
    dims = zip(inner.dims, outer.dims, strict=True)
    return inner.is_known_empty or (
        all(theirs.bounds.contains(mine.bounds) for mine, theirs in dims)
        and all(form in known and limit.contains(known[form]) for form, limit in outer.constraints)
        and _results_hold(wide, narrow)
    )


def _results_hold(wide: Relation, narrow: Relation) -> bool:
    free = _free_ranges(wide)
    rows = zip(wide.forms, narrow.forms, _bounds(narrow), strict=True)
    return all(
        free[form].contains(bounds) if form in free else form == other and _is_of_dims(form)
        for form, other, bounds in rows
    )


def _free_ranges(wide: Relation) -> dict[Form, Interval]:
    """The results that are ranges used nowhere else, with their bounds."""
    uses = Counter(name for form in formulas(wide) for name in forms.variables_of([form]))
    return {
        form: wide.domain.bounds[identifier]
        for form in wide.forms
        if (identifier := form.single_variable()) and identifier[0] == "s" and uses[identifier] == 1
    }


def _is_of_dims(form: Form) -> bool:
    return all(name[0] == "d" for name in forms.variables_of([form]))


@lru_cache(maxsize=1 << 12)
def _bounds(indexing_map: Relation) -> tuple[Interval, ...]:
    return result_bounds(indexing_map)


# Shortens a long formula with few values: a table of them gives a new formula.
#
# When relations are composed over and over, as along a ring of devices or a chain of reshapes and
# transposes, the formula of one step takes the place of a variable in the next, and nests deeper
# and deeper. But it is a table, of no more entries than its variables have values.

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
    names = [*forms.variables_of([form])]
    place = numbered(map(forms.variable, names), [domain.bounds[name] for name in names])
    table = tabulated(values, place)
    return table if terms_in(table) <= most else None


def values_in_box(form: Form, domain: Domain) -> list[int]:
    """The values of a form at all points of its variables, in order; empty if they are too many."""
    box = {name: domain.bounds[name] for name in forms.variables_of([form])}
    count = prod(bounds.size or 0 for bounds in box.values())
    if not 0 < count <= MAX_VALUES:
        return []
    (values,) = evaluate_forms([form], columns_of(box, range(count)))
    return values.tolist()


def _is_in(form: Form, variable: str) -> bool:
    """Whether a form depends on this variable and no other."""
    return {*forms.variables_of([form])} == {variable}


def _is_long(form: Form, variable: str) -> bool:
    return _is_in(form, variable) and terms_in(form) > MAX_SHORT


def _values_within(limits: Sequence[Constraint], variable: str, bounds: Interval) -> list[int]:
    """The values of a variable that meet constraints in it alone."""
    own = forms.variable("d0")
    held = substituted_constraints(limits, {variable: own})
    domain = Domain.of([Variable(bounds)], constraints=held)
    return [value for (value,), *_ in points(Relation.from_forms((), domain))]


def _tables(long: Sequence[Form], variable: str, values: Sequence[int]) -> Iterator[Form]:
    """A form with the same results for these values in place of each."""
    for results in evaluate_forms(long, {variable: np.array(values)}):
        listed = _continued(dict(zip(values, results.tolist(), strict=True)))
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
