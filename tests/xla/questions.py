"""All questions of XLA's tests, by the kinds of the rows that ask them."""

from __future__ import annotations

from functools import cache
from typing import Final

from tests.conformance import Row
from tests.xla import (
    expressions,
    hlo_texts,
    kernels,
    maps,
    memory,
    modules,
    programs,
    shapes,
    tile_sizes,
    tilings,
    traffic,
)
from tests.xla.facts import Verdict, facts
from tests.xla.outcome import Outcome, Question


def _nothing(_: Row) -> Outcome:
    """A test of something that we do not have: how C++ hashes values, how long they live."""
    return Outcome(Verdict.UNASKED, "", "")


MODULES: Final = (
    expressions,
    hlo_texts,
    kernels,
    maps,
    memory,
    modules,
    programs,
    shapes,
    tile_sizes,
    tilings,
    traffic,
)
"""Where the questions are; each has a name of its own."""

QUESTIONS: Final[dict[str, Question]] = {
    Verdict.UNASKED.value: _nothing,
    **{name: question for module in MODULES for name, question in module.QUESTIONS.items()},
}


@cache
def outcome(place: int) -> Outcome:
    """Our answer to a question, beside XLA's."""
    fact = facts()[place]
    return QUESTIONS[fact.kind](fact.row)
