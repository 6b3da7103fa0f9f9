"""Questions about modules whose answers are maps: of instructions, and of fusions."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Final, TypeAlias

from ops import hlo
from ops.analysis.findings import Addressing
from ops.analysis.queries import slice_from
from ops.cli.reports import Entry, Section, fields_of_instruction
from ops.dependence.dependence import NOTHING, Dependence, Unknown, of_element
from ops.rules.op_indexing import Direction

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from ops import InstructionAnalysis, ModuleAnalysis
    from ops.cli.documents import Fields
    from ops.cli.selection import Selection
    from ops.dependence.dependence import AnyDependence
    from ops.hlo import Computation, HloModule, Instruction


@dataclass(frozen=True, slots=True)
class View:
    """How maps lead: in which direction, and between which names of elements."""

    direction: str
    physical_layout: bool
    linear_offsets: bool

    @property
    def is_back(self) -> bool:
        """Whether maps lead from operands to results."""
        return self.direction != next(iter(DIRECTIONS))

    @property
    def addressing(self) -> Addressing:
        """How elements are named."""
        return Addressing(self.physical_layout, self.linear_offsets)


# Instructions.


@dataclass(frozen=True, slots=True)
class InstructionMaps:
    """The maps of the instructions that are selected, in one direction."""

    name: ClassVar = "instructions"

    selection: Selection
    view: View
    long: bool
    """Whether each bound has a line of its own."""

    def about(self) -> Fields:
        """The view."""
        return asdict(self.view)

    def subjects(self, module: HloModule) -> Sequence[Instruction]:
        """The instructions."""
        return self.selection.of(module)

    def answer(self, analysis: ModuleAnalysis, subject: Instruction) -> Section:
        """The maps of one instruction."""
        about = fields_of_instruction(subject)
        pairs = DIRECTIONS[self.view.direction](analysis[subject], self.view.addressing)
        entries = tuple(
            entry for pair in pairs if self.selection.is_read(pair.source) for entry in _split(pair)
        )
        origins = _section_origins(entries, subject.computation.module)
        title = f"%{subject.name} {subject.opcode}"
        return Section(title, "", subject, None, entries, about, origins, self.long)


def _from_results(asked: InstructionAnalysis, addressing: Addressing) -> Iterator[Entry]:
    instruction = asked.instruction
    for output in instruction.shape.array_indices:
        answers = asked.output_to_input(output, **addressing._asdict()).indexing
        for number, answer in enumerate(answers):
            yield _of_operand(instruction, output, number, answer, addressing, is_back=False)


def _from_operands(asked: InstructionAnalysis, addressing: Addressing) -> Iterator[Entry]:
    instruction = asked.instruction
    for number in range(len(instruction.operands)):
        answers = asked.input_to_output(number, **addressing._asdict()).indexing
        for output, answer in enumerate(answers):
            yield _of_operand(instruction, output, number, answer, addressing, is_back=True)


def _of_operand(
    of: Instruction,
    output: int,
    number: int,
    answer: AnyDependence,
    addressing: Addressing,
    *,
    is_back: bool,
) -> Entry:
    is_whole = addressing == Addressing()
    simplified = answer.simplify()
    return Entry(of, output, "operand", number, simplified, is_back=is_back, is_whole=is_whole)


DIRECTIONS: Final[Mapping[str, Callable[..., Iterator[Entry]]]] = {
    "output-to-input": _from_results,
    "input-to-output": _from_operands,
}
"""The values of ``--direction``, the default first."""


# Computations.

Result: TypeAlias = "tuple[Computation, Instruction | None, int]"
"""A computation, the fusion that calls it if it is not the entry, the number of a result."""


@dataclass(frozen=True, slots=True)
class FusionMaps:
    """The maps from root to parameters: of the entry, and of what each fusion computes."""

    name: ClassVar = "results"
    selection: Selection
    view: View
    minimal: bool
    """Whether a map is left out that another map to the same array contains."""
    long: bool
    """Whether each bound has a line of its own."""

    def about(self) -> Fields:
        """How the maps are given."""
        return {"minimal": self.minimal} | asdict(self.view)

    def subjects(self, module: HloModule) -> Sequence[Result]:
        """The results of all these computations."""
        self.selection.check(module)
        fusions = (each for each in module.instructions if each.opcode == "fusion")
        callers: list[Instruction | None] = [*filter(self.selection.has, fusions)]
        if self.selection.is_everything:
            callers.insert(0, None)
        called = [each.attributes["calls"] if each else module.entry for each in callers]
        return [
            (computation, caller, output)
            for computation, caller in zip(called, callers, strict=True)
            for output in computation.root.shape.array_indices
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
        entries = tuple(self._entries(analysis, subject))
        origins = _section_origins(entries, root.computation.module)
        of = f"%{computation.name} of %{caller.name}" if caller else f"ENTRY %{computation.name}"
        place = "" if caller else f"{of}, "
        return Section(of, place, caller or root, output, entries, about, origins, self.long)

    def _entries(self, analysis: ModuleAnalysis, subject: Result) -> Iterator[Entry]:
        """The maps between a result and each parameter that is meant."""
        computation, caller, output = subject
        root = computation.root
        find = _to_result if self.view.is_back else _to_parameters
        for parameter, found in find(analysis, computation, output).items():
            number = parameter.parameter_number or 0
            outer = caller.operands[number] if caller else parameter
            if self.selection.is_read(parameter, outer):
                given = found.simplify().minimal() if self.minimal else found
                entry = Entry(
                    root,
                    output,
                    "parameter",
                    number,
                    given.simplify(),
                    caller=caller,
                    is_back=self.view.is_back,
                    is_whole=self.view.addressing == Addressing(),
                )
                yield from map(self._seen, _split(entry))

    def _seen(self, entry: Entry) -> Entry:
        """The maps between the names of elements that are asked for."""
        result = entry.of.shape.arrays[entry.output]
        parameter = entry.source.shape.arrays[entry.element or 0]
        ends = (parameter, result) if self.view.is_back else (result, parameter)
        addressing = self.view.addressing
        answer = of_element(addressing.of(entry.answer, *ends), entry.element or 0)
        return entry if answer is entry.answer else replace(entry, answer=answer)


def _to_parameters(
    analysis: ModuleAnalysis, computation: Computation, output: int
) -> dict[Instruction, AnyDependence]:
    """Which elements of each parameter an element of a result needs."""
    found = analysis[computation.root].parameter_indexing(output)
    return {each: found[each] for each in computation.parameters if each in found}


def _to_result(
    analysis: ModuleAnalysis, computation: Computation, output: int
) -> dict[Instruction, AnyDependence]:
    """Which elements of a result each element of a parameter takes part in."""
    flow = analysis.findings.flow(Direction.INPUT_TO_OUTPUT)
    found: dict[Instruction, AnyDependence] = {}
    for parameter in computation.parameters:
        for element in parameter.shape.array_indices:
            reached = slice_from(flow, parameter, element).get(computation.root, NOTHING)
            if not isinstance(reached, Unknown):
                reached = Dependence(each for each in reached if each.element == output)
            found[parameter] = found.get(parameter, NOTHING).union(of_element(reached, element))
    return {parameter: each for parameter, each in found.items() if each != NOTHING}


# Entries.


def _section_origins(entries: Iterable[Entry], module: HloModule) -> Mapping[str, hlo.SizeOrigin]:
    """Where the parameters in the maps come from."""
    used = sorted({name for entry in entries for name in entry.parameters})
    if not used:
        return {}
    known = hlo.size_origins(module)
    return {name: known[name] for name in used if name in known}


def _split(whole: Entry) -> Iterator[Entry]:
    """The entries of a result and an operand: one for each array that is needed."""
    if not whole.source.shape.is_tuple or not whole.answer.indexings:
        if whole.answer != NOTHING:
            yield whole
        return
    for element in dict.fromkeys(indexing.element for indexing in whole.answer.indexings):
        of_element = (each for each in whole.answer.indexings if each.element == element)
        yield replace(whole, answer=Dependence(of_element), element=element)
