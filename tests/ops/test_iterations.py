"""Loops of a known number of iterations, against the same with all iterations written out.

A loop has a counter, a vector that it keeps, and two that it changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ops import hlo, input_to_output, output_to_input, parameter_indexing
from ops.dependence.dependence import Indexings
from tests.evaluation import related
from tests.extent import seldom
from tests.ops.answers import known

SIZE: Final = 6
ARRAYS: Final = "vxy"
VECTOR: Final = f"f32[{SIZE}]"
STATE: Final = f"(s32[], {VECTOR}, {VECTOR}, {VECTOR})"

Relation: TypeAlias = "set[tuple[int, int, int, int]]"
"""The number of an array after the loop, an index in it, and the same of an array before."""

Offset: TypeAlias = "tuple[int, int]"
"""A factor of the counter, and what is added."""


@dataclass(frozen=True)
class Node:
    """What an iteration computes: an array of the state, or an operation on other nodes."""

    operation: str
    operands: tuple[Node, ...] = ()
    offsets: tuple[Offset, ...] = ()
    size: int = 1


class Writer:
    """Writes what iterations compute as lines of HLO."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def add(self, made: str) -> str:
        name = f"r{len(self.lines)}"
        self.lines.append(f"{name} = {made}")
        return name

    def scalar(self, counter: str, offset: Offset) -> str:
        factor, first = (self.add(f"s32[] constant({each})") for each in offset)
        return self.add(f"s32[] add({self.add(f's32[] multiply({counter}, {factor})')}, {first})")

    def array(self, node: Node, counter: str, names: dict[str, str]) -> str:
        """The name of the value of a node, where arrays of the state have these names."""
        if node.operation in names:
            return names[node.operation]
        one, *others = (self.array(each, counter, names) for each in node.operands)
        match node.operation:
            case "reverse":
                return self.add(f"{VECTOR} reverse({one}), dimensions={{0}}")
            case "shift":
                zero = self.add("f32[] constant(0)")
                return self.add(f"{VECTOR} pad({one}, {zero}), padding=-1_1")
            case "rotate":
                first = self.add(f"f32[2] slice({one}), slice={{[0:2]}}")
                rest = self.add(f"f32[{SIZE - 2}] slice({one}), slice={{[2:{SIZE}]}}")
                return self.add(f"{VECTOR} concatenate({rest}, {first}), dimensions={{0}}")
            case "update":
                there, here = (self.scalar(counter, each) for each in node.offsets)
                sizes = f"dynamic_slice_sizes={{{node.size}}}"
                part = self.add(f"f32[{node.size}] dynamic-slice({others[0]}, {there}), {sizes}")
                return self.add(f"{VECTOR} dynamic-update-slice({one}, {part}, {here})")
            case _:
                return self.add(f"{VECTOR} add({one}, {others[0]})")


@dataclass(frozen=True)
class Program:
    """A loop: the counter's values, and what an iteration makes of ``x`` and ``y``."""

    counter: range
    x: Node
    y: Node

    def loop(self) -> str:
        body = Writer()
        names = {name: f"s{name}" for name in ARRAYS}
        x, y = (body.array(each, "i", names) for each in (self.x, self.y))
        first, last, step = self.counter.start, self.counter.stop, self.counter.step
        arrays = enumerate(ARRAYS, 1)
        read = " ".join(f"s{name} = {VECTOR} get-tuple-element(s), index={n}" for n, name in arrays)
        counter = "i = s32[] get-tuple-element(s), index=0"
        direction = "LT" if step > 0 else "GT"
        return f"""HloModule loop
            body {{ s = {STATE} parameter(0) {counter} {read} step = s32[] constant({step})
                    j = s32[] add(i, step) {" ".join(body.lines)}
                    ROOT r = {STATE} tuple(j, sv, {x}, {y}) }}
            goes_on {{ s = {STATE} parameter(0) {counter} limit = s32[] constant({last})
                       ROOT r = pred[] compare(i, limit), direction={direction} }}
            ENTRY e {{ v = {VECTOR} parameter(0) x = {VECTOR} parameter(1) y = {VECTOR} parameter(2)
                       first = s32[] constant({first}) s = {STATE} tuple(first, v, x, y)
                       ROOT w = {STATE} while(s), condition=goes_on, body=body }}"""

    def written_out(self) -> str:
        """The module with all iterations one after the other."""
        writer = Writer()
        names = {name: f"p{name}" for name in ARRAYS}
        for value in self.counter:
            counter = writer.add(f"s32[] constant({value})")
            x, y = (writer.array(each, counter, names) for each in (self.x, self.y))
            names = {"v": "pv", "x": x, "y": y}
        read = " ".join(f"p{name} = {VECTOR} parameter({n})" for n, name in enumerate(ARRAYS))
        return f"""HloModule written_out ENTRY e {{ {read} {" ".join(writer.lines)}
            ROOT r = ({VECTOR}, {VECTOR}, {VECTOR}) tuple({", ".join(names.values())}) }}"""


def expected(program: Program) -> Relation:
    """What the program with all iterations written out says."""
    root = hlo.parse(program.written_out()).entry.root
    return {
        (output, here, parameter.parameter_number or 0, there)
        for output in range(len(ARRAYS))
        for parameter, answer in parameter_indexing(root, output).items()
        for here, there in pairs(answer)
    }


def backward(program: Program) -> Relation:
    """What the loop says from results to operands; its counter is left out."""
    root = hlo.parse(program.loop()).entry.root
    return {
        (output, here, way.element - 1, there)
        for output in range(len(ARRAYS))
        for way in known(output_to_input(root, output + 1).indexing[0])
        if way.element
        for here, there in pairs((way,))
    }


def forward(program: Program) -> Relation:
    """What the loop says from operands to results."""
    root = hlo.parse(program.loop()).entry.root
    _, *answers = input_to_output(root).indexing
    return {
        (output, here, way.element - 1, there)
        for output, answer in enumerate(answers)
        for way in known(answer)
        if way.element
        for there, here in pairs((way,))
    }


def pairs(answer: Indexings) -> Iterator[tuple[int, int]]:
    for way in known(answer):
        for (here,), (there,) in related(way.map):
            yield here, there


V, X, Y = (Node(name) for name in ARRAYS)


def add(one: Node, other: Node) -> Node:
    return Node("add", (one, other))


def update(  # an update of ``array`` at ``to`` by what ``source`` has at ``from_``
    array: Node, source: Node, to: Offset = (1, 0), from_: Offset = (1, 0), size: int = 1
) -> Node:
    return Node("update", (array, source), (from_, to), size)


def unary(operation: str) -> Callable[[Node], Node]:
    return lambda node: Node(operation, (node,))


turned, shifted, rotated = map(unary, ("reverse", "shift", "rotate"))

ALL, DOWN = range(SIZE), range(5, 0, -1)
EXACT: Final = {
    "a stacked output": Program(ALL, update(X, V), Y),
    "a stacked output, in reverse": Program(range(5, -1, -1), update(X, V), Y),
    "a stacked output of some": Program(range(1, 4), update(X, V), Y),
    "blocks": Program(range(3), update(X, V, (2, 0), (2, 0), 2), Y),
    "blocks by a step": Program(range(0, SIZE, 2), update(X, V, size=2), Y),
    "windows that overlap": Program(range(4), update(X, V, size=3), Y),
    "windows that overlap, downwards": Program(range(3, -1, -1), update(X, V, size=3), Y),
    "gaps": Program(range(3), update(X, V, (2, 1), (1, 0)), Y),
    "the same place again and again": Program(range(3), update(X, V, (0, 2), (1, 1)), Y),
    "a sum that is carried, and stacked": Program(ALL, update(X, Y), add(Y, V)),
    "an elementwise carry": Program(range(4), add(X, V), add(X, Y)),
    "a reversal, even": Program(range(4), turned(X), Y),
    "a reversal, odd": Program(range(3), turned(X), Y),
    "a rotation": Program(range(4), rotated(X), Y),
    "a shift": Program(range(4), shifted(X), Y),
    "two that change places": Program(range(3), Y, X),
    "two that change places, turned": Program(range(5), turned(Y), X),
    "a delay": Program(range(4), V, X),
    "a delay, stacked": Program(ALL, update(X, Y), V),
    "what was there before": Program(ALL, update(X, Y), update(Y, V)),
    "what was overwritten": Program(range(5), update(X, Y), update(Y, V, (1, 1))),
    "what was overwritten, downwards": Program(DOWN, update(X, Y), update(Y, V, (1, -1))),
    "a block of what was overwritten": Program(
        range(2), update(X, Y, (2, 0), (2, 0), 2), update(Y, V, (2, 2), size=2)
    ),
    "once": Program(range(1), rotated(add(X, Y)), update(Y, V, (1, 3))),
}
"""Loops whose maps are exactly those of all iterations."""


@pytest.mark.parametrize("program", EXACT.values(), ids=EXACT)
def test_the_maps_of_a_loop_are_those_of_all_iterations(program: Program) -> None:
    wanted = expected(program)
    assert backward(program) == wanted
    assert forward(program) == wanted


OFFSETS: Final = st.tuples(st.integers(-2, 2), st.integers(-1, SIZE))
NODES: Final = st.recursive(
    st.sampled_from([V, X, Y]),
    lambda inner: st.one_of(
        st.builds(add, inner, inner),
        *(st.builds(move, inner) for move in (turned, shifted, rotated)),
        st.builds(update, inner, inner, OFFSETS, OFFSETS, st.integers(1, SIZE)),
    ),
    max_leaves=3,
)


def counting(first: int, step: int, count: int) -> range:
    return range(first, first + step * count, step)


STEPS: Final = st.sampled_from([-2, -1, 1, 2])
COUNTERS: Final = st.builds(counting, st.integers(-1, 3), STEPS, st.integers(1, 5))


@seldom
@given(st.builds(Program, COUNTERS, NODES, NODES))
def test_no_iteration_reads_what_the_maps_of_a_loop_leave_out(program: Program) -> None:
    wanted = expected(program)
    assert wanted <= backward(program)
    assert wanted <= forward(program)
