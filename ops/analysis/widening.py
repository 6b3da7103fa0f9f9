"""One way in the place of many: it holds all that they tell and maybe more, and is marked so."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from indexing.transform.hull import box, holds, hull
from indexing.transform.substitute import arranged
from ops.analysis.dependences import Dependence, dependence_of, devices_in
from ops.devices.joint_maps import ANY, JointMap, Part
from simplifier import Interval
from simplifier.expr import form as forms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indexing import IndexingMap
    from ops.analysis.answers import OperandIndexing
    from ops.devices.numbering import Devices
    from ops.hlo import Instruction


def widened(
    ways: Sequence[OperandIndexing], reason: str, sizes: Sequence[int] | None = None
) -> OperandIndexing:
    """One way, marked with a reason, that holds all of these.

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
    if len(ways) == 1:
        return replace(ways[0], approximation=reason)
    whole = _hull(ways, _limits(sizes, ways[0]))
    return whole._replace(approximation=reason).simplified(ways[0].element)


def boxed(
    ways: Sequence[OperandIndexing],
    reason: str,
    begin: Sequence[int],
    end: Sequence[int],
    devices: Devices | None,
) -> OperandIndexing:
    """One way that holds all of these, as :func:`widened`, and that hardly grows when it is more.

    It begins at all elements of an array of sizes ``begin``. Dimensions on which all agree are kept
    if they are told by the element alone; in all others it leads everywhere.
    """
    joint = (whole := _hull(ways, _limits(end, ways[0]), devices)).joint
    dims = [*_limits(begin, ways[0]), joint.devices]
    limits = [*_limits(end, ways[0]), joint.devices]
    alone = JointMap(joint.parts[:1], joint.domain, joint.devices)
    every = alone.with_results_of(box(joint.element, dims, limits))
    return Dependence(every, (), whole.devices, reason).simplified(ways[0].element)


def _limits(sizes: Sequence[int] | None, way: OperandIndexing) -> list[Interval]:
    if sizes is None:
        return [ANY] * len(way.map.forms)
    return [Interval(0, size - 1) for size in sizes]


def is_held(narrow: OperandIndexing, wide: OperandIndexing) -> bool:
    """Whether one way is seen at a glance to tell nothing that another one to its array does not.

    Source: :func:`indexing.transform.hull.holds`, which knows the cases.
    """
    plain = not (wide.runtime or wide.replica_id or narrow.replica_id)
    return plain and holds(wide.map, narrow.map)


class _Value(NamedTuple):
    """What tells the value of a runtime variable from others, where dimensions alone lead to it."""

    instruction: Instruction
    callers: tuple[Instruction, ...]
    clamp: Interval | None
    place: Part


def _hull(
    ways: Sequence[OperandIndexing], array: Sequence[Interval], devices: Devices | None = None
) -> Dependence:
    """A dependence that holds several ways to an array, simplified but for its values.

    Values that are not the same in all of them are taken for any values.
    """
    devices = devices or devices_in(*ways)
    points = [way for way in ways if not way.map.is_known_empty] or ways[:1]
    dependences = [dependence_of(way, devices) for way in points]
    first = dependences[0]
    values = [_values(each) for each in dependences]
    shared = [value for value in values[0] if all(value in others for others in values)]
    numbers = [[own[value] for value in shared] for own in values]
    maps = [_over(*pair) for pair in zip(dependences, numbers, strict=True)]
    whole = hull(maps, [*array, first.joint.devices])
    *index, device = whole.forms
    parts = [Part(tuple(index), device), *(value.place for value in shared)]
    joint = JointMap(tuple(parts), whole.domain, first.joint.devices)
    return Dependence(joint, tuple(first.origins[n] for n in numbers[0]), first.devices)


def _values(dependence: Dependence) -> dict[_Value, int]:
    """The values that dimensions alone lead to, with the numbers of their variables."""
    rows = zip(dependence.origins, dependence.joint.parts[1:], strict=True)
    return {
        _Value(origin.instruction, origin.callers, origin.clamp, read): number
        for number, (origin, read) in enumerate(rows)
        if all(name[0] == "d" for name in forms.variables_of((*read.place, read.device)))
    }


def _over(dependence: Dependence, numbers: Sequence[int]) -> IndexingMap:
    """The element and its device, over runtime variables of these numbers; others are ranges."""
    joint = dependence.joint
    dims, ranges, runtime = joint.domain.by_role(joint.domain.places)
    kept = [runtime[number] for number in numbers]
    others = (place for place in runtime if place not in kept)
    return arranged(joint.element, dims, (*ranges, *others), kept)
