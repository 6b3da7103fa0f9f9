"""Which instructions a command is about: patterns of names, computations and opcodes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from ops import hlo, input_to_output
from ops.cli import main
from tests.cli.small_modules import LOOKED_UP, SOFTMAX_SUM

SOFTMAX = "examples/softmax.hlo"

CHOICES: dict[str, tuple[Sequence[str], Sequence[str]]] = {
    "an exact name": (["--instruction", "ynn_fusion"], ["ynn_fusion"]),
    "with its sign": (["--instruction", "%ynn_fusion"], ["ynn_fusion"]),
    "a pattern": (["--instruction", "ynn*"], ["ynn_fusion.1", "ynn_fusion"]),
    "two patterns": (
        ["--instruction", "x*", "--instruction", "*divide_fusion"],
        ["x.1", "broadcast_divide_fusion"],
    ),
    "a kind": (["--opcode", "reduce"], ["reduce_sum.0", "reduce_max.0"]),
    "kinds like": (["--opcode", "red*"], ["reduce_sum.0", "reduce_max.0"]),
    "a place and a kind": (
        ["--computation", "main*", "--opcode", "fusion"],
        ["ynn_fusion.1", "ynn_fusion", "broadcast_divide_fusion", "broadcast_multiply_fusion"],
    ),
}


@pytest.mark.parametrize("name", CHOICES)
def test_maps_of_a_choice(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    options, expected = CHOICES[name]
    assert main(["maps", SOFTMAX, *options, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["instructions"]
    order = [each.name for each in hlo.load(SOFTMAX).instructions if each.name in expected]
    assert [row["instruction"] for row in rows] == order
    assert sorted(order) == sorted(expected)


@pytest.mark.parametrize(
    ("command", "items", "key"),
    [
        ("fusions", "results", "fusion"),
        ("summary", "kernels", "kernel"),
        ("utilization", "operands", "kernel"),
        ("coalescing", "accesses", "fusion"),
    ],
)
def test_commands_about_kernels(
    command: str, items: str, key: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, SOFTMAX, "--instruction", "broadcast_*", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)[items]
    assert {row[key] for row in rows} == {"broadcast_divide_fusion", "broadcast_multiply_fusion"}


@pytest.mark.parametrize("name", ["maps", "summary", "utilization", "tiles"])
def test_what_is_read_of_a_parameter(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Of the program's input: one kernel reads it, and nothing else is said of that kernel."""
    items = {"maps": "instructions", "summary": "kernels", "utilization": "operands"}
    assert main([name, SOFTMAX, "--parameter", "x.*", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)[items.get(name, "tilings")]
    assert row.get("kernel", row.get("instruction")) == "ynn_fusion.1"


def test_fusions_name_what_is_read_inside_and_outside(capsys: pytest.CaptureFixture[str]) -> None:
    found: list[str] = []
    for pattern in ("x.1", "param_0.1"):
        call = ["fusions", SOFTMAX, "--parameter", pattern, "--instruction", "ynn_fusion.1"]
        assert main(call) == 0
        found.append(capsys.readouterr().out)
    assert found[0] == found[1]
    assert found[0].count("%x.1 f32[8,16,128]: ") == 2


def test_the_unknown_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved = tmp_path / "looked_up.hlo"
    saved.write_text(LOOKED_UP)
    items = {
        "maps": ("instructions", "instruction", ["found"]),
        "fusions": ("results", "computation", ["main"]),
        "summary": ("kernels", "kernel", ["found"]),
        "utilization": ("operands", "kernel", ["found"]),
        "tiles": ("tilings", "kernel", ["found"]),
    }
    for command, (name, key, expected) in items.items():
        assert main([command, str(saved), "--unknown", "--json"]) == 0
        rows = json.loads(capsys.readouterr().out)[name]
        assert (command, [row[key] for row in rows]) == (command, expected)
        assert main([command, str(saved), "--unknown", "--instruction", "sum"]) == 0
        assert capsys.readouterr().out.count("\n") <= 1


@pytest.mark.parametrize("command", ["maps", "fusions", "summary", "utilization"])
def test_the_first_answers(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    items = {"maps": "instructions", "fusions": "results", "summary": "kernels"}
    name = items.get(command, "operands")
    assert main([command, SOFTMAX, "--json"]) == 0
    everything = json.loads(capsys.readouterr().out)[name]
    assert main([command, SOFTMAX, "--json", "--limit", "2"]) == 0
    assert json.loads(capsys.readouterr().out)[name] == everything[:2]


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_what_is_unknown_has_an_exit_code(
    jobs: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only where it is asked for; what is wrong counts more."""
    unknown, known, wrong = (tmp_path / name for name in ("a.hlo", "b.hlo", "c.hlo"))
    unknown.write_text(LOOKED_UP)
    known.write_text(SOFTMAX_SUM)
    for command in ("maps", "fusions", "summary", "utilization", "tiles"):
        call = [command, "--jobs", jobs]
        assert main([*call, str(unknown)]) == 0
        assert main([*call, str(known), "--strict"]) == 0
        assert main([*call, str(unknown), "--strict"]) == 3
    assert main(["maps", "--jobs", jobs, str(known), str(unknown), "--strict"]) == 3
    assert main(["maps", "--jobs", jobs, str(wrong), str(unknown), "--strict"]) == 1
    capsys.readouterr()


def test_fusions_lead_in_both_directions(capsys: pytest.CaptureFixture[str]) -> None:
    """From the parameters of a fusion to its results: what the library says of the operand."""
    module = hlo.load("examples/transformer_block_fwd.hlo")
    call = ["fusions", "examples/transformer_block_fwd.hlo", "--opcode", "fusion", "--json"]
    assert main([*call, "--direction", "input-to-output"]) == 0
    rows = json.loads(capsys.readouterr().out)["results"]
    assert len(rows) > 20
    for row in rows:
        fusion = module[str(row["fusion"])]
        for entry in row["indexing"]:
            answer = input_to_output(fusion, int(entry["parameter"])).indexing[int(row["result"])]
            expected = [str(each.map) for each in answer.simplify().indexings]
            assert [each["text"] for each in entry["maps"]] == expected


def test_fusions_lead_to_memory(capsys: pytest.CaptureFixture[str]) -> None:
    call = ["fusions", SOFTMAX, "--instruction", "ynn_fusion", "--json", "--linear-offsets"]
    assert main(call) == 0
    (row,) = json.loads(capsys.readouterr().out)["results"]
    (way,) = row["indexing"][0]["maps"]
    assert way["results"] == ["d0 * 2048 + d1 * 128 + s0"]


MISTAKES = {
    "no such name": (
        ["--instruction", "ynn_fusio"],
        """\
error: examples/softmax.hlo: no instruction is called %ynn_fusio
hint: there is %ynn_fusion, %ynn_fusion.1
""",
    ),
    "nothing like it": (
        ["--instruction", "zzz*"],
        "error: examples/softmax.hlo: no instruction is called %zzz*\n",
    ),
    "nothing like it is read": (
        ["--parameter", "zzz*"],
        "error: examples/softmax.hlo: no instruction is called %zzz*\n",
    ),
    "no such place": (
        ["--computation", "main.4"],
        "error: examples/softmax.hlo: no computation is called %main.4\nhint: there is %main.3\n",
    ),
    "no such kind": (
        ["--opcode", "fusio"],
        "error: --opcode: there is no opcode fusio; did you mean fusion?\n",
    ),
}


@pytest.mark.parametrize(
    "command", ["maps", "fusions", "summary", "utilization", "coalescing", "tiles"]
)
@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name: str, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    options, message = MISTAKES[name]
    assert main([command, SOFTMAX, *options]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == message


def test_a_place_that_no_file_has(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["summary", "examples", "--computation", "nowhere"]) == 1
    assert capsys.readouterr().err == "error: examples: no computation is called %nowhere\n"
    assert main(["summary", "examples", "--computation", "main.3", "--top", "1"]) == 0
