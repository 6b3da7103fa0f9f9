"""Maps as functions in a language: one for the results, one for each domain.

All maps of a text share one function, so that what they have in common is computed once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from indexing.code.coder import Coder, Ranges, alone, helpers_in, is_narrow, is_usable
from indexing.code.language import WIDE, Language
from indexing.domain import Constraint, Domain, without_implied_ends
from indexing.errors import MapError
from indexing.formats.text import format_map
from indexing.relation import Relation
from indexing.simplify import scope_with_facts
from indexing.transform.evaluate import reason_against_bits
from indexing.variable import Variable
from simplifier.errors import check_type
from simplifier.forms import Form, Interval, cost_of_form, guarded, variable, variables_of

_MAX_COMMENT_COST: Final = 1000
"""The cost of a map that a comment still shows: there, shared parts are written out each time."""


def text_of_maps(
    language: Language, maps: Sequence[Relation], names: Sequence[str], asker: str
) -> str:
    """One text with a function for the results of maps, and one for the domain of each."""
    checked = checked_maps(maps, names, asker, language.reserved, language.max_bits)
    pairs = zip(checked, names, strict=True)
    masks = (_contains(each.domain, language, name) for each, name in pairs)
    return text_of_functions(maps, [_results(checked, language, names), *masks], language)


def text_of_functions(
    maps: Sequence[Relation], functions: Sequence[Sequence[str]], language: Language
) -> str:
    """The text of functions about maps, with what they need before them."""
    comments = [language.comment.format(for_comment(each)) for each in maps]
    helpers = helpers_in((line for lines in functions for line in lines), language.helpers)
    top = [*language.head, *language.blank] if language.head else []
    blocks = [*([helper] for helper in helpers), *functions]
    body = [line for block in blocks for line in (*block, *language.blank)]
    return "\n".join([*comments, "", *top, *body[: -len(language.blank)]]) + "\n"


def _results(maps: Sequence[Relation], language: Language, names: Sequence[str]) -> list[str]:
    domain, wanted = joined(maps)
    coder = Coder(domain, language, taken=_results_names(names))
    texts = coder.write_all([guarded(form) for forms in wanted for form in forms])
    left = map(alone, texts)
    tuples = [[next(left) for _ in forms] for forms in wanted]
    used = {name for forms in wanted for name in variables_of(forms)}
    lines = [*_narrowed(used, coder, language), *coder.lines]
    bits = map(coder.bits_of_variable, coder.names)
    parameters = [*map(language.declared, coder.names.values(), bits)]
    if language.stores:
        lines += [
            language.stores.format(results=results, position=position, value=value)
            for results, values in zip(_results_names(names), tuples, strict=True)
            for position, value in enumerate(values)
        ]
        kind = language.integer[WIDE]
        parameters += [f"{kind} *{results}" for results in _results_names(names)]
    else:
        lines.append(language.returns.format(_returned(tuples, language)).rstrip())
    return function("_".join(names), "void", parameters, lines, language)


def _results_names(names: Sequence[str]) -> tuple[str, ...]:
    return ("results",) if len(names) == 1 else tuple(names)


def _returned(tuples: Sequence[Sequence[str]], language: Language) -> str:
    """The values that a function returns: a tuple for each map if there are several."""
    texts = tuples[0] if len(tuples) == 1 else [_tuple(each, language) for each in tuples]
    return language.values.format(", ".join(texts))


def _tuple(values: Sequence[str], language: Language) -> str:
    if language.values != "{0}":
        return language.values.format(", ".join(values))
    return f"({values[0]},)" if len(values) == 1 else f"({', '.join(values)})"


def joined(maps: Sequence[Relation]) -> tuple[Domain, list[tuple[Form, ...]]]:
    """The domain of the points that lie in all domains, and the results of each map over it.

    Variables of one name are one.
    """
    if len(maps) == 1:
        return maps[0].domain, [maps[0].forms]
    bounds: dict[str, Interval] = {}
    for each in maps:
        for name, given in zip(each.domain.names, each.domain.variables, strict=True):
            bounds[name] = given.bounds.intersect(bounds.get(name, given.bounds))
    whole = Domain.of([Variable(within, name) for name, within in bounds.items()])
    constraints = [
        (each.domain.named(form), interval)
        for each in maps
        for form, interval in each.domain.constraints
    ]
    forms = [whole.resolved([*map(each.domain.named, each.forms)], "result") for each in maps]
    return whole.with_named(constraints), forms


def _contains(domain: Domain, language: Language, name: str) -> list[str]:
    box = domain.with_constraints()
    bits, least = language.asked
    coder = Coder(box, language, narrow=least, parameter_bits=bits)
    constraints = asked_in(box, (constraint for _, constraint in domain.constraint_texts()))
    compared = _compared(coder, constraints)
    rows = zip(coder.names.values(), (given.bounds for given in domain), strict=True)
    within = list(within_bounds(rows, language))
    checks = list(comparisons(compared, language))
    lines = [*coder.lines]
    if checks and within and language.guard:
        lines.insert(0, language.guard.format(language.both.join(within)))
        within = []
    lines.append(language.returns.format(language.both.join([*within, *checks]) or language.true))
    parameters = [language.declared(each, WIDE) for each in coder.names.values()]
    return function(language.contains.format(name=name), "bool", parameters, lines, language)


def asked_in(box: Domain, constraints: Iterable[Constraint]) -> list[Constraint]:
    """The constraints that points in a box may still violate."""
    ranges = Ranges(box)
    left = [(each[0], ranges.left_to_ask(each)) for each in constraints]
    return [(form, interval) for form, interval in left if interval != Interval(None, None)]


def _compared(coder: Coder, constraints: Sequence[Constraint]) -> list[tuple[str, Interval]]:
    """The texts of forms to compare with each end of their interval, and the constraints left."""
    forms = [guarded(form) for form, _ in constraints]
    twice = [
        form
        for form, (_, interval) in zip(forms, constraints, strict=True)
        if not interval.is_point and None not in (interval.lower, interval.upper)
    ]
    texts = coder.write_all([*forms, *twice])[: len(forms)]
    intervals = (interval for _, interval in constraints)
    return [*zip(texts, map(passable, intervals, map(coder.bits_of, forms)), strict=True)]


def passable(interval: Interval, bits: int = WIDE) -> Interval:
    """An interval without the ends that no integer of so many bits passes."""
    values = Interval(-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    both = interval.intersect(values)
    return both if both.is_empty else without_implied_ends(interval, values)


def comparisons(rows: Iterable[tuple[str, Interval]], language: Language) -> Iterator[str]:
    """Comparisons of values with the ends of intervals.

    An upper end is written as ``< end + 1``, a rounder number, unless that alone needs more bits.
    """
    for value, asked in rows:
        interval = passable(asked)
        lower, upper = interval.lower, interval.upper
        if interval.is_point or interval.is_empty:
            sides = (0, 1) if interval.is_empty else (value, lower)
            yield language.compares.format(sides[0], "==", sides[1])
            continue
        if lower is not None:
            yield language.compares.format(value, ">=", lower)
        if upper is not None:
            is_last = is_narrow(interval) and not is_narrow(interval + 1)
            relation, end = ("<=", upper) if is_last else ("<", upper + 1)
            yield language.compares.format(value, relation, end)


def within_bounds(rows: Iterable[tuple[str, Interval]], language: Language) -> Iterator[str]:
    """Comparisons of parameters with their bounds, which the type of a parameter may not hold."""
    wide = language.integer.get(WIDE, "")
    for name, bounds in rows:
        is_cast = language.has_typed_numbers and not is_narrow(bounds)
        value = language.cast.format(name, type=wide) if is_cast else name
        yield from comparisons([(value, bounds)], language)


def _narrowed(used: set[str], coder: Coder, language: Language) -> Iterator[str]:
    """Lines that give parameters their types, in languages that do not declare these."""
    if "{type}" in language.parameter or not language.integer:
        return
    for identifier, name in coder.names.items():
        if identifier in used:
            bits = coder.bits_of_variable(identifier)
            value = language.cast.format(name, type=language.integer[bits])
            yield language.assigned(name, value, bits)


def function(
    name: str, kind: str, parameters: Sequence[str], lines: Iterable[str], language: Language
) -> list[str]:
    """The lines of a function."""
    given = ", ".join(parameters) or language.no_parameters
    head = language.function.format(type=kind, name=name, parameters=given)
    return language.block(head, lines)


def for_comment(indexing_map: Relation) -> str:
    """The map's text on one line, or ``...`` if it is long."""
    if sum(map(cost_of_form, indexing_map.forms)) > _MAX_COMMENT_COST:
        return "..."
    return format_map(indexing_map)


# Checks before writing.


def checked_maps(
    maps: Sequence[Relation],
    names: Sequence[str],
    asker: str,
    reserved: frozenset[str] = frozenset(),
    max_bits: int = WIDE,
) -> list[Relation]:
    """The maps with numeric bounds; names and values are checked to be those of a language."""
    for name in names:
        check_name(name, asker, reserved)
    for each in maps:
        domain = with_numeric_bounds(each.domain)
        domain.check_forms(each.forms, "result")
        constraints = (form for form, _ in domain.constraints)
        check_portable([*each.forms, *constraints], domain, asker, max_bits)
    return [Relation.from_forms(each.forms, with_numeric_bounds(each.domain)) for each in maps]


def check_portable(wanted: Sequence[Form], domain: Domain, asker: str, max_bits: int) -> None:
    """Raise a :class:`MapError` if a value may need more bits than a language has."""
    wanted = [*wanted, *map(variable, domain.identifiers)]
    for parameter in domain.parameters:
        if parameter.bounds.size is None:
            limits = f"{parameter.name} has the bounds {parameter.bounds}"
            expected = "expected a bounded parameter, see with_constraint()"
            raise MapError(f"{asker}: {limits}; {expected}")
    reason = reason_against_bits(wanted, domain, max_bits)
    if reason is not None:
        raise MapError(f"{asker}: {reason}")


def with_numeric_bounds(domain: Domain) -> Domain:
    """The domain with a number at each end that follows from the bounds of parameters.

    >>> from indexing import parse_map
    >>> rows = parse_map("(d0)<N> -> (d0), domain: d0 in [0, N - 1], N in [0, 64]").domain
    >>> with_numeric_bounds(rows).dims[0].bounds
    Interval(lower=0, upper=63)
    """
    if not domain.parameters or domain.is_known_empty:
        return domain
    return domain.with_bounds(scope_with_facts(domain).bounds, domain.constraints)


def check_name(name: str, asker: str, reserved: frozenset[str]) -> None:
    """Raise a :class:`MapError` unless a function can have this name."""
    check_type(name, str, f"{asker}: name", "a string")
    if not is_usable(name, reserved):
        message = f"{asker}: {name!r} cannot name a function; expected letters, digits and '_'"
        raise MapError(message)
