"""Symbolic tiles against enumeration: random maps, chains of operations, and XLA's own cases."""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Iterator, Mapping, Sequence
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
from indexing import IndexingMap, MapError, Tile, TileConstraints, TileError, parse_map
from ops import hlo, output_to_input, parameter_indexing
from simplifier import Interval, Mod, TextError, symbol
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import Form
from simplifier.expr.operations import substitute
from simplifier.expr.sympy import from_sympy
from simplifier.expr.text import parse_form
from tests.conformance import Row, for_each, rows_of
from tests.extent import IN_CI, part, seldom
from tests.fusion.units import entry
from tests.indexing.tables import each_named, evaluated, refusals
from tests.ops.answers import known, only
from tests.strategies import index_maps, maps
from tests.tiling.random_fusions import fusions

MAX_SIZES = 6
"""Random sizes at which one map is enumerated."""


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


def _check(indexing: IndexingMap) -> None:
    """A tile is exact at all sizes that meet its constraints; a number that fits no tile fails."""
    tile = indexing.tile(symbolic_sizes(indexing))
    candidates = list(all_sizes(indexing))
    Random(0).shuffle(candidates)  # noqa: S311 - the same sizes each time
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


def _check_found(indexing: IndexingMap) -> None:
    try:
        indexing.tile(symbolic_sizes(indexing))
    except TileError:
        assert indexing.ranges  # tiles of one element are always found
        return
    _check(indexing)


def _pairs_of_factors(total: int) -> list[tuple[int, int]]:
    return [(n, total // n) for n in range(1, total + 1) if total % n == 0]


@st.composite
def _chains(draw: st.DrawFn, programs: st.SearchStrategy[str]) -> IndexingMap:
    """A map from the result of a program to its first parameter."""
    main = entry(draw(programs)).entry
    found = known(parameter_indexing(main.root)[main.parameters[0]])
    chain = draw(st.sampled_from([each.map for each in found])).simplify()
    assume(not chain.is_known_empty and chain.dims and prod(extents(chain)) < 2000)
    return chain


SPLIT_AGAIN = fusions(
    [pair for total in (12, 24, 30, 36, 48) for pair in _pairs_of_factors(total)],
    ["reshape", "reshape", "transpose", "reverse"],
)
"""Reshapes whose sizes do not divide each other, with transposes and reverses between."""

DRAWN = {
    "reshapes": (index_maps(), _check),
    "sums that are split again": (_chains(SPLIT_AGAIN), _check),
    "any maps": (maps(), _check_found),
    "chains of operations": (_chains(fusions()), _check_found),
}


@pytest.mark.parametrize("kind", DRAWN)
@seldom
@given(data=st.data())
def test_tiles_of_random_maps(kind: str, data: st.DataObject) -> None:
    drawn, check = DRAWN[kind]
    check(data.draw(drawn))


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


def _map(row: Row) -> IndexingMap:
    """The map of a row: as given, or of the root of a module."""
    if "map" in row:
        return parse_map(row["map"])
    operand: int = row["operand"]
    return only(output_to_input(hlo.parse(row["hlo"]).entry.root).indexing[operand]).map


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
    keys = "offset_map", "size_map", "stride_map"
    formulas = [parse_map(expected[key], unbounded=True) for key in keys]
    indexing = _map(row)
    tile = indexing.tile(symbolic_sizes(indexing))
    compared = 0
    for sizes in islice(_some_sizes(indexing), 400 if IN_CI else 100):
        theirs = {f"d{number}": size for number, size in enumerate(sizes)}
        if not constraints.satisfied(theirs):
            continue
        compared += 1
        ours = tile.substitute(by_symbol(indexing, sizes)).formulas.results
        offsets, counts, strides = (f.evaluate(sizes, [0] * len(f.ranges)) for f in formulas)
        assert len(offsets) == len(ours)
        for mine, start, count, step in zip(ours, offsets, counts, strides, strict=True):
            offset, size, stride = mine
            progression = {start + step * place for place in range(count)}
            first = _at_zero(offset)
            assert {first + stride.constant * at for at in range(size.constant)} == progression
    assert compared


def _at_zero(offset: Form) -> int:
    """An offset of the first tile, where all runtime variables are zero."""
    zeros = dict.fromkeys(forms.variables_of((offset,)), forms.ZERO)
    return operations.substitute((offset,), zeros)[0].constant


@for_each(_TILES)
def test_tiles_of_xlas_cases_by_enumeration(row: Row) -> None:
    indexing = _map(row)
    tile = indexing.tile(symbolic_sizes(indexing))
    assert tile.constraints.satisfied(by_symbol(indexing, [1] * len(indexing.dims)))
    bounds = [each.bounds.size or 0 for each in indexing.domain]
    if prod(bounds) > 20_000:
        pytest.skip("more points than are enumerated")
    several = [by_symbol(indexing, sizes) for sizes in islice(_some_sizes(indexing), 400)]
    several = [sizes for sizes in several if tile.constraints.satisfied(sizes)]
    Random(0).shuffle(several)  # noqa: S311 - the same sizes each time
    for sizes in several[:3]:
        _check_at(indexing, tile, sizes)


def test_strides_of_a_split_reshape_are_as_xla_evaluates_them() -> None:
    (row,) = rows_of("tile", id="split_reshape")
    indexing = _map(row)
    tile = indexing.tile(symbolic_sizes(indexing))
    for sizes, strides in row["stride_evaluations"]:
        assert list(tile.substitute(by_symbol(indexing, sizes)).strides) == strides


def test_tiles_of_reversed_and_combined_reshapes() -> None:
    """XLA claims 23, 22, ..., -24 here."""
    (row,) = (each for each in _TILES if each["id"] in _WRONG_IN_XLA)
    tile = parse_map(row["source_map"]).tile([2, 4, 6, 4])
    assert str(tile.elements([0, 0, 0, 0])) == "(d0, d1): d0 in [0, 47], d1 in [0, 3]"


# a map => sizes => its tile
@each_named("""
the address of a tile of rows: (d0 < 6, d1 < 16) -> (d0 * 16 + d1) => [2, 8]
    offsets: t0 * 32 + t1 * 8; sizes: 24; strides: 1; mask: (i0 mod 16 < 8)
narrow rows: (d0 < 6, d1 < 8) -> (d0 * 8 + d1) => [2, 4]
    offsets: t0 * 16 + t1 * 4; sizes: 12; strides: 1; mask: (i0 mod 8 < 4)
flat blocks over odd rows: (d0 < 9110) -> (d0 floordiv 911, d0 mod 911) => [128]
    offsets: (t0 * 128) floordiv 911, 0; sizes: 2, 911; strides: 1, 1; mask: (i0 * 911 + t0 * 128 <
        9110 and i0 * 911 + i1 < (t0 * 128) mod 911 + 128 and i0 * 911 + i1 >= (t0 * 128) mod 911)
blocks that fit no row: (d0 < 48) -> (d0 floordiv 6, d0 mod 6) => [8]
    offsets: (t0 * 4) floordiv 3, 0; sizes: 2, 6; strides: 1, 1; mask: (i0 * 6 + i1 < (t0 mod 3) * 2
        + 8 and i0 * 6 + i1 >= (t0 mod 3) * 2)
a range of digits that begins anywhere: ()[s0 in [N, N + 3]]<N < 10> -> (s0 floordiv 4, s0 mod 4)
    []
    offsets: N floordiv 4, 0; sizes: 2, 4; strides: 1, 1; mask: (i0 * 4 + i1 < N mod 4 + 4 and i0 *
        4 + i1 >= N mod 4)
a diagonal: (d0 < 10) -> (d0, d0) => [5]
    offsets: t0 * 5, t0 * 5; sizes: 5, 5; strides: 1, 1; mask: (i0 == i1)
all residues: (d0 < 48) -> (d0 mod 6) => [8] => offsets: 0; sizes: 6; strides: 1
rows that overlap: (d0 < 5, d1 < 16) -> (d0 * 8 + d1) => [1, 4]
    offsets: t0 * 8 + t1 * 4; sizes: 4; strides: 1
a swizzle: (d0 < 8, d1 < 8) -> (d0 * 8 + bitxor(d1, d0)) => [4, 8]
    offsets: t0 * 32; sizes: 32; strides: 1
sums of residues: (d0 < 6, d1 < 10) -> (d0 mod 4 + (d1 mod 5) * 2) => [3, 4]
    offsets: 0; sizes: 12; strides: 1; elements: those of (d0, d1){t0, t1} -> ((d1 mod 5) * 2 + d0
        mod 4), domain: d0 in [0, 5], d1 in [0, 9], t0 in [0, 1], t1 in [0, 2], d0 - t0 * 3 in [0,
        2], d1 - t1 * 4 in [0, 3]
""")
def test_numbers_always_have_a_tile(text: str, numbers: str, shown: str) -> None:
    indexing, sizes = parse_map(text), literal_eval(numbers)
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


# a map => its tile, for sizes that are symbols
@each_named("""
concatenation at any offset: (d0 in [5, 15]) -> (d0 - 5)
    offsets: A * t0 - 5; sizes: A; strides: 1; mask: (A * t0 + i0 < 16 and A * t0 + i0 >= 5)
interior padding: (d0 < 10) -> (d0 floordiv 3), domain: d0 mod 3 in [0, 0]
    offsets: (A * t0 + 2) floordiv 3; sizes: (A + 2) floordiv 3; strides: 1; mask: (A * t0 + i0 * 3
        < 10 and A > i0 * 3 + (A * t0 * 2) mod 3)
a minimum: (d0 < 10) -> (min(d0, 7))
    offsets: min(A * t0, 7); sizes: A; strides: 1; mask: (i0 < max(min(A, -(A * t0) + 8), 1))
overlapping windows: (d0 < 10)[s0 < 3] -> (d0 * 2 + s0)
    offsets: A * t0 * 2; sizes: A * 2 + 1; strides: 1; mask: (i0 <= min(A, -(A * t0) + 10) * 2)
a diagonal has tiles of one element: (d0 < 10) -> (d0, d0)
    offsets: A * t0, A * t0; sizes: 1, 1; strides: 0, 0; constraints: A in [1, 1]
a sum that is split again: (d0 < 6, d1 < 8) -> ((d0 * 8 + d1) floordiv 12, (d0 * 8 + d1) mod 12)
    offsets: (A * t0 * 8 + B * t1) floordiv 12, (A * t0 * 8 + B * t1) mod 12; sizes: (A * B + 11)
        floordiv 12, min(A * B, 12); strides: 1, 1; mask: (A * t0 + (i0 * 12 + i1) floordiv B < 6
        and B * t1 + (i0 * 12 + i1) mod B < 8); constraints: 4 mod B in [0, 0] && A in [1, 1] || A
        mod 3 in [0, 0] && B in [8, 8]
a split sum whose rows are cut off: (d0 < 5, d1 < 8) -> ((d0 * 8 + d1) floordiv 12, (d0 * 8 + d1)
        mod 12)
    offsets: (A * t0 * 8 + B * t1) floordiv 12, (A * t0 * 8 + B * t1) mod 12; sizes: (A * B + 11)
        floordiv 12, min(A * B, 12); strides: 1, 1; mask: (i0 * 12 + i1 < A * B and A * t0 + (i0 *
        12 + i1) floordiv B < 5 and B * t1 + (i0 * 12 + i1) mod B < 8); constraints: 4 mod B in [0,
        0] && A in [1, 1] || A in [5, 5] && B in [8, 8] || A mod 3 in [0, 0] && B in [8, 8]
a range that begins anywhere: ()[s0 in [N, N + 3]]<N < 10> -> (s0 floordiv 4)
    offsets: N floordiv 4; sizes: 2; strides: 1; mask: (i0 * 4 != N mod 4 + 4)
a range twice: (d0 < 10)[s0 < 10] -> (d0, s0, s0)
    offsets: A * t0, 0, 0; sizes: A, 10, 10; strides: 1, 1, 1; mask: (A > i0 and A * t0 + i0 < 10
        and i1 == i2)
a parameter: (d0 < N)<N in [0, inf]> -> (d0)
    offsets: A * t0; sizes: A; strides: 1; mask: (N > A * t0 + i0)
""")
def test_by_hand(text: str, shown: str) -> None:
    indexing = parse_map(text)
    tile = indexing.tile(symbolic_sizes(indexing))
    assert str(tile).replace("\n", "; ").split() == shown.split()
    if not indexing.parameters:
        _check(indexing)


ROWS_OF_6 = parse_map("(d0) -> (d0 floordiv 6, d0 mod 6), domain: d0 in [0, 47]")


def test_divisibility_is_decided_by_facts() -> None:
    size = symbol("T")
    assert ROWS_OF_6.tile([6 * size]).constraints.is_always_satisfied
    assert ROWS_OF_6.tile([size], [sympy.Eq(Mod(size, 12), 0)]).constraints.is_always_satisfied
    assert not ROWS_OF_6.tile([size]).constraints.is_always_satisfied


def test_constraints_of_many_ranks_are_few() -> None:
    rank = 24
    total = sum(symbol(f"d{axis}") * 2 ** (rank - 1 - axis) for axis in range(rank))
    merged = IndexingMap.from_sizes([total], dims=[2] * rank)
    sizes = [symbol(f"T{axis}") for axis in range(rank)]
    (clause,) = merged.tile(sizes).constraints.clauses
    assert len(clause) == rank * (rank + 1) // 2
    pairs = ops.reshape((4,) * 12, (2,) * rank).output_to_input[0].tile(sizes).constraints
    assert [len(clause) for clause in pairs.clauses] == [3] * 12


# a map => sizes => what is said
@each_named("""
sums of residues: (d0 < 10)[s0 < 10] -> (d0 + s0 mod 4 + (s0 mod 5) * 2) => [symbol("T")]
    depend on each other; expected digits
zero: (d0 < 10) -> (d0) => [0] => sizes[0] is 0; expected 1 to 10, the size of d0
beyond: (d0 < 10) -> (d0) => [11] => sizes[0] is 11; expected 1 to 10
too few: (d0 < 10) -> (d0) => [] => 0 sizes are given; expected 1, one for each dimension
no number: (d0 < 10) -> (d0) => [1.5] => sizes[0] is 1.5; expected an integer or an expression
reserved: (d0 < 10) -> (d0) => [symbol("t0")] => uses the name 't0'; expected another
no end: ()[s0 in [0, inf]] -> (s0) => [] => s0 is not bounded
no beginning: (d0 in [-inf, 9]) -> (d0) => [1] => d0 has no lower bound
a number and a symbol that fit no tile: (d0 < 6, d1 < 8) -> ((d0 mod 3) * 2 + d1 mod 5, d0 mod 4)
    [2, symbol("B")] => || B mod 5 in [0, 0]) && d0 in [1, 1], where d0 is 2
""")
def test_refused(text: str, sizes: str, message: str) -> None:
    with pytest.raises(TileError, match=re.escape(message)):
        parse_map(text).tile(evaluated(sizes, {}))


MERGED = "(d0, d1) -> ((d0 * 6 + d1) floordiv 3), domain: d0 in [0, 1], d1 in [0, 5]"


@each_named("""
tile-size-too-large: {"T": 3, "K": 3} => T is 3; expected 1 to 2, the size of d0
tile-size-zero: {"T": 0, "K": 3} => T is 0; expected 1 to 2, the size of d0
below zero: {"T": -1, "K": 3} => T is -1; expected 1 to 2, the size of d0
of an expression: {"T": 2, "K": 7} => K * 2 - 6 is 8; expected 1 to 6, the size of d1
""")
def test_a_size_fits_into_its_dimension(given_sizes: str, message: str) -> None:
    sizes = literal_eval(given_sizes)
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
    lists = [st.lists(st.integers(-1, n + 2), min_size=3, max_size=3) for n in extents(indexing)]
    drawn = [*map(data.draw, lists)]
    for sizes in islice(product(*drawn), 4):
        fits = all(1 <= size <= n for size, n in zip(sizes, extents(indexing), strict=True))
        assert tile.constraints.satisfied(by_symbol(indexing, sizes)) <= fits
        if not fits:
            with pytest.raises(TileError, match="expected 1 to"):
                tile.substitute(by_symbol(indexing, sizes))
    columns = [np.array(each).reshape(-1, *(1,) * at) for at, each in enumerate(drawn)]
    found = tile.constraints.satisfied(dict(zip(SIZES, columns, strict=False)))
    shape = [len(each) for each in reversed(drawn)]
    for places in product(*map(range, shape)):
        sizes = [each[place] for each, place in zip(drawn, reversed(places), strict=True)]
        expected = tile.constraints.satisfied(by_symbol(indexing, sizes))
        assert np.broadcast_to(found, shape)[places] == expected


TILE = parse_map("(d0) -> (d0), domain: d0 in [0, 9]").tile([symbol("T")])
SLICE = parse_map("(d0){rt0} -> (d0 * 2 + rt0), domain: d0 in [0, 9], rt0 in [0, 3]").tile([4])
test_wrong_calls = refusals(globals(), TileError, ValueError)("""
TILE.elements([0]) => elements: the sizes have the symbols T; expected numbers
TILE.substitute({}) => substitute: there is no size T; expected one
TILE.substitute({"T": 4}).elements([3]) => elements: ids[0] is 3; expected 0 to 2
TILE.substitute({"T": 4}).elements([1, 1]) => elements: 2 ids are given; expected 1
SLICE.elements([2]) => elements: 0 runtime values; expected 1
UndefinedMap("why").tile([]) => the map is undefined: why
""")


def test_elements_are_those_that_are_touched() -> None:
    assert list(SLICE.elements([2], [3])) == [(19,), (21,)]


def test_a_tile_is_a_value() -> None:
    assert ROWS_OF_6.tile([6]) == ROWS_OF_6.tile([6])
    assert hash(ROWS_OF_6.tile([6])) == hash(ROWS_OF_6.tile([6]))
    assert ROWS_OF_6.tile([6]).mask is None


# Tiles by enumeration: what a map touches from a tile, and what the formulas say.

Index = tuple[int, ...]

SIZES = ("A", "B", "C", "D", "E", "F")
"""The names of sizes, one for each dimension."""


def symbolic_sizes(indexing: IndexingMap) -> list[sympy.Expr]:
    return [symbol(name) for name in SIZES[: len(indexing.dims)]]


def all_sizes(indexing: IndexingMap) -> Iterator[dict[str, int]]:
    for sizes in product(*(range(1, extent + 1) for extent in extents(indexing))):
        yield by_symbol(indexing, sizes)


def by_symbol(indexing: IndexingMap, sizes: Sequence[int]) -> dict[str, int]:
    return dict(zip(SIZES[: len(indexing.dims)], sizes, strict=True))


def extents(indexing: IndexingMap) -> list[int]:
    """From where tiles are counted to the greatest index of each dimension."""
    bounds = (dim.bounds for dim in indexing.dims)
    return [(each.upper or 0) + 1 - min(each.lower or 0, 0) for each in bounds]


def touched(indexing: IndexingMap, sizes: Sequence[int]) -> dict[tuple[Index, Index], set[Index]]:
    """What each tile touches for each value of the runtime variables."""
    origins = [min(dim.bounds.lower or 0, 0) for dim in indexing.dims]
    found: dict[tuple[Index, Index], set[Index]] = {}
    for dims, _, runtime, results in indexing.points():
        rows = zip(dims, origins, sizes, strict=True)
        ids = tuple((value - origin) // size for value, origin, size in rows)
        found.setdefault((ids, runtime), set()).add(tuple(results))
    return found


def described(tile: Tile, sizes: Mapping[str, int], ids: Index, runtime: Index) -> set[Index]:
    """The elements that the formulas of a tile give."""
    values = {name: forms.constant(value) for name, value in sizes.items()}
    values |= {f"t{number}": forms.constant(value) for number, value in enumerate(ids)}
    values |= {f"rt{number}": forms.constant(value) for number, value in enumerate(runtime)}
    rows = [operations.substitute(row, values) for row in tile.formulas.results]
    (mask,) = operations.substitute((tile.formulas.condition,), values)
    elements: set[Index] = set()
    for places in product(*(range(size.constant) for _, size, _ in rows)):
        here = {f"i{number}": forms.constant(place) for number, place in enumerate(places)}
        (holds,) = operations.substitute((mask,), here)
        if holds.constant:
            index = zip(rows, places, strict=True)
            elements.add(tuple(o.constant + s.constant * at for (o, _, s), at in index))
    return elements


def grid(indexing: IndexingMap, sizes: Sequence[int]) -> Iterator[Index]:
    pairs = zip(extents(indexing), sizes, strict=True)
    return product(*(range(-(-extent // size)) for extent, size in pairs))


# Constraints on tile sizes: their text, normal form, and values.

PAIRS = {"a": np.arange(1, 13)[:, None], "b": np.arange(1, 13)[None, :]}
"""All pairs of small sizes."""

FORMS = ("a", "b", "6 mod a", "a mod 4", "8 mod b", "(a + 3) floordiv 4")


@for_each([row for row in rows_of("tile", kind="constraint_expression") if row["expected"]])
def test_as_xla(row: Row) -> None:
    found = TileConstraints.parse(row["expr"])
    assert TileConstraints.parse(str(found)) == found
    if row["id"] == "dedup_no_subsumption":  # we leave out what another part says
        assert str(found) == "v0 in [0, 0]"
    else:
        assert str(found.expanded()) == row["expected"]


def test_satisfied_as_xla() -> None:
    (row,) = (r for r in rows_of("tile", kind="constraint_expression") if not r["expected"])
    constraints = TileConstraints.parse(row["expr"])
    for (first, second), satisfied in row["satisfied"]:
        assert constraints.satisfied({"v0": first, "v1": second}) is satisfied


@each_named("""
parentheses around an expression: (a + 1) mod 3 in [0, 0] => (a + 1) mod 3 in [0, 0]
parentheses around constraints: ( a in [1, 2] ) => a in [1, 2]
nested: ((a in [1, 1] || (b in [2, 2] && a in [3, 3])) && b in [2, 5])
    (a in [1, 1] || a in [3, 3] && b in [2, 2]) && b in [2, 5]
a part that is implied: a in [1, 9] || a in [2, 3] && b in [1, 1] => a in [1, 9]
a part that is excluded: (a in [1, 2] || b in [1, 1]) && b in [2, 9] => a in [1, 2] && b in [2, 9]
words: always  satisfied => always satisfied
never: unsatisfiable => unsatisfiable
open ends: a in [2, inf] => a in [2, inf]
""")
def test_text(text: str, expected: str) -> None:
    assert str(TileConstraints.parse(text)) == expected


TWO = TileConstraints.parse("a in [1, 1] || b in [1, 1]")
MANY = TileConstraints.parse(" && ".join(f"(a{k} in [1, 1] || b{k} in [1, 1])" for k in range(13)))
test_wrong_texts_and_sizes = refusals(globals(), TextError, MapError, TileError)("""
TileConstraints.parse("a mod 6 && b in [1, 1]")
    TextError: 1:9: expected 'in' before an interval, but found
TileConstraints.parse("a in [1, 1] ||") => 1:15: expected an expression, but the text ends
TileConstraints.parse("a in [1, 1] | b in [1, 1]") => 1:13: unexpected character '|'
TileConstraints.parse("(a in [1, 1] || b in [1, 1]") => expected
TWO.satisfied({"a": 1}) => TileError: satisfied: there is no size b; expected one
TWO.satisfied({"a": 1, "b": "x"}) => MapError: satisfied: b has the value 'x'
MANY.alternatives() => the constraints have 8192; expected at most 4096
""")


@st.composite
def _constraints(draw: st.DrawFn, depth: int = 3) -> tuple[TileConstraints, Any]:
    """Constraints, and whether all pairs of sizes meet them, computed beside."""
    if depth and draw(st.booleans()):
        (left, holds), (right, other) = draw(_constraints(depth - 1)), draw(_constraints(depth - 1))
        both, either = (left & right, holds & other), (left | right, holds | other)
        return both if draw(st.booleans()) else either
    text, lower = draw(st.sampled_from(FORMS)), draw(st.integers(0, 5))
    width = draw(st.integers(0, 4))
    limit = TileConstraints.limit(parse_form(text), Interval(lower, lower + width))
    values = evaluated(text.replace("mod", "%").replace("floordiv", "//"), PAIRS)
    return limit, np.broadcast_to((lower <= values) & (values <= lower + width), (12, 12))


@given(_constraints())
def test_combined(pair: tuple[TileConstraints, Any]) -> None:
    constraints, holds = pair
    for each in (constraints, constraints.expanded(), TileConstraints.parse(str(constraints))):
        found = np.broadcast_to(each.satisfied(PAIRS), (12, 12))
        assert np.array_equal(found, holds)
    for a, b in product((1, 4, 7), repeat=2):
        reason = constraints.reason({"a": a, "b": b})
        assert (reason is None) == bool(np.asarray(holds)[a - 1, b - 1])


def test_conditions_are_sympys() -> None:
    constraints = TileConstraints.parse("6 mod a in [0, 0] || b in [2, 4]")
    (condition,) = constraints
    form = from_sympy(condition)
    for a, b in product(range(1, 13), repeat=2):
        (holds,) = substitute([form], {"a": forms.constant(a), "b": forms.constant(b)})
        assert bool(holds.constant) == constraints.satisfied({"a": a, "b": b})


def test_a_form_without_symbols_is_decided() -> None:
    assert TileConstraints.limit(forms.constant(3), Interval(0, 2)).is_unsatisfiable
    assert TileConstraints.limit(forms.constant(2), Interval(0, 2)).is_always_satisfied
