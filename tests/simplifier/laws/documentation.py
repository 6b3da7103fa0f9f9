"""The tables of laws in docs/simplifier_design.md; run as a program, it writes them."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from simplifier.laws.catalogue import GROUPS
from simplifier.laws.law import Law
from tests.pages import with_generated

PAGE: Final = Path(__file__).parents[3] / "docs" / "simplifier_design.md"
LAWS: Final = "laws"
"""The name of the marks around the tables."""


def tables() -> str:
    """One table for each group of the catalogue."""
    return "\n".join(
        "\n".join(
            (f"### {group.title.capitalize()}", "", _HEAD, *(_row(law) for law in group.laws), "")
        )
        for group in GROUPS
    )


_HEAD: Final = "| law | identity | if | why |\n| --- | --- | --- | --- |"


def _row(law: Law) -> str:
    condition = f"`{law.condition}`" if law.condition else ""
    return f"| {law.name} | `{law.identity}` | {condition} | {law.why} |"


def with_tables(page: str) -> str:
    """The page with the tables between the two marks."""
    return with_generated(page, LAWS, tables())


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text("utf-8")), "utf-8")
