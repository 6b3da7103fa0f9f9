"""Quotients by constants: laws on ``floor(N / c)`` before it may become an atom."""

from __future__ import annotations

from simplifier.laws.law import Example, Law, NearMiss

REMAINDER = Law(
    name="remainder",
    identity="A mod B == A - B * (A floordiv B)",
    why="This is the definition of a remainder. Without remainders, everything that is"
    " linear in quotients cancels.",
    example=Example("(x floordiv 8) * 8 + x mod 8", "x"),
    near_miss=NearMiss("x mod 0", "nothing is said of a division by zero"),
)

NEGATIVE_DIVISOR = Law(
    name="negative divisor",
    identity="A floordiv (-B) == (-A) floordiv B",
    why="Both sides round the same fraction down.",
    example=Example("x floordiv (-8) + (x + 7) floordiv 8", "0"),
    near_miss=NearMiss("x floordiv y", "the sign of y is not known"),
)

UNIT_DIVISOR = Law(
    name="unit divisor",
    identity="A floordiv 1 == A",
    why="An integer divided by one is itself.",
    example=Example("x floordiv 1", "x"),
    near_miss=NearMiss("x floordiv 2", "the divisor is not one"),
)

CEILING = Law(
    name="ceiling",
    identity="A ceildiv B == -((-A) floordiv B)",
    why="Rounding up is rounding the negated fraction down, negated again.",
    example=Example("x ceildiv 4", "(x + 3) floordiv 4"),
    near_miss=NearMiss("x floordiv 4", "this is rounded down already"),
)

ONLY_VALUE = Law(
    name="only value",
    identity="A == k",
    condition="k <= A <= k",
    why="An interval of one integer leaves one value.",
    example=Example("x + y", "y + 5", "5 <= x <= 5"),
    near_miss=NearMiss("x + y", "x has two values", "5 <= x <= 6"),
)

EXTRACTION = Law(
    name="extraction",
    identity="(A * B + C) floordiv B == A + C floordiv B",
    why="floor(n + t) = n + floor(t) for an integer n. The multiple brings the weight"
    " that stays inside as near to zero as possible. Extraction takes whole digits and"
    " never splits one; from a symbolic divisor, as long as the numerator gets shorter.",
    example=Example("(x * 13) floordiv 6 - x * 2", "x floordiv 6"),
    near_miss=NearMiss(
        "((x mod 8) * 128 + y) floordiv 1024",
        "1024 * (x floordiv 8) is inside the digit x mod 8, which would lose its bound",
        "0 <= x <= 63 and 0 <= y <= 127",
        becomes="0",
    ),
)

SPLIT = Law(
    name="split",
    identity="(G * A + S) floordiv (G * B) == (A + S floordiv G) floordiv B",
    condition="B > 0",
    why="floor(floor(t)/B) = floor(t/B) for B > 0. Applied where S floordiv G needs no"
    " quotient: then S has no effect, and the divisor becomes smaller.",
    example=Example("(x * 8 + y) floordiv 64", "x floordiv 8", "0 <= y <= 7"),
    near_miss=NearMiss(
        "(x * 8 + y) floordiv 64",
        "y floordiv 8 is 0 or 1, and y has more than two values",
        "0 <= y <= 8",
    ),
)

ONE_VALUE = Law(
    name="one value",
    identity="A floordiv B == j",
    condition="B * j <= A and A < B * j + B",
    why="The numerator lies between two neighbouring multiples of the divisor.",
    example=Example("x floordiv 64", "1", "64 <= x <= 127"),
    near_miss=NearMiss("x floordiv 64", "128 gives 2", "64 <= x <= 128"),
)

TWO_VALUES = Law(
    name="two values",
    identity="(w * A + k) floordiv c == (w * l + k) floordiv c"
    " + ((w * l + w + k) floordiv c - (w * l + k) floordiv c) * (A - l)",
    condition="l <= A and A <= l + 1",
    why="A line goes through two points: any function of an expression with two values is"
    " affine in it.",
    example=Example("(a + 3) mod 4 + a * 3", "3", "0 <= a <= 1"),
    near_miss=NearMiss("(a + 3) mod 4", "a has three values", "0 <= a <= 2"),
)

OPEN_DIGIT = Law(
    name="open digit",
    identity="(w * (A mod n) + B) floordiv c == (w * A + B) floordiv c - m * (A floordiv n)",
    condition="w * n == c * m",
    why="The weight of the digit times its radix is a multiple of the divisor, so the"
    " quotient in the digit leaves as a whole.",
    proof=(
        "w * (A mod n) == w * A - w * n * (A floordiv n)",
        "w * (A mod n) == w * A - c * m * (A floordiv n)",
    ),
    example=Example(
        "((x mod 4) * 2 + y) floordiv 4 - (x * 2 + y) floordiv 4", "(x floordiv 4) * -2"
    ),
    near_miss=NearMiss(
        "(x mod 8 + y) floordiv 3",
        "3 does not divide 8: the quotient would stay inside, and the bound of the digit be lost",
    ),
)

FLATTEN = Law(
    name="nested quotient",
    identity="(A floordiv C + B) floordiv D == (A + C * B) floordiv (C * D)",
    condition="D > 0",
    why="floor(floor(t)/D) = floor(t/D) for D > 0. One quotient less; but an integer in a symbolic"
    " divisor stands outside, so that digits of constant radix serve symbolic sizes, too.",
    example=Example("(x floordiv 3 + y) floordiv 5", "(y * 3 + x) floordiv 15"),
    near_miss=NearMiss("(x floordiv y) floordiv z", "z may be negative", "y >= 1"),
)

REFLECT = Law(
    name="reflection",
    identity="A floordiv c == -((c - 1 - A) floordiv c)",
    condition="c > 0",
    why="Rounding down, counted from the other end, is rounding up. The side with fewer"
    " negative coefficients is kept, so that a form has one shape.",
    example=Example("(x + 1) floordiv 2 + (-x) floordiv 2", "0"),
    near_miss=NearMiss("(x * 3 - y) floordiv 8", "both sides have one negative term"),
)
