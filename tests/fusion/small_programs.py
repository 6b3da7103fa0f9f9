"""Small programs that tests of fusions have in common, and which maps lead where in them."""

from __future__ import annotations

from tests.fusion.units import Row, entry, fused

SUM_WITH_TRANSPOSE = entry("""p = f32[5,5] parameter(0)
    t = f32[5,5]{0,1} transpose(p), dimensions={1,0} ROOT a = f32[5,5] add(p, t)""")
TWO_FUSIONS = entry(
    """p = f32[4,4] parameter(0)  one = f32[4,4] fusion(p), kind=kLoop, calls=turn
    two = f32[4,4] negate(p) ROOT r = f32[4,4] fusion(one, two), kind=kLoop, calls=both""",
    """turn { a = f32[4,4] parameter(0) ROOT t = f32[4,4] transpose(a), dimensions={1,0} }
    both { b = f32[4,4] parameter(0) c = f32[4,4] parameter(1)
      u = f32[4,4] transpose(b), dimensions={1,0} v = f32[4,4] reverse(u), dimensions={0}
      ROOT s = f32[4,4] add(b, v) }""",
)
TWO_SUMS = entry(
    """p = f32[4,6] parameter(0)  q = f32[4,6] parameter(1)
    i = f32[] parameter(2)  zero = f32[] constant(0)
    ROOT r = (f32[4], f32[4]) reduce(p, q, i, zero), dimensions={1}, to_apply=both""",
    """both { a = f32[] parameter(0) b = f32[] parameter(1) c = f32[] parameter(2)
    d = f32[] parameter(3) x = f32[] add(a, c) y = f32[] add(b, d)
    ROOT z = (f32[], f32[]) tuple(x, y) }""",
)
REDUCE_OF_BROADCAST = fused("""a = f32[3,4] parameter(0)  i = f32[] parameter(1)
    b = f32[3,2,4,5] broadcast(a), dimensions={0,2}
    ROOT m = f32[3,5] reduce(b, i), dimensions={1,2}, to_apply=top""")
CALLED_TWICE = entry(
    """p = f32[4] parameter(0)
    once = f32[4] call(p), to_apply=shift ROOT twice = f32[4] call(once), to_apply=shift""",
    """shift { a = f32[4] parameter(0) z = f32[] constant(0)
    w = f32[5] pad(a, z), padding=1_0  ROOT s = f32[4] slice(w), slice={[0:4]} }""",
)
NESTED = entry(
    """p = f32[2,3] parameter(0)  q = f32[6] parameter(1)
    ROOT r = (f32[3,2], (f32[6], f32[3,2])) fusion(p, q), kind=kLoop, calls=outer""",
    """inner { a = f32[2,3] parameter(0) ROOT t = f32[3,2] transpose(a), dimensions={1,0} }
    outer { a = f32[2,3] parameter(0) b = f32[6] parameter(1)
      n = f32[3,2] fusion(a), kind=kLoop, calls=inner
      l = f32[6] reshape(n) s = f32[6] add(l, b) v = f32[3,2] reverse(n), dimensions={0}
      some = (f32[6], f32[3,2]) tuple(s, v)
      ROOT all = (f32[3,2], (f32[6], f32[3,2])) tuple(n, some) }""",
)
DOT_CHAIN = fused("""w = s8[3,8,2,2] parameter(0)  scale = bf16[8] parameter(1)
    x = bf16[3,8] parameter(2) turned = s8[3,2,2,8] transpose(w), dimensions={0,2,3,1}
    wide = bf16[3,2,2,8] convert(turned) flat = bf16[12,2,4] reshape(wide)
    many = bf16[3,8] broadcast(scale), dimensions={1} scaled = bf16[3,8] multiply(x, many)
    parts = bf16[3,2,4] reshape(scaled)
    d = bf16[2,12,3] dot(flat, parts), lhs_batch_dims={1}, lhs_contracting_dims={2},
      rhs_batch_dims={1}, rhs_contracting_dims={2} ROOT out = bf16[2,3,2,2,3] bitcast(d)""")
SOFTMAX = fused("""p = f32[2,3,4] parameter(0)  least = f32[] constant(-inf)
    zero = f32[] constant(0) peak = f32[2,3] reduce(p, least), dimensions={2}, to_apply=top
    line = f32[6] bitcast(peak)  rows = f32[6,4] broadcast(line), dimensions={0}
    peaks = f32[2,3,4] bitcast(rows)  less = f32[2,3,4] subtract(p, peaks)
    grown = f32[2,3,4] exponential(less)
    total = f32[2,3] reduce(grown, zero), dimensions={2}, to_apply=sum
    line2 = f32[6] bitcast(total)  rows2 = f32[6,4] broadcast(line2), dimensions={0}
    totals = f32[2,3,4] bitcast(rows2) ROOT share = f32[2,3,4] divide(grown, totals)""")
WINDOWS = fused("""p = f32[4] parameter(0) q = f32[4] parameter(1) c = f32[4] add(p, q)
    a = f32[3] slice(c), slice={[0:3]} b = f32[3] slice(c), slice={[1:4]} d = f32[3] add(a, b)
    e = f32[2] slice(d), slice={[0:2]} g = f32[2] slice(d), slice={[1:3]}
    ROOT s = f32[2] add(e, g)""")
TWICE_REDUCED = fused("""p = f32[3,4,2,5] parameter(0) i = f32[] parameter(1)
    a = f32[4,2] reduce(p, i), dimensions={0,3}, to_apply=top
    ROOT b = f32[2] reduce(a, i), dimensions={0}, to_apply=top""")
TWO_TURNS = fused("""p = f32[4,2,3] parameter(0) a = f32[2,4,3] transpose(p), dimensions={1,0,2}
    b = f32[2,4,3] exponential(a) c = f32[2,3,4] transpose(b), dimensions={0,2,1}
    d = f32[3,2,4] transpose(p), dimensions={2,1,0} e = f32[3,2,4] log(d)
    h = f32[2,3,4] transpose(e), dimensions={1,0,2} ROOT s = f32[2,3,4] add(c, h)""")
REDUCED_SLICE = fused("""p = f32[9,8,14] parameter(0) i = f32[] parameter(1)
    s = f32[3,4,3] slice(p), slice={[5:8:1], [0:8:2], [5:14:3]}
    ROOT m = f32[4] reduce(s, i), dimensions={0,2}, to_apply=top""")
SLICES = fused("""p = f32[20,16] parameter(0) a = f32[12,8] slice(p), slice={[5:17:1], [0:16:2]}
    ROOT b = f32[4,2] slice(a), slice={[3:11:2], [4:8:3]}""")
JOINED = """p = f32[2,5,3] parameter(0) q = f32[2,7,3] parameter(1)
    c = f32[2,12,3] concatenate(p, q), dimensions={1} """


def reshaped(start: str, middle: str, end: str) -> str:
    return f"p = {start} parameter(0) m = {middle} reshape(p) ROOT t = {end} reshape(m)"


ROWS = [
    Row("a pair of a producer and its consumer", SUM_WITH_TRANSPOSE, "pair t a",
        {"a": ["(d0, d1) -> (d0, d1)"], "t": ["(d0, d1) -> (d0, d1)"],
         "p": ["(d0, d1) -> (d0, d1)", "(d0, d1) -> (d1, d0)"]}),
    Row("a pair of fusions", TWO_FUSIONS, "pair one r",
        {"p": ["(d0, d1) -> (-d0 + 3, d1)", "(d0, d1) -> (d1, d0)"],
         "one": ["(d0, d1) -> (d0, d1)", "(d0, d1) -> (d1, -d0 + 3)"],
         "t": ["(d0, d1) -> (d0, d1)", "(d0, d1) -> (d1, -d0 + 3)"]}),
    Row("the consumer alone", SUM_WITH_TRANSPOSE, "instruction a",
        {"a": ["(d0, d1) -> (d0, d1)"], "t": ["(d0, d1) -> (d0, d1)"],
         "p": ["(d0, d1) -> (d0, d1)"]}),
    Row("an operand reaches nothing", SUM_WITH_TRANSPOSE, "instruction a",
        {"p": ["(d0, d1) -> (d0, d1)"]}, "p"),
    Row("one result of a reduction of two", TWO_SUMS, "instruction r",
        {"r": ["(d0) -> (d0)"], "p": ["(d0)[s0] -> (d0, s0)"], "q": ["(d0)[s0] -> (d0, s0)"],
         "i": ["(d0) -> ()"], "zero": ["(d0) -> ()"]}, output=1),
    Row("from below the root of a fusion out to its operand", REDUCE_OF_BROADCAST,
        "instruction r",
        {"b": ["(d0, d1, d2, d3) -> (d0, d1, d2, d3)"], "a": ["(d0, d1, d2, d3) -> (d0, d2)"],
         "g0": ["(d0, d1, d2, d3) -> (d0, d2)"]}, "b"),
    Row("from below the root of a computation", REDUCE_OF_BROADCAST, "computation f",
        {"b": ["(d0, d1, d2, d3) -> (d0, d1, d2, d3)"], "a": ["(d0, d1, d2, d3) -> (d0, d2)"]},
        "b"),
    Row("a reduction of what is broadcast", REDUCE_OF_BROADCAST, "computation f",
        {"m": ["(d0, d1) -> (d0, d1)"], "b": ["(d0, d1)[s0, s1] -> (d0, s0, s1, d1)"],
         "a": ["(d0, d1)[s0] -> (d0, s0)"], "i": ["(d0, d1) -> ()"]}),
    Row("what runs twice stands for both runs", CALLED_TWICE, "instruction twice",
        {"twice": ["(d0) -> (d0)"], "s": ["(d0) -> (d0)"], "w": ["(d0) -> (d0)"],
         "a": ["(d0) -> (d0 - 1)"], "z": ["(d0) -> ()"], "once": ["(d0) -> (d0 - 1)"]}),
    Row("a result deep in tuples, through a fusion in a fusion", NESTED, "instruction r",
        {"r": ["(d0, d1) -> (d0, d1)"], "all": ["(d0, d1) -> (d0, d1)"],
         "some": ["(d0, d1) -> (d0, d1)"], "v": ["(d0, d1) -> (d0, d1)"],
         "n": ["(d0, d1) -> (-d0 + 2, d1)"], "t": ["(d0, d1) -> (-d0 + 2, d1)"],
         "inner.a": ["(d0, d1) -> (d1, -d0 + 2)"], "outer.a": ["(d0, d1) -> (d1, -d0 + 2)"],
         "p": ["(d0, d1) -> (d1, -d0 + 2)"]}, output=2),
    Row("a dot of what is turned, scaled and split", DOT_CHAIN, "computation f",
        {"w": ["(d0, d1, d2, d3, d4)[s0] -> (d1, d0 * 4 + s0, d2, d3)"],
         "scale": ["(d0, d1, d2, d3, d4)[s0] -> (d0 * 4 + s0)"],
         "x": ["(d0, d1, d2, d3, d4)[s0] -> (d4, d0 * 4 + s0)"]}),
    Row("softmax", SOFTMAX, "instruction r",
        {"g0": ["(d0, d1, d2) -> (d0, d1, d2)", "(d0, d1, d2)[s0] -> (d0, d1, s0)"]}),
    Row("four paths, three maps", WINDOWS, "instruction r",
        {"g0": ["(d0) -> (d0)", "(d0) -> (d0 + 1)", "(d0) -> (d0 + 2)"],
         "g1": ["(d0) -> (d0)", "(d0) -> (d0 + 1)", "(d0) -> (d0 + 2)"],
         "d": ["(d0) -> (d0)", "(d0) -> (d0 + 1)"]}),
    Row("a fusion of one sum",
        fused("p = f32[5] parameter(0) q = f32[5] parameter(1) ROOT s = f32[5] add(p, q)"),
        "instruction r", {"g0": ["(d0) -> (d0)"], "g1": ["(d0) -> (d0)"]}),
    Row("a reduction of a reduction", TWICE_REDUCED, "instruction r",
        {"g0": ["(d0)[s0, s1, s2] -> (s0, s2, d0, s1)"], "g1": ["(d0) -> ()"]}),
    Row("two transposes each, and both the same", TWO_TURNS, "instruction r",
        {"g0": ["(d0, d1, d2) -> (d2, d0, d1)"]}),
    Row("a reduction of a slice", REDUCED_SLICE, "instruction r",
        {"g0": ["(d0)[s0, s1] -> (s0 + 5, d0 * 2, s1 * 3 + 5)"], "g1": ["(d0) -> ()"]}),
    Row("a slice of a slice", SLICES, "instruction r",
        {"g0": ["(d0, d1) -> (d0 * 2 + 8, d1 * 6 + 8)"]}),
    Row("a reshape and back to one dimension",
        fused(reshaped("f32[24]", "f32[4,6]", "f32[24]")), "instruction r",
        {"g0": ["(d0) -> (d0)"], "m": ["(d0) -> (d0 floordiv 6, d0 mod 6)"]}),
    Row("a reshape and back to two dimensions",
        fused(reshaped("f32[4,6]", "f32[24]", "f32[4,6]")), "instruction r",
        {"g0": ["(d0, d1) -> (d0, d1)"]}),
    Row("a reshape and back where no dimension is kept",
        fused(reshaped("f32[4,4,4]", "f32[2,32]", "f32[4,4,4]")), "instruction r",
        {"g0": ["(d0, d1, d2) -> (d0, d1, d2)"]}),
    Row("a slice of both that are joined",
        fused(
            f"{JOINED} ROOT s = f32[2,4,3] slice(c), slice={{[0:2], [0:12:3], [0:3]}}"),
        "instruction r",
        {"g0": ["(d0, d1, d2) -> (d0, d1 * 3, d2)"],
         "g1": ["(d0, d1, d2) -> (d0, d1 * 3 - 5, d2)"]}),
    Row("a slice of one that is joined",
        fused(
            f"{JOINED} ROOT s = f32[2,3,3] slice(c), slice={{[0:2], [0:5:2], [0:3]}}"),
        "instruction r", {"g0": ["(d0, d1, d2) -> (d0, d1 * 2, d2)"], "g1": ["EMPTY"]}),
    Row("a reshape of what is joined", fused("""p = f32[2] parameter(0) q = f32[10] parameter(1)
            c = f32[12] concatenate(p, q), dimensions={0} ROOT t = f32[3,4] reshape(c)"""),
        "instruction r", {"g0": ["(d0, d1) -> (d1)"], "g1": ["(d0, d1) -> (d0 * 4 + d1 - 2)"]}),
]  # fmt: skip
