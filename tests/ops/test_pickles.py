"""Answers and analyses in pickles, and asked from several threads: small, and always the same."""

from __future__ import annotations

import gc
import multiprocessing
import pickle
from collections import deque
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from itertools import islice
from random import Random
from typing import Final, TypeVar

import ops
from ops import hlo
from ops.rules.registry import Registry
from tests.cases import for_all, pairs
from tests.hlo.modules import module_text
from tests.ops.batch_questions import is_known_by_its_answers
from tests.ops.unshared import all_answers

T = TypeVar("T")

TEXTS: Final = pairs("""
maps => ENTRY e { p = f32[4,8] parameter(0) ROOT r = f32[32] reshape(p) }
origins
    ENTRY e { p = f32[9] parameter(0) i = s32[] parameter(1)
        ROOT r = f32[2] dynamic-slice(p, i), dynamic_slice_sizes={2} }
replicas
    HloModule m, replica_count=4 ENTRY e { p = f32[2] parameter(0)
        ROOT r = f32[8] all-gather(p), dimensions={0}, replica_groups={{0,1,2,3}} }
devices that ask
    HloModule m, replica_count=4
        add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
        ENTRY e { p = f32[8] parameter(0)
        ROOT r = f32[2] reduce-scatter(p), dimensions={0}, replica_groups={}, to_apply=add }
unknown
    ENTRY e { p = f32[2] parameter(0) ROOT r = f32[2] custom-call(p), custom_call_target="x" }
a fusion
    fused { a = f32[9,9] parameter(0) i = s32[] parameter(1)
        b = f32[9,9] transpose(a), dimensions={1,0}
        ROOT r = f32[2,9] dynamic-slice(b, i, i), dynamic_slice_sizes={2,9} }
        ENTRY e { p = f32[9,9] parameter(0) i = s32[] parameter(1)
        ROOT r = f32[2,9] fusion(p, i), kind=kLoop, calls=fused }
a tuple => ENTRY e { p = f32[4] parameter(0) q = tuple(p) ROOT r = tuple(p, q) }
""")


def again(value: T) -> T:
    return pickle.loads(pickle.dumps(value))  # noqa: S301 - our own


def given_by(analysis: ops.ModuleAnalysis) -> list[ops.InstructionIndexing]:
    return [answer for each in analysis for answer in all_answers(each)]


@for_all(TEXTS)
def test_answers_modules_and_analyses_stay_what_they_are(text: str) -> None:
    """An analysis takes its answers along."""
    module = hlo.parse(text)
    analysis = ops.analyze(module)
    answers = given_by(analysis)
    assert again((module, answers)) == (module, answers)
    assert [again(answer) for answer in answers] == answers
    loaded = again(analysis)
    assert loaded.module is analysis.module
    assert given_by(loaded) == answers


def test_another_process_finds_the_same_answers() -> None:
    analyses = [ops.analyze(hlo.parse(text)) for text in TEXTS.values()]
    answers = [given_by(analysis) for analysis in analyses]
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as executor:
        assert all(executor.map(is_known_by_its_answers, analyses, answers))


@for_all([("maps", 700), ("origins", 960), ("a fusion", 1200)])
def test_an_answer_is_small(name: str, most: int) -> None:
    """In bytes, with the names of the operands."""
    answer = ops.output_to_input(hlo.parse(TEXTS[name]).entry.root)
    assert len(pickle.dumps(answer)) < most


def test_an_analysis_with_all_answers_is_much_smaller_than_the_text() -> None:
    text = module_text("unoptimized/big_transformer12_train")
    analysis = ops.analyze(hlo.parse(text))
    answers = given_by(analysis)
    assert len(pickle.dumps(analysis)) < len(text) / 3
    assert len(pickle.dumps(analysis.module)) < len(text) / 6
    assert len(answers) > 20_000


def flipped(instruction: hlo.Instruction) -> ops.OpIndexing:
    return ops.elementwise([instruction.shape.dimensions])


def test_a_registry_is_pickled_as_what_users_added() -> None:
    assert again(ops.REGISTRY) is ops.REGISTRY
    loaded = again(ops.REGISTRY.with_custom_call("x", flipped).with_opcode("tuple", flipped))
    assert loaded.custom_calls["x"].maps is loaded.opcodes["tuple"].maps is flipped
    assert loaded.opcodes["tuple"].routes is None
    assert loaded.opcodes["add"] is ops.REGISTRY.opcodes["add"]
    left = {name: rule for name, rule in ops.REGISTRY.opcodes.items() if name != "add"}
    assert again(Registry(left, ops.REGISTRY.custom_calls)).opcodes.keys() == left.keys()


def test_threads_find_the_same_answers_in_any_order() -> None:
    analysis = ops.analyze(hlo.parse(module_text("cpu/mlp_adam_step")))
    expected = {each.instruction: [*all_answers(each)] for each in ops.analyze(analysis.module)}

    def asked(seed: int) -> bool:
        shuffled = [*analysis]
        again(analysis)  # as it is then
        Random(seed).shuffle(shuffled)  # noqa: S311 - an order, no secret
        return all([*all_answers(each)] == expected[each.instruction] for each in shuffled)

    with ThreadPoolExecutor(4) as executor:
        assert all(executor.map(asked, range(4)))


def test_answers_that_come_while_others_are_pickled() -> None:
    """Another thread gets its turn anywhere; here it asks whenever garbage is collected."""
    analysis = ops.analyze(hlo.parse(module_text("cpu/mlp_adam_step")))
    waiting = iter(analysis)

    def ask(*_: object) -> None:
        for each in islice(waiting, 1):
            deque(all_answers(each), maxlen=0)

    for _ in range(10):
        ask()
    thresholds = gc.get_threshold()
    gc.callbacks.append(ask)
    gc.set_threshold(1)
    try:
        loaded = again(analysis)
    finally:
        gc.set_threshold(*thresholds)
        gc.callbacks.remove(ask)
    for one, other in islice(zip(analysis, loaded, strict=True), 20):
        assert [*all_answers(one)] == [*all_answers(other)]
