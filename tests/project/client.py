"""What users write, with the types that they write: checked and run by ``test_client.py``."""

from typing import assert_type

from sympy import Eq, Expr, Symbol

from indexing import IndexingMap, compose, parse_map
from indexing.layout import Shape, cute
from ops import OpIndexing, hlo, transpose
from simplifier import (
    CeilDiv,
    Facts,
    FloorDiv,
    Interval,
    Max,
    Min,
    Mod,
    SymbolicInterval,
    bounds_of,
    cost,
    equivalent,
    parse_expr,
    simplify,
    symbol,
)

x, n = symbol("x"), symbol("n")
sympys = Symbol("y", integer=True)
whole: Expr = 8 * FloorDiv(x, 8) + Mod(x, 8)
sums: list[Expr] = [FloorDiv(x, 8) * 8 - Mod(x, 8) // 2, x % 8 + 8 * (x // 8) - CeilDiv(n, 4) * 2]
least: Expr = 7 - Min(x, 3) + -Max(x, 3) % 2
quotient, remainder = divmod(x + 1, 8)

of_names, of_symbols = {"x": (0, 63)}, {x: (0, 63), n: (1, None)}
mixed = {sympys: (0, 3), "x": (0, 63)}
results: list[Expr] = [
    simplify(whole),
    simplify(whole, of_names),
    simplify(whole, of_symbols),
    simplify(whole, mixed),
    simplify(whole, {x: Interval(0, 63), "n": (1, x - 1)}, [Eq(n % 8, 0)]),
    simplify(whole, {}, [Eq(n % 8, 0), x < n, x % 4 <= n // 2, (x % 4, (0, 1))]),
    simplify(whole, Facts({x: (0, 63), "n": (0, 3)}, [Eq(Mod(n, 8), 0), n > x])),
    simplify(x + 1 < n, {x: (0, 3), n: (5, 9)}),
]
is_same: bool = equivalent(whole, x, {sympys: (0, 3)}, [x >= 0, Eq(sympys, x)])
interval: Interval = bounds_of(sympys % 8 + 1, {sympys: (0, 3), "x": 0})
ends: SymbolicInterval = bounds_of(x - n, {"x": (0, n - 1), n: (1, None)}, over=[n, "y"])
price: int = cost(parse_expr("x mod 8"), {"x": (0, 7)})

turned: IndexingMap = parse_map("(d0, d1) -> (d1, d0), domain: d0 in [0, 3], d1 in [0, 7]")
d0, d1 = map(symbol, ("d0", "d1"))
blocks = IndexingMap([d1, 8 * (d0 // 8)], {"d0": 32, "d1": (0, n - 1)}, constraints=[Eq(d0 % 2, 0)])
composed: IndexingMap = compose(turned, turned).simplify()
fixed: IndexingMap = composed.subs({d0: 3, "d1": 2})
places: list[Expr] = [8 * place + 1 for place in blocks.results]
indexing: OpIndexing = transpose(Shape.parse("f32[4,8]").dimensions, (1, 0))
operand: IndexingMap = indexing.output_to_input[0]
module = hlo.parse("HloModule m\nENTRY e { ROOT p = f32[4] parameter(0) }")
shapes: list[tuple[int, ...]] = [each.shape.dimensions for each in module.entry.instructions]

tiled: cute.CuteLayout = cute.composition(cute.parse("(4,8):(8,1)"), (2, cute.parse("4:2")))
assert_type(tiled.size, int)
assert_type(tiled(1, 3), int)
assert_type(tiled.leaves, tuple[tuple[int, int], ...])
assert_type(cute.slice_and_offset((1, None), tiled), tuple[cute.CuteLayout, int])
rows: cute.SymbolicLayout = cute.parse_symbolic("(M,8):(8,1)", Facts({}, [Eq(symbol("M") % 4, 0)]))
quarters: cute.SymbolicLayout = cute.logical_divide(rows, (cute.parse("4:1"), 2))
mixed_layouts: cute.SymbolicLayout = cute.logical_product(rows, tiled)
count: Expr | int = quarters.size
offset: Expr | int = rows(x, 3) + tiled(n)
assert_type(rows.subs({"M": 4, n: 3}).cosize, int)
