"""The graphs of a page: one for each computation of a program, or a fusion and what it calls."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias, get_args

from ops.fusion import Fusion
from ops.hlo import Computation, HloModule, Instruction
from simplifier.errors import check_type

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

Explored: TypeAlias = HloModule | Computation | Fusion | Instruction
"""What a page can be about."""


@dataclass(frozen=True)
class ProgramView:
    """Instructions that are one graph, and the word for what they are."""

    kind: str
    fusion: Fusion

    @property
    def name(self) -> str:
        """The name of the computation; of a part of it, the names of its first and last one."""
        if self.is_whole:
            return self.fusion.computation.name
        first, *others = (each.name for each in self.fusion.instructions)
        return f"{first} to {others[-1]}" if others else first

    @property
    def is_whole(self) -> bool:
        """Whether they are a whole computation."""
        return self.fusion.instructions == self.fusion.computation.instructions

    @cached_property
    def inputs(self) -> tuple[Instruction, ...]:
        """What they read in the end: parameters among them, and what they do not hold."""
        return self.fusion.operands

    @cached_property
    def outside(self) -> tuple[Instruction, ...]:
        """What they read and do not hold."""
        members = frozenset(self.fusion.instructions)
        return tuple(each for each in self.inputs if each not in members)


def views_of(thing: Explored) -> tuple[ProgramView, ...]:
    """The graphs of a page, the one to begin with first.

    Raises:
        ArgumentError: a page cannot be about this.
        FusionError: a computation has no instructions.

    >>> from ops import hlo
    >>> for view in views_of(hlo.load("examples/softmax.hlo")):
    ...     print(view.name, "-", view.kind)
    main.3 - entry
    fused_computation.1 - fusion
    fused_computation - fusion
    fused_computation.3 - fusion
    fused_computation.2 - fusion
    region_0.1 - reduce
    region_1.2 - reduce
    """
    check_type(
        thing, get_args(Explored), "explore", "a module, a computation, a fusion or an instruction"
    )
    if isinstance(thing, HloModule):
        every = dict.fromkeys([*_with_callees([thing.entry]), *thing.computations])
        return tuple(_of_computations(sorted(every, key=_is_scalar)))
    if isinstance(thing, Computation):
        return tuple(_of_computations(_with_callees([thing])))
    fusion = Fusion.of(thing)
    called = [each for member in fusion.instructions for each in member.computations]
    return (ProgramView("fusion", fusion), *_of_computations(_with_callees(called)))


def _of_computations(computations: Iterable[Computation]) -> Iterator[ProgramView]:
    given = [*computations]
    modules = dict.fromkeys(each.own_module for each in given)
    kinds = {
        called: caller.opcode
        for module in modules
        for caller in reversed([*(module.instructions if module else ())])
        for called in caller.computations
    }
    for each in given:
        yield ProgramView(_kind(each, kinds), Fusion.of_computation(each))


def _is_scalar(computation: Computation) -> bool:
    """Whether it computes single numbers for another one, as a reduction's: there are many."""
    return not computation.is_entry and not any(
        array.dimensions for array in computation.root.shape.arrays
    )


def _kind(computation: Computation, kinds: Mapping[Computation, str]) -> str:
    """The opcode of what calls a computation first."""
    return "entry" if computation.is_entry else kinds.get(computation, "computation")


def _with_callees(computations: Iterable[Computation]) -> list[Computation]:
    """Some computations and all that they call, each once."""
    found: dict[Computation, None] = {}
    waiting = [*computations]
    while waiting:
        computation = waiting.pop(0)
        if computation not in found:
            found[computation] = None
            waiting += [called for i in computation.instructions for called in i.computations]
    return [*found]
