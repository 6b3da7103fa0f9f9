"""How much work paths are: in compositions of maps, and in calls of functions; never in time."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from ops import OperandIndexing, hlo, parameter_indexing
from ops.hlo import HloModule
from tests.call_counts import calls_of


def compositions(module: HloModule, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many maps are composed for the maps from all results of the entry to its parameters."""
    count = 0
    compose = OperandIndexing.compose

    def counted(consumer: OperandIndexing, producer: OperandIndexing) -> OperandIndexing:
        nonlocal count
        count += 1
        return compose(consumer, producer)

    with monkeypatch.context() as patch:
        patch.setattr(OperandIndexing, "compose", counted)
        ask_all(module)
    return count


def ask_all(module: HloModule) -> None:
    """Ask for the maps from all results of the entry to its parameters."""
    for output in range(len(module.entry.root.shape.arrays)):
        parameter_indexing(module.entry.root, output)


def entry(lines: Iterable[str], root: str, computations: str = "") -> HloModule:
    """A program that begins with the parameter ``x0``."""
    start = "x0 = f32[8,8] parameter(0)"
    text = f"HloModule m {computations} ENTRY e {{ {start} {' '.join(lines)} ROOT r = {root} }}"
    return hlo.parse(text)


def diamond(depth: int) -> HloModule:
    """Each array is its predecessor and the same transposed: two maps."""
    levels = (
        f"t{level} = f32[8,8] transpose(x{level}), dimensions={{1,0}} "
        f"x{level + 1} = f32[8,8] add(x{level}, t{level})"
        for level in range(depth)
    )
    return entry(levels, f"f32[8,8] copy(x{depth})")


def chain(depth: int) -> HloModule:
    """One elementwise operation after the other."""
    levels = (f"x{level + 1} = f32[8,8] negate(x{level})" for level in range(depth))
    return entry(levels, f"f32[8,8] copy(x{depth})")


def nested(depth: int) -> HloModule:
    """Each computation transposes and calls the next."""
    levels = " ".join(
        f"n{level} {{ a = f32[8,8] parameter(0) t = f32[8,8] transpose(a), dimensions={{1,0}} "
        f"ROOT c = f32[8,8] call(t), to_apply=n{level - 1} }}"
        for level in range(1, depth)
    )
    inner = "n0 { a = f32[8,8] parameter(0) ROOT b = f32[8,8] negate(a) }"
    return entry([], f"f32[8,8] call(x0), to_apply=n{depth - 1}", f"{inner} {levels}")


def layers(depth: int) -> HloModule:
    """Each layer multiplies with weights and adds; each weight's update is a result."""
    shape, numbers = "f32[8,8]", range(1, depth + 1)
    weights = (f"w{number} = {shape} parameter({number})" for number in numbers)
    steps = (
        f"d{number} = {shape} dot(x{number - 1}, w{number}), lhs_contracting_dims={{1}}, "
        f"rhs_contracting_dims={{0}} x{number} = {shape} add(x{number - 1}, d{number})"
        for number in numbers
    )
    updates = (
        f"g{number} = {shape} dot(x{depth}, x{number}), lhs_contracting_dims={{0}}, "
        f"rhs_contracting_dims={{0}} new{number} = {shape} subtract(w{number}, g{number})"
        for number in numbers
    )
    root = f"({', '.join([shape] * depth)}) tuple({', '.join(f'new{each}' for each in numbers)})"
    return entry([*weights, *steps, *updates], root)


def rows(depth: int) -> HloModule:
    """Each result is another row of an array that many layers make: no two ask the same."""
    steps = (
        f"m{level} = f32[8,8] reverse(x{level}), dimensions={{1}} "
        f"x{level + 1} = f32[8,8] add(x{level}, m{level})"
        for level in range(depth)
    )
    results = [f"f32[1,8] slice(x{depth}), slice={{[{row}:{row + 1}],[0:8]}}" for row in range(8)]
    named = (f"r{row} = {result}" for row, result in enumerate(results))
    names = ", ".join(f"r{row}" for row in range(8))
    return entry([*steps, *named], f"({', '.join(['f32[1,8]'] * 8)}) tuple({names})")


COMPOSED = [
    # a program, how deep it is, and how many maps are composed at most
    ("diamond", diamond, 1000, 4),
    ("chain", chain, 10_000, 0),
    ("nested calls", nested, 1000, 2000),
    ("layers", layers, 100, 40),
    ("rows", rows, 100, 200),
]


@pytest.mark.parametrize(
    ("program", "depth", "most"), [row[1:] for row in COMPOSED], ids=[row[0] for row in COMPOSED]
)
def test_equal_maps_are_composed_once(
    program: Callable[[int], HloModule], depth: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert compositions(program(depth), monkeypatch) <= most


@pytest.mark.parametrize(
    "program", [diamond, chain, nested, rows], ids=["diamond", "chain", "nested calls", "rows"]
)
def test_work_is_linear_in_depth(program: Callable[[int], HloModule]) -> None:
    work: list[int] = []
    for depth in (100, 200):
        module = program(depth)
        work.append(calls_of(lambda module=module: ask_all(module)))
    assert work[1] < 2.3 * work[0]
