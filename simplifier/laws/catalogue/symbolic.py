"""Products, and quotients by what is not a constant."""

from __future__ import annotations

from simplifier.laws.law import Example, Law, NearMiss

DISTRIBUTE = Law(
    name="distribution",
    identity="(A + B) * C == A * C + B * C",
    why="Products become sums of monomials, where like terms meet.",
    example=Example("(x + y) * (x - y) - x * x + y * y", "", "0"),
    near_miss=NearMiss("x * y", "", "x * y", "there is no sum"),
)

CLAMP_SQUARE = Law(
    name="square of a clamp",
    identity="max(0, A) * max(0, A) == A * max(0, A)",
    why="Where the clamp is not zero, it is A.",
    example=Example("min(x, y) * max(x, y)", "", "x * y"),
    near_miss=NearMiss(
        "max(0, x) * max(0, y)", "", "max(0, x) * max(0, y)", "two clamps of different things"
    ),
)

CANCELLATION = Law(
    name="cancellation",
    identity="(X * A) floordiv (X * B) == A floordiv B",
    why="A factor of numerator and divisor, an integer or an atom, cancels; it is not zero where"
    " the quotient is defined.",
    example=Example("(x * y * 6) floordiv (x * z * 4)", "", "(y * 3) floordiv (z * 2)"),
    near_miss=NearMiss(
        "(x * y + 1) floordiv (x * z)", "", "(x * y + 1) floordiv (x * z)", "1 has no factor x"
    ),
)

POLYNOMIAL_PART = Law(
    name="polynomial part",
    identity="(A * B + C) floordiv B == A + C floordiv B",
    why="floor(n + t) = n + floor(t) for an integer n; done while the numerator gets shorter.",
    example=Example("(x * n + y) floordiv n", "", "y floordiv n + x"),
    near_miss=NearMiss(
        "(x * n + y) floordiv (n + 1)",
        "",
        "(n * x + y) floordiv (n + 1)",
        "x * n - x * (n + 1) + y has a term more",
    ),
)

ZERO_NUMERATOR = Law(
    name="zero numerator",
    identity="0 floordiv A == 0",
    why="Whatever the divisor, it is not zero where the quotient is defined.",
    example=Example("(x - x) floordiv (y + 1)", "", "0"),
    near_miss=NearMiss("1 floordiv (y + 1)", "", "1 floordiv (y + 1)", "y may be 0"),
)
