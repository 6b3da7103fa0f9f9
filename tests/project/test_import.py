"""What importing a package brings in: heavy modules come only when they are used."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib import import_module

import pytest

from tests.project.failures import fail_with
from tests.project.sources import PACKAGES, ROOT, sources

HEAVY = ("IPython", "islpy", "jax", "numpy", "sympy", "tqdm", "z3")
"""Modules that cost time and that most uses do without."""


def heavy_modules_after(statement: str) -> list[str]:
    """The heavy modules that are loaded once a fresh interpreter has run the statement."""
    program = f"{statement}\nimport sys\nprint(*sorted(sys.modules.keys() & {set(HEAVY)!r}))"
    command = [sys.executable, "-c", program]
    ran = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return ran.stdout.split()


def test_importing_the_packages_loads_nothing_heavy() -> None:
    assert heavy_modules_after("import simplifier, indexing, ops, ops.cli") == []


def test_maps_of_a_module_are_found_and_printed_without_sympy() -> None:
    """The engine works on forms; sympy is loaded when an expression leaves for a user."""
    printed = "import contextlib, ops.cli\nwith contextlib.redirect_stdout(None):"
    run = f"{printed} ops.cli.main(['fusions', 'examples/softmax.hlo'])"
    assert heavy_modules_after(run) == []
    results = "import ops; ops.transpose((2, 3), (1, 0)).output_to_input[0].results"
    assert "sympy" in heavy_modules_after(results)


@pytest.mark.parametrize("package", [*PACKAGES, "indexing.layout", "ops.hlo"])
def test_type_checkers_read_the_names_that_come_when_they_are_asked_for(package: str) -> None:
    folder, owner = package.replace(".", "/"), import_module(package)
    (source,) = (s for s in sources(folder) if s.path == f"{folder}/__init__.py")
    (checked,) = (node for node in source.tree.body if isinstance(node, ast.If))
    read = [node for node in checked.body if isinstance(node, ast.ImportFrom)]
    names = [(str(node.module), alias.name) for node in read for alias in node.names]
    fail_with(
        f"{package}.{name} is not that of {module}"
        for module, name in names
        if getattr(owner, name) is not getattr(import_module(module), name)
    )
    assert sorted(name for _, name in names) == owner.__all__
    assert {*owner.__all__} <= {*dir(owner)}


def test_a_package_says_which_name_it_lacks() -> None:
    with pytest.raises(AttributeError, match=r"module 'ops' has no attribute 'trasnpose'"):
        import_module("ops").trasnpose  # noqa: B018 - it is asked for


ANNOUNCED = {
    "indexing.map.CODE_WRITERS": """
from indexing import parse_map
parse_map("(d0) -> (d0), domain: d0 in [0, 1]").to_c()""",
    "ops.hlo.parser.OTHER_READERS": """
from ops import hlo
hlo.parse("module { func.func @main() { return } }")""",
    "ops.hlo.shape_inference.SHAPE_RULES": """
from ops import hlo
hlo.parse("ENTRY e { a = f32[2,3] parameter(0) ROOT b = transpose(a), dimensions={1,0} }")""",
}
"""Programs that read tables of low modules, to which higher ones add."""


@pytest.mark.parametrize("table", ANNOUNCED)
def test_a_module_that_announced_itself_is_loaded_for_its_table(table: str) -> None:
    subprocess.run([sys.executable, "-c", ANNOUNCED[table]], cwd=ROOT, check=True)


def test_tables_that_others_fill_are_announced() -> None:
    filled = {
        name
        for source in sources(*PACKAGES)
        for statement in source.tree.body
        for name in _filled_by(statement, source.tree)
    }
    assert filled == {*ANNOUNCED}


def _filled_by(statement: ast.stmt, module: ast.Module) -> Iterator[str]:
    """The imported table that a statement of a module adds to."""
    added = statement.targets[0] if isinstance(statement, ast.Assign) else statement
    match added:
        case ast.Subscript(value=ast.Name(id=name)):
            pass
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name)))):
            pass
        case _:
            return
    for node in module.body:
        if isinstance(node, ast.ImportFrom) and name in {alias.name for alias in node.names}:
            yield f"{node.module}.{name}"


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
