"""Values of constants: :class:`Literal`, and how it is read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from math import copysign, isnan
from typing import Any, Final

from indexing.layout import ElementType, Kind, Shape, ShapeError
from indexing.passes import MAX_NESTING
from ops.hlo.lexer import HloLexer
from simplifier.forms import np

Scalar = bool | int | float | complex


@dataclass(frozen=True, slots=True)
class Literal:
    """The value of a constant, exactly as it is written.

    ``values`` are the elements of an array in row-major order, as Python numbers, or ``None`` if
    the text leaves them out (``{...}``). ``elements`` are the literals in a tuple.

    >>> from ops.hlo import parse
    >>> literal = parse("ENTRY e { c = s32[2,2] constant({ {1, 2}, {3, -4} }) }").entry.root.literal
    >>> literal[1, 0], literal.values, literal.array.dtype
    (3, (1, 2, 3, -4), dtype('int32'))
    """

    shape: Shape
    values: tuple[Scalar, ...] | None
    elements: tuple[Literal, ...] = ()
    text: str = field(default="", compare=False)

    @classmethod
    def of(cls, shape: Shape, values: tuple[Scalar, ...] | None) -> Literal:
        """The elements of an array in row-major order with their text, or left out.

        >>> print(Literal.of(Shape.parse("s32[2,2]"), (1, 2, 3, 4)))
        s32[2,2]{1,0} { { 1, 2 }, { 3, 4 } }
        """
        texts = (_text(value, shape.element_type) for value in values or ())
        text = "{...}" if values is None else _rows(texts, shape.dimensions)
        return cls(shape, values, (), text)

    @property
    def is_elided(self) -> bool:
        """Whether the text leaves the values out."""
        return self.values is None and not self.elements

    def __getitem__(self, index: int | tuple[int, ...]) -> Scalar:
        """The element of an array at an index.

        Raises:
            ShapeError: the values are not known, or the index lies outside of the array.
        """
        indices = index if isinstance(index, tuple) else (index,)
        if self.values is None:
            raise ShapeError(f"the values of {self} are not known")
        pairs = [*zip(indices, self.shape.dimensions, strict=False)]
        if len(indices) != self.shape.rank or not all(0 <= at < size for at, size in pairs):
            raise ShapeError(f"{list(indices)} is no index of {self.shape}")
        offset = 0
        for position, size in pairs:
            offset = offset * size + position
        return self.values[offset]

    @property
    def array(self) -> np.ndarray[Any, Any]:
        """The array in NumPy; types that NumPy lacks become the next wider one.

        Raises:
            ShapeError: the values are not known.
        """
        if self.values is None:
            raise ShapeError(f"the values of {self} are not known")
        found = np.array(self.values, dtype=_numpy_name(self.shape.element_type))
        return found.reshape(self.shape.dimensions)

    def __str__(self) -> str:
        if self.shape.is_tuple and not self.is_elided:
            return f"({', '.join(map(str, self.elements))})"
        return f"{self.shape} {self.text}"


def _numpy_name(element_type: ElementType) -> str:
    if element_type.kind is Kind.BOOLEAN:
        return "bool"
    smallest = 16 if element_type.kind is Kind.FLOAT else 8
    bits = 32 if element_type is ElementType.BF16 else max(smallest, element_type.bits)
    return f"{NUMPY_STEMS[element_type.kind]}{bits}"


NUMPY_STEMS: Final = {
    Kind.SIGNED: "int",
    Kind.UNSIGNED: "uint",
    Kind.FLOAT: "float",
    Kind.COMPLEX: "complex",
}
"""How the names of NumPy's types begin, before their width."""


def read_literal(lexer: HloLexer, shape: Shape) -> Literal:
    """Take the value of a constant of a shape.

    Raises:
        HloTextError: the value does not fit the shape.
    """
    start = lexer.start
    literal = _read(lexer, shape, start)
    text = " ".join(_COMMENT.sub(" ", lexer.source[start : lexer.previous_stop]).split())
    return Literal(shape, literal.values, literal.elements, text)


def read_shaped_literal(lexer: HloLexer, depth: int = 0) -> Literal:
    """Take a shape and a value of it, or a tuple of those: ``(s32[2] {1, 2}, pred[] true)``.

    Raises:
        HloTextError: a value does not fit its shape.
    """
    if lexer.text != "(":
        return read_literal(lexer, lexer.shape())
    if depth == MAX_NESTING:
        raise lexer.error(f"literals are nested more than {MAX_NESTING} deep")
    elements = lexer.listed(
        lambda: read_shaped_literal(lexer, depth + 1), "(", ")", "the literals of the tuple"
    )
    shape = Shape.of_tuple(element.shape for element in elements)
    text = f"({', '.join(element.text for element in elements)})"
    return Literal(shape, None if elements else (), elements, text)


def _read(lexer: HloLexer, shape: Shape, start: int) -> Literal:
    if _ELIDED.match(lexer.source, start) and not (shape.is_array and shape.rank == 0):
        lexer.matching(_ELIDED, "a literal")
        return Literal(shape, None)
    if shape.is_tuple:
        return _read_tuple(lexer, shape)
    if not shape.is_array:
        raise lexer.error(f"a constant of type {shape.element_type} has no value")
    if shape.rank and lexer.text != "{":
        return Literal(shape, _read_splat(lexer, shape))
    return Literal(shape, _read_array(lexer, shape))


def _read_splat(lexer: HloLexer, shape: Shape) -> tuple[Scalar, ...] | None:
    """Take one value for all elements; of a very large array it is not kept."""
    value = _READERS[shape.element_type.kind](lexer, shape.element_type)
    count = shape.element_count
    return (value,) * count if count <= _MAX_SPLAT else None


_MAX_SPLAT = 1 << 22
"""32 megabytes of references."""


def _read_tuple(lexer: HloLexer, shape: Shape) -> Literal:
    remaining = iter(shape.elements)

    def read() -> Literal:
        element = next(remaining, None)
        if element is None:
            raise lexer.error(f"expected {len(shape.elements)} elements")
        return read_literal(lexer, element)

    elements = lexer.listed(read, "(", ")", "the elements of the tuple")
    if len(elements) != len(shape.elements):
        count = f"{len(shape.elements)} elements of the tuple"
        raise lexer.error(f"expected {count}, but there are {len(elements)}")
    return Literal(shape, None if elements else (), elements)


def _read_array(lexer: HloLexer, shape: Shape) -> tuple[Scalar, ...]:
    element_type, rank = shape.element_type, shape.rank
    read = _READERS[element_type.kind]
    values: list[Scalar] = []
    counts = [0]  # of what stands in each row that is open, and of whole arrays
    while not counts[0]:
        depth = len(counts) - 1
        if lexer.text == "{" and rank:
            if depth == rank:
                message = f"expected braces nested {rank} deep, but these are nested deeper"
                raise lexer.error(message)
            lexer.advance()
            counts.append(0)
            continue
        if lexer.text == "}" and depth:
            _close(lexer, shape.dimensions[depth - 1], counts.pop())
        elif depth < rank:
            message = f"expected braces nested {rank} deep for {shape.text(layout=False)}"
            raise lexer.error(message)
        else:
            values.append(read(lexer, element_type))
        counts[-1] += 1
        if len(counts) > 1:
            lexer.accept(",")
    return tuple(values)


def _close(lexer: HloLexer, size: int, count: int) -> None:
    """End a row; it must have as many elements as its dimension."""
    if count != size:
        raise lexer.error(f"expected {size} elements in these braces, but there are {count}")
    lexer.advance()


def _read_boolean(lexer: HloLexer, element_type: ElementType) -> bool:
    if lexer.text in _WORDS:
        return _WORDS[lexer.advance()]
    return lexer.integer(f"true, false or an integer as a value of type {element_type}") != 0


def _read_integer(lexer: HloLexer, element_type: ElementType) -> int:
    start, span = lexer.start, element_type.value_range
    value = lexer.integer(f"an integer as a value of type {element_type}")
    if element_type is ElementType.U64 and value in ElementType.S64.value_range:
        value %= 1 << ElementType.U64.bits  # XLA keeps the 64 bits of a negative number
    if value not in span:
        message = f"{value} does not fit in {element_type}, which holds the integers in {span}"
        raise lexer.error_since(start, message)
    return value


def _read_float(lexer: HloLexer, element_type: ElementType) -> float:
    if lexer.kind != "number":
        raise lexer.expected(f"a number as a value of type {element_type}")
    number, _, payload = lexer.text.partition("(")
    value, form = float(number), element_type.float_format
    if "inf" not in number and abs(value) >= form.limit:
        raise lexer.error(f"the number is too large for {element_type}")
    if payload and int(payload[:-1], 16) > form.largest_payload:
        raise lexer.error(f"the payload of the nan does not fit in {element_type}")
    lexer.advance()
    return value


def _read_complex(lexer: HloLexer, element_type: ElementType) -> complex:
    lexer.expect("(", f"before a value of type {element_type}")
    part = element_type.component
    real = _read_float(lexer, part)
    lexer.expect(",", "after the real part")
    imaginary = _read_float(lexer, part)
    lexer.expect(")", "after the imaginary part")
    return complex(real, imaginary)


_WORDS = {"true": True, "false": False}
_ELIDED = re.compile(r"\{\s*\.\.\.\s*\}")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)

_READERS: dict[Kind, Callable[[HloLexer, ElementType], Scalar]] = {
    Kind.BOOLEAN: _read_boolean,
    Kind.SIGNED: _read_integer,
    Kind.UNSIGNED: _read_integer,
    Kind.FLOAT: _read_float,
    Kind.COMPLEX: _read_complex,
}


def _text(value: Scalar, element_type: ElementType) -> str:
    if element_type.kind is Kind.COMPLEX:
        parts = complex(value).real, complex(value).imag
        return f"({', '.join(_text(each, element_type.component) for each in parts)})"
    sign = "-" if isinstance(value, float) and isnan(value) and copysign(1, value) < 0 else ""
    return sign + str(value).lower()


def _rows(texts: Iterator[str], sizes: Sequence[int]) -> str:
    if not sizes:
        return next(texts)
    rows = (_rows(texts, sizes[1:]) for _ in range(sizes[0]))
    return f"{{ {', '.join(rows)} }}" if sizes[0] else "{}"
