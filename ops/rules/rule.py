"""A rule: what the maps of an operation are, and how they are read off an instruction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast

from indexing.layout import UNBOUNDED_SIZE, ShapeError
from ops.hlo.true_sizes import array_sizes
from ops.index_maps import check_sizes
from ops.sizes import read_integer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from indexing.layout import Shape
    from ops.hlo import Computation, Instruction
    from ops.rules.op_indexing import OpIndexing, Unknown
    from ops.sizes import Size, SizeLike


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
    def computations(self) -> tuple[Computation, ...]:
        """All computations, in order."""
        chosen = tuple(call.computation for call in self.choices)
        return (*chosen, self.condition) if self.condition else chosen


CallsFunction: TypeAlias = "Callable[[Instruction], Calls]"
"""From an instruction to the computations that it runs."""


class Doubt(NamedTuple):
    """That values decide which of the elements that maps lead to are needed, and how.

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
    """

    maps: MapsFunction | None = None
    routes: RoutesFunction | None = None
    calls: CallsFunction | None = None
    values: ValuesFunction | None = None
    doubt: DoubtFunction | None = None
    is_loop: bool = False


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
        return sizes, tuple(map(read_integer, part))
    rows = [*zip(sizes, bounds, map(read_integer, part), strict=True)]
    return (
        tuple(size if taken == bound else bound for size, bound, taken in rows),
        tuple(size if taken == bound else taken for size, bound, taken in rows),
    )


def bounds_of(instruction: Instruction) -> tuple[Size, ...]:
    """The bounds of the sizes of an array; the sizes where there is no bound."""
    pairs = zip(instruction.shape.dimensions, sizes_of(instruction), strict=True)
    return tuple(size if bound == UNBOUNDED_SIZE else bound for bound, size in pairs)


def as_large_as(result: Instruction, operand: Instruction) -> Sequence[Size]:
    """The sizes of an operand; a static one that is the bound in the result is read in part."""
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


def folded_inputs(instruction: Instruction) -> tuple[Instruction, ...]:
    """The inputs of a fold, which stand before its initial values.

    Raises:
        ShapeError: the sizes of two inputs differ, an initial value is no scalar, or there is not
            one result for each input.
    """
    op, operands = instruction.opcode, instruction.operands
    inputs = operands[: len(operands) // 2]
    for number, each in enumerate(inputs):
        check_sizes(op, f"operand {number}", sizes_of(each), sizes_of(inputs[0]), "as in operand 0")
    check_scalars(op, operands[len(inputs) :])
    results = len(instruction.shape.arrays)
    if results != len(inputs):
        raise ShapeError(f"{op}: there are {results} results; expected {len(inputs)}, as inputs")
    return inputs
