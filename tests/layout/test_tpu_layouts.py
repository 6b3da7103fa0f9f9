"""All layouts of real modules for TPUs: their text, their maps, and the format XLA picks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from indexing import IndexingMap
from indexing.layout import (
    Shape,
    array_size,
    format_of,
    linear_index,
    linear_to_logical,
    logical_to_linear,
    logical_to_tiled,
    tile_format,
    tiled_to_logical,
    tpu_shape,
)
from tests.cases import for_all
from tests.extent import part
from tests.layout.model import PADDING, memory_of

TEXTS = (Path(__file__).parents[1] / "data/layout/tpu_shapes.txt").read_text("utf-8").split()
"""The shapes with a layout in the modules of ``tests/data/hlo/tpu``, each once."""

SHAPES = [Shape.parse(text) for text in TEXTS]
TILED = [shape for shape in SHAPES if shape.array_layout.tiles]


def tilings(shapes: list[Shape]) -> list[Shape]:
    """One of all shapes that differ in nothing that moves elements."""
    return list(
        {
            (shape.dimensions, shape.array_layout.minor_to_major, shape.array_layout.tiles): shape
            for shape in shapes
        }.values()
    )


each_tiling = for_all(part(tilings(SHAPES), 130))


def test_there_are_many() -> None:
    assert (len(SHAPES), len(TILED), len(tilings(SHAPES))) == (736, 730, 487)


@for_all(TEXTS)
def test_text_is_printed_as_it_was_read(text: str) -> None:
    assert str(Shape.parse(text)) == text


@each_tiling
def test_offsets(shape: Shape) -> None:
    memory = memory_of(shape)
    offsets = linear_index(tuple(np.indices(shape.dimensions)), shape)
    assert np.array_equal(memory[offsets].ravel(), np.arange(shape.element_count))
    size = array_size(shape)
    assert (size.elements, size.padding) == (memory.size, np.count_nonzero(memory == PADDING))


@each_tiling
def test_maps_undo_each_other(shape: Shape) -> None:
    for there, back in [
        (logical_to_linear(shape), linear_to_logical(shape)),
        (logical_to_tiled(shape), tiled_to_logical(shape)),
    ]:
        for first, second in [(there, back), (back, there)]:
            same = IndexingMap.from_forms(first.domain.by_name.values(), first.domain)
            assert first.compose(second).simplify() == same.simplify()


@for_all(TILED)
def test_the_format_is_the_one_that_xla_picks(shape: Shape) -> None:
    untiled = shape.with_layout(replace(shape.array_layout, tiles=()))
    assert tile_format(untiled).tiles == shape.array_layout.tiles
    assert tpu_shape(untiled) == shape
    assert format_of(shape.array_layout) is not None
