"""Layouts of CuTe: a nested shape and nested strides, as ``((2,4),8):((1,8),2)``.

A layout is a function from coordinates to offsets. A coordinate may be one integer for the whole
shape, one for each mode, or as deeply nested as the shape; the first part counts fastest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from indexing.errors import ShapeError
from indexing.layout.cute.int_tuple import (
    MAX_DEPTH,
    IntTuple,
    compact_strides,
    depth,
    flattened,
    is_congruent,
    offset_of,
    parts,
    product,
    text_of,
)
from simplifier.errors import ArgumentError, quoted
from simplifier.tools.display import html_of_text

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True, repr=False)
class CuteLayout:
    """A shape and strides that are nested in the same way; strides are compact unless given.

    Strides count elements and may be 0 or negative.

    Source: CuTe's layout documentation (NVIDIA/cutlass, media/docs/cpp/cute/01_layout.md).

    Raises:
        ArgumentError: the shape or the strides are no integers or tuples of these.
        ShapeError: a size is less than 1, or the strides are nested in another way.

    >>> layout = CuteLayout(((2, 4), 8), ((1, 8), 2))
    >>> print(layout, layout.size, layout.cosize, layout.rank, layout.depth)
    ((2,4),8):((1,8),2) 64 40 2 2
    >>> layout(11), layout(3, 1), layout((1, 1), 1)
    (11, 11, 11)
    >>> print(CuteLayout((4, 8)))
    (4,8):(1,4)
    """

    shape: IntTuple
    stride: IntTuple

    def __init__(self, shape: IntTuple, stride: IntTuple | None = None) -> None:
        """Check the two and take compact strides for ``None``."""
        _check(shape, "the shape")
        _check_sizes(shape)
        if stride is not None:
            _check(stride, "the strides")
        strides = compact_strides(shape) if stride is None else stride
        if not is_congruent(shape, strides):
            given = f"shape {text_of(shape)} and strides {text_of(strides)}"
            raise ShapeError(f"CuteLayout: {given}; expected both nested in the same way")
        object.__setattr__(self, "shape", shape)
        object.__setattr__(self, "stride", strides)

    @classmethod
    def of_modes(cls, modes: Iterable[CuteLayout]) -> CuteLayout:
        """The layout that has these layouts as its modes.

        Raises:
            ShapeError: there are none.

        >>> print(CuteLayout.of_modes([CuteLayout((2, 4), (1, 8)), CuteLayout(8, 2)]))
        ((2,4),8):((1,8),2)
        """
        given = tuple(modes)
        return cls(tuple(mode.shape for mode in given), tuple(mode.stride for mode in given))

    @property
    def modes(self) -> tuple[CuteLayout, ...]:
        """The layout of each mode; a layout whose shape is an integer has itself.

        >>> [str(mode) for mode in CuteLayout(((2, 4), 8), ((1, 8), 2)).modes]
        ['(2,4):(1,8)', '8:2']
        """
        return tuple(map(CuteLayout, parts(self.shape), parts(self.stride)))

    @property
    def leaves(self) -> tuple[tuple[int, int], ...]:
        """Size and stride of each integer of the shape, from left to right."""
        return tuple(zip(flattened(self.shape), flattened(self.stride), strict=True))

    @property
    def size(self) -> int:
        """The number of coordinates."""
        return product(self.shape)

    @property
    def cosize(self) -> int:
        """One more than the offset of the last coordinate."""
        return self(self.size - 1) + 1

    @property
    def rank(self) -> int:
        """The number of modes."""
        return len(parts(self.shape))

    @property
    def depth(self) -> int:
        """How many tuples are around the innermost size."""
        return depth(self.shape)

    def __call__(self, *coordinate: IntTuple) -> int:
        """The offset of a coordinate, which may lie beyond the last mode.

        Raises:
            ArgumentError: the coordinate is no integer or tuple of these.
            ShapeError: the coordinate is nested in another way than the shape.

        >>> CuteLayout((4, 8), (8, 1))(2, 3)
        19
        """
        _check(coordinate, "the coordinate")
        (one, *others) = coordinate or ((),)
        return offset_of(coordinate if others else one, self.shape, self.stride)

    def flat(self) -> CuteLayout:
        """The layout with all sizes in one tuple.

        >>> print(CuteLayout(((2, 4), 8), ((1, 8), 2)).flat())
        (2,4,8):(1,8,2)
        """
        return CuteLayout(flattened(self.shape), flattened(self.stride))

    def __str__(self) -> str:
        return f"{text_of(self.shape)}:{text_of(self.stride)}"

    def __repr__(self) -> str:
        return f"cute.parse('{self}')"

    def _repr_html_(self) -> str:
        return html_of_text(str(self))


def _check(value: object, what: str) -> None:
    """Raise an error unless a value is an integer tuple of some depth."""
    level = [value]
    for _ in range(MAX_DEPTH + 2):
        level = [part for each in level for part in _parts_of(each, what)]
        if not level:
            return
    raise ShapeError(f"CuteLayout: {what}: tuples are nested deeper than {MAX_DEPTH}")


def _parts_of(value: object, what: str) -> tuple[object, ...]:
    if isinstance(value, tuple):
        return cast("tuple[object, ...]", value)
    if isinstance(value, int) and not isinstance(value, bool):
        return ()
    found = f"{quoted(value)} of {type(value).__name__}"
    raise ArgumentError(f"CuteLayout: {what}: {found}; expected integers in tuples")


def _check_sizes(shape: IntTuple) -> None:
    for size in flattened(shape):
        if size < 1:
            raise ShapeError(
                f"CuteLayout: shape {text_of(shape)} has the size {size}; expected 1 or more"
            )
    if _has_empty(shape):
        raise ShapeError(f"CuteLayout: shape {text_of(shape)} has a tuple without sizes")


def _has_empty(shape: IntTuple) -> bool:
    return not isinstance(shape, int) and (not shape or any(map(_has_empty, shape)))
