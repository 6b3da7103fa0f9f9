"""Advice: what a module wastes, why, and what mends it, with a figure before and after.

Each rule finds one kind of waste (:mod:`ops.advice.waste`). A mend is an edit of the module, and
the figure after it is counted on the edited module by what counted the figure before. Advice that
saves nothing is not given, nor is a waste named that no edit mends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Final

from ops.advice.accesses import RULES as OF_ACCESSES
from ops.advice.collectives import RULES as OF_COLLECTIVES
from ops.advice.kernels import RULES as OF_KERNELS
from ops.advice.loops import RULES as OF_LOOPS
from ops.advice.waste import Figure, Rule, Subject, Waste, bytes_moved
from ops.dependence.dependence import check_answer
from ops.fusion import Fusion
from ops.hlo import EditError, HloModule, Instruction
from ops.hlo.module import MODULE, SourceLocation, source_locations
from ops.limits import A100, Device
from ops.performance.summary import KernelSummary
from ops.performance.tally import Count, Deadline, at_least, at_most, text_of_count
from ops.performance.utilization import SECONDS, OperandCounter
from ops.rules.registry import REGISTRY, Registry, check_registry
from simplifier.errors import IndexingError, check_type, naming_wrong_arguments
from simplifier.tools.display import Displayed, html_of_table

__all__ = ["RULES", "Advice", "AdviceList", "advise", "notes_of", "worse"]

RULES: Final[tuple[Rule, ...]] = (*OF_KERNELS, *OF_ACCESSES, *OF_LOOPS, *OF_COLLECTIVES)
"""The kinds of waste that are looked for."""

MIN_SHARE: Final = 0.01
"""Advice that saves less of what the module takes is left out."""

MAX_TRIED: Final = 64
"""So many wastes are tried on edited modules, those that promise most first.

Each counts the kernels of a module again. Test: ``test_advice.test_of_many_wastes_few_are_tried``.
"""


@dataclass(frozen=True, repr=False)
class Advice(Displayed):
    """One waste of a module, and its mend.

    Attributes:
        kind: the kind of waste: ``missing fusion``.
        instruction: the instruction that causes it.
        why: what is wasted and why.
        mend: what would mend it.
        unit: what is counted.
        before: the count in the module.
        after: the count in the mended module.
        share: the part that is saved of what the whole module takes.
        bytes_saved: in the module, all runs of loops together; 0 if other things are counted.
        price: what the mend costs elsewhere; empty if nothing.
    """

    kind: str
    instruction: Instruction
    why: str
    mend: str
    unit: str
    before: Count
    after: Count
    share: float
    bytes_saved: int
    price: str
    _mended: HloModule = field(compare=False)

    @property
    def source(self) -> SourceLocation | None:
        """The line of the program that the instruction comes from."""
        return next(iter(source_locations(self.instruction)), None)

    def apply(self) -> HloModule:
        """The mended module."""
        return self._mended

    def __str__(self) -> str:
        place = f", {self.source}" if self.source else ""
        counts = f"{_number(self.before)} {self.unit}, {_number(self.after)} after"
        lines = [
            f"{self.kind}: %{self.instruction.name}{place}",
            f"  {counts}; {self.share:.0%} of the module",
            f"  {self.why}",
            f"  Mend: {self.mend}",
        ]
        return "\n".join([*lines, f"  Price: {self.price}"] if self.price else lines)


@dataclass(frozen=True, repr=False)
class AdviceList(Displayed):
    """The advice for a module, what saves most bytes first, and what was not looked at.

    Attributes:
        advice: the wastes with their mends.
        left_out: number of wastes that save less than a hundredth of the module.
        not_seen: what was not looked at, and why.
        kernels: those of the module, counted; none if an error stopped a rule.
    """

    advice: tuple[Advice, ...]
    left_out: int = 0
    not_seen: tuple[str, ...] = ()
    kernels: tuple[KernelSummary, ...] = field(default=(), compare=False)

    def __iter__(self) -> Iterator[Advice]:
        return iter(self.advice)

    def __len__(self) -> int:
        return len(self.advice)

    def __repr__(self) -> str:
        return f"<advice: {len(self)} piece{'s' * (len(self) != 1)}>"

    def _repr_html_(self) -> str:
        return html_of_table(_HEADING, map(_cells, self), total=len(self), below=self.closing())

    def __str__(self) -> str:
        return "\n".join([*map(str, self), *self.closing()])

    def about(self, kernel: Fusion | Instruction) -> tuple[Advice, ...]:
        """The advice about a kernel, and about what stands in it."""
        _, is_inside = _module_of(kernel)
        return tuple(each for each in self if is_inside(each.instruction))

    def closing(self) -> Iterator[str]:
        """What is left out, and what was not looked at, in lines."""
        if not self.advice:
            yield "nothing to advise"
        if self.left_out:
            yield f"{self.left_out} more, each below 1 % of the module"
        if self.not_seen:
            yield f"not looked at: {'; '.join(self.not_seen)}"


@naming_wrong_arguments
def advise(
    of: HloModule | Fusion | Instruction,
    device: Device = A100,
    *,
    most: int | None = None,
    seconds: float | None = SECONDS,
    registry: Registry = REGISTRY,
) -> AdviceList:
    """What is wasteful in a module, or in one kernel of it, and what would mend it.

    The mends are tried: an edited module is counted as the module is. At ``most`` so many are
    given, or all. No time is claimed: bytes, sectors and operations are.

    Raises:
        ArgumentError: it is something else.

    >>> from ops import hlo
    >>> module = hlo.parse('''f { x = f32[1024] parameter(0) ROOT e = f32[1024] exponential(x) }
    ... ENTRY e { x = f32[1024] parameter(0) e = f32[1024] fusion(x), kind=kLoop, calls=f
    ...   ROOT n = f32[1024] negate(e) }''')
    >>> print(advise(module))
    missing fusion: %e
      16,384 bytes moved, 8,192 after; 50% of the module
      %e, 4,096 bytes, is written only to be read by %n.
      Mend: Fuse %e into %n.
    """
    check_type(device, Device, "advise: the device", "a Device such as A100")
    check_registry("advise", registry)
    module, wanted = _module_of(of)
    subject = Subject(module, device, OperandCounter(Deadline.of("advise", seconds)), registry)
    stopped: list[str] = []
    wastes = (each for rule in RULES for each in _found_by(rule, subject, stopped))
    chosen = (each for each in wastes if wanted(each.instruction))
    found = sorted(chosen, key=lambda each: -each.expected * (each.measure.bytes_each or 1))

    @cache  # several wastes have one figure, and most of them one total
    def before(figure: Figure) -> Count:
        return figure(subject)

    advice = (_tried(subject, before, each) for each in found[:MAX_TRIED])
    tried = [each for each in advice if each]
    kept = [each for each in tried if each.share >= MIN_SHARE]
    kept.sort(key=lambda each: (-each.bytes_saved, -each.share))
    left_out = len(tried) - len(kept[:most]) + len(found[MAX_TRIED:])
    kernels = () if stopped else tuple(subject.summaries.values())
    return AdviceList(tuple(kept[:most]), left_out, (*_not_seen(subject), *stopped), kernels)


def worse(before: AdviceList, after: AdviceList) -> AdviceList:
    """The advice for a module that wastes more than an earlier one, in the same measure.

    A waste is the same if kind and instruction have the same names: it is worse where it saves more
    of the module.
    """
    known = {(each.kind, each.instruction.name): each for each in before}
    worse = tuple(
        each
        for each in after
        if (other := known.get((each.kind, each.instruction.name))) is None
        or (each.bytes_saved, each.share) > (other.bytes_saved, other.share + MIN_SHARE)
    )
    return replace(after, advice=worse, left_out=0)


@naming_wrong_arguments
def notes_of(found: AdviceList) -> dict[Instruction, str]:
    """The advice about each instruction, for the explorer to mark."""
    notes: dict[Instruction, str] = {}
    for each in found:
        before = notes.get(each.instruction)
        notes[each.instruction] = f"{before}\n{each}" if before else str(each)
    return notes


def _module_of(
    of: HloModule | Fusion | Instruction,
) -> tuple[HloModule, Callable[[Instruction], bool]]:
    """The module, and whether advice about an instruction is wanted."""
    if isinstance(of, HloModule):
        return of, lambda _: True
    expected = f"{MODULE}, or a Fusion or an instruction of one"
    check_type(of, (Fusion, Instruction), "advise: what runs", expected)
    kernels = of.instructions if isinstance(of, Fusion) else (of,)
    inside = {each for one in kernels for body in one.computations for each in body.instructions}
    return kernels[0].computation.module, inside.union(kernels).__contains__


def _found_by(rule: Rule, subject: Subject, stopped: list[str]) -> Iterator[Waste]:
    """What a rule finds, until it meets an instruction with an error, if the module has one."""
    try:
        yield from rule(subject)
    except (IndexingError, LookupError):
        error = next(_errors(subject), None)
        if error is None:
            raise
        stopped.append(f"{rule.__name__.replace('_', ' ')} beyond an error: {error}")


def _errors(subject: Subject) -> Iterator[str]:
    """The errors of instructions."""
    for each in subject.module.instructions:
        try:
            check_answer(each, subject.registry.maps(each))
        except IndexingError as error:
            yield f"%{each.name}: {error}"


def _tried(subject: Subject, before: Callable[[Figure], Count], waste: Waste) -> Advice | None:
    """The advice with its figures; ``None`` if the mended module takes as much."""
    try:
        mended = waste.edit(subject.module)
    except EditError:  # one that nobody foresaw: results that wait for each other
        return None
    then = subject.edited(mended)
    unit, figure, total, bytes_each = waste.measure
    now, after = before(figure), figure(then)
    saved = at_least(now) - at_most(after)
    if saved <= 0:
        return None
    more = 0 if waste.price else at_least(bytes_moved(then)) - at_most(before(bytes_moved))
    return Advice(
        kind=waste.kind,
        instruction=waste.instruction,
        why=waste.why,
        mend=waste.mend,
        unit=unit,
        before=now,
        after=after,
        share=saved / max(at_most(before(total)), saved),
        bytes_saved=saved * bytes_each,
        price=f"{more:,} bytes more are moved." if more > 0 else waste.price,
        _mended=mended,
    )


def _not_seen(subject: Subject) -> Iterator[str]:
    """What no rule can look into."""
    if not subject.is_fused:
        yield "what XLA would fuse: the module has no fusions yet; give the one that XLA compiled"
    if subject.device.sector_bytes and subject.is_for_processor:
        yield f"how warps of the {subject.device.name} read: the module was made for a processor"
    if custom := [each for each in subject.running if each.opcode == "custom-call"]:
        yield f"{len(custom)} custom call{'s' * (len(custom) != 1)} ({_some(custom)})"
    loops = (each for each in subject.running if each.opcode == "while")
    if unknown := [each for each in loops if None in map(subject.runs.get, each.computations)]:
        yield f"how often loops run ({_some(unknown)}): each counts once"


def _some(instructions: Sequence[Instruction]) -> str:
    more = ", ..." if len(instructions) > _FEW else ""
    return ", ".join(f"%{each.name}" for each in instructions[:_FEW]) + more


_FEW: Final = 3

_HEADING: Final = ("saves", "share", "kind", "instruction", "before", "after", "waste", "mend")


def _cells(advice: Advice) -> tuple[str, ...]:
    saved = f"{advice.bytes_saved:,}" if advice.bytes_saved else ""
    place = f" ({advice.source})" if advice.source else ""
    return (
        saved,
        f"{advice.share:.0%}",
        advice.kind,
        f"%{advice.instruction.name}{place}",
        f"{_number(advice.before)} {advice.unit}",
        _number(advice.after),
        advice.why,
        advice.mend,
    )


def _number(count: Count) -> str:
    return f"{count:,}" if isinstance(count, int) else text_of_count(count)
