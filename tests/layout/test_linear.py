"""Linear layouts: what Triton's tests expect, a model of GF(2) in NumPy, maps and conversions."""

from __future__ import annotations

import re
from itertools import combinations, product
from math import prod
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing import MapError, parse_map
from indexing.layout import ShapeError, cute, linear
from indexing.layout.linear import BlockSplit, LinearLayout
from simplifier.errors import ArgumentError, TextError
from tests.carets import check_drawing
from tests.cases import for_all, for_rows, rows
from tests.extent import examples
from tests.indexing.tables import errors_in, refusals
from tests.layout.model import wavefronts

# The cases of unittest/Dialect/TritonGPU/LinearLayoutConversionsTest.cpp in triton-lang/triton, by
# their names there: the call, and its bases: the indices along the dimensions.

NAMES: Final[dict[str, Any]] = {
    **{name: getattr(linear, name) for name in dir(linear)},
    "parse_map": parse_map, "FOUR": BlockSplit((4,), (2,), (0,)),
    "TWO": BlockSplit((2,), (2,), (0,)), "ALL": BlockSplit((4,), (4,), (0,)),
    "COLUMNS": BlockSplit((1, 2), (1, 2), (1, 0)), "QUARTERS": BlockSplit((2, 2), (2, 2), (1, 0)),
    "TALL": BlockSplit((2, 2), (2, 1), (1, 0)),
    "CLUSTER": BlockSplit((4, 2, 2), (4, 2, 1), (2, 1, 0)),
}  # fmt: skip

TRITON: Final = rows("""
SimpleBlocked => blocked((16,), (1,), (4,), (4,), (0,)) => register; lane 1 2; warp 4 8
CTADuplication => blocked((32,), (1,), (4,), (4,), (0,), FOUR)
    register; lane 1 2; warp 4 8; block 16 0
CTABroadcast => blocked((64, 128), (8, 1), (8, 4), (1, 4), (0, 1), COLUMNS)
    register 1,0 2,0 4,0 0,16 0,32; lane 8,0 16,0 32,0 0,1 0,2; warp 0,4 0,8; block 0,64
ShapeLargerThanLayout => blocked((128,), (1,), (4,), (4,), (0,))
    register 16 32 64; lane 1 2; warp 4 8
ShapeSmallerThanLayout => blocked((8,), (4,), (4,), (4,), (0,)) => register 1 2; lane 4 0; warp 0 0
ReversedOrder => blocked((1, 64), (1, 1), (32, 1), (1, 8), (0, 1))
    register 0,8 0,16 0,32; lane 0,0 0,0 0,0 0,0 0,0; warp 0,1 0,2 0,4
OneDimTooLargeAnotherTooSmall => blocked((128, 16), (1, 4), (8, 4), (4, 1), (1, 0), TALL)
    register 0,1 0,2 32,0; lane 0,4 0,8 1,0 2,0 4,0; warp 8,0 16,0; block 0,0 64,0
RepeatInCTGDimFirst => blocked((4,), (1,), (1,), (4,), (0,), TWO)
    register; lane; warp 1 0; block 2
SmallerThanCTALayout => blocked((2,), (1,), (1,), (1,), (0,), ALL)
    register; lane; warp; block 1 0
BlockedOrder => blocked((1024, 128), (2, 2), (4, 8), (2, 2), (1, 0), QUARTERS)
    register 0,1 1,0 0,32 16,0 32,0 64,0 128,0 256,0; lane 0,2 0,4 0,8 2,0 4,0; warp 0,16 8,0; block
        0,64 512,0
MMAv2_32x32 => nvidia_mma((32, 32), 2, (1, 1), (16, 8))
    register 0,1 8,0 0,8 0,16 16,0; lane 0,2 0,4 1,0 2,0 4,0; warp
MMAv2_ExtendDim2 => nvidia_mma((16, 128), 2, (1, 1), (16, 8))
    register 0,1 8,0 0,8 0,16 0,32 0,64; lane 0,2 0,4 1,0 2,0 4,0; warp
MMAv2_Cga => nvidia_mma((64, 128, 128), 2, (16, 1, 1), (1, 16, 8), CLUSTER)
    register 0,0,1 0,8,0 0,0,8 0,0,16 0,0,32 0,0,64 0,16,0 0,32,0; lane 0,0,2 0,0,4 0,1,0 0,2,0
        0,4,0; warp 1,0,0 2,0,0 4,0,0 8,0,0; block 0,0,0 0,64,0 16,0,0 32,0,0
MMAv3_64x16 => nvidia_mma((64, 16), 3, (4, 1), (16, 16, 8))
    register 0,1 8,0 0,8; lane 0,2 0,4 1,0 2,0 4,0; warp 16,0 32,0
MMAv3_128x16 => nvidia_mma((128, 16), 3, (4, 1), (16, 16, 8))
    register 0,1 8,0 0,8 64,0; lane 0,2 0,4 1,0 2,0 4,0; warp 16,0 32,0
MMAv3_4x2Warps => nvidia_mma((256, 64), 3, (4, 2), (16, 32, 16))
    register 0,1 8,0 0,8 0,16 64,0 128,0; lane 0,2 0,4 1,0 2,0 4,0; warp 16,0 32,0 0,32
MMAv3_4x4Warps => nvidia_mma((32, 32), 3, (4, 4), (16, 16, 8))
    register 0,1 8,0 0,8; lane 0,2 0,4 1,0 2,0 4,0; warp 16,0 0,0 0,16 0,0
MFMA32_2x4Warps => amd_mfma((128, 128), (2, 4), (32, 32))
    register 1,0 2,0 8,0 16,0 64,0; lane 0,1 0,2 0,4 0,8 0,16 4,0; warp 0,32 0,64 32,0
MFMA16_2x4Warps => amd_mfma((16, 16), (2, 4), (16, 16))
    register 1,0 2,0; lane 0,1 0,2 0,4 0,8 4,0 8,0; warp 0,0 0,0 0,0
MFMA32_2x4x1Warps => amd_mfma((1, 128, 128), (2, 4, 1), (32, 32), is_transposed=True)
    register 0,0,1 0,0,2 0,0,8 0,0,16 0,0,32 0,0,64; lane 0,1,0 0,2,0 0,4,0 0,8,0 0,16,0 0,0,4; warp
        0,32,0 0,64,0 0,0,0
SliceOfBlocked => slice_of(blocked((1, 128), (2, 4), (4, 2), (2, 2), (1, 0), QUARTERS), 0)
    register 1 2 16 32; lane 4 0 0; warp 8 0; block 64 0
SliceOfBlocked, columns => slice_of(blocked((128, 1), (2, 4), (4, 2), (2, 2), (1, 0), QUARTERS), 1)
    register 1 16 32; lane 0 2 4; warp 0 8; block 0 64
SliceOfMmaV2 => slice_of(nvidia_mma((128, 64), 2, (2, 2), (16, 8)), 1)
    register 8 32 64; lane 0 0 1 2 4; warp 0 16
SharedSimple1D => swizzled_shared((16,), vec=1, per_phase=1, max_phase=1) => offset 1 2 4 8
SharedSwizzled2D_MaxPhaseOnly => swizzled_shared((32, 32), vec=1, per_phase=1, max_phase=4)
    offset 0,1 0,2 0,4 0,8 0,16 1,1 2,2 4,0 8,0 16,0
SharedSwizzled2D_PerPhaseMaxPhaseVec => swizzled_shared((32, 32), vec=2, per_phase=2, max_phase=4)
    offset 0,1 0,2 0,4 0,8 0,16 1,0 2,2 4,4 8,0 16,0
SharedSwizzled4D => swizzled_shared((2, 4, 32, 32), vec=2, per_phase=2, max_phase=4)
    offset 0,0,0,1 0,0,0,2 0,0,0,4 0,0,0,8 0,0,0,16 0,0,1,0 0,0,2,2 0,0,4,4 0,0,8,0 0,0,16,0 0,1,0,0
        0,2,0,0 1,0,0,0
SharedSwizzled2D_Order01 => swizzled_shared((4, 8), vec=1, per_phase=1, max_phase=4, order=(0, 1))
    offset 1,0 2,0 1,1 2,2 0,4
LeadingOffset_128x16_4_2 => nvmma_shared((128, 16), swizzle_bytes=32, element_bits=16)
    offset 0,1 0,2 0,4 0,8 1,0 2,0 4,8 8,0 16,0 32,0 64,0
LeadingOffset_8x32_2_4 => nvmma_shared((8, 32), swizzle_bytes=64, element_bits=16)
    offset 0,1 0,2 0,4 0,8 0,16 1,0 2,8 4,16
LeadingOffset_8x64_1_8 => nvmma_shared((8, 64), swizzle_bytes=128, element_bits=16)
    offset 0,1 0,2 0,4 0,8 0,16 0,32 1,8 2,16 4,32
LeadingOffset_8x64_1_8_32b => nvmma_shared((8, 64), swizzle_bytes=128, element_bits=32)
    offset 0,1 0,2 0,4 0,8 0,16 1,4 2,8 4,16 0,32
LeadingOffset_128x128_1_8_128b_transposed => nvmma_shared((128, 128), swizzle_bytes=128,
        element_bits=32, is_transposed=True)
    offset 1,0 2,0 4,0 8,0 16,0 4,1 8,2 16,4 0,8 0,16 0,32 0,64 32,0 64,0
LeadingOffset_32x4x64_1_8_32b => nvmma_shared((32, 4, 64), swizzle_bytes=64, element_bits=32)
    offset 0,0,1 0,0,2 0,0,4 0,0,8 0,1,0 0,2,4 1,0,8 2,0,0 4,0,0 8,0,0 16,0,0 0,0,16 0,0,32
LeadingOffset_64x4x32_1_8_32b_transposed => nvmma_shared((64, 4, 32), swizzle_bytes=64,
        element_bits=32, is_transposed=True)
    offset 1,0,0 2,0,0 4,0,0 8,0,0 0,0,4 4,0,8 8,0,16 0,1,0 0,2,0 0,0,1 0,0,2 16,0,0 32,0,0
MFMA32_2x4Warps, transposed => amd_mfma((128, 128), (2, 4), (32, 32, 8), is_transposed=True)
    register 0,1 0,2 0,8 0,16 64,0; lane 1,0 2,0 4,0 8,0 16,0 0,4; warp 0,32 0,64 32,0
MFMA32_2x4Warps, transposed, two tiles each way => amd_mfma((128, 128), (2, 4), (32, 32, 8),
        is_transposed=True, tiles_per_warp=(2, 2))
    register 0,1 0,2 0,8 0,16 0,32 32,0; lane 1,0 2,0 4,0 8,0 16,0 0,4; warp 0,64 0,0 64,0
MFMA32_2x4x1Warps, batch => amd_mfma((2, 64, 32), (2, 4, 1), (32, 32))
    register 0,1,0 0,2,0 0,8,0 0,16,0; lane 0,0,1 0,0,2 0,0,4 0,0,8 0,0,16 0,4,0; warp 0,32,0 0,0,0
        1,0,0
warp1onK_mfma32_rhs_kwidth8 => amd_dot_operand((256, 256), 1, (1, 4), (32, 32), 8)
    register 1,0 2,0 4,0 16,0 32,0 64,0 128,0 0,128; lane 0,1 0,2 0,4 0,8 0,16 8,0; warp 0,32 0,64
warp1onK_mfma16_rhs_kwidth8, one row => amd_dot_operand((1, 128), 1, (1, 4), (16, 16), 8)
    register 0,0 0,0 0,0 0,64; lane 0,1 0,2 0,4 0,8 0,0 0,0; warp 0,16 0,32
warp1onK_mfma16_rhs_kwidth8, batch => amd_dot_operand((1, 256, 256), 1, (1, 1, 8), (16, 16), 8)
    register 0,1,0 0,2,0 0,4,0 0,32,0 0,64,0 0,128,0 0,0,128; lane 0,0,1 0,0,2 0,0,4 0,0,8 0,8,0
        0,16,0; warp 0,0,16 0,0,32 0,0,64
SliceOfMmaV2, copies in registers => slice_of(nvidia_mma((8, 1), 2, (2, 2), (16, 8)), 1)
    register; lane 0 0 1 2 4; warp 0 0
WMMA_v1_2x4Warps => amd_wmma((128, 128), 1, (2, 4))
    register 2,0 4,0 8,0 0,64 32,0 64,0; lane 0,1 0,2 0,4 0,8 1,0; warp 0,16 0,32 16,0
WMMA_v1_2x4Warps, one instance => amd_wmma((16, 16), 1, (2, 4))
    register 2,0 4,0 8,0; lane 0,1 0,2 0,4 0,8 1,0; warp 0,0 0,0 0,0
WMMA_v1_2x4x1Warps => amd_wmma((8, 16, 16), 1, (2, 4, 1))
    register 0,2,0 0,4,0 0,8,0 2,0,0 4,0,0; lane 0,0,1 0,0,2 0,0,4 0,0,8 0,1,0; warp 0,0,0 0,0,0
        1,0,0
WMMA_v1_2x4Warps_lhs => wmma_dot_operand((64, 128), 0, 1, (2, 4), 16)
    register 0,1 0,2 0,4 0,8 0,16 0,32 0,64 32,0; lane 1,0 2,0 4,0 8,0 0,0; warp 0,0 0,0 16,0
WMMA_v1_2x4x1Warps_rhs => wmma_dot_operand((4, 128, 32), 1, 1, (2, 4, 1), 16)
    register 0,1,0 0,2,0 0,4,0 0,8,0 0,16,0 0,32,0 0,64,0 0,0,16 2,0,0; lane 0,0,1 0,0,2 0,0,4 0,0,8
        0,0,0; warp 0,0,0 0,0,0 1,0,0
WMMA_v2_2x4Warps => amd_wmma((64, 128), 2, (2, 4))
    register 1,0 2,0 4,0 0,64 32,0; lane 0,1 0,2 0,4 0,8 8,0; warp 0,16 0,32 16,0
TWMMA_v2_2x2x2Warps => amd_wmma((4, 64, 64), 2, (2, 2, 2), is_transposed=True)
    register 0,0,1 0,0,2 0,0,4 0,0,32 0,32,0 2,0,0; lane 0,1,0 0,2,0 0,4,0 0,8,0 0,0,8; warp 0,0,16
        0,16,0 1,0,0
WMMA_v2_2x4Warps_lhs => wmma_dot_operand((16, 16), 0, 2, (2, 4), 8)
    register 0,1 0,2 0,4; lane 1,0 2,0 4,0 8,0 0,8; warp 0,0 0,0 0,0
TensorMemory_blockM_64 => tensor_memory((128, 64), 64, 64)
    row 1,0 2,0 4,0 8,0 64,0 16,0 32,0; col 0,1 0,2 0,4 0,8 0,16 0,32
TensorMemory_blockM_64, one block => tensor_memory((64, 64), 64, 64)
    row 1,0 2,0 4,0 8,0 0,0 16,0 32,0; col 0,1 0,2 0,4 0,8 0,16 0,32
TensorMemory_blockM_64, broadcasts => tensor_memory((256, 128), 64, 64)
    row 1,0 2,0 4,0 8,0 64,0 16,0 32,0; col 0,1 0,2 0,4 0,8 0,16 0,32 128,0 0,64
TensorMemory_blockM_64, columns => tensor_memory((64, 256), 64, 64)
    row 1,0 2,0 4,0 8,0 0,64 16,0 32,0; col 0,1 0,2 0,4 0,8 0,16 0,32 0,128
TensorMemory_blockM_128 => tensor_memory((256, 256), 128, 128)
    row 1,0 2,0 4,0 8,0 16,0 32,0 64,0; col 0,1 0,2 0,4 0,8 0,16 0,32 0,64 128,0 0,128
SharedSwizzled2D, one column => swizzled_shared((64, 1), vec=2, per_phase=2, max_phase=4)
    offset 1,0 2,0 4,0 8,0 16,0 32,0
""")


def made(call: str) -> LinearLayout:
    return eval(call, NAMES)  # noqa: S307 - of the tables here


def _bases(text: str) -> dict[str, tuple[tuple[int, ...], ...]]:
    """Where nothing is said of blocks, there is one."""
    rows = (row.split() for row in (text if "block" in text else f"{text}; block").split(";"))
    return {name: tuple(tuple(map(int, v.split(","))) for v in more) for name, *more in rows}


@for_rows(TRITON)
def test_encodings_as_triton(call: str, expected: str) -> None:
    layout = made(call)
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


ENCODINGS: Final = rows("""
blocked((64, 64), (2, 4), (4, 2), (2, 2), (1, 0))
    #ttg.blocked<{sizePerThread = [2, 4], threadsPerWarp = [4, 2], warpsPerCTA = [2, 2],
        order = [1, 0]}>
slice_of(blocked((64, 1, 64), (2, 1, 4), (4, 1, 2), (2, 1, 2), (2, 1, 0)), 1)
    #ttg.slice<{dim = 1, parent = #ttg.blocked<{sizePerThread = [2, 1, 4],
        threadsPerWarp = [4, 1, 2], warpsPerCTA = [2, 1, 2], order = [2, 1, 0]}>}>
nvidia_mma((64, 64), 2, (2, 2), (16, 8))
    #ttg.nvidia_mma<{versionMajor = 2, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
nvidia_mma((64, 64), 2, (2, 2), (16, 8))
    #triton_gpu.mma<{versionMajor = 2, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
dot_operand((64, 64), 1, (2, 2), 2)
    #ttg.dot_op<{opIdx = 1, parent = #ttg.nvidia_mma<{versionMajor = 2, warpsPerCTA = [2, 2],
        instrShape = [16, 8]}>, kWidth = 2}>
swizzled_shared((64, 64), vec=8, per_phase=1, max_phase=8)
    #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
# encoding-old-name
swizzled_shared((64, 64), vec=4, per_phase=2, max_phase=4)
    #triton_gpu.shared<{vec = 4, perPhase = 2, maxPhase = 4, order = [1,0]}>
# encoding-old-field
swizzled_shared((64, 64), vec=4, per_phase=2, max_phase=1)
    #triton_gpu.shared<{vec = 4, maxPhase = 1, perPhase = 2, order = [1, 0],
        hasLeadingOffset = false}>
amd_mfma((64, 64), (2, 2), (32, 32), is_transposed=True)
    #ttg.amd_mfma<{warpsPerCTA = [2, 2], instrShape = [32, 32], isTransposed = true}>
amd_mfma((64, 64), (2, 2), (32, 32), is_transposed=True, tiles_per_warp=(2, 1))
    #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = true,
        tilesPerWarp = [2, 1]}>
amd_dot_operand((64, 64), 0, (2, 2), (16, 16), 4)
    #ttg.dot_op<{opIdx = 0, parent = #ttg.amd_mfma<{warpsPerCTA = [2, 2], instrShape = [16, 16],
        isTransposed = false}>, kWidth = 4}>
amd_wmma((64, 64), 2, (2, 2), is_transposed=True)
    #triton_gpu.amd_wmma<{version = 2, isTranspose = true, warpsPerCTA = [2, 2]}>
amd_wmma((64, 64), 1, (4, 1))
    #triton_gpu.wmma<{version = 1, warpsPerCTA = [4, 1]}>
wmma_dot_operand((64, 64), 1, 2, (2, 2), 8)
    #ttg.dot_op<{opIdx = 1, parent = #ttg.amd_wmma<{version = 2, warpsPerCTA = [2, 2]}>,
        kWidth = 8}>
tensor_memory((64, 64), 64, 32)
    #ttng.tensor_memory_encoding<blockM = 64, blockN = 32, colStride = 1>
tensor_memory((64, 64), 64, 32)
    #triton_nvidia_gpu.tensor_memory_encoding<blockM = 64, blockN = 32>
nvmma_shared((64, 64), swizzle_bytes=64, element_bits=16, is_transposed=True)
    #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 16}>
LinearLayout({"register": [(0, 1)], "lane": [(1, 0)], "warp": [], "block": []},
        {"dim0": 64, "dim1": 64})
    #ttg.linear<{register = [[0, 1]], lane = [[1, 0]], warp = [], block = []}>
""")


@for_all(ENCODINGS)
def test_texts_of_encodings(call: str, text: str) -> None:
    assert linear.parse_encoding(text, (64, 64)) == made(call)


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
#ttng.tensor_memory_encoding<blockM = 64, blockN = 32, colStride = 2>
      ^^^^^^^^^^^^^^^^^^^^^^ tensor_memory: block_m 64, stride 2, rank 2; expected 64 or 128, 1, 2
#ttg.amd_wmma<{version = 3, warpsPerCTA = [1, 1]}>
     ^^^^^^^^ amd_wmma: version 3 for rank 2; expected 1 or 2, and rank 2 or 3
#ttg.amd_wmma<{version = 2, ctaLayout = {warp = [[0, 1]]}}>
                            ^^^^^^^^^ expected a field of amd_wmma, but found 'ctaLayout'
#mma
 ^^^ expected ttg or the name of a definition, but found 'mma'
"""


@for_all([
    ("#A = #ttg.slice<{dim = 0, parent = #B}>", "1:37: expected ttg or the name"),
    ("#A = #ttg.slice<{dim = 0, parent = #A}>", "1:36: encodings are nested deeper than 8"),
    ("#A = #ttg.linear<{}>\n#A = #ttg.linear<{}>", "2:2: A is defined twice"),
    ("#A = #ttg.slice<{dim = 0}>", "1:11: slice lacks parent"),
    ("#A = #ttg.shared_memory", "1:11: expected an encoding"),
])  # fmt: skip
def test_bad_definitions(definitions: str, expected: str) -> None:
    """The caret stands in the definitions."""
    with pytest.raises(TextError, match=re.escape(expected)):
        linear.parse_encoding("#A", (64, 64), definitions)


def test_definitions_stand_among_the_other_lines_of_a_module() -> None:
    call, blocked = ENCODINGS[0]
    module = f"""
    // #A = #ttg.blocked<{{}}>
    #map = affine_map<(d0) -> (d0)>
    #smem = #ttg.shared_memory
    #A = {blocked}
    #rows = #ttg.slice<{{dim = 1, parent = #A}}>
    module attributes {{"ttg.num-warps" = 4 : i32}} {{ tt.func @f(%a: tensor<64x64xf32, #A>) }}
    """
    assert linear.parse_encoding("#A", (64, 64), module) == made(call)
    parent = linear.blocked((64, 1), (2, 4), (4, 2), (2, 2), (1, 0))
    for text in ("#rows", "#ttg.slice<{dim = 1, parent = #A}>"):
        assert linear.parse_encoding(text, (64,), module) == linear.slice_of(parent, 1)


def test_bad_texts() -> None:
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
    names = dict(zip(["register", "lane", "warp"], in_bits, strict=False))
    return LinearLayout.of_matrix(matrix, names, outs)


def _made_invertible(numbers: list[int]) -> list[int]:
    """The product of a lower and an upper triangular matrix with ones on both diagonals."""
    places = range(len(numbers))
    bits = np.reshape([n >> k & 1 for n in numbers for k in places], 2 * (len(places),))
    ones = np.eye(len(places), dtype=int)
    product = (np.tril(bits, -1) + ones) @ (np.triu(bits, 1) + ones) % 2
    return [sum(int(bit) << k for k, bit in enumerate(row)) for row in product]


def _array(layout: LinearLayout) -> np.ndarray:
    """The matrix as zeros and ones: a column for each bit of a place."""
    size = sum(layout.out_bits.values())
    bits = [[column >> bit & 1 for column in layout.matrix] for bit in range(size)]
    return np.array(bits, dtype=int).reshape(size, len(layout.matrix))


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
    sides = (LinearLayout.identity(size, name, out) for name, size, out in parts)
    joined = prod(sides, start=LinearLayout.empty()).with_out_dims(["dim0", "dim1"])
    assert joined.bases == {name: a.bases[name] for name in ("register", "lane")}


def test_cute_swizzles_are_linear() -> None:
    swizzled = cute.parse_composed("Sw<3,4,3> o 0 o (8,64):(64,1)")
    layout = linear.from_map(cute.to_map(swizzled), ["offset"])
    assert all(layout(d0=row, d1=16)["offset"] == swizzled(row, 16) for row in range(8))
    assert layout.is_invertible


@for_all(
    rows("""
(d0) -> (bitxor(d0, (d0 floordiv 128) * 16)), domain: d0 in [0, 1023]
    (d0) -> (bitxor(d0, (d0 floordiv 128) * 16)), domain: d0 in [0, 1023]
(d0, d1) -> (d0 * 8 + bitxor(d0, d1)), domain: d0 in [0, 7], d1 in [0, 7]
    (d0) -> (d0 floordiv 8, bitxor(d0 floordiv 8, d0 mod 8)), domain: d0 in [0, 63]
(d0) -> (bitxor(d0, d0 floordiv 2)), domain: d0 in [0, 15]
    (d0) -> (bitxor(d0, d0 floordiv 2, d0 floordiv 4, d0 floordiv 8)), domain: d0 in [0, 15]
""")
)
def test_inverses_of_swizzles_are_readable(text: str, expected: str) -> None:
    swizzle = parse_map(text)
    inverse = swizzle.inverse()
    assert inverse == parse_map(expected)
    assert all(inverse.evaluate(results) == dims for dims, _, _, results in swizzle.points())


@for_all([
    "(d0) -> (bitxor(d0, (d0 floordiv 128) * 16)), domain: d0 in [0, 1023]",
    "(d0) -> (bitxor(d0, ((d0 floordiv 128) mod 8) * 16)), domain: d0 in [0, 8191]",
    "(d0, d1) -> (d0, bitxor(d0, d1)), domain: d0 in [0, 7], d1 in [0, 7]",
    "(d0, d1) -> (d0, bitxor((d0 mod 8) * 4, d1)), domain: d0 in [0, 63], d1 in [0, 63]",
])  # fmt: skip
def test_a_swizzle_after_itself_is_the_identity(text: str) -> None:
    swizzle = parse_map(text)
    variables = ", ".join(variable.name for variable in swizzle.dims)
    assert str((swizzle @ swizzle).simplify()).startswith(f"({variables}) -> ({variables}),")


@for_all(product([1, 2, 4, 8], [2, 4]))
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


test_bad_texts_of_layouts = errors_in(linear.parse)("""
- lane=«3» -> (0, 1) => expected lane=1, the next power of two
- lane=1 -> (0, «x») => expected an integer, but found 'x'
- lane=1 -> (1) - «lane»=1 -> (2) => lane is there twice
- lane is a size «2» dimension => expected '1' of 'is a size 1 dimension', but found '2'
""")


NAMES["ROWS"] = linear.blocked((32, 32), (1, 4), (4, 8), (2, 1), (1, 0))
NAMES["MMA"] = linear.nvidia_mma((16, 16), 2, (1, 1), (16, 8))
NAMES["SHARED"] = linear.swizzled_shared((32, 32), vec=1, per_phase=1, max_phase=1)

test_shapes_that_do_not_fit = refusals(NAMES, ShapeError)("""
LinearLayout({}, {"dim0": 6}) => is 6; expected a power of two
LinearLayout({"lane": [(1, 2)]}, ["dim0"]) => an index for each of dim0
LinearLayout({"lane": [(4,)]}, {"dim0": 4}) => has size 4
LinearLayout({"lane": [(-1,)]}, ["dim0"]) => is negative
ROWS(lane=32) => expected 0 to 31
ROWS(thread=1) => expected one of register, lane
blocked((8,), (1,), (32,), (1,), (0,)).inverse() => pseudo_inverse picks one
LinearLayout({"lane": [(1,)]}, {"dim0": 4}).pseudo_inverse() => at no place
ROWS.compose(ROWS) => expected dim0 of size 32
conversion(ROWS, MMA) => expected the same out-dimensions
blocked((8, 8), (1, 1), (8, 4), (1, 1), (0, 0)) => expected the dimensions 0 to 1 in some order
nvidia_mma((32, 32), 5, (1, 1), (16, 8)) => expected 2 or 3
amd_mfma((8, 8), (1, 1), (4, 4)) => (32, 32) or
nvidia_mma((16, 16), 3, (1, 1), ()) => expected M and N
dot_operand((16, 16), 0, (1, 1), 3) => k_width is 3; expected a power of two
amd_dot_operand((64, 64), 2, (1, 1), (32, 32), 4) => expected 0 or 1
amd_mfma((64, 64), (1, 1), (32, 32), tiles_per_warp=(2,)) => expected 2 numbers
nvmma_shared((4, 64), swizzle_bytes=128, element_bits=16) => 8 rows or more of 64 elements
nvmma_shared((64,), swizzle_bytes=32, element_bits=16) => expected a matrix
conversion(ROWS, SHARED) => shared_access is for shared memory
shared_access(ROWS, ROWS, 3) => 1, 2, 4, 8 or 16
picture(blocked((8,), (1,), (8,), (1,), (0,))) => expected two or more
""")
test_other_arguments = refusals(NAMES, ArgumentError, MapError)("""
LinearLayout({"lane": [(0.5,)]}, ["dim0"]) => 0.5
slice_of(ROWS, "a") => expected an integer
blocked((4,), (1,), (1,), (1,), (0,), blocks=3) => expected a BlockSplit
from_map(parse_map("(d0) -> (d0 * 3), domain: d0 in [0, 7]")) => is not linear in the bits
from_map(parse_map("(d0) -> (d0), domain: d0 in [0, 6]")) => a power of two less 1
""")


# The best layout of a buffer in shared memory.

ROWS, COLUMNS = (
    "blocked((32, 32), (1, 1), (1, 32), (1, 1), (1, 0))",
    ("blocked((32, 32), (1, 1), (32, 1), (1, 1), (0, 1))"),
)
BUFFERS: Final = {
    "a transpose": ([ROWS, COLUMNS], 4, [1, 1], 64),
    "an operand": (
        ["blocked((64, 64), (1, 8), (8, 4), (4, 1), (1, 0))",
         "dot_operand((64, 64), 0, (4, 1), 2)"],
        2, [4, 4], 32),
    "vectors along both": (
        ["blocked((64, 64), (1, 4), (8, 4), (1, 1), (1, 0))",
         "blocked((64, 64), (8, 1), (8, 4), (1, 1), (0, 1))"], 4, [4, 4], 256),
    "a result": (
        ["nvidia_mma((64, 64), 2, (2, 2), (16, 8))",
         "blocked((64, 64), (1, 4), (8, 4), (2, 2), (1, 0))"], 4, [4, 4], 64),
    "three": ([ROWS, COLUMNS, "nvidia_mma((32, 32), 2, (1, 1), (16, 8))"], 4, [1, 1, 1], 96),
}  # fmt: skip
"""Accesses, the bytes of an element, how many are read at once, and the wavefronts."""


@for_all(BUFFERS)
def test_buffers_without_bank_conflicts(
    calls: list[str], element_bytes: int, widths: list[int], least: int
) -> None:
    accesses = [*map(made, calls)]
    found = linear.best_shared(accesses, element_bytes)
    assert found.layout.is_invertible
    assert [each.bank_conflicts for each in found.accesses] == [0] * len(accesses)
    assert [each.vector_width for each in found.accesses] == widths
    assert (found.wavefronts, found.is_least) == (least, True)


@examples(10)
@given(st.lists(st.permutations(range(5)), min_size=3, max_size=4))
def test_no_buffer_has_fewer_conflicts(orders: list[list[int]]) -> None:
    """Of 32 elements of 16 bytes: all pairs of bases of the rows of banks are tried."""
    matrices = [
        [1 << bit | (1 << order[0]) * (bit == order[4]) for bit in order] for order in orders
    ]
    accesses = [LinearLayout.of_matrix(each, {"lane": 5}, {"dim0": 5}) for each in matrices]
    found = linear.best_shared(accesses, 16)
    costs = [
        sum(
            wavefronts([16 * buffer[each(lane=lane)["dim0"]] for lane in range(32)], 16)
            for each in accesses
        )
        for buffer in map(_buffer, combinations(range(1, 32), 2))
    ]
    assert (found.wavefronts, found.is_least) == (min(costs), True)


def _buffer(rows: tuple[int, int]) -> dict[int, int]:
    """The offset of each element of 32, in rows of 8: elements of a bank differ by sums of rows."""
    banks: dict[int, list[int]] = {}
    for element in range(32):
        banks.setdefault(min(element ^ each for each in (0, *rows, rows[0] ^ rows[1])), []).append(
            element
        )
    return {
        element: bank + 8 * place
        for bank, elements in enumerate(banks.values())
        for place, element in enumerate(elements)
    }


def test_half_words_are_shared_by_two_lanes_or_two_registers() -> None:
    found = linear.best_shared([made(ROWS), made(COLUMNS)], 2)
    assert [each.bank_conflicts for each in found.accesses] == [0, 0]
    assert (found.wavefronts, found.least, found.is_least) == (48, 32, False)
    assert "48 wavefronts, and at least 32 are needed" in str(found)
    with pytest.raises(ShapeError, match="best_shared: no access is given"):
        linear.best_shared([], 4)
