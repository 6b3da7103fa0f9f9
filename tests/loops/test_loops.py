"""Loops of all kinds: what is said of each, as text."""

from __future__ import annotations

from typing import Final

import pytest

from indexing import IndexingMap
from ops import Loop, LoopError, hlo, loops, output_to_input
from ops.hlo import HloModule
from simplifier.errors import ArgumentError
from tests.ops.answers import only
from tests.ops.test_counted_loops import NESTED, loop

SAID: Final = [
    ("up", loop(), "runs 8 times, array 1 counts from 0 by 1"),
    (
        "down by two",
        loop(9, step=-2, condition="ROOT r = pred[] compare(i, limit), direction=GT", limit=0),
        "runs 5 times, array 1 counts from 9 by -2",
    ),
    (
        "unsigned, up to the last number",
        loop(250, element_type="u8", limit=255),
        "runs 5 times, array 1 counts from 250 by 1",
    ),
    ("once", loop(7), "runs once, array 1 counts from 7 by 1"),
    ("never", loop(8), "runs 0 times"),
    (
        "a start that is data",
        loop(first="n"),
        "runs an unknown number of times: array 1 decides, and its start is not known",
    ),
    (
        "a product",
        loop(1, "j = T[] multiply(i, step)", step=2),
        "runs an unknown number of times: array 1 decides, and iterations add no constant to it",
    ),
    (
        "an array that decides",
        loop(
            condition="""z = f32[] constant(0) q = f32[1] slice(x), slice={[0:1]}
                         p = f32[] reshape(q) ROOT r = pred[] compare(p, z), direction=GT"""
        ),
        "runs an unknown number of times: array 2 decides, and iterations add no constant to it",
    ),
    (
        "a number of eight bits that overflows",
        loop(
            250,
            element_type="u8",
            limit=255,
            condition="ROOT r = pred[] compare(i, limit), direction=LE",
        ),
        "runs an unknown number of times: its counter overflows, or it never ends",
    ),
    (
        "for ever",
        loop(condition="ROOT r = pred[] constant(true)"),
        "runs an unknown number of times: its condition reads nothing that iterations change",
    ),
]


@pytest.mark.parametrize(
    ("module", "said"), [row[1:] for row in SAID], ids=[row[0] for row in SAID]
)
def test_what_is_said_of_a_loop(module: HloModule, said: str) -> None:
    (found,) = loops(module)
    assert str(found) == f"%w {said}"
    assert (found.trip_count is None) == bool(found.unknown)


TWO_COUNTERS: Final = """HloModule two_counters
    increment { a = s32[] parameter(0) one = s32[] constant(1) ROOT r = s32[] add(a, one) }
    body { s = STATE parameter(0)
           p = (s32[], f32[8]) get-tuple-element(s), index=0
           q = (s16[], f32[4]) get-tuple-element(s), index=1
           i = s32[] get-tuple-element(p), index=0 v = f32[8] get-tuple-element(p), index=1
           j = s16[] get-tuple-element(q), index=0 u = f32[4] get-tuple-element(q), index=1
           next = s32[] fusion(i), kind=kLoop, calls=increment
           two = s16[] constant(-2) before = s16[] add(j, two)
           x = f32[2] dynamic-slice(v, i), dynamic_slice_sizes={2} y = f32[2] negate(x)
           written = f32[8] dynamic-update-slice(v, y, j)
           left = (s32[], f32[8]) tuple(next, written) right = (s16[], f32[4]) tuple(before, u)
           ROOT r = STATE tuple(left, right) }
    condition { s = STATE parameter(0) p = (s32[], f32[8]) get-tuple-element(s), index=0
                i = s32[] get-tuple-element(p), index=0 n = s32[] constant(COUNT)
                ROOT r = pred[] compare(i, n), direction=LT }
    ENTRY e { v = f32[8] parameter(0) u = f32[4] parameter(1)
              zero = s32[] constant(0) six = s16[] constant(6)
              p = (s32[], f32[8]) tuple(zero, v) q = (s16[], f32[4]) tuple(six, u)
              s = STATE tuple(p, q) ROOT w = STATE while(s), condition=condition, body=body }"""
"""Element ``i`` and the next are read and, negated, written at ``j``, which goes down from 6."""


def two_counters(count: int) -> HloModule:
    text = TWO_COUNTERS.replace("STATE", "((s32[], f32[8]), (s16[], f32[4]))")
    return hlo.parse(text.replace("COUNT", str(count)))


def test_counters_in_nested_tuples_through_a_fusion_and_downwards() -> None:
    (found,) = loops(two_counters(4))
    assert str(found) == (
        "%w runs 4 times, array 0 counts from 0 by 1, array 2 counts from 6 by -2"
    )
    assert found.induction == 0
    assert [*map(str, found.dependences())] == ["array 1: (k) -> (3), domain: k in [1, 2]"]
    (update,) = found.updates()
    assert str(update) == (
        "array 1 by %written: (k)[s0] -> (s0 - k * 2 + 6), domain: k in [0, 3], s0 in [0, 1]\n"
        "iterations are 2 apart along dimension 0, and each writes 2"
    )


def test_a_counter_that_overflows_is_data() -> None:
    (found,) = loops(two_counters(99_999))
    assert [*found.counters] == [0]
    first, second = found.dependences()
    assert (first.array, first.approximation) == (1, "%j is not known")
    assert str(second) == "array 2: (k) -> (k + 1), domain: k in [0, 99997]"
    (update,) = found.updates()
    assert str(update.conflict()) == (
        "iterations 0 and 1 may both write element (0,): %j is not known"
    )
    assert not update.is_disjoint()


def test_a_loop_that_never_runs_passes_its_operands_on() -> None:
    module = two_counters(0)
    (found,) = loops(module)
    assert (found.trip_count, found.dependences(), found.updates()) == (0, (), ())
    for number, shape in enumerate(module["w"].shape.arrays):
        indexing = only(output_to_input(module["w"], number).indexing[0])
        assert indexing.element == number
        assert indexing.map == IndexingMap.identity(shape.dimensions)


MOVED: Final = """HloModule moved
    body { s = (s32[], f32[1,8,3]) parameter(0) i = s32[] get-tuple-element(s), index=0
           x = f32[1,8,3] get-tuple-element(s), index=1 one = s32[] constant(1)
           next = s32[] add(i, one) t = f32[1,3,8] transpose(x), dimensions={0,2,1}
           flat = f32[24] reshape(t) three = s32[] constant(3) at = s32[] multiply(i, three)
           part = f32[3] slice(flat), slice={[0:3]}
           y = f32[24] dynamic-update-slice(flat, part, at)
           back = f32[1,3,8] reshape(y) z = f32[1,8,3] transpose(back), dimensions={0,2,1}
           ROOT r = (s32[], f32[1,8,3]) tuple(next, z) }
    condition { s = (s32[], f32[1,8,3]) parameter(0) i = s32[] get-tuple-element(s), index=0
                n = s32[] constant(8) ROOT r = pred[] compare(i, n), direction=LT }
    ENTRY e { zero = s32[] constant(0) x = f32[1,8,3] parameter(0)
              s = (s32[], f32[1,8,3]) tuple(zero, x)
              ROOT w = (s32[], f32[1,8,3]) while(s), condition=condition, body=body }"""


def test_an_update_of_a_transpose_is_in_place_if_that_is_undone() -> None:
    (found,) = loops(hlo.parse(MOVED))
    (update,) = found.updates()
    assert str(update) == (
        "array 1 by %y: (k)[s0] -> (0, (k * 3 + s0) mod 8, (k * 3 + s0) floordiv 8), "
        "domain: k in [0, 7], s0 in [0, 2]\nno two iterations write the same element, as isl finds"
    )
    (dependence,) = found.dependences()
    assert str(dependence) == "array 1: (k)[s0] -> (s0), domain: k in [0, 0], s0 in [1, 7]"


def test_an_update_of_a_transpose_that_stays_is_none() -> None:
    text = MOVED.replace("transpose(back), dimensions={0,2,1}", "reshape(back)")
    (found,) = loops(hlo.parse(text))
    assert found.updates() == ()
    assert [*map(str, found.dependences())] == ["array 1: (k) -> (k + 1), domain: k in [0, 6]"]


SCATTERED: Final = """HloModule scattered
    second { a = f32[] parameter(0) ROOT b = f32[] parameter(1) }
    sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
    body { s = (s32[], f32[8]) parameter(0) i = s32[] get-tuple-element(s), index=0
           x = f32[8] get-tuple-element(s), index=1 one = s32[] constant(1) next = s32[] add(i, one)
           two = s32[] constant(2) half = s32[] divide(i, two) at = s32[1] reshape(INDEX)
           new = f32[] constant(5)
           y = f32[8] scatter(x, at, new), update_window_dims={}, inserted_window_dims={0},
               scatter_dims_to_operand_dims={0}, index_vector_dim=0, to_apply=COMBINER
           ROOT r = (s32[], f32[8]) tuple(next, y) }
    condition { s = (s32[], f32[8]) parameter(0) i = s32[] get-tuple-element(s), index=0
                n = s32[] constant(8) ROOT r = pred[] compare(i, n), direction=LT }
    ENTRY e { zero = s32[] constant(0) x = f32[8] parameter(0) s = (s32[], f32[8]) tuple(zero, x)
              ROOT w = (s32[], f32[8]) while(s), condition=condition, body=body }"""


@pytest.mark.parametrize(
    ("index", "combiner", "conflict", "dependences"),
    [
        ("i", "second", "None", []),
        ("i", "sum", "None", []),
        ("half", "second", "iterations 0 and 1 both write element (0,)", []),
        (
            "half",
            "sum",
            "iterations 0 and 1 both write element (0,)",
            ["array 1: (k) -> (k + 1), domain: k in [0, 6], k mod 2 in [0, 0]"],
        ),
    ],
)
def test_a_scatter_reads_what_it_adds_to(
    index: str, combiner: str, conflict: str, dependences: list[str]
) -> None:
    text = SCATTERED.replace("INDEX", index).replace("COMBINER", combiner)
    (found,) = loops(hlo.parse(text))
    (update,) = found.updates()
    assert str(update.conflict()) == conflict
    assert [*map(str, found.dependences())] == dependences


# Loops in loops.

IN_PLACE: Final = (
    NESTED.replace(
        "dynamic_slice_sizes={1}",
        "dynamic_slice_sizes={1} z = f32[1] negate(y) u = f32[12] dynamic-update-slice(v, z, at)",
    )
    .replace("tuple(j, o, v, y)", "tuple(j, o, u, y)")
    .replace("index=3", "index=3 u = f32[12] get-tuple-element(w), index=2")
    .replace("tuple(j, v, y)", "tuple(j, u, y)")
)
"""Each iteration of the inner loop negates the element at ``4 * o + i``."""


def inner_and_outer(module: HloModule) -> tuple[Loop, Loop]:
    found = {loop.instruction.computation.name: loop for loop in loops(module)}
    return found["outer"], found["e"]


def test_iterations_of_a_loop_inside_are_compared_within_one_outside() -> None:
    inner, outer = inner_and_outer(hlo.parse(IN_PLACE))
    assert [*map(str, inner.dependences())] == []
    (update,) = inner.updates()
    assert str(update).startswith("array 2 by %u: (i, k) -> (i * 4 + k), domain: i in [0, 2]")
    assert update.is_disjoint()
    (update,) = outer.updates()
    assert str(update).startswith("array 1 by %u: (k)[s0] -> (k * 4 + s0), domain: k in [0, 2]")
    assert update.is_disjoint()


def test_iterations_of_a_loop_outside_may_meet_where_those_inside_do_not() -> None:
    inner, outer = inner_and_outer(
        hlo.parse(IN_PLACE.replace("four = s32[] constant(4)", "four = s32[] constant(3)"))
    )
    assert [each.is_disjoint() for each in inner.updates()] == [True]
    (update,) = outer.updates()
    assert str(update.conflict()) == "iterations 0 and 1 both write element (3,)"


def test_iterations_of_a_loop_inside_meet_for_each_one_outside() -> None:
    inner, outer = inner_and_outer(hlo.parse(IN_PLACE.replace("add(f, i)", "add(f, o)")))
    (update,) = inner.updates()
    assert str(update.conflict()) == "iterations 0 and 1 both write element (0,), for i = 0"
    (update,) = outer.updates()
    assert str(update.elements[0]) == "(k) -> (k * 5), domain: k in [0, 2]"
    assert update.is_disjoint()


def test_what_a_loop_inside_hides_is_said() -> None:
    _, outer = inner_and_outer(hlo.parse(IN_PLACE))
    (dependence,) = outer.dependences()
    assert dependence.approximation == "%w is known for any %i alone"


def test_a_loop_inside_that_may_not_run_may_not_write() -> None:
    text = IN_PLACE.replace("n = s32[] constant(4)", "n = s32[] get-tuple-element(s), index=1")
    _, outer = inner_and_outer(hlo.parse(text))
    (update,) = outer.updates()
    assert update.approximation in {"%w runs an unknown number of times", "%at is not known"}


def test_offsets_from_outside_are_the_same_in_all_iterations() -> None:
    """Two cases: the offset of the whole block, in a dimension of its own, and the counter."""
    module = hlo.parse("""HloModule cache
        body { s = (s32[], f32[4,16], s32[]) parameter(0)
               i = s32[] get-tuple-element(s), index=0
               cache = f32[4,16] get-tuple-element(s), index=1
               position = s32[] get-tuple-element(s), index=2
               one = s32[] constant(1) next = s32[] add(i, one)
               new = f32[1,1] slice(cache), slice={[0:1], [0:1]}
               written = f32[4,16] dynamic-update-slice(cache, new, i, position)
               ROOT r = (s32[], f32[4,16], s32[]) tuple(next, written, position) }
        condition { s = (s32[], f32[4,16], s32[]) parameter(0)
                    i = s32[] get-tuple-element(s), index=0 n = s32[] constant(4)
                    ROOT r = pred[] compare(i, n), direction=LT }
        ENTRY e { zero = s32[] constant(0) cache = f32[4,16] parameter(0) p = s32[] parameter(1)
                  s = (s32[], f32[4,16], s32[]) tuple(zero, cache, p)
                  ROOT w = (s32[], f32[4,16], s32[]) while(s), condition=condition, body=body }""")
    (found,) = loops(module)
    (update,) = found.updates()
    assert str(update) == (
        "array 1 by %written: (position, k) -> (k, position), domain: position in [0, 15], "
        "k in [0, 3]\niterations are 1 apart along dimension 0, and each writes 1"
    )
    (dependence,) = found.dependences()
    assert str(dependence) == "array 1: (k)[s0] -> (s0), domain: k in [0, 0], s0 in [1, 3]"


def test_a_map_over_iterations_keeps_other_counters() -> None:
    module = hlo.parse(NESTED)
    inner, outer = inner_and_outer(module)
    slice_of = next(each for each in module.computation("inner").instructions if each.name == "y")
    indexing = only(output_to_input(slice_of).indexing[0])
    assert str(indexing).startswith("(d0){rt0, rt1} -> (rt1 * 4 + rt0)")
    assert str(inner.over_iterations(indexing)) == (
        "(k, d1){rt0} -> (rt0 * 4 + k), domain: k in [0, 3], d1 in [0, 0], rt0 in [0, 2]"
    )
    assert str(outer.over_iterations(indexing)) == (
        "(k, d1){rt0} -> (k * 4 + rt0), domain: k in [0, 2], d1 in [0, 0], rt0 in [0, 3]"
    )


# Wrong calls.


def test_questions_about_loops_that_nobody_can_count_are_refused() -> None:
    (found,) = loops(loop(first="n"))
    for question in (found.dependences, found.updates):
        with pytest.raises(LoopError, match="%w: array 1 decides, and its start is"):
            question()
    (found,) = loops(loop(8))
    indexing = only(output_to_input(found.instruction).indexing[0])
    with pytest.raises(LoopError, match="over_iterations: %w: it never runs; expected a loop"):
        found.over_iterations(indexing)


def test_what_is_no_loop_is_refused() -> None:
    module = loop()
    with pytest.raises(LoopError, match="Loop: %y is a copy; expected a while of a module"):
        Loop(module["y"])
    with pytest.raises(ArgumentError, match="Loop: the instruction is 3; expected a while"):
        Loop(3)  # pyright: ignore[reportArgumentType] - that is the error
    with pytest.raises(ArgumentError, match="loops: the module is"):
        loops(module["w"])  # pyright: ignore[reportArgumentType] - that is the error


OWN_WRITES: dict[str, tuple[str, str, int]] = {
    "loop-false-dependence": ("at = s32[] copy(i)", "at", 1),
    "at a constant that is computed": (
        "two = s32[] constant(2) none = s32[] multiply(i, zero) at = s32[] add(none, two)",
        "at",
        2,
    ),
    "at another place in it": ("at = s32[] copy(i) near = s32[] add(i, one)", "near", 1),
    "backwards": ("two = s32[] constant(2) at = s32[] subtract(two, i)", "at", 2),
    "at a place from outside": ("at = s32[] get-tuple-element(s), index=3", "at", 2),
}
"""Where an iteration writes, and where it then reads so many elements of that."""


@pytest.mark.parametrize(("offsets", "read", "size"), OWN_WRITES.values(), ids=OWN_WRITES)
def test_what_an_iteration_wrote_itself_is_of_no_earlier_one(
    offsets: str, read: str, size: int
) -> None:
    state = "(s32[], f32[6], f32[2], s32[])"
    module = hlo.parse(f"""HloModule m
      body {{ s = {state} parameter(0) i = s32[] get-tuple-element(s), index=0
        x = f32[6] get-tuple-element(s), index=1 p = s32[] get-tuple-element(s), index=3
        zero = s32[] constant(0) one = s32[] constant(1) next = s32[] add(i, one) {offsets}
        c = f32[] constant(7) new = f32[2] broadcast(c), dimensions={{}}
        y = f32[6] dynamic-update-slice(x, new, at)
        got = f32[{size}] dynamic-slice(y, {read}), dynamic_slice_sizes={{{size}}}
        last = f32[1] slice(got), slice={{[{size - 1}:{size}]}} element = f32[] reshape(last)
        b = f32[2] broadcast(element), dimensions={{}} ROOT r = {state} tuple(next, y, b, p) }}
      goes_on {{ s = {state} parameter(0) i = s32[] get-tuple-element(s), index=0
        n = s32[] constant(3) ROOT r = pred[] compare(i, n), direction=LT }}
      ENTRY e {{ x = f32[6] parameter(0) b = f32[2] parameter(1) p = s32[] parameter(2)
        zero = s32[] constant(0) s = {state} tuple(zero, x, b, p)
        ROOT w = {state} while(s), condition=goes_on, body=body }}""")
    assert loops(module)[0].dependences() == ()
