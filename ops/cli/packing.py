"""Pieces of text, packed: another process may have made many, and they wait for their turn."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_FAST: Final = 1
_CHARACTERS: Final = 1 << 16
"""How long the pieces are that are unpacked."""


@dataclass(frozen=True, slots=True)
class Packed:
    r"""The lines of a text in the memory of a few; an item that is printed as it stands.

    >>> packed = Packed.of(f"line {number}" for number in range(100_000))
    >>> "\n".join(packed.text_pieces())[-10:], len(packed.content) < 300_000
    ('line 99999', True)
    """

    content: bytes

    @classmethod
    def of(cls, pieces: Iterable[str]) -> Packed:
        """Pack pieces of whole lines as they are made."""
        buffer = BytesIO()
        with gzip.open(buffer, "wt", _FAST, encoding="utf-8", newline="\n") as file:
            file.writelines(f"{piece}\n" for piece in pieces)
        return cls(buffer.getvalue())

    def text_pieces(self) -> Iterator[str]:
        """The lines, many at a time."""
        with gzip.open(BytesIO(self.content), "rt", encoding="utf-8", newline="\n") as file:
            while lines := file.readlines(_CHARACTERS):
                yield "".join(lines).removesuffix("\n")

    json_pieces = text_pieces
