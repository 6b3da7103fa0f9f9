"""What the commands say of bad input: one message with its place, exit code 1, no traceback."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from ops.cli import main
from tests.cli.small_modules import SOFTMAX_SUM

DEEP = 100_000


class Bad(NamedTuple):
    """A file, and what the message says: the place in it, then words."""

    id: str
    content: bytes
    place: str
    words: tuple[str, ...]


def in_entry(instruction: str) -> bytes:
    """A module whose fourth line is an instruction."""
    text = f"HloModule m\n\nENTRY %e {{\n  {instruction}\n  ROOT %r = f32[2] parameter(0) }}\n"
    return text.encode()


BAD_MODULES = [
    Bad("empty", b"", ":1:1", ("expected",)),
    Bad("binary", b"\x7fELF\x02\x01\x01\0\0\0", "", ("binary",)),
    Bad("not UTF-8", b"HloModule \xff\xfe", "", ("UTF-8",)),
    Bad("cut in the middle", SOFTMAX_SUM[:200].encode(), ":10:", ("%exp",)),
    Bad(
        "layout of another rank",
        in_entry("%a = f32[2,3]{2,1,0} parameter(1)"),
        ":4:",
        ("%a", "layout"),
    ),
    Bad("operand not defined", in_entry("%a = f32[2] negate(%ghost)"), ":4:", ("%a", "ghost")),
    Bad("wrong operand count", in_entry("%a = f32[] add()"), ":4:", ("%a", "2")),
    Bad(
        "reshape to another count",
        in_entry("%c = f32[6] constant({1,2,3,4,5,6})\n  %a = f32[7] reshape(%c)"),
        ":5:",
        ("%a", "6", "7"),
    ),
    Bad("deep tuple shape", in_entry(f"%a = {'(' * DEEP}"), ":4:", ("%a",)),
    Bad("deep braces", in_entry(f"%a = f32[2] constant({'{' * DEEP}"), ":4:", ("%a",)),
    Bad("huge dimension", in_entry(f"%a = f32[{10**30}] parameter(1)"), ":4:", ("%a", "64 bits")),
]


@pytest.mark.parametrize(
    "command", ["maps", "fusions", "why", "reads", "summary", "utilization", "tiles"]
)
@pytest.mark.parametrize("bad", BAD_MODULES, ids=[bad.id for bad in BAD_MODULES])
def test_bad_module(
    bad: Bad, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "bad.hlo"
    file.write_bytes(bad.content)
    assert main([command, str(file)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"error: {file}{bad.place}")
    assert [word for word in bad.words if word not in err.splitlines()[0]] == []
    assert err.count("error:") == 1


@pytest.mark.parametrize(
    "command",
    [
        *("maps", "fusions", "why", "reads", "schedule", "summary", "coalescing", "utilization"),
        *("tiles", "loops", "simplify"),
    ],
)
def test_no_file(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    missing = tmp_path / "missing"
    assert main([command, str(missing)]) == 1
    assert capsys.readouterr() == ("", f"error: {missing}: No such file or directory\n")


def test_maps_are_not_read_from_folders(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simplify", str(tmp_path)]) == 1
    assert capsys.readouterr() == ("", f"error: {tmp_path}: Is a directory\n")


def test_what_is_wrong_is_unknown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The entry and the fusion itself both meet the same wrong instruction."""
    file = tmp_path / "module.hlo"
    file.write_text(
        "HloModule m\n"
        "f { a = f32[2,3] parameter(0)\n"
        "  ROOT t = f32[3,4] transpose(a), dimensions={1,0} }\n"
        "ENTRY e { p = f32[2,3] parameter(0)\n"
        "  ROOT r = f32[3,4] fusion(p), kind=kLoop, calls=f }\n"
    )
    assert main(["fusions", str(file)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.count(f"unknown ({file}:3:3: %t: transpose: ") == len(out.splitlines()) // 2
    assert main(["fusions", str(file), "--strict"]) == 3


def test_no_such_instruction(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "module.hlo"
    file.write_text(SOFTMAX_SUM)
    assert main(["maps", str(file), "--instruction", "totl"]) == 1
    expected = f"error: {file}: no instruction is called %totl\nhint: there is %total\n"
    assert capsys.readouterr() == ("", expected)


GOOD = "(d0) -> (d0), domain: d0 in [0, 3]"
GOOD_LINES = "(d0) -> (d0),\ndomain:\nd0 in [0, 3]\n"

BAD_MAPS = [
    Bad("not declared", b"(d0) -> (d7), domain: d0 in [0, 3]", ":3:10", ("'d7'",)),
    Bad("cut", b"(d0) -> (d0", ":", ("expected",)),
    Bad("no map", b"HloModule m", ":3:1", ("expected",)),
    Bad("declared twice", b"(d0, d0) -> (d0), domain: d0 in [0, 3]", ":3:6", ("twice",)),
    Bad("deep", b"(d0) -> (" + b"(" * DEEP, ":", ("expected",)),
]


@pytest.mark.parametrize("bad", BAD_MAPS, ids=[bad.id for bad in BAD_MAPS])
def test_a_bad_map_leaves_the_others_alone(
    bad: Bad, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "maps.txt"
    file.write_bytes(b"\n---\n".join([GOOD.encode(), bad.content, GOOD.encode()]))
    assert main(["simplify", str(file)]) == 1
    out, err = capsys.readouterr()
    assert out == f"{GOOD_LINES}---\n{GOOD_LINES}"
    assert err.startswith(f"error: {file}{bad.place}")
    assert [word for word in bad.words if word not in err.splitlines()[0]] == []


def test_a_deep_map_is_simplified(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "maps.txt"
    file.write_text(f"(d0) -> ({'(' * DEEP}d0{')' * DEEP}), domain: d0 in [0, 3]")
    assert main(["simplify", str(file)]) == 0
    assert capsys.readouterr() == (GOOD_LINES, "")


@pytest.mark.parametrize(
    "arguments",
    [[], ["unheard-of"], ["maps"], ["maps", "a.hlo", "--direction", "sideways"], ["fusions", "-x"]],
    ids=" ".join,
)
def test_wrong_use_exits_with_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    out, err = capsys.readouterr()
    assert (stopped.value.code, out) == (2, "")
    assert err.startswith("usage: python -m indexing")


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["maps"],
        ["fusions"],
        ["why"],
        ["reads"],
        ["schedule"],
        ["loops"],
        ["diff"],
        ["coalescing"],
        ["utilization"],
        ["tiles"],
        ["simplify"],
        ["layout"],
    ],
    ids=" ".join,
)
def test_help_shows_examples(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main([*arguments, "--help"])
    out, err = capsys.readouterr()
    assert (stopped.value.code, err) == (0, "")
    assert f"examples:\n  python -m indexing {' '.join(arguments)}" in out


NUMBER_OF_EXAMPLES = {
    "maps": 5,
    "fusions": 4,
    "summary": 4,
    "utilization": 2,
    "tiles": 2,
    "why": 3,
    "reads": 3,
    "schedule": 2,
    "diff": 2,
    "example": 3,
    "schema": 1,
    "loops": 2,
}


@pytest.mark.parametrize("command", NUMBER_OF_EXAMPLES)
def test_examples_of_the_help_run(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([command, "--help"])
    lines = capsys.readouterr().out.splitlines()
    calls = [line.split()[3:] for line in lines if line.startswith("  python -m ")]
    assert len(calls) == NUMBER_OF_EXAMPLES[command]
    for arguments in calls:
        assert main(arguments) == 0
        assert capsys.readouterr().out
