"""Kernels of a module or a part of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import Flag, auto
from functools import lru_cache, reduce
from itertools import pairwise
from typing import Final, NamedTuple, TypeAlias

import simplifier
from indexing import IndexingMap, Variable, VariableKind
from indexing.layout import Shape
from indexing.passes import Domain
from ops import xla_gpu
from ops.analysis.dataflow import Array
from ops.analysis.queries import findings_in
from ops.dependence.operand_indexing import OperandIndexing
from ops.fusion import Fusion, FusionError
from ops.hlo.module import MODULE, Computation, HloModule, Instruction
from ops.hlo.true_sizes import true_sizes
from ops.loop_dependence import UPDATES, Accesses, Loop, combines
from ops.performance.tally import REMEMBERED, Size, parted
from ops.rules.control import only_caller, source_of
from ops.rules.elementwise import ELEMENTWISE
from ops.rules.registry import REGISTRY, Registry, check_registry
from ops.xla_gpu import KERNELS, WARP_SIZE, Emitter, block_level
from simplifier import forms
from simplifier.errors import IndexingError, check_type, naming_wrong_arguments
from simplifier.forms import VARIABLE, Form, Interval, variables_of
from simplifier.tools.late import sympy


def kernels_of(
    fusion_or_module: Fusion | Instruction | Computation | HloModule,
    *,
    registry: Registry = REGISTRY,
) -> Iterator[Fusion]:
    """The kernels: of a module, every instruction that moves something.

    Those of the entry come first, then those of what loops, choices and calls run. An instruction,
    a computation or a fusion is one kernel.

    Raises:
        ArgumentError: it is something else.

    >>> from ops import hlo
    >>> text = "ENTRY e { p = f32[] parameter(0) n = f32[] negate(p) ROOT t = (f32[]) tuple(n) }"
    >>> print(*kernels_of(hlo.parse(text)))
    fusion of %n that reads %p
    """
    check_type(fusion_or_module, _KERNELS, "kernels: what runs", _EXPECTED)
    if isinstance(fusion_or_module, Fusion):
        return iter((fusion_or_module,))
    if isinstance(fusion_or_module, Computation):
        return iter((Fusion.of_computation(fusion_or_module, registry=registry),))
    is_one = isinstance(fusion_or_module, Instruction)
    running = (fusion_or_module,) if is_one else _running(fusion_or_module, registry)
    return (Fusion.of_instruction(each, registry=registry) for each in running)


def moves_something(instruction: Instruction) -> bool:
    """Whether a kernel runs for an instruction: none does for a parameter or a tuple."""
    return instruction.opcode not in _MOVES_NOTHING


class Evaluated(NamedTuple):
    """Array of a kernel's result, and the instructions that the kernel goes through for it."""

    written: Array
    read: tuple[Array, ...]


def evaluated_by(kernel: Fusion) -> tuple[Evaluated, ...]:
    """The arrays that a kernel computes: all results, but of an update in place only the update.

    An instruction updates an array of the state of a loop in place if it writes over a part of it.

    >>> from ops import hlo
    >>> module = hlo.load("examples/running_sum.hlo")
    >>> ((written, read),) = evaluated_by(Fusion.of_instruction(module["new_sums"]))
    >>> written[0].name, [each.name for each, _ in read]
    ('new_row', ['new_row', 'i', 'zero'])
    """
    whole = {array: Evaluated(array, (array,)) for array in kernel.results}
    if len(kernel.instructions) > 1:
        return tuple(whole.values())
    in_place = _updates_in(kernel.computation, kernel.registry)
    return tuple(in_place.get(source_of(array)[0], each) for array, each in whole.items())


@lru_cache(maxsize=1 << 6)
def _updates_in(body: Computation, registry: Registry) -> Mapping[Instruction, Evaluated]:
    """Computations of updates in place, if this is the body of a loop."""
    loop = only_caller(body)
    if loop is None or loop.opcode != "while" or loop.attributes["body"] is not body:
        return {}
    try:
        writes = Accesses(loop, Loop(loop, registry).counters, registry).writes
    except IndexingError:  # that of an instruction for which another kernel runs
        return {}
    found: dict[Instruction, Evaluated] = {}
    for each in (write.instruction for write in writes if write.is_in_place):
        if not combines(each):
            others = [(operand, 0) for operand in each.operands[1:]]
            found[each] = Evaluated((each.operands[UPDATES[each.opcode]], 0), tuple(others))
    return found


def tile_of(kernel: Fusion) -> tuple[int, ...] | None:
    """The tile of all results that each block computes, if a ``backend_config`` names one.

    >>> from ops import hlo
    >>> module = hlo.parse('''f { p = f32[8,128] parameter(0) ROOT r = f32[8,128] negate(p) }
    ... ENTRY e { p = f32[8,128] parameter(0)
    ...   ROOT r = f32[8,128] fusion(p), kind=kCustom, calls=f, backend_config={
    ...     "fusion_backend_config":{"kind":"__triton","block_level_fusion_config":{
    ...       "num_warps":"2","output_tiles":[{"sizes":["1","128"]}]}}} }''')
    >>> tile_of(Fusion.of_instruction(module.entry.root))
    (1, 128)
    """
    try:
        found = block_level(kernel.roots[0]) if len(kernel.instructions) == 1 else None
    except FusionError:  # no tiles that can be read
        return None
    sizes = {root.shape.arrays[number].dimensions for root, number in kernel.results}
    tiles = {*found.output_tiles} if found else set[tuple[int, ...]]()
    if len(tiles) != 1 or len(sizes) != 1:
        return None
    (tile,), (whole,) = tiles, sizes
    return tile if len(tile) == len(whole) and 0 not in tile else None


Likeness: TypeAlias = "tuple[int, Registry, tuple[int, ...], tuple[int, ...] | None]"
"""The number of an instruction, which of its operands are the same one, and the tile of a block."""


def likeness_of(kernel: Fusion) -> Likeness | None:
    """Common key of the kernels of a module that are alike; ``None`` for one like no other.

    The layers of a model repeat their kernels. A kernel of several instructions, and one that
    updates an array in place, is taken to be like no other.

    >>> from ops import hlo
    >>> module = hlo.parse('''ENTRY e { x = f32[8] parameter(0) a = f32[8] negate(x)
    ...   b = f32[8] negate(a) ROOT c = f32[8] add(a, b) }''')
    >>> a, b, c = map(likeness_of, kernels_of(module))
    >>> a == b, a == c
    (True, False)
    """
    is_in_place = any(each.written not in kernel.results for each in evaluated_by(kernel))
    if len(kernel.instructions) > 1 or is_in_place:
        return None
    (root,) = kernel.roots
    number = findings_in(root.computation.module, kernel.registry).numbering.number(root)
    alike = tuple(map(root.operands.index, root.operands))
    return number, kernel.registry, alike, tile_of(kernel)


def emission_of(kernel: Fusion) -> Hashable:
    """Common key of the kernels of a module that are alike and that XLA emits alike.

    >>> from ops import hlo
    >>> module = hlo.parse('''f { p = f32[8] parameter(0) ROOT n = f32[8] negate(p) }
    ... ENTRY e { x = f32[8] parameter(0) a = f32[8] fusion(x), kind=kLoop, calls=f
    ...   b = f32[8] fusion(a), kind=kLoop, calls=f ROOT c = f32[8] fusion(b), kind=kInput, calls=f
    ... }''')
    >>> a, b, c = map(emission_of, kernels_of(module))
    >>> a == b, a == c
    (True, False)
    """
    root, likeness = kernel.roots[0], likeness_of(kernel)
    chosen_by = tuple(str(root.attributes.get(name)) for name in ("kind", "backend_config"))
    return (likeness, *chosen_by) if likeness else root


_KERNELS: Final = (Fusion, Instruction, Computation, HloModule)
_EXPECTED: Final = f"a Fusion, or an instruction or computation of a module, or {MODULE}"

_MOVES_NOTHING: Final = {
    *("add-dependency", "after-all", "bitcast", "constant", "domain", "get-tuple-element"),
    *("opt-barrier", "parameter", "partition-id", "replica-id", "tuple"),
}
"""Opcodes that no kernel runs for."""


def _running(module: HloModule, registry: Registry) -> Iterator[Instruction]:
    """Instructions that move something: of the entry, and of loops, branches and calls."""
    for computation in running_computations(module, registry=registry):
        for each in computation.instructions:
            if moves_something(each) and not _runs_others(each, registry):
                yield each


def running_computations(
    module: HloModule, *, registry: Registry = REGISTRY
) -> Iterator[Computation]:
    """The entry, and the computations of loops, branches and calls; not the bodies of fusions."""
    check_registry("kernels", registry)
    waiting, seen = [module.entry], {module.entry}
    while waiting:
        computation = waiting.pop()
        yield computation
        for each in computation.instructions:
            found = _runs_others(each, registry)
            fresh = [callee for callee in found if callee not in seen]
            waiting += reversed(fresh)
            seen |= {*fresh}


def _runs_others(instruction: Instruction, registry: Registry) -> Sequence[Computation]:
    """The computations whose instructions run one by one for an instruction."""
    calls = None if instruction.opcode == "fusion" else registry.calls(instruction)
    return calls.computations if calls else ()


# Use of an array by a kernel, in a word: a transpose, a broadcast, a window.


class AccessKind(Flag):
    """Kind of a read: one or several at once, as a dot broadcasts and reduces its operands.

    >>> print(AccessKind.BROADCAST | AccessKind.REDUCE, AccessKind(0), sep="; ")
    reduce+broadcast; identity
    """

    GATHER = auto()
    """An element at an index that the program computes for each element of the result."""

    WINDOW = auto()
    """Neighbours of a place, as convolutions and pooling do."""

    REDUCE = auto()
    """All elements along a dimension."""

    RESHAPE = auto()
    """Dimensions are joined or split."""

    TRANSPOSE = auto()
    """Dimensions come in another order."""

    REVERSE = auto()
    """A dimension is read from its end."""

    SLICE = auto()
    """Some elements of a dimension only: a part, or every second one."""

    PAD = auto()
    """Some elements of the result read nothing of it, as in pad and concatenate."""

    BROADCAST = auto()
    """An element serves several elements of the result, such as a whole dimension."""

    def __str__(self) -> str:
        return "+".join(str(kind.name).lower() for kind in self) or "identity"


def kinds_of_accesses(
    ways: Iterable[OperandIndexing], array: Array, results: Iterable[Array]
) -> tuple[AccessKind, ...]:
    """Kinds of the accesses to an array, from some results, each kind once.

    >>> from ops import OperandIndexing, hlo, transpose
    >>> text = "ENTRY e { p = f32[4,8] parameter(0) ROOT t = f32[8,4] transpose(p), "
    >>> entry = hlo.parse(text + "dimensions={1,0} }").entry
    >>> way = OperandIndexing(transpose((4, 8), (1, 0)).output_to_input[0])
    >>> print(*kinds_of_accesses([way], (entry.parameters[0], 0), [(entry.root, 0)]))
    transpose
    """
    some = [way for way in ways if not way.map.is_known_empty]
    example = {each.name: _example(each) for way in some for each in way.map.parameters}
    sizes = _sizes_in(example, array)
    whole = frozenset(_sizes_in(example, result) for result in results)
    kinds = (_kind_of_access(_in(example, way), sizes, whole) for way in some)
    return tuple(dict.fromkeys(kinds))


_EXAMPLE: Final = 960
"""A size for a parameter without bound: what it should be a multiple of divides it, mostly."""


def _example(parameter: Variable) -> int:
    """A value to look at the kind of an access for, as it is the same for nearly all."""
    upper = parameter.bounds.upper
    return _EXAMPLE if upper is None else upper


def _in(example: Mapping[str, int], way: OperandIndexing) -> OperandIndexing:
    """The access where parameters are numbers, unless they cannot be these."""
    names = [each.name for each in way.map.parameters]
    if not names:
        return way
    numeric = way.map.substitute({name: example[name] for name in names}).simplify()
    return way if numeric.is_known_empty else replace(way, map=numeric)


def _sizes_in(example: Mapping[str, int], array: Array) -> tuple[int, ...]:
    """The true sizes where parameters are numbers; capacities if there are several."""
    instruction, number = array
    capacity = instruction.shape.arrays[number].dimensions
    if not example:
        return capacity
    values: dict[sympy.Symbol, int] = {simplifier.symbol(each): example[each] for each in example}
    sizes = zip(true_sizes(instruction, number), capacity, strict=True)
    return tuple(_number(size, values, most) for size, most in sizes)


def _number(size: Size | None, values: Mapping[sympy.Symbol, int], otherwise: int) -> int:
    found = size.subs(values) if isinstance(size, sympy.Expr) else size
    return int(found) if isinstance(found, int | sympy.Integer) else otherwise


def _kind_of_access(
    way: OperandIndexing, sizes: tuple[int, ...], results: frozenset[tuple[int, ...]]
) -> AccessKind:
    """Kind of a read: from results of some of these sizes to an operand of ``sizes``.

    It is read off the formulas, so the map should be in its smallest form.
    """
    indexed = frozenset(variables_of(form for each in way.runtime for form in each.map.forms))
    of_map = _kind_of_map(way.map, sizes, results, indexed)
    return of_map | _together(_of_runtime_values(way))


@lru_cache(maxsize=REMEMBERED)
def _kind_of_map(
    read: IndexingMap,
    sizes: tuple[int, ...],
    results: frozenset[tuple[int, ...]],
    indexed: frozenset[str],
) -> AccessKind:
    """Kind by the map; many reads of a module are alike. ``indexed`` lead to other values."""
    return _together(_of_index(read, sizes)) | _together(_of_domain(read, results, indexed))


def _together(kinds: Iterable[AccessKind]) -> AccessKind:
    return reduce(lambda one, other: one | other, kinds, AccessKind(0))


def _of_runtime_values(way: OperandIndexing) -> Iterator[AccessKind]:
    """A value for each element is an index to gather from; one for all is the start of a slice.

    A value in a constraint says which elements of the result read something.
    """
    domain = way.map.domain
    dims, _, runtime = domain.by_role(domain.identifiers)
    leads = {*variables_of(way.map.forms)} - _constrained(domain)
    for name, origin in zip(runtime, way.runtime, strict=True):
        if name in leads:
            is_same_for_all = {*dims}.isdisjoint(variables_of(origin.map.forms))
            yield AccessKind.SLICE if is_same_for_all else AccessKind.GATHER


def _of_index(read: IndexingMap, sizes: Sequence[int]) -> Iterator[AccessKind]:
    domain = read.domain
    dims, ranges, _ = map(frozenset, domain.by_role(domain.identifiers))
    order: list[int] = []
    first = len(read.forms) - len(sizes)  # before it stands for which element a loop inside runs
    index = read.forms[first:], read.result_bounds()[first:], sizes
    for form, bounds, size in zip(*index, strict=True):
        used = frozenset(variables_of([form]))
        is_sum = all(atom.kind is VARIABLE for atom in form.terms)
        factor = form.terms[next(iter(form.terms))] if is_sum and len(form.terms) == 1 else 1
        if bounds != Interval(0, size - 1) or abs(factor) > 1:
            yield AccessKind.SLICE
        if factor < 0:
            yield AccessKind.REVERSE
        if used & ranges:
            yield AccessKind.WINDOW if used & dims and is_sum else AccessKind.REDUCE
        if len(used & dims) > 1:
            yield AccessKind.RESHAPE
        order += sorted(map(domain.identifiers.index, used & dims))
    if any(one > other for one, other in pairwise(order)):
        yield AccessKind.TRANSPOSE
    yield from _of_digits(read, order)


def _of_digits(read: IndexingMap, order: Sequence[int]) -> Iterator[AccessKind]:
    """A dimension whose digits lead to several places is split; one with a single digit repeats."""
    times = Counter(order)
    names = read.domain.identifiers
    for form in read.forms:
        in_digits = {*variables_of(inner for atom in form.terms for inner in atom.arguments)}
        for number in {*map(names.index, variables_of([form]))} & {*times}:
            if times[number] > 1:
                yield AccessKind.RESHAPE
            elif names[number] in in_digits - _constrained(read.domain):
                yield AccessKind.BROADCAST


def _of_domain(
    read: IndexingMap, results: frozenset[tuple[int, ...]], indexed: frozenset[str]
) -> Iterator[AccessKind]:
    domain = read.domain
    dims, *_ = domain.by_role(domain.variables)
    names, *_ = domain.by_role(domain.identifiers)
    sizes = tuple(dim.bounds.size for dim in dims)
    is_whole = sizes in results and all(dim.bounds.lower == 0 for dim in dims)
    if domain.constraints or not is_whole:
        yield AccessKind.PAD
    used = indexed.union(variables_of(read.forms), _constrained(domain))
    if any(size != 1 and name not in used for size, name in zip(sizes, names, strict=True)):
        yield AccessKind.BROADCAST


def _constrained(domain: Domain) -> set[str]:
    return {*variables_of(form for form, _ in domain.constraints)}


# XLA's verdicts: whether reads are coalesced, from the first warp of a kernel or from opcodes.
#
# They see less than is there: one warp, one iteration of all loops but the last, and runtime
# variables in the middle of their values. `ops.performance.coalescing` counts all.
#
# Source:
#     XLA's `IsIndexingCoalesced` in `coalescing_analysis.cc`.

_LINE_BYTES: Final = 128


def with_midpoints(indexing_map: IndexingMap) -> IndexingMap:
    """The map with the middle of its values for each runtime variable.

    >>> from indexing import parse_map
    >>> window = parse_map("(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 8]")
    >>> print(with_midpoints(window))
    (d0) -> (d0 + 4), domain: d0 in [0, 3]
    """
    pairs = zip(indexing_map.names[2], indexing_map.runtime, strict=True)
    middle = {name: _middle(variable.bounds) for name, variable in pairs}
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
    limited = [each for each, _ in warp.domain.constraints]
    parts = parted(form.plus_constant(-form.constant), ("d0",))
    if parts is None or limited not in ([], [form]):
        return False
    return _fill_lines(_intervals(*parts, warp), element_bytes)


def _first_warp(indexing_map: IndexingMap) -> IndexingMap:
    """The map of ``th_x`` in [0, 31] of the first block; other coordinates are 0."""
    pairs = zip(indexing_map.names[0], indexing_map.dims, strict=True)
    others = {name: 0 for name, each in pairs if each.kind is not VariableKind.TH_X}
    warp = indexing_map.substitute(others)
    if warp.dims:
        warp = warp.with_constraint(warp.domain.names[0], (0, WARP_SIZE - 1))
    return warp.simplify().rescale_symbols().without_unused_symbols()


def _innermost_loop(warp: IndexingMap) -> IndexingMap:
    """All loops but the last at their first iteration, without any constraints."""
    outer = warp.ranges[:-1]
    if not outer:
        return warp
    pairs = zip(warp.names[1], outer, strict=False)
    first = {name: each.bounds.lower or 0 for name, each in pairs}
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
    lanes = IndexingMap.from_forms([of_thread], Domain.of(warp.dims))
    return _joined(sorted({point[-1][0] for point in lanes.points()}), length)


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


@naming_wrong_arguments
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
    emitter, _ = xla_gpu.emitter_and_heroes(root_of(fused[-1]))
    if emitter is not Emitter.TRANSPOSE and any(map(_turns_what_it_reads, fused)):
        return False
    both_reduce = consumer is not None and all(map(_is_reduction, fused))
    return emitter is not Emitter.REDUCTION or not both_reduce


def root_of(kernel: Instruction) -> Instruction:
    """The instruction that computes the result of a kernel: the root of a fusion, or itself."""
    return kernel.attributes["calls"].root if kernel.opcode == "fusion" else kernel


def _is_reduction(instruction: Instruction) -> bool:
    results = xla_gpu.results_of(root_of(instruction))
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
    return xla_gpu.permutation_of(instruction)[result_minor] != _minor_dimension(operand.shape)


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
