"""One dependence after the other: maps composed, with the origins of their runtime variables.

What is read on another device is computed there: the values that lead to it are that device's, and
its own number is the one that a collective operation behind it asks with.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from indexing import IndexingMap, Variable
from indexing.domain import Domain, substituted_constraints
from ops.answers import Answer, OperandIndexing, RuntimeOrigin, Unknown
from ops.building import dim, runtime_value
from ops.devices.numbering import Devices, asking_device, devices_of, is_asking_device, value_on
from ops.joint_maps import ANY, JointMap, Part
from simplifier import Interval
from simplifier import form as forms
from simplifier.operations import maximum, minimum, substitute

if TYPE_CHECKING:
    from collections.abc import Collection

    from simplifier.form import Form

MOST_WAYS = 1024
"""An array that more different maps lead to is given up, and what lies behind it."""

_REMEMBERED = 1 << 14
"""How many compositions of maps are remembered."""


def compose(consumer: OperandIndexing, producer: OperandIndexing) -> OperandIndexing:
    """``producer`` after ``consumer``: see :meth:`OperandIndexing.compose`."""
    if not (consumer.runtime or producer.runtime or consumer.replica_id or producer.replica_id):
        return OperandIndexing(_composed(consumer.map, producer.map), element=producer.element)
    return _composed_on_devices(consumer, producer)


@lru_cache(maxsize=_REMEMBERED)
def _composed(consumer: IndexingMap, producer: IndexingMap) -> IndexingMap:
    """Layers of a model repeat themselves, and so do the compositions along them."""
    return consumer.compose(producer).simplify().without_unused_symbols()


def _composed_on_devices(consumer: OperandIndexing, producer: OperandIndexing) -> OperandIndexing:
    """What the consumer needs is computed on the device that it names, and asked for there."""
    devices = _devices_that_count(consumer, producer)
    first, far = _joint(consumer, devices)
    second, near = _joint(producer, devices)
    told = first.compose(second).simplified()
    origins = near + far
    runtime = [
        replace(origins[number], map=index, replica_id=replica)
        for number, index, replica in told.reads
    ]
    if told.asking and devices:
        runtime.insert(0, RuntimeOrigin(asking_device(devices), told.asking))
    return OperandIndexing(told.element, tuple(runtime), told.replica, producer.element)


def _devices_that_count(*ways: OperandIndexing) -> Devices | None:
    """The devices of the program, if it matters which of them asks."""
    sources = [origin.instruction for way in ways for origin in way.runtime]
    if any(map(is_asking_device, sources)) or any(way.replica_id for way in ways):
        return next((devices_of(source.computation.module) for source in sources), None)
    return None


def _joint(way: OperandIndexing, devices: Devices | None) -> tuple[JointMap, list[RuntimeOrigin]]:
    """All that a dependence tells, and the origins of its runtime variables.

    Those that are numbers of the device that asks are none.
    """
    own = way.map.domain
    device, every = dim(len(own.dims)), Interval(0, devices.total - 1) if devices else ANY
    known = _numbers_of(device, way) if devices else {}
    left = [number for number in range(len(way.runtime)) if number not in known]
    values = {f"rt{number}": form for number, form in known.items()}
    values |= {f"rt{number}": runtime_value(place) for place, number in enumerate(left)}
    domain = Domain(
        (*own.dims, Variable(every)), own.ranges, tuple(own.runtime[number] for number in left)
    )
    reached = [(form, own.runtime[number].bounds) for number, form in known.items()]
    told = [(way.map, way.replica_id)]
    told += [(way.runtime[number].map, way.runtime[number].replica_id) for number in left]
    parts = (
        Part(substitute(index.forms, values), *substitute(on.forms if on else [device], values))
        for index, on in told
    )
    limited = domain.constrained([*substituted_constraints(own.constraints, values), *reached])
    return JointMap(tuple(parts), limited, every), [way.runtime[number] for number in left]


def _numbers_of(device: Form, way: OperandIndexing) -> dict[int, Form]:
    """The values of the runtime variables that are numbers of the device that asks."""
    known: dict[int, Form] = {}
    for number, origin in enumerate(way.runtime):
        value = None if origin.replica_id else value_on(origin.instruction, device)
        if value is not None:
            known[number] = _clamped(value, origin.clamp)
    return known


def _clamped(value: Form, bounds: Interval | None) -> Form:
    if bounds is None:
        return value
    if bounds.lower is not None:
        value = maximum((value, forms.constant(bounds.lower)))
    return value if bounds.upper is None else minimum((value, forms.constant(bounds.upper)))


# Sets of dependences.


def joined(left: Answer, right: Answer) -> Answer:
    """All ways of both, each once; unknown if one of them is, or if there are too many."""
    if isinstance(left, Unknown):
        return left
    if isinstance(right, Unknown):
        return right
    return _limited(dict.fromkeys(left + right))


def _limited(ways: Collection[OperandIndexing]) -> Answer:
    if len(ways) > MOST_WAYS:
        return Unknown(f"more than {MOST_WAYS} different maps lead here")
    return tuple(ways)


def followed(answer: Answer, step: Answer) -> Answer:
    """Every way of the one after every way of the other; unknown as for :func:`joined`."""
    if isinstance(answer, Unknown):
        return answer
    if isinstance(step, Unknown):
        return step
    return _limited(dict.fromkeys(first.compose(second) for first in answer for second in step))
