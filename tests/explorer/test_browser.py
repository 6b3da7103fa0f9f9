"""The page in a browser: what is lit is what the maps say, and names do no harm."""

from __future__ import annotations

from collections.abc import Callable, Generator
from itertools import pairwise, product
from pathlib import Path
from typing import TypeAlias

import pytest

from ops import explore, hlo, parameter_indexing, summary
from ops.hlo import HloModule, Instruction
from ops.performance.tally import at_most
from tests.explorer.chromium import Context, OpenPage, browser, needs_chromium
from tests.hlo.modules import module_text

pytestmark = [pytest.mark.needs("playwright"), needs_chromium]


@pytest.fixture(scope="module")
def context() -> Generator[Context]:
    with browser() as found:
        yield found


Opener: TypeAlias = "Callable[..., OpenPage]"


@pytest.fixture
def opened(context: Context, tmp_path: Path) -> Generator[Opener]:
    """Opens the page about a module, of which the browser must not complain."""
    pages: list[OpenPage] = []

    def opened_page(module: HloModule, address: str = "") -> OpenPage:
        explore(module).write(tmp_path / "page.html")
        pages.append(OpenPage(context, tmp_path / "page.html", address))
        return pages[-1]

    yield opened_page
    assert [page.complaints for page in pages] == [[]]


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
    return f"{count} element{'' if count == 1 else 's'}"


BLOCKS = [
    ("gemm_fusion_dot.5_computation", (7, 40), (7, 120)),
    ("triton_softmax_computation.2", (5, 3), (0, 0, 5, 3)),
    ("fused_transpose.1", (9, 14), (0, 0, 9, 14)),
]


@pytest.mark.parametrize(("computation", "cell", "element"), BLOCKS)
def test_what_is_lit_is_what_the_maps_say(
    computation: str, cell: tuple[int, int], element: tuple[int, ...], opened: Opener
) -> None:
    """A cell of a large array is a block; of more than two dimensions, the first slice is shown."""
    module = hlo.parse(module_text("gpu/mha_causal"), "mha_causal.hlo")
    shown = opened(module)
    shown.search(computation)
    shown.hover(*cell)
    assert shown.page.locator(".place").inner_text() == f"element {element}"
    for name, read in elements_read(module.computation(computation).root, element).items():
        rows, columns = shown.block(name)
        assert shown.lit(name) == {(each[-2] // rows, each[-1] // columns) for each in read}
        assert shown.words(name).startswith(f"reads {words(len(read))}")


SOFTMAX = hlo.load("examples/softmax.hlo")


def test_the_keyboard_leads_everywhere(opened: Opener) -> None:
    shown = opened(SOFTMAX)
    shown.search("ynn_fusion.1")
    press = shown.page.keyboard.press
    steps = {
        "Enter": "#c=fused_computation.1&i=exp.0",
        "ArrowUp": "#c=fused_computation.1&i=sub.1",
        "ArrowLeft": "#c=fused_computation.1&i=sub.0",
        "ArrowRight": "#c=fused_computation.1&i=sub.1",
        "ArrowDown": "#c=fused_computation.1&i=exp.0",
        "u": "#c=main.3&i=ynn_fusion.1",
    }
    for key, address in steps.items():
        press(key)
        assert shown.page.evaluate("location.hash") == address
    for key in ("e", "ArrowDown", "ArrowRight", "ArrowRight"):
        press(key)
    assert shown.page.evaluate("decodeURIComponent(location.hash)").endswith("&at=0,1,4")
    press("?")
    assert shown.page.locator("dialog").is_visible()
    press("Escape")
    assert not shown.page.locator("dialog").is_visible()


def test_an_address_is_a_link_to_a_view(opened: Opener) -> None:
    shown = opened(SOFTMAX, "#c=fused_computation.1&i=exp.0&at=1%2C2%2C3")
    assert shown.page.locator(".place").inner_text() == "element (1, 2, 3)"
    assert shown.words("param_0.1") == "reads 128 elements in 129 reads: (1, 2, 0…127)"
    assert shown.page.locator(".line.current").inner_text().startswith("49")


def test_the_back_button_leads_to_what_was_shown_before(opened: Opener) -> None:
    shown = opened(SOFTMAX, "#c=main.3&i=ynn_fusion.1")
    for key in ("ArrowUp", "e", "ArrowDown", "Escape"):  # elements are no steps
        shown.page.keyboard.press(key)
    assert shown.page.locator(".reads h2").inner_text().startswith("%x.1")
    shown.page.go_back()
    shown.page.locator(".reads h2", has_text="%ynn_fusion.1").wait_for()


def test_nothing_overlaps_where_there_is_little_room(opened: Opener) -> None:
    shown = opened(hlo.load("examples/mha_causal.hlo"))
    shown.page.set_viewport_size({"width": 400, "height": 800})
    boxes = [
        shown.page.locator(f".explorer {part}").bounding_box()
        for part in ("header", ".list", ".graph", ".reads", ".text")
    ]
    ends = [(box["y"], box["y"] + box["height"]) for box in boxes]
    assert all(end <= start for (_, end), (start, _) in pairwise(ends))
    assert shown.page.evaluate("document.documentElement.scrollWidth") == 400


HOSTILE = """HloModule m, entry_computation_layout={(f32[4]{0})->f32[4]{0}}
ENTRY e {
  p = f32[4]{0} parameter(0), metadata={op_name="</script><img src=x onerror=alert(1)>"}
  ROOT n = f32[4]{0} negate(p), metadata={source_file="<script>alert(2)</script>" source_line=1} }
"""


def test_text_is_never_markup(opened: Opener) -> None:
    shown = opened(hlo.parse(HOSTILE, "<img src=x onerror=alert(3)>"))
    shown.search("script")
    assert "<script>alert(2)</script>" in shown.page.locator(".reads h2").inner_text()
    assert shown.page.locator("img").count() == 0


def test_many_instructions_are_folded_to_groups_that_open_and_close(opened: Opener) -> None:
    text = " ".join(f"x{n + 1} = f32[8] negate(x{n})" for n in range(10_000))
    shown = opened(hlo.parse(f"HloModule m ENTRY e {{ x0 = f32[8] parameter(0)\n{text} }}"))
    shown.search("x5000")
    shown.page.locator(".box.chosen", has_text="%x5000").wait_for()
    boxes, frames = shown.page.locator(".box"), shown.page.locator(".frame")
    before = boxes.count(), frames.count()
    assert before[0] <= 60
    note = f"10,001 instructions in {before[0]} boxes"
    assert shown.page.locator(".graph p.note").inner_text().startswith(note)
    group = shown.page.locator(".box.group").first
    assert group.text_content().endswith(" elementwise")
    group.press("Enter")
    assert frames.count() == before[1] + 1
    shown.page.locator(".frame:focus").press("Enter")
    assert (boxes.count(), frames.count()) == before
    frames.last.locator("text").click()  # that of the chosen one, which stays
    assert frames.count() == before[1] - 1
    assert "%x5000" in shown.page.locator(".box.chosen").text_content()
    assert shown.page.locator(".list .bar").count() == 200


def test_it_opens_on_the_kernel_that_moves_most_and_borders_move(opened: Opener) -> None:
    module = hlo.load("examples/transformer_block_fwd.hlo")
    shown = opened(module)
    first = max(summary(module), key=lambda kernel: at_most(kernel.bytes))
    title = shown.page.locator(".list li:not(.heading) .title").first.inner_text()
    assert shown.page.locator(".reads h2").inner_text().startswith(f"%{title}")
    assert title == first.fusion.roots[0].name
    assert shown.page.locator(".place").inner_text() == "element (0, 0)"
    wide, border = shown.page.locator("nav.list"), shown.page.get_by_label("width of the list")
    before = wide.bounding_box()["width"]
    border.press("ArrowRight")
    assert wide.bounding_box()["width"] == before + 24
