"""CuTe layouts as tables of offsets, as CuTe prints them for LaTeX."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexing.layout.cute.cute_layout import CuteLayout
from indexing.layout.cute.swizzle import ComposedLayout
from indexing.pictures.label_grid import LabelGrid
from simplifier.errors import check_type

if TYPE_CHECKING:
    from indexing.layout.cute.int_tuple import IntTuple


def picture(layout: CuteLayout | ComposedLayout) -> LabelGrid:
    """The offsets: the first mode is the rows, the others together are the columns.

    A layout with one mode is one row. A notebook shows the picture, ``print`` writes a table, and
    ``svg()`` or ``save(path)`` give it as SVG; offsets that are equal modulo 8 have one color.

    Raises:
        ArgumentError: the argument is no layout of CuTe.

    >>> from indexing.layout.cute import parse
    >>> print(picture(parse("(4,(2,2)):(2,(1,8))")))
        0  1  2  3
    0   0  1  8  9
    1   2  3 10 11
    2   4  5 12 13
    3   6  7 14 15
    """
    check_type(layout, (CuteLayout, ComposedLayout), "picture: the layout", "a layout of CuTe")
    plain = layout if isinstance(layout, CuteLayout) else layout.layout
    modes = plain.modes
    rows = modes[0].size if len(modes) > 1 else 1

    def cell(row: int, column: int) -> tuple[str, int]:
        index: IntTuple = row + rows * column
        offset = layout(index)
        return str(offset), offset

    return LabelGrid(str(layout), (rows, plain.size // rows), cell)
