"""The words of HLO text, one after another.

:class:`Tokens` holds one word at a time; a reader looks at it, takes it, or says what it had
expected instead.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NoReturn, TypeVar

from indexing.layout.shape import BLANK, SHAPE_TYPES, read_shape
from ops.hlo.errors import HloTextError
from simplifier.errors import Span

if TYPE_CHECKING:
    from collections.abc import Callable

    from indexing.layout import Shape

_T = TypeVar("_T")

_TOKEN = re.compile(
    BLANK
    + r"""(?:
      (?P<mark>[(){}\[\],=:*?@]|->|<=|\.\.\.)
    | (?P<number>-?\d++(?:\.\d*+)?(?:[eE][+-]?\d++)?
                |-?(?:inf|nan(?:\(0x[0-9a-fA-F]++\))?)(?![\w.-]))
    | (?P<name>%?[A-Za-z_][\w.-]*+)
    | (?P<string>"(?:[^"\\]++|\\.)*+"|'(?:[^'\\]++|\\.)*+')
    | (?P<end>\Z)
    | (?P<strange>.)
    )""",
    re.VERBOSE | re.DOTALL | re.ASCII,
)

_BALANCED = re.compile(
    r"""[^{}"'/]++|"(?:[^"\\]++|\\.)*+"|'(?:[^'\\]++|\\.)*+'|//[^\n]*+|/\*(?:[^*]++|\*(?!/))*+\*/|.""",
    re.DOTALL,
)
"""The pieces of a text in braces: what cannot hold a brace that counts, and single characters."""

_UNCLOSED = {
    '"': "a string is not closed",
    "'": "a string is not closed",
    "/*": "a comment is not closed",
}

_ESCAPE = re.compile(rb"\\(?:x([0-9a-fA-F]{1,2})|([0-7]{1,3})|(.))", re.DOTALL)
_ESCAPED = {
    b"n": b"\n",
    b"t": b"\t",
    b"r": b"\r",
    b"a": b"\a",
    b"b": b"\b",
    b"f": b"\f",
    b"v": b"\v",
}


class Tokens:
    """A place in a text, and the word that begins there.

    ``kind`` is ``number``, ``name``, ``mark``, ``string``, ``end`` or ``strange``; ``text`` is the
    word as it is written, ``source[start:stop]``, and ``end`` is where the word before it ends.
    ``instruction`` is the name that messages carry.
    """

    __slots__ = ("end", "file", "instruction", "kind", "source", "start", "stop", "text")

    def __init__(self, source: str, file: str = "") -> None:
        self.source = source
        self.file = file
        self.instruction = ""
        self.jump(0)

    def jump(self, position: int) -> None:
        """Go to the first word at or after a place of the text."""
        match = _TOKEN.match(self.source, position)
        if match is None or match.lastgroup is None:
            raise RuntimeError("every text has a next token")
        self.end = position
        self.kind: str = match.lastgroup
        self.start, self.stop = match.span(self.kind)
        self.text: str = match[self.kind]

    @property
    def place(self) -> tuple[int, int]:
        """Where the word starts and stops in the text."""
        return self.start, self.stop

    def advance(self) -> str:
        """Go on to the next word; the word that was there."""
        text = self.text
        self.jump(self.stop)
        return text

    def accept(self, mark: str) -> bool:
        """Take the word if it is ``mark``."""
        if self.text != mark:
            return False
        self.jump(self.stop)
        return True

    def expect(self, mark: str, where: str) -> None:
        """Take the word, which must be ``mark``."""
        if self.text != mark:
            self.fail_expecting(f"'{mark}' {where}")
        self.jump(self.stop)

    def name(self, what: str) -> str:
        """Take a name; its percent sign is left out."""
        if self.text in SHAPE_TYPES:
            self.fail_expecting(what, f"{self.text} is the name of a type")
        if self.kind != "name":
            self.fail_expecting(what)
        return self.advance().removeprefix("%")

    def word(self, what: str) -> str:
        """Take a name that has no percent sign, such as an opcode."""
        if self.kind != "name" or self.text[0] == "%":
            self.fail_expecting(what)
        return self.advance()

    def integer(self, what: str = "a number") -> int:
        """Take an integer of 64 bits."""
        if self.kind != "number" or not self.text.removeprefix("-").isdecimal():
            self.fail_expecting(what)
        if len(self.text) > _MOST_DIGITS:
            self.fail(f"expected {what}, but {_shown(self.text)} does not fit in 64 bits")
        return int(self.advance())

    def string(self, what: str = "a string") -> str:
        """Take a quoted text; the text without quotes and escapes."""
        if self.kind != "string":
            self.fail_expecting(what)
        return unescape(self.advance())

    def pattern(self, pattern: re.Pattern[str], what: str) -> str:
        """Take the text from here that follows a pattern, where words are not the usual ones."""
        match = pattern.match(self.source, self.start)
        if match is None:
            self.fail_expecting(what)
        self.jump(match.end())
        return match[0]

    def balanced(self, what: str) -> str:
        """Take the text from an opening brace to the one that closes it, whatever it is."""
        if self.text != "{":
            self.fail_expecting(what)
        depth = 0
        for piece in _BALANCED.finditer(self.source, self.start):
            depth += (piece[0] == "{") - (piece[0] == "}")
            if depth == 0:
                text = self.source[self.start : piece.end()]
                self.jump(piece.end())
                return text
        return self.fail("the brace is not closed")

    def shape(self) -> Shape:
        """Take a shape."""
        shape, stop = read_shape(self.source, self.start)
        self.jump(stop)
        return shape

    def at_shape(self) -> bool:
        """Whether a shape begins here, rather than a name."""
        if self.text == "(" or self.text in SHAPE_TYPES:
            return True
        return self.text == "b" and self.source.startswith("(", self.stop)

    def listed(
        self, read: Callable[[], _T], opening: str, closing: str, what: str
    ) -> tuple[_T, ...]:
        """Take items with commas between them, inside of two marks; there may be none."""
        self.expect(opening, f"before {what}")
        items: list[_T] = []
        while self.text != closing:
            items.append(read())
            if not self.accept(",") and self.text != closing:
                self.fail_expecting(f"',' or '{closing}' after one of {what}")
        self.jump(self.stop)
        return tuple(items)

    def braced(self, read: Callable[[], _T], what: str) -> tuple[_T, ...]:
        """Take items with commas between them, in braces."""
        return self.listed(read, "{", "}", what)

    def fail_expecting(self, what: str, hint: str = "") -> NoReturn:
        """Raise the error that the word is something else."""
        if self.kind == "end":
            self.fail(f"expected {what}, but the text ends here", hint)
        if self.kind == "strange":
            opening = self.source[self.start : self.start + 2]
            self.fail(
                _UNCLOSED.get(
                    opening,
                    _UNCLOSED.get(self.text, f"expected {what}, but there is {self.text!r}"),
                )
            )
        self.fail(f"expected {what}, but there is {_shown(self.text)}", hint)

    def fail(self, message: str, hint: str = "", place: tuple[int, int] | None = None) -> NoReturn:
        """Raise an error about the word, or about another place (start, stop) of the text."""
        start, stop = place or self.place
        span = Span(self.source, start, max(stop, start + 1), self.file)
        raise HloTextError(message, span, hint, self.instruction)


def unescape(quoted: str) -> str:
    r"""The text that a quoted text stands for; escaped bytes that are no UTF-8 become surrogates.

    >>> unescape(r'"a\n\"b\" \x41 \303\251"')
    'a\n"b" A é'
    """
    inner = quoted[1:-1]
    if "\\" not in inner:
        return inner
    return _ESCAPE.sub(_unescaped, inner.encode("utf-8", "surrogateescape")).decode(
        "utf-8", "surrogateescape"
    )


def _unescaped(match: re.Match[bytes]) -> bytes:
    if match[1]:
        return bytes([int(match[1], 16)])
    if match[2]:
        return bytes([int(match[2], 8) & 255])
    return _ESCAPED.get(match[3], match[3])


def escape(text: str) -> str:
    r"""The quoted text that stands for ``text``, as XLA writes it.

    >>> print(escape('a\n"b" é'))
    "a\n\"b\" \303\251"
    """
    escaped = (
        _ESCAPES.get(byte) or _escaped(byte) for byte in text.encode("utf-8", "surrogateescape")
    )
    return f'"{"".join(escaped)}"'


def _escaped(byte: int) -> str:
    return chr(byte) if _SPACE <= byte < _DELETE else f"\\{byte:03o}"


_SPACE, _DELETE = 0x20, 0x7F
_ESCAPES = {
    ord("\n"): "\\n",
    ord("\r"): "\\r",
    ord("\t"): "\\t",
    ord('"'): '\\"',
    ord("'"): "\\'",
    ord("\\"): "\\\\",
}

_MOST_DIGITS = 20
_LONGEST_SHOWN = 40


def _shown(text: str) -> str:
    shown = text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + "..."
    return shown if shown[0] in "\"'" else f"'{shown}'"
