"""Triton's text of linear layouts, as ``LinearLayout::toString`` prints it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from indexing.errors import ShapeError
from indexing.layout.linear.linear_layout import LinearLayout
from simplifier.errors import TextError, check_type
from simplifier.tools.lexer import ScanningLexer

if TYPE_CHECKING:
    from indexing.layout.linear.linear_layout import Basis


def parse(text: str) -> LinearLayout:
    """The layout that Triton printed.

    Raises:
        TextError: the text is none, with a caret under the place.

    >>> layout = parse('''
    ... - register=1 -> (0, 1)
    ...   register=2 -> (8, 0)
    ... - lane=1 -> (0, 2)
    ... - warp is a size 1 dimension
    ... where out dims are: [dim0 (size 16), dim1 (size 4)]''')
    >>> layout.in_dims, layout.out_dims
    ({'register': 4, 'lane': 2, 'warp': 1}, {'dim0': 16, 'dim1': 4})
    >>> parse(str(layout)) == layout
    True
    >>> parse("- lane=3 -> (0, 1)")
    Traceback (most recent call last):
    simplifier.errors.TextError: 1:8: expected lane=1, the next power of two
    - lane=3 -> (0, 1)
           ^
    """
    check_type(text, str, "linear: the text", "a string")
    lexer = _LinearLexer(text)
    bases: dict[str, list[Basis]] = {}
    sizes: dict[str, int] = {}
    if lexer.text == "(":
        _read_empty(lexer, sizes)
    else:
        while lexer.accept("-"):
            _read_dimension(lexer, bases)
        for word in ("where", "out", "dims", "are", ":"):
            lexer.expect(word, "of 'where out dims are:'")
        _read_sizes(lexer, sizes)
    lexer.finish()
    try:
        return LinearLayout(bases, sizes)
    except ShapeError as error:
        raise TextError(str(error), lexer.span_of(0, len(text))) from None


class _LinearLexer(ScanningLexer):
    pattern = re.compile(
        r"\s*(?:(?P<integer>[0-9]{1,18})|(?P<word>[A-Za-z_]\w*)|(?P<mark>->|\S)|(?P<end>\Z))"
    )

    def integer(self) -> int:
        """Go past an integer."""
        if self.kind != "integer":
            raise self.expected("an integer")
        return int(self.advance())

    def name(self) -> str:
        """Go past a name."""
        if self.kind != "word":
            raise self.expected("the name of a dimension")
        return self.advance()


def _read_empty(lexer: _LinearLexer, sizes: dict[str, int]) -> None:
    for word in ("(", "empty", "layout"):
        lexer.expect(word)
    if lexer.accept("with"):
        for word in ("out", "-", "dims"):
            lexer.expect(word)
        _read_sizes(lexer, sizes)
    lexer.expect(")")


def _read_dimension(lexer: _LinearLexer, bases: dict[str, list[Basis]]) -> None:
    """``register=1 -> (0, 1) register=2 -> (8, 0)``, or ``register is a size 1 dimension``."""
    span, name = lexer.span, lexer.name()
    if name in bases:
        raise lexer.error(f"{name} is there twice", span)
    found = bases[name] = []
    if lexer.accept("is"):
        for word in ("a", "size", "1", "dimension"):
            lexer.expect(word, "of 'is a size 1 dimension'")
        return
    while True:
        lexer.expect("=")
        if lexer.text != str(1 << len(found)):
            raise lexer.error(f"expected {name}={1 << len(found)}, the next power of two")
        lexer.advance()
        lexer.expect("->")
        lexer.expect("(")
        found.append(tuple(lexer.separated(lexer.integer, ")")))
        if not lexer.accept(name):
            return


def _read_sizes(lexer: _LinearLexer, sizes: dict[str, int]) -> None:
    lexer.expect("[", "before the out-dimensions")
    sizes.update(lexer.separated(lambda: _read_size(lexer), "]"))


def _read_size(lexer: _LinearLexer) -> tuple[str, int]:
    name = lexer.name()
    lexer.expect("(", "before the size")
    lexer.expect("size")
    size = lexer.integer()
    lexer.expect(")", "after the size")
    return name, size
