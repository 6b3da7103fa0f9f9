"""Counts and inverses of maps over parameters, such as ``M`` in ``d0 * M + d1``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import permutations, product
from typing import Final, NamedTuple

from indexing.domain import Constraint, Domain, conditions_of, solved_for, substituted_constraints
from indexing.errors import MapError
from indexing.exact.boxes import below_and_above, whole
from indexing.relation import Relation, RelationT
from indexing.simplify import result_bounds, simplified
from indexing.simplify.constraints import scope_with_facts
from indexing.transform.substitute import arranged
from indexing.variable import PARAMETER, Variable, parameter_identifier
from simplifier import forms
from simplifier.forms import EVERYTHING, Atom, AtomKind, Form, Interval, Scope
from simplifier.tools.graphs import united
from simplifier.tools.late import sympy

# Counts points as expressions over parameters: `d0 in [0, N - 1]` has `N`.
#
# Variables that share a constraint are counted together; the numbers of groups that share none are
# multiplied.

Known = Callable[[Iterable[tuple[str, Interval]], Iterable[Constraint]], Scope]
"""A scope of parameters and of variables with such bounds and constraints."""


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
    (named,) = forms.substitute((forms.simplified(_scope(parameters), total),), names)
    return named.constant if named.is_constant else forms.to_sympy(named)


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
        """Number of points."""
        groups = [self._sums(group) for group in self._groups()]
        whole = forms.product(sum(map(self._total, each), forms.ZERO) for each in groups)
        conditions = [
            *(holds for limit in self._on_parameters for holds in conditions_of(*limit)),
            *self._narrowed([[each.size for each in group] for group in groups]),
        ]
        return forms.select(forms.conjunction(conditions), whole, forms.ZERO)

    def _groups(self) -> list[list[str]]:
        """The variables that depend on each other, in order of declaration."""
        place = self._variables.index
        alone = ({name} for name in self._variables)
        together = (positional(form) for form, _ in self._others)
        groups = (sorted(group, key=place) for group in united([*alone, *together]))
        return sorted(groups, key=lambda group: place(group[0]))

    def _sums(self, group: Sequence[str]) -> list[Sum]:
        """The sums over the values of these variables."""
        bounds = {name: self._domain.bounds[name] for name in group}
        limits = (limit for limit in self._others if positional(limit[0]) <= bounds.keys())
        try:
            return sums(Points(bounds, tuple(limits), sympy.Integer(1)), self._known)
        except UnboundedError as error:
            asked = [str(error)] if str(error) in group else group  # a quotient has no name
            called = dict(zip(self._domain.identifiers, self._domain.names, strict=True))
            shown = ", ".join(called[name] for name in asked)
            raise MapError(f"count: {shown} is not bounded") from None
        except NoClosedFormError:
            form = next(form for form, _ in self._others if not positional(form).isdisjoint(group))
            text = forms.format_form(self._domain.named(form))
            message = f"count: the points that meet a constraint on {text} have no closed form here"
            expected = "expected bounds, strides and sums; put numbers for all parameters"
            raise MapError(f"{message}; {expected}, see substitute()") from None

    def _known(self, bounds: Iterable[tuple[str, Interval]], limits: Iterable[Constraint]) -> Scope:
        """The bounds and facts of the parameters and some variables."""
        return _scope(self._given, bounds, (*self._on_parameters, *limits))

    def _total(self, one: Sum) -> Form:
        """The value of a sum over parameters alone: zero if the size is negative."""
        within = self._known((), one.conditions)
        least = is_size(within, one.size)
        if one.each == sympy.Integer(1):
            whole = one.size if least else forms.maximum((forms.ZERO, one.size))
        else:
            whole = _form_of(one.polynomial)
            if not least:
                whole = forms.select(forms.nonnegative(one.size), whole, forms.ZERO)
        holds = [each for limit in one.conditions for each in conditions_of(*limit)]
        whole = forms.simplified(within, whole)
        guarded = forms.select(forms.conjunction(holds), whole, forms.ZERO)
        return forms.simplified(self._known((), ()), guarded)

    def _narrowed(self, groups: Sequence[Sequence[Form]]) -> Iterator[Form]:
        """The conditions that parameters are within bounds that simplification narrowed.

        There is none for what was left out if all sizes of a group are zero there anyhow.
        """
        pairs = zip(self._given, self._domain.parameters, strict=True)
        for number, (before, after) in enumerate(pairs):
            for left_out in below_and_above(whole(before.bounds), whole(after.bounds)):
                others = [*self._given]
                others[number] = before.within(left_out.bounds)
                scope = _scope(others, (), tuple(self._on_parameters))
                if not any(all(is_size(scope, -size) for size in sizes) for sizes in groups):
                    parameter = forms.variable(parameter_identifier(before.name))
                    yield from conditions_of(parameter, after.bounds)


def _form_of(polynomial: sympy.Expr) -> Form:
    """A polynomial with rational factors and integer values."""
    numerator, denominator = sympy.fraction(sympy.together(polynomial))
    form, _ = forms.read_whole(sympy.expand(numerator))
    return form // int(denominator)


def _scope(
    parameters: Sequence[Variable],
    bounds: Iterable[tuple[str, Interval]] = (),
    limits: Iterable[Constraint] = (),
) -> Scope:
    """The bounds and facts of parameters and other variables."""
    of_parameters = ((parameter_identifier(each.name), each.bounds) for each in parameters)
    return forms.scope_of((*bounds, *of_parameters), tuple(limits))


# Sums polynomials over the points of constraints, variable by variable, the innermost first.
#
# The sum over a variable between two ends is a polynomial in the others. Which ends count may
# depend on the others, too: so points are split into cases, in each of which one end on each side
# counts. A quotient by a constant is a variable of its own: `q` is `e floordiv 4` where `e - q *
# 4` lies in `[0, 3]`.

MAX_CASES: Final = 4
"""Cases that points are split into: for more, an answer takes seconds and pages."""

_FEW: Final = (2, 3)
"""Remainders that are counted one by one: shorter than with an end for the greatest one."""


class Points(NamedTuple):
    """The values of variables under constraints, and the term to add for each of them.

    ``each`` is a polynomial in the variables, with symbols that are called like identifiers.
    """

    variables: Mapping[str, Interval]
    limits: tuple[Constraint, ...]
    each: sympy.Expr

    def without(self, name: str) -> Points:
        """The other variables, and the constraints on them and parameters alone."""
        others = {other: bounds for other, bounds in self.variables.items() if other != name}
        limits = (limit for limit in self.limits if name not in positional(limit[0]))
        return self._replace(variables=others, limits=tuple(limits))

    def scope(self, known: Known) -> Scope:
        """The points as a scope."""
        return known(self.variables.items(), self.limits)

    def under(self, limits: Iterable[Constraint]) -> Points:
        """The points that meet more constraints."""
        return self._replace(limits=(*self.limits, *limits))


class Sum(NamedTuple):
    """A term added for each value of a variable from ``first`` to ``first + size - 1``.

    ``each`` is a polynomial in the variable. All is zero where the conditions do not hold.
    """

    variable: str
    first: Form
    size: Form
    each: sympy.Expr
    conditions: tuple[Constraint, ...] = ()

    @property
    def polynomial(self) -> sympy.Expr:
        """The sum for sizes that are not negative, as a polynomial in the other variables."""
        variable = forms.to_sympy(forms.variable(self.variable))
        upto = sympy.summation(self.each, (variable, 0, variable))
        first, behind = forms.to_sympy(self.first), forms.to_sympy(self.first + self.size)
        return sympy.expand(upto.subs(variable, behind - 1) - upto.subs(variable, first - 1))


class UnboundedError(Exception):
    """The variable of this name has no end on one side."""


class NoClosedFormError(Exception):
    """No order of the variables of these names gives polynomials, or only too many."""


def sums(points: Points, known: Known) -> list[Sum]:
    """Sums over one variable each, whose ends are over parameters, that together are the sum.

    Proof. The cases that points are split into are disjoint, and every point lies in one of them.
    In each a variable runs from one end to the other. That one end is the greatest and one the
    least, and that there is a value between them, are constraints on the others.

    Raises:
        UnboundedError: a variable has no end on one side.
        NoClosedFormError: the points cannot be split so.
    """
    waiting = [_without_quotients(each) for each in _by_remainder(points)]
    found: list[Sum] = []
    while waiting:
        one = waiting.pop()
        if len(one.variables) == 1:
            found.append(_last(one))
        else:
            waiting += reversed(_fewest_cases(one, known))
        if len(waiting) + len(found) > MAX_CASES:
            raise NoClosedFormError(*one.variables)
    return found


def positional(form: Form) -> set[str]:
    """The variables but parameters."""
    return {name for name in forms.variables_of((form,)) if name[0] != PARAMETER}


def is_size(within: Scope, form: Form) -> bool:
    """Whether a form is known not to be negative."""
    return within.range_of(within.canonical(form))[0] >= 0


# Quotients and remainders.


def _by_remainder(points: Points) -> list[Points]:
    """The points with each remainder, where a constraint leaves a choice of a few."""
    for number, (form, interval) in enumerate(points.limits):
        atom = form.only_atom
        if atom is not None and atom.kind is AtomKind.MOD and interval.size in _FEW:
            before, after = points.limits[:number], points.limits[number + 1 :]
            with_each = (
                points._replace(limits=(*before, (form, Interval(value, value)), *after))
                for value in interval
            )
            return [one for each in with_each for one in _by_remainder(each)]
    return [points]


def _without_quotients(points: Points) -> Points:
    """The same points, with a variable for each quotient by a constant, which they determine."""
    names: dict[Form, str] = {}
    limits: list[Constraint] = []

    def of_atom(atom: Atom, arguments: tuple[Form, ...]) -> Form:
        whole = forms.rebuilt(atom, arguments)
        if atom.kind not in _DIVISIONS or not atom.divisor or not positional(whole):
            return whole
        numerator, divisor = arguments[0], atom.divisor
        quotient = forms.floordiv(*arguments)
        variable = forms.variable(names.setdefault(quotient, f"q{len(names)}"))
        ends = Interval(0, divisor - 1) if divisor > 0 else Interval(divisor + 1, 0)
        limits.append((numerator - variable * divisor, ends))
        return variable if atom.kind is AtomKind.FLOORDIV else numerator - variable * divisor

    values = forms.fold((form for form, _ in points.limits), of_atom, forms.combine)
    limits += [(forms.combine(form, values), ends) for form, ends in points.limits]
    variables = {**points.variables, **dict.fromkeys(names.values(), EVERYTHING)}
    return Points(variables, tuple(dict.fromkeys(limits)), points.each)


_DIVISIONS: Final = frozenset({AtomKind.FLOORDIV, AtomKind.MOD})


# Cases.


class _Stretch(NamedTuple):
    """Constraints on the other variables, under which a variable has these values."""

    limits: list[Constraint]
    values: Sum


def _fewest_cases(points: Points, known: Known) -> list[Points]:
    """The points without one variable: one that needs the fewest cases and constraints."""
    best: list[_Stretch] | None = None
    for name in reversed([*points.variables]):
        cases = _split(points, name, known)
        if cases is not None and (best is None or _cost(cases) < _cost(best)):
            best = cases
        if best is not None and _cost(best) <= (1, 0):
            break
    if best is None:
        raise NoClosedFormError(*points.variables)
    return [
        points.without(values.variable).under(limits)._replace(each=values.polynomial)
        for limits, values in best
    ]


def _cost(cases: Sequence[_Stretch]) -> tuple[int, int]:
    return len(cases), sum(len(case.limits) for case in cases)


def _split(points: Points, name: str, known: Known) -> list[_Stretch] | None:
    """The cases of a variable; ``None`` if an end is no polynomial in the others."""
    ends, others = _ends(points, name), points.without(name)
    if ends is None:
        return None
    found: list[_Stretch] = []
    for first, last, limits in _pairs(others.scope(known), *ends):
        if not _is_polynomial((first, last), others.variables):
            return None
        size, inside = last - first + 1, others.under(limits).scope(known)
        least, greatest = inside.range_of(inside.canonical(size))
        if greatest > 0:
            has_one = [] if least >= 0 else [(size, Interval(1, None))]
            found.append(_Stretch([*limits, *has_one], Sum(name, first, size, points.each)))
    return found


def _pairs(
    within: Scope, lowers: Sequence[Form], uppers: Sequence[Form]
) -> Iterator[tuple[Form, Form, list[Constraint]]]:
    """A lower end and an upper end, and the constraints under which these count."""
    pinned = next((end for end in lowers if end in uppers), None)
    lowers, uppers = _undominated(within, lowers, sign=-1), _undominated(within, uppers, sign=1)
    if pinned is not None:
        pairs = [(pinned, pinned, (*_beyond(pinned, lowers, 1), *_beyond(pinned, uppers, -1)))]
    else:
        pairs = [
            (first, last, (*_counts(first, lowers, 1), *_counts(last, uppers, -1)))
            for first, last in product(lowers, uppers)
        ]
    for first, last, limits in pairs:
        yield first, last, [each for each in limits if not is_size(within, each[0])]


def _counts(end: Form, ends: Sequence[Form], sign: int) -> Iterator[Constraint]:
    """Conditions that an end is the greatest (sign 1) or least (-1); of equal ones, the first."""
    place = ends.index(end)
    yield from _beyond(end - sign, ends[:place], sign)
    yield from _beyond(end, ends[place + 1 :], sign)


def _beyond(end: Form, ends: Iterable[Form], sign: int) -> Iterator[Constraint]:
    """Conditions that an end is not less than others, or not greater, for the sign -1."""
    for other in ends:
        yield (end - other) * sign, Interval(0, None)


def _undominated(within: Scope, ends: Sequence[Form], sign: int) -> list[Form]:
    """The ends that no other one implies; ``sign`` is 1 if the least counts, -1 if the greatest.

    Those over parameters alone are one.
    """
    kept: list[Form] = []
    for end in ends:
        if not any(is_size(within, (end - other) * sign) for other in kept):
            kept = [other for other in kept if not is_size(within, (other - end) * sign)]
            kept.append(end)
    alone = [end for end in kept if not positional(end)]
    if not alone:
        return kept
    joined = forms.minimum(alone) if sign > 0 else forms.maximum(alone)
    return [joined, *(end for end in kept if end not in alone)]


def _is_polynomial(ends: Iterable[Form], variables: Iterable[str]) -> bool:
    symbols = [forms.to_sympy(forms.variable(name)) for name in variables]
    return all(forms.to_sympy(end).is_polynomial(*symbols) for end in ends)


def _last(points: Points) -> Sum:
    """The sum over the only variable; the other constraints are conditions."""
    (name,) = points.variables
    ends = _ends(points, name)
    if ends is None:
        raise NoClosedFormError(name)
    first, last = forms.maximum(ends[0]), forms.minimum(ends[1])
    return Sum(name, first, last - first + 1, points.each, points.without(name).limits)


def _ends(points: Points, name: str) -> tuple[list[Form], list[Form]] | None:
    """The ends of a variable on both sides; ``None`` if a constraint is not linear in it."""
    bounds = points.variables[name]
    lowers = [] if bounds.lower is None else [forms.constant(bounds.lower)]
    uppers = [] if bounds.upper is None else [forms.constant(bounds.upper)]
    for limit in points.limits:
        if name not in positional(limit[0]):
            continue
        solved = solved_for(limit, name)
        if solved is None:
            return None
        divisor, rest, ends = solved
        if ends.lower is not None:
            lowers.append(-((rest - ends.lower) // divisor))
        if ends.upper is not None:
            uppers.append((ends.upper - rest) // divisor)
    if not (lowers and uppers):
        raise UnboundedError(name)
    return lowers, uppers


# Inverts maps whose strides are parameters: `d0 * M + d1` with `d1` in `[0, M - 1]`.
#
# Such a map is not quasi-affine, so no general method decides about it. A candidate is read off the
# results, and used only if the laws of the simplifier prove that it leads back.
#
# Proof. Let `g(f(x)) = x` for every `x` in the domain of `f`. Then `y = f(x)` holds exactly where
# `x = g(y)`, `g(y)` lies in the domain of `f`, and `f(g(y)) = y`. The inverse is `g` under these
# conditions.

_MAX_DIGITS: Final = 4
"""Digits in one result, of which all orders are tried: an index of more dimensions is rare."""


def symbolic_inverse(simplest: RelationT) -> RelationT | None:
    """The inverse of a simplified map over parameters; ``None`` if no candidate is proved.

    >>> from indexing import parse_map
    >>> index = "(d0, d1)<M, N> -> (d0 * M + d1), domain: d0 in [0, N - 1], d1 in [0, M - 1], "
    >>> print(symbolic_inverse(parse_map(index + "M in [1, inf], N in [1, inf]")))
    (d0)<M, N> -> (d0 floordiv M, d0 mod M), domain: d0 in [0, M * N - 1], M in [1, inf],
    N in [1, inf]
    """
    domain = simplest.domain
    if domain.ranges or not domain.parameters:
        return None
    values = _candidate(simplest)
    if values is None:
        return None
    dims = domain.identifiers[: len(domain.dims)]
    outputs = [forms.variable(_output(number)) for number in range(len(simplest.forms))]
    found = dict(zip(dims, values, strict=True))
    there_and_back = zip(forms.substitute(simplest.forms, found), outputs, strict=True)
    inside = [
        *substituted_constraints(domain.constraints, found),
        *((found[name], domain.bounds[name]) for name in dims),
        *((back - output, Interval(0, 0)) for back, output in there_and_back),
        *_ends_of_results(simplest, outputs),
    ]
    renaming = {_output(number): forms.variable(f"d{number}") for number in range(len(outputs))}
    made = Domain.of(
        map(Variable, result_bounds(simplest)), (), domain.runtime, (), domain.parameters
    ).constrained(substituted_constraints(inside, renaming))
    return simplified(simplest.derived(forms.substitute(values, renaming), made))


def _ends_of_results(simplest: Relation, outputs: Sequence[Form]) -> Iterator[Constraint]:
    """The ends of the results, over parameters: they follow from the rest, but not at a glance."""
    domain = simplest.domain
    scope, parameters = scope_with_facts(domain), domain.parameter_identifiers
    for form, output in zip(simplest.forms, outputs, strict=True):
        ends = forms.parametric_ends(scope, form, parameters, constraints=domain.constraints)
        yield from ((output - end, Interval(0, None)) for end in ends.lower)
        yield from ((output - end, Interval(None, 0)) for end in ends.upper)


def tells_points(relation: Relation) -> bool:
    """Whether laws prove that results tell the values of all dimensions and ranges.

    >>> from indexing import parse_map
    >>> index = "(d0)[s0]<M, N> -> (d0 * M + s0), domain: d0 in [0, N - 1], s0 in [0, M - 1], "
    >>> tells_points(parse_map(index + "M in [1, inf], N in [1, inf]"))
    True
    """
    simplest = simplified(relation, preserve_ranges=True)
    dims, ranges, runtime = simplest.domain.by_role(simplest.domain.identifiers)
    points = arranged(simplest, (*dims, *ranges), (), runtime)
    return not runtime and (points.is_known_empty or _candidate(points) is not None)


def _output(number: int) -> str:
    """Name of a result while it is read backwards."""
    return f"y{number}"


def _candidate(simplest: Relation) -> list[Form] | None:
    """The dimensions over the results, proved to lead back; ``None`` if one is not found."""
    domain = simplest.domain
    dims = domain.identifiers[: len(domain.dims)]
    bounds = ((name, domain.bounds[name]) for name in dims)
    found = {name: forms.constant(ends.lower or 0) for name, ends in bounds if ends.is_point}
    found |= _ReadBackwards(scope_with_facts(domain), simplest.forms).dimensions()
    return [found[name] for name in dims] if all(name in found for name in dims) else None


class _ReadBackwards:
    """Reads sums, the digits in them, and the numbers that have these digits, off the results."""

    def __init__(self, scope: Scope, results: Sequence[Form]) -> None:
        self._scope = scope
        self._results = {_output(number): form for number, form in enumerate(results)}
        self._digits: dict[Form, dict[Form, Form]] = defaultdict(dict)
        self._values: dict[Atom, Form] = {}

    def dimensions(self) -> dict[str, Form]:
        """The dimensions that were found, over the results."""
        known = [(form, forms.variable(name)) for name, form in self._results.items()]
        while known:
            for unit, value in self._units_in(*known.pop(0)).items():
                if unit not in self._values:
                    self._values[unit] = value
                    known += self._completed(unit, value)
        variables = ((atom, value) for atom, value in self._values.items() if not atom.arguments)
        return {atom.name: value for atom, value in variables}

    def _units_in(self, form: Form, value: Form) -> dict[Atom, Form]:
        """The units in a sum of them times strides over parameters, if the value tells them."""
        form = _in_digits(form)
        units = _units(form)
        if not 0 < len(units) <= _MAX_DIGITS:
            return {}
        offset = _with_values(form, dict.fromkeys(units, 0))
        strides = {
            unit: _with_values(form, {each: int(each is unit) for each in units}) - offset
            for unit in units
        }
        if any(0 in forms.range_of(self._scope, stride) for stride in strides.values()):
            return {}  # a stride of 0 tells nothing, and no law divides by it
        for order in permutations(units):
            found = dict(_mixed_radix(value - offset, [(unit, strides[unit]) for unit in order]))
            if all(self._leads_back(Form(0, {unit: 1}), part) for unit, part in found.items()):
                return found
        return {}

    def _completed(self, unit: Atom, value: Form) -> Iterator[tuple[Form, Form]]:
        """The number that a unit is a digit of, once the known digits make it up."""
        place = _digit(unit)
        if place is None:
            return
        number, stride = place
        self._digits[number][stride] = value
        pairs = self._digits[number].items()
        whole = sum((forms.product(pair) for pair in pairs), forms.ZERO)
        if self._leads_back(number, whole):
            yield number, whole

    def _leads_back(self, form: Form, value: Form) -> bool:
        """Whether a value over the results is this form at every point of the scope."""
        (back,) = forms.substitute((value,), self._results)
        return self._scope.canonical(back - form) == forms.ZERO


def _units(form: Form) -> list[Atom]:
    """The dimensions and digits of numbers that a sum has, alone or times something."""
    found: list[Atom] = []
    waiting = [form]
    while waiting:
        for atom in waiting.pop().terms:
            if _is_dimension(atom) or _digit(atom) is not None:
                found.append(atom)
            elif atom.kind is AtomKind.PRODUCT:
                waiting += atom.arguments
    return [*dict.fromkeys(found)]


def _in_digits(form: Form) -> Form:
    """The form with the digits of a dimension in its place, where it is beside its quotient."""
    digits: dict[Atom, Form] = {}
    for unit in _units(form):
        number, stride = _digit(unit) or (form, forms.ZERO)
        dimension = number.only_atom
        if unit.kind in _QUOTIENTS and dimension in form.terms:
            higher = forms.product((Form(0, {unit: 1}), stride))
            digits[dimension] = higher + forms.mod(number, stride)
    terms = (digits.get(atom, Form(0, {atom: 1})) * factor for atom, factor in form.terms.items())
    return sum(terms, forms.constant(form.constant))


def _with_values(form: Form, values: Mapping[Atom, int]) -> Form:
    return forms.replace(form, {atom: forms.constant(value) for atom, value in values.items()})


def _mixed_radix(rest: Form, strides: Iterable[tuple[Atom, Form]]) -> Iterator[tuple[Atom, Form]]:
    """The digits of a number whose strides divide each other, the greatest first."""
    for unit, stride in strides:
        yield unit, forms.floordiv(rest, stride)
        rest = forms.mod(rest, stride)


def _digit(atom: Atom) -> tuple[Form, Form] | None:
    """The number over dimensions of which an atom is a digit, and the stride; else ``None``.

    A digit is ``n floordiv W``, ``n mod r`` or ``(n floordiv W) mod r``.
    """
    if atom.kind is AtomKind.MOD:
        inner = atom.arguments[0].only_atom
        if inner is not None and inner.kind in _QUOTIENTS:
            return _digit(inner)
        number, stride = atom.arguments[0], forms.constant(1)
    elif atom.kind in _QUOTIENTS:
        number, stride = atom.arguments
    else:
        return None
    has_dimensions = any(name[0] == "d" for name in forms.variables_of((number,)))
    return (number, stride) if has_dimensions else None


_QUOTIENTS: Final = frozenset({AtomKind.FLOORDIV, AtomKind.QUOTIENT})


def _is_dimension(atom: Atom) -> bool:
    return atom.kind is AtomKind.VARIABLE and atom.name[0] == "d"
