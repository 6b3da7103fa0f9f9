"""The process of the command line, before it loads the library: how it ends, and collects garbage.

Loading takes a fifth of a second. An interrupt ends it as it does later: in one word. Whoever asks
for the version alone waits for none of it. Programs that import the library are left alone.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import Final

_DISTRIBUTION: Final = "symbolic-indexing"

INTERRUPTED: Final = 130
"""The exit code of shells for a process that the user stopped."""


def is_command_line(arguments: Sequence[str]) -> bool:
    """Whether a process with these arguments is the command line.

    >>> is_command_line(["python", "-m", "indexing", "maps"]), is_command_line(["python", "a.py"])
    (True, False)
    """
    script = Path(arguments[1]) if len(arguments) > 1 else Path()
    is_script = script.stem == "indexing" and script.suffix in {"", ".exe"}
    return is_script or ("-m", "indexing") in pairwise(arguments)


def version() -> str:
    """The name of the library and its version."""
    from importlib.metadata import PackageNotFoundError  # noqa: PLC0415 - few ask
    from importlib.metadata import version as installed  # noqa: PLC0415 - few ask

    try:
        return f"{_DISTRIBUTION} {installed(_DISTRIBUTION)}"
    except PackageNotFoundError:
        return f"{_DISTRIBUTION} (not installed)"


def collect_seldom() -> None:
    """Let this process, which answers and ends, look for cycles seldom, and not when it ends.

    Only modules are cycles, and they are large: looking after every 700 new values takes an eighth
    of the time, and taking everything apart at the end another twelfth.
    """
    gc.set_threshold(100_000, 20, 20)
    atexit.register(gc.freeze)


def _show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        print("interrupted", file=sys.stderr, flush=True)  # noqa: T201 - for the command line
        os._exit(INTERRUPTED)
    sys.__excepthook__(kind, error, trace)


if is_command_line(sys.orig_argv):
    if sys.argv[1:] == ["--version"]:
        print(version())  # noqa: T201 - for the command line
        sys.exit()
    sys.excepthook = _show
    collect_seldom()
