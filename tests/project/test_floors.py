"""Imports run down, or along a floor without closing a circle; heavy modules are loaded late."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib import import_module
from itertools import pairwise

import pytest

from tests.cases import for_all
from tests.project.failures import fail_with
from tests.project.floors import DOORS, FLOORS, IMPORTS_UPWARDS, LOADED_LATE, RECURSIONS
from tests.project.imports import Import, circles, imports_of, module_of
from tests.project.sources import PACKAGES, ROOT, Source, sources


@lru_cache
def all_imports() -> tuple[Import, ...]:
    files = sources(*PACKAGES)
    modules = frozenset(map(module_of, files))
    return tuple(found for source in files for found in imports_of(source, modules))


def floor(module: str, package: str) -> int | None:
    """The floor of a module inside a package, by the longest name that covers it."""
    names = ((name, number) for number, each in enumerate(FLOORS[package]) for name in each)
    covering = [
        (len(name), number)
        for name, number in names
        if name == module or (name != package and module.startswith(f"{name}."))
    ]
    return max(covering)[1] if covering else None


def packages_of(module: str) -> list[str]:
    """The packages with floors in which a module lies, the outermost first."""
    return [package for package in FLOORS if _lies_in(module, package)]


def _lies_in(module: str, package: str) -> bool:
    return not package or f"{module}.".startswith(f"{package}.")


def upward(found: Import) -> str | None:
    """What is said of an import that runs up, with both floors; ``None`` of others."""
    if not _is_inside(found) or is_door_upwards(found):
        return None
    for package in packages_of(found.importer):
        low, high = floor(found.importer, package), floor(found.imported, package)
        if _lies_in(found.imported, package) and low is not None and high is not None:
            below, above = (f"{n} ({', '.join(FLOORS[package][n])})" for n in (low, high))
            if low != high:
                return f"{found}, from floor {below} up to {above}" if low < high else None
    return None


def _is_inside(found: Import) -> bool:
    return found.imported.partition(".")[0] in PACKAGES


def is_door_upwards(found: Import) -> bool:
    return any(
        found.importer == importer and _lies_in(found.imported, imported)
        for importer, imported in IMPORTS_UPWARDS
    )


def _is_named(found: Import) -> bool:
    ends = {found.importer, found.imported}
    return is_door_upwards(found) or any(ends <= {*names} for names in RECURSIONS.values())


def wrong_imports(imports: Iterable[Import]) -> dict[tuple[str, str], str]:
    """The imports that run up or close a circle, and what is said of each."""
    said = {found: upward(found) for found in imports}
    level = [f for f, up in said.items() if up is None and _is_inside(f) and not _is_named(f)]
    for circle in circles(level):
        closing = [each for each in level if {each.importer, each.imported} <= circle]
        said |= {each: f"{each}, which closes a circle" for each in closing}
    return {(found.importer, found.imported): what for found, what in said.items() if what}


def past_doors(imports: Iterable[Import]) -> Iterator[str]:
    """The imports from outside a folder of what is none of its doors."""
    for found in imports:
        for folder, doors in DOORS.items():
            enters = _lies_in(found.imported, folder) and not _lies_in(found.importer, folder)
            if enters and found.imported not in doors:
                yield f"{found}, past the doors of {folder}: {', '.join(doors)}"


def hidden_imports(imports: Iterable[Import]) -> dict[tuple[str, str], str]:
    """The imports inside functions of what is neither loaded late nor named."""
    return {
        (found.importer, found.imported): f"{found} inside a function"
        for found in imports
        if found.in_function and found.imported not in LOADED_LATE and not _is_named(found)
    }


def test_imports_run_down_and_neither_to_tests_nor_relatively() -> None:
    """Those for type checkers count too: who names a type of a higher floor knows of it."""
    fail_with(wrong_imports(all_imports()).values())
    wrong = [found for found in all_imports() if found.imported.partition(".")[0] in {"tests", ""}]
    fail_with(map(str, wrong))


def test_nobody_imports_past_a_door() -> None:
    fail_with(past_doors(all_imports()))
    past = Import("ops.hlo.module", "simplifier.expr.form", "ops/hlo/module.py", 7)
    inside = Import("simplifier.problem", "simplifier.expr.form", "simplifier/problem.py", 7)
    assert len([*past_doors([past, inside])]) == 1


@pytest.mark.parametrize("door", ["simplifier.forms", "indexing.passes"])
def test_a_door_offers_what_somebody_takes(door: str) -> None:
    """Names that nobody takes any longer leave the door."""
    package, _, name = door.partition(".")
    offered: set[str] = set()
    taken: set[str] = set()
    for source in sources(*PACKAGES):
        text, is_door = source.text, module_of(source) == door
        for node in source.nodes(ast.ImportFrom):
            if isinstance(node, ast.ImportFrom) and (is_door or node.module == door):
                names = {alias.name for alias in node.names} - {"annotations"}
                (offered if is_door else taken).update(names)
        if is_door:
            taken.update(ast.unparse(node) for node in source.nodes(ast.Name))  # for itself
        if f"from {package} import" in text and name in text:
            taken.update(re.findall(rf"\b{name}\.(\w+)", text))
    fail_with(f"{door}: nobody takes {name}" for name in sorted(offered - taken))
    assert offered


def test_every_module_lies_on_a_floor_and_what_is_named_is_there() -> None:
    """A recursion that has been taken apart, or a door that nobody uses, is no longer named."""
    modules = [module_of(source) for source in sources(*PACKAGES)]
    names = {name for floors in FLOORS.values() for names in floors for name in names}
    names |= {name for recursion in RECURSIONS.values() for name in recursion}
    unused = {name for name in names if not any(_lies_in(module, name) for module in modules)}
    fail_with(f"no module is called {name}" for name in sorted(unused))
    for name, recursion in RECURSIONS.items():
        inside = [f for f in all_imports() if {f.importer, f.imported} <= {*recursion}]
        assert circles(inside) == [{*recursion}], f"{name} is no circle"
    used = {found.importer for found in all_imports() if is_door_upwards(found)}
    assert used == {importer for importer, _ in IMPORTS_UPWARDS}
    fail_with(
        f"{module} lies on no floor of {package or 'the project'}"
        for module in modules
        for package in packages_of(module)
        if floor(module, package) is None
    )


UPWARD = [
    # a file, what it holds, whether that imports upwards
    ("simplifier/expr/a.py", "import indexing.map", True),
    ("simplifier/expr/a.py", "def f():\n    from ops import hlo", True),
    ("simplifier/expr/a.py", "if TYPE_CHECKING:\n    from simplifier import simplify", True),
    ("simplifier/canonical/a.py", "from simplifier.expr.b import Form", False),
    ("indexing/exact/a.py", "from ops.cli import main", True),
    ("indexing/exact/a.py", "from simplifier import Interval", False),
    ("indexing/exact/a.py", "from indexing.layout import Shape", True),
    ("indexing/layout/cute/a.py", "from indexing import IndexingMap", True),
    ("indexing/layout/cute/a.py", "from indexing.exact.b import Set", False),
    ("ops/analysis/a.py", "import indexing, simplifier", False),
    ("ops/hlo/a.py", "from ops.analysis.b import REGISTRY", True),
    ("ops/hlo/a.py", "from ops import hlo", False),
    ("ops/hlo/a.py", "from ops import Fusion", True),
    ("indexing/__main__.py", "from ops.cli import main", False),
    ("indexing/__main__.py", "from ops.hlo import load", True),
    ("indexing/__init__.py", "def f():\n    from ops.kernels import emit_kernel", True),
]


@for_all(UPWARD)
def test_an_import_upwards_is_seen(path: str, text: str, is_upward: bool) -> None:
    found = list(imports_of(Source(path, text), {"ops.hlo", "indexing.layout.picture"}))
    assert bool(wrong_imports(found)) == is_upward


@for_all([("aba", [{"a", "b"}]), ("abcd", []), ("abcdb", [{*"bcd"}]), ("aa", [{"a"}])])
def test_a_circle_is_seen(names: str, expected: list[set[str]]) -> None:
    assert circles([Import(a, b, "", 1) for a, b in pairwise(names)]) == expected


HIDDEN: dict[str, list[str]] = {
    "def f():\n    from ops import hlo": ["ops.hlo"],
    "class C:\n    def f(self):\n        import json": ["json"],
    "def f():\n    import islpy": [],
    "from ops import hlo\nif TYPE_CHECKING:\n    import json": [],
}


def test_imports_stand_on_top_of_modules() -> None:
    fail_with(hidden_imports(all_imports()).values())
    for text, expected in HIDDEN.items():
        hidden = hidden_imports(imports_of(Source("a.py", text), {"ops.hlo"}))
        assert [imported for _, imported in hidden] == expected, text


HEAVY = ("IPython", "islpy", "jax", "numpy", "sympy", "tqdm", "z3")
"""Modules that cost time and that most uses do without."""


def heavy_modules_after(statement: str) -> list[str]:
    """The heavy modules that are loaded once a fresh interpreter has run the statement."""
    program = f"{statement}\nimport sys\nprint(*sorted(sys.modules.keys() & {set(HEAVY)!r}))"
    command = [sys.executable, "-c", program]
    ran = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return ran.stdout.split()


def test_maps_of_a_module_are_found_and_printed_without_what_is_heavy() -> None:
    """The engine works on forms; sympy is loaded when an expression leaves for a user."""
    assert heavy_modules_after("import numpy") == ["numpy"]
    packages = "import contextlib, simplifier, indexing, ops.cli"
    call = "ops.cli.main(['fusions', 'examples/softmax.hlo'])"
    run = f"{packages}\nwith contextlib.redirect_stdout(None): {call}"
    assert heavy_modules_after(run) == []
    results = "import ops; ops.transpose((2, 3), (1, 0)).output_to_input[0].results"
    assert "sympy" in heavy_modules_after(results)


@pytest.mark.parametrize("package", [*PACKAGES, "indexing.layout", "ops.hlo", "ops.xla_gpu"])
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
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'trasnpose'"):
        owner.trasnpose  # noqa: B018 - it is asked for


ANNOUNCED = {
    "indexing.map.CODE_WRITERS": "from indexing import parse_map\n"
    'parse_map("(d0) -> (d0), domain: d0 in [0, 1]").to_c()',
    "ops.hlo.parser.OTHER_READERS": "from ops import hlo\n"
    'hlo.parse("module { func.func @main() { return } }")',
    "ops.hlo.shape_inference.SHAPE_RULES": "from ops import hlo\n"
    'hlo.parse("ENTRY e { a = f32[2,3] parameter(0) ROOT b = transpose(a), dimensions={1,0} }")',
}
"""Programs that read tables of low modules, to which higher ones add."""


def test_tables_that_others_fill_are_announced_and_filled_when_they_are_read() -> None:
    trees = [source.tree for source in sources(*PACKAGES)]
    filled = {name for tree in trees for each in tree.body for name in _filled_by(each, tree)}
    assert filled == {*ANNOUNCED}
    for program in ANNOUNCED.values():
        subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True)


def _filled_by(statement: ast.stmt, module: ast.Module) -> Iterator[str]:
    """The imported table that a statement of a module adds to."""
    added = statement.targets[0] if isinstance(statement, ast.Assign) else statement
    match added:
        case (
            ast.Subscript(value=ast.Name(id=table))
            | ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=table))))
        ):
            for node in module.body:
                if isinstance(node, ast.ImportFrom) and table in {each.name for each in node.names}:
                    yield f"{node.module}.{table}"
        case _:
            pass


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
