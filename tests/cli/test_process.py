"""The command line as a process: pipes, interrupts, terminals."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import termios
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from ops.cli import commands
from ops.cli.usage import USAGES
from tests.cli.small_modules import SOFTMAX_SUM
from tests.extent import part
from tests.project.sources import ROOT

COMMAND = [sys.executable, "-m", "indexing"]


@pytest.fixture(autouse=True)
def hears_interrupts() -> Iterator[None]:
    """Tests started in the background ignore interrupts, and their processes would inherit it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before or signal.SIG_DFL)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A small module."""
    path = tmp_path / "module.hlo"
    path.write_text(SOFTMAX_SUM)
    return path


def test_answers_go_to_standard_output(file: Path) -> None:
    ran = subprocess.run([*COMMAND, "fusions", file], cwd=ROOT, capture_output=True, check=False)
    assert ran.returncode == 0
    assert ran.stdout.startswith(b"ENTRY %main")
    assert ran.stderr == b""


def test_the_version_is_looked_up_when_it_is_asked_for() -> None:
    ran = subprocess.run([*COMMAND, "--version"], cwd=ROOT, check=True, capture_output=True)
    assert ran.stdout.startswith(b"symbolic-indexing ")
    program = "import sys; from ops.cli import main; main(['schema']); print([*sys.modules])"
    ran = subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True, capture_output=True)
    loaded = ran.stdout.splitlines()[-1]
    assert (b"'argparse'" in loaded, b"'importlib.metadata'" in loaded) == (True, False)


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_the_version_and_the_help_wait_for_no_analysis(option: str) -> None:
    command = [sys.executable, "-X", "importtime", "-m", "indexing", option]
    ran = subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    loaded = {line.rpartition("|")[2].strip() for line in ran.stderr.decode().splitlines()}
    assert "indexing.startup" in loaded
    assert loaded.isdisjoint({"sympy", "simplifier.forms", "indexing.map", "ops.hlo", "ops.rules"})


def test_each_command_has_its_help() -> None:
    assert [*USAGES] == [*commands.COMMANDS]


HIDING = {"a package": "ops/__init__.py", "a module": "ops.py"}


@pytest.mark.parametrize("file", HIDING.values(), ids=HIDING)
def test_another_package_of_the_same_name_is_named(file: str, tmp_path: Path) -> None:
    """Where Python finds it first; but not in the folder of the user."""
    other = tmp_path / file
    other.parent.mkdir(exist_ok=True)
    other.write_text("")
    ran, shown = (
        subprocess.run(
            [*COMMAND, "example"],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))},
            check=False,
            capture_output=True,
        )
        for paths in ([tmp_path, ROOT], [ROOT])
    )
    assert (shown.returncode, shown.stderr) == (0, b"")
    expected = (
        f"error: the package ops of this library is hidden by another one: Python finds {other}"
    )
    assert (ran.returncode, ran.stdout) == (1, b"")
    assert ran.stderr.decode().splitlines()[0] == expected


@pytest.mark.parametrize("options", part([[], ["--json"]], 1), ids=str)
def test_a_closed_pipe_ends_cleanly(options: list[str], tmp_path: Path) -> None:
    maps = tmp_path / "maps.txt"
    maps.write_text("\n---\n".join(["(d0) -> (d0), domain: d0 in [0, 3]"] * 5000))
    process = subprocess.Popen(
        [*COMMAND, "simplify", maps, *options],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with process:
        assert process.stdout
        assert process.stderr
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


@pytest.mark.parametrize("options", part([[], ["--json"], ["--jobs", "2"]], 1), ids=str)
def test_a_full_disk_is_an_error(options: list[str], file: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        ran = subprocess.run(
            [*COMMAND, "maps", file, *options], cwd=ROOT, stdout=full, stderr=-1, check=False
        )
    assert ran.stderr == b"error: the answer cannot be written: No space left on device\n"
    assert ran.returncode == 1


CLOSED = [
    ("maps FILE >&-", b"", b"error: the answer cannot be written: Bad file descriptor\n", 1),
    ("maps missing.hlo 2>&-", b"", b"", 1),
    ("maps missing.hlo 2>/dev/full", b"", b"", 1),
    ("simplify <&-", b"", b"error: <stdin>: standard input is closed\n", 1),
]


@pytest.mark.parametrize(("call", "out", "err", "code"), CLOSED)
def test_streams_may_be_closed(call: str, out: bytes, err: bytes, code: int, file: Path) -> None:
    line = f"{sys.executable} -m indexing {call.replace('FILE', str(file))}"
    ran = subprocess.run(line, shell=True, cwd=ROOT, capture_output=True, check=False)  # noqa: S602
    assert (ran.stdout, ran.stderr, ran.returncode) == (out, err, code)


SLEEP_LONG = "import time\nfor _ in range(60_000): time.sleep(0.01)\n"
"""Ten minutes. A signal just before a call of sleep does not end that call, so each is short."""


def test_an_interrupt_while_loading_ends_cleanly(tmp_path: Path) -> None:
    """Something else stands in for sympy, says when it is loaded, and takes long."""
    slow = f"print('loading', flush=True)\n{SLEEP_LONG}"
    (tmp_path / "sympy.py").write_text(slow)
    check_interrupted([*COMMAND, "schema"], {"PYTHONPATH": str(tmp_path)})


def check_interrupted(command: list[str], variables: Mapping[str, str] | None = None) -> None:
    """A command that is stopped after its first line says so, and no more."""
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env={**os.environ, **(variables or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with process:
        assert process.stdout
        assert process.stderr
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.stderr.read() == b"interrupted\n"
    assert process.returncode == 130


def test_a_program_of_the_user_keeps_its_traceback() -> None:
    text = "import indexing; raise KeyboardInterrupt"
    ran = subprocess.run([sys.executable, "-c", text], cwd=ROOT, capture_output=True, check=False)
    assert b"Traceback" in ran.stderr


WAITS = """
import sys, time
from types import SimpleNamespace
from ops.cli import main

def wait():
    print("waiting", flush=True)
    for _ in range(60_000):
        time.sleep(0.01)

sys.stdin = SimpleNamespace(buffer=SimpleNamespace(read=wait))
sys.exit(main(["simplify"]))
"""
"""A command that says when it begins to read, and gets nothing to read."""


def test_an_interrupt_ends_cleanly() -> None:
    check_interrupted([sys.executable, "-c", WAITS])


def test_an_interrupt_ends_all_jobs(tmp_path: Path) -> None:
    """Two processes wait for modules that nobody writes."""
    pipes = [tmp_path / "a.hlo", tmp_path / "b.hlo"]
    for pipe in pipes:
        os.mkfifo(pipe)
    process = subprocess.Popen(
        [*COMMAND, "maps", tmp_path, "--jobs", "2"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    with process, pipes[0].open("wb"), pipes[1].open("wb"):  # there is a reader of each
        os.killpg(process.pid, signal.SIGINT)
        assert process.stderr
        assert process.stderr.read() == b"interrupted\n"
    assert process.returncode == 130


@pytest.mark.needs("tqdm")
@pytest.mark.parametrize(
    ("arguments", "unit", "expected"),
    [
        (["maps"], b"instructions", b"%total = f32[4] fusion kLoop\n"),
        (["maps", "missing.hlo"], b"modules", b"\n%total = f32[4] fusion kLoop\n"),
    ],
    ids=["one file", "several"],
)
def test_progress_is_shown_on_a_terminal(
    arguments: list[str], unit: bytes, expected: bytes, file: Path
) -> None:
    leader, follower = pty.openpty()
    termios.tcsetwinsize(follower, (24, 80))
    impatient = "from ops.cli import console, main; console.PATIENCE = 0; main()"
    with subprocess.Popen(
        [sys.executable, "-c", impatient, *arguments, file],
        cwd=ROOT,
        env={**os.environ, "NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=follower,
    ) as process:
        os.close(follower)
        assert process.stdout
        out = process.stdout.read()
    shown = os.read(leader, 10_000)
    os.close(leader)
    assert unit in shown
    assert expected in out
    assert (b"error: missing.hlo: " in shown) == ("missing.hlo" in arguments)


@pytest.mark.needs("tqdm")
@pytest.mark.parametrize("patience", [0, 600])
def test_no_bar_is_left_on_a_terminal(patience: int, file: Path) -> None:
    """What stands on the screen in the end: the answers alone."""
    leader, follower = pty.openpty()
    termios.tcsetwinsize(follower, (24, 200))
    program = f"from ops.cli import console, main; console.PATIENCE = {patience}; main()"
    with subprocess.Popen(
        [sys.executable, "-c", program, "maps", file],
        cwd=ROOT,
        env={**os.environ, "NO_COLOR": "1"},
        stdout=follower,
        stderr=follower,
    ):
        os.close(follower)
        shown = b"".join(iter(lambda: _read(leader), b""))
    os.close(leader)
    alone = subprocess.run([*COMMAND, "maps", file], cwd=ROOT, capture_output=True, check=True)
    assert on_screen(shown.decode()) == alone.stdout.decode().splitlines()
    assert ("instructions" in shown.decode()) == (patience == 0)


def _read(leader: int) -> bytes:
    try:
        return os.read(leader, 10_000)
    except OSError:  # the other end is closed
        return b""


def on_screen(written: str) -> list[str]:
    """The lines of a terminal after a text with carriage returns was written to it."""
    lines: list[str] = []
    for line in written.replace("\r\n", "\n").split("\n"):
        cells: list[str] = []
        for piece in line.split("\r"):
            cells[: len(piece)] = piece
        lines.append("".join(cells).rstrip())
    return lines[:-1] if not lines[-1] else lines


def test_what_is_written_over_is_gone() -> None:
    assert on_screen("ab 50%\r      \rcd\r\n") == ["cd"]
    assert on_screen("abcd\ref") == ["efcd"]


INTERRUPTED_WHILE_LOADING = """
import signal, sys
from indexing import IndexSet, parse_map

class Interrupts:
    seen = []
    def find_spec(self, name, *_):
        if name.startswith(LIBRARY + "."):
            self.seen.append(name)
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Interrupts())
reached = lambda: parse_map("(d0) -> (d0 mod 3), domain: d0 in [0, 8]").apply(IndexSet.box((0, 4)))
try:
    print(reached())
except KeyboardInterrupt:
    sys.meta_path.pop(0)
    print(bool(Interrupts.seen), reached().count())
"""


@pytest.mark.parametrize("library", ["islpy", "numpy"])
def test_an_interrupt_while_a_library_is_loaded_breaks_no_later_question(library: str) -> None:
    """NumPy cannot be loaded twice; what of islpy was loaded in part has no contexts."""
    text = f"LIBRARY = {library!r}\n{INTERRUPTED_WHILE_LOADING}"
    ran = subprocess.run([sys.executable, "-c", text], cwd=ROOT, capture_output=True, check=False)
    assert (ran.stdout, ran.stderr) == (b"True 3\n", b"")
