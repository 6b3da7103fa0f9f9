"""Small programs that tests of fusions have in common."""

from __future__ import annotations

from tests.fusion.units import entry, fused

SUM_WITH_TRANSPOSE = entry("""p = f32[5,5] parameter(0)
    t = f32[5,5]{0,1} transpose(p), dimensions={1,0}
    ROOT a = f32[5,5] add(p, t)""")
TWO_FUSIONS = entry(
    """p = f32[4,4] parameter(0)  one = f32[4,4] fusion(p), kind=kLoop, calls=turn
    two = f32[4,4] negate(p)
    ROOT r = f32[4,4] fusion(one, two), kind=kLoop, calls=both""",
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
    once = f32[4] call(p), to_apply=shift
    ROOT twice = f32[4] call(once), to_apply=shift""",
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
    x = bf16[3,8] parameter(2)
    turned = s8[3,2,2,8] transpose(w), dimensions={0,2,3,1}
    wide = bf16[3,2,2,8] convert(turned)
    flat = bf16[12,2,4] reshape(wide)
    many = bf16[3,8] broadcast(scale), dimensions={1}
    scaled = bf16[3,8] multiply(x, many)
    parts = bf16[3,2,4] reshape(scaled)
    d = bf16[2,12,3] dot(flat, parts), lhs_batch_dims={1}, lhs_contracting_dims={2},
      rhs_batch_dims={1}, rhs_contracting_dims={2}
    ROOT out = bf16[2,3,2,2,3] bitcast(d)""")
SOFTMAX = fused("""p = f32[2,3,4] parameter(0)  least = f32[] constant(-inf)
    zero = f32[] constant(0)
    peak = f32[2,3] reduce(p, least), dimensions={2}, to_apply=top
    line = f32[6] bitcast(peak)  rows = f32[6,4] broadcast(line), dimensions={0}
    peaks = f32[2,3,4] bitcast(rows)  less = f32[2,3,4] subtract(p, peaks)
    grown = f32[2,3,4] exponential(less)
    total = f32[2,3] reduce(grown, zero), dimensions={2}, to_apply=sum
    line2 = f32[6] bitcast(total)  rows2 = f32[6,4] broadcast(line2), dimensions={0}
    totals = f32[2,3,4] bitcast(rows2)
    ROOT share = f32[2,3,4] divide(grown, totals)""")
WINDOWS = fused("""p = f32[4] parameter(0) q = f32[4] parameter(1) c = f32[4] add(p, q)
    a = f32[3] slice(c), slice={[0:3]} b = f32[3] slice(c), slice={[1:4]} d = f32[3] add(a, b)
    e = f32[2] slice(d), slice={[0:2]} g = f32[2] slice(d), slice={[1:3]}
    ROOT s = f32[2] add(e, g)""")
TWICE_REDUCED = fused("""p = f32[3,4,2,5] parameter(0) i = f32[] parameter(1)
    a = f32[4,2] reduce(p, i), dimensions={0,3}, to_apply=top
    ROOT b = f32[2] reduce(a, i), dimensions={0}, to_apply=top""")
TWO_TURNS = fused("""p = f32[4,2,3] parameter(0)
    a = f32[2,4,3] transpose(p), dimensions={1,0,2} b = f32[2,4,3] exponential(a)
    c = f32[2,3,4] transpose(b), dimensions={0,2,1}
    d = f32[3,2,4] transpose(p), dimensions={2,1,0} e = f32[3,2,4] log(d)
    h = f32[2,3,4] transpose(e), dimensions={1,0,2}
    ROOT s = f32[2,3,4] add(c, h)""")
REDUCED_SLICE = fused("""p = f32[9,8,14] parameter(0) i = f32[] parameter(1)
    s = f32[3,4,3] slice(p), slice={[5:8:1], [0:8:2], [5:14:3]}
    ROOT m = f32[4] reduce(s, i), dimensions={0,2}, to_apply=top""")
SLICES = fused("""p = f32[20,16] parameter(0) a = f32[12,8] slice(p), slice={[5:17:1], [0:16:2]}
    ROOT b = f32[4,2] slice(a), slice={[3:11:2], [4:8:3]}""")
JOINED = """p = f32[2,5,3] parameter(0) q = f32[2,7,3] parameter(1)
    c = f32[2,12,3] concatenate(p, q), dimensions={1} """


def reshaped(start: str, middle: str, end: str) -> str:
    return f"p = {start} parameter(0) m = {middle} reshape(p) ROOT t = {end} reshape(m)"
