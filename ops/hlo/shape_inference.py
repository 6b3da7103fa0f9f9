"""Shapes of results from those of operands: one rule for each opcode whose shape follows.

A rule computes with sizes that are numbers or forms over parameters. So it gives the shape that a
text leaves out, the shape that an inserted instruction has, and the true sizes of dynamic
dimensions. ``None`` stands for a size that the program gives only when it runs.

Source: XLA's parser and shape inference, and its dynamic dimension inference. The parser refuses
slices without a shape; these are inferred as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, Final, NamedTuple, Protocol, Self, TypeAlias, TypeVar

from indexing.layout import UNBOUNDED_SIZE, ElementType, Layout, Shape, ShapeError, common_blocks
from indexing.passes import Constraint
from ops import index_maps
from ops.hlo.attributes import DimensionLabels, Window
from ops.hlo.errors import AttributeValueError
from ops.hlo.module import Instruction
from ops.hlo.opcodes import LIKE_OPERANDS
from ops.index_maps import Size, Sizes
from simplifier import forms
from simplifier.errors import check_type
from simplifier.forms import Form, Interval

SizeT = TypeVar("SizeT", int, "Size")

Found: TypeAlias = "Sequence[Size | None]"
"""The sizes of an array; ``None`` where the rule knows of none."""


# Operands of rules.


@dataclass(frozen=True, slots=True)
class Sized:
    """A shape, and the sizes of the arrays in it."""

    shape: Shape
    sizes: tuple[Found, ...]

    @classmethod
    def of(cls, shape: Shape) -> Sized:
        """A shape of which the sizes are the bounds."""
        return cls(shape, tuple(array.dimensions for array in shape.arrays))

    @classmethod
    def open(cls, number: int, shape: Shape) -> Sized:
        """The shape of an operand, with a variable for each size that is dynamic."""
        flags = shape.dynamic_dimensions or (False,) * len(shape.dimensions)
        own = [
            forms.variable(f"size{number}_{axis}") if is_dynamic else size
            for axis, (size, is_dynamic) in enumerate(zip(shape.dimensions, flags, strict=True))
        ]
        return cls(shape, (own,)) if shape.is_array else cls.of(shape)

    @classmethod
    def array(cls, element_type: ElementType, sizes: Iterable[Size | None]) -> Sized:
        """An array in the default layout."""
        found = tuple(sizes)
        return cls(array_shape(element_type, found), (found,))

    @classmethod
    def together(cls, several: Iterable[Sized]) -> Sized:
        """A tuple."""
        listed = [*several]
        shape = Shape.of_tuple([each.shape for each in listed])
        return cls(shape, tuple(sizes for each in listed for sizes in each.sizes))

    @property
    def own(self) -> Sequence[Any]:
        """The sizes of an array; empty for any other shape."""
        return self.sizes[0] if self.shape.is_array else ()

    @property
    def rows(self) -> Iterable[tuple[Size, int]]:
        """The size of each dimension, and its bound. The two differ where it is dynamic."""
        return zip(self.own, self.shape.dimensions, strict=True)

    def of_type(self, element_type: ElementType) -> Sized:
        """The same with elements of another type."""
        return replace(self, shape=self.shape.with_element_type(element_type))

    def taken(self, dimensions: Sequence[int]) -> list[Size]:
        """The sizes of some dimensions."""
        return [self.own[dimension] for dimension in _checked(self.shape, dimensions)]


def array_shape(element_type: ElementType, sizes: Iterable[Size | None]) -> Shape:
    """The shape of an array of such sizes, with ``?`` where they are no numbers."""
    known = (size if isinstance(size, int) else UNBOUNDED_SIZE for size in sizes)
    return Shape(element_type, tuple(known))


class Application(NamedTuple):
    """Arguments of a rule; ``result`` is the shape that is written, if it is."""

    opcode: str
    operands: Sequence[Sized]
    attributes: Mapping[str, Any]
    result: Shape | None = None
    value: Callable[[int], Size | None] = lambda _: None
    """The value of an operand, which is a scalar."""

    @property
    def written(self) -> Shape:
        """The shape that is written, since it does not follow."""
        if self.result is None:
            raise _not_inferred(self.opcode)
        return self.result


Rule = Callable[[Application], Sized]


class Known(Protocol):
    """Facts about the operands of an instruction."""

    def sizes(self, instruction: Instruction, element: int = 0) -> Sequence[Size]:
        """The sizes of an array of a result."""
        ...

    def value(self, instruction: Instruction) -> Size:
        """The value of a scalar."""
        ...

    def values(self, instruction: Instruction) -> Sequence[Size] | None:
        """The elements of a small array of integers, if all are known."""
        ...


def infer_shape(
    opcode: str,
    operands: Sequence[Shape],
    attributes: Mapping[str, Any],
    given: Shape | None = None,
) -> Shape:
    """The shape of the result of an operation on operands with given shapes.

    Parts that do not follow are as in the shape that is ``given``.

    Raises:
        AttributeValueError: the shape cannot be inferred, or operands and attributes do not fit.

    >>> a = Shape.parse("f32[2,3]")
    >>> print(infer_shape("transpose", [a], {"dimensions": (1, 0)}))
    f32[3,2]{0,1}
    >>> print(infer_shape("transpose", [Shape.parse("f32[<=8,4]")], {"dimensions": (1, 0)}))
    f32[4,<=8]{0,1}
    """
    rule = _RULES.get(opcode)
    if rule is not None:
        found = rule(Application(opcode, [*map(Sized.of, operands)], attributes, given)).shape
        if given is not None or not any(each.dynamic_dimensions for each in operands):
            return found
        open_sizes = [Sized.open(*each) for each in enumerate(operands)]
        return _dynamic(opcode, found, rule(Application(opcode, open_sizes, attributes)).sizes)
    if given is None:
        raise _not_inferred(opcode)
    return given


def _dynamic(opcode: str, shape: Shape, sizes: Sequence[Found]) -> Shape:
    """The shape of an array that is dynamic where its sizes are no numbers.

    As for XLA, slicing a single element out leaves a dimension that is not.
    """
    if not shape.is_array:
        return shape
    pairs = zip(sizes[0], shape.dimensions, strict=True)
    flags = [not isinstance(each, int) and (opcode, n) != ("slice", 1) for each, n in pairs]
    return replace(shape, dynamic_dimensions=tuple(flags))


def _not_inferred(what: str) -> AttributeValueError:
    message = f"the shape of {what} cannot be inferred, so it has to be written"
    return AttributeValueError(message)


def sizes_of_result(instruction: Instruction, known: Known) -> Sequence[Found]:
    """The sizes of the arrays of a result, as far as they follow; none without a rule."""
    rule, operands = _RULES.get(instruction.opcode), instruction.operands
    if rule is None:
        return ()
    sized = [
        Sized(each.shape, tuple(known.sizes(each, n) for n in each.shape.array_indices))
        for each in operands
    ]
    values = _values_of(operands, known)
    opcode, attributes = instruction.opcode, instruction.attributes
    return rule(Application(opcode, sized, attributes, instruction.shape, values)).sizes


def _values_of(operands: Sequence[Instruction], known: Known) -> Callable[[int], Size]:
    return lambda number: known.value(operands[number])


# Rules: results like operands.


def _first(op: Application) -> Sized:
    return op.operands[0]


def _second(op: Application) -> Sized:
    return op.operands[1]


def _alike(op: Application) -> Sized:
    """Sizes of every operand but scalars; a dynamic size of one of them is that of the result.

    Two dynamic sizes have to be equal.
    """
    first = max(op.operands, key=lambda each: each.shape.rank)
    others = [each for each in op.operands if each.shape.rank]
    for each in others:
        _check_same(first.shape, each.shape, each.shape.dimensions)
    return replace(first, sizes=(_common_sizes(others),))


def _common_sizes(operands: Iterable[Sized]) -> list[Size]:
    columns = zip(*(each.rows for each in operands), strict=True)
    return [next((size for size, bound in row if size != bound), row[0][0]) for row in columns]


def _check_same(first: Shape, other: Shape, dimensions: Sequence[int]) -> None:
    if not _is_same(first.dimensions, dimensions):
        raise AttributeValueError(f"the operands have different sizes: {first} and {other}")


def _is_same(sizes: Sequence[int], others: Sequence[int]) -> bool:
    """Whether sizes are equal where both are known."""
    return len(sizes) == len(others) and all(
        one == other or UNBOUNDED_SIZE in {one, other}
        for one, other in zip(sizes, others, strict=True)
    )


def _widest(operands: Iterable[Sized]) -> ElementType:
    return reduce(ElementType.wider, [each.shape.element_type for each in operands])


def _elementwise(op: Application) -> Sized:
    return _alike(op).of_type(_widest(op.operands))


def _of_type(element_type: ElementType) -> Rule:
    """An elementwise result of another type."""
    return lambda op: _alike(op).of_type(element_type)


def _of_written_type(op: Application) -> Sized:
    return _alike(op).of_type(op.written.element_type)


def _select(op: Application) -> Sized:
    return _alike(op).of_type(_widest(op.operands[1:]))


def _clamp(op: Application) -> Sized:
    return _alike(op).of_type(op.operands[1].shape.element_type)


def _map(op: Application) -> Sized:
    return Sized.array(op.attributes["to_apply"].root.shape.element_type, _alike(op).own)


def _complex(op: Application) -> Sized:
    is_double = op.operands[0].shape.element_type is ElementType.F64
    return _alike(op).of_type(ElementType.C128 if is_double else ElementType.C64)


def _real(op: Application) -> Sized:
    element_type = op.operands[0].shape.element_type
    parts = {ElementType.C64: ElementType.F32, ElementType.C128: ElementType.F64}
    return op.operands[0].of_type(parts.get(element_type, element_type))


def _always(text: str) -> Rule:
    return lambda _: Sized.of(Shape.parse(text))


def _each(op: Application) -> Sized:
    """Each array of the result is as large as the operand of its number."""
    return _one_or_tuple(op.operands)


def _one_or_tuple(several: Sequence[Sized]) -> Sized:
    return several[0] if len(several) == 1 else Sized.together(several)


def one_or_tuple(shapes: Sequence[Shape]) -> Shape:
    """The shape of a result, or the tuple of those of several."""
    return shapes[0] if len(shapes) == 1 else Shape.of_tuple(shapes)


def _each_written(op: Application) -> Sized:
    return Sized(op.written, tuple(each.own for each in op.operands))


def _but_along(op: Application) -> Sized:
    """Each array is as large as its operand, but along the dimension of the operation."""
    along: tuple[int, ...] = op.attributes.get("dimensions", ())
    found = ([None if a in along else s for a, s in enumerate(each.own)] for each in op.operands)
    return Sized(op.written, tuple(found))


def _scatter(op: Application) -> Sized:
    return _one_or_tuple(op.operands[: len(op.operands) // 2])


def _batch_norm(op: Application) -> Sized:
    """The operand normalised, and two statistics of each feature."""
    operand = op.operands[0]
    sizes = operand.taken((op.attributes["feature_index"],))
    feature = Sized.array(operand.shape.element_type, sizes)
    return Sized.together([operand, feature, feature])


# Rules: tuples and computations.


def _tuple(op: Application) -> Sized:
    return Sized.together(op.operands)


def _tuple_element(op: Application) -> Sized:
    (operand,), index = op.operands, int(op.attributes["index"])
    if not 0 <= index < len(operand.shape.elements):
        raise AttributeValueError(f"{operand.shape} has no element {index}")
    return _element(operand, index)


def _element(operand: Sized, index: int) -> Sized:
    elements = operand.shape.elements
    first = sum(len(part.arrays) for part in elements[:index])
    return Sized(elements[index], operand.sizes[first : first + len(elements[index].arrays)])


def _started(place: int) -> Rule:
    """The started value: an element of the start's result."""

    def rule(op: Application) -> Sized:
        (start,) = op.operands
        if len(start.shape.elements) <= place:
            message = f"the operand is {start.shape}; expected a tuple of what was started"
            raise AttributeValueError(message)
        return _element(start, place)

    return rule


def _call(op: Application) -> Sized:
    return Sized(op.attributes["to_apply"].root.shape, ())


def _conditional(op: Application) -> Sized:
    several: Sequence[Any] = op.attributes.get("branch_computations", ())
    first = several[0] if several else op.attributes.get("true_computation")
    if first is None:
        raise AttributeValueError("expected attribute branch_computations or true_computation")
    return Sized(first.root.shape, ())


def _scan(op: Application) -> Sized:
    """Outputs have a slice for each step, as inputs do; carried values stay as large."""
    carries: int = op.attributes.get("num_carries", 0)
    result: Shape = op.attributes["to_apply"].root.shape
    inputs = len(op.operands) - carries
    if inputs <= 0:
        if op.result is None:
            raise AttributeValueError("the shape of a scan without inputs has to be written")
        return Sized(op.result, tuple(each.own for each in op.operands))
    axes = op.attributes["dimensions"][:1] or (0,)
    (axis,), (steps,) = axes, op.operands[0].taken(axes)
    outputs = max(0, len(result.arrays) - carries)
    several = [_stacked(shape, axis, steps) for shape in result.arrays[:outputs]]
    pairs = zip(result.arrays[outputs:], op.operands[inputs:], strict=False)
    several += [Sized(shape, operand.sizes) for shape, operand in pairs]
    return Sized.together(several) if result.is_tuple else several[0]


def _stacked(shape: Shape, axis: int, steps: Size) -> Sized:
    """Slices along an axis, one for each step; of their own sizes the operands say nothing."""
    before, after = shape.dimensions[:axis], shape.dimensions[axis:]
    whole = array_shape(shape.element_type, (*before, steps, *after))
    return Sized(whole, ([*[None] * len(before), steps, *[None] * len(after)],))


# Rules: dimensions that move, go, come, or get other sizes.


def _bitcast(op: Application) -> Sized:
    """Under its own shape an array keeps its sizes."""
    if op.operands[0].shape == op.written:
        return op.operands[0]
    return Sized(op.written, ([None] * op.written.rank,))


def _bitcast_convert(op: Application) -> Sized:
    return Sized(op.written, op.operands[0].sizes)


def _broadcast(op: Application) -> Sized:
    dimensions: Sequence[int] = op.attributes["dimensions"]
    (operand,) = op.operands
    if op.result is None:
        if operand.shape.rank or dimensions:
            raise _not_inferred("a broadcast")
        return operand
    shape, bounds = operand.shape, op.result.dimensions
    is_inside = all(0 <= axis < len(bounds) for axis in dimensions)
    kept = [bounds[axis] for axis in dimensions] if is_inside and shape.is_array else None
    if kept is None or not _is_same(shape.dimensions, kept):
        message = f"dimensions {tuple(dimensions)} do not lead from {shape} to {op.result}"
        raise AttributeValueError(message)
    sizes = dict(zip(dimensions, operand.own, strict=True))
    return Sized(op.result, ([sizes.get(axis) for axis in range(len(bounds))],))


def _transpose(op: Application) -> Sized:
    (operand,), permutation = op.operands, op.attributes["dimensions"]
    layout, rank = operand.shape.layout, operand.shape.rank
    if sorted(permutation) != list(range(rank)) or layout is None:
        message = f"dimensions {permutation} are no permutation of those of {operand.shape}"
        raise AttributeValueError(message)
    order = tuple(permutation.index(dimension) for dimension in layout.minor_to_major)
    found = Sized.array(operand.shape.element_type, operand.taken(permutation))
    return replace(found, shape=found.shape.with_layout(Layout(order)))


def _concatenate(op: Application) -> Sized:
    first = op.operands[0]
    (along,) = _checked(first.shape, op.attributes["dimensions"][:1] or (0,))
    if any(each.shape.rank != first.shape.rank for each in op.operands):
        raise AttributeValueError("the operands have different ranks")
    own = first.shape.dimensions[along]
    for each in op.operands:
        _check_same(
            first.shape, each.shape, index_maps.with_value(each.shape.dimensions, along, own)
        )
    along_all = index_maps.total(each.own[along] for each in op.operands)
    sizes = index_maps.with_value(_common_sizes(op.operands), along, along_all)
    return Sized.array(_widest(op.operands), sizes)


def _pad(op: Application) -> Sized:
    operand, padding = op.operands[0], op.attributes["padding"]
    if len(padding) != operand.shape.rank:
        message = f"the padding has {len(padding)} dimensions, but the operand is {operand.shape}"
        raise AttributeValueError(message)
    pairs = zip(operand.own, padding, strict=True)
    return Sized.array(_widest(op.operands), [padded_size(size, *row) for size, row in pairs])


def _reduce(op: Application) -> Sized:
    inputs, reduced = op.operands[: len(op.operands) // 2], op.attributes["dimensions"]
    _checked(inputs[0].shape, reduced)
    kept = [dimension for dimension in range(inputs[0].shape.rank) if dimension not in reduced]
    results = op.attributes["to_apply"].root.shape.arrays
    if len(results) != len(inputs):
        raise AttributeValueError(f"to_apply has {len(results)} results for {len(inputs)} inputs")
    pairs = zip(inputs, results, strict=True)
    return _one_or_tuple([Sized.array(each.element_type, i.taken(kept)) for i, each in pairs])


def _slice(op: Application) -> Sized:
    """A dynamic dimension that is taken whole, up to the bound, keeps its size."""
    (operand,), ranges = op.operands, op.attributes["slice"]
    if len(ranges) != operand.shape.rank or any(stride < 1 for _, _, stride in ranges):
        raise AttributeValueError(f"the slice does not fit the operand {operand.shape}")
    found: list[Size | None] = []
    for (size, bound), (start, limit, stride) in zip(operand.rows, ranges, strict=True):
        is_whole = (start, limit, stride) == (0, bound, 1)
        taken = max(0, -(-(limit - start) // stride)) if size == bound else None
        found.append(size if is_whole else taken)
    return Sized.array(operand.shape.element_type, found)


def _dynamic_slice(op: Application) -> Sized:
    operand, part = op.operands[0], op.attributes["dynamic_slice_sizes"]
    return Sized.array(operand.shape.element_type, _of_part(operand, part))


def _of_part(operand: Sized, part: Sequence[int]) -> Sequence[Size]:
    """The sizes of a part; a dynamic dimension that is taken whole keeps its size."""
    if len(part) != operand.shape.rank:
        return part
    rows = zip(operand.rows, part, strict=True)
    return [
        size if taken == bound else index_maps.read_integer(taken) for (size, bound), taken in rows
    ]


def _gather(op: Application) -> Sized:
    """Batches come from the indices."""
    operand, indices = op.operands
    part = _of_part(operand, op.attributes["slice_sizes"])
    found = gather_sizes(part, indices.own, op.attributes)
    if any(size is None for size in found):
        message = "offset_dims, collapsed_slice_dims and slice_sizes do not fit together"
        raise AttributeValueError(message)
    return Sized.array(operand.shape.element_type, found)


def _reshape(op: Application) -> Sized:
    """Dimensions that are reshaped together have as many elements before and after.

    So one dynamic dimension among those of the result has what the others leave of them.
    Dimensions without bounds do not tell which belong together: all do.
    """
    (operand,), shape = op.operands, op.written
    found: list[Size | None] = [None] * shape.rank
    bounds = operand.shape.dimensions, shape.dimensions
    is_bounded = not any(UNBOUNDED_SIZE in each for each in bounds)
    whole = [(range(len(bounds[0])), range(len(bounds[1])))]
    for before, after in common_blocks(*bounds) if is_bounded else whole:
        dynamic = [axis for axis in after if any(shape.dynamic_dimensions[axis : axis + 1])]
        if len(dynamic) == 1:
            rest = index_maps.product(
                shape.dimensions[axis] for axis in after if axis != dynamic[0]
            )
            elements = index_maps.product(operand.own[axis] for axis in before)
            if isinstance(rest, int) and rest:
                found[dynamic[0]] = index_maps.floor_divided(elements, rest)
    return Sized(shape, (found,))


def _dynamic_reshape(op: Application) -> Sized:
    return Sized(op.written, ([op.value(number) for number in range(1, len(op.operands))],))


def _set_dimension_size(op: Application) -> Sized:
    """A number outside the dimension masks all of it, or nothing."""
    dimensions, operand = op.attributes["dimensions"], op.operands[0]
    (dimension,) = _checked(operand.shape, dimensions[:1] or (0,))
    flags = [*(operand.shape.dynamic_dimensions or (False,) * operand.shape.rank)]
    flags[dimension] = True
    bound, value = operand.shape.dimensions[dimension], op.value(1)
    if isinstance(value, int):
        value = max(value, 0) if bound == UNBOUNDED_SIZE else min(max(value, 0), bound)
    shape = replace(operand.shape, dynamic_dimensions=tuple(flags))
    return Sized(shape, (index_maps.with_value(operand.own, dimension, value),))


def _topk(op: Application) -> Sized:
    operand, k = op.operands[0], op.attributes["k"]
    (last,) = _checked(operand.shape, (operand.shape.rank - 1,))
    values = Sized.array(operand.shape.element_type, index_maps.with_value(operand.own, last, k))
    return Sized.together([values, values.of_type(ElementType.S32)])


def _checked(shape: Shape, dimensions: Sequence[int]) -> Sequence[int]:
    for dimension in dimensions:
        if not 0 <= dimension < shape.rank:
            raise AttributeValueError(f"{shape} has no dimension {dimension}")
    return dimensions


# Dot.


def _dot(op: Application) -> Sized:
    """A batch has the size of the dynamic operand, as a result of :func:`_alike`."""
    lhs, rhs = op.operands[:2]
    left: Sequence[int] = op.attributes.get("lhs_batch_dims", ())
    right: Sequence[int] = op.attributes.get("rhs_batch_dims", ())
    sizes = [*lhs.own]
    pairs = zip(_checked(lhs.shape, left), _checked(rhs.shape, right), strict=False)
    for axis, other in pairs:
        if sizes[axis] == lhs.shape.dimensions[axis]:
            sizes[axis] = rhs.own[other]
    return Sized.array(_widest((lhs, rhs)), dot_sizes(sizes, rhs.own, op.attributes))


def _ragged_dot(op: Application) -> Sized:
    groups, named = op.operands[2], op.attributes
    ragged: tuple[int, ...] = named.get("lhs_ragged_dims", ())
    if len(ragged) != 1:
        raise AttributeValueError(f"lhs_ragged_dims has {len(ragged)} entries; expected 1")
    gone = (*named.get("rhs_contracting_dims", ()), *named.get("rhs_group_dims", ()))
    dot = _dot(op._replace(attributes={**named, "rhs_contracting_dims": gone}))
    if ragged[0] not in named.get("lhs_contracting_dims", ()):
        return dot
    return Sized.array(dot.shape.element_type, (*groups.own[groups.shape.rank - 1 :], *dot.own))


def dot_sizes(
    lhs_sizes: Sequence[SizeT], rhs_sizes: Sequence[SizeT], attributes: Mapping[str, Any]
) -> tuple[SizeT, ...]:
    """The sizes of the result of :func:`dot`: of batches, then the rest of both operands."""
    axes: Sequence[int] = attributes.get("lhs_batch_dims", ())
    batch = [lhs_sizes[axis] for axis in axes]
    free = (*_free("lhs", lhs_sizes, attributes), *_free("rhs", rhs_sizes, attributes))
    return (*batch, *free)


def _free(side: str, sizes: Sequence[SizeT], attributes: Mapping[str, Any]) -> list[SizeT]:
    """The sizes of the dimensions of an operand that are not shared."""
    kinds = (f"{side}_batch_dims", f"{side}_contracting_dims")
    gone = {axis for kind in kinds for axis in attributes.get(kind, ())}
    return [size for axis, size in enumerate(sizes) if axis not in gone]


def gather_sizes(
    slice_sizes: Sequence[SizeT], indices_sizes: Sequence[SizeT], attributes: Mapping[str, Any]
) -> list[SizeT | None]:
    """The sizes of the result of :func:`gather`; ``None`` where attributes do not fit together."""
    dropped = {*attributes["collapsed_slice_dims"], *attributes.get("operand_batching_dims", ())}
    window = [size for axis, size in enumerate(slice_sizes) if axis not in dropped]
    vector, offsets = attributes["index_vector_dim"], attributes["offset_dims"]
    batch = [size for axis, size in enumerate(indices_sizes) if axis != vector]
    rank, windows, batches = len(offsets) + len(batch), iter(window), iter(batch)
    return [next(windows if axis in offsets else batches, None) for axis in range(rank)]


# Windows and padding.


@dataclass(frozen=True, slots=True)
class WindowRow:
    """One dimension of an operand, and the windows on it."""

    operand_size: Size
    window_size: Size
    stride: Size = 1
    low: Size = 0
    high: Size = 0
    base_dilation: int = 1
    window_dilation: int = 1

    @classmethod
    def each(cls, op: str, operand_sizes: Sequence[Size], window: Window) -> tuple[Self, ...]:
        """Windows of all dimensions of an operand.

        Raises:
            ShapeError: the window has another rank, or a size, stride or dilation below 1.
        """
        index_maps.check_count(op, "window", window.size, len(operand_sizes))
        _check_positive(op, window)
        lows, highs = ([pair[side] for pair in window.pad] for side in range(2))
        columns = (
            map(index_maps.read_integer, each) for each in (window.size, window.stride, lows, highs)
        )
        rows = zip(operand_sizes, *columns, window.lhs_dilate, window.rhs_dilate, strict=True)
        return tuple(cls(*row) for row in rows)

    @property
    def count(self) -> Size:
        """The number of windows that lie within the padded operand.

        >>> WindowRow(operand_size=13, window_size=3, stride=2, low=1, high=1).count
        7
        """
        spread = -((self.window_size - 1) * self.window_dilation)
        padding = index_maps.total((self.low, self.high, spread, -1))
        room = index_maps.total((_dilated(self.operand_size, self.base_dilation), padding))
        count = index_maps.total((index_maps.floor_divided(room, self.stride), 1))
        of_nothing = index_maps.floor_divided(padding, self.stride) + 1
        return (
            count
            if isinstance(of_nothing, int) and of_nothing >= 0
            else index_maps.at_least(0, count)
        )

    @property
    def conditions(self) -> list[Constraint]:
        """The conditions that size and stride of windows are 1 or more, where they are symbolic."""
        sizes = self.window_size, self.stride
        return [(size, Interval(1, None)) for size in sizes if isinstance(size, Form)]


def _dilated(size: Size, dilation: int) -> Size:
    return size if dilation == 1 else index_maps.at_least(0, (size - 1) * dilation + 1)


def _check_positive(op: str, window: Window) -> None:
    for field in ("size", "stride", "lhs_dilate", "rhs_dilate"):
        for position, value in enumerate(getattr(window, field)):
            if isinstance(value, int) and value < 1:
                message = f"{op}: the window has {field} {value} in dimension {position}"
                raise ShapeError(f"{message}; expected 1 or more")


def padded_size(size: Size, low: Size, high: Size, interior: int) -> Size:
    """The size of a dimension with padding before, after and between its elements.

    >>> padded_size(4, 1, 2, 3)
    16
    """
    return low + _dilated(size, interior + 1) + high


def _reduce_window(op: Application) -> Sized:
    inputs, starts = op.operands[: len(op.operands) // 2], op.operands[len(op.operands) // 2 :]
    window = op.attributes.get("window", Window())
    sizes = [row.count for row in WindowRow.each("reduce-window", inputs[0].own, window)]
    return _one_or_tuple([Sized.array(start.shape.element_type, sizes) for start in starts])


# Convolution.


def _convolution(op: Application) -> Sized:
    lhs, rhs = op.operands[:2]
    sizes = convolution_sizes(
        lhs.own,
        rhs.own,
        op.attributes["dim_labels"],
        op.attributes.get("window", Window()),
        ConvolutionGroups(
            op.attributes.get("feature_group_count", 1), op.attributes.get("batch_group_count", 1)
        ),
    )
    return Sized.array(_widest((lhs, rhs)), sizes.output.values())


@dataclass(frozen=True, slots=True)
class ConvolutionGroups:
    """Numbers of groups of input features, and of batches, that share the output features."""

    features: int = 1
    batches: int = 1

    @property
    def count(self) -> int:
        """One of the two is 1."""
        return self.features * self.batches


class ConvolutionSizes(NamedTuple):
    """The sizes of a convolution by label, in the order of the labels, and the spatial labels.

    ``conditions`` on parameters say that sizes fit together.
    """

    lhs: Mapping[str, Size]
    rhs: Mapping[str, Size]
    output: Mapping[str, Size]
    spatial: Sequence[str]
    conditions: Sequence[Constraint]


def convolution_sizes(
    lhs_sizes: Sizes,
    rhs_sizes: Sizes,
    labels: DimensionLabels,
    window: Window,
    groups: ConvolutionGroups,
) -> ConvolutionSizes:
    """The sizes of the operands and of the result of a convolution.

    Raises:
        ShapeError: labels, window or groups do not fit the operands.
    """
    spatial = _spatial(labels)
    lhs = _labelled("lhs", labels.input, lhs_sizes)
    rhs = _labelled("rhs", labels.kernel, rhs_sizes)
    batches, conditions = _check_groups(lhs, rhs, groups)
    conditions += index_maps.not_negative((*lhs.values(), *rhs.values()))
    kernel = [rhs[label] for label in spatial]
    windows = [*map(index_maps.read_integer, window.size)]
    conditions += index_maps.check_sizes(
        "convolution", "the window", windows, kernel, "as in the kernel"
    )
    rows = WindowRow.each("convolution", [lhs[label] for label in spatial], window)
    conditions += [condition for row in rows for condition in row.conditions]
    sizes = {label: row.count for label, row in zip(spatial, rows, strict=True)}
    sizes |= {"b": batches, "f": rhs["o"]}
    output = {label: sizes[label] for label in labels.output}
    return ConvolutionSizes(lhs, rhs, output, spatial, conditions)


def _spatial(labels: DimensionLabels) -> list[str]:
    """The labels of the spatial dimensions, in the order of the window."""
    spatial = [str(number) for number in range(len(labels.output) - 2)]
    for role, written, others in (
        ("lhs", labels.input, "bf"),
        ("rhs", labels.kernel, "io"),
        ("the result", labels.output, "bf"),
    ):
        expected = [*others, *spatial]
        if sorted(written) != sorted(expected):
            message = f"convolution: dim_labels {labels} call the dimensions of {role} {written!r}"
            raise ShapeError(f"{message}; expected each of {', '.join(expected)} once")
    return spatial


def _labelled(role: str, labels: str, sizes: Sizes) -> dict[str, Size]:
    checked = index_maps.checked_sizes("convolution", role, sizes)
    if len(checked) != len(labels):
        message = f"convolution: {role} has rank {len(checked)}, but dim_labels name {labels!r}"
        raise ShapeError(f"{message}; expected a label for each dimension")
    return dict(zip(labels, checked, strict=True))


def _check_groups(
    lhs: Mapping[str, Size], rhs: Mapping[str, Size], groups: ConvolutionGroups
) -> tuple[Size, list[Constraint]]:
    """The batches of the result, and the conditions that groups have equal parts."""
    few, many = sorted((groups.features, groups.batches))
    if few != 1:
        message = f"there are {groups.features} feature groups and {groups.batches} batch groups"
        raise ShapeError(f"convolution: {message}; expected 1 or more of one kind, 1 of the other")
    message = f"convolution: lhs has {lhs['f']} input features, but rhs has {rhs['i']}"
    message = f"{message} in each of {groups.features} groups; expected as many"
    conditions = index_maps.equal(lhs["f"], rhs["i"] * groups.features, message)
    parts: list[Size] = []
    for what, size, count in (
        ("batches of lhs", lhs["b"], groups.batches),
        ("output features of rhs", rhs["o"], many),
    ):
        message = f"convolution: the {size} {what} are shared by {count} groups"
        part, needed = index_maps.divided(size, count, f"{message}; expected a multiple of {count}")
        parts.append(part)
        conditions += needed
    return parts[0], conditions


# Fast Fourier transform.


def _fft(op: Application) -> Sized:
    kind = op.attributes["fft_type"]
    sizes = fft_sizes(op.operands[0].own, kind, op.attributes["fft_length"]).output
    like = {"RFFT": _complex, "IRFFT": _real}.get(kind, _first)(op)
    if tuple(like.own) == sizes:
        return like
    return Sized.array(like.shape.element_type, sizes)


class FftSizes(NamedTuple):
    """The sizes of the operand and the result of a transform, and how many dimensions are batches.

    ``conditions`` on parameters say that the operand has the sizes that are transformed.
    """

    operand: Sequence[Size]
    output: tuple[Size, ...]
    batch: int
    conditions: Sequence[Constraint]


def fft_sizes(operand_sizes: Sizes, fft_type: str, fft_length: Sizes) -> FftSizes:
    """The sizes of a transform, and the errors it raises.

    >>> fft_sizes((5, 9), "IRFFT", (17,)).output
    (5, 17)
    """
    sizes = index_maps.checked_sizes("fft", "operand", operand_sizes)
    lengths = _checked_lengths(fft_length, len(sizes))
    check_type(fft_type, str, "fft: the type", "a string")
    if fft_type not in _TYPES:
        raise ShapeError(f"fft: the type is {fft_type!r}; expected one of {', '.join(_TYPES)}")
    halved = (*lengths[:-1], _half(lengths[-1]))
    batch = sizes[: len(sizes) - len(lengths)]
    conditions = index_maps.not_negative((*sizes, *lengths))
    expected = (*batch, *(halved if fft_type == "IRFFT" else lengths))
    for axis, (size, wanted) in enumerate(zip(sizes, expected, strict=True)):
        message = f"fft: operand dimension {axis} has size {size}; expected {wanted}"
        conditions += index_maps.equal(size, wanted, message)
    output = (*batch, *(halved if fft_type == "RFFT" else lengths))
    return FftSizes(sizes, output, len(batch), conditions)


_TYPES = ("FFT", "IFFT", "RFFT", "IRFFT")

_MAX_LENGTHS = 3
"""XLA transforms up to three dimensions at once."""


def _half(length: Size) -> Size:
    """Number of frequencies of a real signal: 0 of 0, or else half of the length and one."""
    return index_maps.least(length, index_maps.floor_divided(length, 2) + 1)


def _checked_lengths(fft_length: Sizes, rank: int) -> tuple[Size, ...]:
    lengths = index_maps.checked_numbers("fft", "fft_length", fft_length)
    most = min(rank, _MAX_LENGTHS)
    if not 1 <= len(lengths) <= most:
        message = f"fft: fft_length has {len(lengths)} entries for an operand of rank {rank}"
        raise ShapeError(f"{message}; expected 1 to {_MAX_LENGTHS}, and no more than the rank")
    return lengths


# The rules.

_RULES: Final[Mapping[str, Rule]] = {
    **dict.fromkeys(LIKE_OPERANDS, _elementwise),
    **dict.fromkeys(
        ("add-dependency", "async-update", "batch-norm-inference", "cholesky", "copy", "domain",
         "dynamic-update-slice", "opt-barrier", "reverse", "select-and-scatter", "shuffle",
         "while"),
        _first,
    ),
    **dict.fromkeys(("abs", "imag", "real"), _real),
    **dict.fromkeys(("batch-norm-grad", "batch-norm-training"), _batch_norm),
    **dict.fromkeys(("all-gather", "all-to-all", "reduce-scatter"), _but_along),
    **dict.fromkeys(("all-reduce", "collective-reduce"), _each_written),
    **dict.fromkeys(("convert", "reduce-precision", "stochastic-convert"), _of_written_type),
    **dict.fromkeys(("compare", "is-finite"), _of_type(ElementType.PRED)),
    **dict.fromkeys(("dot", "scaled-dot"), _dot),
    **dict.fromkeys(("partition-id", "replica-id"), _always("u32[]")),
    "after-all": _always("token[]"),
    "async-done": _started(1),
    "bitcast": _bitcast,
    "bitcast-convert": _bitcast_convert,
    "broadcast": _broadcast,
    "call": _call,
    "clamp": _clamp,
    "complex": _complex,
    "concatenate": _concatenate,
    "conditional": _conditional,
    "convolution": _convolution,
    "copy-done": _started(0),
    "dynamic-reshape": _dynamic_reshape,
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
    "reshape": _reshape,
    "scan": _scan,
    "scatter": _scatter,
    "select": _select,
    "set-dimension-size": _set_dimension_size,
    "slice": _slice,
    "sort": _each,
    "topk": _topk,
    "transpose": _transpose,
    "triangular-solve": _second,
    "tuple": _tuple,
}  # fmt: skip
"""By opcode; rules that look at the shape that is written do not infer it."""
