"""The commands on several files and folders: as on each alone, whatever --jobs is."""

from __future__ import annotations

import gzip
import io
import sys

import pytest

from tests.cli.command_line import CommandLine
from tests.cli.small_modules import LOOKED_UP, SOFTMAX_SUM

WRONG = "HloModule wrong\n\nENTRY %e {\n  ROOT %r = f32[2] negate(%ghost) }\n"

COMMANDS = ("maps", "maps --direction input-to-output --linear-offsets", "fusions")


@pytest.fixture
def files(cli: CommandLine) -> list[str]:
    """Three modules, one of them compressed and one deeper, beside what is none."""
    cli.file("about these modules", "notes.txt")
    compressed = cli.file(gzip.compress(LOOKED_UP.encode()), "b.hlo.gz")
    modules = (cli.file(SOFTMAX_SUM, "a.hlo"), compressed, cli.file(SOFTMAX_SUM, "deep/c.txt"))
    return [*map(str, modules)]


@pytest.mark.parametrize("command", [*map(str.split, COMMANDS)], ids=COMMANDS)
def test_answers_are_those_of_files(command: list[str], files: list[str], cli: CommandLine) -> None:
    text = "\n".join(f"==> {file} <==\n{cli(*command, file)}" for file in files)
    assert cli(*command, *files) == cli(*command, cli.folder) == text
    alone = [cli.document(*command, file) for file in files]
    together = cli.document(*command, cli.folder)
    about = {name: value for name, value in together.items() if name not in ("modules", "errors")}
    assert [about | module for module in together["modules"]] == alone
    assert together["errors"] == []


@pytest.mark.parametrize("form", [[], ["--json"]], ids=["text", "json"])
@pytest.mark.usefixtures("files")
def test_the_number_of_jobs_changes_nothing(form: list[str], cli: CommandLine) -> None:
    cli.file(WRONG, "bad.hlo")
    call = ["fusions", cli.folder, cli.folder / "missing.hlo", *form]
    assert cli.streams(*call, code=1) == cli.streams(*call, "--jobs", "2", code=1)


def test_folders_with_one_module_or_none(cli: CommandLine) -> None:
    expected = f"{cli.folder}: the folder holds no HLO modules"
    assert cli.error("maps", cli.folder) == f"error: {expected}\n"
    found = cli.document("maps", cli.folder, code=1)
    assert (found["modules"], found["errors"]) == ([], [{"message": expected}])
    cli.file(SOFTMAX_SUM)
    found = cli.document("fusions", cli.folder, "--jobs", "0")
    assert [module["module"] for module in found["modules"]] == ["softmax_sum"]


def test_wrong_files_are_named_and_leave_others_alone(files: list[str], cli: CommandLine) -> None:
    bad, missing = cli.file(WRONG, "bad.hlo"), cli.folder / "missing.hlo"
    out, err = cli.streams("maps", cli.folder, missing, code=1)
    titles = [line for line in out.splitlines() if line.startswith("==>")]
    assert titles == [f"==> {file} <==" for file in files]
    first, *others = [line for line in err.splitlines() if line.startswith("error: ")]
    assert first.startswith(f"error: {bad}:4:")
    assert others == [f"error: {missing}: No such file or directory"]
    modules = cli.document("maps", cli.folder, code=1)["modules"]
    assert [len(module["errors"]) for module in modules] == [0, 0, 1, 0]
    wrong = modules[2]
    assert (wrong["file"], wrong["module"], wrong["instructions"]) == (str(bad), None, [])
    assert [(error["line"], error["instruction"]) for error in wrong["errors"]] == [(4, "r")]
    for found in (cli.document(command, missing, code=1) for command in ("maps", "fusions")):
        assert (found["file"], found["module"]) == (str(missing), None)
        assert found["errors"] == [{"message": f"{missing}: No such file or directory"}]


def test_an_instruction_of_some_files_or_none(files: list[str], cli: CommandLine) -> None:
    found = cli.document("maps", cli.folder, "--instruction", "%part")
    assert [module["file"] for module in found["modules"]] == [files[1]]
    text = cli("maps", cli.folder, "--instruction", "part")
    assert text.startswith(f"==> {files[1]} <==\n%part = f32[4] dynamic-slice\n")
    # The nearest names come from all files that can be read
    said = "no instruction is called %totl\nhint: there is %total"
    for jobs in ("1", "2"):
        found = cli.error("maps", cli.folder, "--instruction", "totl", "--jobs", jobs)
        assert found == f"error: {cli.folder}: {said}\n"
    some = ["missing.hlo", files[0]]
    document = cli.document("maps", *some, "--instruction", "totl", code=1)
    assert [module["file"] for module in document["modules"]] == ["missing.hlo"]
    assert document["errors"] == [{"message": f"{', '.join(some)}: {said}"}]


def test_a_module_from_standard_input(
    files: list[str], monkeypatch: pytest.MonkeyPatch, cli: CommandLine
) -> None:
    def typed(text: str) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))

    typed(SOFTMAX_SUM)
    assert cli("maps", "-") == cli("maps", files[0])
    typed(WRONG)
    assert cli.error("fusions", "-").startswith("error: <stdin>:4:")
    typed(SOFTMAX_SUM)
    found = cli.document("maps", "-")
    assert (found["file"], found["module"]) == ("-", "softmax_sum")
    out, err = cli.streams("fusions", "-", files[1], code=1)
    assert out.startswith(f"==> {files[1]} <==\n")
    assert err == "error: -: standard input is read by itself, not beside files\n"


def test_what_nobody_expected_is_the_error_of_its_file(
    files: list[str], monkeypatch: pytest.MonkeyPatch, cli: CommandLine
) -> None:
    def broken(*_: object) -> None:
        raise RecursionError("too deep")

    monkeypatch.setattr("ops.cli.maps.FusionMaps.answer", broken)
    expected = "".join(f"error: {file}: RecursionError: too deep\n" for file in files)
    assert cli.error("fusions", cli.folder) == expected
