"""One map after the other: XLA's order of variables, and the meaning at every point."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing import IndexingMap, MapError, compose, parse_map
from tests.conformance import Row, for_each, rows
from tests.evaluation import related
from tests.strategies import maps

if TYPE_CHECKING:
    from tests.evaluation import Pair

ROWS = [row for row in rows("simplify") if row.get("op", "").startswith("compose")]


@for_each(ROWS)
def test_xla_agrees(row: Row) -> None:
    consumer, producer = map(parse_map, row["input"])
    composed = compose(consumer, producer)
    if row["expected"] == "KNOWN EMPTY":
        assert composed.is_known_empty
        assert len(composed.results) == len(producer.results)
        return
    expected = parse_map(row["expected"])
    if "simplify" in row["op"]:
        composed = composed.simplify()
    assert str(composed) == str(expected)


def test_all_spellings_are_one() -> None:
    consumer, producer = (
        IndexingMap.identity([4]),
        parse_map("(d0) -> (d0 * 2), domain: d0 in [0, 9]"),
    )
    expected = parse_map("(d0) -> (d0 * 2), domain: d0 in [0, 3]")
    assert compose(consumer, producer) == expected
    assert consumer.compose(producer) == expected
    assert producer @ consumer == expected


@st.composite
def chains(draw: st.DrawFn) -> tuple[IndexingMap, IndexingMap]:
    """A consumer and a producer whose arities meet."""
    producer = draw(maps())
    return draw(maps(results=len(producer.dims))), producer


def joined(first: set[Pair], second: set[Pair]) -> set[Pair]:
    """The pairs that two relations reach one after the other."""
    return {(a, d) for a, b in first for c, d in second if b == c}


@given(chains())
def test_composition_is_one_after_the_other(chain: tuple[IndexingMap, IndexingMap]) -> None:
    consumer, producer = chain
    composed = compose(consumer, producer)
    expected = joined(related(consumer), related(producer))
    assert related(composed) == expected
    assert related(composed.simplify()) == expected


@given(maps())
def test_the_identity_changes_nothing(made: IndexingMap) -> None:
    before = IndexingMap((), made.dims)
    identity = IndexingMap.from_forms(
        [before.domain.by_name[name] for name in before.domain.names], before.domain
    )
    assert related(compose(identity, made)) == related(made)


def test_variables_come_in_xla_s_order() -> None:
    consumer = parse_map(
        "(d0)[a]{t} -> (d0 + a + t), domain: d0 in [0, 1], a in [0, 2], t in [0, 3]"
    )
    producer = parse_map(
        "(d0)[b]{u} -> (d0 - b - u), domain: d0 in [0, 9], b in [0, 4], u in [0, 5]"
    )
    assert str(compose(consumer, producer)) == (
        "(d0)[b, a]{u, t} -> (d0 + a + t - b - u), domain: d0 in [0, 1], b in [0, 4], a in [0, 2], "
        "u in [0, 5], t in [0, 3], d0 + a + t in [0, 9]"
    )


TWICE = [
    # both use the name n: the second one goes
    ("(d0)[n] -> (d0 + n)", "(d0)[n] -> (d0 * n)", ["d0", "n", "s1"]),
    # a name that another variable has by its place goes, one that is a free place stays
    ("(s0)[n] -> (s0 + n)", "(d0)[s0] -> (d0 * s0)", ["d0", "s0", "n"]),
    ("(s0)[n] -> (s0 + n)", "(d0)[m] -> (d0 * m)", ["s0", "m", "n"]),
    # the name of a place that becomes needed when another name goes
    ("(s1)[n] -> (s1 + n)", "(d0)[n] -> (d0 * n)", ["d0", "n", "s1"]),
    # a coordinate of a launch keeps its name and kind once
    ("(d0)[th_x] -> (d0 + th_x)", "(d0)[th_x] -> (d0 * th_x)", ["d0", "th_x", "s1"]),
]


@pytest.mark.parametrize(("consumer", "producer", "names"), TWICE)
def test_names_stay_different(consumer: str, producer: str, names: list[str]) -> None:
    def parse(text: str) -> IndexingMap:
        first, second = text[1 : text.index(")")], text[text.index("[") + 1 : text.index("]")]
        return parse_map(f"{text}, domain: {first} in [0, 3], {second} in [0, 1]")

    composed = compose(parse(consumer), parse(producer))
    composed.verify()
    assert list(composed.domain.names) == names
    assert related(composed) == joined(related(parse(consumer)), related(parse(producer)))


def test_arities_must_meet() -> None:
    with pytest.raises(MapError) as caught:
        compose(IndexingMap.identity([4, 4]), IndexingMap.identity([4]))
    assert str(caught.value) == (
        "compose: the consumer has 2 results, but the producer has 1 dimensions; expected as many"
    )
    with pytest.raises(TypeError):
        IndexingMap.identity([4]) @ 3  # pyright: ignore[reportOperatorIssue, reportUnusedExpression]


def test_a_chain_of_fifty_ends_where_it_began() -> None:
    split = parse_map("(d0) -> (d0 floordiv 12, d0 mod 12), domain: d0 in [0, 143]")
    join = parse_map("(d0, d1) -> (d0 * 12 + d1), domain: d0 in [0, 11], d1 in [0, 11]")
    chain = IndexingMap.identity([144])
    for _ in range(25):
        chain = join @ (split @ chain)
    assert chain.simplify() == IndexingMap.identity([144])
