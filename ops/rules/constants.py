"""Elements of constants as forms over their index, where these make an affine table."""

from __future__ import annotations

from itertools import product
from math import prod
from operator import mul
from typing import TYPE_CHECKING, Final

from simplifier.expr import form as forms

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from indexing import IndexingMap
    from ops.hlo import Instruction
    from simplifier import Interval
    from simplifier.expr.form import Form


_LARGEST: Final = 1 << 16
"""How many elements of a constant are looked at."""


def element_of_constant(constant: Instruction, place: IndexingMap) -> Form | None:
    """The integer that ``place`` leads to, over the variables of ``place``.

    ``None`` if the text does not say the values, if they are too many, or if those that may be
    meant follow no pattern.

    >>> from indexing import parse_map
    >>> from ops import hlo
    >>> text = "ENTRY e { ROOT c = s32[3,3] constant({{0, 9, 0}, {0, 7, 0}, {0, 5, 1}}) }"
    >>> column = parse_map("(d0) -> (d0, 1), domain: d0 in [0, 2]")
    >>> print(element_of_constant(hlo.parse(text).entry.root, column))
    d0 * -2 + 9
    """
    literal, sizes = constant.literal, constant.shape.dimensions
    if literal is None or literal.values is None:
        return None
    bounds = zip(place.result_bounds(), sizes, strict=True)
    box = [_within(interval, size) for interval, size in bounds]
    if not 0 < prod(map(len, box)) <= _LARGEST:
        return None
    strides = [prod(sizes[number + 1 :]) for number in range(len(sizes))]
    values = literal.values
    table = {index: int(values[sum(map(mul, index, strides))].real) for index in product(*box)}
    return _affine(table, box, place.forms)


def _within(bounds: Interval, size: int) -> range:
    """The indices of a dimension that lie within bounds."""
    first = 0 if bounds.lower is None else max(0, bounds.lower)
    return range(first, size if bounds.upper is None else min(size, bounds.upper + 1))


def _affine(
    table: Mapping[tuple[int, ...], int], box: Sequence[range], index: Sequence[Form]
) -> Form | None:
    """The entry of a table at an index in a box, if each step along a dimension adds the same."""
    corner = tuple(along.start for along in box)
    steps = [
        table[(*corner[:number], along[1], *corner[number + 1 :])] - table[corner]
        if len(along) > 1
        else 0
        for number, along in enumerate(box)
    ]
    at_zero = table[corner] - sum(map(mul, corner, steps))
    if any(value != at_zero + sum(map(mul, each, steps)) for each, value in table.items()):
        return None
    terms = (form * step for form, step in zip(index, steps, strict=True))
    return sum(terms, forms.constant(at_zero))
