"""A text as words, read one after the other; every complaint points at its place."""

from __future__ import annotations

import re
import sys
from typing import Final, NamedTuple

from simplifier.errors import Span, TextError, quoted

RESERVED: Final = frozenset({"floordiv", "ceildiv", "mod", "in", "min", "max"})
"""Words that cannot name a variable."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WORD = re.compile(
    r"(?<![0-9])[0-9]++(?![A-Za-z_])"  # no start within a number: that would be looked at again
    r"|[A-Za-z_][A-Za-z0-9_]*|->|//|[<>=]=|[-+*/%()\[\]{},:<>=]"
)
_WRONG = re.compile(
    r"[^A-Za-z0-9_\s\-+*/%()\[\]{},:<>=]"  # a foreign character
    r"|(?<![A-Za-z0-9_])(?P<number>[0-9]+)(?=[A-Za-z_])"  # a number that runs on, as in 2x
)


def is_name(text: str) -> bool:
    """Whether a text can be the name of a variable.

    >>> is_name("th_x"), is_name("mod"), is_name("2x")
    (True, False, False)
    """
    return _NAME.fullmatch(text) is not None and text not in RESERVED


class Token(NamedTuple):
    """A word of the text; ``kind`` is ``number``, ``name``, ``symbol`` or ``end``."""

    kind: str
    text: str
    start: int


class Reader:
    """Hands out the words of a text; the last one is empty."""

    def __init__(self, source: str, file: str = "") -> None:
        self.source = source
        self.file = file
        self.words: list[str] = _WORD.findall(source)
        if "".join(self.words) != "".join(source.split()):
            raise self._unexpected_character()
        self.words.append("")
        self.position = 0
        self._starts: list[int] = []

    @property
    def word(self) -> str:
        """The next word."""
        return self.words[self.position]

    @property
    def token(self) -> Token:
        """The next word, with its place."""
        return self.token_at(self.position)

    def token_at(self, position: int) -> Token:
        """Some word, with its place."""
        if not self._starts:
            self._starts = [match.start() for match in _WORD.finditer(self.source)]
            self._starts.append(len(self.source.rstrip()))
        word = self.words[position]
        return Token(_kind(word), word, self._starts[position])

    def take(self) -> str:
        """The next word, which is then done with."""
        word = self.words[self.position]
        self.position += bool(word)
        return word

    def accept(self, text: str) -> bool:
        """Go past the next word if it reads ``text``."""
        accepted = self.words[self.position] == text
        self.position += accepted
        return accepted

    def accept_all(self, *texts: str) -> bool:
        """Go past the next words if they read these texts."""
        matches = self.words[self.position : self.position + len(texts)] == list(texts)
        self.position += len(texts) if matches else 0
        return matches

    def expect(self, text: str, purpose: str = "") -> None:
        """Go past the next word, which must read ``text``."""
        if not self.accept(text):
            raise self.expected(f"{text!r}{purpose and ' ' + purpose}")

    def name(self, purpose: str) -> str:
        """Go past the next word, which must be a name that is free for variables."""
        if not is_name(self.word):
            raise self.expected(purpose)
        return self.take()

    def integer(self) -> int:
        """Go past an integer, which may have a sign."""
        negative = self.accept("-")
        if not self.word.isdigit():
            raise self.expected("an integer")
        value = self.value(self.position)
        self.position += 1
        return -value if negative else value

    def value(self, position: int) -> int:
        """The integer that some word is."""
        word = self.words[position]
        try:
            return int(word)
        except ValueError:
            limit = sys.get_int_max_str_digits()
            message = f"integer of {len(word)} digits; Python reads at most {limit}"
            raise self.error(message, self.token_at(position)) from None

    def finish(self) -> None:
        """Nothing may be left."""
        if self.word:
            raise self.expected("the end of the text")

    def expected(self, what: str, hint: str = "") -> TextError:
        """The complaint that something else stands where ``what`` was expected."""
        token = self.token
        found = "the text ends" if token.kind == "end" else f"found {quoted(token.text)}"
        return self.error(f"expected {what}, but {found}", token, hint)

    def error(self, message: str, token: Token, hint: str = "") -> TextError:
        """A complaint about a token."""
        stop = token.start + max(1, len(token.text))
        return TextError(message, Span(self.source, token.start, stop, self.file), hint)

    def _unexpected_character(self) -> TextError:
        wrong = _WRONG.search(self.source)
        start = 0 if wrong is None else wrong.end() if wrong["number"] else wrong.start()
        message = f"unexpected character {self.source[start]!r}"
        hint = "all numbers are integers" if self.source[start] == "." else ""
        return TextError(message, Span(self.source, start, start + 1, self.file), hint)


def _kind(word: str) -> str:
    if not word:
        return "end"
    if word[0].isdigit():
        return "number"
    return "name" if word[0].isalpha() or word[0] == "_" else "symbol"
