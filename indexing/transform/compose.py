"""One map after the other."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from indexing.domain import LETTERS, distinctly_named
from indexing.errors import MapError
from indexing.relation import Relation, RelationT, check_map
from indexing.transform.substitute import substituted
from simplifier.expr import form as forms

if TYPE_CHECKING:
    from indexing.domain import Constraint, Domain
    from simplifier.expr.form import Form


def compose(consumer: RelationT, producer: RelationT) -> RelationT:
    """``producer(consumer(x))``: from the consumer's dimensions to the producer's results.

    The variables are the consumer's dimensions, then the producer's ranges before the consumer's,
    and likewise the runtime variables. Parameters of one name are one. Constraints of both maps
    hold, and each of the consumer's results lies in the bounds of the producer's dimension that it
    becomes. Nothing is simplified.
    An undefined map makes the composition undefined, for the consumer's reason first.

    Costs time in proportion to the producer and, where it has ranges or runtime variables, to the
    consumer: a long chain is built fastest from the side of the consumer.

    Raises:
        MapError: the producer has another number of dimensions than the consumer has results.

    >>> from indexing import parse_map
    >>> reshape = parse_map("(d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 3], d1 in [0, 7]")
    >>> back = parse_map("(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]")
    >>> print(compose(reshape, back).simplify())
    (d0, d1) -> (d0, d1), domain: d0 in [0, 3], d1 in [0, 7]
    """
    check_map(consumer, "compose: the consumer")
    check_map(producer, "compose: the producer")
    for side in (consumer, producer):
        if side.is_undefined:
            return side
    if len(consumer.forms) != len(producer.dims):
        message = (
            f"compose: the consumer has {len(consumer.forms)} results, "
            f"but the producer has {len(producer.dims)} dimensions; expected as many"
        )
        raise MapError(message)
    inputs, own_constraints = substituted(consumer, _renumbering(consumer, producer))
    results, producer_constraints = substituted(
        producer, {f"d{position}": form for position, form in enumerate(inputs)}
    )
    within_bounds = zip(inputs, (variable.bounds for variable in producer.dims), strict=True)
    domain = _joint(consumer, producer, own_constraints).constrained(
        [*within_bounds, *producer_constraints]
    )
    return consumer.derived(results, domain)


def _joint(consumer: Relation, producer: Relation, constraints: tuple[Constraint, ...]) -> Domain:
    """The variables of both maps, with the consumer's constraints."""
    joint = distinctly_named(
        consumer.dims,
        producer.ranges + consumer.ranges,
        producer.runtime + consumer.runtime,
        producer.parameters + consumer.parameters,
    )
    if constraints is consumer.domain.constraints:
        # Nothing was renumbered: they are in normal order, and in a long chain they are many.
        return replace(joint, constraints=constraints)
    return joint.constrained(constraints)


def _renumbering(consumer: Relation, producer: Relation) -> dict[str, Form]:
    """The consumer's ranges and runtime variables, renumbered behind the producer's."""
    shifts = (0, len(producer.ranges), len(producer.runtime))
    return {
        f"{letter}{position}": forms.variable(f"{letter}{position + shift}")
        for letter, variables, shift in zip(LETTERS, consumer.domain.roles, shifts, strict=True)
        if shift
        for position in range(len(variables))
    }
