"""How much of operands is used: tables, a simulated kernel, and all values of offsets."""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Callable
from itertools import product
from math import prod
from random import Random
from typing import TypeAlias

import pytest
import sympy
from hypothesis import given

from indexing import IndexingMap, parse_map
from ops import Fusion, OperandIndexing, Reads, hlo, utilization
from ops.hlo import HloModule, Instruction
from ops.performance import OperandUtilization, Utilization
from ops.performance.tally import Count, Deadline
from ops.performance.utilization import footprint_of
from simplifier import Interval, symbol
from simplifier.errors import ArgumentError
from tests.cases import for_all, for_rows, texts_with_values
from tests.fusion.small_programs import SOFTMAX, SUM_WITH_TRANSPOSE
from tests.fusion.units import ADD, entry, fusion_in, named
from tests.indexing.tables import refusals
from tests.performance.runtime_programs import NOTHING, Program, random_program, random_updates
from tests.strategies import maps

NO_TIME, FOREVER = 0.0, None


def row_of(used: Utilization, operand: Instruction) -> OperandUtilization:
    (row,) = used.of(operand)
    return row


def used_by(body: str, name: str = "e.x") -> OperandUtilization:
    module = entry(body, ADD)
    return row_of(utilization(Fusion.of_computation(module.entry)), named(module, name))


def ends(count: Count) -> tuple[int, int]:
    if not isinstance(count, Interval):
        return int(count), int(count)
    assert count.lower is not None
    assert count.upper is not None
    return count.lower, count.upper


POOLED = entry("""x = f32[112,112] parameter(0) lowest = f32[] constant(-inf)
    producer = f32[112,112] exponential(x)
    ROOT pooled = f32[55,55] reduce-window(producer, lowest), window={size=3x3 stride=2x2},
      to_apply=top""")
WHOLE = (112**2, 112**2, 112**2, 4 * 112**2)
POOLED_COUNTS = (112**2, 111**2, 27225, 4 * 111**2)


@for_rows([
    ("a sum with its transpose", SUM_WITH_TRANSPOSE, "computation e", "p", (25, 25, 50, 100)),
    ("softmax", SOFTMAX, "computation f", "p", (24, 24, 9 * 24, 96)),
    ("windows that overlap", POOLED, "computation e", "e.x", POOLED_COUNTS),
    ("a pair to be fused", POOLED, "pair producer pooled", "e.x", POOLED_COUNTS),
    ("one instruction", POOLED, "instruction producer", "e.x", WHOLE),
    ("what a reduction begins with", POOLED, "instruction pooled", "lowest", (1, 1, 3025, 4)),
])  # fmt: skip
def test_operands_are_used(
    module: HloModule, unit: str, name: str, expected: tuple[int, int, int, int]
) -> None:
    row = row_of(utilization(fusion_in(module, unit)), named(module, name))
    assert (row.elements, row.elements_read, row.reads, row.bytes) == expected
    assert row.bounds == ""
    assert row.reuse == expected[2] / expected[1]


@for_all(texts_with_values("""
# softmax | "512,911", 512 * 911, 512 * 911 * 912
peak = f32[512] reduce(x, zero), dimensions={1}, to_apply=sum
peaks = f32[512,911] broadcast(peak), dimensions={0} ROOT r = f32[512,911] divide(x, peaks)
# a trillion elements | "1000000,1000000", 10 ** 12, 10 ** 12
ROOT r = f32[1000000] reduce(x, zero), dimensions={0}, to_apply=sum
# windows in a trillion | "1000000,1000000", 999999 * 1000000, 499999 * 999998 * 9
ROOT r = f32[499999,999998] reduce-window(x, zero), window={size=3x3 stride=2x1}, to_apply=sum
# every third | "3000000,7", 7 * 10 ** 6, 7 * 10 ** 6
ROOT r = f32[1000000,7] slice(x), slice={[1:3000000:3], [0:7]}
"""))  # fmt: skip
def test_large_arrays_have_closed_forms(body: str, sizes: str, read: int, reads: int) -> None:
    row = used_by(f"x = f32[{sizes}] parameter(0) zero = f32[] constant(0) {body}")
    assert (row.elements_read, row.reads, row.bytes, row.bounds) == (read, reads, 4 * read, "")


@pytest.mark.needs("jax")
@for_all(product([random_updates, random_program], range(24)))
def test_least_and_most_are_those_of_all_values(
    make: Callable[[Random], Program], seed: int
) -> None:
    program = make(Random(seed))  # noqa: S311 - a program, no secret
    text = program.text()
    counts = [len({*each.tolist()} - {NOTHING}) for each in program.results()]
    rows = utilization(Fusion.of_computation(hlo.parse(text).entry), seconds=FOREVER)
    (row,) = (each for each in rows if each.operand.name == "p0")
    expected, found = (min(counts), max(counts)), ends(row.elements_read)
    is_bound = row.bounds and Interval(*found).contains(Interval(*expected))
    assert found == expected or is_bound, text


OFFSETS = texts_with_values("""
# a slice uses as much wherever it is | (10, 10), (10, 10)
x = f32[90] parameter(0) ROOT r = f32[10] dynamic-slice(x, i), dynamic_slice_sizes={10}
# a slice of padding | (1, 4), (1, 4)
x = f32[9] parameter(0) z = f32[] constant(0) p = f32[12] pad(x, z), padding=3_0
ROOT r = f32[4] dynamic-slice(p, i), dynamic_slice_sizes={4}
# a slice of padding may need nothing | (0, 1), (0, 1)
x = f32[1] parameter(0) z = f32[] constant(0) p = f32[10] pad(x, z), padding=5_4
ROOT r = f32[1] dynamic-slice(p, i), dynamic_slice_sizes={1}
# a slice and the front | (6, 12), (12, 12)
x = f32[20] parameter(0) a = f32[6] dynamic-slice(x, i), dynamic_slice_sizes={6}
b = f32[6] slice(x), slice={[0:6]} ROOT r = f32[6] add(a, b)
# two slices at one offset | (6, 12), (12, 12)
x = f32[20] parameter(0) a = f32[6] dynamic-slice(x, i), dynamic_slice_sizes={6}
y = f32[20] reverse(x), dimensions={0}
b = f32[6] dynamic-slice(y, i), dynamic_slice_sizes={6} ROOT r = f32[6] add(a, b)
# two slices at two offsets | (5, 10), (10, 10)
x = f32[12] parameter(0) a = f32[5] dynamic-slice(x, i), dynamic_slice_sizes={5}
b = f32[5] dynamic-slice(x, j), dynamic_slice_sizes={5} ROOT r = f32[5] add(a, b)
# slices of one offset with two clamps | (5, 8), (10, 10)
x = f32[12] parameter(0) a = f32[5] dynamic-slice(x, i), dynamic_slice_sizes={5}
h = f32[9] slice(x), slice={[0:9]} b = f32[5] dynamic-slice(h, i), dynamic_slice_sizes={5}
ROOT r = f32[5] add(a, b)
# a corner of what is padded | (0, 6), (0, 6)
x = f32[5,4] parameter(0) z = f32[] constant(0) p = f32[9,7] pad(x, z), padding=2_2x1_2
ROOT r = f32[3,2] dynamic-slice(p, i, j), dynamic_slice_sizes={3,2}
# a square on the diagonal of what is padded | (0, 6), (0, 6)
x = f32[5,4] parameter(0) z = f32[] constant(0) p = f32[9,7] pad(x, z), padding=2_2x1_2
ROOT r = f32[3,2] dynamic-slice(p, i, i), dynamic_slice_sizes={3,2}
# what an update leaves | (5, 5), (5, 5)
x = f32[8] parameter(0) u = f32[3] parameter(3) ROOT r = f32[8] dynamic-update-slice(x, u, i)
# an update at one offset twice | (24, 24), (24, 24)
x = f32[6,5] parameter(0) u = f32[2,3] parameter(3)
ROOT r = f32[6,5] dynamic-update-slice(x, u, i, i)
# a slice of what an update leaves | (1, 4), (1, 4)
x = f32[9] parameter(0) u = f32[3] parameter(3) y = f32[9] dynamic-update-slice(x, u, i)
ROOT r = f32[4] dynamic-slice(y, j), dynamic_slice_sizes={4}
# the part that is updated is what was there | (9, 9), (9, 9)
x = f32[9] parameter(0) u = f32[3] parameter(3)
p = f32[3] dynamic-slice(x, i), dynamic_slice_sizes={3} s = f32[3] add(p, u)
ROOT r = f32[9] dynamic-update-slice(x, s, i)
# updates of two sizes at one offset | (4, 4), (4, 4)
x = f32[9] parameter(0) u = f32[3] parameter(3) v = f32[5] parameter(4)
y = f32[9] dynamic-update-slice(x, u, i) ROOT r = f32[9] dynamic-update-slice(y, v, i)
# rows of what is reshaped | (12, 12), (12, 12)
x = f32[24] parameter(0) m = f32[4,6] reshape(x)
ROOT r = f32[2,6] dynamic-slice(m, i, j), dynamic_slice_sizes={2,6}
# columns of what is reshaped in threes | (15, 15), (15, 15)
x = f32[24] parameter(0) m = f32[3,8] reshape(x)
a = f32[3,5] dynamic-slice(m, i, j), dynamic_slice_sizes={3,5} ROOT r = f32[15] reshape(a)
""")


@pytest.mark.parametrize(("body", "elements", "reads"), OFFSETS.values(), ids=OFFSETS)
def test_counts_over_offsets(body: str, elements: tuple[int, int], reads: tuple[int, int]) -> None:
    module = hlo.parse(f"ENTRY e {{ i = s32[] parameter(1) j = s32[] parameter(2) {body} }}")
    fusion = Fusion.of_computation(module.entry)
    x = named(module, "x")
    row = row_of(utilization(fusion, seconds=FOREVER), x)
    assert (ends(row.elements_read), ends(row.reads)) == (elements, reads)
    assert isinstance(row.reads, int) == (reads[0] == reads[1])
    assert row.reread_bytes == 4 * max(0, reads[0] - elements[1])
    assert row.bounds == ""
    bounded = row_of(utilization(fusion, seconds=NO_TIME), x)
    assert ends(bounded.elements_read)[0] <= elements[0]
    assert ends(bounded.elements_read)[1] >= elements[1]


BRANCH = """flag = pred[] parameter(3) x = f32[8] parameter(0)
    ROOT r = f32[8] conditional(flag, x, x), true_computation=here, false_computation=there"""


@pytest.mark.parametrize(
    "body", [BRANCH, *(body for body, *_ in OFFSETS.values())], ids=["a branch", *OFFSETS]
)
def test_given_values_are_those_of_constants(body: str) -> None:
    called = """here { a = f32[8] parameter(0) z = f32[] constant(0)
        s = f32[2] slice(a), slice={[0:2]} ROOT r = f32[8] pad(s, z), padding=0_6 }
        there { a = f32[8] parameter(0) ROOT r = f32[8] reverse(a), dimensions={0} }"""
    text = f"""HloModule m {called} ENTRY e {{
        i = s32[] parameter(1) j = s32[] parameter(2) {body} }}"""
    module = hlo.parse(text)
    reads = Fusion.of_computation(module.entry).reads("x")
    assert isinstance(reads, Reads)
    for values in ({"i": "-1", "j": "3", "flag": "true"}, {"i": "6", "j": "6", "flag": "false"}):
        known = text
        for name, value in values.items():
            constant = rf"un{name} = \1 \2 {name} = \1 constant({value})"
            known = re.sub(rf"\b{name} = (\S+) (parameter\(.\))", constant, known)
        fixed = Fusion.of_computation(hlo.parse(known).entry).reads("x")
        assert isinstance(fixed, Reads)
        numbers = {name: int(literal_eval(value.title())) for name, value in values.items()}
        scalars = [each for each in module.entry.parameters if each.name in numbers]
        run = reads.given({each: numbers[each.name] for each in scalars})
        assert run.elements() == fixed.elements()
        if len(run.ways) == len(fixed.ways):  # else two indices are one if they are constants
            assert run.histogram() == fixed.histogram()


SCATTERED = """update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0},
    index_vector_dim=1"""
REPORTED = texts_with_values("""
# kept-part-of-update | dict(src=(550, 550), upd=(50, 50), of1=(1, 600), of2=(1, 600))
src = s32[20,30] parameter(0) upd = s32[5,10] parameter(1) of1 = s32[] parameter(2)
of2 = s32[] parameter(3) ROOT dus = s32[20,30] dynamic-update-slice(src, upd, of1, of2)
# kept-part-of-update-1d | dict(x=(2, 2), y=(6, 6), i=(1, 8))
x = f32[8] parameter(0) y = f32[6] parameter(1) i = s32[] parameter(2)
ROOT r = f32[8] dynamic-update-slice(x, y, i)
# kept-part-of-update: a large array | dict(x=(7999999400, 7999999400), y=(600, 600))
x = f32[8000000,1000] parameter(0) y = f32[6,100] parameter(1) i = s32[] parameter(2)
ROOT r = f32[8000000,1000] dynamic-update-slice(x, y, i, i)
# branch-may-not-run | dict(p=(1, 8), x=((0, 8), (0, 8)), y=((0, 8), (0, 8)))
p = pred[] parameter(0) x = f32[8] parameter(1) y = f32[8] parameter(2)
ROOT c = f32[8] conditional(p, x, y), true_computation=t, false_computation=f
# branch-may-not-run: one that runs | dict(x=(8, 8), y=(0, 0))
p = pred[] constant(true) x = f32[8] parameter(0) y = f32[8] parameter(1)
ROOT c = f32[8] conditional(p, x, y), true_computation=t, false_computation=f
# branch-may-not-run: either reads all | dict(p=(1, 8), x=(8, 8))
p = pred[] parameter(0) x = f32[8] parameter(1)
ROOT c = f32[8] conditional(p, x, x), true_computation=t, false_computation=f
# branch-may-not-run: the last of three | dict(p=(1, 8), x=((0, 8), (0, 8)), y=((0, 8), (0, 8)))
p = s32[] parameter(0) x = f32[8] parameter(1) y = f32[8] parameter(2)
ROOT c = f32[8] conditional(p, x, x, y), branch_computations={t, f, t}
# a mask chooses what was read | dict(m=(8, 8), x=(8, 8), y=(8, 8))
m = pred[8] parameter(0) x = f32[8] parameter(1) y = f32[8] parameter(2)
ROOT c = f32[8] select(m, x, y)
# an assigning scatter | dict(x=((5, 9), (5, 9)))
x = f32[9] parameter(0) i = s32[4,1] parameter(1) u = f32[4] parameter(2)
ROOT r = f32[9] scatter(x, i, u), SCATTERED, to_apply=second
# an adding scatter | dict(x=(9, 9))
x = f32[9] parameter(0) i = s32[4,1] parameter(1) u = f32[4] parameter(2)
ROOT r = f32[9] scatter(x, i, u), SCATTERED, to_apply=sum
# an assigning scatter beside what it changes | dict(x=(9, (14, 18)))
x = f32[9] parameter(0) i = s32[4,1] parameter(1) u = f32[4] parameter(2)
r = f32[9] scatter(x, i, u), SCATTERED, to_apply=second ROOT s = f32[9] add(r, x)
# an assigning scatter of another | dict(x=((0, 9), (0, 9)))
x = f32[9] parameter(0) i = s32[4,1] parameter(1) u = f32[4] parameter(2)
r = f32[9] scatter(x, i, u), SCATTERED, to_apply=second
ROOT s = f32[9] scatter(r, i, u), SCATTERED, to_apply=second
# an assigning scatter in a branch | dict(x=((0, 9), (0, 18)))
p = pred[] parameter(0) x = f32[9] parameter(1)
ROOT c = f32[9] conditional(p, x, x), true_computation=s, false_computation=s
# the sources of selected elements | dict(x=(8, 32), y=((0, 2), (0, 8)))
x = f32[4,2] parameter(0) y = f32[2,1] parameter(1) z = f32[] constant(0)
ROOT r = f32[4,2] select-and-scatter(x, y, z), window={size=2x2 stride=2x2}, select=ge, scatter=sum
# the groups of a ragged dot | dict(x=((0, 55), (0, 385)), y=((0, 105), (0, 1155)), g=(3, 231))
x = f32[11,5] parameter(0) y = f32[3,5,7] parameter(1) g = s32[3] parameter(2)
ROOT r = f32[11,7] ragged-dot(x, y, g), lhs_contracting_dims={1}, rhs_contracting_dims={1},
lhs_ragged_dims={0}, rhs_group_dims={0}
# a sort compares all | dict(x=(9, 81))
x = f32[9] parameter(0) ROOT r = f32[9] sort(x), dimensions={0}, to_apply=ge
# a loop that may not run | dict(x=((0, 4), (0, 8)))
x = f32[4] parameter(0) n = s32[] parameter(1) s = (f32[4], s32[]) tuple(x, n)
ROOT w = (f32[4], s32[]) while(s), condition=test, body=body
# utilization-window-of-window | dict(x=(1, 2))
x = f32[1] parameter(0) z = f32[] constant(0)
a = f32[2] reduce-window(x, z), window={size=3 pad=1_2}, to_apply=sum
ROOT r = f32[1] reduce-window(a, z), window={size=2}, to_apply=sum
# utilization-window-of-window: of two elements | dict(x=(2, 4))
x = f32[2] parameter(0) z = f32[] constant(0)
a = f32[2] reduce-window(x, z), window={size=3 pad=1_1}, to_apply=sum
ROOT r = f32[1] reduce-window(a, z), window={size=2}, to_apply=sum
# utilization-tuple-twice | dict(x=(2, 4))
x = f32[2] parameter(0) n = f32[2] negate(x) ROOT t = (f32[2], f32[2]) tuple(n, n)
# utilization-tuple-twice: two that are equal | dict(x=(2, 4))
x = f32[2] parameter(0) n = f32[2] negate(x) m = f32[2] negate(x)
ROOT t = (f32[2], f32[2]) tuple(n, m)
# results of one operation are computed at once | dict(x=(9, 9), y=(9, 9))
x = f32[9] parameter(0) y = f32[9] parameter(1) z = f32[] constant(0)
ROOT r = (f32[], f32[]) reduce(x, y, z, z), dimensions={0}, to_apply=both
""")
CALLED = """HloModule m
sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }
second { a = f32[] parameter(0) ROOT b = f32[] parameter(1) }
ge { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = pred[] compare(a, b), direction=GE }
both { a = f32[] parameter(0) b = f32[] parameter(1) c = f32[] parameter(2)
  d = f32[] parameter(3) e = f32[] add(a, c) g = f32[] add(b, d)
  ROOT r = (f32[], f32[]) tuple(e, g) }
t { a = f32[8] parameter(0) ROOT r = f32[8] exponential(a) }
f { a = f32[8] parameter(0) ROOT r = f32[8] negate(a) }
s { x = f32[9] parameter(0) i = s32[4,1] iota(), iota_dimension=0 z = f32[] constant(0)
  u = f32[4] broadcast(z), dimensions={}
  ROOT r = f32[9] scatter(x, i, u), SCATTERED, to_apply=second }
body { s = (f32[4], s32[]) parameter(0) a = f32[4] get-tuple-element(s), index=0
  k = s32[] get-tuple-element(s), index=1 b = f32[4] reverse(a), dimensions={0}
  l = s32[] multiply(k, k) ROOT t = (f32[4], s32[]) tuple(b, l) }
test { s = (f32[4], s32[]) parameter(0) k = s32[] get-tuple-element(s), index=1
  n = s32[] constant(9) ROOT r = pred[] compare(k, n), direction=LT }
"""


@pytest.mark.parametrize(("body", "expected"), REPORTED.values(), ids=REPORTED)
def test_counts_are_certain_if_they_are(body: str, expected: dict[str, tuple[Ends, Ends]]) -> None:
    text = f"{CALLED} ENTRY e {{ {body} }}".replace("SCATTERED", SCATTERED)
    used = utilization(Fusion.of_computation(hlo.parse(text).entry))
    found = {row.operand.name: (row.elements_read, row.reads) for row in used}
    for name, counts in expected.items():
        assert [_shown(each) for each in found[name]] == [*counts], name


Ends: TypeAlias = "int | tuple[int, int]"


def _shown(count: Count) -> Ends:
    least, most = ends(count)
    return least if least == most else (least, most)


Sizes: TypeAlias = "tuple[int, ...]"


@for_all(texts_with_values("""
# rows | (4, 2), (3, 1), (1, 2), (2, 6)
3,2] gather(x, ids), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}
# more indices than rows | (2, 2), (4, 1), (1, 2), (2, 4)
4,2] gather(x, ids), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}
# elements by two indices | (2, 2), (3, 2), (1, 1), (1, 3)
3] gather(x, ids), offset_dims={}, collapsed_slice_dims={0,1}, start_index_map={0,1}
# windows of rows | (4, 2), (2, 1), (2, 2), (4, 8)
2,2,2] gather(x, ids), offset_dims={1,2}, collapsed_slice_dims={}, start_index_map={0}
# more windows of rows than rows in one | (5, 1), (3, 1), (2, 1), (2, 5)
3,2,1] gather(x, ids), offset_dims={1,2}, collapsed_slice_dims={}, start_index_map={0}
"""))  # fmt: skip
def test_gathers_at_all_indices(
    body: str, shape: Sizes, indices: Sizes, window: Sizes, elements: tuple[int, int]
) -> None:
    sizes, count, slices = (",".join(map(str, each)) for each in (shape, indices, window))
    row = used_by(
        f"""x = f32[{sizes}] parameter(0) ids = s32[{count}] parameter(1)
        ROOT r = f32[{body}, index_vector_dim=1, slice_sizes={{{slices}}}"""
    )
    assert ends(row.elements_read) == elements
    assert bool(row.bounds) == (window[0] > 1)
    assert row.reads == prod(map(int, body.partition("]")[0].split(",")))


BATCHED = """slice_sizes={1,1}, offset_dims={}, collapsed_slice_dims={1}, start_index_map={1},
    operand_batching_dims={0}, start_indices_batching_dims={0}"""


@for_all(texts_with_values("""
# one index in each row | (3, 3), 3
x = f32[3,4] parameter(0) ids = s32[3,1] parameter(1)
ROOT r = f32[3] gather(x, ids), index_vector_dim=1, BATCHED
# two indices in each row | (3, 6), 6
x = f32[3,4] parameter(0) ids = s32[3,2,1] parameter(1)
ROOT r = f32[3,2] gather(x, ids), index_vector_dim=2, BATCHED
# more indices than columns in each row | (3, 12), 15
x = f32[3,4] parameter(0) ids = s32[3,5,1] parameter(1)
ROOT r = f32[3,5] gather(x, ids), index_vector_dim=2, BATCHED
# indices of another shape | (1, 3), 4
x = f32[3] parameter(0) given = s32[4] parameter(1) ids = s32[2,2,1] reshape(given)
ROOT r = f32[2,2] gather(x, ids), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0},
index_vector_dim=2, slice_sizes={1}
# every second column | (4, 12), 12
x = f32[9,8] parameter(0) ids = s32[3,1] parameter(1) s = f32[9,4] slice(x), slice={[0:9], [0:8:2]}
ROOT r = f32[3,4] gather(s, ids), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0},
index_vector_dim=1, slice_sizes={1,4}
# ten million indices, which have a closed form | (1, 100000), 10**7
x = f32[100000,1] parameter(0) ids = s32[10000000,1] parameter(1)
ROOT r = f32[10000000,1] gather(x, ids), offset_dims={1}, collapsed_slice_dims={0},
start_index_map={0}, index_vector_dim=1, slice_sizes={1,1}
"""))  # fmt: skip
def test_counts_of_a_gather(body: str, elements: tuple[int, int], reads: int) -> None:
    row = used_by(body.replace("BATCHED", BATCHED))
    assert (ends(row.elements_read), row.reads, row.bounds) == (elements, reads, "")


def test_a_condition_says_when_an_element_is_needed() -> None:
    module = entry(
        """x = f32[9] parameter(0) i = s32[] parameter(1) z = f32[] constant(0)
        p = f32[12] pad(x, z), padding=3_0
        ROOT r = f32[4] dynamic-slice(p, i), dynamic_slice_sizes={4}"""
    )
    used = utilization(Fusion.of_computation(module.entry))
    row = row_of(used, named(module, "x"))
    (condition,) = row.conditions
    assert str(condition.map) == (
        "(d0){rt0} -> (d0 + rt0 - 3), domain: d0 in [0, 3], rt0 in [0, 8], d0 + rt0 in [3, 11]"
    )
    assert str(row).splitlines() == [
        "%x: 1 to 4 of 9 elements, 4 to 16 bytes, 1 to 4 reads",
        f"  only where {condition.map}",
        "  rt0: %i = s32[] parameter(1); (d0) -> ()",
    ]
    slice_alone = utilization(named(module, "r"))
    assert all(not each.conditions for each in slice_alone)
    assert str(slice_alone.rows[0]) == "%p: 4 of 12 elements, 16 bytes, 4 reads, 1 of each"


TANGLED = """(d0, d1, d2) -> ((d0 * d1 + d2) mod 1001),
domain: d0 in [0, 999], d1 in [0, 999], d2 in [0, 99]"""


def test_without_time_there_are_bounds() -> None:
    found = footprint_of([OperandIndexing(parse_map(TANGLED))], [1001], Deadline(NO_TIME))
    assert (found.reads, found.elements) == (Interval(0, 10**8), Interval(0, 1001))
    assert not found.is_exact


@for_all([
    # results that share variables, of which none alone says how many there are
    ("(d0, d1) -> (d0, d0 + d1), domain: d0 in [0, 3], d1 in [0, 4]", 20, 20),
    ("(d0, d1) -> (d0 + d1, d0 - d1), domain: d0 in [0, 3], d1 in [0, 4]", 20, 20),
    ("(d0, d1) -> (d0 + d1, 3), domain: d0 in [0, 3], d1 in [0, 4]", 20, 8),
    ("(d0, d1) -> (d0 * 4 + d1 * 2), domain: d0 in [0, 3], d1 in [0, 4]", 20, 11),
    # points of a product are gone through, also many
    ("(d0, d1) -> ((d0 * d1) mod 11), domain: d0 in [0, 9], d1 in [0, 1]", 20, 10),
    ("(d0, d1) -> ((d0 * d1) mod 101), domain: d0 in [0, 999], d1 in [0, 199]", 200000, 101),
])  # fmt: skip
def test_footprints_of_sums_and_products(text: str, reads: int, elements: int) -> None:
    check_counted(parse_map(text), reads, elements)


def check_counted(found: IndexingMap, reads: int, elements: int) -> None:
    footprint = footprint_of([OperandIndexing(found)], [99] * len(found.forms), Deadline(FOREVER))
    assert footprint.is_exact
    assert (ends(footprint.reads), ends(footprint.elements)) == ((reads,) * 2, (elements,) * 2)


@given(maps().filter(lambda each: not each.runtime))
def test_footprints_of_random_maps(found: IndexingMap) -> None:
    points = [*found.points()]
    check_counted(found, len(points), len({point[-1] for point in points}))


def test_nobody_knows_how_much_of_another_replica_is_read() -> None:
    found = parse_map("(d0) -> (d0), domain: d0 in [0, 3]")
    anywhere = OperandIndexing(found, replica_id=found)
    perhaps = OperandIndexing(found, approximation="there are too many maps")
    for way in (anywhere, perhaps):
        footprint = footprint_of([way], [4], Deadline(FOREVER))
        assert (footprint.reads, footprint.elements) == (Interval(0, None), Interval(0, 4))
        assert not footprint.is_exact


def test_bounds_say_why_they_are_no_counts() -> None:
    module = entry(
        """p = f32[3] parameter(0) q = f32[3,3] parameter(1)
        c = f32[3] custom-call(p), custom_call_target="x"
        t = f32[3,3] transpose(q), dimensions={1,0} ROOT s = f32[3,3] add(t, q)"""
    )
    (row,) = utilization(named(module, "c"))
    assert (row.elements_read, row.reads) == (Interval(0, 3), Interval(0, None))
    assert str(row) == (
        "%p: 0 to 3 of 3 elements, 0 to 12 bytes, any number of reads "
        "(bounds: custom-call: no indexing map of x)"
    )


MODEL = hlo.parse(
    """HloModule m
    body { s = (f32[4], s32[]) parameter(0) a = f32[4] get-tuple-element(s), index=0
      k = s32[] get-tuple-element(s), index=1 n = f32[4] negate(a) one = s32[] constant(1)
      l = s32[] add(k, one) ROOT t = (f32[4], s32[]) tuple(n, l) }
    test { s = (f32[4], s32[]) parameter(0) k = s32[] get-tuple-element(s), index=1
      ten = s32[] constant(10) ROOT c = pred[] compare(k, ten), direction=LT }
    turned { a = f32[4] parameter(0) ROOT r = f32[4] reverse(a), dimensions={0} }
    ENTRY e { p = f32[8] parameter(0) zero = s32[] constant(0)
      half = f32[4] slice(p), slice={[0:8:2]} s = (f32[4], s32[]) tuple(half, zero)
      w = (f32[4], s32[]) while(s), body=body, condition=test
      g = f32[4] get-tuple-element(w), index=0
      ROOT f = f32[4] fusion(g), kind=kLoop, calls=turned }"""
)


def test_a_module_has_a_row_for_each_operand_of_each_kernel() -> None:
    used = utilization(MODEL)
    rows = [(each.fusion.instructions[0].name, each.operand.name, each) for each in used]
    found = [(first, name, each.elements_read, each.reads) for first, name, each in rows]
    arrays = [("half", "p", 4, 4), ("f", "g", 4, 4), ("n", "a", 4, 4)]
    scalars = [("l", "k", 1, 1), ("l", "one", 1, 1), ("c", "k", 1, 1), ("c", "ten", 1, 1)]
    assert found == [*arrays, *scalars]
    assert used.bytes == 3 * 16 + 4 * 4
    assert len(used) == len(found)
    assert str(used).splitlines()[:4] == [
        "fusion of %half that reads %p",
        "  %p: 4 of 8 elements, 16 bytes, 4 reads, 1 of each",
        "fusion of %f that reads %g",
        "  %g: 4 of 4 elements, 16 bytes, 4 reads, 1 of each",
    ]


def test_packed_elements_share_bytes_and_parts_of_tuples_are_told_apart() -> None:
    module = entry("x = s4[9]{0:E(4)} parameter(0) ROOT r = s4[5]{0:E(4)} slice(x), slice={[0:5]}")
    (row,) = utilization(module.entry.root)
    assert (row.elements_read, row.bytes) == (5, 3)
    module = entry("""s = (f32[4], f32[6]) parameter(0)
        b = f32[6] get-tuple-element(s), index=1 ROOT c = f32[4] slice(b), slice={[1:5]}""")
    (row,) = utilization(Fusion.of_computation(module.entry))
    assert str(row) == "%s output 1: 4 of 6 elements, 16 bytes, 4 reads, 1 of each"


test_wrong_arguments_are_named = refusals(
    {"utilization": utilization, "MODEL": MODEL}, ArgumentError
)("""
utilization("p") => kernels: what runs is 'p'; expected a Fusion, or an instruction
utilization(MODEL, seconds="1") => utilization: seconds is '1'; expected a number, or None
utilization(MODEL, seconds=float("nan")) => utilization: seconds is nan; expected a number, or None
""")


def test_no_more_is_read_than_there_may_be() -> None:
    module = hlo.parse(
        """body { s = (f32[<=6], s32[]) parameter(0) a = f32[<=6] get-tuple-element(s), index=0
          k = s32[] get-tuple-element(s), index=1
          c = f32[<=6] custom-call(a), custom_call_target="x"
          ROOT t = (f32[<=6], s32[]) tuple(c, k) }
        test { s = (f32[<=6], s32[]) parameter(0) k = s32[] get-tuple-element(s), index=1
          ten = s32[] constant(10) ROOT c = pred[] compare(k, ten), direction=LT }
        ENTRY e { s = (f32[<=6], s32[]) parameter(0)
          ROOT w = (f32[<=6], s32[]) while(s), body=body, condition=test }"""
    )
    (row,) = utilization(named(module, "body.c"))
    assert row.elements == row.elements_read == Interval(0, 6)
    assert row.bytes == Interval(0, 24)
    assert (row.unused_bytes, row.reread_bytes, row.reuse) == (0, 0, None)


@for_all(texts_with_values("""
# elementwise | "%x: x_0 * 4 of x_0 * 4 elements, x_0 * 16 bytes, x_0 * 4 reads, 1 of each"
x = f32[<=6,4] parameter(0) ROOT r = f32[<=6,4] negate(x)
# a size without bound | "%x: x_0 * 4 of x_0 * 4 elements, x_0 * 8 bytes, x_0 * 4 reads, 1 of each"
x = bf16[?,4] parameter(0) ROOT r = bf16[?,4] negate(x)
# rows reduced | "%x: x_0 * 4 of x_0 * 4 elements, x_0 * 16 bytes, x_0 * 4 reads, 1 of each"
x = f32[<=6,4] parameter(0) zero = f32[] constant(0)
ROOT r = f32[<=6] reduce(x, zero), dimensions={1}, to_apply=sum
# a broadcast | "%x: x_0 of x_0 elements, x_0 * 4 bytes, x_0 * 8 reads, 8 of each"
x = f32[<=6] parameter(0) ROOT r = f32[<=6,8] broadcast(x), dimensions={0}
# half bytes | "%x: x_0 of x_0 elements, (x_0 + 1) floordiv 2 bytes, x_0 reads, 1 of each"
x = s4[<=6]{0:E(4)} parameter(0) ROOT r = s4[<=6]{0:E(4)} copy(x)
# a matrix with itself | "%x: x_0 * 4 of x_0 * 4 elements, x_0 * 16 bytes, x_0 * x_0 * 8 reads"
x = f32[<=6,4] parameter(0)
ROOT r = f32[<=6,<=6] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={1}
# a reshape of two sizes |
#   "%x: x_0 * x_1 of x_0 * x_1 elements, x_0 * x_1 * 4 bytes, x_0 * x_1 reads, 1 of each"
x = f32[<=6,<=6] parameter(0) ROOT r = f32[<=36] reshape(x), inferred_dimension=0
# a part |
#   "%x: select(x_0 >= 2, 2, 0) of x_0 elements, select(x_0 >= 2, 8, 0) bytes, "
#   "select(x_0 >= 2, 2, 0) reads"
x = f32[<=6] parameter(0) ROOT r = f32[2] slice(x), slice={[0:2]}
"""))  # fmt: skip
def test_symbolic_sizes(body: str, expected: str) -> None:
    row = used_by(body)
    assert str(row) == expected
    # Where a size is 1, the accesses of a matrix with itself are one.
    for size, other in product(range(2, 7), range(1, 7)):
        fixed = used_by(_with_sizes(body, size, other))
        for name in ("elements", "elements_read", "reads", "bytes", "unused_bytes", "reread_bytes"):
            sizes = {symbol("x_0"): size, symbol("x_1"): other}
            found = sympy.sympify(getattr(row, name)).subs(sizes)
            assert found == getattr(fixed, name), name


def _with_sizes(body: str, size: int, other: int) -> str:
    body = body.replace("[<=6,<=6] parameter", f"[{size},{other}] parameter")
    body = body.replace("<=36", str(size * other))
    return re.sub(r"<=6|\?", str(size), body)


def test_an_access_with_a_number_of_elements() -> None:
    row = used_by("""x = f32[<=6] parameter(0) at = s32[] parameter(1)
        ROOT r = f32[2] dynamic-slice(x, at), dynamic_slice_sizes={2}""")
    assert str(row) == "%x: 2 of x_0 elements, 8 bytes, 2 reads, 1 of each"
    assert str(row.unused_bytes) == "4*x_0 - 8"
