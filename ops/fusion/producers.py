"""The maps of one instruction, by the instructions that it reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ops.analysis.chaining import joined
from ops.analysis.instructions import output_to_input
from ops.rules.op_indexing import Unknown
from ops.rules.registry import REGISTRY

if TYPE_CHECKING:
    from ops.analysis.answers import Answer
    from ops.hlo import Instruction
    from ops.rules.registry import Registry


def by_producer(
    instruction: Instruction, output: int = 0, *, registry: Registry = REGISTRY
) -> dict[Instruction, Answer]:
    """Which elements of each instruction that is an operand are needed for an element of a result.

    What :func:`ops.output_to_input` says, in the smallest form, with the maps of all operands that
    are the same instruction in one set; each map stands there once.

    Raises:
        ShapeError: there is no such output.
        HloTextError: shapes and attributes of an instruction do not fit.

    Source:
        XLA's ``GroupIndexingMapsByProducers``.

    >>> from ops import hlo
    >>> text = "ENTRY e { p = f32[4,4] parameter(0) ROOT r = f32[4,4] dot(p, p), "
    >>> text += "lhs_contracting_dims={1}, rhs_contracting_dims={0} }"
    >>> root = hlo.parse(text).entry.root
    >>> for way in by_producer(root)[root.operands[0]]:
    ...     print(way)
    (d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 3], d1 in [0, 3], s0 in [0, 3]
    (d0, d1)[s0] -> (s0, d1), domain: d0 in [0, 3], d1 in [0, 3], s0 in [0, 3]
    """
    answers = output_to_input(instruction, output, registry=registry).indexing
    together: dict[Instruction, Answer] = {}
    for operand, answer in zip(instruction.operands, answers, strict=True):
        together[operand] = joined(together.get(operand, ()), _simplified(answer))
    return together


def _simplified(answer: Answer) -> Answer:
    return answer if isinstance(answer, Unknown) else tuple(way.simplify() for way in answer)
