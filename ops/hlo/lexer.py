"""The tokens of HLO text: its readers work with :class:`HloLexer`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import ClassVar, Final, TypeVar

from indexing.layout import Shape
from indexing.passes import BLANK, PLAIN_ARRAY, SHAPE_TYPES, read_shape
from ops.hlo.errors import HloTextError
from simplifier.errors import Span
from simplifier.tools.lexer import ProgramLexer

_T = TypeVar("_T")

_STRING = r'"(?>(?:[^"\\]++|\\.)*)"'
_STRINGS = rf"""{_STRING}|'(?>(?:[^'\\]++|\\.)*)'"""

_TOKEN = re.compile(
    BLANK
    + rf"""(?:
      (?P<mark>[(){{}}\[\],=:*?@]|->|<=|\.\.\.)
    | (?P<number>-?\d++(?:\.\d*+)?(?:[eE][+-]?\d++)?
                |-?(?:inf|nan(?:\(0x[0-9a-fA-F]++\))?)(?![\w.-]))
    | (?P<name>%?[A-Za-z_][\w.-]*+)
    | (?P<string>{_STRINGS})
    | (?P<end>\Z)
    | (?P<strange>.)
    )""",
    re.VERBOSE | re.DOTALL | re.ASCII,
)

_BALANCED = re.compile(rf"""[^{{}}"'/]++|{_STRINGS}|//[^\r\n]*+|/\*.*?\*/|.""", re.DOTALL)
"""The pieces of a text in braces: what cannot hold a brace that counts, and single characters."""

_NAME = r"[A-Za-z_][\w.-]*+"
_VALUE = r"""(?:"[^"\\]*+"|\d{1,18})"""

_PAIRS = re.compile(rf"\{{(?>(?:{_NAME}={_VALUE}(?:[ ]|(?=\}})))*)\}}", re.ASCII)
_PAIR = re.compile(rf"({_NAME})=({_VALUE})", re.ASCII)
"""Texts that :class:`HloLexer` finds ahead."""


# Lines as XLA writes them, and their parts.


def _nested(opening: str, other: str, closing: str, depth: int) -> str:
    """The regular expression of a text in brackets, which holds others down to a depth."""
    inner = f"|{_nested(opening, other, closing, depth - 1)}" if depth else ""
    return rf"{opening}(?>(?:{other}{inner})*){closing}"


_TUPLE = _nested(r"\(", r"[^()\n]++", r"\)", 3)

LINE: Final = re.compile(
    rf"\s*+(ROOT |)%?([A-Za-z_][A-Za-z0-9_.-]*+) = ([a-z][^ ]*+|{_TUPLE}) ([a-z][a-z0-9-]*+)"
    rf"\(((?>(?:[^()\n]++|{_TUPLE})*))\)([^\r\n]*+)(?=\r?\n\s*+[%}}A-Za-z_])",
    re.ASCII,
)
"""An instruction: ``ROOT``, name, shape, opcode, what stands in parentheses, and attributes."""

_OPERAND = rf"(?:/\*index=\d++\*/)?(?:({PLAIN_ARRAY}) )?(%?{_NAME})"
OPERANDS: Final = re.compile(rf"{_OPERAND}(?>(?:, {_OPERAND})*)", re.ASCII)
OPERAND: Final = re.compile(_OPERAND, re.ASCII)
"""The shape of an operand, or nothing, and its name."""

_BRACED = _nested(r"\{", rf"""[^{{}}"'/]++|{_STRING}""", r"\}", 6)

ATTRIBUTE: Final = re.compile(
    rf", ([A-Za-z_][A-Za-z0-9_-]*+)=(%?[A-Za-z0-9_.+?>-]++|{_STRING}|{_BRACED})"
)
"""The name and the value of an attribute; all that is opened in the value is closed in it."""

_PLAIN = rf"""[^\s,(){{}}\[\]"'/]++|/(?![/*])|{_STRINGS}"""
_BRACKETED = _nested(r"[({\[]", rf"{_PLAIN}|[,\s]", r"[)}\]]", 6)
_ANYTHING = re.compile(rf"(?>(?:{_PLAIN}|{_BRACKETED})+)", re.DOTALL)

NO_NAMES: Final = frozenset((*SHAPE_TYPES, "inf", "nan", "ROOT"))
"""Words that are no names, unless a percent sign stands before them."""


class HloLexer(ProgramLexer):
    r"""A position in HLO text and the token that begins there.

    ``kind`` is ``number``, ``name``, ``mark``, ``string``, ``end`` or ``strange``. ``instruction``
    is the instruction that errors name. ``notes`` are the places of what is read though nobody
    knows what it means, by the message that says so.

    >>> HloLexer.unescaped(r'"a\n\"b\" \x41 \303\251"')
    'a\n"b" A é'
    """

    __slots__ = ("instruction", "notes")

    pattern = _TOKEN
    escape = re.compile(
        rb"\\(?:x(?P<hex>[0-9a-fA-F]{1,2})|(?P<octal>[0-7]{1,3})|(?P<letter>.))", re.DOTALL
    )
    letters: ClassVar[Mapping[bytes, bytes]] = {
        name.encode(): mark.encode() for name, mark in zip("abfnrtv", "\a\b\f\n\r\t\v", strict=True)
    }
    pieces = _BALANCED
    closing: ClassVar[Mapping[str, str]] = {"{": "}"}
    unclosed: ClassVar[Mapping[str, str]] = {
        "{": "the brace is not closed",
        '"': "a string is not closed",
        "'": "a string is not closed",
        "/*": "a comment is not closed",
    }

    def __init__(self, source: str, file: str = "") -> None:
        self.instruction = ""
        self.notes: dict[str, list[Span]] = {}
        super().__init__(source, file)

    def name(self, what: str) -> str:
        """Take a name; its percent sign is left out, and so is a colon behind it, as in XLA."""
        if self.text in SHAPE_TYPES:
            raise self.expected(what, f"{self.text} is the name of a type")
        name = self.taken("name", what).removeprefix("%")
        if self.text == ":" and self.start == self.previous_stop:
            self.advance()
        return name

    def word(self, what: str) -> str:
        """Take a name that has no percent sign, such as an opcode."""
        if self.kind != "name" or self.text[0] == "%":
            raise self.expected(what)
        return self.advance()

    def integers(self, what: str = "the numbers") -> tuple[int, ...]:
        """Take integers in braces."""
        return self.braced(self.integer, what)

    def pairs_ahead(self) -> tuple[dict[str, str | int], int] | None:
        """Plain pairs that begin here, and where they end; without an answer, read each token.

        >>> HloLexer('{op_name="jit(f)/add" source_line=3}').pairs_ahead()
        ({'op_name': 'jit(f)/add', 'source_line': 3}, 36)
        """
        found = _PAIRS.match(self.source, self.start)
        if found is None:
            return None
        items = _PAIR.findall(found[0])
        pairs = {name: text[1:-1] if text[0] == '"' else int(text) for name, text in items}
        return pairs, found.end()

    def names_before_values(self, what: str, name: str) -> Iterator[str]:
        """Take ``{name=value name=value}``; who asks for the names takes the value behind each."""
        self.expect("{", f"before {what}")
        while not self.accept("}"):
            found = self.word(f"'}}' or {name}")
            self.expect("=", f"after {found}")
            yield found

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

    def braced(self, read: Callable[[], _T], what: str) -> tuple[_T, ...]:
        """Take items with commas between them, in braces."""
        return self.listed(read, "{", "}", what)

    def anything(self, what: str) -> str:
        """Take a text up to a comma, a blank or a closing bracket, whatever it means.

        >>> HloLexer('{x={1,2}, y="a b"}, next=3').anything("a value")
        '{x={1,2}, y="a b"}'
        """
        found = _ANYTHING.match(self.source, self.start)
        if found is None:
            raise self.expected(what)
        self.jump(found.end())
        return found[0]

    def note(self, message: str, span: Span) -> None:
        """Remember what a reader of the text should know, though it is no error."""
        self.notes.setdefault(message, []).append(span)

    def error(self, message: str, span: Span | None = None, hint: str = "") -> HloTextError:
        """An error about the current token, or about another part of the text."""
        return HloTextError(message, span or self.span, hint, self.instruction)


def escape(text: str) -> str:
    r"""The quoted text that stands for ``text``, as XLA writes it.

    >>> print(escape('a\n"b" é'))
    "a\n\"b\" \303\251"
    """
    escaped = map(_ESCAPED.__getitem__, text.encode("utf-8", "surrogateescape"))
    return f'"{"".join(escaped)}"'


_ESCAPED: Final = {
    **{byte: chr(byte) if byte in range(0x20, 0x7F) else f"\\{byte:03o}" for byte in range(256)},
    **{ord(mark): f"\\{name}" for mark, name in zip("\n\r\t\"'\\", "nrt\"'\\", strict=True)},
}
"""How each byte is written in quotes."""
