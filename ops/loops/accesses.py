"""What an iteration of a loop writes to the arrays of its state, and what it reads of them.

An array that is updated in place keeps what the updates leave out. Every other array that changes
is written whole. What is passed on as it is, is neither read nor written.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple

from ops.analysis.findings import flow_in
from ops.analysis.queries import input_to_output
from ops.dependence.dependence import NOTHING, AnyDependence, called_by, of_element
from ops.dependence.links import identity_of
from ops.rules.counted_loops import counted_loop
from ops.rules.op_indexing import Direction, Unknown
from ops.rules.sources import kept_by, only_caller, source_within

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from ops.hlo import Computation, Instruction
    from ops.rules.registry import Registry
    from ops.rules.sources import Array


class Write(NamedTuple):
    """What an instruction writes to an array of the state in each iteration.

    ``elements`` lead there from the elements of what is written. It may be written less often if
    there is a ``doubt``.
    """

    array: int
    instruction: Instruction
    elements: AnyDependence
    is_in_place: bool
    doubt: str = ""


class Read(NamedTuple):
    """What is read of the state to compute an array: ``elements`` lead from that to the state.

    Of the array only what is ``written`` counts; all of it if that is ``None``.
    """

    elements: AnyDependence
    written: tuple[Write, ...] | None = None


class Accesses:
    """What an iteration of a loop writes and reads; maybe less, if there is a ``doubt``."""

    def __init__(self, loop: Instruction, counters: Collection[int], registry: Registry) -> None:
        self.writes: list[Write] = []
        self.reads: list[Read] = []
        body = loop.attributes["body"]
        self._tracer = _Tracer(body, registry)
        doubts = [forgotten(inner, registry) for inner in _loops_in(body)]
        self.doubt = next((each for each in doubts if each), "")
        for number in range(len(loop.shape.arrays)):
            if number not in counters and number not in kept_by(body, registry.routes):
                self._add(number, (body.root, number))

    @property
    def dependences(self) -> Iterator[AnyDependence]:
        """What leads to the elements that are written and read."""
        yield from (each.elements for each in self.writes)
        yield from (each.elements for each in self.reads)

    def _add(self, number: int, array: Array) -> None:
        """Add what one array of the state is made of."""
        updates = self._tracer.updates(array, number)
        if updates is None:
            write = Write(number, array[0], identity_of(*array), is_in_place=False)
            self.writes.append(write)
            self.reads.append(Read(self._tracer.read_for(array)))
            return
        for update in updates:
            self.writes += update.writes
            self.reads += update.reads


class _Update(NamedTuple):
    """An update in place: of one instruction, or all in a loop that is one instruction."""

    writes: tuple[Write, ...]
    reads: tuple[Read, ...]


class _Tracer:
    """Follows arrays back to the state at the start of an iteration."""

    def __init__(self, body: Computation, registry: Registry) -> None:
        self._body = body
        (self._state,) = body.parameters
        self._registry = registry
        self._flow = flow_in(body.module, Direction.OUTPUT_TO_INPUT, registry)

    def updates(self, array: Array, number: int) -> list[_Update] | None:
        """The updates in place that make this array of that in the state, last first.

        ``None`` if it is made in another way.
        """
        there = identity_of(*array)
        itself, found = there, list[_Update]()
        while True:
            array = source_within(self._state, array, self._registry.routes)
            instruction, _ = array
            if instruction is self._state:
                is_same = there.simplify() == itself.simplify()
                return found if is_same and array == (self._state, number) else None
            if instruction.opcode in _MOVES:
                there = self._forward(instruction, 0).compose(there)
            elif instruction.opcode == "while":
                inner = self._inner(array, number, there)
                if inner is None:
                    return None
                found.append(inner)
            elif instruction.opcode in UPDATES and not instruction.shape.is_tuple:
                update = self._update(instruction, number, there)
                if isinstance(update.writes[0].elements, Unknown):
                    return None
                found.append(update)
            else:
                return None
            array = instruction.operands[0], array[1] if instruction.opcode == "while" else 0

    def _update(self, update: Instruction, number: int, there: AnyDependence) -> _Update:
        """What an instruction writes and reads that updates a part of its first operand."""
        place = UPDATES[update.opcode]
        elements = self._forward(update, place).compose(there)
        write = Write(number, update, elements, is_in_place=True)
        reads = [Read(self.read_for((update.operands[place], 0)))]
        if any(each.runtime for each in elements.indexings):
            others = (each for each in update.operands[1:] if each is not update.operands[place])
            reads += [Read(self.read_for((each, 0))) for each in others]
        if combines(update):
            itself = of_element(identity_of(self._state, number), number)
            reads.append(Read(itself, (write,)))
        return _Update((write,), tuple(reads))

    def _inner(self, array: Array, number: int, there: AnyDependence) -> _Update | None:
        """What a loop in the body writes in place to an array of its state."""
        loop, element = array
        body = loop.attributes["body"]
        updates = _Tracer(body, self._registry).updates((body.root, element), element)
        if updates is None:
            return None
        doubt = "" if counted_loop(loop) else f"%{loop.name} runs an unknown number of times"
        inside = tuple(chain.from_iterable(update.writes for update in updates))
        writes = tuple(
            each._replace(
                array=number, elements=each.elements.compose(there), doubt=each.doubt or doubt
            )
            for each in inside
        )
        return _Update(writes, (Read(self.read_for(array), inside),))

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
    """What the maps of a loop take any value of, so that they may hold too much."""
    root = loop.attributes["body"].root
    flow = flow_in(root.computation.module, Direction.OUTPUT_TO_INPUT, registry)
    for number in range(len(root.shape.arrays)):
        for found in flow.follow_through((root, number)).values():
            for origin in (origin for each in found.indexings for origin in each.runtime):
                if origin.loop is not loop:
                    return f"%{loop.name} is known for any %{origin.instruction.name} alone"
    return ""


_MOVES: Final = {"bitcast", "copy", "reshape", "transpose"}
"""Opcodes whose result has the elements of the operand, maybe elsewhere."""

UPDATES: Final = {"dynamic-update-slice": 1, "scatter": 2}
"""Opcode -> the operand that is written over a part of the first."""


def combines(update: Instruction) -> bool:
    """Whether what is written depends on what was there."""
    combiner = update.attributes.get("to_apply")
    return combiner is not None and combiner.root.parameter_number != 1


def _loops_in(computation: Computation) -> Iterator[Instruction]:
    """The loops that a computation runs, and those in them."""
    for instruction in computation.instructions:
        if instruction.opcode == "while":
            yield instruction
        for callee in instruction.computations:
            yield from _loops_in(callee)
