"""Containment: whether one indexing relates all that others do, at a glance or as isl finds it."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from ops import limits
from ops.dependence.operand_indexing import devices_in, with_values
from ops.dependence.widening import is_part_at_a_glance
from simplifier import Interval
from simplifier.errors import IndexingError
from simplifier.expr import form as forms

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from indexing import IndexingMap
    from ops.dependence.operand_indexing import OperandIndexing, RuntimeOrigin


def without_contained(indexings: Iterable[OperandIndexing]) -> list[OperandIndexing]:
    """The indexings without those that another one contains; of equal ones, the first.

    If a comparison takes more than :data:`ops.limits.MAX_STEPS_OF_COMPARISON`, both stay.

    >>> from indexing import parse_map
    >>> from ops import OperandIndexing
    >>> texts = ["(d0)[s0] -> (d0 * 2 + s0), domain: d0 in [0, 3], s0 in [0, 2]",
    ...          "(d0) -> (d0 * 2 + 1), domain: d0 in [0, 3]"]
    >>> print(*without_contained(OperandIndexing(parse_map(text)) for text in texts))
    (d0)[s0] -> (d0 * 2 + s0), domain: d0 in [0, 3], s0 in [0, 2]
    """
    left: list[OperandIndexing] = []
    for each in indexings:
        if not any(contains(other, each) for other in left):
            left = [*(other for other in left if not contains(each, other)), each]
    return left


def joined(indexings: Collection[OperandIndexing]) -> Collection[OperandIndexing]:
    """The indexings, but one for two that lead to the same index under conditions on values.

    One of them holds under no condition, or the one does where the other one does not.

    >>> from ops import hlo, parameter_indexing
    >>> entry = hlo.parse('''ENTRY e { x = f32[9] parameter(0) i = s32[] parameter(1)
    ...   a = f32[2] dynamic-slice(x, i), dynamic_slice_sizes={2} b = f32[2] negate(a)
    ...   ROOT r = f32[9] dynamic-update-slice(x, b, i) }''').entry
    >>> print(*parameter_indexing(entry.root)[entry.parameters[0]])
    (d0) -> (d0), domain: d0 in [0, 8]
    """
    groups: dict[object, list[OperandIndexing]] = {}
    for each in indexings:
        place = each.map.forms, each.element, each.replica_id, each.approximation
        groups.setdefault(place, []).append(each)
    left = {
        each: None
        for group in groups.values()
        for each in (_joined(group) if any(each.runtime for each in group) else group)
    }
    return indexings if len(left) == len(indexings) else left


def _joined(group: Sequence[OperandIndexing]) -> list[OperandIndexing]:
    left: list[OperandIndexing] = []
    for each in group:
        for other in left:
            whole = _whole(other, each) or _whole(each, other)
            if whole is not None:
                return _joined([whole if one is other else one for one in group if one is not each])
        left.append(each)
    return left


def _whole(one: OperandIndexing, other: OperandIndexing) -> OperandIndexing | None:
    """One indexing for two to the same index, if the first holds where the second one does not."""
    if not one.runtime and other.runtime:
        return one if is_part_at_a_glance(other, one) else None
    if [_key(each) for each in one.runtime] != [_key(each) for each in other.runtime]:
        return None
    whole = one.map if one.map == other.map else _without_condition(one.map, other.map)
    if whole is None:
        return None
    return with_values(replace(one, map=whole), {}, devices_in([one]))


def _key(origin: RuntimeOrigin) -> object:
    return origin.value_key, origin.clamp


@lru_cache(maxsize=1 << 10)
def _without_condition(own: IndexingMap, other: IndexingMap) -> IndexingMap | None:
    """A map without a condition, if the other one is the same where that does not hold."""
    domain = own.domain
    for form, limit in domain.constraints:
        rest = [each for each in domain.constraints if each != (form, limit)]
        free = domain.with_constraints(rest)
        (reach,) = own.derived([form], free).result_bounds()
        lower, upper = limit.ends
        sides = (
            Interval.from_range((reach.ends[0], lower - 1)),
            Interval.from_range((upper + 1, reach.ends[1])),
        )
        outside = [each for each in sides if not each.is_empty]
        if len(outside) == 1:
            turned = own.derived(own.forms, free.constrained([(form, outside[0])]))
            if turned.simplify(preserve_ranges=True) == other:
                return own.derived(own.forms, free)
    return None


def contains(wide: OperandIndexing, narrow: OperandIndexing) -> bool:
    """Whether isl finds, within the limit, that the first relates all that the second does.

    They lead to the same array of the same device, and their runtime variables are the same values.
    """
    is_same_place = (wide.element, wide.replica_id) == (narrow.element, narrow.replica_id)
    if not is_same_place or wide.replica_id is not None or wide.runtime != narrow.runtime:
        return False
    if any(_uses_ranges(origin.map) for origin in wide.runtime):
        return False
    return is_seen_to_be_subset(narrow.map, wide.map)


def is_seen_to_be_subset(narrow: IndexingMap, wide: IndexingMap) -> bool:
    """Whether isl finds, within the limit, that the second map has all pairs of the first."""
    try:
        return narrow.is_subset(
            wide, budget=limits.MAX_STEPS_OF_COMPARISON, runtime_as_parameters=True
        )
    except IndexingError:
        return False


def _uses_ranges(index: IndexingMap) -> bool:
    """Whether a value that is read depends on ranges: then it is not one value for an element."""
    _, ranges, _ = index.domain.by_role(index.domain.identifiers)
    limited = (form for form, _ in index.domain.constraints)
    return not {*ranges}.isdisjoint(forms.variables_of((*index.forms, *limited)))
