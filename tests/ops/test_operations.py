"""Every opcode of XLA is answered, in both directions; the page on operations says how."""

from __future__ import annotations

import importlib

import pytest

import ops
from benchmarks.coverage import answers
from ops import hlo
from ops.hlo.errors import AttributeValueError
from ops.hlo.opcodes import OPCODES
from ops.hlo.shape_inference import infer_shape
from tests.cases import for_all
from tests.ops.agreement import relation_of
from tests.ops.answers import known
from tests.ops.documentation import LIST, PAGE, examples, with_operations
from tests.ops.opcode_programs import ALL_OPCODES, PROGRAMS, Program

NO_SHAPE = hlo.parse("ENTRY e { ROOT t = token[] parameter(0) }").entry.root.shape

SINCE = {"atan", "collective-reduce", "shuffle"}
"""Opcodes that are younger than the XLA that the tests have."""


def test_every_opcode_is_known_and_has_a_program() -> None:
    assert PROGRAMS.keys() == OPCODES.keys()
    assert {*ALL_OPCODES} <= OPCODES.keys()
    assert ops.REGISTRY.opcodes.keys() <= OPCODES.keys()


def test_the_shape_that_is_written_is_the_one_that_follows() -> None:
    wrong: list[str] = []
    for program in PROGRAMS.values():
        root = program.root
        shapes = [operand.shape for operand in root.operands]
        found = [infer_shape(root.opcode, shapes, root.attributes, root.shape)]
        try:
            found.append(infer_shape(root.opcode, shapes, root.attributes))
        except AttributeValueError as error:
            found += [NO_SHAPE] * ("has to be written" not in str(error))
        if not all(each.is_compatible_with(root.shape) for each in found):
            wrong.append(f"{root}: {', '.join(map(str, found))}")
    assert not wrong


DYNAMIC = {
    "add(y, x)": "f32[<=8,4]",
    "compare(y, x), direction=LT": "pred[<=8,4]",
    "concatenate(x, y), dimensions={0}": "f32[<=16,4]",
    "concatenate(x, x), dimensions={1}": "f32[<=8,8]",
    "dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}": "f32[<=8,<=3]",
    "dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}": "f32[4,4]",
    "pad(x, z), padding=1_0x0_0": "f32[<=9,4]",
    "reduce(x, z), dimensions={1}, to_apply=sum": "f32[<=8]",
    "reduce(x, z), dimensions={0}, to_apply=sum": "f32[4]",
    "slice(x), slice={[0:4],[0:2]}": "f32[<=4,2]",
    "slice(x), slice={[0:1],[0:2]}": "f32[1,2]",
    "transpose(x), dimensions={1,0}": "f32[4,<=8]",
    "transpose(u), dimensions={1,0}": "f32[4,?]",
}


@for_all(DYNAMIC.items())
def test_shapes_that_follow_are_dynamic_where_operands_are(text: str, expected: str) -> None:
    module = hlo.parse(f"""sum {{ a = f32[] parameter(0) b = f32[] parameter(1)
        ROOT c = f32[] add(a, b) }}
    ENTRY e {{ x = f32[<=8,4] parameter(0) y = f32[8,4] parameter(1) z = f32[] constant(0)
        w = f32[4,<=3] parameter(2) u = f32[?,4] parameter(3) ROOT r = {text} }}""")
    assert module.entry.root.shape.text(layout=False) == expected


@for_all(PROGRAMS)
def test_every_opcode_is_answered_in_both_directions(program: Program) -> None:
    root = program.root
    assert root.opcode == program.opcode
    found = [*answers(root)]
    assert not {answer.reason for answer in found if isinstance(answer, ops.Unknown)}
    relation_of(root)  # the same both ways
    if program.family == "elementwise" and program.opcode != "clamp":  # of numbers
        ways = {str(way) for answer in found for way in known(answer)}
        assert ways == {"(d0, d1) -> (d0, d1), domain: d0 in [0, 1], d1 in [0, 2]"}


@pytest.mark.needs("jaxlib")
@for_all(PROGRAMS)
def test_xla_reads_the_same_programs(program: Program) -> None:
    if program.opcode not in SINCE:
        importlib.import_module("jaxlib._hlo").hlo_module_from_text(program.text)


def test_the_page_is_up_to_date() -> None:
    page = PAGE.read_text("utf-8")
    assert page == with_operations(page), "run python -m tests.ops.documentation"
    assert LIST.read_text("utf-8") == examples(), "run python -m tests.ops.documentation"


# XLA's analysis stops with an error at these opcodes, in programs that users reported: openxla/xla
# issue 47387. Here each is inside of a fused or called computation, as it was there.

STOPPED = {
    "get-tuple-element": "t = (f32[2,3], f32[2,3]) tuple(x, x) r = f32[2,3] get-tuple-element(t), "
    "index=1 ROOT s = f32[3,2] transpose(r), dimensions={1,0}",
    "custom-call": 'r = f32[2,3] custom-call(x), custom_call_target="Sharding" '
    "ROOT s = f32[3,2] transpose(r), dimensions={1,0}",
    "call": "ROOT s = f32[3,2] call(x), to_apply=turn",
    "async-done": "r = ((f32[2,3]), f32[3,2], u32[]) async-start(x), calls=turn "
    "ROOT s = f32[3,2] async-done(r), calls=turn",
    "while": "z = s32[] constant(0) t = (s32[], f32[2,3]) tuple(z, x) "
    "w = (s32[], f32[2,3]) while(t), condition=goes_on, body=again "
    "r = f32[2,3] get-tuple-element(w), index=1 ROOT s = f32[3,2] transpose(r), dimensions={1,0}",
}
CALLED = """turn { x = f32[2,3] parameter(0) ROOT s = f32[3,2] transpose(x), dimensions={1,0} }
    goes_on { s = (s32[], f32[2,3]) parameter(0) n = s32[] get-tuple-element(s), index=0
      ten = s32[] constant(10) ROOT r = pred[] compare(n, ten), direction=LT }
    again { s = (s32[], f32[2,3]) parameter(0) n = s32[] get-tuple-element(s), index=0
      one = s32[] constant(1) m = s32[] add(n, one) x = f32[2,3] get-tuple-element(s), index=1
      ROOT r = (s32[], f32[2,3]) tuple(m, x) }"""


@pytest.mark.parametrize("opcode", STOPPED)
@pytest.mark.parametrize("caller", ["fusion(x), kind=kLoop, calls", "call(x), to_apply"])
def test_programs_that_xla_stops_at_are_answered(opcode: str, caller: str) -> None:
    module = hlo.parse(f"""HloModule m {CALLED}
        inner {{ x = f32[2,3] parameter(0) {STOPPED[opcode]} }}
        ENTRY e {{ x = f32[2,3] parameter(0) ROOT r = f32[3,2] {caller}=inner }}""")
    root, turned = module.entry.root, "(d0, d1) -> (d1, d0), domain: d0 in [0, {}], d1 in [0, {}]"
    assert str(ops.output_to_input(root).map()) == turned.format(2, 1)
    assert str(ops.input_to_output(root).map()) == turned.format(1, 2)
    assert opcode in {found.opcode for found in ops.fusion_indexing(root)}
