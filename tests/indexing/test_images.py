"""What maps reach and where they are defined: by family of operations, and at all points."""

from __future__ import annotations

import pickle
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing import IndexingMap, IndexSet, MapError, StridedInterval, parse_map
from indexing.exact.boxes import Box, box_set
from indexing.exact.index_set import read_set
from simplifier import BudgetError, Interval
from simplifier.exact import Space
from tests.cases import for_all
from tests.strategies import maps

IMAGES = {
    "identity": (
        "(d0, d1) -> (d0, d1), domain: d0 in [0, 3], d1 in [0, 7]",
        "(d0, d1): d0 in [0, 3], d1 in [0, 7]",
    ),
    "transpose": (
        "(d0, d1) -> (d1, d0), domain: d0 in [0, 3], d1 in [0, 7]",
        "(d0, d1): d0 in [0, 7], d1 in [0, 3]",
    ),
    "broadcast": (
        "(d0, d1) -> (d1, 0), domain: d0 in [0, 3], d1 in [0, 7]",
        "(d0, d1): d0 in [0, 7], d1 in [0, 0]",
    ),
    "scalar": ("(d0, d1) -> (), domain: d0 in [0, 3], d1 in [0, 7]", "()"),
    "slice": ("(d0) -> (d0 + 5), domain: d0 in [0, 9]", "(d0): d0 in [5, 14]"),
    "strided slice": ("(d0) -> (d0 * 3 + 5), domain: d0 in [0, 9]", "(d0): d0 in [5, 32] step 3"),
    "reverse": ("(d0) -> (-d0 * 2 + 9), domain: d0 in [0, 4]", "(d0): d0 in [1, 9] step 2"),
    "pad": ("(d0) -> (d0 - 2), domain: d0 in [0, 9], d0 in [2, 6]", "(d0): d0 in [0, 4]"),
    "interior pad": (
        "(d0) -> (d0 floordiv 3), domain: d0 in [0, 27], d0 mod 3 in [0, 0]",
        "(d0): d0 in [0, 9]",
    ),
    "into a padded operand": (
        "(d0, d1) -> (d0 * 2 + 1, d1 + 4), domain: d0 in [0, 4], d1 in [0, 2]",
        "(d0, d1): d0 in [1, 9] step 2, d1 in [4, 6]",
    ),
    "reduce": (
        "(d0)[s0] -> (d0, s0), domain: d0 in [0, 3], s0 in [0, 7]",
        "(d0, d1): d0 in [0, 3], d1 in [0, 7]",
    ),
    "window": (
        "(d0)[s0] -> (d0 * 4 + s0), domain: d0 in [0, 3], s0 in [0, 5]",
        "(d0): d0 in [0, 17]",
    ),
    "dilated window": (
        "(d0)[s0] -> (d0 * 8 + s0 * 3), domain: d0 in [0, 1], s0 in [0, 2]",
        "(d0): d0 in [0, 6] step 3 or d0 in [8, 14] step 3",
    ),
    "reshape that joins": (
        "(d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 3], d1 in [0, 7]",
        "(d0): d0 in [0, 31]",
    ),
    "reshape that splits": (
        "(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]",
        "(d0, d1): d0 in [0, 3], d1 in [0, 7]",
    ),
    "reshape of a slice": (
        "(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [3, 52]",
        (
            "(d0, d1): d0 in [0, 0], d1 in [3, 7] or d0 in [1, 5], d1 in [0, 7] "
            "or d0 in [6, 6], d1 in [0, 4]"
        ),
    ),
    "reshape of a huge slice": (
        "(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [3, 1099511627775]",
        "(d0, d1): d0 in [0, 0], d1 in [3, 7] or d0 in [1, 137438953471], d1 in [0, 7]",
    ),
    "concatenation": (
        "(d0)[s0] -> (d0 + s0 * 10), domain: d0 in [0, 3], s0 in [0, 1]",
        "(d0): d0 in [0, 3] or d0 in [10, 13]",
    ),
    "two boxes": (
        "(d0, d1)[s0] -> (d0 + s0 * 9, d1 + s0), domain: d0 in [0, 4], d1 in [0, 3], s0 in [0, 1]",
        "(d0, d1): d0 in [0, 4], d1 in [0, 3] or d0 in [9, 13], d1 in [1, 4]",
    ),
    "dynamic slice": (
        "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 6]",
        "(d0): d0 in [0, 9]",
    ),
    "gather of aligned rows": (
        "(d0){rt0} -> (rt0 * 8, d0), domain: d0 in [0, 3], rt0 in [0, 6]",
        "(d0, d1): d0 in [0, 48] step 8, d1 in [0, 3]",
    ),
    "clamped": (
        "(d0)[s0] -> (max(0, min(d0 + s0 - 3, 9))), domain: d0 in [0, 9], s0 in [0, 6]",
        "(d0): d0 in [0, 9]",
    ),
    "residues": (
        "(d0) -> (d0), domain: d0 in [0, 999], d0 mod 6 in [2, 3]",
        "(d0): d0 in [2, 998] step 6 or d0 in [3, 999] step 6",
    ),
    "blocks": (
        "(d0) -> (d0), domain: d0 in [0, 200], d0 mod 100 in [0, 79]",
        "(d0): d0 in [0, 79] or d0 in [100, 179] or d0 in [200, 200]",
    ),
    "too many blocks": (
        "(d0) -> (d0), domain: d0 in [0, 9999], d0 mod 100 in [0, 79]",
        "(d0): d0 in [0, 9979], d0 mod 100 in [0, 79]",
    ),
    "diagonal": (
        "(d0) -> (d0, d0), domain: d0 in [0, 9]",
        "(d0, d1): d0 in [0, 9], d1 in [0, 9], d0 - d1 in [0, 0]",
    ),
    "triangle": (
        "(d0, d1) -> (d0, d1), domain: d0 in [0, 9], d1 in [0, 9], d0 - d1 in [0, 9]",
        "(d0, d1): d0 in [0, 9], d1 in [0, 9], d0 - d1 in [0, 9]",
    ),
    "blocks along the diagonal": (
        "(d0)[s0] -> (d0, (d0 floordiv 4) * 4 + s0), domain: d0 in [0, 7], s0 in [0, 3]",
        "(d0, d1): d0 in [0, 3], d1 in [0, 3] or d0 in [4, 7], d1 in [4, 7]",
    ),
    "coordinates that step together": (
        "(d0) -> (d0, d0 mod 2), domain: d0 in [1, 3]",
        "(d0, d1): d0 in [1, 3] step 2, d1 in [1, 1] or d0 in [2, 2], d1 in [0, 0]",
    ),
    "a part without points": (  # isl counts what it tried there as the least value
        "(d0) -> ((d0 % -32) floordiv 3), domain: d0 in [0, 2]",
        "(d0): d0 in [-11, -10] or d0 in [0, 0]",
    ),
    "negative": ("(d0) -> (d0 * -2), domain: d0 in [-3, 3]", "(d0): d0 in [-6, 6] step 2"),
    "unbounded": ("(d0) -> (d0 * 2), domain: d0 in [3, inf]", "(d0): d0 in [6, inf] step 2"),
    "from below": ("(d0) -> (d0 * 2), domain: d0 in [-inf, 3]", "(d0): d0 in [-inf, 6] step 2"),
    "all even": (
        "(d0) -> (d0 * 2), domain: d0 in [-inf, inf]",
        "(d0): d0 in [-inf, inf], d0 mod 2 in [0, 0]",
    ),
    "empty": (
        "(d0) -> (d0, 1), domain: d0 in [0, 9], d0 mod 4 in [1, 1], d0 mod 6 in [0, 0]",
        "(d0, d1): EMPTY",
    ),
    "known empty": ("(d0) -> (d0), domain: KNOWN EMPTY", "(d0): EMPTY"),
    "empty scalar": ("(d0) -> (), domain: KNOWN EMPTY", "(): EMPTY"),
    "no variables": ("() -> (3, 4)", "(d0, d1): d0 in [3, 3], d1 in [4, 4]"),
    "huge": (
        "(d0, d1) -> (d1 * 4, d0), domain: d0 in [0, 1099511627775], d1 in [0, 1099511627775]",
        "(d0, d1): d0 in [0, 4398046511100] step 4, d1 in [0, 1099511627775]",
    ),
}


@for_all(IMAGES)
def test_image(text: str, expected: str) -> None:
    made = parse_map(text)
    assert str(made.image()) == expected
    told_otherwise = str(made.simplify(exact=True).image())
    assert told_otherwise == expected


PARTS = [
    ("(d0, d1) -> (d1, d0 * 2), domain: d0 in [0, 9], d1 in [0, 9]", [3, (4, 5)], [(4, 5), (6, 6)]),
    ("(d0)[s0] -> (d0 * 8 + s0), domain: d0 in [0, 9], s0 in [0, 7]", [(2, 3)], [(16, 31)]),
    ("(d0) -> (d0), domain: d0 in [0, 9]", [(5, 99)], [(5, 9)]),
    ("(d0) -> (d0), domain: d0 in [0, 9]", [(None, 2)], [(0, 2)]),
]


@pytest.mark.parametrize(("text", "dims", "expected"), PARTS)
def test_image_of_some_dims(
    text: str, dims: list[int | tuple[int | None, int | None]], expected: list[tuple[int, int]]
) -> None:
    boxes = parse_map(text).image(dims).boxes
    assert boxes == (tuple(StridedInterval(*ends) for ends in expected),)


def test_image_of_dims_needs_as_many_intervals() -> None:
    with pytest.raises(MapError, match="image: dims has 2 intervals; expected 1"):
        IndexingMap.identity([4]).image([1, 2])


DOMAINS = {
    "names are kept": (
        "(row)[k] -> (row + k), domain: row in [0, 3], k in [0, 3]",
        "(row): row in [0, 3]",
    ),
    "constraints through a range": (
        "(d0)[s0] -> (d0), domain: d0 in [0, 99], s0 in [0, 9], d0 + s0 in [20, 30]",
        "(d0): d0 in [11, 30]",
    ),
    "a range counts by what it reaches": (
        "(d0)[s0] -> (), domain: d0 in [0, 20], s0 in [0, 9], d0 - s0 * 3 in [0, 0]",
        "(d0): d0 in [0, 18] step 3",
    ),
    "runtime variables too": (
        "(d0){rt0} -> (), domain: d0 in [0, 20], rt0 in [5, 5], d0 - rt0 in [0, 2]",
        "(d0): d0 in [5, 7]",
    ),
    "no dimensions": ("()[s0] -> (s0), domain: s0 in [0, 3]", "()"),
    "empty": ("(d0) -> (), domain: KNOWN EMPTY", "(d0): EMPTY"),
}


@pytest.mark.parametrize(("text", "expected"), DOMAINS.values(), ids=DOMAINS)
def test_domain(text: str, expected: str) -> None:
    assert str(parse_map(text).domain_set()) == expected


# Runtime variables as parameters.


def test_sets_may_depend_on_runtime_variables() -> None:
    text = "(d0){start} -> (d0 + start), domain: d0 in [0, 3], start in [0, 6]"
    depends = parse_map(text).image(runtime_as_parameters=True)
    assert str(depends) == "(d0){start}: d0 in [0, 9], start in [0, 6], d0 - start in [0, 3]"
    assert [variable.name for variable in depends.parameters] == ["start"]
    assert str(depends.at([2])) == "(d0): d0 in [2, 5]"
    assert depends.at([7]).is_empty
    for ask in (depends.count, lambda: (3,) in depends, lambda: iter(depends)):
        with pytest.raises(MapError, match="the set depends on start"):
            ask()
    assert str(depends.to_isl()) == (
        "[start] -> { [d0] : 0 <= start <= 6 and start <= d0 <= 3 + start }"
    )
    with pytest.raises(MapError, match="at: there are 2 values; expected 1"):
        depends.at([1, 2])


# Boxes.


def _interval(lower: int, steps: int, step: int) -> StridedInterval:
    return StridedInterval(lower, lower + steps * step, step if steps else 1)


_intervals = st.builds(_interval, st.integers(-6, 6), st.integers(0, 5), st.integers(1, 4))


@given(st.lists(st.tuples(_intervals, _intervals), max_size=3))
def test_unions_of_boxes_are_parted_into_boxes(boxes: list[Box]) -> None:
    space = Space(dict.fromkeys(["d0", "d1"], Interval(None, None)))
    union = space.isl.Set.empty(space.domain().get_space())
    for box in boxes:
        union = union.union(box_set(box, space.context))
    told = read_set(union)
    elements = sorted({point for box in boxes for point in product(*box)})
    assert list(told) == elements
    if told.boxes is not None:
        assert sum(len(list(product(*box))) for box in told.boxes) == len(elements), "disjoint"
        assert all(interval.upper == max(interval) for box in told.boxes for interval in box)


# Sets.


@given(maps())
def test_sets_hold_what_all_points_say(made: IndexingMap) -> None:
    points = [] if made.is_known_empty else list(made.points())
    results = {point[3] for point in points}
    image = made.image()
    assert list(image) == sorted(results)
    assert image.count() == len(results)
    assert all(result in image for result in results)
    assert list(made.domain_set()) == sorted({point[0] for point in points})
    for axis, bounds in enumerate(image.bounds):
        column = [result[axis] for result in results]
        assert (bounds.lower, bounds.upper) == (min(column), max(column)) if results else (0, -1)


@given(maps(results=2))
def test_boxes_and_constraints_say_the_same(made: IndexingMap) -> None:
    image = made.image()
    assert IndexSet(image.hull, image.pieces) == image
    assert list(IndexSet(image.hull, image.pieces)) == list(image)
    assert IndexSet(image.hull, image.pieces).count() == image.count()


@given(maps(results=1), maps(results=1))
def test_sets_are_equal_by_their_elements(a: IndexingMap, b: IndexingMap) -> None:
    left, right = a.image(), b.image()
    assert (left == right) is (list(left) == list(right))
    if left == right:
        assert hash(left) == hash(right)


def test_a_set_is_no_other_value() -> None:
    image = IndexingMap.identity([4]).image()
    assert image != {(0,), (1,), (2,), (3,)}
    assert image != IndexingMap.identity([4, 1]).image()


def test_membership() -> None:
    even = parse_map("(d0) -> (d0 * 2, 7), domain: d0 in [0, 4]").image()
    assert (8, 7) in even
    assert (3, 7) not in even
    assert (10, 7) not in even
    with pytest.raises(MapError, match=r"in: .* has 1 coordinates; expected 2"):
        assert (8,) in even


def test_constraints_are_expressions() -> None:
    diagonal = parse_map("(d0) -> (d0, d0), domain: d0 in [0, 9]").image()
    assert diagonal.boxes is None
    ((*_, (difference, interval)),) = diagonal.constraints
    assert (str(difference), str(interval)) == ("d0 - d1", "[0, 0]")


@for_all([*IMAGES])
def test_sets_are_picklable_and_go_through_isl(name: str) -> None:
    image = parse_map(IMAGES[name][0]).image()
    assert pickle.loads(pickle.dumps(image)) == image  # noqa: S301 - our own bytes
    assert image.to_isl().is_empty() is bool(image.is_empty)


def test_unbounded_sets_are_not_counted_or_gone_through() -> None:
    endless = parse_map("(d0) -> (3, d0), domain: d0 in [0, inf]").image()
    for ask in (endless.count, lambda: iter(endless)):
        with pytest.raises(MapError, match=r"d1 has the bounds \[0, inf\]; expected bounded ones"):
            ask()


def test_huge_sets_are_gone_through_from_the_start() -> None:
    huge = parse_map(IMAGES["huge"][0]).image()
    assert huge.count() == 2**80
    assert next(iter(huge)) == (0, 0)


def test_budget() -> None:
    with pytest.raises(BudgetError, match="10 operations of isl were not enough"):
        parse_map(IMAGES["reshape of a slice"][0].replace("52", "9999999")).image(budget=10)
