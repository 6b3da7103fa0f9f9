"""Answers about large modules are short, none is silent, and slips get the nearest name."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from ops.cli import main
from ops.hlo import Instruction
from tests.cli.small_modules import SOFTMAX_SUM

LAYERS = 12
"""More than fit into a few lines."""


def deep_model(layers: int) -> str:
    """A module of equal layers with a fusion each, arrays of many sizes, and many parameters."""
    body = [
        f"""  x{n} = f32[4,8] broadcast(t{n}), dimensions={{0}}
  y{n} = f32[{n + 1},4,8] broadcast(x{n}), dimensions={{1,2}}
  t{n + 1} = f32[4] fusion(x{n}), kind=kLoop, calls=row_sum_{n}"""
        for n in range(layers)
    ]
    fused = [
        f"""row_sum_{n} {{
  p = f32[4,8] parameter(0)
  zero = f32[] constant(0)
  ROOT sum = f32[4] reduce(p, zero), dimensions={{1}}, to_apply=add
}}
"""
        for n in range(layers)
    ]
    weights = [f"  w{n} = f32[4] parameter({n + 1})" for n in range(layers)]
    sums = [f"  sum{n + 1} = f32[4] add(sum{n}, w{n})" for n in range(layers)]
    return "\n".join(
        [
            "HloModule deep\n\nadd {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)",
            "  ROOT c = f32[] add(a, b)\n}\n",
            *fused,
            "ENTRY main {\n  t0 = f32[4] parameter(0)",
            *weights,
            *body,
            f"  sum0 = f32[4] add(t{layers}, t{layers})",
            *sums,
            f"  ROOT r = f32[4] negate(sum{layers})\n}}\n",
        ]
    )


@pytest.fixture(scope="module")
def deep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a module of many layers."""
    file = tmp_path_factory.mktemp("brevity") / "deep.hlo"
    file.write_text(deep_model(LAYERS))
    return file


def text_of(capsys: pytest.CaptureFixture[str], *arguments: object) -> list[str]:
    """The lines that a command prints."""
    assert main([*map(str, arguments)]) == 0
    return capsys.readouterr().out.splitlines()


def test_equal_kernels_are_one_block(deep: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command, block in {
        "summary": [r" *128 B +16 B +1  %t1 = .*", "    \u00d712, %t2, %t3, %t4, %t5, [.]{3}"],
        "schedule": [r"%t1 = .*", *[r"  .*"] * 4, "    \u00d712, %t2, %t3, %t4, %t5, [.]{3}"],
        "fusions": [r"%t1 = .*", r"  %x0 .*", "    \u00d712, %t2, .*"],
    }.items():
        lines = text_of(capsys, command, deep, "--instruction", "t*")
        found = [line for line in lines if not line.startswith(" read")]
        if command == "schedule":
            assert sum("\u00d712" in line for line in lines) == 1
        else:
            assert len(found) == len(block)
            for line, pattern in zip(found, block, strict=True):
                assert re.fullmatch(pattern, line), (command, line)
        assert sum(line.lstrip().startswith("%t") for line in lines) <= 2


def test_everything_is_on_request_and_in_json(
    deep: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    everything = text_of(capsys, "fusions", deep, "--opcode", "fusion", "--all")
    assert sum("\u00d7" in line for line in everything) == 0
    assert len(everything) == 2 * LAYERS
    assert main(["fusions", str(deep), "--opcode", "fusion", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["results"]) == LAYERS


@pytest.mark.parametrize("command", ["maps", "why", "reads", "schedule", "tiles"])
def test_no_answer_has_more_than_some_lines(
    command: str, deep: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("ops.cli.commands.MAX_LINES", 10)
    *shown, last = text_of(capsys, command, deep)
    assert len(shown) == 10
    found = re.fullmatch(r"(\d+) more lines: --all, .*", last)
    assert found is not None
    monkeypatch.setattr("ops.cli.commands.MAX_LINES", 10 + int(found[1]))
    assert text_of(capsys, command, deep)[:10] == shown
    assert not capsys.readouterr().out


def test_the_limit_is_for_all_files_together(
    deep: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("ops.cli.commands.MAX_LINES", 20)
    lines = text_of(capsys, "summary", deep, deep)
    assert len(lines) == 21


def test_long_lines_are_cut(
    deep: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("ops.cli.commands.MAX_COLUMNS", 40)
    lines = text_of(capsys, "schedule", deep, "--instruction", "t1")
    assert max(map(len, lines)) == 40
    assert any(line.endswith(" ... --long") for line in lines)
    whole = text_of(capsys, "schedule", deep, "--instruction", "t1", "--long")
    assert [line[:29] for line in whole] == [line[:29] for line in lines]


def test_parameters_are_counted_without_maps(
    deep: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []

    def parameters_from(_: object, root: Instruction, __: int) -> dict[Any, Any]:
        asked.append(root.name)
        return {}

    monkeypatch.setattr("ops.analysis.queries.parameters_from", parameters_from)
    text_of(capsys, "fusions", deep)
    assert "sum" in asked
    assert "r" not in asked


def test_the_entry_counts_its_parameters(deep: Path, capsys: pytest.CaptureFixture[str]) -> None:
    heading, line, *_ = text_of(capsys, "fusions", deep)
    assert heading == "ENTRY %main, %r = f32[4] negate"
    assert line == "  reads all of 13 parameters: --parameter NAME, or --all"
    pairs = text_of(capsys, "fusions", deep, "--parameter", "w*")
    assert len(pairs) == 1 + LAYERS
    assert len(text_of(capsys, "fusions", deep, "--all")) > 1 + LAYERS


def test_reducers_come_last(deep: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = text_of(capsys, "maps", deep)
    assert lines[0] == "%x0 = f32[4,8] broadcast"
    assert [line for line in lines if not line.startswith(" ")][-1] == "%c = f32[] add"


def test_no_map_is_empty(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "none.hlo"
    file.write_text(
        "ENTRY e { x = s32[0] parameter(0) y = s32[3] parameter(1) "
        "ROOT n = s32[3] concatenate(x, y), dimensions={0} }"
    )
    for command in ("maps", "fusions"):
        assert "EMPTY" not in "\n".join(text_of(capsys, command, file))


KERNELS = {
    "transpose": "f32[96,64] transpose(p), dimensions={1,0}",
    "reduce": "f32[64] reduce(p, z), dimensions={1}, to_apply=add",
    "dot": "f32[64,64] dot(p, p), lhs_contracting_dims={1}, rhs_contracting_dims={1}",
    "iota": "f32[64] iota(), iota_dimension=0",
    "sort": "f32[64,96] sort(p), dimensions={1}, to_apply=less",
}
"""Modules that have no other kernel."""


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("command", ["coalescing", "schedule", "tiles"])
def test_a_bare_instruction_is_a_kernel(
    command: str, kernel: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "bare.hlo"
    file.write_text(f"""HloModule bare
add {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }}
less {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = pred[] compare(a, b), direction=LT }}
ENTRY e {{ p = f32[64,96] parameter(0) z = f32[] constant(0) ROOT k = {KERNELS[kernel]} }}
""")
    text = "\n".join(text_of(capsys, command, file))
    assert "%k" in text
    assert "unknown" not in text
    assert "no schedule" not in text


SAID = {
    "no sectors in tiles": (
        "ENTRY e { p = f32[8,128]{1,0:T(8,128)} parameter(0) ROOT n = f32[8,128] negate(p) }",
        ["coalescing"],
        "lies in tiles, as on a TPU, which has no warps",
    ),
    "no warps": (SOFTMAX_SUM, ["coalescing", "--device", "tpu_v5e"], "TPU v5e has no sector"),
    "no loop": (SOFTMAX_SUM, ["loops"], "no loop runs"),
    "nothing unknown": (SOFTMAX_SUM, ["maps", "--unknown"], "nothing is unknown"),
    "no kernel selected": (SOFTMAX_SUM, ["tiles", "--instruction", "p"], "no kernel runs among"),
    "the verdict of XLA": (
        """ENTRY e { x = f32[1000] parameter(0) i = s32[] parameter(1)
          ROOT d = f32[32] dynamic-slice(x, i), dynamic_slice_sizes={32} }""",
        ["coalescing"],
        "XLA, by one warp and the middle of values: coalesced",
    ),
}


@pytest.mark.parametrize("name", SAID)
def test_where_there_is_nothing_a_line_says_why(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    module, (command, *options), expected = SAID[name]
    file = tmp_path / "module.hlo"
    file.write_text(module)
    assert expected in "\n".join(text_of(capsys, command, file, *options))


@pytest.mark.parametrize("spelled", ["h100", "H100", "RTX_A6000", "rtx a6000", "rtx-A6000"])
def test_devices_however_they_are_spelled(spelled: str, capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("coalescing", "tiles"):
        assert main([command, "examples/softmax.hlo", "--device", spelled, "--json"]) == 0
        name = json.loads(capsys.readouterr().out)["device"]
        assert name in {"H100", "RTX A6000"}


SLIPS = {
    "a command": (["summry", "x.hlo"], "there is no command summry; did you mean summary?"),
    "no command": (["zzz", "x.hlo"], "there is no command zzz; expected one of summary, maps, "),
    "an option": (["maps", "x.hlo", "--instructon", "a"], "did you mean --instruction"),
    "another option": (["maps", "x.hlo", "--zzz"], "unrecognized arguments: --zzz; see --help"),
    "a device": (["tiles", "x.hlo", "--device", "h10"], "there is no 'h10'; did you mean H100?"),
    "an order": (["tiles", "x.hlo", "--sort", "wrritten"], "did you mean written?"),
}


@pytest.mark.parametrize("name", SLIPS)
def test_slips_get_the_nearest(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments, expected = SLIPS[name]
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert expected in capsys.readouterr().err


def test_tables_are_sorted_by_any_column(capsys: pytest.CaptureFixture[str]) -> None:
    """Where a number is missing, the row comes last."""
    orders = {"utilization": "reads", "coalescing": "sectors", "tiles": "registers"}
    names = {"utilization": "operands", "coalescing": "accesses", "tiles": "tilings"}
    for command, column in orders.items():
        call = [command, "examples/transformer_block_fwd.hlo", "--sort", column, "--json"]
        assert main(call) == 0
        document = json.loads(capsys.readouterr().out)
        rows: list[dict[str, Any]] = document[names[command]]
        figures: list[Any] = [row.get(column, -1) for row in rows]
        most: list[float] = [each[1] if isinstance(each, list) else each for each in figures]
        assert most == sorted(most, reverse=True)
        assert len(set(most)) > 2


def test_one_name_for_an_index(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "module.hlo"
    file.write_text(SOFTMAX_SUM)
    call = ["reads", file, "--instruction", "wide"]
    assert text_of(capsys, *call, "--element", "1,2") == text_of(capsys, *call, "--at", "1,2")


TURNED_INSIDE = """\
HloModule small_transpose
fused {
  x = f32[65536,4] parameter(0)
  y = f32[4,65536] parameter(1)
  t = f32[4,65536] transpose(x), dimensions={1,0}, metadata={source_file="model.py" source_line=11}
  n = f32[4,65536] tanh(t), metadata={source_file="model.py" source_line=12}
  ROOT s = f32[4,65536] add(n, y), metadata={source_file="model.py" source_line=13}
}
ENTRY main {
  x = f32[65536,4] parameter(0)
  y = f32[4,65536] parameter(1)
  ROOT f = f32[4,65536] fusion(x, y), kind=kLoop, calls=fused,
    metadata={source_file="model.py" source_line=13}
}
"""


def test_why_names_the_line_that_moves(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Not only that of the root."""
    file = tmp_path / "module.hlo"
    file.write_text(TURNED_INSIDE)
    heading, _, path, moving, *others = text_of(capsys, "why", file)
    assert heading.endswith("model.py:13")
    assert "%t transpose" in path
    assert moving == "    %t transpose: model.py:11"
    assert "model.py" not in " ".join(others)
