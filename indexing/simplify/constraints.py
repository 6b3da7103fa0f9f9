"""Constraints in normal shape, without those that follow from others, and with sharp bounds.

A constraint says that a form lies in an interval. In normal shape

* the form is canonical and primitive: no constant, no common factor, a positive first coefficient;
* the form is no quotient, and has no low-order part that cannot change the answer;
* an end of the interval that the bounds imply is open.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import chain, islice
from math import gcd, lcm
from typing import Final, NamedTuple, TypeAlias

from indexing.domain import (
    Constraint,
    Domain,
    bare,
    bounding,
    limited_variable,
    solved_for,
    substituted_constraints,
    symbolic_ends,
    turned_to_variable,
    without_implied_ends,
)
from indexing.variable import PARAMETER, Variable, has_parameters
from simplifier import forms
from simplifier.forms import Atom, AtomKind, Fact, Form, Infinity, Interval, Range, Scope
from simplifier.tools.graphs import connected_components

_Limited: TypeAlias = "tuple[Form, Range]"
"""A canonical form, and the ends that it lies between."""


def normal(scope: Scope, constraint: Constraint) -> list[Fact] | None:
    """The facts in normal shape that together say the same as the constraint.

    They say so within the bounds of the scope: there are none if the bounds imply the constraint,
    and ``None`` stands for a constraint that holds nowhere.
    """
    form, interval = constraint
    if interval.contains(forms.range_of(scope, form)):
        return []
    pending: list[_Limited] = [(scope.canonical(form), interval.ends)]
    found: list[Fact] = []
    while pending:
        form, ends = pending.pop()
        values = scope.range_of(form)
        if values[0] > ends[1] or values[1] < ends[0]:
            return None
        fact = _primitive(form, ends, values)
        if fact is None:
            continue
        smaller = _smaller(scope, fact)
        pending += smaller
        if not smaller:
            found.append(fact)
    return found


def extracted(scope: Scope, fact: Fact) -> Constraint:
    """The fact as a constraint of least cost: on its form or the negative, without a constant."""
    bound = _bound_by_extremum(scope, fact)
    if bound is not None:
        return bound
    values = Interval.from_range(scope.range_of(fact.form))
    interval = interval_within(fact.form, Interval.from_range(fact.ends), values)
    same, turned = fact.form, -fact.form
    if not same.is_affine:
        same, turned = forms.simplified(scope, same), forms.simplified(scope, turned)
    if _text_rank(turned) < _text_rank(same):
        same, interval = turned, -interval
    return same.plus_constant(-same.constant), interval - same.constant


def _bound_by_extremum(scope: Scope, fact: Fact) -> Constraint | None:
    """A limit of one variable by extrema of parameters, as the end that it is.

    ``d0 * 3 + min(1 - N * 2, 0) in [-inf, 0]`` is ``d0 <= max(N * 2 - 1, 0) floordiv 3``.
    """
    form, interval = fact.form, Interval.from_range(fact.ends)
    names = [name for name in forms.variables_of((form,)) if name[0] != PARAMETER]
    has_extrema = any(atom.kind in forms.EXTREMA for atom in form.terms)
    is_one_end = (interval.lower is None) != (interval.upper is None)
    if not (has_extrema and is_one_end and len(names) == 1):
        return None
    solved = solved_for((form, interval), names[0])
    if solved is None:
        return None
    factor, rest, interval = solved
    is_upper = interval.lower is None
    divide = forms.floordiv if is_upper else forms.ceildiv
    beside = (interval.lower or interval.upper or 0) - rest
    end = forms.simplified(scope, divide(beside, forms.constant(factor)))
    side = Interval(None, 0) if is_upper else Interval(0, None)
    return bare((forms.variable(names[0]) - end, side))


def interval_within(form: Form, interval: Interval, values: Interval) -> Interval:
    """The interval of a constraint that ends where the values of its form do.

    Over parameters an end that is implied stays open: ``d0 - N in [-inf, -1]`` is the bound
    ``d0 in [0, N - 1]``, whatever the greatest ``N`` is.
    """
    both = interval.intersect(values)
    return interval if has_parameters(form) and not both.is_point else both


def _text_rank(form: Form) -> tuple[int, int]:
    bare = form.plus_constant(-form.constant)
    return forms.cost_of_form(bare), sum(factor < 0 for factor in bare.terms.values())


# Laws of constraints: each gives what can replace a fact, or nothing.


def _primitive(form: Form, ends: Range, values: Range) -> Fact | None:
    """``k*A + c`` in ``[l, u]`` is ``A`` in ``[(l - c) ceildiv k, (u - c) floordiv k]``, ``k > 0``.

    For ``k < 0`` the ends are swapped. An end that the values never pass is open; if both ends are,
    nothing is left.
    """
    lower = forms.NEGATIVE_INFINITY if values[0] >= ends[0] else ends[0]
    upper = forms.INFINITY if values[1] <= ends[1] else ends[1]
    is_implied = lower == forms.NEGATIVE_INFINITY and upper == forms.INFINITY
    return None if is_implied else Fact.of(form, (lower, upper))


def _smaller(scope: Scope, fact: Fact) -> list[_Limited]:
    """The result of the first law that applies."""
    return (
        _compared(scope, fact)
        or [*islice(fact.numerators(), 1)]
        or _numerator_of_symbolic(scope, fact)
        or _high_part(scope, fact)
        or _branches(fact, where_all=True)
        or only_branch(scope, fact)
    )


def _compared(scope: Scope, fact: Fact) -> list[_Limited]:
    """The comparison itself, for a condition that must be 1 or 0: ``(x == 5) in [1, 1]``."""
    atom = next(iter(fact.form.terms), None)
    if len(fact.form.terms) != 1 or atom is None or atom.kind not in forms.CONDITIONS:
        return []
    values = Interval.from_range(scope.range_of(fact.form))
    told = forms.read_fact(fact.form, Interval.from_range(fact.ends).intersect(values))
    if any(form == fact.form for form, _ in told):
        return []
    return [(scope.canonical(form), interval.ends) for form, interval in told]


def _numerator_of_symbolic(scope: Scope, fact: Fact) -> list[_Limited]:
    """``A floordiv B + C`` in ``[l, u]`` is ``(l - C)*B <= A < (u + 1 - C)*B``, where ``B > 0``."""
    for atom, factor in fact.form.terms.items():
        if atom.kind is not AtomKind.QUOTIENT or factor not in (1, -1):
            continue
        dividend, divisor = atom.arguments
        if scope.range_of(divisor)[0] < 1:
            continue
        lower, upper = fact.ends if factor > 0 else (-fact.ends[1], -fact.ends[0])
        rest = fact.form.without(atom).times(factor)
        return [
            (scope.canonical(dividend + forms.product((rest - end, divisor))), side)
            for end, side in (
                (lower, (0, forms.INFINITY)),
                (upper + 1, (forms.NEGATIVE_INFINITY, -1)),
            )
            if isinstance(end, int)
        ]
    return []


def _high_part(scope: Scope, fact: Fact) -> list[_Limited]:
    """``g*A + B`` in ``[l, u]`` is ``A`` in ``[p, q]``, where the value of ``B`` does not matter.

    That is, where ``(l - B) ceildiv g`` is ``p`` and ``(u - B) floordiv g`` is ``q`` for all values
    of ``B``: the interval ends at multiples of ``g``, and what is below is a digit.
    """
    view = scope.view(fact.form)
    for weight in sorted({abs(weight) for weight, _ in view.units} - {1}, reverse=True):
        parts = ((factor, unit.value) for factor, unit in view.units if factor % weight == 0)
        high = forms.weighted_sum(parts)
        low = fact.form.plus(high, -1)
        least, most = scope.range_of(low)
        first = [-(-(fact.ends[0] - end) // weight) for end in (least, most)]
        last = [(fact.ends[1] - end) // weight for end in (least, most)]
        if first[0] == first[1] and last[0] == last[1]:
            return [(high.exactly_divided(weight), (first[0], last[0]))]
    return []


def _branches(fact: Fact, *, where_all: bool) -> list[_Limited]:
    """``max(A, B) + C`` is at most ``u`` where ``A + C`` and ``B + C`` are; likewise a minimum.

    Where not all but any of them have to be, it is at least ``l``.
    """
    is_open = fact.ends[0] == forms.NEGATIVE_INFINITY, fact.ends[1] == forms.INFINITY
    for atom, factor in fact.form.terms.items():
        if atom.kind is AtomKind.MAX and is_open[(factor < 0) is where_all]:
            return [(branch, fact.ends) for branch in forms.branches(fact.form, atom)]
    return []


def only_branch(scope: Scope, fact: Fact) -> list[_Limited]:
    """``max(A, B) + C`` is at least ``l`` where ``A + C`` is, if ``B + C`` never is.

    Likewise a minimum is at most ``u``.
    """
    lower, upper = fact.ends
    ranges = [(each, scope.range_of(each[0])) for each in _branches(fact, where_all=False)]
    reaching = [each for each, ends in ranges if ends[1] >= lower and ends[0] <= upper]
    return reaching if len(reaching) == 1 else []


def connected(constraints: Iterable[Constraint]) -> list[list[Constraint]]:
    """The constraints in groups that share no variable: each group is a problem by itself."""
    return connected_components(constraints, lambda pair: forms.variables_of((pair[0],)))


# The simplifier's view of a domain.


def scope_with_facts(domain: Domain) -> Scope:
    """The scope of the domain's bounds and constraints."""
    return scope_within(domain, domain.constraints)


def scope_within(domain: Domain, constraints: tuple[Constraint, ...]) -> Scope:
    """The scope of the domain's bounds and of some constraints."""
    bounds = tuple(domain.bounds.items())
    # Without constraints it is the one that every scope with some begins with.
    return forms.scope_of(bounds, constraints) if constraints else forms.scope_of(bounds)


# Questions that are asked once for all that differ in names alone: along the layers of a model the
# same constraints come again, on variables of other numbers.

MAX_REMEMBERED: Final = 1 << 12
"""Groups of constraints that are remembered: a model has some hundred different ones."""


class Renumbered(NamedTuple):
    """Constraints and forms on variables that count from 0 in each role, with no others between.

    ``names`` has the variables that these stand for, which have the same order.
    """

    domain: Domain
    forms: tuple[Form, ...]
    names: Mapping[str, Form]


def renumbered(domain: Domain, constraints: Sequence[Constraint], *others: Form) -> Renumbered:
    """Some constraints of a domain and some forms, on variables of their own."""
    used = frozenset(forms.variables_of((*(form for form, _ in constraints), *others)))
    roles = [[name for name in role if name in used] for role in domain.by_role(domain.identifiers)]
    bare = domain.over(*([Variable(domain.bounds[name]) for name in role] for role in roles))
    pairs = [*zip(chain(*roles), bare.identifiers, strict=True)]
    own = {old: forms.variable(new) for old, new in pairs if old != new}
    limited = bare.with_constraints(substituted_constraints(constraints, own))
    names = {new: forms.variable(old) for old, new in pairs if old != new}
    return Renumbered(limited, tuple(forms.substitute(others, own)), names)


class PreservedVariables(NamedTuple):
    """Variables of one value that stay in sight instead of being replaced by it.

    To the simplifier each of them is an opaque term with a known range: laws apply to it, but it
    stays a term. ``terms`` has these by identifier, ``facts`` their ranges.
    """

    terms: Mapping[str, Form]
    facts: tuple[Constraint, ...]

    @classmethod
    def of(cls, domain: Domain, *, are_wanted: bool) -> PreservedVariables:
        """The opaque terms for all variables of a domain that have one value, if wanted."""
        known = domain.bounds.items() if are_wanted else ()
        points = [(name, bounds) for name, bounds in known if bounds.is_point]
        terms = {name: forms.opaque(name) for name, _ in points}
        return cls(terms, tuple((terms[name], bounds) for name, bounds in points))

    def hidden(self, constraints: Iterable[Constraint]) -> tuple[Constraint, ...]:
        """Constraints with the terms in place of the variables."""
        if not self.terms:
            return tuple(constraints)
        return tuple(substituted_constraints(constraints, self.terms))

    def shown(self, constraints: Iterable[Constraint]) -> tuple[Constraint, ...]:
        """Constraints with the variables in place of the terms."""
        return tuple((self.form_shown(form), interval) for form, interval in constraints)

    def form_hidden(self, form: Form) -> Form:
        """The form with the terms in place of the variables."""
        return forms.substitute((form,), self.terms)[0] if self.terms else form

    def form_shown(self, form: Form) -> Form:
        """The form with the variables in place of the terms."""
        return forms.replace(form, self._variables) if self.terms else form

    @property
    def _variables(self) -> dict[Atom, Form]:
        return {next(iter(term.terms)): forms.variable(name) for name, term in self.terms.items()}


NONE_PRESERVED: Final = PreservedVariables({}, ())


# Constraints on remainders: the residues that they leave a form.
#
# Residues of one form by several divisors are combined by the Chinese remainder theorem.


@dataclass(frozen=True, slots=True)
class Residues:
    """``form mod modulus`` is one of ``count`` consecutive residues from ``first`` on, cyclically.

    The form has no constant, and ``count`` is less than the modulus; it is 0 for a contradiction.
    """

    form: Form
    modulus: int
    first: int
    count: int

    @classmethod
    def of(cls, scope: Scope, fact: Fact) -> Residues | None:
        """The residues that a fact about a single digit leaves.

        ``(A floordiv g) mod n`` in ``[l, u]`` is ``A mod (g*n)`` in ``[g*l, g*u + g - 1]``.
        """
        view = scope.view(fact.form)
        if len(view.units) != 1 or (quotient := view.units[0][1].quotient) is None:
            return None
        weight, digit = view.units[0]
        # The form is primitive: the weight is 1 or -1.
        lower, upper = ((end - view.constant) * weight for end in fact.ends[::weight])
        values = Interval.from_range((lower, upper)).intersect(Interval(0, digit.radix - 1))
        if values.is_empty or values.lower is None or values.upper is None:
            return None
        group = quotient.divisor // digit.radix
        first = group * values.lower - quotient.numerator.constant
        form = quotient.numerator.plus_constant(-quotient.numerator.constant)
        count = group * (values.upper - values.lower + 1)
        return cls(form, quotient.divisor, first % quotient.divisor, count).scaled()

    def __contains__(self, value: int) -> bool:
        return (value - self.first) % self.modulus < self.count

    @property
    def is_single(self) -> bool:
        """Whether one residue is left."""
        return self.count == 1

    @property
    def last(self) -> int:
        """The last residue, counted on from the first."""
        return self.first + self.count - 1

    @property
    def cost(self) -> int:
        """The cost of the constraint."""
        return forms.cost_of_form(self.constraint[0])

    @property
    def constraint(self) -> Constraint:
        """The residues as a constraint; if they wrap around 0, a constant is added."""
        start = self.first if self.last < self.modulus else 0
        form = self.form.plus_constant((start - self.first) % self.modulus)
        remainder = forms.mod(form, forms.constant(self.modulus))
        return remainder, Interval(start, start + self.count - 1)

    def constraint_within(self, values: Range) -> Constraint:
        """The constraint on a form with these values: an interval of it if that says the same."""
        lower, upper = self.within(values)
        if isinstance(lower, Infinity) or isinstance(upper, Infinity):
            return self.constraint
        are_neighbours = (lower - self.first) % self.modulus + upper - lower < self.count
        return (self.form, Interval(lower, upper)) if are_neighbours else self.constraint

    def from_value(self, value: int) -> int:
        """The least number with such a residue that is not less than a value."""
        ahead = (self.first - value) % self.modulus
        return value if value in self else value + ahead

    def to_value(self, value: int) -> int:
        """The greatest number with such a residue that is not greater than a value."""
        return value if value in self else value - (value - self.last) % self.modulus

    def scaled(self) -> Residues:
        """The same constraint on the cheapest multiple: ``b*A = r`` is ``A = r/b`` modulo ``c``.

        Only a single residue can be multiplied, by a number that has an inverse.
        """
        if not self.is_single or self.form.single_variable():
            return self
        units = [factor for factor in self.form.terms.values() if gcd(factor, self.modulus) == 1]
        inverses = [pow(sign * unit, -1, self.modulus) for unit in units for sign in (1, -1)]
        return min((self, *map(self._times, inverses)), key=Residues._rank)

    def _rank(self) -> tuple[object, ...]:
        factors = [*self.form.terms.values()]
        negative = sum(factor < 0 for factor in factors)
        return forms.cost_of_form(self.form), negative, factors[0] < 0, self.form.order

    def _times(self, unit: int) -> Residues:
        form = _symmetric(self.form.times(unit), self.modulus)
        return Residues(form, self.modulus, self.first * unit % self.modulus, 1)

    def negated(self) -> Residues:
        """The same constraint on the negative form."""
        return Residues(-self.form, self.modulus, -self.last % self.modulus, self.count)

    def modulo(self, modulus: int) -> Residues:
        """The residues by a divisor of the modulus."""
        return Residues(self.form, modulus, self.first % modulus, min(self.count, modulus))

    def about(self, form: Form) -> Residues | None:
        """The same constraint on a form that is congruent to this one or its negative."""
        if form.terms.keys().isdisjoint(self.form.terms):
            return None
        for each in (self, self.negated()):
            if _are_congruent(form, each.form, self.modulus):
                return replace(each, form=form)
        return None

    def within(self, ends: Range) -> Range:
        """The ends of an interval of the form, moved inwards to numbers with such residues."""
        lower, upper = ends
        if not isinstance(lower, Infinity):
            lower = self.from_value(lower)
        if not isinstance(upper, Infinity):
            upper = self.to_value(upper)
        return lower, upper


def _symmetric(form: Form, modulus: int) -> Form:
    """The form modulo a number, with coefficients as near to 0 as can be and no constant."""
    half = (modulus - 1) // 2
    terms = {atom: (value + half) % modulus - half for atom, value in form.terms.items()}
    return Form(0, {atom: value for atom, value in terms.items() if value})


def _are_congruent(left: Form, right: Form, modulus: int) -> bool:
    return not _symmetric(left.plus(right, -1), modulus).terms


# Several residues.


def merged(residues: Iterable[Residues]) -> list[Residues] | None:
    """Fewer constraints that say the same, in normal order; ``None`` for a contradiction."""
    pending = sorted(set(residues), key=_order, reverse=True)
    done: list[Residues] = []
    while pending:
        one = pending.pop()
        if one.count == 0:
            return None
        for other in done:
            combined = _combined(one, other)
            if combined is not None:
                done.remove(other)
                pending += combined
                break
        else:
            done.append(one)
    return sorted(done, key=_order)


def _order(one: Residues) -> tuple[object, ...]:
    return one.modulus, one.form.order, one.first, one.count


def _combined(one: Residues, other: Residues) -> list[Residues] | None:
    """Fewer or smaller residues that say the same as these two; ``None`` if none are found."""
    if one.is_single and other.is_single:
        return _by_chinese_remainders(one, other) or _by_chinese_remainders(one, other.negated())
    if one.form == other.form:
        return _intersected(one, other) or _intersected(other, one)
    return None


def _by_chinese_remainders(one: Residues, other: Residues) -> list[Residues] | None:
    """``A`` modulo ``b`` and ``A`` modulo ``c`` are ``A`` modulo their least common multiple.

    ``A`` need not be the same form, only the same modulo ``b`` here, and modulo ``c`` there.
    """
    common, modulus = gcd(one.modulus, other.modulus), lcm(one.modulus, other.modulus)
    ours, theirs = one.form.terms, other.form.terms
    are_alike = ours.keys() == theirs.keys()
    if not (are_alike or common > 1) or not _are_congruent(one.form, other.form, common):
        return None
    if (one.first - other.first) % common:
        return [replace(one, count=0)]
    if not are_alike and modulus not in (one.modulus, other.modulus):
        return None
    inverse = pow(one.modulus // common, -1, other.modulus // common)

    def meet(here: int, there: int) -> int:
        return here + (there - here) // common * inverse * one.modulus

    terms = {atom: meet(ours.get(atom, 0), theirs.get(atom, 0)) for atom in ours | theirs}
    form = _symmetric(Form(0, forms.in_order(terms)), modulus)
    both = Residues(form, modulus, meet(one.first, other.first) % modulus, 1).scaled()
    return [both] if both.cost < one.cost + other.cost else None


def _intersected(one: Residues, other: Residues) -> list[Residues] | None:
    """The first without the values that the other excludes at its ends; one if that is enough."""
    common = gcd(one.modulus, other.modulus)
    known = other.modulo(common)
    if known.count == common:
        return None
    first, last = known.from_value(one.first), known.to_value(one.last)
    left = replace(one, first=first % one.modulus, count=max(last - first + 1, 0))
    if known.from_value(last + 1) >= first + one.modulus:
        return [other]
    if other.modulus == common and (first - known.first) % common + left.count <= known.count:
        return [left]
    return None if left == one else [left, other]


# Tightens a domain: bounds and constraints sharpen each other until nothing changes.
#
# Plain arithmetic comes first: most constraints of everyday maps need no law of the simplifier.

_MAX_ROUNDS: Final = 16
"""Rounds in which bounds and constraints sharpen each other: most domains need two or three."""


def simplified_domain(domain: Domain, *, preserve_size_one: bool = False) -> Domain:
    """The same points with sharper bounds, and few constraints in normal shape.

    Some constraints sharpen each other in many small steps, such as ``a < b < c < d < a``. If there
    is no fixpoint after a few rounds, these rounds count for nothing: the result must not depend on
    where they stop.
    """
    if not domain.constraints:
        return domain
    tightened = _tightened(domain, preserve_size_one=preserve_size_one)
    opened = with_open_ends(tightened)
    if opened is tightened:
        return tightened
    return simplified_domain(opened, preserve_size_one=preserve_size_one)


def _tightened(domain: Domain, *, preserve_size_one: bool) -> Domain:
    domain = with_bounds_of_constraints(domain)
    is_plain = not (preserve_size_one or domain.parameters or domain.is_known_empty)
    tightened = partial(_tightened_group, preserve_size_one=preserve_size_one)
    found: list[Constraint] = []
    for group in connected(domain.constraints):
        alone = domain.with_constraints(group)
        domain = _remembered(alone) if is_plain else tightened(alone)
        found += domain.constraints
    return domain.with_constraints().constrained(found)


def _remembered(domain: Domain) -> Domain:
    """The domain of a group of constraints, tightened once for all that differ in names alone."""
    alone = renumbered(domain, domain.constraints)
    found = _tightened_alone(alone.domain)
    if found.is_known_empty:
        return domain.emptied()
    known = [*bounding(found.bounds), *found.constraints]
    limits = substituted_constraints(known, alone.names)
    return domain.with_constraints().constrained(limits)


@lru_cache(maxsize=MAX_REMEMBERED)
def _tightened_alone(domain: Domain) -> Domain:
    return _tightened_group(domain, preserve_size_one=False)


def _tightened_group(domain: Domain, *, preserve_size_one: bool) -> Domain:
    domain = without_implied(domain)
    if not domain.constraints:
        return domain
    found = _fixpoint(domain, preserve_size_one=preserve_size_one)
    return found or _normalized(domain, preserve_size_one=preserve_size_one)


def _fixpoint(domain: Domain, *, preserve_size_one: bool) -> Domain | None:
    """Bounds, each constraint, and all of them together; ``None`` after too many rounds."""
    before = final = None
    alone = domain
    for _ in range(_MAX_ROUNDS):
        tightened = _with_sharper_bounds(domain)
        if tightened != before:
            before = tightened
            alone = _normal(tightened, preserve_size_one=preserve_size_one)
        if alone == final:
            return alone
        together = without_redundancy(alone, preserve_size_one=preserve_size_one)
        if together == domain:
            return domain
        # Constraints that do not change together need not be compared again.
        final = alone if together == alone else None
        domain = together
    return None


def _normalized(domain: Domain, *, preserve_size_one: bool) -> Domain:
    """Each constraint for itself, and the bounds that follow."""
    for _ in range(_MAX_ROUNDS):
        following = _normal(domain, preserve_size_one=preserve_size_one)
        if following == domain:
            break
        domain = following
    return domain


def _with_sharper_bounds(domain: Domain) -> Domain:
    """The domain with the bounds of variables that follow from the constraints."""
    if not domain.constraints or domain.is_known_empty:
        return domain
    scope = scope_with_facts(domain)
    if scope.is_empty:
        return domain.emptied()
    narrowed = {name: sharp for name, sharp in scope.bounds.items() if domain.bounds[name] != sharp}
    for name, side, _ in symbolic_ends(domain) if domain.parameters else ():
        if name in narrowed:  # an expression over parameters stays the end
            narrowed[name] = _without_end(narrowed[name], side)
    return domain.constrained(bounding(narrowed)) if narrowed else domain


def with_open_ends(domain: Domain) -> Domain:
    """The same points; a number is no end where one over parameters is no farther.

    ``d0 in [0, min(K - 1, 2)]`` is ``d0 in [0, K - 1]`` if ``K in [0, 3]``.
    """
    if not domain.parameters or domain.is_known_empty:
        return domain
    scope = scope_within(domain, domain.constraints_among(domain.parameter_identifiers))
    bounds: dict[str, Interval] = {}
    for name, side, end in symbolic_ends(domain):
        values = Interval.from_range(scope.range_of(scope.canonical(end)))
        beyond = _without_end(values, "upper" if side == "lower" else "lower")
        opened = without_implied_ends(domain.bounds[name], beyond)
        if opened != domain.bounds[name]:
            bounds[name] = opened
    return with_open_ends(domain.with_bounds(bounds, domain.constraints)) if bounds else domain


def _without_end(bounds: Interval, side: str) -> Interval:
    return Interval(None, bounds.upper) if side == "lower" else Interval(bounds.lower, None)


# Each constraint for itself, and remainders of one form together.


def _normal(domain: Domain, *, preserve_size_one: bool) -> Domain:
    """Constraints in normal shape without those that bounds imply; remainders are merged."""
    if not domain.constraints or domain.is_known_empty:
        return domain
    preserved = PreservedVariables.of(domain, are_wanted=preserve_size_one)
    scope = scope_within(domain, preserved.facts)
    remainders: list[Residues] = []
    others: list[Constraint] = []
    for constraint in preserved.hidden(domain.constraints):
        facts = normal(scope, constraint)
        if facts is None:
            return domain.emptied()
        read = [(fact, Residues.of(scope, fact)) for fact in facts]
        residues = [each for _, each in read if each is not None]
        rest = [extracted(scope, fact) for fact, each in read if each is None]
        is_costlier = _cost([*(each.constraint for each in residues), *rest]) > _cost([constraint])
        is_costlier &= not any(map(limited_variable, rest))  # it reads as an end
        remainders += () if is_costlier else residues
        others += [_in_given_shape(scope, constraint)] if is_costlier else rest
    left = merged(remainders)
    if left is None:
        return domain.emptied()
    written = [each.constraint_within(scope.range_of(each.form)) for each in left]
    if left:
        limits = (*bounding(domain.bounds), *others)
        others = [_ending_at(left, constraint) for constraint in limits]
    shown = preserved.shown([*written, *others])
    return domain.with_constraints().constrained(map(turned_to_variable, shown))


def _cost(constraints: Iterable[Constraint]) -> int:
    return sum(forms.cost_of_form(form) for form, _ in constraints)


def _in_given_shape(scope: Scope, constraint: Constraint) -> Constraint:
    """The constraint in the shape that it has, because normal shape costs more."""
    form = forms.simplified(scope, constraint[0])
    interval = interval_within(form, constraint[1], forms.range_of(scope, form))
    return form.plus_constant(-form.constant), interval - form.constant


def _ending_at(remainders: list[Residues], constraint: Constraint) -> Constraint:
    """The constraint with an interval that ends at numbers with these remainders."""
    form, interval = constraint
    for each in remainders:
        said = None if interval.is_empty else each.about(form)
        if said is not None:
            interval = Interval.from_range(said.within(interval.ends))
    return form, interval


# By plain arithmetic.


def with_bounds_of_constraints(domain: Domain) -> Domain:
    """The same points with bounds in place of constraints on ``k*x + c`` or a quotient of it."""
    limits = [_bound_of(constraint) for constraint in domain.constraints]
    if not any(limits):
        return domain
    pairs = zip(domain.constraints, limits, strict=True)
    others = (constraint for constraint, limit in pairs if limit is None)
    return domain.with_constraints(others).constrained(filter(None, limits))


def _bound_of(constraint: Constraint) -> Constraint | None:
    form, interval = constraint
    fact = None if interval.is_empty else Fact.of(form, interval.ends)
    while fact is not None and len(fact.form.terms) == 1:
        if fact.form.is_affine:
            return fact.form, Interval.from_range(fact.ends)
        following = next(fact.numerators(), None)
        fact = Fact.of(*following) if following else None
    return None


def without_implied(domain: Domain) -> Domain:
    """The same points without constraints that the bounds imply."""
    if domain.is_known_empty:
        return domain
    left: list[Constraint] = []
    for form, interval in domain.constraints:
        values = _values(domain, form)
        if interval.intersect(values).is_empty:
            return domain.emptied()
        if not interval.contains(values):
            left.append((form, interval))
    return domain if len(left) == len(domain.constraints) else domain.with_constraints(left)


def _values(domain: Domain, form: Form) -> Interval:
    """An interval that holds the form, by bounds alone."""
    if form.is_affine:
        ranges = {atom: domain.bounds[atom.name].ends for atom in form.terms}
        return Interval.from_range(forms.term_by_term(ranges, form))
    scope = scope_within(domain, ())
    if any(atom.kind in forms.CONDITIONS for atom in form.terms):
        return forms.range_of(scope, form)
    return Interval.from_range(scope.range_of(scope.canonical(form)))


# Constraints that others imply.

_MAX_COMPARED: Final = 12
"""Constraints that share variables are compared with all others: time grows with the square."""

_MAX_COST_COMPARED: Final = 200
"""The cost of all of them: long ones take longer, as facts and as forms."""


def without_redundancy(domain: Domain, *, preserve_size_one: bool) -> Domain:
    """The domain without implied constraints, and each other as small as the rest allows.

    The costliest constraint is looked at first.
    """
    if len(domain.constraints) <= 1 or domain.is_known_empty:
        return domain
    preserved = PreservedVariables.of(domain, are_wanted=preserve_size_one)
    left: list[Constraint] = []
    for group in connected(preserved.hidden(domain.constraints)):
        if 1 < len(group) <= _MAX_COMPARED and _cost(group) <= _MAX_COST_COMPARED:
            needed = _needed(domain, group, preserved.facts)
            if needed is None:
                return domain.emptied()
            left += needed
        else:
            left += group
    return domain.with_constraints().constrained(preserved.shown(left))


def _needed(
    domain: Domain, group: list[Constraint], facts: tuple[Constraint, ...]
) -> list[Constraint] | None:
    """The constraints of the group that are needed; ``None`` if it contradicts itself."""
    left = sorted(group, key=lambda each: (forms.cost_of_form(each[0]), each[0].order))
    for constraint in left[::-1]:
        index = left.index(constraint)
        others = _comparable(constraint, left[:index] + left[index + 1 :])
        scope = scope_within(domain, (*facts, *others))
        if scope.is_empty:
            return None
        left[index : index + 1] = _beside_others(scope, constraint)
    return left


def _comparable(constraint: Constraint, others: list[Constraint]) -> tuple[Constraint, ...]:
    """The constraints that may imply another one.

    The bounds of a variable stay, whatever follows from constraints with other variables: so an end
    over parameters is compared only with what is on the same variable, and on parameters alone.
    """
    limited = limited_variable(constraint)
    if limited is None:
        return tuple(others)
    return tuple(
        other
        for other in others
        if all(name == limited or name[0] == PARAMETER for name in forms.variables_of(other[:1]))
    )


def _beside_others(scope: Scope, constraint: Constraint) -> list[Constraint]:
    """The constraint where the others hold; nothing if they imply it."""
    form, interval = constraint
    values = forms.range_of(scope, form)
    if interval.contains(values):
        return []
    smaller = forms.simplified(scope, form)
    if forms.cost_of_form(smaller) >= forms.cost_of_form(form):
        smaller = form
    return [(smaller, interval_within(smaller, interval, values))]


# Conditions on parameters, written as a reader expects them when a map is made.
#
# They are not sharpened as in a simplified map: `M == N floordiv 2` is not `N - M * 2 in [0, 1]`.


def conditioned(domain: Domain, conditions: Iterable[Constraint]) -> Domain:
    """The domain where conditions hold as well, in their shape of least cost.

    Two that say the same are one, ``M - N`` and ``N - M``; what bounds decide is left out.
    """
    limited = with_bounds_of_constraints(domain.with_constraints().constrained(conditions))
    if limited.is_known_empty:
        return domain.emptied()
    scope = scope_within(limited, ())
    shaped = [_shaped(scope, each) for each in limited.constraints]
    limited = with_bounds_of_constraints(limited.with_constraints().constrained(shaped))
    scope = scope_within(limited, ())
    given = [each for known in domain.constraints for each in _decided(scope, known)]
    return with_open_ends(without_implied(limited.constrained(given)))


def _decided(scope: Scope, constraint: Constraint) -> list[Constraint]:
    """The limits of a variable in place of one by extrema, if parameters decide these."""
    if not (_has_extrema(constraint) and limited_variable(constraint)):
        return [constraint]
    limits = [extracted(scope, fact) for fact in normal(scope, constraint) or ()]
    return [constraint] if any(map(_has_extrema, limits)) else limits or [constraint]


def _has_extrema(constraint: Constraint) -> bool:
    return any(atom.kind in forms.EXTREMA for atom in constraint[0].terms)


def _shaped(scope: Scope, constraint: Constraint) -> Constraint:
    """The constraint in its shape of least cost; quotients stay as they are."""
    form, interval = scope.canonical(constraint[0]), constraint[1]
    fact = Fact.of(form, interval.ends)
    if fact is None:
        return form, interval
    for branch, ends in only_branch(scope, fact):
        fact = Fact.of(branch, ends) or fact
    return extracted(scope, fact)
