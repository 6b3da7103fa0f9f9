"""Loops of all kinds: what is said of each, as text, and against runs of them in Python."""

from __future__ import annotations

from typing import Final, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing import IndexingMap, IndexRelation
from ops import Loop, LoopError, hlo, loops, output_to_input
from ops.hlo import HloModule
from simplifier.errors import ArgumentError
from tests.extent import seldom
from tests.indexing.tables import each_named, each_row, evaluated, refusals
from tests.indexing.test_index_relation import pairs_of
from tests.ops.answers import only
from tests.ops.test_counted_loops import NESTED, loop
from tests.ops.test_iterations import ARRAYS, COUNTERS, EXACT, NODES, SIZE, Node, Offset, Program


@each_named("""
up: loop() => runs 8 times, array 1 counts from 0 by 1
down by two: loop(9, step=-2, limit=0, condition="ROOT r = pred[] compare(i, limit), direction=GT")
    runs 5 times, array 1 counts from 9 by -2
unsigned, up to the last number: loop(250, element_type="u8", limit=255)
    runs 5 times, array 1 counts from 250 by 1
once: loop(7) => runs once, array 1 counts from 7 by 1
never: loop(8) => runs 0 times
a start that is data: loop(first="n")
    runs an unknown number of times: array 1 decides, and its start is not known
a product: loop(1, "j = T[] multiply(i, step)", step=2)
    runs an unknown number of times: array 1 decides, and iterations add no constant to it
an array that decides: loop(condition="z = f32[] constant(0) q = f32[1] slice(x), slice={[0:1]} p =
        f32[] reshape(q) ROOT r = pred[] compare(p, z), direction=GT")
    runs an unknown number of times: array 2 decides, and iterations add no constant to it
a number of eight bits that overflows: loop(250, element_type="u8", limit=255, condition="ROOT r =
        pred[] compare(i, limit), direction=LE")
    runs an unknown number of times: its counter overflows, or it never ends
for ever: loop(condition="ROOT r = pred[] constant(true)")
    runs an unknown number of times: its condition reads nothing that iterations change
""")
def test_what_is_said_of_a_loop(call: str, said: str) -> None:
    (found,) = loops(evaluated(call, globals()))
    assert str(found) == f"%w {said}"
    assert (found.trip_count is None) == bool(found.unknown)


def counting(count: int, state: str, body: str, start: str, more: str = "") -> Loop:
    """A loop for ``i`` from 0 on, by ``next``: its body, and what makes its first state."""
    text = f"""HloModule counting {more}
        body {{ s = STATE parameter(0) i = s32[] get-tuple-element(s), index=0
               one = s32[] constant(1) next = s32[] add(i, one) {body} }}
        condition {{ s = STATE parameter(0) i = s32[] get-tuple-element(s), index=0
                    n = s32[] constant({count}) ROOT r = pred[] compare(i, n), direction=LT }}
        ENTRY e {{ zero = s32[] constant(0) {start}
                  ROOT w = STATE while(s), condition=condition, body=body }}"""
    (found,) = loops(hlo.parse(text.replace("STATE", state)))
    return found


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
    said = "%w runs 4 times, array 0 counts from 0 by 1, array 2 counts from 6 by -2"
    assert str(found) == said
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
    conflict = "iterations 0 and 1 may both write element (0,): %j is not known"
    assert str(update.conflict()) == conflict
    assert not update.is_disjoint()


def test_a_loop_that_never_runs_passes_its_operands_on() -> None:
    module = two_counters(0)
    (found,) = loops(module)
    assert (found.trip_count, found.dependences(), found.updates()) == (0, (), ())
    for number, shape in enumerate(module["w"].shape.arrays):
        indexing = only(output_to_input(module["w"], number).indexing[0])
        assert indexing.element == number
        assert indexing.map == IndexingMap.identity(shape.dimensions)


MOVED: Final = """
    x = f32[1,8,3] get-tuple-element(s), index=1 t = f32[1,3,8] transpose(x), dimensions={0,2,1}
    flat = f32[24] reshape(t) three = s32[] constant(3) at = s32[] multiply(i, three)
    part = f32[3] slice(flat), slice={[0:3]} y = f32[24] dynamic-update-slice(flat, part, at)
    back = f32[1,3,8] reshape(y) z = f32[1,8,3] transpose(back), dimensions={0,2,1}
    ROOT r = STATE tuple(next, z)"""


def moved(body: str) -> Loop:
    start = "x = f32[1,8,3] parameter(0) s = STATE tuple(zero, x)"
    return counting(8, "(s32[], f32[1,8,3])", body, start)


def test_an_update_of_a_transpose_is_in_place_if_that_is_undone() -> None:
    (update,) = moved(MOVED).updates()
    assert str(update) == (
        "array 1 by %y: (k)[s0] -> (0, (k * 3 + s0) mod 8, (k * 3 + s0) floordiv 8), "
        "domain: k in [0, 7], s0 in [0, 2]\nno two iterations write the same element, as isl finds"
    )
    (dependence,) = moved(MOVED).dependences()
    assert str(dependence) == "array 1: (k)[s0] -> (s0), domain: k in [0, 0], s0 in [1, 7]"


def test_an_update_of_a_transpose_that_stays_is_none() -> None:
    found = moved(MOVED.replace("transpose(back), dimensions={0,2,1}", "reshape(back)"))
    assert found.updates() == ()
    assert [*map(str, found.dependences())] == ["array 1: (k) -> (k + 1), domain: k in [0, 6]"]


SCATTERED: Final = """
    x = f32[8] get-tuple-element(s), index=1 two = s32[] constant(2) half = s32[] divide(i, two)
    at = s32[1] reshape(INDEX) new = f32[] constant(5)
    y = f32[8] scatter(x, at, new), update_window_dims={}, inserted_window_dims={0},
        scatter_dims_to_operand_dims={0}, index_vector_dim=0, to_apply=COMBINER
    ROOT r = STATE tuple(next, y)"""
COMBINERS: Final = """
    second { a = f32[] parameter(0) ROOT b = f32[] parameter(1) }
    sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }"""
EVERY_OTHER: Final = "array 1: (k) -> (k + 1), domain: k in [0, 6], k mod 2 in [0, 0]"
TWICE: Final = "iterations 0 and 1 both write element (0,)"


# index => combiner => conflict => dependences
@each_row(f"""
i => second => None => []
i => sum => None => []
half => second => {TWICE} => []
half => sum => {TWICE} => ['{EVERY_OTHER}']
""")
def test_adding_scatters_read(index: str, combiner: str, conflict: str, dependences: str) -> None:
    body = SCATTERED.replace("INDEX", index).replace("COMBINER", combiner)
    start = "x = f32[8] parameter(0) s = STATE tuple(zero, x)"
    found = counting(8, "(s32[], f32[8])", body, start, COMBINERS)
    (update,) = found.updates()
    assert str(update.conflict()) == conflict
    assert str([*map(str, found.dependences())]) == dependences


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
    text = IN_PLACE.replace("four = s32[] constant(4)", "four = s32[] constant(3)")
    inner, outer = inner_and_outer(hlo.parse(text))
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
    body = """cache = f32[4,16] get-tuple-element(s), index=1
        position = s32[] get-tuple-element(s), index=2
        new = f32[1,1] slice(cache), slice={[0:1], [0:1]}
        written = f32[4,16] dynamic-update-slice(cache, new, i, position)
        ROOT r = STATE tuple(next, written, position)"""
    start = """cache = f32[4,16] parameter(0) p = s32[] parameter(1)
        s = STATE tuple(zero, cache, p)"""
    found = counting(4, "(s32[], f32[4,16], s32[])", body, start)
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
    said = "(k, d1){rt0} -> (rt0 * 4 + k), domain: k in [0, 3], d1 in [0, 0], rt0 in [0, 2]"
    assert str(inner.over_iterations(indexing)) == said
    said = "(k, d1){rt0} -> (k * 4 + rt0), domain: k in [0, 2], d1 in [0, 0], rt0 in [0, 3]"
    assert str(outer.over_iterations(indexing)) == said


(UNCOUNTED,), (NEVER,), MODULE = loops(loop(first="n")), loops(loop(8)), loop()
READ = only(output_to_input(NEVER.instruction).indexing[0])
test_what_is_refused = refusals(globals(), LoopError, ArgumentError)("""
UNCOUNTED.dependences() => %w: array 1 decides, and its start is
UNCOUNTED.updates() => %w: array 1 decides, and its start is
NEVER.over_iterations(READ) => over_iterations: %w: it never runs; expected a loop
Loop(MODULE["y"]) => LoopError: Loop: %y is a copy; expected a while of a module
Loop(3) => ArgumentError: Loop: the instruction is 3; expected a while
loops(MODULE["w"]) => ArgumentError: loops: the module is
""")


# where an iteration writes => the offset, and of how many elements, where it then reads
@each_named("""
loop-false-dependence: at = s32[] copy(i) => at 1
at a constant that is computed:
        two = s32[] constant(2) none = s32[] multiply(i, zero) at = s32[] add(none, two)
    at 2
at another place in it: at = s32[] copy(i) near = s32[] add(i, one) => near 1
backwards: two = s32[] constant(2) at = s32[] subtract(two, i) => at 2
at a place from outside: at = s32[] get-tuple-element(s), index=3 => at 2
""")
def test_what_an_iteration_wrote_itself_is_of_no_earlier_one(offsets: str, read: str) -> None:
    offset, size = read.split()
    body = f"""x = f32[6] get-tuple-element(s), index=1 p = s32[] get-tuple-element(s), index=3
        zero = s32[] constant(0) {offsets} c = f32[] constant(7)
        new = f32[2] broadcast(c), dimensions={{}} y = f32[6] dynamic-update-slice(x, new, at)
        got = f32[{size}] dynamic-slice(y, {offset}), dynamic_slice_sizes={{{size}}}
        last = f32[1] slice(got), slice={{[{int(size) - 1}:{size}]}} element = f32[] reshape(last)
        b = f32[2] broadcast(element), dimensions={{}} ROOT r = STATE tuple(next, y, b, p)"""
    start = """x = f32[6] parameter(0) b = f32[2] parameter(1) p = s32[] parameter(2)
        s = STATE tuple(zero, x, b, p)"""
    assert counting(3, "(s32[], f32[6], f32[2], s32[])", body, start).dependences() == ()


# Dependences between iterations and updates in place, against loops that are run in Python.


def pairs(relation: IndexRelation[IndexingMap]) -> set[tuple[int, int]]:
    return {(first, second) for (first,), (second,) in pairs_of(relation)}


def carried(program: Program) -> dict[int, set[tuple[int, int]]]:
    loop = Loop(hlo.parse(program.loop())["w"])
    return {each.array: pairs(each.iterations) for each in loop.dependences()}


def expected(program: Program) -> dict[int, set[tuple[int, int]]]:
    found, _ = trace(program)
    return {NUMBERS[name]: each for name, each in found.items() if each}


@pytest.mark.parametrize("program", EXACT.values(), ids=EXACT)
def test_dependences_are_those_of_a_run(program: Program) -> None:
    assert carried(program) == expected(program)


programs = st.builds(Program, COUNTERS, NODES, NODES)


@seldom
@given(programs)
def test_dependences_of_random_loops_are_those_of_a_run(program: Program) -> None:
    found, wanted = carried(program), expected(program)
    if is_read_as_it_is(program):
        assert found == wanted
    for array, each in wanted.items():
        assert each <= found[array]


@seldom
@given(programs)
def test_updates_are_disjoint_if_no_element_is_written_twice(program: Program) -> None:
    names = {number: name for name, number in NUMBERS.items()}
    for update in Loop(hlo.parse(program.loop())["w"]).updates():
        written = trace(program)[1][names[update.array]]
        is_disjoint = sum(map(len, written)) == len({place for each in written for place in each})
        assert update.is_disjoint() == is_disjoint
        conflict = update.conflict()
        assert (conflict is None) == is_disjoint
        if conflict is not None:
            (element,) = conflict.element
            assert conflict.first < conflict.second
            assert element in written[conflict.first] & written[conflict.second]
            assert not conflict.approximation


# Loops run in Python, element by element: what each iteration reads and writes.

Element: TypeAlias = "tuple[str, int]"
"""An array of the state, and an index in it."""

Value: TypeAlias = "list[frozenset[Element]]"
"""For each element of an array what it is computed from, as it was when the iteration began."""

NUMBERS: Final = {name: number for number, name in enumerate(ARRAYS, 1)}
"""The numbers of the arrays in the state, behind the counter."""


def trace(loop: Program) -> tuple[dict[str, set[tuple[int, int]]], dict[str, list[frozenset[int]]]]:
    """Which iteration was the last to write what another read, and what each wrote."""
    carried: dict[str, set[tuple[int, int]]] = {name: set() for name in ARRAYS}
    written: dict[str, list[frozenset[int]]] = {name: [] for name in ARRAYS}
    writers: dict[Element, int] = {}
    for iteration, counter in enumerate(loop.counter):
        read: set[Element] = set()
        for name, node in (("x", loop.x), ("y", loop.y)):
            updates, array = _updates(node)
            if array.operation == name:
                read.update(*(each for update in updates for each in _part(update, counter)))
                places = {place for update in updates for place in _window(update, counter)}
            else:
                read.update(*_value(node, counter))
                places = set(range(SIZE))
            written[name].append(frozenset(places))
        for element in read & writers.keys():
            carried[element[0]].add((writers[element], iteration))
        writers |= {(name, each): iteration for name in "xy" for each in written[name][-1]}
    return carried, written


def _updates(node: Node) -> tuple[list[Node], Node]:
    """The updates of an array, the last one first, and the array."""
    found: list[Node] = []
    while node.operation == "update":
        found.append(node)
        node = node.operands[0]
    return found, node


def is_read_as_it_is(program: Program) -> bool:
    """Whether nothing is read of an array of which a part has just been overwritten."""
    waiting: list[Node] = []
    for name, node in (("x", program.x), ("y", program.y)):
        updates, array = _updates(node)
        in_place = array.operation == name
        waiting += [each.operands[1] for each in updates] if in_place else [node]
    while waiting:
        node = waiting.pop()
        if node.operation == "update":
            return False
        waiting += node.operands
    return True


def _value(node: Node, counter: int) -> Value:
    if node.operation in ARRAYS:
        return [frozenset({(node.operation, place)}) for place in range(SIZE)]
    one = _value(node.operands[0], counter)
    match node.operation:
        case "reverse":
            return one[::-1]
        case "shift":
            return [*one[1:], frozenset()]
        case "rotate":
            return one[2:] + one[:2]
        case "update":
            for place, part in zip(_window(node, counter), _part(node, counter), strict=True):
                one[place] = part
            return one
        case _:
            pairs = zip(one, _value(node.operands[1], counter), strict=True)
            return [left | right for left, right in pairs]


def _part(update: Node, counter: int) -> Value:
    first = _clamped(update.offsets[0], counter, update.size)
    return _value(update.operands[1], counter)[first : first + update.size]


def _window(update: Node, counter: int) -> range:
    first = _clamped(update.offsets[1], counter, update.size)
    return range(first, first + update.size)


def _clamped(offset: Offset, counter: int, size: int) -> int:
    factor, first = offset
    return min(max(0, factor * counter + first), SIZE - size)
