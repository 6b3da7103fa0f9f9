"""Questions asked before are answered from memory, within microseconds.

Two questions are equal if they agree in the expression, in names and ends of bounds, in constraints
and options; whether an interval is spelled as pair, list, :class:`Interval` or integer makes no
difference. ``True`` is not 1 here, nor is ``1.0``: what is refused once is refused again. Only
answers are remembered, and a bounded number of them; nothing depends on what was asked before.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeVar

from simplifier.bounds.interval import Interval
from simplifier.errors import IndexingError
from simplifier.problem import BoundsError, Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from simplifier.bounds.interval import IntervalLike
    from simplifier.problem import Bounds, Constraints, Expression, Name

Answer = TypeVar("Answer")

_REMEMBERED: Final = 1 << 12
_PAIR: Final = 2


def ask(
    solve: Callable[..., Answer],
    expressions: tuple[Expression, ...],
    bounds: Bounds,
    constraints: Constraints = (),
    *options: object,
) -> Answer:
    """``solve(problem, *options)``, or what it answered to an equal question."""
    if not isinstance(bounds, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] - callers may be untyped
        raise BoundsError(f"bounds: are {bounds!r}; expected a mapping from symbols or their names")
    flat: list[Any] = [*expressions, *_ends(bounds.values())]
    for constraint in constraints:
        flat += _constraint(constraint)
    try:
        return _remembered(solve, options, len(expressions), tuple(bounds), *flat)
    except (TypeError, RecursionError) as error:
        if isinstance(error, IndexingError):
            raise
    # Something cannot be hashed: a trace, which wants to see the work done; a foreign object; an
    # expression that is too deep for sympy.
    return _solved(solve, options, len(expressions), tuple(bounds), *flat)


def _constraint(constraint: tuple[Expression, IntervalLike]) -> tuple[Any, ...]:
    """The expression, and both ends of its interval."""
    if isinstance(constraint, tuple | list) and len(constraint) == _PAIR:  # pyright: ignore[reportUnnecessaryIsInstance, reportUnnecessaryComparison] - untyped callers
        return constraint[0], *_ends(constraint[1:])
    raise BoundsError(f"constraints: one is {constraint!r}; expected an expression and an interval")


def _ends(intervals: Iterable[IntervalLike]) -> list[int | None]:
    """Both ends of each interval in a row; those of a pair as they were given."""
    ends: list[int | None] = []
    for interval in intervals:
        if isinstance(interval, (tuple, list)) and len(interval) == _PAIR:
            ends += interval
        else:
            proper = interval if isinstance(interval, Interval) else Interval.of(interval)
            ends += (proper.lower, proper.upper)
    return ends


def _solved(
    solve: Callable[..., Any],
    options: tuple[object, ...],
    count: int,
    names: tuple[Name, ...],
    *flat: Any,  # noqa: ANN401 - expressions, ends of bounds, and three items for each constraint
) -> Any:  # noqa: ANN401 - what the solver answers
    middle = count + 2 * len(names)
    ends, known = flat[count:middle], flat[middle:]
    bounds = zip(names, map(Interval, ends[::2], ends[1::2]), strict=True)
    constraints = zip(known[::3], map(Interval, known[1::3], known[2::3]), strict=True)
    return solve(Problem(flat[:count], bounds, constraints), *options)


_remembered = lru_cache(maxsize=_REMEMBERED, typed=True)(_solved)
"""Typed: an end that is ``True`` or ``1.0`` is another question than the end 1."""
