"""Sizes that are known at run time only: operations on them, and operations that need them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple, TypeAlias, cast

from indexing import IndexingMap, UndefinedMap, Variable
from indexing.layout import UNBOUNDED_SIZE, common_blocks
from indexing.passes import PARAMETER, united
from ops import index_maps
from ops.hlo import Instruction
from ops.hlo.shape_inference import Application, Sized, checked_axes
from ops.hlo.true_sizes import array_sizes, bounded_parameters, parameters_of, size_facts
from ops.index_maps import Size, Sizes
from ops.rules import rule
from ops.rules.data_movement import reshape
from ops.rules.rule import Maps, MapsFunction, OpIndexing, OpRule, Unknown
from simplifier import forms
from simplifier.forms import Form

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
    before, after = (
        index_maps.product(map(index_maps.read_integer, each))
        for each in (operand_sizes, output_sizes)
    )
    conditions = [
        *index_maps.equal(before, after, "dynamic-reshape: the numbers of elements differ"),
        *index_maps.not_negative(map(index_maps.read_integer, (*operand_sizes, *output_sizes))),
    ]
    behind = _behind_the_first(operand_sizes, output_sizes) if operand_dynamic else ()
    decisive = [(number, axis) for number, axis in behind if axis in dynamic[number]]
    if decisive:
        number, axis = decisive[0]
        role = ("operand 0", "the result")[number]
        reason = f"positions depend on the run-time size of dimension {axis} of {role}"
        to_input = to_output = UndefinedMap(f"dynamic-reshape: {reason}")
    sizes = [index_maps.paired(output_sizes, ())] * len(output_sizes)
    maps = OpIndexing.between(moved.output_sizes, (to_input, to_output), *sizes)
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
    return get_dimension_size(
        rule.sizes_of(instruction.operands[0]), rule.only_dimension(instruction)
    )


def _set_dimension_size(instruction: Instruction) -> OpIndexing:
    operand, size = instruction.operands
    rule.check_scalars("set-dimension-size", [size])
    sizes, dimension = [*rule.sizes_of(operand)], rule.only_dimension(instruction)
    index_maps.checked_dimensions(
        "set-dimension-size", "dimensions", [dimension], operand.shape.rank
    )
    sizes[dimension] = rule.bounds_of(operand)[dimension]
    return set_dimension_size(sizes, dimension)


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
    "dynamic-reshape": OpRule(_dynamic_reshape, shape=_dynamic_reshape_shape),
    "get-dimension-size": OpRule(_get_dimension_size),
    "set-dimension-size": OpRule(_set_dimension_size, shape=_set_dimension_size_shape),
}
