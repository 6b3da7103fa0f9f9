"""Thread maps that XLA's tests state, and those that its analysis of coalescing starts from.

XLA's texts are of several versions: loops of one round are left out or have other names, and sums
are written in another way. So maps are compared as relations, from six coordinates to an index.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from indexing import IndexingMap, parse_map
from indexing.layout import Shape
from ops import broadcast, pad, reduce, transpose
from ops.xla_gpu import (
    Access,
    LaunchDimensions,
    Schedule,
    concatenate_schedule,
    in_place_update_schedule,
    loop_schedule,
    reduce_schedule,
    transpose_schedule,
)
from simplifier import symbol
from tests.conformance import rows_of
from tests.evaluation import Pair

COORDINATES = "(th_x, th_y, th_z, bl_x, bl_y, bl_z)"


def stated(threads: int, blocks: int, loops: str, results: str, limits: str = "") -> IndexingMap:
    """A map from a launch in x: loops as ``s0: 8``, results and constraints as XLA writes them."""
    ranges = [loop.split(": ") for loop in loops.split(", ")] if loops else []
    names = f"[{', '.join(name for name, _ in ranges)}]" if ranges else ""
    bounds = [
        f"th_x in [0, {threads - 1}], th_y in [0, 0], th_z in [0, 0]",
        f"bl_x in [0, {blocks - 1}], bl_y in [0, 0], bl_z in [0, 0]",
        *(f"{name} in [0, {int(size) - 1}]" for name, size in ranges),
        *([limits] if limits else []),
    ]
    return parse_map(f"{COORDINATES}{names} -> ({results}), domain: {', '.join(bounds)}")


def read(schedule: Schedule, operand: int = 0) -> Access:
    """What is read of an operand, which the schedule tells."""
    found = schedule.reads[operand]
    assert found is not None
    return found


def bulk() -> Access:
    """The result of a large loop in vectors, of as many blocks as run at a time."""
    launch = LaunchDimensions.for_elements(6_000_000, unroll=4, most_blocks=1008)
    return loop_schedule(Shape.parse("f32[100,200,300]"), launch, 4).writes[0]


def plain_loop(text: str) -> Access:
    """The result of a loop with a thread for each element."""
    shape = Shape.parse(text)
    launch = LaunchDimensions.for_elements(shape.element_count)
    return loop_schedule(shape, launch).writes[0]


def transposing(before: str, after: str, dimensions: tuple[int, ...]) -> Schedule:
    """A transpose with four rows of threads, as XLA had it when its tests were written."""
    return transpose_schedule(Shape.parse(before), Shape.parse(after), dimensions, rows=4)


def folding(before: str, after: str, dimension: int, kind: str, vector_size: int) -> Schedule:
    """A reduction along one dimension."""
    operand, result = Shape.parse(before), Shape.parse(after)
    return reduce_schedule(operand, result, (dimension,), kind=kind, vector_size=vector_size)


def joining() -> Schedule:
    """A concatenation, of which the operand in the middle is the largest."""
    parts = [Shape.parse(text) for text in ("f32[200]", "f32[400]", "f32[300]")]
    return concatenate_schedule(
        parts, Shape.parse("f32[900]"), 0, LaunchDimensions.for_elements(400)
    )


def updating() -> Schedule:
    """An update of a part of a matrix."""
    operand, update = Shape.parse("f32[20,30]"), Shape.parse("f32[5,6]")
    return in_place_update_schedule(operand, update, LaunchDimensions.for_elements(30))


@dataclass(frozen=True, slots=True)
class Case:
    """A map that a test of XLA states, and ours."""

    id: str
    found: Callable[[], IndexingMap]
    expected: IndexingMap


CASES = [
    Case(
        "LoopTest.ThreadIndexingUnrolled",
        lambda: bulk().map,
        stated(
            128,
            1008,
            "c: 12, u: 4",
            "(((bl_x * 16 + th_x floordiv 8) floordiv 3 + c * 5376) floordiv 625) mod 100, "
            "(((bl_x * 128 + th_x) floordiv 3 + c * 43008) floordiv 25) mod 200, "
            "(th_x * 4 + bl_x * 512 + c * 516096) mod 300 + u",
            "(th_x + bl_x * 128) * 4 + c * 516096 in [0, 5999996]",
        ),
    ),
    Case(
        "LoopTest.ThreadIndexingNotUnrolled",
        lambda: plain_loop("f32[20]").map,
        stated(20, 1, "", "th_x"),
    ),
    Case(
        "LoopTest.Broadcast output",
        lambda: plain_loop("f32[10,20,30]").map,
        stated(
            128,
            47,
            "",
            "((bl_x * 16 + th_x floordiv 8) floordiv 75) mod 10, "
            "((bl_x * 64 + th_x floordiv 2) floordiv 15) mod 20, (bl_x * 128 + th_x) mod 30",
            "th_x + bl_x * 128 in [0, 5999]",
        ),
    ),
    Case(
        "LoopTest.Broadcast input",
        lambda: (
            plain_loop("f32[10,20,30]")
            .through(
                broadcast((20,), (10, 20, 30), (1,)).output_to_input[0], Shape.parse("f32[20]")
            )
            .map
        ),
        stated(
            128,
            47,
            "",
            "((bl_x * 64 + th_x floordiv 2) floordiv 15) mod 20",
            "th_x + bl_x * 128 in [0, 5999]",
        ),
    ),
    Case(
        "MlirTransposeFusionTest.ThreadIndexing021 input",
        lambda: read(transposing("f32[100,32,64]", "f32[100,64,32]", (0, 2, 1))).map,
        stated(
            128,
            200,
            "s1: 8",
            "bl_x floordiv 2, th_x floordiv 32 + s1 * 4, (bl_x mod 2) * 32 + th_x mod 32",
        ),
    ),
    Case(
        "MlirTransposeFusionTest.ThreadIndexing021 output",
        lambda: transposing("f32[100,32,64]", "f32[100,64,32]", (0, 2, 1)).writes[0].map,
        stated(
            128,
            200,
            "s1: 8",
            "bl_x floordiv 2, th_x floordiv 32 + (bl_x mod 2) * 32 + s1 * 4, th_x mod 32",
        ),
    ),
    Case(
        "MlirTransposeFusionTest.ThreadIndexing201 input",
        lambda: read(transposing("f32[100,64,32]", "f32[32,100,64]", (2, 0, 1))).map,
        stated(
            128,
            200,
            "s1: 8",
            "bl_x floordiv 2, th_x floordiv 32 + (bl_x * 32 + s1 * 4) mod 64, th_x mod 32",
        ),
    ),
    Case(
        "MlirTransposeFusionTest.ThreadIndexing201 output",
        lambda: transposing("f32[100,64,32]", "f32[32,100,64]", (2, 0, 1)).writes[0].map,
        stated(
            128,
            200,
            "s1: 8",
            "th_x floordiv 32 + s1 * 4, bl_x floordiv 2, (bl_x mod 2) * 32 + th_x mod 32",
        ),
    ),
    Case(
        "MlirRowReductionTest.ThreadIndexingOutputLayout input",
        lambda: read(folding("f32[100,64,512]", "f32[100,64]{0,1}", 2, "row", 2)).map,
        stated(
            256,
            800,
            "s2: 8, s3: 2",
            "(bl_x * 8 + th_x floordiv 32) floordiv 64, (bl_x * 8 + th_x floordiv 32) mod 64, "
            "(th_x mod 32 + s2 * 32) * 2 + s3",
        ),
    ),
    Case(
        "MlirRowReductionTest.ThreadIndexingOutputLayout output",
        lambda: folding("f32[100,64,512]", "f32[100,64]{0,1}", 2, "row", 2).writes[0].map,
        stated(
            256,
            800,
            "",
            "(bl_x * 8 + th_x floordiv 32) floordiv 64, (bl_x * 8 + th_x floordiv 32) mod 64",
            "th_x mod 32 in [0, 0]",
        ),
    ),
    Case(
        "MlirColumnReductionTest.ColumnReduction input",
        lambda: read(folding("f32[13,1051,321]", "f32[13,321]", 1, "column", 1)).map,
        stated(
            1024,
            143,
            "s0: 33",
            "bl_x floordiv 11, th_x floordiv 32 + s0 * 32, (bl_x mod 11) * 32 + th_x mod 32",
            "(bl_x mod 11) * 32 + th_x mod 32 in [0, 320], th_x floordiv 32 + s0 * 32 in [0, 1050]",
        ),
    ),
    Case(
        "MlirColumnReductionTest.ColumnReduction output",
        lambda: folding("f32[13,1051,321]", "f32[13,321]", 1, "column", 1).writes[0].map,
        stated(
            1024,
            143,
            "",
            "bl_x floordiv 11, (bl_x mod 11) * 32 + th_x floordiv 32",
            "(bl_x mod 11) * 32 + th_x floordiv 32 in [0, 320], th_x mod 32 in [0, 0]",
        ),
    ),
    Case(
        "MlirColumnReductionTest.ThreadIndexingColumn_v4 input",
        lambda: read(folding("f16[192,64,1536]", "f16[192,1536]", 1, "column", 4)).map,
        stated(
            1024,
            2304,
            "s0: 2, s1: 4",
            "bl_x floordiv 12, th_x floordiv 32 + s0 * 32, "
            "((bl_x mod 12) * 32 + th_x mod 32) * 4 + s1",
        ),
    ),
    Case(
        "MlirColumnReductionTest.ThreadIndexingColumn_v4 output",
        lambda: folding("f16[192,64,1536]", "f16[192,1536]", 1, "column", 4).writes[0].map,
        stated(
            1024,
            2304,
            "s0: 4",
            "bl_x floordiv 12, ((bl_x mod 12) * 32 + th_x floordiv 32) * 4 + s0",
            "th_x mod 32 in [0, 0]",
        ),
    ),
    Case(
        "ConcatenateTest.ThreadIndexing the largest operand",
        lambda: read(joining(), 1).map,
        stated(128, 4, "", "(bl_x * 128 + th_x) mod 400", "th_x + bl_x * 128 in [0, 399]"),
    ),
    Case(
        "InPlaceDynamicUpdateSliceFusionTest.ThreadIndexing update",
        lambda: read(updating(), 1).map,
        stated(30, 1, "", "th_x floordiv 6, th_x mod 6"),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_maps_are_those_of_xla(case: Case) -> None:
    assert case.found().equals(case.expected)


@pytest.mark.parametrize("operand", [0, 2])
def test_small_operands_of_a_concatenation_end_before_xla_says(operand: int) -> None:
    """XLA has the map of the largest operand for all, beyond the end of the others."""
    schedule = joining()
    assert read(schedule, operand).map.is_subset(read(schedule, 1).map)
    assert read(schedule, operand).is_exactly_once()


def elementwise(result: str, operand: str) -> Access:
    """What a loop over a result reads of an operand with as many dimensions."""
    shape = Shape.parse(operand)
    return plain_loop(result).through(IndexingMap.identity(shape.dimensions), shape)


def unrolled(result: str, way: IndexingMap, operand: str) -> Access:
    """What a loop of four neighbours a thread reads of an operand."""
    shape = Shape.parse(result)
    launch = LaunchDimensions.for_elements(shape.element_count, unroll=4)
    return loop_schedule(shape, launch, 4).writes[0].through(way, Shape.parse(operand))


WARPS: dict[str, Callable[[], tuple[Access, ...]]] = {
    "identity": lambda: (elementwise("f32[100,200]", "f32[100,200]"),) * 2,
    "rhs_transposed": lambda: (
        elementwise("f32[100,200]", "f32[100,200]"),
        elementwise("f32[100,200]", "f32[100,200]{0,1}"),
    ),
    "output_transposed": lambda: (elementwise("f32[100,200]{0,1}", "f32[100,200]"),) * 2,
    "transpose_tiled": lambda: (read(transposing("f32[100,64,32]", "f32[32,100,64]", (2, 0, 1))),),
    "transpose_outer_dims": lambda: (
        unrolled(
            "f32[32,100,64]",
            transpose((100, 32, 64), (1, 0, 2)).output_to_input[0],
            "f32[100,32,64]",
        ),
    ),
    "pad": lambda: tuple(
        unrolled("f32[1024,512]", way, operand)
        for way, operand in zip(
            pad((997, 436), ((10, 17, 0), (24, 52, 0))).output_to_input,
            ("f32[997,436]", "f32[]"),
            strict=True,
        )
    ),
    "row_reduction": lambda: (read(folding("f32[100,64,512]", "f32[100,64]", 2, "row", 1)),),
    "multi_row_reduction": lambda: (read(folding("f32[100,64,4]", "f32[100,64]", 2, "", 1)),),
    "column_reduction": lambda: (read(folding("f32[100,64,32]", "f32[100,32]", 1, "column", 1)),),
    "variadic_reduce_loop": lambda: (
        (
            plain_loop("s32[5696,4]").through(
                reduce((5696, 10, 4), (1,)).output_to_input[0], Shape.parse("s32[5696,10,4]")
            ),
        )
        * 2
    ),
    "variadic_reduce_reduction": lambda: (read(folding("s32[32,40]", "s32[32]", 1, "row", 1)),) * 2,
}
"""What is read of each operand of a fusion, by the name of its row; rows with maps whose runtime
variables are set to some value are not here."""


@pytest.mark.parametrize("name", WARPS)
def test_the_first_warp_reads_where_xla_says(name: str) -> None:
    """Except before the memory of an array, which is where XLA has dropped a constraint."""
    (row,) = rows_of("coalescing", id=name)
    reads = WARPS[name]()
    assert len(reads) == len(row["warp_maps"])
    for operand, text in row["warp_maps"].items():
        points = warp_map(text).points()
        expected = {(thread, place) for thread, _, _, place in points if min(place, default=0) >= 0}
        assert first_warp(reads[int(operand)]) == expected


def warp_map(text: str) -> IndexingMap:
    """A map from the first 32 threads, as the rows write it."""
    head, *limits = re.split(r"(?<=\)), ", text, maxsplit=1)
    return parse_map(f"{head}, domain: {', '.join(['th_x in [0, 31]', *limits])}")


def first_warp(access: Access) -> set[Pair]:
    """Where in memory the first 32 threads of the first block touch the array.

    Where the array is a scalar, the rows have no place at all.
    """
    places = access.in_memory() if access.shape.rank else access.map
    for number, name in enumerate(places.domain.names[:6]):
        places = places.with_constraint(symbol(name), (0, 31 if number == 0 else 0))
    return {(dims[:1], results) for dims, _, _, results in places.points()}
