"""Starts and sizes that are known at run time only: operations on them, and what needs them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, count
from types import NoneType
from typing import Final, NamedTuple, TypeAlias, cast

from indexing import IndexingMap, UndefinedMap, Variable
from indexing.layout import UNBOUNDED_SIZE, Kind, ShapeError, common_blocks
from indexing.passes import PARAMETER, Constraint, united
from ops import index_maps
from ops.hlo import Instruction
from ops.hlo.opcodes import FIRST_START
from ops.hlo.shape_inference import Application, Sized, checked_axes, sizes_of_part
from ops.hlo.true_sizes import array_sizes, bounded_parameters, parameters_of, size_facts
from ops.index_maps import CheckedSizes, Size, Sizes
from ops.rules import rule
from ops.rules.constant_folding import Element, value_of
from ops.rules.data_movement import reshape
from ops.rules.rule import MapOfOperand, Maps, MapsFunction, OpIndexing, OpRule, Origin, Unknown
from simplifier import forms
from simplifier.errors import INTEGER, check_type
from simplifier.forms import Form, facts_of

# Dynamic slice and dynamic update slice: a part of a tensor from computed start indices on.


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
    op = "dynamic-update-slice"
    return _StartedPart(op, operand_sizes, update_sizes, start_indices).updated()


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
        whole = self._to_tensor(), self._to_part()
        maps = OpIndexing.between(self._part, whole, *self._maps_to_starts(self._part))
        return maps.on_condition(self._conditions)

    def updated(self) -> OpIndexing:
        """The maps of an operation that writes the part."""
        kept = self._outside()
        pairs = (kept, kept), (self._to_part(), self._to_tensor())
        maps = OpIndexing.between(self._sizes, *pairs, *self._maps_to_starts(self._sizes))
        return maps.on_condition(self._conditions)

    def _to_tensor(self) -> MapOfOperand:
        """Map from an index in the part to the index in the tensor."""
        index = index_maps.dimensions_of(self._part)
        return self._map(map(operator.add, index, self._starts()), self._part)

    def _to_part(self) -> MapOfOperand:
        """Map from the indices in the tensor that the part covers to those in the part."""
        index, starts = index_maps.dimensions_of(self._sizes), self._starts()
        results, covered = [*map(operator.sub, index, starts)], list[Constraint]()
        for axis, (known, part) in enumerate(zip(self._known, self._part, strict=True)):
            place, first = (results[axis], 0) if known is None else (index[axis], known)
            covered += index_maps.inside(place, part, first)
        return self._map(results, self._sizes, covered)

    def _outside(self) -> MapOfOperand:
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

    def _maps_to_starts(self, result_sizes: Sizes) -> list[tuple[IndexingMap, IndexingMap]]:
        """From a result to each operand with starts, and back: everything depends on them."""
        rank = len(self._sizes)
        starts = [(rank,)] if self._is_vector else [()] * rank
        return [index_maps.paired(result_sizes, each) for each in starts]

    def _starts(self) -> list[Form]:
        numbers = count()
        return [
            index_maps.runtime_value(next(numbers)) if start is None else index_maps.as_form(start)
            for start in self._known
        ]

    def _map(
        self, results: Iterable[Form], extents: Sizes, constraints: Iterable[Constraint] = ()
    ) -> MapOfOperand:
        """A map over the starts that are not known, which are clamped."""
        runtime = [index_maps.between(0, self._last[axis]) for axis in self._runtime]
        found = index_maps.index_map(results, extents, (), constraints, runtime, over=self._part)
        return MapOfOperand(found, self._origins(extents))


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
    sizes, part_sizes = rule.sizes_of(operand), instruction.attributes["dynamic_slice_sizes"]
    if operand.shape.dynamic_dimensions:
        sizes, part_sizes = rule.sizes_and_part(operand, part_sizes)
    known, is_vector = start_values(instruction), not _are_scalars(starts)
    return _StartedPart(instruction.opcode, sizes, part_sizes, known, is_vector=is_vector).sliced()


def _dynamic_update_slice(instruction: Instruction) -> OpIndexing:
    operand, update, *starts = instruction.operands
    known, is_vector = start_values(instruction), not _are_scalars(starts)
    sizes, part_sizes = rule.bounds_of(operand), rule.sizes_of(update)
    return _StartedPart(instruction.opcode, sizes, part_sizes, known, is_vector=is_vector).updated()


def start_values(instruction: Instruction) -> tuple[int | None, ...]:
    """The start indices that are known before the program runs; ``None`` for the others.

    Raises:
        ShapeError: the starts are neither integer scalars nor one vector of integers.
    """
    starts = instruction.operands[FIRST_START[instruction.opcode] :]
    rank = len(rule.sizes_of(instruction.operands[0]))
    _check_starts(instruction.opcode, starts, rank)
    places: list[tuple[Instruction, list[Form]]] = (
        [(start, []) for start in starts]
        if _are_scalars(starts)
        else [(starts[0], [forms.constant(axis)]) for axis in range(rank)]
    )
    values = (value_of(start, Element(index_maps.index_map(index, ()))) for start, index in places)
    return tuple(value.constant if value and value.is_constant else None for value in values)


def _check_starts(op: str, starts: Sequence[Instruction], rank: int) -> None:
    """Raise a :class:`ShapeError` unless these are integer scalars, or one vector of integers."""
    expected = () if len(starts) == rank and _are_scalars(starts) else (rank,)
    for start in starts:
        if start.shape.element_type.kind not in _INTEGERS or rule.sizes_of(start) != expected:
            message = f"{op}: %{start.name} is {start.shape}"
            raise ShapeError(f"{message}; expected integers of sizes {expected}")


def _are_scalars(starts: Sequence[Instruction]) -> bool:
    return all(start.shape.rank == 0 for start in starts)


def _dynamic_slice_shape(op: Application) -> Sized:
    operand, part = op.operands[0], op.attributes["dynamic_slice_sizes"]
    return Sized.array(operand.shape.element_type, sizes_of_part(operand, part))


# Sizes: operations on them, and operations that need them.

Axes: TypeAlias = "Iterator[tuple[int, int]]"
"""Numbers of operands, the result behind them, and of dimensions of these."""


def get_dimension_size(operand_sizes: Sizes, dimension: int) -> OpIndexing:
    """Gives the size of a dimension, which depends on no element of the operand.

    Shapes:
        operand: any.
        result: a scalar.

    Source:
        XLA operation semantics, GetDimensionSize.

    Raises:
        ShapeError: the operand has no such dimension.

    >>> print(get_dimension_size((2, 4), 1).input_to_output[0])
    (d0, d1) -> (), domain: KNOWN EMPTY
    """
    sizes = index_maps.checked_sizes("get-dimension-size", "operand", operand_sizes)
    index_maps.checked_dimensions("get-dimension-size", "dimensions", [dimension], len(sizes))
    return OpIndexing.between((), index_maps.unrelated((), sizes))


def set_dimension_size(operand_sizes: Sizes, dimension: int) -> OpIndexing:
    """Sets the size of a dimension; the elements stay as they are.

    The second operand is the size. Elements beyond it keep their values and count again when a
    greater size is set, so the maps hold them, too.

    Shapes:
        operands: any, and a scalar.
        result: the sizes of the operand, as bounds.

    Source:
        XLA operation semantics, SetDimensionSize.

    Raises:
        ShapeError: the operand has no such dimension.

    >>> print(set_dimension_size((2, 4), 1).output_to_input[0])
    (d0, d1) -> (d0, d1), domain: d0 in [0, 1], d1 in [0, 3]
    """
    sizes = index_maps.checked_sizes("set-dimension-size", "operand", operand_sizes)
    index_maps.checked_dimensions("set-dimension-size", "dimensions", [dimension], len(sizes))
    identity = index_maps.index_map(index_maps.dimensions_of(sizes), sizes)
    return OpIndexing.between(sizes, (identity, identity), index_maps.paired(sizes, ()))


def dynamic_reshape(
    operand_sizes: Sizes,
    output_sizes: Sizes,
    operand_dynamic: Sequence[int] = (),
    output_dynamic: Sequence[int] = (),
) -> OpIndexing:
    """Reshapes to sizes that are operands.

    Elements are laid out by their true sizes. So for sizes that are parameters, the maps are those
    of a reshape. For bounds, they are so if each dynamic dimension is the first of those that are
    reshaped together: the row-major position of an element does not depend on its size.

    Shapes:
        operands: a tensor whose dimensions ``operand_dynamic`` have bounds for sizes, and a scalar
            for each dimension of the result.
        result: as many elements, by the bounds.

    Source:
        XLA operation semantics, DynamicReshape.

    Raises:
        ShapeError: the numbers of elements differ, or a shape has no such dimension.

    >>> print(dynamic_reshape((2, 4), (8,)).output_to_input[0])
    (d0) -> (d0 floordiv 4, d0 mod 4), domain: d0 in [0, 7]
    >>> print(dynamic_reshape((2, 4), (8,), (1,), (0,)).output_to_input[0])
    UNDEFINED: dynamic-reshape: positions depend on the run-time size of dimension 1 of operand 0
    """
    moved = reshape(operand_sizes, output_sizes)
    dynamic = [
        index_maps.checked_dimensions("dynamic-reshape", role, dimensions, len(sizes))
        for role, sizes, dimensions in (
            ("operand", operand_sizes, operand_dynamic),
            ("result", output_sizes, output_dynamic),
        )
    ]
    to_input, to_output = moved.output_to_input[0], moved.input_to_output[0]
    sizes = [[*map(index_maps.read_integer, each)] for each in (operand_sizes, output_sizes)]
    before, after = map(index_maps.product, sizes)
    message = "dynamic-reshape: the numbers of elements differ"
    conditions = [
        *index_maps.equal(before, after, message),
        *index_maps.not_negative(chain(*sizes)),
    ]
    behind = _behind_the_first(operand_sizes, output_sizes) if operand_dynamic else ()
    decisive = [(number, axis) for number, axis in behind if axis in dynamic[number]]
    if decisive:
        number, axis = decisive[0]
        role = ("operand 0", "the result")[number]
        reason = f"positions depend on the run-time size of dimension {axis} of {role}"
        to_input = to_output = UndefinedMap(f"dynamic-reshape: {reason}")
    scalars = [index_maps.paired(output_sizes, ())] * len(output_sizes)
    maps = OpIndexing.between(moved.output_sizes, (to_input, to_output), *scalars)
    return maps.on_condition(conditions)


def _behind_the_first(operand_sizes: Sizes, output_sizes: Sizes) -> Axes:
    """The dimensions of both that are not the first of those that are reshaped together."""
    op = "dynamic-reshape"
    sizes = index_maps.checked_numeric_sizes(op, "operand", operand_sizes)
    for block in common_blocks(sizes, index_maps.checked_numeric_sizes(op, "result", output_sizes)):
        yield from ((number, axis) for number, axes in enumerate(block) for axis in axes[1:])


# Instructions with such sizes.


def known_sizes(instruction: Instruction, element: int = 0) -> tuple[Size, ...] | Unknown:
    """The sizes of an array of a result; unknown if one has several values in a run."""
    sizes = array_sizes(instruction, element)
    if None not in sizes:
        return cast("tuple[Size, ...]", sizes)
    axis = sizes.index(None)
    array = f"array {element} of " if instruction.shape.is_tuple else ""
    message = f"the size of dimension {axis} of {array}%{instruction.name}"
    return Unknown(f"{message} differs between runs of %{instruction.computation.name}")


def with_bounds(indexing_map: IndexingMap, instruction: Instruction) -> IndexingMap:
    """The map with the bounds and facts that the program of an instruction gives to parameters."""
    if not indexing_map.parameters:
        return indexing_map
    names = [parameter.name for parameter in indexing_map.parameters]
    known = bounded_parameters(instruction, names)
    domain = indexing_map.domain
    bounded = replace(domain, parameters=united((*domain.parameters, *known)))
    facts = size_facts(instruction, names)
    return IndexingMap.from_forms(indexing_map.forms, bounded.constrained(facts))


def with_all_sizes(indexing_map: IndexingMap, instruction: Instruction) -> IndexingMap:
    """The map with all sizes that the program of an instruction does not know, as parameters."""
    return _over(indexing_map, parameters_of(instruction.computation.module), instruction)


def with_sizes_in(
    indexing_map: IndexingMap, used: Iterable[Form], instruction: Instruction
) -> IndexingMap:
    """The map with the sizes that some forms are over as parameters."""
    names = {name.removeprefix(PARAMETER) for name in forms.variables_of(used)}
    known = parameters_of(instruction.computation.module)
    return _over(indexing_map, [each for each in known if each.name in names], instruction)


def _over(
    indexing_map: IndexingMap, parameters: Sequence[Variable], instruction: Instruction
) -> IndexingMap:
    if not parameters:
        return indexing_map
    domain = indexing_map.domain
    wider = replace(domain, parameters=united((*domain.parameters, *parameters)))
    return with_bounds(IndexingMap.from_forms(indexing_map.forms, wider), instruction)


def of_dynamic_sizes(maps: MapsFunction, instruction: Instruction) -> Maps:
    """The maps of an instruction with dynamic dimensions, by its rule: they have parameters."""
    found = maps(instruction)

    def bounded(each: OpIndexing) -> OpIndexing:
        return each.apply(lambda one: with_bounds(one, instruction))

    match found:
        case OpIndexing():
            return bounded(found)
        case tuple():
            return tuple(map(bounded, found))
        case Unknown():
            return found
        case _:
            return {pair: bounded(each) for pair, each in found.items()}


def why_sizes_do_not_tell(instruction: Instruction) -> str | None:
    """The reason why an instruction with dynamic dimensions has no maps over its sizes, if any.

    >>> from ops import hlo
    >>> text = "p = f32[<=4,2] parameter(0) ROOT r = f32[<=8,2] all-gather(p), dimensions={0}"
    >>> module = hlo.parse(f"HloModule m, replica_count=2 ENTRY e {{ {text} }}")
    >>> why_sizes_do_not_tell(module.entry.root)
    'replicas may have different sizes of dimension 0 of operand 0'
    """
    arrays = *instruction.operands, instruction
    for each in arrays:
        for element in each.shape.array_indices:
            if isinstance(sizes := known_sizes(each, element), Unknown):
                return sizes.reason
    if instruction.opcode == "bitcast" and instruction.operands[0].shape != instruction.shape:
        return "the place of an element depends on sizes"
    refused = _REFUSED.get(instruction.opcode)
    if refused is None:
        return None
    for number, axis in refused.dimensions(instruction):
        if any(instruction.operands[number].shape.dynamic_dimensions[axis : axis + 1]):
            return f"{refused.reason} of dimension {axis} of operand {number}"
    return None


class _Refused(NamedTuple):
    """The reason why maps do not hold if some dimensions of operands are dynamic, and these."""

    reason: str
    dimensions: Callable[[Instruction], Axes]


def _listed(instruction: Instruction) -> Axes:
    """The dimensions in the attribute, of all operands."""
    named = instruction.attributes.get("dimensions", ())
    return ((number, axis) for number in range(len(instruction.operands)) for axis in named)


def _every(instruction: Instruction) -> Axes:
    """All dimensions of all operands."""
    for number, operand in enumerate(instruction.operands):
        yield from ((number, axis) for axis in range(operand.shape.rank))


def _bounded_of_second(instruction: Instruction) -> Axes:
    """Dimensions that are not of any size: of these programs, XLA says the same as StableHLO."""
    sizes = instruction.operands[1].shape.dimensions
    return ((1, axis) for axis, size in enumerate(sizes) if size != UNBOUNDED_SIZE)


def _rows(_: Instruction) -> Axes:
    return iter([(0, 0), (1, 0)])


_ON_REPLICAS: Final = "replicas may have different sizes"
"""XLA runs no such program. It says of each, but of an all-to-all, that passing on a dynamic
dimension is not implemented; an all-to-all is refused by its shape. So there is no rule to follow.
Arrays that replicas combine element by element, or lay along a dimension, keep their sizes."""

_REFUSED: Final[Mapping[str, _Refused]] = {
    **dict.fromkeys(
        ("all-gather", "all-to-all", "reduce-scatter"), _Refused(_ON_REPLICAS, _listed)
    ),
    **dict.fromkeys(("collective-broadcast", "collective-permute"), _Refused(_ON_REPLICAS, _every)),
    "ragged-all-to-all": _Refused(_ON_REPLICAS, _rows),
    "convolution": _Refused("offsets depend on the size", _bounded_of_second),
    "dynamic-update-slice": _Refused("the start depends on the size", _bounded_of_second),
}
"""Opcode -> the dimensions that must not be dynamic."""


# Reading instructions.


def _get_dimension_size(instruction: Instruction) -> OpIndexing:
    sizes = rule.sizes_of(instruction.operands[0])
    return get_dimension_size(sizes, rule.only_dimension(instruction))


def _set_dimension_size(instruction: Instruction) -> OpIndexing:
    operand, size = instruction.operands
    rule.check_scalars("set-dimension-size", [size])
    sizes, dimension = rule.sizes_of(operand), rule.only_dimension(instruction)
    index_maps.checked_dimensions(instruction.opcode, "dimensions", [dimension], len(sizes))
    bound = rule.bounds_of(operand)[dimension]
    return set_dimension_size(index_maps.with_value(sizes, dimension, bound), dimension)


def _dynamic_reshape(instruction: Instruction) -> OpIndexing:
    operand, *sizes = instruction.operands
    rule.check_scalars("dynamic-reshape", sizes)
    return dynamic_reshape(rule.sizes_of(operand), rule.sizes_of(instruction))


def _dynamic_reshape_shape(op: Application) -> Sized:
    return Sized(op.written, ([op.value(number) for number in range(1, len(op.operands))],))


def _set_dimension_size_shape(op: Application) -> Sized:
    """A number outside the dimension masks all of it, or nothing."""
    dimensions, operand = op.attributes["dimensions"], op.operands[0]
    (dimension,) = checked_axes(operand.shape, dimensions[:1] or (0,))
    flags = [*(operand.shape.dynamic_dimensions or (False,) * operand.shape.rank)]
    flags[dimension] = True
    bound, value = operand.shape.dimensions[dimension], op.value(1)
    if isinstance(value, int):
        value = max(value, 0) if bound == UNBOUNDED_SIZE else min(max(value, 0), bound)
    shape = replace(operand.shape, dynamic_dimensions=tuple(flags))
    return Sized(shape, (index_maps.with_value(operand.own, dimension, value),))


RULES: Final[Mapping[str, OpRule]] = {
    "dynamic-slice": OpRule(_dynamic_slice, values=start_values, shape=_dynamic_slice_shape),
    "dynamic-update-slice": OpRule(_dynamic_update_slice, values=start_values),
    "dynamic-reshape": OpRule(_dynamic_reshape, shape=_dynamic_reshape_shape),
    "get-dimension-size": OpRule(_get_dimension_size),
    "set-dimension-size": OpRule(_set_dimension_size, shape=_set_dimension_size_shape),
}
