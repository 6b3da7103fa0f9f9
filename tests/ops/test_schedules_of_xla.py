"""Thread maps that XLA's tests state, and those that its analysis of coalescing starts from.

XLA's texts are of several versions: loops of one round are left out or have other names, and sums
are written in another way. So maps are compared as relations, from six coordinates to an index.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pytest

import ops
from indexing import IndexingMap, parse_map
from indexing.layout import Shape
from ops import OpIndexing, xla_gpu
from simplifier import symbol
from tests.cases import by_name, pairs
from tests.conformance import rows_of
from tests.evaluation import Pair

Accesses = tuple[xla_gpu.Access, ...]

COORDINATES = ("th_x", "th_y", "th_z", "bl_x", "bl_y", "bl_z")


def stated(sizes: str, results: str, limits: str = "") -> IndexingMap:
    """A map with coordinates and loops of sizes such as ``th_x: 8``; those left out are 1."""
    counts = dict(each.split(": ") for each in sizes.split(", "))
    loops = [name for name in counts if name not in COORDINATES]
    names = f"[{', '.join(loops)}]" if loops else ""
    bounds = [f"{name} in [0, {int(counts.get(name, 1)) - 1}]" for name in (*COORDINATES, *loops)]
    domain = ", ".join([*bounds, limits] if limits else bounds)
    return parse_map(f"({', '.join(COORDINATES)}){names} -> ({results}), domain: {domain}")


def read(schedule: xla_gpu.Schedule, operand: int = 0) -> xla_gpu.Access:
    found = schedule.reads[operand]
    assert found is not None
    return found


def bulk() -> xla_gpu.Access:
    """The result of a large loop in vectors, of as many blocks as run at a time."""
    launch = xla_gpu.LaunchDimensions.for_elements(6_000_000, unroll=4, most_blocks=1008)
    return xla_gpu.loop_schedule(Shape.parse("f32[100,200,300]"), launch, 4).writes[0]


def plain_loop(text: str) -> xla_gpu.Access:
    """The result of a loop with a thread for each element."""
    shape = Shape.parse(text)
    launch = xla_gpu.LaunchDimensions.for_elements(shape.element_count)
    return xla_gpu.loop_schedule(shape, launch).writes[0]


def looped(result: str, operation: OpIndexing, *operands: str) -> Accesses:
    """What a loop of that kind reads of each operand."""
    return through(plain_loop(result), operation, operands)


def unrolled(result: str, operation: OpIndexing, *operands: str) -> Accesses:
    """What a loop of four neighbours a thread reads of each operand."""
    shape = Shape.parse(result)
    launch = xla_gpu.LaunchDimensions.for_elements(shape.element_count, unroll=4)
    return through(xla_gpu.loop_schedule(shape, launch, 4).writes[0], operation, operands)


def through(written: xla_gpu.Access, operation: OpIndexing, operands: Sequence[str]) -> Accesses:
    pairs = zip(operation.output_to_input, map(Shape.parse, operands), strict=True)
    return tuple(written.through(way, operand) for way, operand in pairs)


def transposing(before: str, after: str, dimensions: tuple[int, ...]) -> xla_gpu.Schedule:
    """A transpose with four rows of threads, as XLA had it when its tests were written."""
    return xla_gpu.transpose_schedule(Shape.parse(before), Shape.parse(after), dimensions, rows=4)


def folding(before: str, after: str, axis: int, kind: str, vector_size: int) -> xla_gpu.Schedule:
    operand, result, how = Shape.parse(before), Shape.parse(after), {"vector_size": vector_size}
    return xla_gpu.reduce_schedule(operand, result, (axis,), kind=kind, **how)


def joining() -> xla_gpu.Schedule:
    """A concatenation, of which the operand in the middle is the largest."""
    *parts, whole = (Shape.parse(f"f32[{size}]") for size in (200, 400, 300, 900))
    launch = xla_gpu.LaunchDimensions.for_elements(400)
    return xla_gpu.concatenate_schedule(parts, whole, 0, launch)


def updating() -> xla_gpu.Schedule:
    operand, update = Shape.parse("f32[20,30]"), Shape.parse("f32[5,6]")
    launch = xla_gpu.LaunchDimensions.for_elements(30)
    return xla_gpu.in_place_update_schedule(operand, update, launch)


CASES = by_name("""
LoopTest.ThreadIndexingUnrolled => bulk() => th_x: 128, bl_x: 1008, c: 12, u: 4
    (((bl_x * 16 + th_x floordiv 8) floordiv 3 + c * 5376) floordiv 625) mod 100,
        (((bl_x * 128 + th_x) floordiv 3 + c * 43008) floordiv 25) mod 200,
        (th_x * 4 + bl_x * 512 + c * 516096) mod 300 + u
    (th_x + bl_x * 128) * 4 + c * 516096 in [0, 5999996]
LoopTest.ThreadIndexingNotUnrolled => plain_loop("f32[20]") => th_x: 20, bl_x: 1 => th_x
LoopTest.Broadcast output => plain_loop("f32[10,20,30]") => th_x: 128, bl_x: 47
    ((bl_x * 16 + th_x floordiv 8) floordiv 75) mod 10,
        ((bl_x * 64 + th_x floordiv 2) floordiv 15) mod 20, (bl_x * 128 + th_x) mod 30
    th_x + bl_x * 128 in [0, 5999]
LoopTest.Broadcast input
    looped("f32[10,20,30]", ops.broadcast((20,), (10, 20, 30), (1,)), "f32[20]")[0]
    th_x: 128, bl_x: 47
    ((bl_x * 64 + th_x floordiv 2) floordiv 15) mod 20 => th_x + bl_x * 128 in [0, 5999]
MlirTransposeFusionTest.ThreadIndexing021 input
    read(transposing("f32[100,32,64]", "f32[100,64,32]", (0, 2, 1))) => th_x: 128, bl_x: 200, s1: 8
    bl_x floordiv 2, th_x floordiv 32 + s1 * 4, (bl_x mod 2) * 32 + th_x mod 32
MlirTransposeFusionTest.ThreadIndexing021 output
    transposing("f32[100,32,64]", "f32[100,64,32]", (0, 2, 1)).writes[0]
    th_x: 128, bl_x: 200, s1: 8
    bl_x floordiv 2, th_x floordiv 32 + (bl_x mod 2) * 32 + s1 * 4, th_x mod 32
MlirTransposeFusionTest.ThreadIndexing201 input
    read(transposing("f32[100,64,32]", "f32[32,100,64]", (2, 0, 1))) => th_x: 128, bl_x: 200, s1: 8
    bl_x floordiv 2, th_x floordiv 32 + (bl_x * 32 + s1 * 4) mod 64, th_x mod 32
MlirTransposeFusionTest.ThreadIndexing201 output
    transposing("f32[100,64,32]", "f32[32,100,64]", (2, 0, 1)).writes[0]
    th_x: 128, bl_x: 200, s1: 8
    th_x floordiv 32 + s1 * 4, bl_x floordiv 2, (bl_x mod 2) * 32 + th_x mod 32
MlirRowReductionTest.ThreadIndexingOutputLayout input
    read(folding("f32[100,64,512]", "f32[100,64]{0,1}", 2, "row", 2))
    th_x: 256, bl_x: 800, s2: 8, s3: 2
    (bl_x * 8 + th_x floordiv 32) floordiv 64, (bl_x * 8 + th_x floordiv 32) mod 64,
        (th_x mod 32 + s2 * 32) * 2 + s3
MlirRowReductionTest.ThreadIndexingOutputLayout output
    folding("f32[100,64,512]", "f32[100,64]{0,1}", 2, "row", 2).writes[0] => th_x: 256, bl_x: 800
    (bl_x * 8 + th_x floordiv 32) floordiv 64, (bl_x * 8 + th_x floordiv 32) mod 64
    th_x mod 32 in [0, 0]
MlirColumnReductionTest.ColumnReduction input
    read(folding("f32[13,1051,321]", "f32[13,321]", 1, "column", 1))
    th_x: 1024, bl_x: 143, s0: 33
    bl_x floordiv 11, th_x floordiv 32 + s0 * 32, (bl_x mod 11) * 32 + th_x mod 32
    (bl_x mod 11) * 32 + th_x mod 32 in [0, 320], th_x floordiv 32 + s0 * 32 in [0, 1050]
MlirColumnReductionTest.ColumnReduction output
    folding("f32[13,1051,321]", "f32[13,321]", 1, "column", 1).writes[0] => th_x: 1024, bl_x: 143
    bl_x floordiv 11, (bl_x mod 11) * 32 + th_x floordiv 32
    (bl_x mod 11) * 32 + th_x floordiv 32 in [0, 320], th_x mod 32 in [0, 0]
MlirColumnReductionTest.ThreadIndexingColumn_v4 input
    read(folding("f16[192,64,1536]", "f16[192,1536]", 1, "column", 4))
    th_x: 1024, bl_x: 2304, s0: 2, s1: 4
    bl_x floordiv 12, th_x floordiv 32 + s0 * 32, ((bl_x mod 12) * 32 + th_x mod 32) * 4 + s1
MlirColumnReductionTest.ThreadIndexingColumn_v4 output
    folding("f16[192,64,1536]", "f16[192,1536]", 1, "column", 4).writes[0]
    th_x: 1024, bl_x: 2304, s0: 4
    bl_x floordiv 12, ((bl_x mod 12) * 32 + th_x floordiv 32) * 4 + s0 => th_x mod 32 in [0, 0]
ConcatenateTest.ThreadIndexing the largest operand => read(joining(), 1) => th_x: 128, bl_x: 4
    (bl_x * 128 + th_x) mod 400 => th_x + bl_x * 128 in [0, 399]
InPlaceDynamicUpdateSliceFusionTest.ThreadIndexing update => read(updating(), 1)
    th_x: 30, bl_x: 1 => th_x floordiv 6, th_x mod 6
""")
"""Maps that tests of XLA state: ours, the sizes of what is in it, its results, and its limits."""


def evaluated(call: str) -> Any:  # noqa: ANN401 - one access, or one for each operand
    return eval(call, {"ops": ops, **globals()})  # noqa: S307 - of the tables here


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_maps_are_those_of_xla(case: tuple[str, ...]) -> None:
    ours, *text = case
    assert evaluated(ours).map.equals(stated(*text))


@pytest.mark.parametrize("operand", [0, 2])
def test_small_operands_of_a_concatenation_end_before_xla_says(operand: int) -> None:
    """XLA has the map of the largest operand for all, beyond the end of the others."""
    schedule = joining()
    assert read(schedule, operand).map.is_subset(read(schedule, 1).map)
    assert read(schedule, operand).is_exactly_once()


WARPS = pairs("""
identity => elementwise("f32[100,200]", "f32[100,200]", "f32[100,200]")
rhs_transposed => elementwise("f32[100,200]", "f32[100,200]", "f32[100,200]{0,1}")
output_transposed => elementwise("f32[100,200]{0,1}", "f32[100,200]", "f32[100,200]")
transpose_tiled => [read(transposing("f32[100,64,32]", "f32[32,100,64]", (2, 0, 1)))]
transpose_outer_dims
    unrolled("f32[32,100,64]", ops.transpose((100, 32, 64), (1, 0, 2)), "f32[100,32,64]")
pad
    unrolled("f32[1024,512]", ops.pad((997, 436), ((10, 17, 0), (24, 52, 0))), "f32[997,436]",
        "f32[]")
row_reduction => [read(folding("f32[100,64,512]", "f32[100,64]", 2, "row", 1))]
multi_row_reduction => [read(folding("f32[100,64,4]", "f32[100,64]", 2, "", 1))]
column_reduction => [read(folding("f32[100,64,32]", "f32[100,32]", 1, "column", 1))]
variadic_reduce_loop
    [looped("s32[5696,4]", ops.reduce((5696, 10, 4), (1,)), "s32[5696,10,4]", "s32[]")[0]] * 2
variadic_reduce_reduction => [read(folding("s32[32,40]", "s32[32]", 1, "row", 1))] * 2
""")
"""What is read of each operand of a fusion, by the name of its row; rows with maps whose runtime
variables are set to some value are not here."""


def elementwise(result: str, *operands: str) -> Accesses:
    """What a loop over a result reads of operands of the same sizes."""
    return looped(result, ops.elementwise([(100, 200)] * 2), *operands)


@pytest.mark.parametrize("name", WARPS)
def test_the_first_warp_reads_where_xla_says(name: str) -> None:
    """Except before the memory of an array, which is where XLA has dropped a constraint."""
    (row,) = rows_of("coalescing", id=name)
    reads = evaluated(WARPS[name])
    assert len(reads) == len(row["warp_maps"])
    for operand, text in row["warp_maps"].items():
        points = warp_map(text).points()
        expected = {(thread, place) for thread, _, _, place in points if min(place, default=0) >= 0}
        assert first_warp(reads[int(operand)]) == expected


def warp_map(text: str) -> IndexingMap:
    """A map from the first 32 threads, as the rows write it."""
    head, *limits = re.split(r"(?<=\)), ", text, maxsplit=1)
    return parse_map(f"{head}, domain: {', '.join(['th_x in [0, 31]', *limits])}")


def first_warp(access: xla_gpu.Access) -> set[Pair]:
    """Where in memory the first 32 threads of the first block touch the array.

    Where the array is a scalar, the rows have no place at all.
    """
    places = access.in_memory() if access.shape.rank else access.map
    for number, name in enumerate(places.domain.names[:6]):
        places = places.with_constraint(symbol(name), (0, 31 if number == 0 else 0))
    return {(dims[:1], results) for dims, _, _, results in places.points()}
