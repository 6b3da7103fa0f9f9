"""Maps with other variables or results: in other roles, by other names, replaced, or left out."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain, product
from typing import TypeVar

from indexing.domain import (
    LETTERS,
    ROLES,
    ByRole,
    Constraint,
    Domain,
    bare,
    bounding,
    conditions_for_values,
    distinctly_named,
    ends_and_constraints,
    limited_variable,
    solved_for,
)
from indexing.errors import MapError
from indexing.relation import Relation, RelationT, check_map
from indexing.simplify.constraints import Residues, merged, normal
from indexing.transform.evaluate import has_point
from indexing.validation import is_sequence
from indexing.variable import Variable, check_parameters, parameter_identifier, united
from simplifier import forms
from simplifier.errors import listed, quoted
from simplifier.exact import ATTEMPT, Allowance, BudgetError, NotQuasiAffineError, Space
from simplifier.forms import EVERYTHING, Form, Interval, Scope, floordiv, scope_of
from simplifier.tools import graphs

T = TypeVar("T")


def arranged(
    indexing_map: RelationT,
    dims: Iterable[str],
    ranges: Iterable[str] = (),
    runtime: Iterable[str] = (),
) -> RelationT:
    """The map with these variables, by identifier, in these roles and this order.

    Of two variables with one name the first keeps it, as in :func:`distinctly_named`.
    """
    domain = indexing_map.domain
    known = dict(zip(domain.identifiers, domain.variables, strict=True))
    roles = (tuple(dims), tuple(ranges), tuple(runtime))
    taken = ([known[identifier] for identifier in role] for role in roles)
    target = distinctly_named(*taken, parameters=domain.parameters)
    if domain.is_known_empty:
        return indexing_map.derived(indexing_map.forms, target.emptied())
    pairs = zip(chain(*roles), target.identifiers, strict=False)
    renumbering = {old: forms.variable(new) for old, new in pairs if old != new}
    return over_domain(indexing_map, target, renumbering)


def part_over(
    indexing_map: RelationT,
    results: Iterable[Form],
    dims: Sequence[str],
    runtime: Sequence[str] = (),
) -> RelationT:
    """The map from some of its variables to results over them, where no others limit these."""
    domain = indexing_map.domain
    kept = domain.with_constraints(domain.constraints_among((*dims, *runtime)))
    return arranged(indexing_map.derived(results, kept), dims, (), runtime)


def over_domain(indexing_map: RelationT, domain: Domain, values: Mapping[str, Form]) -> RelationT:
    """The map on another domain, with a form for each old variable."""
    results, constraints = substituted(indexing_map, values)
    return indexing_map.derived(results, domain.constrained(constraints))


def substituted(
    indexing_map: Relation, values: Mapping[str, Form]
) -> tuple[tuple[Form, ...], tuple[Constraint, ...]]:
    """Results and constraints with forms for some variables, by identifier."""
    constraints = indexing_map.domain.constraints
    if not values:
        return indexing_map.forms, constraints
    count = len(indexing_map.forms)
    limited = (form for form, _ in constraints)
    found = forms.substitute((*indexing_map.forms, *limited), values)
    intervals = (interval for _, interval in constraints)
    return found[:count], tuple(zip(found[count:], intervals, strict=True))


# Roles.


def symbols_to_dims(indexing_map: RelationT) -> RelationT:
    """The map with all ranges, then all runtime variables, as trailing dimensions."""
    domain = indexing_map.domain
    return arranged(indexing_map, chain(*domain.by_role(domain.identifiers)))


def ranges_to_dims(
    indexing_map: RelationT, indices: Iterable[int | str] | None = None
) -> RelationT:
    """The map with some ranges, or all, as trailing dimensions, in the order given.

    Raises:
        MapError: there is no such range, or it is given twice.
    """
    domain = indexing_map.domain
    dims, ranges, runtime = domain.by_role(domain.identifiers)
    indices = range(len(ranges)) if indices is None else indices
    _, names, _ = domain.by_role(domain.names)
    converted = chosen(ranges, indices, "ranges_to_dims", "ranges", names)
    if len(set(converted)) < len(converted):
        message = f"ranges_to_dims: indices are {list(indices)}; expected each range at most once"
        raise MapError(message)
    left = (identifier for identifier in ranges if identifier not in converted)
    return arranged(indexing_map, (*dims, *converted), left, runtime)


# Names.


def rename(indexing_map: RelationT, names: Mapping[str, str | None]) -> RelationT:
    """The map with other names; an empty one removes a name.

    Raises:
        MapError: there is no variable of an old name, or a new one is no name or taken.
    """
    domain = indexing_map.domain
    given = {domain.identifier_of(old, "rename"): new or "" for old, new in names.items()}
    renamed = tuple(
        Variable(variable.bounds, given[identifier]) if identifier in given else variable
        for identifier, variable in zip(domain.identifiers, domain.variables, strict=True)
    )
    parameters = renamed[len(renamed) - len(domain.parameters) :]
    check_parameters(parameters, "rename")
    called = Domain.of(*domain.by_role(renamed), parameters=parameters)
    called.check("rename")
    identifiers = [parameter_identifier(parameter.name) for parameter in parameters]
    pairs = zip(domain.parameter_identifiers, identifiers, strict=True)
    moved = {old: forms.variable(new) for old, new in pairs if old != new}
    return over_domain(indexing_map, called, moved)


# Expressions for variables.


def substitute(
    indexing_map: RelationT,
    values: Mapping[str, Form],
    new: ByRole[Variable],
    parameters: Iterable[Variable] = (),
) -> RelationT:
    """The map with a form for each of some variables.

    The forms use the names of old variables and of new ones, which become the last of their role,
    and new parameters. The bounds of a replaced variable become a constraint on its form; one that
    a form uses stays, with no other bounds. Where numbers take the place of parameters, constraints
    become bounds again.

    Raises:
        MapError: there is no variable of a name, or a form uses one that is not there afterwards.
    """
    domain = indexing_map.domain
    wider = _widened(domain, new, (*parameters, *_used_by_parameters(domain, values)))
    gone = [domain.identifier_of(name, "substitute") for name in values]
    given = wider.resolved([*values.values()], "value", "substitute")
    resolved = dict(zip(gone, given, strict=True))
    kept = resolved.keys() & {*forms.variables_of(resolved.values())}
    wider = wider.with_bounds(dict.fromkeys(kept, EVERYTHING))
    limits = ((form, domain.bounds[identifier]) for identifier, form in resolved.items())
    replaced = over_domain(indexing_map, wider.constrained(limits), resolved)
    gone_for_good = resolved.keys() - kept
    left = _without(replaced, gone_for_good)
    if gone_for_good.isdisjoint(domain.parameter_identifiers):
        return left
    return _without_parameters(left, gone_for_good)


def _used_by_parameters(domain: Domain, values: Mapping[str, Form]) -> Iterator[Variable]:
    """New parameters: those in the values of parameters that are no variables of the map."""
    known = {parameter.name for parameter in domain.parameters}
    replaced = [form for name, form in values.items() if name in known]
    for name in forms.variables_of(replaced):
        if name not in domain.names:
            yield Variable((None, None), name)


def _without_parameters(indexing_map: RelationT, gone: Collection[str]) -> RelationT:
    """The map without some parameters, which nothing uses; constraints may be bounds again."""
    domain = indexing_map.domain
    pairs = zip(domain.parameter_identifiers, domain.parameters, strict=True)
    parameters = tuple(parameter for identifier, parameter in pairs if identifier not in gone)
    plain = replace(domain, parameters=parameters, constraints=())
    if domain.is_known_empty:
        return indexing_map.derived(indexing_map.forms, plain.emptied())
    constraints = map(bare, domain.constraints)
    return indexing_map.derived(indexing_map.forms, plain.constrained(constraints))


def _widened(domain: Domain, new: ByRole[Variable], parameters: Iterable[Variable]) -> Domain:
    """The variables of the domain, then new ones in each role; old identifiers stay."""
    dims, ranges, runtime = (old + added for old, added in zip(domain.roles, new, strict=True))
    wider = Domain.of(dims, ranges, runtime, parameters=(*domain.parameters, *parameters))
    wider.check("substitute")
    return wider


# Results.


def select_results(indexing_map: RelationT, indices: Iterable[int]) -> RelationT:
    """The map with some results, in the order given; the domain stays.

    Raises:
        MapError: there is no such result.
    """
    selected = chosen(indexing_map.forms, indices, "select_results", "results")
    return indexing_map.derived(selected, indexing_map.domain)


def chosen(
    items: Sequence[T],
    indices: Iterable[int | str],
    where: str,
    what: str,
    names: Sequence[str] = (),
) -> list[T]:
    """The items at these indices, or with these names; negative ones count from the end.

    Raises:
        MapError: there is no such item.

    >>> chosen("abc", [2, 0, -1], "", "")
    ['c', 'a', 'c']
    """
    if not is_sequence(indices):
        raise MapError(f"{where}: indices are {quoted(indices)}; expected a sequence of integers")
    numbers = (names.index(each) if each in names else each for each in indices)
    return [items[_position(number, len(items), where, what, names)] for number in numbers]


def _position(index: int | str, count: int, where: str, what: str, names: Sequence[str]) -> int:
    if isinstance(index, str | bool) or not hasattr(index, "__index__"):
        expected = f"expected an integer{f' or one of {listed(names)}' if names else ''}"
        raise MapError(f"{where}: {quoted(index)} is no index; {expected}")
    if not -count <= index < count:
        there = f"{what} {-count} to {count - 1}" if count else f"no {what}"
        raise MapError(f"{where}: index {index} is out of range; the map has {there}")
    return operator.index(index)


def concatenate_results(first: RelationT, second: RelationT) -> RelationT:
    """The results of one map and then those of another, where both are defined.

    Raises:
        MapError: the maps differ in number or names of variables.
    """
    check_map(second, "concatenate_results: the other map")
    for side in (first, second):
        if side.is_undefined:
            return side
    _check_same_variables(first.domain, second.domain)
    parameters = united(first.parameters + second.parameters)
    joint = replace(first.domain, parameters=parameters)
    domain = joint.constrained([*bounding(second.domain.bounds), *second.domain.constraints])
    return first.derived(first.forms + second.forms, domain)


def _check_same_variables(first: Domain, second: Domain) -> None:
    pairs = zip(first.by_role(first.names), second.by_role(second.names), strict=True)
    for role, (names, others) in zip(ROLES, pairs, strict=True):
        if names != others:
            both = f"({listed(names)}) in one map and ({listed(others)}) in the other"
            expected = "expected the same number and names"
            raise MapError(f"concatenate_results: the {role} are {both}; {expected}")


# One map after the other.


def compose(consumer: RelationT, producer: RelationT) -> RelationT:
    """``producer(consumer(x))``: from the consumer's dimensions to the producer's results.

    The variables are the consumer's dimensions, then the producer's ranges before the consumer's,
    and likewise the runtime variables. Parameters of one name are one. Constraints of both maps
    hold, and each of the consumer's results lies in the bounds of the producer's dimension that it
    becomes. Nothing is simplified.
    An undefined map makes the composition undefined, for the consumer's reason first.

    Costs time in proportion to the producer and, where it has ranges or runtime variables, to the
    consumer: a long chain is built fastest from the side of the consumer.

    Raises:
        MapError: the producer has another number of dimensions than the consumer has results.

    >>> from indexing import parse_map
    >>> reshape = parse_map("(d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 3], d1 in [0, 7]")
    >>> back = parse_map("(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]")
    >>> print(compose(reshape, back).simplify())
    (d0, d1) -> (d0, d1), domain: d0 in [0, 3], d1 in [0, 7]
    """
    check_map(consumer, "compose: the consumer")
    check_map(producer, "compose: the producer")
    for side in (consumer, producer):
        if side.is_undefined:
            return side
    results, dims = len(consumer.forms), len(producer.dims)
    if results != dims:
        counts = f"the consumer has {results} results, but the producer has {dims} dimensions"
        raise MapError(f"compose: {counts}; expected as many")
    inputs, own_constraints = substituted(consumer, _renumbering(consumer, producer))
    given = {f"d{position}": form for position, form in enumerate(inputs)}
    found, producer_constraints = substituted(producer, given)
    within_bounds = zip(inputs, (variable.bounds for variable in producer.dims), strict=True)
    joint = _joint(consumer, producer, own_constraints)
    return consumer.derived(found, joint.constrained([*within_bounds, *producer_constraints]))


def _joint(consumer: Relation, producer: Relation, constraints: tuple[Constraint, ...]) -> Domain:
    """The variables of both maps, with the consumer's constraints."""
    joint = distinctly_named(
        consumer.dims,
        producer.ranges + consumer.ranges,
        producer.runtime + consumer.runtime,
        producer.parameters + consumer.parameters,
    )
    if constraints is consumer.domain.constraints:
        # Nothing was renumbered: they are in normal order, and in a long chain they are many.
        return replace(joint, constraints=constraints)
    return joint.constrained(constraints)


def _renumbering(consumer: Relation, producer: Relation) -> dict[str, Form]:
    """The consumer's ranges and runtime variables, renumbered behind the producer's."""
    shifts = (0, len(producer.ranges), len(producer.runtime))
    return {
        f"{letter}{position}": forms.variable(f"{letter}{position + shift}")
        for letter, variables, shift in zip(LETTERS, consumer.domain.roles, shifts, strict=True)
        if shift
        for position in range(len(variables))
    }


# Maps without unused variables, and without unused values of symbols.


def unused(indexing_map: Relation, candidates: Callable[[Domain], Sequence[str]]) -> ByRole[int]:
    """Positions of the variables that :func:`without_unused` leaves out."""
    domain = indexing_map.domain
    gone = _unused(_with_conditions(indexing_map, candidates), candidates) or ()
    dims, ranges, runtime = (
        tuple(position for position, identifier in enumerate(role) if identifier in gone)
        for role in domain.by_role(domain.identifiers)
    )
    return dims, ranges, runtime


def is_symbol_constrained(indexing_map: Relation, symbol: int | str) -> bool:
    """Whether a constraint limits a range or runtime variable.

    Raises:
        MapError: there is no such symbol.
    """
    domain = indexing_map.domain
    _, *names = domain.by_role(domain.names)
    called = [*chain(*names)]
    (wanted,) = chosen(symbols(domain), [symbol], "is_symbol_constrained", "symbols", called)
    return wanted in forms.variables_of([form for form, _ in domain.constraints])


def without_unused(
    indexing_map: RelationT, candidates: Callable[[Domain], Sequence[str]]
) -> RelationT:
    """The map without unused candidates; the empty map if these have no values."""
    known = _with_conditions(indexing_map, candidates)
    gone, domain = _unused(known, candidates), known.domain
    if gone is None:
        return known.derived(known.forms, domain.emptied())
    if not gone:
        return known
    left = [identifier for identifier in domain.identifiers if identifier not in gone]
    kept = domain.with_constraints(domain.constraints_among(left))
    return _without(known.derived(known.forms, kept), gone)


def variables(domain: Domain) -> Sequence[str]:
    """All variables with positions, as candidates."""
    return [*chain(*domain.by_role(domain.identifiers))]


def symbols(domain: Domain) -> Sequence[str]:
    """The ranges and runtime variables, as candidates."""
    _, ranges, runtime = domain.by_role(domain.identifiers)
    return ranges + runtime


def _with_conditions(
    indexing_map: RelationT, candidates: Callable[[Domain], Sequence[str]]
) -> RelationT:
    """The map with conditions on parameters in place of the ends of candidates between them.

    That some number lies between ends over parameters is all that they say of a candidate that
    nothing else depends on.
    """
    domain = indexing_map.domain
    if not domain.parameters or domain.is_known_empty:
        return indexing_map
    free = set(candidates(domain)) - set(forms.variables_of(indexing_map.forms))
    for pair in domain.constraints:
        if limited_variable(pair) not in free:
            free.difference_update(forms.variables_of(pair[:1]))
    others = [pair for pair in domain.constraints if limited_variable(pair) not in free]
    if len(others) == len(domain.constraints):
        return indexing_map
    ends, _ = ends_and_constraints(domain)
    known = (condition for name in free for condition in conditions_for_values(ends[name]))
    conditioned = domain.with_constraints(others).constrained([*known])
    return indexing_map.derived(indexing_map.forms, conditioned)


def _unused(
    indexing_map: Relation, candidates: Callable[[Domain], Sequence[str]]
) -> frozenset[str] | None:
    """The identifiers of unused candidates; ``None`` if the map has no point.

    A variable is unused if no result uses it and every constraint on it is on unused variables
    alone. If it takes long to decide whether these constraints have a solution, their variables
    count as used.
    """
    domain = indexing_map.domain
    if domain.is_known_empty:
        return None
    free = set(candidates(domain)) - set(forms.variables_of(indexing_map.forms))
    if not free or not domain.constraints:
        return frozenset(free)
    groups = [set(forms.variables_of((form,))) for form, _ in domain.constraints]
    while bound := {name for group in groups if not group <= free for name in group & free}:
        free -= bound
    for group in graphs.united(group for group in groups if group <= free):
        has_values = _has_point(_restricted(domain, group))
        if has_values is False:
            return None
        if has_values is None:
            free -= group
    return frozenset(free)


def _restricted(domain: Domain, identifiers: set[str]) -> Domain:
    """The domain of some variables with the constraints on them alone; the others are 0."""
    fixed = {name: Interval(0, 0) for name in domain.identifiers if name not in identifiers}
    return domain.with_bounds(fixed, domain.constraints_among(identifiers))


def _has_point(domain: Domain) -> bool | None:
    """Whether the domain has a point: tries some, then asks isl; ``None`` if that takes long."""
    with suppress(MapError, NotQuasiAffineError, BudgetError):
        found = has_point(domain)
        if found is not None:
            return found
        with Allowance(ATTEMPT).attempt() as context:
            return not Space(domain.bounds, context).domain(domain.constraints).is_empty()
    return None


def _without(indexing_map: RelationT, gone: Collection[str]) -> RelationT:
    """The map without some of its variables with positions, which nothing uses."""
    domain = indexing_map.domain
    every = domain.by_role(domain.identifiers)
    return arranged(indexing_map, *([name for name in role if name not in gone] for role in every))


# Symbols that take only every n-th value count these instead: fewer values, no remainders.


def rescale_symbols(indexing_map: RelationT) -> RelationT:
    """The map with ``c*s + r`` for each symbol ``s`` that constraints leave only such values.

    The constraints go, and the bounds of the symbol become those of its steps. Several constraints
    on one symbol are combined by the Chinese remainder theorem.
    """
    while (rescaled := _rescaled(indexing_map)) is not indexing_map:
        indexing_map = rescaled
    return indexing_map


def _rescaled(indexing_map: RelationT) -> RelationT:
    """The map rescaled once; other constraints may then leave fewer steps."""
    domain = indexing_map.domain
    scope = scope_of(tuple((identifier, EVERYTHING) for identifier in domain.identifiers))
    may_be = frozenset(symbols(domain))
    read = [(pair, _residues(scope, may_be, pair)) for pair in domain.constraints]
    rest = tuple(pair for pair, found in read if found is None)
    if len(rest) == len(domain.constraints):
        return indexing_map
    steps = merged(chain.from_iterable(found or () for _, found in read))
    if steps is None:
        return indexing_map.derived(indexing_map.forms, domain.emptied())
    freed = indexing_map.derived(indexing_map.forms, replace(domain, constraints=rest))
    return _counting(freed, {_variable(step): step for step in steps})


def _residues(
    scope: Scope, may_be: frozenset[str], constraint: Constraint
) -> list[Residues] | None:
    """The residues of symbols that say the same as a constraint, if there are such."""
    facts = normal(scope, constraint)
    if facts is None:
        return None
    found = [Residues.of(scope, fact) for fact in facts]
    residues = [each for each in found if each and each.is_single and _variable(each) in may_be]
    return residues if len(residues) == len(found) else None


def _variable(residues: Residues) -> str:
    """The identifier of the variable that has the residues; empty if another form has them."""
    return residues.form.single_variable() or ""


def _counting(indexing_map: RelationT, steps: Mapping[str, Residues]) -> RelationT:
    """The map with some variables that count their steps."""
    domain = indexing_map.domain
    pairs = steps.items()
    values = {name: forms.variable(name) * step.modulus + step.first for name, step in pairs}
    limits = {name: bare((value, domain.bounds[name]))[1] for name, value in values.items()}
    return over_domain(indexing_map, domain.with_bounds(limits), values)


# Maps without ranges that a constraint determines, or that say no more than a constraint can.


def without_determined_ranges(indexing_map: RelationT) -> RelationT:
    """The same relation, not simplified, with fewer ranges where constraints are linear in them.

    A constraint ``a * s + rest in [l, u]`` on a range with integers ``a > 0`` has at most one
    solution if ``u - l < a``, which takes the place of the range. Where results and other
    constraints do not use the range and ``u - l >= a - 1``, there is a solution in ``[p, q]`` if
    and only if ``rest in [l - a * q, u - a * p]``.

    >>> from indexing import parse_map
    >>> blocks = parse_map("(d0)[s0] -> (s0, d0 - s0 * 4), "
    ...                    "domain: d0 in [0, 19], s0 in [0, 4], d0 - s0 * 4 in [0, 3]")
    >>> print(without_determined_ranges(blocks).simplify())
    (d0) -> (d0 floordiv 4, d0 mod 4), domain: d0 in [0, 19]
    >>> earlier = parse_map("(d0)[s0] -> (), domain: d0 in [0, 9], s0 in [2, 9], d0 - s0 in [1, 9]")
    >>> print(without_determined_ranges(earlier).simplify())
    (d0) -> (), domain: d0 in [3, 9]
    """
    domain = indexing_map.domain
    _, ranges, _ = domain.by_role(domain.identifiers)
    fewer = _without_one_of(indexing_map, ranges, domain.constraints)
    return indexing_map if fewer is None else without_determined_ranges(fewer)


def without_conditional_ranges(indexing_map: RelationT) -> RelationT:
    """The same relation, not simplified, without ranges that only equations use and determine.

    Such a range is a condition on other variables: that its value lies within its bounds.

    >>> from indexing import parse_map
    >>> met = parse_map("(d0)[s0]{rt0} -> (d0), "
    ...                 "domain: d0 in [0, 9], s0 in [0, 7], rt0 in [0, 9], rt0 - s0 in [2, 2]")
    >>> print(without_conditional_ranges(met).simplify())
    (d0){rt0} -> (d0), domain: d0 in [0, 9], rt0 in [2, 9]
    """
    domain = indexing_map.domain
    equations = [each for each in domain.constraints if each[1].is_point]
    if not equations or not domain.ranges:
        return indexing_map
    used = frozenset(forms.variables_of(indexing_map.forms))
    _, ranges, _ = domain.by_role(domain.identifiers)
    fewer = _without_one_of(indexing_map, (each for each in ranges if each not in used), equations)
    return indexing_map if fewer is None else without_conditional_ranges(fewer)


def _without_one_of(
    indexing_map: RelationT, ranges: Iterable[str], constraints: Sequence[Constraint]
) -> RelationT | None:
    """The map without one of some ranges, if one of some constraints allows that."""
    found = (_without_range(indexing_map, *pair) for pair in product(ranges, constraints))
    return next((each for each in found if each is not None), None)


def from_zero(indexing_map: RelationT) -> RelationT:
    """The same relation, not simplified, with ranges that begin at zero.

    >>> from indexing import parse_map
    >>> print(from_zero(parse_map("(d0)[s0] -> (d0 + s0), domain: d0 in [0, 9], s0 in [1, 3]")))
    (d0)[s0] -> (d0 + s0 + 1), domain: d0 in [0, 9], s0 in [0, 2]
    """
    domain = indexing_map.domain
    _, ranges, _ = domain.by_role(domain.identifiers)
    moved = {name: lower for name in ranges if (lower := domain.bounds[name].lower)}
    if not moved or domain.is_known_empty:
        return indexing_map
    values = {name: forms.variable(name) + by for name, by in moved.items()}
    free = domain.with_bounds({name: domain.bounds[name] - by for name, by in moved.items()})
    return over_domain(indexing_map, free, values)


def _without_range(indexing_map: RelationT, name: str, constraint: Constraint) -> RelationT | None:
    """The map without a range, if a constraint allows that."""
    solved = solved_for(constraint, name)
    if solved is None:
        return None
    factor, rest, limits = solved
    domain = indexing_map.domain
    bounds = domain.bounds[name]
    if limits.upper is None or limits.size is None or bounds.size is None:
        return None
    others = [each for each in domain.constraints if each is not constraint]
    used = {*forms.variables_of((*indexing_map.forms, *(each for each, _ in others)))}
    if name not in used and limits.size >= factor:
        limited = [*others, (rest, limits - bounds * factor)]
        return _over(indexing_map, name, indexing_map.forms, limited)
    if limits.size > factor:
        return None
    value = floordiv(-rest + limits.upper, forms.constant(factor))
    results, constraints = substituted(indexing_map, {name: value})
    return _over(indexing_map, name, results, [*constraints, (value, bounds)])


def _over(
    indexing_map: RelationT, name: str, results: Sequence[Form], constraints: Sequence[Constraint]
) -> RelationT:
    """The map with other results and constraints, which do not use one of its ranges."""
    free = replace(indexing_map.domain, constraints=()).constrained(constraints)
    return _without(indexing_map.derived(tuple(results), free), {name})
