"""Files as text, or what is wrong with them."""

from __future__ import annotations

import os
from pathlib import Path

from ops.hlo.errors import HloFileError


def read_text(path: str | os.PathLike[str]) -> str:
    """What a file says.

    Raises:
        HloFileError: there is no such file, or it holds no text.
    """
    name = os.fspath(path)
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise HloFileError(name, error.strerror or str(error)) from None
    return decoded(content, name)


def decoded(content: bytes, name: str) -> str:
    """The text that bytes hold in UTF-8, with or without a byte order mark.

    Raises:
        HloFileError: naming ``name``, where the bytes hold no text.

    >>> decoded(b"(d0) -> (d0)", "maps.txt")
    '(d0) -> (d0)'
    """
    if b"\0" in content:
        raise HloFileError(name, "the file is binary, not text")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"the file is binary, or not in UTF-8: see byte {error.start}"
        raise HloFileError(name, message) from None
