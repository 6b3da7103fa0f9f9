"""The smallest form of a map: its domain, its results with the constraints as facts, its ranges.

``simplified_by_isl`` lets isl do what the fast way leaves. It leaves out an attempt that takes more
than its share of the allowance, and keeps what the others find.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from itertools import chain, combinations
from math import gcd
from typing import Final, NamedTuple

from indexing.domain import Constraint, Domain, distinctly_named, substituted_constraints
from indexing.relation import Relation, RelationT, formulas
from indexing.simplify.constraints import (
    MAX_REMEMBERED,
    NONE_PRESERVED,
    PreservedVariables,
    connected,
    renumbered,
    scope_with_facts,
    scope_within,
    simplified_domain,
)
from indexing.variable import Variable
from simplifier import forms
from simplifier.exact import MAX_ATTEMPTS, Allowance, Budget, BudgetError, range_within
from simplifier.exact import finished as finished_form
from simplifier.forms import VARIABLE, ZERO, Atom, AtomKind, Form, Interval
from simplifier.tools.graphs import connected_components


def simplified(
    indexing_map: RelationT, *, preserve_size_one: bool = False, preserve_ranges: bool = False
) -> RelationT:
    """The same relation with simplified bounds, constraints and results; perhaps the map itself.

    With ``preserve_size_one`` variables of one value stay variables, and ranges that constraints
    alone have stay, too: a convolution counts with them. With ``preserve_ranges`` several ranges do
    not become one.
    """
    if preserve_ranges:
        return _with_same_variables(indexing_map, preserve_size_one=preserve_size_one)
    if preserve_size_one:
        return _simplified(indexing_map, preserve_size_one=True)
    return indexing_map.in_simplest_form(_simplified)


def _simplified(indexing_map: RelationT, *, preserve_size_one: bool = False) -> RelationT:
    smallest = _with_same_variables(indexing_map, preserve_size_one=preserve_size_one)
    fewer = with_fewest_ranges(smallest)
    if fewer is smallest and not preserve_size_one:
        fewer = without_inner_ranges(smallest)
    is_done = fewer is smallest
    return smallest if is_done else _simplified(fewer, preserve_size_one=preserve_size_one)


def _with_same_variables(indexing_map: RelationT, *, preserve_size_one: bool) -> RelationT:
    domain = simplified_domain(indexing_map.domain, preserve_size_one=preserve_size_one)
    results = indexing_map.forms
    if not domain.is_known_empty:
        preserved = PreservedVariables.of(domain, are_wanted=preserve_size_one)
        results = tuple(map(preserved.form_shown, _simplified_forms(domain, preserved, results)))
    is_same = results == indexing_map.forms and domain == indexing_map.domain
    return indexing_map if is_same else indexing_map.derived(results, domain)


def _simplified_forms(
    domain: Domain, preserved: PreservedVariables, results: tuple[Form, ...]
) -> Iterator[Form]:
    """Each form simplified under the constraints that matter to it."""
    groups = connected(preserved.hidden(domain.constraints)) if domain.constraints else ()
    for form in map(preserved.form_hidden, results):
        relevant = [pair for group in groups if may_simplify(group, form) for pair in group]
        if not relevant and is_smallest_in_box(domain, form):
            yield form  # as most results of a program, without a scope for their bounds
        elif preserved.facts or domain.parameters:
            yield forms.simplified(scope_within(domain, (*preserved.facts, *relevant)), form)
        else:
            yield _remembered(domain, relevant, form)


def _remembered(domain: Domain, constraints: Sequence[Constraint], form: Form) -> Form:
    """The form simplified under constraints, once for all that differ in names alone."""
    alone = renumbered(domain, constraints, form)
    (found,) = forms.substitute([_simplified_alone(alone.domain, *alone.forms)], alone.names)
    return found


@lru_cache(maxsize=MAX_REMEMBERED)
def _simplified_alone(domain: Domain, form: Form) -> Form:
    return forms.simplified(scope_with_facts(domain), form)


def is_smallest_in_box(domain: Domain, form: Form) -> bool:
    """Whether bounds alone cannot make a form smaller: a sum of variables of several values.

    >>> from indexing import parse_map
    >>> tile = parse_map("(d0, d1) -> (d0 + 2, d0 + d1), domain: d0 in [0, 7], d1 in [3, 3]")
    >>> [is_smallest_in_box(tile.domain, form) for form in tile.forms]
    [True, False]
    """
    for atom in form.terms:
        if atom.kind is not VARIABLE or domain.bounds[atom.name].is_point:
            return False
    return True


def simplified_in(box: Domain, form: Form) -> Form:
    """The smallest form with the same values on a domain without constraints.

    >>> from indexing import parse_map
    >>> tile = parse_map("(d0) -> (d0 floordiv 8 + d0 floordiv 4), domain: d0 in [0, 7]")
    >>> print(simplified_in(tile.domain, tile.forms[0]))
    d0 floordiv 4
    """
    if box.is_known_empty:
        return ZERO
    (smallest,) = _simplified_forms(box, NONE_PRESERVED, (form,))
    return smallest


def result_bounds(indexing_map: Relation) -> tuple[Interval, ...]:
    """An interval for each result that holds all its values."""
    if indexing_map.is_known_empty:
        return tuple(Interval(0, -1) for _ in indexing_map.forms)
    scope = scope_with_facts(indexing_map.domain)
    return tuple(forms.range_of(scope, form) for form in indexing_map.forms)


def simplified_by_isl(
    indexing_map: RelationT, budget: Budget, *, preserve_size_one: bool, preserve_ranges: bool
) -> RelationT:
    """The same relation, simplified by isl.

    Some point reaches every bound of a variable, no constraint follows from the others, and results
    are as small as isl finds them.

    Raises:
        NotQuasiAffineError: a product of variables, or a divisor that is not a constant.
    """
    exact = _ExactSimplification(Allowance(budget, MAX_ATTEMPTS), preserve_size_one)
    preserved = {"preserve_size_one": preserve_size_one, "preserve_ranges": preserve_ranges}
    smallest = simplified(indexing_map, **preserved)
    domain = exact.domain(smallest.domain)
    sharper = smallest.derived(smallest.forms, domain)
    if domain.is_known_empty:
        return sharper
    simplest = simplified(sharper, **preserved)
    domain = simplest.domain
    results = (exact.form(form, domain, domain.constraints) for form in simplest.forms)
    return indexing_map.derived(results, domain)


class _ExactSimplification(NamedTuple):
    """Simplification by isl, with one allowance of operations for all attempts."""

    allowance: Allowance
    preserve_size_one: bool

    def form(self, form: Form, domain: Domain, constraints: tuple[Constraint, ...]) -> Form:
        """The form as small as isl finds it under the constraints.

        isl is not told the bounds of a preserved variable, so that it does not replace it.
        """
        bounds = {
            identifier: bounds
            for identifier, bounds in domain.bounds.items()
            if not (self.preserve_size_one and bounds.is_point)
        }
        scope = forms.scope_of(tuple(bounds.items()), constraints)
        return finished_form(scope, form, bounds, constraints, self.allowance)

    def domain(self, domain: Domain) -> Domain:
        """Bounds and constraints sharpen each other until nothing changes."""
        while domain.constraints and not domain.is_known_empty:
            sharper = self._without_redundancy(self._tightened(domain))
            if sharper == domain:
                break
            domain = sharper
        return domain

    def _tightened(self, domain: Domain) -> Domain:
        """The domain with the least and greatest value of each variable as its bounds."""
        narrowed: list[Constraint] = []
        for identifier in domain.identifiers:
            with suppress(BudgetError):
                variable = forms.variable(identifier)
                values = range_within(self.allowance, variable, domain.bounds, domain.constraints)
                narrowed.append((variable, values))
        domain = domain.constrained(narrowed)
        return simplified_domain(domain, preserve_size_one=self.preserve_size_one)

    def _without_redundancy(self, domain: Domain) -> Domain:
        """The domain without implied constraints, and each other as small as the rest allows."""
        for constraint in domain.constraints:
            others = tuple(other for other in domain.constraints if other != constraint)
            with suppress(BudgetError):
                needed = self._needed(domain, constraint, others)
                domain = replace(domain, constraints=others).constrained(needed)
        return simplified_domain(domain, preserve_size_one=self.preserve_size_one)

    def _needed(
        self, domain: Domain, constraint: Constraint, others: tuple[Constraint, ...]
    ) -> list[Constraint]:
        """The constraint under the others; nothing if they imply it."""
        form, interval = constraint
        values = range_within(self.allowance, form, domain.bounds, others)
        if interval.contains(values):
            return []
        return [(self.form(form, domain, others), interval.intersect(values))]


def may_simplify(group: Iterable[Constraint], form: Form) -> bool:
    """Whether constraints in normal shape may make a form simpler than the bounds alone do.

    They do not simplify a variable. Affine inequalities do not simplify an affine form.
    """
    if form.single_variable() is not None:
        return False
    if form.is_affine and all(each.is_affine and not within.is_point for each, within in group):
        return False
    names = {*forms.variables_of([form])}
    return not names.isdisjoint(forms.variables_of(limited for limited, _ in group))


# Ranges that only enumerate the values of one range become that one.
#
# A range takes all its values, so only its use in formulas matters: they use the whole range, or
# digits of it, `(s floordiv a) mod b`. Digits at different places are independent, so each may be
# a range of its own. Ranges that occur only as one sum, `s0 * 16 + s1`, are one range if the sum
# has no gaps: in order of the strides, each is at most one more than the sum that the smaller
# ones reach.


def with_fewest_ranges(indexing_map: RelationT) -> RelationT:
    """The same relation with one range for those that only enumerate the values of one.

    There are fewer ranges then, or as many in cheaper formulas; or it is the map itself. Costs time
    in proportion to the formulas.

    >>> from indexing import parse_map
    >>> line = "(d0)[s0, s1] -> (d0, s0 * 16 + s1), "
    >>> line += "domain: d0 in [0, 7], s0 in [0, 3], s1 in [0, 15]"
    >>> print(with_fewest_ranges(parse_map(line)))
    (d0)[s0] -> (d0, s0), domain: d0 in [0, 7], s0 in [0, 63]
    """
    if not _may_have_sums_of_ranges(indexing_map):
        return indexing_map
    groups = connected_components(_enumerations(indexing_map), _Enumeration.ranges)
    found = [each for group in groups if _is_gain(group) for each in group]
    return _enumerated(indexing_map, found) if found else indexing_map


def _may_have_sums_of_ranges(indexing_map: Relation) -> bool:
    """Whether some form has an operation, or two ranges as terms: most maps are done here."""
    if not indexing_map.domain.ranges:
        return False
    for form in formulas(indexing_map):
        ranges = 0
        for atom in form.terms:
            if atom.kind is not VARIABLE:
                return True
            ranges += atom.name[0] == "s"
        if ranges > 1:
            return True
    return False


# Digits of ranges, and the sums that they are terms of.


class VariableDigit(NamedTuple):
    """``((variable + shift) floordiv weight) mod radix``; without a radix the whole quotient."""

    variable: str
    shift: int
    weight: int
    radix: int | None

    @property
    def is_variable(self) -> bool:
        """Whether it is the variable itself."""
        return self[1:] == (0, 1, None)

    @property
    def end(self) -> int | None:
        """The weight of the digit above, if there is one."""
        return None if self.radix is None else self.weight * self.radix

    def of(self, value: Form) -> Form:
        """The digit of a value."""
        quotient = forms.floordiv(value.plus_constant(self.shift), forms.constant(self.weight))
        return quotient if self.radix is None else forms.mod(quotient, forms.constant(self.radix))


def digit_of(atom: Atom) -> VariableDigit | None:
    """The digit that an atom is.

    >>> from simplifier.forms import parse_form
    >>> digit_of(parse_form("((d0 + 1) floordiv 4) mod 6").only_atom)
    VariableDigit(variable='d0', shift=1, weight=4, radix=6)
    """
    if atom.kind is VARIABLE:
        return VariableDigit(atom.name, 0, 1, None)
    if atom.kind not in (AtomKind.FLOORDIV, AtomKind.MOD) or atom.divisor <= 0:
        return None
    numerator, divisor = atom.arguments[0], atom.divisor
    bare = numerator.plus_constant(-numerator.constant).only_atom
    inner = None if bare is None else digit_of(bare)
    if inner is None or (numerator.constant and not inner.is_variable):
        return None
    if inner.is_variable:
        inner = inner._replace(shift=numerator.constant)
    if atom.kind is AtomKind.MOD:
        is_smaller = inner.radix is None or inner.radix % divisor == 0
        return inner._replace(radix=divisor) if is_smaller else None
    if inner.radix is not None and inner.radix % divisor:
        return None
    radix = None if inner.radix is None else inner.radix // divisor
    return inner._replace(weight=inner.weight * divisor, radix=radix)


class _RangeDigit(NamedTuple):
    """An atom that is ``(s mod end) floordiv place``; without ``end``, all from the place up."""

    atom: Atom
    range: str
    place: int
    end: int | None


_MAX_DEPTH_OF_DIGIT: Final = 2
"""``(s floordiv a) mod b`` is as deep as a simplified digit is."""


def _digit(atom: Atom, ranges: Collection[str]) -> _RangeDigit | None:
    """The atom as a digit of one of the ranges."""
    found = digit_of(atom) if atom.depth <= _MAX_DEPTH_OF_DIGIT else None
    if found is None or found.shift or found.variable not in ranges:
        return None
    return _RangeDigit(atom, found.variable, found.weight, found.end)


def _sums_with_digits(indexing_map: Relation) -> Mapping[_RangeDigit, Mapping[Form, int]]:
    """The sums that each digit in formulas is a term of, with its factors there."""
    domain = indexing_map.domain
    _, names, _ = domain.by_role(domain.identifiers)
    ranges = {name for name in names if (domain.bounds[name].size or 0) > 1}
    found: dict[_RangeDigit, dict[Form, int]] = defaultdict(dict)
    visited = dict.fromkeys(formulas(indexing_map))
    pending = [*visited]
    for form in pending:
        for atom, factor in form.terms.items():
            digit = _digit(atom, ranges)
            if digit is not None:
                found[digit][form] = factor
                continue
            inner = dict.fromkeys(each for each in atom.arguments if each not in visited)
            visited.update(inner)
            pending += inner
    return found


def _independent(
    digits: Iterable[_RangeDigit], bounds: Mapping[str, Interval]
) -> Iterator[tuple[_RangeDigit, Interval]]:
    """The digits of ranges all of whose digits are independent, with their values."""
    by_range: dict[str, list[_RangeDigit]] = defaultdict(list)
    for digit in digits:
        by_range[digit.range].append(digit)
    for identifier, of_range in by_range.items():
        of_range.sort(key=lambda digit: digit.place)
        yield from zip(of_range, _values(of_range, bounds[identifier]), strict=False)


def _values(digits: Sequence[_RangeDigit], bounds: Interval) -> Sequence[Interval]:
    """The values of the digits of a range, lowest first; nothing if they depend on each other."""
    highest, size = digits[-1], bounds.size or 0
    if len(digits) == 1:
        return _values_of_one(highest, bounds)
    is_cut_off = size % highest.place if highest.end is None else size < highest.end
    if bounds.lower != 0 or is_cut_off or not all(map(_is_above, digits[1:], digits)):
        return ()
    return [Interval(0, (each.end or size) // each.place - 1) for each in digits]


def _values_of_one(digit: _RangeDigit, bounds: Interval) -> Sequence[Interval]:
    values = bounds // digit.place
    if digit.end is None:
        return (values,)
    count = digit.end // digit.place
    return (Interval(0, count - 1),) if (values.size or 0) >= count else ()


def _is_above(high: _RangeDigit, low: _RangeDigit) -> bool:
    """Whether a digit begins where another one ends, or at a multiple of that."""
    return low.end is not None and high.place % low.end == 0


# Sums without gaps.


class _Enumeration(NamedTuple):
    """A sum of digits that takes all values of an interval, which begins with its first digit.

    It goes into formulas ``stride`` times, or that often in proportion.
    """

    digits: tuple[_RangeDigit, ...]
    stride: int
    values: Interval

    def plus(self, other: _Enumeration) -> _Enumeration | None:
        """Both as one sum, if that has no gaps; the other one has the greater stride."""
        steps, rest = divmod(other.stride, self.stride)
        if rest or abs(steps) > (self.values.size or 0):
            return None
        values = self.values + other.values * steps
        return _Enumeration((*self.digits, *other.digits), self.stride, values)

    def ranges(self) -> Iterator[str]:
        """The ranges that the digits are of."""
        return (digit.range for digit in self.digits)

    @property
    def is_range(self) -> bool:
        """Whether it is just one of the ranges."""
        return len(self.digits) == 1 and self.digits[0].atom.kind is VARIABLE


def _enumerations(indexing_map: Relation) -> Iterator[_Enumeration]:
    """Uses of ranges in formulas, in sums as long as they have no gaps.

    Digits that belong together are terms of the same sums, with proportional factors.
    """
    sums = _sums_with_digits(indexing_map)
    together: dict[tuple[tuple[Form, int], ...], list[_Enumeration]] = defaultdict(list)
    for digit, values in _independent(sums, indexing_map.domain.bounds):
        factors = sums[digit]
        first = next(iter(factors.values()))
        stride = gcd(*factors.values()) * (1 if first > 0 else -1)
        proportions = tuple((form, factor // stride) for form, factor in factors.items())
        together[proportions].append(_Enumeration((digit,), stride, values))
    for terms in together.values():
        yield from _joined(sorted(terms, key=lambda term: abs(term.stride)))


def _joined(terms: Iterable[_Enumeration]) -> Iterator[_Enumeration]:
    """The terms, in order of their strides, in as few sums as go on without gaps."""
    terms = iter(terms)
    whole = next(terms)
    for term in terms:
        longer = whole.plus(term)
        if longer is None:
            yield whole
        whole = longer or term
    yield whole


def _is_gain(group: Sequence[_Enumeration]) -> bool:
    """Whether the enumerations that share ranges are fewer than these, or have less to compute."""
    ranges = {*chain.from_iterable(map(_Enumeration.ranges, group))}
    return len(group) <= len(ranges) and not all(each.is_range for each in group)


# The map in which these sums are ranges.


def _enumerated(indexing_map: RelationT, found: Sequence[_Enumeration]) -> RelationT:
    """The map with a range for each enumeration, at the place of the first range in it."""
    domain = indexing_map.domain
    dims, ranges, runtime = domain.roles
    identifiers = domain.by_role(domain.identifiers)[1]
    gone = {*chain.from_iterable(map(_Enumeration.ranges, found))}
    rows = [
        ((place, 0), variable, [forms.variable_atom(identifier)])
        for place, (identifier, variable) in enumerate(zip(identifiers, ranges, strict=True))
        if identifier not in gone
    ]
    for each in found:
        order = min((identifiers.index(digit.range), -digit.place) for digit in each.digits)
        rows.append((order, Variable(each.values), [digit.atom for digit in each.digits]))
    rows.sort(key=lambda row: row[0])
    counted = [variable for _, variable, _ in rows]
    target = distinctly_named(dims, counted, runtime, domain.parameters)
    values: dict[Atom, Form] = {}
    for (_, _, (first, *others)), identifier in zip(
        rows, target.by_role(target.identifiers)[1], strict=True
    ):
        values[first] = forms.variable(identifier)
        values.update(dict.fromkeys(others, forms.ZERO))
    constraints = ((forms.replace(form, values), interval) for form, interval in domain.constraints)
    results = (forms.replace(form, values) for form in indexing_map.forms)
    return indexing_map.derived(results, target.constrained(constraints))


# Ranges that constraints alone have, and those that results have in a sum with another one only.
#
# `d0 + s0 + s1` of two windows is one range in the place of `s0 + s1`. What limits `s0` alone, as
# padding does, limits that range and the dimensions: `s0` is eliminated from the inequalities.
# Source: W. Pugh, "The Omega test", 1991: it is exact where factors are one, or leave room.


def without_inner_ranges(indexing_map: RelationT) -> RelationT:
    """The same relation without a range that no result has, or only in a sum with another one.

    Its constraints are affine, and become no more.

    >>> from indexing import parse_map
    >>> windows = "(d0)[s0, s1] -> (d0 + s0 + s1), domain: d0 in [0, 9], s0 in [0, 2], "
    >>> windows += "s1 in [0, 2], d0 + s0 in [1, 10], d0 + s0 + s1 in [2, 11]"
    >>> print(without_inner_ranges(parse_map(windows)))
    (d0)[s0] -> (d0 + s0), domain: d0 in [0, 9], s0 in [0, 4], d0 + s0 in [2, 11]
    """
    domain = indexing_map.domain
    limited = {*forms.variables_of(form for form, _ in domain.constraints)}
    if limited.isdisjoint(domain.by_role(domain.identifiers)[1]):
        return indexing_map
    affine = _affine_ranges(indexing_map)
    used = {*forms.variables_of(indexing_map.forms)}
    for inner in filter(limited.__contains__, affine):
        others = (each for each in affine if each != inner) if inner in used else [inner]
        for outer in others:
            factor = _proportion(indexing_map.forms, inner, outer) if inner in used else 0
            may_be = factor or inner not in used
            if may_be and (found := _summed(domain, inner, outer, factor)):
                return _over_fewer(indexing_map, found, inner)
    return indexing_map


def _affine_ranges(indexing_map: Relation) -> list[str]:
    """The ranges that are terms, and stand in no operation."""
    domain = indexing_map.domain
    atoms = chain.from_iterable(form.terms for form in formulas(indexing_map))
    inside = {*forms.variables_of(chain.from_iterable(each.arguments for each in atoms))}
    bounds, (_, ranges, _) = domain.bounds, domain.by_role(domain.identifiers)
    return [each for each in ranges if each not in inside and bounds[each].size is not None]


def _proportion(results: Iterable[Form], inner: str, outer: str) -> int:
    """How often all results have the inner range for each time they have the outer; 0 if not."""
    terms = [
        [form.terms.get(forms.variable_atom(each), 0) for each in (inner, outer)]
        for form in results
    ]
    proportions = {
        divmod(own, other) if other else (0, own) for own, other in terms if own or other
    }
    ((factor, rest), *others) = proportions or {(0, 0)}
    return 0 if rest or others else factor


def _summed(domain: Domain, inner: str, outer: str, factor: int) -> Domain | None:
    """The domain where the outer range is the sum, ``factor`` inner ones too, which go."""
    bounds, part = domain.bounds, forms.variable(inner)
    rest = forms.variable(outer).plus(part, -factor)
    limits = substituted_constraints(domain.constraints, {outer: rest})
    limits += [(part, bounds[inner]), (rest, bounds[outer])]
    left = _eliminated(limits, forms.variable_atom(inner))
    if left is None:
        return None
    reach = bounds[outer] + bounds[inner] * factor
    wider = domain.with_constraints().with_bounds({outer: reach})
    scope = scope_with_facts(wider)
    needed = [each for each in left if not each[1].contains(forms.range_of(scope, each[0]))]
    return wider.constrained(needed) if len(needed) <= len(domain.constraints) else None


def _eliminated(constraints: Iterable[Constraint], atom: Atom) -> list[Constraint] | None:
    """What constraints say of all else where the atom has some value; ``None`` if that is open."""
    left: list[Constraint] = []
    rows: list[tuple[int, Form, Interval]] = []
    for form, interval in constraints:
        factor = form.terms.get(atom, 0)
        sign = 1 if factor > 0 else -1
        if not factor:
            left.append((form, interval))
        elif interval.size is None or interval.size < abs(factor):
            return None
        else:
            others = form.plus_atom(atom, -factor)
            rows.append((abs(factor), others.times(sign), interval * sign))
    for (factor, form, interval), (other_factor, other, limit) in combinations(rows, 2):
        if factor > 1 and other_factor > 1:
            return None
        difference = form.times(other_factor).plus(other, -factor)
        left.append((difference, interval * other_factor - limit * factor))
    return left


def _over_fewer(indexing_map: RelationT, domain: Domain, inner: str) -> RelationT:
    """The map over a domain without the inner range; in sums of results it is a part of another."""
    dims, _, runtime = domain.roles
    names = domain.by_role(domain.identifiers)[1]
    kept = [each for each in zip(names, domain.ranges, strict=True) if each[0] != inner]
    target = distinctly_named(dims, [each for _, each in kept], runtime, domain.parameters)
    values = dict(zip((name for name, _ in kept), target.by_role_as_forms[1], strict=True))
    values[inner] = ZERO
    constraints = substituted_constraints(domain.constraints, values)
    results = forms.substitute(indexing_map.forms, values)
    return indexing_map.derived(results, target.constrained(constraints))
