"""Texts from files or from standard input, the maps in them, and shapes from the arguments."""

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


def read_input(file: str) -> tuple[str, str]:
    """What a file or standard input says, and what messages call it.

    Raises:
        HloFileError: there is no such file, or it holds no text.
    """
    if file == STANDARD_INPUT:
        return decoded(sys.stdin.buffer.read(), "<stdin>"), "<stdin>"
    return read_text(file), file


def map_texts(file: str) -> list[Span]:
    """The places between lines of ``---`` in a file or standard input; blank ones are skipped.

    Raises:
        HloFileError: there is no such file, or it holds no text.
    """
    text, name = read_input(file)
    starts = [0, *(match.end() for match in _SEPARATOR.finditer(text))]
    stops = [*(match.start() for match in _SEPARATOR.finditer(text)), len(text)]
    places = zip(starts, stops, strict=True)
    return [Span(text, *place, name) for place in places if text[slice(*place)].strip()]


def read_map(place: Span) -> IndexingMap:
    """The map that is written at a place.

    Raises:
        TextError: there is none.
    """
    try:
        return parse_map(place.source[place.start : place.stop])
    except TextError as error:
        start, stop = place.start + error.span.start, place.start + error.span.stop
        raise TextError(error.message, replace(place, start=start, stop=stop), error.hint) from None
    except IndexingError as error:
        raise TextError(str(error), place) from None
