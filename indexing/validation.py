"""Checks and conversions of arguments; errors name the argument and the expected value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias, TypeVar, cast

import simplifier
from indexing.domain import ROLES, ByRole, Constraint, Domain, Ends, limits
from indexing.errors import MapError
from indexing.variable import (
    GRID,
    Bounds,
    Variable,
    check_parameters,
    counted,
    interval_of,
    is_symbolic,
    over_parameters,
    parameter_of,
    size_of,
    united,
)
from simplifier import forms
from simplifier.errors import listed, quoted
from simplifier.forms import ExpressionLexer, Form, Interval, IntervalLike
from simplifier.tools.late import sympy

T = TypeVar("T")

Boolean: TypeAlias = "sympy.logic.boolalg.Boolean"
"""A condition of sympy."""

Condition: TypeAlias = Any
"""A constraint: an expression and the interval it must lie in, or a condition that holds.

Type checkers know no type of sympy's ``Eq(a, b)``.
"""

Parameter: TypeAlias = "Variable | sympy.Symbol"
"""A parameter: its bounds and name, or a symbol, whose assumptions are its bounds."""

Size: TypeAlias = "sympy.Expr | int"
"""A size: a number, or an expression over parameters."""

Results: TypeAlias = "Iterable[sympy.Expr | int | str] | str"
"""Results: expressions or their texts, or one text with commas."""

Variables: TypeAlias = "Iterable[Variable] | Mapping[str, Bounds | Size | Variable]"
"""The variables of a role: in order, or bounds and sizes by name."""

Sizes: TypeAlias = "Iterable[Size] | Mapping[str, Size]"
"""Sizes: in order, or by name."""

ByName: TypeAlias = "Mapping[Any, T]"
"""A value for each of some variables, by name or symbol, or by both."""


def read_results(results: Results, domain: Domain) -> Sequence[Form]:
    """The forms of the results: of expressions, of texts, or of one text with commas.

    They are in the reader's names. A fraction may stand where it is an integer in the domain.
    """
    if isinstance(results, str):
        return _read_text_of_results(results)
    numbered = enumerate(_items(results, "results", "expressions"))
    return [_read_result(result, domain, f"result {position}") for position, result in numbered]


def _read_result(expression: sympy.Expr | Boolean | int | str, domain: Domain, where: str) -> Form:
    if isinstance(expression, str | int):
        return _read_expression(expression, where)
    reading = _read(lambda: forms.read(expression), where)
    if reading.fractions:
        named = dict(zip(domain.names, domain.bounds.values(), strict=True))
        known = tuple((domain.named(form), interval) for form, interval in domain.constraints)
        scope = forms.scope_of(tuple(sorted(named.items())), known)
        for fraction in () if scope.is_empty else reading.fractions:
            if not forms.is_multiple(scope, fraction.numerator, fraction.divisor):
                raise _noted(reading.objection(fraction), where)
    return reading.form


def _read_text_of_results(text: str) -> Sequence[Form]:
    lexer = ExpressionLexer(text)
    read = lexer.joined(lambda: forms.read_expression(lexer)) if lexer.text else ()
    lexer.finish()
    return read


def read_variables(argument: str, variables: Variables) -> list[Variable]:
    """The variables of one role, such as ``dims``; a mapping gives bounds or sizes by name."""
    if isinstance(variables, Mapping):
        by_name = cast("Mapping[str, Bounds | Size | Variable]", variables)
        return [_named_variable(argument, str(name), by_name[name]) for name in by_name]
    return _checked(_items(variables, argument, "Variables"), argument, "a Variable")


def _checked(variables: list[Variable], argument: str, expected: str) -> list[Variable]:
    """The variables, which callers without types may not have given."""
    for position, variable in enumerate(variables):
        if not isinstance(variable, Variable):  # pyright: ignore[reportUnnecessaryIsInstance] - callers may be untyped
            message = f"{argument}[{position}] is {quoted(variable)}; expected {expected}"
            raise MapError(f"IndexingMap: {message}")
    return variables


def _named_variable(argument: str, name: str, given: Bounds | Size | Variable) -> Variable:
    """A variable with this name: of a size, or within bounds."""
    if isinstance(given, Variable):
        return given.called(name)
    if isinstance(given, tuple | Interval):
        return Variable(given, name)
    return _of_size(cast("Size", given), f"{argument}[{name!r}]", name)


def _of_size(size: Size, where: str, name: str = "") -> Variable:
    count = size if is_symbolic(size) else size_of(size, f"IndexingMap: {where}")
    return Variable.of_size(count, name)


def read_domain(
    dims: Variables,
    ranges: Variables = (),
    runtime: Variables = (),
    parameters: Iterable[Parameter] = (),
) -> Domain:
    """The domain of the variables, with constraints for the ends that are over parameters."""
    domain = Domain.of(*read_roles(dims, ranges, runtime))
    declared = read_parameters(parameters)
    if not declared and all(variable.ends is None for variable in domain):
        return domain
    constraints: list[Constraint] = []
    for identifier, variable in zip(domain.identifiers, domain, strict=True):
        lower, upper = (over_parameters(end) for end in variable.ends or (None, None))
        declared += (*lower.parameters, *upper.parameters)
        constraints += limits(forms.variable(identifier), Ends(lower.form, upper.form))[1]
    named = united(declared)
    check_parameters(named, "IndexingMap")
    for identifier in {parameter.name for parameter in named}.intersection(domain.identifiers):
        message = f"the parameter {identifier} is called as a variable is by its position"
        raise MapError(f"IndexingMap: {message}; expected another name")
    numbers = domain.with_variables(variable.within(variable.bounds) for variable in domain)
    return replace(numbers, parameters=named).constrained(constraints)


def read_parameters(parameters: Iterable[Parameter]) -> list[Variable]:
    """Parameters: variables with names, or symbols, whose assumptions are their bounds."""
    read = [
        parameter_of(given)
        if not isinstance(given, Variable) and isinstance(given, sympy.Symbol)  # pyright: ignore[reportUnnecessaryIsInstance] - callers may be untyped
        else given
        for given in _items(parameters, "parameters", "Variables or symbols")
    ]
    check_parameters(_checked(read, "parameters", "a Variable or a symbol"), "IndexingMap")
    return read


def read_roles(dims: Variables, ranges: Variables, runtime: Variables) -> ByRole[Variable]:
    """The variables of all roles."""
    given = zip(ROLES, (dims, ranges, runtime), strict=True)
    first, second, third = (tuple(read_variables(*each)) for each in given)
    return first, second, third


def read_sizes(argument: str, sizes: Sizes) -> list[Variable]:
    """One variable for each size; a mapping gives sizes by name."""
    if isinstance(sizes, Mapping):
        return read_variables(argument, cast("Variables", sizes))
    numbered = enumerate(_items(sizes, argument, "sizes"))
    return [_of_size(size, f"{argument}[{position}]") for position, size in numbered]


def counted_parameters(variables: Iterable[Variable]) -> tuple[Variable, ...]:
    """The parameters in sizes, with the bounds that follow from these not being negative."""
    lasts = (over_parameters(variable.ends[1]).form for variable in variables if variable.ends)
    return united(parameter for last in lasts if last for parameter in counted(last + 1))


def read_grid(grid: Iterable[int]) -> list[Variable]:
    """The coordinates of a GPU launch: threads in x, y, z, then blocks."""
    sizes = read_sizes("grid", grid)
    if len(sizes) != len(GRID):
        axes = ", ".join(kind.value for kind in GRID)
        raise MapError(f"IndexingMap: grid has {len(sizes)} sizes; expected {len(GRID)} ({axes})")
    return [Variable(size.bounds, kind=kind) for size, kind in zip(sizes, GRID, strict=True)]


def read_constraints(constraints: Iterable[Condition]) -> list[Constraint]:
    """The constraints: forms, and the intervals that they must lie in."""
    expected = "pairs of an expression and an interval, or conditions"
    given = _items(constraints, "constraints", expected)
    facts = (_read_constraint(each, f"constraint {place}") for place, each in enumerate(given))
    return [constraint for fact in facts for constraint in fact]


def in_order(given: Sequence[T] | ByName[T], names: Sequence[str], where: str) -> Sequence[T]:
    """The values in the order of these names: given so, or by name or symbol.

    >>> in_order({"d1": 8, "d0": 4}, ["d0", "d1"], "sizes")
    [4, 8]
    """
    if not isinstance(given, Mapping):
        return given
    by_name = read_names(given, where)
    if {*by_name} != {*names}:
        message = f"{where}: values of {listed([*by_name])} are given"
        raise MapError(f"{message}; expected one for each of {listed(names)}")
    return [by_name[name] for name in names]


def read_names(names: ByName[T], where: str) -> dict[str, T]:
    """The values by the names of the variables."""
    if not isinstance(names, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] - callers may be untyped
        raise MapError(f"{where}: {quoted(names)} is no mapping; expected one from names")
    return {str(name): given for name, given in names.items()}


def read_values(values: ByName[sympy.Expr | int | str], where: str) -> dict[str, Form]:
    """The values as forms, by the names of the variables."""
    given = read_names(values, where).items()
    return {name: _read_expression(value, f"the value of {name}") for name, value in given}


def read_constraint(
    expression: sympy.Expr | Boolean | int | str, interval: IntervalLike | None
) -> Sequence[Constraint]:
    """A constraint: an expression and its interval, or a condition that holds."""
    if interval is not None:
        return _read_pair(expression, interval, "constraint 0")
    condition = _read_condition(expression, "constraint 0")
    if condition is None:
        message = f"with_constraint: {quoted(expression)} has no interval"
        raise MapError(f"{message}; expected one, or a condition such as d0 < 5")
    return condition


def _read_constraint(
    given: tuple[sympy.Expr | int | str, IntervalLike] | Boolean | bool | str,  # noqa: FBT001 - a condition
    where: str,
) -> Sequence[Constraint]:
    """The constraints in a pair, or in a condition that holds."""
    condition = _read_condition(given, where)
    if condition is not None:
        return condition
    if not isinstance(given, tuple | list) or len(given) != 2:  # noqa: PLR2004 # pyright: ignore[reportUnnecessaryIsInstance] - a pair; callers may be untyped
        message = f"{where} is {quoted(given)}; expected a pair of an expression and an interval"
        raise MapError(f"IndexingMap: {message}, or a condition")
    return _read_pair(*given, where)


def _read_condition(given: object, where: str) -> Sequence[Constraint] | None:
    """The constraints in a condition or its text; ``None`` if it is none."""
    if isinstance(given, str):
        form = forms.parse_form(given)
        return forms.facts_of(form) if forms.is_condition(form) else None
    if isinstance(given, tuple | list) or not forms.is_relation(given):
        return None
    return forms.facts_of(_read_expression(forms.relation_of(given), where))


def _read_pair(
    expression: sympy.Expr | Boolean | int | str, interval: IntervalLike, where: str
) -> Sequence[Constraint]:
    within = interval_of(interval, f"IndexingMap: interval of {where}")
    return forms.read_fact(_read_expression(expression, where), within)


def _read_expression(expression: sympy.Expr | Boolean | int | str, where: str) -> Form:
    if isinstance(expression, str):
        return forms.parse_form(expression)
    if isinstance(expression, int) and not isinstance(expression, bool):
        return forms.constant(expression)
    return _read(lambda: forms.from_sympy(expression), where)


def _read(ask: Callable[[], T], where: str) -> T:
    """The value read, or an error with a note on its place."""
    try:
        return ask()
    except simplifier.ConversionError as error:
        raise _noted(error, where) from None


def _noted(error: simplifier.ConversionError, where: str) -> simplifier.ConversionError:
    error.add_note(f"IndexingMap: in {where}")
    return error


def _items(values: Iterable[T], argument: str, expected: str) -> list[T]:
    """The values as a list; a string is no sequence here."""
    if not is_sequence(values):
        message = f"{argument} is {quoted(values)}; expected a sequence of {expected}"
        raise MapError(f"IndexingMap: {message}")
    return list(values)


def is_sequence(values: object) -> bool:
    """Whether a value has several: neither a string nor an array without dimensions has."""
    is_one = isinstance(values, str) or getattr(values, "ndim", 1) == 0
    return hasattr(values, "__iter__") and not is_one
