"""CuTe's layouts: shapes and strides that are nested in the same way.

Source: CuTe's documentation (NVIDIA/cutlass, media/docs/cpp/cute/01_layout.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from math import prod
from typing import TypeAlias, Union, cast

from indexing.errors import ShapeError
from simplifier.errors import ArgumentError, quoted
from simplifier.tools.display import Displayed

# CuTe's integer tuples: an integer, or a tuple of integer tuples, such as `((2, 4), 8)`.

IntTuple: TypeAlias = Union[int, "tuple[IntTuple, ...]"]
"""An integer or a tuple of these; a rank-1 tuple is no integer."""

MAX_DEPTH = 50
"""Tuples are nested down to this depth: no layout is deeper, and Python's stack holds it."""


def flattened(value: IntTuple) -> tuple[int, ...]:
    """The integers from left to right as one tuple.

    >>> flattened(((2, 4), 8))
    (2, 4, 8)
    """
    return (value,) if isinstance(value, int) else tuple(chain(*map(flattened, value)))


def product(value: IntTuple) -> int:
    """The product of all integers.

    >>> product(((2, 4), 8))
    64
    """
    return prod(flattened(value))


def depth(value: IntTuple) -> int:
    """Number of tuples around the innermost integer.

    >>> depth(8), depth((2, 4)), depth(((2, 4), 8))
    (0, 1, 2)
    """
    return 0 if isinstance(value, int) else 1 + max(map(depth, value), default=0)


def parts(value: IntTuple) -> tuple[IntTuple, ...]:
    """The modes: the parts of a tuple; an integer is its only one."""
    return (value,) if isinstance(value, int) else value


def unflattened(values: Iterator[int], profile: IntTuple) -> IntTuple:
    """The next integers, nested as a profile is.

    >>> unflattened(iter((1, 8, 2)), ((2, 4), 8))
    ((1, 8), 2)
    """
    if isinstance(profile, int):
        return next(values)
    return tuple(unflattened(values, part) for part in profile)


def is_congruent(value: IntTuple, other: IntTuple) -> bool:
    """Whether both are nested in the same way.

    >>> is_congruent(((2, 4), 8), ((1, 8), 2)), is_congruent((2, 4), 8)
    (True, False)
    """
    if isinstance(value, int) or isinstance(other, int):
        return isinstance(value, int) and isinstance(other, int)
    return len(value) == len(other) and all(map(is_congruent, value, other))


def compact_strides(shape: IntTuple) -> IntTuple:
    """The strides of a shape whose first integer is the most minor one.

    >>> compact_strides(((2, 4), 8))
    ((1, 2), 8)
    """
    sizes = flattened(shape)
    return unflattened((prod(sizes[:position]) for position in range(len(sizes))), shape)


def offset_of(coordinate: IntTuple, shape: IntTuple, stride: IntTuple) -> int:
    """The inner product of a coordinate with strides.

    An integer stands for the coordinate of a whole tuple, the first part fastest; what goes beyond
    the shape goes on in the last part.

    Raises:
        ShapeError: the coordinate is nested deeper than the shape.

    >>> offset_of((3, 1), ((2, 4), 8), ((1, 8), 2)), offset_of(11, ((2, 4), 8), ((1, 8), 2))
    (11, 11)
    """
    if isinstance(shape, int) or isinstance(stride, int):
        if not isinstance(coordinate, int) or not isinstance(stride, int):
            raise ShapeError(f"coordinate {text_of(coordinate)}; expected an integer here")
        return coordinate * stride
    return sum(map(offset_of, _split(coordinate, shape), shape, stride))


def _split(coordinate: IntTuple, shape: tuple[IntTuple, ...]) -> tuple[IntTuple, ...]:
    if not isinstance(coordinate, int):
        if len(coordinate) != len(shape):
            expected = f"expected {len(shape)} parts, as in {text_of(shape)}"
            raise ShapeError(f"coordinate {text_of(coordinate)}; {expected}")
        return coordinate
    split: list[IntTuple] = []
    for part in shape[:-1]:
        coordinate, digit = divmod(coordinate, product(part))
        split.append(digit)
    return (*split, coordinate)


def text_of(value: IntTuple) -> str:
    """The text, as CuTe prints it: without blanks.

    >>> print(text_of(((2, 4), (8,))))
    ((2,4),(8))
    """
    return str(value) if isinstance(value, int) else f"({','.join(map(text_of, value))})"


# Layouts of CuTe: a nested shape and nested strides, as `((2,4),8):((1,8),2)`.
#
# A layout is a function from coordinates to offsets. A coordinate may be one integer for the
# whole shape, one for each mode, or as deeply nested as the shape; the first part counts fastest.


@dataclass(frozen=True, slots=True, repr=False)
class CuteLayout(Displayed):
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
        """Number of tuples around the innermost size."""
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


def _check(value: object, what: str, level: int = 0) -> None:
    """Raise an error unless a value is an integer tuple of some depth."""
    if isinstance(value, tuple):
        if level > MAX_DEPTH:
            raise ShapeError(f"CuteLayout: {what}: tuples are nested deeper than {MAX_DEPTH}")
        for part in cast("tuple[object, ...]", value):
            _check(part, what, level + 1)
    elif not isinstance(value, int) or isinstance(value, bool):
        found = f"{quoted(value)} of {type(value).__name__}"
        raise ArgumentError(f"CuteLayout: {what}: {found}; expected integers in tuples")


def _check_sizes(shape: IntTuple) -> None:
    for size in flattened(shape):
        if size < 1:
            message = f"CuteLayout: shape {text_of(shape)} has the size {size}; expected 1 or more"
            raise ShapeError(message)
    if "()" in text_of(shape):
        raise ShapeError(f"CuteLayout: shape {text_of(shape)} has a tuple without sizes")
