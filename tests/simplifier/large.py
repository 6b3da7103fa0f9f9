"""Inputs of any size and depth, by name: nests, sums, wide extrema, huge integers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Final

import numpy as np

from simplifier import Interval
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import AtomKind, Form, variables_of
from tests.evaluation import Columns
from tests.extent import IN_CI

x, y = forms.variable("x"), forms.variable("y")
HUGE: Final = 10**499 + 7
MANY: Final = 10_000 if IN_CI else 2_000
"""Variables, or operands."""


def by(form: Form, divisor: int) -> Form:
    return operations.floordiv(form, forms.constant(divisor))


def modulo(form: Form, divisor: int) -> Form:
    return operations.mod(form, forms.constant(divisor))


def up(form: Form, divisor: int) -> Form:
    return operations.ceildiv(form, forms.constant(divisor))


def d(number: int) -> Form:
    return forms.variable(f"d{number}")


def where_greater(compared: Form, n: int, value: Form) -> Form:
    """The value where what is compared is greater than n, and elsewhere some number."""
    number = forms.constant(n * 7 % 13)
    return operations.select(operations.nonnegative(compared - n - 1), value, number)


low, high, times = operations.minimum, operations.maximum, operations.product

# One level more, and its number.
LEVELS: Mapping[str, Callable[[Form, int], Form]] = {
    "(f + 1) // 2": lambda f, _: by(f + 1, 2),
    "(f + x) // 3": lambda f, _: by(f + x, 3),
    "(f * 5 + y) // n": lambda f, n: by(f * 5 + y, n + 2),
    "(f * 3 + y) % 7": lambda f, _: modulo(f * 3 + y, 7),
    "(f * 3 + y) % (1000 + n)": lambda f, n: modulo(f * 3 + y, 1000 + n),
    "(f + 1) % (20000 - n)": lambda f, n: modulo(f + 1, 20_000 - n),
    "// 3 and % 97": lambda f, n: modulo(f * 5 + y, 97) if n % 2 else by(f * 7 + x, 3),
    "min(f + 1, y)": lambda f, _: low((f + 1, y)),
    "x // (f + 1)": lambda f, _: operations.floordiv(x, f + 1),
    "(f * 3 + x) % y": lambda f, _: operations.mod(f * 3 + x, y),
    "select(y > n, f, m)": lambda f, n: where_greater(y, n, f),
    "select(f > n, x, m)": lambda f, n: where_greater(f, n, x),
    "bitxor(f, y + n)": lambda f, n: operations.bitwise(AtomKind.BITXOR, (f, y + n)),
}

# Levels that hold the level below more than once: as texts they would be of exponential length.
SHARED: Mapping[str, Callable[[Form, int], Form]] = {
    "select(f > n, f, m)": lambda f, n: where_greater(f, n, f),
    "f + f // 2": lambda f, _: f + by(f, 2),
    "f + f // n": lambda f, n: f + by(f, n + 2),
    "f + f % n": lambda f, n: f + modulo(f, n + 2),
    "f // 2 + f % 3": lambda f, _: by(f, 2) + modulo(f, 3),
    "max((f + 1) // 2, f % 7)": lambda f, _: high((by(f + 1, 2), modulo(f, 7))),
    "max(min(f * 3, 50) % 11, f // 3) + f": lambda f, _: (
        high((modulo(low((f * 3, forms.constant(50))), 11), by(f, 3))) + f
    ),
}

# The term of that number.
TERMS: Mapping[str, Callable[[int], Form]] = {
    "variables": lambda n: d(n) * (n + 1),
    "dn // 8": lambda n: by(d(n) + n, 8),
    "dn // n": lambda n: by(d(n) + n, n + 2),
    "dn % 8": lambda n: modulo(d(n) * 3 + n, 8) * (n + 1),
    "dn % n": lambda n: modulo(d(n) * 3 + n, n + 2) * (n + 1),
    "dn // 8 * 8 + dn % 8": lambda n: by(d(n), 8) * 8 + modulo(d(n), 8),
    "dn ceildiv 7": lambda n: up(d(n), 7),
    "clamps": lambda n: low((high((d(n) - n % 30, forms.ZERO)), forms.constant(10))),
    "clamps of x": lambda n: high((x - 3 * n, forms.ZERO)),
    "products": lambda n: times((d(n), d(n + 1))),
    "dn // (y + n)": lambda n: operations.floordiv(d(n), y + n),
    "x // n": lambda n: by(x, n + 2),
    "x // n * n": lambda n: by(x, n + 2) * (n + 2),
    "x // n, any weights": lambda n: by(x, n + 2) * (n * n % 101 - 50),
    "x % n": lambda n: modulo(x, n + 2) * (n * 37 % 19 - 9),
    "x // n % m": lambda n: modulo(by(x, n + 2), n * 7 % 13 + 2) * (n + 1),
    "(x + n) // 12": lambda n: by(x + n, 12),
    "(x + n) // n": lambda n: by(x + n, n + 2),
    "(x * n + y) // 210": lambda n: by(x * (n + 1) + y, 210),
    "select(dn > 3, x, n)": lambda n: operations.select(
        operations.nonnegative(d(n) - 4), x, forms.constant(n)
    ),
}


def total(term: Callable[[int], Form], count: int) -> Form:
    """The sum of the first terms, gathered at once."""
    terms: dict[forms.Atom, int] = {}
    constant = 0
    for number in range(count):
        part = term(number)
        constant += part.constant
        forms.accumulate(terms, part)
    return forms.collected(constant, terms)


def chosen(branches: Sequence[tuple[Form, Form]]) -> Form:
    """The first value whose number is not negative; 0 where there is none."""
    form = forms.ZERO
    for number, value in reversed(branches):
        form = operations.select(operations.nonnegative(number), value, form)
    return form


WHOLES: Mapping[str, Callable[[], Form]] = {
    "(many variables) // 8": lambda: by(total(TERMS["variables"], MANY), 8),
    "(2,000 variables) // 720720": lambda: by(total(TERMS["variables"], 2_000), 720_720),
    "(many variables) % 1000003": lambda: modulo(total(TERMS["variables"], MANY), 1_000_003),
    "(1,000 quotients) // 12": lambda: by(total(TERMS["dn // 8"], 1000), 12),
    "200 bits reversed": lambda: total(lambda n: modulo(by(x, 2**n), 2) * 2 ** (199 - n), 200),
    "200 bits": lambda: total(lambda n: modulo(by(x, 2**n), 2) * 2**n, 200),
    "all powers of 2": lambda: total(lambda n: by(x, 2 ** (n + 1)) * (n * n - 50), 200),
    "digits that do not nest": lambda: by(total(lambda n: d(n) * 2**n, 200), 2**100 * 3**50),
    "min of 1,000": lambda: low([d(n) + n for n in range(1000)]),
    "min of 1,000 multiples": lambda: low([x * (n - 500) + y * (n * n % 77) for n in range(1000)]),
    "max of 1,000 quotients": lambda: high([by(x * (n % 7 + 1), n + 2) - n for n in range(1000)]),
    "max of 1,000 clamps": lambda: high([low((d(n), forms.constant(n % 40))) for n in range(1000)]),
    "min of many shifts": lambda: low([x * (n % 2 + 1) + n for n in range(MANY)]),
    "product of 20 sums": lambda: times([d(n) + d(n + 1) + 1 for n in range(20)]),
    "(x + 1) ** 200": lambda: times([x + 1] * 200),
    "product of 300 shifts": lambda: times([x + n for n in range(300)]),
    "quotient of products": lambda: operations.floordiv(
        times([d(n) + d(n + 1) + 1 for n in range(8)]), times([d(n) + 1 for n in range(4)])
    ),
    "choice of 64 values": lambda: chosen([(x - 4 * n, y + n) for n in range(64)]),
    "64 conditions": lambda: operations.conjunction(
        operations.nonnegative(d(n) * 2 + y - n) for n in range(64)
    ),
    "500 digits": lambda: by(x * HUGE + modulo(y * (HUGE * 3 + 1) + HUGE, HUGE // 7), HUGE + 12),
    "500 digits, nested": lambda: modulo(
        by(modulo(x * HUGE + y, 10**400), 10**300) * 10**499 - high((x, y * HUGE)), 10**498
    ),
    "500 digits, thirty times": lambda: total(
        lambda n: by(x * (HUGE + n) + y * n, HUGE * 2 + n * n) * HUGE, 30
    ),
    "500 digits, split": lambda: total(
        lambda n: modulo(by(x + HUGE, 10 ** (5 * n)), 10**5) * 10 ** (5 * n), 90
    ),
    "500 digits, symbolic": lambda: operations.floordiv(times((x * HUGE, y + HUGE)), y * HUGE + 1),
}


def nest(one_more: Callable[[Form, int], Form], levels: int) -> Form:
    form = x
    for level in range(levels):
        form = one_more(form, level)
    return form


def box_of(form: Form) -> dict[str, Interval]:
    names, some = sorted({*variables_of([form])}), {"x": Interval(0, 10**6), "y": Interval(1, 100)}
    return {name: some.get(name) or Interval(0, int(name[1:]) * 7 % 50 + 1) for name in names}


def points_in(box: Mapping[str, Interval], count: int = 5) -> Columns:
    """Both corners of a box, and some points between."""
    random = Random(0)  # noqa: S311 - a sample, not a secret
    points: Columns = {}
    for name, interval in box.items():
        lower, upper = interval.lower or 0, interval.upper or 0
        between = [random.randint(lower, upper) for _ in range(count - 2)]
        points[name] = np.array([lower, upper, *between], dtype=object)
    return points
