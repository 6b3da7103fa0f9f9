"""Composition of dependences with runtime variables and replicas, on values made by hand."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing import IndexingMap, MapError, UndefinedMap, parse_map
from ops import OperandIndexing, RuntimeOrigin, Unknown, hlo
from ops.dependence.dependence import NOTHING, AnyDependence, Dependence, of_element
from ops.performance.coalescing import may_be_same
from ops.rules import rule
from ops.rules.dynamic import _covers
from simplifier import Interval
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.tools.display import html
from tests.evaluation import related

MODULE = hlo.parse("""ENTRY e { x = f32[150,64] parameter(0) a = s32[] parameter(1)
        b = s32[] parameter(2) i = s32[9,3] parameter(3) ROOT r = f32[150,64] negate(x) }""")
A, B, INDICES = MODULE.entry.parameters[1:]


def way(text: str, *origins: tuple[hlo.Instruction, str], replica: str = "") -> OperandIndexing:
    return OperandIndexing(
        parse_map(text),
        tuple(RuntimeOrigin(instruction, parse_map(place)) for instruction, place in origins),
        parse_map(replica) if replica else None,
    )


def test_origins_of_the_producer_come_first() -> None:
    """A slice of a slice: the inner offset is the producer's; openxla/xla#49119 swaps them."""
    outer = way(
        "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 24], rt0 in [0, 25]",
        (B, "(d0) -> (), domain: d0 in [0, 24]"),
    )
    inner = way(
        "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 49], rt0 in [0, 100]",
        (A, "(d0) -> (), domain: d0 in [0, 49]"),
    )
    assert outer.compose(inner) == way(
        "(d0){rt0, rt1} -> (d0 + rt0 + rt1), "
        "domain: d0 in [0, 24], rt0 in [0, 100], rt1 in [0, 25]",
        (A, "(d0) -> (), domain: d0 in [0, 24]"),
        (B, "(d0) -> (), domain: d0 in [0, 24]"),
    )


def test_the_place_of_a_value_follows_the_consumer() -> None:
    """A gather, reversed, then summed: the index is read for the place where it ends up."""
    summed = way("(d0)[s0] -> (s0, d0), domain: d0 in [0, 3], s0 in [0, 8]")
    turned = way("(d0, d1) -> (-d0 + 8, d1), domain: d0 in [0, 8], d1 in [0, 3]")
    gather = way(
        "(d0, d1){rt0} -> (rt0, d1), domain: d0 in [0, 8], d1 in [0, 3], rt0 in [0, 149]",
        (INDICES, "(d0, d1) -> (d0, 2), domain: d0 in [0, 8], d1 in [0, 3]"),
    )
    expected = way(
        "(d0)[s0]{rt0} -> (rt0, d0), domain: d0 in [0, 3], s0 in [0, 8], rt0 in [0, 149]",
        (INDICES, "(d0)[s0] -> (-s0 + 8, 2), domain: d0 in [0, 3], s0 in [0, 8]"),
    )
    assert summed.compose(turned).compose(gather) == expected
    assert summed.compose(turned.compose(gather)) == expected


def test_the_place_of_a_value_may_depend_on_a_value() -> None:
    shifted = way(
        "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 4], rt0 in [0, 4]",
        (A, "(d0) -> (), domain: d0 in [0, 4]"),
    )
    gather = way(
        "(d0){rt0} -> (rt0), domain: d0 in [0, 8], rt0 in [0, 63]",
        (INDICES, "(d0) -> (d0, 1), domain: d0 in [0, 8]"),
    )
    assert shifted.compose(gather) == way(
        "(d0){rt0, rt1} -> (rt0), domain: d0 in [0, 4], rt0 in [0, 63], rt1 in [0, 4]",
        (
            INDICES,
            "(d0){rt0, rt1} -> (d0 + rt1, 1), domain: d0 in [0, 4], rt0 in [0, 63], rt1 in [0, 4]",
        ),
        (A, "(d0) -> (), domain: d0 in [0, 4]"),
    )


SLICE_OF_ROWS = way(
    "(d0){rt0, rt1} -> (d0 + rt0, rt1), domain: d0 in [0, 4], rt0 in [0, 4], rt1 in [0, 5]",
    (A, "(d0) -> (), domain: d0 in [0, 4]"),
    (B, "(d0) -> (), domain: d0 in [0, 4]"),
)


def test_variables_that_nothing_depends_on_go_with_their_origins() -> None:
    clamped = replace(SLICE_OF_ROWS.runtime[0], clamp=Interval(0, 4))
    consumer = replace(SLICE_OF_ROWS, runtime=(clamped, SLICE_OF_ROWS.runtime[1]))
    column = way("(d0, d1) -> (d1), domain: d0 in [0, 8], d1 in [0, 5]")
    assert consumer.compose(column) == way(
        "(d0){rt0} -> (rt0), domain: d0 in [0, 4], rt0 in [0, 5]",
        (B, "(d0) -> (), domain: d0 in [0, 4]"),
    )


def test_variables_that_say_when_an_element_is_meant_stay() -> None:
    """A value that is not clamped may lie outside of the bounds: then there is no element."""
    column = way("(d0, d1) -> (d1), domain: d0 in [0, 8], d1 in [0, 5]")
    assert SLICE_OF_ROWS.compose(column) == way(
        "(d0){rt0, rt1} -> (rt1), domain: d0 in [0, 4], rt0 in [0, 4], rt1 in [0, 5]",
        (A, "(d0) -> (), domain: d0 in [0, 4]"),
        (B, "(d0) -> (), domain: d0 in [0, 4]"),
    )


def test_a_replica_is_asked_for_through_later_operations() -> None:
    gathered = "(d0, d1) -> (d0 mod 4, d1), domain: d0 in [0, 7], d1 in [0, 7]"
    all_gather = way(
        gathered, replica="(d0, d1) -> (d0 floordiv 4), domain: d0 in [0, 7], d1 in [0, 7]"
    )
    transposed = way("(d0, d1) -> (d1, d0), domain: d0 in [0, 7], d1 in [0, 7]")
    local = way("(d0, d1) -> (d0, -d1 + 7), domain: d0 in [0, 3], d1 in [0, 7]")
    assert transposed.compose(all_gather).compose(local) == way(
        "(d0, d1) -> (d1 mod 4, -d0 + 7), domain: d0 in [0, 7], d1 in [0, 7]",
        replica="(d0, d1) -> (d1 floordiv 4), domain: d0 in [0, 7], d1 in [0, 7]",
    )


def test_the_nearest_replica_to_the_element_counts() -> None:
    first = way(
        "(d0) -> (d0 mod 4), domain: d0 in [0, 7]",
        replica="(d0) -> (d0 floordiv 4), domain: d0 in [0, 7]",
    )
    second = way(
        "(d0) -> (d0 mod 2), domain: d0 in [0, 3]",
        replica="(d0) -> (d0 floordiv 2), domain: d0 in [0, 3]",
    )
    assert first.compose(second) == way(
        "(d0) -> (d0 mod 2), domain: d0 in [0, 7]",
        replica="(d0) -> ((d0 floordiv 2) mod 2), domain: d0 in [0, 7]",
    )


def test_an_element_that_is_never_needed_keeps_its_origins() -> None:
    nowhere = way("(d0) -> (d0 + 9), domain: d0 in [0, 4]")
    gather = way(
        "(d0){rt0} -> (rt0), domain: d0 in [0, 8], rt0 in [0, 63]",
        (INDICES, "(d0) -> (d0, 1), domain: d0 in [0, 8]"),
    )
    composed = nowhere.compose(gather)
    assert composed.map.is_known_empty
    assert len(composed.map.runtime) == len(composed.runtime)


@given(first=st.data())
def test_composition_relates_what_the_maps_relate(first: st.DataObject) -> None:
    from tests.strategies import maps

    consumer = first.draw(maps(results=2))
    producer = first.draw(maps(dims=2))
    composed = OperandIndexing(consumer).compose(OperandIndexing(producer)).map
    behind: dict[tuple[int, ...], set[tuple[int, ...]]] = {}
    for index, element in related(producer):
        behind.setdefault(index, set()).add(element)
    expected = {
        (index, end) for index, middle in related(consumer) for end in behind.get(middle, ())
    }
    assert related(composed) == expected


# Sets.

IDENTITY = OperandIndexing(IndexingMap.identity((4,)))
TURNED = way("(d0) -> (-d0 + 3), domain: d0 in [0, 3]")
UNKNOWN = Unknown("sort: no indexing map")
OTHER = Unknown("fft: no indexing map")

BOTH = Dependence((IDENTITY, TURNED))
ONE = Dependence((TURNED,))

UNITED = [
    (Dependence((IDENTITY,)), Dependence((TURNED, IDENTITY)), BOTH),
    (NOTHING, ONE, ONE),
    (ONE, UNKNOWN, UNKNOWN),
    (UNKNOWN, OTHER, UNKNOWN),
]
COMPOSED = [
    (Dependence((TURNED, IDENTITY)), Dependence((TURNED, IDENTITY)), BOTH),
    (ONE, NOTHING, NOTHING),
    (ONE, UNKNOWN, UNKNOWN),
    (OTHER, UNKNOWN, OTHER),
]


@pytest.mark.parametrize(("left", "right", "expected"), UNITED)
def test_all_indexings_are_in_a_union(
    left: AnyDependence, right: AnyDependence, expected: AnyDependence
) -> None:
    assert left.union(right) == expected


@pytest.mark.parametrize(("consumer", "producer", "expected"), COMPOSED)
def test_every_indexing_is_composed_with_every_other(
    consumer: AnyDependence, producer: AnyDependence, expected: AnyDependence
) -> None:
    assert consumer.compose(producer) == expected


def test_a_dependence_is_a_tuple_and_an_unknown_one_an_undefined_map() -> None:
    assert tuple(BOTH) == BOTH
    assert hash(BOTH) == hash(tuple(BOTH))
    assert BOTH != ONE
    assert UndefinedMap(UNKNOWN.reason) == UNKNOWN
    assert (str(UNKNOWN), UNKNOWN.simplify()) == ("unknown (sort: no indexing map)", UNKNOWN)


ASKED: list[tuple[str, Callable[[Any], object]]] = [
    ("each", list),
    ("the first", lambda unknown: unknown[0]),
    ("how many", len),
    ("the dimensions", lambda unknown: unknown.dims),
    *(
        (name, lambda unknown, name=name: getattr(unknown, name))
        for name in ("output_to_input", "input_to_output", "output_sizes", "map", "replica_id")
    ),
]


@pytest.mark.parametrize("ask", [ask for _, ask in ASKED], ids=[name for name, _ in ASKED])
def test_whatever_is_asked_of_an_unknown_fails_with_the_reason(
    ask: Callable[[Any], object],
) -> None:
    """An operation without maps, and indexings that nobody knows, fail as an undefined map does."""
    with pytest.raises(MapError, match=r"^the map is undefined: sort: no indexing map$"):
        ask(UNKNOWN)


def test_an_unknown_has_no_other_attributes() -> None:
    assert not hasattr(UNKNOWN, "histogram")


@pytest.mark.parametrize("dependence", [NOTHING, ONE, BOTH, UNKNOWN])
def test_dependences_are_pickled(dependence: AnyDependence) -> None:
    again = pickle.loads(pickle.dumps(dependence))  # noqa: S301 - own data
    assert again == dependence
    assert type(again) is type(dependence)


@pytest.mark.parametrize(
    ("dependence", "singles"), [(NOTHING, []), (ONE, [ONE]), (UNKNOWN, [UNKNOWN])]
)
def test_singles_are_one_indexing_each(
    dependence: AnyDependence, singles: list[AnyDependence]
) -> None:
    assert dependence.singles() == singles
    assert BOTH.singles() == [(IDENTITY,), (TURNED,)]


@pytest.mark.parametrize(
    ("dependence", "entries", "kept"),
    [(NOTHING, (), NOTHING), (BOTH, (IDENTITY, TURNED), ONE), (UNKNOWN, (UNKNOWN,), UNKNOWN)],
)
def test_entries_are_the_indexings_or_the_reason(
    dependence: AnyDependence, entries: tuple[object, ...], kept: AnyDependence
) -> None:
    assert dependence.entries == entries
    assert dependence.only(lambda each: each != IDENTITY) == kept


def test_what_must_be_known_fails_with_the_reason() -> None:
    assert rule.known(ONE, MapError) is ONE
    with pytest.raises(MapError, match=r"^sort: no indexing map$"):
        rule.known(UNKNOWN, MapError)


def test_indexings_that_become_equal_are_one() -> None:
    assert BOTH.apply(lambda _: TURNED) == (TURNED,)


def test_a_replica_that_nothing_asks_keeps_up_with_the_map() -> None:
    ranged = "(d0)[s0] -> (d0 + s0), domain: d0 in [0, -1], s0 in [0, 3]"
    moved = way(ranged, replica=ranged).ranges_to_dims()
    assert moved.replica_id is not None
    assert len(moved.replica_id.dims) == len(moved.map.dims) == 2


def test_ranges_without_dimensions_become_dimensions() -> None:
    assert str(way("()[s0] -> (s0), domain: s0 in [0, 3]").ranges_to_dims().map) == (
        "(d0) -> (d0), domain: d0 in [0, 3]"
    )


def test_one_indexing_to_each_array_is_not_widened() -> None:
    both = Dependence((IDENTITY, replace(TURNED, element=1)))
    assert both.widened() == both


def test_values_of_one_array_may_be_the_same_unless_their_indices_are_apart() -> None:
    first, second, any_one = (
        RuntimeOrigin(INDICES, parse_map(f"(d0) -> ({index}, 0), domain: d0 in [0, 8]"))
        for index in (0, 1, "d0")
    )
    elsewhere = replace(first, instruction=A)
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


def test_html_shows_each_map_or_the_reason() -> None:
    maps = [IDENTITY._repr_html_(), TURNED._repr_html_()]
    assert BOTH._repr_html_() == "".join(maps)
    assert Unknown("custom-call: no indexing map of <x>")._repr_html_() == html(
        "<pre>unknown (custom-call: no indexing map of &lt;x&gt;)</pre>"
    )


def test_what_changes_nothing_keeps_the_dependence() -> None:
    assert BOTH.apply(OperandIndexing.simplify) is BOTH
    assert of_element(BOTH, 0) is BOTH
    assert [each.element for each in of_element(BOTH, 2).indexings] == [2, 2]


NOWHERE = "domain: d0 in [0, 7], s0 in [0, 1], d0 mod 4 in [1, 1], d0 mod 6 in [0, 0]"


def test_a_map_to_a_replica_that_is_empty_is_one() -> None:
    """Its ranges are those of the indexing, and nobody asks isl whether it has a point."""
    asked = way(f"(d0)[s0] -> (d0), {NOWHERE}", replica=f"(d0)[s0] -> (s0), {NOWHERE}")
    assert len(asked.simplify().map.ranges) == 1
    moved = asked.ranges_to_dims()
    assert moved.replica_id is not None
    assert (len(moved.map.dims), len(moved.replica_id.dims)) == (2, 2)
