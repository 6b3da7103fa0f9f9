"""Symbolic tiles against enumeration: random maps, chains of operations, and XLA's own cases."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice, pairwise, product
from math import prod
from random import Random
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import assume, given
from hypothesis import strategies as st

import ops
from indexing import IndexingMap, Tile, TileConstraints, TileError, UndefinedMap, parse_map
from ops import Unknown, hlo, output_to_input
from simplifier import Mod, symbol
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import Form
from tests.conformance import Row, for_each, rows_of
from tests.extent import IN_CI, part, seldom
from tests.strategies import index_maps, maps
from tests.tile.brute_force import (
    SIZES,
    all_sizes,
    described,
    extents,
    grid,
    named,
    symbolic_sizes,
    touched,
)

MAX_SIZES = 6
"""Random sizes at which one map is enumerated."""

MAX_POINTS = 20_000
"""Larger maps of XLA's tests are not enumerated."""


def _check_at(indexing: IndexingMap, tile: Tile, sizes: Mapping[str, int]) -> None:
    """The formulas of all tiles of these sizes, with symbols and with numbers."""
    expected = touched(indexing, [*sizes.values()])
    at_sizes = tile.substitute(sizes)
    numeric = indexing.tile([*sizes.values()])
    runtime_values = {runtime for _, runtime in expected}
    for ids in grid(indexing, [*sizes.values()]):
        for runtime in runtime_values:
            elements = expected.get((ids, runtime), set())
            for made in (tile, at_sizes, numeric):
                inside = described(made, sizes if made is tile else {}, ids, runtime)
                assert elements == inside if made.image is None else elements <= inside


def _check(indexing: IndexingMap, seed: int = 0) -> None:
    """A tile is exact at all sizes that meet its constraints; a number that fits no tile fails."""
    tile = indexing.tile(symbolic_sizes(indexing))
    candidates = list(all_sizes(indexing))
    Random(seed).shuffle(candidates)  # noqa: S311 - the same sizes each time
    refused: list[dict[str, int]] = []
    for sizes in candidates[:MAX_SIZES]:
        if tile.constraints.satisfied(sizes):
            _check_at(indexing, tile, sizes)
            continue
        refused.append(sizes)
        with pytest.raises(TileError, match=r"tile: .*; expected"):
            tile.substitute(sizes)
    for sizes in refused[:1]:
        _check_numbers(indexing, [*sizes.values()])


def _check_numbers(indexing: IndexingMap, sizes: list[int]) -> None:
    """The elements of some tiles of any numbers, by the mask and as a set."""
    tile = indexing.tile(sizes)
    expected = touched(indexing, sizes)
    runtime_values = {runtime for _, runtime in expected}
    for ids, runtime in islice(product(grid(indexing, sizes), runtime_values), MAX_SIZES):
        elements = expected.get((ids, runtime), set())
        inside = described(tile, {}, ids, runtime)
        assert elements == inside if tile.image is None else elements <= inside
        assert set(tile.elements(ids, runtime)) == elements


@seldom
@given(index_maps())
def test_reshapes(indexing: IndexingMap) -> None:
    _check(indexing)


@seldom
@given(maps())
def test_random_maps(indexing: IndexingMap) -> None:
    try:
        indexing.tile(symbolic_sizes(indexing))
    except TileError:
        assert indexing.ranges  # tiles of one element are always found
        return
    _check(indexing)


# Chains of operations.


@st.composite
def _chains(draw: st.DrawFn) -> IndexingMap:
    """Two or three operations, from the result to the operand."""
    sizes = tuple(draw(st.lists(st.sampled_from((1, 2, 3, 4, 6, 8)), min_size=1, max_size=3)))
    assume(prod(sizes) <= 200)
    chain = IndexingMap.identity(sizes)
    for _ in range(draw(st.integers(2, 3))):
        kind = draw(st.sampled_from(sorted(_STEPS)))
        step, sizes = _STEPS[kind](draw, sizes)
        chain = step @ chain
    chain = chain.simplify()
    assume(not chain.is_known_empty)
    return chain


def _reshape(draw: st.DrawFn, sizes: tuple[int, ...]) -> tuple[IndexingMap, tuple[int, ...]]:
    left = prod(sizes)
    operand: list[int] = []
    for _ in range(draw(st.integers(0, 2))):
        operand.append(draw(st.sampled_from([n for n in range(1, left + 1) if left % n == 0])))
        left //= operand[-1]
    operand.append(left)
    return ops.reshape(operand, sizes).output_to_input[0], tuple(operand)


def _transpose(draw: st.DrawFn, sizes: tuple[int, ...]) -> tuple[IndexingMap, tuple[int, ...]]:
    order = draw(st.permutations(range(len(sizes))))
    operand = [0] * len(sizes)
    for size, axis in zip(sizes, order, strict=True):
        operand[axis] = size
    return ops.transpose(operand, order).output_to_input[0], tuple(operand)


def _reverse(draw: st.DrawFn, sizes: tuple[int, ...]) -> tuple[IndexingMap, tuple[int, ...]]:
    axis = draw(st.integers(0, len(sizes) - 1))
    return ops.reverse(sizes, [axis]).output_to_input[0], sizes


def _slice(draw: st.DrawFn, sizes: tuple[int, ...]) -> tuple[IndexingMap, tuple[int, ...]]:
    starts = [draw(st.integers(0, 3)) for _ in sizes]
    strides = [draw(st.integers(1, 3)) for _ in sizes]
    rows = zip(starts, strides, sizes, strict=True)
    operand = tuple(start + stride * size for start, stride, size in rows)
    results = [
        symbol(f"d{axis}") * stride + start
        for axis, (start, stride) in enumerate(zip(starts, strides, strict=True))
    ]
    return IndexingMap.from_sizes(results, sizes), operand


def _concatenate(draw: st.DrawFn, sizes: tuple[int, ...]) -> tuple[IndexingMap, tuple[int, ...]]:
    axis = draw(st.integers(0, len(sizes) - 1))
    assume(sizes[axis] > 1)
    first = draw(st.integers(1, sizes[axis] - 1))
    parts = [(*sizes[:axis], size, *sizes[axis + 1 :]) for size in (first, sizes[axis] - first)]
    which = draw(st.integers(0, 1))
    return ops.concatenate(parts, axis).output_to_input[which], parts[which]


def _pad(draw: st.DrawFn, sizes: tuple[int, ...]) -> tuple[IndexingMap, tuple[int, ...]]:
    """Padding before, between and behind one axis of several elements."""
    axis, interior = draw(st.integers(0, len(sizes) - 1)), draw(st.integers(0, 2))
    count = draw(st.integers(1, 3))
    low = draw(st.integers(0, 2))
    needed = low + count + (count - 1) * interior
    assume(needed <= sizes[axis])
    operand = (*sizes[:axis], count, *sizes[axis + 1 :])
    paddings = [(0, 0, 0) for _ in sizes]
    paddings[axis] = (low, sizes[axis] - needed, interior)
    return ops.pad(operand, paddings).output_to_input[0], operand


def _broadcast(draw: st.DrawFn, sizes: tuple[int, ...]) -> tuple[IndexingMap, tuple[int, ...]]:
    kept = sorted(draw(st.sets(st.integers(0, len(sizes) - 1), min_size=1)))
    operand = tuple(sizes[axis] for axis in kept)
    return ops.broadcast(operand, sizes, kept).output_to_input[0], operand


def _reduce(draw: st.DrawFn, sizes: tuple[int, ...]) -> tuple[IndexingMap, tuple[int, ...]]:
    axis, size = draw(st.integers(0, len(sizes))), draw(st.integers(1, 6))
    operand = (*sizes[:axis], size, *sizes[axis:])
    return ops.reduce(operand, [axis]).output_to_input[0], operand


_STEPS = {
    "reshape": _reshape,
    "transpose": _transpose,
    "reverse": _reverse,
    "slice": _slice,
    "concatenate": _concatenate,
    "pad": _pad,
    "broadcast": _broadcast,
    "reduce": _reduce,
}


@seldom
@given(_chains())
def test_chains_of_operations(chain: IndexingMap) -> None:
    assume(len(chain.dims) and prod(extents(chain)) < 2000)
    try:
        chain.tile(symbolic_sizes(chain))
    except TileError:
        assert chain.ranges
        return
    _check(chain)


@st.composite
def _split_again(draw: st.DrawFn) -> IndexingMap:
    """Reshapes whose sizes do not divide each other, with transposes and reverses between."""
    total = draw(st.sampled_from((12, 24, 30, 36, 48)))
    first = draw(st.sampled_from([n for n in range(2, total) if total % n == 0]))
    sizes: tuple[int, ...] = (first, total // first)
    chain = IndexingMap.identity(sizes)
    for kind in ("reshape", *draw(st.lists(st.sampled_from(_MOVES), max_size=3))):
        step, sizes = _STEPS[kind](draw, sizes)
        chain = step @ chain
    return chain.simplify()


_MOVES = ("reshape", "transpose", "reverse")


@seldom
@given(_split_again())
def test_sums_that_are_split_again(chain: IndexingMap) -> None:
    _check(chain)


def _pairs_of_factors(total: int) -> list[tuple[int, int]]:
    return [(n, total // n) for n in range(1, total + 1) if total % n == 0]


@pytest.mark.parametrize("total", part([12, 24, 36], 1))
def test_reshapes_have_every_tile_that_is_a_box(total: int) -> None:
    """The constraints hold for a size if and only if each tile is a box of elements."""
    for result, operand in product(_pairs_of_factors(total), repeat=2):
        reshape = ops.reshape(operand, result).output_to_input[0]
        constraints = reshape.tile(symbolic_sizes(reshape)).constraints
        for sizes in all_sizes(reshape):
            tiles = touched(reshape, [*sizes.values()]).values()
            assert constraints.satisfied(sizes) == all(map(_is_box, tiles)), (operand, sizes)


def _is_box(elements: set[tuple[int, ...]]) -> bool:
    """Whether elements are all combinations of arithmetic progressions."""
    columns = [sorted(set(column)) for column in zip(*elements, strict=True)]
    steps = ({after - before for before, after in pairwise(column)} for column in columns)
    return prod(map(len, columns)) == len(elements) and all(len(each) < 2 for each in steps)


# XLA's cases.


def _maps(row: Row) -> list[IndexingMap]:
    """The maps of a row: as given, or of the root of a module."""
    if "map" in row:
        return [parse_map(row["map"])]
    root = hlo.parse(row["hlo"]).entry.root
    operand: int = row["operand"]
    indexings = output_to_input(root).indexing[operand]
    assert not isinstance(indexings, Unknown)
    return [each.map for each in indexings]


_TILES = [*rows_of("tile", kind="symbolic_tile"), *rows_of("tile", kind="symbolic_tile_from_map")]

_WRONG_IN_XLA = {"reverse_of_combining_reshape": "it claims 23..-24 where 0..47 is exact"}
"""Rows whose formulas claim elements that the map does not touch."""


def _some_sizes(indexing: IndexingMap) -> Iterator[tuple[int, ...]]:
    """Small sizes of tiles, and whole dimensions."""
    chosen = (
        sorted({size for size in (1, 2, 3, 4, 6, 7, 8, 35, extent) if size <= extent})
        for extent in extents(indexing)
    )
    return product(*chosen)


@for_each([row for row in _TILES if row["expected"] and row["id"] not in _WRONG_IN_XLA])
def test_all_sizes_of_xla_have_the_same_tile(row: Row) -> None:
    """Wherever XLA's constraints hold, ours do, and tile 0 has the same elements."""
    expected = row["expected"]
    constraints = TileConstraints.parse(row.get("sound_constraints", expected["constraints"]))
    formulas = [
        parse_map(expected[key], unbounded=True) for key in ("offset_map", "size_map", "stride_map")
    ]
    (indexing,) = _maps(row)
    tile = indexing.tile(symbolic_sizes(indexing))
    compared = 0
    for sizes in islice(_some_sizes(indexing), 400 if IN_CI else 100):
        theirs = {f"d{number}": size for number, size in enumerate(sizes)}
        if not constraints.satisfied(theirs):
            continue
        compared += 1
        named = dict(zip((str(name) for name in symbolic_sizes(indexing)), sizes, strict=True))
        ours = tile.substitute(named).formulas.results
        offsets, counts, strides = (
            each.evaluate(sizes, [0] * len(each.ranges)) for each in formulas
        )
        assert len(offsets) == len(ours)
        for (offset, size, stride), start, count, step in zip(
            ours, offsets, counts, strides, strict=True
        ):
            assert _progression(_at_zero(offset), size.constant, stride.constant) == (
                _progression(start, count, step)
            )
    assert compared


def _at_zero(offset: Form) -> int:
    """An offset of the first tile, where all runtime variables are zero."""
    zeros = dict.fromkeys(forms.variables_of((offset,)), forms.ZERO)
    return operations.substitute((offset,), zeros)[0].constant


def _progression(offset: int, size: int, stride: int) -> set[int]:
    return {offset + stride * place for place in range(size)}


@for_each(_TILES)
def test_tiles_of_xlas_cases_by_enumeration(row: Row) -> None:
    (indexing,) = _maps(row)
    tile = indexing.tile(symbolic_sizes(indexing))
    assert tile.constraints.satisfied(named(indexing, [1] * len(indexing.dims)))
    bounds = [each.bounds.size or 0 for each in indexing.domain]
    if prod(bounds) > MAX_POINTS:
        pytest.skip("more points than are enumerated")
    several = [named(indexing, sizes) for sizes in islice(_some_sizes(indexing), 400)]
    several = [sizes for sizes in several if tile.constraints.satisfied(sizes)]
    Random(0).shuffle(several)  # noqa: S311 - the same sizes each time
    for sizes in several[:3]:
        _check_at(indexing, tile, sizes)


def test_strides_of_a_split_reshape() -> None:
    """XLA's own evaluations."""
    (row,) = (each for each in _TILES if each["id"] == "split_reshape")
    (indexing,) = _maps(row)
    tile = indexing.tile(symbolic_sizes(indexing))
    for sizes, strides in row["stride_evaluations"]:
        assert list(tile.substitute(named(indexing, sizes)).strides) == strides


def test_tiles_of_reversed_and_combined_reshapes() -> None:
    """XLA claims 23, 22, ..., -24 here."""
    (row,) = (each for each in _TILES if each["id"] in _WRONG_IN_XLA)
    tile = parse_map(row["source_map"]).tile([2, 4, 6, 4])
    assert str(tile.elements([0, 0, 0, 0])) == "(d0, d1): d0 in [0, 47], d1 in [0, 3]"


# By hand.

TILES = {
    "concatenation at any offset": (
        "(d0) -> (d0 - 5), domain: d0 in [5, 15]",
        "offsets: A * t0 - 5; sizes: A; strides: 1; mask: (A * t0 + i0 < 16 and A * t0 + i0 >= 5)",
    ),
    "interior padding": (
        "(d0) -> (d0 floordiv 3), domain: d0 in [0, 9], d0 mod 3 in [0, 0]",
        """offsets: (A * t0 + 2) floordiv 3; sizes: (A + 2) floordiv 3; strides: 1;
        mask: (A * t0 + i0 * 3 < 10 and A > i0 * 3 + (A * t0 * 2) mod 3)""",
    ),
    "a minimum": (
        "(d0) -> (min(d0, 7)), domain: d0 in [0, 9]",
        "offsets: min(A * t0, 7); sizes: A; strides: 1; mask: (i0 < max(min(A, -(A * t0) + 8), 1))",
    ),
    "overlapping windows": (
        "(d0)[s0] -> (d0 * 2 + s0), domain: d0 in [0, 9], s0 in [0, 2]",
        """offsets: A * t0 * 2; sizes: A * 2 + 1; strides: 1;
        mask: (i0 <= min(A, -(A * t0) + 10) * 2)""",
    ),
    "a diagonal has tiles of one element": (
        "(d0) -> (d0, d0), domain: d0 in [0, 9]",
        "offsets: A * t0, A * t0; sizes: 1, 1; strides: 0, 0; constraints: A in [1, 1]",
    ),
    "a sum that is split again": (
        """(d0, d1) -> ((d0 * 8 + d1) floordiv 12, (d0 * 8 + d1) mod 12), domain: d0 in [0, 5],
        d1 in [0, 7]""",
        """offsets: (A * t0 * 8 + B * t1) floordiv 12, (A * t0 * 8 + B * t1) mod 12;
        sizes: (A * B + 11) floordiv 12, min(A * B, 12); strides: 1, 1;
        mask: (A * t0 + (i0 * 12 + i1) floordiv B < 6 and B * t1 + (i0 * 12 + i1) mod B < 8);
        constraints: 4 mod B in [0, 0] && A in [1, 1] || A mod 3 in [0, 0] && B in [8, 8]""",
    ),
    "a split sum whose rows are cut off": (
        """(d0, d1) -> ((d0 * 8 + d1) floordiv 12, (d0 * 8 + d1) mod 12), domain: d0 in [0, 4],
        d1 in [0, 7]""",
        """offsets: (A * t0 * 8 + B * t1) floordiv 12, (A * t0 * 8 + B * t1) mod 12;
        sizes: (A * B + 11) floordiv 12, min(A * B, 12); strides: 1, 1;
        mask: (i0 * 12 + i1 < A * B and A * t0 + (i0 * 12 + i1) floordiv B < 5 and
        B * t1 + (i0 * 12 + i1) mod B < 8);
        constraints: 4 mod B in [0, 0] && A in [1, 1] || A in [5, 5] && B in [8, 8] ||
        A mod 3 in [0, 0] && B in [8, 8]""",
    ),
    "a range that begins anywhere": (
        "()[s0]<N> -> (s0 floordiv 4), domain: s0 in [N, N + 3], N in [0, 9]",
        "offsets: N floordiv 4; sizes: 2; strides: 1; mask: (i0 * 4 != N mod 4 + 4)",
    ),
    "a range twice": (
        "(d0)[s0] -> (d0, s0, s0), domain: d0 in [0, 9], s0 in [0, 9]",
        """offsets: A * t0, 0, 0; sizes: A, 10, 10; strides: 1, 1, 1;
        mask: (A > i0 and A * t0 + i0 < 10 and i1 == i2)""",
    ),
    "a parameter": (
        "(d0)<N> -> (d0), domain: d0 in [0, N - 1], N in [0, inf]",
        "offsets: A * t0; sizes: A; strides: 1; mask: (N > A * t0 + i0)",
    ),
}


NUMBERS: dict[str, tuple[str, list[int], str]] = {
    "the address of a tile of rows": (
        "(d0, d1) -> (d0 * 16 + d1), domain: d0 in [0, 5], d1 in [0, 15]",
        [2, 8],
        "offsets: t0 * 32 + t1 * 8; sizes: 24; strides: 1; mask: (i0 mod 16 < 8)",
    ),
    "narrow rows": (
        "(d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 5], d1 in [0, 7]",
        [2, 4],
        "offsets: t0 * 16 + t1 * 4; sizes: 12; strides: 1; mask: (i0 mod 8 < 4)",
    ),
    "flat blocks over odd rows": (
        "(d0) -> (d0 floordiv 911, d0 mod 911), domain: d0 in [0, 9109]",
        [128],
        """offsets: (t0 * 128) floordiv 911, 0; sizes: 2, 911; strides: 1, 1;
        mask: (i0 * 911 + t0 * 128 < 9110 and i0 * 911 + i1 < (t0 * 128) mod 911 + 128 and
        i0 * 911 + i1 >= (t0 * 128) mod 911)""",
    ),
    "blocks that fit no row": (
        "(d0) -> (d0 floordiv 6, d0 mod 6), domain: d0 in [0, 47]",
        [8],
        """offsets: (t0 * 4) floordiv 3, 0; sizes: 2, 6; strides: 1, 1;
        mask: (i0 * 6 + i1 < (t0 mod 3) * 2 + 8 and i0 * 6 + i1 >= (t0 mod 3) * 2)""",
    ),
    "a range of digits that begins anywhere": (
        "()[s0]<N> -> (s0 floordiv 4, s0 mod 4), domain: s0 in [N, N + 3], N in [0, 9]",
        [],
        """offsets: N floordiv 4, 0; sizes: 2, 4; strides: 1, 1;
        mask: (i0 * 4 + i1 < N mod 4 + 4 and i0 * 4 + i1 >= N mod 4)""",
    ),
    "a diagonal": (
        "(d0) -> (d0, d0), domain: d0 in [0, 9]",
        [5],
        "offsets: t0 * 5, t0 * 5; sizes: 5, 5; strides: 1, 1; mask: (i0 == i1)",
    ),
    "all residues": (
        "(d0) -> (d0 mod 6), domain: d0 in [0, 47]",
        [8],
        "offsets: 0; sizes: 6; strides: 1",
    ),
    "rows that overlap": (
        "(d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 4], d1 in [0, 15]",
        [1, 4],
        "offsets: t0 * 8 + t1 * 4; sizes: 4; strides: 1",
    ),
    "a swizzle": (
        "(d0, d1) -> (d0 * 8 + bitxor(d1, d0)), domain: d0 in [0, 7], d1 in [0, 7]",
        [4, 8],
        "offsets: t0 * 32; sizes: 32; strides: 1",
    ),
    "sums of residues": (
        "(d0, d1) -> (d0 mod 4 + (d1 mod 5) * 2), domain: d0 in [0, 5], d1 in [0, 9]",
        [3, 4],
        """offsets: 0; sizes: 12; strides: 1; elements: those of
        (d0, d1){t0, t1} -> ((d1 mod 5) * 2 + d0 mod 4), domain: d0 in [0, 5], d1 in [0, 9],
        t0 in [0, 1], t1 in [0, 2], d0 - t0 * 3 in [0, 2], d1 - t1 * 4 in [0, 3]""",
    ),
}


@pytest.mark.parametrize(("text", "sizes", "shown"), NUMBERS.values(), ids=NUMBERS)
def test_numbers_always_have_a_tile(text: str, sizes: list[int], shown: str) -> None:
    indexing = parse_map(text)
    assert str(indexing.tile(sizes)).replace("\n", "; ").split() == shown.split()
    if prod(extents(indexing)) < 100 and not indexing.parameters:
        _check_numbers(indexing, sizes)


def test_elements_that_no_mask_tells() -> None:
    sums = "(d0)[s0]{rt0} -> (d0 mod 4 + (s0 mod 2) * 2 + rt0), "
    tile = parse_map(sums + "domain: d0 in [0, 6], s0 in [0, 2], rt0 in [0, 3]").tile([3])
    assert tile.offsets == (symbol("rt0"),)
    assert [*tile.elements([2], [2])] == [(4,), (6,)]
    with pytest.raises(TileError, match="mask: no condition tells the elements of the box"):
        _ = tile.mask
    with pytest.raises(TileError, match=re.escape("elements: ids[0] is 3; expected 0 to 2")):
        tile.elements([3], [0])


@pytest.mark.parametrize(("text", "shown"), TILES.values(), ids=TILES)
def test_by_hand(text: str, shown: str) -> None:
    indexing = parse_map(text)
    tile = indexing.tile(symbolic_sizes(indexing))
    assert str(tile).replace("\n", "; ").split() == shown.split()
    if not indexing.parameters:
        _check(indexing)


def test_divisibility_is_decided_by_facts() -> None:
    rows = parse_map("(d0) -> (d0 floordiv 6, d0 mod 6), domain: d0 in [0, 47]")
    size = symbol("T")
    assert rows.tile([6 * size]).constraints.is_always_satisfied
    assert rows.tile([size], [sympy.Eq(Mod(size, 12), 0)]).constraints.is_always_satisfied
    assert not rows.tile([size]).constraints.is_always_satisfied


def test_constraints_of_many_ranks_are_few() -> None:
    rank = 24
    total = sum(symbol(f"d{axis}") * 2 ** (rank - 1 - axis) for axis in range(rank))
    merged = IndexingMap.from_sizes([total], dims=[2] * rank)
    sizes = [symbol(f"T{axis}") for axis in range(rank)]
    (clause,) = merged.tile(sizes).constraints.clauses
    assert len(clause) == rank * (rank + 1) // 2
    pairs = ops.reshape((4,) * 12, (2,) * rank).output_to_input[0].tile(sizes).constraints
    assert [len(clause) for clause in pairs.clauses] == [3] * 12


LINE = "(d0) -> (d0), domain: d0 in [0, 9]"
SUMS = "(d0)[s0] -> (d0 + s0 mod 4 + (s0 mod 5) * 2), domain: d0 in [0, 9], s0 in [0, 9]"

REFUSED: dict[str, tuple[str, list[Any], str]] = {
    "sums of residues": (SUMS, [symbol("T")], "depend on each other; expected digits"),
    "zero": (LINE, [0], "sizes[0] is 0; expected 1 to 10, the size of d0"),
    "beyond": (LINE, [11], "sizes[0] is 11; expected 1 to 10"),
    "too few": (LINE, [], "0 sizes are given; expected 1, one for each dimension"),
    "no number": (LINE, [1.5], "sizes[0] is 1.5; expected an integer or an expression"),
    "reserved": (LINE, [symbol("t0")], "uses the name 't0'; expected another"),
    "no end": ("()[s0] -> (s0), domain: s0 in [0, inf]", [], "s0 is not bounded"),
    "no beginning": ("(d0) -> (d0), domain: d0 in [-inf, 9]", [1], "d0 has no lower bound"),
    "a number and a symbol that fit no tile": (
        "(d0, d1) -> ((d0 mod 3) * 2 + d1 mod 5, d0 mod 4), domain: d0 in [0, 5], d1 in [0, 7]",
        [2, symbol("B")],
        "|| B mod 5 in [0, 0]) && d0 in [1, 1], where d0 is 2",
    ),
}


@pytest.mark.parametrize(("text", "sizes", "message"), REFUSED.values(), ids=REFUSED)
def test_refused(text: str, sizes: list[Any], message: str) -> None:
    with pytest.raises(TileError, match=re.escape(message)):
        parse_map(text).tile(sizes)


MERGED = "(d0, d1) -> ((d0 * 6 + d1) floordiv 3), domain: d0 in [0, 1], d1 in [0, 5]"

MISFITS: dict[str, tuple[dict[str, int], str]] = {
    "tile-size-too-large": ({"T": 3, "K": 3}, "T is 3; expected 1 to 2, the size of d0"),
    "tile-size-zero": ({"T": 0, "K": 3}, "T is 0; expected 1 to 2, the size of d0"),
    "below zero": ({"T": -1, "K": 3}, "T is -1; expected 1 to 2, the size of d0"),
    "of an expression": ({"T": 2, "K": 7}, "K * 2 - 6 is 8; expected 1 to 6, the size of d1"),
}


@pytest.mark.parametrize(("sizes", "message"), MISFITS.values(), ids=MISFITS)
def test_a_size_fits_into_its_dimension(sizes: dict[str, int], message: str) -> None:
    tile = parse_map(MERGED).tile([symbol("T"), symbol("K") * 2 - 6])
    assert not tile.constraints.satisfied(sizes)
    assert tile.constraints.reason(sizes) == message
    with pytest.raises(TileError, match=re.escape(f"tile: {message}")):
        tile.substitute(sizes)


@given(maps(), st.data())
def test_sizes_fit_if_and_only_if_numbers_do(indexing: IndexingMap, data: st.DataObject) -> None:
    """Symbols refuse what numbers refuse, one by one and in arrays."""
    try:
        tile = indexing.tile(symbolic_sizes(indexing))
    except TileError:
        return
    drawn = [
        data.draw(st.lists(st.integers(-1, n + 2), min_size=3, max_size=3))
        for n in extents(indexing)
    ]
    for sizes in islice(product(*drawn), 4):
        fits = all(map(_fits, sizes, extents(indexing)))
        assert tile.constraints.satisfied(named(indexing, sizes)) <= fits
        if not fits:
            with pytest.raises(TileError, match="expected 1 to"):
                tile.substitute(named(indexing, sizes))
    columns = [np.array(each).reshape(-1, *(1,) * at) for at, each in enumerate(drawn)]
    found = tile.constraints.satisfied(dict(zip(SIZES, columns, strict=False)))
    shape = [len(each) for each in reversed(drawn)]
    for places in product(*map(range, shape)):
        sizes = [each[place] for each, place in zip(drawn, reversed(places), strict=True)]
        expected = tile.constraints.satisfied(named(indexing, sizes))
        assert np.broadcast_to(found, shape)[places] == expected


def _fits(size: int, extent: int) -> bool:
    return 1 <= size <= extent


def test_questions_to_a_tile_with_symbols() -> None:
    tile = parse_map("(d0) -> (d0), domain: d0 in [0, 9]").tile([symbol("T")])
    with pytest.raises(TileError, match="elements: the sizes have the symbols T; expected numbers"):
        tile.elements([0])
    with pytest.raises(TileError, match="substitute: there is no size T; expected one"):
        tile.substitute({})
    with pytest.raises(TileError, match=re.escape("elements: ids[0] is 3; expected 0 to 2")):
        tile.substitute({"T": 4}).elements([3])
    with pytest.raises(TileError, match="elements: 2 ids are given; expected 1"):
        tile.substitute({"T": 4}).elements([1, 1])


def test_elements_are_those_that_are_touched() -> None:
    sliced = parse_map("(d0){rt0} -> (d0 * 2 + rt0), domain: d0 in [0, 9], rt0 in [0, 3]")
    tile = sliced.tile([4])
    assert list(tile.elements([2], [3])) == [(19,), (21,)]
    with pytest.raises(TileError, match="elements: 0 runtime values; expected 1"):
        tile.elements([2])


def test_an_undefined_map_has_no_tile() -> None:
    with pytest.raises(ValueError, match="the map is undefined: why"):
        UndefinedMap("why").tile([])


def test_a_tile_is_a_value() -> None:
    rows = parse_map("(d0) -> (d0 floordiv 6, d0 mod 6), domain: d0 in [0, 47]")
    assert rows.tile([6]) == rows.tile([6])
    assert hash(rows.tile([6])) == hash(rows.tile([6]))
    assert rows.tile([6]).mask is None
