"""The benchmarks measure what they say, and report it."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import islpy
import pytest

from benchmarks import inductor, modules, pairs, symbolic
from benchmarks.dynamic_models import MODELS
from benchmarks.inductor import Call, Comparison, Compilation
from benchmarks.sets import MAPS, ON_RELATIONS, ON_SETS, QUESTIONS, RELATIONS, SETS, seconds
from benchmarks.symbolic import TimedResult
from benchmarks.transformer import train_step
from indexing import IndexRelation, IndexSet, parse_map, parse_relation
from ops import hlo
from simplifier import IndexingError, Mod, symbol
from tests.cases import for_all
from tests.simplifier.test_torch import allocator
from tests.wave_kernels import kernel

FUSED = """HloModule fused
f { p = f32[8,4] parameter(0) ROOT t = f32[4,8] transpose(p), dimensions={1,0} }
ENTRY e { q = f32[8,4] parameter(0) ROOT r = f32[4,8] fusion(q), kind=kLoop, calls=f }
"""


def test_all_files_have_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [tmp_path / f"{name}.hlo" for name in "ab"]
    for path in paths:
        path.write_text(FUSED, "utf-8")
    modules.main(["--layers=", "--profile", *map(str, paths)])
    printed = capsys.readouterr().out.splitlines()
    head, *lines = [line for line in printed if not line.startswith("no ")]
    assert head == modules.HEAD
    rows, profile = lines[:3], lines[5:]
    assert any(line.endswith("ops/hlo/parser.py: parse") for line in profile)
    names = [f"{tmp_path.name}/a", f"{tmp_path.name}/b", "all 2 files"]
    assert [row.split("  ")[0] for row in rows] == names
    assert [int(row[36:43]) for row in rows] == [4, 4, 8]
    found = modules.measured([FUSED])
    assert found.spent.keys() == {"read", *modules.STAGES}
    assert all(seconds > 0 for seconds in found.spent.values())
    assert (found.instructions, found.megabytes > 10) == (4, True)


@pytest.mark.needs("jax")
def test_a_deeper_model_has_more_of_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    entries = [hlo.parse(train_step(layers)).entry for layers in (1, 2, 3)]
    results = [len(entry.root.shape.elements) for entry in entries]
    assert results == [len(entry.parameters) for entry in entries]
    assert results[1] - results[0] == results[2] - results[1] == 3 * 12
    pairs.main(["--layers", "1,2", "--pairs", "20"])
    heading, *rows = capsys.readouterr().out.splitlines()
    assert heading.split()[-1] == "ratio"
    assert [row.split()[::2][0] for row in rows] == ["1", "2"]
    assert rows[0].endswith("1.00")


CHAIN = """ENTRY e { p = f32[4] parameter(0) a = f32[4] negate(p)
  b = f32[4] add(a, a) ROOT c = f32[4] add(b, p) }"""


def test_each_pair_is_judged_once() -> None:
    module = hlo.parse(CHAIN)
    names = [(producer.name, consumer.name) for producer, consumer in pairs.pairs_of(module)]
    assert names == [("p", "a"), ("a", "b"), ("b", "c"), ("p", "c")]
    found = pairs.judged(module, 3)
    assert (found.instructions, found.pairs, found.bounds) == (4, 3, 0)


@for_all([*product(sorted(ON_SETS.keys() - {"lexmin"}), SETS)])
def test_both_sides_say_the_same_of_sets(question: str, name: str) -> None:
    check_same(ON_SETS[question], [IndexSet.parse(text) for text in SETS[name]])


@for_all([*product(ON_RELATIONS, RELATIONS)])
def test_both_sides_say_the_same_of_relations(question: str, name: str) -> None:
    check_same(ON_RELATIONS[question], [parse_relation(text) for text in RELATIONS[name]])


def check_same(sides: Sequence[Any], own: Sequence[Any]) -> None:
    ours, theirs = sides
    found, expected = ours(*own), theirs(*map(_to_islpy, own))
    is_set = isinstance(found, (IndexSet, IndexRelation))
    assert _to_islpy(found).is_equal(expected) if is_set else found == bool(expected)


def _to_islpy(each: Any) -> Any:  # noqa: ANN401 - of two classes
    return (islpy.Set if isinstance(each, IndexSet) else islpy.Map)(str(each.to_isl()))


@for_all(["transpose", "two modes", "four dimensions"])
def test_every_question_has_an_answer(name: str) -> None:
    text, sizes = MAPS[name]
    for ask in QUESTIONS.values():
        ask(parse_map(text), sizes)
    assert QUESTIONS["is_bijective_onto"](parse_map(text), sizes) is True


def test_a_time_is_that_of_one_call() -> None:
    calls: list[int] = []
    assert seconds(lambda: calls.append(1), 2) < 0.01
    assert len(calls) > 10, "quick calls are timed together"
    with pytest.raises(IndexingError):
        seconds(lambda: parse_map("(d0"), 1)


def test_the_report_counts_right_answers_and_sympy_gets_its_time_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    some = [*map(kernel, ("w130", "w134", "w97"))]
    monkeypatch.setattr(symbolic, "kernels", lambda: some)
    expressible, right, size, compared, time = symbolic.report(3, sample=0, limit=1)
    assert expressible == "expressible 3 of 3"
    assert right == "right       3 at 3 points each"
    assert size.endswith(f"of ixsimpl's {sum(each.cost for each in some)}")
    assert compared.endswith("larger 0")
    assert time.endswith("ms at worst")
    given = kernel("w130")
    assert TimedResult(given, given.expression, 0).is_right(5)
    assert not TimedResult(given, given.expression + 1, 0).is_right(5)  # pyright: ignore[reportOperatorIssue] - it is a number
    assert symbolic.seconds_of_sympy(given, 0.05) < 1


x, y, z, n, m = map(symbol, "xyznm")


def test_a_question_has_what_pytorch_knows() -> None:
    known = allocator({"n": (2, 8)}, replacements={m: n})
    question = inductor.question_of(known, Mod(x, m) + y, {z: 5, x: n, y: 4}, x + y)
    assert question == {
        "expression": "i0 mod n + i1",
        "bounds": {"n": [2, 8]},
        "ranges": {"i0": "n", "i1": "4"},
        "expected": "i0 + i1",
    }


def test_the_report_on_inductor_counts() -> None:
    assert len({model.name for model in MODELS}) == len(MODELS)
    calls = [
        Call({"expression": str(sizes)}, sizes, (0.5, 1)) for sizes in ((3, 5), (4, 4), (6, 5))
    ]
    stock = Compilation(
        "#include <a/b>\nx / 2 % 3; // div_floor_integer\n", 0.5, calls=[*calls, calls[0]]
    )
    better = Comparison("roll static", Compilation("x", 0.25, is_right=True), stock)
    worse = Comparison("roll dynamic", Compilation(stock.kernels * 2, 0.75, is_right=False), stock)
    assert (
        better.row
        == "roll static                 3    0       47       1     500.0    250.0  right"
    )
    assert worse.row.endswith("wrong, more divisions, more characters, more than half of the time")
    assert list(inductor.report([better, worse])) == [
        "divisions  6 as it is, 6 with our simplifier",
        "characters  94 as it is, 95 with our simplifier",
        "time  1000 ms as it is, 1000 ms with our simplifier",
        "calls  3 distinct ones that divide an index",
        "size   13 operators, PyTorch 14",
        "       smaller 1, equal 1, larger 1",
    ]


def test_without_pytorch_it_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setattr(sys, "argv", ["inductor"])
    inductor.main()
    assert capsys.readouterr().out == inductor.MISSING + "\n"


@pytest.mark.filterwarnings("ignore")  # PyTorch's own
def test_calls_of_pytorch_are_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if importlib.util.find_spec("torch") is None:
        pytest.skip("compiles by PyTorch; torch is not installed")
    path = tmp_path / "calls.jsonl"
    monkeypatch.setattr(sys, "argv", ["inductor", "--models", "roll", "--record", str(path)])
    inductor.main()
    assert '"id": "inductor_roll_1"' in path.read_text("utf-8")
