"""Swizzles of CuTe, which flip bits of an offset by higher or lower ones: ``Sw<3,4,3>``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from indexing.errors import ShapeError
from indexing.layout.cute.cute_layout import CuteLayout
from indexing.layout.cute.layout_algebra import composition
from simplifier.errors import INTEGER, check_type
from simplifier.tools.display import html_of_text

if TYPE_CHECKING:
    from indexing.layout.cute.int_tuple import IntTuple
    from indexing.layout.cute.layout_algebra import Tiler


@dataclass(frozen=True, slots=True, repr=False)
class Swizzle:
    """The function ``x xor (the bits of x that are shifted onto others)``; it is its own inverse.

    ``bits`` bits change. The lowest of them is bit ``base`` if the shift is positive: then they
    meet the bits that are ``shift`` places higher. With a negative shift, the bits from ``base`` on
    meet those that are ``-shift`` places higher, and these change.

    Source: CuTe (NVIDIA/cutlass, include/cute/swizzle.hpp).

    Raises:
        ArgumentError: a field is no integer.
        ShapeError: bits or base are negative, or the bits that change overlap those that do it.

    >>> swizzle = Swizzle(3, 4, 3)
    >>> print(swizzle, swizzle(128), swizzle(swizzle(1000)))
    Sw<3,4,3> 144 1000
    """

    bits: int
    base: int
    shift: int

    def __post_init__(self) -> None:
        """Check the fields."""
        for name in ("bits", "base", "shift"):
            check_type(getattr(self, name), INTEGER, f"Swizzle: {name}", "an integer")
        if min(self.bits, self.base) < 0 or abs(self.shift) < self.bits:
            expected = "expected bits and base of at least 0, and a shift of at least so many bits"
            raise ShapeError(f"Swizzle: {self}; {expected}")

    @property
    def source(self) -> int:
        """The lowest bit that flips another."""
        return self.base + max(0, self.shift)

    @property
    def target(self) -> int:
        """The lowest bit that is flipped."""
        return self.base - min(0, self.shift)

    @property
    def size(self) -> int:
        """The offsets after which the swizzle repeats.

        >>> Swizzle(3, 4, 3).size
        1024
        """
        return 1 << (self.bits + self.base + abs(self.shift))

    def __call__(self, offset: int) -> int:
        """The offset that a swizzle makes of one."""
        return offset ^ (((offset >> self.source) & ((1 << self.bits) - 1)) << self.target)

    def __str__(self) -> str:
        return f"Sw<{self.bits},{self.base},{self.shift}>"

    def __repr__(self) -> str:
        return f"Swizzle({self.bits}, {self.base}, {self.shift})"

    def _repr_html_(self) -> str:
        return html_of_text(str(self))


@dataclass(frozen=True, slots=True, repr=False)
class ComposedLayout:
    """A swizzle of the offsets of a layout: ``swizzle(offset + layout(coordinate))``.

    Raises:
        ArgumentError: a field is of another kind than its annotation says.

    >>> from indexing.layout.cute import parse
    >>> rows = ComposedLayout(Swizzle(3, 4, 3), 0, parse("(8,64):(64,1)"))
    >>> print(rows, rows(1, 0), rows(2, 0))
    Sw<3,4,3> o 0 o (8,64):(64,1) 64 144
    """

    swizzle: Swizzle
    offset: int
    layout: CuteLayout

    def __post_init__(self) -> None:
        """Check the fields."""
        check_type(self.swizzle, Swizzle, "ComposedLayout: the swizzle", "a Swizzle")
        check_type(self.offset, INTEGER, "ComposedLayout: the offset", "an integer")
        check_type(self.layout, CuteLayout, "ComposedLayout: the layout", "a CuteLayout")

    @property
    def size(self) -> int:
        """The number of coordinates."""
        return self.layout.size

    def __call__(self, *coordinate: IntTuple) -> int:
        """The offset of a coordinate.

        Raises:
            ArgumentError: the coordinate is no integer or tuple of these.
            ShapeError: the coordinate is nested in another way than the shape.
        """
        return self.swizzle(self.offset + self.layout(*coordinate))

    def composed(self, tiler: Tiler) -> ComposedLayout:
        """The composition with a tiler, which runs first.

        Raises:
            ArgumentError: the tiler is none.
            ShapeError: as :func:`~indexing.layout.cute.composition`.

        >>> from indexing.layout.cute import parse_composed
        >>> print(parse_composed("Sw<3,4,3> o 0 o (8,64):(64,1)").composed((4, 32)))
        Sw<3,4,3> o 0 o (4,32):(64,1)
        """
        return ComposedLayout(self.swizzle, self.offset, composition(self.layout, tiler))

    def __str__(self) -> str:
        return f"{self.swizzle} o {self.offset} o {self.layout}"

    def __repr__(self) -> str:
        return f"cute.parse_composed('{self}')"

    def _repr_html_(self) -> str:
        return html_of_text(str(self))
