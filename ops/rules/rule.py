"""A rule: the maps of an operation, and how they are read off an instruction."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import chain
from typing import Any, ClassVar, Final, NamedTuple, NoReturn, TypeAlias, TypeVar, cast

from indexing import IndexingMap, UndefinedMap
from indexing.layout import UNBOUNDED_SIZE, Shape, ShapeError
from indexing.passes import Constraint, Ends, format_head
from ops import index_maps
from ops.hlo import Computation, Instruction
from ops.hlo.shape_inference import ShapeRule
from ops.hlo.true_sizes import array_sizes
from ops.index_maps import Size, SizeLike
from simplifier.forms import Interval
from simplifier.tools.display import Displayed, html_of_text

Pair: TypeAlias = "tuple[int, int]"
"""The numbers of an array in the result and of an array in all operands."""

Maps: TypeAlias = "OpIndexing | tuple[OpIndexing, ...] | Mapping[Pair, OpIndexing] | Unknown"
"""One :class:`OpIndexing` for every array of the result; or a tuple with one for each; or one with
a single operand for each pair of arrays that are related; or unknown."""

MapsFunction: TypeAlias = "Callable[[Instruction], Maps]"
"""From an instruction to its maps, one for each array in the operands, in order."""

ValuesFunction: TypeAlias = "Callable[[Instruction], tuple[int | None, ...]]"
"""From an instruction to numbers outside of it that its maps depend on: values of its operands,
``None`` where one is not known; or how many devices run the program."""

Answer = TypeVar("Answer")

Route: TypeAlias = tuple[int, int, int]
"""``(output, operand, element)``: an array of the result is an array of an operand."""


class Routes(tuple[Route, ...]):
    """The arrays that an instruction passes on as they are."""

    __slots__ = ()


RoutesFunction: TypeAlias = "Callable[[Instruction], Iterable[Route]]"
"""From an instruction to the arrays that it passes on as they are."""


@dataclass(frozen=True, slots=True)
class Call:
    """A computation, and the numbers of the operands that are its arguments."""

    computation: Computation
    operands: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Calls:
    """The computations that an instruction runs; its result is the result of one of them.

    The operand ``selector`` chooses among several. With a ``condition``, the only one is the body
    of a loop: its result becomes its argument again while the condition holds. The result of an
    asynchronous start (``is_start``) is a tuple of the operands, the result and contexts.
    """

    choices: tuple[Call, ...]
    selector: int | None = None
    condition: Computation | None = None
    is_start: bool = False

    def first_output(self, instruction: Instruction) -> int:
        """The number of the first array of the result that is a result of the computation."""
        return len([*arrays_in_operands(instruction)]) if self.is_start else 0

    def result_shape(self, instruction: Instruction) -> Shape:
        """The shape of the result of the computation."""
        return instruction.shape.elements[1] if self.is_start else instruction.shape

    @property
    def only_run(self) -> Call | None:
        """The computation if there is one that runs once, whatever values are; else ``None``."""
        is_choice = len(self.choices) != 1 or self.selector is not None
        return None if is_choice or self.condition or self.is_start else self.choices[0]

    @property
    def computations(self) -> tuple[Computation, ...]:
        """All computations, in order."""
        chosen = tuple(call.computation for call in self.choices)
        return (*chosen, self.condition) if self.condition else chosen


CallsFunction: TypeAlias = "Callable[[Instruction], Calls]"
"""From an instruction to the computations that it runs."""


class Doubt(NamedTuple):
    """Doubt about maps: values decide which of their elements are needed, and how.

    All but ``spared`` elements of a result need what the maps say; ``None`` if it may be any.
    """

    reason: str
    spared: int | None = None


DoubtFunction: TypeAlias = "Callable[[Instruction, int, int], Doubt | None]"
"""From an instruction, an array of its result and the number of an operand to a doubt."""


@dataclass(frozen=True, slots=True, eq=False)
class OpRule:
    """The rule of an operation: either ``maps``, or ``routes``, or ``calls``.

    ``maps`` gives the maps of an instruction, ``routes`` the arrays that it passes on as they are,
    ``calls`` the computations that it runs. The maps depend on nothing but attributes, shapes, and
    what ``values`` reads outside: so instructions that are alike in these share their maps, in
    whatever module they are. Maps that may hold more than the operation reads have a ``doubt``.
    What has a window ``is_loop``, also where the window has one place and the maps no range.
    ``shape`` is the rule of the shape of a result that a text leaves out, and of dynamic sizes.
    """

    maps: MapsFunction | None = None
    routes: RoutesFunction | None = None
    calls: CallsFunction | None = None
    values: ValuesFunction | None = None
    doubt: DoubtFunction | None = None
    is_loop: bool = False
    shape: ShapeRule | None = None


def sizes_of(instruction: Instruction) -> tuple[Size, ...]:
    """The sizes of the result, which is an array: numbers, or forms where they are dynamic."""
    shape = instruction.shape
    if not shape.dynamic_dimensions:
        return shape.dimensions
    return cast("tuple[Size, ...]", array_sizes(instruction))  # rules are asked if all are known


def sizes_and_part(
    instruction: Instruction, part: Sequence[SizeLike]
) -> tuple[tuple[Size, ...], tuple[Size, ...]]:
    """The sizes of a tensor, and those of a part of it, which has a start that is clamped.

    A dynamic dimension that is taken whole has its true size in both. Otherwise XLA clamps the
    start to the bound. A part of another rank is for the operation to refuse.
    """
    sizes, bounds = sizes_of(instruction), bounds_of(instruction)
    if len(part) != len(sizes):
        return sizes, tuple(map(index_maps.read_integer, part))
    rows = [*zip(sizes, bounds, map(index_maps.read_integer, part), strict=True)]
    return (
        tuple(size if taken == bound else bound for size, bound, taken in rows),
        tuple(size if taken == bound else taken for size, bound, taken in rows),
    )


def bounds_of(instruction: Instruction) -> tuple[Size, ...]:
    """The bounds of the sizes of an array; the sizes where there is no bound."""
    pairs = zip(instruction.shape.dimensions, sizes_of(instruction), strict=True)
    return tuple(size if bound == UNBOUNDED_SIZE else bound for bound, size in pairs)


def as_large_as(result: Instruction, operand: Instruction) -> Sequence[Size]:
    """Sizes of an operand; one that equals the result's bound becomes the size of the result."""
    if operand.shape.rank != result.shape.rank:
        return sizes_of(operand)
    bounds = result.shape.dimensions
    every = zip(sizes_of(operand), bounds, sizes_of(result), strict=True)
    return [whole if size == bound else size for size, bound, whole in every]


def only_dimension(instruction: Instruction) -> int:
    """The attribute ``dimensions`` of an operation along one dimension."""
    dimensions: tuple[int, ...] = instruction.attributes["dimensions"]
    if len(dimensions) != 1:
        message = f"{instruction.opcode}: there are {len(dimensions)} dimensions; expected 1"
        raise ShapeError(message)
    return dimensions[0]


def arrays_in_operands(instruction: Instruction) -> Iterator[tuple[int, int]]:
    """The arrays in all operands, in order: the number of the operand, and of the array in it."""
    return (
        (number, element)
        for number, operand in enumerate(instruction.operands)
        for element in operand.shape.array_indices
    )


def check_scalars(op: str, operands: Iterable[Instruction]) -> None:
    """Raise a :class:`ShapeError` unless all of these operands are scalars."""
    for operand in operands:
        if operand.shape.rank:
            raise ShapeError(f"{op}: %{operand.name} is {operand.shape}; expected a scalar")


def reading(build: Callable[..., OpIndexing], *attributes: str) -> MapsFunction:
    """The maps that a function makes of the sizes of all operands, and of some attributes."""

    def maps(instruction: Instruction) -> OpIndexing:
        given = instruction.attributes
        named = {name: given[name] for name in attributes if name in given}
        return build(*map(sizes_of, instruction.operands), **named)

    return maps


def folded_inputs(instruction: Instruction) -> tuple[Instruction, ...]:
    """The inputs of a fold, which stand before its initial values.

    Raises:
        ShapeError: the sizes of two inputs differ, an initial value is no scalar, or there is not
            one result for each input.
    """
    op, operands = instruction.opcode, instruction.operands
    inputs = operands[: len(operands) // 2]
    for number, each in enumerate(inputs):
        index_maps.check_sizes(
            op, f"operand {number}", sizes_of(each), sizes_of(inputs[0]), "as in operand 0"
        )
    check_scalars(op, operands[len(inputs) :])
    results = len(instruction.shape.arrays)
    if results != len(inputs):
        raise ShapeError(f"{op}: there are {results} results; expected {len(inputs)}, as inputs")
    return inputs


# The maps of one operation in both directions, or why there are none.


class Direction(enum.Enum):
    """Whether maps lead from results to operands, or back."""

    OUTPUT_TO_INPUT = "output_to_input"
    INPUT_TO_OUTPUT = "input_to_output"


class Unknown(UndefinedMap):
    """Reason why there are no maps between arrays.

    An :class:`indexing.UndefinedMap` takes the place of one map, and prints as in XLA. This one
    takes the place of all maps of an operation (:class:`OpIndexing`), or of all indexings between
    two arrays (:class:`Dependence <ops.dependence.dependence.Dependence>`). It has the methods of a
    dependence, so that those who follow maps need not ask which they have; it absorbs what is
    composed or united with it. Asking for a map that is not known raises a :class:`MapError
    <indexing.MapError>` with the reason, whatever is asked.

    >>> print(Unknown("sort: no indexing map"))
    unknown (sort: no indexing map)
    >>> Unknown("sort: no indexing map").output_to_input
    Traceback (most recent call last):
    indexing.errors.MapError: the map is undefined: sort: no indexing map
    """

    __slots__ = ()

    def simplify(self, *_: object, **__: object) -> Unknown:
        """There is no map that could be simplified, united with others, or held by a known one."""
        return self

    union = minimal = widened = simplify

    def compose(self, producer: object) -> Unknown:  # noqa: ARG002 - nothing is known behind it
        """A composition with an unknown dependence is unknown."""
        return self

    def apply(self, change: Callable[[Any], Any]) -> Unknown:  # noqa: ARG002 # pyright: ignore[reportIncompatibleMethodOverride] - that of a dependence
        """There is no indexing that could be changed."""
        return self

    def only(self, wanted: Callable[[Any], bool]) -> Unknown:  # noqa: ARG002 - as above
        """There is no indexing that could be left out."""
        return self

    def singles(self) -> list[Unknown]:
        """The one answer: there is no map."""
        return [self]

    indexings: ClassVar[tuple[()]] = ()
    """The indexings that are known: none."""

    burden: ClassVar[int] = 0
    """Cost that it adds to a composition: nothing."""

    @property
    def entries(self) -> tuple[Unknown]:
        """The one answer, beside those of a dependence."""
        return (self,)

    def map_of_operand(self, *_: object) -> MapOfOperand:
        """The reason, in the place of a map."""
        return MapOfOperand(self)

    def __getattr__(self, name: str) -> NoReturn:
        """Refuse the attributes that maps of an operation, or an indexing, would have."""
        raise self._error() if name in _ASKED_OF_MAPS else AttributeError(name)

    def _refused(self, *_: object) -> NoReturn:
        raise self._error()

    __iter__ = __getitem__ = __len__ = _refused

    def _repr_html_(self) -> str:
        return html_of_text(str(self))

    def __str__(self) -> str:
        return f"unknown ({self.reason})"

    def __repr__(self) -> str:
        return f"Unknown(reason={self.reason!r})"

    def __reduce__(self) -> tuple[Callable[..., Unknown], tuple[object, ...]]:
        return Unknown, (self.reason,)


def if_known(function: Callable[..., Answer], *parts: object) -> Answer | Unknown:
    """``function(*parts)``; or the first part that is unknown.

    >>> if_known(len, (2, 3)), if_known(max, 2, Unknown("a size of %p"))
    (2, Unknown(reason='a size of %p'))
    """
    unknown = next((each for each in parts if isinstance(each, Unknown)), None)
    return function(*parts) if unknown is None else unknown


def known(answer: Answer | Unknown, error: Callable[[str], Exception]) -> Answer:
    """The answer; if it is unknown, the error of the reason is raised."""
    if isinstance(answer, Unknown):
        raise error(answer.reason)
    return answer


@dataclass(frozen=True, slots=True)
class Origin:
    """Origin of a runtime variable in an operation: an element of an operand.

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


@dataclass(frozen=True, slots=True, repr=False)
class OpIndexing(Displayed):
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
    and ``input_replicas`` say the same of ``input_to_output``. They may be empty where no map has
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
        if not index_maps.is_numeric(self.output_sizes):
            object.__setattr__(self, "output_sizes", index_maps.shown_sizes(self.output_sizes))

    def __str__(self) -> str:
        back = (f"result to operand {k}: {each}" for k, each in enumerate(self.output_to_input))
        forth = (f"operand {k} to result: {each}" for k, each in enumerate(self.input_to_output))
        return "\n".join([*back, *forth]) or "no operands"

    def on_condition(self, conditions: Sequence[Constraint]) -> OpIndexing:
        """All maps where these conditions on parameters hold."""
        if not conditions:
            return self
        return self.apply(lambda each: index_maps.on_condition(each, conditions))

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

    @classmethod
    def between(cls, output_sizes: Iterable[SizeLike], *operands: tuple[Way, Way]) -> OpIndexing:
        """The operation with a pair of maps for each operand: to the operand, and back."""
        there, back = zip(*operands, strict=True) if operands else ((), ())
        rows = zip(_parts_of(there), _parts_of(back), strict=True)
        return cls(tuple(output_sizes), *chain.from_iterable(rows))

    @property
    def reads_operands(self) -> bool:
        """Whether operands hold values of runtime variables."""
        listed = (*self.output_origins, *self.input_origins)
        return any(origin.operand is not None for origins in listed for origin in origins)

    def map_of_operand(self, direction: Direction, number: int) -> MapOfOperand:
        """The map, origins and replica of one operand in one direction."""
        maps, origins, replicas = (
            (self.output_to_input, self.output_origins, self.output_replicas)
            if direction is Direction.OUTPUT_TO_INPUT
            else (self.input_to_output, self.input_origins, self.input_replicas)
        )
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


Way: TypeAlias = "IndexingMap | MapOfOperand"
"""A map between the result and an operand in one direction, with what belongs to it."""


def _parts_of(ways: Iterable[Way]) -> tuple[tuple[Any, ...], ...]:
    """The maps in one direction, their origins and replicas: these are empty for maps alone."""
    ways = [*ways]
    if not any(isinstance(each, MapOfOperand) for each in ways):
        return tuple(ways), (), ()
    every = (each if isinstance(each, MapOfOperand) else MapOfOperand(each) for each in ways)
    return tuple(zip(*every, strict=True))
