"""Conditions and choices read where others hold."""

from __future__ import annotations

from simplifier.laws.law import Example, Law, NearMiss

UNDER_OTHERS = Law(
    name="condition beside another",
    identity="(A >= 0 and B >= 0) == (A >= 0 and D >= 0)",
    condition="select(A >= 0, (B >= 0) - (D >= 0), 0) == 0",
    why="Where one condition does not hold, the other one does not matter.",
    example=Example("select(x >= 5 and x >= y, 1, z)", "select(x >= 5, 1, z)", "y <= 5"),
    near_miss=NearMiss("select(x >= 5 and x >= y, 1, z)", "x may be 5 and y 6", "y <= 6"),
)

CHOSEN = Law(
    name="branch under its condition",
    identity="select(A >= 0, B, C) == select(A >= 0, D, C)",
    condition="select(A >= 0, B - D, 0) == 0",
    why="Where the condition does not hold, the branch does not matter. So the condition is a fact"
    " about the first branch, and its negation one about the second.",
    example=Example("select(x >= 5, max(x, 3), y)", "select(x >= 5, x, y)"),
    near_miss=NearMiss("select(x >= 5, max(x, 6), y)", "x may be 5"),
)

CHOSEN_GREATEST = Law(
    name="choice of the greater",
    identity="select(A >= 0, B, C) == max(B, C)",
    condition="select(A >= 0, B - C, C - B) >= 0",
    why="Each branch is the greater one where it is chosen. So it is with the lesser.",
    example=Example("select(x >= 5, x, 5) + z", "max(x, 5) + z"),
    near_miss=NearMiss("select(x >= 5, x, 7)", "x may be 6"),
)

CHOSEN_RESIDUE = Law(
    name="choice of the residue",
    identity="select(A >= 0, B + k * c, B) == B mod c",
    condition="0 <= select(A >= 0, B + k * c, B) <= c - 1",
    why="Both branches are congruent, and the chosen one is a remainder.",
    example=Example("select(x >= 8, x - 8, x)", "x mod 8", "0 <= x <= 15"),
    near_miss=NearMiss(
        "select(x >= 8, x - 8, x)",
        "x may be 16",
        "0 <= x <= 16",
        becomes="x + select(x >= 8, -8, 0)",
    ),
)

CHOSEN_TWICE = Law(
    name="choice within a choice",
    identity="select(A >= 0, B, select(D >= 0, B, C)) == select(A >= 0 or D >= 0, B, C)",
    why="Equal branches are one, with either condition.",
    example=Example("select(x >= 5, y, select(z >= 3, y, 0))", "select(x >= 5 or z >= 3, y, 0)"),
    near_miss=NearMiss("select(x >= 5, y, select(z >= 3, y + 1, 0))", "the branches differ by 1"),
)

JOINED = Law(
    name="choices by one condition",
    identity="select(A >= 0, B, C) + k * select(A >= 0, D, E)"
    " == select(A >= 0, B + k * D, C + k * E)",
    why="Both choose the first branch, or both the second.",
    example=Example("select(x >= 5, y, 0) + select(x >= 5, 0, z)", "select(x >= 5, y, z)"),
    near_miss=NearMiss("select(x >= 5, y, 0) + select(x >= 6, 0, z)", "x may be 5"),
)

DIVIDED = Law(
    name="division of a choice",
    identity="select(A >= 0, B, C) floordiv c == select(A >= 0, B floordiv c, C floordiv c)"
    " and select(A >= 0, B, C) mod c == select(A >= 0, B mod c, C mod c)",
    why="What is divided is one of the branches.",
    example=Example("select(x >= 5, y * 4, z * 8 + 1) mod 4", "(x < 5)"),
    near_miss=NearMiss("select(x >= 5, y, z) mod 4", "it gets no shorter"),
)
