"""What runs as one kernel each, in a module or a part of it."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from ops.fusion import Fusion, FusionError
from ops.fusion.block_level import block_level
from ops.hlo.module import Computation, HloModule, Instruction
from ops.loops import Loop
from ops.loops.accesses import UPDATES, Accesses, combines
from ops.rules.registry import REGISTRY, check_registry
from ops.rules.sources import only_caller, source_of
from simplifier.errors import IndexingError, check_type

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ops.analysis.dataflow import Array
    from ops.rules.registry import Registry


def kernels_of(
    fusion_or_module: Fusion | Instruction | Computation | HloModule,
    *,
    registry: Registry = REGISTRY,
) -> Iterator[Fusion]:
    """What runs as one kernel each: of a module, every instruction that moves something.

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
    if isinstance(fusion_or_module, Instruction):
        return iter((Fusion.of_instruction(fusion_or_module, registry=registry),))
    if isinstance(fusion_or_module, Computation):
        return iter((Fusion.of_computation(fusion_or_module, registry=registry),))
    running = _running(fusion_or_module, registry)
    return (Fusion.of_instruction(each, registry=registry) for each in running)


def moves_something(instruction: Instruction) -> bool:
    """Whether a kernel runs for an instruction: none does for a parameter or a tuple."""
    return instruction.opcode not in _MOVES_NOTHING


class Evaluated(NamedTuple):
    """What a kernel computes for an array of its result, and what it goes through for that."""

    written: Array
    read: tuple[Array, ...]


def evaluated_by(kernel: Fusion) -> tuple[Evaluated, ...]:
    """What a kernel computes of its results: all, but of an update in place only the update.

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
    """What is computed for updates in place, if this is the body of a loop."""
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


_KERNELS: Final = (Fusion, Instruction, Computation, HloModule)
_EXPECTED: Final = "a Fusion, or an instruction, computation or module of HLO"

_MOVES_NOTHING: Final = frozenset(
    (
        *("add-dependency", "after-all", "bitcast", "constant", "domain", "get-tuple-element"),
        *("opt-barrier", "parameter", "partition-id", "replica-id", "tuple"),
    )
)
"""Opcodes that no kernel runs for."""


def _running(module: HloModule, registry: Registry) -> Iterator[Instruction]:
    """What moves something: of the entry, and of what loops, choices and calls run."""
    for computation in running_computations(module, registry=registry):
        for each in computation.instructions:
            if moves_something(each) and not _runs_others(each, registry):
                yield each


def running_computations(
    module: HloModule, *, registry: Registry = REGISTRY
) -> Iterator[Computation]:
    """The entry, and what loops, choices and calls run; not the bodies of fusions."""
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
