"""How often a fusion reads the elements of an array."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from indexing import IndexingMap, MapError
from indexing.exact.multiplicity import multiplicities, reached, reached_again
from indexing.transform.substitute import arranged
from ops.analysis.loops import passed_to
from ops.dependence.operand_indexing import OperandIndexing, devices_in, with_values
from ops.devices.joint_indexing import deciding
from ops.rules.constant_folding import clamped
from simplifier.exact import BUDGET, BudgetError, NotQuasiAffineError
from simplifier.expr import form as forms

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from indexing.exact.sets import IndexSet
    from ops.analysis.dataflow import Array
    from ops.dependence.operand_indexing import RuntimeOrigin
    from ops.hlo import Instruction
    from ops.rules.registry import Registry
    from ops.rules.rule import Calls
    from simplifier.expr.form import Form


@dataclass(frozen=True, slots=True)
class Reads:
    """The reads of an array, one for each element of a result, map, and value of its ranges.

    So many loads there are if nothing is kept between two elements of the result. The results of
    one operation, such as a variadic reduce, are computed at once: they count as one. What is
    needed for one element twice along one map counts once: a sum over a dimension along which the
    operand is the same reads it once.

    Each question raises a :class:`MapError <indexing.MapError>` if the maps hold more than is read
    (:attr:`OperandIndexing.approximation`), lead to other devices, or depend on values that are
    known when the program runs, see :meth:`given`; and what questions to maps raise
    (:class:`indexing.relation.Relation`).

    Attributes:
        ways: the maps that lead to the array from each result that asks.
        sizes: those of the array.

    >>> from ops import Fusion, hlo
    >>> module = hlo.parse('''ENTRY e {
    ...   p = f32[20,20] parameter(0)
    ...   t = f32[20,20] transpose(p), dimensions={1,0}
    ...   upper = f32[10,20] slice(t), slice={[0:10], [0:20]}
    ...   lower = f32[10,20] slice(p), slice={[10:20], [0:20]}
    ...   ROOT sum = f32[10,20] add(upper, lower)
    ... }''')
    >>> reads = Fusion.of_computation(module.entry).reads(module.entry.parameters[0])
    >>> reads.total(), reads.distinct()
    (400, 300)
    >>> print(reads.repeated())
    (d0, d1): d0 in [10, 19], d1 in [0, 9]
    >>> reads.histogram()
    {1: 200, 2: 100}
    """

    ways: tuple[OperandIndexing, ...]
    sizes: tuple[int, ...]

    def total(self, *, budget: int | None = BUDGET) -> int:
        """How many reads there are, wherever they lead."""
        places_aside = Reads(tuple(map(_without_places, self.ways)), ())
        try:
            return sum(each.count(budget=budget) for each in places_aside._maps("total"))
        except (NotQuasiAffineError, BudgetError):
            return sum(times * number for times, number in self.histogram(budget=budget).items())

    def distinct(self, *, budget: int | None = BUDGET) -> int:
        """How many elements are read."""
        try:
            return self.elements(budget=budget).count(budget=budget)
        except (NotQuasiAffineError, BudgetError):
            return sum(self.histogram(budget=budget).values())

    def elements(self, *, budget: int | None = BUDGET) -> IndexSet:
        """The elements that are read."""
        return reached(self._maps("elements"), len(self.sizes), budget=budget)

    def repeated(self, *, budget: int | None = BUDGET) -> IndexSet:
        """The elements that are read at least twice."""
        return reached_again(self._maps("repeated"), len(self.sizes), budget=budget)

    def histogram(self, *, budget: int | None = BUDGET) -> dict[int, int]:
        """How many elements are read how often: ``{times: number of elements}``, for times > 0.

        Exact. Costs milliseconds, however large the array is, where what reads an element lies on
        a line in each group of dimensions that depend on each other, as with windows and
        broadcasts; else all reads of such a group are gone through.

        Raises:
            MapError: these are more than :data:`indexing.exact.multiplicity.MAX_POINTS`.
        """
        return multiplicities(self._maps("histogram"), budget=budget)

    def times(self, *, budget: int | None = BUDGET) -> int | None:
        """How often each element that is read is read, if that is the same for all."""
        found = [*self.histogram(budget=budget)]
        return found[0] if len(found) == 1 else None

    def given(self, values: Mapping[Instruction, int]) -> Reads:
        """The reads of a run in which scalars have these values.

        Raises:
            MapError: an instruction is no scalar.

        >>> from ops import Fusion, hlo
        >>> module = hlo.parse('''ENTRY e {
        ...   x = f32[90] parameter(0)
        ...   start = s32[] parameter(1)
        ...   part = f32[10] dynamic-slice(x, start), dynamic_slice_sizes={10}
        ...   head = f32[10] slice(x), slice={[0:10]}
        ...   ROOT sum = f32[10] add(part, head)
        ... }''')
        >>> x, start = module.entry.parameters
        >>> reads = Fusion.of_computation(module.entry).reads(x)
        >>> reads.given({start: 6}).histogram(), reads.given({start: 50}).histogram()
        ({1: 12, 2: 4}, {1: 20})
        """
        for instruction in values:
            if instruction.shape.is_tuple or instruction.shape.rank:
                message = f"given: %{instruction.name} is {instruction.shape}; expected a scalar"
                raise MapError(message)
        return Reads(tuple(_with_values(indexing, values) for indexing in self.ways), self.sizes)

    def _maps(self, question: str) -> list[IndexingMap]:
        for indexing in self.ways:
            objection = _objection(indexing)
            if objection:
                raise MapError(f"{question}: {objection}")
        return [indexing.map for indexing in self.ways]


def computed_together(arrays: Iterable[Array], registry: Registry) -> Iterator[list[Array]]:
    """The arrays in groups: one for all that one operation computes, such as a variadic reduce.

    Such an operation reads its operands once for all its results.
    """
    groups: dict[Instruction, list[Array]] = {}
    for array in arrays:
        groups.setdefault(_source(array, registry)[0], []).append(array)
    for source, group in groups.items():
        calls = registry.calls(source)
        yield from ([each] for each in group) if calls else [group]


def _source(array: Array, registry: Registry) -> Array:
    """What computes an array: behind tuples, and in the computation that is called."""
    while True:
        instruction, number = passed_to(*array, registry)
        calls = registry.calls(instruction)
        if not calls or len(calls.choices) != 1 or calls.condition or calls.is_start:
            return instruction, number
        array = calls.choices[0].computation.root, number


def seen_from_outside(indexing: OperandIndexing, registry: Registry) -> OperandIndexing:
    """The dependence with operands of calls in the place of parameters that values come from."""
    return replace(
        indexing, runtime=tuple(_outermost(origin, registry) for origin in indexing.runtime)
    )


def _outermost(origin: RuntimeOrigin, registry: Registry) -> RuntimeOrigin:
    while origin.callers:
        *callers, caller = origin.callers
        operand = _argument(origin.instruction, registry.calls(caller))
        if operand is None:
            break
        source = caller.operands[operand]
        origin = replace(origin, instruction=source, callers=tuple(callers))
    return origin


def _argument(parameter: Instruction, calls: Calls | None) -> int | None:
    """The number of the operand that is the value of a parameter, if that is always the same."""
    number, callee = parameter.parameter_number, parameter.computation
    if number is None or calls is None or calls.condition:
        return None
    operands = {call.operands[number] for call in calls.choices if call.computation is callee}
    return operands.pop() if len(operands) == 1 else None


def _objection(indexing: OperandIndexing) -> str:
    """Why its reads cannot be counted."""
    if indexing.approximation:
        return f"the maps hold more than is read ({indexing.approximation}); expected exact ones"
    if indexing.replica_id:
        return "elements are read on other devices; expected reads on one"
    values = ", ".join(dict.fromkeys(f"%{origin.instruction.name}" for origin in indexing.runtime))
    return f"what is read depends on the value of {values}; see given()" if values else ""


def _without_places(indexing: OperandIndexing) -> OperandIndexing:
    """The reads alone: what only says where they lead goes, but not what says when."""
    domain = indexing.map.domain
    dims, ranges, _ = domain.by_role(domain.identifiers)
    if any(deciding(domain, indexing.runtime)):
        return indexing
    reads = arranged(IndexingMap.from_forms((), domain), dims, ranges)
    return OperandIndexing(reads, approximation=indexing.approximation)


def _with_values(indexing: OperandIndexing, values: Mapping[Instruction, int]) -> OperandIndexing:
    """The dependence where scalars have values, which are clamped as the operation does it."""
    known: dict[int, Form] = {}
    for number, origin in enumerate(indexing.runtime):
        if origin.instruction in values:
            value = forms.constant(values[origin.instruction])
            clamp = origin.clamp
            known[number] = clamped(value, clamp, origin.map) if clamp else value
    return with_values(indexing, known, devices_in([indexing])) if known else indexing
