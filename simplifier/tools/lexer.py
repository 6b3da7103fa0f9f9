"""Lexers read a text token by token; their errors point at the token that is wrong.

A parser works with a :class:`Lexer`. :class:`ScanningLexer` finds one token at a time, so
that a parser can jump in the text or read a part of it by other rules; the lexer of expressions,
:class:`simplifier.expr.text.ExpressionLexer`, splits the whole text at once, which is faster.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import ClassVar, Final, TypeVar

from simplifier.errors import Span, TextError, quoted

T = TypeVar("T")


class Lexer:
    """The tokens of a text, one after another; ``text`` is the current one, empty at the end."""

    __slots__ = ("file", "source", "text")

    source: str
    file: str
    text: str

    def advance(self) -> str:
        """Go to the next token; the token that was current."""
        raise NotImplementedError

    @property
    def span(self) -> Span:
        """Place of the current token."""
        raise NotImplementedError

    def accept(self, text: str) -> bool:
        """Go past the current token if it reads ``text``."""
        if self.text != text:
            return False
        self.advance()
        return True

    def expect(self, text: str, purpose: str = "") -> None:
        """Go past the current token, which must read ``text``."""
        if self.text != text:
            raise self.expected(f"{text!r}{purpose and ' ' + purpose}")
        self.advance()

    def one_of(self, words: Collection[str], what: str = "", hint: str = "") -> str:
        """Go past the current token, one of these words; ``what`` says in errors what they are."""
        if self.text not in words:
            raise self.expected(what or f"one of {', '.join(words)}", hint)
        return self.advance()

    def joined(self, read: Callable[[], T], mark: str = ",") -> tuple[T, ...]:
        """One or more items with commas between them, or with another mark."""
        items = [read()]
        while self.accept(mark):
            items.append(read())
        return tuple(items)

    def separated(self, read: Callable[[], T], closing: str, purpose: str = "") -> tuple[T, ...]:
        """Items with commas between them, up to and including ``closing``; maybe none."""
        items: list[T] = []
        while not self.accept(closing):
            items.append(read())
            if self.accept(closing):
                break
            if not self.accept(","):
                raise self.expected(f"',' or {closing!r}{purpose and ' ' + purpose}")
        return tuple(items)

    def listed(self, read: Callable[[], T], opening: str, closing: str, what: str) -> tuple[T, ...]:
        """Items with commas between them, inside of two marks; maybe none."""
        self.expect(opening, f"before {what}")
        return self.separated(read, closing, f"after one of {what}")

    def finish(self) -> None:
        """Check that nothing is left."""
        if self.text:
            raise self.expected("the end of the text")

    def expected(self, what: str, hint: str = "") -> TextError:
        """The error that another token was expected here; ``what`` names it."""
        found = f"found {quoted(self.text)}" if self.text else "the text ends"
        return self.error(f"expected {what}, but {found}", hint=hint)

    def error(self, message: str, span: Span | None = None, hint: str = "") -> TextError:
        """An error about the current token, or about another part of the text."""
        return TextError(message, span or self.span, hint)


class ScanningLexer(Lexer):
    r"""A position in a text and the token that begins there.

    A language is a subclass with its own ``pattern``. The pattern matches at every position, also
    at the end; it skips blanks and comments, and has one named group for each kind of token.
    ``kind`` is the group of the current token, which is ``source[start:stop]``; ``previous_stop``
    is where the token before it ends.

    >>> import re
    >>> class Sizes(ScanningLexer):
    ...     pattern = re.compile(r"\s*(?:(?P<number>\d+)|(?P<mark>\S)|(?P<end>\Z))")
    >>> sizes = Sizes("3 x 4, 5")
    >>> sizes.kind, sizes.advance(), sizes.accept("x"), sizes.advance()
    ('number', '3', True, '4')
    >>> raise sizes.expected("'x'")
    Traceback (most recent call last):
    simplifier.errors.TextError: 1:6: expected 'x', but found ','
    3 x 4, 5
         ^
    """

    __slots__ = ("kind", "previous_stop", "start", "stop")

    pattern: ClassVar[re.Pattern[str]]
    kind: str
    previous_stop: int
    start: int
    stop: int

    def __init__(self, source: str, file: str = "", position: int = 0) -> None:
        self.source = source
        self.file = file
        self.jump(position)

    def jump(self, position: int) -> None:
        """Go to the first token at or after a position of the text."""
        match = self.pattern.match(self.source, position)
        kind = match and match.lastgroup
        if match is None or kind is None:
            raise RuntimeError(_INCOMPLETE)
        self.previous_stop = position
        self.kind = kind
        self.text = text = match[kind]
        self.stop = stop = match.end()
        self.start = stop - len(text)

    def advance(self) -> str:
        """Go to the next token; the token that was current."""
        text = self.text
        self.jump(self.stop)
        return text

    def accept(self, text: str) -> bool:
        """Go past the current token if it reads ``text``; without a call, as it is asked often."""
        if self.text != text:
            return False
        self.jump(self.stop)
        return True

    @property
    def span(self) -> Span:
        """Place of the current token."""
        return self.span_of(self.start, self.stop)

    def span_of(self, start: int, stop: int) -> Span:
        """A part of the text, at least one character long."""
        return Span(self.source, start, max(stop, start + 1), self.file)

    def error_since(self, start: int, message: str, hint: str = "") -> TextError:
        """An error about the text from ``start`` to the last token that was taken."""
        return self.error(message, self.span_of(start, self.previous_stop), hint)

    def taken(self, kind: str, what: str) -> str:
        """Take a token of a kind; ``what`` says in the error what that is."""
        if self.kind != kind:
            raise self.expected(what)
        return self.advance()

    def matching(self, pattern: re.Pattern[str], what: str) -> str:
        """Go past the text from here that matches a pattern, where tokens are not the usual ones.

        ``what`` says in the error what the pattern describes.
        """
        match = pattern.match(self.source, self.start)
        if match is None:
            raise self.expected(what)
        self.jump(match.end())
        return match[0]


class ProgramLexer(ScanningLexer):
    """A lexer of programs, whose tokens may be of the kinds ``number`` and ``string``.

    A language says how a byte is escaped in a string: the groups of ``escape`` are ``hex`` and
    ``octal`` numbers, and a ``letter``, which stands for itself if not for one of ``letters``.
    """

    __slots__ = ()

    escape: ClassVar[re.Pattern[bytes]]
    letters: ClassVar[Mapping[bytes, bytes]]
    unclosed: ClassVar[Mapping[str, str]] = {'"': "a string is not closed"}
    """Errors by the marks that begin what is not closed."""
    closing: ClassVar[Mapping[str, str]]
    """The brackets that close a text which is not read, by those that open it."""
    pieces: ClassVar[re.Pattern[str]]
    """The pieces of such a text: what holds no bracket that counts, and single characters."""

    def integer(self, what: str = "a number") -> int:
        """Take an integer of 64 bits."""
        text = self.text
        is_decimal = text.removeprefix("-").isdecimal()
        if self.kind != "number" or not (is_decimal or _HEXADECIMAL.fullmatch(text)):
            raise self.expected(what)
        if len(text) > _MAX_DIGITS:
            raise self.error(f"expected {what}, but {quoted(text)} does not fit in 64 bits")
        self.jump(self.stop)
        return int(text) if is_decimal else int(text, 16)

    def string(self, what: str = "a string") -> str:
        """Take a quoted text; the text without quotes and escapes."""
        return self.unescaped(self.taken("string", what))

    def balanced(self, what: str) -> str:
        """Take the text from an opening bracket to the one that closes it, whatever it is."""
        if self.text not in self.closing:
            raise self.expected(what)
        waiting = [self.closing[self.text]]
        for piece in self.pieces.finditer(self.source, self.stop):
            mark = piece[0]
            if mark in self.closing:
                waiting.append(self.closing[mark])
            elif mark == waiting[-1]:
                waiting.pop()
            elif mark in self.closing.values():
                place = self.span_of(piece.start(), piece.end())
                raise self.error(f"expected {waiting[-1]!r}, but found {mark!r}", place)
            if not waiting:
                text = self.source[self.start : piece.end()]
                self.jump(piece.end())
                return text
        raise self.error(self.unclosed.get(self.text, "the bracket is not closed"))

    @classmethod
    def unescaped(cls, quoted_text: str) -> str:
        """The text that one in quotes stands for; bytes that are no UTF-8 become surrogates."""
        inner = quoted_text[1:-1]
        if "\\" not in inner:
            return inner
        found = cls.escape.sub(cls._meaning, inner.encode("utf-8", "surrogateescape"))
        return found.decode("utf-8", "surrogateescape")

    @classmethod
    def _meaning(cls, found: re.Match[bytes]) -> bytes:
        kind = found.lastgroup or "letter"
        base, code = _BASES.get(kind), found[kind]
        return bytes([int(code, base) & 255]) if base else cls.letters.get(code, code)

    def expected(self, what: str, hint: str = "") -> TextError:
        """The error that another token was expected here; ``what`` names it."""
        opening = self.source[self.start : self.start + 2]
        unclosed = self.unclosed.get(opening) or self.unclosed.get(self.text)
        if self.kind == "strange" and unclosed:
            return self.error(unclosed)
        shown = quoted(self.text)[1:-1] if self.kind == "string" else quoted(self.text)
        found = f"found {shown}" if self.text else "the text ends"
        return self.error(f"expected {what}, but {found}", hint=hint)


_HEXADECIMAL: Final = re.compile(r"-?0x[0-9a-fA-F]+")

_MAX_DIGITS: Final = 20
"""Those of the longest integer of 64 bits, with its sign."""

_BASES: Final = {"hex": 16, "octal": 8}

_INCOMPLETE: Final = "the pattern of a lexer matches at every position"
