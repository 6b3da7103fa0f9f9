"""Settings of the whole suite: workers, the marker ``needs`` and Hypothesis' profiles."""

from __future__ import annotations

import gc
import os
import sys
from collections import Counter
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Modules and tests stay to the end: nothing of them is garbage, see `pytest_collection_finish`.
gc.disable()

# Else pytest loads a module twice whose doctests alone are named.
import_module("ops")

# No deadline: how long an example takes says nothing on a busy machine.
settings.register_profile("dev", deadline=None, max_examples=15)
settings.register_profile(
    "ci",
    deadline=None,
    max_examples=40,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("ci" if os.environ.get("CI") else "dev")


def pytest_configure(config: pytest.Config) -> None:
    """Let workers and commands share what Python compiles, also where it keeps nothing in folders.

    Otherwise each of some hundred processes compiles the library anew: 2 s instead of 0.
    """
    if sys.dont_write_bytecode and config.pluginmanager.has_plugin("cacheprovider"):
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = str(config.cache.mkdir("bytecode"))


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """No workers where single files or tests are named, or where output is to be seen at once."""
    named = [Path(argument.partition("::")[0]) for argument in config.option.file_or_dir]
    is_small = bool(named) and all(path.is_file() for path in named)
    return 0 if is_small or config.option.capture == "no" else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip each test whose ``needs`` marker names a module that is not installed."""
    for item in items:
        needed = [str(marker.args[0]) for marker in item.iter_markers("needs")]
        missing = [module for module in needed if find_spec(module) is None]
        if missing:
            reason = f"need {missing[0]} (pip install -e '.[test-all]')"
            item.add_marker(pytest.mark.skip(reason=reason))


def pytest_collection_finish() -> None:
    """Look for garbage from now on, and mostly among what a test has just made.

    What is remembered grows to a million objects, which take seconds to go through.
    """
    gc.freeze()
    gc.set_threshold(20_000, 20, 30)
    gc.enable()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say in one line what was skipped, and what it takes to run it."""
    skipped = (report.longrepr for report in terminalreporter.stats.get("skipped", ()))
    reasons = Counter(reason.removeprefix("Skipped: ") for _, _, reason in skipped)
    if reasons:
        said = (f"{count} {reason}" for reason, count in reasons.most_common())
        terminalreporter.write_line(f"skipped: {', '.join(said)}")
