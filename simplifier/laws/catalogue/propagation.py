"""Laws about constraints: equations are solved, facts reach the operands inside of them."""

from __future__ import annotations

from simplifier.laws.law import Example, Law, NearMiss

CONGRUENCE = Law(
    name="solved congruence",
    identity="A == c * (A floordiv c) + r",
    condition="A mod c == r",
    why="The new problem is equivalent. It has the quotient in place of the dividend, and"
    " one constraint less.",
    example=Example("(x + 1) floordiv 2", "x floordiv 2", "x mod 2 == 0"),
    near_miss=NearMiss("(x + 1) floordiv 2", "x may be 3", "x mod 3 == 0"),
)

EQUATION = Law(
    name="solved equation",
    identity="A == v - B",
    condition="A + B == v",
    why="The new problem is equivalent and has one variable less.",
    example=Example("(x + y * 7) mod 8", "5", "x - y == 5"),
    near_miss=NearMiss("(x + y * 7) mod 8", "no equation", "5 <= x - y <= 6", becomes="x - y"),
)

RESIDUE = Law(
    name="residue of an equation",
    identity="A mod c == v mod c",
    condition="A + c * B == v",
    why="Multiples of the divisor do not change a remainder, so an equation with such a"
    " term is a congruence.",
    example=Example("x mod 3", "2", "x * 2 + y * 3 == 4"),
    near_miss=NearMiss("x mod 3", "5 is no multiple of 3", "x * 2 + y * 5 == 4"),
)

INVERSE = Law(
    name="residue of a multiple",
    identity="A == c * (A floordiv c)",
    condition="b * A == c * ((b * A) floordiv c) and b * j == c * k + 1",
    why="A factor coprime to the divisor has an inverse modulo the divisor, so a multiple"
    " determines the residue. A is any number minus its residue.",
    proof=(
        "j * (b * A) == j * (c * ((b * A) floordiv c))",
        "A * (b * j) == A * (c * k + 1)",
        "A == c * (j * ((b * A) floordiv c) - A * k)",
        "A floordiv c == j * ((b * A) floordiv c) - A * k",
    ),
    example=Example("x mod 5", "2", "(x * 3) mod 5 == 1"),
    near_miss=NearMiss("x mod 6", "3 divides 6: x may be 1 or 3", "(x * 3) mod 6 == 3"),
)

RESTORED = Law(
    name="restored quotient",
    identity="k * (A floordiv (k * d)) == A floordiv d - r floordiv d",
    condition="A mod (k * d) == r",
    why="A solved congruence brings in a quotient. Its multiples are quotients of the"
    " original numerator by smaller divisors.",
    proof=("A == d * (k * (A floordiv (k * d))) + r",),
    example=Example("(x floordiv 8) * 2 + 1", "x floordiv 4", "x mod 8 == 5"),
    near_miss=NearMiss("(x floordiv 8) * 2 + 1", "9 is not 8", "x mod 9 == 5"),
)

QUOTIENT_FACT = Law(
    name="fact about a quotient",
    identity="l * c <= A <= u * c + c - 1",
    condition="l <= A floordiv c <= u and c > 0",
    why="Bounds of a quotient bound its numerator.",
    example=Example("x floordiv 32", "0", "0 <= x floordiv 8 <= 3"),
    near_miss=NearMiss("x floordiv 32", "x may be 32", "0 <= x floordiv 8 <= 4"),
)

PRODUCT_FACT = Law(
    name="fact about a product",
    identity="l <= u * B",
    condition="l <= A * B and 0 <= A <= u and l >= 1",
    why="Where a product is positive, neither factor is zero, and both have the same sign.",
    example=Example("max(n, 1)", "n", "m >= 1 and x >= 0 and m * n - x >= 1"),
    near_miss=NearMiss("max(n, 1)", "both factors may be negative", "m >= -1 and m * n >= 1"),
)

UPPER_FACT = Law(
    name="upper fact about a maximum",
    identity="A <= u",
    condition="max(A, B) <= u",
    why="No operand is greater than the maximum.",
    example=Example("min(x + y, 9)", "x + y", "max(x + y, 1) <= 9"),
    near_miss=NearMiss("min(x + y, 9)", "x + y may be 10", "max(x + y, 1) <= 10"),
)

LOWER_FACT = Law(
    name="lower fact about a maximum",
    identity="B >= l",
    condition="max(A, B) >= l and A < l",
    why="Some operand equals the maximum. If the others are less, it is this one.",
    example=Example("max(y, 2)", "y", "max(y, 1) >= 2"),
    near_miss=NearMiss("max(y, 2)", "y may be 1", "max(y, 1) >= 1"),
)

NOT_ZERO = Law(
    name="fact that something is not zero",
    identity="A >= 1",
    condition="A >= 0 and (A == 0) == 0",
    why="Of the values that A has, zero is the least one.",
    example=Example("max(x floordiv 8, 1)", "x floordiv 8", "x >= 0 and (x floordiv 8 == 0) == 0"),
    near_miss=NearMiss(
        "max(x floordiv 8, 1)", "x may be -1", "x >= -1 and (x floordiv 8 == 0) == 0"
    ),
)
