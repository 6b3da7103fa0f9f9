"""Formulas in the number of a device, made again from their tables: equal values, no more text."""

from __future__ import annotations

from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing import parse_map
from indexing.relation import terms_in
from indexing.transform.hull import retabulated
from ops import OperandIndexing, hlo, output_to_input
from tests.cases import for_all, pairs
from tests.evaluation import related
from tests.extent import seldom
from tests.ops import growing_programs
from tests.ops.answers import only

Pairs = list[tuple[int, int]]


def sent(pairs: Pairs, count: int) -> OperandIndexing:
    """What one exchange between devices needs."""
    text, head = growing_programs.sent(pairs), f"HloModule m, num_partitions={count}"
    body = hlo.parse(text.replace("HloModule m", head)).computations[1]
    return only(*output_to_input(body.root).indexing)


def sources(way: OperandIndexing, count: int) -> dict[int, int]:
    """For each device that has an element, where that comes from."""
    found: dict[int, int] = {}
    for asking in range(count):
        if way.map.contains([0], runtime=[asking] * len(way.map.runtime)):
            found[asking] = asking
            if way.replica_id is not None:
                told = [asking] * len(way.replica_id.runtime)
                (found[asking],) = map(int, way.replica_id.evaluate([0], runtime=told))
    return found


@st.composite
def exchanges(draw: st.DrawFn, count: int) -> Pairs:
    """Some devices send to others; each sends once and gets once."""
    numbers = st.permutations(range(count))
    pairs = zip(draw(numbers), draw(numbers), strict=True)
    return [*pairs][: draw(st.integers(1, count))]


@seldom
@given(exchanges(9), st.integers(2, 5))
def test_many_exchanges_are_those_of_their_table(pairs: Pairs, rounds: int) -> None:
    way = step = sent(pairs, 9)
    back = {target: source for source, target in pairs}
    expected = back
    for _ in range(rounds - 1):
        way = way.compose(step)
        expected = {to: back[source] for to, source in expected.items() if source in back}
    assert not way.approximation
    assert sources(way, 9) == expected


@pytest.mark.parametrize("size", range(1, 9))
def test_a_long_formula_is_its_table(size: int) -> None:
    step = steps = parse_map(f"(d0) -> ((d0 + 3) mod {size}), domain: d0 in [0, {size - 1}]")
    for _ in range(9):
        steps = steps.compose(step)
    table = retabulated(steps, "d0")
    assert related(table) == related(steps)
    assert (terms_in(table.forms[0]) < terms_in(steps.forms[0])) == (size > 1)


ROUNDS = pairs("""
ring(16) 16 5 => ((rt0 + 11) mod 16), domain: d0 in [0, 7], rt0 in [0, 15]
broken_ring(100) 104 9
    ((((rt0 + 40) mod 100 + 1) floordiv 100) * 53 + (rt0 + 91) mod 100), domain: d0 in [0, 7],
        rt0 in [0, 99], (rt0 + 41) mod 100 in [0, 91]
""")
"""Devices that send to each other, how many devices and rounds there are, and the formula."""


@for_all(ROUNDS.items())
def test_rounds_are_told_shortly(row: str, expected: str) -> None:
    devices, count, rounds = row.split()
    pairs: Pairs = eval(devices, dict(vars(growing_programs)))  # noqa: S307 - of the table above
    steps = [sent(pairs, int(count))] * int(rounds)
    assert str(reduce(OperandIndexing.compose, steps).replica_id) == f"(d0){{rt0}} -> {expected}"
