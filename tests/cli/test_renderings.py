"""Documents are printed while they are made, whatever their length, and are whole in the end."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator

import pytest

from ops.cli import documents
from ops.cli.documents import Document, ErrorLog, Fields, Item, Lines, Verbatim
from simplifier.errors import IndexingError
from tests.cases import for_all

FIELDS: Fields = {"command": "try", "file": "a\nb"}


def word(text: str) -> Lines:
    return Lines([text], lambda: {"word": text})


def document(items: Iterable[Item | IndexingError]) -> Document:
    return Document("words", items, FIELDS)


@pytest.mark.parametrize("count", [0, 1, 2, 5])
@pytest.mark.parametrize("messages", [[], ["no", "neither"]], ids=len)
def test_the_pieces_are_one_document(count: int, messages: list[str]) -> None:
    texts = [f"item\n{number}" for number in range(count)]
    items = [*map(word, texts), *map(IndexingError, messages)]
    text = "\n".join(documents.as_json(document(items), ErrorLog()))
    whole = FIELDS | {
        "words": [{"word": text} for text in texts],
        "errors": [{"message": message} for message in messages],
    }
    assert json.loads(text) == whole
    assert [json.loads(line.rstrip(",")) for line in text.splitlines()[1:-1]] == whole["words"]


ITEMS: dict[str, Callable[[Iterable[str]], Iterable[Item]]] = {
    "an item for each piece": lambda made: map(word, made),
    "one item of all pieces": lambda made: [Verbatim(made)],
}


@pytest.mark.parametrize("items", ITEMS.values(), ids=ITEMS)
@pytest.mark.parametrize("rendering", [documents.as_text, documents.as_json])
def test_pieces_are_printed_while_they_are_made(
    rendering: documents.Rendering, items: Callable[[Iterable[str]], Iterable[Item]]
) -> None:
    """At most one item waits, for the comma behind it."""
    made: list[int] = []

    def pieces() -> Iterator[str]:
        for number in range(1000):
            made.append(number)
            yield f"piece {number}"

    printed = 0
    for piece in rendering(document(items(pieces())), ErrorLog()):
        printed += "piece" in piece
        assert len(made) - printed <= 1
    assert printed == 1000


def test_only_items_are_separated_not_their_pieces() -> None:
    def items() -> list[Verbatim]:
        return [Verbatim(["{", "}"]), Verbatim([]), Verbatim(["7"])]

    words = Document("words", items(), FIELDS, separator="")
    assert list(documents.as_text(words, ErrorLog())) == ["{", "}", "", "7"]
    text = "\n".join(documents.as_json(document(items()), ErrorLog()))
    assert json.loads(text)["words"] == [{}, 7]


def test_errors_are_told_at_once_and_once_and_listed_at_the_end() -> None:
    told: list[str] = []
    wrong = IndexingError("wrong")
    four = document([word("a"), wrong, word("b"), wrong])
    pieces = documents.as_json(four, ErrorLog(told.append))
    before_the_end = [next(pieces) for _ in range(3)]
    assert told == ["wrong"]
    assert "wrong" not in "".join(before_the_end)
    assert json.loads("\n".join([*before_the_end, *pieces]))["errors"] == [{"message": "wrong"}]


@for_all([
    (None, None, "a b c"), (None, "---", "a --- b --- c"),
    ("T", None, "T a b c"), ("T", "", "T a  b  c"),
])  # fmt: skip
def test_lines_around_texts(title: str | None, separator: str | None, expected: str) -> None:
    words = Document("words", map(word, "abc"), FIELDS, title, separator)
    assert list(documents.as_text(words, ErrorLog())) == expected.split(" ")
    nothing = Document("words", [IndexingError("wrong")], FIELDS, title, separator)
    assert list(documents.as_text(nothing, ErrorLog())) == []
