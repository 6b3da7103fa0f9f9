"""Tests of a thousand cases: one test runs them all, and names each that fails."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias, TypeVar

_Case = TypeVar("_Case")
_Test: TypeAlias = "Callable[[], None]"

MAX_SHOWN: Final = 5
"""How many failures are shown with their tracebacks; more would hide the names of the others."""


def for_all(
    cases: Sequence[_Case], name: Callable[[_Case], object] = str
) -> Callable[[Callable[..., None]], _Test]:
    """Run a test with each case in turn; a case that is a tuple is several arguments.

    Cheap cases spend more time in pytest than in themselves where each is a test of its own.
    """

    def decorated(test: Callable[..., None]) -> _Test:
        def run() -> None:
            found = [(str(name(case)), _failure(test, case)) for case in cases]
            failures = [(case, error) for case, error in found if error is not None]
            if failures:
                _raise(failures, len(cases))

        run.__name__, run.__doc__, run.__module__ = test.__name__, test.__doc__, test.__module__
        return run

    return decorated


def _failure(test: Callable[..., None], case: Any) -> Exception | None:  # noqa: ANN401 - anything
    try:
        test(*(case if type(case) is tuple else (case,)))
    except Exception as error:  # noqa: BLE001 - reported with all others
        return error
    return None


def _raise(failures: Sequence[tuple[str, Exception]], count: int) -> None:
    names = "\n".join(case for case, _ in failures)
    for case, error in failures:
        error.add_note(f"in the case {case}")
    message = f"{len(failures)} of {count} cases fail:\n{names}\n"
    raise ExceptionGroup(message, [error for _, error in failures[:MAX_SHOWN]])
