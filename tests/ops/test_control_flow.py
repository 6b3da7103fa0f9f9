"""Loops and conditionals: the maps of any number of rounds, and of every branch."""

from __future__ import annotations

import re

import numpy as np
import pytest

import ops
from indexing import parse_map
from ops import hlo
from ops.dependence.dependence import Indexings
from ops.dependence.operand_indexing import OperandIndexing
from ops.hlo import Instruction
from tests.cases import for_rows
from tests.evaluation import related
from tests.ops.oracle import felt

STATE = "(s32[], f32[3,3], f32[3,3], f32[3])"
FIRST = f"""s = {STATE} parameter(0) n = s32[] get-tuple-element(s), index=0
      x = f32[3,3] get-tuple-element(s), index=1 w = f32[3,3] get-tuple-element(s), index=2
      v = f32[3] get-tuple-element(s), index=3 one = s32[] constant(1)"""
LAST = f"ROOT r = {STATE} tuple"
DOT = "y = f32[3,3] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}"


def loop(round_: str, condition: str = "compare(n, one), direction=LT") -> Instruction:
    """A loop over a counter, two matrices and a vector; ``round_`` makes the next state."""
    return hlo.parse(f"""HloModule m body {{ {FIRST} m = s32[] add(n, one) {round_} }}
        condition {{ {FIRST} ROOT r = pred[] {condition} }}
        ENTRY e {{ s = {STATE} parameter(0)
          ROOT r = {STATE} while(s), condition=condition, body=body }}""").entry.root


def ways(answer: Indexings) -> list[tuple[int, str]]:
    """The numbers of arrays, and the maps that lead there, without their domains."""
    assert not isinstance(answer, ops.Unknown)
    return [(way.element, str(way).partition(", domain")[0]) for way in answer]


SHIFTED = "z = f32[3] pad(v, zero), padding=-1_1"
MULTIPLIED = f"{DOT} {LAST}(m, y, w, v)"
LOOPS = [
    ("what is kept needs nothing else", MULTIPLIED, 2, [(2, "(d0, d1) -> (d0, d1)")]),
    ("the counter decides itself", MULTIPLIED, 0, [(0, "() -> ()")]),
    (
        "powers of a matrix",
        MULTIPLIED,
        1,
        [
            (1, "(d0, d1) -> (d0, d1)"),
            (1, "(d0, d1)[s0] -> (d0, s0)"),
            (2, "(d0, d1)[s0, s1] -> (s0, s1)"),
            (0, "(d0, d1) -> ()"),
        ],
    ),
    (
        "what keeps its place depends on the number of rounds",
        f"z = f32[3] add(v, v) {LAST}(m, x, w, z)",
        3,
        [(3, "(d0) -> (d0)"), (0, "(d0) -> ()")],
    ),
    (
        "matrices that change places",
        f"{LAST}(m, w, x, v)",
        1,
        [(1, "(d0, d1) -> (d0, d1)"), (2, "(d0, d1) -> (d0, d1)"), (0, "(d0, d1) -> ()")],
    ),
    (
        "a cycle that closes",
        f"t = f32[3,3] transpose(x), dimensions={{1,0}} {LAST}(m, t, w, v)",
        1,
        [(1, "(d0, d1) -> (d0, d1)"), (1, "(d0, d1) -> (d1, d0)"), (0, "(d0, d1) -> ()")],
    ),
    (
        "elements that are shifted out",
        f"zero = f32[] constant(0) {SHIFTED} {LAST}(m, x, w, z)",
        3,
        [(3, "(d0) -> (d0)"), (3, "(d0) -> (d0 + 1)"), (3, "(d0) -> (2)"), (0, "(d0) -> ()")],
    ),
    (
        "a constant that replaces what was there",
        f"zero = f32[] constant(0) z = f32[3] broadcast(zero), dimensions={{}} {LAST}(m, x, w, z)",
        3,
        [(3, "(d0) -> (d0)"), (0, "(d0) -> ()")],
    ),
]


@for_rows(LOOPS)
def test_a_loop_runs_any_number_of_rounds(
    round_: str, output: int, expected: list[tuple[int, str]]
) -> None:
    (answer,) = ops.output_to_input(loop(round_), output).indexing
    assert sorted(ways(answer)) == sorted(expected)


@pytest.mark.parametrize("round_", [row[1] for row in LOOPS], ids=[row[0] for row in LOOPS])
def test_both_directions_are_one_relation(round_: str) -> None:
    root = loop(round_)
    backward = {
        (output, way.element, here, there)
        for output in range(4)
        for way in answered(ops.output_to_input(root, output).indexing[0])
        for here, there in related(way.map)
    }
    forward = {
        (output, way.element, here, there)
        for output, answer in enumerate(ops.input_to_output(root).indexing)
        for way in answered(answer)
        for there, here in related(way.map)
    }
    assert backward == forward


def answered(answer: Indexings) -> tuple[OperandIndexing, ...]:
    assert isinstance(answer, tuple)
    return answer


ROUND_SHIFT = 'z = f32[3] custom-call(v, n), custom_call_target="shift" ' + f"{LAST}(m, x, w, z)"


def shift(_: Instruction) -> ops.OpIndexing:
    """Elements from the right, by as much as the counter says."""
    text = "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 2], rt0 in [0, 1], d0 + rt0 in [0, 2]"
    counter = parse_map("(d0) -> (), domain: d0 in [0, 2]")
    way = parse_map(text)
    back = parse_map(text.replace("+ rt0)", "- rt0)").replace("d0 + rt0 in", "d0 - rt0 in"))
    forth = parse_map("()[s0] -> (s0), domain: s0 in [0, 2]")
    origin = ops.Origin(1, counter)
    return ops.OpIndexing((3,), (way, counter), (back, forth), ((origin,), ()), ((origin,), ()))


def test_the_value_of_each_round_is_another_one() -> None:
    registry = ops.REGISTRY.with_custom_call("shift", shift)
    (answer,) = ops.output_to_input(loop(ROUND_SHIFT), 3, registry=registry).indexing
    found = {(way.element, *pair) for way in answered(answer) for pair in related(way.map)}
    later = {(3, (row,), (other,)) for row in range(3) for other in range(row, 3)}
    assert found == later | {(0, (row,), ()) for row in range(3)}
    assert not any(way.runtime for way in answered(answer))


def test_what_no_map_tells_spoils_only_what_goes_through_it() -> None:
    root = loop(ROUND_SHIFT)
    assert ops.output_to_input(root, 3).indexing == (
        ops.Unknown("custom-call: no indexing map of shift"),
    )
    assert ways(ops.output_to_input(root, 1).indexing[0]) == [(1, "(d0, d1) -> (d0, d1)")]


def test_one_map_takes_the_place_of_too_many_rounds() -> None:
    root = hlo.parse("""body { v = f32[100] parameter(0) a = f32[99] slice(v), slice={[1:100]}
          b = f32[1] slice(v), slice={[0:1]} ROOT r = f32[100] concatenate(a, b), dimensions={0} }
        condition { v = f32[100] parameter(0) ROOT r = pred[] constant(true) }
        ENTRY e { v = f32[100] parameter(0)
          ROOT r = f32[100] while(v), condition=condition, body=body }""").entry.root
    for (answer,) in (ops.output_to_input(root).indexing, ops.input_to_output(root).indexing):
        assert not isinstance(answer, ops.Unknown)
        (way,) = answer
        assert str(way.map) == "(d0)[s0] -> (s0), domain: d0 in [0, 99], s0 in [0, 99]"
        assert way.approximation == "iterations of a loop along more than 64 different maps"


def test_what_is_inside_of_a_loop_is_found() -> None:
    root = loop(MULTIPLIED)
    found = {
        (each.computation.name, each.name): answer
        for each, answer in ops.fusion_indexing(root, 1).items()
    }
    assert ways(found["body", "y"]) == [
        (0, "(d0, d1) -> (d0, d1)"),
        (0, "(d0, d1)[s0] -> (d0, s0)"),
    ]
    assert ways(found["body", "m"]) == [(0, "(d0, d1) -> ()")]
    assert ways(found["condition", "r"]) == [(0, "(d0, d1) -> ()")]
    assert ("condition", "r") not in {
        (each.computation.name, each.name) for each in ops.fusion_indexing(root, 2)
    }


CONDITIONAL = """HloModule m same { a = f32[2,3] parameter(0) ROOT r = f32[2,3] negate(a) }
    other { a = f32[3,2] parameter(0) ROOT r = f32[2,3] transpose(a), dimensions={1,0} }
    none { a = f32[] parameter(0) ROOT r = f32[2,3] broadcast(a), dimensions={} }
    ENTRY e { p = PREDICATE parameter(0) x = f32[2,3] parameter(1) y = f32[3,2] parameter(2)
      z = f32[] parameter(3) ROOT r = f32[2,3] conditional(OPERANDS }"""
TWO = CONDITIONAL.replace("PREDICATE", "pred[]").replace(
    "OPERANDS", "p, x, y), true_computation=same, false_computation=other"
)
THREE = CONDITIONAL.replace("PREDICATE", "s32[]").replace(
    "OPERANDS", "p, x, y, z), branch_computations={same, other, none}"
)
BRANCHES = [
    "(d0, d1) -> ()",
    "(d0, d1){rt0} -> (d0, d1)",
    "(d0, d1){rt0} -> (d1, d0)",
    "(d0, d1){rt0} -> ()",
]


@pytest.mark.parametrize(("text", "operands"), [(TWO, 3), (THREE, 4)], ids=["two", "three"])
def test_a_conditional_is_any_of_its_branches(text: str, operands: int) -> None:
    root = hlo.parse(text).entry.root
    answers = ops.output_to_input(root).indexing
    assert [ways(answer) for answer in answers] == [[(0, way)] for way in BRANCHES[:operands]]
    for number, answer in enumerate(answers):
        (back,) = ops.input_to_output(root, number).indexing
        assert pairs(answer) == {pair[::-1] for pair in pairs(back)}


def pairs(answer: Indexings) -> set[tuple[tuple[int, ...], tuple[int, ...]]]:
    return {pair for way in answered(answer) for pair in related(way.map)}


def test_one_operand_may_go_into_several_branches() -> None:
    text = CONDITIONAL.replace("PREDICATE", "s32[]").replace(
        "OPERANDS", "p, x, x), branch_computations={same, reversed}"
    )
    turned = "reversed { a = f32[2,3] parameter(0) ROOT r = f32[2,3] reverse(a), dimensions={0} }"
    root = hlo.parse(text.replace("ENTRY", f"{turned} ENTRY")).entry.root
    found = ops.fusion_indexing(root)
    assert ways(found[root.operands[1]]) == [
        (0, "(d0, d1){rt0} -> (d0, d1)"),
        (0, "(d0, d1){rt0} -> (-d0 + 1, d1)"),
    ]


CHOICES: dict[str, tuple[str, int, list[int]]] = {
    "a flag that is true": (TWO, True, [1]),
    "a flag that is false": (TWO, False, [2]),
    "a number": (THREE, 1, [2]),
    "the last number": (THREE, 2, [3]),
    "too great a number chooses the last": (THREE, 9, [3]),
    "a negative number chooses the last": (THREE, -1, [3]),
}


@pytest.mark.parametrize(("text", "value", "chosen"), CHOICES.values(), ids=CHOICES)
def test_a_choice_that_is_known_is_the_only_one(text: str, value: int, chosen: list[int]) -> None:
    known = rf"unused = f32[] parameter(0) \1 constant({str(value).lower()})"
    text = re.sub(r"(p = \S+) parameter\(0\)", known, text)
    root = hlo.parse(text).entry.root
    answers = ops.output_to_input(root).indexing
    assert [number for number, answer in enumerate(answers) if number and answer] == chosen
    assert ways(answers[chosen[0]]) == [(0, BRANCHES[chosen[0]].replace("{rt0}", ""))]


@pytest.mark.parametrize("opcode", ["while", "conditional"])
def test_shapes_that_do_not_fit_are_pointed_at(opcode: str) -> None:
    attributes = {
        "while": "while(p), condition=c, body=b",
        "conditional": "conditional(q, p, p), true_computation=b, false_computation=b",
    }
    text = f"""HloModule m b {{ a = f32[2] parameter(0) ROOT z = f32[2] negate(a) }}
        c {{ a = f32[3] parameter(0) ROOT z = pred[] constant(true) }}
        ENTRY e {{ p = f32[3] parameter(0) q = pred[] parameter(1)
                   ROOT r = f32[3] {attributes[opcode]} }}"""
    with pytest.raises(hlo.HloTextError, match=r"parameter 0 of %b is f32\[2\]\{0\}, not f32\[3\]"):
        ops.output_to_input(hlo.parse(text).entry.root)


# What programs do.


@pytest.mark.needs("jaxlib")
@pytest.mark.parametrize("branch", range(3))
def test_programs_feel_no_more_than_the_branch_that_runs(branch: int) -> None:
    root = hlo.parse(THREE).entry.root
    given = {0: np.int32(branch)}
    for operand in range(1, 4):
        runs = operand == branch + 1
        answer = ops.output_to_input(root).indexing[operand] if runs else ()
        assert felt(THREE, operand, given) == pairs(answer)


@pytest.mark.needs("jaxlib")
@pytest.mark.parametrize("rounds", range(3))
@pytest.mark.parametrize("round_", [row[1] for row in LOOPS], ids=[row[0] for row in LOOPS])
def test_programs_feel_what_the_maps_of_a_loop_say(rounds: int, round_: str) -> None:
    """The maps hold what is felt after any number of rounds."""
    root = loop(round_)
    for output in range(1, 4):
        (answer,) = ops.output_to_input(root, output).indexing
        for element in range(1, 4):
            ways_there = tuple(way for way in answered(answer) if way.element == element)
            seen = felt(program_of(root, output), element, {0: np.int32(1 - rounds)})
            assert seen <= pairs(ways_there)


def program_of(root: Instruction, output: int) -> str:
    """One array of the result of a loop, from the arrays of its state."""
    arrays = root.shape.arrays
    parameters = "".join(f"p{k} = {array} parameter({k}) " for k, array in enumerate(arrays))
    return f"""HloModule m\n{root.attributes["body"]}\n{root.attributes["condition"]}
        ENTRY e {{ {parameters} s = {STATE} tuple(p0, p1, p2, p3)
                   l = {STATE} while(s), condition=condition, body=body
                   ROOT r = {arrays[output]} get-tuple-element(l), index={output} }}"""
