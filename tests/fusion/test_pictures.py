"""Pictures of fusions: the elements that a result needs, and the graph of all reads."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import combinations, pairwise
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ops import Fusion, FusionError, access_picture, fusion_graph, hlo
from ops.fusion.pictures import MAX_INSTRUCTIONS, AccessPicture, FusionGraph
from simplifier import IndexingError
from tests.cases import for_all
from tests.cli.small_modules import TURNED
from tests.figures import SOFTMAX
from tests.fusion.enumeration import pairs_from
from tests.fusion.random_programs import Program, programs
from tests.svg import SVG, check_is_alone, check_nothing_lies_outside, parsed, path_of, texts

UNKNOWN = 'c = f32[4] custom-call(p), custom_call_target="secret"'

# Elements, as a walk from element to element finds them.


@given(programs(), st.integers(0, 2), st.integers(0, 2))
def test_lit_elements_are_those_that_are_needed(program: Program, row: int, column: int) -> None:
    entry = program.module.entry
    fusion = Fusion.of_computation(entry)
    pairs = pairs_from((entry.root, 0), entry.instructions)
    picture = access_picture(fusion, at=[row, column])
    lit = {grid.title.split()[0][1:]: {*grid.counts} for grid in picture.grids}
    for (instruction, _), found in pairs.items():
        if instruction.computation is entry and instruction.shape.dimensions:
            needed = {target for start, target in found if start == (row, column)}
            assert lit.get(instruction.name, set()) == needed
    check_nothing_lies_outside(parsed(picture.svg()))


def picture_of(body: str, **arguments: Any) -> AccessPicture:  # noqa: ANN401 - any
    return access_picture(hlo.parse(f"ENTRY e {{ {body} }}").entry.root, **arguments)


def test_a_fusion_instruction_shows_its_body_and_any_other_one_is_a_fusion() -> None:
    module = hlo.parse(SOFTMAX)
    picture = access_picture(module["f"], at=[2, 3])
    assert str(picture).splitlines() == [
        "%q at d0 = 2, d1 = 3",
        "%q f32[4,6]: 1 of 24 elements",
        "%b f32[4,6]: 1 of 24 elements, read once",
        "%sum f32[4]: 1 of 4 elements, read once",
        "%e f32[4,6]: 6 of 24 elements, read 1 to 2 times",
        "%p f32[4,6]: 6 of 24 elements, read 1 to 2 times",
    ]
    check_is_alone(picture.svg())
    picture = access_picture(module.computation("fused")["b"], at=[range(2), 3])
    assert [grid.title for grid in picture.grids] == ["%b f32[4,6]", "%sum f32[4]"]
    assert {*picture.grids[1].counts} == {(0,), (1,)}


def test_what_is_not_known_is_said() -> None:
    picture = picture_of("""p = f32[9] parameter(0) i = s32[] parameter(1)
        ROOT s = f32[3] dynamic-slice(p, i), dynamic_slice_sizes={3}""")
    assert {*picture.grids[1].counts} == {(0,), (1,), (2,)}
    assert picture.notes == ("Values known at run time are taken as the least that they can be.",)
    picture = picture_of(f"p = f32[4] parameter(0) ROOT {UNKNOWN}")
    assert [grid.title for grid in picture.grids] == ["%c f32[4]"]
    assert re.match(r"%p f32\[4\]: .*secret", picture.notes[0])


def test_results_and_planes_are_chosen() -> None:
    turned = "p = f32[2,3] parameter(0) t = f32[3,2] transpose(p), dimensions={1,0}"
    both = hlo.parse(f"ENTRY e {{ {turned} ROOT all = (f32[2,3], f32[3,2]) tuple(p, t) }}")
    picture = access_picture(Fusion.of_computation(both.entry), at=[2, 1], output=1)
    assert dict(picture.grids[-1].counts) == {(1, 2): 1}
    text = "p = f32[2,3,4] parameter(0) ROOT t = f32[4,3,2] transpose(p), dimensions={2,1,0}"
    picture = picture_of(text, planes={"p": [1, None, None]})
    assert picture.grids[1].planes == ((1,),)
    assert len(picture.grids[0].planes) == 4


@for_all([
    ({"at": [1]}, "at has 1 values; expected 2"),
    ({"at": [4, 0]}, "d0 is 4; expected values in [0, 3]"),
    ({"output": 1}, "output is 1; expected one of 1"),
    ({"planes": {"nobody": [None, None]}}, "planes name 'nobody'"),
])  # fmt: skip
def test_errors(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(IndexingError) as caught:
        access_picture(hlo.parse(SOFTMAX)["f"], **arguments)  # pyright: ignore[reportArgumentType]
    assert message in str(caught.value)


def test_sizes_known_at_run_time_are_given() -> None:
    turned = Fusion.of_computation(hlo.parse(TURNED).entry)
    picture = access_picture(turned, at=[0, 1], parameters={"count": 5})
    (few,) = (grid for grid in picture.grids if grid.title.startswith("%few"))
    assert dict(few.counts) == {(4, 1): 1}
    message = r"the maps to %few f32\[<=8,4\] depend on count; expected numbers, as parameters="
    with pytest.raises(FusionError, match=message):
        access_picture(turned)


@for_all([access_picture, fusion_graph])
def test_something_else_is_refused(draw: Callable[[Any], object]) -> None:
    with pytest.raises(IndexingError, match="a fusion or an instruction"):
        draw("f")


# Graphs: every read is there with its maps, boxes do not meet, operands are above.


class Box(NamedTuple):
    x: float
    y: float
    width: float
    height: float


def boxes(root: Element) -> list[Box]:
    paths = "".join(path_of(root, each) for each in ("box", "source"))
    return [
        Box(*map(float, each)) for each in re.findall(r"M(\S+) ([^h]+)h([^v]+)v([^h]+)h", paths)
    ]


def edges(root: Element) -> list[list[tuple[float, float]]]:
    found: list[list[tuple[float, float]]] = []
    for path in root.iter(f"{SVG}path"):
        if path.get("class") == "way":
            points: list[tuple[float, float]] = []
            for command, numbers in re.findall(r"([MCV])([^MCV]+)", path.get("d", "")):
                values = [float(each) for each in numbers.split()]
                x, y = (points[-1][0], values[0]) if command == "V" else (values[-2], values[-1])
                points.append((x, y))
            found.append(points)
    return found


@given(programs())
def test_graph_is_drawn_without_overlaps(program: Program) -> None:
    graph = fusion_graph(Fusion.of_computation(program.module.entry))
    svg = graph.svg()
    root = parsed(svg)
    drawn = boxes(root)
    assert len(drawn) == len(graph.reads)
    for one, other in combinations(drawn, 2):
        is_beside = one.x + one.width < other.x or other.x + other.width < one.x
        assert is_beside or one.y != other.y
    check_nothing_lies_outside(root)
    check_is_alone(svg)
    assert svg == fusion_graph(Fusion.of_computation(program.module.entry)).svg()
    check_edges(root, graph)


def check_edges(root: Element, graph: FusionGraph) -> None:
    """Every read is an edge downwards, past other boxes."""
    assert len(edges(root)) == sum(map(len, graph.reads.values()))
    for points in edges(root):
        heights = [y for _, y in points]
        assert heights == sorted(heights)
        for (x, y), (next_x, next_y) in pairwise(points):
            straight = x == next_x and next_y - y == boxes(root)[0].height
            inside = [b for b in boxes(root) if b.y == y and b.x < x < b.x + b.width]
            assert not straight or not inside


def test_maps_are_those_of_one_step() -> None:
    assert str(fusion_graph(hlo.parse(SOFTMAX)["f"])).splitlines() == [
        "fusion of %fused that reads %p",
        "%q f32[4,6] divide <- %e (d0, d1), %b (d0, d1)",
        "%b f32[4,6] broadcast <- %sum (d0)",
        "%sum f32[4] reduce <- %e (d0, s0), %zero ()",
        "%zero f32[] constant",
        "%e f32[4,6] exponential <- %p (d0, d1)",
        "%p f32[4,6] parameter",
    ]


def test_what_lies_outside_is_a_source_and_its_maps_are_short() -> None:
    graph = fusion_graph(hlo.parse(SOFTMAX).computation("fused")["b"])
    lines = ["%b f32[4,6] broadcast <- %sum (d0)", "%sum f32[4] reduce"]
    assert str(graph).splitlines()[1:] == lines
    assert "(d0)" in texts(parsed(graph.svg()))
    module = hlo.parse(f"ENTRY e {{ p = f32[4] parameter(0) {UNKNOWN} ROOT n = f32[4] negate(c) }}")
    graph = fusion_graph(Fusion.of_computation(module.entry))
    assert "%c f32[4] custom-call <- %p unknown" in str(graph)


def test_the_rest_of_a_large_graph_is_counted() -> None:
    chain = "".join(f"x{n + 1} = f32[8] negate(x{n}) " for n in range(99))
    module = hlo.parse(f"ENTRY e {{ x0 = f32[8] parameter(0) {chain} }}")
    graph = fusion_graph(Fusion.of_computation(module.entry))
    assert len(graph.reads) == MAX_INSTRUCTIONS
    assert graph.notes == ("40 more instructions are left out.",)
    check_nothing_lies_outside(parsed(graph.svg()))
