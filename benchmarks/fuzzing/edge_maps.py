"""Random maps whose values lie near the ends of the integer types, and points to run them at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from typing import Final

import numpy as np

from benchmarks.problems import happens, seeded
from indexing import IndexingMap, MapError, Variable
from indexing.code.functions import check_portable
from indexing.domain import Constraint, Domain
from simplifier.bounds.interval import Interval
from simplifier.evaluation import MAX_INT64
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import Form

Row = tuple[int, ...]

MAX_POINTS: Final = 12
"""So many points of a map are run, and as many around its domain."""

_ENDS: Final = {32: (31, 31, 31, 31, 31, 32, 16), 54: (31, 31, 31, 52, 53), 64: (31, 31, 62, 63)}
"""By the bits of a language: powers of two near which values lie."""
_NEAR: Final = (0, 0, 0, 1, -1, 2, -2, 7)
_SMALL: Final = (0, 0, 0, 1, -1, 3, -5, 8, 100, 1024, -1024)
_FACTORS: Final = (1, 1, 1, -1, -1, 2, -2, 3, -8, 1000, 65536, 1 << 30, -(1 << 31))
_DIVISORS: Final = (-1, -1, 1, 2, 3, 4, 7, 8, 1024, -2, -3, -1024, (1 << 31) - 1, 1 << 31)
_FAR_DIVISORS: Final = (-(1 << 31), 1 << 32, 1 << 40, (1 << 52) + 1, (1 << 62) + 1)


@dataclass(frozen=True, slots=True)
class EdgeMap:
    """A map, points inside of its domain and around it, and what is right there."""

    map: IndexingMap
    inside: Sequence[tuple[Row, Row]]
    """Points with their results."""
    asked: Sequence[tuple[Row, bool]]
    """Points, and whether they lie inside."""

    @property
    def columns(self) -> list[list[int]]:
        """The values of each variable at the points inside."""
        return [list(column) for column in zip(*(row for row, _ in self.inside), strict=True)]

    def within(self, kind: str) -> EdgeMap:
        """The map with those of the points that are asked that a type of integers can hold."""
        ends = Interval(int(np.iinfo(kind).min), int(np.iinfo(kind).max))
        asked = [(row, holds) for row, holds in self.asked if all(map(ends.__contains__, row))]
        return replace(self, asked=asked)


def edge_map(seed: object, bits: int) -> EdgeMap:
    """A map whose values need at most so many bits, with a point in its domain."""
    random = seeded("edges", seed, bits)
    while True:
        drawn = _drawn(random, bits)
        if drawn is not None and drawn.inside:
            return drawn


def _drawn(random: Random, bits: int) -> EdgeMap | None:
    reach = 32 if happens(random, 0.5) else bits
    domain = Domain.of([Variable(_interval(random, reach)) for _ in range(random.randint(1, 3))])
    pool = [forms.variable(name) for name in domain.identifiers]
    for _ in range(random.choice((1, 2, 3, 4, 6, 9))):
        kind = random.choice([*_OPERATIONS])
        pool.append(_OPERATIONS[kind](random, pool))
    results = [pool[-1], *random.sample(pool, random.choice((0, 0, 1, 2)) % len(pool))]
    limits: list[Constraint] = []
    if happens(random, 0.3):
        limits.append((random.choice(pool), _interval(random, reach)))
    wanted = [*results, *(form for form, _ in limits)]
    try:
        check_portable(wanted, domain, "edge_map", bits)
    except MapError:
        return None
    indexing_map = IndexingMap.from_forms(results, domain.constrained(limits))
    if indexing_map.domain.is_known_empty:
        return None
    inside = [*_inside(indexing_map, random)]
    return EdgeMap(indexing_map, inside, [*_asked(indexing_map, random, inside)])


def _number(random: Random, reach: int) -> int:
    """A number that is small, or near an end."""
    if happens(random, 0.35):
        return random.choice(_SMALL)
    found = random.choice((1, -1)) * (1 << random.choice(_ENDS[reach])) + random.choice(_NEAR)
    return max(-MAX_INT64, min(found, MAX_INT64))


def _interval(random: Random, reach: int) -> Interval:
    one = _number(random, reach)
    other = one + random.randint(0, 9) if happens(random, 0.3) else _number(random, reach)
    return Interval(min(one, other), min(max(one, other), MAX_INT64))


# Operations.


def _operand(random: Random, pool: Sequence[Form]) -> Form:
    """A form of the pool, rather the last one, or a constant."""
    if happens(random, 0.15):
        return forms.constant(_number(random, 32))
    return pool[-1] if happens(random, 0.4) else random.choice(pool)


def _sum(random: Random, pool: Sequence[Form]) -> Form:
    total = forms.constant(_number(random, 32) if happens(random, 0.5) else 0)
    for _ in range(random.choice((1, 1, 2, 3))):
        total = total.plus(_operand(random, pool), random.choice(_FACTORS))
    return total


def _quotient(operate: Callable[[Form, Form], Form], random: Random, pool: Sequence[Form]) -> Form:
    numerator = _operand(random, pool)
    if happens(random, 0.7):
        far = happens(random, 0.2)
        return operate(
            numerator, forms.constant(random.choice(_FAR_DIVISORS if far else _DIVISORS))
        )
    divisor = _operand(random, pool)
    if happens(random, 0.5):
        extremum, end = random.choice(((operations.maximum, 1), (operations.minimum, -1)))
        return operate(numerator, extremum([divisor, forms.constant(end)]))
    is_zero = operations.zero(divisor)
    return operations.select(is_zero, _operand(random, pool), operate(numerator, divisor))


def _several(operate: Callable[[list[Form]], Form], random: Random, pool: Sequence[Form]) -> Form:
    return operate([_operand(random, pool) for _ in range(random.choice((2, 2, 3)))])


def _condition(random: Random, pool: Sequence[Form]) -> Form:
    operate = random.choice((operations.nonnegative, operations.zero))
    held = operate(_operand(random, pool) - _operand(random, pool))
    if happens(random, 0.3):
        held = operations.conjunction([held, operations.nonnegative(_operand(random, pool))])
    return operations.negation(held) if happens(random, 0.3) else held


def _choice(random: Random, pool: Sequence[Form]) -> Form:
    return operations.select(
        _condition(random, pool), _operand(random, pool), _operand(random, pool)
    )


_OPERATIONS: Final[Mapping[str, Callable[[Random, Sequence[Form]], Form]]] = {
    "sum": _sum,
    "sum again": _sum,
    "floordiv": partial(_quotient, operations.floordiv),
    "mod": partial(_quotient, operations.mod),
    "ceildiv": partial(_quotient, operations.ceildiv),
    "min": partial(_several, operations.minimum),
    "max": partial(_several, operations.maximum),
    "product": partial(_several, operations.product),
    "condition": _condition,
    "choice": _choice,
    **{
        kind.name.lower(): partial(_several, partial(operations.bitwise, kind))
        for kind in forms.BITWISE
    },
}


# Points.


def _inside(indexing_map: IndexingMap, random: Random) -> Iterator[tuple[Row, Row]]:
    for _ in range(MAX_POINTS):
        row = tuple(_value(each.bounds, random) for each in indexing_map.domain)
        if indexing_map.contains(row):
            yield row, tuple(indexing_map.evaluate(row))


def _asked(
    indexing_map: IndexingMap, random: Random, inside: Sequence[tuple[Row, Row]]
) -> Iterator[tuple[Row, bool]]:
    yield from ((row, True) for row, _ in inside)
    for _ in range(MAX_POINTS - 4):
        row = tuple(
            max(-MAX_INT64 - 1, min(_value(each.bounds, random) + random.choice(_NEAR), MAX_INT64))
            for each in indexing_map.domain
        )
        try:
            yield row, bool(indexing_map.contains(row))
        except MapError:  # divided by zero
            continue


def _value(bounds: Interval, random: Random) -> int:
    """A value within bounds, rather at an end."""
    lower, upper = bounds.lower or 0, bounds.upper or 0
    near = (lower, upper, lower + 1, upper - 1, 0, 1, -1, random.randint(lower, upper))
    return random.choice([value for value in near if lower <= value <= upper])
