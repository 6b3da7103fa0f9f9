"""Block specifications as users write them: the shape of a block, and which one a step takes."""

from __future__ import annotations

import inspect
import operator
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from indexing import IndexingMap, Variable
from ops.pallas.errors import PallasError
from ops.performance.summary import text_of_shape
from simplifier import Interval, symbol
from simplifier.errors import INTEGER, check_integers, check_type, quoted

if TYPE_CHECKING:
    import sympy

    from indexing.layout import Shape

_AXES: Final = "ijklmnop"
"""What the axes of a grid are called if nobody says."""

_RESERVED: Final = re.compile(r"_.*|b\d+$|rt\d+$")
"""Names that an axis does not keep: those of places in a block and of prefetched values."""


@dataclass(frozen=True, slots=True)
class ElementBlock:
    """A dimension of a block that begins at any element: ``pl.Element(size, padding)``.

    The index map tells the first element, not the number of the block. It counts in the array with
    its ``padding``: as many elements before and behind it, of which the values are undefined.

    Raises:
        ArgumentError: an argument holds no integers.
        PallasError: the size is below 1, or the padding is not two numbers of at least 0.

    >>> ElementBlock(64, (0, 3)).padding
    (0, 3)
    """

    size: int
    padding: tuple[int, int] = (0, 0)

    def __post_init__(self) -> None:
        check_type(self.size, INTEGER, "ElementBlock: size", "a positive integer")
        check_integers(self.padding, "ElementBlock: padding")
        if self.size < 1:
            raise PallasError(f"ElementBlock: size is {self.size}; expected at least 1")
        if len(self.padding) != len(("before", "behind")) or min(self.padding) < 0:
            message = f"ElementBlock: padding is {tuple(self.padding)}"
            raise PallasError(f"{message}; expected two numbers of at least 0")


BlockSize: TypeAlias = "int | ElementBlock | None"
"""A dimension of a block: of a size, at any element, or ``None``: one element, which is no
dimension inside of the kernel."""

IndexFunction: TypeAlias = "Callable[..., Sequence[sympy.Expr | int] | sympy.Expr | int]"


@dataclass(frozen=True, slots=True)
class BlockSpec:
    """Which block of an array each step of a grid takes: ``pl.BlockSpec``.

    Args:
        block_shape: the size of each dimension; ``None`` is a dimension of one element that the
            kernel does not see. Without a shape the block is the whole array.
        index_map: from a step of the grid to the number of its block along each dimension, as an
            ``IndexingMap`` or as a function of symbols, as one writes it for JAX. Without one, all
            steps take the first block.
        buffers: how many blocks are kept at a time; two, so that one is fetched while the other is
            used. A number of 0 means that the array is not copied: the kernel does it by itself.

    Raises:
        ArgumentError: an argument is of another kind.
        PallasError: a size is below 1, or a number of buffers below 0.

    >>> rows = BlockSpec((128, 64), lambda i, j, k: (i, k))
    >>> print(rows.indices((2, 4, 3), rank=2))
    (i, j, k) -> (i, k), domain: i in [0, 1], j in [0, 3], k in [0, 2]
    """

    block_shape: Sequence[BlockSize] | None = None
    index_map: IndexingMap | IndexFunction | None = None
    buffers: int = 2

    def __post_init__(self) -> None:
        check_type(self.buffers, INTEGER, "BlockSpec: buffers", "an integer of at least 0")
        if self.buffers < 0:
            raise PallasError(f"BlockSpec: buffers is {self.buffers}; expected at least 0")
        if self.block_shape is not None:
            expected = "sizes, ElementBlocks or None"
            check_type(self.block_shape, Iterable, "BlockSpec: block_shape", expected)
            object.__setattr__(self, "block_shape", tuple(map(_checked, self.block_shape)))

    def block_of(self, shape: Shape) -> tuple[BlockSize, ...]:
        """The dimensions of a block of an array.

        Raises:
            PallasError: there is not one for each dimension of the array.
        """
        block = shape.dimensions if self.block_shape is None else tuple(self.block_shape)
        if len(block) != shape.rank:
            array = f"the array {text_of_shape(shape)} has {shape.rank}"
            message = f"BlockSpec: block_shape has {len(block)} dimensions, {array}"
            raise PallasError(f"{message}; expected as many")
        return block

    def indices(self, grid: Sequence[int], rank: int) -> IndexingMap:
        """The map from a step of a grid to the index of its block.

        Raises:
            PallasError: the index map does not take a step, or gives another number of results.
        """
        given = self.index_map
        if given is None:
            found = IndexingMap([0] * rank, _steps(grid, ()))
        elif isinstance(given, IndexingMap):
            found = _over_grid(given, grid)
        elif callable(given):
            names = _names_of(given, len(grid))
            found = IndexingMap(_called(given, names), _steps(grid, names))
        else:
            message = f"BlockSpec: index_map is {quoted(given)}"
            raise PallasError(f"{message}; expected a function, an IndexingMap or None")
        if len(found.forms) != rank:
            message = f"BlockSpec: index_map gives {len(found.forms)} results"
            raise PallasError(f"{message}; expected {rank}, one for each dimension of the array")
        return found


def extent(size: BlockSize) -> int:
    """How many elements a block has along a dimension."""
    return 1 if size is None else size.size if isinstance(size, ElementBlock) else size


def elements_of(block: Sequence[BlockSize]) -> int:
    """How many elements a block has."""
    return prod(map(extent, block))


def text_of_block(block: Sequence[BlockSize]) -> str:
    """A block as its sizes: ``(128, None, Element(64))``.

    >>> text_of_block((128, None, ElementBlock(64)))
    '(128, None, Element(64))'
    """
    return f"({', '.join(map(_text_of_size, block))})"


def _text_of_size(size: BlockSize) -> str:
    if not isinstance(size, ElementBlock):
        return str(size)
    padding = f", padding {size.padding}" if any(size.padding) else ""
    return f"Element({size.size}{padding})"


def _checked(size: BlockSize) -> BlockSize:
    if size is None or isinstance(size, ElementBlock):
        return size
    check_type(size, INTEGER, "BlockSpec: a size of block_shape", "an integer, or None")
    if size < 1:
        raise PallasError(f"BlockSpec: block_shape has the size {size}; expected at least 1")
    return int(size)


def axis_names(count: int) -> tuple[str, ...]:
    """What the axes of a grid are called: ``i``, ``j``, ``k`` and so on.

    >>> axis_names(3)
    ('i', 'j', 'k')
    """
    return tuple(_AXES[:count]) if count <= len(_AXES) else tuple(f"i{n}" for n in range(count))


def _steps(grid: Sequence[int], names: Sequence[str]) -> list[Variable]:
    given = names or axis_names(len(grid))
    return [Variable.of_size(size, name) for size, name in zip(grid, given, strict=True)]


def _over_grid(given: IndexingMap, grid: Sequence[int]) -> IndexingMap:
    if len(given.dims) != len(grid) or given.ranges:
        message = f"BlockSpec: index_map is {given}; expected a dimension for each of the"
        raise PallasError(f"{message} {len(grid)} axes of the grid, and no ranges")
    names = [variable.name for variable in given.dims]
    others = (given.constraints, given.parameters, given.runtime)
    if any(others) or any(map(_RESERVED.fullmatch, names)):
        expected = "expected no other variables or conditions, and no dimension named b0, b1 ..."
        raise PallasError(f"BlockSpec: index_map is {given}; {expected}")
    for axis, (variable, size) in enumerate(zip(given.dims, grid, strict=True)):
        if not variable.bounds.contains(Interval(0, size - 1)):
            message = f"BlockSpec: {variable.name} of index_map is in {variable.bounds}"
            raise PallasError(f"{message}; expected all {size} steps along axis {axis} of the grid")
    return given.replace(dims=_steps(grid, names))


def _names_of(function: IndexFunction, count: int) -> tuple[str, ...]:
    """The names of the arguments, if the function takes one for each axis of the grid."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # of a builtin
        return axis_names(count)
    if any(each.kind is each.VAR_POSITIONAL for each in parameters):
        return axis_names(count)
    names = tuple(each.name for each in parameters)
    if len(names) != count:
        message = f"BlockSpec: index_map takes {len(names)} arguments"
        raise PallasError(f"{message}; expected {count}, one for each axis of the grid")
    return axis_names(count) if any(map(_RESERVED.match, names)) else names


def _called(function: IndexFunction, names: Sequence[str]) -> list[Any]:
    found = function(*map(symbol, names))
    results = [*cast("Iterable[Any]", found)] if isinstance(found, (tuple, list)) else [found]
    return [_plain(each) for each in results]


def _plain(result: object) -> object:
    """An integer of NumPy as one of Python; anything else as it is."""
    is_integer = hasattr(result, "__index__") and getattr(result, "shape", None) == ()
    return operator.index(cast("Any", result)) if is_integer else result
