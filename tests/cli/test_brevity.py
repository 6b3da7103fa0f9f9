"""Answers about large modules are short, none is silent, and slips get the nearest name."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from ops.hlo import Instruction
from tests.cli.command_line import SOFTMAX, CommandLine
from tests.cli.small_modules import SOFTMAX_SUM

LAYERS = 12
"""More than fit into a few lines."""

DEEP = """HloModule deep

add {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }}
{fused}
ENTRY main {{
  t0 = f32[4] parameter(0)
{weights}
{body}
  sum0 = f32[4] add(t{layers}, t{layers})
{sums}
  ROOT r = f32[4] negate(sum{layers})
}}
"""
LAYER = {
    "fused": """row_sum_{n} {{ p = f32[4,8] parameter(0) zero = f32[] constant(0)
  ROOT sum = f32[4] reduce(p, zero), dimensions={{1}}, to_apply=add }}""",
    "weights": "  w{n} = f32[4] parameter({next})",
    "body": """  x{n} = f32[4,8] broadcast(t{n}), dimensions={{0}}
  y{n} = f32[{next},4,8] broadcast(x{n}), dimensions={{1,2}}
  t{next} = f32[4] fusion(x{n}), kind=kLoop, calls=row_sum_{n}""",
    "sums": "  sum{next} = f32[4] add(sum{n}, w{n})",
}
"""A module of equal layers with a fusion each, arrays of many sizes, and many parameters."""


@pytest.fixture
def deep(cli: CommandLine) -> Path:
    parts = {
        name: "\n".join(text.format(n=n, next=n + 1) for n in range(LAYERS))
        for name, text in LAYER.items()
    }
    return cli.file(DEEP.format(layers=LAYERS, **parts))


OTHERS = "    \u00d712, %t2, %t3, %t4, %t5, [.]{3}"
BLOCKS = {
    "summary": [r" *128 B +16 B +1  %t1 = .*", OTHERS],
    "schedule": [r"%t1 = .*", *[r"  .*"] * 3, OTHERS],
    "fusions": [r"%t1 = .*", r"  %x0 .*", OTHERS],
}


def test_equal_kernels_are_one_block_but_on_request(deep: Path, cli: CommandLine) -> None:
    for command, block in BLOCKS.items():
        lines = cli(command, deep, "--instruction", "t*").splitlines()
        found = [line for line in lines if not line.startswith(" read")]
        assert re.fullmatch("\n".join(block), "\n".join(found)), found
    everything = cli("fusions", deep, "--opcode", "fusion", "--all")
    assert "\u00d7" not in everything
    assert everything.count("\n") == 2 * LAYERS
    assert len(cli.document("fusions", deep, "--opcode", "fusion")["results"]) == LAYERS


@pytest.mark.parametrize("command", ["maps", "why", "reads", "schedule", "tiles"])
def test_no_answer_has_more_than_some_lines(
    command: str, deep: Path, monkeypatch: pytest.MonkeyPatch, cli: CommandLine
) -> None:
    monkeypatch.setattr("ops.cli.commands.MAX_LINES", 10)
    *shown, last = cli(command, deep).splitlines()
    assert len(shown) == 10
    found = re.fullmatch(r"(\d+) more lines: --all, .*", last)
    assert found is not None
    monkeypatch.setattr("ops.cli.commands.MAX_LINES", 10 + int(found[1]))
    assert cli(command, deep).splitlines()[:10] == shown
    monkeypatch.setattr("ops.cli.commands.MAX_LINES", 20)
    assert cli(command, deep, deep).count("\n") == 21  # the limit is for all files together


def test_long_lines_are_cut(deep: Path, monkeypatch: pytest.MonkeyPatch, cli: CommandLine) -> None:
    monkeypatch.setattr("ops.cli.commands.MAX_COLUMNS", 40)
    call = ("schedule", deep, "--instruction", "t1")
    lines, whole = cli(*call).splitlines(), cli(*call, "--long").splitlines()
    assert max(map(len, lines)) == 40
    assert any(line.endswith(" ... --long") for line in lines)
    assert [line[:29] for line in whole] == [line[:29] for line in lines]


def test_counts_need_no_maps(deep: Path, monkeypatch: pytest.MonkeyPatch, cli: CommandLine) -> None:
    asked: list[str] = []

    def parameters_from(_: object, root: Instruction, __: int) -> dict[Any, Any]:
        asked.append(root.name)
        return {}

    monkeypatch.setattr("ops.analysis.queries.parameters_from", parameters_from)
    cli("fusions", deep)
    assert ("sum" in asked, "r" in asked) == (True, False)


def test_the_entry_comes_first_and_reducers_last(deep: Path, cli: CommandLine) -> None:
    heading, line, *_ = cli("fusions", deep).splitlines()
    assert heading == "ENTRY %main, %r = f32[4] negate"
    assert line == "  reads all of 13 parameters: --parameter NAME, or --all"
    assert cli("fusions", deep, "--parameter", "w*").count("\n") == 1 + LAYERS
    assert cli("fusions", deep, "--all").count("\n") > 1 + LAYERS
    lines = cli("maps", deep).splitlines()
    assert lines[0] == "%x0 = f32[4,8] broadcast"
    assert [line for line in lines if not line.startswith(" ")][-1] == "%c = f32[] add"


def test_no_map_is_empty(cli: CommandLine) -> None:
    file = cli.file("""ENTRY e { x = s32[0] parameter(0) y = s32[3] parameter(1)
      ROOT n = s32[3] concatenate(x, y), dimensions={0} }""")
    assert "EMPTY" not in cli("maps", file) + cli("fusions", file)


KERNELS = {
    "transpose": "f32[96,64] transpose(p), dimensions={1,0}",
    "reduce": "f32[64] reduce(p, z), dimensions={1}, to_apply=add",
    "dot": "f32[64,64] dot(p, p), lhs_contracting_dims={1}, rhs_contracting_dims={1}",
    "iota": "f32[64] iota(), iota_dimension=0",
    "sort": "f32[64,96] sort(p), dimensions={1}, to_apply=less",
}
"""Modules that have no other kernel."""

BARE = """HloModule bare
add {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }}
less {{ a = f32[] parameter(0) b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=LT }}
ENTRY e {{ p = f32[64,96] parameter(0) z = f32[] constant(0) ROOT k = {kernel} }}
"""


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("command", ["coalescing", "schedule", "tiles"])
def test_a_bare_instruction_is_a_kernel(command: str, kernel: str, cli: CommandLine) -> None:
    text = cli(command, cli.file(BARE.format(kernel=kernel)))
    words = ("%k", "unknown", "no schedule")
    assert [word in text for word in words] == [True, False, False]


IN_TILES = "ENTRY e { p = f32[8,128]{1,0:T(8,128)} parameter(0) ROOT n = f32[8,128] negate(p) }"
AT_A_VALUE = """ENTRY e { x = f32[1000] parameter(0) i = s32[] parameter(1)
  ROOT d = f32[32] dynamic-slice(x, i), dynamic_slice_sizes={32} }"""
SAID = [
    ("coalescing", IN_TILES, "lies in tiles, as on a TPU, which has no warps"),
    ("coalescing", AT_A_VALUE, "XLA, by one warp and the middle of values: coalesced"),
    ("coalescing --device tpu_v5e", SOFTMAX_SUM, "TPU v5e has no sector"),
    ("loops", SOFTMAX_SUM, "no loop runs"),
    ("maps --unknown", SOFTMAX_SUM, "nothing is unknown"),
    ("tiles --instruction p", SOFTMAX_SUM, "no kernel runs among"),
]


@pytest.mark.parametrize(("call", "module", "said"), SAID, ids=[row[2] for row in SAID])
def test_for_nothing_a_line_says_why(call: str, module: str, said: str, cli: CommandLine) -> None:
    assert said in cli(*call.split(), cli.file(module))


@pytest.mark.parametrize("spelled", ["h100", "H100", "RTX_A6000", "rtx a6000", "rtx-A6000"])
def test_devices_however_they_are_spelled(spelled: str, cli: CommandLine) -> None:
    for command in ("coalescing", "tiles"):
        name = cli.document(command, SOFTMAX, "--device", spelled)["device"]
        assert name in {"H100", "RTX A6000"}


@pytest.mark.parametrize(
    "words",
    ["utilization operands reads", "coalescing accesses sectors", "tiles tilings registers"],
)
def test_tables_are_sorted_by_any_column(words: str, cli: CommandLine) -> None:
    """Where a number is missing, the row comes last."""
    command, items, column = words.split()
    call = (command, "examples/transformer_block_fwd.hlo", "--sort", column)
    figures: list[Any] = [row.get(column, -1) for row in cli.document(*call)[items]]
    most: list[float] = [each[1] if isinstance(each, list) else each for each in figures]
    assert most == sorted(most, reverse=True)
    assert len(set(most)) > 2


def test_one_name_for_an_index(cli: CommandLine) -> None:
    call = ["reads", cli.file(SOFTMAX_SUM), "--instruction", "wide"]
    assert cli(*call, "--element", "1,2") == cli(*call, "--at", "1,2")


TURNED_INSIDE = """\
HloModule small_transpose
fused { x = f32[65536,4] parameter(0) y = f32[4,65536] parameter(1)
  t = f32[4,65536] transpose(x), dimensions={1,0}, metadata={source_file="model.py" source_line=11}
  n = f32[4,65536] tanh(t), metadata={source_file="model.py" source_line=12}
  ROOT s = f32[4,65536] add(n, y), metadata={source_file="model.py" source_line=13} }
ENTRY main { x = f32[65536,4] parameter(0) y = f32[4,65536] parameter(1)
  ROOT f = f32[4,65536] fusion(x, y), kind=kLoop, calls=fused,
    metadata={source_file="model.py" source_line=13} }
"""


def test_why_names_the_line_that_moves(cli: CommandLine) -> None:
    """Not only that of the root."""
    heading, _, path, moving, *others = cli("why", cli.file(TURNED_INSIDE)).splitlines()
    assert heading.endswith("model.py:13")
    assert "%t transpose" in path
    assert moving == "    %t transpose: model.py:11"
    assert "model.py" not in " ".join(others)
