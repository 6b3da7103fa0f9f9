"""Schedules of fusions: XLA's emitters and vectors, everything written once, and what is read."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import product
from operator import itemgetter
from typing import Any

import pytest

from indexing import IndexingMap
from indexing.layout import ShapeError
from ops import Emitter, FusionError, FusionSchedule, Unknown, hlo, schedule_of
from ops.hlo import Instruction
from ops.performance import A100, RTX_A6000, TPU_V5E, Device, DeviceError
from ops.xla_gpu import Access, LaunchDimensions
from simplifier import symbol
from simplifier.errors import ArgumentError
from tests.cases import for_all, for_rows
from tests.conformance import Row, rows_of
from tests.fusion.units import entry, fused, named
from tests.hlo.modules import NAMES, module_text
from tests.ops.test_schedules_of_xla import first_warp, warp_map

GPU = [name for name in NAMES if name.startswith("gpu/")]


def fusions_of(name: str) -> list[Instruction]:
    """The fusions of a module but those that XLA gives to a library that copies memory."""
    fusions = hlo.parse(module_text(name)).find(opcode="fusion")
    return [f for f in fusions if "__custom_fusion" not in f.attributes.get("backend_config", "")]


def elements(maps: Iterable[IndexingMap]) -> set[tuple[int, ...]]:
    return {results for each in maps for _, _, _, results in each.points()}


def needed(schedule: FusionSchedule, operand: int) -> set[tuple[int, ...]]:
    """The elements of an operand that some result needs."""
    found = schedule.fusion.indexing_of_results().values()
    answers = [each.get(schedule.fusion.operands[operand], ()) for each in found]
    ways = [way for each in answers if not isinstance(each, Unknown) for way in each]
    return elements(way.map for way in ways)


KINDS = {
    **dict.fromkeys([Emitter.REDUCTION, Emitter.TRANSPOSE, Emitter.SCATTER], "kInput"),
    **dict.fromkeys([Emitter.SORT, Emitter.TRITON], "kCustom"),
    **dict.fromkeys([Emitter.IN_PLACE_UPDATE, Emitter.LOOP], "kLoop"),
    Emitter.CONCATENATE: "kInput, kLoop",
}
"""The kinds of fusions that an emitter is for."""

CHANGED_IN_PLACE = {Emitter.IN_PLACE_UPDATE, Emitter.SCATTER}
"""Of whose first operand no thread reads anything that it does not write."""


def check_accesses(schedule: FusionSchedule) -> None:
    """Threads write each element of a result once, and read the elements that results need."""
    outputs = range(len(schedule.heroes))
    if schedule.emitter is Emitter.IN_PLACE_UPDATE:
        assert all(each.never_twice() for output in outputs for each in schedule.writes(output))
    elif schedule.emitter is Emitter.SCATTER:
        updates = schedule.schedule.reads[-1]
        assert updates is not None
        assert updates.is_exactly_once()
    else:
        assert all(map(schedule.writes_exactly_once, outputs)), str(schedule.fusion)
    for operand in range(schedule.emitter in CHANGED_IN_PLACE, len(schedule.fusion.operands)):
        read = elements(access.map for access in schedule.reads(operand))
        assert read == needed(schedule, operand), (str(schedule.fusion), operand)


EMITTERS = {
    "transpose (shared memory)": Emitter.TRANSPOSE, "concatenate": Emitter.CONCATENATE,
    "reduction": Emitter.REDUCTION, "loop": Emitter.LOOP,
}  # fmt: skip

OF_SIX = frozenset({"concatenate_loop", "concatenate_loop_bitcast"})
"""Rows that concatenate six arrays; XLA's ``UseConcatenateFusion`` takes a loop beyond four."""

UNROLLED = {
    **dict.fromkeys(["transpose_outer_dims", "pad"], 4),
    **dict.fromkeys(["identity", "rhs_transposed", "output_transposed", "dynamic_slice"], 1),
    **dict.fromkeys(["row_reduction", "multi_row_reduction"], 1),
    **dict.fromkeys(["variadic_reduce_loop", "variadic_reduce_reduction"], 1),
}
"""The rows with maps of the first warp, and how many neighbours a thread computes; of the gather
XLA notes a map that is not of this fusion, of the transpose one with half as many threads, and of
the columns one from before it had a schedule for few of them."""


@for_all([row for row in rows_of("coalescing") if "emitter" in row], itemgetter("id"))
def test_the_emitter_is_the_one_that_xla_names(row: Row) -> None:
    expected = Emitter.LOOP if row["id"] in OF_SIX else EMITTERS[row["emitter"]]
    assert schedule_of(hlo.parse(row["hlo"]).entry.root).emitter is expected


def fusion_of(table: str, name: str) -> Instruction:
    (row,) = rows_of(table, id=name)
    return hlo.parse(row["hlo"]).entry.root


@for_all([*UNROLLED])
def test_the_first_warp_of_a_fusion_reads_where_xla_says(name: str) -> None:
    (row,) = rows_of("coalescing", id=name)
    schedule = schedule_of(fusion_of("coalescing", name), unroll=UNROLLED[name])
    for operand, text in row["warp_maps"].items():
        points = warp_map(text).points()
        expected = {(thread, place) for thread, _, _, place in points if min(place, default=0) >= 0}
        (read,) = schedule.reads(int(operand))
        assert first_warp(begun_at_0(read)) == expected


def begun_at_0(access: Access) -> Access:
    """The access where all that values tell is 0."""
    places = access.map
    for variable in places.runtime:
        places = places.with_constraint(symbol(variable.name), (0, 0))
    return Access(places, access.shape)


def test_a_launch_may_be_given() -> None:
    launch = LaunchDimensions.of(10, threads=50)
    schedule = schedule_of(fusion_of("coalescing", "identity"), launch, unroll=2)
    assert schedule.schedule.launch == launch
    assert schedule.writes()[0].map.ranges[0].bounds.size == 20
    assert schedule.writes_exactly_once()


@for_all(product(["transpose_tiled", "row_reduction", "column_reduction", "pad"], [1, 2, 4]))
def test_vectors_write_everything_once(name: str, unroll: int) -> None:
    assert schedule_of(fusion_of("coalescing", name), unroll=unroll).writes_exactly_once()


@for_rows([
    ("of an operand", "", "p", Emitter.IN_PLACE_UPDATE),
    ("of an operand in another shape", "b = f32[16] bitcast(q)", "b", Emitter.IN_PLACE_UPDATE),
    ("of what is computed", "n = f32[16] negate(p)", "n", Emitter.LOOP),
])  # fmt: skip
def test_updates_are_in_place_where_they_can(before: str, updated: str, emitter: Emitter) -> None:
    parameters = """p = f32[16] parameter(0) u = f32[4] parameter(1) i = s32[] parameter(2)
        q = f32[4,4] parameter(3)"""
    body = f"{parameters} {before} ROOT r = f32[16] dynamic-update-slice({updated}, u, i)"
    schedule = schedule_of(fused(body).entry.root)
    assert schedule.emitter is emitter
    assert [len(schedule.reads(operand)) for operand in (1, 2)] == [1, 1]


def test_what_an_epilogue_adds_is_read_where_it_writes() -> None:
    """A reduction of rows, to which the epilogue adds a row of other numbers."""
    schedule = schedule_of(
        fused("""p = f32[64,256] parameter(0) q = f32[64] parameter(1)
        z = f32[] parameter(2) n = f32[64,256] negate(p)
        s = f32[64] reduce(n, z), dimensions={1}, to_apply=sum
        ROOT r = f32[64] add(s, q)""").entry.root
    )
    (written,) = schedule.writes()
    assert schedule.emitter is Emitter.REDUCTION
    assert [hero.name for hero in schedule.heroes if hero] == ["s"]
    assert schedule.reads(0)[0].is_exactly_once()
    assert [read.map for read in schedule.reads(1)] == [written.map]
    assert [read.shape.rank for read in schedule.reads(2)] == [0]


SQUARE = "p = f32[64,64] parameter(0) z = f32[] constant(0)"
SQUARES = "p = f32[64,64] parameter(0) q = f32[64,64] parameter(1) z = f32[] constant(0)"
LINES = """p = f32[64] parameter(0) q = f32[64] parameter(1) u = f32[8] parameter(2)
    i = s32[] parameter(3) v = f32[4] parameter(4)"""
OF_ROWS, OF_COLUMNS = "dimensions={1}, to_apply=sum", "dimensions={0}, to_apply=sum"


@for_rows([
    # what XLA takes for the results ``a`` and ``b`` of these parameters
    ("reductions along different dimensions", Emitter.LOOP, SQUARE,
     f"a = f32[64] reduce(p, z), {OF_COLUMNS} b = f32[64] reduce(p, z), {OF_ROWS}"),
    ("reductions of one array", Emitter.REDUCTION, SQUARE,
     f"""a = f32[64] reduce(p, z), {OF_ROWS} n = f32[64,64] negate(p)
         b = f32[64] reduce(n, z), {OF_ROWS}"""),
    ("reductions of different arrays", Emitter.REDUCTION, SQUARES,
     f"a = f32[64] reduce(p, z), {OF_ROWS} b = f32[64] reduce(q, z), {OF_ROWS}"),
    ("reductions of one array in two shapes", Emitter.REDUCTION, SQUARE,
     f"""a = f32[64] reduce(p, z), {OF_ROWS} c = f32[8,8,64] bitcast(p)
         b = f32[8,8] reduce(c, z), dimensions={{2}}, to_apply=sum"""),
    ("a reduction beside what it reads", Emitter.REDUCTION, SQUARE,
     f"a = f32[64] reduce(p, z), {OF_ROWS} b = f32[64,64] negate(p)"),
    ("transposes of different shapes", Emitter.LOOP,
     "p = f32[64,64] parameter(0) q = f32[32,128] parameter(1)",
     """a = f32[64,64] transpose(p), dimensions={1,0}
         b = f32[128,32] transpose(q), dimensions={1,0}"""),
    ("a transpose beside what lies as it reads", Emitter.TRANSPOSE, "p = f32[64,32] parameter(0)",
     "a = f32[32,64] transpose(p), dimensions={1,0} b = f32[2048] reshape(p)"),
    ("a transpose beside what lies in another way", Emitter.LOOP,
     "p = f32[64,32] parameter(0) q = f32[2,32,32]{0,2,1} parameter(1)",
     "a = f32[32,64] transpose(p), dimensions={1,0} b = f32[2,32,32]{0,2,1} negate(q)"),
    ("a transpose of narrow elements", Emitter.TRANSPOSE, "p = bf16[64,32] parameter(0)",
     "a = bf16[32,64] transpose(p), dimensions={1,0}"),
    ("a transpose of narrow elements and few", Emitter.LOOP, "p = bf16[64,12] parameter(0)",
     "a = bf16[12,64] transpose(p), dimensions={1,0}"),
    ("a transpose whose last dimension stays, of 16 bytes", Emitter.TRANSPOSE,
     "p = f32[2,8,2] parameter(0)", "a = f32[8,2,2] transpose(p), dimensions={1,0,2}"),
    ("a transpose whose last dimension stays, of 8 bytes", Emitter.LOOP,
     "p = f32[2,8,1] parameter(0)", "a = f32[8,2,1] transpose(p), dimensions={1,0,2}"),
    ("four arrays in a row", Emitter.CONCATENATE, "p = f32[8] parameter(0)",
     "a = f32[32] concatenate(p, p, p, p), dimensions={0}"),
    ("five arrays in a row", Emitter.LOOP, "p = f32[8] parameter(0)",
     "a = f32[40] concatenate(p, p, p, p, p), dimensions={0}"),
    ("two updates", Emitter.IN_PLACE_UPDATE, LINES,
     "a = f32[64] dynamic-update-slice(p, u, i) b = f32[64] dynamic-update-slice(q, u, i)"),
    ("updates of different sizes", Emitter.LOOP, LINES,
     "a = f32[64] dynamic-update-slice(p, u, i) b = f32[64] dynamic-update-slice(q, v, i)"),
    ("an update beside something else", Emitter.LOOP, LINES,
     "a = f32[64] dynamic-update-slice(p, u, i) b = f32[64] negate(q)"),
])  # fmt: skip
def test_the_emitter_is_that_of_xla(emitter: Emitter, parameters: str, body: str) -> None:
    results = dict(re.findall(r"\b([ab]) = (\S+)", body))
    both = f"{body} ROOT r = ({', '.join(results.values())}) tuple(a, b)"
    inside = both if len(results) > 1 else f"ROOT {body}"
    schedule = schedule_of(fused(f"{parameters} {inside}").entry.root)
    assert schedule.emitter is emitter
    outputs = range(len(results))
    if emitter is Emitter.IN_PLACE_UPDATE:
        assert [len(schedule.writes(output)) for output in outputs] == [1] * len(outputs)
        assert all(schedule.writes(each)[0].shape.element_count == 64 for each in outputs)
    else:
        assert all(schedule.writes_exactly_once(output) for output in outputs)
    assert all_of(schedule)


NEGATED = "f { p = f32[8] parameter(0) ROOT r = f32[8] negate(p) }"
NO_TILES = "names no tiles that can be read; expected lists of sizes"


def by_triton(tiles: str, result: str = "f32[8]") -> str:
    return f"""{result} fusion(p), kind=kCustom, calls=f, backend_config={{
        "fusion_backend_config":{{"kind":"__triton","block_level_fusion_config":{{
          "num_warps":"1","output_tiles":{tiles}}}}}}}"""


@for_rows([
    ("a kernel of a kind of its own", NEGATED, "f32[8] fusion(p), kind=kCustom, calls=f",
     "no schedule of %r, a fusion of kind kCustom; expected a fusion of kind kLoop or kInput"),
    ("no kernel", "", "f32[8] bitcast(p)", "no schedule of %r, a bitcast; expected"),
    ("unknown maps",
     """f { p = f32[8] parameter(0) ROOT r = f32[8] custom-call(p), custom_call_target="x" }""",
     "f32[8] fusion(p), kind=kLoop, calls=f",
     "no schedule where maps are unknown: custom-call: no indexing map of x"),
    ("results that do not fit", """f { p = f32[8] parameter(0) s = f32[4] slice(p), slice={[0:4]}
         ROOT r = (f32[8], f32[4]) tuple(p, s) }""",
     "(f32[8], f32[4]) fusion(p), kind=kLoop, calls=f",
     "no schedule where f32[4]{0} is written beside f32[8]{0}"),
    ("a loop for Triton", NEGATED,
     """f32[8] fusion(p), kind=kLoop, calls=f,
         backend_config={"fusion_backend_config":{"kind":"__triton_nested_gemm_fusion"}}""",
     "gives to __triton_nested_gemm_fusion; expected a fusion for XLA's own emitters"),
    ("a loop for cuDNN, in the older text", NEGATED,
     r"""f32[8] fusion(p), kind=kLoop, calls=f,
         backend_config="{\"fusion_backend_config\":{\"kind\":\"__cudnn$fusion\"}}" """,
     "which its backend_config gives to __cudnn$fusion;"),
    ("a scatter of elements, which XLA rewrites",
     """f { p = f32[8] parameter(0) i = s32[] constant(3) u = f32[] constant(1)
         ROOT r = f32[8] scatter(p, i, u), update_window_dims={}, inserted_window_dims={0},
           scatter_dims_to_operand_dims={0}, index_vector_dim=0, to_apply=sum }""",
     "f32[8] fusion(p), kind=kInput, calls=f",
     "no schedule of the scatter %r; expected windows of the operand's rank"),
    ("Triton with a tile for one of two results",
     "f { p = f32[8] parameter(0) n = f32[8] negate(p) ROOT r = (f32[8], f32[8]) tuple(p, n) }",
     by_triton('[{"sizes":["4"]}]', "(f32[8], f32[8])"),
     "gives to __triton, with 1; expected a tile for each of 2 results"),
    ("Triton with a tile that is no list", NEGATED, by_triton('[["4"]]'),
     f"the backend_config of %r {NO_TILES}"),
    ("a configuration that is no object", NEGATED,
     """f32[8] fusion(p), kind=kCustom, calls=f,
         backend_config={"fusion_backend_config":"__triton"}""",
     f"the backend_config of %r {NO_TILES}"),
    ("a dot with a tile of words", """f { p = f32[8] parameter(0)
         ROOT d = f32[] dot(p, p), lhs_contracting_dims={0}, rhs_contracting_dims={0},
           backend_config={"sizes":["four"]} }""",
     by_triton('[{"sizes":[]}]', "f32[]"), f"the backend_config of %d {NO_TILES}"),
    ("a copy", "f { p = f32[8] parameter(0) ROOT r = f32[8] copy(p) }",
     "f32[8] fusion(p), kind=kLoop, calls=f", "no schedule of %r, which only copies memory"),
])  # fmt: skip
def test_what_has_no_schedule_is_refused(called: str, root: str, message: str) -> None:
    module = entry(f"p = f32[8] parameter(0) ROOT r = {root}", called)
    with pytest.raises(FusionError, match=re.escape(message)):
        all_of(schedule_of(module.entry.root))


def all_of(schedule: FusionSchedule) -> list[Access]:
    written = (schedule.writes(number) for number in range(len(schedule.heroes)))
    read = (schedule.reads(number) for number in range(len(schedule.fusion.operands)))
    return [access for accesses in (*written, *read) for access in accesses]


OF_EMITTERS = {
    **dict.fromkeys(["column_vectorize_x1_c64", "column_vectorize_x1_f64", "multirow_f32_x8"], 1),
    "column_vectorize_x2_f32": 2,
    **dict.fromkeys(["column_small_f32_32_v2", "column_small_f32_8_v2"], 2),
    **dict.fromkeys(["column_vectorize_x4_s16", "column_small_s8_f32_32_v4"], 4),
    **dict.fromkeys(["multirow_f16_v4", "multirow_pred_mof_x2_v4"], 4),
}
"""The vector size that is in the name of XLA's test."""


@for_all([*OF_EMITTERS])
def test_reductions_have_the_vectors_in_the_names_of_xlas_tests(name: str) -> None:
    schedule = schedule_of(fusion_of("emitters", f"reduce_{name}"), device=RTX_A6000)
    (read, *_) = (each for each in schedule.schedule.reads if each)
    assert read.map.ranges[-1].bounds.size == OF_EMITTERS[name]
    assert all(schedule.writes_exactly_once(output) for output in range(len(schedule.heroes)))


LOOPS = {"identity": 1, "rhs_transposed": 1, "transpose_outer_dims": 4, "pad": 4}
"""The elements of a thread on an RTX A6000, by the maps of XLA's coalescing test."""


@for_all([*LOOPS])
def test_loops_are_unrolled_as_in_xlas_tests(name: str) -> None:
    schedule = schedule_of(fusion_of("coalescing", name), device=RTX_A6000)
    assert schedule.writes()[0].map.ranges[1].bounds.size == LOOPS[name]


def unrolled(body: str, parameter: str, device: Device) -> int:
    """The last loop of a fusion of one parameter."""
    root = fused(f"p = {parameter} parameter(0) {body}").entry.root
    return schedule_of(root, device=device).writes()[0].map.ranges[-1].bounds.size or 0


@for_rows([
    ("as it divides by 2", "f32[262142] negate(p)", "f32[262142]", 2),
    ("as it does not divide", "f32[262143] negate(p)", "f32[262143]", 1),
    ("small", "f32[1024] negate(p)", "f32[1024]", 1),
    ("a byte of four bits", "s4[1024] negate(p)", "s4[1024]", 2),
    ("truth values", "pred[1024] not(p)", "pred[1024]", 1),
    ("a wide transpose", "f32[4096,512] transpose(p), dimensions={1,0}", "f32[512,4096]",
     1),
    ("a transpose of doubles", "f64[4096,512] transpose(p), dimensions={1,0}",
     "f64[512,4096]", 1),
])  # fmt: skip
def test_vectors_depend_on_sizes_and_bits(body: str, parameter: str, size: int) -> None:
    assert unrolled(f"ROOT r = {body}", parameter, A100) == size


def test_a_token_beside_an_array_has_no_bits() -> None:
    body = "t = token[] after-all() n = s4[1024] negate(p) ROOT r = (s4[1024], token[]) tuple(n, t)"
    assert unrolled(body, "s4[1024]", A100) == 2


def test_sorted_indices_are_added_up_by_warps() -> None:
    root = fusion_of("emitters", "scatter_sorted_indices")
    names = schedule_of(root, device=FEW).schedule.writes[0].map.domain.names
    assert "window_id" in names
    assert "window_id" not in schedule_of(root).schedule.writes[0].map.domain.names


@for_all([
    ({"device": TPU_V5E}, DeviceError, "TPU v5e has no threads_per_core"),
    ({"device": "A100"}, ArgumentError, "the device"),
    *(({"unroll": 0, "device": d}, ShapeError, "unroll is 0; expected 1") for d in (None, A100)),
    *(({"unroll": "4", "device": each}, ArgumentError, "unroll is '4'") for each in (None, A100)),
])  # fmt: skip
def test_wrong_arguments(given: dict[str, Any], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=f"schedule_of: {message}"):
        schedule_of(fusion_of("coalescing", "identity"), **given)


FEW = Device(name="small", core_count=1, threads_per_core=128, shared_memory_bytes=48 << 10)
"""A device with few threads, so that small fusions are unrolled."""


@pytest.mark.parametrize("name", GPU)
def test_real_fusions_are_written_once_and_read_what_is_needed(name: str) -> None:
    for fusion in fusions_of(name):
        for schedule in (schedule_of(fusion), schedule_of(fusion, device=FEW)):
            assert fusion.attributes["kind"] in KINDS[schedule.emitter], fusion.name
            check_accesses(schedule)


@pytest.mark.parametrize("name", GPU)
def test_a_producer_and_its_consumer_are_one_kernel(name: str) -> None:
    """Real fusions, joined where XLA would have another emitter or none."""
    for consumer in fusions_of(name):
        for producer in dict.fromkeys(consumer.operands):
            if producer.opcode != "fusion" or producer.shape.is_tuple:
                continue
            try:
                pair = schedule_of(consumer, producer=producer)
            except FusionError as error:
                assert "backend_config" in str(error) or "in memory" in str(error)  # noqa: PT017 - the others have schedules
                continue
            assert pair.emitter is schedule_of(consumer).emitter or pair.heroes[0]
            for output in range(len(pair.heroes)):
                if pair.emitter not in CHANGED_IN_PLACE:
                    assert pair.writes_exactly_once(output), consumer.name
            heroes = pair.heroes if pair.emitter in CHANGED_IN_PLACE else ()
            changed = [hero.operands[0] for hero in heroes if hero]
            for operand, parameter in enumerate(pair.fusion.operands):
                if not any(parameter in pair.fusion.indexing(each) for each in changed):
                    read = elements(access.map for access in pair.reads(operand))
                    assert read == needed(pair, operand), (consumer.name, operand)


@for_rows([
    ("no producer", "a", "c", "%c does not read %a"),
    ("a parameter", "p", "c", "%p is a parameter; expected a producer that computes"),
    ("several arrays", "t", "g", "%t gives several arrays"),
])  # fmt: skip
def test_what_is_no_pair(producer: str, consumer: str, message: str) -> None:
    module = entry("""p = f32[8] parameter(0) a = f32[8] negate(p)
        t = (f32[8], f32[8]) tuple(a, p) g = f32[8] get-tuple-element(t), index=0
        c = f32[8] abs(p) ROOT r = f32[8] add(g, c)""")
    with pytest.raises(FusionError, match=message):
        schedule_of(named(module, consumer), producer=named(module, producer))


def test_an_epilogue_joins_a_reduction() -> None:
    module = entry("""p = f32[64,256] parameter(0) z = f32[] constant(0)
        s = f32[64] reduce(p, z), dimensions={1}, to_apply=sum ROOT n = f32[64] negate(s)""")
    pair = schedule_of(module.entry.root, producer=named(module, "s"))
    assert pair.emitter is Emitter.REDUCTION
    assert pair.reads(0)[0].is_exactly_once()
    assert all_of(pair)
