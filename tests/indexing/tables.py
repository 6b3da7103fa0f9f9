"""Tables of texts: a text on a line, and below it, indented, what it comes to."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parents[1] / "data" / "indexing"


def table(name: str, section: str = "") -> list[tuple[str, str]]:
    """The pairs of a table, or of a section of it."""
    text = (FOLDER / f"{name}.txt").read_text("utf-8")
    if section:
        text = text.partition(f"[{section}]\n")[2].partition("\n[")[0]
    lines = [line for line in text.splitlines() if line and line[0] != "#"]
    return [(given, expected.strip()) for given, expected in zip(*[iter(lines)] * 2, strict=True)]
