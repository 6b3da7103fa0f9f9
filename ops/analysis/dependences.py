"""Dependences as joint maps, in which devices and values can take the place of variables; and back.

A runtime variable whose value is the number of the device that asks is no variable there.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from indexing import Variable
from indexing.domain import Domain, substituted_constraints
from ops.analysis.answers import OperandIndexing, RuntimeOrigin
from ops.devices.device_tables import told_by_tables
from ops.devices.joint_maps import ANY, JointMap, Part
from ops.devices.numbering import asking_device, devices_of, is_asking_device
from ops.index_maps import dim, runtime_value
from simplifier import Interval
from simplifier.expr.operations import substitute

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ops.devices.numbering import Devices
    from simplifier.expr.form import Form


class Dependence(NamedTuple):
    """All that an :class:`OperandIndexing` tells, as one map.

    There is one origin for each runtime variable.
    """

    joint: JointMap
    origins: tuple[RuntimeOrigin, ...]
    devices: Devices | None
    approximation: str = ""

    def compose(self, producer: Dependence) -> Dependence:
        """The dependence on what the producer depends on, not simplified."""
        joint = self.joint.compose(producer.joint)
        reason = self.approximation or producer.approximation
        return Dependence(joint, producer.origins + self.origins, self.devices, reason)

    def for_any_values(self) -> Dependence:
        """The dependence with ranges in place of its runtime variables, and no origins."""
        return self._replace(joint=self.joint.for_any_values(), origins=())

    def told_by_tables(self) -> Dependence:
        """The same in shorter formulas: see :mod:`ops.devices.device_tables`."""
        return self._replace(joint=told_by_tables(self.joint))

    def shortened(self, most: int, limits: Sequence[Interval], reason: str) -> Dependence:
        """The dependence without longer formulas, marked with a reason; it has no origins.

        ``limits`` hold the indices and devices that it leads to.
        """
        return self._replace(joint=self.joint.shortened(most, limits), approximation=reason)

    def simplified(self, element: int) -> OperandIndexing:
        """The dependence on an array of a tuple in its smallest form."""
        told = self.joint.simplified()
        runtime = [
            replace(self.origins[number], map=place, replica_id=replica)
            for number, place, replica in told.reads
        ]
        if told.asking and self.devices:
            runtime.insert(0, RuntimeOrigin(asking_device(self.devices), told.asking))
        return OperandIndexing(
            told.element, tuple(runtime), told.replica, element, self.approximation
        )


def devices_in(*ways: OperandIndexing) -> Devices | None:
    """The devices of the program that dependences are in, if they tell."""
    sources = (origin.instruction for way in ways for origin in way.runtime)
    return next((devices_of(source.computation.module) for source in sources), None)


def device_of(way: OperandIndexing) -> Form:
    """The device that asks, as a variable of the dependence."""
    return dim(len(way.map.dims))


def dependence_of(
    way: OperandIndexing, devices: Devices | None, known: Mapping[int, Form] | None = None
) -> Dependence:
    """The dependence with values that are known in place of its runtime variables.

    ``known`` are such values, by the number of the variable, over the variables of ``way.map`` and
    its :func:`device_of`. The values are in the bounds of the variables.
    """
    own, device = way.map.domain, device_of(way)
    every = Interval(0, devices.total - 1) if devices else ANY
    asking = (
        number for number, origin in enumerate(way.runtime) if is_asking_device(origin.instruction)
    )
    given = {**dict.fromkeys(asking, device), **(known or {})}
    left = [number for number in range(len(way.runtime)) if number not in given]
    renumbered = {f"rt{number}": runtime_value(place) for place, number in enumerate(left)}
    found = dict(zip(given, substitute(given.values(), renumbered), strict=True))
    values = renumbered | {f"rt{number}": form for number, form in found.items()}
    domain = Domain(
        (*own.dims, Variable(every)), own.ranges, tuple(own.runtime[number] for number in left)
    ).constrained(
        [
            *substituted_constraints(own.constraints, values),
            *((form, own.runtime[number].bounds) for number, form in found.items()),
        ]
    )
    origins = tuple(way.runtime[number] for number in left)
    told = [(way.map, way.replica_id), *((origin.map, origin.replica_id) for origin in origins)]
    parts = (
        Part(substitute(place.forms, values), *substitute(on.forms if on else [device], values))
        for place, on in told
    )
    return Dependence(JointMap(tuple(parts), domain, every), origins, devices, way.approximation)
