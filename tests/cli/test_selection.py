"""Which instructions a command is about: patterns of names, computations and opcodes."""

from __future__ import annotations

import pytest

from ops import hlo, input_to_output
from tests.cli.command_line import SOFTMAX, CommandLine
from tests.cli.small_modules import LOOKED_UP, SOFTMAX_SUM

ITEMS = {
    "maps": ("instructions", "instruction"),
    "fusions": ("results", "fusion"),
    "summary": ("kernels", "kernel"),
    "utilization": ("operands", "kernel"),
    "coalescing": ("accesses", "fusion"),
    "tiles": ("tilings", "kernel"),
}
"""Under which name each command lists its items, and which field of them has a name."""


def names_in(cli: CommandLine, command: str, *arguments: object) -> list[str]:
    items, key = ITEMS[command]
    return [item[key] for item in cli.document(command, *arguments)[items]]


REDUCTIONS = ["reduce_sum.0", "reduce_max.0"]
OF_KERNELS = ["broadcast_divide_fusion", "broadcast_multiply_fusion"]

CHOICES = {
    "--instruction ynn_fusion": ["ynn_fusion"],
    "--instruction %ynn_fusion": ["ynn_fusion"],
    "--instruction ynn*": ["ynn_fusion.1", "ynn_fusion"],
    "--instruction x* --instruction *divide_fusion": ["x.1", "broadcast_divide_fusion"],
    "--opcode reduce": REDUCTIONS,
    "--opcode red*": REDUCTIONS,
    "--computation main* --opcode fusion": ["ynn_fusion.1", "ynn_fusion", *OF_KERNELS],
}


@pytest.mark.parametrize(("options", "expected"), CHOICES.items())
def test_maps_of_a_choice(options: str, expected: list[str], cli: CommandLine) -> None:
    order = [each.name for each in hlo.load(SOFTMAX).instructions if each.name in expected]
    assert names_in(cli, "maps", SOFTMAX, *options.split()) == order
    assert sorted(order) == sorted(expected)


def test_commands_about_kernels_and_what_is_read_of_a_parameter(cli: CommandLine) -> None:
    """One kernel reads the program's input, and nothing else is said of that kernel."""
    for command in ("fusions", "summary", "utilization", "coalescing"):
        assert {*names_in(cli, command, SOFTMAX, "--instruction", "broadcast_*")} == {*OF_KERNELS}
    for command in ("maps", "summary", "utilization", "tiles"):
        assert names_in(cli, command, SOFTMAX, "--parameter", "x.*") == ["ynn_fusion.1"]


def test_fusions_name_what_is_read_inside_and_outside(cli: CommandLine) -> None:
    call = ("fusions", SOFTMAX, "--instruction", "ynn_fusion.1", "--parameter")
    inside, outside = (cli(*call, pattern) for pattern in ("param_0.1", "x.1"))
    assert outside == inside
    assert outside.count("%x.1 f32[8,16,128]: ") == 2


@pytest.mark.parametrize("command", ["maps", "fusions", "summary", "utilization", "tiles"])
def test_the_unknown_alone(command: str, cli: CommandLine) -> None:
    file = cli.file(LOOKED_UP)
    found = cli.document(command, file, "--unknown")[ITEMS[command][0]]
    names = [row.get(ITEMS[command][1]) or row["computation"] for row in found]
    assert names == ["main" if command == "fusions" else "found"]
    assert cli(command, file, "--unknown", "--instruction", "sum").count("\n") <= 1


@pytest.mark.parametrize("command", ["maps", "fusions", "summary", "utilization"])
def test_the_first_answers(command: str, cli: CommandLine) -> None:
    calls = (command, SOFTMAX), (command, SOFTMAX, "--limit", "2")
    everything, first = (cli.document(*call)[ITEMS[command][0]] for call in calls)
    assert first == everything[:2]


JOBS = {"1": ("maps", "fusions", "summary", "utilization", "tiles"), "2": ("maps", "tiles")}


@pytest.mark.parametrize(("jobs", "commands"), JOBS.items(), ids=JOBS)
def test_the_unknown_has_exit_code_3(
    jobs: str, commands: tuple[str, ...], cli: CommandLine
) -> None:
    """Only where it is asked for; what is wrong counts more."""
    unknown, known = cli.file(LOOKED_UP, "a.hlo"), cli.file(SOFTMAX_SUM, "b.hlo")
    for command in commands:
        cli(command, "--jobs", jobs, unknown)
        cli(command, "--jobs", jobs, known, "--strict")
        cli(command, "--jobs", jobs, unknown, "--strict", code=3)
    cli("maps", "--jobs", jobs, known, unknown, "--strict", code=3)
    cli("maps", "--jobs", jobs, cli.folder / "c.hlo", unknown, "--strict", code=1)


def test_fusions_lead_in_both_directions_and_to_memory(cli: CommandLine) -> None:
    """From the parameters of a fusion to its results: what the library says of the operand."""
    file = "examples/transformer_block_fwd.hlo"
    module = hlo.load(file)
    options = ("--opcode", "fusion", "--direction", "input-to-output")
    rows = cli.document("fusions", file, *options)["results"]
    assert len(rows) > 20
    for row in rows:
        fusion = module[str(row["fusion"])]
        for entry in row["indexing"]:
            answer = input_to_output(fusion, int(entry["parameter"])).indexing[int(row["result"])]
            expected = [str(each.map) for each in answer.simplify().indexings]
            assert [each["text"] for each in entry["maps"]] == expected
    call = ("fusions", SOFTMAX, "--instruction", "ynn_fusion", "--linear-offsets")
    (row,) = cli.document(*call)["results"]
    (way,) = row["indexing"][0]["maps"]
    assert way["results"] == ["d0 * 2048 + d1 * 128 + s0"]


NONE = f"{SOFTMAX}: no instruction is called"
MISTAKES = {
    "--instruction ynn_fusio": f"{NONE} %ynn_fusio\nhint: there is %ynn_fusion, %ynn_fusion.1",
    "--instruction zzz*": f"{NONE} %zzz*",
    "--parameter zzz*": f"{NONE} %zzz*",
    "--computation main.4": f"{SOFTMAX}: no computation is called %main.4\nhint: there is %main.3",
    "--opcode fusio": "--opcode: there is no opcode fusio; did you mean fusion?",
}


@pytest.mark.parametrize("command", ITEMS)
@pytest.mark.parametrize(("options", "message"), MISTAKES.items())
def test_mistakes(options: str, message: str, command: str, cli: CommandLine) -> None:
    assert cli.error(command, SOFTMAX, *options.split()) == f"error: {message}\n"


def test_a_place_that_no_file_has(cli: CommandLine) -> None:
    said = cli.error("summary", "examples", "--computation", "nowhere")
    assert said == "error: examples: no computation is called %nowhere\n"
    cli("summary", "examples", "--computation", "main.3", "--top", "1")
