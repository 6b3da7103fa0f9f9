"""Wrong maps: every error names the place, in a text with line, column and caret."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from indexing import IndexingMap, MapError, Variable, VariableKind, parse_map
from simplifier import ConversionError, FloorDiv, IndexingError, TextError, symbol
from tests.call_counts import calls_of
from tests.carets import DrawnError, drawn_errors
from tests.cases import for_all
from tests.conformance import Row, for_each, rows_of
from tests.extent import IN_CI

# Texts.

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
                      ^^^^^ expected the bounds of 'd0', but found 'KNOWN'

(d0) -> (d0), domain: KNOWN EMPTY, d0 in [0, 3]
                                 ^ expected the end of the text, but found ','

(d0) -> (d0), domain: d0 in [0, 3] ; x
                                   ^ unexpected character ';'

(d0, d1) -> (d0), domain: d0 in [0, 3], d1 in [0, 3], d2 in [0, 3]
                                                      ^^ 'd2' is not a declared variable

(d0) -> (d0), domain: d0 in [0, 3], d0
                                      ^ expected 'in' before an interval, but the text ends

(d0) -> (d0), domain: in [0, 3]
                      ^^ expected the bounds of 'd0', but found 'in'

(d0) -> (d0), domain: d0 in [0, 3]]
                                  ^ expected ',' before the next part of the domain, but found ']'

(d0) -> (d0), domain: d0 in [[0, 3]
                             ^ expected an integer, but found '['

(d0) -> (d0), domain: d0 in (0, 3)
                            ^ expected '[', but found '('

(d0) -> (d0), domain: d0 in [0; 3]
                              ^ unexpected character ';'

(d0) -> (d0), domain: d0 in [0, 3, 4]
                                 ^ expected ']', but found ','

(d0) -> (d0), domain: d0 in [0 3]
                               ^ expected ',' between the ends of an interval, but found '3'

(d0) -> (d0), domain: d0 in [, 3]
                             ^ expected an integer, but found ','

(d0) -> (d0), domain: d0 in []
                             ^ expected an integer, but found ']'

(d0) -> (d0), domain: d0 in [0, three]
                                ^^^^^ expected an integer, but found 'three'

(d0) -> (d0), domain: d0 in [0, 1e3]
                                ^^^ expected an integer, but found '1e3'

(d0) -> (d0), domain: d0 in [0, 0x10]
                                ^^^^ expected an integer, but found '0x10'

(d0) -> (d0), domain: d0 in [0, 1 + 2]
                                  ^ expected ']', but found '+'

(d0) -> (d0), domain: d0 in [0, --3]
                                 ^ expected an integer, but found '-'

(d0) -> (d0), domain: d0 in [0, +3]
                                ^ expected an integer, but found '+'

(d0) -> (d0), domain: d0 in [0, -inf]
                                 ^^^ expected an integer, but found 'inf'

(d0) -> (d0), domain: d0 in [0, nan]
                                ^^^ expected an integer, but found 'nan'

(d0) -> (d0), domain: d0 in [0, True]
                                ^^^^ expected an integer, but found 'True'

(d0) -> (d0), domain: d0 in [0, d0]
                                ^^ expected an integer, but found 'd0'

(d0) -> (d0), domain: d0 in [0, None]
                                ^^^^ expected an integer, but found 'None'

(d0) -> (d0), domain: d0 in [0, "3"]
                                ^ unexpected character '"'

(d0) -> (d0), domain: d0 in [0, 1_000]
                                ^^^^^ expected an integer, but found '1_000'

(d0) -> (d0), domain d0 in [0, 3]
                     ^^ expected ':', but found 'd0'

(d0) -> (d0) domain: d0 in [0, 3]
             ^^^^^^ expected ', domain:', but found 'domain'

(d0) -> (d0), Domain: d0 in [0, 3]
              ^^^^^^ expected 'domain', but found 'Domain'

(d0) -> (d0), domain: 0 <= d0, d0 <= 3
                      ^ expected the bounds of 'd0', but found '0'

(d0) -> (d0), domain: d0 = 3
                         ^ expected 'in' before an interval, but found '='

(d0) -> (1.5), domain: d0 in [0, 3]
          ^ unexpected character '.'

(d0) -> (d0 * 0.5), domain: d0 in [0, 3]
               ^ unexpected character '.'

(d0) -> (1e3), domain: d0 in [0, 3]
         ^^^ 'e3' is not a declared variable

(d0) -> (true), domain: d0 in [0, 3]
         ^^^^ 'true' is not a declared variable

(d0) -> (d0 and 1), domain: d0 in [0, 3]
            ^^^ expected ',' or ')', but found 'and'

(d0) -> (not d0), domain: d0 in [0, 3]
         ^^^ expected an expression, but found 'not'

(d0) -> (d0 == 1), domain: d0 in [0, 3]
            ^^ expected ',' or ')', but found '=='

(d0) -> (d0 < 1), domain: d0 in [0, 3]
            ^ expected ',' or ')', but found '<'

(d0) -> (d0 ** 2), domain: d0 in [0, 3]
             ^ expected an expression, but found '*'

(d0) -> (d0 ^ 2), domain: d0 in [0, 3]
            ^ unexpected character '^'

(d0) -> (2d1), domain: d0 in [0, 3]
         ^^^ 'd1' is not a declared variable

(d0) -> (2mod 3), domain: d0 in [0, 3]
          ^ unexpected character 'm'

(d0) -> (2 d0), domain: d0 in [0, 3]
           ^^ expected ',' or ')', but found 'd0'

(d0) -> (d0 // // 2), domain: d0 in [0, 3]
               ^^ expected an expression, but found '//'

(d0) -> (floordiv 2), domain: d0 in [0, 3]
         ^^^^^^^^ expected an expression, but found 'floordiv'

(d0) -> (d0 div 2), domain: d0 in [0, 3]
            ^^^ expected ',' or ')', but found 'div'

(d0) -> (D0), domain: d0 in [0, 3]
         ^^ 'D0' is not a declared variable

(d0) -> (abs(d0)), domain: d0 in [0, 3]
         ^^^ 'abs' is not a declared variable

(d0) -> (floor(d0 / 2)), domain: d0 in [0, 3]
         ^^^^^ 'floor' is not a declared variable

(d0) -> (min()), domain: d0 in [0, 3]
             ^ expected an expression, but found ')'

(d0) -> (min(d0, )), domain: d0 in [0, 3]
                 ^ expected an expression, but found ')'

(d0) -> (d0, , d0), domain: d0 in [0, 3]
             ^ expected an expression, but found ','

(d0) -> (, d0), domain: d0 in [0, 3]
         ^ expected an expression, but found ','

(d0) -> (), domain: d0 in [0, 3], () in [0, 3]
                                   ^ expected an expression, but found ')'

(d0) -> (d0)), domain: d0 in [0, 3]
            ^ expected ', domain:', but found ')'

(d0) -> [d0], domain: d0 in [0, 3]
        ^ expected '(' before the results, but found '['

(d0) => (d0), domain: d0 in [0, 3]
     ^ expected '->' before the results, but found '='

(d0) - > (d0), domain: d0 in [0, 3]
     ^ expected '->' before the results, but found '-'

(d0) → (d0), domain: d0 in [0, 3]
     ^ unexpected character '→'

(d0)[s0][s1] -> (d0), domain: d0 in [0, 3]
        ^ expected '->' before the results, but found '['

(d0){rt0}[s0] -> (d0), domain: d0 in [0, 3]
         ^ expected '->' before the results, but found '['

[s0](d0) -> (d0), domain: s0 in [0, 3]
^ expected '(' before the dimensions, but found '['

(0) -> (0), domain: 0 in [0, 3]
 ^ expected the name of a variable, but found '0'

(d0 d1) -> (d0), domain: d0 in [0, 3]
    ^^ expected ',' or ')', but found 'd1'

(,) -> (), domain: d0 in [0, 3]
 ^ expected the name of a variable, but found ','

(d-0) -> (d0), domain: d0 in [0, 3]
  ^ expected ',' or ')', but found '-'

(dé) -> (dé), domain: dé in [0, 3]
  ^ unexpected character 'é'

(d0) -> (__import__('os')), domain: d0 in [0, 3]
                    ^ unexpected character "'"

(d0) -> (d0), domain: d0 in [0, __import__('os').getpid()]
                                           ^ unexpected character "'"

__import__('os').system('true')
           ^ unexpected character "'"

(lambda: 0)()
       ^ expected ',' or ')', but found ':'

KNOWN
^^^^^ expected '(' before the dimensions, but found 'KNOWN'

KNOWN EMPTY, domain: d0 in [0, 3]
           ^ expected the end of the text, but found ','

UNDEFINED because
^^^^^^^^^ expected '(' before the dimensions, but found 'UNDEFINED'

undefined
^^^^^^^^^ expected '(' before the dimensions, but found 'undefined'

None
^^^^ expected '(' before the dimensions, but found 'None'

{"results": []}
 ^ unexpected character '"'

affine_map<(d0) -> (d0)>
^^^^^^^^^^ expected '(' before the dimensions, but found 'affine_map'

#map = (d0) -> (d0)
^ unexpected character '#'

() -> (), domain: 1
                   ^ expected 'in' before an interval, but the text ends

() -> (), domain: d0 in [0, 1]
                  ^^ 'd0' is not a declared variable

() -> () ()
         ^ expected ', domain:', but found '('

(d0) -> (d0), domain: d0 in [0, 3], d0 mod 2 in [0, 1]; d0 in [0, 1]
                                                      ^ unexpected character ';'

(d0) -> (d0), domain: d0 in [0, 3], d0 + in [0, 3]
                                         ^^ expected an expression, but found 'in'

(d0) -> (d0), domain: d0 in [0, 3], KNOWN EMPTY
                                    ^^^^^ 'KNOWN' is not a declared variable
"""  # noqa: E501 - a error stands on one line


@for_all(drawn_errors(ERRORS), lambda error: error.text)
def test_errors_point_at_the_place(error: DrawnError) -> None:
    with pytest.raises(TextError) as caught:
        parse_map(error.text)
    error.check(caught.value)


# Every text that XLA refuses is drawn above; `() -> (0)` is refused by XLA only.
OURS_READS = {"constant_result_without_vars"}
REFUSED_BY_XLA = [
    row
    for kind in ("indexing_map_error", "symbolic_map_error")
    for row in rows_of("parse", kind=kind)
    if row["expected"] is None
]


@for_each(REFUSED_BY_XLA)
def test_what_xla_refuses_is_drawn_above(row: Row) -> None:
    drawn = {error.text for error in drawn_errors(ERRORS)}
    assert (row["text"] in drawn) is (row["id"] not in OURS_READS)


LATER_LINES = [
    # text, error
    ("(d0) ->\n  (d0", "maps.txt:2:6: expected ',' or ')', but the text ends\n  (d0\n     ^"),
    (
        "(d0) -> (d0),\r\ndomain:\r\n\td0 in [0, x]\r\n",
        "maps.txt:3:12: expected an integer, but found 'x'\n d0 in [0, x]\n           ^",
    ),
    (
        "(d0)\n-> (d0\0)",
        "maps.txt:2:7: unexpected character '\\x00'\n-> (d0\N{REPLACEMENT CHARACTER})\n      ^",
    ),
    (
        "(d0) -> (d0\N{ARABIC-INDIC DIGIT THREE})",
        (
            "maps.txt:1:12: unexpected character '\N{ARABIC-INDIC DIGIT THREE}'\n"
            "(d0) -> (d0\N{ARABIC-INDIC DIGIT THREE})\n           ^"
        ),
    ),
    (
        "(d0) -> (0.5)",
        (
            "maps.txt:1:11: unexpected character '.'\n(d0) -> (0.5)\n          ^\n"
            "hint: all numbers are integers"
        ),
    ),
    (
        "(d0) -> (d1)",
        (
            "maps.txt:1:10: 'd1' is not a declared variable\n(d0) -> (d1)\n         ^^\n"
            "hint: declared: d0"
        ),
    ),
]


@pytest.mark.parametrize(("text", "error"), LATER_LINES, ids=[text for text, _ in LATER_LINES])
def test_file_line_and_hint_are_shown(text: str, error: str) -> None:
    with pytest.raises(TextError) as caught:
        parse_map(text, "maps.txt")
    assert str(caught.value) == error


def test_a_long_line_is_shown_around_the_place() -> None:
    results = " + ".join(["d0"] * 500)
    with pytest.raises(TextError) as caught:
        parse_map(f"(d0) -> ({results} + d9), domain: d0 in [0, 3]")
    _, line, caret, _ = str(caught.value).splitlines()
    assert len(line) <= 120
    assert line[caret.index("^") : caret.index("^") + 2] == "d9"


@pytest.mark.parametrize("text", [None, 7, b"() -> ()", ["() -> ()"]], ids=repr)
def test_only_a_text_is_read(text: object) -> None:
    with pytest.raises(MapError) as caught:
        parse_map(cast("str", text))
    assert str(caught.value) == f"parse_map: text is {text!r}; expected a string"


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


# Nothing in a text is ever run.


PLACES = {
    "alone": "{}",
    "dims": "({}) -> ()",
    "result": "(d0) -> ({}), domain: d0 in [0, 3]",
    "bound": "(d0) -> (d0), domain: d0 in [0, {}]",
    "constraint": "(d0) -> (d0), domain: d0 in [0, 3], {} in [0, 1]",
    "reason": "UNDEFINED: {}",
}


@pytest.mark.parametrize("place", list(PLACES))
def test_a_text_is_never_run(place: str, tmp_path: Path) -> None:
    trace = tmp_path / "was_here"
    code = f"__import__('os').mkdir('{trace}')"
    with suppress(TextError):
        parse_map(PLACES[place].format(code))
    assert not trace.exists()
    eval(code)  # noqa: S307 - it would have been seen
    assert trace.exists()


# Large texts.

DOMAIN = "), domain: d0 in [0, 3]"
REFUSED_AT_ONCE: dict[str, Callable[[int], str]] = {
    "digits": lambda count: "(d0) -> (" + "1" * count + DOMAIN,
    "digits that run on": lambda count: "(d0) -> (" + "1" * count + "x" + DOMAIN,
    "one name": lambda count: "(d0) -> (" + "x" * count + DOMAIN,
    "blanks": lambda count: " " * count,
    "lines": lambda count: "(d0)" + "\n" * count + "x",
    "NUL": lambda count: "\0" * count,
    "quotes": lambda count: "(d0) -> (d0" + "'" * count,
}


@pytest.mark.parametrize("shape", list(REFUSED_AT_ONCE))
def test_an_error_about_megabytes_is_short(shape: str) -> None:
    with pytest.raises(TextError) as caught:
        parse_map(REFUSED_AT_ONCE[shape](3_000_000 if IN_CI else 1_000_000))
    assert len(str(caught.value)) < 400


def _nested(before: str, after: str) -> Callable[[int], str]:
    return lambda count: f"(d0) -> ({before * count}d0{after * count}{DOMAIN}"


def _listed(item: str, joint: str, before: str = "", after: str = "") -> Callable[[int], str]:
    return lambda count: (
        f"(d0) -> ({before}{joint.join(item.format(n) for n in range(count))}{after}{DOMAIN}"
    )


SHAPES: dict[str, Callable[[int], str]] = {
    "sum": _listed("d0", " + "),
    "sum of different terms": _listed("d0 mod {}", " + "),
    "results": _listed("d0 floordiv {}", ", "),
    "unknown at the end": _listed("d0", " + ", after=" + d9"),
    "least": _listed("d0 + {}", ", ", "min(", ")"),
    "product": _listed("d0", " * "),
    "product of sums": _listed("(d0 + {})", " * "),
    "names": lambda count: f"({', '.join(f'x{n}' for n in range(count))}) -> (y)",
    "bounds": lambda count: (
        f"({', '.join(f'x{n}' for n in range(count))}) -> (), domain: "
        + ", ".join(f"x{n} in [0, 3]" for n in range(count))
    ),
    "constraints": lambda count: (
        "(d0) -> (), domain: d0 in [0, 3], "
        + ", ".join(f"d0 mod {n} in [0, 1]" for n in range(2, count))
    ),
    "parentheses": _nested("(", ")"),
    "open parentheses": _nested("(", ""),
    "signs": _nested("-", ""),
    "remainders of remainders": _nested("(", " mod 7)"),
    "remainders of sums": _nested("(", " mod 7 + d0)"),
    "products of sums of products": _nested("(", " * d0 + 1)"),
    "least of leasts": _nested("min(", ", 7 + d0)"),
}


@pytest.mark.parametrize("shape", list(SHAPES))
def test_reading_takes_work_in_proportion(shape: str) -> None:
    """No clock: calls of functions are counted, of a text and of one twice as long.

    The first reading fills caches, of which other tests may have filled a part.
    """
    read = partial(read_or_refused, SHAPES[shape](2_000))
    read()
    less = calls_of(partial(read_or_refused, SHAPES[shape](1_000)))
    assert calls_of(read) <= 2.5 * less


def read_or_refused(text: str) -> None:
    """Read a map, or find out that a text is none."""
    with suppress(TextError):
        parse_map(text)


@pytest.mark.parametrize(
    "shape",
    [shape for shape in SHAPES if shape not in {"names", "open parentheses", "unknown at the end"}],
)
def test_large_and_deep_maps_are_read_back(shape: str) -> None:
    made = parse_map(SHAPES[shape](1_000))
    assert parse_map(str(made)) == made


# Arguments.

d0, d1 = symbol("d0"), symbol("d1")
TEN = Variable((0, 9))


def made(*arguments: object, **named: object) -> Callable[[], IndexingMap]:
    """A map of arguments of any type."""
    return lambda: cast("Any", IndexingMap)(*arguments, **named)


def sized(*arguments: object) -> Callable[[], IndexingMap]:
    """A map from sizes of any type."""
    return lambda: cast("Any", IndexingMap).from_sizes(*arguments)


def identity(sizes: object) -> Callable[[], IndexingMap]:
    """The identity on sizes of any type."""
    return lambda: IndexingMap.identity(cast("Any", sizes))


def variable(*arguments: object) -> Callable[[], Variable]:
    """A variable of arguments of any type."""
    return lambda: cast("Any", Variable)(*arguments)


def constrained(*arguments: object) -> Callable[[], IndexingMap]:
    """A map with a constraint of any type."""
    return lambda: cast("Any", IndexingMap.identity([4])).with_constraint(*arguments)


PAIRS = "expected a sequence of pairs of an expression and an interval, or conditions"
PAIR = "expected a pair of an expression and an interval, or a condition"
BOUNDS = "expected an Interval, or a pair of integers or None"
SIZE = "expected a size, an integer of at least 0"
NAME = "expected letters, digits and underscores, and no reserved word"
ARITHMETIC = "expected integer arithmetic"

REFUSED: list[tuple[Callable[[], object], str]] = [
    # results
    (made("d7", [TEN]), "IndexingMap: result 0 uses 'd7'; expected a declared variable (d0)"),
    (
        made([d0], {"d0": "x"}),
        "IndexingMap: dims['d0'] is 'x'; expected a size, an integer of at least 0",
    ),
    (
        made([d0], {"d0": (0, "x")}),
        "Variable: bounds is (0, 'x'); expected an Interval, or a pair of integers or None",
    ),
    (
        sized([d0], {"d0": -1}),
        "IndexingMap: dims['d0'] is -1; expected a size, an integer of at least 0",
    ),
    (made(d0, [TEN]), "IndexingMap: results is d0; expected a sequence of expressions"),
    (made(None, [TEN]), "IndexingMap: results is None; expected a sequence of expressions"),
    (made([d0, d1], [TEN]), "IndexingMap: result 1 uses 'd1'; expected a declared variable (d0)"),
    (made([d0], []), "IndexingMap: result 0 uses 'd0'; expected a declared variable (none)"),
    (
        made([d0], [Variable((0, 9), "row")]),
        "IndexingMap: result 0 uses 'd0'; expected a declared variable (row)",
    ),
    (made([d0**100], [TEN]), f"IndexingMap: result 0 uses 'd0**100'; {ARITHMETIC}"),
    # variables
    (
        made([d0], TEN),
        (
            "IndexingMap: dims is Variable(bounds=Interval(lower=0, upper=9), name='', kind=<V...; "
            "expected a sequence of Variables"
        ),
    ),
    (made([d0], [4]), "IndexingMap: dims[0] is 4; expected a Variable"),
    (made([d0], "d0"), "IndexingMap: dims is 'd0'; expected a sequence of Variables"),
    (made([d0], [TEN], [(0, 3)]), "IndexingMap: ranges[0] is (0, 3); expected a Variable"),
    (made([d0], [TEN], (), [TEN, None]), "IndexingMap: runtime[1] is None; expected a Variable"),
    (
        made([], [Variable((0, 1), "a"), Variable((0, 1), "a")]),
        "IndexingMap: the name 'a' stands for two variables; expected different names",
    ),
    (
        made([], [TEN], [Variable((0, 1), "d0")]),
        "IndexingMap: the name 'd0' stands for two variables; expected different names",
    ),
    # constraints
    (made([d0], [TEN], (), (), [d0]), f"IndexingMap: constraint 0 is d0; {PAIR}"),
    (made([d0], [TEN], (), (), (d0, (0, 3))), f"IndexingMap: constraint 0 is d0; {PAIR}"),
    (
        made([d0], [TEN], (), (), [(d0, (0, 3), 1)]),
        f"IndexingMap: constraint 0 is (d0, (0, 3), 1); {PAIR}",
    ),
    (made([d0], [TEN], (), (), d0), f"IndexingMap: constraints is d0; {PAIRS}"),
    (
        made([d0], [TEN], (), (), [(d0, (0, 3)), (d0, "x")]),
        f"IndexingMap: interval of constraint 1 is 'x'; {BOUNDS}",
    ),
    (
        made([d0], [TEN], (), (), [(d0, (0, 1.5))]),
        f"IndexingMap: interval of constraint 0 is (0, 1.5); {BOUNDS}",
    ),
    (
        made([d0], [TEN], (), (), [(d1, (0, 3))]),
        "IndexingMap: constraint 0 uses 'd1'; expected a declared variable (d0)",
    ),
    (
        constrained(d1, (0, 1)),
        "IndexingMap: constraint 0 uses 'd1'; expected a declared variable (d0)",
    ),
    (constrained(d0, "ab"), f"IndexingMap: interval of constraint 0 is 'ab'; {BOUNDS}"),
    (constrained(d0, (0, True)), f"IndexingMap: interval of constraint 0 is (0, True); {BOUNDS}"),
    # sizes
    (sized([d0], 4), "IndexingMap: dims is 4; expected a sequence of sizes"),
    (sized([d0], [4.0]), f"IndexingMap: dims[0] is 4.0; {SIZE}"),
    (sized([d0], [4], [3, -1]), f"IndexingMap: ranges[1] is -1; {SIZE}"),
    (sized([d0], [4], (), [None]), f"IndexingMap: runtime[0] is None; {SIZE}"),
    (identity("4"), "IndexingMap: sizes is '4'; expected a sequence of sizes"),
    (identity([4, True]), f"IndexingMap: sizes[1] is True; {SIZE}"),
    (identity(["4"]), f"IndexingMap: sizes[0] is '4'; {SIZE}"),
    (lambda: Variable.of_size(-1), f"Variable: size is -1; {SIZE}"),
    # one variable
    (variable("x"), f"Variable: bounds is 'x'; {BOUNDS}"),
    (variable(0.5), f"Variable: bounds is 0.5; {BOUNDS}"),
    (variable((0, 3.0)), f"Variable: bounds is (0, 3.0); {BOUNDS}"),
    (variable((1, 2, 3)), f"Variable: bounds is (1, 2, 3); {BOUNDS}"),
    (variable((False, True)), f"Variable: bounds is (False, True); {BOUNDS}"),
    (variable((10**5000, 1, 2)), f"Variable: bounds is a large tuple; {BOUNDS}"),
    (variable((0, 1), "a b"), f"Variable: name is 'a b'; {NAME}"),
    (variable((0, 1), "mod"), f"Variable: name is 'mod'; {NAME}"),
    (variable((0, 1), "2x"), f"Variable: name is '2x'; {NAME}"),
    (variable((0, 1), "é"), f"Variable: name is 'é'; {NAME}"),
    (variable((0, 1), "a\n"), f"Variable: name is 'a\\n'; {NAME}"),
    (variable((0, 1), 3), f"Variable: name is 3; {NAME}"),
    (variable((0, 1), "", "th_x"), "Variable: kind is 'th_x'; expected a VariableKind"),
    (
        variable((0, 1), "row", VariableKind.TH_X),
        "Variable: name is 'row'; expected 'th_x', its kind",
    ),
]


@pytest.mark.parametrize(("make", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_refused_arguments(make: Callable[[], object], message: str) -> None:
    with pytest.raises(MapError) as caught:
        make()
    assert str(caught.value) == message


foreign = cast("Any", sympy)
NOT_ARITHMETIC: list[tuple[object, str]] = [
    (b"d0", f"b'd0': has type bytes; {ARITHMETIC}"),
    (None, f"None: has type NoneType; {ARITHMETIC}"),
    (1.5, f"1.5: has type float; {ARITHMETIC}"),
    (True, f"True: has type bool; {ARITHMETIC}"),
    (d0 * foreign.Float(2), f"2.00000000000000 in 2.0*d0: has type Float; {ARITHMETIC}"),
    (d0 / 2, "d0/2: is a fraction; expected an integer"),
    (foreign.sin(d0), f"sin(d0): has type sin; {ARITHMETIC}"),
    (d0**d0, f"d0**d0: has type Pow; {ARITHMETIC}"),
    (foreign.I * d0, f"I in I*d0: has type ImaginaryUnit; {ARITHMETIC}"),
    (foreign.oo, f"oo: has type Infinity; {ARITHMETIC}"),
    (foreign.nan, f"nan: has type NaN; {ARITHMETIC}"),
    (foreign.Symbol("d0", integer=False), "d0: is no integer by its assumptions"),
]


@pytest.mark.parametrize(
    ("expression", "message"), NOT_ARITHMETIC, ids=[message for _, message in NOT_ARITHMETIC]
)
def test_refused_expressions(expression: object, message: str) -> None:
    attempts = [
        (made([d0, expression], [TEN]), "result 1"),
        (sized([expression], [4]), "result 0"),
        (made([], [TEN], (), (), [(expression, (0, 3))]), "constraint 0"),
        (constrained(expression, (0, 3)), "constraint 0"),
    ]
    for attempt, place in attempts:
        with pytest.raises(ConversionError) as caught:
            attempt()
        assert str(caught.value).startswith(message)
        assert caught.value.__notes__ == [f"IndexingMap: in {place}"]


# A division by the literal zero is a term without value, in texts as in sympy.
def test_a_division_by_zero_stays() -> None:
    stays = IndexingMap([FloorDiv(d0, 0)], [TEN])
    assert str(stays) == "(d0) -> (d0 floordiv 0), domain: d0 in [0, 9]"
    assert parse_map(str(stays)) == stays


# Nothing half-built: what is refused leaves no trace in the map it was asked of.
def test_a_refused_constraint_leaves_the_map() -> None:
    whole = IndexingMap.identity([4])
    with pytest.raises(IndexingError):
        whole.with_constraint(d1, (0, 1))
    assert whole == IndexingMap.identity([4])
