"""Maps with other variables or results: other roles, other names, expressions for variables."""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Final, TypeVar

from indexing.domain import LETTERS, ROLES, ByRole, Constraint, Domain, bare, distinctly_named
from indexing.errors import MapError
from indexing.relation import Relation, RelationT, check_map
from indexing.variable import Variable, check_parameters, parameter_identifier, united
from simplifier import forms
from simplifier.errors import listed, quoted
from simplifier.forms import Form, Interval

T = TypeVar("T")

_EVERYTHING: Final = Interval(None, None)


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
    target = distinctly_named(
        *([known[identifier] for identifier in role] for role in roles),
        parameters=domain.parameters,
    )
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
    if indices is None:
        indices = range(len(ranges))
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
    moved = {
        old: forms.variable(parameter_identifier(new.name))
        for old, new in zip(domain.parameter_identifiers, parameters, strict=True)
        if old in given
    }
    if moved:
        return over_domain(indexing_map, called, moved)
    return indexing_map.derived(indexing_map.forms, replace(called, constraints=domain.constraints))


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
    resolved = dict(
        zip(gone, wider.resolved([*values.values()], "value", "substitute"), strict=True)
    )
    kept = resolved.keys() & {*forms.variables_of(resolved.values())}
    wider = wider.with_variables(
        variable.within(_EVERYTHING) if identifier in kept else variable
        for identifier, variable in zip(wider.identifiers, wider.variables, strict=True)
    )
    limits = ((form, domain.bounds[identifier]) for identifier, form in resolved.items())
    replaced = over_domain(indexing_map, wider.constrained(limits), resolved)
    left = (
        [identifier for identifier in role if identifier in kept or identifier not in resolved]
        for role in wider.by_role(wider.identifiers)
    )
    arrangement = arranged(replaced, *left)
    gone_for_good = resolved.keys() - kept
    if gone_for_good.isdisjoint(domain.parameter_identifiers):
        return arrangement
    return _without_parameters(arrangement, gone_for_good)


def _used_by_parameters(domain: Domain, values: Mapping[str, Form]) -> Iterator[Variable]:
    """New parameters: those in the values of parameters that are no variables of the map."""
    replaced = [form for name, form in values.items() if name in _names_of(domain.parameters)]
    for name in forms.variables_of(replaced):
        if name not in domain.names:
            yield Variable((None, None), name)


def _names_of(parameters: Iterable[Variable]) -> set[str]:
    return {parameter.name for parameter in parameters}


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
    is_one = isinstance(indices, str) or getattr(indices, "ndim", 1) == 0
    if is_one or not hasattr(indices, "__iter__"):
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
    bounds = (
        (forms.variable(identifier), within) for identifier, within in second.domain.bounds.items()
    )
    parameters = united(first.parameters + second.parameters)
    joint = replace(first.domain, parameters=parameters)
    domain = joint.constrained([*bounds, *second.domain.constraints])
    return first.derived(first.forms + second.forms, domain)


def _check_same_variables(first: Domain, second: Domain) -> None:
    for role, names, others in zip(
        ROLES, first.by_role(first.names), second.by_role(second.names), strict=True
    ):
        if names != others:
            message = (
                f"concatenate_results: the {role} are ({listed(names)}) in one map and "
                f"({listed(others)}) in the other; expected the same number and names"
            )
            raise MapError(message)


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
    if len(consumer.forms) != len(producer.dims):
        message = (
            f"compose: the consumer has {len(consumer.forms)} results, "
            f"but the producer has {len(producer.dims)} dimensions; expected as many"
        )
        raise MapError(message)
    inputs, own_constraints = substituted(consumer, _renumbering(consumer, producer))
    results, producer_constraints = substituted(
        producer, {f"d{position}": form for position, form in enumerate(inputs)}
    )
    within_bounds = zip(inputs, (variable.bounds for variable in producer.dims), strict=True)
    domain = _joint(consumer, producer, own_constraints).constrained(
        [*within_bounds, *producer_constraints]
    )
    return consumer.derived(results, domain)


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
