"""One bad instruction takes away only itself: what goes through it is unknown, with its error."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

from indexing import MapError
from ops import Unknown, emit_kernel, hlo, output_to_input, parameter_indexing, reads, stablehlo
from ops.cli import main
from tests.cases import for_all
from tests.ops.unfit import only_reason

GATHER = """HloModule m
ENTRY e {
  a = f32[4,8] parameter(0)
  t = f32[] parameter(1)
  g = (f32[8,8], f32[]) all-gather(a, t), replica_groups={}, dimensions={0}
  b = f32[8,8] get-tuple-element(g), index=0 ROOT n = f32[8,8] negate(b) }"""
CONVOLUTION = """HloModule m
ENTRY e {
  x = f32[1,8,8,3] parameter(0)
  k = f32[3,3,1,4] parameter(1)
  v = f32[1,6,6,4] convolution(x, k), window={size=3x3}, dim_labels=b01f_01io->b01f
  y = f32[16] parameter(2) n = f32[16] negate(y) ROOT t = (f32[1,6,6,4], f32[16]) tuple(v, n) }"""
UNKNOWN = [
    (GATHER, "%g: all-gather: dimensions lists dimension 0 of a tensor of rank 0", "8x8"),
    (CONVOLUTION, "%v: convolution: lhs has 3 input features, but rhs has 1 in each of 1", "16"),
]


@pytest.mark.parametrize(("text", "reason", "tile"), UNKNOWN, ids=["gather", "convolution"])
def test_the_commands_go_on(
    text: str, reason: str, tile: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "m.hlo"
    file.write_text(text)
    said: dict[str, str] = {}
    for command in ("fusions", "maps", "summary", "utilization", "tiles"):
        assert main([command, str(file)]) == 0
        said[command], err = capsys.readouterr()
        assert err == ""
    assert "unknown" in said.pop("summary")
    assert all(f"{file}:5:3: {reason}" in each for each in said.values())
    assert f"{tile} of %n" in said["tiles"]
    assert main(["fusions", str(file), "--strict"]) == 3


def test_what_does_not_go_through_it_keeps_its_maps() -> None:
    module = hlo.parse(CONVOLUTION)
    found = parameter_indexing(module.entry.root, 1)[module.entry.parameters[2]]
    assert [str(way) for way in found.indexings] == ["(d0) -> (d0), domain: d0 in [0, 15]"]


STABLEHLO = """module {
sdy.mesh @mesh = <["a"=2]>
func.func @main(%x: tensor<8x4xf32>) -> tensor<?x4xf32> {
  %0 = stablehlo.add %x, %x : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<?x4xf32>
  %1 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{"a"}, {}]>]
      out_shardings=[<@mesh, [{"a"}, {}]>] manual_axes={"a"} (%y: tensor<?x4xf32>) {
    %2 = stablehlo.add %y, %y : tensor<?x4xf32>
    sdy.return %2 : tensor<?x4xf32>
  } : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}
}"""


@pytest.mark.parametrize("target", ["xla.sdy.GlobalToLocalShape", "Sharding", "X64SplitLow"])
def test_a_target_with_open_sizes_says_so(target: str) -> None:
    call = f'custom-call(x), custom_call_target="{target}"'
    text = f"ENTRY e {{ x = f32[?,4] parameter(0) ROOT r = f32[?,4] {call} }}"
    assert only_reason(output_to_input(hlo.parse(text).entry.root)).endswith(" no bound")


def test_manual_computation_unknown_size() -> None:
    module = stablehlo.parse(STABLEHLO)
    found = parameter_indexing(module.entry.root)[module.entry.parameters[0]]
    assert isinstance(found, Unknown)
    assert found.reason.endswith("LocalToGlobalShape, because its sizes have no bound")


def test_reads_of_unknown_size() -> None:
    """The tile holds for each size; which elements it is, for each number of the size."""
    text = "ENTRY e { x = f32[?,4] parameter(0) ROOT n = f32[?,4] negate(x) }"
    (read,) = reads(hlo.parse(text).entry.root)
    assert str(read) == "%x f32[?,4]: [t0, t1]"
    with pytest.raises(MapError, match="depend on its sizes"):
        read.elements((0, 0))


def test_reads_of_nothing() -> None:
    text = """ENTRY e { x = s32[0] parameter(0) y = s32[3] parameter(1)
      ROOT n = s32[3] concatenate(x, y), dimensions={0} }"""
    assert [*map(str, reads(hlo.parse(text).entry.root))] == ["%y s32[3]: [t0]"]


@for_all([("f32[4]", "1_3_1x0_0", "c"), ("f32[6]", "0_2x0_0", "numpy")])
def test_no_kernel_of_wrong_rank(kind: str, padding: str, language: Literal["c", "numpy"]) -> None:
    text = "x = f32[4,4] parameter(0) z = f32[] parameter(1)"
    text = f"ENTRY e {{ {text}\nROOT y = {kind} pad(x, z), padding={padding} }}"
    with pytest.raises(hlo.HloTextError, match="2:1: %y: pad: the rank of the result is 1"):
        emit_kernel(hlo.parse(text).entry.root, language)


PASSED_ON = """HloModule m
body { s = (s32[], f32[8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0 x = f32[8] get-tuple-element(s), index=1
  one = s32[] constant(1) j = s32[] add(i, one) ROOT t = (s32[], f32[8]) tuple(j, x) }
condition { s = (s32[], f32[8]) parameter(0) i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(4) ROOT l = pred[] compare(i, n), direction=LT }
ENTRY e { z = s32[2,3] constant(0) x = f32[8] parameter(0) init = (s32[], f32[8]) tuple(z, x)
  w = (s32[], f32[8]) while(init), condition=condition, body=body
  ROOT y = f32[8] get-tuple-element(w), index=1 }"""


def test_a_counter_that_begins_with_a_matrix_is_unknown() -> None:
    entry = hlo.parse(PASSED_ON).entry
    said = str(parameter_indexing(entry.root)[entry.parameters[0]])
    assert "%init: tuple: (s32[], f32[8]{0}) is not made of s32[2,3]{1,0}" in said
