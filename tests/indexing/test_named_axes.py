"""Patterns of einops and strings of einsum, beside einops and NumPy."""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Mapping, Sequence
from importlib import import_module
from itertools import pairwise, product
from math import prod
from typing import Any, TypeAlias

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from indexing import IndexingMap, MapError, from_einops, from_einsum, parse_map, to_einsum
from simplifier import TextError, symbol
from simplifier.errors import ArgumentError
from tests.cases import for_all
from tests.indexing.tables import each_row, errors_in, refusals

Array = np.ndarray[Any, np.dtype[Any]]
Sizes: TypeAlias = "dict[str, int]"


PATTERNS: dict[str, tuple[str, list[int], Sizes, str]] = {
    # what einops' tutorial does: pattern, shape, sizes, results of the map
    "transpose": ("h w c -> w h c", [2, 3, 4], {}, "(h, w, c)"),
    "compose": ("b h w c -> (b h) w c", [6, 2, 3, 4], {}, "(d0 floordiv 2, d0 mod 2, w, c)"),
    "in another order": ("b w -> (w b)", [2, 3], {}, "(d0 mod 2, d0 floordiv 2)"),
    "decompose": ("(b1 b2) w -> b1 b2 w", [6, 3], {"b1": 2}, "(b1 * 3 + b2, w)"),
    "space to depth": ("b (h h1) (w w1) c -> b h w (c h1 w1)", [1, 4, 6, 3], {"h1": 2, "w1": 2},
        "(b, h * 2 + (d3 floordiv 2) mod 2, w * 2 + d3 mod 2, d3 floordiv 4)"),
    "mosaic": ("(b1 b2) w -> b1 (b2 w)", [6, 3], {"b2": 2}, "(b1 * 2 + d1 floordiv 3, d1 mod 3)"),
    "mean over a batch": ("b h w -> h w", [2, 3, 4], {}, "(b, h, w)"),
    "pooling": ("(h 2) (w 2) -> h w", [4, 6], {}, "(h * 2 + s0, w * 2 + s1)"),
    "global pooling": ("b h w c -> b () () c", [2, 3, 4, 5], {}, "(b, h, w, c)"),
    "to one number": ("h w -> ", [3, 4], {}, "(h, w)"),
    "a new axis": ("h w -> h new w", [3, 4], {"new": 5}, "(h, w)"),
    "repeated beside": ("h w -> h (times w)", [3, 4], {"times": 2}, "(h, d1 mod 4)"),
    "repeated inside": ("h w -> (h 2) (w 2)", [3, 4], {}, "(d0 floordiv 2, d1 floordiv 2)"),
    "a unit axis": ("b c 1 -> 1 b c", [3, 4, 1], {}, "(b, c, 0)"),
    "any axes": ("b ... c -> c ... b", [2, 3, 4, 5], {}, "(b, d1, d2, c)"),
    "all but one": ("... c -> c (...)", [2, 3, 4], {}, "(d1 floordiv 3, d1 mod 3, c)"),
    "reduced any": ("b ... -> b", [2, 3, 4], {}, "(b, s0, s1)"),
    "heads": ("b (h d) -> (b h) d", [2, 8], {"h": 4}, "(d0 floordiv 4, (d0 mod 4) * 2 + d)"),
    "names that are words": ("max mod -> mod max", [2, 3], {}, "(d1, d0)"),
    "names of other variables": ("d1 d0 -> (d0 d1)", [2, 3], {}, "(d0 mod 2, d0 floordiv 2)"),
    "nothing": (" -> ", [], {}, "()"),
}  # fmt: skip


@for_all(PATTERNS)
def test_results_of_patterns_which_are_written_back(
    pattern: str, shape: list[int], sizes: Sizes, results: str
) -> None:
    made = from_einops(pattern, shape, **sizes)
    made.verify()
    assert str(made).partition(" -> ")[2].partition(", domain")[0] == results
    check_written_back(pattern, shape, sizes)
    assert str(made.to_einops()).startswith(made.to_einops().pattern)


@pytest.mark.needs("einops")
@for_all([row[:3] for row in PATTERNS.values()])
def test_einops_does_what_maps_of_patterns_say(
    pattern: str, shape: list[int], sizes: Sizes
) -> None:
    check_against_einops(pattern, shape, sizes)


def renamed(given: IndexingMap) -> str:
    """The text of a map, with the names that maps give by themselves."""
    dims = {each.name: f"d{number}" for number, each in enumerate(given.dims)}
    ranges = {each.name: f"s{number}" for number, each in enumerate(given.ranges)}
    return str(given.rename({**dims, **ranges}))


def check_against_einops(pattern: str, shape: Sequence[int], sizes: Mapping[str, int]) -> None:
    """The sum that einops computes is that over the elements that the map reads."""
    einops = import_module("einops")
    operand = np.arange(1, prod(shape) + 1).reshape(shape)
    made = from_einops(pattern, shape, **sizes)
    if made.ranges:
        found: Array = einops.reduce(operand, pattern, "sum", **sizes)
    else:
        found = einops.repeat(operand, pattern, **sizes)
    assert np.array_equal(found, summed([made], [operand]))


def summed(maps: Sequence[IndexingMap], operands: Sequence[Array]) -> Array:
    """The products of what maps read of operands, summed over ranges of the same name."""
    sizes = [(each.bounds.upper or 0) + 1 for each in maps[0].dims]
    ranges = {each.name: (each.bounds.upper or 0) + 1 for one in maps for each in one.ranges}
    found = np.zeros(sizes, dtype=int)
    for point in product(*map(range, sizes)):
        for run in product(*map(range, ranges.values())):
            values = dict(zip(ranges, run, strict=True))
            found[point] += prod(
                int(operand[one.evaluate(point, [values[each.name] for each in one.ranges])])
                for one, operand in zip(maps, operands, strict=True)
            )
    return found


@st.composite
def patterns(draw: st.DrawFn) -> tuple[str, list[int], Sizes]:
    """Axes in two orders and groupings; some are reduced, or some are new."""
    names = "abcd"[: draw(st.integers(0, 4))]
    sizes = {name: draw(st.integers(1, 3)) for name in names}
    left, right = draw(st.permutations(names)), draw(st.permutations(names))
    some = draw(st.sets(st.sampled_from(names))) if names else set[str]()
    side = draw(st.sampled_from(["both", "left", "right"]))
    left = [name for name in left if side != "right" or name not in some]
    right = [name for name in right if side != "left" or name not in some]
    groups = [grouped(draw, left), grouped(draw, right)]
    shape = [prod(sizes[name] for name in group) for group in groups[0]]
    text = " -> ".join(" ".join(f"({' '.join(group)})" for group in side) for side in groups)
    return text, shape, sizes


def grouped(draw: st.DrawFn, names: Sequence[str]) -> list[list[str]]:
    """Names in groups, some of which are empty."""
    cuts = sorted(draw(st.lists(st.integers(0, len(names)), max_size=4)))
    ends = [0, *cuts, len(names)]
    return [[*names[low:high]] for low, high in pairwise(ends)]


@pytest.mark.needs("einops")
@given(patterns())
def test_any_pattern(drawn: tuple[str, list[int], Sizes]) -> None:
    check_against_einops(*drawn)
    pattern, shape, sizes = drawn
    written = from_einops(pattern, shape, **sizes).to_einops()
    check_against_einops(written.pattern, shape, written.sizes)


# The results of these are shortest with two reads of one digit, one of which may be taken back.
@example(drawn=("(a c b d) -> (b c a d)", [16], {"a": 2, "b": 2, "c": 2, "d": 2}))
@example(drawn=("(a c b d) -> (c a d b)", [16], {"a": 2, "b": 2, "c": 2, "d": 2}))
@given(patterns())
def test_any_pattern_is_written_back(drawn: tuple[str, list[int], Sizes]) -> None:
    check_written_back(*drawn)


def check_written_back(pattern: str, shape: Sequence[int], sizes: Sizes) -> None:
    """Ranges of size 1 are not written, and count nothing."""
    made = from_einops(pattern, shape, **sizes)
    written = made.to_einops()
    again = from_einops(written.pattern, shape, **written.sizes)
    one, other = (renamed(each.simplify().without_unused_symbols()) for each in (again, made))
    assert one == other


def test_symbolic_sizes() -> None:
    n, h = symbol("N"), symbol("H")
    split = from_einops("b (h w) -> h b w", [n, 4 * h], w=4)
    assert str(split) == (
        "(h, b, w)<H, N> -> (b, h * 4 + w), domain: h in [0, H - 1], b in [0, N - 1], w in [0, 3], "
        "H in [1, inf], N in [1, inf]"
    )
    given = from_einops("(h w) -> h w", [n], h=h, w=4)
    assert "H * 4 - N in [0, 0]" in str(given)
    assert str(given.substitute({"N": 12, "H": 3})) == (
        "(h, w) -> (h * 4 + w), domain: h in [0, 2], w in [0, 3]"
    )
    left, _ = from_einsum("ij,jk->ik", [n, h], [h, n])
    assert str(left).startswith("(i, k)[j]<H, N> -> (i, j)")


test_bad_patterns = errors_in(lambda text: from_einops(text, [2, 3]))("""
«b c» => expected one '->', from operand to result
b c -> b «->» c => expected one '->', from operand to result
b c -> b «d» => the axis is new, but c is reduced; einops.repeat and einops.reduce are two calls
b (c «(»d)) -> b c d => groups are not nested
b c«)» -> b c => no '(' before this
«(b c» -> b c => expected a ')'
b «b» -> b => b stands twice on this side
b«,» c -> b c => expected the name of an axis, '1', '...' or '('
(b «...») -> b => the operand's '...' stands outside of parentheses
b c -> «...» b c => the axes of '...' are not in the operand
b «0» -> b => the size of an axis is 1 or more
«b c d» -> b => 2 sizes are in the shape; expected 3
«b c d ...» -> b => 2 sizes are in the shape; expected 3 or more
b c -> b c «d» => the size of d is not known
(«b» d) c -> b c d => the sizes of b and d are not known; expected all but one
b («c» 4) -> b c => the size of c is 3 / 4; expected a whole
b «2» -> b => the size is 2 here, but 3 in the shape
""")


test_wrong_arguments = refusals({}, MapError, TextError, ArgumentError)("""
from_einops("b -> b", [2], q=3) => from_einops: 'q' has a size, but is no axis
from_einops("b -> b", [-1]) => shape[0] is -1; expected a size
from_einops("b -> b", None) => shape is None; expected a sequence
from_einops("(b c) -> b c", [6], b=True) => b[0] is True; expected a size
from_einops("9" * 5000 + " -> 1", [3]) => at most 18 digits
to_einsum(3) => to_einsum:
to_einsum([3]) => to_einsum:
from_einsum("i", None) => shapes is None
""")


@each_row("""
(d0) -> (d0), domain: d0 in [0, -1] => has no element
(d0) -> (d0, d0), domain: d0 in [0, 3] => a diagonal
(d0) -> (d0 + 1), domain: d0 in [0, 3] => 1 in a result
(d0) -> (d0 * 2), domain: d0 in [0, 3] => the result 2*d0, which leaves gaps or overlaps
(d0) -> (-d0), domain: d0 in [0, 3] => -d0 in a result
(d0) -> (d0 floordiv 3), domain: d0 in [0, 3] => d0//3 in a result
(d0) -> (d0), domain: d0 in [1, 3] => does not count from 0
(d0, d1) -> (d0), domain: d0 in [0, 3], d1 in [0, 3], d0 + d1 in [0, 3] => constraints
(d0){rt0} -> (d0, rt0), domain: d0 in [0, 3], rt0 in [0, 3] => runtime variables
(d0)[s0] -> (d0), domain: d0 in [0, 3], s0 in [0, 3] => a range that no result has
(d0)[s0] -> (s0), domain: d0 in [0, 3], s0 in [0, 3] => are two calls
(d0)[s0] -> (d0 + s0), domain: d0 in [0, 3], s0 in [0, 2] => leaves gaps or overlaps
(d0) -> (d0 floordiv 4, d0 floordiv 6), domain: d0 in [0, 23] => digits of d0 that overlap
(d0)<N> -> (d0), domain: d0 in [0, N - 1], N in [1, 9] => the parameters N
""")
def test_maps_without_a_pattern(text: str, message: str) -> None:
    with pytest.raises(MapError, match=f"to_einops: the map has.*{re.escape(message)}"):
        parse_map(text).to_einops()


STRINGS: dict[str, list[list[int]]] = {
    "bij,bjk->bik": [[2, 3, 2], [2, 2, 3]], "ij,kj": [[2, 3], [4, 3]], "ba": [[2, 3]],
    "ii": [[3, 3]], "ii->i": [[3, 3]], "ij->": [[2, 3]], "i,j->ji": [[2], [3]],
    "ij,jk,kl->il": [[2, 2], [2, 3], [3, 2]], "...ij,...jk->...ik": [[2, 2, 3], [3, 2]],
    "i...,i...->...": [[2, 3, 1], [2, 4]], "...": [[2, 3]], "ij,j->i": [[2, 3], [1]],
    " i j , j k -> i k ": [[2, 3], [3, 2]], ",ij->ij": [[], [2, 3]],
}  # fmt: skip


@for_all([*STRINGS.items()])
def test_numpy_computes_what_maps_of_strings_say(text: str, shapes: list[list[int]]) -> None:
    check_string(text, shapes)


def check_string(text: str, shapes: list[list[int]]) -> list[IndexingMap]:
    """The maps of a string, which say what NumPy computes."""
    operands = [np.arange(1, prod(shape) + 1).reshape(shape) for shape in shapes]
    maps = [*from_einsum(text, *shapes)]
    assert np.array_equal(np.einsum(text, *operands), summed(maps, operands))
    return maps


@st.composite
def strings(draw: st.DrawFn) -> tuple[str, list[list[int]]]:
    """Labels of one to three operands; some are in the result."""
    sizes = {label: draw(st.integers(1, 3)) for label in "abcd"}
    labels = st.text("abcd", max_size=3)
    operands = draw(st.lists(labels, min_size=1, max_size=3))
    there = sorted({*"".join(operands)})
    result = draw(st.permutations(there))[: draw(st.integers(0, len(there)))]
    text = f"{','.join(operands)}->{''.join(result)}"
    return text, [[sizes[label] for label in operand] for operand in operands]


@given(strings())
def test_any_string(drawn: tuple[str, list[list[int]]]) -> None:
    text, shapes = drawn
    operands = [np.arange(1, prod(shape) + 1).reshape(shape) for shape in shapes]
    maps = from_einsum(text, *shapes)
    expected = np.einsum(text, *operands)
    assert np.array_equal(expected, summed(maps, operands))
    assert np.array_equal(expected, np.einsum(to_einsum(maps), *operands))


def test_names_with_blanks_are_labels() -> None:
    both = from_einsum("batch time, time channel -> batch channel", [2, 3], [3, 4])
    results = ("batch, time", "time, channel")
    for each, result in zip(both, results, strict=True):
        assert str(each).startswith(f"(batch, channel)[time] -> ({result}), domain")
    assert to_einsum(both) == "ac,cb->ab"


test_bad_strings = errors_in(lambda text: from_einsum(text, [2, 3], [4, 5]))("""
ij,«j»k->ik => j has the size 4 here, and 3 before
ij,jk->«i»i => i stands twice in the result
ij,jk->i«l» => l is in no operand
i«2»,jk->i => expected a label of an axis, '...', ',' or one '->'
ij,jk->i«-»>k => expected a label of an axis, '...', ',' or one '->'
i...«...»,jk->i => a second '...'
«...»,jk->jk => the axes of '...' are not in the result
ij,«jkl»->i => 3 labels are here; expected 2, one for each size of the shape
«ij»->i => 1 operands are here; expected 2, one for each shape
""")


# maps => what is said
@each_row("""
[] => to_einsum: there are no maps
["(d0) -> (d0 + 1), domain: d0 in [0, 3]"] => result 0 is d0 + 1; expected a variable
["(d0) -> (d0), domain: d0 in [1, 3]"] => expected the size of that name, from 0
["(d0)<N> -> (d0), domain: d0 in [0, N - 1], N in [1, 9]"] => the parameters N
["(d0){rt0} -> (rt0), domain: d0 in [0, 3], rt0 in [0, 3]"] => runtime
["(d0) -> (d0), domain: d0 in [0, 3]", "(d0) -> (d0), domain: d0 in [0, 4]"] => map 1: d0 in
["(d0) -> (d0), domain: d0 in [0, 3]", "(d1) -> (d1), domain: d1 in [0, 3]"] => map 1 comes
""")
def test_maps_without_a_string(listed: str, message: str) -> None:
    with pytest.raises(MapError, match=re.escape(message)):
        to_einsum(map(parse_map, literal_eval(listed)))
