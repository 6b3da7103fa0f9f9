"""The first point where two maps differ, as a witness."""

from __future__ import annotations

import pytest
from hypothesis import given

from indexing import IndexingMap, MapError, first_difference, parse_map
from tests.evaluation import related
from tests.strategies import maps

SAME = "(d0) -> (d0), domain: d0 in [0, 9]"

DIFFERENCES = {
    "a value": (
        SAME,
        "(d0) -> (d0 mod 7), domain: d0 in [0, 9]",
        "value",
        "at (7): the first map gives (7), the second (0)",
    ),
    "the second is shorter": (
        SAME,
        "(d0) -> (d0), domain: d0 in [0, 6]",
        "domain",
        "at (7): only the first map is defined; it gives (7)",
    ),
    "the second begins earlier": (
        SAME,
        "(d0) -> (d0), domain: d0 in [-3, 9]",
        "domain",
        "at (-3): only the second map is defined; it gives (-3)",
    ),
    "several values": (
        "(d0)[s0] -> (d0 + s0 * 2), domain: d0 in [0, 9], s0 in [0, 3]",
        "(d0)[s0] -> (d0 + s0), domain: d0 in [0, 9], s0 in [0, 3]",
        "value",
        "at (0): the first map gives (d0): d0 in [0, 6] step 2, the second (d0): d0 in [0, 3]",
    ),
    "no results": (
        "(d0) -> (), domain: d0 in [0, 9]",
        "(d0) -> (), domain: d0 in [0, 8]",
        "domain",
        "at (9): only the first map is defined; it gives ()",
    ),
    "no dimensions": (
        "() -> (3)",
        "()[s0] -> (s0), domain: s0 in [4, 5]",
        "value",
        "at (): the first map gives (3), the second (d0): d0 in [4, 5]",
    ),
    "only with the first dimension, then the second": (
        "(d0, d1) -> (d0 + d1), domain: d0 in [0, 9], d1 in [0, 9]",
        "(d0, d1) -> (min(d0 + d1, 15)), domain: d0 in [0, 9], d1 in [0, 9]",
        "value",
        "at (7, 9): the first map gives (16), the second (15)",
    ),
    "downwards without end": (
        "(d0) -> (d0), domain: d0 in [-inf, inf]",
        "(d0) -> (max(d0, -5)), domain: d0 in [-inf, inf]",
        "value",
        "at (-6): the first map gives (-6), the second (-5)",
    ),
    "values without end": (
        "(d0) -> (d0), domain: d0 in [0, 9]",
        "(d0)[s0] -> (s0), domain: d0 in [0, 9], s0 in [5, inf]",
        "value",
        "at (0): the first map gives (0), the second (d0): d0 in [5, inf]",
    ),
    "huge": (
        "(d0) -> (d0 floordiv 3), domain: d0 in [0, 1099511627775]",
        "(d0) -> (d0 * 366503875925 floordiv 1099511627776), domain: d0 in [0, 1099511627775]",
        "value",
        "at (3): the first map gives (1), the second (0)",
    ),
    "an empty map": (
        SAME,
        "(d0) -> (d0), domain: KNOWN EMPTY",
        "domain",
        "at (0): only the first map is defined; it gives (0)",
    ),
}


@pytest.mark.parametrize(("a", "b", "kind", "text"), DIFFERENCES.values(), ids=DIFFERENCES)
def test_first_difference(a: str, b: str, kind: str, text: str) -> None:
    left, right = parse_map(a), parse_map(b)
    found = first_difference(left, right)
    assert found is not None
    assert (found.kind, str(found)) == (kind, text)
    back = right.first_difference(left)
    assert back is not None
    assert (back.dims, back.left, back.right, back.element) == (
        found.dims,
        found.right,
        found.left,
        found.element,
    )


@given(maps(results=1, dims=1), maps(results=1, dims=1))
def test_the_difference_is_the_first_of_all_points(a: IndexingMap, b: IndexingMap) -> None:
    left, right = related(a), related(b)
    found = a.first_difference(b)
    if left == right:
        assert found is None
        return
    assert found is not None
    dims, element = min(left ^ right)
    assert (found.dims, found.element) == (dims, element)
    for side, told in ((left, found.left), (right, found.right)):
        assert list(told) == sorted(result for point, result in side if point == dims)


SLICES = "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 6]"
REVERSED = "(d0){rt0} -> (d0 + 6 - rt0), domain: d0 in [0, 3], rt0 in [0, 6]"


def test_runtime_variables_as_parameters_are_part_of_the_point() -> None:
    left, right = parse_map(SLICES), parse_map(REVERSED)
    assert left.first_difference(right) is None
    found = left.first_difference(right, runtime_as_parameters=True)
    assert str(found) == "at (0) {0}: the first map gives (0), the second (6)"


INCOMPARABLE = [
    (SAME, "(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 9]", False),
    (SAME, "(d0) -> (d0, d0), domain: d0 in [0, 9]", False),
    ("(d0){rt0} -> (d0), domain: d0 in [0, 9], rt0 in [0, 9]", SAME, True),
]


@pytest.mark.parametrize(("a", "b", "as_parameters"), INCOMPARABLE)
def test_maps_between_other_tensors_are_not_compared(a: str, b: str, as_parameters: bool) -> None:
    left, right = parse_map(a), parse_map(b)
    with pytest.raises(MapError, match=r"first_difference: .* against .*; expected as many"):
        left.first_difference(right, runtime_as_parameters=as_parameters)
    assert not left.equals(right, runtime_as_parameters=as_parameters)
    assert not left.is_subset(right, runtime_as_parameters=as_parameters)
