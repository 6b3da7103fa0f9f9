"""Dynamic slice and dynamic update slice: a part of a tensor from computed start indices on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
    return _sliced(operand_sizes, slice_sizes, start_indices)


def _sliced(
    operand_sizes: Sizes,
    slice_sizes: Sizes,
    start_indices: Sequence[int | None],
    *,
    is_vector: bool = False,
) -> OpIndexing:
    operand = index_maps.checked_sizes("dynamic-slice", "operand", operand_sizes)
    part = index_maps.checked_sizes("dynamic-slice", "slice", slice_sizes)
    starts = _Starts("dynamic-slice", operand, part, start_indices, is_vector=is_vector)
    to_starts, from_starts = starts.maps(part)
    none = [()] * len(to_starts)
    return OpIndexing(
        part,
        (starts.out_of(part), *to_starts),
        (starts.into(operand), *from_starts),
        (starts.origins(1, part), *none),
        (starts.origins(1, operand), *none),
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
    return _updated(operand_sizes, update_sizes, start_indices)


def _updated(
    operand_sizes: Sizes,
    update_sizes: Sizes,
    start_indices: Sequence[int | None],
    *,
    is_vector: bool = False,
) -> OpIndexing:
    operand = index_maps.checked_sizes("dynamic-update-slice", "operand", operand_sizes)
    update = index_maps.checked_sizes("dynamic-update-slice", "update", update_sizes)
    starts = _Starts("dynamic-update-slice", operand, update, start_indices, is_vector=is_vector)
    kept, covering = starts.outside(operand), starts.origins(2, operand)
    to_starts, from_starts = starts.maps(operand)
    none = [()] * len(to_starts)
    return OpIndexing(
        operand,
        (kept, starts.into(operand), *to_starts),
        (kept, starts.out_of(update), *from_starts),
        (covering, covering, *none),
        (covering, starts.origins(2, update), *none),
    ).on_condition(starts.conditions)


class _Starts:
    """Begin of a part of a tensor: in each dimension a number, or a runtime variable.

    The starts are scalars, or elements of one vector, in the older form of these instructions.
    """

    def __init__(
        self,
        op: str,
        sizes: CheckedSizes,
        part_sizes: CheckedSizes,
        start_indices: Sequence[int | None],
        *,
        is_vector: bool,
    ) -> None:
        check_type(start_indices, Sequence, f"{op}: start_indices", "a list of integers and None")
        known = start_indices or [None] * len(sizes)
        index_maps.check_count(op, "the part", part_sizes, len(sizes))
        index_maps.check_count(op, "start_indices", known, len(sizes))
        for start in known:
            expected = "an integer, or None for one that is known when the program runs"
            check_type(start, (*INTEGER, NoneType), f"{op}: the start index", expected)
        self.conditions = _check_part(op, sizes, part_sizes)
        self._is_vector = is_vector
        self._part_sizes = part_sizes
        self._last = [size - part for size, part in zip(sizes, part_sizes, strict=True)]
        self._known = [
            start if start is None else index_maps.least(max(start, 0), last)
            for start, last in zip(known, self._last, strict=True)
        ]
        self._runtime = [axis for axis, start in enumerate(self._known) if start is None]

    def out_of(self, extents: Sizes) -> IndexingMap:
        """Map from an index in the part to the index in the tensor."""
        pairs = zip(index_maps.dimensions_of(extents), self._forms(), strict=True)
        return self._map([index + start for index, start in pairs], extents)

    def into(self, extents: Sizes) -> IndexingMap:
        """Map from the indices in the tensor that the part covers to those in the part."""
        pairs = list(zip(index_maps.dimensions_of(extents), self._forms(), strict=True))
        covered = [
            limit
            for (index, start), known, part in zip(
                pairs, self._known, self._part_sizes, strict=True
            )
            for limit in (
                index_maps.inside(index - start, index_maps.between(0, part - 1))
                if known is None
                else index_maps.inside(index, index_maps.between(known, known + part - 1))
            )
        ]
        return self._map([index - start for index, start in pairs], extents, covered)

    def outside(self, extents: Sizes) -> IndexingMap:
        """The identity on the indices in the tensor that the part does not cover."""
        identity = index_maps.dimensions_of(extents)
        rows = zip(identity, self._forms(), self._known, self._last, self._part_sizes, strict=True)
        covered = [condition for row in rows for condition in _covers(*row)]
        if 0 in self._part_sizes:
            return self._map(identity, extents)
        beyond = forms.negation(forms.conjunction(covered))
        return self._map(identity, extents, facts_of(beyond))

    def origins(self, first: int, extents: Sizes) -> tuple[Origin, ...]:
        """The origins of the runtime variables: starts are operands from number ``first`` on."""
        return tuple(
            Origin(
                first if self._is_vector else first + axis,
                index_maps.index_map([forms.constant(axis)] if self._is_vector else [], extents),
                index_maps.between(0, self._last[axis]),
            )
            for axis in self._runtime
        )

    def maps(self, result_sizes: Sizes) -> tuple[list[IndexingMap], list[IndexingMap]]:
        """From a result to each operand with starts, and back: everything depends on them."""
        count = len(self._last)
        pairs = [
            index_maps.paired(result_sizes, s)
            for s in ([(count,)] if self._is_vector else [()] * count)
        ]
        return [there for there, _ in pairs], [back for _, back in pairs]

    def _forms(self) -> list[Form]:
        numbers = iter(range(len(self._runtime)))
        return [
            forms.variable(f"rt{next(numbers)}") if start is None else index_maps.as_form(start)
            for start in self._known
        ]

    def _map(
        self, results: Iterable[Form], extents: Sizes, constraints: Iterable[Constraint] = ()
    ) -> IndexingMap:
        runtime = [index_maps.between(0, self._last[axis]) for axis in self._runtime]
        return index_maps.index_map(
            results, extents, (), constraints, runtime, over=self._part_sizes
        )


def _check_part(op: str, sizes: CheckedSizes, part_sizes: CheckedSizes) -> list[Constraint]:
    conditions = index_maps.not_negative((*sizes, *part_sizes))
    for axis, (size, part) in enumerate(zip(sizes, part_sizes, strict=True)):
        message = f"{op}: dimension {axis} of size {size} has a part of size {part}"
        conditions += index_maps.at_most(part, size, f"{message}; expected {size} or less")
    return conditions


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
    return _sliced(sizes, part_sizes, known, is_vector=is_vector)


def _dynamic_update_slice(instruction: Instruction) -> OpIndexing:
    operand, update, *starts = instruction.operands
    known, is_vector = start_values(instruction), not _are_scalars(starts)
    return _updated(bounds_of(operand), sizes_of(update), known, is_vector=is_vector)


def start_values(instruction: Instruction) -> tuple[int | None, ...]:
    """The start indices that are known before the program runs; ``None`` for the others.

    Raises:
        ShapeError: the starts are neither integer scalars nor one vector of integers.
    """
    starts = instruction.operands[FIRST_START[instruction.opcode] :]
    rank = len(sizes_of(instruction.operands[0]))
    _check_starts(instruction.opcode, starts, rank)
    if _are_scalars(starts):
        elements = [(start, index_maps.index_map((), ())) for start in starts]
    else:
        elements = [
            (starts[0], index_maps.index_map([forms.constant(axis)], ())) for axis in range(rank)
        ]
    values = (value_of(start, element) for start, element in elements)
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
