"""A progress bar on standard error for people who wait; silent where nobody watches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TextIO, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_T = TypeVar("_T")

PATIENCE: Final = 0.5
"""Seconds of work before the bar appears."""


class Progress:
    """Shows on ``stream`` how far the work is, if that is a terminal and tqdm is installed."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._bar = _bar_class() if stream.isatty() else None

    def track(self, items: Sequence[_T], unit: str) -> Iterable[_T]:
        """The items; taking one moves the bar."""
        if self._bar is None:
            return items
        return self._bar(
            items,
            unit=f" {unit}",
            leave=False,
            delay=PATIENCE,
            file=self._stream,
            dynamic_ncols=True,
        )

    def write(self, text: str) -> None:
        """Print a text on standard output, around the bar."""
        if self._bar is None:
            print(text)
        else:
            self._bar.write(text)


def _bar_class() -> Any:  # noqa: ANN401 - tqdm's class, or None
    try:
        from tqdm import tqdm  # noqa: PLC0415 - an extra
    except ImportError:
        return None
    return tqdm
