"""Texts that ``benchmarks/fuzz.py --about texts`` found: each once failed one of its checks."""

from __future__ import annotations

import pytest

from benchmarks import fuzz
from benchmarks.fuzzing.checks import complaints
from benchmarks.fuzzing.texts import CHECKS, KINDS, TextCase
from indexing import from_isl

LAYOUT, MANY_X = "minor_to_major: ", "x" * 3000
FOUND = [
    # ValueError: Exceeds the limit (4300 digits) for integer string conversion
    pytest.param("expressions", "d" + "1" * 4301, id="a name that ends in a long number"),
    pytest.param("isl", "{ [] -> [-" + "1" * 4400 + "] }", id="a long number of isl"),
    pytest.param("padded layouts", f"{LAYOUT}0 padded_dimensions: {'1' * 4301}", id="a long width"),
    # the message has 5284 characters
    pytest.param("modules", "f" + "1" * 5000, id="no computation, but a long name"),
    pytest.param("affine maps", "(d" + "1" * 3000 + ") -> (x)", id="a long name is declared"),
    pytest.param("padded layouts", f"{LAYOUT}1 {LAYOUT}{'1' * 2000}", id="a long dimension"),
    pytest.param("modules", "t = s32" + "1" * 3000, id="a long opcode"),
    pytest.param("modules", f"ENTRY e {{ ROOT a = s32[] fusion(), calls={MANY_X} }}", id="calls"),
    # TypeError: read_from_str(): incompatible function arguments
    pytest.param("isl", "{ [\ud800] }", id="half a character"),
    # Error: call to isl_map_range failed: spaces don't match
    pytest.param("isl", "{[0,0,d]->[2,0];[e,0,d]->[0,0]}", id="other names in each piece"),
    # Error: call to isl_map_dim_min failed: unbounded optimum
    pytest.param("isl", "{ [] -> [o0] : (o0) mod 5 = 0 }", id="multiples without bounds"),
]


@pytest.mark.parametrize(("language", "text"), FOUND)
def test_what_was_found_stays_right(language: str, text: str) -> None:
    assert dict(complaints(TextCase(language, text), CHECKS)) == {}


def test_isl_does_not_stop_at_a_nul() -> None:
    with pytest.raises(ValueError, match=r"1:15: unexpected character '\\x00'"):
        from_isl("{ [i] -> [i] }\0 more")


@pytest.mark.parametrize("kind", KINDS)
def test_random_texts_are_read_or_refused(kind: str) -> None:
    assert fuzz.main(["--about", "texts", "--kinds", kind, "--cases", "60", "--seed", "15"]) == 0
