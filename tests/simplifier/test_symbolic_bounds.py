"""Bounds over parameters: ends that are expressions, given and answered."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from simplifier import Facts, Interval, SymbolicInterval, bounds_of, simplify, symbol
from simplifier.errors import IndexingError
from simplifier.expr.form import Form, variables_of
from simplifier.expr.functions import CeilDiv, FloorDiv, Max, Min, Mod
from simplifier.expr.sympy import from_sympy, to_sympy
from simplifier.limits import MAX_END_SIZE
from simplifier.problem import Bounds, Constraints, Expression
from tests.call_counts import calls_of
from tests.cases import for_all
from tests.evaluation import every_point, values_of, where
from tests.simplifier.suite import table
from tests.strategies import expressions

x, y, z, M, N = map(symbol, ("x", "y", "z", "M", "N"))
POSITIVE = {M: (1, None), N: (1, None)}
ROWS = {x: (0, N - 1), y: (0, M - 1)}
NATURAL = dict.fromkeys("xyz", Interval(0, None)) | dict.fromkeys("MN", Interval(1, None))

UNDER_FACTS = table("""
at most a remainder: x  lies in  [0, min(N - 1, 6)]  where x <= y mod N, x <= 6
at most a remainder alone: x  lies in  [0, N - 1]  where x <= y mod N
at most a remainder and more: max(x, 1)  lies in  [1, min(N, 7)]  where x <= y mod N + 1, x <= 7
a sum at most a remainder: x  lies in  [0, min(N - 1, 6)]  where x + z <= y mod N, x <= 6
at most two remainders: x  lies in  [0, min(M + N - 2, 6)]  where x <= y mod N + z mod M, x <= 6
at most a remainder by a product: x  lies in  [0, min(M * N - 1, 6)]
    where x <= y mod (N * M), x <= 6
at most half a remainder: x  lies in  [0, min((N - 1) floordiv 2, 6)]
    where x <= (y mod N) floordiv 2, x <= 6
equal to a remainder: x  lies in  [0, min(N - 1, 6)]  where x == y mod N, x <= 6
a remainder by a multiple: x  lies in  [0, 6]  where x <= y mod N, x <= 6, N mod 8 == 0
a remainder of a remainder: x  lies in  [0, min(M, N) - 1]  where x <= (y mod N) mod M
a minimum with a remainder: x  lies in  [0, min(N - 1, 6)]  where min(y mod N, 6) >= x
a maximum with a remainder: x  lies in  [0, max(N - 1, 6)]  where max(y mod N, 6) >= x
a remainder in a maximum: x mod N + 1  lies in  [1, min(N, 7)]  where max(x mod N, y) <= 6
about the remainder asked for: x mod M  lies in  [0, min(M - 1, N, 7)]
    where x mod M <= N, x mod M <= 7
about a maximum with it: x mod M  lies in  [0, min(M - 1, N, 7)]
    where max(x mod M, y) <= N, max(x mod M, y) <= 7
about the maximum asked for: max(x, y)  lies in  [0, min(N, 7)]
    where max(x, y) <= N, max(x, y) <= 7
about a minimum that holds a remainder: x mod 8  lies in  [N, 7]  where min(x mod 8, y) >= N
about a maximum that holds the dividend: x mod M  lies in  [0, min(M - 1, N, 7)]
    where max(x, y) <= N, max(x, y) <= 7
a quotient by what is no parameter: x floordiv y  lies in  [0, M - 1]
    where y in [1, inf], x < M * y
a quotient by it, rounded up: x ceildiv y  lies in  [0, M]  where y in [1, inf], x <= M * y
a quotient by what may be zero: x floordiv y  lies in  [0, inf]  where x <= M * y
""")

ENDS: dict[str, tuple[Any, Any, Any, str]] = {
    "about a quotient of what bounds limit": (
        FloorDiv(Mod(x, N), 3),
        {x: (0, N - 1), **POSITIVE},
        [FloorDiv(N + 2 * x, 3) >= M],
        "[max(M - (M * 3 + N + 4) floordiv 6, 0), (N - 1) floordiv 3]",
    ),
    "ends of a variable": (x, {x: (0, N - 1)}, [], "[0, N - 1]"),
    "ends by name": (x, {"x": (N, 9)}, [], "[N, 9]"),
    "terms by sign": (2 * x - y, ROWS, [], "[-M + 1, N * 2 - 2]"),
    "a parameter beside": (x + N, {x: (0, 1), N: (0, 5)}, [], "[N, N + 1]"),
    "several ends": (x, {x: (0, 9)}, [x < N], "[0, min(N - 1, 9)]"),
    "a number that is no better": (x, {x: (0, N - 1), N: (1, 64)}, [], "[0, N - 1]"),
    "facts of two variables": (x - y, {}, [x >= y, x <= y + N], "[0, N]"),
    "facts that add up": (x, {y: (1, None)}, [2 * x + 3 * y <= N], "[-inf, (N - 3) floordiv 2]"),
    "an equation": (x, {x: (0, N - 1)}, [sympy.Eq(N, 4 * M)], "[0, N - 1]"),
    "nothing known": (x, {}, [], "[-inf, inf]"),
    "no values": (x, {x: (3, 2)}, [], "[0, -1]"),
    "a quotient": (FloorDiv(x, 8), ROWS, [], "[0, (N - 1) floordiv 8]"),
    "a quotient by a parameter": (CeilDiv(x, M), ROWS | {x: (0, N * M)} | POSITIVE, [], "[0, N]"),
    "a remainder": (Mod(x, M), POSITIVE, [], "[0, M - 1]"),
    "a remainder of little": (Mod(x, M), ROWS | POSITIVE, [], "[0, min(M, N) - 1]"),
    "a linear index": (x * M + y, ROWS | POSITIVE, [], "[0, M * N - 1]"),
    "a digit of it": (FloorDiv(x * M + y, M), ROWS | POSITIVE, [], "[0, N - 1]"),
    "a product": (x * y, ROWS, [], "[0, (M - 1) * (N - 1)]"),
    "a maximum": (Max(x, y), ROWS, [], "[0, max(M, N) - 1]"),
    "a minimum": (Min(x, y), ROWS, [], "[0, min(M, N) - 1]"),
    "a choice": (sympy.Piecewise((x, z < 5), (y, True)), ROWS, [], "[0, max(M, N) - 1]"),
    "a choice that avoids a division by zero": (
        sympy.Piecewise((FloorDiv(N, M), z < M), (0, True)),
        {z: (0, None), M: (0, None), N: (0, None)},
        [],
        "[0, inf]",
    ),
    "a condition": (x < N, ROWS, [], "[1, 1]"),
}
"""Expressions, bounds and constraints, and the bounds over M and N."""

for row in UNDER_FACTS:
    expression, bounds, facts = row.question.parsed()
    ENDS[row.name] = expression, NATURAL | bounds, facts, row.expected


@for_all(ENDS)
def test_ends_over_parameters_hold_at_all_points_near_zero(
    expression: Expression, bounds: Bounds, constraints: Constraints, expected: str
) -> None:
    found = bounds_of(expression, bounds, constraints, over=[M, N])
    assert str(found) == expected
    assert found == bounds_of(expression, Facts(bounds), constraints, over=("N", "M"))
    _check_ends(expression, Facts(bounds, constraints))


@given(expressions(("x", "y", "N")), expressions(("x", "y", "N")), st.integers(0, 4))
def test_ends_hold_under_a_fact(form: Form, fact: Form, width: int) -> None:
    bounds: dict[Any, Any] = {x: (0, None), y: (0, None), N: (1, None)}
    _check_ends(to_sympy(form), Facts(bounds, [(to_sympy(fact), (-width, width))]))


def _check_ends(expression: Expression, facts: Facts) -> None:
    """Compare the ends with the values at all points near zero."""
    problem = facts.problem([expression])
    names = {"N", *variables_of((problem.form, *(fact for fact, _ in problem.constraints)))}
    near = Interval(-2, 8)
    box = {each: problem.bounds.get(each, near).intersect(near) for each in names}
    points = every_point(box)
    for form, _ in problem.constraints:
        _, defined = values_of(form, points)
        points = {name: column[defined] for name, column in points.items()}
    points = where(points, problem.constraints)
    values, defined = values_of(problem.form, points)
    ends = bounds_of(expression, facts, over=[M, N])
    for end, is_beyond in zip(ends, (operator.lt, operator.gt), strict=True):
        if end is not None:
            limits, _ = values_of(from_sympy(end), points)
            assert not (defined & np.asarray(is_beyond(values, limits), dtype=bool)).any(), end


def _interval_at(interval: SymbolicInterval, m: int, n: int) -> Interval:
    return Interval(*(None if end is None else int(end.subs({M: m, N: n})) for end in interval))


CASES: dict[str, Callable[[Any, Any], Any]] = {
    "both below": lambda a, b: (0, a - 1 + 0 * b), "between": lambda a, b: (-a, 2 * b + 3),
    "from the least of two": lambda a, b: (1, Min(a, 2 * b)),
    "below a quotient": lambda a, b: (-1, FloorDiv(a, 2) + b),
    "from above": lambda a, b: (a, a + b), "no upper end": lambda a, _: (-3 * a, None),
    "numbers": lambda _a, _b: (-2, 7),
}  # fmt: skip
"""Ends of a variable, by parameters, or numbers in their place."""

cases = st.sampled_from(sorted(CASES))
sizes, factors = st.integers(1, 6), st.integers(-3, 3)


def _box(names: tuple[str, str], m: Any, n: Any) -> dict[Any, Any]:  # noqa: ANN401 - symbols or numbers
    first, second = names
    return {x: CASES[first](n, m), y: CASES[second](m, n)}


@given(st.tuples(cases, cases), st.tuples(factors, factors, factors), sizes, sizes)
def test_affine_bounds_are_exact(
    names: tuple[str, str], factors: tuple[int, int, int], m: int, n: int
) -> None:
    expression = factors[0] * x + factors[1] * y + factors[2] * N + 5
    found = bounds_of(expression, _box(names, M, N) | POSITIVE, over=[M, N])
    numeric = bounds_of(expression.subs({N: n}), _box(names, m, n))
    assert _interval_at(found, m, n) == numeric


@given(expressions(("x", "y", "M", "N")), st.tuples(cases, cases), sizes, sizes)
def test_bounds_hold_for_all_values(form: Form, names: tuple[str, str], m: int, n: int) -> None:
    expression = to_sympy(form)
    found = bounds_of(expression, _box(names, M, N) | POSITIVE, over=[M, N])
    box = {str(each): Interval.of(ends) for each, ends in _box(names, m, n).items()}
    near = {name: ends.intersect(Interval(-20, 20)) for name, ends in box.items()}
    points = every_point({**near, "M": Interval(m, m), "N": Interval(n, n)})
    values, defined = values_of(form, points)
    if defined.any():
        interval = _interval_at(found, m, n)
        assert all(value in interval for value in values[defined])


def test_ends_of_bounds_are_constraints() -> None:
    constraints = [(x, (0, None)), (x - N, (None, -1))]
    for question in (simplify, bounds_of):
        for name in (x, "x"):
            for pair in ((0, N - 1), [0, N - 1]):
                bounds: dict[Any, Any] = {name: pair}
                assert question(Mod(x, N), bounds) == question(Mod(x, N), {}, constraints)
    assert simplify(Mod(x, N), Facts({x: (0, N - 1)})) == x
    even = sympy.Eq(Mod(N, 2), 0)
    assert simplify(Mod(x, N), {x: (0, N / 2 - 1)}, [even]) == x
    assert simplify(y, {x: (0, N / 2 - 1)}, [even]) == y
    own = sympy.Symbol("x", integer=True, nonnegative=True)
    assert simplify(Mod(own, N), {"x": (None, N - 1)}) == own
    inner = bounds_of(x, {x: (0, N - 1)}, over=[N])
    assert bounds_of(2 * y, {y: inner}, over=[N]) == (0, 2 * N - 2)


def test_ends_are_over_parameters_alone_and_numbers_where_they_are_too_large() -> None:
    found = bounds_of(x + y, {x: (0, N - 1), y: (0, 9)}, [x <= M], over=[N])
    assert found.upper is not None
    assert found.upper.free_symbols == {N}
    assert bounds_of(x + y, {x: (0, 3)}, over=["unknown"]) == (None, None)
    for count, is_short in ((MAX_END_SIZE - 1, True), (MAX_END_SIZE, False)):
        sizes = [symbol(f"s{number}") for number in range(count)]
        found = bounds_of(FloorDiv(x, 8), {x: (0, sum(sizes))}, over=sizes)
        assert found == (0, FloorDiv(sum(sizes), 8) if is_short else None)


_bounds_of: Any = bounds_of
_simplify: Any = simplify
"""As those call them who check no types."""

WRONG: dict[str, Callable[[], object]] = {
    "BoundsError: .*over is 'N'; expected symbols or names": lambda: _bounds_of(x, over="N"),
    "BoundsError: .*over is N; expected symbols or names": lambda: _bounds_of(x, over=N),
    "BoundsError: .*symbols or names": lambda: _bounds_of(x, over=[N + 1]),
    "BoundsError: .*either exact or over": lambda: _bounds_of(x, over=[N], exact=True),
    "Error: .*3 ends; expected 2": lambda: _simplify(x, {x: (0, N, 1)}),
    "Error: .*N/2": lambda: _simplify(x, {x: (0, N / 2)}),
}


@for_all([*WRONG.items()])
def test_errors_say_what_is_expected(message: str, action: Callable[[], object]) -> None:
    with pytest.raises(IndexingError) as caught:
        action()
    assert re.search(message, f"{type(caught.value).__name__}: {caught.value}")


FIVE_FACTS = [x <= N * M - 1, y <= x + N, z <= y, sympy.Eq(Mod(N, 16), 0), sympy.Eq(Mod(M, 32), 0)]


def _levels(count: int) -> sympy.Expr:
    value: sympy.Expr = x
    for _ in range(count):
        value = Min(Max(FloorDiv(value * 5 + y, N), value - 3), N) + FloorDiv(value, 7)
    return value


MANY = sympy.symbols("x:7", integer=True)

WORK: dict[str, tuple[Any, Any, Any, int]] = {
    "maxima and remainders by parameters under five facts": (
        Mod(Max(x, y, z), M) + FloorDiv(Max(x, z) * M + Mod(y, N), N),
        {x: (0, None), y: (0, None), z: (0, None), **POSITIVE},
        FIVE_FACTS,
        800_000,
    ),
    "levels of extrema": (_levels(3), ROWS | POSITIVE, [], 8_000_000),
    "a sum of variables with several ends": (
        sympy.Add(*MANY),
        dict.fromkeys(MANY, (0, 9)),
        [each <= end for at, each in enumerate(MANY) for end in (N + at, M - at, 2 * M - 3 * N)],
        2_000_000,
    ),
}
"""Expressions, bounds and constraints, and the calls that are allowed."""


@for_all(WORK)
def test_bounds_over_parameters_end_soon(
    expression: Expression, bounds: Bounds, facts: Constraints, allowed: int
) -> None:
    simplifying = calls_of(lambda: simplify(expression, bounds, facts))
    found: list[SymbolicInterval] = []
    asking = calls_of(lambda: found.append(bounds_of(expression, bounds, facts, over=[M, N])))
    assert simplifying + asking < allowed
    assert None not in found[0]
