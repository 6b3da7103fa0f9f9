"""Dense elements as the literals of HLO."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ops.hlo.literal import Literal, text_of_number

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ops.mlir.dense_elements import DenseElements


def literal_of(elements: DenseElements) -> Literal:
    """The value of a constant, with its text in HLO.

    >>> from indexing.layout import Shape
    >>> from ops.mlir.dense_elements import DenseElements
    >>> print(literal_of(DenseElements(Shape.parse("s32[2,2]"), (1, 2, 3, 4))))
    s32[2,2]{1,0} { { 1, 2 }, { 3, 4 } }
    """
    shape, values = elements.shape, elements.values
    if values is None:
        return Literal(shape, None, (), "{...}")
    known = values[: shape.element_count]
    text = partial(text_of_number, element_type=shape.element_type)
    return Literal(shape, known, (), _rows(map(text, known), shape.dimensions))


def _rows(texts: Iterator[str], sizes: Sequence[int]) -> str:
    if not sizes:
        return next(texts)
    rows = (_rows(texts, sizes[1:]) for _ in range(sizes[0]))
    return f"{{ {', '.join(rows)} }}" if sizes[0] else "{}"
