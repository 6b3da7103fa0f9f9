"""The texts in XLA's documentation are read as they are printed there, or refused with a true hint.

They are those of "Indexing analysis", "Shapes and layout" and "Tiled layout".
"""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import pytest

from indexing import from_affine_map, parse_map
from indexing.layout import Shape
from ops import hlo
from simplifier.errors import TextError, TextWarning
from tests.cases import for_all, rows

FILE = Path(__file__).parents[1] / "data" / "documents" / "xla.txt"
READERS = {"map": parse_map, "hlo": hlo.parse}
BLOCKS = [block.split("\n", 1) for block in FILE.read_text("utf-8").strip().split("\n\n")]


def texts(kind: str) -> list[str]:
    return [text for title, text in BLOCKS if title == f"# {kind}"]


def refused() -> list[tuple[str, str, str]]:
    """The kind, the hint and the text of the blocks that are refused."""
    parts = ((title.removeprefix("# refused ").partition(": "), text) for title, text in BLOCKS)
    return [(kind, hint, text) for (kind, _, hint), text in parts if hint]


@for_all(texts("map"))
def test_maps_are_read(text: str) -> None:
    with pytest.warns(TextWarning, match="hlo:") if "hlo:" in text else nullcontext():
        read = parse_map(text)
    assert parse_map(str(read)) == read
    assert len(read.runtime) == text.count("hlo:")


@for_all(texts("unbounded"))
def test_maps_without_a_domain_are_read_if_asked(text: str) -> None:
    with pytest.raises(TextError, match="unbounded=True"):
        parse_map(text)
    assert parse_map(text, unbounded=True) == from_affine_map(text)


@for_all(texts("doubtful"))
def test_maps_that_may_be_meant_otherwise_are_read_with_a_warning(text: str) -> None:
    with pytest.warns(TextWarning, match=r"not as -\(\(x\) floordiv y\)"):
        assert parse_map(text, unbounded=True) == from_affine_map(text)


@for_all(texts("hlo"))
def test_instructions_are_read(text: str) -> None:
    module = hlo.parse(text)
    assert str(hlo.parse(str(module))) == str(module)
    lines = [line.removeprefix("ROOT ") for line in text.split("\n") if " = " in line]
    names = [line.partition(" ")[0].removeprefix("%") for line in lines]
    assert [each.name for each in module.instructions if each.name in names] == names


@for_all(texts("shape"))
def test_shapes_are_read(text: str) -> None:
    assert str(Shape.parse(text)).startswith(text.partition("{")[0].lower())


@for_all(refused)
def test_a_refusal_says_what_to_do(kind: str, hint: str, text: str) -> None:
    with pytest.raises(TextError) as caught:
        READERS[kind](text)
    assert caught.value.hint == hint


SIMPLIFIED = rows("""
(d0, d1) -> (d0 + d1 floordiv 16, d1 mod 16) => 6 14 => (d0, d1) -> (d0, d1)
(d0, d1, d2) -> ((100d0 + 10d1 + d2) floorDiv 100,
     ((100d0 + 10d1 + d2) mod 100) floordiv 10, d2 mod 10) => 9 9 9 => (d0, d1, d2) -> (d0, d1, d2)
(d0, d1) -> (-((-11d0 - d1 + 109) floordiv 11) + 9) => 9 10 => (d0, d1) -> (d0)
""")
"""The last one is printed without the outer parentheses: as it is there, it is doubtful."""


@for_all(SIMPLIFIED)
def test_maps_become_what_the_documentation_says(text: str, highest: str, simple: str) -> None:
    bounds = {f"d{number}": (0, int(last)) for number, last in enumerate(highest.split())}
    simplified = from_affine_map(text, bounds).simplify()
    assert str(simplified).split(", domain")[0] == simple
