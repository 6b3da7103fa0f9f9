"""The kernels of a module at a glance: figures that agree with what the maps say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import sympy

from ops import hlo, loop_dependence, summary, utilization
from ops.cli import main
from ops.hlo import Instruction
from ops.performance import A100, OperandUtilization
from ops.performance.kernels import evaluated_by, kernels_of
from ops.performance.tally import Count, cell_of_count
from ops.tiling import tilings
from simplifier import Interval, symbol
from simplifier.errors import ArgumentError
from tests.cli.small_modules import LOOKED_UP
from tests.hlo.modules import module_text

REAL = ("cpu/mlp_adam_step", "gpu/dot_product_attention_bf16", "tpu/kv_cache_decode")


def interval_of(count: Count) -> Interval:
    """The least and the most; programs here have no symbolic sizes."""
    return count if isinstance(count, Interval) else Interval.of(int(count))


@pytest.mark.parametrize("name", REAL)
def test_figures_are_those_of_the_operands(name: str) -> None:
    module = hlo.parse(module_text(name))
    rows: dict[Instruction, list[OperandUtilization]] = {}
    for row in utilization(module):
        rows.setdefault(row.fusion.roots[0], []).append(row)
    found = summary(module)
    assert [each.fusion.roots for each in found] == [each.roots for each in kernels_of(module)]
    for each in found:
        (root,) = each.fusion.roots
        mine = rows.get(root, [])
        assert [str(row) for row in each.operands] == [str(row) for row in mine]
        total = sum((interval_of(row.bytes) for row in mine), Interval(0, 0))
        assert interval_of(each.bytes_read) == total
        assert interval_of(each.bytes) == total + interval_of(each.bytes_written)
        written = [at.shape.arrays[number] for (at, number), _ in evaluated_by(each.fusion)]
        sizes = (one.element_count * one.element_size_in_bits for one in written if one.is_array)
        assert each.bytes_written == sum(-(-bits // 8) for bits in sizes)


@pytest.mark.parametrize("name", [*REAL, "cpu/control_flow", "gpu/embedding_grad"])
def test_kernels_that_are_alike_have_what_each_has_alone(name: str) -> None:
    """Layers repeat: what is counted once for many is what would be counted for each."""
    module = hlo.parse(module_text(name))
    alone = tuple(row for kernel in kernels_of(module) for row in utilization(kernel))
    assert utilization(module).rows == alone


TEXTS_OF_COUNTS = {
    "one condition": (symbol("N") * 4 + 8, symbol("N") < 3, "N * 4 + 8 if N < 3"),
    "a condition of two": (
        symbol("N"),
        (symbol("N") < 3) & (symbol("M") > 1),
        "N if M >= 2 and N < 3",
    ),
    "a condition of alternatives": (
        symbol("N"),
        (symbol("N") < 3) & ((symbol("M") > 5) | (symbol("K") > 1)),
        "N if (N < 3 and (K >= 2 or M >= 6))",
    ),
}


@pytest.mark.parametrize(
    ("count", "condition", "text"), TEXTS_OF_COUNTS.values(), ids=TEXTS_OF_COUNTS
)
def test_a_count_that_is_zero_elsewhere(
    count: sympy.Expr, condition: sympy.Basic, text: str
) -> None:
    assert cell_of_count(sympy.Piecewise((count, condition), (0, True))) == text


def test_other_counts_are_expressions() -> None:
    size = symbol("N")
    piece = sympy.Piecewise((size, size < 3), (0, True))
    assert cell_of_count(piece + size) == "N + select(N < 3, N, 0)"
    assert cell_of_count(sympy.Piecewise((size, size < 3), (7, True))) == "select(N < 3, N, 7)"


def test_sizes_that_have_to_be_equal_are_said_behind() -> None:
    text = "x = f32[?,4] parameter(0) y = f32[?,4] parameter(1) ROOT r = f32[?,4] add(x, y)"
    (found,) = str(summary(hlo.parse(f"ENTRY e {{ {text} }}"))).splitlines()[1:]
    assert found.split("  ")[0] == "x_0 * 32 if x_0 == y_0"


TWICE = """ENTRY e {
  x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  two = f32[4] add(x, y)
  one = f32[4] add(y, y)
  other = f32[4] add(y, x)
  ROOT all = (f32[4], f32[4], f32[4]) tuple(two, one, other) }"""


def test_kernels_that_are_alike_read_what_each_reads() -> None:
    """One that reads an operand twice is not like one that reads two."""
    kernels = map(str, summary(hlo.parse(TWICE)))
    assert [*kernels] == [
        "%two = f32[4] add(%x f32[4] identity, %y f32[4] identity)",
        "%one = f32[4] add(%y f32[4] identity)",
        "%other = f32[4] add(%y f32[4] identity, %x f32[4] identity)",
    ]


def test_updates_in_place_are_found_without_the_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    """What an update reads is followed through all of an iteration: a decoder took a minute."""
    followed: list[object] = []
    monkeypatch.setattr(loop_dependence._Tracer, "read_for", followed.append)
    module = hlo.load("examples/running_sum.hlo")
    written = {evaluated_by(each)[0].written[0].name for each in kernels_of(module)}
    assert "new_row" in written
    assert not followed


REPORTED: dict[str, tuple[str, list[tuple[int, int]]]] = {
    "summary-mixes-padding": (
        """ENTRY e { p = f32[8,1]{1,0:T(8,128)} parameter(0)
        ROOT n = f32[8,1]{1,0:T(8,128)} negate(p) }""",
        [(32, 32)],
    ),
    "in-place-update-counted-whole": (
        """body { s = (s32[], f32[1000,256], f32[256]) parameter(0)
          i = s32[] get-tuple-element(s), index=0 out = f32[1000,256] get-tuple-element(s), index=1
          c = f32[256] get-tuple-element(s), index=2 t = f32[256] tanh(c)
          r = f32[1,256] bitcast(t) z = s32[] constant(0)
          u = f32[1000,256] dynamic-update-slice(out, r, i, z) one = s32[] constant(1)
          j = s32[] add(i, one) ROOT n = (s32[], f32[1000,256], f32[256]) tuple(j, u, t) }
        cond { s = (s32[], f32[1000,256], f32[256]) parameter(0)
          i = s32[] get-tuple-element(s), index=0 n = s32[] constant(1000)
          ROOT lt = pred[] compare(i, n), direction=LT }
        ENTRY e { out = f32[1000,256] parameter(0) c = f32[256] parameter(1) z = s32[] constant(0)
          t = (s32[], f32[1000,256], f32[256]) tuple(z, out, c)
          ROOT w = (s32[], f32[1000,256], f32[256]) while(t), condition=cond, body=body }""",
        [(1024, 1024), (1032, 1024), (8, 4), (8, 1)],
    ),
    "an update in place in a fusion": (
        """fused { out = f32[100,8] parameter(0) c = f32[8] parameter(1) i = s32[] parameter(2)
          r = f32[1,8] bitcast(c) z = s32[] constant(0)
          ROOT u = f32[100,8] dynamic-update-slice(out, r, i, z) }
        body { s = (s32[], f32[100,8], f32[8]) parameter(0)
          i = s32[] get-tuple-element(s), index=0 out = f32[100,8] get-tuple-element(s), index=1
          c = f32[8] get-tuple-element(s), index=2
          u = f32[100,8] fusion(out, c, i), kind=kLoop, calls=fused one = s32[] constant(1)
          j = s32[] add(i, one) ROOT n = (s32[], f32[100,8], f32[8]) tuple(j, u, c) }
        cond { s = (s32[], f32[100,8], f32[8]) parameter(0)
          i = s32[] get-tuple-element(s), index=0 n = s32[] constant(100)
          ROOT lt = pred[] compare(i, n), direction=LT }
        ENTRY e { out = f32[100,8] parameter(0) c = f32[8] parameter(1) z = s32[] constant(0)
          t = (s32[], f32[100,8], f32[8]) tuple(z, out, c)
          ROOT w = (s32[], f32[100,8], f32[8]) while(t), condition=cond, body=body }""",
        [(36, 32), (8, 4), (8, 1)],
    ),
    "block-level-tile-ignored": (
        """sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
        fused { p = f32[4096,512] parameter(0) z = f32[] constant(0)
          s = f32[4096] reduce(p, z), dimensions={1}, to_apply=sum
          b = f32[4096,512] broadcast(s), dimensions={0}
          ROOT r = f32[4096,512] divide(p, b) }
        ENTRY e { p = f32[4096,512] parameter(0)
          ROOT f = f32[4096,512] fusion(p), kind=kCustom, calls=fused, backend_config={
            "fusion_backend_config":{"kind":"__triton","block_level_fusion_config":{
              "output_tiles":[{"sizes":["1","512"]}],"num_warps":"4"}}} }""",
        [(8388608, 8388608)],
    ),
}


@pytest.mark.parametrize(("text", "moved"), REPORTED.values(), ids=REPORTED)
def test_kernels_move_what_they_need_once(text: str, moved: list[tuple[int, int]]) -> None:
    module = hlo.parse(f"HloModule m {text}")
    found = summary(module)
    assert sorted((each.bytes_read, each.bytes_written) for each in found) == sorted(moved)
    assert all(each.reuse == 1 for each in found)
    best = [tilings(kernel, A100)[0] for kernel in kernels_of(module)]
    assert sorted(each.bytes_written for each in best) == sorted(each for _, each in moved)


def test_kernels_without_operands_are_there() -> None:
    module = hlo.parse("ENTRY e { i = s32[4] iota(), iota_dimension=0 }")
    (found,) = summary(module)
    assert (found.bytes_read, found.bytes_written, found.reuse) == (0, 16, 0)
    assert str(found) == "%i = s32[4] iota()"


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "module.hlo"
    path.write_text(module_text("cpu/mlp_adam_step"))
    return path


def _kernels(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    assert main([*arguments, "--json"]) == 0
    kernels: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["kernels"]
    return kernels


@pytest.mark.parametrize("sort", ["bytes", "read", "written", "reuse"])
def test_the_greatest_come_first(
    sort: str, saved: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = list(summary(hlo.load(saved)))
    figures = {
        "bytes": [each.bytes for each in found],
        "read": [each.bytes_read for each in found],
        "written": [each.bytes_written for each in found],
        "reuse": [each.reuse for each in found],
    }[sort]
    most = [figure.upper if isinstance(figure, Interval) else figure for figure in figures]

    def weight(at: int) -> float:
        """The greatest possible; what nobody can say has none."""
        number = most[at]
        if isinstance(number, int | float):
            return number
        return float("-inf" if sort == "reuse" else "inf")

    order = sorted(range(len(found)), key=weight, reverse=True)
    names = [found[at].fusion.roots[0].name for at in order]
    rows = _kernels(capsys, "summary", str(saved), "--sort", sort)
    assert len(rows) == len(names) > 20
    ends = {name: most[at] for at, name in ((at, found[at].fusion.roots[0].name) for at in order)}
    assert [ends[str(row["kernel"])] for row in rows] == [ends[name] for name in names]
    top = _kernels(capsys, "summary", str(saved), "--sort", sort, "--top", "3")
    assert top == rows[:3]


def test_the_order_of_the_module(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = [each.roots[0].name for each in kernels_of(hlo.load(saved))]
    rows = _kernels(capsys, "summary", str(saved), "--sort", "module")
    assert [row["kernel"] for row in rows] == names


def test_only_what_is_unknown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "looked_up.hlo"
    path.write_text(LOOKED_UP)
    rows = _kernels(capsys, "summary", str(path), "--unknown")
    assert [row["kernel"] for row in rows] == ["found"]


@pytest.mark.parametrize("seconds", ["1", float("nan")])
def test_seconds_are_a_number(seconds: Any) -> None:  # noqa: ANN401 - wrong on purpose
    entry = hlo.parse(LOOKED_UP).entry
    with pytest.raises(ArgumentError, match=r"summary: seconds is .*; expected a number"):
        summary(entry, seconds=seconds)


def test_source_lines(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (row,) = _kernels(capsys, "summary", str(saved), "--instruction", "select_multiply_fusion")
    assert row["op_name"] == "jit(mlp_adam_step)/mul"
    assert row["source"][0].startswith("site-packages/optax/")
    assert row["source"][-1] == "model.py:836 in <module>"
