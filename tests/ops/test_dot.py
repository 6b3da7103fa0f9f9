"""Ragged dots, as JAX runs them."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.evaluation import Pair
from tests.extent import examples
from tests.ops.agreement import said
from tests.ops.oracle import Array, felt_by
from tests.ops.programs import array, braced, module

pytestmark = pytest.mark.needs("jax")


@dataclass(frozen=True)
class Ragged:
    """Sizes of the operands and of the result, and the dimension that is cut into groups."""

    lhs: tuple[int, ...]
    rhs: tuple[int, ...]
    groups: tuple[int, ...]
    result: tuple[int, ...]
    batch: int
    contracting: tuple[int, int]
    ragged: int
    group: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        dims = [*range(self.batch)]
        lists = {
            "lhs_contracting_dims": self.contracting[:1],
            "rhs_contracting_dims": self.contracting[1:],
            "lhs_batch_dims": dims,
            "rhs_batch_dims": dims,
            "lhs_ragged_dims": [self.ragged],
            "rhs_group_dims": self.group,
        }
        attributes = ", ".join(f"{name}={braced(each)}" for name, each in lists.items() if each)
        operands = [array("f32", self.lhs), array("f32", self.rhs), array("s32", self.groups)]
        return module(array("f32", self.result), "ragged-dot", operands, attributes)

    @property
    def run(self) -> Callable[..., Array]:
        lax: Any = importlib.import_module("jax.lax")
        dims = [*range(self.batch)]
        (lhs, rhs) = self.contracting
        numbers = lax.RaggedDotDimensionNumbers(
            dot_dimension_numbers=(([lhs], [rhs]), (dims, dims)),
            lhs_ragged_dimensions=[self.ragged],
            rhs_group_dimensions=[*self.group],
        )
        compiled = _compiled()
        return lambda *operands: np.asarray(compiled(*operands, numbers))


@cache
def _compiled() -> Callable[..., Any]:
    jax: Any = importlib.import_module("jax")
    return jax.jit(jax.lax.ragged_dot_general, static_argnums=3)


@st.composite
def ragged_dots(draw: st.DrawFn) -> Ragged:
    """Dots ``[batch, m, k] x [batch, k, n]`` of which one dimension is cut into groups."""
    batch = tuple(draw(st.lists(st.integers(1, 2), max_size=2)))
    m, k, n, count = (draw(st.integers(1, 3)) for _ in range(4))
    rank = len(batch)
    own = draw(st.booleans())
    lhs, rhs, result = (*batch, m, k), (*batch, k, n), (*batch, m, n)
    ways = ["free", "contracting", *(["batch"] if batch else [])]
    way = draw(st.sampled_from(ways))
    lists = batch if own else ()
    if way == "free":
        experts = (*batch, count, k, n)
        places = (rank + 1, rank + 1)
        return Ragged(lhs, experts, (*lists, count), result, rank, places, rank, (rank,))
    places = (rank + 1, rank)
    if way == "contracting":
        grouped = (count, *result)
        return Ragged(lhs, rhs, (*lists, count), grouped, rank, places, rank + 1)
    lists = batch[:-1] if own else ()
    return Ragged(lhs, rhs, (*lists, count), result, rank, places, rank - 1)


@examples(25)
@given(case=ragged_dots())
def test_any_group_may_be_the_one_that_is_met(case: Ragged) -> None:
    """All elements in one group, and that in each: together this is all that can be."""
    seen: tuple[set[Pair], ...] = (set(), set(), set())
    for group in range(case.groups[-1]):
        chosen = np.zeros(case.groups, dtype=np.int32)
        chosen[..., group] = case.lhs[case.ragged]
        operands = [np.ones(sizes, dtype=np.float32) for sizes in (case.lhs, case.rhs)]
        for operand in range(3):
            one = (-1,) if operand == len(operands) else (1,)
            seen[operand].update(felt_by(case.run, [*operands, chosen], operand, one))
    text = case.text
    assert [said(text, operand) for operand in range(2)] == [*seen[:2]]
    assert said(text, 2) == seen[2] or (case.group and said(text, 2) > seen[2])
