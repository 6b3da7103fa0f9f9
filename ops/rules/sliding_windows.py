"""Windows that slide over a tensor: how many there are, and which elements each of them holds.

One dimension is a ruler on which the elements of the operand lie, dilated, behind the padding.
Element ``x`` lies at ``low + x * base_dilation``, place ``s`` of window ``d`` at
``d * stride + s * window_dilation``. A window holds an element at a place where these are equal,
so each of ``x`` and ``d`` follows from the other one and ``s``.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from typing import TYPE_CHECKING, TypeAlias

from ops.hlo.result_sizes import window_count, window_rows
from ops.hlo.values import Window
from ops.index_maps import dim, index_map, symbol
from simplifier import Interval
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import ZERO

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from indexing import IndexingMap
    from indexing.domain import Constraint
    from ops.hlo import Instruction
    from ops.index_maps import Extent, Sizes
    from simplifier.expr.form import Form


Found: TypeAlias = "tuple[Form, list[Constraint]]"
"""An index, and what must hold for there to be one."""


@dataclass(frozen=True, slots=True)
class SlidingWindow:
    """One dimension of an operand, and the windows on it.

    >>> pooling = SlidingWindow(operand_size=13, window_size=3, stride=2, low=1, high=1)
    >>> pooling.count, pooling.load, pooling.turns
    (7, 3, 2)
    """

    operand_size: int
    window_size: int
    stride: int = 1
    low: int = 0
    high: int = 0
    base_dilation: int = 1
    window_dilation: int = 1

    @property
    def count(self) -> int:
        """The number of windows that lie within the padded operand."""
        return window_count(
            self.operand_size,
            self.window_size,
            self.stride,
            self.low,
            self.high,
            self.base_dilation,
            self.window_dilation,
        )

    @property
    def load(self) -> int:
        """The number of elements that one window may hold."""
        return 1 if self.is_single else self.window_size

    @property
    def turns(self) -> int:
        """The number of windows that may hold one element."""
        return 1 if self.is_paired else min(self.count, self._overlap)

    @property
    def uses(self) -> int:
        """The number of windows that may hold an element at one and the same place."""
        if not self.is_single:
            return self.count
        return 1 if self._growth else self._holders

    @property
    def is_single(self) -> bool:
        """Whether the number of a window tells which element alone it may hold."""
        return self.is_paired or self.operand_size == 1

    @property
    def is_paired(self) -> bool:
        """Whether a window holds no element but the one of its own number.

        So are the dimensions that compilers make of a batch, for convolutions that know none:

        >>> SlidingWindow(operand_size=8, window_size=8, stride=7, base_dilation=8).is_paired
        True
        """
        windows, elements = self.count - 1, self.operand_size - 1
        step, growth = self.base_dilation, self.base_dilation - self.stride
        first, last = -self.low, (self.window_size - 1) * self.window_dilation - self.low
        # The neighbours of a partner move evenly from window to window, so the ends tell.
        after = (number * growth + step for number in (0, min(windows, elements - 1)))
        before = (number * growth - step for number in (1, min(windows, elements + 1)))
        return (elements < 1 or min(after) > last) and (windows < 1 or max(before) < first)

    def element(self, window: Form, place: Form) -> Found:
        """An element in a window; ``place`` numbers those that may be, up to :attr:`load`."""
        if self.is_single:
            return window if self.is_paired else ZERO, self._meeting(window)[1]
        position = window * self.stride + place * self.window_dilation
        return _index_of(position, self.base_dilation, self.low, self.operand_size)

    def place(self, window: Form, place: Form) -> Found:
        """The place at which a window may hold an element, numbered as for :meth:`element`."""
        return self._meeting(window) if self.is_single else (place, [])

    def window(self, element: Form, turn: Form) -> Found:
        """A window that holds an element; ``turn`` numbers those that may, up to :attr:`turns`.

        It is the number of the window, if every window may. Else it counts from the last window
        that begins before the element, if the places of the windows leave no gaps, and is the
        place of the element in the window otherwise.
        """
        if self.is_paired:
            return element, self._meeting(element)[1]
        position = element * self.base_dilation + self.low
        if self.count <= self._overlap:
            place = position - turn * self.stride
            return turn, _index_of(place, max(1, self._spread), 0, self.window_size)[1]
        step = self._common_step
        position, constraints = _quotient(position, step)
        stride, spread = self.stride // step, self._spread // step
        if spread == 1:
            window = operations.floordiv(position, forms.constant(stride)) - turn
            place = operations.mod(position, forms.constant(stride)) + turn * stride
            constraints.append((place, Interval(0, self.window_size - 1)))
        else:
            window, more = _quotient(position - turn * spread, stride)
            constraints += more
        return window, [*constraints, (window, self._existing)]

    def window_at(self, place: Form, turn: Form) -> Found:
        """A window that may hold an element at a place; ``turn`` numbers them, up to `uses`."""
        if not self.is_single:
            return turn, []
        distance, growth = place * self.window_dilation - self.low, self._growth
        window, constraints = turn, [(distance, Interval(0, 0))]
        if growth:
            window, constraints = _quotient(distance if growth > 0 else -distance, abs(growth))
        return window, [*constraints, (window, Interval(0, self._holders - 1))]

    # Where a window holds one element at most.

    def _meeting(self, window: Form) -> Found:
        """The place at which a window holds its element."""
        distance, spread = window * self._growth + self.low, max(1, self._spread)
        place, constraints = _index_of(distance, spread, 0, self.window_size)
        return place, [*constraints, (window, Interval(0, self._holders - 1))]

    @property
    def _growth(self) -> int:
        """How much deeper in its window an element lies than the one of the window before."""
        return (self.base_dilation if self.is_paired else 0) - self.stride

    @property
    def _holders(self) -> int:
        """The number of windows for which there is an element."""
        return min(self.count, self.operand_size) if self.is_paired else self.count

    # Where it may hold several.

    @property
    def _existing(self) -> Interval:
        """The numbers of windows, without an end beyond which no window would hold an element."""
        last_place = (self.window_size - 1) * self.window_dilation
        last_element = self.low + (self.operand_size - 1) * self.base_dilation
        is_before = self.low <= last_place - self.stride
        is_behind = last_element >= self.count * self.stride
        return Interval(0 if is_before else None, self.count - 1 if is_behind else None)

    @property
    def _spread(self) -> int:
        """The distance of two places of a window; 0 if there is only one place."""
        return self.window_dilation if self.window_size > 1 else 0

    @property
    def _common_step(self) -> int:
        """All places of all windows lie at multiples of this."""
        return gcd(self.stride, self._spread)

    @property
    def _overlap(self) -> int:
        """The number of windows that may hold one element, if there is no end of windows."""
        step = self._common_step
        return (
            -(-self.window_size * step // self.stride) if self._spread == step else self.window_size
        )


def _index_of(position: Form, step: int, start: int, size: int) -> Found:
    """The number of what lies at a position, among so many things in steps from a start on."""
    inside = (position, Interval(start, start + (size - 1) * step))
    index, constraints = _quotient(position - start, step)
    return index, [inside, *constraints]


def _quotient(distance: Form, step: int) -> Found:
    """The number of steps in a distance that is a multiple of them."""
    if step == 1:
        return distance, []
    divisor = forms.constant(step)
    remainder = operations.mod(distance, divisor)
    return operations.floordiv(distance, divisor), [(remainder, Interval(0, 0))]


# Maps.


def place_of(number: int, size: int) -> Form:
    """The dimension variable of some number; index 0 where the size leaves no other."""
    return ZERO if size == 1 else dim(number)


def numbered(sizes: Iterable[int]) -> tuple[list[Form], list[int]]:
    """An index for each size, and the sizes of the ranges for them; 0 where there is no other.

    >>> numbered((3, 1, 2))
    ([Form(s0), Form(0), Form(s1)], [3, 2])
    """
    indices: list[Form] = []
    ranges: list[int] = []
    for size in sizes:
        indices.append(ZERO if size == 1 else symbol(len(ranges)))
        if size != 1:
            ranges.append(size)
    return indices, ranges


def from_windows(windows: Sequence[SlidingWindow]) -> IndexingMap:
    """From a window in every dimension to the elements that it holds."""
    places, ranges = numbered(window.load for window in windows)
    counts = [window.count for window in windows]
    found = [
        window.element(place_of(number, window.count), place)
        for number, (window, place) in enumerate(zip(windows, places, strict=True))
    ]
    return map_of(found, counts, ranges)


def to_windows(windows: Sequence[SlidingWindow]) -> IndexingMap:
    """From an element to the windows that hold it."""
    turns, ranges = numbered(window.turns for window in windows)
    sizes = [window.operand_size for window in windows]
    found = [
        window.window(place_of(number, window.operand_size), turn)
        for number, (window, turn) in enumerate(zip(windows, turns, strict=True))
    ]
    return map_of(found, sizes, ranges)


def through_windows(windows: Sequence[SlidingWindow]) -> IndexingMap:
    """From an element to the elements that some window holds together with it."""
    rank, sizes = len(windows), [window.operand_size for window in windows]
    loads = (window.load for window in windows)
    indices, ranges = numbered([*loads, *(window.turns for window in windows)])
    found: list[Found] = []
    for number, window in enumerate(windows):
        place, turn = indices[number], indices[rank + number]
        holder, is_held = window.window(place_of(number, window.operand_size), turn)
        element, is_there = window.element(holder, place)
        found.append((element, is_held + is_there))
    return map_of(found, sizes, ranges)


def map_of(found: Sequence[Found], dims: Iterable[Extent], ranges: Iterable[Extent]) -> IndexingMap:
    """The map to indices where what must hold for all of them does, in its smallest form.

    Dimensions of size 1 that stand in a result stay there.
    """
    results = (result for result, _ in found)
    constraints = [constraint for _, needed in found for constraint in needed]
    return index_map(results, dims, ranges, constraints).simplify(preserve_size_one=True)


def sliding_windows(op: str, operand_sizes: Sizes, window: Window) -> tuple[SlidingWindow, ...]:
    """The windows in each dimension of an operand.

    Raises:
        ShapeError: the window has another rank, or a size, stride or dilation below 1.
    """
    return tuple(SlidingWindow(*row) for row in window_rows(op, operand_sizes, window))


def window_of(instruction: Instruction) -> Window:
    """The window of an instruction; one without dimensions is not written."""
    return instruction.attributes.get("window", Window())
