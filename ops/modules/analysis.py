"""A module and the answers about its instructions: :func:`analyze`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from html import escape
from itertools import islice
from typing import Final

from ops.analysis.calls import operand_number
from ops.analysis.queries import (
    Addressing,
    Finding,
    Findings,
    InstructionIndexing,
    Question,
    parameters_from,
    slice_from,
)
from ops.dependence.dependence import AnyDependence
from ops.hlo import HloModule, Instruction
from ops.hlo.errors import NoSuchInstructionError
from ops.hlo.opcodes import near_names
from ops.rules.registry import REGISTRY, Registry, check_registry
from ops.rules.rule import Direction
from simplifier.errors import check_type
from simplifier.tools.display import MAX_ROWS, html_of_table


def analyze(module: HloModule, *, registry: Registry = REGISTRY) -> ModuleAnalysis:
    """The analysis of a module, which computes every answer when it is asked for.

    ``registry`` holds the rules of operations; the default has those of the library.

    >>> from ops import hlo
    >>> analysis = analyze(hlo.parse('''HloModule m
    ... ENTRY e {
    ...   p = f32[4,8] parameter(0)
    ...   ROOT r = f32[32] reshape(p)
    ... }'''))
    >>> analysis
    <analysis of 2 instructions of m>
    >>> ((indexing,),) = analysis["r"].output_to_input().indexing
    >>> print(indexing)
    (d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]
    """
    check_type(module, HloModule, "analyze: the module", "an HloModule, such as that of hlo.parse")
    check_registry("analyze", registry)
    return ModuleAnalysis(module, registry)


class ModuleAnalysis:
    """A module and the answers about its instructions; it never changes.

    Iterating gives the :class:`InstructionAnalysis` of every instruction in order;
    ``analysis[instruction]`` and ``analysis["%name"]`` give one. Answers are kept and shared
    between instructions.
    """

    __slots__ = ("_findings", "_module", "_registry")

    def __init__(self, module: HloModule, registry: Registry = REGISTRY) -> None:
        self._module = module
        self._registry = registry
        self._findings = Findings(registry)

    @property
    def module(self) -> HloModule:
        """The module."""
        return self._module

    @property
    def registry(self) -> Registry:
        """The rules of operations."""
        return self._registry

    @property
    def findings(self) -> Findings:
        """The answers so far."""
        return self._findings

    def __len__(self) -> int:
        return sum(len(computation.instructions) for computation in self._module.computations)

    def __iter__(self) -> Iterator[InstructionAnalysis]:
        return (InstructionAnalysis(self, each) for each in self._module.instructions)

    def __getitem__(self, which: Instruction | str) -> InstructionAnalysis:
        """The analysis of one instruction, given itself or its name.

        Raises:
            NoSuchInstructionError: the module has no such instruction.
            AmbiguousNameError: instructions of several computations have the name.
        """
        if isinstance(which, str):
            return InstructionAnalysis(self, self._module[which])
        if which.computation.module is not self._module:
            near = near_names(which.name, [each.name for each in self._module.instructions])
            raise NoSuchInstructionError(which.name, near, self._module.file)
        return InstructionAnalysis(self, which)

    def groups(self) -> list[tuple[InstructionAnalysis, ...]]:
        """Groups of instructions with equal maps, in the order of the first ones.

        Instructions are in one group if all that their maps depend on is equal. Names, operands and
        computed values make no difference.

        >>> from ops import hlo
        >>> analysis = analyze(hlo.parse('''ENTRY e {
        ...   p = f32[8] parameter(0)
        ...   sum = f32[8] add(p, p)
        ...   half = f32[4] slice(sum), slice={[0:4]}
        ...   ROOT next = f32[8] add(sum, p)
        ... }'''))
        >>> for group in analysis.groups():
        ...     print(*(each.instruction.name for each in group))
        p
        sum next
        half
        """
        groups: dict[int, list[InstructionAnalysis]] = {}
        for each in self:
            groups.setdefault(self._findings.number(each.instruction), []).append(each)
        return [tuple(group) for group in groups.values()]

    def __reduce__(self) -> tuple[Callable[..., ModuleAnalysis], tuple[object, ...]]:
        """A pickle holds the module, and each answer so far once."""
        given = self._findings.collected(self._module)
        return _analysis_of, (self._module, self._registry, given)

    def __repr__(self) -> str:
        count = f"{len(self)} instruction{'s' * (len(self) != 1)}"
        return f"<analysis of {count} of {self._module.name}>"

    def _repr_html_(self) -> str:
        return _html_of_module(self)


def _analysis_of(module: HloModule, registry: Registry, given: Iterable[Finding]) -> ModuleAnalysis:
    analysis = ModuleAnalysis(module, registry)
    analysis.findings.learn(module, given)
    return analysis


@dataclass(frozen=True, slots=True, repr=False)
class InstructionAnalysis:
    """The answers about one instruction of a module.

    >>> from ops import hlo
    >>> text = "ENTRY e { p = f32[4,8] parameter(0) ROOT r = f32[32] reshape(p) }"
    >>> reshape = analyze(hlo.parse(text))["r"]
    >>> reshape
    <analysis of %r = f32[32]{0} reshape(%p)>
    >>> ((indexing,),) = reshape.input_to_output().indexing
    >>> print(indexing)
    (d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 3], d1 in [0, 7]
    """

    analysis: ModuleAnalysis
    instruction: Instruction

    def output_to_input(
        self, output: int = 0, *, physical_layout: bool = False, linear_offsets: bool = False
    ) -> InstructionIndexing:
        """Maps from a result to the elements of the operands: see :func:`ops.output_to_input`."""
        addressing = Addressing(physical_layout, linear_offsets)
        question = Question(Direction.OUTPUT_TO_INPUT, output, addressing)
        return self.analysis.findings.answer(self.instruction, question).of(self.instruction)

    def input_to_output(
        self,
        input: int | str | Instruction = 0,  # noqa: A002 - the name of the thing
        *,
        physical_layout: bool = False,
        linear_offsets: bool = False,
    ) -> InstructionIndexing:
        """Maps from an operand to the elements of the results: see :func:`ops.input_to_output`."""
        addressing = Addressing(physical_layout, linear_offsets)
        number = operand_number("input_to_output", self.instruction, input)
        question = Question(Direction.INPUT_TO_OUTPUT, number, addressing)
        return self.analysis.findings.answer(self.instruction, question)

    def fusion_indexing(self, output: int = 0) -> dict[Instruction, AnyDependence]:
        """Maps from a result to every instruction: see :func:`ops.fusion_indexing`."""
        flow = self.analysis.findings.flow(Direction.OUTPUT_TO_INPUT)
        return slice_from(flow, self.instruction, output)

    def parameter_indexing(self, output: int = 0) -> dict[Instruction, AnyDependence]:
        """Maps from a result to parameters: see :func:`ops.parameter_indexing`."""
        flow = self.analysis.findings.flow(Direction.OUTPUT_TO_INPUT)
        return parameters_from(flow, self.instruction, output)

    def __repr__(self) -> str:
        return f"<analysis of {self.instruction.definition}>"

    def _repr_html_(self) -> str:
        return _html_of_instruction(self)


# HTML for notebooks.

_COLUMNS: Final = ("computation", "instruction", "opcode", "shape")


def _html_of_module(analysis: ModuleAnalysis) -> str:
    """The first instructions of a module, a row for each."""
    rows = (
        (each.computation.name, each.name, each.opcode, str(each.shape))
        for each in islice(analysis.module.instructions, MAX_ROWS)
    )
    return html_of_table(_COLUMNS, rows, title=repr(analysis), total=len(analysis))


def _html_of_instruction(part: InstructionAnalysis) -> str:
    """The maps from every result of an instruction to the operands that it needs."""
    pairs = [*islice(_pairs(part), MAX_ROWS + 1)]
    answers = "".join(f"<p>{title}</p>{answer._repr_html_()}" for title, answer in pairs[:MAX_ROWS])
    rest = "<p>and more</p>" if len(pairs) > MAX_ROWS else ""
    nothing = "" if pairs else "<p>depends on nothing</p>"
    return f"<div><p>{escape(repr(part))}</p>{answers}{rest}{nothing}</div>"


def _pairs(part: InstructionAnalysis) -> Iterator[tuple[str, AnyDependence]]:
    """A title for each result and operand that it needs, and the answer."""
    instruction = part.instruction
    outputs = instruction.shape.array_indices
    for output in outputs:
        result = f"result {output}" if len(outputs) > 1 else "result"
        answers = part.output_to_input(output).indexing
        for number, answer in enumerate(answers):
            if answer != ():
                name = escape(instruction.operands[number].name)
                simplified = answer.simplify()
                yield f"{result} to operand {number}, %{name}", simplified
