"""Pictures in files."""

from __future__ import annotations

from pathlib import Path

from ops.hlo import HloFileError
from ops.hlo.files import write_text


def write_svg(file: str, svg: str) -> None:
    """Write a picture to a file.

    Raises:
        HloFileError: the name promises another kind of picture, or the file cannot be written.
    """
    kind = Path(file).suffix
    if kind not in {"", ".svg"}:
        raise HloFileError(file, f"the picture is an SVG, not {kind}; expected a name in .svg")
    write_text(file, f"{svg}\n")
