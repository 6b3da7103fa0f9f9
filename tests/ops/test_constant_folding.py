"""Values that are known before a program runs: rows of a gather, against XLA."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing import IndexingMap, parse_map
from indexing.domain import Ends
from indexing.transform.hull import MAX_VALUES
from ops import fusion_indexing, hlo
from ops.rules.constant_folding import Element, bounds_of, clamped, value_of
from simplifier import Interval
from simplifier.expr import form as forms
from tests.cases import for_all, for_rows
from tests.evaluation import related
from tests.extent import examples
from tests.ops.answers import only
from tests.ops.oracle import moved
from tests.ops.programs import by_paragraph, drawn

# Programs that compute numbers of rows, of which all are known.

SOURCES = by_paragraph("""
NEW = VECTOR iota(), iota_dimension=0

NEW.1 = s32[2,6] iota(), iota_dimension=1 NEW.2 = s32[1,6] slice(NEW.1), slice={[1:2], [0:6]}
NEW = VECTOR reshape(NEW.2)

NEW.1 = s32[] constant(-3..8) NEW = VECTOR broadcast(NEW.1), dimensions={}

NEW = VECTOR constant({8, 6, 4, 2, 0, -2})

NEW = VECTOR constant({-3, -2, -1, 0, 1, 2})
""")

ARITHMETIC = [f"NEW = VECTOR {name}(A, B)" for name in ("add", "subtract", "maximum", "minimum")]
STEPS = ARITHMETIC + by_paragraph("""
NEW.1 = s32[] constant(-3..8) NEW.2 = s32[] constant(-3..8) NEW = VECTOR clamp(NEW.1, A, NEW.2)

NEW.1 = s32[] constant(1..3) NEW.2 = VECTOR broadcast(NEW.1), dimensions={}
NEW = VECTOR multiply(A, NEW.2)

NEW.1 = VECTOR broadcast(zero), dimensions={} NEW.2 = VECTOR maximum(A, NEW.1)
NEW.3 = s32[] constant(1..3) NEW.4 = VECTOR broadcast(NEW.3), dimensions={}
NEW = VECTOR divide(NEW.2, NEW.4)

NEW.1 = VECTOR broadcast(zero), dimensions={} NEW.2 = VECTOR maximum(A, NEW.1)
NEW.3 = s32[] constant(1..3) NEW.4 = VECTOR broadcast(NEW.3), dimensions={}
NEW = VECTOR remainder(NEW.2, NEW.4)

NEW = VECTOR reverse(A), dimensions={0}

NEW.1 = s64[6] convert(A) NEW = VECTOR convert(NEW.1)

NEW.1 = s32[6,2] broadcast(A), dimensions={0} NEW.2 = s32[2,6] transpose(NEW.1), dimensions={1,0}
NEW.3 = s32[1,6] slice(NEW.2), slice={[0:1], [0:6]} NEW = VECTOR reshape(NEW.3)

NEW.1 = s32[6,1] reshape(A) NEW.2 = s32[6,1] reshape(B)
NEW.3 = s32[6,3] concatenate(NEW.1, NEW.2, NEW.1), dimensions={1}
NEW.4 = s32[6,1] slice(NEW.3), slice={[0:6], [1:2]} NEW = VECTOR reshape(NEW.4)

NEW.1 = s32[] constant(0..4) NEW.2 = VECTOR broadcast(NEW.1), dimensions={}
NEW.3 = VECTOR maximum(A, NEW.2) NEW.4 = s32[] constant(-2..0)
NEW.5 = VECTOR broadcast(NEW.4), dimensions={} NEW.6 = pred[6] compare(NEW.3, NEW.5), direction=LT
NEW = VECTOR select(NEW.6, B, NEW.3)
""")
"""Of a division only what is not negative is divided, by what is positive; of a choice one side is
never chosen, as in programs that let indices count from the end."""


@st.composite
def gathers(draw: st.DrawFn) -> str:
    """Modules that gather rows whose numbers they compute from nothing."""
    names: list[str] = []
    lines = [drawn(draw, names, SOURCES) for _ in range(draw(st.integers(1, 3)))]
    lines += [drawn(draw, names, STEPS) for _ in range(draw(st.integers(0, 5)))]
    computed = "\n".join(lines).replace("VECTOR", "s32[6]")
    return f"""HloModule m ENTRY e {{ x = s32[6,2] parameter(0) zero = s32[] constant(0) {computed}
      ROOT r = s32[6,2] gather(x, {names[-1]}), offset_dims={{1}}, collapsed_slice_dims={{0}},
        start_index_map={{0}}, index_vector_dim=1, slice_sizes={{1,2}} }}"""


@pytest.mark.needs("jaxlib")
@examples(80)
@given(gathers())
def test_known_values_are_those_that_xla_computes(text: str) -> None:
    entry = hlo.parse(text).entry
    way = only(fusion_indexing(entry.root)[entry.parameters[0]])
    assert not way.map.runtime
    assert related(way.map) == moved(text, 0)


# Programs of one more instruction each, and what is known of its value at d0.

KNOWN = [
    ("a table", "s32[4] constant({5, 3, 1, -1})", "d0 * -2 + 5"),
    ("an iota that overflows", "s8[200] iota(), iota_dimension=0", None),
    ("an iota", "s8[128] iota(), iota_dimension=0", "d0"),
    ("a table of no pattern", "s32[4] constant({5, 3, 3, -1})", "5, 3, 3, -1"),
    ("an unsigned difference", "u32[4] subtract(u, u5)", None),
    ("a sum", "u32[4] add(u, u5)", "d0 + 5"),
    ("what does not fit", "s8[4] convert(large)", None),
    ("what fits", "s16[4] convert(large)", "d0 * 100"),
    ("a product of two", "s32[4] multiply(i, i)", None),
    ("division of negative values", "s32[4] divide(m, i2)", "-(d0 floordiv 2)"),
    ("division by a negative value", "s32[4] divide(i, minus)", "-(d0 floordiv 2)"),
    ("division of values of both signs", "s32[4] divide(both_signs, i2)", "0, 0, 0, 1"),
    ("what division leaves", "s32[4] remainder(both_signs, minus)", "-1, 0, 1, 0"),
    ("division by what may be 0", "s32[4] divide(i, i)", None),
    ("a float", "s32[4] convert(f)", None),
    ("a parameter", "s32[4] add(i, p)", None),
    ("a choice that is not decided", "s32[4] select(below, i, m)", "0, 1, -2, -3"),
    ("a choice of what is not known", "s32[4] select(below, i, p)", None),
    ("a choice between equals", "s32[4] select(never, p, i)", "d0"),
    ("predicates", "pred[4] and(never, below)", "0"),
    ("one of two predicates", "pred[4] xor(below, pattern)", "0, 1, 1, 0"),
    ("any of two predicates", "pred[4] or(below, pattern)", "1, 1, 1, 0"),
    ("a comparison", "pred[4] compare(i, i2), direction=EQ", "0, 0, 1, 0"),
    ("a comparison of what may overflow", "pred[4] compare(p, i2), direction=EQ", None),
    ("bits", "s32[4] and(i, i2)", "0, 0, 2, 2"),
    ("bits of negative values", "s32[4] or(m, i2)", "2, -1, -2, -1"),
    ("bits that differ", "s32[4] xor(m, i2)", "2, -3, -4, -1"),
    ("bits turned", "s32[4] not(i)", "-d0 - 1"),
    ("bits turned of what has no sign", "u8[4] not(small)", "-d0 + 255"),
    ("signs", "s32[4] sign(both_signs)", "-1, 0, 1, 1"),
    ("shifted to the left", "s32[4] shift-left(m, i2)", "d0 * -4"),
    ("shifted out", "s8[4] shift-left(tiny, six)", None),
    ("shifted by too much", "s8[4] shift-left(tiny, nines)", None),
    ("shifted to the right", "s32[4] shift-right-arithmetic(m, ones)", "0, -1, -1, -2"),
    ("shifted to the right without sign", "s32[4] shift-right-logical(i, ones)", "d0 floordiv 2"),
    ("shifted with a sign as without", "s32[4] shift-right-logical(m, ones)", None),
    ("shifted by nothing", "s32[4] shift-left(m, zeros)", "-d0"),
    ("half of large values", "u8[4] shift-right-arithmetic(far, one8)", None),
    ("a decided predicate", "pred[4] not(never)", "1"),
    ("an absolute value", "s32[4] abs(m)", "d0"),
    ("clamped the wrong way round", "s32[4] clamp(nine, i, two)", "2"),
    ("padded with the same", "s32[4] pad(twos, two), padding=1_1", "2"),
    ("padded with another", "s32[4] pad(twos, nine), padding=1_1", None),
    ("two halves", "s32[4] concatenate(twos, others), dimensions={0}", "2, 2, 9, 9"),
    ("two equal halves", "s32[4] concatenate(twos, twos), dimensions={0}", "2"),
    ("one side", "s32[4] reshape(left)", "d0"),
    ("the other side", "s32[4] reshape(right)", None),
    ("a bitcast without map", "s32[3] bitcast(i)", None),
    ("beside a bitcast without map", "s32[7] concatenate(i, x), dimensions={0}", None),
    ("a call", "s32[4] call(i), to_apply=more", "d0 + 1"),
    ("an element of a tuple", "s32[4] get-tuple-element(both), index=1", "-d0"),
]
"""A name, an instruction, and its value."""

KNOWN_TEXT = """HloModule m more {{ a = s32[4] parameter(0) o = s32[] constant(1)
  ones = s32[4] broadcast(o), dimensions={{}} ROOT b = s32[4] add(a, ones) }}
ENTRY e {{ p = s32[4] parameter(0) i = s32[4] iota(), iota_dimension=0 u = u32[4] convert(i)
  m = s32[4] negate(i) five = u32[] constant(5) u5 = u32[4] broadcast(five), dimensions={{}}
  two = s32[] constant(2) nine = s32[] constant(9) i2 = s32[4] broadcast(two), dimensions={{}}
  hundred = s32[] constant(100) i100 = s32[4] broadcast(hundred), dimensions={{}}
  large = s32[4] multiply(i, i100) f = f32[4] convert(i)
  below = pred[4] compare(i, i2), direction=LT never = pred[4] compare(i, m), direction=LT
  negative = s32[] constant(-2) minus = s32[4] broadcast(negative), dimensions={{}}
  one = s32[] constant(1) ones = s32[4] broadcast(one), dimensions={{}}
  both_signs = s32[4] subtract(i, ones) pattern = pred[4] constant({{true, false, true, false}})
  small = u8[4] iota(), iota_dimension=0 tiny = s8[4] iota(), iota_dimension=0
  bits8 = s8[] constant(6) six = s8[4] broadcast(bits8), dimensions={{}} nine8 = s8[] constant(9)
  nines = s8[4] broadcast(nine8), dimensions={{}} far = u8[4] constant({{200, 201, 202, 203}})
  single = u8[] constant(1) one8 = u8[4] broadcast(single), dimensions={{}}
  twos = s32[2] broadcast(two), dimensions={{}} others = s32[2] broadcast(nine), dimensions={{}}
  column = s32[4,1] reshape(i) another = s32[4,1] reshape(p)
  pair = s32[4,2] concatenate(column, another), dimensions={{1}}
  left = s32[4,1] slice(pair), slice={{[0:4], [0:1]}}
  right = s32[4,1] slice(pair), slice={{[0:4], [1:2]}} both = (s32[4], s32[4]) tuple(i, m)
  x = s32[3] bitcast(i) zero = s32[] constant(0) zeros = s32[4] broadcast(zero), dimensions={{}}
  ROOT r = {instruction} }}"""


@for_all({row[0]: row[1:] for row in KNOWN})
def test_what_is_known_of_values(instruction: str, expected: str | None) -> None:
    root = hlo.parse(KNOWN_TEXT.format(instruction=instruction)).entry.root
    place = IndexingMap.identity(root.shape.dimensions)
    value = value_of(root, Element(place))
    if value is None:
        assert expected is None
        return
    simple = IndexingMap.from_forms([value], place.domain).simplify()
    (values,) = simple.evaluate([np.arange(root.shape.dimensions[0])])
    listed = ", ".join(map(str, np.broadcast_to(values, root.shape.dimensions).tolist()))
    is_form = str(simple).startswith(f"(d0) -> ({expected}), domain")
    assert is_form or listed == expected, simple


# Values that only a call can ask for.


def test_indices_beyond_a_table_have_no_values() -> None:
    root = hlo.parse("ENTRY e { ROOT c = s32[4] constant({5, 3, 1, -1}) }").entry.root
    for by, first in ((-1, 7), (1, 3)):
        place = parse_map(f"(d0) -> (d0 + {by}), domain: d0 in [0, 3]")
        assert str(value_of(root, Element(place))) == f"d0 * -2 + {first}"


def test_a_long_table_of_a_sum_has_a_value_and_one_that_is_left_out_has_none() -> None:
    count = MAX_VALUES + 1
    values = ", ".join(str(3 * number + 1) for number in range(count))
    root = hlo.parse(f"ENTRY e {{ ROOT c = s32[{count}] constant({{{values}}}) }}").entry.root
    assert str(value_of(root, Element(IndexingMap.identity([count])))) == "d0 * 3 + 1"
    root = hlo.parse("ENTRY e { p = s32[4] parameter(0) ROOT c = s32[4] popcnt(p) }").entry.root
    assert bounds_of(root, Element(IndexingMap.identity([4]))) == Interval(0, 32)
    root = hlo.parse("ENTRY e { ROOT c = s32[4] constant({...}) }").entry.root
    assert bounds_of(root, Element(IndexingMap.identity([4]))) == Interval(-(2**31), 2**31 - 1)


@pytest.mark.parametrize(("steps", "is_known"), [(1, True), (30, True), (40, False)])
def test_a_value_is_followed_through_some_instructions(steps: int, is_known: bool) -> None:
    lines = " ".join(f"v{at + 1} = s32[4] negate(v{at})" for at in range(steps))
    text = f"ENTRY e {{ v0 = s32[4] iota(), iota_dimension=0 {lines} ROOT r = copy(v{steps}) }}"
    value = value_of(hlo.parse(text).entry.root, Element(IndexingMap.identity([4])))
    assert (value is not None) == is_known


ENDS = {
    "max(min(x, 5), 0)": (0, 5),
    "max(x, 0)": (0, None),
    "min(x, 5)": (None, 5),
    "x": (None, None),
}


@for_all(ENDS.items())
def test_a_value_is_clamped_by_its_ends(expected: str, ends: tuple[int | None, int | None]) -> None:
    lower, upper = (None if end is None else forms.constant(end) for end in ends)
    found = clamped(forms.variable("x"), Ends(lower, upper), IndexingMap.identity([9]))
    assert str(found) == expected


# Values over a size that is not known.

BY_SIZES = [
    ("a size", "s32[] copy(n)", "~x_0"),
    ("a multiple", "s32[4] multiply(i, sizes)", "d0 * ~x_0"),
    ("a quotient", "s32[4] divide(i, sizes)", "d0 floordiv ~x_0"),
    ("a remainder", "s32[4] remainder(i, sizes)", "d0 mod ~x_0"),
    ("a quotient of what is negative", "s32[4] divide(m, sizes)", None),
    ("a quotient by what is no size", "s32[4] divide(i, more)", None),
    ("a multiple of what is no size", "s32[4] multiply(i, more)", None),
    ("a choice by a size", "s32[4] select(large, i, m)", "select(~x_0 >= 4, d0, -d0)"),
    ("a choice of what is not known", "s32[4] select(large, p, i)", None),
    ("another one", "s32[4] select(large, i, p)", None),
    ("a choice by values", "s32[4] select(some, i, m)", None),
]


@for_rows(BY_SIZES)
def test_values_over_a_size(instruction: str, expected: str | None) -> None:
    text = f"""ENTRY e {{
      x = f32[<=9] parameter(0) p = s32[4] parameter(1) some = pred[4] parameter(2)
      n = s32[] get-dimension-size(x), dimensions={{0}} sizes = s32[4] broadcast(n), dimensions={{}}
      i = s32[4] iota(), iota_dimension=0 m = s32[4] negate(i) more = s32[4] add(i, sizes)
      four = s32[] constant(4) is_large = pred[] compare(n, four), direction=GE
      large = pred[4] broadcast(is_large), dimensions={{}} ROOT r = {instruction} }}"""
    root = hlo.parse(text).entry.root
    dims = "(d0)" if root.shape.rank else "()"
    bounds = "d0 in [0, 3], " if root.shape.rank else ""
    place = parse_map(f"{dims}<x_0> -> {dims}, domain: {bounds}x_0 in [1, 9]")
    value = value_of(root, Element(place))
    assert (None if value is None else str(value)) == expected
    elsewhere = IndexingMap.identity(root.shape.dimensions)
    assert value_of(root, Element(elsewhere)) is None
