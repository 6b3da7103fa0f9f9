"""Dependences between iterations and updates in place, against loops that are run in Python."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing import IndexingMap, IndexRelation
from ops import Loop, hlo
from tests.extent import seldom
from tests.loops.simulated import NUMBERS, is_read_as_it_is, trace
from tests.ops.test_iterations import COUNTERS, EXACT, NODES, Program


def pairs(relation: IndexRelation[IndexingMap]) -> set[tuple[int, int]]:
    """The pairs of iterations that a relation holds."""
    return {
        (first, second) for each in relation.maps for (first,), _, _, (second,) in each.points()
    }


def carried(program: Program) -> dict[int, set[tuple[int, int]]]:
    loop = Loop(hlo.parse(program.loop())["w"])
    return {each.array: pairs(each.iterations) for each in loop.dependences()}


def expected(program: Program) -> dict[int, set[tuple[int, int]]]:
    found = trace(program).carried
    return {NUMBERS[name]: each for name, each in found.items() if each}


@pytest.mark.parametrize("program", EXACT.values(), ids=EXACT)
def test_dependences_are_those_of_a_run(program: Program) -> None:
    assert carried(program) == expected(program)


@seldom
@given(st.builds(Program, COUNTERS, NODES, NODES))
def test_dependences_of_random_loops_are_those_of_a_run(program: Program) -> None:
    found, wanted = carried(program), expected(program)
    if is_read_as_it_is(program):
        assert found == wanted
    for array, each in wanted.items():
        assert each <= found[array]


@seldom
@given(st.builds(Program, COUNTERS, NODES, NODES))
def test_updates_are_disjoint_if_no_element_is_written_twice(program: Program) -> None:
    names = {number: name for name, number in NUMBERS.items()}
    for update in Loop(hlo.parse(program.loop())["w"]).updates():
        written = trace(program).written[names[update.array]]
        is_disjoint = sum(map(len, written)) == len({place for each in written for place in each})
        assert update.is_disjoint() == is_disjoint
        conflict = update.conflict()
        assert (conflict is None) == is_disjoint
        if conflict is not None:
            (element,) = conflict.element
            assert conflict.first < conflict.second
            assert element in written[conflict.first] & written[conflict.second]
            assert not conflict.approximation
