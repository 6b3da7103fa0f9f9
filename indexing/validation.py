"""What users make maps of, checked: complaints name the argument and say what was expected."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from indexing.domain import ROLES
from indexing.errors import MapError
from indexing.variable import GRID, Variable, interval_of, size_of
from simplifier.errors import quoted
from simplifier.expr.sympy_conversion import ConversionError, from_sympy

if TYPE_CHECKING:
    from collections.abc import Iterable

    import sympy

    from indexing.domain import ByRole, Constraint
    from simplifier.bounds.interval import IntervalLike
    from simplifier.expr.form import Form

T = TypeVar("T")

ByName: TypeAlias = "Mapping[str, T] | Mapping[sympy.Symbol, T]"
"""Something for each of some variables, by name or symbol."""


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


def read_roles(
    dims: Iterable[Variable], ranges: Iterable[Variable], runtime: Iterable[Variable]
) -> ByRole[Variable]:
    """The variables of all roles."""
    first, second, third = (
        tuple(read_variables(role, variables))
        for role, variables in zip(ROLES, (dims, ranges, runtime), strict=True)
    )
    return first, second, third


def read_sizes(argument: str, sizes: Iterable[int]) -> list[Variable]:
    """The variables that count so many elements each."""
    numbered = enumerate(_items(sizes, argument, "sizes"))
    places = ((size, f"IndexingMap: {argument}[{place}]") for place, size in numbered)
    return [Variable.of_size(size_of(size, place)) for size, place in places]


def read_grid(grid: Iterable[int]) -> list[Variable]:
    """The coordinates of a GPU launch of so many threads and blocks."""
    sizes = read_sizes("grid", grid)
    if len(sizes) != len(GRID):
        axes = ", ".join(kind.value for kind in GRID)
        raise MapError(f"IndexingMap: grid has {len(sizes)} sizes; expected {len(GRID)} ({axes})")
    return [Variable(size.bounds, kind=kind) for size, kind in zip(sizes, GRID, strict=True)]


def read_constraints(
    constraints: Iterable[tuple[sympy.Expr | int, IntervalLike]],
) -> list[Constraint]:
    """Forms, and the intervals that they must lie in."""
    pairs = _items(constraints, "constraints", "pairs of an expression and an interval")
    return [_read_constraint(pair, f"constraint {place}") for place, pair in enumerate(pairs)]


def read_names(names: ByName[T], where: str) -> dict[str, T]:
    """What is given for variables, by their names."""
    if not isinstance(names, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] - callers may be untyped
        raise MapError(f"{where}: {quoted(names)} is no mapping; expected one from names")
    return {str(name): given for name, given in names.items()}


def read_values(values: ByName[sympy.Expr | int], where: str) -> dict[str, Form]:
    """The forms of what is given for variables, by their names."""
    return {
        name: _read_expression(value, f"the value of {name}")
        for name, value in read_names(values, where).items()
    }


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
