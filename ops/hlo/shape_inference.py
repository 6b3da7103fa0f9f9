"""Shapes that text may leave out: those that follow from operands and attributes.

Source: XLA's parser. It refuses slices without a shape; these are inferred as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any, Final

from indexing.layout import ElementType, Layout, Shape
from ops.hlo.errors import AttributeValueError
from ops.hlo.opcodes import LIKE_OPERANDS
from ops.hlo.result_sizes import (
    ConvolutionGroups,
    convolution_sizes,
    dot_sizes,
    fft_sizes,
    gather_sizes,
    padded_size,
    window_count,
    window_rows,
)
from ops.hlo.values import Window

if TYPE_CHECKING:
    from ops.sizes import Size

Attributes = Mapping[str, Any]
Rule = Callable[[Sequence[Shape], Attributes], Shape]


def infer_shape(opcode: str, operands: Sequence[Shape], attributes: Attributes) -> Shape:
    """The shape of the result of an operation on operands with given shapes.

    Raises:
        AttributeValueError: the shape cannot be inferred, or operands and attributes do not fit.

    >>> a = Shape.parse("f32[2,3]")
    >>> print(infer_shape("transpose", [a], {"dimensions": (1, 0)}))
    f32[3,2]{0,1}
    """
    rule = _RULES.get(opcode)
    if rule is None:
        raise AttributeValueError(
            f"the shape of {opcode} cannot be inferred, so it has to be written"
        )
    return rule(operands, attributes)


def _of_type(element_type: ElementType) -> Rule:
    """An elementwise result of another type."""
    return lambda operands, attributes: _elementwise(operands, attributes).with_element_type(
        element_type
    )


def _elementwise(operands: Sequence[Shape], _: Attributes) -> Shape:
    largest = max(operands, key=lambda shape: shape.rank)
    first = next(shape for shape in operands if shape.rank == largest.rank)
    for shape in operands:
        if shape.rank and shape.dimensions != first.dimensions:
            raise AttributeValueError(f"the operands have different sizes: {first} and {shape}")
    return first.with_element_type(_widest(operands))


def _select(operands: Sequence[Shape], attributes: Attributes) -> Shape:
    return _elementwise(operands, attributes).with_element_type(_widest(operands[1:]))


def _widest(operands: Sequence[Shape]) -> ElementType:
    return reduce(ElementType.wider, [operand.element_type for operand in operands])


def _complex(operands: Sequence[Shape], attributes: Attributes) -> Shape:
    is_double = operands[0].element_type is ElementType.F64
    return _of_type(ElementType.C128 if is_double else ElementType.C64)(operands, attributes)


def _real(operands: Sequence[Shape], _: Attributes) -> Shape:
    element_type = operands[0].element_type
    parts = {ElementType.C64: ElementType.F32, ElementType.C128: ElementType.F64}
    return operands[0].with_element_type(parts.get(element_type, element_type))


def _first(operands: Sequence[Shape], _: Attributes) -> Shape:
    return operands[0]


def _always(text: str) -> Rule:
    return lambda _operands, _attributes: Shape.parse(text)


def one_or_tuple(shapes: Sequence[Shape]) -> Shape:
    """The shape of a result, or the tuple of those of several."""
    return shapes[0] if len(shapes) == 1 else Shape.of_tuple(shapes)


def _tuple_element(operands: Sequence[Shape], attributes: Attributes) -> Shape:
    index: int = attributes["index"]
    if not 0 <= index < len(operands[0].elements):
        raise AttributeValueError(f"{operands[0]} has no element {index}")
    return operands[0].elements[index]


def _broadcast(operands: Sequence[Shape], attributes: Attributes) -> Shape:
    if operands[0].rank or attributes["dimensions"]:
        raise AttributeValueError(
            "the shape of a broadcast cannot be inferred, so it has to be written"
        )
    return operands[0]


def _transpose(operands: Sequence[Shape], attributes: Attributes) -> Shape:
    operand, permutation = operands[0], attributes["dimensions"]
    if sorted(permutation) != list(range(operand.rank)) or operand.layout is None:
        raise AttributeValueError(
            f"dimensions {permutation} are no permutation of those of {operand}"
        )
    order = tuple(permutation.index(dimension) for dimension in operand.layout.minor_to_major)
    return Shape(operand.element_type, _sizes(operand, permutation), Layout(order))


def _concatenate(operands: Sequence[Shape], attributes: Attributes) -> Shape:
    (dimension,) = _checked(operands[0], attributes["dimensions"][:1] or (0,))
    first = operands[0]
    if any(shape.rank != first.rank for shape in operands):
        raise AttributeValueError("the operands have different ranks")
    for shape in operands:
        if _replaced(shape, dimension, first.dimensions[dimension]).dimensions != first.dimensions:
            raise AttributeValueError(f"the operands have different sizes: {first} and {shape}")
    total = sum(shape.dimensions[dimension] for shape in operands)
    return _replaced(first, dimension, total).with_element_type(_widest(operands))


def _pad(operands: Sequence[Shape], attributes: Attributes) -> Shape:
    operand, padding = operands[0], attributes["padding"]
    if len(padding) != operand.rank:
        raise AttributeValueError(
            f"the padding has {len(padding)} dimensions, but the operand is {operand}"
        )
    pairs = zip(operand.dimensions, padding, strict=True)
    return Shape(_widest(operands), _numbers(padded_size(size, *row) for size, row in pairs))


def _reduce(operands: Sequence[Shape], attributes: Attributes) -> Shape:
    inputs, reduced = operands[: len(operands) // 2], attributes["dimensions"]
    _checked(inputs[0], reduced)
    kept = [dimension for dimension in range(inputs[0].rank) if dimension not in reduced]
    results = attributes["to_apply"].root.shape.arrays
    if len(results) != len(inputs):
        raise AttributeValueError(f"to_apply has {len(results)} results for {len(inputs)} inputs")
    pairs = zip(inputs, results, strict=True)
    return one_or_tuple([Shape(each.element_type, _sizes(i, kept)) for i, each in pairs])


def _dot(operands: Sequence[Shape], attributes: Attributes) -> Shape:
    lhs, rhs = operands
    _checked(lhs, attributes.get("lhs_batch_dims", ()))
    return Shape(_widest((lhs, rhs)), dot_sizes(lhs.dimensions, rhs.dimensions, attributes))


def _gather(operands: Sequence[Shape], attributes: Attributes) -> Shape:
    operand, indices = operands
    found = gather_sizes(attributes["slice_sizes"], indices.dimensions, attributes)
    sizes = tuple(size for size in found if size is not None)
    if len(sizes) < len(found):
        raise AttributeValueError(
            "offset_dims, collapsed_slice_dims and slice_sizes do not fit together"
        )
    return Shape(operand.element_type, sizes)


def _reduce_window(operands: Sequence[Shape], attributes: Attributes) -> Shape:
    inputs, window = operands[: len(operands) // 2], attributes.get("window", Window())
    rows = window_rows("reduce-window", inputs[0].dimensions, window)
    sizes = _numbers(window_count(*row) for row in rows)
    starts = operands[len(inputs) :]
    return one_or_tuple([Shape(start.element_type, sizes) for start in starts])


def _convolution(operands: Sequence[Shape], attributes: Attributes) -> Shape:
    lhs, rhs = operands
    sizes = convolution_sizes(
        lhs.dimensions,
        rhs.dimensions,
        attributes["dim_labels"],
        attributes.get("window", Window()),
        ConvolutionGroups(
            attributes.get("feature_group_count", 1), attributes.get("batch_group_count", 1)
        ),
    )
    return Shape(_widest(operands), _numbers(sizes.output.values()))


def _numbers(sizes: Iterable[Size]) -> tuple[int, ...]:
    """What follows from the numbers of shapes is a number, too."""
    return tuple(size for size in sizes if isinstance(size, int))


def _scaled_dot(operands: Sequence[Shape], attributes: Attributes) -> Shape:
    """The scales are the last two operands."""
    return _dot(operands[:2], attributes)


def _ragged_dot(operands: Sequence[Shape], attributes: Attributes) -> Shape:
    lhs, rhs, groups = operands
    ragged: tuple[int, ...] = attributes.get("lhs_ragged_dims", ())
    if len(ragged) != 1:
        raise AttributeValueError(f"lhs_ragged_dims has {len(ragged)} entries; expected 1")
    group_dims = attributes.get("rhs_group_dims", ())
    rhs_gone = (*attributes.get("rhs_contracting_dims", ()), *group_dims)
    dot = _dot((lhs, rhs), {**attributes, "rhs_contracting_dims": rhs_gone})
    if ragged[0] not in attributes.get("lhs_contracting_dims", ()):
        return dot
    count = groups.dimensions[groups.rank - 1 :]
    return Shape(dot.element_type, (*count, *dot.dimensions))


def _map(operands: Sequence[Shape], attributes: Attributes) -> Shape:
    element_type = attributes["to_apply"].root.shape.element_type
    return Shape(element_type, _elementwise(operands, {}).dimensions)


def _conditional(_: Sequence[Shape], attributes: Attributes) -> Shape:
    several: Sequence[Any] = attributes.get("branch_computations", ())
    first = several[0] if several else attributes.get("true_computation")
    if first is None:
        raise AttributeValueError("expected attribute branch_computations or true_computation")
    return first.root.shape


def _scatter(operands: Sequence[Shape], _: Attributes) -> Shape:
    return one_or_tuple(operands[: len(operands) // 2])


def _batch_norm(operands: Sequence[Shape], attributes: Attributes) -> Shape:
    """The operand normalised, and two statistics of each feature."""
    operand = operands[0]
    sizes = _sizes(operand, (attributes["feature_index"],))
    feature = Shape(operand.element_type, sizes)
    return Shape.of_tuple([operand, feature, feature])


def _scan(operands: Sequence[Shape], attributes: Attributes) -> Shape:
    carries: int = attributes.get("num_carries", 0)
    result: Shape = attributes["to_apply"].root.shape
    if carries >= len(operands):
        raise AttributeValueError("the shape of a scan without inputs has to be written")
    (axis,) = _checked(operands[0], attributes["dimensions"][:1] or (0,))
    size = operands[0].dimensions[axis]

    def stacked(shape: Shape) -> Shape:
        sizes = shape.dimensions
        return Shape(shape.element_type, (*sizes[:axis], size, *sizes[axis:]))

    if not result.is_tuple:
        return result if carries else stacked(result)
    outputs = len(result.elements) - carries
    return Shape.of_tuple(
        stacked(shape) if number < outputs else shape
        for number, shape in enumerate(result.elements)
    )


def _slice(operands: Sequence[Shape], attributes: Attributes) -> Shape:
    ranges, operand = attributes["slice"], operands[0]
    if len(ranges) != operand.rank or any(stride < 1 for _, _, stride in ranges):
        raise AttributeValueError(f"the slice does not fit the operand {operand}")
    sizes = (max(0, -(-(limit - start) // stride)) for start, limit, stride in ranges)
    return Shape(operand.element_type, tuple(sizes))


def _dynamic_slice(operands: Sequence[Shape], attributes: Attributes) -> Shape:
    return Shape(operands[0].element_type, attributes["dynamic_slice_sizes"])


def _fft(operands: Sequence[Shape], attributes: Attributes) -> Shape:
    operand, kind = operands[0], attributes["fft_type"]
    sizes = _numbers(fft_sizes(operand.dimensions, kind, attributes["fft_length"]).output)
    like = {"RFFT": _complex, "IRFFT": _real}.get(kind, _first)(operands, {})
    return like if like.dimensions == sizes else Shape(like.element_type, sizes)


def _topk(operands: Sequence[Shape], attributes: Attributes) -> Shape:
    _checked(operands[0], (operands[0].rank - 1,))
    values = _replaced(operands[0], operands[0].rank - 1, attributes["k"])
    return Shape.of_tuple([values, values.with_element_type(ElementType.S32)])


def _set_dimension_size(operands: Sequence[Shape], attributes: Attributes) -> Shape:
    dimensions, operand = _checked(operands[0], attributes["dimensions"]), operands[0]
    flags = operand.dynamic_dimensions or (False,) * operand.rank
    flags = tuple(flag or axis in dimensions for axis, flag in enumerate(flags))
    return Shape(operand.element_type, operand.dimensions, operand.layout, flags)


def _checked(shape: Shape, dimensions: Sequence[int]) -> Sequence[int]:
    for dimension in dimensions:
        if not 0 <= dimension < shape.rank:
            raise AttributeValueError(f"{shape} has no dimension {dimension}")
    return dimensions


def _sizes(shape: Shape, dimensions: Sequence[int]) -> tuple[int, ...]:
    return tuple(shape.dimensions[dimension] for dimension in _checked(shape, dimensions))


def _replaced(shape: Shape, dimension: int, size: int) -> Shape:
    dimensions = (*shape.dimensions[:dimension], size, *shape.dimensions[dimension + 1 :])
    return Shape(shape.element_type, dimensions)


_LIKE_FIRST: Final = (
    *("add-dependency", "batch-norm-inference", "cholesky", "domain", "dynamic-update-slice"),
    *("opt-barrier", "reverse", "select-and-scatter", "shuffle", "while"),
)
"""The opcodes whose result has the shape of the first operand."""

_RULES: dict[str, Rule] = {
    **dict.fromkeys(LIKE_OPERANDS, _elementwise),
    **dict.fromkeys(_LIKE_FIRST, _first),
    **dict.fromkeys(("abs", "imag", "real"), _real),
    **dict.fromkeys(("batch-norm-grad", "batch-norm-training"), _batch_norm),
    **dict.fromkeys(("compare", "is-finite"), _of_type(ElementType.PRED)),
    **dict.fromkeys(("partition-id", "replica-id"), _always("u32[]")),
    "after-all": _always("token[]"),
    "broadcast": _broadcast,
    "call": lambda _, attributes: attributes["to_apply"].root.shape,
    "clamp": lambda operands, _: _of_type(operands[1].element_type)(operands, {}),
    "complex": _complex,
    "concatenate": _concatenate,
    "conditional": _conditional,
    "convolution": _convolution,
    "dot": _dot,
    "dynamic-slice": _dynamic_slice,
    "fft": _fft,
    "gather": _gather,
    "get-dimension-size": _always("s32[]"),
    "get-tuple-element": _tuple_element,
    "map": _map,
    "pad": _pad,
    "ragged-dot": _ragged_dot,
    "reduce": _reduce,
    "reduce-window": _reduce_window,
    "scaled-dot": _scaled_dot,
    "scan": _scan,
    "scatter": _scatter,
    "select": _select,
    "set-dimension-size": _set_dimension_size,
    "slice": _slice,
    "sort": lambda operands, _: one_or_tuple(operands),
    "topk": _topk,
    "transpose": _transpose,
    "triangular-solve": lambda operands, _: operands[1],
    "tuple": lambda operands, _: Shape.of_tuple(operands),
}

INFERRED: Final = _RULES.keys()
"""The opcodes whose shape follows: of a broadcast only from a scalar, of a scan from inputs."""
