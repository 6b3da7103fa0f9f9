"""Constraints: each rule of XLA's, soundly; remainders together; none that the others imply."""

from __future__ import annotations

import re
from ast import literal_eval
from itertools import permutations, product
from random import Random
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing import IndexingMap, Variable, parse_map
from indexing.domain import Constraint, Domain
from indexing.simplify import constraints
from indexing.simplify.constraints import Residues, merged, normal
from simplifier import Interval
from simplifier.canonical.scope import scope_of
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.text import parse_form
from tests.cases import for_all
from tests.evaluation import cost_of_map, related, values_of
from tests.extent import seldom
from tests.indexing.tables import each_named, each_row, rows
from tests.strategies import quasi_affine

EMPTY = "KNOWN EMPTY"


def identity_on(domain: Domain) -> IndexingMap:
    """Every variable is a result, so that no point is lost unseen."""
    return IndexingMap.from_forms(map(forms.variable, domain.identifiers), domain)


def parsed(domain: str) -> IndexingMap:
    """The identity on a domain of dimensions."""
    dims = ", ".join(sorted(set(re.findall(r"d\d", domain))))
    return parse_map(f"({dims}) -> ({dims}), domain: {domain}")


# Section 7 of the notes on XLA: the rules C1 to C6, each with its side condition.
RULES = rows("""
# C1: constants move to the interval
d0 in [0, 9], d1 in [0, 9], d0 + d1 + 3 in [8, 12] => d0 in [0, 9], d1 in [0, 9], d0 + d1 in [5, 9]
# C2: common factors, of either sign
d0 in [0, 9], d1 in [0, 9], d0 * 6 + d1 * 4 in [7, 33]
    d0 in [0, 5], d1 in [0, 8], d0 * 3 + d1 * 2 in [4, 16]
d0 in [0, 9], d1 in [0, 9], d0 * -6 - d1 * 4 in [-33, -7]
    d0 in [0, 5], d1 in [0, 8], d0 * 3 + d1 * 2 in [4, 16]
d0 in [0, 9], d0 * 4 in [5, 7] => KNOWN EMPTY
# implied by the digits as they are written, too many of them to be compared with each other
d0 in [0, 32767], (d0 floordiv 2) mod 2 + (d0 floordiv 8) mod 2 + (d0 floordiv 32) mod 2
     + (d0 floordiv 128) mod 2 + (d0 floordiv 512) mod 2 + (d0 floordiv 2048) mod 2
     + (d0 floordiv 8192) mod 2 in [0, 7] => d0 in [0, 32767]
# C3: quotients, by divisors of either sign
d0 in [0, 99], d1 in [0, 99], (d0 + d1) floordiv 8 in [5, 11]
    d0 in [0, 95], d1 in [0, 95], d0 + d1 in [40, 95]
d0 in [-99, 99], d0 floordiv -3 in [-11, -5] => d0 in [13, 33]
d0 in [-99, 99], d1 in [0, 9], (d0 + d1) floordiv -4 in [-3, 2]
    d0 in [-20, 12], d1 in [0, 9], d0 + d1 in [-11, 12]
d0 in [0, 99], d1 in [0, 50], d0 floordiv 4 + d1 in [0, 9]
    d0 in [0, 39], d1 in [0, 9], d1 * 4 + d0 in [0, 39]
d0 in [0, 99], d0 ceildiv 8 in [5, 11] => d0 in [33, 88]
# C4: what is below the last multiple does not matter where the interval ends at one
d0 in [0, 100], d1 in [0, 50], d2 in [0, 5], d0 * 60 + d1 * 6 + d2 in [0, 599]
    d0 in [0, 9], d1 in [0, 50], d2 in [0, 5], d0 * 10 + d1 in [0, 99]
d0 in [0, 100], d1 in [0, 50], d2 in [0, 5], d0 * 60 + d1 * 6 + d2 in [0, 598]
    d0 in [0, 9], d1 in [0, 50], d2 in [0, 5], d0 * 60 + d1 * 6 + d2 in [0, 598]
# the low part is no digit: XLA drops it all the same
d0 in [0, 100], d1 in [0, 50], d2 in [0, 6], d0 * 60 + d1 * 6 + d2 in [0, 599]
    d0 in [0, 9], d1 in [0, 50], d2 in [0, 6], d0 * 60 + d1 * 6 + d2 in [0, 599]
d0 in [0, 100], d1 in [0, 50], d2 in [-3, 2], d0 * 60 + d1 * 6 + d2 in [0, 599]
    d0 in [0, 10], d1 in [0, 50], d2 in [-3, 2], d0 * 60 + d1 * 6 + d2 in [0, 599]
# a low part that is no digit, but never matters
d0 in [0, 9], d1 in [0, 9], d2 in [-1, 2], d0 * 40 + d1 * 4 + d2 in [-1, 342]
    d0 in [0, 8], d1 in [0, 9], d2 in [-1, 2], d0 * 10 + d1 in [0, 85]
d0 in [0, 9], d1 in [0, 50], d2 in [0, 9], d0 * 80 + d2 * 8 + d1 mod 8 in [80, 639]
    d0 in [1, 7], d1 in [0, 50], d2 in [0, 9]
# C5: a constraint on a variable is a bound, one on a constant is decided
d0 in [0, 9], d0 - 2 in [0, 20], d0 * 0 in [0, 1] => d0 in [2, 9]
d0 in [0, 9], d0 * 0 in [1, 1] => KNOWN EMPTY
# C6: remainders meet, and bounds end at numbers that are left
d0 in [-21, -2], d0 mod 2 in [0, 0], d0 mod 3 in [0, 0] => d0 in [-18, -6], d0 mod 6 in [0, 0]
d0 in [-21, 60], d0 mod 4 in [1, 1], d0 mod 6 in [3, 3] => d0 in [-15, 57], d0 mod 12 in [9, 9]
d0 in [-21, 60], d0 mod 4 in [1, 1], d0 mod 6 in [2, 2] => KNOWN EMPTY
d0 in [0, 60], d0 mod 4 in [3, 3], d0 mod 5 in [4, 4], d0 mod 3 in [2, 2] => d0 in [59, 59]
""")

# One form each, whatever the way of writing.
SPELLINGS = rows("""
d0 in [-9, 30], (d0 + 3) mod 4 in [1, 1] => d0 in [-6, 30], d0 mod 4 in [2, 2]
d0 in [-9, 30], (d0 * 3) mod 4 in [1, 1] => d0 in [-9, 27], d0 mod 4 in [3, 3]
d0 in [-9, 30], (-d0) mod 4 in [1, 2] => d0 in [-9, 30], d0 mod 4 in [2, 3]
d0 in [-9, 30], d0 % -4 in [-3, -2] => d0 in [-7, 30], d0 mod 4 in [1, 2]
d0 in [-9, 30], (d0 floordiv 2) mod 4 in [1, 1] => d0 in [-6, 27], d0 mod 8 in [2, 3]
d0 in [-9, 30], d0 - (d0 floordiv 4) * 4 in [2, 2] => d0 in [-6, 30], d0 mod 4 in [2, 2]
d0 in [-9, 30], (d0 + 6) mod 8 in [1, 3] => d0 in [-5, 29], d0 mod 8 in [3, 5]
# a negative divisor is turned, also where that is longer
d0 in [-9, 30], d0 % -4 in [-1, 0] => d0 in [-9, 28], (d0 + 1) mod 4 in [0, 1]
# no bounds at one end or both
d0 in [-inf, inf], (d0 + 6) mod 8 in [1, 3] => d0 in [-inf, inf], d0 mod 8 in [3, 5]
d0 in [2, inf], d1 in [-inf, inf], d0 mod 3 in [1, 1], d0 * 2 + d1 * 2 in [-inf, 9]
    d0 in [4, inf], d1 in [-inf, 0], d0 + d1 in [-inf, 4], d0 mod 3 in [1, 1]
d0 in [-inf, 2], d1 in [-inf, inf], d0 * 4 - d1 floordiv 3 in [-3, inf]
    d0 in [-inf, 2], d1 in [-inf, 35], d0 * 12 - d1 in [-11, inf]
d0 in [0, 30], d1 in [0, 9], (d0 * 5 + d1 + 3) mod 4 in [1, 1]
    d0 in [0, 30], d1 in [0, 9], (d0 + d1) mod 4 in [2, 2]
d0 in [0, 30], d1 in [0, 9], (d1 - d0) mod 4 in [1, 1]
    d0 in [0, 30], d1 in [0, 9], (d0 - d1) mod 4 in [3, 3]
d0 in [0, 30], d1 in [0, 9], (d1 - d0) mod 3 in [1, 1]
    d0 in [0, 30], d1 in [0, 9], (d0 - d1) mod 3 in [2, 2]
d0 in [0, 30], d1 in [0, 9], (d0 * 2 + d1 * 6) mod 8 in [3, 3] => KNOWN EMPTY
d0 in [0, 30], d1 in [0, 9], d1 - d0 in [-4, 2] => d0 in [0, 13], d1 in [0, 9], d0 - d1 in [-2, 4]
d0 in [0, 30], d1 in [0, 50], max(d0, d1) in [0, 9] => d0 in [0, 9], d1 in [0, 9]
d0 in [0, 30], d1 in [0, 20], min(d0 + d1, d1 + 7) in [9, 99]
    d0 in [0, 30], d1 in [2, 20], d0 + d1 in [9, 50]
""")

# Several constraints that know of each other.
TOGETHER = rows("""
# equal but for sign, shift and scale
d0 in [0, 30], d1 in [0, 9], d0 + d1 in [0, 20], d0 * 2 + d1 * 2 + 4 in [10, 80], -d0 -
        d1 in [-30, -7]
    d0 in [0, 20], d1 in [0, 9], d0 + d1 in [7, 20]
# contradictions
d0 in [0, 50], d1 in [0, 50], d0 - d1 in [1, 90], d1 - d0 in [0, 90] => KNOWN EMPTY
d0 in [0, 30], d1 in [0, 30], d2 in [0, 30], d0 - d1 in [1, 90], d1 - d2 in [1, 90], d2 -
        d0 in [0, 90]
    KNOWN EMPTY
d0 in [0, 50], d1 in [0, 50], d0 mod 3 in [0, 0], d1 mod 3 in [1, 1], d0 - d1 in [0, 1]
    KNOWN EMPTY
d0 in [0, 50], d1 in [0, 50], (d0 + d1 * 2) mod 4 in [1, 1], d0 mod 2 in [0, 0] => KNOWN EMPTY
d0 in [0, 50], d1 in [0, 50], (d0 + d1) mod 4 in [1, 1], (d0 - d1) mod 6 in [0, 0] => KNOWN EMPTY
# congruent by the common factor of the divisors
d0 in [0, 50], d1 in [0, 50], (d0 + d1) mod 4 in [1, 1], (d0 - d1) mod 6 in [1, 1]
    d0 in [0, 50], d1 in [0, 50], (d1 * 5 + d0) mod 12 in [1, 1]
# implied by the others
d0 in [0, 30], d1 in [0, 30], d2 in [0, 30], d0 - d1 in [1, 90], d1 - d2 in [1, 90], d2 -
        d0 in [-90, 0]
    d0 in [2, 30], d1 in [1, 29], d2 in [0, 28], d0 - d1 in [1, 29], d1 - d2 in [1, 29]
d0 in [0, 50], d1 in [0, 50], (d0 + d1 * 2) mod 4 in [1, 1], d0 mod 2 in [1, 1]
    d0 in [1, 49], d1 in [0, 50], (d1 * 2 + d0) mod 4 in [1, 1]
# tightened variables, through quotients and remainders, too
d0 in [0, 1999], d1 in [0, 1], d2 in [0, 2], d0 * 6 + d1 * 3 + d2 in [0, 598]
    d0 in [0, 99], d1 in [0, 1], d2 in [0, 2], d0 * 6 + d1 * 3 + d2 in [0, 598]
d0 in [0, 99], d1 in [0, 99], (d0 floordiv 4) * 2 + (d1 floordiv 3) * 3 in [5, 9]
    d0 in [0, 19], d1 in [0, 11], (d0 floordiv 4) * 2 + (d1 floordiv 3) * 3 in [5, 9]
d0 in [0, 99], d1 in [0, 99], d0 mod 8 + d1 in [0, 5]
    d0 in [0, 99], d1 in [0, 5], d0 mod 8 + d1 in [0, 5]
d0 in [0, 11], d1 in [0, 85], d0 * 86 + d1 in [0, 1023], (d0 * 86 + d1) floordiv 64 in [0, 12]
    d0 in [0, 9], d1 in [0, 85], d0 * 86 + d1 in [0, 831]
# residues of a form that is congruent to the negative of one with an interval
d0 in [0, 9], d1 in [0, 9], (d0 + d1) mod 4 in [1, 2], d0 * 3 - d1 in [1, 9]
    d0 in [1, 5], d1 in [0, 9], (d0 + d1) mod 4 in [1, 2], d0 * 3 - d1 in [2, 7]
# both branches of a maximum reach the interval, one at its last value alone
d0 in [0, 9], d1 in [0, 5], max(d0, d1) in [5, 9]
    d0 in [0, 9], d1 in [0, 5], max(d0, d1) in [5, 9]
d0 in [0, 9], d1 in [0, 4], max(d0, d1) in [5, 9] => d0 in [5, 9], d1 in [0, 4]
d0 in [0, 99], d1 in [0, 4], max(d0 floordiv 2, d1) in [5, 90] => d0 in [10, 99], d1 in [0, 4]
# smaller where the others hold
d0 in [0, 30], d1 in [0, 9], d0 + d1 in [0, 15], (d0 + d1) mod 16 + d1 * 3 in [5, 30]
    d0 in [0, 15], d1 in [0, 7], d0 + d1 in [2, 15], d1 * 4 + d0 in [5, 30]
# remainders of one form and its interval
d0 in [-21, 40], d1 in [0, 9], (d0 - d1) mod 4 in [1, 1], d0 - d1 in [-4, 11]
    d0 in [-3, 18], d1 in [0, 9], (d0 - d1) mod 4 in [1, 1], d0 - d1 in [-3, 9]
d0 in [0, 30], d1 in [0, 9], (d0 + d1 * 2 + 3) mod 4 in [1, 1], (d0 + d1 * 2) mod 3 in [0, 0]
    d0 in [0, 30], d1 in [0, 9], (d1 * 2 + d0) mod 12 in [6, 6]
# fewer values than the divisor: an interval is left
d0 in [0, 30], d1 in [0, 30], (d0 - d1) mod 7 in [0, 0], (d0 - d1) mod 9 in [0, 0]
    d0 in [0, 30], d1 in [0, 30], d0 - d1 in [0, 0]
d0 in [0, 9], d1 in [0, 9], (d0 + d1) mod 16 in [13, 15]
    d0 in [4, 9], d1 in [4, 9], d0 + d1 in [13, 15]
d0 in [0, 9], d1 in [0, 9], (d0 + d1) mod 16 in [14, 17]
    d0 in [5, 9], d1 in [5, 9], d0 + d1 in [14, 15]
d0 in [0, 5], d1 in [0, 5], (d0 + d1) mod 16 in [13, 15] => KNOWN EMPTY
# residues that are no points
d0 in [0, 102], d0 mod 8 in [1, 5] => d0 in [1, 101], d0 mod 8 in [1, 5]
d0 in [-9, 30], d0 mod 4 in [0, 1], d0 mod 4 in [1, 2] => d0 in [-7, 29], d0 mod 4 in [1, 1]
d0 in [-9, 30], d0 mod 4 in [1, 1], d0 mod 8 in [0, 4] => d0 in [-7, 25], d0 mod 8 in [1, 1]
d0 in [-9, 30], d0 mod 4 in [1, 1], d0 mod 8 in [0, 6] => d0 in [-7, 29], d0 mod 4 in [1, 1]
d0 in [-9, 30], d0 mod 4 in [1, 2], d0 mod 8 in [0, 4] => d0 in [-7, 26], d0 mod 8 in [1, 2]
d0 in [-9, 30], d0 mod 4 in [0, 1], d0 mod 4 in [2, 3] => KNOWN EMPTY
d0 in [0, 8], d1 in [0, 9], d0 mod 2 in [0, 0], d0 mod 4 in [0, 2]
    d0 in [0, 8], d1 in [0, 9], d0 mod 2 in [0, 0]
""")


@for_all([*RULES, *SPELLINGS, *TOGETHER])
def test_constraints_in_normal_shape(before: str, after: str) -> None:
    given_map = parsed(before)
    found = given_map.simplify()
    assert str(found).partition("domain: ")[2] == after
    assert parse_map(str(found)).simplify() == found
    assert found.equals(given_map)


@for_all([before for before, _ in TOGETHER])
def test_the_order_of_constraints_does_not_matter(domain: str) -> None:
    parts = [f"{part}]" for part in domain.removesuffix("]").split("], ")]
    count = len(parsed(domain).dims)
    bounds, others = parts[:count], parts[count:]
    found = {parsed(", ".join([*bounds, *order])).simplify() for order in permutations(others)}
    assert len(found) == 1


FAR = "d0 in [0, 1000000], d1 in [0, 1000000], d2 in [0, 1000000], d3 in [0, 1000000]"
CHASE = "d0 - d1 in [1, 1000000], d1 - d2 in [1, 1000000], d2 - d3 in [1, 1000000]"
CHASES = [f"{CHASE}, d0 - d3 in [-1000000, -1]", f"{CHASE}, d3 * 2 - d0 * 2 in [1, 3000000]"]


@for_all(CHASES)
def test_constraints_that_chase_each_other_are_read_together(constraints: str) -> None:
    """Step by step, each of a million, they would narrow each other until nothing is left."""
    given_map = parsed(f"{FAR}, {constraints}")
    assert given_map.simplify().is_known_empty
    assert given_map.is_empty()


def test_constraints_of_many_variables_that_chase_each_other_sharpen_nothing() -> None:
    """What is not finished is not begun."""
    count, step = 20, Interval(1, 1000000)
    dims = [Variable((0, 1000000)) for _ in range(count)]
    chain = [(parse_form(f"d{at} - d{at + 1}"), step) for at in range(count - 1)]
    closed = (parse_form(f"d0 - d{count - 1}"), -step)
    found = identity_on(Domain.of(dims, constraints=[*chain, closed])).simplify()
    assert not found.is_known_empty
    assert {variable.bounds for variable in found.dims} == {Interval(0, 1000000)}
    assert len(found.constraints) == count


@for_all([("x * 2 + 1", (20, 30)), ("x mod 4 + x", (-9, -1)), ("7", (0, 6))])
def test_a_constraint_beyond_the_bounds_has_no_shape(form: str, interval: tuple[int, int]) -> None:
    scope = scope_of((("x", Interval(0, 9)),))
    assert normal(scope, (parse_form(form), Interval(*interval))) is None


def test_many_constraints_on_shared_variables_stay() -> None:
    dims = [Variable((0, 9))] * 20
    chain = [(parse_form(f"d{at} + d{at + 1}"), Interval(3, 9)) for at in range(19)]
    once = identity_on(Domain.of(dims, constraints=chain)).simplify()
    assert once.domain.constraints == tuple(chain)


@st.composite
def _intervals(draw: st.DrawFn, least: int, longest: int) -> Interval:
    lower = draw(st.integers(least, 3))
    return Interval(lower, lower + draw(st.integers(0, longest)))


@st.composite
def limits(draw: st.DrawFn) -> tuple[Domain, list[Constraint]]:
    """Bounds of up to three variables, also negative ones, and constraints: often remainders."""
    small = _intervals(-9, 9).map(Variable)
    dims = draw(st.lists(small, min_size=1, max_size=2))
    domain = Domain.of(dims, draw(st.lists(small, max_size=1)))
    expression = quasi_affine(domain.identifiers, leaves=3)
    divisor = st.sampled_from((2, 3, 4, 6, 8, 12, -3, -4)).map(forms.constant)
    divided = (st.builds(by, expression, divisor) for by in (operations.mod, operations.floordiv))
    form = st.one_of(expression, *divided)
    return domain, draw(st.lists(st.tuples(form, _intervals(-4, 12)), min_size=1, max_size=4))


@seldom
@given(limits(), st.randoms(use_true_random=False))
def test_constraints_keep_exactly_their_points(
    limited: tuple[Domain, list[Constraint]], random: Random
) -> None:
    plain, constraints = limited
    before = identity_on(plain.constrained(constraints))
    after = before.simplify()
    assert related(after) == related(before)
    assert parse_map(str(after)).simplify() == after
    random.shuffle(constraints)
    assert identity_on(plain.constrained(constraints)).simplify() == after


@given(limits())
def test_the_exact_way_is_no_larger(limited: tuple[Domain, list[Constraint]]) -> None:
    plain, constraints = limited
    before = identity_on(plain.constrained(constraints))
    fast, exact = before.simplify(), before.simplify(exact=True)
    assert related(exact) == related(before)
    assert exact.is_known_empty or cost_of_map(exact) <= cost_of_map(fast)
    for identifier, bounds in exact.domain.bounds.items():
        assert fast.domain.bounds[identifier].contains(bounds)


SMALL = [
    Residues(forms.variable("x"), modulus, first, count)
    for modulus in (2, 3, 4, 6)
    for first in range(modulus)
    for count in range(1, modulus)
]


@for_all(SMALL)
def test_two_remainders_meet_in_what_both_leave(one: Residues) -> None:
    for other in SMALL:
        both = merged([one, other])
        for value in range(-12, 12):
            is_left = both is not None and all(value in each for each in both)
            assert is_left == (value in one and value in other), (other, both)


# form, modulus, first and count of remainders that say nothing of each other
@each_row("""
("x", 4, 1, 1), ("y", 3, 0, 1)
("x", 4, 1, 2), ("y", 4, 1, 2)
("x", 4, 1, 1), ("x + y", 3, 0, 1)
""")
def test_remainders_stay_apart(listed: str) -> None:
    residues = {Residues(parse_form(text), *rest) for text, *rest in literal_eval(listed)}
    assert set(merged(residues) or ()) == residues


@for_all(SMALL)
def test_the_nearest_number_that_is_left(one: Residues) -> None:
    left = [value for value in range(-30, 30) if value in one]
    for value in range(-9, 9):
        assert one.from_value(value) == min(each for each in left if each >= value)
        assert one.to_value(value) == max(each for each in left if each <= value)


@for_all(SMALL)
def test_a_constraint_within_an_interval_leaves_the_same_numbers(one: Residues) -> None:
    for lower, size in product(range(-7, 8), range(1, 9)):
        form, interval = one.constraint_within((lower, lower + size - 1))
        numbers = {"x": np.arange(lower, lower + size, dtype=object)}
        (values, _), inside = values_of(form, numbers), [value in one for value in numbers["x"]]
        assert [int(value) in interval for value in values] == inside, (lower, size)


@for_all(SMALL)
def test_remainders_are_turned_and_written_as_they_are_read(one: Residues) -> None:
    """Those of the negative form are the negatives."""
    turned = one.about(-one.form)
    assert turned is not None
    assert turned == one.negated()
    assert all((-value in turned) == (value in one) for value in range(-12, 12))
    facts = normal(scope_of(()), one.constraint)
    assert facts is not None
    assert [Residues.of(scope_of(()), fact) for fact in facts] == [one]


@each_named("""
holds: d0 in [0, 9], (d0 >= 3) in [1, 1] => d0 in [3, 9]
does not hold: d0 in [0, 9], (d0 >= 3) in [0, 0] => d0 in [0, 2]
a negative one: d0 in [0, 9], -(d0 == 3) in [-1, -1] => d0 in [3, 3]
among others: d0 in [0, 9], (d0 == 3) * 4 + 2 in [5, 99] => d0 in [3, 3]
an inequality stays: d0 in [0, 9], (d0 == 3) in [0, 0] => d0 in [0, 9], (d0 == 3) in [0, 0]
both: d0 in [0, 9], (d0 >= 3 and d0 < 6) in [1, 1] => d0 in [3, 5]
none: d0 in [0, 9], (d0 == 12) in [1, 1] => KNOWN EMPTY
""")
def test_a_condition_is_what_it_compares(given_: str, expected: str) -> None:
    made = parsed(given_)
    simplest = made.simplify(preserve_size_one=True)
    assert str(simplest) == str(parsed(expected)) if expected != EMPTY else simplest.is_known_empty
    assert related(made) == related(simplest)


def test_constraints_that_differ_in_names_alone_are_asked_about_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Along the layers of a model the same windows come again, on ranges of other numbers."""
    asked = Mock(wraps=constraints._tightened_group)
    monkeypatch.setattr(constraints, "_tightened_group", asked)
    layers = range(8)
    ranges = ", ".join(f"s{n}" for n in range(16))
    bounds = ", ".join(f"s{n} in [0, {977 if n < 8 else 4}]" for n in range(16))
    windows = ", ".join(f"s{n} * 2 + s{n + 8} in [7, 1951]" for n in layers)
    found = parse_map(f"()[{ranges}] -> ({ranges}), domain: {bounds}, {windows}").simplify()
    asked.assert_called_once()
    assert [each.bounds for each in found.ranges[:8]] == [Interval(2, 975)] * 8
    assert len(found.domain.constraints) == 8
