"""What is done twice: values computed or written again, and arrays read by several kernels."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any, Final, TypeAlias

from ops.advice.waste import (
    IN_ORDER,
    MOVED,
    RECEIVED,
    Measure,
    Rule,
    Subject,
    Waste,
    alike,
    bytes_moved,
    bytes_of_result,
    bytes_received,
    in_words,
    is_loop,
    opened,
    received_by_device,
    root_of,
    so_others,
)
from ops.hlo import Computation, HloModule, Instruction, ModuleEditor, edit
from ops.hlo.attributes import COMMON_ATTRIBUTES
from ops.performance import tally
from ops.performance.tally import Count
from ops.performance.utilization import OperandUtilization
from ops.xla_gpu import KERNELS, Emitter, Heroes, emitter_and_heroes, results_of
from simplifier.errors import listed
from simplifier.tools.graphs import postorder


def duplicates(subject: Subject) -> Iterator[Waste]:
    """What is computed or written again, and what several kernels read as one could."""
    values = ValueNumbers()
    again = [each for each in _again(subject, values) if subject.is_fused or _received(each[0])]
    later = {each for each, _, *moves in again if not moves}
    kernels = [each for each in subject.summaries if is_loop(each) and each not in later]
    together = [*_read_together(subject, kernels)] if subject.is_fused else []
    merged = {*chain.from_iterable(together)}
    for same in alike(subject, [each for each in again if each[0] not in merged]):
        yield _computed_twice(subject, same)
    for same in alike(subject, ((each,) for each in kernels if each.opcode == "fusion")):
        yield from _written_twice(subject, [each for (each,) in same], values)
    for same in alike(subject, together):
        yield _read_by_several(subject, same)


# Values that are computed twice.


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
    end, *_ = reversed([*_moves_to(kernel)])
    is_copy = root_of(kernel).opcode == "copy" and end.opcode == "parameter"
    arrays = (array for each in kernel.operands for array in each.shape.arrays)
    is_filled = all(array.element_count == 1 for array in arrays)
    return not (kernel.opcode == "copy" or is_copy or is_filled or kernel.opcode.endswith("-start"))


def _moves_to(kernel: Instruction) -> Iterator[Instruction]:
    """The instructions at the end of a kernel that move its result, and what they move."""
    end = root_of(kernel)
    while end is not kernel and end.opcode in _MOVES:
        yield end
        (end,) = end.operands
    yield end


_MOVES: Final = ("bitcast", "copy", "reshape", "transpose")


def _received(instruction: Instruction) -> Count:
    """Bytes that a device receives for a collective, or for one that ends here."""
    is_end = instruction.opcode.endswith("-done")
    return received_by_device(instruction.operands[0] if is_end else instruction)


def _computed_twice(subject: Subject, same: Sequence[_Twice]) -> Waste:
    later, other, *moves = same[0]
    received = _received(later)
    others = so_others([each for each, *_ in same])
    return Waste(
        kind="duplicate",
        instruction=later,
        why=f"%{later.name} computes what %{other.name} has, in another order.{others}"
        if moves
        else f"%{later.name} has the bytes that %{other.name} has.{others}",
        mend=f"Copy %{other.name} into that order." if moves else f"Use %{other.name} twice.",
        unit="bytes received by a device" if received else "bytes moved",
        figure=bytes_received if received else bytes_moved,
        measure=RECEIVED if received else MOVED,
        expected=sum(bytes_of_result(each) * subject.runs_of(each) for each, *_ in same),
        edit=partial(_without, same=same),
    )


def _without(module: HloModule, *, same: Iterable[_Twice]) -> HloModule:
    """The module where one kernel of each pair serves for both."""
    editor = edit(module)
    for kernel, other, *moves in same:
        shape = moves[-1].operands[0].shape if moves else kernel.shape
        new = other
        if shape != other.shape:
            new = editor.insert("bitcast", [other], shape, like=kernel)
        moved: list[Instruction] = []
        for each in reversed(moves):
            order = {key: each.attributes[key] for key in ("dimensions",) if key in each.attributes}
            new = editor.insert(each.opcode, [new], each.shape, like=kernel, **order)
            moved.append(new)
        editor.replace(kernel, new)
        if moved:
            editor.outline(moved, name=kernel.name)
        if kernel.opcode.endswith("-done"):
            editor.remove(kernel.operands[0])
    return editor.finish()


# Results that hold the same bytes.


def _written_twice(
    subject: Subject, kernels: Sequence[Instruction], values: ValueNumbers
) -> Iterator[Waste]:
    (body,) = kernels[0].computations
    numbers = values.of(body)
    written: dict[int, list[Instruction]] = {}
    for each in results_of(body.root):
        written.setdefault(values.bytes_of(numbers[each]), []).append(each)
    twice = [each for each in written.values() if len(each) > 1]
    if not twice:
        return
    order = [*body.instructions]
    first, *_, last = sorted(max(twice, key=lambda each: bytes_of_result(each[0])), key=order.index)
    again = sum((len(each) - 1) * bytes_of_result(each[0]) for each in twice)
    yield Waste(
        kind="duplicate",
        instruction=last,
        why=f"%{kernels[0].name} writes %{first.name}, and the same bytes again as %{last.name}."
        f"{so_others(kernels)}",
        mend=f"Write %{first.name} once, and take %{last.name} from it outside.",
        unit="bytes written",
        figure=_bytes_written,
        measure=Measure(_bytes_written, 1),
        expected=again * sum(map(subject.runs_of, kernels)),
        edit=partial(merged, groups=[(each,) for each in kernels]),
    )


def _bytes_written(subject: Subject) -> Count:
    return tally.sum_of_counts(
        found.bytes_written * subject.runs_of(each) for each, found in subject.summaries.items()
    )


# Arrays that several kernels go through in the same way.


def _read_by_several(subject: Subject, same: Sequence[Sequence[Instruction]]) -> Waste:
    kernels = same[0]
    shared = set(kernels[0].operands).intersection(*(each.operands for each in kernels[1:]))
    largest = max(shared, key=bytes_of_result)
    names = listed([f"%{each.name}" for each in kernels])
    again = (len(kernels) - 1) * bytes_of_result(largest)
    return Waste(
        kind="duplicate",
        instruction=kernels[0],
        why=f"{names} each read %{largest.name}, {in_words(bytes_of_result(largest))} bytes, in the"
        f" same way.{so_others([each[0] for each in same])}",
        mend=f"One fusion with {len(kernels)} results reads %{largest.name} once.",
        unit="bytes moved",
        figure=bytes_moved,
        measure=MOVED,
        expected=again * sum(subject.runs_of(each[0]) for each in same),
        edit=partial(merged, groups=same),
    )


def _read_together(
    subject: Subject, kernels: Iterable[Instruction]
) -> Iterator[Sequence[Instruction]]:
    """Kernels that could be one which reads an array once: each in one group at most."""
    readers: dict[Instruction, list[OperandUtilization]] = {}
    for kernel in kernels:
        for row in subject.summaries[kernel].operands:
            if not row.operand.shape.is_tuple and bytes_of_result(row.operand) > _CACHED:
                readers.setdefault(row.operand, []).append(row)
    taken = set[Instruction]()
    for rows in sorted(readers.values(), key=lambda each: -bytes_of_result(each[0].operand)):
        groups: list[list[OperandUtilization]] = []
        for row in rows:
            if row.fusion.roots[0] not in taken:
                group = next((each for each in groups if _fit([*each, row])), None)
                if group is None:
                    groups.append(group := [])
                group.append(row)
        for group in groups:
            if len(group) > 1:
                together = tuple(row.fusion.roots[0] for row in group)
                taken.update(together)
                yield together


def _fit(rows: Sequence[OperandUtilization]) -> bool:
    """Whether XLA could emit some kernels as one that reads their common operand once."""
    kernels = [row.fusion.roots[0] for row in rows]
    roots = [*map(root_of, kernels)]
    found = [_emitted(kernel) for kernel in kernels]
    emitters = {emitter for emitter, _ in found if emitter is not Emitter.LOOP}
    results = [*chain.from_iterable(map(results_of, roots))]
    if len(emitters) > 1 or not emitters.issubset(IN_ORDER) or len(results) > _MOST:
        return False
    if any(one in _leading_to(other) for one in kernels for other in kernels if one is not other):
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
    if kernel.attributes.get("kind") == "kLoop" and emitter in IN_ORDER:
        return Emitter.LOOP, (None,) * len(heroes)
    return emitter, heroes


def _leading_to(kernel: Instruction) -> Sequence[Instruction]:
    return postorder([kernel], lambda each: each.operands)


# Values, numbered: what computes the same from the same has one number.


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
                if each.opcode in _MOVES:
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
        if isinstance(value, Computation):
            return self.of(value)[value.root]
        return value


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


# The mend.


def merged(module: HloModule, *, groups: Iterable[Sequence[Instruction]]) -> HloModule:
    """The module with each group of fusions as one, which computes and writes equal values once."""
    editor = edit(module)
    for kernels in groups:
        kinds = (kernel.attributes.get("kind", "") for kernel in kernels)
        kind = "kInput" if "kInput" in kinds else "kLoop"
        inside = [each for kernel in kernels for each in opened(editor, kernel)]
        one = _each_once(editor, inside)
        for each in reversed([*one]):
            if each.opcode == "bitcast" and one.keys().isdisjoint(editor.users(each)):
                del one[each]
        editor.outline(one, name=kernels[0].name, kind=kind)
    return editor.finish()


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


_CACHED: Final = 1 << 18
"""So many bytes stay in a cache near the cores from one kernel to the next."""

_MOST: Final = 64
"""XLA fuses no more results."""

RULES: Final[tuple[Rule, ...]] = (duplicates,)
