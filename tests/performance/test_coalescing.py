"""Loads of warps against a simulation of each, and XLA's verdicts."""

from __future__ import annotations

import re
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any, TypeAlias

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing import IndexingMap, parse_map
from indexing.layout import Shape
from ops import FusionError, FusionSchedule, hlo, performance, schedule_of
from ops.performance import A100, H100, MI300X, Coalescing, Device, coalescing
from ops.performance.kernels import kernels_of, with_midpoints
from ops.performance.tally import kinds_of
from ops.xla_gpu import Access
from simplifier import IndexingError, Interval
from tests.cases import for_all, rows, texts_with_values
from tests.cli.command_line import CommandLine
from tests.conformance import Row, for_each, rows_of
from tests.extent import seldom
from tests.fusion.test_scheduling import GPU, fusions_of
from tests.hlo.modules import module_text
from tests.indexing.tables import refusals
from tests.performance.runtime_programs import complaints
from tests.performance.simulation import Gpu, Totals, simulated

MI300X_GPU = Gpu(lanes=64, sector=64)


def totals(found: Coalescing) -> Totals:
    """The numbers that the simulation counts, too; no value makes a difference."""
    numbers = [getattr(found, name) for name in Totals._fields]
    assert all(isinstance(each, int) for each in numbers)
    return Totals(*numbers)


def launch(offset: str, bounds: str, *constraints: str) -> IndexingMap:
    """The map of ``th_x: 32, bl_x: 2..5 | s0: 3`` to an offset."""
    dims, _, loops = bounds.partition(" | ")
    names = [[part.split(": ")[0] for part in each.split(", ") if part] for each in (dims, loops)]
    parts = [part.split(": ") for each in (dims, loops) for part in each.split(", ") if part]
    ends = [f"{name} in [{_ends(size)}]" for name, size in parts]
    head = f"({', '.join(names[0])})[{', '.join(names[1])}]"
    return parse_map(f"{head} -> ({offset}), domain: {', '.join((*ends, *constraints))}")


def _ends(size: str) -> str:
    return size.replace("..", ", ") if ".." in size else f"0, {int(size) - 1}"


MAPS = {
    name: launch(*row)
    for name, *row in rows("""
rows => bl_x * 32 + th_x => th_x: 32, bl_x: 8
columns => th_x * 8 + bl_x => th_x: 32, bl_x: 8
one element for all => bl_x * 3 => th_x: 64, bl_x: 5
vectors => bl_x * 128 + th_x * 4 + s0 => th_x: 32, bl_x: 3 | s0: 4
vectors that are not aligned => bl_x * 130 + th_x * 4 + s0 => th_x: 32, bl_x: 4 | s0: 4
half vectors => bl_x * 130 + th_x * 6 + s0 => th_x: 32, bl_x: 4 | s0: 6
vectors that are cut => th_x * 4 + s0 => th_x: 32 | s0: 4 => th_x * 4 + s0 in [0, 110]
vectors cut between vectors => th_x * 4 + s0 => th_x: 32 | s0: 4 => th_x * 4 + s0 in [4, 111]
two loops => bl_x * 64 + th_x + s0 * 32 + s1 => th_x: 32, bl_x: 3 | s0: 5, s1: 3
a loop of one round behind => th_x * 2 + s0 + s1 => th_x: 32 | s0: 2, s1: 1
fewer threads than lanes => bl_x * 20 + th_x => th_x: 20, bl_x: 7
warps that are not full => bl_x * 40 + th_x => th_x: 40, bl_x: 3
threads in y and z => th_z * 100 + th_y * 10 + th_x => th_x: 5, th_y: 4, th_z: 3
blocks in y and z => bl_z * 70 + bl_y * 9 + th_x => th_x: 8, bl_y: 3, bl_z: 4
backwards => -th_x - bl_x * 32 + 255 => th_x: 32, bl_x: 8
blocks and threads in one quotient => ((bl_x * 32 + th_x) floordiv 30) * 64 +
        (bl_x * 32 + th_x) mod 30 => th_x: 32, bl_x: 9
a border of blocks => bl_x * 33 + th_x => th_x: 32, bl_x: 9 => bl_x * 32 + th_x in [10, 200]
blocks without threads => bl_x * 32 + th_x => th_x: 32, bl_x: 9 => bl_x * 32 + th_x in [64, 90]
threads of some numbers => bl_x * 4 + th_x floordiv 32 => th_x: 0..224, bl_x: 3
    th_x mod 32 in [0, 0]
bounds that begin late => bl_x * 7 + th_x + s0 => th_x: 3..30, bl_x: 2..5 | s0: 4..7
every bank => th_x * 33 => th_x: 32
one bank => th_x * 32 => th_x: 32
nothing => th_x => th_x: 32 => th_x * 2 in [1, 1]
no coordinates => s0 * 3 =>  | s0: 6
""")
}
MAPS["threads of some numbers"] = MAPS["threads of some numbers"].simplify()


GPUS = (A100, Gpu()), (MI300X, MI300X_GPU)


@for_all([*product(MAPS, ["s8", "f32", "f64", "c128"], GPUS)])
def test_loads_are_those_simulated(name: str, element_type: str, gpus: tuple[Device, Gpu]) -> None:
    device, gpu = gpus
    size = {"s8": 1, "f32": 4, "f64": 8, "c128": 16}[element_type]
    found = coalescing(MAPS[name], device, element_type=element_type)
    assert totals(found) == simulated(MAPS[name], size, gpu)


def test_many_blocks_that_differ_are_counted_once_each() -> None:
    few, many = (
        launch("((bl_x * 32 + th_x) mod 7) * 64", f"th_x: 32, bl_x: {blocks}")
        for blocks in (7, 7 * 1200)
    )
    counted = [coalescing(each, A100, element_type="f32") for each in (few, many)]
    assert [each.sectors for each in counted] == [counted[0].sectors, 1200 * counted[0].sectors]
    assert [each.loads for each in counted] == [7, 7 * 1200]


FACTORS = st.sampled_from([0, 1, 2, 4, 7, 8, 32, 64, 100])
DIGITS = st.sampled_from(["", " + (th_x floordiv 8) * 24", " + ((th_x + bl_x * 5) mod 6) * 4"])
LIMITED = st.sampled_from([None, "bl_x * 40 + th_x", "th_x * 4 + s1", "s0 + th_y", "bl_x"])


@st.composite
def offsets(draw: st.DrawFn) -> IndexingMap:
    """A map from a small launch with two loops to offsets."""
    most = {"th_x": 70, "th_y": 3, "bl_x": 9, "s0": 4, "s1": 8}
    th_x, th_y, bl_x, s0, s1 = (draw(st.integers(1, size)) for size in most.values())
    terms = " + ".join(f"{name} * {draw(FACTORS)}" for name in most)
    limited = draw(LIMITED)
    ends = f"in [{draw(st.integers(0, 4))}, {draw(st.integers(3, 200))}]"
    constraints = [f"{limited} {ends}"] if limited else []
    bounds = f"th_x: {th_x}, th_y: {th_y}, bl_x: {bl_x} | s0: {s0}, s1: {s1}"
    return launch(f"{terms}{draw(DIGITS)} + {draw(st.integers(0, 9))}", bounds, *constraints)


@seldom
@given(offsets(), st.sampled_from([("s8", 1), ("bf16", 2), ("f32", 4), ("f64", 8)]))
def test_loads_of_random_launches(found: IndexingMap, element: tuple[str, int]) -> None:
    name, size = element
    assert totals(coalescing(found, A100, element_type=name)) == simulated(found, size, Gpu())


def accesses(schedule: FusionSchedule) -> Iterator[Access]:
    for operand in range(len(schedule.fusion.operands)):
        yield from schedule.reads(operand)
    for output in range(len(schedule.heroes)):
        yield from schedule.writes(output)


@pytest.mark.parametrize("name", GPU)
def test_accesses_of_real_fusions(name: str) -> None:
    for fusion in fusions_of(name):
        try:
            schedule = schedule_of(fusion)
        except FusionError:
            continue
        for access in accesses(schedule):
            offsets, size = with_midpoints(access.in_memory()), access.shape.element_type.bytes
            found = coalescing(access, A100)
            if not access.map.runtime:
                assert totals(found) == simulated(offsets, size, Gpu()), fusion
                continue
            one = simulated(offsets, size, Gpu(), found.vector_width)
            for figure, number in one._asdict().items():
                assert number in Interval.of(getattr(found, figure)), (fusion, figure)


LARGE = {
    "coalescing-memory": ("bl_x * 128 + th_x", "th_x: 128, bl_x: {size}"),
    "limited": ("bl_x * 128 + th_x", "th_x: 128, bl_x: {size}", "bl_x * 128 + th_x in [0, {end}]"),
    "in a loop": ("s0 * 128 + th_x", "th_x: 128 | s0: {size}"),
}


def most_memory(ask: Callable[[], Coalescing]) -> int:
    tracemalloc.start()
    try:
        ask()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("texts", LARGE.values(), ids=LARGE)
def test_memory_depends_on_the_pattern_and_not_on_the_tensor(texts: Sequence[str]) -> None:
    less, more = (
        launch(*(each.format(size=size, end=128 * size - 9) for each in texts))
        for size in (1 << 18, 1 << 19)
    )
    ask = partial(coalescing, device=A100, element_type="s8")
    assert most_memory(partial(ask, more)) < 1.5 * most_memory(partial(ask, less))


def test_launches_of_any_size_take_the_work_of_few_blocks() -> None:
    blocks = 1 << 20
    many = launch("bl_x * 128 + th_x", f"th_x: 128, bl_x: {blocks}")
    found = coalescing(many, A100, element_type="f32")
    assert (found.loads, found.sectors) == (blocks * 4, blocks * 16)


@for_each(rows_of("coalescing", kind="exact"))
def test_verdicts_are_those_of_xla(row: Row) -> None:
    fusion = hlo.parse(row["hlo"]).entry.root
    schedule = schedule_of(fusion)
    found = [
        all(
            coalescing(access, performance.RTX_A6000).is_coalesced
            for access in schedule.reads(operand)
        )
        for operand in range(len(fusion.operands))
    ]
    assert found == row["coalesced_per_operand"]


@for_each(rows_of("coalescing", kind="heuristic"))
def test_guesses_are_those_of_xla(row: Row) -> None:
    root = hlo.parse(row["hlo"]).entry.root
    (producer,) = root.operands
    assert performance.is_likely_coalesced(producer, root) == row["coalesced"]


@for_each(rows_of("coalescing", kind="tiled_bandwidth"))
def test_rates_of_tiles_are_those_of_xla(row: Row) -> None:
    (parameter,) = hlo.parse(row["hlo"]).entry.parameters
    device = replace(A100, dram_transaction_bytes=row["transaction_bytes"])
    found = performance.bandwidth_utilization(parameter.shape, row["tile_sizes"], device)
    assert found == row["rate"]


@for_all(rows("""
# a line of 128 bytes, 32 elements of 4 bytes: filled, or 2, 4, 32 of them begun
(th_x) -> (th_x), domain: th_x in [0, 127] => fast
(th_x) -> (th_x * -1), domain: th_x in [0, 127] => fast
(th_x) -> (th_x floordiv 32), domain: th_x in [0, 127] => fast
(th_x) -> (th_x * 2), domain: th_x in [0, 127] => slow
(th_x) -> (th_x * -100), domain: th_x in [0, 127] => slow
(th_x) -> ((th_x floordiv 8) * 32), domain: th_x in [0, 31] => slow
# a loop fills what the threads leave, or it does not
(th_x)[s0] -> (th_x * 4 + s0), domain: th_x in [0, 127], s0 in [0, 3] => fast
(th_x)[s0] -> (th_x * -4 + s0), domain: th_x in [0, 31], s0 in [0, 3] => fast
(th_x)[s0] -> (th_x * 4 + s0 * 2), domain: th_x in [0, 127], s0 in [0, 1] => slow
# offsets that are no sum of both
(th_x)[s0] -> ((th_x + s0) floordiv 3), domain: th_x in [0, 127], s0 in [0, 3] => slow
# one constraint, on the offset or on something else
(th_x)[s0] -> (th_x + s0 * 32), domain: th_x in [0, 31], s0 in [0, 3], th_x + s0 * 32 in [0, 99]
    fast
(th_x)[s0] -> (th_x + s0 * 32), domain: th_x in [0, 31], s0 in [0, 3], th_x + s0 * 16 in [0, 60]
    slow
"""))  # fmt: skip
def test_verdicts_of_xla(text: str, verdict: str) -> None:
    found = coalescing(parse_map(text), A100, element_type="f32")
    assert found.is_coalesced == (verdict == "fast")


@for_all([
    ("f32[64,64]{1,0}", (8, 8), None, 8 * 4 / 64), ("f32[64,64]{0,1}", (32, 1), None, 1.0),
    ("f32[64,64]{1,0}", (8, 128), None, 1.0), ("f32[64,64]{1,0}", (8, 32), (1, 2), 4 / 64),
    ("f32[64,1]{1,0}", (16, 1), None, 1.0), ("f32[4,4]{1,0}", (2, 8), None, 8 * 4 / 64),
    ("f32[]", (), None, 4 / 64), ("f32[0,8]", (4, 8), None, 1.0),
])  # fmt: skip
def test_rates_of_tiles(
    shape: str, sizes: tuple[int, ...], strides: tuple[int, ...] | None, rate: float
) -> None:
    found = performance.bandwidth_utilization(Shape.parse(shape), sizes, A100, tile_strides=strides)
    assert found == rate


def test_the_command_counts_every_access_most_wasteful_first(cli: CommandLine) -> None:
    file = cli.file(module_text("gpu/layout_shuffle"))
    found = cli.document("coalescing", file, "--device", "H100")["accesses"]
    wasted = [row.get("wasted_sectors", [-1, -1])[1] for row in found]
    assert wasted == sorted(wasted, reverse=True)
    assert wasted[0] > 0
    counted = [row["sectors"][0] for row in found if "unknown" not in row]
    every: list[Coalescing] = []
    for kernel in kernels_of(hlo.load(file)):
        with suppress(FusionError):
            every += [coalescing(one, H100) for one in accesses(schedule_of(kernel.roots[0]))]
    assert sorted(counted) == sorted(totals(each).sectors for each in every)


OF_ELEMENTS = """offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1,
    slice_sizes={1}"""
LOADED = texts_with_values("""
# sectors-of-gather |
#   "0 to 896  32 to 1024  32 to 128              1  %f, operand 0, f32[100000]{0}",
#   dict(loads=32, sectors=(32, 1024), ideal_sectors=(32, 128), wasted_sectors=(0, 32 * 28),
#   most_sectors=(1, 32), transactions=(32, 1024), bank_conflicts=(0, 32 * 31))
x = f32[100000] parameter(0) i = s32[1024,1] parameter(1) ROOT d = f32[1024] ELEMENTS(x, i)
# sectors-of-embedding |
#   "0  1024 to 4096  1024 to 4096      1       1  %f, operand 0, f32[50000,8]{1,0}",
#   dict(sectors=(1024, 4096), wasted_sectors=0, most_sectors=(1, 4))
x = f32[50000,8] parameter(0) i = s32[4096,1] parameter(1)
ROOT d = f32[4096,8] gather(x, i), offset_dims={1}, collapsed_slice_dims={0},
  start_index_map={0}, index_vector_dim=1, slice_sizes={1,8}
# a dynamic-slice |
#   "%f, operand 0, f32[1000]{0}; fewest where rt0 mod 8 in [0, 0]",
#   dict(sectors=(4, 5), transactions=(1, 2), ideal_sectors=4)
x = f32[1000] parameter(0) i = s32[] parameter(1)
ROOT d = f32[32] dynamic-slice(x, i), dynamic_slice_sizes={32}
# rows at a start |
#   "0       16     16      1       1  %f, operand 0, f32[1000,64]{1,0}",
#   dict(sectors=16, transactions=4, loads=4)
x = f32[1000,64] parameter(0) i = s32[] parameter(1) z = s32[] constant(0)
ROOT d = f32[2,64] dynamic-slice(x, i, z), dynamic_slice_sizes={2,64}
# an element of each row |
#   "56       64      8      8       1  %f, operand 0, f32[64,1000]{1,0}",
#   dict(sectors=64, ideal_sectors=8, most_sectors=32)
x = f32[64,1000] parameter(0) i = s32[64,1] parameter(1)
ROOT d = f32[64] gather(x, i), offset_dims={}, collapsed_slice_dims={1}, start_index_map={1},
operand_batching_dims={0}, start_indices_batching_dims={0}, index_vector_dim=1, slice_sizes={1,1}
# a table of few elements |
#   "2 to 6",
#   dict(sectors=(2, 6), ideal_sectors=(2, 6), bank_conflicts=0)
x = f32[20] parameter(0) i = s32[64,1] parameter(1) ROOT d = f32[64] ELEMENTS(x, i)
# a table of as many elements as banks |
#   "0 to 6   2 to 8",
#   dict(sectors=(2, 8), wasted_sectors=(0, 6), bank_conflicts=0)
x = f32[32] parameter(0) i = s32[64,1] parameter(1) ROOT d = f32[64] ELEMENTS(x, i)
# all threads have the values of few |
#   "0 to 4   4 to 8      4              1  %f",
#   dict(sectors=(4, 8), ideal_sectors=4)
x = f32[1000] parameter(0) i = s32[2] parameter(1) wide = s32[64,2] broadcast(i), dimensions={1}
flat = s32[128,1] reshape(wide) ROOT d = f32[128] ELEMENTS(x, flat)
""")


def fusion_of(body: str) -> str:
    """A module of a fusion; ``ELEMENTS`` is a gather of single elements."""
    body = re.sub(r"ELEMENTS(\(.*?\))", rf"gather\1, {OF_ELEMENTS}", body)
    parameters = re.findall(r"\w+ = \S+ parameter\(\d\)", body)
    names = ", ".join(each.split(" = ")[0] for each in parameters)
    shape = body.partition("ROOT d = ")[2].partition(" ")[0]
    entry = " ".join([*parameters, f"ROOT f = {shape} fusion({names}), kind=kLoop, calls=f"])
    return f"HloModule m\nf {{ {body} }}\nENTRY e {{ {entry} }}"


Ends: TypeAlias = "int | tuple[int, int]"


@pytest.mark.parametrize(("body", "row", "counts"), LOADED.values(), ids=LOADED)
def test_counts_are_least_and_most_over_all_values(
    body: str, row: str, counts: dict[str, Ends], cli: CommandLine
) -> None:
    file = cli.file(fusion_of(body))
    access, *others = schedule_of(hlo.load(file).entry.root).reads(0)
    found = coalescing(access, A100)
    assert not others
    assert not {*counts}.intersection(found.bounds)
    assert row in cli("coalescing", file)
    accesses = cli.document("coalescing", file)["accesses"]
    (written,) = (each for each in accesses if each.get("operand") == 0)
    for name, count in counts.items():
        expected = Interval(*count) if isinstance(count, tuple) else count
        assert getattr(found, name) == expected, name
        assert written[name] == [*Interval.of(expected).ends], name


@pytest.mark.needs("jax")
@for_all(range(60))
def test_counts_at_values_are_those_of_all_runs(seed: int) -> None:
    wrong, program = complaints(seed)
    assert not wrong, program


def test_a_map_alone_has_one_value_for_all_threads() -> None:
    moved = parse_map("(th_x){start} -> (th_x + start), domain: th_x in [0, 31], start in [0, 99]")
    found = coalescing(moved, A100, element_type="f32")
    assert (found.sectors, found.condition) == (Interval(4, 5), "start mod 8 in [0, 0]")
    assert found.ratio is None
    assert str(found).startswith("4 to 5 sectors for 4; fewest where start mod 8 in [0, 0]; 1 load")


def test_bounds_are_marked() -> None:
    """The index is looked up in a table, so equal places there give equal values."""
    body = LOADED["sectors-of-gather"][0].replace(
        "i = s32[1024,1] parameter(1)",
        """table = s32[9] parameter(1) j = s32[1024,1] parameter(2)
        i = s32[1024,1] gather(table, j), offset_dims={1}, collapsed_slice_dims={},
          start_index_map={0}, index_vector_dim=1, slice_sizes={1}""",
    )
    (access,) = schedule_of(hlo.parse(fusion_of(body)).entry.root).reads(0)
    found = coalescing(access, A100)
    assert found.sectors == Interval(32, 1024)
    assert found.bounds[0] == "sectors"
    assert "(bounds: sectors, ideal_sectors" in str(found)


def test_of_more_starts_than_are_tried_bounds_are_known() -> None:
    body = """x = s32[150,64] parameter(0) i = s32[] parameter(1) z = s32[] constant(0)
    a = s32[150,32] dynamic-slice(x, z, i), dynamic_slice_sizes={150,32}
    ROOT d = s32[34,16] dynamic-slice(a, z, i), dynamic_slice_sizes={34,16}"""
    (access,) = schedule_of(hlo.parse(fusion_of(body)).entry.root).reads(0)
    found = coalescing(access, A100)
    assert (found.sectors, found.ideal_sectors) == (Interval(34 * 2, 34 * 3), 34 * 2)
    assert "sectors" in found.bounds


NAMES: dict[str, Any] = {
    **vars(performance), "with_fields": partial(replace, A100), "rows": MAPS["rows"],
    "square": IndexingMap.identity([4, 4]), "line": IndexingMap.identity([4]),
    "symbolic": parse_map("(th_x)<N> -> (th_x * N), domain: th_x in [0, 31], N in [0, 7]"),
    "endless": parse_map("(th_x)[s0] -> (th_x + s0), domain: th_x in [0, 31], s0 in [0, inf]"),
    "tile": Shape.parse("f32[8,8]"),
}  # fmt: skip

test_wrong_arguments_are_named = refusals(NAMES, IndexingError)("""
coalescing(rows, "A100") => ArgumentError: coalescing: the device is 'A100'; expected a Device such
coalescing("(th_x)", A100)
    ArgumentError: coalescing: the access is '(th_x)'; expected an Access or an IndexingMap
coalescing(rows, A100) => MapError: coalescing: a map has no element_type; expected one, such as
coalescing(rows, TPU_V5E, element_type="f32")
    DeviceError: coalescing: TPU v5e has no sector_bytes; expected a device that
coalescing(square, A100, element_type="f32")
    MapError: coalescing: the map has 2 results; expected one, the offset of an element
coalescing(line, A100, element_type="f32")
    MapError: coalescing: d0 is no coordinate of a launch; expected th_x, th_y, th_z, bl_x,
coalescing(symbolic, A100, element_type="f32")
    MapError: coalescing: the map has the parameters N; expected numbers for all parameters
coalescing(endless, A100, element_type="f32")
    MapError: coalescing: s0 has the bounds [0, inf]; expected a bounded variable
with_fields(sector_bytes=0) => DeviceError: Device: sector_bytes is 0; expected a positive integer
with_fields(warp_size=1.5) => ArgumentError: Device: warp_size is 1.5; expected a positive integer
bandwidth_utilization(tile, (0, 8), A100)
    ShapeError: bandwidth_utilization: tile_sizes are (0, 8); expected positive ones
bandwidth_utilization(tile, (8,), A100) => ShapeError: bandwidth_utilization:
""")


@pytest.mark.parametrize("most", [0, 1, 5, 2**62])
def test_points_are_alike_where_all_marks_are(most: int) -> None:
    random = np.random.default_rng(0)
    marks = [random.integers(-most, most + 1, 300) for _ in range(4)]
    marks.insert(2, np.full(300, 7))
    _, *expected = np.unique(marks, axis=1, return_index=True, return_inverse=True)
    for found, wanted in zip(kinds_of(marks), expected, strict=True):
        assert found.tolist() == wanted.ravel().tolist()
