"""A fusion as a graph: every read is there with its maps, boxes do not meet, operands are above."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple
from xml.etree.ElementTree import Element

import pytest
from hypothesis import given

from ops import Fusion, fusion_graph, hlo
from ops.fusion.pictures import MAX_INSTRUCTIONS
from simplifier import IndexingError
from tests.figures import SOFTMAX
from tests.fusion.random_programs import Program, programs
from tests.svg import SVG, check_is_alone, check_nothing_lies_outside, parsed, texts


class Box(NamedTuple):
    """A drawn instruction."""

    x: float
    y: float
    width: float
    height: float


def boxes(root: Element) -> list[Box]:
    found = [
        re.match(r"M(\S+) (\S+)h([^v]+)v([^h]+)h", path.get("d", ""))
        for path in root.iter(f"{SVG}path")
        if path.get("class") in ("box", "source")
    ]
    return [Box(*map(float, each.groups())) for each in found if each]


def edges(root: Element) -> list[list[tuple[float, float]]]:
    """The points that each edge goes through."""
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
    for number, one in enumerate(drawn):
        for other in drawn[number + 1 :]:
            is_beside = one.x + one.width < other.x or other.x + other.width < one.x
            assert is_beside or one.y != other.y
    check_nothing_lies_outside(root)
    check_is_alone(svg)
    assert svg == fusion_graph(Fusion.of_computation(program.module.entry)).svg()


@given(programs())
def test_every_read_is_an_edge_downwards_past_other_boxes(program: Program) -> None:
    graph = fusion_graph(Fusion.of_computation(program.module.entry))
    root = parsed(graph.svg())
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


def test_what_lies_outside_is_a_source() -> None:
    module = hlo.parse(SOFTMAX)
    graph = fusion_graph(module.computation("fused")["b"])
    assert str(graph).splitlines()[1:] == [
        "%b f32[4,6] broadcast <- %sum (d0)",
        "%sum f32[4] reduce",
    ]
    assert "(d0)" in texts(parsed(graph.svg()))


def test_unknown_and_long_maps_are_short() -> None:
    module = hlo.parse("""ENTRY e { p = f32[4] parameter(0)
      c = f32[4] custom-call(p), custom_call_target="secret"
      ROOT n = f32[4] negate(c) }""")
    assert "%c f32[4] custom-call <- %p unknown" in str(
        fusion_graph(Fusion.of_computation(module.entry))
    )


def test_the_rest_of_a_large_graph_is_counted() -> None:
    chain = "".join(f"x{n + 1} = f32[8] negate(x{n}) " for n in range(99))
    module = hlo.parse(f"ENTRY e {{ x0 = f32[8] parameter(0) {chain} }}")
    graph = fusion_graph(Fusion.of_computation(module.entry))
    assert len(graph.reads) == MAX_INSTRUCTIONS
    assert graph.notes == ("40 more instructions are left out.",)
    check_nothing_lies_outside(parsed(graph.svg()))


def test_something_else_is_refused() -> None:
    with pytest.raises(IndexingError, match="a fusion or an instruction"):
        fusion_graph("f")  # pyright: ignore[reportArgumentType] - wrong on purpose
