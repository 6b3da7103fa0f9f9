"""What commands ask about a module: about each of its instructions, or each computation's results.

A question is a value, so that it can be sent to another process.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol, TypeAlias, TypeVar

from ops.cli.documents import Entry, Section
from ops.modules.analysis import instructions_named
from ops.rules.op_indexing import Unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ops import InstructionAnalysis, ModuleAnalysis
    from ops.cli.fields import Fields
    from ops.dependence.dependence import AnyDependence
    from ops.hlo import Computation, HloModule, Instruction

Subject = TypeVar("Subject")


class ModuleQuestion(Protocol[Subject]):
    """What to ask about each subject of a module; ``name`` is what documents call them all."""

    name: ClassVar[str]

    def about(self) -> Fields:
        """What documents say of the question."""
        ...

    def subjects(self, module: HloModule) -> Sequence[Subject]:
        """What of a module it asks about.

        Raises:
            NoSuchInstructionError: it asks for something by a name that the module does not have.
        """
        ...

    def answer(self, analysis: ModuleAnalysis, subject: Subject) -> Section:
        """What is answered about one of them.

        Raises:
            HloTextError: shapes and attributes of an instruction do not fit.
        """
        ...


AnyQuestion: TypeAlias = ModuleQuestion[Any]


# Instructions.


@dataclass(frozen=True, slots=True)
class InstructionMaps:
    """The maps of every instruction, or of those with a name, in one direction."""

    name: ClassVar = "instructions"

    instruction: str | None
    direction: str
    physical_layout: bool
    linear_offsets: bool

    def about(self) -> Fields:
        """The direction, and the view."""
        return {"direction": self.direction} | self._view()

    def _view(self) -> dict[str, bool]:
        return {"physical_layout": self.physical_layout, "linear_offsets": self.linear_offsets}

    def subjects(self, module: HloModule) -> Sequence[Instruction]:
        """The instructions."""
        if self.instruction is None:
            return list(module.instructions)
        return instructions_named(module, self.instruction)

    def answer(self, analysis: ModuleAnalysis, subject: Instruction) -> Section:
        """The maps of one instruction."""
        about = {
            "computation": subject.computation.name,
            "instruction": subject.name,
            "opcode": subject.opcode,
            "shape": str(subject.shape),
        }
        entries = DIRECTIONS[self.direction](analysis[subject], **self._view())
        return Section(f"%{subject.name} {subject.opcode}", tuple(entries), about)


def _from_results(asked: InstructionAnalysis, **view: bool) -> Iterator[Entry]:
    instruction = asked.instruction
    for output in _numbers(instruction):
        for number, answer in enumerate(asked.output_to_input(output, **view).indexing):
            operand = instruction.operands[number]
            yield from _entries(instruction, output, "operand", number, operand, answer)


def _from_operands(asked: InstructionAnalysis, **view: bool) -> Iterator[Entry]:
    instruction = asked.instruction
    for number, operand in enumerate(instruction.operands):
        for output, answer in enumerate(asked.input_to_output(number, **view).indexing):
            yield from _entries(instruction, output, "operand", number, operand, answer)


DIRECTIONS: Final[Mapping[str, Callable[..., Iterator[Entry]]]] = {
    "output-to-input": _from_results,
    "input-to-output": _from_operands,
}
"""What ``--direction`` may be, the default first."""


# Computations.

Result: TypeAlias = "tuple[Computation, Instruction | None, int]"
"""A computation, the fusion that calls it if it is not the entry, the number of a result."""


@dataclass(frozen=True, slots=True)
class FusionMaps:
    """The maps from root to parameters: of the entry, and of what each fusion computes."""

    name: ClassVar = "results"

    def about(self) -> Fields:
        """Nothing more."""
        return {}

    def subjects(self, module: HloModule) -> Sequence[Result]:
        """The results of all these computations."""
        fusions = [each for each in module.instructions if each.opcode == "fusion"]
        callers: list[Instruction | None] = [None, *fusions]
        called = [each.attributes["calls"] if each else module.entry for each in callers]
        return [
            (computation, caller, output)
            for computation, caller in zip(called, callers, strict=True)
            for output in _numbers(computation.root)
        ]

    def answer(self, analysis: ModuleAnalysis, subject: Result) -> Section:
        """The maps from one result."""
        computation, caller, output = subject
        about = {
            "computation": computation.name,
            "fusion": caller.name if caller else None,
            "result": output,
        }
        root = computation.root
        found = analysis[root].parameter_indexing(output)
        entries = (
            entry
            for number, parameter in enumerate(computation.parameters)
            for entry in _entries(
                root, output, "parameter", number, parameter, found.get(parameter, ())
            )
        )
        of = f"%{computation.name} of %{caller.name}" if caller else f"ENTRY %{computation.name}"
        return Section(of, tuple(entries), about)


# Shared by both.


def _numbers(instruction: Instruction) -> range:
    """The numbers of the arrays of a result, counted through nested tuples."""
    return range(len(instruction.shape.arrays))


def _entries(
    of: Instruction, output: int, role: str, number: int, source: Instruction, answer: AnyDependence
) -> Iterator[Entry]:
    """The entries of a result and an operand or parameter: one for each array that is needed."""
    if answer == ():
        return
    result = f"result {output}, " if len(_numbers(of)) > 1 else ""
    title = f"{result}{role} {number} %{source.name}"
    about = {"result": output, role: number, "name": source.name}
    if isinstance(answer, Unknown):
        yield Entry(title, answer, about)
        return
    simplified = tuple(dict.fromkeys(way.simplify() for way in answer))
    if not source.shape.is_tuple:
        yield Entry(title, simplified, about)
        return
    for element in dict.fromkeys(way.element for way in simplified):
        ways = tuple(way for way in simplified if way.element == element)
        yield Entry(f"{title} element {element}", ways, about | {"element": element})
