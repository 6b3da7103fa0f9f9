"""What was found out about the instructions of a module: kept once for all that are alike."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ops.analysis.answers import Answer, InstructionIndexing, of_element
from ops.analysis.chaining import joined
from ops.analysis.control_flow import Direction
from ops.analysis.paths import Paths, check_operand, check_output
from ops.analysis.value_numbering import Likeness

if TYPE_CHECKING:
    from collections.abc import Iterable

    from indexing.layout import Shape
    from ops.analysis.control_flow import Link
    from ops.analysis.physical import View
    from ops.hlo import HloModule, Instruction
    from ops.rules.registry import Registry

_REMEMBERED: Final = 4
"""How many modules are remembered with what was found out about them."""


@lru_cache(maxsize=_REMEMBERED)
def findings_in(_: HloModule, registry: Registry) -> Findings:
    """What was found out about a module; it is kept for the next question about it."""
    return Findings(registry)


def paths_in(module: HloModule, direction: Direction, registry: Registry) -> Paths:
    """The paths in a module, with what was found out about them."""
    return findings_in(module, registry).paths(direction)


class Question(NamedTuple):
    """Which elements an array of the result needs, or elements of an operand take part in."""

    direction: Direction
    number: int
    view: View


class Finding(NamedTuple):
    """An answer, and the place in the module of an instruction that it is about."""

    place: int
    question: Question
    answer: InstructionIndexing


class Findings:
    """Answers questions about the instructions of one module, and remembers what it found."""

    def __init__(self, registry: Registry) -> None:
        self._likeness = Likeness(registry)
        self._paths = {each: Paths(each, registry, self._likeness) for each in Direction}
        self._answers: dict[tuple[int, Question], InstructionIndexing] = {}

    def paths(self, direction: Direction) -> Paths:
        """The paths in one direction."""
        return self._paths[direction]

    def number(self, instruction: Instruction) -> int:
        """A number that an instruction shares with those that are like it."""
        return self._likeness.number(instruction)

    def answer(self, instruction: Instruction, question: Question) -> InstructionIndexing:
        """What an instruction's result or operand depends on.

        Raises:
            ShapeError: there is no such result or operand.
            HloTextError: shapes and attributes of an instruction do not fit.
        """
        key = self.number(instruction), question
        found = self._answers.get(key)
        if found is None:
            found = self._answers[key] = self._found(instruction, question)
        return found

    def collected(self, module: HloModule) -> list[Finding]:
        """All answers, each once, equal parts of them as one object."""
        answers = [*self._answers.items()]  # others may be asking at the same time
        places: dict[int, int] = {}
        for place, instruction in enumerate(module.instructions):
            if self._likeness.has_number(instruction):
                places.setdefault(self.number(instruction), place)
        same: dict[object, Any] = {}

        def merged(indexing: InstructionIndexing) -> InstructionIndexing:
            return InstructionIndexing(
                tuple(same.setdefault(each, each) for each in indexing.indexing)
            )

        return [
            Finding(places[number], same.setdefault(question, question), merged(answer))
            for (number, question), answer in answers
        ]

    def learn(self, module: HloModule, found: Iterable[Finding]) -> None:
        """Take over answers that were collected from a module with the same text."""
        instructions = [*module.instructions]
        for place, question, answer in found:
            self._answers.setdefault((self.number(instructions[place]), question), answer)

    def _found(self, instruction: Instruction, question: Question) -> InstructionIndexing:
        direction, number, view = question
        is_backward = direction is Direction.OUTPUT_TO_INPUT
        (check_output if is_backward else check_operand)(instruction, number)
        found: dict[int, list[Answer]] = {}
        for link in self._paths[direction].links_from(instruction, number):
            result, operand = _shapes(instruction, link)
            shapes = (result, operand) if is_backward else (operand, result)
            answer = of_element(view.of(link.answer, *shapes), link.element)
            found.setdefault(link.operand if is_backward else link.output, []).append(answer)
        far_ends = instruction.operands if is_backward else instruction.shape.arrays
        answers: list[Answer] = [()] * len(far_ends)
        for place, several in found.items():
            answers[place] = joined(*several)
        return InstructionIndexing(tuple(answers))


def _shapes(instruction: Instruction, link: Link) -> tuple[Shape, Shape]:
    """The shape of the result, and of the operand."""
    operand = instruction.operands[link.operand]
    return instruction.shape.arrays[link.output], operand.shape.arrays[link.element]
