"""What a good formula is: digits times strides, narrow, positive divisors, few divisions."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise, starmap
from operator import eq, lt

from simplifier import Interval, cost, equivalent, format_expr, operator_count, parse_expr, simplify
from simplifier.canonical.scope import scope_of
from simplifier.expr.sympy import from_sympy
from simplifier.expr.text import parse_form
from simplifier.extraction.width import is_wide, width_as_written
from tests.cases import for_all
from tests.evaluation import differing_point
from tests.simplifier.objective import is_good
from tests.simplifier.suite import Row, for_questions


@for_questions("""
# digits times strides
(d0 mod 8) * 262144 + d0 floordiv 8  stays  where d0 in [0, 2047]
bl_x * 262144 - (bl_x floordiv 8) * 2097151
    =>  (bl_x mod 8) * 262144 + bl_x floordiv 8  where bl_x in [0, 4095]
(d0 mod 32) * 3 + d0 floordiv 65536  stays  where d0 in [0, 196607]
d0 * 1024 - (d0 floordiv 64) * 65535
    =>  (d0 mod 64) * 1024 + d0 floordiv 64  where d0 in [0, 65535]
d0 - (d0 floordiv 8) * 4  stays  where d0 in [0, 63]
(d0 floordiv 128) * 896 + (d1 floordiv 8) * 1024 + d1 * 128 + d0
    =>  (d0 floordiv 128) * 1024 + (d1 floordiv 8) * 1024 + d1 * 128 + d0 mod 128
    where d0 in [0, 511], d1 in [0, 63]
((d0 floordiv 8) * 512 + (d1 floordiv 16) * 128 + (d0 mod 8) * 16) floordiv 64
    =>  (d0 floordiv 8) * 8 + (d1 floordiv 16) * 2 + (d0 floordiv 4) mod 2
    where d0 in [0, 39], d1 in [0, 63]
((y - x) floordiv 10) * 2 + (((y - x) floordiv 2) mod 5) * 2 + ((y - x) mod 2) * 8
    =>  ((x + y) mod 2) * 7 + ((x - y + 9) floordiv 10) * 8 + y - x
    where x in [0, 59], y in [0, 7]
# of linear indices
((d1 * 16 + d0) mod 20) * 9 + (d1 * 16 + d0) floordiv 20 + d1
    =>  ((d1 * 36 + d0) mod 20) * 9 + (d1 * 36 + d0) floordiv 20  where d0 in [0, 35], d1 in [0, 4]
(bl * 512 + th * 4) floordiv 252 + (((bl * 512 + th * 4) floordiv 42) mod 6) * 42
    + (bl * 512 + th * 4) mod 42
    =>  ((bl * 128 + th) mod 63) * 4 + (bl * 128 + th) floordiv 63
    where bl in [0, 1007], th in [0, 127]
bl * 6 + (bl * 96 + u * 16 + th) mod 240 + (bl * 96 + u * 16 + th) floordiv 240 + u
    =>  (bl * 1536 + u * 256 + th) mod 240 + (bl * 1536 + u * 256 + th) floordiv 240
    where bl in [0, 29], u in [0, 5], th in [0, 255]
((y - x + 1) floordiv 4) * 10 + x * 10 + (y - x + 1) mod 4
    =>  ((x * 3 + y + 1) floordiv 4) * 10 + (x * 3 + y + 1) mod 4  where x in [0, 239], y in [0, 7]
(((x * 5 + y + 20) mod 8) * 20 + (((x * 5 + y + 20) floordiv 8) mod 10) * 2
    + (x * 5 + y + 20) floordiv 80) floordiv 2
    =>  ((x * 5 + y + 4) mod 8) * 10 + ((x * 5 + y + 20) floordiv 8) mod 10
    where x in [0, 23], y in [0, 4]
# few divisions
((x + 5) floordiv 3) * 3 + (x + 5) mod 3 + ((x + 5) floordiv 2) * 6
    =>  ((x + 1) floordiv 2) * 6 + x + 17  where x in [0, 383]
# a sum less where numbers are equal
select(y * 2 + 3 <= y + z + 3 and x floordiv 2 == x floordiv 4 + y + 2, z, x)
    =>  select(y <= z and x floordiv 4 + y == x floordiv 2 - 2, z, x)
    where x in [0, 13], y in [0, 6], z in [0, 20]
# narrow
((y - x) floordiv 3) * 5 + x * 5 + (y - x) mod 3
    =>  ((x * 2 + y) floordiv 3) * 2 + x * 2 + y  where x in [0, 1023], y in [0, 7]
((x * 6 + y + 7) floordiv 8) * 8
    =>  ((x * -6 - y) floordiv 8) * -8  where x in [0, 47], y in [0, 11]
min(max(d0, 40), 107) * 9 + d1 * 3 - 357  stays  where d0 in [0, 119], d1 in [0, 2]
z * 2 + z mod 6 - 12  stays  where z in [1, 128]
(((d0 * 2 + d1 - 16) floordiv 2 - 2) floordiv 3) * 2 + (d0 * 2 + d1 - 16) mod 2 - 16
    =>  ((d0 * 2 + d1 + 4) floordiv 6) * 2 + d1 mod 2 - 24  where d0 in [0, 1], d1 in [0, 17]
((d0 * 196609) floordiv 65536) mod 96
    =>  (d0 mod 32) * 3 + d0 floordiv 65536  where d0 in [0, 196607]
((d0 * 12972 + d1 * 1081) floordiv 90) mod 216
    =>  ((d0 * 12 + d1) mod 18) * 12 + (d0 * 12 + d1) floordiv 90
    where d0 in [0, 89], d1 in [0, 11]
(x floordiv 16) * 3 + (x mod 16) * 8 + (x floordiv 3) * 2
    =>  (x mod 16) * 8 + (x floordiv 3) * 2 + (x floordiv 16) * 3  where x in [0, 191]
((w mod 128) * 6) mod 32  =>  ((w * 3) mod 16) * 2  where w in [0, 1233]
(((d0 mod 4) * 90 + d0 floordiv 4) mod 120) * 3 + ((d0 mod 4) * 90 + d0 floordiv 4) floordiv 120
    =>  ((d0 * 119 + 479) floordiv 480) * 359 - d0 * 89  where d0 in [0, 359]
(((((d1 * 7 + d0) mod 1260) * 2 + (d1 * 7 + d0) floordiv 1260) mod 21) * 120
    + (((d1 * 7 + d0) mod 1260) * 2 + (d1 * 7 + d0) floordiv 1260) floordiv 21) mod 105
    =>  ((d0 * 113760 + d1 * 2521) floordiv 3780) mod 105  where d0 in [0, 6], d1 in [0, 359]
(((((d0 - 5) * 7 + d1) floordiv 10 * 10 + ((d0 - 5) * 7 + d1) mod 10 - 50) floordiv 2
    - 16) floordiv 3) * 2 + ((d0 - 5) * 7 + d1) mod 2
    =>  ((d0 * 7 + d1 + 3) floordiv 6) * 2 + (d0 * 7 + d1 + 3) mod 2 - 40
    where d0 in [0, 14], d1 in [0, 6]
((d0 floordiv 2) * 6) floordiv 4  =>  d0 floordiv 2 + d0 floordiv 4
# digits that the canonical form would multiply out
(((d0 mod 5) * 12 + ((d0 floordiv 5) mod 3) * 4 + d0 floordiv 15) mod 2) * 30
    + (((d0 mod 5) * 12 + ((d0 floordiv 5) mod 3) * 4 + d0 floordiv 15) floordiv 10) * 5
    + (((d0 mod 5) * 12 + ((d0 floordiv 5) mod 3) * 4 + d0 floordiv 15) floordiv 2) mod 5
    =>  (((d0 floordiv 5) floordiv 3) mod 2) * 30 + ((d0 floordiv 5) mod 3) * 2 + (d0 mod 5) * 6
    + ((d0 floordiv 5) floordiv 3) floordiv 2  where d0 in [0, 59]
((d0 floordiv 768) * 768 + ((d0 mod 384) floordiv 128) * 256 + ((d0 floordiv 384) mod 2) * 128
    + d0 mod 128) floordiv 384
    =>  d0 floordiv 128 - (d0 floordiv 384) * 2 - (((d0 floordiv 128) mod 6) * 2 + 8) floordiv 9
    where d0 in [0, 3839]
(((d0 floordiv 2) mod 2) * 576 + (d0 floordiv 4) * 2 + d0 mod 2) floordiv 3
    =>  ((d0 floordiv 2) mod 2) * 192 + ((d0 floordiv 4) * 2 + d0 mod 2) floordiv 3
    where d0 in [0, 1151]
(((d0 * 12 + min(max(d1 - 8, 0), 11)) floordiv 210) * 104
    + min(max((d0 * 12 + min(max(d1 - 8, 0), 11)) mod 210 - 52, 0), 103)) mod 2
    =>  min(max((d0 * 12 + min(max(d1 - 8, 0), 11)) mod 210 - 52, 0), 103) mod 2
    where d0 in [0, 34], d1 in [0, 23]
# extrema in divisions stay whole
((min(max(d1 - 7, 0), 7) mod 4) * 10 + (d0 floordiv 4) * 4
    + min(max((d0 mod 4) * 2 + min(max(d1 - 7, 0), 7) floordiv 4 - 2, 0), 4)) mod 8
    =>  ((d0 floordiv 4) * 4 + max(d1 - 7, 0) * 2 + min(max((d0 mod 4) * 2
    + max(d1 - 7, 0) floordiv 4 - 2, 0), 4)) mod 8  where d0 in [0, 7], d1 in [0, 14]
(((min(max(d0 - 2, 0), 4) * 280 + d1) floordiv 200) * 116
    + min(max((min(max(d0 - 2, 0), 4) * 280 + d1) mod 200 - 66, 0), 115)) floordiv 29
    =>  (((min(max(d0 - 2, 0), 4) * 280 + d1) floordiv 200) * 116
    + min(max((min(max(d0 - 2, 0), 4) * 280 + d1) mod 200 - 66, 0), 115)) floordiv 29
    where d0 in [0, 7], d1 in [0, 279]
# narrower than the input, which costs less
1 - (x ceildiv 2) * 24  =>  (x ceildiv 2) * -24 + 1  where x in [0, 7]
max(x, y) * 8 - x * 6  stays  where x in [0, 63], y in [0, 7]
# positive divisors
((d0 + 2) floordiv 3) * 3  stays  where d0 in [0, 99]
(d0 floordiv -3) * -3  =>  ((d0 + 2) floordiv 3) * 3  where d0 in [0, 99]
(d0 ceildiv 3) * 3  =>  ((d0 + 2) floordiv 3) * 3  where d0 in [0, 99]
d0 floordiv -8  =>  (-d0) floordiv 8  where d0 in [0, 99]
d0 floordiv -8  =>  (-d0) floordiv 8
# a remainder is torn where a term vanishes by it, and only there
(-d0) mod 128  stays  where d0 in [0, 999]
(d0 * 127) mod 128  =>  (-d0) mod 128  where d0 in [0, 999]
(d0 ceildiv 128) * 128 - d0  =>  (-d0) mod 128  where d0 in [0, 999]
d0 - ((d0 + d1) floordiv 8) * 8  =>  (d0 + d1) mod 8 - d1  where d0 in [0, 99], d1 in [0, 9]
d0 - d0 mod 8  =>  (d0 floordiv 8) * 8  where d0 in [0, 99]
# what a machine executes
min(min(p, 12) + j, 12)  =>  min(j + p, 12)  where p in [0, 255], j in [0, 3]
d0 - (d0 mod 16) * 16  stays  where d0 in [0, 255]
d0 - (d0 floordiv 16) * 8  stays  where d0 in [0, 255]
(d0 floordiv 8) * 9 + d0 mod 8  =>  d0 floordiv 8 + d0  where d0 in [0, 63]
(d0 * 65) floordiv 64  =>  d0 floordiv 64 + d0  where d0 in [0, 1023]
((d0 floordiv 2) mod 3) * 21 + (d0 mod 2) * 10 + (d0 floordiv 6) * 64
    =>  d0 * 10 + d0 floordiv 2 + d0 floordiv 6  where d0 in [0, 31]
d0 * 10 - d0 mod 2 - d0 floordiv 8 - 14  stays  where d0 in [0, 63]
((d0 * 480 + d1) floordiv 168) mod 4  stays  where d0 in [0, 20], d1 in [0, 479]
(d0 * 16) mod 3 + ((-d0 + 13) floordiv 3) floordiv 2 + d0 floordiv 24
    =>  (d0 + 24) mod 3 + (d0 + 24) floordiv 24 - (d0 + 4) floordiv 6 + 1  where d0 in [-3, 28]
(w floordiv 3) * 3 + w mod 5  =>  ((w + 3) floordiv 3) * 3 + (w + 5) mod 5 - 3  where w in [-3, 99]
x * 10 - (x floordiv 12) * 118 - (x floordiv 60) * 9
    =>  ((x floordiv 12) mod 5) * 2 + (x mod 12) * 10 + (x floordiv 12) floordiv 5
    where x in [0, 119]
((x floordiv 3) mod 8) * 5 + x floordiv 24
    =>  ((x floordiv 3) mod 8) * 5 + (x floordiv 3) floordiv 8  where x in [0, 999]
# one identity or one found failure each
x - (x floordiv 3) * 3  =>  x mod 3
x ceildiv 4  =>  (x + 3) floordiv 4  where x in [0, 100]
min(x, x + 1)  =>  x
x mod 8  stays  where x in [0, inf]
((y mod 3) floordiv 2) floordiv 2  =>  0  where y in [0, 99]
min((y mod 3) floordiv 2, 1)  =>  (y mod 3) floordiv 2  where y in [0, 99]
max((d0 * 8 + d1) floordiv 12, 0)  =>  (d0 * 8 + d1) floordiv 12  where d0 in [0, 2], d1 in [0, 7]
min(min(i, 6) + min(j, 3), 9)  =>  min(i, 6) + min(j, 3)
min(max(min(max(i, 0), 6) + min(max(j, 0), 3), 0), 9)  =>  min(max(i, 0), 6) + min(max(j, 0), 3)
# constants last
min(5, d0)  =>  min(d0, 5)
""")
def test_a_reader_gets_what_a_reader_wants(row: Row) -> None:
    (expression, bounds, _), wanted = row.question.parsed(), parse_expr(row.expected)
    assert format_expr(simplify(expression, bounds)) == row.expected
    assert equivalent(expression, wanted, bounds)
    assert is_good(wanted, bounds)
    assert format_expr(simplify(wanted, bounds)) == row.expected


DIGITS, TORN = "(x mod 8) * 4 + x floordiv 8", "x * 4 - (x floordiv 8) * 31"
RANKED = [
    # how the costs of neighbours compare, formulas
    (lt, DIGITS, TORN),
    (lt, "x mod 7 + x floordiv 7", "x mod 7 + x floordiv 5", "x mod 7 - x mod 5"),
    (lt, "(x + 7) floordiv 8", "x floordiv 8 + (x + 7) floordiv 8"),
    (lt, "x mod 8 + y floordiv 8", "(x mod 8) * 2 + y floordiv 8"),
    (lt, "(x mod 8) * 2 + y floordiv 8", "(x mod 8) * 2 + (y floordiv 8) * 3"),
    (eq, "(x floordiv 8) * 8 + (x floordiv 4) mod 2", "(x floordiv 8) * 8 + (x mod 8) floordiv 4"),
    (eq, "(-x) floordiv 2", "x floordiv -2"),
    (eq, "x ceildiv 3", "(x + 2) floordiv 3"),
]


@for_all(RANKED)
def test_what_is_better_costs_less(compare: Callable[[int, int], bool], *formulas: str) -> None:
    assert all(starmap(compare, pairwise(map(cost, map(parse_expr, formulas)))))
    # operators as written do not tell digits from torn ones
    assert operator_count(parse_expr(TORN)) < operator_count(parse_expr(DIGITS))


WIDE = [
    # whether it is wide, text, greatest x
    (True, "((x * 196609) floordiv 65536) mod 96", 196607),
    (False, "(x mod 32) * 3 + x floordiv 65536", 196607),
    (True, "x * 262144 - (x floordiv 8) * 2097151", 4095),
    (False, "(x mod 8) * 262144 + x floordiv 8", 4095),
    (True, "(x * 127) mod 128", 999),
    (False, "(x * 127) mod 128", None),
]


@for_all(WIDE)
def test_a_part_beyond_the_natural_width_is_wide(wide: bool, text: str, most: int | None) -> None:
    scope = scope_of((("x", Interval(most and 0, most)),))
    assert is_wide(scope, parse_form(text)) is wide


@for_questions("""
a bit wider than n: min(y + 3, n)  stays  where y in [1, 6], n in [2, 7]
twice as wide as the clamp: min(2, y * 4)  stays  where y in [-2, 5]
an odd number: min(x, y * 2 + 1)  stays  where x in [1, 6], y in [-2, 5]
a symbolic remainder: (4 - x * 3) mod n  stays  where x in [0, 7], n in [1, 4]
a symbolic quotient: (n - x * 15) floordiv n  stays  where x in [0, 3], n in [2, 7]
of a minimum: (min(x, 5) * -3) floordiv n  stays  where x in [1, 6], n in [2, 7]
torn, it is wider still: n - ((x * 4 + 1) mod n) * 6  stays  where x in [-2, 5], n in [2, 7]
""")
def test_what_compares_or_divides_wider_numbers_gets_no_costlier(row: Row) -> None:
    expression, bounds, _ = row.question.parsed()
    assert cost(simplify(expression, bounds), bounds) <= cost(expression, bounds)


WITHIN_32_BITS = {"x": (0, 1_800_000_000), "y": (0, 100_000), "s": (1, 9), "n": (1, 1_800_000_000)}
SUMS_WITHIN_32_BITS = {
    "wide-with-a-factor": "x + x floordiv 7 + (x mod 5) * s",
    "wide-with-a-factor-b": "x + (x mod 4) * s + ((x floordiv 4) mod 4) * 4 + (y floordiv 4) mod 3",
    "two-strides": "x + (x mod 4) * s + (y mod 8) * s",
    "terms-of-both-signs": "(x mod 8) + (x mod 3) * 5 + x",
    "a-divisor-in-a-quotient": "(x floordiv 4) floordiv n",
    "a-divisor-in-a-factor": "((x floordiv 8) floordiv n) * s",
    "terms-of-both-signs-with-a-factor": "(x mod 4) * 3 + x + (x mod 7) * 5 + (x mod 16) * s",
}


@for_all(SUMS_WITHIN_32_BITS)
def test_no_part_of_a_result_is_wider_than_all_of_its_input(text: str) -> None:
    bounds = {name: Interval(*ends) for name, ends in WITHIN_32_BITS.items()}
    expression = parse_expr(text)
    result = simplify(expression, bounds)
    scope = scope_of(tuple(sorted(bounds.items())))
    assert differing_point(expression, result, bounds, []) is None
    assert width_as_written(scope, from_sympy(result)) < 1 << 31
