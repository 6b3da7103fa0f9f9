"""What ``benchmarks/fuzz.py`` found: each row once failed the check that its name begins with."""

from __future__ import annotations

import pytest

from benchmarks.fuzzing.case import Case
from benchmarks.fuzzing.checks import CHECKS, complaints
from benchmarks.problems import Ends


@pytest.mark.parametrize(
    ("text", "ends", "limits"),
    [
        # ZeroDivisionError: integer division or modulo by zero
        pytest.param("0 ceildiv 0", {}, {}, id="bounds hold values, symbolic 0/12"),
        pytest.param("max(x, y ceildiv x)", {"x": (0, 1), "y": (0, 1)}, {}, id="quick, huge 0/223"),
        # -1 is not in [0, 0]
        pytest.param(
            "99999999999999997563 ceildiv y",
            {"y": (-100000000000000000000, -99000000000000000000)},
            {},
            id="bounds hold values, huge 8/843",
        ),
        # did not end: one law undid another
        pytest.param(
            "(d0 - ((d1 - ((d1 + 13) floordiv 32) * 32 + 13) floordiv 3) * 3"
            " - (d1 + 13) floordiv 32 + 44) floordiv 64",
            {"d0": (211, 1136), "d1": (-45, 139)},
            {"(d1 + 13) mod 32": (0, 24)},
            id="quick, a circle of laws",
        ),
        # x * 2 + (x * 5 + 69) mod 2 + (x * 5 + 69) floordiv 1 costs 15, not 14
        pytest.param(
            "x * 2 + ((x * 5 + 69) floordiv 1) mod 2 + (x * 5 + 69) floordiv 1",
            {"x": (0, 35)},
            {},
            id="never costlier, digits 77/170",
        ),
        # min((y mod 4) * 4 + (y floordiv 4) * 4 - 1, 0) + 1 costs 11, not 9
        pytest.param(
            "min(x, (y mod 4) * 3 + y)", {"x": (1, 1), "y": (0, 4)}, {}, id="never costlier, small"
        ),
        # TypeError: 'Form' object is not iterable
        pytest.param(
            "min(x floordiv -2, min(x, z) % -3)",
            {"x": (0, 2), "z": (0, None)},
            {},
            id="quick, neither the form nor its parts may stay",
        ),
        # ZeroDivisionError: integer division or modulo by zero
        pytest.param("x ceildiv (x mod 2)", {"x": (0, 2)}, {}, id="quick, huge 1/903"),
        # TypeError: 'Form' object is not iterable
        pytest.param(
            "max(w, min(z, 1)) % -3", {"w": (0, 2), "z": (0, 2)}, {}, id="quick, limited 15/43009"
        ),
        # ((-m + 36) floordiv 12 + m) floordiv 5 + (m + 11) floordiv 12 costs 17, not 13
        pytest.param(
            "((m ceildiv 12) * 4 + m - 1) ceildiv 5",
            {"m": (2, 64)},
            {},
            id="never costlier, a multiple",
        ),
        # RecursionError: the lower bits were split from themselves
        pytest.param(
            "bitxor((n ceildiv 6) mod 16, 9)",
            {"n": (8, 1024)},
            {"n mod 8": (0, 0)},
            id="quick, bits",
        ),
    ],
)
def test_what_was_found_stays_right(
    text: str, ends: dict[str, Ends], limits: dict[str, Ends]
) -> None:
    assert dict(complaints(Case.of(text, ends, limits), CHECKS)) == {}
