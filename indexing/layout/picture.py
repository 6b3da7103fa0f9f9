"""Picture of a layout, as data: cells of memory in a grid.

The modules beside this one draw it as SVG and as text. The two most minor dimensions in memory are
the rows and columns of a plane; there is a plane for each index of the other dimensions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, groupby, islice, pairwise, product
from math import prod
from typing import Final, TypeAlias

from indexing.layout import maps
from indexing.layout.layout import COMBINE_DIMENSION, ArrayShape, Layout, check_shapes, write_tiles
from indexing.layout.maps import Reshape, Sizes, Step, TileLevel, array_size, multi_index
from indexing.pictures import grids, svg
from indexing.pictures.grids import Axis, Box, Cell, Grid, Sides
from indexing.pictures.svg import GAP, HATCH, LINE, MAX_WIDTH, Panel
from simplifier.tools.display import Displayed

MAX_CHARACTERS: Final = 120
"""The width of a terminal, for the offsets of a row, if that leaves some columns."""

MAX_OFFSETS: Final = 72
"""Memory up to this size is shown whole, on a few lines; of a larger one half as much."""

_MIN_COLUMNS: Final = 8
_BORDERS: Final = 3
"""The number of tile levels whose first border is shown where an axis is cropped."""


Tiles: TypeAlias = tuple[int | None, ...]
"""The number of the tile of each level; ``None`` where there is no tile."""


@dataclass(frozen=True, slots=True)
class MemoryCell:
    """An offset in memory, and the index of the element there; ``None`` is padding.

    ``tiles`` are the numbers of the tiles that it is in, row by row, for each level, and
    ``outlines`` the sides on which these end. Padding behind the last tile is in none.
    """

    offset: int
    index: tuple[int, ...] | None
    tiles: Tiles
    outlines: tuple[Sides, ...]


@dataclass(frozen=True, slots=True)
class Plane:
    """The cells, row by row, at one index of the dimensions beside rows and columns."""

    title: str
    cells: tuple[tuple[MemoryCell, ...], ...]


@dataclass(frozen=True, slots=True, repr=False)
class LayoutPicture(Displayed):
    """All that a picture of a layout shows, in plain values.

    ``levels`` are the texts of the tiles, ``memory`` the first cells in the order of memory;
    ``notes`` say what is left out.
    """

    shape: ArrayShape
    summary: tuple[str, ...]
    levels: tuple[str, ...]
    rows: Axis
    columns: Axis
    planes: tuple[Plane, ...]
    memory: tuple[MemoryCell, ...]
    notes: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join([f"picture of {self.shape}", *self.summary, *self.notes])

    def grid(self, shown: Callable[[MemoryCell], Cell]) -> Grid:
        """The planes, with a cell for each place in memory."""
        planes = [
            (plane.title, [[*map(shown, row)] for row in plane.cells]) for plane in self.planes
        ]
        return Grid(self.rows, self.columns, planes)

    @property
    def cells(self) -> Iterator[MemoryCell]:
        """All cells of all planes."""
        return (cell for plane in self.planes for row in plane.cells for cell in row)

    def neighbours(self, *, across_gaps: bool = False) -> Iterator[tuple[MemoryCell, MemoryCell]]:
        """Cells beside or above each other; ``across_gaps``, those with a gap between them."""
        for plane in self.planes:
            columns = zip(*plane.cells, strict=True)
            for axis, lines in ((self.columns, plane.cells), (self.rows, columns)):
                for line in lines:
                    steps = zip(pairwise(axis.positions), pairwise(line), strict=True)
                    yield from (
                        cells
                        for (position, after), cells in steps
                        if across_gaps == (after != position + 1)
                    )


def layout_picture(shape: ArrayShape) -> LayoutPicture:
    """The picture of an array's layout.

    Raises:
        ShapeError: as :func:`~indexing.layout.tiling_steps`.

    >>> from indexing.layout import Shape
    >>> picture = layout_picture(Shape.parse("f32[3,5]{1,0:T(2,2)}"))
    >>> picture.planes[0].cells[2][3]
    MemoryCell(offset=17, index=(2, 3), tiles=(4,),
         outlines=(Sides(left=False, right=True, top=True, bottom=False),))
    >>> [[cell.offset for cell in row if cell.index] for row in picture.planes[0].cells]
    [[0, 1, 4, 5, 8], [2, 3, 6, 7, 10], [12, 13, 16, 17, 20], []]
    """
    check_shapes("layout_picture", shape=shape)
    grid = grid_of(shape)
    rows, columns = (_axis(grid, dimension) for dimension in grid.plane)
    planes = tuple(_planes(grid, rows, columns))
    memory = tuple(_memory(grid))
    return LayoutPicture(
        shape,
        (order_in_words(shape), size_in_words(shape)),
        tuple(write_tiles((tile,)) for tile in shape.array_layout.tiles),
        rows,
        columns,
        planes,
        memory,
        tuple(_notes(grid, (rows, columns), len(planes))),
    )


# The grid: the array as its first tile cuts it. Dimensions are in the order of memory, those under
# ``*`` combined, and the padding of the tile lies beside the elements. The steps of the layout lead
# from an index of the grid to an offset, and from an offset to its tile.

GridIndex: TypeAlias = tuple[int, ...]

_MIN_DIMENSIONS: Final = 2
"""Rows and columns."""


@dataclass(frozen=True, slots=True)
class TiledArray:
    """An array whose dimensions are groups of those of ``shape``, padded as the first tile pads.

    It has at least two dimensions; the first ones may be empty groups of size 1. ``steps`` begin
    with the last ``rank`` dimensions.
    """

    shape: ArrayShape
    groups: tuple[tuple[int, ...], ...]
    padded_sizes: tuple[int, ...]
    rank: int
    steps: tuple[Step, ...]
    levels: tuple[TileLevel, ...]

    @property
    def plane(self) -> tuple[int, int]:
        """The dimensions that are rows and columns: the two most minor ones, by number."""
        last = len(self.groups)
        rows, columns = sorted((last - 2, last - 1), key=lambda position: self.groups[position])
        return rows, columns

    def name(self, dimension: int) -> str:
        """The names of the dimensions of a group."""
        return ",".join(self.shape.dimension_names[number] for number in self.groups[dimension])

    def offset(self, index: GridIndex) -> int:
        """The offset in memory at an index of the grid."""
        return maps.forward(self.steps, index[len(index) - self.rank :])[0]

    def tiles(self, offset: int) -> tuple[int | None, ...]:
        """The number of the tile of each level at an offset."""
        return tuple(level.tile_at(offset) for level in self.levels)

    def __contains__(self, index: GridIndex) -> bool:
        sizes = self.padded_sizes
        return all(0 <= value < size for value, size in zip(index, sizes, strict=True))


def grid_of(shape: ArrayShape) -> TiledArray:
    """The grid of an array.

    Raises:
        ShapeError: as :func:`~indexing.layout.tiling_steps`.

    >>> from indexing.layout import Shape
    >>> grid = grid_of(Shape.parse("f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}"))
    >>> grid.groups, grid.padded_sizes
    (((0, 1, 2), (3, 4)), (112, 111))
    """
    steps, before = maps.memory_steps(shape), _steps_before_cut(shape)
    padded = maps.sizes_after(steps[:before], shape)
    missing = max(0, _MIN_DIMENSIONS - len(padded))
    return TiledArray(
        shape,
        ((),) * missing + _groups(shape.array_layout),
        (1,) * missing + padded,
        len(padded),
        steps[before:],
        maps.tile_levels(shape),
    )


def _steps_before_cut(shape: ArrayShape) -> int:
    """The number of steps before the first tile cuts; without tiles, before memory."""
    steps = maps.tiling_steps(maps.with_tile_levels(shape, 1))
    if not shape.array_layout.tiles:
        return len(steps)
    cuts = [number for number, step in enumerate(steps) if isinstance(step, Reshape)]
    return cuts[-1]


def _groups(layout: Layout) -> tuple[tuple[int, ...], ...]:
    """The dimensions from the most major one on, combined as the first tile combines them.

    A tile of more dimensions than the array begins with groups of none.
    """
    order, tile = layout.major_to_minor, layout.tiles[0] if layout.tiles else ()
    untiled = max(0, len(order) - len(tile))
    parts = ((),) * (len(tile) - len(order)) + tuple((number,) for number in order)
    cut = maps.combined(parts[untiled:], tile)
    return (*parts[:untiled], *(tuple(chain(*group)) for group in cut))


# The indices of an axis that are shown.


def _axis(grid: TiledArray, dimension: int) -> Axis:
    sizes = tuple(grid.shape.dimensions[number] for number in grid.groups[dimension])
    padded_size, from_last = grid.padded_sizes[dimension], dimension - len(grid.groups)
    tiles = [level.tile[from_last] for level in grid.levels if len(level.tile) >= -from_last]
    most = grids.MAX_ROWS if dimension == grid.plane[0] else _most_columns(grid)
    positions = grids.shown_positions(padded_size, [*tiles[:_BORDERS], prod(sizes)], most)
    return Axis(grid.name(dimension), sizes, padded_size, positions)


def _most_columns(grid: TiledArray) -> int:
    digits = len(str(maps.memory_size(grid.shape)))
    return min(grids.MAX_COLUMNS, max(_MIN_COLUMNS, MAX_CHARACTERS // (digits + 1)))


_ADDED: Final = "added"
"""The name of a dimension of size 1 that a tile has and the array lacks."""


# Cells.


def _planes(grid: TiledArray, rows: Axis, columns: Axis) -> Iterator[Plane]:
    cells = len(rows.positions) * len(columns.positions)
    if not cells:
        return
    majors = range(len(grid.groups) - 2)
    most = max(1, min(grids.MAX_PLANES, grids.MAX_CELLS // cells))
    firsts = (range(min(most, grid.padded_sizes[dimension])) for dimension in majors)
    for major in islice(product(*firsts), most):
        parts = zip(map(grid.name, majors), major, strict=True)
        title = ", ".join(f"{name or _ADDED} = {value}" for name, value in parts)
        yield Plane(title, _cells_of_plane(grid, major, rows, columns))


def _cells_of_plane(
    grid: TiledArray, major: GridIndex, rows: Axis, columns: Axis
) -> tuple[tuple[MemoryCell, ...], ...]:
    columns_are_major = grid.plane[0] > grid.plane[1]

    @cache
    def tiles(index: GridIndex) -> Tiles:
        return grid.tiles(grid.offset(index)) if index in grid else ()

    def cell(row: int, column: int) -> MemoryCell:
        def beside(right: int, down: int) -> GridIndex:
            minor = (row + down, column + right)
            return (*major, *(minor[::-1] if columns_are_major else minor))

        around = (beside(-1, 0), beside(1, 0), beside(0, -1), beside(0, 1))
        here = beside(0, 0)
        return _cell(grid, grid.offset(here), tiles(here), list(map(tiles, around)))

    return tuple(tuple(cell(row, column) for column in columns.positions) for row in rows.positions)


def _memory(grid: TiledArray) -> Iterator[MemoryCell]:
    """The first cells of memory, side by side."""
    total = maps.memory_size(grid.shape)
    count = total if total <= MAX_OFFSETS else MAX_OFFSETS // 2
    tiles = [(), *map(grid.tiles, range(count)), grid.tiles(count) if count < total else ()]
    for offset, (before, here, after) in enumerate(zip(tiles, tiles[1:], tiles[2:], strict=False)):
        yield _cell(grid, offset, here, (before, after, (), ()))


def _cell(grid: TiledArray, offset: int, tiles: Tiles, around: Sequence[Tiles]) -> MemoryCell:
    """A cell from its tiles and those of the cells around it."""
    outlines = tuple(
        Sides(*(tile is not None and (not others or others[level] != tile) for others in around))
        for level, tile in enumerate(tiles)
    )
    return MemoryCell(offset, multi_index(offset, grid.shape), tiles, outlines)


# The parts left out.


def _notes(grid: TiledArray, axes: tuple[Axis, Axis], planes: int) -> Iterator[str]:
    total = maps.memory_size(grid.shape)
    if not total:
        yield "The array has no elements."
        return
    yield from grids.cropped(*axes)
    count = prod(grid.padded_sizes[:-2])
    if planes < count:
        yield f"The first {planes} of {count:,} planes are shown."
    lost = total - prod(grid.padded_sizes)
    if lost:
        yield f"{lost:,} places of padding lie in memory, but beside no element."
    if any(grid.shape.dynamic_dimensions):
        yield "Dynamic dimensions are shown at their bounds."


# The memory of an array in words: the order of its dimensions, its tiles and its padding.


def order_in_words(shape: ArrayShape) -> str:
    """The dimensions from the one whose index changes slowest, and their tiles.

    Raises:
        ShapeError: as :func:`~indexing.layout.tiling_steps`.

    >>> from indexing.layout import Shape
    >>> print(order_in_words(Shape.parse("f32[2,3]{0,1}")))
    x, y from major to minor
    >>> print(order_in_words(Shape.parse("bf16[32,500]{1,0:T(8,128)(2,1)}")))
    y, x from major to minor, in 4 x 4 tiles of 8 x 128, each in 4 x 128 tiles of 2 x 1
    """
    check_shapes("order_in_words", shape=shape)
    names = [shape.dimension_names[number] for number in shape.array_layout.major_to_minor]
    order = [f"{', '.join(names)} from major to minor"] if len(names) > 1 else []
    in_order = "in order" if names else "a scalar"
    return ", ".join([*order, *_tiles_in_words(shape)]) or in_order


def size_in_words(shape: ArrayShape) -> str:
    """The number and size of the elements in memory, and how many of them are padding.

    Raises:
        ShapeError: as :func:`~indexing.layout.array_size`.

    >>> from indexing.layout import Shape
    >>> print(size_in_words(Shape.parse("f32[3,5]{1,0:T(2,2)}")))
    24 places of 32 bits, 96 bytes; 9 are padding (37.5%)
    """
    check_shapes("size_in_words", shape=shape)
    size = array_size(shape)
    places = f"{_counted(size.elements, 'place')} of {_counted(size.element_bits, 'bit')}"
    words = f"{places}, {_counted(size.bytes, 'byte')}"
    if not size.padding:
        return words
    are = "is" if size.padding == 1 else "are"
    return f"{words}; {size.padding:,} {are} padding ({size.padding_share:.1%})"


def _tiles_in_words(shape: ArrayShape) -> Iterator[str]:
    outer: Sizes = ()
    for tile, level in zip(shape.array_layout.tiles, maps.tile_levels(shape), strict=True):
        of = f"of {_product(level.tile)}"
        if not outer:
            yield f"in {_tiles(level.counts)} {of}"
        elif COMBINE_DIMENSION in tile or len(tile) > len(outer):
            yield f"then across these in tiles {of}"
        else:
            yield f"each in {_tiles(level.counts[-len(outer) :])} {of}"
        outer = level.tile


def _tiles(counts: Sizes) -> str:
    return f"{_product(counts)} tile{'s' * (prod(counts) != 1)}"


def _product(sizes: Iterable[int]) -> str:
    return " x ".join(map(str, sizes))


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"


# Layouts as plain text for terminals: offsets in a grid, dots for padding.


def text_of_layout(shape: ArrayShape) -> str:
    """The offsets of an array's elements; the tiles of the first level are outlined.

    Raises:
        ShapeError: as :func:`~indexing.layout.tiling_steps`.

    >>> from indexing.layout import Shape
    >>> print(text_of_layout(Shape.parse("f32[3,5]{1,0:T(2,2)}")))
    y, x   0  1  2  3  4
         +-----+-----+-----+
       0 | 0  1| 4  5| 8  .|
       1 | 2  3| 6  7|10  .|
         +-----+-----+-----+
       2 |12 13|16 17|20  .|
         | .  .| .  .| .  .|
         +-----+-----+-----+
    """
    picture = layout_picture(shape)
    grid = picture.grid(lambda cell: Cell("", _content(cell), "", cell.outlines))
    return "\n".join([*grid.lines(), *picture.notes])


def _content(cell: MemoryCell) -> str:
    return "." if cell.index is None else str(cell.offset)


# Layouts as SVG: cells with their offsets, outlines of tiles, hatched padding, indices on axes.
#
# Below them are the same cells in the order of memory, with the index of each element. A tile has
# the same color in both. The picture has its own background, light or dark as the reader prefers,
# and loads nothing.

HEIGHT: Final = 28
"""Of a cell."""


def svg_of_layout(shape: ArrayShape) -> str:
    """A picture of an array's layout.

    Raises:
        ShapeError: as :func:`~indexing.layout.tiling_steps`.

    >>> from indexing.layout import Shape
    >>> print(svg_of_layout(Shape.parse("f32[3,5]{1,0:T(2,2)}")))
    <svg xmlns="http://www.w3.org/2000/svg" ...
    <title>f32[3,5]{1,0:T(2,2)}</title>
    ...
    </svg>
    """
    picture = layout_picture(shape)
    what = "Each cell is a place in memory with its offset; below, the same places in their order."
    about = "\n".join([what, *picture.summary, _memory_title(picture), *picture.notes])
    return svg.document(str(shape), about, _panels(picture))


def _panels(picture: LayoutPicture) -> Iterator[Panel]:
    colors = _color_count(picture)
    grid = picture.grid(lambda cell: shown(cell, str(cell.offset), colors))
    yield svg.paragraphs(picture.summary, "label")
    yield grid.panel(grid.width(*_widths(picture)), HEIGHT, 2 * GAP)
    yield _memory_picture(picture, colors)
    yield svg.legend(_meanings(picture))
    yield svg.paragraphs(picture.notes, "label")


def shown(cell: MemoryCell, label: str, colors: int) -> Cell:
    """A place in memory; the tiles alternate between so many colors."""
    if cell.index is None:
        return Cell(HATCH, label, "label", cell.outlines)
    tile = cell.tiles[0] if cell.tiles else None
    return Cell(f"tile{(tile or 0) % colors}", label, "", cell.outlines)


_MAX_INDEX: Final = 40
"""Cells stay narrow enough for some in a row."""


# The memory.


def _memory_picture(picture: LayoutPicture, colors: int) -> Panel:
    if not picture.memory:
        return Panel(0, 0, ())
    cells = [shown(cell, _index_text(cell), colors) for cell in picture.memory]
    offsets = [str(cell.offset) for cell in picture.memory]
    width = grids.cell_width([*(cell.label for cell in cells), offsets[-1]], *_widths(picture))
    in_row = _cells_in_row(picture.memory, int(MAX_WIDTH // width))
    top, row = 2 * LINE + 4, HEIGHT + LINE + 4  # the offsets of a row are above it
    boxes = [
        Box(number % in_row * width, top + number // in_row * row, width, HEIGHT, cell)
        for number, cell in enumerate(cells)
    ]
    above = (
        svg.text(box.x + width / 2, box.y - 4, offset, "label", "middle")
        for box, offset in zip(boxes, offsets, strict=True)
    )
    title = _memory_title(picture)
    elements = (svg.text(0, 12, title), *above, *grids.painted(boxes))
    widths = (min(in_row, len(boxes)) * width, svg.text_width(title))
    return Panel(max(widths), boxes[-1].y + HEIGHT, elements)


def _memory_title(picture: LayoutPicture) -> str:
    shown, total = len(picture.memory), maps.memory_size(picture.shape)
    of_all = f", the first {shown} of {total:,}" if shown < total else ""
    return f"in memory: the index of the element at each offset{of_all}"


def _index_text(cell: MemoryCell) -> str:
    if cell.index is None:
        return ""
    return svg.shortened(",".join(map(str, cell.index)), _MAX_INDEX) or "()"


def _cells_in_row(cells: Sequence[MemoryCell], most: int) -> int:
    """Rows of about equal length that hold whole tiles, the largest that fit."""
    levels = range(max(len(cell.tiles) for cell in cells))
    runs = (_longest_run(cell.tiles[level : level + 1] for cell in cells) for level in levels)
    unit = max((run for run in runs if run <= most), default=1)
    rows = -(-len(cells) // (most // unit * unit))
    return -(-len(cells) // (rows * unit)) * unit


def _longest_run(values: Iterable[object]) -> int:
    return max(len(list(run)) for _, run in groupby(values))


# Widths and colors of cells, and the legend.


def _widths(picture: LayoutPicture) -> tuple[float, float]:
    """The least width of a cell, and the space around its text."""
    return 30, 8 + 4 * min(len(picture.levels), grids.OUTLINED_LEVELS)


def _color_count(picture: LayoutPicture) -> int:
    """A number of colors for which tiles side by side differ, and across gaps if possible."""
    near, far = (_tile_steps(picture.neighbours(across_gaps=gaps)) for gaps in (False, True))

    def clashes(count: int) -> tuple[int, int]:
        return sum(not step % count for step in near), sum(not step % count for step in far)

    return min(_COLOR_COUNTS, key=clashes)


def _tile_steps(pairs: Iterable[tuple[MemoryCell, MemoryCell]]) -> set[int]:
    """The differences between the numbers of the tiles of each pair of cells."""
    return {
        abs(tile - other_tile)
        for cell, other in pairs
        for tile, other_tile in zip(cell.tiles[:1], other.tiles[:1], strict=True)
        if tile is not None and other_tile is not None
    } - {0}


_COLOR_COUNTS: Final = (6, 5, 7, 4, 3)


def _meanings(picture: LayoutPicture) -> dict[str, str]:
    most = grids.OUTLINED_LEVELS
    outlined, others = picture.levels[:most], picture.levels[most:]
    found = {f"outline{level}": f"tile {tile}" for level, tile in enumerate(outlined)}
    if others:
        found[""] = f"tile {', '.join(others)}: not outlined"
    if any(cell.index is None for cell in (*picture.cells, *picture.memory)):
        found[HATCH] = "padding"
    return found
