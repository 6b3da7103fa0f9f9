"""What rules of advice look at, and what they find.

A rule is a function from a :class:`Subject`, a module with what is known of it, to its wastes. A
waste names what is lost, and the edit that mends it; what the mend saves is counted by the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from indexing.layout import ArrayShape
from ops.analysis.queries import findings_in
from ops.devices import groups_of, listed_groups
from ops.fusion import Fusion
from ops.hlo import HloModule, Instruction, ModuleEditor
from ops.hlo.attributes import ProgramShape
from ops.hlo.module import Computation, detached, with_copies
from ops.limits import Device
from ops.loop_dependence import Loop
from ops.performance import tally
from ops.performance.kernels import kernels_of
from ops.performance.summary import KernelSummary
from ops.performance.tally import Count
from ops.performance.utilization import OperandCounter, OperandUtilization
from ops.rules.elementwise import ELEMENTWISE
from ops.rules.registry import Registry
from ops.xla_gpu import Emitter, emitter_and_heroes
from simplifier.errors import listed
from simplifier.forms import MAX_INT64, Interval


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
    def kernels(self) -> tuple[Fusion, ...]:
        """What runs as one kernel each, in the order of the module."""
        return tuple(kernels_of(self.module, registry=self.registry))

    @cached_property
    def summaries(self) -> Mapping[Instruction, KernelSummary]:
        """What each kernel reads and writes, by the instruction that it is."""
        return {
            kernel.roots[0]: KernelSummary(kernel, self.counter.rows(kernel))
            for kernel in self.kernels
        }

    @cached_property
    def is_fused(self) -> bool:
        """Whether XLA has made fusions already: what comes before may still become one."""
        return any(each.opcode == "fusion" for each in self.summaries)

    @cached_property
    def is_for_processor(self) -> bool:
        """Whether a loop fusion could have an emitter of a GPU, where XLA gives it that kind."""
        loops = (each for each in self.summaries if each.attributes.get("kind") == "kLoop")
        return any(emitter_and_heroes(root_of(each))[0] in IN_ORDER for each in loops)

    @cached_property
    def runs(self) -> Mapping[Computation, int | None]:
        """How often each computation runs; ``None`` if a loop around it has no known number.

        Each branch of a choice counts as taken. Bodies of fusions and reducers run in a kernel.
        """
        runs: dict[Computation, int | None] = {self.module.entry: 1}
        for computation in reversed(self.module.computations):
            if computation not in runs:
                continue
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

    def runs_of(self, instruction: Instruction) -> int:
        """How often an instruction runs, at the least: a loop of unknown length counts once."""
        return self.runs.get(instruction.computation) or 1


Figure: TypeAlias = "Callable[[Subject], Count]"
"""A count of a module; of an edited one, too, by names of instructions."""


class Measure(NamedTuple):
    """A resource of a module that a rule saves.

    Attributes:
        total: what the module takes of it: a share is one of this.
        bytes_each: bytes that one unit moves, to sort by; 0 for operations.
    """

    total: Figure
    bytes_each: int


@dataclass(frozen=True)
class Waste:
    """A waste, as a rule finds it.

    Attributes:
        kind: the name of the rule.
        instruction: the one that causes it: its own line of the source is named.
        why: a sentence that says what is wasted and why.
        mend: a sentence that says what would mend it.
        unit: what is counted: ``bytes moved``.
        figure: the count, the same before and after.
        measure: what the count is a share of.
        expected: about what is saved, in units of the figure: wastes are tried in this order.
        edit: the mended module.
        price: what the mend costs elsewhere, in a sentence; empty if nothing.
    """

    kind: str
    instruction: Instruction
    why: str
    mend: str
    unit: str
    figure: Figure
    measure: Measure
    expected: int
    edit: Callable[[HloModule], HloModule]
    price: str = ""


Rule: TypeAlias = "Callable[[Subject], Iterator[Waste]]"


def again(module: HloModule, instruction: Instruction) -> Instruction | None:
    """The instruction that has the name, and the place, of one of the module before an edit."""
    home = instruction.computation.name
    bodies = (each for each in module.computations if each.name == home)
    inside = (each for body in bodies for each in body.instructions)
    return next((each for each in inside if each.name == instruction.name), None)


def changed(
    module: HloModule, changes: Mapping[Instruction, Mapping[str, Any]]
) -> tuple[HloModule, Mapping[Instruction, Instruction]]:
    """The module with other fields of some instructions, and its instruction for each one."""
    copies: dict[Any, Any] = {}
    for computation in module.computations:
        for each in computation.instructions:
            fields = {"attributes": each.attributes, **changes.get(each, {})}
            fields["attributes"] = {
                name: with_copies(value, copies) for name, value in fields["attributes"].items()
            }
            operands = with_copies(each.operands, copies)
            copies[each] = detached(each, operands=operands, **fields)
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


def bytes_moved(subject: Subject, kernels: Iterable[Instruction] | None = None) -> Count:
    """Bytes that kernels read and write, times their runs; all kernels, if none are named.

    A constant that is read counts nothing: it comes with the program.
    """
    chosen = subject.summaries if kernels is None else kernels
    return tally.sum_of_counts(_bytes_of(subject, each) for each in chosen)


def _bytes_of(subject: Subject, kernel: Instruction) -> Count:
    found = subject.summaries[kernel]
    read = (row.bytes for row in found.operands if not _is_constant(row))
    return tally.sum_of_counts([*read, found.bytes_written]) * subject.runs_of(kernel)


def _is_constant(row: OperandUtilization) -> bool:
    return row.operand.opcode == "constant"


def bytes_received(subject: Subject) -> Count:
    """Bytes that a device receives from others, all runs of collectives together."""
    return tally.sum_of_counts(
        received_by_device(each) * subject.runs_of(each)
        for computation in subject.runs
        for each in computation.instructions
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
    whole = bytes_of_arrays(instruction.operands)
    if opcode in {"collective-broadcast", "collective-permute"}:
        return whole if any(len({*group}) > 1 for group in listed_groups(instruction)) else 0
    if opcode not in _TIMES_WHOLE:
        return 0
    devices = max(map(len, groups_of(instruction)))
    parts = _TIMES_WHOLE[opcode] * whole * (devices - 1)
    if opcode == "ragged-all-to-all":
        return Interval(0, parts)
    return parts if opcode == "all-gather" else parts // devices


_TIMES_WHOLE: Final = {
    **dict.fromkeys(("all-gather", "all-to-all", "ragged-all-to-all", "reduce-scatter"), 1),
    "all-reduce": 2,
}
"""Collectives -> how often each array goes through the network."""


def bytes_of_arrays(instructions: Iterable[Instruction]) -> int:
    """Bytes of results as they are declared, without padding; none of what has no size."""
    arrays = (array for each in instructions for array in each.shape.arrays if array.is_array)
    return sum(map(_bytes_of_array, arrays))


def bytes_of_result(kernel: Instruction) -> int:
    """Bytes of the first array of a result."""
    return _bytes_of_array(kernel.shape.arrays[0])


def _bytes_of_array(array: ArrayShape) -> int:
    return max(0, array.element_count) * array.element_size_in_bits // tally.BITS_OF_BYTE


def at_least(count: Count) -> int:
    """The least that a count may be: 0 for one over symbolic sizes."""
    found = count.lower if isinstance(count, Interval) else count
    return found if isinstance(found, int) else 0


def at_most(count: Count) -> int:
    """The most that a count may be."""
    found = count.upper if isinstance(count, Interval) else count
    return found if isinstance(found, int) else MAX_INT64


def remove_unread(
    editor: ModuleEditor, computation: Computation, chosen: Iterable[Instruction]
) -> None:
    """Take out what nothing reads any more, readers first; what has a channel stays by itself."""
    for each in chosen:
        is_there = each in editor.instructions(computation)
        if is_there and each is not editor.root(computation) and not editor.users(each):
            editor.remove(each)


Kernels = TypeVar("Kernels", bound="Sequence[Instruction]")


def alike(subject: Subject, groups: Iterable[Kernels]) -> list[list[Kernels]]:
    """Groups of kernels that are like each other, together: the layers of a model repeat them."""
    findings = findings_in(subject.module, subject.registry)
    found: dict[tuple[int, ...], list[Kernels]] = {}
    for each in groups:
        found.setdefault(tuple(map(findings.number, each)), []).append(each)
    return [*found.values()]


def is_loop(kernel: Instruction) -> bool:
    """Whether it computes each element of its results on its own, or on the way of a hero.

    A copy stands alone where an array has to be in another place. Where arrays lie in tiles, as on
    TPUs, whole tiles are computed.
    """
    is_fusion = kernel.opcode == "fusion" and kernel.attributes.get("kind") in ("kLoop", "kInput")
    lies_in_tiles = any(array.layout and array.layout.tiles for array in kernel.shape.arrays)
    return (is_fusion or kernel.opcode in LOOPS) and not lies_in_tiles


IN_ORDER: Final = (Emitter.REDUCTION, Emitter.TRANSPOSE)
"""The emitters whose warps read memory in order, and that several results may share."""

LOOPS: Final = ELEMENTWISE.difference(("copy",)).union(
    ("bitcast", "broadcast", "concatenate", "pad", "reduce", "reshape", "slice")
)
"""Opcodes of kernels that are loops, if they stand alone."""


def root_of(kernel: Instruction) -> Instruction:
    """The instruction that computes the result of a kernel."""
    return kernel.computations[0].root if kernel.opcode == "fusion" else kernel


def opened(editor: ModuleEditor, kernel: Instruction) -> Sequence[Instruction]:
    """The instructions of a kernel, in the place of its fusion."""
    return editor.inline(kernel) if kernel.opcode == "fusion" else (kernel,)


def operands_of(instruction: Instruction) -> Sequence[Instruction]:
    """The operands, as an editor may say they are by now."""
    return instruction.operands


def narrowest(
    value: Instruction, operands: Callable[[Instruction], Sequence[Instruction]] = operands_of
) -> Instruction:
    """What a value is made of by moves and conversions alone, as long as it takes no more bytes."""
    while value.opcode in _MOVES:
        (before,) = operands(value)
        if bytes_of_result(before) > bytes_of_result(value):
            break
        value = before
    return value


_MOVES: Final = frozenset(("bitcast", "broadcast", "convert", "copy", "reshape", "transpose"))
"""Opcodes of one operand that compute nothing."""


def copied(
    editor: ModuleEditor, instructions: Iterable[Instruction]
) -> dict[Instruction, Instruction]:
    """A copy of each of some instructions; the copies read copies."""
    copies: dict[Instruction, Instruction] = {}
    for each in instructions:
        operands = [copies.get(operand, operand) for operand in editor.operands(each)]
        copies[each] = editor.clone(each, operands=operands)
    return copies


def kind_of(instructions: Iterable[Instruction]) -> str:
    """The kind of a fusion of some instructions."""
    return "kInput" if any(each.opcode == "reduce" for each in instructions) else "kLoop"


def so_others(kernels: Sequence[Instruction]) -> str:
    """A sentence that says which kernels are like the first one."""
    others = [f"%{each.name}" for each in kernels[1:]]
    return f" So {'does' if len(others) == 1 else 'do'} {listed(others)}." if others else ""


def names_of(instructions: Iterable[Instruction]) -> str:
    """The names, for a sentence."""
    return " and ".join(f"%{each.name}" for each in instructions)


def in_words(count: int) -> str:
    """A number for people.

    >>> in_words(131072)
    '131,072'
    """
    return f"{count:,}"


MOVED: Final = Measure(bytes_moved, 1)
"""Bytes that kernels read and write."""

RECEIVED: Final = Measure(bytes_received, 1)
"""Bytes that a device receives from others."""
