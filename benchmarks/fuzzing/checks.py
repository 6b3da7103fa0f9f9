"""Properties that every answer must have, each checked independently of the simplifier.

A check returns a message, or nothing. Each check simplifies by itself, so that it can run alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from time import process_time
from typing import Final, TypeVar

from benchmarks.clock import time_limit
from benchmarks.fuzzing.case import Case
from benchmarks.problems import seeded
from simplifier.canonical.scope import scope_of
from simplifier.errors import IndexingError
from simplifier.exact import BudgetError, NotQuasiAffineError, differing_point, exact_range
from simplifier.expr.form import Form, postorder
from simplifier.expr.printer import format_form
from simplifier.expr.text import parse_form
from simplifier.extraction import costs_of
from simplifier.fixpoint import is_kept, range_of, simplified
from tests.evaluation import first_difference, values_of

T = TypeVar("T")

ISL_BUDGET: Final = 30_000
"""The operations that isl may spend on one question: some hundredths of a second."""

MAX_SECONDS: Final = 5.0
"""More processor time than this for one expression is a failure."""

MAX_CHECK_SECONDS: Final = 300.0
"""Seconds after which a check is stopped, because the simplifier hangs, even on a busy machine."""


def complaints(
    case: T, checks: Mapping[str, Callable[[T], str | None]]
) -> Iterator[tuple[str, str]]:
    """The failures: the name of each check, and its message."""
    for name, check in checks.items():
        said = complaint(case, check)
        if said is not None:
            yield name, said


def complaint(case: T, check: Callable[[T], str | None]) -> str | None:
    """The message of one check; any exception is a failure, too."""
    try:
        with time_limit(MAX_CHECK_SECONDS):
            return check(case)
    except IndexingError as error:
        return f"refused: {error}"
    except Exception as error:  # noqa: BLE001 - any exception at all is a find
        return f"{type(error).__name__}: {error}"


def _equal_at_points(case: Case) -> str | None:
    result = simplified(case.scope, case.form)
    points = case.points(seeded(0))
    if not any(map(len, points.values())):
        return None
    if case.scope.is_empty:
        return "the limits leave points, but are said to leave none"
    point = first_difference(case.form, result, points)
    return None if point is None else f"{result} differs at {point}"


def _equal_for_isl(case: Case) -> str | None:
    result = simplified(case.scope, case.form)
    try:
        point = differing_point(case.form, result, case.bounds, case.constraints, ISL_BUDGET)
    except (NotQuasiAffineError, BudgetError):
        return None
    return None if point is None else f"{result} differs at {point}"


def _never_costlier(case: Case) -> str | None:
    result = simplified(case.scope, case.form)
    costs = costs_of(case.scope)
    before, after = costs.of(case.form), costs.of(result)
    if after <= before or not is_kept(case.scope, case.form):
        return None
    return f"{result} costs {after}, not {before}"


def _settled(case: Case) -> str | None:
    result = simplified(case.scope, case.form)
    scope_of.cache_clear()
    again = simplified(case.scope, result)
    return None if again == result else f"{result} becomes {again}"


def _bounds_hold_values(case: Case) -> str | None:
    interval = range_of(case.scope, case.form)
    values, is_defined = values_of(case.form, case.points(seeded(1)))
    outside = [value for value in values[is_defined] if value not in interval]
    return f"{outside[0]} is not in {interval}" if outside else None


def _bounds_hold_extremes(case: Case) -> str | None:
    """The bounds contain isl's least and greatest value."""
    interval = range_of(case.scope, case.form)
    try:
        exact = exact_range(case.form, case.bounds, case.constraints, ISL_BUDGET)
    except (NotQuasiAffineError, BudgetError):
        return None
    return None if interval.contains(exact) else f"{interval} does not hold {exact}"


def _same_in_any_order(case: Case) -> str | None:
    """The result and range stay the same if every part was simplified before, the largest first."""
    scope_of.cache_clear()
    result, interval = simplified(case.scope, case.form), range_of(case.scope, case.form)
    scope_of.cache_clear()
    for atom in reversed(postorder((case.form, result))):
        simplified(case.scope, Form(1, {atom: -2}))
        range_of(case.scope, Form(0, {atom: 1}))
    again = simplified(case.scope, case.form), range_of(case.scope, case.form)
    return None if again == (result, interval) else f"{result}, {interval}; later {again}"


def _text_is_read_back(case: Case) -> str | None:
    result = simplified(case.scope, case.form)
    wrong = [form for form in (case.form, result) if parse_form(format_form(form)) != form]
    return f"{wrong[0]} is read as {parse_form(format_form(wrong[0]))}" if wrong else None


def _quick(case: Case) -> str | None:
    scope_of.cache_clear()
    start = process_time()
    simplified(case.scope, case.form)
    seconds = process_time() - start
    return f"took {seconds:.1f} s" if seconds > MAX_SECONDS else None


CHECKS: Final[Mapping[str, Callable[[Case], str | None]]] = {
    "quick": _quick,
    "equal at points": _equal_at_points,
    "equal for isl": _equal_for_isl,
    "never costlier": _never_costlier,
    "settled": _settled,
    "bounds hold values": _bounds_hold_values,
    "bounds hold extremes": _bounds_hold_extremes,
    "same in any order": _same_in_any_order,
    "text is read back": _text_is_read_back,
}

SHARES: Final[Mapping[str, float]] = {
    "equal for isl": 0.1,
    "bounds hold extremes": 0.1,
    "same in any order": 0.1,
}
"""Checks that take longer than the answer itself are made of this share of the cases."""
