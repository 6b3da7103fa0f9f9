"""What the commands say of bad input: one message with its place, exit code 1, no traceback."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from tests.cli.command_line import OF_KERNELS, OF_MODULES, CommandLine
from tests.cli.small_modules import SOFTMAX_SUM, WRONG_INSIDE

DEEP = 100_000


class Bad(NamedTuple):
    """A file, and what the message says: the place in it, then words."""

    id: str
    content: str | bytes
    place: str
    words: tuple[str, ...]

    def check(self, said: str, file: Path) -> None:
        """Raise an AssertionError unless the message about the file says this."""
        assert said.startswith(f"error: {file}{self.place}")
        assert [word for word in self.words if word not in said.splitlines()[0]] == []


def wrong(name: str, instruction: str, *words: str, line: int = 4) -> Bad:
    """A module whose fourth line is an instruction, and the words about it."""
    text = f"HloModule m\n\nENTRY %e {{\n  {instruction}\n  ROOT %r = f32[2] parameter(0) }}\n"
    return Bad(name, text, f":{line}:", ("%a", *words))


RESHAPED = "%c = f32[6] constant({1,2,3,4,5,6})\n  %a = f32[7] reshape(%c)"

BAD_MODULES = [
    Bad("empty", "", ":1:1", ("expected",)),
    Bad("binary", b"\x7fELF\x02\x01\x01\0\0\0", "", ("binary",)),
    Bad("not UTF-8", b"HloModule \xff\xfe", "", ("UTF-8",)),
    Bad("cut in the middle", SOFTMAX_SUM[:200], ":10:", ("%exp",)),
    wrong("layout of another rank", "%a = f32[2,3]{2,1,0} parameter(1)", "layout"),
    wrong("operand not defined", "%a = f32[2] negate(%ghost)", "ghost"),
    wrong("wrong operand count", "%a = f32[] add()", "2"),
    wrong("reshape to another count", RESHAPED, "6", "7", line=5),
    wrong("deep tuple shape", f"%a = {'(' * DEEP}"),
    wrong("deep braces", f"%a = f32[2] constant({'{' * DEEP}"),
    wrong("huge dimension", f"%a = f32[{10**30}] parameter(1)", "64 bits"),
]


@pytest.mark.parametrize("command", OF_KERNELS)
@pytest.mark.parametrize("bad", BAD_MODULES, ids=[bad.id for bad in BAD_MODULES])
def test_bad_module(bad: Bad, command: str, cli: CommandLine) -> None:
    file = cli.file(bad.content)
    said = cli.error(command, file)
    bad.check(said, file)
    assert said.count("error:") == 1


@pytest.mark.parametrize("command", [*OF_MODULES, "simplify"])
def test_no_file(command: str, cli: CommandLine) -> None:
    missing = cli.folder / "missing"
    assert cli.error(command, missing) == f"error: {missing}: No such file or directory\n"


def test_maps_are_not_read_from_folders(cli: CommandLine) -> None:
    assert cli.error("simplify", cli.folder) == f"error: {cli.folder}: Is a directory\n"


def test_what_is_wrong_is_unknown(cli: CommandLine) -> None:
    """The entry and the fusion itself both meet the same wrong instruction."""
    file = cli.file(WRONG_INSIDE)
    out = cli("fusions", file)
    assert out.count(f"unknown ({file}:3:3: %t: transpose: ") == len(out.splitlines()) // 2
    cli("fusions", file, "--strict", code=3)


GOOD = "(d0) -> (d0), domain: d0 in [0, 3]"
GOOD_LINES = "(d0) -> (d0),\ndomain:\nd0 in [0, 3]\n"

BAD_MAPS = [
    Bad("not declared", "(d0) -> (d7), domain: d0 in [0, 3]", ":3:10", ("'d7'",)),
    Bad("cut", "(d0) -> (d0", ":", ("expected",)),
    Bad("no map", "HloModule m", ":3:1", ("expected",)),
    Bad("declared twice", "(d0, d0) -> (d0), domain: d0 in [0, 3]", ":3:6", ("twice",)),
    Bad("deep", "(d0) -> (" + "(" * DEEP, ":", ("expected",)),
]


@pytest.mark.parametrize("bad", BAD_MAPS, ids=[bad.id for bad in BAD_MAPS])
def test_a_bad_map_leaves_the_others_alone(bad: Bad, cli: CommandLine) -> None:
    file = cli.file(f"{GOOD}\n---\n{bad.content}\n---\n{GOOD}")
    out, err = cli.streams("simplify", file, code=1)
    assert out == f"{GOOD_LINES}---\n{GOOD_LINES}"
    bad.check(err, file)


def test_a_deep_map_is_simplified(cli: CommandLine) -> None:
    file = cli.file(f"(d0) -> ({'(' * DEEP}d0{')' * DEEP}), domain: d0 in [0, 3]")
    assert cli("simplify", file) == GOOD_LINES


MISUSES = ["", "unheard-of", "maps", "maps a.hlo --direction sideways", "fusions -x"]


@pytest.mark.parametrize("call", MISUSES)
def test_wrong_use_exits_with_2(call: str, cli: CommandLine) -> None:
    assert cli.misuse(*call.split()).startswith("usage: python -m indexing")


@pytest.mark.parametrize("command", ["", *OF_MODULES, "diff", "simplify", "layout"])
def test_help_shows_examples(command: str, cli: CommandLine) -> None:
    out, err = cli.stopped(*command.split(), "--help", code=0)
    assert err == ""
    assert f"examples:\n  python -m indexing {command}" in out


NUMBER_OF_EXAMPLES = {
    **dict.fromkeys(("utilization", "tiles", "schedule", "diff", "loops"), 2),
    **dict.fromkeys(("why", "reads", "example"), 3),
    **dict.fromkeys(("fusions", "summary"), 4),
    "maps": 5,
    "schema": 1,
}


@pytest.mark.parametrize("command", NUMBER_OF_EXAMPLES)
def test_examples_of_the_help_run(command: str, cli: CommandLine) -> None:
    lines = cli.stopped(command, "--help", code=0)[0].splitlines()
    calls = [line.split()[3:] for line in lines if line.startswith("  python -m ")]
    assert len(calls) == NUMBER_OF_EXAMPLES[command]
    for arguments in calls:
        assert cli(*arguments)
