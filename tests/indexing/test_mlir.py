"""MLIR's affine maps and sets, both ways; MLIR itself, as JAX ships it, reads what is written."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, cast

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from indexing import IndexingMap, MapError, UndefinedMap, from_affine_map, parse_map
from simplifier import TextError
from tests.carets import DrawnError, drawn_errors
from tests.evaluation import related
from tests.strategies import any_maps, maps

BOTH_WAYS = [
    # map, affine map, affine set
    ("() -> ()", "() -> ()", "() : ()"),
    ("() -> (7)", "() -> (7)", "() : ()"),
    (
        "(d0, d1) -> (d1, d0), domain: d0 in [0, 3], d1 in [0, 0]",
        "(d0, d1) -> (d1, d0)",
        "(d0, d1) : (d0 >= 0, -d0 + 3 >= 0, d1 == 0)",
    ),
    (
        "(d0)[s0]{rt0} -> (d0 * 8 - rt0), domain: d0 in [0, 3], s0 in [-2, 7], rt0 in [0, inf]",
        "(d0)[s0, rt0] -> (d0 * 8 - rt0)",
        "(d0)[s0, rt0] : (d0 >= 0, -d0 + 3 >= 0, s0 + 2 >= 0, -s0 + 7 >= 0, rt0 >= 0)",
    ),
    (
        "(d0) -> (d0 floordiv 8, d0 mod 8, d0 ceildiv 8), domain: d0 in [-inf, inf]",
        "(d0) -> (d0 floordiv 8, d0 mod 8, d0 ceildiv 8)",
        "(d0) : ()",
    ),
    (
        "(d0)[s0] -> (d0 * s0, d0 floordiv s0), domain: d0 in [-inf, inf], s0 in [1, 3]",
        "(d0)[s0] -> (d0 * s0, d0 floordiv s0)",
        "(d0)[s0] : (s0 - 1 >= 0, -s0 + 3 >= 0)",
    ),
    (
        "(th_x) -> ((th_x mod 32) * -2), domain: th_x in [0, 127], th_x mod 3 in [1, 1]",
        "(th_x) -> ((th_x mod 32) * -2)",
        "(th_x) : (th_x >= 0, -th_x + 127 >= 0, th_x mod 3 - 1 == 0)",
    ),
    (
        "(d0, d1) -> (), domain: d0 in [0, 9], d1 in [0, 0], d0 * 2 - d1 in [-3, 7]",
        "(d0, d1) -> ()",
        "(d0, d1) : (d0 >= 0, -d0 + 9 >= 0, d1 == 0, d0 * 2 - d1 + 3 >= 0, d1 - d0 * 2 + 7 >= 0)",
    ),
    ("(d0) -> (0), domain: KNOWN EMPTY", "(d0) -> (0)", "(d0) : (d0 >= 0, -d0 - 1 >= 0)"),
]


@pytest.mark.parametrize(
    ("text", "affine_map", "affine_set"), BOTH_WAYS, ids=[text for text, _, _ in BOTH_WAYS]
)
def test_both_ways(text: str, affine_map: str, affine_set: str) -> None:
    made = parse_map(text)
    assert made.to_affine_map() == f"affine_map<{affine_map}>"
    assert made.to_affine_set() == f"affine_set<{affine_set}>"
    for wrapped in (True, False):
        read = from_affine_map(
            f"affine_map<{affine_map}>" if wrapped else affine_map,
            affine_set=f"affine_set<{affine_set}>" if wrapped else affine_set,
            runtime=len(made.runtime),
        )
        assert read == made


def written(made: IndexingMap) -> tuple[str, str]:
    """The affine map and set of a random map; one with what MLIR does not have is passed over."""
    try:
        return made.to_affine_map(), made.to_affine_set()
    except MapError:
        reject()


@given(maps())
def test_the_points_are_kept(made: IndexingMap) -> None:
    results, points = written(made)
    read = from_affine_map(results, affine_set=points, runtime=len(made.runtime))
    assert related(read) == related(made)


TURNED = [
    # result, as MLIR has it
    ("d0 floordiv -3", "(-d0) floordiv 3"),
    ("d0 ceildiv -3", "(-d0) ceildiv 3"),
    ("d0 % -3", "-((-d0) mod 3)"),
    ("((d0 + 1) % -5) floordiv -2", "((-d0 - 1) mod 5) floordiv 2"),
]


@pytest.mark.parametrize(("result", "expected"), TURNED, ids=[result for result, _ in TURNED])
def test_quotients_by_negative_numbers_are_turned(result: str, expected: str) -> None:
    made = parse_map(f"(d0) -> ({result}), domain: d0 in [-9, 9]")
    assert made.to_affine_map() == f"affine_map<(d0) -> ({expected})>"
    assert related(from_affine_map(made.to_affine_map(), {"d0": (-9, 9)})) == related(made)


# MLIR reads what is written, and writes the same map.


def mlir_prints(text: str) -> str:
    """What MLIR makes of a text."""
    from jaxlib.mlir import ir  # pyright: ignore[reportMissingTypeStubs]

    bindings = cast("Any", ir)
    with bindings.Context():
        return str(bindings.Attribute.parse(text))


@pytest.mark.needs("jaxlib")
@given(any_maps())
def test_mlir_reads_every_map(made: IndexingMap) -> None:
    results, points = written(made)
    printed = mlir_prints(results)
    assert mlir_prints(points).startswith("affine_set<")
    if " mod 0" in printed or "div 0" in printed:
        return  # MLIR has folded `s0 mod s0`, and we refuse to divide by zero
    read = from_affine_map(printed, runtime=len(made.runtime))
    assert len(read.forms) == len(made.forms)
    assert mlir_prints(read.to_affine_map()) == printed


@pytest.mark.needs("jaxlib")
@given(maps())
def test_mlir_keeps_the_points(made: IndexingMap) -> None:
    results, points = written(made)
    read = from_affine_map(
        mlir_prints(results), affine_set=mlir_prints(points), runtime=len(made.runtime)
    )
    assert related(read) == related(made)


READ = [
    # text, bounds, map
    (
        "affine_map<(i, j) -> (j, i)>",
        {"i": (0, 3)},
        "(i, j) -> (j, i), domain: i in [0, 3], j in [-inf, inf]",
    ),
    ("affine_map<(d0)[] -> (2 * d0)>", {"d0": (0, 3)}, "(d0) -> (d0 * 2), domain: d0 in [0, 3]"),
    (
        "(d0)[n] -> (d0 mod n)",
        {"d0": (0, 3), "n": (1, 9)},
        "(d0)[n] -> (d0 mod n), domain: d0 in [0, 3], n in [1, 9]",
    ),
    (" affine_map < ( ) [ s0 ] -> ( s0 ) > ", {"s0": 4}, "()[s0] -> (s0), domain: s0 in [4, 4]"),
]


@pytest.mark.parametrize(("text", "bounds", "expected"), READ, ids=[case[0] for case in READ])
def test_texts_of_mlir_are_read(text: str, bounds: dict[str, Any], expected: str) -> None:
    assert str(from_affine_map(text, bounds)) == expected


def test_the_set_has_names_of_its_own() -> None:
    read = from_affine_map(
        "(d0)[s0] -> (d0 + s0)", affine_set="(i)[n] : (i >= 0, n - i - 1 >= 0, n == 8, 0 <= 1)"
    )
    assert str(read) == (
        "(d0)[s0] -> (d0 + s0), domain: d0 in [0, inf], s0 in [8, 8], d0 - s0 in [-inf, -1]"
    )


def test_bounds_and_set_meet() -> None:
    read = from_affine_map("(d0) -> (d0)", {"d0": (0, 9)}, affine_set="(i) : (i - 20 >= 0)")
    assert read.is_known_empty


# What MLIR does not have.

UNWRITTEN = [
    # result, the error about it
    ("min(d0, 3)", "min(d0, 3) in it; expected no minimum or maximum"),
    ("max(d0, d1) + 1", "max(d0, d1) in it; expected no minimum or maximum"),
    ("d0 * d1", "d0 * d1 in it; expected at most one factor that is not constant or symbolic"),
    ("d0 floordiv d1", "d0 floordiv d1 in it; expected a divisor that is constant or symbolic"),
    ("s0 mod (d0 + 1)", "s0 mod (d0 + 1) in it; expected a divisor that is constant or symbolic"),
    ("d0 floordiv 0", "d0 floordiv 0 in it; expected a positive divisor"),
    (f"d0 + {2**63}", "a constant of 64 bits in it; expected at most 63"),
    (f"(d0 * {-(2**63)}) mod 7", "a constant of 64 bits in it; expected at most 63"),
]


@pytest.mark.parametrize(("term", "error"), UNWRITTEN, ids=[term for term, _ in UNWRITTEN])
def test_what_mlir_does_not_have_is_refused_by_name(term: str, error: str) -> None:
    bounds = "d0 in [0, 9], d1 in [0, 9], s0 in [0, 9]"
    made = parse_map(f"(d0, d1)[s0] -> (d0, {term}), domain: {bounds}")
    with pytest.raises(MapError) as caught:
        made.to_affine_map()
    assert str(caught.value) == f"affine_map: result 1 has {error}"
    limited = parse_map(f"(d0, d1)[s0] -> (d0), domain: {bounds}, {term} in [-1, 9]")
    with pytest.raises(MapError, match="affine_set: inequality 6 has "):
        limited.to_affine_set()
    assert limited.to_affine_map() == "affine_map<(d0, d1)[s0] -> (d0)>"


def test_an_undefined_map_is_not_written() -> None:
    with pytest.raises(MapError, match="undefined: nobody knows"):
        UndefinedMap("nobody knows").to_affine_map()


UNREAD = """
affine_map<(d0) -> (d0 / 2)>
                       ^ expected 'floordiv', but found '/'

affine_map<(d0) -> (d0 // 2)>
                       ^^ expected 'floordiv'; in MLIR '//' begins a comment

affine_map<(d0) -> (d0 % 2)>
                       ^ expected 'mod', but found '%'

affine_map<(d0) -> (1, min(d0, 2) + 1)>
                       ^^^^^^^^^^^^^^ the expression has min(d0, 2) in it; expected no minimum or maximum

affine_map<(d0, d1) -> (d0 * d1)>
                        ^^^^^^^ the expression has d0 * d1 in it; expected at most one factor that is not constant or symbolic

affine_map<(d0) -> (3 mod d0)>
                    ^^^^^^^^ the expression has 3 mod d0 in it; expected a divisor that is constant or symbolic

affine_map<(d0) -> (d0 mod -3)>
                    ^^^^^^^^^ the expression has d0 % -3 in it; expected a positive divisor

affine_map<(d0) -> (d0 floordiv 0)>
                    ^^^^^^^^^^^^^ the expression has d0 floordiv 0 in it; expected a positive divisor

affine_map<(d0){rt0} -> (d0)>
               ^ expected '->' before the results, but found '{'

affine_map<(d0) -> (d0), domain: d0 in [0, 3]>
                       ^ expected '>', but found ','

affine_map<(d0) -> (d0)
                       ^ expected '>', but the text ends

affine_map(d0) -> (d0)
          ^ expected '<', but found '('

affine_map<(d0, d0) -> (d0)>
                ^^ 'd0' is declared twice

affine_map<(d0) -> (d1)>
                    ^^ 'd1' is not a declared variable

affine_map<(d0) -> (d0)>>
                       ^^ expected '>', but found '>>'

affine_set<(d0) : (d0 >= 0)>
^^^^^^^^^^ expected '(' before the dimensions, but found 'affine_set'
"""  # noqa: E501 - a error stands on one line


@pytest.mark.parametrize("error", drawn_errors(UNREAD), ids=lambda error: error.text)
def test_errors_point_at_the_place(error: DrawnError) -> None:
    with pytest.raises(TextError) as caught:
        from_affine_map(error.text)
    error.check(caught.value)


UNREAD_SETS = """
affine_set<(d0) : (d0)>
                     ^ expected '==', '>=' or '<=', but found ')'

affine_set<(d0) : (d0 > 0)>
                      ^ expected '==', '>=' or '<=', but found '>'

affine_set<(d0) -> (d0)>
                ^^ expected ':' before the constraints, but found '->'

affine_set<(d0, d1) : ()>
           ^ expected 1 dimensions and 0 symbols, as many as of the map

affine_set<(d0) : (0 >= max(d0, 1))>
                        ^^^^^^^^^^ the expression has max(d0, 1) in it; expected no minimum or maximum

affine_map<(d0) -> (d0)>
^^^^^^^^^^ expected '(' before the dimensions, but found 'affine_map'
"""  # noqa: E501 - a error stands on one line


@pytest.mark.parametrize("error", drawn_errors(UNREAD_SETS), ids=lambda error: error.text)
def test_errors_about_sets_point_at_the_place(error: DrawnError) -> None:
    with pytest.raises(TextError) as caught:
        from_affine_map("(d0) -> (d0)", affine_set=error.text)
    error.check(caught.value)


def reading(*arguments: object, **named: object) -> Callable[[], IndexingMap]:
    """Reading from arguments of any type."""
    return lambda: cast("Any", from_affine_map)(*arguments, **named)


REFUSED = [
    (reading(None), "from_affine_map: text is None; expected a string"),
    (
        reading("(d0) -> (d0)", {"i": (0, 3)}),
        "from_affine_map: bounds are given for 'i'; expected one of d0",
    ),
    (
        reading("(d0) -> (d0)", {"d0": "x"}),
        (
            "from_affine_map: bounds of 'd0' is 'x'; "
            "expected an Interval, or a pair of integers or None"
        ),
    ),
    (
        reading("(d0)[s0] -> (d0)", runtime=2),
        "from_affine_map: runtime is 2; expected a number of the 1 symbols",
    ),
    (
        reading("(d0)[s0] -> (d0)", runtime=-1),
        "from_affine_map: runtime is -1; expected a number of the 1 symbols",
    ),
]


@pytest.mark.parametrize(("read", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_refused_arguments(read: Callable[[], IndexingMap], message: str) -> None:
    with pytest.raises(MapError) as caught:
        read()
    assert str(caught.value) == message


@given(st.text("()[]<>d01s-> +*,:=affine_mapsetodiv \n", max_size=40))
def test_any_text_is_read_or_refused_politely(text: str) -> None:
    for read in (
        reading(text),
        reading(f"(d0)[s0] -> ({text})"),
        reading("(d0)[s0] -> ()", affine_set=f"(d0)[s0] : ({text})"),
    ):
        with suppress(TextError):
            made = read()
            assert from_affine_map(made.to_affine_map()).forms == made.forms


def test_deep_expressions_are_read_and_written() -> None:
    depth = 5_000
    text = f"affine_map<(d0) -> ({'(' * depth}d0{' mod 7 + d0)' * depth})>"
    made = from_affine_map(text)
    assert from_affine_map(made.to_affine_map()) == made
