"""A ``while`` of a program: how often it runs, and what its iterations have to do with each other.

An iteration depends on an earlier one if it reads what that one wrote. Two iterations are in
conflict if both write the same element.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from indexing import IndexingMap, IndexRelation, flow_dependences
from ops.dependence.operand_indexing import OperandIndexing
from ops.hlo.module import HloModule, Instruction
from ops.loops.accesses import Accesses
from ops.loops.iteration_space import IterationSpace
from ops.loops.trip_counts import why_not_counted
from ops.loops.updates import InPlaceUpdate
from ops.rules.counted_loops import counted_loop, never_runs
from ops.rules.registry import REGISTRY, check_registry
from simplifier.errors import IndexingError, check_type
from simplifier.exact import BUDGET

if TYPE_CHECKING:
    from collections.abc import Mapping

    from indexing import IndexSet
    from ops.loops.accesses import Write
    from ops.rules.counted_loops import CountedLoop, Counter
    from ops.rules.registry import Registry
    from simplifier.exact import Budget


class LoopError(IndexingError, ValueError):
    """A question about a loop that needs to know how often it runs."""


def loops(module: HloModule, *, registry: Registry = REGISTRY) -> tuple[Loop, ...]:
    """The loops of a module, in the order of its text.

    >>> from ops import hlo
    >>> for loop in loops(hlo.load("examples/running_sum.hlo")):
    ...     print(loop)
    %loop runs 8 times, array 0 counts from 0 by 1
    """
    check_type(module, HloModule, "loops: the module", "an HloModule, as hlo.parse makes it")
    found = (each for each in module.instructions if each.opcode == "while")
    return tuple(Loop(each, registry) for each in found)


@dataclass(frozen=True)
class Loop:
    """A ``while``, and what is known of its iterations, which are counted from 0.

    The state of the loop is the tuple that an iteration makes a new one of. Its arrays have
    numbers, counted through nested tuples. Some are ``counters``: integers to which every
    iteration adds a constant. They are known in each iteration, so no iteration waits for them.

    >>> from ops import hlo
    >>> loop = Loop(hlo.load("examples/running_sum.hlo")["loop"])
    >>> loop.trip_count, loop.counters
    (8, {0: Counter(start=0, step=1)})
    >>> for dependence in loop.dependences():
    ...     print(dependence)
    array 1: (k) -> (k + 1), domain: k in [0, 6]
    >>> for update in loop.updates():
    ...     print(update)
    array 3 by %new_sums: (k)[s0] -> (k, s0), domain: k in [0, 7], s0 in [0, 3]
    iterations are 1 apart along dimension 0, and each writes 1
    """

    instruction: Instruction
    registry: Registry = REGISTRY

    def __post_init__(self) -> None:
        expected = "a while of a module"
        check_type(self.instruction, Instruction, "Loop: the instruction", expected)
        if self.instruction.opcode != "while":
            given = self.instruction
            raise LoopError(f"Loop: %{given.name} is a {given.opcode}; expected {expected}")
        check_registry("Loop", self.registry)

    # How often it runs.

    @property
    def trip_count(self) -> int | None:
        """How often the loop runs; ``None`` if that is not known, and ``unknown`` says why."""
        if self._counted:
            return self._counted.trip_count
        return 0 if self._never_runs else None

    @cached_property
    def unknown(self) -> str:
        """Why it is not known how often the loop runs; empty if it is."""
        is_known = self.trip_count is not None
        return "" if is_known else why_not_counted(self.instruction, self.registry)

    @property
    def counters(self) -> Mapping[int, Counter]:
        """The counters among the arrays of the state, by number: where they start, and the step."""
        return self._counted.counters if self._counted else {}

    @property
    def induction(self) -> int | None:
        """The number of the counter that decides, which is a runtime variable of the maps."""
        own = self._counted.induction if self._counted else None
        return next((number for number, each in self.counters.items() if each is own), None)

    @cached_property
    def _counted(self) -> CountedLoop | None:
        return counted_loop(self.instruction)

    @cached_property
    def _never_runs(self) -> bool:
        return never_runs(self.instruction)

    def __str__(self) -> str:
        name = f"%{self.instruction.name}"
        if self.trip_count is None:
            return f"{name} runs an unknown number of times: {self.unknown}"
        counters = (
            f", array {number} counts from {each.start} by {each.step}"
            for number, each in self.counters.items()
        )
        times = "once" if self.trip_count == 1 else f"{self.trip_count} times"
        return f"{name} runs {times}" + "".join(counters)

    # What iterations have to do with each other.

    def over_iterations(self, indexing: OperandIndexing) -> IndexingMap:
        """A map of an instruction in the body, with the iteration ``k`` as its first dimension.

        Other runtime variables stay: counters of other loops, and data.

        Raises:
            LoopError: it is not known how often the loop runs, or it never does.
        """
        expected = "an OperandIndexing, such as ops.output_to_input gives"
        check_type(indexing, OperandIndexing, "over_iterations: the indexing", expected)
        return self._iterations("over_iterations").over(indexing)

    def dependences(self, *, budget: Budget = BUDGET) -> tuple[LoopDependence, ...]:
        """Which iterations read what which earlier ones wrote, for each array of the state.

        A read depends on the last write before it, as in :func:`indexing.flow_dependences`.
        Arrays that no iteration reads after an earlier one wrote them are left out, and so are
        counters. A loop takes milliseconds for each array; what takes longer than the budget ends
        with a ``BudgetError``.

        Raises:
            LoopError: it is not known how often the loop runs.
        """
        if self.trip_count == 0:
            return ()
        iterations = self._iterations("dependences")
        found: list[LoopDependence] = []
        for number in range(len(self.instruction.shape.arrays)):
            writes, doubt = iterations.written(number)
            reads, approximation = iterations.read(number)
            if writes is not None and reads is not None:
                if doubt:
                    carried = writes.compose(reads.inverse(budget=budget), budget=budget).to_later()
                else:
                    carried = flow_dependences(writes, reads, budget=budget)
                numbers = iterations.numbers(carried, budget)
                if numbers:
                    found.append(LoopDependence(number, numbers, doubt or approximation))
        return tuple(found)

    def updates(self) -> tuple[InPlaceUpdate, ...]:
        """The arrays of the state that iterations update in place, and which elements they write.

        Raises:
            LoopError: it is not known how often the loop runs.
        """
        if self.trip_count == 0:
            return ()
        iterations = self._iterations("updates")
        by_array: dict[int, list[Write]] = defaultdict(list)
        for write in iterations.accesses.writes:
            if write.is_in_place:
                by_array[write.array].append(write)
        return tuple(InPlaceUpdate.of(writes, iterations) for writes in by_array.values())

    def _iterations(self, question: str) -> IterationSpace:
        if self._known_iterations is None:
            reason = self.unknown or "it never runs"
            message = f"{question}: %{self.instruction.name}: {reason}"
            raise LoopError(f"{message}; expected a loop of a known number of iterations")
        return self._known_iterations

    @cached_property
    def _known_iterations(self) -> IterationSpace | None:
        counted = self._counted
        if counted is None:
            return None
        return IterationSpace(counted, Accesses(self.instruction, counted.counters, self.registry))


@dataclass(frozen=True)
class LoopDependence:
    """Which iterations read what earlier ones wrote to an array of the state.

    ``iterations`` lead from the one that writes to the ones that read. If there is an
    ``approximation``, some of these may not happen, and it says why; none is left out.
    """

    array: int
    iterations: IndexRelation[IndexingMap]
    approximation: str = ""

    @cached_property
    def distances(self) -> IndexSet:
        """By how many iterations reads come after writes."""
        return self.iterations.distances()

    def __str__(self) -> str:
        reason = f"\nat most: {self.approximation}" if self.approximation else ""
        return f"array {self.array}: {self.iterations}{reason}"
