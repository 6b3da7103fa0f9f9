"""The dataflow engine: from arrays of a computation to all arrays that dependences lead to.

The arrays of a computation and the steps between them are a graph. A solution is found in one pass
in topological order: what comes to an array along several steps is united, and then goes on along
all steps from there.

Many questions can go along the same steps together. Most of them have the same dependence on an
array, such as all results of a layer in front of it. So an array holds each dependence once, with
the set of questions that have it: an integer with a bit for each.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import Final, TypeAlias, TypeVar

from indexing import IndexingMap
from indexing.layout import Shape
from ops import limits
from ops.dependence.dependence import AnyDependence, Dependence, cost
from ops.dependence.operand_indexing import OperandIndexing
from ops.hlo import Instruction
from ops.rules.rule import if_known

Array: TypeAlias = "tuple[Instruction, int]"
"""One array of an instruction's result: a tuple holds several, counted through nested tuples."""

Step: TypeAlias = "tuple[Array, AnyDependence | None]"
"""A neighbour, and the dependence on it; ``None`` if every element leads to its like."""

Facts: TypeAlias = "Mapping[AnyDependence, int]"
"""The dependences on an array, each with the set of questions that have it; no question has two."""


class Graph:
    """The arrays of a computation in topological order, and the steps between them.

    ``links_of`` gives the steps, with the arrays from which they lead, of an instruction: those
    that begin at an array of one of ``linked``, found when somebody wants to go on from there. So
    instructions that no question comes to are not looked at.
    """

    def __init__(
        self,
        arrays: Sequence[Array],
        linked: Callable[[Instruction], Iterable[Instruction]],
        links_of: Callable[[Instruction], Iterable[tuple[Array, Step]]],
    ) -> None:
        self.arrays = arrays
        self.numbers = {array: number for number, array in enumerate(arrays)}
        self._linked = linked
        self._links_of = links_of
        self._steps: list[list[tuple[int, AnyDependence | None]]] = [[] for _ in arrays]
        self._known: set[Instruction] = set()

    def steps(self, number: int) -> Sequence[tuple[int, AnyDependence | None]]:
        """The steps from the array of a number; all lead to arrays behind it."""
        for instruction in self._linked(self.arrays[number][0]):
            if instruction not in self._known:
                for begin, (end, step) in [*self._links_of(instruction)]:
                    self._steps[self.numbers[begin]].append((self.numbers[end], step))
                self._known.add(instruction)
        return self._steps[number]

    def solve(
        self,
        starts: Mapping[Array, Facts],
        interner: Interner,
        within: Container[Instruction] | None = None,
    ) -> dict[Array, Facts]:
        """Follow all steps from arrays, in topological order.

        Steps from instructions that ``within`` does not hold are not taken.
        """
        arriving = {self.numbers[array]: [facts] for array, facts in starts.items()}
        waiting = [*arriving]
        heapify(waiting)
        budget = Budget(interner)
        found: dict[Array, Facts] = {}
        while waiting:
            number = heappop(waiting)
            instruction, element = array = self.arrays[number]
            facts = join(arriving.pop(number), instruction.shape.arrays[element], interner)
            found[array] = facts
            if within is not None and instruction not in within:
                continue
            for target, step in self.steps(number):
                if target not in arriving:
                    arriving[target] = []
                    heappush(waiting, target)
                arriving[target].append(facts if step is None else budget.transfer(facts, step))
        return found

    def towards(self, ends: Iterable[Array]) -> Graph:
        """The graph with the steps alone from which a path leads to one of the ends."""
        leading = {self.numbers[end] for end in ends}
        every = {number: self.steps(number) for number in reversed(range(len(self.arrays)))}
        for number, steps in every.items():
            if any(target in leading for target, _ in steps):
                leading.add(number)
        found = Graph(self.arrays, lambda _: (), lambda _: ())
        for number, steps in every.items():
            found._steps[number] = [step for step in steps if step[0] in leading]
        return found


# Compositions and unions, each made once.


class Interner:
    """Table that keeps each dependence once, and its compositions and unions.

    The same few dependences meet again and again along the paths of a program: all results of a
    layer ask for the same arrays in front of it, and layers repeat each other. Maps take time to
    compare; dependences that are kept once are compared as objects.

    >>> from ops.dependence.dependence import Dependence
    >>> interner = Interner()
    >>> nothing = interner.interned(Dependence())
    >>> interner.interned(Dependence()) is nothing
    True
    >>> interner.compose(nothing, nothing) is nothing
    True
    """

    def __init__(self) -> None:
        self._interned: dict[AnyDependence, AnyDependence] = {}
        self._found: dict[object, tuple[AnyDependence, Sequence[AnyDependence]]] = {}

    def interned(self, dependence: AnyDependence) -> AnyDependence:
        """The one that is kept of all that are equal to this."""
        if len(self._interned) >= limits.MAX_INTERNED and dependence not in self._interned:
            self._interned.clear()
            self._found.clear()
        return self._interned.setdefault(dependence, dependence)

    def compose(self, consumer: AnyDependence, producer: AnyDependence) -> AnyDependence:
        """Every indexing of the producer after every one of the consumer."""
        question = id(consumer), id(producer)
        if question not in self._found:
            self._keep(question, consumer.compose(producer), (consumer, producer))
        return self._found[question][0]

    def union(self, dependences: Sequence[AnyDependence], array: Shape) -> AnyDependence:
        """All indexings of several dependences on one array."""
        first, *others = dependences
        if not others and len(first.indexings) <= 1:
            return first
        sizes = array.dimensions
        question = sizes, *map(id, dependences)
        if question not in self._found:
            self._keep(question, first.union(*others, sizes=sizes), dependences)
        return self._found[question][0]

    def _keep(self, question: object, found: AnyDependence, asked: Sequence[AnyDependence]) -> None:
        """Remember an answer, and those it is about, so that their identities stay theirs."""
        self._found[question] = self.interned(found), asked


class Reach(Interner):
    """Tells where paths lead, and whether all that they go along is known, without the maps.

    >>> from ops.rules.rule import Unknown
    >>> Reach().compose(_SOMETHING, Unknown("sort")), Reach().compose(_SOMETHING, Dependence())
    (Unknown(reason='sort'), <no Dependence>)
    """

    def interned(self, dependence: AnyDependence) -> AnyDependence:
        """One for all that lead somewhere."""
        return _SOMETHING if dependence.indexings else dependence

    def compose(self, consumer: AnyDependence, producer: AnyDependence) -> AnyDependence:
        """Something, or nothing where one of the two is."""
        return if_known(lambda *each: min(each, key=len), consumer, producer)

    def union(self, dependences: Sequence[AnyDependence], array: Shape) -> AnyDependence:  # noqa: ARG002 - as of maps
        """Something, if one is."""
        return if_known(lambda *each: max(each, key=len), *dependences)


_SOMETHING: Final = Dependence((OperandIndexing(IndexingMap.identity(())),))
"""Stands for any dependence that is known."""


class Budget:
    """Composes with no more than :data:`ops.limits.MAX_COMPOSITIONS` for each question in all.

    A repeated composition costs a question nothing, nor does one of a cost up to ``free``.
    """

    def __init__(self, interner: Interner, free: int = 1) -> None:
        self._interner = interner
        self._free = free
        self._paid: dict[tuple[AnyDependence, AnyDependence], int] = {}
        self._spent: dict[int, int] = {}

    def transfer(self, facts: Facts, step: AnyDependence) -> Facts:
        """The dependences behind a step; widened ones for questions that have nothing left."""
        behind: dict[AnyDependence, int] = {}
        for dependence, questions in facts.items():
            able = self._able(dependence, step, questions)
            if able:
                _add(behind, self._interner.compose(dependence, step), able)
            if able != questions:
                _add(behind, self._compose_widened(dependence, step), questions & ~able)
        return behind

    def compose(self, consumer: AnyDependence, producer: AnyDependence) -> AnyDependence:
        """The composition for the only question that there is."""
        if not self._able(consumer, producer, 1):
            return self._compose_widened(consumer, producer)
        return self._interner.compose(consumer, producer)

    def _compose_widened(self, consumer: AnyDependence, producer: AnyDependence) -> AnyDependence:
        interned = self._interner.interned
        return self._interner.compose(interned(consumer.widened()), interned(producer.widened()))

    def _able(self, consumer: AnyDependence, producer: AnyDependence, questions: int) -> int:
        """The questions whose budget allows a composition; its cost is charged to them."""
        step_cost = cost(consumer, producer)
        if step_cost <= self._free:
            return questions
        paid = self._paid.get((consumer, producer), 0)
        for question in single_questions(questions & ~paid):
            spent = self._spent.get(question, 0) + step_cost
            if spent <= limits.MAX_COMPOSITIONS:
                self._spent[question] = spent
                paid |= question
        self._paid[consumer, producer] = paid
        return questions & paid


# Where steps meet.

_Arrivals: TypeAlias = "dict[tuple[AnyDependence, ...], int]"
"""The dependences that came to an array, in order, with the questions that have them there."""

_Key = TypeVar("_Key")


def join(arriving: Sequence[Facts], array: Shape, interner: Interner) -> Facts:
    """The facts about an array: the dependences that each question brings there, united."""
    first = arriving[0]
    others = [facts for facts in arriving[1:] if facts != first]
    if not others and all(len(each.indexings) <= 1 for each in first):
        return first
    together: _Arrivals = {(dependence,): questions for dependence, questions in first.items()}
    for facts in others:
        together = _with_arrivals(together, facts)
    found: dict[AnyDependence, int] = {}
    for dependences, questions in together.items():
        _add(found, interner.union(dependences, array), questions)
    return found


def _with_arrivals(before: _Arrivals, facts: Facts) -> _Arrivals:
    """The arrivals at an array, with further facts added."""
    both = sum(before.values()) & sum(facts.values())  # no question is in two sets of facts
    after: _Arrivals = {}
    for dependences, questions in before.items():
        _add(after, dependences, questions & ~both)
    for dependence, questions in facts.items():
        _add(after, (dependence,), questions & ~both)
    for dependences, dependence, questions in _meetings(before, facts, both):
        is_there = dependence in dependences
        _add(after, dependences if is_there else (*dependences, dependence), questions)
    return after


def _meetings(
    before: _Arrivals, facts: Facts, both: int
) -> Iterator[tuple[tuple[AnyDependence, ...], AnyDependence, int]]:
    """Facts that questions have and get: all pairs, or one by one if these are fewer."""
    if len(before) * len(facts) <= both.bit_count():
        for dependences, questions in before.items():
            for dependence, others in facts.items():
                yield dependences, dependence, questions & others
    else:
        there = {one: each for each, had in facts.items() for one in single_questions(had & both)}
        for dependences, questions in before.items():
            for one in single_questions(questions & both):
                yield dependences, there[one], one


def _add(facts: dict[_Key, int], key: _Key, questions: int) -> None:
    """Let questions have something, too."""
    if questions:
        facts[key] = facts.get(key, 0) | questions


def single_questions(questions: int) -> Iterator[int]:
    """The sets of one question each that make up a set.

    >>> [bin(question) for question in single_questions(0b1101)]
    ['0b1', '0b100', '0b1000']
    """
    while questions:
        lowest = questions & -questions
        yield lowest
        questions ^= lowest
