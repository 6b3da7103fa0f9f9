"""What users make maps of, checked: complaints name the argument and say what was expected."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from indexing.errors import MapError
from indexing.variable import Variable, interval_of, size_of
from simplifier.convert import ConversionError, from_sympy
from simplifier.errors import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable

    import sympy

    from indexing.domain import Constraint
    from simplifier.form import Form
    from simplifier.interval import IntervalLike

T = TypeVar("T")


def read_results(results: Iterable[sympy.Expr | int]) -> list[Form]:
    """The forms of the results."""
    numbered = enumerate(_items(results, "results", "expressions"))
    return [_read_expression(result, f"result {place}") for place, result in numbered]


def read_variables(argument: str, variables: Iterable[Variable]) -> list[Variable]:
    """The variables of one role."""
    read = _items(variables, argument, "Variables")
    for place, variable in enumerate(read):
        if not isinstance(variable, Variable):  # pyright: ignore[reportUnnecessaryIsInstance] - callers may be untyped
            complaint = f"{argument}[{place}] is {quoted(variable)}; expected a Variable"
            raise MapError(f"IndexingMap: {complaint}")
    return read


def read_sizes(argument: str, sizes: Iterable[int]) -> list[Variable]:
    """The variables that count so many elements each."""
    numbered = enumerate(_items(sizes, argument, "sizes"))
    places = ((size, f"IndexingMap: {argument}[{place}]") for place, size in numbered)
    return [Variable.of_size(size_of(size, place)) for size, place in places]


def read_constraints(
    constraints: Iterable[tuple[sympy.Expr | int, IntervalLike]],
) -> list[Constraint]:
    """Forms, and the intervals that they must lie in."""
    pairs = _items(constraints, "constraints", "pairs of an expression and an interval")
    return [_read_constraint(pair, f"constraint {place}") for place, pair in enumerate(pairs)]


def _read_constraint(pair: tuple[sympy.Expr | int, IntervalLike], place: str) -> Constraint:
    if not isinstance(pair, tuple | list) or len(pair) != 2:  # noqa: PLR2004 # pyright: ignore[reportUnnecessaryIsInstance] - a pair; callers may be untyped
        complaint = f"{place} is {quoted(pair)}; expected a pair of an expression and an interval"
        raise MapError(f"IndexingMap: {complaint}")
    expression, interval = pair
    within = interval_of(interval, f"IndexingMap: interval of {place}")
    return _read_expression(expression, place), within


def _read_expression(expression: sympy.Expr | int, place: str) -> Form:
    try:
        return from_sympy(expression)
    except ConversionError as error:
        error.add_note(f"IndexingMap: in {place}")
        raise


def _items(values: Iterable[T], argument: str, expected: str) -> list[T]:
    """The values one by one; a text is no sequence of anything."""
    if isinstance(values, str) or not hasattr(values, "__iter__"):
        complaint = f"{argument} is {quoted(values)}; expected a sequence of {expected}"
        raise MapError(f"IndexingMap: {complaint}")
    return list(values)
