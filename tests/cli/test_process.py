"""The command line as a process: pipes, interrupts, terminals."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from ops.cli import commands
from ops.cli.usage import USAGES
from tests.cli.command_line import CommandLine
from tests.cli.processes import COMMAND, PROGRAM, Command, ended, on_terminal, started, streams_of
from tests.cli.small_modules import SOFTMAX_SUM
from tests.extent import part
from tests.project.sources import ROOT


@pytest.fixture(autouse=True)
def hears_interrupts() -> Iterator[None]:
    """Tests started in the background ignore interrupts, and their processes would inherit it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before or signal.SIG_DFL)


@pytest.fixture
def file(cli: CommandLine) -> Path:
    return cli.file(SOFTMAX_SUM)


def test_answers_go_to_standard_output(file: Path) -> None:
    code, out, err = ended([*COMMAND, "fusions", file])
    assert (code, out[:11], err) == (0, b"ENTRY %main", b"")


def test_the_version_is_looked_up_when_it_is_asked_for() -> None:
    program = "import sys; from ops.cli import main; main(['schema']); print([*sys.modules])"
    loaded = ended([*PROGRAM, program])[1].splitlines()[-1]
    assert (b"'argparse'" in loaded, b"'importlib.metadata'" in loaded) == (True, False)


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_the_version_and_the_help_wait_for_no_analysis(option: str) -> None:
    _, out, times = ended([sys.executable, "-X", "importtime", "-m", "indexing", option])
    assert out.startswith(b"symbolic-indexing " if option == "--version" else b"usage: ")
    loaded = {line.rpartition("|")[2].strip() for line in times.decode().splitlines()}
    assert "indexing.startup" in loaded
    assert [*USAGES] == [*commands.COMMANDS]
    assert loaded.isdisjoint({"sympy", "simplifier.forms", "indexing.map", "ops.hlo", "ops.rules"})


HIDDEN = [
    ("ops/__init__.py", [*COMMAND, "example"], "error: "),
    ("ops.py", [*COMMAND, "example"], "error: "),
    ("ops.py", [*PROGRAM, "import indexing; indexing.explore"], "ImportError: "),
    ("simplifier/__init__.py", [*PROGRAM, "import indexing"], "ImportError: "),
    ("simplifier.py", [*PROGRAM, "from ops import hlo"], "ImportError: "),
]


@pytest.mark.parametrize(("name", "call", "said"), part(HIDDEN, 2), ids=str)
def test_another_package_of_the_same_name_is_named(
    name: str, call: list[str], said: str, cli: CommandLine
) -> None:
    """Where Python finds it first."""
    other = cli.file("", name)
    paths = {"PYTHONPATH": f"{cli.folder}{os.pathsep}{ROOT}"}
    code, out, err = ended(call, paths, folder=cli.folder)
    package = Path(name).parts[0].removesuffix(".py")
    said += f"the package {package} of this library is hidden by another one: Python finds {other};"
    assert (code, out, err.decode().splitlines()[-1].partition(" start")[0]) == (1, b"", said)


def test_a_command_does_not_see_the_folder_of_the_user(cli: CommandLine) -> None:
    for name in ("ops/__init__.py", "simplifier.py"):
        cli.file("raise AssertionError", name)
    ran = ended([*COMMAND, "example"], {"PYTHONPATH": str(ROOT)}, folder=cli.folder)
    assert (ran[0], ran[2]) == (0, b"")


@pytest.mark.parametrize("options", part([[], ["--json"]], 1), ids=str)
def test_a_closed_pipe_ends_cleanly(options: list[str], cli: CommandLine) -> None:
    maps = cli.file("\n---\n".join(["(d0) -> (d0), domain: d0 in [0, 3]"] * 5000))
    with started([*COMMAND, "simplify", maps, *options]) as process:
        out, err = streams_of(process)
        out.readline()
        out.close()
        assert err.read() == b""
    assert process.returncode == 0


@pytest.mark.parametrize("options", part([[], ["--json"], ["--jobs", "2"]], 1), ids=str)
def test_a_full_disk_is_an_error(options: list[str], file: Path) -> None:
    call = [*COMMAND, "maps", file, *options]
    with Path("/dev/full").open("wb") as full:
        ran = subprocess.run(call, cwd=ROOT, stdout=full, stderr=-1, check=False)
    assert ran.stderr == b"error: the answer cannot be written: No space left on device\n"
    assert ran.returncode == 1


CLOSED = [
    ("maps FILE >&-", b"error: the answer cannot be written: Bad file descriptor\n"),
    ("maps missing.hlo 2>&-", b""),
    ("maps missing.hlo 2>/dev/full", b""),
    ("simplify <&-", b"error: <stdin>: standard input is closed\n"),
]


@pytest.mark.parametrize(("call", "err"), CLOSED)
def test_streams_may_be_closed(call: str, err: bytes, file: Path) -> None:
    line = f"{sys.executable} -m indexing {call.replace('FILE', str(file))}"
    assert ended(["sh", "-c", line]) == (1, b"", err)


SLEEP_LONG = "import time\nfor _ in range(60_000): time.sleep(0.01)\n"
"""Ten minutes. A signal just before a call of sleep does not end that call, so each is short."""


def check_interrupted(command: Command, variables: Mapping[str, str] | None = None) -> None:
    """A command that is stopped after its first line says so, and no more."""
    with started(command, variables) as process:
        out, err = streams_of(process)
        out.readline()
        process.send_signal(signal.SIGINT)
        assert err.read() == b"interrupted\n"
    assert process.returncode == 130


WAITS = f"""
import sys
from types import SimpleNamespace
from ops.cli import main

def wait():
    print("waiting", flush=True)
    exec({SLEEP_LONG!r})

sys.stdin = SimpleNamespace(buffer=SimpleNamespace(read=wait))
sys.exit(main(["simplify"]))
"""
"""A command that says when it begins to read, and gets nothing to read."""


def test_an_interrupt_ends_cleanly(cli: CommandLine) -> None:
    """Also while something that stands in for sympy is loaded, and takes long."""
    check_interrupted([*PROGRAM, WAITS])
    cli.file(f"print('loading', flush=True)\n{SLEEP_LONG}", "sympy.py")
    check_interrupted([*COMMAND, "schema"], {"PYTHONPATH": str(cli.folder)})
    # a program of the user keeps its traceback
    assert b"Traceback" in ended([*PROGRAM, "import indexing; raise KeyboardInterrupt"])[2]


def test_an_interrupt_ends_all_jobs(tmp_path: Path) -> None:
    """Two processes wait for modules that nobody writes."""
    pipes = [tmp_path / "a.hlo", tmp_path / "b.hlo"]
    for pipe in pipes:
        os.mkfifo(pipe)
    process = started([*COMMAND, "maps", tmp_path, "--jobs", "2"], alone=True)
    with process, pipes[0].open("wb"), pipes[1].open("wb"):  # there is a reader of each
        os.killpg(process.pid, signal.SIGINT)
        assert streams_of(process)[1].read() == b"interrupted\n"
    assert process.returncode == 130


PATIENT = "from ops.cli import console, main; console.PATIENCE = {}; main()"
"""The command line that shows its progress after so many seconds."""


@pytest.mark.needs("tqdm")
@pytest.mark.parametrize(
    ("others", "unit", "before"), [([], "instructions", b""), (["missing.hlo"], "modules", b"\n")]
)
def test_progress_on_a_terminal(others: list[str], unit: str, before: bytes, file: Path) -> None:
    variables = {**os.environ, "NO_COLOR": "1"}
    command = [*PROGRAM, PATIENT.format(0), "maps", *others, file]
    shown, out = on_terminal(command, "stderr", variables=variables)
    assert unit in shown
    assert before + b"%total = f32[4] fusion kLoop\n" in out
    assert ("error: missing.hlo: " in shown) == bool(others)


@pytest.mark.needs("tqdm")
@pytest.mark.parametrize("patience", [0, 600])
def test_no_bar_is_left_on_a_terminal(patience: int, file: Path) -> None:
    """What stands on the screen in the end: the answers alone."""
    command = [*PROGRAM, PATIENT.format(patience), "maps", file]
    variables = {**os.environ, "NO_COLOR": "1"}
    assert (on_screen("ab 50%\r      \rcd\n"), on_screen("abcd\ref")) == (["cd"], ["efcd"])
    shown, _ = on_terminal(command, "stdout", "stderr", width=200, variables=variables)
    alone = ended([*COMMAND, "maps", file])[1]
    assert on_screen(shown) == alone.decode().splitlines()
    assert ("instructions" in shown) == (patience == 0)


def on_screen(written: str) -> list[str]:
    """The lines of a terminal after a text with carriage returns was written to it."""
    lines: list[str] = []
    for line in written.split("\n"):
        cells: list[str] = []
        for piece in line.split("\r"):
            cells[: len(piece)] = piece
        lines.append("".join(cells).rstrip())
    return lines[:-1] if not lines[-1] else lines


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
    assert ended([*PROGRAM, text])[1:] == (b"True 3\n", b"")
