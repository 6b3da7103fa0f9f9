"""A question as users ask it, and the memory of earlier answers.

Users have their own symbols, bounds by symbol or by name, and assumptions. Two questions are equal
if they agree in the expression, in names and ends of bounds, in constraints and options; whether an
interval is given as pair, list, :class:`Interval` or integer makes no difference. ``True`` is not 1
here, nor is ``1.0``: an input that was refused is refused again. Only answers are remembered, a
bounded number of them, so no answer depends on earlier questions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

import sympy
from sympy.logic.boolalg import Boolean

from simplifier.bounds.facts import read_fact
from simplifier.bounds.interval import Interval, IntervalLike
from simplifier.canonical.scope import scope_of
from simplifier.errors import IndexingError, check_type
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.sympy_conversion import (
    is_relation,
    read,
    relation_of,
    to_condition,
    to_sympy,
)
from simplifier.fixpoint import range_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from simplifier.bounds.context import Bounds as Box
    from simplifier.bounds.context import Constraints as Facts
    from simplifier.canonical.scope import Scope
    from simplifier.expr.form import Form
    from simplifier.expr.sympy_conversion import Fraction, ReadExpression


Expression: TypeAlias = sympy.Expr | Boolean | int
"""Integer arithmetic, or a condition, which is 1 where it holds and 0 elsewhere."""
Name: TypeAlias = sympy.Symbol | str
Bounds: TypeAlias = Mapping[sympy.Symbol, IntervalLike] | Mapping[str, IntervalLike]
"""Of symbols or their names; a symbol without bounds is any integer that its assumptions allow."""
Constraints: TypeAlias = "Iterable[tuple[Expression, IntervalLike] | Boolean | bool]"
"""Expressions with the intervals that they lie in, and conditions that hold."""


class BoundsError(IndexingError, ValueError):
    """Bounds that do not name a variable, or name it twice; malformed constraints."""


class Problem:
    """Expressions over symbols as the user made them, their bounds, and what else is known."""

    def __init__(
        self,
        expressions: Iterable[Expression],
        bounds: Iterable[tuple[Name, Interval]],
        constraints: Iterable[tuple[Expression, Interval]] = (),
    ) -> None:
        expressions = tuple(expressions)
        self._symbols: dict[str, sympy.Symbol] = {}
        self._fractions: list[tuple[Fraction, ReadExpression]] = []
        self.bounds: dict[str, Interval] = {}
        """Bounds by name: those given, met with the symbols' assumptions."""
        self.constraints: list[tuple[Form, Interval]] = []
        """Those given, and that even and odd symbols are even and odd."""
        self.forms = tuple(self._read(expression) for expression in expressions)
        self._is_condition = is_relation(next(iter(expressions), None))
        for expression, interval in constraints:
            self.constraints += read_fact(self._read(expression), interval)
        for name, interval in bounds:
            self._restrict(name, interval)
        self._check_fractions()

    @property
    def form(self) -> Form:
        """The first expression."""
        return self.forms[0]

    def scope(self, make: Callable[[Box, Facts], Scope] = scope_of) -> Scope | None:
        """The scope of the expressions; ``None`` if no value is left to some variable."""
        facts = tuple(self.constraints)
        if any(interval.is_empty for interval in (*self.bounds.values(), *dict(facts).values())):
            return None
        scope = make(tuple(sorted(self.bounds.items())), facts)
        return None if scope.is_empty else scope.of_variables_in(*self.forms)

    def restored(self, form: Form) -> Any:  # noqa: ANN401 - what was asked: sympy types neither alike
        """The expression of a form, over the user's own symbols; a condition, if that was asked."""
        restore = to_condition if self._is_condition else to_sympy
        return restore(form, self._symbols)

    def _check_fractions(self) -> None:
        """That what must be an integer is one, by the facts."""
        scope = self.scope() if self._fractions else None
        if scope is None:
            return
        for fraction, reading in self._fractions:
            remainder = operations.mod(fraction.numerator, fraction.divisor)
            if range_of(scope, remainder) != _ZERO and not fraction.is_integer:
                raise reading.objection(fraction)

    def _read(self, expression: Expression) -> Form:
        reading = read(expression)
        for symbol in reading.symbols:
            self._declare(symbol)
        self._fractions += [(fraction, reading) for fraction in reading.fractions]
        return reading.form

    def _declare(self, symbol: sympy.Symbol) -> None:
        known = self._symbols.get(symbol.name)
        if known is None:
            self._symbols[symbol.name] = symbol
            self._assume(symbol)
        elif known != symbol:
            message = f"two different symbols are called {symbol.name!r}; expected one"
            raise BoundsError(message)

    def _assume(self, symbol: sympy.Symbol) -> None:
        """Keep what a symbol's assumptions say."""
        lower = 1 if symbol.is_positive else 0 if symbol.is_nonnegative else None
        upper = -1 if symbol.is_negative else 0 if symbol.is_nonpositive else None
        if lower is not None or upper is not None:
            self._restrict(symbol.name, Interval(lower, upper))
        remainder = 0 if symbol.is_even else 1 if symbol.is_odd else None
        if remainder is not None:
            halves = operations.mod(forms.variable(symbol.name), forms.constant(2))
            self.constraints.append((halves, Interval(remainder, remainder)))

    def _restrict(self, name: Name, interval: Interval) -> None:
        if isinstance(name, sympy.Symbol):
            self._declare(name)
            name = name.name
        elif not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance] - callers may be untyped
            message = f"bounds are given for {name!r}; expected a symbol or its name"
            raise BoundsError(message)
        old = self.bounds.get(name)
        self.bounds[name] = interval if old is None else old.intersect(interval)


Answer = TypeVar("Answer")

_REMEMBERED: Final = 1 << 12
_ZERO: Final = Interval(0, 0)
_PAIR: Final = 2


# The memory of answers.


def ask(
    function: str,
    solve: Callable[..., Answer],
    expressions: tuple[Expression, ...],
    bounds: Bounds,
    constraints: Constraints = (),
    *options: object,
) -> Answer:
    """``solve(problem, *options)``, or what it answered to an equal question.

    Raises:
        BoundsError: bounds or constraints are wrong; the message names the public function.
    """
    check_type(constraints, Iterable, f"{function}: constraints", "a sequence")
    try:
        return _asked(solve, expressions, bounds, constraints, options)
    except BoundsError as error:
        raise BoundsError(f"{function}: {error}") from None


def _asked(
    solve: Callable[..., Answer],
    expressions: tuple[Expression, ...],
    bounds: Bounds,
    constraints: Constraints,
    options: tuple[object, ...],
) -> Answer:
    if not isinstance(bounds, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] - callers may be untyped
        raise BoundsError(f"bounds are {bounds!r}; expected a mapping from symbols or their names")
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


def _constraint(
    constraint: tuple[Expression, IntervalLike] | Boolean | bool,  # noqa: FBT001 - a condition
) -> tuple[Any, ...]:
    """The expression, and both ends of its interval; a condition that holds is 1."""
    if is_relation(constraint):
        return relation_of(constraint), 1, 1
    if isinstance(constraint, tuple | list) and len(constraint) == _PAIR:  # pyright: ignore[reportUnnecessaryIsInstance, reportUnnecessaryComparison] - untyped callers
        return constraint[0], *_ends(constraint[1:])
    message = "expected an expression and an interval, or a condition such as x < n"
    raise BoundsError(f"constraints: one is {constraint!r}; {message}")


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
