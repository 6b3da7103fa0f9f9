"""The commands about single instructions, and about two modules: what they print."""

from __future__ import annotations

from pathlib import Path

import pytest

from ops import access_picture, hlo
from ops.cli import main
from tests.cli.small_modules import LOOKED_UP, ROW_SHARES, SOFTMAX_SUM, dumped
from tests.hlo.modules import module_text

SHARES_WITHOUT_SUM = ROW_SHARES.replace(
    "totals = f32[4,8] broadcast(total), dimensions={0}",
    "totals = f32[4,8] broadcast(zero), dimensions={}",
).replace("  total = f32[4] reduce(x, zero), dimensions={1}, to_apply=add\n", "")

PAIR = """
ENTRY e {
  line = f32[4] parameter(0)
  table = f32[4,6] parameter(1)
  ROOT both = (f32[4], f32[4,6]) tuple(line, table)
}
"""

TEXTS = {
    "why: what a fusion reads": (
        SOFTMAX_SUM,
        ["why", "--opcode", "fusion"],
        """\
%total = f32[4] fusion kLoop
  %logits f32[4,8]: (d0)[s0] -> (d0, s0)
    %logits <- %p <- %exp exponential <- %sum reduce <- %total fusion
""",
    ),
    "why: one path of two": (
        ROW_SHARES,
        ["why", "--instruction", "share", "--parameter", "x", "--element", "1,2", "--needs", "1,7"],
        """\
%share = f32[4,8] divide
  %x f32[4,8]: (d0, d1)[s0] -> (d0, s0)
    %x <- %total reduce <- %totals broadcast <- %share divide
""",
    ),
    "why: more paths than are wanted": (
        ROW_SHARES,
        ["why", "--instruction", "share", "--parameter", "x", "--needs", "1,7", "--paths", "1"],
        """\
%share = f32[4,8] divide
  %x f32[4,8]: (d0, d1) -> (d0, d1)
    %x <- %share divide
  %x f32[4,8]: (d0, d1)[s0] -> (d0, s0)
    %x <- %total reduce <- %totals broadcast <- %share divide
""",
    ),
    "why: nobody knows": (
        LOOKED_UP,
        ["why", "--unknown"],
        """\
%found = f32[16] custom-call
  %keys f32[16]: unknown (custom-call: no indexing map of lookup)
    %keys <- %found custom-call
""",
    ),
    "why: neither needs the other": (
        ROW_SHARES,
        ["why", "--instruction", "share", "--parameter", "x", "--element", "1,2", "--needs", "2,2"],
        """\
%share = f32[4,8] divide
  (1, 2) does not need (2, 2) of x
""",
    ),
    "why: nothing needs it": (
        SOFTMAX_SUM,
        ["why", "--instruction", "both", "--element", "1", "--parameter", "wide"],
        """\
%both = (f32[4,8], f32[4]) tuple
  (1,) needs nothing of wide
""",
    ),
    "reads: an element": (
        SOFTMAX_SUM,
        ["reads"],
        """\
%total = f32[4] fusion kLoop
  %logits f32[4,8]: [t0, 0:8], 8 elements
%wide = f32[4,8] broadcast
  %total f32[4]: [t0]
""",
    ),
    "reads: a tile, and its elements": (
        SOFTMAX_SUM,
        ["reads", "--tile", "2x3", "--at", "1,2"],
        """\
%wide = f32[4,8] broadcast
  %total f32[4]: [t0 * 2:t0 * 2 + 2], 2 elements
    2: (d0): d0 in [2, 3]
""",
    ),
    "reads: a runtime variable": (
        LOOKED_UP,
        ["reads", "--instruction", "part", "--at", "1"],
        """\
%part = f32[4] dynamic-slice
  %found f32[16]: [rt0 + t0]
    rt0: %start = s32[] call(%one); (d0) -> ()
    13: (d0): d0 in [1, 13]
  %start s32[]: []
    1: ()
""",
    ),
    "schedule: a fusion": (
        SOFTMAX_SUM,
        ["schedule"],
        """\
%total = f32[4] fusion kLoop
  reduction of %sum: threads 32, blocks 1
  writes %total f32[4]: (th_x) -> (th_x floordiv 8), domain: th_x in [0, 24], th_x mod 8 in [0, 0]
  reads %logits f32[4,8]: (th_x) -> (th_x floordiv 8, th_x mod 8), domain: th_x in [0, 31]
%wide = f32[4,8] broadcast
  loop: threads 32, blocks 1
  writes %wide f32[4,8]: (th_x) -> (th_x floordiv 8, th_x mod 8), domain: th_x in [0, 31]
  reads %total f32[4]: (th_x) -> (th_x floordiv 8), domain: th_x in [0, 31]
""",
    ),
}


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """The path of a module to write."""
    return tmp_path / "module.hlo"


@pytest.mark.parametrize(("module", "arguments", "expected"), TEXTS.values(), ids=TEXTS)
def test_text(
    module: str,
    arguments: list[str],
    expected: str,
    saved: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    saved.write_text(module)
    command, *options = arguments
    assert main([command, str(saved), *options]) == 0
    assert capsys.readouterr() == (expected, "")


CHANGED = """\
--- {before}: 404 bytes read, 272 written
+++ {after}: 260 bytes read, 256 written
~ %totals = f32[4,8] broadcast
    operands:
      - %total
      + %zero
    dimensions:
      - {{0}}
      + {{}}
    maps of operand 0:
      - (d0, d1) -> (d0), domain: d0 in [0, 3], d1 in [0, 7]
      + (d0, d1) -> (), domain: d0 in [0, 3], d1 in [0, 7]
    bytes read:
      - 16
      + 4
- %total = f32[4] reduce
"""


def test_what_changed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before, after = tmp_path / "before.hlo", tmp_path / "after.hlo"
    before.write_text(ROW_SHARES)
    after.write_text(SHARES_WITHOUT_SUM)
    assert main(["diff", str(before), str(after)]) == 0
    expected = CHANGED.format(before=before, after=after)
    assert capsys.readouterr() == (expected, "")
    assert main(["diff", str(before), str(before)]) == 0
    assert capsys.readouterr() == ("nothing changed\n", "")
    assert main(["diff", str(before), str(after), "--instruction", "total"]) == 0
    assert capsys.readouterr().out.splitlines()[2:] == ["- %total = f32[4] reduce"]


PASSES = """\
kernels    moved    change  came  went  changed  maps  pass
      2  32.8 kB  -32.8 kB     0     2        1     0  algsimp of simplification
      1  16.4 kB  -16.4 kB     0     1        1     0  priority-fusion of fusion
"""


def test_what_passes_changed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A row for each pass that changed something, all at once."""
    folder = dumped(tmp_path / "dump")
    assert main(["diff", str(folder)]) == 0
    assert capsys.readouterr() == (PASSES, "")
    assert main(["diff", str(folder), "--instruction", "t"]) == 0
    assert capsys.readouterr().out.split()[-3:] == ["algsimp", "of", "simplification"]
    assert main(["diff", str(folder), "--sort", "came", "--limit", "1"]) == 0
    assert capsys.readouterr().out.count("\n") == 2
    bad = folder / "module_0001.f.0009.last.after_some.before_pipeline-end.txt"
    bad.write_text("HloModule f\nENTRY e {")
    assert main(["diff", str(folder)]) == 1
    out, error = capsys.readouterr()
    assert (out, error.startswith(f"error: {bad}:2:")) == (PASSES, True)
    for each in (*folder.glob("*.0*.txt"),):
        each.unlink()
    assert main(["diff", str(folder)]) == 1
    assert "no modules between passes; expected names such as" in capsys.readouterr().err


def test_a_picture_of_what_is_read(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """That of the library."""
    saved.write_text(SOFTMAX_SUM)
    drawn = tmp_path / "reads.svg"
    call = ["reads", str(saved), "--instruction", "wide", "--tile", "2x3"]
    wide = hlo.load(saved)["wide"]
    for options, at in ((["--at", "1,2"], [range(2, 4), range(6, 8)]), ([], [])):
        assert main([*call, *options, "-o", str(drawn)]) == 0
        assert drawn.read_text() == f"{access_picture(wide, at).svg()}\n"
    capsys.readouterr()
    assert main(["reads", str(saved), "-o", str(drawn)]) == 1
    assert "a picture shows one instruction, and 2 are chosen" in capsys.readouterr().err
    assert main([*call, "-o", str(tmp_path / "reads.png")]) == 1
    assert "the picture is an SVG, not .png" in capsys.readouterr().err


def test_a_picture_of_the_result_that_has_such_tiles(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved.write_text(PAIR)
    drawn = tmp_path / "reads.svg"
    call = ["reads", str(saved), "--instruction", "both", "--tile", "2x2"]
    both = hlo.load(saved)["both"]
    for options, at in ((["--at", "1,2"], [range(2, 4), range(4, 6)]), ([], [])):
        assert main([*call, *options, "-o", str(drawn)]) == 0
        assert drawn.read_text() == f"{access_picture(both, at, output=1).svg()}\n"
    assert capsys.readouterr().err == ""


BAD = {
    "no index": (["why", "{}", "--element", "x"], "expected an index such as 3,0, not 'x'"),
    "no sizes": (["reads", "{}", "--tile", "0x3"], "expected sizes such as 8x128, not '0x3'"),
    "no paths": (["why", "{}", "--paths", "0"], "expected a positive number, not '0'"),
}


@pytest.mark.parametrize("name", BAD)
def test_arguments_that_make_no_sense(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments, message = BAD[name]
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert capsys.readouterr().err.endswith(f"{message}\n")


WRONG = {
    "no such element": (
        ["why", "{}", "--instruction", "wide", "--element", "9,9"],
        "why: the element is (9, 9); expected an index in f32[4,8]{1,0} of %wide",
    ),
    "no such element of what is read": (
        ["why", "{}", "--instruction", "wide", "--needs", "9"],
        "why: the needed element is (9,); expected an index in f32[4]{0} of %total",
    ),
    "a picture of two files": (
        ["reads", "{}", "{}", "--instruction", "wide", "-o", "wide.svg"],
        "reads: -o draws one instruction of one file; expected one file",
    ),
    "no such tile": (
        ["reads", "{}", "--instruction", "wide", "--at", "9,9"],
        "reads: there is no tile (9, 9) of f32[4,8]{1,0}; expected ids below 4, 8",
    ),
    "another rank": (
        ["reads", "{}", "--instruction", "wide", "--tile", "4"],
        "reads: the sizes are (4,); expected a positive one for each dimension of f32[4,8]{1,0}",
    ),
    "no second file": (["diff", "{}", "missing.hlo"], "missing.hlo: No such file or directory"),
    "no such name": (
        ["diff", "{}", "{}", "--instruction", "totl"],
        "no instruction is called %totl\nhint: there is %total",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_not_there(name: str, saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments, message = WRONG[name]
    saved.write_text(SOFTMAX_SUM)
    assert main([each.format(saved) for each in arguments]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err


def test_what_threads_do(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each fusion of a module for a GPU has a launch, and a line for each access, or a reason."""
    saved.write_text(module_text("gpu/softmax"))
    assert main(["schedule", str(saved), "--strict"]) == 0
    heading, launch, written, read = capsys.readouterr().out.splitlines()
    assert heading.startswith("%triton_softmax.2 = f32[8,16,128] fusion kCustom")
    assert launch == "  triton: threads 32, blocks 128"
    assert written.startswith("  writes %triton_softmax.2 f32[8,16,128]: (th_x, bl_x)[vector_id]")
    assert read.startswith("  reads %x.1 f32[8,16,128]: (th_x, bl_x)[vector_id] -> ")


EXPRESSIONS = {
    "whole": ("(d0 floordiv 8) * 8 + d0 mod 8", "d0\n"),
    "with bounds": ("d0 mod 8, domain: d0 in [0, 7]", "d0\n"),
    "as maps are printed": ("max(d0, 3),\ndomain:\nd0 in [4, 9]", "d0\n"),
    "a constraint": (
        "(a + b) floordiv 4, domain: a in [0, 3], b mod 4 in [0, 0]",
        "b floordiv 4\n",
    ),
    "a variable that cancels": ("d0 + d1 - d0", "d1\n"),
    "all variables cancel": ("(a - a) * 3 + b * 0, domain: b in [0, 9]", "0\n"),
    "numbers": ("3 + 4", "7\n"),
    "a map": ("(d0) -> (d0 mod 8), domain: d0 in [0, 7]", "(d0) -> (d0),\ndomain:\nd0 in [0, 7]\n"),
}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_expressions(name: str, saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, expected = EXPRESSIONS[name]
    assert main(["simplify", "-e", text]) == 0
    assert capsys.readouterr() == (expected, "")
    saved.write_text(f"{text}\n---\n{text}\n")
    assert main(["simplify", str(saved)]) == 0
    assert capsys.readouterr() == (f"{expected}---\n{expected}", "")


BAD_EXPRESSIONS = {
    "no value": ("d0 / 0", "1:6: division by zero"),
    "no value of a map": ("(d0) ->\n(d0 mod 0), domain: d0 in [0, 3]", "2:9: division by zero"),
    "not closed": ("d0 mod ( 3", "1:11: expected ')' for the parenthesis opened at 1:8"),
    "not closed behind": ("d0, domain: d0 in [0, 7", "1:24: expected ']', but the text ends"),
    "another variable": ("d0, domain: x in [0, 4]", "1:13: 'x' is not a declared variable"),
    "below": ("d0 mod 8,\ndomain:\nd0 in [0, 7] 3", "3:14: "),
}


@pytest.mark.parametrize("name", BAD_EXPRESSIONS)
def test_expressions_that_are_none(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    text, message = BAD_EXPRESSIONS[name]
    assert main(["simplify", "-e", text]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"error: {message}")
