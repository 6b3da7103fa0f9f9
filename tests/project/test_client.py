"""The types of the library, as a program of a user meets them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.extent import in_ci
from tests.project.sources import ROOT

CLIENT = ROOT / "tests" / "project" / "client.py"
STRICT = f"""
[tool.pyright]
typeCheckingMode = "strict"
reportMissingTypeStubs = false  # sympy has none
extraPaths = ["{ROOT}"]

[tool.mypy]
strict = true
ignore_missing_imports = true  # likewise
"""


@in_ci
@pytest.mark.parametrize(
    "checker", [pytest.param(name, marks=pytest.mark.needs(name)) for name in ("pyright", "mypy")]
)
def test_a_program_of_a_user_is_strictly_typed(checker: str, tmp_path: Path) -> None:
    """In its own folder, where the project's stubs of sympy are not found."""
    (tmp_path / "pyproject.toml").write_text(STRICT, "utf-8")
    command = [sys.executable, "-m", checker, shutil.copy(CLIENT, tmp_path)]
    environment = {**os.environ, "MYPYPATH": str(ROOT)}
    ran = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout


def test_the_program_runs() -> None:
    subprocess.run([sys.executable, CLIENT], cwd=ROOT, check=True)
