"""What ``benchmarks/fuzz.py`` and ``benchmarks/mutation.py`` found, each fault with a row."""

from __future__ import annotations

from operator import attrgetter

from benchmarks.fuzzing.case import Case
from benchmarks.fuzzing.checks import CHECKS, complaints
from benchmarks.problems import seeded
from simplifier import Interval
from simplifier.expr.text import parse_form
from simplifier.fixpoint import range_of, simplified
from tests.cases import for_all
from tests.evaluation import first_difference, values_of
from tests.simplifier.suite import Row, table

_FACTORS = "x * " * 15
_LARGE = 2**4200
"""The product of two such numbers is larger than the ends of a range may be."""

FUZZED = table("""
# ZeroDivisionError: integer division or modulo by zero
bounds hold values, symbolic 0/12: 0 ceildiv 0  stays
quick, huge 0/223: max(x, y ceildiv x)  =>  x  where x in [0, 1], y in [0, 1]
quick, huge 1/903: x ceildiv (x mod 2)  stays  where x in [0, 2]
# ValueError: max() arg is an empty sequence
quick, symbolic 50/65751: (y mod w) * 2  =>  (-1 mod 0) * 2  where w in [0, 0], y in [-1, -1]
# -1 is not in [0, 0]
bounds hold values, huge 8/843: 99999999999999997563 ceildiv y
    =>  -(99999999999999997564 ceildiv (-y)) + 1
    where y in [-100000000000000000000, -99000000000000000000]
# did not end: one law undid another
quick, a circle of laws: (d0 - ((d1 - ((d1 + 13) floordiv 32) * 32 + 13) floordiv 3) * 3
    - (d1 + 13) floordiv 32 + 44) floordiv 64
    =>  (d0 - (((d1 + 13) mod 32) floordiv 3) * 3 - (d1 + 13) floordiv 32 + 44) floordiv 64
    where d0 in [211, 1136], d1 in [-45, 139], (d1 + 13) mod 32 in [0, 24]
# x * 2 + (x * 5 + 69) mod 2 + (x * 5 + 69) floordiv 1 costs 15, not 14
never costlier, digits 77/170: x * 2 + ((x * 5 + 69) floordiv 1) mod 2 + (x * 5 + 69) floordiv 1
    =>  ((x * 7) floordiv 2) * 2 + 70  where x in [0, 35]
# min((y mod 4) * 4 + (y floordiv 4) * 4 - 1, 0) + 1 costs 11, not 9
never costlier, small: min(x, (y mod 4) * 3 + y)
    =>  min((y mod 4) * 3 + y, 1)  where x in [1, 1], y in [0, 4]
# ((-m + 36) floordiv 12 + m) floordiv 5 + (m + 11) floordiv 12 costs 17, not 13
never costlier, a multiple: ((m ceildiv 12) * 4 + m - 1) ceildiv 5
    =>  (((m + 11) floordiv 12) * 4 + m + 3) floordiv 5  where m in [2, 64]
# TypeError: 'Form' object is not iterable
quick, neither the form nor its parts may stay: min(x floordiv -2, min(x, z) % -3)
    =>  min((-x) floordiv 2, (min(x, z) + 2) mod 3 - 2)  where x in [0, 2], z in [0, inf]
quick, limited 15/43009: max(w, min(z, 1)) % -3
    =>  (max(w, min(z, 1)) + 2) mod 3 - 2  where w in [0, 2], z in [0, 2]
# RecursionError: the lower bits were split from themselves
quick, bits: bitxor((n ceildiv 6) mod 16, 9)
    =>  bitxor(((n + 5) floordiv 6) mod 16, 9)  where n in [8, 1024], n mod 8 in [0, 0]
""")
"""Each failed the check that its name begins with."""

PLANTED = table(f"""
a quotient beside: min(y, x floordiv y)
    =>  min(y, -1 floordiv y)  where x in [-1, -1], y in [-1, 1]
_falls_apart: bitxor(x * 8 + y, z * 8)
    stays  where x in [-inf, inf], y in [-1, 3], z in [-inf, inf]
from_its_end: (x ceildiv -1) mod w  =>  (-x) mod w  where w in [0, 1], x in [0, 1]
_multiplied_out: x * x * x  =>  x * 37 + 84  where x in [-4, -3]
_cases: max(-max(x + 2, 0) - max(x, 0) + 1, 0)  =>  -min(max(x + 2, 0), 1) + 1  where x in [-3, 1]
divisor_range: w ceildiv (w % -2)  =>  -(w floordiv (-w + 18))  where w in [17, 18]
two_valued: min((x mod 5) * -3 - x * 2, x)  =>  x * -2 - 9  where x in [-3, -2]
_flattened: ((x * 2) ceildiv 3) floordiv M
    =>  (x * 2 + 2) floordiv (M * 3)  where x in [0, 3], M in [0, 1]
merge: ((x * 3) floordiv 2) mod 2  =>  (x + 1) floordiv 2  where x in [0, 2]
_flat: max(max(x, 1) + max(x, -2) - min(x, 0), -x)  =>  max(-x, x + 1, x * 2)  where x in [-4, 4]
_digits_of: (x floordiv (k * 2)) * 6 - (x floordiv (k * n * 2)) * 6 * n
    =>  ((x floordiv (k * 2)) mod n) * 6  where x in [-inf, inf], k in [1, inf], n in [1, inf]
_exact_weight: ((x * -32 + 23) floordiv 12) mod 12 + ((x * -32 - 1) floordiv 2) mod 3
    =>  ((x * 2 + 7) floordiv 9) * 12 + (x floordiv 3) * 3 - (x * 11) floordiv 3 + 3
    where x in [0, 6]
_long_division: (w * x * x * x + x * x * x + w + x) mod (x * x + x)
    =>  ((w + 2) * x + w) mod (x * x + x)  where x in [0, 2], w in [0, 1]
_shared_weight: ((x * 2) mod 3) * 2 + (x mod 2) * 3
    =>  x - ((x - ((x + 2) floordiv 3) * 2) floordiv 2) * 6  where x in [0, 4]
open_digits: (((y * -3 - z * 10 + 1) floordiv 2) mod 3) * 3 - ((z - y * 3) floordiv 5) * 4 - y * 3
    =>  ((z - y mod 2 + 3) mod 3) * 3 + y - ((y * 2 + z + 20) floordiv 5) * 4 + 16
    where y in [-8, 91], z in [-1, 8]
_units: (max(x - 1, 0) - x) floordiv 2  =>  max(-x, -1)  where x in [0, 2]
degree: {_FACTORS}(x + 1) * (x + 1) * z
    =>  (x + 1) * (x + 1) * {_FACTORS}2  where x in [-inf, inf], z in [2, 2]
_grows: (x + {_LARGE}) * (x + {_LARGE})  stays  where x in [0, inf]
_bounded, below: max(x * y, -5)  stays  where x in [-{_LARGE}, -1], y in [1, {_LARGE}]
_bounded, at the limit: max(x * y, -{2**8192})
    =>  x * y  where x in [-{2**4096}, -1], y in [1, {2**4096}]
_bounded, a least value: max(x * y, {2**9000})
    stays  where x in [{_LARGE}, {_LARGE + 1}], y in [{_LARGE}, {_LARGE + 1}]
_bounded, a known least value: max(x * y, {2**8000})
    =>  x * y  where x in [{_LARGE}, {_LARGE + 1}], y in [{_LARGE}, {_LARGE + 1}]
_bounded, a greatest value: min(x * y, -{2**9000})
    stays  where x in [-{_LARGE + 1}, -{_LARGE}], y in [{_LARGE}, {_LARGE + 1}]
_range of bits: max(bitxor(x, y), 0)  stays  where x in [0, 1], y in [-inf, 0]
_range of bits without ends: max(bitor(bitxor(x, -2), bitxor(y, -1)), 0)
    stays  where x in [0, inf], y in [-2, -1]
# least intervals; bits are counted
_known_with: max(x - 1, 0) * 2 + max(x + 1, 0) - max(x, 0) * 2  lies in  [0, 1]  where x in [-2, 2]
_known_with, weights: max(x - 1, 2) * 2 + max(x, 0) - max(x + 1, 0) - x
    lies in  [0, 6]  where x in [-2, 6]
_digit_range: x mod w  lies in  [0, 1]  where w in [-1, 2], x in [-1, 0]
_range of bits: bitand(-x, x)  lies in  [0, 2]  where x in [0, 2]
_mod_range: (x mod y) mod M  lies in  [0, 0]  where x in [0, 1], y in [0, 2], M in [0, 1]
_without_rounding: x floordiv 2 - x  lies in  [-1, 0]  where x in [0, 2]
_without_rounding, thirds: x floordiv 3 - x  lies in  [-2, 0]  where x in [0, 3]
_gather: (max(x - 1, 0) + max(x - 2, 0) + max(x, 0) - min(x + 1, 1) - x) floordiv 4
    lies in  [-1, 2]  where x in [-1, 6]
_has_single_quotient: ((-x - y) floordiv 4) * 4 + (y * 3) floordiv 2
    lies in  [-4, 2]  where x in [0, 1], y in [0, 4]
maximum_atom: max(x + 1, 0) + max(x, 0) - x  lies in  [1, 2]  where x in [-1, 1]
_readings: (max(x - y, 0) + y - x floordiv 2) * x
    lies in  [-inf, 0]  where x in [-2, 0], y in [-1, inf]
""")
"""Each tells the code from a fault that no test saw, in the function of that name."""


def case_of(row: Row) -> Case:
    bounds, limits = (
        {text: (ends.lower, ends.upper) for text, ends in known} for known in row.question[1:]
    )
    return Case.of(row.question.expression, bounds, limits)


@for_all(FUZZED, attrgetter("name"))
def test_what_was_found_stays_right(row: Row) -> None:
    assert dict(complaints(case_of(row), CHECKS)) == {}


@for_all([row for row in (*FUZZED, *PLANTED) if row.relation == "=>"], attrgetter("name"))
def test_simplified(row: Row) -> None:
    case = case_of(row)
    assert str(simplified(case.scope, case.form)) == row.expected
    assert first_difference(case.form, parse_form(row.expected), case.points(seeded(0))) is None


@for_all([row for row in PLANTED if row.relation == "lies in"], attrgetter("name"))
def test_ranges(row: Row) -> None:
    case = case_of(row)
    interval = range_of(case.scope, case.form)
    assert str(interval) == row.expected
    values, is_defined = values_of(case.form, case.points(seeded(0)))
    there = values[is_defined]
    assert interval.lower in (None, there.min())
    assert interval.upper in (None, there.max())


def test_a_deep_remainder_has_the_sign_of_its_divisor() -> None:
    text = "x"
    for number in range(25):
        text = f"(({text}) * 5 + {number}) mod {97 + number}"
    case = Case.of(f"({text}) % -128", {"x": (0, 9)})
    result = simplified(case.scope, case.form)
    assert first_difference(case.form, result, case.points(seeded(0))) is None
    assert range_of(case.scope, case.form) == Interval(-127, 0)
