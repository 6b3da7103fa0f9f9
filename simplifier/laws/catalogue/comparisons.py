"""Conditions, which are 1 where they hold and 0 elsewhere, and choices between two values.

Each condition is ``A >= 0`` for some ``A``, so what is said of that holds for all of them.
"""

from __future__ import annotations

from simplifier.laws.law import Example, Law, NearMiss

DECIDED = Law(
    name="decided comparison",
    identity="(A >= 0) == 1",
    condition="A >= 0",
    why="Bounds and facts decide it.",
    example=Example("select(x >= -1, 5, 0)", "5", "x >= 0"),
    near_miss=NearMiss("select(x >= -1, 5, 0)", "x may be -3", "x >= -3"),
)

REFUTED_EQUATION = Law(
    name="refuted equation",
    identity="(A == 0) == 0",
    condition="A > 0",
    why="What is positive is not zero; what is negative is the negation of a positive number.",
    example=Example("select(x == 8, 5, 0)", "0", "x <= 7"),
    near_miss=NearMiss("select(x == 8, 5, 0)", "x may be 8", "x <= 9"),
)

COMPARED_MULTIPLE = Law(
    name="multiple in a comparison",
    identity="(c * A + k >= 0) == (A + k floordiv c >= 0)",
    condition="c > 0",
    why="A >= -k/c for an integer A, so A is at least this number rounded up.",
    example=Example("select(x * 8 >= 20, 5, 0)", "select(x >= 3, 5, 0)"),
    near_miss=NearMiss("select(x * 8 >= y, 5, 0)", "y is no constant"),
)

COMPARED_QUOTIENT = Law(
    name="quotient in a comparison",
    identity="(A floordiv c + B >= 0) == (A + c * B >= 0)",
    condition="c > 0",
    why="floor(A/c) >= -B for an integer B exactly where A/c >= -B.",
    example=Example("select((x + 7) floordiv 8 >= 2, 5, 0)", "select(x >= 9, 5, 0)"),
    near_miss=NearMiss("select((x floordiv 8) * 2 + y >= 2, 5, 0)", "the quotient is multiplied"),
)

COMPARED_QUOTIENTS = Law(
    name="quotients in a comparison",
    identity="(A + k) floordiv c - A floordiv c == (A mod c + k) floordiv c",
    why="A step passes a multiple of the divisor where the remainder is large.",
    example=Example(
        "select(x floordiv 8 < (x + 3) floordiv 8, 5, 0)", "select(x mod 8 >= 5, 5, 0)"
    ),
    near_miss=NearMiss("select(x floordiv 8 >= (x + y) floordiv 8, 0, 5)", "y is no number"),
)

EQUATED_MULTIPLE = Law(
    name="multiple in an equation",
    identity="(c * A == 0) == (A == 0)",
    condition="c > 0",
    why="A product is zero where a factor is.",
    example=Example("select(x * 8 == y * 4, 5, 0)", "select(x * 2 == y, 5, 0)"),
    near_miss=NearMiss("select(x * 8 == y, 5, 0)", "y has no factor 8"),
)

INDIVISIBLE = Law(
    name="equation without solution",
    identity="(c * A + k == 0) == 0",
    condition="k mod c > 0",
    why="A multiple of c is not congruent to -k modulo c.",
    example=Example("select(x * 8 == y * 4 + 2, 5, 0)", "0"),
    near_miss=NearMiss(
        "select(x * 8 == y * 4 + 4, 5, 0)",
        "4 is a multiple",
        becomes="select(x * 2 == y + 1, 5, 0)",
    ),
)

AT_THE_END = Law(
    name="comparison with the greatest value",
    identity="(A >= 0) == (A == 0)",
    condition="A <= 0",
    why="Of the values that A has, only the greatest one may be that great.",
    example=Example("select(x >= 7, 5, 0)", "select(x == 7, 5, 0)", "x <= 7"),
    near_miss=NearMiss("select(x >= 7, 5, 0)", "x may be 8", "x <= 8"),
)

SHARED = Law(
    name="terms of both branches",
    identity="select(A >= 0, B + C, B + D) == B + select(A >= 0, C, D)",
    why="What both branches add is added in either case.",
    example=Example("select(x >= y, x + z, n + z)", "z + select(x >= y, x, n)"),
    near_miss=NearMiss("select(x >= y, x + z, y - z)", "z has two signs"),
)

MULTIPLES_CHOSEN = Law(
    name="factor of both branches",
    identity="select(A >= 0, c * B, c * C) == c * select(A >= 0, B, C)",
    why="What multiplies both branches multiplies in either case.",
    example=Example("select(x >= y, x * 4, z * 8) floordiv 4", "select(x >= y, x, z * 2)"),
    near_miss=NearMiss("select(x >= y, x * 4, z * 6 + 1)", "1 is odd"),
)

CHOICE_OF_NUMBERS = Law(
    name="choice of two numbers",
    identity="select(A >= 0, k, l) == (k - l) * (A >= 0) + l",
    why="A condition is 1 where it holds, and 0 elsewhere.",
    example=Example("select(x >= 5, 8, 0) - select(x >= 5, 7, 2)", "select(x >= 5, 1, -2)"),
    near_miss=NearMiss("select(x >= 5, y, 0)", "y is no number"),
)
