"""Every law holds, for all integers, and fails without any one part of its condition."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simplifier.laws.catalogue import LAWS
from simplifier.laws.catalogue.floordiv import FLATTEN, REMAINDER
from simplifier.laws.catalogue.steps import ALL_RESIDUES
from simplifier.laws.law import Law
from tests.cases import for_all
from tests.simplifier.laws.meaning import every_condition, sample, verdicts
from tests.simplifier.laws.statements import conditions_of

FEWEST = 25
"""Random points that must meet a law's condition, so that looking at them says something."""


def name_of(part: object) -> str:
    return part.name if isinstance(part, Law) else str(part)


every_law = pytest.mark.parametrize("law", LAWS, ids=name_of)


@pytest.mark.needs("z3")
@every_law
def test_each_law_is_a_theorem(law: Law) -> None:
    assert set(verdicts(law)) == {"unsat"}


@every_law
def test_each_law_holds_on_random_points(law: Law) -> None:
    assert sample(law).counterexample() is None
    assert sample(law).count >= FEWEST


@pytest.mark.parametrize(("law", "place"), every_condition(), ids=name_of)
def test_each_part_of_a_condition_is_needed(law: Law, place: int) -> None:
    assert sample(law).counterexample(without=place) is not None, conditions_of(law)[place]


@pytest.mark.needs("z3")
@for_all(range(1, 9))
def test_all_residues_of_any_number(count: int) -> None:
    quotients = [f"(A + {offset}) floordiv {count}" for offset in range(count)]
    law = replace(ALL_RESIDUES, identity=f"{' + '.join(quotients)} == A", proof=())
    assert verdicts(law) == ["unsat"]


WRONG = {
    "value": replace(REMAINDER, identity="A mod B == A + B * (A floordiv B)"),
    "condition": replace(FLATTEN, condition="C > 0"),
    "definedness": replace(REMAINDER, identity="A == (A * B) floordiv B"),
    "lemma": replace(REMAINDER, identity="0 <= A mod B", condition="A >= 0"),
}


@for_all(WRONG)
def test_random_points_refute_what_is_wrong(law: Law) -> None:
    assert sample(law).counterexample() is not None


@pytest.mark.needs("z3")
def test_z3_does_not_prove_what_is_wrong_nor_take_a_wrong_step() -> None:
    assert [name for name, law in WRONG.items() if "sat" not in verdicts(law)] == []
    wrong = replace(REMAINDER, proof=("A mod B == B * (A floordiv B)",))
    assert verdicts(wrong) == ["sat", "unsat"]
