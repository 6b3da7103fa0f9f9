"""Loops that count: a ``while`` with a known number of iterations, and its counters.

The state of such a loop has *counters*: integers to which every iteration adds the same number.
One of them decides whether there is another iteration.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from indexing.passes import Constraint
from ops.hlo import Computation, Instruction
from ops.index_maps import dim, index_map
from ops.rules.constant_folding import Element, Given, value_of
from ops.rules.control import kept_by, only_caller, source_of
from simplifier import forms
from simplifier.forms import Form, Interval, floordiv, mod

ZERO: Final = Interval(0, 0)


class Counter(NamedTuple):
    """A scalar of a loop's state: its value in the first iteration, and the step of each one."""

    start: int
    step: int

    def after(self, iterations: Form) -> Form:
        """Its value after so many iterations."""
        return iterations * self.step + self.start

    def values(self, iterations: int) -> Interval:
        """Interval from its least to its greatest value in so many iterations."""
        ends = self.start, self.start + self.step * (iterations - 1)
        return Interval(min(ends), max(ends))


@dataclass(frozen=True, slots=True)
class CountedLoop:
    """A ``while`` that runs ``trip_count`` times.

    ``counters`` are those of its state, by the number of the array. The one that decides, or the
    first, is the ``induction`` variable; ``variable`` is the instruction that reads it in the body.

    >>> from ops import hlo
    >>> module = hlo.parse('''HloModule m
    ... body { s = (f32[], s32[]) parameter(0) x = f32[] get-tuple-element(s), index=0
    ...        i = s32[] get-tuple-element(s), index=1 two = s32[] constant(2)
    ...        j = s32[] subtract(i, two) ROOT r = (f32[], s32[]) tuple(x, j) }
    ... goes_on { s = (f32[], s32[]) parameter(0) i = s32[] get-tuple-element(s), index=1
    ...           zero = s32[] constant(0) ROOT r = pred[] compare(i, zero), direction=GT }
    ... ENTRY e { x = f32[] parameter(0) nine = s32[] constant(9) s = (f32[], s32[]) tuple(x, nine)
    ...           ROOT w = (f32[], s32[]) while(s), condition=goes_on, body=body }''')
    >>> loop = counted_loop(module["w"])
    >>> loop.trip_count, loop.induction, loop.variable
    (5, Counter(start=9, step=-2), <%i = s32[] get-tuple-element(%s), index=1>)
    """

    instruction: Instruction
    trip_count: int
    counters: Mapping[int, Counter]
    induction: Counter
    variable: Instruction

    @property
    def values(self) -> Interval:
        """Interval of the values of the induction variable in the body."""
        return self.induction.values(self.trip_count)

    def iteration(self, value: Form) -> Form:
        """Number of iterations complete when the induction variable has a value."""
        start, step = self.induction
        return floordiv((value - start) * (1 if step > 0 else -1), forms.constant(abs(step)))

    def steps(self, value: Form) -> list[Constraint]:
        """The conditions that the induction variable takes a value, beyond its bounds."""
        start, step = self.induction
        return [] if abs(step) == 1 else [(mod(value - start, forms.constant(abs(step))), ZERO)]

    def given(self, value: Form) -> Given:
        """The values of all counters in the body when the induction variable has a value."""
        return self.given_after(self.iteration(value))

    def given_after(self, iterations: Form) -> Given:
        """The values of all counters in the body after so many iterations."""
        (state,) = self.instruction.attributes["body"].parameters
        return _given(state, self.counters, iterations)


def loops_around(computation: Computation) -> Iterator[CountedLoop]:
    """The counted loops whose bodies run a computation, innermost first.

    The loops around a computation that is called from several places are not known.
    """
    while (caller := only_caller(computation)) is not None:
        if caller.opcode == "while" and caller.attributes["body"] is computation:
            loop = counted_loop(caller)
            if loop:
                yield loop
        computation = caller.computation


@lru_cache(maxsize=1 << 8)
def counted_loop(loop: Instruction) -> CountedLoop | None:
    """The counters of a ``while``; ``None`` if its number of iterations is not known, or 0."""
    body, condition = loop.attributes["body"], loop.attributes["condition"]
    if {only_caller(body), only_caller(condition)} != {loop}:
        return None
    found = counters_of(loop)
    count = _trip_count(condition, found)
    counters = _proved(body, found, count) if count else {}
    if not count or count != _trip_count(condition, counters):
        count = _declared_trip_count(loop)
        counters = _proved(body, found, count)
    if count == 0:
        return None
    deciding = [number for number in counters if _decides(condition, counters, number, count)]
    for number in (*deciding, *counters):
        variable = _reader(body, number)
        if counters[number].step and variable is not None:
            return CountedLoop(loop, count, counters, counters[number], variable)
    return None


def never_runs(loop: Instruction) -> bool:
    """Whether the condition of a ``while`` is known not to hold for the state it begins with."""
    condition = loop.attributes["condition"]
    if only_caller(condition) is not loop:
        return False
    starts = {number: Counter(start, 0) for number, start in _starts(loop)}
    return _holds(condition, starts, Interval(0, 0)) is False


# The counters of a loop.


def counters_of(loop: Instruction) -> dict[int, Counter]:
    """The scalars of a loop's state that may count: the first iteration adds a constant."""
    body = loop.attributes["body"]
    return {
        number: Counter(start, step)
        for number, start in _starts(loop)
        if (step := _step(body, number, Interval(start, start))) is not None
    }


def start_of(loop: Instruction, number: int) -> int | None:
    """The integer that a scalar of the state begins with, if it is known."""
    value = value_of(loop.operands[0], Element(_SCALAR, number=number))
    return value.constant if value is not None and value.is_constant else None


def _starts(loop: Instruction) -> Iterator[tuple[int, int]]:
    """The scalars of the state that begin with a known integer, with that integer."""
    kept = kept_by(loop.attributes["body"])
    for number, array in enumerate(loop.shape.arrays):
        if number not in kept and not array.rank:
            start = start_of(loop, number)
            if start is not None:
                yield number, start


_SCALAR: Final = index_map((), ())


def _step(body: Computation, number: int, values: Interval) -> int | None:
    """The step of a scalar that has some of these values; ``None`` if it varies."""
    given = (((body.parameters[0], number), dim(0)),)
    after = value_of(body.root, Element(index_map((), (values,)), None, given, number))
    if after is None or not (after - dim(0)).is_constant:
        return None
    return (after - dim(0)).constant


def _proved(body: Computation, counters: Mapping[int, Counter], count: int) -> dict[int, Counter]:
    """The counters to which each of so many iterations adds their step."""
    return {
        number: counter
        for number, counter in counters.items()
        if _step(body, number, counter.values(count)) == counter.step
    }


def _given(state: Instruction, counters: Mapping[int, Counter], iterations: Form) -> Given:
    """The values of counters after a number of iterations."""
    return tuple(((state, number), each.after(iterations)) for number, each in counters.items())


def _reader(body: Computation, number: int) -> Instruction | None:
    """The instruction of a body that reads a scalar of the state."""
    (state,) = body.parameters
    readers = (
        each
        for each in body.instructions
        if each.opcode in _READERS and source_of((each, 0), (state,)) == (state, number)
    )
    return next((each for each in readers if not each.shape.is_tuple), None)


_READERS: Final = {"get-tuple-element", "parameter"}


# How often a loop runs.


def _trip_count(condition: Computation, counters: Mapping[int, Counter]) -> int:
    """Number of iterations in which a condition on counters holds; 0 if that is not known.

    The condition is known to hold in the first 1, 2, 4, ... of them, and not in one more.
    """
    least, most = 0, 1
    while most <= MAX_TRIP_COUNT and _holds(condition, counters, Interval(0, most - 1)):
        least, most = most, most * 2
    while most - least > 1:
        middle = (least + most) // 2
        if _holds(condition, counters, Interval(0, middle - 1)):
            least = middle
        else:
            most = middle
    ends = _holds(condition, counters, Interval(least, least)) is False
    return least if ends else 0


def _holds(
    condition: Computation, counters: Mapping[int, Counter], iterations: Interval
) -> bool | None:
    """Whether a condition holds after any of these numbers of iterations, or after none."""
    given = _given(condition.parameters[0], counters, dim(0))
    value = value_of(condition.root, Element(index_map((), (iterations,)), None, given))
    return bool(value.constant) if value is not None and value.is_constant else None


MAX_TRIP_COUNT: Final = 1 << 63
"""No counter of 64 bits takes more values."""


def _decides(
    condition: Computation, counters: Mapping[int, Counter], number: int, count: int
) -> bool:
    """Whether a condition is not known without this counter, but is with it."""
    others = {other: each for other, each in counters.items() if other != number}
    every = Interval(0, count - 1)
    return _holds(condition, others, every) is None and _holds(condition, counters, every) is True


def _declared_trip_count(loop: Instruction) -> int:
    """Number of iterations that XLA declares; 0 if it does not."""
    config = str(loop.attributes.get("backend_config", ""))
    found = re.search(r'"known_trip_count":\{"n":"(\d+)"', config)
    return int(found[1]) if found else 0
