"""Reduce-window, select-and-scatter and convolution: against JAX, and against a plain model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from math import prod
from random import Random
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

import ops
from ops import hlo, output_to_input
from ops.hlo import DimensionLabels, Window
from ops.rules.windows import SlidingWindow, from_windows, to_windows
from simplifier.expr import form as forms
from tests.cases import for_all
from tests.evaluation import Pair, related
from tests.extent import examples
from tests.ops.agreement import said
from tests.ops.oracle import felt
from tests.ops.programs import array, module

Sizes = tuple[int, ...]

MAX_ELEMENTS = 48
"""More would take long: a program runs twice for each element."""


# Windows on one dimension, all small ones.


def small_windows(seed: int) -> SlidingWindow:
    random = Random(seed)  # noqa: S311 - a sample
    few = random.choice((1, 3))
    size, width, stride, base, spread = (random.randint(1, each) for each in (4, 4, few, few, few))
    low, high = random.choices(range(-2, 4), k=2)
    return SlidingWindow(size, width, stride, low, high, base, spread)


def sizes_of(window: SlidingWindow) -> tuple[int, int, int]:
    """How many windows, elements, and offsets in a window there are."""
    return cast("tuple[int, int, int]", (window.count, window.operand_size, window.window_size))


def held(window: SlidingWindow) -> set[tuple[int, int, int]]:
    """The number of a window, the offset in it, and the element that lies there."""
    count, size, width = sizes_of(window)
    return {
        (number, offset, element)
        for number, offset, element in product(range(count), range(width), range(size))
        if number * window.stride + offset * window.window_dilation
        == element * window.base_dilation + window.low
    }


def neighbours(window: SlidingWindow) -> set[tuple[int, int]]:
    """Windows, and elements of another number that lie between their first and last offset."""
    count, size, width = sizes_of(window)
    offsets = range((width - 1) * window.window_dilation + 1)
    return {
        (number, element)
        for number, element in product(range(count), range(size))
        if element != number
        and element * window.base_dilation + window.low - number * window.stride in offsets
    }


@for_all(range(600))
def test_small_windows_hold_what_lies_in_them(seed: int) -> None:
    window = small_windows(seed)
    assert not (window.is_paired and neighbours(window))
    to_elements = {((number,), (element,)) for number, _, element in held(window)}
    assert related(from_windows([window])) == to_elements
    assert related(to_windows([window])) == {(there, here) for here, there in to_elements}


ANY: Any = forms.variable("~N")
PAIRED = [
    # windows of one element for any size, and on one element that no other holds
    (SlidingWindow(ANY, 1), True),
    (SlidingWindow(ANY, 2), False),
    (SlidingWindow(ANY, 1, stride=2), False),
    (SlidingWindow(ANY, 1, low=1), False),
    (SlidingWindow(ANY, 1, base_dilation=2), False),
    (SlidingWindow(ANY, 1, window_dilation=2), True),
    (SlidingWindow(1, 2, stride=2, high=3), True),
    (SlidingWindow(1, 2, high=1, low=1), False),
]


@for_all(PAIRED)
def test_windows_are_paired_with_elements(window: SlidingWindow, is_paired: bool) -> None:
    assert window.is_paired == is_paired


def test_so_many_windows_hold_an_element_of_any_number() -> None:
    assert SlidingWindow(ANY, 3).windows_per_element == 3
    assert SlidingWindow(ANY, 3, stride=2).windows_per_element == 2


# What is drawn.

RARELY = st.integers(0, 9).map(lambda number: number == 0)


@st.composite
def shapes(draw: st.DrawFn, rank: int, most: int = MAX_ELEMENTS) -> Sizes:
    """Sizes up to 5, rarely one of 0, with so many elements at most."""
    sizes: list[int] = []
    for _ in range(rank):
        sizes.append(draw(st.integers(1, min(5, most // prod(sizes)))))
    if rank and draw(RARELY):
        sizes[0] = 0
    return tuple(draw(st.permutations(sizes)))


@st.composite
def sliding(draw: st.DrawFn, size: int, *, counts: Sizes, plain: bool) -> SlidingWindow:
    """As many windows on one dimension as one of the counts says, one of which holds an element.

    Plain ones have no dilation, and no padding that cuts elements off; there may be more of them.
    """
    width, stride, base, spread = (draw(st.integers(1, 3)) for _ in range(4))
    if plain:
        base = spread = 1
    count = draw(st.sampled_from(counts))
    window, place, element = (draw(st.integers(0, max(0, n - 1))) for n in (count, width, size))
    low = window * stride + place * spread - element * base
    needed = (width - 1) * spread + 1 + (count - 1) * stride
    high = needed - low - max(0, (size - 1) * base + 1)
    if plain:
        low, high = max(0, low), max(0, high)
    return SlidingWindow(size, width, stride, low, high, base, spread)


@st.composite
def windows(
    draw: st.DrawFn, sizes: Sizes, room: int = MAX_ELEMENTS, *, plain: bool = False
) -> Window:
    """Windows on a tensor, as many as there is room for, and rarely none."""
    least = 0 if draw(RARELY) else 1
    columns: list[SlidingWindow] = []
    for size in sizes:
        counts = tuple(range(least, 1 + min(4, max(1, room))))
        column = draw(sliding(size, counts=counts, plain=plain))
        columns.append(column)
        assert isinstance(column.count, int)
        room //= max(1, column.count)
    return Window(
        tuple(column.window_size for column in columns),
        tuple(column.stride for column in columns),
        tuple((column.low, column.high) for column in columns),
        tuple(column.base_dilation for column in columns),
        tuple(column.window_dilation for column in columns),
    )


@st.composite
def windowed(draw: st.DrawFn) -> tuple[Sizes, Window]:
    sizes = draw(shapes(draw(st.integers(0, 6))))
    window = draw(windows(sizes))
    assume(not is_cut(window))
    return sizes, window


def is_cut(window: Window) -> bool:
    """Whether the windows are elements, and padding cuts some off: XLA breaks off at it."""
    edges = [edge for pair in cast("list[Sizes]", window.pad) for edge in pair]
    rest = {*window.size, *window.stride, *window.lhs_dilate}
    return rest <= {1} and min(edges, default=0) < 0 and max(edges, default=0) <= 0


@st.composite
def selected(draw: st.DrawFn) -> tuple[Sizes, Window]:
    """What XLA takes for select-and-scatter: it breaks off at scalars, and knows no dilation.

    It runs once with each element as the largest, so there are few.
    """
    sizes = draw(shapes(draw(st.integers(1, 6)), most=8))
    return sizes, draw(windows(sizes, 8, plain=True))


@dataclass(frozen=True)
class Convolution:
    lhs: Sizes
    rhs: Sizes
    labels: DimensionLabels
    window: Window
    feature_groups: int = 1
    batch_groups: int = 1

    @property
    def indexing(self) -> ops.OpIndexing:
        given, groups = (self.lhs, self.rhs, self.labels, self.window), self.feature_groups
        counts = {"feature_group_count": groups, "batch_group_count": self.batch_groups}
        return ops.convolution(*given, **counts)

    @property
    def text(self) -> str:
        groups = f"feature_group_count={self.feature_groups}, batch_group_count={self.batch_groups}"
        attributes = f"{written(self.window)}dim_labels={self.labels}, {groups}"
        sizes = self.indexing.output_sizes, self.lhs, self.rhs
        result, *operands = (array("f32", each) for each in sizes)
        return module(result, "convolution", operands, attributes)


@st.composite
def convolutions(draw: st.DrawFn) -> Convolution:
    """Convolutions of all kinds, with dimensions in any order."""
    rank = draw(st.integers(0, 4))
    spatial = draw(shapes(rank, most=12))
    reversal = draw(st.tuples(*[st.integers(0, 1)] * rank))
    window = replace(draw(windows(spatial)), rhs_reversal=reversal)
    features, batches = draw(st.sampled_from([(1, 1), (2, 1), (3, 1), (1, 2), (1, 3)]))
    group, batch, outputs = (0 if draw(RARELY) else draw(st.integers(1, 2)) for _ in range(3))
    letters = [str(number) for number in range(rank)]
    sizes = dict(zip(letters, spatial, strict=True)) | {"b": batch * batches, "f": group * features}
    kernel = dict(zip(letters, cast("Sizes", window.size), strict=True))
    kernel |= {"i": group, "o": outputs * features * batches}
    orders = ["".join(draw(st.permutations([*letters, *others]))) for others in ("bf", "io", "bf")]
    lhs = tuple(sizes[label] for label in orders[0])
    rhs = tuple(kernel[label] for label in orders[1])
    return Convolution(lhs, rhs, DimensionLabels(*orders), window, features, batches)


SUM = "sum { a = s32[] parameter(0) b = s32[] parameter(1) ROOT c = s32[] add(a, b) }"
LARGER = """larger { a = s32[] parameter(0) b = s32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=GE }"""


def written(window: Window) -> str:
    return f"window={{{window}}}, " if window.rank else ""


def shapes_of(sizes: Sizes, window: Window) -> tuple[str, str]:
    """Of an operand, and of what is folded of it."""
    return array("s32", sizes), array("s32", ops.reduce_window(sizes, window).output_sizes)


def reduction(sizes: Sizes, window: Window) -> str:
    operand, result = shapes_of(sizes, window)
    attributes = f"{written(window)}to_apply=sum"
    return module(result, "reduce-window", [operand, "s32[]"], attributes, SUM)


def scattering(sizes: Sizes, window: Window) -> str:
    operand, source = shapes_of(sizes, window)
    attributes = f"{written(window)}select=larger, scatter=sum"
    operands = [operand, source, "s32[]"]
    return module(operand, "select-and-scatter", operands, attributes, LARGER + SUM)


@pytest.mark.needs("jax")
@given(case=windowed())
def test_windows_fold_what_jax_folds(case: tuple[Sizes, Window]) -> None:
    text, (sizes, _) = reduction(*case), case
    assert said(text, 0) == felt(text, 0)
    forgotten = set[Pair]() if sizes else {((), ())}  # XLA gives a scalar as it is
    assert said(text, 1) == felt(text, 1) | forgotten


# Dimensions of other kinds that compilers write as spatial ones.


def labelled(lhs: Sizes, rhs: Sizes, labels: str, *size: int, **window: Any) -> Convolution:  # noqa: ANN401 - of a window
    return Convolution(lhs, rhs, DimensionLabels.parse(labels), Window(size, **window))


BATCH = labelled((4, 3, 2), (4, 2, 5), "0bf_0io->0bf", 4, stride=(3,), lhs_dilate=(4,))
BACKWARDS = {"pad": ((-3, 9),), "lhs_dilate": (4,), "rhs_reversal": (1,)}
BATCH_BACKWARDS = labelled((3, 4, 2), (2, 5, 4), "b0f_io0->bf0", 4, stride=(3,), **BACKWARDS)
FREE_IN_KERNEL = labelled((3, 1, 2), (2, 4, 5), "b0f_i0o->b0f", 4, pad=((3, 3),), rhs_reversal=(1,))
CENTRE = labelled((1, 1, 2, 3), (3, 3, 3, 2), "01bf_01io->01bf", 3, 3, pad=((1, 1), (2, 0)))
PADDED = labelled((2, 4, 2), (3, 2, 4), "b0f_0io->b0f", 3, pad=((1, 1),))
DILATIONS = {"stride": (1, 2), "lhs_dilate": (2, 3), "rhs_dilate": (1, 2), "pad": ((1, 2), (-1, 3))}
DILATED = labelled((1, 3, 3, 2), (3, 4, 2, 3), "b01f_01io->b01f", 3, 4, **DILATIONS)


@pytest.mark.needs("jax")
@example(case=PADDED)
@example(case=DILATED)
@example(case=BATCH)
@example(case=BATCH_BACKWARDS)
@example(case=FREE_IN_KERNEL)
@example(case=CENTRE)
@given(case=convolutions())
def test_convolutions_sum_what_jax_sums(case: Convolution) -> None:
    text = case.text
    assert said(text, 0) == felt(text, 0)
    assert said(text, 1) == felt(text, 1)
    maps = output_to_input(hlo.parse(text).entry.root)
    to_lhs, to_rhs = maps.map(0), maps.map(1)
    factors = {(dims, to_rhs.evaluate(dims, ranges)) for dims, ranges, _, _ in to_lhs.points()}
    assert factors == related(to_rhs)


def test_a_batch_written_as_a_window_is_that_of_a_dot() -> None:
    contracting = {"lhs_contracting_dims": (2,), "rhs_contracting_dims": (1,)}
    batch = {"lhs_batch_dims": (0,), "rhs_batch_dims": (0,)}
    batched = ops.dot(BATCH.lhs, BATCH.rhs, **contracting, **batch)
    assert BATCH.indexing == batched


def test_a_window_on_one_element_is_read_at_one_place() -> None:
    domain = "d0 in [0, 2], d1 in [0, 3], d2 in [0, 4], s0 in [0, 1]"
    places = "d0, 0, s0", "s0, d1, d2"
    expected = [f"(d0, d1, d2)[s0] -> ({place}), domain: {domain}" for place in places]
    assert [*map(str, FREE_IN_KERNEL.indexing.output_to_input)] == expected


@pytest.mark.needs("jax")
@examples(20)
@given(case=selected())
def test_what_jax_selects_and_scatters_may_be(case: tuple[Sizes, Window]) -> None:
    text, (sizes, _) = scattering(*case), case
    seen: tuple[set[Pair], set[Pair]] = (set(), set())
    for place in np.ndindex(sizes):
        largest = np.zeros(sizes, dtype=np.int32)
        largest[place] = 500
        for operand in range(2):
            seen[operand].update(felt(text, operand, {0: largest}))
    # An element alone in its window is selected whatever its value is.
    alone = {(place, place) for place in np.ndindex(sizes)}
    assert seen[0] <= said(text, 0) <= seen[0] | alone
    assert seen[1] == said(text, 1)
    assert felt(text, 2) == said(text, 2)
