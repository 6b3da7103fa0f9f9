"""Maps as functions in a language: for results, for domains, and loop nests around other lines.

All maps of a text share one function, so that what they have in common is computed once. In a loop
nest, a constraint becomes the ends of a loop where it can; else it is asked where all that it is
about is known, outside of the loops that do not change it. A loop is split where that spares
divisions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from indexing.code.coder import (
    DIVISIONS,
    Coder,
    Ranges,
    alone,
    helpers_in,
    is_narrow,
    is_usable,
    names_in,
)
from indexing.code.language import NARROW, WIDE, Language
from indexing.domain import Constraint, Domain, substituted_constraints, without_implied_ends
from indexing.errors import MapError
from indexing.formats.text import format_map
from indexing.relation import Relation
from indexing.simplify import scope_with_facts
from indexing.transform.evaluate import reason_against_bits
from indexing.variable import Variable
from simplifier import forms
from simplifier.errors import check_type
from simplifier.forms import AtomKind, Form, Interval, cost_of_form, guarded, variables_of

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
    coder = Coder(box, language, bits=language.asked)
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
    wanted = [*wanted, *map(forms.variable, domain.identifiers)]
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


# A loop nest while it is written: blocks in blocks, each with what is known in it.


class LocalNames:
    """The names of one function, each given once."""

    def __init__(self, language: Language, taken: Iterable[str] = ()) -> None:
        self.language = language
        self.taken = {*language.reserved, *taken}

    def fresh(self, wish: str) -> str:
        """The wished name, made one of the language, with a number where it is taken."""
        base = "".join(letter if letter.isalnum() else "_" for letter in wish)
        base = base if is_usable(base, self.language.reserved) else f"v_{base}"
        name, number = base, 1
        while name in self.taken or not is_usable(name, self.language.reserved):
            number += 1
            name = f"{base}_{number}"
        self.taken.add(name)
        return name


@dataclass(eq=False)
class LoopBlock:
    """Lines in one loop or condition, the variables of all loops around them, and known facts."""

    names: LocalNames
    variables: tuple[Variable, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    parent: LoopBlock | None = None
    asked: tuple[Constraint, ...] = ()
    """What a condition around the block asks, so that nothing may move out of it."""
    condition: str = ""
    """The text of that, where it is written before the block."""
    steps: CounterSteps | None = None
    """Of the loop that the block is in, where they are not the bounds of its variable."""
    lines: list[str] = field(default_factory=list[str])
    values: dict[object, str] = field(default_factory=dict[object, str])
    """The names of what is computed in the block."""

    def __post_init__(self) -> None:
        self.language = self.names.language
        self.domain = Domain.of(self.variables).constrained(self.constraints)
        self._ranges = Ranges(self.domain)

    # Blocks inside.

    def loop(
        self, bounds: Interval, wish: str, facts: Iterable[Constraint] = ()
    ) -> tuple[LoopBlock, Form]:
        """A block inside a loop, and the variable of the loop.

        The loop goes where ``facts`` hold, which :func:`solving` has found. They end
        a loop that has no upper bound.
        """
        form = forms.variable(f"d{len(self.variables)}")
        facts = tuple(facts)
        steps = steps_of(f"d{len(self.variables)}", bounds, facts) if facts else None
        if bounds.upper is None and steps is not None:
            bounds = Interval(bounds.lower, self.range_of(steps.last).upper)
        counter = Variable(bounds, self.names.fresh(wish))
        constraints = (*self.constraints, *facts)
        inner = LoopBlock(self.names, (*self.variables, counter), constraints, self, steps=steps)
        return inner, form

    def guarded(self, asked: Sequence[Constraint], condition: str = "") -> LoopBlock:
        """A block inside a condition; this block if nothing is asked."""
        if not asked:
            return self
        facts = (*self.constraints, *asked)
        return LoopBlock(self.names, self.variables, facts, self, tuple(asked), condition)

    # Known values.

    def learn(self, facts: Iterable[Constraint]) -> None:
        """Takes constraints that hold in the block, and in those that are made inside from now."""
        if more := tuple(facts):
            self.constraints += more
            self.domain = self.domain.constrained(more)
            self._ranges = Ranges(self.domain)

    def range_of(self, form: Form) -> Interval:
        """An interval with all values of a form, as far as it is quickly known."""
        return self._ranges.of(form)

    def simplified(self, form: Form) -> Form:
        """The form as short as the bounds known here allow."""
        if self.domain.is_known_empty:
            return form
        return forms.simplified(scope_with_facts(self.domain), form)

    def holds(self, constraint: Constraint) -> bool:
        """Whether a constraint is met everywhere in the block."""
        form, interval = constraint
        return interval.contains(self._ranges.of(form))

    def fails(self, constraint: Constraint) -> bool:
        """Whether a constraint is met nowhere in the block."""
        form, interval = constraint
        return interval.intersect(self._ranges.of(form)).is_empty

    def left_to_ask(self, constraint: Constraint) -> Interval:
        """The interval of a constraint, without an end that is met everywhere in the block."""
        return self._ranges.left_to_ask(constraint)

    def knows(self, index: Iterable[Form]) -> bool:
        """Whether an index has only variables of the loops around the block."""
        known = {f"d{position}" for position in range(len(self.variables))}
        return known.issuperset(variables_of(index))

    def home_of(self, index: Sequence[Form]) -> LoopBlock:
        """The outermost block where an index is known: elements at it do not change inside."""
        block = self
        while block.parent is not None and not block.asked and block.parent.knows(index):
            block = block.parent
        return block

    def find(self, key: object) -> str | None:
        """The name of a value computed in this block or around it."""
        return next((each.values[key] for each in self.outward() if key in each.values), None)

    def outward(self) -> Iterator[LoopBlock]:
        """This block, and those around it, the innermost first."""
        block: LoopBlock | None = self
        while block is not None:
            yield block
            block = block.parent

    # Texts.

    def texts(self, wanted: Sequence[Form]) -> tuple[str, ...]:
        """The texts of forms, after the lines that they need."""
        return self.texts_and_bits(wanted)[0]

    def texts_and_bits(self, wanted: Sequence[Form]) -> tuple[tuple[str, ...], list[int]]:
        """The texts of forms, after the lines that they need, and the bits of each."""
        coder = Coder(self.domain, self.language, taken=self.names.taken)
        found = coder.write_all(wanted)
        self.lines += coder.lines
        self.names.taken |= coder.taken
        return found, [coder.bits_of(form) for form in wanted]

    def type_of(self, bounds: Interval) -> str:
        """The type of a loop's variable; the end of the loop has to fit, too."""
        is_small = is_narrow(bounds) and is_narrow(bounds + 1)
        return self.language.integer.get(NARROW if is_small else WIDE, "")

    # Ends.

    def close(self, outer: LoopBlock) -> None:
        """Adds the lines of the block, and of those around it, to one that is further outside."""
        if self.parent is None or self is outer:
            return
        if self.condition:
            self.parent.close_guard(self, self.condition)
        else:
            self.parent.close_loop(self)
        self.parent.close(outer)

    def close_loop(self, inner: LoopBlock, pragma: str = "") -> None:
        """Adds the loop over a block's last variable, with the lines of the block in it.

        A ``pragma`` for the compiler stands right in front of the loop.
        """
        counter = inner.variables[-1]
        steps = inner.steps or plain_steps(counter.bounds)
        first, stop = self.ends_of(inner)
        step, values = steps.step, counter.bounds
        for each in (steps.first, steps.last):
            values = values.union(self._ranges.of(each))
        kind = self.type_of(values.union(values + (step - 1)))
        if self.language.has_typed_numbers and kind == self.language.integer[WIDE]:
            first, stop = (self.language.cast.format(end, type=kind) for end in (first, stop))
        span = f"{first}, {stop}" if first != "0" or step > 1 else stop
        head = self.language.loop.format(
            type=kind,
            name=counter.name,
            first=first,
            stop=stop,
            next=f"++{counter.name}" if step == 1 else f"{counter.name} += {step}",
            span=span if step == 1 else f"{span}, {step}",
        )
        self.lines += [*filter(None, (pragma,)), *self.language.block(head, inner.lines)]

    def ends_of(self, inner: LoopBlock) -> tuple[str, str]:
        """The texts of the first value of a loop's counter, and of that behind the last."""
        counter = inner.variables[-1]
        steps = inner.steps or plain_steps(counter.bounds)
        forms = self.simplified(steps.first), self.simplified(steps.last + 1)
        texts, bits = self.texts_and_bits(forms)
        first, stop = map(alone, texts)
        if forms[1].is_constant or stop.isidentifier():
            return first, stop
        end = self.names.fresh(f"{counter.name}_stop")
        self.lines.append(self.language.assigned(end, stop, bits[1]))
        return first, end

    def close_guard(self, inner: LoopBlock, condition: str) -> None:
        """Adds a condition with the lines of a block in it."""
        self.lines += self.language.block(self.language.condition.format(condition), inner.lines)


# Where a loop begins and ends, so that constraints on its counter hold without being asked.
#
# `d0 + s0 in [1, 16]` bounds `s0` by `1 - d0` and `16 - d0`. `(d0 + s0) mod 2 in [0, 0]` makes it
# go in steps of 2.


@dataclass(frozen=True, slots=True)
class CounterSteps:
    """The values of a counter: from ``first`` to ``last``, in steps."""

    first: Form
    last: Form
    step: int = 1


def plain_steps(bounds: Interval) -> CounterSteps:
    """All values within bounds."""
    return CounterSteps(forms.constant(bounds.lower or 0), forms.constant(bounds.upper or 0))


def steps_of(counter: str, bounds: Interval, constraints: Iterable[Constraint]) -> CounterSteps:
    """The values of a counter that meet constraints, which :func:`solving` has found.

    The counter has a first value, or is not negative; it has a last value, or a constraint that
    ends it.

    >>> from simplifier.forms import variable
    >>> from simplifier import Interval
    >>> form = forms.variable("d0") + forms.variable("s0") * 2
    >>> steps = steps_of("s0", Interval(0, 9), [(form, Interval(1, 16))])
    >>> print(steps.first, "to", steps.last)
    max((-d0 + 1) ceildiv 2, 0) to min((-d0 + 16) floordiv 2, 9)
    """
    lower = [forms.constant(bounds.lower or 0)]
    upper = [] if bounds.upper is None else [forms.constant(bounds.upper)]
    residues: list[tuple[Form, int]] = []
    for form, interval in constraints:
        residue = _residue(counter, form, interval)
        if residue is not None:
            residues.append(residue)
            continue
        factor, rest = _linear(counter, form) or (0, form)
        for end, is_lower in ((interval.lower, factor > 0), (interval.upper, factor < 0)):
            if end is not None:
                (lower if is_lower else upper).append(_solved(factor, rest, end, is_lower=is_lower))
    first = forms.maximum(lower)
    last = forms.minimum(upper)
    if not residues:
        return CounterSteps(first, last)
    ((residue, step),) = residues
    return CounterSteps(first + forms.mod(residue - first, forms.constant(step)), last, step)


def solving(counter: str, constraints: Iterable[Constraint]) -> list[Constraint]:
    """The constraints that the steps of a loop can meet: linear ones, and one of a residue."""
    found: list[Constraint] = []
    has_residue = False
    for form, interval in constraints:
        is_residue = _residue(counter, form, interval) is not None
        if (is_residue and not has_residue) or _linear(counter, form) is not None:
            found.append((form, interval))
        has_residue |= is_residue
    return found


def divisors_of(wanted: Iterable[Form], counter: str, size: int) -> set[int]:
    """The numbers that a counter is divided by, where they divide its size."""
    divided = {
        atom.divisor
        for atom in forms.postorder(tuple(wanted))
        if atom.kind in (AtomKind.FLOORDIV, AtomKind.MOD)
        and atom.arguments[0].single_variable() == counter
    }
    return {each for each in divided if 1 < each < size and size % each == 0}


def digits_of(divisors: Iterable[int], size: int) -> list[tuple[int, int]]:
    """Sizes and strides of loops over the digits of a counter, the greatest stride first.

    >>> digits_of([4, 8, 12], 96)
    [(12, 8), (2, 4), (4, 1)]
    """
    chain = [1]
    for divisor in sorted(divisors):
        if divisor % chain[-1] == 0:
            chain.append(divisor)
    ends = (*chain[1:], size)
    return [(upper // lower, lower) for lower, upper in zip(chain, ends, strict=True)][::-1]


def _linear(counter: str, form: Form) -> tuple[int, Form] | None:
    """A form as a multiple of the counter and a rest without it."""
    for atom, factor in form.terms.items():
        if atom.kind is AtomKind.VARIABLE and atom.name == counter:
            rest = form.without(atom)
            return None if counter in forms.variables_of((rest,)) else (factor, rest)
    return None


def _residue(counter: str, form: Form, interval: Interval) -> tuple[Form, int] | None:
    """The counter modulo a number, and the number, if a constraint gives it."""
    atom = form.only_atom
    if atom is None or atom.kind is not AtomKind.MOD or not interval.is_point:
        return None
    found = _linear(counter, atom.arguments[0])
    wanted = interval.lower or 0
    if found is None or abs(found[0]) != 1 or not 0 <= wanted < atom.divisor:
        return None  # what no remainder is, no step reaches
    factor, rest = found
    return (forms.constant(wanted) - rest) * factor, atom.divisor


def _solved(factor: int, rest: Form, end: int, *, is_lower: bool) -> Form:
    """The least or greatest counter for which ``factor * counter + rest`` does not pass an end."""
    divide = forms.ceildiv if is_lower else forms.floordiv
    numerator = (forms.constant(end) - rest) * (1 if factor > 0 else -1)
    return numerator if abs(factor) == 1 else divide(numerator, forms.constant(abs(factor)))


# The loop nest of a map.

MASK: Final = "mask"
"""What arrays of points call whether each of them is inside."""


@dataclass(frozen=True, slots=True)
class Body:
    """The caller's part of a function: lines in the loops, parameters, and a line after them."""

    lines: str
    parameters: str = ""
    last: str = ""

    @property
    def names(self) -> set[str]:
        """All words, which no line of ours may give another meaning."""
        return set(re.findall(r"[^\W\d]\w*", f"{self.lines} {self.parameters} {self.last}"))


def text_of_loops(
    maps: Sequence[Relation], language: Language, names: Sequence[str], body: Body, asker: str
) -> str:
    """The text of one function: loops over the ranges of maps around a body."""
    checked = checked_maps(maps, names, asker, language.reserved, language.max_bits)
    domain, wanted = joined(checked)
    looped = _looped([each.domain for each in checked], asker)
    pairs = zip(domain.identifiers, domain.names, strict=True)
    behind = [forms.variable(identifier) + 1 for identifier, name in pairs if name in looped]
    check_portable(behind, domain, asker, language.max_bits)
    results = {
        result: guarded(form)
        for name, values in zip(names, wanted, strict=True)
        for result, form in zip(_result_names(name, len(values)), values, strict=True)
    }
    _check_results(results, domain, asker)
    nest = _Nest(domain, looped, language, body.names | {*results, MASK})
    nest.write(results, body)
    lines = nest.function(f"{'_'.join(names)}_loops", body)
    return text_of_functions(maps, [lines], language)


def _looped(domains: Sequence[Domain], asker: str) -> list[str]:
    """The names of the ranges, which no map may have in another role."""
    ranges = {name: None for domain in domains for name in domain.by_role(domain.names)[1]}
    for domain in domains:
        own = domain.by_role(domain.names)[1]
        for name in domain.names:
            if name in ranges and name not in own:
                roles = f"{name} is a range of one map and none of another"
                raise MapError(f"{asker}: {roles}; expected names of one role")
    return [*ranges]


def _result_names(name: str, count: int) -> list[str]:
    return [name] if count == 1 else [f"{name}{number}" for number in range(count)]


def _check_results(results: dict[str, Form], domain: Domain, asker: str) -> None:
    for name in (*domain.names, MASK):
        if name in results:
            other = "what says which points are inside" if name == MASK else "a variable"
            raise MapError(f"{asker}: {name} is a result and also {other}")


@dataclass
class _Nest:
    """Loops over some variables of a domain; the others are parameters of the function."""

    domain: Domain
    looped: Sequence[str]
    language: Language
    taken: set[str]
    known: dict[str, Form] = field(default_factory=dict[str, Form])
    """The form of each identifier of the domain in the blocks."""
    masks: list[_Mask] = field(default_factory=list["_Mask"])

    def __post_init__(self) -> None:
        names = names_in(self.domain, self.language.reserved)
        named: dict[bool, list[tuple[str, Variable]]] = {True: [], False: []}
        rows = zip(self.domain.identifiers, self.domain.names, names, self.domain, strict=True)
        for identifier, own, name, given in rows:
            named[own in self.looped].append((identifier, Variable(given.bounds, name)))
        outer, self.inner = named[False], named[True]
        self.parameters = tuple(given for _, given in outer)
        taken = (self.taken - {*names}) | {given.name for given in self.parameters}
        self.top = LoopBlock(LocalNames(self.language, taken), self.parameters)
        self.known = {each: forms.variable(f"d{place}") for place, (each, _) in enumerate(outer)}
        texts = self.domain.constraint_texts()
        self.asked = [(forms.guarded(form), interval) for _, (form, interval) in texts]
        self.is_of_arrays = not self.language.condition

    def write(self, results: dict[str, Form], body: Body) -> None:
        """Writes the loops into the block on top."""
        left = dict(results)
        if self.is_of_arrays:
            self._narrow_parameters()
        block = self._within(self.top)
        for identifier, counter in self.inner:
            self._write_results(block, left, _is_total)
            block = self._within(self._loop(block, identifier, counter, results.values()))
        if self.is_of_arrays:
            self._end_masks(block)
        self._write_results(block, left, lambda _: True)
        block.lines += body.lines.splitlines()
        block.close(self.top)

    def function(self, name: str, body: Body) -> list[str]:
        """The lines of the function."""
        language = self.language
        given = [language.declared(each.name, _bits_of(each)) for each in self.parameters]
        given += [body.parameters] if body.parameters else []
        lines = [*self.top.lines, *body.last.splitlines()]
        return function(name, "void", given, lines, language)

    # Constraints.

    def _within(self, block: LoopBlock) -> LoopBlock:
        """The block where all constraints hold of which everything is known in a block."""
        facts = self._taken(block, [row for row in self.asked if self._knows(row[0])])
        if self.is_of_arrays:
            self._mask(block, self._questions(block, facts))
            return block
        return block.guarded(facts, " && ".join(self._questions(block, facts)))

    def _taken(self, block: LoopBlock, rows: Sequence[Constraint]) -> list[Constraint]:
        """Constraints as they are in a block, without those that hold; they are asked no more."""
        self.asked = [row for row in self.asked if row not in rows]
        placed = substituted_constraints(rows, self.known)
        short = [(block.simplified(form), interval) for form, interval in placed]
        return [row for row in short if not block.holds(row)]

    def _knows(self, form: Form) -> bool:
        return self.known.keys() >= {*forms.variables_of((form,))}

    def _questions(self, block: LoopBlock, facts: Sequence[Constraint]) -> list[str]:
        texts, bits = block.texts_and_bits([form for form, _ in facts])
        asked = map(passable, map(block.left_to_ask, facts), bits)
        return [*comparisons(zip(texts, asked, strict=True), self.language)]

    def _narrow_parameters(self) -> None:
        """Asks parameters of any type for their bounds, and gives them the type for these."""
        bounds = ((each.name, each.bounds) for each in self.parameters)
        self._mask(self.top, [*within_bounds(bounds, self.language)])
        for each in self.parameters:
            bits = _bits_of(each)
            value = self.language.cast.format(each.name, type=self.language.integer[bits])
            self.top.lines.append(self.language.assigned(each.name, value, bits))

    def _mask(self, block: LoopBlock, asked: Sequence[str]) -> None:
        if asked:
            name = block.names.fresh("is_inside")
            text = self.language.both.join(asked)
            self.masks.append(_Mask(name, text, block, len(block.lines)))
            block.lines.append(f"{name} = {text}")

    def _end_masks(self, block: LoopBlock) -> None:
        """Gives the last mask the name that the body knows."""
        if not self.masks:
            block.lines.append(f"{MASK} = {self.language.true}")
            return
        *others, last = self.masks
        text = self.language.both.join([*(each.name for each in others), last.text])
        last.block.lines[last.place] = f"{MASK} = {text}"

    # Loops.

    def _loop(
        self, block: LoopBlock, identifier: str, counter: Variable, results: Iterable[Form]
    ) -> LoopBlock:
        """The block in a loop over a variable, or in one loop for each of its digits."""
        facts = self._solved(block, identifier)
        bounds, name = counter.bounds, counter.name
        size = 0 if bounds.lower else bounds.size or 0
        sizes = digits_of(divisors_of(results, identifier, size), size)
        if facts or self.is_of_arrays or not sizes[1:]:
            inner, self.known[identifier] = block.loop(bounds, name, facts)
            return inner
        block.names.taken.add(name)
        total = Form(0, {})
        for size, stride in sizes:
            block, digit = block.loop(Interval(0, size - 1), f"{name}_by_{stride}")
            total += digit * stride
        self.known[identifier] = total
        self._assign(block, name, total)
        return block

    def _solved(self, block: LoopBlock, identifier: str) -> list[Constraint]:
        """The constraints that a loop over a variable meets by where it goes; asked no more."""
        place = len(block.variables)
        own = range(len(self.parameters) if self.is_of_arrays else 0, place + 1)
        may_be = {f"d{number}" for number in own}
        self.known[identifier] = forms.variable(f"d{place}")
        asked = [row for row in self.asked if self._knows(row[0]) and self._may_end_loops(*row)]
        pairs = zip(substituted_constraints(asked, self.known), asked, strict=True)
        rows = {fact: row for fact, row in pairs if may_be.issuperset(variables_of(fact[:1]))}
        facts = solving(f"d{place}", rows)
        met = [rows[fact] for fact in facts]
        self.asked = [row for row in self.asked if row not in met]
        return facts

    def _may_end_loops(self, form: Form, interval: Interval) -> bool:
        """Whether the computations for the ends of a loop, and its next value, fit the language."""
        atom, ends = form.only_atom, interval.ends
        if atom is not None and atom.kind is AtomKind.MOD:
            form, ends = atom.numerator, (atom.divisor,)
        sides = [form + sign * end for end in ends if isinstance(end, int) for sign in (1, -1)]
        return reason_against_bits(sides, self.domain, self.language.max_bits) is None

    def _write_results(
        self, block: LoopBlock, left: dict[str, Form], may_be: Callable[[Form], bool]
    ) -> None:
        """Writes the results that are known in a block, and takes them from those that are left."""
        for name, form in [*left.items()]:
            if self._knows(form) and may_be(form):
                (placed,) = forms.substitute((left.pop(name),), self.known)
                self._assign(block, name, block.simplified(placed))

    def _assign(self, block: LoopBlock, name: str, form: Form) -> None:
        (text,), (bits,) = block.texts_and_bits([form])
        block.lines.append(self.language.assigned(name, alone(text), bits))


def _bits_of(parameter: Variable) -> int:
    return NARROW if is_narrow(parameter.bounds) else WIDE


def _is_total(form: Form) -> bool:
    """Whether a form has a value wherever its variables have one: it divides by no variable."""
    return all(atom.divisor for atom in forms.postorder((form,)) if atom.kind in DIVISIONS)


@dataclass(frozen=True, slots=True)
class _Mask:
    """A line that asks which of many points are inside."""

    name: str
    text: str
    block: LoopBlock
    place: int
