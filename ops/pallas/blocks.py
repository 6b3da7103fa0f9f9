"""An array of a call of Pallas: which block of it each step of the grid takes.

Steps are questions of exact sets over their coordinates, which are in the order in which the steps
run: the last axis of the grid is the fastest. A size of the grid that is not known is a parameter
of maps; in the sets it is a coordinate before all others.
"""

from __future__ import annotations

import inspect
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial, reduce
from math import prod
from typing import Any, Final, Literal, NamedTuple, TypeAlias, cast

import sympy

from indexing import IndexingMap, IndexRelation, IndexSet, Variable
from indexing.layout import Shape
from ops.performance.tally import bytes_of
from simplifier import BitAnd, BitOr, BitXor, FloorDiv, Min, Mod, bounds_of, symbol
from simplifier.errors import INTEGER, IndexingError, check_integers, check_type, quoted
from simplifier.forms import Interval
from simplifier.tools.display import Displayed

# Errors in a call of Pallas, its grid or its blocks.


class PallasError(IndexingError, ValueError):
    """A grid, a block or an index map that makes no sense, or that cannot be read."""


# Block specifications as users write them: the shape of a block, and which one a step takes.

_AXES: Final = "ijklmnop"
"""The names of the axes of a grid by default."""

_RESERVED: Final = re.compile(r"_.*|b\d+$|rt\d+$")
"""Names that an axis does not keep: those of places in a block and of prefetched values."""


@dataclass(frozen=True, slots=True)
class ElementBlock:
    """A dimension of a block that begins at any element: ``pl.Element(size, padding)``.

    The index map tells the first element, not the number of the block. It counts in the array with
    its ``padding``: as many elements before and behind it, of which the values are undefined.
    With a ``length``, an expression over the step, it is ``pl.BoundedSlice(size)``: of the block,
    only so many elements are taken.

    Raises:
        ArgumentError: the size or the padding holds no integers.
        PallasError: the size is below 1, or the padding is not two numbers of at least 0.

    >>> ElementBlock(64, (0, 3)).padding
    (0, 3)
    """

    size: int
    padding: tuple[int, int] = (0, 0)
    length: sympy.Expr | int | None = None

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

GridSize: TypeAlias = "int | sympy.Symbol"
"""How many steps there are along an axis: a number, or a symbol if only the program knows it."""


@dataclass(frozen=True, slots=True)
class BlockSpec:
    """The block of an array that each step of a grid takes: ``pl.BlockSpec``.

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
            array = f"the array {shape.short_text} has {shape.rank}"
            message = f"BlockSpec: block_shape has {len(block)} dimensions, {array}"
            raise PallasError(f"{message}; expected as many")
        return block

    def indices(self, grid: Sequence[GridSize], rank: int) -> IndexingMap:
        """The map from a step of a grid to the index of its block.

        Raises:
            PallasError: the index map does not take a step, or gives another number of results.
        """
        given = self.index_map
        if given is None:
            found = over_grid([0] * rank, grid)
        elif isinstance(given, IndexingMap):
            found = _over_grid(given, grid)
        elif callable(given):
            names = _names_of(given, len(grid))
            found = over_grid(_called(given, names), grid, names)
        else:
            message = f"BlockSpec: index_map is {quoted(given)}"
            raise PallasError(f"{message}; expected a function, an IndexingMap or None")
        if len(found.forms) != rank:
            message = f"BlockSpec: index_map gives {len(found.forms)} results"
            raise PallasError(f"{message}; expected {rank}, one for each dimension of the array")
        return found


def extent(size: BlockSize) -> int:
    """Number of elements of a block along a dimension."""
    return 1 if size is None else size.size if isinstance(size, ElementBlock) else size


def _text_of_size(size: BlockSize) -> str:
    """The size as in ``(128, None, Element(64))``.

    >>> _text_of_size(ElementBlock(64, (1, 0)))
    'Element(64, padding (1, 0))'
    """
    if not isinstance(size, ElementBlock):
        return str(size)
    if size.length is not None:
        return f"BoundedSlice({size.size}, {size.length} taken)"
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
    """Names of the axes of a grid: ``i``, ``j``, ``k`` and so on.

    >>> axis_names(3)
    ('i', 'j', 'k')
    """
    return tuple(_AXES[:count]) if count <= len(_AXES) else tuple(f"i{n}" for n in range(count))


def steps_of(grid: Sequence[GridSize], names: Sequence[str] = ()) -> list[Variable]:
    """The axes of a grid as variables, of these names."""
    given = names or axis_names(len(grid))
    return [Variable.of_size(size, name) for size, name in zip(grid, given, strict=True)]


def over_grid(
    results: Sequence[Any],
    grid: Sequence[GridSize],
    names: Sequence[str] = (),
    *,
    ranges: Sequence[Variable] = (),
    runtime: Sequence[Variable] = (),
    constraints: Iterable[Any] = (),
) -> IndexingMap:
    """The map from the steps of a grid; sizes that are not known are its parameters."""
    steps = dict(zip(names or axis_names(len(grid)), grid, strict=True))
    parts = {"ranges": ranges, "runtime": runtime}
    return IndexingMap.over(steps, results, **parts, constraints=constraints)


def _over_grid(given: IndexingMap, grid: Sequence[GridSize]) -> IndexingMap:
    if len(given.dims) != len(grid) or given.ranges:
        message = f"BlockSpec: index_map is {given}; expected a dimension for each of the"
        raise PallasError(f"{message} {len(grid)} axes of the grid, and no ranges")
    names = [variable.name for variable in given.dims]
    others = (given.constraints, given.parameters, given.runtime)
    if any(others) or any(map(_RESERVED.fullmatch, names)):
        expected = "expected no other variables or conditions, and no dimension named b0, b1 ..."
        raise PallasError(f"BlockSpec: index_map is {given}; {expected}")
    for axis, (variable, size) in enumerate(zip(given.dims, grid, strict=True)):
        last = size - 1 if isinstance(size, int) else None
        if not variable.bounds.contains(Interval(0, last)):
            message = f"BlockSpec: {variable.name} of index_map is in {variable.bounds}"
            raise PallasError(f"{message}; expected all {size} steps along axis {axis} of the grid")
    return over_grid(given.results, grid, names)


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


# Blocked arrays.


class PrefetchedScalar(NamedTuple):
    """Origin of a runtime variable of an index map: an element of a prefetched operand.

    ``map`` leads from a step of the grid to the element.
    """

    operand: str
    map: IndexingMap


class OutOfBoundsBlock(NamedTuple):
    """A step of the grid that takes a block which lies outside of its array.

    ``values`` are those of runtime variables for which it does.
    """

    array: str
    step: tuple[int, ...]
    block: tuple[int, ...]
    axis: int
    valid: Interval
    values: tuple[tuple[str, int], ...] = ()

    def __str__(self) -> str:
        given = "".join(f", for {name} = {value}" for name, value in self.values)
        expected = f"expected {self.valid} along dimension {self.axis}"
        if (self.valid.upper or 0) < (self.valid.lower or 0):
            expected = f"no block fits along dimension {self.axis}"
        return f"{self.array}: step {self.step} takes block {self.block}{given}; {expected}"


AccessKind: TypeAlias = Literal["read", "write", "update"]
"""What a kernel does with elements; steps that update the same ones, atomically, may do so at the
same time."""


class BlockAccess(NamedTuple):
    """Elements of its block that a step reads or writes, in one place of the kernel.

    Attributes:
        kind: what the kernel does with them.
        places: the map from the step to the elements, as the kernel counts them.
        is_certain: whether it certainly does so: all conditions and indices are known.
    """

    kind: AccessKind
    places: IndexingMap
    is_certain: bool


class OutOfBoundsAccess(NamedTuple):
    """A step in which the kernel certainly reads, writes or updates an element beyond its block."""

    array: str
    kind: AccessKind
    step: tuple[int, ...]
    element: tuple[int, ...]
    axis: int
    valid: Interval

    def __str__(self) -> str:
        expected = f"expected {self.valid} along dimension {self.axis}"
        what = f"step {self.step} {self.kind}s element {self.element} of its block"
        return f"{self.array}: {what}; {expected}"


class BlockTraffic(NamedTuple):
    """Copies of an array, or to it, as the grid runs.

    Attributes:
        copies: of a block; one that the next step takes again stays.
        bytes: that they move, without what lies outside of the array.
        needed_bytes: of the different elements.
    """

    copies: int
    bytes: int
    needed_bytes: int


@dataclass(frozen=True, repr=False)
class BlockedArray(Displayed):
    """An operand or a result of a call of Pallas, in blocks.

    Attributes:
        name: how the call names it, such as ``output 0``.
        shape: of the whole array.
        block: the dimensions of a block.
        indices: the map from a step of the grid to what the index map gives.
        buffers: how many blocks are in fast memory at a time; 0 if the kernel copies by itself.
        prefetched: where each runtime variable of the index map comes from.
        accesses: what the kernel reads and writes; ``None`` if no kernel is given.
        is_direct: whether the kernel does so in the array itself, and not in a copy of the block.

    >>> from indexing.layout import Shape
    >>> from ops.pallas import BlockSpec
    >>> spec = BlockSpec((128, 64), lambda i, j: (j, i))
    >>> x = BlockedArray.of("x", Shape.parse("f32[256,100]"), spec, (2, 2))
    >>> print(x.elements)
    (i, j)[b0, b1] -> (j * 128 + b0, i * 64 + b1), domain: i in [0, 1], j in [0, 1],
    b0 in [0, 127], b1 in [0, 63], i * 64 + b1 in [0, 99]
    >>> x.block_bytes, x.traffic()
    (32768, BlockTraffic(copies=4, bytes=102400, needed_bytes=102400))
    """

    name: str
    shape: Shape
    block: tuple[BlockSize, ...]
    indices: IndexingMap
    buffers: int = 2
    prefetched: tuple[PrefetchedScalar, ...] = field(default=(), compare=False)
    accesses: tuple[BlockAccess, ...] | None = field(default=None, compare=False)
    is_direct: bool = False

    @classmethod
    def of(cls, name: str, shape: Shape, spec: BlockSpec, grid: Sequence[GridSize]) -> BlockedArray:
        """The array in the blocks of a specification.

        Raises:
            PallasError: the specification does not fit the array or the grid.
        """
        block = spec.block_of(shape)
        return cls(name, shape, block, spec.indices(grid, shape.rank), spec.buffers)

    # Maps.

    @cached_property
    def elements(self) -> IndexingMap:
        """The map from a step, and each place in its block, to an element of the array.

        Elements outside of the array are padding, and outside of the domain.
        """
        places = [symbol(f"b{axis}") for axis in range(self.shape.rank)]
        sizes = {str(place): extent(size) for place, size in zip(places, self.block, strict=True)}
        taken = [
            place < size.length
            for place, size in zip(places, self.block, strict=True)
            if isinstance(size, ElementBlock) and size.length is not None
        ]
        inside = self._exact.replace(results=places, ranges=sizes, runtime=(), constraints=taken)
        return self._of_places(inside, places).simplify()

    def accessed(self, access: BlockAccess) -> IndexingMap:
        """The map from a step to the elements of the array that it reads or writes so."""
        kept = iter(access.places.results)
        places = [sympy.S.Zero if size is None else next(kept) for size in self.block]
        return self._of_places(access.places, places)

    def _of_places(self, places: IndexingMap, results: Iterable[sympy.Expr]) -> IndexingMap:
        """The map to elements of the array, from a map to places in the block."""
        indices = self._exact
        rows = zip(indices.results, self.block, results, strict=True)
        elements = [index * _step_of(size) + place - _before(size) for index, size, place in rows]
        limits = [Interval(0, size - 1) for size in self.shape.dimensions]
        inside = zip(elements, limits, strict=True)
        constraints = [*indices.constraints, *places.constraints, *inside]
        runtime = (*indices.runtime, *places.runtime)
        return places.replace(results=elements, runtime=runtime, constraints=constraints)

    @cached_property
    def _exact(self) -> IndexingMap:
        """The map from a step to its block, as exact sets know it: with digits in place of bits."""
        indices = self.indices
        bounds = {each.name: each.bounds for each in (*indices.dims, *indices.runtime)}
        in_digits = partial(_in_digits, bounds=bounds)
        results = [each.replace(_is_of_bits, in_digits) for each in indices.results]
        return indices.replace(results=results).simplify()

    @property
    def places(self) -> IndexingMap:
        """The map from a step to its block, or to the elements of it if blocks may overlap.

        Steps whose blocks are out of bounds are none of its domain.
        """
        if any(isinstance(size, ElementBlock) for size in self.block):
            return self.elements
        valid = zip(self._exact.results, self.valid_indices(), strict=True)
        return self._exact.replace(constraints=[*self._exact.constraints, *valid])

    def touched(
        self, *kinds: AccessKind, is_certain: bool = False
    ) -> IndexRelation[IndexingMap] | None:
        """The steps with the elements that they read or write, or those that they certainly do.

        Of a block that is copied, all are; a kernel that has the array itself says which. ``None``
        if there are no such elements.
        """
        maps = [self.elements]
        if self.is_direct:
            maps = [
                self.accessed(each)
                for each in self.accesses or ()
                if each.kind in kinds and each.is_certain >= is_certain
            ]
        known = [each for each in maps if not (is_certain and each.runtime)]
        return IndexRelation(*map(in_one_grid, known)) if known else None

    @property
    def depends_on_values(self) -> bool:
        """Whether prefetched values decide which blocks are taken."""
        return bool(self.indices.runtime)

    # Memory.

    @property
    def block_bytes(self) -> int:
        """The bytes of a block."""
        return self._bytes(prod(map(extent, self.block)))

    @property
    def buffer_bytes(self) -> int:
        """The bytes of all its blocks that are in fast memory at a time."""
        return self.block_bytes * self.buffers

    def traffic(self) -> BlockTraffic | None:
        """The copies as the grid runs; ``None`` if values decide it, or the kernel copies."""
        if self.depends_on_values or not self.buffers or self.indices.parameters:
            return None
        changes = self.changes()
        moved = IndexRelation(self.elements).restrict(changes)
        points = sum(int(each.count()) for each in moved.maps) if moved else 0
        needed = int(self.elements.image().count())
        return BlockTraffic(int(changes.count()), self._bytes(points), self._bytes(needed))

    def _bytes(self, elements: int) -> int:
        return int(bytes_of(elements, self.shape.element_size_in_bits))

    # Bounds.

    def valid_indices(self) -> tuple[Interval, ...]:
        """Valid values of the index map for each dimension: blocks that begin within the array.

        The last block may reach beyond the array. One that begins at any element must lie within
        the array and its padding.
        """
        return tuple(map(_valid, self.shape.dimensions, self.block))

    def out_of_bounds(self) -> OutOfBoundsBlock | None:
        """The first step that takes a block outside of the array; ``None`` is a proof.

        >>> from indexing.layout import Shape
        >>> from ops.pallas import BlockSpec
        >>> spec = BlockSpec((1, 16, 1, 128), lambda l, i, j: (1, l, 1, j))
        >>> b = BlockedArray.of("b", Shape.parse("f32[1,32,1,512]"), spec, (2, 3, 4))
        >>> print(b.out_of_bounds())
        b: step (0, 0, 0) takes block (1, 0, 1, 0); expected [0, 0] along dimension 0
        """
        found = [*self._each_out_of_bounds()]
        return min(found, key=lambda each: (each.step, each.axis), default=None)

    def _each_out_of_bounds(self) -> Iterator[OutOfBoundsBlock]:
        """The first step for each dimension and side."""
        exact = counted(self._exact)
        values = [Variable(each.bounds, each.name) for each in exact.runtime]
        at_all = exact.replace(dims=[*exact.dims, *values], runtime=())
        names = [each.name for each in at_all.dims]
        steps = slice(len(self.indices.parameters), len(exact.dims))
        for axis, valid in enumerate(self.valid_indices()):
            first, size = at_all.results[axis], self.block[axis]
            length = size.length if isinstance(size, ElementBlock) else None
            last = first if length is None else first + length - 1
            beyond = (first, Interval(None, -1)), (last, Interval((valid.upper or 0) + 1, None))
            for index, outside in beyond:
                found = at_all.with_constraint(index, outside).domain_set()
                if found:
                    point = found.lexmin()
                    given = [*zip(names, point, strict=True)]
                    block, step = tuple(map(int, at_all.evaluate(point))), point[steps]
                    others = (*given[: steps.start], *given[steps.stop :])
                    yield OutOfBoundsBlock(self.name, step, block, axis, valid, others)

    def accesses_out_of_bounds(self) -> OutOfBoundsAccess | None:
        """The first step in which the kernel reads or writes beyond its block.

        Where conditions are not known, or values decide the place, nothing is said.
        """
        found = map(self._beyond, self.accesses or ())
        return min((each for each in found if each), key=lambda each: each.step, default=None)

    def _beyond(self, access: BlockAccess) -> OutOfBoundsAccess | None:
        if not access.is_certain or access.places.runtime:
            return None
        places = counted(access.places)
        bounds = {each.name: each.bounds for each in (*places.dims, *places.ranges)}
        inside = [Interval(0, extent(size) - 1) for size in self.block if size is not None]
        for axis, (index, valid) in enumerate(zip(places.results, inside, strict=True)):
            if valid.contains(bounds_of(index, bounds)):
                continue
            for beyond in (Interval(None, -1), Interval((valid.upper or 0) + 1, None)):
                outside = IndexRelation(places.with_constraint(index, beyond))
                if outside:
                    point = outside.domain_set().lexmin()
                    element = outside.apply(IndexSet.box(*point)).lexmin()
                    step = point[len(access.places.parameters) :]
                    return OutOfBoundsAccess(self.name, access.kind, step, element, axis, valid)
        return None

    def unwritten(self) -> IndexSet | None:
        """The elements of the array that no step writes; ``None`` if values decide it."""
        if self.depends_on_values or self.indices.parameters:
            return None
        everything = IndexSet.from_sizes(self.shape.dimensions)
        written = self.touched("write", "update")
        return everything - written.image() if written else everything

    # Steps in the order in which they run.

    def changes(self) -> IndexSet:
        """The steps that take another block than the step before; the first step does.

        If values decide the blocks, all may.
        """
        steps = IndexRelation(in_one_grid(self._exact.replace(results=[], runtime=())))
        if self.depends_on_values:
            return steps.domain_set()
        blocks = IndexRelation(in_one_grid(self._exact))
        before = steps.compose(steps.inverse()).to_earlier().lexmax()
        return steps.domain_set() - (before.compose(blocks) & blocks).domain_set()

    # Text.

    def __str__(self) -> str:
        block = ", ".join(map(_text_of_size, self.block))
        return f"{self.name} {self.shape.short_text} in blocks ({block}): {self.indices}"


def counted(given: IndexingMap) -> IndexingMap:
    """A map from steps with the unknown sizes of the grid as dimensions before them."""
    if not given.parameters:
        return given
    sizes = [Variable(Interval(1, _MAX_SIZE), each.name) for each in given.parameters]
    steps = [
        Variable(each.bounds.intersect(Interval(0, _MAX_SIZE)), each.name) for each in given.dims
    ]
    return given.replace(dims=[*sizes, *steps], constraints=given.constraints, parameters=())


def in_one_grid(given: IndexingMap) -> IndexingMap:
    """A map whose steps have a result in common only if the unknown sizes of the grid agree."""
    sizes = [symbol(each.name) for each in given.parameters]
    return counted(given.replace(results=[*sizes, *given.results]))


_MAX_SIZE: Final = 2**31 - 1
"""Of an axis of a grid."""


def _is_of_bits(expression: sympy.Basic) -> bool:
    return isinstance(expression, (BitAnd, BitOr, BitXor))


def _in_digits(function: sympy.Expr, bounds: Mapping[str, Interval]) -> sympy.Expr:
    """A function of bits by binary digits: both have the smaller one, and the first is the sign."""

    def of_two(one: Any, other: Any) -> Any:  # noqa: ANN401 - expressions of sympy
        ranges = (bounds_of(each, bounds) for each in (one, other))
        ends = [end for each in ranges for end in (each.lower, each.upper)]
        sign = max(_BITS if end is None else max(end, ~end).bit_length() for end in ends)
        both = sum(
            (-1 if place == sign else 1)
            * 2**place
            * Min(*(Mod(FloorDiv(each, 2**place), 2) for each in (one, other)))
            for place in range(sign + 1)
        )
        if isinstance(function, BitAnd):
            return both
        return one + other - (both if isinstance(function, BitOr) else 2 * both)

    return reduce(of_two, function.args)


_BITS: Final = 31
"""Of an integer that is not bounded, without its sign."""


def _step_of(size: BlockSize) -> int:
    """Number of elements for each unit that the index map gives."""
    return size if isinstance(size, int) else 1


def _before(size: BlockSize) -> int:
    return size.padding[0] if isinstance(size, ElementBlock) else 0


def _valid(array_size: int, size: BlockSize) -> Interval:
    if isinstance(size, ElementBlock) and size.length is not None:
        return Interval(0, array_size - 1)
    if isinstance(size, ElementBlock):
        return Interval(0, array_size + sum(size.padding) - size.size)
    return Interval(0, -(-array_size // extent(size)) - 1)
