"""How much processor time a call takes, and an end to what takes too long."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from time import process_time
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

T = TypeVar("T")


def timed(call: Callable[[], T]) -> tuple[T, float]:
    """What a call gives, and how many seconds of processor time it took."""
    start = process_time()
    result = call()
    return result, process_time() - start


@contextmanager
def time_limit(seconds: float) -> Generator[None]:
    """Raises ``TimeoutError`` inside after so long, where the system has alarms."""
    if not hasattr(signal, "setitimer"):
        yield
        return
    before = signal.signal(signal.SIGALRM, _raise_timeout)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _raise_timeout(_: int, __: object) -> None:
    raise TimeoutError
