"""What ``benchmarks/mutation.py`` found: each row tells the code from a fault that no test saw.

The name of a row is the function that had the fault.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from benchmarks.fuzzing.case import Case
from benchmarks.problems import Ends, seeded
from simplifier import Interval
from simplifier.expr.text import parse_form
from simplifier.fixpoint import range_of, simplified
from tests.evaluation import first_difference, values_of

_FACTORS = "x * " * 15
_LARGE = 2**4200
"""The product of two such numbers is larger than the ends of a range may be."""

_HUGE = {"x": (_LARGE, _LARGE + 1), "y": (_LARGE, _LARGE + 1)}
_NEGATIVE = {"x": (-_LARGE - 1, -_LARGE), "y": (_LARGE, _LARGE + 1)}

SIMPLIFIED: dict[str, tuple[str, Mapping[str, Ends], str]] = {
    # expression, bounds, result
    "a quotient beside": (
        "min(y, x floordiv y)",
        {"x": (-1, -1), "y": (-1, 1)},
        "min(y, -1 floordiv y)",
    ),
    "_falls_apart": (
        "bitxor(x * 8 + y, z * 8)",
        {"x": (None, None), "y": (-1, 3), "z": (None, None)},
        "bitxor(x * 8 + y, z * 8)",
    ),
    "from_its_end": ("(x ceildiv -1) mod w", {"w": (0, 1), "x": (0, 1)}, "(-x) mod w"),
    "_multiplied_out": ("x * x * x", {"x": (-4, -3)}, "x * 37 + 84"),
    "_cases": (
        "max(-max(x + 2, 0) - max(x, 0) + 1, 0)",
        {"x": (-3, 1)},
        "-min(max(x + 2, 0), 1) + 1",
    ),
    "divisor_range": ("w ceildiv (w % -2)", {"w": (17, 18)}, "-(w floordiv (-w + 18))"),
    "two_valued": ("min((x mod 5) * -3 - x * 2, x)", {"x": (-3, -2)}, "x * -2 - 9"),
    "_flattened": (
        "((x * 2) ceildiv 3) floordiv M",
        {"x": (0, 3), "M": (0, 1)},
        "(x * 2 + 2) floordiv (M * 3)",
    ),
    "merge": ("((x * 3) floordiv 2) mod 2", {"x": (0, 2)}, "(x + 1) floordiv 2"),
    "_flat": (
        "max(max(x, 1) + max(x, -2) - min(x, 0), -x)",
        {"x": (-4, 4)},
        "max(-x, x + 1, x * 2)",
    ),
    "_digits_of": (
        "(x floordiv (k * 2)) * 6 - (x floordiv (k * n * 2)) * 6 * n",
        {"x": (None, None), "k": (1, None), "n": (1, None)},
        "((x floordiv (k * 2)) mod n) * 6",
    ),
    "_exact_weight": (
        "((x * -32 + 23) floordiv 12) mod 12 + ((x * -32 - 1) floordiv 2) mod 3",
        {"x": (0, 6)},
        "((x * 2 + 7) floordiv 9) * 12 + (x floordiv 3) * 3 - (x * 11) floordiv 3 + 3",
    ),
    "_long_division": (
        "(w * x * x * x + x * x * x + w + x) mod (x * x + x)",
        {"x": (0, 2), "w": (0, 1)},
        "((w + 2) * x + w) mod (x * x + x)",
    ),
    "_shared_weight": (
        "((x * 2) mod 3) * 2 + (x mod 2) * 3",
        {"x": (0, 4)},
        "x - ((x - ((x + 2) floordiv 3) * 2) floordiv 2) * 6",
    ),
    "open_digits": (
        "(((y * -3 - z * 10 + 1) floordiv 2) mod 3) * 3 - ((z - y * 3) floordiv 5) * 4 - y * 3",
        {"y": (-8, 91), "z": (-1, 8)},
        "y - ((z * 2 + y mod 2 + 2) mod 3) * 3 - ((y * 2 + z) floordiv 5) * 4 + 6",
    ),
    "_units": ("(max(x - 1, 0) - x) floordiv 2", {"x": (0, 2)}, "max(-x, -1)"),
    "degree": (
        f"{_FACTORS}(x + 1) * (x + 1) * z",
        {"x": (None, None), "z": (2, 2)},
        f"(x + 1) * (x + 1) * {_FACTORS}2",
    ),
    "_grows": (
        f"(x + {_LARGE}) * (x + {_LARGE})",
        {"x": (0, None)},
        f"(x + {_LARGE}) * (x + {_LARGE})",
    ),
    "_bounded, below": ("max(x * y, -5)", {"x": (-_LARGE, -1), "y": (1, _LARGE)}, "max(x * y, -5)"),
    "_bounded, at the limit": (
        f"max(x * y, -{2**8192})",
        {"x": (-(2**4096), -1), "y": (1, 2**4096)},
        "x * y",
    ),
    "_bounded, a least value": (f"max(x * y, {2**9000})", _HUGE, f"max(x * y, {2**9000})"),
    "_bounded, a known least value": (f"max(x * y, {2**8000})", _HUGE, "x * y"),
    "_bounded, a greatest value": (f"min(x * y, -{2**9000})", _NEGATIVE, f"min(x * y, -{2**9000})"),
    "_range of bits": (
        "max(bitxor(x, y), 0)",
        {"x": (0, 1), "y": (None, 0)},
        "max(bitxor(x, y), 0)",
    ),
    "_range of bits without ends": (
        "max(bitor(bitxor(x, -2), bitxor(y, -1)), 0)",
        {"x": (0, None), "y": (-2, -1)},
        "max(bitor(bitxor(x, -2), bitxor(y, -1)), 0)",
    ),
}


@pytest.mark.parametrize(("text", "ends", "result"), SIMPLIFIED.values(), ids=SIMPLIFIED)
def test_simplified(text: str, ends: Mapping[str, Ends], result: str) -> None:
    case = Case.of(text, ends)
    assert str(simplified(case.scope, case.form)) == result
    assert first_difference(case.form, parse_form(result), case.points(seeded(0))) is None


def test_a_deep_remainder_has_the_sign_of_its_divisor() -> None:
    text = "x"
    for number in range(25):
        text = f"(({text}) * 5 + {number}) mod {97 + number}"
    case = Case.of(f"({text}) % -128", {"x": (0, 9)})
    result = simplified(case.scope, case.form)
    assert first_difference(case.form, result, case.points(seeded(0))) is None
    assert range_of(case.scope, case.form) == Interval(-127, 0)


RANGES: dict[str, tuple[str, Mapping[str, Ends], Ends]] = {
    # expression, bounds, least interval; bits are counted
    "_known_with": ("max(x - 1, 0) * 2 + max(x + 1, 0) - max(x, 0) * 2", {"x": (-2, 2)}, (0, 1)),
    "_known_with, weights": (
        "max(x - 1, 2) * 2 + max(x, 0) - max(x + 1, 0) - x",
        {"x": (-2, 6)},
        (0, 6),
    ),
    "_digit_range": ("x mod w", {"w": (-1, 2), "x": (-1, 0)}, (0, 1)),
    "_range of bits": ("bitand(-x, x)", {"x": (0, 2)}, (0, 2)),
    "_mod_range": ("(x mod y) mod M", {"x": (0, 1), "y": (0, 2), "M": (0, 1)}, (0, 0)),
    "_without_rounding": ("x floordiv 2 - x", {"x": (0, 2)}, (-1, 0)),
    "_without_rounding, thirds": ("x floordiv 3 - x", {"x": (0, 3)}, (-2, 0)),
    "_gather": (
        "(max(x - 1, 0) + max(x - 2, 0) + max(x, 0) - min(x + 1, 1) - x) floordiv 4",
        {"x": (-1, 6)},
        (-1, 2),
    ),
    "_has_single_quotient": (
        "((-x - y) floordiv 4) * 4 + (y * 3) floordiv 2",
        {"x": (0, 1), "y": (0, 4)},
        (-4, 2),
    ),
    "maximum_atom": ("max(x + 1, 0) + max(x, 0) - x", {"x": (-1, 1)}, (1, 2)),
    "_readings": (
        "(max(x - y, 0) + y - x floordiv 2) * x",
        {"x": (-2, 0), "y": (-1, None)},
        (None, 0),
    ),
}


@pytest.mark.parametrize(("text", "ends", "least"), RANGES.values(), ids=RANGES)
def test_ranges(text: str, ends: Mapping[str, Ends], least: Ends) -> None:
    case = Case.of(text, ends)
    assert range_of(case.scope, case.form) == Interval(*least)
    values, is_defined = values_of(case.form, case.points(seeded(0)))
    there = values[is_defined]
    for end, found in zip(least, (there.min(), there.max()), strict=True):
        assert end is None or end == found
