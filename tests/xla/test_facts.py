"""What XLA's own tests state: we say the same, or better, or something else for a reason."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable
from functools import cache
from itertools import product
from typing import Any

import pytest

from indexing import IndexingMap, IndexRelation, parse_map
from ops import Unknown, input_to_output, output_to_input
from ops.dependence.dependence import Indexings
from ops.hlo import Instruction
from tests.cases import for_all
from tests.conformance import Row
from tests.extent import in_ci, part
from tests.pages import generated_in
from tests.xla.documentation import (
    COUNTS,
    LIST,
    PAGE,
    UNLIKE,
    by_suite,
    list_lines,
    page_line,
    unlike,
    written,
)
from tests.xla.facts import Fact, Outcome, Verdict, facts, of_values, verdict_on_map
from tests.xla.maps import after_steps
from tests.xla.modules import module_of
from tests.xla.programs import tile_of_program
from tests.xla.questions import MODULES, QUESTIONS, outcome
from tests.xla.tilings import constraints_of_fusion, tile_of_array

PAGE_TEXT, LIST_TEXT = PAGE.read_text("utf-8"), LIST.read_text("utf-8")
WRITE = "run `python -m tests.xla.documentation`"


TESTS: dict[str, list[int]] = defaultdict(list)
"""The places of facts by the test that states them, ``interval_test-Distance``."""
for _place, _fact in enumerate(facts()):
    TESTS[f"{_fact.suite}-{_fact.test}" if _fact.suite else _fact.table].append(_place)


def row_of(name: str) -> Row:
    return next(fact.row for fact in facts() if fact.name == name)


@pytest.mark.parametrize("places", TESTS.values(), ids=TESTS)
def test_our_answers_are_what_the_rows_say(places: list[int]) -> None:
    """For each test of XLA, found by its name: ``pytest -k "interval_test and Distance"``."""
    for_all(places, lambda place: facts()[place].name)(_answer_is_what_the_row_says)()


def _answer_is_what_the_row_says(place: int) -> None:
    answer, fact = outcome(place), facts()[place]
    assert answer.verdict is fact.verdict, f"XLA: {answer.xla}\nwe: {answer.ours}"
    if fact.suite and fact.verdict in UNLIKE:
        assert list_lines(fact, place) in LIST_TEXT, WRITE
    if fact.suite and fact.verdict is Verdict.DIFFERENT:
        assert page_line(fact, place) in PAGE_TEXT, WRITE


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
    assert unlike() == LIST_TEXT, WRITE


def test_rows_and_questions_have_names_of_their_own_and_all_are_asked() -> None:
    names = Counter(fact.name for fact in facts())
    assert [name for name, count in names.items() if count > 1] == []
    assert len(QUESTIONS) == 1 + sum(len(module.QUESTIONS) for module in MODULES)
    assert {fact.kind for fact in facts()} == set(QUESTIONS)
    counted = generated_in(PAGE_TEXT, COUNTS)
    assert [*by_suite()] == re.findall(r"^(\w+) +\d", counted, re.MULTILINE)[:-1]


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


@for_all([
    # ours, what the row says, the verdict
    (3, {"expected": 3}, Verdict.SAME),
    (3, {"expected": 4}, Verdict.WRONG),
    (3, {"expected": 4, "ours": 3, "class": "better"}, Verdict.BETTER),
    (3, {"expected": 4, "ours": 5, "class": "better"}, Verdict.WRONG),
])  # fmt: skip
def test_verdicts_on_values(ours: int, row: Row, verdict: Verdict) -> None:
    assert of_values(ours, row).verdict is verdict
    assert of_values(None, row).ours == "refused"


MERGED, TILE = row_of("simplify/merge_mods"), row_of("tiling_space_test/two_outputs.tile.1")
PROGRAM = row_of("symbolic_tile_analysis_test/slice_offset_indexing_is_correct.2")
CONSTRAINED = row_of("symbolic_tile_analysis_test/does_not_bail_out_on_constrained_reshape.1")

WRONG_ROWS: list[tuple[Callable[[Row], Outcome], Row, dict[str, Any], Verdict]] = [
    # a question, a row, what it says otherwise, the verdict
    (after_steps, MERGED, {}, Verdict.SAME),
    (after_steps, MERGED, {"[-18, -6]": "[-12, -6]"}, Verdict.WRONG),
    (tile_of_array, TILE, {}, Verdict.SAME),
    (tile_of_array, TILE, {"tid_2 * ts_2": "tid_3 * ts_2"}, Verdict.BETTER),
    (tile_of_array, TILE, {"[11, 9]": "[11, 8]"}, Verdict.BETTER),
    (tile_of_program, PROGRAM, {}, Verdict.SAME),
    (tile_of_program, PROGRAM, {"expected_sizes": [2, 3]}, Verdict.BETTER),
    (tile_of_program, PROGRAM, {"expected_strides": [1, 2]}, Verdict.BETTER),
    (tile_of_program, PROGRAM, {"(pid_0 mod 4) * 2 + 2": "(pid_0 mod 4) * 2 + 3"}, Verdict.BETTER),
    (tile_of_program, PROGRAM, {"in [0, 7]": "in [0, 6]"}, Verdict.BETTER),
    (tile_of_program, PROGRAM, {"in [0, 7]": "in [0, 8]"}, Verdict.DIFFERENT),
    (constraints_of_fusion, CONSTRAINED, {}, Verdict.SAME),
    (constraints_of_fusion, CONSTRAINED, {"expected": "2 mod d0 in [0, 0]"}, Verdict.BETTER),
    (constraints_of_fusion, CONSTRAINED,
     {"expected": "2 mod d0 in [0, 0] || d0 mod 2 in [0, 1]"}, Verdict.DIFFERENT),
]  # fmt: skip


@for_all(WRONG_ROWS)
def test_a_wrong_row_is_seen(
    question: Callable[[Row], Outcome], row: Row, other: dict[str, Any], verdict: Verdict
) -> None:
    expected = row["expected"]
    for old, new in other.items():
        assert old in row or old in expected
        expected = expected.replace(old, new) if old not in row else expected
    changed = {name: value for name, value in other.items() if name in row}
    assert question({**row, "expected": expected, **changed}).verdict is verdict


# Both directions of the modules are each other's inverse, element by element.
BY_TEXT = {fact.row["hlo"]: fact for fact in facts() if "hlo" in fact.row}
ROOTS = {fact.name: module_of(fact.row).entry.root for fact in BY_TEXT.values()}
"""The root of each module's entry, by the name of a fact about it."""


@cache
def compared(root: Instruction) -> int:
    """How many pairs of a result and an operand are the same in both directions."""
    count = 0
    for output, operand in product(root.shape.array_indices, range(len(root.operands))):
        back = plain(output_to_input(root, output).indexing[operand])
        forth = plain(input_to_output(root, operand).indexing[output])
        if back is not None and forth is not None:
            assert bool(back) is bool(forth)
            assert not back or IndexRelation(*back).inverse() == IndexRelation(*forth)
            count += 1
    return count


def plain(answer: Indexings) -> list[IndexingMap] | None:
    """The maps to the first array of the operand; what reads a slice at a value is not known."""
    if isinstance(answer, Unknown) or any(way.element or way.map.runtime for way in answer):
        return None
    return [way.map for way in answer if not way.map.is_known_empty]


@for_all(part([*ROOTS], 40))
def test_one_direction_is_the_inverse_of_the_other(name: str) -> None:
    compared(ROOTS[name])


@in_ci
def test_most_pairs_are_compared() -> None:
    pairs = sum(len(root.shape.arrays) * len(root.operands) for root in ROOTS.values())
    assert sum(map(compared, ROOTS.values())) > 0.9 * pairs
