"""Answers to all questions, as texts: here, or printed by a process.

``python -m tests.simplifier.answers SEED THREADS`` asks in an order shuffled by the seed, in so
many threads, everything twice, and prints all answers as JSON.
"""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from random import Random

from simplifier import bounds_of, cost, format_expr, simplify
from simplifier import problem as memory
from simplifier.canonical.scope import scope_of
from tests.simplifier.suite import Question, questions


def answer(question: Question) -> str:
    """The simplified text, its cost, and the range of the expression."""
    asked = question.parsed()
    result = simplify(*asked)
    return f"{format_expr(result)} costs {cost(result)} and lies in {bounds_of(*asked)}"


def forget() -> None:
    """Empty every memory of earlier answers."""
    memory._remembered.cache_clear()
    memory._found.cache_clear()
    scope_of.cache_clear()


def answers(seed: int, threads: int) -> dict[str, str]:
    """All questions and their answers, found in an order and in threads that must not matter."""
    asked = questions()
    shuffled = [*asked, *asked]
    Random(seed).shuffle(shuffled)  # noqa: S311 - an order, not a secret
    with ThreadPoolExecutor(threads) as pool:
        found = dict(zip(shuffled, pool.map(answer, shuffled), strict=True))
    return {str(question): found[question] for question in asked}


if __name__ == "__main__":
    print(json.dumps(answers(*map(int, sys.argv[1:]))))  # noqa: T201 - read by the test
