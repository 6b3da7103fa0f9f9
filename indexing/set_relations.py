"""Maps and sets together: what a map makes of a set, a map on a part, and distances."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING

from indexing.domain import distinctly_named
from indexing.errors import MapError
from indexing.exact.isl_sets import EVERYTHING
from indexing.exact.set_values import limits_of
from indexing.exact.sets import IndexSet
from indexing.parameters import united
from simplifier import Interval
from simplifier.errors import check_type
from simplifier.expr import form as forms
from simplifier.expr import operations

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from indexing.domain import Constraint, Domain
    from indexing.exact.exact_relation import ExactRelation
    from indexing.relation import Relation, RelationT
    from indexing.variable import Variable
    from simplifier.exact import Budget
    from simplifier.expr.form import Form


def applied(relation: ExactRelation, elements: IndexSet, budget: Budget) -> IndexSet:
    """The elements that are reached from those of a set: the union over its pieces."""
    _check(elements, len(relation.dims), "apply", "dimensions")
    dims = _dims(relation)
    images = [_on_pieces(relation, dims, [piece]).image(budget=budget) for piece in elements.pieces]
    if not images:
        everything = IndexSet.box(*[EVERYTHING] * len(relation.forms))
        return everything - everything  # a box without sides has an element
    return reduce(lambda one, other: one | other, images)


def restricted(relation: RelationT, elements: IndexSet) -> RelationT:
    """The map on the dimensions that lie in a set."""
    _check(elements, len(relation.dims), "restrict", "dimensions")
    return _on_pieces(relation, _dims(relation), elements.pieces)


def with_results_in(relation: RelationT, elements: IndexSet) -> RelationT:
    """The map where it reaches elements of a set."""
    _check(elements, len(relation.forms), "restrict_results", "results")
    return _on_pieces(relation, relation.forms, elements.pieces)


def distances(relation: ExactRelation, budget: Budget) -> IndexSet:
    """What is added to the dimensions to get to the results."""
    dims = _dims(relation)
    if len(dims) != len(relation.forms):
        counts = f"{len(dims)} dimensions and {len(relation.forms)} results"
        raise MapError(f"distances: the map has {counts}; expected as many")
    apart = [result - dim for dim, result in zip(dims, relation.forms, strict=True)]
    return relation.derived(apart, relation.domain).image(budget=budget)


def _dims(relation: Relation) -> tuple[Form, ...]:
    dims, *_ = relation.domain.by_role(map(forms.variable, relation.domain.identifiers))
    return dims


def _check(elements: object, rank: int, question: str, of: str) -> None:
    check_type(elements, IndexSet, f"{question}: the set", "an IndexSet")
    if isinstance(elements, IndexSet) and elements.rank != rank:
        message = f"{question}: the set has {elements.rank} coordinates"
        raise MapError(f"{message}; expected {rank}, one for each of the map's {of}")
    if isinstance(elements, IndexSet) and elements.hull.runtime:
        raise MapError(f"{question}: the set depends on runtime variables; expected numbers")


def _on_pieces(
    relation: RelationT, coordinates: Sequence[Form], pieces: Sequence[Domain]
) -> RelationT:
    """The map where some forms are coordinates of an element of one of the pieces."""
    if not pieces:
        return relation.derived(relation.forms, relation.domain.emptied())
    parameters = [each.within(EVERYTHING) for piece in pieces for each in piece.parameters]
    domain = _with_parameters(relation.domain, parameters) if parameters else relation.domain
    limits = [[*_limits(piece, coordinates)] for piece in pieces]
    if len(limits) == 1:
        return relation.derived(relation.forms, domain.constrained(limits[0]))
    depth = operations.maximum(operations.minimum(_depths(each)) for each in limits)
    return relation.derived(relation.forms, domain.constrained([(depth, Interval(0, None))]))


def _with_parameters(domain: Domain, parameters: Sequence[Variable]) -> Domain:
    """The domain with more parameters; a variable that is called as one of them loses its name."""
    every = united([*domain.parameters, *parameters])
    named = distinctly_named(*domain.roles, parameters=every)
    return replace(named, constraints=domain.constraints)


def _limits(piece: Domain, coordinates: Sequence[Form]) -> Iterator[Constraint]:
    """The limits of a piece, with forms for its coordinates."""
    values = dict(zip(piece.identifiers, coordinates, strict=False))
    for form, interval in limits_of(piece):
        yield operations.substitute((form,), values)[0], interval


def _depths(limits: Sequence[Constraint]) -> Iterator[Form]:
    """Forms none of which is negative where all limits hold."""
    yield forms.ZERO
    for form, interval in limits:
        if interval.lower is not None:
            yield form.plus_constant(-interval.lower)
        if interval.upper is not None:
            yield -form.plus_constant(-interval.upper)
