"""Maps between elements on different replicas: what collective operations are made of."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Final, TypeVar

from indexing import IndexingMap, Variable
from indexing.domain import Domain, substituted_constraints
from ops.devices.joint_indexing import JointIndexing, Part
from ops.index_maps import dim
from ops.rules.op_indexing import OpIndexing, Origin
from simplifier import Interval
from simplifier.expr import form as forms
from simplifier.expr.operations import floordiv, mod, substitute

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from indexing.domain import Constraint
    from ops.index_maps import Sizes
    from simplifier.expr.form import Form

T = TypeVar("T")

_ASKING: Final = "asking"
ASKING: Final = forms.variable(_ASKING)
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
    device = {_ASKING: dim(len(way.sizes))}
    parts = [(way.element, way.replica), *(([read.index], read.replica) for read in way.reads)]
    domain = Domain.of(
        map(Variable.of_size, (*way.sizes, count)),
        map(Variable.of_size, way.ranges),
        (Variable(Interval(0, read.largest)) for read in way.reads),
        substituted_constraints(way.constraints, device),
    )
    found = JointIndexing(
        tuple(Part(substitute(index, device), *substitute([on], device)) for index, on in parts),
        domain,
        Interval(0, count - 1),
        tuple(way.reads),
    ).separate()
    asking = [] if found.asking is None else [Origin(None, found.asking)]
    origins = (
        Origin(way.reads[number].operand, index, replica=replica)
        for number, index, replica in found.runtime
    )
    return found.map, (*asking, *origins), found.replica


# Parts of an index.


def parted(index: Form, size: int) -> tuple[Form, Form]:
    """The number of a block of some size, and the index within it."""
    divisor = forms.constant(max(size, 1))
    return floordiv(index, divisor), mod(index, divisor)


def with_value(values: Sequence[T], place: int, value: T) -> tuple[T, ...]:
    """The values with another one at a place."""
    return (*values[:place], value, *values[place + 1 :])
