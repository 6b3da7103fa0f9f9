"""What a terminal shows: lines of its width, colours where they are wanted."""

from __future__ import annotations

import os
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ops.cli.console import Look, folded
from tests.cases import for_all
from tests.cli.command_line import OF_KERNELS, CommandLine
from tests.cli.processes import COMMAND, PROGRAM, ended, on_terminal
from tests.cli.small_modules import SOFTMAX_SUM
from tests.extent import part

LINES = {
    "a map": (
        "  %x f32[8,128]: (d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 7], s0 in [0, 31]",
        60,
        ["  %x f32[8,128]: (d0, d1)[s0] -> (d0, s0),", "    domain: d0 in [0, 7], s0 in [0, 31]"],
    ),
    "a row of a table": (
        "4096  64  %f = f32[64] fusion kLoop(%x f32[64] identity, %y f32[8] broadcast)",
        50,
        ["4096  64  %f = f32[64] fusion", f"{' ' * 12}kLoop(%x f32[64] identity,",
         f"{' ' * 12}%y f32[8] broadcast)"],
    ),
    "a path": (
        "    %x <- %p <- %exp exponential <- %sum reduce <- %total fusion",
        50,
        ["    %x <- %p <- %exp exponential <- %sum reduce", "      <- %total fusion"],
    ),
    "a long word": ("%a_long_name is here", 10, ["%a_long_name", "  is here"]),
    "short": ("  %x", 60, ["  %x"]),
    "nothing": ("", 60, [""]),
}  # fmt: skip


@for_all(LINES)
def test_folded(line: str, width: int, expected: list[str]) -> None:
    assert folded(line, width) == expected


WORDS = st.lists(st.sampled_from(["%x", "(d0,", "d1)", "->", "fusion", "  ", "[0,", "7]", "a" * 9]))


@given(WORDS.map(" ".join), st.integers(20, 90))
def test_nothing_is_lost_and_all_fits(line: str, width: int) -> None:
    parts = folded(line, width)
    assert " ".join(parts).split() == line.split()
    assert all(len(part) <= width for part in parts)


@pytest.mark.parametrize("command", [*OF_KERNELS, "schedule"])
def test_answers_fit_a_terminal(command: str, cli: CommandLine) -> None:
    """And say the same, word for word; names may be longer than a narrow one."""
    text = cli(command, "examples/transformer_block_fwd.hlo")
    for width in (60, 80, 200):
        shown = Look(width).of(text)
        assert shown.split() == text.split()
        assert [line for line in shown.splitlines() if len(line) > width] == []


STYLED = {
    "a name": ("of %x.1, 3", "of \x1b[36m%x.1\x1b[0m, 3"),
    "unknown": ("%x: unknown (why)", "\x1b[36m%x\x1b[0m: \x1b[33munknown (why)\x1b[0m"),
    "a heading": (" read  written  reuse", "\x1b[1m read  written  reuse\x1b[0m"),
    "a file": ("==> a.hlo <==", "\x1b[1m==> a.hlo <==\x1b[0m"),
    "what came": ("+ %x = f32[] add", "\x1b[32m+ %x = f32[] add\x1b[0m"),
    "what went": ("      - (d0) -> (d0)", "\x1b[31m      - (d0) -> (d0)\x1b[0m"),
    "plain": ("d0 in [0, 7]", "d0 in [0, 7]"),
    "a separator": ("---", "---"),
}


@for_all(STYLED)
def test_colours(plain: str, coloured: str) -> None:
    assert Look(None, is_coloured=True).of(plain) == coloured
    assert Look().of(plain) == plain


PLAIN = "%total = f32[4] fusion kLoop\n  %logits f32[4,8]: (d0)[s0] -> (d0, s0)\n"
COLOURED = re.sub(r"%\w+", "\x1b[36m\\g<0>\x1b[0m", PLAIN)
NARROW = PLAIN.replace("-> ", "->\n    ")

TERMINALS: dict[str, tuple[int, list[str], dict[str, str], str]] = {
    "by itself": (80, [], {}, COLOURED),
    "as the user likes": (80, [], {"NO_COLOR": "1"}, PLAIN),
    "a simple one": (80, [], {"TERM": "dumb"}, PLAIN),
    "as the option says": (80, ["--color", "never"], {}, PLAIN),
    "against the variable": (80, ["--color", "always"], {"NO_COLOR": "1"}, COLOURED),
    "narrow": (36, ["--color", "never"], {}, NARROW),
}


@pytest.mark.parametrize("name", part([*TERMINALS], 3))
def test_terminals(name: str, cli: CommandLine) -> None:
    width, options, variables, expected = TERMINALS[name]
    command = [*COMMAND, "maps", cli.file(SOFTMAX_SUM), "--instruction", "total", *options]
    kept = {name: text for name, text in os.environ.items() if name not in {"COLUMNS", "NO_COLOR"}}
    variables = {**kept, "TERM": "xterm", **variables}
    assert on_terminal(command, "stdout", width=width, variables=variables)[0] == expected


def test_files_and_pipes_get_plain_lines(cli: CommandLine) -> None:
    """Of any length, and JSON stays as it is, whatever is asked for."""
    call = [*COMMAND, "maps", cli.file(SOFTMAX_SUM), "--instruction", "total"]

    def printed(*options: str) -> str:
        return ended([*call, *options], {"COLUMNS": "20"})[1].decode()

    assert printed() == PLAIN
    assert printed("--color", "always") == COLOURED
    document = printed("--color", "always", "--json")
    assert document.startswith("{")
    assert "\x1b" not in document


SLOW_PAGER = """
import sys, time; from ops.cli import console, main; console.PATIENCE = 0
shown = console.Console.write
def write(self, text):
    shown(self, text); sys.stdout.flush()
    sys.stderr.write('<here>'); sys.stderr.flush()
    time.sleep(0.2)
console.Console.write = write; main()
"""


@pytest.mark.needs("tqdm")
def test_a_pager_has_the_terminal_to_itself(cli: CommandLine) -> None:
    """The bar is gone for good once a pipe has the first answer."""
    shown, _ = on_terminal([*PROGRAM, SLOW_PAGER, "maps", cli.file(SOFTMAX_SUM)], "stderr")
    assert "instructions" not in shown.partition("<here>")[2]


COMMANDING = """HloModule m
ENTRY e { x = f32[4] parameter(0)
 ROOT y = f32[4] custom-call(x), custom_call_target="ta\x1b[31mrget\x9b\u202e",
 metadata={source_file="a\x1b]0;owned\x07\rb.py" source_line=3} }"""


def test_no_file_gives_orders_to_the_terminal_escape_in_source(cli: CommandLine) -> None:
    """Neither its name, nor a target, a source file or a line with an error."""
    file = cli.file(COMMANDING, "m\x1b[2J.hlo")
    out = cli("maps", file, "--color", "never")
    assert "custom-call, a\\x1b]0;owned\\x07\\rb.py:3" in out
    assert "no indexing map of ta\\x1b[31mrget\\x9b\\u202e)" in out
    err = cli.error("maps", file, "--instruction", "z\x1b[1m")
    assert "m\\x1b[2J.hlo: no instruction is called %z\\x1b[1m" in err
    err += cli.misuse("maps", file, "--\x1b[1m")
    assert all(sign.isprintable() or sign == "\n" for sign in out + err)
