"""Processor time of a call, and a time limit."""

from __future__ import annotations

import gc
import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager
from time import process_time
from typing import TypeVar

T = TypeVar("T")


def timed(call: Callable[[], T]) -> tuple[T, float]:
    """The result of a call, and the seconds of processor time that it took."""
    start = process_time()
    result = call()
    return result, process_time() - start


def timed_without_collections(call: Callable[[], T]) -> tuple[T, float]:
    """As :func:`timed`, without looking for garbage: that depends on the rest of the process."""
    gc.disable()  # as timeit does
    try:
        return timed(call)
    finally:
        gc.enable()


@contextmanager
def time_limit(seconds: float) -> Generator[None]:
    """Raises ``TimeoutError`` inside after this time, on systems with alarms."""
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
