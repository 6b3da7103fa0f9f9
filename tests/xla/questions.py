"""All questions of XLA's tests, by the kinds of the rows that ask them."""

from __future__ import annotations

from functools import cache
from typing import Final

from simplifier.errors import IndexingError
from tests.xla import maps, memory, modules, programs, shapes, tilings
from tests.xla.facts import Answer, Outcome, Verdict, facts, of_values

MODULES: Final = (maps, memory, modules, programs, shapes, tilings)
"""Where the questions are; each has a name of its own."""

QUESTIONS: Final[dict[str, Answer]] = {
    # Of something that we do not have: how C++ hashes values, how long they live.
    Verdict.UNASKED.value: lambda _: Outcome(Verdict.UNASKED, "", ""),
    **{name: answer for module in MODULES for name, answer in module.QUESTIONS.items()},
}


@cache
def outcome(place: int) -> Outcome:
    fact = facts()[place]
    try:
        answer = QUESTIONS[fact.kind](fact.row)
    except IndexingError:  # what is refused has no value
        answer = None
    return answer if isinstance(answer, Outcome) else of_values(answer, fact.row)
