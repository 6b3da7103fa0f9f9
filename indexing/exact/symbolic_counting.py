"""Counts points as expressions over parameters: ``d0 in [0, N - 1]`` has ``N``.

Variables that share a constraint are counted together, as :mod:`indexing.exact.symbolic_sums` does;
the numbers of groups that share none are multiplied.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import sympy

from indexing.errors import MapError
from indexing.exact.symbolic_sums import (
    NoClosedFormError,
    Points,
    UnboundedError,
    is_size,
    positional,
    sums,
)
from indexing.parameters import parameter_identifier
from indexing.relation import Relation
from indexing.simplify import simplified
from simplifier import Interval
from simplifier.canonical.scope import scope_of
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.printer import format_form
from simplifier.expr.sympy_reading import read_whole
from simplifier.expr.sympy_writing import to_sympy
from simplifier.fixpoint import simplified as simplified_form
from simplifier.tools.disjoint_set import united

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from indexing.domain import Constraint, Domain
    from indexing.exact.symbolic_sums import Sum
    from indexing.variable import Variable
    from simplifier.canonical.scope import Scope
    from simplifier.expr.form import Form


def symbolic_count(pieces: Iterable[Domain], parameters: Sequence[Variable]) -> sympy.Expr | int:
    """The number of points of disjoint domains: an expression over parameters, or a number.

    It holds for all values within the bounds of the parameters; where a condition on them does not
    hold, it is zero.

    Proof. A simplified domain has the points of the domain. For each value of the parameters it is
    a product of sets that share no variable. Such a set is a sum of sums over one variable each.
    The sum of a polynomial is Faulhaber's, which also holds for no value at all; a size that may be
    less than that becomes a condition. Where simplification has narrowed a parameter, the domain
    has no points for what it left out: a size is zero there, or the bound becomes a condition.

    Raises:
        MapError: naming a variable that is not bounded, or a constraint that has no such form.
    """
    total = forms.ZERO
    for piece in pieces:
        simplest = simplified(Relation.from_forms((), piece), preserve_ranges=True)
        if not simplest.is_known_empty:
            total += _Groups(parameters, simplest.domain).number()
    names = {parameter_identifier(each.name): forms.variable(each.name) for each in parameters}
    (named,) = operations.substitute((simplified_form(_scope(parameters), total),), names)
    return named.constant if named.is_constant else to_sympy(named)


class _Groups:
    """The points of a simplified domain, for parameters within their given bounds."""

    def __init__(self, parameters: Sequence[Variable], domain: Domain) -> None:
        known = domain.parameter_identifiers
        self._given = parameters
        self._domain = domain
        self._variables = [name for name in domain.identifiers if name not in known]
        self._on_parameters = [each for each in domain.constraints if not positional(each[0])]
        self._others = [each for each in domain.constraints if positional(each[0])]

    def number(self) -> Form:
        """How many there are."""
        groups = [self._sums(group) for group in self._groups()]
        whole = forms.constant(1)
        for each in groups:
            whole = operations.product((whole, sum(map(self._total, each), forms.ZERO)))
        conditions = [
            *(holds for limit in self._on_parameters for holds in _conditions(limit)),
            *self._narrowed([[each.size for each in group] for group in groups]),
        ]
        return operations.select(operations.conjunction(conditions), whole, forms.ZERO)

    def _groups(self) -> Iterator[list[str]]:
        """The variables that depend on each other, in order of declaration."""
        alone = ({name} for name in self._variables)
        together = (positional(form) for form, _ in self._others)
        for group in sorted(map(self._in_order, united([*alone, *together]))):
            yield [self._variables[place] for place in group]

    def _in_order(self, group: Iterable[str]) -> list[int]:
        return sorted(map(self._variables.index, group))

    def _sums(self, group: Sequence[str]) -> list[Sum]:
        """What the values of these variables add up to."""
        bounds = {name: self._domain.bounds[name] for name in group}
        limits = (limit for limit in self._others if positional(limit[0]) <= bounds.keys())
        try:
            return sums(Points(bounds, tuple(limits)), self._known)
        except UnboundedError as error:
            shown = self._shown(str(error), group)
            raise MapError(f"count: {shown} is not bounded") from None
        except NoClosedFormError:
            raise self._objection(group) from None

    def _known(self, bounds: Iterable[tuple[str, Interval]], limits: Iterable[Constraint]) -> Scope:
        """What is known of the parameters and some variables."""
        return _scope(self._given, bounds, (*self._on_parameters, *limits))

    def _total(self, one: Sum) -> Form:
        """What a sum over parameters alone comes to: zero if the size is negative."""
        within = self._known((), one.conditions)
        least = is_size(within, one.size)
        if one.each == sympy.Integer(1):
            whole = one.size if least else operations.maximum((forms.ZERO, one.size))
        else:
            whole = _form_of(one.polynomial)
            if not least:
                whole = operations.select(operations.nonnegative(one.size), whole, forms.ZERO)
        holds = [each for limit in one.conditions for each in _conditions(limit)]
        whole = simplified_form(within, whole)
        guarded = operations.select(operations.conjunction(holds), whole, forms.ZERO)
        return simplified_form(self._known((), ()), guarded)

    def _shown(self, name: str, group: Sequence[str]) -> str:
        """The name of a variable; those of its group if it is a quotient."""
        asked = [name] if name in group else group
        return ", ".join(self._domain.names[self._domain.identifiers.index(each)] for each in asked)

    def _narrowed(self, groups: Sequence[Sequence[Form]]) -> Iterator[Form]:
        """The conditions that parameters are in what simplification left of their bounds.

        There is none for what was left out if all sizes of a group are zero there anyhow.
        """
        pairs = zip(self._given, self._domain.parameters, strict=True)
        for number, (before, after) in enumerate(pairs):
            for left_out in _left_out(before.bounds, after.bounds):
                others = [*self._given]
                others[number] = before.within(left_out)
                scope = _scope(others, (), tuple(self._on_parameters))
                if not any(all(_is_none(scope, size) for size in sizes) for sizes in groups):
                    parameter = forms.variable(parameter_identifier(before.name))
                    yield from _conditions((parameter, after.bounds))

    def _objection(self, left: Sequence[str]) -> MapError:
        known = {*left}
        form = next(form for form, _ in self._others if known & positional(form))
        text = format_form(self._domain.named(form))
        expected = "expected bounds, strides and sums; put numbers for all parameters"
        message = f"count: the points that meet a constraint on {text} have no closed form here"
        return MapError(f"{message}; {expected}, see substitute()")


def _is_none(within: Scope, size: Form) -> bool:
    """Whether a size is known to be zero or less."""
    return within.range_of(within.canonical(size))[1] <= 0


def _form_of(polynomial: sympy.Expr) -> Form:
    """A polynomial with rational factors and integer values."""
    numerator, denominator = sympy.fraction(sympy.together(polynomial))
    form, _ = read_whole(sympy.expand(numerator))
    divisor = int(denominator)
    return form if divisor == 1 else operations.floordiv(form, forms.constant(divisor))


def _conditions(limit: Constraint) -> Iterator[Form]:
    """Whether a form lies in an interval, as one condition or two."""
    form, interval = limit
    if interval.is_point:
        yield operations.zero(form - (interval.lower or 0))
        return
    if interval.lower is not None:
        yield operations.nonnegative(form - interval.lower)
    if interval.upper is not None:
        yield operations.nonnegative(forms.constant(interval.upper) - form)


def _left_out(before: Interval, after: Interval) -> Iterator[Interval]:
    """The values of the first interval below and above the second one."""
    if after.lower is not None and before.lower != after.lower:
        yield Interval(before.lower, after.lower - 1)
    if after.upper is not None and before.upper != after.upper:
        yield Interval(after.upper + 1, before.upper)


def _scope(
    parameters: Sequence[Variable],
    bounds: Iterable[tuple[str, Interval]] = (),
    limits: Iterable[Constraint] = (),
) -> Scope:
    """What is known of parameters and other variables."""
    of_parameters = ((parameter_identifier(each.name), each.bounds) for each in parameters)
    return scope_of((*bounds, *of_parameters), tuple(limits))
