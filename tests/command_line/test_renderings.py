"""Documents are printed while they are made, whatever their length, and are whole in the end."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from ops.command_line.documents import Document, Verbatim
from ops.command_line.renderings import SCHEMA_VERSION, as_json, as_text
from simplifier.errors import IndexingError

if TYPE_CHECKING:
    from collections.abc import Iterator


def document(separator: str = "") -> Document:
    return Document("texts", (), {"command": "try", "file": "a\nb"}, separator)


@pytest.mark.parametrize("count", [0, 1, 2, 5])
@pytest.mark.parametrize("errors", [[], [IndexingError("no"), IndexingError("neither")]], ids=len)
def test_the_pieces_are_one_document(count: int, errors: list[IndexingError]) -> None:
    items = [Verbatim(f"item {number}\n") for number in range(count)]
    text = "\n".join(as_json(document(), items, errors))
    whole = {
        "schema_version": SCHEMA_VERSION,
        "command": "try",
        "file": "a\nb",
        "texts": [item.fields() for item in items],
        "errors": [{"message": str(error)} for error in errors],
    }
    assert json.loads(text) == whole
    assert text == json.dumps(whole, indent=2)


@pytest.mark.parametrize("render", [as_text, as_json])
def test_pieces_are_printed_while_items_are_made(render: type) -> None:
    """At most one item waits, for the comma behind it."""
    made: list[int] = []

    def items() -> Iterator[Verbatim]:
        for number in range(1000):
            made.append(number)
            yield Verbatim(f"item {number}")

    printed = 0
    for piece in render(document(), items(), ()):
        printed += "item" in piece
        assert len(made) - printed <= 1
    assert printed == 1000


def test_errors_of_items_are_at_the_end() -> None:
    errors: list[IndexingError] = []

    def items() -> Iterator[Verbatim]:
        yield Verbatim("first")
        errors.append(IndexingError("wrong"))
        yield Verbatim("third")

    text = "\n".join(as_json(document(), items(), errors))
    assert [error["message"] for error in json.loads(text)["errors"]] == ["wrong"]


def test_separators_are_between_texts() -> None:
    items = [Verbatim("a"), Verbatim("b"), Verbatim("c")]
    assert list(as_text(document("---"), items, ())) == ["a", "---", "b", "---", "c"]
