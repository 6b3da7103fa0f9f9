"""Products, and quotients by forms that are not constant."""

from __future__ import annotations

from simplifier.laws.law import Example, Law, NearMiss

DISTRIBUTE = Law(
    name="distribution",
    identity="(A + B) * C == A * C + B * C",
    why="Products become sums of monomials, so that like terms cancel.",
    example=Example("(x + y) * (x - y) - x * x + y * y", "0"),
    near_miss=NearMiss("x * y", "there is no sum"),
)

CLAMP_SQUARE = Law(
    name="square of a clamp",
    identity="max(0, A) * max(0, A) == A * max(0, A)",
    why="Where the clamp is not zero, it equals A.",
    example=Example("min(x, y) * max(x, y)", "x * y"),
    near_miss=NearMiss("max(x, 0) * max(y, 0)", "two clamps of different things"),
)

CANCELLATION = Law(
    name="cancellation",
    identity="(X * A) floordiv (X * B) == A floordiv B",
    why="A common factor of numerator and divisor, an integer or an atom, cancels. It is"
    " not zero where the quotient is defined.",
    example=Example("(x * y * 6) floordiv (x * z * 4)", "(y * 3) floordiv (z * 2)"),
    near_miss=NearMiss("(x * y + 1) floordiv (x * z)", "1 has no factor x"),
)

ZERO_NUMERATOR = Law(
    name="zero numerator",
    identity="0 floordiv A == 0",
    why="The divisor is not zero where the quotient is defined.",
    example=Example("(x - x) floordiv (y + 1)", "0"),
    near_miss=NearMiss("1 floordiv (y + 1)", "y may be 0"),
)

TWO_VALUED_SQUARE = Law(
    name="square of two values",
    identity="A * A == (2 * c + 1) * A - c * (c + 1)",
    condition="c <= A <= c + 1",
    why="Any function of an expression with two values is affine in it.",
    example=Example("x * x * y", "x * y", "0 <= x <= 1"),
    near_miss=NearMiss("x * x * y", "x has three values", "0 <= x <= 2"),
)

TURNED_BY_SYMBOLS = Law(
    name="quotient by symbols, turned",
    identity="A floordiv B == -((-A - 1) floordiv B) - 1",
    condition="B > 0",
    why="The quotient or its reflection is kept, whichever has fewer negative coefficients.",
    example=Example("(x + n - 1) floordiv n - x ceildiv n", "0", "n >= 1"),
    near_miss=NearMiss("(-x) floordiv n + (x - 1) floordiv n", "n may be negative"),
)
