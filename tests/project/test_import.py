"""What importing a package brings in: heavy modules come only when they are used."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib

from tests.project.failures import fail_with
from tests.project.sources import PACKAGES, ROOT, sources

HEAVY = ("IPython", "islpy", "jax", "numpy", "tqdm", "z3")
"""Modules that cost time and that most uses do without."""


def heavy_modules_after(statement: str) -> list[str]:
    """The heavy modules that are loaded once a fresh interpreter has run the statement."""
    program = f"{statement}\nimport sys\nprint(*sorted(sys.modules.keys() & {set(HEAVY)!r}))"
    command = [sys.executable, "-c", program]
    ran = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return ran.stdout.split()


def test_importing_the_packages_loads_nothing_heavy() -> None:
    every = "import simplifier, indexing, ops, ops.cli"
    assert heavy_modules_after(every) == heavy_modules_after("import sympy")


def test_a_heavy_module_is_seen() -> None:
    assert heavy_modules_after("import numpy") == ["numpy"]


def test_what_modules_load_is_installed_with_them() -> None:
    """What stands on top of a module comes with Python, or is a dependency that is declared."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    declared = {re.split(r"[<>=!;\[ ]", each, maxsplit=1)[0] for each in project["dependencies"]}
    known = declared | {*sys.stdlib_module_names} | {*PACKAGES}
    fail_with(
        f"{source.path} loads {name}, which pyproject.toml does not declare"
        for source in sources(*PACKAGES)
        for name in sorted(_loaded_by(source.text) - known)
    )


def _loaded_by(text: str) -> set[str]:
    """The outermost packages that the statements on top of a module import."""
    on_top = ast.parse(text).body
    modules = [node.module or "" for node in on_top if isinstance(node, ast.ImportFrom)]
    modules += [each.name for node in on_top if isinstance(node, ast.Import) for each in node.names]
    return {module.partition(".")[0] for module in modules}
