"""Arrays that computations lead to: chosen among several, or made round by round in a loop."""

from __future__ import annotations

import enum
from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from ops.analysis.answers import Answer, OperandIndexing
from ops.analysis.chaining import followed, joined
from ops.analysis.dependences import dependence_of, devices_in
from ops.analysis.patterns import identity_of
from ops.builders.building import arrays_of, every_element, no_dimensions
from ops.builders.op_indexing import Unknown
from simplifier.errors import IndexingError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from indexing import IndexingMap
    from indexing.layout import Shape
    from ops.analysis.registry import Registry
    from ops.hlo import Computation, Instruction

MOST_MAPS_OF_LOOP: Final = 64
"""A loop whose rounds lead along more different maps between two arrays is given up."""

_MOST_STEPS_OF_COMPARISON: Final = 100_000
"""How many operations of isl are spent on finding that one map is a part of another."""


class Direction(enum.Enum):
    """Whether maps lead from results to operands or back."""

    OUTPUT_TO_INPUT = "output_to_input"
    INPUT_TO_OUTPUT = "input_to_output"


class Link(NamedTuple):
    """How array ``output`` of a result and array ``element`` of an operand depend on each other."""

    output: int
    operand: int
    element: int
    answer: Answer

    def ends(self, direction: Direction) -> tuple[int, int]:
        """The numbers of the arrays where the maps begin and where they lead."""
        if direction is Direction.OUTPUT_TO_INPUT:
            return self.output, self.element
        return self.element, self.output


def selected(arrays: Sequence[Shape], selector: int, direction: Direction) -> list[Link]:
    """The links to the scalar operand that chooses where these arrays come from."""
    return [
        Link(output, selector, 0, decided(array, direction)) for output, array in enumerate(arrays)
    ]


def repeated(
    body: Iterable[Link],
    condition: Iterable[Link],
    arrays: Sequence[Shape],
    kept: Collection[int],
    direction: Direction,
) -> list[Link]:
    """The links between the arrays of a loop's state before and after any number of rounds.

    ``body`` links the state after a round with that before it, ``condition`` the decision that
    there is another round with the state. The arrays that every round ``kept`` are linked with
    themselves alone; all others depend on how many rounds there are, and so on the decision. A
    runtime variable of a round has another value in each of them, so it becomes a range here,
    except for the number of the device that asks.
    """
    steps = [link for link in body if link.output not in kept]
    decisions = [
        Link(changed, 0, link.element, _through_decision(link.answer, arrays[changed], direction))
        for changed in range(len(arrays))
        if changed not in kept
        for link in condition
    ]
    edges: dict[int, list[tuple[int, Answer]]] = defaultdict(list)
    for link in (*steps, *decisions):
        begin, end = link.ends(direction)
        edges[begin].append((end, _in_any_round(link.answer)))
    return [
        Link(*((begin, 0, end) if direction is Direction.OUTPUT_TO_INPUT else (end, 0, begin)), way)
        for begin, array in enumerate(arrays)
        for end, way in _reached(begin, array, edges).items()
    ]


def kept_arrays(body: Computation, registry: Registry) -> frozenset[int]:
    """The numbers of the arrays in the parameter of a body that it passes on as they are."""
    numbers = range(len(arrays_of(body.root.shape)))
    start = body.parameters[0]
    return frozenset(
        number for number in numbers if _passed_to(body.root, number, registry) == (start, number)
    )


def _passed_to(
    instruction: Instruction, number: int, registry: Registry
) -> tuple[Instruction, int]:
    """The array of another instruction that is passed on, through any number of them, as this."""
    while instruction.opcode in registry.routes:
        routes = registry.routes[instruction.opcode](instruction)
        found = [route for route in routes if route[0] == number]
        if not found:
            break
        _, operand, number = found[0]
        instruction = instruction.operands[operand]
    return instruction, number


def decided(array: Shape, direction: Direction) -> Answer:
    """The maps between all elements of an array and a scalar that decides what they are."""
    if array.is_unbounded:
        return identity_of(array)
    between = no_dimensions if direction is Direction.OUTPUT_TO_INPUT else every_element
    return (OperandIndexing(between(array.dimensions)),)


def _through_decision(answer: Answer, array: Shape, direction: Direction) -> Answer:
    """The maps between an array and what the decision reads."""
    steps = (decided(array, direction), answer)
    return followed(*(steps if direction is Direction.OUTPUT_TO_INPUT else steps[::-1]))


def _in_any_round(answer: Answer) -> Answer:
    if isinstance(answer, Unknown):
        return answer
    return tuple(_for_any_values(way) if way.runtime else way for way in answer)


def _for_any_values(way: OperandIndexing) -> OperandIndexing:
    whole = dependence_of(way, devices_in(way))
    return whole.for_any_values().simplified(way.element)


def _reached(
    begin: int, array: Shape, edges: Mapping[int, list[tuple[int, Answer]]]
) -> dict[int, Answer]:
    """All arrays that steps lead to from one of them, and the maps that they lead along."""
    found: dict[int, Answer] = {begin: identity_of(array)}
    fresh = dict(found)
    while fresh:
        place = next(iter(fresh))
        answer = fresh.pop(place)
        for target, step in edges.get(place, ()):
            before = found.get(target, ())
            after = _widest(joined(before, followed(answer, step)))
            if after != before:
                found[target] = after
                fresh[target] = joined(fresh.get(target, ()), _without(after, before))
    return found


def _widest(answer: Answer) -> Answer:
    """The answer without the maps that are parts of others; unknown if there are too many."""
    if isinstance(answer, Unknown):
        return answer
    ways: tuple[OperandIndexing, ...] = ()
    for way in answer:
        if not way.map.is_known_empty and not any(_is_part(way, wide) for wide in ways):
            ways = (*(other for other in ways if not _is_part(other, way)), way)
        if len(ways) > MOST_MAPS_OF_LOOP:
            message = f"its rounds lead along more than {MOST_MAPS_OF_LOOP} different maps"
            return Unknown(f"while: {message}")
    return ways


def _is_part(way: OperandIndexing, wide: OperandIndexing) -> bool:
    """Whether everything that a way relates is seen to be related by another one."""
    if way.replica_id or wide.replica_id or way.runtime != wide.runtime:
        return way == wide
    return _has_smaller_domain(way.map, wide.map) or (
        bool(way.map.ranges and wide.map.ranges) and _reaches_no_further(way.map, wide.map)
    )


def _has_smaller_domain(narrow: IndexingMap, wide: IndexingMap) -> bool:
    """Whether the first is the second with less in its domain."""
    domain = wide.domain
    return (
        narrow.forms == wide.forms
        and narrow.domain.places == domain.places
        and {*domain.constraints} <= {*narrow.domain.constraints}
        and all(
            bounds.contains(narrow.domain.bounds[place]) for place, bounds in domain.bounds.items()
        )
    )


def _reaches_no_further(narrow: IndexingMap, wide: IndexingMap) -> bool:
    """Whether isl finds, without much effort, that the second has all pairs of the first."""
    pairs = zip(narrow.result_bounds(), wide.result_bounds(), strict=True)
    if not all(theirs.contains(mine) for mine, theirs in pairs):
        return False
    try:
        return narrow.is_subset(wide, budget=_MOST_STEPS_OF_COMPARISON, runtime_as_parameters=True)
    except IndexingError:
        return False


def _without(answer: Answer, known: Answer) -> Answer:
    """What is new."""
    if isinstance(answer, Unknown) or isinstance(known, Unknown):
        return answer
    return tuple(way for way in answer if way not in known)
