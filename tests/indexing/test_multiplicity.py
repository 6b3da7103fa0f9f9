"""Multiplicity: the answer for all elements at once equals a count one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from indexing import IndexingMap, MapError, UndefinedMap, parse_map
from indexing.exact import counting
from indexing.exact.counting import independent_parts, levels_of, multiplicities
from indexing.exact.isl import in_order
from indexing.exact.questions import reached, reached_again
from simplifier import BudgetError, NotQuasiAffineError
from simplifier.exact import Space
from tests.extent import seldom
from tests.strategies import maps

SIDE = 2**40
LAST = SIDE - 1

HISTOGRAMS: dict[str, tuple[list[str], dict[int, int]]] = {
    "nothing": ([], {}),
    "known empty": (["(d0) -> (d0), domain: KNOWN EMPTY"], {}),
    "empty": (["(d0) -> (d0), domain: d0 in [0, 9], d0 mod 4 in [1, 1], d0 mod 6 in [0, 0]"], {}),
    "a scalar": (["(d0)[s0] -> (), domain: d0 in [0, 9], s0 in [0, 4]", "() -> ()"], {51: 1}),
    "each element once": ([f"(d0) -> (d0), domain: d0 in [0, {LAST}]"], {1: SIDE}),
    "a broadcast": ([f"(d0, d1) -> (d1), domain: d0 in [0, {LAST}], d1 in [0, 9]"], {SIDE: 10}),
    "a row for each of its elements, and the element": (
        [
            f"(d0, d1) -> (d0, d1), domain: d0 in [0, {LAST}], d1 in [0, 124]",
            f"(d0, d1)[s0] -> (d0, s0), domain: d0 in [0, {LAST}], d1 in [0, 124], s0 in [0, 124]",
        ],
        {126: SIDE * 125},
    ),
    "a tensor and its transpose": (
        [
            f"(d0, d1) -> (d0, d1), domain: d0 in [0, {LAST}], d1 in [0, {LAST}]",
            f"(d0, d1) -> (d1, d0), domain: d0 in [0, {LAST}], d1 in [0, {LAST}]",
        ],
        {2: SIDE**2},
    ),
    "windows": (
        [f"(d0)[s0] -> (d0 * 2 + s0), domain: d0 in [0, {LAST}], s0 in [0, 2]"],
        {1: SIDE + 2, 2: LAST},
    ),
    "windows of two dimensions": (
        [
            (
                f"(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1), domain: d0 in [0, {LAST}], "
                f"d1 in [0, {LAST}], s0 in [0, 1], s1 in [0, 1]"
            )
        ],
        {1: 4, 2: 4 * LAST, 4: LAST**2},
    ),
    "blocks": ([f"(d0) -> (d0 floordiv 8), domain: d0 in [0, {8 * SIDE + 2}]"], {3: 1, 8: SIDE}),
    "around and around": (
        [f"(d0) -> (d0 mod 7), domain: d0 in [0, {7 * SIDE}]"],
        {SIDE: 6, SIDE + 1: 1},
    ),
    "slices that overlap": (
        [
            f"(d0) -> (d0), domain: d0 in [0, {LAST}]",
            f"(d0) -> (d0 * 2 + 10), domain: d0 in [0, {LAST}]",
        ],
        {1: SIDE // 2 + 5 + SIDE // 2 + 5, 2: SIDE // 2 - 5},
    ),
    "a triangle": (
        [
            (
                f"(d0, d1) -> (d0, d1), domain: d0 in [0, {LAST}], d1 in [0, {LAST}], "
                f"d0 - d1 in [0, {LAST}]"
            )
        ],
        {1: SIDE * (SIDE + 1) // 2},
    ),
    "a product that isl is not told of": (
        ["(d0, d1) -> (d0 * d1), domain: d0 in [0, 2], d1 in [0, 2]"],
        {1: 2, 2: 1, 5: 1},
    ),
    "sums of three": (
        ["(d0, d1, d2) -> (d0 + d1 + d2), domain: d0 in [0, 99], d1 in [0, 9], d2 in [0, 9]"],
        {**{n * (n + 1) // 2: 2 for n in range(1, 10)}, 100: 82}
        | {100 - n * (n + 1) // 2: 2 for n in range(1, 10)},
    ),
}


def counted(given_maps: Sequence[IndexingMap]) -> Counter[tuple[int, ...]]:
    """How often each element is reached, one point after the other."""
    times: Counter[tuple[int, ...]] = Counter()
    for each in given_maps:
        times.update(results for *_, results in each.points())
    return times


def as_histogram(times: Counter[tuple[int, ...]]) -> dict[int, int]:
    return dict(sorted(Counter(times.values()).items()))


@pytest.mark.parametrize(("texts", "expected"), HISTOGRAMS.values(), ids=HISTOGRAMS)
def test_elements_are_counted_by_how_often_they_are_reached(
    texts: list[str], expected: dict[int, int]
) -> None:
    found = multiplicities(map(parse_map, texts))
    assert found == expected
    assert [*found] == sorted(found)


def without_runtime(given_map: IndexingMap) -> IndexingMap:
    """The map with dimensions in place of runtime variables, and so of ranges."""
    return given_map.symbols_to_dims() if given_map.runtime else given_map


several = st.integers(0, 2).flatmap(
    lambda rank: st.lists(maps(results=rank).map(without_runtime), max_size=3)
)


@given(several)
def test_multiplicities_are_those_counted(given_maps: list[IndexingMap]) -> None:
    assert multiplicities(given_maps) == as_histogram(counted(given_maps))


@given(several)
def test_isl_and_going_through_all_points_agree(given_maps: list[IndexingMap]) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(counting, "_FEW_POINTS", -1)
        assert multiplicities(given_maps) == as_histogram(counted(given_maps))


@seldom
@given(several)
def test_what_is_reached_again_is_what_was_counted_twice(given_maps: list[IndexingMap]) -> None:
    rank = len(given_maps[0].forms) if given_maps else 0
    times = counted(given_maps)
    assert {*reached(given_maps, rank)} == {*times}
    assert {*reached_again(given_maps, rank)} == {each for each in times if times[each] > 1}


@given(maps(results=1).map(without_runtime))
def test_levels_are_the_elements_of_so_many_points(given_map: IndexingMap) -> None:
    whole = given_map.ranges_to_dims()
    space = Space({})
    levels = levels_of(whole, space.context)
    times = counted([given_map])
    if levels is not None:
        assert {
            (value, element) for value, level in levels.items() for element in in_order(level)
        } == {(value, element) for element, value in times.items()}


@given(maps().map(without_runtime))
def test_parts_multiply_to_the_map(given_map: IndexingMap) -> None:
    assume(not given_map.is_known_empty)
    parts, (rest,) = independent_parts([given_map])
    total = rest.count()
    for part in parts:
        total *= part.maps[0].count()
    assert total == given_map.count()
    assert sorted(k for part in parts for k in part.coordinates) == [*range(len(given_map.forms))]


REFUSED = [
    ("(d0)[s0] -> (d0 + s0), domain: d0 in [0, inf], s0 in [0, 4]", MapError, "has no bounds"),
    (
        f"(d0, d1, d2) -> (d0 + d1 + d2), domain: d0 in [0, {LAST}], d1 in [0, 9], d2 in [0, 9]",
        MapError,
        r"multiplicities: \d+ points would have to be gone through; expected 8388608",
    ),
    (
        f"(d0) -> (d0 * d0), domain: d0 in [0, {(1 << 22) + 9}]",
        MapError,
        r"multiplicities: \d+ elements would have to be counted; expected 4194304",
    ),
    (
        f"(d0, d1) -> (d0 * d1), domain: d0 in [0, {LAST}], d1 in [0, {LAST}]",
        NotQuasiAffineError,
        "a product of variables",
    ),
]


@pytest.mark.parametrize(
    ("text", "error", "message"), REFUSED, ids=["unbounded", "large", "many elements", "product"]
)
def test_what_cannot_be_counted_is_refused(text: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        multiplicities([parse_map(text)])


BAD_ARGUMENTS: list[tuple[Any, str]] = [
    ([UndefinedMap("nobody knows")], "undefined"),
    (["(d0) -> (d0)"], "multiplicities: one of the maps is '.*'; expected an IndexingMap"),
    (
        [parse_map("() -> ()"), parse_map("() -> (1)")],
        "there are maps with 0, 1 results; expected as many in all",
    ),
    (parse_map("() -> ()"), "is given; expected several maps"),
]


@pytest.mark.parametrize(
    ("given_maps", "message"), BAD_ARGUMENTS, ids=["undefined", "text", "ranks", "one"]
)
def test_what_are_no_maps_to_one_tensor_is_refused(
    given_maps: list[IndexingMap], message: str
) -> None:
    with pytest.raises(MapError, match=message):
        multiplicities(given_maps)


def test_a_budget_is_kept() -> None:
    text = HISTOGRAMS["windows"][0][0]
    with pytest.raises(BudgetError):
        multiplicities([parse_map(text)], budget=10)
    with pytest.raises(BudgetError):
        reached_again([parse_map(text)], 1, budget=10)
