"""Maps as tables: well-formed, escaped, cut where they are long."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest
from hypothesis import assume, given

from indexing import IndexingMap, UndefinedMap, parse_map
from simplifier.tools.display import html
from tests.extent import seldom
from tests.strategies import any_maps


def table_of(made: IndexingMap) -> ET.Element:
    """The table and what is around it; fails if it is not well-formed."""
    return ET.fromstring(made._repr_html_())  # noqa: S314 - our own


def rows_of(made: IndexingMap) -> list[list[str]]:
    """The table as a reader sees it: the title of a part stands in its first row only."""
    return [["".join(cell.itertext()) for cell in row] for row in table_of(made).iter("tr")]


TABLES: list[tuple[str, list[list[str]]]] = [
    # map, rows
    (
        (
            "(d0, row)[s0]{rt0} -> (d0 floordiv 2 + s0, min(row, 7), 0), domain: d0 in [0, 3], "
            "row in [-2, 9], s0 in [0, inf], rt0 in [1, 1], d0 * 6 + row in [0, 20]"
        ),
        [
            ["dimension", "d0", "[0, 3]"],
            ["row", "[-2, 9]"],
            ["range", "s0", "[0, inf]"],
            ["runtime", "rt0", "[1, 1]"],
            ["result", "0", "d0 floordiv 2 + s0"],
            ["1", "min(row, 7)"],
            ["2", "0"],
            ["constraint", "d0 * 6 + row", "[0, 20]"],
        ],
    ),
    (
        "(d0) -> ((d0 mod 8) * 4 + (d0 floordiv 8) * 96), domain: d0 in [0, 99]",
        [["dimension", "d0", "[0, 99]"], ["result", "0", "(d0 floordiv 8) * 96 + (d0 mod 8) * 4"]],
    ),
    (
        "(d0) -> (d0), domain: KNOWN EMPTY",
        [["dimension", "d0", "[0, -1]"], ["result", "0", "0"], ["domain", "known empty", ""]],
    ),
    ("() -> ()", []),
]


@pytest.mark.parametrize(("text", "rows"), TABLES, ids=[text for text, _ in TABLES])
def test_tables(text: str, rows: list[list[str]]) -> None:
    assert rows_of(parse_map(text)) == rows


@seldom
@given(any_maps())
def test_the_text_below_the_table_is_the_map(made: IndexingMap) -> None:
    assume(not made.is_undefined)
    (text,) = table_of(made).iter("pre")
    assert parse_map("".join(text.itertext())) == made


def test_an_undefined_map_says_why() -> None:
    assert UndefinedMap("a <sort> & more")._repr_html_() == html(
        "<p>UNDEFINED: a &lt;sort&gt; &amp; more</p>"
    )


def test_many_rows_are_counted() -> None:
    rows = rows_of(IndexingMap.identity([4] * 60))
    assert [row for row in rows if "more" in row[-2]] == [["and 10 more", ""], ["and 10 more", ""]]
    assert len(rows) == 2 * 51
    assert 'rowspan="51"' in IndexingMap.identity([4] * 60)._repr_html_()


def test_long_expressions_are_cut() -> None:
    terms = " + ".join(f"d0 mod {count}" for count in range(2, 300))
    (_, (_, _, result)) = rows_of(parse_map(f"(d0) -> ({terms}), domain: d0 in [0, 9]"))
    assert len(result) == 1003
    assert result.endswith("...")


def test_a_notebook_needs_no_script_and_no_network() -> None:
    html = IndexingMap.identity([4])._repr_html_()
    assert "<script" not in html
    assert "http" not in html
    assert "url(" not in html
