"""Kernels that write, compute or read what they need not: fusions to make, to widen or to end.

Where the module has no fusion at all, XLA has not made any yet, and no kernel is looked at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, product
from typing import Any, Final, TypeAlias

from indexing import MapError
from indexing.layout import ElementType
from ops.advice import waste
from ops.advice.waste import MOVED, RECEIVED, Measure, Rule, Subject, Waste, bytes_of, edited_by
from ops.fusion import Fusion, Reads
from ops.hlo import Computation, EditError, Instruction, ModuleEditor
from ops.hlo.attributes import COMMON_ATTRIBUTES
from ops.performance.kernels import root_of
from ops.performance.tally import Count, at_most, sum_of_counts
from ops.performance.utilization import OperandUtilization
from ops.rules.elementwise import ELEMENTWISE
from ops.rules.rule import Unknown
from ops.xla_gpu import KERNELS, Emitter, Heroes, emitter_and_heroes, results_of
from simplifier.errors import listed
from simplifier.exact import BudgetError, NotQuasiAffineError

# Kernels and what is in them.


def is_loop(kernel: Instruction) -> bool:
    """Whether it computes each element of its results on its own, or on the way of a hero.

    A copy stands alone where an array has to be in another place. Where arrays lie in tiles, as on
    TPUs, whole tiles are computed.
    """
    is_fusion = kernel.opcode == "fusion" and kernel.attributes.get("kind") in ("kLoop", "kInput")
    lies_in_tiles = any(array.layout and array.layout.tiles for array in kernel.shape.arrays)
    return (is_fusion or kernel.opcode in _LOOPS) and not lies_in_tiles


_LOOPS: Final = ELEMENTWISE.difference(("copy",)).union(
    ("bitcast", "broadcast", "concatenate", "pad", "reduce", "reshape", "slice")
)
"""Opcodes of kernels that are loops, if they stand alone."""


def inside_of(kernel: Instruction) -> Sequence[Instruction]:
    """The instructions that a kernel runs."""
    return kernel.computations[0].instructions if kernel.opcode == "fusion" else (kernel,)


def opened(editor: ModuleEditor, kernel: Instruction) -> Sequence[Instruction]:
    """The instructions of a kernel, in the place of its fusion."""
    return editor.inline(kernel) if kernel.opcode == "fusion" else (kernel,)


def closed(editor: ModuleEditor, inside: Collection[Instruction], kernel: Instruction) -> None:
    """Put instructions into a fusion in the place of a kernel; nothing, if there are none."""
    if inside:
        editor.outline(inside, name=kernel.name, kind=_kind_of(inside))


def _kind_of(instructions: Iterable[Instruction]) -> str:
    return "kInput" if any(each.opcode == "reduce" for each in instructions) else "kLoop"


def copied(
    editor: ModuleEditor, instructions: Iterable[Instruction]
) -> dict[Instruction, Instruction]:
    """A copy of each of some instructions; the copies read copies."""
    copies: dict[Instruction, Instruction] = {}
    for each in instructions:
        operands = [copies.get(operand, operand) for operand in editor.operands(each)]
        copies[each] = editor.clone(each, operands=operands)
    return copies


def made_of(value: Instruction, operands: waste.Operands = waste.OPERANDS) -> Sequence[Instruction]:
    """A value, and what it is made of by moves and conversions alone, in no more bytes each."""
    made = [value]
    while made[-1].opcode in _CONVEY:
        (before,) = operands(made[-1])
        if bytes_of(before) > bytes_of(made[-1]):
            break
        made.append(before)
    return made


_CONVEY: Final = frozenset(("bitcast", "broadcast", "convert", "copy", "reshape", "transpose"))
"""Opcodes of one operand that compute nothing."""


def _listed(instructions: Iterable[Instruction]) -> str:
    return listed([f"%{each.name}" for each in instructions])


def _so_others(kernels: Sequence[Instruction]) -> str:
    """A sentence that says which kernels are like the first one."""
    _, *others = kernels
    return f" So {'do' if others[1:] else 'does'} {_listed(others)}." if others else ""


# Results that are written to memory only for another kernel: fusions that are missing.


def missing_fusions(subject: Subject) -> Iterator[Waste]:
    """Results that one other kernel reads, where to fuse both computes nothing again.

    What leads to the same kernel in this way is one waste.
    """
    groups = _groups(subject).items() if subject.is_fused else ()
    for same in subject.alike((*producers, consumer) for consumer, producers in groups):
        *producers, consumer = same[0]
        largest = max(producers, key=bytes_of)
        alike = [each[producers.index(largest)] for each in same]
        yield Waste(
            kind="missing fusion",
            instruction=largest,
            why=f"%{largest.name}, {bytes_of(largest):,} bytes, is written only to be read by"
            f" {_listed(largest.users)}.{_so_others(alike)}",
            mend=f"Fuse {waste.names_of(producers)} into %{consumer.name}.",
            measure=MOVED,
            expected=2 * subject.bytes_of_runs(alike),
            edit=edited_by(fused, groups=same),
        )


def fused(editor: ModuleEditor, *, groups: Iterable[Sequence[Instruction]]) -> None:
    """Put each group of kernels, which lead to the last one, into one fusion.

    Raises:
        EditError: XLA could not emit one as it emits the kernels: a transpose would be a loop.
    """
    for kernels in groups:
        inside = [each for kernel in kernels for each in opened(editor, kernel)]
        new = editor.outline(inside, name=kernels[-1].name, kind=_kind_of(inside))
        emitters = {emitter_and_heroes(root_of(each))[0] for each in kernels}
        if (emitters & waste.IN_ORDER) - {emitter_and_heroes(root_of(new))[0]}:
            raise EditError(f"fuse: %{new.name} would lose the emitter of %{kernels[0].name}")


def _groups(subject: Subject) -> Mapping[Instruction, Sequence[Instruction]]:
    """Kernels that could be fused into the one that all their readers lead to, by that one."""
    kernels, last = [*subject.summaries], dict[Instruction, Instruction]()
    reductions = {each: [e.opcode for e in inside_of(each)].count("reduce") for each in kernels}
    for producer in reversed(kernels):
        ends = {last.get(each, each) for each in producer.users}
        if len(ends) == 1 and _fits(producer, subject.readers.get(producer, ())):
            (end,) = ends
            if reductions[end] + reductions[producer] <= 1:
                last[producer] = end
                reductions[end] += reductions[producer]
    groups: dict[Instruction, list[Instruction]] = {}
    for producer in filter(last.__contains__, kernels):
        groups.setdefault(last[producer], []).append(producer)
    return groups


def _fits(producer: Instruction, read: Sequence[OperandUtilization]) -> bool:
    """Whether only kernels read a result, and nothing is computed again in one with them."""
    return (
        {row.fusion.roots[0] for row in read} == {*producer.users}
        and not producer.is_root
        and all(map(is_fusible, (producer, *producer.users)))
        and (_only_moves(producer) or all(row.reads == row.elements_read for row in read))
    )


def is_fusible(kernel: Instruction) -> bool:
    """Whether XLA emits a kernel as loops over its result, and can emit more in them."""
    is_known = all(each.opcode in _IN_LOOPS for each in inside_of(kernel))
    return is_known and is_loop(kernel) and not kernel.shape.is_tuple


_IN_LOOPS: Final = _LOOPS.union(
    ("constant", "copy", "dynamic-slice", "gather", "iota", "parameter", "reverse", "transpose")
)
"""Opcodes that XLA fuses into loops; a dot, a window or an update in place is a kernel's own."""


def _only_moves(kernel: Instruction) -> bool:
    """Whether a kernel computes nothing: to move elements again costs no operation."""
    return all(each.opcode in _MOVES for each in inside_of(kernel))


_MOVES: Final = frozenset(
    ("bitcast", "broadcast", "concatenate", "pad", "parameter", "reshape", "slice")
)


# Results that are wider than what they are made of, or than what their readers make of them.


def wide_results(subject: Subject) -> Iterator[Waste]:
    """Results of which several kernels could read something narrower."""
    read = [each for each in subject.summaries if subject.is_fused and _are_fusible(each)]
    for same in subject.alike((each, *each.users) for each in read):
        (kernel, *users), kernels = same[0], [each for each, *_ in same]
        narrow, narrower = made_of(root_of(kernel))[-1], _read_as(kernel, users)
        readers, verb = _listed(users), "convert"
        if narrower:
            why = f" as {kernel.shape.element_type}, which {readers} read as {narrower}"
            mend = f"Let %{kernel.name} convert what it writes."
        elif bytes_of(narrow) < bytes_of(kernel) and not _turns(kernel):
            if narrow.shape.element_type.bits == kernel.shape.element_type.bits:
                verb = "make"
            why = f" for the {bytes_of(narrow):,} of {narrow.shape.short_text}"
            mend = f"Let {readers} {verb} what they read."
        else:
            continue
        yield Waste(
            kind="dtype" if verb == "convert" else "missing fusion",
            instruction=kernel,
            why=f"%{kernel.name} writes {bytes_of(kernel):,} bytes{why}.{_so_others(kernels)}",
            mend=mend,
            measure=MOVED,
            expected=subject.bytes_of_runs(kernels),
            edit=edited_by(narrowed if narrower else spread, groups=same),
        )


def _are_fusible(kernel: Instruction) -> bool:
    """Whether several kernels read a result, all of which could do more, and nobody else does."""
    users = kernel.users
    return len(users) > 1 and not kernel.is_root and all(map(is_fusible, (kernel, *users)))


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


def _reads_inside(kernel: Instruction, user: Instruction) -> Sequence[Instruction]:
    """The instructions of a user that read the result of a kernel."""
    given = waste.passed_to(user, kernel) if user.opcode == "fusion" else ()
    return [each for inside in given for each in inside.users] if given else [user]


def narrowed(editor: ModuleEditor, *, groups: Iterable[Sequence[Instruction]]) -> None:
    """Let kernels convert their results, and not those that read them."""
    for kernel, *users in groups:
        inside, root = _opened(editor, kernel)
        readers = [opened(editor, user) for user in users]
        converts = editor.users(root)
        for user, reader in zip(users, readers, strict=True):
            closed(editor, [each for each in reader if each not in converts], user)
        closed(editor, _each_once(editor, [*inside, *converts]), kernel)


def spread(editor: ModuleEditor, *, groups: Iterable[Sequence[Instruction]]) -> None:
    """Let those that read a result make it themselves of what is narrower."""
    for kernel, *users in groups:
        inside, root = _opened(editor, kernel)
        *made, _ = made_of(root, editor.operands)
        for user in users:
            copies = copied(editor, reversed(made))
            editor.replace_uses(root, copies[root], [user])
            closed(editor, [*copies.values(), *opened(editor, user)], user)
        editor.remove(root)
        closed(editor, [each for each in inside if each not in made], kernel)


def _opened(editor: ModuleEditor, kernel: Instruction) -> tuple[Sequence[Instruction], Instruction]:
    """The instructions of a kernel in the place of its fusion, and the one with the result."""
    inside, users = opened(editor, kernel), editor.users(kernel)
    return inside, next(each for each in inside if editor.users(each) == users)


# Values that a kernel computes again for each element that they are broadcast to.


def recompute(subject: Subject) -> Iterator[Waste]:
    """Values in kernels that are loops, which a kernel of their own would compute once.

    Only what is much to do beside the bytes that a kernel moves: a few cheap operations cost less
    than to write their results and to read them.
    """
    fusions = (each for each in subject.summaries if each.opcode == "fusion" and is_loop(each))
    for same in subject.alike((each,) for each in fusions):
        kernels = [each for (each,) in same]
        least = _WORTH_A_BYTE * at_most(subject.summaries[kernels[0]].bytes)
        places = {
            each: saved
            for each, saved in _places(kernels[0]).items()
            if saved >= max(least, _WORTH_A_MOVE * 2 * bytes_of(each))
        }
        if sum(places.values()) >= _WORTH_A_KERNEL:
            yield _recomputed(subject, kernels, [*places], sum(places.values()) * len(kernels))


def _recomputed(
    subject: Subject, kernels: Sequence[Instruction], places: Sequence[Instruction], saved: int
) -> Waste:
    kernel, place = kernels[0], places[-1]
    elements, found = place.shape.element_count, evaluations(kernel)
    inside = waste.leading_to(places, among=_is_computed)
    unit, opcodes = _what_is_counted(inside, found)
    among = subject.these_or_new(kernels)
    outside = _operations(subject, kernels, opcodes, without=inside)

    def operations(subject: Subject) -> Count:
        return _operations(subject, filter(among, subject.summaries), opcodes) - outside

    return Waste(
        kind="recompute",
        instruction=place,
        why=f"%{kernel.name} computes each of the {elements:,} elements of %{place.name}"
        f" {found[place] // elements:,} times, wherever it is needed.{_so_others(kernels)}",
        mend=f"End a fusion at {waste.names_of(places)}.",
        measure=Measure(unit, operations, _all_operations, 0),
        expected=saved,
        edit=edited_by(separated, kernels=kernels, places=[[each] for each in places]),
    )


def separated(
    editor: ModuleEditor, *, kernels: Sequence[Instruction], places: Iterable[Sequence[Instruction]]
) -> None:
    """Let fusions that are alike end at some of their values, those of the first one.

    Values that are listed together have one fusion.
    """
    bodies = [*dict.fromkeys(body for kernel in kernels for body in kernel.computations)]
    number = {each: position for position, each in enumerate(bodies[0].instructions)}
    for body, together in product(bodies, places):
        ends = [body.instructions[number[each]] for each in together]
        copies = copied(editor, waste.leading_to(ends, editor.operands, _is_computed))
        for end in ends:
            editor.replace(end, copies[end])
        closed(editor, copies.values(), ends[-1])
    for kernel in kernels:
        rest = [each for each in editor.inline(kernel) if not _is_apart(each)]
        editor.outline(rest, name=kernel.name, kind=kernel.attributes["kind"])


def _is_apart(each: Instruction) -> bool:
    """Whether it is a fusion that was put apart, one of its results, or a list of results."""
    source = each.operands[0] if each.opcode == "get-tuple-element" else each
    return source.opcode in ("fusion", "tuple")


def _is_computed(each: Instruction) -> bool:
    """Whether the kernel computes a value; it reads parameters, and results of other fusions."""
    return each.opcode not in ("parameter", "fusion")


def _places(kernel: Instruction) -> Mapping[Instruction, int]:
    """The values that a kernel of their own would compute less often, and about what it saves.

    An emitter computes its hero once for each element, however often it is read. A scalar is kept
    by a loop, and values that are read less than twice are not looked at.
    """
    (body,) = kernel.computations
    heroes = {*emitter_and_heroes(body.root)[1]}
    repeating = (each for each in body.instructions if each.opcode in _REPEAT)
    saves: dict[Instruction, int] = {}
    for user, operand in ((each, operand) for each in repeating for operand in each.operands):
        place, elements = made_of(operand)[-1], operand.shape.element_count
        inside = waste.leading_to([place], among=_is_computed)
        work = sum(_weight(each) * each.shape.arrays[0].element_count for each in inside)
        if work and elements > 1 and heroes.isdisjoint(inside):
            again = _reads(user, operand) - elements
            if again >= elements:
                saves[place] = max(saves.get(place, 0), work * again // elements)
    return {each: saves[each] for each in body.instructions if each in saves}


def _weight(instruction: Instruction) -> int:
    return _of_one(instruction) * (_COST if instruction.opcode in _COSTLY else 1)


# Operations.


def evaluations(kernel: Instruction) -> Mapping[Instruction, int]:
    """How often a kernel computes an element of each instruction that it fuses.

    >>> from ops import hlo
    >>> module = hlo.parse('''f { v = f32[8] parameter(0) e = f32[8] exponential(v)
    ...   ROOT b = f32[4,8] broadcast(e), dimensions={1} }
    ... ENTRY e { v = f32[8] parameter(0) ROOT f = f32[4,8] fusion(v), kind=kLoop, calls=f }''')
    >>> [(each.name, times) for each, times in evaluations(module["f"]).items()]
    [('v', 32), ('e', 32), ('b', 32)]
    """
    found = Fusion.of(kernel).reads_inside()
    return {each: _total(reads, each) for (each, number), reads in found.items() if not number}


def _reads(user: Instruction, operand: Instruction) -> int:
    """How often an instruction alone reads elements of an operand."""
    return _total(Fusion.of_instruction(user).reads(operand), operand)


def _total(reads: Reads | Unknown, of: Instruction) -> int:
    """The reads, or one of each element where nobody knows."""
    try:
        found = None if isinstance(reads, Unknown) else reads.total()
    except (MapError, NotQuasiAffineError, BudgetError):
        found = None
    return found if isinstance(found, int) else of.shape.arrays[0].element_count


def _of_one(instruction: Instruction) -> int:
    """Operations for one element of a result."""
    if instruction.opcode in _FOLD:
        elements = instruction.shape.arrays[0].element_count
        return _reads(instruction, instruction.operands[0]) // max(elements, 1)
    return int(instruction.opcode in _COMPUTE)


def _operations(
    subject: Subject,
    kernels: Iterable[Instruction],
    opcodes: Collection[str],
    without: Collection[Instruction] = (),
) -> int:
    """Operations of kernels in all their runs; kernels that are alike are counted once."""
    counted = 0
    for same in subject.alike((each,) for each in kernels):
        found = evaluations(same[0][0]).items()
        some = ((each, times) for each, times in found if each.opcode in opcodes)
        once = sum(_of_one(each) * times for each, times in some if each not in without)
        counted += once * sum(subject.runs_of(each) for (each,) in same)
    return counted


def _all_operations(subject: Subject) -> Count:
    """Operations on single elements; a reduction counts one for each element that it folds."""
    return _operations(subject, subject.summaries, _COMPUTE | _FOLD)


def _what_is_counted(
    inside: Iterable[Instruction], times: Mapping[Instruction, int]
) -> tuple[str, Collection[str]]:
    """A word for the operations that are most of the work of a chain, and their opcodes."""
    work = Counter[str]()
    for each in inside:
        work[each.opcode] += _weight(each) * times.get(each, 0)
    costly = _COSTLY & work.keys()
    elementwise, folded = (sum(work[each] for each in kind) for kind in (_COMPUTE, _FOLD))
    if folded > 2 * elementwise:
        return "steps of reductions", _FOLD
    if len(costly) == 1 and 2 * work[min(costly)] >= elementwise:
        return f"{min(costly)}s", costly
    return "elementwise operations of the chain", _COMPUTE


_COMPUTE: Final = ELEMENTWISE - {"convert", "imag", "real"}
_FOLD: Final = frozenset(("convolution", "dot", "reduce", "reduce-window"))
"""Opcodes with a loop over elements for each element of the result."""

_REPEAT: Final = frozenset(("broadcast", "convolution", "dot", "reduce-window"))
"""Opcodes that may read an element several times."""

_COSTLY: Final = frozenset(
    (
        *("atan2", "cbrt", "cosine", "divide", "erf", "exponential", "exponential-minus-one"),
        *("log", "log-plus-one", "logistic", "power", "remainder", "rsqrt", "sine", "sqrt"),
        *("tan", "tanh"),
    )
)
"""Operations that take many instructions.

Source: XLA's ``InstructionFusion::IsExpensive``.
"""

_COST: Final = 16
"""A costly operation is worth so many cheap ones, roughly."""

_WORTH_A_BYTE: Final = 4
"""A device does some tens of operations while it moves a byte."""

_WORTH_A_KERNEL: Final = 1 << 20
"""A device does so many cheap operations while a kernel begins, at the least."""

_WORTH_A_MOVE: Final = 32
"""So many are worth a byte that is moved in place of them."""


# What is computed, written or read twice.


def duplicates(subject: Subject) -> Iterator[Waste]:
    """What is computed or written again, and what several kernels read as one could."""
    values = ValueNumbers()
    again = [each for each in _again(subject, values) if subject.is_fused or _received(each[0])]
    later = {each for each, _, *moves in again if not moves}
    kernels = [each for each in subject.summaries if is_loop(each) and each not in later]
    together = [*_read_together(subject, kernels)] if subject.is_fused else []
    merged = {*chain.from_iterable(together)}
    for same in subject.alike(each for each in again if each[0] not in merged):
        yield _computed_twice(subject, same)
    for same in subject.alike((each,) for each in kernels if each.opcode == "fusion"):
        yield from _written_twice(subject, same, values)
    for same in subject.alike(together):
        yield _read_by_several(subject, same)


_Twice: TypeAlias = "tuple[Instruction, ...]"
"""A kernel, another one that has what it computes, and the moves into its order, last first."""


def _again(subject: Subject, values: ValueNumbers) -> Iterator[_Twice]:
    """What computes the bytes of an earlier instruction, or those of another one in other order.

    A copy, or an array filled with a constant, may be there to be written over.
    """
    for computation in subject.runs:
        numbers = values.of(computation)
        kernels = [each for each in numbers if each in subject.summaries and _stays(each)]
        first = {values.bytes_of(numbers[each]): each for each in reversed(kernels)}
        for each in kernels:
            read = {values.bytes_of(numbers[operand]) for operand in each.operands}
            moves: list[Instruction] = []
            for number, move in zip(values.moved(numbers[each]), _moves_to(each), strict=False):
                other = first.get(number, each)
                if other is not each and (not moves or number not in read):
                    yield each, other, *moves
                    break
                moves.append(move)


def _stays(kernel: Instruction) -> bool:
    """Whether nothing writes over the result of a kernel in its place."""
    *_, end = _moves_to(kernel)
    is_copy = root_of(kernel).opcode == "copy" and end.opcode == "parameter"
    arrays = (array for each in kernel.operands for array in each.shape.arrays)
    is_filled = all(array.element_count == 1 for array in arrays)
    return not (kernel.opcode == "copy" or is_copy or is_filled or kernel.opcode.endswith("-start"))


def _moves_to(kernel: Instruction) -> Iterator[Instruction]:
    """The instructions at the end of a kernel that move its result, and what they move."""
    end = root_of(kernel)
    while end is not kernel and end.opcode in _REORDER:
        yield end
        (end,) = end.operands
    yield end


_REORDER: Final = ("bitcast", "copy", "reshape", "transpose")


def _received(instruction: Instruction) -> Count:
    """Bytes that a device receives for a collective, or for one that ends here."""
    is_end = instruction.opcode.endswith("-done")
    return waste.received_by_device(instruction.operands[0] if is_end else instruction)


def _computed_twice(subject: Subject, same: Sequence[_Twice]) -> Waste:
    (later, other, *moves), kernels = same[0], [each for each, *_ in same]
    what = f"computes what %{other.name} has, in another order"
    return Waste(
        kind="duplicate",
        instruction=later,
        why=f"%{later.name} {what if moves else f'has the bytes that %{other.name} has'}."
        f"{_so_others(kernels)}",
        mend=f"Copy %{other.name} into that order." if moves else f"Use %{other.name} twice.",
        measure=RECEIVED if _received(later) else MOVED,
        expected=subject.bytes_of_runs(kernels),
        edit=edited_by(_without, same=same),
    )


def _without(editor: ModuleEditor, *, same: Iterable[_Twice]) -> None:
    """Let one kernel of each pair serve for both."""
    for kernel, other, *moves in same:
        shape = moves[-1].operands[0].shape if moves else kernel.shape
        is_same = shape == other.shape
        new = other if is_same else editor.insert("bitcast", [other], shape, like=kernel)
        moved: list[Instruction] = []
        for each in reversed(moves):
            order = {key: each.attributes[key] for key in ("dimensions",) if key in each.attributes}
            new = editor.insert(each.opcode, [new], each.shape, like=kernel, **order)
            moved.append(new)
        editor.replace(kernel, new)
        closed(editor, moved, kernel)
        if kernel.opcode.endswith("-done"):
            editor.remove(kernel.operands[0])


def _written_twice(
    subject: Subject, same: Sequence[Sequence[Instruction]], values: ValueNumbers
) -> Iterator[Waste]:
    kernels = [each for (each,) in same]
    numbers = values.of(kernels[0].computations[0])
    written: dict[int, list[Instruction]] = {}
    for each in sorted(results_of(root_of(kernels[0])), key=[*numbers].index):
        written.setdefault(values.bytes_of(numbers[each]), []).append(each)
    if twice := [each for each in written.values() if len(each) > 1]:
        first, *_, last = max(twice, key=lambda each: bytes_of(each[0]))
        again = sum(bytes_of(*each[1:]) for each in twice)
        yield Waste(
            kind="duplicate",
            instruction=last,
            why=f"%{kernels[0].name} writes %{first.name}, and the same bytes again as"
            f" %{last.name}.{_so_others(kernels)}",
            mend=f"Write %{first.name} once, and take %{last.name} from it outside.",
            measure=Measure("bytes written", _bytes_written, _bytes_written),
            expected=again * sum(map(subject.runs_of, kernels)),
            edit=edited_by(merged, groups=same),
        )


def _bytes_written(subject: Subject) -> Count:
    return sum_of_counts(
        found.bytes_written * subject.runs_of(each) for each, found in subject.summaries.items()
    )


def _read_by_several(subject: Subject, same: Sequence[Sequence[Instruction]]) -> Waste:
    kernels, alike = same[0], [each[0] for each in same]
    shared = set(kernels[0].operands).intersection(*(each.operands for each in kernels[1:]))
    largest = max(shared, key=bytes_of)
    again = (len(kernels) - 1) * bytes_of(largest)
    return Waste(
        kind="duplicate",
        instruction=kernels[0],
        why=f"{_listed(kernels)} each read %{largest.name}, {bytes_of(largest):,} bytes, in the"
        f" same way.{_so_others(alike)}",
        mend=f"One fusion with {len(kernels)} results reads %{largest.name} once.",
        measure=MOVED,
        expected=again * sum(map(subject.runs_of, alike)),
        edit=edited_by(merged, groups=same),
    )


def _read_together(
    subject: Subject, kernels: Collection[Instruction]
) -> Iterator[Sequence[Instruction]]:
    """Kernels that could be one which reads an array once: each in one group at most."""
    large = [each for each in subject.readers if bytes_of(each) > _CACHED]
    left = {*kernels}
    for array in sorted(large, key=bytes_of, reverse=True):
        groups: list[list[OperandUtilization]] = []
        for row in subject.readers[array] if array.shape.is_array else ():
            if row.fusion.roots[0] in left:
                group = next((each for each in groups if _fit([*each, row])), None)
                if group is None:
                    groups.append(group := [])
                group.append(row)
        for group in (each for each in groups if len(each) > 1):
            together = tuple(row.fusion.roots[0] for row in group)
            left.difference_update(together)
            yield together


def _fit(rows: Sequence[OperandUtilization]) -> bool:
    """Whether XLA could emit some kernels as one that reads their common operand once."""
    kernels = [row.fusion.roots[0] for row in rows]
    results = [*chain.from_iterable(results_of(root_of(each)) for each in kernels)]
    found = [_emitted(kernel) for kernel in kernels]
    emitters = {emitter for emitter, _ in found if emitter is not Emitter.LOOP}
    before = waste.leading_to(operand for each in kernels for operand in each.operands)
    is_ordered = not {*kernels}.isdisjoint(before)
    if len(emitters) > 1 or not emitters <= waste.IN_ORDER or len(results) > _MOST or is_ordered:
        return False
    if emitters:
        (emitter,) = emitters
        return KERNELS[emitter].fits(results, [*chain.from_iterable(each for _, each in found)])
    arrays = (array for each in results for array in each.shape.arrays)
    sizes = {(array.dimensions, array.layout) for array in arrays}
    maps = {frozenset(way.map for way in row.ways) for row in rows}
    return len(sizes) == len(maps) == 1 and not any(way.runtime for way in rows[0].ways)


def _emitted(kernel: Instruction) -> tuple[Emitter, Heroes]:
    """The emitter of a kernel, and its heroes; processors have loops only."""
    emitter, heroes = emitter_and_heroes(root_of(kernel))
    if kernel.attributes.get("kind") == "kLoop" and emitter in waste.IN_ORDER:
        return Emitter.LOOP, (None,) * len(heroes)
    return emitter, heroes


_CACHED: Final = 1 << 18
"""So many bytes stay in a cache near the cores from one kernel to the next."""

_MOST: Final = 64
"""XLA fuses no more results."""


class ValueNumbers:
    """Numbers of the values of a module; a fusion has the number of what it computes.

    >>> from ops import hlo
    >>> module = hlo.parse('''f { p = f32[8] parameter(0) ROOT e = f32[8] exponential(p) }
    ... ENTRY e { p = f32[8] parameter(0) a = f32[8] fusion(p), kind=kLoop, calls=f
    ...   b = f32[8] exponential(p) ROOT c = f32[2,4] bitcast(b) }''')
    >>> values = ValueNumbers()
    >>> p, a, b, c = values.of(module.entry).values()
    >>> a == b, b == c, b == values.bytes_of(c)
    (True, False, True)
    """

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self._read: dict[int, int] = {}
        self._bytes: dict[int, int] = {}

    def bytes_of(self, number: int) -> int:
        """The number of an array in memory, which its bitcasts share."""
        return self._bytes.get(number, number)

    def moved(self, number: int) -> Iterator[int]:
        """Numbers of the array, and of those that it holds in another order."""
        while True:
            yield self.bytes_of(number)
            if number not in self._read:
                return
            number = self._read[number]

    def of(
        self, computation: Computation, arguments: Sequence[int] | None = None
    ) -> Mapping[Instruction, int]:
        """The number of each instruction, for some values of the parameters."""
        found: dict[Instruction, int] = {}
        for each in computation.instructions:
            read = [found[operand] for operand in each.operands]
            if each.parameter_number is not None and arguments is not None:
                found[each] = arguments[each.parameter_number]
            elif each.opcode == "fusion":
                (body,) = each.computations
                found[each] = self.of(body, read)[body.root]
            else:
                found[each] = self.number(each, read)
                if each.opcode == "bitcast":
                    self._bytes[found[each]] = self.bytes_of(read[0])
                if each.opcode in _REORDER:
                    self._read[found[each]] = read[0]
        return found

    def number(self, instruction: Instruction, read: Sequence[Hashable]) -> int:
        """The number of an instruction by what it reads; not that of the channel matters."""
        attributes = instruction.attributes
        named = [(name, self._plain(attributes[name])) for name in attributes if name not in _NOTES]
        own = instruction if instruction.opcode in _SINGLE else instruction.parameter_number
        key = instruction.opcode, instruction.shape, own, instruction.literal, *named
        return self._numbers.setdefault((*key, *read), len(self._numbers))

    def _plain(self, value: Any) -> Hashable:  # noqa: ANN401 - one type for each attribute
        return self.of(value)[value.root] if isinstance(value, Computation) else value


_NOTES: Final = frozenset((*COMMON_ATTRIBUTES, "channel_id"))
"""Attributes that no value depends on."""

_SINGLE: Final = frozenset(
    (
        *("after-all", "call", "conditional", "custom-call", "infeed", "outfeed", "recv"),
        *("recv-done", "rng", "rng-bit-generator", "rng-get-and-update-state", "send", "send-done"),
        *("async-start", "while"),
    )
)
"""Opcodes of what is never the same twice, or would be compared by what it runs."""


def merged(editor: ModuleEditor, *, groups: Iterable[Sequence[Instruction]]) -> None:
    """Make each group of fusions one, which computes and writes equal values once."""
    for kernels in groups:
        kinds = (kernel.attributes.get("kind", "") for kernel in kernels)
        kind = "kInput" if "kInput" in kinds else "kLoop"
        inside = [each for kernel in kernels for each in opened(editor, kernel)]
        one = _each_once(editor, inside)
        for each in reversed([*one]):
            if each.opcode == "bitcast" and one.keys().isdisjoint(editor.users(each)):
                del one[each]
        editor.outline(one, name=kernels[0].name, kind=kind)


def _each_once(
    editor: ModuleEditor, instructions: Iterable[Instruction]
) -> dict[Instruction, None]:
    """The instructions without tuples, and without those that compute what another one does."""
    values = ValueNumbers()
    first: dict[int, Instruction] = {}
    for each in instructions:
        operands = editor.operands(each)
        if each.opcode != "tuple":
            known = first.setdefault(values.number(each, operands), each)
            editor.replace(each, known)
            continue
        for user in editor.users(each):
            if user.opcode == "get-tuple-element":
                index: int = user.attributes["index"]
                editor.replace(user, operands[index])
    return dict.fromkeys(first.values())


RULES: Final[tuple[Rule, ...]] = (missing_fusions, wide_results, recompute, duplicates)
