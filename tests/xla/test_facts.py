"""What XLA's own tests state: we say the same, or better, or something else for a reason."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import pytest

from indexing import parse_map
from tests.cases import for_all
from tests.extent import in_ci
from tests.xla.documentation import PAGE, UNLIKE, by_suite, page_row, written
from tests.xla.facts import Fact, Verdict, facts
from tests.xla.maps import after_steps
from tests.xla.outcome import of_values, verdict_on_map
from tests.xla.programs import tile_of_program
from tests.xla.questions import MODULES, QUESTIONS, outcome
from tests.xla.tile_sizes import constraints_of_fusion
from tests.xla.tilings import tile_of_array

PAGE_TEXT = PAGE.read_text("utf-8")
WRITE = "run `python -m tests.xla.documentation`"


def places_by_test() -> dict[str, list[int]]:
    """The places of facts by the test that states them, ``interval_test-Distance``."""
    places: dict[str, list[int]] = defaultdict(list)
    for place, fact in enumerate(facts()):
        places[f"{fact.suite}-{fact.test}" if fact.suite else fact.table].append(place)
    return places


TESTS = places_by_test()


@pytest.mark.parametrize("places", TESTS.values(), ids=TESTS)
def test_our_answers_are_what_the_rows_say(places: list[int]) -> None:
    """For each test of XLA, found by its name: ``pytest -k "interval_test and Distance"``."""
    for_all(places, lambda place: facts()[place].name)(_answer_is_what_the_row_says)()


def _answer_is_what_the_row_says(place: int) -> None:
    answer, fact = outcome(place), facts()[place]
    assert answer.verdict is fact.verdict, f"XLA: {answer.xla}\nwe: {answer.ours}"
    if fact.suite and fact.verdict in UNLIKE:
        assert page_row(fact, answer) in PAGE_TEXT, WRITE


def test_the_mirror_of_a_suite_is_found_by_its_name() -> None:
    for suite, asked in by_suite().items():
        tests = {name for name in TESTS if name.startswith(f"{suite}-")}
        assert tests == {f"{suite}-{fact.test}" for fact in asked.values()}
    assert "indexing_map_test-Composition_Permutation" in TESTS


@for_all(facts(), lambda fact: fact.name)
def test_every_other_answer_has_a_reason(fact: Fact) -> None:
    assert bool(fact.why) is (fact.verdict is not Verdict.SAME)


@in_ci
def test_the_page_is_current() -> None:
    """Whose answers each test of XLA compares with the page by itself."""
    assert written(PAGE_TEXT) == PAGE_TEXT, WRITE


def test_no_row_is_there_twice() -> None:
    names = Counter(fact.name for fact in facts())
    assert [name for name, count in names.items() if count > 1] == []


def test_no_question_has_the_name_of_another() -> None:
    assert len(QUESTIONS) == 1 + sum(len(module.QUESTIONS) for module in MODULES)


def test_every_question_is_asked() -> None:
    assert {fact.kind for fact in facts()} == set(QUESTIONS)


SUITES = """
affine_map_evaluator_test block_level_parameters_test coalescing_analysis_test
combined_gpu_performance_model_test constraint_expression_test emitters
gpu_dot_fusion_cost_model_test gpu_hlo_cost_analysis_test gpu_indexing_performance_model_test
gpu_performance_model_base_test gpu_performance_model_test gpu_recomputation_cost_model_test
hlo_parser_test index_util_test indexing_analysis_test indexing_map_serialization_test
indexing_map_test interval_test layout_test layout_util_test reshape_analysis_test
reshape_tile_propagation_test scheduling_test shape_util_test symbolic_expr_test
symbolic_map_serialization_test symbolic_map_test symbolic_tile_analysis_test symbolic_tile_test
symbolic_tiled_hlo_computation_test symbolic_tiled_hlo_instruction_test symbolic_tiled_hlo_test
tile_propagation_test tile_test tiled_emitter_constraints_test tiled_hlo_computation_test
tiled_hlo_instruction_test tiled_hlo_schedule_test tiled_hlo_test
tiling_from_block_parameters_test tiling_space_test tiling_space_utils_test
tiling_specification_test tiling_util_test triton_emitter_constraints_test
"""


def test_the_suites_are_those_of_xla() -> None:
    assert [*by_suite()] == SUITES.split()


# The engine tells right from wrong.

MOD = "(d0) -> (d0 mod 4), domain: d0 in [0, 99]"
VERDICTS = [
    # ours, XLA's, the right one
    (MOD, MOD, None, Verdict.SAME),
    (MOD, "(d0) -> (d0 - (d0 floordiv 4) * 4), domain: d0 in [0, 99]", None, Verdict.BETTER),
    ("(d0) -> (d0 - (d0 floordiv 4) * 4), domain: d0 in [0, 99]", MOD, None, Verdict.DIFFERENT),
    (MOD, "(d0) -> (d0 mod 4), domain: d0 in [0, 98]", None, Verdict.WRONG),
    (MOD, "(d0) -> (d0 mod 5), domain: d0 in [0, 99]", None, Verdict.WRONG),
    (MOD, "(d0) -> (d0 mod 5), domain: d0 in [0, 99]", MOD, Verdict.BETTER),
    (MOD, MOD, "(d0) -> (d0 mod 5), domain: d0 in [0, 99]", Verdict.WRONG),
    (MOD, "KNOWN EMPTY", None, Verdict.WRONG),
    ("(d0) -> (0), domain: KNOWN EMPTY", "KNOWN EMPTY", None, Verdict.SAME),
    ("(d0) -> (d0), domain: d0 in [1, 9], d0 mod 4 in [1, 2]",
     "(d0) -> (d0), domain: d0 in [0, 9], d0 mod 4 in [1, 2]", None, Verdict.BETTER),
    ("(d0, d1) -> (d1 * d0), domain: d0 in [0, 3], d1 in [0, 3]",
     "(d0, d1) -> (d1 * d1), domain: d0 in [0, 3], d1 in [0, 3]", None, Verdict.WRONG),
]  # fmt: skip


@for_all(VERDICTS)
def test_verdicts_on_maps(ours: str, xla: str, right: str | None, verdict: Verdict) -> None:
    assert verdict_on_map(parse_map(ours), xla, right) is verdict


def test_verdicts_on_values() -> None:
    assert of_values(3, {"expected": 3}).verdict is Verdict.SAME
    assert of_values(3, {"expected": 4}).verdict is Verdict.WRONG
    assert of_values(3, {"expected": 4, "ours": 3, "class": "better"}).verdict is Verdict.BETTER
    assert of_values(3, {"expected": 4, "ours": 5, "class": "better"}).verdict is Verdict.WRONG
    assert of_values(None, {"expected": 4}).ours == "refused"


def test_a_wrong_row_is_seen() -> None:
    row = next(fact.row for fact in facts() if fact.row["id"] == "merge_mods")
    assert after_steps(row).verdict is Verdict.SAME
    wrong = row["expected"].replace("[-18, -6]", "[-12, -6]")
    assert after_steps({**row, "expected": wrong}).verdict is Verdict.WRONG


def test_a_wrong_tile_is_seen() -> None:
    row = next(fact.row for fact in facts() if fact.name == "tiling_space_test/two_outputs.tile.1")
    assert tile_of_array(row).verdict is Verdict.SAME
    for right, wrong in (("tid_2 * ts_2", "tid_3 * ts_2"), ("[11, 9]", "[11, 8]")):
        other = row["expected"].replace(right, wrong)
        assert tile_of_array({**row, "expected": other}).verdict is Verdict.BETTER


PROGRAM_TILES: list[tuple[dict[str, Any], Verdict]] = [
    # what the row says otherwise, the verdict
    ({}, Verdict.SAME),
    ({"expected_sizes": [2, 3]}, Verdict.BETTER),
    ({"expected_strides": [1, 2]}, Verdict.BETTER),
    ({"(pid_0 mod 4) * 2 + 2": "(pid_0 mod 4) * 2 + 3"}, Verdict.BETTER),
    ({"in [0, 7]": "in [0, 6]"}, Verdict.BETTER),
    ({"in [0, 7]": "in [0, 8]"}, Verdict.DIFFERENT),
]


@for_all(PROGRAM_TILES)
def test_a_wrong_tile_of_a_program_is_seen(other: dict[str, Any], verdict: Verdict) -> None:
    name = "symbolic_tile_analysis_test/slice_offset_indexing_is_correct.2"
    row = dict(next(fact.row for fact in facts() if fact.name == name))
    for key, value in other.items():
        if key in row:
            row[key] = value
        else:
            assert key in row["expected"]
            row["expected"] = row["expected"].replace(key, value)
    assert tile_of_program(row).verdict is verdict


CONSTRAINTS = [
    ("2 mod d0 in [0, 0] || d0 mod 2 in [0, 0]", Verdict.SAME),
    ("2 mod d0 in [0, 0]", Verdict.BETTER),
    ("2 mod d0 in [0, 0] || d0 mod 2 in [0, 1]", Verdict.DIFFERENT),
]


@for_all(CONSTRAINTS)
def test_wrong_constraints_are_seen(expected: str, verdict: Verdict) -> None:
    name = "symbolic_tile_analysis_test/does_not_bail_out_on_constrained_reshape.1"
    row = next(fact.row for fact in facts() if fact.name == name)
    assert constraints_of_fusion({**row, "expected": expected}).verdict is verdict
