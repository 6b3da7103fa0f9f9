"""Values that a kernel computes again for each element that they are broadcast to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Final

from indexing import MapError
from ops.advice.waste import (
    Measure,
    Rule,
    Subject,
    Waste,
    alike,
    at_most,
    bytes_of_result,
    copied,
    in_words,
    is_loop,
    kind_of,
    names_of,
    narrowest,
    operands_of,
    so_others,
)
from ops.fusion import Fusion, Reads
from ops.hlo import HloModule, Instruction, ModuleEditor, edit
from ops.performance.tally import Count
from ops.rules.elementwise import ELEMENTWISE
from ops.rules.rule import Unknown
from ops.xla_gpu import emitter_and_heroes
from simplifier.exact import BudgetError, NotQuasiAffineError
from simplifier.tools.graphs import postorder


def recompute(subject: Subject) -> Iterator[Waste]:
    """Values in kernels that are loops, which a kernel of their own would compute once.

    Only what is much to do beside the bytes that a kernel moves: a few cheap operations cost less
    than to write their results and to read them.
    """
    fusions = (each for each in subject.summaries if each.opcode == "fusion" and is_loop(each))
    for same in alike(subject, ((each,) for each in fusions)):
        kernels = [each for (each,) in same]
        moved = subject.summaries[kernels[0]].bytes
        least = _WORTH_A_BYTE * at_most(moved)
        places = {
            each: saved
            for each, saved in _places(kernels[0]).items()
            if saved >= max(least, _WORTH_A_MOVE * 2 * bytes_of_result(each))
        }
        if sum(places.values()) >= _WORTH_A_KERNEL:
            yield _waste(subject, kernels, [*places], sum(places.values()) * len(kernels))


def _waste(
    subject: Subject, kernels: Sequence[Instruction], places: Sequence[Instruction], saved: int
) -> Waste:
    kernel, place = kernels[0], places[-1]
    chain = {each for last in places for each in _chain(last)}
    found = evaluations(kernel)
    unit, is_counted = _what_is_counted(chain, found)
    others = {each.name for each in subject.summaries} - {each.name for each in kernels}
    outside = _operations(subject, kernels, lambda each: is_counted(each) and each not in chain)
    named = names_of(places)
    times = found[place] // place.shape.element_count

    def operations(subject: Subject) -> Count:
        roots = (each.roots[0] for each in subject.kernels)
        own = [each for each in roots if each.name not in others]
        return _operations(subject, own, is_counted) - outside

    return Waste(
        kind="recompute",
        instruction=place,
        why=f"%{kernel.name} computes each of the {in_words(place.shape.element_count)} elements of"
        f" %{place.name} {in_words(times)} times, wherever it is needed.{so_others(kernels)}",
        mend=f"End a fusion at {named}.",
        unit=unit,
        figure=operations,
        measure=OPERATIONS,
        expected=saved,
        edit=partial(separated, kernels=kernels, places=[[place] for place in places]),
    )


# The mend.


def separated(
    module: HloModule, *, kernels: Sequence[Instruction], places: Iterable[Sequence[Instruction]]
) -> HloModule:
    """The module where fusions that are alike end at some of their values, those of the first one.

    Values that are listed together have one fusion.
    """
    editor = edit(module)
    bodies = [*dict.fromkeys(body for kernel in kernels for body in kernel.computations)]
    number = {each: position for position, each in enumerate(bodies[0].instructions)}
    for body, together in product(bodies, places):
        _set_apart(editor, [body.instructions[number[each]] for each in together])
    for kernel in kernels:
        rest = [each for each in editor.inline(kernel) if not _is_apart(each)]
        editor.outline(rest, name=kernel.name, kind=kernel.attributes["kind"])
    return editor.finish()


def _set_apart(editor: ModuleEditor, places: Sequence[Instruction]) -> None:
    """Put a copy of all that leads to some values into a fusion of its own."""
    chains = (each for place in places for each in _chain(place, editor.operands))
    copies = copied(editor, dict.fromkeys(chains))
    for place in places:
        editor.replace(place, copies[place])
    editor.outline(copies.values(), name=places[-1].name, kind=kind_of(copies))


def _is_apart(each: Instruction) -> bool:
    """Whether it is a fusion that was put apart, one of its results, or a list of results."""
    source = each.operands[0] if each.opcode == "get-tuple-element" else each
    return source.opcode in ("fusion", "tuple")


# Where values are computed again.


def _places(kernel: Instruction) -> Mapping[Instruction, int]:
    """The values that a kernel of their own would compute less often, and about what it saves.

    An emitter computes its hero once for each element, however often it is read.
    """
    (body,) = kernel.computations
    pairs = [(user, each) for user in body.instructions for each in _read_again(user)]
    heroes = {*emitter_and_heroes(body.root)[1]}
    saves: dict[Instruction, int] = {}
    for user, operand in pairs:
        place = narrowest(operand)
        chain = _chain(place)
        work = sum(_weight(each) * each.shape.arrays[0].element_count for each in chain)
        if work and heroes.isdisjoint(chain):
            again = _reads(user, operand) - operand.shape.element_count
            saved = work * again // operand.shape.element_count
            saves[place] = max(saves.get(place, 0), saved)
    return {each: saves[each] for each in body.instructions if each in saves}


def _read_again(user: Instruction) -> Iterator[Instruction]:
    """The arrays that an instruction reads many times, but for scalars: these a loop keeps."""
    for each in dict.fromkeys(user.operands if user.opcode in _REPEAT else ()):
        elements = each.shape.element_count
        if elements > 1 and each.opcode not in _GIVEN and _reads(user, each) >= _TIMES * elements:
            yield each


def _chain(
    value: Instruction, operands: Callable[[Instruction], Sequence[Instruction]] = operands_of
) -> list[Instruction]:
    """The instructions of a fusion that lead to a value, and itself."""
    return [
        each
        for each in postorder([value], lambda each: () if each.opcode in _GIVEN else operands(each))
        if each.opcode not in _GIVEN
    ]


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
    subject: Subject, kernels: Iterable[Instruction], is_counted: Callable[[Instruction], bool]
) -> int:
    """Operations of kernels in all their runs; kernels that are alike are counted once."""
    counted = 0
    for same in alike(subject, ((each,) for each in kernels)):
        found = evaluations(same[0][0]).items()
        once = sum(_of_one(each) * times for each, times in found if is_counted(each))
        counted += once * sum(subject.runs_of(each) for (each,) in same)
    return counted


def _all_operations(subject: Subject) -> Count:
    return _operations(subject, (each.roots[0] for each in subject.kernels), lambda _: True)


def _what_is_counted(
    chain: Iterable[Instruction], times: Mapping[Instruction, int]
) -> tuple[str, Callable[[Instruction], bool]]:
    """A word for the operations of a chain that are most of its work, and which these are."""
    work = Counter[str]()
    for each in chain:
        work[each.opcode] += _weight(each) * times.get(each, 0)
    costly = _COSTLY & work.keys()
    elementwise, folded = (sum(work[each] for each in kind) for kind in (_COMPUTE, _FOLD))
    if folded > 2 * elementwise:
        return "steps of reductions", lambda each: each.opcode in _FOLD
    if len(costly) == 1 and 2 * work[min(costly)] >= elementwise:
        return f"{min(costly)}s", lambda each: each.opcode in costly
    return "elementwise operations of the chain", lambda each: each.opcode in _COMPUTE


_GIVEN: Final = frozenset(("parameter", "fusion"))
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

_TIMES: Final = 2
"""Values that are read less often are not looked at."""

OPERATIONS: Final = Measure(_all_operations, 0)
"""Operations on single elements; an element of a reduction counts one for each that it folds."""

RULES: Final[tuple[Rule, ...]] = (recompute,)
