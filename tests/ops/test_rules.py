"""The maps of every operation, at every point, against NumPy; and what they refuse."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ops
from indexing import IndexingMap
from ops import ShapeError
from tests.evaluation import related
from tests.ops.agreement import check_felt
from tests.ops.labelled_elements import FAMILIES, Case, unary

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.evaluation import Pair


def needed(case: Case, operand: int) -> set[Pair]:
    """The pairs (index in the result, index in an operand) that NumPy's result tells."""
    result = case.result()
    assert result.shape == case.indexing.output_sizes
    places = ((index, place) for index in _indices(result.shape) for place in result[index])
    return {(index, source) for index, (number, source) in places if number == operand}


def _indices(sizes: tuple[int, ...]) -> list[tuple[int, ...]]:
    return list(np.ndindex(sizes))


def swapped(pairs: set[Pair]) -> set[Pair]:
    return {(second, first) for first, second in pairs}


def check(case: Case) -> None:
    for operand in range(len(case.operand_sizes)):
        expected = needed(case, operand)
        to_input = related(case.indexing.output_to_input[operand])
        to_output = related(case.indexing.input_to_output[operand])
        assert to_input == swapped(to_output)
        assert to_input == expected or (operand in case.wider and to_input > expected)


@pytest.mark.parametrize("family", FAMILIES)
@given(data=st.data())
def test_maps_say_what_numpy_does(family: str, data: st.DataObject) -> None:
    check(data.draw(FAMILIES[family]))


NO_PROGRAMS = {"bitcast", "dynamic-reshape", "permute", "rotate", "scaled-dot"}
"""What is no instruction, or none that XLA runs on the CPU without further ado."""

PROGRAMS = [family for family in FAMILIES if family not in NO_PROGRAMS]


@pytest.mark.needs("jax")
@pytest.mark.parametrize("family", PROGRAMS)
@settings(max_examples=20)
@given(data=st.data())
def test_instructions_say_what_xla_does(family: str, data: st.DataObject) -> None:
    case = data.draw(FAMILIES[family].filter(lambda case: case.is_program))
    operand_type, _ = case.element_types
    every_byte = 0x01010101 if operand_type == "s32" else 1
    check_felt(case.text, wider=case.wider, disturbances=(every_byte,))


@pytest.mark.parametrize("family", FAMILIES)
@given(data=st.data())
def test_simplified_maps_say_it_too(family: str, data: st.DataObject) -> None:
    indexing = data.draw(FAMILIES[family]).indexing
    for way in (*indexing.output_to_input, *indexing.input_to_output):
        assert related(way.simplify()) == related(way)


def test_a_wrong_map_is_seen() -> None:
    right = unary("transpose", "", ops.transpose((2, 3), (1, 0)), (2, 3), lambda array: array.T)
    wrong = unary("reshape", "", ops.reshape((2, 3), (3, 2)), (2, 3), lambda array: array.T)
    check(right)
    with pytest.raises(AssertionError):
        check(wrong)


def test_what_is_generated_needs_nothing() -> None:
    assert ops.generated((2, 3)) == ops.OpIndexing((2, 3), (), ())


RESHAPES_BETWEEN = ((8, 3, 10), (24, 10), (240,), (2, 120), (4, 6, 2, 5), (1, 240, 1), (15, 16))


@pytest.mark.parametrize("middle", RESHAPES_BETWEEN, ids=str)
@pytest.mark.parametrize("sizes", RESHAPES_BETWEEN, ids=str)
def test_reshapes_that_cancel_are_the_identity(
    sizes: tuple[int, ...], middle: tuple[int, ...]
) -> None:
    there, back = (
        ops.reshape(*pair).output_to_input[0] for pair in ((sizes, middle), (middle, sizes))
    )
    assert back.compose(there).simplify() == IndexingMap.identity(sizes).simplify()


@pytest.mark.parametrize("rank", [30, 60])
def test_rank_costs_no_more_than_its_square(rank: int) -> None:
    """There is room for a busy machine, but not for work that doubles with each dimension."""
    sizes = (2,) * rank
    start = time.perf_counter()
    split, joined = ops.reshape((2**rank,), sizes), ops.reshape(sizes, (2**rank,))
    turned = ops.reverse(sizes, range(rank)).output_to_input[0]
    chain = (
        split.output_to_input[0].compose(joined.output_to_input[0]).compose(turned).compose(turned)
    )
    assert chain.simplify() == IndexingMap.identity(sizes)
    assert time.perf_counter() - start < 5


REFUSED: list[tuple[str, Callable[[], Any], str]] = [
    (
        "broadcast-size",
        lambda: ops.broadcast((3,), (2, 4), (0,)),
        "broadcast: operand dimension 0 has size 3, but result dimension 0 (dimensions[0]) "
        + "has size 2; expected 1 or 2",
    ),
    (
        "broadcast-twice",
        lambda: ops.broadcast((2, 2), (2, 2), (0, 0)),
        "broadcast: dimensions lists dimension 0 twice; expected it once",
    ),
    (
        "broadcast-too-few",
        lambda: ops.broadcast((2, 2), (2, 2), (0,)),
        "broadcast: dimensions has 1 entries; expected 2, one for each dimension",
    ),
    (
        "broadcast-outside",
        lambda: ops.broadcast((2,), (2, 2), (2,)),
        "broadcast: dimensions lists dimension 2 of a tensor of rank 2",
    ),
    (
        "negative-size",
        lambda: ops.reshape((2, -3), (6,)),
        "reshape: operand dimension 1 has size -3; expected 0 or more",
    ),
    (
        "no-integer",
        lambda: ops.reverse((2, 0.5), ()),  # pyright: ignore[reportArgumentType]
        "reverse: operand sizes hold 0.5; expected integers",
    ),
    (
        "reshape",
        lambda: ops.reshape((2, 3), (7,)),
        "reshape: the operand has 6 elements (2, 3), but the result has 7 (7,); expected as many",
    ),
    (
        "bitcast-convert",
        lambda: ops.bitcast_convert((2, 3), (3, 2)),
        "bitcast-convert: the operand has sizes (2, 3), the result (3, 2); "
        + "expected them to differ at most by a last dimension",
    ),
    (
        "transpose",
        lambda: ops.transpose((2, 3), (0,)),
        "transpose: dimensions has 1 entries; expected 2, one for each dimension",
    ),
    (
        "reverse",
        lambda: ops.reverse((2,), (1,)),
        "reverse: dimensions lists dimension 1 of a tensor of rank 1",
    ),
    (
        "rotate",
        lambda: ops.rotate((2, 3), (0, 1), (1,)),
        "shuffle: shifts has 1 entries; expected 2, one for each dimension",
    ),
    (
        "permute",
        lambda: ops.permute((2, 3), (2,)),
        "shuffle: dimensions lists dimension 2 of a tensor of rank 2",
    ),
    (
        "slice-limit",
        lambda: ops.slice((5,), (2,), (6,)),
        "slice: dimension 0 of size 5 is cut from 2 to 6; expected 0 <= start <= limit <= size",
    ),
    (
        "slice-stride",
        lambda: ops.slice((5,), (2,), (4,), (0,)),
        "slice: dimension 0 has stride 0; expected 1 or more",
    ),
    (
        "slice-rank",
        lambda: ops.slice((5, 5), (0,), (1,)),
        "slice: start_indices has 1 entries; expected 2, one for each dimension",
    ),
    (
        "concatenate-nothing",
        lambda: ops.concatenate([], 0),
        "concatenate: no operands; expected one or more",
    ),
    (
        "concatenate-rank",
        lambda: ops.concatenate([(2,), (2, 2)], 0),
        "concatenate: the rank of operand 1 is 2; expected 1, as in operand 0",
    ),
    (
        "concatenate-size",
        lambda: ops.concatenate([(2, 3), (2, 4)], 0),
        "concatenate: dimension 1 of operand 1 has size 4; expected 3, as in operand 0",
    ),
    (
        "elementwise-size",
        lambda: ops.elementwise([(2, 3), (2, 4)]),
        "elementwise: dimension 1 of operand 1 has size 4; expected 3, as in another operand",
    ),
    (
        "elementwise-rank",
        lambda: ops.elementwise([(3,), (2, 3)]),
        "elementwise: the rank of operand 0 is 1; expected 2, as in another operand",
    ),
    (
        "reduce",
        lambda: ops.reduce((2, 3), (2,)),
        "reduce: dimensions lists dimension 2 of a tensor of rank 2",
    ),
    (
        "dot-size",
        lambda: ops.dot((2, 3), (4, 5), lhs_contracting_dims=(1,), rhs_contracting_dims=(0,)),
        "dot: contracting dimension 1 of lhs has size 3, but dimension 0 of rhs has size 4; "
        + "expected the same",
    ),
    (
        "dot-count",
        lambda: ops.dot((2, 3), (3, 5), lhs_contracting_dims=(1,)),
        "dot: lhs has 1 contracting dimensions, but rhs has 0; expected as many",
    ),
    (
        "dot-both",
        lambda: ops.dot(
            (3,),
            (3,),
            lhs_contracting_dims=(0,),
            rhs_contracting_dims=(0,),
            lhs_batch_dims=(0,),
            rhs_batch_dims=(0,),
        ),
        "dot: lhs_batch_dims and lhs_contracting_dims lists dimension 0 twice; expected it once",
    ),
    (
        "pad-interior",
        lambda: ops.pad((3,), [(0, 0, -1)]),
        "pad: dimension 0 has interior padding -1; expected 0 or more",
    ),
    (
        "pad-negative",
        lambda: ops.pad((3,), [(-2, -2, 0)]),
        "pad: dimension 0 has size 3, with padding -2_-2_0 -1; expected 0 or more",
    ),
]


@pytest.mark.parametrize(
    ("build", "message"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED]
)
def test_what_does_not_fit_is_refused(build: Callable[[], Any], message: str) -> None:
    with pytest.raises(ShapeError) as caught:
        build()
    assert str(caught.value) == message
