"""Errors in texts, drawn with a caret under the place as a reader sees them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from simplifier import TextError


@dataclass(frozen=True)
class DrawnError:
    """A text, the place of the carets under its last line, and what is said there."""

    text: str
    column: int
    width: int
    message: str

    def check(self, error: TextError) -> None:
        """Raise an AssertionError unless the error says this, and draws it."""
        carets = " " * (self.column - 1) + "^" * self.width
        drawn = f"1:{self.column}: {self.message}\n{self.text}\n{carets}"
        assert error.message == self.message
        assert (error.span.line, error.span.column) == (1, self.column)
        assert str(error).partition("\nhint: ")[0] == drawn


def drawn_errors(drawing: str) -> list[DrawnError]:
    """The errors of a drawing: a text, carets and a message each, with blank lines between."""
    return [_drawn_error(block) for block in drawing.strip("\n").split("\n\n")]


def _drawn_error(block: str) -> DrawnError:
    *lines, caret = block.split("\n")
    marks = re.fullmatch(r"( *)(\^+) (.*)", caret)
    if marks is None:
        raise ValueError(f"no caret in {block!r}")
    return DrawnError("\n".join(lines), len(marks[1]) + 1, len(marks[2]), marks[3])
