"""Picture of the elements that a map reads: grids of elements side by side.

>>> from indexing import parse_map
>>> rows = parse_map("(d0)[s0] -> (d0, s0), domain: d0 in [0, 3], s0 in [0, 7]")
>>> print(access_picture(rows, at=[2]))
(d0) -> (d0, s0) at d0 = 2
(d0): 1 of 4 elements
(d0, s0): 8 of 32 elements, read once
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, groupby, islice
from math import prod
from types import MappingProxyType
from typing import Final, TypeAlias

from indexing.domain import Domain
from indexing.errors import MapError
from indexing.pictures import svg
from indexing.pictures.grids import MAX_PLANES, MAX_ROWS, Axis, Cell, Grid, cropped, shown_positions
from indexing.pictures.svg import GAP, HEAT, MAX_WIDTH, Panel, Picture
from indexing.relation import Relation, check_without_parameters
from indexing.simplify import result_bounds
from indexing.transform.evaluate import points
from indexing.validation import ByName, read_names
from simplifier.errors import INTEGER, check_integers, check_type, quoted
from simplifier.forms import Interval

Choice: TypeAlias = "int | range | Interval"
"""A value of a variable, or values side by side."""

Choices: TypeAlias = "Sequence[Choice] | ByName[Choice]"
"""Values of the dimensions in order, or of any variables by name."""

_MAX_POINTS: Final = 1 << 20
"""A picture of more takes longer than a second."""

_MAX_FORMULA: Final = 60
"""Characters of a title."""


# An array as a grid of cells, lit where elements are touched, and brighter the more often.

Position: TypeAlias = "tuple[int, ...]"
"""The index of an element."""

PlaneChoice: TypeAlias = "Sequence[int | None]"
"""An index with ``None`` for the dimensions that are rows and columns."""

LEVELS: Final = len(HEAT)
"""Of brightness; more are hard to tell apart."""

_DARK_LEVELS: Final = 2
"""How many levels are too dark for dark text; too light for light text, on a dark background."""

_HEIGHT: Final = 22
"""Of a cell, and its least width."""

_BORDERS: Final = 4
"""The number of lit stretches whose ends are shown where an axis is cropped."""

_MAX_COLUMNS: Final = 16
"""Two grids fit beside each other."""

_MAX_CELLS: Final = 4 * MAX_ROWS * _MAX_COLUMNS
"""As many as some lines of large planes have."""

_AXES: Final = 2

_PLANE: Final = "an index with None for rows and columns"


@dataclass(frozen=True)
class ElementGrid:
    """An array in a picture, and how often each of its elements is touched.

    ``counts`` has no element that is not touched. Elements of an array that ``is_chosen`` are lit
    alike: they are those that the picture is about. ``plane`` chooses two dimensions and an index
    of the others; without it, the last two are rows and columns, and the planes that have lit
    elements are shown.
    """

    title: str
    sizes: tuple[int, ...]
    counts: Mapping[Position, int]
    names: tuple[str, ...]
    is_chosen: bool = False
    plane: PlaneChoice = ()

    def __post_init__(self) -> None:
        """Check the plane."""
        object.__setattr__(self, "counts", MappingProxyType(dict(self.counts)))
        check_type(self.plane, Sequence, f"picture: the plane of {self.title}", _PLANE)
        if len(self.plane):
            _check_plane(self.plane, self.sizes, self.title)

    @property
    def summary(self) -> str:
        """Number of elements touched, in words.

        >>> ElementGrid("p", (4, 8), {(0, 0): 1, (0, 1): 2}, ("0", "1")).summary
        '2 of 32 elements, read 1 to 2 times'
        """
        touched = f"{len(self.counts):,} of {prod(self.sizes):,} elements"
        if self.is_chosen or not self.counts:
            return touched
        return f"{touched}, read {times(min(self.counts.values()), max(self.counts.values()))}"

    @cached_property
    def rows_and_columns(self) -> tuple[Axis, Axis]:
        """The axes of each plane; a vector has one row, a scalar one cell."""
        missing: list[int | None] = [None] * (_AXES - len(self._axes))
        rows, columns = (*missing, *self._axes)
        return self._axis(rows, MAX_ROWS), self._axis(columns, _MAX_COLUMNS)

    @cached_property
    def planes(self) -> tuple[Position, ...]:
        """The indices of the other dimensions that are shown."""
        rows, columns = (len(axis.positions) for axis in self.rows_and_columns)
        most = max(1, min(MAX_PLANES, _MAX_CELLS // max(1, rows * columns)))
        return tuple(islice(self._lit_planes, most))

    def panel(self, most: int) -> Panel:
        """The planes below the title; ``most`` is the count of the brightest element."""
        shown = self.planes if prod(self.sizes) else ()
        planes = [(self.plane_title(each), self._cells(each, most)) for each in shown]
        grid = Grid(*self.rows_and_columns, planes)
        lines = ((self.title, "shape"), (self.summary, "label"))
        heading = svg.below([svg.paragraphs([line], class_) for line, class_ in lines], 4)
        cells = grid.panel(grid.width(_HEIGHT, 6, "label"), _HEIGHT)
        return svg.below([heading, cells] if planes else [heading], GAP / 2)

    def _cells(self, plane: Position, most: int) -> list[list[Cell]]:
        rows, columns = self.rows_and_columns
        lit, missing = self._lit.get(plane, {}), _AXES - len(self._axes)
        return [
            [self._cell(lit.get((row, column)[missing:], 0), most) for column in columns.positions]
            for row in rows.positions
        ]

    def _cell(self, count: int, most: int) -> Cell:
        if not count:
            return Cell("untouched")
        if self.is_chosen:
            return Cell("chosen")
        level = level_of(count, most)
        label_class = "on-dark" if level > LEVELS - _DARK_LEVELS else "on-light"
        return Cell(f"heat{level}", str(count) if most > 1 else "", label_class)

    @property
    def notes(self) -> Iterator[str]:
        """The parts left out."""
        for note in cropped(*self.rows_and_columns):
            yield f"{self.title}: {note}"
        lit = len(self._lit_planes)
        if len(self.planes) < lit:
            yield f"{self.title}: {len(self.planes)} of {lit:,} planes with lit elements are shown."
        here = sum(len(self._lit.get(each, ())) for each in self._lit_planes)
        if elsewhere := len(self.counts) - here:
            yield f"{self.title}: {elsewhere:,} lit elements lie in other planes."

    @cached_property
    def _axes(self) -> tuple[int, ...]:
        """The dimensions that are rows and columns; fewer in a vector or scalar."""
        if self.plane:
            return tuple(number for number, index in enumerate(self.plane) if index is None)
        return tuple(range(len(self.sizes)))[-_AXES:]

    @cached_property
    def _others(self) -> tuple[int, ...]:
        return tuple(number for number in range(len(self.sizes)) if number not in self._axes)

    @cached_property
    def _lit(self) -> dict[Position, dict[Position, int]]:
        """Number of touches of the elements of each plane, by their rows and columns."""
        found: dict[Position, dict[Position, int]] = {}
        for index, count in self.counts.items():
            plane = tuple(index[number] for number in self._others)
            place = tuple(index[number] for number in self._axes)
            found.setdefault(plane, {})[place] = count
        return found

    @cached_property
    def _lit_planes(self) -> list[Position]:
        if self.plane:
            return [tuple(index for index in self.plane if index is not None)]
        return sorted(self._lit) or [(0,) * len(self._others)]

    def _axis(self, dimension: int | None, most: int) -> Axis:
        if dimension is None:
            return Axis("", (), 1, (0,))
        size = self.sizes[dimension]
        lit = {index[dimension] for index in self.counts}
        starts = sorted(position for position in lit if position - 1 not in lit)
        ends = sorted(position + 1 for position in lit if position + 1 not in lit)
        borders = [*starts[:_BORDERS], *ends[:_BORDERS], *ends[-1:]]
        positions = shown_positions(size, borders, most, first=min(lit, default=0))
        return Axis(self.names[dimension], (size,), size, positions)

    def plane_title(self, plane: Position) -> str:
        """The index of the other dimensions.

        >>> grid = ElementGrid("p", (2, 4, 8), {(1, 0, 0): 1}, ("0", "1", "2"))
        >>> [grid.plane_title(plane) for plane in grid.planes]
        ['0 = 1']
        """
        names = (self.names[number] for number in self._others)
        return ", ".join(f"{name} = {value}" for name, value in zip(names, plane, strict=True))


def times(least: int, most: int) -> str:
    """A number of times in words.

    >>> times(1, 1), times(2, 2), times(1, 2)
    ('once', '2 times', '1 to 2 times')
    """
    if least == most:
        return "once" if most == 1 else f"{most:,} times"
    return f"{least:,} to {most:,} times"


def level_of(count: int, most: int) -> int:
    """The brightness of an element that is touched so often, from 1 to :data:`LEVELS`.

    >>> [level_of(count, 10) for count in (1, 2, 3, 10)], level_of(1, 1)
    ([1, 1, 2, 5], 3)
    """
    return -(-LEVELS * count // most) if most > 1 else LEVELS // 2 + 1


def _check_plane(plane: PlaneChoice, sizes: Sequence[int], title: str) -> None:
    expected = f"expected {len(sizes)} indices, None for at most two of them"
    for index in plane:
        if index is not None:
            check_type(index, INTEGER, f"picture: an index of the plane of {title}", "an integer")
    if len(plane) != len(sizes) or plane.count(None) > _AXES:
        raise MapError(f"picture: the plane {list(plane)} of {title}; {expected}")
    for index, size in zip(plane, sizes, strict=True):
        if index is not None and not 0 <= index < size:
            message = f"picture: the plane {list(plane)} of {title} is outside {list(sizes)}"
            raise MapError(message)


@dataclass(frozen=True, slots=True, repr=False)
class AccessPicture(Picture):
    """Arrays side by side, with the elements lit that are read.

    ``print`` says how much is lit.
    """

    title: str
    grids: tuple[ElementGrid, ...]
    notes: tuple[str, ...] = ()

    def panels(self) -> Iterator[Panel]:
        """Grids side by side, with a legend."""
        read = [grid.counts.values() for grid in self.grids if not grid.is_chosen]
        counts = sorted({*chain(*read)})
        panels = [grid.panel(counts[-1] if counts else 1) for grid in self.grids]
        yield svg.beside(panels, 2 * GAP, MAX_WIDTH)
        yield svg.legend(self._meanings(counts))
        yield svg.paragraphs(self._all_notes(), "label")

    def _meanings(self, counts: Sequence[int]) -> dict[str, str]:
        """Meanings of the colors; ``counts`` say how often elements are read, in order."""
        found = {"chosen": "chosen"} if any(grid.is_chosen for grid in self.grids) else {}
        for level, group in groupby(counts, lambda count: level_of(count, counts[-1])):
            least, *others = group
            found[f"heat{level}"] = f"read {times(least, others[-1] if others else least)}"
        return found | {"untouched": "not read"}

    def _all_notes(self) -> list[str]:
        return [*self.notes, *(note for grid in self.grids for note in grid.notes)]

    def __str__(self) -> str:
        grids = (f"{grid.title}: {grid.summary}" for grid in self.grids)
        return "\n".join([self.title, *grids, *self._all_notes()])


def access_picture(
    indexing_map: Relation,
    at: Choices = (),
    *,
    sizes: Sequence[int] | None = None,
    plane: PlaneChoice = (),
    result_plane: PlaneChoice = (),
) -> AccessPicture:
    """The elements that a map reads for some points: grids of its dimensions and its results.

    See :meth:`indexing.IndexingMap.picture`.
    """
    chosen = chosen_points(indexing_map, at)
    if sizes is not None:
        check_integers(sizes, "picture: sizes")
    array = _sizes(indexing_map, chosen.results) if sizes is None else tuple(sizes)
    if len(array) != len(indexing_map.forms) or min(array, default=0) < 0:
        expected = f"expected {len(indexing_map.forms)}, one a result, none of them negative"
        raise MapError(f"picture: sizes are {array}; {expected}")
    from_ = f"({', '.join(chosen.names)})"
    to = svg.shortened(formula_of(indexing_map), _MAX_FORMULA)
    left = chosen.grid(from_, plane)
    right, notes = grid_of_results(to, array, chosen.results, result_plane)
    return AccessPicture(f"{from_} -> {to}{chosen.words}", (left, right), notes)


def grid_of_results(
    title: str, sizes: tuple[int, ...], counts: Mapping[Position, int], plane: PlaneChoice = ()
) -> tuple[ElementGrid, tuple[str, ...]]:
    """An array that is read so often, and a note if some of it lies outside."""
    inside = {index: count for index, count in counts.items() if _is_inside(index, sizes)}
    names = tuple(f"dim {number}" for number in range(len(sizes)))
    outside = len(counts) - len(inside)
    note = f"{title}: {outside:,} elements that are read lie outside of the array."
    return ElementGrid(title, sizes, inside, names, plane=plane), (note,) * bool(outside)


@dataclass(frozen=True, slots=True)
class ChosenPoints:
    """Some points of a map: how often each index of dimensions and of results occurs.

    ``words`` say what was chosen, such as `` at d0 = 2``; ``sizes`` are those of the dimensions.
    """

    words: str
    names: tuple[str, ...]
    sizes: tuple[int, ...]
    dims: Mapping[Position, int]
    results: Mapping[Position, int]

    def grid(self, title: str, plane: PlaneChoice) -> ElementGrid:
        """The array of the dimensions with the points that are chosen."""
        return ElementGrid(title, self.sizes, self.dims, self.names, is_chosen=True, plane=plane)


def chosen_points(indexing_map: Relation, at: Choices = ()) -> ChosenPoints:
    """The points with the chosen values of variables; all without a choice.

    A runtime variable that is not chosen has its least value.

    Raises:
        MapError: the map has parameters, or dimensions that are no indices, there is no such
            variable or value, or there are too many points.
    """
    check_without_parameters(indexing_map, "picture")
    _check_indices(indexing_map)
    domain, words = _chosen(indexing_map.domain, at)
    dims, results = _counted(indexing_map, domain)
    names = domain.by_role(domain.names)[0]
    sizes = tuple((each.bounds.upper or 0) + 1 for each in indexing_map.dims)
    return ChosenPoints(words, names, sizes, dims, results)


def _sizes(indexing_map: Relation, results: Iterable[Position]) -> tuple[int, ...]:
    """The least array that holds all results; only those found, where bounds are not known."""
    columns = [*zip(*results, strict=True)] or [()] * len(indexing_map.forms)
    uppers = (bounds.upper for bounds in result_bounds(indexing_map))
    return tuple(
        max((upper if upper is not None else max(column, default=0)) + 1, 1)
        for upper, column in zip(uppers, columns, strict=True)
    )


def _is_inside(index: Position, sizes: Sequence[int]) -> bool:
    return all(0 <= value < size for value, size in zip(index, sizes, strict=True))


def formula_of(indexing_map: Relation) -> str:
    """The results of a map as a tuple."""
    return f"({', '.join(map(indexing_map.domain.text_of, indexing_map.forms))})"


def _check_indices(indexing_map: Relation) -> None:
    for name, each in zip(indexing_map.domain.names, indexing_map.dims, strict=False):
        if (each.bounds.lower or 0) < 0 or each.bounds.upper is None:
            expected = "expected those of an index, from 0 on"
            raise MapError(f"picture: {name} has the bounds {each.bounds}; {expected}")


def _chosen(domain: Domain, at: Choices) -> tuple[Domain, str]:
    """The domain of the chosen points, and the choice in words.

    A runtime variable that is not chosen takes its least value.
    """
    choices = dict(_by_name(domain, at))
    for each, name in zip(domain.runtime, domain.by_role(domain.names)[2], strict=True):
        choices.setdefault(name, Interval(each.bounds.lower, each.bounds.lower))
    limits = [(domain.by_name[name], interval) for name, interval in choices.items()]
    words = ", ".join(
        f"{name} = {interval.lower}" if interval.is_point else f"{name} in {interval}"
        for name, interval in choices.items()
    )
    return domain.constrained(limits), f" at {words}" if words else ""


def _by_name(domain: Domain, at: Choices) -> Iterator[tuple[str, Interval]]:
    if not isinstance(at, Mapping):
        names = domain.by_role(domain.names)[0]
        check_type(at, Sequence, "picture: at", "a value or range for each dimension, or by name")
        if len(at) not in (0, len(names)):
            message = f"picture: at has {len(at)} values; expected {len(names)}, one a dimension"
            raise MapError(message)
        at = dict(zip(names, at, strict=False))
    for name, choice in read_names(at, "picture: at").items():
        bounds = domain.bounds[domain.identifier_of(name, "picture: at")]
        interval = _interval(name, choice)
        if interval.is_empty or not bounds.contains(interval):
            raise MapError(f"picture: {name} is {quoted(choice)}; expected values in {bounds}")
        yield name, interval


def _interval(name: str, choice: Choice) -> Interval:
    if isinstance(choice, Interval):
        return choice
    if isinstance(choice, range) and choice.step == 1:
        return Interval(choice.start, choice.stop - 1)
    expected = "an integer, an interval, or a range with step 1"
    check_type(choice, INTEGER, f"picture: {name}", expected)
    return Interval.of(int(choice))  # pyright: ignore[reportArgumentType] - checked


def _counted(indexing_map: Relation, domain: Domain) -> tuple[Counter[Position], Counter[Position]]:
    """Number of times that each index of dimensions and each index of results occurs."""
    sizes = [each.bounds.size for each in domain]
    total = prod(_MAX_POINTS + 1 if size is None else size for size in sizes)
    if total > _MAX_POINTS:
        count = "infinitely many" if None in sizes else f"{total:,}"
        expected = f"expected at most {_MAX_POINTS:,}: choose some by at="
        raise MapError(f"picture: {count} points; {expected}")
    dims, results = Counter[Position](), Counter[Position]()
    for point in points(indexing_map.derived(indexing_map.forms, domain)):
        dims[point[0]] += 1
        results[point[-1]] += 1
    return dims, results
