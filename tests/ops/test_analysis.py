"""The analysis of a whole module agrees with questions about one instruction."""

from __future__ import annotations

import pickle
import xml.etree.ElementTree as ET

import pytest

import ops
from indexing import MapError
from ops import hlo
from simplifier.errors import IndexingError
from tests.cases import for_all, pairs
from tests.hlo.modules import module_text
from tests.indexing.tables import refusals

TEXT = """HloModule m
  add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT sum = f32[] add(a, b) }
  fused { a = f32[4,8] parameter(0) z = f32[] constant(0)
    ROOT r = f32[4] reduce(a, z), dimensions={1}, to_apply=add }
  ENTRY e { p = f32[4,8] parameter(0) ROOT f = f32[4] fusion(p), kind=kLoop, calls=fused }"""
MODULE = hlo.parse(TEXT)


def test_an_analysis_goes_through_the_instructions_in_order() -> None:
    analysis = ops.analyze(MODULE)
    assert [each.instruction for each in analysis] == list(MODULE.instructions)
    assert len(analysis) == len([*MODULE.instructions])
    assert repr(analysis) == "<analysis of 8 instructions of m>"


def test_the_answers_are_those_for_single_instructions() -> None:
    for each in ops.analyze(MODULE):
        assert each.output_to_input() == ops.output_to_input(each.instruction)
        assert each.fusion_indexing() == ops.fusion_indexing(each.instruction)
        for number in range(len(each.instruction.operands)):
            assert each.input_to_output(number) == ops.input_to_output(each.instruction, number)


@pytest.mark.parametrize(
    "name", ["cpu/control_flow", "cpu/callbacks_tokens", "gpu/sort_topk", "tpu/mlp_adam_step"]
)
def test_parameters_are_reached_where_maps_lead(name: str) -> None:
    """And needed in an unknown way where the maps are unknown."""
    module = hlo.parse(module_text(name))
    root = ops.analyze(module)[module.entry.root]
    for output in module.entry.root.shape.array_indices:
        found = root.parameter_indexing(output), root.parameters_reached(output)
        maps, reached = (
            {each: isinstance(way, ops.Unknown) for each, way in answers.items() if way != ()}
            for answers in found
        )
        assert maps == reached


@for_all(["f", "%f"])
def test_an_instruction_is_found_by_its_name(name: str) -> None:
    assert ops.analyze(MODULE)[name].instruction is MODULE.entry.root


WRONG_NAMES = [
    ("sun", ops.NoSuchInstructionError, "called %sun\nhint: there is %sum"),
    ("a", ops.AmbiguousNameError, "of %add, %fused are called %a"),
]


@for_all(WRONG_NAMES)
def test_unclear_names_are_refused(name: str, kind: type[LookupError], message: str) -> None:
    """With near ones, or their computations; the error can be sent to another process."""
    with pytest.raises(kind, match=message) as wrong:
        ops.analyze(MODULE)[name]
    assert str(pickle.loads(pickle.dumps(wrong.value))) == str(wrong.value)  # noqa: S301 - ours


test_what_is_not_in_the_module_is_refused = refusals(globals(), IndexingError)("""
ops.analyze(hlo.parse("ENTRY e { p = f32[] parameter(0) }"))[MODULE.entry.root]
    NoSuchInstructionError: no instruction is called %f
ops.analyze(MODULE)["f"].output_to_input(1) => ShapeError: %f: there is no output 1 among 1
ops.analyze(MODULE)["f"].input_to_output(1) => ShapeError: %f: there is no operand 1 among 1
""")


def test_groups_part_the_instructions_and_have_one_answer_each() -> None:
    analysis = ops.analyze(hlo.parse(module_text("cpu/mlp_adam_step")))
    groups = analysis.groups()
    grouped = [each.instruction for group in groups for each in group]
    assert len(grouped) == len(analysis)
    assert {*grouped} == {*analysis.module.instructions}
    assert len(groups) < len(analysis) / 3
    for first, *others in groups:
        answer = first.output_to_input().indexing
        assert all(each.output_to_input().indexing is answer for each in others)


def test_a_notebook_shows_the_first_instructions() -> None:
    many = " ".join(f"p{number} = f32[] parameter({number})" for number in range(60))
    page = ET.fromstring(ops.analyze(hlo.parse(f"ENTRY e {{ {many} }}"))._repr_html_())  # noqa: S314
    rows = page.findall(".//tr")
    assert len(rows) == 1 + 50 + 1
    assert "and 10 more" in "".join(rows[-1].itertext())


SHOWN = pairs("""
ROOT r = f32[4] negate(p) => result to operand 0, %p; d0 in [0, 3]
ROOT r = (f32[4], f32[4]) tuple(p, p) => result 0 to operand 0, %p; result 1 to operand 1, %p
ROOT a = f32[4] parameter(1) => depends on nothing
ROOT r = f32[4] custom-call(p), custom_call_target="<>"
    unknown (custom-call: no indexing map of <>)
""")


@for_all(SHOWN.items())
def test_a_notebook_shows_the_maps_of_an_instruction(text: str, shown: str) -> None:
    module = hlo.parse(f"ENTRY e {{ p = f32[4] parameter(0) {text} }}")
    page = ET.fromstring(ops.analyze(module)[module.entry.root]._repr_html_())  # noqa: S314
    said = "".join(page.itertext())
    assert [each for each in shown.split("; ") if each not in said] == []


def test_a_notebook_shows_some_results_of_a_wide_tuple() -> None:
    operands, shapes = ", ".join(["p"] * 60), ", ".join(["f32[4]"] * 60)
    text = f"ENTRY e {{ p = f32[4] parameter(0) ROOT r = ({shapes}) tuple({operands}) }}"
    page = ops.analyze(hlo.parse(text))["r"]._repr_html_()
    assert page.count("result ") == 50
    assert "and more" in page


NO_SINGLE_MAP = pairs("""
u 0 => map: custom-call: no indexing map of mine
p 0 => map: the number is 0; there are no maps
r 1 => map: 0 maps lead to number 1; see indexing
s 0 => map: 2 maps lead to number 0; see indexing
u 1 => map: the number is 1; expected one from 0 to 0
""")


@for_all(NO_SINGLE_MAP.items())
def test_where_there_is_no_single_map(row: str, message: str) -> None:
    module = hlo.parse("""twice { a = f32[6] parameter(0) b = f32[6] reverse(a), dimensions={0}
          ROOT c = f32[6] add(a, b) }
        ENTRY e { p = f32[6] parameter(0) u = f32[6] custom-call(p), custom_call_target="mine"
          s = f32[6] fusion(p), kind=kLoop, calls=twice ROOT r = (f32[6], f32[6]) tuple(u, s) }""")
    with pytest.raises(MapError) as caught:
        ops.output_to_input(module[row[0]]).map(int(row[2]))
    assert str(caught.value) == message
