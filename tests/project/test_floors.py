"""Imports run down: from a floor to lower ones, or along a floor without closing a circle."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import pairwise

import pytest

from tests.project.failures import fail_with
from tests.project.floors import DOORS, FLOORS, IMPORTS_UPWARDS, LOADED_LATE, RECURSIONS
from tests.project.imports import Import, circles, imports_of, module_of
from tests.project.sources import PACKAGES, Source, sources


@lru_cache
def all_imports() -> tuple[Import, ...]:
    """Every import of the packages."""
    files = sources(*PACKAGES)
    modules = frozenset(map(module_of, files))
    return tuple(found for source in files for found in imports_of(source, modules))


def floor(module: str, package: str) -> int | None:
    """The floor of a module inside a package, by the longest name that covers it."""
    covering = [
        (len(name), number)
        for number, names in enumerate(FLOORS[package])
        for name in names
        if name == module or (name != package and module.startswith(f"{name}."))
    ]
    return max(covering)[1] if covering else None


def packages_of(module: str) -> list[str]:
    """The packages with floors in which a module lies, the outermost first."""
    return [package for package in FLOORS if _lies_in(module, package)]


def _lies_in(module: str, package: str) -> bool:
    return not package or f"{module}.".startswith(f"{package}.")


def is_inside(found: Import) -> bool:
    """Whether an import is one of a module of the project."""
    return found.imported.partition(".")[0] in PACKAGES


def upward(found: Import) -> str | None:
    """What is said of an import that runs up, with both floors; ``None`` of others."""
    if not is_inside(found) or is_door_upwards(found):
        return None
    for package in packages_of(found.importer):
        low, high = floor(found.importer, package), floor(found.imported, package)
        if _lies_in(found.imported, package) and low is not None and high is not None:
            if low < high:
                return f"{found}, from floor {_floor(low, package)} up to {_floor(high, package)}"
            if low > high:
                return None
    return None


def is_door_upwards(found: Import) -> bool:
    """Whether an import is one of the few that may run up."""
    return any(
        found.importer == importer and _lies_in(found.imported, imported)
        for importer, imported in IMPORTS_UPWARDS
    )


def _floor(number: int, package: str) -> str:
    return f"{number} ({', '.join(FLOORS[package][number])})"


def on_circles(imports: Iterable[Import]) -> list[Import]:
    """The imports that close circles, less those that are named."""
    level = [found for found in imports if is_inside(found) and not _is_named(found)]
    closed = circles(level)
    return [
        found
        for found in level
        if any({found.importer, found.imported} <= circle for circle in closed)
    ]


def _is_named(found: Import) -> bool:
    return _is_recursion(found) or is_door_upwards(found)


def _is_recursion(found: Import) -> bool:
    return any({found.importer, found.imported} <= {*names} for names in RECURSIONS.values())


def wrong_imports(imports: Iterable[Import]) -> dict[tuple[str, str], str]:
    """The imports that run up or close a circle, and what is said of each."""
    wrong: dict[tuple[str, str], str] = {}
    others: list[Import] = []
    for found in imports:
        said = upward(found)
        if said is None:
            others.append(found)
        else:
            wrong[found.importer, found.imported] = said
    for found in on_circles(others):
        wrong[found.importer, found.imported] = f"{found}, which closes a circle"
    return wrong


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


def test_imports_run_down() -> None:
    """Those for type checkers count too: who names a type of a higher floor knows of it."""
    fail_with(wrong_imports(all_imports()).values())


def test_nobody_imports_past_a_door() -> None:
    fail_with(past_doors(all_imports()))


def test_an_import_past_a_door_is_seen() -> None:
    past = Import("ops.hlo.module", "simplifier.expr.form", "ops/hlo/module.py", 7)
    inside = Import("simplifier.problem", "simplifier.expr.form", "simplifier/problem.py", 7)
    assert len(list(past_doors([past, inside]))) == 1


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


def test_imports_stand_on_top_of_modules() -> None:
    fail_with(hidden_imports(all_imports()).values())


def test_every_module_lies_on_a_floor() -> None:
    modules = [module_of(source) for source in sources(*PACKAGES)]
    fail_with(
        f"{module} lies on no floor of {package or 'the project'}"
        for module in modules
        for package in packages_of(module)
        if floor(module, package) is None
    )


def test_every_name_is_that_of_modules() -> None:
    modules = [module_of(source) for source in sources(*PACKAGES)]
    names = {name for floors in FLOORS.values() for names in floors for name in names}
    names |= {name for recursion in RECURSIONS.values() for name in recursion}
    unused = {name for name in names if not any(_lies_in(module, name) for module in modules)}
    fail_with(f"no module is called {name}" for name in sorted(unused))


def test_recursions_are_recursions() -> None:
    """One that has been taken apart is no longer named."""
    for name, modules in RECURSIONS.items():
        inside = [f for f in all_imports() if {f.importer, f.imported} <= {*modules}]
        assert circles(inside) == [{*modules}], f"{name} is no circle"


def test_doors_upwards_are_used() -> None:
    used = {found.importer for found in all_imports() if is_door_upwards(found)}
    assert used == {importer for importer, _ in IMPORTS_UPWARDS}


def test_packages_do_not_import_tests_or_relatively() -> None:
    wrong = [found for found in all_imports() if found.imported.partition(".")[0] in {"tests", ""}]
    fail_with(map(str, wrong))


@pytest.mark.parametrize(
    ("path", "text", "is_upward"),
    [
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
    ],
)
def test_an_import_upwards_is_seen(path: str, text: str, is_upward: bool) -> None:
    found = list(imports_of(Source(path, text), {"ops.hlo", "indexing.layout.picture"}))
    assert bool(wrong_imports(found)) == is_upward


@pytest.mark.parametrize(
    ("names", "expected"),
    [("aba", [{"a", "b"}]), ("abcd", []), ("abcdb", [{"b", "c", "d"}]), ("aa", [{"a"}])],
)
def test_a_circle_is_seen(names: str, expected: list[set[str]]) -> None:
    assert circles([Import(a, b, "", 1) for a, b in pairwise(names)]) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def f():\n    from ops import hlo", ["ops.hlo"]),
        ("class C:\n    def f(self):\n        import json", ["json"]),
        ("def f():\n    import islpy", []),
        ("from ops import hlo\nif TYPE_CHECKING:\n    import json", []),
    ],
)
def test_an_import_in_a_function_is_seen(text: str, expected: list[str]) -> None:
    hidden = hidden_imports(imports_of(Source("a.py", text), {"ops.hlo"}))
    assert [imported for _, imported in hidden] == expected
