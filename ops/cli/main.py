"""Runs a command: prints its document, turns errors into messages and exit codes."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final

from ops.cli.command_table import parse_arguments
from ops.cli.console import Console
from ops.cli.documents import ErrorLog, as_json, as_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ops.cli.command_table import Arguments

FINE: Final = 0
INPUT_ERROR: Final = 1
"""Something that was read is wrong, or is not there; a wrong use of the command exits with 2."""
INTERRUPTED: Final = 130
"""What a shell gives for a process that the user stopped."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command that the arguments name, those of the process by default; the exit code.

    Answers go to standard output, messages and the progress bar to standard error.

    Raises:
        SystemExit: with code 2 for arguments that make no sense, with code 0 after ``--help``.
    """
    try:
        code = _run(parse_arguments(argv))
        sys.stdout.flush()
    except BrokenPipeError:
        _forget_output()
        return FINE
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    return code


def _run(arguments: Arguments) -> int:
    console = Console(as_json if arguments.json else as_text)
    document = arguments.document(console)
    for piece in console.rendering(document, ErrorLog(console.report_error)):
        console.write(piece)
    return INPUT_ERROR if console.has_errors else FINE


def _forget_output() -> None:
    """Nobody reads any more: what is left to write, at exit too, goes nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
