"""XLA's verdicts: whether reads are coalesced, from the first warp of a kernel or from opcodes.

They see less than is there: one warp, one iteration of all loops but the last, and runtime
variables in the middle of their values. :mod:`ops.performance.coalescing` counts all.

Source:
    XLA's ``IsIndexingCoalesced`` in ``coalescing_analysis.cc``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from indexing import IndexingMap, Variable, VariableKind
from indexing.layout import Shape
from indexing.passes import Domain
from ops.hlo import Instruction
from ops.performance.warps import parted
from ops.rules.elementwise import ELEMENTWISE
from ops.xla_gpu import KERNELS, WARP_SIZE, Emitter, emitter_and_heroes, permutation_of, results_of
from simplifier import forms, symbol
from simplifier.forms import Form, Interval

_LINE_BYTES: Final = 128


def with_midpoints(indexing_map: IndexingMap) -> IndexingMap:
    """The map with the middle of its values for each runtime variable.

    >>> from indexing import parse_map
    >>> window = parse_map("(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 8]")
    >>> print(with_midpoints(window))
    (d0) -> (d0 + 4), domain: d0 in [0, 3]
    """
    domain = indexing_map.domain
    *_, names = domain.by_role(domain.names)
    middle = {
        name: _middle(variable.bounds)
        for name, variable in zip(names, indexing_map.runtime, strict=True)
    }
    return indexing_map.substitute(middle) if middle else indexing_map


def _middle(bounds: Interval) -> int:
    lower = bounds.lower or 0
    return lower if bounds.upper is None else (lower + bounds.upper) // 2


def is_coalesced(indexing_map: IndexingMap, element_bytes: int) -> bool:
    """Whether XLA takes the accesses of a map from threads to offsets for coalesced.

    >>> from indexing import parse_map
    >>> is_coalesced(parse_map("(th_x) -> (th_x * 100), domain: th_x in [0, 127]"), 4)
    False
    """
    warp = _first_warp(indexing_map)
    if warp.is_known_empty:
        return True
    warp = _innermost_loop(warp)
    (form,) = warp.forms
    parts = parted(form.plus_constant(-form.constant), ("d0",))
    if parts is None or len(warp.domain.constraints) > 1:
        return False
    if any(limited != form for limited, _ in warp.domain.constraints):
        return False
    return _fill_lines(_intervals(*parts, warp), element_bytes)


def _first_warp(indexing_map: IndexingMap) -> IndexingMap:
    """The map of ``th_x`` in [0, 31] of the first block; other coordinates are 0."""
    domain = indexing_map.domain
    names = dict(zip(domain.names, indexing_map.dims, strict=False))
    others = {name: 0 for name, each in names.items() if each.kind is not VariableKind.TH_X}
    warp = indexing_map.substitute(others)
    if warp.dims:
        warp = warp.with_constraint(symbol(warp.domain.names[0]), (0, WARP_SIZE - 1))
    return warp.simplify().rescale_symbols().without_unused_symbols()


def _innermost_loop(warp: IndexingMap) -> IndexingMap:
    """All loops but the last at their first iteration, without any constraints."""
    outer = warp.ranges[:-1]
    if not outer:
        return warp
    *names, _ = warp.domain.by_role(warp.domain.names)[1]
    first = {name: each.bounds.lower or 0 for name, each in zip(names, outer, strict=True)}
    unlimited = IndexingMap.from_forms(warp.forms, Domain.of(warp.dims, warp.ranges))
    return unlimited.substitute(first).simplify().without_unused_symbols()


def _intervals(of_thread: Form, of_loop: Form, warp: IndexingMap) -> list[tuple[int, int]]:
    """First and last elements of the intervals that the warp touches, as XLA finds them.

    The offset is the sum of a part with the thread alone and one with the loop alone.
    A single term of the thread counts as a multiple of its number, whatever it is.
    """
    is_run = of_loop == forms.variable("s0")
    length = (warp.ranges[0].bounds.size or 1) if is_run else 1
    if len(of_thread.terms) == 1:
        (stride,) = of_thread.terms.values()
        is_variable = of_thread.only_atom is not None and of_thread.only_atom.kind is forms.VARIABLE
        if abs(stride) == 1 and (is_variable or stride < 0):
            return [(0, WARP_SIZE - 1)]
        if stride != 1:
            return _joined((lane * abs(stride) for lane in range(WARP_SIZE)), length)
    return _joined(_values(of_thread, warp.dims), length)


def _values(of_thread: Form, dims: Iterable[Variable]) -> list[int]:
    lanes = IndexingMap.from_forms([of_thread], Domain.of(dims))
    return sorted({point[-1][0] for point in lanes.points()})


def _joined(starts: Iterable[int], length: int) -> list[tuple[int, int]]:
    """Runs of a length from sorted starts, with those in one that touch."""
    runs: list[tuple[int, int]] = []
    for start in starts:
        last = start + length - 1
        if runs and start <= runs[-1][1] + 1:
            runs[-1] = runs[-1][0], last
        else:
            runs.append((start, last))
    return runs


def _fill_lines(intervals: Iterable[tuple[int, int]], element_bytes: int) -> bool:
    """Whether the intervals take few more lines of memory than one that is as long as all."""
    bytes_read = [(last - first + 1) * element_bytes for first, last in intervals]
    needed = sum(-(-each // _LINE_BYTES) for each in bytes_read)
    least = -(-sum(bytes_read) // _LINE_BYTES)
    return not needed or 10 * least > 9 * needed


# Without maps.


def is_likely_coalesced(producer: Instruction, consumer: Instruction | None = None) -> bool:
    """XLA's guess whether all reads of an instruction are coalesced, from its operations alone.

    With a ``consumer``, the guess is about both as one fusion, and its emitter is the consumer's.
    Only a kernel for transposes reads well what has another minor dimension than its result, and
    two reductions of rows do not go together.

    Source:
        XLA's ``IsReadCoalescedHeuristic`` in ``coalescing_analysis.cc``.

    >>> from ops import hlo
    >>> module = hlo.parse('''ENTRY e {
    ...   p = f32[8,4] parameter(0)
    ...   t = f32[4,8] transpose(p), dimensions={1,0}
    ...   ROOT part = f32[2,8] slice(t), slice={[0:2], [0:8]}
    ... }''')
    >>> transpose, part = module.entry.instructions[1:]
    >>> is_likely_coalesced(transpose, part), is_likely_coalesced(part)
    (False, True)
    """
    fused = [producer] if consumer is None else [producer, consumer]
    emitter, _ = emitter_and_heroes(_root(fused[-1]))
    if emitter is not Emitter.TRANSPOSE and any(map(_turns_what_it_reads, fused)):
        return False
    both_reduce = consumer is not None and all(map(_is_reduction, fused))
    return emitter is not Emitter.REDUCTION or not both_reduce


def _root(instruction: Instruction) -> Instruction:
    """The root of a fusion, or the instruction itself."""
    return instruction.attributes["calls"].root if instruction.opcode == "fusion" else instruction


def _is_reduction(instruction: Instruction) -> bool:
    results = results_of(_root(instruction))
    return any(map(KERNELS[Emitter.REDUCTION].is_hero, results))


def _turns_what_it_reads(instruction: Instruction) -> bool:
    """Whether it has another minor dimension than an operand that is there element by element."""
    if instruction.opcode == "fusion":
        return any(map(_turns_what_it_reads, instruction.attributes["calls"].instructions))
    if instruction.opcode not in {"copy", "transpose"}:
        return False
    (operand,) = instruction.operands
    result_minor = _minor_dimension(instruction.shape)
    if result_minor is None or _is_repeated(operand):
        return False
    return permutation_of(instruction)[result_minor] != _minor_dimension(operand.shape)


def _minor_dimension(shape: Shape) -> int | None:
    """The fastest dimension in memory of more than one element."""
    order = shape.array_layout.minor_to_major
    return next((number for number in order if shape.dimensions[number] > 1), None)


def _is_repeated(instruction: Instruction) -> bool:
    """Whether it comes from a broadcast or an iota alone, element by element."""
    while instruction.opcode not in {"broadcast", "iota"}:
        is_same_place = instruction.opcode == "bitcast" or instruction.opcode in ELEMENTWISE
        if len(instruction.operands) != 1 or not is_same_place:
            return False
        (instruction,) = instruction.operands
    return True
