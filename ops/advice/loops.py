"""Loops: what each iteration computes again, and copies that nothing needs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from ops.advice import waste
from ops.advice.waste import MOVED, RECEIVED, Rule, Subject, Waste, bytes_of, leading_to, names_of
from ops.hlo import Computation, Instruction, ModuleEditor
from ops.hlo.builder import CONTROL
from ops.hlo.editor import SideEffects
from ops.loop_dependence import UPDATES
from ops.performance.kernels import moves_something, root_of
from ops.performance.tally import Count
from ops.rules.control import Array, kept_by, only_caller, routed_from
from ops.xla_gpu import results_of

# What each iteration computes again.


def loop_invariants(subject: Subject) -> Iterator[Waste]:
    """Kernels of a body that read only what the loop passes on as it is.

    What would be larger than all that it is computed from is no waste where XLA has not fused yet:
    it will be computed where it is read.
    """
    effects = SideEffects()
    for each in subject.module.computations:
        effects.note(each, each.instructions)
    invariant = {loop: _invariants(subject, loop, effects) for loop in _counted_loops(subject)}
    for loop, among in invariant.items():
        for kernel in filter(moves_something, among):
            cone = leading_to([kernel], among=among.__contains__)
            if _is_worth_it(subject, kernel, cone, among):
                yield _invariant(subject, kernel, cone, _around(loop, cone, invariant))


def _invariant(
    subject: Subject, kernel: Instruction, cone: Sequence[Instruction], loops: Sequence[Instruction]
) -> Waste:
    size, outermost = bytes_of(kernel), loops[-1]
    is_sent, among = any(map(waste.received_by_device, cone)), subject.these_or_new(cone)
    trips = subject.runs_of(kernel) // subject.runs_of(outermost)

    def moved(subject: Subject) -> Count:
        return waste.bytes_moved(subject, filter(among, subject.summaries))

    of_these = MOVED._replace(unit="bytes moved by it", figure=moved)
    return Waste(
        kind="loop invariant",
        instruction=kernel,
        why=f"%{kernel.name} depends only on what %{outermost.name} passes on as it is, yet each of"
        f" {trips:,} iterations computes it.",
        mend=f"Compute %{kernel.name} before %{outermost.name} and carry the result.",
        measure=RECEIVED if is_sent else of_these,
        expected=size * (trips - 1) * subject.runs_of(outermost),
        edit=waste.edited_by(hoisted, kernel=kernel, loops=loops),
        price=f"{size:,} bytes more live while %{outermost.name} runs.",
    )


def _around(
    loop: Instruction,
    cone: Iterable[Instruction],
    invariant: Mapping[Instruction, Collection[Instruction]],
) -> tuple[Instruction, ...]:
    """A loop and those around it, innermost first, that all pass on what a value depends on."""
    around, start = only_caller(loop.computation), loop.operands[0]
    read = {each.attributes["index"] for each in cone if each.opcode == "get-tuple-element"}
    if around is None or around not in invariant or start.opcode != "tuple":
        return (loop,)
    given = [each for number, each in enumerate(start.operands) if number in read]
    if not all(map(invariant[around].__contains__, given)):
        return (loop,)
    outer = leading_to(given, among=invariant[around].__contains__)
    return (loop, *_around(around, outer, invariant))


def hoisted(editor: ModuleEditor, *, kernel: Instruction, loops: Sequence[Instruction]) -> None:
    """Compute a value before loops, of which the first has it in its body."""
    for loop in loops:
        copies: dict[Instruction, Instruction] = {}
        for each in leading_to([kernel], editor.operands):
            copies[each] = _copy_before(editor, loop, each, copies)
        (inside,) = editor.carry(loop, [copies[kernel]])
        editor.replace(kernel, inside)
        waste.remove_unread(editor, reversed(copies))
        kernel = copies[kernel]


def _copy_before(
    editor: ModuleEditor,
    loop: Instruction,
    each: Instruction,
    copies: Mapping[Instruction, Instruction],
) -> Instruction:
    """An instruction of a body again before the loop, where its operands have copies."""
    into, shape, name = loop.computation, each.shape, each.name
    if each.literal is not None:
        return editor.constant(each.literal, shape, into=into, name=name)
    operands = editor.operands(each)
    if len(operands) == 1 and operands[0].parameter_number is not None:
        (start,), number = editor.operands(loop), int(each.attributes["index"])
        if start.opcode == "tuple":
            return editor.operands(start)[number]
        return editor.insert("get-tuple-element", [start], shape, index=number, name=name)
    attributes = {key: each.attributes[key] for key in each.attributes if key != CONTROL}
    reads = [copies[operand] for operand in operands]
    return editor.insert(each.opcode, reads, shape, into=into, name=name, **attributes)


def _counted_loops(subject: Subject) -> Iterator[Instruction]:
    """The loops that run several times, with bodies of their own, innermost last."""
    for each in (one for one in subject.running if one.opcode == "while"):
        body = each.attributes["body"].root
        if only_caller(body.computation) is each and subject.runs_of(body) > subject.runs_of(each):
            yield each


def _invariants(
    subject: Subject, loop: Instruction, effects: SideEffects
) -> dict[Instruction, None]:
    """The instructions of a body that give the same in each iteration, in order."""
    body, routes = loop.attributes["body"], subject.registry.routes
    (state,), kept = body.parameters, kept_by(body, routes)
    found: dict[Instruction, None] = {}
    for each in body.instructions:
        if each.operands == (state,):
            is_same = routed_from((each, 0), routes) in ((state, number) for number in kept)
        else:
            is_same = each is not state and all(map(found.__contains__, each.operands))
        is_free = not effects.of(each) or waste.received_by_device(each)
        if is_same and each.shape.is_array and is_free:
            found[each] = None
    return found


def _is_worth_it(
    subject: Subject,
    kernel: Instruction,
    cone: Iterable[Instruction],
    invariant: Collection[Instruction],
) -> bool:
    """Whether what varies reads a kernel, only reads it, and it is worth to be kept."""
    uses = Uses.of(subject, [(kernel, 0)])
    if uses.may_change or all(map(invariant.__contains__, uses.readers)) or _copied(kernel):
        return False
    read = [each for each in cone if each.opcode == "get-tuple-element"]
    is_written = any(each.opcode in _WRITE_OPERANDS for each in uses.readers)
    is_kept = subject.is_fused or is_written or any(map(waste.received_by_device, cone))
    return bool(read) and (is_kept or bytes_of(kernel) <= bytes_of(*read))


# Copies that nothing needs.


def needless_copies(subject: Subject) -> Iterator[Waste]:
    """Copies in the same layout, where the copy and what it is of could be one array."""
    copies: dict[Array, list[Instruction]] = {}
    for kernel in subject.summaries:
        if _copied(kernel) is not None:
            copies.setdefault(_origin((kernel, 0), subject, _copied), []).append(kernel)
    for origin, of_one in copies.items():
        choices = (of_one, *([each] for each in of_one))
        in_place = next(filter(None, (_in_place(subject, some, origin) for some in choices)), None)
        found = [in_place] if in_place else [_only_read(subject, each) for each in of_one]
        yield from (_copy(subject, each) for each in found if each)


class _Needless(NamedTuple):
    """Copies that are not needed, and why; who reads the array ``first``, before the ``update``."""

    copies: Sequence[Instruction]
    why: str
    mend: str
    update: Instruction | None = None
    first: Sequence[Instruction] = ()


def _copy(subject: Subject, found: _Needless) -> Waste:
    first, *others = found.copies
    size, runs, source = bytes_of(first), subject.runs_of(first), _source(first)
    times = f" in each of {runs:,} iterations" if runs > 1 else ""
    copies = "copy" if others else "copies"
    return Waste(
        kind="copy",
        instruction=first,
        why=f"{names_of(found.copies)} {copies} the {size:,} bytes of %{source.name}"
        f"{times}, {found.why}.",
        mend=found.mend,
        measure=MOVED._replace(
            unit="bytes copied in the loop" if runs > 1 else "bytes copied",
            figure=waste.of_each(found.copies, waste.bytes_moved_by),
        ),
        expected=2 * size * runs * len(found.copies),
        edit=waste.edited_by(shared, found=found),
    )


def shared(editor: ModuleEditor, *, found: _Needless) -> None:
    """Take out copies; an update of what was copied waits for those who read it."""
    for copy in found.copies:
        editor.replace(copy, _source(copy))
    if found.update and found.first:
        waits = (*found.update.attributes.get(CONTROL, ()), *found.first)
        given: dict[str, Any] = {CONTROL: waits}
        editor.replace(found.update, editor.clone(found.update, **given))


def _source(copy: Instruction) -> Instruction:
    """What is copied, maybe several times."""
    while (before := _copied(copy)) is not None:
        copy = before
    return copy


def _copied(kernel: Instruction) -> Instruction | None:
    """What an instruction copies in the same layout; ``None`` if it does something else."""
    root = root_of(kernel)
    is_copy = root.opcode == "copy" and root.operands[0].shape == root.shape
    if not is_copy or not root.shape.is_array or (root.shape.rank > 1 and not _says_layout(root)):
        return None
    if root is kernel:
        return kernel.operands[0]
    number = root.operands[0].parameter_number
    return None if number is None else kernel.operands[number]


def _says_layout(instruction: Instruction) -> bool:
    """Whether the text of an instruction has a layout, if it has a text."""
    span = instruction.span
    return "]{" in span.source[span.start : span.stop]


def _in_place(subject: Subject, copies: Sequence[Instruction], origin: Array) -> _Needless | None:
    """Copies of an array of a loop's state, of which the update could change the array itself."""
    after = _in_same_memory(subject, origin)
    if after is None:
        return None
    uses = Uses.of(subject, [origin, *((each, 0) for each in copies)])
    readers = [each for each in uses.readers if each not in copies]
    updates = _updates_leading_to(subject, after, uses.aliases)
    if not updates or updates[-1:] != [*uses.updates] or uses.escapes or uses.is_unsure:
        return None
    update, before = updates[-1], leading_to(updates[-1:])
    if update in leading_to(readers):
        return None
    early = f" after {names_of(readers)} read it" if readers else ""
    return _Needless(
        copies,
        f"although %{update.name} could change it in place{early}",
        f"Update %{_source(copies[0]).name} itself{early}.",
        update,
        [each for each in readers if each not in before],
    )


def _in_same_memory(subject: Subject, array: Array) -> Array | None:
    """The result that has the memory of an array of a parameter: next state of a loop, or output.

    ``None`` if there is none, or if the output is not an element of a tuple of arrays.
    """
    (origin, number), root = array, array[0].computation.root
    if origin.parameter_number is None:
        return None
    if _is_body(root.computation):
        return root, number
    is_flat = root.computation.is_entry and all(each.is_array for each in root.shape.elements)
    pairs = subject.module.attributes.get("input_output_alias", ()) if is_flat else ()
    same = (each.output_index for each in pairs if each.operand == origin.parameter_number)
    return next(((root, path[0]) for path in same if len(path) == 1), None)


def _is_body(computation: Computation) -> bool:
    """Whether one loop runs a computation on its own result."""
    caller = only_caller(computation)
    return caller is not None and caller.attributes.get("body") is computation


def _origin(
    array: Array,
    subject: Subject,
    copied: Callable[[Instruction], Instruction | None] = lambda _: None,
) -> Array:
    """Where an array comes from in its computation, through bitcasts, and maybe copies, too."""
    while True:
        instruction, number = routed_from(array, subject.registry.routes)
        is_bitcast = instruction.opcode == "bitcast"
        before = instruction.operands[0] if is_bitcast else copied(instruction)
        if before is None:
            return instruction, number
        array = before, 0


def _updates_leading_to(
    subject: Subject, result: Array, start: Collection[Array]
) -> list[Instruction]:
    """The updates in place, last first, that lead from one of some arrays to a result."""
    found: list[Instruction] = []
    while (result := _origin(result, subject)) not in start:
        update, number = result
        is_loop = update.opcode == "while"
        updated = update.operands[0] if is_loop else _updated(update)
        if updated is None:
            return []
        found.append(update)
        result = updated, number if is_loop else 0
    return found


def _updated(kernel: Instruction) -> Instruction | None:
    """The operand that a kernel writes over a part of; ``None`` if it does something else."""
    if kernel.opcode in UPDATES:
        return kernel.operands[0]
    root = root_of(kernel)
    if root.opcode not in UPDATES or root is kernel or not root.shape.is_array:
        return None
    whole, part, *starts = root.operands
    is_read_elsewhere = any(
        each.opcode != "dynamic-slice" or [*each.operands[1:]] != starts or each.shape != part.shape
        for each in whole.users
        if each is not root
    )
    number = whole.parameter_number
    return None if number is None or is_read_elsewhere else kernel.operands[number]


def _only_read(subject: Subject, copy: Instruction) -> _Needless | None:
    """A copy that is only read, of what nobody changes; or of what nothing else reads."""
    source, caller = _copied(copy) or copy, only_caller(copy.computation)
    origin, number = array = _origin((source, 0), subject)
    others = Uses.of(subject, [array])
    body, is_given = copy.computation, origin.parameter_number is not None
    is_state = _is_body(body) and number not in _kept(subject, body)
    is_taken = body.is_entry and body.root.shape.is_tuple and not waste.is_passed(origin)
    is_written = is_given and (is_state or is_taken)
    if is_written or others.updates or others.is_unsure:
        return None
    if not Uses.of(subject, [(copy, 0)]).may_change:
        why = "which nobody changes while the copy is read"
        return _Needless([copy], why, f"Read %{source.name} itself.")
    is_moved = [*others.readers] == [copy] and not others.escapes
    is_computed = moves_something(origin) and origin.opcode not in _PASS_ON
    is_outside = caller is None or caller.opcode != "while"
    if is_moved and is_computed and is_outside and origin.shape.is_array:
        return _Needless([copy], "which nothing else reads", f"Let %{source.name} take its place.")
    return None


def _kept(subject: Subject, computation: Computation) -> frozenset[int]:
    """The arrays of its parameter that the body of a loop passes on as they are."""
    routes = subject.registry.routes
    return kept_by(computation, routes) if _is_body(computation) else frozenset()


# Who reads an array, who changes it, and where it goes.


@dataclass
class Uses:
    """Uses of some arrays in a computation, through all that passes them on.

    Attributes:
        aliases: the arrays, and what has the same memory.
        readers: kernels that read them.
        updates: kernels that write over a part of them.
        escapes: whether one is the result of the computation, or a part of it.
        is_unsure: whether something else happens to them.
    """

    aliases: dict[Array, None] = field(default_factory=dict[Array, None])
    readers: dict[Instruction, None] = field(default_factory=dict[Instruction, None])
    updates: dict[Instruction, None] = field(default_factory=dict[Instruction, None])
    escapes: bool = False
    is_unsure: bool = False

    @property
    def may_change(self) -> bool:
        """Whether more than readers get at an array."""
        return bool(self.updates) or self.escapes or self.is_unsure

    @classmethod
    def of(cls, subject: Subject, arrays: Iterable[Array]) -> Uses:
        """The uses of some arrays."""
        found, waiting = cls(), [*arrays]
        while waiting:
            instruction, number = array = waiting.pop()
            if array not in found.aliases:
                found.aliases[array] = None
                is_kept = number in _kept(subject, instruction.computation)
                found.escapes |= instruction.is_root and not is_kept
                for user in instruction.users:
                    waiting += found._taken_in(subject, user, array)
        return found

    def _taken_in(self, subject: Subject, user: Instruction, array: Array) -> Sequence[Array]:
        """Note a user; what has the same memory behind it."""
        (instruction, number), routes = array, subject.registry.routes
        if user.opcode == "bitcast":
            return [(user, 0)]
        if user.opcode in {"get-tuple-element", "tuple"}:
            source, passed = routed_from(array, routes), user.shape.array_indices
            return [(user, n) for n in passed if routed_from((user, n), routes) == source]
        if user.opcode == "while":
            if number in kept_by(user.attributes["body"], routes):
                parts = (user.attributes[each].parameters[0] for each in ("body", "condition"))
                return [(each, number) for each in (user, *parts)]
            given = [_origin((instruction, n), subject) for n in instruction.shape.array_indices]
            self.is_unsure |= instruction.opcode != "tuple" or given.count(given[number]) > 1
            self.updates[user] = None
        elif user.opcode in _PASS_ON or instruction.shape.is_tuple or _ALIASING in user.attributes:
            self.is_unsure = True
        elif _updated(user) is instruction:
            self.updates[user] = None
            self.is_unsure |= user.operands.count(instruction) > 1
        else:
            self.is_unsure |= _may_overwrite(user, instruction)
            self.readers[user] = None
        return ()


def _may_overwrite(kernel: Instruction, array: Instruction) -> bool:
    """Whether a fusion could have a result in the memory of an array that it reads."""
    for root in results_of(root_of(kernel)) if kernel.opcode == "fusion" else ():
        updated = root
        while updated.opcode in {"bitcast", *UPDATES}:
            updated = updated.operands[0]
        number = updated.parameter_number
        if root is not updated and number is not None and kernel.operands[number] is array:
            return True
    return False


_ALIASING: Final = "output_to_operand_aliasing"

_WRITE_OPERANDS: Final = ("convolution", "custom-call", "dot", "sort")
"""Opcodes whose operands are arrays in memory, also where XLA has not fused yet."""

_PASS_ON: Final = frozenset(
    ("add-dependency", "async-start", "call", "conditional", "copy-start", "domain", "opt-barrier")
) | {"while", "collective-permute-start", "send", "all-reduce-start", "all-gather-start"}
"""Opcodes that pass arrays on or read them later, so that nobody follows them here."""


RULES: Final[tuple[Rule, ...]] = (loop_invariants, needless_copies)
