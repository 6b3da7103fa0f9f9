"""The commands about single instructions, and about two modules: what they print."""

from __future__ import annotations

import pytest

from ops import access_picture, hlo
from tests.cli.command_line import CommandLine, sessions
from tests.cli.small_modules import ROW_SHARES, SOFTMAX_SUM, dumped
from tests.hlo.modules import module_text

SHARES_WITHOUT_SUM = ROW_SHARES.replace(
    "totals = f32[4,8] broadcast(total), dimensions={0}",
    "totals = f32[4,8] broadcast(zero), dimensions={}",
).replace("  total = f32[4] reduce(x, zero), dimensions={1}, to_apply=add\n", "")

PAIR = """ENTRY e { line = f32[4] parameter(0) table = f32[4,6] parameter(1)
  ROOT both = (f32[4], f32[4,6]) tuple(line, table) }"""

SESSIONS = """
# why: what a fusion reads
$ why softmax_sum.hlo --opcode fusion
%total = f32[4] fusion kLoop
  %logits f32[4,8]: (d0)[s0] -> (d0, s0)
    %logits <- %p <- %exp exponential <- %sum reduce <- %total fusion

# why: one path of two
$ why row_shares.hlo --instruction share --parameter x --element 1,2 --needs 1,7
%share = f32[4,8] divide
  %x f32[4,8]: (d0, d1)[s0] -> (d0, s0)
    %x <- %total reduce <- %totals broadcast <- %share divide

# why: more paths than are wanted
$ why row_shares.hlo --instruction share --parameter x --needs 1,7 --paths 1
%share = f32[4,8] divide
  %x f32[4,8]: (d0, d1) -> (d0, d1)
    %x <- %share divide
  %x f32[4,8]: (d0, d1)[s0] -> (d0, s0)
    %x <- %total reduce <- %totals broadcast <- %share divide

# why: nobody knows
$ why looked_up.hlo --unknown
%found = f32[16] custom-call
  %keys f32[16]: unknown (custom-call: no indexing map of lookup)
    %keys <- %found custom-call

# why: neither needs the other
$ why row_shares.hlo --instruction share --parameter x --element 1,2 --needs 2,2
%share = f32[4,8] divide
  (1, 2) does not need (2, 2) of x

# why: nothing needs it
$ why softmax_sum.hlo --instruction both --element 1 --parameter wide
%both = (f32[4,8], f32[4]) tuple
  (1,) needs nothing of wide

# reads: an element
$ reads softmax_sum.hlo
%total = f32[4] fusion kLoop
  %logits f32[4,8]: [t0, 0:8], 8 elements
%wide = f32[4,8] broadcast
  %total f32[4]: [t0]

# reads: a tile, and its elements
$ reads softmax_sum.hlo --tile 2x3 --at 1,2
%wide = f32[4,8] broadcast
  %total f32[4]: [t0 * 2:t0 * 2 + 2], 2 elements
    2: (d0): d0 in [2, 3]

# reads: a runtime variable
$ reads looked_up.hlo --instruction part --at 1
%part = f32[4] dynamic-slice
  %found f32[16]: [rt0 + t0]
    rt0: %start = s32[] call(%one); (d0) -> ()
    13: (d0): d0 in [1, 13]
  %start s32[]: []
    1: ()

# schedule: a fusion
$ schedule softmax_sum.hlo
%total = f32[4] fusion kLoop
  reduction of %sum: threads 32, blocks 1
  writes %total f32[4]: (th_x) -> (th_x floordiv 8), domain: th_x in [0, 24], th_x mod 8 in [0, 0]
  reads %logits f32[4,8]: (th_x) -> (th_x floordiv 8, th_x mod 8), domain: th_x in [0, 31]
%wide = f32[4,8] broadcast
  loop: threads 32, blocks 1
  writes %wide f32[4,8]: (th_x) -> (th_x floordiv 8, th_x mod 8), domain: th_x in [0, 31]
  reads %total f32[4]: (th_x) -> (th_x floordiv 8), domain: th_x in [0, 31]
"""


@pytest.mark.parametrize(("call", "answer"), sessions(SESSIONS))
def test_answers(call: str, answer: str, cli: CommandLine) -> None:
    assert cli(*cli.words(call)) == answer


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


def test_what_changed(cli: CommandLine) -> None:
    before = cli.file(ROW_SHARES, "before.hlo")
    after = cli.file(SHARES_WITHOUT_SUM, "after.hlo")
    assert cli("diff", before, after) == CHANGED.format(before=before, after=after)
    assert cli("diff", before, before) == "nothing changed\n"
    chosen = cli("diff", before, after, "--instruction", "total")
    assert chosen.splitlines()[2:] == ["- %total = f32[4] reduce"]


PASSES = """\
kernels    moved    change  came  went  changed  maps  pass
      2  32.8 kB  -32.8 kB     0     2        1     0  algsimp of simplification, f
      1  16.4 kB  -16.4 kB     0     1        1     0  priority-fusion of fusion, f
"""


def test_what_passes_changed(cli: CommandLine) -> None:
    """A row for each pass that changed something, all at once."""
    folder = dumped(cli.folder / "dump")
    assert cli("diff", folder) == PASSES
    assert cli("diff", folder, "--instruction", "t").endswith("  algsimp of simplification, f\n")
    assert cli("diff", folder, "--sort", "came", "--limit", "1").count("\n") == 2
    bad = folder / "module_0001.f.0009.last.after_some.before_pipeline-end.txt"
    bad.write_text("HloModule f\nENTRY e {")
    out, error = cli.streams("diff", folder, code=1)
    assert (out, error.startswith(f"error: {bad}:2:")) == (PASSES, True)
    for each in folder.glob("*.0*.txt"):
        each.unlink()
    assert "no modules between passes; expected names such as" in cli.error("diff", folder)


PICTURES = {
    "the only result": (SOFTMAX_SUM, "wide", "2x3", range(6, 8), 0),
    "the result that has such tiles": (PAIR, "both", "2x2", range(4, 6), 1),
}


@pytest.mark.parametrize("row", PICTURES.values(), ids=PICTURES)
def test_a_picture_of_what_is_read(row: tuple[str, str, str, range, int], cli: CommandLine) -> None:
    module, name, tile, columns, output = row
    saved, drawn = cli.file(module), cli.folder / "reads.svg"
    instruction = hlo.load(saved)[name]
    for options, at in ((["--at", "1,2"], [range(2, 4), columns]), ([], [])):
        cli("reads", saved, "--instruction", name, "--tile", tile, *options, "-o", drawn)
        assert drawn.read_text() == f"{access_picture(instruction, at, output=output).svg()}\n"


def test_what_threads_do(cli: CommandLine) -> None:
    """Each fusion of a module for a GPU has a launch, and a line for each access, or a reason."""
    answer = cli("schedule", cli.file(module_text("gpu/softmax")), "--strict")
    heading, launch, written, read = answer.splitlines()
    assert heading.startswith("%triton_softmax.2 = f32[8,16,128] fusion kCustom")
    assert launch == "  triton: threads 32, blocks 128"
    assert written.startswith("  writes %triton_softmax.2 f32[8,16,128]: (th_x, bl_x)[vector_id]")
    assert read.startswith("  reads %x.1 f32[8,16,128]: (th_x, bl_x)[vector_id] -> ")


EXPRESSIONS = {
    "(d0 floordiv 8) * 8 + d0 mod 8": "d0\n",
    "d0 mod 8, domain: d0 in [0, 7]": "d0\n",
    "max(d0, 3),\ndomain:\nd0 in [4, 9]": "d0\n",
    "(a + b) floordiv 4, domain: a in [0, 3], b mod 4 in [0, 0]": "b floordiv 4\n",
    "d0 + d1 - d0": "d1\n",
    "(a - a) * 3 + b * 0, domain: b in [0, 9]": "0\n",
    "3 + 4": "7\n",
    "(d0) -> (d0 mod 8), domain: d0 in [0, 7]": "(d0) -> (d0),\ndomain:\nd0 in [0, 7]\n",
}


@pytest.mark.parametrize(("text", "expected"), EXPRESSIONS.items())
def test_expressions(text: str, expected: str, cli: CommandLine) -> None:
    assert cli("simplify", "-e", text) == expected
    saved = cli.file(f"{text}\n---\n{text}\n")
    assert cli("simplify", saved) == f"{expected}---\n{expected}"
