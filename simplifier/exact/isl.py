"""islpy, a library for Presburger sets: when it is loaded, its integers, and its contexts."""

from __future__ import annotations

from contextlib import contextmanager
from functools import cache
from importlib import import_module
from signal import SIGINT, getsignal, raise_signal, signal
from threading import RLock, current_thread, local, main_thread
from typing import TYPE_CHECKING, Final

from simplifier.errors import IndexingError, check_type

if TYPE_CHECKING:
    from collections.abc import Generator
    from types import ModuleType

    import islpy

BASE: Final = 1 << 62
"""Larger integers go to isl and come back in pieces of this size."""


class MissingIslError(IndexingError, ImportError):
    """An exact question was asked where islpy is not installed."""

    def __init__(self) -> None:
        super().__init__("exact answers need islpy, which is not installed: pip install islpy")


def load_isl() -> ModuleType:
    """The module ``islpy``, loaded at the first exact question."""
    try:
        _load_uninterrupted()
        import islpy  # noqa: PLC0415 - loaded when a question is asked
    except ImportError as error:
        raise MissingIslError from error
    return islpy


@cache
def _load_uninterrupted() -> None:
    """Load islpy, and NumPy for its answers: what is loaded in part cannot be loaded again.

    An interrupt, which only the main thread gets, waits until the end.
    """
    arrived: list[object] = []
    is_deferred = current_thread() is main_thread() and bool(getsignal(SIGINT))
    before = signal(SIGINT, lambda number, _: arrived.append(number)) if is_deferred else None
    try:
        import_module("islpy")
        import_module("numpy")
    finally:
        if is_deferred:
            signal(SIGINT, before)
        if arrived:
            raise_signal(SIGINT)


def _words(value: int) -> list[int]:
    """The digits of a natural number to the base ``BASE``, lowest first."""
    words: list[int] = []
    while value:
        value, word = divmod(value, BASE)
        words.append(word)
    return words


def number(value: int, context: islpy.Context) -> islpy.Val:
    """An integer of any size as isl's number."""
    new = load_isl().Val
    base = new(BASE, context)
    found = new(0, context)
    for word in reversed(_words(abs(value))):
        found = found.mul(base).add(new(word, context))
    return found if value >= 0 else found.neg()


def integer(value: islpy.Val) -> int:
    """An integer of isl's as Python's. isl offers only decimal text, whose length Python limits."""
    base = type(value)(BASE, value.get_ctx())
    rest = value.abs()
    total, weight = 0, 1
    while not rest.is_zero():
        word = rest.mod(base)
        total += weight * word.get_num_si()
        weight *= BASE
        rest = rest.sub(word).div(base)
    return -total if value.is_neg() else total


def context_of(given: islpy.Context | None) -> islpy.Context:
    """The context that a user gave, or islpy's default one."""
    isl = load_isl()
    if given is None:
        return isl.DEFAULT_CONTEXT
    check_type(given, isl.Context, "to_isl: the context", "an islpy.Context")
    return given


_FREE: Final = local()


@contextmanager
def own_context() -> Generator[islpy.Context]:
    """A context of this thread that nothing else uses meanwhile, for one question after another.

    islpy keeps some kilobytes of each context that sets were made in, so a new one for each of many
    questions would fill the memory.
    """
    free: list[islpy.Context] = _FREE.__dict__.setdefault("contexts", [])
    context = free.pop() if free else load_isl().Context()
    try:
        yield context
    finally:
        free.append(context)


class _KeptContext:
    """The context of sets that are kept from one question to the next; threads take turns.

    A class of its own: entering a generator takes longer than many a question.
    """

    def __init__(self) -> None:
        self._turn = RLock()
        self._made: islpy.Context | None = None

    def __enter__(self) -> islpy.Context:
        isl = load_isl()  # first: whoever fails keeps no turn
        self._turn.acquire()
        made = self._made
        if made is None:
            made = self._made = isl.Context()
        return made

    def __exit__(self, *_: object) -> None:
        self._turn.release()


_KEPT: Final = _KeptContext()


def kept_context() -> _KeptContext:
    """The context of sets that are kept from one question to the next; threads take turns."""
    return _KEPT
