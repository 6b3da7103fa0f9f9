"""Tests of a thousand cases: one test runs them all, and names each that fails."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from inspect import signature
from textwrap import dedent
from typing import Any, Final, TypeAlias, TypeVar, cast

import numpy as np

_Case = TypeVar("_Case")
_Test: TypeAlias = "Callable[[], None]"
Cases: TypeAlias = "Iterable[_Case] | Mapping[str, _Case] | Callable[[], Iterable[_Case]]"

MAX_SHOWN: Final = 5
"""How many failures are shown with their tracebacks; more would hide the names of the others."""


def rows(text: str) -> list[tuple[str, ...]]:
    """The rows of a table: a text at the margin, and each other one behind ``=>`` or below it.

    What stands below is indented by 4; what is indented further goes on with the line above it.
    Empty lines and those that begin with ``#`` are left out.
    """
    lines = re.sub(r"^(#.*)?\n", "", re.sub(r"\n {5,}", " ", text) + "\n", flags=re.MULTILINE)
    return [tuple(re.split(r"\n    | => ", row)) for row in re.split(r"\n(?=\S)", lines.rstrip())]


def by_name(text: str) -> dict[str, tuple[str, ...]]:
    """The rows of a table by what stands at the margin."""
    return _named_once((name, tuple(columns)) for name, *columns in rows(text))


def pairs(text: str) -> dict[str, str]:
    """A table of one column: what stands at the margin, and what belongs to it."""
    return {name: column for name, (column,) in by_name(text).items()}


def texts(table: str) -> dict[str, str]:
    """The text of several lines below each heading ``# name``."""
    return _named_once((heading.strip(), text) for heading, text in _headed(table))


def texts_with_values(table: str, **names: object) -> dict[str, tuple[Any, ...]]:
    """The text below each heading ``# name | values``, and behind it the values.

    They are written as in Python, with ``np`` and these names; lines ``#   ...`` go on with a
    long heading.
    """
    known = {"np": np, **names}

    def row(heading: str, text: str) -> tuple[str, tuple[Any, ...]]:
        name, _, values = heading.partition("|")
        return name.strip(), (text, *eval(f"({values},)", known))  # noqa: S307 - of our own tables

    return _named_once(row(*each) for each in _headed(table))


def _headed(table: str) -> Iterator[tuple[str, str]]:
    parts = re.split(r"^# (\S.*(?:\n#   .*)*)\n", dedent(table).lstrip("\n"), flags=re.MULTILINE)
    for heading, text in zip(parts[1::2], parts[2::2], strict=True):
        yield re.sub(r"\n#\s+", " ", heading), text.strip("\n")


def _named_once(named: Iterable[tuple[str, _Case]]) -> dict[str, _Case]:
    found: dict[str, _Case] = {}
    for name, each in named:
        if name in found:
            raise ValueError(f"two rows are called {name!r}")
        found[name] = each
    return found


def for_all(
    cases: Cases[_Case], name: Callable[[_Case], object] = str
) -> Callable[[Callable[..., None]], _Test]:
    """Run a test with each case in turn; the case of a test of several arguments is a tuple.

    Cases have the names of their table, if it has names. Cheap ones spend more time in pytest than
    in themselves where each is a test of its own. Those that take time to make come from a
    function, so that nobody waits for them who asks for others.
    """

    def decorated(test: Callable[..., None]) -> _Test:
        are_several = len(signature(test).parameters) > 1

        def run() -> None:
            named = [*_named(cases, name)]
            rows = ((each, case if are_several else (case,)) for each, case in named)
            found = [(each, _failure(test, arguments)) for each, arguments in rows]
            failures = [(each, error) for each, error in found if error is not None]
            if failures:
                _raise(failures, len(named))

        run.__name__, run.__doc__, run.__module__ = test.__name__, test.__doc__, test.__module__
        return run

    return decorated


def for_rows(table: Iterable[Sequence[Any]]) -> Callable[[Callable[..., None]], _Test]:
    """Run a test with each row of a table, whose first column is the name of the row."""
    return for_all({name: columns for name, *columns in table})


def for_table(text: str) -> Callable[[Callable[..., None]], _Test]:
    """Run a test with the columns of each row of a table of texts."""
    return for_all(rows(text), lambda row: row[0])


def for_named(text: str) -> Callable[[Callable[..., None]], _Test]:
    """Run a test with what belongs to each name at the margin of a table of texts."""
    return for_all(by_name(text))


def _named(cases: Cases[_Case], name: Callable[[_Case], object]) -> Iterable[tuple[str, _Case]]:
    given: Iterable[_Case] | Mapping[str, _Case] = cases() if callable(cases) else cases
    if isinstance(given, Mapping):
        return cast("Mapping[str, _Case]", given).items()
    return [(str(name(case)), case) for case in given]


def _failure(test: Callable[..., None], arguments: Any) -> Exception | None:  # noqa: ANN401 - anything
    try:
        test(*arguments)
    except Exception as error:  # noqa: BLE001 - reported with all others
        return error
    return None


def _raise(failures: Sequence[tuple[str, Exception]], count: int) -> None:
    names = "\n".join(case for case, _ in failures)
    for case, error in failures:
        error.add_note(f"in the case {case}")
    message = f"{len(failures)} of {count} cases fail:\n{names}\n"
    raise ExceptionGroup(message, [error for _, error in failures[:MAX_SHOWN]])
