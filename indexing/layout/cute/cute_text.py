"""CuTe's text of layouts and swizzles: ``((2,4),8):((1,8),2)``, ``Sw<3,4,3> o 0 o (8,64):(64,1)``.

Static integers may have their underscore: ``_8``. The layout may be of one mode, ``8:1``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from indexing.errors import ShapeError
from indexing.layout.cute.cute_layout import CuteLayout
from indexing.layout.cute.int_tuple import MAX_DEPTH
from indexing.layout.cute.swizzle import ComposedLayout, Swizzle
from simplifier.errors import TextError, check_type
from simplifier.tools.lexer import ScanningLexer

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from indexing.layout.cute.int_tuple import IntTuple

    T = TypeVar("T")


def parse(text: str) -> CuteLayout:
    """The layout that a text describes; without strides they are compact.

    Raises:
        TextError: the text is none, with a caret under the place.

    >>> layout = parse("((_2,_4),_8):((_1,_8),_2)")
    >>> layout
    cute.parse('((2,4),8):((1,8),2)')
    >>> print(parse("(4,8)"))
    (4,8):(1,4)
    >>> parse("(4,8):(1,4")
    Traceback (most recent call last):
    simplifier.errors.TextError: 1:11: expected ',' or ')', but the text ends
    (4,8):(1,4
              ^
    """
    return _whole(text, _read_layout)


def parse_swizzle(text: str) -> Swizzle:
    """The swizzle that a text describes.

    It is ``Sw<3,4,3>`` as C++ prints it, ``Swizzle<3,4,3>`` as its type is written, ``S<3,4,3>``
    as CuTe's language in Python prints it, or ``SW_3_4_3`` as ``pycute`` does.

    Raises:
        TextError: the text is none, with a caret under the place.

    >>> parse_swizzle("Swizzle<3,4,3>"), parse_swizzle("SW_3_4_-3")
    (Swizzle(3, 4, 3), Swizzle(3, 4, -3))
    """
    return _whole(text, _read_swizzle)


def parse_composed(text: str) -> ComposedLayout:
    """The swizzled layout that a text describes: a swizzle, an offset and a layout.

    Raises:
        TextError: the text is none, with a caret under the place.

    >>> print(parse_composed("Swizzle<3,4,3> o 0 o (8,64):(64,1)"))
    Sw<3,4,3> o 0 o (8,64):(64,1)
    """
    return _whole(text, _read_composed)


class _CuteLexer(ScanningLexer):
    pattern = re.compile(
        r"\s*(?:(?P<integer>_?-?[0-9]+)|(?P<word>[A-Za-z_]+)|(?P<mark>\S)|(?P<end>\Z))"
    )

    def integer(self) -> int:
        """Go past an integer."""
        if self.kind != "integer":
            raise self.expected("an integer")
        try:
            return int(self.advance().removeprefix("_"))
        except ValueError:
            raise self.error("the integer has too many digits") from None


def _whole(text: str, read: Callable[[_CuteLexer], T]) -> T:
    check_type(text, str, "cute: the text", "a string")
    lexer = _CuteLexer(text)
    found = read(lexer)
    lexer.finish()
    return found


def _read_layout(lexer: _CuteLexer) -> CuteLayout:
    start = lexer.start
    shape = _read_tuple(lexer)
    stride = _read_tuple(lexer) if lexer.accept(":") else None
    return _made(lexer, start, lambda: CuteLayout(shape, stride))


def _read_tuple(lexer: _CuteLexer, level: int = 0) -> IntTuple:
    if lexer.text != "(":
        return lexer.integer()
    if level == MAX_DEPTH:
        raise lexer.error(f"tuples are nested deeper than {MAX_DEPTH}")
    lexer.advance()
    return tuple(lexer.separated(lambda: _read_tuple(lexer, level + 1), ")"))


def _read_swizzle(lexer: _CuteLexer) -> Swizzle:
    start = lexer.start
    if lexer.accept("SW_"):
        bits, base, shift = lexer.integer(), lexer.integer(), lexer.integer()
    elif lexer.text in _SWIZZLES:
        lexer.advance()
        lexer.expect("<")
        bits = lexer.integer()
        lexer.expect(",")
        base = lexer.integer()
        lexer.expect(",")
        shift = lexer.integer()
        lexer.expect(">")
    else:
        raise lexer.expected("a swizzle such as Sw<3,4,3>")
    return _made(lexer, start, lambda: Swizzle(bits, base, shift))


_SWIZZLES = ("Sw", "Swizzle", "S")


def _read_composed(lexer: _CuteLexer) -> ComposedLayout:
    swizzle = _read_swizzle(lexer)
    lexer.expect("o", "before the offset")
    offset = lexer.integer()
    lexer.expect("o", "before the layout")
    return ComposedLayout(swizzle, offset, _read_layout(lexer))


def _made(lexer: _CuteLexer, start: int, make: Callable[[], T]) -> T:
    """A value of what was read since a place; its error points there."""
    stop = lexer.previous_stop
    try:
        return make()
    except ShapeError as error:
        raise TextError(str(error), lexer.span_of(start, stop)) from None
