"""The pictures of the documentation, by file; run as a program, it draws them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from indexing import parse_map
from indexing.layout import Shape
from indexing.layout.picture import svg_of_layout
from ops import access_picture, fusion_graph, hlo, load_picture
from ops.performance import A100

IMAGES: Final = Path(__file__).parents[1] / "docs" / "images"

LAYOUTS: Final = {
    "tiles.svg": "f32[3,5]{1,0:T(2,2)}",
    "tiles-in-tiles.svg": "bf16[4,8]{1,0:T(2,4)(2,1)}",
}

WINDOW: Final = """(d0, d1)[s0] -> (d0 * 2 + s0, d1),
domain: d0 in [0, 3], d1 in [0, 7], s0 in [0, 2]"""

COLUMN: Final = "(th_x) -> (th_x * 40), domain: th_x in [0, 31]"

SOFTMAX: Final = """HloModule m
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
fused {
  p = f32[4,6] parameter(0)
  e = f32[4,6] exponential(p)
  zero = f32[] constant(0)
  sum = f32[4] reduce(e, zero), dimensions={1}, to_apply=add
  b = f32[4,6] broadcast(sum), dimensions={0}
  ROOT q = f32[4,6] divide(e, b)
}
ENTRY main { x = f32[4,6] parameter(0) ROOT f = f32[4,6] fusion(x), kind=kLoop, calls=fused }"""


FIGURES: Final[Mapping[str, Callable[[], str]]] = {
    "reads-of-a-window.svg": lambda: (
        parse_map(WINDOW).picture(at=[range(1, 3), range(2, 6)]).svg()),
    "reads-of-a-softmax.svg": lambda: access_picture(hlo.parse(SOFTMAX)["f"], at=[2, 3]).svg(),
    "graph-of-a-softmax.svg": lambda: fusion_graph(hlo.parse(SOFTMAX)["f"]).svg(),
    "loads-of-a-column.svg": lambda: (
        load_picture(parse_map(COLUMN), A100, element_type="f32").svg()),
}  # fmt: skip

FILES: Final = (*LAYOUTS, *FIGURES)


def drawn(file: str) -> str:
    svg = FIGURES[file]() if file in FIGURES else svg_of_layout(Shape.parse(LAYOUTS[file]))
    return f"{svg}\n"


if __name__ == "__main__":
    for file in FILES:
        (IMAGES / file).write_text(drawn(file), encoding="utf-8")
