"""Lemmas about ranges: the intervals of the values of forms, on which conditions rest.

Each is one reading of a form; the tightest of all of them counts.
"""

from __future__ import annotations

from simplifier.laws.law import Example, Law, NearMiss

SUM_RANGE = Law(
    name="range of a sum",
    identity="min(k * l, k * u) + p <= k * A + B <= max(k * l, k * u) + q",
    condition="l <= A <= u and p <= B <= q",
    why="This is interval arithmetic, term by term. It is exact if the terms are independent.",
    example=Example("max(x + y * 4, 31)", "31", "0 <= x <= 3 and 0 <= y <= 7"),
    near_miss=NearMiss("max(y * 4 + x, 31)", "32 is reached", "0 <= x <= 4 and 0 <= y <= 7"),
)

CORNERS = Law(
    name="range of a quotient",
    identity="min(l floordiv p, l floordiv q) <= A floordiv B <= max(u floordiv p, u floordiv q)",
    condition="l <= A <= u and p <= B <= q and p > 0",
    why="For a fixed numerator, the quotient is extreme at an end of the divisor's range.",
    example=Example("max(x floordiv n, 9)", "9", "0 <= x <= 99 and 10 <= n <= 20"),
    near_miss=NearMiss(
        "max(x floordiv n, 9)", "99 floordiv 9 is 11", "0 <= x <= 99 and 9 <= n <= 20"
    ),
)

DIVISOR_RANGE = Law(
    name="range of a divisor",
    identity="A floordiv B == A floordiv max(B, 1)",
    condition="B >= 0",
    why="The divisor is not zero where the quotient is defined.",
    example=Example("(x floordiv n) floordiv n", "x floordiv (n * n)", "n >= 0"),
    near_miss=NearMiss("(x floordiv n) floordiv n", "n may be -1", "n >= -1"),
)

DIGIT_RANGE = Law(
    name="range of a digit",
    identity="0 <= A - B * (A floordiv B) <= B - 1",
    condition="B > 0",
    why="A remainder is bounded whatever the dividend is. Read as digits, a form has bounds"
    " that its single terms do not show.",
    example=Example("max(x + y * 32 - (x floordiv 32) * 32, 1023)", "1023", "0 <= y <= 31"),
    near_miss=NearMiss(
        "max(x + y * 32 - (x floordiv 32) * 32, 1022)",
        "1023 is reached",
        "0 <= y <= 31",
        becomes="max(y * 32 + x mod 32, 1022)",
    ),
)

ROUNDING_RANGE = Law(
    name="range without rounding",
    identity="(l - max(f, 0) * (c - 1)) ceildiv c <= A + f * (N floordiv c)"
    " <= (u - min(f, 0) * (c - 1)) floordiv c",
    condition="l <= c * A + f * N <= u and c > 0",
    why="floor(N/c) is (N - r)/c with r from 0 to c - 1. If N cancels, little else is left.",
    example=Example("max(x - (x + 1) floordiv 3, 0)", "(x * 2 + 1) floordiv 3", "x >= 0"),
    near_miss=NearMiss("max(x - (x + 4) floordiv 3, 0)", "it is -1 where x is 0", "x >= 0"),
)

ROUNDINGS_RANGE = Law(
    name="range without any rounding",
    identity="(l - c * (b - 1)) ceildiv (b * c) <= A + M floordiv b - N floordiv c"
    " <= (u + b * (c - 1)) floordiv (b * c)",
    condition="l <= b * c * A + c * M - b * N <= u and b > 0 and c > 0",
    why="In a difference of quotients the numerators may cancel, except for what was rounded off.",
    proof=(
        "M == b * (M floordiv b) + M mod b",
        "N == c * (N floordiv c) + N mod c",
        "c * M == c * (b * (M floordiv b)) + c * (M mod b)",
        "b * N == b * (c * (N floordiv c)) + b * (N mod c)",
        "0 <= c * (M mod b) <= c * (b - 1)",
        "0 <= b * (N mod c) <= b * (c - 1)",
        "l - c * (b - 1) <= (b * c) * (A + M floordiv b - N floordiv c) <= u + b * (c - 1)",
    ),
    example=Example("max(x floordiv 3 - x floordiv 5, 14)", "14", "0 <= x <= 100"),
    near_miss=NearMiss("max(x floordiv 3 - x floordiv 5, 14)", "16 is reached", "0 <= x <= 120"),
)

REMAINDER_RANGE = Law(
    name="range of a remainder",
    identity="min(p + 1, 0) <= A mod B <= max(q - 1, 0)",
    condition="p <= B <= q",
    why="A remainder has the sign of the divisor and a smaller absolute value.",
    example=Example("max((x mod n) * 2, 18)", "18", "-4 <= n <= 10"),
    near_miss=NearMiss(
        "max((x mod n) * 2, 18)", "20 is reached", "-4 <= n <= 11", becomes="max(x mod n, 9) * 2"
    ),
)

BRANCHES_RANGE = Law(
    name="range of a maximum",
    identity="max(l, p) <= T + k * max(A, B) <= max(u, q)",
    condition="l <= T + k * A <= u and p <= T + k * B <= q and k >= 0",
    why="The whole is the greater of its two branches. Each branch may be simpler than the whole.",
    example=Example("max(x, y) floordiv 10", "0", "0 <= x <= 9 and 0 <= y <= 9"),
    near_miss=NearMiss("max(x, y) floordiv 9", "9 is reached", "0 <= x <= 9 and 0 <= y <= 9"),
)

CLAMP_RANGE = Law(
    name="range of a clamp",
    identity="0 <= max(0, A) - max(0, A - b) <= b",
    condition="b >= 0",
    why="Two clamps that cut at both ends are read as one digit.",
    example=Example("(x * 16 + min(max(y, 0), 15)) floordiv 16", "x"),
    near_miss=NearMiss(
        "(x * 16 + min(max(y, 0), 16)) floordiv 16",
        "16 is reached",
        becomes="min(max(y, 0), 16) floordiv 16 + x",
    ),
)

BETWEEN_BRANCHES = Law(
    name="range between branches",
    identity="l ceildiv (p + q) <= max(A, B)",
    condition="l <= p * A + q * B and p >= 0 and q >= 0",
    why="The greater of two values is at least every weighted mean of them, and in the mean"
    " a variable may cancel.",
    proof=("p * A <= p * max(A, B)", "q * B <= q * max(A, B)", "l <= (p + q) * max(A, B)"),
    example=Example("max(4, max(x, 7 - x))", "max(-x + 7, x)"),
    near_miss=NearMiss("max(5, max(x, 7 - x))", "4 is reached", becomes="max(-x + 7, x, 5)"),
)

PRODUCT_RANGE = Law(
    name="range of a product",
    identity="min(l * p, l * q, u * p, u * q) <= A * B <= max(l * p, l * q, u * p, u * q)",
    condition="l <= A <= u and p <= B <= q",
    why="A product is extreme at a corner. A factor common to all terms of a sum is taken"
    " out first.",
    example=Example("(x * y) floordiv 64", "0", "0 <= x <= 9 and 0 <= y <= 7"),
    near_miss=NearMiss("(x * y) floordiv 63", "63 is reached", "0 <= x <= 9 and 0 <= y <= 7"),
)

POWER_RANGE = Law(
    name="range of a square",
    identity="0 <= A * A <= max(l * l, u * u)",
    condition="l <= A <= u",
    why="An even power is never negative.",
    example=Example("max(x * x, 0)", "x * x"),
    near_miss=NearMiss("max(x * y, 0)", "two different factors"),
)

FACT_RANGE = Law(
    name="range that a fact leaves",
    identity="(p - u) ceildiv k <= A <= (q - l) floordiv k",
    condition="p <= k * A + B <= q and l <= B <= u and k > 0",
    why="Bounds of a sum and of its other terms bound the remaining term. So a constraint"
    " narrows variables and all forms that contain its form.",
    example=Example("x floordiv 8", "0", "0 <= x + y <= 7 and 0 <= x <= 99 and 0 <= y <= 99"),
    near_miss=NearMiss("x floordiv 8", "y may be negative", "0 <= x + y <= 7 and 0 <= x <= 99"),
)

FACTS_RANGE = Law(
    name="range that facts leave together",
    identity="A <= (p * u + q * v) floordiv n",
    condition="n * A <= p * B + q * C and B <= u and C <= v and p >= 0 and q >= 0 and n > 0",
    why="Facts that add up to a multiple of a form, or to more, bound it. Linear programming finds"
    " how often each is taken.",
    proof=("p * B <= p * u", "q * C <= q * v", "n * A <= p * u + q * v"),
    example=Example("max(a - d, 0)", "a - d", "a - b >= 0 and b - c >= 0 and c - d >= 0"),
    near_miss=NearMiss(
        "max(a - d, 0)",
        "d may be greater than all others",
        "a - b >= 0 and b - c >= 0 and d - c >= 0",
    ),
)

MULTIPLIED_FACT = Law(
    name="range by a fact times a product",
    identity="A <= B * u + C",
    condition="A == B * F + C and F <= u and B >= 0",
    why="What is said of a factor is said of its products. So the sizes of a tensor bound an index"
    " of any number of dimensions.",
    proof=("B * F <= B * u",),
    example=Example(
        "max((i * M + j) * K + k - N * M * K, -1)",
        "-1",
        "0 <= i and i < N and 0 <= j and j < M and 0 <= k and k < K",
    ),
    near_miss=NearMiss(
        "max((i * M + j) * K + k - N * M * K, -1)",
        "k may be K",
        "0 <= i and i < N and 0 <= j and j < M and 0 <= k and k <= K",
        becomes="max(((i - N) * M + j) * K + k, -1)",
    ),
)

QUOTIENT_AND_REST = Law(
    name="side of a quotient with what is beside it",
    identity="A floordiv B + C <= c - 1",
    condition="B > 0 and A + (C - c) * B <= -1",
    why="What is added to a quotient is a multiple of the divisor in the numerator. So products of"
    " sizes bound indices: x < n * m is x floordiv n < m.",
    proof=("A == B * (A floordiv B) + A mod B", "A mod B >= 0", "B * (A floordiv B + C - c) <= -1"),
    example=Example("min(x floordiv n, m - 1)", "x floordiv n", "n >= 1 and n * m - x >= 1"),
    near_miss=NearMiss("min(m - 1, x floordiv n)", "x may be n * m", "n >= 1 and n * m - x >= 0"),
)
