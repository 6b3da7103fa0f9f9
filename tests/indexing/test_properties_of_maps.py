"""What a pass asks of a map first, beside what all its points say."""

from __future__ import annotations

import pytest

from indexing import MapError, parse_map

MAPS = {
    "(d0, d1) -> (d0, d1), domain: d0 in [0, 3], d1 in [0, 4]": "identity permutation",
    "(d0, d1) -> (d0 mod 4, d1), domain: d0 in [0, 3], d1 in [0, 4]": "identity permutation",
    "(d0, d1) -> (d1, d0), domain: d0 in [0, 3], d1 in [0, 4]": "permutation",
    "(d0, d1) -> (d0, d0), domain: d0 in [0, 3], d1 in [0, 4]": "",
    "(d0, d1) -> (d0), domain: d0 in [0, 3], d1 in [0, 4]": "",
    "(d0) -> (d0, 0), domain: d0 in [0, 3]": "",
    "(d0)[s0] -> (s0), domain: d0 in [0, 3], s0 in [0, 3]": "",
    "(d0) -> (d0 floordiv 4, 7), domain: d0 in [0, 3]": "constant",
    "(d0) -> (0), domain: d0 in [0, 0]": "identity permutation constant",
    "() -> (), domain:": "identity permutation constant",
}


@pytest.mark.parametrize(("text", "wanted"), MAPS.items())
def test_a_map_is_what_its_points_say(text: str, wanted: str) -> None:
    found = parse_map(text)
    words = ("identity", "permutation", "constant")
    assert [each for each in words if getattr(found, f"is_{each}")] == wanted.split()
    points = [*found.points()]
    assert ("identity" in wanted) == all(results == dims for dims, *_, results in points)
    assert ("constant" in wanted) == (len({results for *_, results in points}) == 1)


def test_constraints_on_symbols() -> None:
    text = "(d0)[s0, s1]{rt0} -> (d0), domain: d0 in [0, 3], s0 in [0, 3], s1 in [0, 3], "
    found = parse_map(text + "rt0 in [0, 9], d0 + s1 in [0, 5], rt0 mod 2 in [0, 0]")
    assert [found.is_symbol_constrained(each) for each in range(3)] == [False, True, True]
    assert [found.is_symbol_constrained(each) for each in ("s0", "s1", "rt0")] == [
        False,
        True,
        True,
    ]
    with pytest.raises(MapError, match="is_symbol_constrained"):
        found.is_symbol_constrained("d0")
    with pytest.raises(MapError, match="is_symbol_constrained"):
        found.is_symbol_constrained(3)
