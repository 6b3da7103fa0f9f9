"""Intervals: XLA's interval tests in their order, then arithmetic and ends that are not there."""

from __future__ import annotations

import operator
import pickle
from typing import TYPE_CHECKING, Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simplifier import Interval, IntervalError, UndecidedError
from simplifier.bounds.interval import Undecided
from tests.conformance import Row, for_each, rows
from tests.strategies import bounded_intervals, half_open_intervals

if TYPE_CHECKING:
    from collections.abc import Callable

COMPARISONS: dict[str, Callable[[Interval, Interval], object]] = {
    "gt": operator.gt,
    "lt": operator.lt,
    "ge": operator.ge,
    "le": operator.le,
    "eq": Interval.eq,
    "ne": Interval.ne,
}
ARITHMETIC: dict[str, Callable[[Interval, Any], Interval]] = {
    "add": operator.add,
    "mul": operator.mul,
    "neg": lambda a, _: -a,
    "intersect": Interval.intersect,
    "union": Interval.union,
    "min": Interval.min,
    "max": Interval.max,
    "floordiv": lambda a, b: a // b.lower,
}
# XLA's interval_test.

SOME = Interval(12, 64)
UNKNOWN = None
POINTS: list[tuple[str, Interval, int, bool | None]] = [
    ("gt", SOME, 11, True),
    ("gt", SOME, 12, UNKNOWN),
    ("gt", SOME, 65, False),
    ("lt", SOME, 65, True),
    ("lt", SOME, 64, UNKNOWN),
    ("lt", SOME, 10, False),
    ("eq", SOME, 11, False),
    ("eq", SOME, 12, UNKNOWN),
    ("eq", SOME, 15, UNKNOWN),
    ("eq", SOME, 65, False),
    ("ne", SOME, 11, True),
    ("ne", SOME, 15, UNKNOWN),
    ("ne", SOME, 65, True),
    ("ge", SOME, 12, True),
    ("ge", SOME, 64, UNKNOWN),
    ("ge", SOME, 65, False),
    ("le", SOME, 11, False),
    ("le", SOME, 64, True),
    ("le", SOME, 63, UNKNOWN),
    ("le", SOME, 65, True),
    ("eq", Interval(15, 15), 15, True),
    ("eq", Interval(15, 15), 16, False),
    ("ne", Interval(15, 15), 15, False),
    ("ne", Interval(15, 15), 16, True),
]
RANGES: list[tuple[str, Interval, bool | None]] = [
    ("gt", Interval(-10, 11), True),
    ("gt", Interval(-10, 12), UNKNOWN),
    ("gt", SOME, UNKNOWN),
    ("gt", Interval(10, 20), UNKNOWN),
    ("gt", Interval(50, 60), UNKNOWN),
    ("gt", Interval(64, 100), False),
    ("gt", Interval(65, 100), False),
    ("lt", Interval(65, 100), True),
    ("lt", Interval(64, 100), UNKNOWN),
    ("lt", SOME, UNKNOWN),
    ("lt", Interval(50, 60), UNKNOWN),
    ("lt", Interval(10, 20), UNKNOWN),
    ("lt", Interval(-10, 12), False),
    ("lt", Interval(-10, 11), False),
    ("eq", SOME, UNKNOWN),
    ("eq", Interval(65, 100), False),
    ("eq", Interval(0, 11), False),
]


def answer(name: str, a: Interval, b: Interval) -> bool | None:
    """What a comparison says; ``None`` if it depends on the values."""
    said = COMPARISONS[name](a, b)
    assert isinstance(said, bool | Undecided)
    return UNKNOWN if isinstance(said, Undecided) else said


@pytest.mark.parametrize(("name", "interval", "point", "expected"), POINTS)
def test_point_comparisons(
    name: str, interval: Interval, point: int, expected: bool | None
) -> None:
    assert answer(name, interval, Interval(point, point)) is expected


@pytest.mark.parametrize(("name", "other", "expected"), RANGES)
def test_range_comparisons(name: str, other: Interval, expected: bool | None) -> None:
    assert answer(name, SOME, other) is expected


def test_addition() -> None:
    assert SOME + Interval(-100, 120) == Interval(12 - 100, 64 + 120)


LARGEST, SMALLEST = (1 << 63) - 1, -(1 << 63)
ANY = Interval(None, None)


# XLA's ends at 64 bits stand for "perhaps beyond"; ours are no ends.
def test_addition_saturating() -> None:
    positive, negative = Interval(0, None), Interval(None, 0)
    small, large = Interval(-100, 120), Interval(100, LARGEST - 80)
    assert positive + negative == ANY
    assert ANY + ANY == ANY
    assert small + ANY == ANY
    assert large + ANY == ANY
    assert large + positive == Interval(100, None)
    assert large + negative == Interval(None, large.upper)
    assert SOME + large == Interval(112, LARGEST - 16)
    # XLA saturates: [0, LARGEST].
    assert small + large == Interval(0, LARGEST + 40)


PRODUCTS = [
    (Interval(10, 100), Interval(-10, -1), Interval(-1000, -10)),
    (Interval(10, 100), Interval(-5, 6), Interval(-500, 600)),
    (Interval(10, 100), Interval(-20, 1000), Interval(-2000, 100000)),
    (Interval(-10, -1), Interval(-5, 6), Interval(-60, 50)),
    (Interval(-10, -1), Interval(-20, 1000), Interval(-10000, 200)),
    (Interval(-5, 6), Interval(-20, 1000), Interval(-5000, 6000)),
]


@pytest.mark.parametrize(("a", "b", "product"), PRODUCTS)
def test_multiplication(a: Interval, b: Interval, product: Interval) -> None:
    assert a * b == product
    assert b * a == product


def test_multiplication_saturating() -> None:
    bits = Interval(42, (1 << 32) - 1)
    # XLA saturates: [42 * 42, LARGEST].
    assert bits * bits == Interval(42 * 42, ((1 << 32) - 1) ** 2)
    assert ANY * ANY == ANY
    above, below, minus_one = Interval(42, None), Interval(None, -42), Interval(-1, -1)
    assert above * minus_one == below
    assert below * minus_one == above
    assert ANY * minus_one == ANY


# The rows of the conformance file.

# XLA's int64 stands for "perhaps beyond" at its ends; integers of Python do not end there.
NOT_SATURATED = {"30_mul": Interval(1764, 4294967295**2)}


def interval_of(ends: list[int]) -> Interval:
    """XLA's interval, whose saturated ends are no ends."""
    lower, upper = ends
    return Interval(None if lower == SMALLEST else lower, None if upper == LARGEST else upper)


@for_each(rows("interval"))
def test_xla_agrees(row: Row) -> None:
    a = interval_of(row["a"])
    if row["op"] == "loop_trip_count":
        assert a.size == row["expected"]
        return
    b = interval_of(row["b"]) if row["b"] else None
    if row["op"] in COMPARISONS:
        assert b is not None
        assert answer(row["op"], a, b) is row["expected"]
    else:
        expected = NOT_SATURATED.get(row["id"], interval_of(row["expected"]))
        assert ARITHMETIC[row["op"]](a, b) == expected


intervals = st.one_of(bounded_intervals(), half_open_intervals())
ON_INTEGERS: dict[str, Callable[[int, int], int]] = {
    **{name: getattr(operator, name) for name in ("gt", "lt", "ge", "le", "eq", "ne")},
    "add": operator.add,
    "mul": operator.mul,
    "min": min,
    "max": max,
}


def some_values(interval: Interval) -> list[int]:
    """A few values, both ends among them."""
    lower, upper = interval.lower, interval.upper
    near = [end + step for end in (lower, upper) if end is not None for step in (-1, 0, 1)]
    return [value for value in (*near, -1000, -2, 0, 3, 1000) if value in interval]


@pytest.mark.parametrize("name", list(COMPARISONS))
@given(a=intervals, b=intervals)
def test_a_decided_comparison_holds_for_all_values(name: str, a: Interval, b: Interval) -> None:
    answer = COMPARISONS[name](a, b)
    found = {ON_INTEGERS[name](x, y) for x in some_values(a) for y in some_values(b)}
    assert found == {answer} if isinstance(answer, bool) else isinstance(answer, Undecided)


@pytest.mark.parametrize("name", ["add", "mul", "min", "max"])
@given(a=intervals, b=intervals)
def test_arithmetic_holds_all_values(name: str, a: Interval, b: Interval) -> None:
    result = ARITHMETIC[name](a, b)
    values = [ON_INTEGERS[name](x, y) for x in some_values(a) for y in some_values(b)]
    assert all(value in result for value in values)


@given(a=intervals, divisor=st.integers(-9, 9).filter(bool))
def test_quotients_are_tight(a: Interval, divisor: int) -> None:
    quotient = a // divisor
    assert all(value // divisor in quotient for value in some_values(a))
    ends = [end // divisor for end in (a.lower, a.upper) if end is not None]
    assert {quotient.lower, quotient.upper} - {None} == set(ends)


QUESTIONS = [
    (lambda: Interval(0, 5) < Interval(3, 9), "[0, 5] < [3, 9]"),
    (lambda: Interval(0, None) >= Interval(3, 3), "[0, inf] >= [3, 3]"),
    (lambda: Interval(0, -1) > Interval(3, 3), "[0, -1] > [3, 3]"),
    (lambda: Interval(None, 5).eq(2), "[-inf, 5] == [2, 2]"),
]


@pytest.mark.parametrize(
    ("ask", "question"), QUESTIONS, ids=[question for _, question in QUESTIONS]
)
def test_unknown_is_no_truth_value(ask: Callable[[], object], question: str) -> None:
    answer = ask()
    assert isinstance(answer, Undecided)
    with pytest.raises(UndecidedError) as caught:
        bool(answer)
    assert caught.value.question == question


VALUES: list[tuple[str, Interval, int, list[int]]] = [
    ("point", Interval(4, 4), 1, [4]),
    ("empty", Interval(4, 3), 0, []),
    ("some", Interval(-1, 2), 4, [-1, 0, 1, 2]),
    ("large", Interval(10**40, 10**40 + 1), 2, [10**40, 10**40 + 1]),
]


@pytest.mark.parametrize(
    ("interval", "size", "values"), [case[1:] for case in VALUES], ids=[case[0] for case in VALUES]
)
def test_values(interval: Interval, size: int, values: list[int]) -> None:
    assert interval.size == size
    assert list(interval) == values
    assert interval.is_empty is (not values)
    assert interval.is_point is (size == 1)


REFUSED = [
    (
        "float",
        lambda: Interval(cast("int", 0.5), 1),
        "lower end has value 0.5; expected an integer or None",
    ),
    (
        "text",
        lambda: Interval(0, cast("int", "7")),
        "upper end has value '7'; expected an integer or None",
    ),
    ("truth", lambda: Interval(0, True), "upper end has value True; expected an integer or None"),
    ("triple", lambda: Interval.of(cast("int", (1, 2, 3))), "(1, 2, 3) has 3 ends; expected 2"),
    ("zero", lambda: Interval(0, 1) // 0, "[0, 1] // 0: expected a divisor other than zero"),
    ("endless", lambda: iter(Interval(0, None)), "[0, inf] has no end to iterate to"),
]


@pytest.mark.parametrize(
    ("make", "message"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED]
)
def test_what_is_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(IntervalError) as caught:
        make()
    assert message in str(caught.value)


def test_numpy_integers_are_integers() -> None:
    import numpy as np

    interval = Interval(cast("int", np.int64(0)), cast("int", np.int8(7)))
    assert interval == Interval(0, 7)
    assert type(interval.lower) is int


@given(intervals)
def test_pickle_keeps_the_value(interval: Interval) -> None:
    assert pickle.loads(pickle.dumps(interval)) == interval  # noqa: S301 - our own
