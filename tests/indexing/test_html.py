"""Maps in notebooks: text and tables, well-formed, escaped, cut where they are long; LaTeX."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import numpy as np
from hypothesis import assume, given

from indexing import IndexingMap, IndexSet, UndefinedMap, parse_map
from simplifier.tools.display import MAX_ROWS, html
from tests.extent import seldom
from tests.indexing.tables import each_row, evaluated
from tests.strategies import any_maps


def table_of(made: IndexingMap) -> ET.Element:
    """The table and what is around it; fails if it is not well-formed."""
    return ET.fromstring(made._repr_html_())  # noqa: S314 - our own


def rows_of(made: IndexingMap) -> list[list[str]]:
    """The table as a reader sees it: the title of a part stands in its first row only."""
    return [["".join(cell.itertext()) for cell in row] for row in table_of(made).iter("tr")]


# a map => its rows
@each_row("""
(d0, row)[s0]{rt0} -> (d0 floordiv 2 + s0, min(row, 7), 0), domain: d0 in [0, 3], row in [-2, 9],
        s0 in [0, inf], rt0 in [1, 1], d0 * 6 + row in [0, 20]
    dimension | d0 | [0, 3]; row | [-2, 9]; range | s0 | [0, inf]; runtime | rt0 | [1, 1]; result |
        0 | d0 floordiv 2 + s0; 1 | min(row, 7); 2 | 0; constraint | d0 * 6 + row | [0, 20]
(d0) -> ((d0 mod 8) * 4 + (d0 floordiv 8) * 96), domain: d0 in [0, 99]
    dimension | d0 | [0, 99]; result | 0 | (d0 floordiv 8) * 96 + (d0 mod 8) * 4
(d0) -> (d0), domain: KNOWN EMPTY
    dimension | d0 | [0, -1]; result | 0 | 0; domain | known empty |
""")
def test_tables(text: str, shown: str) -> None:
    assert rows_of(parse_map(text)) == [
        [cell.strip() for cell in row.split("|")] for row in shown.split(";")
    ]


def test_a_map_of_nothing_has_no_rows() -> None:
    assert rows_of(parse_map("() -> ()")) == []


@seldom
@given(any_maps())
def test_the_text_above_the_table_is_the_map(made: IndexingMap) -> None:
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
    shown = IndexingMap.identity([4])._repr_html_()
    assert [word for word in ("<script", "http", "url(") if word in shown] == []


@each_row(r"""
d0 * 2 - s0 mod 3 => 2 d_{0} - \left(s_{0} \bmod 3\right)
(d0 + 1) floordiv 4 => \left\lfloor \frac{d_{0} + 1}{4} \right\rfloor
rt0 ceildiv 4 => \left\lceil \frac{rt_{0}}{4} \right\rceil
min(th_x, d0 + 1) => \min\left(d_{0} + 1, th_{x}\right)
min(d0, 2) => \min\left(d_{0}, 2\right)
(-d0) mod 4 => \left(\left(-d_{0}\right) \bmod 4\right)
(d0 mod 2) * 3 + (d0 floordiv 2) * 12 - s0 * 2 + th_x
    12 \left\lfloor \frac{d_{0}}{2} \right\rfloor + 3 \left(d_{0} \bmod 2\right) + th_{x} - 2 s_{0}
th_x * s0 * (d0 + 1) => \left(d_{0} + 1\right) \cdot th_{x} \cdot s_{0}
""")
def test_formulas(result: str, formula: str) -> None:
    declared = "(d0, th_x)[s0]{rt0}"
    bounds = "d0 in [0, 3], th_x in [4, 4], s0 in [0, inf], rt0 in [-inf, inf]"
    made = parse_map(f"{declared} -> ({result}), domain: {bounds}, d0 * 6 + s0 in [-inf, 9]")
    assert made._repr_latex_() == (
        r"$\displaystyle \left(d_{0}, th_{x}\right)\left[s_{0}\right]\left\{rt_{0}\right\} "
        rf"\mapsto \left({formula}\right), \quad \begin{{array}}{{l}} "
        r"0 \le d_{0} \le 3 \\ th_{x} = 4 \\ 0 \le s_{0} \\ rt_{0} \in \mathbb{Z} \\ "
        r"6 d_{0} + s_{0} \le 9 \end{array}$"
    )


# a map or set => what is said
@each_row(r"""
parse_map("() -> ()") => \left(\right) \mapsto \left(\right)
parse_map("(d0) -> (d0), domain: KNOWN EMPTY")
    \left(d_{0}\right) \mapsto \left(0\right), \quad \text{known empty}
IndexSet.box((0, -1)) => \varnothing
""")
def test_what_has_no_domain_or_is_empty(call: str, latex: str) -> None:
    assert evaluated(call, {})._repr_latex_() == rf"$\displaystyle {latex}$"


@given(any_maps())
def test_brackets_and_delimiters_are_balanced(made: IndexingMap) -> None:
    latex = made._repr_latex_()
    assert latex.count(r"\left") == latex.count(r"\right")
    assert latex.startswith("$")
    assert latex.endswith("$")


@each_row(r"""
(i): i in [0, 8] step 4 => 0 \le i \le 8,\; \left(i \bmod 4\right) = 0
(i)<N>: i in [0, N - 1] => 0 \le i \le N - 1,\; 1 \le N
(i): i in [0, 1] or i in [8, 9] => 0 \le i \le 1 \lor \\ 8 \le i \le 9
""")
def test_sets(text: str, latex: str) -> None:
    found = IndexSet.parse(text)._repr_latex_()
    assert rf"\begin{{array}}{{l}} {latex} \end{{array}} \right\}}$" in found


def test_many_pieces_are_cut() -> None:
    many = IndexSet.from_mask(np.arange(400) % 7 % 4 < 1)
    latex = many._repr_latex_()
    assert latex.count(r"\lor") == MAX_ROWS
    assert r"\ldots \end{array}" in latex
