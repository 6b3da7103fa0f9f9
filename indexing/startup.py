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
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import Final

_DISTRIBUTION: Final = "symbolic-indexing"

_PACKAGES: Final = ("simplifier", "indexing", "ops")
_ROOT: Final = Path(__file__).parents[1]

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


def explained(error: ModuleNotFoundError) -> ImportError:
    """The error, or where the module is one of this library, what hides it and what to do.

    >>> print(explained(ModuleNotFoundError("No module named 'jax'", name="jax")))
    No module named 'jax'
    """
    package = (error.name or "").partition(".")[0]
    if package not in _PACKAGES:
        return error
    found = find_spec(package)
    place = found.origin or found.submodule_search_locations if found else "nowhere"
    return ImportError(
        f"the package {package} of this library is hidden by another one: Python finds {place};"
        " start Python in another folder, or install the library in an environment of its own"
    )


def _leave_folder() -> None:
    """Have Python find no packages where the user stands, unless that is where the library lies."""
    if Path(sys.path[0]).absolute() == Path.cwd() != _ROOT:
        del sys.path[0]


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
    if sys.argv[0] == "-m":  # which it is until the module is found
        _leave_folder()
    sys.excepthook = _show
    collect_seldom()
