"""The console: answers, errors, and a progress bar for people who wait."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
from typing import TYPE_CHECKING, Any, Final, Protocol, TextIO, TypeVar

from ops.cli.documents import ErrorLog
from ops.cli.terminal import COLORS, PLAIN, look_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ops.cli.documents import Document, Rendering
    from ops.cli.terminal import Look

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
    documents into text, which has a ``look``, and messages the look for ``color``.
    """

    def __init__(self, rendering: Rendering, look: Look = PLAIN, color: str = COLORS[0]) -> None:
        self.rendering = rendering
        self._look = look
        self._look_of_messages = look_of(sys.stderr, color)
        self.has_errors = False
        self.has_unknown = False
        self._bar_class = _bar_class() if sys.stderr and sys.stderr.isatty() else None
        self._bar: Any = None

    def pieces(self, document: Document) -> Iterator[str]:
        """A document in pieces of whole lines; what is wrong in it is reported at once."""
        log = ErrorLog(self.report_error)
        yield from self.rendering(document, log)
        self.has_unknown |= log.has_unknown

    def track(self, items: SizedIterable[T], unit: str) -> Iterable[T]:
        """The items; taking one moves the bar."""
        if self._bar_class is None:
            return items
        self._bar = self._bar_class(
            items,
            unit=f" {unit}",
            leave=False,
            delay=PATIENCE,
            file=sys.stderr,
            dynamic_ncols=True,
        )
        return self._bar

    def write(self, text: str) -> None:
        """Print a text on standard output, in the place of the bar.

        Raises:
            OSError: it cannot be written.
        """
        self._hide_bar()
        if sys.stdout is None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        print(self._look.of(text))
        if self._bar is not None and _is_pipe(sys.stdout):
            self._bar.close()  # a pager takes the terminal now

    def report_error(self, message: str) -> None:
        """Print an error on standard error."""
        self.has_errors = True
        self._hide_bar()
        report(f"error: {message}", self._look_of_messages)

    def _hide_bar(self) -> None:
        """Make room for a text; the bar comes back when it moves."""
        bar = self._bar
        if bar is not None and bar.last_print_t >= bar.start_t + bar.delay:
            bar.clear()


def _is_pipe(stream: TextIO) -> bool:
    """Whether another program reads, which may show it on the terminal."""
    try:
        return stat.S_ISFIFO(os.fstat(stream.fileno()).st_mode)
    except (OSError, ValueError):
        return False


def report(message: str, look: Look = PLAIN) -> None:
    """Print a message on standard error; a message that nobody can read is dropped."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError):
            print(look.of(message), file=sys.stderr, flush=True)


def _bar_class() -> Any:  # noqa: ANN401 - tqdm's class, or None
    try:
        from tqdm import tqdm  # noqa: PLC0415 - an extra
    except ImportError:
        return None
    return tqdm
