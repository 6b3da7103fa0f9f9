"""Tables whose rows are texts of several lines, each below a heading with its name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from textwrap import dedent
from typing import Any, TypeVar

import numpy as np

_Row = TypeVar("_Row")


def texts(table: str) -> dict[str, str]:
    """The text below each heading ``# name``."""
    return _by_name((heading.strip(), text) for heading, text in _rows(table))


def texts_with_values(table: str, **names: object) -> dict[str, tuple[Any, ...]]:
    """The text below each heading ``# name | values``, and behind it the values.

    They are written as in Python, with ``np`` and these names; lines ``#   ...`` go on with a
    long heading.
    """
    known = {"np": np, **names}

    def row(heading: str, text: str) -> tuple[str, tuple[Any, ...]]:
        name, _, values = heading.partition("|")
        return name.strip(), (text, *eval(f"({values},)", known))  # noqa: S307 - of our own tables

    return _by_name(row(*each) for each in _rows(table))


def _by_name(named: Iterable[tuple[str, _Row]]) -> dict[str, _Row]:
    found: dict[str, _Row] = {}
    for name, each in named:
        if name in found:
            raise ValueError(f"two rows are called {name!r}")
        found[name] = each
    return found


def _rows(table: str) -> Iterator[tuple[str, str]]:
    parts = re.split(r"^# (\S.*(?:\n#   .*)*)\n", dedent(table).lstrip("\n"), flags=re.MULTILINE)
    for heading, text in zip(parts[1::2], parts[2::2], strict=True):
        yield re.sub(r"\n#\s+", " ", heading), text.strip("\n")
