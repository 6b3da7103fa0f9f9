"""Texts of StableHLO: what they become, what is said of wrong ones, and damaged real ones."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ops import Unknown, hlo, output_to_input, parameter_indexing, stablehlo
from ops.hlo.opcodes import OPCODES
from ops.stablehlo import MlirTextError
from ops.stablehlo.assembly import FORMS, ROWS
from ops.stablehlo.operations import CONVERSIONS
from tests.cases import for_all, for_table, texts_with_values
from tests.stablehlo.stablehlo_modules import NAMES, stablehlo_text

OPERATIONS = texts_with_values("""
# another dialect | 'custom-call(%a, %a), custom_call_target="foo.addf"'
%0 = "foo.addf"(%a, %a) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
# a constant of arith | "broadcast(%c), dimensions={}"
%c = arith.constant dense<1.0> : tensor<f32> %0 = stablehlo.broadcast_in_dim %c, dims = []
: (tensor<f32>) -> tensor<2x3xf32>
# MHLO's short form | "reshape(%a)"
%0 = mhlo.reshape %a : (tensor<2x3xf32>) -> tensor<6xf32>
# a barrier of shardings | "copy(%a)"
%0 = sdy.propagation_barrier %a allowed_direction=BACKWARD : tensor<2x3xf32>
# a constant of Shardy, in a group | "add(%a, %a)"
%c = sdy.constant dense<1.0> : tensor<2x3xf32> sdy.sharding_group %c group_id = 23 : tensor<2x3xf32>
%0 = mhlo.add %a, %a : tensor<2x3xf32>
# a comma at the end | "dot(%a, %a), lhs_contracting_dims={1}, rhs_contracting_dims={1}"
%0 = "stablehlo.dot_general"(%a, %a) {dot_dimension_numbers =
#stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1],>}
: (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>
# a sum over replicas | "all-reduce(%a), replica_groups={{0,1}}, to_apply=%add_f32"
%0 = "stablehlo.cross-replica-sum"(%a) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}
: (tensor<2x3xf32>) -> tensor<2x3xf32>
# add with types of both | "add(%a, %a)"
%0 = stablehlo.add %a, %a : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
# attributes as dense elements | "transpose(%a), dimensions={1,0}"
%0 = "stablehlo.transpose"(%a) {permutation = dense<[1, 0]> : tensor<2xi64>}
: (tensor<2x3xf32>) -> tensor<3x2xf32>
# a comparison without a type | "compare(%a, %a), direction=LT"
%0 = stablehlo.compare LT, %a, %a : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
# top_k | "get-tuple-element(%v), index=1"
%v, %i = chlo.top_k(%a, k = 2) : tensor<2x3xf32> -> (tensor<2x2xf32>, tensor<2x2xi32>)
# an operation that HLO lacks | "map(%a), dimensions={0,1}, to_apply=%lgamma.0.element"
%0 = chlo.lgamma %a : tensor<2x3xf32> -> tensor<2x3xf32>
# operands stretched as in NumPy | "add(%broadcast_add.0.side0, %broadcast_add.0.side1)"
%r = stablehlo.iota dim = 0 : tensor<3xf32> %0 = chlo.broadcast_add %a, %r
: (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
# a bounded dimension | "set-dimension-size(%a, %n), dimensions={1}"
%n = stablehlo.constant dense<2> : tensor<i32> %0 = stablehlo.set_dimension_size %a, %n, dim = 1
: (tensor<2x3xf32>, tensor<i32>) -> tensor<2x?xf32, #stablehlo.bounds<?, 3>>
# a custom call |
#   'custom-call(%a), custom_call_target="f", custom_call_has_side_effect=true,
#   api_version=API_VERSION_TYPED_FFI, backend_config="x", sharding={replicated}'
%0 = stablehlo.custom_call @f(%a) {api_version = 4 : i32, backend_config = "x", has_side_effect =
true, mhlo.sharding = "{replicated}"} : (tensor<2x3xf32>) -> tensor<4xf32>
# groups of devices |
#   "all-gather(%a), channel_id=1, replica_groups={{0,1},{2,3}}, use_global_device_ids=true,
#   dimensions={1}"
%0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 1 : i64, channel_handle =
#stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<[[0, 1], [2, 3]]> :
tensor<2x2xi64>, use_global_device_ids}> : (tensor<2x3xf32>) -> tensor<2x6xf32>
# a branch that reads what is around it |
#   "conditional(%p, %a, %a), true_computation=%if.0.branch0, false_computation=%if.0.branch1"
%p = stablehlo.constant dense<true> : tensor<i1> %0 = "stablehlo.if"(%p) ({ stablehlo.return %a :
tensor<2x3xf32> }, { %n = stablehlo.negate %a : tensor<2x3xf32> stablehlo.return %n :
tensor<2x3xf32> }) : (tensor<i1>) -> tensor<2x3xf32>
# a constant of bytes | "constant({ 1.0, 2.0 })"
%0 = stablehlo.constant dense<"0x0000803F00000040"> : tensor<2xf32>
# a number of bits | "constant({ -inf, 1.0 })"
%0 = stablehlo.constant dense<[0xFF80, 1.0]> : tensor<2xbf16>
# what is sent | "send-done(%send.0.send), channel_id=5, is_host_transfer=true"
%t = stablehlo.create_token : !stablehlo.token %0 = "stablehlo.send"(%a, %t)
<{channel_handle = #stablehlo.channel_handle<handle = 5, type = 2>, is_host_transfer = true}>
: (tensor<2x3xf32>, !stablehlo.token) -> !stablehlo.token
# what is received | "get-tuple-element(%recv.0.recv-done), index=1"
%t = stablehlo.create_token : !stablehlo.token %0:2 = "stablehlo.recv"(%t)
<{channel_handle = #stablehlo.channel_handle<handle = 5, type = 3>, is_host_transfer = true}>
: (!stablehlo.token) -> (tensor<2x3xf32>, !stablehlo.token)
# an infeed of two arrays | "get-tuple-element(%infeed.0.infeed.0), index=1"
%t = stablehlo.create_token : !stablehlo.token %0:3 = "stablehlo.infeed"(%t) <{infeed_config = "x",
layout = [[0, 1], [0]]}> : (!stablehlo.token) -> (tensor<2x3xf32>, tensor<3xi32>, !stablehlo.token)
# an outfeed of two arrays | 'outfeed(%outfeed.0.operands, %t), outfeed_config="c"'
%t = stablehlo.create_token : !stablehlo.token %0 = "stablehlo.outfeed"(%a, %a, %t)
<{outfeed_config = "c"}> : (tensor<2x3xf32>, tensor<2x3xf32>, !stablehlo.token) -> !stablehlo.token
# normalized batches | "batch-norm-inference(%a, %s, %s, %s, %s), epsilon=0.001, feature_index=1"
%s = stablehlo.iota dim = 0 : tensor<3xf32> %0 = "stablehlo.batch_norm_inference"(%a, %s, %s, %s,
%s) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>,
tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
# training on batches | "get-tuple-element(%batch_norm_training.0), index=2"
%s = stablehlo.iota dim = 0 : tensor<3xf32> %0:3 = "stablehlo.batch_norm_training"(%a, %s, %s)
<{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}>
: (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
# gradients of normalized batches | "get-tuple-element(%batch_norm_grad.0), index=2"
%s = stablehlo.iota dim = 0 : tensor<3xf32> %0:3 = "stablehlo.batch_norm_grad"(%a, %s, %s, %s, %a)
<{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>,
tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
# parts that all devices exchange | "reshape(%all_to_all.0.turned)"
%0 = "stablehlo.all_to_all"(%a) <{split_dimension = 0 : i64, concat_dimension = 1 : i64, split_count
= 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x3xf32>) ->
tensor<1x6xf32>
# parts that stay in their dimension | "all-to-all(%a), replica_groups={{0,1}}, dimensions={0}"
%0 = "stablehlo.all_to_all"(%a) <{split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count
= 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x3xf32>) ->
tensor<2x3xf32>
# a bitcast of an array in another layout | "bitcast(%bitcast.0.source)"
%0 = mhlo.bitcast %a {result_layout = dense<0> : tensor<1xindex>, source_layout = dense<[0, 1]> :
tensor<2xindex>} : (tensor<2x3xf32>) -> tensor<6xf32>
# a fusion | "fusion(%a), kind=kInput, calls=%fusion.0.calls"
%0 = "mhlo.fusion"(%a) <{fusion_kind = #mhlo<fusion_kind kInput>}> ({ ^bb0(%x: tensor<2x3xf32>):
%1 = stablehlo.negate %x : tensor<2x3xf32> mhlo.return %1 : tensor<2x3xf32> })
: (tensor<2x3xf32>) -> tensor<2x3xf32>
""")
"""Operations on ``%a : tensor<2x3xf32>``, and the instruction that the last one becomes."""


@for_all(OPERATIONS)
def test_operations_become_instructions(text: str, expected: str) -> None:
    entry = stablehlo.parse(f"func.func @main(%a: tensor<2x3xf32>) {{ {text} return }}").entry
    last = [each for each in entry.instructions if each.opcode != "tuple"][-1]
    assert str(last).partition(" = ")[2].partition(" ")[2] == expected
    assert str(hlo.parse(str(last.computation.module))) == str(last.computation.module)


# Forms that public programs have, of two operands: the types of both and of the result, and the end
# of a line of the HLO.
@for_table("""
stablehlo.einsum %a, %b, config = "ab,cbd->cad"
    2x3xf32 4x3x5xf32 4x2x5xf32 => transpose(%r.dot), dimensions={1,0,2}
"stablehlo.einsum"(%a, %b) {einsum_config = "zab,zbd->zad"}
    7x2x3xf32 7x3x5xf32 7x2x5xf32
    rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}
stablehlo.einsum %a, %b, config = "a...b,b...->...a"
    2x8x9x3xf32 3x8x9xf32 8x9x2xf32 => transpose(%r.dot), dimensions={0,1,2}
"stablehlo.torch_index_select"(%a, %b) {dim = 1, batch_dims = 1}
    2x3x4xf32 2x5xi32 2x5x4xf32
    collapsed_slice_dims={1}, start_index_map={1}, index_vector_dim=2, slice_sizes={1,1,4},
     operand_batching_dims={0}, start_indices_batching_dims={0}
"stablehlo.torch_index_select"(%a, %b) {dim = 2, batch_dims = 0}
    2x3x4xf32 i32 2x3xf32
    offset_dims={0,1}, collapsed_slice_dims={2}, start_index_map={2}, index_vector_dim=0,
     slice_sizes={2,3,1}, operand_batching_dims={}, start_indices_batching_dims={}
stablehlo.einsum %a, %b, config = "aa,ab->b"
    3x3xf32 3x5xf32 5xf32 => custom_call_target="stablehlo.einsum"
"stablehlo.convolution"(%a, %b) {dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0,
     input_feature_dimension = 3, input_spatial_dimensions = [1, 2],
     kernel_input_feature_dimension = 2, kernel_output_feature_dimension = 3,
     kernel_spatial_dimensions = [0, 1], output_batch_dimension = 0,
     output_feature_dimension = 1, output_spatial_dimensions = [2, 3]>}
    2x4x5x2xf32 2x2x2x6xf32 2x6x3x4xf32 => window={size=2x2}, dim_labels=b01f_01io->bf01
stablehlo.dynamic_reshape %a, %b => 4xf32 2xi64 1x4xf32 => f32[1,4]{1,0} reshape(%a)
stablehlo.dynamic_broadcast_in_dim %a, %b, dims = [2]
    1xf32 3xi64 7x8x9xf32 => broadcast(%r.thin), dimensions={}
stablehlo.real_dynamic_slice %a, %b, %b, %b
    4xf32 1xi64 1xf32 => custom_call_target="stablehlo.real_dynamic_slice"
stablehlo.custom_call @f(%a, %b) {api_version = 0 : i32}
    4xf32 2xi64 1x4xf32 => custom-call(%a, %b), custom_call_target="f"
stablehlo.add {mhlo.frontend_attributes = {}} %a, %b => 4xf32 4xf32 4xf32 => add(%a, %b)
chlo.broadcast_compare %a, %b {comparison_direction = #chlo<comparison_direction EQ>}
    4xf32 4xf32 4xi1 => compare(%r.side0, %r.side1), direction=EQ
""")
def test_forms_in_the_wild_are_read_as_hlo(operation: str, types: str, expected: str) -> None:
    a, b, result = (f"tensor<{each}>" for each in types.split())
    text = f"func.func @main(%a: {a}, %b: {b}) -> {result} {{ %r = {operation} : ({a}, {b})"
    assert f"{expected}\n" in str(stablehlo.parse(f"{text} -> {result} return %r : {result} }}"))


def test_numbers_and_casts_between_operations_are_read() -> None:
    text = """func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
      %c = arith.constant 2 : index  %t = arith.constant true  %f = arith.constant -1.5 : f32
      %0 = tensor.cast %a : tensor<4xf32> to tensor<?xf32>
      %1 = tensor.cast %0 : tensor<?xf32> to tensor<4xf32>
      %o = arith.constant 0 : index  %n = tensor.dim %a, %o : tensor<4xf32>
      %i = arith.index_cast %n : index to i32  %s = arith.muli %i, %i : i32
      %p = arith.cmpi sge, %s, %i : i32  %m = arith.select %p, %s, %i : i32
      %e = tensor.from_elements %s, %m : tensor<2xi32>
      %h = shape.shape_of %a : tensor<4xf32> -> tensor<1xindex>
      %k = shape.const_shape [4] : tensor<1xindex>
      %j = shape.broadcast %h, %k : tensor<1xindex>, tensor<1xindex> -> tensor<1xindex>
      %2 = stablehlo.negate %1 : tensor<4xf32>  return %2 : tensor<4xf32> }"""
    a, *others, root = stablehlo.parse(text).entry.instructions
    constants = [each for each in others if each.opcode == "constant"]
    computed = [each.opcode for each in others if each not in constants]
    assert computed == [
        *("get-dimension-size", "convert", "convert", "multiply", "custom-call", "select"),
        *("reshape", "reshape", "concatenate"),
        *("get-dimension-size", "convert", "reshape", "concatenate", "custom-call"),
    ]
    found = [str(each.literal) for each in constants]
    assert found == ["s64[] 2", "pred[] true", "f32[] -1.5", "s64[] 0", "s64[1]{0} { 4 }"]
    assert root.operands == (a,)


def test_every_row_with_an_opcode_is_a_construction() -> None:
    assert {name for name in ROWS if name.replace("_", "-") in OPCODES} <= {*CONVERSIONS}
    others = {name.rpartition(".")[2] for name in FORMS.keys() - CONVERSIONS} - {*CONVERSIONS}
    assert others == NOT_IN_HLO


NOT_IN_HLO: Final = {
    *("module", "func", "return", "dynamic_conv", "unary_einsum"),
    *("cmpf", "cmpi", "divui", "maxui", "minui", "remui", "concat", "const_shape"),
    *("get_extent", "num_elements", "to_extent_tensor"),
}
"""What has a form, but is no operation of HLO."""


def test_operations_that_hlo_lacks_are_unknown_by_name() -> None:
    for name in ("stablehlo.dynamic_conv", "chlo.ragged_dot", "stablehlo.unary_einsum"):
        module = stablehlo.parse(f"""func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {{
            %0 = "{name}"(%a, %a) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
            return %0 : tensor<2xf32> }}""")
        (indexing,) = parameter_indexing(module.entry.root).values()
        assert str(indexing) == f"unknown (custom-call: no indexing map of {name})"


def test_a_loop_carries_what_it_reads_around_it() -> None:
    module = stablehlo.parse("""
    func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
      %c = stablehlo.constant dense<0> : tensor<i32> %n = stablehlo.constant dense<5> : tensor<i32>
      %0:2 = stablehlo.while(%i = %c, %x = %a) : tensor<i32>, tensor<4xf32> cond {
        %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %1 : tensor<i1> } do {
        %one = stablehlo.constant dense<1> : tensor<i32> %1 = stablehlo.add %i, %one : tensor<i32>
        %2 = stablehlo.reverse %x, dims = [0] : tensor<4xf32>
        %3 = stablehlo.multiply %2, %b : tensor<4xf32>
        stablehlo.return %1, %3 : tensor<i32>, tensor<4xf32> }
      return %0#1 : tensor<4xf32> }""")
    loop = module["while.0"]
    assert str(loop.shape) == "(s32[], f32[4]{0}, f32[4]{0})"
    assert not isinstance(output_to_input(loop, 1).indexing[0], Unknown)


def test_parameters_and_fusions_have_the_layouts_that_xla_notes() -> None:
    module = stablehlo.parse("""
    module @m attributes {
        mhlo.xla_entry_computation_parameter_layouts = [dense<[0, 1]> : tensor<2xindex>],
        mhlo.xla_entry_computation_parameter_tiles = [[dense<[8, 128]> : tensor<2xindex>]]} {
      func.func @main(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
        %0 = "mhlo.fusion"(%a) <{fusion_kind = #mhlo<fusion_kind kLoop>}> ({
          ^bb0(%x: tensor<2x3xf32>): mhlo.return %x : tensor<2x3xf32>
        }) : (tensor<2x3xf32>) -> tensor<2x3xf32> return %0 : tensor<2x3xf32> } }""")
    assert [str(module[name].shape) for name in "ax"] == ["f32[2,3]{0,1:T(8,128)}"] * 2


@for_table("""
%a: tensor<2xf32> {tf.aliasing_output = 0} => input_output_alias={{}: (0, {}, may-alias)}
%b: tensor<2xf32>, %a: tensor<2xf32> {jax.buffer_donor = true} => buffer_donor={(1, {})}
""")
def test_donated_arguments_are_attributes_of_the_module(arguments: str, attribute: str) -> None:
    text = "{ return %a : tensor<2xf32> }"
    module = stablehlo.parse(f"func.func @main({arguments}) -> tensor<2xf32> {text}")
    assert str(module).splitlines()[0] == f"HloModule module_main, {attribute}"


def test_a_donation_to_no_result_is_refused() -> None:
    with pytest.raises(MlirTextError, match=r"tf\.aliasing_output is 1, but there are 1 results"):
        stablehlo.parse("func.func @main(%a: tensor<2xf32> {tf.aliasing_output = 1}) { return %a }")


def test_shardings_of_shardy_become_those_of_hlo() -> None:
    module = stablehlo.parse("""
    module @m attributes {mhlo.num_partitions = 8 : i32} {
      sdy.mesh @mesh = <["x"=2, "y"=4]>
      func.func @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>})
          -> tensor<8x4xf32> { return %a : tensor<8x4xf32> } }""")
    sharding = "{devices=[4,1,2]<=[2,4]T(1,0) last_tile_dim_replicate}"
    assert module.entry.parameters[0].attributes["sharding"] == sharding
    assert module.attributes["num_partitions"] == 8


WRONG = texts_with_values("""
# an unknown operation | 6, "none called"
%0 = stablehlo.ad %a : tensor<2xf32>
# an unknown value | 23, "there is no %b"
%0 = stablehlo.negate %b : tensor<2xf32>
# a value of a region read outside | 93, "cannot read %a from around it"
%0 = "stablehlo.all_reduce"(%a) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): stablehlo.return %a :
tensor<2xf32> }) : (tensor<2xf32>) -> tensor<2xf32>
# a type without an end | 28, "expected the type"
%0 = stablehlo.negate %a : tensor<2xf32
# elements that HLO lacks | 1, "type tensor<2xi7>"
%0 = stablehlo.negate %a : tensor<2xi7>
# a missing attribute | 1, "expected attribute dimensions"
%0 = "stablehlo.transpose"(%a) : (tensor<2xf32>) -> tensor<2xf32>
# too few operands | 1, "expected 2 operands, not 1"
%0 = stablehlo.add %a : tensor<2xf32>
# a function that is not there | 1, "there is no function @g"
%0 = call @g(%a) : (tensor<2xf32>) -> tensor<2xf32>
# a function that calls itself | 1, "function @main calls itself"
call @main(%a) : (tensor<2xf32>) -> ()
# parts of no size | 1, "does not split in 0"
%0 = "stablehlo.all_to_all"(%a) <{split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count
= 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
# one value for too many dimensions | 1, "permutation is no list of integers"
%0 = "stablehlo.transpose"(%a) {permutation = dense<0> : tensor<99999999999xi64>}
: (tensor<2xf32>) -> tensor<2xf32>
# one value for too many groups | 1, "source_target_pairs has no values, or too many"
%0 = "stablehlo.collective_permute"(%a)
<{source_target_pairs = dense<0> : tensor<99999999999x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
# a layout of another rank | 1, "mhlo.bitcast: "
%0 = mhlo.bitcast %a {result_layout = dense<[1, 0]> : tensor<2xindex>}
: (tensor<2xf32>) -> tensor<2xf32>
# a bitcast of a token | 48, "has no layout"
%t = stablehlo.create_token : !stablehlo.token %0 = mhlo.bitcast %t {source_layout = dense<0> :
tensor<1xindex>} : (!stablehlo.token) -> tensor<2xf32>
# a fusion without a region | 1, "expected a region, not 0"
%0 = "mhlo.fusion"(%a) : (tensor<2xf32>) -> tensor<2xf32>
# a fusion of no kind | 1, "kind is 'kFast'; expected one of kLoop"
%0 = "mhlo.fusion"(%a) <{fusion_kind = #mhlo<fusion_kind kFast>}>
({ ^bb0(%x: tensor<2xf32>): mhlo.return %x : tensor<2xf32> }) : (tensor<2xf32>) -> tensor<2xf32>
# a fusion of other operands | 1, "mhlo.fusion: "
%0 = "mhlo.fusion"(%a) ({ ^bb0(%x: tensor<3xf32>): mhlo.return %x : tensor<3xf32> })
: (tensor<2xf32>) -> tensor<3xf32>
# too many values | 45, "expected 2 elements"
%0 = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<2xf32>
# a reshape to another size | 1, "reshape keeps the number of elements"
%0 = stablehlo.reshape %a : (tensor<2xf32>) -> tensor<3xf32>
""")
"""Operations on ``%a : tensor<2xf32>``, the column of the error, and a part of its message."""


@for_all(WRONG)
def test_errors_point_at_their_place(text: str, column: int, message: str) -> None:
    with pytest.raises(MlirTextError, match=re.escape(message)) as caught:
        stablehlo.parse(f"func.func @main(%a: tensor<2xf32>) {{\n{text}\nreturn }}", "f.mlir")
    error = caught.value
    assert (error.span.line, error.span.column) == (2, column)
    assert str(error).startswith(f"f.mlir:2:{column}: ")
    assert "^" in str(error)


@for_all(["", "module {}", "module @m {", "#loc = loc(unknown)\n"])
def test_texts_without_a_function_are_refused(text: str) -> None:
    with pytest.raises(MlirTextError):
        stablehlo.parse(text)


def test_deep_nesting_is_refused() -> None:
    for text in ("tuple<" * 5000, "(" * 5000, '"a.b"() ({' * 5000, "dense<" * 5000):
        with pytest.raises(MlirTextError):
            stablehlo.parse(f"func.func @main(%a: {text}")
        with pytest.raises(MlirTextError):
            stablehlo.parse(f"func.func @main() {{ {text}")


SMALL = [name for name in NAMES if len(stablehlo_text(name)) < 7_000]
TOKEN = re.compile(r'[\w.$%@#!^-]+|"[^"\n]*"|\S|\s+')


@st.composite
def damaged(draw: st.DrawFn) -> str:
    """A real module with some tokens lost, exchanged, doubled or cut off."""
    tokens = TOKEN.findall(stablehlo_text(draw(st.sampled_from(SMALL))))
    for _ in range(draw(st.integers(1, 2))):
        place, other = (draw(st.integers(0, len(tokens) - 1)) for _ in range(2))
        match draw(st.sampled_from(["lose", "exchange", "copy", "double", "cut"])):
            case "lose":
                del tokens[place]
            case "exchange":
                tokens[place], tokens[other] = tokens[other], tokens[place]
            case "copy":
                tokens[place] = tokens[other]
            case "double":
                tokens.insert(place, tokens[place])
            case _:
                tokens = tokens[: max(place, 1)]
    return "".join(tokens)


@given(text=damaged())
def test_a_damaged_module_is_read_or_refused(text: str) -> None:
    result = outcome(text)
    if isinstance(result, hlo.HloModule):
        assert str(hlo.parse(str(result))) == str(result)
    else:
        assert "^" in str(result)


def outcome(text: str) -> hlo.HloModule | MlirTextError:
    """The module, or the error; anything else that is raised fails the test."""
    try:
        return stablehlo.parse(text)
    except MlirTextError as error:
        return error


def test_files_of_stablehlo_are_read_as_modules(tmp_path: Path) -> None:
    path = tmp_path / "softmax.mlir"
    path.write_text(stablehlo_text("softmax"), encoding="utf-8")
    assert hlo.files_in(tmp_path) == [str(path)]
    assert hlo.load(path).entry.root.opcode == "divide"


BEGINNINGS: Final = (
    'sdy.mesh @mesh = <["a"=2]> ',
    'sdy.mesh @mesh = #sdy.mesh<["a"=2]> ',
    "#set = affine_set<(d0) : (d0 - 1 >= 0)>\n",
    "// a comment\n",
)


@for_all(BEGINNINGS)
def test_a_module_is_recognised_wherever_it_begins(beginning: str) -> None:
    function = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }"
    for text in (function, f"module {{\n  // a comment\n  {function}\n}}"):
        assert hlo.parse(beginning + text).entry.root.name == "x"
