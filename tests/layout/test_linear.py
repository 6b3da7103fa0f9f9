"""Linear layouts: what Triton's tests expect, a model of GF(2) in NumPy, maps and conversions."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing import MapError, parse_map
from indexing.layout import ShapeError, cute, linear
from indexing.layout.linear import (
    BlockSplit,
    LinearLayout,
    amd_dot_operand,
    amd_mfma,
    blocked,
    nvidia_mma,
    nvmma_shared,
    slice_of,
    swizzled_shared,
)
from simplifier.errors import ArgumentError, IndexingError, TextError
from tests.carets import check_drawing
from tests.cases import for_all, for_rows
from tests.extent import examples
from tests.layout.model import wavefronts

# The cases of unittest/Dialect/TritonGPU/LinearLayoutConversionsTest.cpp in triton-lang/triton, by
# their names there. A row of bases is written as digits: the indices along the dimensions.

FOUR, TWO = BlockSplit((4,), (2,), (0,)), BlockSplit((2,), (2,), (0,))
COLUMNS, QUARTERS = BlockSplit((1, 2), (1, 2), (1, 0)), BlockSplit((2, 2), (2, 2), (1, 0))
CLUSTER: Final = BlockSplit((4, 2, 2), (4, 2, 1), (2, 1, 0))

TRITON: Final[list[tuple[str, Callable[[], LinearLayout], str]]] = [
    ("SimpleBlocked", lambda: blocked((16,), (1,), (4,), (4,), (0,)),
     "register; lane 1 2; warp 4 8; block"),
    ("CTADuplication", lambda: blocked((32,), (1,), (4,), (4,), (0,), FOUR),
     "register; lane 1 2; warp 4 8; block 16 0"),
    ("CTABroadcast", lambda: blocked((64, 128), (8, 1), (8, 4), (1, 4), (0, 1), COLUMNS),
     "register 1,0 2,0 4,0 0,16 0,32; lane 8,0 16,0 32,0 0,1 0,2; warp 0,4 0,8; block 0,64"),
    ("ShapeLargerThanLayout", lambda: blocked((128,), (1,), (4,), (4,), (0,)),
     "register 16 32 64; lane 1 2; warp 4 8; block"),
    ("ShapeSmallerThanLayout", lambda: blocked((8,), (4,), (4,), (4,), (0,)),
     "register 1 2; lane 4 0; warp 0 0; block"),
    ("ReversedOrder", lambda: blocked((1, 64), (1, 1), (32, 1), (1, 8), (0, 1)),
     "register 0,8 0,16 0,32; lane 0,0 0,0 0,0 0,0 0,0; warp 0,1 0,2 0,4; block"),
    ("OneDimTooLargeAnotherTooSmall",
     lambda: blocked((128, 16), (1, 4), (8, 4), (4, 1), (1, 0), BlockSplit((2, 2), (2, 1), (1, 0))),
     "register 0,1 0,2 32,0; lane 0,4 0,8 1,0 2,0 4,0; warp 8,0 16,0; block 0,0 64,0"),
    ("RepeatInCTGDimFirst", lambda: blocked((4,), (1,), (1,), (4,), (0,), TWO),
     "register; lane; warp 1 0; block 2"),
    ("SmallerThanCTALayout",
     lambda: blocked((2,), (1,), (1,), (1,), (0,), BlockSplit((4,), (4,), (0,))),
     "register; lane; warp; block 1 0"),
    ("BlockedOrder", lambda: blocked((1024, 128), (2, 2), (4, 8), (2, 2), (1, 0), QUARTERS),
     ("register 0,1 1,0 0,32 16,0 32,0 64,0 128,0 256,0; lane 0,2 0,4 0,8 2,0 4,0; "
      "warp 0,16 8,0; block 0,64 512,0")),
    ("MMAv2_32x32", lambda: nvidia_mma((32, 32), 2, (1, 1), (16, 8)),
     "register 0,1 8,0 0,8 0,16 16,0; lane 0,2 0,4 1,0 2,0 4,0; warp; block"),
    ("MMAv2_ExtendDim2", lambda: nvidia_mma((16, 128), 2, (1, 1), (16, 8)),
     "register 0,1 8,0 0,8 0,16 0,32 0,64; lane 0,2 0,4 1,0 2,0 4,0; warp; block"),
    ("MMAv2_Cga", lambda: nvidia_mma((64, 128, 128), 2, (16, 1, 1), (1, 16, 8), CLUSTER),
     ("register 0,0,1 0,8,0 0,0,8 0,0,16 0,0,32 0,0,64 0,16,0 0,32,0; "
      "lane 0,0,2 0,0,4 0,1,0 0,2,0 0,4,0; warp 1,0,0 2,0,0 4,0,0 8,0,0; "
      "block 0,0,0 0,64,0 16,0,0 32,0,0")),
    ("MMAv3_64x16", lambda: nvidia_mma((64, 16), 3, (4, 1), (16, 16, 8)),
     "register 0,1 8,0 0,8; lane 0,2 0,4 1,0 2,0 4,0; warp 16,0 32,0; block"),
    ("MMAv3_128x16", lambda: nvidia_mma((128, 16), 3, (4, 1), (16, 16, 8)),
     "register 0,1 8,0 0,8 64,0; lane 0,2 0,4 1,0 2,0 4,0; warp 16,0 32,0; block"),
    ("MMAv3_4x2Warps", lambda: nvidia_mma((256, 64), 3, (4, 2), (16, 32, 16)),
     ("register 0,1 8,0 0,8 0,16 64,0 128,0; lane 0,2 0,4 1,0 2,0 4,0; "
      "warp 16,0 32,0 0,32; block")),
    ("MMAv3_4x4Warps", lambda: nvidia_mma((32, 32), 3, (4, 4), (16, 16, 8)),
     "register 0,1 8,0 0,8; lane 0,2 0,4 1,0 2,0 4,0; warp 16,0 0,0 0,16 0,0; block"),
    ("MFMA32_2x4Warps", lambda: amd_mfma((128, 128), (2, 4), (32, 32)),
     "register 1,0 2,0 8,0 16,0 64,0; lane 0,1 0,2 0,4 0,8 0,16 4,0; warp 0,32 0,64 32,0; block"),
    ("MFMA16_2x4Warps", lambda: amd_mfma((16, 16), (2, 4), (16, 16)),
     "register 1,0 2,0; lane 0,1 0,2 0,4 0,8 4,0 8,0; warp 0,0 0,0 0,0; block"),
    ("MFMA32_2x4x1Warps", lambda: amd_mfma((1, 128, 128), (2, 4, 1), (32, 32), is_transposed=True),
     ("register 0,0,1 0,0,2 0,0,8 0,0,16 0,0,32 0,0,64; "
      "lane 0,1,0 0,2,0 0,4,0 0,8,0 0,16,0 0,0,4; warp 0,32,0 0,64,0 0,0,0; block")),
    ("SliceOfBlocked",
     lambda: slice_of(blocked((1, 128), (2, 4), (4, 2), (2, 2), (1, 0), QUARTERS), 0),
     "register 1 2 16 32; lane 4 0 0; warp 8 0; block 64 0"),
    ("SliceOfBlocked, columns",
     lambda: slice_of(blocked((128, 1), (2, 4), (4, 2), (2, 2), (1, 0), QUARTERS), 1),
     "register 1 16 32; lane 0 2 4; warp 0 8; block 0 64"),
    ("SliceOfMmaV2", lambda: slice_of(nvidia_mma((128, 64), 2, (2, 2), (16, 8)), 1),
     "register 8 32 64; lane 0 0 1 2 4; warp 0 16; block"),
    ("SharedSimple1D", lambda: swizzled_shared((16,), vec=1, per_phase=1, max_phase=1),
     "offset 1 2 4 8; block"),
    ("SharedSwizzled2D_MaxPhaseOnly",
     lambda: swizzled_shared((32, 32), vec=1, per_phase=1, max_phase=4),
     "offset 0,1 0,2 0,4 0,8 0,16 1,1 2,2 4,0 8,0 16,0; block"),
    ("SharedSwizzled2D_PerPhaseMaxPhaseVec",
     lambda: swizzled_shared((32, 32), vec=2, per_phase=2, max_phase=4),
     "offset 0,1 0,2 0,4 0,8 0,16 1,0 2,2 4,4 8,0 16,0; block"),
    ("SharedSwizzled4D", lambda: swizzled_shared((2, 4, 32, 32), vec=2, per_phase=2, max_phase=4),
     ("offset 0,0,0,1 0,0,0,2 0,0,0,4 0,0,0,8 0,0,0,16 0,0,1,0 0,0,2,2 0,0,4,4 0,0,8,0 "
      "0,0,16,0 0,1,0,0 0,2,0,0 1,0,0,0; block")),
    ("SharedSwizzled2D_Order01",
     lambda: swizzled_shared((4, 8), vec=1, per_phase=1, max_phase=4, order=(0, 1)),
     "offset 1,0 2,0 1,1 2,2 0,4; block"),
    ("LeadingOffset_128x16_4_2",
     lambda: nvmma_shared((128, 16), swizzle_bytes=32, element_bits=16, is_transposed=False),
     "offset 0,1 0,2 0,4 0,8 1,0 2,0 4,8 8,0 16,0 32,0 64,0; block"),
    ("LeadingOffset_8x32_2_4",
     lambda: nvmma_shared((8, 32), swizzle_bytes=64, element_bits=16, is_transposed=False),
     "offset 0,1 0,2 0,4 0,8 0,16 1,0 2,8 4,16; block"),
    ("LeadingOffset_8x64_1_8",
     lambda: nvmma_shared((8, 64), swizzle_bytes=128, element_bits=16, is_transposed=False),
     "offset 0,1 0,2 0,4 0,8 0,16 0,32 1,8 2,16 4,32; block"),
    ("LeadingOffset_8x64_1_8_32b",
     lambda: nvmma_shared((8, 64), swizzle_bytes=128, element_bits=32, is_transposed=False),
     "offset 0,1 0,2 0,4 0,8 0,16 1,4 2,8 4,16 0,32; block"),
    ("LeadingOffset_128x128_1_8_128b_transposed",
     lambda: nvmma_shared((128, 128), swizzle_bytes=128, element_bits=32, is_transposed=True),
     "offset 1,0 2,0 4,0 8,0 16,0 4,1 8,2 16,4 0,8 0,16 0,32 0,64 32,0 64,0; block"),
    ("LeadingOffset_32x4x64_1_8_32b",
     lambda: nvmma_shared((32, 4, 64), swizzle_bytes=64, element_bits=32, is_transposed=False),
     ("offset 0,0,1 0,0,2 0,0,4 0,0,8 0,1,0 0,2,4 1,0,8 2,0,0 4,0,0 8,0,0 16,0,0 0,0,16 "
      "0,0,32; block")),
    ("LeadingOffset_64x4x32_1_8_32b_transposed",
     lambda: nvmma_shared((64, 4, 32), swizzle_bytes=64, element_bits=32, is_transposed=True),
     ("offset 1,0,0 2,0,0 4,0,0 8,0,0 0,0,4 4,0,8 8,0,16 0,1,0 0,2,0 0,0,1 0,0,2 16,0,0 "
      "32,0,0; block")),
    ("MFMA32_2x4Warps, transposed",
     lambda: amd_mfma((128, 128), (2, 4), (32, 32, 8), is_transposed=True),
     "register 0,1 0,2 0,8 0,16 64,0; lane 1,0 2,0 4,0 8,0 16,0 0,4; warp 0,32 0,64 32,0; block"),
    ("MFMA32_2x4Warps, transposed, two tiles each way",
     lambda: amd_mfma((128, 128), (2, 4), (32, 32, 8), is_transposed=True, tiles_per_warp=(2, 2)),
     ("register 0,1 0,2 0,8 0,16 0,32 32,0; lane 1,0 2,0 4,0 8,0 16,0 0,4; warp 0,64 "
      "0,0 64,0; block")),
    ("MFMA32_2x4x1Warps, batch", lambda: amd_mfma((2, 64, 32), (2, 4, 1), (32, 32)),
     ("register 0,1,0 0,2,0 0,8,0 0,16,0; lane 0,0,1 0,0,2 0,0,4 0,0,8 0,0,16 0,4,0; "
      "warp 0,32,0 0,0,0 1,0,0; block")),
    ("warp1onK_mfma32_rhs_kwidth8", lambda: amd_dot_operand((256, 256), 1, (1, 4), (32, 32), 8),
     ("register 1,0 2,0 4,0 16,0 32,0 64,0 128,0 0,128; lane 0,1 0,2 0,4 0,8 0,16 8,0; "
      "warp 0,32 0,64; block")),
    ("warp1onK_mfma16_rhs_kwidth8, one row",
     lambda: amd_dot_operand((1, 128), 1, (1, 4), (16, 16), 8),
     "register 0,0 0,0 0,0 0,64; lane 0,1 0,2 0,4 0,8 0,0 0,0; warp 0,16 0,32; block"),
    ("warp1onK_mfma16_rhs_kwidth8, batch",
     lambda: amd_dot_operand((1, 256, 256), 1, (1, 1, 8), (16, 16), 8),
     ("register 0,1,0 0,2,0 0,4,0 0,32,0 0,64,0 0,128,0 0,0,128; lane 0,0,1 0,0,2 0,0,4 "
      "0,0,8 0,8,0 0,16,0; warp 0,0,16 0,0,32 0,0,64; block")),
    ("SliceOfMmaV2, copies in registers",
     lambda: slice_of(nvidia_mma((8, 1), 2, (2, 2), (16, 8)), 1),
     "register; lane 0 0 1 2 4; warp 0 0; block"),
    ("SharedSwizzled2D, one column",
     lambda: swizzled_shared((64, 1), vec=2, per_phase=2, max_phase=4),
     "offset 1,0 2,0 4,0 8,0 16,0 32,0; block"),
]  # fmt: skip


def _bases(text: str) -> dict[str, tuple[tuple[int, ...], ...]]:
    rows = (row.split() for row in text.split(";"))
    return {
        name: tuple(tuple(map(int, vector.split(","))) for vector in vectors)
        for name, *vectors in rows
    }


@for_rows(TRITON)
def test_encodings_as_triton(make: Callable[[], LinearLayout], expected: str) -> None:
    layout = make()
    assert layout.bases == _bases(expected)
    assert layout.is_surjective
    assert linear.parse(str(layout)) == layout


def test_operands_of_a_dot_product() -> None:
    """The layouts of mma.m16n8k16 in the PTX manual: lanes in groups of four."""
    first = linear.dot_operand((16, 16), 0, (1, 1), 2)
    second = linear.dot_operand((16, 8), 1, (1, 1), 2)
    for lane in range(32):
        group, inside = divmod(lane, 4)
        for register in range(8):
            row = group + 8 * (register // 2 % 2)
            column = inside * 2 + register % 2 + 8 * (register // 4)
            assert first(lane=lane, register=register) == {"dim0": row, "dim1": column}
        for register in range(4):
            depth = inside * 2 + register % 2 + 8 * (register // 2)
            assert second(lane=lane, register=register) == {"dim0": depth, "dim1": group}
    shared = linear.dot_operand((32, 16), 0, (2, 2), 2)
    assert shared.bases["warp"] == ((0, 0), (16, 0))  # along N, warps hold the same rows of A


BLOCKED: Final = (
    "#ttg.blocked<{sizePerThread = [2, 4], threadsPerWarp = [4, 2], warpsPerCTA = [2, 2], "
    "order = [1, 0]}>"
)
MMA: Final = "#ttg.nvidia_mma<{versionMajor = 2, warpsPerCTA = [2, 2], instrShape = [16, 8]}>"
ENCODINGS: Final[dict[str, Callable[[], LinearLayout]]] = {
    BLOCKED: lambda: linear.blocked((64, 64), (2, 4), (4, 2), (2, 2), (1, 0)),
    MMA: lambda: linear.nvidia_mma((64, 64), 2, (2, 2), (16, 8)),
    f"#ttg.dot_op<{{opIdx = 1, parent = {MMA}, kWidth = 2}}>": lambda: linear.dot_operand(
        (64, 64), 1, (2, 2), 2),
    "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>": (
        lambda: linear.swizzled_shared((64, 64), vec=8, per_phase=1, max_phase=8)),
    "#ttg.amd_mfma<{warpsPerCTA = [2, 2], instrShape = [32, 32], isTransposed = true}>": (
        lambda: linear.amd_mfma((64, 64), (2, 2), (32, 32), is_transposed=True)),
    "#ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], "
    "isTransposed = true, tilesPerWarp = [2, 1]}>": lambda: linear.amd_mfma(
        (64, 64), (2, 2), (32, 32), is_transposed=True, tiles_per_warp=(2, 1)),
    "#ttg.dot_op<{opIdx = 0, parent = #ttg.amd_mfma<{warpsPerCTA = [2, 2], instrShape = [16, 16], "
    "isTransposed = false}>, kWidth = 4}>": lambda: linear.amd_dot_operand(
        (64, 64), 0, (2, 2), (16, 16), 4),
    "#ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 16}>": (
        lambda: linear.nvmma_shared((64, 64), swizzle_bytes=64, element_bits=16, is_transposed=True)
    ),
    "#ttg.linear<{register = [[0, 1]], lane = [[1, 0]], warp = [], block = []}>": (
        lambda: LinearLayout(
            {"register": [(0, 1)], "lane": [(1, 0)], "warp": [], "block": []},
            {"dim0": 64, "dim1": 64})),
}  # fmt: skip


@for_all(ENCODINGS.items())
def test_texts_of_encodings(text: str, make: Callable[[], LinearLayout]) -> None:
    assert linear.parse_encoding(text, (64, 64)) == make()


OLD_NAMES: Final = [
    ("encoding-old-name",
     "#triton_gpu.shared<{vec = 4, perPhase = 2, maxPhase = 4, order = [1,0]}>",
     "#ttg.swizzled_shared<{vec = 4, perPhase = 2, maxPhase = 4, order = [1, 0]}>"),
    ("encoding-old-field",
     "#triton_gpu.shared<{vec = 4, maxPhase = 1, perPhase = 2, order = [1, 0]," +
     " hasLeadingOffset = false}>",
     "#ttg.swizzled_shared<{vec = 4, perPhase = 2, maxPhase = 1, order = [1, 0]}>"),
    ("mma", "#triton_gpu.mma<{versionMajor = 2, warpsPerCTA = [2, 2], instrShape = [16, 8]}>",
     "#ttg.nvidia_mma<{versionMajor = 2, warpsPerCTA = [2, 2], instrShape = [16, 8]}>"),
]  # fmt: skip


@for_rows(OLD_NAMES)
def test_old_names_of_encodings(old: str, new: str) -> None:
    assert linear.parse_encoding(old, (64, 64)) == linear.parse_encoding(new, (64, 64))


def test_a_slice_names_its_parent() -> None:
    text = f"#ttg.slice<{{dim = 1, parent = {BLOCKED}}}>"
    parent = linear.blocked((64, 1), (2, 4), (4, 2), (2, 2), (1, 0))
    assert linear.parse_encoding(text, (64,)) == linear.slice_of(parent, 1)


BAD_ENCODINGS: Final = """
#triton_gpu.shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0], hasLeadingOffset = true}>
            ^^^^^^ hasLeadingOffset of swizzled_shared is true: that is nvmma_shared
#ttg.blocks<{}>
     ^^^^^^ expected an encoding, but found 'blocks'
#ttg.blocked<{sizePerThread = [1, 4]}>
     ^^^^^^^ blocked lacks threadsPerWarp
#ttg.slice<{dim = 0, parent = 3}>
     ^^^^^ parent of slice is no encoding
#ttg.swizzled_shared<{vec = 3, perPhase = 1, maxPhase = 1, order = [1, 0]}>
     ^^^^^^^^^^^^^^^ swizzled_shared: vec is 3; expected a power of two
#ttg.blocked<{order = x}>
                      ^ expected an integer, a list, true or false, but found 'x'
#ttg.slice<{dim = 0, dim = 1}>
                     ^^^ dim is there twice
#ttg.nvidia_mma<{versionMajor = 2, CGALayout = [[0, 1]]}>
                                   ^^^^^^^^^ expected a field of nvidia_mma, but found 'CGALayout'
#ttg.dot_op<{opIdx = true, parent = #ttg.nvidia_mma<{}>, kWidth = 2}>
     ^^^^^^ opIdx of dot_op is no integer
#ttg.linear<{register = [[0, true]]}>
     ^^^^^^ register of linear is no list of integers
#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = 0, elementBitWidth = 16}>
     ^^^^^^^^^^^^ transposed of nvmma_shared is neither true nor false
#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 4}>
     ^^^^^^^^^^^^ nvmma_shared: element_bits is 4; expected one of 8, 16, 32, 64
#mma
 ^^^ expected ttg or the name of a definition, but found 'mma'
"""


@for_all(
    [
        ("#A = #ttg.slice<{dim = 0, parent = #B}>", "1:37: expected ttg or the name"),
        ("#A = #ttg.slice<{dim = 0, parent = #A}>", "1:36: encodings are nested deeper than 8"),
        ("#A = #ttg.linear<{}>\n#A = #ttg.linear<{}>", "2:2: A is defined twice"),
        ("#A = #ttg.slice<{dim = 0}>", "1:11: slice lacks parent"),
        ("#A = #ttg.shared_memory", "1:11: expected an encoding"),
    ]
)
def test_bad_definitions(definitions: str, expected: str) -> None:
    """The caret stands in the definitions."""
    with pytest.raises(TextError, match=re.escape(expected)):
        linear.parse_encoding("#A", (64, 64), definitions)


def test_definitions_stand_among_the_other_lines_of_a_module() -> None:
    module = f"""
    // #A = #ttg.blocked<{{}}>
    #map = affine_map<(d0) -> (d0)>
    #smem = #ttg.shared_memory
    #A = {BLOCKED}
    #rows = #ttg.slice<{{dim = 1, parent = #A}}>
    module attributes {{"ttg.num-warps" = 4 : i32}} {{ tt.func @f(%a: tensor<64x64xf32, #A>) }}
    """
    assert linear.parse_encoding("#A", (64, 64), module) == ENCODINGS[BLOCKED]()
    text = "#ttg.slice<{dim = 1, parent = #A}>"
    rows = linear.parse_encoding("#rows", (64,), module)
    assert rows == linear.parse_encoding(text, (64,), module)


def test_bad_texts_of_encodings() -> None:
    check_drawing(BAD_ENCODINGS, lambda text: linear.parse_encoding(text, (64, 64)))


# A model in NumPy.


@st.composite
def linear_layouts(draw: st.DrawFn, *, invertible: bool = False) -> LinearLayout:
    """Layouts of up to eight bits from up to three dimensions to up to two."""
    in_bits = draw(st.lists(st.integers(0, 3), min_size=1, max_size=3))
    total = sum(in_bits)
    size = total if invertible else draw(st.integers(1, 6))
    first = draw(st.integers(0, size))
    outs = {"dim0": first, "dim1": size - first}
    matrix = draw(st.lists(st.integers(0, (1 << size) - 1), min_size=total, max_size=total))
    if invertible:
        matrix = _made_invertible(matrix)
    in_dims: list[str] = ["register", "lane", "warp"]
    names = dict(zip(in_dims, in_bits, strict=False))
    return LinearLayout.of_matrix(matrix, names, outs)


def _made_invertible(numbers: list[int]) -> list[int]:
    """The product of a lower and an upper triangular matrix with ones on both diagonals."""
    count = len(numbers)
    lower = np.tril([[n >> k & 1 for k in range(count)] for n in numbers] or np.zeros((0, 0)), -1)
    upper = np.triu([[n >> k & 1 for k in range(count)] for n in numbers] or np.zeros((0, 0)), 1)
    ones = np.eye(count)
    product = ((lower + ones) @ (upper + ones)).astype(int) % 2
    return [int(sum(int(bit) << k for k, bit in enumerate(row))) for row in product]


def _array(layout: LinearLayout) -> np.ndarray:
    """The matrix as zeros and ones: a column for each bit of a place."""
    size = sum(layout.out_bits.values())
    return np.array([[c >> k & 1 for c in layout.matrix] for k in range(size)], dtype=int).reshape(
        size, len(layout.matrix)
    )


def _rank(array: np.ndarray) -> int:
    """By elimination of whole rows."""
    rows, rank = array.copy(), 0
    for column in range(rows.shape[1]):
        pivots = [row for row in range(rank, len(rows)) if rows[row, column]]
        if pivots:
            rows[[rank, pivots[0]]] = rows[[pivots[0], rank]]
            others = [row for row in range(len(rows)) if row != rank and rows[row, column]]
            rows[others] ^= rows[rank]
            rank += 1
    return rank


@examples(40)
@given(linear_layouts(), linear_layouts(invertible=True))
def test_algebra_as_in_numpy(layout: LinearLayout, other: LinearLayout) -> None:
    array = _array(layout)
    assert layout.is_surjective == (_rank(array) == array.shape[0])
    assert layout.is_injective == (_rank(array) == array.shape[1])
    if layout.is_surjective:
        back = _array(layout.pseudo_inverse())
        assert (array @ back % 2 == np.eye(array.shape[0])).all()
    names = {f"dim{n}": bits for n, bits in enumerate(other.in_bits.values())}
    renamed = LinearLayout.of_matrix(other.matrix, names, other.out_bits)
    chained = other.inverse().compose(other)
    assert (_array(chained) == np.eye(sum(other.out_bits.values()))).all()
    back_first = renamed.inverse().compose(renamed)
    assert (_array(back_first) == _array(chained)).all()


@examples(40)
@given(linear_layouts())
def test_maps_say_the_same_as_bases(layout: LinearLayout) -> None:
    indexing_map = linear.to_map(layout)
    array = _array(layout)
    names = list(layout.in_dims)
    for dims, _, _, results in indexing_map.points():
        place = dict(zip(names, dims, strict=True))
        assert results == tuple(layout(**place).values())
        number = sum(
            value << first
            for value, first in zip(dims, np.cumsum([0, *layout.in_bits.values()]), strict=False)
        )
        image = array @ [number >> bit & 1 for bit in range(array.shape[1])] % 2
        whole = sum(int(bit) << k for k, bit in enumerate(image))
        assert results == (whole % layout.out_dims["dim0"], whole // layout.out_dims["dim0"])
    again = linear.from_map(indexing_map)
    assert again.bases == layout.bases


def test_sizes_and_bases_may_be_integers_of_numpy() -> None:
    one, four = np.int64(1), np.int64(4)
    lanes = LinearLayout.identity(four, "lane", "dim0")  # type: ignore[arg-type]
    assert lanes == LinearLayout({"lane": [(one,), (2,)]}, {"dim0": four})  # type: ignore[dict-item]
    assert lanes == LinearLayout({"lane": [(one,), (2,)]}, ["dim0"])  # type: ignore[dict-item]
    assert str(lanes) == str(LinearLayout.identity(4, "lane", "dim0"))


def test_products_put_layouts_side_by_side() -> None:
    a = linear.blocked((16, 16), (1, 4), (8, 4), (1, 1), (1, 0))
    parts = (
        ("register", 4, "dim1"),
        ("lane", 4, "dim1"),
        ("lane", 8, "dim0"),
        ("register", 2, "dim0"),
    )
    product = LinearLayout.empty()
    for name, size, out in parts:
        product *= LinearLayout.identity(size, name, out)
    assert product.with_out_dims(["dim0", "dim1"]).bases == {
        name: a.bases[name] for name in ("register", "lane")
    }


# Swizzles.


def test_cute_swizzles_are_linear() -> None:
    swizzled = cute.parse_composed("Sw<3,4,3> o 0 o (8,64):(64,1)")
    layout = linear.from_map(cute.to_map(swizzled), ["offset"])
    assert all(layout(d0=row, d1=16)["offset"] == swizzled(row, 16) for row in range(8))
    assert layout.is_invertible


SWIZZLES: Final = {
    "(d0) -> (bitxor(d0, (d0 floordiv 128) * 16)), domain: d0 in [0, 1023]": (
        "(d0) -> (bitxor(d0, (d0 floordiv 128) * 16)), domain: d0 in [0, 1023]"),
    "(d0, d1) -> (d0 * 8 + bitxor(d0, d1)), domain: d0 in [0, 7], d1 in [0, 7]": (
        "(d0) -> (d0 floordiv 8, bitxor(d0 floordiv 8, d0 mod 8)), domain: d0 in [0, 63]"),
    "(d0) -> (bitxor(d0, d0 floordiv 2)), domain: d0 in [0, 15]": (
        "(d0) -> (bitxor(d0, d0 floordiv 2, d0 floordiv 4, d0 floordiv 8)), domain: d0 in [0, 15]"),
}  # fmt: skip


@for_all(SWIZZLES.items())
def test_inverses_of_swizzles_are_readable(text: str, expected: str) -> None:
    swizzle = parse_map(text)
    inverse = swizzle.inverse()
    assert inverse == parse_map(expected)
    assert all(inverse.evaluate(results) == dims for dims, _, _, results in swizzle.points())


@for_all(
    [
        "(d0) -> (bitxor(d0, (d0 floordiv 128) * 16)), domain: d0 in [0, 1023]",
        "(d0) -> (bitxor(d0, ((d0 floordiv 128) mod 8) * 16)), domain: d0 in [0, 8191]",
        "(d0, d1) -> (d0, bitxor(d0, d1)), domain: d0 in [0, 7], d1 in [0, 7]",
        "(d0, d1) -> (d0, bitxor((d0 mod 8) * 4, d1)), domain: d0 in [0, 63], d1 in [0, 63]",
    ]
)
def test_a_swizzle_after_itself_is_the_identity(text: str) -> None:
    swizzle = parse_map(text)
    variables = ", ".join(variable.name for variable in swizzle.dims)
    assert str((swizzle @ swizzle).simplify()).startswith(f"({variables}) -> ({variables}),")


# What moves.

LAYOUTS: Final = {
    "rows": linear.blocked((32, 32), (1, 4), (4, 8), (2, 1), (1, 0)),
    "columns": linear.blocked((32, 32), (4, 1), (8, 4), (1, 2), (0, 1)),
    "pairs": linear.blocked((32, 32), (1, 2), (2, 16), (2, 1), (1, 0)),
    "eights": linear.blocked((32, 32), (1, 8), (8, 4), (2, 1), (1, 0)),
    "by fours": linear.blocked((16, 16), (1, 4), (8, 4), (2, 1), (1, 0)),
    "mma": linear.nvidia_mma((16, 16), 2, (1, 1), (16, 8)),
}


@for_all([("rows", "rows", "nothing"), ("rows", "columns", "warp"), ("eights", "rows", "warp")])
def test_what_moves(source: str, destination: str, moves: str) -> None:
    found = linear.conversion(LAYOUTS[source], LAYOUTS[destination])
    assert found.moves == moves
    assert found.places.compose(LAYOUTS[destination]) == LAYOUTS[source]


@pytest.mark.parametrize("max_phase", [1, 2, 4, 8])
@pytest.mark.parametrize("element_bytes", [2, 4])
def test_bank_conflicts_are_those_that_counting_finds(max_phase: int, element_bytes: int) -> None:
    shared = linear.swizzled_shared((64, 64), vec=8, per_phase=1, max_phase=max_phase)
    for order in ((1, 0), (0, 1)):
        layout = linear.blocked((64, 64), (1, 8), (16, 2), (2, 2), order)
        found = linear.shared_access(layout, shared, element_bytes)
        back = shared.inverse() if shared.is_invertible else shared.pseudo_inverse()
        offsets = [back(**layout(lane=lane))["offset"] for lane in range(32)]
        starts = [offset // found.vector_width * found.vector_width for offset in offsets]
        at_once = found.vector_width * element_bytes
        assert found.wavefronts == wavefronts([start * element_bytes for start in starts], at_once)


# Errors.

BAD_TEXTS: Final = """
- lane=3 -> (0, 1)
       ^ expected lane=1, the next power of two
- lane=1 -> (0, x)
                ^ expected an integer, but found 'x'
- lane=1 -> (1) - lane=1 -> (2)
                  ^^^^ lane is there twice
- lane is a size 2 dimension
                 ^ expected '1' of 'is a size 1 dimension', but found '2'
"""


def test_bad_texts() -> None:
    check_drawing(BAD_TEXTS, linear.parse)


ROWS: Final = LAYOUTS["rows"]
CALLS: Final[list[tuple[str, Callable[[], object], type[IndexingError], str]]] = [
    ("a size", lambda: LinearLayout({}, {"dim0": 6}), ShapeError, "is 6; expected a power of two"),
    ("a basis", lambda: LinearLayout({"lane": [(1, 2)]}, ["dim0"]), ShapeError,
     "an index for each of dim0"),
    ("outside", lambda: LinearLayout({"lane": [(4,)]}, {"dim0": 4}), ShapeError, "has size 4"),
    ("negative", lambda: LinearLayout({"lane": [(-1,)]}, ["dim0"]), ShapeError, "is negative"),
    ("no integer", lambda: LinearLayout({"lane": [(0.5,)]}, ["dim0"]), ArgumentError, "0.5"),  # type: ignore[list-item]
    ("a place", lambda: ROWS(lane=32), ShapeError, "expected 0 to 31"),
    ("a dimension", lambda: ROWS(thread=1), ShapeError, "expected one of register, lane"),
    ("no inverse", lambda: linear.blocked((8,), (1,), (32,), (1,), (0,)).inverse(), ShapeError,
     "pseudo_inverse picks one"),
    ("no elements", lambda: LinearLayout({"lane": [(1,)]}, {"dim0": 4}).pseudo_inverse(),
     ShapeError, "at no place"),
    ("composition", lambda: ROWS.compose(ROWS), ShapeError, "expected dim0 of size 32"),
    ("other elements", lambda: linear.conversion(ROWS, LAYOUTS["mma"]), ShapeError,
     "expected the same out-dimensions"),
    ("an order", lambda: linear.blocked((8, 8), (1, 1), (8, 4), (1, 1), (0, 0)), ShapeError,
     "expected the dimensions 0 to 1 in some order"),
    ("a version", lambda: linear.nvidia_mma((32, 32), 5, (1, 1), (16, 8)), ShapeError,
     "expected 2 or 3"),
    ("an instruction", lambda: linear.amd_mfma((8, 8), (1, 1), (4, 4)), ShapeError, "(32, 32) or"),
    ("no instruction", lambda: linear.nvidia_mma((16, 16), 3, (1, 1), ()), ShapeError,
     "expected M and N"),
    ("a width", lambda: linear.dot_operand((16, 16), 0, (1, 1), 3), ShapeError,
     "k_width is 3; expected a power of two"),
    ("a slice", lambda: linear.slice_of(ROWS, "a"), ArgumentError, "expected an integer"),  # type: ignore[arg-type]
    (
        "blocks",
        lambda: linear.blocked((4,), (1,), (1,), (1,), (0,), blocks=3),  # type: ignore[arg-type]
        ArgumentError,
        "expected a BlockSplit",
    ),
    ("an operand", lambda: linear.amd_dot_operand((64, 64), 2, (1, 1), (32, 32), 4), ShapeError,
     "expected 0 or 1"),
    ("tiles", lambda: linear.amd_mfma((64, 64), (1, 1), (32, 32), tiles_per_warp=(2,)), ShapeError,
     "expected 2 numbers"),
    ("rows", lambda: linear.nvmma_shared((4, 64), swizzle_bytes=128, element_bits=16), ShapeError,
     "8 rows or more of 64 elements"),
    ("a copy of one dimension",
     lambda: linear.nvmma_shared((64,), swizzle_bytes=32, element_bits=16), ShapeError,
     "expected a matrix"),
    ("shared memory",
     lambda: linear.conversion(
         ROWS, linear.swizzled_shared((32, 32), vec=1, per_phase=1, max_phase=1)), ShapeError,
     "shared_access is for shared memory"),
    ("bytes", lambda: linear.shared_access(ROWS, ROWS, 3), ShapeError, "1, 2, 4, 8 or 16"),
    ("not linear", lambda: linear.from_map(parse_map("(d0) -> (d0 * 3), domain: d0 in [0, 7]")),
     MapError, "is not linear in the bits"),
    ("not a box", lambda: linear.from_map(parse_map("(d0) -> (d0), domain: d0 in [0, 6]")),
     MapError, "a power of two less 1"),
]  # fmt: skip


@for_rows(CALLS)
def test_errors(call: Callable[[], object], kind: type[IndexingError], message: str) -> None:
    with pytest.raises(kind, match=re.escape(message)):
        call()
