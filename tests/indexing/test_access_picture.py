"""Pictures of what a map reads: counts are those of its points; and the colors of all pictures."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product
from pathlib import Path
from typing import Any, Final

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from indexing import IndexingMap, parse_map
from indexing.pictures.svg import STYLES
from simplifier import IndexingError, Interval
from tests.cases import for_all, pairs
from tests.indexing.tables import each_row, evaluated, refusals
from tests.strategies import maps
from tests.svg import cells_of, check_is_alone, check_nothing_lies_outside, parsed, texts

WINDOW = IndexingMap.from_sizes("d0 * 2 + s0, d1", [4, 5], [3])
SPLIT = IndexingMap.from_sizes("d0 floordiv 16, d1 floordiv 16, d0 mod 16, d1 mod 16", [32, 64])
OFFSET = parse_map("(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [2, 9]")


index_maps = maps().filter(lambda each: all((dim.bounds.lower or 0) >= 0 for dim in each.dims))


@given(index_maps, st.data())
def test_counts_are_those_of_all_points(indexing_map: IndexingMap, data: st.DataObject) -> None:
    chosen = {
        name: data.draw(st.integers(each.bounds.lower or 0, each.bounds.upper or 0))
        for name, each in zip(indexing_map.names[0], indexing_map.dims, strict=True)
        if not each.bounds.is_empty and data.draw(st.booleans())
    }
    runtime = tuple(each.bounds.lower for each in indexing_map.runtime)
    points = [
        (dims, results)
        for dims, _, values, results in indexing_map.points()
        if values == runtime
        and all(dims[indexing_map.names[0].index(name)] == at for name, at in chosen.items())
    ]
    left, right = indexing_map.picture(at=chosen, sizes=[9] * len(indexing_map.forms)).grids
    assert {*left.counts} == {dims for dims, _ in points}
    inside = Counter(index for _, index in points if all(0 <= each < 9 for each in index))
    assert dict(right.counts) == inside


@given(index_maps)
def test_pictures_are_whole_and_alone(indexing_map: IndexingMap) -> None:
    svg = indexing_map.picture().svg()
    check_is_alone(svg)
    check_nothing_lies_outside(parsed(svg))
    assert svg == indexing_map.picture().svg()


def test_every_count_is_a_cell_with_its_number() -> None:
    picture = WINDOW.picture(at=[range(1, 3), 2])
    assert dict(picture.grids[1].counts) == {(2, 2): 1, (3, 2): 1, (4, 2): 2, (5, 2): 1, (6, 2): 1}
    root = parsed(picture.svg())
    cells = {kind: cells_of(root, kind) for kind in ("chosen", "heat3", "heat5", "untouched")}
    assert cells == {"chosen": 2, "heat3": 4, "heat5": 1, "untouched": 4 * 5 - 2 + 9 * 5 - 5}
    assert {"read once", "read 2 times", "not read", "chosen"} <= {*texts(root)}


def test_planes_with_lit_elements_are_shown_unless_one_is_chosen() -> None:
    grid = SPLIT.picture(at=[3, range(10, 40)]).grids[1]
    assert grid.planes == ((0, 0), (0, 1), (0, 2))
    assert grid.plane_title(grid.planes[0]) == "dim 0 = 0, dim 1 = 0"
    picture = SPLIT.picture(at=[3, range(10, 40)], result_plane=[0, None, 3, None])
    rows, columns = picture.grids[1].rows_and_columns
    assert (rows.name, columns.name) == ("dim 1", "dim 3")
    root = parsed(picture.svg())
    assert cells_of(root, "heat3") == 30


def test_long_axes_show_the_lit_stretches() -> None:
    row = parse_map("(d0) -> (d0 * 100), domain: d0 in [0, 9]")
    columns = row.picture(at=[3], sizes=[1000]).grids[1].rows_and_columns[1]
    assert {0, 1, 299, 300, 301, 998, 999} <= {*columns.positions}
    assert len(columns.positions) <= 16


def test_runtime_variables_have_their_least_value_unless_chosen() -> None:
    assert {*OFFSET.picture(at=[1]).grids[1].counts} == {(3,)}
    found = OFFSET.picture(at={"d0": 1, "rt0": Interval(5, 6)})
    assert {*found.grids[1].counts} == {(6,), (7,)}
    assert found.title.endswith("at d0 = 1, rt0 in [5, 6]")


def test_what_lies_outside_is_noted() -> None:
    halo = parse_map("(d0)[s0] -> (d0 + s0 - 1), domain: d0 in [0, 3], s0 in [0, 2]")
    picture = halo.picture(sizes=[4])
    assert {*picture.grids[1].counts} == {(0,), (1,), (2,), (3,)}
    assert picture.notes == ("(d0 + s0 - 1): 2 elements that are read lie outside of the array.",)


def test_a_map_to_a_scalar_has_one_cell() -> None:
    picture = parse_map("(d0) -> (), domain: d0 in [0, 3]").picture()
    assert dict(picture.grids[1].counts) == {(): 4}
    assert cells_of(parsed(picture.svg()), "heat5") == 1


def test_an_empty_map_reads_nothing() -> None:
    check_nothing_lies_outside(parsed(IndexingMap.identity([0]).picture().svg()))


def test_numbers_of_numpy_choose_points() -> None:
    at: Any = [np.int64(1), 2]
    assert WINDOW.picture(at=at) == WINDOW.picture(at=[1, 2])


def test_indices_may_need_more_than_64_bits() -> None:
    far = parse_map(f"(d0) -> (d0 * {10**15}), domain: d0 in [0, {10**15}]")
    picture = far.picture(at=[range(10**5, 10**5 + 2)])
    assert dict(picture.grids[1].counts) == {(10**20,): 1, (10**20 + 10**15,): 1}
    check_nothing_lies_outside(parsed(picture.svg()))


# a picture => a line of its text
@each_row("""
WINDOW.picture() => (d0, d1) -> (d0 * 2 + s0, d1)
WINDOW.picture() => (d0, d1): 20 of 20 elements
WINDOW.picture() => (d0 * 2 + s0, d1): 45 of 45 elements, read 1 to 2 times
IndexingMap.identity([0]).picture() => (d0): 0 of 0 elements
IndexingMap.identity([0]).picture() => (0): 0 of 1 elements
SPLIT.picture(at=[3, range(10, 40)], result_plane=[0, 1, None, None])
    14 lit elements lie in other planes.
IndexingMap.from_sizes("d0 * 100", [10]).picture(at=[3], sizes=[1000])
    16 of 1,000 columns are shown.
""")
def test_lines_of_texts(call: str, line: str) -> None:
    assert line in str(evaluated(call, globals()))


test_errors = refusals(globals(), IndexingError)("""
WINDOW.picture(at=[1]) => at has 1 values; expected 2, one a dimension
WINDOW.picture(at=[9, 0]) => d0 is 9; expected values in [0, 3]
WINDOW.picture(at=[range(2, 2), 0]) => d0 is range(2, 2); expected values in [0, 3]
WINDOW.picture(at=[range(0, 4, 2), 0]) => an integer, an interval, or a range with step 1
WINDOW.picture(at={"d7": 1}) => the map has no 'd7'
WINDOW.picture(at={"d0": "1"}) => an integer, an interval, or a range with step 1
WINDOW.picture(result_plane=[0, 0, None]) => expected 2 indices, None for at most two
WINDOW.picture(result_plane=[99, None]) => is outside [9, 5]
WINDOW.picture(sizes=[4]) => sizes are (4,); expected 2
WINDOW.picture(sizes=[-4, 4]) => sizes are (-4, 4); expected 2, one a result, none of them
parse_map("(d0)<N> -> (d0), domain: d0 in [0, N - 1], N in [0, inf]").picture() => parameter
parse_map("(d0) -> (d0), domain: d0 in [0, 9999999]").picture() => choose some by at=
parse_map("(d0) -> (d0), domain: d0 in [-1, 3]").picture()
    d0 has the bounds [-1, 3]; expected those of
parse_map("(d0)[s0] -> (s0), domain: d0 in [0, 3], s0 in [0, inf]").picture() => choose some by at=
parse_map("(d0)[s0] -> (s0), domain: d0 in [0, 3], s0 in [0, inf]").picture()
    infinitely many points
""")


def test_a_file_keeps_the_picture(tmp_path: Path) -> None:
    picture = WINDOW.picture(at=[1, 1])
    picture.save(tmp_path / "reads.svg")
    assert (tmp_path / "reads.svg").read_text(encoding="utf-8") == picture.svg() + "\n"
    assert picture._repr_svg_() == picture.svg()


# Colors that mean something differ for the color-blind, too. Each is seen as without one kind of
# cones, by the matrices of Machado, Oliveira and Fernandes (A Physiologically-based Model for
# Simulation of Color Vision Deficiency, 2009, severity 1), and compared in CIELAB, with a white of
# D65.

VISIONS: Final = {"all cones": np.eye(3)} | {
    name: np.array(numbers.split(), float).reshape(3, 3)
    for name, numbers in pairs("""
protanopia => 0.152286 1.052583 -0.204868  0.114503 0.786281 0.099216  -0.003882 -0.048116 1.051998
deuteranopia => 0.367322 0.860646 -0.227968  0.280085 0.672501 0.047413  -0.01182 0.04294 0.968881
tritanopia => 1.255528 -0.076749 -0.178779  -0.078411 0.930809 0.147602  0.004733 0.691367 0.3039
""").items()
}
XYZ_OF_RGB: Final = np.array([
    (0.4124564, 0.3575761, 0.1804375), (0.2126729, 0.7151522, 0.0721750),
    (0.0193339, 0.1191920, 0.9503041),
])  # fmt: skip
WHITE: Final = (0.95047, 1.0, 1.08883)

APART: Final = 8
"""A distance of 2 can just be seen, side by side; neighbours on these scales are far from that."""

PICTURES: Final = {
    "layouts": "tile", "outlines": "outline", "reads": "untouched chosen heat",
    "loads": "wanted shared loaded untouched", "graphs": "box source",
}  # fmt: skip
"""The beginnings of the classes that stand side by side in a picture."""


def lab(color: str, vision: str) -> np.ndarray:
    """A color in CIELAB, as it is seen."""
    given = np.array([int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)])
    linear = np.where(given > 0.04045, ((given + 0.055) / 1.055) ** 2.4, given / 12.92)
    seen = np.clip(VISIONS[vision] @ linear, 0, 1)
    ratio = XYZ_OF_RGB @ seen / np.array(WHITE)
    root = np.where(ratio > 0.008856, np.cbrt(ratio), 7.787 * ratio + 16 / 116)
    return np.array([116 * root[1] - 16, 500 * (root[0] - root[1]), 200 * (root[1] - root[2])])


def distance(one: str, other: str, vision: str) -> float:
    return float(np.linalg.norm(lab(one, vision) - lab(other, vision)))


@for_all([*product(PICTURES, VISIONS)])
def test_colors_that_mean_something_differ(name: str, vision: str) -> None:
    stems = tuple(PICTURES[name].split())
    chosen = [(each.light, each.dark) for key, each in STYLES.items() if key.startswith(stems)]
    assert len(chosen) > 1
    for ground in zip(*chosen, strict=True):
        for one, other in combinations(ground, 2):
            assert distance(one, other, vision) >= APART, (one, other)


def test_red_and_green_are_close_for_some() -> None:
    """The distance sees what such a reader sees."""
    assert distance("#c8102e", "#1a7f37", "all cones") > 100
    assert distance("#c8102e", "#1a7f37", "deuteranopia") < 15
