"""The maps of one operation in both directions, or why there are none."""

from __future__ import annotations

import enum
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn

from indexing import UndefinedMap
from indexing.formats.text import format_head
from ops.index_maps import on_condition
from ops.sizes import is_numeric, shown_sizes
from simplifier.tools.display import html_of_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from indexing import IndexingMap
    from indexing.domain import Constraint
    from indexing.symbolic_bounds import Ends
    from ops.sizes import SizeLike
    from simplifier import Interval


class Direction(enum.Enum):
    """Whether maps lead from results to operands, or back."""

    OUTPUT_TO_INPUT = "output_to_input"
    INPUT_TO_OUTPUT = "input_to_output"


class Unknown(UndefinedMap):
    """That there are no maps between arrays, and the reason why.

    An :class:`indexing.UndefinedMap` takes the place of one map, and prints as in XLA. This one
    takes the place of all maps of an operation (:class:`OpIndexing`), or of all indexings between
    two arrays (:class:`Dependence <ops.dependence.dependence.Dependence>`). It has the methods of
    both, so that those who follow maps need not ask which they have; it absorbs what is composed or
    united with it. Asking for a map that is not known raises a :class:`MapError
    <indexing.MapError>` with the reason, whatever is asked.

    >>> print(Unknown("sort: no indexing map"))
    unknown (sort: no indexing map)
    >>> Unknown("sort: no indexing map").output_to_input
    Traceback (most recent call last):
    indexing.errors.MapError: the map is undefined: sort: no indexing map
    """

    __slots__ = ()

    def compose(self, producer: object) -> Unknown:  # noqa: ARG002 - nothing is known behind it
        """A composition with an unknown dependence is unknown."""
        return self

    def union(self, *others: object, sizes: object = None) -> Unknown:  # noqa: ARG002
        """A union with an unknown dependence is unknown."""
        return self

    def apply(self, change: Callable[[Any], Any]) -> Unknown:  # noqa: ARG002 # pyright: ignore[reportIncompatibleMethodOverride] - that of a dependence
        """There is no indexing that could be changed."""
        return self

    def simplify(self, **_: object) -> Unknown:
        """There is no map that could be simplified."""
        return self

    def minimal(self) -> Unknown:
        """There are no maps that could contain each other."""
        return self

    def singles(self) -> list[Unknown]:
        """The one answer: there is no map."""
        return [self]

    def widened(self) -> Unknown:
        """Nothing that is known could hold it."""
        return self

    @property
    def indexings(self) -> tuple[()]:
        """The indexings that are known: none."""
        return ()

    def map_of_operand(self, direction: Direction, number: int) -> MapOfOperand:  # noqa: ARG002
        """No operand has a map in any direction."""
        return MapOfOperand(self)

    @property
    def reads_operands(self) -> bool:
        """What is unknown reads no values."""
        return False

    @property
    def burden(self) -> int:
        """What it adds to the cost of a composition: nothing."""
        return 0

    def __getattr__(self, name: str) -> NoReturn:
        """What the maps of an operation, or an indexing, would have."""
        raise self._error() if name in _ASKED_OF_MAPS else AttributeError(name)

    def __iter__(self) -> NoReturn:
        raise self._error()

    def __getitem__(self, _: object) -> NoReturn:
        raise self._error()

    def __len__(self) -> NoReturn:
        raise self._error()

    def _repr_html_(self) -> str:
        return html_of_text(str(self))

    def __str__(self) -> str:
        return f"unknown ({self.reason})"

    def __repr__(self) -> str:
        return f"Unknown(reason={self.reason!r})"

    def __reduce__(self) -> tuple[Callable[..., Unknown], tuple[object, ...]]:
        return Unknown, (self.reason,)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an operation finds the value of a runtime variable: an element of an operand.

    ``map`` leads there from the dimensions and ranges of the map that has the variable. If the
    operation clamps the value, ``clamp`` is the interval. If the value is then outside of the
    variable's bounds, the map has no point. ``replica``, a map with one result from the same
    dimensions and ranges, leads to the replica that holds the value, if the map does not start from
    it. Without an ``operand``, the value is the number of the replica that the map starts from.
    """

    operand: int | None
    map: IndexingMap
    clamp: Interval | Ends | None = None
    replica: IndexingMap | None = None

    def __str__(self) -> str:
        source = "asking replica" if self.operand is None else f"operand {self.operand}"
        return f"{source}; {self.map}{replica_note(self.replica)}"


def replica_note(replica: IndexingMap | None) -> str:
    """The text that names the replica of something, if it is not on the one the map starts from."""
    return "" if replica is None else f"; replica id: {format_head(replica)}"


@dataclass(frozen=True, slots=True)
class OpIndexing:
    """The maps of one operation, in both directions.

    ``output_to_input[k]`` leads from an element of the result to the elements of operand ``k``
    that it is computed from; ``input_to_output[k]`` from an element of operand ``k`` to the
    elements of the result that it takes part in. The two are the same relation between
    elements, read from either side. If an operation has several results, such as a variadic reduce,
    each of them has these maps; if they differ, a rule gives an :class:`OpIndexing` for each.

    An unknown map is an :class:`indexing.UndefinedMap`, which says why.

    ``output_sizes`` are the sizes of the result: integers, or expressions over parameters. Where
    sizes have to fit together for the operation to be one, and that depends on parameters, the maps
    have it as a constraint. ``output_origins[k]`` has one origin for each
    runtime variable of ``output_to_input[k]``, and ``output_replicas[k]``, a map with one result
    from the same dimensions and ranges, says which replica holds the element; ``input_origins``
    and ``input_replicas`` say the same of ``input_to_output``. They are empty where no map has
    any.
    """

    output_sizes: tuple[SizeLike, ...]
    output_to_input: tuple[IndexingMap, ...] = ()
    input_to_output: tuple[IndexingMap, ...] = ()
    output_origins: tuple[tuple[Origin, ...], ...] = ()
    input_origins: tuple[tuple[Origin, ...], ...] = ()
    output_replicas: tuple[IndexingMap | None, ...] = ()
    input_replicas: tuple[IndexingMap | None, ...] = ()

    def __post_init__(self) -> None:
        """Sizes over parameters are shown as expressions."""
        if not is_numeric(self.output_sizes):
            object.__setattr__(self, "output_sizes", shown_sizes(self.output_sizes))

    def on_condition(self, conditions: Sequence[Constraint]) -> OpIndexing:
        """All maps where these conditions on parameters hold."""
        return self.apply(lambda each: on_condition(each, conditions)) if conditions else self

    def apply(self, of_map: Callable[[IndexingMap], IndexingMap]) -> OpIndexing:
        """The same with each map changed, those of origins and replicas, too."""

        def of_replica(each: IndexingMap | None) -> IndexingMap | None:
            return None if each is None else of_map(each)

        def of_origin(each: Origin) -> Origin:
            return replace(each, map=of_map(each.map), replica=of_replica(each.replica))

        return OpIndexing(
            self.output_sizes,
            tuple(map(of_map, self.output_to_input)),
            tuple(map(of_map, self.input_to_output)),
            tuple(tuple(map(of_origin, origins)) for origins in self.output_origins),
            tuple(tuple(map(of_origin, origins)) for origins in self.input_origins),
            tuple(map(of_replica, self.output_replicas)),
            tuple(map(of_replica, self.input_replicas)),
        )

    @property
    def reads_operands(self) -> bool:
        """Whether operands hold values of runtime variables."""
        listed = (*self.output_origins, *self.input_origins)
        return any(origin.operand is not None for origins in listed for origin in origins)

    def map_of_operand(self, direction: Direction, number: int) -> MapOfOperand:
        """The map, origins and replica of one operand in one direction."""
        if direction is Direction.OUTPUT_TO_INPUT:
            maps, origins, replicas = (
                self.output_to_input,
                self.output_origins,
                self.output_replicas,
            )
        else:
            maps, origins, replicas = self.input_to_output, self.input_origins, self.input_replicas
        own, replica = origins[number] if origins else (), replicas[number] if replicas else None
        return MapOfOperand(maps[number], own, replica)


_ASKED_OF_MAPS: Final = frozenset(each.name for each in fields(OpIndexing)) | {
    *("map", "replica_id", "element", "approximation")
}


class MapOfOperand(NamedTuple):
    """A map of an :class:`OpIndexing`, with the origins and the replica that belong to it."""

    map: IndexingMap
    origins: tuple[Origin, ...] = ()
    replica: IndexingMap | None = None
