"""Linear layouts as tables: which register of which thread holds an element, or its offset."""

from __future__ import annotations

from indexing.errors import ShapeError
from indexing.layout.linear.encoding_parts import LANE, REGISTER, WARP
from indexing.layout.linear.linear_layout import LinearLayout
from indexing.pictures.label_grid import LabelGrid
from simplifier.errors import check_type

_MATRIX = 2


def picture(layout: LinearLayout) -> LabelGrid:
    """The first two out-dimensions as rows and columns, and where each element is.

    ``T5:2`` is register 2 of thread 5, counted through the warps of a block; threads have colors.
    For a shared layout it is the offset. Of several places, one is shown: see
    :meth:`LinearLayout.pseudo_inverse`.

    Raises:
        ArgumentError: the argument is no layout.
        ShapeError: the layout has less than two out-dimensions, or elements that are at no place.

    >>> from indexing.layout.linear import blocked, swizzled_shared
    >>> print(picture(blocked((2, 4), (1, 2), (2, 2), (1, 1), (1, 0))))
          0    1    2    3
    0  T0:0 T0:1 T1:0 T1:1
    1  T2:0 T2:1 T3:0 T3:1
    >>> print(picture(swizzled_shared((2, 4), vec=2, per_phase=1, max_phase=2)))
       0 1 2 3
    0  0 1 2 3
    1  6 7 4 5
    """
    check_type(layout, LinearLayout, "picture: the layout", "a LinearLayout")
    sizes = layout.out_dims
    if len(sizes) < _MATRIX:
        raise ShapeError(f"picture: a layout of {len(sizes)} out-dimensions; expected two or more")
    (rows, height), (columns, width), *_ = sizes.items()
    places = layout.pseudo_inverse()

    def cell(row: int, column: int) -> tuple[str, int]:
        place = places(**{rows: row, columns: column})
        if LANE not in place:
            offset = next(iter(place.values()))
            return str(offset), offset
        thread = place[LANE] + place.get(WARP, 0) * layout.in_dims[LANE]
        return f"T{thread}:{place.get(REGISTER, 0)}", thread

    return LabelGrid(f"{height} x {width}", (height, width), cell)
