"""Dynamic slice and dynamic update slice: a part of a tensor from computed start indices on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import NoneType
from typing import Final

from indexing import IndexingMap
from indexing.layout import Kind, ShapeError
from indexing.passes import Constraint
from ops.hlo import Instruction
from ops.index_maps import (
    CheckedSizes,
    Sizes,
    check_count,
    checked_sizes,
    dimensions_of,
    every_element,
    index_map,
    no_dimensions,
    symbol,
)
from ops.rules.constant_folding import value_of
from ops.rules.rule import OpIndexing, OpRule, Origin, bounds_of, sizes_and_part, sizes_of
from ops.sizes import Size, as_form, at_most, between, inside, least, not_negative
from simplifier import forms
from simplifier.errors import INTEGER, check_type
from simplifier.forms import Form, Interval, facts_of


def dynamic_slice(
    operand_sizes: Sizes, slice_sizes: Sizes, start_indices: Sequence[int | None] = ()
) -> OpIndexing:
    """Takes the part of a tensor that begins at start indices that the program computes.

    A start index is clamped so that the part lies in the operand. ``start_indices`` has the values
    that are known; ``None`` in it stands for a runtime variable. Without it all starts are runtime
    variables.

    Shapes:
        operands: ``operand_sizes``, then a scalar for the start in each dimension.
        result: ``slice_sizes``, none larger than the operand's.

    Source:
        XLA operation semantics, DynamicSlice.

    Raises:
        ShapeError: a slice is larger than the operand, or there are too few sizes or starts.

    >>> indexing = dynamic_slice((2, 258), (1, 32))
    >>> print(indexing.output_to_input[0])
    (d0, d1){rt0, rt1} -> (d0 + rt0, d1 + rt1), domain: d0 in [0, 0], d1 in [0, 31], rt0 in [0, 1],
    rt1 in [0, 226]
    >>> print(indexing.output_origins[0][1])
    operand 2; (d0, d1) -> (), domain: d0 in [0, 0], d1 in [0, 31]
    >>> print(dynamic_slice((2, 258), (1, 32), (0, 300)).input_to_output[0])
    (d0, d1) -> (d0, d1 - 226), domain: d0 in [0, 0], d1 in [226, 257]
    """
    operand_sizes = checked_sizes("dynamic-slice", "operand", operand_sizes)
    slice_sizes = checked_sizes("dynamic-slice", "slice", slice_sizes)
    starts = _Starts("dynamic-slice", operand_sizes, slice_sizes, start_indices)
    scalars = len(operand_sizes)
    return OpIndexing(
        slice_sizes,
        (starts.out_of(slice_sizes), *[no_dimensions(slice_sizes)] * scalars),
        (starts.into(operand_sizes), *[every_element(slice_sizes)] * scalars),
        (starts.origins(1, slice_sizes), *[()] * scalars),
        (starts.origins(1, operand_sizes), *[()] * scalars),
    ).on_condition(starts.conditions)


def dynamic_update_slice(
    operand_sizes: Sizes, update_sizes: Sizes, start_indices: Sequence[int | None] = ()
) -> OpIndexing:
    """Writes an update over the part of the operand that begins at the start indices.

    Start indices are as for :func:`dynamic_slice`. An element of the result is the operand's unless
    the update covers it, which the starts decide: so the map to the operand has them, too.

    Shapes:
        operands: ``operand_sizes``; ``update_sizes``, none larger than the operand's; then a
            scalar for the start in each dimension.
        result: ``operand_sizes``.

    Source:
        XLA operation semantics, DynamicUpdateSlice.

    Raises:
        ShapeError: the update is larger than the operand, or there are too few sizes or starts.

    >>> indexing = dynamic_update_slice((20, 30), (5, 10))
    >>> print(indexing.output_to_input[0])
    (d0, d1){rt0, rt1} -> (d0, d1), domain: d0 in [0, 19], d1 in [0, 29], rt0 in [0, 15],
    rt1 in [0, 20], (d0 < rt0 + 5 and d0 >= rt0 and d1 < rt1 + 10 and d1 >= rt1) in [0, 0]
    >>> print(indexing.output_to_input[1])
    (d0, d1){rt0, rt1} -> (d0 - rt0, d1 - rt1), domain: d0 in [0, 19], d1 in [0, 29],
    rt0 in [0, 15], rt1 in [0, 20], d0 - rt0 in [0, 4], d1 - rt1 in [0, 9]
    >>> print(dynamic_update_slice((20, 30), (5, 30), (0, 0)).output_to_input[0])
    (d0, d1) -> (d0, d1), domain: d0 in [5, 19], d1 in [0, 29]
    """
    operand_sizes = checked_sizes("dynamic-update-slice", "operand", operand_sizes)
    update_sizes = checked_sizes("dynamic-update-slice", "update", update_sizes)
    starts = _Starts("dynamic-update-slice", operand_sizes, update_sizes, start_indices)
    kept, covering = starts.outside(operand_sizes), starts.origins(2, operand_sizes)
    scalars = len(operand_sizes)
    none = [()] * scalars
    return OpIndexing(
        operand_sizes,
        (kept, starts.into(operand_sizes), *[no_dimensions(operand_sizes)] * scalars),
        (kept, starts.out_of(update_sizes), *[every_element(operand_sizes)] * scalars),
        (covering, covering, *none),
        (covering, starts.origins(2, update_sizes), *none),
    ).on_condition(starts.conditions)


class _Starts:
    """Where in a tensor a part begins: in each dimension at a number, or at a runtime variable."""

    def __init__(
        self,
        op: str,
        sizes: CheckedSizes,
        part_sizes: CheckedSizes,
        start_indices: Sequence[int | None],
    ) -> None:
        check_type(start_indices, Sequence, f"{op}: start_indices", "a list of integers and None")
        known = start_indices or [None] * len(sizes)
        check_count(op, "the part", part_sizes, len(sizes))
        check_count(op, "start_indices", known, len(sizes))
        for start in known:
            expected = "an integer, or None for one that is known when the program runs"
            check_type(start, (*INTEGER, NoneType), f"{op}: the start index", expected)
        self.conditions = _check_part(op, sizes, part_sizes)
        self._part_sizes = part_sizes
        self._last = [size - part for size, part in zip(sizes, part_sizes, strict=True)]
        self._known = [
            start if start is None else least(max(start, 0), last)
            for start, last in zip(known, self._last, strict=True)
        ]
        self._runtime = [axis for axis, start in enumerate(self._known) if start is None]

    def out_of(self, extents: Sizes) -> IndexingMap:
        """From an index in the part to the index in the tensor."""
        pairs = zip(dimensions_of(extents), self._forms(), strict=True)
        return self._map([index + start for index, start in pairs], extents)

    def into(self, extents: Sizes) -> IndexingMap:
        """From the indices in the tensor that the part covers to those in the part."""
        pairs = list(zip(dimensions_of(extents), self._forms(), strict=True))
        covered = [
            limit
            for (index, start), known, part in zip(
                pairs, self._known, self._part_sizes, strict=True
            )
            for limit in (
                inside(index - start, between(0, part - 1))
                if known is None
                else inside(index, between(known, known + part - 1))
            )
        ]
        return self._map([index - start for index, start in pairs], extents, covered)

    def outside(self, extents: Sizes) -> IndexingMap:
        """The identity on the indices in the tensor that the part does not cover."""
        identity = dimensions_of(extents)
        rows = zip(identity, self._forms(), self._known, self._last, self._part_sizes, strict=True)
        covered = [condition for row in rows for condition in _covers(*row)]
        if 0 in self._part_sizes:
            return self._map(identity, extents)
        beyond = forms.negation(forms.conjunction(covered))
        return self._map(identity, extents, facts_of(beyond))

    def origins(self, first: int, extents: Sizes) -> tuple[Origin, ...]:
        """The origins of the runtime variables: scalar operands from number ``first`` on."""
        scalar = no_dimensions(extents)
        return tuple(
            Origin(first + axis, scalar, between(0, self._last[axis])) for axis in self._runtime
        )

    def _forms(self) -> list[Form]:
        numbers = iter(range(len(self._runtime)))
        return [
            forms.variable(f"rt{next(numbers)}") if start is None else as_form(start)
            for start in self._known
        ]

    def _map(
        self, results: Iterable[Form], extents: Sizes, constraints: Iterable[Constraint] = ()
    ) -> IndexingMap:
        runtime = [between(0, self._last[axis]) for axis in self._runtime]
        return index_map(results, extents, (), constraints, runtime, over=self._part_sizes)


def _check_part(op: str, sizes: CheckedSizes, part_sizes: CheckedSizes) -> list[Constraint]:
    conditions = not_negative((*sizes, *part_sizes))
    for axis, (size, part) in enumerate(zip(sizes, part_sizes, strict=True)):
        message = f"{op}: dimension {axis} of size {size} has a part of size {part}"
        conditions += at_most(part, size, f"{message}; expected {size} or less")
    return conditions


def _covers(index: Form, start: Form, known: Size | None, last: Size, part: Size) -> Iterator[Form]:
    """That a part covers an index in one dimension, without conditions that always hold."""
    if last == 0:
        return
    if part == 1 and known not in (0, last):
        yield forms.zero(index - start)
        return
    if known != 0:
        yield forms.nonnegative(index - start)
    if known != last:
        yield forms.nonnegative(start + (part - 1) - index)


# Reading instructions.

_INTEGERS: Final = {Kind.SIGNED, Kind.UNSIGNED}


def _dynamic_slice(instruction: Instruction) -> OpIndexing:
    operand, *starts = instruction.operands
    part_sizes = instruction.attributes["dynamic_slice_sizes"]
    if operand.shape.dynamic_dimensions:
        sizes, part_sizes = sizes_and_part(operand, part_sizes)
    else:
        sizes = sizes_of(operand)
    indexing = dynamic_slice(sizes, part_sizes, start_values(instruction))
    return indexing if _are_scalars(starts) else _from_vector(indexing, 1)


def _dynamic_update_slice(instruction: Instruction) -> OpIndexing:
    operand, update, *starts = instruction.operands
    sizes, update_sizes = bounds_of(operand), sizes_of(update)
    indexing = dynamic_update_slice(sizes, update_sizes, start_values(instruction))
    return indexing if _are_scalars(starts) else _from_vector(indexing, 2)


def start_values(instruction: Instruction) -> tuple[int | None, ...]:
    """The start indices that are known before the program runs; ``None`` for the others.

    Raises:
        ShapeError: the starts are neither integer scalars nor one vector of integers.
    """
    starts = instruction.operands[_FIRST_START[instruction.opcode] :]
    rank = len(sizes_of(instruction.operands[0]))
    _check_starts(instruction.opcode, starts, rank)
    if _are_scalars(starts):
        elements = [(start, index_map((), ())) for start in starts]
    else:
        elements = [(starts[0], index_map([forms.constant(axis)], ())) for axis in range(rank)]
    values = (value_of(start, element) for start, element in elements)
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


# The older form of these instructions has one vector of start indices instead of scalars.


def _from_vector(indexing: OpIndexing, before: int) -> OpIndexing:
    """The maps where the elements of operand ``before`` replace the scalars from there on."""
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
    element = forms.constant(origin.operand - vector)
    return replace(origin, operand=vector, map=IndexingMap.from_forms([element], origin.map.domain))


RULES: Final[Mapping[str, OpRule]] = {
    "dynamic-slice": OpRule(_dynamic_slice, values=start_values),
    "dynamic-update-slice": OpRule(_dynamic_update_slice, values=start_values),
}
