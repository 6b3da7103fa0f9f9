"""Compares the maps of the root of a program with the dependences seen when it runs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import ops
from ops import hlo
from ops.dependence.dependence import Indexings
from tests.evaluation import Pair, related
from tests.ops.answers import known
from tests.ops.oracle import DISTURBANCES, felt


def said(text: str, operand: int, output: int = 0) -> set[Pair]:
    """The pairs (index in the result, index in an operand) of the root; the same both ways."""
    root = hlo.parse(text).entry.root
    there = _pairs(ops.output_to_input(root, output).indexing[operand])
    back = _pairs(ops.input_to_output(root, operand).indexing[output])
    assert there == {(result, place) for place, result in back}
    return there


def _pairs(answer: Indexings) -> set[Pair]:
    return {pair for way in known(answer) for pair in related(way.map)}


def relation_of(root: hlo.Instruction) -> set[tuple[int, int, int, Pair]]:
    """What is said of all results and operands, with the array of an operand; the same both ways.

    What is unknown relates nothing.
    """
    there = {
        (output, operand, way.element, pair)
        for output in root.shape.array_indices
        for operand, answer in enumerate(ops.output_to_input(root, output).indexing)
        for way in ways_of(answer)
        for pair in related(way.map)
    }
    back = {
        (output, operand, way.element, pair[::-1])
        for operand in range(len(root.operands))
        for output, answer in enumerate(ops.input_to_output(root, operand).indexing)
        for way in ways_of(answer)
        for pair in related(way.map)
    }
    assert there == back
    return there


def ways_of(answer: Indexings) -> tuple[ops.OperandIndexing, ...]:
    return () if isinstance(answer, ops.Unknown) else tuple(answer)


def check_felt(
    text: str,
    *,
    wider: Collection[int] = (),
    given: Mapping[int, Any] | None = None,
    disturbances: Sequence[complex] = DISTURBANCES,
) -> None:
    """What every array of the result feels of every parameter is what is said.

    Of the operands in ``wider`` more may be said. The operands of the root are the parameters.
    """
    root = hlo.parse(text).entry.root
    for output in range(len(root.shape.arrays)):
        for operand in range(len(root.operands)):
            seen = felt(text, operand, given, output, disturbances)
            told = said(text, operand, output)
            assert seen == told or (operand in wider and seen < told), (output, operand)
