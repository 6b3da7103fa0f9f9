"""The kernels of a module at a glance: their figures agree with the maps; and what a read is."""

from __future__ import annotations

import re
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest
import sympy

from ops import hlo, loop_dependence, summary, utilization
from ops.hlo import Instruction
from ops.performance import A100, AccessKind, OperandUtilization
from ops.performance.kernels import evaluated_by, kernels_of
from ops.performance.tally import Count, cell_of_count
from ops.tiling import tilings
from simplifier import Interval, symbol
from simplifier.errors import ArgumentError
from tests.cases import for_all, rows, texts_with_values
from tests.cli.command_line import CommandLine
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


N, M, K = map(symbol, "NMK")


def where(condition: Any, count: Any, other: Any = 0) -> sympy.Expr:  # noqa: ANN401 - of sympy
    return sympy.Piecewise((count, condition), (other, True))


@for_all([
    ("N * 4 + 8 if N < 3", where(N < 3, N * 4 + 8)),
    ("N if M >= 2 and N < 3", where((N < 3) & (M > 1), N)),
    ("N if (N < 3 and (K >= 2 or M >= 6))", where((N < 3) & ((M > 5) | (K > 1)), N)),
    ("N + select(N < 3, N, 0)", where(N < 3, N) + N),
    ("select(N < 3, N, 7)", where(N < 3, N, 7)),
])  # fmt: skip
def test_a_count_that_is_zero_elsewhere_says_where_it_is(text: str, count: sympy.Expr) -> None:
    assert cell_of_count(count) == text


def test_sizes_that_have_to_be_equal_are_said_behind() -> None:
    text = "x = f32[?,4] parameter(0) y = f32[?,4] parameter(1) ROOT r = f32[?,4] add(x, y)"
    (found,) = str(summary(hlo.parse(f"ENTRY e {{ {text} }}"))).splitlines()[1:]
    assert found.split("  ")[0] == "x_0 * 32 if x_0 == y_0"


def test_kernels_that_are_alike_read_what_each_reads() -> None:
    """One that reads an operand twice is not like one that reads two."""
    module = hlo.parse("""ENTRY e { x = f32[4] parameter(0) y = f32[4] parameter(1)
      two = f32[4] add(x, y) one = f32[4] add(y, y) other = f32[4] add(y, x)
      ROOT all = (f32[4], f32[4], f32[4]) tuple(two, one, other) }""")
    assert [*map(str, summary(module))] == [
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


STATE = "(s32[], f32[1000,256], f32[256])"
LOOP = """cond { s = STATE parameter(0) i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(1000) ROOT lt = pred[] compare(i, n), direction=LT }
ENTRY e { out = f32[1000,256] parameter(0) c = f32[256] parameter(1) z = s32[] constant(0)
  t = STATE tuple(z, out, c) ROOT w = STATE while(t), condition=cond, body=body }"""


@for_all(texts_with_values("""
# summary-mixes-padding | [(32, 32)]
ENTRY e { p = f32[8,1]{1,0:T(8,128)} parameter(0) ROOT n = f32[8,1]{1,0:T(8,128)} negate(p) }
# in-place-update-counted-whole | [(1024, 1024), (1032, 1024), (8, 4), (8, 1)]
body { s = STATE parameter(0) i = s32[] get-tuple-element(s), index=0
  out = f32[1000,256] get-tuple-element(s), index=1 c = f32[256] get-tuple-element(s), index=2
  t = f32[256] tanh(c) r = f32[1,256] bitcast(t) z = s32[] constant(0)
  u = f32[1000,256] dynamic-update-slice(out, r, i, z) one = s32[] constant(1) j = s32[] add(i, one)
  ROOT n = STATE tuple(j, u, t) } LOOP
# an update in place in a fusion | [(1028, 1024), (8, 4), (8, 1)]
fused { out = f32[1000,256] parameter(0) c = f32[256] parameter(1) i = s32[] parameter(2)
  r = f32[1,256] bitcast(c) z = s32[] constant(0)
  ROOT u = f32[1000,256] dynamic-update-slice(out, r, i, z) }
body { s = STATE parameter(0) i = s32[] get-tuple-element(s), index=0
  out = f32[1000,256] get-tuple-element(s), index=1 c = f32[256] get-tuple-element(s), index=2
  u = f32[1000,256] fusion(out, c, i), kind=kLoop, calls=fused one = s32[] constant(1)
  j = s32[] add(i, one) ROOT n = STATE tuple(j, u, c) } LOOP
# block-level-tile-ignored | [(8388608, 8388608)]
sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
fused { p = f32[4096,512] parameter(0) z = f32[] constant(0)
  s = f32[4096] reduce(p, z), dimensions={1}, to_apply=sum
  b = f32[4096,512] broadcast(s), dimensions={0} ROOT r = f32[4096,512] divide(p, b) }
ENTRY e { p = f32[4096,512] parameter(0)
  ROOT f = f32[4096,512] fusion(p), kind=kCustom, calls=fused, backend_config={
    "fusion_backend_config":{"kind":"__triton","block_level_fusion_config":{
      "output_tiles":[{"sizes":["1","512"]}],"num_warps":"4"}}} }
"""))  # fmt: skip
def test_kernels_move_what_they_need_once(text: str, moved: list[tuple[int, int]]) -> None:
    module = hlo.parse(f"HloModule m {text.replace('LOOP', LOOP).replace('STATE', STATE)}")
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
def saved(cli: CommandLine) -> Path:
    return cli.file(module_text("cpu/mlp_adam_step"))


FIGURES = {"bytes": "bytes", "read": "bytes_read", "written": "bytes_written", "reuse": "reuse"}


@pytest.mark.parametrize("sort", FIGURES)
def test_the_greatest_come_first(sort: str, saved: Path, cli: CommandLine) -> None:
    found = list(summary(hlo.load(saved)))
    figures = map(attrgetter(FIGURES[sort]), found)
    most = [figure.upper if isinstance(figure, Interval) else figure for figure in figures]

    def weight(at: int) -> float:
        """The greatest possible; what nobody can say has none."""
        unknown = float("-inf" if sort == "reuse" else "inf")
        return number if isinstance(number := most[at], int | float) else unknown

    order = sorted(range(len(found)), key=weight, reverse=True)
    ends = {found[at].fusion.roots[0].name: most[at] for at in order}
    rows = cli.document("summary", saved, "--sort", sort)["kernels"]
    assert len(rows) == len(ends) > 20
    assert [ends[str(row["kernel"])] for row in rows] == [*ends.values()]
    assert cli.document("summary", saved, "--sort", sort, "--top", "3")["kernels"] == rows[:3]


def test_the_order_of_the_module(saved: Path, cli: CommandLine) -> None:
    names = [each.roots[0].name for each in kernels_of(hlo.load(saved))]
    rows = cli.document("summary", saved, "--sort", "module")["kernels"]
    assert [row["kernel"] for row in rows] == names


@for_all(["1", float("nan")])
def test_seconds_are_a_number(seconds: Any) -> None:  # noqa: ANN401 - wrong on purpose
    with pytest.raises(ArgumentError, match=r"summary: seconds is .*; expected a number"):
        summary(hlo.parse(LOOKED_UP).entry, seconds=seconds)


def test_source_lines(saved: Path, cli: CommandLine) -> None:
    call = ("summary", saved, "--instruction", "select_multiply_fusion")
    (row,) = cli.document(*call)["kernels"]
    assert row["op_name"] == "jit(mlp_adam_step)/mul"
    assert row["source"][0].startswith("site-packages/optax/")
    assert row["source"][-1] == "model.py:836 in <module>"


MODULE = """HloModule kinds
sum {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }}
less {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = pred[] compare(a, b), direction=LT }}
ENTRY main {{ x = f32[4,8] parameter(0) rows = s32[3,1] parameter(1) at = s32[] parameter(2)
  wide = f32[9,8] parameter(3) zero = f32[] constant(0)
  bounded = f32[<=64,4] parameter(4) unbounded = f32[?,4] parameter(5) {} }}
"""


@for_all(rows("""
f32[4,8] negate(x) => identity
f32[4,1,8] reshape(x) => identity
f32[4,2,4] reshape(x) => reshape
f32[32] reshape(x) => reshape
f32[8,4] reshape(x) => reshape
f32[2,16] reshape(x) => reshape
f32[8,4] transpose(x), dimensions={1,0} => transpose
f32[4,8] reverse(x), dimensions={1} => reverse
f32[3,4,8] broadcast(x), dimensions={1,2} => broadcast
f32[2,8] slice(x), slice={[1:3], [0:8]} => slice
f32[4,4] slice(x), slice={[0:4], [0:8:2]} => slice
f32[6,8] pad(x, zero), padding=1_1x0_0 => pad
f32[7,8] pad(x, zero), padding=0_0_1x0_0 => pad
# padding that cuts
f32[4,7] pad(x, zero), padding=0_0x-1_0 => slice
f32[8,8] concatenate(x, x), dimensions={0} => pad
f32[4] reduce(x, zero), dimensions={1}, to_apply=sum => reduce
f32[4,4] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={1} => reduce+broadcast
f32[4,7] reduce-window(x, zero), window={size=1x2}, to_apply=sum => window
f32[4,8] reduce-window(x, zero), window={size=1x2 pad=0_0x1_0}, to_apply=sum => window+pad
f32[3,8] gather(x, rows), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0},
        index_vector_dim=1, slice_sizes={1,8}
    gather
f32[2,8] dynamic-slice(x, at, at), dynamic_slice_sizes={2,8} => slice
f32[9,8] dynamic-update-slice(wide, x, at, at) => pad
f32[4,8] sort(x), dimensions={1}, to_apply=less => reduce+broadcast
# nothing is left
f32[0,8] slice(x), slice={[1:1], [0:8]} => unused
f32[4,8] custom-call(x), custom_call_target="x" => unknown
f32[<=64,4] negate(bounded) => identity
f32[?,4] negate(unbounded) => identity
f32[4,<=64] transpose(bounded), dimensions={1,0} => transpose
f32[<=64,2] slice(bounded), slice={[0:64], [1:3]} => slice
f32[<=64,4] reverse(bounded), dimensions={0} => reverse
f32[<=66,4] pad(bounded, zero), padding=1_1x0_0 => pad
f32[4] reduce(unbounded, zero), dimensions={0}, to_apply=sum => reduce
"""))  # fmt: skip
def test_one_instruction(instruction: str, expected: str) -> None:
    (operand,) = {*re.findall(r"\b(?:x|bounded|unbounded)\b(?=[,)])", instruction)}
    assert _said_of(operand, MODULE.format(f"ROOT out = {instruction}")) == expected


@for_all(rows("""
t = f32[8,4] transpose(x), dimensions={1,0} ROOT out = f32[8,4] add(t, t) => transpose
t = f32[8,4] transpose(x), dimensions={1,0} ROOT out = f32[4,8] transpose(t), dimensions={1,0}
    identity
t = f32[4,8] reverse(x), dimensions={0} ROOT out = f32[4,8] add(t, x) => identity and reverse
# repeated rows
w = f32[4,2,8] broadcast(x), dimensions={0,2} ROOT out = f32[8,8] reshape(w) => broadcast
# a digit and its rest, turned
s = f32[4,2,4] reshape(x) ROOT out = f32[4,4,2] transpose(s), dimensions={0,2,1} => reshape
"""))  # fmt: skip
def test_a_chain(lines: str, expected: str) -> None:
    assert _said_of("x", f"ENTRY main {{ x = f32[4,8] parameter(0)\n{lines} }}") == expected


def _said_of(name: str, text: str) -> str:
    (found,) = summary(hlo.parse(text).entry)
    (row,) = (row for row in found.operands if row.operand.name == name)
    said = re.split(rf"%{name} \S+ ", str(found))[1].removesuffix(")").split(",")[0]
    assert (row.kinds == ()) == said.startswith("un")
    return said


def test_kinds_have_names() -> None:
    assert str(AccessKind(0)) == "identity"
    assert str(AccessKind.GATHER | AccessKind.BROADCAST) == "gather+broadcast"
    assert {str(kind) for kind in AccessKind} == {str(kind.name).lower() for kind in AccessKind}
