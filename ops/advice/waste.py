"""What rules of advice look at, and what they find.

A rule is a function from a :class:`Subject`, a module with what is known of it, to its wastes. A
waste names what is lost, and the edit that mends it; what the mend saves is counted by the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import attrgetter
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from indexing.layout import ShapeError
from ops.analysis.queries import findings_in
from ops.devices import groups_of, listed_groups
from ops.hlo import EditError, HloModule, Instruction, ModuleEditor, edit
from ops.hlo.attributes import ProgramShape
from ops.hlo.module import Computation, detached, with_copies
from ops.limits import Device
from ops.loop_dependence import Loop
from ops.performance import tally
from ops.performance.kernels import kernels_of, root_of
from ops.performance.summary import KernelSummary
from ops.performance.tally import Count
from ops.performance.utilization import OperandCounter, OperandUtilization
from ops.rules.registry import Registry
from ops.xla_gpu import Emitter, emitter_and_heroes
from simplifier.forms import Interval
from simplifier.tools.graphs import postorder

Kernels = TypeVar("Kernels", bound="Sequence[Instruction]")


@dataclass(frozen=True, eq=False)
class Subject:
    """A module, the device it runs on, and what several rules ask about it.

    Attributes:
        module: the module, or an edited one.
        device: its figures decide what a sector, a lane or a cache is.
        counter: what kernels read; kernels that are alike are counted once, in edited modules too.
        registry: the operations.
        remembered: what rules found out about kernels that are alike, in edited modules too.
    """

    module: HloModule
    device: Device
    counter: OperandCounter
    registry: Registry
    remembered: dict[Hashable, Any] = field(default_factory=dict[Hashable, Any])

    def edited(self, module: HloModule) -> Subject:
        """The same questions about a changed module."""
        return replace(self, module=module)

    @cached_property
    def summaries(self) -> Mapping[Instruction, KernelSummary]:
        """What each kernel reads and writes, by the instruction that it is, in order."""
        kernels = kernels_of(self.module, registry=self.registry)
        return {each.roots[0]: KernelSummary(each, self.counter.rows(each)) for each in kernels}

    @cached_property
    def readers(self) -> Mapping[Instruction, Sequence[OperandUtilization]]:
        """How kernels read each array."""
        rows: dict[Instruction, list[OperandUtilization]] = {}
        for row in (row for found in self.summaries.values() for row in found.operands):
            rows.setdefault(row.operand, []).append(row)
        return rows

    @cached_property
    def is_fused(self) -> bool:
        """Whether XLA has made fusions already: what comes before may still become one."""
        return any(each.opcode == "fusion" for each in self.summaries)

    @cached_property
    def is_for_processor(self) -> bool:
        """Whether a loop fusion could have an emitter of a GPU, where XLA gives it that kind."""
        loops = (each for each in self.summaries if each.attributes.get("kind") == "kLoop")
        with suppress(ShapeError):  # which rules meet, too
            return any(emitter_and_heroes(root_of(each))[0] in IN_ORDER for each in loops)
        return False

    @cached_property
    def runs(self) -> Mapping[Computation, int | None]:
        """How often each computation runs; ``None`` if a loop around it has no known number.

        Each branch of a choice counts as taken. Bodies of fusions and reducers run in a kernel.
        """
        runs: dict[Computation, int | None] = {self.module.entry: 1}
        for computation in filter(runs.__contains__, reversed(self.module.computations)):
            for each in computation.instructions:
                calls = None if each.opcode == "fusion" else self.registry.calls(each)
                times = self._times(each, runs[computation])
                for callee in calls.computations if calls else ():
                    before = runs.get(callee, 0)
                    runs[callee] = None if before is None or times is None else before + times
        return runs

    def _times(self, caller: Instruction, runs: int | None) -> int | None:
        trips = Loop(caller, self.registry).trip_count if caller.opcode == "while" else 1
        return None if trips is None or runs is None else runs * trips

    @property
    def running(self) -> Iterator[Instruction]:
        """The instructions that run one by one: none inside of a kernel does."""
        return (each for each in self.module.instructions if each.computation in self.runs)

    def runs_of(self, instruction: Instruction) -> int:
        """How often an instruction runs, at the least: a loop of unknown length counts once."""
        return self.runs.get(instruction.computation) or 1

    def bytes_of_runs(self, kernels: Iterable[Instruction]) -> int:
        """Bytes of the results of kernels, in all their runs."""
        return sum(bytes_of(each) * self.runs_of(each) for each in kernels)

    def these_or_new(self, kernels: Collection[Instruction]) -> Callable[[Instruction], bool]:
        """Whether a kernel, maybe of an edited module, is one of these or was no kernel before."""
        others = {key_of(each) for each in self.summaries if each not in kernels}
        return lambda kernel: key_of(kernel) not in others

    def alike(self, groups: Iterable[Kernels]) -> Sequence[Sequence[Kernels]]:
        """Groups of kernels that are like each other, together: layers of a model repeat them."""
        number = findings_in(self.module, self.registry).numbering.number
        found: dict[tuple[int, ...], list[Kernels]] = {}
        for each in groups:
            found.setdefault(tuple(map(number, each)), []).append(each)
        return [*found.values()]


Operands: TypeAlias = "Callable[[Instruction], Iterable[Instruction]]"
"""The operands of an instruction, maybe as an editor has changed them."""

OPERANDS: Final[Operands] = attrgetter("operands")

Figure: TypeAlias = "Callable[[Subject], Count]"
"""A count of a module; of an edited one, too, by names of instructions."""


class Measure(NamedTuple):
    """What a mend saves.

    Attributes:
        unit: what is counted: ``bytes moved``.
        figure: the count, the same before and after.
        total: what the whole module takes: a share is one of this.
        bytes_each: bytes that one unit moves, to sort by; 0 for operations.
    """

    unit: str
    figure: Figure
    total: Figure
    bytes_each: int = 1


@dataclass(frozen=True)
class Waste:
    """A waste, as a rule finds it.

    Attributes:
        kind: the name of the rule.
        instruction: the one that causes it: its own line of the source is named.
        why: a sentence that says what is wasted and why.
        mend: a sentence that says what would mend it.
        measure: what is counted.
        expected: about what is saved, in units of the figure: wastes are tried in this order.
        edit: the mended module.
        price: what the mend costs elsewhere, in a sentence; empty if nothing.
    """

    kind: str
    instruction: Instruction
    why: str
    mend: str
    measure: Measure
    expected: int
    edit: Callable[[HloModule], HloModule]
    price: str = ""


Rule: TypeAlias = "Callable[[Subject], Iterator[Waste]]"


def key_of(instruction: Instruction) -> tuple[str, str]:
    """The place and the name, by which an instruction is found again after an edit."""
    return instruction.computation.name, instruction.name


def again(module: HloModule, instruction: Instruction) -> Instruction | None:
    """The instruction of an edited module that was one before."""
    wanted = key_of(instruction)
    return next((each for each in module.instructions if key_of(each) == wanted), None)


Changes: TypeAlias = "dict[Instruction, Mapping[str, Any]]"
"""Other values of some fields of instructions."""


def edited_by(change: Callable[..., None], **given: object) -> Callable[[HloModule], HloModule]:
    """The edit of a module that a function makes with an editor, and with what else is given."""

    def edited(module: HloModule) -> HloModule:
        editor = edit(module)
        change(editor, **given)
        return editor.finish()

    return edited


def edit_of(changes: Changes) -> Callable[[HloModule], HloModule]:
    """The edit that changes fields of some instructions."""
    return lambda module: changed(module, changes)[0]


def changed(
    module: HloModule, changes: Changes
) -> tuple[HloModule, Mapping[Instruction, Instruction]]:
    """The module with other fields of some instructions, and its instruction for each one."""
    copies: dict[Any, Any] = {}
    for computation in module.computations:
        for each in computation.instructions:
            new = replace(each, **changes.get(each, {}))
            attributes = {key: with_copies(new.attributes[key], copies) for key in new.attributes}
            operands = with_copies(each.operands, copies)
            copies[each] = detached(new, operands=operands, attributes=attributes)
        inside = tuple(copies[each] for each in computation.instructions)
        root, thread = copies[computation.root], computation.execution_thread
        copies[computation] = Computation(computation.name, inside, root, thread)
    entry, attributes = copies[module.entry], dict(module.attributes)
    if "entry_computation_layout" in attributes:
        shapes = tuple(each.shape for each in entry.parameters)
        attributes["entry_computation_layout"] = ProgramShape(shapes, entry.root.shape)
    parts = tuple(copies[each] for each in module.computations)
    edited = replace(
        module, computations=parts, entry=entry, attributes=attributes, source="", file=""
    )
    return edited, copies


# Figures that several rules count.


def of_each(
    instructions: Collection[Instruction], count: Callable[[Subject, Instruction], Count]
) -> Figure:
    """The sum of a count of some instructions: of those that an edit leaves."""

    def figure(subject: Subject) -> Count:
        found = (again(subject.module, each) for each in instructions)
        return tally.sum_of_counts(count(subject, each) for each in found if each)

    return figure


def bytes_moved(subject: Subject, kernels: Iterable[Instruction] | None = None) -> Count:
    """Bytes that kernels read and write, times their runs; all kernels, if none are named.

    A constant that is read counts nothing: it comes with the program.
    """
    chosen = subject.summaries if kernels is None else kernels
    return tally.sum_of_counts(bytes_moved_by(subject, each) for each in chosen)


def bytes_moved_by(subject: Subject, kernel: Instruction) -> Count:
    """Bytes that a kernel reads and writes in all its runs."""
    found = subject.summaries[kernel]
    read = (row.bytes for row in found.operands if row.operand.opcode != "constant")
    return tally.sum_of_counts([*read, found.bytes_written]) * subject.runs_of(kernel)


def bytes_received(subject: Subject) -> Count:
    """Bytes that a device receives from others, all runs of collectives together."""
    return tally.sum_of_counts(
        received_by_device(each) * subject.runs_of(each) for each in subject.running
    )


def received_by_device(instruction: Instruction) -> Count:
    """Bytes that one device receives for a collective, at the least that algorithms need.

    Of ``n`` devices that gather, exchange or scatter, each holds one part of ``n``; an all-reduce
    scatters and gathers. The largest group counts.

    >>> from ops import hlo
    >>> module = hlo.parse('''HloModule m, num_partitions=4
    ... ENTRY e { x = f32[8] parameter(0) ROOT g = f32[32] all-gather(x), dimensions={0},
    ...   channel_id=1, replica_groups={{0,1,2,3}}, use_global_device_ids=true }''')
    >>> received_by_device(module["g"])
    96
    """
    opcode = instruction.opcode.removesuffix("-start")
    whole = bytes_of(*instruction.operands)
    if opcode in {"collective-broadcast", "collective-permute"}:
        return whole if any(len({*group}) > 1 for group in listed_groups(instruction)) else 0
    if opcode not in _PARTED:
        return 0
    devices = max(map(len, groups_of(instruction)))
    parts = (2 if opcode == "all-reduce" else 1) * whole * (devices - 1)
    if opcode == "ragged-all-to-all":
        return Interval(0, parts)
    return parts if opcode == "all-gather" else parts // devices


_PARTED: Final = ("all-gather", "all-reduce", "all-to-all", "ragged-all-to-all", "reduce-scatter")
"""Collectives that move each array in as many parts as there are devices."""


def bytes_of(*instructions: Instruction) -> int:
    """Bytes of results as they are declared, without padding; none of what has no size."""
    arrays = (array for each in instructions for array in each.shape.arrays if array.is_array)
    bits = sum(max(0, each.element_count) * each.element_size_in_bits for each in arrays)
    return bits // tally.BITS_OF_BYTE


def remove_unread(editor: ModuleEditor, instructions: Iterable[Instruction]) -> None:
    """Take out what nothing reads any more, readers first; what has a channel stays by itself."""
    for each in instructions:
        with suppress(EditError):  # something reads it, or it is gone
            editor.remove(each)


IN_ORDER: Final = frozenset((Emitter.REDUCTION, Emitter.TRANSPOSE))
"""The emitters whose warps read memory in order, and that several results may share."""


def is_passed(array: Instruction) -> bool:
    """Whether it is a parameter of the program whose memory no result takes over."""
    if array.opcode != "parameter" or not array.computation.is_entry:
        return False
    aliases: Sequence[Any] = array.computation.module.attributes.get("input_output_alias", ())
    return all(each.operand != array.parameter_number for each in aliases)


def passed_to(fusion: Instruction, array: Instruction) -> Sequence[Instruction]:
    """The parameters of a fusion that an array is passed to."""
    pairs = zip(fusion.operands, fusion.computations[0].parameters, strict=True)
    return [parameter for operand, parameter in pairs if operand is array]


def leading_to(
    values: Iterable[Instruction],
    operands: Operands = OPERANDS,
    among: Callable[[Instruction], bool] = lambda each: each.parameter_number is None,
) -> Sequence[Instruction]:
    """What some values depend on but for parameters, each after its operands, and themselves."""
    return postorder(values, lambda each: filter(among, operands(each)))


def leading_from(values: Iterable[Instruction]) -> Sequence[Instruction]:
    """All that is computed of some values in their computation, in order."""
    found = {*values}
    behind: list[Instruction] = []
    for each in next(iter(found)).computation.instructions if found else ():
        if not found.isdisjoint(each.operands):
            found.add(each)
            behind.append(each)
    return behind


def names_of(instructions: Iterable[Instruction]) -> str:
    """The names, for a sentence."""
    return " and ".join(f"%{each.name}" for each in instructions)


MOVED: Final = Measure("bytes moved", bytes_moved, bytes_moved)
"""Bytes that kernels read and write."""

RECEIVED: Final = Measure("bytes received by a device", bytes_received, bytes_received)
"""Bytes that a device receives from others."""
