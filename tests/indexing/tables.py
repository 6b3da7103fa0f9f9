"""Tables of texts: a text, and beside it, or below it and indented, what it comes to.

In maps and boxes bounds may stand where variables are declared; ``d0 < 4`` counts from 0:

neighbours: (d0 < 4)[s0 < 2] -> (d0 + s0), domain: d0 + s0 in [1, 9] => (d0 in [1, 4])
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
from tests import cases
from tests.carets import DrawnError
from tests.cases import for_all

FOLDER = Path(__file__).parents[1] / "data" / "indexing"

_BOUNDED = re.compile(r"(\w+) (?:< (\w+)|in (\[[^\]]*\](?: step \d+)?))(?=[,\])}>])")
_BOX = re.compile(r"\([^()&|]*\)(<[^>]*>)?")


def spelled_out(text: str) -> str:
    """The text as the library has it, with all bounds in the domain."""
    head, arrow, results = text.partition(" -> ")
    bounds = ", ".join(map(_interval, _BOUNDED.finditer(head)))
    if not bounds or ": " in head or not (arrow or _BOX.fullmatch(text)):
        return text
    bare = _BOUNDED.sub(r"\1", head)
    if not arrow:
        return f"{bare}: {bounds}"
    results, _, constraints = results.partition(", domain: ")
    return f"{bare} -> {results}, domain: {', '.join(filter(None, (bounds, constraints)))}"


def _interval(bounded: re.Match[str]) -> str:
    name, size, interval = bounded.groups()
    last = int(size) - 1 if size and size.isdigit() else f"{size} - 1"
    return f"{name} in {interval or f'[0, {last}]'}"


def rows(text: str) -> list[tuple[str, ...]]:
    return [tuple(map(spelled_out, row)) for row in cases.rows(text)]


def table(name: str, section: str = "") -> list[tuple[str, ...]]:
    """The rows of a file, or of a section of it."""
    text = (FOLDER / f"{name}.txt").read_text("utf-8")
    return rows(text.partition(f"[{section}]\n")[2].partition("\n[")[0] if section else text)


def named(text: str) -> dict[str, tuple[str, ...]]:
    """The rows of a table by their names, which stand before the first text and a colon."""
    heads = ((*row[0].partition(": "), row[1:]) for row in cases.rows(text))
    return {name: tuple(map(spelled_out, (first, *others))) for name, _, first, others in heads}


def texts(text: str) -> dict[str, str]:
    """The texts of a table of one column, by their names."""
    return {name: given for name, (given,) in named(text).items()}


def each_row(text: str) -> Callable[[Callable[..., None]], Callable[[], None]]:
    """Run a test with each row of a table; one of a single column is that text."""
    return for_all([row if row[1:] else row[0] for row in rows(text)])


def each_named(text: str) -> Callable[[Callable[..., None]], Callable[[], None]]:
    """Run a test with each row of a table; names stand before the first text."""
    return for_all(named(text))


def each_text(text: str) -> Callable[[Callable[..., None]], Callable[[], None]]:
    """Run a test with each text of a table of one column; names stand before."""
    return for_all(texts(text))


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
    """Make a test of a table: its calls raise errors with the messages that follow.

    A message may begin with the type of the error.
    """

    def refused(call: str, message: str) -> None:
        with pytest.raises(errors) as caught:
            evaluated(call, names)
        said = str(caught.value)
        assert message == said if whole else message in f"{caught.typename}: {said}"

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
