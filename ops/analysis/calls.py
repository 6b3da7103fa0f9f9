"""The data flow of a program in one direction, through instructions and the computations called."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, ClassVar, Final, NamedTuple, TypeAlias, cast

from indexing.layout import Shape, ShapeError
from ops import limits
from ops.analysis.dataflow import Array, Graph, Interner, Reach, Step, single_questions
from ops.analysis.loops import TimedLoop, chosen, decided, iterated, repeated, selected, windows_of
from ops.dependence.dependence import (
    NOTHING,
    AnyDependence,
    Link,
    called_by,
    check_answer,
    errors_in,
    identity_of,
    links_of,
    links_of_unfit,
    of_element,
    reads_operands,
)
from ops.hlo import Computation, Instruction
from ops.hlo.attributes import CALLED_ATTRIBUTES, COMMON_ATTRIBUTES
from ops.hlo.errors import HloTextError
from ops.hlo.module import INSTRUCTION
from ops.hlo.true_sizes import array_sizes
from ops.rules.control import kept_by, through_tuple
from ops.rules.counted_loops import counted_loop, never_runs
from ops.rules.registry import Registry
from ops.rules.rule import Call, Calls, Direction, Maps, Routes
from simplifier.errors import IndexingError, check_type, listed
from simplifier.tools.display import AnswerDict
from simplifier.tools.graphs import postorder, topological_order

# Value numbering: instructions with one number have the same maps, found once for all of them.
#
# Layers of a model repeat themselves. Two instructions are alike if everything that their maps
# depend on is equal: opcode, shapes with their layouts, attributes and the computations in them.
# One that reads the value of a runtime variable from an operand is like no other, as the value may
# be known or may not; if the rule finds that all values are known, those with the same are alike.
# Calls of a computation with an instruction like no other are like no other, too.
#
# Modules repeat each other as well: what holds for all instructions that are alike is remembered
# for the next module of the process.

_NAMES_AND_NOTES: Final = frozenset(COMMON_ATTRIBUTES)
"""The attributes that no map depends on, but for the configuration of a custom call."""


class _Answers:
    """Answers about instructions: that of the rule by key, its links by number; and numbers."""

    _current: ClassVar[_Answers | None] = None

    def __init__(self) -> None:
        self.answers: dict[Hashable, Maps | Routes] = {}
        self.links: dict[tuple[int, Direction], tuple[Link, ...]] = {}
        self.numbers: dict[Hashable, int] = {}
        self._count = count()
        self.size = 0

    @classmethod
    def shared(cls) -> _Answers:
        """The memory of all modules; one begins with it, and keeps it: a new one if it is full."""
        if cls._current is None or cls._current.size >= limits.MAX_REMEMBERED_INSTRUCTIONS:
            cls._current = cls()
        return cls._current

    def number(self, key: Hashable, size: int = 1) -> int:
        """The number of a key, which is about so many instructions."""
        found = self.numbers.get(key)
        if found is None:
            self.size += size
            found = self.numbers[key] = self.new_number()
        return found

    def new_number(self) -> int:
        """A number that no key has."""
        return next(self._count)


class ValueNumbering:
    """Numbers the instructions and computations of a module: those that are alike have one number.

    >>> from ops import REGISTRY, hlo
    >>> module = hlo.parse('''ENTRY e {
    ...   p = f32[8] parameter(0), metadata={op_name="x"}
    ...   a = f32[8] negate(p)
    ...   b = f32[8] negate(a)
    ...   ROOT c = f32[4,2] reshape(b) }''')
    >>> numbering = ValueNumbering(REGISTRY)
    >>> p, a, b, c = map(numbering.number, module.instructions)
    >>> a == b, a == c
    (True, False)
    """

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._shared = _Answers.shared()
        self._module = self._shared.new_number()
        self._own = _Answers()
        self._singles: set[Instruction] = set()
        self.numbers: dict[Instruction | Computation, int] = {}
        self._shapes: dict[int, tuple[int, Shape]] = {}
        self._dynamic: set[int] = set()

    def number(self, instruction: Instruction) -> int:
        """The number that an instruction shares with those that are like it."""
        found = self.numbers.get(instruction)
        if found is None:
            key = self._key(instruction)
            if key not in self._shared.numbers and self._is_single(instruction, key):
                self._singles.add(instruction)
                found = self._shared.new_number()
            else:
                found = self._shared.number(key)
            self.numbers[instruction] = found
        return found

    def number_of_computation(self, computation: Computation) -> int:
        """The number that a computation shares with those whose instructions are alike."""
        if computation not in self.numbers:
            for callee in postorder([computation], self._unnumbered):
                key = self._key_of_computation(callee)
                self.numbers[callee] = self._shared.number(key, len(callee.instructions))
        return self.numbers[computation]

    def links(self, instruction: Instruction, direction: Direction) -> tuple[Link, ...]:
        """The links between arrays of the result and of the operands that its rule tells.

        They are unknown, with the error as the reason, where shapes and attributes of the
        instruction do not fit: one bad instruction takes away only itself.

        Raises:
            HloTextError: what a rule of the user answers does not fit the instruction.
        """
        question = self.number(instruction), direction
        memory = self._own if instruction in self._singles else self._shared
        found = memory.links.get(question)
        if found is None:
            try:
                with errors_in(instruction):
                    answer = self._answer_of_rule(instruction, self._key(instruction))
                    found = tuple(links_of(instruction, answer, direction))
            except HloTextError as error:
                if not self._registry.is_standard(instruction):
                    raise
                found = tuple(links_of_unfit(instruction, error, direction))
            memory.links[question] = found
        return found

    def _is_single(self, instruction: Instruction, key: Hashable) -> bool:
        """Whether no other instruction is like this one, which may be wrong or read values."""
        if key is instruction:
            return True
        calls = self._registry.calls(instruction)
        if calls:
            return calls.selector is not None or any(
                each in self._singles
                for callee in instruction.computations
                for each in callee.instructions
            )
        try:
            return reads_operands(self._answer_of_rule(instruction, key))
        except IndexingError:
            return True

    def _answer_of_rule(self, instruction: Instruction, key: Hashable) -> Maps | Routes:
        """The rule's answer for all instructions of a key; they call no computation."""
        memory = self._own if key is instruction else self._shared
        found = memory.answers.get(key)
        if found is None:
            routes = self._registry.routes(instruction)
            found = self._registry.maps(instruction) if routes is None else routes
            check_answer(instruction, found)
            memory.answers[key] = found
        return found

    # Keys to compare.

    def _key(self, instruction: Instruction) -> Hashable:
        """The facts that the answer of a rule depends on."""
        if not self._registry.is_standard(instruction):
            return instruction
        opcode, named, shape = instruction.opcode, instruction.attributes, self._shape
        telling = (name for name in named if name not in _NAMES_AND_NOTES)
        more = [self._attribute(name, named[name]) for name in telling]
        if opcode == "custom-call":
            more.append(named.get("backend_config"))
        rule = self._registry.rule_of(instruction)
        if rule and rule.values:
            try:
                more.append(rule.values(instruction))
            except ShapeError:
                return instruction
        arrays = [shape(each.shape) for each in (instruction, *instruction.operands)]
        if not self._dynamic.isdisjoint(arrays):  # the parameters are those of the module
            more += [self._module, *_dynamic_sizes(instruction)]
        return opcode, *arrays, *more

    def _attribute(self, name: str, value: Any) -> Hashable:  # noqa: ANN401  (one type for each name)
        if name in CALLED_ATTRIBUTES:
            called = cast(
                "tuple[Computation, ...]", value if isinstance(value, tuple) else (value,)
            )
            return name, *map(self.number_of_computation, called)
        return name if name == "channel_id" else (name, value)  # no map depends on the number

    def _shape(self, shape: Shape) -> int:
        """A number for a shape; most equal ones in a module are the same object."""
        found = self._shapes.get(id(shape))
        if found is None:
            found = self._shapes[id(shape)] = self._shared.number(shape), shape
            if any(array.dynamic_dimensions for array in shape.arrays):
                self._dynamic.add(found[0])
        return found[0]

    def _key_of_computation(self, computation: Computation) -> Hashable:
        positions = {each: number for number, each in enumerate(computation.instructions)}
        return (
            positions[computation.root],
            *(
                (self.number(each), each.parameter_number, *map(positions.get, each.operands))
                for each in computation.instructions
            ),
        )

    def _unnumbered(self, computation: Computation) -> list[Computation]:
        """The computations that instructions of one name among their attributes."""
        return [
            callee
            for instruction in computation.instructions
            for callee in instruction.computations
            if callee not in self.numbers
        ]


def _dynamic_sizes(instruction: Instruction) -> Iterator[Hashable]:
    """The sizes that shapes leave open, of a result and its operands, with their bounds."""
    yield instruction.computation.module.size_facts
    for each in (instruction, *instruction.operands):
        for number, array in enumerate(each.shape.arrays):
            if array.dynamic_dimensions:
                yield array_sizes(each, number)


# The data flow.

CallEdge: TypeAlias = "tuple[Array, AnyDependence | None]"
"""An array of another computation, and the dependence on it; ``None`` if it is the same array."""

Position: TypeAlias = "tuple[int, int]"
"""The number of a parameter, or 0 for what is none, and that of an array in it."""

Summary: TypeAlias = "Mapping[Position, Sequence[tuple[int, AnyDependence]]]"
"""For each source of a computation: the numbers of the sinks it reaches, and the dependences.

From results to operands, the sources are the arrays of the root, and the sinks those of all
parameters; in the other direction it is the other way round."""


class DataFlow:
    """Follows dependences in one direction; remembers the computations it has seen.

    It summarizes a called computation once, from all its sources together, however often it is
    called and however many computations are like it.
    """

    def __init__(self, direction: Direction, registry: Registry, numbering: ValueNumbering) -> None:
        self.direction = direction
        self._registry = registry
        self._is_backward = direction is Direction.OUTPUT_TO_INPUT
        self._interner = Interner()
        self._callees: dict[Computation, tuple[Computation, ...]] = {}
        self._graphs: dict[Computation, Graph] = {}
        self._shortcuts: dict[Computation, Graph] = {}
        self._arrays_at_sinks: dict[Computation, Sequence[Array]] = {}
        self._numbering = numbering
        self._links_from: dict[tuple[int, int], list[Link]] = {}
        self._summaries: dict[int, Summary] = {}
        self._of_entries: dict[tuple[Computation, bool], Summary] = {}
        self._reached: dict[Computation, Summary] = {}
        self._any_iteration: dict[Instruction, list[Link]] = {}

    def callees(self, computation: Computation) -> tuple[Computation, ...]:
        """The computations that the instructions of one call, each once."""
        if computation not in self._callees:
            found = map(self._registry.calls, computation.instructions)
            called = (callee for calls in found if calls for callee in calls.computations)
            self._callees[computation] = tuple(dict.fromkeys(called))
        return self._callees[computation]

    def links_from(self, instruction: Instruction, start: int) -> list[Link]:
        """The links that start at one array of the result, or at any array of one operand."""
        number = self._numbering.number(instruction)
        found = self._links_from.get((number, start))
        if found is None:
            grouped: dict[tuple[int, int], list[Link]] = {(number, start): []}
            for link in self._links(instruction):
                begin = link.output if self._is_backward else link.operand
                grouped.setdefault((number, begin), []).append(link)
            self._links_from |= grouped
            found = grouped[number, start]
        return found

    def entries(self, instruction: Instruction, number: int) -> list[CallEdge]:
        """The results of called computations that an array of the result is made of."""
        calls = self._registry.calls(instruction)
        if not calls:
            return []
        if not calls.condition:
            inner = number - calls.first_output(instruction)
            roots = enumerate(call.computation.root for call in calls.choices)
            return [
                ((root, inner), chosen((instruction, number), calls, choice))
                for choice, root in roots
                if inner in root.shape.array_indices
            ]
        if instruction not in self._any_iteration:
            self._any_iteration[instruction] = self._repeated(instruction)
        body, condition = calls.computations
        steps: list[CallEdge] = [
            ((body.root, link.element), link.dependence)
            for link in self._any_iteration[instruction]
            if link.output == number
        ]
        if number not in kept_by(body, self._registry.routes):
            decision = decided((instruction, number), Direction.OUTPUT_TO_INPUT)
            steps.append(((condition.root, 0), decision))
        return steps

    def follow(
        self, starts: Mapping[Array, AnyDependence], within: Container[Instruction] | None = None
    ) -> dict[Array, AnyDependence]:
        """The dependences of some arrays of a computation on all that they reach, in order.

        Instructions that ``within`` does not hold are not followed.
        """
        graph = self._graph(next(iter(starts))[0].computation)
        facts = {array: {self._interner.interned(each): 1} for array, each in starts.items()}
        solution = graph.solve(facts, self._interner, within)
        return {array: dependence for array, (dependence,) in solution.items()}

    def follow_through(self, begin: Array) -> dict[Array, AnyDependence]:
        """The dependences of an array of a computation on the sinks of the computation."""
        computation = begin[0].computation
        if begin[0] not in self._begins(computation):
            summary = self._across(computation, [begin], self._interner)
        elif computation.is_entry:
            summary = self._summary_of_entry(begin)
        else:
            summary = self._summary(computation)
        return self._from(begin, summary)

    def reach(self, begin: Array) -> dict[Array, AnyDependence]:
        """The sinks of :meth:`follow_through`, each with something or unknown, without the maps."""
        computation = begin[0].computation
        if computation not in self._reached:
            begins = arrays_of(self._begins(computation))
            self._reached[computation] = self._across(computation, begins, Reach())
        return self._from(begin, self._reached[computation])

    def _from(self, begin: Array, summary: Summary) -> dict[Array, AnyDependence]:
        """The sinks that an array reaches."""
        sinks = self._sinks(begin[0].computation)
        return {sinks[number]: found for number, found in summary[_position(begin)]}

    def compose(self, consumer: AnyDependence, producer: AnyDependence) -> AnyDependence:
        """A composition, looked up if the analysis has made it before."""
        interned = self._interner.interned
        return self._interner.compose(interned(consumer), interned(producer))

    def steps_from(self, array: Array) -> list[Step]:
        """The neighbours of an array in its computation; calls lead to their operands."""
        graph = self._graph(array[0].computation)
        steps = graph.steps(graph.numbers[array])
        return [(graph.arrays[target], step) for target, step in steps]

    def _summary(self, computation: Computation) -> Summary:
        """The summary of a computation, which those that are alike share."""
        key = self._numbering.number_of_computation(computation)
        if key not in self._summaries:
            sources = arrays_of(self._begins(computation))
            self._summaries[key] = self._across(computation, sources, self._interner)
        return self._summaries[key]

    def _summary_of_entry(self, begin: Array) -> Summary:
        """The summary from all arrays that reach few sinks, as one does, or from all that do not.

        Whoever asks about the former need not wait for the latter, which whole models lie behind.
        """
        entry, is_narrow = key = begin[0].computation, self._is_narrow(begin)
        if key not in self._of_entries:
            sources = arrays_of(self._begins(entry))
            alike = [each for each in sources if self._is_narrow(each) == is_narrow]
            self._of_entries[key] = self._across(entry, alike, self._interner)
        return self._of_entries[key]

    def _is_narrow(self, begin: Array) -> bool:
        return len(self.reach(begin)) <= limits.FEW_SINKS

    def _across(
        self, computation: Computation, sources: Sequence[Array], interner: Interner
    ) -> Summary:
        """The summary from some arrays, which are followed together."""
        if computation not in self._shortcuts:
            graph = self._graph(computation)
            self._shortcuts[computation] = graph.towards(self._sinks(computation))
        starts = {
            begin: {interner.interned(itself(begin)): 1 << number}
            for number, begin in enumerate(sources)
        }
        solution = self._shortcuts[computation].solve(starts, interner)
        found: dict[int, list[tuple[int, AnyDependence]]] = {
            1 << number: [] for number in range(len(sources))
        }
        for number, end in enumerate(self._sinks(computation)):
            for dependence, questions in solution.get(end, {}).items():
                arrival = number, dependence
                for question in single_questions(questions):
                    found[question].append(arrival)
        return dict(zip(map(_position, sources), found.values(), strict=True))

    def _unseen_callees(self, computation: Computation) -> list[Computation]:
        return [each for each in self.callees(computation) if each not in self._shortcuts]

    def _begins(self, computation: Computation) -> Sequence[Instruction]:
        """The instructions where paths through a computation start."""
        return [computation.root] if self._is_backward else computation.parameters

    def _sinks(self, computation: Computation) -> Sequence[Array]:
        """The arrays where paths through a computation end."""
        if computation not in self._arrays_at_sinks:
            sinks = computation.parameters if self._is_backward else [computation.root]
            self._arrays_at_sinks[computation] = arrays_of(sinks)
        return self._arrays_at_sinks[computation]

    def _graph(self, computation: Computation) -> Graph:
        """The graph of a computation."""
        if computation not in self._graphs:
            begins = self._begins(computation)[::-1]
            order = topological_order([*computation.instructions, *begins], self._behind)
            self._graphs[computation] = Graph(arrays_of(order), self._linked, self._steps_of)
        return self._graphs[computation]

    def _behind(self, instruction: Instruction) -> Sequence[Instruction]:
        """The instructions that steps from this one lead to."""
        return instruction.operands if self._is_backward else instruction.users

    def _linked(self, instruction: Instruction) -> Sequence[Instruction]:
        """The instructions whose links begin at this one."""
        return (instruction,) if self._is_backward else instruction.users

    def _steps_of(self, instruction: Instruction) -> Iterator[tuple[Array, Step]]:
        """The steps along the links of an instruction."""
        for link in self._links(instruction):
            result = instruction, link.output
            operand = instruction.operands[link.operand], link.element
            begin, end = (result, operand) if self._is_backward else (operand, result)
            yield begin, (end, self._step(begin, link.dependence))

    def _step(self, begin: Array, dependence: AnyDependence) -> AnyDependence | None:
        """The dependence, or ``None`` if every element leads to its like.

        A slice from the front is an identity, too, but not from every element.
        """
        is_identity = dependence == identity_of(*begin)
        return None if is_identity else self._interner.interned(dependence)

    def _links(self, instruction: Instruction) -> Sequence[Link]:
        """All links of an instruction."""
        calls = self._registry.calls(instruction)
        if not calls:
            return self._numbering.links(instruction, self.direction)
        try:
            _check_calls(instruction, calls)
        except HloTextError as error:
            return [*links_of_unfit(instruction, error, self.direction)]
        for callee in postorder(calls.computations, self._unseen_callees):
            self._summary(callee)
        links = self._of_calls(instruction, calls)
        found = (self._where_chosen(instruction, calls, each) for each in links)
        return [*filter(None, found)]

    def _where_chosen(self, instruction: Instruction, calls: Calls, link: Link) -> Link | None:
        """A link seen from a call, where its computation is chosen; ``None`` if it never is."""
        link = link._replace(dependence=called_by(instruction, link.dependence))
        through = [n for n, call in enumerate(calls.choices) if link.operand in call.operands]
        choice = chosen((instruction, link.output), calls, through[0]) if through else None
        if choice is None:
            return link
        ends = (choice, link.dependence) if self._is_backward else (link.dependence, choice)
        found = self.compose(*ends)
        is_never = found.indexings and all(each.map.is_known_empty for each in found.indexings)
        return None if is_never else link._replace(dependence=found)

    def _of_calls(self, instruction: Instruction, calls: Calls) -> list[Link]:
        arrays = arrays_of([instruction])
        themselves = links_of(instruction, Routes(through_tuple(instruction)), self.direction)
        if calls.condition and never_runs(instruction):
            return [*themselves]
        if calls.condition:
            return self._iterated(instruction) or self._repeated(instruction)
        if calls.is_start:
            first, inside = calls.first_output(instruction), self._through(calls.choices[0])
            started = (link._replace(output=link.output + first) for link in inside)
            return [*themselves, *started]
        if calls.selector is None:
            return self._through(calls.choices[0])
        links = [link for call in calls.choices for link in self._through(call)]
        return links + selected(arrays, calls.selector, self.direction)

    def _iterated(self, instruction: Instruction) -> list[Link]:
        """The links of a loop with a known number of iterations; empty for other loops."""
        counted = counted_loop(instruction)
        if counted is None or any(each.dynamic_dimensions for each in instruction.shape.arrays):
            return []
        body, condition, kept = self._in_loop(instruction)
        arrays = arrays_of([instruction])
        loop = TimedLoop(counted, arrays, kept, self.direction, windows_of(counted))
        return iterated(loop, body, condition)

    def _repeated(self, instruction: Instruction) -> list[Link]:
        """The links of a loop for any number of iterations."""
        body, condition, kept = self._in_loop(instruction)
        return repeated(body, condition, arrays_of([instruction]), kept, self.direction)

    def _in_loop(self, loop: Instruction) -> tuple[list[Link], list[Link], frozenset[int]]:
        """The links of the body of a loop and of its condition, and the arrays that it keeps."""
        body, condition = loop.attributes["body"], loop.attributes["condition"]
        links, decisions = map(self._through_computation, (body, condition))
        return links, decisions, kept_by(body, self._registry.routes)

    def _through(self, call: Call) -> list[Link]:
        """The links of a called computation, with the operands of its caller."""
        links = self._through_computation(call.computation)
        return [link._replace(operand=call.operands[link.operand]) for link in links]

    def _through_computation(self, callee: Computation) -> list[Link]:
        """The links between result and parameters."""
        sinks = [_position(end) for end in self._sinks(callee)]
        return [
            self._link(begin, sinks[number], dependence)
            for begin, arrivals in self._summary(callee).items()
            for number, dependence in arrivals
        ]

    def _link(self, begin: Position, end: Position, dependence: AnyDependence) -> Link:
        (_, output), (operand, element) = (begin, end) if self._is_backward else (end, begin)
        return Link(output, operand, element, dependence)


def _position(array: Array) -> Position:
    """The number of an array of a result, or the one of all parameters."""
    instruction, number = array
    return instruction.parameter_number or 0, number


def itself(array: Array) -> AnyDependence:
    """Dependence of an array on itself, simplified as all that is composed with it."""
    return identity_of(*array).simplify()


def check_output(instruction: Instruction, output: int) -> None:
    """Raise a :class:`ShapeError` unless the result has an array of this number."""
    _check_number(instruction, "output", output, len(instruction.shape.arrays))


def check_operand(instruction: Instruction, number: int) -> None:
    """Raise a :class:`ShapeError` unless there is an operand of this number."""
    _check_number(instruction, "operand", number, len(instruction.operands))


def _check_number(instruction: Instruction, what: str, number: int, count: int) -> None:
    if not 0 <= number < count:
        raise ShapeError(f"%{instruction.name}: there is no {what} {number} among {count}")


def operand_number(asker: str, reader: Instruction, operand: int | str | Instruction) -> int:
    """The number of an operand that is given by its number or name, or itself.

    Raises:
        ArgumentError: the reader is no instruction.
        ShapeError: it reads no such operand, or reads it more than once.
    """
    check_type(reader, Instruction, f"{asker}: the instruction", INSTRUCTION)
    if not isinstance(operand, str | Instruction):
        return operand
    name = operand.name if isinstance(operand, Instruction) else operand.removeprefix("%")
    numbers = [
        number
        for number, each in enumerate(reader.operands)
        if each is operand or (isinstance(operand, str) and each.name == name)
    ]
    if len(numbers) == 1:
        return numbers[0]
    if numbers:
        places = listed([*map(str, numbers)])
        raise ShapeError(f"{asker}: %{name} is operand {places} of %{reader.name}; expected one")
    known = listed([f"%{each.name}" for each in reader.operands]) or "none"
    raise ShapeError(f"{asker}: %{reader.name} does not read %{name}; its operands: {known}")


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


def arrays_of(instructions: Iterable[Instruction]) -> list[Array]:
    """The arrays of all results."""
    return [(each, number) for each in instructions for number in each.shape.array_indices]


# Slices: everything that an array depends on, in its computation and in those that it calls.
#
# A slice consists of frames, one for each pass through a computation. A frame remembers how
# others led to it, so that whoever asks for the paths of a slice reads them backwards.


@dataclass(eq=False, slots=True)
class CallFrame:
    """One pass through a computation: its start, its way there, and the arrays it reaches."""

    computation: Computation
    starts: dict[Array, AnyDependence]
    entries: list[EntryEdge] = field(default_factory=list["EntryEdge"])
    reached: dict[Array, AnyDependence] = field(default_factory=dict[Array, AnyDependence])

    @classmethod
    def at(cls, start: Array) -> CallFrame:
        """The frame that begins at one array."""
        return cls(start[0].computation, {start: itself(start)})

    def follow(self, flow: DataFlow, within: Container[Instruction] | None = None) -> CallFrame:
        """Find the arrays reached; only instructions ``within`` are followed, by default all."""
        self.reached = flow.follow(self.starts, within)
        return self


class EntryEdge(NamedTuple):
    """A step from an array of one frame to the start of another, maybe back to a caller."""

    frame: CallFrame
    array: Array
    edge: CallEdge
    caller: Instruction | None = None

    def after(self, dependence: AnyDependence) -> AnyDependence:
        """The dependence on the start of the next frame, behind one on the array of this one."""
        if self.caller:
            dependence = called_by(self.caller, dependence)
        step = self.edge[1]
        return dependence if step is None else dependence.compose(step)


def enter(frames: dict[Computation, CallFrame], entry: EntryEdge) -> None:
    """Begin the frame of a computation where another one leads to, too."""
    target, _ = entry.edge
    frame = frames.setdefault(target[0].computation, CallFrame(target[0].computation, {}))
    frame.entries.append(entry)
    before = frame.starts.get(target, NOTHING)
    frame.starts[target] = before.union(entry.after(entry.frame.reached[entry.array]))


def frames_inside(
    outermost: CallFrame,
    flow: DataFlow,
    within: Container[Instruction] | None = None,
    entered: Container[Computation] | None = None,
    callees: Callable[[Computation], Iterable[Computation]] | None = None,
) -> list[CallFrame]:
    """The frames from the starts of one: in its computation, and in all that is called there.

    In the computation itself only the instructions ``within`` are followed, and only computations
    that are to be ``entered`` are; by default all. ``callees`` are those of these instructions. A
    frame comes after those that lead to it.
    """
    frames = {outermost.computation: outermost}
    followed: list[CallFrame] = []
    for computation in reversed(postorder([outermost.computation], callees or flow.callees)):
        frame = frames.get(computation)
        if frame:
            limit = within if frame is outermost else None
            followed.append(frame.follow(flow, limit))
            for array, edge in _entries(frame, flow, limit):
                if entered is None or edge[0][0].computation in entered:
                    enter(frames, EntryEdge(frame, array, edge))
    return followed


def _entries(
    frame: CallFrame, flow: DataFlow, limit: Container[Instruction] | None
) -> Iterator[tuple[Array, CallEdge]]:
    """The arrays of a frame that are results of computations called."""
    for array in frame.reached:
        if limit is None or array[0] in limit:
            for edge in flow.entries(*array):
                yield array, edge


def union_of(frames: Iterable[CallFrame]) -> dict[Array, AnyDependence]:
    """The arrays that several frames reach, united."""
    found: dict[Array, AnyDependence] = {}
    for frame in frames:
        for array, dependence in frame.reached.items():
            before = found.get(array)
            found[array] = dependence if before is None else before.union(dependence)
    return found


def by_instruction(found: Mapping[Array, AnyDependence]) -> AnswerDict[Instruction, AnyDependence]:
    """The dependences on the arrays of each instruction as one, which tells them apart."""
    together: dict[Instruction, list[AnyDependence]] = defaultdict(list)
    for (instruction, number), dependence in found.items():
        together[instruction].append(of_element(dependence, number))
    return AnswerDict(
        (instruction, first.union(*others) if others else first)
        for instruction, (first, *others) in together.items()
    )
