"""Counts the points of boxes whose ends are over parameters: ``d0 in [0, N - 1]`` has ``N``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexing.errors import MapError
from indexing.parameters import parameter_identifier
from indexing.simplify import simplified
from indexing.symbolic_bounds import ends_and_constraints
from simplifier import Interval
from simplifier.canonical.scope import scope_of
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.printer import format_form
from simplifier.expr.sympy_conversion import to_sympy
from simplifier.fixpoint import simplified as simplified_form

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import sympy

    from indexing.domain import Domain
    from indexing.relation import Relation
    from indexing.variable import Variable
    from simplifier.canonical.scope import Scope
    from simplifier.expr.form import Form

_QUESTION = "count_over_parameters"


def count_over_parameters(relation: Relation) -> sympy.Expr:
    """:meth:`indexing.IndexingMap.count_over_parameters`.

    Proof. The simplified domain has the points of the domain. Without further constraints it is a
    box for each value of the parameters, and a box has the product of its sizes, none of them
    negative. Where simplification has narrowed a parameter, the domain has no points for what it
    left out, and it is checked that a size is zero there.

    Raises:
        MapError: the domain is no such box, or a variable is not bounded.
    """
    simplest = simplified(relation, preserve_ranges=True)
    if simplest.is_known_empty:
        return to_sympy(forms.ZERO)
    sizes = [*_sizes(simplest.domain)]
    within = _scope(relation.domain.parameters)
    _check_narrowed(relation.domain, simplest.domain, sizes)
    whole = forms.constant(1)
    for size in sizes:
        is_size = within.range_of(within.canonical(size))[0] >= 0
        factor = size if is_size else operations.maximum((forms.ZERO, size))
        whole = operations.product((whole, simplified_form(within, factor)))
    return to_sympy(relation.domain.named(whole))


def _sizes(domain: Domain) -> Iterator[Form]:
    """The number of values of each variable but parameters."""
    ends, others = ends_and_constraints(domain)
    if others.constraints:
        form, _ = others.constraints[0]
        text = format_form(domain.named(form))
        expected = "expected bounds alone; put numbers for all parameters, see substitute()"
        raise MapError(f"{_QUESTION}: the map has a constraint on {text}; {expected}")
    known = domain.parameter_identifiers
    for name, shown in zip(domain.identifiers, domain.names, strict=True):
        if name in known:
            continue
        lower, upper = ends[name]
        if lower is None or upper is None:
            raise MapError(f"{_QUESTION}: {shown} is not bounded")
        yield upper - lower + 1


def _check_narrowed(domain: Domain, simplest: Domain, sizes: Sequence[Form]) -> None:
    """Raise a :class:`MapError` unless a size is zero for values that simplification leaves out."""
    for number, (before, after) in enumerate(
        zip(domain.parameters, simplest.parameters, strict=True)
    ):
        for left in _left_out(before.bounds, after.bounds):
            others = [*domain.parameters]
            others[number] = before.within(left)
            scope = _scope(others)
            if not any(scope.range_of(scope.canonical(size))[1] <= 0 for size in sizes):
                message = f"{_QUESTION}: the map has a condition on {before.name}"
                raise MapError(f"{message}; expected bounds of variables alone")


def _left_out(before: Interval, after: Interval) -> Iterator[Interval]:
    """The values of the first interval below and above the second one."""
    if after.lower is not None and before.lower != after.lower:
        yield Interval(before.lower, after.lower - 1)
    if after.upper is not None and before.upper != after.upper:
        yield Interval(after.upper + 1, before.upper)


def _scope(parameters: Sequence[Variable]) -> Scope:
    """The scope of the bounds of parameters."""
    bounds = ((parameter_identifier(each.name), each.bounds) for each in parameters)
    return scope_of(tuple(bounds))
