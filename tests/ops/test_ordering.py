"""Sort, top-k and scan: said and seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.ops.agreement import said
from tests.ops.oracle import program
from tests.ops.provenance import shapes

if TYPE_CHECKING:
    from tests.ops.provenance import Sizes

SMALL = shapes(most_dimensions=3, smallest=1).filter(lambda sizes: sizes and np.prod(sizes) <= 24)


def array(element_type: str, sizes: Sizes) -> str:
    """An array in HLO text."""
    return f"{element_type}[{','.join(map(str, sizes))}]"


@pytest.mark.needs("jaxlib")
@given(data=st.data())
def test_every_place_along_the_dimension_can_be_where_an_element_comes_from(
    data: st.DataObject,
) -> None:
    """A permutation of keys, and elements that tell where they were, cannot be more than said."""
    sizes = data.draw(SMALL)
    axis = data.draw(st.integers(0, len(sizes) - 1))
    key, value = array("s32", sizes), array("s32", sizes)
    text = f"""HloModule m
    less {{ a = s32[] parameter(0) b = s32[] parameter(1) c = s32[] parameter(2)
      d = s32[] parameter(3) ROOT r = pred[] compare(a, b), direction=LT }}
    ENTRY e {{ k = {key} parameter(0) v = {value} parameter(1)
      ROOT r = ({key}, {value}) sort(k, v), dimensions={{{axis}}}, to_apply=less }}"""
    order = np.array(data.draw(st.permutations(range(int(np.prod(sizes))))), dtype=np.int32)
    places = [*np.ndindex(sizes)]
    numbers = np.arange(len(places), dtype=np.int32).reshape(sizes)
    result = program(text)(order.reshape(sizes), numbers)[1]
    seen = {(index, places[int(result[index])]) for index in places}
    assert seen <= said(text, 1, 1)
    assert (
        said(text, 0, 0)
        == said(text, 1, 1)
        == {
            (here, there)
            for here in places
            for there in places
            if here[:axis] + here[axis + 1 :] == there[:axis] + there[axis + 1 :]
        }
    )
