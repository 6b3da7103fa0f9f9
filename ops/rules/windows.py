"""Windows that slide over a tensor: how many there are, and which elements each of them holds.

Along one dimension, element ``x`` of the dilated operand has the position
``low + x * base_dilation``, behind the padding. Offset ``s`` of window ``d`` has the position
``d * stride + s * window_dilation``. A window holds an element at an offset if both positions are
equal, so each of ``x`` and ``d`` follows from the other one and ``s``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import gcd
from typing import Any, Final, Self, TypeAlias

from indexing import IndexingMap
from indexing.layout import ShapeError
from indexing.passes import Constraint, has_parameters
from ops import index_maps
from ops.hlo import Instruction
from ops.hlo.attributes import DimensionLabels, Window
from ops.hlo.shape_inference import Application, Sized, dilated, one_or_together, widest
from ops.index_maps import Extent, Size, Sizes
from ops.rules.rule import Doubt, OpIndexing, OpRule, check_scalars, folded_inputs, sizes_of
from simplifier import forms
from simplifier.errors import check_type, naming_wrong_arguments
from simplifier.forms import ZERO, Form, Interval

# Reduce-window and select-and-scatter: a fold of each window, and its gradient.


def reduce_window(operand_sizes: Sizes, window: Window, inputs: int = 1) -> OpIndexing:
    """Folds each window on an input, from an initial value on.

    Elements of the operand lie ``lhs_dilate`` apart, the elements of a window ``rhs_dilate``.
    Padding and the gaps between elements are not folded; negative padding cuts elements off.

    A variadic reduce-window folds several inputs of one shape together and has as many results.
    Each result may depend on every input and on every initial value. The operands are the inputs,
    then their initial values.

    Shapes:
        inputs: ``operand_sizes``; initial values: scalars.
        results: the number of windows within the padded and dilated operand, by dimension.

    Source:
        XLA operation semantics, ReduceWindow; StableHLO specification, reduce_window.

    Raises:
        ShapeError: the window has another rank than the operand, or a size, stride or dilation
            below 1.

    >>> from ops.hlo import Window
    >>> pooling = reduce_window((13,), Window(size=(3,), stride=(2,), pad=((1, 1),)))
    >>> print(pooling.output_to_input[0])
    (d0)[s0] -> (d0 * 2 + s0 - 1), domain: d0 in [0, 6], s0 in [0, 2], d0 * 2 + s0 in [1, 13]
    >>> print(pooling.input_to_output[0])
    (d0)[s0] -> ((d0 + 1) floordiv 2 - s0), domain: d0 in [0, 12], s0 in [0, 1],
    d0 mod 2 - s0 * 2 in [-1, 1]
    >>> print(reduce_window((12,), Window(size=(3,), stride=(3,))).input_to_output[0])
    (d0) -> (d0 floordiv 3), domain: d0 in [0, 11]

    Sizes, strides and padding of windows may be symbolic, but not dilations:

    >>> from simplifier import symbol
    >>> rows, width = symbol("N"), symbol("K")
    >>> print(reduce_window((rows,), Window(size=(width,))).output_to_input[0])
    (d0)[s0]<K, N> -> (d0 + s0), domain: d0 in [0, N - K], s0 in [0, K - 1], K in [1, inf],
    N in [1, inf]
    """
    operand_sizes = index_maps.checked_sizes("reduce-window", "operand", operand_sizes)
    inputs = index_maps.checked_operand_count("reduce-window", "inputs", inputs)
    windows = SlidingWindow.each("reduce-window", operand_sizes, window)
    conditions = [condition for each in windows for condition in each.conditions]
    output_sizes = tuple(window.count for window in windows)
    operand = from_windows(windows), to_windows(windows)
    initial = index_maps.paired(output_sizes, ())
    maps = OpIndexing.between(output_sizes, *(operand,) * inputs, *(initial,) * inputs)
    return maps.on_condition([*index_maps.not_negative(operand_sizes), *conditions])


def select_and_scatter(operand_sizes: Sizes, source_sizes: Sizes, window: Window) -> OpIndexing:
    """Adds each element of the source where a window on the operand selects an element.

    The gradient of a reduce-window by maximum. The operands are the operand, the source, and the
    initial value of every element of the result.

    Only the running program knows which element a window selects. So the maps say what *may* be: a
    result may take the source of every window that holds its index, and whether it does may depend
    on all elements of these windows.

    Shapes:
        operand, result: ``operand_sizes``.
        source: one element for each window.

    Source:
        XLA operation semantics, SelectAndScatter; StableHLO specification, select_and_scatter.

    Raises:
        ShapeError: the source does not have one element for each window, or as of
            :func:`reduce_window`.

    >>> from ops.hlo import Window
    >>> unpooling = select_and_scatter((6, 4), (3, 2), Window(size=(2, 2), stride=(2, 2)))
    >>> print(unpooling.output_to_input[0])
    (d0, d1)[s0, s1] -> ((d0 floordiv 2) * 2 + s0, (d1 floordiv 2) * 2 + s1), domain: d0 in [0, 5],
    d1 in [0, 3], s0 in [0, 1], s1 in [0, 1]
    >>> print(unpooling.output_to_input[1])
    (d0, d1) -> (d0 floordiv 2, d1 floordiv 2), domain: d0 in [0, 5], d1 in [0, 3]
    >>> print(unpooling.input_to_output[1])
    (d0, d1)[s0, s1] -> (d0 * 2 + s0, d1 * 2 + s1), domain: d0 in [0, 2], d1 in [0, 1],
    s0 in [0, 1], s1 in [0, 1]
    """
    op = "select-and-scatter"
    operand_sizes = index_maps.checked_sizes(op, "operand", operand_sizes)
    windows = SlidingWindow.each(op, operand_sizes, window)
    counts = [window.count for window in windows]
    source_sizes = index_maps.checked_sizes(op, "source", source_sizes)
    conditions = index_maps.check_sizes(
        op, "the source", source_sizes, counts, "as a reduce-window has"
    )
    conditions += index_maps.not_negative((*operand_sizes, *source_sizes))
    conditions += [condition for each in windows for condition in each.conditions]
    # Sharing a window is symmetric, so both directions are one map.
    to_operand = through_windows(windows)
    return OpIndexing.between(
        operand_sizes,
        (to_operand, to_operand),
        (to_windows(windows), from_windows(windows)),
        index_maps.paired(operand_sizes, ()),
    ).on_condition(conditions)


def _reduce_window(instruction: Instruction) -> OpIndexing:
    inputs = folded_inputs(instruction)
    return reduce_window(sizes_of(inputs[0]), window_of(instruction.attributes), len(inputs))


def _select_and_scatter(instruction: Instruction) -> OpIndexing:
    operand, source, initial = instruction.operands
    check_scalars("select-and-scatter", [initial])
    window = window_of(instruction.attributes)
    return select_and_scatter(sizes_of(operand), sizes_of(source), window)


def _reduce_window_shape(op: Application) -> Sized:
    inputs, starts = op.operands[: len(op.operands) // 2], op.operands[len(op.operands) // 2 :]
    windows = SlidingWindow.each("reduce-window", inputs[0].own, window_of(op.attributes))
    sizes = [row.count for row in windows]
    return one_or_together([Sized.array(start.shape.element_type, sizes) for start in starts])


def _may_be_selected(_: Instruction, __: int, operand: int) -> Doubt | None:
    reason = "the values decide which element of a window is selected"
    return Doubt(reason) if operand == 1 else None


# Sliding windows.

ConstrainedIndex: TypeAlias = "tuple[Form, list[Constraint]]"
"""An index, and the constraints under which it exists."""


@dataclass(frozen=True, slots=True)
class SlidingWindow:
    """One dimension of an operand, and the windows on it.

    >>> pooling = SlidingWindow(operand_size=13, window_size=3, stride=2, low=1, high=1)
    >>> pooling.count, pooling.elements_per_window, pooling.windows_per_element
    (7, 3, 2)
    """

    operand_size: Size
    window_size: Size
    stride: Size = 1
    low: Size = 0
    high: Size = 0
    base_dilation: int = 1
    window_dilation: int = 1

    @classmethod
    def each(cls, op: str, operand_sizes: Sequence[Size], window: Window) -> tuple[Self, ...]:
        """Windows of all dimensions of an operand.

        Raises:
            ShapeError: the window has another rank, or a size, stride or dilation below 1.
        """
        check_type(window, Window, f"{op}: the window", "a Window")
        index_maps.check_count(op, "window", window.size, len(operand_sizes))
        _check_positive(op, window)
        lows, highs = ([pair[side] for pair in window.pad] for side in range(2))
        symbolic = window.size, window.stride, lows, highs
        columns = (map(index_maps.read_integer, each) for each in symbolic)
        rows = zip(operand_sizes, *columns, window.lhs_dilate, window.rhs_dilate, strict=True)
        return tuple(cls(*row) for row in rows)

    @property
    def count(self) -> Size:
        """The number of windows that lie within the padded operand."""
        spread = -((self.window_size - 1) * self.window_dilation)
        padding = index_maps.total((self.low, self.high, spread, -1))
        room = index_maps.total((dilated(self.operand_size, self.base_dilation), padding))
        count = index_maps.total((index_maps.floor_divided(room, self.stride), 1))
        of_nothing = index_maps.floor_divided(padding, self.stride) + 1
        is_never_negative = isinstance(of_nothing, int) and of_nothing >= 0
        return count if is_never_negative else index_maps.at_least(0, count)

    @property
    def conditions(self) -> list[Constraint]:
        """The conditions that size and stride of windows are 1 or more, where they are symbolic."""
        sizes = self.window_size, self.stride
        return [(size, Interval(1, None)) for size in sizes if isinstance(size, Form)]

    @property
    def elements_per_window(self) -> Size:
        """Number of elements that one window may hold."""
        return 1 if self.is_single else self.window_size

    @property
    def windows_per_element(self) -> Size:
        """Number of windows that may hold one element, for any size of the operand."""
        if self.is_paired:
            return 1
        return self.count if self._may_be_any_window else self._overlap

    @property
    def windows_per_offset(self) -> Size:
        """Number of windows that may hold an element at one and the same offset."""
        if not self.is_single or isinstance(self._growth, Form):
            return self.count
        return 1 if self._growth else self._holders

    @property
    def is_single(self) -> bool:
        """Whether the number of a window determines the only element that it may hold."""
        return self.is_paired or self.operand_size == 1

    @property
    def is_paired(self) -> bool:
        """Whether a window holds no element but the one of its own number.

        Compilers make such dimensions of a batch, for convolutions without batch dimensions:

        >>> SlidingWindow(operand_size=8, window_size=8, stride=7, base_dilation=8).is_paired
        True

        For sizes over parameters, no window is taken for such a one unless all are.
        """
        if (known := self._numbers) is None:
            rest = (self.window_size, self.stride, self.low, self.high, self.base_dilation)
            return rest == (1, 1, 0, 0, 1)  # one after the other, without padding or gaps
        count, operand_size, stride, low, window_size = known
        windows, elements = count - 1, operand_size - 1
        step, growth = self.base_dilation, self.base_dilation - stride
        first, last = -low, (window_size - 1) * self.window_dilation - low
        # The neighbours of the element move evenly from window to window: look at the ends.
        after = (number * growth + step for number in (0, min(windows, elements - 1)))
        before = (number * growth - step for number in (1, min(windows, elements + 1)))
        return (elements < 1 or min(after) > last) and (windows < 1 or max(before) < first)

    @property
    def _numbers(self) -> list[int] | None:
        given = (self.count, self.operand_size, self.stride, self.low, self.window_size)
        return index_maps.numbers(given)

    def element(self, window: Form, offset: Form) -> ConstrainedIndex:
        """An element in a window; ``offset`` is below :attr:`elements_per_window`."""
        if self.is_single:
            return window if self.is_paired else ZERO, self._meeting(window)[1]
        return self._held(window, offset)

    def offset(self, window: Form, offset: Form) -> ConstrainedIndex:
        """The offset at which a window holds an element, for an offset of :meth:`element`."""
        return self._meeting(window) if self.is_single else (offset, self._held(window, offset)[1])

    def window(self, element: Form, choice: Form) -> ConstrainedIndex:
        """A window that holds an element; ``choice`` is below :attr:`windows_per_element`.

        If every window may hold the element, the choice is the number of the window. Otherwise it
        counts back from the last window that begins before the element, if windows leave no gaps
        between their offsets, and is the offset of the element in the window, if they do.
        """
        if self.is_paired:
            return element, self._meeting(element)[1]
        position = element * self.base_dilation + self.low
        if self._may_be_any_window:
            own = position - index_maps.scaled(choice, self.stride)
            return choice, _index_of(own, max(1, self._spread), 0, self.window_size)[1]
        step = self._common_step
        position, constraints = _quotient(position, step)
        stride, spread = index_maps.floor_divided(self.stride, step), self._spread // step
        if spread == 1:
            last, place = index_maps.block_and_offset(position, stride)
            window, offset = last - choice, place + index_maps.scaled(choice, stride)
            constraints += index_maps.inside(offset, self.window_size)
        else:
            window, more = _quotient(position - choice * spread, stride)
            constraints += more
        return window, [*constraints, *self._exists(window)]

    def window_at(self, offset: Form, choice: Form) -> ConstrainedIndex:
        """A window that holds an element at an offset; ``choice`` is below `windows_per_offset`."""
        growth = self._growth
        if not self.is_single or isinstance(growth, Form):
            return choice, self._held(choice, offset)[1]
        distance = offset * self.window_dilation - self.low
        window, constraints = choice, [(distance, Interval(0, 0))]
        if growth:
            window, constraints = _quotient(distance if growth > 0 else -distance, abs(growth))
        return window, [*constraints, *index_maps.inside(window, self._holders)]

    # If a window holds one element at most.

    def _meeting(self, window: Form) -> ConstrainedIndex:
        """The offset at which a window holds its element."""
        distance, spread = index_maps.scaled(window, self._growth) + self.low, max(1, self._spread)
        offset, constraints = _index_of(distance, spread, 0, self.window_size)
        return offset, [*constraints, *index_maps.inside(window, self._holders)]

    @property
    def _growth(self) -> Size:
        """Growth of the position of the element in its window from window to window."""
        return (self.base_dilation if self.is_paired else 0) - self.stride

    @property
    def _holders(self) -> Size:
        """Number of windows that have an element."""
        return index_maps.least(self.count, self.operand_size) if self.is_paired else self.count

    # If it may hold several.

    def _held(self, window: Form, offset: Form) -> ConstrainedIndex:
        """The element at an offset; padding and the gaps of a dilated operand hold none."""
        position = index_maps.scaled(window, self.stride) + offset * self.window_dilation
        return _index_of(position, self.base_dilation, self.low, self.operand_size)

    def _exists(self, window: Form) -> list[Constraint]:
        """The conditions on the number of a window, unless none beyond could hold an element."""
        if (known := self._numbers) is None:
            return index_maps.inside(window, self.count)
        count, operand_size, stride, low, window_size = known
        last_offset = (window_size - 1) * self.window_dilation
        last_element = low + (operand_size - 1) * self.base_dilation
        is_before = low <= last_offset - stride
        is_behind = last_element >= count * stride
        return [(window, Interval(0 if is_before else None, count - 1 if is_behind else None))]

    @property
    def _spread(self) -> int:
        """The distance between two offsets of a window; 0 if there is only one offset."""
        return 0 if self.window_size == 1 else self.window_dilation

    @property
    def _common_step(self) -> int:
        """All positions of all windows are multiples of this, whatever the parameters are."""
        return gcd(self.stride, self._spread) if isinstance(self.stride, int) else 1

    @property
    def _overlap(self) -> Size:
        """Number of windows that would hold one element, if there were no first or last window."""
        step = self._common_step
        if self._spread != step:
            return self.window_size
        return index_maps.ceil_divided(self.window_size * step, self.stride)

    @property
    def _may_be_any_window(self) -> bool:
        """Whether there are no more windows than may hold one element."""
        if not isinstance(self.count, int):
            return False
        return not isinstance(self._overlap, int) or self.count <= self._overlap


def _index_of(position: Form, step: int, start: Size, size: Size) -> ConstrainedIndex:
    """The index of a position among ``size`` positions, in steps from a start on."""
    index, constraints = _quotient(position - start, step)
    return index, [*index_maps.inside(position, (size - 1) * step + 1, start), *constraints]


def _quotient(distance: Form, step: Size) -> ConstrainedIndex:
    """The number of steps in a distance, which must be a multiple of the step."""
    if step == 1:
        return distance, []
    divisor = index_maps.as_form(step)
    remainder = forms.mod(distance, divisor)
    return forms.floordiv(distance, divisor), [(remainder, Interval(0, 0))]


# Maps.


def index_variable(axis: int, size: Size) -> Form:
    """The dimension variable of an axis, or 0 if its size leaves no other index."""
    return ZERO if size == 1 else index_maps.dim(axis)


def _index_in(sizes: Sequence[Size]) -> list[Form]:
    """The index of an element, 0 where there is no other one."""
    return [*map(index_variable, range(len(sizes)), sizes)]


def range_variables(sizes: Iterable[Size]) -> tuple[list[Form], list[Size]]:
    """A range variable for each size, or 0 for size 1; and the sizes of the ranges.

    >>> range_variables((3, 1, 2))
    ([Form(s0), Form(0), Form(s1)], [3, 2])
    """
    indices: list[Form] = []
    ranges: list[Size] = []
    for size in sizes:
        indices.append(ZERO if size == 1 else index_maps.symbol(len(ranges)))
        if size != 1:
            ranges.append(size)
    return indices, ranges


def from_windows(windows: Sequence[SlidingWindow]) -> IndexingMap:
    """Map from a window, one in every dimension, to the elements that it holds."""
    offsets, ranges = range_variables(window.elements_per_window for window in windows)
    counts = [window.count for window in windows]
    found = map(SlidingWindow.element, windows, _index_in(counts), offsets)
    return simplified_map([*found], counts, ranges)


def to_windows(windows: Sequence[SlidingWindow]) -> IndexingMap:
    """Map from an element to the windows that hold it."""
    choices, ranges = range_variables(window.windows_per_element for window in windows)
    sizes = [window.operand_size for window in windows]
    found = map(SlidingWindow.window, windows, _index_in(sizes), choices)
    return simplified_map([*found], sizes, ranges)


def through_windows(windows: Sequence[SlidingWindow]) -> IndexingMap:
    """Map from an element to the elements that share a window with it."""
    rank, sizes = len(windows), [window.operand_size for window in windows]
    held = (window.elements_per_window for window in windows)
    indices, ranges = range_variables([*held, *(window.windows_per_element for window in windows)])
    found: list[ConstrainedIndex] = []
    for row in zip(windows, _index_in(sizes), indices[:rank], indices[rank:], strict=True):
        window, own, offset, choice = row
        holder, is_held = window.window(own, choice)
        element, is_there = window.element(holder, offset)
        found.append((element, is_held + is_there))
    return simplified_map(found, sizes, ranges)


def simplified_map(
    found: Sequence[ConstrainedIndex], dims: Iterable[Extent], ranges: Iterable[Extent]
) -> IndexingMap:
    """The map to some indices, where the constraints of all of them hold, simplified.

    Dimensions of size 1 stay in results.
    """
    results = [result for result, _ in found]
    constraints = [constraint for _, needed in found for constraint in needed]
    used = (*results, *(form for form, _ in constraints))
    over = filter(has_parameters, used)
    made = index_maps.index_map(results, dims, ranges, constraints, over=over)
    return made.simplify(preserve_size_one=True)


def _check_positive(op: str, window: Window) -> None:
    for field in ("size", "stride", "lhs_dilate", "rhs_dilate"):
        for position, value in enumerate(getattr(window, field)):
            if isinstance(value, int) and value < 1:
                message = f"{op}: the window has {field} {value} in dimension {position}"
                raise ShapeError(f"{message}; expected 1 or more")


def window_of(attributes: Mapping[str, Any]) -> Window:
    """The window of an instruction; one without dimensions is not written."""
    return attributes.get("window", Window())


# Convolution: sums of products of a kernel with the windows of a tensor.


@naming_wrong_arguments
def convolution(
    lhs_sizes: Sizes,
    rhs_sizes: Sizes,
    dim_labels: DimensionLabels,
    window: Window,
    *,
    feature_group_count: int = 1,
    batch_group_count: int = 1,
) -> OpIndexing:
    """Sums products of the kernel ``rhs`` with a window on ``lhs`` for each element.

    Sums run over the offsets in the window and over the input features of the kernel. Groups divide
    the output features: feature group ``g`` reads only the input features of group ``g``, batch
    group ``g`` only the batches of group ``g``.

    The window has the spatial sizes of the kernel. ``lhs_dilate`` and ``rhs_dilate`` dilate either
    operand, ``rhs_reversal`` reverses the kernel in a dimension. The maps to both operands have the
    same ranges, and equal values of them lead to the factors of one product. Padding and the gaps
    of a dilated ``lhs`` are no factors: a kernel element that meets only these is not read. If a
    window can hold one element only, there is no sum, and the kernel is read at that offset alone.
    So a batch that is written as a spatial dimension has the maps of a batch.

    Shapes:
        lhs: ``b`` batches, ``f`` input features, spatial sizes, in the order of the labels.
        rhs: ``i = f / feature_group_count`` input features, ``o`` output features, spatial sizes.
        result: ``b / batch_group_count`` batches, ``o`` features, one element for each window.

    Source:
        XLA operation semantics, ConvGeneralDilated; StableHLO specification, convolution.

    Raises:
        ShapeError: labels, window or groups do not fit the operands; it names the dimension and
            both sizes.

    >>> from ops.hlo import DimensionLabels, Window
    >>> labels = DimensionLabels.parse("b0f_0io->b0f")
    >>> same = convolution((8, 12, 4), (3, 4, 16), labels, Window(size=(3,), pad=((1, 1),)))
    >>> print(same.output_to_input[0])
    (d0, d1, d2)[s0, s1] -> (d0, d1 + s0 - 1, s1), domain: d0 in [0, 7], d1 in [0, 11],
    d2 in [0, 15], s0 in [0, 2], s1 in [0, 3], d1 + s0 in [1, 12]
    >>> print(same.output_to_input[1])
    (d0, d1, d2)[s0, s1] -> (s0, s1, d2), domain: d0 in [0, 7], d1 in [0, 11], d2 in [0, 15],
    s0 in [0, 2], s1 in [0, 3], d1 + s0 in [1, 12]
    >>> strided = Window(size=(3,), stride=(3,))
    >>> depthwise = convolution((8, 12, 4), (3, 1, 4), labels, strided, feature_group_count=4)
    >>> print(depthwise.input_to_output[0])
    (d0, d1, d2) -> (d0, d1 floordiv 3, d2), domain: d0 in [0, 7], d1 in [0, 11], d2 in [0, 3]
    >>> batch = Window(size=(8,), stride=(7,), lhs_dilate=(8,))
    >>> dot = convolution((8, 12, 4), (8, 4, 16), DimensionLabels.parse("0bf_0io->0bf"), batch)
    >>> print(dot.output_to_input[0])
    (d0, d1, d2)[s0] -> (d0, d1, s0), domain: d0 in [0, 7], d1 in [0, 11], d2 in [0, 15],
    s0 in [0, 3]
    >>> print(dot.output_to_input[1])
    (d0, d1, d2)[s0] -> (d0, s0, d2), domain: d0 in [0, 7], d1 in [0, 11], d2 in [0, 15],
    s0 in [0, 3]
    """
    check_type(dim_labels, DimensionLabels, "convolution: dim_labels", "DimensionLabels")
    check_type(window, Window, "convolution: the window", "a Window")
    groups = ConvolutionGroups(feature_group_count, batch_group_count)
    return _Convolution.of(lhs_sizes, rhs_sizes, dim_labels, window, groups).maps()


def convolution_of(instruction: Instruction) -> OpIndexing:
    """The convolution of the first two operands, as the attributes describe it."""
    lhs, rhs, *_ = instruction.operands
    return _shared(sizes_of(lhs), sizes_of(rhs), *_described(instruction.attributes))


@lru_cache(maxsize=1 << 8)
def _shared(*described: Any) -> OpIndexing:  # noqa: ANN401 - sizes and attributes
    """The maps are kept: four maps with windows take long, and models repeat their layers."""
    return _Convolution.of(*described).maps()


def _convolution_shape(op: Application) -> Sized:
    lhs, rhs, *_ = op.operands
    sizes = _Convolution.of(lhs.own, rhs.own, *_described(op.attributes)).output
    return Sized.array(widest((lhs, rhs)), sizes.values())


def _described(attributes: Mapping[str, Any]) -> tuple[DimensionLabels, Window, ConvolutionGroups]:
    """The arguments of a convolution behind its sizes."""
    groups = (attributes.get(f"{each}_group_count", 1) for each in ("feature", "batch"))
    return attributes["dim_labels"], window_of(attributes), ConvolutionGroups(*groups)


@dataclass(frozen=True, slots=True)
class ConvolutionGroups:
    """Numbers of groups of input features, and of batches, that share the output features."""

    features: int = 1
    batches: int = 1

    @property
    def count(self) -> int:
        """One of the two is 1."""
        return self.features * self.batches


@dataclass(frozen=True, slots=True)
class _Convolution:
    """The sizes of a convolution and its maps; sizes and windows go by label.

    The windows are those of spatial dimensions. ``conditions`` on parameters say that sizes fit
    together.
    """

    lhs: Mapping[str, Size]
    rhs: Mapping[str, Size]
    output: Mapping[str, Size]
    windows: Mapping[str, SlidingWindow]
    reversed_axes: frozenset[str]
    """The spatial dimensions in which the kernel is reversed."""
    groups: ConvolutionGroups
    conditions: Sequence[Constraint]

    @classmethod
    def of(
        cls,
        lhs_sizes: Sizes,
        rhs_sizes: Sizes,
        labels: DimensionLabels,
        window: Window,
        groups: ConvolutionGroups,
    ) -> Self:
        """The convolution of operands of these sizes.

        Raises:
            ShapeError: labels, window or groups do not fit the operands.
        """
        spatial = _spatial(labels)
        lhs = _labelled("lhs", labels.input, lhs_sizes)
        rhs = _labelled("rhs", labels.kernel, rhs_sizes)
        batches, conditions = _check_groups(lhs, rhs, groups)
        conditions += index_maps.not_negative((*lhs.values(), *rhs.values()))
        kernel = [rhs[label] for label in spatial]
        given = [*map(index_maps.read_integer, window.size)]
        conditions += index_maps.check_sizes(
            "convolution", "the window", given, kernel, "as in the kernel"
        )
        rows = SlidingWindow.each("convolution", [lhs[label] for label in spatial], window)
        conditions += [condition for row in rows for condition in row.conditions]
        windows = dict(zip(spatial, rows, strict=True))
        sizes = {label: row.count for label, row in windows.items()}
        sizes |= {"b": batches, "f": rhs["o"]}
        output = {label: sizes[label] for label in labels.output}
        reversals = zip(spatial, window.rhs_reversal, strict=True)
        turned = frozenset(label for label, is_reversed in reversals if is_reversed)
        return cls(lhs, rhs, output, windows, turned, groups, conditions)

    @property
    def features(self) -> Size:
        """The output features of one group."""
        return index_maps.floor_divided(self.rhs["o"], self.groups.count)

    def maps(self) -> OpIndexing:
        """The maps between the result and both operands."""
        return OpIndexing.between(
            self.output.values(),
            (self.output_to_lhs(), self.lhs_to_output()),
            (self.output_to_rhs(), self.rhs_to_output()),
        ).on_condition(self.conditions)

    def output_to_lhs(self) -> IndexingMap:
        index, (summed, ranges) = self._index(self.output), self._summed()
        group, _ = _split(index["f"], self.features, self.groups.count)
        found = {
            label: window.element(index[label], summed[label])
            for label, window in self.windows.items()
        }
        found["b"] = _member(group, index["b"], self.output["b"], self.groups.batches), []
        found["f"] = _member(group, summed["i"], self.rhs["i"], self.groups.features), []
        return simplified_map([found[label] for label in self.lhs], self.output.values(), ranges)

    def output_to_rhs(self) -> IndexingMap:
        index, (summed, ranges) = self._index(self.output), self._summed()
        found: dict[str, ConstrainedIndex] = {"i": (summed["i"], []), "o": (index["f"], [])}
        for label, window in self.windows.items():
            at, constraints = window.offset(index[label], summed[label])
            found[label] = self._reversed(label, at), constraints
        return simplified_map([found[label] for label in self.rhs], self.output.values(), ranges)

    def lhs_to_output(self) -> IndexingMap:
        choices = {label: window.windows_per_element for label, window in self.windows.items()}
        index, (choice, ranges) = self._index(self.lhs), _numbered({**choices, "f": self.features})
        found = {
            label: window.window(index[label], choice[label])
            for label, window in self.windows.items()
        }
        group_of_feature, _ = _split(index["f"], self.rhs["i"], self.groups.features)
        group_of_batch, batch = _split(index["b"], self.output["b"], self.groups.batches)
        group = group_of_feature + group_of_batch
        found["b"] = batch, []
        found["f"] = _member(group, choice["f"], self.features, self.groups.count), []
        return simplified_map([found[label] for label in self.output], self.lhs.values(), ranges)

    def rhs_to_output(self) -> IndexingMap:
        choices = {label: window.windows_per_offset for label, window in self.windows.items()}
        sizes = {label: choices.get(label, size) for label, size in self.output.items()}
        index, (choice, ranges) = self._index(self.rhs), _numbered({**sizes, "f": 1})
        found = {
            label: window.window_at(self._reversed(label, index[label]), choice[label])
            for label, window in self.windows.items()
        }
        found |= {"b": (choice["b"], []), "f": (index["o"], [])}
        return simplified_map([found[label] for label in self.output], self.rhs.values(), ranges)

    def _reversed(self, label: str, offset: Form) -> Form:
        """The index in the kernel of an offset in the window, and the other way round."""
        return self.rhs[label] - 1 - offset if label in self.reversed_axes else offset

    def _index(self, sizes: Mapping[str, Size]) -> dict[str, Form]:
        """The index in a tensor; 0 in a spatial dimension of size 1."""
        return {
            label: index_variable(number, size) if label in self.windows else index_maps.dim(number)
            for number, (label, size) in enumerate(sizes.items())
        }

    def _summed(self) -> tuple[dict[str, Form], list[Size]]:
        """The ranges of a sum: the offsets in the window, and the input features of the kernel."""
        sizes = {label: window.elements_per_window for label, window in self.windows.items()}
        return _numbered({**sizes, "i": self.rhs["i"]})


def _spatial(labels: DimensionLabels) -> list[str]:
    """The labels of the spatial dimensions, in the order of the window."""
    spatial = [str(number) for number in range(len(labels.output) - 2)]
    for role, written, others in (
        ("lhs", labels.input, "bf"),
        ("rhs", labels.kernel, "io"),
        ("the result", labels.output, "bf"),
    ):
        expected = [*others, *spatial]
        if sorted(written) != sorted(expected):
            message = f"convolution: dim_labels {labels} call the dimensions of {role} {written!r}"
            raise ShapeError(f"{message}; expected each of {', '.join(expected)} once")
    return spatial


def _labelled(role: str, labels: str, sizes: Sizes) -> dict[str, Size]:
    checked = index_maps.checked_sizes("convolution", role, sizes)
    if len(checked) != len(labels):
        message = f"convolution: {role} has rank {len(checked)}, but dim_labels name {labels!r}"
        raise ShapeError(f"{message}; expected a label for each dimension")
    return dict(zip(labels, checked, strict=True))


def _check_groups(
    lhs: Mapping[str, Size], rhs: Mapping[str, Size], groups: ConvolutionGroups
) -> tuple[Size, list[Constraint]]:
    """The batches of the result, and the conditions that groups have equal parts."""
    few, many = sorted((groups.features, groups.batches))
    if few != 1:
        message = f"there are {groups.features} feature groups and {groups.batches} batch groups"
        raise ShapeError(f"convolution: {message}; expected 1 or more of one kind, 1 of the other")
    message = f"convolution: lhs has {lhs['f']} input features, but rhs has {rhs['i']}"
    message = f"{message} in each of {groups.features} groups; expected as many"
    conditions = index_maps.equal(lhs["f"], rhs["i"] * groups.features, message)
    parts: list[Size] = []
    for what, size, count in (
        ("batches of lhs", lhs["b"], groups.batches),
        ("output features of rhs", rhs["o"], many),
    ):
        message = f"convolution: the {size} {what} are shared by {count} groups"
        part, needed = index_maps.divided(size, count, f"{message}; expected a multiple of {count}")
        parts.append(part)
        conditions += needed
    return parts[0], conditions


def _numbered(sizes: Mapping[str, Size]) -> tuple[dict[str, Form], list[Size]]:
    indices, ranges = range_variables(sizes.values())
    return dict(zip(sizes, indices, strict=True)), ranges


def _split(index: Form, size: Size, groups: int) -> tuple[Form, Form]:
    """The group of an index, and the index in the group; an empty group has no index."""
    return (ZERO, index) if groups == 1 else index_maps.block_and_offset(index, size)


def _member(group: Form, index: Form, size: Size, groups: int) -> Form:
    """An index from the index in its group."""
    return index if groups == 1 else index_maps.scaled(group, size) + index


RULES: Final[Mapping[str, OpRule]] = {
    "convolution": OpRule(convolution_of, is_loop=True, shape=_convolution_shape),
    "reduce-window": OpRule(_reduce_window, is_loop=True, shape=_reduce_window_shape),
    "select-and-scatter": OpRule(_select_and_scatter, doubt=_may_be_selected, is_loop=True),
}
