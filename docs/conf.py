"""How Sphinx makes the documentation: ``python -m sphinx -n -W docs build/site``.

Its pages are the Markdown files of this folder, in the order of ``index.md``, and the notebooks,
which run to have their outputs. The reference is made from the docstrings of all names that the
packages export.
"""

from __future__ import annotations

import ast
import builtins
import os
import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from docutils.nodes import Element
    from sphinx.addnodes import pending_xref
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

ROOT: Final = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

project = "symbolic-indexing"
author = "The symbolic-indexing authors"
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]

myst_heading_anchors = 4  # links to headings are those that GitHub makes
nb_execution_mode = "off"  # `run_notebooks` runs them where they lie, beside the examples
autodoc_default_options = {"members": True, "imported-members": True}
autodoc_member_order = "bysource"  # of a package, as its `__all__`
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 90
add_module_names = False
highlight_options = {"python": {"stripnl": True}}  # a blank line ends what a doctest expects
napoleon_custom_sections = [("Attributes", "params_style"), ("Shapes", "params_style"), "Source"]
nitpick_ignore_regex = [  # what others document
    ("py:.*", r"(collections|concurrent|datetime|functools|islpy|np|numpy|os|sympy)\..*")
]

html_theme = "furo"
html_title = project
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_show_copyright = False
html_show_sourcelink = False
html_show_sphinx = False

SECONDS_OF_A_CELL: Final = 300
"""After so long a notebook fails, even on a busy machine."""

PACKAGES: Final = (
    "simplifier",
    "indexing",
    "ops",
    "indexing.layout",
    "indexing.layout.cute",
    "indexing.layout.linear",
    "ops.affine",
    "ops.hlo",
    "ops.mlir",
    "ops.pallas",
    "ops.performance",
    "ops.xla_gpu",
    "ops.stablehlo",
    "ops.triton",
    "simplifier.torch",
)
"""The packages with a page of the reference. A name that several export is on the first's page."""


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("config-inited", run_notebooks)
    app.connect("source-read", link_pages_of_notebooks)
    app.connect("autodoc-process-docstring", keep_first_line, priority=1)  # before napoleon
    app.connect("autodoc-skip-member", has_another_page)
    app.connect("missing-reference", public_name)


def run_notebooks(app: Sphinx, config: object) -> None:
    """Write each notebook with its outputs into a folder of pages, unless it is there and newer."""
    import nbformat  # noqa: PLC0415 - pytest looks for doctests here, also where Jupyter is not
    from nbclient import NotebookClient  # noqa: PLC0415

    pages = Path(app.srcdir) / "notebooks"
    pages.mkdir(exist_ok=True)
    for notebook in sorted((ROOT / "notebooks").glob("*.ipynb")):
        page = pages / notebook.name
        if page.exists() and page.stat().st_mtime > notebook.stat().st_mtime:
            continue
        content = nbformat.read(notebook, as_version=4)
        folder = {"metadata": {"path": str(notebook.parent)}}
        client = NotebookClient(
            content,
            timeout=SECONDS_OF_A_CELL,
            startup_timeout=SECONDS_OF_A_CELL,
            resources=folder,
            extra_arguments=["--IPKernelApp.log_level=40"],  # errors
        )
        client.execute(env={**os.environ, "PYTHONPATH": str(ROOT)})
        download = f"{{download}}`Download this notebook <{notebook.name}>`"
        content.cells.insert(1, nbformat.v4.new_markdown_cell(download))
        nbformat.write(content, page)


def link_pages_of_notebooks(app: Sphinx, page: str, source: list[str]) -> None:
    """Where a page links a notebook as a file of the checkout, the site has its page."""
    source[0] = source[0].replace("](../notebooks/", "](notebooks/")


def keep_first_line(
    app: Sphinx, what: str, name: str, value: object, options: object, lines: list[str]
) -> None:
    """Napoleon takes what stands before a colon in the first line of an attribute for its type."""
    if what in {"attribute", "property"}:
        lines[:0] = ["..", ""]  # an empty comment


@cache
def homes() -> dict[int, str]:
    """The first package that exports an object, by the object's identity."""
    found: dict[int, str] = {}
    for package in PACKAGES:
        module = import_module(package)
        for name in module.__all__:
            found.setdefault(id(getattr(module, name)), package)
    return found


def has_another_page(
    app: Sphinx, what: str, name: str, value: object, skip: bool, options: object
) -> bool | None:
    """Whether an exported name is described on the page of another package."""
    here = app.env.current_document.docname.removeprefix("reference/")
    elsewhere = what == "module" and homes().get(id(value), here) != here
    return True if elsewhere else None


def public_name(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, content: Element
) -> Element | None:
    """Where a name that a docstring or a signature mentions is described.

    They name what their module sees, such as ``indexing.map.IndexingMap.image`` or ``IndexingMap``.
    What the code knows and the reference does not show stays text. Nothing else is found.
    """
    if node.get("refdomain") != "py":
        return None
    domain = env.domains.python_domain
    tail = public_part(node["reftarget"])
    places = {domain.objects[name].node_id: name for name in domain.objects if is_end(tail, name)}
    if len(places) == 1:
        (name,) = places.values()
        found = domain.resolve_xref(env, node["refdoc"], app.builder, "obj", name, node, content)
        if found is not None:
            return found
    return content if set(node["reftarget"].split(".")) <= known_names() else None


def public_part(target: str) -> str:
    """``IndexingMap.image`` of ``indexing.map.IndexingMap.image``; else the last name."""
    names = target.split(".")
    classes = [place for place, name in enumerate(names) if name[:1].isupper()]
    return ".".join(names[min([*classes, len(names) - 1]) :])


def is_end(tail: str, name: str) -> bool:
    """Whether a full name ends in these names."""
    return f".{name}".endswith(f".{tail}")


@cache
def known_names() -> frozenset[str]:
    """All names that the code defines or imports, and those of its modules."""
    names = set(dir(builtins))
    for package in ("simplifier", "indexing", "ops"):
        for file in sorted((ROOT / package).rglob("*.py")):
            names.update(file.relative_to(ROOT).with_suffix("").parts)
            names.update(names_in(ast.parse(file.read_text("utf-8"))))
    return frozenset(names)


def names_in(tree: ast.Module) -> Iterator[str]:
    """The names that a module defines or imports, at any depth."""
    for node in ast.walk(tree):
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                yield name
            case ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                for alias in aliases:
                    yield from (alias.asname or alias.name).split(".")
            case _:
                pass
