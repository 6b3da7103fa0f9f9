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
    copied,
    in_words,
    is_loop,
    kind_of,
    narrowest,
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
        readers = listed([f"%{each.name}" for each in subject.users(largest)])
        alike_to_it = [each[producers.index(largest)] for each in same]
        yield Waste(
            kind="missing fusion",
            instruction=largest,
            why=f"%{largest.name}, {in_words(written)} bytes, is written only to be read by"
            f" {readers}.{so_others(alike_to_it)}",
            mend=f"Fuse {' and '.join(f'%{each.name}' for each in producers)}"
            f" into %{consumer.name}.",
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


# Results that are made of narrower ones by moves and conversions: each reader can do so itself.


def wide_results(subject: Subject) -> Iterator[Waste]:
    """Results that several kernels read, which would read less if they made them themselves."""
    wide = [each for each in subject.summaries if subject.is_fused and _is_wide(subject, each)]
    for same in alike(subject, ((each,) for each in wide)):
        kernels = [each for (each,) in same]
        kernel, narrow = kernels[0], narrowest(root_of(kernels[0]))
        bits = [each.shape.element_type.bits for each in (narrow, root_of(kernel))]
        written = bytes_of_result(kernel)
        yield Waste(
            kind="dtype" if bits[0] < bits[1] else "missing fusion",
            instruction=kernel,
            why=f"%{kernel.name} writes {in_words(written)} bytes for the"
            f" {in_words(bytes_of_result(narrow))} of {narrow.shape.short_text}."
            f"{so_others(kernels)}",
            mend=f"Let {listed([f'%{each.name}' for each in subject.users(kernel)])}"
            f" {'convert' if bits[0] < bits[1] else 'make'} what they read.",
            unit="bytes moved",
            figure=bytes_moved,
            measure=MOVED,
            expected=written * sum(map(subject.runs_of, kernels)),
            edit=partial(spread, kernels={each: subject.users(each) for each in kernels}),
        )


def _is_wide(subject: Subject, kernel: Instruction) -> bool:
    users = subject.users(kernel)
    return (
        len(users) > 1
        and kernel is not kernel.computation.root
        and all(_is_loop(each) for each in (kernel, *users))
        and bytes_of_result(narrowest(root_of(kernel))) < bytes_of_result(kernel)
    )


def spread(module: HloModule, *, kernels: Mapping[Instruction, Sequence[Instruction]]) -> HloModule:
    """The module where those that read a result make it themselves of what is narrower."""
    editor = edit(module)
    for kernel, users in kernels.items():
        inside = opened(editor, kernel)
        root = next(each for each in inside if editor.users(each) == editor.users(kernel))
        last, made = narrowest(root, editor.operands), [root]
        while (before := editor.operands(made[-1])[0]) is not last:
            made.append(before)
        for user in users:
            copies = copied(editor, reversed(made))
            editor.replace_uses(root, copies[root], [user])
            reader = [*copies.values(), *opened(editor, user)]
            editor.outline(reader, name=user.name, kind=kind_of(reader))
        editor.remove(root)
        rest = [each for each in inside if each not in made]
        if rest:
            editor.outline(rest, name=kernel.name, kind=kind_of(rest))
    return editor.finish()


def _groups(subject: Subject) -> Mapping[Instruction, Sequence[Instruction]]:
    """Kernels that could be fused into the one that all their readers lead to, by that one."""
    read: dict[Instruction, dict[Instruction, OperandUtilization]] = {}
    for consumer, found in subject.summaries.items():
        for row in found.operands:
            read.setdefault(row.operand, {})[consumer] = row
    last: dict[Instruction, Instruction] = {}
    reductions = Counter({each: sum(map(_reduces, _inside(each))) for each in subject.summaries})
    for producer in reversed(tuple(subject.summaries)):
        users = subject.users(producer)
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
        and all(map(_is_loop, (producer, *users)))
        and (_only_moves(producer) or all(row.reads == row.elements_read for row in read.values()))
    )


def _is_loop(kernel: Instruction) -> bool:
    """Whether XLA emits a kernel as loops over its result, and can emit more in them."""
    is_known = all(each.opcode in _IN_LOOPS for each in _inside(kernel))
    return is_known and is_loop(kernel) and not kernel.shape.is_tuple


def _inside(kernel: Instruction) -> Sequence[Instruction]:
    bodies = kernel.computations if kernel.opcode == "fusion" else ()
    return tuple(each for body in bodies for each in body.instructions) or (kernel,)


def _only_moves(kernel: Instruction) -> bool:
    """Whether a kernel computes nothing: to move elements again costs no operation."""
    return all(each.opcode in _MOVES or each.opcode == "parameter" for each in _inside(kernel))


def _reduces(instruction: Instruction) -> bool:
    return instruction.opcode == "reduce"


_MOVES: Final = frozenset(("bitcast", "broadcast", "concatenate", "pad", "reshape", "slice"))
_IN_LOOPS: Final = LOOPS.union(
    ("constant", "copy", "dynamic-slice", "gather", "iota", "parameter", "reverse", "transpose")
)
"""Opcodes that XLA fuses into loops; a dot, a window or an update in place is a kernel's own."""


_KEPT: Final = frozenset((Emitter.REDUCTION, Emitter.TRANSPOSE))
"""Emitters that a fusion must not lose: threads of a loop would read far apart."""

RULES: Final[tuple[Rule, ...]] = (missing_fusions, wide_results)
