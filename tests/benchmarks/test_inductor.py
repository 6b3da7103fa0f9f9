"""The benchmark of PyTorch's index expressions: what is asked, what is counted, what is missing."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchmarks import inductor
from benchmarks.dynamic_models import MODELS
from benchmarks.inductor import Comparison
from simplifier import Interval, Mod, symbol

x, y, n, m = map(symbol, "xynm")


def test_a_question_has_what_pytorch_knows() -> None:
    environment = SimpleNamespace(var_to_range={n: Interval(2, 8)})
    allocator = SimpleNamespace(shape_env=environment, replacements={m: n})
    question = inductor.question_of(allocator, Mod(x, m) + y, {x: n, y: 4})
    assert question.expression == Mod(x, n) + y
    assert question.bounds == {"n": (2, 8), "x": (0, None), "y": (0, 3)}
    assert question.constraints == ((n - x, (1, None)),)
    assert question.simplified() == x + y
    assert question.row("one", x + y) == {
        "id": "one",
        "expression": "x mod n + y",
        "bounds": question.bounds,
        "constraints": [["n - x", (1, None)]],
        "expected": "x + y",
    }


def test_the_report_counts() -> None:
    comparisons = [
        Comparison((3, 5), (0.5, 1)),
        Comparison((4, 4), (0.5, 2)),
        Comparison((6, 5), (1, 3)),
    ]
    assert list(inductor.report(comparisons, 2)) == [
        "calls  3 distinct ones of 2 models",
        "size   13 operators, PyTorch 14",
        "       smaller 1, equal 1, larger 1",
        "time   2.00 s, PyTorch 6.00 s, 3.0 times as long",
    ]


def test_without_pytorch_it_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setattr(sys, "argv", ["inductor"])
    inductor.main()
    assert capsys.readouterr().out == inductor.MISSING + "\n"


def test_models_have_names_of_their_own() -> None:
    assert len({model.name for model in MODELS}) == len(MODELS)


@pytest.mark.filterwarnings("ignore")  # PyTorch's own
def test_calls_of_pytorch_are_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if importlib.util.find_spec("torch") is None:
        pytest.skip("compiles by PyTorch; torch is not installed")
    path = tmp_path / "calls.jsonl"
    monkeypatch.setattr(sys, "argv", ["inductor", "--models", "unpacked", "--record", str(path)])
    inductor.main()
    assert '"id": "inductor_unpacked_1"' in path.read_text("utf-8")
