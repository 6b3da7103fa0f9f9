"""What tests of several folders start from."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command_line import CommandLine


@pytest.fixture
def cli(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    """The command line, and an empty folder."""
    return CommandLine(tmp_path, capsys)
