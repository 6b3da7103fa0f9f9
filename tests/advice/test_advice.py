"""Advice: the waste that rows name, with their figures, and mends that change no result."""

from __future__ import annotations

import re
from typing import Final

from ops import hlo
from ops.advice import Advice, advise
from ops.limits import DEVICES, H100
from tests.conformance import Row, for_each, rows

DEVICE_OF: Final = {"a100": "A100", "h100": "H100", "tpu v5e": "TPU v5e"}
"""Devices as the rows call them; a processor has no figures of its own."""

WASTEFUL: Final = [row for row in rows("advise") if row["kind"] != "none"]
CLEAN: Final = [row for row in rows("advise") if row["kind"] == "none"]


def advice_for(row: Row) -> tuple[Advice, ...]:
    """All advice for the module of a row, on its device."""
    name = DEVICE_OF.get(row["device"])
    return tuple(advise(hlo.parse(row["hlo"]), DEVICES[name] if name else H100))


def first_number(text: str) -> int:
    """The figure that a row begins with."""
    found = re.match(r"\d+", text)
    assert found, text
    return int(found[0])


@for_each(WASTEFUL)
def test_the_waste_is_found_with_its_figures(row: Row) -> None:
    wanted = first_number(row["before"]), first_number(row["after"])
    found = advice_for(row)
    assert wanted in [(each.before, each.after) for each in found], "\n".join(map(str, found))


@for_each(CLEAN)
def test_nothing_is_advised_where_nothing_is_wasted(row: Row) -> None:
    assert not advice_for(row)


@for_each(WASTEFUL)
def test_the_mended_module_is_read_back(row: Row) -> None:
    for each in advice_for(row):
        if each.after is not None:
            mended = each.apply()
            assert str(hlo.parse(str(mended))) == str(mended)


def test_one_kernel_alone_is_asked_about() -> None:
    module = hlo.parse(next(row["hlo"] for row in rows("advise") if row["id"] == "upcast-written"))
    (found,) = advise(module.entry["c"])
    assert found.instruction is module.entry["c"]
    assert not advise(module.entry["o"])


def test_what_was_not_looked_at_is_said() -> None:
    text = """ENTRY e { x = f32[8] parameter(0) n = f32[8] negate(x)
      ROOT c = f32[8] custom-call(n), custom_call_target="f" }"""
    found = advise(hlo.parse(text))
    assert not found
    assert found.not_seen == (
        "what XLA would fuse: the module has no fusions yet",
        "1 custom call (%c)",
    )
