"""The console: answers, errors, and a progress bar for people who wait."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ops.cli.documents import Rendering

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

PATIENCE: Final = 0.5
"""Seconds of work before the bar appears."""


class SizedIterable(Protocol[T_co]):
    """Items whose number is known before they are made."""

    def __iter__(self) -> Iterator[T_co]: ...

    def __len__(self) -> int: ...


class Console:
    """Prints answers on standard output, errors and the bar on standard error.

    It shows the bar if standard error is a terminal and tqdm is installed. ``rendering`` turns
    documents into text.
    """

    def __init__(self, rendering: Rendering) -> None:
        self.rendering = rendering
        self.has_errors = False
        self._bar = _bar_class() if sys.stderr.isatty() else None

    def track(self, items: SizedIterable[T], unit: str) -> Iterable[T]:
        """The items; taking one moves the bar."""
        if self._bar is None:
            return items
        bar: Iterable[T] = self._bar(
            items,
            unit=f" {unit}",
            leave=False,
            delay=PATIENCE,
            file=sys.stderr,
            dynamic_ncols=True,
        )
        return bar

    def write(self, text: str) -> None:
        """Print a text on standard output, around the bar."""
        if self._bar is None:
            print(text)
        else:
            self._bar.write(text)

    def report_error(self, message: str) -> None:
        """Print an error on standard error."""
        self.has_errors = True
        text = f"error: {message}"
        if self._bar is None:
            print(text, file=sys.stderr)
        else:
            self._bar.write(text, file=sys.stderr)


def _bar_class() -> Any:  # noqa: ANN401 - tqdm's class, or None
    try:
        from tqdm import tqdm  # noqa: PLC0415 - an extra
    except ImportError:
        return None
    return tqdm
