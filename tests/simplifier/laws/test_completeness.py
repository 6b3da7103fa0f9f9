"""Chains of reshapes have the canonical form of the one reshape from first to last shape."""

from __future__ import annotations

from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simplifier import Interval
from simplifier.canonical.scope import Scope
from simplifier.expr import operations
from simplifier.expr.form import Form, constant, variable

SIZES = (12, 36, 60, 64, 210, 360, 1024)


def split(linear: Form, shape: list[int]) -> list[Form]:
    """The index into a shape, most major first, as a reshape computes it."""
    strides = [prod(shape[place + 1 :]) for place in range(len(shape))]
    return [
        operations.mod(operations.floordiv(linear, constant(stride)), constant(size))
        for stride, size in zip(strides, shape, strict=True)
    ]


def joined(index: list[Form], shape: list[int]) -> Form:
    """The row-major offset of an index."""
    total = constant(0)
    for digit, size in zip(index, shape, strict=True):
        total = total.times(size).plus(digit)
    return total


@st.composite
def shapes(draw: st.DrawFn, size: int) -> list[int]:
    """Shapes of that many elements."""
    shape: list[int] = []
    while size > 1:
        divisors = [divisor for divisor in range(2, size + 1) if size % divisor == 0]
        shape.append(draw(st.sampled_from(divisors)))
        size //= shape[-1]
    return shape


@pytest.mark.parametrize("size", SIZES)
@given(st.data())
def test_a_chain_of_reshapes_is_one_reshape(size: int, data: st.DataObject) -> None:
    offset = variable("N")
    chain = data.draw(st.lists(shapes(size), min_size=2, max_size=5))
    reshaped = offset
    for shape in chain[:-1]:
        reshaped = joined(split(reshaped, shape), shape)
    scope = Scope((("N", Interval(0, size - 1)),))
    direct = [scope.canonical(digit) for digit in split(offset, chain[-1])]
    assert [scope.canonical(digit) for digit in split(reshaped, chain[-1])] == direct
    assert scope.canonical(reshaped) == offset
