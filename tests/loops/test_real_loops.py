"""The loops of the real modules: what maps say, against runs in which one element is another.

One iteration runs as a program of its own, and all of them together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from tests.cases import for_all
from tests.extent import in_ci
from tests.loops.documentation import LOOPS, PAGE, table
from tests.loops.real_loops import Iteration, all_loops, different_loops, whole
from tests.loops.test_loops import pairs
from tests.ops.oracle import Array, same
from tests.ops.perturbation import Trial, tallies
from tests.ops.tested_computations import Subject
from tests.pages import generated_in

every_loop = for_all(lambda: [*different_loops()])


def exact() -> list[str]:
    """Scans without data in their offsets."""
    return [name for name in different_loops() if "control_flow" in name]


@in_ci
def test_the_loops_of_real_modules_count_unless_data_decides() -> None:
    unknown = {name: loop.unknown for name, loop in all_loops().items() if loop.unknown}
    decides = "array 1 decides, and iterations add no constant to it"
    assert len(all_loops()) - len(unknown) == 33
    assert {*unknown.values()} == {decides}
    assert all("control_flow" in name for name in unknown)


@in_ci
def test_the_page_has_the_table() -> None:
    page = PAGE.read_text("utf-8")
    assert generated_in(page, LOOPS) == table(), "run python -m tests.loops.documentation"


@pytest.mark.needs("jax")
@every_loop
def test_what_an_iteration_reads_is_what_its_results_feel(name: str) -> None:
    loop = different_loops()[name]
    count = loop.trip_count or 0
    for number in sorted({0, count // 2, count - 1}):
        found = tallies(Iteration(loop, number), trials=2, most=16)
        assert [tally for tally in found if not tally.is_sound] == []
        assert any(tally.felt for tally in found if tally.operand not in loop.counters)


@pytest.mark.needs("jax")
@every_loop
def test_what_a_loop_reads_is_what_its_results_feel(name: str) -> None:
    module = whole(different_loops()[name])
    found = tallies(Subject(module.entry), trials=2, most=16)
    assert [tally for tally in found if not tally.is_sound] == []
    if name in exact():
        assert [tally for tally in found if not tally.is_exact] == []


@pytest.mark.needs("jax")
@every_loop
def test_counters_end_where_they_are_said_to(name: str) -> None:
    loop = different_loops()[name]
    trial = Trial(Subject(whole(loop).entry), 0)
    for number, counter in loop.counters.items():
        assert trial.before[number] == counter.start + counter.step * (loop.trip_count or 0)


@pytest.mark.needs("jax")
@every_loop
def test_an_iteration_feels_earlier_ones_only_as_it_is_said(name: str) -> None:
    loop = different_loops()[name]
    said = {each.array: pairs(each.iterations) for each in loop.dependences()}
    first, felt = Iteration(loop, 0), dict[int, set[tuple[int, int]]]()
    for trial in range(3):
        for array, pair in _felt_in(first, Trial(first, trial).operands):
            felt.setdefault(array, set()).add(pair)
    for array, each in felt.items():
        assert each <= said[array]
    is_exact = any(not each.approximation for each in loop.dependences())
    assert felt or not is_exact


@pytest.mark.needs("jax")
@for_all(exact)
def test_iterations_without_dependences_run_in_any_order(name: str) -> None:
    loop = different_loops()[name]
    assert not loop.dependences()
    assert all(update.is_disjoint() for update in loop.updates())
    body = Iteration(loop, 0)
    first = Trial(body, 0).operands
    order = np.random.default_rng(0).permutation(loop.trip_count or 0)
    assert (order != np.sort(order)).any()
    after = [_run_in(order, body, first), _run_in(np.sort(order), body, first)]
    for update in loop.updates():
        one, other = (state[update.array] for state in after)
        assert same(one, other).all()
        assert not same(one, first[update.array]).all()


def _run_in(order: Array, body: Iteration, state: Sequence[Array]) -> Sequence[Array]:
    """The state after the iterations of these numbers, one after the other."""
    for number in order:
        given = [each.copy() for each in state]
        for array, counter in body.loop.counters.items():
            given[array][...] = counter.start + counter.step * number
        state = _next(body, given)
    return state


def _felt_in(first: Iteration, state: list[Array]) -> Iterator[tuple[int, tuple[int, int]]]:
    """Pairs of iterations of which the second feels what the first has written to an array."""
    loop, states = first.loop, [state]
    count = min(loop.trip_count or 0, 8)
    for _ in range(count):
        states.append(_next(first, states[-1]))
    changing = [number for number in range(len(states[0])) if number not in loop.counters]
    for number in range(count - 1):
        for array in changing:
            before, after = (states[each][array] for each in (number, number + 1))
            written = [*np.argwhere(~same(before, after))]
            for place in written[:: max(1, len(written) // 4)]:
                reader = _reader(first, states, number, array, tuple(place))
                if reader is not None:
                    yield array, (number, reader)


def _next(body: Iteration, state: Sequence[Array]) -> list[Array]:
    return body.run(state)[: len(state)]


def _reader(
    body: Iteration, states: list[list[Array]], number: int, array: int, place: tuple[int, ...]
) -> int | None:
    """The first iteration that feels another value of an element that one has written."""
    state = [each.copy() for each in states[number + 1]]
    state[array][place] += state[array].dtype.type(3)
    for reader in range(number + 1, len(states) - 1):
        kept, state = state[array][place], _next(body, state)
        differs = [~same(*pair) for pair in zip(state, states[reader + 1], strict=True)]
        is_kept = bool(same(state[array][place], kept))
        differs[array][place] = False
        if any(each.any() for each in differs):
            return reader
        if not is_kept:
            return None
    return None
