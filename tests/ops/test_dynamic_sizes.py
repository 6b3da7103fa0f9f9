"""Dynamic dimensions: maps over sizes that a program gets or computes, as XLA moves elements."""

from __future__ import annotations

import re
from math import prod

import numpy as np
import pytest
import sympy

from benchmarks.coverage import answers
from indexing import parse_map
from ops import Unknown, hlo, input_to_output, output_to_input, parameter_indexing
from simplifier import symbol
from tests.cases import by_name, for_all, pairs
from tests.evaluation import Pair, related
from tests.ops import oracle
from tests.ops.answers import known, only
from tests.ops.opcode_programs import PROGRAMS, Program

# Maps of single instructions; of more, runs of XLA tell below what they relate.

PARAMETERS = """p = f32[<=6,4] parameter(0) q = f32[<=6,4] parameter(1) z = f32[] constant(0)
  i = s32[] parameter(2) j = s32[3,1] parameter(3) u = f32[3,4] parameter(4)
  c = f32[2,<=6,4] parameter(5) k = f32[<=3,4,5] parameter(6) x = f32[2,8,4] parameter(7)
  v = f32[3,2] parameter(8) w = f32[<=3,4] parameter(9) s = f32[4] parameter(10)
  a = f32[?,4] parameter(11) b = f32[?,?] parameter(12) m = f32[<=32] parameter(13)"""

SUM = "sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }"
STEP = """step { a = f32[4] parameter(0) b = f32[4] parameter(1) c = f32[4] add(a, b)
ROOT r = (f32[4], f32[4]) tuple(c, c) }"""

MAPS = by_name("""
reverse => f32[<=6,4] reverse(p), dimensions={0}
    (d0, d1)<p_0> -> (p_0 - d0 - 1, d1), domain: d0 in [0, p_0 - 1], d1 in [0, 3], p_0 in [0, 6]
reshape within => f32[<=48] reshape(c)
    (d0)<c_1> -> (d0 floordiv (c_1 * 4), (d0 floordiv 4) mod c_1, d0 mod 4),
        domain: d0 in [0, c_1 * 8 - 1], c_1 in [1, 6]
reshape into => f32[4,<=8] reshape(m)
    (d0, d1)<m_0> -> ((m_0 floordiv 4) * d0 + d1), domain: d0 in [0, 3], d1 in [0, inf],
        m_0 in [4, 32], d1 * 4 - m_0 in [-inf, -4], m_0 mod 4 in [0, 0]
pad => f32[<=7,4] pad(p, z), padding=1_2x0_0
    (d0, d1)<p_0> -> (d0 - 1, d1), domain: d0 in [1, p_0], d1 in [0, 3], p_0 in [0, 6]
slice => f32[2,4] slice(p), slice={[1:3],[0:4]}
    (d0, d1)<p_0> -> (d0 + 1, d1), domain: d0 in [0, 1], d1 in [0, 3], p_0 in [3, 6]
dynamic slice => f32[2,4] dynamic-slice(p, i, i), dynamic_slice_sizes={2,4}
    (d0, d1){rt0, rt1} -> (d0 + rt0, d1 + rt1), domain: d0 in [0, 1], d1 in [0, 3], rt0 in [0, 4],
        rt1 in [0, 0]
dynamic slice of another => f32[<=6,1] dynamic-slice(p, i, i), dynamic_slice_sizes={6,1}
    (d0, d1){rt0, rt1}<p_0> -> (d0 + rt0, d1 + rt1), domain: d0 in [0, p_0 - 1], d1 in [0, 0],
        rt0 in [0, 0], rt1 in [0, 3], p_0 in [0, 6]
scan => (f32[<=6,4], f32[4]) scan(p, s), dimensions={0}, num_carries=1, to_apply=step
    (d0, d1)[s0]<p_0> -> (s0, d1), domain: d0 in [0, p_0 - 1], d1 in [0, 3], s0 in [0, p_0 - 1],
        p_0 in [1, 6], d0 - s0 in [0, inf]
fft of a batch => c64[<=6,3] fft(p), fft_type=RFFT, fft_length={4}
    (d0, d1)[s0]<p_0> -> (d0, s0), domain: d0 in [0, p_0 - 1], d1 in [0, 2], s0 in [0, 3],
        p_0 in [0, 6]
scaled dot
    f32[<=6,2] scaled-dot(p, y, e, f), lhs_contracting_dims={1}, rhs_contracting_dims={0},
        y = f32[4,2] parameter(14), e = f32[] parameter(15), f = f32[2,2] parameter(16)
    (d0, d1)[s0]<p_0> -> (d0, s0), domain: d0 in [0, p_0 - 1], d1 in [0, 1], s0 in [0, 3],
        p_0 in [0, 6]
all-gather along another dimension
    f32[<=6,8] all-gather(p), replica_groups={{0,1}}, dimensions={1}
    (d0, d1)<p_0> -> (d0, d1 mod 4), domain: d0 in [0, p_0 - 1], d1 in [0, 7], p_0 in [1, 6]
without bound => f32[4,?] transpose(a), dimensions={1,0}
    (d0, d1)<a_0> -> (d1, d0), domain: d0 in [0, 3], d1 in [0, a_0 - 1], a_0 in [0, inf]
reshape without bounds => f32[?,2] reshape(a)
    (d0, d1)<a_0> -> (d0 floordiv 2, (d0 mod 2) * 2 + d1), domain: d0 in [0, a_0 * 2 - 1],
        d1 in [0, 1], a_0 in [1, inf]
reshape from a bound to none => f32[?,4] reshape(p)
    (d0, d1)<p_0> -> (d0, d1), domain: d0 in [0, p_0 - 1], d1 in [0, 3], p_0 in [1, 6]
two sizes => f32[?,?] exponential(b)
    (d0, d1)<b_0, b_1> -> (d0, d1), domain: d0 in [0, b_0 - 1], d1 in [0, b_1 - 1], b_0 in [0, inf],
        b_1 in [0, inf]
bitcast to its own shape => f32[<=6,4] bitcast(p)
    (d0, d1)<p_0> -> (d0, d1), domain: d0 in [0, p_0 - 1], d1 in [0, 3], p_0 in [1, 6]
convolution
    f32[2,?,5] convolution(h, g), window={size=3 pad=1_1}, dim_labels=b0f_0io->b0f,
        h = f32[2,?,4] parameter(14), g = f32[3,4,5] parameter(15)
    (d0, d1, d2)[s0, s1]<h_1> -> (d0, d1 + s0 - 1, s1), domain: d0 in [0, 1], d1 in [0, h_1 - 1],
        d2 in [0, 4], s0 in [0, 2], s1 in [0, 3], h_1 in [1, inf], d1 + s0 - h_1 in [-inf, 0],
        d1 + s0 in [1, inf]
""")


def root_of(text: str) -> hlo.Instruction:
    head = f"HloModule m, replica_count=2 {SUM} {STEP}"
    text, *more = re.split(r", (?=\w = )", text)
    body = " ".join((*more, f"ROOT r = {text}"))
    return hlo.parse(f"{head} ENTRY e {{ {PARAMETERS} {body} }}").entry.root


@for_all(MAPS)
def test_maps_have_sizes_as_parameters(text: str, expected: str) -> None:
    found = only(output_to_input(root_of(text)).indexing[0]).map
    assert str(found) == expected
    assert parse_map(expected) == found


REFUSED = by_name("""
dynamic update => f32[2,8,4] dynamic-update-slice(x, c, i, i, i)
    the start depends on the size of dimension 1 of operand 1
all-gather => f32[<=12,4] all-gather(p), replica_groups={{0,1}}, dimensions={0}
    replicas may have different sizes of dimension 0 of operand 0
all-to-all => f32[<=6,4] all-to-all(p), replica_groups={{0,1}}, dimensions={0}
    replicas may have different sizes of dimension 0 of operand 0
reduce-scatter => f32[<=3,4] reduce-scatter(p), replica_groups={{0,1}}, dimensions={0}, to_apply=sum
    replicas may have different sizes of dimension 0 of operand 0
convolution => f32[2,6,5] convolution(x, k), window={size=3}, dim_labels=b0f_0io->b0f
    offsets depend on the size of dimension 0 of operand 1
collective-permute => f32[<=6,4] collective-permute(p), source_target_pairs={{0,1}}
    replicas may have different sizes of dimension 0 of operand 0
collective-broadcast => f32[<=6,4] collective-broadcast(p), replica_groups={{0,1}}
    replicas may have different sizes of dimension 0 of operand 0
bitcast => f32[<=24] bitcast(p) => the place of an element depends on sizes
""")


@for_all(REFUSED)
def test_what_sizes_do_not_tell_is_unknown(text: str, reason: str) -> None:
    root = root_of(text)
    for answer in (*output_to_input(root).indexing, *input_to_output(root).indexing):
        assert isinstance(answer, Unknown)
        assert answer.reason == f"{root.opcode}: {reason}"


# What XLA does. The true size is an argument of each program.

MOVED = pairs("""
set => ROOT r = s32[<=5,4] set-dimension-size(p, n), dimensions={0}
reverse => ROOT r = s32[<=5,4] reverse(q), dimensions={0,1}
reverse of the last => ROOT r = s32[4,<=5] reverse(t), dimensions={1}
transpose => ROOT r = s32[4,<=5] transpose(q), dimensions={1,0}
reshape within => ROOT r = s32[<=20] reshape(t)
reshape of the first => ROOT r = s32[<=20] reshape(q)
reshape and back => a = s32[<=20] reshape(t) ROOT r = s32[4,<=5] reshape(a)
concatenate => ROOT r = s32[<=10,4] concatenate(q, p), dimensions={0}
concatenate twice => ROOT r = s32[<=15,4] concatenate(q, p, q), dimensions={0}
concatenate along another => ROOT r = s32[<=5,8] concatenate(p, q), dimensions={1}
pad => ROOT r = s32[<=9,4] pad(q, z), padding=1_3x0_0
pad between => ROOT r = s32[<=10,4] pad(q, z), padding=0_1_1x0_0
broadcast => ROOT r = s32[2,<=5,4] broadcast(q), dimensions={1,2}
slice of another => ROOT r = s32[<=5,2] slice(q), slice={[0:5],[1:3]}
negate => ROOT r = s32[<=5,4] negate(q)
sum of dynamic and static => ROOT r = s32[<=5,4] add(q, p)
reduce => ROOT r = s32[4] reduce(q, z), dimensions={0}, to_apply=sum
reduce the others => ROOT r = s32[<=5] reduce(q, z), dimensions={1}, to_apply=sum
dot => ROOT r = s32[4,4] dot(q, q), lhs_contracting_dims={0}, rhs_contracting_dims={0}
dot of dynamic and static
    ROOT r = s32[4,4] dot(q, p), lhs_contracting_dims={0}, rhs_contracting_dims={0}
batches of static and dynamic
    ROOT r = s32[<=5,4,4] dot(p, q), lhs_batch_dims={0}, rhs_batch_dims={0}
dot of batches => ROOT r = s32[<=5,4,4] dot(q, q), lhs_batch_dims={0}, rhs_batch_dims={0}
reduce-window => ROOT r = s32[<=4,4] reduce-window(q, z), window={size=2x1}, to_apply=sum
chain
    a = s32[<=5,4] reverse(q), dimensions={0} b = s32[<=10,4] concatenate(a, q), dimensions={0} ROOT
        r = s32[<=10,4] reverse(b), dimensions={0}
set again
    two = s32[] constant(2) a = s32[<=5,4] set-dimension-size(p, two), dimensions={0} ROOT r =
        s32[<=5,4] set-dimension-size(a, n), dimensions={0}
computed size
    m = s32[] get-dimension-size(q), dimensions={0} one = s32[] constant(1) k = s32[] subtract(m,
        one) a = s32[<=5,4] set-dimension-size(p, k), dimensions={0} ROOT r = s32[<=5,4] reverse(a),
        dimensions={0}
dynamic reshape
    four = s32[] constant(4) m = s32[] multiply(n, four) ROOT r = s32[<=20] dynamic-reshape(t, m)
""")


def running(body: str) -> str:
    return f"""HloModule m
    sum {{ a = s32[] parameter(0) b = s32[] parameter(1) ROOT r = s32[] add(a, b) }}
    ENTRY e {{ p = s32[5,4] parameter(0) n = s32[] parameter(1) z = s32[] constant(0)
      q = s32[<=5,4] set-dimension-size(p, n), dimensions={{0}}
      t = s32[4,<=5] transpose(q), dimensions={{1,0}} {body} }}"""


def of_maps(root: hlo.Instruction, size: int) -> tuple[set[Pair], tuple[int, ...]]:
    """What the maps say for a size: pairs of elements of root and argument, and root's sizes."""
    entry = root.computation
    assert {each.name for each in entry.parameters} == {"p", "n"}
    pairs: set[Pair] = set()
    for each in known(parameter_indexing(root)[entry.parameters[0]]):
        given = {parameter.name: size for parameter in each.map.parameters}
        assert not given or [*given] == ["n"]
        pairs |= related(each.map.substitute(given))
    sizes = [sympy.sympify(each) for each in hlo.true_sizes(root)]
    return pairs, tuple(int(each.subs({symbol("n"): size})) for each in sizes)


def of_xla(text: str, size: int, sizes: tuple[int, ...]) -> set[Pair]:
    """Which elements of the result within its true sizes feel which ones of the argument."""
    program, argument = oracle.program(text), np.arange(1, 21, dtype=np.int32).reshape(5, 4)

    def run(argument: oracle.Array) -> oracle.Array:
        """XLA writes the elements within the true sizes one after the other."""
        (result,) = program(argument, np.int32(size))
        return result.reshape(-1)[: prod(sizes)].reshape(sizes)

    return oracle.felt_by(run, [argument], 0, [1000])


@pytest.mark.needs("jaxlib")
@pytest.mark.parametrize("size", [1, 3, 5])
@pytest.mark.parametrize("body", MOVED.values(), ids=MOVED)
def test_xla_moves_the_same_elements(body: str, size: int) -> None:
    text = running(body)
    expected, sizes = of_maps(hlo.parse(text).entry.root, size)
    inside = {pair for pair in expected if all(a < b for a, b in zip(pair[0], sizes, strict=True))}
    assert inside == of_xla(text, size, sizes)


UNSUPPORTED = [
    "all-reduce(q), replica_groups={{0}}, to_apply=sum",
    "all-to-all(q), replica_groups={{0}}, dimensions={0}",
    "collective-broadcast(q), replica_groups={{0}}",
    "collective-permute(q), source_target_pairs={{0,0}}",
]


@pytest.mark.needs("jaxlib")
@for_all(UNSUPPORTED)
def test_xla_runs_no_collective_on_dynamic_dimensions(operation: str) -> None:
    """Where it would, what it does would be the answer."""
    with pytest.raises(Exception, match=r"Asked to propagate|does not support bounded dynamic"):
        oracle.program(running(f"ROOT r = s32[<=5,4] {operation}"))


# Sizes of a whole program.


def shown_origins(text: str) -> dict[str, str]:
    return {name: str(origin) for name, origin in hlo.size_origins(hlo.parse(text)).items()}


def test_parameters_lead_to_their_origins() -> None:
    text = """ENTRY e { p-q = (f32[<=8], f32[<=4,2]) parameter(0) s0 = s32[] parameter(1)
    a = f32[<=4,2] get-tuple-element(p-q), index=1
    ROOT r = f32[<=4,<=2] set-dimension-size(a, s0), dimensions={1} }"""
    pair = "%p-q = (f32[<=8]{0}, f32[<=4,2]{1,0}) parameter(0)"
    assert shown_origins(text) == {
        "p_q_0_0": f"size of dimension 0 of array 0 of {pair}",
        "p_q_1_0": f"size of dimension 0 of array 1 of {pair}",
        "e_s0": "value of %s0 = s32[] parameter(1)",
    }


def test_names_of_parameters_are_unique() -> None:
    text = """f { p = f32[<=8] parameter(0) n = f32[<=8] custom-call(p), custom_call_target="x"
      ROOT r = f32[<=8] negate(n) }
    ENTRY e { n.0 = f32[<=8] parameter(0) n_0 = s32[] parameter(1)
      a = f32[8] parameter(2) b = f32[<=8] set-dimension-size(a, n_0), dimensions={0}
      ROOT r = f32[<=8] fusion(n.0), kind=kLoop, calls=f }"""
    names = shown_origins(text)
    assert sorted(names) == ["e_n_0", "n_0", "n_0_0"]


CALLS = by_name("""
a fusion has the sizes of its operands
    f { a = f32[<=8] parameter(0) ROOT b = f32[<=8] reverse(a), dimensions={0} }
        ENTRY e { p = f32[<=8] parameter(0) ROOT r = f32[<=8] fusion(p), kind=kLoop, calls=f }
    (d0)<p_0> -> (p_0 - d0 - 1), domain: d0 in [0, p_0 - 1], p_0 in [1, 8]
so has a computation that two calls give one size
    f { a = f32[<=8] parameter(0) ROOT b = f32[<=8] reverse(a), dimensions={0} }
        ENTRY e { p = f32[<=8] parameter(0) q = f32[<=8] call(p), to_apply=f
          ROOT r = f32[<=8] call(q), to_apply=f }
    (d0)<p_0> -> (d0), domain: d0 in [0, p_0 - 1], p_0 in [1, 8]
but not one that they give two
    f { a = f32[<=8] parameter(0) ROOT b = f32[<=8] reverse(a), dimensions={0} }
        ENTRY e { p = f32[<=8] parameter(0) n = s32[] parameter(1) q = f32[<=8] call(p), to_apply=f
          s = f32[<=8] set-dimension-size(q, n), dimensions={0}
          ROOT r = f32[<=8] call(s), to_apply=f }
    the size of dimension 0 of %b differs between runs of %f
nor one that computes sizes and runs twice
    f { a = f32[8] parameter(0) n = s32[] parameter(1)
          b = f32[<=8] set-dimension-size(a, n), dimensions={0}
          c = f32[<=8] reverse(b), dimensions={0} e = s32[] constant(8)
          ROOT d = f32[8] set-dimension-size(c, e), dimensions={0} }
        ENTRY e { p = f32[8] parameter(0) n = s32[] parameter(1) m = s32[] parameter(2)
          q = f32[8] call(p, n), to_apply=f ROOT r = f32[8] call(q, m), to_apply=f }
    set-dimension-size: the size of dimension 0 of %c differs between runs of %f
a loop keeps a size
    c { a = (f32[<=8], pred[]) parameter(0) ROOT b = get-tuple-element(a), index=1 }
        f { a = (f32[<=8], pred[]) parameter(0) b = get-tuple-element(a), index=0
          d = f32[<=8] negate(b) g = get-tuple-element(a), index=1
          ROOT h = tuple(d, g) }
        ENTRY e { p = f32[<=8] parameter(0) t = pred[] constant(true)
          s = tuple(p, t) w = (f32[<=8], pred[]) while(s), condition=c, body=f
          ROOT r = get-tuple-element(w), index=0 }
    (d0)<p_0> -> (d0), domain: d0 in [0, p_0 - 1], p_0 in [1, 8]
or changes it
    c { a = (f32[<=8], s32[]) parameter(0) b = get-tuple-element(a), index=1
          ROOT d = compare(b, b), direction=EQ }
        f { a = (f32[<=8], s32[]) parameter(0) b = get-tuple-element(a), index=0
          n = get-tuple-element(a), index=1 one = s32[] constant(1) m = s32[] subtract(n, one)
          d = f32[<=8] set-dimension-size(b, m), dimensions={0}
          ROOT h = tuple(d, m) }
        ENTRY e { p = f32[<=8] parameter(0) n = s32[] get-dimension-size(p), dimensions={0}
          s = tuple(p, n) w = (f32[<=8], s32[]) while(s), condition=c, body=f
          ROOT r = get-tuple-element(w), index=0 }
    the size of dimension 0 of array 0 of %h differs between runs of %f
""")


@for_all(CALLS)
def test_sizes_go_through_calls(text: str, expected: str) -> None:
    entry = hlo.parse(text).entry
    found = parameter_indexing(entry.root)[entry.parameters[0]]
    assert str(found.reason if isinstance(found, Unknown) else found[0].map).endswith(expected)


def dynamic(program: Program) -> str:
    """The program with dynamic dimensions in place of all others."""
    return re.sub(
        r"(?<=f32\[)[\d,]+(?=\])", lambda sizes: re.sub(r"\d+", r"<=\g<0>", sizes[0]), program.text
    )


@for_all(PROGRAMS)
def test_every_opcode_has_an_answer_for_dynamic_dimensions(program: Program) -> None:
    """It has maps, or is unknown; where sizes have to be numbers, an error of the text says so."""
    module = hlo.parse(dynamic(program))
    try:
        found = [*answers(module.entry.root)]
    except hlo.HloTextError as error:
        found = [error.instruction]
    assert found or not module.entry.root.operands


SET = pairs("""
f32[8] -3 => (d0) -> (0), domain: KNOWN EMPTY
f32[8] 0 => (d0) -> (0), domain: KNOWN EMPTY
f32[8] 5 => (d0) -> (-d0 + 4), domain: d0 in [0, 4]
f32[8] 30 => (d0) -> (-d0 + 7), domain: d0 in [0, 7]
f32[?] 3 => (d0)<x_0> -> (-d0 + 2), domain: d0 in [max(-x_0 + 3, 0), 2], x_0 in [1, inf]
""")


@for_all(SET.items())
def test_a_size_outside_the_dimension_is_nothing_or_all(row: str, expected: str) -> None:
    """XLA masks elements behind the size; with 30, a map led to elements from 22 on."""
    shape, size = row.split()
    module = hlo.parse(f"""ENTRY e {{ x = {shape} parameter(0) n = s32[] constant({size})
      y = f32[<=8] set-dimension-size(x, n), dimensions={{0}}
      ROOT r = f32[<=8] reverse(y), dimensions={{0}} }}""")
    found = parameter_indexing(module.entry.root)[module.entry.parameters[0]]
    assert str(only(found).map) == expected


BESIDE = [
    # the other operand of a sum, and what the map says of sizes
    ("f32[<=4]", "x_0 in [0, 4], y_0 in [0, 4], x_0 - y_0 in [0, 0]"),
    ("f32[4]", "x_0 in [0, 4]"),
]


@for_all(BESIDE)
def test_a_static_operand_is_read_as_far_as_the_result_goes(shape: str, sizes: str) -> None:
    """One of another dynamic size is not: the sizes must be equal."""
    text = f"""ENTRY e {{ x = f32[<=4] parameter(0) y = {shape} parameter(1)
      ROOT r = f32[<=4] add(x, y) }}"""
    for answer in output_to_input(hlo.parse(text).entry.root).indexing:
        assert str(only(answer).map).endswith(f"(d0), domain: d0 in [0, x_0 - 1], {sizes}")
