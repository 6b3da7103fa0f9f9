"""Widening: one indexing replaces many; it relates all that they do, maybe more, and is marked."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from indexing.layout import UNBOUNDED_SIZE
from indexing.transform.hull import box, holds, hull
from indexing.transform.substitute import arranged
from ops import limits
from ops.dependence.operand_indexing import devices_in, joint_form, separate_form
from ops.devices.joint_indexing import ANY, DeviceIndex, JointIndexing
from simplifier import Interval
from simplifier.expr import form as forms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indexing import IndexingMap
    from indexing.symbolic_bounds import Ends
    from ops.dependence.operand_indexing import OperandIndexing, RuntimeOrigin
    from ops.devices.numbering import Devices
    from ops.hlo import Instruction


def widened(
    indexings: Sequence[OperandIndexing], reason: str, sizes: Sequence[int] | None = None
) -> OperandIndexing:
    """One indexing, marked with a reason, that holds all of these.

    They lead to one array, of these sizes, all on the device that asks or all on others. Where they
    agree on a dimension, a constraint or the device, that is kept, with the runtime variables that
    it needs; everything else becomes a range, from the least to the greatest value.

    >>> from indexing import parse_map
    >>> from ops import OperandIndexing
    >>> texts = ["(d0, d1) -> (d0, d1), domain: d0 in [0, 3], d1 in [0, 5]",
    ...          "(d0, d1) -> (d0, d1 + 2), domain: d0 in [0, 3], d1 in [0, 3]"]
    >>> print(widened([OperandIndexing(parse_map(text)) for text in texts], "an example"))
    (d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 3], d1 in [0, 5], s0 in [0, 5]
    approximation: an example
    """
    first = indexings[0]
    if len(indexings) == 1:
        return replace(first, approximation=reason)
    devices = devices_in(indexings)
    whole = _hull(indexings, _bounds(sizes, first), devices)
    return separate_form(replace(whole, approximation=reason), devices, first.element)


def boxed(
    indexings: Sequence[OperandIndexing],
    reason: str,
    begin: Sequence[int],
    end: Sequence[int],
    devices: Devices | None,
) -> OperandIndexing:
    """One indexing that holds all of these, as :func:`widened`, and that hardly grows afterwards.

    It begins at all elements of an array of sizes ``begin``. A dimension on which all agree is kept
    if the element alone tells it; in all others it leads everywhere.
    """
    first = indexings[0]
    devices = devices or devices_in(indexings)
    whole = _hull(indexings, _bounds(end, first), devices)
    dims = [*_bounds(begin, first), whole.devices]
    results = [*_bounds(end, first), whole.devices]
    every = whole.element_as(box(whole.element, dims, results))
    return separate_form(replace(every, approximation=reason), devices, first.element)


def shortened(indexing: OperandIndexing, reason: str) -> OperandIndexing:
    """The indexing without long formulas; if there are any, for any values, and marked."""
    if indexing.longest <= limits.MAX_TERMS_OF_WIDE:
        return indexing
    devices = devices_in([indexing])
    joint = joint_form(indexing, devices).for_any_values()
    bounds, why = joint.element.result_bounds(), indexing.approximation or reason
    short = joint.shortened(limits.MAX_TERMS_OF_WIDE, bounds, why)
    return separate_form(short, devices, indexing.element)


def is_part_at_a_glance(narrow: OperandIndexing, wide: OperandIndexing) -> bool:
    """Whether one indexing is seen at a glance to tell nothing that another one does not.

    Source: :func:`indexing.transform.hull.holds`, which knows the cases.
    """
    is_plain = not wide.runtime and wide.replica_id is None and narrow.replica_id is None
    return is_plain and holds(wide.map, narrow.map)


def _bounds(sizes: Sequence[int] | None, indexing: OperandIndexing) -> list[Interval]:
    if sizes is None:
        return [ANY] * len(indexing.map.forms)
    return [Interval(0, None if size == UNBOUNDED_SIZE else size - 1) for size in sizes]


class _Value(NamedTuple):
    """What tells the value of a runtime variable from others, where dimensions alone lead to it."""

    instruction: Instruction
    callers: tuple[Instruction, ...]
    clamp: Interval | Ends | None
    part: DeviceIndex


def _hull(
    indexings: Sequence[OperandIndexing], array: Sequence[Interval], devices: Devices | None
) -> JointIndexing[RuntimeOrigin]:
    """A joint form that holds several indexings to an array, simplified but for its values.

    Values that are not the same in all of them are taken for any values.
    """
    points = [each for each in indexings if not each.map.is_known_empty] or indexings[:1]
    joints = [joint_form(each, devices) for each in points]
    first = joints[0]
    values = [_values(each) for each in joints]
    shared = [value for value in values[0] if all(value in others for others in values)]
    numbers = [[own[value] for value in shared] for own in values]
    maps = [_over(*pair) for pair in zip(joints, numbers, strict=True)]
    whole = hull(maps, [*array, first.devices])
    *index, device = whole.forms
    parts = (DeviceIndex(tuple(index), device), *(value.part for value in shared))
    origins = tuple(first.origins[number] for number in numbers[0])
    return JointIndexing(parts, whole.domain, first.devices, origins)


def _values(joint: JointIndexing[RuntimeOrigin]) -> dict[_Value, int]:
    """The values that dimensions alone lead to, with the numbers of their variables."""
    rows = zip(joint.origins, joint.parts[1:], strict=True)
    return {
        _Value(origin.instruction, origin.callers, origin.clamp, part): number
        for number, (origin, part) in enumerate(rows)
        if all(name[0] == "d" for name in forms.variables_of((*part.coordinates, part.device)))
    }


def _over(joint: JointIndexing[RuntimeOrigin], numbers: Sequence[int]) -> IndexingMap:
    """The element and its device, over runtime variables of these numbers; others are ranges."""
    dims, ranges, runtime = joint.domain.by_role(joint.domain.identifiers)
    kept = [runtime[number] for number in numbers]
    others = (place for place in runtime if place not in kept)
    return arranged(joint.element, dims, (*ranges, *others), kept)
