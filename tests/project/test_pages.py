"""The pages name what there is and show what is drawn; the notebooks run; the site has it all."""

from __future__ import annotations

import ast
import contextlib
import doctest
import io
import json
import re
from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

from tests.cases import for_all
from tests.figures import FILES, IMAGES, drawn
from tests.pages import generated_in
from tests.project.failures import fail_with
from tests.project.sources import ROOT

IMAGINED: Final = frozenset({"examples/missing.hlo", "ops/rules/deinterleave.py"})
"""Files that an example has the reader imagine or write."""

_PATH: Final = re.compile(
    r"\b(?:simplifier|indexing|ops|tests|benchmarks|docs|examples|notebooks|typings)/[\w/.-]*[\w/]"
)
_LINK: Final = re.compile(r"\]\(([^)\s]+)\)")
_HEADING: Final = re.compile(r"^#+ (.*)$", re.MULTILINE)


def pages() -> list[Path]:
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def missing_paths(text: str) -> Iterator[str]:
    """The files and folders of the project that a text names and that do not exist."""
    for found in _PATH.findall(text):
        if found not in IMAGINED and not (ROOT / found).exists():
            yield found


def broken_links(page: Path, text: str) -> Iterator[str]:
    """The links of a page to files or headings that do not exist."""
    for link in _LINK.findall(text):
        path, _, heading = link.partition("#")
        target = page.parent / path if path else page
        leads = target.exists() and (not heading or heading in _headings(target))
        if not link.startswith("http") and not leads:
            yield link


@lru_cache
def _headings(page: Path) -> frozenset[str]:
    """The names by which links find the headings of a page, as GitHub makes them."""
    titles = _HEADING.findall(page.read_text("utf-8"))
    return frozenset(re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles)


def test_pages_name_files_that_exist_and_links_lead_somewhere() -> None:
    texts = {page: page.read_text("utf-8") for page in pages()}
    fail_with(f"{p.name}: {path}" for p, text in texts.items() for path in missing_paths(text))
    fail_with(f"{p.name}: {link}" for p, text in texts.items() for link in broken_links(p, text))
    text = "`ops/cli/no_such_module.py`, `ops/cli/`, tests/project/test_pages.py"
    assert list(missing_paths(text)) == ["ops/cli/no_such_module.py"]
    text = "[a](README.md), [b](nowhere.md), [c](README.md#test), [d](README.md#nowhere)"
    assert list(broken_links(ROOT / "README.md", text)) == ["nowhere.md", "README.md#nowhere"]


def names_after_examples(text: str) -> dict[str, object]:
    """What the names of a page stand for after its examples ran."""
    names: dict[str, object] = {}
    with contextlib.redirect_stdout(io.StringIO()):
        for example in doctest.DocTestParser().get_examples(text):
            if example.exc_msg is None:
                exec(compile(example.source, "<page>", "single"), names)  # noqa: S102
    return names


def test_a_program_on_a_page_is_the_one_that_was_made() -> None:
    text = (ROOT / "docs" / "indexing.md").read_text("utf-8")
    program = names_after_examples(text)["program"]
    assert generated_in(text, "program") == f"```python\n{program}```"
    ast.parse(str(program))
    # a reader who copies a program would copy marks of doctest
    fail_with(page.name for page in pages() if "<BLANKLINE>" in page.read_text("utf-8"))


DOCS = ROOT / "docs"


def packages() -> tuple[str, ...]:
    """The packages that have a page of the reference, as Sphinx is told."""
    for node in ast.parse((DOCS / "conf.py").read_text("utf-8")).body:
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "PACKAGES":
            return ast.literal_eval(node.value or node.target)
    raise ValueError("docs/conf.py has no PACKAGES")


def test_every_page_is_in_the_tree_once_and_every_notebook_has_a_link() -> None:
    """In a toctree of docs/index.md, by its path without the suffix."""
    text = (DOCS / "index.md").read_text("utf-8")
    trees = re.findall(r"^```\{toctree\}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    lines = (line.strip() for tree in trees for line in tree.splitlines())
    pages = {page.relative_to(DOCS).with_suffix("").as_posix() for page in DOCS.rglob("*.md")}
    listed = sorted(line for line in lines if line and not line.startswith(":"))
    notebooks = {f"notebooks/{notebook.name}" for notebook in NOTEBOOKS}
    assert listed == sorted(notebooks | pages - {"index"})
    for text in ((ROOT / page).read_text("utf-8") for page in ("README.md", "docs/index.md")):
        assert [each.name for each in NOTEBOOKS if f"notebooks/{each.name})" not in text] == []


@for_all(packages)
def test_every_package_of_the_reference_exports_names_with_docstrings(package: str) -> None:
    page = DOCS / "reference" / f"{package}.md"
    assert f".. automodule:: {package}\n" in page.read_text("utf-8")
    assert import_module(package).__all__


NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


@for_all(NOTEBOOKS, attrgetter("name"))
def test_notebook_is_stored_without_outputs(notebook: Path) -> None:
    cells: list[dict[str, Any]] = json.loads(notebook.read_text("utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert code
    assert [cell["source"] for cell in code if cell["outputs"] or cell["execution_count"]] == []


@for_all(FILES)
def test_figures_of_the_documentation_are_up_to_date(file: str) -> None:
    assert (IMAGES / file).read_text("utf-8") == drawn(file)
