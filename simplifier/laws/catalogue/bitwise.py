"""Functions of bits, on numbers in two's complement.

``bitand(c, c - 1) == 0`` says that a positive ``c`` is a power of two.
"""

from __future__ import annotations

from simplifier.laws.law import Example, Law, NearMiss


def _digit_by_digit(name: str, function: str, example: str) -> Law:
    return Law(
        name=f"{name}, digit by digit",
        identity=f"{function}(c * A + R, c * B + S) == c * {function}(A, B) + {function}(R, S)",
        condition="0 <= R < c and 0 <= S < c and bitand(c, c - 1) == 0",
        why="The lower bits of both numbers are R and S, the higher ones A and B.",
        example=Example(f"{function}(x * 8, y)", example, "0 <= y < 8"),
        near_miss=NearMiss(f"{function}(x * 8, y)", "y may be 8", "0 <= y < 16"),
    )


DISTINCT_BITS = _digit_by_digit("exclusive or", "bitxor", "x * 8 + y")
ANY_BITS = _digit_by_digit("or", "bitor", "x * 8 + y")
COMMON_BITS = _digit_by_digit("and", "bitand", "0")

LOW_BITS = Law(
    name="low bits",
    identity="bitand(A, c - 1) == A mod c",
    condition="c > 0 and bitand(c, c - 1) == 0",
    why="The remainder by a power of two has the lower bits.",
    example=Example("bitand(x, 7)", "x mod 8"),
    near_miss=NearMiss("bitand(x, 5)", "6 is no power of two"),
)

SHIFTED_MASK = Law(
    name="shifted mask",
    identity="bitand(A, c * m) == c * bitand(A floordiv c, m)",
    condition="c > 0 and bitand(c, c - 1) == 0",
    why="The lower bits of the mask are zero.",
    example=Example("bitand(x, 24) + x mod 8", "x mod 32"),
    near_miss=NearMiss("bitand(x, 9)", "9 is odd"),
)

FILLED_BITS = Law(
    name="filled low bits",
    identity="bitor(A, c - 1) == A - A mod c + c - 1",
    condition="c > 0 and bitand(c, c - 1) == 0",
    why="All lower bits are set, the higher ones stay.",
    example=Example("bitor(x, 7) + x mod 8", "x + 7"),
    near_miss=NearMiss("bitor(x, 5)", "6 is no power of two"),
)

FLIPPED_BITS = Law(
    name="flipped low bits",
    identity="bitxor(A, c - 1) == A - 2 * (A mod c) + c - 1",
    condition="c > 0 and bitand(c, c - 1) == 0",
    why="c - 1 minus the lower bits takes their place.",
    example=Example("bitxor(x, 7)", "-x + 7", "0 <= x < 8"),
    near_miss=NearMiss("bitxor(x, 5)", "6 is no power of two", "0 <= x < 8"),
)

ALL_BITS = Law(
    name="all bits",
    identity="bitand(A, -1) == A and bitor(A, -1) == -1 and bitxor(A, -1) == -1 - A",
    why="-1 has every bit.",
    example=Example("bitxor(x, -1) + x", "-1"),
    near_miss=NearMiss("bitxor(x, -6)", "-6 lacks some bits"),
)

NO_BITS = Law(
    name="no bits",
    identity="bitand(A, 0) == 0 and bitor(A, 0) == A and bitxor(A, 0) == A",
    why="0 has no bit.",
    example=Example("bitxor(x, 0)", "x"),
    near_miss=NearMiss("bitxor(x, 5)", "5 has two"),
)

SAME_BITS = Law(
    name="same bits",
    identity="bitand(A, A) == A and bitor(A, A) == A and bitxor(A, A) == 0",
    why="Each bit meets itself.",
    example=Example("bitxor(x, x)", "0"),
    near_miss=NearMiss("bitxor(x, y)", "x and y may differ"),
)

BITS_TWICE = Law(
    name="bits that meet again",
    identity="bitxor(bitxor(A, B), B) == A and bitand(bitand(A, B), B) == bitand(A, B) "
    "and bitor(bitor(A, B), B) == bitor(A, B)",
    why="The order does not matter, and each bit meets itself.",
    example=Example("bitxor(bitxor(x, y), x)", "y"),
    near_miss=NearMiss("bitxor(x, bitor(x, y))", "the functions differ"),
)

REORDERED_BITS = Law(
    name="order of functions of bits",
    identity="bitxor(A, bitxor(B, C)) == bitxor(bitxor(A, B), C) "
    "and bitand(A, bitand(B, C)) == bitand(bitand(A, B), C) "
    "and bitor(A, bitor(B, C)) == bitor(bitor(A, B), C)",
    why="Whether a bit is set depends on how many of the operands have it.",
    example=Example("bitxor(x, bitxor(y, z)) - bitxor(z, bitxor(x, y))", "0"),
    near_miss=NearMiss("bitxor(x, bitor(y, z)) - bitxor(z, bitor(x, y))", "the functions differ"),
)

DIVIDED_BITS = Law(
    name="quotient of a function of bits",
    identity="bitxor(A, B) floordiv c == bitxor(A floordiv c, B floordiv c) "
    "and bitand(A, B) floordiv c == bitand(A floordiv c, B floordiv c) "
    "and bitor(A, B) floordiv c == bitor(A floordiv c, B floordiv c) "
    "and bitxor(A, B) mod c == bitxor(A mod c, B mod c) "
    "and bitand(A, B) mod c == bitand(A mod c, B mod c) "
    "and bitor(A, B) mod c == bitor(A mod c, B mod c)",
    condition="bitand(c, c - 1) == 0",
    why="A bit of the result depends on one bit of each operand.",
    example=Example("bitxor(x, y) floordiv 8", "x floordiv 8", "0 <= y < 8"),
    near_miss=NearMiss("bitxor(x, y) floordiv 8", "y may be 8", "0 <= y < 16"),
)
