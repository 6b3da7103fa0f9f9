"""How often fusions read elements: tables, random fusions in NumPy, and all real ones."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from indexing import MapError
from ops import Fusion, OperandIndexing, Reads, Unknown, hlo
from ops.hlo import HloModule, Instruction
from tests.cases import for_all, for_rows
from tests.evaluation import every_point, values_of, where
from tests.fusion import small_programs as small
from tests.fusion.random_programs import Program, programs
from tests.fusion.simulated_kernel import SimulatedKernel
from tests.fusion.units import REAL, entry, fused, fusion_in, fusions_of, named, whole

Array = np.ndarray[Any, np.dtype[Any]]

FEW_READS = 5000
"""So many are gone through one by one."""


def reads_of(fusion: Fusion, operand: str | Instruction, *start: Any, **output: Any) -> Reads:  # noqa: ANN401 - as :meth:`ops.Fusion.reads` takes them
    named_ = named(fusion.computation.module, operand) if isinstance(operand, str) else operand
    found = fusion.reads(named_, *start, **output)
    assert isinstance(found, Reads)
    return found


HUGE = fused("""p = f32[100000,4096] parameter(0) zero = f32[] constant(0)
    s = f32[100000] reduce(p, zero), dimensions={1}, to_apply=top
    b = f32[100000,4096] broadcast(s), dimensions={0} ROOT d = f32[100000,4096] divide(p, b)""")
POOLING = fused("""p = f32[64,224,224,8] parameter(0) z = f32[] constant(-inf)
    ROOT w = f32[64,111,111,8] reduce-window(p, z), window={size=1x3x3x1 stride=1x2x2x1},
      to_apply=top""")
OVERLAPPING = {1: 113 * 113, 2: 2 * 113 * 110, 4: 110 * 110}
"""How many elements of a channel of a batch are in so many windows."""


@for_rows([
    ("plus its transpose", small.SUM_WITH_TRANSPOSE, "computation e", "p", {2: 25}),
    ("read by one of the two", small.SUM_WITH_TRANSPOSE, "instruction a", "p", {1: 25}),
    ("softmax: itself and twice its row", small.SOFTMAX, "computation f", "p", {9: 24}),
    ("a sum of what is broadcast", small.REDUCE_OF_BROADCAST, "computation f", "a", {5: 12}),
    ("computed for a sum", small.REDUCE_OF_BROADCAST, "computation f", "b", {1: 120}),
    ("an initial value", small.REDUCE_OF_BROADCAST, "computation f", "i", {15: 1}),
    ("windows of windows", small.WINDOWS, "computation f", "p", {1: 2, 2: 2}),
    ("sums of sums", small.TWICE_REDUCED, "computation f", "p", {1: 120}),
    ("shifted twice", small.CALLED_TWICE, "computation e", "p", {1: 2}),
    ("each result reads it", small.NESTED, "instruction r", "p", {3: 6}),
    ("weights of a dot", small.DOT_CHAIN, "computation f", "w", {3: 96}),
    ("a row for each of its elements", HUGE, "computation f", "p", {4097: 100000 * 4096}),
    ("windows that overlap", POOLING, "computation f", "p",
     {times: 64 * number * 8 for times, number in OVERLAPPING.items()}),
])  # fmt: skip
def test_elements_are_told_by_how_often_they_are_read(
    module: HloModule, unit: str, name: str, expected: dict[int, int]
) -> None:
    reads = reads_of(fusion_in(module, unit), name)
    assert reads.histogram() == expected
    _check(reads)


def test_results_and_arrays_of_tuples_can_be_asked_about_alone() -> None:
    fusion = fusion_in(small.NESTED, "instruction r")
    r = named(small.NESTED, "r")
    for output in range(3):
        assert reads_of(fusion, "p", r, output).histogram() == {1: 6}
        assert reads_of(fusion, "p", output=output).histogram() == {1: 6}
    assert reads_of(fusion, r, named(small.NESTED, "all"), 1).histogram() == {}
    fusion = whole("""s = (f32[4], f32[6]) parameter(0) a = f32[4] get-tuple-element(s), index=0
        b = f32[6] get-tuple-element(s), index=1 c = f32[4] slice(b), slice={[1:5]}
        ROOT r = f32[4] add(a, c)""")
    elements = [str(reads_of(fusion, "s", element=element).elements()) for element in range(2)]
    assert elements == ["(d0): d0 in [0, 3]", "(d0): d0 in [1, 4]"]


SUMS = "ROOT r = f32[] add(a, b)"
WHOLE = "a = f32[] reduce(x, z), dimensions={0,1}, to_apply=sum "


@for_rows([
    ("a matrix and a line", "16,16",
     WHOLE + "l = f32[256] reshape(x) b = f32[] reduce(l, z), dimensions={0}, to_apply=sum",
     {2: 256}),
    ("a matrix twice", "16,16", WHOLE + """l = f32[256] reshape(x) m = f32[16,16] reshape(l)
        b = f32[] reduce(m, z), dimensions={0,1}, to_apply=sum""", {2: 256}),
    ("a matrix and its transpose", "16,16", WHOLE + """t = f32[16,16] transpose(x), dimensions={1,0}
        b = f32[] reduce(t, z), dimensions={0,1}, to_apply=sum""", {2: 256}),
    ("a line and a matrix", "256",
     """a = f32[] reduce(x, z), dimensions={0}, to_apply=sum m = f32[16,16] reshape(x)
        b = f32[] reduce(m, z), dimensions={1,0}, to_apply=sum""", {2: 256}),
    ("rows, then their sums", "16,16",
     WHOLE + """c = f32[16] reduce(x, z), dimensions={0}, to_apply=sum
        b = f32[] reduce(c, z), dimensions={0}, to_apply=sum""", {2: 256}),
    ("one sum twice", "16,16", WHOLE + "b = f32[] negate(a)", {1: 256}),
    ("two at one index", "16,16",
     """n = f32[16,16] negate(x) l = f32[256] reshape(x) m = f32[16,16] reshape(l)
        p = f32[16,16] multiply(n, m)
        a = f32[] reduce(p, z), dimensions={0,1}, to_apply=sum b = f32[] abs(a)""", {1: 256}),
    ("copies", "4", """c = f32[2,4] broadcast(x), dimensions={1}
        a = f32[] reduce(c, z), dimensions={0,1}, to_apply=sum b = f32[] abs(a)""", {1: 4}),
    ("copies in a line", "4", """c = f32[2,4] broadcast(x), dimensions={1} l = f32[8] reshape(c)
        a = f32[] reduce(l, z), dimensions={0}, to_apply=sum b = f32[] abs(a)""", {1: 4}),
    ("copies of rows", "3,4",
     """c = f32[3,2,4] broadcast(x), dimensions={0,2} l = f32[3,8] reshape(c)
        d = f32[3] reduce(l, z), dimensions={1}, to_apply=sum
        a = f32[] reduce(d, z), dimensions={0}, to_apply=sum b = f32[] abs(a)""", {1: 12}),
])  # fmt: skip
def test_the_writing_of_maps_is_no_matter(sizes: str, body: str, expected: dict[int, int]) -> None:
    text = f"x = f32[{sizes}] parameter(0) z = f32[] constant(0) {body} {SUMS}"
    assert reads_of(whole(text), "e.x").histogram() == expected


def test_calls_without_end_are_one_step() -> None:
    """2**60 runs of a computation: what they read of the parameter is one map."""
    text = "level0 { a = f32[8] parameter(0) ROOT r = f32[8] reverse(a), dimensions={0} }\n"
    for n in range(60):
        text += f"""level{n + 1} {{ a = f32[8] parameter(0) b = f32[8] call(a), to_apply=level{n}
            ROOT c = f32[8] call(b), to_apply=level{n} }}\n"""
    fusion = whole("p = f32[8] parameter(0) ROOT r = f32[8] call(p), to_apply=level60", text)
    assert reads_of(fusion, "e.p").histogram() == {1: 8}
    assert reads_of(fusion, "level0.a").histogram() == {2: 8}


def test_what_has_no_map_is_unknown() -> None:
    fusion = whole("""p = f32[3] parameter(0)
        ROOT c = f32[3] custom-call(p), custom_call_target="x" """)
    assert fusion.reads(fusion.operands[0]) == Unknown("custom-call: no indexing map of x")


DYNAMIC = entry("""x = f32[20] parameter(0) i = s32[] parameter(1) j = s32[4,1] parameter(2)
    a = f32[4] dynamic-slice(x, i), dynamic_slice_sizes={4}
    g = f32[4] gather(x, j), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0},
      index_vector_dim=1, slice_sizes={1} ROOT r = f32[4] add(a, g)""")


@for_all(["elements", "repeated", "histogram", "times", "distinct"])
def test_what_depends_on_values_is_refused(question: str) -> None:
    reads = reads_of(Fusion.of_computation(DYNAMIC.entry), "x")
    with pytest.raises(MapError, match=r"what is read depends on the value of %i; see given\(\)"):
        getattr(reads, question)()


def test_reads_are_counted_wherever_they_lead() -> None:
    assert reads_of(Fusion.of_computation(DYNAMIC.entry), "x").total() == 8
    padded = whole("""x = f32[9] parameter(0) i = s32[] parameter(1) z = f32[] constant(0)
        p = f32[12] pad(x, z), padding=3_0
        ROOT r = f32[4] dynamic-slice(p, i), dynamic_slice_sizes={4}""")
    reads = reads_of(padded, "x")
    with pytest.raises(MapError, match="total: what is read depends on the value of %i"):
        reads.total()
    totals = [reads.given({padded.operands[1]: value}).total() for value in (0, 2, 8)]
    assert totals == [1, 3, 4]


def test_values_of_scalars_can_be_given() -> None:
    i, j = named(DYNAMIC, "i"), named(DYNAMIC, "j")
    slice_alone = reads_of(Fusion.of_instruction(named(DYNAMIC, "a")), "x")
    elements = [str(slice_alone.given({i: value}).elements()) for value in (-5, 3, 99)]
    assert elements == [f"(d0): d0 in [{start}, {start + 3}]" for start in (0, 3, 16)]
    with pytest.raises(MapError, match=r"given: %j is s32\[4,1\]\{1,0\}; expected a scalar"):
        slice_alone.given({j: 0})


def test_values_that_are_passed_to_calls_are_those_of_the_operands() -> None:
    module = entry(
        """x = f32[20] parameter(0) i = s32[] parameter(1) j = s32[] parameter(2)
        a = f32[4] call(x, i), to_apply=outer  b = f32[4] call(x, j), to_apply=outer
        ROOT r = f32[4] add(a, b)""",
        """part { x = f32[20] parameter(0) k = s32[] parameter(1)
          ROOT s = f32[4] dynamic-slice(x, k), dynamic_slice_sizes={4} }
        outer { x = f32[20] parameter(0) l = s32[] parameter(1)
          ROOT c = f32[4] call(x, l), to_apply=part }""",
    )
    reads = reads_of(Fusion.of_computation(module.entry), "e.x")
    i, j = named(module, "i"), named(module, "j")
    histograms = [reads.given({i: 3, j: other}).histogram() for other in (9, 5, 3)]
    assert histograms == [{1: 8}, {1: 4, 2: 2}, {2: 4}]
    with pytest.raises(MapError, match="depends on the value of %j;"):
        reads.given({i: 3}).histogram()


def test_maps_that_hold_more_than_is_read_are_refused() -> None:
    """A swap and a rotation of six dimensions give all 720 permutations in the end."""
    shape = f"f32[{','.join('2' * 6)}]"
    text = f"x0 = {shape} parameter(0)"
    for n in range(15):
        text += f"""\nswap{n} = {shape} transpose(x{n}), dimensions={{1,0,2,3,4,5}}
            turn{n} = {shape} transpose(x{n}), dimensions={{1,2,3,4,5,0}}
            x{n + 1} = {shape} add(swap{n}, turn{n})"""
    fusion = whole(text)
    (parameter,) = fusion.operands
    with pytest.raises(MapError, match="total: the maps hold more than is read"):
        reads_of(fusion, parameter).total()
    (found,) = fusion.why(parameter)
    assert found.count == 2**15


@for_all([
    """zero = f32[] constant(0) all = f32[10] pad(x, zero), padding=5_4
        ROOT r = f32[1] dynamic-slice(all, i), dynamic_slice_sizes={1}""",
    """others = f32[5] parameter(2) all = f32[11] concatenate(others, x, others), dimensions={0}
        ROOT r = f32[1] dynamic-slice(all, i), dynamic_slice_sizes={1}""",
    """others = f32[10] parameter(2) all = f32[10] dynamic-update-slice(others, x, i)
        ROOT r = f32[1] slice(all), slice={[5:6]}""",
])  # fmt: skip
def test_a_value_may_say_when_an_element_is_read(body: str) -> None:
    """The only element of x is read where the value is 5, though no result depends on it."""
    module = entry(f"x = f32[1] parameter(0) i = s32[] parameter(1) {body}")
    reads = reads_of(Fusion.of_computation(module.entry), "x")
    with pytest.raises(MapError, match=r"what is read depends on the value of %i"):
        reads.total()
    given = [reads.given({named(module, "i"): value}) for value in (0, 5, 9)]
    assert [each.histogram() for each in given] == [{}, {1: 1}, {}]


VARIADIC = """
sum { a = f32[] parameter(0) b = s32[] parameter(1) c = f32[] parameter(2) d = s32[] parameter(3)
  x = f32[] add(a, c) y = s32[] add(b, d) ROOT t = (f32[], s32[]) tuple(x, y) }
reduced { v = f32[5,256] parameter(0) n = s32[5,256] parameter(1)
  z = f32[] constant(0) w = s32[] constant(0)
  ROOT both = (f32[256], s32[256]) reduce(v, n, z, w), dimensions={0}, to_apply=sum }
ENTRY e { p = f32[5,256] parameter(0) q = s32[5,256] parameter(1)
  z = f32[] constant(0) w = s32[] constant(0) r = (f32[256], s32[256]) """
REDUCE, CALL = "reduce(p, q, z, w), dimensions={0}, to_apply=sum", "call(p, q), to_apply=reduced"
PARTS = " g = f32[256] get-tuple-element(r), index=0 h = s32[256] get-tuple-element(r), index=1"


@for_all({
    "alone": REDUCE,
    "taken apart": f"{REDUCE}{PARTS} ROOT t = (f32[256], s32[256]) tuple(g, h)",
    "the other way round": f"{REDUCE}{PARTS} ROOT t = (s32[256], f32[256]) tuple(h, g)",
    "called": CALL,
    "called and taken apart": f"{CALL}{PARTS} ROOT t = (f32[256], s32[256]) tuple(g, h)",
})  # fmt: skip
def test_an_operation_reads_its_operands_once_for_all_its_results(body: str) -> None:
    fusion = Fusion.of_computation(hlo.parse(f"HloModule m {VARIADIC} {body} }}").entry)
    assert [reads_of(fusion, name).histogram() for name in "pq"] == [{1: 5 * 256}] * 2


LIBRARY_CALL = entry("""x = f32[2,8,4] parameter(0) k = f32[3,4,5] parameter(1)
  ROOT conv = (f32[2,8,5], u8[1024]) custom-call(x, k), window={size=3 pad=1_1},
    dim_labels=b0f_0io->b0f, custom_call_target="__cudnn$convForward\"""")


@for_all(["x", "k"])
def test_a_call_with_scratch_memory_reads_for_its_first_result(operand: str) -> None:
    """A convolution of a library: its result is a tuple. Windows at the border are cut."""
    conv = LIBRARY_CALL.entry.root
    for fusion in (Fusion.of_instruction(conv), Fusion.of_computation(LIBRARY_CALL.entry)):
        assert reads_of(fusion, operand).total() == 2 * 5 * 22 * 4
        assert reads_of(fusion, operand, conv, 0).total() == 2 * 5 * 22 * 4
        assert reads_of(fusion, operand, conv, 1).total() == 0
    with pytest.raises(MapError, match=r"given: %conv is \(f32.*; expected a scalar"):
        reads_of(Fusion.of_instruction(conv), operand).given({conv: 1})


@given(programs())
def test_reads_are_those_of_numpy(program: Program) -> None:
    fusion = Fusion.of_computation(program.module.entry)
    reads = reads_of(fusion, fusion.operands[0])
    times = read_one_by_one(reads)
    assert (times == SimulatedKernel(program).reads()).all()
    assert reads.histogram() == tallied(times)
    assert reads.total() == times.sum()
    assert {*reads.elements()} == frozenset[Any]().union(*program.needed().flat)
    assert {*reads.elements()} == {*zip(*np.nonzero(times), strict=True)}
    assert {*reads.repeated()} == {*zip(*np.nonzero(times > 1), strict=True)}


def read_one_by_one(reads: Reads) -> Array:
    """How often each element is read: every point of every map adds one."""
    times = np.zeros(reads.sizes, dtype=int)
    for way in reads.ways:
        domain = way.map.domain
        if not way.map.is_known_empty:
            points = where(every_point(domain.bounds), domain.constraints)
            count = len(next(iter(points.values()))) if points else 1
            place = np.zeros(count, dtype=int)
            for form, size in zip(way.map.forms, reads.sizes, strict=True):
                place = place * size + values_of(form, points)[0].astype(int)
            np.add.at(times.reshape(-1), place, 1)
    return times


def tallied(times: Array) -> dict[int, int]:
    """How many elements are read how often."""
    numbers: list[int] = times[times > 0].tolist()
    return dict(sorted(Counter(numbers).items()))


@pytest.mark.parametrize("name", REAL)
def test_reads_of_real_fusions_are_counted(name: str) -> None:
    for fusion in fusions_of(name):
        for operand in fusion.operands:
            reads = fusion.reads(operand) if operand.shape.is_array else None
            if isinstance(reads, Reads) and not any(map(_is_refused, reads.ways)):
                _check(reads)


def _is_refused(way: OperandIndexing) -> bool:
    return bool(way.runtime or way.replica_id or way.approximation)


def _check(reads: Reads) -> None:
    """All answers say the same; one by one where reads are few."""
    histogram = reads.histogram()
    assert reads.total() == sum(times * number for times, number in histogram.items())
    assert reads.distinct() == sum(histogram.values())
    assert reads.repeated().count() == sum(n for times, n in histogram.items() if times > 1)
    assert reads.times() == (next(iter(histogram)) if len(histogram) == 1 else None)
    if reads.total() <= FEW_READS:
        assert histogram == tallied(read_one_by_one(reads))
