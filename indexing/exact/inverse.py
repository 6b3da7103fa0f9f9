"""Solves equations between integers for their variables: how an index is inverted.

``x*8 + z = y`` with ``z`` in ``[0, 7]`` holds two digits of ``y``: ``x = y floordiv 8`` and
``z = y mod 8``. A quotient or remainder with a known value is a digit of its numerator, and a
number is known once all its digits are. If the equations do not determine everything, a free
variable takes the values of a missing digit or of one of the variables.

Proof. Pending equations, digits and conditions together are always equivalent to the given
equations, because each step is an equivalence for unknowns within their bounds:

* a term with a known value moves to the right; a multiple of another pending equation is added;
* ``g*A = B`` is ``A = B floordiv g`` and ``B mod g = 0``;
* ``H*w + L = B`` with ``L`` in ``[l, l + w - 1]`` is ``H = (B - l) floordiv w`` and
  ``L = (B - l) mod w + l``;
* ``a*x mod n = v`` with ``a*b mod n = 1`` is ``x mod n = b*v mod n`` and ``v`` in ``[0, n - 1]``;
* a number is the sum of its digits times their weights, where each begins at the weight at which
  the one below ends; each digit is a condition of its own, unless that sum says it already;
* a digit or an unknown that nothing determines has some value: the free variable.

Each step makes an equation shorter, knows one more digit or unknown, or uses up a pivot. Rounding
could go on forever, so after a number of steps the rest becomes conditions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from math import gcd, lcm
from typing import Final, NamedTuple

from indexing.domain import Constraint, Domain, distinctly_named, substituted_constraints
from indexing.exact import bits
from indexing.exact.few_points import elements
from indexing.exact.isl import check_quasi_affine
from indexing.exact.symbolic import symbolic_inverse
from indexing.relation import Relation, RelationT
from indexing.simplify import result_bounds, simplified
from indexing.transform.substitute import symbols, without_unused
from indexing.variable import Variable
from simplifier import forms
from simplifier.exact import NotQuasiAffineError
from simplifier.forms import Atom, AtomKind, Form, Infinity, Interval, Key, Scope, Unit

# Inverts a map: from results back to the dimensions that lead to them.


def inverse(indexing_map: RelationT) -> RelationT:
    """The map from results to dimensions that relates the same elements the other way round.

    :meth:`IndexingMap.inverse` says what becomes of the variables.

    Raises:
        NotQuasiAffineError: naming the first term that is not quasi-affine.

    >>> from indexing import parse_map
    >>> print(inverse(parse_map("(d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 3], d1 in [0, 7]")))
    (d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]
    """
    simplest = simplified(indexing_map, preserve_ranges=True)
    if simplest.is_known_empty:
        nowhere = Domain.of(Variable.of_size(0) for _ in simplest.forms)
        return simplest.derived((forms.ZERO for _ in simplest.dims), nowhere.emptied())
    try:
        check_quasi_affine(simplest.domain, simplest.forms)
    except NotQuasiAffineError:
        found = symbolic_inverse(simplest)
        found = inverse_of_bits(simplest) if found is None else found
        if found is None:
            raise
        return found
    solved = simplified(solved_for_dims(simplest, indexing_map.forms))
    found = without_unused(solved, symbols)
    # A permutation of bits, written as a sum whose terms share bits, is solved by no equation.
    return (inverse_of_bits(simplest) if found.ranges else None) or found


def solved_for_dims(simplest: RelationT, given_results: Sequence[Form]) -> RelationT:
    """The inverse before it is simplified: it relates exactly the same elements, read backwards.

    Assumes that the map is quasi-affine and not known to be empty, and that ``given_results`` have
    the values of its results on its domain: they are the results before they were simplified, and
    tell which sums were split. Neither has to be simplified.

    Proof: the equations ``result = y``, ``sum = n``, and those among the constraints are true for
    exactly the elements that the map relates; :mod:`indexing.exact.inverse` solves them for all
    variables but runtime ones and parameters, which are known. The other constraints become
    conditions. They are rewritten by equations only.
    """
    domain = simplest.domain
    numerators = _shared_numerators(given_results)
    scope = _scope_with(domain, numerators)
    results = _over_numerators(given_results, numerators) if numerators else simplest.forms
    outputs = [
        Equation(scope.canonical(form), forms.variable(f"y{position}"))
        for position, form in enumerate(results)
    ]
    sums = [
        Equation(whole - forms.variable(name), forms.ZERO) for name, whole in numerators.items()
    ]
    known = domain.identifiers[len(domain.dims) + len(domain.ranges) :]
    sought = {name: ends for name, ends in scope.bounds.items() if name not in known}
    solution = solved(scope, [*outputs, *sums, *_equalities(domain)], sought)
    others = substituted_constraints(_inequalities(scope, domain, outputs), solution.values)
    values = [solution.values[identifier] for identifier in domain.identifiers[: len(domain.dims)]]
    # In the order in which the inverse uses them.
    free = sorted(solution.free, key=[*forms.variables_of(values), *solution.free].index)
    ranges = _ranges_of(domain, solution, free)
    made = distinctly_named(_dims_of(simplest), ranges, domain.runtime, domain.parameters)
    old = (*(f"y{position}" for position in range(len(outputs))), *free)
    renaming = dict(zip(old, map(forms.variable, made.identifiers), strict=False))
    constraints = substituted_constraints([*solution.conditions, *others], renaming)
    return simplest.derived(forms.substitute(values, renaming), made.constrained(constraints))


def _shared_numerators(given_results: Sequence[Form]) -> dict[str, Form]:
    """Sums that several quotients and remainders divide: indices that are split.

    They are called ``n0 n1 ...`` and solved for like variables. Canonical forms would split their
    terms into digits instead.
    """
    numerators = Counter(
        atom.numerator
        for atom in forms.postorder(given_results)
        if atom.divisor and len(atom.numerator.terms) > 1 and atom.numerator.is_affine
    )
    shared = (form for form, times in numerators.items() if times > 1)
    return {f"n{position}": form for position, form in enumerate(shared)}


def _over_numerators(given_results: Sequence[Form], numerators: Mapping[str, Form]) -> list[Form]:
    """The forms with a variable for each shared numerator."""
    names = {whole: forms.variable(name) for name, whole in numerators.items()}
    replacements = {
        atom: forms.build(atom.kind, (names[atom.numerator], atom.arguments[1]))
        for atom in forms.postorder(given_results)
        if atom.divisor and atom.numerator in names
    }
    return [forms.replace(form, replacements) for form in given_results]


def _scope_with(domain: Domain, numerators: Mapping[str, Form]) -> Scope:
    """The scope of the bounds of variables and shared numerators."""
    bounds = tuple(domain.bounds.items())
    plain = forms.scope_of(bounds)
    ranges = ((name, forms.range_of(plain, whole)) for name, whole in numerators.items())
    return forms.scope_of((*bounds, *ranges))


def _equalities(domain: Domain) -> Iterator[Equation]:
    for form, interval in domain.constraints:
        if interval.lower is not None and interval.is_point:
            yield Equation(form, forms.constant(interval.lower))


def _inequalities(
    scope: Scope, domain: Domain, outputs: Sequence[Equation]
) -> Iterator[Constraint]:
    for form, interval in domain.constraints:
        if not interval.is_point:
            yield _by_results(scope.canonical(form), outputs) or form, interval


def _by_results(form: Form, outputs: Sequence[Equation]) -> Form | None:
    """The form with a result for terms that make it up, if there is such a result."""
    for terms, result in outputs:
        lead, unit = next(iter(terms.terms.items()), (None, 1))
        times, rest = divmod(form.terms.get(lead, 0) if lead else 0, unit)
        shorter = form.plus(terms, -times).plus(result, times)
        if times and not rest and len(shorter.terms) < len(form.terms):
            return shorter
    return None


def _dims_of(simplest: Relation) -> Iterator[Variable]:
    """A dimension for each result; a result that is a variable gives its name."""
    known = dict(zip(simplest.domain.identifiers, simplest.domain, strict=True))
    for form, bounds in zip(simplest.forms, result_bounds(simplest), strict=True):
        variable = known.get(form.single_variable() or "")
        yield Variable(bounds) if variable is None else variable.within(bounds)


def _ranges_of(
    domain: Domain, solution: GeneralSolution, free: Sequence[str]
) -> Iterator[Variable]:
    """A range for each free variable; a variable whose values it takes gives its name."""
    taken = {
        solution.values[identifier].single_variable(): variable
        for identifier, variable in zip(domain.identifiers, domain, strict=True)
        if identifier in solution.values
    }
    for name in free:
        bounds = solution.free[name]
        yield taken[name].within(bounds) if name in taken else Variable(bounds)


# Solving.

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

    >>> from simplifier.forms import scope_of
    >>> bounds = {"x": Interval(0, 3), "z": Interval(0, 7)}
    >>> x, y, z = map(forms.variable, "xyz")
    >>> solved(forms.scope_of(tuple(bounds.items())), [Equation(x * 8 + z, y)], bounds).values
    {'x': Form(y floordiv 8), 'z': Form(y mod 8)}
    """
    return _Solver(scope, equations, sought).solution()


class _Choice(NamedTuple):
    """Something that a free variable can take the value of."""

    values: Interval
    rank: int
    """Breaks ties: digits first, then ranges, then dimensions."""

    take: Callable[[Form], None]

    @property
    def order(self) -> tuple[int | Infinity, int]:
        """The fewest values come first."""
        return forms.INFINITY if self.values.size is None else self.values.size, self.rank


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

    def _run(self) -> None:
        """Propagate determined values, then introduce a free variable, until all are known."""
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
        self._run()
        values: dict[str, Form] = {}
        for name, form in self._known.items():
            (values[name],) = forms.substitute([form], values)
        limits = [self._within(name, bounds) for name, bounds in self._sought.items()]
        conditions = substituted_constraints([*self._conditions, *limits], values)
        return GeneralSolution(values, self._free, conditions)

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
        return self._sought.keys() & forms.variables_of((form,)) <= self._known.keys()

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
        left, right = forms.ZERO, carried.right - whole
        for weight, unit in self._scope.view(whole).units:
            unknown, known = self._parts_of(unit, digits)
            left = left.plus(unknown, weight)
            right = right.plus(unit.value - unknown - known, weight)
        return Equation(left, right + left)

    def _parts_of(self, unit: Unit, digits: Sequence[Digit]) -> tuple[Form, Form]:
        """The unknown and the known part of a unit."""
        if self._is_known(unit.value):
            return forms.ZERO, unit.value
        wanted = digit_of(unit, forms.ZERO)
        return (wanted and self._lower_and_upper(wanted, digits)) or (unit.value, forms.ZERO)

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
        """Equations that follow from one whose right side is all known; ``None`` if none do."""
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
        """Equations that follow from one whose left side is a sum of weighted units, if any."""
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
        quotient = right // common
        self._exact.update(quotient.terms)
        self._require(right % common)
        return Equation(left.exactly_divided(common), quotient)

    def _split_by_weight(self, units: list[tuple[int, Unit]], right: Form) -> list[Equation] | None:
        """Two equations: for the part below some weight, and for the multiples of it."""
        for weight in sorted({abs(weight) for weight, _ in units} - {1}):
            low = forms.weighted_sum((each, unit.value) for each, unit in units if each % weight)
            lower, upper = self._scope.range_of(low)
            if isinstance(lower, int) and upper - lower < weight:
                high = forms.weighted_sum(
                    (each, unit.value) for each, unit in units if not each % weight
                )
                if not all(self._is_shorter(part, units) for part in (low, high)):
                    continue
                rest = right.plus_constant(-lower)
                return [
                    Equation(high.exactly_divided(weight), rest // weight),
                    Equation(low, rest % weight + lower),
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
            links = chain(_of_source(self._digits, source))
            equation = self._from_digits(source, links)
            if equation is not None:
                self._without_digits_of(source, links)
                self._pending.append(equation)
                return True
        return False

    def _sources(self) -> list[Form]:
        return list({digit.source.key: digit.source for digit in self._digits}.values())

    def _from_digits(self, source: Form, links: Chain) -> Equation | None:
        """The source as the sum of its digits, if they determine it."""
        unknown, right = self._with_known_right(Equation(source, links.value), self._digits)
        if not links.end:
            return Equation(unknown, right)
        lower, upper = self._scope.range_of(unknown)
        if not isinstance(lower, int) or upper - lower >= links.end:
            return None
        return Equation(unknown, (right - lower) % links.end + lower)

    def _without_digits_of(self, source: Form, links: Chain) -> None:
        """Remove the digits of a source; any conditions beyond its value are kept."""
        others = [digit for digit in self._digits if digit.of_source(source) is None]
        whole = Equation(source, links.value)
        read = [self._with_known_right(whole, each) for each in (self._digits, others)]
        is_implied = read[0] == read[1]  # the equation made of the digits does not use them itself
        for digit in self._digits:
            own = digit.of_source(source)
            if own is not None and not (is_implied and (own.weight, own) in links.links):
                self._require(digit.meaning - digit.value)
            elif own is not None and digit.radix:
                self._require(digit.value, Interval(0, digit.radix - 1))
        self._digits = others

    # Free variables.

    def _choices(self) -> Iterator[_Choice]:
        """Missing digits and unknowns of the equations left; else any unknown."""
        yield from map(self._missing_digit, self._sources())
        left = [name for name in self._sought if name not in self._known]
        involved = {*forms.variables_of(equation.left for equation in self._pending)}
        if not self._digits and involved.isdisjoint(left):
            involved.update(left)
        for name in left:
            if name in involved:
                rank = 1 + name.startswith("d")
                take = partial(self._known.__setitem__, name)
                yield _Choice(self._sought[name], rank, take)

    def _missing_digit(self, source: Form) -> _Choice:
        """The lowest missing digit of a source, up to the next one that is known."""
        own = _of_source(self._digits, source)
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
    """The digits that are digits of a source."""
    own = (digit.of_source(source) for digit in digits)
    return [digit for digit in own if digit is not None]


def _without(atom: Atom, pivot: Equation, equation: Equation) -> Equation:
    """The equation with a multiple of the pivot added, so that the atom goes."""
    if equation is pivot or atom not in equation.left.terms:
        return equation
    times = -equation.left.terms[atom] * pivot.left.terms[atom]
    left = equation.left.plus(pivot.left, times)
    return Equation(left, equation.right.plus(pivot.right, times))


# Digits with known values, and the numbers that they make up.
#
# A digit of a number `n` is `floor(n / weight) mod radix`: a reshape or a tiled layout stores an
# index as such digits.


class Digit(NamedTuple):
    """``floor(source / weight) mod radix = value``; without ``mod`` if the radix is 0."""

    source: Form
    weight: int
    radix: int
    value: Form

    @property
    def end(self) -> int | Infinity:
        """The weight of the next digit; infinite after the top digit."""
        return self.weight * self.radix or forms.INFINITY

    @property
    def meaning(self) -> Form:
        """The form that the value equals."""
        quotient = self.source // self.weight
        return quotient % self.radix if self.radix else quotient

    def of_source(self, source: Form) -> Digit | None:
        """The same digit of another source, if one determines the other.

        It does if the sources differ by multiples of ``weight * radix``, and at weight 1 by
        anything constant.
        """
        apart = self.source - source
        turn = self.weight * self.radix
        if any(factor % turn if turn else factor for factor in apart.terms.values()):
            return None
        shift = apart.constant % turn if turn else apart.constant
        if not shift:
            return self._replace(source=source)
        if self.weight > 1 or not turn:
            return None
        return self._replace(source=source, value=(self.value - shift) % turn)

    def reduced(self) -> Digit:
        """Digit of the term, for a multiple of one term: ``a*x mod n`` gives ``x mod n``."""
        if self.weight > 1 or len(self.source.terms) != 1:
            return self
        ((atom, factor),) = self.source.terms.items()
        if abs(factor) == 1 or not self.radix or gcd(factor, self.radix) > 1:
            return self
        times = pow(factor, -1, self.radix)
        value = self.value.plus_constant(-self.source.constant).times(times)
        return Digit(Form(0, {atom: 1}), 1, self.radix, value % self.radix)

    def carry(self, quotient: Atom) -> tuple[Form, Form] | None:
        """A quotient of the source plus a constant, as one of the source and a carry.

        ``floor((x + k*w) / (w*n)) = floor(x / (w*n)) + floor((floor(x / w) mod n + k) / n)``.
        """
        if quotient.divisor != self.end or self.weight == 1:
            return None
        shift = quotient.numerator - self.source
        times, rest = divmod(shift.constant, self.weight)
        if shift.terms or rest or not times:
            return None
        return self.source // quotient.divisor, (self.value + times) // self.radix

    def has_part_from(self, weight: int) -> bool:
        """Whether part of the value is a digit that begins at a weight.

        ``floor(x mod 16 / 12)`` is no digit of ``x``, because 12 does not divide 16.
        """
        is_inside = self.weight <= weight < self.end and weight % self.weight == 0
        return is_inside and (not self.radix or self.weight * self.radix % weight == 0)


def with_gathered_quotient(
    scope: Scope, units: Sequence[tuple[int, Unit]]
) -> list[tuple[int, Unit]]:
    """The units with the first quotient that can be put together again.

    Canonical forms write ``floor((5*x + y) / 4)`` as ``x + floor((x + y) / 4)``, and
    ``floor((x + 1) / 2)`` as ``x mod 2 + floor(x / 2)``.
    """
    for weight, unit in units:
        atom = unit.value.only_atom
        if atom is None or atom.kind is not AtomKind.FLOORDIV:
            continue
        parts = [each for each in units if each[1] is unit or _is_part_of(atom, weight, *each)]
        if len(parts) > 1:
            value = forms.weighted_sum((factor // weight, part.value) for factor, part in parts)
            rest = [pair for pair in units if pair not in parts]
            return [*rest, (weight, Unit(value, *scope.range_of(value)))]
    return list(units)


def _is_part_of(quotient: Atom, weight: int, factor: int, unit: Unit) -> bool:
    """Whether a unit times a factor can have come out of a quotient of that weight."""
    if unit.quotient is quotient:
        return unit.radix == 2 and factor == weight  # noqa: PLR2004 - halves
    return factor % weight == 0 and unit.value.only_atom in quotient.numerator.terms


def digit_of(unit: Unit, value: Form) -> Digit | None:
    """The unit with its value as a digit, if it is one."""
    if unit.quotient is not None:
        divisor = unit.quotient.divisor
        return Digit(unit.quotient.numerator, divisor // unit.radix, unit.radix, value)
    for atom, factor in unit.value.terms.items():
        if atom.kind is AtomKind.FLOORDIV and factor == 1:
            beside = unit.value.without(atom)
            return Digit(atom.numerator.plus(beside, atom.divisor), atom.divisor, 0, value)
        if atom.divisor == 2 and unit.value.plus_atom(atom) == atom.numerator:  # noqa: PLR2004 - halves
            return Digit(atom.numerator.plus_constant(1), 2, 0, value)
    return None


class Chain(NamedTuple):
    """Digits that follow each other from weight 1 on."""

    links: tuple[tuple[int, Digit], ...]
    """Each with the weight from which it is used; it may overlap the one before."""

    end: int
    """The weight of the first missing digit; 0 if none is missing."""

    @property
    def value(self) -> Form:
        """The number with these digits."""
        parts = ((weight, digit.value // (weight // digit.weight)) for weight, digit in self.links)
        return forms.weighted_sum(parts)


def chain(digits: Sequence[Digit]) -> Chain:
    """The known digits of one source that follow each other.

    >>> y, z = map(forms.variable, "yz")
    >>> chain([Digit(forms.variable("x"), 8, 0, y), Digit(forms.variable("x"), 1, 8, z)]).value
    Form(y * 8 + z)
    """
    digits = [*digits, *_by_chinese_remainders(digits)]
    links: list[tuple[int, Digit]] = []
    weight = 1
    while weight and (here := [digit for digit in digits if digit.has_part_from(weight)]):
        digit = max(here, key=lambda digit: (digit.weight, digit.end))
        links.append((weight, digit))
        weight = digit.weight * digit.radix
    return Chain(tuple(links), weight)


def _by_chinese_remainders(digits: Sequence[Digit]) -> list[Digit]:
    """The remainders by products of coprime divisors, by the Chinese remainder theorem."""
    found: list[Digit] = []
    for one, other in combinations(digits, 2):
        if one.weight == other.weight and one.radix and other.radix:
            turn = lcm(one.radix, other.radix)
            if gcd(one.radix, other.radix) == 1 < turn:
                by_one = other.radix * pow(other.radix, -1, one.radix)
                by_other = one.radix * pow(one.radix, -1, other.radix)
                total = one.value.times(by_one).plus(other.value, by_other)
                found.append(one._replace(radix=turn, value=total % turn))
    return found


# Inverts maps that permute the bits of their dimensions or flip some by others, as swizzles do.


def inverse_of_bits(simplest: RelationT) -> RelationT | None:
    """The inverse of a bijection between boxes that is linear in bits; none for other maps.

    >>> from indexing import parse_map
    >>> print(inverse_of_bits(parse_map("(d0, d1) -> (d0, bitxor(d0, d1)), "
    ...                                 "domain: d0 in [0, 7], d1 in [0, 7]")))
    (d0, d1) -> (d0, bitxor(d0, d1)), domain: d0 in [0, 7], d1 in [0, 7]
    """
    sizes = bits_of_dims(simplest)
    if sizes is None:
        return None
    inputs = bits.input_bits(sizes)
    read = [bits.read_rows(form, inputs) for form in simplest.forms]
    known: list[bits.Rows] = [rows for rows in read if rows is not None]
    if len(known) < len(read):
        known = _rows_of_points(simplest, inputs)
    counts = list(map(len, known))
    if not known or sum(counts) != sum(sizes.values()):
        return None
    rows = [row for each in known for row in each]
    back = bits.right_inverse(bits.transposed(rows, len(rows)), len(rows))
    if back is None:
        return None
    sources = {f"d{number}": count for number, count in enumerate(counts)}
    results = bits.written(back, sources, sizes)
    return simplest.derived(results, Domain.of(Variable.of_size(1 << count) for count in counts))


def _rows_of_points(simplest: Relation, inputs: Iterable[bits.InputBits]) -> list[bits.Rows]:
    """The rows of results that are linear in bits at each of few points; none of other results."""
    place = forms.weighted_sum([(1 << digits.first, digits.variable) for digits in inputs])
    table = elements(simplest, (place, *simplest.forms), MAX_POINTS_READ)
    columns_of_values: list[list[int]] = [] if table is None else table.T[1:].tolist()
    found: list[bits.Rows] = []
    for values in columns_of_values:
        if min(values) < 0 or any(
            value != (values[at & (at - 1)] ^ values[at & -at] if at else 0)
            for at, value in enumerate(values)
        ):
            return []
        columns = [values[1 << bit] for bit in range((len(values) - 1).bit_length())]
        found.append(bits.transposed(columns, max(values).bit_length()))
    return found


MAX_POINTS_READ: Final = 1 << 12
"""Points at which a map is looked at for bits: a thousandth of a second."""


def bits_of_dims(indexing_map: Relation) -> dict[str, int] | None:
    """The number of bits of each dimension, if all run over these and there is nothing else."""
    domain = indexing_map.domain
    sizes: dict[str, int] = {}
    if indexing_map.ranges or indexing_map.runtime or domain.parameters or domain.constraints:
        return None
    for number, variable in enumerate(indexing_map.dims):
        lower, upper = variable.bounds.lower, variable.bounds.upper
        if lower != 0 or upper is None or upper < 0 or upper & (upper + 1):
            return None
        sizes[f"d{number}"] = upper.bit_length()
    return sizes
