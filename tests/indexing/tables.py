"""Tables of texts: a text, and beside it, or below it and indented, what it comes to.

neighbours: (d0)[s0] -> (d0 + s0), domain: d0 in [0, 3], s0 in [0, 1] => (d0): d0 in [0, 4]
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import indexing
import simplifier
from simplifier import TextError
from tests.carets import DrawnError
from tests.cases import for_all, rows

FOLDER = Path(__file__).parents[1] / "data" / "indexing"


def table(name: str, section: str = "") -> list[tuple[str, ...]]:
    """The rows of a file, or of a section of it."""
    text = (FOLDER / f"{name}.txt").read_text("utf-8")
    return rows(text.partition(f"[{section}]\n")[2].partition("\n[")[0] if section else text)


def named(text: str) -> dict[str, tuple[str, ...]]:
    """The rows of a table by their names, which stand before the first text and a colon."""
    heads = ((*row[0].partition(": "), row[1:]) for row in rows(text))
    return {name: (first, *others) for name, _, first, others in heads}


def texts(text: str) -> dict[str, str]:
    """The texts of a table of one column, by their names."""
    return {name: given for name, (given,) in named(text).items()}


def marked_errors(text: str) -> list[DrawnError]:
    """The errors of texts: their places are marked ``«so»``, their messages follow."""
    parted = ((*re.split("[«»]", given), message) for given, message in rows(text))
    return [
        DrawnError(before + place + after, len(before) + 1, max(1, len(place)), message)
        for before, place, after, message in parted
    ]


def evaluated(call: str, names: Mapping[str, Any]) -> Any:  # noqa: ANN401 - as called
    """What a call in a table gives; beside these names it may use all public ones."""
    public = {name: getattr(each, name) for each in (indexing, simplifier) for name in each.__all__}
    return eval(call, {**public, **names})  # noqa: S307 - our own text


def refusals(
    names: Mapping[str, Any], *errors: type[Exception], whole: bool = False
) -> Callable[[str], Callable[[], None]]:
    """Make a test of a table: its calls raise errors with the messages that follow."""

    def refused(call: str, message: str) -> None:
        with pytest.raises(errors) as caught:
            evaluated(call, names)
        assert message == str(caught.value) if whole else message in str(caught.value)

    return lambda table: for_all(rows(table))(refused)


def errors_in(read: Callable[[str], object]) -> Callable[[str], Callable[[], None]]:
    """Make a test of a table: its texts are refused at their marked places, see `marked_errors`."""

    def refused(error: DrawnError) -> None:
        with pytest.raises(TextError) as caught:
            read(error.text)
        error.check(caught.value)

    return lambda table: for_all(marked_errors(table))(refused)


def turned(change: Callable[[str], object]) -> Callable[[str], Callable[[], None]]:
    """Make a test of a table: each of its texts becomes what prints as the one that follows."""

    def becomes(text: str, expected: str) -> None:
        assert str(change(text)) == expected

    return lambda table: for_all(rows(table))(becomes)
