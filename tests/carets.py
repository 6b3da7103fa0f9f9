"""Errors in texts, drawn with a caret under the place as a reader sees them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from simplifier import TextError
from tests.cases import for_all


@dataclass(frozen=True)
class DrawnError:
    """A text, the place of the carets under its last line, and what is said there."""

    text: str
    column: int
    width: int
    message: str

    @property
    def carets(self) -> str:
        """The line below the text."""
        return " " * (self.column - 1) + "^" * self.width

    def check(self, error: TextError) -> None:
        """Raise an AssertionError unless the error says this, and draws it."""
        drawn = f"1:{self.column}: {self.message}\n{self.text}\n{self.carets}"
        assert error.message == self.message
        assert (error.span.line, error.span.column) == (1, self.column)
        assert str(error).partition("\nhint: ")[0] == drawn


def drawn_errors(drawing: str) -> list[DrawnError]:
    """The errors of a drawing: a text, and a line with carets and a message below it."""
    found: list[DrawnError] = []
    text: list[str] = []
    for line in drawing.strip("\n").split("\n"):
        marks = re.fullmatch(r"( *)(\^+) (.*)", line)
        if marks:
            found.append(DrawnError("\n".join(text), len(marks[1]) + 1, len(marks[2]), marks[3]))
            text = []
        elif line or text:
            text.append(line)
    if text:
        raise ValueError(f"no caret below {text[-1]!r}")
    return found


def check_drawing(drawing: str, read: Callable[[str], object]) -> None:
    """A reader refuses each text of a drawing, and says what is drawn."""

    def check(drawn: DrawnError) -> None:
        with pytest.raises(TextError) as caught:
            read(drawn.text)
        drawn.check(caught.value)

    for_all(drawn_errors(drawing), lambda drawn: drawn.text)(check)()
