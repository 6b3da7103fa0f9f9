"""Vectors by XLA's rules, as the names and launches of its tests say; and pairs in one kernel."""

from __future__ import annotations

from typing import Any

import pytest

from indexing.layout import ShapeError
from ops import Emitter, FusionError, schedule_of
from ops.performance import A100, RTX_A6000, TPU_V5E, Device, DeviceError
from simplifier.errors import ArgumentError
from tests.cases import for_all, for_rows
from tests.fusion import test_scheduling as scheduling
from tests.fusion.test_scheduling import GPU, all_of, check_accesses, fusion_of, fusions_of
from tests.fusion.units import entry, fused, named

OF_EMITTERS = {
    "reduce_column_vectorize_x1_c64": 1,
    "reduce_column_vectorize_x1_f64": 1,
    "reduce_column_vectorize_x2_f32": 2,
    "reduce_column_vectorize_x4_s16": 4,
    "reduce_column_small_f32_32_v2": 2,
    "reduce_column_small_f32_8_v2": 2,
    "reduce_column_small_s8_f32_32_v4": 4,
    "reduce_multirow_f16_v4": 4,
    "reduce_multirow_f32_x8": 1,
    "reduce_multirow_pred_mof_x2_v4": 4,
}
"""The vector size that is in the name of XLA's test."""


@for_all([*OF_EMITTERS])
def test_reductions_have_the_vectors_in_the_names_of_xlas_tests(name: str) -> None:
    schedule = schedule_of(fusion_of("emitters", name), device=RTX_A6000)
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
            assert fusion.attributes["kind"] in scheduling.KINDS[schedule.emitter], fusion.name
            check_accesses(schedule)


# Pairs.


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
                if pair.emitter not in scheduling.CHANGED_IN_PLACE:
                    assert pair.writes_exactly_once(output), consumer.name
            changed = [
                hero.operands[0]
                for hero in pair.heroes
                if hero and pair.emitter in scheduling.CHANGED_IN_PLACE
            ]
            for operand, parameter in enumerate(pair.fusion.operands):
                if not any(parameter in pair.fusion.indexing(each) for each in changed):
                    read = scheduling.elements(access.map for access in pair.reads(operand))
                    assert read == scheduling.needed(pair, operand), (consumer.name, operand)


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
