"""Maps along paths: through instructions, and through the computations that they call."""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from indexing.layout import ShapeError
from ops.adapters.shared import arrays_in_operands
from ops.analysis.chaining import Compositions, followed, joined
from ops.analysis.control_flow import Direction, Link, decided, kept_arrays, repeated, selected
from ops.analysis.registry import REGISTRY, identity_of
from ops.builders.building import arrays_of
from ops.builders.op_indexing import Unknown
from ops.hlo.errors import HloTextError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from indexing.layout import Shape
    from ops.adapters.shared import Call, Calls
    from ops.analysis.answers import Answer
    from ops.analysis.registry import Registry
    from ops.hlo import Computation, Instruction

Array: TypeAlias = "tuple[Instruction, int]"
"""One array of an instruction's result: a tuple holds several, counted through nested tuples."""

Step: TypeAlias = "tuple[Array, Answer | None]"
"""A neighbour, and the maps that lead there; ``None`` where every element leads to its like."""

Reached: TypeAlias = "tuple[Array, Answer]"
"""An array, and the maps that lead there from where a question began."""

Node = TypeVar("Node")

_REMEMBERED = 4
"""How many computations are remembered with what was found out about them."""


def fusion_indexing(
    root: Instruction, output: int = 0, *, registry: Registry = REGISTRY
) -> dict[Instruction, Answer]:
    """Which elements of every instruction are needed for an element of one of them.

    From array ``output`` of the result of ``root``, such as the root of a fused computation,
    the maps to every instruction that it depends on: in the same computation, and in the
    computations that these instructions call. Each set holds every map once, however many paths
    lead there; ``root`` itself has the identity. Of a tuple, only the arrays that are needed
    count, and ``element`` tells which. ``registry`` holds what is known of operations.

    Raises:
        ShapeError: ``root`` has no such result.
        HloTextError: the shapes and attributes of an instruction do not fit.

    >>> from ops import hlo
    >>> module = hlo.parse('''HloModule m
    ... ENTRY e {
    ...   p = f32[20,20] parameter(0)
    ...   t = f32[20,20] transpose(p), dimensions={1,0}
    ...   ROOT sum = f32[20,20] add(p, t)
    ... }''')
    >>> for way in fusion_indexing(module.entry.root)[module.entry.parameters[0]]:
    ...     print(way)
    (d0, d1) -> (d0, d1), domain: d0 in [0, 19], d1 in [0, 19]
    (d0, d1) -> (d1, d0), domain: d0 in [0, 19], d1 in [0, 19]
    """
    check_output(root, output)
    paths = paths_in(root.computation, Direction.OUTPUT_TO_INPUT, registry)
    starts: dict[Computation, dict[Array, Answer]] = defaultdict(dict)
    starts[root.computation][root, output] = _itself((root, output))
    found: dict[Instruction, Answer] = {}
    for computation in reversed(postorder([root.computation], paths.callees)):
        for (instruction, number), answer in paths.follow(starts[computation]).items():
            found[instruction] = joined(found.get(instruction, ()), of_element(answer, number))
            for start, entering in paths.entered(instruction, number, answer):
                inner = starts[start[0].computation]
                inner[start] = joined(inner.get(start, ()), entering)
    return found


def check_output(instruction: Instruction, output: int) -> None:
    """Raise a :class:`ShapeError` unless the result has an array of this number."""
    count = len(arrays_of(instruction.shape))
    if not 0 <= output < count:
        raise ShapeError(f"%{instruction.name}: there is no output {output} among {count}")


def of_element(answer: Answer, element: int) -> Answer:
    """The answer for one array of a tuple."""
    return (
        answer if isinstance(answer, Unknown) else tuple(way.of_element(element) for way in answer)
    )


class Paths:
    """Follows maps in one direction; remembers the computations it has seen.

    A called computation is followed once from each array it begins with, however often it is
    called.
    """

    def __init__(self, direction: Direction, registry: Registry) -> None:
        self._direction = direction
        self._registry = registry
        self._is_backward = direction is Direction.OUTPUT_TO_INPUT
        self._steps: dict[Computation, Mapping[Array, list[Step]]] = {}
        self._summaries: dict[Computation, list[Link]] = {}

    def callees(self, computation: Computation) -> list[Computation]:
        """The computations that the instructions of one call, each once."""
        found = map(self._registry.calls, computation.instructions)
        called = (callee for calls in found if calls for callee in calls.computations)
        return list(dict.fromkeys(called))

    def links_from(self, instruction: Instruction, start: int) -> list[Link]:
        """The links that begin at one array of the result, or at all arrays of one operand."""
        side = "output" if self._is_backward else "operand"
        return [link for link in self._links(instruction, start) if getattr(link, side) == start]

    def entered(self, instruction: Instruction, number: int, answer: Answer) -> list[Reached]:
        """The results of called computations that an array of the result is made of.

        ``answer`` are the maps that lead to the array.
        """
        calls = self._registry.calls(instruction)
        if not calls:
            return []
        if not calls.condition:
            return _roots(calls, number - calls.first_output(instruction), answer)
        body, condition = calls.computations
        rounds = self.links_from(instruction, number)
        steps: list[Reached] = [
            ((body.root, link.element), followed(answer, link.answer)) for link in rounds
        ]
        if number not in kept_arrays(body, self._registry):
            decision = decided(arrays_of(instruction.shape)[number], Direction.OUTPUT_TO_INPUT)
            steps.append(((condition.root, 0), followed(answer, decision)))
        return steps

    def follow(self, starts: Mapping[Array, Answer]) -> dict[Array, Answer]:
        """From arrays of a computation to all arrays that paths lead to, in order of paths."""
        found: dict[Array, Answer] = {}
        compositions = Compositions()
        arriving: dict[Array, list[Answer]] = defaultdict(list)
        for array in reversed(postorder(starts, self._neighbours)):
            begin = [starts[array]] if array in starts else []
            sizes = arrays_of(array[0].shape)[array[1]].dimensions
            answer = found[array] = joined(*begin, *arriving.pop(array, ()), sizes=sizes)
            for target, step in self._steps_from(array):
                arriving[target].append(
                    answer if step is None else compositions.followed(answer, step)
                )
        return found

    def _neighbours(self, array: Array) -> list[Array]:
        return [target for target, _ in self._steps_from(array)]

    def _steps_from(self, array: Array) -> list[Step]:
        computation = array[0].computation
        if computation not in self._steps:
            self._steps[computation] = self._steps_in(computation)
        return self._steps[computation].get(array, [])

    def _steps_in(self, computation: Computation) -> Mapping[Array, list[Step]]:
        steps: dict[Array, list[Step]] = defaultdict(list)
        for instruction in computation.instructions:
            results = arrays_of(instruction.shape)
            for link in self._links(instruction):
                is_plain = link.answer == identity_of(results[link.output])
                result = instruction, link.output
                operand = instruction.operands[link.operand], link.element
                begin, end = (result, operand) if self._is_backward else (operand, result)
                steps[begin].append((end, None if is_plain else link.answer))
        return steps

    def _links(self, instruction: Instruction, start: int | None = None) -> list[Link]:
        """All links of an instruction; if it calls a computation, maybe only from one start."""
        calls = self._registry.calls(instruction)
        if calls:
            _check_calls(instruction, calls)
            return self._of_calls(instruction, calls, start)
        return [
            Link(found.output, found.operand, found.element, getattr(found, self._direction.value))
            for found in self._registry.dependencies(instruction)
        ]

    def _of_calls(self, instruction: Instruction, calls: Calls, start: int | None) -> list[Link]:
        arrays = arrays_of(instruction.shape)
        if calls.condition:
            body, condition = map(self._all_links, calls.computations)
            kept = kept_arrays(calls.computations[0], self._registry)
            return repeated(body, condition, arrays, kept, self._direction)
        if calls.is_start:
            return _operands_themselves(instruction) + [
                link._replace(output=link.output + calls.first_output(instruction))
                for link in self._through(calls.choices[0])
            ]
        if calls.selector is None:
            return self._through(calls.choices[0], start)
        links = [link for call in calls.choices for link in self._through(call)]
        return links + selected(arrays, calls.selector, self._direction)

    def _through(self, call: Call, start: int | None = None) -> list[Link]:
        """The links of a called computation, with the operands of its caller."""
        callee = call.computation
        links = self._all_links(callee) if start is None else self._summary(callee, start)
        return [link._replace(operand=call.operands[link.operand]) for link in links]

    def _all_links(self, callee: Computation) -> list[Link]:
        if callee not in self._summaries:
            self._summaries[callee] = self._summary(callee)
        return self._summaries[callee]

    def _summary(self, callee: Computation, start: int | None = None) -> list[Link]:
        """The links between result and parameters: all, or those that begin at one of them."""
        for computation in postorder(self._unseen_callees(callee), self._unseen_callees):
            self._summaries[computation] = self._summary(computation)
        results = _arrays([callee.root])
        parameters = _arrays(callee.parameters)
        links: list[Link] = []
        for begin in results if self._is_backward else parameters:
            number = begin[1] if self._is_backward else begin[0].parameter_number
            if start in (None, number):
                found = self.follow({begin: _itself(begin)})
                ends = parameters if self._is_backward else results
                links += [self._link(begin, end, found[end]) for end in ends if end in found]
        return links

    def _unseen_callees(self, computation: Computation) -> list[Computation]:
        return [callee for callee in self.callees(computation) if callee not in self._summaries]

    def _link(self, begin: Array, end: Array, answer: Answer) -> Link:
        (_, output), (parameter, element) = (begin, end) if self._is_backward else (end, begin)
        return Link(output, parameter.parameter_number or 0, element, answer)


def _roots(calls: Calls, number: int, answer: Answer) -> list[Reached]:
    """One array of the results of called computations, where there is one of that number."""
    roots = (call.computation.root for call in calls.choices)
    return [((root, number), answer) for root in roots if number in range(_count(root))]


def _operands_themselves(instruction: Instruction) -> list[Link]:
    """The links of a result that begins with the operands."""
    return [
        Link(output, operand, element, identity_of(arrays_of(instruction.shape)[output]))
        for output, (operand, element) in enumerate(arrays_in_operands(instruction))
    ]


def _itself(array: Array) -> Answer:
    """How an array depends on itself, simplified as all that is composed with it."""
    instruction, number = array
    answer = identity_of(arrays_of(instruction.shape)[number])
    return answer if isinstance(answer, Unknown) else tuple(way.compose(way) for way in answer)


@lru_cache(maxsize=_REMEMBERED)
def paths_in(_: Computation, direction: Direction, registry: Registry) -> Paths:
    """The paths that begin in a computation; they are kept for the next question about it."""
    return Paths(direction, registry)


def _check_calls(instruction: Instruction, calls: Calls) -> None:
    """Raise a :class:`HloTextError` unless operands and result have the shapes of the callee's."""
    operands = instruction.operands
    pairs = [
        (operands[number], parameter)
        for call in calls.choices
        for number, parameter in zip(call.operands, call.computation.parameters, strict=True)
    ]
    if calls.condition:
        pairs += [(operands[0], instruction), (operands[0], calls.condition.parameters[0])]
    result = calls.result_shape(instruction)
    for call in calls.choices:
        _check_shapes(instruction, instruction.name, result, call.computation.root)
    for outside, inside in pairs:
        _check_shapes(instruction, outside.name, outside.shape, inside)


def _check_shapes(caller: Instruction, name: str, shape: Shape, inside: Instruction) -> None:
    if not shape.is_compatible_with(inside.shape):
        message = f"%{name} is {shape}, but %{inside.name} {inside.shape}"
        raise HloTextError(message, caller.span, instruction=caller.name)


def _arrays(instructions: Iterable[Instruction]) -> list[Array]:
    return [
        (instruction, number)
        for instruction in instructions
        for number in range(_count(instruction))
    ]


def _count(instruction: Instruction) -> int:
    """How many arrays the result has."""
    return len(arrays_of(instruction.shape))


def postorder(starts: Iterable[Node], successors: Callable[[Node], Iterable[Node]]) -> list[Node]:
    """Everything that can be reached, each after all that it leads to. Nothing may lead to itself.

    >>> postorder("a", {"a": "bc", "b": "d", "c": "d", "d": ""}.__getitem__)
    ['d', 'c', 'b', 'a']
    """
    done: dict[Node, None] = {}
    opened: set[Node] = set()
    waiting = [*starts]
    while waiting:
        node = waiting[-1]
        if node in opened:
            done.setdefault(waiting.pop())
        else:
            opened.add(node)
            waiting += [after for after in successors(node) if after not in opened]
    return list(done)
