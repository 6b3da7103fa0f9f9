"""Sizes of results from sizes of operands: a rule for each opcode that passes sizes on.

A rule answers with the sizes of the arrays of a result, as far as they follow. ``None`` stands for
a size that the program gives only when it runs. What shapes have as numbers is not asked for.

Source: XLA's dynamic dimension inference.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

from indexing.layout import UNBOUNDED_SIZE, common_blocks
from ops.hlo.opcodes import LIKE_OPERANDS
from ops.hlo.result_sizes import dot_sizes, gather_sizes, padded_size, window_count, window_rows
from ops.hlo.values import Window
from ops.sizes import difference, floor_divided, product, read_integer, total

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ops.hlo.module import Instruction
    from ops.sizes import Size

Found: TypeAlias = "Sequence[Size | None]"
"""The sizes of an array; ``None`` where the rule knows of none."""

Rule: TypeAlias = "Callable[[Instruction, Known], Sequence[Found]]"


class Known(Protocol):
    """What is known of the operands of an instruction."""

    def sizes(self, instruction: Instruction, element: int = 0) -> Sequence[Size]:
        """The sizes of an array of a result."""
        ...

    def value(self, instruction: Instruction) -> Size:
        """The value of a scalar."""
        ...


def _first(instruction: Instruction, known: Known) -> Sequence[Found]:
    """The result is as large as the first operand."""
    return [known.sizes(instruction.operands[0])] * len(instruction.shape.arrays)


def _second(instruction: Instruction, known: Known) -> Sequence[Found]:
    return [known.sizes(instruction.operands[1])]


def _each(instruction: Instruction, known: Known) -> Sequence[Found]:
    """Each array of the result is as large as the operand of its number."""
    return [known.sizes(operand) for operand in instruction.operands]


def _through_tuple(instruction: Instruction, known: Known) -> Sequence[Found]:
    return [
        known.sizes(operand, element)
        for operand in instruction.operands
        for element in range(len(operand.shape.arrays))
    ]


def _tuple_element(instruction: Instruction, known: Known) -> Sequence[Found]:
    (operand,), index = instruction.operands, instruction.attributes["index"]
    first = sum(len(part.arrays) for part in operand.shape.elements[:index])
    return [known.sizes(operand, first + k) for k in range(len(instruction.shape.arrays))]


def _elementwise(instruction: Instruction, known: Known) -> Sequence[Found]:
    """A dynamic size of an operand is that of the result; two of them have to be equal."""
    rank = instruction.shape.rank
    found: list[Size | None] = [None] * rank
    for operand in instruction.operands:
        flags = operand.shape.dynamic_dimensions if operand.shape.rank == rank else ()
        for axis, is_dynamic in enumerate(flags):
            if is_dynamic and found[axis] is None:
                found[axis] = known.sizes(operand)[axis]
    return [found]


def _bitcast(instruction: Instruction, known: Known) -> Sequence[Found]:
    """Under its own shape an array keeps its sizes."""
    if instruction.operands[0].shape == instruction.shape:
        return _first(instruction, known)
    return [[None] * instruction.shape.rank]


def _broadcast(instruction: Instruction, known: Known) -> Sequence[Found]:
    found: list[Size | None] = [None] * instruction.shape.rank
    sizes = known.sizes(instruction.operands[0])
    for size, target in zip(sizes, instruction.attributes["dimensions"], strict=True):
        found[target] = size
    return [found]


def _transpose(instruction: Instruction, known: Known) -> Sequence[Found]:
    sizes = known.sizes(instruction.operands[0])
    order: tuple[int, ...] = instruction.attributes["dimensions"]
    return [[sizes[source] for source in order]]


def _reduce(instruction: Instruction, known: Known) -> Sequence[Found]:
    reduced: tuple[int, ...] = instruction.attributes["dimensions"]
    sizes = known.sizes(instruction.operands[0])
    kept = [size for axis, size in enumerate(sizes) if axis not in reduced]
    return [kept] * len(instruction.shape.arrays)


def _concatenate(instruction: Instruction, known: Known) -> Sequence[Found]:
    dimension: int = instruction.attributes["dimensions"][0]
    every = [known.sizes(operand) for operand in instruction.operands]
    found: list[Size | None] = [*_elementwise(instruction, known)[0]]
    found[dimension] = total(sizes[dimension] for sizes in every)
    return [found]


def _pad(instruction: Instruction, known: Known) -> Sequence[Found]:
    sizes = known.sizes(instruction.operands[0])
    rows = zip(sizes, instruction.attributes["padding"], strict=True)
    return [[padded_size(size, *row) for size, row in rows]]


def _slice(instruction: Instruction, known: Known) -> Sequence[Found]:
    """A dimension that is taken whole keeps its size, up to the bound."""
    (operand,) = instruction.operands
    whole = [(0, bound, 1) for bound in operand.shape.dimensions]
    sizes = zip(known.sizes(operand), instruction.attributes["slice"], whole, strict=True)
    return [[size if tuple(taken) == every else None for size, taken, every in sizes]]


def _dynamic_slice(instruction: Instruction, known: Known) -> Sequence[Found]:
    operand = instruction.operands[0]
    bounds = zip(known.sizes(operand), operand.shape.dimensions, strict=True)
    part = instruction.attributes["dynamic_slice_sizes"]
    return [
        [
            size if taken == bound else None
            for (size, bound), taken in zip(bounds, part, strict=True)
        ]
    ]


def _dot(instruction: Instruction, known: Known) -> Sequence[Found]:
    """A batch has the size of the dynamic operand, as the result of :func:`_elementwise`."""
    (lhs, rhs), named = instruction.operands[:2], instruction.attributes
    sizes, others = [*known.sizes(lhs)], known.sizes(rhs)
    batches = named.get("lhs_batch_dims", ()), named.get("rhs_batch_dims", ())
    for left, right in zip(*batches, strict=True):
        if not any(lhs.shape.dynamic_dimensions[left : left + 1]):
            sizes[left] = others[right]
    return [dot_sizes(sizes, others, named)]


def _gather(instruction: Instruction, known: Known) -> Sequence[Found]:
    """Batches come from the indices; a part is a dimension only if it is taken whole."""
    operand, indices = instruction.operands
    named = instruction.attributes
    rows = zip(known.sizes(operand), operand.shape.dimensions, named["slice_sizes"], strict=True)
    part = [size if part == bound else read_integer(part) for size, bound, part in rows]
    return [gather_sizes(part, known.sizes(indices), named)]


def _reshape(instruction: Instruction, known: Known) -> Sequence[Found]:
    """Dimensions that are reshaped together have as many elements before and after.

    So one dynamic dimension among those of the result has what the others leave of them.
    Dimensions without bounds do not tell which belong together: all do.
    """
    (operand,), shape = instruction.operands, instruction.shape
    found: list[Size | None] = [None] * shape.rank
    sizes, bounds = known.sizes(operand), (operand.shape.dimensions, shape.dimensions)
    is_bounded = not any(UNBOUNDED_SIZE in each for each in bounds)
    whole = [(range(len(bounds[0])), range(len(bounds[1])))]
    for before, after in common_blocks(*bounds) if is_bounded else whole:
        dynamic = [axis for axis in after if shape.dynamic_dimensions[axis]]
        if len(dynamic) == 1:
            rest = product(shape.dimensions[axis] for axis in after if axis != dynamic[0])
            elements = product(sizes[axis] for axis in before)
            if isinstance(rest, int) and rest:
                found[dynamic[0]] = floor_divided(elements, rest)
    return [found]


def _dynamic_reshape(instruction: Instruction, known: Known) -> Sequence[Found]:
    return [[known.value(size) for size in instruction.operands[1:]]]


def _set_dimension_size(instruction: Instruction, known: Known) -> Sequence[Found]:
    """A number outside the dimension masks all of it, or nothing."""
    operand, size = instruction.operands
    dimension: int = instruction.attributes["dimensions"][0]
    found = [*known.sizes(operand)]
    bound: int = operand.shape.dimensions[dimension]
    value = known.value(size)
    if isinstance(value, int):
        value = max(value, 0) if bound == UNBOUNDED_SIZE else min(max(value, 0), bound)
    found[dimension] = value
    return [found]


def _convolution(instruction: Instruction, known: Known) -> Sequence[Found]:
    lhs, rhs, *_ = (known.sizes(operand) for operand in instruction.operands)
    labels, named = instruction.attributes["dim_labels"], instruction.attributes
    sizes = dict(zip(labels.input, lhs, strict=True))
    spatial = [str(number) for number in range(len(labels.output) - 2)]
    rows = window_rows(
        "convolution", [sizes[label] for label in spatial], named.get("window", Window())
    )
    found = {label: window_count(*row) for label, row in zip(spatial, rows, strict=True)}
    found["b"] = floor_divided(sizes["b"], named.get("batch_group_count", 1))
    found["f"] = dict(zip(labels.kernel, rhs, strict=True))["o"]
    return [[found[label] for label in labels.output]]


def _reduce_window(instruction: Instruction, known: Known) -> Sequence[Found]:
    sizes = known.sizes(instruction.operands[0])
    rows = window_rows("reduce-window", sizes, instruction.attributes.get("window", Window()))
    return [[window_count(*row) for row in rows]] * len(instruction.shape.arrays)


def _but_along(instruction: Instruction, known: Known) -> Sequence[Found]:
    """Each array is as large as its operand, but along the dimension of the operation."""
    along: tuple[int, ...] = instruction.attributes.get("dimensions", ())
    return [
        [None if axis in along else size for axis, size in enumerate(sizes)]
        for sizes in _each(instruction, known)
    ]


def _fft(instruction: Instruction, known: Known) -> Sequence[Found]:
    """Batches keep their sizes."""
    sizes = known.sizes(instruction.operands[0])
    batch = len(sizes) - len(instruction.attributes["fft_length"])
    return [[size if axis < batch else None for axis, size in enumerate(sizes)]]


def _scan(instruction: Instruction, known: Known) -> Sequence[Found]:
    """Outputs have a slice for each step, as inputs do; carried values stay as large."""
    carries: int = instruction.attributes.get("num_carries", 0)
    steps: int = instruction.attributes["dimensions"][0]
    inputs = instruction.operands[: len(instruction.operands) - carries]
    outputs = instruction.shape.arrays[: len(instruction.shape.arrays) - carries]
    length = known.sizes(inputs[0])[steps] if inputs else None
    return [
        *([length if axis == steps else None for axis in range(each.rank)] for each in outputs),
        *(known.sizes(operand) for operand in instruction.operands[len(inputs) :]),
    ]


SIZES: Final[Mapping[str, Rule]] = {
    **dict.fromkeys(LIKE_OPERANDS, _elementwise),
    **dict.fromkeys(
        ("abs", "clamp", "compare", "complex", "convert", "imag", "is-finite", "map", "real",
         "reduce-precision", "select", "stochastic-convert"),
        _elementwise,
    ),
    **dict.fromkeys(
        ("add-dependency", "batch-norm-inference", "cholesky", "dynamic-update-slice", "reverse",
         "select-and-scatter", "shuffle"),
        _first,
    ),
    **dict.fromkeys(("all-reduce", "collective-reduce", "scatter", "sort"), _each),
    **dict.fromkeys(("all-gather", "all-to-all", "reduce-scatter"), _but_along),
    **dict.fromkeys(("copy", "domain", "opt-barrier", "tuple"), _through_tuple),
    **dict.fromkeys(("dot", "scaled-dot"), _dot),
    "bitcast": _bitcast,
    "bitcast-convert": _first,
    "broadcast": _broadcast,
    "concatenate": _concatenate,
    "convolution": _convolution,
    "dynamic-reshape": _dynamic_reshape,
    "dynamic-slice": _dynamic_slice,
    "fft": _fft,
    "gather": _gather,
    "get-tuple-element": _tuple_element,
    "pad": _pad,
    "reduce": _reduce,
    "reduce-window": _reduce_window,
    "reshape": _reshape,
    "scan": _scan,
    "set-dimension-size": _set_dimension_size,
    "slice": _slice,
    "transpose": _transpose,
    "triangular-solve": _second,
}  # fmt: skip
"""The rules of sizes, by opcode."""


# Values of scalars.


def _constant(instruction: Instruction, _: Known) -> Size | None:
    literal = instruction.literal
    value = literal.values[0] if literal is not None and literal.values else None
    return value if isinstance(value, int) else None


def _dimension_size(instruction: Instruction, known: Known) -> Size | None:
    dimension: int = instruction.attributes["dimensions"][0]
    return known.sizes(instruction.operands[0])[dimension]


def _same(instruction: Instruction, known: Known) -> Size | None:
    (operand,) = instruction.operands
    return known.value(operand) if not operand.shape.rank else None


def _computed(combine: Callable[[Iterable[Size]], Size]) -> Callable[[Instruction, Known], Size]:
    return lambda instruction, known: combine(map(known.value, instruction.operands))


SCALARS: Final[Mapping[str, Callable[[Instruction, Known], Size | None]]] = {
    "add": _computed(total),
    "constant": _constant,
    "copy": _same,
    "get-dimension-size": _dimension_size,
    "multiply": _computed(product),
    "reshape": _same,
    "subtract": _computed(lambda values: difference(*values)),
}
"""How the values of scalars that are sizes follow from others, by opcode."""
