"""Why one element needs another, and what tiles read: all pairs, against the points of the maps."""

from __future__ import annotations

from itertools import product

import pytest

from indexing import IndexingMap
from ops import Unknown, hlo, reads, why
from ops.fusion import FusionError, TileRead
from simplifier.errors import ArgumentError
from tests.cases import for_all, for_rows
from tests.cli.small_modules import LOOKED_UP, ROW_SHARES
from tests.fusion.units import fused
from tests.hlo.modules import module_text
from tests.indexing.tables import refusals

SMALL = """ENTRY e { x = f32[3,4] parameter(0) t = f32[4,3] transpose(x), dimensions={1,0}
  flat = f32[12] reshape(t) part = f32[4] slice(flat), slice={[1:12:3]} zero = f32[] constant(0)
  wide = f32[6] pad(part, zero), padding=1_1 start = s32[] parameter(1)
  ROOT few = f32[3] dynamic-slice(wide, start), dynamic_slice_sizes={3} }"""


Pair = tuple[tuple[int, ...], tuple[int, ...]]


def pairs_of(found: IndexingMap) -> set[Pair]:
    """What a map relates, for any values of runtime variables."""
    return {(point[0], point[-1]) for point in found.points()}


@for_all(["t", "flat", "part", "wide", "few"])
def test_exactly_the_elements_that_are_related_have_a_reason(name: str) -> None:
    """All the way to the parameter."""
    module = hlo.parse(SMALL)
    instruction, x = module[name], module["x"]
    ways = [reason.indexing for reason in why(instruction, x)]
    related = set[Pair]().union(*(pairs_of(w.map) for w in ways if not isinstance(w, Unknown)))
    indices = [product(*map(range, each.shape.dimensions)) for each in (instruction, x)]
    for element, needed in product(*indices):
        found = why(instruction, x, element=element, needed=needed)
        assert bool(found) == ((element, needed) in related)
        for reason in found:
            assert all(path[0] is instruction and path[-1] is x for path in reason.provenance.paths)


def test_each_map_has_its_own_paths_and_what_is_unknown_is_a_reason_for_all() -> None:
    module = hlo.parse(ROW_SHARES)
    share, x = module["share"], module["x"]
    one, other = why(share, x)
    assert [len(each.provenance.paths[0]) for each in (one, other)] == [2, 4]
    assert why(share, x, element=(1, 2), needed=(1, 2)) == (one, other)
    assert why(share, x, element=(1, 2), needed=(1, 3)) == (other,)
    assert why(share, x, element=(1, 2), needed=(2, 3)) == ()
    module = hlo.parse(LOOKED_UP)
    (reason,) = why(module["part"], module["keys"], element=(3,), needed=(0,))
    assert isinstance(reason.indexing, Unknown)


SHARES = hlo.parse(ROW_SHARES)
NAMES = {"why": why, "reads": reads, **{name: SHARES[name] for name in ("share", "x", "a")}}

test_wrong_arguments = refusals(NAMES, ArgumentError)("""
why(share, x, element=(4, 0)) => the element is (4, 0); expected an index in f32
why(share, x, needed=(0,)) => the needed element is (0,); expected an index
why("share") => why: the instruction is 'share'
reads(share, (2,)) => reads: the sizes are (2,)
reads(share)[0].elements((0, 8)) => there is no tile (0, 8)
""")
test_another_computation = refusals(NAMES, FusionError)("""
why(share, a) => %a is in %add; expected an instruction of %main
""")


def tiles_of(read: TileRead) -> list[tuple[int, ...]]:
    sizes = read.instruction.shape.arrays[read.output].dimensions
    counts = (-(-size // tile) for size, tile in zip(sizes, read.sizes, strict=True))
    return [*product(*map(range, counts))]


@pytest.mark.parametrize("tile", [1, 2, 3])
@pytest.mark.parametrize("name", ["t", "flat", "part", "wide", "few"])
def test_tiles_read_what_their_elements_need(name: str, tile: int) -> None:
    """And the formulas say the same, where they have no mask."""
    instruction = hlo.parse(SMALL)[name]
    for read in reads(instruction, [tile] * instruction.shape.rank):
        assert not isinstance(read.indexing, Unknown)
        related = pairs_of(read.indexing.map)
        for ids in tiles_of(read):
            expected = {
                needed
                for element, needed in related
                if tuple(i // size for i, size in zip(element, read.sizes, strict=True)) == ids
            }
            assert {*read.elements(ids)} == expected
        if isinstance(read.count, int):
            first = read.elements([0] * len(read.sizes))
            assert read.count <= len({*first}) or not read.indexing.runtime


READ_TWICE = """
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
f { x = f32[4,16] parameter(0) z = f32[] constant(0)
  s = f32[4] reduce(x, z), dimensions={1}, to_apply=add b = f32[4,16] broadcast(s), dimensions={0}
  ROOT o = f32[4,16] divide(x, b) }
g { x = f32[64] parameter(0) i = s32[] parameter(1) j = s32[] parameter(2)
  v = f32[8] dynamic-slice(x, i), dynamic_slice_sizes={8}
  w = f32[8] dynamic-slice(x, j), dynamic_slice_sizes={8} ROOT o = f32[8] add(v, w) }
ENTRY e { x = f32[4,16] parameter(0) y = f32[64] parameter(1)
  i = s32[] parameter(2) j = s32[] parameter(3) p = f32[8] fusion(y, i, j), kind=kLoop, calls=g
  ROOT q = f32[4,16] fusion(x), kind=kLoop, calls=f }
"""


@for_rows([
    ("one row for one part", "q", (1, 16), ["%x f32[4,16]: [t0, 0:16], 16 elements"]),
    ("two where a part is wider", "q", (1, 8),
     ["%x f32[4,16]: [t0, t1 * 8:t1 * 8 + 8], 8 elements",
      "%x f32[4,16]: [t0, 0:16], 16 elements"]),
    ("two at values of two scalars", "p", (4,),
     ["%y f32[64]: [t0 * 4 + rt0:t0 * 4 + rt0 + 4], 4 elements"] * 2),
])  # fmt: skip
def test_reads_of_a_part_are_one_row(name: str, tile: tuple[int, ...], expected: list[str]) -> None:
    found = reads(hlo.parse(READ_TWICE)[name], tile)
    assert [str(read) for read in found if read.operand.shape.rank] == expected


def test_parts_that_fewer_tiles_read_are_rows_of_their_own() -> None:
    """Two maps with the same part of each tile, of which one ends before the other."""
    module = fused("""x = f32[8] parameter(0) zero = f32[] constant(0)
        a = f32[4] slice(x), slice={[0:4]} p = f32[8] pad(a, zero), padding=0_4
        b = f32[6] slice(x), slice={[0:6]} q = f32[8] pad(b, zero), padding=0_2
        ROOT r = f32[8] add(p, q)""")
    rows = [read for read in reads(module.entry.root, (2,)) if read.operand.shape.rank]
    assert [str(read) for read in rows] == ["%g0 f32[8]: [t0 * 2:t0 * 2 + 2], 2 elements"] * 2
    read_by = [{point for read in rows for point in read.elements((tile,))} for tile in range(4)]
    assert read_by == [{(0,), (1,)}, {(2,), (3,)}, {(4,), (5,)}, set()]


def test_tiles_that_are_no_box_have_a_mask_or_a_reason() -> None:
    windows = hlo.parse(DILATED_WINDOWS)
    (rows,) = reads(windows["rows"], (8,))
    assert str(rows).endswith(
        " where (i0 * 6 + i1 < (t0 mod 3) * 2 + 8 and i0 * 6 + i1 >= (t0 mod 3) * 2)"
    )
    (sums,) = reads(windows["sums"], (3, 2))
    assert str(sums) == "%x f32[8,6]: unknown (tile: no mask tells its elements)"
    assert sums.count is None
    assert sums.elements((0, 0)).count() == 22


DILATED_WINDOWS = """
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
f { x = f32[8,6] parameter(0) y = f32[48] reshape(x) zero = f32[] constant(0)
  w = f32[20] reduce-window(y, zero), window={size=4 stride=2 rhs_dilate=3}, to_apply=add
  v = f32[4,5] reshape(w) ROOT u = f32[5,4] transpose(v), dimensions={1,0} }
ENTRY e { x = f32[8,6] parameter(0) rows = f32[48] reshape(x)
  ROOT sums = f32[5,4] fusion(x), kind=kLoop, calls=f }
"""


def test_an_array_without_elements_has_no_tiles() -> None:
    text = "ENTRY e { x = f32[0,3] parameter(0) ROOT y = f32[0,3] negate(x) }"
    root = hlo.parse(text).entry.root
    assert reads(root) == reads(root, (1, 2)) == ()


@for_all(["gpu/conv_zoo", "cpu/concat_pad_rev_slice", "tpu/roll"])
def test_counts_are_those_of_the_elements(name: str) -> None:
    """Of the first element, where nothing is masked and no value is read."""
    compared = 0
    for instruction in hlo.parse(module_text(name)).entry.instructions:
        for read in reads(instruction):
            is_fixed = not isinstance(read.indexing, Unknown) and not read.indexing.runtime
            if read.count is not None and is_fixed:
                assert read.elements([0] * len(read.sizes)).count() == read.count
                compared += 1
    assert compared > 10
