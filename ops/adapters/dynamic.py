"""Instructions of which a part begins where other instructions say."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from indexing import IndexingMap
from indexing.layout import Kind, ShapeError
from ops.adapters.shared import sizes_of
from ops.adapters.values import value_of
from ops.builders.building import index_map, symbol
from ops.builders.dynamic import dynamic_slice, dynamic_update_slice
from simplifier import Interval
from simplifier.expr import form as forms

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ops.adapters.shared import Builder, Values
    from ops.builders.op_indexing import OpIndexing, Origin
    from ops.hlo import Instruction


_INTEGERS: Final = {Kind.SIGNED, Kind.UNSIGNED}


def _dynamic_slice(instruction: Instruction) -> OpIndexing:
    operand, *starts = instruction.operands
    sizes, part_sizes = sizes_of(operand), instruction.attributes["dynamic_slice_sizes"]
    indexing = dynamic_slice(sizes, part_sizes, start_values(instruction))
    return indexing if _are_scalars(starts) else _from_vector(indexing, 1)


def _dynamic_update_slice(instruction: Instruction) -> OpIndexing:
    operand, update, *starts = instruction.operands
    sizes, update_sizes = sizes_of(operand), sizes_of(update)
    indexing = dynamic_update_slice(sizes, update_sizes, start_values(instruction))
    return indexing if _are_scalars(starts) else _from_vector(indexing, 2)


def start_values(instruction: Instruction) -> tuple[int | None, ...]:
    """The start indices that are known before the program runs, one for each dimension.

    Raises:
        ShapeError: the starts are neither integer scalars nor one vector of integers.
    """
    starts = instruction.operands[_FIRST_START[instruction.opcode] :]
    rank = len(sizes_of(instruction.operands[0]))
    _check_starts(instruction.opcode, starts, rank)
    if _are_scalars(starts):
        places = [(start, index_map((), ())) for start in starts]
    else:
        places = [(starts[0], index_map([forms.constant(place)], ())) for place in range(rank)]
    values = (value_of(start, place) for start, place in places)
    return tuple(value.constant if value and value.is_constant else None for value in values)


_FIRST_START: Final = {"dynamic-slice": 1, "dynamic-update-slice": 2}


def _check_starts(op: str, starts: Sequence[Instruction], rank: int) -> None:
    """Raise a :class:`ShapeError` unless these are integer scalars, or one vector of integers."""
    expected = () if len(starts) == rank and _are_scalars(starts) else (rank,)
    for start in starts:
        if start.shape.element_type.kind not in _INTEGERS or sizes_of(start) != expected:
            message = f"{op}: %{start.name} is {start.shape}"
            raise ShapeError(f"{message}; expected integers of sizes {expected}")


def _are_scalars(starts: Sequence[Instruction]) -> bool:
    return all(start.shape.rank == 0 for start in starts)


# The older form of these instructions has one vector of start indices, in place of scalars.


def _from_vector(indexing: OpIndexing, before: int) -> OpIndexing:
    """The maps with the elements of operand ``before`` in place of scalars from there on."""
    count = len(indexing.output_to_input) - before
    extents = [Interval(0, count - 1)]
    there, back = indexing.output_to_input[before], indexing.input_to_output[before]
    return replace(
        indexing,
        output_to_input=(
            *indexing.output_to_input[:before],
            index_map([symbol(0)], (each.bounds for each in there.dims), extents),
        ),
        input_to_output=(
            *indexing.input_to_output[:before],
            index_map(back.forms, extents, (each.bounds for each in back.ranges)),
        ),
        output_origins=_origins_in_vector(indexing.output_origins, before),
        input_origins=_origins_in_vector(indexing.input_origins, before),
    )


def _origins_in_vector(
    origins: tuple[tuple[Origin, ...], ...], before: int
) -> tuple[tuple[Origin, ...], ...]:
    return (
        *(tuple(_in_vector(origin, before) for origin in each) for each in origins[:before]),
        (),
    )


def _in_vector(origin: Origin, vector: int) -> Origin:
    if origin.operand is None:
        return origin
    place = forms.constant(origin.operand - vector)
    return replace(origin, operand=vector, map=IndexingMap.from_forms([place], origin.map.domain))


BUILDERS: Final[Mapping[str, Builder]] = {
    "dynamic-slice": _dynamic_slice,
    "dynamic-update-slice": _dynamic_update_slice,
}

VALUES: Final[Mapping[str, Values]] = dict.fromkeys(BUILDERS, start_values)
"""Opcode -> what its builder reads of the values of operands."""
