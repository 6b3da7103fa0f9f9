"""The Python files of the project, parsed: what the tests about the project itself look at."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("simplifier", "indexing", "ops")
"""The import packages, the lowest layer first."""


@dataclass(frozen=True)
class Source:
    """One Python file; ``path`` is relative to the root of the project, ``text`` what it holds."""

    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, filename=self.path)

    def nodes(self, *types: type[ast.AST]) -> Iterator[ast.AST]:
        return (node for node in ast.walk(self.tree) if isinstance(node, types))


def sources(*folders: str) -> list[Source]:
    """The Python files under these folders of the project, in the order of their paths."""
    return [_read(path) for path in sorted(p for f in folders for p in (ROOT / f).rglob("*.py"))]


@cache
def _read(path: Path) -> Source:
    """A file, read and parsed once for all tests."""
    return Source(path.relative_to(ROOT).as_posix(), path.read_text("utf-8"))
