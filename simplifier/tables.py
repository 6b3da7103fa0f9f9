"""What depends on one variable of few values, decided by its values.

A sum of several operations on one variable, ``(x floordiv 3 - x mod 7) mod 18`` for ``x`` in
``[5, 7]``, is a table of a few integers. Where it rises by two kinds of steps, spread as evenly as
those of a fraction rounded down, it is ``a*x + (b - a)*floor((p*x + q)/r) + k``; where it changes
its slope once or twice, a sum of clamps; and either may be what a remainder leaves.
"""

from __future__ import annotations

from itertools import accumulate, groupby, pairwise, product
from math import prod
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from simplifier.expr import operations
from simplifier.expr.form import EXTREMA, ZERO, Atom, Form, Kind, combine, constant, postorder
from simplifier.extraction.cost import cost_of_form
from simplifier.limits import MOST_POINTS, MOST_VALUES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from simplifier.bounds.interval import Interval

    Columns: TypeAlias = Mapping[Atom, Sequence[int]]
    """The values of atoms at one point after the other."""


def decided(form: Form, bounds: Mapping[str, Interval], spelled: Callable[[Form], Form]) -> Form:
    """The form with a cheaper sum in place of each sum of one variable of few values.

    ``spelled`` writes a sum out in its cheapest spelling.
    """
    inside = postorder((form,))
    deciding = _Deciding(bounds)
    if not deciding.are_several_in(form) and not any(
        map(deciding.are_several_in, (part for atom in inside for part in atom.arguments))
    ):
        return form
    values: dict[Atom, Form] = {}
    for atom in inside:
        arguments = tuple(
            _shortened(combine(argument, values), deciding, spelled) for argument in atom.arguments
        )
        values[atom] = operations.rebuilt(atom, arguments)
    return _shortened(combine(form, values), deciding, spelled)


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


class _Deciding(dict[Atom, "Atom | None"]):
    """The variable of few values that decides an atom, if one does."""

    def __init__(self, bounds: Mapping[str, Interval]) -> None:
        super().__init__()
        self._bounds = bounds

    def __missing__(self, atom: Atom) -> Atom | None:
        found = None
        if atom.kind is Kind.VARIABLE:
            found = atom if self.places(atom) else None
        elif _is_evaluated(atom):
            inner = {self[inner] for argument in atom.arguments for inner in argument.terms}
            found = inner.pop() if len(inner) == 1 else None
        self[atom] = found
        return found

    def places(self, variable: Atom) -> Sequence[int]:
        """The values of a variable, if they are few."""
        return _places(self._bounds.get(variable.name))

    def are_several_in(self, form: Form) -> bool:
        """Whether one variable decides a part of a sum that holds several operations."""
        return _are_several(form.terms) and bool(self.parts(form))

    def parts(self, form: Form) -> dict[Atom, dict[Atom, int]]:
        """The terms of a sum that one variable decides, where they hold several operations."""
        parts: dict[Atom, dict[Atom, int]] = {}
        for atom, factor in form.terms.items():
            variable = self[atom]
            if variable is not None:
                parts.setdefault(variable, {})[atom] = factor
        return {variable: terms for variable, terms in parts.items() if _are_several(terms)}


def _are_several(terms: Iterable[Atom]) -> bool:
    """Whether there is more than one operation in the terms."""
    count = 0
    for atom in terms:
        count += (atom.depth > 0) + (atom.depth > 1)
    return count > 1


def _shortened(form: Form, deciding: _Deciding, spelled: Callable[[Form], Form]) -> Form:
    """The sum with a cheaper one in place of the part that one variable decides."""
    if form.is_affine:
        return form
    for variable, terms in deciding.parts(form).items():
        places = deciding.places(variable)
        part = Form(form.constant, terms)
        rest = Form(0, {atom: n for atom, n in form.terms.items() if atom not in terms})
        table = _tabulated(part, {variable: places})
        for template in _templates(table, variable, places[0]):
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


def _rounded_up(numerator: int, divisor: int) -> int:
    return -(-numerator // divisor)


_OPERATIONS: Mapping[Kind, Callable[..., int]] = {
    Kind.FLOORDIV: int.__floordiv__,
    Kind.CEILDIV: _rounded_up,
    Kind.MOD: int.__mod__,
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
    low, high = (-1, 1), (2, 1)
    while _is_less(low, high):
        rise, run = _simplest_between(low, high)
        offsets = [run * value - rise * place for place, value in enumerate(stairs)]
        least, most = max(offsets), min(offsets) + run - 1
        if least <= most:
            return Line(rise, 0 if least <= 0 <= most else least, run)
        # The two places that are furthest from each other's line tell which slopes are left.
        upper, lower = offsets.index(least), offsets.index(min(offsets))
        rise, run = stairs[upper] - stairs[lower] - 1, upper - lower
        if run > 0:
            low = rise, run
        else:
            high = -rise, -run
    return None


Slope: TypeAlias = tuple[int, int]
"""Rise and run."""


def _simplest_between(low: Slope, high: Slope) -> Slope:
    """The slope of the shortest run strictly between two (Stern, Brocot)."""
    run = 1
    while not _is_less(slope := (low[0] * run // low[1] + 1, run), high):
        run += 1
    return slope


def _is_less(left: Slope, right: Slope) -> bool:
    return left[0] * right[1] < right[0] * left[1]
