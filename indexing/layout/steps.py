"""A layout as steps: transposes, pads and reshapes that lead from an index to an offset in memory.

A tile pads the dimensions that it cuts, reshapes each of them into the number of the tile and the
position in it, and transposes the positions to the end. All that this package knows of layouts
follows from the steps. An index goes forward through them to an offset; an offset goes backward to
an index, or into the padding. Steps compute on integers, on NumPy arrays and on forms alike, so
offsets and maps are one computation.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, wraps
from itertools import islice
from math import prod
from typing import Any, TypeAlias, TypeVar

from indexing.errors import ShapeError
from indexing.layout.dimensions import common_blocks
from indexing.layout.layout import COMBINE_DIMENSION, SHAPE, ArrayShape, Layout
from simplifier import forms
from simplifier.errors import check_type
from simplifier.forms import Form

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
    known = lru_cache(maxsize=_MAX_CACHED)(function)

    @wraps(function)
    def checked(shape: _S) -> _T:
        try:
            return known(shape)
        except (AttributeError, TypeError):
            check_type(shape, ArrayShape, f"{function.__name__}: the shape", SHAPE)
            raise

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

    @abstractmethod
    def forward(self, index: Index) -> Index:
        """The new index of the element at an index."""

    @abstractmethod
    def backward(self, index: Index) -> Index:
        """The old index of the element at an index; beyond ``sizes_before`` for padding."""

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

    def limits(self, index: Index) -> Iterator[Limit]:
        """Limits that hold for the index of an element, and not for padding."""
        for value, before, after in zip(index, self.sizes_before, self.sizes, strict=True):
            if before != after:
                yield value, min(before, after)

    def forward(self, index: Index) -> Index:
        """The index itself."""
        return index

    def backward(self, index: Index) -> Index:
        """The index itself."""
        return index


@dataclass(frozen=True, slots=True)
class Pad(_Resize):
    """Dimensions grow at their high end, by elements without a meaning."""

    @property
    def inverse(self) -> Crop:
        """The step that drops the padding."""
        return Crop(self.sizes, self.sizes_before)


@dataclass(frozen=True, slots=True)
class Crop(_Resize):
    """Dimensions lose the elements at their high end; in a bitcast, these have no meaning."""

    @property
    def inverse(self) -> Pad:
        """The step that adds as many elements."""
        return Pad(self.sizes, self.sizes_before)


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
        number = 0
        for digit, count in zip(index, self.counts, strict=False):
            if digit >= count:
                return None
            number = number * count + digit
        return number


def tile_levels(shape: ArrayShape) -> tuple[TileLevel, ...]:
    """The levels of tiles of an array, each within or across the tiles of the one before.

    Raises:
        ShapeError: as :func:`tiling_steps`.

    >>> from indexing.layout import Shape
    >>> (level,) = tile_levels(Shape.parse("f32[3,5]{1,0:T(2,2)}"))
    >>> level.tile, level.counts, level.tile_at(17)
    ((2, 2), (2, 3), 4)
    """
    return tuple(_tile_levels(shape))


def _tile_levels(shape: ArrayShape) -> Iterator[TileLevel]:
    for level, tile in enumerate(shape.array_layout.tiles):
        upto = with_tile_levels(shape, level + 1)
        sizes = sizes_of_tile(tile)
        counts = tiled_sizes(upto)[: -len(sizes)]
        yield TileLevel(sizes, counts, memory_steps(shape)[len(tiling_steps(upto)) :])


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
    combine = Reshape.of([*_kept(sizes[:first]), *_combined(sizes[first:], tile)])
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


def _combined(sizes: Sizes, tile: Sizes) -> Iterator[Group]:
    """Groups of dimensions that a tile treats as one: those under ``*`` and the next one."""
    group: Sizes = ()
    for size, step in zip(sizes, tile, strict=True):
        group = (*group, size)
        if step != COMBINE_DIMENSION:
            yield group, (prod(group),)
            group = ()


def _layout_in_one_memory(shape: ArrayShape) -> Layout:
    layout = shape.array_layout
    if shape.is_unbounded:
        raise ShapeError(f"{shape}: a dimension has no bound; expected one, to tell offsets")
    if layout.is_sparse:
        raise ShapeError(f"{shape}: the layout is sparse; expected a dense one, to tell offsets")
    if layout.split_configs:
        raise ShapeError(
            f"{shape}: the array lies in several memories; expected one of its pieces, "
            "to tell offsets"
        )
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
        quotient = _floordiv(number, stride)
        digits.append(_mod(quotient, sizes[axis]) if axis else quotient)
        stride *= sizes[axis]
    return tuple(reversed(digits))


def _floordiv(number: Value, divisor: int) -> Value:
    if divisor == 1:
        return number
    if isinstance(number, Form):
        return forms.floordiv(number, forms.constant(divisor))
    return number // divisor


def _mod(number: Value, divisor: int) -> Value:
    if isinstance(number, Form):
        return forms.mod(number, forms.constant(divisor))
    return number % divisor
