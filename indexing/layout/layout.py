"""Arrays as XLA describes them: types of elements, :class:`Layout` in memory, and dimensions."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any, Final, Self, TypeVar

from indexing.errors import ShapeError
from simplifier.errors import INTEGER, check_integers, check_type
from simplifier.forms import EVERYTHING, Interval
from simplifier.tools.display import Displayed

# The element types of XLA: their names, widths and kinds, in one table.


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


def _ieee(exponent_bits: int, mantissa_bits: int) -> FloatFormat:
    largest = math.ldexp(2 - math.ldexp(1, -mantissa_bits), (1 << (exponent_bits - 1)) - 1)
    return FloatFormat(largest, mantissa_bits)


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
    float_format: FloatFormat
    """The numbers of a floating point type."""

    def __new__(cls, name: str, bits: int, kind: Kind, form: FloatFormat = _NO_FLOAT) -> Self:
        """Store the columns of the table beside the name."""
        member = str.__new__(cls, name)
        member._value_ = name
        member.bits = bits
        member.kind = kind
        member.float_format = form
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
    F4E2M1FN = "f4e2m1fn", 4, Kind.FLOAT, FloatFormat(6, 1, is_ieee=False)
    F8E3M4 = "f8e3m4", 8, Kind.FLOAT, _ieee(3, 4)
    F8E4M3 = "f8e4m3", 8, Kind.FLOAT, _ieee(4, 3)
    F8E4M3FN = "f8e4m3fn", 8, Kind.FLOAT, FloatFormat(448, 3, is_ieee=False)
    F8E4M3B11FNUZ = "f8e4m3b11fnuz", 8, Kind.FLOAT, FloatFormat(30, 3, is_ieee=False)
    F8E4M3FNUZ = "f8e4m3fnuz", 8, Kind.FLOAT, FloatFormat(240, 3, is_ieee=False)
    F8E5M2 = "f8e5m2", 8, Kind.FLOAT, _ieee(5, 2)
    F8E5M2FNUZ = "f8e5m2fnuz", 8, Kind.FLOAT, FloatFormat(57344, 2, is_ieee=False)
    F8E8M0FNU = "f8e8m0fnu", 8, Kind.FLOAT, FloatFormat(2.0**127, 0, is_ieee=False)
    F16 = "f16", 16, Kind.FLOAT, _ieee(5, 10)
    BF16 = "bf16", 16, Kind.FLOAT, _ieee(8, 7)
    F32 = "f32", 32, Kind.FLOAT, _ieee(8, 23)
    F64 = "f64", 64, Kind.FLOAT, _ieee(11, 52)
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

    def wider(self, other: ElementType) -> ElementType:
        """The one of two types that holds more: complex, then range, precision, width and sign.

        >>> str(ElementType.BF16.wider(ElementType.F16)), str(ElementType.U8.wider(ElementType.S8))
        ('bf16', 's8')
        """
        return max(self, other, key=ElementType._precision)

    def _precision(self) -> tuple[object, ...]:
        component = self.component
        form = component.float_format
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
        return EVERYTHING


_COMPONENTS = {ElementType.C64: ElementType.F32, ElementType.C128: ElementType.F64}

_NO_ARRAYS = {Kind.CONTAINER, Kind.HANDLE}
ARRAY_TYPES = tuple(t for t in ElementType if t.kind not in _NO_ARRAYS)
"""The element types of arrays."""


# Layout of the elements of an array in memory: `Layout`, as XLA describes it.

COMBINE_DIMENSION = -(1 << 63)
"""The tile size written ``*``: the dimension is combined with the next more minor one first."""


class LevelKind(enum.Enum):
    """Storage of one dimension of a sparse array."""

    DENSE = "D"
    COMPRESSED = "C"
    SINGLETON = "S"
    LOOSE_COMPRESSED = "H"


@dataclass(frozen=True, slots=True)
class LevelType:
    """Storage of one dimension, and whether its coordinates are unique and in order.

    >>> print(LevelType(LevelKind.COMPRESSED, unique=False, ordered=False))
    C+~
    """

    kind: LevelKind = LevelKind.DENSE
    unique: bool = True
    ordered: bool = True

    def __str__(self) -> str:
        return self.kind.value + "+" * (not self.unique) + "~" * (not self.ordered)


@dataclass(frozen=True, slots=True)
class SplitConfig:
    """A dimension whose pieces lie in different memories; each of ``indices`` starts a piece.

    ``dimension`` counts the dimensions as they lie in memory, the most major one first.

    Source: XLA, ``xla/layout.h`` and ``LayoutUtil::MaxSplitSize``.
    """

    dimension: int
    indices: tuple[int, ...]

    def __str__(self) -> str:
        return f"({self.dimension}:{_list(self.indices)})"


@dataclass(frozen=True, slots=True, repr=False)
class Layout(Displayed):
    """The order of the elements of an array in memory, their tiles, packing and memory space.

    ``minor_to_major`` lists the dimensions from the one whose index changes fastest. Each of
    ``tiles`` cuts the most minor dimensions of what the tiles before it leave;
    :data:`COMBINE_DIMENSION` stands for ``*``, and so does -1. Leading dimensions of size 1 make up
    for those that a tile has and the array lacks. Elements of padding at the end make their number
    a multiple of ``tail_padding_alignment_in_elements``.
    ``element_size_in_bits`` is 0 when elements fill whole bytes.

    The other fields do not move elements within a memory. ``memory_space`` and ``split_configs``
    say in which memory elements are; ``dynamic_shape_metadata_prefix_bytes`` are kept free before
    them for the sizes of dynamic dimensions. For a sparse array, ``dim_level_types`` say how each
    dimension is stored, ``index_primitive_type`` and ``pointer_primitive_type`` are the types of
    its coordinates and positions, and ``physical_shape`` is the shape of the tuple that holds it.

    Raises:
        ArgumentError: a field is of another kind than its annotation says.
        ShapeError: a dimension is negative or listed twice, or a size is out of its range. Whether
            a layout fits the rank of a shape is checked by :class:`~indexing.layout.shape.Shape`.

    Source: XLA, ``xla/layout.h``; the letters are those of its text.

    >>> print(Layout((1, 0), tiles=((8, 128), (2, 1)), memory_space=1))
    {1,0:T(8,128)(2,1)S(1)}
    """

    minor_to_major: tuple[int, ...]
    tiles: tuple[tuple[int, ...], ...] = ()
    memory_space: int = 0
    tail_padding_alignment_in_elements: int = 1
    element_size_in_bits: int = 0
    dim_level_types: tuple[LevelType, ...] = ()
    index_primitive_type: ElementType | None = None
    pointer_primitive_type: ElementType | None = None
    split_configs: tuple[SplitConfig, ...] = ()
    physical_shape: object | None = None
    dynamic_shape_metadata_prefix_bytes: int = 0

    def __post_init__(self) -> None:
        order = self.minor_to_major
        check_integers(order, "Layout: minor_to_major")
        check_type(self.tiles, Collection, "Layout: tiles", "a tuple of tiles")
        for tile in self.tiles:
            check_integers(tile, "Layout: a tile")
        if any(-1 in tile for tile in self.tiles):
            tiles = tuple(tuple(map(_combined, tile)) for tile in self.tiles)
            object.__setattr__(self, "tiles", tiles)
        if any(dimension < 0 for dimension in order):
            raise ShapeError(f"minor_to_major {{{_list(order)}}} has a negative dimension")
        if len(set(order)) != len(order):
            raise ShapeError(f"minor_to_major {{{_list(order)}}} lists a dimension twice")
        for name, smallest in _SMALLEST.items():
            check_type(getattr(self, name), INTEGER, f"Layout: {name}", "an integer")
            if getattr(self, name) < smallest:
                raise ShapeError(f"{name} is {getattr(self, name)}; expected at least {smallest}")

    @classmethod
    @cache
    def default(cls, rank: int) -> Layout:
        """The layout of an array without a written one: the last dimension is the most minor one.

        >>> print(Layout.default(3))
        {2,1,0}
        """
        return cls(tuple(range(rank - 1, -1, -1)))

    @property
    def major_to_minor(self) -> tuple[int, ...]:
        """The dimensions from the one whose index changes slowest."""
        return self.minor_to_major[::-1]

    @property
    def is_sparse(self) -> bool:
        """Whether a dimension is not stored densely."""
        return any(level.kind is not LevelKind.DENSE for level in self.dim_level_types)

    @property
    def memory_space_name(self) -> str:
        """The name of the memory space on a TPU.

        >>> [Layout((), memory_space=space).memory_space_name for space in (0, 1, 2, 5)]
        ['high-bandwidth memory (HBM)', 'on-chip memory (VMEM)', 'device memory 2', 'host memory']
        """
        return _MEMORY_SPACES.get(self.memory_space, f"device memory {self.memory_space}")

    @property
    def is_default(self) -> bool:
        """Whether this is the layout of an array without a written one."""
        return self == Layout.default(len(self.minor_to_major))

    def equal(
        self, other: Layout, *, ignore: Iterable[str] = (), minor_to_major_only: bool = False
    ) -> bool:
        """Whether both layouts are equal, some fields left aside.

        Args:
            other: another layout.
            ignore: names of fields that may differ, such as ``tiles`` or ``memory_space``.
            minor_to_major_only: whether all fields may differ but the order of dimensions.

        Raises:
            ShapeError: ``ignore`` names no field.

        Source: XLA's ``Layout::Equal`` and its switches.

        >>> tiled = Layout((1, 0), tiles=((8, 128),), memory_space=1)
        >>> tiled.equal(Layout((1, 0)), ignore=["tiles"])
        False
        >>> tiled.equal(Layout((1, 0)), ignore=["tiles", "memory_space"])
        True
        """
        ignored = set(LETTERS.values()) if minor_to_major_only else set(ignore)
        unknown = sorted(ignored.difference(LETTERS.values()))
        if unknown:
            fields = ", ".join(LETTERS.values())
            raise ShapeError(f"a layout has no field {unknown[0]!r} to ignore; expected {fields}")
        compared = {"minor_to_major", *LETTERS.values()} - ignored
        return all(getattr(self, name) == getattr(other, name) for name in compared)

    def check_fits(self, rank: int) -> None:
        """Raise a :class:`ShapeError` unless an array of that rank can have this layout."""
        size, levels = len(self.minor_to_major), len(self.dim_level_types)
        if size != rank:
            message = f"the shape has {rank} dimensions, but the layout {self} orders {size}"
            raise ShapeError(message)
        if levels not in (0, rank):
            found = f"the layout {self} has {levels} level types"
            raise ShapeError(f"the shape has {rank} dimensions, but {found}")
        for fault in self._faults(rank):
            raise ShapeError(f"the layout {self} {fault}")

    def _faults(self, rank: int) -> Iterator[str]:
        """What an array of that rank cannot have."""
        if any(dimension >= rank for dimension in self.minor_to_major):
            yield f"is no permutation of the dimensions 0 to {rank - 1}"
        for tile in self.tiles:
            if any(size <= 0 and size != COMBINE_DIMENSION for size in tile):
                yield "has a tile without elements"
            if not tile or tile[-1] == COMBINE_DIMENSION:
                yield "has a tile that does not end in a size"
        if any(config.dimension >= rank for config in self.split_configs):
            yield "splits a dimension that the shape does not have"
        levels = self.dim_level_types
        if any(level.kind is LevelKind.DENSE and level != LevelType() for level in levels):
            yield "has a dense dimension out of order or not unique"
        if self.is_sparse and self.tiles:
            yield "has tiles, but is for a sparse array"
        if self.physical_shape is not None and not self.is_sparse:
            yield "has a physical shape, but is not for a sparse array"

    def __str__(self) -> str:
        order, fields = _list(self.minor_to_major), "".join(self._fields())
        return f"{{{order}:{fields}}}" if fields else f"{{{order}}}"

    def _fields(self) -> list[str]:
        default = Layout.default(len(self.minor_to_major))
        return [
            letter + _WRITERS.get(name, "({})".format)(getattr(self, name))
            for letter, name in LETTERS.items()
            if getattr(self, name) != getattr(default, name)
        ]


LETTERS = {
    "D": "dim_level_types",
    "T": "tiles",
    "L": "tail_padding_alignment_in_elements",
    "#": "index_primitive_type",
    "*": "pointer_primitive_type",
    "E": "element_size_in_bits",
    "S": "memory_space",
    "SC": "split_configs",
    "P": "physical_shape",
    "M": "dynamic_shape_metadata_prefix_bytes",
}
"""The fields that may follow the colon in a layout, by letter, in the order of the text."""


_MEMORY_SPACES = {0: "high-bandwidth memory (HBM)", 1: "on-chip memory (VMEM)", 5: "host memory"}


def _list(values: Sequence[object]) -> str:
    return ",".join(map(str, values))


def write_tiles(tiles: tuple[tuple[int, ...], ...]) -> str:
    """The text of tiles, as in a layout after ``T``."""
    return "".join(f"({_list([_tile_size(size) for size in tile])})" for tile in tiles)


def _combined(size: int) -> int:
    return COMBINE_DIMENSION if size == -1 else size


def _tile_size(size: int) -> str:
    if size == COMBINE_DIMENSION:
        return "*"
    return str(size) if size >= 0 else f"Invalid value {size}"


_SMALLEST = {each.name: each.default for each in fields(Layout) if each.type == "int"}

_WRITERS: dict[str, Callable[[Any], str]] = {
    "dim_level_types": lambda levels: f"({_list(levels)})",
    "tiles": write_tiles,
    "split_configs": lambda configs: "".join(map(str, configs)),
}
"""The text of fields that are more than one value in parentheses."""


# The shape of an array: element type, dimensions and layout.

AnyShape = TypeVar("AnyShape", bound="ArrayShape")

UNBOUNDED_SIZE = -1
"""The size of a dimension written ``?``, of which no bound is known."""

_MAX_SIZE = (1 << 63) - 1
"""XLA stores sizes in 64 bits."""


SHAPE: Final = "a Shape, such as that of Shape.parse"
"""The argument that functions of shapes expect, for messages."""


@dataclass(frozen=True, slots=True, repr=False)
class ArrayShape(Displayed):
    """Element type, dimensions and layout of an array; :class:`Shape` adds tuples and text.

    An array without a layout gets the default one. ``dimensions`` are upper bounds where
    ``dynamic_dimensions`` says so (``<=n`` in the text), and :data:`UNBOUNDED_SIZE` where the size
    is unknown (``?``). ``dynamic_dimensions`` is empty when no dimension is dynamic.

    Raises:
        ArgumentError: a field is of another kind than its annotation says; an element type may be
            given by its name.
        ShapeError: a size is negative or does not fit in 64 bits, or the layout does not fit.

    >>> print(ArrayShape("f32", (2, 3)))
    f32[2,3]{1,0}
    """

    element_type: ElementType
    dimensions: tuple[int, ...] = ()
    layout: Layout | None = None
    dynamic_dimensions: tuple[bool, ...] = ()

    def __post_init__(self) -> None:
        self._complete_element_type()
        if not self.is_array:
            raise ShapeError(f"an array has no elements of type {self.element_type}")
        self._check_dimensions()
        self._complete_layout()

    def _complete_element_type(self) -> None:
        """Take an element type by its name, ``"f32"``, too."""
        if type(self.element_type) is not ElementType:
            given: object = self.element_type
            found = ElementType(given) if given in _ELEMENT_TYPES else given
            check_type(found, ElementType, "Shape: the element type", "one, such as f32")
            object.__setattr__(self, "element_type", found)

    def _check_dimensions(self) -> None:
        check_integers(self.dimensions, "Shape: dimensions")
        check_type(self.dynamic_dimensions, Sequence, "Shape: dynamic_dimensions", "flags")
        for size in self.dimensions:
            if size > _MAX_SIZE:
                raise ShapeError(f"dimension {size} does not fit in 64 bits")
            if size < 0 and size != UNBOUNDED_SIZE:
                raise ShapeError(f"dimension {size} is negative")
        if self.dynamic_dimensions and len(self.dynamic_dimensions) != self.rank:
            flags = f"{len(self.dynamic_dimensions)} flags for dynamic dimensions"
            raise ShapeError(f"the shape has {self.rank} dimensions, but {flags}")

    def _complete_layout(self) -> None:
        if self.layout is None:
            object.__setattr__(self, "layout", Layout.default(self.rank))
        else:
            check_type(self.layout, Layout, "Shape: the layout", "a Layout, or None")
            self.layout.check_fits(self.rank)
        flags = self.dynamic_dimensions or (False,) * self.rank
        flags = tuple(
            flag or size == UNBOUNDED_SIZE
            for flag, size in zip(flags, self.dimensions, strict=True)
        )
        object.__setattr__(self, "dynamic_dimensions", flags if any(flags) else ())

    @property
    def is_array(self) -> bool:
        """Whether the shape has elements, even if none or one."""
        return self.element_type.kind not in _NO_ARRAYS

    @property
    def array_layout(self) -> Layout:
        """The layout of an array.

        Raises:
            ShapeError: the shape is no array.
        """
        if self.layout is None:
            raise ShapeError(f"{self} has no layout; expected the shape of an array")
        return self.layout

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        return len(self.dimensions)

    @property
    def true_rank(self) -> int:
        """Number of dimensions that are larger than 1 or of unknown size.

        >>> from indexing.layout import Shape
        >>> Shape.parse("f32[8,1,?,1]").true_rank
        2
        """
        return sum(size > 1 or size == UNBOUNDED_SIZE for size in self.dimensions)

    @property
    def dimension_names(self) -> tuple[str, ...]:
        """The names of the dimensions in pictures: letters for 2 to 4 of them, else numbers.

        >>> from indexing.layout import Shape
        >>> for text in "f32[2,3]", "f32[2,3,4,5]", "f32[2]":
        ...     print(Shape.parse(text).dimension_names)
        ('y', 'x')
        ('p', 'z', 'y', 'x')
        ('d0',)
        """
        if self.rank in _RANKS_WITH_LETTERS:
            return tuple(_LETTERS[-self.rank :])
        return tuple(f"d{axis}" for axis in range(self.rank))

    def dimension_number(self, number: int) -> int:
        """The number of a dimension from 0; negative ones count from the last one, which is -1.

        Raises:
            ShapeError: there is no such dimension.

        >>> from indexing.layout import Shape
        >>> Shape.parse("f32[2,3,4]").dimension_number(-1)
        2
        """
        check_type(number, INTEGER, "a dimension", "its number")
        if not -self.rank <= number < self.rank:
            ends = f"expected {-self.rank} to {self.rank - 1}" if self.rank else "there is none"
            raise ShapeError(f"{self} has no dimension {number}; {ends}")
        return number % self.rank

    def size(self, number: int) -> int:
        """The size of a dimension by its number, which may be negative.

        Raises:
            ShapeError: there is no such dimension.

        >>> from indexing.layout import Shape
        >>> Shape.parse("f32[2,3,4]").size(-2)
        3
        """
        return self.dimensions[self.dimension_number(number)]

    @property
    def element_size_in_bits(self) -> int:
        """Bits of memory that one element fills: as the layout packs it, or whole bytes.

        Raises:
            ShapeError: the shape is no array.

        >>> from indexing.layout import Shape
        >>> [Shape.parse(text).element_size_in_bits for text in ("s4[8]{0:E(4)}", "s4[8]", "f32[]")]
        [4, 8, 32]
        """
        return self.array_layout.element_size_in_bits or self.element_type.bytes * 8

    @property
    def is_unbounded(self) -> bool:
        """Whether the size of a dimension is unknown."""
        return UNBOUNDED_SIZE in self.dimensions

    @property
    def element_count(self) -> int:
        """Number of elements of an array; if dimensions are dynamic, the largest possible one.

        >>> from indexing.layout import Shape
        >>> Shape.parse("f32[2,3]").element_count, Shape.parse("f32[]").element_count
        (6, 1)
        """
        return math.prod(self.dimensions)

    def with_layout(self, layout: Layout | None) -> Self:
        """The same array with another layout; with the default one for ``None``."""
        return replace(self, layout=layout)

    def with_element_type(self, element_type: ElementType) -> Self:
        """An array of the same dimensions and layout with elements of another type."""
        return replace(self, element_type=element_type)

    def text(self, *, layout: bool = True) -> str:
        """The array in XLA's form, with or without its layout."""
        flags = self.dynamic_dimensions or (False,) * self.rank
        sizes = ",".join(map(_size_text, self.dimensions, flags))
        is_scalar_default = not self.dimensions and self.layout == Layout.default(0)
        shown = str(self.layout) if layout and not is_scalar_default else ""
        return f"{self.element_type}[{sizes}]{shown}"

    @property
    def short_text(self) -> str:
        """The array in XLA's form, without a layout that is the default.

        >>> from indexing.layout import Shape
        >>> both = Shape.parse("(f32[2,3]{1,0}, f32[2,3]{0,1})").arrays
        >>> print(*(each.short_text for each in both))
        f32[2,3] f32[2,3]{0,1}
        """
        return self.text(layout=self.is_array and not self.array_layout.is_default)

    def __str__(self) -> str:
        return self.text()


def _size_text(size: int, dynamic: bool) -> str:  # noqa: FBT001  (one of a pair of columns)
    if size == UNBOUNDED_SIZE:
        return "?"
    return f"<={size}" if dynamic else str(size)


_LETTERS = "pzyx"
_RANKS_WITH_LETTERS = range(2, 5)

_ELEMENT_TYPES: tuple[object, ...] = tuple(ElementType)


def check_shapes(where: str, /, **shapes: object) -> None:
    """Raise an :class:`ArgumentError` that names the first argument that is no shape."""
    for name, shape in shapes.items():
        check_type(shape, ArrayShape, f"{where}: {name}", SHAPE)


# Dimensions reordered, deleted and reshaped, with their names.

_T = TypeVar("_T")


def reorder_dimensions(shape: AnyShape, permutation: Sequence[int]) -> AnyShape:
    """The same memory under a shape that lists dimension ``permutation[k]`` as dimension ``k``.

    Raises:
        ShapeError: the shape is no array, or ``permutation`` is none of its dimensions.

    Source: XLA's ``ShapeUtil::ReorderLogicalDimensions``.

    >>> from indexing.layout import Shape
    >>> print(reorder_dimensions(Shape.parse("f32[16,3,12,17]{1,2,0,3}"), [0, 2, 1, 3]))
    f32[16,12,3,17]{2,1,0,3}
    """
    check_integers(permutation, "reorder_dimensions: permutation")
    check_shapes("reorder_dimensions", shape=shape)
    if sorted(permutation) != list(range(shape.rank)):
        found = f"{tuple(permutation)} is no permutation of the dimensions of {shape}"
        raise ShapeError(f"reorder_dimensions: {found}")
    return _listed(shape, tuple(permutation))


def in_memory_order(shape: AnyShape) -> AnyShape:
    """The same memory under a shape that lists the dimensions as they lie in it, major first.

    Raises:
        ShapeError: the shape is no array.

    >>> from indexing.layout import Shape
    >>> print(in_memory_order(Shape.parse("f32[128,24,4]{1,2,0:T(8,128)}")))
    f32[128,4,24]{2,1,0:T(8,128)}
    """
    check_shapes("in_memory_order", shape=shape)
    return _listed(shape, shape.array_layout.major_to_minor)


def delete_dimensions(shape: AnyShape, dimensions: Iterable[int]) -> AnyShape:
    """The array without some dimensions; the others keep their order in memory, and the tiles.

    Raises:
        ShapeError: the shape is no array, there is no such dimension, or a tile has more dimensions
            than are left.

    Source: XLA's ``ShapeUtil::DeleteDimensions``.

    >>> from indexing.layout import Shape
    >>> print(delete_dimensions(Shape.parse("f32[5,3,2,7,9]{3,4,1,0,2}"), [3, 2, 1]))
    f32[5,9]{1,0}
    """
    check_integers(dimensions, "delete_dimensions: dimensions")
    check_shapes("delete_dimensions", shape=shape)
    deleted = {shape.dimension_number(number) for number in dimensions}
    return _listed(shape, tuple(k for k in range(shape.rank) if k not in deleted))


def _listed(shape: AnyShape, kept: tuple[int, ...]) -> AnyShape:
    """The array with these dimensions only, in this order."""
    layout = shape.array_layout
    positions = {number: position for position, number in enumerate(kept)}
    order = tuple(positions[number] for number in layout.minor_to_major if number in positions)
    # Splits number the dimensions as they lie in memory, major first.
    in_memory = [number for number in layout.major_to_minor if number in positions]
    ranks = {layout.major_to_minor.index(number): rank for rank, number in enumerate(in_memory)}
    splits = (
        replace(config, dimension=ranks[config.dimension])
        for config in layout.split_configs
        if config.dimension in ranks
    )
    return replace(
        shape,
        dimensions=tuple(shape.dimensions[number] for number in kept),
        dynamic_dimensions=_chosen(shape.dynamic_dimensions, kept),
        layout=replace(
            layout,
            minor_to_major=order,
            split_configs=tuple(splits),
            dim_level_types=_chosen(layout.dim_level_types, kept),
        ),
    )


def _chosen(values: tuple[_T, ...], kept: tuple[int, ...]) -> tuple[_T, ...]:
    """The entries of these dimensions, if there is one for each dimension."""
    return tuple(values[number] for number in kept) if values else ()


# A reshape. The sizes before and after it are cut from the left into the shortest blocks of as many
# elements. It mixes the dimensions of one block, and no others.


def common_blocks(
    sizes_before: Sequence[int], sizes: Sequence[int]
) -> Iterator[tuple[range, range]]:
    """The dimensions on both sides of every block of a reshape, in order.

    A dimension of size 1 that meets none of size 1 is a block without a counterpart. Of an array
    without elements, all dimensions are one block.

    Raises:
        ShapeError: the sizes have different numbers of elements.

    Source: XLA's ``CommonFactors``.

    >>> for before, after in common_blocks((4, 8, 1, 12), (32, 3, 4)):
    ...     print([*before], [*after])
    [0, 1] [0]
    [2] []
    [3] [1, 2]
    """
    _check_sizes("common_blocks", sizes_before, sizes)
    counts = math.prod(sizes_before), math.prod(sizes)
    if counts[0] != counts[1]:
        found = f"{tuple(sizes_before)} has {counts[0]}, and {tuple(sizes)} {counts[1]}"
        raise ShapeError(f"a reshape keeps the number of elements, but {found}")
    start, other = 0, 0
    while start < len(sizes_before) or other < len(sizes):
        width, other_width = _first_block(sizes_before[start:], sizes[other:])
        yield range(start, start + width), range(other, other + other_width)
        start, other = start + width, other + other_width


def _first_block(before: Sequence[int], after: Sequence[int]) -> tuple[int, int]:
    """The number of dimensions of the first block, before and after."""
    if 0 in before:
        return len(before), len(after)
    if 1 in (*before[:1], *after[:1]):
        return int([*before[:1]] == [1]), int([*after[:1]] == [1])
    width = other_width = 1
    while (count := math.prod(before[:width])) != (other := math.prod(after[:other_width])):
        if count < other:
            width += 1
        else:
            other_width += 1
    return width, other_width


def dimensions_unmodified_by_reshape(
    sizes_before: Sequence[int], sizes: Sequence[int]
) -> tuple[tuple[int, int], ...]:
    """The dimensions that a reshape does not change: their numbers before and after it.

    Each of them is a block by itself.

    Raises:
        ShapeError: the sizes have different numbers of elements.

    Source: XLA's ``ShapeUtil::DimensionsUnmodifiedByReshape``.

    >>> dimensions_unmodified_by_reshape((4, 1, 3, 5, 6, 7), (2, 6, 1, 5, 1, 42))
    ((3, 3),)
    """
    _check_sizes("dimensions_unmodified_by_reshape", sizes_before, sizes)
    return tuple(
        (before[0], after[0])
        for before, after in common_blocks(sizes_before, sizes)
        if len(before) == len(after) == 1
    )


def dimensions_after_reshape(
    sizes_before: Sequence[int], sizes: Sequence[int], dimensions: Iterable[int]
) -> tuple[int, ...] | None:
    """The numbers of dimensions after a reshape; ``None`` if it changes one of them.

    Raises:
        ShapeError: the sizes have different numbers of elements.

    Source: XLA's ``ShapeUtil::ReshapeLeavesDimensionsUnmodified``.

    >>> dimensions_after_reshape((7, 8, 12), (7, 2, 4, 12), [2, 0])
    (3, 0)
    >>> dimensions_after_reshape((7, 8, 12), (7, 2, 4, 12), [1]) is None
    True
    """
    _check_sizes("dimensions_after_reshape", sizes_before, sizes)
    check_integers(dimensions, "dimensions_after_reshape: dimensions")
    unmodified = dict(dimensions_unmodified_by_reshape(sizes_before, sizes))
    wanted = tuple(dimensions)
    if not unmodified.keys() >= set(wanted):
        return None
    return tuple(unmodified[number] for number in wanted)


@dataclass(frozen=True, slots=True)
class OneSizedDimensions:
    """The dimensions of size 1 that a reshape deletes, and those that it inserts."""

    deleted: tuple[int, ...]
    """Their numbers before the reshape."""
    inserted: tuple[int, ...]
    """Their numbers after it."""


def one_sized_dimensions_changed_by_reshape(
    sizes_before: Sequence[int], sizes: Sequence[int]
) -> OneSizedDimensions | None:
    """The dimensions of size 1 that are deleted or inserted by a reshape that does nothing else.

    ``None`` for a reshape that changes dimensions of another size, too.

    Source: XLA's ``ShapeUtil::InsertedOrDeleted1SizedDimensions``.

    >>> one_sized_dimensions_changed_by_reshape((1, 5, 3), (5, 1, 3, 1))
    OneSizedDimensions(deleted=(0,), inserted=(1, 3))
    >>> one_sized_dimensions_changed_by_reshape((15, 1), (5, 3)) is None
    True
    """
    _check_sizes("one_sized_dimensions_changed_by_reshape", sizes_before, sizes)
    if math.prod(sizes_before) != math.prod(sizes):
        return None
    blocks = [*common_blocks(sizes_before, sizes)]
    if any(len(before) + len(after) > 2 for before, after in blocks):  # noqa: PLR2004 - one each
        return None
    return OneSizedDimensions(
        tuple(axis for before, after in blocks if not after for axis in before),
        tuple(axis for before, after in blocks if not before for axis in after),
    )


def _check_sizes(where: str, before: Sequence[int], after: Sequence[int]) -> None:
    check_integers(before, f"{where}: sizes_before")
    check_integers(after, f"{where}: sizes")
