"""Maps between elements on different replicas: what collective operations are made of."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Final, TypeVar

from indexing import IndexingMap, Variable
from indexing.domain import Domain
from ops.answers import OpIndexing, Origin
from ops.building import index_map
from ops.joint_maps import joint_maps
from simplifier import Interval
from simplifier import form as forms
from simplifier.operations import floordiv, mod

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from indexing.domain import Constraint
    from ops.building import Sizes
    from simplifier.form import Form

T = TypeVar("T")

ASKING: Final = forms.variable("rt0")
"""The number of the replica that asks."""


@dataclass(frozen=True, slots=True)
class Read:
    """A runtime variable up to ``largest``: an element of a vector, maybe on another replica."""

    operand: int
    largest: int
    index: Form
    replica: Form = ASKING


@dataclass(frozen=True, slots=True)
class Way:
    """One direction: from an element on the replica that asks to elements on others."""

    sizes: Sizes
    element: Sequence[Form]
    replica: Form
    ranges: Sequence[int] = ()
    constraints: Sequence[Constraint] = ()
    reads: Sequence[Read] = ()


def indexing_between(output_sizes: Sizes, count: int, there: Way, back: Way) -> OpIndexing:
    """The maps of an operation with one operand on ``count`` replicas, from both its ways."""
    to_input, output_origins, output_replica = _simplified(there, count)
    to_output, input_origins, input_replica = _simplified(back, count)
    return OpIndexing(
        tuple(output_sizes),
        (to_input,),
        (to_output,),
        (output_origins,),
        (input_origins,),
        (output_replica,),
        (input_replica,),
    )


def beside(operations: Iterable[OpIndexing]) -> OpIndexing:
    """Operations of one operand each, as one of all their operands."""
    listed = [*operations]
    return OpIndexing(
        listed[0].output_sizes,
        _chained(each.output_to_input for each in listed),
        _chained(each.input_to_output for each in listed),
        _chained(each.output_origins or ((),) * len(each.output_to_input) for each in listed),
        _chained(each.input_origins or ((),) * len(each.output_to_input) for each in listed),
        _chained(each.output_replicas or (None,) * len(each.output_to_input) for each in listed),
        _chained(each.input_replicas or (None,) * len(each.output_to_input) for each in listed),
    )


def _chained(parts: Iterable[tuple[T, ...]]) -> tuple[T, ...]:
    return tuple(chain.from_iterable(parts))


def _simplified(way: Way, count: int) -> tuple[IndexingMap, tuple[Origin, ...], IndexingMap | None]:
    """The map to the element, what its runtime variables are, and the map to the replica."""
    every = Interval(0, count - 1)
    bounds = [every, *(Interval(0, read.largest) for read in way.reads)]
    domain = Domain.of(
        map(Variable.of_size, way.sizes),
        map(Variable.of_size, way.ranges),
        map(Variable, bounds),
        way.constraints,
    )
    replicas = [read.replica for read in way.reads] + [way.replica]
    if count == 1:
        replicas = [ASKING] * len(replicas)
    results = (*way.element, *(read.index for read in way.reads), *replicas)
    lengths = [len(way.element), *[1] * len(way.reads)]
    joint = joint_maps(
        IndexingMap.from_forms(results, domain), lengths, [True] * len(replicas), {0: every}
    )
    element, *indices = joint.maps
    *held, elsewhere = joint.replicas
    origins = [Origin(None, _nowhere(element))]
    for read, index, replica in zip(way.reads, indices, held, strict=True):
        origins.append(Origin(read.operand, index, replica=replica))
    kept = (origin for place, origin in enumerate(origins) if place not in joint.dropped)
    return element, tuple(kept), elsewhere


def _nowhere(indexing_map: IndexingMap) -> IndexingMap:
    """From the dimensions and ranges of a map to a scalar."""
    dims = (variable.bounds for variable in indexing_map.dims)
    return index_map((), dims, (variable.bounds for variable in indexing_map.ranges))


# Parts of an index.


def parted(index: Form, size: int) -> tuple[Form, Form]:
    """The number of a block of some size, and the index within it."""
    divisor = forms.constant(max(size, 1))
    return floordiv(index, divisor), mod(index, divisor)


def with_value(values: Sequence[T], place: int, value: T) -> tuple[T, ...]:
    """The values with another one at a place."""
    return (*values[:place], value, *values[place + 1 :])
