"""The kinds of random maps: small enough that all their points can be enumerated."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Final

from benchmarks.fuzzing.kinds import Recipe
from benchmarks.fuzzing.map_case import MapCase
from benchmarks.problems import happens
from indexing import Variable
from indexing.domain import Constraint, Domain
from simplifier.bounds.interval import Interval
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import Form

MAX_POINTS: Final = 64
"""The most points of a box of variables."""

_FACTORS: Final = (1, 1, -1, 2, 3, 4, 5, -3, 8, 16, -2, 6, 32, 7, 24)
_SHIFTS: Final = (0, 0, 0, 0, 1, -2, 2, -7, 32)
_LOWERS: Final = (0, 0, 0, 0, -1, -3, 2, 5)


def _domain(random: Random, most: int = MAX_POINTS) -> Domain:
    """One to three dimensions, up to two ranges, at most one runtime variable."""
    counts = random.randint(1, 3), random.choice((0, 0, 1, 1, 2)), random.choice((0, 0, 0, 1))
    left = most
    variables: list[Variable] = []
    for _ in range(sum(counts)):
        size = random.randint(1, min(7, left))
        left //= size
        lower = random.choice(_LOWERS)
        variables.append(Variable(Interval(lower, lower + size - 1)))
    dims, ranges, _ = counts
    return Domain.of(variables[:dims], variables[dims : dims + ranges], variables[dims + ranges :])


def _sum(random: Random, names: Sequence[str]) -> Form:
    """An affine form of some of the variables."""
    total = forms.constant(random.choice((0, 0, 1, 3, 5, -2, 7)))
    for name in random.sample(names, random.randint(1, len(names))):
        total = total.plus(forms.variable(name), random.choice(_FACTORS))
    return total


@dataclass(frozen=True, slots=True)
class _Digits:
    """Quotients and remainders of one or two sums, by divisors that divide each other."""

    names: Sequence[str]
    sources: Sequence[Form]
    divisors: Sequence[int]

    @classmethod
    def of(cls, random: Random, names: Sequence[str]) -> _Digits:
        one, two, three = (random.choice((2, 3, 4, 5, 6, 8)) for _ in range(3))
        sources = [_sum(random, names) for _ in range(random.choice((1, 1, 1, 2)))]
        return cls(names, sources, (one, one * two, one * two * three, two, 1))

    def expression(self, random: Random) -> Form:
        """A sum of digits of one source, shifted by this and that, with new weights."""
        source = random.choice(self.sources)
        total = forms.constant(random.choice((0, 0, 1, -4)))
        for _ in range(random.randint(1, 4)):
            total = total.plus(self._digit(random, source), self._weight(random))
        if happens(random, 0.15):
            total = total.plus(forms.variable(random.choice(self.names)), random.choice(_FACTORS))
        if happens(random, 0.25):
            operation = random.choice((operations.floordiv, operations.mod))
            total = operation(total, self._divisor(random))
        return total

    def _digit(self, random: Random, source: Form) -> Form:
        shift = random.choice((*_SHIFTS, self.divisors[0], -self.divisors[1]))
        digit = source.plus_constant(shift)
        if happens(random, 0.7):
            digit = operations.floordiv(digit, self._divisor(random))
        if happens(random, 0.6):
            digit = operations.mod(digit, self._divisor(random))
        return digit

    def _weight(self, random: Random) -> int:
        first, second, *_ = self.divisors
        return random.choice((1, 1, -1, 2, 3, 4, *self.divisors, -first, -second))

    def _divisor(self, random: Random) -> Form:
        return forms.constant(random.choice(self.divisors))


def _quotients(random: Random) -> MapCase:
    """Quotients of one source at many divisors, which the inverse reads as digits."""
    domain = _domain(random)
    names = domain.identifiers
    digits = _Digits.of(random, names)
    results = [digits.expression(random) for _ in range(random.choice((1, 1, 2, 2, 3)))]
    if happens(random, 0.2):
        results.append(forms.variable(random.choice(names)))
    limits: list[Constraint] = []
    if happens(random, 0.25):
        form = digits.expression(random) if happens(random, 0.5) else _sum(random, names)
        limits.append((form, _limit(random)))
    return MapCase.of(results, domain.constrained(limits))


def _limit(random: Random) -> Interval:
    lower = random.choice((0, 0, -3, 1, 2))
    return Interval(lower, lower + random.choice((0, 0, 1, 3, 10)))


def _digits(random: Random) -> MapCase:
    """One or two digits of one source, on few points: what is quick to ask everything about."""
    domain = _domain(random, 12)
    names = domain.identifiers
    source = _sum(random, names)
    results: list[Form] = []
    for _ in range(random.choice((1, 1, 2))):
        radix = random.choice((2, 3, 4, 5, 6))
        digit = operations.floordiv(source, forms.constant(random.choice((1, 2, 3, 4))))
        rest = operations.mod(source, forms.constant(radix))
        results.append(random.choice((digit, rest, rest.plus(digit, radix))))
    return MapCase.of(results, domain)


_PARTS: Final = Recipe(divisors=(2, 2, 3, 4, 5, 6, 7, 8, -2, -3), leaves=(1, 4))


def _mixed(random: Random) -> MapCase:
    """Any quasi-affine results and constraints."""
    domain = _domain(random)
    recipe = replace(_PARTS, names=domain.identifiers)
    results = [
        recipe.expression(random, domain.identifiers, random.randint(*recipe.leaves))
        for _ in range(random.randint(0, 3))
    ]
    limits = [
        (recipe.expression(random, domain.identifiers, random.randint(1, 3)), _limit(random))
        for _ in range(random.choice((0, 0, 1, 1, 2)))
    ]
    return MapCase.of(results, domain.constrained(limits))


def _windows(random: Random) -> MapCase:
    """Strided, dilated, padded windows: what is outside of the array, or between its elements."""
    domain = _domain(random)
    results: list[Form] = []
    limits: list[Constraint] = []
    for _ in range(random.randint(1, 2)):
        place = _sum(random, domain.identifiers)
        size, dilation = random.randint(1, 9), random.choice((1, 1, 2, 3))
        results.append(operations.floordiv(place, forms.constant(dilation)))
        limits.append((place, Interval(0, (size - 1) * dilation)))
        if dilation > 1:
            limits.append((operations.mod(place, forms.constant(dilation)), Interval(0, 0)))
    return MapCase.of(results, domain.constrained(limits))


def _indices(random: Random) -> MapCase:
    """Indices split, permuted and joined again, as reshapes, transposes and layouts do."""
    shape = [random.choice((2, 3, 4, 6)) for _ in range(random.randint(1, 3))]
    linear = forms.ZERO
    for axis, size in enumerate(shape):
        linear = linear.times(size).plus(forms.variable(f"d{axis}"))
    digits: list[tuple[Form, int]] = []
    for size in random.sample((2, 3, 4, 6, 8), random.randint(1, 3)):
        digits.append((operations.mod(linear, forms.constant(size)), size))
        linear = operations.floordiv(linear, forms.constant(size))
    digits.append((linear, random.randint(1, 6)))
    random.shuffle(digits)
    results: list[Form] = []
    joined = forms.ZERO
    for digit, size in digits:
        joined = joined.times(size + random.choice((0, 0, 0, 1))).plus(digit)
        if happens(random, 0.5):
            results.append(joined)
            joined = forms.ZERO
    return MapCase.of([*results, joined], Domain.of(map(Variable.of_size, shape)))


KINDS: Final[Mapping[str, Callable[[Random], MapCase]]] = {
    "quotients": _quotients,
    "digits": _digits,
    "mixed": _mixed,
    "windows": _windows,
    "indices": _indices,
}
"""The kinds of maps."""

WEIGHTS: Final[Mapping[str, float]] = {
    "quotients": 0.5,
    "digits": 10,
    "mixed": 45,
    "windows": 40,
    "indices": 4.5,
}
"""How many of a hundred cases are of a kind: few of those that take long."""
