"""The page in a browser: what is lit is what the maps say, and names do no harm."""

from __future__ import annotations

from collections.abc import Generator
from itertools import pairwise, product
from pathlib import Path

import pytest

from ops import explore, hlo, parameter_indexing
from ops.hlo import Instruction
from tests.explorer.chromium import Context, OpenPage, browser, needs_chromium
from tests.hlo.modules import module_text

pytestmark = [pytest.mark.needs("playwright"), needs_chromium]


@pytest.fixture(scope="module")
def context() -> Generator[Context]:
    """One browser for all tests."""
    with browser() as found:
        yield found


def elements_read(root: Instruction, element: tuple[int, ...]) -> dict[str, set[tuple[int, ...]]]:
    """What an element reads of each parameter, by the maps in Python."""
    found: dict[str, set[tuple[int, ...]]] = {}
    for parameter, answer in parameter_indexing(root).items():
        for indexing in answer.indexings:
            read = found.setdefault(parameter.name, set())
            spans = [range(each.bounds.size or 0) for each in indexing.map.ranges]
            for ranges in product(*spans):
                if indexing.map.contains(element, ranges):
                    read.add((*map(int, indexing.map.evaluate(element, ranges)),))
    return found


def words(count: int) -> str:
    """What the page says of so many elements."""
    return f"{count} element{'' if count == 1 else 's'}"


@pytest.mark.parametrize(
    ("computation", "cell", "element"),
    [
        ("gemm_fusion_dot.5_computation", (7, 40), (7, 80)),
        ("triton_softmax_computation.2", (5, 3), (0, 0, 5, 3)),
        ("fused_transpose.1", (9, 14), (0, 0, 9, 14)),
    ],
)
def test_what_is_lit_is_what_the_maps_say(
    computation: str,
    cell: tuple[int, int],
    element: tuple[int, ...],
    context: Context,
    tmp_path: Path,
) -> None:
    """A cell of a large array is a block; of more than two dimensions, the first slice is shown."""
    module = hlo.parse(module_text("gpu/mha_causal"), "mha_causal.hlo")
    explore(module).write(tmp_path / "page.html")
    opened = OpenPage(context, tmp_path / "page.html")
    opened.search(computation)
    opened.hover(*cell)
    assert opened.page.locator(".place").inner_text() == f"element {element}"
    for name, read in elements_read(module.computation(computation).root, element).items():
        rows, columns = opened.block(name)
        assert opened.lit(name) == {(each[-2] // rows, each[-1] // columns) for each in read}
        assert opened.words(name).startswith(f"reads {words(len(read))}")
    assert opened.complaints == []


def test_the_keyboard_leads_everywhere(context: Context, tmp_path: Path) -> None:
    explore(hlo.load("examples/softmax.hlo")).write(tmp_path / "page.html")
    opened = OpenPage(context, tmp_path / "page.html")
    opened.search("ynn_fusion.1")
    steps = {
        "Enter": "#c=fused_computation.1&i=exp.0",
        "ArrowUp": "#c=fused_computation.1&i=sub.1",
        "ArrowLeft": "#c=fused_computation.1&i=sub.0",
        "ArrowRight": "#c=fused_computation.1&i=sub.1",
        "ArrowDown": "#c=fused_computation.1&i=exp.0",
        "u": "#c=main.3&i=ynn_fusion.1",
    }
    for key, address in steps.items():
        opened.page.keyboard.press(key)
        assert opened.page.evaluate("location.hash") == address
    for key in ("e", "ArrowDown", "ArrowRight", "ArrowRight"):
        opened.page.keyboard.press(key)
    assert opened.page.evaluate("decodeURIComponent(location.hash)").endswith("&at=0,1,4")
    opened.page.keyboard.press("?")
    assert opened.page.locator("dialog").is_visible()
    opened.page.keyboard.press("Escape")
    assert not opened.page.locator("dialog").is_visible()
    assert opened.complaints == []


def test_an_address_is_a_link_to_a_view(context: Context, tmp_path: Path) -> None:
    explore(hlo.load("examples/softmax.hlo")).write(tmp_path / "page.html")
    address = "#c=fused_computation.1&i=exp.0&at=1%2C2%2C3"
    opened = OpenPage(context, tmp_path / "page.html", address)
    assert opened.page.locator(".place").inner_text() == "element (1, 2, 3)"
    assert opened.words("param_0.1") == "reads 128 elements in 129 reads: (1, 2, 0…127)"
    assert opened.page.locator(".line.current").inner_text().startswith("49")
    assert opened.complaints == []


def test_the_back_button_leads_to_what_was_shown_before(context: Context, tmp_path: Path) -> None:
    explore(hlo.load("examples/softmax.hlo")).write(tmp_path / "page.html")
    opened = OpenPage(context, tmp_path / "page.html", "#c=main.3&i=ynn_fusion.1")
    for key in ("ArrowUp", "e", "ArrowDown", "Escape"):  # elements are no steps
        opened.page.keyboard.press(key)
    assert opened.page.locator(".reads h2").inner_text().startswith("%x.1")
    opened.page.go_back()
    opened.page.locator(".reads h2", has_text="%ynn_fusion.1").wait_for()
    assert opened.complaints == []


def test_nothing_overlaps_where_there_is_little_room(context: Context, tmp_path: Path) -> None:
    explore(hlo.load("examples/mha_causal.hlo")).write(tmp_path / "page.html")
    opened = OpenPage(context, tmp_path / "page.html")
    opened.page.set_viewport_size({"width": 400, "height": 800})
    boxes = [
        opened.page.locator(f".explorer {part}").bounding_box()
        for part in ("header", ".list", ".graph", ".reads", ".text")
    ]
    ends = [(box["y"], box["y"] + box["height"]) for box in boxes]
    assert all(end <= start for (_, end), (start, _) in pairwise(ends))
    assert opened.page.evaluate("document.documentElement.scrollWidth") == 400


HOSTILE = """HloModule m, entry_computation_layout={(f32[4]{0})->f32[4]{0}}
ENTRY e {
  p = f32[4]{0} parameter(0), metadata={op_name="</script><img src=x onerror=alert(1)>"}
  ROOT n = f32[4]{0} negate(p), metadata={source_file="<script>alert(2)</script>" source_line=1}
}
"""


def test_text_is_never_markup(context: Context, tmp_path: Path) -> None:
    explore(hlo.parse(HOSTILE, "<img src=x onerror=alert(3)>")).write(tmp_path / "page.html")
    opened = OpenPage(context, tmp_path / "page.html")
    opened.search("script")
    assert "<script>alert(2)</script>" in opened.page.locator(".reads h2").inner_text()
    assert opened.page.locator("img").count() == 0
    assert opened.complaints == []


def test_many_instructions_are_shown_in_part(context: Context, tmp_path: Path) -> None:
    text = " ".join(f"x{n + 1} = f32[8] negate(x{n})" for n in range(10_000))
    module = hlo.parse(f"HloModule m ENTRY e {{ x0 = f32[8] parameter(0)\n{text} }}")
    explore(module).write(tmp_path / "page.html")
    opened = OpenPage(context, tmp_path / "page.html")
    opened.search("x5000")
    assert opened.page.locator(".box").count() == 150
    assert opened.page.locator(".graph .note").inner_text().startswith("150 of 10001 instructions")
    assert opened.page.locator(".list li").count() <= 200
    assert opened.complaints == []
