"""How a text looks on a terminal: lines of its width, names and what is unknown in colour."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Final, TextIO

if TYPE_CHECKING:
    from collections.abc import Iterator

COLORS: Final = ("auto", "always", "never")
"""The values of ``--color``, the default first."""


@dataclass(frozen=True, slots=True)
class Look:
    """How lines are shown: of any length without a ``width``, plain unless they are coloured.

    >>> print(Look(40).of("  %x f32[8,128]: (d0, d1)[s0] -> (d0, s0), s0 in [0, 31]"))
      %x f32[8,128]: (d0, d1)[s0] ->
        (d0, s0), s0 in [0, 31]
    """

    width: int | None = None
    is_coloured: bool = False

    def of(self, text: str) -> str:
        """A text of one or more lines as it is shown; a terminal obeys no character in it."""
        text = _CONTROL.sub(_escaped, text)
        if self.width is None and not self.is_coloured:
            return text
        return "\n".join(shown for line in text.split("\n") for shown in self._lines(line))

    def _lines(self, line: str) -> Iterator[str]:
        parts = [line] if self.width is None else folded(line, self.width)
        if not self.is_coloured:
            return iter(parts)
        whole = next((style for sign, style in _OF_LINES if sign.match(line)), None)
        return (_styled(part, whole) if whole else _with_styles(part) for part in parts)


_CONTROL: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""What terminals obey, but for ends of lines and tabs: files and names may hold any of it."""


def _escaped(control: re.Match[str]) -> str:
    return control[0].encode("unicode_escape").decode()


PLAIN: Final = Look()
"""As it is."""


def look_of(stream: TextIO | None, color: str = COLORS[0]) -> Look:
    """The look of what is written to a stream: plain, unless it is a terminal.

    Without colours where the user does not want any (https://no-color.org).
    """
    is_terminal = stream is not None and stream.isatty()
    is_wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    is_coloured = color == "always" or (color == "auto" and is_terminal and is_wanted)
    return Look(get_terminal_size().columns if is_terminal else None, is_coloured)


# Lines of the width of a terminal.

_GAP: Final = re.compile(r"(?:^| ) +")
"""What is before a line, and between the columns of a table."""

_STEP: Final = 2
"""How much further the rest of a line begins than what it belongs to."""


def folded(line: str, width: int) -> list[str]:
    r"""A line in parts that fit, the rest indented below what it goes on with.

    The last column of a table goes on below itself, if that leaves half of the width.

    >>> print(*folded("4096  64  %fusion = f32[64] fusion(%x f32[64] identity)", 40), sep="\n")
    4096  64  %fusion = f32[64]
                fusion(%x f32[64] identity)
    """
    gaps = [match.end() for match in _GAP.finditer(line)]
    first = gaps[0] if gaps and line.startswith(" ") else 0
    indent = gaps[-1] if gaps and gaps[-1] <= width // 2 else min(first, width // 2)
    parts: list[str] = []
    rest = line
    while len(rest) > width and (end := _end(rest, indent if not parts else indent + _STEP, width)):
        parts.append(rest[:end].rstrip())
        rest = " " * (indent + _STEP) + rest[end:].lstrip()
    return [*parts, rest]


def _end(line: str, start: int, width: int) -> int | None:
    """Where a line ends best: between the outermost parts, behind a comma, far to the right."""
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
    """How many brackets are open before each character."""
    depth = 0
    for sign in line:
        yield depth
        depth += (sign in "([{") - (sign in ")]}")


# Colours.

_BOLD, _RED, _GREEN, _YELLOW, _CYAN = "1", "31", "32", "33", "36"

_OF_LINES: Final = tuple(
    (re.compile(sign), style)
    for sign, style in (
        (r"==> .* <==$", _BOLD),
        (r" *[A-Za-z]+(?:  +[A-Za-z]+)+$", _BOLD),
        (r" *\+{1,3} ", _GREEN),
        (r" *-{1,3} ", _RED),
    )
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
