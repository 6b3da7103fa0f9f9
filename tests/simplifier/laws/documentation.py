"""The list of laws in docs/laws.txt; run as a program, it writes it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Final

from simplifier.laws import catalogue
from simplifier.laws.catalogue import GROUPS
from simplifier.laws.law import Law
from tests.project.sources import sources

LIST: Final = Path(__file__).parents[3] / "docs" / "laws.txt"


def lists() -> str:
    """Each group of laws, a law a line, and why it holds."""
    return "\n".join(
        "\n".join((title.capitalize(), "-" * len(title), *map(_lines, group), ""))
        for title, group in GROUPS.items()
    )


def _lines(law: Law) -> str:
    return f"{law}\n    {law.why}"


@cache
def appliers() -> Mapping[Law, list[str]]:
    """The functions and tables that mention each law; first those in the file of the same name."""
    found: dict[Law, list[str]] = {}
    for home, law, name in laws():
        places = sorted(_places()[name], key=lambda place: place.split(".")[0] != home)
        found[law] = list(dict.fromkeys(places))
    return found


def laws() -> Iterator[tuple[str, Law, str]]:
    for home, module in vars(catalogue).items():
        for name, law in vars(module).items() if isinstance(module, ModuleType) else ():
            if isinstance(law, Law):
                yield home, law, name


@cache
def _places() -> Mapping[str, list[str]]:
    """Where a name stands that the code gives to a law: ``floordiv.reflect``."""
    found: dict[str, list[str]] = {}
    for source in sources("simplifier"):
        if not source.path.startswith("simplifier/laws/"):
            for place, node in _definitions(source.tree.body, Path(source.path).stem):
                for each in ast.walk(node):
                    name = getattr(each, "id", None) or getattr(each, "attr", "")
                    found.setdefault(name, []).append(place)
    return found


def _definitions(body: list[ast.stmt], within: str) -> Iterator[tuple[str, ast.AST]]:
    """The functions, methods and tables of a module, with their names."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _definitions(node.body, f"{within}.{node.name}")
        elif isinstance(node, ast.FunctionDef):
            yield f"{within}.{node.name}", node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
            yield f"{within}.{ast.unparse(target)}", node


if __name__ == "__main__":
    LIST.write_text(lists(), "utf-8")
