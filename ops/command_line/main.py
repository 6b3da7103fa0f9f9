"""Runs a command: prints its document, turns errors into messages and exit codes."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final

from ops.command_line.arguments import parse_arguments
from ops.command_line.progress import Progress
from ops.command_line.renderings import as_json, as_text
from simplifier.errors import IndexingError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ops.command_line.arguments import Arguments
    from ops.command_line.documents import Item

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
    except IndexingError as error:
        _complain(error)
        return INPUT_ERROR
    except BrokenPipeError:
        _forget_output()
        return FINE
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    return code


def _run(arguments: Arguments) -> int:
    progress = Progress(sys.stderr)
    document = arguments.document(progress)
    errors: dict[str, IndexingError] = {}
    items = _complaining(document.items, errors)
    render = as_json if arguments.json else as_text
    for piece in render(document, items, errors.values()):
        progress.write(piece)
    return INPUT_ERROR if errors else FINE


def _complaining(
    items: Iterable[Item | IndexingError], errors: dict[str, IndexingError]
) -> Iterator[Item]:
    """The items that are not errors; an error is said at once, but only once, and kept."""
    for item in items:
        if isinstance(item, IndexingError):
            if str(item) not in errors:
                _complain(item)
            errors[str(item)] = item
        else:
            yield item


def _complain(error: IndexingError) -> None:
    print(f"error: {error}", file=sys.stderr)


def _forget_output() -> None:
    """Nobody reads any more: what is left to write, at exit too, goes nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
