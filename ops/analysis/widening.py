"""One way in the place of many: it holds all that they tell and maybe more, and is marked so."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from indexing import IndexingMap
from indexing.hull import holds, hull
from indexing.variables import arranged
from ops.analysis.dependences import Dependence, dependence_of, devices_in
from ops.devices.joint_maps import ANY, JointMap, Part
from simplifier import Interval
from simplifier import form as forms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ops.analysis.answers import OperandIndexing
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
    first, *others = [way for way in ways if not way.map.is_known_empty] or ways[:1]
    if not others:
        return replace(first, approximation=reason)
    devices = devices_in(first, *others)
    array = [ANY] * len(first.map.forms) if sizes is None else [Interval(0, n - 1) for n in sizes]
    whole = _hull([dependence_of(way, devices) for way in (first, *others)], array)
    return whole._replace(approximation=reason).simplified(first.element)


def is_held(narrow: OperandIndexing, wide: OperandIndexing) -> bool:
    """Whether one way is seen at a glance to tell nothing that another one to its array does not.

    Source: :func:`indexing.hull.holds`, which knows the cases.
    """
    plain = not (wide.runtime or wide.replica_id or narrow.replica_id)
    return plain and holds(wide.map, narrow.map)


class _Value(NamedTuple):
    """What tells the value of a runtime variable from others, where dimensions alone lead to it."""

    instruction: Instruction
    callers: tuple[Instruction, ...]
    clamp: Interval | None
    place: Part


def _hull(dependences: Sequence[Dependence], array: Sequence[Interval]) -> Dependence:
    """A dependence that holds several to an array, of which none is empty; not simplified.

    Values that are not the same in all of them are taken for any values.
    """
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
    whole = IndexingMap.from_forms((*joint.parts[0].place, joint.parts[0].device), joint.domain)
    return arranged(whole, dims, (*ranges, *others), kept)
