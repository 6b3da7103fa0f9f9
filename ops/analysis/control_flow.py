"""Arrays that computations lead to: chosen among several, or made round by round in a loop."""

from __future__ import annotations

import enum
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from ops.analysis.answers import Answer, OperandIndexing
from ops.analysis.chaining import followed
from ops.analysis.dependences import dependence_of, devices_in
from ops.analysis.loops import Rounds
from ops.analysis.patterns import identity_of
from ops.index_maps import every_element, no_dimensions
from ops.rules.op_indexing import Unknown

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from indexing.layout import Shape
    from ops.hlo import Computation, Instruction
    from ops.rules.registry import Registry


class Direction(enum.Enum):
    """Whether maps lead from results to operands or back."""

    OUTPUT_TO_INPUT = "output_to_input"
    INPUT_TO_OUTPUT = "input_to_output"


class Link(NamedTuple):
    """How array ``output`` of a result and array ``element`` of an operand depend on each other."""

    output: int
    operand: int
    element: int
    answer: Answer

    def ends(self, direction: Direction) -> tuple[int, int]:
        """The numbers of the arrays where the maps begin and where they lead."""
        if direction is Direction.OUTPUT_TO_INPUT:
            return self.output, self.element
        return self.element, self.output


def selected(arrays: Sequence[Shape], selector: int, direction: Direction) -> list[Link]:
    """The links to the scalar operand that chooses where these arrays come from."""
    return [
        Link(output, selector, 0, decided(array, direction)) for output, array in enumerate(arrays)
    ]


def repeated(
    body: Iterable[Link],
    condition: Iterable[Link],
    arrays: Sequence[Shape],
    kept: Collection[int],
    direction: Direction,
) -> list[Link]:
    """The links between the arrays of a loop's state before and after any number of rounds.

    ``body`` links the state after a round with that before it, ``condition`` the decision that
    there is another round with the state. The arrays that every round ``kept`` are linked with
    themselves alone; all others depend on how many rounds there are, and so on the decision. A
    runtime variable of a round has another value in each of them, so it becomes a range here,
    except for the number of the device that asks.
    """
    steps = [link for link in body if link.output not in kept]
    decisions = [
        Link(changed, 0, link.element, _through_decision(link.answer, arrays[changed], direction))
        for changed in range(len(arrays))
        if changed not in kept
        for link in condition
    ]
    edges: dict[int, list[tuple[int, Answer]]] = defaultdict(list)
    for link in (*steps, *decisions):
        begin, end = link.ends(direction)
        edges[begin].append((end, _in_any_round(link.answer)))
    rounds = Rounds(arrays, edges)
    return [
        Link(*((begin, 0, end) if direction is Direction.OUTPUT_TO_INPUT else (end, 0, begin)), way)
        for begin in range(len(arrays))
        for end, way in rounds.reached(begin).items()
    ]


def kept_arrays(body: Computation, registry: Registry) -> frozenset[int]:
    """The numbers of the arrays in the parameter of a body that it passes on as they are."""
    numbers = range(len(body.root.shape.arrays))
    start = body.parameters[0]
    return frozenset(
        number for number in numbers if _passed_to(body.root, number, registry) == (start, number)
    )


def _passed_to(
    instruction: Instruction, number: int, registry: Registry
) -> tuple[Instruction, int]:
    """The array of another instruction that is passed on, through any number of them, as this."""
    while (routes := registry.routes(instruction)) is not None:
        found = [route for route in routes if route[0] == number]
        if not found:
            break
        _, operand, number = found[0]
        instruction = instruction.operands[operand]
    return instruction, number


def decided(array: Shape, direction: Direction) -> Answer:
    """The maps between all elements of an array and a scalar that decides what they are."""
    if array.is_unbounded:
        return identity_of(array)
    between = no_dimensions if direction is Direction.OUTPUT_TO_INPUT else every_element
    return (OperandIndexing(between(array.dimensions)),)


def _through_decision(answer: Answer, array: Shape, direction: Direction) -> Answer:
    """The maps between an array and what the decision reads."""
    steps = (decided(array, direction), answer)
    return followed(*(steps if direction is Direction.OUTPUT_TO_INPUT else steps[::-1]))


def _in_any_round(answer: Answer) -> Answer:
    if isinstance(answer, Unknown):
        return answer
    return tuple(_for_any_values(way) if way.runtime else way for way in answer)


def _for_any_values(way: OperandIndexing) -> OperandIndexing:
    whole = dependence_of(way, devices_in(way))
    return whole.for_any_values().simplified(way.element)
