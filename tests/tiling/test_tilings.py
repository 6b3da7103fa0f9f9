"""Tilings: what candidates load, against all points of their tiles; budgets; errors."""

from __future__ import annotations

from ast import literal_eval
from dataclasses import replace
from importlib import import_module
from itertools import product
from unittest.mock import Mock

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from indexing import IndexingMap, TileError, parse_map
from ops import Fusion, Tilings, TilingSpace, hlo, tilings
from ops.performance import A100, MI300X, RTX_A6000, TPU_V5E, Device, DeviceError
from ops.performance.kernels import kernels_of
from ops.performance.tally import Deadline, OutOfTimeError, number_of_sums, tally_of
from ops.tiling import touched
from simplifier.errors import ArgumentError
from tests.cases import for_all, for_rows
from tests.extent import IN_CI, seldom
from tests.fusion.units import entry, whole
from tests.indexing.tables import each_named, each_text, refusals
from tests.tiling.random_fusions import fusions, swapped
from tests.tiling.real_fusions import MODULES, different_fusions
from tests.tiling.test_propagation import OPERATIONS
from tests.tiling.tiles_by_enumeration import bytes_by_points

TILINGS = import_module("ops.tiling")
"""The module; the package has a function of its name."""

ENDLESS = replace(A100, name="endless", registers=1 << 40, shared_memory_bytes=1 << 40)
"""Every tile fits it."""


def softmax(rows: int, columns: int) -> Fusion:
    text = OPERATIONS["softmax"].replace("[3,6]", f"[{rows},{columns}]")
    return whole(text.replace("[3]", f"[{rows}]"))


SHARED = (
    *("concatenate", "pad", "slice", "reduce-window", "dynamic-slice", "softmax"),
    *("reshape that splits", "reshape that merges"),
)
FUSIONS: dict[str, Fusion] = {
    **{name: whole(OPERATIONS[name]) for name in SHARED},
    "a sum with a transpose": whole("""p = f32[6,10] parameter(0) q = f32[10,6] parameter(1)
        t = f32[10,6] transpose(p), dimensions={1,0} ROOT sum = f32[10,6] add(t, q)"""),
    "a matrix with its own transpose": whole("""p = f32[7,7] parameter(0)
        t = f32[7,7] transpose(p), dimensions={1,0} ROOT sum = f32[7,7] add(t, p)"""),
    "a dot": whole("""x = bf16[6,10] parameter(0) y = bf16[10,5] parameter(1)
        ROOT d = f32[6,5] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}"""),
    "a broadcast": whole("""a = f32[5] parameter(0)
        ROOT b = f32[6,5] broadcast(a), dimensions={1}"""),
    "two dynamic slices of an array": whole("""a = f32[20] parameter(0) at = s32[] parameter(1)
        s = f32[8] dynamic-slice(a, at), dynamic_slice_sizes={8} to = s32[] parameter(2)
        t = f32[8] dynamic-slice(a, to), dynamic_slice_sizes={8} ROOT d = f32[8] add(s, t)"""),
    "rows that are looked up": whole("""a = f32[20,6] parameter(0) at = s32[5] parameter(1)
        ROOT g = f32[5,6] gather(a, at), offset_dims={1}, collapsed_slice_dims={0},
          start_index_map={0}, index_vector_dim=1, slice_sizes={1,6}"""),
    "a row that is part of a concatenation": whole("""a = f32[4] parameter(0)
        b = f32[2,4] broadcast(a), dimensions={1} y = f32[5,4] parameter(1)
        ROOT c = f32[7,4] concatenate(b, y), dimensions={0}"""),
    "a row in two pieces": whole("""a = f32[4] parameter(0) y = f32[5,4] parameter(1)
        b = f32[2,4] broadcast(a), dimensions={1}
        ROOT c = f32[9,4] concatenate(b, y, b), dimensions={0}"""),
    "one element in four pieces": whole("""x = f32[1] parameter(0)
        a = f32[2] concatenate(x, x), dimensions={0}
        ROOT b = f32[4] concatenate(a, a), dimensions={0}"""),
    "a piece of which nothing is left": whole("""x = f32[1] parameter(0)
        a = f32[2] concatenate(x, x), dimensions={0} ROOT s = f32[1] slice(a), slice={[0:1]}"""),
    "an update of rows": whole("""a = f32[8,6] parameter(0) u = f32[6] parameter(1)
        at = s32[] parameter(2) v = f32[3,6] broadcast(u), dimensions={1} z = s32[] constant(0)
        ROOT d = f32[8,6] dynamic-update-slice(a, v, at, z)"""),
    "an array with its own numbers as one": whole("""a = f32[4,6] parameter(0)
        b = f32[24] reshape(a) c = f32[24,4,6] broadcast(a), dimensions={1,2}
        d = f32[24,4,6] broadcast(b), dimensions={0} ROOT s = f32[24,4,6] add(c, d)"""),
    "two pieces whose masks split": whole("""x = f32[2,3] parameter(0) r = f32[3,1,2] reshape(x)
        c = f32[6,1,2] concatenate(r, r), dimensions={0}
        ROOT d = f32[6,2,2] concatenate(c, c), dimensions={1}"""),
    "neighbours that change places, at sizes that do not divide": whole("""x = f32[14] parameter(0)
        p = f32[7,2] reshape(x) r = f32[7,2] reverse(p), dimensions={1} s = f32[14] reshape(r)
        ROOT sum = f32[14] add(x, s)"""),
    "steps that load the same": whole("""x = f32[2] parameter(0) zero = f32[] constant(0)
        b = f32[16,2] broadcast(x), dimensions={1} r = f32[32] reshape(b)
        ROOT s = f32[] reduce(r, zero), dimensions={0}, to_apply=sum"""),
    "two results": whole("""a = f32[6,8] parameter(0) n = f32[6,8] negate(a)
        t = f32[8,6] transpose(a), dimensions={1,0} ROOT b = (f32[6,8], f32[8,6]) tuple(n, t)"""),
}  # fmt: skip

LAYERS = """a = f32[16,8] parameter(0) b = f32[16,8] parameter(1)
  x = f32[8,16] transpose(a), dimensions={1,0} y = f32[8,16] transpose(b), dimensions={1,0}
  z = f32[8,16] add(x, y) ROOT twice = f32[8,16] add(z, z)"""


def test_kernels_that_are_alike_are_tiled_once() -> None:
    """Each has the tilings that it has alone, with its own names."""
    kernels = [*kernels_of(entry(LAYERS))]
    tiler, short = TILINGS.KernelTiler(A100), TILINGS.KernelTiler(A100, 2)
    found = [tiler.tilings(each) for each in kernels]
    assert len({id(each.columns) for each in found}) == 3
    for each, kernel in zip(found, kernels, strict=True):
        alone = tilings(kernel, A100)
        assert [*each] == [*alone]
        assert [*short.tilings(kernel)] == [*alone][:2]
        assert each.space == alone.space
        assert str(each.propagation(each[0])) == str(alone.propagation(alone[0]))


@for_all(FUSIONS)
def test_bytes_are_those_of_all_tiles(fusion: Fusion) -> None:
    found = tilings(fusion, A100)
    for number in range(0, len(found), max(1, len(found) // (12 if IN_CI else 4))):
        tiling = found[number]
        propagation = found.propagation(tiling).check()
        assert propagation.constraints.is_always_satisfied
        assert bytes_by_points(propagation, propagation.operands) == tiling.bytes_read
        assert bytes_by_points(propagation, propagation.results) == tiling.bytes_written


def test_windows_are_counted_for_all_sizes_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not one candidate after another, for which time may run out."""
    tally = Mock(wraps=tally_of)
    monkeypatch.setattr(TILINGS, "tally_of", tally)
    window = "window={size=15 pad=7_7}, to_apply=sum"
    fusion = whole(f"""x = f32[8] parameter(0) zero = f32[] constant(0)
        w = f32[8] reduce-window(x, zero), {window}
        ROOT v = f32[8] reduce-window(w, zero), {window}""")
    assert len(tilings(fusion, A100)) > 1
    asked = [str(each) for call in tally.call_args_list for each in call.args[0]]
    assert any("d0 + d1 + d2 - 14" in each for each in asked)
    assert not any("floordiv" in each for each in asked)


def sizes_tried(fusion: Fusion) -> list[list[int]]:
    """A few sizes for each dimension, which divide it or not; two for each of many."""
    dimensions = TilingSpace.of(fusion).dimensions
    found: list[list[int]] = []
    for dimension in dimensions:
        whole = max(dimension.size or 1, 1)
        between = {3, whole // 2} if len(dimensions) < 6 else set[int]()
        smaller = {1, *between} if dimension.can_be_cut else set[int]()
        found.append([*sorted(size for size in smaller if 0 < size < whole), whole])
    return found


def check_against_points(found: Tilings) -> int:
    """Compare four tilings, from the best on, with all points of the space; how many could be."""
    checked = 0
    for number in range(0, len(found), max(1, -(-len(found) // 4))):
        tiling = found[number]
        propagation = found.propagation(tiling)
        ends = propagation.operands, propagation.results
        read, written = (bytes_by_points(propagation, arrays) for arrays in ends)
        if read is not None and written is not None:
            if tiling.is_exact:
                assert (tiling.bytes_read, tiling.bytes_written) == (read, written), tiling
            assert tiling.bytes_read >= read, tiling
            assert tiling.bytes_written >= written, tiling
            checked += tiling.is_exact
    return checked


SWAPPED = """x = f32[64,64,8] parameter(0) p = f32[32,2,64,8] reshape(x)
  r = f32[32,2,64,8] reverse(p), dimensions={1} s = f32[64,64,8] reshape(r)
  ROOT sum = f32[64,64,8] add(x, s)"""
"""Neighbours change places: tiles of an even number of rows are the same."""


def test_equal_tiles_of_sizes_that_are_not_whole_are_loaded_once() -> None:
    """There are 196 candidates: too many to look at all."""
    found = tilings(whole(SWAPPED), ENDLESS)
    assert len(found) == found.considered == 196
    for tiling in found:
        assert tiling.is_exact
        assert tiling.bytes_read == 64 * 64 * 8 * 4 * (1 if tiling.sizes[0] > 1 else 2)


def test_bytes_that_may_be_fewer_are_marked() -> None:
    """There are more points and sizes than are looked at."""
    text = SWAPPED.replace("64,8]", "2]").replace("[64,", "[4194304,").replace("[32,", "[2097152,")
    fusion = whole(text)
    found = tilings(fusion, ENDLESS, sizes=[range(1, 1025), [2]])
    assert len(found) == 513
    for tiling in found:
        assert tiling.is_exact == (tiling.sizes[0] == 1)
    few = tilings(fusion, ENDLESS, sizes=[[2, 8, 32], [2]])
    assert len(few) == 3
    assert all(tiling.is_exact for tiling in few)
    bounds = {tiling.sizes: tiling.bytes_read for tiling in found}
    assert all(tiling.bytes_read < bounds[tiling.sizes] for tiling in few)
    bound = next(each for each in found if not each.is_exact)
    assert bound.shown_bytes[0] == f"<={bound.bytes_read}"
    assert "<=" in str(found)


def test_bytes_behind_the_time_are_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    body = """x = f32[5] parameter(0) lowest = f32[] constant(-inf)
        b = f32[5,3] broadcast(x), dimensions={0} r = f32[15] reshape(b)
        ROOT w = f32[6] reduce-window(r, lowest), window={size=5 stride=2}, to_apply=top"""
    fusion = whole(body)
    exact = {each.sizes: each.bytes_read for each in tilings(fusion, ENDLESS)}
    monkeypatch.setattr(TILINGS, "SECONDS", 0.0)
    found = tilings(fusion, ENDLESS)
    assert len(found) == len(exact)
    assert not any(tiling.is_exact for tiling in found)
    assert all(tiling.bytes_read >= exact[tiling.sizes] for tiling in found)


@pytest.mark.parametrize("module", MODULES)
def test_bytes_of_real_fusions(module: str) -> None:
    """Every fusion of the module; what a scatter updates has no tile of several values."""
    for name, fusion in different_fusions()[module].items():
        found = tilings(fusion, ENDLESS, sizes=sizes_tried(fusion))
        scatters = any(each.opcode == "scatter" for each in fusion.instructions)
        assert bool(check_against_points(found)) != (scatters and not found), name


@seldom
@given(text=fusions())
def test_bytes_of_random_fusions(text: str) -> None:
    fusion = whole(text)
    try:
        found = tilings(fusion, ENDLESS, sizes=sizes_tried(fusion))
    except TileError:
        reject()
    check_against_points(found)


@seldom
@given(text=swapped(), sizes=st.lists(st.integers(1, 32), min_size=1, max_size=4))
def test_tiles_of_parts_that_change_places(text: str, sizes: list[int]) -> None:
    """At all sizes, also where the last tile is smaller."""
    fusion = whole(text)
    extent = TilingSpace.of(fusion).dimensions[0].size or 1
    found = tilings(fusion, ENDLESS, sizes=[[size for size in {*sizes, extent} if size <= extent]])
    assert all(tiling.is_exact for tiling in found)
    assert not found or check_against_points(found)


@for_rows([
    ("tiles-of-two-orders", "bf16[2000,160]{0,1}, bf16[160,2000]", "t, c"),
    ("tiles-of-two-orders: the other way round", "bf16[160,2000], bf16[2000,160]{0,1}", "c, t"),
])  # fmt: skip
def test_results_in_two_orders_share_dimensions(shapes: str, names: str) -> None:
    module = hlo.parse(f"""f {{ p = f32[160,2000] parameter(0) c = bf16[160,2000] convert(p)
        t = bf16[2000,160]{{0,1}} bitcast(c) ROOT r = ({shapes}) tuple({names}) }}
        ENTRY e {{ p = f32[160,2000] parameter(0)
        ROOT k = ({shapes}) fusion(p), kind=kLoop, calls=f }}""")
    best = tilings(Fusion.of_instruction(module.entry.root), A100)[0]
    assert (best.bytes_read, best.bytes_written) == (4 * 160 * 2000, 2 * 2 * 160 * 2000)


def test_softmax_reads_and_writes_in_one_pass() -> None:
    best = tilings(softmax(64, 113), A100)[0]
    assert (best.bytes_read, best.bytes_written) == (64 * 113 * 4, 64 * 113 * 4)
    rows, *others = best.sizes
    assert others == [113] * 3
    assert best.programs == -(-64 // rows)


@pytest.mark.parametrize("name", ["a dot", "a broadcast", "softmax", "reshape that merges"])
def test_the_best_are_the_first_of_all(name: str) -> None:
    """Many cost the same bytes, and some as many tiles, too."""
    fusion = FUSIONS[name]
    found = list(tilings(fusion, ENDLESS))
    for most in (1, 2, 3, 5, 8, 13, len(found) - 1, len(found), len(found) + 1):
        assert list(tilings(fusion, ENDLESS, most=most)) == found[:most]


def test_the_best_come_first() -> None:
    found = tilings(FUSIONS["a dot"], A100)
    moved = [tiling.bytes for tiling in found]
    assert moved == sorted(moved)
    assert len({tiling.sizes for tiling in found}) == len(found)
    assert found[:2] == [found[0], found[1]]
    assert found[-1] == found[len(found) - 1]


LARGE = whole("""p = f32[4096,4096] parameter(0)
    ROOT t = f32[4096,4096] transpose(p), dimensions={1,0}""")


@for_all([A100, MI300X])
def test_a_tile_that_is_transposed_fits_in_shared_memory(device: Device) -> None:
    """A compiler lost kernels to such a tile: https://github.com/ROCm/xla/pull/1083."""
    assert device.shared_memory_bytes is not None
    found = tilings(LARGE, device)
    assert 0 < len(found) < found.considered == 13 * 13
    largest = max(tiling.shared_memory_bytes for tiling in found)
    assert largest <= device.shared_memory_bytes
    less = replace(device, name="less", shared_memory_bytes=4096)
    assert max(tiling.shared_memory_bytes for tiling in tilings(LARGE, less)) == 4096


def test_an_array_that_is_used_twice_is_exchanged_once() -> None:
    """A whole row of 64 KiB, which a reduction reads and a broadcast meets again."""
    found = tilings(softmax(16, 16_000), RTX_A6000, sizes=[[1], [16_000], [16_000], [16_000]])
    assert [tiling.shared_memory_bytes for tiling in found] == [(16_384 + 1) * 4]


def test_both_tiles_of_an_array_are_exchanged() -> None:
    square = """x = f32[64,64] parameter(0)
      ROOT d = f32[64,64] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}"""
    found = tilings(whole(square), RTX_A6000, sizes=[[16], [16], [8]])
    assert [tiling.shared_memory_bytes for tiling in found] == [2 * 16 * 8 * 4]


def test_registers_are_limited() -> None:
    few = replace(A100, name="few registers", registers=100)
    assert {tiling.registers <= 40 for tiling in tilings(LARGE, few)} == {True}


def test_without_warps_all_tiles_are_in_shared_memory() -> None:
    best = max(tilings(LARGE, TPU_V5E), key=lambda tiling: tiling.shared_memory_bytes)
    assert best.registers == 0
    assert best.shared_memory_bytes == 4 * 2 * best.sizes[0] * best.sizes[1]


def test_sizes_may_have_to_divide_or_be_given() -> None:
    found = tilings(FUSIONS["a dot"], A100, divisible=True)
    assert {tiling.sizes[0] for tiling in found} == {1, 2, 6}
    assert {tiling.sizes[2] for tiling in found} == {1, 2, 10}
    found = tilings(FUSIONS["a dot"], A100, sizes=[[3], None, [5, 5]])
    assert {tiling.sizes for tiling in found} == {(3, size, 5) for size in (1, 2, 4, 5)}


DOT = FUSIONS["a dot"]
UNKNOWN = whole("""x = f32[4] parameter(0)
    ROOT c = f32[4] custom-call(x), custom_call_target="lookup\"""")


def lacking(figure: str) -> Device:
    return replace(A100, name="mine", **{figure: None})


test_what_has_no_tilings = refusals(globals(), TileError)("""
tilings(DOT, A100, sizes=[[0], None, None]) => has the tile size 0; expected 1 to 6
tilings(DOT, A100, sizes=[None, [6], None]) => has the tile size 6; expected 1 to 5
tilings(DOT, A100, sizes=[[1]]) => 1 lists of sizes are given; expected 3
tilings(LARGE, A100, sizes=[range(1, 4097)] * 2) => there are 16777216 candidates; expected at most
tilings(UNKNOWN, A100) => no indexing map of lookup
""")

test_what_are_no_sizes_and_no_device = refusals(globals(), ArgumentError)("""
tilings(DOT, A100, sizes=[3, None, None]) => the sizes of parallel dimension 0 of %d, in
tilings(DOT, A100, sizes={0: [1], 1: [1], 2: [1]}) => expected sizes, or None, for each dimension
tilings(LARGE, "A100") => A100
""")

test_devices_without_figures = refusals(globals(), DeviceError)("""
tilings(LARGE, lacking("shared_memory_bytes")) => tilings: mine has no shared_memory_bytes
tilings(LARGE, lacking("registers")) => tilings: mine has no registers
""")


# Elements that tiles of many sizes touch, against sets of all pairs of tiles and elements.

TERMS = st.lists(st.tuples(st.integers(-12, 12), st.integers(0, 5)), max_size=4)
"""Strides and sizes."""


@given(TERMS)
def test_sums_are_those_of_all_points(terms: list[tuple[int, int]]) -> None:
    strides, sizes = [stride for stride, _ in terms], [size for _, size in terms]
    points = product(*map(range, sizes))
    sums = {sum(a * x for a, x in zip(strides, point, strict=True)) for point in points}
    assert number_of_sums(strides, sizes) in {len(sums), None}


# strides => sizes => how many sums they have, if a law tells
@each_named("""
a window: [1, 1] => [10, 3] => 12
a window with a stride: [2, 1] => [5, 3] => 11
a window with holes: [2, 1] => [5, 1] => 5
digits: [12, 4, 1] => [5, 3, 4] => 60
a window of windows: [1, 1, 1] => [32, 63, 63] => 156
a window above a digit: [4, 4, 1] => [5, 3, 2] => 14
digits without a common unit: [7, 2] => [2, 3] => 6
a turned dimension: [-1, 1] => [4, 3] => 6
a factor of 0: [0, 3] => [9, 4] => 4
no point: [1, 1] => [9, 0] => 0
no term: [] => [] => 1
sums that meet here and there: [3, 2] => [3, 3] => None
a trillion squared: [1, 1] => [1000000000000, 1000000000000] => 1999999999999
""")
def test_sums(strides: str, sizes: str, expected: str) -> None:
    found = number_of_sums(literal_eval(strides), literal_eval(sizes))
    assert found == literal_eval(expected)


@each_text("""
a window: (d0 < 10, d1 < 3) -> (d0 + d1)
a window with a stride: (d0 < 5, d1 < 3) -> (d0 * 2 + d1 - 1)
a window with padding: (d0 < 10, d1 < 3) -> (d0 + d1 - 1), domain: d0 + d1 in [1, 10]
a window of windows: (d0 < 8, d1 < 15, d2 < 15) -> (d0 + d1 + d2 - 14), domain: d0 + d1 + d2 in
        [14, 21], d0 + d1 in [7, 14]
sums that meet here and there: (d0 < 7, d1 < 7) -> (d0 * 3 + d1 * 2)
two windows: (d0 < 5, d1 < 3, d2 < 4) -> (d0 + d1, d1 + d2)
a digit: (d0 < 10, d1 < 6) -> ((d0 + d1) floordiv 4)
a dimension from 3 on: (d0 in [3, 9], d1 < 5) -> (d0 + d1)
a dimension of no result: (d0 < 5, d1 < 5) -> (d0 * 2)
no point: (d0 < 5, d1 < 5) -> (d0 + d1), domain: d0 + d1 in [9, 12]
no result: (d0 < 5) -> ()
""")
def test_tiles_touch_what_their_points_touch(text: str) -> None:
    part = parse_map(text)
    choices = [[1, 2, 3, 4, 5, 8, 20]] * len(part.dims)
    assert touched(part, choices) == [pairs_touched(part, sizes) for sizes in product(*choices)]


@given(st.data())
def test_tiles_of_random_sums(data: st.DataObject) -> None:
    """With bounds on the sum or without."""
    rank = data.draw(st.integers(1, 3))
    strides = data.draw(st.lists(st.integers(-5, 5), min_size=rank, max_size=rank))
    wholes = data.draw(st.lists(st.integers(1, 9), min_size=rank, max_size=rank))
    names = [f"d{number}" for number in range(rank)]
    total = " + ".join(f"{a} * {name}" for a, name in zip(strides, names, strict=True))
    bounds = [f"{name} in [0, {size - 1}]" for name, size in zip(names, wholes, strict=True)]
    if data.draw(st.booleans()):
        bounds.append(f"{total} in [{data.draw(st.integers(-9, 2))}, 12]")
    part = parse_map(f"({', '.join(names)}) -> ({total}), domain: {', '.join(bounds)}")
    choices = [sorted(data.draw(st.sets(st.integers(1, 10), min_size=1))) for _ in names]
    assert touched(part, choices) == [pairs_touched(part, sizes) for sizes in product(*choices)]
    tally = tally_of([part], Deadline(None))
    points = [tuple(results) for *_, results in part.points()]
    assert tally == (len(points), len(set(points)))


def pairs_touched(part: IndexingMap, sizes: tuple[int, ...]) -> int:
    """How many pairs of tiles and elements there are, one after the other."""
    rows = ((zip(dims, sizes, strict=True), results) for dims, _, _, results in part.points())
    return len({(tuple(at // size for at, size in row), tuple(results)) for row, results in rows})


def test_large_windows_have_a_closed_form() -> None:
    part = parse_map("(d0, d1) -> (d0 + d1), domain: d0 in [0, 999999999999], d1 in [0, 2]")
    assert touched(part, [[10**6], [1, 3]]) == [3 * 10**12, 10**6 * (10**6 + 2)]


def test_many_points_without_a_closed_form_are_not_gone_through() -> None:
    part = parse_map("(d0, d1) -> (d0 * 3 + d1 * 2), domain: d0 in [0, 9999], d1 in [0, 9999]")
    assert touched(part, [[10], [10]]) is None


def test_points_that_there_is_no_time_for_are_not_gone_through_one_by_one() -> None:
    summed = "d0 + d1 + d2 in [254, 381], d0 + d1 in [127, 254]"
    box = "d0 in [0, 127], d1 in [0, 254], d2 in [0, 254]"
    part = parse_map(f"(d0, d1, d2) -> (d0 + d1 + d2, d0 floordiv 7), domain: {box}, {summed}")
    assert tally_of([part], Deadline(None), times=2).points == 128**3
    with pytest.raises(OutOfTimeError):
        tally_of([part], Deadline(None), times=648)
