"""Value numbering: instructions with one number have the same maps, found once for all of them.

Layers of a model repeat themselves. Two instructions are alike if everything that their maps depend
on is equal: opcode, shapes with their layouts, attributes and the computations in them. One that
reads the value of a runtime variable from an operand is like no other, as the value may be known
or may not; if the rule finds that all values are known, those that have the same are alike.
Calls of a computation with an instruction like no other are like no other, too.

Modules repeat each other as well: what holds for all instructions that are alike is remembered for
the next module of the process.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from itertools import count
from typing import Any, ClassVar, Final, TypeAlias, cast

from indexing.layout import Shape, ShapeError
from ops import limits
from ops.dependence import dependence
from ops.dependence.dependence import Link
from ops.hlo import Computation, Instruction
from ops.hlo.attributes import CALLED_ATTRIBUTES, COMMON_ATTRIBUTES
from ops.hlo.errors import HloTextError
from ops.hlo.true_sizes import array_sizes
from ops.rules.registry import Registry
from ops.rules.rule import Direction, Maps, Routes
from simplifier.errors import IndexingError
from simplifier.tools.graphs import postorder

Key: TypeAlias = Hashable

_NAMES_AND_NOTES: Final = frozenset(COMMON_ATTRIBUTES)
"""The attributes that no map depends on, but for the configuration of a custom call."""

_NUMBERS_OF_CHANNELS: Final = frozenset({"channel_id"})
"""The attributes of which it counts that they are there, and not their values."""


class _Answers:
    """Answers about instructions: the answer of the rule by key, its links by number."""

    def __init__(self) -> None:
        self.answers: dict[Key, Maps | Routes] = {}
        self.links: dict[tuple[int, Direction], tuple[Link, ...]] = {}


class _SharedAnswers(_Answers):
    """Answers about instructions that are alike, in whatever module; and their numbers."""

    _current: ClassVar[_SharedAnswers | None] = None

    def __init__(self) -> None:
        super().__init__()
        self._numbers: dict[Key, int] = {}
        self._count = count()
        self._size = 0

    @classmethod
    def current(cls) -> _SharedAnswers:
        """The memory that a module begins with, and keeps: a new one if the last one is full."""
        if cls._current is None or cls._current.is_full:
            cls._current = cls()
        return cls._current

    @property
    def is_full(self) -> bool:
        """Whether it has as much as may be remembered."""
        return self._size >= limits.MAX_REMEMBERED_INSTRUCTIONS

    def known_number(self, key: Key) -> int | None:
        """The number of a key, if it has one."""
        return self._numbers.get(key)

    def number(self, key: Key, size: int = 1) -> int:
        """The number of a key, which is about so many instructions."""
        found = self.known_number(key)
        if found is None:
            self._size += size
            found = self._numbers[key] = self.new_number()
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
        self._shared = _SharedAnswers.current()
        self._module = self._shared.new_number()
        self._own = _Answers()
        self._singles: set[Instruction] = set()
        self._numbers: dict[Instruction | Computation, int] = {}
        self._shapes: dict[int, tuple[int, Shape]] = {}
        self._dynamic: set[int] = set()

    def number(self, instruction: Instruction) -> int:
        """The number that an instruction shares with those that are like it."""
        found = self._numbers.get(instruction)
        if found is None:
            key = self._key(instruction)
            found = self._shared.known_number(key)
            if found is None and self._is_single(instruction, key):
                self._singles.add(instruction)
                found = self._shared.new_number()
            elif found is None:
                found = self._shared.number(key)
            self._numbers[instruction] = found
        return found

    def has_number(self, instruction: Instruction) -> bool:
        """Whether anybody asked for the number of an instruction."""
        return instruction in self._numbers

    def number_of_computation(self, computation: Computation) -> int:
        """The number that a computation shares with those whose instructions are alike."""
        if computation not in self._numbers:
            for callee in postorder([computation], self._unnumbered):
                key = self._key_of_computation(callee)
                self._numbers[callee] = self._shared.number(key, len(callee.instructions))
        return self._numbers[computation]

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
                with dependence.errors_in(instruction):
                    answer = self._answer_of_rule(instruction, self._key(instruction))
                    found = tuple(dependence.links_of(instruction, answer, direction))
            except HloTextError as error:
                if not self._registry.is_standard(instruction):
                    raise
                found = tuple(dependence.links_of_unfit(instruction, error, direction))
            memory.links[question] = found
        return found

    def _is_single(self, instruction: Instruction, key: Key) -> bool:
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
            return dependence.reads_operands(self._answer_of_rule(instruction, key))
        except IndexingError:
            return True

    def _answer_of_rule(self, instruction: Instruction, key: Key) -> Maps | Routes:
        """The rule's answer for all instructions of a key; they call no computation."""
        memory = self._own if key is instruction else self._shared
        found = memory.answers.get(key)
        if found is None:
            routes = self._registry.routes(instruction)
            found = self._registry.maps(instruction) if routes is None else routes
            dependence.check_answer(instruction, found)
            memory.answers[key] = found
        return found

    # Keys to compare.

    def _key(self, instruction: Instruction) -> Key:
        """The facts that the answer of a rule depends on."""
        if not self._registry.is_standard(instruction):
            return instruction
        opcode, named, shape = instruction.opcode, instruction.attributes, self._shape
        more = [
            self._attribute(name, named[name]) for name in named if name not in _NAMES_AND_NOTES
        ]
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

    def _attribute(self, name: str, value: Any) -> Key:  # noqa: ANN401  (one type for each name)
        if name in CALLED_ATTRIBUTES:
            called = cast(
                "tuple[Computation, ...]", value if isinstance(value, tuple) else (value,)
            )
            return name, *map(self.number_of_computation, called)
        return name if name in _NUMBERS_OF_CHANNELS else (name, value)

    def _shape(self, shape: Shape) -> int:
        """A number for a shape; most equal ones in a module are the same object."""
        found = self._shapes.get(id(shape))
        if found is None:
            found = self._shapes[id(shape)] = self._shared.number(shape), shape
            if any(array.dynamic_dimensions for array in shape.arrays):
                self._dynamic.add(found[0])
        return found[0]

    def _key_of_computation(self, computation: Computation) -> Key:
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
            if callee not in self._numbers
        ]


def _dynamic_sizes(instruction: Instruction) -> Iterator[Key]:
    """The sizes that shapes leave open, of a result and its operands, with their bounds."""
    yield instruction.computation.module.size_facts
    for each in (instruction, *instruction.operands):
        for number, array in enumerate(each.shape.arrays):
            if array.dynamic_dimensions:
                yield array_sizes(each, number)
