"""The fuzzer finds what is wrong, makes it small, and prints a row that shows it again."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator
from itertools import count
from random import Random
from time import process_time
from typing import Any, TypeAlias
from unittest.mock import Mock

import pytest

from benchmarks import fuzz
from benchmarks.fuzzing import checks, layouts, program_checks, texts
from benchmarks.fuzzing.case import Case
from benchmarks.fuzzing.kinds import KINDS
from benchmarks.fuzzing.shrink import shrunk
from benchmarks.problems import seeded
from indexing import from_isl
from simplifier.bounds.interval import Interval
from simplifier.canonical.scope import Scope, scope_of
from simplifier.errors import Span, TextError
from simplifier.expr import form as forms
from simplifier.expr.form import Form
from simplifier.expr.text import parse_form
from tests.ops.perturbation import Tally

CASE = Case.of("(x + y) floordiv 3 + x", {"x": (0, 5), "y": (0, 7)}, {"x + y": (0, 9)})
DEAR = parse_form("(x floordiv 2) mod 2 + y floordiv 5 + (y floordiv 3) mod 2")


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Quotients by 7 are one too great; with constants, too, no step would be the last."""
    original = Scope.floordiv

    def wrong(scope: Scope, numerator: Form, divisor: int) -> Form:
        is_hit = divisor == 7 and not numerator.constant
        return original(scope, numerator, divisor).plus_constant(1 if is_hit else 0)

    scope_of.cache_clear()
    monkeypatch.setattr(Scope, "floordiv", wrong)
    yield
    monkeypatch.undo()
    scope_of.cache_clear()


def test_a_planted_fault_is_found_made_small_and_printed(
    capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> None:
    assert fuzz.main(["--cases", "60", "--kinds", "affine", "--seconds", "8"]) == 0
    assert not capsys.readouterr().out
    request.getfixturevalue("planted")
    assert fuzz.main(["--cases", "60", "--kinds", "affine", "--seconds", "8"]) == 1
    printed = capsys.readouterr().out
    assert re.search(r'pytest\.param\("x (floordiv|mod|ceildiv) 7", \{"x": ', printed), printed


def test_what_was_asked_is_counted(capsys: pytest.CaptureFixture[str]) -> None:
    assert fuzz.main(["--cases", "40", "--kinds", "small,affine"]) == 0
    printed = capsys.readouterr().err
    cases = re.search(r"cases: small (\d+), affine (\d+)\n", printed)
    assert cases is not None
    assert sum(map(int, cases.groups())) == 40
    checks = dict(re.findall(r"([a-z ]+) (\d+)(?:,|$)", printed.split("checks:")[1]))
    assert checks[" quick"] == "40"
    assert 0 < int(checks[" equal for isl"]) < 20
    with pytest.raises(SystemExit):
        fuzz.main(["--kinds", "afine"])
    assert "'afine' is no kind; expected some of small, affine" in capsys.readouterr().err


COUNTER = count()
Lie: TypeAlias = "Callable[[Any, Form], object] | Callable[[Form], object] | float"
ONE_MORE: Lie = lambda _, form: form + 1  # noqa: E731 - it is told thrice
LIES: list[tuple[str, str, Lie]] = [
    # check, what is replaced, by what
    ("equal at points", "simplified", ONE_MORE),
    ("equal at points", "simplified", lambda _, __: 1 // 0),
    ("equal for isl", "simplified", ONE_MORE),
    ("never costlier", "simplified", lambda _, __: DEAR),
    ("settled", "simplified", ONE_MORE),
    ("bounds hold values", "range_of", lambda _, __: Interval(1, 8)),
    ("bounds hold extremes", "range_of", lambda _, __: Interval(1, 8)),
    ("same in any order", "simplified", lambda _, __: forms.constant(next(COUNTER))),
    ("text is read back", "format_form", lambda _: "x"),
    ("quick", "MAX_SECONDS", -1.0),
]


def test_a_check_complains_where_not_all_is_well(monkeypatch: pytest.MonkeyPatch) -> None:
    assert dict(checks.complaints(CASE, checks.CHECKS)) == {}
    for check, name, lie in LIES:
        with monkeypatch.context() as lying:
            lying.setattr(checks, name, lie)
            assert checks.complaint(CASE, checks.CHECKS[check]), (check, name)
    assert {check for check, _, _ in LIES} == checks.CHECKS.keys()


@pytest.mark.parametrize("kind", KINDS)
def test_cases_depend_on_their_seed_alone(kind: str) -> None:
    rows = [KINDS[kind](Random(7)).row for _ in range(2)]  # noqa: S311 - the seed is the point
    assert rows[0] == rows[1]


def test_a_row_is_read_back_and_points_keep_to_bounds_and_limits() -> None:
    assert CASE.row == '"(x + y) floordiv 3 + x", {"x": (0, 5), "y": (0, 7)}, {"x + y": (0, 9)}'
    points = CASE.points(Random(0))  # noqa: S311 - the seed is the point
    pairs = set(zip(points["x"], points["y"], strict=True))
    assert pairs == {(x, y) for x in range(6) for y in range(8) if x + y <= 9}


def test_a_case_is_made_as_small_as_its_fault_allows() -> None:
    of_text = texts.TextCase("maps", "(d0)[s0] -> (d0 + \0), domain: d0 in [0, 3]")
    assert shrunk(of_text, lambda near: "\0" in near.text).row == "\"maps\", '\\x00'"
    text = "max((a * 3 + b mod 12) floordiv 5, b - 40) + 17"
    case = Case.of(text, {"a": (-4, 90), "b": (3, None), "c": (0, 1)}, {"a + b": (0, None)})
    assert shrunk(case, lambda near: " mod " in near.row).row == '"0 mod 0", {}, {}'


def refuse(message: str, start: int) -> Callable[[str], object]:
    """A reader that refuses every text at that place."""

    def read(text: str) -> object:
        raise TextError(message, Span(text, start, start + 1))

    return read


def slow(_: str) -> int:
    start = process_time()
    while process_time() - start < 0.02:
        pass
    return 7


UNTRUE: list[tuple[str, texts.Language]] = [
    ("ValueError: invalid literal for int", texts.Language(int)),
    ("and that as xxxxxxxxxx", texts.Language(len, write=lambda read: "x" * (read + 1))),
    ("is read in 0.0 s", texts.Language(slow)),
    ("idle takes 0.0 s", texts.Language(len, lambda _: "(d0) -> ", {"idle": slow})),
    ("sum: TypeError: 'int' object", texts.Language(len, lambda _: "(d0) -> ", {"sum": sum})),
    ("the message has 30", texts.Language(refuse("x " * 1500, 0))),
    ("which is not in the text", texts.Language(refuse("x", 99))),
]


@pytest.mark.parametrize(("said", "language"), UNTRUE, ids=[said for said, _ in UNTRUE])
def test_a_reader_that_errs_is_found(
    said: str, language: texts.Language, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(texts, "LANGUAGES", {"maps": language})
    monkeypatch.setattr(texts, "MAX_SECONDS", 0.01)
    case = texts.TextCase("maps", "(d0) -> ")
    assert said in str(dict(checks.complaints(case, texts.CHECKS)))


@pytest.mark.parametrize("language", texts.LANGUAGES)
def test_texts_start_from_texts_that_are_read(language: str) -> None:
    seeds = texts.seeds(language)
    assert len(seeds) > 2
    assert seeds == tuple(dict.fromkeys(seeds))
    drawn = [texts.KINDS[language](Random(7)).text for _ in range(2)]  # noqa: S311 - the seed is the point
    assert drawn[0] == drawn[1]


REVERSED = """HloModule m
ENTRY main { p = f32[4] parameter(0) s = f32[3] slice(p), slice={[1:4]}
  ROOT r = f32[3] reverse(s), dimensions={0} }"""

needs_jax = pytest.mark.needs("jax")


def jax_module(name: str) -> Any:  # noqa: ANN401 - a module
    return importlib.import_module(f"benchmarks.fuzzing.{name}")


@needs_jax
def test_programs_depend_on_their_seed_alone_and_every_family_makes_steps() -> None:
    programs = jax_module("programs")
    for number in range(20):
        one, other = (programs.drawn(seeded("t", number)) for _ in range(2))
        assert (one.families, one.inputs) == (other.families, other.inputs)
        assert one.families[:1] == programs.drawn(seeded("t", number), most=1).families
    drawn = {name for number in range(150) for name in programs.drawn(seeded("t", number)).families}
    assert drawn == programs.FAMILIES.keys()


@needs_jax
@pytest.mark.parametrize("kind", ["unoptimized", "compiled"])
def test_a_program_is_fine(kind: str) -> None:
    programs = jax_module("programs")
    program = programs.drawn(seeded("t", 1))
    assert program_checks.complaint(program.texts()[kind], is_exact=program.is_exact) is None


DISAGREEING: list[tuple[str, Tally]] = [
    ("((0,), (1,)) changed", Tally(0, 0, 3, 3, missed=(((0,), (1,)),), one_way=())),
    ("one direction only", Tally(0, 0, 3, 3, missed=(), one_way=(((0,), (1,)),))),
    ("of 4 pairs that are said, 3 are felt", Tally(0, 0, 4, 3, missed=(), one_way=())),
]


@needs_jax
def test_what_disagrees_is_a_find(monkeypatch: pytest.MonkeyPatch) -> None:
    assert program_checks.complaint(REVERSED, is_exact=True) is None
    for said, tally in DISAGREEING:
        monkeypatch.setattr(program_checks, "tallies", Mock(return_value=[tally]))
        assert said in (program_checks.complaint(REVERSED, is_exact=True) or "")


def test_an_unknown_map_is_a_find() -> None:
    text = REVERSED.replace("reverse(s), dimensions={0}", 'custom-call(s), custom_call_target="x"')
    found = program_checks.complaint(text)
    assert found == "unknown: custom-call: no indexing map of x"


@needs_jax
def test_the_programs_are_counted_and_answers_read_back(capsys: pytest.CaptureFixture[str]) -> None:
    assert fuzz.main(["--programs", "--cases", "2"]) == 0
    printed = capsys.readouterr()
    assert not printed.out
    assert "2 programs of seed 0: 0 found" in printed.err
    assert "of 4 texts not run by XLA" in printed.err
    program_search = jax_module("program_search")
    answer = program_search.Answer(7, ("slice", "pad"), 1, "a\n b")
    assert program_search.Answer.read(answer.line) == answer


def test_layouts_are_fine_and_counted(capsys: pytest.CaptureFixture[str]) -> None:
    assert fuzz.main(["--about", "layouts", "--cases", "50"]) == 0
    assert "50 layouts of seed 0: 0 found" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["linear_index", "multi_index", "memory_size"])
def test_a_wrong_offset_is_found(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    right = getattr(layouts, name)

    def wrong(*arguments: Any) -> Any:  # noqa: ANN401 - of three functions
        found: Any = right(*arguments)
        return [each + 1 for each in found] if name == "multi_index" else found + 1

    monkeypatch.setattr(layouts, name, wrong)
    assert fuzz.main(["--about", "layouts", "--cases", "20"]) == 1
    assert name.split("_", maxsplit=1)[0] in capsys.readouterr().out or name == "memory_size"


# Texts that were found once.
LAYOUT, MANY_X = "minor_to_major: ", "x" * 3000
FOUND = [
    # ValueError: Exceeds the limit (4300 digits) for integer string conversion
    pytest.param("expressions", "d" + "1" * 4301, id="a name that ends in a long number"),
    pytest.param("isl", "{ [] -> [-" + "1" * 4400 + "] }", id="a long number of isl"),
    pytest.param("padded layouts", f"{LAYOUT}0 padded_dimensions: {'1' * 4301}", id="a long width"),
    # the message has 5284 characters
    pytest.param("modules", "f" + "1" * 5000, id="no computation, but a long name"),
    pytest.param("affine maps", "(d" + "1" * 3000 + ") -> (x)", id="a long name is declared"),
    pytest.param("padded layouts", f"{LAYOUT}1 {LAYOUT}{'1' * 2000}", id="a long dimension"),
    pytest.param("modules", "t = s32" + "1" * 3000, id="a long opcode"),
    pytest.param("modules", f"ENTRY e {{ ROOT a = s32[] fusion(), calls={MANY_X} }}", id="calls"),
    # TypeError: read_from_str(): incompatible function arguments
    pytest.param("isl", "{ [\ud800] }", id="half a character"),
    # Error: call to isl_map_range failed: spaces don't match
    pytest.param("isl", "{[0,0,d]->[2,0];[e,0,d]->[0,0]}", id="other names in each piece"),
    # Error: call to isl_map_dim_min failed: unbounded optimum
    pytest.param("isl", "{ [] -> [o0] : (o0) mod 5 = 0 }", id="multiples without bounds"),
]


@pytest.mark.parametrize(("language", "text"), FOUND)
def test_what_was_found_stays_right(language: str, text: str) -> None:
    assert dict(checks.complaints(texts.TextCase(language, text), texts.CHECKS)) == {}


def test_isl_does_not_stop_at_a_nul() -> None:
    with pytest.raises(ValueError, match=r"1:15: unexpected character '\\x00'"):
        from_isl("{ [i] -> [i] }\0 more")


@pytest.mark.parametrize("kind", texts.KINDS)
def test_random_texts_are_read_or_refused(kind: str) -> None:
    assert fuzz.main(["--about", "texts", "--kinds", kind, "--cases", "60", "--seed", "15"]) == 0
