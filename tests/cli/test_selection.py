"""Which instructions a command is about: patterns of names, computations and opcodes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from ops import hlo
from ops.cli import main

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    "no such place": (
        ["--computation", "main.4"],
        "error: examples/softmax.hlo: no computation is called %main.4\nhint: there is %main.3\n",
    ),
    "no such kind": (
        ["--opcode", "fusio"],
        "error: --opcode: there is no opcode fusio; did you mean fusion?\n",
    ),
}


@pytest.mark.parametrize("command", ["maps", "fusions", "summary", "utilization", "coalescing"])
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
