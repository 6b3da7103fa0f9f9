"""Tables as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def aligned(rows: Iterable[Sequence[str]]) -> list[str]:
    r"""A line for each row: its cells to the right of their columns, the last one of any width.

    >>> print(*aligned([("reads", "of"), ("4096", "%p"), ("16", "%bias")]), sep="\n")
    reads  of
     4096  %p
       16  %bias
    """
    listed = [*rows]
    *widths, _ = (max(map(len, column)) for column in zip(*listed, strict=True))
    return [
        "  ".join([*(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True)), last])
        for *cells, last in listed
    ]
