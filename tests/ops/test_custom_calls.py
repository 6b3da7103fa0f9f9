"""Custom calls: those that are known by their target, and those that are not."""

from __future__ import annotations

import pytest

from ops import Unknown, hlo, input_to_output, output_to_input
from ops.rules.registry import CUSTOM_CALLS
from tests.cases import by_name, for_all
from tests.evaluation import related
from tests.ops.answers import only
from tests.ops.documentation import map_lines

GEMM = """backend_config={"gemm_backend_config":{"beta":BETA,"dot_dimension_numbers":
  {"lhs_contracting_dimensions":["1"],"rhs_contracting_dimensions":["0"],
  "lhs_batch_dimensions":[],"rhs_batch_dimensions":[]}}}"""
CONVOLUTION = "window={size=3 pad=1_1}, dim_labels=b0f_0io->b0f"

EQUAL = by_name("""
Sharding => (A) custom-call(a), sharding={replicated} => copy(a)
MoveToHost => (A) custom-call(a) => copy(a)
SPMDFullToShardShape => (A) custom-call(a), sharding={replicated} => copy(a)
X64Combine => (A) custom-call(a, a) => add(a, a)
TopK => (f32[2,3], s32[2,3]) custom-call(a) => topk(a), k=3, largest=true
__cublas$gemm => (f32[2,5], s8[4096]) custom-call(a, b), GEMM
    dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
__cudnn$convForward => (f32[1,6,4], u8[0]) custom-call(image, kernel), CONVOLUTION
    convolution(image, kernel), CONVOLUTION
""")
PARAMETERS = """a = f32[2,4] parameter(0) b = f32[4,5] parameter(1) image = f32[1,6,2] parameter(2)
      kernel = f32[3,2,4] parameter(3) bias = f32[4] parameter(4) added = f32[1,6,4] parameter(5)
      row = f32[5] parameter(6) sum = f32[2,5] parameter(7)"""


def call(target: str, text: str) -> hlo.Instruction:
    text = text.replace("(A)", "f32[2,4]").replace("GEMM", GEMM.replace("BETA", "0"))
    named = f'{text.replace("CONVOLUTION", CONVOLUTION)}, custom_call_target="{target}"'
    return hlo.parse(f"HloModule m ENTRY e {{ {PARAMETERS} ROOT r = {named} }}").entry.root


@for_all([(target, *row) for target, row in EQUAL.items()])
def test_known_targets_do_what_operations_do(target: str, text: str, like: str) -> None:
    custom = call(target, text)
    shape = str(custom.shape.elements[0] if custom.shape.is_tuple else custom.shape)
    shape = "(f32[2,3], s32[2,3])" if target == "TopK" else shape
    like = like.replace("CONVOLUTION", CONVOLUTION)
    other = hlo.parse(f"HloModule m ENTRY e {{ {PARAMETERS} ROOT r = {shape} {like} }}").entry.root
    assert output_to_input(custom).indexing == output_to_input(other).indexing
    for number in range(len(custom.operands)):
        given, expected = (input_to_output(each, number).indexing for each in (custom, other))
        assert given[: len(expected)] == expected
        assert not any(given[len(expected) :])


MAPS = by_name("""
xla.sdy.Sharding => (f32[2,4], f32[5]) custom-call(a, row)
    r[0] -> a: (d0, d1) -> (d0, d1), domain: d0 in [0, 1], d1 in [0, 3]
    r[1] -> row: (d0) -> (d0), domain: d0 in [0, 4]
    a -> r[0]: (d0, d1) -> (d0, d1), domain: d0 in [0, 1], d1 in [0, 3]
    row -> r[1]: (d0) -> (d0), domain: d0 in [0, 4]
""")


@for_all(MAPS.items())
def test_targets_without_an_operation_have_their_maps(target: str, row: tuple[str, ...]) -> None:
    text, *maps = row
    assert [*map_lines(call(target, text))] == maps


ADDED = [
    ("__cudnn$convBiasActivationForward", "f32[1,6,4]", "image, kernel, bias, added", CONVOLUTION),
    ("__cublas$lt$matmul", "f32[2,5]", "a, b, row, sum", GEMM.replace("BETA", "1")),
]


@for_all(ADDED)
def test_what_is_added_is_found(target: str, shape: str, operands: str, rest: str) -> None:
    custom = call(target, f"({shape}, u8[64]) custom-call({operands}), {rest}")
    bias, added = (only(each).map for each in output_to_input(custom).indexing[2:])
    last = custom.shape.elements[0].rank - 1
    assert {(out[last],) == place for out, place in related(bias)} == {True}
    assert {out == place for out, place in related(added)} == {True}


UNKNOWN = by_name("""
nobody => f32[2,4] custom-call(a) => no indexing map of nobody
SPMDFullToShardShape => f32[1,4] custom-call(a), sharding={devices=[2,1]0,1}
    no indexing map of SPMDFullToShardShape, because each device has a part of its own
X64Combine => f32[2,4] custom-call(a, b)
    no indexing map of X64Combine, because operands and results differ in size
__cublas$gemm => f32[2,5] custom-call(a, b), backend_config={...}
    no indexing map of __cublas$gemm, because its backend_config names no dimensions
__cudnn$convForward
    f32[1,7,4] custom-call(image, kernel), window={size=3 pad=1_1}, dim_labels=b0f_0io->b0f
    no indexing map of __cudnn$convForward, because the result has other sizes than (1, 6, 4)
""")


@for_all([(target, *row) for target, row in UNKNOWN.items()])
def test_the_reason_is_told(target: str, text: str, reason: str) -> None:
    custom, unknown = call(target, text), Unknown(f"custom-call: {reason}")
    assert output_to_input(custom).indexing[0] == unknown
    assert input_to_output(custom).indexing[0] == unknown


def test_operands_that_do_not_fit_are_told() -> None:
    (answer, *_) = output_to_input(call("TopK", "f32[2,4] custom-call(a, b)")).indexing
    reason = "no indexing map of TopK, because it takes 1 operand"
    assert answer == Unknown(f"custom-call: {reason}")


def test_each_array_is_answered_by_itself() -> None:
    custom = call("xla.sdy.GlobalToLocalShape", "(f32[1,4], f32[4,5]) custom-call(a, b)")
    ((part, none), (nothing, whole)) = (output_to_input(custom, k).indexing for k in range(2))
    assert isinstance(part, Unknown)
    assert none == nothing == ()
    assert isinstance(whole, tuple)


def test_a_call_without_operands_needs_nothing() -> None:
    custom = call("AllocateBuffer", "f32[2] custom-call()")
    assert not output_to_input(custom).indexing


@pytest.mark.parametrize("target", CUSTOM_CALLS)
def test_every_target_answers_for_operands_of_any_kind(target: str) -> None:
    custom = call(target, "(A) custom-call(a, b)")
    assert len(output_to_input(custom).indexing) == 2
