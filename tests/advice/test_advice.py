"""Advice: the waste that rows name, with their figures, and mends that change no result."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import pytest

from ops import hlo
from ops.advice import MAX_TRIED, Advice, advise
from ops.advice.waste import Measure, Subject, Waste
from ops.hlo import HloModule
from ops.limits import DEVICES, H100
from tests.advice.mended import ADD, check_is_read_back
from tests.conformance import Row, for_each, rows

DEVICE_OF: Final = {"a100": "A100", "h100": "H100", "tpu v5e": "TPU v5e"}
"""Devices as the rows call them; a processor has no figures of its own."""

WASTEFUL: Final = [row for row in rows("advise") if row["kind"] != "none"]
CLEAN: Final = [row for row in rows("advise") if row["kind"] == "none"]


def advice_for(row: Row) -> tuple[Advice, ...]:
    """All advice for the module of a row, on its device."""
    name = DEVICE_OF.get(row["device"])
    return tuple(advise(hlo.parse(row["hlo"]), DEVICES[name] if name else H100))


@for_each(WASTEFUL)
def test_the_waste_is_found_with_its_figures(row: Row) -> None:
    before, after = (re.match(r"\d+", row[name]) for name in ("before", "after"))
    assert before
    assert after
    wanted = int(before[0]), int(after[0])
    found = advice_for(row)
    assert wanted in [(each.before, each.after) for each in found], "\n".join(map(str, found))
    for each in found:
        check_is_read_back(each)


@for_each(CLEAN)
def test_nothing_is_advised_where_nothing_is_wasted(row: Row) -> None:
    assert not advice_for(row)


def test_one_kernel_is_asked_about_and_what_was_not_looked_at_is_said() -> None:
    module = hlo.parse(next(row["hlo"] for row in rows("advise") if row["id"] == "upcast-written"))
    (found,) = advise(module.entry["c"])
    assert found.instruction is module.entry["c"]
    assert not advise(module.entry["o"])
    text = """ENTRY e { x = f32[8] parameter(0) n = f32[8] negate(x)
      ROOT c = f32[8] custom-call(n), custom_call_target="f" }"""
    found = advise(hlo.parse(text))
    assert not found
    not_fused = "what XLA would fuse: the module has no fusions yet; give the one that XLA compiled"
    assert found.not_seen == (not_fused, "1 custom call (%c)")


def test_a_module_made_for_a_processor_has_no_warps() -> None:
    row = next(row for row in rows("advise") if row["id"] == "small-transpose")
    assert [each.kind for each in advise(hlo.parse(row["hlo"]), H100)] == ["uncoalesced"]
    body, entry = row["hlo"].split("ENTRY main {")
    text = f"""{body} {ADD}
    sums {{ x = f32[64,4096] parameter(0) z = f32[] constant(0)
      ROOT r = f32[64] reduce(x, z), dimensions={{1}}, to_apply=add }}
    ENTRY main {{ big = f32[64,4096] parameter(2)
      sums = f32[64] fusion(big), kind=kLoop, calls=sums {entry}"""
    found = advise(hlo.parse(text), H100)
    assert not found
    assert found.not_seen == ("how warps of the H100 read: the module was made for a processor",)


def test_an_instruction_with_an_error_stops_no_other_rule() -> None:
    text = """f { x = f32[1024] parameter(0) ROOT e = f32[1024] exponential(x) }
    ENTRY e { x = f32[1024] parameter(0) y = f32[8,4] parameter(1)
      t = f32[8,4] transpose(y), dimensions={1,0} e = f32[1024] fusion(x), kind=kLoop, calls=f
      ROOT n = f32[1024] negate(e) }"""
    found = advise(hlo.parse(text))
    assert [each.kind for each in found] == ["missing fusion"]
    (reason,) = found.not_seen
    assert "%t: transpose: dimension 0 of the result has size 8; expected 4" in reason


def test_of_many_wastes_few_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """And what the module takes is counted once for all of them."""
    module = hlo.parse("ENTRY e { x = f32[8] parameter(0) ROOT n = f32[8] negate(x) }")
    counted, tried = Counter[HloModule](), list[HloModule]()

    def figure(subject: Subject) -> int:
        counted[subject.module] += 1
        return 100 if subject.module is module else 50

    def edit(before: HloModule) -> HloModule:
        tried.append(before)
        return replace(before, name="mended")

    def rule(subject: Subject) -> Iterator[Waste]:
        for expected in range(3 * MAX_TRIED):
            measure = Measure("units", figure, figure)
            yield Waste("test", subject.module["n"], "why", "mend", measure, expected, edit)

    monkeypatch.setattr("ops.advice.RULES", (rule,))
    found = advise(module)
    assert len(found) == len(tried) == MAX_TRIED
    assert found.left_out == 2 * MAX_TRIED
    assert counted[module] == 1
