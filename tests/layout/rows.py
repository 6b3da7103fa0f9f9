"""The arrays of the rows of ``layout.jsonl``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexing.layout import COMBINE_DIMENSION, ElementType, Layout, Shape

if TYPE_CHECKING:
    from tests.conformance import Row


def shape_of(row: Row, dims: str = "dims", layout: str = "minor_to_major") -> Shape:
    """The array whose sizes and order of dimensions are these fields of a row."""
    sizes = tuple(row[dims])
    tiles = [
        tuple(COMBINE_DIMENSION if size == "*" else size for size in tile)
        for tile in row.get("tiles", ())
    ]
    order = tuple(row.get(layout, range(len(sizes) - 1, -1, -1)))
    packed = row.get("element_size_in_bits", 0)
    made = Layout(order, tuple(tiles), element_size_in_bits=packed)
    return Shape(ElementType(row.get("type", "f32")), sizes, made)
