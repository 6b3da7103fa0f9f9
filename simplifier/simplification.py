"""What users ask of an expression: its smallest form, its range, its cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sympy

from simplifier.convert import from_sympy, to_sympy
from simplifier.cost import cost_of_form
from simplifier.errors import IndexingError
from simplifier.form import Form
from simplifier.interval import EMPTY, Interval
from simplifier.scope import scope_of
from simplifier.text import format_form, parse_form
from simplifier.writing import written

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from simplifier.interval import IntervalLike
    from simplifier.scope import Bounds, Constraints, Scope


class BoundsError(IndexingError, ValueError):
    """Bounds that do not name a variable, or name it twice."""


def simplify(
    expression: sympy.Expr | int,
    bounds: Mapping[sympy.Symbol | str, IntervalLike],
    constraints: Iterable[tuple[sympy.Expr | int, IntervalLike]] = (),
) -> sympy.Expr:
    """The cheapest expression found that is equal wherever all bounds and constraints hold.

    Args:
        expression: integer arithmetic of sympy, including ``floor``, ``ceiling``, ``sympy.Mod``, ``Min``, ``Max``.
        bounds: for symbols or their names, closed intervals or pairs; a symbol without bounds may be any integer that
            its own assumptions allow.
        constraints: pairs of an expression and the interval that it is known to lie in.

    Returns:
        An expression over the symbols that were given, never costlier than the input; simplifying it again changes
        nothing. Where the bounds leave no value, 0.

    Raises:
        ConversionError: naming the part that is not integer arithmetic.
        BoundsError: bounds that contradict the symbols.

    >>> from simplifier import FloorDiv, Mod, symbol
    >>> x = symbol("x")
    >>> simplify(8 * FloorDiv(x, 8) + Mod(x, 8), {x: (0, 63)})
    x
    >>> simplify(FloorDiv(x, 64), {"x": (0, 100)}, constraints=[(x, (0, 63))])
    0
    """
    known = tuple(constraints)
    problem = _Problem(bounds, [expression, *(constraint for constraint, _ in known)])
    scope = problem.scope(known)
    form = from_sympy(expression)
    return problem.restored(Form(0, {}) if scope is None else simplified(scope, form))


def bounds_of(
    expression: sympy.Expr | int,
    bounds: Mapping[sympy.Symbol | str, IntervalLike],
    constraints: Iterable[tuple[sympy.Expr | int, IntervalLike]] = (),
) -> Interval:
    """An interval that holds every value of the expression; arguments as for :func:`simplify`.

    >>> from simplifier import FloorDiv, symbol
    >>> s0, s1 = symbol("s0"), symbol("s1")
    >>> print(bounds_of(s0 + s1 * 32 - FloorDiv(s0, 32) * 32, {s0: (0, 1023), s1: (0, 31)}))
    [0, 1023]
    """
    known = tuple(constraints)
    problem = _Problem(bounds, [expression, *(constraint for constraint, _ in known)])
    scope = problem.scope(known)
    return EMPTY if scope is None else range_of(scope, from_sympy(expression))


def cost(expression: sympy.Expr | int) -> int:
    """What the expression costs a reader, as :mod:`simplifier.cost` counts.

    >>> cost(parse_expr("d0 * 8 + s0 mod 3"))
    5
    """
    return cost_of_form(from_sympy(expression))


def parse_expr(text: str) -> sympy.Expr:
    """The expression that a text describes; nothing is simplified.

    Raises:
        TextError: with line, column, and a caret under the place.

    >>> parse_expr("(d0 * 8 + s0) floordiv 3 - d0 % 2")
    -(d0 % 2) + (8*d0 + s0)//3
    """
    return to_sympy(parse_form(text))


def format_expr(expression: sympy.Expr | int) -> str:
    """The text of an expression, as XLA writes it; ``parse_expr`` reads it back.

    >>> format_expr(parse_expr("d1 + 8 * (d0 // 3) - 1"))
    '(d0 floordiv 3) * 8 + d1 - 1'
    """
    return format_form(from_sympy(expression))


# The same on forms, within a scope.


def simplified(scope: Scope, form: Form) -> Form:
    """The cheapest form found; simplifying it again changes nothing."""
    known = scope.simplified.get(form.key)
    if known is None:
        known = scope.simplified[form.key] = _settled(scope, form)
    return known


def _settled(scope: Scope, form: Form) -> Form:
    """Step after step, until nothing changes; in a round trip, its cheapest form."""
    trail = [form]
    while (following := _step(scope, trail[-1])) not in trail:
        trail.append(following)
    circle = trail[trail.index(following) :]
    return min(circle, key=lambda candidate: (cost_of_form(candidate), candidate.order))


def _step(scope: Scope, form: Form) -> Form:
    """The canonical form written out, unless the form itself is cheaper."""
    spelling = written(scope, scope.canonical(form))
    return form if cost_of_form(spelling) > cost_of_form(form) else spelling


def range_of(scope: Scope, form: Form) -> Interval:
    """An interval that holds every value of the form."""
    return Interval.from_range(scope.range_of(scope.canonical(form)))


class _Problem:
    """Symbols as the user made them, and their bounds."""

    def __init__(
        self, bounds: Mapping[sympy.Symbol | str, IntervalLike], expressions: Iterable[sympy.Expr | int]
    ) -> None:
        self._symbols: dict[str, sympy.Symbol] = {}
        self._bounds: dict[str, Interval] = {}
        for expression in expressions:
            for symbol in getattr(expression, "free_symbols", ()):
                self._declare(symbol)
        for key, interval in bounds.items():
            self._restrict(key, Interval.of(interval))

    def _declare(self, symbol: sympy.Symbol) -> None:
        known = self._symbols.setdefault(symbol.name, symbol)
        if known != symbol:
            message = f"simplify: two different symbols are called {symbol.name!r}; expected one"
            raise BoundsError(message)
        assumed = _assumed_bounds(symbol)
        if assumed is not None:
            self._bounds[symbol.name] = assumed

    def _restrict(self, key: sympy.Symbol | str, interval: Interval) -> None:
        if isinstance(key, sympy.Symbol):
            self._declare(key)
        elif not isinstance(key, str):
            message = f"simplify: bounds are given for {key!r}; expected a symbol or its name"
            raise BoundsError(message)
        name = key if isinstance(key, str) else key.name
        old = self._bounds.get(name)
        self._bounds[name] = interval if old is None else old.intersect(interval)

    def scope(self, constraints: Iterable[tuple[sympy.Expr | int, IntervalLike]]) -> Scope | None:
        """The scope of the problem; ``None`` if no value is left to some variable."""
        if any(interval.is_empty for interval in self._bounds.values()):
            return None
        bounds: Bounds = tuple(sorted(self._bounds.items()))
        facts: Constraints = tuple((from_sympy(form), Interval.of(interval)) for form, interval in constraints)
        if any(interval.is_empty for _, interval in facts):
            return None
        return scope_of(bounds, facts)

    def restored(self, form: Form) -> sympy.Expr:
        """The expression of a form, over the user's own symbols."""
        expression = to_sympy(form)
        replacements = {
            symbol: self._symbols[symbol.name]
            for symbol in expression.free_symbols
            if self._symbols.get(symbol.name, symbol) != symbol
        }
        return expression.xreplace(replacements) if replacements else expression


def _assumed_bounds(symbol: sympy.Symbol) -> Interval | None:
    """What a symbol's assumptions say."""
    lower = 1 if symbol.is_positive else 0 if symbol.is_nonnegative else None
    upper = -1 if symbol.is_negative else 0 if symbol.is_nonpositive else None
    return None if lower is None and upper is None else Interval(lower, upper)
