"""The command line: commands that call the library, and print text or JSON."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ops.cli.usage import parsers
from simplifier.tools.late import Late

if TYPE_CHECKING:
    from ops.cli import commands
else:  # they need the analyses, which the help does without
    commands = Late("ops.cli.commands")

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command that the arguments name, those of the process by default; the exit code.

    Answers go to standard output, messages and the progress bar to standard error.

    Raises:
        SystemExit: with code 2 for arguments that make no sense, with code 0 after ``--help``.
    """
    arguments = sys.argv[1:] if argv is None else argv
    if len(arguments) == 1 and arguments[0] in {"-h", "--help"}:
        parsers(ArgumentParser)[0].parse_args(arguments)
    return commands.main(arguments)
