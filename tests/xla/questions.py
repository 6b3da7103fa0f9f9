"""All questions of XLA's tests, by the kinds of the rows that ask them."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from tests.xla import (
    expressions,
    hlo_texts,
    kernels,
    maps,
    memory,
    modules,
    shapes,
    tilings,
    traffic,
)
from tests.xla.facts import Fact, Verdict, facts
from tests.xla.outcome import Outcome

if TYPE_CHECKING:
    from tests.conformance import Row
    from tests.xla.outcome import Question


def _nothing(_: Row) -> Outcome:
    """A test of something that we do not have: how C++ hashes values, how long they live."""
    return Outcome(Verdict.UNASKED, "", "")


QUESTIONS: Final[dict[str, Question]] = {
    Verdict.UNASKED.value: _nothing,
    **expressions.QUESTIONS,
    **hlo_texts.QUESTIONS,
    **kernels.QUESTIONS,
    **maps.QUESTIONS,
    **memory.QUESTIONS,
    **modules.QUESTIONS,
    **shapes.QUESTIONS,
    **tilings.QUESTIONS,
    **traffic.QUESTIONS,
}


@lru_cache
def outcomes() -> tuple[tuple[Fact, Outcome], ...]:
    """Our answer to every question, beside XLA's."""
    return tuple((fact, QUESTIONS[fact.kind](fact.row)) for fact in facts())
