"""Maps between elements on different replicas, for collective operations."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Final, TypeVar

from indexing.domain import substituted_constraints
from ops.devices.joint_indexing import DeviceIndex, JointIndexing
from ops.index_maps import dim, index_map
from ops.rules.op_indexing import OpIndexing, Origin
from ops.sizes import between
from simplifier import Interval
from simplifier.expr import form as forms
from simplifier.expr.operations import substitute

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from indexing import IndexingMap
    from indexing.domain import Constraint
    from indexing.symbolic_bounds import Ends
    from ops.index_maps import Sizes
    from ops.sizes import Size
    from simplifier.expr.form import Form

T = TypeVar("T")

_OWN: Final = "own"
OWN_REPLICA: Final = forms.variable(_OWN)
"""The number of the replica that a map starts from."""


@dataclass(frozen=True, slots=True)
class RuntimeElement:
    """A runtime variable up to ``largest``: an element of an operand, on any replica."""

    operand: int
    largest: Size
    index: Form
    replica: Form = OWN_REPLICA

    @property
    def clamp(self) -> Interval | Ends:
        """The values that it has."""
        return between(0, self.largest)


@dataclass(frozen=True, slots=True)
class ReplicaMap:
    """One direction: from an element on its own replica to elements on other replicas.

    A rule writes it like this; its maps are found by way of a :class:`JointIndexing`.
    """

    sizes: Sizes
    element: Sequence[Form]
    replica: Form
    ranges: Sizes = ()
    constraints: Sequence[Constraint] = ()
    reads: Sequence[RuntimeElement] = ()


def indexing_between(
    output_sizes: Sizes, count: int, there: ReplicaMap, back: ReplicaMap
) -> OpIndexing:
    """The maps of an operation with one operand on ``count`` replicas, from both directions."""
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


def with_all_operands(operations: Iterable[OpIndexing]) -> OpIndexing:
    """Operations with one operand each as one operation with all their operands."""
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


def _simplified(
    replica_map: ReplicaMap, count: int
) -> tuple[IndexingMap, tuple[Origin, ...], IndexingMap | None]:
    """The map to the element, what its runtime variables are, and the map to the replica."""
    device = {_OWN: dim(len(replica_map.sizes))}
    parts = [
        (replica_map.element, replica_map.replica),
        *(([read.index], read.replica) for read in replica_map.reads),
    ]
    domain = index_map(
        (),
        (*replica_map.sizes, count),
        replica_map.ranges,
        substituted_constraints(replica_map.constraints, device),
        [read.clamp for read in replica_map.reads],
    ).domain
    found = JointIndexing(
        tuple(
            DeviceIndex(substitute(index, device), *substitute([on], device)) for index, on in parts
        ),
        domain,
        Interval(0, count - 1),
        tuple(replica_map.reads),
    ).separate()
    own = [] if found.own is None else [Origin(None, found.own)]
    origins = (
        Origin(replica_map.reads[number].operand, index, replica=replica)
        for number, index, replica in found.runtime
    )
    return found.map, (*own, *origins), found.replica


def with_value(values: Sequence[T], index: int, value: T) -> tuple[T, ...]:
    """The values with another value at an index."""
    return (*values[:index], value, *values[index + 1 :])
