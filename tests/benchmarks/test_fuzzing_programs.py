"""The search for programs and layouts: it draws from all families, and finds what is planted."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import pytest

from benchmarks import fuzz
from benchmarks.fuzzing import layouts, program_checks
from benchmarks.problems import seeded
from tests.ops.perturbation import Tally

REVERSED = """HloModule m
ENTRY main { p = f32[4] parameter(0) s = f32[3] slice(p), slice={[1:4]}
  ROOT r = f32[3] reverse(s), dimensions={0} }"""

needs_jax = pytest.mark.needs("jax")


# Programs.


@needs_jax
def test_programs_depend_on_their_seed_alone() -> None:
    programs: Any = importlib.import_module("benchmarks.fuzzing.programs")
    for number in range(20):
        one, other = (programs.drawn(seeded("t", number)) for _ in range(2))
        assert (one.families, one.inputs) == (other.families, other.inputs)
        assert one.families[:1] == programs.drawn(seeded("t", number), most=1).families


@needs_jax
def test_every_family_makes_steps() -> None:
    programs: Any = importlib.import_module("benchmarks.fuzzing.programs")
    drawn = {name for number in range(150) for name in programs.drawn(seeded("t", number)).families}
    assert drawn == programs.FAMILIES.keys()


@needs_jax
@pytest.mark.parametrize("kind", ["unoptimized", "compiled"])
def test_a_program_is_fine(kind: str) -> None:
    programs: Any = importlib.import_module("benchmarks.fuzzing.programs")
    program = programs.drawn(seeded("t", 1))
    assert program_checks.complaint(program.texts()[kind], is_exact=program.is_exact) is None


LIES: list[tuple[str, Tally]] = [
    ("((0,), (1,)) changed", Tally(0, 0, 3, 3, missed=(((0,), (1,)),), one_way=())),
    ("one direction only", Tally(0, 0, 3, 3, missed=(), one_way=(((0,), (1,)),))),
    ("of 4 pairs that are said, 3 are felt", Tally(0, 0, 4, 3, missed=(), one_way=())),
]


@needs_jax
@pytest.mark.parametrize(("said", "tally"), LIES, ids=[said for said, _ in LIES])
def test_what_disagrees_is_a_find(said: str, tally: Tally, monkeypatch: pytest.MonkeyPatch) -> None:
    def one(*_: object, **__: object) -> Sequence[Tally]:
        return [tally]

    assert program_checks.complaint(REVERSED, is_exact=True) is None
    monkeypatch.setattr(program_checks, "tallies", one)
    assert said in (program_checks.complaint(REVERSED, is_exact=True) or "")


def test_an_unknown_map_is_a_find() -> None:
    text = REVERSED.replace("reverse(s), dimensions={0}", 'custom-call(s), custom_call_target="x"')
    found = program_checks.complaint(text)
    assert found == "unknown: custom-call: no indexing map of x"


@needs_jax
def test_the_programs_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    assert fuzz.main(["--programs", "--cases", "2"]) == 0
    printed = capsys.readouterr()
    assert not printed.out
    assert "2 programs of seed 0: 0 found" in printed.err
    assert "of 4 texts not run by XLA" in printed.err


@needs_jax
def test_answers_are_read_back() -> None:
    program_search: Any = importlib.import_module("benchmarks.fuzzing.program_search")
    answer = program_search.Answer(7, ("slice", "pad"), 1, "a\n b")
    assert program_search.Answer.read(answer.line) == answer


# Layouts.


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
