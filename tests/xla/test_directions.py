"""Both directions of the modules in XLA's tests are each other's inverse, element by element."""

from __future__ import annotations

from functools import cache
from itertools import product

from indexing import IndexingMap, IndexRelation
from ops import Unknown, input_to_output, output_to_input
from ops.dependence.dependence import Indexings
from ops.hlo import Instruction
from tests.cases import for_all
from tests.extent import in_ci, part
from tests.xla.facts import facts
from tests.xla.modules import module_of

MODULES = {fact.row["hlo"]: fact for fact in facts() if "hlo" in fact.row}
ROOTS = {fact.name: module_of(fact.row).entry.root for fact in MODULES.values()}
"""The root of each module's entry, by the name of a fact about it."""


@cache
def compared(root: Instruction) -> int:
    """How many pairs of a result and an operand are the same in both directions.

    Maps with runtime variables are left out: what a slice reads is known, what reads it is not.
    """
    count = 0
    for output, operand in product(root.shape.array_indices, range(len(root.operands))):
        back = plain(output_to_input(root, output).indexing[operand])
        forth = plain(input_to_output(root, operand).indexing[output])
        if back is not None and forth is not None:
            assert bool(back) is bool(forth)
            assert not back or IndexRelation(*back).inverse() == IndexRelation(*forth)
            count += 1
    return count


def plain(answer: Indexings) -> list[IndexingMap] | None:
    """The maps of an answer, to the first array of the operand and without runtime variables."""
    if isinstance(answer, Unknown) or any(way.element or way.map.runtime for way in answer):
        return None
    return [way.map for way in answer if not way.map.is_known_empty]


@for_all(part([*ROOTS], 40))
def test_one_direction_is_the_inverse_of_the_other(name: str) -> None:
    compared(ROOTS[name])


@in_ci
def test_most_pairs_are_compared() -> None:
    pairs = sum(len(root.shape.arrays) * len(root.operands) for root in ROOTS.values())
    assert sum(map(compared, ROOTS.values())) > 0.9 * pairs
