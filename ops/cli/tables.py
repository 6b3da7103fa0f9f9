"""Tables: all rows are found before one is printed, because they share their columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ops.cli.documents import Lines
from simplifier.tools.text_table import aligned

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ops.cli.documents import Fields


class Cells(NamedTuple):
    """The cells of a row, its fields, and lines below it; the rows of most weight come first."""

    cells: Sequence[str]
    fields: Callable[[], Fields]
    weight: float = 0
    remarks: Sequence[str] = ()
    is_unknown: bool = False


def table(heading: Sequence[str], rows: Iterable[Cells]) -> list[Lines]:
    """The rows of a table, from the cells of each.

    >>> rows = [Cells(("4096", "%p"), dict), Cells(("16", "%bias"), dict)]
    >>> for row in table(("reads", "of"), rows):
    ...     print(row.text())
    reads  of
     4096  %p
       16  %bias
    """
    listed = [*rows]
    first, *lines = aligned([heading, *(row.cells for row in listed)])
    return [
        Lines([*([] if number else [first]), line, *row.remarks], row.fields, row.is_unknown)
        for number, (line, row) in enumerate(zip(lines, listed, strict=True))
    ]
