"""The commands about memory: their tables begin with the worst row, and errors cost one row."""

from __future__ import annotations

from typing import Any

import pytest

from ops import Tilings, hlo, tilings, utilization
from ops.fusion import Fusion
from ops.performance import DEVICES
from ops.performance.kernels import kernels_of
from ops.performance.utilization import Count
from simplifier import Interval
from simplifier.errors import IndexingError
from tests.cli.command_line import CommandLine, sessions
from tests.cli.small_modules import LOOKED_UP, PARTS
from tests.extent import part
from tests.hlo.modules import module_text

REAL = ["cpu/layernorm_grad", "gpu/sort_topk", "tpu/kv_cache_decode"]

SESSIONS = """
# unused parts
$ utilization parts.hlo
unused  again  elements  needed  reads  bytes  operand
     0   44 B         1       1     12    4 B  %zero, f32[], of %wide
  32 B      0        12       4      4   16 B  %wide, f32[12]{0}, of %part
  28 B      0         9       2      2    8 B  %x, f32[9]{0}, of %head
     0   12 B         1       1      4    4 B  %start, s32[], of %part
     0      0         9       9      9   36 B  %x, f32[9]{0}, of %wide

# a fusion and a broadcast
$ utilization softmax_sum.hlo
unused  again  elements  needed  reads  bytes  operand
     0  112 B         4       4     32   16 B  %total, f32[4]{0}, of %wide
     0      0        32      32     32  128 B  %logits, f32[4,8]{1,0}, of %total

# nobody knows
$ utilization looked_up.hlo
unused  again  elements   needed          reads      bytes  operand
  48 B      0        16        4              4       16 B  %found, f32[16]{0}, of %part
     0   12 B         1        1              4        4 B  %start, s32[], of %part
     0      0        16  0 to 16  any number of  0 to 64 B  %keys, f32[16]{0}, of %found; \
bounds: custom-call: no indexing map of lookup
     0      0         1        1              1        4 B  %a, s32[], of %sum
"""
"""Modules, and the table of their operands."""


@pytest.mark.parametrize(("call", "answer"), sessions(SESSIONS))
def test_utilization(call: str, answer: str, cli: CommandLine) -> None:
    assert cli(*cli.words(call)) == answer


@pytest.mark.parametrize("name", part(REAL, 1))
def test_rows_are_those_of_the_library(name: str, cli: CommandLine) -> None:
    """All of them, the most wasteful first."""
    saved = cli.file(module_text(name))
    rows = cli.document("utilization", saved)["operands"]
    wasted = [row["unused_bytes"] + row["reread_bytes"] for row in rows]
    assert wasted == sorted(wasted, reverse=True)
    found = utilization(hlo.load(saved))
    names = [(each.fusion.roots[0].name, each.operand.name, each.element) for each in found]
    counts = [map(ends, (each.elements_read, each.reads, each.bytes)) for each in found]
    expected = [(*name, *each) for name, each in zip(names, counts, strict=True)]
    assert sorted(map(identity, rows)) == sorted(map(repr, expected))


def identity(row: dict[str, Any]) -> str:
    names = ("kernel", "name", "element", "elements_read", "reads", "bytes_read")
    return repr(tuple(row[name] for name in names))


def ends(count: Count) -> list[int | None]:
    if isinstance(count, Interval):
        return [count.lower, count.upper]
    assert isinstance(count, int)
    return [count, count]


def test_without_time_counts_are_bounds(cli: CommandLine) -> None:
    saved = cli.file(module_text("cpu/sort_topk"))
    call = ("utilization", saved, "--seconds")
    fine, hurried = (cli.document(*call, seconds)["operands"] for seconds in ("60", "0"))
    assert len(fine) == len(hurried)
    unknown = [sum(row["approximation"] is not None for row in rows) for rows in (fine, hurried)]
    assert unknown[0] < unknown[1]
    known = {(row["kernel"], row["name"], row["element"]): row for row in fine}
    for row in hurried:
        exact = known[row["kernel"], row["name"], row["element"]]
        for name in ("elements_read", "reads", "bytes_read"):
            assert row[name][0] <= exact[name][0]
            assert row[name][1] is None or row[name][1] >= exact[name][1]


WRONG = """\

ENTRY main { x = f32[2,3] parameter(0)
  turned = f32[3,4] transpose(x), dimensions={1,0}
  ROOT minus = f32[2,3] negate(x) }
"""


def test_a_wrong_instruction_leaves_the_others_alone(cli: CommandLine) -> None:
    saved = cli.file(WRONG)
    _, wrong, right = cli("utilization", saved).splitlines()
    assert f"of %turned; bounds: {saved}:3:3: %turned: transpose: " in wrong
    assert " ".join(right.split()) == "0 0 6 6 6 24 B %x, f32[2,3]{1,0}, of %minus"


NO_KERNEL = "ENTRY e { ROOT p = f32[] parameter(0) }"


def test_a_module_without_kernels_has_no_table(cli: CommandLine) -> None:
    """But a line says why, whatever is asked."""
    file = cli.file(NO_KERNEL)
    for command in ("summary", "coalescing", "schedule", "utilization", "tiles"):
        assert cli(command, file) == "no kernel runs\n"
    assert cli("loops", file) == "no loop runs\n"


@pytest.mark.parametrize("name", part(REAL, 1))
def test_tiles_are_those_of_the_library(name: str, cli: CommandLine) -> None:
    saved = cli.file(module_text(name))
    rows: dict[str, list[dict[str, Any]]] = {}
    for row in cli.document("tiles", saved, "--instruction", "*")["tilings"]:
        rows.setdefault(row["kernel"], []).append(row)
    kernels = {kernel.roots[0].name: kernel for kernel in kernels_of(hlo.load(saved))}
    waste: list[int] = []
    for kernel, mine in rows.items():
        found = tilings_or_reason(kernels[kernel])
        if isinstance(found, str):
            assert [row["unknown"] for row in mine] == [found]
            continue
        waste.append(mine[0]["wasted_bytes"])
        assert [tuple(row["sizes"]) for row in mine] == [each.sizes for each in found[: len(mine)]]
        for row in mine:
            wasted = row["bytes_read"] + row["bytes_written"] - found.least_bytes
            assert row["wasted_bytes"] == wasted >= 0
    assert waste == sorted(waste, reverse=True)
    assert max(map(len, rows.values())) == 10


def tilings_or_reason(kernel: Fusion) -> Tilings | str:
    """The tilings of a kernel that fit an A100, or why there is none."""
    try:
        found = tilings(kernel, DEVICES["A100"])
    except IndexingError as error:
        return str(error)
    return found or f"none of {found.considered} tilings fits A100"


def test_a_kernel_without_tiles_costs_one_row_and_no_kernel_none(cli: CommandLine) -> None:
    wasted, part, total, found = cli("tiles", cli.file(LOOKED_UP)).splitlines()
    last = [line.split()[-1] for line in (wasted, part, total)]
    assert last == ["tiles", "%part", "%sum"]
    reason = "propagate: %keys has no tile: custom-call: no indexing map of lookup"
    assert found.strip() == f"%found: {reason}"
    saved = cli.file(PARTS)
    expected = f"error: {saved}: no instruction is called %widr\nhint: there is %wide\n"
    assert cli.error("tiles", saved, "--fusion", "widr") == expected
    assert cli("tiles", saved, "--fusion", "x") == "no kernel runs among what is selected\n"


def test_loops_and_those_that_nobody_can_count(cli: CommandLine) -> None:
    heading, row = cli("loops", "examples/running_sum.hlo").splitlines()
    assert heading.split("  ")[0] == "runs"
    assert " ".join(row.split()) == "8 %loop 0: 0 by 1 1: [1, 1] 3: disjoint"
    saved = cli.file(module_text("cpu/control_flow"))
    (_, row) = cli("loops", saved, "--unknown").splitlines()
    assert row.split(maxsplit=2)[:2] == ["?", "%while.3"]
    assert "array 1 decides, and iterations add no constant to it" in row
    cli("loops", saved, "--strict", "--instruction", "while.4")
    cli("loops", saved, "--strict", code=3)
