"""Groups of reductions in one kernel: those that share no input run in blocks of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ops.fusion.heroes import leading_to
from simplifier.tools.disjoint_set import connected_components

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from ops.fusion.heroes import Heroes
    from ops.hlo import Instruction


def groups_of(results: Sequence[Instruction], heroes: Heroes) -> list[int]:
    """The number of the group of each result, in the order in which groups first appear.

    Results that are not reduced are one group, with what shares an input with any of them.

    Source:
        XLA's ``GroupDisjointReductions``.
    """
    reduced = dict(zip(results, heroes, strict=True))
    of_scalars: dict[Instruction, Instruction] = {}

    def shared(result: Instruction) -> Iterator[Hashable]:
        """What puts a result into one group with others that share it."""
        yield result
        if not reduced[result]:
            yield "not reduced"
        for each in leading_to(result):
            # Of the reductions, only the first that reads a scalar is grouped by it.
            first = of_scalars.setdefault(each, result) if reduced[result] else result
            if first is result or not _is_scalar(each):
                yield each

    groups = connected_components(reduced, shared)
    numbers = {each: number for number, group in enumerate(groups) for each in group}
    return [numbers[result] for result in results]


def _is_scalar(instruction: Instruction) -> bool:
    """Whether it is a scalar, a constant, or one of these broadcast."""
    if instruction.opcode == "broadcast":
        return _is_scalar(instruction.operands[0])
    return instruction.opcode == "constant" or (
        not instruction.shape.is_tuple and not instruction.shape.rank
    )
