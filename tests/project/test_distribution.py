"""What users get: the README's commands, the change log, the wheel."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path, PurePosixPath
from zipfile import ZipFile

import pytest

from tests.project.sources import PACKAGES, ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def readme_command(number: int) -> str:
    """The shell command of the README that CI takes by this number."""
    script = (ROOT / ".ci/run").read_text("utf-8")
    begin = script.index("readme_command() {")
    function = script[begin : script.index("\n}\n", begin) + 3]
    command = ["bash", "-c", f"{function}readme_command {number}"]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def test_readme_holds_the_main_job_and_the_tests() -> None:
    main_job, tests, nothing = map(readme_command, (1, 2, 3))
    for command in (main_job, tests):
        assert command.startswith("python3 -m venv .venv &&\n")
    assert main_job.endswith(".venv/bin/python -m indexing fusions examples/softmax.hlo\n")
    assert tests.endswith(".venv/bin/python -m pytest\n")
    assert not nothing
    script = (ROOT / ".ci/run").read_text("utf-8")
    assert [number for number in range(1, 9) if f"$(readme_command {number})" in script] == [1, 2]


def test_the_project_says_what_it_is_and_needs() -> None:
    # what the command calls can be imported where another package is named ``ops``
    assert PROJECT["scripts"] == {"indexing": "indexing.__main__:main"}
    assert all((ROOT / package / "py.typed").is_file() for package in PACKAGES)
    assert f"## [{PROJECT['version']}]" in (ROOT / "CHANGELOG.md").read_text("utf-8")
    required = {name.split(">")[0] for name in PROJECT["dependencies"]}
    assert required == {"islpy", "numpy", "sympy"}


def test_workflows_run_what_runs_here_with_actions_that_are_pinned() -> None:
    """By commit, because a tag can be moved; the version stands beside it for readers."""
    files = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    lines = [line for file in files for line in file.read_text("utf-8").splitlines()]
    used = [line for line in lines if "uses:" in line]
    assert len(used) > 1
    assert [line for line in used if not re.search(r"@[0-9a-f]{40} # v\d+\.\d+\.\d+$", line)] == []
    scripts = re.findall(r"bash (\S+)", "\n".join(lines))
    assert sorted(scripts) == [".ci/release", ".ci/run"]
    assert all((ROOT / script).stat().st_mode & 0o100 for script in scripts)


@pytest.mark.needs("hatchling")
def test_wheel_holds_the_packages_and_nothing_else(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel"]
    subprocess.run([*command, "--directory", tmp_path], cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = [PurePosixPath(name) for name in ZipFile(wheel).namelist()]
    held = {name.parts[0] for name in names if not name.parts[0].endswith(".dist-info")}
    assert held == set(PACKAGES)
    assert {name.parts[0] for name in names if name.name == "py.typed"} == set(PACKAGES)
    suffixes = {name.suffix[1:] for name in names if name.parts[0] in PACKAGES}
    assert suffixes <= {"py", "typed", "html", "css", "js", "txt", "json", "hlo", "proto"}
    assert PurePosixPath("ops/cli/schema.json") in names
    page = {path.relative_to(ROOT) for path in ROOT.glob("ops/explorer/page/**/*.*")}
    assert {PurePosixPath(path.as_posix()) for path in page} <= {*names}
    examples = {*ROOT.glob("examples/*.hlo"), *ROOT.glob("examples/passes/*.py")}
    inside = {name for name in names if name.is_relative_to("ops/examples")}
    assert inside == {"ops" / PurePosixPath(each.relative_to(ROOT)) for each in examples}
