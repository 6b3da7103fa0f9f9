"""Every text that XLA's parser accepts is read, and every text that it refuses is refused."""

from __future__ import annotations

import re

import pytest

from ops import hlo
from tests.conformance import Row, for_each, rows
from tests.hlo.module_structure import Structures

TEXTS = rows("hlo_text")
ACCEPTED = [row for row in TEXTS if row["accepted"]]
REFUSED = [row for row in TEXTS if not row["accepted"]]

FORGOTTEN: dict[str, frozenset[str]] = {
    "custom": frozenset(["called_computations"]),
    "custom2": frozenset(["called_computations", "to_apply", "batch_group_count"]),
    "sharding": frozenset(["sharding"]),  # written in another of its forms
    "sharding_mesh": frozenset(["sharding"]),
    "trisolve": frozenset(["unit_diagonal"]),  # false, as when it is not there
}
"""Attributes that XLA does not print back, or not in the same form."""

NOT_PRINTED = {
    "consts": "an elided constant gets invented values",
    "layout_D": "the types of the levels are lost",
}
"""Rows that XLA prints back as something else."""

OTHER_PLACES = {
    "header_no_comma": "1:13",  # XLA: the end of the name before
    "percent_in_param_list": "2:11",  # XLA: the colon after the name
    "reshape_mismatch_bad": "4:20",  # XLA: aborts
}
"""Where a message points to another place than XLA's."""


@for_each(ACCEPTED)
def test_text_that_xla_accepts_is_read(row: Row) -> None:
    structures = Structures(ignored=FORGOTTEN.get(row["id"], frozenset()))
    read, printed = (structures.of(hlo.parse(row[key])) for key in ("text", "reprinted"))
    assert (read == printed) is (row["id"] not in NOT_PRINTED)


@for_each(ACCEPTED)
def test_printed_text_says_the_same(row: Row) -> None:
    module, structures = hlo.parse(row["text"]), Structures()
    again = hlo.parse(str(module))
    assert structures.of(again) == structures.of(module)
    assert str(again) == str(module)
    assert [c.name for c in again.computations] == [c.name for c in module.computations]


@for_each(REFUSED)
def test_text_that_xla_refuses_is_refused_at_the_same_place(row: Row) -> None:
    with pytest.raises(hlo.HloTextError) as caught:
        hlo.parse(row["text"], "file.hlo")
    places = re.findall(r"was parsing (\d+:\d+):", row["error"])
    span = caught.value.span
    expected = OTHER_PLACES.get(row["id"]) or places[0]
    assert f"{span.line}:{span.column}" == expected
    assert str(caught.value).startswith(f"file.hlo:{expected}: ")


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ("negate(a)", "abs(a)", False),
        ("transpose(a), dimensions={0,1}", "transpose(a), dimensions={1,0}", False),
        ("negate(a), metadata={op_name='x'}", "negate(a), metadata={op_name='y'}", False),
        ("negate(a)", "negate(f32[2,2] %a)", True),
    ],
)
def test_structures_tell_modules_apart(left: str, right: str, *, same: bool) -> None:
    structures = Structures()
    modules = [
        hlo.parse(f"ENTRY e {{ a = f32[2,2] parameter(0) ROOT r = f32[2,2] {text} }}")
        for text in (left, right)
    ]
    assert (structures.of(modules[0]) == structures.of(modules[1])) is same
