"""Layout of the elements of an array in memory: :class:`Layout`, as XLA describes it."""

from __future__ import annotations

import enum
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from indexing.errors import ShapeError
from indexing.layout.element_type import ElementType
from simplifier.errors import INTEGER, check_integers, check_type

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


@dataclass(frozen=True, slots=True)
class Layout:
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
        check_integers(self.minor_to_major, "Layout: minor_to_major")
        check_type(self.tiles, Collection, "Layout: tiles", "a tuple of tiles")
        for tile in self.tiles:
            check_integers(tile, "Layout: a tile")
        if any(-1 in tile for tile in self.tiles):
            tiles = tuple(tuple(map(_combined, tile)) for tile in self.tiles)
            object.__setattr__(self, "tiles", tiles)
        if any(dimension < 0 for dimension in self.minor_to_major):
            raise ShapeError(
                f"minor_to_major {_braces(self.minor_to_major)} has a negative dimension"
            )
        if len(set(self.minor_to_major)) != len(self.minor_to_major):
            raise ShapeError(
                f"minor_to_major {_braces(self.minor_to_major)} lists a dimension twice"
            )
        for name, smallest in _SMALLEST.items():
            check_type(getattr(self, name), INTEGER, f"Layout: {name}", "an integer")
            if getattr(self, name) < smallest:
                raise ShapeError(f"{name} is {getattr(self, name)}; expected at least {smallest}")

    @classmethod
    def default(cls, rank: int) -> Layout:
        """The layout of an array without a written one: the last dimension is the most minor one.

        >>> print(Layout.default(3))
        {2,1,0}
        """
        return _default(rank)

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
        return self == _default(len(self.minor_to_major))

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
        return self.minor_to_major == other.minor_to_major and all(
            getattr(self, name) == getattr(other, name)
            for name in LETTERS.values()
            if name not in ignored
        )

    def check_fits(self, rank: int) -> None:
        """Raise a :class:`ShapeError` unless an array of that rank can have this layout."""
        size = len(self.minor_to_major)
        if size != rank:
            raise ShapeError(
                f"the shape has {rank} dimensions, but the layout {self} orders {size}"
            )
        if any(dimension >= rank for dimension in self.minor_to_major):
            raise ShapeError(
                f"the layout {self} is no permutation of the dimensions 0 to {rank - 1}"
            )
        self._check_tiles()
        if any(config.dimension >= rank for config in self.split_configs):
            raise ShapeError(f"the layout {self} splits a dimension that the shape does not have")
        self._check_levels(rank)

    def _check_tiles(self) -> None:
        for tile in self.tiles:
            if any(size <= 0 and size != COMBINE_DIMENSION for size in tile):
                raise ShapeError(f"the layout {self} has a tile without elements")
            if not tile or tile[-1] == COMBINE_DIMENSION:
                raise ShapeError(f"the layout {self} has a tile that does not end in a size")

    def _check_levels(self, rank: int) -> None:
        if self.dim_level_types and len(self.dim_level_types) != rank:
            levels = len(self.dim_level_types)
            raise ShapeError(
                f"the shape has {rank} dimensions, but the layout {self} has {levels} level types"
            )
        dense = {level for level in self.dim_level_types if level.kind is LevelKind.DENSE}
        if dense - {LevelType()}:
            raise ShapeError(f"the layout {self} has a dense dimension out of order or not unique")
        if self.is_sparse and self.tiles:
            raise ShapeError(f"the layout {self} has tiles, but is for a sparse array")
        if self.physical_shape is not None and not self.is_sparse:
            raise ShapeError(
                f"the layout {self} has a physical shape, but is not for a sparse array"
            )

    def __str__(self) -> str:
        order, fields = _list(self.minor_to_major), "".join(self._fields())
        return f"{{{order}:{fields}}}" if fields else f"{{{order}}}"

    def _fields(self) -> list[str]:
        default = _default(len(self.minor_to_major))
        return [
            letter + _WRITERS.get(name, _parenthesised)(getattr(self, name))
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


_MEMORY_SPACES = {
    0: "high-bandwidth memory (HBM)",
    1: "on-chip memory (VMEM)",
    5: "host memory",
}


@cache
def _default(rank: int) -> Layout:
    return Layout(tuple(range(rank - 1, -1, -1)))


def _list(values: Sequence[object]) -> str:
    return ",".join(map(str, values))


def _braces(values: Sequence[object]) -> str:
    return f"{{{_list(values)}}}"


def _parenthesised(value: object) -> str:
    return f"({value})"


def _write_levels(levels: tuple[LevelType, ...]) -> str:
    return f"({_list(levels)})"


def write_tiles(tiles: tuple[tuple[int, ...], ...]) -> str:
    """The text of tiles, as in a layout after ``T``."""
    return "".join(f"({_list([_tile_size(size) for size in tile])})" for tile in tiles)


def _combined(size: int) -> int:
    return COMBINE_DIMENSION if size == -1 else size


def _tile_size(size: int) -> str:
    if size == COMBINE_DIMENSION:
        return "*"
    return str(size) if size >= 0 else f"Invalid value {size}"


def _write_splits(configs: tuple[SplitConfig, ...]) -> str:
    return "".join(map(str, configs))


_SMALLEST = {
    "memory_space": 0,
    "tail_padding_alignment_in_elements": 1,
    "element_size_in_bits": 0,
    "dynamic_shape_metadata_prefix_bytes": 0,
}

_WRITERS: dict[str, Callable[[Any], str]] = {
    "dim_level_types": _write_levels,
    "tiles": write_tiles,
    "split_configs": _write_splits,
}
"""The text of fields that are more than one value in parentheses."""
