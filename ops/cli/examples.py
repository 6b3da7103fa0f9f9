"""The examples that come with the library: modules to try commands on, and passes to copy from."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files as resources
from pathlib import Path
from typing import TYPE_CHECKING

from ops.cli.documents import Document, Fields, Row, attempt, fields_of_command
from ops.hlo.names import nearby
from simplifier.errors import ArgumentError, listed

if TYPE_CHECKING:
    from collections.abc import Mapping
    from importlib.resources.abc import Traversable

    from ops.cli.console import Console


@dataclass(frozen=True, slots=True)
class StoredExample(Row):
    """An example: in a list its file's name, alone its text."""

    file: str
    content: str
    is_alone: bool

    def text(self) -> str:
        """The name or the text."""
        return self.content.removesuffix("\n") if self.is_alone else self.file

    def fields(self) -> Fields:
        """Both."""
        return {"file": self.file, "text": self.content}


def example(*, name: str, console: Console) -> Document:
    """One example; without a name, a list of all."""
    known = _files()
    wanted = console.track([name] if name else [*known], "examples")
    items = (attempt(_read, each, known, name) for each in wanted)
    return Document("examples", items, fields_of_command("example"))


def _read(wanted: str, known: Mapping[str, Traversable], name: str) -> StoredExample:
    """An example by its name, with or without the ending of its file.

    Raises:
        ArgumentError: there is none.
    """
    found = next((each for stem, each in known.items() if wanted in {stem, each.name}), None)
    if found is None:
        hint = nearby(wanted, known) or f"expected one of {listed(known)}"
        raise ArgumentError(f"example: there is no example {wanted}; {hint}")
    return StoredExample(found.name, found.read_text("utf-8"), is_alone=bool(name))


def _files() -> dict[str, Traversable]:
    """The files by their names without endings: modules first, then passes."""
    folder = _folder()
    entries = [*folder.iterdir(), *folder.joinpath("passes").iterdir()]
    kept = [each for each in entries if each.name.endswith((".hlo", ".py"))]
    kept.sort(key=lambda each: (each.name.endswith(".py"), each.name))
    return {each.name.rpartition(".")[0]: each for each in kept}


def _folder() -> Traversable:
    """A wheel has the examples inside of ``ops``, a checkout beside it."""
    installed = resources("ops").joinpath("examples")
    return installed if installed.is_dir() else Path(__file__).parents[2] / "examples"
