"""Attributes and constants: each text, what it means, and how it is written back."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest

from indexing.layout import ElementType, Kind, Shape, ShapeError
from ops import hlo
from ops.hlo.attributes import (
    ATTRIBUTES,
    COMMON_ATTRIBUTES,
    MODULE_ATTRIBUTES,
    Aliasing,
    Codec,
    DimensionLabels,
    IotaGroups,
    ListedGroups,
    MeshAxis,
    MeshGroups,
    Window,
)
from ops.hlo.lexer import HloLexer
from ops.hlo.opcodes import OPCODES
from tests.cases import for_all, for_table

VALUES: list[tuple[str, str, Any]] = [
    ("dimensions", "{}", ()),
    ("dimensions", "{1,0}", (1, 0)),
    ("index", "3", 3),
    ("lower", "true", True),
    ("epsilon", "0.001", 0.001),
    ("epsilon", "1e-05", 1e-05),
    ("direction", "LT", "LT"),
    ("slice", "{[0:9:3], [1:4]}", ((0, 9, 3), (1, 4, 1))),
    ("padding", "-1_2x0_3", ((-1, 2, 0), (0, 3, 0))),
    ("padding", "0_0_0x1_2_3", ((0, 0, 0), (1, 2, 3))),
    ("window", "{size=3x2 stride=2x1 pad=0_1x-1_2 lhs_dilate=1x2 rhs_dilate=2x1 rhs_reversal=0x1}",
     Window((3, 2), (2, 1), ((0, 1), (-1, 2)), (1, 2), (2, 1), (0, 1))),
    ("window", "{}", Window()),
    ("dim_labels", "b0?f_0io->b0f", DimensionLabels("b0?f", "0io", "b0f")),
    ("dim_labels", "012_012->012", DimensionLabels("012", "012", "012")),
    ("api_version", "API_VERSION_UNSPECIFIED", "API_VERSION_UNSPECIFIED"),
    ("source_target_pairs", "{{0,1},{1,0}}", ((0, 1), (1, 0))),
    ("slice_sizes", "{1,4}", (1, 4)),
    ("slice_sizes", "{{1,4},{2,3}}", ((1, 4), (2, 3))),
    ("operand_precision", "{high,highest}", ("high", "highest")),
    ("parameter_replication", "{true,false}", (True, False)),
    ("conv_kind", "fprop", "fprop"),
    ("outfeed_shape", "f32[2]{0}", Shape.parse("f32[2]")),
    ("operand_layout_constraints", "{f32[2]{0}, token[]}",
     (Shape.parse("f32[2]"), Shape.parse("token[]"))),
    ("custom_call_target", r'"a\"b\\{"', 'a"b\\{'),
    ("sharding", "{devices=[2,1,4]<=[8] last_tile_dim_replicate}",
     "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"),
    ("backend_config", '{"a":{"}":[1]}}', '{"a":{"}":[1]}}'),
    ("backend_config", "{uplo = 76 : ui8}", "{uplo = 76 : ui8}"),
    ("backend_config", '"x{"', '"x{"'),
    ("metadata", '{op_name="a b" source_line=3}', {"op_name": "a b", "source_line": 3}),
    ("metadata", "{profile_type={1,2}}", {"profile_type": "{1,2}"}),
    ("frontend_attributes", '{a="1",b.c={n = 1 : i32}}', {"a": "1", "b.c": "{n = 1 : i32}"}),
    ("output_to_operand_aliasing", "{{0}: (1, {}), {1,0}: (0, {2}, may-alias)}",
     (Aliasing((0,), 1, ()), Aliasing((1, 0), 0, (2,), "may-alias"))),
    ("replica_groups", "{}", ListedGroups(())),
    ("replica_groups", "{{0,1},{2,3}}", ListedGroups(((0, 1), (2, 3)))),
    ("replica_groups", "[2,4]<=[8]", IotaGroups((2, 4), (8,))),
    ("replica_groups", "[2,4]<=[4,2]T(1,0)", IotaGroups((2, 4), (4, 2), (1, 0))),
    ("replica_groups", "mesh['a'=2,'b'=4] {'b'}",
     MeshGroups((("a", 2), ("b", 4)), (MeshAxis("b"),))),
    ("replica_groups", "mesh['a'=4,'b'=2], device_ids=([2,4]T(1,0)) {'a':(1)2,'b'}",
     MeshGroups((("a", 4), ("b", 2)), (MeshAxis("a", 1, 2), MeshAxis("b")), (2, 4), (1, 0))),
    ("replica_groups", "mesh['a'=2], device_ids=(1,0) {'a'}",
     MeshGroups((("a", 2),), (MeshAxis("a"),), device_ids=(1, 0))),
]  # fmt: skip


def codec_of(name: str) -> Codec:
    form = ATTRIBUTES[name]
    assert isinstance(form, Codec)
    return form


@for_all([("true", (True,)), ("{}", ()), ("{true,false}", (True, False))])
def test_one_word_may_stand_for_a_list(text: str, value: tuple[bool, ...]) -> None:
    name = "allow_spmd_sharding_propagation_to_parameters"
    module = hlo.parse(f"HloModule m, {name}={text} ENTRY e {{ a = f32[4] parameter(0) }}")
    assert module.attributes[name] == value
    assert hlo.parse(str(module)).attributes[name] == value


@for_all(VALUES)
def test_value_is_read_and_written_back(name: str, text: str, value: object) -> None:
    lexer = HloLexer(text)
    assert codec_of(name).value(lexer) == value
    assert lexer.kind == "end"
    assert codec_of(name).write(value) == text


@for_table("""
slice => { [0 : 9 : 1] } => {[0:9]}
padding => 1_2_0 => 1_2
window => {stride=2 size=3 pad=0_0} => {size=3 stride=2}
metadata => {op_name='x"y', source_line=1} => {op_name="x\\"y" source_line=1}
dimensions => { 1 , /* two */ 0 } => {1,0}
lower => 1 => true
replica_groups => [ 2,4 ] <= [8] => [2,4]<=[8]
""")
def test_value_is_written_in_one_form(name: str, text: str, written: str) -> None:
    assert codec_of(name).write(codec_of(name).value(HloLexer(text))) == written


@for_table("""
{} => {}
{{0,1},{2,3}} => {{0,1},{2,3}}
[2,4]<=[8] => {{0,1,2,3},{4,5,6,7}}
[2,4]<=[4,2]T(1,0) => {{0,2,4,6},{1,3,5,7}}
mesh['a'=2,'b'=4] {'b'} => {{0,1,2,3},{4,5,6,7}}
mesh['a'=2,'b'=4] {'a'} => {{0,4},{1,5},{2,6},{3,7}}
mesh['a'=2,'b'=2] {'b','a'} => {{0,2,1,3}}
mesh['a'=2,'b'=4] {'b':(1)2} => {{0,2},{1,3},{4,6},{5,7}}
mesh['a'=2,'b'=4] {'b':(2)2} => {{0,1},{2,3},{4,5},{6,7}}
mesh['a'=4,'b'=2], device_ids=([2,4]T(1,0)) {'b'} => {{0,4},{1,5},{2,6},{3,7}}
mesh['a'=2,'b'=2], device_ids=(3,1,2,0) {'a'} => {{3,2},{1,0}}
mesh['a'=2] {} => {{0},{1}}
""")
def test_groups_are_listed(text: str, listed: str) -> None:
    codec = codec_of("replica_groups")
    groups = codec.value(HloLexer(text)).groups
    assert codec.write(ListedGroups(groups)) == listed


@for_table("""
slice => {[0:9:3:1]} => expected ']' after a slice
padding => 1x2 => expected a padding such as
dim_labels => b01f => expected dimension labels such as
lower => yes => expected true or false
replica_groups => [2,4]<=[2,4]T(0,0) => no permutation
replica_groups => [2,0]<=[0] => has a size below 1
replica_groups => mesh['a'=2], device_ids=(0,1,2) {'a'} => 2 devices, but 3 are listed
replica_groups => mesh['a'=4] {'a':(2)4} => 'a':(2)4 is no part of an axis of size 4
replica_groups => all => expected replica groups such as
sharding => replicated => expected a text in braces or quotes
""")
def test_a_wrong_value_is_refused(name: str, text: str, message: str) -> None:
    with pytest.raises(hlo.HloTextError, match=re.escape(message)):
        codec_of(name).value(HloLexer(text))


def test_every_attribute_belongs_to_an_opcode_or_is_kept_with_the_module() -> None:
    used = {name for opcode in OPCODES.values() for name in (*opcode.required, *opcode.optional)}
    assert used | COMMON_ATTRIBUTES.keys() == ATTRIBUTES.keys()
    text = (
        "HloModule m, is_scheduled=true, replica_count=2, num_partitions=4, "
        "input_output_alias={{0}: (0, {}, may-alias)}, buffer_donor={(2, {})}, "
        "alias_passthrough_params=true, entry_computation_layout={(f32[2]{0})->f32[2]{0}}, "
        "allow_spmd_sharding_propagation_to_parameters={true}, "
        "allow_spmd_sharding_propagation_to_output={false}, origin_recovery_table={a{b}}, "
        'frontend_attributes={meshes={mesh = #sdy.mesh<["x"=8], ids=[0]>}}'
    )
    module = hlo.parse(f"{text}\nENTRY e {{ a = f32[2] parameter(0) }}")
    assert str(module).splitlines()[0] == text
    assert module.attributes.keys() == MODULE_ATTRIBUTES.keys()


def test_computations_and_control_predecessors_are_values() -> None:
    for called, name in {"f": "f", "%f": "f", "{ x = f32[] parameter(0) }": "_"}.items():
        module = hlo.parse(f"""f {{ a = f32[] parameter(0) }}
            ENTRY e {{ a = f32[] parameter(0) b = f32[] fusion(a), kind=kLoop, calls={called} }}""")
        assert module.entry.root.attributes["calls"].name == name
        assert module.entry.root.attributes["calls"] in module.computations
    module = hlo.parse("""
        f { a = f32[] parameter(0) } ENTRY e { i = s32[] parameter(0) x = f32[] parameter(1)
        y = f32[] abs(x), control-predecessors={i, %x}
        c = f32[] conditional(i, x, y), branch_computations={f, %f} }""")
    *predecessors, y, c = module.entry.instructions
    assert c.attributes["branch_computations"] == (module.computations[0],) * 2
    assert y.attributes["control-predecessors"] == (*predecessors,)


def test_async_sugar_becomes_a_call_of_the_operation() -> None:
    module = hlo.parse("""ENTRY e { a = f32[4] parameter(0)
        s = ((f32[4]), f32[2], u32[]) slice-start(a), slice={[1:3]}, metadata={op_name='x'}
        u = ((f32[4]), f32[2], u32[]) slice-update(s) ROOT d = f32[2] slice-done(u) }""")
    _, start, update, done = module.entry.instructions
    opcodes = " ".join(each.opcode for each in (start, update, done))
    assert opcodes == "async-start async-update async-done"
    wrapped = start.attributes["calls"]
    written = '%slice = f32[2]{0} slice(%param_0), slice={[1:3]}, metadata={op_name="x"}'
    assert str(wrapped.root) == written
    assert wrapped.parameters[0].shape == Shape.parse("f32[4]")
    assert start.attributes["metadata"] == {"op_name": "x"}
    assert module.computations == (wrapped, module.entry)


def test_aliases_belong_to_the_start_unless_the_operation_has_them() -> None:
    aliasing = "output_to_operand_aliasing={{1}: (0, {})}"
    module = hlo.parse(f"""f {{ ROOT p = f32[4] parameter(0) }} ENTRY e {{ a = f32[4] parameter(0)
        s = ((f32[4]), f32[4], u32[]) abs-start(a), {aliasing}
        t = ((f32[4]), f32[4], u32[]) fusion-start(a), kind=kLoop, calls=f, {aliasing} }}""")
    for name, is_outside in {"s": True, "t": False}.items():
        outside = module[name].attributes
        inside = outside["calls"].root.attributes
        assert ("output_to_operand_aliasing" in outside) is is_outside
        assert ("output_to_operand_aliasing" in inside) is not is_outside


def test_an_update_continues_its_start() -> None:
    shape = "((f32[4]), f32[4], u32[])"
    begin = f"ENTRY e {{ a = f32[4] parameter(0) s = {shape} abs-start(a) ROOT u = "
    assert hlo.parse(f"{begin}{shape} abs-update(s) }}").entry.root.opcode == "async-update"
    with pytest.raises(hlo.HloTextError, match="runs in thread main, not t"):
        hlo.parse(f"{begin}{shape} abs-update(s), async_execution_thread='t' }}")
    with pytest.raises(hlo.HloTextError, match="the operand starts abs, not negate"):
        hlo.parse(f"{begin}f32[4] negate-done(s) }}")


def test_a_literal_may_be_a_tuple() -> None:
    text = "(s32[4]{0} {4, 128, 128, 3}, (pred[2]{0} {1, 0}, ()))"
    call = f'custom-call(), custom_call_target="t", literal={text}'
    module = hlo.parse(f"ENTRY e {{ ROOT c = f32[2] {call} }}")
    read = module.entry.root.attributes["literal"]
    assert [element.values for element in read.elements] == [(4, 128, 128, 3), None]
    assert str(read) == text
    assert hlo.parse(str(module)).entry.root.attributes["literal"] == read


INF = float("inf")


def literal(text: str) -> hlo.Literal:
    """The literal of ``c = <shape> constant(<value>)``."""
    found = hlo.parse(f"ENTRY e {{ c = {text} }}").entry.root.literal
    assert found is not None
    return found


CONSTANTS: list[tuple[str, Any, str]] = [
    ("pred[] constant(true)", True, "bool"),
    ("pred[3] constant({1, 0, true})", [True, False, True], "bool"),
    ("s4[3] constant({-8, 7, 0})", [-8, 7, 0], "int8"),
    ("s32[] constant(-7)", -7, "int32"),
    ("u64[] constant(18446744073709551615)", 2**64 - 1, "uint64"),
    ("s64[] constant(-9223372036854775808)", -(2**63), "int64"),
    ("f32[2,2] constant({{1, -2.5e-3}, {inf, -inf}})", [[1, -0.0025], [INF, -INF]], "float32"),
    ("f32[2] constant({1., /*index=1*/-0})", [1, 0], "float32"),
    ("f16[] constant(0.5)", 0.5, "float16"),
    ("bf16[] constant(3e38)", 3e38, "float32"),
    ("f8e4m3fn[] constant(0.5)", 0.5, "float16"),
    ("f64[] constant(0.1)", 0.1, "float64"),
    ("c64[2] constant({(1, 2), (3, -inf)})", [1 + 2j, complex(3, -INF)], "complex64"),
    ("c128[] constant((1, -2))", 1 - 2j, "complex128"),
    ("u64[] constant(-1)", 2**64 - 1, "uint64"),
    ("u64[2] constant({-9223372036854775808, 9223372036854775808})", [2**63, 2**63], "uint64"),
    ("f16[] constant(-65519)", -65504, "float16"),
    ("bf16[] constant(3.39e+38)", 3.39e38, "float32"),
    ("f8e4m3fn[] constant(463)", 463, "float16"),
    ("f32[3] constant(7.0)", [7, 7, 7], "float32"),
    ("s32[2,2] constant(7)", [[7, 7], [7, 7]], "int32"),
    ("pred[2] constant(true)", [True, True], "bool"),
    ("c64[2] constant((1, 2))", [1 + 2j, 1 + 2j], "complex64"),
    ("f32[0] constant(7)", [], "float32"),
    ("f32[0,3] constant({  })", np.zeros((0, 3)), "float32"),
    ("f32[2,0] constant({ {}, {} })", np.zeros((2, 0)), "float32"),
    ("s32[1,1,2] constant({{{1,2}}})", [[[1, 2]]], "int32"),
]


@for_all(CONSTANTS)
def test_values(text: str, values: object, dtype: str) -> None:
    read, expected = literal(text).array, np.array(values, dtype=dtype)
    assert read.dtype == expected.dtype
    assert read.shape == expected.shape
    assert np.array_equal(read, expected)


def test_every_array_type_has_a_numpy_type() -> None:
    for element_type in ElementType:
        if element_type.kind not in {Kind.CONTAINER, Kind.HANDLE}:
            value = "(1, 0)" if element_type.kind is Kind.COMPLEX else "0"
            read = literal(f"{element_type}[] constant({value})").array
            assert read.dtype.itemsize * 8 >= element_type.bits


def test_values_are_exact_and_not_a_number_keeps_its_text() -> None:
    assert literal("s64[1] constant({9007199254740993})").values == (9007199254740993,)
    assert literal("bf16[] constant(0.1)").values == (0.1,)
    assert [type(v) for v in literal("f32[2] constant({1, 2})").values or ()] == [float, float]
    read = literal("f32[3] constant({nan, -nan, nan(0x12)})")
    assert all(isinstance(v, float) and math.isnan(v) for v in read.values or ())
    assert read.text == "{nan, -nan, nan(0x12)}"


def test_elements_are_found_by_their_index() -> None:
    read = literal("s32[2,3] constant({{1,2,3},{4,5,6}})")
    assert [read[place] for place in np.ndindex(2, 3)] == [1, 2, 3, 4, 5, 6]
    assert literal("s32[2] constant({7,8})")[1] == 8
    assert literal("s32[] constant(7)")[()] == 7


@for_all([(2, 0), (0, 3), (-1, 0), (0,), (0, 0, 0), 0])
def test_an_index_outside_is_refused(index: int | tuple[int, ...]) -> None:
    with pytest.raises(ShapeError, match="is no index of"):
        literal("s32[2,3] constant({{1,2,3},{4,5,6}})")[index]


@for_all(["f32[20,20] constant({...})", "(f32[], s32[2]) constant({...})"])
def test_values_that_are_left_out_are_unknown(text: str) -> None:
    read = literal(text)
    assert read.is_elided
    assert str(read).endswith(" {...}")
    for question in (lambda: read.array, lambda: read[3, 3]):
        with pytest.raises(ShapeError, match="not known"):
            question()


def test_a_tuple_holds_literals() -> None:
    read = literal("(f32[], (s32[2], pred[]), ()) constant((1, ({2, 3}, true), ()))")
    number, inner, nothing = read.elements
    assert not read.is_elided
    assert (number.values, inner.elements[0].values, nothing.values) == ((1.0,), (2, 3), ())
    assert inner.elements[1].text == "true"


@for_table("""
f32[] constant({...}) => expected a number
f32[2,2] constant({{...}, {1, 2}}) => expected a number
f32[2,2] constant({{1, 2}, {3}}) => expected 2 elements in these braces, but there are 1
f32[3,0] constant({}) => expected 3 elements in these braces, but there are 0
f32[2] constant({true, 1}) => expected a number
s32[] constant(1e3) => expected an integer
pred[] constant(no) => expected true, false or an integer
(f32[], f32[]) constant((1)) => expected 2 elements of the tuple, but there are 1
(f32[]) constant((1, 2)) => expected 1 elements
""")
def test_a_wrong_constant_is_refused(text: str, message: str) -> None:
    with pytest.raises(hlo.HloTextError, match=re.escape(message)):
        literal(text)
