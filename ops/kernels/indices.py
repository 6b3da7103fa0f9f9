"""Indices of arrays: as numbers of elements in an order of the dimensions, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from ops.sizes import as_form, scaled
from simplifier import Interval
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import Form

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from indexing.formats.code.loop_nest import LoopBlock
    from indexing.layout import Shape
    from ops.sizes import Size

Index: TypeAlias = "tuple[Form, ...]"


def major_first(shape: Shape) -> list[int]:
    """The dimensions, the one with the largest steps in memory first."""
    layout = shape.layout
    order = layout.minor_to_major if layout is not None else range(shape.rank - 1, -1, -1)
    return [*reversed(order)]


def row_major(index: Sequence[Form], sizes: Sequence[Size], order: Iterable[int]) -> Form:
    """The number of an element, if the dimensions lie in an order, the major ones first.

    >>> n, first, second = map(forms.variable, ("d0", "d1", "d2"))
    >>> row_major([first, second], [4, n], [0, 1])
    Form(d0 * d1 + d2)
    """
    total = forms.ZERO
    for dimension in order:
        total = scaled(total, sizes[dimension]) + index[dimension]
    return total


def digits(place: Form, sizes: Sequence[Size], block: LoopBlock) -> list[Form]:
    """The index that has this number in an array of some sizes, the major ones first.

    The block, where the number is below the product of all sizes, knows the bounds of the index.
    """
    found: list[Form] = []
    stride: Size = 1
    for size in reversed(sizes):
        quotient = operations.floordiv(place, as_form(stride))
        found.append(block.simplified(operations.mod(quotient, as_form(size))))
        stride = scaled(as_form(stride), size) if isinstance(size, Form) else stride * size
    found.reverse()
    below = [
        (digit - size, Interval(None, -1))
        for digit, size in zip(found, sizes, strict=True)
        if isinstance(size, Form)
    ]
    block.learn(row for row in below if not row[0].is_constant)
    return found


def index_of(
    place: Form,
    sizes: Sequence[Size],
    order: Sequence[int],
    block: LoopBlock,
    dimensions: Collection[int] | None = None,
) -> dict[int, Form]:
    """The index in some dimensions (all) that is the given one when counted in an order.

    The number is below the product of their sizes in the block.
    """
    counted = [each for each in order if dimensions is None or each in dimensions]
    found = digits(place, [sizes[each] for each in counted], block)
    return dict(zip(counted, found, strict=True))


def in_order(index: Mapping[int, Form]) -> Index:
    """The forms by their numbers."""
    return tuple(index[number] for number in sorted(index))
