"""Inverts maps whose strides are parameters: ``d0 * M + d1`` with ``d1`` in ``[0, M - 1]``.

Such a map is not quasi-affine, so no general method decides about it. A candidate is read off the
results, and used only if the laws of the simplifier prove that it leads back.

Proof. Let ``g(f(x)) = x`` for every ``x`` in the domain of ``f``. Then ``y = f(x)`` holds exactly
where ``x = g(y)``, ``g(y)`` lies in the domain of ``f``, and ``f(g(y)) = y``. The inverse is ``g``
under these conditions.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import permutations
from typing import TYPE_CHECKING, Final

from indexing.domain import Domain, substituted_constraints
from indexing.simplify import result_bounds, simplified
from indexing.simplify.normal_form import scope_with_facts
from indexing.transform.substitute import arranged
from indexing.variable import Variable
from simplifier import Interval
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import AtomKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from indexing.relation import Relation, RelationT
    from simplifier.canonical.scope import Scope
    from simplifier.expr.form import Form

_MAX_DIGITS: Final = 4
"""Digits in one result, of which all orders are tried: an index of more dimensions is rare."""


def symbolic_inverse(simplest: RelationT) -> RelationT | None:
    """The inverse of a simplified map over parameters; none if no candidate is proved.

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
    inside = [
        *substituted_constraints(domain.constraints, found),
        *((found[name], domain.bounds[name]) for name in dims),
        *(
            (back - output, Interval(0, 0))
            for back, output in zip(
                operations.substitute(simplest.forms, found), outputs, strict=True
            )
        ),
    ]
    renaming = {_output(number): forms.variable(f"d{number}") for number in range(len(outputs))}
    made = Domain.of(
        map(Variable, result_bounds(simplest)), (), domain.runtime, (), domain.parameters
    ).constrained(substituted_constraints(inside, renaming))
    return simplified(simplest.derived(operations.substitute(values, renaming), made))


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
    """What a result is called while it is read backwards."""
    return f"y{number}"


def _candidate(simplest: Relation) -> list[Form] | None:
    """The dimensions over the results, proved to lead back; none if one of them is not found."""
    domain = simplest.domain
    dims = domain.identifiers[: len(domain.dims)]
    bounds = ((name, domain.bounds[name]) for name in dims)
    found = {name: forms.constant(ends.lower or 0) for name, ends in bounds if ends.is_point}
    scope, digits = scope_with_facts(domain), _SplitVariables(simplest.forms)
    for number, form in enumerate(simplest.forms):
        if not digits.is_one(number):
            found |= _mixed_radix(scope, form, number)
    for name, value in digits.sums():
        if _leads_back(scope, name, value, enumerate(simplest.forms)):
            found[name] = value
    return [found[name] for name in dims] if all(name in found for name in dims) else None


def _leads_back(scope: Scope, name: str, value: Form, results: Iterable[tuple[int, Form]]) -> bool:
    """Whether a value over the results is that variable for every point of the scope."""
    (back,) = operations.substitute((value,), {_output(k): form for k, form in results})
    return scope.canonical(back - forms.variable(name)) == forms.ZERO


# A result that is a number of several digits.


def _mixed_radix(scope: Scope, form: Form, number: int) -> dict[str, Form]:
    """The variables in a result that is a sum of them times strides over parameters."""
    names = [name for name in forms.variables_of((form,)) if name[0] == "d"]
    if not 0 < len(names) <= _MAX_DIGITS:
        return {}
    nothing = dict.fromkeys(names, forms.ZERO)
    offset = operations.substitute((form,), nothing)[0]
    strides = {
        name: operations.substitute((form,), {**nothing, name: forms.constant(1)})[0] - offset
        for name in names
    }
    for order in permutations(names):
        rest = forms.variable(_output(number)) - offset
        found: dict[str, Form] = {}
        for name in order:
            found[name] = operations.floordiv(rest, strides[name])
            rest = operations.mod(rest, strides[name])
        if all(_leads_back(scope, name, found[name], [(number, form)]) for name in names):
            return found
    return {}


# Results that are the digits of one variable.


class _SplitVariables:
    """The results that are ``d floordiv W`` or ``(d floordiv W) mod n`` of one variable ``d``."""

    def __init__(self, results: Sequence[Form]) -> None:
        self._strides: dict[str, dict[int, Form]] = defaultdict(dict)
        for number, form in enumerate(results):
            name, stride = _digit(form)
            if name:
                self._strides[name][number] = stride

    def is_one(self, number: int) -> bool:
        """Whether a result is such a digit."""
        return any(number in strides for strides in self._strides.values())

    def sums(self) -> Iterator[tuple[str, Form]]:
        """Each variable as the sum of its digits times their strides."""
        for name, strides in self._strides.items():
            terms = (
                operations.product((forms.variable(_output(number)), stride))
                for number, stride in strides.items()
            )
            yield name, sum(terms, forms.ZERO)


def _digit(form: Form) -> tuple[str, Form]:
    """The variable of which a form is a digit, and the stride; no name if it is none."""
    atom = form.only_atom
    if atom is None:
        return "", forms.ZERO
    if atom.kind is AtomKind.MOD:
        inner = atom.arguments[0]
        name, stride = _digit(inner)
        return (name, stride) if name else (_variable(inner), forms.constant(1))
    if atom.kind in {AtomKind.FLOORDIV, AtomKind.QUOTIENT}:
        return _variable(atom.arguments[0]), atom.arguments[1]
    return "", forms.ZERO


def _variable(form: Form) -> str:
    """The dimension that a form is; empty if it is none."""
    name = form.single_variable() or ""
    return name if name[:1] == "d" else ""
