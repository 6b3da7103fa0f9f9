"""A rule answers for an operation: what it is made of, and what rules read off instructions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from indexing.layout import ShapeError
from ops.index_maps import check_sizes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from indexing.layout import Shape
    from ops.hlo import Computation, Instruction
    from ops.rules.op_indexing import OpIndexing, Unknown


Pair: TypeAlias = "tuple[int, int]"
"""The number of an array in the result, and of one in the operands, counted through all of them."""

Maps: TypeAlias = "OpIndexing | tuple[OpIndexing, ...] | Mapping[Pair, OpIndexing] | Unknown"
"""The maps of all arrays of a result, where they are the same; or of each of them; or of each
pair of which one depends on the other, with the pair's one operand; or none."""

Builder: TypeAlias = "Callable[[Instruction], Maps]"
"""From an instruction to its maps. They are listed for every array in the operands, in order.

What the library's builders make holds for all instructions that are alike: they look at attributes
and shapes, and at values of operands only where a table of :data:`Values` says so."""

Values: TypeAlias = "Callable[[Instruction], tuple[int | None, ...]]"
"""From an instruction to the values of its operands that are known, if its maps depend on them."""

Route: TypeAlias = tuple[int, int, int]
"""``(output, operand, element)``: an array of the result is an array of an operand."""


class Routes(tuple[Route, ...]):
    """The arrays that an instruction passes on as they are."""

    __slots__ = ()


Router: TypeAlias = "Callable[[Instruction], Iterable[Route]]"
"""From an instruction to the arrays that it passes on as they are."""


@dataclass(frozen=True, slots=True)
class Call:
    """A computation, and the numbers of the operands that are its arguments."""

    computation: Computation
    operands: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Calls:
    """The computations that an instruction runs; its result is that of one of them.

    The element of the operand ``selector`` chooses among several. While ``condition`` holds for
    it, the result of the only one becomes its argument again; at first it is the operand itself.
    The result of an asynchronous start holds a tuple of the operands before that of the
    computation, and contexts behind it.
    """

    choices: tuple[Call, ...]
    selector: int | None = None
    condition: Computation | None = None
    is_start: bool = False

    def first_output(self, instruction: Instruction) -> int:
        """The number of the array of the result that is the first one of the computation."""
        return len([*arrays_in_operands(instruction)]) if self.is_start else 0

    def result_shape(self, instruction: Instruction) -> Shape:
        """The shape of what is the result of a computation."""
        return instruction.shape.elements[1] if self.is_start else instruction.shape

    @property
    def computations(self) -> tuple[Computation, ...]:
        """All of them, in order."""
        chosen = tuple(call.computation for call in self.choices)
        return (*chosen, self.condition) if self.condition else chosen


Caller: TypeAlias = "Callable[[Instruction], Calls]"
"""From an instruction to the computations that it runs."""


@dataclass(frozen=True, slots=True, eq=False)
class OpRule:
    """What answers for an operation. It has ``maps``, or ``routes``, or ``calls``.

    ``maps`` makes the maps of an instruction. ``routes`` says which arrays an instruction passes on
    as they are. ``calls`` says which computations it runs. ``values`` reads the values of operands
    that the maps depend on; without it, they depend on attributes and shapes alone.
    """

    maps: Builder | None = None
    routes: Router | None = None
    calls: Caller | None = None
    values: Values | None = None


def sizes_of(instruction: Instruction) -> tuple[int, ...]:
    """The sizes of the result, which is an array."""
    return instruction.shape.dimensions


def only_dimension(instruction: Instruction) -> int:
    """The attribute ``dimensions`` of what works along one dimension."""
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
    """What a fold takes before the initial values: inputs of one shape, as many as results.

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
