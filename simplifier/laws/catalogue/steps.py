"""Extraction: how remainders, minima and factored products come back when a form is written out.

A step is taken where it makes the whole cheaper to read.
"""

from __future__ import annotations

from simplifier.laws.law import Example, Law, NearMiss

DIGIT = Law(
    name="digit",
    identity="M * (A floordiv G) - M * B * (A floordiv (G * B)) == M * ((A floordiv G) mod B)",
    condition="B > 0",
    why="The quotients by neighbouring divisors of a chain form a digit, also in a chain of sizes.",
    example=Example("x floordiv 4 - (x floordiv 32) * 8", "(x floordiv 4) mod 8"),
    near_miss=NearMiss("x floordiv 4 - (y floordiv 32) * 8", "y is not x"),
)

CONGRUENT_RESIDUES = Law(
    name="congruent residues",
    identity="(w * A + B) mod n == ((w - n * m) * A + B) mod n",
    why="Multiples of the divisor do not change a remainder.",
    example=Example("(x * 13) mod 8", "(x * 5) mod 8"),
    near_miss=NearMiss("-(x mod 8) + 7", "the numerator has no sign"),
)

SAME_STEP = Law(
    name="same step",
    identity="(s * A + p) floordiv a == l + min(1, max(0, A - h + 1))",
    condition="l <= (s * A + p) floordiv a <= l + 1"
    " and s * (h - 1) + p < (l + 1) * a <= s * h + p and a > 0",
    why="A quotient with two values is a step at h. Two quotients of one source that step"
    " at the same point differ by a constant.",
    example=Example("(x + 300) floordiv 800 - (x + 100) floordiv 600", "0", "0 <= x <= 999"),
    near_miss=NearMiss(
        "(x + 300) floordiv 800 - (x + 100) floordiv 600",
        "x + 100 reaches 1200, so one of them has three values",
        "0 <= x <= 1100",
    ),
)

ALL_RESIDUES = Law(
    name="all residues",
    identity="A floordiv (3 * g) + (A + g) floordiv (3 * g) + (A + 2 * g) floordiv (3 * g)"
    " == A floordiv g",
    why="Among as many consecutive numbers as the divisor, exactly one passes a multiple at"
    " each step of A, so the sum counts the steps. The law is stated for three numbers"
    " and holds for any number. Quotients with a single value may be missing.",
    proof=(
        "A floordiv (3 * g) == (A floordiv g) floordiv 3",
        "(A + g) floordiv (3 * g) == (A floordiv g + 1) floordiv 3",
        "(A + 2 * g) floordiv (3 * g) == (A floordiv g + 2) floordiv 3",
    ),
    example=Example("x floordiv 3 + (x + 1) floordiv 3 + (x + 2) floordiv 3", "x"),
    near_miss=NearMiss("(x + 1) floordiv 3 + x floordiv 3", "one of three is missing"),
)

DOUBLE_CLAMP = Law(
    name="two clamps",
    identity="max(0, A) - max(0, A - B) == min(max(0, A), B)",
    condition="B >= 0",
    why="The difference of two clamps is clamped at both ends.",
    example=Example("max(x + y + 5, 0) - max(x + y + 2, 0)", "min(max(x + y + 5, 0), 3)"),
    near_miss=NearMiss(
        "max(x + y + 5, 0) - max(x + z + 2, 0)", "the clamps differ by more than a constant"
    ),
)

OPPOSITE_CLAMPS = Law(
    name="clamps on either side",
    identity="max(0, A) - max(0, B) == max(A, min(0, -B))",
    condition="A + B <= 0",
    why="The two clamps are never positive together.",
    example=Example("max(y - x, 0) + x - max(x - 9, 0)", "max(y, min(x, 9))", "y <= 9"),
    near_miss=NearMiss(
        "max(y - x, 0) + x - max(x - 9, 0)",
        "both are positive where x is 10 and y is 11",
        "y <= 10",
        becomes="max(y - x, 0) + min(x, 9)",
    ),
)
