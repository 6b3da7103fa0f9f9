"""The shape of an array: element type, dimensions and layout."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Self, TypeVar

from indexing.errors import ShapeError
from indexing.layout.element_type import ElementType, Kind
from indexing.layout.layout import Layout
from simplifier.errors import INTEGER, check_integers, check_type

AnyShape = TypeVar("AnyShape", bound="ArrayShape")

UNBOUNDED_SIZE = -1
"""The size of a dimension written ``?``, of which no bound is known."""

_MAX_SIZE = (1 << 63) - 1
"""XLA stores sizes in 64 bits."""


SHAPE: Final = "a Shape, such as that of Shape.parse"
"""The argument that functions of shapes expect, for messages."""


@dataclass(frozen=True, slots=True)
class ArrayShape:
    """Element type, dimensions and layout of an array; :class:`Shape` adds tuples and text.

    An array without a layout gets the default one. ``dimensions`` are upper bounds where
    ``dynamic_dimensions`` says so (``<=n`` in the text), and :data:`UNBOUNDED_SIZE` where the size
    is unknown (``?``). ``dynamic_dimensions`` is empty when no dimension is dynamic.

    Raises:
        ArgumentError: a field is of another kind than its annotation says; an element type may be
            given by its name.
        ShapeError: a size is negative or does not fit in 64 bits, or the layout does not fit.

    >>> print(ArrayShape("f32", (2, 3)))
    f32[2,3]{1,0}
    """

    element_type: ElementType
    dimensions: tuple[int, ...] = ()
    layout: Layout | None = None
    dynamic_dimensions: tuple[bool, ...] = ()

    def __post_init__(self) -> None:
        self._complete_element_type()
        if not self.is_array:
            raise ShapeError(f"an array has no elements of type {self.element_type}")
        self._check_dimensions()
        self._complete_layout()

    def _complete_element_type(self) -> None:
        """Take an element type by its name, ``"f32"``, too."""
        if type(self.element_type) is not ElementType:
            given: object = self.element_type
            found = ElementType(given) if given in _ELEMENT_TYPES else given
            check_type(found, ElementType, "Shape: the element type", "one, such as f32")
            object.__setattr__(self, "element_type", found)

    def _check_dimensions(self) -> None:
        check_integers(self.dimensions, "Shape: dimensions")
        check_type(self.dynamic_dimensions, Sequence, "Shape: dynamic_dimensions", "flags")
        for size in self.dimensions:
            if size > _MAX_SIZE:
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
            check_type(self.layout, Layout, "Shape: the layout", "a Layout, or None")
            self.layout.check_fits(self.rank)
        flags = self.dynamic_dimensions or (False,) * self.rank
        flags = tuple(
            flag or size == UNBOUNDED_SIZE
            for flag, size in zip(flags, self.dimensions, strict=True)
        )
        object.__setattr__(self, "dynamic_dimensions", flags if any(flags) else ())

    @property
    def is_array(self) -> bool:
        """Whether the shape has elements, even if none or one."""
        return self.element_type.kind not in _NO_ARRAYS

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
        """Number of dimensions that are larger than 1 or of unknown size.

        >>> from indexing.layout import Shape
        >>> Shape.parse("f32[8,1,?,1]").true_rank
        2
        """
        return sum(size > 1 or size == UNBOUNDED_SIZE for size in self.dimensions)

    @property
    def dimension_names(self) -> tuple[str, ...]:
        """The names of the dimensions in pictures: letters for 2 to 4 of them, else numbers.

        >>> from indexing.layout import Shape
        >>> for text in "f32[2,3]", "f32[2,3,4,5]", "f32[2]":
        ...     print(Shape.parse(text).dimension_names)
        ('y', 'x')
        ('p', 'z', 'y', 'x')
        ('d0',)
        """
        if self.rank in _RANKS_WITH_LETTERS:
            return tuple(_LETTERS[-self.rank :])
        return tuple(f"d{axis}" for axis in range(self.rank))

    def dimension_number(self, number: int) -> int:
        """The number of a dimension from 0; negative ones count from the last one, which is -1.

        Raises:
            ShapeError: there is no such dimension.

        >>> from indexing.layout import Shape
        >>> Shape.parse("f32[2,3,4]").dimension_number(-1)
        2
        """
        check_type(number, INTEGER, "a dimension", "its number")
        if not -self.rank <= number < self.rank:
            ends = f"expected {-self.rank} to {self.rank - 1}" if self.rank else "there is none"
            raise ShapeError(f"{self} has no dimension {number}; {ends}")
        return number % self.rank

    def size(self, number: int) -> int:
        """The size of a dimension by its number, which may be negative.

        Raises:
            ShapeError: there is no such dimension.

        >>> from indexing.layout import Shape
        >>> Shape.parse("f32[2,3,4]").size(-2)
        3
        """
        return self.dimensions[self.dimension_number(number)]

    @property
    def element_size_in_bits(self) -> int:
        """Bits of memory that one element fills: as the layout packs it, or whole bytes.

        Raises:
            ShapeError: the shape is no array.

        >>> from indexing.layout import Shape
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
        """Number of elements of an array; if dimensions are dynamic, the largest possible one.

        >>> from indexing.layout import Shape
        >>> Shape.parse("f32[2,3]").element_count, Shape.parse("f32[]").element_count
        (6, 1)
        """
        return math.prod(self.dimensions)

    def with_layout(self, layout: Layout | None) -> Self:
        """The same array with another layout; with the default one for ``None``."""
        return replace(self, layout=layout)

    def with_element_type(self, element_type: ElementType) -> Self:
        """An array of the same dimensions and layout with elements of another type."""
        return replace(self, element_type=element_type)

    def text(self, *, layout: bool = True) -> str:
        """The array in XLA's form, with or without its layout."""
        flags = self.dynamic_dimensions or (False,) * self.rank
        sizes = ",".join(map(_size_text, self.dimensions, flags))
        return f"{self.element_type}[{sizes}]{self._layout_text if layout else ''}"

    @property
    def short_text(self) -> str:
        """The array in XLA's form, without a layout that is the default.

        >>> from indexing.layout import Shape
        >>> both = Shape.parse("(f32[2,3]{1,0}, f32[2,3]{0,1})").arrays
        >>> print(*(each.short_text for each in both))
        f32[2,3] f32[2,3]{0,1}
        """
        return self.text(layout=self.is_array and not self.array_layout.is_default)

    @property
    def _layout_text(self) -> str:
        is_scalar_default = not self.dimensions and self.layout == Layout.default(0)
        return "" if is_scalar_default else str(self.layout)

    def __str__(self) -> str:
        return self.text()


def _size_text(size: int, dynamic: bool) -> str:  # noqa: FBT001  (one of a pair of columns)
    if size == UNBOUNDED_SIZE:
        return "?"
    return f"<={size}" if dynamic else str(size)


_LETTERS = "pzyx"
_RANKS_WITH_LETTERS = range(2, 5)

_ELEMENT_TYPES: tuple[object, ...] = tuple(ElementType)
_NO_ARRAYS = {Kind.CONTAINER, Kind.HANDLE}


def check_shapes(where: str, /, **shapes: object) -> None:
    """Raise an :class:`ArgumentError` that names the first argument that is no shape."""
    for name, shape in shapes.items():
        check_type(shape, ArrayShape, f"{where}: {name}", SHAPE)
