"""Tiles of blocks: every element written once, and threads where Triton's layouts have them."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing import parse_map
from indexing.layout import Shape, ShapeError
from ops.xla_gpu import block_schedule
from simplifier.errors import ArgumentError
from tests.cases import for_all, pairs

Pair = tuple[int, int]

LAYOUTS = {
    "rows of two warps": ("f32[16,64]", (16, 64), 4, (1, 4), (2, 16), (4, 1)),
    "one row": ("f32[8,128]", (1, 128), 1, (1, 4), (1, 32), (1, 1)),
    "columns": ("f32[64,16]{0,1}", (64, 16), 2, (4, 1), (16, 2), (1, 2)),
    "narrow": ("bf16[32,64]", (32, 64), 4, (1, 8), (4, 8), (4, 1)),
    "wide": ("f64[32,64]", (32, 64), 4, (1, 2), (1, 32), (4, 1)),
    "odd rows": ("f32[32,31]", (32, 32), 4, (1, 1), (1, 32), (4, 1)),
    "few elements": ("f32[4,8]", (4, 8), 2, (1, 1), (4, 8), (2, 1)),
}
"""A shape, a tile, the warps, and ``sizePerThread``, ``threadsPerWarp``, ``warpsPerCTA``."""


@for_all(LAYOUTS)
def test_threads_are_where_a_blocked_layout_has_them(
    text: str, tile: Pair, warps: int, of_thread: Pair, lanes: Pair, of_warps: Pair
) -> None:
    shape = Shape.parse(text)
    minor = shape.array_layout.minor_to_major[0]
    owners: dict[tuple[int, ...], int] = {}
    for row, column in product(*map(range, shape.dimensions)):
        number = [0, 0]
        for counts, base in ((of_warps, 32), (lanes, 1)):
            below = (1, 1) if counts is lanes else lanes
            along = zip((row, column), of_thread, below, counts, strict=True)
            places = [place // own // lane % count for place, own, lane, count in along]
            number[base == 1] = base * (places[1 - minor] * counts[minor] + places[minor])
        owners[row, column] = sum(number)
    (written,) = block_schedule(shape, tile, warps=warps).writes
    in_first = {e: d[0] for d, _, _, e in written.map.points() if d[3] == 0}
    assert in_first
    assert in_first == {element: owners[element] for element in in_first}


SIDES = st.integers(1, 12)


@given(
    st.lists(st.tuples(SIDES, st.sampled_from([1, 2, 3, 4, 5, 8, 16])), min_size=0, max_size=3),
    st.sampled_from([1, 2, 4]),
    st.sampled_from(["s8", "bf16", "f32", "f64"]),
    st.booleans(),
)
def test_elements_are_written_once(sides: list[Pair], warps: int, kind: str, turned: bool) -> None:
    sizes, tile = [size for size, _ in sides], [step for _, step in sides]
    order = range(len(sizes)) if turned else reversed(range(len(sizes)))
    layout = f"{{{','.join(map(str, order))}}}" if sizes else ""
    shape = Shape.parse(f"{kind}{sizes}{layout}")
    (written,) = block_schedule(shape, tile, warps=warps).writes
    counts = Counter(found for _, _, _, found in written.map.points())
    assert counts == Counter(product(*map(range, sizes)))


LOADED = pairs("""
the tile => (d0, d1) -> (d0, d1), domain: d0 in [0, 11], d1 in [0, 19]
turned => (d0, d1) -> (d1, d0), domain: d0 in [0, 11], d1 in [0, 19]
a row => (d0, d1) -> (d1), domain: d0 in [0, 11], d1 in [0, 19]
a part => (d0, d1) -> (d0, d1 - 6), domain: d0 in [0, 11], d1 in [6, 13]
one row of digits => (d0, d1) -> (d0 * 20 + d1), domain: d0 in [0, 11], d1 in [0, 19]
what no tile holds => (d0, d1) -> ((d0 * 7 + d1 * 5) mod 11), domain: d0 in [0, 11], d1 in [0, 19]
whole rows => (d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 11], d1 in [0, 19], s0 in [0, 22]
""")


@pytest.mark.parametrize("steps", [(), (8,)])
@pytest.mark.parametrize("text", LOADED.values(), ids=LOADED)
def test_a_block_loads_what_its_tile_needs(text: str, steps: tuple[int, ...]) -> None:
    indexing = parse_map(text)
    steps = steps[: len(indexing.ranges)]
    schedule = block_schedule(Shape.parse("f32[12,20]"), (4, 8), warps=2)
    points = ((dims, element) for dims, _, _, element in indexing.points())
    needed = {(dims[0] // 4 * 3 + dims[1] // 8, element) for dims, element in points}
    rank = len(indexing.results)
    operand = Shape.parse(f"f32{[240] * rank}")
    load = schedule.load(indexing, operand, steps)
    assert {(dims[3], element) for dims, _, _, element in load.map.points()} == needed


def test_a_block_loads_at_an_offset_that_is_a_parameter() -> None:
    moved = parse_map("(d0)<N> -> (d0 + N), domain: d0 in [0, 63], N in [0, 9]")
    schedule = block_schedule(Shape.parse("f32[64]"), (16,))
    loaded = schedule.load(moved, Shape.parse("f32[80]")).map
    assert [(each.name, each.bounds.ends) for each in loaded.parameters] == [("N", (0, 9))]
    at_3 = schedule.load(moved.substitute({"N": 3}), Shape.parse("f32[80]")).map
    assert loaded.substitute({"N": 3}) == at_3


WRONG = [
    *(((4,), 1, "the tile"), ((4, 0), 1, "a size of the tile is 0"), ((4, 4), 0, "warps is 0")),
    *((tile, warps, "positive integer") for tile, warps in (((1.5, 1), 4), ((4, 4), 2.0))),
    (("4", "4"), 4, "expected a positive integer"),
]


@for_all(WRONG)
def test_tiles_that_cannot_be(tile: tuple[Any, ...], warps: Any, message: str) -> None:  # noqa: ANN401 - wrong
    with pytest.raises((ShapeError, ArgumentError), match=message):
        block_schedule(Shape.parse("f32[8,8]"), tile, warps=warps)
