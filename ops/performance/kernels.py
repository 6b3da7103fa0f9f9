"""What runs as one kernel each, in a module or a part of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ops.fusion import Fusion
from ops.hlo.module import Computation, HloModule, Instruction
from ops.rules.registry import REGISTRY, check_registry
from simplifier.errors import check_type

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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


_KERNELS: Final = (Fusion, Instruction, Computation, HloModule)
_EXPECTED: Final = "a Fusion, or an instruction, computation or module of HLO"

_MOVES_NOTHING: Final = frozenset(
    {
        "add-dependency",
        "after-all",
        "bitcast",
        "constant",
        "domain",
        "get-tuple-element",
        "opt-barrier",
        "parameter",
        "partition-id",
        "replica-id",
        "tuple",
    }
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
