"""The pages name what there is: files, links, headings."""

from __future__ import annotations

import ast
import contextlib
import doctest
import io
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final

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
    """The pages that people read."""
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
        if not link.startswith("http") and not _leads(target, heading):
            yield link


def _leads(target: Path, heading: str) -> bool:
    return target.exists() and (not heading or heading in _headings(target))


@lru_cache
def _headings(page: Path) -> frozenset[str]:
    """The names by which links find the headings of a page, as GitHub makes them."""
    titles = _HEADING.findall(page.read_text("utf-8"))
    return frozenset(re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles)


def test_pages_name_files_that_exist() -> None:
    texts = {page.name: page.read_text("utf-8") for page in pages()}
    fail_with(f"{name}: {path}" for name, text in texts.items() for path in missing_paths(text))


def test_links_lead_somewhere() -> None:
    texts = {page: page.read_text("utf-8") for page in pages()}
    fail_with(f"{p.name}: {link}" for p, text in texts.items() for link in broken_links(p, text))


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


def test_no_program_is_printed_with_marks_of_doctest() -> None:
    """A reader who copies it would copy them."""
    fail_with(page.name for page in pages() if "<BLANKLINE>" in page.read_text("utf-8"))


def test_a_missing_file_is_seen() -> None:
    text = "`ops/cli/no_such_module.py`, `ops/cli/`, tests/project/test_pages.py"
    assert list(missing_paths(text)) == ["ops/cli/no_such_module.py"]


def test_a_broken_link_is_seen() -> None:
    text = "[a](README.md), [b](nowhere.md), [c](README.md#test), [d](README.md#nowhere)"
    assert list(broken_links(ROOT / "README.md", text)) == ["nowhere.md", "README.md#nowhere"]
