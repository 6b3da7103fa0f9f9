"""The explorer page of a module, in a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ops.cli.documents import Document, Fields, Row, attempt, fields_of_command
from ops.cli.module_questions import load_module
from ops.explorer import explore as page_about
from ops.hlo import HloFileError
from ops.hlo.files import write_text

if TYPE_CHECKING:
    from ops.cli.console import Console


@dataclass(frozen=True, slots=True)
class WrittenPage(Row):
    """A page that was written: of which module, where, and how large."""

    module: str
    instructions: int
    page: str
    bytes: int

    def text(self) -> str:
        """All of it on a line."""
        return f"{self.page}: {self.instructions:,} instructions, {self.bytes:,} bytes"

    def fields(self) -> Fields:
        """All of it."""
        return {
            "module": self.module,
            "instructions": self.instructions,
            "page": self.page,
            "bytes": self.bytes,
        }


def explore(*, file: str, output: str, console: Console) -> Document:
    """The page of a module, written to the file ``output``."""
    pages = (attempt(_written, each, output) for each in console.track([file], "pages"))
    return Document("pages", pages, fields_of_command("explore") | {"file": file})


def _written(file: str, output: str) -> WrittenPage:
    """Write the page.

    Raises:
        HloFileError, HloTextError: the module cannot be read, or the page cannot be written.
    """
    if Path(output).suffix not in {"", ".html", ".htm"}:
        raise HloFileError(output, "the page is HTML; expected a name in .html")
    module = load_module(file)
    page = page_about(module).html
    write_text(output, page)
    count = sum(1 for _ in module.instructions)
    return WrittenPage(module.name, count, output, len(page.encode()))
