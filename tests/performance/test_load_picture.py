"""Pictures of loads: each wanted element has the number of its thread, and all sectors are lit."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final
from xml.etree.ElementTree import Element

import pytest

from indexing import parse_map
from ops import coalescing, load_picture, schedule_of
from ops.performance import A100, MI300X, Device, LoadPicture
from simplifier import IndexingError
from tests import svg
from tests.cases import for_all
from tests.fusion.units import fused
from tests.svg import SVG, cells_of, check_nothing_lies_outside, parsed, path_of, texts

ROWS: Final = "(th_x, bl_x) -> (bl_x * 32 + th_x), domain: th_x in [0, 31], bl_x in [0, 7]"
COLUMNS: Final = "(th_x, bl_x) -> (th_x * 40 + bl_x), domain: th_x in [0, 31], bl_x in [0, 7]"
SHIFTED: Final = "(th_x)[s0] -> (th_x * 4 + s0 + 2), domain: th_x in [0, 31], s0 in [0, 3]"
SHARED: Final = "(th_x) -> (th_x floordiv 2), domain: th_x in [0, 31]"
MASKED: Final = "(th_x) -> (th_x * 100), domain: th_x in [0, 31], th_x in [5, 9]"
LONG: Final = "(th_x) -> (th_x * 64), domain: th_x in [0, 63]"


def picture_of(text: str, element_type: str = "f32", device: Device = A100) -> LoadPicture:
    return load_picture(parse_map(text), device, element_type=element_type)


def drawn(text: str, element_type: str = "f32") -> Element:
    return parsed(picture_of(text, element_type).svg())


def legend(root: Element) -> list[str]:
    return [each for each in texts(root) if each.startswith(("wanted", "loaded", "not"))]


@pytest.mark.parametrize("element_type", ["s4", "s8", "bf16", "f32", "c128"])
@pytest.mark.parametrize("text", [ROWS, COLUMNS, SHIFTED, SHARED, MASKED, LONG])
def test_picture_is_whole_and_says_what_is_counted(text: str, element_type: str) -> None:
    found = coalescing(parse_map(text), A100, element_type=element_type)
    picture = picture_of(text, element_type)
    assert picture.title == str(found)
    assert len(picture.sectors) == found.most_sectors
    svg.check_is_alone(picture.svg())
    check_nothing_lies_outside(parsed(picture.svg()))


def test_each_thread_has_its_elements_of_the_load_that_touches_most() -> None:
    """And takes its neighbours; inactive threads want nothing, several may want the same."""
    columns, shifted, shared, masked = map(picture_of, (COLUMNS, SHIFTED, SHARED, MASKED))
    assert dict(columns.threads) == {40 * thread: (thread,) for thread in range(32)}
    assert len(columns.lines) == 32
    assert shifted.threads[4] == shifted.threads[5] == (0,)
    assert 6 not in shifted.threads
    assert shared.threads[3] == (6, 7)
    assert [*masked.threads.values()] == [(5,), (6,), (7,), (8,), (9,)]


@for_all([("f32", 32, 20), ("bf16", 64, 9), ("s8", 128, 9)])
def test_cells_of_a_line_lie_side_by_side(element_type: str, cells: int, right: int) -> None:
    root = drawn("(th_x) -> (th_x), domain: th_x in [0, 31]", element_type)
    corners = re.findall(r"M(\S+) (\S+)h(\S+)v", path_of(root, "edge"))
    assert len(corners) == cells
    assert {(y, width) for _, y, width in corners} == {("0", str(right))}
    starts = [float(x) for x, _, _ in corners]
    steps = {round(after - before) for before, after in pairwise(starts)}
    assert min(steps) == right < max(steps)
    assert len(steps) == 2


def test_texts_lie_in_their_cells_and_beside_their_lines() -> None:
    root = drawn(COLUMNS)
    corners = re.findall(r"M([\d.]+) ([\d.]+)h20", path_of(root, "wanted"))[:32]
    marks = root.iter(f"{SVG}text")
    placed = [(float(each.get("x", 0)), float(each.get("y", 0)), each.text) for each in marks]
    for thread, (x, y) in enumerate(corners):
        assert (float(x) + 10, float(y) + 14, f"{thread}") in placed
    left = min(float(x) for x in re.findall(r"M([\d.]+) ", path_of(root, "edge")))
    for row in range(32):
        assert (left - 8, 20 * row + 14, f"byte {40 * row // 32 * 128:,}") in placed


def test_cells_are_what_is_wanted_loaded_and_left() -> None:
    root = drawn(COLUMNS)
    counts = [cells_of(root, each) for each in ("wanted", "loaded", "untouched")]
    assert counts == [32, 32 * 7, 32 * 24]
    assert {"0", "31", "byte 0", "byte 4,864"} <= {*texts(root)}
    wanted, loaded = "wanted by the thread with this number", "loaded because sectors come whole"
    assert legend(root) == [wanted, loaded, "not loaded"]
    root = drawn(SHARED)
    assert cells_of(root, "shared") == 16
    assert "2x" in texts(root)
    assert legend(root) == ["wanted by several threads", "not loaded"]


@for_all([(32, 32), (33, 32), (64, 32)])
def test_what_is_left_out_is_said(threads: int, shown: int) -> None:
    lanes = f"(th_x) -> (th_x * 64), domain: th_x in [0, {threads - 1}]"
    picture = picture_of(lanes, device=MI300X)
    assert len(picture.lines) == threads
    said = f"The first {shown} of {threads} lines are shown."
    assert (said in str(picture)) == (said in texts(parsed(picture.svg()))) == (threads > shown)
    assert cells_of(parsed(picture.svg()), "wanted") == shown


def test_an_access_of_a_schedule_and_one_of_nothing() -> None:
    module = fused("p = f32[64,64] parameter(0) ROOT t = f32[64,64] transpose(p), dimensions={1,0}")
    (access,) = schedule_of(module.entry.root).reads(0)
    picture = load_picture(access, A100)
    assert (len(picture.threads), len(picture.lines)) == (32, 1)
    picture = picture_of("(th_x) -> (th_x), domain: th_x in [0, -1]")
    assert not picture.threads
    check_nothing_lies_outside(parsed(picture.svg()))


def test_values_are_those_with_which_a_load_touches_most() -> None:
    text = "(th_x){rt0} -> (th_x + rt0), domain: th_x in [0, 31], rt0 in [0, 40]"
    picture = picture_of(text)
    assert picture.title.startswith("4 to 5 sectors for 4; fewest where rt0 mod 8 in [0, 0]")
    assert len(picture.sectors) == 5


def test_errors_are_those_of_coalescing() -> None:
    with pytest.raises(IndexingError, match="a map has no element_type"):
        load_picture(parse_map(ROWS), A100)
    with pytest.raises(IndexingError, match="d0 is no coordinate of a launch"):
        picture_of("(d0) -> (d0), domain: d0 in [0, 3]")
