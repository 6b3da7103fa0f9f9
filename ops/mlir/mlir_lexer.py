"""The tokens of MLIR text: :class:`MlirLexer` is what its readers work with."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, TypeVar

from simplifier.errors import Span, TextError, quoted
from simplifier.tools.lexer import ScanningLexer

if TYPE_CHECKING:
    from collections.abc import Callable

_T = TypeVar("_T")

_BLANK: Final = r"(?:\s++|//[^\n]*+)*+"

_TOKEN: Final = re.compile(
    _BLANK
    + r"""(?:
      (?P<value>%(?:\d++|[A-Za-z_$.](?:[\w$.]|-(?!>))*+)(?:\#\d++)?)
    | (?P<name>[A-Za-z_][\w$.]*+)
    | (?P<mark>->|::|[(){}\[\]<>,=:*?+/|&])
    | (?P<number>-?(?:0x[0-9a-fA-F]++|\d++(?:\.\d*+)?(?:[eE][+-]?\d++)?))
    | (?P<string>"(?:[^"\\\n]++|\\.)*+")
    | (?P<symbol>@(?:[A-Za-z_$][\w$.]*+|"(?:[^"\\\n]++|\\.)*+"))
    | (?P<alias>[#!][A-Za-z_][\w$.]*+)
    | (?P<block>\^[\w$.]++)
    | (?P<minus>-)
    | (?P<end>\Z)
    | (?P<strange>.)
    )""",
    re.VERBOSE | re.DOTALL | re.ASCII,
)

_BALANCED: Final = re.compile(r"""[^<>(){}\[\]"-]++|"(?:[^"\\]++|\\.)*+"|->|.""", re.DOTALL)
"""The pieces of a text in brackets: what holds no bracket that counts, and single characters."""

_CLOSING: Final = {"<": ">", "(": ")", "{": "}", "[": "]"}

_MAX_DIGITS: Final = 20
"""Those of the longest integer of 64 bits, with its sign."""

_ESCAPE: Final = re.compile(rb"\\(?:([0-9a-fA-F]{2})|(.))", re.DOTALL)
_ESCAPED: Final = {b"n": b"\n", b"t": b"\t"}


class MlirTextError(TextError):
    """MLIR text that does not follow its grammar, or that has no meaning as a program of HLO."""


class MlirLexer(ScanningLexer):
    """A position in MLIR text and the token that begins there.

    ``kind`` is ``value`` (``%0``), ``symbol`` (``@main``), ``alias`` (``#loc1``, ``!token``),
    ``block`` (``^bb0``), ``name``, ``number``, ``string``, ``mark``, ``minus``, ``end`` or
    ``strange``.
    """

    __slots__ = ()

    pattern = _TOKEN

    def taken(self, kind: str, what: str) -> str:
        """Take a token of a kind."""
        if self.kind != kind:
            raise self.expected(what)
        return self.advance()

    def word(self, what: str) -> str:
        """Take a name without a mark before it, such as a keyword."""
        return self.taken("name", what)

    def symbol(self, what: str) -> str:
        """Take a name such as ``@main``; without the mark and quotes."""
        text = self.taken("symbol", what)[1:]
        return unescape(text) if text.startswith('"') else text

    def string(self, what: str = "a string") -> str:
        """Take a quoted text; the text without quotes and escapes."""
        return unescape(self.taken("string", what))

    def integer(self, what: str = "an integer") -> int:
        """Take an integer of 64 bits."""
        text = self.text
        if self.kind != "number" or not (text.removeprefix("-").isdecimal() or "0x" in text):
            raise self.expected(what)
        if len(text) > _MAX_DIGITS:
            raise self.error(f"expected {what}, but {quoted(text)} does not fit in 64 bits")
        return int(self.advance(), 0 if "0x" in text else 10)

    def listed(
        self, read: Callable[[], _T], opening: str, closing: str, what: str
    ) -> tuple[_T, ...]:
        """Take items with commas between them, inside of two marks; there may be none."""
        self.expect(opening, f"before {what}")
        items: list[_T] = []
        while self.text != closing:
            if items:
                self.expect(",", f"or {closing!r} after one of {what}")
            items.append(read())
        self.jump(self.stop)
        return tuple(items)

    def balanced(self, what: str) -> str:
        """Take the text from an opening bracket to the one that closes it, whatever it is."""
        if self.text not in _CLOSING:
            raise self.expected(what)
        waiting: list[str] = []
        for piece in _BALANCED.finditer(self.source, self.start):
            mark = piece[0]
            if mark in _CLOSING:
                waiting.append(_CLOSING[mark])
            elif mark == waiting[-1]:
                waiting.pop()
            elif mark in ">)}]":
                place = self.span_of(piece.start(), piece.end())
                raise self.error(f"expected {waiting[-1]!r}, but found {mark!r}", place)
            if not waiting:
                text = self.source[self.start : piece.end()]
                self.jump(piece.end())
                return text
        raise self.error("the bracket is not closed")

    def expected(self, what: str, hint: str = "") -> MlirTextError:
        """The error that the current token is not ``what``."""
        if self.kind == "strange" and self.text == '"':
            return self.error("a string is not closed")
        shown = quoted(self.text) if self.kind != "string" else quoted(self.text)[1:-1]
        found = f"found {shown}" if self.text else "the text ends"
        return self.error(f"expected {what}, but {found}", hint=hint)

    def error(self, message: str, span: Span | None = None, hint: str = "") -> MlirTextError:
        """An error about the current token, or about another part of the text."""
        return MlirTextError(message, span or self.span, hint)


def unescape(quoted_text: str) -> str:
    r"""The text that a quoted text stands for; bytes that are no UTF-8 become surrogates.

    >>> unescape(r'"a\22b\22 \0A"')
    'a"b" \n'
    """
    inner = quoted_text[1:-1]
    if "\\" not in inner:
        return inner
    found = _ESCAPE.sub(_unescaped, inner.encode("utf-8", "surrogateescape"))
    return found.decode("utf-8", "surrogateescape")


def _unescaped(match: re.Match[bytes]) -> bytes:
    if match[1]:
        return bytes([int(match[1], 16)])
    return _ESCAPED.get(match[2], match[2])
