"""What an analysis answers: maps, or that there is none and why."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from indexing.formats.notebook import html_of_map
from indexing.formats.text import format_head, format_map
from ops.devices.numbering import is_number_of_device
from ops.rules.op_indexing import Unknown, replica_note

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from indexing import IndexingMap
    from ops.hlo import Instruction
    from simplifier import Interval


@dataclass(frozen=True, slots=True)
class RuntimeOrigin:
    """Where the value of a runtime variable comes from: an element of what ``instruction`` gives.

    ``map`` leads there from the dimensions and ranges of the map that has the variable, and
    from its runtime variables if the place depends on them. ``clamp`` is that of :class:`Origin`:
    what is known of a value may narrow the variable's bounds, but not that interval.
    ``replica_id``, a map with one result from the same variables, says which replica finds the
    value, if not the one that asks. ``callers`` are the fusions and calls, outermost first, in
    whose run the instruction gives it: a computation that is called twice has two values.

    Of a collective operation, the number of the replica that asks may be such a value; a
    ``replica-id`` or ``partition-id`` gives it (:mod:`ops.devices`).
    """

    instruction: Instruction
    map: IndexingMap
    clamp: Interval | None = None
    replica_id: IndexingMap | None = None
    callers: tuple[Instruction, ...] = ()

    def __str__(self) -> str:
        within = "".join(f" in %{caller.name}" for caller in reversed(self.callers))
        place = f"{self.instruction.definition}{within}; {format_head(self.map)}"
        return place + replica_note(self.replica_id)

    def called_by(self, caller: Instruction) -> RuntimeOrigin:
        """The same, seen from where the computation is called; devices have one number in all."""
        if is_number_of_device(self.instruction):
            return self
        return replace(self, callers=(caller, *self.callers))


@dataclass(frozen=True, slots=True)
class OperandIndexing:
    """One way in which elements of a tensor depend on elements of another.

    ``runtime`` has one origin for each runtime variable of ``map``. ``replica_id``, a map with
    one result from the same variables, says which replica holds the element, if not the one that
    asks. ``element`` is the number of the array that is meant where the other is a
    tuple, counted through nested tuples.

    ``approximation`` is empty where the way is what the program says. Otherwise it is the reason
    why this one way stands for many: it holds all that they relate, and maybe more.
    """

    map: IndexingMap
    runtime: tuple[RuntimeOrigin, ...] = ()
    replica_id: IndexingMap | None = None
    element: int = 0
    approximation: str = ""

    def compose(self, producer: OperandIndexing) -> OperandIndexing:
        """The dependence on what the producer depends on, in its smallest form.

        Ranges and runtime variables of the producer come before this one's, with their origins;
        those that nothing depends on are dropped. The replica that asks for the producer's
        element is the one that this element is on. What is approximate in either is so in both.

        >>> from indexing import parse_map
        >>> tail = OperandIndexing(parse_map("(d0) -> (d0 + 2), domain: d0 in [0, 1]"))
        >>> rows = parse_map("(d0)[s0] -> (s0, d0), domain: d0 in [0, 3], s0 in [0, 7]")
        >>> print(tail.compose(OperandIndexing(rows)))
        (d0)[s0] -> (s0, d0 + 2), domain: d0 in [0, 1], s0 in [0, 7]
        """
        from ops.analysis.chaining import compose  # noqa: PLC0415 - it builds answers

        return compose(self, producer)

    def simplify(self) -> OperandIndexing:
        """The same with the map in its smallest form."""
        smallest = self.map.simplify()
        return self if smallest is self.map else replace(self, map=smallest)

    def of_element(self, element: int) -> OperandIndexing:
        """The same for one array of a tuple."""
        return self if element == self.element else replace(self, element=element)

    def notes(self) -> list[tuple[str, str]]:
        """What the map does not say itself, by name.

        These are the origins of variables, the replica, and why the way is an approximation.

        >>> from ops import hlo, output_to_input
        >>> text = "ENTRY e { x = f32[9] parameter(0) i = s32[] parameter(1)"
        >>> text += "ROOT r = f32[2] dynamic-slice(x, i), dynamic_slice_sizes={2} }"
        >>> ((way,), _) = output_to_input(hlo.parse(text).entry.root).indexing
        >>> way.notes()
        [('rt0', '%i = s32[] parameter(1); (d0) -> ()')]
        >>> print(way)
        (d0){rt0} -> (d0 + rt0), domain: d0 in [0, 1], rt0 in [0, 7]
        rt0: %i = s32[] parameter(1); (d0) -> ()
        """
        names = self.map.domain.names[-len(self.runtime) :] if self.runtime else ()
        notes = list(zip(names, map(str, self.runtime), strict=True))
        if self.replica_id is not None:
            notes.append(("replica id", format_head(self.replica_id)))
        if self.approximation:
            notes.append(("approximation", self.approximation))
        return notes

    def text(self, *, multiline: bool = False) -> str:
        """The map with its notes below; ``multiline`` is that of :func:`indexing.format_map`."""
        notes = (f"{name}: {note}" for name, note in self.notes())
        return "\n".join([format_map(self.map, multiline=multiline), *notes])

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return html_of_map(self.map, self.notes())


Answer: TypeAlias = "tuple[OperandIndexing, ...] | Unknown"
"""All ways in which one tensor depends on another, each once; none means that it does not."""


def called_by(caller: Instruction, answer: Answer) -> Answer:
    """What holds inside of a computation, seen from where it is called.

    Values of runtime variables are those of this call.
    """
    if isinstance(answer, Unknown) or not any(way.runtime for way in answer):
        return answer
    return tuple(
        replace(way, runtime=tuple(origin.called_by(caller) for origin in way.runtime))
        for way in answer
    )


def of_element(answer: Answer, element: int) -> Answer:
    """The answer for one array of a tuple."""
    if isinstance(answer, Unknown) or all(way.element == element for way in answer):
        return answer
    return tuple(way.of_element(element) for way in answer)


@dataclass(frozen=True, slots=True)
class InstructionIndexing:
    """The answers for one instruction: for each operand, or for each array of its result."""

    indexing: tuple[Answer, ...]

    def __reduce__(self) -> tuple[Callable[..., InstructionIndexing], tuple[object, ...]]:
        """Of wide tuples, each result depends on few operands."""
        needed = {number: answer for number, answer in enumerate(self.indexing) if answer != ()}
        return _indexing_of, (len(self.indexing), needed)


def _indexing_of(count: int, needed: Mapping[int, Answer]) -> InstructionIndexing:
    return InstructionIndexing(tuple(needed.get(number, ()) for number in range(count)))
