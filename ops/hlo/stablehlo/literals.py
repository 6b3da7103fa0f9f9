"""Dense elements as the literals of HLO."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ops.hlo.literal import Literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ops.mlir.dense_elements import DenseElements, Number

MAX_ELEMENTS: Final = 1 << 22
"""Of one value that is repeated: 32 megabytes of references, as in :mod:`ops.hlo.literal`."""


def literal_of(elements: DenseElements) -> Literal:
    """The value of a constant, with its text in HLO.

    >>> from indexing.layout import Shape
    >>> from ops.mlir.dense_elements import DenseElements
    >>> print(literal_of(DenseElements(Shape.parse("s32[2,2]"), (1, 2, 3, 4))))
    s32[2,2]{1,0} { { 1, 2 }, { 3, 4 } }
    """
    shape, values = elements.shape, elements.values
    if values is None or (elements.is_splat and shape.element_count > MAX_ELEMENTS):
        return Literal(shape, None, (), "{...}")
    if elements.is_splat and shape.rank:
        return Literal(shape, elements.all_values(), (), _number(values[0]))
    return Literal(shape, values, (), _rows(iter(values), shape.dimensions))


def _rows(values: Iterator[Number], sizes: Sequence[int]) -> str:
    if not sizes:
        return _number(next(values))
    rows = (_rows(values, sizes[1:]) for _ in range(sizes[0]))
    return f"{{ {', '.join(rows)} }}" if sizes[0] else "{}"


def _number(value: Number) -> str:
    if isinstance(value, complex):
        return f"({value.real}, {value.imag})"
    return str(value).lower()
