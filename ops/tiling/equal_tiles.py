"""Tile sizes for which two tiles of an array are the same, so that a program loads it once.

Two tiles are the same if they have the same elements, for all ids. For thousands of sizes that is
asked in steps: a corner of one tile that is not in the other tells most apart; where there are few
points, their elements are compared; else the formulas, with the numbers for sizes. One set may have
several formulas, so where these differ the answer is open.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from indexing import IndexingMap, Tile, TileError, Variable
from indexing.passes import Formulas, evaluate_forms, few_points, part_over, tile_of
from ops.performance.tally import Column
from ops.tiling.propagation import ArrayTile
from simplifier import forms
from simplifier.forms import Interval, np
from simplifier.tools.graphs import united

_FEW: Final = 1 << 8
"""Sizes of the dimensions in which two tiles differ that are looked at: a second at most."""

_VERY_FEW: Final = 1 << 6
"""Sizes of all dimensions that are looked at."""

_MAX_ROWS: Final = 1 << 22
"""Points, for all sizes together, whose elements are compared: a second or two."""


class TileEquality(NamedTuple):
    """Sizes for which two tiles are known to be equal, and those for which that is decided."""

    is_equal: Column
    is_decided: Column


class TileComparison:
    """Compares tiles of a space, for the sizes in some columns that are kept."""

    def __init__(
        self, variables: Sequence[Variable], columns: Sequence[Column], kept: Column
    ) -> None:
        self.variables = variables
        self.columns = columns
        self.kept = kept

    def __call__(self, one: ArrayTile, other: ArrayTile) -> TileEquality:
        """Sizes for which two tiles of one array are equal."""
        every = np.ones(self.kept.shape, dtype=bool)
        origins = _origins(one), _origins(other)
        if origins[0] != origins[1]:
            return TileEquality(~every, every & (set(origins[0]) != set(origins[1])))
        left = self._share_corners(one, other)
        by_points = self._by_points(_accessed(one), _accessed(other), left)
        if by_points is not None:
            return TileEquality(by_points, every)
        by_formulas = self._by_formulas(one, other, left)
        return TileEquality(by_formulas, by_formulas | ~left)

    def _distinct(self, numbers: Sequence[int], wanted: Column) -> tuple[Any, Column]:
        """The sizes that some dimensions have together, a row each; and the row of each wanted."""
        columns = [self.columns[number][wanted] for number in numbers]
        table = np.stack([*columns, 0 * wanted[wanted]])
        rows, places = np.unique(table, axis=1, return_inverse=True)
        return rows[:-1].T, places.reshape(-1)

    # Corners.

    def _share_corners(self, one: ArrayTile, other: ArrayTile) -> Column:
        """Sizes for which the corners of each tile that are looked at are in the other, too."""
        left = np.flatnonzero(self.kept)
        numbers = _dimensions_that_differ(one.checked_tile(), other.checked_tile())
        for corner in _corners(numbers):
            for inner, outer in ((one, other), (other, one)):
                if len(left):
                    left = left[self._has_corner(inner, outer.checked_tile(), corner, left)]
        found = np.zeros(self.kept.shape, dtype=bool)
        found[left] = True
        return found

    def _has_corner(
        self, inner: ArrayTile, outer: Tile, corner: Mapping[int, int], rows: Column
    ) -> Column:
        """Whether the element of a point, if it is one, is in the tile of the same ids."""
        own = inner.indexings[0].map.simplify()
        given: dict[str, Column] = {
            f"rt{number}": 0 * rows + (each.bounds.lower or 0)
            for number, each in enumerate(own.runtime)
        }
        sizes = [column[rows] for column in self.columns]
        for number, (each, size, count) in enumerate(
            zip(own.dims, sizes, outer.counts, strict=True)
        ):
            place = _place(corner.get(number, corner[_OTHERS]), each.bounds, size)
            given |= {f"d{number}": place, f"t{number}": place // size}
            given |= dict.fromkeys(forms.variables_of((count,)), size)
        limits = own.domain.constraints
        values = evaluate_forms([*own.forms, *(form for form, _ in limits)], given)
        is_point: Column = True
        for value, (_, interval) in zip(values[len(own.forms) :], limits, strict=True):
            lower, upper = interval.ends
            is_point = is_point & (value >= lower) & (value <= upper)
        return ~(is_point & ~_is_inside(outer.formulas, values[: len(own.forms)], given))

    # Points.

    def _by_points(self, one: IndexingMap, other: IndexingMap, wanted: Column) -> Column | None:
        """Whether two maps reach the same elements from all tiles; ``None`` for too many points.

        They do if independent parts of them do.
        """
        found = wanted.copy()
        for numbers, left, right in _parts_that_differ(one, other, self.variables):
            rows, places = self._distinct(numbers, found)
            most = _MAX_ROWS // max(len(rows), 1)
            reached, again = _table(left, most), _table(right, most)
            if reached is None or again is None or reached.shape[1] != again.shape[1]:
                return None
            agreed = np.array([_agree(reached, again, sizes) for sizes in rows], dtype=bool)
            found[found] = agreed[places]
        return found

    # Formulas.

    def _by_formulas(self, one: ArrayTile, other: ArrayTile, wanted: Column) -> Column:
        """Whether two tiles have the same formulas, as far as there are few sizes to look at."""
        found = np.zeros(wanted.shape, dtype=bool)
        numbers = _dimensions_that_differ(one.checked_tile(), other.checked_tile())
        for dimensions, most in ((numbers, _FEW), (range(len(self.columns)), _VERY_FEW)):
            left = wanted & ~found
            rows, places = self._distinct(dimensions, left)
            if len(rows) > most:
                break
            sizes = [dict(zip(dimensions, row, strict=True)) for row in rows.tolist()]
            agreed = [self._have_one_formula(one, other, each) for each in sizes]
            found[left] = np.array(agreed, dtype=bool)[places]
        return found

    def _have_one_formula(self, one: ArrayTile, other: ArrayTile, sizes: Mapping[int, int]) -> bool:
        """Whether two tiles have the same formulas where some dimensions have these sizes."""
        try:
            return self._formulas(one, sizes) == self._formulas(other, sizes)
        except TileError:  # no tile has these sizes
            return False

    def _formulas(self, array: ArrayTile, sizes: Mapping[int, int]) -> Formulas:
        """The formulas of a tile where some dimensions have these sizes."""
        symbols = map(forms.to_sympy, array.checked_tile().counts)
        given = [sizes.get(number, each) for number, each in enumerate(symbols)]
        return tile_of(_accessed(array), self.variables, given).formulas


def _origins(array: ArrayTile) -> tuple[object, ...]:
    """Values that are known at runtime only, wherever in their array they are."""
    access = array.indexings[0]
    runtime = [(each.instruction, each.callers, each.clamp) for each in access.runtime]
    return (access.replica_id is None, *runtime)


def _accessed(array: ArrayTile) -> IndexingMap:
    """The map to elements, to the places of values at runtime, and to replicas."""
    access = array.indexings[0]
    own = access.map.simplify()
    values = [form for each in access.other_maps for form in each.simplify().forms]
    return IndexingMap.from_forms([*own.forms, *values], own.domain)


def _dimensions_that_differ(one: Tile, other: Tile) -> tuple[int, ...]:
    """The dimensions that the formulas in which two tiles differ use."""
    pairs = [
        *zip(one.formulas.results, other.formulas.results, strict=True),
        ((one.formulas.condition,), (other.formulas.condition,)),
    ]
    differing = [form for pair in pairs if pair[0] != pair[1] for row in pair for form in row]
    used = set(forms.variables_of(differing))
    sizes = enumerate(each.single_variable() for each in one.counts)
    return tuple(number for number, size in sizes if used & {f"t{number}", size})


# Corners: along each dimension a place in the first or the last tile.

_OTHERS: Final = -1
"""Stands for the dimensions that are not named."""


def _corners(numbers: Sequence[int]) -> Iterator[dict[int, int]]:
    """All dimensions at one place; then one of them at another place than the others."""
    yield from ({_OTHERS: place} for place in (1, 2, 3, 0))
    if len(numbers) > 1:
        yield from ({_OTHERS: 0, number: place} for number in numbers for place in (1, 2, 3))


def _place(place: int, bounds: Interval, size: Column) -> Column:
    """The first and the last place in the first tile, then in the last one."""
    lower, upper = bounds.lower or 0, bounds.upper or 0
    match place:
        case 0:
            return 0 * size + lower
        case 1:
            return np.minimum(lower // size * size + size - 1, upper)
        case 2:
            return np.maximum(upper // size * size, lower)
        case _:
            return 0 * size + upper


def _is_inside(
    formulas: Formulas, indices: Sequence[Column], given: Mapping[str, Column]
) -> Column:
    """Whether a tile has an element; also where several of its positions may lead there."""
    found: Column = True
    is_unique: Column = True
    positions: dict[str, Column] = {}
    for number, (row, index) in enumerate(zip(formulas.results, indices, strict=True)):
        offset, size, stride = evaluate_forms(row, given)
        distance = index - offset
        position = distance // np.where(stride == 0, 1, stride)
        found = found & (position * stride == distance) & (position >= 0) & (position < size)
        is_unique = is_unique & ((stride != 0) | (size == 1))
        positions[f"i{number}"] = position
    (condition,) = evaluate_forms((formulas.condition,), {**given, **positions})
    return found & ((condition != 0) | ~np.asarray(is_unique))


# Points: tables of what a part of a map reaches from there.


def _parts_that_differ(
    one: IndexingMap, other: IndexingMap, variables: Sequence[Variable]
) -> Iterator[tuple[list[int], IndexingMap, IndexingMap]]:
    """The parts of two maps that share no variable with others, and the dimensions of each.

    A dimension of which a map has some values only is part of it.
    """
    pairs = list(zip(one.forms, other.forms, strict=True))
    limited = [(form,) for each in (one, other) for form, _ in each.domain.constraints]
    cut = [
        {f"d{number}"}
        for each in (one, other)
        for number, (own, whole) in enumerate(zip(each.dims, variables, strict=True))
        if own.bounds != whole.bounds
    ]
    used = [set(forms.variables_of(row)) for row in pairs]
    constant = [place for place, names in enumerate(used) if not names]
    groups = united([*used, *({*forms.variables_of(row)} for row in limited), *cut])
    for names in (set[str](), *groups):
        places = [place for place, own in enumerate(used) if own & names] if names else constant
        left, right = (_part(each, places, names) for each in (one, other))
        if left != right:
            yield sorted(int(name[1:]) for name in names if name[0] == "d"), left, right


def _part(whole: IndexingMap, places: Sequence[int], names: set[str]) -> IndexingMap:
    """Some results of a map, over the variables that they use."""
    order = [name for name in whole.domain.identifiers if name in names]
    dims, runtime = ([name for name in order if name[0] == role] for role in "dr")
    return part_over(whole, [whole.forms[place] for place in places], dims, runtime)


def _table(part: IndexingMap, most: int) -> Any | None:  # noqa: ANN401 - a matrix of NumPy
    """The points of a part, the elements, and the values at runtime; ``None`` for too many."""
    dims, _, runtime = part.domain.by_role_as_forms
    return few_points.elements(part, (*dims, *part.forms, *runtime), most)


def _agree(one: Any, other: Any, sizes: Column) -> bool:  # noqa: ANN401 - matrices of NumPy
    """Whether points of two tables reach the same from each tile."""
    divisors = np.ones(one.shape[1], dtype=np.int64)
    divisors[: len(sizes)] = sizes
    return np.array_equal(*(few_points.different(rows // divisors) for rows in (one, other)))
