"""What expressions and maps mean, said once more and as plainly as possible, to compare with."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from itertools import product
from random import Random
from typing import Any, Final, TypeAlias

import numpy as np
import sympy

from indexing import IndexingMap
from simplifier import Interval, NotQuasiAffineError, exact
from simplifier.canonical.scope import scope_of
from simplifier.expr.form import Atom, AtomKind, Form, postorder, variables_of
from simplifier.expr.operations import ON_BITS
from simplifier.expr.sympy import from_sympy
from simplifier.extraction import costs_of
from simplifier.extraction.width import divides_by_negative

Column: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"
Columns: TypeAlias = "dict[str, Column]"
"""One value of every variable for each point; if Python integers, nothing overflows."""

Bounds: TypeAlias = "dict[str, Interval]"
Constraints: TypeAlias = "list[tuple[sympy.Expr, Interval]]"

Pair: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]


def values_of(form: Form, points: Columns) -> tuple[Column, Column]:
    """The form's value at each point, and where it is defined: where no division meets 0.

    Of a choice only the branch that is chosen need be defined.
    """
    count = len(next(iter(points.values()))) if points else 1
    dtype = next(iter(points.values())).dtype if points else object
    known: dict[Atom, tuple[Column, Column]] = {}

    def value(part: Form) -> tuple[Column, Column]:
        total, defined = np.full(count, part.constant, dtype=dtype), np.ones(count, dtype=bool)
        for atom, factor in part.terms.items():
            total, defined = total + factor * known[atom][0], defined & known[atom][1]
        return total, defined

    for atom in postorder((form,)):
        found = [value(argument) for argument in atom.arguments]
        known[atom] = _value_of_atom(atom, found, points)
    return value(form)


def _value_of_atom(
    atom: Atom, found: list[tuple[Column, Column]], points: Columns
) -> tuple[Column, Column]:
    if atom.kind is AtomKind.VARIABLE:
        column = points[atom.name]
        return column, np.ones(len(column), dtype=bool)
    arguments = [column for column, _ in found]
    defined = np.logical_and.reduce([defined for _, defined in found])
    if atom.kind in _DIVISIONS:
        numerator, divisor = arguments
        is_zero = np.asarray(divisor == 0, dtype=bool)
        quotient = _DIVISIONS[atom.kind](numerator, np.where(is_zero, 1, divisor))
        return quotient, defined & ~is_zero
    if atom.kind is AtomKind.SELECT:
        (condition, is_decided), (_, first), (_, second) = found
        is_first = np.asarray(condition == 1, dtype=bool)
        return np.where(is_first, *arguments[1:]), is_decided & np.where(is_first, first, second)
    if atom.kind in _CONDITIONS:
        return np.asarray(_CONDITIONS[atom.kind](*arguments), dtype=arguments[0].dtype), defined
    return reduce(_FOLDS[atom.kind], arguments), defined


_DIVISIONS: Final[Mapping[AtomKind, Callable[[Any, Any], Any]]] = {
    AtomKind.FLOORDIV: lambda numerator, divisor: numerator // divisor,
    AtomKind.QUOTIENT: lambda numerator, divisor: numerator // divisor,
    AtomKind.MOD: lambda numerator, divisor: numerator % divisor,
    AtomKind.CEILDIV: lambda numerator, divisor: -(-numerator // divisor),
}


def _is_nonnegative(column: Column) -> Column:
    return np.where(column >= 0, 1, 0)


def _is_zero(column: Column) -> Column:
    return np.where(column == 0, 1, 0)


_CONDITIONS: Final[Mapping[AtomKind, Callable[..., Any]]] = {
    AtomKind.NONNEGATIVE: _is_nonnegative,
    AtomKind.ZERO: _is_zero,
    AtomKind.AND: lambda *values: reduce(np.minimum, values),
}
_FOLDS: Final[Mapping[AtomKind, Callable[[Any, Any], Any]]] = {
    AtomKind.MIN: np.minimum,
    AtomKind.MAX: np.maximum,
    AtomKind.PRODUCT: operator.mul,
    **ON_BITS,
}


def where(points: Columns, constraints: Iterable[tuple[Form, Interval]]) -> Columns:
    """The points that meet all constraints."""
    for form, interval in constraints:
        values, _ = values_of(form, points)
        inside = np.ones(len(values), dtype=bool)
        if interval.lower is not None:
            inside &= np.asarray(values >= interval.lower, dtype=bool)
        if interval.upper is not None:
            inside &= np.asarray(values <= interval.upper, dtype=bool)
        points = {name: column[inside] for name, column in points.items()}
    return points


def first_difference(a: Form, b: Form, points: Columns) -> dict[str, int] | None:
    """The first point where two forms differ and ``a`` is defined; ``None`` if they agree."""
    (left, is_defined), (right, stays_defined) = values_of(a, points), values_of(b, points)
    wrong = is_defined & ~(stays_defined & np.asarray(left == right, dtype=bool))
    if not wrong.any():
        return None
    place = int(wrong.argmax())
    return {name: int(column[place]) for name, column in points.items()}


def related(indexing_map: IndexingMap) -> set[Pair]:
    """All pairs of dims and results, straight from bounds, constraints and results.

    Parameters take all their values. Where bounds are open, because constraints imply them, those
    of the simplified map are taken.
    """
    if indexing_map.is_known_empty:
        return set()
    if indexing_map.parameters:
        names = [parameter.name for parameter in indexing_map.parameters]
        values = product(*(parameter.bounds for parameter in indexing_map.parameters))
        given = (dict(zip(names, each, strict=True)) for each in values)
        return {pair for each in given for pair in related(indexing_map.substitute(each))}
    domain = indexing_map.domain
    is_open = any(None in (each.bounds.lower, each.bounds.upper) for each in domain)
    bounded = indexing_map.simplify(preserve_ranges=True).domain if is_open else domain
    return pairs_at(indexing_map, where(every_point(bounded.bounds), domain.constraints))


def every_point(bounds: Bounds) -> Columns:
    rows = list(product(*bounds.values()))
    columns = np.array(rows, dtype=object).reshape(len(rows), len(bounds)).T
    return dict(zip(bounds, columns, strict=True))


def pairs_at(indexing_map: IndexingMap, points: Columns) -> set[Pair]:
    """The pairs of dims and results at some points."""
    dims = zip(*list(points.values())[: len(indexing_map.dims)], strict=True)
    results = zip(*(values_of(form, points)[0] for form in indexing_map.forms), strict=True)
    count = len(next(iter(points.values()))) if points else 1
    return {(next(dims, ()), tuple(map(int, next(results, ())))) for _ in range(count)}


def plain_range(form: Form, box: Mapping[str, Interval]) -> Interval:
    """Interval arithmetic on the expression as written: what any simplifier knows at least."""
    known: dict[Atom, Interval] = {}

    def value(part: Form) -> Interval:
        total = Interval(part.constant, part.constant)
        for atom, factor in part.terms.items():
            total = total + known[atom] * factor
        return total

    for atom in postorder((form,)):
        arguments = [value(argument) for argument in atom.arguments]
        known[atom] = (
            box[atom.name] if atom.kind is AtomKind.VARIABLE else _RANGES[atom.kind](*arguments)
        )
    return value(form)


def _range_of_mod(numerator: Interval, divisor: Interval) -> Interval:
    by = divisor.lower
    if by is None or not by or not divisor.is_point:
        return Interval(None, None)
    digits = Interval(0, by - 1) if by > 0 else Interval(by + 1, 0)
    return numerator if digits.contains(numerator) else digits


def _range_of_quotient(numerator: Interval, divisor: Interval) -> Interval:
    by = divisor.lower
    return numerator // by if by and divisor.is_point else Interval(None, None)


def _range_of_rounded_up(numerator: Interval, divisor: Interval) -> Interval:
    return -_range_of_quotient(-numerator, divisor)


_RANGES: Final[Mapping[AtomKind, Callable[..., Interval]]] = {
    AtomKind.FLOORDIV: _range_of_quotient,
    AtomKind.QUOTIENT: _range_of_quotient,
    AtomKind.CEILDIV: _range_of_rounded_up,
    AtomKind.MOD: _range_of_mod,
    AtomKind.MIN: lambda *arguments: reduce(Interval.min, arguments),
    AtomKind.MAX: lambda *arguments: reduce(Interval.max, arguments),
    AtomKind.PRODUCT: lambda *arguments: reduce(operator.mul, arguments),
}


def differing_point(
    a: sympy.Expr, b: sympy.Expr, bounds: Bounds, constraints: Constraints
) -> dict[str, int] | None:
    """A point where two expressions differ: isl's, or one of a sample where isl has no answer."""
    left, right = from_sympy(a), from_sympy(b)
    known = [(from_sympy(expression), interval) for expression, interval in constraints]
    try:
        return exact.differing_point(left, right, bounds, known)
    except NotQuasiAffineError:
        names = variables_of([left, right, *(form for form, _ in known)])
        points = where(sampled({*names, *bounds}, bounds), known)
        assert all(map(len, points.values())), "no point meets the constraints"
        return first_difference(left, right, points)


def sampled(names: Iterable[str], bounds: Bounds) -> Columns:
    """Random points, the same every time; unbounded variables near 0 or near their one bound."""
    random = Random(0)  # noqa: S311 - a sample, not a secret

    def value(interval: Interval) -> int:
        width = random.choice((2, 8, 40, 300, 5000))
        lower, upper = interval.lower, interval.upper
        if lower is None:
            lower = (upper or 0) - width
        return random.randint(lower, lower + 2 * width if upper is None else upper)

    intervals = {name: bounds.get(name, Interval(None, None)) for name in sorted(names)}
    return {
        name: np.array([value(interval) for _ in range(2000)], dtype=object)
        for name, interval in intervals.items()
    }


def cost_of_map(made: IndexingMap) -> int:
    """The cost of all results and constraints within the bounds of the map."""
    costs = costs_of(scope_of(tuple(made.domain.bounds.items())))
    return sum(map(costs.of, _formulas(made)))


def has_negative_divisor(made: IndexingMap) -> bool:
    return any(map(divides_by_negative, _formulas(made)))


def _formulas(made: IndexingMap) -> list[Form]:
    return [*made.forms, *(form for form, _ in made.domain.constraints)]
