"""Constraints are facts: what they imply together, as equations, and as values of their own."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import combinations, count, pairwise, permutations, product
from math import ceil, floor
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st
from sympy import And, Eq, Ne, Or

from indexing import IndexingMap
from simplifier import Facts, Interval, bounds_of, format_expr, parse_expr, simplify
from simplifier.bounds.context import Constraints, Fact, facts_of
from simplifier.bounds.interval import Range
from simplifier.bounds.ranges import LinearFacts
from simplifier.canonical.scope import Scope, scope_of
from simplifier.errors import IndexingError
from simplifier.expr import operations
from simplifier.expr.form import ONE, ZERO, Form, constant, content, variable, variables_of
from simplifier.expr.functions import FloorDiv, Mod, symbol
from simplifier.expr.printer import format_form
from simplifier.expr.sympy import to_sympy
from simplifier.expr.text import parse_form
from simplifier.fixpoint import range_of, simplified
from simplifier.limits import MAX_EQUATIONS, MAX_LINKED_ATOMS
from simplifier.simplification import equivalent
from tests.call_counts import calls_of
from tests.cases import for_all
from tests.evaluation import Column, Columns, first_difference, values_of, where
from tests.simplifier.objective import check_simplified
from tests.simplifier.suite import Row, for_questions
from tests.strategies import NAMES, Problem, bounded_boxes, quasi_affine


@st.composite
def equations(draw: st.DrawFn) -> Form:
    """Sums, remainders and quotients of sums, with a constant that is chosen for one point."""
    terms = st.lists(st.tuples(st.sampled_from(NAMES), st.integers(-4, 4)), min_size=1, max_size=3)
    total = constant(draw(st.integers(-3, 3)))
    for name, factor in draw(terms):
        total = total.plus(variable(name), factor)
    divisor = constant(draw(st.integers(2, 9)))
    digit = operations.floordiv(total, constant(draw(st.integers(2, 5))))
    remainders = (operations.mod(total, divisor), operations.mod(digit, divisor))
    rounded = total.plus(digit, draw(st.sampled_from((-1, 1))))
    return draw(st.sampled_from((total, *remainders, operations.floordiv(total, divisor), rounded)))


@st.composite
def solvable_problems(draw: st.DrawFn) -> tuple[Problem, Constraints]:
    """Expressions under equations that hold together at one point of the box at least."""
    box = draw(bounded_boxes())
    point = {name: draw(st.sampled_from(list(ends))) for name, ends in box.items()}
    columns = {name: np.array([value], dtype=object) for name, value in point.items()}
    known: list[tuple[Form, Interval]] = []
    for form in draw(st.lists(equations(), min_size=1, max_size=3)):
        (value,), _ = values_of(form, columns)
        known.append((form, Interval(int(value), int(value) + draw(st.sampled_from((0, 0, 2))))))
    return Problem(draw(quasi_affine(leaves=4)), box), tuple(known)


def points_of(problem: Problem, known: Constraints) -> Columns:
    """All points of the box that meet the constraints, as far as there are not too many."""
    axes = [list(ends)[:24] for ends in problem.box.values()]
    columns = np.array(list(product(*axes)), dtype=object).T
    return where(dict(zip(problem.box, columns, strict=True)), known)


@given(solvable_problems())
def test_equations_keep_every_value(asked: tuple[Problem, Constraints]) -> None:
    problem, known = asked
    scope = scope_of(tuple(problem.box.items()), known)
    assert not scope.is_empty
    points = points_of(problem, known)
    result = check_simplified(scope, problem.form, points)
    assert set(variables_of((result,))) <= set(NAMES)
    for name, column in points.items():
        assert all(value in scope.bounds[name] for value in column), name


def scope_under(facts: str) -> Scope:
    """The scope of facts such as ``x mod 8 == 3 and 0 <= y``."""
    return scope_of((), facts_of(parse_form(facts)))


@for_all([
    "x mod 2 == 1 and x mod 4 == 2", "x mod 6 == 3 and x mod 4 == 2",
    "x mod 4 == 3 and x floordiv 2 == 4", "x - y == 1 and (x + y) mod 2 == 0",
    "x * 2 + y * 4 == 3 and x == 0", "x floordiv 8 == 2 and x mod 16 == 9",
    "max(x, 3) == 2 and x == 1", "x + y == 1 and x + y == 2",
    "x - y >= 1 and y - z >= 1 and z - x >= 1",
])  # fmt: skip
def test_contradictions_are_found(facts: str) -> None:
    assert scope_under(facts).is_empty
    assert not scope_under("x - y >= 0 and y - z >= 0 and z - x >= 0").is_empty


SOLVED = {
    # equations, and for how many of them a smaller problem is found
    "x mod 8 == 3": 1, "x mod 8 == 3 and y mod 8 == 3": 2,
    "x mod 3 == 2 and x mod 5 == 3 and x mod 7 == 2": 3,
    "x - y * 16 == 3": 1, "x * 2 + y * 3 == 4": 2, "x floordiv 8 == 3": 0, "x * y == 3": 0,
}  # fmt: skip


@for_all([*SOLVED.items()])
def test_each_solved_equation_is_a_smaller_problem(equations: str, count: int) -> None:
    assert len(smaller_than(scope_under(equations))) == count


def smaller_than(scope: Scope) -> list[Scope]:
    found: list[Scope] = []
    while scope.smaller is not None:
        scope = scope.smaller.context
        found.append(scope)
    return found


def test_of_many_equations_a_few_are_solved() -> None:
    chain = (f"x{number} - x{number + 1} == 1" for number in range(3 * MAX_EQUATIONS))
    scope = scope_under(" and ".join(chain))
    assert len(smaller_than(scope)) == MAX_EQUATIONS
    form = parse_form("(x0 + x1) floordiv 2")
    assert format_form(simplified(scope, form)) in {"x1", "x0 - 1"}


SIZES = dict.fromkeys("nmkc", (1, None))


@for_questions("""
# chains
max(x - w, 0)  =>  x - w  where x >= y, y >= z, z >= w
max(x - w, 0)  stays  where x >= y, y >= z, w >= z
max(n * 2 + m * 3, 10)  =>  m * 3 + n * 2  where n * 2 + m * 3 >= 10
max(n + m, 4)  =>  m + n  where n * 2 + m * 3 >= 10
max(n + m, 5)  =>  max(m + n, 5)  where n * 2 + m * 3 >= 10
max(x, 5)  =>  x  where x + y >= 9, x - y >= 0
max(x, 6)  stays  where x + y >= 9, x - y >= 0
min(x + y, n * 2 - 2) floordiv n  =>  (x + y) floordiv n  where x < n, y < n
min(x - z, 6)  =>  x - z  where x - z <= (w floordiv 8) * 2, 0 <= w, w <= 31
# products
q mod ((n - 2) * (m - 2))  =>  q  where n >= 3, m >= 3, 0 <= q, q < (n - 2) * (m - 2)
(q floordiv (n - 2)) mod (m - 2)
    =>  q floordiv (n - 2)  where n >= 3, m >= 3, 0 <= q, q < (n - 2) * (m - 2)
(q floordiv (n - 2)) mod (m - 2)  stays  where n >= 3, m >= 3, 0 <= q, q <= (n - 2) * (m - 2)
min(x floordiv n, m - 1)  =>  x floordiv n  where x < n * m
max((y - n) * k * m + x, -1)  =>  -1  where y < n, x < k * m
min((y - n) * k * m + x, 0)  =>  (y - n) * k * m + x  where y < n, x < k * m
max(((y - n) * m + x) * k + w, -1)  =>  -1  where y < n, x < m, w < k
max((((y - n) * m + x) * k + w) * l + v, -1)  =>  -1  where y < n, x < m, w < k, v < l, l >= 1
max(((y - 4) * m + x) * k + w, -1)  =>  -1  where y < 4, x < m, w < k
max(((y - n) * m + x) * k, -1)  stays  where x * k + w - m * (w floordiv n) >= 1, y < n
min(((y - n) * m + x) * k, -1)  =>  -1  where y >= n, x >= m
max((y - n) * z, 4)  stays  where y < n, -3 <= z, z <= 5
q  =>  1  where 0 <= q, q <= 1, k * q == 1
q  stays  where q == n * m, q mod n == 0
min(x floordiv n, x)  =>  x floordiv n  where x >= 0
min(x floordiv n, x)  =>  min(x, (x + 1) ceildiv n - 1)  where x >= -1
(x * n) floordiv n  =>  x
x mod n  =>  x  where 0 <= x, x <= 3, n >= 4
# quotients
max(n - q * 2 - 1, 0)  =>  n - q * 2 - 1  where (n + 1) floordiv 2 - q >= 1
max(w - x * 2 - 1, 0)  =>  w - x * 2 - 1  where (w + 1) floordiv 2 - x >= 1
max(w - x * 2 - 2, 0)  stays  where (w + 1) floordiv 2 - x >= 1
min(x * 3 - w, 3)  =>  x * 3 - w  where x - w floordiv 3 <= 1
min(x * 3 - w, 2)  stays  where x - w floordiv 3 <= 1
min(w + x * 3, 14)  =>  w + x * 3  where x + w floordiv 3 <= 4
min(w + x * 3, 13)  stays  where x + w floordiv 3 <= 4
max(((x + y + z) floordiv n) * 3 + w, 6)
    =>  ((x + y + z) floordiv n) * 3 + w  where x >= n, y >= n, 0 <= z, 0 <= w
max(n floordiv (n floordiv 8), 8)  =>  n floordiv (n floordiv 8)  where n >= 8
max(n floordiv (n floordiv 8), 9)  stays  where n >= 8
max(n floordiv (n floordiv c), c)  =>  n floordiv (n floordiv c)  where n floordiv c >= 1
# common factors
(n * x * 6 + y) floordiv (n * m * 6)  =>  x floordiv m  where 0 <= y, y < n * 6
# multiples
256 * x * (k floordiv 256)  =>  k * x  where k mod 256 == 0
64 * x * (k floordiv 256)  =>  (k floordiv 4) * x  where k mod 256 == 0
256 * x * (k floordiv 256)  =>  (k - 3) * x  where k mod 256 == 3
256 * x * (k floordiv 256)  =>  (k floordiv 256) * x * 256  where k mod 255 == 0
((n * x) floordiv 32) * 32  =>  n * x  where n mod 32 == 0
# long division
(x * x - y * y) floordiv (x + y)  =>  x - y
(x * x - y * y) mod (x + y)  =>  0
(x * x + y * y) floordiv (x + y)  stays
""")
def test_facts_simplify_and_keep_values(row: Row) -> None:
    expression, _, known = row.question.parsed()
    expected = parse_expr(row.expected)
    result = simplify(expression, Facts(SIZES), known)
    assert result == simplify(expected, Facts(SIZES), known)
    assert format_expr(result) == format_expr(expected)
    form, simple = parse_form(row.question.expression), parse_form(row.expected)
    facts = [(parse_form(text), ends) for text, ends in row.question.constraints]
    points = where(_points((form, simple, *(fact for fact, _ in facts))), facts)
    assert len(next(iter(points.values()))), "no point to look at"
    assert first_difference(form, simple, points) is None


def _points(forms: Iterable[Form], count: int = 20_000) -> Columns:
    """Random points: small numbers, and multiples of 255 and 256, or 3 more."""
    random = np.random.default_rng(0)
    columns: Columns = {}
    for name in sorted(variables_of(forms)):
        small = random.integers(1 if name in SIZES else -3, 40, count)
        scaled = small * random.choice([1, 1, 255, 256], count) + random.choice([0, 0, 3], count)
        columns[name] = scaled.astype(object)
    return columns


TINY = 1e-9
"""More than corners are wrong by: their denominators are small."""


@st.composite
def programs(draw: st.DrawFn) -> tuple[Form, list[Fact], dict[str, Interval]]:
    sums = st.lists(st.integers(-3, 3), min_size=3, max_size=3).map(_sum)
    ends = st.tuples(st.integers(-9, 9), st.integers(0, 9))
    intervals = ends.map(lambda pair: Interval(pair[0], sum(pair)))
    known = draw(st.lists(st.tuples(sums, intervals), min_size=1, max_size=3))
    facts = [Fact.of(form, ends.ends) for form, ends in known]
    box = {name: draw(intervals) for name in NAMES}
    # What is known of one variable is its range, in the box.
    several = [fact for fact in facts if fact is not None and len(fact.form.terms) > 1]
    return draw(sums), several, box


def _sum(factors: Sequence[int]) -> Form:
    total = ZERO
    for name, factor in zip(NAMES, factors, strict=True):
        total = total.plus(variable(name), factor)
    return total


@given(programs())
def test_ranges_are_those_of_corners(program: tuple[Form, list[Fact], dict[str, Interval]]) -> None:
    form, facts, box = program
    ends = LinearFacts(facts).range_of(form, lambda atom: box[atom.name].ends)
    known = [(variable(name), each.ends) for name, each in box.items()]
    known += [(fact.form, fact.ends) for fact in facts]
    limits = np.array([each for fact in known for each in _limits(*fact)])
    corners = _corners(limits[:, :-1], limits[:, -1])
    if ends is not None and len(corners):
        values, scale = corners @ _factors(form) / content(form), content(form)
        assert ends == (scale * ceil(min(values) - TINY), scale * floor(max(values) + TINY))


def _limits(form: Form, ends: Range) -> list[list[Any]]:
    """Factors of the variables, and what their sum is at most: twice."""
    lower, upper = ends
    return [[*_factors(form), upper], [*_factors(-form), -lower]]


def _factors(form: Form) -> list[int]:
    by_name = {atom.name: factor for atom, factor in form.terms.items()}
    return [by_name.get(name, 0) for name in NAMES]


def _corners(factors: Column, ends: Column) -> Column:
    """Where three limits meet and none is exceeded."""
    threes = np.array([*combinations(range(len(ends)), 3)])
    threes = threes[np.abs(np.linalg.det(factors[threes])) > TINY]
    corners = np.linalg.solve(factors[threes], ends[threes][..., None])[..., 0]
    return corners[(corners @ factors.T <= ends + TINY).all(axis=1)]


@for_questions("""
d * d floordiv b  lies in  [0, 12]
    where d mod 2 == 0, (c * 4 - a - 2) mod 2 == 0, b mod 3 == 0, (c + d * 4 + 1) mod 3 == 1
a + b  lies in  [0, 9]  where a mod 4 == 0, (a + b) mod 3 == 0
""")
def test_the_order_of_facts_makes_no_difference(row: Row) -> None:
    expression, _, known = row.question.parsed()
    box = dict.fromkeys("abcd", (0, 6))
    found = {str(bounds_of(expression, box, order)) for order in permutations(known)}
    assert found == {row.expected}


def test_a_long_chain_is_bounded_as_far_as_the_limit_goes() -> None:
    names = [f"x{number}" for number in range(3 * MAX_LINKED_ATOMS)]
    facts = [(variable(a) - variable(b), Interval(1, 2)) for a, b in pairwise(names)]
    scope = scope_of((), tuple(facts))
    near, far = (variable(names[0]) - variable(names[at]) for at in (9, -1))
    assert range_of(scope, near) == Interval(9, 18)
    assert range_of(scope, far) == Interval(None, None)


def test_what_is_true_by_itself_makes_no_new_scope() -> None:
    scope = scope_of((("x", Interval(0, 9)),), ((variable("x") - variable("y"), Interval(0, 3)),))
    assert scope.under(ONE) is scope
    assert scope.under(parse_form("x < 5")) is not scope
    assert scope.under(ZERO).is_empty


x, y, n, k = map(symbol, "xynk")
FACTS = Facts({x: (0, 63), n: (1, None)}, [x < n, sympy.Eq(Mod(k, 8), 0)])


@given(solvable_problems())
def test_facts_answer_as_bounds_and_constraints_do(asked: tuple[Problem, Constraints]) -> None:
    problem, known = asked
    expression = to_sympy(problem.form)
    constraints = [(to_sympy(form), ends) for form, ends in known]
    facts, bounds, others = (
        Facts(problem.box, constraints),
        Facts(problem.box),
        Facts(constraints=constraints),
    )
    for question in (simplify, bounds_of):
        answer = question(expression, problem.box, constraints)
        assert question(expression, facts) == question(expression, {}, facts) == answer
        assert question(expression, bounds, others) == answer
        assert question(expression, bounds, constraints) == answer
        assert question(expression, problem.box, others) == answer
    simpler = simplify(expression, facts)
    assert equivalent(expression, simpler, facts)
    assert bounds_of(simpler, facts).contains(bounds_of(expression, facts))


def test_facts_are_values_and_read_once() -> None:
    first, second = FACTS.problem([x]), FACTS.problem([FloorDiv(x, 3)])
    assert first.scope() is second.scope()
    same = Facts({x: Interval(0, 63), n: (1, None)}, [x < n, sympy.Eq(Mod(k, 8), 0)])
    assert same == FACTS
    assert hash(same) == hash(FACTS)
    assert Facts({x: (0, 63)}) != FACTS
    assert pickle.loads(pickle.dumps(FACTS)) == FACTS  # noqa: S301 - our own
    assert str(FACTS) == "Facts({x: [0, 63], n: [1, inf]}, [x < n, Eq((k % 8), 0)])"
    assert FACTS.bounds == {"x": Interval(0, 63), "n": Interval(1, None)}
    assert FACTS.constraints[0] == (x < n, Interval(1, 1))
    with pytest.raises(AttributeError):
        FACTS.bounds = {}  # pyright: ignore[reportAttributeAccessIssue] - a value


def test_bounds_and_constraints_are_read_together_and_by_maps() -> None:
    even = Facts(constraints=[sympy.Eq(Mod(k, 2), 0)])
    half = [(k / 2, (0, 9))]
    assert bounds_of(FloorDiv(k, 2), even, half) == Interval(0, 9)
    assert bounds_of(x - FloorDiv(k, 2), {x: (0, k / 2)}, even) == Interval(None, 0)
    size = sympy.Symbol("x", integer=True, positive=True)
    assert bounds_of(size, {"x": (0, n)}, Facts({n: (0, 5)})) == Interval(1, 5)
    d0 = symbol("d0")
    facts = Facts({d0: (0, 5)}, [sympy.Eq(Mod(d0, 2), 0)])
    limited = IndexingMap([d0], IndexingMap.from_sizes([d0], dims=[10]).dims, constraints=facts)
    assert str(limited) == "(d0) -> (d0), domain: d0 in [0, 5], d0 mod 2 in [0, 0]"


G: Any = sympy.Function("g", integer=True)
POSITIVE = sympy.Symbol("p", integer=True, positive=True)
POINTS_AND_A_PAIR = Or(Eq(x, 9), And(x > 2, x < 4), Eq(x, 5))
NEAR, FAR = Facts({}, [x + y >= 3, n >= 0, n <= 8]), Facts({k: (0, 5)}, [n <= k])
BOUNDED: dict[str, tuple[sympy.Expr, Facts, str]] = {
    "no ends": (x + y, Facts({}, [(x + y * 2, (None, None))]), "[-inf, inf]"),
    "of two facts": (n, Facts({x: (0, 9)}) & Facts({"x": (5, 12)}, [n <= x]), "[-inf, 9]"),
    "what a symbol assumes": (POSITIVE + x, FACTS, "[1, inf]"),
    "what one of this name assumed": (symbol("p"), FACTS, "[-inf, inf]"),
    "links of others, of which nothing asked depends": (x + y, NEAR & FAR, "[3, inf]"),
    "the greater of two ends": (x, Facts({}, [Or(x < 5, x < 3)]), "[-inf, 4]"),
    "a gap between": (x, Facts({}, [Or(x < 5, And(x > 7, x < 9))]), "[-inf, 8]"),
    "points and a pair": (x, Facts({}, [POINTS_AND_A_PAIR]), "[3, 9]"),
    "about other things": (x, Facts({}, [Or(x < 5, G(x) < 3)]), "[-inf, inf]"),
    "all but a point": (x, Facts({}, [Or(Ne(x, 5), x < 3)]), "[-inf, inf]"),
    "a function": (G(x) + 1, Facts({G(x): (0, 5)}), "[1, 6]"),
    "a function up to a symbol": (G(x), Facts({G(x): (0, x), x: (1, 4)}), "[0, 4]"),
}


@for_all(BOUNDED)
def test_facts_have_bounds(expression: sympy.Expr, facts: Facts, expected: str) -> None:
    assert str(bounds_of(expression, facts)) == expected


g = [symbol(f"g{number}") for number in range(14)]
GUARD = Facts({g[1]: (2, 4096)})
"""One fact, and many that say no more of it."""
QUOTIENTS = [FloorDiv(one, 3) <= 4 * FloorDiv(other, 2) + 7 for one, other in pairwise(g)]
PRODUCTS = [Ne(one * other, 5) for one, other in pairwise(g)]
EQUATIONS = [Eq(Mod(g[2], 8), 0), Eq(g[3], 2 * g[4])]
GUARDS = Facts(dict.fromkeys(g, (2, 4096)), [*QUOTIENTS, *PRODUCTS, *EQUATIONS])
MAX_SHARE_OF_GUARDS = 2.5
"""What new names cost under many facts about others, in terms of the same under one: it was 40."""

LIMITS: dict[str, Callable[[sympy.Symbol, Facts], Interval]] = {
    "joined": lambda y, known: bounds_of(y, Facts({y: (1, None)}, [y < g[1]]) & known),
    "joining": lambda y, known: bounds_of(y, known & Facts({y: (1, None)}, [y < g[1]])),
    "beside": lambda y, known: bounds_of(y, known, [(y, (1, None)), y < g[1]]),
    "by another name": lambda y, known: bounds_of(y, known, [(y, (1, None)), y <= n, n < g[1]]),
}


@for_all(LIMITS)
def test_facts_about_others_are_read_once(asked: Callable[[sympy.Symbol, Facts], Interval]) -> None:
    names = (symbol(f"new{number}") for number in count())
    calls: list[int] = []
    for known in (GUARD, GUARDS):
        assert asked(next(names), known) == Interval(1, 4095)
        calls.append(calls_of(partial(asked, next(names), known)))
    assert calls[1] <= MAX_SHARE_OF_GUARDS * calls[0]


def test_facts_that_were_given_together_are_read_once_for_all_of_their_names() -> None:
    names = [symbol(f"chain{number}") for number in range(40)]
    links = [one <= other + 5 for one, other in pairwise(names)]
    chain = Facts(dict.fromkeys(names, (0, 99)), links)
    first, second = (calls_of(partial(bounds_of, name, chain)) for name in names[10:12])
    assert second < first / 3


LINKED: dict[str, tuple[list[Any], Interval]] = {
    "narrow what is asked": ([n < k, k < 9, k > 3], Interval(1, 6)),
    "of a multiple": ([Eq(n, 4 * k), k > -9, k < 3], Interval(1, 7)),
    "of an operand": ([Eq(Mod(n, 4), 2), k > n, k < 12], Interval(1, 9)),
    "contradict each other": ([k < 3, k > 3], Interval(0, -1)),
    "leave nothing": ([n < k, k < 2], Interval(0, -1)),
}


@for_all(LINKED)
def test_facts_that_name_nothing_asked_count(facts: list[Any], expected: Interval) -> None:
    bounds = {x: (1, None), n: (-9, 99)}
    near, far, both = Facts(bounds, [x < n]), Facts({}, facts), Facts({}, [x < n, *facts])
    for known in (near & far, far & near, both & Facts(bounds)):
        found = bounds_of(x, known)
        assert found == expected or (found.is_empty and expected.is_empty)


ANY_FACTS: Any = Facts
ANY_SIMPLIFY: Any = simplify
"""As those call it who check no types."""

WRONG: dict[str, Callable[[], Any]] = {
    "Facts: bounds are 3; expected a mapping": lambda: ANY_FACTS(3),
    "Facts: constraints is 3; expected a sequence": lambda: ANY_FACTS({}, 3),
    "Facts: constraints: one is 3; expected an expression": lambda: ANY_FACTS({}, [3]),
    "Facts: bounds are given for 3; expected a symbol": lambda: ANY_FACTS({3: (0, 1)}),
    "Facts: two different symbols are called 'x'": lambda: Facts({x: 1, sympy.Symbol("x"): 1}),
    "simplify: two different symbols are called 'x'": lambda: simplify(sympy.Symbol("x"), FACTS),
    "x/2: is a fraction; expected an integer": lambda: Facts({}, [(x / 2, 0)]),
    "constraints: one is Facts": lambda: ANY_SIMPLIFY(x, {}, [FACTS]),
    "unsupported operand": lambda: FACTS & ANY_FACTS,
}


@for_all([*WRONG.items()])
def test_wrong_facts_are_refused_by_name(message: str, make: Callable[[], Any]) -> None:
    with pytest.raises((IndexingError, TypeError)) as error:
        make()
    assert message in str(error.value)
