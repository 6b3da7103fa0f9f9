"""The layouts of four kernels of Triton's own tests: what moves between them, and bank conflicts.

The definitions are those of triton-lang/triton, in test/TritonGPU: prefetch.mlir,
loop-pipeline.mlir (attention) and optimize-locality.mlir (a sum), and in
test/Hopper/WarpSpecialization: ws_data_partition.mlir. Models that go through all places check
the expected values.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from pathlib import Path
from typing import Final

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from indexing.layout import linear
from indexing.layout.linear import LinearLayout
from tests.cases import for_all
from tests.extent import examples
from tests.layout.model import wavefronts

DATA: Final = Path(__file__).parents[1] / "data" / "layout" / "triton_kernels.mlir"
PARTS: Final = DATA.read_text(encoding="utf-8").split("// ----- ")[1:]
KERNELS: Final = dict(part.split("\n", 1) for part in PARTS)
AMPERE, ATTENTION, SUM, HOPPER = KERNELS


def _operand(number: int) -> str:
    return f"#ttg.dot_op<{{opIdx = {number}, parent = #mma, kWidth = 2}}>"


@cache
def _layout(kernel: str, encoding: str, *shape: int) -> LinearLayout:
    return linear.parse_encoding(encoding, shape, KERNELS[kernel])


LEVELS: Final = ("register", "lane", "warp", "block")


def _elements(layout: LinearLayout) -> dict[tuple[int, ...], tuple[int, ...]]:
    """The element of each place, by a product of matrices of zeros and ones."""
    bits = [vector for name in LEVELS for vector in layout.bases[name]]
    counts = [len(layout.bases[name]) for name in LEVELS]
    width = max(layout.out_dims.values()).bit_length()
    matrix = np.array([[i >> bit & 1 for i in vector for bit in range(width)] for vector in bits])
    places = [*product(*(range(1 << count) for count in counts))]
    columns = [(level, bit) for level, count in enumerate(counts) for bit in range(count)]
    rows = np.array([[place[level] >> bit & 1 for level, bit in columns] for place in places])
    found = (rows @ matrix % 2).reshape(len(places), -1, width) @ (1 << np.arange(width))
    elements: list[list[int]] = found.tolist()
    return {place: (*element,) for place, element in zip(places, elements, strict=True)}


def _nearest(source: LinearLayout, destination: LinearLayout) -> str:
    """The level within which every place of the destination finds its element in the source."""
    given_, wanted = _elements(source), _elements(destination)
    if all(given_.get(place) == element for place, element in wanted.items()):
        return "nothing"
    for number, level in enumerate(LEVELS):
        near = {(place[number + 1 :], element) for place, element in given_.items()}
        if all((place[number + 1 :], element) in near for place, element in wanted.items()):
            return level
    return "nowhere"


OF_ROWS: Final = "#ttg.slice<{dim = 1, parent = #blocked}>"


@for_all([
    (AMPERE, "#AL", "#A_OP", (128, 32), "warp"), (AMPERE, "#BL", "#B_OP", (32, 128), "warp"),
    (AMPERE, "#C", "#C", (128, 128), "nothing"),
    (ATTENTION, "#mma", _operand(0), (128, 16), "nothing"),
    (ATTENTION, "#blocked1", _operand(0), (128, 64), "warp"),
    (ATTENTION, "#blocked", _operand(1), (64, 16), "warp"),
    (SUM, OF_ROWS, "#blocked1", (32,), "warp"), (SUM, "#blocked1", OF_ROWS, (32,), "lane"),
    (HOPPER, "#mma", "#blocked1", (128, 256), "warp"),
])  # fmt: skip
def test_what_moves_in_kernels(
    kernel: str, source: str, destination: str, shape: tuple[int, ...], moves: str
) -> None:
    before, after = _layout(kernel, source, *shape), _layout(kernel, destination, *shape)
    found = linear.conversion(before, after)
    assert found.moves == moves == _nearest(before, after)
    assert found.places.compose(after) == before


@st.composite
def _surjective(draw: st.DrawFn) -> LinearLayout:
    vectors = st.lists(st.tuples(st.integers(0, 3)), max_size=2)
    bases = {name: draw(vectors) for name in LEVELS}
    bases[draw(st.sampled_from(LEVELS))] = [(1,), (2,)]
    return LinearLayout(bases, {"dim0": 4})


@examples(60)
@given(_surjective(), _surjective(), st.sampled_from(LEVELS))
def test_the_nearest_place_moves(source: LinearLayout, other: LinearLayout, changed: str) -> None:
    """Two layouts that differ much, and two that differ in one in-dimension."""
    assert linear.conversion(source, other).moves == _nearest(source, other)
    near = LinearLayout({**source.bases, changed: other.bases[changed]}, source.out_dims)
    if near.is_surjective:
        assert linear.conversion(source, near).moves == _nearest(source, near)


def _swizzled(row: int, column: int, columns: int, vec: int, per_phase: int, phases: int) -> int:
    phase = row // per_phase % phases
    return row * columns + (column // vec ^ phase) * vec % columns + column % vec


def _offset(kernel: str, encoding: str, shape: tuple[int, int], row: int, column: int) -> int:
    """Where an element of two bytes is in shared memory."""
    if kernel == HOPPER:  # rows of 128 bytes, in boxes one beside the other
        return column // 64 * shape[0] * 64 + _swizzled(row, column % 64, 64, 8, 1, 8)
    if kernel == AMPERE:
        return _swizzled(row, column, shape[1], 2, 2, 4)
    if encoding == "#shared":
        return _swizzled(column, row, shape[0], 8, 1, 8)
    return _swizzled(row, column, shape[1], 8, 1, 8)


@for_all([
    (AMPERE, "#AL", "#A", (128, 32), "2 elements at once, 1 wavefronts, 0 of them"),
    (AMPERE, "#A_OP", "#A", (128, 32), "2 elements at once, 4 wavefronts, 3 of them"),
    (AMPERE, "#BL", "#B", (32, 128), "2 elements at once, 2 wavefronts, 1 of them"),
    (AMPERE, "#B_OP", "#B", (32, 128), "1 elements at once, 4 wavefronts, 3 of them"),
    (ATTENTION, "#blocked1", "#shared1", (128, 64), "8 elements at once, 4 wavefronts, 0 of them"),
    (ATTENTION, _operand(0), "#shared1", (128, 64), "2 elements at once, 1 wavefronts, 0 of them"),
    (ATTENTION, "#blocked", "#shared", (64, 16), "8 elements at once, 4 wavefronts, 0 of them"),
    (ATTENTION, _operand(1), "#shared", (64, 16), "2 elements at once, 1 wavefronts, 0 of them"),
    (HOPPER, "#blocked", "#shared", (128, 64), "1 elements at once, 1 wavefronts, 0 of them"),
    (HOPPER, "#blocked1", "#shared", (64, 256), "1 elements at once, 1 wavefronts, 0 of them"),
    (HOPPER, "#mma", "#shared", (128, 256), "2 elements at once, 1 wavefronts, 0 of them"),
])  # fmt: skip
def test_shared_memory_of_kernels(
    kernel: str, registers: str, shared: str, shape: tuple[int, int], expected: str
) -> None:
    distributed, memory = _layout(kernel, registers, *shape), _layout(kernel, shared, *shape)
    offsets = linear.invert_and_compose(distributed, memory)
    # Registers that between them have each bit on and off; the others are exclusive ors.
    some = [0, *(1 << bit for bit in range(distributed.in_bits["register"]))]
    for lane, register in product(range(32), some):
        element = distributed(lane=lane, register=register, warp=3)
        offset = offsets(lane=lane, register=register, warp=3)["offset"]
        assert offset == _offset(kernel, shared, shape, element["dim0"], element["dim1"])
    access = linear.shared_access(distributed, memory, element_bytes=2)
    assert str(access).startswith(expected)
    starts = [offsets(lane=lane, warp=3)["offset"] * 2 for lane in range(32)]
    assert access.wavefronts == wavefronts(starts, access.vector_width * 2)
