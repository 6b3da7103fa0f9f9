"""The tokens of expressions and maps: ``(d0 * 8 + s0) floordiv 3``."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Final

from simplifier.errors import Span
from simplifier.tools.lexer import Lexer

if TYPE_CHECKING:
    from simplifier.errors import TextError

RESERVED: Final = frozenset(
    {
        *("floordiv", "floorDiv", "ceildiv", "ceilDiv", "mod", "in", "min", "max"),
        *("select", "bitand", "bitor", "bitxor", "and", "or", "not"),
    }
)
"""Words that cannot name a variable."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TOKEN = re.compile(
    r"[0-9]++(?:[A-Za-z_][A-Za-z0-9_]*+)?|[A-Za-z_][A-Za-z0-9_]*"
    r"|->|//|<<|>>|&&|\|\||[<>=!]=|[-+*/%()\[\]{},:<>=]"
)
_WRONG = re.compile(r"!(?!=)|(?<!&)&(?!&)|(?<!\|)\|(?!\|)|[^A-Za-z0-9_\s\-+*/%()\[\]{},:<>=!&|]")


def is_name(text: str) -> bool:
    """Whether a text can be the name of a variable.

    >>> is_name("th_x"), is_name("mod"), is_name("2x")
    (True, False, False)
    """
    return _NAME.fullmatch(text) is not None and text not in RESERVED


class ExpressionLexer(Lexer):
    """The tokens of expressions and maps, found all at once; ``tokens[position]`` is current.

    The last token is empty.
    """

    __slots__ = ("_starts", "position", "tokens")

    def __init__(self, source: str, file: str = "") -> None:
        self.source = source
        self.file = file
        self.tokens: list[str] = _TOKEN.findall(source)
        if "".join(self.tokens) != "".join(source.split()):
            raise self._unexpected_character()
        self.tokens.append("")
        self._starts: list[int] = []
        self.jump(0)

    def jump(self, position: int) -> None:
        """Go to the token with this number."""
        self.position = position
        self.text = self.tokens[position]

    def advance(self) -> str:
        """Go to the next token; the token that was current."""
        text = self.text
        if text:
            self.position += 1
            self.text = self.tokens[self.position]
        return text

    @property
    def span(self) -> Span:
        """Where the current token stands."""
        return self.span_at(self.position)

    @property
    def begins_line(self) -> bool:
        """Whether the current token is the first one of its line."""
        start = self.span.start
        return not self.source[self.source.rfind("\n", 0, start) + 1 : start].strip()

    def span_at(self, position: int) -> Span:
        """Where the token with this number stands."""
        if not self._starts:
            self._starts = [match.start() for match in _TOKEN.finditer(self.source)]
            self._starts.append(len(self.source.rstrip()))
        start = self._starts[position]
        stop = start + max(1, len(self.tokens[position]))
        return Span(self.source, start, stop, self.file)

    def accept_all(self, *texts: str) -> bool:
        """Go past the next tokens if they read these texts."""
        stop = self.position + len(texts)
        matches = self.tokens[self.position : stop] == list(texts)
        if matches:
            self.jump(stop)
        return matches

    def name(self, purpose: str) -> str:
        """Go past a name that is free for variables."""
        if not is_name(self.text):
            raise self.expected(purpose)
        return self.advance()

    def integer(self) -> int:
        """Go past an integer, which may have a sign."""
        negative = self.accept("-")
        if not self.text.isdigit():
            raise self.expected("an integer")
        value = self.value_at(self.position)
        self.advance()
        return -value if negative else value

    def value_at(self, position: int) -> int:
        """The integer that the token with this number is."""
        return self.value_of(self.tokens[position], position)

    def value_of(self, text: str, position: int) -> int:
        """The integer of some digits in the token with this number."""
        try:
            return int(text)
        except ValueError:
            limit = sys.get_int_max_str_digits()
            message = f"integer of {len(text)} digits; Python reads at most {limit}"
            raise self.error(message, self.span_at(position)) from None

    def _unexpected_character(self) -> TextError:
        wrong = _WRONG.search(self.source)
        start = 0 if wrong is None else wrong.start()
        message = f"unexpected character {self.source[start]!r}"
        hint = "all numbers are integers" if self.source[start] == "." else ""
        return self.error(message, Span(self.source, start, start + 1, self.file), hint)
