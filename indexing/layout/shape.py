"""What an HLO value looks like: an array, a tuple, a buffer, a token or an opaque value."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from indexing.layout.element_type import ElementType, Kind
from indexing.layout.errors import ShapeError
from indexing.layout.layout import Layout

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

UNBOUNDED_SIZE = -1
"""The size of a dimension written ``?``, of which no bound is known."""

_LARGEST_SIZE = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class Shape:
    """Element type, dimensions and layout of an array; or the shapes in a tuple or a buffer.

    An array without a layout gets the default one. ``dimensions`` are upper bounds where
    ``dynamic_dimensions`` says so (``<=n`` in the text), and :data:`UNBOUNDED_SIZE` where the size
    is unknown (``?``). ``dynamic_dimensions`` is empty when no dimension is dynamic.

    Raises:
        ShapeError: a size is negative or does not fit in 64 bits, or the layout does not fit.

    >>> shape = Shape.parse("bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)S(1)}")
    >>> shape.dimensions, shape.layout.minor_to_major, shape.layout.memory_space
    ((8, 1, 1280, 16384), (3, 2, 0, 1), 1)
    >>> print(Shape(ElementType.F32, (2, 3)), Shape.of_tuple([shape, Shape(ElementType.TOKEN)]))
    f32[2,3]{1,0} (bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)S(1)}, token[])
    """

    element_type: ElementType
    dimensions: tuple[int, ...] = ()
    layout: Layout | None = None
    dynamic_dimensions: tuple[bool, ...] = ()
    elements: tuple[Shape, ...] = ()
    _arrays: tuple[Shape, ...] | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.is_array:
            self._check_dimensions()
            self._complete_layout()
        elif self.dimensions or self.layout is not None:
            raise ShapeError(
                f"a shape of type {self.element_type} has neither dimensions nor a layout"
            )
        if self.elements and self.element_type.kind is not Kind.CONTAINER:
            raise ShapeError(f"a shape of type {self.element_type} does not hold other shapes")
        if self.element_type is ElementType.BUFFER and [
            inner.is_array for inner in self.elements
        ] != [True]:
            raise ShapeError("a buffer holds one array")

    def _check_dimensions(self) -> None:
        for size in self.dimensions:
            if size > _LARGEST_SIZE:
                raise ShapeError(f"dimension {size} does not fit in 64 bits")
            if size < 0 and size != UNBOUNDED_SIZE:
                raise ShapeError(f"dimension {size} is negative")
        if self.dynamic_dimensions and len(self.dynamic_dimensions) != self.rank:
            flags = len(self.dynamic_dimensions)
            raise ShapeError(
                f"the shape has {self.rank} dimensions, but {flags} flags for dynamic dimensions"
            )

    def _complete_layout(self) -> None:
        if self.layout is None:
            object.__setattr__(self, "layout", Layout.default(self.rank))
        else:
            self.layout.check_fits(self.rank)
        flags = self.dynamic_dimensions or (False,) * self.rank
        flags = tuple(
            flag or size == UNBOUNDED_SIZE
            for flag, size in zip(flags, self.dimensions, strict=True)
        )
        object.__setattr__(self, "dynamic_dimensions", flags if any(flags) else ())

    @classmethod
    def parse(cls, text: str) -> Shape:
        """The shape that ``text`` writes in XLA's form.

        Raises:
            TextError: the text is no shape, or one that makes no sense.

        >>> Shape.parse("(f32[<=4,?], b(s32[2]{0}))").elements[0].dimensions
        (4, -1)
        """
        from indexing.layout.text import parse_shape  # noqa: PLC0415  (the text of shapes is a layer above shapes)

        return parse_shape(text)

    @classmethod
    def of_tuple(cls, elements: Iterable[Shape]) -> Shape:
        """The shape of a tuple of values."""
        return cls(ElementType.TUPLE, elements=tuple(elements))

    @property
    def is_array(self) -> bool:
        """Whether the shape has elements, even if none or one."""
        return self.element_type.kind not in _NO_ARRAYS

    @property
    def is_tuple(self) -> bool:
        """Whether the shape is a tuple, even an empty one."""
        return self.element_type is ElementType.TUPLE

    @property
    def arrays(self) -> tuple[Shape, ...]:
        """The shapes in nested tuples, in order; a shape that is no tuple by itself.

        >>> [str(array) for array in Shape.parse("(f32[2], (s32[], (), token[]))").arrays]
        ['f32[2]{0}', 's32[]', 'token[]']
        """
        if self.layout is not None or not self.is_tuple:
            return (self,)
        if self._arrays is None:
            object.__setattr__(self, "_arrays", tuple(self._leaves()))
        return self._arrays or ()

    def _leaves(self) -> Iterator[Shape]:
        waiting: list[Shape] = [self]
        while waiting:
            inner = waiting.pop()
            if inner.is_tuple:
                waiting += reversed(inner.elements)
            else:
                yield inner

    @property
    def array_layout(self) -> Layout:
        """The layout of an array.

        Raises:
            ShapeError: the shape is no array.
        """
        if self.layout is None:
            raise ShapeError(f"{self} has no layout; expected the shape of an array")
        return self.layout

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        return len(self.dimensions)

    @property
    def true_rank(self) -> int:
        """Number of dimensions larger than 1; of unknown ones, too.

        >>> Shape.parse("f32[8,1,?,1]").true_rank
        2
        """
        return sum(size > 1 or size == UNBOUNDED_SIZE for size in self.dimensions)

    @property
    def dimension_names(self) -> tuple[str, ...]:
        """What the dimensions are called in pictures: letters if they are 2 to 4, else numbers.

        >>> for text in "f32[2,3]", "f32[2,3,4,5]", "f32[2]":
        ...     print(Shape.parse(text).dimension_names)
        ('y', 'x')
        ('p', 'z', 'y', 'x')
        ('d0',)
        """
        if self.rank in _RANKS_WITH_LETTERS:
            return tuple(_LETTERS[-self.rank :])
        return tuple(f"d{place}" for place in range(self.rank))

    def dimension_number(self, number: int) -> int:
        """The number of a dimension from 0; negative ones count from the last one, which is -1.

        Raises:
            ShapeError: there is no such dimension.

        >>> Shape.parse("f32[2,3,4]").dimension_number(-1)
        2
        """
        if not -self.rank <= number < self.rank:
            ends = f"expected {-self.rank} to {self.rank - 1}" if self.rank else "there is none"
            raise ShapeError(f"{self} has no dimension {number}; {ends}")
        return number % self.rank

    def size(self, number: int) -> int:
        """The size of a dimension by its number, which may be negative.

        Raises:
            ShapeError: there is no such dimension.

        >>> Shape.parse("f32[2,3,4]").size(-2)
        3
        """
        return self.dimensions[self.dimension_number(number)]

    @property
    def element_size_in_bits(self) -> int:
        """Bits of memory that one element fills: those the layout packs it into, or whole bytes.

        Raises:
            ShapeError: the shape is no array.

        >>> [Shape.parse(text).element_size_in_bits for text in ("s4[8]{0:E(4)}", "s4[8]", "f32[]")]
        [4, 8, 32]
        """
        return self.array_layout.element_size_in_bits or self.element_type.bytes * 8

    @property
    def is_unbounded(self) -> bool:
        """Whether the size of a dimension is unknown."""
        return UNBOUNDED_SIZE in self.dimensions

    @property
    def element_count(self) -> int:
        """Number of elements of an array, at most, where dimensions are dynamic.

        >>> Shape.parse("f32[2,3]").element_count, Shape.parse("f32[]").element_count
        (6, 1)
        """
        return math.prod(self.dimensions)

    def with_layout(self, layout: Layout | None) -> Shape:
        """The same array with another layout; with the default one for ``None``."""
        return replace(self, layout=layout)

    def with_element_type(self, element_type: ElementType) -> Shape:
        """An array of the same dimensions and layout with elements of another type."""
        return replace(self, element_type=element_type)

    def is_compatible_with(self, other: Shape) -> bool:
        """Whether both are the same up to layouts and to what is dynamic.

        >>> Shape.parse("f32[2,3]{0,1}").is_compatible_with(Shape.parse("f32[<=2,3]"))
        True
        """
        if self.element_type is not other.element_type or self.rank != other.rank:
            return False
        if len(self.elements) != len(other.elements):
            return False
        pairs = zip(self.dimensions, other.dimensions, strict=True)
        return all(UNBOUNDED_SIZE in pair or pair[0] == pair[1] for pair in pairs) and all(
            mine.is_compatible_with(theirs)
            for mine, theirs in zip(self.elements, other.elements, strict=True)
        )

    def text(self, *, layout: bool = True) -> str:
        """The shape in XLA's form, with or without layouts.

        >>> Shape.parse("(f32[2,3], f32[])").text(layout=False)
        '(f32[2,3], f32[])'
        """
        if self.is_array:
            return self._array_text() + (
                str(self.layout) if layout and self._has_written_layout else ""
            )
        inner = ", ".join(element.text(layout=layout) for element in self.elements)
        return _AROUND[self.element_type].format(inner)

    def __str__(self) -> str:
        return self.text()

    def _repr_svg_(self) -> str | None:
        """A picture of the layout for notebooks; none where there are no offsets."""
        from indexing.layout.view.layout_svg import svg_of_layout  # noqa: PLC0415 - display is built on shapes

        try:
            return svg_of_layout(self)
        except ShapeError:
            return None

    @property
    def _has_written_layout(self) -> bool:
        return bool(self.dimensions) or self.layout != Layout.default(0)

    def _array_text(self) -> str:
        flags = self.dynamic_dimensions or (False,) * self.rank
        sizes = map(_size_text, self.dimensions, flags)
        return f"{self.element_type}[{','.join(sizes)}]"


def _size_text(size: int, dynamic: bool) -> str:  # noqa: FBT001  (one of a pair of columns)
    if size == UNBOUNDED_SIZE:
        return "?"
    return f"<={size}" if dynamic else str(size)


_LETTERS = "pzyx"
_RANKS_WITH_LETTERS = range(2, 5)

_NO_ARRAYS = {Kind.CONTAINER, Kind.HANDLE}

_AROUND = {
    ElementType.TUPLE: "({})",
    ElementType.BUFFER: "b({})",
    ElementType.TOKEN: "token[]",
    ElementType.OPAQUE: "opaque[]",
}
"""The text of shapes that are no arrays, around the text of the shapes in them."""
