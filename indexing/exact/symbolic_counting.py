"""Counts points as expressions over parameters: ``d0 in [0, N - 1]`` has ``N``.

Variables that share a constraint are counted together, the innermost first: how many values it has
is a polynomial in the others, and so is its sum over the next one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import sympy

from indexing.errors import MapError
from indexing.parameters import PARAMETER, parameter_identifier
from indexing.relation import Relation
from indexing.simplify import simplified
from simplifier import Interval
from simplifier.canonical.scope import scope_of
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import AtomKind
from simplifier.expr.printer import format_form
from simplifier.expr.sympy_conversion import read_whole, to_sympy
from simplifier.fixpoint import simplified as simplified_form
from simplifier.tools.disjoint_set import united

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from indexing.domain import Constraint, Domain
    from indexing.variable import Variable
    from simplifier.canonical.scope import Scope
    from simplifier.expr.form import Form


def symbolic_count(pieces: Iterable[Domain], parameters: Sequence[Variable]) -> sympy.Expr | int:
    """The number of points of disjoint domains: an expression over parameters, or a number.

    It holds for all values within the bounds of the parameters; where a condition on them does not
    hold, it is zero.

    Proof. A simplified domain has the points of the domain. For each value of the parameters it is
    a product of sets that share no variable. Such a set is counted variable by variable: each sum
    of a polynomial is Faulhaber's, which also holds for no value at all, and sizes are shown to be
    no less than that. Where simplification has narrowed a parameter, the domain has no points for
    what it left out: a size is zero there, or the bound becomes a condition.

    Raises:
        MapError: naming a variable that is not bounded, or a constraint that has no such form.
    """
    total = forms.ZERO
    for piece in pieces:
        simplest = simplified(Relation.from_forms((), piece), preserve_ranges=True)
        if not simplest.is_known_empty:
            total += _Points(parameters, simplest.domain).number()
    names = {parameter_identifier(each.name): forms.variable(each.name) for each in parameters}
    (named,) = operations.substitute((simplified_form(_scope(parameters), total),), names)
    return named.constant if named.is_constant else to_sympy(named)


_ONE: Final = sympy.Integer(1)


class _Sum(NamedTuple):
    """What is added up for each value of a variable from ``first`` to ``first + size - 1``.

    ``each`` is a polynomial in the variable, with symbols that are called like identifiers.
    """

    variable: str
    first: Form
    size: Form
    each: sympy.Expr


class _Points:
    """The points of a simplified domain, for parameters within their given bounds."""

    def __init__(self, parameters: Sequence[Variable], domain: Domain) -> None:
        known = domain.parameter_identifiers
        self._given = parameters
        self._domain = domain
        self._variables = [name for name in domain.identifiers if name not in known]
        self._on_parameters = [each for each in domain.constraints if not _positional(each[0])]
        self._others = [each for each in domain.constraints if _positional(each[0])]

    def number(self) -> Form:
        """How many there are."""
        sums = [self._outermost(group) for group in self._groups()]
        within = self._scope(())
        whole = forms.constant(1)
        for each in sums:
            whole = operations.product((whole, _total(within, each)))
        conditions = [
            *(holds for limit in self._on_parameters for holds in _conditions(limit)),
            *self._narrowed([each.size for each in sums]),
        ]
        return operations.select(operations.conjunction(conditions), whole, forms.ZERO)

    def _groups(self) -> Iterator[list[str]]:
        """The variables that depend on each other, in order of declaration."""
        alone = ({name} for name in self._variables)
        together = (_positional(form) for form, _ in self._others)
        for group in sorted(map(self._in_order, united([*alone, *together]))):
            yield [self._variables[place] for place in group]

    def _in_order(self, group: Iterable[str]) -> list[int]:
        return sorted(map(self._variables.index, group))

    def _outermost(self, group: Sequence[str]) -> _Sum:
        """The sum that is left of a group: the others are inside it."""
        left, each = [*group], _ONE
        while len(left) > 1:
            inner = next(filter(None, (self._inner(name, left, each) for name in left[::-1])), None)
            if inner is None:
                raise self._objection(left)
            left.remove(inner.variable)
            each = _summed(inner)
        return self._last(left[0], each)

    def _inner(self, name: str, left: Sequence[str], each: sympy.Expr) -> _Sum | None:
        """The sum over a variable with one end on each side, whatever values the others have."""
        others = [other for other in left if other != name]
        within, ends = self._scope(others), self._ends(name, left)
        if ends is None:
            return None
        lowers = _undominated(within, ends[0], sign=-1)
        uppers = _undominated(within, ends[1], sign=1)
        if len(lowers) != 1 or len(uppers) != 1:
            return None
        (first,), (last,) = lowers, uppers
        size = last - first + 1
        is_sum = _is_size(within, size) and _is_polynomial((first, last), others)
        return _Sum(name, first, size, each) if is_sum else None

    def _last(self, name: str, each: sympy.Expr) -> _Sum:
        """The sum over a variable whose ends are over parameters alone."""
        step = self._step_of(name) if each == _ONE else None
        ends = self._ends(name, [name], without=None if step is None else step.limit)
        if ends is None:
            raise self._objection([name])
        first, last = operations.maximum(ends[0]), operations.minimum(ends[1])
        if step is None:
            return _Sum(name, first, last - first + 1, each)
        below, above = first - 1 - step.first, last - step.first
        number = _divided(above, step.stride) - _divided(below, step.stride)
        return _Sum(name, forms.ZERO, number, each)

    def _step_of(self, name: str) -> _Step | None:
        return next(filter(None, (_step(name, limit) for limit in self._others)), None)

    def _ends(
        self, name: str, left: Sequence[str], without: Constraint | None = None
    ) -> tuple[list[Form], list[Form]] | None:
        """The least and the greatest values of a variable, as far as the constraints say them.

        ``None`` if one is not linear in the variable.

        Raises:
            MapError: there is none on one side.
        """
        bounds = self._domain.bounds[name]
        lowers = [] if bounds.lower is None else [forms.constant(bounds.lower)]
        uppers = [] if bounds.upper is None else [forms.constant(bounds.upper)]
        variable = forms.variable(name)
        for limit in self._among(left):
            form, interval = limit
            if limit == without or name not in _positional(form):
                continue
            factor = form.terms.get(forms.variable_atom(name), 0)
            rest = form - variable * factor
            if not factor or name in _positional(rest):
                return None
            ends = -interval if factor < 0 else interval
            rest, divisor = (-rest, -factor) if factor < 0 else (rest, factor)
            if ends.lower is not None:
                lowers.append(-_divided(rest - ends.lower, divisor))
            if ends.upper is not None:
                uppers.append(_divided(forms.constant(ends.upper) - rest, divisor))
        if not (lowers and uppers):
            shown = self._domain.names[self._domain.identifiers.index(name)]
            raise MapError(f"count: {shown} is not bounded")
        return lowers, uppers

    def _among(self, variables: Sequence[str]) -> list[Constraint]:
        """The constraints on these variables alone."""
        known = {*variables}
        return [limit for limit in self._others if _positional(limit[0]) <= known]

    def _scope(self, variables: Sequence[str]) -> Scope:
        """What is known of the parameters and some variables."""
        limits = (*self._on_parameters, *self._among(variables))
        bounds = [(name, self._domain.bounds[name]) for name in variables]
        return _scope(self._given, bounds, limits)

    def _narrowed(self, sizes: Sequence[Form]) -> Iterator[Form]:
        """The conditions that parameters are in what simplification left of their bounds."""
        pairs = zip(self._given, self._domain.parameters, strict=True)
        for number, (before, after) in enumerate(pairs):
            for left_out in _left_out(before.bounds, after.bounds):
                others = [*self._given]
                others[number] = before.within(left_out)
                scope = _scope(others, (), tuple(self._on_parameters))
                if not any(scope.range_of(scope.canonical(size))[1] <= 0 for size in sizes):
                    parameter = forms.variable(parameter_identifier(before.name))
                    yield from _conditions((parameter, after.bounds))

    def _objection(self, left: Sequence[str]) -> MapError:
        known = {*left}
        form = next(form for form, _ in self._others if known & _positional(form))
        text = format_form(self._domain.named(form))
        expected = "expected bounds, strides and sums; put numbers for all parameters"
        message = f"count: the points that meet a constraint on {text} have no closed form here"
        return MapError(f"{message}; {expected}, see substitute()")


class _Step(NamedTuple):
    """A constraint that a variable is one of every ``stride`` integers, such as ``first``."""

    limit: Constraint
    first: Form
    stride: int


def _step(name: str, limit: Constraint) -> _Step | None:
    form, interval = limit
    atom = form.only_atom
    if atom is None or atom.kind is not AtomKind.MOD or not interval.is_point:
        return None
    numerator, divisor = atom.arguments
    rest = numerator - forms.variable(name)
    if _positional(rest) or not divisor.is_constant:
        return None
    return _Step(limit, forms.constant(interval.lower or 0) - rest, abs(divisor.constant))


def _positional(form: Form) -> set[str]:
    """The variables but parameters."""
    return {name for name in forms.variables_of((form,)) if name[0] != PARAMETER}


def _divided(form: Form, divisor: int) -> Form:
    return form if divisor == 1 else operations.floordiv(form, forms.constant(divisor))


def _undominated(within: Scope, ends: Sequence[Form], sign: int) -> list[Form]:
    """The ends that no other one implies; ``sign`` is 1 if the least counts, -1 if the greatest."""
    kept: list[Form] = []
    for end in ends:
        if not any(_is_size(within, (end - other) * sign) for other in kept):
            kept = [other for other in kept if not _is_size(within, (other - end) * sign)]
            kept.append(end)
    return kept


def _is_size(within: Scope, form: Form) -> bool:
    return within.range_of(within.canonical(form))[0] >= 0


def _is_polynomial(ends: Iterable[Form], variables: Iterable[str]) -> bool:
    symbols = [to_sympy(forms.variable(name)) for name in variables]
    return all(to_sympy(end).is_polynomial(*symbols) for end in ends)


def _total(within: Scope, last: _Sum) -> Form:
    """What a sum over parameters alone comes to: zero if the size is negative."""
    is_size = _is_size(within, last.size)
    if last.each == _ONE:
        size = last.size if is_size else operations.maximum((forms.ZERO, last.size))
        return simplified_form(within, size)
    numerator, denominator = sympy.fraction(sympy.together(_summed(last)))
    form, _ = read_whole(sympy.expand(numerator))
    whole = _divided(form, int(denominator))
    guarded = operations.select(operations.nonnegative(last.size), whole, forms.ZERO)
    return simplified_form(within, whole if is_size else guarded)


def _summed(inner: _Sum) -> sympy.Expr:
    """The sum as a polynomial in what is left."""
    variable = to_sympy(forms.variable(inner.variable))
    upto = sympy.summation(inner.each, (variable, 0, variable))
    first, behind = to_sympy(inner.first), to_sympy(inner.first + inner.size)
    return sympy.expand(upto.subs(variable, behind - 1) - upto.subs(variable, first - 1))


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
