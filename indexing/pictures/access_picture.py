"""Which elements a map reads, as a picture: grids of elements side by side.

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
from math import prod
from typing import Any, Final, TypeAlias

from indexing.domain import Domain
from indexing.errors import MapError
from indexing.pictures.grids import (
    LEVELS,
    ElementGrid,
    PlaneChoice,
    Position,
    level_of,
    panel_of,
    times,
)
from indexing.pictures.svg import (
    GAP,
    MAX_WIDTH,
    Colors,
    Panel,
    Picture,
    beside,
    document,
    legend_item,
    paragraphs,
    rectangle,
    shortened,
)
from indexing.relation import Relation, check_without_parameters
from indexing.simplify import result_bounds
from indexing.transform.evaluate import result_columns
from indexing.validation import ByName, read_names
from simplifier.errors import INTEGER, check_integers, check_type, quoted
from simplifier.forms import Interval, variable

Choice: TypeAlias = "int | range | Interval"
"""A value of a variable, or values side by side."""

Choices: TypeAlias = "Sequence[Choice] | ByName[Choice]"
"""Values of the dimensions in order, or of any variables by name."""

_MAX_POINTS: Final = 1 << 20
"""A picture of more takes longer than a second."""

_MAX_FORMULA: Final = 60
"""Characters of a title."""


@dataclass(frozen=True, slots=True, repr=False)
class AccessPicture(Picture):
    """Arrays side by side, with the elements lit that are read.

    ``print`` says how much is lit.
    """

    title: str
    grids: tuple[ElementGrid, ...]
    notes: tuple[str, ...] = ()

    def svg(self) -> str:
        """Grids side by side, with a legend."""
        most = self._most
        panels = (
            paragraphs([self.title], "shape"),
            beside([panel_of(grid, most) for grid in self.grids], 2 * GAP, MAX_WIDTH),
            self._legend(),
            paragraphs(self._all_notes(), "label"),
        )
        return document("access-picture", self.title, str(self), panels, _COLORS, _FIXED)

    @property
    def _most(self) -> int:
        return max((grid.most for grid in self.grids if not grid.is_chosen), default=0) or 1

    def _all_notes(self) -> list[str]:
        return [*self.notes, *(note for grid in self.grids for note in grid.notes)]

    def _legend(self) -> Panel:
        cell = rectangle(1, 1, 24, 14)
        items = [legend_item("chosen", cell, "chosen")] if self._has_chosen else []
        counts = {
            count for each in self.grids if not each.is_chosen for count in each.counts.values()
        }
        for level in range(1, LEVELS + 1):
            here = [count for count in counts if level_of(count, self._most) == level]
            if here:
                items.append(
                    legend_item(f"read {times(min(here), max(here))}", cell, f"heat{level}")
                )
        items.append(legend_item("not read", cell, "untouched"))
        return beside(items, GAP, MAX_WIDTH)

    @property
    def _has_chosen(self) -> bool:
        return any(grid.is_chosen for grid in self.grids)

    def __str__(self) -> str:
        grids = (f"{grid.title}: {grid.summary}" for grid in self.grids)
        return "\n".join([self.title, *grids, *self._all_notes()])


_COLORS: Final[Colors] = {
    ".untouched": ("fill", "#eceff2", "#242b33"),
    ".chosen": ("fill", "#f2a33a", "#c27a14"),
    ".heat1": ("fill", "#cfe3f7", "#173a5e"),
    ".heat2": ("fill", "#9ecae1", "#1f5c96"),
    ".heat3": ("fill", "#6baed6", "#3a86c0"),
    ".heat4": ("fill", "#3182bd", "#7fb8e3"),
    ".heat5": ("fill", "#08519c", "#cfe3f7"),
    ".on-light": ("fill", "#1b1f24", "#e8ebee"),
    ".on-dark": ("fill", "#ffffff", "#14181d"),
}
"""One hue from pale to strong, and orange: people who see few colors tell them apart."""

_FIXED: Final = """\
.{0} .on-light,.{0} .on-dark{{font-size:12px}}
"""


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
    points = chosen_points(indexing_map, at)
    if sizes is not None:
        check_integers(sizes, "picture: sizes")
    array = _sizes(indexing_map, points.results) if sizes is None else tuple(sizes)
    if len(array) != len(indexing_map.forms) or min(array, default=0) < 0:
        expected = f"expected {len(indexing_map.forms)}, one a result, none of them negative"
        raise MapError(f"picture: sizes are {array}; {expected}")
    from_, to = f"({', '.join(points.names)})", _formula(indexing_map)
    left = ElementGrid(from_, points.sizes, points.dims, points.names, is_chosen=True, plane=plane)
    right, notes = grid_of_results(to, array, points.results, result_plane)
    return AccessPicture(f"{from_} -> {to}{points.words}", (left, right), notes)


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


def _formula(indexing_map: Relation) -> str:
    """The results, without the middle of a long text."""
    text = f"({', '.join(map(indexing_map.domain.text_of, indexing_map.forms))})"
    return shortened(text, _MAX_FORMULA)


def _check_indices(indexing_map: Relation) -> None:
    for name, each in zip(indexing_map.domain.names, indexing_map.dims, strict=False):
        if (each.bounds.lower or 0) < 0 or each.bounds.upper is None:
            expected = "expected those of an index, from 0 on"
            raise MapError(f"picture: {name} has the bounds {each.bounds}; {expected}")


def _chosen(domain: Domain, at: Choices) -> tuple[Domain, str]:
    """The domain of the chosen points, and in words what was chosen.

    A runtime variable that is not chosen takes its least value.
    """
    choices = dict(_by_name(domain, at))
    for each, name in zip(domain.runtime, domain.by_role(domain.names)[2], strict=True):
        choices.setdefault(name, Interval(each.bounds.lower, each.bounds.lower))
    narrowed = domain.constrained(
        (variable(domain.identifier_of(name, "picture")), interval)
        for name, interval in choices.items()
    )
    words = ", ".join(
        f"{name} = {interval.lower}" if interval.is_point else f"{name} in {interval}"
        for name, interval in choices.items()
    )
    return narrowed, f" at {words}" if words else ""


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


def _counted(
    indexing_map: Relation, domain: Domain
) -> tuple[dict[Position, int], dict[Position, int]]:
    """How often each index of dimensions and each index of results occurs."""
    sizes = [each.bounds.size for each in domain]
    total = prod(_MAX_POINTS + 1 if size is None else size for size in sizes)
    if total > _MAX_POINTS:
        count = "infinitely many" if None in sizes else f"{total:,}"
        expected = f"expected at most {_MAX_POINTS:,}: choose some by at="
        raise MapError(f"picture: {count} points; {expected}")
    rank = len(domain.dims)
    forms = [*map(variable, domain.identifiers[:rank]), *indexing_map.forms]
    columns = list(result_columns(indexing_map.derived(forms, domain)))
    return _tally(columns, slice(rank)), _tally(columns, slice(rank, None))


def _tally(parts: Sequence[tuple[int, Sequence[object]]], wanted: slice) -> dict[Position, int]:
    import numpy as np  # noqa: PLC0415 - NumPy is loaded when arrays are wanted

    found = [_rows(columns[wanted], count) for count, columns in parts]
    if not found:
        return {}
    rows = np.concatenate(found)
    if not rows.shape[1]:
        return {(): len(rows)}
    if rows.dtype == object:  # beyond 64 bits; NumPy does not sort such rows
        return Counter(map(tuple, rows.tolist()))
    indices, counts = np.unique(rows, axis=0, return_counts=True)
    positions: list[list[int]] = indices.tolist()
    return dict(zip(map(tuple, positions), counts.tolist(), strict=True))


def _rows(columns: Sequence[object], count: int) -> Any:  # noqa: ANN401 - a NumPy array
    import numpy as np  # noqa: PLC0415 - NumPy is loaded when arrays are wanted

    if not columns:
        return np.empty((count, 0), dtype=np.int64)
    return np.stack([np.broadcast_to(np.asarray(each), count) for each in columns], axis=1)
