"""One dependence after the other: maps composed, with the origins of their runtime variables.

What is read on another device is computed there: the values that lead to it are that device's, and
its own number is the one that a collective operation behind it asks with.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from indexing import IndexingMap, Variable
from indexing.domain import Domain, substituted_constraints
from ops.answers import Answer, OperandIndexing, RuntimeOrigin, Unknown
from ops.building import dim
from ops.devices.numbering import devices_of, is_asking_device, value_on
from ops.joint_maps import joint_maps
from simplifier import Interval
from simplifier import form as forms
from simplifier.operations import maximum, minimum, substitute

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from simplifier.form import Form

_ANY_INTEGER = Variable(Interval(None, None))
MOST_WAYS = 1024
"""An array that more different maps lead to is given up, and what lies behind it."""

_REMEMBERED = 1 << 14
"""How many compositions of maps are remembered."""


def compose(consumer: OperandIndexing, producer: OperandIndexing) -> OperandIndexing:
    """``producer`` after ``consumer``: see :meth:`OperandIndexing.compose`."""
    if not (consumer.runtime or producer.runtime or consumer.replica_id or producer.replica_id):
        return OperandIndexing(_composed(consumer.map, producer.map), element=producer.element)
    return _composed_with_all_beside(consumer, producer)


@lru_cache(maxsize=_REMEMBERED)
def _composed(consumer: IndexingMap, producer: IndexingMap) -> IndexingMap:
    """Layers of a model repeat themselves, and so do the compositions along them."""
    return consumer.compose(producer).simplify().without_unused_symbols()


class _Read(NamedTuple):
    """Where the value of a runtime variable is found, as forms in the numbering of a map."""

    origin: RuntimeOrigin
    place: tuple[Form, ...]
    replica: Form | None


@dataclass(slots=True)
class _Passage:
    """Forms of the consumer that pass through the producer, in dimensions behind its own."""

    rank: int
    forms: list[Form]

    def through(self, form: Form) -> Form:
        """The dimension in which a form passes."""
        self.forms.append(form)
        return dim(self.rank + len(self.forms) - 1)


def _composed_with_all_beside(
    consumer: OperandIndexing, producer: OperandIndexing
) -> OperandIndexing:
    passage = _Passage(len(producer.map.dims), [])
    asked = _asked_device(consumer)
    device = None if asked is None else passage.through(asked)
    elsewhere = device if consumer.replica_id else None
    known = _known_on(device, producer)
    near = _reads_on(producer, known, elsewhere)
    far = [_passed(read, passage) for read in _reads_on(consumer, {}, None)]
    replica = elsewhere
    if producer.replica_id:
        (replica,) = substitute(producer.replica_id.forms, known)
    element = substitute(producer.map.forms, known)
    domain = _wider(producer, known, len(passage.forms))
    replicas = [*(read.replica for read in near + far), replica]
    results = [element, *(read.place for read in near + far)]
    first = IndexingMap.from_forms((*consumer.map.forms, *passage.forms), consumer.map.domain)
    given = [form for form in replicas if form is not None]
    second = IndexingMap.from_forms((*chain(*results), *given), domain)
    asking = {
        number: Interval(0, devices_of(read.origin.instruction.computation.module).total - 1)
        for number, read in enumerate(near + far)
        if is_asking_device(read.origin.instruction) and f"rt{number}" not in known
    }
    joint = joint_maps(
        first.compose(second),
        [len(part) for part in results],
        [form is not None for form in replicas],
        asking,
    )
    runtime = tuple(
        replace(read.origin, map=index, replica_id=held)
        for number, (read, index, held) in enumerate(
            zip(near + far, joint.maps[1:], joint.replicas[:-1], strict=True)
        )
        if number not in joint.dropped
    )
    return OperandIndexing(joint.maps[0], runtime, joint.replicas[-1], producer.element)


def _asked_device(consumer: OperandIndexing) -> Form | None:
    """The device that holds what is read, if that is told; else the one that asks, if it is."""
    if consumer.replica_id:
        return consumer.replica_id.forms[0]
    asking = (
        forms.variable(f"rt{number}")
        for number, origin in enumerate(consumer.runtime)
        if is_asking_device(origin.instruction)
    )
    return next(asking, None)


def _known_on(device: Form | None, producer: OperandIndexing) -> Mapping[str, Form]:
    """The values of the runtime variables that the number of the device gives."""
    known: dict[str, Form] = {}
    for number, origin in enumerate(producer.runtime):
        is_own = device is not None and origin.replica_id is None
        value = value_on(origin.instruction, device) if is_own else None
        if value is not None:
            known[f"rt{number}"] = _clamped(value, origin.clamp)
    return known


def _clamped(value: Form, bounds: Interval | None) -> Form:
    if bounds is None:
        return value
    if bounds.lower is not None:
        value = maximum((value, forms.constant(bounds.lower)))
    return value if bounds.upper is None else minimum((value, forms.constant(bounds.upper)))


def _reads_on(
    indexing: OperandIndexing, known: Mapping[str, Form], elsewhere: Form | None
) -> list[_Read]:
    """What a dependence reads, by default on another device."""
    return [
        _Read(
            origin,
            substitute(origin.map.forms, known),
            substitute(origin.replica_id.forms, known)[0] if origin.replica_id else elsewhere,
        )
        for origin in indexing.runtime
    ]


def _passed(read: _Read, passage: _Passage) -> _Read:
    replica = None if read.replica is None else passage.through(read.replica)
    return _Read(read.origin, tuple(map(passage.through, read.place)), replica)


def _wider(producer: OperandIndexing, known: Mapping[str, Form], passed: int) -> Domain:
    """The producer's domain with dimensions for what passes, and where its own are answered."""
    own = producer.map.domain
    wider = Domain((*own.dims, *[_ANY_INTEGER] * passed), own.ranges, own.runtime)
    constraints = substituted_constraints(own.constraints, known)
    reached = [(form, own.bounds[place]) for place, form in known.items()]
    return wider.constrained([*constraints, *reached])


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
