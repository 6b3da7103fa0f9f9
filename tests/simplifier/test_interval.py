"""Intervals: comparisons, arithmetic, and ends that are not there."""

from __future__ import annotations

import operator
import pickle
from collections.abc import Callable, Iterable
from itertools import product
from typing import Any, cast

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from simplifier import Interval, IntervalError, UndecidedError
from simplifier.bounds.interval import Undecided, floordiv_range, meet
from tests.cases import for_all
from tests.strategies import bounded_intervals, half_open_intervals
from tests.xla.maps import COMPARISONS

ANY = Interval(None, None)
intervals = st.one_of(bounded_intervals(), half_open_intervals())
ON_INTEGERS: dict[str, Callable[[int, int], int]] = {
    **{name: getattr(operator, name) for name in ("gt", "lt", "ge", "le", "eq", "ne")},
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "min": min, "max": max,
}  # fmt: skip
ARITHMETIC: dict[str, Callable[[Interval, Interval], Interval]] = {
    **{name: getattr(operator, name) for name in ("add", "sub", "mul")},
    "min": Interval.min,
    "max": Interval.max,
}


def some_values(interval: Interval) -> list[int]:
    """A few values, both ends among them."""
    lower, upper = interval.lower, interval.upper
    near = [end + step for end in (lower, upper) if end is not None for step in (-1, 0, 1)]
    return [value for value in (*near, -1000, -2, 0, 3, 1000) if value in interval]


@given(a=intervals, b=intervals, divisor=st.integers(-9, 9).filter(bool))
def test_operations_hold_for_all_values(a: Interval, b: Interval, divisor: int) -> None:
    pairs = [*product(some_values(a), some_values(b))]
    for name, compare in COMPARISONS.items():
        answer, found = compare(a, b), {ON_INTEGERS[name](x, y) for x, y in pairs}
        assert found == {answer} if isinstance(answer, bool) else isinstance(answer, Undecided)
    for name, compute in ARITHMETIC.items():
        result = compute(a, b)
        assert all(ON_INTEGERS[name](x, y) in result for x, y in pairs), name
    quotient = a // divisor
    assert all(value // divisor in quotient for value in some_values(a))
    ends = {end // divisor for end in a.ends if isinstance(end, int)}
    assert {quotient.lower, quotient.upper} - {None} == ends


FAR = 10**6
"""It stands for an end that is missing."""

NEAR = [Interval(*ends) for ends in product((None, -2, -1, 0, 1, 2), repeat=2)]
FULL = [interval for interval in NEAR if not interval.is_empty]


def extreme_values(interval: Interval) -> list[int]:
    """The values among which operations are extreme: the ends, and those around 0."""
    lower = -FAR if interval.lower is None else interval.lower
    upper = FAR if interval.upper is None else interval.upper
    return [value for value in (-FAR, *range(-2, 3), FAR) if lower <= value <= upper]


def hull(values: Iterable[int]) -> Interval:
    """The least interval of values, without an end where one is far."""
    known = [*values]
    lower, upper = min(known), max(known)
    return Interval(None if lower < -FAR // 9 else lower, None if upper > FAR // 9 else upper)


def test_arithmetic_is_tight() -> None:
    for a, b in product(FULL, repeat=2):
        pairs = [*product(extreme_values(a), extreme_values(b))]
        for name, compute in ARITHMETIC.items():
            assert compute(a, b) == hull(ON_INTEGERS[name](x, y) for x, y in pairs), (name, a, b)
        quotients = [x // y for x, y in pairs if y]
        found = floordiv_range((a.ends, b.ends))
        assert found == (hull(quotients) if quotients else ANY).ends, (a, b)
    for a in FULL:
        assert -a == hull(-x for x in extreme_values(a))
        assert 2 - a == hull(2 - x for x in extreme_values(a))
        assert 2 + a == a + 2 == hull(2 + x for x in extreme_values(a))


def test_comparisons_are_decided_where_all_values_agree() -> None:
    for (name, compare), a, b in product(COMPARISONS.items(), FULL, FULL):
        pairs = product(extreme_values(a), extreme_values(b))
        found = {ON_INTEGERS[name](x, y) for x, y in pairs}
        answer = compare(a, b)
        assert (isinstance(answer, bool), {answer} == found) == (len(found) == 1,) * 2, (name, a, b)


def test_intervals_are_sets() -> None:
    for a, b in product(NEAR, repeat=2):
        mine, others = ({*extreme_values(each)} for each in (a, b))
        assert {*extreme_values(a.intersect(b))} == mine & others, (a, b)
        assert a.contains(b) == (mine >= others), (a, b)
        if mine | others:
            assert a.union(b) == hull(mine | others), (a, b)
        if mine & others:
            assert meet(a.ends, b.ends) == hull(mine & others).ends, (a, b)
        elif mine:
            assert meet(a.ends, b.ends) == a.ends, (a, b)
        assert all((value in a) == (value in mine) for value in (-FAR, *range(-2, 3), FAR))
        assert (a.is_empty, a.is_point) == (not mine, len(mine) == 1)
        size = None if None in (a.lower, a.upper) else len(mine)
        assert a.size == size, a


QUESTIONS = {
    "[0, 5] < [3, 9]": Interval(0, 5) < Interval(3, 9),
    "[0, inf] >= [3, 3]": Interval(0, None) >= Interval(3, 3),
    "[0, -1] > [3, 3]": Interval(0, -1) > Interval(3, 3),
    "[-inf, 5] == [2, 2]": Interval(None, 5).eq(2),
}


@for_all([*QUESTIONS.items()])
def test_unknown_is_no_truth_value(question: str, answer: object) -> None:
    assert isinstance(answer, Undecided)
    with pytest.raises(UndecidedError) as caught:
        bool(answer)
    assert caught.value.question == question


VALUES: dict[str, tuple[Interval, list[int]]] = {
    "point": (Interval(4, 4), [4]),
    "empty": (Interval(4, 3), []),
    "some": (Interval(-1, 2), [-1, 0, 1, 2]),
    "large": (Interval(10**40, 10**40 + 1), [10**40, 10**40 + 1]),
}


@for_all(VALUES)
def test_values(interval: Interval, values: list[int]) -> None:
    assert (list(interval), interval.size) == (values, len(values))
    assert (interval.is_empty, interval.is_point) == (not values, len(values) == 1)


NO_INTEGERS: Any = (0.5, "7", float("inf"))
REFUSED = {
    "float": (lambda: Interval(NO_INTEGERS[0], 1), "lower end has value 0.5; expected an integer"),
    "text": (lambda: Interval(0, NO_INTEGERS[1]), "upper end has value '7'; expected an integer"),
    "wrong end": (lambda: Interval(NO_INTEGERS[2], None), "lower end has value inf"),
    "truth": (lambda: Interval(0, True), "upper end has value True; expected an integer or None"),
    "triple": (lambda: Interval.of(cast("int", (1, 2, 3))), "(1, 2, 3) has 3 ends; expected 2"),
    "zero": (lambda: Interval(0, 1) // 0, "[0, 1] // 0: expected a divisor other than zero"),
    "endless": (lambda: iter(Interval(0, None)), "[0, inf] has no end to iterate to"),
}


@for_all(REFUSED)
def test_what_is_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(IntervalError) as caught:
        make()
    assert message in str(caught.value)


def test_infinite_ends_are_none_and_numpys_integers_are_integers() -> None:
    ends: Any = (sympy.S.NegativeInfinity, sympy.S.Infinity)
    assert Interval.of(ends) == Interval(None, None)
    assert Interval(cast("int", float("-inf")), 3) == Interval(None, 3)
    interval = Interval(cast("int", np.int64(0)), cast("int", np.int8(7)))
    assert (interval, type(interval.lower)) == (Interval(0, 7), int)


@given(intervals)
def test_pickle_keeps_the_value(interval: Interval) -> None:
    assert pickle.loads(pickle.dumps(interval)) == interval  # noqa: S301 - our own
