"""``ops`` imports ``indexing`` imports ``simplifier``; nothing imports upwards, also inside ops."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest

from tests.project.sources import PACKAGES, Source, path_of, sources

if TYPE_CHECKING:
    from collections.abc import Iterator

FLOORS_OF_OPS = (
    ("ops.index_maps",),
    ("ops.hlo",),
    ("ops.devices",),
    ("ops.rules",),
    ("ops.schedules",),
    ("ops.analysis",),
    ("ops.fusion",),
    ("ops.modules",),
    ("ops", "ops.__init__"),
    ("ops.cli",),
)
THE_ONE_IMPORT_UPWARDS = ("indexing/__main__.py", "ops.cli")


def imported_modules(source: Source) -> Iterator[str]:
    """The modules that a file imports, wherever in the file it does so."""
    for node in source.nodes(ast.Import, ast.ImportFrom):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module or ""


def upward_imports(source: Source) -> list[str]:
    """The modules of a higher layer that a file imports."""
    own = height(source.path.removesuffix(".py").replace("/", "."))
    return [
        module
        for module in imported_modules(source)
        if own < height(module) and (source.path, module) != THE_ONE_IMPORT_UPWARDS
    ]


def height(module: str) -> tuple[int, int]:
    """The layer of a module, and its floor in ``ops``."""
    package, *inside = module.split(".")
    layer = PACKAGES.index(package) if package in PACKAGES else -1
    name = ".".join([package, *inside[:1]])
    floors = (number for number, names in enumerate(FLOORS_OF_OPS) if name in names)
    return layer, next(floors, -1)


@pytest.mark.parametrize("source", sources(*PACKAGES), ids=path_of)
def test_imports_point_downwards(source: Source) -> None:
    assert upward_imports(source) == []


@pytest.mark.parametrize("source", sources(*PACKAGES), ids=path_of)
def test_packages_do_not_import_tests_or_relatively(source: Source) -> None:
    assert not [module for module in imported_modules(source) if module.startswith("tests")]
    assert not [
        n for n in source.nodes(ast.ImportFrom) if isinstance(n, ast.ImportFrom) and n.level
    ]


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("simplifier/expr/form.py", "import indexing.map", ["indexing.map"]),
        ("simplifier/expr/form.py", "def f():\n    from ops import hlo", ["ops"]),
        ("indexing/map.py", "from ops.cli import main", ["ops.cli"]),
        ("indexing/map.py", "from simplifier import Interval", []),
        ("ops/analysis/fusion.py", "import indexing, simplifier", []),
        (
            "ops/builders/dot.py",
            "from ops.rules.registry import REGISTRY",
            ["ops.rules.registry"],
        ),
        ("ops/rules/reduce_window.py", "from ops.rules.reduce_window import from_windows", []),
        ("ops/rules/reduce_window.py", "from ops import hlo", ["ops"]),
        ("indexing/__main__.py", "from ops.cli import main", []),
        ("indexing/__main__.py", "from ops.hlo import load", ["ops.hlo"]),
    ],
)
def test_an_import_upwards_is_seen(path: str, text: str, expected: list[str]) -> None:
    assert upward_imports(Source(path, text)) == expected
