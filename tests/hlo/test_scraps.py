"""Texts that are only a part of a module: computations, or instructions without a computation."""

from __future__ import annotations

import pytest

from ops import hlo
from tests.hlo.module_structure import Structures

SCRAPS = [
    (
        "p0 = f32[10] parameter(0) q = f32[10] negate(p0)",
        "ENTRY e { p0 = f32[10] parameter(0) ROOT q = f32[10] negate(p0) }",
    ),
    (
        "y = f32[2] power(f32[2] %b, f32[2] %a)",
        "ENTRY e { b = f32[2] parameter(0) a = f32[2] parameter(1) ROOT y = f32[2] power(b, a) }",
    ),
    (
        "f32[4]{0} power(f32[4]{0}, f32[4]{0})",
        "ENTRY e { b = f32[4] parameter(0) a = f32[4] parameter(1) ROOT y = f32[4] power(b, a) }",
    ),
    ("y = f32[2] add(a, a)", "ENTRY e { a = f32[2] parameter(0) ROOT y = f32[2] add(a, a) }"),
    (
        "ROOT y = f32[2] parameter(0) z = f32[2] negate(y)",
        "ENTRY e { ROOT y = f32[2] parameter(0) z = f32[2] negate(y) }",
    ),
    (
        "g { ROOT x = f32[2] parameter(0) } y = f32[2] call(f32[2] a), to_apply=g",
        """g { ROOT x = f32[2] parameter(0) }
        ENTRY e { a = f32[2] parameter(0) ROOT y = f32[2] call(a), to_apply=g }""",
    ),
    (
        "HloModule m: ENTRY e: { x: = f32[2] parameter(0) ROOT y = negate(x:) }",
        "HloModule m ENTRY e { x = f32[2] parameter(0) ROOT y = negate(x) }",
    ),
]


@pytest.mark.parametrize(("scrap", "whole"), SCRAPS, ids=lambda text: text[:40])
def test_a_scrap_is_read_as_a_module(scrap: str, whole: str) -> None:
    structures = Structures()
    module = hlo.parse(scrap)
    assert structures.of(module) == structures.of(hlo.parse(whole))
    assert structures.of(hlo.parse(str(module))) == structures.of(module)


HINTS = [
    ("y = f32[2] reverse(a), dimensions={0}", "with its shape before it, such as f32[2] %a"),
    ("a = f32[2] parameter(0) y = f32[2] reverse(aa), dimensions={0}", "did you mean a?"),
    ("y = f32[2] call(f32[2] a), to_apply=g", "write it before the instruction, as g { ... }"),
    ("HloModule m y = f32[2] parameter(0)", "stand in a computation, such as ENTRY e { ... }"),
    ("HloModule m is_scheduled=true", "a comma is missing before an attribute of the module"),
]


@pytest.mark.parametrize(("text", "hint"), HINTS, ids=lambda text: text[:40])
def test_hints_are_true(text: str, hint: str) -> None:
    with pytest.raises(hlo.HloTextError) as caught:
        hlo.parse(text)
    assert hint in caught.value.hint
