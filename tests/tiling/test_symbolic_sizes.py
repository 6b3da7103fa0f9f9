"""Tiles of fusions whose sizes are symbols, against the same fusions with numbers."""

from __future__ import annotations

from itertools import product

import pytest

from indexing import TileError
from indexing.variable import parameter_identifier
from ops import Fusion, hlo, propagate, tilings
from ops.performance import A100
from tests.tile.test_symbolic_tiles import described

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


def fusion_of(text: str, n: int, *, is_dynamic: bool) -> Fusion:
    bound = "<=" if is_dynamic else ""
    body = text.format(n=f"{bound}{n}", six_n=f"{bound}{6 * n}")
    return Fusion.of_computation(hlo.parse(f"ENTRY e {{ {body} }}").entry)


@every_program
@pytest.mark.parametrize("n", [4, 5, 8])
def test_formulas_hold_for_every_size(text: str, sizes: list[int], n: int) -> None:
    symbolic = propagate(fusion_of(text, 8, is_dynamic=True), sizes)
    numeric = propagate(fusion_of(text, n, is_dynamic=False), sizes)
    for mine, expected in zip(symbolic, numeric, strict=True):
        tile, known = mine.checked_tile(), expected.checked_tile()
        given = {parameter_identifier(each.name): n for each in tile.domain.parameters}
        for ids in product(*map(range, numeric.grid)):
            elements = described(tile, given, ids, ())
            assert elements == set(known.elements(ids)), (str(mine), ids)


@every_program
def test_what_needs_a_number_names_the_dimension(text: str, sizes: list[int]) -> None:
    fusion = fusion_of(text, 8, is_dynamic=True)
    reason = "parallel dimension [01] of %y, in .0, inf. has no numeric size"
    with pytest.raises(TileError, match=f"propagate: {reason}; expected a tile size"):
        propagate(fusion, [None] * len(sizes))
    with pytest.raises(TileError, match=f"tilings: {reason}; substitute the parameters"):
        tilings(fusion, A100)
    with pytest.raises(TileError, match="expected numbers"):
        propagate(fusion, sizes).grid  # noqa: B018 - it raises


def test_a_size_that_no_tile_has_is_refused() -> None:
    text, _ = PROGRAMS["reshape"]
    (refused,) = propagate(fusion_of(text, 8, is_dynamic=True), [4]).refused
    assert refused.instruction.name == "x"
    assert "6 mod d0 is 2, and d0 mod 6 is 4" in str(refused.tile)
