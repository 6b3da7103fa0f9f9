"""Asks questions in processes that may take so much memory and time: ``python -m`` this.

Prints the name of each question whose process ended otherwise than with an answer, or with an error
that says why there is none.
"""

from __future__ import annotations

import os
import resource
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final

from simplifier import IndexingError
from tests.ops.test_bounded_work import QUESTIONS, asked_of, drawn_map, rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MAX_BYTES: Final = 500 << 20
MAX_SECONDS: Final = 20
"""Four times what a question may take: machines differ, and this one may have other work."""

MAPS: Final = 12

IMPORTED: Final = ("islpy", "numpy")
"""What is loaded late; it does not count."""


def questions() -> Iterator[tuple[str, Callable[[], object]]]:
    """Each question with its name."""
    for row in rows():
        yield row["name"], lambda row=row: QUESTIONS[row["question"]](row)
    for number in range(MAPS):
        drawn = drawn_map(number)
        for question, ask in asked_of(drawn).items():
            yield f"{question} of {drawn}", ask


def ends_within_limits(ask: Callable[[], object]) -> bool:
    """Whether a process of its own answers, or says that it gives up."""
    child = os.fork()
    if not child:
        _limit()
        try:
            ask()
        except IndexingError:
            pass
        except BaseException:  # noqa: BLE001 - whatever it is, the parent tells
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1] == 0


def _limit() -> None:
    pages = int(Path("/proc/self/statm").read_text("utf-8").split()[0])
    most = pages * resource.getpagesize() + MAX_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CPU, (MAX_SECONDS, MAX_SECONDS))


if __name__ == "__main__":
    for module in IMPORTED:
        import_module(module)
    for name, ask in questions():
        if not ends_within_limits(ask):
            sys.stdout.write(f"{name}\n")
