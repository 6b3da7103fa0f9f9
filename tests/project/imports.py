"""Who imports whom: each import of a file, wherever it stands, and the circles they close."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module

from tests.project.sources import Source

iterables = import_module("sympy.utilities.iterables")


@dataclass(frozen=True)
class Import:
    """One import: which module imports which, where, and whether inside a function."""

    importer: str
    imported: str
    path: str
    line: int
    in_function: bool = False

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.importer} imports {self.imported}"


def module_of(source: Source) -> str:
    """The dotted name of a file; a package has that of its ``__init__``."""
    return source.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def imports_of(source: Source, modules: Collection[str]) -> Iterator[Import]:
    """All imports of a file, also those in functions and for type checkers.

    ``from a import b`` imports the module ``a.b`` if there is one, else ``a``.
    """
    in_functions = {
        inner
        for function in source.nodes(ast.FunctionDef, ast.AsyncFunctionDef)
        for inner in ast.walk(function)
    }
    for node in source.nodes(ast.Import, ast.ImportFrom):
        for name in _imported(node, modules):
            line = getattr(node, "lineno", 0)
            yield Import(module_of(source), name, source.path, line, node in in_functions)


def _imported(node: ast.AST, modules: Collection[str]) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        owner = "." * node.level + (node.module or "")
        names = (f"{owner}.{alias.name}" for alias in node.names)
        return sorted({name if name in modules else owner for name in names})
    return []


def circles(imports: Iterable[Import]) -> list[set[str]]:
    """The sets of modules that import each other, by whatever detours; the greatest first."""
    edges = {(found.importer, found.imported) for found in imports}
    graph = sorted({module for edge in edges for module in edge}), sorted(edges)
    components = map(set, iterables.strongly_connected_components(graph))
    closed = [each for each in components if len(each) > 1 or (*each, *each) in edges]
    return sorted(closed, key=lambda circle: (-len(circle), sorted(circle)))
