"""Modules in protocol buffers, binary and as text; of the same bytes, jaxlib prints the same."""

from __future__ import annotations

import gzip
import random
import re
import struct
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import pytest

from indexing.layout import ElementType
from ops import hlo
from ops.hlo import protobuf
from ops.hlo.files import decoded
from ops.hlo.protobuf import Message, text_of
from simplifier.errors import IndexingError
from tests.cases import for_all, rows
from tests.extent import IN_CI
from tests.hlo.modules import NAMES, module_text
from tests.ops.opcode_programs import PROGRAMS

# Messages are written here, so that no test needs jaxlib for a binary one.


def varint(number: int) -> bytes:
    """A number in digits of seven bits."""
    number %= 1 << 64
    digits = b""
    while number > 0x7F:
        digits, number = digits + bytes([number & 0x7F | 0x80]), number >> 7
    return digits + bytes([number])


def encoded(message: Message) -> bytes:
    """The binary form of a message."""
    return b"".join(_encoded_fields(message))


def _encoded_fields(message: Message) -> Iterator[bytes]:
    for name, found in message.items():
        field = protobuf._KNOWN[message.kind][name]
        for value in found if field.is_list else [found]:
            kind, number = field.kind, int(field.number) << 3
            if kind in protobuf._FORMATS:
                wire = 1 if kind == "double" else 5
                yield varint(number | wire) + struct.pack(protobuf._FORMATS[kind], value)
            elif kind in protobuf._NUMBERS:
                words = [*protobuf._WORDS.get(kind, {}).values()]
                yield varint(number) + varint(words.index(value) if words else int(value))
            else:
                inner = encoded(value) if isinstance(value, Message) else value
                text = isinstance(inner, str)
                content = inner.encode("utf-8", "surrogateescape") if text else inner
                yield varint(number | 2) + varint(len(content)) + content


def binary(text: str) -> bytes:
    """The binary form of a module that is given as text."""
    return encoded(protobuf._TextReader(text, "").fill(Message("HloModuleProto")))


SHAPE = "shape { element_type: F32 dimensions: [4, 8] layout { minor_to_major: [1, 0] } }"
OF_TYPE = "shape {{ element_type: {} }}"
F32, S32, PRED = map(OF_TYPE.format, ("F32", "S32", "PRED"))
MODULE = f"""
name: "m" entry_computation_name: "e" entry_computation_id: 9
computations {{ id: 5 name: "f" root_id: 3
  instructions {{ id: 1 name: "x" opcode: "parameter" {F32} }}
  instructions {{ id: 2 name: "y" opcode: "parameter" parameter_number: 1 {F32} }}
  instructions {{ id: 3 name: "z" opcode: "add" operand_ids: [1, 2] {F32} }} }}
computations {{ id: 9 name: "e" root_id: 8
  instructions {{ id: 1 name: "p" opcode: "parameter" {SHAPE} }}
  instructions {{ id: 2 name: "q" opcode: "parameter" parameter_number: 1 {SHAPE} }}
  instructions {{ id: 3 name: "r" opcode: "parameter" parameter_number: 2
    shape {{ element_type: S32 dimensions: [4, 8] }} }}
  instructions {{ id: 4 name: "s" opcode: "parameter" parameter_number: 3 {PRED} }}
  instructions {{ id: 5 name: "t" opcode: "parameter" parameter_number: 4 {F32} }}
  instructions {{ id: 6 name: "w" opcode: "parameter" parameter_number: 5 {S32} }}
  instructions {{ id: 8 name: "i" %s }} }}
"""
"""A module; the place of the last instruction is left open."""

INSTRUCTIONS = r"""
control_predecessor_ids: [5, 6] => f32[4,8]{1,0} add(%p, %q), control-predecessors={%t, %w}
comparison_direction: "LT" comparison_type: "FLOAT" => pred[4,8]{1,0} compare(%p, %q), direction=LT
opcode: "compare" operand_ids: 1 operand_ids: 2 comparison_direction: "LT" comparison_type:
        "TOTALORDER" shape { element_type: PRED dimensions: [4, 8] }
    pred[4,8]{1,0} compare(%p, %q), direction=LT, type=TOTALORDER
slice_dimensions { limit: 4 stride: 2 } slice_dimensions < start: 1 limit: 8 stride: 1 >
    f32[2,7]{1,0} slice(%p), slice={[0:4:2], [1:8]}
padding_config { dimensions { edge_padding_low: 1 } dimensions { edge_padding_high: -1
        interior_padding: 2 } }
    f32[5,22]{1,0} pad(%p, %t), padding=1_0_0x0_-1_2
dimensions: 1 called_computation_ids: 5 => f32[4]{0} reduce(%p, %t), to_apply=%f, dimensions={1}
called_computation_ids: 5 window { dimensions { size: 1 stride: 1 window_dilation: 1
        base_dilation: 1 } dimensions { size: 2 stride: 2 window_dilation: 1 base_dilation: 1 } }
    f32[4,4]{1,0} reduce-window(%p, %t), to_apply=%f, window={size=1x2 stride=1x2}
dot_dimension_numbers { lhs_contracting_dimensions: 1 rhs_contracting_dimensions: 1 }
        precision_config { operand_precision: [HIGHEST, DEFAULT] algorithm: ALG_DOT_F32_F32_F32 }
    f32[4,4]{1,0} dot(%p, %q), lhs_contracting_dims={1}, rhs_contracting_dims={1},
     algorithm=dot_f32_f32_f32, operand_precision={highest,default}
gather_slice_sizes: [1, 1] indices_are_sorted: true gather_dimension_numbers { collapsed_slice_dims:
        [0, 1] start_index_map: 0 index_vector_dim: 2 }
    f32[4,8]{1,0} gather(%p, %r), offset_dims={}, collapsed_slice_dims={0,1}, start_index_map={0},
     index_vector_dim=2, slice_sizes={1,1}, indices_are_sorted=true
called_computation_ids: [5, 5]
    f32[4,8]{1,0} conditional(%s, %p, %p), true_computation=%f, false_computation=%f
called_computation_ids: 5 => f32[4,8]{1,0} conditional(%w, %p), branch_computations={%f}
fusion_kind: "kLoop" called_computation_ids: 5 output_operand_aliasing { operand_index: 1 }
    f32[] fusion(%t, %t), calls=%f, kind=kLoop, output_to_operand_aliasing={{}: (1, {})}
custom_call_target: "g\"h" constrain_layout: true custom_call_api_version: API_VERSION_TYPED_FFI
        operand_shapes_with_layout { element_type: F32 dimensions: 4 } custom_call_has_side_effect:
        true custom_call_schedule: 1 backend_config: "a\377"
    f32[4,8]{1,0} custom-call(%p), custom_call_target="g\"h", api_version=API_VERSION_TYPED_FFI,
     custom_call_has_side_effect=true, operand_layout_constraints={f32[4]{0}},
     schedule=SCHEDULE_LATEST, backend_config="a\377"
custom_call_target: "g" backend_config: '{"a":' "[1]}" called_computation_ids: 5
    f32[4,8]{1,0} custom-call(), called_computations={%f}, custom_call_target="g",
     api_version=API_VERSION_UNSPECIFIED, backend_config={"a":[1]}
dimensions: 1 => f32[4,8]{1,0} iota(), iota_dimension=1
opcode: "copy-start" operand_ids: 5 cross_program_prefetch_index: 0 shape { element_type: TUPLE
        tuple_shapes { element_type: F32 } tuple_shapes { element_type: F32 } tuple_shapes {
        element_type: U32 } }
    (f32[], f32[], u32[]) copy-start(%t), cross_program_prefetch_index=0
called_computation_ids: 5 channel_id: 3 use_global_device_ids: true collective_device_list {
        replica_groups { replica_ids: [0, 1] } replica_groups { replica_ids: [2, 3] } }
    f32[4,8]{1,0} all-reduce(%p), to_apply=%f, channel_id=3, replica_groups={{0,1},{2,3}},
     use_global_device_ids=true
called_computation_ids: 5 iota_collective_device_list { num_replica_groups: 2 num_devices_per_group:
        4 iota_reshape_dims: [4, 2] iota_transpose_perm: [1, 0] }
    f32[4,8]{1,0} all-reduce(%p), to_apply=%f, replica_groups=[2,4]<=[4,2]T(1,0)
called_computation_ids: 5 collective_device_list { iota_replica_group_list { num_replica_groups: 2
        num_devices_per_group: 4 iota_reshape_dims: 8 iota_transpose_perm: 0 } }
    f32[4,8]{1,0} all-reduce(%p), to_apply=%f, replica_groups=[2,4]<=[8]
called_computation_ids: 5 mesh_axes_replica_group_list { mesh { axes { name: "x" size: 2 } axes {
        name: "y" size: 4 } } axes { mesh_axis_index: 1 sub_axis_info { pre_size: 1 size: 2 } } }
    f32[4,8]{1,0} all-reduce(%p), to_apply=%f, replica_groups=mesh['x'=2,'y'=4] {'y':(1)2}
called_computation_ids: 5 => f32[4,8]{1,0} all-reduce(%p), to_apply=%f, replica_groups={}
all_reduce_id: 2 source_target_pairs { target: 1 } source_target_pairs { source: 1 }
    f32[4,8]{1,0} collective-permute(%p), source_target_pairs={{0,1},{1,0}}, channel_id=2
distribution: RNG_UNIFORM => f32[4,8]{1,0} rng(%t, %t), distribution=rng_uniform
result_accuracy { tolerance { atol: 1 rtol: 0.5 ulps: 3 } }
    f32[4,8]{1,0} exponential(%p), result_accuracy={tolerance={atol=1,rtol=0.5,ulps=3}}
result_accuracy { mode: HIGHEST } => f32[4,8]{1,0} exponential(%p), result_accuracy={mode=highest}
domain_entry_sharding { } domain_exit_sharding { type: MAXIMAL tile_assignment_devices: 3 }
    f32[4,8]{1,0} domain(%p), domain={kind="sharding", entry={maximal device=3}, exit={replicated}}
cholesky_options { lower: true } => f32[4,8]{1,0} cholesky(%p), lower=true
triangular_solve_options { left_side: true unit_diagonal: true transpose_a: NO_TRANSPOSE }
    f32[4,8]{1,0} triangular-solve(%p, %q), left_side=true, transpose_a=NO_TRANSPOSE,
     unit_diagonal=true
dimensions: 0 => f32[4,8]{1,0} reshape(%p), inferred_dimension=0
opcode: "convert" operand_ids: 1 shape { element_type: BF16 dimensions: [4, 8] is_dynamic_dimension:
        [false, true] layout { minor_to_major: [0, 1] tiles { dimensions: [8, 128] } tiles {
        dimensions: [2, 1] } memory_space: 1 element_size_in_bits: 4 split_configs { dimension: 1
        split_indices: 4 } } } metadata { op_type: "t" op_name: "n" source_file: "f.py" source_line:
        3 profile_type: [1, 2] }
    bf16[4,<=8]{0,1:T(8,128)(2,1)E(4)S(1)SC(1:4)} convert(%p), metadata={op_type="t" op_name="n"
     source_file="f.py" source_line=3 profile_type={1,2}}
literal { shape { element_type: F32 dimensions: [2, 2] layout { minor_to_major: [0, 1] } } f32s: [1,
        0.1, -2, nan] }
    f32[2,2]{1,0} constant({ { 1.0, -2.0 }, { 0.1, nan } })
literal { shape { element_type: S4 dimensions: 3 } s4s: "\001\r\005" }
    s4[3]{0} constant({ 1, -3, 5 })
literal { shape { element_type: S4 dimensions: 3 } s4s: "\035P" } => s4[3]{0} constant({ 1, -3, 5 })
literal { f8e5m2s: "<|\376" } => f8e5m2[3]{0} constant({ 1.0, inf, -nan })
literal { bf16s: "\200?" } => bf16[] constant(1.0)
literal { u64s: 18446744073709551615 } => u64[] constant(18446744073709551615)
literal { c64s: [1, -2] } => c64[1]{0} constant({ (1.0, -2.0) })
literal { preds: [true, f] } => pred[2]{0} constant({ true, false })
literal { } => s32[0,2]{1,0} constant({})
opcode: "constant" shape { element_type: TUPLE tuple_shapes { element_type: S32 } tuple_shapes {
        element_type: TUPLE } } literal { tuple_literals { s32s: -7 } tuple_literals { } }
    (s32[], ()) constant((-7, ()))
feature_group_count: 1 batch_group_count: 2 conv_kind: CONVOLUTION_KIND_FPROP
        convolution_dimension_numbers { input_feature_dimension: 1 kernel_output_feature_dimension:
        1 output_batch_dimension: 1 }
    f32[8,4]{1,0} convolution(%p, %q), dim_labels=bf_io->fb, batch_group_count=2,
     convolution_kind=fprop
"""
"""Fields of an instruction, and its HLO text, which tells its opcode, operands and shape."""


def message_of(fields: str, text: str) -> str:
    """The message of a row; one that begins with an opcode is whole."""
    told = re.match(r"(\w+)\[(.*?)\]\S* ([\w-]+)\(([^)]*)", text)
    if told is None or fields.startswith("opcode: "):
        return fields
    element_type, sizes, opcode, operands = told.groups()
    ids = ["pqrstw".index(name) + 1 for name in re.findall(r"%(\w)", operands)]
    shape = f"shape {{ element_type: {element_type.upper()} dimensions: [{sizes}] }}"
    return f'opcode: "{opcode}" operand_ids: {ids} {shape} {fields}'


@for_all(rows(INSTRUCTIONS))
def test_an_instruction_is_what_its_message_says(fields: str, expected: str) -> None:
    text = MODULE.replace("%s", message_of(fields, expected))
    assert f"  ROOT %i = {expected}\n" in text_of(text, "")
    assert f"  ROOT %i = {expected}\n" in text_of(binary(text), "")


@pytest.mark.filterwarnings("ignore::simplifier.errors.TextWarning")
def test_an_operation_of_a_newer_version_keeps_its_attributes() -> None:
    message = f'opcode: "hyperjump" operand_ids: 1 dimensions: 1 channel_id: 7 {SHAPE}'
    root = hlo.parse(MODULE.replace("%s", message)).entry.root
    assert root.opcode == "custom-call"
    assert (root.attributes["dimensions"], root.attributes["channel_id"]) == ((1,), 7)
    assert "iota_dimension" not in root.attributes


SHARDINGS = """
type: REPLICATED => {replicated}
type: MANUAL => {manual}
type: MAXIMAL tile_assignment_devices: 3 metadata { op_name: "z" } => {maximal device=3
        metadata={op_name="z"}}
type: TUPLE tuple_shardings { type: MANUAL } tuple_shardings { } => {{manual}, {replicated}}
type: TUPLE => {}
type: OTHER tile_assignment_dimensions: [2, 1, 4] iota_reshape_dims: 8 iota_transpose_perm: 0
        replicate_on_last_tile_dim: true
    {devices=[2,1,4]<=[8] last_tile_dim_replicate}
type: OTHER tile_assignment_dimensions: [2, 2, 2] iota_reshape_dims: [2, 4] iota_transpose_perm: [1,
        0] last_tile_dims: [MANUAL, REPLICATED]
    {devices=[2,2,2]<=[2,4]T(1,0) last_tile_dims={manual, replicated}}
type: OTHER tile_assignment_dimensions: [2, 1] tile_assignment_devices: [1, 0] is_shard_group: true
        shard_group_id: 3 shard_group_type: LIKE metadata { op_name: "z" }
    {devices=[2,1]1,0 shard_like 3 metadata={op_name="z"}}
is_shard_group: true shard_group_id: 3 metadata { op_name: "z" } metadata { op_name: "y" }
    {replicated shard_as 3 metadata={{op_name="z"}, {op_name="y"}}}
MESH dim_shardings { axes { } } dim_shardings { } replicated_axes { mesh_axis_index: 1 sub_axis_info
        { pre_size: 1 size: 2 } } }
    {mesh['x'=2,'y'=4], [{'x', ?}, {?}], replicated={'y':(1)2}}
MESH dim_shardings { axes { } is_closed: true } manual_axes { mesh_axis_index: 1 } metadata {
        op_name: "z" } }
    {mesh['x'=2,'y'=4], [{'x'}], manual={'y'}, metadata={{op_name="z"}}}
MESH } => {mesh['x'=2,'y'=4], replicated}
MESH manual_axes { } manual_axes { mesh_axis_index: 1 } } => {mesh['x'=2,'y'=4], manual}
named_sharding { mesh { device_ids: 3 } } => {maximal_mesh[device_id=3]}
"""
"""A sharding in a message, and in HLO text, as jaxlib prints it."""
MESH = 'named_sharding { mesh { axes { name: "x" size: 2 } axes { name: "y" size: 4 } }'
NEGATE = f'opcode: "negate" operand_ids: 1 {SHAPE}'


@for_all(rows(SHARDINGS))
def test_a_sharding_is_what_its_message_says(message: str, expected: str) -> None:
    sharding = f"{NEGATE} sharding {{ {message.replace('MESH', MESH)} }}"
    text = text_of(binary(MODULE.replace("%s", sharding)), "")
    assert f"  ROOT %i = f32[4,8]{{1,0}} negate(%p), sharding={expected}\n" in text


HEADER = """
schedule { sequences { key: 9 value { instruction_ids: [6, 5, 4, 3, 2, 1, 8] } } }
input_output_alias { entries { output_shape_index: [] parameter_number: 1 kind: MUST_ALIAS } }
buffer_donor { entries { parameter_number: 2 } }
frontend_attributes { map { key: "a" value: "b" } map { key: "c" value: "{d}" } }
stack_frame_index { file_names: "f.py" function_names: "g"
  file_locations { file_name_id: 1 function_name_id: 1 line: 7 }
  stack_frames { file_location_id: 1 } stack_frames { file_location_id: 1 parent_frame_id: 1 } }
payloads: "{x}" payloads: "y"
"""


def test_the_header_the_tables_and_the_schedule() -> None:
    payload = f"{NEGATE} backend_config_payload {{ id: 1 }} metadata {{ stack_frame_id: 2 }}"
    module = hlo.parse(MODULE.replace("%s", payload) + HEADER)
    assert str(module).startswith(
        "HloModule m, is_scheduled=true, input_output_alias={{}: (1, {}, must-alias)}, "
        'buffer_donor={(2, {})}, frontend_attributes={a="b",c={d}}\n'
    )
    assert [each.name for each in module.entry.instructions] == ["w", "t", "s", "r", "q", "p", "i"]
    assert module["i"].attributes["backend_config"] == '"y"'
    locations = import_module("ops.hlo.module").source_locations(module["i"])
    assert [str(each) for each in locations] == ["f.py:7 in g"] * 2


TEXT = MODULE.replace("%s", NEGATE)


@pytest.mark.parametrize("form", ["hlo { hlo_module { %s } }", "# proto\nhlo_module: < %s >", "%s"])
def test_what_is_around_a_module_and_what_is_not_known_is_skipped(
    form: str, tmp_path: Path
) -> None:
    more = "later: 7 other { a: [1, \"b\" 'c', { d: nan }] } device_type: X, more: -1.5e3;"
    (tmp_path / "m.pbtxt.gz").write_bytes(gzip.compress((form % (TEXT + more)).encode()))
    assert hlo.load(tmp_path / "m.pbtxt.gz").entry.root.opcode == "negate"
    assert hlo.files_in(tmp_path) == [str(tmp_path / "m.pbtxt.gz")]


BAD_TEXTS = r"""
operand_ids: 77 => .operand_ids: nothing has the id 77
called_computation_ids: 77 => .called_computation_ids: nothing has the id 77
called_computation_ids: [5, 5] => .called_computation_ids: expected 1 for negate
name: "a b" => .name: 'a b' is no name
opcode: "a(" => .opcode: 'a(' is no name
shape { element_type: 77 } => .shape.element_type: there is no type 77
shape { element_type: F32 dimensions: -2 } => .shape: dimension -2 is negative
sharding { named_sharding { mesh { axes { name: "x" size: 2 } } dim_shardings { axes {
        mesh_axis_index: 4 } } } }
    .sharding: the mesh has no axis 'number 4'
backend_config_payload { id: 2 } => .backend_config_payload.id: nothing has the id 2
id: x => .id: expected a value of type int64, but found 'x'
operand_ids: [1, "2"] => .operand_ids: expected a value of type int64, but found "2"
shape: 3 => .shape: expected a value of type ShapeProto, but found '3'
shape { dimensions: 3 ] => .shape: expected the name of a field, but found ']'
is_stable: 7.5 => .is_stable: expected a number, but found '7.5'
unknown 3 => : expected ':' after unknown, but found '3'
name: "open => .name: a string is not closed
opcode: "constant" shape { element_type: F32 dimensions: 3 } literal { f32s: 1 }
    .literal: f32[3] has 3 elements, not 1
opcode: "constant" shape { element_type: TOKEN } literal { }
    .literal: token[] has 1 elements, not 0
"""
"""What is put into an instruction, and what is said behind the path of the instruction."""


@for_all(rows(BAD_TEXTS))
def test_an_error_names_the_field(change: str, message: str) -> None:
    with pytest.raises(hlo.HloTextError) as caught:
        hlo.parse(MODULE.replace("%s", f"{NEGATE} {change}"), "m.pbtxt")
    assert f"computations[1].instructions[6]{message}" in str(caught.value)
    assert str(caught.value).startswith("m.pbtxt:")


def field(number: int, wire: int, content: bytes) -> bytes:
    """A field of any number and wire type."""
    return varint(number << 3 | wire) + content


START = field(1, 2, b"\x01m") + field(2, 2, b"\x01e")
BAD_BYTES = {
    "computations: expected 100 bytes, but there are 1": field(3, 2, b"\x64x"),
    "computations[0].id: a number does not end": field(3, 2, b"\x03" + field(5, 0, b"\xff\xff")),
    "computations[0].name: this is a string, but written as an integer": field(
        3, 2, b"\x02" + field(1, 0, b"\x01")
    ),
    "there is no wire type 3": field(99, 3, b""),
    "messages are nested more than 100 deep": field(4, 2, b""),
    "computations[0].instructions[0].epsilon": field(
        3, 2, b"\x08" + field(2, 2, b"\x06" + field(24, 2, b"\x03abc"))
    ),
}


def test_an_error_about_bytes_names_the_field() -> None:
    deep = b""
    for _ in range(110):
        deep = field(4, 2, varint(len(deep)) + deep)
    for message, content in BAD_BYTES.items():
        inner = field(4, 2, varint(len(deep) + 2 + 1) + field(1, 2, varint(len(deep)) + deep))
        with pytest.raises(hlo.HloFileError) as caught:
            decoded(START + (inner if "nested" in message else content), "m.pb")
        assert str(caught.value).startswith("m.pb: the protobuf is no HLO module: ")
        assert message in str(caught.value)


# The oracle: jaxlib reads the same bytes.


def read_by_jaxlib(text: str) -> tuple[bytes, hlo.HloModule]:
    """The protobuf of a module, and the module that jaxlib prints of it."""
    native: Any = import_module("jaxlib._hlo")
    content = native.hlo_module_from_text(text).as_serialized_hlo_module_proto()
    options = native.HloPrintOptions()
    options.print_large_constants = True
    printed = native.HloModule.from_serialized_hlo_module_proto(content).to_string(options)
    return content, hlo.parse(printed)


def facts(instruction: hlo.Instruction) -> dict[str, Any]:
    """What is compared of an instruction; jaxlib prints fewer digits of 16 bits."""
    literal, is_half = instruction.literal, instruction.shape.element_type is ElementType.F16
    values = literal.array.astype("float16") if literal and is_half else literal and literal.values
    maps = {name: dict(v) for name, v in instruction.attributes.items() if hasattr(v, "keys")}
    found = dict(instruction.attribute_texts()) | maps
    if instruction.opcode.startswith("async-"):  # jaxlib prints the operation itself
        found.pop("calls", None)
    return found | {
        "name": instruction.name,
        "shape": str(instruction.shape),
        "opcode": instruction.opcode,
        "operands": [each.name for each in instruction.operands],
        "number": instruction.parameter_number,
        "literal": repr(values),
        "root": instruction.is_root,
    }


def tables(module: hlo.HloModule) -> dict[str, Any]:
    """The tables of source locations; the order in a row says nothing."""
    return {
        name: [row if isinstance(row, str) else dict(row) for row in found.values()]
        for name, found in module.tables.items()
    }


def computations(module: hlo.HloModule) -> dict[str, Any]:
    """The computations, in whatever order, without those that are wrapped."""
    wrapped = {each.attributes["calls"] for each in module.find(opcode="async-start")}
    kept = (each for each in module.computations if each not in wrapped)
    return {each.name: [facts(inner) for inner in each.instructions] for each in kept}


def check_against_jaxlib(text: str) -> None:
    """The module of the bytes that jaxlib makes of a text is the one that it prints of them."""
    content, expected = read_by_jaxlib(text)
    module = hlo.parse(text_of(content, ""))
    assert (module.name, module.entry.name) == (expected.name, expected.entry.name)
    assert dict(module.attributes) == dict(expected.attributes)
    assert tables(module) == tables(expected)
    assert computations(module) == computations(expected)


@pytest.mark.needs("jaxlib")
@for_all(NAMES)
def test_a_real_module_is_what_jaxlib_prints_of_its_bytes(name: str) -> None:
    check_against_jaxlib(module_text(name))


LITERALS = """HloModule literals
ENTRY e {
  a = s4[2,3]{0,1} constant({{1,2,3},{-4,5,6}})  b = u2[5] constant({1,2,3,0,1})
  c = f4e2m1fn[3] constant({1,2,-3})  d = pred[2,2]{0,1} constant({{1,0},{1,1}})
  f = c64[2] constant({(1,0.1),(3,nan)})  g = c128[2] constant({(1,0.1),(3,-inf)})
  h = f8e5m2[3] constant({1,inf,-nan})  i = f8e4m3fn[2] constant({1,-448})
  j = f8e4m3b11fnuz[2] constant({1,-30})  k = f8e8m0fnu[2] constant({1,0.5})
  l = f32[2,2,2]{0,2,1} constant({{{1,2},{3,4}},{{5,6},{7,0.1}}})
  m = f64[2] constant({0.1,1e300})  n = bf16[2] constant({1,-0.5})
  o = u64[1] constant({18446744073709551615})  p = s64[1] constant({-9223372036854775808})
  q = s8[2] constant({-128,127})  r = u16[2] constant({0,65535})  s = f8e3m4[1] constant({0.25})
  t = s16[0,3] constant({})  u = f32[<=2] parameter(0)  v = (f32[2]{0}, (), s32[]) parameter(1)
  ROOT w = (s4[2,3]{0,1}) tuple(a) }
"""


@pytest.mark.needs("jaxlib")
def test_literals_of_all_types_are_what_jaxlib_prints() -> None:
    check_against_jaxlib(LITERALS)


REFUSED = ("atan", "collective-reduce", "shuffle")
"""Opcodes that jaxlib does not have."""


@pytest.mark.needs("jaxlib")
@for_all([opcode for opcode in PROGRAMS if opcode not in REFUSED])
def test_an_operation_of_each_opcode_is_what_jaxlib_prints(opcode: str) -> None:
    check_against_jaxlib(PROGRAMS[opcode].text)


# Whatever is wrong with a message, an error of this library says what and where.

_SMALL = [MODULE.replace("%s", message_of(*row)) + HEADER for row in rows(INSTRUCTIONS)]
_MUTANTS = 5000 if IN_CI else 500
Piece = TypeVar("Piece")


def _read(content: bytes | str) -> None:
    try:
        text = decoded(content, "m.pb") if isinstance(content, bytes) else content
        hlo.parse(text, "m.pb")
    except IndexingError as error:
        str(error)


def mutated(chance: random.Random, whole: list[Piece], others: list[Piece]) -> list[Piece]:
    """Behind its beginning, pieces are lost, doubled, or replaced by others."""
    pieces = [*whole]
    for _ in range(chance.choice((1, 1, 2, 5))):
        place = chance.randrange(8, len(pieces))
        other = chance.choice([chance.choice(others), chance.choice(whole)])
        match chance.randrange(4):
            case 0:
                pieces[place] = other
            case 1:
                del pieces[place : place + chance.randrange(1, 9)]
            case 2:
                pieces[place:place] = pieces[place - 8 : place]
            case _:
                pieces.insert(place, other)
    return pieces


@pytest.mark.filterwarnings("ignore::simplifier.errors.TextWarning")
def test_mutated_bytes_and_texts_raise_no_other_error() -> None:
    chance, binaries = random.Random(36), [binary(text) for text in _SMALL]  # noqa: S311 - of tests
    words, any_byte = ["{", "}", "[", '"', "-1", "1e99", "x:", "77"], [*range(256)]
    for _ in range(_MUTANTS):
        _read(bytes(mutated(chance, [*chance.choice(binaries)], any_byte)))
    for _ in range(_MUTANTS * 3 // 5):
        _read(" ".join(mutated(chance, chance.choice(_SMALL).split(" "), words)))
