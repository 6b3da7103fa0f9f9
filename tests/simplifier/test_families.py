"""Families of expressions: what an expert would write, and layouts and reshapes that are undone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise, starmap
from math import prod
from typing import TypeAlias

import pytest

from simplifier import Interval, bounds_of, cost, format_expr, simplify
from simplifier.canonical.scope import scope_of
from simplifier.expr.form import Form, constant, variable, variables_of
from simplifier.expr.operations import floordiv, mod
from simplifier.expr.sympy import from_sympy
from simplifier.fixpoint import simplified
from tests.cases import for_all
from tests.evaluation import differing_point, sampled, values_of, where
from tests.simplifier.objective import is_good
from tests.simplifier.suite import Row, families
from tests.strategies import joined, split

SIMPLIFICATIONS = [row for row in families() if row.relation == "=>"]
RANGES = [row for row in families() if row.relation == "lies in"]


@for_all(SIMPLIFICATIONS)
def test_an_expert_would_write_the_result(row: Row) -> None:
    expression, bounds, constraints = row.question.parsed()
    known = bounds, constraints
    result = simplify(expression, *known)
    assert format_expr(result) == row.expected
    assert differing_point(expression, result, *known) is None
    assert cost(result, *known) <= cost(expression, *known) or not is_good(expression, *known)
    assert simplify(result, *known) == result


@for_all(RANGES)
def test_ranges_are_as_narrow_as_they_can_be(row: Row) -> None:
    expression, bounds, constraints = row.question.parsed()
    interval = bounds_of(expression, bounds, constraints)
    assert str(interval) == row.expected
    form, known = from_sympy(expression), [(from_sympy(a), ends) for a, ends in constraints]
    names = {*variables_of([form, *(constraint for constraint, _ in known)]), *bounds}
    values, defined = values_of(form, where(sampled(names, bounds), known))
    assert all(int(value) in interval for value in values[defined])


@pytest.mark.parametrize("line", ["x + 1", "x  =>  y  where x is 3", "x  =>  x  where x in [0, 1"])
def test_a_line_that_is_no_row_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="is no row"):
        Row.of("broken", line)


Index: TypeAlias = tuple[Form, ...]
Shape: TypeAlias = tuple[int, ...]


def shapes_in(text: str) -> list[Shape]:
    """``(4,8)(2,1)`` and such; each tile splits the most minor dimensions, also of tiles before."""
    return [tuple(map(int, each.split(","))) for each in re.findall(r"[\d,]+", text)]


TILINGS = """
64,512:(8,128) 64,512:(8,128)(2,1) 64,512:(8,128)(4,1) 64,512:(32,128)(4,1) 64,512:(2,128)
64,512:(4,128) 64,512:(4,128)(2,1) 64,512:(1,128) 64,512:(16,64) 64,512:(2,1) 64,512:(4,1)
60,100:(6,10) 60,100:(6,10)(3,1) 60,105:(3,5)(3,5) 1024:(128) 4096:(1024)(128)(2) 8,8:(2,4)(2,1,1,1)
3,64,512:(8,128) 4,16,256:(8,128)(2,1) 2,3,8,128:(2,128)
"""
PADDED_TILINGS = """
60,500:(8,128) 13,300:(8,128)(2,1) 300,130:(4,1) 5,7:(2,4) 3,5:(2,2) 2,7,200:(8,128)(4,1)
"""
"""Tiles that reach beyond the dimensions."""

RESHAPES = """
16,16->256 10,10,10->50,20 8,128,64->1024,64 8,128,64->64,16,64 4,8,12->32,3,4 3,3,3->9,3
2,2,2,2,2->4,8 12,35->20,21 15,28->20,21 35,12->7,60 60,7->35,12 40,21->24,35 6,35->14,15
2,3,5,7->14,15 6,10,7->4,105 7,8,9->8,63 24,10->16,15 18,12->27,8 14,9->21,6 9,10,11->99,10
121,2->22,11 17,6->34,3 100,99->90,110 9,8->3,24->18,4 8,9->6,12->4,18 10,12->8,15->6,20
16,45->24,30->20,36 32,27->24,36->54,16 30,42->36,35->45,28 12,35->20,21->15,28
12,35->20,21->28,15->14,30
"""
"""From the first shape through the others, and back to the first."""

TRANSPOSES = """
1024->32,32[1,0] 35->5,7[1,0] 512->4,8,16[2,1,0] 512->4,8,16[1,2,0] 64,12->24,32[1,0]
30,4->2,3,20[2,0,1] 8,128->4,2,128[1,0,2] 16,48->4,4,48[1,0,2] 12,35->20,21[1,0]
"""
"""Dimensions, the shape they are given, a permutation of that shape."""


@for_all((TILINGS + PADDED_TILINGS).split())
def test_the_offset_of_an_index_gives_the_index(text: str) -> None:
    shape, *tiles = shapes_in(text)
    index = variables(shape)
    offset = joined(tiled(index, tiles), tiled_shape(shape, tiles))
    assert settled(index_at(offset, shape, tiles), shape) == index


@for_all(TILINGS.split())
def test_the_index_of_an_offset_gives_the_offset(text: str) -> None:
    shape, *tiles = shapes_in(text)
    elements = (prod(shape),)
    (offset,) = variables(elements)
    back = joined(tiled(index_at(offset, shape, tiles), tiles), tiled_shape(shape, tiles))
    assert settled([back], elements) == (offset,)


@for_all(RESHAPES.split())
def test_reshapes_there_and_back(text: str) -> None:
    shapes = shapes_in(text)
    index = through(variables(shapes[0]), shapes)
    flat = joined(index, shapes[-1])
    assert settled([flat], shapes[0]) == (joined(variables(shapes[0]), shapes[0]),)
    assert settled(split(flat, shapes[0]), shapes[0]) == variables(shapes[0])


@for_all(TRANSPOSES.split())
def test_a_transpose_between_reshapes_is_undone(text: str) -> None:
    shape, other, permutation = shapes_in(text)
    transposed = tuple(other[place] for place in permutation)
    inverse = [permutation.index(place) for place in range(len(permutation))]
    index = through(variables(shape), (shape, other))
    flat = joined([index[place] for place in permutation], transposed)
    again = [split(flat, transposed)[place] for place in inverse]
    assert settled(through(again, (other, shape)), shape) == variables(shape)


def variables(shape: Shape) -> Index:
    return tuple(variable(f"d{place}") for place in range(len(shape)))


def settled(index: Iterable[Form], shape: Shape) -> Index:
    """The parts of an index simplified where :func:`variables` are an index of the shape."""
    bounds = tuple((f"d{place}", Interval(0, size - 1)) for place, size in enumerate(shape))
    return tuple(simplified(scope_of(bounds), form) for form in index)


def through(index: Sequence[Form], shapes: Sequence[Shape]) -> Index:
    """An index of the first shape, reshaped to each that follows."""
    for before, after in pairwise(shapes):
        index = split(joined(index, before), after)
    return tuple(index)


def tiled(index: Sequence[Form], tiles: Sequence[Shape]) -> Index:
    """Which tile, and where in it: for each tile in turn."""
    for tile in tiles:
        head, parts = index[: -len(tile)], index[-len(tile) :]
        digits = [*zip(parts, map(constant, tile), strict=True)]
        index = (*head, *starmap(floordiv, digits), *starmap(mod, digits))
    return tuple(index)


def tiled_shape(shape: Shape, tiles: Sequence[Shape]) -> Shape:
    """The dimensions of what :func:`tiled` gives; partial tiles are filled up."""
    for tile in tiles:
        counts = (-(-size // step) for size, step in zip(shape[-len(tile) :], tile, strict=True))
        shape = (*shape[: -len(tile)], *counts, *tile)
    return shape


def index_at(offset: Form, shape: Shape, tiles: Sequence[Shape]) -> Index:
    """The index of the element at an offset of a tiled layout."""
    index: Sequence[Form] = split(offset, tiled_shape(shape, tiles))
    for tile in reversed(tiles):
        rank = len(tile)
        head, outer, inner = index[: -2 * rank], index[-2 * rank : -rank], index[-rank:]
        index = (*head, *(a * size + b for a, b, size in zip(outer, inner, tile, strict=True)))
    return tuple(index)
