"""The text of maps, both ways: spellings, dialects and what is refused."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given

from indexing import IndexingMap, IndexRelation, MapError, format_map, parse_map, parse_relation
from ops import Unknown, hlo, parameter_indexing
from ops.cli import main
from simplifier import Interval, TextError, TextWarning
from simplifier.expr.printer import DIALECTS
from tests.cases import for_all, rows
from tests.strategies import any_maps


def read_and_written(text: str) -> str:
    """The text of the map that a text describes, on one line; it is that map's text."""
    made = parse_map(text)
    assert parse_map(str(made)) == made
    return str(made)


# XLA prints "KNOWN EMPTY" alone, and does not read it; ours keeps variables and results.
def test_known_empty_map() -> None:
    made = parse_map("(d0) -> (), domain: d0 in [1, 0]")
    assert made.is_known_empty
    assert str(made) == "(d0) -> (), domain: KNOWN EMPTY"
    assert parse_map(str(made)) == made
    assert read_and_written("KNOWN EMPTY") == "() -> (), domain: KNOWN EMPTY"


@pytest.mark.parametrize("dialect", list(DIALECTS))
@given(made=any_maps())
def test_every_dialect_is_read_back(dialect: str, made: IndexingMap) -> None:
    assert parse_map(format_map(made, dialect=dialect)) == made
    assert parse_map(format_map(made, dialect=dialect, multiline=True)) == made


@given(any_maps())
def test_line_breaks_mean_nothing(made: IndexingMap) -> None:
    lines = format_map(made, multiline=True)
    assert " ".join(lines.splitlines()) == str(made)
    assert parse_map(lines.replace(" ", "\t ").replace("\n", "\r\n")) == made


# dialect, text
WRITTEN = rows("""
floordiv => (d0) -> ((d0 floordiv 8) * 2 + d0 mod 8), domain: d0 in [0, 9], d0 mod 3 in [1, 2]
/ => (d0) -> ((d0 / 8) * 2 + d0 mod 8), domain: d0 in [0, 9], d0 mod 3 in [1, 2]
// => (d0) -> ((d0 // 8) * 2 + d0 % 8), domain: d0 in [0, 9], d0 % 3 in [1, 2]
""")


@for_all(WRITTEN)
def test_dialects(dialect: str, text: str) -> None:
    made = parse_map(text)
    assert [format_map(made, dialect=name) for name in DIALECTS] == [text for _, text in WRITTEN]
    assert text == format_map(made, dialect=dialect)


def test_an_unknown_dialect_is_refused() -> None:
    message = "^format_map: dialect is 'c'; expected one of 'floordiv', '/', '//'$"
    with pytest.raises(MapError, match=message):
        format_map(IndexingMap.identity([4]), dialect="c")


SPELLINGS = rows(f"""
() -> () => () -> ()
()[]{{}} -> () => () -> ()
() -> (0) => () -> (0)
()->(1+2) => () -> (3)
(d0) -> (d0 // 8, d0 % 8), domain: d0 in [0, 9]
    (d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 9]
(d0) -> (d0 / 8, d0 ceildiv 8), domain: d0 in [0, 9]
    (d0) -> (d0 floordiv 8, d0 ceildiv 8), domain: d0 in [0, 9]
(d0,)[s0,] -> (d0,), domain: d0 in [0, 9], s0 in [0, 1],
    (d0)[s0] -> (d0), domain: d0 in [0, 9], s0 in [0, 1]
(d0)[]{{rt0}} -> (rt0), domain: d0 in [0, 9], rt0 in [0, 1]
    (d0){{rt0}} -> (rt0), domain: d0 in [0, 9], rt0 in [0, 1]
(d0) -> (d0), domain: d0 in [ - 3 , inf ] => (d0) -> (d0), domain: d0 in [-3, inf]
(d0) -> (d0), domain: d0 in [0, {10**30}]
    (d0) -> (d0), domain: d0 in [0, {10**30}]
(d0) -> (d0 + 1 - 1), domain: d0 in [0, 3], d0 + 1 in [1, 4]
    (d0) -> (d0), domain: d0 in [0, 3], d0 + 1 in [1, 4]
KNOWN  EMPTY => () -> (), domain: KNOWN EMPTY
(d0)[s0] -> (7, s0), domain: KNOWN EMPTY => (d0)[s0] -> (0, 0), domain: KNOWN EMPTY
(row){{at}} -> (row), domain: KNOWN EMPTY => (row){{at}} -> (0), domain: KNOWN EMPTY
""")

STAY = """
(d0) -> (d0), domain: d0 in [-inf, 9]
# Words that mean something elsewhere in the text are names like others.
(inf) -> (inf), domain: inf in [0, inf]
(domain) -> (domain), domain: domain in [0, 1]
(KNOWN, EMPTY) -> (EMPTY), domain: KNOWN in [0, 1], EMPTY in [0, 1]
# Names of other places are names, too.
(d1, d0) -> (d0), domain: d1 in [0, 1], d0 in [0, 2]
(s0)[d0] -> (d0), domain: s0 in [0, 1], d0 in [0, 2]
"""


@for_all(
    [
        *SPELLINGS,
        *(row * 2 for row in rows(STAY)),
        (" KNOWN\n EMPTY ", "() -> (), domain: KNOWN EMPTY"),
    ]
)
def test_spellings(read: str, written: str) -> None:
    assert read_and_written(read) == written
    assert parse_map(written) == parse_map(read)


def in_each_order(*names: str) -> list[str]:
    """One map, its parameters declared in each order, with their bounds in that order."""
    bounds = {"N": "N in [2, 9]", "M": "M in [0, 0]", "K": "K in [1, N]"}
    return [
        f"(d0)<{', '.join(order)}> -> (N - M + d0), domain: d0 in [0, K], "
        + ", ".join(bounds[name] for name in order)
        for order in permutations(names)
    ]


@pytest.mark.parametrize("text", in_each_order("N", "M", "K"))
def test_bounds_belong_to_the_parameters_before_them(
    text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    made = parse_map(text)
    assert {each.name: each.bounds for each in made.parameters} == {
        "K": Interval(1, None),
        "M": Interval(0, 0),
        "N": Interval(2, 9),
    }
    assert [made.evaluate([1], parameters={"N": 9, "M": 0, "K": k}) for k in (1, 9)] == [(10,)] * 2
    assert parse_relation(f"{text} or {text}") == IndexRelation(made)
    assert main(["simplify", "-e", text]) == 0
    assert parse_map(capsys.readouterr().out) == made.simplify()


def test_the_ends_of_parameters_are_those_of_the_text() -> None:
    made = parse_map("()<N, M> -> (N - M), domain: N in [2, 9], M in [0, 0]")
    assert made.result_bounds() == (Interval(2, 9),)


WINDOW = "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 2], rt0 in [0, 37]"
WITH_NOTES = {
    "own-text": (f"{WINDOW}\nrt0: %i = s32[] parameter(1); (d0) -> ()", WINDOW),
    "own-text of xla": (f"{WINDOW}\nruntime variables:\nrt0: %i = s32[] f(); (d0) -> ()", WINDOW),
    "own-text of a call": (f"{WINDOW}\nrt0: %i = s32[] parameter(1) in %f; (d0) -> ()\n", WINDOW),
    "own-text of a replica": (f"{WINDOW}\nreplica id: (d0){{rt0}} -> (rt0)", WINDOW),
    "own-text approximate": (f"{WINDOW}\napproximation: more than 160 terms", WINDOW),
    "origin-dropped": (
        """(d0)[s0] -> (d0 + s0)
        domain:
        d0 in [0, 9]
        s0 in [0, 3]
        hlo: of1 = s32[] parameter(1)
        (d0) -> ()""",
        "(d0){s0} -> (d0 + s0), domain: d0 in [0, 9], s0 in [0, 3]",
    ),
}


@for_all(WITH_NOTES)
def test_what_a_text_says_of_origins_is_left_out_with_a_warning(text: str, written: str) -> None:
    with pytest.warns(TextWarning, match="a map has no origins") as caught:
        assert str(parse_map(text)) == written
    assert [warning.filename for warning in caught] == [__file__]
    with pytest.warns(TextWarning, match="a map has no origins"):
        assert parse_relation(f"{text}\nor {text}") == IndexRelation(parse_map(written))


def test_what_the_library_prints_of_an_operand_is_read_back() -> None:
    text = "ENTRY e { x = f32[40] parameter(0) i = s32[] parameter(1)"
    text += "ROOT d = f32[3] dynamic-slice(x, i), dynamic_slice_sizes={3} }"
    entry = hlo.parse(text).entry
    read = parameter_indexing(entry.root)[entry.parameters[0]]
    assert not isinstance(read, Unknown)
    (indexing,) = read
    for multiline in (False, True):
        with pytest.warns(TextWarning, match=r"rt0: %i = s32\[\] parameter\(1\); \(d0\) -> \(\)"):
            assert parse_map(indexing.text(multiline=multiline)) == indexing.map


@pytest.mark.parametrize(
    "text",
    ['#xla.indexing_map<"{}">', ' #map = #xla.indexing_map< "{}" >\n', "#xla_gpu.indexing_map<{}>"],
)
def test_the_attribute_of_mlir_is_read(text: str) -> None:
    assert str(parse_map(text.format(WINDOW))) == WINDOW
    wrong = text.format("(d0) -> (d9), domain: d0 in [0, 1]")
    with pytest.raises(TextError) as caught:
        parse_map(wrong)
    assert wrong[caught.value.span.start :].startswith("d9")


# XLA sorts whole lines: "d0 mod 2 + ..." comes before "d0 mod 2 in ...".
def test_constraints_are_sorted_as_lines() -> None:
    bounds, first, second = "d0 in [0, 9]", "d0 mod 2 + d0 in [0, 5]", "d0 mod 2 in [0, 0]"
    written = read_and_written(f"(d0) -> (), domain: {bounds}, {second}, {first}")
    assert written == f"(d0) -> (), domain: {bounds}, {first}, {second}"
