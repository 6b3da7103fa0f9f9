"""CuTe's integer tuples: an integer, or a tuple of integer tuples, such as ``((2, 4), 8)``."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, TypeAlias, Union

from indexing.errors import ShapeError

if TYPE_CHECKING:
    from collections.abc import Iterator

IntTuple: TypeAlias = Union[int, "tuple[IntTuple, ...]"]
"""An integer or a tuple of these; a rank-1 tuple is no integer."""

MAX_DEPTH = 50
"""Tuples are nested down to this depth: no layout is deeper, and Python's stack holds it."""


def leaves(value: IntTuple) -> Iterator[int]:
    """The integers from left to right.

    >>> list(leaves(((2, 4), 8)))
    [2, 4, 8]
    """
    if isinstance(value, int):
        yield value
    else:
        for part in value:
            yield from leaves(part)


def flattened(value: IntTuple) -> tuple[int, ...]:
    """The integers from left to right as one tuple."""
    return tuple(leaves(value))


def product(value: IntTuple) -> int:
    """The product of all integers.

    >>> product(((2, 4), 8))
    64
    """
    return prod(leaves(value))


def depth(value: IntTuple) -> int:
    """How many tuples are around the innermost integer.

    >>> depth(8), depth((2, 4)), depth(((2, 4), 8))
    (0, 1, 2)
    """
    if isinstance(value, int):
        return 0
    return 1 + max(map(depth, value), default=0)


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
    if isinstance(value, int):
        return str(value)
    return f"({','.join(map(text_of, value))})"
