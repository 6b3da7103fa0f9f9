"""Fusions that are missing: results that are written to memory only to be read by what follows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final

from ops.advice.waste import (
    LOOPS,
    MOVED,
    Rule,
    Subject,
    Waste,
    alike,
    bytes_moved,
    bytes_of_result,
    in_words,
    is_loop,
    kind_of,
    names_of,
    opened,
    root_of,
    so_others,
)
from ops.hlo import EditError, HloModule, Instruction, edit
from ops.performance.utilization import OperandUtilization
from ops.xla_gpu import Emitter, emitter_and_heroes
from simplifier.errors import listed


def missing_fusions(subject: Subject) -> Iterator[Waste]:
    """Results that one other kernel reads, where to fuse both computes nothing again.

    What leads to the same kernel in this way is one waste. Where the module has no fusion at all,
    XLA has not made any yet.
    """
    if not subject.is_fused:
        return
    groups = ((*producers, consumer) for consumer, producers in _groups(subject).items())
    for same in alike(subject, groups):
        *producers, consumer = same[0]
        largest = max(producers, key=bytes_of_result)
        written = bytes_of_result(largest)
        readers = listed([f"%{each.name}" for each in largest.users])
        alike_to_it = [each[producers.index(largest)] for each in same]
        yield Waste(
            kind="missing fusion",
            instruction=largest,
            why=f"%{largest.name}, {in_words(written)} bytes, is written only to be read by"
            f" {readers}.{so_others(alike_to_it)}",
            mend=f"Fuse {names_of(producers)} into %{consumer.name}.",
            unit="bytes moved",
            figure=bytes_moved,
            measure=MOVED,
            expected=2 * written * sum(map(subject.runs_of, alike_to_it)),
            edit=partial(fused, groups=same),
        )


def fused(module: HloModule, *, groups: Iterable[Sequence[Instruction]]) -> HloModule:
    """The module with each group of kernels, which lead to the last one, in one fusion.

    Raises:
        EditError: XLA could not emit one as it emits the kernels: a transpose would be a loop.
    """
    editor = edit(module)
    for kernels in groups:
        inside = [each for kernel in kernels for each in opened(editor, kernel)]
        new = editor.outline(inside, name=kernels[-1].name, kind=kind_of(inside))
        needed = _KEPT.intersection(emitter_and_heroes(root_of(each))[0] for each in kernels)
        lost = needed - {emitter_and_heroes(root_of(new))[0]}
        if lost:
            raise EditError(f"fuse: %{new.name} would lose the emitter of %{kernels[0].name}")
    return editor.finish()


def _groups(subject: Subject) -> Mapping[Instruction, Sequence[Instruction]]:
    """Kernels that could be fused into the one that all their readers lead to, by that one."""
    read: dict[Instruction, dict[Instruction, OperandUtilization]] = {}
    for consumer, found in subject.summaries.items():
        for row in found.operands:
            read.setdefault(row.operand, {})[consumer] = row
    last: dict[Instruction, Instruction] = {}
    reductions = Counter({each: sum(map(_reduces, inside_of(each))) for each in subject.summaries})
    for producer in reversed(tuple(subject.summaries)):
        users = producer.users
        ends = {last.get(each, each) for each in users}
        if len(ends) == 1 and _fits(producer, users, read.get(producer, {})):
            (end,) = ends
            if reductions[end] + reductions[producer] <= 1:
                last[producer] = end
                reductions[end] += reductions[producer]
    groups: dict[Instruction, list[Instruction]] = {}
    for producer in subject.summaries:
        if producer in last:
            groups.setdefault(last[producer], []).append(producer)
    return groups


def _fits(
    producer: Instruction,
    users: Iterable[Instruction],
    read: Mapping[Instruction, OperandUtilization],
) -> bool:
    """Whether only kernels read a result, and nothing is computed again in one with them."""
    return (
        {*read} == {*users}
        and producer is not producer.computation.root
        and all(map(is_fusible, (producer, *users)))
        and (_only_moves(producer) or all(row.reads == row.elements_read for row in read.values()))
    )


def is_fusible(kernel: Instruction) -> bool:
    """Whether XLA emits a kernel as loops over its result, and can emit more in them."""
    is_known = all(each.opcode in _IN_LOOPS for each in inside_of(kernel))
    return is_known and is_loop(kernel) and not kernel.shape.is_tuple


def inside_of(kernel: Instruction) -> Sequence[Instruction]:
    """The instructions that a kernel runs."""
    bodies = kernel.computations if kernel.opcode == "fusion" else ()
    return tuple(each for body in bodies for each in body.instructions) or (kernel,)


def _only_moves(kernel: Instruction) -> bool:
    """Whether a kernel computes nothing: to move elements again costs no operation."""
    return all(each.opcode in _MOVES or each.opcode == "parameter" for each in inside_of(kernel))


def _reduces(instruction: Instruction) -> bool:
    return instruction.opcode == "reduce"


_MOVES: Final = frozenset(("bitcast", "broadcast", "concatenate", "pad", "reshape", "slice"))
_IN_LOOPS: Final = LOOPS.union(
    ("constant", "copy", "dynamic-slice", "gather", "iota", "parameter", "reverse", "transpose")
)
"""Opcodes that XLA fuses into loops; a dot, a window or an update in place is a kernel's own."""


_KEPT: Final = frozenset((Emitter.REDUCTION, Emitter.TRANSPOSE))
"""Emitters that a fusion must not lose: threads of a loop would read far apart."""

RULES: Final[tuple[Rule, ...]] = (missing_fusions,)
