"""The tile formats that have a name, and which array gets which."""

from __future__ import annotations

from itertools import product

import pytest

from indexing.layout import FORMATS, UNTILED, Shape, ShapeError, format_of, tile_format, tpu_shape
from indexing.layout.tile_formats import PLATFORMS
from tests.cases import for_all


@for_all(
    [
        ("f32[64,512]", "TPU 8x128", "f32[64,512]{1,0:T(8,128)}"),
        ("f32[5,512]", "TPU 8x128", "f32[5,512]{1,0:T(8,128)}"),
        ("f32[4,512]", "TPU 4x128", "f32[4,512]{1,0:T(4,128)}"),
        ("f32[3,512]", "TPU 4x128", "f32[3,512]{1,0:T(4,128)}"),
        ("f32[2,512]", "TPU 2x128", "f32[2,512]{1,0:T(2,128)}"),
        ("f32[1,512]", "TPU 1x128", "f32[1,512]{1,0:T(1,128)}"),
        ("f32[64,2]{0,1}", "TPU 2x128", "f32[64,2]{0,1:T(2,128)}"),
        ("c64[9,9]", "TPU 8x128", "c64[9,9]{1,0:T(8,128)}"),
        ("bf16[64,512]", "TPU 16-bit 8x128", "bf16[64,512]{1,0:T(8,128)(2,1)}"),
        ("f16[1,512]", "TPU 16-bit 2x128", "f16[1,512]{1,0:T(2,128)(2,1)}"),
        ("s8[64,512]", "TPU 8-bit 8x128", "s8[64,512]{1,0:T(8,128)(4,1)}"),
        ("pred[1,512]", "TPU 8-bit 4x128", "pred[1,512]{1,0:T(4,128)(4,1)}"),
        ("s4[64,512]", "TPU 4-bit 8x128", "s4[64,512]{1,0:T(8,128)(8,1)E(4)}"),
        ("u2[64,512]", "TPU 2-bit 16x128", "u2[64,512]{1,0:T(16,128)(16,1)E(2)}"),
        ("pred[64,512]{1,0:E(1)}", "TPU 1-bit 32x128", "pred[64,512]{1,0:T(32,128)(32,1)E(1)}"),
        ("f32[0,512]", "TPU 1x128", "f32[0,512]{1,0:T(1,128)}"),
        ("f32[100]", "TPU 128", "f32[100]{0:T(128)}"),
        ("f32[100000]", "TPU 1024", "f32[100000]{0:T(1024)}"),
        ("bf16[100]", "TPU 16-bit 256", "bf16[100]{0:T(256)(128)(2,1)}"),
        ("f32[]", "TPU 128", "f32[]{:T(128)}"),
        ("pred[]", "TPU 512", "pred[]{:T(512)}"),
    ]
)
def test_a_format_picks_itself(text: str, name: str, printed: str) -> None:
    shape = Shape.parse(text)
    chosen = tile_format(shape)
    assert chosen.name == name
    assert str(tpu_shape(shape)) == printed
    assert format_of(tpu_shape(shape).array_layout) == chosen
    assert tile_format(shape, "cpu") is tile_format(shape, "gpu") is UNTILED


def test_every_name_and_every_tiling_is_there_once() -> None:
    assert len({known.name for known in FORMATS}) == len(FORMATS)
    assert len({known.tiles for known in FORMATS}) == len(FORMATS)
    assert format_of(Shape.parse("f32[2,2]{1,0:T(2,2)}").array_layout) is None


@for_all(product(["f32[?,3]", "token[]"], PLATFORMS))
def test_only_arrays_of_known_size_have_a_format(text: str, platform: str) -> None:
    with pytest.raises(ShapeError, match="expected"):
        tile_format(Shape.parse(text), platform)


def test_an_unknown_platform_is_refused() -> None:
    with pytest.raises(ShapeError, match="no platform 'npu'; expected one of"):
        tile_format(Shape.parse("f32[2]"), "npu")
