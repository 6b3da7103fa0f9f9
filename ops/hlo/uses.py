"""Where the instructions of a computation stand, and which ones read them."""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from ops import limits

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.hlo.module import Computation, Instruction


class Uses(NamedTuple):
    """The places of instructions in their computation, and for each that is read, its users."""

    positions: Mapping[Instruction, int]
    users: Mapping[Instruction, tuple[Instruction, ...]]


@lru_cache(maxsize=limits.MAX_REMEMBERED_COMPUTATIONS)
def uses_in(computation: Computation) -> Uses:
    """The positions and users of the instructions of a computation, found once for all questions.

    >>> from ops import hlo
    >>> p, n, r = hlo.parse('ENTRY e { p = f32[] parameter(0) n = f32[] negate(p) '
    ...                     'ROOT r = f32[] multiply(n, p) }').entry.instructions
    >>> uses = uses_in(p.computation)
    >>> uses.positions[r], [user.name for user in uses.users[p]]
    (2, ['n', 'r'])
    """
    positions = {each: position for position, each in enumerate(computation.instructions)}
    users: dict[Instruction, dict[Instruction, None]] = defaultdict(dict)
    for each in computation.instructions:
        for operand in each.operands:
            users[operand][each] = None
    return Uses(positions, {operand: tuple(readers) for operand, readers in users.items()})
