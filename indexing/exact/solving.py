"""Solves equations between integers for their variables: how an index is inverted.

``x*8 + z = y`` with ``z`` in ``[0, 7]`` holds two digits of ``y``: ``x = y floordiv 8`` and
``z = y mod 8``. A quotient or remainder with a known value is a digit of its numerator, and a
number is known once all its digits are. If the equations do not determine everything, a free
variable takes the values of a missing digit or of one of the variables.

Proof. What is pending, the digits and the conditions together always say what the equations said,
because each step is an equivalence for unknowns within their bounds:

* a term with a known value moves to the right; a multiple of another pending equation is added;
* ``g*A = B`` is ``A = B floordiv g`` and ``B mod g = 0``;
* ``H*w + L = B`` with ``L`` in ``[l, l + w - 1]`` is ``H = (B - l) floordiv w`` and
  ``L = (B - l) mod w + l``;
* ``a*x mod n = v`` with ``a*b mod n = 1`` is ``x mod n = b*v mod n`` and ``v`` in ``[0, n - 1]``;
* a number is the sum of its digits times their weights, where each begins at the weight at which
  the one below ends; each digit is a condition of its own, unless that sum says it already;
* a digit or an unknown that nothing determines has some value: the free variable.

Each step makes an equation shorter, knows one more digit or unknown, or uses up a pivot. What
rounding could still keep going is ended by a number of steps, after which the rest is conditions.
"""

from __future__ import annotations

from functools import partial
from math import gcd
from typing import TYPE_CHECKING, Final, NamedTuple

from indexing.exact.known_digits import (
    Digit,
    chain,
    digit_of,
    floordiv,
    mod,
    with_gathered_quotient,
)
from simplifier.bounds.interval import INFINITY, Infinity, Interval
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import ZERO, AtomKind, Form, weighted_sum

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from indexing.exact.known_digits import Chain
    from simplifier.bounds.context import Unit
    from simplifier.canonical.scope import Scope
    from simplifier.expr.form import Atom, Key

_NOTHING: Final = Interval(0, 0)

_STEPS_EACH: Final = 12
"""Steps for each equation and each unknown: everyday maps need two, the oddest found six."""


class Equation(NamedTuple):
    """``left = right``: a form over unknowns, and one over known variables."""

    left: Form
    right: Form


class GeneralSolution(NamedTuple):
    """All solutions of the equations, by free variables."""

    values: dict[str, Form]
    """The unknowns, over known and free variables."""

    free: dict[str, Interval]
    """The values of each free variable."""

    conditions: list[tuple[Form, Interval]]
    """Under these the values solve the equations and lie within their bounds."""


def solved(
    scope: Scope, equations: Iterable[Equation], sought: Mapping[str, Interval]
) -> GeneralSolution:
    """Solves equations for the sought variables within their bounds, which the scope has, too.

    The values under the conditions, for all values of the free variables, are exactly the solutions
    within the bounds. Free variables are called ``t0 t1 ...``. Takes about as many steps as the
    equations have terms.

    >>> from simplifier.canonical.scope import scope_of
    >>> bounds = {"x": Interval(0, 3), "z": Interval(0, 7)}
    >>> x, y, z = map(forms.variable, "xyz")
    >>> solved(scope_of(tuple(bounds.items())), [Equation(x * 8 + z, y)], bounds).values
    {'x': Form(y floordiv 8), 'z': Form(y mod 8)}
    """
    solver = _Solver(scope, equations, sought)
    solver.run()
    return solver.solution()


class _Choice(NamedTuple):
    """Something that a free variable can take the value of."""

    values: Interval
    rank: int
    """Breaks ties: digits first, then ranges, then dimensions."""

    take: Callable[[Form], None]

    @property
    def order(self) -> tuple[int | Infinity, int]:
        """The fewest values come first."""
        return _size(self.values), self.rank


class _Solver:
    """Known values, and the equations and digits that are left.

    Each step replaces equations by others that say the same together with the conditions.
    """

    def __init__(
        self, scope: Scope, equations: Iterable[Equation], sought: Mapping[str, Interval]
    ) -> None:
        self._scope = scope
        self._sought = dict(sought)
        self._pending = [Equation(scope.canonical(left), right) for left, right in equations]
        self._digits: list[Digit] = []
        self._known: dict[str, Form] = {}
        self._free: dict[str, Interval] = {}
        self._conditions: list[tuple[Form, Interval]] = []
        self._exact: set[Atom] = set()
        self._pivots: set[Atom] = set()
        self._split_forms: set[Key] = set()

    def run(self) -> None:
        """Propagates what is determined, then introduces a free variable, until all is known."""
        for _ in range(_STEPS_EACH * (len(self._pending) + len(self._sought))):
            if self._propagate() or self._eliminate():
                continue
            choice = min(self._choices(), default=None, key=lambda choice: choice.order)
            if choice is None:
                return
            choice.take(self._fresh(choice.values))
        self._leave_to_conditions()

    def _leave_to_conditions(self) -> None:
        """Gives up: unknowns are free, and all that is left to solve becomes conditions."""
        for name, values in self._sought.items():
            if name not in self._known:
                self._known[name] = self._fresh(values)
        for left, right in self._pending:
            self._require(left - right)
        for digit in self._digits:
            self._require(digit.meaning - digit.value)

    def solution(self) -> GeneralSolution:
        """Values and conditions over known and free variables alone."""
        values: dict[str, Form] = {}
        for name, form in self._known.items():
            (values[name],) = operations.substitute([form], values)
        limits = [self._within(name, bounds) for name, bounds in self._sought.items()]
        required = [*self._conditions, *limits]
        replaced = operations.substitute([form for form, _ in required], values)
        intervals = (interval for _, interval in required)
        return GeneralSolution(values, self._free, list(zip(replaced, intervals, strict=True)))

    def _within(self, name: str, bounds: Interval) -> tuple[Form, Interval]:
        """The condition that a value lies in its bounds; for an exact quotient, its numerator."""
        value = self._known[name]
        atom = next(iter(value.terms), None)
        if atom in self._exact and value in (Form(0, {atom: 1}), Form(0, {atom: -1})):
            return atom.numerator, bounds * (atom.divisor * value.terms[atom])
        return value, bounds

    def _require(self, form: Form, interval: Interval = _NOTHING) -> None:
        self._conditions.append((form, interval))

    def _is_known(self, form: Form) -> bool:
        return all(name not in self._sought or name in self._known for name in _names(form))

    # Equations.

    def _propagate(self) -> bool:
        """One step from an equation or from the digits of a source; whether there was one."""
        for index, equation in enumerate(self._pending):
            following = self._split(self._with_known_right(equation, self._digits))
            if following is not None:
                self._pending[index : index + 1] = following
                return True
        return self._complete_source()

    def _with_known_right(self, equation: Equation, digits: Sequence[Digit]) -> Equation:
        """The equation with the parts on the right that are known, alone or by digits."""
        for _ in range(len(digits) + 1):
            equation = self._with_known_units_right(equation, digits)
            bare = _without_known_quotients(equation, digits)
            if self._total_weight(bare.left) >= self._total_weight(equation.left):
                break
            equation = bare
        return equation

    def _total_weight(self, form: Form) -> int:
        """Large where digits borrow from quotients."""
        return sum(abs(weight) for weight, _ in self._scope.view(form).units)

    def _with_known_units_right(self, equation: Equation, digits: Sequence[Digit]) -> Equation:
        carried = _carried(equation, digits)
        whole = self._scope.canonical(carried.left)
        left, right = ZERO, carried.right - whole
        for weight, unit in self._scope.view(whole).units:
            unknown, known = self._parts_of(unit, digits)
            left = left.plus(unknown, weight)
            right = right.plus(unit.value - unknown - known, weight)
        return Equation(left, right + left)

    def _parts_of(self, unit: Unit, digits: Sequence[Digit]) -> tuple[Form, Form]:
        """The unknown and the known part of a unit."""
        if self._is_known(unit.value):
            return ZERO, unit.value
        wanted = digit_of(unit, ZERO)
        return (wanted and self._lower_and_upper(wanted, digits)) or (unit.value, ZERO)

    def _lower_and_upper(self, wanted: Digit, digits: Sequence[Digit]) -> tuple[Form, Form] | None:
        """The parts of a digit's value, if a known digit is the upper one or all of it."""
        for digit in _of_source(digits, wanted.source):
            if digit.end == wanted.end and digit.weight % wanted.weight == 0:
                lower = self._scope.floordiv(wanted.source, wanted.weight)
                upper = self._scope.floordiv(wanted.source, digit.weight)
                times = digit.weight // wanted.weight
                return lower.plus(upper, -times), digit.value.times(times)
        return None

    def _split(self, equation: Equation) -> list[Equation] | None:
        """What follows from an equation whose right side has all that is known, if anything."""
        view = self._scope.view(equation.left)
        # A digit may hold a constant, so the left side has one beside the units.
        equation = Equation(*(side.plus_constant(-view.constant) for side in equation))
        following = self._read(view.units, equation)
        if following is None:
            following = self._read(with_gathered_quotient(self._scope, view.units), equation)
        if following:
            if equation.left.key in self._split_forms:
                return None
            self._split_forms.add(equation.left.key)
        return following

    def _read(self, units: list[tuple[int, Unit]], equation: Equation) -> list[Equation] | None:
        """What follows from an equation whose left side is a sum of weighted units."""
        common = gcd(*(weight for weight, _ in units))
        if self._is_known(equation.left):
            self._require(equation.right - equation.left)
            return []
        if common > 1:
            return [self._divided(equation, common)]
        if len(units) == 1:
            ((sign, unit),) = units
            return [] if self._assign(unit, equation.right.times(sign)) else None
        return self._split_by_weight(units, equation.right)

    def _divided(self, equation: Equation, common: int) -> Equation:
        """The equation divided by a factor of its left side; its right side must have it, too."""
        left, right = equation
        quotient = floordiv(right, common)
        self._exact.update(quotient.terms)
        self._require(mod(right, common))
        return Equation(left.exactly_divided(common), quotient)

    def _split_by_weight(self, units: list[tuple[int, Unit]], right: Form) -> list[Equation] | None:
        """Two equations: for the part below some weight, and for the multiples of it."""
        for weight in sorted({abs(weight) for weight, _ in units} - {1}):
            low = weighted_sum((each, unit.value) for each, unit in units if each % weight)
            lower, upper = self._scope.range_of(low)
            if isinstance(lower, int) and upper - lower < weight:
                high = weighted_sum((each, unit.value) for each, unit in units if not each % weight)
                if not all(self._is_shorter(part, units) for part in (low, high)):
                    continue
                rest = right.plus_constant(-lower)
                return [
                    Equation(high.exactly_divided(weight), floordiv(rest, weight)),
                    Equation(low, mod(rest, weight).plus_constant(lower)),
                ]
        return None

    def _is_shorter(self, part: Form, units: list[tuple[int, Unit]]) -> bool:
        """Whether a part is read as fewer units than the whole: else splitting may never end."""
        return len(self._scope.view(part).units) < len(units)

    def _assign(self, unit: Unit, value: Form) -> bool:
        """Records the value of a variable or digit; whether the unit is one."""
        name = unit.value.single_variable()
        if name is not None:
            self._known[name] = value
            return True
        digit = digit_of(unit, value)
        if digit is None:
            return False
        reduced = digit.reduced()
        self._digits.append(reduced)
        if reduced != digit:
            self._require(value, Interval(0, digit.radix - 1))
        return True

    def _eliminate(self) -> bool:
        """Eliminates an atom with coefficient 1 or -1 in one equation from all others."""
        for equation in self._pending:
            for atom, factor in equation.left.terms.items():
                is_shared = sum(atom in other.left.terms for other in self._pending) > 1
                if is_shared and abs(factor) == 1 and atom not in self._pivots:
                    self._pivots.add(atom)
                    self._pending = [_without(atom, equation, other) for other in self._pending]
                    return True
        return False

    # Digits.

    def _complete_source(self) -> bool:
        """Makes an equation of a source whose digits are all known; whether there was one."""
        for digit in self._digits:
            if self._is_known(digit.source):
                self._require(digit.meaning - digit.value)
        self._digits = [digit for digit in self._digits if not self._is_known(digit.source)]
        for source in self._sources():
            links = chain(self._digits_of(source))
            equation = self._from_digits(source, links)
            if equation is not None:
                self._without_digits_of(source, links)
                self._pending.append(equation)
                return True
        return False

    def _sources(self) -> list[Form]:
        return list({digit.source.key: digit.source for digit in self._digits}.values())

    def _digits_of(self, source: Form) -> list[Digit]:
        return _of_source(self._digits, source)

    def _from_digits(self, source: Form, links: Chain) -> Equation | None:
        """The source as the sum of its digits, if they determine it."""
        unknown, right = self._with_known_right(Equation(source, links.value), self._digits)
        if not links.end:
            return Equation(unknown, right)
        lower, upper = self._scope.range_of(unknown)
        if not isinstance(lower, int) or upper - lower >= links.end:
            return None
        wrapped = mod(right.plus_constant(-lower), links.end)
        return Equation(unknown, wrapped.plus_constant(lower))

    def _without_digits_of(self, source: Form, links: Chain) -> None:
        """Removes the digits of a source; what they say beyond its value becomes a condition."""
        others = [digit for digit in self._digits if digit.of_source(source) is None]
        is_implied = self._is_implied_without(source, links, others)
        for digit in self._digits:
            own = digit.of_source(source)
            if own is not None and not (is_implied and links.contains(own)):
                self._require(digit.meaning - digit.value)
            elif own is not None and digit.radix:
                self._require(digit.value, Interval(0, digit.radix - 1))
        self._digits = others

    def _is_implied_without(self, source: Form, links: Chain, others: Sequence[Digit]) -> bool:
        """Whether the equation made of all digits of a source does not use them itself."""
        equation = Equation(source, links.value)
        return self._with_known_right(equation, others) == self._with_known_right(
            equation, self._digits
        )

    # Free variables.

    def _choices(self) -> Iterator[_Choice]:
        """Missing digits and unknowns of the equations left; else any unknown."""
        yield from map(self._missing_digit, self._sources())
        left = [name for name in self._sought if name not in self._known]
        involved = {name for equation in self._pending for name in _names(equation.left)}
        if not self._digits and involved.isdisjoint(left):
            involved.update(left)
        for name in left:
            if name in involved:
                rank = 1 + name.startswith("d")
                take = partial(self._known.__setitem__, name)
                yield _Choice(self._sought[name], rank, take)

    def _missing_digit(self, source: Form) -> _Choice:
        """The lowest missing digit of a source, up to the next one that is known."""
        own = self._digits_of(source)
        weight = chain(own).end
        above = (digit.weight for digit in own if digit.weight > weight)
        radix = min((other // weight for other in above if not other % weight), default=0)
        values = Interval.from_range(self._scope.range_of(source)) // weight

        def take(value: Form) -> None:
            self._digits.append(Digit(source, weight, radix, value))

        return _Choice(Interval(0, radix - 1) if radix else values, 0, take)

    def _fresh(self, values: Interval) -> Form:
        name = f"t{len(self._free)}"
        self._free[name] = values
        return forms.variable(name)


def _carried(equation: Equation, digits: Sequence[Digit]) -> Equation:
    """The equation with quotients of sources instead of shifted sources.

    So ``floor((x + 3) / 6)`` is ``floor(x / 6)`` plus the carry of ``floor(x / 3) mod 2``.
    """
    left, right = equation
    for atom, factor in equation.left.terms.items():
        carries = (digit.carry(atom) for digit in digits)
        for quotient, carry in filter(None, carries):
            left = left.plus_atom(atom, -factor).plus(quotient, factor)
            right = right.plus(carry, -factor)
            break
    return Equation(left, right)


def _without_known_quotients(equation: Equation, digits: Sequence[Digit]) -> Equation:
    """The equation with the known quotients on the right, also those that digits borrow."""
    left, right = equation
    known = {(digit.source, digit.weight): digit.value for digit in digits if not digit.radix}
    for atom, factor in equation.left.terms.items():
        if atom.kind is AtomKind.FLOORDIV and (atom.numerator, atom.divisor) in known:
            left = left.plus_atom(atom, -factor)
            right = right.plus(known[atom.numerator, atom.divisor], -factor)
    return Equation(left, right)


def _of_source(digits: Iterable[Digit], source: Form) -> list[Digit]:
    """Those digits that are digits of a source."""
    own = (digit.of_source(source) for digit in digits)
    return [digit for digit in own if digit is not None]


def _names(form: Form) -> Iterator[str]:
    return forms.variables_of((form,))


def _without(atom: Atom, pivot: Equation, equation: Equation) -> Equation:
    """The equation with a multiple of the pivot added, so that the atom goes."""
    if equation is pivot or atom not in equation.left.terms:
        return equation
    times = -equation.left.terms[atom] * pivot.left.terms[atom]
    left = equation.left.plus(pivot.left, times)
    return Equation(left, equation.right.plus(pivot.right, times))


def _size(values: Interval) -> int | Infinity:
    return INFINITY if values.size is None else values.size
