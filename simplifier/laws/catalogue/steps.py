"""Extraction: how remainders, minima and factored products come back when a form is written out.

A step is taken where it makes the whole cheaper to read.
"""

from __future__ import annotations

from simplifier.laws.law import Example, Law, NearMiss

DIGIT = Law(
    name="digit",
    identity="M * (A floordiv g) - M * N * (A floordiv (g * N)) == M * ((A floordiv g) mod N)",
    condition="N > 0",
    why="The quotients by neighbouring divisors of a chain form a digit.",
    example=Example("x floordiv 4 - (x floordiv 32) * 8", "(x floordiv 4) mod 8"),
    near_miss=NearMiss("x floordiv 4 - (y floordiv 32) * 8", "y is not x"),
)

WHOLE_REMAINDER = Law(
    name="remainder, written",
    identity="M * A - M * B * (A floordiv B) == M * (A mod B)",
    why="This is the definition of a remainder, read backwards.",
    example=Example("x * 3 - (x floordiv 8) * 24", "(x mod 8) * 3"),
    near_miss=NearMiss("x * 3 - (y floordiv 8) * 24", "y is not x"),
)

CONGRUENT_RESIDUES = Law(
    name="congruent residues",
    identity="(w * A + B) mod n == ((w - n * m) * A + B) mod n",
    why="Multiples of the divisor do not change a remainder.",
    example=Example("(x * 13) mod 8", "(x * 5) mod 8"),
    near_miss=NearMiss("-(x mod 8) + 7", "the numerator has no sign"),
)

REFLECTED_REMAINDER = Law(
    name="reflected remainder",
    identity="A mod n == n - 1 - (n - 1 - A) mod n",
    condition="n > 0",
    why="This is the digit counted from its other end.",
    example=Example("7 - (x + 1) mod 8", "(-x + 6) mod 8"),
    near_miss=NearMiss("7 - (7 - x) mod 8", "the digit itself is shorter", becomes="x mod 8"),
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

ABSORB_TERM = Law(
    name="term into a quotient",
    identity="k * (A floordiv c) + k * T == k * ((A + c * T) floordiv c)",
    why="floor(t) + n = floor(t + n). An extracted term goes back where that is shorter.",
    example=Example("x * 3 + (y - x) floordiv 7", "(x * 20 + y) floordiv 7", "0 <= x and 0 <= y"),
    near_miss=NearMiss("(y floordiv 8) * 2 + x * 3", "2 does not divide 3"),
)

TURNED_QUOTIENT = Law(
    name="quotient, turned",
    identity="k * (A floordiv c) == -k * ((c - 1 - A) floordiv c)",
    condition="c > 0",
    why="This is the reflection with fewer signs. With terms moved in, it restores ceilings.",
    example=Example("-((x + 7) floordiv 8)", "(-x) floordiv 8"),
    near_miss=NearMiss("-(x floordiv 8)", "7 - x costs more"),
)

SHIFTED_EXTREMA = Law(
    name="term into a maximum",
    identity="k * max(A, B) + k * T == k * max(A + T, B + T)",
    why="The pivot goes back where that is shorter.",
    example=Example("max(y - x, 0) + x", "max(x, y)"),
    near_miss=NearMiss("max(y - z, 0) + x", "nothing cancels"),
)

WRITTEN_MINIMUM = Law(
    name="minimum, written",
    identity="k * max(A, B) + k * T == -k * min(-A - T, -B - T)",
    why="Negation reverses the order.",
    example=Example("x - max(x - y, 0)", "min(x, y)"),
    near_miss=NearMiss("max(y - x, 0) + x", "the terms have the same sign", becomes="max(x, y)"),
)

SCALED_EXTREMA = Law(
    name="scaled maximum",
    identity="k * max(A, B) == max(k * A, k * B)",
    condition="k >= 0",
    why="The common factor of the operands goes back where the operands have multiples of"
    " their own.",
    example=Example("max(x * 3, 5) * 2", "max(x * 6, 10)"),
    near_miss=NearMiss("max(x, 5) * 2", "max(10, x * 2) costs the same"),
)

GROUPED_EXTREMA = Law(
    name="grouped operands",
    identity="max(A + T, B + T, C) == max(max(A, B) + T, C)",
    why="A term that several operands share is written once.",
    example=Example("min(w - x, y - x, z)", "min(min(w, y) - x, z)"),
    near_miss=NearMiss("min(w + x, y - x, z)", "two signs"),
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

QUOTIENTS_INSIDE = Law(
    name="quotients inside a maximum",
    identity="max(A, B) floordiv c == max(A floordiv c, B floordiv c)",
    condition="c > 0",
    why="Rounding down preserves the order. Operands that divide without remainder are"
    " written divided.",
    example=Example("min(x * 8 + y, 63) floordiv 8", "min(x, 7)", "0 <= y <= 7"),
    near_miss=NearMiss("max(x, y) floordiv 8", "one quotient is cheaper than two"),
)

FACTORED = Law(
    name="factored product",
    identity="X * A + X * B == X * (A + B)",
    why="One product replaces two.",
    example=Example("x * y + x * z", "(y + z) * x"),
    near_miss=NearMiss("w * z + x * y", "no factor is common"),
)

SYMBOLIC_REMAINDER = Law(
    name="digit of symbolic radix",
    identity="M * (A floordiv G) - M * B * (A floordiv (G * B)) == M * ((A floordiv G) mod B)",
    condition="B > 0",
    why="The quotients by neighbouring divisors of a chain of sizes form a digit.",
    example=Example("(x mod (n * m)) floordiv n", "(x floordiv n) mod m", "m >= 1"),
    near_miss=NearMiss("x floordiv n - (x floordiv (m * n)) * m", "m may be negative"),
)

ROUNDED_UP = Law(
    name="quotient rounded up",
    identity="-((-A) floordiv B) == A ceildiv B",
    why="Rounding up costs less than two signs.",
    example=Example("1 - (-x) floordiv n", "x ceildiv n + 1", "0 <= x and 1 <= n"),
    near_miss=NearMiss("-(x floordiv n) + 1", "-x has a sign more"),
)
