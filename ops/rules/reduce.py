"""Reduce and scan: folds along dimensions, and a computation that carries values along one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from indexing.layout import ShapeError
from ops.index_maps import (
    checked_dimensions,
    checked_sizes,
    constrained,
    dim,
    every_element,
    index_map,
    no_dimensions,
    paired,
    symbol,
)
from ops.rules.elementwise import ELEMENTWISE
from ops.rules.op_indexing import OpIndexing
from ops.rules.rule import OpRule, folded_inputs, only_dimension, sizes_of
from simplifier import Interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from indexing import IndexingMap
    from ops.hlo import Computation, Instruction
    from ops.index_maps import Sizes


def reduce(operand_sizes: Sizes, dimensions: Sequence[int], inputs: int = 1) -> OpIndexing:
    """Folds an input along some dimensions, from an initial value on.

    A variadic reduce folds several inputs of one shape together and has as many results. Each
    result may depend on every input and on every initial value. The operands are the inputs, then
    their initial values.

    Shapes:
        inputs: ``operand_sizes``; initial values: scalars.
        results: the sizes of the dimensions that are not in ``dimensions``.

    Source:
        XLA operation semantics, Reduce.

    Raises:
        ShapeError: a dimension is listed twice, or does not exist.

    >>> indexing = reduce((150, 20, 10, 50), (3, 1))
    >>> print(indexing.output_to_input[0])
    (d0, d1)[s0, s1] -> (d0, s0, d1, s1), domain: d0 in [0, 149], d1 in [0, 9], s0 in [0, 19],
    s1 in [0, 49]
    >>> print(indexing.input_to_output[0])
    (d0, d1, d2, d3) -> (d0, d2), domain: d0 in [0, 149], d1 in [0, 19], d2 in [0, 9], d3 in [0, 49]
    >>> print(indexing.input_to_output[1])
    ()[s0, s1] -> (s0, s1), domain: s0 in [0, 149], s1 in [0, 9]
    """
    sizes = checked_sizes("reduce", "operand", operand_sizes)
    folded = sorted(checked_dimensions("reduce", "dimensions", dimensions, len(sizes)))
    kept = [axis for axis in range(len(sizes)) if axis not in folded]
    output_sizes = tuple(sizes[axis] for axis in kept)
    element = {axis: dim(number) for number, axis in enumerate(kept)}
    element |= {axis: symbol(number) for number, axis in enumerate(folded)}
    to_input = index_map(
        (element[axis] for axis in range(len(sizes))),
        output_sizes,
        [sizes[axis] for axis in folded],
    )
    return OpIndexing(
        output_sizes,
        (to_input,) * inputs + (no_dimensions(output_sizes),) * inputs,
        (index_map(map(dim, kept), sizes),) * inputs + (every_element(output_sizes),) * inputs,
    )


def scan(
    input_sizes: Sequence[Sizes],
    output_sizes: Sequence[Sizes],
    carry_sizes: Sequence[Sizes],
    dimension: int,
    *,
    is_reverse: bool = False,
    is_elementwise: bool = False,
) -> tuple[OpIndexing, ...]:
    """Applies a computation to slice after slice, and carries values from one to the next.

    A slice of an output may need the inputs' slices of its own step and of all steps before. The
    operands are the inputs and the first carried values; the results are the outputs and the last
    carried values, which may need everything. Within slices every element may need every other,
    unless the computation is elementwise on slices of one shape.

    Shapes:
        inputs, outputs: one size along ``dimension``, which is cut into slices.
        carried values: any; they stay as they are.

    Source:
        XLA's operation Scan, as its CPU compiler runs it.

    Raises:
        ShapeError: an input or an output has no such dimension, or two differ in size there, or
            slices differ in shape that an elementwise computation takes.

    >>> sums, last = scan([(5, 3)], [(5, 3)], [(3,)], 0, is_elementwise=True)
    >>> print(sums.output_to_input[0])
    (d0, d1)[s0] -> (s0, d1), domain: d0 in [0, 4], d1 in [0, 2], s0 in [0, 4], d0 - s0 in [0, 4]
    >>> print(last.output_to_input[0])
    (d0)[s0] -> (s0, d0), domain: d0 in [0, 2], s0 in [0, 4]
    """
    inputs = [_stacked("input", sizes, dimension) for sizes in input_sizes]
    outputs = [_stacked("output", sizes, dimension) for sizes in output_sizes]
    carried = [_Slices(checked_sizes("scan", "carry", sizes)) for sizes in carry_sizes]
    _check_lengths(inputs + outputs)
    if is_elementwise:
        _check_slices(inputs + outputs + carried)
    results = [
        [_between(result, operand, is_reverse, is_elementwise) for operand in inputs + carried]
        for result in outputs + carried
    ]
    return tuple(
        OpIndexing(result.sizes, tuple(there for there, _ in ways), tuple(back for _, back in ways))
        for result, ways in zip(outputs + carried, results, strict=True)
    )


@dataclass(frozen=True, slots=True)
class _Slices:
    """Sizes, and the dimension that is cut into slices, if there is one."""

    sizes: tuple[int, ...]
    steps: int | None = None

    @property
    def within(self) -> list[int]:
        """The dimensions of a slice."""
        return [axis for axis in range(len(self.sizes)) if axis != self.steps]


def _between(
    result: _Slices,
    operand: _Slices,
    is_reverse: bool,  # noqa: FBT001
    is_elementwise: bool,  # noqa: FBT001
) -> tuple[IndexingMap, IndexingMap]:
    same = zip(result.within, operand.within, strict=True) if is_elementwise else ()
    to_input, to_output = paired(result.sizes, operand.sizes, same)
    if result.steps is None or operand.steps is None:
        return to_input, to_output
    before = Interval(0, max(0, result.sizes[result.steps] - 1))
    distance = -before if is_reverse else before
    return _at(to_input, result.steps, distance), _at(to_output, result.steps, -distance)


def _at(found: IndexingMap, steps: int, distance: Interval) -> IndexingMap:
    """The map where the steps of both sides have a distance in this interval."""
    return constrained(found, dim(steps) - found.forms[steps], distance)


def _stacked(role: str, sizes: Sizes, dimension: int) -> _Slices:
    checked = checked_sizes("scan", role, sizes)
    (steps,) = checked_dimensions("scan", "dimensions", [dimension], len(checked))
    return _Slices(checked, steps)


def _check_lengths(stacked: Sequence[_Slices]) -> None:
    lengths = [array.sizes[array.steps or 0] for array in stacked]
    for length in lengths:
        if length != lengths[0]:
            message = f"scan: dimension {stacked[0].steps} has size {lengths[0]} in one input"
            raise ShapeError(
                f"{message}, but {length} in another or in an output; expected the same"
            )


def _check_slices(arrays: Sequence[_Slices]) -> None:
    slices = [tuple(array.sizes[axis] for axis in array.within) for array in arrays]
    for sizes in slices:
        if sizes != slices[0]:
            message = f"scan: an elementwise computation takes slices {slices[0]} and {sizes}"
            raise ShapeError(f"{message}; expected one shape")


# Reading instructions.


def _reduce(instruction: Instruction) -> OpIndexing:
    inputs = folded_inputs(instruction)
    return reduce(sizes_of(inputs[0]), instruction.attributes["dimensions"], len(inputs))


def _scan(instruction: Instruction) -> tuple[OpIndexing, ...]:
    carries = instruction.attributes.get("num_carries", 0)
    operands = [sizes_of(operand) for operand in instruction.operands]
    results = [array.dimensions for array in instruction.shape.arrays]
    inputs, outputs = (each[: len(each) - carries] for each in (operands, results))
    return scan(
        inputs,
        outputs,
        operands[len(inputs) :],
        only_dimension(instruction),
        is_reverse=instruction.attributes.get("is_reverse", False),
        is_elementwise=_is_elementwise(instruction.attributes["to_apply"]),
    )


_WITHIN_ELEMENTS: Final = ELEMENTWISE | {"constant", "get-tuple-element", "parameter", "tuple"}


def _is_elementwise(computation: Computation) -> bool:
    """Whether results are computed element by element from parameters of one shape."""
    shapes = {parameter.shape.dimensions for parameter in computation.parameters}
    shapes |= {array.dimensions for array in computation.root.shape.arrays}
    opcodes = {instruction.opcode for instruction in computation.instructions}
    return len(shapes) == 1 and opcodes <= _WITHIN_ELEMENTS


RULES: Final[Mapping[str, OpRule]] = {
    "reduce": OpRule(_reduce),
    "scan": OpRule(_scan),
}
