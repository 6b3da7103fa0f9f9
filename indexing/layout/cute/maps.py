"""CuTe's layouts and swizzles as maps, from their text, and as tables of offsets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import chain, pairwise
from typing import Literal, TypeAlias, TypeVar, get_args

import simplifier
from indexing.domain import Domain
from indexing.errors import MapError, ShapeError
from indexing.exact.questions import first_difference
from indexing.layout.cute.algebra import ComposedLayout, Swizzle, coalesce
from indexing.layout.cute.layout import (
    MAX_DEPTH,
    CuteLayout,
    IntTuple,
    Number,
    NumberTuple,
    SymbolicLayout,
    product,
)
from indexing.map import IndexingMap
from indexing.pictures.grids import LabelGrid
from indexing.variable import Variable, is_symbolic, over_parameters
from simplifier import forms
from simplifier.errors import ArgumentError, check_type, quoted
from simplifier.exact import BudgetError, NotQuasiAffineError
from simplifier.forms import Atom, AtomKind, ExpressionLexer, Form
from simplifier.tools.lexer import Lexer, ScanningLexer

T = TypeVar("T")
LexerT = TypeVar("LexerT", bound=Lexer)

# CuTe layouts as maps from coordinates to offsets, and the layouts that maps are.

Coordinates: TypeAlias = Literal["natural", "modes", "index"]
"""A coordinate for each size of the shape, for each mode, or one for the whole."""


def to_map(
    layout: SymbolicLayout | ComposedLayout, coordinates: Coordinates = "natural"
) -> IndexingMap:
    """The map from coordinates to the offset; its :meth:`inverse` leads back.

    ``"natural"`` has a dimension for each size of the shape, ``"modes"`` one for each mode, and
    ``"index"`` one for the whole. Symbols are parameters, and facts are constraints.

    Raises:
        ArgumentError: an argument is of another kind than its annotation says.

    >>> from indexing.layout.cute import parse, parse_composed, parse_symbolic
    >>> layout = parse("((2,4),8):((1,8),2)")
    >>> print(to_map(layout))
    (d0, d1, d2) -> (d1 * 8 + d2 * 2 + d0), domain: d0 in [0, 1], d1 in [0, 3], d2 in [0, 7]
    >>> print(to_map(parse("(4,8):(8,1)"), "index"))
    (d0) -> ((d0 mod 4) * 8 + d0 floordiv 4), domain: d0 in [0, 31]
    >>> print(to_map(parse("(4,8):(8,1)"), "modes").inverse())
    (d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]
    >>> print(to_map(parse_composed("Sw<3,4,3> o 0 o (8,64):(64,1)")))
    (d0, d1) -> (d0 * 64 + bitxor(d1, (d0 floordiv 2) * 16)), domain: d0 in [0, 7], d1 in [0, 63]
    >>> print(to_map(parse_symbolic("(M,8):(8,1)")))
    (d0, d1)<M> -> (d0 * 8 + d1), domain: d0 in [0, M - 1], d1 in [0, 7], M in [1, inf]
    """
    check_type(layout, (SymbolicLayout, ComposedLayout), "to_map: the layout", "a layout of CuTe")
    if coordinates not in get_args(Coordinates):
        expected = "expected 'natural', 'modes' or 'index'"
        raise ArgumentError(f"to_map: the coordinates: {quoted(coordinates)}; {expected}")
    plain = layout.layout if isinstance(layout, ComposedLayout) else layout
    by_coordinates = {"natural": plain.flat().modes, "modes": plain.modes, "index": (plain,)}
    groups = by_coordinates[coordinates]
    offset = sum((_offset(f"d{number}", group) for number, group in enumerate(groups)), forms.ZERO)
    if isinstance(layout, ComposedLayout):
        offset += layout.offset
        offset = forms.bitwise(AtomKind.BITXOR, (offset, layout.swizzle.flipped(offset)))
    domain = _domain(plain, [Variable.of_size(group.size) for group in groups])
    return IndexingMap.from_forms([offset], domain).simplify(preserve_ranges=True)


def _domain(layout: SymbolicLayout, dims: list[Variable]) -> Domain:
    """The domain of these dimensions, with the layout's symbols as parameters under its facts."""
    if layout.facts is None:
        return Domain.of(dims)
    numbers = chain(*layout.leaves, (fact for fact, _ in layout.facts))
    symbols = {*chain(*(each.free_symbols for each in numbers if is_symbolic(each)))}
    parameters = sorted(symbols, key=str)
    return IndexingMap((), dims, constraints=layout.facts, parameters=parameters).domain


def _offset(name: str, layout: SymbolicLayout) -> Form:
    """The offset of a layout at an index, as a sum of digits with strides."""
    index, total = forms.variable(name), forms.ZERO
    *leaves, (_, last) = coalesce(layout).leaves
    for size, stride in leaves:
        total += forms.product((forms.mod(index, _form(size)), _form(stride)))
        index = forms.floordiv(index, _form(size))
    return total + forms.product((index, _form(last)))


def _form(number: Number) -> Form:
    """A number, with the identifiers of parameters for symbols."""
    if isinstance(number, int):
        return forms.constant(number)
    return over_parameters(number).form or forms.ZERO


def from_map(indexing_map: IndexingMap) -> CuteLayout:
    """The layout that a map from coordinates to an offset is, with a mode for each dimension.

    Each mode is coalesced. Whatever coordinates :func:`to_map` wrote, the same offsets come back.

    Raises:
        ArgumentError: the argument is no map.
        MapError: the map is no layout of CuTe, with the reason.

    >>> from indexing import parse_map
    >>> print(from_map(parse_map("(d0, d1) -> (d0 mod 2 + (d0 floordiv 2) * 8 + d1 * 2), "
    ...                          "domain: d0 in [0, 7], d1 in [0, 7]")))
    ((2,4),8):((1,8),2)
    >>> from_map(parse_map("(d0) -> (bitxor(d0, d0 floordiv 8)), domain: d0 in [0, 63]"))
    Traceback (most recent call last):
    indexing.errors.MapError: from_map: bitxor(d0, d0 floordiv 8) is no sum of digits with strides
    """
    check_type(indexing_map, IndexingMap, "from_map: the map", "an IndexingMap")
    simplest = indexing_map.simplify(preserve_ranges=True)
    sizes = _checked_sizes(simplest)
    (form,) = simplest.forms
    for _, term in _terms(form):
        _check_digit(simplest, term)
    names = [f"d{number}" for number in range(len(sizes))]
    modes = [_mode(form, name, size) for name, size in zip(names, sizes, strict=True)]
    found = modes[0] if len(modes) == 1 else CuteLayout.of_modes(modes)
    _check_equal(simplest, found, to_map(found, "index" if len(modes) == 1 else "modes"))
    return found


def _checked_sizes(indexing_map: IndexingMap) -> list[int]:
    """The sizes of the dimensions of a map that has nothing else than one result over them."""
    domain = indexing_map.domain
    is_given = {
        "one result": len(indexing_map.forms) == 1,
        "dimensions": bool(indexing_map.dims),
        "no ranges": not indexing_map.ranges,
        "no runtime variables": not indexing_map.runtime,
        "no parameters": not indexing_map.parameters,
        "no constraints": not domain.constraints,
    }
    for what, is_so in is_given.items():
        if not is_so:
            raise MapError(f"from_map: {indexing_map}; expected {what}")
    for variable in indexing_map.dims:
        if variable.bounds.lower != 0 or not variable.bounds.size:
            message = f"{variable.name} is in {variable.bounds}; expected from 0 to an end"
            raise MapError(f"from_map: {message}")
    return [variable.bounds.size or 0 for variable in indexing_map.dims]


def _check_digit(indexing_map: IndexingMap, term: Form) -> None:
    """Raise an error unless a term is made of quotients and remainders of one variable."""
    is_digit = {atom.kind for atom in forms.postorder([term])} <= _DIGITS
    if not is_digit or len({*forms.variables_of([term])}) != 1:
        named = indexing_map.domain.named(term)
        raise MapError(f"from_map: {named} is no sum of digits with strides")


_DIGITS = {AtomKind.VARIABLE, AtomKind.FLOORDIV, AtomKind.MOD}


def _mode(form: Form, name: str, size: int) -> CuteLayout:
    """The layout along a dimension: its digits begin where quotients and remainders do.

    A guess, which holds if the form is a layout.
    """
    if size == 1:
        return CuteLayout(1, 0)
    others = [atom for atom, term in _terms(form) if name not in forms.variables_of([term])]
    along = form.without(*others)
    ends = {each or size for atom in along.terms for both in _ends(atom) for each in both}
    edges = [1, *sorted(end for end in ends if 1 < end < size), size]
    sizes = tuple(following // start for start, following in pairwise(edges))
    if product(sizes) != size:
        return CuteLayout(size, _slope(along, name, 1))
    return coalesce(CuteLayout(sizes, tuple(_slope(along, name, start) for start in edges[:-1])))


def _terms(form: Form) -> Iterator[tuple[Atom, Form]]:
    return ((atom, Form(0, {atom: 1})) for atom in form.terms)


def _ends(atom: Atom) -> Iterator[tuple[int, int | None]]:
    """Begin and, maybe, end of the digits of a quotient or remainder of a variable."""
    if atom.kind is AtomKind.VARIABLE:
        yield 1, None
        return
    numerator, divisor = atom.arguments
    for part in numerator.terms:
        for start, end in _ends(part):
            after = start * divisor.constant
            if atom.kind is AtomKind.FLOORDIV:
                yield after, end
            else:
                yield start, after if end is None else min(end, after)


def _slope(form: Form, name: str, value: int) -> int:
    """Difference of the form between a value of its only variable and 0."""
    there, here = (forms.substitute([form], {name: forms.constant(each)})[0] for each in (value, 0))
    return there.constant - here.constant


def _check_equal(indexing_map: IndexingMap, found: CuteLayout, as_map: IndexingMap) -> None:
    try:
        difference = first_difference(indexing_map, as_map)
    except (NotQuasiAffineError, BudgetError) as error:
        raise MapError(f"from_map: {indexing_map}: {error}") from error
    if difference is not None:
        raise MapError(f"from_map: {indexing_map} is not {found}: {difference}")


# CuTe's text of layouts and swizzles: `((2,4),8):((1,8),2)`, `Sw<3,4,3> o 0 o (8,64):(64,1)`.
#
# Static integers may have their underscore: `_8`. The layout may be of one mode, `8:1`.


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


def parse_symbolic(text: str, facts: simplifier.Facts | None = None) -> SymbolicLayout:
    """The layout with symbols that a text describes, with what is known of them.

    Sizes and strides are expressions, whose quotients round down.

    Raises:
        ShapeError: as :class:`SymbolicLayout`.
        TextError: the text is none, with a caret under the place.

    >>> from sympy import Eq
    >>> from simplifier import Facts, symbol
    >>> M = symbol("M")
    >>> layout = parse_symbolic("((8,M/8),N):((1,8),M)", Facts({}, [Eq(M % 8, 0)]))
    >>> print(layout, layout.size)
    ((8,M/8),N):((1,8),M) M*N
    """
    check_type(text, str, "cute: the text", "a string")
    lexer = ExpressionLexer(_STATIC.sub(" ", text))
    shape = _read_numbers(lexer)
    stride = _read_numbers(lexer) if lexer.accept(":") else None
    lexer.finish()
    return SymbolicLayout(shape, stride, facts)


_STATIC = re.compile(r"(?<!\w)_(?=-?[0-9])")
"""The underscore of a static integer."""


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
        text = self.taken("integer", "an integer")
        try:
            return int(text.removeprefix("_"))
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
    return _read_parts(lexer, _read_tuple, level)


def _read_parts(lexer: LexerT, read: Callable[[LexerT, int], T], level: int) -> tuple[T, ...]:
    if level == MAX_DEPTH:
        raise lexer.error(f"tuples are nested deeper than {MAX_DEPTH}")
    lexer.advance()
    return lexer.separated(lambda: read(lexer, level + 1), ")")


def _read_numbers(lexer: ExpressionLexer, level: int = 0) -> NumberTuple:
    """Numbers in tuples; what goes on behind a parenthesis is an expression, as ``(M/8)*K``."""
    start = lexer.position
    if lexer.text == "(":
        found = _read_parts(lexer, _read_numbers, level)
        if lexer.text in _BEHIND_TUPLES:
            return found
        lexer.jump(start)
    return forms.to_sympy(forms.read_expression(lexer))


_BEHIND_TUPLES = {",", ")", ":", ""}


def _read_swizzle(lexer: _CuteLexer) -> Swizzle:
    start = lexer.start
    word = lexer.one_of(_BEFORE_FIELDS, "a swizzle such as Sw<3,4,3>")
    fields: list[int] = []
    for mark in _BEFORE_FIELDS[word]:
        if mark:
            lexer.expect(mark)
        fields.append(lexer.integer())
    if word != "SW_":
        lexer.expect(">")
    return _made(lexer, start, lambda: Swizzle(*fields))


_BEFORE_FIELDS = {"SW_": ("", "", ""), **dict.fromkeys(("Sw", "Swizzle", "S"), "<,,")}


def _read_composed(lexer: _CuteLexer) -> ComposedLayout:
    swizzle = _read_swizzle(lexer)
    lexer.expect("o", "before the offset")
    offset = lexer.integer()
    lexer.expect("o", "before the layout")
    return ComposedLayout(swizzle, offset, _read_layout(lexer))


def _made(lexer: _CuteLexer, start: int, make: Callable[[], T]) -> T:
    """A value of the text read since a position; its error points there."""
    try:
        return make()
    except ShapeError as error:
        raise lexer.error_since(start, str(error)) from None


# CuTe layouts as tables of offsets, as CuTe prints them for LaTeX.


def picture(layout: CuteLayout | ComposedLayout) -> LabelGrid:
    """The offsets: the first mode is the rows, the others together are the columns.

    A layout with one mode is one row. A notebook shows the picture, ``print`` writes a table, and
    ``svg()`` or ``save(path)`` give it as SVG; offsets that are equal modulo 8 have one color.

    Raises:
        ArgumentError: the argument is no layout of CuTe.

    >>> from indexing.layout.cute import parse
    >>> print(picture(parse("(4,(2,2)):(2,(1,8))")))
        0  1  2  3
    0   0  1  8  9
    1   2  3 10 11
    2   4  5 12 13
    3   6  7 14 15
    """
    expected = "a layout of CuTe without symbols, as subs() makes it"
    check_type(layout, (CuteLayout, ComposedLayout), "picture: the layout", expected)
    plain = layout if isinstance(layout, CuteLayout) else layout.layout
    modes = plain.modes
    rows = modes[0].size if len(modes) > 1 else 1

    def cell(row: int, column: int) -> tuple[str, int]:
        index: IntTuple = row + rows * column
        offset = layout(index)
        return str(offset), offset

    return LabelGrid(str(layout), (rows, plain.size // rows), cell)
