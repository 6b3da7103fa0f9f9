"""Analyses in which nothing is shared: what is found out holds for one instruction alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from ops import REGISTRY, InstructionAnalysis, InstructionIndexing, Registry
from ops.rules.rule import OpRule


def _by_users(rules: Mapping[str, OpRule]) -> dict[str, OpRule]:
    """The same rules as if users had registered them, who may look at anything."""
    return {name: replace(rule) for name, rule in rules.items()}


UNSHARED: Final = Registry(_by_users(REGISTRY.opcodes), _by_users(REGISTRY.custom_calls))
"""What the library answers for, but no two instructions are seen to be alike."""


def all_answers(
    each: InstructionAnalysis, *, physical_layout: bool = False
) -> Iterator[InstructionIndexing]:
    """From every result of an instruction to its operands, and from every operand back."""
    for output in range(len(each.instruction.shape.arrays)):
        yield each.output_to_input(output, physical_layout=physical_layout)
    for number in range(len(each.instruction.operands)):
        yield each.input_to_output(number, physical_layout=physical_layout)
