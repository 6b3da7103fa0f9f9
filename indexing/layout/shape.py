"""Shapes of HLO values, and their text: ``(bf16[8,<=128]{1,0:T(8,128)(2,1)S(1)}, token[])``.

:func:`read_shape` reads a shape at any position of a longer text, as the reader for HLO needs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, TypeVar

from indexing.errors import ShapeError
from indexing.layout.layout import (
    ARRAY_TYPES,
    COMBINE_DIMENSION,
    LETTERS,
    SHAPE,
    UNBOUNDED_SIZE,
    ArrayShape,
    ElementType,
    Kind,
    Layout,
    LevelKind,
    LevelType,
    SplitConfig,
    check_shapes,
)
from indexing.layout.maps import array_size
from indexing.layout.picture import svg_of_layout
from simplifier.errors import TextError, check_type, quoted
from simplifier.tools.lexer import ScanningLexer

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, repr=False)
class Shape(ArrayShape):
    """The shape of an array, or of a tuple or buffer of shapes, a token or an opaque value.

    ``elements`` are the shapes in a tuple or buffer; :class:`ArrayShape` describes the other
    fields.

    Raises:
        ArgumentError: a field is of another kind than its annotation says.
        ShapeError: a size is negative or does not fit in 64 bits, or the layout does not fit.

    >>> shape = Shape.parse("bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)S(1)}")
    >>> shape.dimensions, shape.layout.minor_to_major, shape.layout.memory_space
    ((8, 1, 1280, 16384), (3, 2, 0, 1), 1)
    >>> print(Shape(ElementType.F32, (2, 3)), Shape.of_tuple([shape, Shape(ElementType.TOKEN)]))
    f32[2,3]{1,0} (bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)S(1)}, token[])
    """

    elements: tuple[Shape, ...] = ()
    _arrays: tuple[Shape, ...] | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._complete_element_type()
        if self.is_array:
            ArrayShape.__post_init__(self)
        elif self.dimensions or self.layout is not None:
            message = f"a shape of type {self.element_type} has neither dimensions nor a layout"
            raise ShapeError(message)
        self._check_elements()

    def _check_elements(self) -> None:
        check_type(self.elements, Sequence, "Shape: elements", "some shapes")
        for element in self.elements:
            check_type(element, Shape, "Shape: an element", SHAPE)
        if self.elements and self.element_type.kind is not Kind.CONTAINER:
            raise ShapeError(f"a shape of type {self.element_type} does not hold other shapes")
        held = [inner.is_array for inner in self.elements]
        if self.element_type is ElementType.BUFFER and held != [True]:
            raise ShapeError("a buffer holds one array")

    @classmethod
    def parse(cls, text: str) -> Shape:
        """The shape from its text in XLA's form.

        Raises:
            TextError: the text is no shape, or one that makes no sense.

        >>> Shape.parse("(f32[<=4,?], b(s32[2]{0}))").elements[0].dimensions
        (4, -1)
        >>> Shape.parse("f32[2,3]{0,0}")
        Traceback (most recent call last):
        simplifier.errors.TextError: 1:1: minor_to_major {0,0} lists a dimension twice
        f32[2,3]{0,0}
        ^^^^^^^^^^^^^
        """
        check_type(text, str, "Shape.parse: the text", "a string")
        reader = _ShapeReader(text)
        shape = reader.shape()
        if shape.is_array and reader.accept("{"):
            raise reader.expected("a dimension or ':' in the braces of a layout")
        if reader.text:
            raise reader.expected("the end of the shape")
        return shape

    @classmethod
    def of_tuple(cls, elements: Iterable[Shape]) -> Shape:
        """The shape of a tuple of values."""
        check_type(elements, Iterable, "Shape.of_tuple: the elements", "some shapes")
        return cls(ElementType.TUPLE, elements=tuple(elements))

    @property
    def is_tuple(self) -> bool:
        """Whether the shape is a tuple, even an empty one."""
        return self.element_type is ElementType.TUPLE

    @property
    def arrays(self) -> tuple[Shape, ...]:
        """The shapes in nested tuples, in order; a shape that is no tuple is the only one.

        >>> [str(array) for array in Shape.parse("(f32[2], (s32[], (), token[]))").arrays]
        ['f32[2]{0}', 's32[]', 'token[]']
        """
        if self.layout is not None or not self.is_tuple:
            return (self,)
        if self._arrays is None:
            arrays = tuple(array for element in self.elements for array in element.arrays)
            object.__setattr__(self, "_arrays", arrays)
        return self._arrays or ()

    @property
    def array_indices(self) -> range:
        """The numbers of :attr:`arrays`.

        >>> Shape.parse("(f32[2], (s32[], token[]))").array_indices
        range(0, 3)
        """
        return range(len(self.arrays))

    @property
    def bytes(self) -> int:
        """The memory that an array takes as its layout says, with padding; of a tuple, all arrays.

        A dynamic dimension has its largest size. Tokens and opaque values take none.

        Raises:
            ShapeError: a dimension has no bound, or a layout is sparse.

        >>> Shape.parse("f32[2,3]").bytes, Shape.parse("bf16[3,200]{1,0:T(8,128)(2,1)}").bytes
        (24, 4096)
        >>> Shape.parse("(f32[2], (s4[3], token[]))").bytes
        11
        """
        arrays = (array for leaf in self.arrays for array in leaf.elements or (leaf,))
        return sum(array_size(array).bytes for array in arrays if array.is_array)

    def is_compatible_with(self, other: Shape) -> bool:
        """Whether both are equal up to layouts and dynamic dimensions.

        >>> Shape.parse("f32[2,3]{0,1}").is_compatible_with(Shape.parse("f32[<=2,3]"))
        True
        """
        if self is other:
            return True
        check_shapes("is_compatible_with", other=other)
        if self.element_type is not other.element_type or self.rank != other.rank:
            return False
        if len(self.elements) != len(other.elements):
            return False
        pairs = zip(self.dimensions, other.dimensions, strict=True)
        return all(UNBOUNDED_SIZE in pair or pair[0] == pair[1] for pair in pairs) and all(
            mine.is_compatible_with(theirs)
            for mine, theirs in zip(self.elements, other.elements, strict=True)
        )

    def text(self, *, layout: bool = True) -> str:
        """The shape in XLA's form, with or without layouts.

        >>> Shape.parse("(f32[2,3], f32[])").text(layout=False)
        '(f32[2,3], f32[])'
        """
        if self.is_array:
            return ArrayShape.text(self, layout=layout)
        inner = ", ".join(element.text(layout=layout) for element in self.elements)
        return _AROUND[self.element_type].format(inner)

    def __repr__(self) -> str:
        return f"Shape.parse({str(self)!r})"

    def _repr_svg_(self) -> str | None:
        """A picture of the layout for notebooks; ``None`` where there are no offsets."""
        try:
            return svg_of_layout(self)
        except ShapeError:
            return None


_AROUND = {
    ElementType.TUPLE: "({})",
    ElementType.BUFFER: "b({})",
    ElementType.TOKEN: "token[]",
    ElementType.OPAQUE: "opaque[]",
}
"""The text of shapes that are no arrays; braces stand for the shapes in them."""


MAX_NESTING = 50
"""Shapes in shapes are read down to this depth: no text is deeper, and Python's stack holds it."""

BLANK = r"\s*+(?>(?:(?://[^\r\n]*+|/\*(?s:.*?)\*/)\s*+)*)"
"""Regular expression of what stands between tokens: blanks and comments, or nothing."""

SHAPE_TYPES = {str(t): t for t in (*ARRAY_TYPES, ElementType.TOKEN, ElementType.OPAQUE)}
"""The types that are written with brackets."""

PLAIN_ARRAY = r"[a-z]\w*\[[^\[\](){}/]*\](?:\{[\d:][^{}/]*\})?"
"""Regular expression of an array without comments and nested braces: most shapes are plain."""

_PLAIN = re.compile(BLANK + rf"({PLAIN_ARRAY})(?!\s*(?:/|\{{\s*[/\d:]))")
"""An array with all of its layout."""

_IN_LAYOUT = re.compile(BLANK + r"[\d:]")
"""The text after the brace of a layout, and of nothing else that may stand behind a shape."""

_MAX_DIGITS = 19
"""Those of the longest integer of 64 bits."""


def read_shape(source: str, start: int) -> tuple[Shape, int]:
    """The shape that begins at ``source[start]``, after blanks or not, and where it ends.

    Raises:
        TextError: with its place in ``source``.
    """
    plain = _PLAIN.match(source, start)
    shape = plain_array(plain[1]) if plain else None
    if plain and shape:
        return shape, plain.end()
    reader = _ShapeReader(source, position=start)
    return reader.nested_shape(), reader.previous_stop


@lru_cache(maxsize=1 << 14)
def plain_array(text: str) -> Shape | None:
    """An array by its text; ``None`` if it is wrong, and has to be read where it stands."""
    try:
        return _ShapeReader(text).array()
    except (TextError, ShapeError):
        return None


class _ShapeReader(ScanningLexer):
    """Reads shapes; one method for each rule of the grammar."""

    __slots__ = ("depth",)

    pattern = re.compile(
        BLANK + r"(?:(?P<number>\d+)|(?P<name>[A-Za-z]\w*)|(?P<mark><=|\S)|(?P<end>\Z))", re.ASCII
    )

    def __init__(self, source: str, file: str = "", position: int = 0) -> None:
        self.depth = 0
        super().__init__(source, file, position)

    def integer(self) -> int:
        """Take an integer of 64 bits."""
        if self.kind != "number":
            raise self.expected("a number")
        if len(self.text.lstrip("0")) > _MAX_DIGITS:
            raise self.error(f"{quoted(self.text)} does not fit in 64 bits")
        return int(self.advance())

    def one_or_more(self, read: Callable[[], _T], close: str) -> tuple[_T, ...]:
        """Take one or more items with commas between them, up to ``close``."""
        items = self.joined(read)
        if not self.accept(close):
            raise self.expected(f"',' or '{close}'")
        return items

    def in_parentheses(self, read: Callable[[], _T]) -> _T:
        """Read in parentheses."""
        self.expect("(")
        value = read()
        self.expect(")")
        return value

    def shape(self) -> Shape:
        """Take a shape; a plain one at once."""
        plain = _PLAIN.match(self.source, self.start)
        known = plain_array(plain[1]) if plain else None
        if plain is None or known is None:
            return self.nested_shape()
        self.jump(plain.end())
        return known

    def nested_shape(self) -> Shape:
        """Take a shape token by token."""
        if self.depth == MAX_NESTING:
            raise self.error(f"shapes are nested more than {MAX_NESTING} deep")
        start = self.start
        read = {"(": self.tuple_shape, "b": self.buffer}.get(self.text, self.array)
        self.depth += 1
        try:
            return read()
        except ShapeError as error:
            raise self.error_since(start, str(error)) from None
        finally:
            self.depth -= 1

    def tuple_shape(self) -> Shape:
        self.expect("(")
        return Shape.of_tuple(() if self.accept(")") else self.one_or_more(self.shape, ")"))

    def buffer(self) -> Shape:
        self.expect("b")
        return Shape(ElementType.BUFFER, elements=(self.in_parentheses(self.array),))

    def array(self) -> Shape:
        if self.text not in SHAPE_TYPES and self.text.isupper():
            self.text = self.text.lower()  # F32[3,5], as XLA's documentation writes it
        element_type = SHAPE_TYPES[self.one_of(SHAPE_TYPES, "a shape")]
        self.expect("[")
        sizes = () if self.accept("]") else self.one_or_more(self.size, "]")
        has_layout = self.text == "{" and _IN_LAYOUT.match(self.source, self.stop)
        dimensions, flags = zip(*sizes, strict=True) if sizes else ((), ())
        return Shape(element_type, dimensions, self.layout() if has_layout else None, flags)

    def size(self) -> tuple[int, bool]:
        """The size of a dimension, and whether it is an upper bound only."""
        if self.accept("?"):
            return UNBOUNDED_SIZE, True
        dynamic = self.accept("<=")
        return self.integer(), dynamic

    def layout(self) -> Layout:
        self.expect("{")
        order = () if self.text in {":", "}"} else self.joined(self.integer)
        fields = self._fields() if self.accept(":") else {}
        self.expect("}")
        return replace(Layout(order), **fields)

    def _fields(self) -> dict[str, Any]:
        fields = {
            name: _FIELD_READERS.get(name, _ShapeReader.number_field)(self)
            for letter, name in LETTERS.items()
            if self.accept(letter)
        }
        if self.text != "}":
            raise self.expected(f"'}}' or one of {' '.join(LETTERS)} in this order")
        return fields

    def number_field(self) -> int:
        return self.in_parentheses(self.integer)

    def type_field(self) -> ElementType:
        return SHAPE_TYPES[self.in_parentheses(lambda: self.one_of(SHAPE_TYPES, "an element type"))]

    def levels(self) -> tuple[LevelType, ...]:
        self.expect("(")
        return self.one_or_more(self.level, ")")

    def level(self) -> LevelType:
        kind = LevelKind(self.one_of(_LEVELS, "a level type D, C, S or H"))
        unique = not self.accept("+")
        return LevelType(kind, unique, ordered=not self.accept("~"))

    def tile_size(self) -> int:
        if any(map(self.accept, _ASTERISKS)):
            return COMBINE_DIMENSION
        if self.accept("-"):
            self.expect("1", "in a tile, where -1 stands for '*'")
            return COMBINE_DIMENSION
        return self.integer()

    def split_config(self) -> SplitConfig:
        dimension = self.integer()
        self.expect(":")
        return SplitConfig(dimension, self.one_or_more(self.integer, ")"))

    def groups(self, read: Callable[[], _T]) -> tuple[_T, ...]:
        """One or more items, each after its own opening parenthesis."""
        self.expect("(")
        return self.joined(read, "(")


_ASTERISKS = "*\u2217"
"""The asterisk of keyboards, and that of mathematics, which XLA's documentation prints."""

_LEVELS = {kind.value for kind in LevelKind}

_FIELD_READERS: dict[str, Callable[[_ShapeReader], Any]] = {
    "dim_level_types": _ShapeReader.levels,
    "tiles": lambda reader: reader.groups(lambda: reader.one_or_more(reader.tile_size, ")")),
    "index_primitive_type": _ShapeReader.type_field,
    "pointer_primitive_type": _ShapeReader.type_field,
    "split_configs": lambda reader: reader.groups(reader.split_config),
    "physical_shape": lambda reader: reader.in_parentheses(reader.shape),
}
"""The readers of fields of a layout that are not a number in parentheses."""
