"""The results of a map as sums of digits: of variables, and of sums that are split again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import pairwise, permutations, starmap
from math import gcd, prod
from sys import maxsize
from typing import Final, NamedTuple, TypeAlias

from indexing.domain import Constraint
from indexing.errors import TileError
from indexing.simplify.smallest import VariableDigit, digit_of
from indexing.tile.constraints import Clause, TileAxis, TileConstraints
from simplifier import forms
from simplifier.errors import listed
from simplifier.forms import EXTREMA, VARIABLE, Atom, AtomKind, Form, Interval, Scope
from simplifier.tools.graphs import connected_components

# Digits of variables in results, and at which sizes a tile is a box of digits.
#
# `(v + shift) floordiv weight mod radix` is a digit of a variable. A tile of `T` values at a
# multiple of `T` is a box of digits if `T` divides the weight of the digit above those that it
# fills: `T mod weight == 0` and `next_weight mod T == 0`.

_ZERO: Final = Interval(0, 0)


@dataclass(frozen=True, slots=True)
class Radices:
    """The digits of one axis that results use, and when a tile of it is a box of them."""

    axis: TileAxis
    digits: tuple[VariableDigit, ...]
    clause: tuple[tuple[Constraint, ...], ...]
    """The sizes for which it is: one of these conjunctions holds."""
    is_complete: bool
    """Whether the digits tell the value."""
    is_cut: bool
    """Whether the box may have more values than the axis."""

    def position(self, places: Mapping[VariableDigit, Form]) -> Form:
        """Distance of a value from the first, for the places of its digits."""
        return forms.weighted_sum((digit.weight, places[digit]) for digit in self.digits)

    def count(self, digit: VariableDigit) -> Form:
        """Number of values of a digit in a tile."""
        count = self.axis.count
        if digit.weight > 1:
            count = forms.ceildiv(count, forms.constant(digit.weight))
        if digit.radix is None:
            return count
        return forms.minimum((count, forms.constant(digit.radix)))


def radices_of(axis: TileAxis, used: Iterable[VariableDigit]) -> Radices | None:
    """The digits of an axis, if they do not overlap and tiles begin where digits do."""
    digits = tuple(sorted(set(used), key=lambda digit: digit.weight))
    if len(digits) == 1 and digits[0].is_variable:
        return Radices(axis, digits, ((),), is_complete=True, is_cut=False)
    if len({digit.shift for digit in digits}) > 1 or any(starmap(_overlap, pairwise(digits))):
        return None
    cuts = cuts_of(digits)
    start = axis.begin if axis.is_range else forms.constant(axis.origin)
    if not start.is_constant or any((start.constant + digits[0].shift) % cut for cut in cuts):
        return None
    is_cut = axis.extent is None or any(axis.extent % cut for cut in cuts)
    clause = [*levels(axis.count, cuts)]
    if is_cut and axis.extent is not None:
        clause.append((axis.limited(Interval.of(axis.extent)),))
    return Radices(axis, digits, tuple(clause), is_complete=_tell(digits), is_cut=is_cut)


def _overlap(low: VariableDigit, high: VariableDigit) -> bool:
    """Whether two digits share a part of the number, or are no digits of one system."""
    return low.radix is None or high.weight % (low.weight * low.radix) != 0


def _tell(digits: tuple[VariableDigit, ...]) -> bool:
    """Whether digits follow each other without a gap."""
    tops = [1, *(digit.weight * (digit.radix or 0) for digit in digits)]
    return [digit.weight for digit in digits] == tops[:-1] and tops[-1] == 0


def cuts_of(digits: Iterable[VariableDigit]) -> list[int]:
    """The numbers at which digits begin and end."""
    ends = ((digit.weight, digit.weight * (digit.radix or 1)) for digit in digits)
    return sorted({cut for pair in ends for cut in pair if cut > 1})


def levels(
    count: Form, cuts: Sequence[int], factor: int = 1, step: int = 0
) -> Iterator[tuple[Constraint, ...]]:
    """Conditions under which runs of ``count * factor`` values are boxes of digits.

    The size of a run lies between two weights: a multiple of the lower one, it divides the higher
    one. Runs begin at multiples of their size plus multiples of ``step``: it divides that, too, but
    above all weights it is enough if they begin at a multiple of the greatest.
    """
    for below, above in pairwise([1, *cuts, 0]):
        fills = count % (below // gcd(below, factor)), _ZERO
        divided = gcd(step, above)
        if not above and step % below == 0:
            yield (fills,)
        elif above and divided % factor == 0:
            divides = forms.mod(forms.constant(divided // factor), count), _ZERO
            yield fills, divides


def greatest_count(axis: TileAxis, digit: VariableDigit) -> int | None:
    """Number of values of a digit on the whole axis."""
    if digit.radix is not None:
        return digit.radix
    return None if axis.extent is None else -(-axis.extent // digit.weight)


# The tile of one result: an arithmetic progression, and which of its places the map touches.


@dataclass(frozen=True, slots=True)
class Progression:
    """``offset + stride * i`` with ``0 <= i < size``."""

    offset: Form
    size: Form
    stride: Form
    conditions: Sequence[Form] = ()
    """Conditions on the position ``i`` of an element that the map touches."""
    clause: tuple[tuple[Constraint, ...], ...] = ((),)
    """The sizes for which this is the tile: one of these conjunctions holds."""
    values: dict[str, Form] = field(default_factory=dict[str, "Form"])
    """The variables that the position tells."""

    def element(self, position: Form) -> Form:
        """The index at a position."""
        return forms.product((self.stride, position)) + self.offset


class ResultTiles(NamedTuple):
    """The tiles of all results, when positions are in them, and for which sizes they are these."""

    results: dict[int, Progression]
    conditions: Sequence[Form] = ()
    clauses: Sequence[Clause] = ()


def box(form: Form, axes: Mapping[str, TileAxis], scope: Scope) -> Progression:
    """The values from the least in a tile to the greatest; ``scope`` has the bounds of points."""
    fixed, stride, steps = stepped(form, axes)
    low, span = hull(steps, axes, scope)
    return Progression(low.times(stride) + fixed, span.plus_constant(1), forms.constant(stride))


def between(form: Form, axes: Mapping[str, TileAxis], scope: Scope, at: Form) -> Progression | None:
    """The tile of a result, if it takes all values between its ends; ``at`` is a position."""
    fixed, stride, steps = stepped(form, axes)
    rising = monotone(steps, axes)
    if rising is None:
        return None
    used = {name: axes[name] for name in rising}
    found = box(form, axes, scope)
    lone = steps.single_variable()
    if lone:
        value = used[lone].begin + at
        return replace(found, conditions=within_ends(value, used[lone]), values={lone: value})
    here = (found.element(at) - fixed).exactly_divided(stride)
    return replace(found, conditions=_conditions(steps, rising, used, here))


def within_ends(value: Form, axis: TileAxis) -> list[Form]:
    """The conditions that a value is within the ends of its axis."""
    found: list[Form] = []
    if axis.lower is not None and not axis.is_range:
        found.append(forms.nonnegative(value - axis.lower))
    if axis.upper is not None:
        found.append(forms.nonnegative(axis.upper - value))
    return found


def _conditions(
    steps: Form, rising: Mapping[str, bool], axes: Mapping[str, TileAxis], here: Form
) -> list[Form]:
    """The conditions that a number of steps is between the ends, if a tile may have others."""
    is_cut = any(axis.lower is not None or axis.upper is not None for axis in axes.values())
    if not is_cut and steps.is_affine:  # a quotient has one value more in some tiles
        return []
    kept = {name: _kept(axis) for name, axis in axes.items()}
    first = {name: ends[not rising[name]] for name, ends in kept.items()}
    last = {name: ends[rising[name]] for name, ends in kept.items()}
    (least,), (greatest,) = (forms.substitute((steps,), ends) for ends in (first, last))
    nonempty = [
        forms.nonnegative(kept[name][1] - kept[name][0])
        for name, axis in axes.items()
        if axis.lower is not None or not axis.ends_with_tensor
    ]
    return [*map(forms.nonnegative, (here - least, greatest - here)), *nonempty]


def _kept(axis: TileAxis) -> tuple[Form, Form]:
    """The first and the last value of a tile that is left within the bounds."""
    begin, end = axis.begin, (axis.begin + axis.count).plus_constant(-1)
    return (
        begin if axis.lower is None or axis.is_range else forms.maximum((begin, axis.lower)),
        end if axis.upper is None else forms.minimum((end, axis.upper)),
    )


# Results that take all values between two ends, a step apart, on every box of their variables.

_QUOTIENTS = (AtomKind.FLOORDIV, AtomKind.CEILDIV)

_UP = Interval(0, 1)
_DOWN = Interval(-1, 0)


def monotone(steps: Form, axes: Mapping[str, TileAxis]) -> dict[str, bool] | None:
    """Whether the steps of a result rise along each variable; they never turn.

    ``None`` if there is a tile on which they do not take all values between their ends.

    >>> from simplifier.forms import parse_form
    >>> monotone(parse_form("d0 floordiv 4"), dict.fromkeys(["d0"]))
    {'d0': True}
    """
    names = [name for name in forms.variables_of((steps,)) if name in axes]
    changes = {name: _changes(steps, name) for name in names}
    if not all(map(_is_small, changes.values())) and not _has_no_gaps(steps, axes):
        return None
    return {name: change is not None and change.ends[1] > 0 for name, change in changes.items()}


def stepped(form: Form, axes: Mapping[str, TileAxis]) -> tuple[Form, int, Form]:
    """The part that is constant in a tile, and the greatest stride of the others with the rest.

    The stride is negative if all of them fall.

    >>> from simplifier.forms import parse_form
    >>> stepped(parse_form("N - (d0 floordiv 4) * 3"), dict.fromkeys(["d0"]))
    (Form(N), -3, Form(d0 floordiv 4))
    """
    moving = Form(0, {atom: factor for atom, factor in form.terms.items() if _uses(atom, axes)})
    stride = gcd(*moving.terms.values()) or 1
    if moving.terms and max(moving.terms.values()) < 0:
        stride = -stride
    return form - moving, stride, moving.exactly_divided(stride)


def _is_small(change: Interval | None) -> bool:
    """Whether a value never jumps or turns along a variable."""
    return change is not None and (_UP.contains(change) or _DOWN.contains(change))


def _has_no_gaps(steps: Form, axes: Mapping[str, TileAxis]) -> bool:
    """Whether each variable of a sum moves it no farther than those with smaller strides reach."""
    if any(atom.kind is not VARIABLE and _uses(atom, axes) for atom in steps.terms):
        return False
    reach = 1
    for factor, name in sorted(
        (abs(factor), atom.name) for atom, factor in steps.terms.items() if atom.name in axes
    ):
        if factor > reach:
            return False
        whole = axes[name].whole
        if whole is not None:  # of another dimension, a tile may have one value
            reach += factor * (whole - 1)
    return True


def _uses(atom: Atom, axes: Mapping[str, TileAxis]) -> bool:
    return any(name in axes for name in forms.variables_of((Form(0, {atom: 1}),)))


def _changes(form: Form, name: str) -> Interval | None:
    """An interval of the changes along a variable from each value to the next."""

    def of_atom(atom: Atom, inner: tuple[Interval | None, ...]) -> Interval | None:
        if atom.kind is VARIABLE:
            return Interval.of(int(atom.name == name))
        known = [change for change in inner if change is not None]
        if len(known) < len(inner):
            return None
        return _ZERO if set(known) == {_ZERO} else _change_of_operation(atom, known)

    def of_form(part: Form, known: Mapping[Atom, Interval | None]) -> Interval | None:
        total = _ZERO
        for atom, factor in part.terms.items():
            change = known[atom]
            if change is None:
                return None
            total = total + change * Interval.of(factor)
        return total

    return of_form(form, forms.fold((form,), of_atom, of_form))


def _change_of_operation(atom: Atom, inner: Sequence[Interval]) -> Interval | None:
    """The changes of a rounded quotient or an extremum from those of its arguments."""
    if atom.kind in _QUOTIENTS and atom.divisor > 0:
        lower, upper = inner[0].ends
        return Interval.from_range((lower // atom.divisor, -(-upper // atom.divisor)))
    if atom.kind in EXTREMA:
        return reduce(Interval.union, inner)
    return None


Hull: TypeAlias = tuple[Form, Form]
"""The least value, and by how much it may rise."""


def hull(form: Form, axes: Mapping[str, TileAxis], scope: Scope) -> Hull:
    """The least value of a form in a tile, and by how much it may rise, at most.

    Both are exact for sums of variables; ``scope`` is what is known of points.

    Raises:
        TileError: a part has no bounds.
    """

    def of_atom(atom: Atom, inner: tuple[Hull, ...]) -> Hull:
        if atom.name in axes:
            return axes[atom.name].begin, axes[atom.name].count.plus_constant(-1)
        spans = [span for _, span in inner]
        low = forms.rebuilt(atom, tuple(least for least, _ in inner))
        if {*spans} <= {forms.ZERO}:
            return low, forms.ZERO
        if atom.kind in _QUOTIENTS and atom.divisor > 0:
            return _quotient_hull(atom, inner[0], axes, scope)
        if atom.kind in EXTREMA:
            return low, forms.maximum(spans)
        values = forms.range_of(scope, Form(0, {atom: 1}))
        if values.lower is None or values.size is None:
            raise TileError(f"tile: {Form(0, {atom: 1})} has no bounds; expected some")
        return forms.constant(values.lower), forms.constant(values.size - 1)

    def of_form(part: Form, known: Mapping[Atom, Hull]) -> Hull:
        terms = [(factor, *known[atom]) for atom, factor in part.terms.items()]
        ends = ((factor, low if factor > 0 else low + span) for factor, low, span in terms)
        span = forms.weighted_sum((abs(factor), span) for factor, _, span in terms)
        return forms.weighted_sum(ends).plus_constant(part.constant), span

    return of_form(form, forms.fold((form,), of_atom, of_form))


def _quotient_hull(atom: Atom, inner: Hull, axes: Mapping[str, TileAxis], scope: Scope) -> Hull:
    """A quotient rises by one more than it must, unless tiles begin where it rises."""
    (low, span), (numerator, divisor) = inner, atom.arguments
    axis = axes.get(numerator.plus_constant(-numerator.constant).single_variable() or "")
    if atom.kind is AtomKind.CEILDIV:
        low, numerator = (each.plus_constant(atom.divisor - 1) for each in (low, numerator))
    remainder = forms.simplified(scope, forms.mod(numerator, divisor))
    if remainder.is_constant:  # as of every n-th value
        return forms.ceildiv(low - remainder, divisor), forms.floordiv(span, divisor)
    start, step = low.constant, gcd(atom.divisor, *low.terms.values())
    greatest = atom.divisor - step + start % step  # the remainder where a tile begins, at most
    widest = forms.floordiv(span.plus_constant(greatest), divisor)
    low = forms.floordiv(low, divisor)
    if axis is None or axis.is_range or start % atom.divisor:
        return low, widest
    fills = forms.zero(forms.mod(axis.count, divisor))
    fits = forms.zero(forms.mod(divisor, axis.count))
    last = forms.floordiv(axis.count, divisor).plus_constant(-1)
    return low, forms.select(fills, last, forms.select(fits, forms.ZERO, widest))


# Sums of digits: at which sizes their tile is one run of digits, and where each digit is in it.


class DigitRun(NamedTuple):
    """The terms with several values: from the first to the last, all but the last whole."""

    first: int
    last: int
    limits: tuple[Constraint, ...]
    """The sizes for which these are."""


_ALL: Final = DigitRun(0, maxsize, ())
"""All digits are whole."""


@dataclass(frozen=True, slots=True)
class DigitSum:
    """Digits of several axes, each times its factor, and a term that is constant in a tile."""

    fixed: Form
    terms: tuple[tuple[int, VariableDigit], ...]
    """The smallest factor first."""
    radices: Mapping[str, Radices]
    """Those of the axes, by their names."""

    @property
    def sign(self) -> int:
        """-1 if all digits count down."""
        return -1 if self.terms and all(factor < 0 for factor, _ in self.terms) else 1

    def base(self, sign: int) -> Form:
        """The value at position 0: the least, or the greatest if ``sign`` is -1."""
        found = self.fixed
        for factor, digit in self.terms:
            found = found + digit.of(self.radices[digit.variable].axis.begin).times(factor)
            if factor * sign < 0:
                found = found + (self.count(digit) - 1).times(factor)
        return found

    def count(self, digit: VariableDigit) -> Form:
        """Number of values of one of the digits in a tile."""
        return self.radices[digit.variable].count(digit)

    @property
    def size(self) -> Form:
        """Number of values."""
        return forms.product(self.count(digit) for _, digit in self.terms)

    def places(self, position: Form, sign: int) -> dict[VariableDigit, Form]:
        """Distance of each digit from its first value, at a position."""
        below = forms.ONE
        found: dict[VariableDigit, Form] = {}
        for factor, digit in self.terms:
            count = self.count(digit)
            place = forms.floordiv(position, below)
            if digit != self.terms[-1][1]:
                place = forms.mod(place, count)
            if factor * sign < 0:  # it counts down while the position counts up
                place = (count - place).plus_constant(-1)
            found[digit] = place
            below = forms.product((below, count))
        return found

    def runs(self) -> Iterator[DigitRun]:
        """The digits that may have several values: they follow each other."""
        axes = [self.radices[digit.variable].axis for _, digit in self.terms]
        pairs = zip(axes, self.terms, strict=True)
        ones = [axis.limited(Interval(1, digit.weight)) for axis, (_, digit) in pairs]
        wholes = self.wholes()
        for first in range(len(self.terms)):
            for last in range(first, len(self.terms)):
                yield DigitRun(first, last, (*ones[:first], *wholes[first:last], *ones[last + 1 :]))
                (factor, digit), following = self.terms[last], self.terms[last + 1 : last + 2]
                count = greatest_count(axes[last], digit)
                if count is None or not following or abs(factor) * count != abs(following[0][0]):
                    break

    def wholes(self) -> tuple[Constraint, ...]:
        """The sizes for which each digit has all values, if their number is known."""
        found: list[Constraint] = []
        for _, digit in self.terms:
            axis = self.radices[digit.variable].axis
            others = (greatest_count(axis, digit) or 1) - 1
            found.append(axis.limited(Interval(digit.weight * others + 1, None)))
        return tuple(found)

    def progression(self) -> Progression:
        """The tile, where the digits with several values are one run."""
        is_run = len(self.terms) > 1  # a single digit always is
        clause = tuple(run.limits for run in self.runs()) if is_run else ((),)
        return Progression(self.base(self.sign), self.size, self._stride(), clause=clause)

    def _stride(self) -> Form:
        """That of the lowest digit with several values; that of the only digit, if it is one."""
        if len(self.terms) == 1:
            return forms.constant(self.terms[0][0])
        stride = forms.ZERO
        for factor, digit in reversed(self.terms):
            several = forms.nonnegative(self.radices[digit.variable].axis.count - digit.weight - 1)
            stride = forms.select(several, forms.constant(self.sign * abs(factor)), stride)
        return stride

    # The tile of an index, whose digits are results or are added up again.

    def radices_of(
        self, name: str, digits: Iterable[VariableDigit], *, is_nested: bool
    ) -> Radices | None:
        """The digits of an index, which is this sum, and when a tile of it is a box of them.

        ``None`` if a tile has no run of values. If another index adds its digits up, a run must
        begin at a multiple of its size.
        """
        ordered = tuple(sorted(digits, key=lambda digit: digit.weight))
        cuts, extent = cuts_of(ordered), self._extent()
        is_cut = extent is not None and any(extent % cut for cut in cuts)
        runs = [run for run in self.runs() if abs(self.terms[run.first][0]) == 1]
        if not runs:
            return None
        clause = [each for run in runs for each in self._boxes(run, cuts, is_nested=is_nested)]
        step = self._step(_ALL)
        if is_cut and (step == 0 if is_nested else step % cuts[-1] == 0):
            clause.append(self.wholes())
        axis = TileAxis(name, self.base(1), self.size, 0, extent)
        return Radices(axis, ordered, tuple(clause), is_complete=True, is_cut=is_cut)

    def _extent(self) -> int | None:
        """Number of values, if they follow each other."""
        reach = 1
        for factor, digit in self.terms:
            count = greatest_count(self.radices[digit.variable].axis, digit)
            if abs(factor) != reach or count is None:
                return None
            reach *= count
        return reach

    def _boxes(
        self, run: DigitRun, cuts: list[int], *, is_nested: bool
    ) -> Iterator[tuple[Constraint, ...]]:
        """Conditions under which the values of a run are a box of digits."""
        factor, digit = self.terms[run.last]
        count, step = self.count(digit), self._step(run)
        rest = forms.mod(forms.constant(step), count.times(factor))
        nested = [(rest, _ZERO)] if is_nested else []  # the size of the run divides the step
        for level in levels(count, cuts, abs(factor), step):
            yield *run.limits, *level, *nested

    def _step(self, run: DigitRun) -> int:
        """Runs begin at multiples of this number plus multiples of their size."""
        offset, *steps = self.fixed.constant, *self.fixed.terms.values()
        for number, (factor, digit) in enumerate(self.terms):
            axis = self.radices[digit.variable].axis
            first = digit.of(axis.begin if axis.is_range else forms.constant(axis.origin))
            if not run.first <= number <= run.last:
                steps.append(factor)
            elif not first.is_constant:
                steps.append(1)
            else:
                offset += first.constant * factor
                if factor < 0:  # it begins with the last value of a tile: at a multiple less one
                    offset -= factor
                    whole = greatest_count(axis, digit) if number < run.last else None
                    offset += factor * whole if whole is not None else 0
        return gcd(offset, *steps)


# The digits of results.


class Refusal(NamedTuple):
    """Variables of which a tile must have one value, and why."""

    names: frozenset[str]
    reason: str


@dataclass(frozen=True, slots=True)
class DigitSystem:
    """Results as sums of digits, and the numbers that these are digits of."""

    results: dict[int, DigitSum]
    indices: dict[str, DigitSum]
    """Sums that are split again, each before those whose digits it adds up."""
    radices: dict[str, Radices]
    """By the names of variables, and of ``indices``."""

    def told(self) -> tuple[dict[int, Progression], dict[str, Form], list[Form]]:
        """The tile of each result, the variables that positions determine, and their conditions."""
        known: dict[VariableDigit, Form] = {}
        for number, total in self.results.items():
            known |= total.places(forms.variable(f"i{number}"), total.sign)
        conditions: list[Form] = []
        for name, total in self.indices.items():
            radices = self.radices[name]
            position = radices.position(known)
            known |= total.places(position, 1)
            if radices.is_cut:
                left = (radices.axis.count - position).plus_constant(-1)
                conditions.append(forms.nonnegative(left))
        values: dict[str, Form] = {}
        for name in self.radices.keys() - self.indices.keys():
            radices = self.radices[name]
            value = radices.axis.begin + radices.position(known)
            conditions += _within(value, radices)
            if radices.is_complete:
                values[name] = value
        results = {key: total.progression() for key, total in self.results.items()}
        return results, values, conditions


def digits_of(
    results: Mapping[int, Form], axes: Mapping[str, TileAxis], scope: Scope, sizes: Scope
) -> DigitSystem | Refusal:
    """The results as sums of digits; ``sizes`` has bounds of tiles, ``scope`` those of points.

    Or the variables that are in the way.
    """
    reading = _SumReading(axes, sizes, {**results}, {})
    while isinstance(radices := reading.radices(), Refusal):
        simpler = reading.untangled(radices.names, scope)
        if simpler is None:
            return radices
        reading = simpler
    sums = {key: reading.digit_sum(form, radices) for key, form in reading.forms.items()}
    indices = {key: total for key, total in sums.items() if isinstance(key, str)}
    for name in reversed(indices):
        digits = [digit for digit, _ in reading.found.values() if digit.variable == name]
        added = (digit for total in indices.values() for _, digit in total.terms)
        is_nested = any(digit.variable == name for digit in added)
        found = indices[name].radices_of(name, digits, is_nested=is_nested)
        if found is None or _is_impossible(found, sizes):
            names = reading.used([reading.forms[name]])
            return Refusal(names, f"{reading.forms[name]} is split again")
        radices[name] = found
    of_results = {key: total for key, total in sums.items() if isinstance(key, int)}
    return DigitSystem(of_results, indices, radices)


@dataclass(frozen=True, slots=True)
class _SumReading:
    """Forms, by the numbers of results and the names of linear indices; and digits of these."""

    axes: Mapping[str, TileAxis]
    sizes: Scope
    forms: dict[int | str, Form]
    found: dict[Atom, tuple[VariableDigit, bool]]
    """Atoms that are digits of indices, and whether they count down."""

    def used(self, parts: Iterable[Form]) -> frozenset[str]:
        """The variables with several values."""
        return frozenset(name for name in forms.variables_of(parts) if name in self.axes)

    def moving(self, form: Form) -> list[Atom]:
        """The terms that have several values."""
        return [atom for atom in form.terms if self.used([forms.Form(0, {atom: 1})])]

    def digit_sum(self, form: Form, radices: Mapping[str, Radices]) -> DigitSum:
        """A form whose moving terms are digits."""
        moving = self.moving(form)
        fixed, terms = form.without(*moving), list[tuple[int, VariableDigit]]()
        for atom in moving:
            factor, (digit, is_reversed) = form.terms[atom], self._digit(atom)
            if digit is not None and is_reversed:
                fixed = fixed.plus_constant(factor * ((digit.radix or 1) - 1))
            if digit is not None:
                terms.append((-factor if is_reversed else factor, digit))
        return DigitSum(fixed, tuple(sorted(terms, key=lambda term: abs(term[0]))), radices)

    def radices(self) -> dict[str, Radices] | Refusal:
        """The digits of all variables, or variables that have none."""
        counted: Counter[VariableDigit] = Counter()
        for atom in self._all_moving():
            digit, _ = self._digit(atom)
            if digit is None:
                form = forms.Form(0, {atom: 1})
                return Refusal(self.used([form]), f"{form} is no digit of a variable")
            counted[digit] += 1
        radices: dict[str, Radices] = {}
        for name in dict.fromkeys(digit.variable for digit in counted):
            if name not in self.axes:
                continue
            digits = [digit for digit in counted if digit.variable == name]
            is_alone = all(counted[digit] == 1 for digit in digits)
            each = radices_of(self.axes[name], digits) if is_alone else None
            if each is None or not self._can_be_cut(each):
                texts = [str(form) for form in self.forms.values() if name in self.used([form])]
                return Refusal(frozenset([name]), f"{listed(sorted(texts))} depend on each other")
            radices[name] = each
        return radices

    def untangled(self, names: frozenset[str], scope: Scope) -> _SumReading | None:
        """The same with linear indices for the sums that hold these variables, if there are any."""
        atoms = [atom for atom in self._all_moving() if atom not in self.found]
        groups = connected_components(atoms, lambda atom: self.used([forms.Form(0, {atom: 1})]))
        of_forms, found = dict(self.forms), dict(self.found)
        for group in groups:
            if len(set(group)) < len(group):
                continue  # a term is there twice
            if names.isdisjoint(self.used(forms.Form(0, {atom: 1}) for atom in group)):
                continue
            for index in linear_indices(group, scope):
                parts = {part.atom for part in index.parts}
                if not (parts | found.keys()).isdisjoint(index.form.terms):
                    continue  # one of its digits is there twice
                name = f"n{len(of_forms)}"
                of_forms[name] = index.form
                for part in index.parts:
                    size = None if part is index.parts[-1] else part.size  # the whole quotient
                    found[part.atom] = VariableDigit(name, 0, part.weight, size), part.is_reversed
        return replace(self, forms=of_forms, found=found) if len(found) > len(self.found) else None

    def _all_moving(self) -> list[Atom]:
        return [atom for form in self.forms.values() for atom in self.moving(form)]

    def _digit(self, atom: Atom) -> tuple[VariableDigit | None, bool]:
        return self.found.get(atom) or (digit_of(atom), False)

    def _can_be_cut(self, radices: Radices) -> bool:
        """Whether some size has a box of digits, and the digits tell where the axis begins."""
        if radices.axis.is_range and _is_impossible(radices, self.sizes):
            return False
        return radices.is_complete or radices.axis.lower is None or radices.axis.is_range


def _is_impossible(radices: Radices, sizes: Scope) -> bool:
    """Whether no size has a box of digits."""
    return TileConstraints.of([radices.clause]).simplified(sizes).is_unsatisfiable


def _within(value: Form, radices: Radices) -> list[Form]:
    """The conditions that a value is within the ends of its axis, which digits may pass."""
    axis = radices.axis
    if radices.is_cut and axis.upper is None and axis.extent is not None:
        axis = replace(axis, upper=forms.constant(axis.origin + axis.extent - 1))
    return within_ends(value, axis)


# Linear indices: sums of dimensions whose digits are results, as of a reshape from 6x8 to 4x12.
#
# `(d0 * 8 + d1) floordiv 12` and `(d0 * 8 + d1) mod 12` are the digits of `d0 * 8 + d1`. Its tile
# is a run of values if only `d1` has several, or all of it; the run is a box of digits if its
# size divides 12, or is a multiple of 12.

_TWO: Final = 2


class IndexDigit(NamedTuple):
    """An atom that is a digit of a number, or the difference from it to the greatest digit."""

    atom: Atom
    weight: int
    size: int | None
    """It lies in ``[0, size - 1]``, if that is known."""
    is_reversed: bool = False


class LinearIndex(NamedTuple):
    """A number, and atoms that are its digits, the lowest first."""

    form: Form
    parts: tuple[IndexDigit, ...]

    @property
    def size(self) -> int | None:
        """It lies in ``[0, size - 1]``, if that is known."""
        sizes = [part.size for part in self.parts if part.size is not None]
        return prod(sizes) if len(sizes) == len(self.parts) else None

    def reversed(self) -> LinearIndex:
        """The difference from a number of known size to the greatest one."""
        form = forms.constant((self.size or 1) - 1) - self.form
        parts = (part._replace(is_reversed=not part.is_reversed) for part in self.parts)
        return LinearIndex(form, tuple(parts))


def linear_indices(atoms: Iterable[Atom], scope: Scope) -> list[LinearIndex]:
    """The indices that become simpler when digits are put together.

    >>> from simplifier import Interval
    >>> from simplifier.forms import scope_of
    >>> from simplifier.forms import parse_form
    >>> scope = scope_of((("d0", Interval(0, 7)), ("d1", Interval(0, 2))))
    >>> texts = "(d0 * 3 + d1) floordiv 4", "(d1 - d0) mod 4"
    >>> (index,) = linear_indices([parse_form(text).only_atom for text in texts], scope)
    >>> index.form, [(part.atom.arguments[0], part.weight) for part in index.parts]
    (Form(d0 * 3 + d1), [(Form(d1 - d0), 1), (Form(d0 * 3 + d1), 4)])
    """
    indices = [_of_atom(atom, scope) for atom in atoms]
    while (pair := _first_pair(indices, scope)) is not None:
        low, high, joined = pair
        indices = [joined if each is high else each for each in indices if each is not low]
    return [each for each in indices if len(each.parts) > 1]


def _of_atom(atom: Atom, scope: Scope) -> LinearIndex:
    form = forms.Form(0, {atom: 1})
    values = forms.range_of(scope, form)
    part = IndexDigit(atom, 1, values.size if values.lower == 0 else None)
    if atom.kind is AtomKind.MOD and atom.divisor == _TWO and atom.numerator.constant % _TWO:
        other = (atom.numerator + 1) % _TWO
        form = forms.ONE - other  # (x + 1) mod 2 == 1 - x mod 2
    return LinearIndex(form, (part,))


def _first_pair(
    indices: list[LinearIndex], scope: Scope
) -> tuple[LinearIndex, LinearIndex, LinearIndex] | None:
    """The lower digits, the higher ones, and both together; neighbours first."""
    places = permutations(range(len(indices)), 2)
    for low, high in sorted(places, key=lambda pair: (abs(pair[0] - pair[1]), pair)):
        joined = _joined(indices[low], indices[high], scope)
        if joined is not None:
            return indices[low], indices[high], joined
    return None


def _joined(low: LinearIndex, high: LinearIndex, scope: Scope) -> LinearIndex | None:
    """One index for two, if that has fewer quotients."""
    used = {*forms.variables_of((low.form,))}
    if low.size is None or used.isdisjoint(forms.variables_of((high.form,))):
        return None
    before = _quotients([low.form, high.form], scope)
    raised = tuple(part._replace(weight=part.weight * low.size) for part in high.parts)
    for lower in (low, low.reversed()):
        form = lower.form + high.form.times(low.size)
        if _quotients([form], scope) < before:
            return LinearIndex(forms.in_digits(scope, form), (*lower.parts, *raised))
    return None


def _quotients(parts: Iterable[Form], scope: Scope) -> int:
    """Number of different operations in the canonical forms."""
    atoms = forms.postorder(map(scope.canonical, parts))
    return sum(atom.kind is not AtomKind.VARIABLE for atom in atoms)
