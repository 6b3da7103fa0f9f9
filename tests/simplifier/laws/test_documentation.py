"""The page about the simplifier shows the laws of the catalogue, all of them and as they are."""

from __future__ import annotations

from simplifier.laws.catalogue import LAWS
from tests.simplifier.laws.documentation import PAGE, appliers, laws, tables, with_tables


def test_the_tables_of_the_page_are_those_of_the_catalogue() -> None:
    page = PAGE.read_text("utf-8")
    assert page == with_tables(page), "python -m tests.simplifier.laws.documentation writes them"


def test_each_law_has_a_row() -> None:
    lines = tables().splitlines()
    assert all(any(line.startswith(f"| {law.name} | ") for line in lines) for law in LAWS)


def test_a_law_stands_in_the_file_named_as_the_one_that_applies_it() -> None:
    applied = {law.name: appliers()[law][0] for law in LAWS}
    elsewhere = {law.name for home, law, _ in laws() if applied[law.name].split(".")[0] != home}
    assert {name: applied[name] for name in elsewhere} == ELSEWHERE


ELSEWHERE = {
    "ceiling": "scope._ceildiv",
    "minimum": "scope.Scope.minimum",
    "only value": "scope.Scope.variable",
    "quotient of a function of bits": "conditions.step",
    "range of a clamp": "digits._units",
    "range of a divisor": "context.Context.divisor_range",
    "unit divisor": "scope.Scope.floordiv",
}
"""Laws that a scope applies before it asks a file of laws, or a reader to what a file made."""
