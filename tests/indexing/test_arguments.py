"""Calls with arguments of wrong types: each error says where, which argument, what was expected."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import indexing
import simplifier
from indexing import IndexingMap, layout, parse_map
from simplifier import IndexingError, symbol
from tests.cases import for_all

PLAIN = IndexingMap.identity([16, 8])
SLICED = parse_map(
    "(d0)[s0]{rt0} -> (d0 + rt0, s0), domain: d0 in [0, 3], s0 in [0, 2], rt0 in [0, 1]"
)
SET = PLAIN.image()
SHAPE = layout.Shape.parse("f32[3,5]{1,0:T(2,2)}")
X, N = symbol("x"), symbol("N")

CALLS: list[tuple[Callable[..., Any], tuple[Any, ...], str]] = [
    (simplifier.parse_expr, (None,), "parse_expr: the text is None; expected a string"),
    (simplifier.format_expr, (None,), "None: has type NoneType; expected integer arithmetic"),
    (simplifier.simplify, (X, None), "simplify: bounds are None; expected a mapping"),
    (simplifier.simplify, (X, {}, 3), "simplify: constraints is 3; expected a sequence"),
    (simplifier.bounds_of, (X, {}, 3), "bounds_of: constraints is 3; expected a sequence"),
    (simplifier.Interval, ("a", 3), "Interval: lower end has value 'a'; expected an integer"),
    (parse_map, (3,), "parse_map: text is 3; expected a string"),
    (indexing.format_map, (None,), "format_map: the map is None; expected an IndexingMap"),
    (indexing.compose, (PLAIN, 3), "compose: the producer is 3; expected an IndexingMap"),
    (indexing.first_difference, (3, PLAIN), "first_difference: the map is 3; expected an Indexing"),
    (indexing.first_difference, (PLAIN, 3), "first_difference: the other map is 3; expected"),
    (indexing.from_affine_map, ("(d0) -> (d0)", 3), "from_affine_map: bounds is 3; expected a map"),
    (indexing.from_affine_map, (3,), "3; expected a string"),
    (indexing.UndefinedMap, (3,), "UndefinedMap: reason is 3; expected a string"),
    (indexing.Variable, (3.5,), "expected"),
    (IndexingMap, (3, []), "IndexingMap: results is 3; expected a sequence of expressions"),
    (IndexingMap, ([X], [3]), "dims[0] is 3; expected a Variable"),
    (IndexingMap.identity, (3,), "IndexingMap: sizes is 3; expected a sequence of sizes"),
    (PLAIN.evaluate, (1,), "evaluate: dims is 1; expected 2 integers or arrays"),
    (SLICED.evaluate, ([1], 1), "evaluate: ranges is 1; expected 1 integers"),
    (SLICED.contains, ([1], [1], 1), "runtime is 1; expected 1 integers"),
    (PLAIN.image, (3,), "image: dims is 3; expected 2 integers"),
    (PLAIN.image, ([3.5, 3],), "expected"),
    (PLAIN.covers, (None,), "covers: sizes is None; expected a sequence of integers"),
    (PLAIN.covers, ([N * 16, 8],), "covers: sizes is [16*N, 8]; expected a sequence of integers"),
    (
        PLAIN.is_bijective_onto,
        ([N * 16, 8],),
        "sizes is [16*N, 8]; expected a sequence of integers",
    ),
    (PLAIN.equals, (3,), "equals: the other map is 3; expected an IndexingMap"),
    (PLAIN.is_subset, (3,), "is_subset: the other map is 3; expected an IndexingMap"),
    (PLAIN.rename, (3,), "rename: 3 is no mapping; expected one from names"),
    (PLAIN.to_c, (3,), "name is 3; expected a string"),
    (PLAIN.to_triton, (None,), "name is None; expected a string"),
    (SET.at, (3,), "at: parameters is 3; expected a sequence of integers"),
    (SET.__contains__, (3,), "in: element is 3; expected a sequence"),
    (layout.Shape.parse, (None,), "Shape.parse: the text is None; expected a string"),
    (layout.Layout, (3,), "Layout: minor_to_major is 3; expected a sequence of integers"),
    (layout.linear_index, ((1, 1), 3), "linear_index: shape is 3; expected a Shape"),
    (layout.delete_dimensions, (SHAPE, 0), "dimensions is 0; expected a sequence of integers"),
    (layout.reorder_dimensions, (SHAPE, None), "permutation is None; expected a sequence of int"),
    (layout.transpose_is_bitcast, (SHAPE, SHAPE, 3), "permutation is 3; expected a sequence"),
    (layout.dimensions_after_reshape, ((6,), (6,), 0), "dimensions is 0; expected a sequence"),
    (layout.dimensions_unmodified_by_reshape, (6, (6,)), "sizes_before is 6; expected a sequence"),
    *[
        (function, (3,), "shape is 3; expected a Shape, such as that of Shape.parse")
        for function in (
            layout.array_size,
            layout.in_memory_order,
            layout.layout_picture,
            layout.linear_to_logical,
            layout.logical_to_linear,
            layout.logical_to_physical,
            layout.logical_to_tiled,
            layout.order_in_words,
            layout.physical_to_logical,
            layout.pieces,
            layout.size_in_words,
            layout.strides,
            layout.tiled_sizes,
            layout.tiled_to_logical,
            layout.tiling_steps,
        )
    ],
    *[
        (
            function,
            (SHAPE, "f32[15]"),
            f"{function.__name__}: target is 'f32[15]'; expected a Shape",
        )
        for function in (
            layout.bitcast_map,
            layout.copy_is_bitcast,
            layout.decompose_bitcast,
            layout.deduce_transpose,
            layout.reshape_is_bitcast,
        )
    ],
]


@for_all(CALLS)
def test_the_error_names_the_argument(
    call: Callable[..., Any], arguments: tuple[Any, ...], expected: str
) -> None:
    with pytest.raises(IndexingError) as caught:
        call(*arguments)
    assert expected in str(caught.value)
