"""Loops that count: how often they run, and their counter in the maps of their bodies."""

from __future__ import annotations

import operator
import re
from typing import Any, Final

from hypothesis import given
from hypothesis import strategies as st

from ops import fusion_indexing, hlo, output_to_input
from ops.hlo import HloModule
from ops.rules.counted_loops import Counter, counted_loop
from tests.cases import by_name, for_all, pairs
from tests.ops.answers import only

DIRECTIONS: Final[dict[str, Any]] = {
    name: getattr(operator, name.lower()) for name in ("LT", "LE", "GT", "GE", "NE", "EQ")
}

STATE: Final = "(f32[64], T[], f32[8])"


def loop(
    start: int = 0,
    following: str = "j = T[] add(i, step)",
    condition: str = "",
    *,
    direction: str = "LT",
    step: int = 1,
    limit: int = 8,
    element_type: str = "s32",
    round_: str = "y = f32[8] copy(x)",
    config: str = "",
    first: str = "start",
    state: str = STATE,
) -> HloModule:
    """A loop that counts in ``i``, the second of a vector of 64 elements, and one of 8."""
    compared = condition or f"ROOT r = pred[] compare(i, limit), direction={direction}"
    read = f"""s = {state} parameter(0) v = f32[64] get-tuple-element(s), index=0
               i = T[] get-tuple-element(s), index=1 x = f32[8] get-tuple-element(s), index=2
               step = T[] constant({step}) limit = T[] constant({limit})"""
    text = f"""inner {{ a = T[] parameter(0) b = T[] parameter(1)
          ROOT c = T[] add(a, b) }}
        less {{ a = T[] parameter(0) b = T[] parameter(1)
          ROOT c = pred[] compare(a, b), direction=LT }}
        body {{ {read} {following} {round_} ROOT r = {state} tuple(v, j, y) }}
        condition {{ {read} {compared} }}
        ENTRY e {{ v = f32[64] parameter(0) x = f32[8] parameter(1) n = T[] parameter(2)
          start = T[] constant({start}) begin = T[] copy(start) s = {state} tuple(v, {first}, x)
          ROOT w = {state} while(s), condition=condition, body=body{config} }}"""
    return hlo.parse(text.replace("T[]", f"{element_type}[]"))


def declared(count: int) -> str:
    return f', backend_config={{"known_trip_count":{{"n":"{count}"}}}}'


def made(call: str) -> HloModule:
    return eval(call, {"loop": loop, "declared": declared})  # noqa: S307 - of the tables below


TRIPS: Final = by_name("""
up => loop() => 8 from 0 by 1
up by three => loop(1, step=3) => 3 from 1 by 3
down => loop(9, step=-2, direction="GT", limit=0) => 5 from 9 by -2
down by subtraction => loop(7, "j = T[] subtract(i, step)", direction="GE", limit=0)
    8 from 7 by -1
at most => loop(direction="LE") => 9 from 0 by 1
not yet => loop(direction="NE") => 8 from 0 by 1
the limit first => loop(condition="ROOT r = pred[] compare(limit, i), direction=GT")
    8 from 0 by 1
negated => loop(condition="t = pred[] compare(i, limit), direction=GE ROOT r = pred[] not(t)")
    8 from 0 by 1
through a fusion => loop(following="j = T[] fusion(i, step), kind=kLoop, calls=inner")
    8 from 0 by 1
through a call => loop(following="j = T[] call(i, step), to_apply=inner") => 8 from 0 by 1
a fused condition => loop(condition="ROOT r = pred[] fusion(i, limit), kind=kLoop, calls=less")
    8 from 0 by 1
through copies => loop(following="k = T[] copy(i) l = T[] add(k, step) j = T[] copy(l)")
    8 from 0 by 1
through a tuple
    loop(following="t = (T[], T[]) tuple(step, i) k = T[] get-tuple-element(t), index=1
        j = T[] add(k, step)")
    8 from 0 by 1
through a conversion
    loop(following="k = s64[] convert(i) one = s64[] constant(1) l = s64[] add(k, one)
        j = T[] convert(l)")
    8 from 0 by 1
a copied start => loop(first="begin") => 8 from 0 by 1
bytes => loop(250, element_type="u8", limit=255) => 5 from 250 by 1
declared, and data decides
    loop(condition="z = f32[] constant(0) q = f32[1] slice(x), slice={[0:1]} p = f32[] reshape(q)
        ROOT r = pred[] compare(p, z), direction=GT", config=declared(6))
    6 from 0 by 1
the condition is right where the declaration is not => loop(config=declared(6)) => 8 from 0 by 1
""")
"""A loop, and how often it runs, with which start and step."""


@for_all(TRIPS)
def test_how_often_a_loop_runs(module: str, expected: str) -> None:
    found = counted_loop(made(module)["w"])
    assert found is not None
    assert "{} from {} by {}".format(found.trip_count, *found.induction) == expected
    assert found.variable.name == "i"


UNCOUNTED: Final = pairs("""
never runs => loop(8)
runs for ever => loop(step=-1, direction="NE", limit=1)
the limit is data
    loop(condition="k = T[] multiply(i, i) ROOT r = pred[] compare(k, i), direction=NE")
a product => loop(1, "j = T[] multiply(i, step)", step=2)
it stops in between
    loop(following="j0 = T[] add(i, step) five = T[] constant(5) j = T[] minimum(j0, five)")
it overflows => loop(250, element_type="u8", limit=255, direction="LE")
misses its limit and overflows => loop(step=3, element_type="u8", direction="NE")
the start is data => loop(first="n")
""")


@for_all(UNCOUNTED)
def test_a_loop_without_a_counter_has_none(module: str) -> None:
    assert counted_loop(made(module)["w"]) is None


@given(
    st.integers(-20, 20), st.integers(-5, 5), st.integers(-20, 20), st.sampled_from([*DIRECTIONS])
)
def test_trip_counts_are_those_of_python(start: int, step: int, limit: int, direction: str) -> None:
    goes_on = DIRECTIONS[direction]
    count, value = 0, start
    while count < 100 and goes_on(value, limit):
        count, value = count + 1, value + step
    found = counted_loop(loop(start, direction=direction, step=step, limit=limit)["w"])
    is_counted = step and 0 < count < 100
    assert (found.trip_count if found else 0) == (count if is_counted else 0)


def test_all_types_of_integers_count() -> None:
    for bits in (8, 16, 32, 64):
        for kind in "su":
            assert counted_loop(loop(element_type=f"{kind}{bits}")["w"]) is not None


OFFSETS: Final = by_name("""
times eight => e = T[] constant(8) o = T[] multiply(i, e)
    (d0){rt0} -> (rt0 * 8 + d0), domain: d0 in [0, 7], rt0 in [0, 7]
it is clamped => e = T[] constant(8) k = T[] add(i, e) o = T[] multiply(k, e)
    (d0) -> (d0 + 56), domain: d0 in [0, 7]
some are clamped => e = T[] constant(10) o = T[] multiply(i, e)
    (d0){rt0} -> (min(rt0 * 10, 56) + d0), domain: d0 in [0, 7], rt0 in [0, 7]
steps of eight => o = T[] copy(i)
    (d0){rt0} -> (d0 + rt0), domain: d0 in [0, 7], rt0 in [0, 56], rt0 mod 8 in [0, 0]
    dict(step=8, limit=64)
downwards => o = T[] copy(i)
    (d0){rt0} -> (d0 + rt0), domain: d0 in [0, 7], rt0 in [0, 56], rt0 mod 8 in [0, 0]
    dict(start=56, step=-8, limit=0, direction="GE")
negative offsets are clamped => e = T[] constant(-8) o = T[] multiply(i, e)
    (d0) -> (d0), domain: d0 in [0, 7]
as JAX reads from behind
    z = T[] constant(0) e = T[] constant(64) m = pred[] compare(i, z), direction=LT
        k = T[] add(i, e) o = T[] select(m, k, i)
    (d0){rt0} -> (d0 + rt0), domain: d0 in [0, 7], rt0 in [0, 7]
""")


@for_all(OFFSETS)
def test_offsets_are_over_the_counter(row: tuple[str, ...]) -> None:
    offset, expected, *more = row
    parts: dict[str, Any] = eval(more[0]) if more else {}  # noqa: S307 - of the table above
    round_ = f"{offset} y = f32[8] dynamic-slice(v, o), dynamic_slice_sizes={{8}}"
    module = loop(round_=round_, **parts)
    indexing = only(output_to_input(module["y"]).indexing[0])
    first, *origin = str(indexing).split("\n")
    assert first == expected
    assert {line.partition(" = ")[0] for line in origin} <= {"rt0: %i"}


def test_two_offsets_are_over_one_counter() -> None:
    """A slice at ``4 * i`` of a slice at ``i + 1``: both offsets are one variable."""
    offset = """f = T[] constant(4) g = T[] multiply(i, f) h = T[] add(i, step)
                u = f32[40] dynamic-slice(v, h), dynamic_slice_sizes={40} o = T[] copy(g)"""
    last = loop(round_=f"{offset} y = f32[8] dynamic-slice(u, o), dynamic_slice_sizes={{8}}")["y"]
    indexing = only(fusion_indexing(last)[last.computation["v"]])
    assert str(indexing).startswith("(d0){rt0} -> (rt0 * 5 + d0 + 1), domain")


LOOP_IN_LOOP: Final = """HloModule nested
    inner { s = INNER parameter(0) i = get-tuple-element(s), index=0
      o = get-tuple-element(s), index=1 v = get-tuple-element(s), index=2
      one = s32[] constant(1) j = s32[] add(i, one)
      four = s32[] constant(4) f = s32[] multiply(o, four) at = s32[] add(f, i)
      y = f32[1] dynamic-slice(v, at), dynamic_slice_sizes={1} ROOT r = INNER tuple(j, o, v, y) }
    inside { s = INNER parameter(0) i = get-tuple-element(s), index=0 n = s32[] constant(4)
      ROOT r = pred[] compare(i, n), direction=LT }
    outer { t = OUTER parameter(0) i = get-tuple-element(t), index=0
      v = get-tuple-element(t), index=1 x = get-tuple-element(t), index=2
      zero = s32[] constant(0) one = s32[] constant(1) j = s32[] add(i, one)
      s = INNER tuple(zero, i, v, x) w = INNER while(s), condition=inside, body=inner
      y = get-tuple-element(w), index=3 ROOT r = OUTER tuple(j, v, y) }
    outside { t = OUTER parameter(0) i = get-tuple-element(t), index=0 n = s32[] constant(3)
      ROOT r = pred[] compare(i, n), direction=LT }
    ENTRY e { v = f32[12] parameter(0) x = f32[1] parameter(1) zero = s32[] constant(0)
      t = OUTER tuple(zero, v, x) ROOT w = OUTER while(t), condition=outside, body=outer }"""
STATES: Final = {"OUTER": "(s32[], f32[12], f32[1])", "INNER": "(s32[], s32[], f32[12], f32[1])"}
NESTED: Final = re.sub("OUTER|INNER", lambda name: STATES[name[0]], LOOP_IN_LOOP)


def test_nested_loops_have_a_counter_each() -> None:
    module = hlo.parse(NESTED)
    (inner,) = (each for each in module.computations if each.name == "inner")
    indexing = only(output_to_input(inner["y"]).indexing[0])
    first, *origins = str(indexing).split("\n")
    assert first == (
        "(d0){rt0, rt1} -> (rt1 * 4 + rt0), domain: d0 in [0, 0], rt0 in [0, 3], rt1 in [0, 2]"
    )
    assert [each.instruction.computation.name for each in indexing.runtime] == ["inner", "outer"]
    assert len(origins) == len(indexing.runtime)


def test_of_two_counters_the_one_that_ends_the_loop_is_its_variable() -> None:
    module = hlo.parse("""
        body { s = (s32[], s32[]) parameter(0) i = get-tuple-element(s), index=0
          j = get-tuple-element(s), index=1 one = s32[] constant(1) two = s32[] constant(2)
          k = s32[] add(i, one) l = s32[] add(j, two) ROOT r = tuple(k, l) }
        goes_on { s = (s32[], s32[]) parameter(0) j = get-tuple-element(s), index=1
          n = s32[] constant(16) ROOT r = compare(j, n), direction=LT }
        ENTRY e { z = s32[] constant(0) s = (s32[], s32[]) tuple(z, z)
          ROOT w = (s32[], s32[]) while(s), condition=goes_on, body=body }""")
    found = counted_loop(module["w"])
    assert found is not None
    assert (found.trip_count, found.induction, found.variable.name) == (8, Counter(0, 2), "j")
