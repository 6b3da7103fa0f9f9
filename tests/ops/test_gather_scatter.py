"""Gather and scatter: maps of all dimension numbers against XLA, and what is refused."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import ops
from indexing import IndexingMap
from ops import REGISTRY, OpIndexing, Origin, hlo, input_to_output, output_to_input
from tests.cases import for_all
from tests.evaluation import Pair, related
from tests.extent import examples
from tests.ops.answers import only
from tests.ops.labelled_elements import Sizes, shapes, summing
from tests.ops.oracle import felt, moved
from tests.ops.programs import array, braced, module
from tests.ops.reached_elements import related_given

EXAMPLES = examples(60)


@dataclass(frozen=True)
class Windows:
    """Dimension numbers, in the words of neither operation, with values of the indices."""

    operand: Sizes
    indices: Sizes
    windows: Sizes
    """The sizes of the tensor of windows."""
    window_sizes: Sizes
    window_dims: Sizes
    dropped: Sizes
    indexed: Sizes
    index_vector_dim: int
    operand_batching: Sizes
    indices_batching: Sizes
    values: tuple[int, ...]

    @property
    def starts(self) -> np.ndarray[Any, Any]:
        return np.array(self.values, dtype=np.int32).reshape(self.indices)

    @property
    def gather_attributes(self) -> dict[str, Any]:
        dims = {"offset_dims": self.window_dims, "collapsed_slice_dims": self.dropped}
        dims |= {"start_index_map": self.indexed, "operand_batching_dims": self.operand_batching}
        dims |= {"start_indices_batching_dims": self.indices_batching}
        return dims | {"index_vector_dim": self.index_vector_dim, "slice_sizes": self.window_sizes}

    @property
    def scatter_attributes(self) -> dict[str, Any]:
        dims = {"update_window_dims": self.window_dims, "inserted_window_dims": self.dropped}
        dims |= {"scatter_dims_to_operand_dims": self.indexed}
        dims |= {"input_batching_dims": self.operand_batching}
        dims |= {"scatter_indices_batching_dims": self.indices_batching}
        return dims | {"index_vector_dim": self.index_vector_dim}

    @property
    def gather_text(self) -> str:
        operands = [array("s32", self.operand), array("s32", self.indices)]
        return module(array("s32", self.windows), "gather", operands, _text(self.gather_attributes))

    @property
    def scatter_text(self) -> str:
        sizes = self.operand, self.indices, self.windows
        operands = [array("s32", each) for each in sizes]
        attributes = f"{_text(self.scatter_attributes)}, to_apply=sum"
        return module(operands[0], "scatter", operands, attributes, summing(2))


def _text(attributes: dict[str, Any]) -> str:
    pairs = attributes.items()
    given = [each for each in pairs if each[1] != () or not each[0].endswith("batching_dims")]
    return ", ".join(f"{name}={n if isinstance(n, int) else braced(n)}" for name, n in given)


KEPT, DROPPED, BATCHING = "kept", "dropped", "batching"


@st.composite
def all_windows(draw: st.DrawFn) -> Windows:
    """Any valid dimension numbers, of tensors that are not large."""
    operand = draw(shapes(most_elements=60))
    may_be = {False: (KEPT, KEPT, DROPPED, BATCHING), True: (KEPT, KEPT, BATCHING)}
    roles = [draw(st.sampled_from(may_be[size == 0])) for size in operand]
    kept, dropped, batching = (
        tuple(place for place, role in enumerate(roles) if role == wanted)
        for wanted in (KEPT, DROPPED, BATCHING)
    )
    moved_dims = [place for place in (*kept, *dropped) if draw(st.booleans())]
    indexed = tuple(draw(st.permutations(moved_dims)))
    window = tuple(
        draw(st.integers(0 if draw(st.booleans()) else min(1, size), size))
        if role == KEPT
        else min(1, size)
        for size, role in zip(operand, roles, strict=True)
    )
    batch, order = draw(_batch([operand[place] for place in batching]))
    vector_dim = draw(st.integers(0, len(batch)))
    is_implicit = len(indexed) == 1 and draw(st.booleans())
    if is_implicit:
        vector_dim = len(batch)
    indices = batch if is_implicit else (*batch[:vector_dim], len(indexed), *batch[vector_dim:])
    rank = len(batch) + len(kept)
    window_dims = tuple(sorted(draw(st.permutations(range(rank)))[: len(kept)]))
    rest, extents = iter(batch), iter(window[place] for place in kept)
    windows = tuple(next(extents if place in window_dims else rest) for place in range(rank))
    places = tuple(place + (not is_implicit and place >= vector_dim) for place in order)
    numbers = window_dims, dropped, indexed, vector_dim, batching, places
    values = tuple(draw(st.integers(-2, 6)) for _ in range(prod(indices)))
    return Windows(operand, indices, windows, window, *numbers, values)


@st.composite
def _batch(draw: st.DrawFn, batching: list[int]) -> tuple[Sizes, Sizes]:
    """The sizes of a batch with these among them, and the places where they are."""
    sizes = [*batching, *draw(st.lists(st.integers(0, 3), max_size=2))]
    order = draw(st.permutations(range(len(sizes))))
    places = tuple(order.index(number) for number in range(len(batching)))
    return tuple(sizes[number] for number in order), places


def swapped(pairs: set[Pair]) -> set[Pair]:
    return {(second, first) for first, second in pairs}


def known(indexing_map: IndexingMap, origins: tuple[Origin, ...], windows: Windows) -> set[Pair]:
    return related_given(indexing_map, origins, lambda _: windows.starts)


def both_ways(indexing: OpIndexing, operand: int, windows: Windows) -> set[Pair]:
    """What both maps say of an operand, if that is the same."""
    there = known(indexing.output_to_input[operand], indexing.output_origins[operand], windows)
    back = known(indexing.input_to_output[operand], indexing.input_origins[operand], windows)
    assert there == swapped(back)
    return there


def gather_of(windows: Windows) -> OpIndexing:
    indexing = ops.gather(windows.operand, windows.indices, **windows.gather_attributes)
    assert indexing.output_sizes == windows.windows
    return indexing


def scatter_of(windows: Windows) -> OpIndexing:
    sizes = windows.operand, windows.indices, windows.windows
    indexing = ops.scatter(*sizes, **windows.scatter_attributes)
    assert indexing.output_sizes == windows.operand
    return indexing


def both_of(windows: Windows) -> list[tuple[str, OpIndexing]]:
    makers = (windows.gather_text, gather_of), (windows.scatter_text, scatter_of)
    return [(text, make(windows)) for text, make in makers]


def can_scatter(windows: Windows) -> bool:
    """XLA drops updates, or fails, where it is to scatter several windows onto one element.

    The specification scatters them all: see ``DEGENERATE``.
    """
    is_led = bool(windows.indexed or windows.operand_batching) and prod(windows.operand) != 1
    return is_led or len(windows.windows) == len(windows.window_dims)


@pytest.mark.needs("jaxlib")
@EXAMPLES
@given(all_windows())
def test_gather_reads_what_xla_reads(windows: Windows) -> None:
    seen = moved(windows.gather_text, 0, {1: windows.starts})
    assert both_ways(gather_of(windows), 0, windows) == seen


@pytest.mark.needs("jaxlib")
@EXAMPLES
@given(all_windows())
def test_scatter_writes_what_xla_writes(windows: Windows) -> None:
    assume(can_scatter(windows))
    seen = felt(windows.scatter_text, 2, {1: windows.starts})
    indexing = scatter_of(windows)
    assert both_ways(indexing, 2, windows) == seen
    same = {(index, index) for index in np.ndindex(windows.operand)}
    assert both_ways(indexing, 0, windows) == same


# By the specification: no dimension numbers are left out, whatever XLA makes of them.


def starts_of(windows: Windows, batch: Sizes) -> list[int]:
    """Where the window of a batch index begins in the operand, as its index vector says it."""
    starts = [0] * len(windows.operand)
    for component, axis in enumerate(windows.indexed):
        is_implicit = windows.index_vector_dim == len(windows.indices)
        at = windows.index_vector_dim
        index = batch if is_implicit else (*batch[:at], component, *batch[at:])
        starts[axis] = int(windows.starts[index])
    for axis, place in zip(windows.operand_batching, windows.indices_batching, strict=True):
        starts[axis] = batch[place - (place > windows.index_vector_dim)]
    return starts


def specified(windows: Windows, *, is_clamped: bool) -> set[Pair]:
    """Pairs of indices in the windows and in the operand, element by element."""
    pairs: set[Pair] = set()
    others = {*windows.dropped, *windows.operand_batching}
    kept = [axis for axis in range(len(windows.operand)) if axis not in others]
    for index in np.ndindex(windows.windows):
        batch = tuple(at for axis, at in enumerate(index) if axis not in windows.window_dims)
        starts, offsets = starts_of(windows, batch), [0] * len(windows.operand)
        for axis, place in zip(kept, windows.window_dims, strict=True):
            offsets[axis] = index[place]
        room = [n - size for n, size in zip(windows.operand, windows.window_sizes, strict=True)]
        if is_clamped:
            starts = [min(max(0, start), most) for start, most in zip(starts, room, strict=True)]
        if all(0 <= start <= most for start, most in zip(starts, room, strict=True)):
            place = tuple(map(sum, zip(starts, offsets, strict=True)))
            pairs.add((index, place))
    return pairs


DEGENERATE = {
    "rows-without-index": Windows((2,), (3, 0), (3, 2), (2,), (1,), (), (), 1, (), (), ()),
    "index-vectors-first": Windows((2,), (0, 3), (3, 2), (2,), (1,), (), (), 0, (), (), ()),
    "elements-without-index": Windows((2,), (3, 0), (3,), (1,), (), (0,), (), 1, (), (), ()),
    "one-of-two-dropped": Windows((2, 2), (3, 0), (3, 2), (1, 2), (1,), (0,), (), 1, (), (), ()),
    "no-batch": Windows((2,), (0,), (2,), (2,), (0,), (), (), 0, (), (), ()),
    "no-batch-no-window": Windows((2,), (0,), (), (1,), (), (0,), (), 0, (), (), ()),
    "scalar": Windows((), (3, 0), (3,), (), (), (), (), 1, (), (), ()),
    "scalar-once": Windows((), (0,), (), (), (), (), (), 0, (), (), ()),
    "part-of-the-operand": Windows((3,), (2, 3, 0), (2, 3, 2), (2,), (2,), (), (), 2, (), (), ()),
    "batch-without-index": Windows((2, 4), (2, 0), (2, 4), (1, 4), (1,), (), (), 1, (0,), (0,), ()),
    "empty-batch": Windows((4,), (0, 1), (0, 2), (2,), (1,), (), (0,), 1, (), (), ()),
    "empty-windows": Windows((4,), (2, 1), (2, 0), (0,), (1,), (), (0,), 1, (), (), (1, 9)),
    "implicit-vector": Windows((4,), (), (), (1,), (), (0,), (0,), 0, (), (), (3,)),
    "out-of-bounds": Windows((4,), (2,), (2, 2), (2,), (1,), (), (0,), 1, (), (), (-1, 3)),
}
"""Dimension numbers at the border of what there is, above all without index vectors."""


def check_specified(windows: Windows) -> None:
    assert both_ways(gather_of(windows), 0, windows) == specified(windows, is_clamped=True)
    written = swapped(both_ways(scatter_of(windows), 2, windows))
    assert written == specified(windows, is_clamped=False)


@for_all(DEGENERATE)
def test_degenerate_dimension_numbers_mean_what_is_specified(windows: Windows) -> None:
    check_specified(windows)


@EXAMPLES
@given(all_windows())
def test_all_dimension_numbers_mean_what_is_specified(windows: Windows) -> None:
    check_specified(windows)


@pytest.mark.needs("jaxlib")
@examples(20)
@given(all_windows())
def test_indices_are_felt_where_the_maps_say(windows: Windows) -> None:
    assume(can_scatter(windows))
    for text, indexing in both_of(windows):
        assert felt(text, 1, {1: windows.starts}) <= both_ways(indexing, 1, windows)


@EXAMPLES
@given(all_windows())
def test_every_index_may_be_that_of_a_window(windows: Windows) -> None:
    """The maps to the indices lead to no others than to the origins of the other maps."""
    for indexing, operand in ((gather_of(windows), 0), (scatter_of(windows), 2)):
        reading = indexing.output_to_input[operand]
        forms = (origin.map.forms for origin in indexing.output_origins[operand])
        origins = (IndexingMap.from_forms(each, reading.domain) for each in forms)
        expected = set[object]().union(*map(related, origins))
        assert both_ways(indexing, 1, windows) == expected


@EXAMPLES
@given(all_windows())
def test_simplified_maps_say_the_same(windows: Windows) -> None:
    for _, indexing in both_of(windows):
        for way in (*indexing.output_to_input, *indexing.input_to_output):
            assert related(way.simplify()) == related(way)


@examples(20)
@given(all_windows())
def test_instructions_have_the_maps_of_their_operations(windows: Windows) -> None:
    for text, indexing in both_of(windows):
        root = hlo.parse(text).entry.root
        there = output_to_input(root).indexing
        assert tuple(only(answer).map for answer in there) == indexing.output_to_input
        back = [input_to_output(root, number).indexing for number in range(len(there))]
        assert tuple(only(answer).map for (answer,) in back) == indexing.input_to_output


def test_indices_of_a_scatter_are_read_for_certain() -> None:
    text = """f { a = f32[] parameter(0) ROOT b = f32[] parameter(1) }
    ENTRY e { x = f32[9] parameter(0) i = s32[4,1] parameter(1) u = f32[4] parameter(2)
      ROOT r = f32[9] scatter(x, i, u), to_apply=f, update_window_dims={}, inserted_window_dims={0},
        scatter_dims_to_operand_dims={0}, index_vector_dim=1 }"""
    root = hlo.parse(text).entry.root
    doubts = [REGISTRY.doubt(root, 0, operand) for operand in range(3)]
    assert [doubt and doubt.spared for doubt in doubts] == [4, None, None]
