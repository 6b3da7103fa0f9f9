"""Composition of dependences with runtime variables and replicas, on values made by hand."""

from __future__ import annotations

import pickle
from ast import literal_eval
from dataclasses import replace
from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing import IndexingMap, MapError, UndefinedMap, parse_map
from ops import Fusion, OperandIndexing, RuntimeOrigin, Unknown, hlo, limits
from ops.dependence.dependence import NOTHING, AnyDependence, Dependence, of_element
from ops.performance.coalescing import may_be_same
from ops.rules import rule
from ops.rules.dynamic import _covers
from simplifier import Interval
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.tools.display import html
from tests.cases import by_name, for_all, pairs
from tests.evaluation import related
from tests.strategies import maps

MODULE = hlo.parse("""ENTRY e { x = f32[150,64] parameter(0) a = s32[] parameter(1)
        b = s32[] parameter(2) i = s32[9,3] parameter(3) ROOT r = f32[150,64] negate(x) }""")


def way(text: str) -> OperandIndexing:
    """A map, and behind it the origins of its values, ``A in [0, 4]: (d0) -> (0)``.

    Their maps, and the one behind ``replica``, have the bounds of the same variables.
    """
    main, *more = text.split("; ")
    bounds = main.partition(", domain: ")[2].split(", ")
    bounds = [", ".join(pair) for pair in zip(bounds[::2], bounds[1::2], strict=True)]
    origins: list[RuntimeOrigin] = []
    replica = None
    for name, place in (each.split(": ") for each in more):
        own = [each for each in bounds if each.split(maxsplit=1)[0] in place.partition("->")[0]]
        found = parse_map(f"{place}, domain: {', '.join(own)}")
        if name == "replica":
            replica = found
        else:
            clamp = Interval(*literal_eval(name[5:])) if " in " in name else None
            origins.append(RuntimeOrigin(ORIGINS[name[0]], found, clamp=clamp))
    return OperandIndexing(parse_map(main), tuple(origins), replica)


ORIGINS = dict(zip("ABI", MODULE.entry.parameters[1:], strict=True))

COMPOSITIONS = by_name("""
# A slice of a slice: the inner offset is the producer's; openxla/xla#49119 swaps them.
origins of the producer come first
    (d0){rt0} -> (d0 + rt0), domain: d0 in [0, 24], rt0 in [0, 25]; B: (d0) -> ()
    (d0){rt0} -> (d0 + rt0), domain: d0 in [0, 49], rt0 in [0, 100]; A: (d0) -> ()
    (d0){rt0, rt1} -> (d0 + rt0 + rt1), domain: d0 in [0, 24], rt0 in [0, 100], rt1 in [0, 25];
        A: (d0) -> (); B: (d0) -> ()
# A gather, reversed, then summed: the index is read for the place where it ends up.
the place of a value follows the consumer
    (d0)[s0] -> (s0, d0), domain: d0 in [0, 3], s0 in [0, 8]
    (d0, d1) -> (-d0 + 8, d1), domain: d0 in [0, 8], d1 in [0, 3]
    (d0, d1){rt0} -> (rt0, d1), domain: d0 in [0, 8], d1 in [0, 3], rt0 in [0, 149];
        I: (d0, d1) -> (d0, 2)
    (d0)[s0]{rt0} -> (rt0, d0), domain: d0 in [0, 3], s0 in [0, 8], rt0 in [0, 149];
        I: (d0)[s0] -> (-s0 + 8, 2)
the place of a value may depend on a value
    (d0){rt0} -> (d0 + rt0), domain: d0 in [0, 4], rt0 in [0, 4]; A: (d0) -> ()
    (d0){rt0} -> (rt0), domain: d0 in [0, 8], rt0 in [0, 63]; I: (d0) -> (d0, 1)
    (d0){rt0, rt1} -> (rt0), domain: d0 in [0, 4], rt0 in [0, 63], rt1 in [0, 4];
        I: (d0){rt0, rt1} -> (d0 + rt1, 1); A: (d0) -> ()
variables that nothing depends on go with their origins
    (d0){rt0, rt1} -> (d0 + rt0, rt1), domain: d0 in [0, 4], rt0 in [0, 4], rt1 in [0, 5];
        A in [0, 4]: (d0) -> (); B: (d0) -> ()
    (d0, d1) -> (d1), domain: d0 in [0, 8], d1 in [0, 5]
    (d0){rt0} -> (rt0), domain: d0 in [0, 4], rt0 in [0, 5]; B: (d0) -> ()
# A value that is not clamped may lie outside of the bounds: then there is no element.
variables that say when an element is meant stay
    (d0){rt0, rt1} -> (d0 + rt0, rt1), domain: d0 in [0, 4], rt0 in [0, 4], rt1 in [0, 5];
        A: (d0) -> (); B: (d0) -> ()
    (d0, d1) -> (d1), domain: d0 in [0, 8], d1 in [0, 5]
    (d0){rt0, rt1} -> (rt1), domain: d0 in [0, 4], rt0 in [0, 4], rt1 in [0, 5]; A: (d0) -> ();
        B: (d0) -> ()
a replica is asked for through later operations
    (d0, d1) -> (d1, d0), domain: d0 in [0, 7], d1 in [0, 7]
    (d0, d1) -> (d0 mod 4, d1), domain: d0 in [0, 7], d1 in [0, 7];
        replica: (d0, d1) -> (d0 floordiv 4)
    (d0, d1) -> (d0, -d1 + 7), domain: d0 in [0, 3], d1 in [0, 7]
    (d0, d1) -> (d1 mod 4, -d0 + 7), domain: d0 in [0, 7], d1 in [0, 7];
        replica: (d0, d1) -> (d1 floordiv 4)
the nearest replica to the element counts
    (d0) -> (d0 mod 4), domain: d0 in [0, 7]; replica: (d0) -> (d0 floordiv 4)
    (d0) -> (d0 mod 2), domain: d0 in [0, 3]; replica: (d0) -> (d0 floordiv 2)
    (d0) -> (d0 mod 2), domain: d0 in [0, 7]; replica: (d0) -> ((d0 floordiv 2) mod 2)
""")
"""Steps from a result on, and what they are together."""


@for_all(COMPOSITIONS)
def test_compositions(row: tuple[str, ...]) -> None:
    *steps, expected = map(way, row)
    first, *others = steps
    assert reduce(OperandIndexing.compose, others, first) == expected
    assert reduce(lambda last, each: each.compose(last), reversed(steps)) == expected


def test_an_element_that_is_never_needed_keeps_its_origins() -> None:
    nowhere = way("(d0) -> (d0 + 9), domain: d0 in [0, 4]")
    gather = way("(d0){rt0} -> (rt0), domain: d0 in [0, 8], rt0 in [0, 63]; I: (d0) -> (d0, 1)")
    composed = nowhere.compose(gather)
    assert composed.map.is_known_empty
    assert len(composed.map.runtime) == len(composed.runtime)


@given(first=st.data())
def test_composition_relates_what_the_maps_relate(first: st.DataObject) -> None:
    consumer = first.draw(maps(results=2))
    producer = first.draw(maps(dims=2))
    composed = OperandIndexing(consumer).compose(OperandIndexing(producer)).map
    behind: dict[tuple[int, ...], set[tuple[int, ...]]] = {}
    for index, element in related(producer):
        behind.setdefault(index, set()).add(element)
    pairs = ((index, behind.get(middle, ())) for index, middle in related(consumer))
    assert related(composed) == {(index, end) for index, ends in pairs for end in ends}


# Sets.

IDENTITY = OperandIndexing(IndexingMap.identity((4,)))
TURNED = way("(d0) -> (-d0 + 3), domain: d0 in [0, 3]")
UNKNOWN = Unknown("sort: no indexing map")
OTHER = Unknown("fft: no indexing map")

BOTH = Dependence((IDENTITY, TURNED))
ONE = Dependence((TURNED,))

EQUAL = pairs("""
Dependence((IDENTITY,)).union(Dependence((TURNED, IDENTITY))) => BOTH
NOTHING.union(ONE) => ONE
ONE.union(UNKNOWN) => UNKNOWN
UNKNOWN.union(OTHER) => UNKNOWN
Dependence((TURNED, IDENTITY)).compose(Dependence((TURNED, IDENTITY))) => BOTH
ONE.compose(NOTHING) => NOTHING
ONE.compose(UNKNOWN) => UNKNOWN
OTHER.compose(UNKNOWN) => OTHER
NOTHING.singles() => []
ONE.singles() => [ONE]
UNKNOWN.singles() => [UNKNOWN]
BOTH.singles() => [(IDENTITY,), (TURNED,)]
NOTHING.entries => ()
BOTH.entries => (IDENTITY, TURNED)
UNKNOWN.entries => (UNKNOWN,)
NOTHING.only(bool) => NOTHING
BOTH.only(lambda each: each != IDENTITY) => ONE
UNKNOWN.only(bool) => UNKNOWN
BOTH.apply(lambda _: TURNED) => (TURNED,)
BOTH.apply(OperandIndexing.simplify) is BOTH => True
of_element(BOTH, 0) is BOTH => True
[each.element for each in of_element(BOTH, 2).indexings] => [2, 2]
Dependence((IDENTITY, TURNED.of_element(1))).widened()
    Dependence((IDENTITY, TURNED.of_element(1)))
tuple(BOTH) => BOTH
hash(BOTH) => hash(tuple(BOTH))
BOTH == ONE => False
rule.known(ONE, MapError) is ONE => True
UndefinedMap(UNKNOWN.reason) => UNKNOWN
UNKNOWN.simplify() => UNKNOWN
str(UNKNOWN) => "unknown (sort: no indexing map)"
hasattr(UNKNOWN, "histogram") => False
BOTH._repr_html_() => IDENTITY._repr_html_() + TURNED._repr_html_()
Unknown("<x>")._repr_html_() => html("<pre>unknown (&lt;x&gt;)</pre>")
""")


@for_all(EQUAL.items())
def test_sets_of_indexings(call: str, expected: str) -> None:
    names = {"UndefinedMap": UndefinedMap, "of_element": of_element, "rule": rule, "html": html}
    found, wanted = (eval(text, globals(), names) for text in (call, expected))  # noqa: S307 - ours
    assert found == wanted


NAMES = "dims", "map", "replica_id", "output_to_input", "input_to_output", "output_sizes"
ASKED = ["[*UNKNOWN]", "UNKNOWN[0]", "len(UNKNOWN)", *(f"UNKNOWN.{name}" for name in NAMES)]


@for_all(ASKED)
def test_whatever_is_asked_of_an_unknown_fails_with_the_reason(question: str) -> None:
    """An operation without maps, and indexings that nobody knows, fail as an undefined map does."""
    with pytest.raises(MapError, match=r"^the map is undefined: sort: no indexing map$"):
        eval(question)  # noqa: S307 - of the table above


def test_what_must_be_known_fails_with_the_reason() -> None:
    with pytest.raises(MapError, match=r"^sort: no indexing map$"):
        rule.known(UNKNOWN, MapError)


@for_all([NOTHING, ONE, BOTH, UNKNOWN])
def test_dependences_are_pickled(dependence: AnyDependence) -> None:
    again = pickle.loads(pickle.dumps(dependence))  # noqa: S301 - own data
    assert again == dependence
    assert type(again) is type(dependence)


def test_a_replica_that_nothing_asks_keeps_up_with_the_map() -> None:
    ranged = "(d0)[s0] -> (d0 + s0)"
    asked = way(f"{ranged}, domain: d0 in [0, -1], s0 in [0, 3]; replica: {ranged}")
    moved = asked.ranges_to_dims()
    assert [len(each.dims) for each in (moved.map, moved.replica_id) if each is not None] == [2, 2]


def test_ranges_without_dimensions_become_dimensions() -> None:
    moved = way("()[s0] -> (s0), domain: s0 in [0, 3]").ranges_to_dims().map
    assert str(moved) == "(d0) -> (d0), domain: d0 in [0, 3]"


def test_values_of_one_array_may_be_the_same_unless_their_indices_are_apart() -> None:
    first, second, any_one = (
        RuntimeOrigin(ORIGINS["I"], parse_map(f"(d0) -> ({index}, 0), domain: d0 in [0, 8]"))
        for index in (0, 1, "d0")
    )
    elsewhere = replace(first, instruction=ORIGINS["A"])
    pairs = (first, first), (first, second), (first, any_one), (first, elsewhere)
    assert [may_be_same(*pair) for pair in pairs] == [True, False, True, False]


def test_a_part_covers_an_index_without_conditions_that_always_hold() -> None:
    index, start = forms.variable("d0"), forms.variable("rt0")
    for known, last, part, expected in (
        (None, 0, 1, []),
        (None, 3, 1, [operations.zero(index - start)]),
        (0, 3, 1, [operations.nonnegative(start - index)]),
        (3, 3, 1, [operations.nonnegative(index - start)]),
    ):
        assert [*_covers(index, start, known, last, part)] == expected


NOWHERE = "domain: d0 in [0, 7], s0 in [0, 1], d0 mod 4 in [1, 1], d0 mod 6 in [0, 0]"


def test_a_map_to_a_replica_that_is_empty_is_one() -> None:
    """Its ranges are those of the indexing, and nobody asks isl whether it has a point."""
    first, second = (parse_map(f"(d0)[s0] -> ({result}), {NOWHERE}") for result in ("d0", "s0"))
    asked = OperandIndexing(first, replica_id=second)
    assert len(asked.simplify().map.ranges) == 1
    moved = asked.ranges_to_dims()
    assert [len(each.dims) for each in (moved.map, moved.replica_id) if each is not None] == [2, 2]


# Indexings that another one contains go; others stay.

ROW = "(d0)[s0] -> (d0, s0), domain: d0 in [0, 3], s0 in [0, 7]"
DIAGONAL = "(d0) -> (d0, d0), domain: d0 in [0, 3]"
MAPS = {"ROW": ROW, "DIAGONAL": DIAGONAL} | pairs("""
TWO_RANGES => (d0)[s0, s1] -> (d0, s0 * 2 + s1), domain: d0 in [0, 3], s0 in [0, 3], s1 in [0, 1]
HALF => (d0)[s0] -> (d0, s0), domain: d0 in [0, 3], s0 in [0, 3]
BEYOND => (d0)[s0] -> (d0, s0), domain: d0 in [0, 3], s0 in [4, 9]
""")
MINIMAL = pairs("""
# in other words, in either order, two at once, only overlapping, and alone
ROW TWO_RANGES => ROW
ROW DIAGONAL => ROW
DIAGONAL ROW => ROW
DIAGONAL HALF ROW => ROW
ROW BEYOND => ROW BEYOND
DIAGONAL => DIAGONAL
""")


@for_all(MINIMAL.items())
def test_contained_maps_go(before: str, after: str) -> None:
    given, left = (Dependence(way(MAPS[name]) for name in row.split()) for row in (before, after))
    assert given.minimal() == left


@given(st.lists(maps(results=1, dims=1), max_size=3))
def test_together_they_relate_the_same(drawn: list[IndexingMap]) -> None:
    without_values = [each for each in drawn if not each.runtime]
    left = Dependence(map(OperandIndexing, without_values)).minimal()
    pairs = [related(each.map) for each in left]
    assert set().union(*pairs) == set().union(*map(related, without_values))
    for number, one in enumerate(pairs):
        assert not any(one <= other for place, other in enumerate(pairs) if place != number)


def test_what_takes_long_to_compare_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_STEPS_OF_COMPARISON", 1)
    wide = (text.replace("3]", "3333]").replace("7]", "9999]") for text in (ROW, DIAGONAL))
    both = Dependence(map(way, wide))
    assert both.minimal() == both


def test_other_arrays_other_values_and_what_is_unknown_stay() -> None:
    both = Dependence((way(ROW), way(DIAGONAL).of_element(1)))
    assert both.minimal() == both
    assert UNKNOWN.minimal() == UNKNOWN
    module = hlo.parse("""ENTRY e { x = f32[9] parameter(0) i = s32[] parameter(1)
      j = s32[] parameter(2) a = f32[2] dynamic-slice(x, i), dynamic_slice_sizes={2}
      b = f32[2] dynamic-slice(x, j), dynamic_slice_sizes={2} ROOT r = f32[2] add(a, b) }""")
    found = Fusion.of_computation(module.entry).indexing(minimal=True)
    assert len(found[module.entry.parameters[0]].indexings) == 2
