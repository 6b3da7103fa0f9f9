"""What a terminal shows: lines of its width, colours where they are wanted."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import termios
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ops.cli import main
from ops.cli.console import Look, folded
from tests.cli.small_modules import SOFTMAX_SUM
from tests.cli.test_process import COMMAND
from tests.extent import part
from tests.project.sources import ROOT

LINES = {
    "a map": (
        "  %x f32[8,128]: (d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 7], s0 in [0, 31]",
        60,
        ["  %x f32[8,128]: (d0, d1)[s0] -> (d0, s0),", "    domain: d0 in [0, 7], s0 in [0, 31]"],
    ),
    "a row of a table": (
        "4096  64  %f = f32[64] fusion kLoop(%x f32[64] identity, %y f32[8] broadcast)",
        50,
        [
            "4096  64  %f = f32[64] fusion",
            "            kLoop(%x f32[64] identity,",
            "            %y f32[8] broadcast)",
        ],
    ),
    "a path": (
        "    %x <- %p <- %exp exponential <- %sum reduce <- %total fusion",
        50,
        ["    %x <- %p <- %exp exponential <- %sum reduce", "      <- %total fusion"],
    ),
    "a long word": (
        "%a_name_without_any_end is here",
        10,
        ["%a_name_without_any_end", "  is here"],
    ),
    "short": ("  %x", 60, ["  %x"]),
    "nothing": ("", 60, [""]),
}


@pytest.mark.parametrize("name", LINES)
def test_folded(name: str) -> None:
    line, width, expected = LINES[name]
    assert folded(line, width) == expected


WORDS = st.lists(st.sampled_from(["%x", "(d0,", "d1)", "->", "fusion", "  ", "[0,", "7]", "a" * 9]))


@given(WORDS.map(" ".join), st.integers(20, 90))
def test_nothing_is_lost_and_all_fits(line: str, width: int) -> None:
    parts = folded(line, width)
    assert " ".join(parts).split() == line.split()
    assert all(len(part) <= width for part in parts)


@pytest.mark.parametrize("width", [60, 80, 200])
@pytest.mark.parametrize(
    "command", ["summary", "maps", "fusions", "why", "reads", "schedule", "utilization", "tiles"]
)
def test_answers_fit_a_terminal(
    command: str, width: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """And say the same, word for word; names may be longer than a narrow one."""
    main([command, "examples/transformer_block_fwd.hlo"])
    text = capsys.readouterr().out
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


@pytest.mark.parametrize("name", STYLED)
def test_colours(name: str) -> None:
    plain, coloured = STYLED[name]
    assert Look(None, is_coloured=True).of(plain) == coloured
    assert Look().of(plain) == plain


def shown_on_a_terminal(
    file: Path, width: int, options: list[str], variables: Mapping[str, str]
) -> str:
    """What a terminal of a width gets."""
    leader, follower = pty.openpty()
    termios.tcsetwinsize(follower, (24, width))
    kept = {name: text for name, text in os.environ.items() if name not in {"COLUMNS", "NO_COLOR"}}
    with subprocess.Popen(
        [*COMMAND, "maps", file, "--instruction", "total", *options],
        cwd=ROOT,
        env={**kept, "TERM": "xterm", **variables},
        stdout=follower,
    ):
        os.close(follower)
        pieces: list[bytes] = []
        while True:
            try:
                piece = os.read(leader, 10_000)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            pieces.append(piece)
    os.close(leader)
    return b"".join(pieces).decode().replace("\r\n", "\n")


PLAIN = "%total = f32[4] fusion kLoop\n  %logits f32[4,8]: (d0)[s0] -> (d0, s0)\n"
COLOURED = PLAIN.replace("%total", "\x1b[36m%total\x1b[0m").replace(
    "%logits", "\x1b[36m%logits\x1b[0m"
)
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
def test_terminals(name: str, tmp_path: Path) -> None:
    width, options, variables, expected = TERMINALS[name]
    file = tmp_path / "module.hlo"
    file.write_text(SOFTMAX_SUM)
    assert shown_on_a_terminal(file, width, options, variables) == expected


def test_files_and_pipes_get_plain_lines(tmp_path: Path) -> None:
    """Of any length, and JSON stays as it is, whatever is asked for."""
    file = tmp_path / "module.hlo"
    file.write_text(SOFTMAX_SUM)
    call = [*COMMAND, "maps", file, "--instruction", "total"]
    variables = {**os.environ, "COLUMNS": "20"}

    def printed(*options: str) -> str:
        ran = subprocess.run(
            [*call, *options], cwd=ROOT, env=variables, check=True, capture_output=True
        )
        return ran.stdout.decode()

    assert printed() == PLAIN
    assert printed("--color", "always") == COLOURED
    assert "\x1b" not in printed("--color", "always", "--json")


@pytest.mark.needs("tqdm")
def test_a_pager_has_the_terminal_to_itself(tmp_path: Path) -> None:
    """The bar is gone for good once a pipe has the first answer."""
    leader, follower = pty.openpty()
    termios.tcsetwinsize(follower, (24, 80))
    file = tmp_path / "module.hlo"
    file.write_text(SOFTMAX_SUM)
    program = (
        "import sys, time; from ops.cli import console, main; console.PATIENCE = 0\n"
        "shown = console.Console.write\n"
        "def write(self, text):\n"
        "    shown(self, text); sys.stdout.flush()\n"
        "    sys.stderr.write('<here>'); sys.stderr.flush()\n"
        "    time.sleep(0.2)\n"
        "console.Console.write = write; main()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, "maps", file],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=follower,
    ) as process:
        os.close(follower)
        assert process.stdout
        process.stdout.read()
    after = os.read(leader, 10_000).decode().partition("<here>")[2]
    os.close(leader)
    assert "instructions" not in after


def test_no_file_gives_orders_to_the_terminal_escape_in_source(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither its name, nor a target, a source file or a line with an error."""
    file = tmp_path / "m\x1b[2J.hlo"
    file.write_text(
        "HloModule m\nENTRY e { x = f32[4] parameter(0)\n"
        ' ROOT y = f32[4] custom-call(x), custom_call_target="ta\x1b[31mrget\x9b\u202e",'
        ' metadata={source_file="a\x1b]0;owned\x07\rb.py" source_line=3} }'
    )
    assert main(["maps", str(file), "--color", "never"]) == 0
    assert main(["maps", str(file), "--instruction", "z\x1b[1m"]) == 1
    with pytest.raises(SystemExit):
        main(["maps", str(file), "--\x1b[1m"])
    out, err = capsys.readouterr()
    assert "custom-call, a\\x1b]0;owned\\x07\\rb.py:3" in out
    assert "no indexing map of ta\\x1b[31mrget\\x9b\\u202e)" in out
    assert "m\\x1b[2J.hlo: no instruction is called %z\\x1b[1m" in err
    assert all(sign.isprintable() or sign == "\n" for sign in out + err)
