"""Schedules: enumerated against kernels as plain loops, run on arrays, checked by isl."""

from __future__ import annotations

from ast import literal_eval
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing import parse_map
from indexing.layout import ElementType, Layout, Shape, ShapeError
from ops import reshape, transpose, xla_gpu
from tests.cases import for_all, pairs
from tests.extent import examples, seldom
from tests.ops import launches
from tests.ops.unfit import refusal

Axes = tuple[int, ...]


def drawn_shape(data: st.DataObject, element: str, sizes: Sequence[int]) -> Shape:
    """A shape of these sizes that lies in memory in any order."""
    order = data.draw(st.permutations(range(len(sizes))))
    return Shape(ElementType(element), tuple(sizes), Layout(tuple(order)))


@examples(60)
@given(data=st.data(), sizes=st.lists(st.integers(0, 5), max_size=3), unroll=st.integers(1, 5))
def test_a_loop_goes_through_memory(data: st.DataObject, sizes: list[int], unroll: int) -> None:
    shape = drawn_shape(data, "f32", sizes)
    counts = st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(1, 2))
    launch = xla_gpu.LaunchDimensions(data.draw(counts), data.draw(counts))
    schedule = xla_gpu.loop_schedule(shape, launch, unroll)
    assert launches.touches(schedule.writes[0].map) == Counter(
        launches.loop_kernel(shape, launch, unroll)
    )
    assert schedule.writes_exactly_once()
    offsets = launches.touches(schedule.writes[0].in_memory())
    assert sorted(place for _, (place,) in offsets) == list(range(shape.element_count))


def test_what_a_loop_reads_follows_from_the_operation() -> None:
    result, operand = Shape.parse("f32[6,5]"), Shape.parse("f32[5,6]{0,1}")
    schedule = xla_gpu.loop_schedule(result, xla_gpu.LaunchDimensions.of(2, threads=5), unroll=3)
    way = transpose((5, 6), (1, 0)).output_to_input[0]
    read = schedule.writes[0].through(way, operand)
    values = launches.numbered(operand)
    found = launches.moved([(read, values)], schedule.writes, np.full((6, 5), -1))
    assert (found == values.T).all()
    assert read.in_memory().equals(schedule.writes[0].in_memory())


def test_an_epilogue_writes_where_the_hero_leads() -> None:
    """A transpose, a bitcast to one dimension, and something elementwise at the root."""
    hero, root = Shape.parse("f32[40,1000]"), Shape.parse("f32[40000]")
    schedule = xla_gpu.transpose_schedule(Shape.parse("f32[1000,40]"), hero, (1, 0))
    way = reshape((40, 1000), (40000,)).input_to_output[0]
    assert str(way) == "(d0, d1) -> (d0 * 1000 + d1), domain: d0 in [0, 39], d1 in [0, 999]"
    written = schedule.writes[0].through(way, root)
    assert written.is_exactly_once()
    assert written.map.equals(schedule.writes[0].in_memory())


TRANSPOSES = [
    ((1, 40, 33, 1), 8, 1),
    ((2, 5, 35, 1), 4, 1),
    ((1, 64, 64, 1), 8, 2),
    ((1, 70, 5, 1), 5, 1),
    ((1, 34, 3, 2), 8, 2),
]


@for_all(TRANSPOSES)
def test_transposes_go_through_tiles(sizes: tuple[int, ...], rows: int, vector_size: int) -> None:
    batch, height, width, inner = sizes
    operand = Shape.parse(f"f32[{batch},{height},{width},{inner}]")
    result = Shape.parse(f"f32[{batch},{width},{height},{inner}]")
    how = {"rows": rows, "vector_size": vector_size}
    schedule = xla_gpu.transpose_schedule(operand, result, (0, 2, 1, 3), **how)
    (read,), (written,) = schedule.reads, schedule.writes
    assert read is not None
    assert (launches.touches(read.map), launches.touches(written.map)) == launches.transpose_kernel(
        sizes, **how
    )


PACKED = xla_gpu.packed_transpose_schedule
MOVED = pairs("""
f32[5,7] f32[7,5] (1, 0) => vector_size=1
f32[5,7] f32[5,7]{0,1} (0, 1) => vector_size=1
f32[40,3,2] f32[3,40,2] (1, 0, 2) => vector_size=1
f32[2,3,4,5] f32[4,5,2,3] (2, 3, 0, 1) => vector_size=2
f32[2,3,4,5] f32[5,3,2,4] (3, 1, 0, 2) => vector_size=1
f32[2,3,4,5]{0,2,1,3} f32[5,4,2,3]{1,3,0,2} (3, 2, 0, 1) => vector_size=1
f32[1,5,1,7] f32[7,1,5,1] (3, 0, 1, 2) => vector_size=4
f32[3,0] f32[0,3] (1, 0) => vector_size=1
f32[3,4,0] f32[4,3,0] (1, 0, 2) => vector_size=1
bf16[70,66] bf16[66,70] (1, 0) => warps=4
s8[130,9] s8[9,130] (1, 0) => warps=3
s4[20,300] s4[300,20] (1, 0) => warps=4
bf16[6,5,7] bf16[7,5,6] (2, 1, 0) => warps=4
bf16[3,33,20] bf16[3,20,33] (0, 2, 1) => warps=2
s8[5,3,2,4] s8[4,2,5,3] (3, 2, 0, 1) => warps=4
bf16[8,5]{0,1} bf16[8,5] (0, 1) => warps=1
bf16[0,5] bf16[5,0] (1, 0) => warps=4
bf16[6,0] bf16[0,6] (1, 0) => warps=4
""")
"""Shapes and a permutation; vectors of a plain transpose, or warps of one of packed elements."""


@for_all(MOVED.items())
def test_a_transpose_moves_every_element(text: str, how: str) -> None:
    before, after, permutation = text.split(maxsplit=2)
    operand, result, dimensions = Shape.parse(before), Shape.parse(after), literal_eval(permutation)
    name, _, count = how.partition("=")
    build = xla_gpu.transpose_schedule if name == "vector_size" else PACKED
    schedule = build(operand, result, dimensions, **{name: int(count)})
    check_transposed(schedule, operand, result, dimensions)
    assert schedule.writes_exactly_once()
    assert [read and read.is_exactly_once() for read in schedule.reads] == [True]


def check_transposed(
    schedule: xla_gpu.TransposeSchedule, operand: Shape, result: Shape, dimensions: Sequence[int]
) -> None:
    values = launches.numbered(operand)
    found = launches.transposed(schedule, values, np.full(result.dimensions, -1))
    assert (found == values.transpose(dimensions)).all()


TILES = [
    (xla_gpu.transpose_schedule, "f32[64,64]", (1, 0), 1),
    (xla_gpu.transpose_schedule, "f32[2,32,32]", (0, 2, 1), 1),
    (PACKED, "bf16[64,64]", (1, 0), 2),
    (PACKED, "s8[128,128]", (1, 0), 4),
]


@for_all(TILES)
def test_warps_find_every_word_in_a_bank_of_its_own(
    build: Callable[..., xla_gpu.TransposeSchedule], text: str, order: Sequence[int], per_word: int
) -> None:
    shared = build(Shape.parse(text), Shape.parse(text), order).shared
    for places in (shared.written, shared.read):
        assert launches.most_threads_on_a_bank(places, shared.sizes, per_word) == 1
    if per_word == 1:
        unpadded = (*shared.sizes[:-1], shared.sizes[-1] - 1)
        assert launches.most_threads_on_a_bank(shared.written, unpadded, per_word) == 32


@seldom
@given(data=st.data(), sizes=st.lists(st.integers(1, 9), min_size=2, max_size=4))
def test_any_transpose_moves_every_element(data: st.DataObject, sizes: list[int]) -> None:
    dimensions = data.draw(st.permutations(range(len(sizes))))
    operand = drawn_shape(data, "s8", sizes)
    result = drawn_shape(data, "s8", [sizes[place] for place in dimensions])
    build = data.draw(st.sampled_from([xla_gpu.transpose_schedule, PACKED]))
    try:
        schedule = build(operand, result, dimensions)
    except ShapeError:
        return  # nothing changes places, or the last dimension stays
    check_transposed(schedule, operand, result, dimensions)


REDUCED = pairs("""
row => f32[5,70] (1,) 1; f32[5,70] (1,) 4; f32[3,9,40] (0,2) 2; f32[40,9]{0,1} (0,) 1;
        f32[2,2100] (1,) 1; f32[3,0] (1,) 1
multi_row => f32[70,4] (1,) 1; f32[2,30,16] (0,2) 4; f32[5,6] (1,) 1
column => f32[35,5] (0,) 1; f32[0,5] (0,) 1; f32[4,0] (0,) 1; f32[2,33,40] (1,) 2;
        f32[2,3,4]{0,2,1} (1,) 1
small_column => f32[3,50,4] (1,) 1; f32[2,9,16] (1,) 4; f32[60,2] (0,) 4; f32[30,8] (0,) 2;
        f32[40,32] (0,) 8
""")
"""For each kind of reduction arrays, the dimensions that are folded, and the size of vectors."""


def reduction(text: str, axes: Axes, kind: str = "", vector_size: int = 1) -> xla_gpu.Schedule:
    """The schedule of a reduction to a result in the default layout."""
    operand = Shape.parse(text)
    kept = [n for place, n in enumerate(operand.dimensions) if place not in axes]
    result = Shape.parse(f"f32[{','.join(map(str, kept))}]")
    return xla_gpu.reduce_schedule(operand, result, axes, kind=kind, vector_size=vector_size)


def folded(operand: Shape, axes: Axes, **how: Any) -> xla_gpu.Schedule:  # noqa: ANN401 - numbers and a kind
    """The schedule of a reduction, which is seen to add up what NumPy adds up."""
    schedule = reduction(str(operand), axes, **how)
    values = launches.numbered(operand)
    expected = values.sum(axis=axes, keepdims=True)
    assert (launches.reduced(schedule, values, np.full(expected.shape, -1)) == expected).all()
    assert schedule.writes_exactly_once()
    return schedule


@for_all([(kind, row) for kind, rows in REDUCED.items() for row in rows.split("; ")])
def test_reductions_fold_every_element(kind: str, row: str) -> None:
    text, axes, size = row.split()
    schedule = folded(Shape.parse(text), literal_eval(axes), kind=kind, vector_size=int(size))
    assert [read and read.is_exactly_once() for read in schedule.reads] == [True, None]


@given(
    data=st.data(),
    sizes=st.lists(st.integers(2, 9), min_size=1, max_size=3),
    vector_size=st.sampled_from([1, 2, 4, 8]),
)
def test_any_reduction_folds_all(data: st.DataObject, sizes: list[int], vector_size: int) -> None:
    dimensions = data.draw(st.sets(st.sampled_from(range(len(sizes))), min_size=1))
    operand = drawn_shape(data, "f32", sizes)
    folded(operand, tuple(dimensions), vector_size=vector_size)


def test_rows_that_blocks_share_are_written_twice() -> None:
    schedule = reduction("f32[3,40000]", (1,))
    assert [read and read.is_exactly_once() for read in schedule.reads] == [True, None]
    assert schedule.writes[0].covers()
    assert not schedule.writes_exactly_once()
    assert not schedule.never_writes_twice()


def test_a_group_of_reductions_has_blocks_of_its_own() -> None:
    row, scalar = Shape.parse("f32[36]"), Shape.parse("f32[]")
    found = [xla_gpu.reduce_schedule(row, scalar, (0,), groups=2, group=group) for group in (0, 1)]
    blocks = [{dims[5] for dims, *_ in one.writes[0].map.points()} for one in found]
    assert [one.launch.blocks for one in found] == [(1, 1, 2)] * 2
    assert blocks == [{0}, {1}]
    assert all(one.writes_exactly_once() for one in found)


def test_blocks_laid_out_in_x_and_y_do_the_same() -> None:
    operand, result = Shape.parse("f32[40,200]"), Shape.parse("f32[40]")
    wide = xla_gpu.reduce_schedule(operand, result, (1,), most_blocks=3)
    assert wide.launch.blocks == (3, 2, 1)
    assert wide.writes_exactly_once()
    assert [read and read.is_exactly_once() for read in wide.reads] == [True, None]


KINDS = [
    ("f32[5,70]", (1,), True, (1, 5, 70), "row"),
    ("f32[5,8]", (1,), True, (1, 5, 8), "multi_row"),
    ("f32[3,5,70]", (0, 2), True, (3, 5, 70), "row"),
    ("f32[3,5,70]", (1,), False, (3, 5, 70), "column"),
    ("f32[3,5,16]", (1,), False, (3, 5, 16), "small_column"),
    ("f32[3,5,7]{0,1,2}", (0, 1), True, (1, 7, 15), "row"),
    ("f32[5,1,7]", (1,), False, (1, 1, 35), "column"),
    ("f32[1,1]", (0,), True, (1, 1, 1), "multi_row"),
]


@for_all(KINDS)
def test_the_dimensions_of_a_reduction(
    text: str, dimensions: tuple[int, ...], of_rows: bool, sizes: tuple[int, int, int], kind: str
) -> None:
    found = xla_gpu.ReductionDimensions.of(Shape.parse(text), dimensions)
    assert found == xla_gpu.ReductionDimensions(of_rows, sizes)
    assert found.kind == kind


@pytest.mark.parametrize("unroll", [1, 4])
@pytest.mark.parametrize("parts", [(3, 5, 4), (5,), (0, 3), (4, 4)])
def test_a_concatenation_writes_every_part(parts: tuple[int, ...], unroll: int) -> None:
    operands = [Shape.parse(f"f32[2,{part},3]") for part in parts]
    result = Shape.parse(f"f32[2,{sum(parts)},3]")
    launch = xla_gpu.LaunchDimensions.for_elements(6 * max(parts), unroll=unroll)
    schedule = xla_gpu.concatenate_schedule(operands, result, 1, launch, unroll)
    arrays = [launches.numbered(operand) + 100 * place for place, operand in enumerate(operands)]
    pairs = zip(schedule.reads, arrays, strict=True)
    reads = [(read, array) for read, array in pairs if read is not None]
    found = launches.moved(reads, schedule.writes, np.full(result.dimensions, -1))
    assert (found == np.concatenate(arrays, axis=1)).all()
    assert all(read.is_exactly_once() for read, _ in reads)
    assert schedule.writes_exactly_once()


def test_a_check_of_several_writes_sees_what_is_wrong() -> None:
    operands = [Shape.parse("f32[3]"), Shape.parse("f32[5]")]
    launch = xla_gpu.LaunchDimensions.for_elements(5)
    right = xla_gpu.concatenate_schedule(operands, Shape.parse("f32[8]"), 0, launch)
    first, second = right.writes
    ways = (parse_map(f"(d0) -> (d0 + {by}), domain: d0 in [0, 7]") for by in (1, -1, 8))
    moved_on, moved_back, beyond = (second.through(way, second.shape) for way in ways)
    assert right.writes_exactly_once()
    twice = (first, first), (second, second)
    for writes in ((first, moved_on), (first, moved_back), *twice, (first, second, beyond)):
        assert not replace(right, writes=writes).writes_exactly_once()
    assert not replace(right, writes=(first, moved_back)).never_writes_twice()
    assert replace(right, writes=(first, moved_on)).never_writes_twice()


@pytest.mark.parametrize("starts", [(0, 0), (2, 3), (15, 24)])
def test_an_update_writes_its_part(starts: tuple[int, int]) -> None:
    operand, update = Shape.parse("f32[20,30]"), Shape.parse("f32[5,6]")
    launch = xla_gpu.LaunchDimensions.for_elements(30, unroll=2)
    known = xla_gpu.in_place_update_schedule(operand, update, launch, 2, starts)
    unknown = xla_gpu.in_place_update_schedule(operand, update, launch, 2)
    values = launches.numbered(update) + 1
    expected = np.zeros(operand.dimensions, dtype=int)
    expected[starts[0] : starts[0] + 5, starts[1] : starts[1] + 6] = values
    read = known.reads[1]
    assert read is not None
    found = launches.moved([(read, values)], known.writes, np.zeros(operand.dimensions, dtype=int))
    assert (found == expected).all()
    there = [(d, r, found) for d, r, at, found in unknown.writes[0].map.points() if at == starts]
    assert there == [(d, r, found) for d, r, _, found in known.writes[0].map.points()]
    assert unknown.never_writes_twice()
    assert not unknown.writes[0].map.is_injective()
    assert not known.writes_exactly_once()


def test_too_few_threads_are_seen() -> None:
    vector = Shape.parse("f32[100]")
    schedule = xla_gpu.loop_schedule(vector, xla_gpu.LaunchDimensions.of(1, threads=10))
    short = replace(schedule.writes[0], map=schedule.writes[0].map.with_constraint(0, (0, 0)))
    assert short.is_exactly_once()
    assert not xla_gpu.Access(short.map, Shape.parse("f32[101]")).covers()
    assert not xla_gpu.Access(short.map, Shape.parse("f32[99]")).is_exactly_once()


MISTAKES = pairs("""
LaunchDimensions.of(0, 32) => launch: there are (0, 1, 1) blocks; expected three
loop_schedule(Shape.parse("f32[3]"), LaunchDimensions.of(1, 32), 0)
    loop: unroll is 0; expected 1 or more
transpose_schedule(Shape.parse("f32[3,1]"), Shape.parse("f32[1,3]"), (1, 0))
    lie in memory in one order; expected a transposed one
transpose_schedule(Shape.parse("f32[3,2]"), Shape.parse("f32[3,2]"), (1, 0))
    transpose: dimension 0 of the result has size 3; expected 2, as in the operand
packed_transpose_schedule(Shape.parse("f32[4,4]"), Shape.parse("f32[4,4]"), (1, 0))
    have 32 bits; expected less than 32, to pack them
packed_transpose_schedule(Shape.parse("s8[4,3,2]"), Shape.parse("s8[3,4,2]"), (1, 0, 2))
    stays the last; expected another, to pack elements along both
reduction("f32[2,3,4,5]", (0, 2))
    has 4 runs of folded and kept dimensions along (0, 2); expected at most 3
reduction("f32[2,3]", (0,), "row")
    reduce: row is not for a reduction of columns of sizes (1, 2, 3)
LaunchDimensions.of(9, 32, most_blocks=0) => launch: most_blocks is 0; expected 1 or more
transpose_schedule(Shape.parse("f32[3,2]"), Shape.parse("f32[2,3]"), (1, 0), vector_size=0)
    transpose: vector_size is 0; expected 1 or more
reduce_schedule(Shape.parse("f32[3]"), Shape.parse("f32[]"), (0,), groups=2, group=2)
    reduce: group is 2; expected one of 2, from 0 on
reduction("f32[2,3]", (0,), "rows") => kind is 'rows'; expected one of row, multi_row
reduction("f32[2,3]", (0,), vector_size=3) => vector_size is 3; expected a power of 2
reduction("f32[9,64]", (1,), "multi_row") => multi_row folds 64 vectors of a row
reduction("f32[9,5]", (0,), "small_column") => small_column has 5 columns
Access(parse_map("(d0) -> (d0), domain: d0 in [0, 2]"), Shape.parse("f32[3,3]"))
    access: the index of f32[3,3]{1,0} has 1 entries; expected 2
sort_schedule([], 0) => there is no input
sort_schedule([Shape.parse("f32[4]")], 1) => dimensions
sort_schedule([Shape.parse("f32[4,1]")], 1) => has 1 elements
sort_schedule([Shape.parse("f32[4]"), Shape.parse("f32[5]")], 0)
    expected arrays of the same sizes
sort_schedule([Shape.parse("f32[4]")], 0, shared_bytes=0) => shared_bytes is 0; expected 1 or more
""")


@for_all(MISTAKES.items())
def test_mistakes_are_named(call: str, message: str) -> None:
    assert message in refusal(call, xla_gpu, Shape=Shape, parse_map=parse_map, reduction=reduction)
