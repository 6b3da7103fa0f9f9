"""Every opcode of XLA is answered, in both directions; the page on operations says how."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from ops import REGISTRY, Unknown, hlo, input_to_output, output_to_input
from ops.building import arrays_of
from ops.hlo.opcodes import OPCODES
from tests.evaluation import related
from tests.ops.documentation import PAGE, with_tables
from tests.ops.operations import ALL_OPCODES, PROGRAMS, Program

SINCE = {"atan", "collective-reduce", "shuffle"}
"""Opcodes that are younger than the XLA that the tests have."""


def test_every_opcode_is_known_and_has_a_program() -> None:
    assert [*PROGRAMS] == [*ALL_OPCODES]
    assert OPCODES.keys() == {*ALL_OPCODES}
    assert REGISTRY.opcodes <= {*ALL_OPCODES}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_every_opcode_is_answered_in_both_directions(program: Program) -> None:
    root = program.root
    assert root.opcode == program.opcode
    reasons = {answer.reason for answer in answers(root) if isinstance(answer, Unknown)}
    assert not reasons


def answers(instruction: hlo.Instruction) -> list[Any]:
    """All answers to all questions about one instruction."""
    asked = [
        *(output_to_input(instruction, k) for k in range(len(arrays_of(instruction.shape)))),
        *(input_to_output(instruction, k) for k in range(len(instruction.operands))),
    ]
    return [answer for ask in asked for answer in ask.indexing]


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_both_directions_are_one_relation(program: Program) -> None:
    root = program.root
    backward = {
        (output, number, way.element, here, there)
        for output in range(len(arrays_of(root.shape)))
        for number, answer in enumerate(output_to_input(root, output).indexing)
        if not isinstance(answer, Unknown)
        for way in answer
        for here, there in related(way.map)
    }
    forward = {
        (output, number, way.element, here, there)
        for number in range(len(root.operands))
        for output, answer in enumerate(input_to_output(root, number).indexing)
        if not isinstance(answer, Unknown)
        for way in answer
        for there, here in related(way.map)
    }
    assert backward == forward


@pytest.mark.needs("jaxlib")
@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_xla_reads_the_same_programs(program: Program) -> None:
    if program.opcode not in SINCE:
        importlib.import_module("jaxlib._hlo").hlo_module_from_text(program.text)


def test_the_page_is_up_to_date() -> None:
    page = PAGE.read_text("utf-8")
    assert page == with_tables(page), "run python -m tests.ops.documentation"
