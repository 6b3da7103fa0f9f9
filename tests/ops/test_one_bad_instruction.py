"""One bad instruction takes away only itself: what goes through it is unknown, with its error."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ops import hlo, parameter_indexing
from ops.cli import main
from tests.ops.unfit import why_unfit

if TYPE_CHECKING:
    from pathlib import Path

GATHER = """HloModule m
ENTRY e {
  a = f32[4,8] parameter(0)
  t = f32[] parameter(1)
  g = (f32[8,8], f32[]) all-gather(a, t), replica_groups={}, dimensions={0}
  b = f32[8,8] get-tuple-element(g), index=0
  ROOT n = f32[8,8] negate(b)
}"""

CONVOLUTION = """HloModule m
ENTRY e {
  x = f32[1,8,8,3] parameter(0)
  k = f32[3,3,1,4] parameter(1)
  v = f32[1,6,6,4] convolution(x, k), window={size=3x3}, dim_labels=b01f_01io->b01f
  y = f32[16] parameter(2)
  n = f32[16] negate(y)
  ROOT t = (f32[1,6,6,4], f32[16]) tuple(v, n)
}"""

MODULES = {
    "one-unknown-gather": (
        GATHER,
        "%g: all-gather: dimensions lists dimension 0 of a tensor of rank 0",
        "8x8 of %n",
    ),
    "one-unknown-convolution": (
        CONVOLUTION,
        (
            "%v: convolution: lhs has 3 input features, but rhs has 1 in each of 1 groups; "
            "expected as many"
        ),
        "16 of %n",
    ),
}


@pytest.mark.parametrize("name", MODULES)
def test_the_commands_go_on(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, reason, tiles = MODULES[name]
    file = tmp_path / "m.hlo"
    file.write_text(text)
    said = {}
    for command in ("fusions", "maps", "summary", "utilization", "tiles"):
        assert main([command, str(file)]) == 0
        said[command], err = capsys.readouterr()
        assert err == ""
    place = f"{file}:5:3: {reason}"
    assert all(place in said[command] for command in ("fusions", "maps", "utilization", "tiles"))
    assert "unknown" in said["summary"]
    assert tiles in said["tiles"]
    assert main(["fusions", str(file), "--strict"]) == 3


def test_what_does_not_go_through_it_keeps_its_maps() -> None:
    module = hlo.parse(CONVOLUTION)
    found = parameter_indexing(module.entry.root, 1)[module.entry.parameters[2]]
    assert [str(way) for way in found.indexings] == ["(d0) -> (d0), domain: d0 in [0, 15]"]


UNFIT = {
    "broadcast-beyond-rank": (
        "x = f32[] parameter(0)",
        "f32[8,4] broadcast(x), dimensions={1}",
        "broadcast: dimensions has 1 entries; expected 0",
    ),
}


@pytest.mark.parametrize("name", UNFIT)
def test_an_instruction_that_does_not_fit_has_its_error_as_reason(name: str) -> None:
    operands, instruction, reason = UNFIT[name]
    text = f"HloModule m\nENTRY e {{\n{operands}\nROOT y = {instruction}\n}}"
    assert why_unfit(hlo.parse(text).entry.root).startswith(f"4:1: %y: {reason}")
