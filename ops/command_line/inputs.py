"""Texts of maps, from a file or from standard input, and shapes from the arguments."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from indexing import parse_map
from indexing.layout import Shape, ShapeError, tiling_steps
from ops.hlo.files import decoded, read_text
from simplifier.errors import IndexingError, Span, TextError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from indexing import IndexingMap

STANDARD_INPUT: Final = "-"
_SEPARATOR: Final = re.compile(r"^---[ \t\r]*$", re.MULTILINE)


def read_array(text: str) -> Shape:
    """The array that a text writes, with a layout whose offsets can be told.

    Raises:
        TextError: the text is none.
    """
    shape = Shape.parse(text)
    try:
        tiling_steps(shape)
    except ShapeError as error:
        raise TextError(str(error), Span(text, 0, len(text))) from None
    return shape


def read_maps(file: str) -> Iterator[IndexingMap | IndexingError]:
    """The maps in a file or in standard input, or what is wrong with them; blank ones are skipped.

    Raises:
        HloFileError: there is no such file, or it holds no text.
    """
    if file == STANDARD_INPUT:
        name, text = "<stdin>", decoded(sys.stdin.buffer.read(), "<stdin>")
    else:
        name, text = file, read_text(file)
    return (_read_map(text, start, stop, name) for start, stop in _pieces(text))


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    """The places between lines of ``---`` where something stands."""
    start = 0
    for match in [*_SEPARATOR.finditer(text), None]:
        stop = match.start() if match else len(text)
        if not text[start:stop].isspace() and start < stop:
            yield start, stop
        start = match.end() if match else stop


def _read_map(text: str, start: int, stop: int, name: str) -> IndexingMap | IndexingError:
    try:
        return parse_map(text[start:stop])
    except TextError as error:
        span = replace(
            error.span,
            source=text,
            file=name,
            start=start + error.span.start,
            stop=start + error.span.stop,
        )
        return TextError(error.message, span, error.hint)
    except IndexingError as error:
        return TextError(str(error), Span(text, start, stop, name))
