"""Changes between two modules: instructions that came and went, maps, bytes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise, zip_longest
from typing import Final, NamedTuple, TypeAlias

from ops.analysis.queries import findings_in, output_to_input
from ops.dependence.dependence import AnyDependence, Unknown
from ops.hlo.attributes import CALLED_ATTRIBUTES
from ops.hlo.errors import HloTextError
from ops.hlo.module import MODULE, Computation, HloModule, Instruction
from ops.performance.kernels import kernels_of, running_computations
from ops.performance.summary import KernelSummary
from ops.performance.tally import Count, Deadline, sum_of_counts, text_of_count
from ops.performance.utilization import SECONDS, OperandCounter
from ops.rules.registry import REGISTRY, Registry
from simplifier.errors import check_type
from simplifier.tools.display import Displayed


class ChangeKind(Enum):
    """Kind of a change of an instruction."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    RENAMED = "renamed"


class ChangedPart(NamedTuple):
    """A changed part of an instruction: its name, its value before and now."""

    what: str
    before: tuple[str, ...]
    after: tuple[str, ...]

    def __str__(self) -> str:
        lines = [f"{self.what}:"]
        lines += [f"  - {text}" for text in self.before]
        lines += [f"  + {text}" for text in self.after]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True, repr=False)
class Change(Displayed):
    """An instruction that is not as before.

    Attributes:
        before: how it was; ``None`` if it was not there.
        after: how it is; ``None`` if it is gone.
        differences: what changed; empty if only the name did.
    """

    before: Instruction | None
    after: Instruction | None
    differences: tuple[ChangedPart, ...] = ()

    @property
    def kind(self) -> ChangeKind:
        """The kind of change."""
        if self.before is None:
            return ChangeKind.ADDED
        if self.after is None:
            return ChangeKind.REMOVED
        return ChangeKind.CHANGED if self.differences else ChangeKind.RENAMED

    def __str__(self) -> str:
        if self.after is None:
            return f"- {self.before.result_text()}" if self.before else ""
        if self.before is None:
            return f"+ {self.after.result_text()}"
        is_named = self.before.name == self.after.name
        name = self.after.result_text()
        head = name if is_named else f"{name}, was %{self.before.name}"
        details = (f"    {line}" for each in self.differences for line in str(each).splitlines())
        return "\n".join([f"{'~' if self.differences else '='} {head}", *details])


class Traffic(NamedTuple):
    """Bytes that all kernels of a module read and write, and how many these are."""

    read: Count
    written: Count
    kernels: int


@dataclass(frozen=True, slots=True, repr=False)
class ModuleDifference(Displayed):
    """Changes from one module to another; empty if there are none.

    Attributes:
        before: the one module.
        after: the other one.
        changes: in the order of the other one, behind them what is gone.
        traffic: what their kernels read and write.
    """

    before: HloModule
    after: HloModule
    changes: tuple[Change, ...]
    traffic: tuple[Traffic, Traffic]

    def __iter__(self) -> Iterator[Change]:
        return iter(self.changes)

    def __len__(self) -> int:
        return len(self.changes)

    def __str__(self) -> str:
        return "\n".join([*self.heading(), *map(str, self.changes)])

    def heading(self) -> tuple[str, str]:
        """A line for each of the modules."""
        sides = zip(("---", "+++"), (self.before, self.after), self.traffic, strict=True)
        old, new = (
            f"{sign} {module.file or module.name}: {text_of_count(read)} bytes read, "
            f"{text_of_count(written)} written"
            for sign, module, (read, written, _) in sides
        )
        return old, new


def diff(
    before: HloModule,
    after: HloModule,
    *,
    seconds: float | None = SECONDS,
    registry: Registry = REGISTRY,
) -> ModuleDifference:
    """The changes between two modules, among the instructions that run.

    The bodies of fusions show in the fusions. Instructions are the same if they have
    the same name and do the same; else if they do the same; else if they have the same name. Two do
    the same if opcodes, shapes, maps, values of constants and attributes are equal, and so the
    instructions of the computations that they call. Names, places in sources, the order of
    execution and numbers of channels do not count. When ``seconds`` have passed, bytes are bounds.

    Raises:
        ArgumentError: an argument is of another kind.

    >>> from ops import hlo
    >>> before = hlo.parse('''ENTRY e { x = f32[4,4] parameter(0)
    ...   t = f32[4,4] transpose(x), dimensions={1,0}
    ...   ROOT n = f32[4,4] negate(t) }''')
    >>> after = hlo.parse("ENTRY e { x = f32[4,4] parameter(0) ROOT n = f32[4,4] negate(x) }")
    >>> print(diff(before, after))
    --- module_e: 128 bytes read, 128 written
    +++ module_e: 64 bytes read, 64 written
    ~ %n = f32[4,4] negate
        operands:
          - %t
          + %x
    - %t = f32[4,4] transpose
    """
    for module, which in ((before, "first"), (after, "second")):
        check_type(module, HloModule, f"diff: the {which} module", MODULE)
    return next(successive((before, after), seconds=seconds, registry=registry))


def successive(
    modules: Iterable[HloModule], *, seconds: float | None = SECONDS, registry: Registry = REGISTRY
) -> Iterator[ModuleDifference]:
    """The changes from each module to the next one, as of the passes of a compiler.

    Each of the modules may take so many ``seconds``, as in :func:`diff`.
    """
    sides = (_Compared(each, registry, Deadline.of("diff", seconds)) for each in modules)
    for old, new in pairwise(sides):
        traffic = (old.traffic, new.traffic)
        yield ModuleDifference(old.module, new.module, tuple(_changes(old, new)), traffic)


# The operation of an instruction.

_Pair: TypeAlias = "tuple[int, int]"
"""The number of an array in the result, and that of an operand."""

_Detail: TypeAlias = "tuple[str, tuple[str, ...]]"
"""A named detail, such as an attribute, and its text or lines."""

MAX_TEXT: Final = 200
"""Characters of a value or an attribute: two or three lines of a terminal."""

_CONTEXT: Final = 20
"""Characters of a long text that are shown before the first that differs."""

_NAMES_AND_PLACES: Final = frozenset(
    {"channel_id", "control-predecessors", "metadata", "origin", "statistics"}
)
"""The attributes that tell nothing of what an instruction does."""

_STEPS: Final = 3
"""Same name and doing, same doing, same name: so instructions are found again."""


class _Doing(NamedTuple):
    """Operation of an instruction, whatever names are around it."""

    opcode: str
    shape: str
    operand_shapes: tuple[str, ...]
    maps: tuple[tuple[_Pair, tuple[str, ...]], ...]
    details: tuple[_Detail, ...] = ()


class _Compared:
    """The instructions of a module that run, and their operations."""

    def __init__(self, module: HloModule, registry: Registry, deadline: Deadline) -> None:
        running = tuple(running_computations(module, registry=registry))
        self.instructions = tuple(each for one in running for each in one.instructions)
        self.module = module
        self._registry = registry
        self._running = frozenset(running)
        counter, self.kernels = OperandCounter(deadline), dict[Instruction, KernelSummary]()
        for kernel in kernels_of(module, registry=registry):
            with suppress(HloTextError):  # a kernel with an error moves nothing that is known
                self.kernels[kernel.roots[0]] = KernelSummary(kernel, counter.rows(kernel))
        self._known: dict[int, _Doing] = {}
        self.doings = {each: self._doing(each) for each in self.instructions}

    @property
    def traffic(self) -> Traffic:
        """The bytes that all kernels read and write."""
        kernels = self.kernels.values()
        read = sum_of_counts(kernel.bytes_read for kernel in kernels)
        written = sum_of_counts(kernel.bytes_written for kernel in kernels)
        return Traffic(read, written, len(kernels))

    def keys(self, instruction: Instruction) -> tuple[object, ...]:
        """Keys that an instruction may share with the same one of another module."""
        doing, name = self.doings[instruction], instruction.name
        home = None if instruction.computation.is_entry else instruction.computation.name
        return (home, name, doing), (home, doing), (home, name)

    def _doing(self, instruction: Instruction) -> _Doing:
        """The operation of an instruction; its maps are found once for those that are alike."""
        number = findings_in(self.module, self._registry).numbering.number(instruction)
        if number not in self._known:
            shape, *operands = map(_text_of_arrays, (instruction, *instruction.operands))
            maps = tuple(self._maps(instruction))
            self._known[number] = _Doing(instruction.opcode, shape, tuple(operands), maps)
        return self._known[number]._replace(details=tuple(_details(instruction, self._running)))

    def _maps(self, instruction: Instruction) -> Iterator[tuple[_Pair, tuple[str, ...]]]:
        for output in instruction.shape.array_indices:
            try:
                found = output_to_input(instruction, output, registry=self._registry).indexing
            except HloTextError as error:
                yield (output, 0), (error.message,)
                continue
            for number, answer in enumerate(found):
                if texts := _texts(answer.simplify()):
                    yield (output, number), texts


def _details(instruction: Instruction, running: frozenset[Computation]) -> Iterator[_Detail]:
    """The value of a constant, the attributes, and the instructions of computations called.

    Those that run one instruction after the other are compared by themselves.
    """
    if instruction.literal is not None:
        yield "value", (instruction.literal.text,)
    for name, text in instruction.attribute_texts():
        if name not in _NAMES_AND_PLACES | CALLED_ATTRIBUTES:
            yield name, (text,)
    for each in instruction.computations:
        if each not in running:
            yield "instructions inside", tuple(_lines_of(each))


def _lines_of(computation: Computation) -> Iterator[str]:
    """A line for each instruction; operands have their opcodes for names."""
    for each in computation.instructions:
        operands = ", ".join(map(_stand_in, each.operands))
        details = (f", {what}={' '.join(texts)}" for what, texts in _details(each, frozenset()))
        yield f"{_stand_in(each)} {_text_of_arrays(each)} ({operands}){''.join(details)}"


def _stand_in(instruction: Instruction) -> str:
    """A stand-in for its name, which each compilation may choose anew."""
    number = instruction.parameter_number
    return instruction.opcode if number is None else f"parameter {number}"


def _texts(answer: AnyDependence) -> tuple[str, ...]:
    """The maps; where the values of variables come from is seen in the operands."""
    if isinstance(answer, Unknown):
        return (str(answer),)
    return tuple(str(each.map) for each in answer.indexings)


def _text_of_arrays(instruction: Instruction) -> str:
    return ", ".join(each.short_text for each in instruction.shape.arrays)


# Instructions that are the same in both modules.


def _changes(old: _Compared, new: _Compared) -> Iterator[Change]:
    """New and changed parts in the order of the new module, then those that are gone."""
    same = _matched(old, new)
    origin = {after: before for before, after in same.items()}
    for after in new.instructions:
        before = origin.get(after)
        parts = () if before is None else tuple(_differences(old, new, before, after, same))
        found = Change(before, after, parts)
        if before is None or found.differences or before.name != after.name:
            yield found
    yield from (Change(before, None) for before in old.instructions if before not in same)


def _matched(old: _Compared, new: _Compared) -> dict[Instruction, Instruction]:
    """The instruction of the new module that each of the old one is, if there is one."""
    found: dict[Instruction, Instruction] = {}
    for step in range(_STEPS):
        waiting: dict[object, list[Instruction]] = defaultdict(list)
        taken = {*found.values()}
        for each in reversed(new.instructions):
            if each not in taken:
                waiting[new.keys(each)[step]].append(each)
        for each in old.instructions:
            if each not in found and waiting.get(key := old.keys(each)[step]):
                found[each] = waiting[key].pop()
    return found


def _differences(
    old: _Compared,
    new: _Compared,
    before: Instruction,
    after: Instruction,
    same: Mapping[Instruction, Instruction],
) -> Iterator[ChangedPart]:
    """The changed parts of an instruction."""
    was, now = old.doings[before], new.doings[after]
    for what in ("opcode", "shape"):
        yield from _unless_equal(what, [getattr(was, what)], [getattr(now, what)])
    if tuple(map(same.get, before.operands)) != after.operands:
        yield ChangedPart("operands", (_names(before.operands),), (_names(after.operands),))
    for what, *texts in _aligned(was.details, now.details):
        yield from _unless_equal(what, *_where_they_differ(*texts))
    maps = [dict(was.maps), dict(now.maps)]
    for output, number in sorted({*maps[0], *maps[1]}):
        texts = [of.get((output, number), ()) for of in maps]
        yield from _unless_equal(_of_pair(after, output, number), *texts)
    if before in old.kernels and after in new.kernels:
        one, other = old.kernels[before], new.kernels[after]
        for what in ("bytes_read", "bytes_written"):
            counts = ([text_of_count(getattr(each, what))] for each in (one, other))
            yield from _unless_equal(what.replace("_", " "), *counts)


def _unless_equal(what: str, before: Sequence[str], after: Sequence[str]) -> Iterator[ChangedPart]:
    if [*before] != [*after]:
        yield ChangedPart(what, tuple(before), tuple(after))


def _aligned(
    before: Iterable[_Detail], after: Iterable[_Detail]
) -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """The named details of both, aligned; computations that are called in their order."""
    sides = [defaultdict[str, list[tuple[str, ...]]](list) for _ in range(2)]
    for side, details in zip(sides, (before, after), strict=True):
        for what, texts in details:
            side[what].append(texts)
    for what in {**sides[0], **sides[1]}:
        for one, other in zip_longest(*(side[what] for side in sides), fillvalue=()):
            yield what, one, other


def _where_they_differ(
    before: tuple[str, ...], after: tuple[str, ...]
) -> tuple[list[str], list[str]]:
    """The lines that only one has, or all; of long texts the part where they differ first."""
    if len(before) == len(after) == 1:
        pairs = enumerate(zip(before[0], after[0], strict=False))
        first = next((place for place, (one, other) in pairs if one != other), 0)
        start = max(0, first - _CONTEXT)
        return [_cut(before[0], start)], [_cut(after[0], start)]
    alone = (Counter(before) - Counter(after), Counter(after) - Counter(before))
    if before == after or any(alone):
        return [*alone[0].elements()], [*alone[1].elements()]
    return [*before], [*after]


def _cut(text: str, start: int) -> str:
    """The text around a place, if it is long."""
    if len(text) <= MAX_TEXT:
        return text
    stop = start + MAX_TEXT
    return f"{'...' if start else ''}{text[start:stop]}{'...' if stop < len(text) else ''}"


def _of_pair(instruction: Instruction, output: int, operand: int) -> str:
    result = f"result {output}, " if instruction.shape.is_tuple else ""
    return f"maps of {result}operand {operand}"


def _names(instructions: Iterable[Instruction]) -> str:
    return ", ".join(f"%{each.name}" for each in instructions)
