"""One constraint in normal shape: equal constraints become the same constraint.

A constraint says that a form lies in an interval. In normal shape

* the form is canonical and primitive: no constant, no common factor, a positive first coefficient;
* the form is no quotient, and has no low-order part that cannot change the answer;
* an end of the interval that the bounds imply is open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, cast

from indexing.domain import bare, substituted_constraints
from indexing.parameters import PARAMETER, has_parameters
from simplifier import Interval, symbol
from simplifier.bounds.branches import branches
from simplifier.bounds.context import Fact
from simplifier.bounds.facts import read_fact
from simplifier.bounds.interval import INFINITY, NEGATIVE_INFINITY, Range
from simplifier.canonical.scope import Scope, scope_of
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import CONDITIONS, EXTREMA, AtomKind, Form, weighted_sum
from simplifier.extraction.cost import cost_of_form
from simplifier.fixpoint import simplified as simplified_form
from simplifier.tools.disjoint_set import connected_components

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from indexing.domain import Constraint, Domain
    from simplifier.canonical.scope import Scope
    from simplifier.expr.form import Atom, Form


_Limited: TypeAlias = "tuple[Form, Range]"
"""A canonical form, and the ends that it lies between."""


def normal(scope: Scope, constraint: Constraint) -> list[Fact] | None:
    """The facts in normal shape that together say the same as the constraint.

    They say so within the bounds of the scope: there are none if the bounds imply the constraint,
    and ``None`` stands for a constraint that holds nowhere.
    """
    form, interval = constraint
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


def numerator(fact: Fact) -> list[_Limited]:
    """``A floordiv c + B`` in ``[l, u]`` is ``A + c*B`` in ``[c*l, c*u + c - 1]``; ``c > 0``."""
    for atom, factor in fact.form.terms.items():
        if atom.kind is AtomKind.FLOORDIV and atom.divisor > 0 and factor in (1, -1):
            lower, upper = fact.ends if factor > 0 else (-fact.ends[1], -fact.ends[0])
            rest, divisor = fact.form.without(atom).times(factor), atom.divisor
            ends = lower * divisor, upper * divisor + (divisor - 1)
            return [(rest.times(divisor).plus(atom.numerator), ends)]
    return []


def extracted(scope: Scope, fact: Fact) -> Constraint:
    """The fact as a constraint of least cost: on its form or the negative, without a constant."""
    bound = _bound_by_extremum(scope, fact)
    if bound is not None:
        return bound
    values = Interval.from_range(scope.range_of(fact.form))
    interval = interval_within(fact.form, Interval.from_range(fact.ends), values)
    same, turned = fact.form, -fact.form
    if not same.is_affine:
        same, turned = simplified_form(scope, same), simplified_form(scope, turned)
    if _text_rank(turned) < _text_rank(same):
        same, interval = turned, -interval
    return same.plus_constant(-same.constant), interval - same.constant


def _bound_by_extremum(scope: Scope, fact: Fact) -> Constraint | None:
    """A limit of one variable by extrema of parameters, as the end that it is.

    ``d0 * 3 + min(1 - N * 2, 0) in [-inf, 0]`` is ``d0 <= max(N * 2 - 1, 0) floordiv 3``.
    """
    form, interval = fact.form, Interval.from_range(fact.ends)
    names = [name for name in forms.variables_of((form,)) if name[0] != PARAMETER]
    has_extrema = any(atom.kind in EXTREMA for atom in form.terms)
    is_one_end = (interval.lower is None) != (interval.upper is None)
    if not (has_extrema and is_one_end and len(names) == 1):
        return None
    variable = forms.variable(names[0])
    factor = sum(form.terms.get(atom, 0) for atom in variable.terms)
    rest = form.plus(variable, -factor)
    if not factor or names[0] in forms.variables_of((rest,)):
        return None
    is_upper = (interval.lower is None) == (factor > 0)
    beside = ((interval.lower or interval.upper or 0) - rest).times(1 if factor > 0 else -1)
    divide = operations.floordiv if is_upper else operations.ceildiv
    end = simplified_form(scope, divide(beside, forms.constant(abs(factor))))
    return bare((variable - end, Interval(None, 0) if is_upper else Interval(0, None)))


def interval_within(form: Form, interval: Interval, values: Interval) -> Interval:
    """The interval of a constraint that ends where the values of its form do.

    Over parameters an end that is implied stays open: ``d0 - N in [-inf, -1]`` is the bound
    ``d0 in [0, N - 1]``, whatever the greatest ``N`` is.
    """
    both = interval.intersect(values)
    return interval if has_parameters(form) and not both.is_point else both


def _text_rank(form: Form) -> tuple[int, int]:
    bare = form.plus_constant(-form.constant)
    return cost_of_form(bare), sum(factor < 0 for factor in bare.terms.values())


# Laws of constraints: each gives what can replace a fact, or nothing.


def _primitive(form: Form, ends: Range, values: Range) -> Fact | None:
    """``k*A + c`` in ``[l, u]`` is ``A`` in ``[(l - c) ceildiv k, (u - c) floordiv k]``, ``k > 0``.

    For ``k < 0`` the ends are swapped. An end that the values never pass is open; if both ends are,
    nothing is left.
    """
    lower = NEGATIVE_INFINITY if values[0] >= ends[0] else ends[0]
    upper = INFINITY if values[1] <= ends[1] else ends[1]
    is_implied = lower == NEGATIVE_INFINITY and upper == INFINITY
    return None if is_implied else Fact.of(form, (lower, upper))


def _smaller(scope: Scope, fact: Fact) -> list[_Limited]:
    """What the first law gives that applies."""
    return (
        _compared(scope, fact)
        or numerator(fact)
        or _numerator_of_symbolic(scope, fact)
        or _high_part(scope, fact)
        or list(_branches(fact))
        or only_branch(scope, fact)
    )


def _compared(scope: Scope, fact: Fact) -> list[_Limited]:
    """A condition that is 1, or one that is 0, is what it compares: ``(x == 5) in [1, 1]``."""
    atom = next(iter(fact.form.terms), None)
    if len(fact.form.terms) != 1 or atom is None or atom.kind not in CONDITIONS:
        return []
    values = Interval.from_range(scope.range_of(fact.form))
    told = read_fact(fact.form, Interval.from_range(fact.ends).intersect(values))
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
        sides: list[_Limited] = []
        if lower != NEGATIVE_INFINITY:
            least = operations.product((rest - cast("int", lower), divisor))
            sides.append((scope.canonical(dividend + least), (0, INFINITY)))
        if upper != INFINITY:
            most = operations.product((rest - cast("int", upper) - 1, divisor))
            sides.append((scope.canonical(dividend + most), (NEGATIVE_INFINITY, -1)))
        return sides
    return []


def _high_part(scope: Scope, fact: Fact) -> list[_Limited]:
    """``g*A + B`` in ``[l, u]`` is ``A`` in ``[p, q]``, where the value of ``B`` does not matter.

    That is, where ``(l - B) ceildiv g`` is ``p`` and ``(u - B) floordiv g`` is ``q`` for all values
    of ``B``: the interval ends at multiples of ``g``, and what is below is a digit.
    """
    view = scope.view(fact.form)
    for weight in sorted({abs(weight) for weight, _ in view.units} - {1}, reverse=True):
        high = weighted_sum(
            (factor, unit.value) for factor, unit in view.units if factor % weight == 0
        )
        low = fact.form.plus(high, -1)
        least, most = scope.range_of(low)
        first = [-(-(fact.ends[0] - end) // weight) for end in (least, most)]
        last = [(fact.ends[1] - end) // weight for end in (least, most)]
        if first[0] == first[1] and last[0] == last[1]:
            return [(high.exactly_divided(weight), (first[0], last[0]))]
    return []


def _branches(fact: Fact) -> Iterator[_Limited]:
    """``max(A, B) + C`` is at most ``u`` where ``A + C`` and ``B + C`` are; likewise a minimum."""
    is_open = fact.ends[0] == NEGATIVE_INFINITY, fact.ends[1] == INFINITY
    for atom, factor in fact.form.terms.items():
        if atom.kind is AtomKind.MAX and is_open[factor < 0]:
            yield from ((branch, fact.ends) for branch in branches(fact.form, atom))
            return


def only_branch(scope: Scope, fact: Fact) -> list[_Limited]:
    """``max(A, B) + C`` is at least ``l`` where ``A + C`` is, if ``B + C`` never is.

    Likewise a minimum is at most ``u``.
    """
    lower, upper = fact.ends
    is_open = lower == NEGATIVE_INFINITY, upper == INFINITY
    for atom, factor in fact.form.terms.items():
        if atom.kind is AtomKind.MAX and is_open[factor > 0]:
            ranges = {branch: scope.range_of(branch) for branch in branches(fact.form, atom)}
            reaching = [
                branch
                for branch, (least, greatest) in ranges.items()
                if greatest >= lower and least <= upper
            ]
            return [(branch, fact.ends) for branch in reaching] if len(reaching) == 1 else []
    return []


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
    return scope_of(bounds, constraints) if constraints else scope_of(bounds)


class PreservedVariables(NamedTuple):
    """Variables of one value that stay in sight instead of being replaced by it.

    To the simplifier each of them is an opaque term with a known range: laws apply to it, but it
    stays a term. ``terms`` has these by identifier, ``facts`` their ranges.
    """

    terms: Mapping[str, Form]
    facts: tuple[Constraint, ...]

    @classmethod
    def of(cls, domain: Domain) -> PreservedVariables:
        """The opaque terms for all variables of a domain that have one value."""
        points = {
            identifier: bounds for identifier, bounds in domain.bounds.items() if bounds.is_point
        }
        terms = {identifier: forms.opaque(identifier, symbol(identifier)) for identifier in points}
        return cls(
            terms, tuple((terms[identifier], bounds) for identifier, bounds in points.items())
        )

    def hidden(self, constraints: Iterable[Constraint]) -> tuple[Constraint, ...]:
        """Constraints with the terms in place of the variables."""
        constraints = tuple(constraints)
        return (
            tuple(substituted_constraints(constraints, self.terms)) if self.terms else constraints
        )

    def shown(self, constraints: Iterable[Constraint]) -> tuple[Constraint, ...]:
        """Constraints with the variables in place of the terms."""
        return tuple((self.form_shown(form), interval) for form, interval in constraints)

    def form_hidden(self, form: Form) -> Form:
        """The form with the terms in place of the variables."""
        return operations.substitute((form,), self.terms)[0] if self.terms else form

    def form_shown(self, form: Form) -> Form:
        """The form with the variables in place of the terms."""
        return operations.replace(form, self._variables) if self.terms else form

    @property
    def _variables(self) -> dict[Atom, Form]:
        return {
            atom: forms.variable(identifier)
            for identifier, term in self.terms.items()
            for atom in term.terms
        }


NONE_PRESERVED: Final = PreservedVariables({}, ())
