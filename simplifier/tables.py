"""What depends on one variable of few values, decided by its values.

A sum of several operations on one variable, ``(x floordiv 3 - x mod 7) mod 18`` for ``x`` in
``[5, 7]``, is a table of a few integers. Where it rises by two kinds of steps, spread as evenly as
those of a fraction rounded down, it is ``a*x + (b - a)*floor((p*x + q)/r) + k``; where it changes
its slope once or twice, a sum of clamps; and either may be what a remainder leaves.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate, groupby, pairwise, product
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from simplifier import operations
from simplifier.budget import MOST_POINTS, MOST_VALUES
from simplifier.cost import cost_of_form
from simplifier.form import EXTREMA, ZERO, Atom, Form, Kind, combine, constant, postorder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from simplifier.interval import Interval


def decided(form: Form, bounds: Mapping[str, Interval], spelled: Callable[[Form], Form]) -> Form:
    """The form with a cheaper sum in place of each sum of one variable of few values.

    ``spelled`` writes a sum out in its cheapest spelling.
    """
    values: dict[Atom, Form] = {}
    for atom in postorder((form,)):
        arguments = tuple(
            _shortened(combine(argument, values), bounds, spelled) for argument in atom.arguments
        )
        values[atom] = operations.rebuilt(atom, arguments)
    return _shortened(combine(form, values), bounds, spelled)


def without_idle_parts(form: Form, bounds: Mapping[str, Interval]) -> Form:
    """The form less operands of extrema, and remainders, that make no difference at any point.

    Only where there is an extremum, and the box of its variables has few points.
    """
    inside = postorder((form,))
    if not any(atom.kind in EXTREMA for atom in inside):
        return form
    points = _points(inside, bounds)
    for atom in reversed(inside) if points else ():
        for less in _less(atom):
            shorter = operations.replace(form, {atom: less})
            if cost_of_form(shorter) < cost_of_form(form) and _agree(form, shorter, points):
                return without_idle_parts(shorter, bounds)
    return form


def _points(inside: Sequence[Atom], bounds: Mapping[str, Interval]) -> list[dict[Atom, int]]:
    """All points of the box; none where they are many, or some operation cannot be evaluated."""
    if not all(atom.kind in _EVALUATED or atom.divisor for atom in inside):
        return []
    variables = [atom for atom in inside if atom.kind is Kind.VARIABLE]
    places = [_places(bounds[atom.name]) if atom.name in bounds else None for atom in variables]
    known = [place for place in places if place is not None]
    if len(known) < len(variables) or prod(map(len, known)) > MOST_POINTS:
        return []
    return [dict(zip(variables, point, strict=True)) for point in product(*known)]


def _less(atom: Atom) -> Iterator[Form]:
    """The operation without one of its operands, or what a remainder is of."""
    if atom.kind in EXTREMA:
        for operand in atom.arguments:
            others = [other for other in atom.arguments if other is not operand]
            yield operations.build(atom.kind, tuple(others))
    elif atom.kind is Kind.MOD:
        yield atom.numerator


def _agree(left: Form, right: Form, points: Sequence[Mapping[Atom, int]]) -> bool:
    return all(_value(left, point) == _value(right, point) for point in points)


def _shortened(form: Form, bounds: Mapping[str, Interval], spelled: Callable[[Form], Form]) -> Form:
    for variable, terms in _parts(form).items():
        interval = bounds.get(variable.name)
        places = _places(interval) if interval is not None else None
        if places is None:
            continue
        part = Form(form.constant, terms)
        rest = Form(0, {atom: n for atom, n in form.terms.items() if atom not in terms})
        table = [_value(part, {variable: place}) for place in places]
        for template in _templates(table, variable, places.start):
            shorter = rest.plus(spelled(template))
            if cost_of_form(shorter) < cost_of_form(form):
                form = shorter
    return form


def _places(interval: Interval) -> range | None:
    """The values of a variable, if they are few."""
    lower, upper = interval.ends
    if isinstance(lower, int) and isinstance(upper, int) and 0 < upper - lower < MOST_VALUES:
        return range(lower, upper + 1)
    return None


def _parts(form: Form) -> dict[Atom, dict[Atom, int]]:
    """The terms that depend on one variable alone, where they hold several operations."""
    parts: dict[Atom, dict[Atom, int]] = {}
    for atom, factor in form.terms.items():
        variable = _only_variable(atom)
        if variable is not None:
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
    if len(variables) == 1 and all(inner.kind in _EVALUATED or inner.divisor for inner in inside):
        return variables[0]
    return None


_EVALUATED = (Kind.VARIABLE, *EXTREMA)


def _value(form: Form, point: Mapping[Atom, int]) -> int:
    known = dict(point)
    for atom in postorder((form,), skip=known.__contains__):
        operands = [_sum(argument, known) for argument in atom.arguments]
        known[atom] = _OPERATIONS[atom.kind](operands)
    return _sum(form, known)


def _sum(form: Form, known: Mapping[Atom, int]) -> int:
    return form.constant + sum(factor * known[atom] for atom, factor in form.terms.items())


_OPERATIONS: Mapping[Kind, Callable[[Sequence[int]], int]] = {
    Kind.FLOORDIV: lambda operands: operands[0] // operands[1],
    Kind.CEILDIV: lambda operands: -(-operands[0] // operands[1]),
    Kind.MOD: lambda operands: operands[0] % operands[1],
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
    low, high = _slopes(stairs)
    if low >= high:
        return None
    slope = _simplest_between(low, high)
    rise, run = slope.numerator, slope.denominator
    offsets = [run * value - rise * place for place, value in enumerate(stairs)]
    least, most = max(offsets), min(offsets) + run - 1
    return Line(rise, 0 if least <= 0 <= most else least, run) if least <= most else None


def _slopes(stairs: Sequence[int]) -> tuple[Fraction, Fraction]:
    """Between which slopes a line may have that rounded down has these values."""
    low, high = Fraction(-1), Fraction(2)
    for distance in range(1, len(stairs)):
        rises = [after - before for before, after in zip(stairs, stairs[distance:], strict=False)]
        low = max(low, Fraction(max(rises) - 1, distance))
        high = min(high, Fraction(min(rises) + 1, distance))
    return low, high


def _simplest_between(low: Fraction, high: Fraction) -> Fraction:
    """The fraction with the least denominator strictly between two (Stern, Brocot)."""
    run = 1
    while True:
        rise = low.numerator * run // low.denominator + 1
        if Fraction(rise, run) < high:
            return Fraction(rise, run)
        run += 1
