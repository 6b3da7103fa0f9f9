"""CuTe's layout algebra: coalesce, composition, complement and inverses.

A profile or tiler that is a tuple applies an operation mode by mode.

Source: CuTe's documentation (NVIDIA/cutlass, media/docs/cpp/cute/02_layout_algebra.md).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, TypeAlias, TypeVar, Union

from indexing.errors import ShapeError
from indexing.layout.cute.cute_layout import CuteLayout
from indexing.layout.cute.int_tuple import IntTuple, flattened, unflattened
from simplifier.errors import ArgumentError, check_type, quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

T = TypeVar("T")

Tiler: TypeAlias = Union[CuteLayout, int, "tuple[Tiler, ...]", None]
"""A layout, a size ``n`` for ``n:1``, a tuple with one for each mode; ``None`` changes nothing."""

Leaf: TypeAlias = "tuple[int, int]"
"""A size and its stride."""


def coalesce(layout: CuteLayout, profile: IntTuple | None = None) -> CuteLayout:
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
    check_type(layout, CuteLayout, "coalesce: the layout", "a CuteLayout")
    if isinstance(profile, tuple):
        return _by_mode("coalesce", coalesce, layout, profile)
    return _from_leaves(_joined(layout.leaves))


def _from_leaves(leaves: Iterable[Leaf]) -> CuteLayout:
    """The layout of these sizes and strides: one mode without a tuple, and 1:0 for none."""
    given = tuple(leaves)
    if len(given) < 2:  # noqa: PLR2004 - one needs no tuple
        return CuteLayout(*(given[0] if given else (1, 0)))
    sizes, strides = zip(*given, strict=True)
    return CuteLayout(sizes, strides)


def _joined(leaves: Iterable[Leaf]) -> list[Leaf]:
    """The leaves without sizes of 1, each joined with the next where it continues it."""
    joined: list[Leaf] = []
    for size, stride in leaves:
        if size == 1:
            continue
        if joined and joined[-1][0] * joined[-1][1] == stride:
            joined[-1] = (joined[-1][0] * size, joined[-1][1])
        else:
            joined.append((size, stride))
    return joined


def _by_mode(
    name: str,
    operation: Callable[[CuteLayout, T], CuteLayout],
    layout: CuteLayout,
    tiler: tuple[T, ...],
) -> CuteLayout:
    """The layout whose first modes an operation has changed, each with its part of the tiler."""
    modes = layout.modes
    if len(modes) < len(tiler):
        expected = f"expected at most {len(modes)}, as many as {layout} has"
        raise ShapeError(f"{name}: {len(tiler)} parts for the modes; {expected}")
    changed = [operation(mode, part) for mode, part in zip(modes, tiler, strict=False)]
    return CuteLayout.of_modes([*changed, *modes[len(tiler) :]])


def by_tiler(
    name: str,
    operation: Callable[[CuteLayout, CuteLayout], CuteLayout],
    layout: CuteLayout,
    tiler: Tiler,
) -> CuteLayout:
    """What an operation makes of a layout and a tiler: mode by mode for a tuple.

    Raises:
        ArgumentError: the layout or the tiler is none.
        ShapeError: the tuple has more parts than the layout modes.
    """
    check_type(layout, CuteLayout, f"{name}: the layout", "a CuteLayout")
    if tiler is None:
        return layout
    if isinstance(tiler, tuple):
        return _by_mode(name, partial(by_tiler, name, operation), layout, tiler)
    return operation(layout, _tiler_layout(tiler, name))


def _tiler_layout(tiler: object, name: str) -> CuteLayout:
    """The layout that a tiler without a tuple is: ``n`` stands for ``n:1``."""
    if isinstance(tiler, int) and not isinstance(tiler, bool):
        return CuteLayout(tiler)
    if isinstance(tiler, CuteLayout):
        return tiler
    found = f"{quoted(tiler)} of {type(tiler).__name__}"
    raise ArgumentError(f"{name}: the tiler: {found}; expected a CuteLayout, a size, or a tuple")


def composition(layout: CuteLayout, tiler: Tiler) -> CuteLayout:
    """The layout ``layout o tiler``: the tiler runs first, its offsets are indices of the layout.

    As in CuTe, each mode of the tiler is composed by itself. So the result is the composed function
    where the offsets of the modes add up without a carry between the modes of ``layout``.

    Raises:
        ArgumentError: the tiler is none.
        ShapeError: a stride or size of the tiler does not divide, or is not divided by, a size of
            the layout that it meets; the tuple has more parts than the layout modes.

    >>> from indexing.layout.cute import parse
    >>> print(composition(parse("(6,2):(8,2)"), parse("(4,3):(3,1)")))
    ((2,2),3):((24,2),8)
    >>> print(composition(parse("(12,(4,8)):(59,(13,1))"), (parse("3:4"), parse("8:2"))))
    (3,(2,4)):(236,(26,1))
    """
    return by_tiler("composition", _composed, layout, tiler)


def _composed(layout: CuteLayout, tiler: CuteLayout) -> CuteLayout:
    if isinstance(tiler.shape, tuple):
        return CuteLayout.of_modes(_composed(layout, mode) for mode in tiler.modes)
    ((size, stride),) = tiler.leaves
    return _from_leaves(_strided(layout, size, stride))


def _strided(layout: CuteLayout, size: int, stride: int) -> list[Leaf]:
    """Every ``stride``-th element of a layout, and of these the first ``size``."""
    if stride == 0:
        return [(size, 0)]
    found: list[Leaf] = []
    *leaves, (_, last) = coalesce(layout).leaves
    rest, step = size, stride
    for length, distance in leaves:
        if length % step and step % length:
            raise _indivisible(layout, size, stride, f"the stride {step} and the size {length}")
        taken = min(max(1, length // abs(step)), rest)
        if rest % taken:
            raise _indivisible(layout, size, stride, f"the size {rest} and the size {taken}")
        if taken != 1:
            found.append((taken, step * distance))
        rest //= taken
        step = -(-step // length)
    if rest != 1 or not found:
        found.append((rest, step * last))
    return found


def _indivisible(layout: CuteLayout, size: int, stride: int, what: str) -> ShapeError:
    return ShapeError(
        f"composition: {layout} o {size}:{stride}: of {what} neither divides the other"
    )


def complement(layout: CuteLayout, cotarget: IntTuple = 1) -> CuteLayout:
    """The repetitions of a layout that fill the offsets up to the product of ``cotarget``.

    Raises:
        ShapeError: a stride is negative, or no multiple of what smaller strides reach.

    >>> from indexing.layout.cute import parse
    >>> print(complement(parse("4:2"), 24), complement(parse("(2,2):(1,6)"), 24))
    (2,3):(1,8) (3,2):(2,12)
    """
    check_type(layout, CuteLayout, "complement: the layout", "a CuteLayout")
    target = CuteLayout(cotarget).size
    found: list[Leaf] = []
    filled = 1
    for stride, size in sorted((stride, size) for size, stride in layout.leaves):
        if stride == 0 or size == 1:
            continue
        if stride < filled or stride % filled:
            expected = f"expected a multiple of {filled}, where the smaller strides end"
            raise ShapeError(f"complement: {layout} has the stride {stride}; {expected}")
        found.append((stride // filled, filled))
        filled = size * stride
    found.append((-(-target // filled), filled))
    return _from_leaves(_joined(found))


def right_inverse(layout: CuteLayout) -> CuteLayout:
    """The longest layout ``R`` with ``layout(R(i)) == i`` for each of its indices.

    >>> from indexing.layout.cute import parse
    >>> print(right_inverse(parse("(4,8):(8,1)")), right_inverse(parse("(4,8):(1,5)")))
    (8,4):(4,1) 4:1
    """
    check_type(layout, CuteLayout, "right_inverse: the layout", "a CuteLayout")
    compact = flattened(CuteLayout(layout.shape).stride)
    ordered = sorted(
        (stride, size, index) for (size, stride), index in zip(layout.leaves, compact, strict=True)
    )
    found: list[Leaf] = []
    reached = 1
    for stride, size, index in ordered:
        if size == 1 or stride == 0:
            continue
        if stride != reached:
            break
        found.append((size, index))
        reached = size * stride
    return _from_leaves(_joined(found))


def left_inverse(layout: CuteLayout) -> CuteLayout:
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
    return right_inverse(CuteLayout.of_modes([layout, complement(layout)]))


def filter_zeros(layout: CuteLayout) -> CuteLayout:
    """The layout without the modes that repeat offsets: those of stride 0 have size 1.

    >>> from indexing.layout.cute import parse
    >>> print(filter_zeros(parse("(4,(2,3)):(1,(0,4))")))
    (4,(1,3)):(1,(0,4))
    """
    check_type(layout, CuteLayout, "filter_zeros: the layout", "a CuteLayout")
    sizes = iter([size if stride else 1 for size, stride in layout.leaves])
    return CuteLayout(unflattened(sizes, layout.shape), layout.stride)
