"""Maps without ranges that a constraint determines, or that say no more than a constraint can."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from indexing.transform.substitute import arranged, over_domain, substituted
from indexing.variable import Variable
from simplifier.expr import form as forms
from simplifier.expr.operations import floordiv

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indexing.domain import Constraint
    from indexing.relation import RelationT
    from simplifier.expr.form import Form


def without_determined_ranges(indexing_map: RelationT) -> RelationT:
    """The same relation, not simplified, with fewer ranges where constraints are linear in them.

    A constraint ``a * s + rest in [l, u]`` on a range with integers ``a > 0`` has at most one
    solution if ``u - l < a``, which takes the place of the range. Where results and other
    constraints do not use the range and ``u - l >= a - 1``, there is a solution in ``[p, q]`` if
    and only if ``rest in [l - a * q, u - a * p]``.

    >>> from indexing import parse_map
    >>> blocks = parse_map("(d0)[s0] -> (s0, d0 - s0 * 4), "
    ...                    "domain: d0 in [0, 19], s0 in [0, 4], d0 - s0 * 4 in [0, 3]")
    >>> print(without_determined_ranges(blocks).simplify())
    (d0) -> (d0 floordiv 4, d0 mod 4), domain: d0 in [0, 19]
    >>> earlier = parse_map("(d0)[s0] -> (), domain: d0 in [0, 9], s0 in [2, 9], d0 - s0 in [1, 9]")
    >>> print(without_determined_ranges(earlier).simplify())
    (d0) -> (), domain: d0 in [3, 9]
    """
    domain = indexing_map.domain
    _, ranges, _ = domain.by_role(domain.identifiers)
    for name in ranges:
        for constraint in domain.constraints:
            found = _without(indexing_map, name, constraint)
            if found is not None:
                return without_determined_ranges(found)
    return indexing_map


def from_zero(indexing_map: RelationT) -> RelationT:
    """The same relation, not simplified, with ranges that begin at zero.

    >>> from indexing import parse_map
    >>> print(from_zero(parse_map("(d0)[s0] -> (d0 + s0), domain: d0 in [0, 9], s0 in [1, 3]")))
    (d0)[s0] -> (d0 + s0 + 1), domain: d0 in [0, 9], s0 in [0, 2]
    """
    domain = indexing_map.domain
    _, identifiers, _ = domain.by_role(domain.identifiers)
    pairs = [*zip(identifiers, domain.ranges, strict=True)]
    moved = {name: each.bounds.lower for name, each in pairs if each.bounds.lower}
    if not moved or domain.is_known_empty:
        return indexing_map
    values = {name: forms.variable(name) + by for name, by in moved.items()}
    ranges = (Variable(each.bounds - moved.get(name, 0), each.given_name) for name, each in pairs)
    free = replace(domain, ranges=tuple(ranges), constraints=())
    return over_domain(indexing_map, free, values)


def _without(indexing_map: RelationT, name: str, constraint: Constraint) -> RelationT | None:
    """The map without a range, if a constraint allows that."""
    form, limits = constraint
    domain = indexing_map.domain
    factor = form.terms.get(forms.variable_atom(name), 0)
    rest = form - forms.variable(name) * factor
    if not factor or name in forms.variables_of([rest]):
        return None
    if factor < 0:
        factor, rest, limits = -factor, -rest, -limits
    bounds = domain.bounds[name]
    if limits.upper is None or limits.size is None or bounds.size is None:
        return None
    others = [each for each in domain.constraints if each is not constraint]
    used = {*forms.variables_of((*indexing_map.forms, *(each for each, _ in others)))}
    if name not in used and limits.size >= factor:
        return _over(
            indexing_map, name, indexing_map.forms, [*others, (rest, limits - bounds * factor)]
        )
    if limits.size > factor:
        return None
    value = floordiv(-rest + limits.upper, forms.constant(factor))
    results, constraints = substituted(indexing_map, {name: value})
    return _over(indexing_map, name, results, [*constraints, (value, bounds)])


def _over(
    indexing_map: RelationT, name: str, results: Sequence[Form], constraints: Sequence[Constraint]
) -> RelationT:
    """The map with other results and constraints, which do not use one of its ranges."""
    free = replace(indexing_map.domain, constraints=()).constrained(constraints)
    dims, ranges, runtime = free.by_role(free.identifiers)
    left = [each for each in ranges if each != name]
    return arranged(indexing_map.derived(tuple(results), free), dims, left, runtime)
