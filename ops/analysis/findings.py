"""Answers about the instructions of a module; equal instructions share one answer."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from indexing import IndexingMap, MapError
from indexing.layout import ShapeError, logical_to_linear, logical_to_tiled, tiled_to_logical
from ops import limits
from ops.analysis.calls import DataFlow, check_operand, check_output
from ops.analysis.value_numbering import ValueNumbering
from ops.dependence.dependence import NOTHING, Unknown, of_element
from ops.dependence.operand_indexing import OperandIndexing
from ops.rules.op_indexing import Direction
from simplifier.errors import INTEGER, check_type, listed, quoted
from simplifier.tools.display import Displayed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from indexing.layout import Shape
    from ops.dependence.dependence import AnyDependence
    from ops.dependence.operand_indexing import RuntimeOrigin
    from ops.hlo import HloModule, Instruction
    from ops.rules.registry import Registry


@lru_cache(maxsize=limits.MAX_REMEMBERED_MODULES)
def findings_in(_: HloModule, registry: Registry) -> Findings:
    """The answers about a module, kept for the next question about it."""
    return Findings(registry)


def flow_in(module: HloModule, direction: Direction, registry: Registry) -> DataFlow:
    """The data flow of a module in one direction, kept with the answers."""
    return findings_in(module, registry).flow(direction)


class Addressing(NamedTuple):
    """How an answer names elements: by index, by the tiled dimensions, or by the offset.

    ``physical_layout`` holds for both ends of every map. ``linear_offsets`` holds for the far end
    alone, where it goes first.
    """

    physical_layout: bool = False
    linear_offsets: bool = False

    def of(self, dependence: AnyDependence, source: Shape, target: Shape) -> AnyDependence:
        """A dependence between two arrays; unknown if a layout has no places for elements."""
        if self == Addressing() or not dependence.indexings:
            return dependence
        try:
            begin, end = self._near_end(source), self._far_end(target)
            return dependence.apply(
                lambda indexing: self._with_origins(begin.compose(indexing).compose(end))
            )
        except ShapeError as error:
            return Unknown(str(error))

    def _near_end(self, shape: Shape) -> OperandIndexing:
        is_tiled = self.physical_layout and shape.is_array
        identity = IndexingMap.identity(shape.dimensions)
        return OperandIndexing(tiled_to_logical(shape) if is_tiled else identity)

    def _far_end(self, shape: Shape) -> OperandIndexing:
        if not shape.is_array:
            return OperandIndexing(IndexingMap.identity(()))  # a token is nowhere
        place_of = logical_to_linear if self.linear_offsets else logical_to_tiled
        return OperandIndexing(place_of(shape))

    def _with_origins(self, indexing: OperandIndexing) -> OperandIndexing:
        return replace(indexing, runtime=tuple(map(self._origin, indexing.runtime)))

    def _origin(self, origin: RuntimeOrigin) -> RuntimeOrigin:
        end = self._far_end(origin.instruction.shape).map
        return replace(origin, map=origin.map.compose(end).simplify(preserve_ranges=True))


@dataclass(frozen=True, slots=True, repr=False)
class InstructionIndexing(Displayed):
    """The answers for one instruction: for each operand, or for each array of its result.

    ``operands`` are the names of the operands, if the answers are about these.
    """

    indexing: tuple[AnyDependence, ...]
    operands: tuple[str, ...] = field(default=(), compare=False, repr=False)

    def map(self, number: int | str = 0) -> IndexingMap:
        """The only map to the operand, or to the array of the result, with a number.

        An operand may also be given by its name.

        Raises:
            MapError: the map is unknown; the message says why. Or there is another number of maps.

        >>> from ops import hlo, output_to_input
        >>> module = hlo.parse('ENTRY e { a = f32[2,3] parameter(0) ROOT b = f32[6] reshape(a) }')
        >>> print(output_to_input(module["b"]).map("a"))
        (d0) -> (d0 floordiv 3, d0 mod 3), domain: d0 in [0, 5]
        """
        number = self._number_of(number) if isinstance(number, str) else number
        check_type(number, INTEGER, "map: the number", "an integer, or the name of an operand")
        count = len(self.indexing)
        if not 0 <= number < count:
            known = f"expected one from 0 to {count - 1}" if count else "there are no maps"
            raise MapError(f"map: the number is {number}; {known}")
        found = self.indexing[number]
        if isinstance(found, Unknown):
            raise MapError(f"map: {found.reason}")
        if len(found.indexings) != 1:
            count = len(found.indexings)
            raise MapError(f"map: {count} maps lead to number {number}; see indexing")
        return found.indexings[0].map

    def _number_of(self, name: str) -> int:
        numbers = [n for n, each in enumerate(self.operands) if each == name.removeprefix("%")]
        if len(numbers) == 1:
            return numbers[0]
        if numbers:
            places = listed([*map(str, numbers)])
            raise MapError(f"map: {quoted(name)} is operand {places}; expected one of the numbers")
        known = f"expected {listed(self.operands)}" if self.operands else "expected a number"
        raise MapError(f"map: no operand is called {quoted(name)}; {known}")

    def of(self, instruction: Instruction) -> InstructionIndexing:
        """The same answers, about the operands of this one of the instructions that share them."""
        return replace(self, operands=tuple(each.name for each in instruction.operands))

    def __str__(self) -> str:
        return "\n".join(
            line for title, answer in self._titled() for line in (title, *_lines(answer))
        )

    def _repr_html_(self) -> str:
        return "".join(
            f"<p>{escape(title)}</p>{answer._repr_html_() or 'nothing'}"
            for title, answer in self._titled()
        )

    def _titled(self) -> Iterator[tuple[str, AnyDependence]]:
        for number, answer in enumerate(self.indexing):
            name = f" %{self.operands[number]}" if self.operands else ""
            yield f"{number}{name}:", answer

    def __reduce__(self) -> tuple[Callable[..., InstructionIndexing], tuple[object, ...]]:
        """Pickle what is needed alone: each result of a wide tuple depends on few operands."""
        needed = {number: each for number, each in enumerate(self.indexing) if each != NOTHING}
        return _indexing_of, (len(self.indexing), needed, self.operands)


def _lines(answer: AnyDependence) -> list[str]:
    texts = [str(answer)] if isinstance(answer, Unknown) else [str(each) for each in answer]
    return [f"  {line}" for text in texts or ["nothing"] for line in text.splitlines()]


def _indexing_of(
    count: int, needed: Mapping[int, AnyDependence], operands: tuple[str, ...]
) -> InstructionIndexing:
    found = tuple(needed.get(number, NOTHING) for number in range(count))
    return InstructionIndexing(found, operands)


class Question(NamedTuple):
    """Which elements an array of the result needs, or elements of an operand take part in."""

    direction: Direction
    number: int
    addressing: Addressing


class Finding(NamedTuple):
    """An answer, and the position in the module of an instruction that it is about."""

    position: int
    question: Question
    answer: InstructionIndexing


class Findings:
    """Answers questions about the instructions of one module, and remembers the answers."""

    def __init__(self, registry: Registry) -> None:
        self._numbering = ValueNumbering(registry)
        self._flows = {each: DataFlow(each, registry, self._numbering) for each in Direction}
        self._answers: dict[tuple[int, Question], InstructionIndexing] = {}

    def flow(self, direction: Direction) -> DataFlow:
        """The data flow in one direction."""
        return self._flows[direction]

    def number(self, instruction: Instruction) -> int:
        """A number that an instruction shares with those that are like it."""
        return self._numbering.number(instruction)

    def answer(self, instruction: Instruction, question: Question) -> InstructionIndexing:
        """What an instruction's result or operand depends on.

        Raises:
            ShapeError: there is no such result or operand.
            HloTextError: what a rule of the user answers does not fit an instruction.
        """
        key = self.number(instruction), question
        found = self._answers.get(key)
        if found is None:
            found = self._answers[key] = self._found(instruction, question)
        return found

    def collected(self, module: HloModule) -> list[Finding]:
        """All answers, each once, equal parts of them as one object."""
        answers = self._answers.copy()  # at once: others may be asking
        positions: dict[int, int] = {}
        for position, instruction in enumerate(module.instructions):
            if self._numbering.has_number(instruction):
                positions.setdefault(self.number(instruction), position)
        same: dict[object, Any] = {}

        def merged(indexing: InstructionIndexing) -> InstructionIndexing:
            return InstructionIndexing(
                tuple(same.setdefault(each, each) for each in indexing.indexing)
            )

        return [
            Finding(positions[number], same.setdefault(question, question), merged(answer))
            for (number, question), answer in answers.items()
        ]

    def learn(self, module: HloModule, found: Iterable[Finding]) -> None:
        """Take over answers that were collected from a module with the same text."""
        instructions = [*module.instructions]
        for position, question, answer in found:
            self._answers.setdefault((self.number(instructions[position]), question), answer)

    def _found(self, instruction: Instruction, question: Question) -> InstructionIndexing:
        direction, number, addressing = question
        is_backward = direction is Direction.OUTPUT_TO_INPUT
        (check_output if is_backward else check_operand)(instruction, number)
        found: dict[int, list[AnyDependence]] = {}
        for link in self._flows[direction].links_from(instruction, number):
            result = instruction.shape.arrays[link.output]
            operand = instruction.operands[link.operand].shape.arrays[link.element]
            shapes = (result, operand) if is_backward else (operand, result)
            seen = of_element(addressing.of(link.dependence, *shapes), link.element)
            found.setdefault(link.operand if is_backward else link.output, []).append(seen)
        far_ends = instruction.operands if is_backward else instruction.shape.arrays
        answers: list[AnyDependence] = [NOTHING] * len(far_ends)
        for position, several in found.items():
            answers[position] = NOTHING.union(*several)
        return InstructionIndexing(tuple(answers))
