"""Fusions that are missing: results that are written to memory only to be read once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Final

from ops.advice.waste import MOVED, Rule, Subject, Waste, bytes_moved, in_words
from ops.hlo import HloModule, Instruction, edit
from ops.performance.utilization import OperandUtilization
from ops.rules.elementwise import ELEMENTWISE


def missing_fusions(subject: Subject) -> Iterator[Waste]:
    """Results that one other kernel reads, where to fuse both computes nothing again.

    What leads to the same kernel in this way is one waste. Where the module has no fusion at all,
    XLA has not made any yet.
    """
    if not subject.is_fused:
        return
    for consumer, producers in _groups(subject).items():
        largest = max(producers, key=_bytes_of_result)
        written = _bytes_of_result(largest)
        reader = subject.users(largest)[0]
        yield Waste(
            kind="missing fusion",
            instruction=largest,
            why=f"%{largest.name}, {in_words(written)} bytes, is written only to be read by"
            f" %{reader.name}.",
            mend=f"Fuse {' and '.join(f'%{each.name}' for each in producers)}"
            f" into %{consumer.name}.",
            unit="bytes moved",
            figure=bytes_moved,
            measure=MOVED,
            expected=2 * written * subject.runs_of(largest),
            edit=partial(fused, producers=producers, consumer=consumer),
        )


def fused(
    module: HloModule, *, producers: Sequence[Instruction], consumer: Instruction
) -> HloModule:
    """The module with kernels in one fusion with the kernel that they lead to."""
    editor = edit(module)
    inside = [
        each
        for kernel in (*producers, consumer)
        for each in (editor.inline(kernel) if kernel.opcode == "fusion" else (kernel,))
    ]
    kind = "kInput" if any(map(_reduces, inside)) else "kLoop"
    editor.outline(inside, name=consumer.name, kind=kind)
    return editor.finish()


def _groups(subject: Subject) -> Mapping[Instruction, Sequence[Instruction]]:
    """Kernels that could be fused into the one that they lead to, by that one."""
    last: dict[Instruction, Instruction] = {}
    reductions = Counter({each: sum(map(_reduces, _inside(each))) for each in subject.summaries})
    for consumer in reversed(tuple(subject.summaries)):
        end = last.get(consumer, consumer)
        for row in subject.summaries[consumer].operands:
            producer = row.operand
            joined = reductions[end] + reductions[producer]
            if producer not in last and joined <= 1 and _fits(subject, row, consumer):
                last[producer], reductions[end] = end, joined
    groups: dict[Instruction, list[Instruction]] = {}
    for producer in subject.summaries:
        if producer in last:
            groups.setdefault(last[producer], []).append(producer)
    return groups


def _fits(subject: Subject, row: OperandUtilization, consumer: Instruction) -> bool:
    """Whether only this kernel reads an operand, and nothing is computed again in one with it."""
    producer = row.operand
    return (
        producer in subject.summaries
        and subject.users(producer) == (consumer,)
        and _is_loop(producer)
        and _is_loop(consumer)
        and (row.reads == row.elements_read or _only_moves(producer))
    )


def _is_loop(kernel: Instruction) -> bool:
    """Whether XLA emits a kernel as loops over its result, and can emit more in them."""
    if kernel.opcode == "fusion":
        return kernel.attributes.get("kind") in _KINDS and not kernel.shape.is_tuple
    return kernel.opcode in _LOOPS


def _inside(kernel: Instruction) -> Sequence[Instruction]:
    bodies = kernel.computations if kernel.opcode == "fusion" else ()
    return tuple(each for body in bodies for each in body.instructions) or (kernel,)


def _only_moves(kernel: Instruction) -> bool:
    """Whether a kernel computes nothing: to move elements again costs no operation."""
    return all(each.opcode in _MOVES or each.opcode == "parameter" for each in _inside(kernel))


def _reduces(instruction: Instruction) -> bool:
    return instruction.opcode == "reduce"


def _bytes_of_result(kernel: Instruction) -> int:
    array = kernel.shape.arrays[0]
    return array.element_count * array.element_size_in_bits // _BITS


_BITS: Final = 8
_KINDS: Final = ("kLoop", "kInput")
_MOVES: Final = frozenset(("bitcast", "broadcast", "concatenate", "pad", "reshape", "slice"))
_LOOPS: Final = ELEMENTWISE | _MOVES | {"reduce"}

RULES: Final[tuple[Rule, ...]] = (missing_fusions,)
