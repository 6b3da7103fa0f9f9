"""The text of maps: what XLA reads and writes, and complaints that point at the place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing import IndexingMap, format_map, parse_map
from simplifier import IndexingError, TextError
from tests.carets import Complaint, complaints
from tests.conformance import Row, for_each, rows_of
from tests.strategies import maps

# XLA prints no more than "KNOWN EMPTY"; ours keeps variables and the number of results.
EMPTY = {
    "infeasible_bound": "(d0) -> (), domain: KNOWN EMPTY",
    "infeasible_bound_2": "(d0) -> (0), domain: KNOWN EMPTY",
    "infeasible_constant_constraint": "(d0) -> (0), domain: KNOWN EMPTY",
}

# Where our order of summands is another: the same map at the same cost.
OTHER_ORDER = {
    "parens": (
        "(d0, d1)[s0, s1] -> ((d0 + s0) mod 3 + (s0 * 2) mod 3 + (d0 mod 3 + d0) floordiv 3 + s0), "
        "domain: d0 in [0, 9], d1 in [0, 19], s0 in [0, 29], s1 in [0, 39]"
    ),
}

READ = [row for row in rows_of("parse", kind="indexing_map_round_trip") if row["text"]]


@for_each(READ)
def test_xla_writes_the_same(row: Row) -> None:
    expected = EMPTY.get(row["id"], OTHER_ORDER.get(row["id"], row["expected"]))
    parsed = parse_map(row["text"])
    assert str(parsed) == expected
    assert parse_map(str(parsed)) == parsed


@given(maps())
def test_every_map_is_read_back(made: IndexingMap) -> None:
    assert parse_map(str(made)) == made


@given(maps())
def test_line_breaks_mean_nothing(made: IndexingMap) -> None:
    lines = format_map(made, separator=",\n", lead="\n  ")
    assert parse_map(lines) == made
    assert parse_map(lines.replace(" ", "\t ")) == made


SPELLINGS = [
    # read, written
    ("() -> ()", "() -> ()"),
    ("()[]{} -> ()", "() -> ()"),
    ("() -> (0)", "() -> (0)"),
    ("()->(1+2)", "() -> (3)"),
    (
        "(d0) -> (d0 // 8, d0 % 8), domain: d0 in [0, 9]",
        "(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 9]",
    ),
    ("(d0) -> (d0,), domain: d0 in [0, 9],", "(d0) -> (d0), domain: d0 in [0, 9]"),
    ("(d0) -> (d0), domain: d0 in [-inf, 9]", "(d0) -> (d0), domain: d0 in [-inf, 9]"),
    ("(d0) -> (d0), domain: d0 in [ - 3 , inf ]", "(d0) -> (d0), domain: d0 in [-3, inf]"),
    (f"(d0) -> (d0), domain: d0 in [0, {10**30}]", f"(d0) -> (d0), domain: d0 in [0, {10**30}]"),
    (
        "(d0) -> (d0 + 1 - 1), domain: d0 in [0, 3], d0 + 1 in [1, 4]",
        "(d0) -> (d0), domain: d0 in [0, 3], d0 + 1 in [1, 4]",
    ),
    ("(inf) -> (inf), domain: inf in [0, inf]", "(inf) -> (inf), domain: inf in [0, inf]"),
    (
        "(domain) -> (domain), domain: domain in [0, 1]",
        "(domain) -> (domain), domain: domain in [0, 1]",
    ),
]


@pytest.mark.parametrize(("read", "written"), SPELLINGS, ids=[read for read, _ in SPELLINGS])
def test_spellings(read: str, written: str) -> None:
    assert str(parse_map(read)) == written
    assert parse_map(written) == parse_map(read)


# Every text that XLA refuses, as our reader sees it; `() -> (0)` is refused by XLA only.
OURS_READS = {"constant_result_without_vars"}
ERRORS = """
(d0, d1) -> (d0), domain: d1 in [0, 3], d0 in [0, 3]
                          ^^ expected the bounds of 'd0', but found 'd1'

(d0)[s0] -> (d0), domain: d0 in [0, 3], s1 in [0, 3]
                                        ^^ expected the bounds of 's0', but found 's1'

(d0) -> (d0)
            ^ expected ', domain:', but the text ends

(d0, d1) -> (d0), domain: d0 in [0, 3]
                                      ^ expected the bounds of 'd1', but the text ends

(d0) (d0), domain: d0 in [0, 3]
     ^ expected '->' before the results, but found '('

(d0 -> (d0), domain: d0 in [0, 3]
    ^^ expected ',' or ')', but found '->'

(d0) -> (d0), domain: d0 in [0]
                              ^ expected ',' between the ends of an interval, but found ']'

(d0, d1) -> (d0), domain: d0 in [0, 3] d1 in [0, 3]
                                       ^^ expected ',' before the next part of the domain, but found 'd1'

(d0) -> (d7), domain: d0 in [0, 3]
         ^^ 'd7' is not a declared variable

^ expected '(' before the dimensions, but the text ends

(d0) -> (d0), range: d0 in [0, 3]
              ^^^^^ expected 'domain', but found 'range'

(d0) -> ((d0 + 1), domain: d0 in [0, 3]
                   ^^^^^^ 'domain' is not a declared variable

(d0) -> (d0), domain: d0 in [0, 3.5]
                                 ^ unexpected character '.'

(d0) (d0)
     ^ expected '->' before the results, but found '('

(d0 -> (d0)
    ^^ expected ',' or ')', but found '->'

(d0)[s0 -> (d0)
        ^^ expected ',' or ']', but found '->'

(d0) -> d0
        ^^ expected '(' before the results, but found 'd0'

(d0) -> (d0) x
             ^ expected ', domain:', but found 'x'

UNDEFINED for ever
^^^^^^^^^ expected '(' before the dimensions, but found 'UNDEFINED'

(d0, d0) -> (d0), domain: d0 in [0, 3], d0 in [0, 3]
     ^^ 'd0' is declared twice

(d0)[d0] -> (d0), domain: d0 in [0, 3], d0 in [0, 3]
     ^^ 'd0' is declared twice

(d0, min) -> (d0), domain: d0 in [0, 3]
     ^^^ expected the name of a variable, but found 'min'

(d0) -> (d0),
             ^ expected 'domain', but the text ends

() -> (),
         ^ expected 'domain', but the text ends

(d0) -> (d0 d0), domain: d0 in [0, 3]
            ^^ expected ',' or ')', but found 'd0'

(d0) -> (d0 +), domain: d0 in [0, 3]
             ^ expected an expression, but found ')'

(d0) -> (d0), domain: d0 [0, 3]
                         ^ expected 'in' before an interval, but found '['

(d0) -> (d0), domain: d0 in 3
                            ^ expected '[', but found '3'

(d0) -> (d0), domain: d0 in [0, 3], d0 mod 2
                                            ^ expected 'in' before an interval, but the text ends

(d0) -> (d0), domain: d0 in [inf, 3]
                             ^^^ expected an integer, but found 'inf'

(d0) -> (d0), domain: d0 in [0, 3], s0 in [0, 3]
                                    ^^ 's0' is not a declared variable

(d0) -> (d0), domain: KNOWN
                           ^ expected 'EMPTY', but the text ends

(d0) -> (d0), domain: KNOWN EMPTY, d0 in [0, 3]
                                 ^ expected the end of the text, but found ','

(d0) -> (d0), domain: d0 in [0, 3] ; x
                                   ^ unexpected character ';'
"""  # noqa: E501 - a complaint stands on one line


@pytest.mark.parametrize("complaint", complaints(ERRORS), ids=lambda complaint: complaint.text)
def test_complaints_point_at_the_place(complaint: Complaint) -> None:
    with pytest.raises(TextError) as caught:
        parse_map(complaint.text)
    complaint.check(caught.value)


REFUSED_BY_XLA = [
    *rows_of("parse", kind="indexing_map_error"),
    *rows_of("parse", kind="symbolic_map_error"),
]


@for_each(REFUSED_BY_XLA)
def test_what_xla_refuses_is_drawn_above(row: Row) -> None:
    drawn = {complaint.text for complaint in complaints(ERRORS)}
    assert (row["text"] in drawn) is (row["id"] not in OURS_READS)


EVERYTHING = (
    "(d0, d1)[s0]{rt0} -> (min(d0, 3) + max(s0, rt0) floordiv 2, d1 ceildiv 3), domain: "
    "d0 in [0, 3], d1 in [-inf, inf], s0 in [0, 9], rt0 in [0, 1], (d0 + s0) mod 2 in [0, 0]"
)


@given(st.data())
def test_a_damaged_text_is_a_map_or_a_complaint(data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(EVERYTHING)))
    stop = data.draw(st.integers(start, min(start + 4, len(EVERYTHING))))
    inserted = data.draw(st.text("()[]{},:-+*/% 09dsrtmin\n\0'é", max_size=4))
    cut_off = data.draw(st.booleans())
    text = EVERYTHING[:start] + inserted + ("" if cut_off else EVERYTHING[stop:])
    try:
        damaged = parse_map(text)
    except IndexingError:
        return
    assert parse_map(str(damaged)) == damaged


def test_a_printed_map_of_constants_is_read_back() -> None:
    assert str(parse_map("() -> (0)")) == "() -> (0)"


def test_the_file_is_named() -> None:
    with pytest.raises(TextError) as caught:
        parse_map("(d0) ->\n  (d0", "maps.txt")
    assert (
        str(caught.value) == "maps.txt:2:6: expected ',' or ')', but the text ends\n  (d0\n     ^"
    )


def test_a_long_line_is_shown_around_the_place() -> None:
    results = " + ".join(["d0"] * 500)
    with pytest.raises(TextError) as caught:
        parse_map(f"(d0) -> ({results} + d9), domain: d0 in [0, 3]")
    _, line, caret, _ = str(caught.value).splitlines()
    assert len(line) <= 120
    assert line[caret.index("^") : caret.index("^") + 2] == "d9"


@given(st.text("()[]{}d01s-> +*,:domainKNOWEPTY \n", max_size=40))
def test_any_text_is_read_or_refused_politely(text: str) -> None:
    try:
        made = parse_map(text)
    except TextError as error:
        shown = str(error)
    else:
        shown = ""
        assert parse_map(str(made)) == made
    assert "^" in shown or not shown
