"""The documentation site shows every page and every public name."""

from __future__ import annotations

import ast
import re
from importlib import import_module

import pytest

from tests.project.sources import ROOT

DOCS = ROOT / "docs"

ADVICE = "add it to a toctree of docs/index.md"


def in_the_tree() -> list[str]:
    """The pages that the start page lists, by their paths without the suffix."""
    trees = re.findall(
        r"^```\{toctree\}\n(.*?)^```",
        (DOCS / "index.md").read_text("utf-8"),
        re.MULTILINE | re.DOTALL,
    )
    lines = (line.strip() for tree in trees for line in tree.splitlines())
    return [line for line in lines if line and not line.startswith(":")]


def packages() -> tuple[str, ...]:
    """The packages that have a page of the reference, as Sphinx is told."""
    for node in ast.parse((DOCS / "conf.py").read_text("utf-8")).body:
        if (
            isinstance(node, ast.AnnAssign)
            and ast.unparse(node.target) == "PACKAGES"
            and node.value
        ):
            return ast.literal_eval(node.value)
    raise ValueError("docs/conf.py has no PACKAGES")


def test_every_page_is_in_the_tree_once() -> None:
    pages = {page.relative_to(DOCS).with_suffix("").as_posix() for page in DOCS.rglob("*.md")}
    assert sorted(in_the_tree()) == sorted(pages - {"index"}), ADVICE


@pytest.mark.parametrize("package", packages())
def test_every_package_of_the_reference_exports_names_with_docstrings(package: str) -> None:
    page = DOCS / "reference" / f"{package}.md"
    assert f".. automodule:: {package}\n" in page.read_text("utf-8")
    assert import_module(package).__all__
