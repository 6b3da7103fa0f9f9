"""The command `layout`: what it prints and draws, and what it says of bad input."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import pytest

from indexing import parse_map
from indexing.layout import Shape, linear_index
from indexing.layout.picture import svg_of_layout
from tests.cli.command_line import CommandLine

FIGURE_1 = "f32[3,5]{1,0:T(2,2)}"

TEXT = """\
f32[2,4]{0,1:T(2,2)}:
  order: x, y from major to minor, in 2 x 1 tiles of 2 x 2
  size: 8 places of 32 bits, 32 bytes
  physical shape: f32[2,1,2,2]
  steps: transpose (2,4) to (4,2), reshape (4,2) to (2,2,1,2), transpose (2,2,1,2) to (2,1,2,2)
  strides: y 1, x 2
  format: none with a name; XLA picks TPU 4x128 on a TPU
  memory space: 0, high-bandwidth memory (HBM)
  from an index to the offset:
    (d0, d1) -> (d1 * 2 + d0),
    domain:
    d0 in [0, 1],
    d1 in [0, 3]
  from an index to the tiled dimensions:
    (d0, d1) -> (d1 floordiv 2, 0, d1 mod 2, d0),
    domain:
    d0 in [0, 1],
    d1 in [0, 3]
  from an offset to the index:
    (d0) -> (d0 mod 2, d0 floordiv 2),
    domain:
    d0 in [0, 7]
  y, x  0 1 2 3
       +---+---+
     0 |0 2|4 6|
     1 |1 3|5 7|
       +---+---+
"""


def test_text(cli: CommandLine) -> None:
    assert cli("layout", "f32[2,4]{0,1:T(2,2)}") == TEXT


FIELDS = """{
  "shape": "f32[3,5]{1,0:T(2,2)}", "order": "y, x from major to minor, in 2 x 3 tiles of 2 x 2",
  "physical_shape": [2, 3, 2, 2], "steps": ["pad (3,5) to (4,6)", "reshape (4,6) to (2,2,3,2)",
    "transpose (2,2,3,2) to (2,3,2,2)"],
  "places": 24, "padding": 9, "element_bits": 32, "bits": 768, "bytes": 96,
  "strides": [null, null], "format": null, "tpu_format": "TPU 4x128",
  "memory_space": 0, "memory_space_name": "high-bandwidth memory (HBM)"
}"""


def test_json(cli: CommandLine) -> None:
    document = cli.document("layout", FIGURE_1)
    (layout,) = document.pop("layouts")
    assert document == {"schema_version": 1, "command": "layout", "picture": None, "errors": []}
    maps = layout.pop("maps")
    assert layout == json.loads(FIELDS)
    offset = parse_map(maps["logical_to_linear"]["text"])
    assert offset.evaluate([2, 3]) == (linear_index((2, 3), Shape.parse(FIGURE_1)),) == (17,)
    assert list(maps) == ["logical_to_linear", "logical_to_tiled", "linear_to_logical"]


def test_a_picture_is_an_svg_that_can_be_written(cli: CommandLine) -> None:
    file = cli.folder / "layout.svg"
    assert cli("layout", FIGURE_1, "-o", file).startswith(f"{FIGURE_1}:\n  order: ")
    assert file.read_text("utf-8") == f"{svg_of_layout(Shape.parse(FIGURE_1))}\n"
    assert ET.parse(file).getroot().get("role") == "img"  # noqa: S314 - we wrote it
    file = cli.folder / "layout.png"
    message = f"{file}: the picture is an SVG, not .png; expected a name in .svg"
    assert cli.error("layout", FIGURE_1, "-o", file) == f"error: {message}\n"
    assert not file.exists()
    expected = f"error: {cli.folder}: Is a directory\n"
    assert cli.error("layout", FIGURE_1, "-o", cli.folder) == expected


SHAPES = [
    ("f32[]", "order: a scalar"),
    ("f32[7]", "order: in order"),
    ("f32[0,3]", "The array has no elements."),
    ("u8[300]{0:T(512)(128)(4,1)}", "13 of 512 columns are shown."),
    ("bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)S(1)}", "1, on-chip memory (VMEM)"),
    ("f32[16,500]{1,0:T(8,128)}", "format: TPU 8x128; XLA picks TPU 8x128 on a TPU"),
]


@pytest.mark.parametrize(("text", "words"), SHAPES)
def test_any_array_is_answered(text: str, words: str, cli: CommandLine) -> None:
    assert words in cli("layout", text)


BAD = [
    ("f32[2,?]", "1:1: f32[2,?]{1,0}: a dimension has no bound", "^" * 8),
    ("token[]", "1:1: token[] has no layout; expected the shape of an array", "^" * 7),
    ("f32[2,", "1:7: expected a number, but the text ends", "      ^"),
]


@pytest.mark.parametrize(("text", "message", "carets"), BAD)
def test_bad_shape(text: str, message: str, carets: str, cli: CommandLine) -> None:
    said, *excerpt = cli.error("layout", text).splitlines()
    assert said.startswith(f"error: {message}")
    assert excerpt == [text, carets]
