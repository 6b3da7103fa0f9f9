"""Minima and maxima: laws on ``max(A, B, ...)`` before ``max(0, ...)`` may be an atom."""

from __future__ import annotations

from simplifier.laws.law import Example, Law, NearMiss

MINIMUM = Law(
    name="minimum",
    identity="min(A, B) == -max(-A, -B)",
    why="Negation reverses the order, so each law of maxima also serves minima.",
    example=Example("min(x, y) + max(x, y)", "x + y"),
    near_miss=NearMiss("max(x, y)", "a maximum stays one"),
)

FLATTEN_MAXIMA = Law(
    name="nested maximum",
    identity="max(T + k * max(A, B), C) == max(T + k * A, T + k * B, C)",
    condition="k > 0",
    why="An increasing function commutes with the maximum.",
    example=Example("max(max(x, y), z)", "max(x, y, z)"),
    near_miss=NearMiss("max(z - max(x, y), 0)", "this is the least of z - x and z - y"),
)

PRUNE = Law(
    name="dominated operand",
    identity="max(A, B) == B",
    condition="A <= B",
    why="An operand that is never greater than another one has no effect.",
    example=Example("max(x, x + y)", "x + y", "y >= 0"),
    near_miss=NearMiss(
        "max(x, x + y)", "x is greater where y is -1", "y >= -1", becomes="max(y, 0) + x"
    ),
)

PRUNE_BY_SEVERAL = Law(
    name="operand dominated by several",
    identity="max(A, B, C, D) == max(B, C, D)",
    condition="p * (B - A) + q * (C - A) + r * (D - A) > -p - q - r"
    " and p >= 0 and q >= 0 and r >= 0",
    why="If A were greater than all three, each difference would be -1 or less.",
    proof=(
        "p * (B - A) <= p * (max(B, C, D) - A)",
        "q * (C - A) <= q * (max(B, C, D) - A)",
        "r * (D - A) <= r * (max(B, C, D) - A)",
        "(p + q + r) * (max(B, C, D) - A + 1) > 0",
        "max(B, C, D) - A + 1 > 0",
    ),
    example=Example("max(-x - y, x, y, 0)", "max(-x - y, x, y)"),
    near_miss=NearMiss("max(-x - y, x, y, 1)", "where x and y are 0 so are all three"),
)

TWO_VALUED_MAXIMUM = Law(
    name="maximum of two values",
    identity="max(p * A + q, 0) == max(p * k + q, 0)"
    " + (A - k) * (max(p * k + p + q, 0) - max(p * k + q, 0))",
    condition="k <= A <= k + 1",
    why="Any function of an expression with two values is affine in it.",
    example=Example("max(x * 3 - 1, 0)", "x * 2", "0 <= x <= 1"),
    near_miss=NearMiss("max(x * 3 - 1, 0)", "three values", "-1 <= x <= 1"),
)

SHORTEN_MINIMUM = Law(
    name="shortened minimum",
    identity="max(A, min(B, C)) == max(A, C)",
    condition="C <= max(A, B)",
    why="Where B is less than C, C is at most A, so both sides equal A.",
    example=Example("max(min(x, x * 5), 4)", "max(x, 4)"),
    near_miss=NearMiss("max(min(x, x * 5), -4)", "5 * x matters where x is -1"),
)

LEAST_VALUE = Law(
    name="least value for an operand",
    identity="max(A, B) == max(A, k)",
    condition="k <= B <= max(A, k)",
    why="Where B is more than its least value, A is at least B.",
    example=Example("max(x, x floordiv 4)", "max(x, -1)", "-3 <= x <= 4"),
    near_miss=NearMiss("max(x, x floordiv 4)", "-1 where x is -4", "-5 <= x <= 4"),
)

GREATEST_VALUE = Law(
    name="greatest value for an operand",
    identity="max(B, A) == max(k, A)",
    condition="B <= k <= max(A, B)",
    why="Where B is less than its greatest value, A is at least that value.",
    example=Example("max(1 - x, x * 2)", "max(x * 2, 1)", "0 <= x <= 9"),
    near_miss=NearMiss("max(-x + 3, x * 2)", "where x is 1 both are 2", "0 <= x <= 9"),
)

FACTOR_MINIMUM = Law(
    name="common minimum",
    identity="max(min(A, B), min(A, C)) == min(A, max(B, C))",
    why="Minimum and maximum distribute over each other.",
    example=Example("max(min(x, y), min(x, z))", "min(x, max(y, z))"),
    near_miss=NearMiss("max(min(w, z), min(x, y))", "nothing is in both minima"),
)

HOIST_QUOTIENT = Law(
    name="hoisted quotient",
    identity="max(A floordiv c + S, B floordiv c + T) == max(A + c * S, B + c * T) floordiv c",
    condition="c > 0",
    why="Rounding down preserves the order.",
    example=Example("max(x floordiv 4, y floordiv 4)", "max(x, y) floordiv 4"),
    near_miss=NearMiss("max(x floordiv 4, y floordiv 8)", "two divisors"),
)

PIVOT = Law(
    name="pivot",
    identity="max(P, P + g * A, P + g * B) == P + g * max(0, A, B)",
    condition="g >= 0",
    why="Only differences matter. Operands that are all shifted or scaled alike share one atom.",
    example=Example("max(x * 2 + 4, y * 2 + 4) - 4 - max(x, y) * 2", "0"),
    near_miss=NearMiss("max(x, y) - max(y, z)", "other differences"),
)
