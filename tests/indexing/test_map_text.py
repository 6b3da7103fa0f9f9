"""The text of maps, both ways, MLIR's affine maps and isl's relations; MLIR itself reads them."""

from __future__ import annotations

from ast import literal_eval
from contextlib import suppress
from itertools import permutations
from typing import Any, cast

import islpy
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from indexing import (
    IndexingMap,
    IndexRelation,
    MapError,
    Variable,
    format_map,
    from_affine_map,
    from_isl,
    parse_map,
    parse_relation,
)
from ops import Unknown, hlo, parameter_indexing
from ops.cli import main
from simplifier import Interval, NotQuasiAffineError, TextError, TextWarning, symbol
from simplifier.exact import BudgetError
from simplifier.expr import form as forms
from simplifier.expr.printer import DIALECTS
from tests.cases import for_all, rows
from tests.evaluation import related
from tests.extent import seldom
from tests.indexing.tables import each_row, errors_in, refusals, table
from tests.strategies import any_maps, index_maps, maps


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


# MLIR's affine maps and isl's relations; MLIR itself, as JAX ships it, reads what is written.


@each_row("""
() -> () => () -> () => () : ()
() -> (7) => () -> (7) => () : ()
(d0, d1) -> (d1, d0), domain: d0 in [0, 3], d1 in [0, 0] => (d0, d1) -> (d1, d0)
    (d0, d1) : (d0 >= 0, -d0 + 3 >= 0, d1 == 0)
(d0)[s0]{rt0} -> (d0 * 8 - rt0), domain: d0 in [0, 3], s0 in [-2, 7], rt0 in [0, inf]
    (d0)[s0, rt0] -> (d0 * 8 - rt0)
    (d0)[s0, rt0] : (d0 >= 0, -d0 + 3 >= 0, s0 + 2 >= 0, -s0 + 7 >= 0, rt0 >= 0)
(d0) -> (d0 floordiv 8, d0 mod 8, d0 ceildiv 8), domain: d0 in [-inf, inf]
    (d0) -> (d0 floordiv 8, d0 mod 8, d0 ceildiv 8) => (d0) : ()
(d0)[s0] -> (d0 * s0, d0 floordiv s0), domain: d0 in [-inf, inf], s0 in [1, 3]
    (d0)[s0] -> (d0 * s0, d0 floordiv s0) => (d0)[s0] : (s0 - 1 >= 0, -s0 + 3 >= 0)
(th_x) -> ((th_x mod 32) * -2), domain: th_x in [0, 127], th_x mod 3 in [1, 1]
    (th_x) -> ((th_x mod 32) * -2) => (th_x) : (th_x >= 0, -th_x + 127 >= 0, th_x mod 3 - 1 == 0)
(d0, d1) -> (), domain: d0 in [0, 9], d1 in [0, 0], d0 * 2 - d1 in [-3, 7] => (d0, d1) -> ()
    (d0, d1) : (d0 >= 0, -d0 + 9 >= 0, d1 == 0, d0 * 2 - d1 + 3 >= 0, d1 - d0 * 2 + 7 >= 0)
(d0) -> (0), domain: KNOWN EMPTY => (d0) -> (0) => (d0) : (d0 >= 0, -d0 - 1 >= 0)
""")
def test_both_ways(text: str, affine_map: str, affine_set: str) -> None:
    made = parse_map(text)
    assert made.to_affine_map() == f"affine_map<{affine_map}>"
    assert made.to_affine_set() == f"affine_set<{affine_set}>"
    for results, points in (
        (affine_map, affine_set),
        (f"affine_map<{affine_map}>", f"affine_set<{affine_set}>"),
    ):
        assert from_affine_map(results, affine_set=points, runtime=len(made.runtime)) == made


def written(made: IndexingMap) -> tuple[str, str]:
    """The affine map and set of a random map; one with what MLIR does not have is passed over."""
    try:
        return made.to_affine_map(), made.to_affine_set()
    except MapError:
        reject()


# result => as MLIR has it
@each_row("""
d0 floordiv -3 => (-d0) floordiv 3
d0 ceildiv -3 => (-d0) ceildiv 3
d0 % -3 => -((-d0) mod 3)
((d0 + 1) % -5) floordiv -2 => ((-d0 - 1) mod 5) floordiv 2
""")
def test_quotients_by_negative_numbers_are_turned(result: str, expected: str) -> None:
    made = parse_map(f"(d0) -> ({result}), domain: d0 in [-9, 9]")
    assert made.to_affine_map() == f"affine_map<(d0) -> ({expected})>"
    assert related(from_affine_map(made.to_affine_map(), {"d0": (-9, 9)})) == related(made)


def mlir_prints(text: str) -> str:
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
    results, points = map(mlir_prints, written(made))
    read = from_affine_map(results, affine_set=points, runtime=len(made.runtime))
    assert related(read) == related(made)


# text => bounds => map
@each_row("""
affine_map<(i, j) -> (j, i)> => {"i": (0, 3)}
    (i, j) -> (j, i), domain: i in [0, 3], j in [-inf, inf]
affine_map<(d0)[] -> (2 * d0)> => {"d0": (0, 3)} => (d0) -> (d0 * 2), domain: d0 in [0, 3]
(d0)[n] -> (d0 mod n) => {"d0": (0, 3), "n": (1, 9)}
    (d0)[n] -> (d0 mod n), domain: d0 in [0, 3], n in [1, 9]
affine_map < ( ) [ s0 ] -> ( s0 ) > => {"s0": 4} => ()[s0] -> (s0), domain: s0 in [4, 4]
""")
def test_texts_of_mlir_are_read(text: str, bounds: str, expected: str) -> None:
    assert str(from_affine_map(f" {text} ", literal_eval(bounds))) == expected


def test_the_set_has_names_of_its_own_and_meets_bounds() -> None:
    points = "(i)[n] : (i >= 0, n - i - 1 >= 0, n == 8, 0 <= 1)"
    assert str(from_affine_map("(d0)[s0] -> (d0 + s0)", affine_set=points)) == (
        "(d0)[s0] -> (d0 + s0), domain: d0 in [0, inf], s0 in [8, 8], d0 - s0 in [-inf, -1]"
    )
    read = from_affine_map("(d0) -> (d0)", {"d0": (0, 9)}, affine_set="(i) : (i - 20 >= 0)")
    assert read.is_known_empty


@each_row("""
# result, the error about it
min(d0, 3) => min(d0, 3) in it; expected no minimum or maximum
max(d0, d1) + 1 => max(d0, d1) in it; expected no minimum or maximum
d0 * d1 => d0 * d1 in it; expected at most one factor that is not constant or symbolic
d0 floordiv d1 => d0 floordiv d1 in it; expected a divisor that is constant or symbolic
s0 mod (d0 + 1) => s0 mod (d0 + 1) in it; expected a divisor that is constant or symbolic
d0 floordiv 0 => d0 floordiv 0 in it; expected a positive divisor
d0 + 9223372036854775808 => a constant of 64 bits in it; expected at most 63
(d0 * -9223372036854775808) mod 7 => a constant of 64 bits in it; expected at most 63
""")
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


test_errors_point_at_the_place = errors_in(from_affine_map)("""
affine_map<(d0) -> (d0 «/» 2)> => expected 'floordiv', but found '/'
affine_map<(d0) -> (d0 «//» 2)> => expected 'floordiv'; in MLIR '//' begins a comment
affine_map<(d0) -> (d0 «%» 2)> => expected 'mod', but found '%'
affine_map<(d0) -> (1, «min(d0, 2) + 1»)>
    the expression has min(d0, 2) in it; expected no minimum or maximum
affine_map<(d0, d1) -> («d0 * d1»)>
    the expression has d0 * d1 in it; expected at most one factor that is not constant or symbolic
affine_map<(d0) -> («3 mod d0»)>
    the expression has 3 mod d0 in it; expected a divisor that is constant or symbolic
affine_map<(d0) -> («d0 mod -3»)> => the expression has d0 % -3 in it; expected a positive divisor
affine_map<(d0) -> («d0 floordiv 0»)>
    the expression has d0 floordiv 0 in it; expected a positive divisor
affine_map<(d0)«{»rt0} -> (d0)> => expected '->' before the results, but found '{'
affine_map<(d0) -> (d0)«,» domain: d0 in [0, 3]> => expected '>', but found ','
affine_map<(d0) -> (d0)«» => expected '>', but the text ends
affine_map«(»d0) -> (d0) => expected '<', but found '('
affine_map<(d0, «d0») -> (d0)> => 'd0' is declared twice
affine_map<(d0) -> («d1»)> => 'd1' is not a declared variable
affine_map<(d0) -> (d0)«>>» => expected '>', but found '>>'
(d0) «(»d0) => expected '->' before the results, but found '('
(d0 «->» (d0) => expected ',' or ')', but found '->'
(d0)[s0 «->» (d0) => expected ',' or ']', but found '->'
(d0) -> «d0» => expected '(' before the results, but found 'd0'
«» => expected '(' before the dimensions, but the text ends
# XLA hands back the suffix; our error says where it begins
(d0) -> (d0) «domain»: d0 in [0, 1] => expected the end of the text, but found 'domain'
«affine_set»<(d0) : (d0 >= 0)> => expected '(' before the dimensions, but found 'affine_set'
""")


test_errors_about_sets_point_at_the_place = errors_in(
    lambda text: from_affine_map("(d0) -> (d0)", affine_set=text)
)("""
affine_set<(d0) : (d0«)»> => expected '==', '>=' or '<=', but found ')'
affine_set<(d0) : (d0 «>» 0)> => expected '==', '>=' or '<=', but found '>'
affine_set<(d0) «->» (d0)> => expected ':' before the constraints, but found '->'
affine_set<«(»d0, d1) : ()> => expected 1 dimensions and 0 symbols, as many as of the map
affine_set<(d0) : (0 >= «max(d0, 1)»)>
    the expression has max(d0, 1) in it; expected no minimum or maximum
«affine_map»<(d0) -> (d0)> => expected '(' before the dimensions, but found 'affine_map'
""")


test_refused_arguments = refusals({}, MapError, whole=True)("""
from_affine_map(None) => from_affine_map: text is None; expected a string
UndefinedMap("nobody knows").to_affine_map() => the map is undefined: nobody knows
format_map(IndexingMap.identity([4]), dialect="c")
    format_map: dialect is 'c'; expected one of 'floordiv', '/', '//'
from_affine_map("(d0) -> (d0)", {"i": (0, 3)})
    from_affine_map: bounds are given for 'i'; expected one of d0
from_affine_map("(d0) -> (d0)", {"d0": "x"})
    from_affine_map: bounds of 'd0' is 'x'; expected an Interval, or a pair of integers or None
from_affine_map("(d0)[s0] -> (d0)", runtime=2)
    from_affine_map: runtime is 2; expected a number of the 1 symbols
from_affine_map("(d0)[s0] -> (d0)", runtime=-1)
    from_affine_map: runtime is -1; expected a number of the 1 symbols
""")


@given(st.text("()[]<>d01s-> +*,:=affine_mapsetodiv \n", max_size=40))
def test_any_text_is_read_or_refused_politely(text: str) -> None:
    for results, points in (
        (text, ""),
        (f"(d0)[s0] -> ({text})", ""),
        ("(d0)[s0] -> ()", f"(d0)[s0] : ({text})"),
    ):
        with suppress(TextError):
            made = from_affine_map(results, affine_set=points)
            assert from_affine_map(made.to_affine_map()).forms == made.forms


def test_deep_expressions_are_read_and_written() -> None:
    depth = 5_000
    text = f"affine_map<(d0) -> ({'(' * depth}d0{' mod 7 + d0)' * depth})>"
    made = from_affine_map(text)
    assert from_affine_map(made.to_affine_map()) == made


# isl's relations, both ways: what they come to, and that nothing is lost.


READ_OF_ISL = table("isl")


@for_all(READ_OF_ISL)
def test_read(text: str, expected: str) -> None:
    assert str(from_isl(text)) == str(parse_map(expected).simplify())
    assert from_isl(text) == from_isl(islpy.Map(text))


def within_seconds(relation: islpy.Map | str) -> IndexingMap:
    """The map of a relation, unless isl takes long to say it."""
    try:
        return from_isl(relation)
    except BudgetError:
        reject()


@seldom
@given(maps())
def test_there_and_back(made: IndexingMap) -> None:
    for relation in (made.to_isl(), str(made.to_isl())):
        back = within_seconds(relation)
        assert related(back) == related(made)
        assert parse_map(str(back)) == back


@seldom
@given(maps())
def test_parameters_come_back_as_runtime_variables(made: IndexingMap) -> None:
    back = within_seconds(made.to_isl(runtime_as_parameters=True))
    assert len(back.runtime) == len(made.runtime)
    assert related(_with_runtime_as_results(back)) == related(_with_runtime_as_results(made))


def _with_runtime_as_results(made: IndexingMap) -> IndexingMap:
    runtime = made.domain.by_role(map(forms.variable, made.domain.identifiers))[2]
    return IndexingMap.from_forms((*made.forms, *runtime), made.domain)


@given(index_maps())
def test_indices_come_back_as_functions(made: IndexingMap) -> None:
    back = within_seconds(made.to_isl())
    assert related(back) == related(made)
    assert not back.ranges


@each_row("""
(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 63]
    { [d0] -> [o0, o1] : 8*floor((d0)/8) = 8o0 and o1 = d0 - 8o0 and 0 <= d0 < 64 }
(row)[s0]{rt0} -> (row + s0 + rt0), domain: row in [0, 9], s0 in [0, 2], rt0 in [0, 4]
    { [row] -> [o0] : 0 <= row <= 9 and row <= o0 <= row + 6 }
(d0) -> (d0, d0), domain: KNOWN EMPTY => { [d0] -> [o0, o1] : false }
""")
def test_written(text: str, expected: str) -> None:
    relation = parse_map(text).to_isl()
    assert relation.is_equal(islpy.Map(expected))
    assert islpy.Map(str(relation)).is_equal(relation), "isl reads it"


def test_names_are_those_of_the_map() -> None:
    made = IndexingMap.from_sizes("row + d1 + n", {"row": 4, "d1": 6}, runtime={"n": 10})
    assert str(made.to_isl()).startswith("{ [row, d1] -> ")
    named = made.to_isl(runtime_as_parameters=True)
    assert str(named).startswith("[n] -> { [row, d1] -> ")
    assert str(from_isl(named)).startswith("(row, d1){n} -> ")


@for_all(["ceil", "exists", "false", "floord", "infty", "NaN", "rat", "true"])
def test_names_that_isl_does_not_read(name: str) -> None:
    made = IndexingMap([symbol(name) + 1], [Variable((0, 3), name)])
    assert from_isl(str(made.to_isl())).equals(made)


def test_relations_of_one_context_can_be_combined() -> None:
    context = islpy.Context()
    halves = parse_map("(d0) -> (d0 floordiv 2), domain: d0 in [0, 9]")
    first, second = halves.to_isl(context=context), halves.to_isl(context=context)
    assert from_isl(first.apply_range(second)).equals(halves @ halves)
    assert islpy.Map("{ [i] -> [i] }").intersect(halves.to_isl()).is_empty() is False


@for_all([
    islpy.BasicMap("{ [i] -> [i + 1] : i > 0 }"), islpy.PwMultiAff("{ [i] -> [(i + 1)] : i > 0 }"),
    islpy.PwAff("{ [i] -> [(i + 1)] : i > 0 }"), islpy.MultiPwAff("{ [i] -> [(i + 1 : i > 0)] }"),
    islpy.UnionMap("{ [i] -> [i + 1] : i > 0 }"), islpy.MultiAff("{ [i] -> [i + 1] }"),
    islpy.Aff("{ [i] -> [i + 1] }"),
])  # fmt: skip
def test_objects_of_all_kinds_are_read(relation: islpy.PwAff) -> None:
    first = 1 if "i > 0" in str(relation) else "-inf"
    assert from_isl(relation).equals(parse_map(f"(d0) -> (d0 + 1), domain: d0 in [{first}, inf]"))


BAD_TEXTS = {
    **dict.fromkeys(["", "x", "__import__('os')", "{ [i] -> [i+] }", "{ [i] -> [i * i] }"], 1),
    "{ [i] -> [abs(i)] }": 1, "{ [i] -> [(i] }": 13, "{ [i] -> [i]": 1, "{ [i] -> [i] } }": 16,
    "{ [i] -> [2^99999999999] }": 12,
    "{ [i] -> [" + "(" * 100_000 + "i" + ")" * 100_000 + "] }": 209,
}  # fmt: skip


def test_bad_texts(capfd: pytest.CaptureFixture[str]) -> None:
    for text, column in BAD_TEXTS.items():
        with pytest.raises(TextError) as caught:
            from_isl(text)
        assert caught.value.span.column == column, text[:40]
    assert capfd.readouterr() == ("", ""), "isl itself says nothing"


# the message names who asks
test_what_is_not_one_relation = refusals({"islpy": islpy}, MapError, NotQuasiAffineError)("""
from_isl("{ A[i] -> B[i]; C[i] -> [i] }") => is not one relation
from_isl("{ rat: [i] -> [i] : 2i = 5 }") => rational numbers
from_isl(islpy.UnionMap("{ A[i] -> B[i]; C[i] -> [i] }")) => from_isl: UnionMap {
from_isl(None) => NoneType None is not one relation
parse_map("(d0, d1) -> (d0 * d1), domain: d0 in [0, 3], d1 in [0, 3]").to_isl()
    NotQuasiAffineError: d0 * d1: is a product
UndefinedMap("a sort").to_isl() => a sort
from_isl(islpy.Val(3)) => Val 3 is not one relation
parse_relation("{ A[i] -> B[i]; C[i] -> [i] }") => parse_relation: UnionMap {
parse_relation("{ rat: [i] -> [i] : 2i = 5 }") => parse_relation: the relation has rational n
parse_relation("[th_x] -> { [i] -> [i + th_x] }") => parse_relation: parameter 0 is called th_x
""")


def test_parameters_may_be_called_as_variables_are_or_stand_alone() -> None:
    text = "(i)<d0> -> (d0 + i), domain: i in [-inf, inf], d0 in [-inf, inf]"
    assert parse_relation("[d0] -> { [i] -> [i + d0] }").maps == (parse_map(text),)
    assert str(parse_relation("[N] -> { : N > 3 }")) == "()<N> -> (), domain: N in [4, inf]"


def test_a_budget_is_kept() -> None:
    hard = "{ [i] -> [j] : exists a, b, c : i = 7a + 5b + 3c and j = 11a - 13b + 17c }"
    with pytest.raises(BudgetError):
        from_isl(hard, budget=50)


def test_pieces_stay_where_isl_does_not_find_fewer() -> None:
    choice = parse_map(
        "(d0, d1)[s0] -> (max(min(d1, s0) * 4, select(d0 <= s0, 1, d1)), d0 * 4), "
        "domain: d0 in [-5, 6], d1 in [0, 4], s0 in [-3, 3]"
    )
    assert related(from_isl(choice.to_isl(), budget=10**6)) == related(choice)
