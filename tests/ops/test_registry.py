"""Every opcode: which have maps, and that each row of the tables answers."""

from __future__ import annotations

import inspect
import re

import pytest

import ops
from indexing import UndefinedMap, parse_map
from indexing.layout import Shape
from ops import hlo
from ops.rules.registry import TABLES
from ops.rules.rule import Maps, OpRule
from tests.cases import for_all, pairs
from tests.ops.answers import only


def test_every_opcode_has_one_row() -> None:
    assert sum(map(len, TABLES)) == len(ops.REGISTRY.opcodes)


@for_all(ops.REGISTRY.opcodes)
def test_a_rule_has_maps_or_routes_or_calls(rule: OpRule) -> None:
    assert sum(map(bool, (rule.maps, rule.routes, rule.calls))) == 1


def test_an_operation_without_map_says_so_for_each_operand_and_result() -> None:
    root = hlo.parse("""HloModule m ENTRY e { k = f32[8] parameter(0) v = s32[8] parameter(1)
          ROOT r = (f32[8], s32[8]) custom-call(k, v), custom_call_target="order" }""").entry.root
    unknown = ops.Unknown("custom-call: no indexing map of order")
    assert ops.output_to_input(root, 1).indexing == (unknown, unknown)
    assert ops.input_to_output(root, 1).indexing == (unknown, unknown)


@for_all([("f32[2]", 1), ("()", 0), ("((f32[2], s32[]), ((), (token[])))", 3)])
def test_arrays_are_counted_through_nested_tuples(text: str, arrays: int) -> None:
    assert len(Shape.parse(text).arrays) == arrays


def test_a_call_that_gives_another_shape_is_refused_when_it_is_read() -> None:
    one = "one { a = f32[2,3] parameter(0) ROOT b = f32[2,3] copy(a) }"
    call = "ROOT r = f32[3,3] call(p), to_apply=one"
    with pytest.raises(hlo.HloTextError, match=r"%one gives f32\[2,3\]\{1,0\}, not f32\[3,3\]"):
        hlo.parse(f"HloModule m {one} ENTRY e {{ p = f32[2,3] parameter(0)\n{call}\n}}")


# What users register.

TEXT = """HloModule m called { a = f32[2,3] parameter(0) ROOT b = f32[2,3] negate(a) }
    ENTRY e { p = f32[2,3] parameter(0) q = f32[2,3] call(p), to_apply=called
      ROOT r = (f32[2,3], f32[3,2]) custom-call(q), custom_call_target="both_ways" }"""
CUSTOM = hlo.parse(TEXT, "custom.hlo")


def both_ways(_: hlo.Instruction) -> tuple[ops.OpIndexing, ops.OpIndexing]:
    return ops.elementwise([(2, 3)]), ops.transpose((2, 3), (1, 0))


def test_a_custom_call_has_the_maps_of_its_rule() -> None:
    registry = ops.REGISTRY.with_custom_call("both_ways", both_ways)
    parameter, root = CUSTOM.entry.parameters[0], CUSTOM.entry.root
    for output, expected in (
        (0, "(d0, d1) -> (d0, d1), domain: d0 in [0, 1], d1 in [0, 2]"),
        (1, "(d0, d1) -> (d1, d0), domain: d0 in [0, 2], d1 in [0, 1]"),
    ):
        found = ops.fusion_indexing(root, output, registry=registry)
        assert str(only(found[parameter])) == expected
        assert str(ops.output_to_input(root, output, registry=registry).map()) == expected
    assert isinstance(ops.fusion_indexing(root)[parameter], ops.Unknown)


def test_the_help_of_an_analysis_is_short() -> None:
    assert re.fullmatch(r"<Registry of \d+ opcodes, \d+ custom calls>", repr(ops.REGISTRY))
    assert len(str(inspect.signature(ops.output_to_input))) < 300


def test_a_rule_overrides_what_calls_a_computation() -> None:
    registry = ops.REGISTRY.with_opcode("call", lambda _: ops.reverse((2, 3), (0,)))
    (call,) = CUSTOM.entry.root.operands
    (answer,) = ops.output_to_input(call, registry=registry).indexing
    assert str(only(answer)) == "(d0, d1) -> (-d0 + 1, d1), domain: d0 in [0, 1], d1 in [0, 2]"
    with pytest.raises(ops.ShapeError, match="no opcode cal"):
        ops.REGISTRY.with_opcode("cal", lambda _: ops.reverse((2, 3), (0,)))


SWAPPED = ops.transpose((2, 3), (1, 0))
SHIFT = parse_map(
    "(d0, d1){rt0} -> (d0, d1 + rt0), domain: d0 in [0, 1], d1 in [0, 2], rt0 in [0, 1]"
)
SHORT = parse_map("(d0, d1) -> (d0), domain: d0 in [0, 1], d1 in [0, 2]")

WRONG = pairs("""
(elementwise([(2, 3)]),) => its rule gives 1 results; expected 2
(elementwise([(2, 3), ()]), SWAPPED) => its rule gives 2 operands; expected 1
None => custom-call: the rule returns None; expected an OpIndexing, a tuple of
(elementwise([(2, 3)]), None) => the rule returns None; expected an OpIndexing
[SWAPPED, SWAPPED] => the rule returns [<OpIndexing:
(SWAPPED, SWAPPED) => dimension 0 of the result has size 2; expected 3
(OpIndexing((2, 3), SWAPPED.input_to_output), SWAPPED) => its rule gives 0 operands; expected 1
(OpIndexing((2, 3), (SHORT,), (SHORT,)), SWAPPED)
    a map from rank 2 to 1; expected 2 to 2, from f32[2,3]{1,0} to f32[2,3]{1,0}
(OpIndexing((2, 3), (SHIFT,), (SHIFT,)), SWAPPED) => its rule gives 0 runtime variables; expected 1
""")


@for_all(WRONG.items())
def test_a_rule_that_does_not_fit_is_pointed_at(given: str, message: str) -> None:
    names = {"elementwise": ops.elementwise, "OpIndexing": ops.OpIndexing, **globals()}
    maps: Maps = eval(given, names)  # noqa: S307 - of the table above
    registry = ops.REGISTRY.with_custom_call("both_ways", lambda _: maps)
    with pytest.raises(hlo.HloTextError) as caught:
        ops.output_to_input(CUSTOM.entry.root, registry=registry)
    assert message in str(caught.value)
    assert str(caught.value).startswith("custom.hlo:3:")


def test_a_rule_may_say_why_it_knows_no_map() -> None:
    nobody_knows = UndefinedMap("one way only")
    one_way = ops.OpIndexing((2, 3), ops.elementwise([(2, 3)]).output_to_input, (nobody_knows,))
    registry = ops.REGISTRY.with_custom_call("both_ways", lambda _: (one_way, SWAPPED))
    answers = ops.input_to_output(CUSTOM.entry.root, registry=registry).indexing
    assert answers[0] == ops.Unknown("one way only")
    assert isinstance(answers[1], tuple)
