"""Both directions of the modules in XLA's tests are each other's inverse, element by element."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import product
from typing import TYPE_CHECKING

from indexing import IndexingMap, parse_map
from ops import OperandIndexing, Unknown, input_to_output, output_to_input
from ops.dependence.dependence import Indexings
from ops.hlo import Instruction
from tests.cases import for_all
from tests.extent import in_ci, part
from tests.xla.facts import facts
from tests.xla.modules import module_of

if TYPE_CHECKING:
    from islpy import Map

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
            assert same_pairs([way.map.inverse() for way in back], [way.map for way in forth])
            count += 1
    return count


def plain(answer: Indexings) -> tuple[OperandIndexing, ...] | None:
    """The maps of an answer, to the first array of the operand and without runtime variables."""
    if isinstance(answer, Unknown) or any(way.element or way.map.runtime for way in answer):
        return None
    return tuple(way for way in answer if not way.map.is_known_empty)


def same_pairs(a: Iterable[IndexingMap], b: Iterable[IndexingMap]) -> bool:
    """Whether two sets of maps relate the same points together."""
    left, right = union(a), union(b)
    return left is right is None or (
        left is not None and right is not None and left.is_equal(right)
    )


def union(maps: Iterable[IndexingMap]) -> Map | None:
    """All pairs of some maps; none without a map."""
    found: Map | None = None
    for each in maps:
        found = each.to_isl() if found is None else found.union(each.to_isl())
    return found


@for_all(part([*ROOTS], 40))
def test_one_direction_is_the_inverse_of_the_other(name: str) -> None:
    compared(ROOTS[name])


@in_ci
def test_most_pairs_are_compared() -> None:
    pairs = sum(len(root.shape.arrays) * len(root.operands) for root in ROOTS.values())
    assert sum(map(compared, ROOTS.values())) > 0.9 * pairs


def test_a_difference_is_seen() -> None:
    whole, half, rest = (
        parse_map(f"(d0) -> (d0), domain: d0 in [{low}, {high}]")
        for low, high in ((0, 9), (0, 4), (5, 9))
    )
    assert same_pairs([whole], [half, rest])
    assert not same_pairs([whole], [half])
    assert not same_pairs([], [half])
    assert same_pairs([], [])
