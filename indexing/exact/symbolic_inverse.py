"""Inverts maps whose strides are parameters: ``d0 * M + d1`` with ``d1`` in ``[0, M - 1]``.

Such a map is not quasi-affine, so no general method decides about it. A candidate is read off the
results, and used only if the laws of the simplifier prove that it leads back.

Proof. Let ``g(f(x)) = x`` for every ``x`` in the domain of ``f``. Then ``y = f(x)`` holds exactly
where ``x = g(y)``, ``g(y)`` lies in the domain of ``f``, and ``f(g(y)) = y``. The inverse is ``g``
under these conditions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import permutations
from typing import Final

from indexing.domain import Constraint, Domain, substituted_constraints
from indexing.relation import Relation, RelationT
from indexing.simplify import result_bounds, simplified
from indexing.simplify.constraints import scope_with_facts
from indexing.transform.substitute import arranged
from indexing.variable import Variable
from simplifier import forms
from simplifier.forms import Atom, AtomKind, Form, Interval, Scope, parametric_ends, range_of

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
        *_ends(simplest, outputs),
    ]
    renaming = {_output(number): forms.variable(f"d{number}") for number in range(len(outputs))}
    made = Domain.of(
        map(Variable, result_bounds(simplest)), (), domain.runtime, (), domain.parameters
    ).constrained(substituted_constraints(inside, renaming))
    return simplified(simplest.derived(forms.substitute(values, renaming), made))


def _ends(simplest: Relation, outputs: Sequence[Form]) -> Iterator[Constraint]:
    """The ends of the results, over parameters: they follow from the rest, but not at a glance."""
    domain = simplest.domain
    scope, parameters = scope_with_facts(domain), domain.parameter_identifiers
    for form, output in zip(simplest.forms, outputs, strict=True):
        ends = parametric_ends(scope, form, parameters, constraints=domain.constraints)
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
        if any(0 in range_of(self._scope, stride) for stride in strides.values()):
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
