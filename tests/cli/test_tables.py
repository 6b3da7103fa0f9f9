"""The commands about memory: their tables begin with the worst row, and errors cost one row."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ops import hlo, tilings, utilization
from ops.cli import main
from ops.fusion import Fusion
from ops.performance import DEVICES, OperandUtilization
from ops.performance.kernels import kernels_of
from ops.performance.utilization import Count
from simplifier import Interval
from simplifier.errors import IndexingError
from tests.cli.small_modules import LOOKED_UP, SOFTMAX_SUM
from tests.extent import part
from tests.hlo.modules import module_text

REAL = ["cpu/layernorm_grad", "gpu/sort_topk", "tpu/kv_cache_decode"]

PARTS = """\
HloModule parts

ENTRY main {
  x = f32[9] parameter(0)
  start = s32[] parameter(1)
  zero = f32[] constant(0)
  head = f32[2] slice(x), slice={[0:2]}
  wide = f32[12] pad(x, zero), padding=3_0
  part = f32[4] dynamic-slice(wide, start), dynamic_slice_sizes={4}
  ROOT all = (f32[2], f32[4]) tuple(head, part)
}
"""

USED = {
    "unused parts": (
        PARTS,
        """\
unused  again  elements  needed  reads  bytes  operand
     0   44 B         1       1     12    4 B  %zero, f32[], of %wide
  32 B      0        12       4      4   16 B  %wide, f32[12]{0}, of %part
  28 B      0         9       2      2    8 B  %x, f32[9]{0}, of %head
     0   12 B         1       1      4    4 B  %start, s32[], of %part
     0      0         9       9      9   36 B  %x, f32[9]{0}, of %wide
""",
    ),
    "a fusion and a broadcast": (
        SOFTMAX_SUM,
        """\
unused  again  elements  needed  reads  bytes  operand
     0  112 B         4       4     32   16 B  %total, f32[4]{0}, of %wide
     0      0        32      32     32  128 B  %logits, f32[4,8]{1,0}, of %total
""",
    ),
    "nobody knows": (
        LOOKED_UP,
        """\
unused  again  elements   needed          reads      bytes  operand
  48 B      0        16        4              4       16 B  %found, f32[16]{0}, of %part
     0   12 B         1        1              4        4 B  %start, s32[], of %part
     0      0        16  0 to 16  any number of  0 to 64 B  %keys, f32[16]{0}, of %found; \
bounds: custom-call: no indexing map of lookup
     0      0         1        1              1        4 B  %a, s32[], of %sum
""",
    ),
}
"""Modules, and the table of their operands."""

WRONG = """\
HloModule wrong

ENTRY main {
  x = f32[2,3] parameter(0)
  turned = f32[3,4] transpose(x), dimensions={1,0}
  ROOT minus = f32[2,3] negate(x)
}
"""


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """The path of a module to write."""
    return tmp_path / "module.hlo"


@pytest.mark.parametrize(("module", "expected"), USED.values(), ids=USED)
def test_utilization(
    module: str, expected: str, saved: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved.write_text(module)
    assert main(["utilization", str(saved)]) == 0
    assert capsys.readouterr() == (expected, "")


@pytest.mark.parametrize("name", part(REAL, 1))
def test_rows_are_those_of_the_library(
    name: str, saved: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All of them, the most wasteful first."""
    saved.write_text(module_text(name))
    rows = printed(["utilization", str(saved)], capsys)["operands"]
    wasted = [row["unused_bytes"] + row["reread_bytes"] for row in rows]
    assert wasted == sorted(wasted, reverse=True)
    expected = [
        (row.fusion.roots[0].name, row.operand.name, row.element, *map(ends, counts(row)))
        for row in utilization(hlo.load(saved))
    ]
    assert sorted(map(identity, rows)) == sorted(map(repr, expected))


def printed(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """The document that a command prints."""
    main([*arguments, "--json"])
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def identity(row: dict[str, Any]) -> str:
    """What a row says of which operand."""
    names = ("kernel", "name", "element", "elements_read", "reads", "bytes_read")
    return repr(tuple(row[name] for name in names))


def counts(row: OperandUtilization) -> tuple[Count, ...]:
    """What the library says of an operand."""
    return row.elements_read, row.reads, row.bytes


def ends(count: Count) -> list[int | None]:
    """The least and the most."""
    if isinstance(count, Interval):
        return [count.lower, count.upper]
    assert isinstance(count, int)
    return [count, count]


def test_without_time_counts_are_bounds(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved.write_text(module_text("cpu/sort_topk"))
    fine, hurried = (
        printed(["utilization", str(saved), "--seconds", seconds], capsys)["operands"]
        for seconds in ("60", "0")
    )
    assert len(fine) == len(hurried)
    unknown = [sum(row["approximation"] is not None for row in rows) for rows in (fine, hurried)]
    assert unknown[0] < unknown[1]
    known = {(row["kernel"], row["name"], row["element"]): row for row in fine}
    for row in hurried:
        exact = known[row["kernel"], row["name"], row["element"]]
        for name in ("elements_read", "reads", "bytes_read"):
            assert row[name][0] <= exact[name][0]
            assert row[name][1] is None or row[name][1] >= exact[name][1]


def test_a_wrong_instruction_leaves_the_others_alone(
    saved: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved.write_text(WRONG)
    assert main(["utilization", str(saved)]) == 0
    wrong, right = capsys.readouterr().out.splitlines()[1:]
    assert f"of %turned; bounds: {saved}:5:3: %turned: transpose: " in wrong
    assert right.split() == [
        "0",
        "0",
        "6",
        "6",
        "6",
        "24",
        "B",
        "%x,",
        "f32[2,3]{1,0},",
        "of",
        "%minus",
    ]


def test_a_module_without_kernels_has_no_table(
    saved: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """But a line says why, whatever is asked."""
    saved.write_text("HloModule m\nENTRY e { ROOT p = f32[] parameter(0) }\n")
    reasons = dict.fromkeys(("summary", "coalescing", "schedule", "utilization", "tiles"), "kernel")
    for command, what in (reasons | {"loops": "loop"}).items():
        assert main([command, str(saved)]) == 0
        assert (command, capsys.readouterr()) == (command, (f"no {what} runs\n", ""))


@pytest.mark.parametrize("seconds", ["-1", "nan", "inf", "soon", ""])
def test_times_that_are_none(seconds: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["utilization", "module.hlo", "--seconds", seconds])
    assert stopped.value.code == 2
    expected = f"expected a number of seconds, not {seconds!r}\n"
    assert capsys.readouterr().err.endswith(expected)


# Tiles.


@pytest.mark.parametrize("name", part(REAL, 1))
def test_tiles_are_those_of_the_library(
    name: str, saved: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved.write_text(module_text(name))
    rows = printed(["tiles", str(saved), "--instruction", "*"], capsys)["tilings"]
    module = hlo.load(saved)
    known = [row for row in rows if "unknown" not in row]
    assert known
    kernels = {kernel.roots[0].name: kernel for kernel in kernels_of(module)}
    waste: dict[str, int] = {}
    sizes: dict[str, list[tuple[int, ...]]] = {}
    for row in known:
        found = tilings(kernels[row["kernel"]], DEVICES["A100"])
        waste.setdefault(row["kernel"], row["wasted_bytes"])
        sizes.setdefault(row["kernel"], []).append(tuple(row["sizes"]))
        assert row["wasted_bytes"] == row["bytes_read"] + row["bytes_written"] - found.least_bytes
        assert row["wasted_bytes"] >= 0
        assert sizes[row["kernel"]] == [each.sizes for each in found[: len(sizes[row["kernel"]])]]
    assert max(map(len, sizes.values())) == 10
    assert [*waste.values()] == sorted(waste.values(), reverse=True)
    for row in rows:
        if "unknown" in row:
            (kernel,) = (k for k in kernels_of(module) if k.roots[0].name == row["kernel"])
            assert row["unknown"] == reason_against(kernel)


def reason_against(kernel: Fusion) -> str:
    """Why a kernel has no tiling that fits an A100."""
    try:
        found = tilings(kernel, DEVICES["A100"])
    except IndexingError as error:
        return str(error)
    assert not found
    return f"none of {found.considered} tilings fits A100"


def test_a_kernel_that_is_not_there(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved.write_text(PARTS)
    assert main(["tiles", str(saved), "--fusion", "widr"]) == 1
    expected = f"error: {saved}: no instruction is called %widr\nhint: there is %wide\n"
    assert capsys.readouterr() == ("", expected)


def test_a_parameter_is_no_kernel(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved.write_text("ENTRY e { x = f32[4] parameter(0) ROOT n = f32[4] negate(x) }")
    assert main(["tiles", str(saved), "--fusion", "x"]) == 0
    assert capsys.readouterr() == ("no kernel runs among what is selected\n", "")


def test_a_kernel_without_tiles_costs_one_row(
    saved: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved.write_text(LOOKED_UP)
    assert main(["tiles", str(saved)]) == 0
    wasted, part, total, found = capsys.readouterr().out.splitlines()
    assert wasted.split()[-1] == "tiles"
    assert (part.split()[-1], total.split()[-1]) == ("%part", "%sum")
    reason = "propagate: %keys has no tile: custom-call: no indexing map of lookup"
    assert found.strip() == f"%found: {reason}"


@pytest.mark.parametrize("limit", ["0", "-1", "many", ""])
def test_limits_that_are_none(limit: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["tiles", "module.hlo", "--limit", limit])
    assert stopped.value.code == 2
    assert capsys.readouterr().err.endswith(f"expected a positive number, not {limit!r}\n")


def test_loops(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["loops", "examples/running_sum.hlo"]) == 0
    heading, row = capsys.readouterr().out.splitlines()
    assert heading.split("  ")[0] == "runs"
    assert row.split() == ["8", "%loop", "0:", "0", "by", "1", "1:", "[1,", "1]", "3:", "disjoint"]


def test_loops_that_nobody_can_count_are_unknown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = tmp_path / "control_flow.hlo"
    saved.write_text(module_text("cpu/control_flow"))
    assert main(["loops", str(saved), "--unknown"]) == 0
    (_, row) = capsys.readouterr().out.splitlines()
    assert row.split(maxsplit=2)[:2] == ["?", "%while.3"]
    assert "array 1 decides, and iterations add no constant to it" in row
    assert main(["loops", str(saved), "--strict", "--instruction", "while.4"]) == 0
    assert main(["loops", str(saved), "--strict"]) == 3
