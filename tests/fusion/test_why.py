"""The paths of instructions that maps come from: all are counted, and each gives the map."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from math import comb

import pytest
from hypothesis import given

from ops import REGISTRY, Fusion, FusionError, Unknown
from ops.analysis.calls import itself
from ops.analysis.dataflow import Array
from ops.dependence.operand_indexing import OperandIndexing
from ops.fusion.slicing import path_text
from ops.hlo import HloModule, Instruction
from tests.cases import for_rows
from tests.fusion.enumeration import dependencies_of
from tests.fusion.random_programs import Program, programs
from tests.fusion.small_programs import CALLED_TWICE, NESTED, ROWS, SUM_WITH_TRANSPOSE
from tests.fusion.test_epilogue import IN_A_BRANCH, IN_A_LOOP
from tests.fusion.units import REAL, Row, entry, few_frames, fusion_in, fusions_of, named, whole

Found = tuple[list[Array], OperandIndexing]
"""The arrays on a path, and the map that is composed along it."""


def paths_from(start: Array, fusion: Fusion) -> Iterator[Found]:
    """Every path through a fusion, one after the other, map composed by map."""
    answer = itself(start)
    assert not isinstance(answer, Unknown)
    waiting: list[tuple[list[Array], OperandIndexing, list[Instruction]]] = []
    waiting.append(([start], answer[0], []))
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
        for link in dependencies_of(instruction):
            assert not isinstance(link.dependence, Unknown)
            for way in link.dependence if link.output == number else ():
                yield (instruction.operands[link.operand], link.element), way, callers


@pytest.mark.parametrize("row", [row for row in ROWS if row.start is None], ids=str)
def test_every_path_is_counted_and_gives_its_map(row: Row) -> None:
    check_paths(row.fusion, row.first, row.output)


@given(programs())
def test_every_path_of_random_programs_is_counted_and_gives_its_map(program: Program) -> None:
    computation = program.module.entry
    check_paths(Fusion.of_computation(computation), computation.root, 0)


Ways = dict[OperandIndexing, set[tuple[Array, ...]]]
"""The paths that lead along each map."""


def check_paths(fusion: Fusion, root: Instruction, output: int) -> None:
    """Compare all that is told of paths with paths that are followed one by one."""
    expected: dict[Instruction, Ways] = defaultdict(lambda: defaultdict(set))
    for path, way in paths_from((root, output), fusion):
        target, number = path[-1]
        expected[target][way.of_element(number)].add(tuple(path))
    assert expected.keys() == fusion.indexing(root, output).keys()
    for target, ways in expected.items():
        for way in [way for way in ways if way.map.is_known_empty]:
            if any(each is not way and each.element == way.element for each in ways):
                del ways[way]
        found = fusion.why(target, root, output, most=1000)
        assert {each.indexing for each in found} == {*ways}
        for each in found:
            assert not isinstance(each.indexing, Unknown)
            paths = [tuple(array[0] for array in path) for path in ways[each.indexing]]
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
        assert {each.indexing for each in found} == {*answer}
        for each in found:
            assert {path[0] for path in each.paths} == {row.first}
            assert {path[-1] for path in each.paths} == {target}


@for_rows([
    ("a parameter", SUM_WITH_TRANSPOSE, "computation e", "p",
     ["%p <- %a add", "%p <- %t transpose <- %a add"]),
    ("itself", SUM_WITH_TRANSPOSE, "computation e", "a", ["%a add"]),
    ("through a fusion in a fusion", NESTED, "instruction r", "p",
     [("%p <- %a <- %a <- %t transpose <- %n fusion <- %all tuple <- %r fusion")]),
    ("through two runs", CALLED_TWICE, "computation e", "p",
     [("%p <- %a <- %w pad <- %s slice <- %once call <- %a <- %w pad <- %s slice"
       " <- %twice call")]),
    ("into one run or the other", CALLED_TWICE, "computation e", "w",
     ["%w pad <- %s slice <- %twice call",
      ("%w pad <- %s slice <- %once call <- %a <- %w pad <- %s slice <- %twice call")]),
    ("either branch", IN_A_BRANCH, "computation e", "p",
     ["%p <- %a <- %other abs <- %r conditional <- %v reverse",
      "%p <- %a <- %hero negate <- %e exponential <- %r conditional <- %v reverse"]),
    ("what chooses", IN_A_BRANCH, "computation e", "c", ["%c <- %r conditional <- %v reverse"]),
    ("past a loop", IN_A_LOOP, "computation e", "e.x",
     ["%x <- %s tuple <- %w while <- %r get-tuple-element",
      "%x <- %s tuple <- %w while <- %r get-tuple-element"]),
])  # fmt: skip
def test_paths_have_a_text(module: HloModule, unit: str, target: str, expected: list[str]) -> None:
    found = fusion_in(module, unit).why(named(module, target))
    assert sorted(path_text(path) for each in found for path in each.paths) == sorted(expected)


def test_into_a_round_of_a_loop() -> None:
    found = Fusion.of_computation(IN_A_LOOP.entry).why(named(IN_A_LOOP, "hero"))
    way = "%hero reverse <- %next tuple <- %w while <- %r get-tuple-element"
    assert {path_text(path) for each in found for path in each.paths} == {way}
    heads = {str(each.indexing).partition(",")[0] for each in found}
    assert heads == {"(d0) -> (-d0 + 3)", "(d0) -> (d0)"}


def test_the_step_without_map_is_found() -> None:
    module = entry("""p = f32[3] parameter(0) c = f32[3] custom-call(p), custom_call_target="x"
        n = f32[3] negate(c) ROOT r = f32[3] add(p, n)""")
    unknown, known = Fusion.of_computation(module.entry).why(named(module, "p"))
    assert str(known).splitlines()[1:] == ["  %p <- %r add"]
    assert str(unknown).splitlines() == [
        "unknown (custom-call: no indexing map of x)",
        "  %p <- %c custom-call <- %n negate <- %r add",
    ]


def test_reasons_are_those_of_what_is_reached_with_the_values_of_the_maps() -> None:
    t, a = named(SUM_WITH_TRANSPOSE, "t"), named(SUM_WITH_TRANSPOSE, "a")
    assert Fusion.of_computation(SUM_WITH_TRANSPOSE.entry).why(a, t) == ()
    with pytest.raises(FusionError, match="%a is neither in it nor read"):
        Fusion.of_instruction(t).why(a)
    fusion = whole("""x = s32[90,40] parameter(0) a = s32[] parameter(1) b = s32[] parameter(2)
        wide = s32[50,32] dynamic-slice(x, a, b), dynamic_slice_sizes={50,32}
        ROOT narrow = s32[25,16] dynamic-slice(wide, b, a), dynamic_slice_sizes={25,16}""")
    (found,) = fusion.why(fusion.operands[0])
    assert (found.indexing,) == fusion.indexing()[fusion.operands[0]]
    assert path_text(found.paths[0]) == "%x <- %wide dynamic-slice <- %narrow dynamic-slice"


def test_more_paths_than_anyone_can_list_are_counted() -> None:
    levels = (
        f"a{n} = f32[8] negate(x{n}) b{n} = f32[8] abs(x{n}) x{n + 1} = f32[8] add(a{n}, b{n})"
        for n in range(400)
    )
    fusion = whole(f"x0 = f32[8] parameter(0) {' '.join(levels)}")
    (found,) = fusion.why(fusion.operands[0], most=3)
    assert found.count == 2**400
    assert [*map(len, found.paths)] == [801] * 3
    assert len(set(found.paths)) == 3
    assert str(found).endswith("\n  and at least 2**399 more")


def test_windows_of_windows_are_counted_for_each_map() -> None:
    """Of 2**20 paths, as many lead along each of 21 maps as there are subsets of that size."""
    levels = " ".join(
        f"a{n} = f32[{40 - n}] slice(x{n - 1}), slice={{[0:{40 - n}]}} "
        f"b{n} = f32[{40 - n}] slice(x{n - 1}), slice={{[1:{41 - n}]}} "
        f"x{n} = f32[{40 - n}] add(a{n}, b{n})"
        for n in range(1, 21)
    )
    fusion = whole(f"x0 = f32[40] parameter(0) {levels}")
    found = fusion.why(fusion.operands[0])
    assert sorted(each.count for each in found) == sorted(comb(20, size) for size in range(21))


def test_runs_of_runs_are_counted() -> None:
    """Six levels, each of which runs the one below twice, at whose bottom there are two ways."""
    levels = " ".join(
        f"n{level} {{ a = f32[4] parameter(0) b = f32[4] call(a), to_apply=n{level - 1} "
        f"ROOT c = f32[4] call(b), to_apply=n{level - 1} }}"
        for level in range(1, 7)
    )
    bottom = """n0 { a = f32[4] parameter(0) u = f32[4] abs(a) v = f32[4] tan(a)
    ROOT s = f32[4] add(u, v) } """
    module = entry("p = f32[4] parameter(0) ROOT r = f32[4] call(p), to_apply=n6", bottom + levels)
    (found,) = Fusion.of_computation(module.entry).why(module.entry.parameters[0], most=1)
    assert found.count == 2 ** (2**6)
    (inside,) = Fusion.of_computation(module.entry).why(named(module, "u"), most=2)
    assert inside.count == sum(2**runs for runs in range(2**6))
    assert [*map(len, inside.paths)] == sorted(map(len, inside.paths))


def test_depth_needs_no_recursion() -> None:
    levels = " ".join(
        f"n{level} {{ a = f32[4] parameter(0) ROOT c = f32[4] call(a), to_apply=n{level - 1} }}"
        for level in range(1, 300)
    )
    bottom = "n0 { a = f32[4] parameter(0) ROOT t = f32[4] reverse(a), dimensions={0} } "
    body = "p = f32[4] parameter(0) ROOT r = f32[4] call(p), to_apply=n299"
    module = entry(body, bottom + levels)
    fusion = Fusion.of_computation(module.entry)
    with few_frames():
        (found,) = fusion.why(fusion.operands[0])
        (outside,) = fusion.why(fusion.operands[0], named(module, "t"))
    assert (found.count, len(found.paths[0])) == (1, 602)
    assert (outside.count, len(outside.paths[0])) == (1, 302)


@pytest.mark.parametrize("name", REAL)
def test_every_map_of_real_fusions_has_its_paths(name: str) -> None:
    for fusion in fusions_of(name):
        root, output = fusion.results[0]
        for operand in fusion.operands[:4]:
            answer = fusion.indexing(root, output).get(operand, ())
            found = fusion.why(operand, root, output, most=2)
            assert {each.indexing for each in found} == (
                {answer} if isinstance(answer, Unknown) else {*answer}
            )
            assert all(len(each.paths) == min(each.count, 2) for each in found)
