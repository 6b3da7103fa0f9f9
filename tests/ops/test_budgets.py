"""Programs whose maps multiply: every answer ends, is marked, and holds what is exact."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from unittest.mock import Mock, create_autospec

import pytest

import ops
from indexing import parse_map
from indexing.passes import without_determined_ranges
from indexing.relation import longest_formula
from ops import hlo, limits
from ops.analysis import loops
from ops.dependence import operand_indexing
from ops.dependence.dependence import NOTHING, Dependence
from simplifier.bounds import ranges
from tests.call_counts import calls_of
from tests.cases import for_all
from tests.evaluation import Pair, related
from tests.extent import in_ci
from tests.ops import growing_programs
from tests.ops.answers import known, only

Ways = list[ops.OperandIndexing]

MAPS = "more than 128 different maps"
COMPOSITIONS = "more than 4096 compositions of maps"
FORMULAS = "formulas of more than 160 terms"
CONSTRAINTS = "more than 8 constraints"

ROUNDS = "iterations of a loop along more than 64 different maps"


def entry_of(text: str) -> hlo.Computation:
    return hlo.parse(text).entry


def parameter_ways(text: str) -> tuple[ops.OperandIndexing, ...]:
    """The ways from the root to the first parameter."""
    entry = entry_of(text)
    return known(ops.fusion_indexing(entry.root)[entry.parameters[0]])


def root_ways(text: str) -> tuple[ops.OperandIndexing, ...]:
    (answer,) = ops.output_to_input(entry_of(text).root).indexing
    return known(answer)


def relation(ways: Iterable[ops.OperandIndexing]) -> set[Pair]:
    return {pair for way in ways for pair in related(way.map)}


# Straight on.

BITS = [f"d{n}" for n in range(1, 7)] + [f"s{n}" for n in range(6)]
PERMUTED = "(d0, d1, d2, d3, d4, d5, d6)[s0, s1, s2, s3, s4, s5] -> (d0, s1, s0, s2, s3, s4, s5)"
BLOW_UPS = {
    "copies that are shifted": (
        *(growing_programs.shifted(1000), MAPS),
        "(d0)[s0] -> (s0), domain: d0 in [0, 4999], s0 in [0, 4999]",
    ),
    "permutations of dimensions": (
        *(growing_programs.permuted(100, 7), MAPS),
        f"{PERMUTED}, domain: d0 in [0, 8], {', '.join(f'{bit} in [0, 1]' for bit in BITS)}",
    ),
    "what is looked up in what is looked up": (
        *(growing_programs.looked_up(9), "32 different maps that depend on many values"),
        "(d0)[s0] -> (s0), domain: d0 in [0, 39], s0 in [0, 39]",
    ),
}


@pytest.mark.parametrize(("text", "reason", "expected"), BLOW_UPS.values(), ids=BLOW_UPS)
def test_one_map_for_many_is_marked(text: str, reason: str, expected: str, composed: Ways) -> None:
    (way,) = parameter_ways(text)
    assert (way.approximation, str(way.map)) == (reason, expected)
    assert len(composed) < 2 * limits.MAX_COMPOSITIONS


@in_ci
def test_one_map_takes_the_place_of_butterflies() -> None:
    (way,) = parameter_ways(growing_programs.doubling(12))
    assert way.approximation == MAPS
    assert str(way.map) == "(d0)[s0] -> (s0), domain: d0 in [0, 4095], s0 in [0, 4095]"


COMPOSED = {
    # a program, how many maps lead to its first parameter, and how many are composed for all
    "a diamond that closes": (growing_programs.diamond(1000), 1, 1010),
    "120 permutations, however deep": (growing_programs.permuted(300, 6), 120, 4000),
    "a diamond": (growing_programs.mirrored(1000), 2, 4),
    "a chain": (growing_programs.chain(10_000), 1, 0),
    "nested calls": (growing_programs.nested(1500), 1, 3000),
    "layers": (growing_programs.gradient(100), 3, 40),
    "rows": (growing_programs.rows(100), 2, 200),
}


@pytest.mark.parametrize(("text", "count", "most"), COMPOSED.values(), ids=COMPOSED)
def test_equal_maps_are_composed_once(text: str, count: int, most: int, composed: Ways) -> None:
    entry = entry_of(text)
    found = [ops.parameter_indexing(entry.root, each) for each in entry.root.shape.array_indices]
    ways = known(found[0][entry.parameters[0]])
    assert (len(ways), any(way.approximation for way in ways)) == (count, False)
    assert len(composed) <= most


@for_all(["mirrored", "chain", "nested", "rows"])
def test_work_is_linear_in_depth(name: str) -> None:
    work: list[int] = []
    for depth in (100, 200):
        root = entry_of(getattr(growing_programs, name)(depth)).root
        outputs = root.shape.array_indices
        ask = partial(ops.parameter_indexing, root)
        work.append(calls_of(lambda ask=ask, outputs=outputs: [*map(ask, outputs)]))
    assert work[1] < 2.3 * work[0]


@pytest.mark.parametrize("updates", [2, 3, 7, 20], ids="updates-in-a-row of {}".format)
def test_updates_at_unknown_places_do_not_double_their_maps(updates: int, composed: Ways) -> None:
    """All maps of three updates are exact; of more, one bound is made as soon as they are many."""
    found = parameter_ways(growing_programs.updated(updates))
    if updates <= 3:
        assert len(found) == 2**updates
        assert not any(way.approximation for way in found)
    else:
        (way,) = found
        assert way.approximation == "16 different maps that depend on many values"
    assert len(composed) < 60 + 4 * updates


@pytest.mark.parametrize("layers", [1, 2, 12], ids="layers-of-a-decoder of {}".format)
def test_layers_that_write_a_row_and_read_it_are_one_way(layers: int, composed: Ways) -> None:
    """The row that is read is there, which is no condition; each layer had a range for it."""
    entry = entry_of(growing_programs.decoded(layers))
    found = ops.fusion_indexing(entry.root)
    places = "s0 in [0, 7], rt0 in [0, 7]"
    assert [str(only(found[each]).map) for each in entry.parameters] == [
        "(d0) -> (d0), domain: d0 in [0, 3]",
        "(d0) -> (), domain: d0 in [0, 3]",
        f"(d0)[s0]{{rt0}} -> (s0, d0), domain: d0 in [0, 3], {places}, (rt0 == s0) in [0, 0]",
    ]
    assert len(composed) < 20 + 30 * layers


@pytest.mark.parametrize("updates", [4, 40], ids="updates-in-a-row of {}".format)
def test_updates_in_a_row_solve_few_programs(updates: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """One for facts that are equal; it was 4,318 for 4 updates, each solved again."""
    least = ranges.LinearProgram.minimum
    solved = create_autospec(least, side_effect=least)
    monkeypatch.setattr(ranges.LinearProgram, "minimum", solved)
    parameter_ways(growing_programs.updated(updates))
    assert 0 < solved.call_count < 2000


@in_ci
def test_formulas_do_not_grow_without_end() -> None:
    """A long formula costs much, is too long or limits too much: a chain ends in a range."""
    (way,) = parameter_ways(growing_programs.shuffled(8, 20))
    assert way.approximation in (COMPOSITIONS, FORMULAS, CONSTRAINTS)
    assert longest_formula(way.map) <= limits.MAX_TERMS


def test_what_is_forgotten_is_found_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """However few dependences are interned, the answer is the same."""
    expected = parameter_ways(growing_programs.permuted(6, 4))
    for most in (1, 2, 5):
        monkeypatch.setattr(limits, "MAX_INTERNED", most)
        assert parameter_ways(growing_programs.permuted(6, 4)) == expected


SMALL = {
    "copies that are shifted": (growing_programs.shifted(5, 20), "MAX_MAPS"),
    "butterflies": (growing_programs.doubling(4), "MAX_MAPS"),
    "permutations of dimensions": (growing_programs.permuted(6, 4), "MAX_MAPS"),
    "places that are computed": (growing_programs.looked_up(3, 4), "MAX_MAPS"),
    "many compositions of shifts": (growing_programs.shifted(5, 20), "MAX_COMPOSITIONS"),
    "many compositions of butterflies": (growing_programs.doubling(4), "MAX_COMPOSITIONS"),
    "bits that change places": (growing_programs.shuffled(3, 6), "MAX_TERMS"),
}


@pytest.mark.parametrize(("text", "limit"), SMALL.values(), ids=SMALL)
def test_what_is_exact_is_held(text: str, limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    exact = parameter_ways(text)
    assert not any(way.approximation for way in exact)
    plain = operand_indexing._composed.__wrapped__
    monkeypatch.setattr(operand_indexing, "_composed", plain)
    for most in (1, 2, 4):
        monkeypatch.setattr(limits, limit, most)
        wide = parameter_ways(text)
        assert any(way.approximation for way in wide)
        assert relation(exact) <= relation(wide)


# Round after round.

EVERYTHING = "(d0)[s0] -> (s0), domain: d0 in [0, 199], s0 in [0, 199]"
ON_DEVICE = "(d0)[s0] -> (d0), domain: d0 in [0, 7], s0 in [0, {}]"
LOOPS = {
    # a loop, the one map, and the device that it leads to
    "elements that move": (growing_programs.moved(200), EVERYTHING, ""),
    "more and more elements": (growing_programs.windows(200), EVERYTHING, ""),
    "a ring of devices": (
        *(growing_programs.sent(growing_programs.ring(103)), ON_DEVICE.format(102)),
        "(d0)[s0] -> (s0)",
    ),
    "a broken ring": (
        *(growing_programs.sent(growing_programs.broken_ring(103)), ON_DEVICE.format(106)),
        "(d0)[s0] -> (s0)",
    ),
}


@for_all(LOOPS)
def test_one_map_takes_the_place_of_endless_rounds(text: str, expected: str, device: str) -> None:
    root = entry_of(text).root
    for answer in (ops.output_to_input(root).indexing[0], ops.input_to_output(root).indexing[0]):
        (way,) = known(answer)
        assert str(way.map) == expected
        assert way.approximation == ROUNDS
        on = "" if way.replica_id is None else str(way.replica_id).partition(", domain")[0]
        assert on == device


@pytest.mark.parametrize("count", [6, 10, 20])
def test_constraints_do_not_pile_up(count: int) -> None:
    entry = entry_of(growing_programs.strided_convolutions(count, size=5))
    (way,) = known(ops.parameter_indexing(entry.root)[entry.parameters[0]])
    assert len(way.map.constraints) <= limits.MAX_CONSTRAINTS
    assert way.approximation == (CONSTRAINTS if count > limits.MAX_CONSTRAINTS else "")
    exact = {(place, place) for place, _ in related(way.map)}
    for each in reversed(entry.instructions[2:]):
        pairs = related(ops.output_to_input(each).map())
        exact = {(end, inner) for end, place in exact for begin, inner in pairs if begin == place}
    assert exact <= related(way.map)
    assert way.approximation or exact == related(way.map)


SMALL_LOOPS = {
    "elements that move": growing_programs.moved(9),
    "more and more elements": growing_programs.windows(9),
    "arrays that change places": growing_programs.rotating(5),
}


@pytest.mark.parametrize("text", SMALL_LOOPS.values(), ids=SMALL_LOOPS)
def test_what_rounds_do_is_held(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    exact = root_ways(text)
    for most in (1, 2, 4):
        monkeypatch.setattr(limits, "MAX_MAPS_OF_LOOP", most)
        wide = root_ways(text)
        for element in {way.element for way in exact}:
            held = relation(way for way in wide if way.element == element)
            assert relation(way for way in exact if way.element == element) <= held


def test_wide_states_cost_no_more_than_their_pairs(composed: Ways) -> None:
    ways = root_ways(growing_programs.rotating(100))
    assert (len(ways), any(way.approximation for way in ways)) == (100, False)
    assert len(composed) < 340


# Marks.


def test_ranges_of_equal_maps_in_a_loop_are_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Walks through the arrays of a wide state meet the same maps again and again."""
    counted = Mock(wraps=without_determined_ranges)
    loops._with_fewer_ranges.cache_clear()
    monkeypatch.setattr(loops, "without_determined_ranges", counted)
    module = hlo.load("examples/running_sum.hlo")
    loop = next(each for each in module.entry.instructions if each.opcode == "while")
    for number in loop.shape.array_indices:
        ops.output_to_input(loop, number)
    asked = [call.args for call in counted.call_args_list]
    assert len(asked) == len({*asked}) > 0


def exact(text: str) -> ops.OperandIndexing:
    return ops.OperandIndexing(parse_map(text))


def marked(text: str) -> ops.OperandIndexing:
    return ops.OperandIndexing(parse_map(text), approximation="why")


ROW = "(d0) -> (d0), domain: d0 in [0, 9]"
SOME = marked("(d0)[s0] -> (s0), domain: d0 in [0, 9], s0 in [0, 5]")
LATER = marked("(d0) -> (d0 + 5), domain: d0 in [0, 4]")
ALL = "(d0)[s0] -> (s0), domain: d0 in [0, 9], s0 in [0, 9]"
JOINED = {
    "what is a part goes": ([exact(ROW), marked(ALL)], [marked(ALL)]),
    "what is none stays": ([exact(ROW), SOME], [exact(ROW), SOME]),
    "two marks are one": ([SOME, LATER], [marked(ALL)]),
    "the exact one of two equal maps is left": ([marked(ALL), exact(ALL)], [exact(ALL)]),
    "arrays of a tuple are told apart": ([SOME, LATER.of_element(1)], [SOME, LATER.of_element(1)]),
}


@for_all(JOINED)
def test_of_marked_ways_one_is_left(ways: Ways, expected: Ways) -> None:
    assert NOTHING.union(*(Dependence([way]) for way in ways)) == tuple(expected)


def test_a_mark_is_kept() -> None:
    one, other = marked(ROW), exact(ROW)
    for way in (one.compose(other), other.compose(one), one.simplify()):
        assert way == one != other
        assert str(way).endswith("\napproximation: why")
        assert "why" in way._repr_html_()


def test_results_that_read_little_do_not_wait_for_the_others(composed: Ways) -> None:
    """A chain of sums, which nine parameters go into, stands beside one negation."""
    given = " ".join(f"p{n} = f32[64,8] parameter({n})" for n in range(9))
    sums = " ".join(
        f"""sum{n} = f32[64,8] add(t{n}, p{n}) r{n} = f32[8,64] reshape(sum{n})
        t{n + 1} = f32[64,8] transpose(r{n}), dimensions={{1,0}}"""
        for n in range(9)
    )
    root = entry_of(f"""ENTRY e {{ {given} t0 = f32[64,8] negate(p0) {sums}
      ROOT r = (f32[64,8], f32[64,8]) tuple(t9, t0) }}""").root
    (little,) = ops.parameter_indexing(root, 1).values()
    assert str(little[0].map) == "(d0, d1) -> (d0, d1), domain: d0 in [0, 63], d1 in [0, 7]"
    assert not composed
    assert len(ops.parameter_indexing(root, 0)) == 9
    assert composed
