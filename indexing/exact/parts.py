"""Maps as products of maps that share no variable, each to some of the coordinates."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from indexing.transform.substitute import arranged
from indexing.transform.unused import united
from simplifier.expr import form as forms

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from indexing.relation import Relation, RelationT

Node: TypeAlias = "int | tuple[int, str]"
"""A coordinate; or a variable, by the number of its map and its place there."""


class Part(NamedTuple):
    """Some coordinates, and of each map what leads to them, with all variables as dimensions."""

    coordinates: tuple[int, ...]
    maps: tuple[Relation, ...]


def parts_of(maps: Sequence[RelationT]) -> tuple[list[Part], list[RelationT]]:
    """The parts of maps to one tensor, and of each map what leads to no coordinate.

    No map has a variable or a constraint that two parts share. A part has all coordinates that
    depend on each other in one of the maps.

    >>> from indexing import parse_map
    >>> text = "(d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 3], d1 in [0, 7], s0 in [0, 5]"
    >>> rows = parse_map(text)
    >>> parts, (rest,) = parts_of([rows])
    >>> for part in parts:
    ...     print(part.coordinates, *part.maps)
    (0,) (d0) -> (d0), domain: d0 in [0, 3]
    (1,) (d0) -> (d0), domain: d0 in [0, 5]
    >>> print(rest)
    (d0) -> (), domain: d0 in [0, 7]
    """
    dependent = (group for number, each in enumerate(maps) for group in _dependent(number, each))
    leading = [group for group in united(dependent) if any(isinstance(node, int) for node in group)]
    inside = frozenset(chain.from_iterable(leading))
    parts = (_part(maps, group) for group in leading)
    rests = [
        _restricted(
            each, [], [place for place in each.domain.places if (number, place) not in inside]
        )
        for number, each in enumerate(maps)
    ]
    return sorted(parts, key=lambda part: part.coordinates), rests


def _dependent(number: int, indexing_map: Relation) -> Iterator[set[Node]]:
    """What depends on each other in a map: coordinates and variables."""
    for coordinate, form in enumerate(indexing_map.forms):
        yield {coordinate, *((number, place) for place in forms.variables_of((form,)))}
    for form, _ in indexing_map.domain.constraints:
        yield {(number, place) for place in forms.variables_of((form,))}


def _part(maps: Sequence[Relation], group: Collection[Node]) -> Part:
    coordinates = sorted(node for node in group if isinstance(node, int))
    made = (
        _restricted(
            each, coordinates, [place for place in each.domain.places if (number, place) in group]
        )
        for number, each in enumerate(maps)
    )
    return Part(tuple(coordinates), tuple(made))


def _restricted(
    indexing_map: RelationT, coordinates: Sequence[int], places: Sequence[str]
) -> RelationT:
    """From some of the variables, as dimensions, to some coordinates."""
    domain, wanted = indexing_map.domain, {*places}
    kept = (
        pair for pair in domain.constraints if wanted.issuperset(forms.variables_of((pair[0],)))
    )
    results = (indexing_map.forms[coordinate] for coordinate in coordinates)
    return arranged(indexing_map.derived(results, replace(domain, constraints=tuple(kept))), places)
