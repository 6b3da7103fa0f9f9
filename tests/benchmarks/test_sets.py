"""The benchmark of sets asks both sides the same: answers are compared, no time is."""

from __future__ import annotations

from typing import Any

import islpy
import pytest

from benchmarks.sets import MAPS, ON_RELATIONS, ON_SETS, QUESTIONS, RELATIONS, SETS, seconds
from indexing import IndexRelation, IndexSet, parse_map, parse_relation
from simplifier import IndexingError


@pytest.mark.parametrize("texts", SETS.values(), ids=SETS)
@pytest.mark.parametrize("name", [name for name in ON_SETS if name != "lexmin"])
def test_both_sides_say_the_same_of_sets(name: str, texts: tuple[str, str]) -> None:
    own = [IndexSet.parse(text) for text in texts]
    isl = [islpy.Set(str(each.to_isl())) for each in own]
    ours, theirs = ON_SETS[name]
    assert_same(ours(*own), theirs(*isl))


@pytest.mark.parametrize("texts", RELATIONS.values(), ids=RELATIONS)
@pytest.mark.parametrize("name", ON_RELATIONS)
def test_both_sides_say_the_same_of_relations(name: str, texts: tuple[str, str]) -> None:
    own = [parse_relation(text) for text in texts]
    isl = [islpy.Map(str(each.to_isl())) for each in own]
    ours, theirs = ON_RELATIONS[name]
    assert_same(ours(*own), theirs(*isl))


def assert_same(found: object, expected: Any) -> None:  # noqa: ANN401 - islpy has many classes
    """Whether an answer of ours is that of islpy."""
    if isinstance(found, IndexSet):
        assert islpy.Set(str(found.to_isl())).is_equal(expected)
    elif isinstance(found, IndexRelation):
        assert islpy.Map(str(found.to_isl())).is_equal(expected)
    else:
        assert found == bool(expected)


@pytest.mark.parametrize("name", ["transpose", "two modes", "four dimensions"])
def test_every_question_has_an_answer(name: str) -> None:
    text, sizes = MAPS[name]
    for ask in QUESTIONS.values():
        ask(parse_map(text), sizes)
    assert QUESTIONS["is_bijective_onto"](parse_map(text), sizes) is True


def test_a_time_is_that_of_one_call() -> None:
    calls: list[int] = []
    assert seconds(lambda: calls.append(1), 2) < 0.01
    assert len(calls) > 10, "quick calls are timed together"
    with pytest.raises(IndexingError):
        seconds(lambda: parse_map("(d0"), 1)
