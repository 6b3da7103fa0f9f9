"""Asks questions in processes that may take so much memory: ``python -m`` this.

Prints the name of each question whose process ended otherwise than with an answer of some length,
or with an error that says why there is none, after so many calls of functions. Only Linux limits
memory; elsewhere calls are counted alone. What isl does is no call, so a process that never ends is
stopped at last.
"""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Final

from simplifier import IndexingError
from tests.call_counts import calls_of
from tests.ops.test_bounded_work import MAX_CALLS, QUESTIONS, asked_of, drawn_map, rows

MAX_BYTES: Final = 500 << 20
MAX_SECONDS: Final = 300
"""Of processor time, far more than any question takes on any machine under any load."""

MAX_TEXT: Final = 20_000


def questions() -> Iterator[tuple[str, Callable[[], object]]]:
    for row in rows():
        yield row["name"], lambda row=row: QUESTIONS[row["question"]](row)
    for number in range(16):
        drawn = drawn_map(number)
        for question, ask in asked_of(drawn).items():
            yield f"{question} of {drawn}", ask


def ends_within_limits(ask: Callable[[], object]) -> bool:
    """Whether a process of its own answers, or says that it gives up."""
    child = os.fork()
    if not child:
        if sys.platform == "linux":
            _limit()
        try:
            is_bounded = _is_bounded(ask)
        except BaseException:  # noqa: BLE001 - whatever it is, the parent tells
            is_bounded = False
        os._exit(not is_bounded)
    return os.waitpid(child, 0)[1] == 0


def _is_bounded(ask: Callable[[], object]) -> bool:
    """Whether the calls of functions are not too many, nor the text too long."""
    texts: list[str] = []

    def answer() -> None:
        try:
            texts.append(str(ask()))
        except IndexingError as error:
            texts.append(str(error))

    return calls_of(answer) <= MAX_CALLS and len(texts[0]) <= MAX_TEXT


def _limit() -> None:
    pages = int(Path("/proc/self/statm").read_text("utf-8").split()[0])
    most = pages * resource.getpagesize() + MAX_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CPU, (MAX_SECONDS, MAX_SECONDS))


if __name__ == "__main__":
    for module in ("islpy", "numpy"):  # which are loaded late, and do not count
        import_module(module)
    for name, ask in questions():
        if not ends_within_limits(ask):
            sys.stdout.write(f"{name}\n")
