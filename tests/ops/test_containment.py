"""Indexings that another one contains go; others stay."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing import IndexingMap, parse_map
from ops import Fusion, OperandIndexing, Unknown, hlo, limits
from ops.dependence.dependence import Dependence
from tests import strategies
from tests.evaluation import related

ROW = "(d0)[s0] -> (d0, s0), domain: d0 in [0, 3], s0 in [0, 7]"
TWO_RANGES = "(d0)[s0, s1] -> (d0, s0 * 2 + s1), domain: d0 in [0, 3], s0 in [0, 3], s1 in [0, 1]"
DIAGONAL = "(d0) -> (d0, d0), domain: d0 in [0, 3]"
HALF = "(d0)[s0] -> (d0, s0), domain: d0 in [0, 3], s0 in [0, 3]"
BEYOND = "(d0)[s0] -> (d0, s0), domain: d0 in [0, 3], s0 in [4, 9]"
TABLE = {
    "equal in other words": ([ROW, TWO_RANGES], [ROW]),
    "one holds the other": ([ROW, DIAGONAL], [ROW]),
    "the other holds the one": ([DIAGONAL, ROW], [ROW]),
    "one holds two": ([DIAGONAL, HALF, ROW], [ROW]),
    "they only overlap": ([ROW, BEYOND], [ROW, BEYOND]),
    "alone": ([DIAGONAL], [DIAGONAL]),
}


def dependence(*maps: IndexingMap) -> Dependence:
    return Dependence(map(OperandIndexing, maps))


@pytest.mark.parametrize(("before", "after"), TABLE.values(), ids=TABLE.keys())
def test_contained_maps_go(before: list[str], after: list[str]) -> None:
    assert dependence(*map(parse_map, before)).minimal() == dependence(*map(parse_map, after))


@given(st.lists(strategies.maps(results=1, dims=1), max_size=3))
def test_together_they_relate_the_same(maps: list[IndexingMap]) -> None:
    without_values = [each for each in maps if not each.runtime]
    left = dependence(*without_values).minimal()
    pairs = [related(each.map) for each in left]
    assert set().union(*pairs) == set().union(*map(related, without_values))
    for number, one in enumerate(pairs):
        assert not any(one <= other for place, other in enumerate(pairs) if place != number)


def test_what_takes_long_to_compare_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_STEPS_OF_COMPARISON", 1)
    row, diagonal = (
        parse_map(text.replace("3]", "3333]").replace("7]", "9999]")) for text in (ROW, DIAGONAL)
    )
    both = dependence(row, diagonal)
    assert both.minimal() == both


def test_other_arrays_of_a_tuple_stay() -> None:
    row, diagonal = map(parse_map, (ROW, DIAGONAL))
    both = Dependence((OperandIndexing(row), OperandIndexing(diagonal, element=1)))
    assert both.minimal() == both


def test_other_values_stay() -> None:
    module = hlo.parse("""ENTRY e { x = f32[9] parameter(0) i = s32[] parameter(1)
      j = s32[] parameter(2) a = f32[2] dynamic-slice(x, i), dynamic_slice_sizes={2}
      b = f32[2] dynamic-slice(x, j), dynamic_slice_sizes={2} ROOT r = f32[2] add(a, b) }""")
    found = Fusion.of_computation(module.entry).indexing(minimal=True)
    assert len(found[module.entry.parameters[0]].indexings) == 2


def test_unknown_stays() -> None:
    assert Unknown("why").minimal() == Unknown("why")
