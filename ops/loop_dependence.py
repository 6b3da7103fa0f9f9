"""A ``while`` of a program: its number of iterations, and dependences between these.

An iteration depends on an earlier one if it reads what that one wrote. Two iterations are in
conflict if both write the same element.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Final, NamedTuple

from indexing import IndexingMap, IndexRelation, IndexSet, Variable, flow_dependences
from indexing.passes import Domain, substituted_constraints
from ops.analysis.queries import flow_in, input_to_output
from ops.dependence.dependence import NOTHING, AnyDependence, called_by, identity_of, of_element
from ops.dependence.operand_indexing import OperandIndexing, RuntimeOrigin
from ops.devices import is_number_of_device
from ops.hlo import Computation, Instruction
from ops.hlo.module import MODULE, HloModule, with_callees
from ops.hlo.opcodes import REARRANGE
from ops.index_maps import dim, dimensions_of, index_map, runtime_value, symbol
from ops.rules.control import Array, kept_by, only_caller, source_of
from ops.rules.counted_loops import (
    CountedLoop,
    Counter,
    counted_loop,
    counters_of,
    never_runs,
    start_of,
)
from ops.rules.registry import REGISTRY, Registry, check_registry
from ops.rules.rule import Direction, Unknown
from simplifier import forms
from simplifier.errors import IndexingError, check_type
from simplifier.exact import BUDGET, Budget
from simplifier.forms import EVERYTHING, Form, Interval, substitute
from simplifier.tools.display import AnswerTuple, Displayed

# A `while` of a program: its number of iterations, and dependences between these.


class LoopError(IndexingError, ValueError):
    """A question about a loop that needs to know how often it runs."""


def loops(module: HloModule, *, registry: Registry = REGISTRY) -> AnswerTuple[Loop]:
    """The loops of a module, in the order of its text.

    >>> from ops import hlo
    >>> for loop in loops(hlo.load("examples/running_sum.hlo")):
    ...     print(loop)
    %loop runs 8 times, array 0 counts from 0 by 1
    """
    check_type(module, HloModule, "loops: the module", MODULE)
    found = (each for each in module.instructions if each.opcode == "while")
    return AnswerTuple(Loop(each, registry) for each in found)


@dataclass(frozen=True, repr=False)
class Loop(Displayed):
    """A ``while``, and the facts about its iterations, which are counted from 0.

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

    @cached_property
    def trip_count(self) -> int | None:
        """Number of iterations; ``None`` if it is not known, and ``unknown`` says why."""
        if self._counted:
            return self._counted.trip_count
        return 0 if never_runs(self.instruction) else None

    @cached_property
    def unknown(self) -> str:
        """The reason why the number of iterations is not known; empty if it is."""
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

    # Dependences between iterations.

    def over_iterations(self, indexing: OperandIndexing) -> IndexingMap:
        """A map of an instruction in the body, with the iteration ``k`` as its first dimension.

        Other runtime variables stay: counters of other loops, and data.

        Raises:
            LoopError: it is not known how often the loop runs, or it never does.
        """
        expected = "an OperandIndexing, such as ops.output_to_input gives"
        check_type(indexing, OperandIndexing, "over_iterations: the indexing", expected)
        return self._iterations("over_iterations").over(indexing)

    def dependences(self, *, budget: Budget = BUDGET) -> AnswerTuple[LoopDependence]:
        """Pairs of a reading iteration and the one that wrote the element, for each array.

        A read depends on the last write before it, as in :func:`indexing.flow_dependences`.
        Arrays that no iteration reads after an earlier one wrote them are left out, and so are
        counters. A loop takes milliseconds for each array; what takes longer than the budget ends
        with a ``BudgetError``.

        Raises:
            LoopError: it is not known how often the loop runs.
        """
        if self.trip_count == 0:
            return AnswerTuple()
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
        return AnswerTuple(found)

    def updates(self) -> AnswerTuple[InPlaceUpdate]:
        """The arrays of the state that iterations update in place, and which elements they write.

        Raises:
            LoopError: it is not known how often the loop runs.
        """
        if self.trip_count == 0:
            return AnswerTuple()
        iterations = self._iterations("updates")
        by_array: dict[int, list[Write]] = defaultdict(list)
        for write in iterations.accesses.writes:
            if write.is_in_place:
                by_array[write.array].append(write)
        return AnswerTuple(InPlaceUpdate.of(writes, iterations) for writes in by_array.values())

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


@dataclass(frozen=True, repr=False)
class LoopDependence(Displayed):
    """Pairs of an iteration that reads an element of the state and an earlier one that wrote it.

    ``iterations`` lead from the one that writes to the ones that read. If there is an
    ``approximation``, some of these may not happen, and it says why; none is left out.
    """

    array: int
    iterations: IndexRelation[IndexingMap]
    approximation: str = ""

    @cached_property
    def distances(self) -> IndexSet:
        """Number of iterations from writes to reads."""
        return self.iterations.distances()

    def __str__(self) -> str:
        reason = f"\nat most: {self.approximation}" if self.approximation else ""
        return f"array {self.array}: {self.iterations}{reason}"


# Why it is not known how often a loop runs.


def why_not_counted(loop: Instruction, registry: Registry) -> str:
    """The reason why nobody knows the number of iterations of a ``while``."""
    body, condition = loop.attributes["body"], loop.attributes["condition"]
    for computation in (body, condition):
        if only_caller(computation) is not loop:
            return f"{computation.name} is called from several places"
    flow = flow_in(condition.module, Direction.OUTPUT_TO_INPUT, registry)
    read = [
        number for (_, number), found in flow.follow_through((condition.root, 0)).items() if found
    ]
    counters, kept = counters_of(loop), kept_by(body, registry.routes)
    changing = [number for number in read if number not in kept]
    if not changing:
        return "its condition reads nothing that iterations change"
    for number in changing:
        if number not in counters:
            if loop.shape.arrays[number].rank or start_of(loop, number) is not None:
                return f"array {number} decides, and iterations add no constant to it"
            return f"array {number} decides, and its start is not known"
    limits = [number for number in read if number in kept and start_of(loop, number) is None]
    if limits:
        return f"array {limits[0]} is a limit that is not known"
    return "its counter overflows, or it never ends"


# Writes of an iteration of a loop to the arrays of its state, and its reads of them.
#
# An array that is updated in place keeps what the updates leave out. Every other array that
# changes is written whole. What is passed on as it is, is neither read nor written.


class Write(NamedTuple):
    """Elements that an instruction writes to an array of the state in each iteration.

    ``elements`` lead there from the elements of what is written. It may be written less often if
    there is a ``doubt``.
    """

    array: int
    instruction: Instruction
    elements: AnyDependence
    is_in_place: bool
    doubt: str = ""


class Read(NamedTuple):
    """An array that is computed from the state.

    Of it only what is ``written`` counts; all of it if that is ``None``.
    """

    array: Array
    written: tuple[Write, ...] | None = None


class Accesses:
    """Writes and reads of an iteration of a loop; maybe fewer, if there is a ``doubt``."""

    def __init__(self, loop: Instruction, counters: Collection[int], registry: Registry) -> None:
        self.writes: list[Write] = []
        self._wanted: list[Read] = []
        self._body = body = loop.attributes["body"]
        self._tracer = _Tracer(body, registry)
        self._registry = registry
        for number in range(len(loop.shape.arrays)):
            if number not in counters and number not in kept_by(body, registry.routes):
                self._add(number, (body.root, number))

    @cached_property
    def reads(self) -> list[tuple[Read, AnyDependence]]:
        """The reads, and what leads from their arrays to the state.

        All that the iteration runs is followed for them, and not for the writes.
        """
        return [(each, self._tracer.read_for(each.array)) for each in self._wanted]

    @cached_property
    def doubt(self) -> str:
        """The values that the maps of loops in the iteration do not determine, if there are any."""
        doubts = (forgotten(inner, self._registry) for inner in _loops_in(self._body))
        return next(filter(None, doubts), "")

    @property
    def dependences(self) -> Iterator[AnyDependence]:
        """The dependences that lead to the elements written and read."""
        yield from (each.elements for each in self.writes)
        yield from (elements for _, elements in self.reads)

    def _add(self, number: int, array: Array) -> None:
        """Add the instructions that make one array of the state."""
        made = self._tracer.update(array, number)
        if made is None:
            write = Write(number, array[0], identity_of(*array), is_in_place=False)
            made = _Update((write,), (Read(array),))
        self.writes += made.writes
        self._wanted += made.reads


class _Update(NamedTuple):
    """An update in place: of some instructions, or all in a loop that is one instruction."""

    writes: tuple[Write, ...]
    reads: tuple[Read, ...]

    def then(self, other: _Update) -> _Update:
        """Both updates."""
        return _Update((*self.writes, *other.writes), (*self.reads, *other.reads))


class _Tracer:
    """Follows arrays back to the state at the start of an iteration."""

    def __init__(self, body: Computation, registry: Registry) -> None:
        self._body = body
        (self._state,) = body.parameters
        self._registry = registry
        self._flow = flow_in(body.module, Direction.OUTPUT_TO_INPUT, registry)

    def update(self, array: Array, number: int) -> _Update | None:
        """The updates in place that make this array of that in the state, last first.

        ``None`` if it is made in another way.
        """
        there = identity_of(*array)
        itself, found = there, _Update((), ())
        while True:
            array = source_of(array, (self._state,), self._registry.routes)
            instruction, _ = array
            if instruction is self._state:
                is_same = there.simplify() == itself.simplify()
                return found if is_same and array == (self._state, number) else None
            if instruction.opcode in _MOVES:
                there = self._forward(instruction, 0).compose(there)
            elif instruction.opcode == "while":
                inner = self._by_loop(array, number, there)
                if inner is None:
                    return None
                found = found.then(inner)
            elif instruction.opcode in UPDATES and not instruction.shape.is_tuple:
                update = self._by_instruction(instruction, number, there)
                if isinstance(update.writes[0].elements, Unknown):
                    return None
                found = found.then(update)
            else:
                return None
            array = instruction.operands[0], array[1] if instruction.opcode == "while" else 0

    def _by_instruction(self, update: Instruction, number: int, there: AnyDependence) -> _Update:
        """Writes and reads of an instruction that updates a part of its first operand."""
        place = UPDATES[update.opcode]
        elements = self._forward(update, place).compose(there)
        write = Write(number, update, elements, is_in_place=True)
        reads = [Read((update.operands[place], 0))]
        if any(each.runtime for each in elements.indexings):
            others = (each for each in update.operands[1:] if each is not update.operands[place])
            reads += [Read((each, 0)) for each in others]
        if combines(update):
            reads.append(Read((self._state, number), (write,)))
        return _Update((write,), tuple(reads))

    def _by_loop(self, array: Array, number: int, there: AnyDependence) -> _Update | None:
        """Writes in place of a loop in the body to an array of its state."""
        loop, element = array
        body = loop.attributes["body"]
        inside = _Tracer(body, self._registry).update((body.root, element), element)
        if inside is None:
            return None
        doubt = "" if counted_loop(loop) else f"%{loop.name} runs an unknown number of times"
        writes = tuple(
            each._replace(
                array=number, elements=each.elements.compose(there), doubt=each.doubt or doubt
            )
            for each in inside.writes
        )
        return _Update(writes, (Read(array, inside.writes),))

    def _forward(self, instruction: Instruction, operand: int) -> AnyDependence:
        return input_to_output(instruction, operand, registry=self._registry).indexing[0]

    def read_for(self, array: Array) -> AnyDependence:
        """The dependence of an array on the arrays of the state, by their numbers."""
        instruction, _ = array
        computation = instruction.computation
        found = self._flow.follow_through(array)
        if computation is self._body:
            return NOTHING.union(*(of_element(each, number) for (_, number), each in found.items()))
        caller = only_caller(computation)
        if caller is None:
            return Unknown(f"{computation.name} is called from several places")
        steps = (
            called_by(caller, each).compose(
                self.read_for((caller.operands[parameter.parameter_number or 0], number))
            )
            for (parameter, number), each in found.items()
        )
        return NOTHING.union(*steps)


def forgotten(loop: Instruction, registry: Registry) -> str:
    """Values that the maps of a loop do not determine, so that they may hold too much."""
    root = loop.attributes["body"].root
    flow = flow_in(root.computation.module, Direction.OUTPUT_TO_INPUT, registry)
    for number in range(len(root.shape.arrays)):
        for found in flow.follow_through((root, number)).values():
            for origin in (origin for each in found.indexings for origin in each.runtime):
                if origin.loop is not loop:
                    return f"%{loop.name} is known for any %{origin.instruction.name} alone"
    return ""


_MOVES: Final = REARRANGE - {"reverse"}
"""What moves elements; an array that is turned is another one, also when it is turned back."""

UPDATES: Final = {"dynamic-update-slice": 1, "scatter": 2}
"""Opcode -> the operand that is written over a part of the first."""


def combines(update: Instruction) -> bool:
    """Whether the elements written depend on the old ones."""
    combiner = update.attributes.get("to_apply")
    return combiner is not None and combiner.root.parameter_number != 1


def _loops_in(computation: Computation) -> Iterator[Instruction]:
    """The loops that a computation runs, and those in them."""
    for instruction in computation.instructions:
        if instruction.opcode == "while":
            yield instruction
        for callee in instruction.computations:
            yield from _loops_in(callee)


# Updates in place: whether two iterations of a loop write the same element of an array.


class Conflict(NamedTuple):
    """Two iterations that write the same element; maybe, if there is an ``approximation``.

    ``common`` are values that all iterations have in common, by name, for which they do: counters
    of loops around this one, and offsets from outside.
    """

    first: int
    second: int
    element: tuple[int, ...]
    common: tuple[tuple[str, int], ...] = ()
    approximation: str = ""

    def __str__(self) -> str:
        given = "".join(f", for {name} = {value}" for name, value in self.common)
        verb = "may both write" if self.approximation else "both write"
        reason = f": {self.approximation}" if self.approximation else ""
        pair = f"iterations {self.first} and {self.second} {verb}"
        return f"{pair} element {self.element}{given}{reason}"


@dataclass(frozen=True, repr=False)
class InPlaceUpdate(Displayed):
    """Writes of the iterations of a loop to an array that they update in place.

    ``elements`` are maps from an iteration to what each of the ``instructions`` writes in it.
    """

    array: int
    instructions: tuple[Instruction, ...]
    elements: tuple[IndexingMap, ...]
    approximation: str
    _common: int
    _trip_count: int

    @classmethod
    def of(cls, writes: Sequence[Write], iterations: IterationSpace) -> InPlaceUpdate:
        """The update by all writes to one array."""
        found = [access for each in writes for access in iterations.writes(each)]
        instructions = tuple(each.instruction for each in writes)
        reason = next((each.approximation for each in found if each.approximation), "")
        elements, common = tuple(each.elements for each in found), len(iterations.common)
        own = instructions, elements, reason, common, iterations.trip_count
        return cls(writes[0].array, *own)

    def is_disjoint(self, *, budget: Budget = BUDGET) -> bool:
        """Whether it is certain that no two iterations write the same element."""
        return bool(self._separation()) or self.conflict(budget=budget) is None

    def conflict(self, *, budget: Budget = BUDGET) -> Conflict | None:
        """The first two iterations that may write the same element; ``None`` if none do."""
        if self._separation():
            return None
        keys = [*map(dim, range(self._common))]
        rows = ((*keys, *each.forms) for each in self.elements)
        maps = map(IndexingMap.from_forms, rows, (each.domain for each in self.elements))
        keyed = IndexRelation(*maps)
        together = keyed.compose(keyed.inverse(budget=budget), budget=budget).to_later()
        if together.is_empty(budget=budget):
            return None
        first = together.domain_set(budget=budget).lexmin()
        one = _point(first)
        second = together.apply(one, budget=budget).lexmin()
        *_, element = [(keyed.apply(one) & keyed.apply(_point(second))).lexmin()]
        names = (variable.name for variable in self.elements[0].dims)
        common = tuple(zip(names, first[:-1], strict=False))
        return Conflict(first[-1], second[-1], element[self._common :], common, self.approximation)

    def why(self, *, budget: Budget = BUDGET) -> str:
        """The reason why no two iterations write the same element, or two that may do so."""
        conflict = self._separation() or self.conflict(budget=budget)
        return str(conflict or "no two iterations write the same element, as isl finds")

    def _separation(self) -> str:
        """Distance of iterations along a dimension; empty if it does not tell."""
        if self._trip_count == 1:
            return "there is one iteration"
        if not self.elements:
            return "nothing is written"
        own, *others = self.elements
        for axis, form in enumerate(() if others else own.forms):
            step, bounds = _advance(own, form, self._common)
            if bounds.lower is not None and bounds.upper is not None:
                width = bounds.upper - bounds.lower + 1
                if abs(step) >= width > 0:
                    steps = f"iterations are {abs(step)} apart along dimension {axis}"
                    return f"{steps}, and each writes {width}"
        return ""

    def __str__(self) -> str:
        names = ", ".join(f"%{each.name}" for each in self.instructions)
        maps = " or ".join(map(str, self.elements))
        return f"array {self.array} by {names}: {maps}\n{self.why()}"


def _advance(own: IndexingMap, form: Form, common: int) -> tuple[int, Interval]:
    """Step of a result with each iteration, and the bounds of the rest of it.

    Terms that iterations have in common move all of them alike, so they are left out.
    """
    (iteration,) = dim(common).terms
    shared = {f"d{place}" for place in range(common)}
    step = form.terms.get(iteration, 0)
    moving = {
        atom: factor
        for atom, factor in form.terms.items()
        if atom is iteration or shared.issuperset(forms.variables_of([Form(0, {atom: 1})]))
    }
    rest = form - Form(0, moving)
    if f"d{common}" in forms.variables_of([rest]):
        return step, EVERYTHING
    (bounds,) = IndexingMap.from_forms([rest], own.domain).result_bounds()
    return step, bounds


def _point(index: Sequence[int]) -> IndexSet:
    return IndexSet.box(*((each, each) for each in index))


# The iterations of a loop as a dimension: what each of them reads and writes.
#
# In front of the number of the iteration stands what all iterations have in common without
# anybody knowing it: the counters of loops around this one, and offsets from outside of it.

ITERATION: Final = "k"
"""The name of the number of an iteration in maps."""


class Touched(NamedTuple):
    """Elements by iteration, and why an iteration may touch fewer; empty if it touches them all."""

    elements: IndexingMap
    approximation: str = ""


class IterationSpace:
    """Reads and writes of the iterations of a counted loop."""

    def __init__(self, loop: CountedLoop, accesses: Accesses) -> None:
        self.accesses = accesses
        self._loop = loop
        self._common: dict[object, Variable] = {}
        for dependence in accesses.dependences:
            for indexing in dependence.indexings:
                for pair in _runtime(indexing):
                    self._meet(*pair)

    @property
    def number(self) -> Variable:
        """The number of the iteration."""
        return Variable(Interval(0, self._loop.trip_count - 1), ITERATION)

    @property
    def trip_count(self) -> int:
        """Number of iterations."""
        return self._loop.trip_count

    @property
    def common(self) -> tuple[Variable, ...]:
        """Values that all iterations have in common, but that nobody knows."""
        return tuple(self._common.values())

    def over(self, indexing: OperandIndexing) -> IndexingMap:
        """A map of an instruction in the body, with the iteration as its first dimension."""
        own = indexing.map.domain
        values = {f"d{place}": dim(place + 1) for place in range(len(own.dims))}
        left: list[Variable] = []
        for number, (origin, variable) in enumerate(_runtime(indexing)):
            if origin.loop is self._loop.instruction:
                values[f"rt{number}"] = self._loop.induction.after(dim(0))
            else:
                values[f"rt{number}"] = runtime_value(len(left))
                left.append(variable)
        return _rewritten(indexing.map, ((self.number, *own.dims), own.ranges, left), values)

    def written(self, number: int) -> tuple[IndexRelation[IndexingMap] | None, str]:
        """Elements of an array of the state that each iteration writes; why maybe fewer."""
        writes = (each for each in self.accesses.writes if each.array == number)
        return _united(access for each in writes for access in self.writes(each, self._keys))

    def writes(self, write: Write, front: Sequence[Form] = ()) -> Iterator[Touched]:
        """Writes of an instruction in each iteration, behind other coordinates."""
        for each in write.elements.indexings:
            found = self._access(each, front)
            yield found._replace(approximation=found.approximation or write.doubt)

    def read(self, number: int) -> tuple[IndexRelation[IndexingMap] | None, str]:
        """Elements of an array of the state that each iteration reads; why maybe fewer."""
        found: list[IndexRelation[IndexingMap]] = []
        reasons: list[str] = []
        for read, elements in self.accesses.reads:
            ways = [each for each in elements.indexings if each.element == number]
            if isinstance(elements, Unknown):
                reasons.append(elements.reason)
                ways = [self._everything(number)]
            # Where only what is written counts, an element of that is behind the iteration.
            is_by_element = read.written is not None
            touched = (self._access(each, self._keys, is_by_element=is_by_element) for each in ways)
            relation, reason = _united(touched)
            if relation is not None:
                reasons.append(reason)
                found.append(self._after_writes(relation, read))
        whole = reduce(lambda one, other: one | other, found) if found else None
        return whole, next(filter(None, reasons), self.accesses.doubt)

    def numbers(
        self, relation: IndexRelation[IndexingMap], budget: Budget
    ) -> IndexRelation[IndexingMap]:
        """A relation between iterations without the values that they have in common."""
        every = (*self.common, self.number)
        alone = index_map([dim(len(self.common))], [each.bounds for each in every])
        found = IndexRelation(IndexingMap.from_forms([dim(0)], Domain((self.number,))))
        for each in (IndexRelation(alone).inverse(budget=budget), relation, alone):
            found = found.compose(each, budget=budget)
        return found

    # Values that iterations have in common.

    @property
    def _keys(self) -> list[Form]:
        """Keys of the elements of two runs of the whole loop: all values that iterations share."""
        return [*map(dim, range(len(self.common)))]

    def _meet(self, origin: RuntimeOrigin, variable: Variable) -> None:
        """Take in a runtime variable that has the same value in all iterations."""
        key = self._key(origin, variable)
        if key is not None and key not in self._common:
            name = re.sub(r"\W", "_", origin.instruction.name)
            while name in {ITERATION, *(each.name for each in self.common)}:
                name += "_"
            self._common[key] = Variable(variable.bounds, name)

    def _key(self, origin: RuntimeOrigin, variable: Variable) -> object:
        """Key of a value that all iterations have in common; ``None`` for another value."""
        if origin.loop is not None:
            is_around = origin.loop is not self._loop.instruction
            return origin.loop if is_around and not self._is_counted_inside(origin) else None
        if is_number_of_device(origin.instruction) or origin.replica_id is not None:
            return None
        source, index = source_of((origin.instruction, 0)), origin.map.forms
        is_inside = source[0].computation in self._inside
        is_fixed = all(each.is_constant for each in index) and not is_inside
        return (source, index, variable.bounds) if is_fixed else None

    def _is_counted_inside(self, origin: RuntimeOrigin) -> bool:
        return origin.loop is not None and origin.loop.computation in self._inside

    @cached_property
    def _inside(self) -> frozenset[Computation]:
        """The computations that an iteration runs."""
        return frozenset(with_callees([self._loop.instruction.attributes["body"]]))

    # Accesses.

    def _access(
        self, indexing: OperandIndexing, front: Sequence[Form], *, is_by_element: bool = False
    ) -> Touched:
        """From an iteration to all elements that an indexing leads to; maybe from each of its own.

        A value that varies within an iteration is one more range.
        """
        own = indexing.map.domain
        first = len(self.common) + 1
        approximation = indexing.approximation
        dims, inner = (own.dims, ()) if is_by_element else ((), own.dims)
        free = [*inner, *own.ranges]
        places = [*map(dim, range(first, first + len(dims))), *map(symbol, range(len(free)))]
        values = dict(zip(own.identifiers, places, strict=False))
        for number, (origin, variable) in enumerate(_runtime(indexing)):
            value = self._value(origin, variable)
            if value is None:
                value = symbol(len(free))
                free.append(variable)
                approximation = approximation or self._why_any(origin)
            values[f"rt{number}"] = value
        roles = (*self.common, self.number, *_without_names(dims)), _without_names(free), ()
        return Touched(_rewritten(indexing.map, roles, values, front), approximation)

    def _after_writes(
        self, relation: IndexRelation[IndexingMap], read: Read
    ) -> IndexRelation[IndexingMap]:
        """Reads of the iterations for their writes."""
        if read.written is None:
            return relation
        front = [*self._keys, dim(len(self.common))]
        written, _ = _united(access for each in read.written for access in self.writes(each, front))
        return relation if written is None else written.compose(relation)

    def _why_any(self, origin: RuntimeOrigin) -> str:
        """The reason why a runtime variable stands for any value; empty if it takes them all."""
        if self._is_counted_inside(origin):
            return ""
        is_device = is_number_of_device(origin.instruction)
        what = "is that of any device" if is_device else "is not known"
        return f"%{origin.instruction.name} {what}"

    def _value(self, origin: RuntimeOrigin, variable: Variable) -> Form | None:
        """The value of a runtime variable in an iteration; ``None`` if it has several."""
        if origin.loop is self._loop.instruction:
            return self._loop.induction.after(dim(len(self.common)))
        key = self._key(origin, variable)
        return None if key is None else dim([*self._common].index(key))

    def _everything(self, number: int) -> OperandIndexing:
        """All elements of an array of the state."""
        sizes = self._loop.instruction.shape.arrays[number].dimensions
        return OperandIndexing(index_map(dimensions_of(sizes), sizes), element=number)


def _runtime(indexing: OperandIndexing) -> Iterator[tuple[RuntimeOrigin, Variable]]:
    return zip(indexing.runtime, indexing.map.runtime, strict=True)


def _without_names(variables: Iterable[Variable]) -> list[Variable]:
    return [Variable(each.bounds) for each in variables]


def _rewritten(
    own: IndexingMap,
    roles: tuple[Iterable[Variable], Iterable[Variable], Iterable[Variable]],
    values: Mapping[str, Form],
    front: Sequence[Form] = (),
) -> IndexingMap:
    """A map over other variables, with these forms for its own ones, and other results in front."""
    limits = [(values[name], own.domain.bounds[name]) for name in values if name.startswith("rt")]
    moved = substituted_constraints(own.domain.constraints, values)
    domain = own.domain.over(*roles).constrained([*moved, *limits])
    made = IndexingMap.from_forms([*front, *substitute(own.forms, values)], domain)
    return made.simplify().without_unused_symbols()


def _united(accesses: Iterable[Touched]) -> tuple[IndexRelation[IndexingMap] | None, str]:
    """All of several accesses as one relation, and the first reason why it may be less."""
    accesses = [*accesses]
    if not accesses:
        return None, ""
    reason = next((each.approximation for each in accesses if each.approximation), "")
    return IndexRelation(*(each.elements for each in accesses)), reason
