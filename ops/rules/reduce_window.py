"""Reduce-window and select-and-scatter: a fold of each window, and its gradient."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ops.hlo.result_sizes import window_conditions, window_rows
from ops.index_maps import (
    check_sizes,
    checked_operand_count,
    checked_sizes,
    every_element,
    no_dimensions,
)
from ops.rules.op_indexing import OpIndexing
from ops.rules.rule import Doubt, OpRule, check_scalars, folded_inputs, sizes_of
from ops.rules.sliding_windows import (
    from_windows,
    sliding_windows,
    through_windows,
    to_windows,
    window_of,
)
from ops.sizes import not_negative

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.hlo import Instruction
    from ops.hlo.values import Window
    from ops.index_maps import Sizes


def reduce_window(operand_sizes: Sizes, window: Window, inputs: int = 1) -> OpIndexing:
    """Folds each window on an input, from an initial value on.

    Elements of the operand lie ``lhs_dilate`` apart, the elements of a window ``rhs_dilate``.
    Padding and the gaps between elements are not folded; negative padding cuts elements off.

    A variadic reduce-window folds several inputs of one shape together and has as many results.
    Each result may depend on every input and on every initial value. The operands are the inputs,
    then their initial values.

    Shapes:
        inputs: ``operand_sizes``; initial values: scalars.
        results: the number of windows within the padded and dilated operand, by dimension.

    Source:
        XLA operation semantics, ReduceWindow; StableHLO specification, reduce_window.

    Raises:
        ShapeError: the window has another rank than the operand, or a size, stride or dilation
            below 1.

    >>> from ops.hlo import Window
    >>> pooling = reduce_window((13,), Window(size=(3,), stride=(2,), pad=((1, 1),)))
    >>> print(pooling.output_to_input[0])
    (d0)[s0] -> (d0 * 2 + s0 - 1), domain: d0 in [0, 6], s0 in [0, 2], d0 * 2 + s0 in [1, 13]
    >>> print(pooling.input_to_output[0])
    (d0)[s0] -> ((d0 + 1) floordiv 2 - s0), domain: d0 in [0, 12], s0 in [0, 1],
    d0 mod 2 - s0 * 2 in [-1, 1]
    >>> print(reduce_window((12,), Window(size=(3,), stride=(3,))).input_to_output[0])
    (d0) -> (d0 floordiv 3), domain: d0 in [0, 11]

    Sizes, strides and padding of windows may be symbolic, but not dilations:

    >>> from simplifier import symbol
    >>> rows, width = symbol("N"), symbol("K")
    >>> print(reduce_window((rows,), Window(size=(width,))).output_to_input[0])
    (d0)[s0]<K, N> -> (d0 + s0), domain: d0 in [0, N - K], s0 in [0, K - 1], K in [1, inf],
    N in [1, inf]
    """
    operand_sizes = checked_sizes("reduce-window", "operand", operand_sizes)
    inputs = checked_operand_count("reduce-window", "inputs", inputs)
    windows = sliding_windows("reduce-window", operand_sizes, window)
    conditions = window_conditions(window_rows("reduce-window", operand_sizes, window))
    output_sizes = tuple(window.count for window in windows)
    return OpIndexing(
        output_sizes,
        (from_windows(windows),) * inputs + (no_dimensions(output_sizes),) * inputs,
        (to_windows(windows),) * inputs + (every_element(output_sizes),) * inputs,
    ).on_condition([*not_negative(operand_sizes), *conditions])


def select_and_scatter(operand_sizes: Sizes, source_sizes: Sizes, window: Window) -> OpIndexing:
    """Adds each element of the source where a window on the operand selects an element.

    The gradient of a reduce-window by maximum. The operands are the operand, the source, and the
    initial value of every element of the result.

    Only the running program knows which element a window selects. So the maps say what *may* be: a
    result may take the source of every window that holds its index, and whether it does may depend
    on all elements of these windows.

    Shapes:
        operand, result: ``operand_sizes``.
        source: one element for each window.

    Source:
        XLA operation semantics, SelectAndScatter; StableHLO specification, select_and_scatter.

    Raises:
        ShapeError: the source does not have one element for each window, or as of
            :func:`reduce_window`.

    >>> from ops.hlo import Window
    >>> unpooling = select_and_scatter((6, 4), (3, 2), Window(size=(2, 2), stride=(2, 2)))
    >>> print(unpooling.output_to_input[0])
    (d0, d1)[s0, s1] -> ((d0 floordiv 2) * 2 + s0, (d1 floordiv 2) * 2 + s1), domain: d0 in [0, 5],
    d1 in [0, 3], s0 in [0, 1], s1 in [0, 1]
    >>> print(unpooling.output_to_input[1])
    (d0, d1) -> (d0 floordiv 2, d1 floordiv 2), domain: d0 in [0, 5], d1 in [0, 3]
    >>> print(unpooling.input_to_output[1])
    (d0, d1)[s0, s1] -> (d0 * 2 + s0, d1 * 2 + s1), domain: d0 in [0, 2], d1 in [0, 1],
    s0 in [0, 1], s1 in [0, 1]
    """
    op = "select-and-scatter"
    operand_sizes = checked_sizes(op, "operand", operand_sizes)
    windows = sliding_windows(op, operand_sizes, window)
    counts = [window.count for window in windows]
    source_sizes = checked_sizes(op, "source", source_sizes)
    conditions = check_sizes(op, "the source", source_sizes, counts, "as a reduce-window has")
    conditions += not_negative((*operand_sizes, *source_sizes))
    conditions += window_conditions(window_rows(op, operand_sizes, window))
    to_source, to_result = to_windows(windows), from_windows(windows)
    # Sharing a window is symmetric, so both directions are one map.
    to_operand = through_windows(windows)
    return OpIndexing(
        operand_sizes,
        (to_operand, to_source, no_dimensions(operand_sizes)),
        (to_operand, to_result, every_element(operand_sizes)),
    ).on_condition(conditions)


# Reading instructions.


def _reduce_window(instruction: Instruction) -> OpIndexing:
    inputs = folded_inputs(instruction)
    return reduce_window(sizes_of(inputs[0]), window_of(instruction), len(inputs))


def _select_and_scatter(instruction: Instruction) -> OpIndexing:
    operand, source, initial = instruction.operands
    check_scalars("select-and-scatter", [initial])
    return select_and_scatter(sizes_of(operand), sizes_of(source), window_of(instruction))


def _may_be_selected(_: Instruction, __: int, operand: int) -> Doubt | None:
    reason = "the values decide which element of a window is selected"
    return Doubt(reason) if operand == 1 else None


RULES: Final[Mapping[str, OpRule]] = {
    "reduce-window": OpRule(_reduce_window, is_loop=True),
    "select-and-scatter": OpRule(_select_and_scatter, doubt=_may_be_selected, is_loop=True),
}
