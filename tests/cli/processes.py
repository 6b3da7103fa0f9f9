"""The command line as a process of its own, and terminals that it writes to."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import termios
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Final, TypeAlias

from tests.project.sources import ROOT

Command: TypeAlias = "Sequence[str | Path]"

COMMAND: Final = (sys.executable, "-m", "indexing")
PROGRAM: Final = (sys.executable, "-c")


def started(
    command: Command,
    variables: Mapping[str, str] | None = None,
    *,
    folder: Path = ROOT,
    alone: bool = False,
) -> subprocess.Popen[bytes]:
    """A process whose two streams are pipes, with some variables of its own."""
    known, pipe = {**os.environ, **(variables or {})}, subprocess.PIPE
    return subprocess.Popen(
        command, cwd=folder, env=known, stdout=pipe, stderr=pipe, start_new_session=alone
    )


def ended(
    command: Command, variables: Mapping[str, str] | None = None, *, folder: Path = ROOT
) -> tuple[int, bytes, bytes]:
    """The exit code of a process, and what went to its two streams."""
    with started(command, variables, folder=folder) as process:
        out, err = process.communicate()
    return process.returncode, out, err


def streams_of(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    assert process.stdout
    assert process.stderr
    return process.stdout, process.stderr


def on_terminal(
    command: Command, *streams: str, width: int = 80, variables: Mapping[str, str] = os.environ
) -> tuple[str, bytes]:
    """What a terminal shows that is some streams of a process, and the answer if in a pipe."""
    leader, follower = pty.openpty()
    termios.tcsetwinsize(follower, (24, width))
    out = follower if "stdout" in streams else subprocess.PIPE
    err = follower if "stderr" in streams else None
    with subprocess.Popen(command, cwd=ROOT, env=variables, stdout=out, stderr=err) as process:
        os.close(follower)
        answer = process.stdout.read() if process.stdout else b""
        shown = b"".join(iter(lambda: _read(leader), b""))
    os.close(leader)
    return shown.decode().replace("\r\n", "\n"), answer


def _read(leader: int) -> bytes:
    try:
        return os.read(leader, 10_000)
    except OSError:  # the other end is closed
        return b""
