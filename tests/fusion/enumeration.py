"""What depends on what in small programs, by following single elements through instructions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from typing import TypeAlias

import numpy as np

from ops import REGISTRY, Unknown
from ops.analysis.calls import ValueNumbering
from ops.dependence.dependence import Indexings, Link
from ops.hlo import Computation, Instruction
from ops.rules.rule import Direction
from tests.evaluation import Pair, related

Array: TypeAlias = "tuple[Instruction, int]"
Pairs: TypeAlias = "dict[Array, set[Pair]]"
"""For each array the pairs of an index at the start and an index of the array."""


def pairs_from(start: Array, members: Collection[Instruction]) -> Pairs:
    """What an array depends on, through instructions of its computation and what they call."""
    found: Pairs = defaultdict(set)
    instruction, number = start
    indices = np.ndindex(instruction.shape.arrays[number].dimensions)
    found[start] = {(index, index) for index in indices}
    _follow(instruction.computation, members, found)
    return found


def pairs_of(answer: Indexings, element: int = 0) -> set[Pair]:
    """What maps relate, with any values of runtime variables."""
    assert not isinstance(answer, Unknown)
    return {pair for way in answer if way.element == element for pair in related(way.map)}


def dependencies_of(instruction: Instruction) -> tuple[Link, ...]:
    """The maps of one instruction that calls nothing, as its rule makes them."""
    return ValueNumbering(REGISTRY).links(instruction, Direction.OUTPUT_TO_INPUT)


def _follow(computation: Computation, members: Collection[Instruction], found: Pairs) -> None:
    """From the last instruction to the first: operands come before what reads them."""
    for instruction in reversed(computation.instructions):
        if instruction in members:
            calls = REGISTRY.calls(instruction)
            if calls:
                assert calls.condition is None
                assert calls.selector is None
                _enter(instruction, calls.choices[0].computation, found)
            else:
                _step(instruction, found)


def _step(instruction: Instruction, found: Pairs) -> None:
    for link in dependencies_of(instruction):
        operand = instruction.operands[link.operand], link.element
        steps: dict[tuple[int, ...], set[tuple[int, ...]]] = defaultdict(set)
        for middle, end in pairs_of(link.dependence):
            steps[middle].add(end)
        found[operand] |= {
            (start, end)
            for start, middle in found[instruction, link.output]
            for end in steps[middle]
        }


def _enter(caller: Instruction, callee: Computation, found: Pairs) -> None:
    """Through one run of a computation; what is inside is united with its other runs."""
    inner: Pairs = defaultdict(set)
    for number in range(len(callee.root.shape.arrays)):
        inner[callee.root, number] = set(found[caller, number])
    _follow(callee, callee.instructions, inner)
    for array, pairs in inner.items():
        found[array] |= pairs
    for parameter, operand in zip(callee.parameters, caller.operands, strict=True):
        for number in range(len(parameter.shape.arrays)):
            found[operand, number] |= inner[parameter, number]
