"""The examples that come with the library, from a checkout and from a wheel."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ops.cli import main, others
from tests.project.sources import ROOT

SOFTMAX = (ROOT / "examples" / "softmax.hlo").read_text("utf-8")


def test_all_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    folder = ROOT / "examples"
    assert main(["example"]) == 0
    listed = capsys.readouterr().out.split()
    found = [*sorted(folder.glob("*.hlo")), *sorted(folder.glob("passes/*.py"))]
    assert listed == [each.name for each in found]


@pytest.mark.parametrize("name", ["softmax", "softmax.hlo"])
def test_one_is_printed_as_it_is(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["example", name]) == 0
    assert capsys.readouterr().out == SOFTMAX


def test_json_has_the_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["example", "softmax", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["examples"] == [{"file": "softmax.hlo", "text": SOFTMAX}]


WRONG = {
    "sofmax": "error: example: there is no example sofmax; did you mean softmax?\n",
    "softmax.py": "error: example: there is no example softmax.py; did you mean softmax?\n",
    "xyzzy": "error: example: there is no example xyzzy; expected one of layernorm, mean_square, ",
}


@pytest.mark.parametrize(("name", "message"), WRONG.items(), ids=WRONG)
def test_what_is_no_example_is_refused(
    name: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["example", name]) == 1
    assert capsys.readouterr().err.startswith(message)


def test_a_wheel_has_them_inside_of_its_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "examples" / "passes").mkdir(parents=True)
    (tmp_path / "examples" / "one.hlo").write_text("HloModule one\n")

    def installed(_: str) -> Path:
        return tmp_path

    monkeypatch.setattr(others, "resources", installed)
    assert main(["example", "one"]) == 0
    assert capsys.readouterr().out == "HloModule one\n"
