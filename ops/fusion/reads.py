"""How often a fusion reads the elements of an array."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from indexing import IndexingMap, MapError, from_isl
from indexing.exact.counting import number_of_points
from indexing.exact.multiplicity import multiplicities
from indexing.exact.reached import count_reached, reached, reached_again
from indexing.exact.symbolic_counting import symbolic_count
from indexing.parameters import united
from indexing.transform.substitute import arranged
from ops import limits
from ops.dependence.dependence import Dependence, Unknown
from ops.dependence.operand_indexing import OperandIndexing, devices_in, with_values
from ops.devices.joint_indexing import deciding
from ops.rules.constant_folding import clamped
from ops.rules.sources import routed_from
from simplifier import Interval
from simplifier.exact import BUDGET, BudgetError, NotQuasiAffineError
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import AtomKind
from simplifier.tools.display import Displayed

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping

    import sympy

    from indexing.exact.sets import IndexSet
    from indexing.variable import Variable
    from ops.analysis.dataflow import Array
    from ops.dependence.operand_indexing import RuntimeOrigin
    from ops.fusion.evaluations import Evaluation
    from ops.hlo import Instruction
    from ops.rules.registry import Registry
    from ops.rules.rule import Calls, Doubt
    from simplifier.expr.form import Atom, Form


@dataclass(frozen=True, slots=True, repr=False)
class Reads(Displayed):
    """The reads of an array by a kernel that computes each element of a result on its own.

    It evaluates each element of the result, and on the way elements of what has a loop, such as
    reductions and contractions: each of these once for an element of the result, and keeps it.
    Everything else is computed wherever it is used. An evaluation reads an element once for all
    uses at one index, however many iterations of its loop need it, and however the index is
    written. Uses at different indices, and different evaluations, read on their own.

    The results of one operation, such as a variadic reduce, are evaluated at once, all others each
    on its own, also two that are one array.

    Each question raises a :class:`MapError <indexing.MapError>` if the maps hold more than is read
    (:attr:`OperandIndexing.approximation`), or may do so (:attr:`doubts`), lead to other devices,
    or depend on values that are known when the program runs, see :meth:`given`; and what questions
    to maps raise (:class:`indexing.relation.Relation`).

    Attributes:
        ways: the maps that lead to the array from each result that asks. Each point is a read.
        sizes: those of the array.
        doubts: for each map, whether values decide if its points are reads, and how.

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
    doubts: tuple[Doubt | None, ...]

    def __str__(self) -> str:
        return "\n".join(map(str, self.ways)) or "nothing"

    def total(self, *, budget: int | None = BUDGET) -> int | sympy.Expr:
        """How many reads there are, wherever they lead; an expression where sizes are symbolic."""
        places_aside = Reads(tuple(map(_without_places, self.ways)), (), self.doubts)
        maps = places_aside._maps("total")
        if any(each.parameters for each in maps):
            return sum(symbolic_count([each.domain], _sizes(each.parameters)) for each in maps)
        try:
            return sum(number_of_points(each, budget) for each in maps)
        except (NotQuasiAffineError, BudgetError):
            return sum(times * number for times, number in self.histogram(budget=budget).items())

    def distinct(self, *, budget: int | None = BUDGET) -> int | sympy.Expr:
        """How many elements are read; an expression where sizes are symbolic."""
        maps = self._maps("distinct")
        parameters = united(parameter for each in maps for parameter in each.parameters)
        if parameters:
            return count_reached(maps, len(self.sizes), _sizes(parameters), budget)
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

        They are those of the program with constants in place of the scalars, but for this: indices
        that the values make equal stay two, and read on their own.

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
        return replace(self, ways=tuple(_with_values(each, values) for each in self.ways))

    def _maps(self, question: str) -> list[IndexingMap]:
        for indexing, doubt in zip(self.ways, self.doubts, strict=True):
            objection = _objection(indexing, doubt)
            if objection:
                raise MapError(f"{question}: {objection}")
        return [indexing.map for indexing in self.ways]


def _sizes(parameters: Iterable[Variable]) -> list[Variable]:
    """The parameters, which are sizes, also where they are zero and nothing is read."""
    return [each.within(each.bounds.union(Interval(0, 0))) for each in parameters]


def computed_together(arrays: Iterable[Array], registry: Registry) -> Iterator[list[Array]]:
    """The arrays in groups: one for all that one operation computes, such as a variadic reduce.

    Such an operation reads its operands once for all its results. What is a result twice is
    computed twice.
    """
    groups: dict[object, list[Array]] = {}
    seen: Counter[Array] = Counter()
    for array in arrays:
        source, number = _source(array, registry)
        seen[source, number] += 1
        apart = number if registry.calls(source) else None
        sizes = array[0].shape.arrays[array[1]].dimensions
        groups.setdefault((source, apart, sizes, seen[source, number]), []).append(array)
    yield from groups.values()


def _source(array: Array, registry: Registry) -> Array:
    """What computes an array: behind tuples, and in the computation that is called."""
    while True:
        instruction, number = routed_from(array, registry.routes)
        calls = registry.calls(instruction)
        if not calls or len(calls.choices) != 1 or calls.condition or calls.is_start:
            return instruction, number
        array = calls.choices[0].computation.root, number


def ways_of(evaluation: Evaluation) -> tuple[OperandIndexing, ...] | Unknown:
    """The reads of the evaluations for all elements of a result, each one point of one map."""
    wanted, needed, _ = evaluation
    if isinstance(needed, Unknown):
        return needed
    needed = without_equal(needed)
    if wanted is None:
        return tuple(map(point_by_point, needed))
    if isinstance(wanted, Unknown):
        return wanted
    return tuple(_for_result(first, second) for first in without_equal(wanted) for second in needed)


def _for_result(wanted: OperandIndexing, needed: OperandIndexing) -> OperandIndexing:
    """What evaluations for an element of the result need: for each of them on its own."""
    if not wanted.map.ranges:
        return point_by_point(wanted.compose(needed))
    dims, *_ = needed.map.domain.by_role(needed.map.domain.identifiers)
    index = [*map(forms.variable, dims)]
    both = IndexingMap.from_forms([*index, *needed.map.forms], needed.map.domain)
    return point_by_point(wanted.compose(replace(needed, map=both)), len(index))


def point_by_point(indexing: OperandIndexing, beside: int = 0) -> OperandIndexing:
    """The indexing with one point for each pair of an element and what it is related to.

    The first results are ``beside`` the index of an element; afterwards they are gone.
    """
    whole = indexing.map.simplify(preserve_ranges=bool(indexing.runtime))
    if not (tells_ranges(whole) or _is_injective(whole)):
        if indexing.runtime:
            return replace(indexing, approximation=indexing.approximation or _COUNTED_AGAIN)
        whole = from_isl(whole.to_isl())
    index = range(beside, len(whole.forms))
    return replace(indexing, map=whole.select_results(index) if beside else whole)


_COUNTED_AGAIN: Final = "what is read twice for one element is counted twice"


def tells_ranges(indexing_map: IndexingMap) -> bool:
    """Whether results tell the values of all ranges one after the other, at a glance.

    >>> from indexing import parse_map
    >>> tells_ranges(parse_map("(d0)[s0, s1] -> (s0 + d0, s1 + s0 floordiv 2), "
    ...                        "domain: d0 in [0, 3], s0 in [0, 5], s1 in [0, 2]"))
    True
    >>> tells_ranges(parse_map("()[s0] -> (s0 mod 4), domain: s0 in [0, 7]"))
    False
    >>> tells_ranges(parse_map("()[s0] -> (s0 mod 4, s0 floordiv 4), domain: s0 in [0, 7]"))
    True
    """
    domain = indexing_map.domain
    _, ranges, _ = domain.by_role(domain.identifiers)
    unknown = {each for each in ranges if domain.bounds[each].size != 1}
    left = _with_dividends(indexing_map.forms)
    while unknown:
        told = next(filter(None, (_told(form, unknown) for form in left)), None)
        if told is None:
            return False
        unknown.remove(told)
    return True


def _with_dividends(results: Iterable[Form]) -> list[Form]:
    """Results, with what they tell together: ``x floordiv 8`` and ``x mod 8`` tell ``x``."""
    known = dict.fromkeys(results)
    while True:
        remainders = [form.only_atom for form in known]
        told = {
            atom.numerator: None
            for atom in remainders
            if atom is not None and atom.kind is AtomKind.MOD and atom.divisor
            if atom.numerator not in known and _quotient_beside(atom) in known
        }
        if not told:
            return [*known]
        known |= told


def _quotient_beside(remainder: Atom) -> Form:
    """``x floordiv 64`` for ``(x floordiv 8) mod 8``."""
    numerator, divisor = remainder.numerator, remainder.divisor
    inner = numerator.only_atom
    if inner is not None and inner.kind is AtomKind.FLOORDIV and divisor > 0:
        numerator, divisor = inner.numerator, inner.divisor * divisor
    return operations.floordiv(numerator, forms.constant(divisor))


def _told(form: Form, unknown: Container[str]) -> str | None:
    """The only unknown variable in a form, if it is a term of its own."""
    names = [name for name in forms.variables_of((form,)) if name in unknown]
    if len(names) != 1:
        return None
    rest = form.without(*(atom for atom in form.terms if atom.kind is forms.VARIABLE))
    return None if names[0] in forms.variables_of((rest,)) else names[0]


def _is_injective(indexing_map: IndexingMap) -> bool:
    """Whether no two points of the ranges lead one element to the same results."""
    domain = indexing_map.domain
    dims, _, runtime = domain.by_role(map(forms.variable, domain.identifiers))
    pairs = IndexingMap.from_forms([*dims, *runtime, *indexing_map.forms], domain)
    return pairs.is_injective()


def without_equal(dependence: Dependence) -> Dependence:
    """The indexings without those that relate the same elements as another one.

    They may be written in different ways.
    """
    smallest = dependence.simplify()
    kept: list[OperandIndexing] = []
    for each in smallest:
        if not any(_is_same(each, other) for other in kept):
            kept.append(each)
    return Dependence(kept)


def _is_same(one: OperandIndexing, other: OperandIndexing) -> bool:
    is_local = one.replica_id is None and other.replica_id is None
    is_plain = is_local and not (one.runtime or other.runtime)
    is_near = is_plain and one.map.result_bounds() == other.map.result_bounds()
    if not is_near or one.approximation or other.approximation:
        return False
    try:
        return one.map.equals(other.map, budget=limits.MAX_STEPS_OF_COMPARISON)
    except (NotQuasiAffineError, BudgetError):
        return False


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


def _objection(indexing: OperandIndexing, doubt: Doubt | None) -> str:
    """Why its reads cannot be counted."""
    reason = indexing.approximation or (doubt and doubt.reason)
    if reason:
        return f"the maps hold more than is read ({reason}); expected exact ones"
    if indexing.replica_id is not None:
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
    """The reads where scalars have values, which are clamped as the operation does it.

    Ranges that tell reads apart, but not where they lead, are kept.
    """
    domain = indexing.map.domain
    _, ranges, _ = domain.by_role(domain.identifiers)
    known: dict[int, Form] = {}
    for number, origin in enumerate(indexing.runtime):
        if origin.instruction in values:
            value = forms.constant(values[origin.instruction])
            clamp = origin.clamp
            known[number] = clamped(value, clamp, origin.map) if clamp else value
    if not known:
        return indexing
    places = indexing.map.forms
    both = IndexingMap.from_forms([*places, *map(forms.variable, ranges)], domain)
    found = with_values(replace(indexing, map=both), known, devices_in([indexing]))
    return replace(found, map=found.map.select_results(range(len(places))))
