"""What importing a package brings in: heavy modules come only when they are used."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.project.sources import ROOT

HEAVY = ("IPython", "islpy", "jax", "numpy", "tqdm", "z3")
"""Modules that cost time and that most uses do without."""


def heavy_modules_after(statement: str) -> list[str]:
    """The heavy modules that are loaded once a fresh interpreter has run the statement."""
    program = f"{statement}\nimport sys\nprint(*sorted(sys.modules.keys() & {set(HEAVY)!r}))"
    command = [sys.executable, "-c", program]
    ran = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return ran.stdout.split()


@pytest.mark.parametrize("package", ["simplifier", "indexing", "ops", "ops.cli"])
def test_importing_a_package_loads_nothing_heavy(package: str) -> None:
    assert heavy_modules_after(f"import {package}") == heavy_modules_after("import sympy")


def test_a_heavy_module_is_seen() -> None:
    assert heavy_modules_after("import numpy") == ["numpy"]
