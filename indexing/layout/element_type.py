"""The element types of XLA: their names, widths and kinds, in one table."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass
from typing import Self

from simplifier.forms import Interval


class Kind(enum.Enum):
    """The kind of an element type."""

    BOOLEAN = "boolean"
    SIGNED = "signed integer"
    UNSIGNED = "unsigned integer"
    FLOAT = "floating point number"
    COMPLEX = "complex number"
    CONTAINER = "container of shapes"
    """Tuples and buffers, which hold other shapes."""
    HANDLE = "handle"
    """Tokens and opaque values, which have no elements and no size."""


@dataclass(frozen=True, slots=True)
class FloatFormat:
    """The largest finite number of a type, its bits behind the point, and whether it has an inf."""

    largest: float
    mantissa_bits: int
    is_ieee: bool = True

    @property
    def limit(self) -> float:
        """The least number that is rounded beyond the largest one.

        >>> ElementType.F16.float_format.limit
        65520.0
        """
        _, exponent = math.frexp(self.largest)
        return self.largest + math.ldexp(0.5, exponent - 1 - self.mantissa_bits)

    @property
    def largest_payload(self) -> int:
        """The largest payload of a nan; types without inf have nans without payload."""
        return (1 << self.mantissa_bits) - 1 if self.is_ieee else 0


_NO_FLOAT = FloatFormat(0, -1)


class ElementType(enum.StrEnum):
    """The type of one element of a shape; its value is XLA's name.

    ``bits`` is the width of a value. In memory an element fills whole bytes unless the layout
    packs it.

    >>> ElementType.BF16, str(ElementType("bf16")), ElementType.BF16.bits, ElementType.BF16.kind
    (<ElementType.BF16: 'bf16'>, 'bf16', 16, <Kind.FLOAT: 'floating point number'>)
    >>> ElementType.S4.value_range, ElementType.S4.bytes
    (Interval(lower=-8, upper=7), 1)
    """

    bits: int
    kind: Kind

    def __new__(cls, name: str, bits: int, kind: Kind) -> Self:
        """Store the columns of the table beside the name."""
        member = str.__new__(cls, name)
        member._value_ = name
        member.bits = bits
        member.kind = kind
        return member

    PRED = "pred", 1, Kind.BOOLEAN
    S1 = "s1", 1, Kind.SIGNED
    S2 = "s2", 2, Kind.SIGNED
    S4 = "s4", 4, Kind.SIGNED
    S8 = "s8", 8, Kind.SIGNED
    S16 = "s16", 16, Kind.SIGNED
    S32 = "s32", 32, Kind.SIGNED
    S64 = "s64", 64, Kind.SIGNED
    U1 = "u1", 1, Kind.UNSIGNED
    U2 = "u2", 2, Kind.UNSIGNED
    U4 = "u4", 4, Kind.UNSIGNED
    U8 = "u8", 8, Kind.UNSIGNED
    U16 = "u16", 16, Kind.UNSIGNED
    U32 = "u32", 32, Kind.UNSIGNED
    U64 = "u64", 64, Kind.UNSIGNED
    F4E2M1FN = "f4e2m1fn", 4, Kind.FLOAT
    F8E3M4 = "f8e3m4", 8, Kind.FLOAT
    F8E4M3 = "f8e4m3", 8, Kind.FLOAT
    F8E4M3FN = "f8e4m3fn", 8, Kind.FLOAT
    F8E4M3B11FNUZ = "f8e4m3b11fnuz", 8, Kind.FLOAT
    F8E4M3FNUZ = "f8e4m3fnuz", 8, Kind.FLOAT
    F8E5M2 = "f8e5m2", 8, Kind.FLOAT
    F8E5M2FNUZ = "f8e5m2fnuz", 8, Kind.FLOAT
    F8E8M0FNU = "f8e8m0fnu", 8, Kind.FLOAT
    F16 = "f16", 16, Kind.FLOAT
    BF16 = "bf16", 16, Kind.FLOAT
    F32 = "f32", 32, Kind.FLOAT
    F64 = "f64", 64, Kind.FLOAT
    C64 = "c64", 64, Kind.COMPLEX
    C128 = "c128", 128, Kind.COMPLEX
    TUPLE = "tuple", 0, Kind.CONTAINER
    BUFFER = "b", 0, Kind.CONTAINER
    TOKEN = "token", 0, Kind.HANDLE
    OPAQUE = "opaque", 0, Kind.HANDLE

    @property
    def bytes(self) -> int:
        """Bytes of memory that one element fills when it is not packed."""
        return -(-self.bits // 8)

    @property
    def component(self) -> ElementType:
        """The type of the real and the imaginary part; the type itself, if it is not complex."""
        return _COMPONENTS.get(self, self)

    @property
    def float_format(self) -> FloatFormat:
        """The numbers of a floating point type."""
        return _FLOAT_FORMATS[self]

    def wider(self, other: ElementType) -> ElementType:
        """The one of two types that holds more: complex, then range, precision, width and sign.

        >>> str(ElementType.BF16.wider(ElementType.F16)), str(ElementType.U8.wider(ElementType.S8))
        ('bf16', 's8')
        """
        return max(self, other, key=ElementType._precision)

    def _precision(self) -> tuple[object, ...]:
        component = self.component
        form = _FLOAT_FORMATS.get(component, _NO_FLOAT)
        is_signed = component.kind is Kind.SIGNED
        range_and_precision = (form.largest, form.mantissa_bits)
        return (component is not self, *range_and_precision, component.bits, is_signed)

    @property
    def value_range(self) -> Interval:
        """The integers that an element can be; unbounded for other types."""
        if self.kind is Kind.SIGNED:
            return Interval(-(1 << (self.bits - 1)), (1 << (self.bits - 1)) - 1)
        if self.kind in {Kind.UNSIGNED, Kind.BOOLEAN}:
            return Interval(0, (1 << self.bits) - 1)
        return Interval(None, None)


def _ieee(exponent_bits: int, mantissa_bits: int) -> FloatFormat:
    largest = math.ldexp(2 - math.ldexp(1, -mantissa_bits), (1 << (exponent_bits - 1)) - 1)
    return FloatFormat(largest, mantissa_bits)


_FLOAT_FORMATS = {
    ElementType.F4E2M1FN: FloatFormat(6, 1, is_ieee=False),
    ElementType.F8E3M4: _ieee(3, 4),
    ElementType.F8E4M3: _ieee(4, 3),
    ElementType.F8E4M3FN: FloatFormat(448, 3, is_ieee=False),
    ElementType.F8E4M3B11FNUZ: FloatFormat(30, 3, is_ieee=False),
    ElementType.F8E4M3FNUZ: FloatFormat(240, 3, is_ieee=False),
    ElementType.F8E5M2: _ieee(5, 2),
    ElementType.F8E5M2FNUZ: FloatFormat(57344, 2, is_ieee=False),
    ElementType.F8E8M0FNU: FloatFormat(2.0**127, 0, is_ieee=False),
    ElementType.F16: _ieee(5, 10),
    ElementType.BF16: _ieee(8, 7),
    ElementType.F32: _ieee(8, 23),
    ElementType.F64: _ieee(11, 52),
}

_COMPONENTS = {ElementType.C64: ElementType.F32, ElementType.C128: ElementType.F64}

ARRAY_TYPES = tuple(t for t in ElementType if t.kind not in {Kind.CONTAINER, Kind.HANDLE})
"""The element types of arrays."""
