"""Places of elements: numbers as indices, and indices in memory as those that users write."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from indexing.layout.maps import form_of
from indexing.layout.steps import Reshape, Transpose
from simplifier import Interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indexing.domain import Constraint
    from indexing.layout import Shape
    from simplifier.expr.form import Form


def unflattened(number: Form, sizes: Sequence[int]) -> tuple[Form, ...]:
    """The digits of a number, one for each size, the last of which runs fastest.

    >>> from ops.index_maps import dim
    >>> for digit in unflattened(dim(0), (4, 8)):
    ...     print(digit)
    d0 floordiv 8
    d0 mod 8
    """
    return tuple(map(form_of, Reshape.of([((prod(sizes),), tuple(sizes))]).forward((number,))))


def in_array(shape: Shape, sizes: Sequence[int], index: Sequence[Form]) -> tuple[Form, ...]:
    """The index of an element of an array, from that in dimensions of other sizes.

    These are the array's as they lie in memory, major first, joined or cut. Tiles take no part.

    >>> from indexing.layout import Shape
    >>> from ops.index_maps import dim
    >>> for part in in_array(Shape.parse("f32[8,4,2]{0,2,1}"), (8, 8), (dim(0), dim(1))):
    ...     print(part)
    d1
    d0 floordiv 2
    d0 mod 2
    """
    order = Transpose.of(shape.dimensions, shape.array_layout.major_to_minor)
    there = Reshape.between(tuple(sizes), order.sizes).forward(tuple(index))
    return tuple(map(form_of, order.backward(there)))


def within(sizes: Sequence[int], index: Sequence[Form]) -> list[Constraint]:
    """That an index is one of a tensor of these sizes."""
    return [(part, Interval(0, size - 1)) for part, size in zip(index, sizes, strict=True)]
