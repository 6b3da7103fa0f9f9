"""What the commands say of bad input: one message with its place, exit code 1, no traceback."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cases import texts
from tests.cli.command_line import OF_KERNELS, OF_MODULES, CommandLine
from tests.cli.small_modules import SOFTMAX_SUM, WRONG_INSIDE

DEEP = 100_000


def module(instruction: str) -> str:
    """A module whose fourth line is an instruction."""
    return f"HloModule m\n\nENTRY %e {{\n  {instruction}\n  ROOT %r = f32[2] parameter(0) }}\n"


BAD_MODULES: dict[str | bytes, str] = {
    # content, and what is said of the file: the place, then words
    "": ":1:1.*expected",
    b"\x7fELF\x02\x01\x01\0\0\0": ".*binary",
    b"HloModule \xff\xfe": ".*UTF-8",
    SOFTMAX_SUM[:200]: ":10:.*%exp",
    module("%a = f32[2] negate(%ghost)"): ":4:.*%a.*ghost",
    module(f"%a = {'(' * DEEP}"): ":4:.*%a",
    module(f"%a = f32[2] constant({'{' * DEEP}"): ":4:.*%a",
}


def check(said: str, file: Path, expected: str) -> None:
    """The first line of a message begins with the file, and with what is expected."""
    assert re.match(f"error: {re.escape(str(file))}{expected}", said), expected


@pytest.mark.parametrize("command", OF_KERNELS)
def test_bad_module(command: str, cli: CommandLine) -> None:
    for content, expected in BAD_MODULES.items():
        file = cli.file(content)
        said = cli.error(command, file)
        check(said, file, expected)
        assert said.count("error:") == 1


def test_no_file(cli: CommandLine) -> None:
    missing = cli.folder / "missing"
    for command in (*OF_MODULES, "simplify"):
        assert cli.error(command, missing) == f"error: {missing}: No such file or directory\n"
    assert cli.error("simplify", cli.folder) == f"error: {cli.folder}: Is a directory\n"


def test_what_is_wrong_is_unknown(cli: CommandLine) -> None:
    """The entry and the fusion itself both meet the same wrong instruction."""
    file = cli.file(WRONG_INSIDE)
    out = cli("fusions", file)
    assert out.count(f"unknown ({file}:3:3: %t: transpose: ") == len(out.splitlines()) // 2
    cli("fusions", file, "--strict", code=3)


GOOD = "(d0) -> (d0), domain: d0 in [0, 3]"
GOOD_LINES = "(d0) -> (d0),\ndomain:\nd0 in [0, 3]\n"

BAD_MAPS = {
    "(d0) -> (d7), domain: d0 in [0, 3]": ":3:10.*'d7'",
    "(d0) -> (d0": ":.*expected",
    "HloModule m": ":3:1.*expected",
    "(d0, d0) -> (d0), domain: d0 in [0, 3]": ":3:6.*twice",
    "(d0) -> (" + "(" * DEEP: ":.*expected",
}


def test_a_bad_map_leaves_the_others_alone(cli: CommandLine) -> None:
    for bad, expected in BAD_MAPS.items():
        file = cli.file(f"{GOOD}\n---\n{bad}\n---\n{GOOD}")
        out, err = cli.streams("simplify", file, code=1)
        assert out == f"{GOOD_LINES}---\n{GOOD_LINES}"
        check(err, file, expected)
    file = cli.file(f"(d0) -> ({'(' * DEEP}d0{')' * DEEP}), domain: d0 in [0, 3]")
    assert cli("simplify", file) == GOOD_LINES


REFUSED = texts("""
# why: the element is (9, 9); expected an index in f32[4,8]{1,0} of %wide
why softmax_sum.hlo --instruction wide --element 9,9
# why: the needed element is (9,); expected an index in f32[4]{0} of %total
why softmax_sum.hlo --instruction wide --needs 9
# reads: -o draws one instruction of one file; expected one file
reads softmax_sum.hlo softmax_sum.hlo --instruction wide -o wide.svg
# a picture shows one instruction, and 2 are chosen
reads softmax_sum.hlo -o wide.svg
# the picture is an SVG, not .png
reads softmax_sum.hlo --instruction wide -o wide.png
# reads: there is no tile (9, 9) of f32[4,8]{1,0}; expected ids below 4, 8
reads softmax_sum.hlo --instruction wide --at 9,9
# reads: the sizes are (4,); expected a positive one for each dimension of f32[4,8]{1,0}
reads softmax_sum.hlo --instruction wide --tile 4
# missing.hlo: No such file or directory
diff softmax_sum.hlo missing.hlo
# no instruction is called %totl hint: there is %total
diff softmax_sum.hlo softmax_sum.hlo --instruction totl
# /softmax_sum.hlo: no instruction is called %totl hint: there is %total
maps softmax_sum.hlo --instruction totl
# error: 1:6: division by zero
simplify -e "d0 / 0"
# error: 2:9: division by zero
simplify -e "(d0) ->
(d0 mod 0), domain: d0 in [0, 3]"
# error: 1:24: expected ']', but the text ends
simplify -e "d0, domain: d0 in [0, 7"
# error: 3:14: expected
simplify -e "d0 mod 8,
domain:
d0 in [0, 7] 3"
# error: missing.hlo: No such file or directory
explore missing.hlo -o FOLDER/page.html
# page.png: the page is HTML; expected a name in .html
explore examples/softmax.hlo -o FOLDER/page.png
# missing/page.html: No such file or directory
explore examples/softmax.hlo -o FOLDER/missing/page.html
# error: example: there is no example sofmax; did you mean softmax?
example sofmax
# error: example: there is no example softmax.py; did you mean softmax?
example softmax.py
# error: example: there is no example xyzzy; expected one of layernorm, mean_square,
example xyzzy
""")
"""Calls, each below what is said of it."""


@pytest.mark.parametrize(("message", "call"), REFUSED.items(), ids=REFUSED)
def test_what_makes_no_sense_is_refused(message: str, call: str, cli: CommandLine) -> None:
    assert message in cli.error(*cli.words(call)).replace("\n", " ")


NO_NUMBERS = {
    "utilization x.hlo --seconds={}": (
        "expected a number of seconds, not", ("-1", "nan", "inf", "soon", "")),
    "tiles x.hlo --limit={}": ("expected a positive number, not", ("0", "-1", "many", "")),
    "maps x.hlo --jobs={}": (
        "argument --jobs: expected a number of processes, or 0, not", ("-1", "two", "1.5", "")),
}  # fmt: skip
MISUSES = [
    *((call, "usage: python -m indexing") for call in ("", "unheard-of", "maps", "fusions -x")),
    ("maps a.hlo --direction sideways", "usage: python -m indexing"),
    ("summry x.hlo", "there is no command summry; did you mean summary?"),
    ("zzz x.hlo", "there is no command zzz; expected one of summary, maps, "),
    ("maps x.hlo --instructon a", "did you mean --instruction"),
    ("maps x.hlo --zzz", "unrecognized arguments: --zzz; see --help"),
    ("tiles x.hlo --device h10", "there is no 'h10'; did you mean H100?"),
    ("tiles x.hlo --sort wrritten", "did you mean written?"),
    ("why x.hlo --element x", "expected an index such as 3,0, not 'x'"),
    ("reads x.hlo --tile 0x3", "expected sizes such as 8x128, not '0x3'"),
    ("why x.hlo --paths 0", "expected a positive number, not '0'"),
    ("explore x.hlo", "-o"),
    *((call.format(text), f"{said} {text!r}\n") for call, (said, given) in NO_NUMBERS.items()
      for text in given),
]  # fmt: skip


@pytest.mark.parametrize(("call", "message"), MISUSES, ids=[call for call, _ in MISUSES])
def test_wrong_use_exits_with_2(call: str, message: str, cli: CommandLine) -> None:
    said = cli.misuse(*call.split())
    assert said.startswith("usage: python -m indexing")
    assert message in said


@pytest.mark.parametrize("command", ["", *OF_MODULES, "diff", "simplify", "layout"])
def test_help_shows_examples(command: str, cli: CommandLine) -> None:
    out, err = cli.stopped(*command.split(), "--help", code=0)
    assert err == ""
    assert f"examples:\n  python -m indexing {command}" in out


OF_SO_MANY_EXAMPLES = {
    1: "schema", 2: "utilization tiles schedule diff loops", 3: "why reads example",
    4: "fusions summary", 5: "maps",
}  # fmt: skip
NUMBERS = [(name, count) for count, names in OF_SO_MANY_EXAMPLES.items() for name in names.split()]


@pytest.mark.parametrize(("command", "count"), NUMBERS)
def test_examples_of_the_help_run(command: str, count: int, cli: CommandLine) -> None:
    lines = cli.stopped(command, "--help", code=0)[0].splitlines()
    calls = [line.split()[3:] for line in lines if line.startswith("  python -m ")]
    assert len(calls) == count
    assert all(cli(*arguments) for arguments in calls)
