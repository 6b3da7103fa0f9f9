"""Tiles of fusions against enumeration: random programs, all operations, sizes that are symbols."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations, product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from benchmarks.propagation_time import contraction_chain
from indexing import Tile, TileError
from indexing.variable import parameter_identifier
from ops import DimensionKind, Fusion, FusionError, TilingSpace, Unknown, hlo, propagate, tilings
from ops.performance import A100
from simplifier import symbol
from simplifier.errors import ArgumentError
from tests.call_counts import calls_of
from tests.cases import for_all, for_rows
from tests.extent import IN_CI, part
from tests.fusion.random_programs import SHAPE, Program, programs
from tests.fusion.units import ADD, MAXIMUM, entry, named, whole
from tests.indexing.tables import refusals
from tests.tile.test_symbolic_tiles import described
from tests.tiling.real_fusions import TiledFusion, tiled_fusions
from tests.tiling.tiles_by_enumeration import checked_tiles, elements_in

OPERATIONS = {
    "dot": """x = f32[4,6] parameter(0) y = f32[6,5] parameter(1)
        ROOT r = f32[4,5] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}""",
    "dot of two contractions": """x = f32[2,3,4] parameter(0) y = f32[4,3] parameter(1)
        ROOT r = f32[2] dot(x, y), lhs_contracting_dims={1,2}, rhs_contracting_dims={1,0}""",
    "scaled dot": """x = f8e4m3fn[2,8] parameter(0) y = f8e4m3fn[8,3] parameter(1)
        a = f8e8m0fnu[2,2] parameter(2) b = f8e8m0fnu[2,3] parameter(3)
        ROOT r = f32[2,3] scaled-dot(x, y, a, b), lhs_contracting_dims={1},
        rhs_contracting_dims={0}""",
    "reduce": """x = f32[3,4,2] parameter(0) z = f32[] constant(0)
        ROOT r = f32[4] reduce(x, z), dimensions={2,0}, to_apply=sum""",
    "reduce-window": """x = f32[9] parameter(0) z = f32[] constant(0) ROOT r = f32[4]
        reduce-window(x, z), window={size=3 stride=2}, to_apply=sum""",
    "convolution": """x = f32[2,6,3] parameter(0) y = f32[3,3,4] parameter(1)
        ROOT r = f32[2,6,4] convolution(x, y), window={size=3 pad=1_1}, dim_labels=b0f_0io->b0f""",
    "concatenate": """x = f32[5,2] parameter(0) y = f32[4,2] parameter(1)
        ROOT r = f32[9,2] concatenate(x, y), dimensions={0}""",
    "pad": """x = f32[5] parameter(0) z = f32[] constant(0)
        ROOT r = f32[12] pad(x, z), padding=2_1_1""",
    "slice": "x = f32[20] parameter(0) ROOT r = f32[6] slice(x), slice={[2:20:3]}",
    "reverse": "x = f32[6,4] parameter(0) ROOT r = f32[6,4] reverse(x), dimensions={0}",
    "dynamic-slice": """x = f32[8] parameter(0) i = s32[] parameter(1)
        ROOT r = f32[4] dynamic-slice(x, i), dynamic_slice_sizes={4}""",
    "reshape that merges": "x = f32[3,4] parameter(0) ROOT r = f32[12] reshape(x)",
    "reshape that splits": "x = f32[12] parameter(0) ROOT r = f32[3,4] reshape(x)",
    "sort": """x = f32[3,4] parameter(0) ROOT r = f32[3,4] sort(x), dimensions={1},
        to_apply=less""",
    "softmax": """x = f32[3,6] parameter(0) i = f32[] constant(-inf) z = f32[] constant(0)
        m = f32[3] reduce(x, i), dimensions={1}, to_apply=top
        b = f32[3,6] broadcast(m), dimensions={0} s = f32[3,6] subtract(x, b)
        e = f32[3,6] exponential(s) t = f32[3] reduce(e, z), dimensions={1}, to_apply=sum
        c = f32[3,6] broadcast(t), dimensions={0} ROOT r = f32[3,6] divide(e, c)""",
    "two results": """x = f32[4,6] parameter(0) z = f32[] constant(0) n = f32[4,6] negate(x)
        s = f32[4] reduce(n, z), dimensions={1}, to_apply=sum
        ROOT r = (f32[4,6], f32[4]) tuple(n, s)""",
    "choice of one": """i = s32[] parameter(0) x = f32[4,6] parameter(1)
        ROOT r = f32[6,4] conditional(i, x), branch_computations={turned}""",
    "call": """x = f32[4,6] parameter(0) a = f32[6,4] call(x), to_apply=turned
        b = f32[4,6] call(a), to_apply=turned_back ROOT r = f32[4,6] add(b, x)""",
}

CALLEES = """less { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = pred[] compare(a, b),
  direction=LT }
turned { p = f32[4,6] parameter(0) ROOT t = f32[6,4] transpose(p), dimensions={1,0} }
turned_back { p = f32[6,4] parameter(0) ROOT t = f32[4,6] transpose(p), dimensions={1,0} }"""


def fusion_of(body: str) -> Fusion:
    """The whole entry with these instructions."""
    return whole(body, f"{ADD}\n{MAXIMUM}\n{CALLEES}")


def all_sizes(fusion: Fusion, most: int = 40 if IN_CI else 12) -> list[list[int]]:
    """Sizes for all dimensions that may be cut, spread evenly."""
    choices = [
        range(1, (each.size or 0) + 1) if each.can_be_cut else [each.size or 0]
        for each in TilingSpace.of(fusion).dimensions
    ]
    every = [*product(*choices)]
    return [[*sizes] for sizes in every[:: max(1, len(every) // most)]]


@for_all([*OPERATIONS])
def test_tiles_hold_what_the_points_of_the_space_read(name: str) -> None:
    fusion = fusion_of(OPERATIONS[name])
    assert sum(checked_tiles(propagate(fusion, sizes)) for sizes in all_sizes(fusion)) > 5


@for_all(["dot", "convolution", "softmax", "two results", "scaled dot", "choice of one"])
def test_all_tiles_together_are_what_the_fusion_needs(name: str) -> None:
    """The maps of :meth:`ops.Fusion.indexing` are composed without the space."""
    fusion = fusion_of(OPERATIONS[name])
    dimensions = TilingSpace.of(fusion).dimensions
    found = propagate(fusion, [1 if each.can_be_cut else None for each in dimensions])
    for operand in fusion.operands:
        needed: set[tuple[int, ...]] = set()
        for answer in fusion.indexing_of_results().values():
            for indexing in answer[operand].indexings:
                needed |= {tuple(results) for *_, results in indexing.map.points()}
        assert elements_in(found, operand, []) == needed


@given(programs(), st.tuples(*(st.integers(1, size) for size in SHAPE)))
def test_random_programs_read_what_numpy_says(program: Program, sizes: tuple[int, int]) -> None:
    main = program.module.entry
    found = propagate(Fusion.of_computation(main), sizes)
    (parameter,) = main.parameters
    assume(all(isinstance(each.tile, Tile) for each in found.of(parameter)))
    needed = program.needed()
    for ids in product(*(range(-(-n // size)) for n, size in zip(SHAPE, sizes, strict=True))):
        pairs = zip(ids, sizes, strict=True)
        at = tuple(slice(number * size, (number + 1) * size) for number, size in pairs)
        expected = {index for places in needed[at].ravel() for index in places}
        assert elements_in(found, parameter, ids) == expected


@for_all(tiled_fusions)
def test_triton_tiles_of_real_fusions(tiled: TiledFusion) -> None:
    """Each array has a tile; that of a dot's operands is the tile of the result by that of K."""
    found = propagate(tiled.fusion, tiled.sizes).check()
    for dot in (each for each in tiled.fusion.instructions if each.opcode == "dot"):
        (of_dot,) = found.of(dot)
        pairs = [*zip(found.space.dimensions, found.sizes, strict=True)]
        own = (pair for pair in pairs if pair[0].instruction is dot)
        (k,) = (size for each, size in own if each.kind is DimensionKind.CONTRACTING)
        *_, m, n = of_dot.checked_tile().sizes
        for operand, kept, name in zip(dot.operands, (m, n), ("lhs", "rhs"), strict=True):
            (contracted,) = dot.attributes[f"{name}_contracting_dims"]
            batch = dot.attributes.get(f"{name}_batch_dims", ())
            for each in found.of(operand):
                sizes = dict(enumerate(each.checked_tile().sizes))
                assert sizes.pop(contracted) == k
                assert [sizes[at] for at in sizes if at not in batch] == [kept]


@for_all(lambda: part([each for each in tiled_fusions() if each.points <= 40_000], 6))
def test_triton_tiles_by_enumeration(tiled: TiledFusion) -> None:
    assert checked_tiles(propagate(tiled.fusion, tiled.sizes)) > 0


def test_the_contracting_dimension_is_one_dimension_for_both_operands() -> None:
    fusion = fusion_of(OPERATIONS["dot"])
    k = TilingSpace.of(fusion).dimensions[2]
    assert (k.kind, k.axes) == (DimensionKind.CONTRACTING, ((0, 1), (1, 0)))
    found = propagate(fusion, {k: 2})
    offsets = [found.of(each)[0].checked_tile().offsets for each in fusion.operands]
    assert offsets == [(0, symbol("t2") * 2), (symbol("t2") * 2, 0)]


def test_the_key_axis_of_attention_can_be_tiled() -> None:
    """The keys are contracted in one dot, and the scores and values in the other."""
    fusion = fusion_of("""q = f32[8,4] parameter(0) k = f32[12,4] parameter(1)
        v = f32[12,6] parameter(2)
        s = f32[8,12] dot(q, k), lhs_contracting_dims={1}, rhs_contracting_dims={1}
        e = f32[8,12] exponential(s)
        ROOT o = f32[8,6] dot(e, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}""")
    keys = next(each for each in TilingSpace.of(fusion).dimensions if each.size == 12)
    assert str(keys) == "contracting dimension of %o, 1 of %e, 0 of %v, in [0, 11]"
    found = propagate(fusion, {keys: 4, TilingSpace.of(fusion).dimensions[0]: 2})
    q, k, v = fusion.operands
    texts = [str(found.of(each)[0].tile).splitlines()[:2] for each in (q, k, v)]
    assert texts == [
        ["offsets: t0 * 2, 0", "sizes: 2, 4"],
        ["offsets: t2 * 4, 0", "sizes: 4, 4"],
        ["offsets: t2 * 4, 0", "sizes: 4, 6"],
    ]


def test_equal_tiles_are_one() -> None:
    """The maximum and the sum of a softmax go through a row that is the tile itself."""
    fusion = fusion_of(OPERATIONS["softmax"])
    whole, cut = propagate(fusion, [1, 6]), propagate(fusion, [1, 6, 3, 2])
    assert len(whole.of(fusion.operands[0])) == 1
    assert len(cut.of(fusion.operands[0])) == 3


def test_a_result_that_another_leads_to_has_no_dimensions_of_its_own() -> None:
    space = TilingSpace.of(fusion_of(OPERATIONS["two results"]))
    assert [each.instruction.name for each in space.parallel] == ["s"]


def test_a_result_that_is_reached_in_part_has_dimensions_of_its_own() -> None:
    fusion = fusion_of("""x = f32[8] parameter(0) n = f32[8] negate(x)
        s = f32[3] slice(n), slice={[0:3]}
        ROOT r = (f32[8], f32[3]) tuple(n, s)""")
    names = [each.instruction.name for each in TilingSpace.of(fusion).parallel]
    assert sorted(names) == ["n", "s"]
    assert checked_tiles(propagate(fusion, [2, 3])) == 5


# the body behind ``x``, and at how many sizes of tiles it has a tile at least
@for_rows([
    ("all-gather", "ROOT r = f32[8,6] all-gather(x), replica_groups={{0,1}}, dimensions={0}", 18),
    ("all-gather of other axes",
     "ROOT r = f32[4,12] all-gather(x), replica_groups={{1,0}}, dimensions={1}", 16),
    ("all-gather, then a slice",
     """g = f32[8,6] all-gather(x), replica_groups={{0,1}}, dimensions={0}
        ROOT r = f32[5,6] slice(g), slice={[3:8],[0:6]}""", 6),
    ("all-reduce", "ROOT r = f32[4,6] all-reduce(x), replica_groups={{0,1}}, to_apply=sum", 24),
    ("reduce-scatter",
     """ROOT r = f32[2,6] reduce-scatter(x), replica_groups={{0,1}}, dimensions={0},
        to_apply=sum""", 12),
    ("all-to-all", "ROOT r = f32[4,6] all-to-all(x), replica_groups={{0,1}}, dimensions={0}", 12),
    ("collective-permute",
     "ROOT r = f32[4,6] collective-permute(x), source_target_pairs={{0,1},{1,0}}", 24),
])  # fmt: skip
def test_tiles_of_collectives_are_elements_of_replicas(body: str, least: int) -> None:
    text = f"HloModule m, replica_count=2 {ADD} ENTRY e {{ x = f32[4,6] parameter(0) {body} }}"
    fusion = Fusion.of_computation(hlo.parse(text).entry)
    tiled = 0
    for sizes in all_sizes(fusion, 100):
        found = propagate(fusion, sizes)
        checked_tiles(found)
        tiled += not found.refused
    assert tiled >= least
    names = [symbol("M"), symbol("N"), *[None] * (len(TilingSpace.of(fusion).dimensions) - 2)]
    constraints = propagate(fusion, names).constraints
    for sizes in all_sizes(fusion, 100):
        given = dict(zip("MN", sizes, strict=False))
        assert not constraints.satisfied(given) or not propagate(fusion, sizes).refused


@for_all([*permutations(range(3))])
def test_programs_in_any_order(order: tuple[int, ...]) -> None:
    fusion = fusion_of("x = f32[4,6,5] parameter(0) ROOT r = f32[4,6,5] negate(x)")
    found = propagate(fusion, [2, 2, 2])
    assert found.grid == (2, 3, 3)
    programs_of = found.program_map(order)
    expected = [*product(*(range(found.grid[number]) for number in order))]
    for number, ids in enumerate(expected):
        assert [programs_of.evaluate([number])[at] for at in order] == [*ids]


@for_all([
    ("x = f32[4] parameter(0) ROOT r = f32[4,8] broadcast(x), dimensions={0}", [2],
     ["offsets: t0 * 2, 0", "sizes: 2, 8"]),
    ("x = f32[4,6] parameter(0) ROOT r = f32[6,4] transpose(x), dimensions={1,0}", [2, 3],
     ["offsets: t1 * 3, t0 * 2", "sizes: 3, 2"]),
    (OPERATIONS["reduce"], [3, 2, 2], ["offsets: t1 * 2", "sizes: 2"]),
    (OPERATIONS["dot"], [2, 6], ["offsets: t0 * 2, 0", "sizes: 2, 5"]),
    (OPERATIONS["call"], [2, 3], ["offsets: t0 * 2, t1 * 3", "sizes: 2, 3"]),
])  # fmt: skip
def test_forward_from_an_operand(body: str, sizes: Sequence[int], text: list[str]) -> None:
    fusion = fusion_of(body)
    found = propagate(fusion, sizes, operand=fusion.operands[0])
    (tile,) = found.of(fusion.roots[0])
    assert str(tile.tile).splitlines()[:2] == text
    assert checked_tiles(found) > 1


def test_what_has_no_tile_says_why_and_others_have_theirs() -> None:
    fusion = fusion_of("""x = f32[6,8] parameter(0) l = f32[48] reshape(x)
        ROOT r = f32[4,12] reshape(l)""")
    assert not propagate(fusion, [1, 4]).refused
    found = propagate(fusion, [1, 6])
    (refused,) = {each.instruction.name for each in found.refused}
    assert refused == "x"
    with pytest.raises(TileError, match=r"^propagate: %x has no tile: .* expected"):
        found.check()


def test_a_gather_has_tiles_of_one_index() -> None:
    """Its index is another one for each row: a tile of two rows is no box."""
    fusion = fusion_of("""x = f32[9,4] parameter(0) i = s32[6] parameter(1) ROOT
        r = f32[6,4] gather(x, i),
        offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1,
        slice_sizes={1,4}""")
    x, i = fusion.operands
    assert checked_tiles(propagate(fusion, [1, 2])) > 1
    (of_x,) = propagate(fusion, [2, 2]).of(x)
    assert isinstance(of_x.tile, Unknown)
    assert of_x.tile.reason == (
        "the value that says where it reads differs along parallel dimension 0 of %r, "
        "in [0, 5], of which tiles have 2 values"
    )
    assert isinstance(propagate(fusion, [2, 2]).of(i)[0].tile, Tile)
    rows, columns = symbol("M"), symbol("N")
    assert str(propagate(fusion, [rows, columns]).constraints) == "M in [1, 1]"


def test_what_is_behind_an_unknown_operation_is_unknown() -> None:
    fusion = fusion_of("""x = f32[4] parameter(0)
        c = f32[4] custom-call(x), custom_call_target="mine"
        ROOT n = f32[4] negate(c)""")
    found = propagate(fusion, [2])
    assert [each.instruction.name for each in found.refused] == ["x"]


DOT, SORT = fusion_of(OPERATIONS["dot"]), fusion_of(OPERATIONS["sort"])
OTHER = named(entry("ROOT y = f32[] parameter(0)"), "y")

test_bad_sizes = refusals(globals(), TileError, TypeError, whole=True)("""
propagate(DOT, [2])
    propagate: 1 sizes are given; expected 2 or 3, one for each parallel dimension, or for all
propagate(DOT, [0, 1])
    propagate: parallel dimension 0 of %r, in [0, 3] has the tile size 0; expected 1 to 4
propagate(DOT, [4, 6])
    propagate: parallel dimension 1 of %r, in [0, 4] has the tile size 6; expected 1 to 5
propagate(DOT, [4, 2.5])
    propagate: parallel dimension 1 of %r, in [0, 4] has the tile size 2.5; expected an integer
propagate(DOT, {"k": 4}) => propagate: k is no dimension of the space
propagate(DOT, 4) => propagate: tile_sizes is 4; expected sizes, or a mapping
""")

test_other_bad_calls = refusals(globals(), TileError, FusionError, ArgumentError)("""
propagate(SORT, [1, 4, 2]) => it needs all elements at once; expected 4
propagate(SORT, [1], operand=OTHER) => FusionError: fusion: %y is neither in it nor read
propagate(SORT, [1, 4]).program_map([0, 0]) => expected each of 0 to 1 once
propagate(SORT, [1, 4]).program_map(5) => ArgumentError: program_map: the order is 5
propagate(SORT, [1, 4], operand=SORT.operands[0], element=1)
    FusionError: fusion: %x has no array 1; expected 0 to 0
propagate(SORT, [1, 4], operand=SORT.operands[0], element=-1)
    FusionError: fusion: %x has no array -1; expected 0 to 0
propagate(SORT, [1, 4], operand="x") => ArgumentError: TilingSpace.from_operand: the operand is 'x'
propagate(SORT, [symbol("T"), 4]).grid => expected numbers
""")


def test_a_contraction_chain_of_rank_24_takes_bounded_work() -> None:
    """XLA's analysis hangs there (openxla/xla 41173): its constraints are multiplied out."""
    fusion = contraction_chain(24, 24)
    sizes = [symbol(f"T{number}") for number in range(48)]

    def ask() -> None:
        found = propagate(fusion, sizes)
        assert not found.refused
        assert len(found) == 1 + 2 * 24

    assert calls_of(ask) < 6_000_000


def test_arrays_with_equal_maps_share_a_tile() -> None:
    """So what one more instruction adds is little beside the first."""

    def asked(length: int) -> int:
        steps = "".join(f" x{n + 1} = f32[{length},8] negate(x{n})" for n in range(length))
        text = f"ENTRY e {{ x0 = f32[{length},8] parameter(0){steps} }}"
        fusion = Fusion.of_computation(hlo.parse(text).entry)
        return calls_of(lambda: propagate(fusion, [symbol("T"), 4]))

    assert asked(20) < 4 * asked(2)


# Sizes that are symbols, against the same fusions with numbers.

PROGRAMS = {
    "elementwise": ("x = f32[{n},6] parameter(0) ROOT y = f32[{n},6] negate(x)", [3, 4]),
    "transpose": (
        "x = f32[{n},6] parameter(0) ROOT y = f32[6,{n}] transpose(x), dimensions={{1,0}}", [4, 3]),
    "dot": (
        """x = f32[{n},6] parameter(0) w = f32[6,4] parameter(1)
        ROOT y = f32[{n},4] dot(x, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}""",
        [3, 4, 2]),
    "reshape": ("x = f32[{n},6] parameter(0) ROOT y = f32[{six_n}] reshape(x)", [12]),
}  # fmt: skip
"""Each with the sizes of a tile; ``n`` is a number, or dynamic with at most so many."""

every_program = pytest.mark.parametrize(("text", "sizes"), PROGRAMS.values(), ids=PROGRAMS)


def sized_fusion(text: str, n: int, *, is_dynamic: bool) -> Fusion:
    bound = "<=" if is_dynamic else ""
    body = text.format(n=f"{bound}{n}", six_n=f"{bound}{6 * n}")
    return Fusion.of_computation(hlo.parse(f"ENTRY e {{ {body} }}").entry)


@every_program
@pytest.mark.parametrize("n", [4, 5, 8])
def test_formulas_hold_for_every_size(text: str, sizes: list[int], n: int) -> None:
    symbolic = propagate(sized_fusion(text, 8, is_dynamic=True), sizes)
    numeric = propagate(sized_fusion(text, n, is_dynamic=False), sizes)
    for mine, expected in zip(symbolic, numeric, strict=True):
        tile, known = mine.checked_tile(), expected.checked_tile()
        given = {parameter_identifier(each.name): n for each in tile.domain.parameters}
        for ids in product(*map(range, numeric.grid)):
            elements = described(tile, given, ids, ())
            assert elements == set(known.elements(ids)), (str(mine), ids)


@every_program
def test_what_needs_a_number_names_the_dimension(text: str, sizes: list[int]) -> None:
    fusion = sized_fusion(text, 8, is_dynamic=True)
    reason = "parallel dimension [01] of %y, in .0, inf. has no numeric size"
    with pytest.raises(TileError, match=f"propagate: {reason}; expected a tile size"):
        propagate(fusion, [None] * len(sizes))
    with pytest.raises(TileError, match=f"tilings: {reason}; substitute the parameters"):
        tilings(fusion, A100)
    with pytest.raises(TileError, match="expected numbers"):
        propagate(fusion, sizes).grid  # noqa: B018 - it raises


def test_a_size_that_no_tile_has_is_refused() -> None:
    text, _ = PROGRAMS["reshape"]
    (refused,) = propagate(sized_fusion(text, 8, is_dynamic=True), [4]).refused
    assert refused.instruction.name == "x"
    assert "6 mod d0 is 2, and d0 mod 6 is 4" in str(refused.tile)
