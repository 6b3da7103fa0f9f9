"""Texts that XLA's parser accepts are printed as texts that say the same."""

from __future__ import annotations

from ops import hlo
from tests.cases import for_all
from tests.conformance import Row, for_each, rows
from tests.hlo.module_structure import Structures

ACCEPTED = [row for row in rows("hlo_text") if row["accepted"]]


@for_each(ACCEPTED)
def test_printed_text_says_the_same(row: Row) -> None:
    module, structures = hlo.parse(row["text"]), Structures()
    again = hlo.parse(str(module))
    assert structures.of(again) == structures.of(module)
    assert str(again) == str(module)
    assert [c.name for c in again.computations] == [c.name for c in module.computations]


@for_all(
    [
        ("negate(a)", "abs(a)", False),
        ("transpose(a), dimensions={0,1}", "transpose(a), dimensions={1,0}", False),
        ("negate(a), metadata={op_name='x'}", "negate(a), metadata={op_name='y'}", False),
        ("negate(a)", "negate(f32[2,2] %a)", True),
    ]
)
def test_structures_tell_modules_apart(left: str, right: str, same: bool) -> None:
    structures = Structures()
    modules = [
        hlo.parse(f"ENTRY e {{ a = f32[2,2] parameter(0) ROOT r = f32[2,2] {text} }}")
        for text in (left, right)
    ]
    assert (structures.of(modules[0]) == structures.of(modules[1])) is same
