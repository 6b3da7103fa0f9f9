"""Reduce-window, select-and-scatter and convolution: against JAX, and against a plain model."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import prod
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ops
from ops import hlo, input_to_output, output_to_input
from ops.hlo import DimensionLabels, Window
from tests.evaluation import Pair, related
from tests.ops.oracle import felt

if TYPE_CHECKING:
    from indexing import IndexingMap

Sizes = tuple[int, ...]

MOST_ELEMENTS = 48
"""More would take long: a program runs twice for each element."""


# What is drawn.


def windows(rank: int, *, plain: bool = False) -> st.SearchStrategy[Window]:
    """Small windows; plain ones have no dilation, and no padding that cuts elements off."""

    def entries(most: int) -> st.SearchStrategy[Sizes]:
        return st.tuples(*[st.integers(1, most)] * rank)

    edge = st.integers(0 if plain else -2, 3)
    ones = st.just((1,) * rank)
    return st.builds(
        Window,
        size=entries(3),
        stride=entries(3),
        pad=st.tuples(*[st.tuples(edge, edge)] * rank),
        lhs_dilate=ones if plain else entries(3),
        rhs_dilate=ones if plain else entries(3),
    )


def shapes(rank: int, most: int = MOST_ELEMENTS) -> st.SearchStrategy[Sizes]:
    return st.tuples(*[st.integers(0, 5)] * rank).filter(lambda sizes: prod(sizes) <= most)


@st.composite
def windowed(draw: st.DrawFn, least_rank: int = 0, *, plain: bool = False) -> tuple[Sizes, Window]:
    """An operand, and windows on it that are not too many."""
    rank = draw(st.integers(least_rank, 4))
    sizes, window = draw(shapes(rank)), draw(windows(rank, plain=plain))
    if prod(ops.reduce_window(sizes, window).output_sizes) > 4 * MOST_ELEMENTS:
        window = Window(size=window.size)
    return sizes, window


@dataclass(frozen=True)
class Convolution:
    """Operands and attributes."""

    lhs: Sizes
    rhs: Sizes
    labels: DimensionLabels
    window: Window
    feature_groups: int = 1
    batch_groups: int = 1

    @property
    def indexing(self) -> ops.OpIndexing:
        return ops.convolution(
            self.lhs,
            self.rhs,
            self.labels,
            self.window,
            feature_group_count=self.feature_groups,
            batch_group_count=self.batch_groups,
        )

    @property
    def text(self) -> str:
        result = array("f32", self.indexing.output_sizes)
        window = f", window={{{self.window}}}" if self.window.rank else ""
        groups = f"feature_group_count={self.feature_groups}, batch_group_count={self.batch_groups}"
        return f"""HloModule m

        ENTRY e {{
          lhs = {array("f32", self.lhs)} parameter(0)
          rhs = {array("f32", self.rhs)} parameter(1)
          ROOT r = {result} convolution(lhs, rhs){window}, dim_labels={self.labels}, {groups}
        }}"""


@st.composite
def convolutions(draw: st.DrawFn) -> Convolution:
    """Convolutions of all kinds, with dimensions in any order."""
    rank = draw(st.integers(0, 4))
    spatial, window = draw(shapes(rank, most=12)), draw(windows(rank))
    reversal = draw(st.tuples(*[st.integers(0, 1)] * rank))
    window = Window(
        window.size, window.stride, window.pad, window.lhs_dilate, window.rhs_dilate, reversal
    )
    if prod(ops.reduce_window(spatial, window).output_sizes) > MOST_ELEMENTS:
        window = Window(size=window.size, rhs_reversal=reversal)
    features, batches = draw(st.sampled_from([(1, 1), (2, 1), (3, 1), (1, 2), (1, 3)]))
    group, batch, outputs = (draw(st.integers(0, 2)) for _ in range(3))
    letters = [str(number) for number in range(rank)]
    sizes = dict(zip(letters, spatial, strict=True)) | {"b": batch * batches, "f": group * features}
    kernel = dict(zip(letters, window.size, strict=True))
    kernel |= {"i": group, "o": outputs * features * batches}
    orders = ["".join(draw(st.permutations([*letters, *others]))) for others in ("bf", "io", "bf")]
    return Convolution(
        tuple(sizes[label] for label in orders[0]),
        tuple(kernel[label] for label in orders[1]),
        DimensionLabels(*orders),
        window,
        features,
        batches,
    )


# Programs.


def array(element_type: str, sizes: Sizes) -> str:
    return f"{element_type}[{','.join(map(str, sizes))}]"


def reduction(sizes: Sizes, window: Window) -> str:
    result = array("s32", ops.reduce_window(sizes, window).output_sizes)
    written = f"window={{{window}}}, " if window.rank else ""
    return f"""HloModule m

    sum {{
      a = s32[] parameter(0)
      b = s32[] parameter(1)
      ROOT c = s32[] add(a, b)
    }}

    ENTRY e {{
      x = {array("s32", sizes)} parameter(0)
      i = s32[] parameter(1)
      ROOT r = {result} reduce-window(x, i), {written}to_apply=sum
    }}"""


def double_reduction(sizes: Sizes, window: Window) -> str:
    """Either result sums up both inputs."""
    operand = array("s32", sizes)
    result = array("s32", ops.reduce_window(sizes, window).output_sizes)
    written = f"window={{{window}}}, " if window.rank else ""
    return f"""HloModule m

    sums {{
      a = s32[] parameter(0)
      b = s32[] parameter(1)
      c = s32[] parameter(2)
      d = s32[] parameter(3)
      both = s32[] add(c, d)
      e = s32[] add(a, both)
      f = s32[] add(b, both)
      ROOT g = (s32[], s32[]) tuple(e, f)
    }}

    ENTRY e {{
      x = {operand} parameter(0)
      y = {operand} parameter(1)
      i = s32[] parameter(2)
      j = s32[] parameter(3)
      ROOT r = ({result}, {result}) reduce-window(x, y, i, j), {written}to_apply=sums
    }}"""


def scattering(sizes: Sizes, window: Window) -> str:
    operand = array("s32", sizes)
    source = array("s32", ops.reduce_window(sizes, window).output_sizes)
    written = f"window={{{window}}}, " if window.rank else ""
    return f"""HloModule m

    larger {{
      a = s32[] parameter(0)
      b = s32[] parameter(1)
      ROOT c = pred[] compare(a, b), direction=GE
    }}

    sum {{
      a = s32[] parameter(0)
      b = s32[] parameter(1)
      ROOT c = s32[] add(a, b)
    }}

    ENTRY e {{
      x = {operand} parameter(0)
      s = {source} parameter(1)
      i = s32[] parameter(2)
      ROOT r = {operand} select-and-scatter(x, s, i), {written}select=larger, scatter=sum
    }}"""


# Against JAX.


def swapped(pairs: set[Pair]) -> set[Pair]:
    return {(second, first) for first, second in pairs}


def maps_of(text: str, operand: int, output: int = 0) -> tuple[IndexingMap, IndexingMap]:
    """The maps that the root answers with: to an operand, and back."""
    root = hlo.parse(text).entry.root
    there = output_to_input(root, output).indexing[operand]
    back = input_to_output(root, operand).indexing[output]
    assert not isinstance(there, ops.Unknown)
    assert not isinstance(back, ops.Unknown)
    return there[0].map, back[0].map


def pairs_of(text: str, operand: int, output: int = 0) -> set[Pair]:
    """The pairs (index in the result, index in an operand), which both directions agree on."""
    there, back = maps_of(text, operand, output)
    pairs = related(there)
    assert pairs == swapped(related(back))
    return pairs


@pytest.mark.needs("jax")
@given(case=windowed())
def test_windows_fold_what_jax_folds(case: tuple[Sizes, Window]) -> None:
    text, (sizes, _) = reduction(*case), case
    assert pairs_of(text, 0) == felt(text, 0)
    forgotten = set[Pair]() if sizes else {((), ())}  # XLA gives a scalar as it is
    assert pairs_of(text, 1) == felt(text, 1) | forgotten


@pytest.mark.needs("jax")
@settings(max_examples=10)
@given(case=windowed(least_rank=1))  # XLA forgets all but one operand of scalars
def test_each_of_several_results_folds_every_input(case: tuple[Sizes, Window]) -> None:
    text = double_reduction(*case)
    for operand, output in product(range(2), range(2)):
        assert pairs_of(text, operand, output) == felt(text, operand, output=output)
    for operand, output in product((2, 3), range(2)):
        assert pairs_of(text, operand, output) >= felt(text, operand, output=output)


@pytest.mark.needs("jax")
@given(case=convolutions())
def test_convolutions_sum_what_jax_sums(case: Convolution) -> None:
    text = case.text
    assert pairs_of(text, 0) == felt(text, 0)
    to_lhs, to_rhs = (maps_of(text, operand)[0] for operand in range(2))
    factors = {(dims, to_rhs.evaluate(dims, ranges)) for dims, ranges, _, _ in to_lhs.points()}
    assert factors == felt(text, 1)
    assert factors <= pairs_of(text, 1)


@pytest.mark.needs("jax")
@settings(max_examples=20)
@given(case=windowed(least_rank=1, plain=True))  # XLA breaks off at scalars
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
    assert seen[0] <= pairs_of(text, 0) <= seen[0] | alone
    assert seen[1] == pairs_of(text, 1)
    assert felt(text, 2) == pairs_of(text, 2)
