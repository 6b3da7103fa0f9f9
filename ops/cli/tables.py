"""Tables: all rows are found before one is printed, because they share their columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ops.cli.documents import Lines
from ops.hlo import HloTextError
from simplifier.tools.text_table import aligned

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ops.cli.documents import Fields
    from ops.cli.selection import Selection
    from ops.modules.analysis import ModuleAnalysis


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


def by_weight(
    heading: Sequence[str], found: Iterable[Cells | HloTextError], selection: Selection
) -> list[Lines | HloTextError]:
    """The table of what is asked for, the heaviest rows first, and the errors behind it."""
    listed = [*found]
    rows = sorted((row for row in listed if isinstance(row, Cells)), key=lambda row: -row.weight)
    errors = (error for error in listed if isinstance(error, HloTextError))
    return [*table(heading, selection.kept(rows)), *errors]


class TableQuestion:
    """A question whose subjects are the rows of a table: all are found before one is printed."""

    def answer(self, analysis: ModuleAnalysis, subject: Lines | HloTextError) -> Lines:  # noqa: ARG002 - as all questions
        """The row, or the error."""
        if isinstance(subject, HloTextError):
            raise subject
        return subject
