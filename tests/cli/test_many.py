"""The commands on several files and folders: as on each alone, whatever --jobs is."""

from __future__ import annotations

import gzip
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from ops.cli import main
from tests.cli.small_modules import LOOKED_UP, SOFTMAX_SUM

WRONG = "HloModule wrong\n\nENTRY %e {\n  ROOT %r = f32[2] negate(%ghost) }\n"

COMMANDS = {
    "maps": ["maps"],
    "maps back": ["maps", "--direction", "input-to-output", "--linear-offsets"],
    "fusions": ["fusions"],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three modules, one of them compressed and one deeper."""
    (tmp_path / "deep").mkdir()
    (tmp_path / "a.hlo").write_text(SOFTMAX_SUM)
    (tmp_path / "b.hlo.gz").write_bytes(gzip.compress(LOOKED_UP.encode()))
    (tmp_path / "deep" / "c.txt").write_text(SOFTMAX_SUM)
    (tmp_path / "notes.txt").write_text("about these modules")
    return tmp_path


def printed(arguments: list[str], capsys: pytest.CaptureFixture[str], code: int = 0) -> str:
    """What a command prints, where its exit code is as expected."""
    assert main(arguments) == code
    return capsys.readouterr().out


def document(
    arguments: list[str], capsys: pytest.CaptureFixture[str], code: int = 0
) -> dict[str, Any]:
    """The document that a command prints."""
    found: dict[str, Any] = json.loads(printed([*arguments, "--json"], capsys, code))
    return found


@pytest.mark.parametrize("command", COMMANDS.values(), ids=list(COMMANDS))
def test_text_is_that_of_each_file_under_its_name(
    command: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [str(folder / name) for name in ("a.hlo", "b.hlo.gz", "deep/c.txt")]
    alone = [f"==> {file} <==\n{printed([*command, file], capsys)}" for file in files]
    assert printed([*command, *files], capsys) == "\n".join(alone)
    assert printed([*command, str(folder)], capsys) == "\n".join(alone)


@pytest.mark.parametrize("command", COMMANDS.values(), ids=list(COMMANDS))
def test_json_is_that_of_each_file_in_a_list(
    command: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [str(folder / name) for name in ("a.hlo", "b.hlo.gz", "deep/c.txt")]
    alone = [document([*command, file], capsys) for file in files]
    together = document([*command, str(folder)], capsys)
    about = {name: value for name, value in together.items() if name not in ("modules", "errors")}
    assert [about | module for module in together["modules"]] == alone
    assert together["errors"] == []


@pytest.mark.parametrize("form", [[], ["--json"]], ids=["text", "json"])
def test_the_number_of_jobs_changes_nothing(
    form: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "bad.hlo").write_text(WRONG)
    arguments = ["fusions", str(folder), str(folder / "missing.hlo"), *form]
    assert main([*arguments]) == 1
    alone = capsys.readouterr()
    assert main([*arguments, "--jobs", "2"]) == 1
    assert capsys.readouterr() == alone


def test_one_file_in_a_folder_is_a_list_of_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "only.hlo").write_text(SOFTMAX_SUM)
    found = document(["fusions", str(tmp_path), "--jobs", "0"], capsys)
    assert [module["module"] for module in found["modules"]] == ["softmax_sum"]


def test_wrong_files_leave_the_others_alone(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "bad.hlo").write_text(WRONG)
    missing = str(folder / "missing.hlo")
    assert main(["maps", str(folder), missing]) == 1
    out, err = capsys.readouterr()
    assert [line for line in out.splitlines() if line.startswith("==>")] == [
        f"==> {folder / name} <==" for name in ("a.hlo", "b.hlo.gz", "deep/c.txt")
    ]
    errors = [line for line in err.splitlines() if line.startswith("error: ")]
    assert errors[0].startswith(f"error: {folder / 'bad.hlo'}:4:")
    assert errors[1:] == [f"error: {missing}: No such file or directory"]


def test_json_of_wrong_files(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "bad.hlo").write_text(WRONG)
    found = document(["maps", str(folder)], capsys, 1)
    bad = found["modules"][2]
    assert (bad["file"], bad["module"], bad["instructions"]) == (str(folder / "bad.hlo"), None, [])
    assert [(error["line"], error["instruction"]) for error in bad["errors"]] == [(4, "r")]
    assert [len(module["errors"]) for module in found["modules"]] == [0, 0, 1, 0]


@pytest.mark.parametrize("command", ["maps", "fusions"])
def test_json_of_one_wrong_file(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = str(tmp_path / "missing.hlo")
    found = document([command, missing], capsys, 1)
    assert (found["file"], found["module"]) == (missing, None)
    assert found["errors"] == [{"message": f"{missing}: No such file or directory"}]


def test_folders_without_modules(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    expected = f"{tmp_path}: the folder holds no HLO modules"
    assert main(["maps", str(tmp_path)]) == 1
    assert capsys.readouterr() == ("", f"error: {expected}\n")
    found = document(["maps", str(tmp_path)], capsys, 1)
    assert (found["modules"], found["errors"]) == ([], [{"message": expected}])


def test_an_instruction_of_some_files(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = document(["maps", str(folder), "--instruction", "%part"], capsys)
    assert [module["file"] for module in found["modules"]] == [str(folder / "b.hlo.gz")]
    text = printed(["maps", str(folder), "--instruction", "part"], capsys)
    assert text.startswith(f"==> {folder / 'b.hlo.gz'} <==\n%part = f32[4] dynamic-slice\n")


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_instruction_of_no_file(
    jobs: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The nearest names come from all files."""
    assert main(["maps", str(folder), "--instruction", "totl", "--jobs", jobs]) == 1
    expected = f"error: {folder}: no instruction is called %totl\nhint: there is %total\n"
    assert capsys.readouterr() == ("", expected)


def test_an_instruction_of_no_file_that_can_be_read(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = ["missing.hlo", str(folder / "a.hlo")]
    found = document(["maps", *files, "--instruction", "totl"], capsys, 1)
    assert [module["file"] for module in found["modules"]] == ["missing.hlo"]
    message = f"{', '.join(files)}: no instruction is called %totl\nhint: there is %total"
    assert found["errors"] == [{"message": message}]


def test_a_module_from_standard_input(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def typed(text: str) -> None:
        stream = io.TextIOWrapper(io.BytesIO(text.encode()))
        monkeypatch.setattr(sys, "stdin", stream)

    typed(SOFTMAX_SUM)
    assert printed(["maps", "-"], capsys) == printed(["maps", str(folder / "a.hlo")], capsys)
    typed(WRONG)
    assert main(["fusions", "-"]) == 1
    assert capsys.readouterr().err.startswith("error: <stdin>:4:")
    typed(SOFTMAX_SUM)
    found = document(["maps", "-"], capsys)
    assert (found["file"], found["module"]) == ("-", "softmax_sum")


def test_standard_input_is_read_by_itself(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fusions", "-", str(folder / "b.hlo.gz")]) == 1
    out, err = capsys.readouterr()
    assert out.startswith(f"==> {folder / 'b.hlo.gz'} <==\n")
    assert err == "error: -: standard input is read by itself, not beside files\n"


def test_what_nobody_expected_is_the_error_of_its_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> None:
        raise RecursionError("too deep")

    monkeypatch.setattr("ops.cli.maps.FusionMaps.answer", broken)
    assert main(["fusions", str(folder)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    names = ("a.hlo", "b.hlo.gz", "deep/c.txt")
    assert err == "".join(f"error: {folder / name}: RecursionError: too deep\n" for name in names)


@pytest.mark.parametrize("jobs", ["-1", "two", "1.5", ""])
def test_jobs_that_are_no_number(jobs: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["maps", "a.hlo", f"--jobs={jobs}"])
    assert stopped.value.code == 2
    expected = f"argument --jobs: expected a number of processes, or 0, not {jobs!r}\n"
    assert capsys.readouterr().err.endswith(expected)
