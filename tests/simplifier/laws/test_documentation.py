"""The page about the simplifier shows the laws of the catalogue, all of them and as they are."""

from __future__ import annotations

from simplifier.laws.catalogue import LAWS
from tests.simplifier.laws.documentation import PAGE, tables, with_tables


def test_the_tables_of_the_page_are_those_of_the_catalogue() -> None:
    page = PAGE.read_text("utf-8")
    assert page == with_tables(page), "python -m tests.simplifier.laws.documentation writes them"


def test_each_law_has_a_row() -> None:
    lines = tables().splitlines()
    assert all(any(line.startswith(f"| {law.name} | ") for line in lines) for law in LAWS)
