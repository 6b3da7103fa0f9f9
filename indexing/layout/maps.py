"""A layout as steps from an index to an offset in memory; maps, offsets and sizes made of them.

Steps are transposes, pads and reshapes: a tile pads the dimensions that it cuts, reshapes each of
them into the number of the tile and the position in it, and transposes the positions to the end.
All that this package knows of layouts follows from the steps. An index goes forward through them to
an offset; an offset goes backward to an index, or into the padding. Steps compute on integers, on
NumPy arrays and on forms alike, so offsets and maps are one computation.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, wraps
from itertools import islice, pairwise, product
from math import prod
from operator import ge
from typing import Any, TypeAlias, TypeVar

from indexing.domain import Constraint, Domain
from indexing.errors import ShapeError
from indexing.layout.layout import (
    COMBINE_DIMENSION,
    SHAPE,
    UNBOUNDED_SIZE,
    ArrayShape,
    Layout,
    check_shapes,
    common_blocks,
)
from indexing.map import IndexingMap
from indexing.simplify import simplified_in
from indexing.simplify.smallest import digit_of
from indexing.transform.evaluate import checked_value, least_and_greatest, rows
from indexing.variable import Variable
from simplifier import forms
from simplifier.errors import check_type, quoted
from simplifier.forms import MAX_INT64, Form, Interval, is_array, np

Value: TypeAlias = Any
"""An integer, a NumPy array of integers, or a form."""

Index: TypeAlias = tuple[Value, ...]
Sizes: TypeAlias = tuple[int, ...]
Group: TypeAlias = tuple[Sizes, Sizes]
"""Dimensions, and others of as many elements."""

Limit: TypeAlias = tuple[Value, int]
"""A component of an index, and the size that it is less than."""

_T = TypeVar("_T")
_S = TypeVar("_S", bound="ArrayShape")

_MAX_CACHED = 1 << 12
"""Programs use the same shapes again and again, and an answer is small."""


def cached(function: Callable[[_S], _T]) -> Callable[[_S], _T]:
    """A function of shapes that keeps its latest answers."""
    known, what = lru_cache(maxsize=_MAX_CACHED)(function), f"{function.__name__}: the shape"

    @wraps(function)
    def checked(shape: _S) -> _T:
        check_type(shape, ArrayShape, what, SHAPE)
        return known(shape)

    return checked


@dataclass(frozen=True, slots=True)
class Step(ABC):
    """One rearrangement of an array: from dimensions ``sizes_before`` to dimensions ``sizes``.

    >>> from indexing.layout import Shape
    >>> for step in tiling_steps(Shape.parse("f32[3,5]{1,0:T(2,2)}")):
    ...     print(step)
    pad (3,5) to (4,6)
    reshape (4,6) to (2,2,3,2)
    transpose (2,2,3,2) to (2,3,2,2)
    """

    sizes_before: Sizes
    sizes: Sizes

    @property
    def operation(self) -> str:
        """``transpose``, ``pad`` or ``reshape``."""
        return type(self).__name__.lower()

    @property
    def changes_nothing(self) -> bool:
        """Whether every element stays at its index."""
        return self.sizes == self.sizes_before

    @property
    @abstractmethod
    def inverse(self) -> Step:
        """The step that brings every element back."""

    def forward(self, index: Index) -> Index:
        """The new index of the element at an index: the same, unless a step says otherwise."""
        return index

    def backward(self, index: Index) -> Index:
        """The old index of the element at an index, beyond ``sizes_before`` for padding."""
        return index

    def __str__(self) -> str:
        return f"{self.operation} {_text(self.sizes_before)} to {_text(self.sizes)}"


@dataclass(frozen=True, slots=True)
class Transpose(Step):
    """Dimension ``k`` of the result is dimension ``order[k]``."""

    order: tuple[int, ...]

    @classmethod
    def of(cls, sizes: Sizes, order: tuple[int, ...]) -> Transpose:
        """The transpose of an array of these dimensions."""
        return cls(sizes, tuple(sizes[axis] for axis in order), order)

    @property
    def changes_nothing(self) -> bool:
        """Whether the order stays."""
        return self.order == tuple(range(len(self.order)))

    @property
    def inverse(self) -> Transpose:
        """The transpose back to the old order."""
        return Transpose.of(self.sizes, self.backward(tuple(range(len(self.order)))))

    def forward(self, index: Index) -> Index:
        """The index in the new order."""
        return tuple(index[axis] for axis in self.order)

    def backward(self, index: Index) -> Index:
        """The index in the old order."""
        by_axis = dict(zip(self.order, index, strict=True))
        return tuple(by_axis[axis] for axis in range(len(by_axis)))


@dataclass(frozen=True, slots=True)
class _Resize(Step):
    """Every element keeps its index, while dimensions change at their high end."""

    @property
    def inverse(self) -> Pad | Crop:
        """The step that drops the padding, or adds as many elements as were dropped."""
        return (Crop if isinstance(self, Pad) else Pad)(self.sizes, self.sizes_before)

    def limits(self, index: Index) -> Iterator[Limit]:
        """Limits that hold for the index of an element, and not for padding."""
        for value, before, after in zip(index, self.sizes_before, self.sizes, strict=True):
            if before != after:
                yield value, min(before, after)


@dataclass(frozen=True, slots=True)
class Pad(_Resize):
    """Dimensions grow at their high end, by elements without a meaning."""


@dataclass(frozen=True, slots=True)
class Crop(_Resize):
    """Dimensions lose the elements at their high end; in a bitcast, these have no meaning."""


@dataclass(frozen=True, slots=True)
class Reshape(Step):
    """Each group of neighbouring dimensions becomes another of as many elements."""

    groups: tuple[Group, ...]

    @classmethod
    def of(cls, groups: Iterable[Group]) -> Reshape:
        """The reshape that turns the first dimensions of each group into the second ones."""
        groups = tuple(groups)
        sizes_before = tuple(size for before, _ in groups for size in before)
        return cls(sizes_before, tuple(size for _, after in groups for size in after), groups)

    @classmethod
    def between(cls, sizes_before: Sizes, sizes: Sizes) -> Reshape:
        """The reshape from one list of dimensions to another, with the smallest groups.

        Raises:
            ShapeError: the sizes have different numbers of elements.

        >>> Reshape.between((4, 8, 12), (32, 3, 4)).groups
        (((4, 8), (32,)), ((12,), (3, 4)))
        """
        return cls.of(
            (tuple(sizes_before[axis] for axis in before), tuple(sizes[axis] for axis in after))
            for before, after in common_blocks(sizes_before, sizes)
        )

    @property
    def inverse(self) -> Reshape:
        """The reshape back to the old dimensions."""
        return Reshape.of((after, before) for before, after in self.groups)

    def forward(self, index: Index) -> Index:
        """The index in every group of new dimensions."""
        return _regrouped(index, self.groups)

    def backward(self, index: Index) -> Index:
        """The index in every group of old dimensions."""
        return _regrouped(index, [(after, before) for before, after in self.groups])


def forward(steps: Iterable[Step], index: Index) -> Index:
    """The index after all steps."""
    for step in steps:
        index = step.forward(index)
    return index


def backward(steps: Sequence[Step], index: Index) -> tuple[Index, list[Limit]]:
    """The index before all steps, and the :meth:`Pad.limits` of the pads on the way."""
    limits: list[Limit] = []
    for step in reversed(steps):
        index = step.backward(index)
        if isinstance(step, Pad):
            limits += step.limits(index)
    return index, limits


@cached
def tiling_steps(shape: ArrayShape) -> tuple[Step, ...]:
    """Steps from an array to its tiled dimensions: pads, reshapes and transposes.

    The first step brings the dimensions into their order in memory. Then one tile after another
    cuts them; a ``*`` combines dimensions before that. Steps that change nothing are left out. The
    result of the last step lies in memory row by row.

    Raises:
        ShapeError: the shape is no array, a dimension has no bound, or the layout is sparse or
            splits the array between memories.

    Source: XLA documentation, "Tiled layout".

    >>> from indexing.layout import Shape
    >>> for step in tiling_steps(Shape.parse("f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}")):
    ...     print(step)
    reshape (2,7,8,11,10) to (112,110)
    pad (112,110) to (112,111)
    reshape (112,111) to (56,2,37,3)
    transpose (56,2,37,3) to (56,37,2,3)
    """
    layout = _layout_in_one_memory(shape)
    steps: list[Step] = [Transpose.of(shape.dimensions, layout.major_to_minor)]
    for tile in layout.tiles:
        steps += _cut(steps[-1].sizes, tile)
    return tuple(step for step in steps if not step.changes_nothing)


@cached
def memory_steps(shape: ArrayShape) -> tuple[Step, ...]:
    """Steps from an array to one dimension, its memory: :func:`tiling_steps`, and those after.

    Raises:
        ShapeError: as :func:`tiling_steps`.

    >>> from indexing.layout import Shape
    >>> for step in memory_steps(Shape.parse("f32[2,3]{0,1:L(4)}")):
    ...     print(step)
    transpose (2,3) to (3,2)
    reshape (3,2) to (6)
    pad (6) to (8)
    """
    sizes = tiled_sizes(shape)
    size = prod(sizes)
    aligned = _rounded_up(size, shape.array_layout.tail_padding_alignment_in_elements)
    last = (Reshape.of([(sizes, (size,))]), Pad((size,), (aligned,)))
    return (*tiling_steps(shape), *(step for step in last if not step.changes_nothing))


def tiled_sizes(shape: ArrayShape) -> Sizes:
    """The dimensions after all tiles are cut, major first: tiles, and positions in them.

    Raises:
        ShapeError: as :func:`tiling_steps`.

    >>> from indexing.layout import Shape
    >>> tiled_sizes(Shape.parse("bf16[32,500]{1,0:T(8,128)(2,1)}"))
    (4, 4, 4, 128, 2, 1)
    """
    check_type(shape, ArrayShape, "tiled_sizes: the shape", SHAPE)
    return sizes_after(tiling_steps(shape), shape)


def memory_size(shape: ArrayShape) -> int:
    """Number of elements of the memory, with padding."""
    return sizes_after(memory_steps(shape), shape)[0]


@dataclass(frozen=True, slots=True)
class TileLevel:
    """The tiles of one level: how many each dimension has, and the steps from them to memory.

    ``tile`` are the sizes of a tile; a dimension under ``*`` has none.
    """

    tile: Sizes
    counts: Sizes
    steps: tuple[Step, ...]

    def tile_at(self, offset: int) -> int | None:
        """The number of the tile at an offset, row by row; ``None`` where no tile is."""
        index, _ = backward(self.steps, (offset,))
        digits = index[: len(self.counts)]
        is_outside = any(map(ge, digits, self.counts))
        return None if is_outside else _number(digits, self.counts)


def tile_levels(shape: ArrayShape) -> tuple[TileLevel, ...]:
    """The levels of tiles of an array, each within or across the tiles of the one before.

    Raises:
        ShapeError: as :func:`tiling_steps`.

    >>> from indexing.layout import Shape
    >>> (level,) = tile_levels(Shape.parse("f32[3,5]{1,0:T(2,2)}"))
    >>> level.tile, level.counts, level.tile_at(17)
    ((2, 2), (2, 3), 4)
    """
    found: list[TileLevel] = []
    for level, tile in enumerate(shape.array_layout.tiles):
        upto = with_tile_levels(shape, level + 1)
        sizes = sizes_of_tile(tile)
        counts = tiled_sizes(upto)[: -len(sizes)]
        found.append(TileLevel(sizes, counts, memory_steps(shape)[len(tiling_steps(upto)) :]))
    return tuple(found)


def with_tile_levels(shape: ArrayShape, count: int) -> ArrayShape:
    """The array with its first levels of tiles only."""
    layout = shape.array_layout
    return shape.with_layout(replace(layout, tiles=layout.tiles[:count]))


def sizes_of_tile(tile: Sizes) -> Sizes:
    """The sizes of a tile without the dimensions that it combines."""
    return tuple(size for size in tile if size != COMBINE_DIMENSION)


def _cut(sizes: Sizes, tile: Sizes) -> Iterator[Step]:
    """The steps of one tile, which cuts the most minor of the dimensions.

    An array of fewer dimensions than the tile gets leading ones of size 1.
    """
    lead = max(0, len(tile) - len(sizes))
    if lead:
        yield Reshape.of([((), (1,) * lead), *_kept(sizes)])
    sizes = (1,) * lead + sizes
    first = len(sizes) - len(tile)
    joined = ((group, (prod(group),)) for group in combined(sizes[first:], tile))
    combine = Reshape.of([*_kept(sizes[:first]), *joined])
    cut = zip(combine.sizes[first:], sizes_of_tile(tile), strict=True)
    padded = [(_rounded_up(size, step), step) for size, step in cut]
    pad = Pad(combine.sizes, (*sizes[:first], *(size for size, _ in padded)))
    split = Reshape.of(
        [*_kept(sizes[:first]), *(((size,), (size // step, step)) for size, step in padded)]
    )
    tiles, inner = (range(first + part, len(split.sizes), 2) for part in (0, 1))
    yield from (combine, pad, split, Transpose.of(split.sizes, (*range(first), *tiles, *inner)))


def _kept(sizes: Sizes) -> list[Group]:
    return [((size,), (size,)) for size in sizes]


def combined(dimensions: Iterable[_T], tile: Sizes) -> Iterator[tuple[_T, ...]]:
    """The dimensions that a tile treats as one: those under ``*`` and the next one."""
    group: tuple[_T, ...] = ()
    for dimension, step in zip(dimensions, tile, strict=True):
        group = (*group, dimension)
        if step != COMBINE_DIMENSION:
            yield group
            group = ()


def _layout_in_one_memory(shape: ArrayShape) -> Layout:
    layout = shape.array_layout
    if shape.is_unbounded:
        raise ShapeError(f"{shape}: a dimension has no bound; expected one, to tell offsets")
    if layout.is_sparse:
        raise ShapeError(f"{shape}: the layout is sparse; expected a dense one, to tell offsets")
    if layout.split_configs:
        expected = "expected one of its pieces, to tell offsets"
        raise ShapeError(f"{shape}: the array lies in several memories; {expected}")
    return layout


def sizes_after(steps: Sequence[Step], shape: ArrayShape) -> Sizes:
    """The dimensions of an array after some steps."""
    return steps[-1].sizes if steps else shape.dimensions


def _rounded_up(size: int, alignment: int) -> int:
    return -(-size // alignment) * alignment


def _text(sizes: Sizes) -> str:
    return f"({','.join(map(str, sizes))})"


# Mixed radix: several dimensions as one, and one as several.


def _regrouped(index: Index, groups: Iterable[Group]) -> Index:
    values = iter(index)
    return tuple(
        digit
        for before, after in groups
        for digit in _digits(_number(tuple(islice(values, len(before))), before), after)
    )


def _number(index: Index, sizes: Sizes) -> Value:
    """The position of an element in row-major order."""
    number: Value = 0
    for value, size in zip(index, sizes, strict=True):
        number = number * size + value
    return number


def _digits(number: Value, sizes: Sizes) -> Index:
    """The index at a position of row-major order; the first digit needs no remainder."""
    if 0 in sizes:
        return (number * 0,) * len(sizes)  # there is no position
    digits: list[Value] = []
    stride = 1
    for axis in reversed(range(len(sizes))):
        quotient = number if stride == 1 else number // stride
        digits.append(quotient % sizes[axis] if axis else quotient)
        stride *= sizes[axis]
    return tuple(reversed(digits))


# Layouts as maps from an index to an offset in memory, and back.
#
# Every map is a bijection. Padding is not in the domain of maps that lead back. Maps are written
# as people do: the number of each tile and the position in it are terms with a stride. Often
# `simplify()` finds something shorter, `d0 * 128 - (d0 floordiv 8) * 896` where a person writes
# `(d0 floordiv 8) * 128 + (d0 mod 8) * 128`.


def logical_to_physical(shape: ArrayShape) -> IndexingMap:
    """From an index to the same index with the dimensions in their order in memory, major first.

    Tiles do not count.

    Raises:
        ShapeError: the shape is no array.

    >>> from indexing.layout import Shape
    >>> print(logical_to_physical(Shape.parse("f32[2,3,4]{1,0,2}")))
    (d0, d1, d2) -> (d2, d0, d1), domain: d0 in [0, 1], d1 in [0, 2], d2 in [0, 3]
    """
    check_shapes("logical_to_physical", shape=shape)
    order = order_in_memory(shape)
    return _map(order.sizes_before, order.forward(dims_of(order.sizes_before)))


def physical_to_logical(shape: ArrayShape) -> IndexingMap:
    """Map from an index with the dimensions in their order in memory to the one that users write.

    Raises:
        ShapeError: the shape is no array.

    >>> from indexing.layout import Shape
    >>> print(physical_to_logical(Shape.parse("f32[2,3,4]{1,0,2}")))
    (d0, d1, d2) -> (d1, d2, d0), domain: d0 in [0, 3], d1 in [0, 1], d2 in [0, 2]
    """
    check_shapes("physical_to_logical", shape=shape)
    order = order_in_memory(shape)
    return _map(order.sizes, order.backward(dims_of(order.sizes)))


@cached
def logical_to_tiled(shape: ArrayShape) -> IndexingMap:
    """From an index to the index in the tiled dimensions: number of the tile, position in it, ...

    Raises:
        ShapeError: as :func:`~indexing.layout.tiling_steps`.

    >>> from indexing.layout import Shape
    >>> print(logical_to_tiled(Shape.parse("f32[3,5]{1,0:T(2,2)}")))
    (d0, d1) -> (d0 floordiv 2, d1 floordiv 2, d0 mod 2, d1 mod 2),
    domain: d0 in [0, 2], d1 in [0, 4]
    """
    sizes = shape.dimensions
    return _map(sizes, forward(tiling_steps(shape), dims_of(sizes))).simplify()


@cached
def tiled_to_logical(shape: ArrayShape) -> IndexingMap:
    """Map from an index in the tiled dimensions to the index of the element there, if any.

    Raises:
        ShapeError: as :func:`~indexing.layout.tiling_steps`.

    >>> from indexing.layout import Shape
    >>> print(tiled_to_logical(Shape.parse("f32[3,5]{1,0:T(2,2)}")))
    (d0, d1, d2, d3) -> (d0 * 2 + d2, d1 * 2 + d3),
    domain: d0 in [0, 1], d1 in [0, 2], d2 in [0, 1], d3 in [0, 1],
    d0 * 2 + d2 in [0, 2], d1 * 2 + d3 in [0, 4]
    """
    return _backward(tiled_sizes(shape), tiling_steps(shape))


@cached
def logical_to_linear(shape: ArrayShape) -> IndexingMap:
    """Map from an index to the offset in memory, counted in elements.

    Raises:
        ShapeError: as :func:`~indexing.layout.tiling_steps`.

    >>> from indexing.layout import Shape
    >>> print(logical_to_linear(Shape.parse("f32[32,500]{1,0:T(8,128)}")))
    (d0, d1) -> ((d0 mod 8) * 128 + (d0 floordiv 8) * 4096 + (d1 floordiv 128) * 1024 + d1 mod 128),
    domain: d0 in [0, 31], d1 in [0, 499]
    """
    box = box_of(shape.dimensions)
    tiled = logical_to_tiled(shape).forms
    (offset,) = forward(memory_steps(shape)[len(tiling_steps(shape)) :], tiled)
    return IndexingMap.from_forms(joined_digits([form_of(offset)], box), box)


@cached
def linear_to_logical(shape: ArrayShape) -> IndexingMap:
    """Map from an offset in memory, counted in elements, to the index of the element there, if any.

    Raises:
        ShapeError: as :func:`~indexing.layout.tiling_steps`.

    >>> from indexing.layout import Shape
    >>> print(linear_to_logical(Shape.parse("f32[32,500]{1,0:T(8,128)}")))
    (d0) -> ((d0 floordiv 4096) * 8 + (d0 floordiv 128) mod 8,
             ((d0 floordiv 1024) mod 4) * 128 + d0 mod 128),
    domain: d0 in [0, 16383], ((d0 floordiv 1024) mod 4) * 128 + d0 mod 128 in [0, 499]
    """
    sizes = (memory_size(shape),)
    steps = memory_steps(shape)
    tiled, _ = backward(steps[len(tiling_steps(shape)) :], dims_of(sizes))
    digits = {f"d{axis}": form_of(digit) for axis, digit in enumerate(tiled)}
    index = forms.substitute(tiled_to_logical(shape).forms, digits)
    domain = _backward(sizes, steps).domain
    return IndexingMap.from_forms(joined_digits(index, box_of(sizes)), domain)


def strides(shape: ArrayShape) -> tuple[int | None, ...]:
    """The distance in memory to the next element along each dimension, counted in elements.

    ``None`` if a tile cuts the dimension, so that the distance varies; 0 if there is no next
    element.

    Raises:
        ShapeError: as :func:`~indexing.layout.tiling_steps`.

    >>> from indexing.layout import Shape
    >>> strides(Shape.parse("f32[6,1,10]{0,1,2}"))
    (1, 0, 6)
    >>> strides(Shape.parse("f32[5,64,200]{2,1,0:T(8,128)}"))
    (16384, None, None)
    >>> strides(Shape.parse("f32[5,64,100]{2,1,0:T(8,128)}"))  # one tile is as wide as the array
    (8192, 128, 1)
    """
    check_shapes("strides", shape=shape)
    (of_offset,) = logical_to_linear(shape).strides()
    steps = (stride.differences for stride in of_offset.items_in_order)
    return tuple(step.lower if step.is_point else None for step in steps)


def step_map(step: Step) -> IndexingMap:
    """Map from an index before a step of a layout to the index after it.

    Composed, the maps of :func:`~indexing.layout.tiling_steps` are :func:`logical_to_tiled`.

    >>> from indexing.layout import Shape
    >>> pad, reshape, transpose = tiling_steps(Shape.parse("f32[3,5]{1,0:T(2,2)}"))
    >>> print(step_map(reshape))
    (d0, d1) -> (d0 floordiv 2, d0 mod 2, d1 floordiv 2, d1 mod 2),
    domain: d0 in [0, 3], d1 in [0, 5]
    >>> print(step_map(transpose))
    (d0, d1, d2, d3) -> (d0, d2, d1, d3),
    domain: d0 in [0, 1], d1 in [0, 1], d2 in [0, 2], d3 in [0, 1]
    """
    check_type(step, Step, "step_map: the step", "one of tiling_steps")
    index = dims_of(step.sizes_before)
    limits = step.limits(index) if isinstance(step, Crop) else ()
    return _map(step.sizes_before, step.forward(index), limits).simplify()


def order_in_memory(shape: ArrayShape) -> Transpose:
    """The transpose of an array to its order in memory."""
    return Transpose.of(shape.dimensions, shape.array_layout.major_to_minor)


def _backward(sizes: Sizes, steps: Sequence[Step]) -> IndexingMap:
    index, limits = backward(steps, dims_of(sizes))
    return _map(sizes, index, limits).simplify()


def _map(sizes: Sizes, results: Index, limits: Iterable[Limit] = ()) -> IndexingMap:
    return IndexingMap.from_forms(map(form_of, results), box_of(sizes).constrained(within(limits)))


# Indices and offsets as sums of digits, as people write them. A digit is a part of one variable
# with a stride, such as ((d0 floordiv 8) mod 4) * 128.


def dims_of(sizes: Sizes) -> Index:
    """The index of an element as dimension variables ``d0, d1, ...``."""
    return tuple(forms.variable(f"d{axis}") for axis in range(len(sizes)))


def box_of(sizes: Sizes, ranges: Sizes = ()) -> Domain:
    """The domain of these dimensions and ranges, without constraints."""
    return Domain.of(map(_variable, sizes), map(_variable, ranges))


def _variable(size: int) -> Variable:
    return Variable((0, None)) if size == UNBOUNDED_SIZE else Variable.of_size(size)


def form_of(value: Value) -> Form:
    """A component of an index as a form; it may be an integer."""
    return value if isinstance(value, Form) else forms.constant(value)


def within(limits: Iterable[Limit]) -> list[Constraint]:
    """The constraints that components of an index, which are sums of digits, keep their limits."""
    return [part for value, size in limits for part in _below(form_of(value), size)]


def _below(value: Form, size: int) -> Iterator[Constraint]:
    """The constraints that a sum of digits is less than a size: heavier digits must be 0."""
    heavy = [atom for atom, weight in value.terms.items() if weight >= size]
    for atom in heavy:
        yield Form(0, {atom: 1}), Interval(0, 0)
    yield value.without(*heavy), Interval(0, size - 1)


# Neighbouring digits of one number are one digit: (x floordiv 8) * 8 + x mod 8 is x.


def joined_digits(results: Iterable[Form], box: Domain) -> Iterator[Form]:
    """The sums with as few terms as possible, each of them one digit of one variable."""
    for result in results:
        digits: list[Form] = []
        for atom, factor in result.terms.items():
            _add(digits, simplified_in(box, Form(0, {atom: factor})), box)
        yield sum(digits, forms.constant(result.constant))


def _add(digits: list[Form], digit: Form, box: Domain) -> None:
    """Add a digit to the others, joined with the one that it is a neighbour of."""
    for position, other in enumerate(digits):
        both = simplified_in(box, other + digit)
        if both.is_affine or _is_digit(both):
            del digits[position]
            _add(digits, both, box)  # it may be a neighbour of a third one
            return
    digits.append(digit)


def _is_digit(form: Form) -> bool:
    """Whether a form is a multiple of a variable, or of a quotient or remainder of a digit."""
    digit, *others = map(digit_of, form.terms)
    return digit is not None and not (digit.shift or others or form.constant)


# The memory of an array: the offset of each element, the element at each offset, the size.
#
# Indices and offsets are integers, or NumPy arrays of them.

_CHUNK = 1 << 14
"""Offsets that are turned into indices at a time."""


def linear_index(index: Sequence[Value], shape: ArrayShape) -> Value:
    """The offset in memory of the element at an index, counted in elements.

    Args:
        index: one integer for each dimension, or NumPy arrays that broadcast.
        shape: an array; all tiles of its layout count.

    Raises:
        ShapeError: the index has another rank or lies outside of the array; or as
            :func:`~indexing.layout.tiling_steps`.
        MapError: the index is not made of integers.

    Source:
        XLA documentation, "Tiled layout"; XLA's ``LayoutUtil::LinearIndex`` knows the first tile
        only.

    >>> from indexing.layout import Shape
    >>> linear_index((2, 3), Shape.parse("f32[3,5]{1,0:T(2,2)}"))
    17
    """
    check_shapes("linear_index", shape=shape)
    steps = memory_steps(shape)
    values = _checked_index(index, shape)
    (offset,) = forward(steps, tuple(_wide(value, shape) for value in values))
    return offset


def multi_index(offset: Value, shape: ArrayShape) -> Index | None:
    """The index of the element at an offset in memory, counted in elements.

    Args:
        offset: an integer, or a NumPy array of them.
        shape: an array; all tiles of its layout count.

    Returns:
        One integer for each dimension, or ``None`` where only padding is. For an array of offsets,
        one array for each dimension, with -1 in all of them where :func:`is_padding`.

    Raises:
        ShapeError: the offset lies outside of the memory of the array; or as
            :func:`~indexing.layout.tiling_steps`.
        MapError: the offset is no integer.

    >>> from indexing.layout import Shape
    >>> shape = Shape.parse("f32[3,5]{1,0:T(2,2)}")
    >>> multi_index(17, shape), multi_index(23, shape)
    ((2, 3), None)
    """
    check_shapes("multi_index", shape=shape)
    index, padding = _element_at(offset, shape)
    if not is_array(padding):
        return None if padding else index
    return tuple(np.where(padding, -1, values) for values in index)


def is_padding(offset: Value, shape: ArrayShape) -> Value:
    """Whether no element lies at an offset in memory; for an array of offsets, an array.

    Raises:
        ShapeError: as :func:`multi_index`.
        MapError: as :func:`multi_index`.

    >>> from indexing.layout import Shape
    >>> shape = Shape.parse("f32[3]{0:L(4)}")
    >>> [is_padding(offset, shape) for offset in range(4)]
    [False, False, False, True]
    """
    check_shapes("is_padding", shape=shape)
    return _element_at(offset, shape)[1]


def memory_order(shape: ArrayShape) -> Iterator[Index | None]:
    """The index of the element at every offset in memory, in order; ``None`` for padding.

    Raises:
        ShapeError: as :func:`~indexing.layout.tiling_steps`.

    >>> from indexing.layout import Shape
    >>> list(memory_order(Shape.parse("f32[2,3]{0,1}")))
    [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (1, 2)]
    >>> list(memory_order(Shape.parse("f32[3]{0:T(2)}")))
    [(0,), (1,), (2,), None]
    """
    check_shapes("memory_order", shape=shape)
    total = memory_size(shape)
    for start in range(0, total, _CHUNK):
        offsets = np.arange(start, min(start + _CHUNK, total))
        index, padding = _element_at(offsets, shape)
        for row, is_none in zip(rows(index, len(offsets)), padding.tolist(), strict=True):
            yield None if is_none else row


def _element_at(offset: Value, shape: ArrayShape) -> tuple[Index, Value]:
    """The index of the element at an offset, and whether there is padding instead."""
    steps = memory_steps(shape)
    offset = checked_value(offset, "multi_index: the offset")
    _check_within(offset, memory_size(shape), "multi_index: the offset", shape)
    index, limits = backward(steps, (_wide(offset, shape),))
    padding = offset < 0  # false everywhere: an offset is within the memory
    for value, size in limits:
        padding = padding | (value >= size)
    return index, padding


def _checked_index(index: Sequence[Value], shape: ArrayShape) -> Index:
    expected = f"expected {shape.rank}, one for each dimension of {shape}"
    if getattr(index, "ndim", 1) == 0 or not hasattr(index, "__len__"):
        raise ShapeError(f"linear_index: the index is {quoted(index)}, no sequence; {expected}")
    if len(index) != shape.rank:
        raise ShapeError(f"linear_index: the index has {len(index)} entries; {expected}")
    values = tuple(checked_value(value, "linear_index: the index") for value in index)
    for axis, (value, size) in enumerate(zip(values, shape.dimensions, strict=True)):
        _check_within(value, size, f"linear_index: the index of dimension {axis}", shape)
    return values


def _check_within(value: Value, size: int, what: str, shape: ArrayShape) -> None:
    low, high = least_and_greatest(value)
    if low < 0 or high >= size:
        wrong = low if low < 0 else high
        raise ShapeError(f"{what} is {wrong}; expected 0 to {size - 1}, in {shape}")


def _wide(value: Value, shape: ArrayShape) -> Value:
    """An array whose integers hold every offset; 64 bits are enough for almost every shape."""
    if not is_array(value):
        return value
    return value.astype("int64" if memory_size(shape) <= MAX_INT64 else object, copy=False)


# Sizes.


@dataclass(frozen=True, slots=True)
class ArraySize:
    """The memory of an array: how many elements it holds, and how many bits each of them fills."""

    elements: int
    """Elements, with those of padding."""
    padding: int
    """Elements of padding."""
    element_bits: int

    @property
    def bits(self) -> int:
        """The size in bits."""
        return self.elements * self.element_bits

    @property
    def bytes(self) -> int:
        """The size in bytes; the last one may be filled in part."""
        return -(-self.bits // 8)

    @property
    def padding_share(self) -> float:
        """The share of the memory that is padding, from 0 to 1."""
        return self.padding / self.elements if self.elements else 0.0


def array_size(shape: ArrayShape) -> ArraySize:
    """The memory that an array takes, with its padding.

    An array that is split between memories takes the size of its largest piece in each of them.
    The bytes that the layout keeps free before the elements
    (``dynamic_shape_metadata_prefix_bytes``) do not count.

    Raises:
        ShapeError: the shape is no array, a dimension has no bound, or the layout is sparse.

    Source:
        XLA's ``ShapeUtil::ArraySize``, which knows the first tile only.

    >>> from indexing.layout import Shape
    >>> size = array_size(Shape.parse("bf16[3,200]{1,0:T(8,128)(2,1)}"))
    >>> size.elements, size.bits, size.bytes, size.padding, size.padding_share
    (2048, 32768, 4096, 1448, 0.70703125)
    >>> array_size(Shape.parse("s4[5]{0:E(4)}")).bytes
    3
    """
    check_type(shape, ArrayShape, "array_size: the shape", SHAPE)
    largest = max((piece.shape for piece in pieces(shape)), key=memory_size)
    places = memory_size(largest)
    return ArraySize(places, places - largest.element_count, shape.element_size_in_bits)


@dataclass(frozen=True, slots=True)
class Piece:
    """The part of an array in one memory: the index of its first element, and its shape."""

    start: tuple[int, ...]
    shape: ArrayShape


def pieces(shape: ArrayShape) -> tuple[Piece, ...]:
    """The pieces of an array whose layout splits dimensions; the whole, if it splits none.

    Raises:
        ShapeError: the shape is no array, or a piece begins before the previous one or behind the
            end of its dimension.

    >>> from indexing.layout import Shape
    >>> for piece in pieces(Shape.parse("f32[100,8]{1,0:T(8,128)SC(0:64)}")):
    ...     print(piece.start, piece.shape)
    (0, 0) f32[64,8]{1,0:T(8,128)}
    (64, 0) f32[36,8]{1,0:T(8,128)}
    >>> [piece.start for piece in pieces(Shape.parse("f32[100,8]{0,1:SC(0:4)}"))]
    [(0, 0), (0, 4)]
    """
    check_shapes("pieces", shape=shape)
    layout = shape.array_layout
    if not layout.split_configs:
        return (Piece((0,) * shape.rank, shape),)
    in_memory = layout.major_to_minor
    cuts = {in_memory[config.dimension]: config.indices for config in layout.split_configs}
    parts = [
        _parts(size, cuts.get(axis, ()), axis, shape) for axis, size in enumerate(shape.dimensions)
    ]
    whole = replace(shape, layout=replace(layout, split_configs=()))
    return tuple(
        Piece(
            tuple(start for start, _ in part),
            replace(whole, dimensions=tuple(size for _, size in part)),
        )
        for part in product(*parts)
    )


def _parts(size: int, cuts: tuple[int, ...], axis: int, shape: ArrayShape) -> list[tuple[int, int]]:
    """The start and the size of each part of a dimension."""
    if not cuts:
        return [(0, size)]
    ends = (0, *cuts, size)
    if any(start > stop for start, stop in pairwise(ends)):
        expected = f"expected rising positions up to {size}"
        raise ShapeError(f"{shape}: dimension {axis} is split at {cuts}; {expected}")
    return [(start, stop - start) for start, stop in pairwise(ends)]
