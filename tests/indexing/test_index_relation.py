"""Relations as sets of pairs: against Python's sets of pairs, and against isl's own."""

from __future__ import annotations

import pickle

import islpy as isl
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.loop_nests import NESTS, SIZES, Nest, accesses, isl_dependences
from indexing import (
    IndexingMap,
    IndexRelation,
    IndexSet,
    MapError,
    flow_dependences,
    parse_map,
    parse_relation,
)
from simplifier import TextError
from simplifier.errors import ArgumentError
from simplifier.exact import NotQuasiAffineError
from tests.evaluation import Pair, related
from tests.extent import seldom
from tests.indexing.tables import each_named, evaluated, refusals

HIGH = 5


def pairs_of(relation: IndexRelation[IndexingMap]) -> set[Pair]:
    """What the maps of a relation relate."""
    return {pair for made in relation.maps for pair in related(made)}


@st.composite
def small_maps(draw: st.DrawFn) -> IndexingMap:
    """Maps between pairs of small numbers: affine, with remainders, windows and conditions."""
    a, b, c = (draw(st.integers(-2, 2)) for _ in range(3))
    first = draw(st.sampled_from(("d0", "d1 mod 3", "d0 floordiv 2", "s0", "2")))
    least = draw(st.integers(-2, 3))
    return parse_map(
        f"(d0, d1)[s0] -> ({first} + {c}, d0 * {a} + d1 * {b} + s0), "
        f"domain: d0 in [0, {draw(st.integers(0, HIGH))}], d1 in [0, {HIGH}], "
        f"s0 in [0, {draw(st.integers(0, 2))}], d0 + d1 * {b} in [{least}, {least + 6}]"
    )


@given(small_maps(), small_maps())
def test_operators_are_those_of_sets_of_pairs(left: IndexingMap, right: IndexingMap) -> None:
    one, other = related(left), related(right)
    assert pairs_of(left | right) == one | other
    assert pairs_of(left & right) == one & other
    assert pairs_of(left - right) == one - other
    assert (left <= right) is (one <= other)
    relation, them = IndexRelation(left), IndexRelation(right)
    assert (relation <= them) is (one <= other)
    assert (relation < them) is (one < other)
    assert (relation >= them) is (one >= other)
    assert (relation > them) is (one > other)
    assert (relation == them) is (one == other)
    assert bool(relation) is bool(one)
    assert relation.is_empty() is not bool(one)


@st.composite
def maps_of_bits(draw: st.DrawFn) -> IndexingMap:
    """Maps of one dimension and a range, by functions of bits, also of negative numbers."""
    operands = st.sampled_from(("d0", "s0", "5", "-3", "d0 floordiv 2"))
    name = draw(st.sampled_from(("bitxor", "bitand", "bitor")))
    least = draw(st.integers(-3, 1))
    return parse_map(
        f"(d0)[s0] -> ({name}({draw(operands)}, {draw(operands)})), domain: d0 in [{least}, 4], "
        f"s0 in [0, {draw(st.integers(0, 2))}]"
    )


@seldom
@given(maps_of_bits(), maps_of_bits())
def test_functions_of_bits_are_answered(left: IndexingMap, right: IndexingMap) -> None:
    one, other = related(left), related(right)
    assert pairs_of(left | right) == one | other
    assert pairs_of(left & right) == one & other
    assert pairs_of(left - right) == one - other
    assert pairs_of(left.lexmin()) == {min(pair for pair in one if pair[0] == at) for at, _ in one}
    found = left.first_difference(right)
    first = min((at for at, _ in one ^ other), default=None)
    assert (None if found is None else found.dims) == first


def test_a_swizzle_of_thousands_of_elements_is_answered() -> None:
    rows = IndexingMap.from_sizes("d0, d1", [512, 64])
    swizzle = IndexingMap.from_sizes("d0, bitxor(d1, (d0 mod 8) * 8)", [512, 64])
    assert (swizzle & rows).domain_set().count() == 512 * 64 // 8
    assert str(swizzle.first_difference(rows)).startswith("at (1, 0): the first map gives (1, 8)")
    assert swizzle.lexmin().maps == (swizzle,)
    with pytest.raises(NotQuasiAffineError, match="is a function of bits"):
        IndexRelation(parse_map("(d0) -> (bitxor(d0, 5)), domain: d0 in [0, inf]"))


@seldom
@given(small_maps(), small_maps())
def test_what_it_says_of_itself(left: IndexingMap, right: IndexingMap) -> None:
    relation, found = left | right, related(left) | related(right)
    assert set(relation.domain_set()) == {one for one, _ in found}
    assert set(relation.image()) == {other for _, other in found}
    apart = {tuple(np.subtract(other, one).tolist()) for one, other in found}
    assert set(relation.distances()) == apart
    assert relation.is_function is (len({one for one, _ in found}) == len(found))
    assert pairs_of(relation.inverse()) == {(other, one) for one, other in found}
    assert pairs_of(relation.to_earlier()) == {pair for pair in found if pair[1] < pair[0]}
    assert pairs_of(relation.to_later()) == {pair for pair in found if pair[1] > pair[0]}
    assert parse_relation(str(relation)) == relation or not relation
    assert parse_relation(str(relation.to_isl())) == relation
    copy = pickle.loads(pickle.dumps(relation))  # noqa: S301 - our own bytes
    assert copy == relation
    assert hash(copy) == hash(relation)
    assert str(copy) == str(relation)


@given(small_maps(), small_maps())
def test_extrema_of_each_element(left: IndexingMap, right: IndexingMap) -> None:
    relation, found = left | right, related(left) | related(right)
    reached = {one: sorted(to for from_, to in found if from_ == one) for one, _ in found}
    for extreme, place in ((relation.lexmin(), 0), (relation.lexmax(), -1)):
        assert pairs_of(extreme) == {(one, others[place]) for one, others in reached.items()}
        assert extreme.is_function
        domains = [{one for one, _ in related(made)} for made in extreme.maps]
        assert sum(map(len, domains)) == len(reached), "domains are disjoint"
    assert left.lexmin() == IndexRelation(left).lexmin()
    assert left.lexmax() == IndexRelation(left).lexmax()


@seldom
@given(small_maps(), small_maps(), small_maps())
def test_composition_goes_through(one: IndexingMap, two: IndexingMap, three: IndexingMap) -> None:
    consumer, producer = one | two, IndexRelation(three)
    expected = {
        (start, end)
        for start, middle in related(one) | related(two)
        for begin, end in related(three)
        if begin == middle
    }
    assert pairs_of(producer @ consumer) == expected
    assert consumer.compose(three) == three @ consumer
    elements = IndexSet.box((0, 3), range(0, 6, 2))
    assert set(consumer.apply(elements)) == {
        to for at, to in related(one) | related(two) if at in elements
    }
    assert pairs_of(consumer.restrict(elements)) == {
        pair for pair in related(one) | related(two) if pair[0] in elements
    }
    assert pairs_of(consumer.restrict_results(elements)) == {
        pair for pair in related(one) | related(two) if pair[1] in elements
    }


STENCIL = "[N] -> { [i] -> [j] : 1 <= i < N and i - 1 <= j <= i + 1 and j < N }"


@each_named("""
a window counts from an affine end: parse_relation(STENCIL)
    (i in [1, N - 1])[j < 3]<N in [2, inf]> -> (i + j - 1), domain: i + j - N in [-inf, 0]
a congruence with a parameter stays: parse_relation("[N] -> { [i] -> [j] : (3 + 3N + i) mod 12 = 0
        and 3 <= i <= N and 0 <= j < i }")
    (i in [3, N])[j in [0, inf]]<N in [6, inf]> -> (j), domain: (N * 3 + i) mod 12 in [9, 9],
        i - j in [1, inf]
names are those of the first: parse_map("(a) -> (a), domain: a in [0, 3]") | parse_map("(b) -> (b),
        domain: b in [2, 9]") => (a < 10) -> (a)
a map less a relation: IndexingMap.identity([9]) - IndexRelation(parse_map("(i) -> (i), domain: i in
        [2, 3]")) => (d0) -> (d0), domain: d0 in [0, 1] or (d0) -> (d0), domain: d0 in [4, 8]
nothing: IndexingMap.identity([4, 4]) - IndexingMap.identity([4, 4])
    (d0, d1) -> (0, 0), domain: KNOWN EMPTY
wrapped around: parse_relation("{ [i] -> [i + 1] : 0 <= i < 9; [9] -> [0] }").inverse()
    (d0) -> (9), domain: d0 in [0, 0] or (d0) -> (d0 - 1), domain: d0 in [1, 9]
an or within a condition: parse_relation("(i) -> (i), domain: i in [0, 3] or (j) -> (j), domain: j
        in [5, 6]") => (i) -> (i), domain: i in [0, 3] or (i) -> (i), domain: i in [5, 6]
of no coordinates: IndexRelation(parse_map("() -> ()", unbounded=True)) => () -> ()
at a parameter: parse_map("(i)<N> -> (i + N), domain: i in [0, N - 1], N in [0, inf]").lexmax()
    (i < N)<N in [0, inf]> -> (i + N)
a dimension called as a parameter of the other: parse_map("(N) -> (N), domain: N in [0, 3]") &
        parse_map("(i)<N> -> (i), domain: i in [0, N], N in [0, inf]")
    (d0 in [0, min(N, 3)])<N in [0, inf]> -> (d0)
runtime variables are any value: parse_map("(i){rt0} -> (i + rt0), domain: i in [0, 3], rt0 in [0,
        5]").lexmax() => (i < 4) -> (i + 5)
""")
def test_results_read_well(call: str, expected: str) -> None:
    found = evaluated(call, globals())
    assert str(found) == expected
    assert parse_relation(str(found)) == found


ROWS = parse_map("(d0, d1) -> (d0), domain: d0 in [0, 3], d1 in [0, 3]")

test_errors_say_what_was_expected = refusals(globals(), MapError, TextError, ArgumentError)("""
IndexRelation[IndexingMap]() => IndexRelation: no map is given; expected one or more
IndexRelation("(i) -> (i)") => IndexRelation: map 0 is '(i) -> (i)'; expected an IndexingMap
ROWS | IndexingMap.identity([4])
    |: 2 dimensions and 1 results against 1 dimensions and 1 results; expected as many
IndexRelation(ROWS) - IndexingMap.identity([4])
    -: 2 dimensions and 1 results against 1 dimensions and 1 results; expected as many
IndexingMap.identity([4]) | UndefinedMap("nobody knows") => the map is undefined: nobody knows
parse_relation("{ [i] -> [j] : j <= i }").lexmin() => lexmin: some element is related to others
IndexRelation(ROWS).to_later()
    to_later: the relation has 2 dimensions and 1 results; expected as many
IndexRelation(ROWS).apply(IndexSet.box((0, 3))) => apply: the set has 1 coordinates; expected 2
IndexRelation(ROWS).restrict(3) => restrict: the set is 3; expected an IndexSet
IndexRelation(ROWS).compose(ROWS)
    compose: the producer takes 2 coordinates, the consumer gives 1; expected as many
IndexRelation(ROWS).compose(3)
    compose: the producer is 3; expected an IndexingMap or an IndexRelation
flow_dependences(IndexingMap.identity([4]), ROWS)
    flow_dependences: writes have 1 dimensions and 1 results
flow_dependences(ROWS, 3) => flow_dependences: reads is 3; expected an IndexingMap
parse_relation("{ [i] -> [i * i] }") => isl does not read this as a relation
parse_relation("(i) -> (i), domain: i in [0, 1] or (i) -> (k), domain: i in [2, 3]")
    1:44: 'k' is not a declared variable
""")


def test_other_values_are_no_relations() -> None:
    identity = IndexingMap.identity([4])
    for name in ("__or__", "__and__", "__sub__", "__le__", "__matmul__"):
        for left in (identity, IndexRelation(identity)):
            assert getattr(left, name)(3) is NotImplemented
    assert IndexRelation(identity) != 3


def test_a_relation_and_a_map_go_together_on_either_side() -> None:
    low, high = (parse_map(f"(i) -> (i), domain: i in [{at}, {at + 5}]") for at in (0, 4))
    relation = IndexRelation(high)
    for sign in "|&-":
        both = ((low, relation), (IndexRelation(low), high), (IndexRelation(low), relation))
        found = (evaluated(f"a {sign} b", {"a": one, "b": two}) for one, two in both)
        assert len({*map(str, found)}) == 1
    assert low <= relation | low
    assert (relation | low) >= low


# Dependences of loop nests from the polyhedral literature: as the books say and isl finds.


@pytest.mark.parametrize("nest", NESTS.values(), ids=NESTS)
def test_dependences_are_those_of_isl(nest: Nest) -> None:
    writes, reads = accesses(nest.writes), accesses(nest.reads)
    found = flow_dependences(parse_relation(writes), parse_relation(reads))
    expected = isl_dependences(isl.UnionMap(writes), isl.UnionMap(reads))
    assert isl.UnionMap(str(found.to_isl())).is_equal(expected)
    assert found.to_later() == found, "sources come first"
    if nest.distances:
        sized = flow_dependences(at_sizes(writes), at_sizes(reads))
        assert str(sized.distances()) == nest.distances


def at_sizes(text: str) -> IndexRelation[IndexingMap]:
    """A relation with numbers for its parameters."""
    sized = isl.Map(text)
    for name, value in SIZES.items():
        place = sized.find_dim_by_name(isl.dim_type.param, name)
        sized = sized.fix_val(isl.dim_type.param, place, isl.Val(value))
    return parse_relation(str(sized.project_out(isl.dim_type.param, 0, len(SIZES))))
