"""Dynamic slice and dynamic update slice: a part of a tensor from computed start indices on."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from types import NoneType
from typing import Final

from indexing import IndexingMap
from indexing.layout import Kind, ShapeError
from indexing.passes import Constraint
from ops import index_maps
from ops.hlo import Instruction
from ops.hlo.opcodes import FIRST_START
from ops.hlo.shape_inference import Application, Sized, sizes_of_part
from ops.index_maps import CheckedSizes, Size, Sizes
from ops.rules.constant_folding import value_of
from ops.rules.rule import OpIndexing, OpRule, Origin, bounds_of, sizes_and_part, sizes_of
from simplifier import forms
from simplifier.errors import INTEGER, check_type
from simplifier.forms import Form, facts_of


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
    return _StartedPart("dynamic-slice", operand_sizes, slice_sizes, start_indices).sliced()


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
    return _StartedPart(
        "dynamic-update-slice", operand_sizes, update_sizes, start_indices
    ).updated()


class _StartedPart:
    """A part of a tensor: in each dimension it begins at a number, or at a runtime variable.

    The starts are scalars, or elements of one vector, in the older form of these instructions.
    """

    def __init__(
        self,
        op: str,
        operand_sizes: Sizes,
        part_sizes: Sizes,
        start_indices: Sequence[int | None],
        *,
        is_vector: bool = False,
    ) -> None:
        self._sizes = index_maps.checked_sizes(op, "operand", operand_sizes)
        self._part = index_maps.checked_sizes(op, _ROLES[op], part_sizes)
        check_type(start_indices, Sequence, f"{op}: start_indices", "a list of integers and None")
        known = start_indices or [None] * len(self._sizes)
        index_maps.check_count(op, "the part", self._part, len(self._sizes))
        index_maps.check_count(op, "start_indices", known, len(self._sizes))
        for start in known:
            expected = "an integer, or None for one that is known when the program runs"
            check_type(start, (*INTEGER, NoneType), f"{op}: the start index", expected)
        self._conditions = [*_check_part(op, self._sizes, self._part)]
        self._is_vector = is_vector
        self._first = FIRST_START[op]
        self._last = [size - part for size, part in zip(self._sizes, self._part, strict=True)]
        self._known = [
            start if start is None else index_maps.least(max(start, 0), last)
            for start, last in zip(known, self._last, strict=True)
        ]
        self._runtime = [axis for axis, start in enumerate(self._known) if start is None]

    def sliced(self) -> OpIndexing:
        """The maps of an operation that takes the part."""
        to_starts, from_starts = self._maps_to_starts(self._part)
        none = [()] * len(to_starts)
        return OpIndexing(
            self._part,
            (self._to_tensor(), *to_starts),
            (self._to_part(), *from_starts),
            (self._origins(self._part), *none),
            (self._origins(self._sizes), *none),
        ).on_condition(self._conditions)

    def updated(self) -> OpIndexing:
        """The maps of an operation that writes the part."""
        kept, covering = self._outside(), self._origins(self._sizes)
        to_starts, from_starts = self._maps_to_starts(self._sizes)
        none = [()] * len(to_starts)
        return OpIndexing(
            self._sizes,
            (kept, self._to_part(), *to_starts),
            (kept, self._to_tensor(), *from_starts),
            (covering, covering, *none),
            (covering, self._origins(self._part), *none),
        ).on_condition(self._conditions)

    def _to_tensor(self) -> IndexingMap:
        """Map from an index in the part to the index in the tensor."""
        index = index_maps.dimensions_of(self._part)
        return self._map(map(operator.add, index, self._starts()), self._part)

    def _to_part(self) -> IndexingMap:
        """Map from the indices in the tensor that the part covers to those in the part."""
        index, starts = index_maps.dimensions_of(self._sizes), self._starts()
        covered: list[Constraint] = []
        for axis, (known, part) in enumerate(zip(self._known, self._part, strict=True)):
            if known is None:
                place, first = index[axis] - starts[axis], 0
            else:
                place, first = index[axis], known
            covered += index_maps.inside(place, index_maps.between(first, first + part - 1))
        return self._map(map(operator.sub, index, starts), self._sizes, covered)

    def _outside(self) -> IndexingMap:
        """The identity on the indices in the tensor that the part does not cover."""
        identity = index_maps.dimensions_of(self._sizes)
        if 0 in self._part:
            return self._map(identity, self._sizes)
        rows = zip(identity, self._starts(), self._known, self._last, self._part, strict=True)
        covered = [condition for row in rows for condition in _covers(*row)]
        beyond = forms.negation(forms.conjunction(covered))
        return self._map(identity, self._sizes, facts_of(beyond))

    def _origins(self, extents: Sizes) -> tuple[Origin, ...]:
        """The origins of the runtime variables: starts are the last operands."""
        return tuple(
            Origin(
                self._first if self._is_vector else self._first + axis,
                index_maps.index_map([forms.constant(axis)] if self._is_vector else [], extents),
                index_maps.between(0, self._last[axis]),
            )
            for axis in self._runtime
        )

    def _maps_to_starts(
        self, result_sizes: Sizes
    ) -> tuple[tuple[IndexingMap, ...], tuple[IndexingMap, ...]]:
        """From a result to each operand with starts, and back: everything depends on them."""
        rank = len(self._sizes)
        starts = [(rank,)] if self._is_vector else [()] * rank
        pairs = [index_maps.paired(result_sizes, each) for each in starts]
        return tuple(there for there, _ in pairs), tuple(back for _, back in pairs)

    def _starts(self) -> list[Form]:
        numbers = count()
        return [
            index_maps.runtime_value(next(numbers)) if start is None else index_maps.as_form(start)
            for start in self._known
        ]

    def _map(
        self, results: Iterable[Form], extents: Sizes, constraints: Iterable[Constraint] = ()
    ) -> IndexingMap:
        runtime = [index_maps.between(0, self._last[axis]) for axis in self._runtime]
        return index_maps.index_map(results, extents, (), constraints, runtime, over=self._part)


_ROLES: Final = {"dynamic-slice": "slice", "dynamic-update-slice": "update"}
"""Opcode -> the role of the part."""


def _check_part(op: str, sizes: CheckedSizes, part_sizes: CheckedSizes) -> Iterator[Constraint]:
    yield from index_maps.not_negative((*sizes, *part_sizes))
    for axis, (size, part) in enumerate(zip(sizes, part_sizes, strict=True)):
        message = f"{op}: dimension {axis} of size {size} has a part of size {part}"
        yield from index_maps.at_most(part, size, f"{message}; expected {size} or less")


def _covers(index: Form, start: Form, known: Size | None, last: Size, part: Size) -> Iterator[Form]:
    """The conditions that a part covers an index in one dimension, but for those always true."""
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
    sizes, part_sizes = sizes_of(operand), instruction.attributes["dynamic_slice_sizes"]
    if operand.shape.dynamic_dimensions:
        sizes, part_sizes = sizes_and_part(operand, part_sizes)
    known, is_vector = start_values(instruction), not _are_scalars(starts)
    return _StartedPart(instruction.opcode, sizes, part_sizes, known, is_vector=is_vector).sliced()


def _dynamic_update_slice(instruction: Instruction) -> OpIndexing:
    operand, update, *starts = instruction.operands
    known, is_vector = start_values(instruction), not _are_scalars(starts)
    sizes, part_sizes = bounds_of(operand), sizes_of(update)
    return _StartedPart(instruction.opcode, sizes, part_sizes, known, is_vector=is_vector).updated()


def start_values(instruction: Instruction) -> tuple[int | None, ...]:
    """The start indices that are known before the program runs; ``None`` for the others.

    Raises:
        ShapeError: the starts are neither integer scalars nor one vector of integers.
    """
    starts = instruction.operands[FIRST_START[instruction.opcode] :]
    rank = len(sizes_of(instruction.operands[0]))
    _check_starts(instruction.opcode, starts, rank)
    places: list[tuple[Instruction, list[Form]]] = (
        [(start, []) for start in starts]
        if _are_scalars(starts)
        else [(starts[0], [forms.constant(axis)]) for axis in range(rank)]
    )
    values = (value_of(start, index_maps.index_map(index, ())) for start, index in places)
    return tuple(value.constant if value and value.is_constant else None for value in values)


def _check_starts(op: str, starts: Sequence[Instruction], rank: int) -> None:
    """Raise a :class:`ShapeError` unless these are integer scalars, or one vector of integers."""
    expected = () if len(starts) == rank and _are_scalars(starts) else (rank,)
    for start in starts:
        if start.shape.element_type.kind not in _INTEGERS or sizes_of(start) != expected:
            message = f"{op}: %{start.name} is {start.shape}"
            raise ShapeError(f"{message}; expected integers of sizes {expected}")


def _are_scalars(starts: Sequence[Instruction]) -> bool:
    return all(start.shape.rank == 0 for start in starts)


def _dynamic_slice_shape(op: Application) -> Sized:
    operand, part = op.operands[0], op.attributes["dynamic_slice_sizes"]
    return Sized.array(operand.shape.element_type, sizes_of_part(operand, part))


RULES: Final[Mapping[str, OpRule]] = {
    "dynamic-slice": OpRule(_dynamic_slice, values=start_values, shape=_dynamic_slice_shape),
    "dynamic-update-slice": OpRule(_dynamic_update_slice, values=start_values),
}
