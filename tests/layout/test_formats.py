"""The tile formats that have a name, and all layouts of real modules for TPUs."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from indexing import layout
from indexing.layout import FORMATS, UNTILED, Shape, ShapeError
from indexing.layout.tile_formats import PLATFORMS
from tests.cases import for_all, rows
from tests.layout.model import PADDING, memory_of


@for_all(rows("""
f32[64,512] => TPU 8x128 => f32[64,512]{1,0:T(8,128)}
f32[5,512] => TPU 8x128 => f32[5,512]{1,0:T(8,128)}
f32[4,512] => TPU 4x128 => f32[4,512]{1,0:T(4,128)}
f32[3,512] => TPU 4x128 => f32[3,512]{1,0:T(4,128)}
f32[2,512] => TPU 2x128 => f32[2,512]{1,0:T(2,128)}
f32[1,512] => TPU 1x128 => f32[1,512]{1,0:T(1,128)}
f32[64,2]{0,1} => TPU 2x128 => f32[64,2]{0,1:T(2,128)}
c64[9,9] => TPU 8x128 => c64[9,9]{1,0:T(8,128)}
bf16[64,512] => TPU 16-bit 8x128 => bf16[64,512]{1,0:T(8,128)(2,1)}
f16[1,512] => TPU 16-bit 2x128 => f16[1,512]{1,0:T(2,128)(2,1)}
s8[64,512] => TPU 8-bit 8x128 => s8[64,512]{1,0:T(8,128)(4,1)}
pred[1,512] => TPU 8-bit 4x128 => pred[1,512]{1,0:T(4,128)(4,1)}
s4[64,512] => TPU 4-bit 8x128 => s4[64,512]{1,0:T(8,128)(8,1)E(4)}
u2[64,512] => TPU 2-bit 16x128 => u2[64,512]{1,0:T(16,128)(16,1)E(2)}
pred[64,512]{1,0:E(1)} => TPU 1-bit 32x128 => pred[64,512]{1,0:T(32,128)(32,1)E(1)}
f32[0,512] => TPU 1x128 => f32[0,512]{1,0:T(1,128)}
f32[100] => TPU 128 => f32[100]{0:T(128)}
f32[100000] => TPU 1024 => f32[100000]{0:T(1024)}
bf16[100] => TPU 16-bit 256 => bf16[100]{0:T(256)(128)(2,1)}
f32[] => TPU 128 => f32[]{:T(128)}
pred[] => TPU 512 => pred[]{:T(512)}
"""))  # fmt: skip
def test_a_format_picks_itself(text: str, name: str, printed: str) -> None:
    shape = Shape.parse(text)
    chosen = layout.tile_format(shape)
    assert chosen.name == name
    assert str(layout.tpu_shape(shape)) == printed
    assert layout.format_of(layout.tpu_shape(shape).array_layout) == chosen
    assert layout.tile_format(shape, "cpu") is layout.tile_format(shape, "gpu") is UNTILED


def test_every_name_and_every_tiling_is_there_once() -> None:
    assert len({known.name for known in FORMATS}) == len(FORMATS)
    assert len({known.tiles for known in FORMATS}) == len(FORMATS)
    assert layout.format_of(Shape.parse("f32[2,2]{1,0:T(2,2)}").array_layout) is None


@for_all(product(["f32[?,3]", "token[]"], PLATFORMS))
def test_only_arrays_of_known_size_have_a_format(text: str, platform: str) -> None:
    with pytest.raises(ShapeError, match="expected"):
        layout.tile_format(Shape.parse(text), platform)
    with pytest.raises(ShapeError, match="no platform 'npu'; expected one of"):
        layout.tile_format(Shape.parse("f32[2]"), "npu")


# Layouts of real modules: their text, their maps, and the format that XLA picks.

TEXTS = (Path(__file__).parents[1] / "data/layout/tpu_shapes.txt").read_text("utf-8").split()
"""The shapes with a layout in the modules of ``tests/data/hlo/tpu``, each once."""

SHAPES = [Shape.parse(text) for text in TEXTS]
TILED = [shape for shape in SHAPES if shape.array_layout.tiles]


def tilings() -> list[Shape]:
    """One of all shapes that differ in nothing that moves elements."""
    layouts = [(shape.dimensions, shape.array_layout, shape) for shape in SHAPES]
    return [*{(sizes, at.minor_to_major, at.tiles): shape for sizes, at, shape in layouts}.values()]


def test_there_are_many() -> None:
    assert (len(SHAPES), len(TILED), len(tilings())) == (736, 730, 487)


@for_all(TEXTS)
def test_text_is_printed_as_it_was_read(text: str) -> None:
    assert str(Shape.parse(text)) == text


@for_all(tilings())
def test_offsets(shape: Shape) -> None:
    memory = memory_of(shape)
    offsets = layout.linear_index(tuple(np.indices(shape.dimensions)), shape)
    assert np.array_equal(memory[offsets].ravel(), np.arange(shape.element_count))
    size = layout.array_size(shape)
    assert (size.elements, size.padding) == (memory.size, np.count_nonzero(memory == PADDING))


@for_all(TILED)
def test_the_format_is_the_one_that_xla_picks(shape: Shape) -> None:
    untiled = shape.with_layout(replace(shape.array_layout, tiles=()))
    assert layout.tile_format(untiled).tiles == shape.array_layout.tiles
    assert layout.tpu_shape(untiled) == shape
    assert layout.format_of(shape.array_layout) is not None
