"""Loops and conditionals: the maps of any number of rounds, and of every branch."""

from __future__ import annotations

import re

import numpy as np
import pytest

import ops
from indexing import parse_map
from ops import hlo
from ops.dependence.dependence import Indexings
from ops.hlo import Instruction
from tests.cases import by_name, for_all
from tests.evaluation import Pair, related
from tests.ops.agreement import relation_of, said
from tests.ops.answers import known
from tests.ops.oracle import felt

STATE = "(s32[], f32[3,3], f32[3,3], f32[3])"
FIRST = f"""s = {STATE} parameter(0) n = s32[] get-tuple-element(s), index=0
      x = f32[3,3] get-tuple-element(s), index=1 w = f32[3,3] get-tuple-element(s), index=2
      v = f32[3] get-tuple-element(s), index=3 one = s32[] constant(1)"""
DOT = "y = f32[3,3] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}"


def loop(round_: str) -> Instruction:
    """A loop over a counter, two matrices and a vector; ``round_`` makes the next state."""
    round_ = round_.replace("DOT", DOT).replace("LAST", f"ROOT r = {STATE} tuple")
    return hlo.parse(f"""HloModule m body {{ {FIRST} m = s32[] add(n, one) {round_} }}
        condition {{ {FIRST} ROOT r = pred[] compare(n, one), direction=LT }}
        ENTRY e {{ s = {STATE} parameter(0)
          ROOT r = {STATE} while(s), condition=condition, body=body }}""").entry.root


def ways(answer: Indexings) -> list[str]:
    """The numbers of arrays, and the maps that lead there, without their domains."""
    return [f"{way.element}: {str(way).partition(', domain')[0]}" for way in known(answer)]


def relation(answer: Indexings) -> set[Pair]:
    return {pair for way in known(answer) for pair in related(way.map)}


LOOPS = by_name("""
what is kept needs nothing else => 2 of DOT LAST(m, y, w, v) => 2: (d0, d1) -> (d0, d1)
the counter decides itself => 0 of DOT LAST(m, y, w, v) => 0: () -> ()
powers of a matrix
    1 of DOT LAST(m, y, w, v) => 1: (d0, d1) -> (d0, d1); 1: (d0, d1)[s0] -> (d0, s0);
        2: (d0, d1)[s0, s1] -> (s0, s1); 0: (d0, d1) -> ()
what keeps its place depends on the number of rounds
    3 of z = f32[3] add(v, v) LAST(m, x, w, z) => 3: (d0) -> (d0); 0: (d0) -> ()
matrices that change places => 1 of LAST(m, w, x, v)
    1: (d0, d1) -> (d0, d1); 2: (d0, d1) -> (d0, d1); 0: (d0, d1) -> ()
a cycle that closes => 1 of t = f32[3,3] transpose(x), dimensions={1,0} LAST(m, t, w, v)
    1: (d0, d1) -> (d0, d1); 1: (d0, d1) -> (d1, d0); 0: (d0, d1) -> ()
elements that are shifted out
    3 of zero = f32[] constant(0) z = f32[3] pad(v, zero), padding=-1_1 LAST(m, x, w, z)
    3: (d0) -> (d0); 3: (d0) -> (d0 + 1); 3: (d0) -> (2); 0: (d0) -> ()
a constant that replaces what was there
    3 of zero = f32[] constant(0) z = f32[3] broadcast(zero), dimensions={} LAST(m, x, w, z)
    3: (d0) -> (d0); 0: (d0) -> ()
""")
"""An array after any number of rounds, what a round does, and the arrays that it comes from."""

ROUNDS = [row.partition(" of ")[2] for row, _ in LOOPS.values()]


@for_all(LOOPS)
def test_a_loop_runs_any_number_of_rounds(row: str, expected: str) -> None:
    output, _, round_ = row.partition(" of ")
    (answer,) = ops.output_to_input(loop(round_), int(output)).indexing
    assert sorted(ways(answer)) == sorted(expected.split("; "))


@for_all(ROUNDS)
def test_both_directions_are_one_relation(round_: str) -> None:
    assert relation_of(loop(round_))


ROUND_SHIFT = 'z = f32[3] custom-call(v, n), custom_call_target="shift" LAST(m, x, w, z)'


def shift(_: Instruction) -> ops.OpIndexing:
    """Elements from the right, by as much as the counter says."""
    text = "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 2], rt0 in [0, 1], d0 + rt0 in [0, 2]"
    way, back = parse_map(text), parse_map(text.replace("+", "-"))
    counter = parse_map("(d0) -> (), domain: d0 in [0, 2]")
    forth = parse_map("()[s0] -> (s0), domain: s0 in [0, 2]")
    origins = (ops.Origin(1, counter),), ()
    return ops.OpIndexing((3,), (way, counter), (back, forth), origins, origins)


def test_the_value_of_each_round_is_another_one() -> None:
    registry = ops.REGISTRY.with_custom_call("shift", shift)
    (answer,) = ops.output_to_input(loop(ROUND_SHIFT), 3, registry=registry).indexing
    found = {(way.element, *pair) for way in known(answer) for pair in related(way.map)}
    later = {(3, (row,), (other,)) for row in range(3) for other in range(row, 3)}
    assert found == later | {(0, (row,), ()) for row in range(3)}
    assert not any(way.runtime for way in known(answer))


def test_what_no_map_tells_spoils_only_what_goes_through_it() -> None:
    root = loop(ROUND_SHIFT)
    unknown = ops.Unknown("custom-call: no indexing map of shift")
    assert ops.output_to_input(root, 3).indexing == (unknown,)
    assert ways(ops.output_to_input(root, 1).indexing[0]) == ["1: (d0, d1) -> (d0, d1)"]


def test_what_is_inside_of_a_loop_is_found() -> None:
    root = loop(ROUNDS[0])
    power, kept = (
        {(each.computation.name, each.name): answer for each, answer in found.items()}
        for found in (ops.fusion_indexing(root, output) for output in (1, 2))
    )
    assert ways(power["body", "y"]) == ["0: (d0, d1) -> (d0, d1)", "0: (d0, d1)[s0] -> (d0, s0)"]
    assert ways(power["body", "m"]) == ["0: (d0, d1) -> ()"]
    assert ways(power["condition", "r"]) == ["0: (d0, d1) -> ()"]
    assert ("condition", "r") not in kept


CONDITIONAL = """HloModule m same { a = f32[2,3] parameter(0) ROOT r = f32[2,3] negate(a) }
    other { a = f32[3,2] parameter(0) ROOT r = f32[2,3] transpose(a), dimensions={1,0} }
    none { a = f32[] parameter(0) ROOT r = f32[2,3] broadcast(a), dimensions={} }
    ENTRY e { p = PREDICATE parameter(0) x = f32[2,3] parameter(1) y = f32[3,2] parameter(2)
      z = f32[] parameter(3) ROOT r = f32[2,3] conditional(OPERANDS }"""


def conditional(predicate: str, operands: str) -> str:
    return CONDITIONAL.replace("PREDICATE", predicate).replace("OPERANDS", operands)


TWO = conditional("pred[]", "p, x, y), true_computation=same, false_computation=other")
THREE = conditional("s32[]", "p, x, y, z), branch_computations={same, other, none}")
PLACES = "(d0, d1)", "(d1, d0)", "()"
BRANCHES = ["(d0, d1) -> ()", *(f"(d0, d1){{rt0}} -> {place}" for place in PLACES)]


@pytest.mark.parametrize(("text", "operands"), [(TWO, 3), (THREE, 4)], ids=["two", "three"])
def test_a_conditional_is_any_of_its_branches(text: str, operands: int) -> None:
    root = hlo.parse(text).entry.root
    answers = ops.output_to_input(root).indexing
    assert [ways(answer) for answer in answers] == [[f"0: {way}"] for way in BRANCHES[:operands]]
    for number in range(operands):
        said(text, number)  # the same both ways


def test_one_operand_may_go_into_several_branches() -> None:
    text = conditional("s32[]", "p, x, x), branch_computations={same, reversed}")
    turned = "reversed { a = f32[2,3] parameter(0) ROOT r = f32[2,3] reverse(a), dimensions={0} }"
    root = hlo.parse(text.replace("ENTRY", f"{turned} ENTRY")).entry.root
    expected = ["0: (d0, d1){rt0} -> (d0, d1)", "0: (d0, d1){rt0} -> (-d0 + 1, d1)"]
    assert ways(ops.fusion_indexing(root)[root.operands[1]]) == expected


CHOICES = [
    # too great and negative numbers choose the last
    *((TWO, "true", 1), (TWO, "false", 2)),
    *((THREE, "1", 2), (THREE, "2", 3), (THREE, "9", 3), (THREE, "-1", 3)),
]


@for_all(CHOICES)
def test_a_choice_that_is_known_is_the_only_one(text: str, value: str, chosen: int) -> None:
    constant = rf"unused = f32[] parameter(0) \1 constant({value})"
    root = hlo.parse(re.sub(r"(p = \S+) parameter\(0\)", constant, text)).entry.root
    answers = ops.output_to_input(root).indexing
    assert [number for number, answer in enumerate(answers) if number and answer] == [chosen]
    assert ways(answers[chosen]) == [f"0: {BRANCHES[chosen].replace('{rt0}', '')}"]


UNFIT = [
    "while(p), condition=c, body=b",
    "conditional(q, p, p), true_computation=b, false_computation=b",
]


@for_all(UNFIT)
def test_shapes_that_do_not_fit_are_pointed_at(unfit: str) -> None:
    text = f"""HloModule m b {{ a = f32[2] parameter(0) ROOT z = f32[2] negate(a) }}
        c {{ a = f32[3] parameter(0) ROOT z = pred[] constant(true) }}
        ENTRY e {{ p = f32[3] parameter(0) q = pred[] parameter(1)
                   ROOT r = f32[3] {unfit} }}"""
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
        assert felt(THREE, operand, given) == relation(answer)


@pytest.mark.needs("jaxlib")
@pytest.mark.parametrize("rounds", range(3))
@pytest.mark.parametrize("round_", [*dict.fromkeys(ROUNDS)])
def test_programs_feel_what_the_maps_of_a_loop_say(rounds: int, round_: str) -> None:
    """The maps hold what is felt after any number of rounds."""
    root = loop(round_)
    for output in range(1, 4):
        (answer,) = ops.output_to_input(root, output).indexing
        for element in range(1, 4):
            ways_there = tuple(way for way in known(answer) if way.element == element)
            seen = felt(program_of(root, output), element, {0: np.int32(1 - rounds)})
            assert seen <= relation(ways_there)


def program_of(root: Instruction, output: int) -> str:
    """One array of the result of a loop, from the arrays of its state."""
    arrays = root.shape.arrays
    parameters = "".join(f"p{k} = {array} parameter({k}) " for k, array in enumerate(arrays))
    return f"""HloModule m\n{root.attributes["body"]}\n{root.attributes["condition"]}
        ENTRY e {{ {parameters} s = {STATE} tuple(p0, p1, p2, p3)
                   l = {STATE} while(s), condition=condition, body=body
                   ROOT r = {arrays[output]} get-tuple-element(l), index={output} }}"""
