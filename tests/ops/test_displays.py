"""How values show: a short `repr`, and HTML that needs nothing and reads as text."""

from __future__ import annotations

from enum import Enum
from html.parser import HTMLParser
from importlib import import_module
from typing import Any, Final

import ops
import simplifier
from indexing import IndexingMap, layout, parse_map
from indexing.layout import Shape, cute, linear
from ops import hlo
from ops.dependence.operand_indexing import OperandIndexing
from ops.performance import A100
from simplifier.problem import Trace
from simplifier.tools.display import html_of_table, html_of_text
from tests.cases import for_all, pairs
from tests.project.sources import ROOT

MODULE: Final = hlo.parse("""HloModule shown
fused { p = f32[64,32] parameter(0) t = f32[32,64] transpose(p), dimensions={1,0}
  ROOT n = f32[32,64] negate(t), metadata={op_name="<script>&"} }
ENTRY e { x = f32[64,32] parameter(0) ROOT f = f32[32,64] fusion(x), kind=kLoop, calls=fused }""")
FUSION: Final = ops.Fusion.of_computation(MODULE.computation("fused"))
MAP: Final = parse_map("(d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 3], d1 in [0, 7]")
TRACE: Final = Trace()
simplifier.simplify(simplifier.parse_expr("(x * 8) floordiv 8"), {}, trace=TRACE)
ROWS: Final = linear.blocked((8, 16), (1, 4), (8, 4), (1, 1), (1, 0))
VALUES: Final = pairs("""
MAP => d0 * 8 + d1
ops.broadcast((8,), (4, 8), (1,)) => operand 0 to result: (d0)[s0] -> (s0, d0)
layout.ArrayShape("f32", (2, 3)) => f32[2,3]{1,0}
layout.layout_picture(Shape.parse("f32[3,5]")).shape.layout => {1,0}
layout.layout_picture(Shape.parse("f32[3,5]")) => picture of f32[3,5]
ops.Unknown("<nobody> knows") => unknown (<nobody> knows)
MAP.image() => (d0): d0 in [0, 31]
MAP | MAP => (d0, d1) -> (d0 * 8 + d1)
MAP.tile([2, 8]) => t0 * 16
FUSION => fusion of %fused that reads %p
MODULE["n"] => %n = f32[32,64]{1,0} negate(%t), metadata={op_name="<script>&"}
MODULE.entry => ENTRY %e
MODULE => computation %fused of 3 instructions
ops.output_to_input(MODULE["t"]).indexing[0] => d1
ops.output_to_input(MODULE["t"]) => 0 %p:
OperandIndexing(MAP, approximation="too long") => too long
ops.analyze(MODULE) => f32[32,64]{1,0}
ops.analyze(MODULE)["t"] => result to operand 0, %p
FUSION.reads(FUSION.operands[0]) => (d1, d0)
FUSION.indexing() => %p: (d0, d1) -> (d1, d0), domain: d0 in [0, 31], d1 in [0, 63]
FUSION.reads_of_operands() => %p 0:
ops.why(MODULE["f"]) => %f needs %x: (d0, d1) -> (d1, d0)
ops.reads(MODULE["f"]) => %x f32[64,32]: [t1, t0]
ops.reads(MODULE["f"])[0] => %x f32[64,32]: [t1, t0]
ops.loops(MODULE) => nothing
ops.diff(MODULE, MODULE) => 8192 bytes read
FUSION.why(FUSION.operands[0])[0] => %p <- %t transpose
ops.schedule_of(MODULE["f"]) => transpose kernel of fusion of %fused
ops.schedule_of(MODULE["f"]).reads(0)[0] => th_x
ops.coalescing(ops.schedule_of(MODULE["f"]).reads(0)[0], A100) => ideal sectors
ops.utilization(MODULE) => 2048
ops.utilization(MODULE).rows[0] => 2048 of 2048 elements
ops.summary(MODULE) => %f = f32[32,64]
ops.summary(MODULE).kernels[0] => %f = f32[32,64]
ops.tilings(FUSION, A100) => shared
ops.propagate(FUSION, [8, 8]) => %p
ops.propagate(FUSION, [8, 8]).tiles[0] => offsets
cute.parse("(4,8):(8,1)") => (4,8):(8,1)
cute.Swizzle(3, 4, 3) => Sw<3,4,3>
cute.parse_composed("Sw<3,4,3> o 0 o 8:1") => Sw<3,4,3> o 0 o 8:1
ROWS => lane=1 -> (0, 4)
linear.conversion(ROWS, ROWS) => moves: nothing
linear.shared_access(ROWS, linear.swizzled_shared((8, 16), vec=1, per_phase=1, max_phase=1), 4)
    4 elements at once
simplifier.rules() => identity
TRACE => x * 8
""")
"""Values, and what is shown of them."""


class Reader(HTMLParser):
    """The text of HTML, and whether every element ends."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.words: list[str] = []
        self.tags: set[str] = set()
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert {name for name, _ in attrs} <= {"class", "scope", "rowspan", "colspan", "open"}
        self.open.append(tag)
        self.tags.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.words.append(data)


def made(call: str) -> Any:  # noqa: ANN401 - of any kind
    more = {"OperandIndexing": OperandIndexing, "A100": A100, "layout": layout, "cute": cute}
    return eval(call, globals(), more)  # noqa: S307 - of the table above


@for_all(VALUES.items())
def test_html_is_whole_alone_and_says_it(call: str, shown: str) -> None:
    page = made(call)._repr_html_()
    reader = Reader(page)
    assert reader.open == []
    assert {"script", "link", "img", "iframe"}.isdisjoint(reader.tags)
    assert "http" not in page
    assert shown in "".join(reader.words)
    assert page == made(call)._repr_html_()


@for_all([*VALUES])
def test_repr_is_short(call: str) -> None:
    text = repr(made(call))
    assert len(text) <= 250
    assert "\n" not in text
    assert "Domain(" not in text


def test_pictures_show_as_svg_alone() -> None:
    picture = MAP.picture(at=[1, 2])
    assert repr(picture).startswith("<AccessPicture: (d0, d1) -> (d0 * 8 + d1) at d0 = 1, d1 = 2;")
    assert not hasattr(picture, "_repr_html_")  # which notebooks would show instead


def test_a_shape_is_read_back_from_its_repr() -> None:
    shape = Shape.parse("(f32[2,3]{0,1:T(2,2)}, pred[<=4])")
    assert eval(repr(shape), {"Shape": Shape}) == shape  # noqa: S307 - our own text


def test_long_tables_and_texts_are_cut() -> None:
    page = html_of_table(["number"], ((str(number),) for number in range(1000)))
    assert page.count("<tr>") == 1 + 50 + 1
    assert "and 950 more" in page
    assert len(html_of_text("x" * 10**6)) < 30_000


def test_numbers_stand_to_the_right() -> None:
    page = html_of_table(["a", "b"], [("1,234.5", "%p"), ("12%", "f32[4]")])
    assert page.count('class="number"') == 2


def test_a_map_of_unknown_size_still_shows() -> None:
    endless = IndexingMap.from_sizes(["d0"], dims=[simplifier.symbol("N")])
    assert "N - 1" in "".join(Reader(endless._repr_html_()).words)


SMALL: Final = {
    *("Contiguity", "Conflict", "DimensionLabels", "Difference", "EinopsPattern"),
    *("LaunchDimensions", "LevelType", "Literal", "Origin", "PaddedLayout", "Step"),
    *("ByVariable", "RuntimeOrigin", "SizeOrigin", "SplitConfig", "Stride", "StridedInterval"),
    *("AliasConflict", "BlockAccess", "BlockSpec", "BlockTraffic", "ElementBlock", "LateRevisit"),
    *("OutOfBoundsAccess", "OutOfBoundsBlock", "PrefetchedScalar", "UnwrittenElement", "WriteRace"),
    *(
        "LoadedInteger",
        "KeptNumber",
        "TensorDescriptor",
        "Variable",
        "BlockSplit",
        "Device",
        "Facts",
        "Interval",
    ),
    *("Readers", "Rule", "Span", "SymbolicInterval", "Batch", "FileAnswer", "Registry", "Root"),
    *("TilingCandidate", "ReductionDimensions", "SharedTile", "SortKernel", "DumpedModule", "Any"),
    *("ModuleEditor", "ArraySize", "Crop", "OneSizedDimensions", "Pad", "Piece", "Reshape"),
    *("TileFormat", "Transpose", "Exploration"),  # the last one is a widget
    *("TileConstraints", "TilingDimension", "Window", "OutOfBoundsElement"),
}
"""Values of one line, which stand inside of others."""


PUBLIC: Final = [page.stem for page in (ROOT / "docs" / "reference").glob("*.md")]


@for_all(PUBLIC)
def test_public_values_show_in_notebooks(package: str) -> None:
    module = import_module(package)
    kinds: list[type[object]] = [
        kind for name in module.__all__ if isinstance(kind := getattr(module, name), type)
    ]
    large = [each for each in kinds if not issubclass(each, (Exception, Enum, str, Warning))]
    silent = [each for each in large if not {"_repr_html_", "_repr_svg_"}.intersection(dir(each))]
    assert {each.__name__ for each in silent} <= SMALL
