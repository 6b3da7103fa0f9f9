"""What XLA's tests ask of shapes and layouts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import reduce
from math import prod
from operator import eq
from typing import Any, Final, cast

from indexing import IndexingMap, layout
from indexing.layout import Layout, Shape
from ops.xla_gpu.shared_memory import merged_in_memory
from tests.conformance import Row
from tests.xla.facts import Answer


def _shape(row: Row) -> Shape:
    return Shape.parse(row["shape"])


def _shapes(row: Row) -> list[Shape]:
    """Two shapes; the first with the type of the second if the row ignores types."""
    a, b = map(Shape.parse, row["shapes"])
    return [a.with_element_type(b.element_type) if row.get("ignore_element_type") else a, b]


def _layouts(row: Row) -> list[Layout]:
    """Layouts by their fields, because XLA's tests have layouts that fit no shape."""
    return [
        Layout(**{name: _frozen(value) for name, value in fields.items()})
        for fields in row["layouts"]
    ]


def _frozen(value: Any) -> Any:  # noqa: ANN401 - a list of anything, or anything
    return tuple(map(_frozen, cast("list[Any]", value))) if isinstance(value, list) else value


def _listed(numbers: Iterable[object] | None) -> list[object] | None:
    return None if numbers is None else list(numbers)


def byte_strides(row: Row) -> list[int] | None:
    """How far apart in bytes the neighbours along each dimension are."""
    shape = _shape(row)
    bits = shape.element_size_in_bits
    return None if bits % 8 else [(each or 0) * bits // 8 for each in layout.strides(shape)]


def offset_of_its_index(row: Row) -> object:
    """The offset of the element that lies at an offset."""
    index = layout.multi_index(row["offset"], _shape(row))
    return None if index is None else layout.linear_index(index, _shape(row))


def largest_piece(row: Row) -> list[int]:
    sizes = [each.shape.dimensions for each in layout.pieces(_shape(row))]
    return [*map(max, zip(*sizes, strict=True))]


def subshape(row: Row) -> str:
    path: list[int] = row["path"]
    return str(reduce(lambda shape, place: shape.elements[place], path, _shape(row)))


def _reordered(row: Row) -> Shape:
    return layout.reorder_dimensions(_shape(row), row["permutation"])


def _layouts_in(shape: Shape) -> object:
    return tuple(map(_layouts_in, shape.elements)) if shape.is_tuple else shape.layout


def transpose_costs_nothing(row: Row) -> bool:
    source, target = _shapes(row)
    same_type = source.element_type is target.element_type
    return same_type and layout.transpose_is_bitcast(source, target, row["permutation"])


def merged_transpose(row: Row) -> list[list[int]]:
    """The sizes of a transpose and the order of its dimensions, with as few as possible."""
    operand, result = _shapes(row)
    merged = merged_in_memory(operand, result, row["permutation"])
    return [list(merged.sizes), list(merged.order)]


def equal_layouts(row: Row) -> bool:
    """Whether layouts are equal, but for some of their fields."""
    same = {name: getattr(Layout(()), name) for name in row.get("ignored", ())}
    return eq(*(replace(made, **same) for made in _layouts(row)))


QUESTIONS: Final[dict[str, Answer]] = {
    "align_layouts": lambda row: (
        (found := layout.align_layouts(_shape(row), row["sizes"])) and str(found)),
    # Whether a shape of these sizes is found, to which a reshape is a bitcast.
    "aligned is bitcast": lambda row: (
        (found := layout.align_layouts(_shape(row), row["sizes"])) is not None
        and layout.reshape_is_bitcast(_shape(row), found)),
    "array_size": lambda row: layout.array_size(_shape(row)).bytes,
    "arrays": lambda row: [array.text(layout=False) for array in _shape(row).arrays],
    "byte strides": byte_strides,
    "byte strides are": lambda row: byte_strides(row) == row["strides"],
    "compatible": lambda row: Shape.is_compatible_with(*_shapes(row)),
    "decompose_bitcast": lambda row: [*map(str, layout.decompose_bitcast(*_shapes(row)))],
    "deduce_transpose": lambda row: _listed(layout.deduce_transpose(*_shapes(row))),
    "default layout": lambda row: str(Layout.default(row["rank"])),
    "delete_dimensions": lambda row: str(layout.delete_dimensions(_shape(row), row["dimensions"])),
    "descending_layout_same_physical": lambda row: str(layout.in_memory_order(_shape(row))),
    "dimensions_unmodified_by_reshape": lambda row: [
        list(pair) for pair in layout.dimensions_unmodified_by_reshape(*row["sizes"])],
    "element count": lambda row: _shape(row).element_count,
    "elements of the largest piece": lambda row: prod(largest_piece(row)),
    "equal layouts": equal_layouts,
    "equal shapes": lambda row: eq(*_shapes(row)),
    "indices in order": lambda row: [
        list(index) for index, *_ in IndexingMap.identity(row["sizes"]).points()],
    "inserts or deletes ones": lambda row: (
        layout.one_sized_dimensions_changed_by_reshape(*row["sizes"]) is not None),
    "is empty array": lambda row: _shape(row).is_array and not _shape(row).element_count,
    "is sparse": lambda row: _shape(row).array_layout.is_sparse,
    "largest piece": largest_piece,
    "layout copied": lambda row: str(_shapes(row)[1].with_layout(_shapes(row)[0].layout)),
    "layout_print": lambda row: str(_layouts(row)[0]),
    "merged transpose": merged_transpose,
    "multi_index": lambda row: _listed(layout.multi_index(row["offset"], _shape(row))) or [],
    "offset of its index": offset_of_its_index,
    "points": lambda row: sum(1 for _ in IndexingMap.identity(row["sizes"]).points()),
    "reorder is bitcast": lambda row: layout.transpose_is_bitcast(
        _shape(row), _reordered(row), row["permutation"]),
    "reorder_logical_dimensions": lambda row: str(_reordered(row)),
    "reshape_is_bitcast": lambda row: layout.reshape_is_bitcast(
        *map(Shape.parse, row["shapes"]),
        ignore_element_type=row.get("ignore_element_type", False)),
    # The same tuples of the same layouts, of whatever sizes.
    "same layouts": lambda row: eq(*map(_layouts_in, _shapes(row))),
    "same dimensions": lambda row: eq(*(shape.dimensions for shape in _shapes(row))),
    "shape_text": lambda row: str(Shape.parse(row["text"])),
    # Also counted from the end.
    "size": lambda row: _shape(row).size(row["dimension"]),
    "subshape": subshape,
    "tiled_linear_index": lambda row: layout.linear_index(row["index"], _shape(row)),
    "tiled_shape": lambda row: list(layout.tiling_steps(_shape(row))[0].sizes),
    "transpose_is_bitcast": transpose_costs_nothing,
}  # fmt: skip
