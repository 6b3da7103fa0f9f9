"""The paths of instructions that maps come from: all are counted, and each gives the map."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import pytest

from ops import REGISTRY, Fusion, Unknown
from ops.analysis.paths import itself
from ops.fusions.provenance import path_text
from tests.fusions.test_epilogue import IN_A_BRANCH, IN_A_LOOP
from tests.fusions.test_grouping import CALLED_TWICE, NESTED, ROWS, SUM_WITH_TRANSPOSE
from tests.fusions.units import Row, fusion_in, named

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ops.analysis.answers import OperandIndexing
    from ops.analysis.graphs import Array
    from ops.hlo import HloModule, Instruction

    Found = tuple[list[Array], OperandIndexing]
    """The arrays on a path, and the map that is composed along it."""


def paths_from(start: Array, fusion: Fusion) -> Iterator[Found]:
    """Every path through a fusion, one after the other, map composed by map."""
    answer = itself(start)
    assert not isinstance(answer, Unknown)
    waiting: list[tuple[list[Array], OperandIndexing, list[Instruction]]] = [
        ([start], answer[0], [])
    ]
    while waiting:
        path, way, callers = waiting.pop()
        yield path, way
        for array, step, stack in _steps(path[-1], callers, fusion):
            further = way.compose(step) if step else way
            waiting.append(([*path, array], further, stack))


def _steps(
    array: Array, callers: list[Instruction], fusion: Fusion
) -> Iterator[tuple[Array, OperandIndexing | None, list[Instruction]]]:
    instruction, number = array
    is_inside = instruction.computation is not fusion.computation
    if instruction.opcode == "parameter" and callers:
        operand = callers[-1].operands[instruction.parameter_number or 0]
        yield (operand, number), None, callers[:-1]
    elif is_inside or instruction in fusion.instructions:
        calls = REGISTRY.calls(instruction)
        if calls:
            yield (calls.choices[0].computation.root, number), None, [*callers, instruction]
            return
        for link in REGISTRY.dependencies(instruction):
            assert not isinstance(link.output_to_input, Unknown)
            for way in link.output_to_input if link.output == number else ():
                yield (instruction.operands[link.operand], link.element), way, callers


FROM_ROOTS = [row for row in ROWS if row.start is None]


@pytest.mark.parametrize("row", FROM_ROOTS, ids=str)
def test_every_path_is_counted_and_gives_its_map(row: Row) -> None:
    expected: dict[Instruction, dict[OperandIndexing, set[tuple[Array, ...]]]] = defaultdict(
        lambda: defaultdict(set)
    )
    for path, way in paths_from((row.first, row.output), row.fusion):
        target, number = path[-1]
        expected[target][way.of_element(number)].add(tuple(path))
    for target, ways in expected.items():
        found = row.fusion.why(target, row.first, row.output, most=1000)
        assert {each.way for each in found} == {*ways}
        for each in found:
            assert isinstance(each.way, type(next(iter(ways))))
            paths = [tuple(array[0] for array in path) for path in ways[each.way]]
            assert each.count == len(paths) == len(each.paths)
            assert sorted(each.paths, key=_names) == sorted(paths, key=_names)
            assert [*map(len, each.paths)] == sorted(map(len, paths))


def _names(path: tuple[Instruction, ...]) -> list[str]:
    return [instruction.name for instruction in path]


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_there_is_a_reason_for_every_map(row: Row) -> None:
    for target, answer in row.fusion.indexing(row.first, row.output).items():
        found = row.fusion.why(target, row.first, row.output)
        assert not isinstance(answer, Unknown)
        assert {each.way for each in found} == {*answer}
        for each in found:
            assert {path[0] for path in each.paths} == {row.first}
            assert {path[-1] for path in each.paths} == {target}


TEXTS = [
    (
        "a parameter",
        SUM_WITH_TRANSPOSE,
        "computation e",
        "p",
        ["%p <- %a add", "%p <- %t transpose <- %a add"],
    ),
    ("itself", SUM_WITH_TRANSPOSE, "computation e", "a", ["%a add"]),
    (
        "through a fusion in a fusion",
        NESTED,
        "instruction r",
        "p",
        [("%p <- %a <- %a <- %t transpose <- %n fusion <- %all tuple <- %r fusion")],
    ),
    (
        "through two runs",
        CALLED_TWICE,
        "computation e",
        "p",
        [
            (
                "%p <- %a <- %w pad <- %s slice <- %once call <- %a <- %w pad <- %s slice"
                " <- %twice call"
            )
        ],
    ),
    (
        "into one run or the other",
        CALLED_TWICE,
        "computation e",
        "w",
        [
            "%w pad <- %s slice <- %twice call",
            ("%w pad <- %s slice <- %once call <- %a <- %w pad <- %s slice <- %twice call"),
        ],
    ),
    (
        "either branch",
        IN_A_BRANCH,
        "computation e",
        "p",
        [
            "%p <- %a <- %other abs <- %r conditional <- %v reverse",
            "%p <- %a <- %hero negate <- %e exponential <- %r conditional <- %v reverse",
        ],
    ),
    ("what chooses", IN_A_BRANCH, "computation e", "c", ["%c <- %r conditional <- %v reverse"]),
    (
        "past a loop",
        IN_A_LOOP,
        "computation e",
        "e.x",
        [
            "%x <- %s tuple <- %w while <- %r get-tuple-element",
            "%x <- %s tuple <- %w while <- %r get-tuple-element",
        ],
    ),
]


@pytest.mark.parametrize(
    ("module", "unit", "target", "expected"),
    [row[1:] for row in TEXTS],
    ids=[row[0] for row in TEXTS],
)
def test_paths_have_a_text(module: HloModule, unit: str, target: str, expected: list[str]) -> None:
    found = fusion_in(module, unit).why(named(module, target))
    assert sorted(path_text(path) for each in found for path in each.paths) == sorted(expected)


def test_into_a_round_of_a_loop() -> None:
    found = Fusion.of_computation(IN_A_LOOP.entry).why(named(IN_A_LOOP, "hero"))
    assert {path_text(path) for each in found for path in each.paths} == {
        "%hero reverse <- %next tuple <- %w while <- %r get-tuple-element"
    }
    assert {str(each.way).partition(",")[0] for each in found} == {
        "(d0) -> (-d0 + 3)",
        "(d0) -> (d0)",
    }
