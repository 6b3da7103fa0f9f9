"""CuTe's algebra of layouts: compositions, complements, inverses, tilings, parts, and swizzles.

A profile or tiler that is a tuple applies an operation mode by mode.

Source: CuTe's documentation (NVIDIA/cutlass, media/docs/cpp/cute/02_layout_algebra.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cmp_to_key, partial
from typing import Any, TypeAlias, TypeVar, Union, overload

from indexing.errors import ShapeError
from indexing.layout.cute.layout import (
    CuteLayout,
    IntTuple,
    KnownSizes,
    LayoutT,
    N,
    Number,
    NumberTuple,
    SymbolicLayout,
    compact_strides,
    equal,
    flattened,
    made,
    of_modes,
    text_of,
    unflattened,
)
from simplifier.errors import INTEGER, check_type
from simplifier.forms import Form
from simplifier.tools.display import Displayed

_Offset = TypeVar("_Offset", int, Form)

Tiler: TypeAlias = Union[SymbolicLayout, int, "tuple[Tiler, ...]", None]
"""A layout, a size ``n`` for ``n:1``, a tuple with one for each mode; ``None`` changes nothing.

It may have symbols where the layout is a :class:`SymbolicLayout`: a result is of the layout's type.
"""

Leaf: TypeAlias = "tuple[Number, Number]"
"""A size and its stride."""

Operation: TypeAlias = Callable[[Any, Any], Any]
"""A layout made of a layout and a tiler, or another argument for each mode."""


def coalesce(layout: LayoutT, profile: IntTuple | None = None) -> LayoutT:
    """The same function of an index with as few modes as possible.

    Where a profile is a tuple, its modes are coalesced each by itself; its integers only mark them.

    Raises:
        ShapeError: the profile has more modes than the layout.

    >>> from indexing.layout.cute import parse
    >>> print(coalesce(parse("(2,(1,6)):(1,(6,2))")))
    12:1
    >>> print(coalesce(parse("(2,(1,6)):(1,(6,2))"), (1, 1)))
    (2,6):(1,2)
    """
    check_type(layout, SymbolicLayout, "coalesce: the layout", "a CuteLayout")
    if isinstance(profile, tuple):
        return _by_mode("coalesce", coalesce, layout, profile)
    return _from_leaves(_joined(layout.leaves, KnownSizes(layout.facts)), layout)


def _from_leaves(leaves: Iterable[Leaf], *of: LayoutT) -> LayoutT:
    """The layout of these sizes and strides: one mode without a tuple, and 1:0 for none."""
    given = tuple(leaves)
    if len(given) < 2:  # noqa: PLR2004 - one needs no tuple
        return made(*(given[0] if given else (1, 0)), of)
    sizes, strides = zip(*given, strict=True)
    return made(sizes, strides, of)


def _joined(leaves: Iterable[Leaf], known: KnownSizes) -> list[Leaf]:
    """The leaves without sizes of 1, each joined with the next where it continues it.

    What may be of size 1 stays: then it has one coordinate, 0.
    """
    joined: list[Leaf] = []
    for size, stride in leaves:
        if known.holds(equal(size, 1)):
            continue
        if joined and known.holds(equal(joined[-1][0] * joined[-1][1], stride)):
            joined[-1] = (joined[-1][0] * size, joined[-1][1])
        else:
            joined.append((size, stride))
    return joined


def _by_mode(name: str, operation: Operation, layout: LayoutT, tiler: tuple[Any, ...]) -> LayoutT:
    """The layout whose first modes an operation has changed, each with its part of the tiler."""
    changed = [operation(mode, part) for mode, part in _pairs(name, layout, tiler)]
    return of_modes([*changed, *layout.modes[len(tiler) :]])


def _pairs(name: str, layout: LayoutT, tiler: tuple[Any, ...]) -> list[tuple[LayoutT, Any]]:
    """The first modes, each with its part of the tiler."""
    modes = layout.modes
    if len(modes) < len(tiler):
        expected = f"expected at most {len(modes)}, as many as {layout} has"
        raise ShapeError(f"{name}: {len(tiler)} parts for the modes; {expected}")
    return [*zip(modes, tiler, strict=False)]


def by_tiler(name: str, operation: Operation, layout: LayoutT, tiler: Tiler) -> LayoutT:
    """The result of an operation on a layout and a tiler: mode by mode for a tuple.

    Raises:
        ArgumentError: the layout or the tiler is none.
        ShapeError: the tuple has more parts than the layout modes.
    """
    check_type(layout, SymbolicLayout, f"{name}: the layout", "a CuteLayout")
    if tiler is None:
        return layout
    if isinstance(tiler, tuple):
        return _by_mode(name, partial(by_tiler, name, operation), layout, tiler)
    tile = made(tiler, None, [layout]) if isinstance(tiler, int) else tiler
    kind = CuteLayout if layout.facts is None else SymbolicLayout
    check_type(tile, kind, f"{name}: the tiler", f"a {kind.__name__}, a size, or a tuple")
    both = layout, tile
    if layout.facts != tile.facts:
        return operation(*(made(each.shape, each.stride, both) for each in both))
    return operation(*both)


def composition(layout: LayoutT, tiler: Tiler) -> LayoutT:
    """The layout ``layout o tiler``: the tiler runs first, its offsets are indices of the layout.

    As in CuTe, each mode of the tiler is composed by itself. So the result is the composed function
    where the offsets of the modes add up without a carry between the modes of ``layout``.

    Raises:
        ArgumentError: the tiler is none, or has symbols, but not the layout.
        ShapeError: a stride or size of the tiler does not divide, or is not divided by, a size of
            the layout that it meets; the tuple has more parts than the layout modes.

    >>> from indexing.layout.cute import parse
    >>> print(composition(parse("(6,2):(8,2)"), parse("(4,3):(3,1)")))
    ((2,2),3):((24,2),8)
    >>> print(composition(parse("(12,(4,8)):(59,(13,1))"), (parse("3:4"), parse("8:2"))))
    (3,(2,4)):(236,(26,1))
    """
    return by_tiler("composition", _composed, layout, tiler)


def _composed(layout: LayoutT, tiler: LayoutT) -> LayoutT:
    if isinstance(tiler.shape, tuple):
        return of_modes(_composed(layout, mode) for mode in tiler.modes)
    ((size, stride),) = tiler.leaves
    return _from_leaves(_strided(layout, size, stride), layout)


def _strided(layout: SymbolicLayout, size: Number, stride: Number) -> list[Leaf]:
    """Every ``stride``-th element of a layout, and of these the first ``size``."""
    known = KnownSizes(
        layout.facts, lambda: f"composition: {layout} o {text_of(size)}:{text_of(stride)}"
    )
    if known.decided(equal(stride, 0)):
        return [(size, 0)]
    sign = 1 if known.decided(stride > 0) else -1
    found: list[Leaf] = []
    *leaves, (end, last) = coalesce(layout).leaves
    rest, step = size, sign * stride
    for length, distance in leaves:
        if known.holds(equal(length % step, 0)):
            whole, next_step = known.simplest(length // step), 1
        elif known.holds(equal(step % length, 0)):
            whole, next_step = 1, known.simplest(step // length)
        else:
            raise _indivisible(known, "stride", step, length)
        if known.at_most(rest, whole):
            taken = rest
        elif known.holds(equal(rest % whole, 0)):
            taken = whole
        else:
            raise _indivisible(known, "size", rest, whole)
        if not known.holds(equal(taken, 1)):
            found.append((taken, sign * step * distance))
        rest, step = known.simplest(rest // taken), next_step
    if not known.at_most(rest, end):
        known.decided(end > 1)  # of size 1, another mode would be the one that goes on
    if not known.holds(equal(rest, 1)) or not found:
        found.append((rest, sign * step * last))
    return found


def _indivisible(known: KnownSizes, what: str, number: Number, size: Number) -> ShapeError:
    remainder = size % number if isinstance(number, int) else number % size
    message = f"of the {what} {number} and the size {size} neither divides the other"
    return known.refusal(message, equal(remainder, 0))


def complement(layout: LayoutT, cotarget: NumberTuple = 1) -> LayoutT:
    """The repetitions of a layout that fill the offsets up to the product of ``cotarget``.

    Raises:
        ShapeError: a stride is negative, or no multiple of what smaller strides reach.

    >>> from indexing.layout.cute import parse
    >>> print(complement(parse("4:2"), 24), complement(parse("(2,2):(1,6)"), 24))
    (2,3):(1,8) (3,2):(2,12)
    """
    check_type(layout, SymbolicLayout, "complement: the layout", "a CuteLayout")
    whole = made(cotarget, None, [layout])
    known = KnownSizes(whole.facts, lambda: f"complement: {layout}")
    found: list[Leaf] = []
    filled: Number = 1
    for stride, size, _ in _by_stride(layout, known):
        gap = known.simplest(stride // filled)
        if not (known.holds(equal(stride % filled, 0)) and known.holds(gap >= 1)):
            expected = f"expected a multiple of {filled}, where the smaller strides end"
            raise known.refusal(f"the stride {stride}; {expected}", equal(stride % filled, 0))
        if not known.holds(equal(gap, 1)) and not known.holds(equal(whole.size % stride, 0)):
            known.decided(size > 1)  # of size 1, it would leave no gap
        found.append((gap, filled))
        filled = size * stride
    found.append((-(-whole.size // filled), filled))
    return _from_leaves(_joined(found, known), whole)


def _by_stride(layout: SymbolicLayout, known: KnownSizes) -> list[tuple[Number, Number, Number]]:
    """Stride, size and index of the modes that count, the least strides first."""
    pairs = zip(layout.leaves, flattened(compact_strides(layout.shape)), strict=True)
    leaves: list[Any] = [
        (stride, size, index)
        for (size, stride), index in pairs
        if not known.holds(equal(size, 1)) and not known.decided(equal(stride, 0))
    ]
    return sorted(leaves, key=cmp_to_key(known.compared) if known.facts else None)


def right_inverse(layout: LayoutT) -> LayoutT:
    """The longest layout ``R`` with ``layout(R(i)) == i`` for each of its indices.

    >>> from indexing.layout.cute import parse
    >>> print(right_inverse(parse("(4,8):(8,1)")), right_inverse(parse("(4,8):(1,5)")))
    (8,4):(4,1) 4:1
    """
    check_type(layout, SymbolicLayout, "right_inverse: the layout", "a CuteLayout")
    known = KnownSizes(layout.facts, lambda: f"right_inverse: {layout}")
    found: list[Leaf] = []
    reached: Number = 1
    leaves = _by_stride(layout, known)
    for place, (stride, size, index) in enumerate(leaves, start=1):
        if not known.decided(equal(stride, reached)):
            if place < len(leaves):
                known.decided(size > 1)  # of size 1, the next one might go on
            break
        found.append((size, index))
        reached = size * stride
    return _from_leaves(_joined(found, known), layout)


def left_inverse(layout: LayoutT) -> LayoutT:
    """The layout ``L`` with ``L(layout(i)) == i``, for a layout that repeats no offset.

    As CuTe makes it, of the layout and its complement. Of indices that a stride of 0 repeats, it
    gives the first. A layout whose strides interleave, such as ``(2,3):(6,4)``, or leave a gap that
    they do not divide, such as ``(2,3):(1,3)``, has no complement and is refused; ``pycute``
    answers with a size of 0, or with what inverts only some offsets.

    Raises:
        ShapeError: as :func:`complement`.

    >>> from indexing.layout.cute import parse
    >>> left = left_inverse(parse("(4,8):(1,8)"))
    >>> print(left)
    (4,2,8):(1,32,4)
    >>> [left(offset) for offset in (0, 3, 8, 59)]
    [0, 3, 4, 31]
    """
    return right_inverse(of_modes([layout, complement(layout)]))


def filter_zeros(layout: LayoutT) -> LayoutT:
    """The layout without the modes that repeat offsets: those of stride 0 have size 1.

    >>> from indexing.layout.cute import parse
    >>> print(filter_zeros(parse("(4,(2,3)):(1,(0,4))")))
    (4,(1,3)):(1,(0,4))
    """
    check_type(layout, SymbolicLayout, "filter_zeros: the layout", "a CuteLayout")
    known = KnownSizes(layout.facts, lambda: f"filter_zeros: {layout}")
    sizes = [1 if known.decided(equal(stride, 0)) else size for size, stride in layout.leaves]
    return made(unflattened(iter(sizes), layout.shape), layout.stride, [layout])


# Parts and other views of a layout.

Coordinate: TypeAlias = Union[N, "tuple[Coordinate[N], ...]", None]
"""A coordinate in which ``None`` stands for all of a mode, as ``_`` in CuTe."""


@overload
def slice_and_offset(coordinate: Coordinate[int], layout: CuteLayout) -> tuple[CuteLayout, int]: ...
@overload
def slice_and_offset(coordinate: Coordinate[Number], layout: LayoutT) -> tuple[LayoutT, Number]: ...
def slice_and_offset(coordinate: Coordinate[Number], layout: LayoutT) -> tuple[LayoutT, Number]:
    """The modes that a coordinate leaves free, and the offset of the rest.

    Raises:
        ShapeError: the coordinate is nested in another way than the shape, or leaves nothing free.

    >>> from indexing.layout.cute import parse
    >>> row, offset = slice_and_offset((2, None), parse("(4,(2,4)):(8,(1,2))"))
    >>> print(row, offset)
    ((2,4)):((1,2)) 16
    """
    check_type(layout, SymbolicLayout, "slice_and_offset: the layout", "a CuteLayout")
    free = [*_free_modes(coordinate, layout)]
    if not free:
        raise ShapeError("slice_and_offset: the coordinate leaves no mode free; expected a None")
    return of_modes(free), layout(_with_zeros(coordinate))


def _free_modes(coordinate: Coordinate[Number], layout: LayoutT) -> Iterator[LayoutT]:
    if coordinate is None:
        yield layout
    elif isinstance(coordinate, tuple):
        if not isinstance(layout.shape, tuple) or len(coordinate) != layout.rank:
            expected = f"expected parts as in {text_of(layout.shape)}"
            raise ShapeError(f"slice_and_offset: {len(coordinate)} parts; {expected}")
        for part, mode in zip(coordinate, layout.modes, strict=True):
            yield from _free_modes(part, mode)


def _with_zeros(coordinate: Coordinate[Number]) -> NumberTuple:
    if isinstance(coordinate, tuple):
        return tuple(map(_with_zeros, coordinate))
    return 0 if coordinate is None else coordinate


def with_shape(layout: LayoutT, shape: NumberTuple) -> LayoutT:
    """The same offsets, by an index of another shape.

    Raises:
        ShapeError: as :func:`~indexing.layout.cute.composition`.

    >>> from indexing.layout.cute import parse
    >>> print(with_shape(parse("(4,8):(8,1)"), (2, 2, 8)))
    (2,2,8):(8,16,1)
    """
    check_type(layout, SymbolicLayout, "with_shape: the layout", "a CuteLayout")
    return composition(layout, made(shape, None, [layout]))


def recast(layout: LayoutT, old_bits: int, new_bits: int) -> LayoutT:
    """The same memory, in elements of another width: ``recast<Old, New>``.

    Raises:
        ArgumentError: an argument is of another kind than its annotation says.
        ShapeError: neither width divides the other, or elements of the new width are not whole.

    >>> from indexing.layout.cute import parse
    >>> print(recast(parse("(4,8):(8,1)"), 16, 32), recast(parse("(4,8):(8,1)"), 16, 8))
    (4,4):(4,1) (4,16):(16,1)
    """
    check_type(layout, SymbolicLayout, "recast: the layout", "a CuteLayout")
    for bits in (old_bits, new_bits):
        check_type(bits, INTEGER, "recast: a number of bits", "an integer of at least 1")
    if min(old_bits, new_bits) < 1 or (old_bits % new_bits and new_bits % old_bits):
        expected = "expected one to divide the other"
        raise ShapeError(f"recast: from {old_bits} to {new_bits} bits; {expected}")
    known = KnownSizes(layout.facts, lambda: f"recast: {layout}")
    if old_bits >= new_bits:
        leaves = [_narrowed(*leaf, old_bits // new_bits, known) for leaf in layout.leaves]
    else:
        leaves = [_widened(*leaf, new_bits // old_bits, known) for leaf in layout.leaves]
    sizes, strides = (unflattened(iter(each), layout.shape) for each in zip(*leaves, strict=True))
    return made(sizes, strides, [layout])


def _narrowed(size: Number, stride: Number, count: int, known: KnownSizes) -> Leaf:
    """Elements next to each other are ``count`` times as many, others as much further apart."""
    is_next = known.decided(equal(stride, 1)) or known.decided(equal(stride, -1))
    return (size * count, stride) if is_next else (size, stride * count)


def _widened(size: Number, stride: Number, count: int, known: KnownSizes) -> Leaf:
    """Of elements that are in one of the new width, one is left."""
    if known.decided(equal(stride, 0)):
        return size, 0
    sign = 1 if known.decided(stride > 0) else -1
    distance = sign * stride
    if known.holds(equal(distance % count, 0)):
        return size, sign * (distance // count)
    together = count // distance
    if known.holds(equal(count % distance, 0)) and known.holds(equal(size % together, 0)):
        return size // together, sign
    message = f"{text_of(size)}:{text_of(stride)} are not whole elements of {count} times the width"
    raise known.refusal(message, equal(distance % count, 0))


# Tilings of CuTe: divides split a layout into tiles, products repeat it over another.
#
# Source: CuTe's documentation (NVIDIA/cutlass, media/docs/cpp/cute/02_layout_algebra.md).


def logical_divide(layout: LayoutT, tiler: Tiler) -> LayoutT:
    """Two modes for each that is divided: the tile, and the layout of the tiles.

    Raises:
        ArgumentError: the tiler is none, or has symbols, but not the layout.
        ShapeError: as :func:`~indexing.layout.cute.composition` and
            :func:`~indexing.layout.cute.complement`.

    >>> from indexing.layout.cute import parse
    >>> print(logical_divide(parse("(4,2,3):(2,1,8)"), parse("4:2")))
    ((2,2),(2,3)):((4,1),(2,8))
    """
    return by_tiler("logical_divide", _divided, layout, tiler)


def _divided(layout: LayoutT, tile: LayoutT) -> LayoutT:
    return composition(layout, of_modes([tile, complement(tile, layout.size)]))


def zipped_divide(layout: LayoutT, tiler: Tiler) -> LayoutT:
    """The divided layout in two modes: all tiles, and all rests.

    Raises:
        ArgumentError: the tiler is none, or has symbols, but not the layout.
        ShapeError: as :func:`logical_divide`.

    >>> from indexing.layout.cute import parse
    >>> print(zipped_divide(parse("(9,(4,8)):(59,(13,1))"), (parse("3:3"), parse("(2,4):(1,8)"))))
    ((3,(2,4)),(3,(2,2))):((177,(13,2)),(59,(26,1)))
    """
    return _zipped("zipped_divide", logical_divide, layout, tiler)


def tiled_divide(layout: LayoutT, tiler: Tiler) -> LayoutT:
    """The divided layout with all tiles in the first mode and each rest in one of its own.

    Raises:
        ArgumentError: the tiler is none, or has symbols, but not the layout.
        ShapeError: as :func:`logical_divide`.

    >>> from indexing.layout.cute import parse
    >>> print(tiled_divide(parse("(8,16):(16,1)"), (4, 8)))
    ((4,8),2,2):((16,1),64,8)
    """
    tile, rest = zipped_divide(layout, tiler).modes
    return of_modes([tile, *rest.modes])


def flat_divide(layout: LayoutT, tiler: Tiler) -> LayoutT:
    """The divided layout with each tile and each rest in a mode of its own.

    Raises:
        ArgumentError: the tiler is none, or has symbols, but not the layout.
        ShapeError: as :func:`logical_divide`.

    >>> from indexing.layout.cute import parse
    >>> print(flat_divide(parse("(8,16):(16,1)"), (4, 8)))
    (4,8,2,2):(16,1,64,8)
    """
    tile, rest = zipped_divide(layout, tiler).modes
    return of_modes([*tile.modes, *rest.modes])


def logical_product(layout: LayoutT, tiler: Tiler) -> LayoutT:
    """Two modes: the layout, and its repetitions in the order of the tiler.

    Raises:
        ArgumentError: the tiler is none, or has symbols, but not the layout.
        ShapeError: as :func:`~indexing.layout.cute.composition` and
            :func:`~indexing.layout.cute.complement`.

    >>> from indexing.layout.cute import parse
    >>> print(logical_product(parse("(2,2):(4,1)"), parse("6:1")))
    ((2,2),(2,3)):((4,1),(2,8))
    """
    return by_tiler("logical_product", _multiplied, layout, tiler)


def _multiplied(layout: LayoutT, tiler: LayoutT) -> LayoutT:
    free = complement(layout, layout.size * tiler.cosize)
    return of_modes([layout, composition(free, tiler)])


def zipped_product(layout: LayoutT, tiler: Tiler) -> LayoutT:
    """The product in two modes: all parts of the layout, and all repetitions.

    Raises:
        ArgumentError: the tiler is none, or has symbols, but not the layout.
        ShapeError: as :func:`logical_product`.

    >>> from indexing.layout.cute import parse
    >>> print(zipped_product(parse("(2,5):(5,1)"), (parse("3:5"), parse("4:6"))))
    ((2,5),(3,4)):((5,1),(10,30))
    """
    return _zipped("zipped_product", logical_product, layout, tiler)


def tiled_product(layout: LayoutT, tiler: Tiler) -> LayoutT:
    """The product with the layout in the first mode and each repetition in one of its own.

    Raises:
        ArgumentError: the tiler is none, or has symbols, but not the layout.
        ShapeError: as :func:`logical_product`.

    >>> from indexing.layout.cute import parse
    >>> print(tiled_product(parse("(2,2):(4,1)"), parse("6:1")))
    ((2,2),2,3):((4,1),2,8)
    """
    tile, rest = zipped_product(layout, tiler).modes
    return of_modes([tile, *rest.modes])


def flat_product(layout: LayoutT, tiler: Tiler) -> LayoutT:
    """The product with each part of the layout and each repetition in a mode of its own.

    Raises:
        ArgumentError: the tiler is none, or has symbols, but not the layout.
        ShapeError: as :func:`logical_product`.

    >>> from indexing.layout.cute import parse
    >>> print(flat_product(parse("(2,2):(4,1)"), parse("6:1")))
    (2,2,2,3):(4,1,2,8)
    """
    tile, rest = zipped_product(layout, tiler).modes
    return of_modes([*tile.modes, *rest.modes])


def blocked_product(block: LayoutT, tiler: SymbolicLayout) -> LayoutT:
    """A block repeated over a tiler, mode by mode: in each mode, the block counts fastest.

    Raises:
        ShapeError: as :func:`logical_product`.

    >>> from indexing.layout.cute import parse
    >>> print(blocked_product(parse("(2,5):(5,1)"), parse("(3,4):(1,3)")))
    (6,(5,4)):(5,(1,30))
    """
    return _reassociated("blocked_product", block, tiler, first=0)


def raked_product(block: LayoutT, tiler: SymbolicLayout) -> LayoutT:
    """A block interleaved with a tiler, mode by mode: in each mode, the tiler counts fastest.

    Raises:
        ShapeError: as :func:`logical_product`.

    >>> from indexing.layout.cute import parse
    >>> print(raked_product(parse("(2,5):(5,1)"), parse("(3,4):(1,3)")))
    ((3,2),(4,5)):((10,5),(30,1))
    """
    return _reassociated("raked_product", block, tiler, first=1)


def _zipped(name: str, split: Operation, layout: LayoutT, tiler: Tiler) -> LayoutT:
    """The two modes of each part of a tiler, all first ones together and all second ones."""
    check_type(layout, SymbolicLayout, f"{name}: the layout", "a CuteLayout")
    if tiler is None:
        return of_modes([made(1, 0, [layout]), layout])
    if not isinstance(tiler, tuple):
        return split(layout, tiler)
    pairs = [_zipped(name, split, *pair).modes for pair in _pairs(name, layout, tiler)]
    rests = [rest for _, rest in pairs] + [*layout.modes[len(tiler) :]]
    return of_modes([of_modes(tile for tile, _ in pairs), of_modes(rests)])


def _reassociated(name: str, block: LayoutT, tiler: SymbolicLayout, first: int) -> LayoutT:
    check_type(block, SymbolicLayout, f"{name}: the block", "a CuteLayout")
    check_type(tiler, SymbolicLayout, f"{name}: the tiler", "a CuteLayout")
    rank = max(block.rank, tiler.rank)
    both = logical_product(_of_rank(block, rank), _of_rank(tiler, rank)).modes
    pairs = zip(both[first].modes, both[1 - first].modes, strict=True)
    return coalesce(of_modes([of_modes(pair) for pair in pairs]), (1,) * rank)


def _of_rank(layout: LayoutT, rank: int) -> LayoutT:
    """A layout with modes 1:0 behind its own."""
    modes = layout.modes
    return of_modes([*modes, *[made(1, 0, [layout])] * (rank - len(modes))])


# Swizzles of CuTe, which flip bits of an offset by higher or lower ones: `Sw<3,4,3>`.


@dataclass(frozen=True, slots=True, repr=False)
class Swizzle(Displayed):
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

    def flipped(self, offset: _Offset) -> _Offset:
        """The bits that are flipped in an offset, an integer or a form.

        >>> Swizzle(3, 4, 3).flipped(128)
        16
        """
        return offset // (1 << self.source) % (1 << self.bits) * (1 << self.target)

    def __call__(self, offset: int) -> int:
        """The offset that a swizzle makes of one."""
        return offset ^ self.flipped(offset)

    def __str__(self) -> str:
        return f"Sw<{self.bits},{self.base},{self.shift}>"

    def __repr__(self) -> str:
        return f"Swizzle({self.bits}, {self.base}, {self.shift})"


@dataclass(frozen=True, slots=True, repr=False)
class ComposedLayout(Displayed):
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
            ArgumentError: the tiler is none, or has symbols, but not the layout.
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
