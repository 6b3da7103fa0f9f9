"""Dense elements, the values of constants: ``dense<[1, 2]>``, or bytes: ``dense<"0x01A2">``."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cache
from math import copysign, frexp, inf, ldexp, nan
from typing import TYPE_CHECKING, Final, TypeAlias

from indexing.layout import ElementType, Kind, Shape
from ops.mlir.mlir_lexer import MlirLexer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ops.mlir.mlir_types import Type

MAX_REPEATED: Final = 1 << 20
"""One value is repeated so often: attributes are lists of dimensions, groups and pairs."""

Number: TypeAlias = "bool | int | float | complex"


@dataclass(frozen=True, slots=True)
class DenseElements:
    """The elements of an array in row-major order; a single one stands for all.

    ``values`` is ``None`` if the text leaves them out.
    """

    shape: Shape
    values: tuple[Number, ...] | None

    @property
    def is_splat(self) -> bool:
        """Whether one value stands for all."""
        return self.values is not None and len(self.values) == 1 != self.shape.element_count

    def all_values(self) -> tuple[Number, ...] | None:
        """A value for each element; ``None`` if they are not known, or one stands for too many."""
        if self.values is None or not self.is_splat:
            return self.values
        if self.shape.element_count > MAX_REPEATED:
            return None
        return self.values * self.shape.element_count


def read_dense(lexer: MlirLexer, read_type: Callable[[], Type]) -> DenseElements:
    """Take ``dense<values> : type``.

    Raises:
        MlirTextError: the values do not fit the type.
    """
    start, is_elided = lexer.start, lexer.advance() == "dense_resource"
    body_at = lexer.start
    lexer.balanced("'<' after dense")
    lexer.expect(":", "before the type of dense elements")
    type_at, found = lexer.start, read_type()
    if not isinstance(found, Shape) or not found.is_array or found.is_unbounded:
        message = "expected the type of an array of known sizes, such as tensor<2xf32>"
        raise lexer.error_since(type_at, message)
    if is_elided:
        return DenseElements(found, None)
    inner = MlirLexer(lexer.source, lexer.file, body_at)
    inner.advance()
    values = _read_values(inner, found)
    if not (values is None or len(values) in {1, found.element_count}):
        message = f"there are {len(values)} values for {found.text(layout=False)}"
        raise lexer.error_since(start, message)
    inner.expect(">", "after dense elements")
    return DenseElements(found, values)


def _read_values(lexer: MlirLexer, shape: Shape) -> tuple[Number, ...] | None:
    if lexer.kind == "string":
        return _of_bytes(lexer, shape)
    if lexer.text == ">":
        return ()
    return tuple(_read_rows(lexer, shape, 0))


def _read_rows(lexer: MlirLexer, shape: Shape, depth: int) -> Iterator[Number]:
    """Values in brackets as deep as the shape has dimensions, or a single one."""
    if lexer.text != "[":
        if depth not in {0, shape.rank}:
            raise lexer.error(f"expected brackets nested {shape.rank} deep")
        yield _READERS[shape.element_type.kind](lexer, shape.element_type)
        return
    if depth == shape.rank:
        raise lexer.error(f"expected brackets nested {depth} deep, but these are nested deeper")
    lexer.advance()
    count, size = 0, shape.dimensions[depth]
    while not lexer.accept("]"):
        if count:
            lexer.expect(",", "or ']' after a value")
        yield from _read_rows(lexer, shape, depth + 1)
        count += 1
    if count != size:
        message = f"expected {size} elements in these brackets, but there are {count}"
        place = lexer.span_of(lexer.previous_stop - 1, lexer.previous_stop)
        raise lexer.error(message, place)


def _read_boolean(lexer: MlirLexer, _: ElementType) -> bool:
    if lexer.text not in _BOOLEANS:
        raise lexer.expected("true or false")
    return _BOOLEANS[lexer.advance()]


_BOOLEANS: Final = {"true": True, "false": False, "1": True, "0": False, "-1": True}


def _read_integer(lexer: MlirLexer, element_type: ElementType) -> int:
    start, span = lexer.start, element_type.value_range
    value = lexer.integer(f"an integer as a value of type {element_type}")
    if value not in span:
        value -= 1 << element_type.bits if "0x" in lexer.source[start : lexer.previous_stop] else 0
    if value not in span:
        message = f"{value} does not fit in {element_type}, which holds the integers in {span}"
        raise lexer.error_since(start, message)
    return value


def _read_float(lexer: MlirLexer, element_type: ElementType) -> float:
    if lexer.kind != "number":
        raise lexer.expected(f"a number as a value of type {element_type}")
    start, text = lexer.start, lexer.advance()
    if "0x" not in text:
        value = float(text)
        return copysign(inf, value) if abs(value) >= element_type.float_format.limit else value
    size = (element_type.bits + 7) // 8
    try:
        content = int(text, 16).to_bytes(size, "little")
    except OverflowError:
        message = f"{text} has more bits than {element_type}"
        raise lexer.error_since(start, message) from None
    return float(_decoded(content, element_type)[0])  # pyright: ignore[reportArgumentType] - no complex


def _read_complex(lexer: MlirLexer, element_type: ElementType) -> complex:
    lexer.expect("(", f"before a value of type {element_type}")
    real = _read_float(lexer, element_type.component)
    lexer.expect(",", "after the real part")
    imaginary = _read_float(lexer, element_type.component)
    lexer.expect(")", "after the imaginary part")
    return complex(real, imaginary)


_READERS: Final[Mapping[Kind, Callable[[MlirLexer, ElementType], Number]]] = {
    Kind.BOOLEAN: _read_boolean,
    Kind.SIGNED: _read_integer,
    Kind.UNSIGNED: _read_integer,
    Kind.FLOAT: _read_float,
    Kind.COMPLEX: _read_complex,
}


# Bytes, as JAX writes large constants.


def _of_bytes(lexer: MlirLexer, shape: Shape) -> tuple[Number, ...]:
    text = lexer.string().removeprefix("0x")
    place = lexer.span_of(lexer.previous_stop - len(text) - 4, lexer.previous_stop)
    try:
        content = bytes.fromhex(text)
    except ValueError:
        raise lexer.error('expected hexadecimal digits, such as "0x0000803F"', place) from None
    element_type = shape.element_type
    if element_type is ElementType.PRED and len(content) != shape.element_count:
        return _of_bits(content, shape.element_count)
    size = (element_type.bits + 7) // 8
    if len(content) not in {size, size * shape.element_count}:
        expected = f"{size * shape.element_count} bytes for {shape.text(layout=False)}"
        raise lexer.error(f"expected {expected}, but there are {len(content)}", place)
    return _decoded(content, element_type)


def _of_bits(content: bytes, count: int) -> tuple[bool, ...]:
    """Truth values of before LLVM 22, eight in a byte; one of ones or zeros stands for all."""
    if len(content) == 1 and content[0] in {0, 255}:
        return (content[0] == 255,) * count  # noqa: PLR2004 - all bits
    return tuple(
        bool(content[bit // 8] >> bit % 8 & 1) for bit in range(min(count, len(content) * 8))
    )


def _decoded(content: bytes, element_type: ElementType) -> tuple[Number, ...]:
    """The values of bytes."""
    if element_type is ElementType.BF16:
        pairs = (content[start : start + 2] for start in range(0, len(content), 2))
        return _decoded(b"".join(b"\0\0" + pair for pair in pairs), ElementType.F32)
    if element_type.kind is Kind.COMPLEX:
        parts = _decoded(content, element_type.component)
        return tuple(map(complex, parts[::2], parts[1::2]))  # pyright: ignore[reportArgumentType] - parts are real
    letter = _LETTERS.get(element_type)
    if letter is None:
        return tuple(map(_numbers_of_bytes(element_type).__getitem__, content))
    return struct.unpack(f"<{len(content) // element_type.bytes}{letter}", content)


@cache
def _numbers_of_bytes(element_type: ElementType) -> tuple[Number, ...]:
    """What each byte stands for, of a type with no more bits; others of the byte do not count."""
    bits, kind = element_type.bits, element_type.kind
    codes = [byte & (1 << bits) - 1 for byte in range(256)]
    if kind is Kind.BOOLEAN:
        return tuple(byte > 0 for byte in range(256))
    if kind is Kind.FLOAT:
        return tuple(_float_of(code, element_type) for code in codes)
    sign = 1 << bits - 1 if kind is Kind.SIGNED else 0
    return tuple((code ^ sign) - sign for code in codes)


def _float_of(code: int, element_type: ElementType) -> float:
    """The number with a point that some bits are: sign, exponent, and what is behind the point."""
    form, is_signed = element_type.float_format, element_type is not ElementType.F8E8M0FNU
    bits, behind = element_type.bits - is_signed, form.mantissa_bits
    is_negative, size = divmod(code, 1 << bits)
    exponent, fraction = divmod(size, 1 << behind)
    greatest = (1 << bits - behind) - 1 - (form.is_ieee or not is_signed)
    bias = greatest - (frexp(form.largest)[1] - 1)
    is_normal = exponent > 0 or not is_signed
    value = ldexp(fraction + (is_normal << behind), max(exponent, int(is_signed)) - bias - behind)
    if value > form.largest:
        value = inf if form.is_ieee and not fraction else nan
    elif is_negative and not size and element_type.endswith("fnuz"):
        value = nan
    return -value if is_negative else value


_LETTERS: Final[Mapping[ElementType, str]] = {
    ElementType.S8: "b",
    ElementType.S16: "h",
    ElementType.S32: "i",
    ElementType.S64: "q",
    ElementType.U8: "B",
    ElementType.U16: "H",
    ElementType.U32: "I",
    ElementType.U64: "Q",
    ElementType.F16: "e",
    ElementType.F32: "f",
    ElementType.F64: "d",
}
"""What Python calls the types of numbers in bytes."""
