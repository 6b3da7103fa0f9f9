"""A module and all that can be asked about its instructions: :func:`analyze`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ops.analysis.findings import Findings, Question, View
from ops.analysis.queries import parameters_from, slice_from
from ops.modules.html import html_of_instruction, html_of_module
from ops.modules.names import NoSuchInstructionError, instruction_named
from ops.rules.op_indexing import Direction
from ops.rules.registry import REGISTRY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ops.analysis.findings import Finding, InstructionIndexing
    from ops.dependence.dependence import AnyDependence
    from ops.hlo import HloModule, Instruction
    from ops.rules.registry import Registry


def analyze(module: HloModule, *, registry: Registry = REGISTRY) -> ModuleAnalysis:
    """Everything about every instruction of a module; nothing is computed before it is asked for.

    ``registry`` holds what is known of operations; by default, what the library knows.

    >>> from ops import hlo
    >>> analysis = analyze(hlo.parse('''HloModule m
    ... ENTRY e {
    ...   p = f32[4,8] parameter(0)
    ...   ROOT r = f32[32] reshape(p)
    ... }'''))
    >>> analysis
    <analysis of 2 instructions of m>
    >>> ((way,),) = analysis["r"].output_to_input().indexing
    >>> print(way)
    (d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]
    """
    return ModuleAnalysis(module, registry)


class ModuleAnalysis:
    """A module with what is asked about its instructions: a value that never changes.

    Iterating gives every instruction's :class:`InstructionAnalysis`, in order;
    ``analysis[instruction]`` and ``analysis["%name"]`` give one. What was found out for one
    instruction is kept for the next question.
    """

    __slots__ = ("_findings", "_module", "_registry")

    def __init__(self, module: HloModule, registry: Registry = REGISTRY) -> None:
        self._module = module
        self._registry = registry
        self._findings = Findings(registry)

    @property
    def module(self) -> HloModule:
        """The module that is asked about."""
        return self._module

    @property
    def registry(self) -> Registry:
        """What is known of operations."""
        return self._registry

    @property
    def findings(self) -> Findings:
        """What was found out so far."""
        return self._findings

    def __len__(self) -> int:
        return sum(len(computation.instructions) for computation in self._module.computations)

    def __iter__(self) -> Iterator[InstructionAnalysis]:
        return (InstructionAnalysis(self, each) for each in self._module.instructions)

    def __getitem__(self, which: Instruction | str) -> InstructionAnalysis:
        """What can be asked about one instruction, found by itself or by its name.

        Raises:
            NoSuchInstructionError: the module has no such instruction.
            AmbiguousNameError: instructions of several computations have the name.
        """
        if isinstance(which, str):
            return InstructionAnalysis(self, instruction_named(self._module, which))
        if which.computation.module is not self._module:
            raise NoSuchInstructionError.in_module(which.name, self._module)
        return InstructionAnalysis(self, which)

    def groups(self) -> list[tuple[InstructionAnalysis, ...]]:
        """The instructions in groups of which all have the same maps, in order of the first ones.

        Instructions are together if everything that their maps depend on is equal; what they read,
        which values are computed, and what they are called makes no difference.

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
        """The module, and each answer that was given, once."""
        given = self._findings.collected(self._module)
        return _analysis_of, (self._module, self._registry, given)

    def __repr__(self) -> str:
        count = f"{len(self)} instruction{'s' * (len(self) != 1)}"
        return f"<analysis of {count} of {self._module.name}>"

    def _repr_html_(self) -> str:
        return html_of_module(self)


def _analysis_of(module: HloModule, registry: Registry, given: Iterable[Finding]) -> ModuleAnalysis:
    analysis = ModuleAnalysis(module, registry)
    analysis.findings.learn(module, given)
    return analysis


@dataclass(frozen=True, slots=True, repr=False)
class InstructionAnalysis:
    """What can be asked about one instruction of a module.

    >>> from ops import hlo
    >>> text = "ENTRY e { p = f32[4,8] parameter(0) ROOT r = f32[32] reshape(p) }"
    >>> reshape = analyze(hlo.parse(text))["r"]
    >>> reshape
    <analysis of %r = f32[32]{0} reshape(%p)>
    >>> ((way,),) = reshape.input_to_output().indexing
    >>> print(way)
    (d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 3], d1 in [0, 7]
    """

    analysis: ModuleAnalysis
    instruction: Instruction

    def output_to_input(
        self, output: int = 0, *, physical_layout: bool = False, linear_offsets: bool = False
    ) -> InstructionIndexing:
        """Which elements of the operands a result needs: see :func:`ops.output_to_input`."""
        view = View(physical_layout, linear_offsets)
        question = Question(Direction.OUTPUT_TO_INPUT, output, view)
        return self.analysis.findings.answer(self.instruction, question)

    def input_to_output(
        self,
        input: int = 0,  # noqa: A002 - the name of the thing
        *,
        physical_layout: bool = False,
        linear_offsets: bool = False,
    ) -> InstructionIndexing:
        """Which elements of the results an operand reaches: see :func:`ops.input_to_output`."""
        view = View(physical_layout, linear_offsets)
        question = Question(Direction.INPUT_TO_OUTPUT, input, view)
        return self.analysis.findings.answer(self.instruction, question)

    def fusion_indexing(self, output: int = 0) -> dict[Instruction, AnyDependence]:
        """Which elements of every instruction a result needs: see :func:`ops.fusion_indexing`."""
        flow = self.analysis.findings.flow(Direction.OUTPUT_TO_INPUT)
        return slice_from(flow, self.instruction, output)

    def parameter_indexing(self, output: int = 0) -> dict[Instruction, AnyDependence]:
        """Which elements of parameters a result needs: see :func:`ops.parameter_indexing`."""
        flow = self.analysis.findings.flow(Direction.OUTPUT_TO_INPUT)
        return parameters_from(flow, self.instruction, output)

    def __repr__(self) -> str:
        return f"<analysis of {self.instruction.definition}>"

    def _repr_html_(self) -> str:
        return html_of_instruction(self)
