"""Maps between elements as they lie in memory, against the memory that NumPy makes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from indexing import IndexingMap, parse_map
from indexing.layout import ElementType, Shape, tiled_sizes
from indexing.layout.maps import memory_size
from ops import Unknown, hlo, input_to_output, output_to_input
from ops.analysis.queries import Addressing
from ops.dependence.dependence import Indexings
from tests.cases import by_name, for_all
from tests.evaluation import related
from tests.extent import seldom
from tests.hlo.modules import module_text
from tests.layout.model import index_of, memory_of
from tests.layout.strategies import SMALL, layouts
from tests.ops.answers import known, only

Index = tuple[int, ...]
Told = Callable[[Shape], dict[Index, Index]]

OPERATIONS = {
    "negate": ((5, 3), "f32[5,3]", "negate(p)"),
    "transpose": ((5, 3, 2), "f32[2,5,3]", "transpose(p), dimensions={2,0,1}"),
    "reshape": ((4, 6), "f32[3,8]", "reshape(p)"),
    "broadcast": ((4, 3), "f32[4,2,3]", "broadcast(p), dimensions={0,2}"),
    "reverse": ((7, 2), "f32[7,2]", "reverse(p), dimensions={0}"),
    "slice": ((9, 4), "f32[3,2]", "slice(p), slice={[1:9:3], [2:4]}"),
    "pad": ((3, 4), "f32[6,6]", "pad(p, z), padding=1_2x1_1"),
    "reduce": ((4, 5), "f32[4]", "reduce(p, z), dimensions={1}, to_apply=add"),
    "scalar": ((4,), "f32[]", "reduce(p, z), dimensions={0}, to_apply=add"),
}
"""The sizes of the operand, the result, and the instruction."""

ADD = "add { x = f32[] parameter(0) y = f32[] parameter(1) ROOT s = f32[] add(x, y) }"


def instruction(operand: Shape, output: Shape, text: str) -> hlo.Instruction:
    return hlo.parse(f"""{ADD} ENTRY e {{ p = {operand} parameter(0) z = f32[] parameter(1)
      ROOT r = {output} {text} }}""").entry.root


@st.composite
def instructions(draw: st.DrawFn) -> hlo.Instruction:
    """Operations on arrays that lie in memory in any order, with any tiles."""
    sizes, output, text = OPERATIONS[draw(st.sampled_from(list(OPERATIONS)))]
    shapes = [
        Shape(ElementType.F32, each, draw(layouts(len(each), st.integers(1, 5))))
        for each in (sizes, Shape.parse(output).dimensions)
    ]
    assume(all(memory_size(shape) <= SMALL for shape in shapes))
    return instruction(shapes[0], shapes[1], text)


def pairs(answer: Indexings) -> set[tuple[Index, Index]]:
    return {pair for way in known(answer) for pair in related(way.map)}


def offsets_of(shape: Shape) -> dict[Index, int]:
    return {
        index: place
        for place, number in enumerate(memory_of(shape).tolist())
        if (index := index_of(number, shape)) is not None
    }


def by_offset(shape: Shape) -> dict[Index, Index]:
    return {index: (place,) for index, place in offsets_of(shape).items()}


def by_tiles(shape: Shape) -> dict[Index, Index]:
    offsets, sizes = offsets_of(shape), tiled_sizes(shape)
    return {each: tuple(map(int, np.unravel_index(at, sizes))) for each, at in offsets.items()}


def by_index(shape: Shape) -> dict[Index, Index]:
    return {index: index for index in np.ndindex(*shape.dimensions)}


INDICES = Addressing()
PHYSICAL = Addressing(physical_layout=True)
LINEAR = Addressing(linear_offsets=True)

VIEWS = {
    "physical": (PHYSICAL, by_tiles, by_tiles),
    "linear": (LINEAR, by_index, by_offset),
    "both": (Addressing(physical_layout=True, linear_offsets=True), by_tiles, by_offset),
}
"""What is asked for, and how elements are told then: at the near end, and at the far end."""


def backward(root: hlo.Instruction, view: Addressing, output: int = 0) -> tuple[Indexings, ...]:
    return output_to_input(root, output, **view._asdict()).indexing


def forward(root: hlo.Instruction, view: Addressing) -> tuple[Indexings, ...]:
    return input_to_output(root, **view._asdict()).indexing


@seldom
@pytest.mark.parametrize(("view", "near", "far"), VIEWS.values(), ids=VIEWS)
@given(root=instructions())
def test_places_are_numpys(view: Addressing, near: Told, far: Told, root: hlo.Instruction) -> None:
    operand = root.operands[0]
    for ask, source, target in [
        (backward, root.shape, operand.shape),
        (forward, operand.shape, root.shape),
    ]:
        begin, end = near(source), far(target)
        expected = {(begin[here], end[there]) for here, there in pairs(ask(root, INDICES)[0])}
        assert pairs(ask(root, view)[0]) == expected


TEXTS = by_name("""
elementwise => f32[9,200]{1,0:T(8,128)} => f32[9,200]{1,0:T(8,128)} negate(p)
    (d0, d1, d2, d3) -> (d0, d1, d2, d3), domain: d0 in [0, 1], d1 in [0, 1], d2 in [0, 7],
        d3 in [0, 127], d0 * 8 + d2 in [0, 8], d1 * 128 + d3 in [0, 199]
    (d0, d1) -> ((d0 floordiv 8) * 1024 + (d1 floordiv 128) * 1024 + d0 * 128 + d1 mod 128),
        domain: d0 in [0, 8], d1 in [0, 199]
packed => bf16[64,512]{1,0:T(8,128)(2,1)} => bf16[64,512]{1,0:T(8,128)} copy(p)
    (d0, d1, d2, d3) -> (d0, d1, d2 floordiv 2, d3, d2 mod 2, 0), domain: d0 in [0, 7],
        d1 in [0, 3], d2 in [0, 7], d3 in [0, 127]
    (d0, d1) -> ((d0 floordiv 8) * 4096 + (d1 floordiv 128) * 1024 + ((d0 floordiv 2) mod 4) *
        256 + (d1 mod 128) * 2 + d0 mod 2), domain: d0 in [0, 63], d1 in [0, 511]
free transpose => f32[8,4,2]{0,2,1:T(4,128)}
    f32[2,8,4]{1,0,2:T(4,128)} transpose(p), dimensions={2,0,1}
    (d0, d1, d2, d3, d4) -> (d0, 0, 0, d3, d4), domain: d0 in [0, 3], d1 in [0, 0], d2 in [0, 0],
        d3 in [0, 1], d4 in [0, 7]
    (d0, d1, d2) -> (d0 * 128 + d1 + d2 * 512), domain: d0 in [0, 1], d1 in [0, 7], d2 in [0, 3]
""")


@for_all(TEXTS)
def test_maps_in_memory(operand: str, line: str, physical: str, linear: str) -> None:
    output, _, text = line.partition(" ")
    root = instruction(Shape.parse(operand), Shape.parse(output), text)
    for view, expected in [(PHYSICAL, physical), (LINEAR, linear)]:
        assert only(backward(root, view)[0]).map == parse_map(expected)


def test_there_and_back_is_the_identity() -> None:
    operand, tiled = map(Shape.parse, ("f32[8,4,2]{0,2,1:T(8,128)}", "f32[2,8,4]{1,0,2:T(4,128)}"))
    root = instruction(operand, tiled, "transpose(p), dimensions={2,0,1}")
    there, back = only(backward(root, PHYSICAL)[0]).map, only(forward(root, PHYSICAL)[0]).map
    identity = IndexingMap.from_forms(there.domain.by_name.values(), there.domain)
    assert there.compose(back).simplify() == identity.simplify()


def test_origins_of_runtime_variables_are_in_memory_too() -> None:
    text = """ENTRY e { p = f32[64,512]{1,0:T(8,128)} parameter(0) i = s32[]{:T(128)} parameter(1)
      ROOT r = f32[8,512]{1,0:T(8,128)} dynamic-slice(p, i, i), dynamic_slice_sizes={8,512} }"""
    root = hlo.parse(text).entry.root
    for view, place in [(PHYSICAL, (0, 0)), (LINEAR, (0,))]:
        (origin,) = only(backward(root, view)[0]).runtime
        assert origin.instruction.name == "i"
        assert {results for _, _, _, results in origin.map.points()} == {place}


WITHOUT_PLACES = [
    ("{1,0:SC(0:2)}", "the array lies in several memories"),
    ("{1,0:D(D,C)}", "the layout is sparse"),
]


@for_all(WITHOUT_PLACES)
def test_without_places_there_is_no_map_and_a_reason(layout: str, reason: str) -> None:
    operand = Shape.parse(f"f32[4,3]{layout}")
    root = instruction(operand, Shape.parse("f32[4,3]"), "negate(p)")
    assert only(backward(root, INDICES)[0])
    for ask in (backward, forward):
        answer = ask(root, PHYSICAL)[0]
        assert isinstance(answer, Unknown)
        assert reason in answer.reason


def test_tokens_lie_nowhere() -> None:
    root = hlo.parse("""ENTRY e { p = f32[2] parameter(0) t = token[] after-all()
      ROOT r = (f32[2], token[]) tuple(p, t) }""").entry.root
    for view in (INDICES, PHYSICAL, LINEAR):
        assert pairs(backward(root, view, 1)[1]) == {((), ())}


MODULES = ["tpu/softmax", "tpu/mha_causal", "tpu/conv_zoo", "tpu/dynamic_slice_zoo"]


@pytest.mark.parametrize("name", MODULES)
def test_real_modules(name: str) -> None:
    """What has maps has them in memory."""
    for found in hlo.parse(module_text(name)).instructions:
        for output in range(len(found.shape.arrays)):
            plain = backward(found, INDICES, output)
            for view in (PHYSICAL, LINEAR):
                assert [*map(arrays_in, backward(found, view, output))] == [*map(arrays_in, plain)]


def arrays_in(answer: Indexings) -> set[int] | None:
    """The arrays that an answer leads to, which stay however elements are told."""
    return None if isinstance(answer, Unknown) else {way.element for way in answer}
