"""Results that are written to memory and need not be: fusions that are missing, types too wide."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final

from indexing.layout import ElementType
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
    names_of,
    narrowest,
    opened,
    root_of,
    so_others,
)
from ops.hlo import EditError, HloModule, Instruction, ModuleEditor, edit
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

# Results that are wider than what they are made of, or than what their readers make of them.


def wide_results(subject: Subject) -> Iterator[Waste]:
    """Results of which several kernels could read something narrower."""
    if not subject.is_fused:
        return
    read = [each for each in subject.summaries if _are_fusible(each)]
    for same in alike(subject, ((each, *each.users) for each in read)):
        kernel, *users = same[0]
        narrow, narrower = narrowest(root_of(kernel)), _read_as(kernel, users)
        readers = listed([f"%{each.name}" for each in users])
        if narrower:
            why = f" as {kernel.shape.element_type}, which {readers} read as {narrower}"
            mend = f"Let %{kernel.name} convert what it writes."
            yield _waste(subject, same, "dtype", why, mend, narrowed)
        elif bytes_of_result(narrow) < bytes_of_result(kernel) and not _turns(kernel):
            is_converted = narrow.shape.element_type.bits < kernel.shape.element_type.bits
            kind, verb = ("dtype", "convert") if is_converted else ("missing fusion", "make")
            why = f" for the {in_words(bytes_of_result(narrow))} of {narrow.shape.short_text}"
            mend = f"Let {readers} {verb} what they read."
            yield _waste(subject, same, kind, why, mend, spread)


def _waste(
    subject: Subject,
    same: Sequence[Sequence[Instruction]],
    kind: str,
    why: str,
    mend: str,
    changed: Callable[..., HloModule],
) -> Waste:
    """The waste of kernels that are alike, each listed with its readers."""
    kernels = [each for each, *_ in same]
    written = bytes_of_result(kernels[0])
    return Waste(
        kind=kind,
        instruction=kernels[0],
        why=f"%{kernels[0].name} writes {in_words(written)} bytes{why}.{so_others(kernels)}",
        mend=mend,
        unit="bytes moved",
        figure=bytes_moved,
        measure=MOVED,
        expected=written * sum(map(subject.runs_of, kernels)),
        edit=partial(changed, kernels={each: users for each, *users in same}),
    )


def _are_fusible(kernel: Instruction) -> bool:
    """Whether several kernels read a result, all of which could do more, and nobody else does."""
    users = kernel.users
    is_inside = len(users) > 1 and kernel is not kernel.computation.root
    return is_inside and all(map(is_fusible, (kernel, *users)))


def _turns(kernel: Instruction) -> bool:
    return any(each.opcode in {"copy", "transpose"} for each in inside_of(kernel))


def _read_as(kernel: Instruction, users: Sequence[Instruction]) -> ElementType | None:
    """The narrower type to which all readers convert a result before they do anything else."""
    reads = [each for user in users for each in _reads_inside(kernel, user)]
    types = {each.shape.element_type for each in reads}
    if any(each.opcode != "convert" for each in reads) or len(types) != 1:
        return None
    (narrow,) = types
    return narrow if narrow.bits < kernel.shape.element_type.bits else None


def _reads_inside(kernel: Instruction, user: Instruction) -> Iterator[Instruction]:
    """The instructions of a user that read the result of a kernel."""
    if user.opcode != "fusion":
        yield user
        return
    (body,) = user.computations
    for place, operand in enumerate(user.operands):
        if operand is kernel:
            yield from body.parameters[place].users


# The mends.


def narrowed(
    module: HloModule, *, kernels: Mapping[Instruction, Sequence[Instruction]]
) -> HloModule:
    """The module where kernels convert their results, and not those that read them."""
    editor = edit(module)
    for kernel, users in kernels.items():
        inside, root = _opened(editor, kernel)
        (convert, *_) = _reads_inside(kernel, users[0])
        shape = kernel.shape.with_element_type(convert.shape.element_type)
        new = editor.insert("convert", [root], shape, like=convert)
        for user in users:
            reader = opened(editor, user)
            converts = [each for each in reader if root in editor.operands(each)]
            for each in converts:
                editor.replace(each, new)
            rest = [each for each in reader if each not in converts]
            if rest:
                editor.outline(rest, name=user.name, kind=kind_of(rest))
        editor.outline([*inside, new], name=kernel.name, kind=kind_of(inside))
    return editor.finish()


def spread(module: HloModule, *, kernels: Mapping[Instruction, Sequence[Instruction]]) -> HloModule:
    """The module where those that read a result make it themselves of what is narrower."""
    editor = edit(module)
    for kernel, users in kernels.items():
        inside, root = _opened(editor, kernel)
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


def _opened(editor: ModuleEditor, kernel: Instruction) -> tuple[Sequence[Instruction], Instruction]:
    """The instructions of a kernel in the place of its fusion, and the one with the result."""
    inside, users = opened(editor, kernel), editor.users(kernel)
    return inside, next(each for each in inside if editor.users(each) == users)


RULES: Final[tuple[Rule, ...]] = (missing_fusions, wide_results)
