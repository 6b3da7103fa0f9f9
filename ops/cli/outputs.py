"""Files that commands write."""

from __future__ import annotations

from pathlib import Path

from ops.hlo.errors import HloFileError


def write_text(file: str, text: str) -> None:
    """Make ``text`` the content of a file.

    Raises:
        HloFileError: the file cannot be written.
    """
    try:
        Path(file).write_text(f"{text}\n", "utf-8")
    except OSError as error:
        raise HloFileError(file, error.strerror or str(error)) from None
