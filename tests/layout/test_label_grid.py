"""Tables of labels: as SVG whole and alone, cropped where long, and the same as text."""

from __future__ import annotations

import pytest

from indexing.layout import ShapeError, cute, linear
from indexing.pictures.grids import LabelGrid
from tests.cases import for_all
from tests.svg import check_is_alone, check_nothing_lies_outside, parsed, texts

PICTURES = {
    "rows": cute.picture(cute.parse("(4,8):(8,1)")),
    "one mode": cute.picture(cute.parse("8:2")),
    "swizzled": cute.picture(cute.parse_composed("Sw<3,0,3> o 0 o (8,8):(8,1)")),
    "large": cute.picture(cute.parse("(1000000,4096):(1,1000000)")),
    "mma": linear.picture(linear.nvidia_mma((16, 8), 2, (1, 1), (16, 8))),
    "shared": linear.picture(linear.swizzled_shared((8, 8), vec=1, per_phase=1, max_phase=8)),
}


@for_all(PICTURES)
def test_pictures_are_whole_and_alone(picture: LabelGrid) -> None:
    svg = picture.svg()
    root = parsed(svg)
    check_is_alone(svg)
    check_nothing_lies_outside(root)
    shown = texts(root)
    rows = [line.split()[1:] for line in str(picture).splitlines()[1:] if line[-1] != "."]
    assert all(label in shown for row in rows for label in row)


def test_cells_are_the_offsets_of_the_layout() -> None:
    layout = cute.parse("(4,(2,4)):(2,(1,8))")
    rows = [line.split() for line in str(cute.picture(layout)).splitlines()[1:]]
    expected = [[str(row), *(str(layout(row, column)) for column in range(8))] for row in range(4)]
    assert rows == expected


def test_long_axes_are_cropped() -> None:
    assert str(PICTURES["large"]).splitlines()[-2:] == [
        "4 of 1,000,000 rows are shown.",
        "4 of 4,096 columns are shown.",
    ]


def test_a_vector_has_no_picture() -> None:
    with pytest.raises(ShapeError, match="expected two or more"):
        linear.picture(linear.blocked((8,), (1,), (8,), (1,), (0,)))
