"""What depends on one variable of few values, decided by its values.

A sum of several operations on one variable, ``(x floordiv 3 - x mod 7) mod 18`` for ``x`` in
``[5, 7]``, is a table of a few integers. Where it rises by two kinds of steps, spread as evenly as
those of a fraction rounded down, it is ``a*x + (b - a)*floor((p*x + q)/r) + k``; where it changes
its slope once or twice, a sum of clamps; and either may be what a remainder leaves.
"""

from __future__ import annotations

import operator
from fractions import Fraction
from itertools import accumulate, groupby, pairwise, product
from math import prod
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from simplifier import operations
from simplifier.budget import MOST_POINTS, MOST_VALUES
from simplifier.cost import cost_of_form
from simplifier.form import EXTREMA, ZERO, Atom, Form, Kind, combine, constant, postorder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from simplifier.interval import Interval

    Columns: TypeAlias = Mapping[Atom, Sequence[int]]
    """The values of atoms at one point after the other."""


def decided(form: Form, bounds: Mapping[str, Interval], spelled: Callable[[Form], Form]) -> Form:
    """The form with a cheaper sum in place of each sum of one variable of few values.

    ``spelled`` writes a sum out in its cheapest spelling.
    """
    inside = postorder((form,))
    places = {atom: _places(bounds.get(atom.name)) for atom in inside if atom.kind is Kind.VARIABLE}
    if not any(places.values()):
        return form
    values: dict[Atom, Form] = {}
    for atom in inside:
        arguments = tuple(
            _shortened(combine(argument, values), places, spelled) for argument in atom.arguments
        )
        values[atom] = operations.rebuilt(atom, arguments)
    return _shortened(combine(form, values), places, spelled)


def without_idle_parts(form: Form, bounds: Mapping[str, Interval]) -> Form:
    """The form less operands of extrema, and remainders, that make no difference at any point.

    Only where there is an extremum, and the box of its variables has few points.
    """
    inside = postorder((form,))
    if not any(atom.kind in EXTREMA for atom in inside):
        return form
    points = _points(inside, bounds)
    if points is None:
        return form
    known = _tabulated(form, points)
    for atom in reversed(inside):
        for less in _less(atom):
            shorter = operations.replace(form, {atom: less})
            if cost_of_form(shorter) < cost_of_form(form) and _tabulated(shorter, points) == known:
                return without_idle_parts(shorter, bounds)
    return form


def _points(inside: Sequence[Atom], bounds: Mapping[str, Interval]) -> Columns | None:
    """The variables at all points of the box, if these are few and everything can be evaluated."""
    if not all(map(_is_evaluated, inside)):
        return None
    variables = [atom for atom in inside if atom.kind is Kind.VARIABLE]
    places = [_places(bounds.get(atom.name)) for atom in variables]
    if not all(places) or prod(map(len, places)) > MOST_POINTS:
        return None
    return dict(zip(variables, zip(*product(*places), strict=True), strict=True))


def _less(atom: Atom) -> Iterator[Form]:
    """The operation without one of its operands, or what a remainder is of."""
    if atom.kind in EXTREMA:
        for operand in atom.arguments:
            others = [other for other in atom.arguments if other is not operand]
            yield operations.build(atom.kind, tuple(others))
    elif atom.kind is Kind.MOD:
        yield atom.numerator


def _shortened(
    form: Form, places: Mapping[Atom, Sequence[int]], spelled: Callable[[Form], Form]
) -> Form:
    """The sum with a cheaper one in place of the part that one variable decides."""
    for variable, terms in _parts(form, places).items():
        part = Form(form.constant, terms)
        rest = Form(0, {atom: n for atom, n in form.terms.items() if atom not in terms})
        table = _tabulated(part, {variable: places[variable]})
        for template in _templates(table, variable, places[variable][0]):
            shorter = rest.plus(spelled(template))
            if cost_of_form(shorter) < cost_of_form(form):
                form = shorter
    return form


def _places(interval: Interval | None) -> Sequence[int]:
    """The values of a variable, if it has several, but few."""
    lower, upper = (None, None) if interval is None else interval.ends
    if isinstance(lower, int) and isinstance(upper, int) and 0 < upper - lower < MOST_VALUES:
        return range(lower, upper + 1)
    return ()


def _parts(form: Form, places: Mapping[Atom, Sequence[int]]) -> dict[Atom, dict[Atom, int]]:
    """The terms that one variable of few values decides, where they hold several operations."""
    parts: dict[Atom, dict[Atom, int]] = {}
    for atom, factor in form.terms.items():
        variable = _only_variable(atom)
        if variable is not None and places.get(variable):
            parts.setdefault(variable, {})[atom] = factor
    return {
        variable: terms
        for variable, terms in parts.items()
        if len(postorder((Form(0, terms),))) > 2  # noqa: PLR2004 - the variable, one operation
    }


def _only_variable(atom: Atom) -> Atom | None:
    """The variable that decides an atom made of operations that can be evaluated."""
    inside = postorder((Form(0, {atom: 1}),))
    variables = [inner for inner in inside if inner.kind is Kind.VARIABLE]
    return variables[0] if len(variables) == 1 and all(map(_is_evaluated, inside)) else None


def _is_evaluated(atom: Atom) -> bool:
    return atom.kind is Kind.VARIABLE or atom.kind in EXTREMA or atom.divisor != 0


def _tabulated(form: Form, columns: Columns) -> list[int]:
    """The values of a form where its variables have those of the columns, one after the other."""
    known = dict(columns)
    for atom in postorder((form,), skip=known.__contains__):
        operands = [_added(argument, known) for argument in atom.arguments]
        known[atom] = list(map(_OPERATIONS[atom.kind], *operands))
    return _added(form, known)


def _added(form: Form, columns: Columns) -> list[int]:
    total = [form.constant] * len(next(iter(columns.values())))
    for atom, factor in form.terms.items():
        total = [before + factor * n for before, n in zip(total, columns[atom], strict=True)]
    return total


_OPERATIONS: Mapping[Kind, Callable[..., int]] = {
    Kind.FLOORDIV: operator.floordiv,
    Kind.CEILDIV: lambda numerator, divisor: -(-numerator // divisor),
    Kind.MOD: operator.mod,
    Kind.MIN: min,
    Kind.MAX: max,
}


def _templates(table: Sequence[int], variable: Atom, start: int) -> Iterator[Form]:
    """Sums with these values, for the variable from ``start`` on."""
    yield from _graphs(table, variable, start)
    least = min(table)
    period = max(table) - least + 1
    steps = {(after - before) % period for before, after in pairwise(table)}
    if period > 1 and len(steps) <= 2:  # noqa: PLR2004 - a step and another one
        nearest = {step: step if 2 * step <= period else step - period for step in steps}
        rises = [nearest[(after - before) % period] for before, after in pairwise(table)]
        unrolled = list(accumulate(rises, initial=table[0] - least))
        if unrolled != [value - least for value in table]:
            for graph in _graphs(unrolled, variable, start):
                yield operations.mod(graph, constant(period)).plus_constant(least)


def _graphs(table: Sequence[int], variable: Atom, start: int) -> Iterator[Form]:
    """Sums without a remainder."""
    steps = [after - before for before, after in pairwise(table)]
    slopes = sorted(set(steps), key=abs)
    place = Form(-start, {variable: 1})
    if len(slopes) <= 2:  # noqa: PLR2004 - a step and another one
        for usual, other in ((slopes[0], slopes[-1]), (slopes[-1], slopes[0])):
            stairs = list(accumulate((step != usual for step in steps), initial=0))
            line = _staircase(stairs)
            if line is not None:
                rise = line.at(place).times(other - usual)
                yield place.times(usual).plus(rise).plus_constant(table[0])
    runs = [(slope, len(list(run))) for slope, run in groupby(steps)]
    if len(runs) <= _MOST_RUNS:
        yield _bent(runs, place).plus_constant(table[0])


_MOST_RUNS = 3


def _bent(runs: Sequence[tuple[int, int]], place: Form) -> Form:
    """A broken line from 0 on, as a sum of clamps."""
    total, slope, reached = ZERO, 0, 0
    for steeper, length in runs:
        beyond = place.plus_constant(-reached)
        clamp = operations.maximum((ZERO, beyond)) if reached else beyond
        total = total.plus(clamp, steeper - slope)
        slope, reached = steeper, reached + length
    return total


class Line(NamedTuple):
    """``floor((rise*x + offset)/run)``."""

    rise: int
    offset: int
    run: int

    def at(self, place: Form) -> Form:
        """The stairs over a place."""
        return operations.floordiv(
            place.times(self.rise).plus_constant(self.offset), constant(self.run)
        )


def _staircase(stairs: Sequence[int]) -> Line | None:
    """A line that rounded down has these values at 0, 1, 2, ...: none, or the simplest slope.

    ``S(x) = floor(s*x + t)`` for some ``t`` exactly where every two values differ by less than 1
    from ``s`` times the distance of their places.
    """
    between = _slopes(stairs)
    if between is None:
        return None
    slope = _simplest_between(*between)
    rise, run = slope.numerator, slope.denominator
    offsets = [run * value - rise * place for place, value in enumerate(stairs)]
    least, most = max(offsets), min(offsets) + run - 1
    return Line(rise, 0 if least <= 0 <= most else least, run) if least <= most else None


def _slopes(stairs: Sequence[int]) -> tuple[Fraction, Fraction] | None:
    """Between which slopes a line may have that rounded down has these values, if there are any."""
    low, high = Fraction(-1), Fraction(2)
    for distance in range(1, len(stairs)):
        rises = list(map(operator.sub, stairs[distance:], stairs))
        low = max(low, Fraction(max(rises) - 1, distance))
        high = min(high, Fraction(min(rises) + 1, distance))
        if low >= high:
            return None
    return low, high


def _simplest_between(low: Fraction, high: Fraction) -> Fraction:
    """The fraction with the least denominator strictly between two (Stern, Brocot)."""
    run = 1
    while True:
        rise = low.numerator * run // low.denominator + 1
        if Fraction(rise, run) < high:
            return Fraction(rise, run)
        run += 1
