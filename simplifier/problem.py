"""A question as users ask it: their own symbols, bounds by symbol or by name, assumptions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sympy

from simplifier.convert import from_sympy, to_sympy
from simplifier.errors import IndexingError
from simplifier.interval import Interval
from simplifier.scope import scope_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from simplifier.form import Form
    from simplifier.interval import IntervalLike
    from simplifier.scope import Bounds, Constraints, Scope


class BoundsError(IndexingError, ValueError):
    """Bounds that do not name a variable, or name it twice."""


class Problem:
    """Symbols as the user made them, and their bounds."""

    def __init__(
        self,
        bounds: Mapping[sympy.Symbol, IntervalLike] | Mapping[str, IntervalLike],
        expressions: Iterable[sympy.Expr | int],
    ) -> None:
        self._symbols: dict[str, sympy.Symbol] = {}
        self.bounds: dict[str, Interval] = {}
        """Bounds by name: those given, met with the symbols' assumptions."""
        for expression in expressions:
            for symbol in getattr(expression, "free_symbols", ()):
                self._declare(symbol)
        for key, interval in bounds.items():
            self._restrict(key, Interval.of(interval))

    def _declare(self, symbol: sympy.Symbol) -> None:
        known = self._symbols.get(symbol.name)
        if known is None:
            self._symbols[symbol.name] = symbol
            assumed = _assumed_bounds(symbol)
            if assumed is not None:
                self._restrict(symbol.name, assumed)
        elif known != symbol:
            message = f"simplify: two different symbols are called {symbol.name!r}; expected one"
            raise BoundsError(message)

    def _restrict(self, key: sympy.Symbol | str, interval: Interval) -> None:
        if isinstance(key, sympy.Symbol):
            self._declare(key)
        elif not isinstance(key, str):  # pyright: ignore[reportUnnecessaryIsInstance] - callers may be untyped
            message = f"simplify: bounds are given for {key!r}; expected a symbol or its name"
            raise BoundsError(message)
        name = key if isinstance(key, str) else key.name
        old = self.bounds.get(name)
        self.bounds[name] = interval if old is None else old.intersect(interval)

    def scope(self, constraints: Iterable[tuple[sympy.Expr | int, IntervalLike]]) -> Scope | None:
        """The scope of the problem; ``None`` if no value is left to some variable."""
        if any(interval.is_empty for interval in self.bounds.values()):
            return None
        bounds: Bounds = tuple(sorted(self.bounds.items()))
        facts: Constraints = tuple(
            (from_sympy(form), Interval.of(interval)) for form, interval in constraints
        )
        if any(interval.is_empty for _, interval in facts):
            return None
        scope = scope_of(bounds, facts)
        return None if scope.is_empty else scope

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
