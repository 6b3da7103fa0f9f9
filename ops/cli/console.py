"""The console: answers, errors, and a progress bar for people who wait."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
import sys
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from shutil import get_terminal_size
from typing import Any, Final, Protocol, TextIO, TypeVar

from ops.cli.documents import Document, ErrorLog, Rendering

# How a text looks on a terminal: lines of its width, names and what is unknown in colour.

COLORS: Final = ("auto", "always", "never")
"""The values of ``--color``, the default first."""


@dataclass(frozen=True, slots=True)
class Look:
    """Look of lines: of any length without a ``width``, plain unless they are coloured.

    >>> print(Look(40).of("  %x f32[8,128]: (d0, d1)[s0] -> (d0, s0), s0 in [0, 31]"))
      %x f32[8,128]: (d0, d1)[s0] ->
        (d0, s0), s0 in [0, 31]
    """

    width: int | None = None
    is_coloured: bool = False

    def of(self, text: str) -> str:
        """A text of one or more lines as it is shown; a terminal obeys no character in it."""
        text = _CONTROL.sub(lambda sign: sign[0].encode("unicode_escape").decode(), text)
        if self.width is None and not self.is_coloured:
            return text
        return "\n".join(shown for line in text.split("\n") for shown in self._lines(line))

    def _lines(self, line: str) -> Iterator[str]:
        parts = [line] if self.width is None else folded(line, self.width)
        if not self.is_coloured:
            return iter(parts)
        whole = next((style for sign, style in _OF_LINES if re.match(sign, line)), None)
        return (_styled(part, whole) if whole else _with_styles(part) for part in parts)


_CONTROL: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Characters that terminals obey, but for ends of lines and tabs: files may hold any of them."""


PLAIN: Final = Look()
"""As it is."""


def look_of(stream: TextIO | None, color: str = COLORS[0]) -> Look:
    """The look of lines in a stream: plain, unless it is a terminal.

    Without colours where the user does not want any (https://no-color.org).
    """
    is_terminal = stream is not None and stream.isatty()
    is_wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    is_coloured = color == "always" or (color == "auto" and is_terminal and is_wanted)
    return Look(get_terminal_size().columns if is_terminal else None, is_coloured)


# Lines of the width of a terminal.

_GAP: Final = re.compile(r"(?:^| ) +")
"""Spaces before a line, and between the columns of a table."""

_STEP: Final = 2
"""How much further the rest of a line begins than what it belongs to."""


def folded(line: str, width: int) -> list[str]:
    r"""A line in parts that fit, the rest indented below the bracket that it continues.

    The last column of a table goes on below itself, if that leaves two thirds of the width.

    >>> print(*folded("4096  64  %fusion = f32[64] fusion(%x f32[64] identity)", 40), sep="\n")
    4096  64  %fusion = f32[64]
                fusion(%x f32[64] identity)
    """
    last = max((match.end() for match in _GAP.finditer(line)), default=0)
    indent = last if last <= width // 3 else min(_STEP, width // 2)
    parts: list[str] = []
    rest = line
    while len(rest) > width and (end := _end(rest, indent if not parts else indent + _STEP, width)):
        parts.append(rest[:end].rstrip())
        rest = " " * (indent + _STEP) + rest[end:].lstrip()
    return [*parts, rest]


def _end(line: str, start: int, width: int) -> int | None:
    """The best end of a line: between the outermost parts, behind a comma, far to the right."""
    depths = [*_depths(line)]
    ends = [at for at in range(start + 1, len(line)) if line[at] == " " != line[at - 1]]
    near = [at for at in ends if width // 2 < at <= width] or [at for at in ends if at <= width]
    if not near:
        return next(iter(ends), None)
    return min(near, key=lambda at: (depths[at], not _is_between_parts(line, at), -at))


def _is_between_parts(line: str, at: int) -> bool:
    """Whether a part of a list ends here, or a step of a path begins."""
    return line[at - 1] == "," or line.startswith(" <- ", at)


def _depths(line: str) -> Iterator[int]:
    """Number of brackets open before each character."""
    depth = 0
    for sign in line:
        yield depth
        depth += (sign in "([{") - (sign in ")]}")


# Colours.

_BOLD, _RED, _GREEN, _YELLOW, _CYAN = "1", "31", "32", "33", "36"

_OF_LINES: Final = (
    (r"==> .* <==$", _BOLD),
    (r" *[A-Za-z]+(?:  +[A-Za-z]+)+$", _BOLD),
    (r" *\+{1,3} ", _GREEN),
    (r" *-{1,3} ", _RED),
)
"""Names of files, headings of tables, what came and what went."""

_OF_WORDS: Final = re.compile(
    r"(?P<name>%[\w.\-]+)|(?P<unknown>\bunknown \(.*|\bbounds: .*)|(?P<error>^error:)"
)
_STYLES: Final = {"name": _CYAN, "unknown": _YELLOW, "error": f"{_BOLD};{_RED}"}


def _with_styles(line: str) -> str:
    return _OF_WORDS.sub(lambda found: _styled(found[0], _STYLES[found.lastgroup or "name"]), line)


def _styled(text: str, style: str) -> str:
    return f"\x1b[{style}m{text}\x1b[0m"


# The console.

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
        self.is_silent = True
        self._bar_class = _bar_class() if sys.stderr and sys.stderr.isatty() else None
        self._bar: Any = None

    def pieces(self, document: Document) -> Iterator[str]:
        """A document in pieces of whole lines; errors in it are reported at once."""
        log = ErrorLog(self.report_error)
        yield from self.rendering(document, log)
        self.has_unknown |= log.has_unknown

    def track(self, items: SizedIterable[T], unit: str) -> Iterable[T]:
        """The items; taking one moves the bar."""
        if self._bar_class is None:
            return items
        self._bar = self._bar_class(
            items, unit=f" {unit}", leave=False, delay=PATIENCE, file=sys.stderr, dynamic_ncols=True
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
        self.is_silent = False
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


def show_warnings() -> None:
    """Print the warnings of this process on standard error, without the line that gives them."""
    warnings.showwarning = _show_warning


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    report(f"warning: {message}")


def _bar_class() -> Any:  # noqa: ANN401 - tqdm's class, or None
    try:
        from tqdm import tqdm  # noqa: PLC0415 - an extra
    except ImportError:
        return None
    return tqdm
