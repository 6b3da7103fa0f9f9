"""The text of maps, both ways: XLA's serialization tests in their order, then everything else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing import (
    IndexingMap,
    MapError,
    UndefinedMap,
    Variable,
    format_map,
    from_affine_map,
    parse_map,
)
from simplifier import FloorDiv, IndexingError, Mod, TextError, format_expr, parse_expr, symbol
from simplifier.expr.form import variable
from simplifier.expr.parser import ExpressionLexer, parse_form, read_expression
from simplifier.expr.printer import DIALECTS, format_form
from tests.conformance import Row, for_each, rows_of
from tests.strategies import any_maps, maps

if TYPE_CHECKING:
    from sympy import Expr


def read_and_written(text: str) -> str:
    """The text of the map that a text describes, on one line; it is that map's text."""
    made = parse_map(text)
    assert parse_map(str(made)) == made
    return str(made)


# XLA's indexing_map_serialization_test.


def test_empty_map() -> None:
    assert read_and_written("() -> ()") == "() -> ()"


# XLA does not read what it prints here; ours does, and keeps a reason.
def test_undefined_map() -> None:
    assert str(UndefinedMap()) == "UNDEFINED"
    assert parse_map("UNDEFINED") == UndefinedMap()
    assert parse_map("UNDEFINED: a sort") == UndefinedMap("a sort")


# XLA prints "KNOWN EMPTY" alone, and does not read it; ours keeps variables and results.
def test_known_empty_map() -> None:
    made = parse_map("(d0) -> (), domain: d0 in [1, 0]")
    assert made.is_known_empty
    assert str(made) == "(d0) -> (), domain: KNOWN EMPTY"
    assert parse_map(str(made)) == made
    assert read_and_written("KNOWN EMPTY") == "() -> (), domain: KNOWN EMPTY"


def one_line(text: str) -> str:
    """A text without its line breaks."""
    return " ".join(text.split())


READ_AND_WRITTEN_ALIKE = [
    (
        "dims_only",
        """
        (d0, d1) -> (d0 mod 2 + d1),
        domain:
        d0 in [0, 3],
        d1 in [-4, 4]
        """,
    ),
    (
        "symbols_only",
        """
        ()[s0, s1] -> (s0 floordiv s1),
        domain:
        s0 in [0, 3],
        s1 in [0, 4]
        """,
    ),
    (
        "runtime_only",
        """
        (){r0, r1} -> (r0),
        domain:
        r0 in [1, 1],
        r1 in [0, 1]
        """,
    ),
    (
        "dims_and_runtime",
        """
        (d0){r0, r1} -> (d0 floordiv r0 + r1),
        domain:
        d0 in [0, 3],
        r0 in [1, 1],
        r1 in [0, 1]
        """,
    ),
    (
        "dims_and_symbols",
        """
        (d0, d1)[s0, s1, s2] -> (s2, d0 + d1, s1, s0),
        domain:
        d0 in [0, 3],
        d1 in [0, 4],
        s0 in [0, 1],
        s1 in [0, 1],
        s2 in [0, 3]
        """,
    ),
    (
        "dims_and_ranges",
        """
        (d0, d1)[s0, s1, s2] -> (s2, d0 + d1, s1, s0),
        domain:
        d0 in [0, 3],
        d1 in [0, 4],
        s0 in [0, 1],
        s1 in [0, 1],
        s2 in [0, 3]
        """,
    ),
    (
        "dims_ranges_and_runtime",
        """
        (d0, d1)[s0, s1, s2]{r0} -> (s2, d0 + d1, s1, s0 * r0),
        domain:
        d0 in [0, 3],
        d1 in [0, 4],
        s0 in [0, 1],
        s1 in [0, 1],
        s2 in [0, 3],
        r0 in [0, 4]
        """,
    ),
    (
        "dim_ranges_runtime_and_constraints",
        """
        (d0, d1)[s0, s1, s2]{r0} -> (s2, d0 + d1, s1, s0, r0),
        domain:
        d0 in [0, 3],
        d1 in [0, 4],
        s0 in [0, 1],
        s1 in [0, 1],
        s2 in [0, 3],
        r0 in [0, 100],
        (r0 + 1) mod 5 in [1, 1],
        d0 mod 4 in [0, 0],
        d1 + s0 in [0, 45]
        """,
    ),
    (
        "int64_bounds",
        """
        (bl_x) -> (bl_x floordiv 100663296),
        domain:
        bl_x in [0, 2415919103]
        """,
    ),
    # XLA keeps the order of the summands as they were written; ours has one of its own.
    (
        "affine_exprs_with_parens",
        """
        (d0, d1)[s0, s1] -> ((d0 + s0) mod 3 + (s0 * 2) mod 3 + (d0 mod 3 + d0) floordiv 3 + s0),
        domain:
        d0 in [0, 9],
        d1 in [0, 19],
        s0 in [0, 29],
        s1 in [0, 39]
        """,
    ),
    # XLA lists the constraints as `(th_x * gpu) mod 4`, `bl_x + s0`: sorted as texts, like ours.
    (
        "custom_names",
        """
        (th_x, bl_x)[s0, vector_elem, s2]{gpu} -> (s2, th_x * gpu + bl_x, vector_elem, s0),
        domain:
        th_x in [0, 3],
        bl_x in [0, 4],
        s0 in [0, 1],
        vector_elem in [0, 1],
        s2 in [0, 3],
        gpu in [0, 1],
        (th_x * gpu) mod 4 in [0, 0],
        bl_x + s0 in [0, 45]
        """,
    ),
]


@pytest.mark.parametrize(
    "text", [t for _, t in READ_AND_WRITTEN_ALIKE], ids=[name for name, _ in READ_AND_WRITTEN_ALIKE]
)
def test_parse_and_check(text: str) -> None:
    assert read_and_written(text) == one_line(text)
    assert one_line(format_map(parse_map(text), multiline=True)) == one_line(text)


# XLA prints the affine map alone; ours has no map without bounds.
def test_affine_map_printer_test() -> None:
    offset, d1, s0, linear_index, gpu_index, r1 = map(
        symbol, ("offset", "d1", "s0", "linear_index", "gpu_index", "r1")
    )
    made = IndexingMap(
        [offset + FloorDiv(d1, 8) - gpu_index * 64, s0 + Mod(linear_index, 16) + r1],
        [Variable((0, 3), "offset"), Variable((0, 3))],
        [Variable((0, 3)), Variable((0, 3), "linear_index")],
        [Variable((0, 3), "gpu_index"), Variable((0, 3), "r1")],
    )
    # XLA writes the sums as they were made: `offset + d1 floordiv 8`, `s0 + linear_index mod 16`.
    assert str(made).partition(", domain")[0] == (
        "(offset, d1)[s0, linear_index]{gpu_index, r1} -> "
        "(d1 floordiv 8 + offset - gpu_index * 64, linear_index mod 16 + s0 + r1)"
    )


# XLA's symbolic_map_serialization_test: expressions, and maps without a domain as MLIR has them.

v0, v1, v2 = map(symbol, ("v0", "v1", "v2"))


# XLA's expressions number their variables; ours name them.
@pytest.mark.parametrize("names", [("v0", "v1"), ("s0", "s1"), ("d0", "s0"), ("d0", "d1")])
def test_print_symbolic_expr_with_different_num_dimensions(names: tuple[str, str]) -> None:
    first, second = map(symbol, names)
    assert format_expr(first * 2 + second) == f"{names[0]} * 2 + {names[1]}"


PRECEDENCE = [
    # XLA writes the first sum as it was made: `v0 + v1 * 2`.
    (v0 + v1 * 2, "v1 * 2 + v0"),
    (Mod(v0, 2) * 4, "(v0 mod 2) * 4"),
    (v0 + (-1), "v0 - 1"),
    (v0 + (-2 * v1), "v0 - v1 * 2"),
    ((v0 + v1) - v2, "v0 + v1 - v2"),
]


@pytest.mark.parametrize(("expression", "text"), PRECEDENCE, ids=[text for _, text in PRECEDENCE])
def test_print_symbolic_expr_operator_precedence(expression: Expr, text: str) -> None:
    assert format_expr(expression) == text


# XLA writes the operands of max and min as they were made.
def test_parse_symbolic_expr_and_print() -> None:
    parsed = parse_form("((((v0 + 42) * max(min(v1, 2), 0)) / 2) ceildiv 2) mod 5")
    assert format_form(parsed, spelling=DIALECTS["/"]) == (
        "((((v0 + 42) * max(min(v1, 2), 0)) / 2) ceildiv 2) mod 5"
    )


def test_parse_symbolic_expr_unary_minus() -> None:
    assert format_expr(parse_expr("-v0")) == "-v0"
    assert format_expr(parse_expr("-(v0 + 1)")) == "-v0 - 1"


# XLA logs "Unexpected end of expression", "Failed to parse expression", "Missing parenthesis".
INVALID = [
    ("1 + ", 3, "expected an expression, but the text ends"),
    ("max(1, )", 7, "expected an expression, but found ')'"),
    ("(1 + 2", 6, "expected ')' for the parenthesis opened at 1:1, but the text ends"),
    ("foo(3, 4)", 3, "expected the end of the text, but found '('"),
]


@pytest.mark.parametrize(("text", "start", "message"), INVALID, ids=[case[0] for case in INVALID])
def test_parse_symbolic_expr_and_print_invalid(text: str, start: int, message: str) -> None:
    with pytest.raises(TextError) as caught:
        parse_expr(text)
    assert (caught.value.span.start, caught.value.message) == (start, message)


# XLA hands back the text that it has not read; our error holds the whole text and the place.
def test_parse_symbolic_expr_and_advance_invalid() -> None:
    with pytest.raises(TextError) as caught:
        parse_expr("1 + ")
    assert caught.value.span.source == "1 + "


def test_parse_symbolic_expr_with_variable_map() -> None:
    known = {"foo": variable("v0"), "dim_bar": variable("v1")}
    assert read_expression(ExpressionLexer("foo + dim_bar * 2"), known) == parse_form("v0 + v1 * 2")
    with pytest.raises(TextError, match="'baz' is not a declared variable"):
        read_expression(ExpressionLexer("baz"), known)


# XLA needs the number of dimensions to read `s0`.
def test_parse_symbolic_expr_dims_and_symbols() -> None:
    assert parse_expr("d0") == symbol("d0")
    assert parse_expr("s0") == symbol("s0")


SYMBOLIC_MAPS = [
    # text, names of dimensions, names of symbols, results
    ("(d0) -> (d0)", ("d0",), (), ("d0",)),
    ("() -> ()", (), (), ()),
    ("()[s0] -> (s0)", (), ("s0",), ("s0",)),
    ("(d0)[s0] -> ()", ("d0",), ("s0",), ()),
    ("(d0)[s0] -> (d0 * 2 + s0 - 5)", ("d0",), ("s0",), ("d0 * 2 + s0 - 5",)),
    (
        "(d0, d1)[range, rt0, rt1] -> (d1, d0, range + rt0, rt1)",
        ("d0", "d1"),
        ("range", "rt0", "rt1"),
        ("d1", "d0", "range + rt0", "rt1"),
    ),
]


@pytest.mark.parametrize(
    ("text", "dims", "symbols", "results"), SYMBOLIC_MAPS, ids=[case[0] for case in SYMBOLIC_MAPS]
)
def test_parse_symbolic_map(
    text: str, dims: tuple[str, ...], symbols: tuple[str, ...], results: tuple[str, ...]
) -> None:
    parsed = from_affine_map(text)
    assert parsed.domain.names == dims + symbols
    assert len(parsed.dims) == len(dims)
    assert parsed.results == tuple(map(parse_expr, results))


INVALID_MAPS = [
    ("(d0) (d0)", 5, "expected '->' before the results, but found '('"),
    ("(d0 -> (d0)", 4, "expected ',' or ')', but found '->'"),
    ("(d0)[s0 -> (d0)", 8, "expected ',' or ']', but found '->'"),
    ("(d0) -> d0", 8, "expected '(' before the results, but found 'd0'"),
]


@pytest.mark.parametrize(
    ("text", "start", "message"), INVALID_MAPS, ids=[case[0] for case in INVALID_MAPS]
)
def test_parse_symbolic_map_invalid(text: str, start: int, message: str) -> None:
    with pytest.raises(TextError) as caught:
        from_affine_map(text)
    assert (caught.value.span.start, caught.value.message) == (start, message)


def test_parse_symbolic_map_and_advance_consumes_all() -> None:
    assert from_affine_map("(d0) -> (d0)").to_affine_map() == "affine_map<(d0) -> (d0)>"


# XLA hands back the suffix; our error says where it begins.
def test_parse_symbolic_map_and_advance_with_suffix() -> None:
    text = "(d0) -> (d0) domain: d0 in [0, 1]"
    with pytest.raises(TextError) as caught:
        from_affine_map(text)
    assert text[caught.value.span.start :] == "domain: d0 in [0, 1]"


@pytest.mark.parametrize("text", ["", "(d0) -> d0"])
def test_parse_symbolic_map_and_advance_invalid(text: str) -> None:
    with pytest.raises(TextError) as caught:
        from_affine_map(text)
    assert caught.value.span.source == text


# The rows of the conformance files.

# XLA prints no more than "KNOWN EMPTY"; ours keeps variables and the number of results.
EMPTY = {
    "infeasible_bound": "(d0) -> (), domain: KNOWN EMPTY",
    "infeasible_bound_2": "(d0) -> (0), domain: KNOWN EMPTY",
    "infeasible_constant_constraint": "(d0) -> (0), domain: KNOWN EMPTY",
}

# Where our order of summands is another: the same map at the same cost.
OTHER_ORDER = {
    "parens": one_line(dict(READ_AND_WRITTEN_ALIKE)["affine_exprs_with_parens"]),
}

# Rows without a text to read, because XLA only prints them.
ONLY_PRINTED = {"undefined_prints": "UNDEFINED"}


@for_each(rows_of("parse", kind="indexing_map_round_trip"))
def test_xla_writes_the_same(row: Row) -> None:
    expected = EMPTY.get(row["id"], OTHER_ORDER.get(row["id"], row["expected"]))
    assert read_and_written(ONLY_PRINTED.get(row["id"]) or row["text"]) == expected


# Every map is read back.


@given(st.one_of(maps(), any_maps()))
def test_every_map_is_read_back(made: IndexingMap) -> None:
    assert parse_map(str(made)) == made


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


WRITTEN = [
    # dialect, text
    (
        "floordiv",
        "(d0) -> ((d0 floordiv 8) * 2 + d0 mod 8), domain: d0 in [0, 9], d0 mod 3 in [1, 2]",
    ),
    ("/", "(d0) -> ((d0 / 8) * 2 + d0 mod 8), domain: d0 in [0, 9], d0 mod 3 in [1, 2]"),
    ("//", "(d0) -> ((d0 // 8) * 2 + d0 % 8), domain: d0 in [0, 9], d0 % 3 in [1, 2]"),
]


@pytest.mark.parametrize(("dialect", "text"), WRITTEN, ids=[dialect for dialect, _ in WRITTEN])
def test_dialects(dialect: str, text: str) -> None:
    made = parse_map(text)
    assert [format_map(made, dialect=name) for name in DIALECTS] == [text for _, text in WRITTEN]
    assert text == format_map(made, dialect=dialect)


def test_an_unknown_dialect_is_refused() -> None:
    with pytest.raises(MapError) as caught:
        format_map(IndexingMap.identity([4]), dialect="c")
    assert str(caught.value) == (
        "format_map: dialect is 'c'; expected one of 'floordiv', '/', '//'"
    )


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
    (
        "(d0) -> (d0 / 8, d0 ceildiv 8), domain: d0 in [0, 9]",
        "(d0) -> (d0 floordiv 8, d0 ceildiv 8), domain: d0 in [0, 9]",
    ),
    (
        "(d0,)[s0,] -> (d0,), domain: d0 in [0, 9], s0 in [0, 1],",
        "(d0)[s0] -> (d0), domain: d0 in [0, 9], s0 in [0, 1]",
    ),
    (
        "(d0)[]{rt0} -> (rt0), domain: d0 in [0, 9], rt0 in [0, 1]",
        "(d0){rt0} -> (rt0), domain: d0 in [0, 9], rt0 in [0, 1]",
    ),
    ("(d0) -> (d0), domain: d0 in [-inf, 9]", "(d0) -> (d0), domain: d0 in [-inf, 9]"),
    ("(d0) -> (d0), domain: d0 in [ - 3 , inf ]", "(d0) -> (d0), domain: d0 in [-3, inf]"),
    (f"(d0) -> (d0), domain: d0 in [0, {10**30}]", f"(d0) -> (d0), domain: d0 in [0, {10**30}]"),
    (
        "(d0) -> (d0 + 1 - 1), domain: d0 in [0, 3], d0 + 1 in [1, 4]",
        "(d0) -> (d0), domain: d0 in [0, 3], d0 + 1 in [1, 4]",
    ),
    (" KNOWN\n EMPTY ", "() -> (), domain: KNOWN EMPTY"),
    ("(d0)[s0] -> (7, s0), domain: KNOWN EMPTY", "(d0)[s0] -> (0, 0), domain: KNOWN EMPTY"),
    ("(row){at} -> (row), domain: KNOWN EMPTY", "(row){at} -> (0), domain: KNOWN EMPTY"),
    # Words that mean something elsewhere in the text are names like others.
    ("(inf) -> (inf), domain: inf in [0, inf]", "(inf) -> (inf), domain: inf in [0, inf]"),
    (
        "(domain) -> (domain), domain: domain in [0, 1]",
        "(domain) -> (domain), domain: domain in [0, 1]",
    ),
    (
        "(KNOWN, EMPTY) -> (EMPTY), domain: KNOWN in [0, 1], EMPTY in [0, 1]",
        "(KNOWN, EMPTY) -> (EMPTY), domain: KNOWN in [0, 1], EMPTY in [0, 1]",
    ),
    # Names of other places are names, too.
    (
        "(d1, d0) -> (d0), domain: d1 in [0, 1], d0 in [0, 2]",
        "(d1, d0) -> (d0), domain: d1 in [0, 1], d0 in [0, 2]",
    ),
    (
        "(s0)[d0] -> (d0), domain: s0 in [0, 1], d0 in [0, 2]",
        "(s0)[d0] -> (d0), domain: s0 in [0, 1], d0 in [0, 2]",
    ),
]


@pytest.mark.parametrize(("read", "written"), SPELLINGS, ids=[read for read, _ in SPELLINGS])
def test_spellings(read: str, written: str) -> None:
    assert read_and_written(read) == written
    assert parse_map(written) == parse_map(read)


# XLA sorts whole lines: "d0 mod 2 + ..." comes before "d0 mod 2 in ...".
def test_constraints_are_sorted_as_lines() -> None:
    text = "(d0) -> (), domain: d0 in [0, 9], d0 mod 2 + d0 in [0, 5], d0 mod 2 in [0, 0]"
    assert (
        read_and_written(
            text.replace(
                "d0 mod 2 + d0 in [0, 5], d0 mod 2 in [0, 0]",
                "d0 mod 2 in [0, 0], d0 mod 2 + d0 in [0, 5]",
            )
        )
        == text
    )


EVERYTHING = (
    "(d0, d1)[s0]{rt0} -> (min(d0, 3) + max(s0, rt0) floordiv 2, d1 ceildiv 3), domain: "
    "d0 in [0, 3], d1 in [-inf, inf], s0 in [0, 9], rt0 in [0, 1], (d0 + s0) mod 2 in [0, 0]"
)


@given(st.data())
def test_a_damaged_text_is_a_map_or_a_error(data: st.DataObject) -> None:
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
