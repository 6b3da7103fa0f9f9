"""The iterations of a loop as a dimension: what each of them reads and writes.

In front of the number of the iteration stands what all iterations have in common without anybody
knowing it: the counters of loops around this one, and offsets from outside of it.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from indexing import IndexingMap, IndexRelation, Variable
from indexing.domain import Domain, substituted_constraints
from ops.dependence.dependence import Dependence
from ops.dependence.operand_indexing import OperandIndexing
from ops.devices.numbering import is_number_of_device
from ops.index_maps import dim, dimensions_of, index_map, runtime_value, symbol
from ops.rules.op_indexing import Unknown
from ops.rules.sources import source_of
from simplifier import Interval
from simplifier.expr.operations import substitute

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ops.dependence.runtime_origin import RuntimeOrigin
    from ops.hlo import Computation
    from ops.loops.accesses import Accesses, Read, Write
    from ops.rules.counted_loops import CountedLoop
    from simplifier.exact import Budget
    from simplifier.expr.form import Form

ITERATION: Final = "k"
"""What the number of an iteration is called in maps."""


class Touched(NamedTuple):
    """Elements by iteration, and why an iteration may touch fewer; empty if it touches them all."""

    elements: IndexingMap
    approximation: str = ""


class IterationSpace:
    """What the iterations of a counted loop read and write."""

    def __init__(self, loop: CountedLoop, accesses: Accesses) -> None:
        self.accesses = accesses
        self._loop = loop
        self._common: dict[object, Variable] = {}
        for dependence in accesses.dependences:
            for indexing in dependence.indexings:
                for pair in zip(indexing.runtime, indexing.map.runtime, strict=True):
                    self._meet(*pair)

    @property
    def number(self) -> Variable:
        """The number of the iteration."""
        return Variable(Interval(0, self._loop.trip_count - 1), ITERATION)

    @property
    def trip_count(self) -> int:
        """How many iterations there are."""
        return self._loop.trip_count

    @property
    def common(self) -> tuple[Variable, ...]:
        """What all iterations have in common without anybody knowing it."""
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
        """Which elements of an array of the state each iteration writes, and why maybe fewer."""
        writes = (each for each in self.accesses.writes if each.array == number)
        return _united(access for each in writes for access in self.writes(each, self._keys))

    def writes(self, write: Write, front: Sequence[Form] = ()) -> Iterator[Touched]:
        """What an instruction writes in each iteration, behind something else."""
        for each in write.elements.indexings:
            found = self._access(each, front)
            yield found._replace(approximation=found.approximation or write.doubt)

    def read(self, number: int) -> tuple[IndexRelation[IndexingMap] | None, str]:
        """Which elements of an array of the state each iteration reads, and why maybe fewer."""
        found: list[IndexRelation[IndexingMap]] = []
        reasons: list[str] = []
        for read in self.accesses.reads:
            elements = read.elements
            if isinstance(elements, Unknown):
                reasons.append(elements.reason)
                elements = Dependence([self._everything(number)])
            ways = [each for each in elements.indexings if each.element == number]
            relation, reason = _united(self._read(ways, read))
            if relation is not None:
                reasons.append(reason)
                found.append(self._after_writes(relation, read))
        whole = found[0] if found else None
        for each in found[1:]:
            whole = each if whole is None else whole | each
        return whole, next(filter(None, reasons), self.accesses.doubt)

    def numbers(
        self, relation: IndexRelation[IndexingMap], budget: Budget
    ) -> IndexRelation[IndexingMap]:
        """A relation between iterations without what they have in common."""
        every = (*self.common, self.number)
        alone = index_map([dim(len(self.common))], [each.bounds for each in every])
        begin = IndexingMap.from_forms([dim(0)], Domain((self.number,)))
        return (
            IndexRelation(begin)
            .compose(IndexRelation(alone).inverse(budget=budget), budget=budget)
            .compose(relation, budget=budget)
            .compose(alone, budget=budget)
        )

    # What iterations have in common.

    @property
    def _keys(self) -> list[Form]:
        """What tells elements of two runs of the whole loop apart: all that iterations share."""
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
        """What tells a value that all iterations have in common from others; else ``None``."""
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
        return frozenset(_run_by(self._loop.instruction.attributes["body"]))

    # Accesses.

    def _access(self, indexing: OperandIndexing, front: Sequence[Form]) -> Touched:
        """From an iteration to all elements that an indexing leads to."""
        own = indexing.map.domain
        free = [*own.dims, *own.ranges]
        values = {name: symbol(place) for place, name in enumerate(own.identifiers[: len(free)])}
        approximation = self._set_values(indexing, values, free)
        roles = (*self.common, self.number), _without_names(free), ()
        return Touched(_rewritten(indexing.map, roles, values, front), approximation)

    def _read(self, ways: Iterable[OperandIndexing], read: Read) -> Iterator[Touched]:
        """What is read; behind an iteration and an element of what is written, if that counts."""
        for indexing in ways:
            if read.written is None:
                yield self._access(indexing, self._keys)
                continue
            own, before = indexing.map.domain, len(self.common) + 1
            values = {f"d{place}": dim(place + before) for place in range(len(own.dims))}
            free = [*own.ranges]
            approximation = self._set_values(indexing, values, free)
            dims = *self.common, self.number, *_without_names(own.dims)
            roles = dims, _without_names(free), ()
            yield Touched(_rewritten(indexing.map, roles, values, self._keys), approximation)

    def _after_writes(
        self, relation: IndexRelation[IndexingMap], read: Read
    ) -> IndexRelation[IndexingMap]:
        """What iterations read to make what they write."""
        if read.written is None:
            return relation
        front = [*self._keys, dim(len(self.common))]
        written, _ = _united(access for each in read.written for access in self.writes(each, front))
        return relation if written is None else written.compose(relation)

    def _set_values(
        self, indexing: OperandIndexing, values: dict[str, Form], free: list[Variable]
    ) -> str:
        """Add the values of runtime variables; what varies within an iteration is one more range.

        The answer says why the indexing holds more than what the program does, or nothing.
        """
        approximation = indexing.approximation
        for number, (origin, variable) in enumerate(_runtime(indexing)):
            value = self._value(origin, variable)
            if value is None:
                value = symbol(len(free))
                free.append(variable)
                approximation = approximation or self._why_any(origin)
            values[f"rt{number}"] = value
        return approximation

    def _why_any(self, origin: RuntimeOrigin) -> str:
        """Why a runtime variable stands for any value; empty if it takes them all."""
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


def _run_by(computation: Computation) -> Iterator[Computation]:
    """A computation and all that it runs."""
    yield computation
    for instruction in computation.instructions:
        for callee in instruction.computations:
            yield from _run_by(callee)
