"""Texts that leave something out: shapes as XLA's parser infers them, and parts of modules."""

from __future__ import annotations

import re
from pathlib import Path
from warnings import catch_warnings

import pytest

from ops import Unknown, hlo, parameter_indexing
from ops.hlo.attributes import ATTRIBUTES, MODULE_ATTRIBUTES
from ops.hlo.opcodes import RETIRED, find_opcode
from simplifier import TextWarning
from tests.cases import for_all, for_named, for_table, pairs
from tests.hlo.module_structure import Structures


@for_table("""
p0 = f32[10] parameter(0) q = f32[10] negate(p0)
    ENTRY e { p0 = f32[10] parameter(0) ROOT q = f32[10] negate(p0) }
y = f32[2] power(f32[2] %b, f32[2] %a)
    ENTRY e { b = f32[2] parameter(0) a = f32[2] parameter(1) ROOT y = f32[2] power(b, a) }
f32[4]{0} power(f32[4]{0}, f32[4]{0})
    ENTRY e { b = f32[4] parameter(0) a = f32[4] parameter(1) ROOT y = f32[4] power(b, a) }
y = f32[2] add(a, a) => ENTRY e { a = f32[2] parameter(0) ROOT y = f32[2] add(a, a) }
ROOT y = f32[2] parameter(0) z = f32[2] negate(y)
    ENTRY e { ROOT y = f32[2] parameter(0) z = f32[2] negate(y) }
g { ROOT x = f32[2] parameter(0) } y = f32[2] call(f32[2] a), to_apply=g
    g { ROOT x = f32[2] parameter(0) }
     ENTRY e { a = f32[2] parameter(0) ROOT y = f32[2] call(a), to_apply=g }
HloModule m: ENTRY e: { x: = f32[2] parameter(0) ROOT y = negate(x:) }
    HloModule m ENTRY e { x = f32[2] parameter(0) ROOT y = negate(x) }
""")
def test_a_scrap_is_read_as_a_module(scrap: str, whole: str) -> None:
    structures = Structures()
    module = hlo.parse(scrap)
    assert structures.of(module) == structures.of(hlo.parse(whole))
    assert structures.of(hlo.parse(str(module))) == structures.of(module)


NOT_SHOWN = pairs("""
computation-not-shown
    p = f32[8,4] parameter(0) z = f32[] constant(0) ROOT r = f32[8] reduce(p, z), dimensions={1},
     to_apply=max
computation-not-shown of a fusion
    %f = bf16[32,32]{1,0:T(8,128)(2,1)S(1)} fusion(bf16[32,64]{1,0:T(8,128)(2,1)S(1)} %a),
     kind=kCustom, calls=%all-reduce-scatter.3
reduce
    r = (f32[8], s32[8]) reduce(f32[8,4] a, s32[8,4] i, f32[] z, s32[] k), dimensions={1},
     to_apply=max
reduce-window => w = f32[2] reduce-window(f32[4] a, f32[] z), window={size=2}, to_apply=add
sort => s = (f32[8], s32[8]) sort(f32[8] a, s32[8] b), dimensions={0}, to_apply=less
while => w = f32[8] while(f32[8] a), condition=c, body=b
conditional
    c = f32[8] conditional(pred[] p, f32[8] a, f32[4] b), true_computation=t, false_computation=f
branches => c = f32[8] conditional(s32[] p, f32[8] a, f32[4] b), branch_computations={t, f}
all-reduce => a = (f32[8], s32[]) all-reduce(f32[8] x, s32[] y), to_apply=add
map => m = pred[8] map(f32[8] a, s32[8] b), to_apply=less, dimensions={0}
scatter
    s = f32[9] scatter(f32[9] a, s32[2,1] i, f32[2] u), update_window_dims={},
     inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add
select-and-scatter
    s = f32[8] select-and-scatter(f32[8] a, f32[4] b, f32[] c), window={size=2 stride=2}, select=ge,
     scatter=add
call => c = f32[4] call(f32[8] a, s32[] i), to_apply=g
async-start => s = ((f32[8]), f32[4], u32[]) async-start(f32[8] a), calls=g
custom-call => c = f32[8] custom-call(f32[8] a), custom_call_target="f", called_computations={g, h}
the same of other types
    a = f32[8] call(f32[8] x), to_apply=g b = f32[4] call(s32[] y), to_apply=g
""")


@for_all(NOT_SHOWN)
def test_computations_that_are_not_shown_are_custom_calls(text: str) -> None:
    module = hlo.parse(text)
    made = [each for each in module.computations if each is not module.entry]
    for each in made:
        assert each.root.opcode == "custom-call"
        target = each.root.attributes["custom_call_target"]
        assert target.startswith(f"%{each.name.split('.')[0]}")
    assert made
    assert str(hlo.parse(str(module))) == str(module)


def test_what_is_not_shown_is_unknown_and_the_rest_is_not() -> None:
    fusion = hlo.parse(NOT_SHOWN["computation-not-shown of a fusion"]).entry.root
    assert str(fusion.shape) == "bf16[32,32]{1,0:T(8,128)(2,1)S(1)}"
    assert fusion.attributes["kind"] == "kCustom"
    found = parameter_indexing(fusion)[fusion.operands[0]]
    assert isinstance(found, Unknown)
    told = "custom-call: no indexing map of %all-reduce-scatter.3, which is not shown"
    assert found.reason == told
    reduce = hlo.parse(NOT_SHOWN["computation-not-shown"]).entry.root
    [way] = [*parameter_indexing(reduce)[reduce.operands[0]].indexings]
    assert str(way.map) == "(d0)[s0] -> (d0, s0), domain: d0 in [0, 7], s0 in [0, 3]"


@for_table("""
x = f32[] conditional(pred[] p, s8[] a, s8[] b), true_computation=t => there are 1 branches
ENTRY e { a = f32[] parameter(0) b = f32[] call(a), to_apply=g } => %g is not defined
""")
def test_scraps_with_such_computations_may_be_wrong(text: str, message: str) -> None:
    with pytest.raises(hlo.HloTextError, match=message):
        hlo.parse(text)


@for_table("""
y = f32[2] reverse(a), dimensions={0} => with its shape before it, such as f32[2] %a
a = f32[2] parameter(0) y = f32[2] reverse(aa), dimensions={0} => did you mean a?
g { ROOT x = f32[2] parameter(0) } y = f32[2] call(f32[2] a), to_apply=gg => did you mean g?
HloModule m y = f32[2] parameter(0) => stand in a computation, such as ENTRY e { ... }
HloModule m is_scheduled=true => a comma is missing before an attribute of the module
""")
def test_hints_are_true(text: str, hint: str) -> None:
    with pytest.raises(hlo.HloTextError) as caught:
        hlo.parse(text)
    assert hint in caught.value.hint


# Shapes, as XLA's parser (jaxlib 0.10.2) infers them, or refused. It does not infer slices and
# barriers, and takes a scale of a scaled dot for its second operand.

BEFORE = """
add { x = f32[] parameter(0) y = f32[] parameter(1) ROOT r = f32[] add(x, y) }
neg { x = f32[2,3] parameter(0) ROOT r = f32[2,3] negate(x) }
cond { x = f32[2,3]{0,1} parameter(0) ROOT r = pred[] constant(true) }
body { x = f32[2,3]{0,1} parameter(0) ROOT r = f32[2,3]{0,1} negate(x) }
row { x = f32[3] parameter(0) c = f32[] parameter(1)
      y = f32[] reduce(x, c), dimensions={0}, to_apply=add ROOT r = (f32[3], f32[]) tuple(x, y) }
rounded { x = f32[] parameter(0) y = f32[] parameter(1) ROOT r = s32[] convert(x) }
ge { x = f32[] parameter(0) y = f32[] parameter(1) ROOT r = pred[] compare(x, y), direction=GE }
pair { x = f32[] parameter(0) y = f32[] parameter(1) v = f32[] parameter(2) w = f32[] parameter(3)
       ROOT r = (f32[], f32[]) tuple(x, y) }
ENTRY e {
  a = f32[2,3]{0,1} parameter(0)  b = f32[3,4] parameter(1)  p = pred[2,3] parameter(2)
  s = f32[] parameter(3)  i = s32[] parameter(4)  c = c64[2,3] parameter(5)
  n = s32[2,3] parameter(6)  t = (f32[2,3], s32[]) parameter(7)  k = token[] after-all()
  d = f64[2] parameter(8)  q = pred[] parameter(9)  u = f32[3] parameter(10)
  m = f32[4,4]{0,1} parameter(11)  v = f32[3,4]{0,1} parameter(12)  h = bf16[3,4] parameter(13)
  j = s32[1] parameter(14)  w = f32[2,1] parameter(15)  g = s32[2] parameter(16)
  x = f32[2,3,4] parameter(17)  y = f32[4,3] parameter(18)
"""

INFERRED = pairs("""
f32[2,3]{0,1}
    abs(a); negate(a); copy(a); add(a, a); clamp(s, a, s); reverse(a), dimensions={0}; sort(a),
     dimensions={0}, to_apply=ge; add-dependency(a, k); domain(a), domain={kind='sharding',
     entry={replicated}, exit={replicated}}; while(a), condition=cond, body=body; conditional(q, a,
     a), true_computation=body, false_computation=body; select-and-scatter(a, a, s),
     window={size=1x1}, select=ge, scatter=add; batch-norm-inference(a, u, u, u, u), epsilon=0.1,
     feature_index=1; scatter(a, j, w), update_window_dims={0}, inserted_window_dims={1},
     scatter_dims_to_operand_dims={1}, index_vector_dim=1, to_apply=add; dynamic-update-slice(a, w,
     i, i)
f32[2,3]{1,0}
    abs(c); select(p, a, a); real(c); imag(c); call(a), to_apply=neg; reduce-window(a, s),
     window={size=1x2 stride=1x2 pad=0_0x1_2}, to_apply=add; conditional(i, a, a),
     branch_computations={neg, body}
s32[2,3]{1,0} => shift-left(n, n); map(a, a), dimensions={0,1}, to_apply=rounded
pred[2,3]{1,0} => not(p)
pred[2,3]{0,1} => compare(a, a), direction=LT; is-finite(a)
c64[2,3]{0,1} => complex(a, a)
c128[2]{0} => complex(d, d)
f32[] => broadcast(s), dimensions={}; broadcast(s)
f32[4,3]{0,1} => transpose(b), dimensions={1,0}
f32[3,2]{1,0}
    transpose(a), dimensions={1,0}; reduce-window(h, s), window={size=1x3}, to_apply=add
f32[4,9]{1,0} => pad(a, s), padding=1_1x2_2_1
f32[2,6]{1,0} => concatenate(a, a), dimensions={1}
f32[2]{0} => reduce(a, s), dimensions={1}, to_apply=add
(f32[], f32[]) => reduce(a, a, s, s), dimensions={0,1}, to_apply=pair
(f32[4]{0}, f32[4]{0}) => reduce(h, h, s, s), dimensions={0}, to_apply=pair
f32[4]{0}
    reduce(h, s), dimensions={0}, to_apply=add; gather(b, i), offset_dims={0},
     collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=0, slice_sizes={1,4}
f32[2,4]{1,0}
    dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}; convolution(a, b),
     dim_labels=bf_io->bf; fft(c), fft_type=IRFFT, fft_length={4}; ragged-dot(a, x, g),
     lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0};
     scaled-dot(a, b, s, s), lhs_contracting_dims={1}, rhs_contracting_dims={0}
f32[3]{0}
    dot(b, b), lhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_batch_dims={0},
     rhs_contracting_dims={1}
(f32[2,3]{0,1}, f32[3,4]{1,0}) => tuple(a, b)
s32[] => get-tuple-element(t), index=1; get-dimension-size(a), dimensions={0}
f32[2,1]{1,0} => reduce-window(a, s), window={size=1x3}, to_apply=add
c64[2,3]{1,0} => fft(c), fft_type=FFT, fft_length={3}
c64[3,3]{1,0} => fft(b), fft_type=RFFT, fft_length={4}
token[] => after-all()
u32[] => partition-id(); replica-id()
f32[<=2,3]{0,1} => set-dimension-size(a, i), dimensions={0}
(f32[3,2]{1,0}, s32[3,2]{1,0}) => topk(b), k=2, largest=true
f32[4,4]{0,1} => cholesky(m)
f32[3,4]{0,1} => triangular-solve(m, v), lower=true, transpose_a=NO_TRANSPOSE
(f32[2,3]{0,1}, f32[3]{0}, f32[3]{0})
    batch-norm-training(a, u, u), epsilon=0.1, feature_index=1; batch-norm-grad(a, u, u, u, a),
     epsilon=0.1, feature_index=1
(f32[2,3]{1,0}, f32[]) => scan(a, s), dimensions={0}, num_carries=1, to_apply=row
f32[2,2,4]{2,1,0}
    ragged-dot(a, y, g), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={1}
(f32[2,3]{1,0}, s32[]) => opt-barrier(t)
f32[2,2]{1,0} => slice(a), slice={[0:2], [0:3:2]}
f32[1,2]{1,0} => dynamic-slice(a, i, i), dynamic_slice_sizes={1,2}
f32[3,4]{1,0}
    dot(h, m), lhs_contracting_dims={1}, rhs_contracting_dims={0}; convolution(h, m),
     dim_labels=bf_io->bf; power(b, h)
bf16[3,3]{1,0} => dot(h, h), lhs_contracting_dims={1}, rhs_contracting_dims={1}
f32[5,4]{1,0} => pad(h, s), padding=1_1x0_0
f32[6,4]{1,0} => concatenate(h, b), dimensions={0}
bf16[3,4]{1,0} => clamp(b, h, h)
""")
"""A shape, and what has it."""

REFUSED = pairs(r"""
the shape of (a )?\w+ cannot be inferred
    convert(a); bitcast(a); reshape(a); iota(), iota_dimension=0; parameter(99); broadcast(a),
     dimensions={0,1}; fusion(a), kind=kLoop, calls=neg
the operands have different sizes => add(a, b); concatenate(a, b), dimensions={0}
no permutation => transpose(a), dimensions={0,0}; transpose(t), dimensions={0,0}
the operands have different ranks => concatenate(a, s), dimensions={1}
expected attribute dimensions of broadcast => broadcast(a)
to_apply has 1 results for 2 inputs => reduce(a, a, s, s), dimensions={0}, to_apply=add
the slice does not fit the operand => slice(a), slice={[0:2]}
a scan without inputs => scan(s), dimensions={0}, num_carries=1, to_apply=neg
has no dimension 2 => concatenate(a, a), dimensions={2}; reduce(a, s), dimensions={2}, to_apply=add
the padding has 1 dimensions => pad(a, s), padding=1_1
is negative => pad(a, s), padding=-9_0x0_0
has no element 2 => get-tuple-element(t), index=2
window has 1 entries; expected 2 => reduce-window(a, s), window={size=3}, to_apply=add
stride 0 in dimension 0 => reduce-window(a, s), window={size=3x1 stride=0x1}, to_apply=add
lhs has rank 2 => convolution(a, b), dim_labels=b0f_0io->b0f
bb in the labels bb_io->bf has other => convolution(a, b), dim_labels=bb_io->bf
fft_length has 1 entries for an operand of rank 0 => fft(s), fft_type=FFT, fft_length={3}
do not fit together
    gather(b, i), offset_dims={0,1}, collapsed_slice_dims={0}, start_index_map={0},
     index_vector_dim=0, slice_sizes={1,4}
""")
"""What is said, and of what."""


def each_of(table: dict[str, str]) -> list[tuple[str, str]]:
    """The operations of a table, with what stands before them."""
    return [(each, said) for said, column in table.items() for each in column.split("; ")]


@for_all(each_of(INFERRED))
def test_shape_is_inferred(text: str, shape: str) -> None:
    module = hlo.parse(f"{BEFORE} ROOT z = {text} }}")
    assert str(module.entry.root.shape) == shape


@for_all(each_of(REFUSED))
def test_shape_has_to_be_written(text: str, message: str) -> None:
    with pytest.raises(hlo.HloTextError, match=message):
        hlo.parse(f"{BEFORE} ROOT z = {text} }}")


# What programs newer than this library write.


@for_named("""
an attribute
    ROOT r = f32[4] add(p, p), origin_of={x={1,2}, y="a, b"}, metadata={op_name="n"}
    no attribute of add is called origin_of; its text is kept
one of several instructions
    q = f32[4] add(p, p), tag=1 ROOT r = f32[4] add(q, p), tag=[2,4]<=[8]T(1,0)
    no attribute of add is called tag; its text is kept (and 1 more)
an operation
    ROOT r = f32[4] frobnicate(p, p), sharding={replicated}
    there is no opcode frobnicate; it is read as a custom call
an attribute of such an operation
    ROOT r = f32[4] frobnicate(p), dimensions={1}
    there is no opcode frobnicate; it is read as a custom call
an attribute of a part of one
    ROOT r = ((f32[4]), f32[4], u32[]) slice-start(p), slice={[0:4]}, tag='a, (b'
    no attribute of slice-start is called tag; its text is kept
""")
def test_what_newer_programs_write_is_kept(body: str, warning: str) -> None:
    with pytest.warns(TextWarning) as caught:
        module = hlo.parse(
            f"HloModule m, heap={{a b}} ENTRY e {{ p = f32[4] parameter(0) {body} }}"
        )
    messages = [str(each.message).partition(": ")[2] for each in caught]
    assert "no attribute of the module is called heap; its text is kept" in messages
    assert warning in messages
    printed = str(module)
    kept = re.findall(r"(?:heap|origin_of|tag|dimensions)=(?:\{.*?\}+|'.*?'|[^ ]+)", body)
    assert all(each in printed for each in ["heap={a b}", *kept])
    with catch_warnings(action="ignore"):
        assert str(hlo.parse(printed)) == printed


def test_an_operation_of_a_newer_program_is_unknown_by_name() -> None:
    with pytest.warns(TextWarning, match=r"1:8: there is no opcode frobnicate"):
        root = hlo.parse("f32[4] frobnicate(f32[4] %p)").entry.root
    found = parameter_indexing(root)[root.operands[0]]
    assert str(found) == "unknown (custom-call: no indexing map of frobnicate)"


@for_named("""
another operation's attribute
    ROOT r = add(p, p), slice={[0:4]}
    expected an attribute of add, but found 'slice'
a computation of a custom call
    ROOT r = f32[4] custom-call(p), custom_call_target="f", body=e
    expected an attribute of custom-call, but found 'body'
a required attribute with a wrong letter
    ROOT r = reverse(p), dimension={0}
    expected an attribute of reverse, but found 'dimension'
a misspelt operation => ROOT r = f32[4] negat(p) => there is no opcode negat
an operation of unknown shape => ROOT r = frobnicate(p) => there is no opcode frobnicate
nothing behind an equals sign => ROOT r = add(p, p), tag= => expected a value, but found '}'
a bracket that is not closed => ROOT r = add(p, p), tag={{x => expected a value, but found '{'
""")
def test_what_no_program_writes_is_an_error(body: str, message: str) -> None:
    with pytest.raises(hlo.HloTextError, match=f"{re.escape(message)}\n"):
        hlo.parse(f"ENTRY e {{ p = f32[4] parameter(0) {body} }}")


# What programs older than this library wrote.

YEARS = Path(__file__).parents[1] / "data" / "hlo" / "years.txt"
INSIDE = {
    *("deduplicated_name", "op_name", "op_type", "preserve_layout", "profile_type"),
    *("scheduling_name", "source_column", "source_end_column", "source_end_line", "source_file"),
    *("source_line", "stack_frame_id", "entry", "exit", "execution_thread"),
}
"""Fields of metadata and domains, and the thread of a computation."""


def test_the_names_of_all_years_are_known() -> None:
    rows = [row.split("|") for row in YEARS.read_text("utf-8").splitlines() if row[0] != "#"]
    assert [int(year) for year, *_ in rows] == [*range(2017, 2027)]
    attributes, opcodes = ({*" ".join(column).split()} for column in [*zip(*rows, strict=True)][1:])
    assert attributes - ATTRIBUTES.keys() - MODULE_ATTRIBUTES.keys() == INSIDE
    assert {each for each in opcodes if find_opcode(each) is None} == RETIRED.keys()


@for_table("""
pred[4] less-than(p, p) => compare(%p, %p), direction=LT
f32[4] cross-replica-sum(p), replica_groups={}, to_apply=g, barrier="", all_reduce_id=1
    all-reduce(%p), replica_groups={}, to_apply=%g, barrier="", all_reduce_id=1
(f32[4]) tuple-select(b, t, t) => custom-call(%b, %t, %t), custom_call_target="tuple-select"
() trace(p) => custom-call(%p), custom_call_target="trace"
f32[4] add(p, p), outer_dimension_partitions={0,2}, metadata={op_type="Add" op_name="sum"}
    add(%p, %p), outer_dimension_partitions={0,2}, metadata={op_type="Add" op_name="sum"}
f32[4] custom-call(p), custom_call_target="f", opaque="a, b"
    custom-call(%p), custom_call_target="f", opaque="a, b"
""")
def test_what_older_programs_wrote_is_read(text: str, printed: str) -> None:
    given = "p = f32[4] parameter(0) b = pred[] constant(true) t = (f32[4]) tuple(p)"
    called = "g { x = f32[] parameter(0) y = f32[] parameter(1) ROOT s = f32[] add(x, y) }"
    root = hlo.parse(f"HloModule m {called} ENTRY e {{ {given} ROOT r = {text} }}").entry.root
    assert str(root).endswith(f" {printed}")
