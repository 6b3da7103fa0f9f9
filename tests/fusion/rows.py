"""Fusions, and from where in them which maps lead where: XLA's tests, smaller, and more."""

from __future__ import annotations

from tests.fusion.small_programs import (
    CALLED_TWICE,
    CONCATENATION,
    DOT_CHAIN,
    NESTED,
    REDUCE_OF_BROADCAST,
    REDUCED_SLICE,
    SLICES,
    SOFTMAX,
    SUM_WITH_TRANSPOSE,
    TWICE_REDUCED,
    TWO_FUSIONS,
    TWO_SUMS,
    TWO_TURNS,
    WINDOWS,
    reshaped,
)
from tests.fusion.units import Row, fused

ROWS = [
    Row(
        "a pair of a producer and its consumer",
        SUM_WITH_TRANSPOSE,
        "pair t a",
        {
            "a": ["(d0, d1) -> (d0, d1)"],
            "t": ["(d0, d1) -> (d0, d1)"],
            "p": ["(d0, d1) -> (d0, d1)", "(d0, d1) -> (d1, d0)"],
        },
    ),
    Row(
        "a pair of fusions",
        TWO_FUSIONS,
        "pair one r",
        {
            "p": ["(d0, d1) -> (-d0 + 3, d1)", "(d0, d1) -> (d1, d0)"],
            "one": ["(d0, d1) -> (d0, d1)", "(d0, d1) -> (d1, -d0 + 3)"],
            "t": ["(d0, d1) -> (d0, d1)", "(d0, d1) -> (d1, -d0 + 3)"],
        },
    ),
    Row(
        "the consumer alone",
        SUM_WITH_TRANSPOSE,
        "instruction a",
        {
            "a": ["(d0, d1) -> (d0, d1)"],
            "t": ["(d0, d1) -> (d0, d1)"],
            "p": ["(d0, d1) -> (d0, d1)"],
        },
    ),
    Row(
        "an operand reaches nothing",
        SUM_WITH_TRANSPOSE,
        "instruction a",
        {"p": ["(d0, d1) -> (d0, d1)"]},
        "p",
    ),
    Row(
        "one result of a reduction of two",
        TWO_SUMS,
        "instruction r",
        {
            "r": ["(d0) -> (d0)"],
            "p": ["(d0)[s0] -> (d0, s0)"],
            "q": ["(d0)[s0] -> (d0, s0)"],
            "i": ["(d0) -> ()"],
            "zero": ["(d0) -> ()"],
        },
        output=1,
    ),
    Row(
        "from below the root of a fusion out to its operand",
        REDUCE_OF_BROADCAST,
        "instruction r",
        {
            "b": ["(d0, d1, d2, d3) -> (d0, d1, d2, d3)"],
            "a": ["(d0, d1, d2, d3) -> (d0, d2)"],
            "g0": ["(d0, d1, d2, d3) -> (d0, d2)"],
        },
        "b",
    ),
    Row(
        "from below the root of a computation",
        REDUCE_OF_BROADCAST,
        "computation f",
        {"b": ["(d0, d1, d2, d3) -> (d0, d1, d2, d3)"], "a": ["(d0, d1, d2, d3) -> (d0, d2)"]},
        "b",
    ),
    Row(
        "a reduction of what is broadcast",
        REDUCE_OF_BROADCAST,
        "computation f",
        {
            "m": ["(d0, d1) -> (d0, d1)"],
            "b": ["(d0, d1)[s0, s1] -> (d0, s0, s1, d1)"],
            "a": ["(d0, d1)[s0] -> (d0, s0)"],
            "i": ["(d0, d1) -> ()"],
        },
    ),
    Row(
        "what runs twice stands for both runs",
        CALLED_TWICE,
        "instruction twice",
        {
            "twice": ["(d0) -> (d0)"],
            "s": ["(d0) -> (d0)"],
            "w": ["(d0) -> (d0)"],
            "a": ["(d0) -> (d0 - 1)"],
            "z": ["(d0) -> ()"],
            "once": ["(d0) -> (d0 - 1)"],
        },
    ),
    Row(
        "a result deep in tuples, through a fusion in a fusion",
        NESTED,
        "instruction r",
        {
            "r": ["(d0, d1) -> (d0, d1)"],
            "all": ["(d0, d1) -> (d0, d1)"],
            "some": ["(d0, d1) -> (d0, d1)"],
            "v": ["(d0, d1) -> (d0, d1)"],
            "n": ["(d0, d1) -> (-d0 + 2, d1)"],
            "t": ["(d0, d1) -> (-d0 + 2, d1)"],
            "inner.a": ["(d0, d1) -> (d1, -d0 + 2)"],
            "outer.a": ["(d0, d1) -> (d1, -d0 + 2)"],
            "p": ["(d0, d1) -> (d1, -d0 + 2)"],
        },
        output=2,
    ),
    Row(
        "a dot of what is turned, scaled and split",
        DOT_CHAIN,
        "computation f",
        {
            "w": ["(d0, d1, d2, d3, d4)[s0] -> (d1, d0 * 4 + s0, d2, d3)"],
            "scale": ["(d0, d1, d2, d3, d4)[s0] -> (d0 * 4 + s0)"],
            "x": ["(d0, d1, d2, d3, d4)[s0] -> (d4, d0 * 4 + s0)"],
        },
    ),
    Row(
        "softmax",
        SOFTMAX,
        "instruction r",
        {"g0": ["(d0, d1, d2) -> (d0, d1, d2)", "(d0, d1, d2)[s0] -> (d0, d1, s0)"]},
    ),
    Row(
        "four paths, three maps",
        WINDOWS,
        "instruction r",
        {
            "g0": ["(d0) -> (d0)", "(d0) -> (d0 + 1)", "(d0) -> (d0 + 2)"],
            "g1": ["(d0) -> (d0)", "(d0) -> (d0 + 1)", "(d0) -> (d0 + 2)"],
            "d": ["(d0) -> (d0)", "(d0) -> (d0 + 1)"],
        },
    ),
    Row(
        "a fusion of one sum",
        fused(
            "p = f32[5] parameter(0) q = f32[5] parameter(1) ROOT s = f32[5] add(p, q)",
            ["f32[5]", "f32[5]"],
            "f32[5]",
        ),
        "instruction r",
        {"g0": ["(d0) -> (d0)"], "g1": ["(d0) -> (d0)"]},
    ),
    Row(
        "a reduction of a reduction",
        TWICE_REDUCED,
        "instruction r",
        {"g0": ["(d0)[s0, s1, s2] -> (s0, s2, d0, s1)"], "g1": ["(d0) -> ()"]},
    ),
    Row(
        "two transposes each, and both the same",
        TWO_TURNS,
        "instruction r",
        {"g0": ["(d0, d1, d2) -> (d2, d0, d1)"]},
    ),
    Row(
        "a reduction of a slice",
        REDUCED_SLICE,
        "instruction r",
        {"g0": ["(d0)[s0, s1] -> (s0 + 5, d0 * 2, s1 * 3 + 5)"], "g1": ["(d0) -> ()"]},
    ),
    Row(
        "a slice of a slice",
        SLICES,
        "instruction r",
        {"g0": ["(d0, d1) -> (d0 * 2 + 8, d1 * 6 + 8)"]},
    ),
    Row(
        "a reshape and back to one dimension",
        fused(reshaped("f32[24]", "f32[4,6]", "f32[24]"), ["f32[24]"], "f32[24]"),
        "instruction r",
        {"g0": ["(d0) -> (d0)"], "m": ["(d0) -> (d0 floordiv 6, d0 mod 6)"]},
    ),
    Row(
        "a reshape and back to two dimensions",
        fused(reshaped("f32[4,6]", "f32[24]", "f32[4,6]"), ["f32[4,6]"], "f32[4,6]"),
        "instruction r",
        {"g0": ["(d0, d1) -> (d0, d1)"]},
    ),
    Row(
        "a reshape and back where no dimension is kept",
        fused(reshaped("f32[4,4,4]", "f32[2,32]", "f32[4,4,4]"), ["f32[4,4,4]"], "f32[4,4,4]"),
        "instruction r",
        {"g0": ["(d0, d1, d2) -> (d0, d1, d2)"]},
    ),
    Row(
        "a slice of both that are joined",
        fused(
            f"{CONCATENATION} ROOT s = f32[2,4,3] slice(c), slice={{[0:2], [0:12:3], [0:3]}}",
            ["f32[2,5,3]", "f32[2,7,3]"],
            "f32[2,4,3]",
        ),
        "instruction r",
        {
            "g0": ["(d0, d1, d2) -> (d0, d1 * 3, d2)"],
            "g1": ["(d0, d1, d2) -> (d0, d1 * 3 - 5, d2)"],
        },
    ),
    Row(
        "a slice of one that is joined",
        fused(
            f"{CONCATENATION} ROOT s = f32[2,3,3] slice(c), slice={{[0:2], [0:5:2], [0:3]}}",
            ["f32[2,5,3]", "f32[2,7,3]"],
            "f32[2,3,3]",
        ),
        "instruction r",
        {"g0": ["(d0, d1, d2) -> (d0, d1 * 2, d2)"], "g1": ["EMPTY"]},
    ),
    Row(
        "a reshape of what is joined",
        fused(
            """p = f32[2] parameter(0) q = f32[10] parameter(1)
            c = f32[12] concatenate(p, q), dimensions={0} ROOT t = f32[3,4] reshape(c)""",
            ["f32[2]", "f32[10]"],
            "f32[3,4]",
        ),
        "instruction r",
        {"g0": ["(d0, d1) -> (d1)"], "g1": ["(d0, d1) -> (d0 * 4 + d1 - 2)"]},
    ),
]
