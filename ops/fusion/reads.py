"""Number of times that a fusion reads the elements of an array."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, product
from typing import Final, NamedTuple, TypeAlias

from indexing import IndexingMap, IndexSet, MapError, Variable, from_isl, passes
from ops import limits
from ops.analysis.calls import itself, union_of
from ops.analysis.dataflow import Array
from ops.analysis.queries import flow_in
from ops.dependence.dependence import NOTHING, AnyDependence, Dependence
from ops.dependence.operand_indexing import OperandIndexing, RuntimeOrigin, with_values
from ops.devices import deciding
from ops.fusion.slicing import Flow, FlowNode, FlowStep, Region, backward_slice
from ops.hlo import Computation, Instruction
from ops.loop_dependence import forgotten
from ops.rules.constant_folding import clamped
from ops.rules.control import routed_from
from ops.rules.counted_loops import counted_loop, never_runs
from ops.rules.registry import Registry
from ops.rules.rule import Calls, Direction, Doubt, Unknown, if_known
from simplifier import forms
from simplifier.exact import BUDGET, BudgetError, NotQuasiAffineError
from simplifier.forms import Atom, AtomKind, Form, Interval
from simplifier.tools.display import AnswerDict, Displayed
from simplifier.tools.graphs import postorder, topological_order
from simplifier.tools.late import sympy


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
        """Number of reads, wherever they lead; an expression where sizes are symbolic."""
        places_aside = Reads(tuple(map(_without_places, self.ways)), (), self.doubts)
        maps = places_aside._maps("total")
        if any(each.parameters for each in maps):
            pairs = ((each.domain, _sizes(each.parameters)) for each in maps)
            return sum(passes.symbolic_count([domain], sizes) for domain, sizes in pairs)
        try:
            return sum(passes.number_of_points(each, budget) for each in maps)
        except (NotQuasiAffineError, BudgetError):
            return sum(times * number for times, number in self.histogram(budget=budget).items())

    def distinct(self, *, budget: int | None = BUDGET) -> int | sympy.Expr:
        """Number of elements read; an expression where sizes are symbolic."""
        maps = self._maps("distinct")
        parameters = passes.united(parameter for each in maps for parameter in each.parameters)
        if parameters:
            return passes.count_reached(maps, len(self.sizes), _sizes(parameters), budget)
        try:
            return self.elements(budget=budget).count(budget=budget)
        except (NotQuasiAffineError, BudgetError):
            return sum(self.histogram(budget=budget).values())

    def elements(self, *, budget: int | None = BUDGET) -> IndexSet:
        """The elements that are read."""
        return passes.reached(self._maps("elements"), len(self.sizes), budget=budget)

    def repeated(self, *, budget: int | None = BUDGET) -> IndexSet:
        """The elements that are read at least twice."""
        return passes.reached_again(self._maps("repeated"), len(self.sizes), budget=budget)

    def histogram(self, *, budget: int | None = BUDGET) -> dict[int, int]:
        """Numbers of elements by their reads: ``{times: number of elements}``, for times > 0.

        Exact. Costs milliseconds, however large the array is, where what reads an element lies on
        a line in each group of dimensions that depend on each other, as with windows and
        broadcasts; else all reads of such a group are gone through.

        Raises:
            MapError: these are more than :data:`indexing.exact.counting.MAX_POINTS`.
        """
        return passes.multiplicities(self._maps("histogram"), budget=budget)

    def times(self, *, budget: int | None = BUDGET) -> int | None:
        """Number of reads of each element that is read, if that is the same for all."""
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


def reads_of(
    targets: Collection[Array], starts: Iterable[Array], region: Region
) -> dict[Array, Reads | Unknown]:
    """The reads of each of some arrays, by the evaluations of some results of a region."""
    groups = _computed_together(starts, region.registry)
    evaluations = _evaluations_of(groups, targets, region)
    return AnswerDict(
        (array, _reads_by(array, each, region.registry)) for array, each in evaluations.items()
    )


def _reads_by(
    array: Array, evaluations: Sequence[Evaluation], registry: Registry
) -> Reads | Unknown:
    """The reads of an array by all evaluations together."""

    def together(*found: Sequence[OperandIndexing]) -> Reads:
        ways = [
            replace(way, runtime=tuple(_outermost(origin, registry) for origin in way.runtime))
            for way in chain.from_iterable(found)
        ]
        doubts = [[by.doubt] * len(each) for by, each in zip(evaluations, found, strict=True)]
        sizes = array[0].shape.arrays[array[1]].dimensions
        return Reads(tuple(ways), sizes, tuple(chain.from_iterable(doubts)))

    return if_known(together, *(if_known(_ways, by.needed, by.wanted) for by in evaluations))


def _computed_together(arrays: Iterable[Array], registry: Registry) -> list[list[Array]]:
    """The arrays in groups: one for all that one operation computes, such as a variadic reduce.

    Such an operation reads its operands once for all its results. An array that is a result twice
    is computed twice.
    """
    groups: dict[object, list[Array]] = {}
    seen: Counter[Array] = Counter()
    for array in arrays:
        source, number = _source(array, registry)
        seen[source, number] += 1
        apart = number if registry.calls(source) else None
        sizes = array[0].shape.arrays[array[1]].dimensions
        groups.setdefault((source, apart, sizes, seen[source, number]), []).append(array)
    return [*groups.values()]


def _source(array: Array, registry: Registry) -> Array:
    """The instruction that computes an array: behind tuples, and in the computation called."""
    while True:
        instruction, number = routed_from(array, registry.routes)
        calls = registry.calls(instruction)
        if not calls or not calls.only_run:
            return instruction, number
        array = calls.only_run.computation.root, number


def _ways(needed: Dependence, wanted: Dependence | None) -> tuple[OperandIndexing, ...]:
    """The reads of evaluations for all elements of a result, each one point of one map."""
    needed = without_equal(needed)
    if wanted is None:
        return tuple(map(point_by_point, needed))
    return tuple(_for_result(first, second) for first in without_equal(wanted) for second in needed)


def _for_result(wanted: OperandIndexing, needed: OperandIndexing) -> OperandIndexing:
    """Needs of the evaluations for an element of the result: for each of them on its own."""
    if not wanted.map.ranges:
        return point_by_point(wanted.compose(needed))
    index, *_ = needed.map.domain.by_role_as_forms
    both = IndexingMap.from_forms([*index, *needed.map.forms], needed.map.domain)
    return point_by_point(wanted.compose(replace(needed, map=both)), len(index))


def point_by_point(indexing: OperandIndexing, beside: int = 0) -> OperandIndexing:
    """The indexing with one point for each pair of an element and one that it is related to.

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
    """Results and the numbers that they determine: ``x floordiv 8`` and ``x mod 8`` give ``x``."""
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
    return numerator // divisor


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
    dims, _, runtime = domain.by_role_as_forms
    return IndexingMap.from_forms([*dims, *runtime, *indexing_map.forms], domain).is_injective()


def without_equal(dependence: Dependence) -> Dependence:
    """The indexings without those that relate the same elements as another one.

    They may be written in different ways.
    """
    kept: list[OperandIndexing] = []
    for each in dependence.simplify():
        if not any(_is_same(each, other) for other in kept):
            kept.append(each)
    return Dependence(kept)


def _is_same(one: OperandIndexing, other: OperandIndexing) -> bool:
    for each in (one, other):
        if each.replica_id is not None or each.runtime or each.approximation:
            return False
    if one.map.result_bounds() != other.map.result_bounds():
        return False
    try:
        return one.map.equals(other.map, budget=limits.MAX_STEPS_OF_COMPARISON)
    except (NotQuasiAffineError, BudgetError):
        return False


def _outermost(origin: RuntimeOrigin, registry: Registry) -> RuntimeOrigin:
    """The operand of a call in the place of the parameter that a value comes from."""
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
    """The reason why its reads cannot be counted."""
    reason = indexing.approximation or (doubt and doubt.reason)
    if reason:
        return f"the maps hold more than is read ({reason}); expected exact ones"
    if indexing.replica_id is not None:
        return "elements are read on other devices; expected reads on one"
    values = ", ".join(dict.fromkeys(f"%{origin.instruction.name}" for origin in indexing.runtime))
    return f"what is read depends on the value of {values}; see given()" if values else ""


def _without_places(indexing: OperandIndexing) -> OperandIndexing:
    """The reads without the variables that only say where they lead; those that say when stay."""
    domain = indexing.map.domain
    dims, ranges, _ = domain.by_role(domain.identifiers)
    if any(deciding(domain, indexing.runtime)):
        return indexing
    reads = passes.arranged(IndexingMap.from_forms((), domain), dims, ranges)
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
            known[number] = clamped(value, origin.clamp, origin.map) if origin.clamp else value
    if not known:
        return indexing
    places = indexing.map.forms
    both = IndexingMap.from_forms([*places, *map(forms.variable, ranges)], domain)
    found = with_values(replace(indexing, map=both), known)
    return replace(found, map=found.map.select_results(range(len(places))))


# Evaluations of a kernel, one by one, and the elements of an array that each needs.
#
# A kernel evaluates each element of a result on its own. On the way it evaluates elements of what
# has a loop: of reductions, contractions, windows, sorts. It computes such an element once for
# each element that wants it, and keeps it. Everything else is computed wherever it is used.


class Evaluation(NamedTuple):
    """Elements that are evaluated, and the elements of an array that each of them needs.

    Attributes:
        wanted: from an element of the result to those that are evaluated for it; ``None`` if these
            are the elements of the result themselves.
        needed: from an element that is evaluated to those of the array that it needs without
            another evaluation.
        doubt: that these may be more than it needs.
    """

    wanted: AnyDependence | None
    needed: AnyDependence
    doubt: Doubt | None = None


class _Place(NamedTuple):
    """Something that is evaluated: an instruction with a loop in one of its runs, by its sizes."""

    instruction: Instruction
    callers: tuple[Instruction, ...]
    sizes: tuple[int, ...]


class _Begin(NamedTuple):
    """Begin of dependences: a place, or the elements of the result; and whether that is sure."""

    place: _Place | None = None
    doubt: Doubt | None = None

    def behind(self, doubt: Doubt | None, step: FlowStep | None = None) -> _Begin:
        """The same behind a step, which may have a doubt of its own."""
        known = self.doubt or doubt
        if known is None:
            return self
        is_plain = not ((self.doubt and doubt) or (step and step.has_ranges))
        return self._replace(doubt=known if is_plain else Doubt(known.reason))


_RESULT: Final = _Begin()

_Reached: TypeAlias = "dict[_Begin, list[AnyDependence]]"
"""The dependences on an array, by where they begin."""


def _evaluations_of(
    groups: Sequence[Sequence[Array]], targets: Collection[Array], region: Region
) -> dict[Array, list[Evaluation]]:
    """The evaluations that need each of some arrays, for groups of results.

    The results of a group are computed at once and have the same sizes. Calls and fusions are
    followed run by run, loops and choices are taken as one instruction; so is every call if there
    are more than :data:`ops.limits.MAX_INLINED` arrays. Where a question begins or ends in what is
    not followed run by run, there is one evaluation of all that is needed.
    """
    try:
        return _followed(groups, targets, region, limits.MAX_INLINED)
    except _TooManyArraysError:
        return _followed(groups, targets, region, 0)


def _followed(
    groups: Sequence[Sequence[Array]], targets: Collection[Array], region: Region, most: int
) -> dict[Array, list[Evaluation]]:
    found: dict[Array, list[Evaluation]] = {array: [] for array in targets}
    own = region.computation
    inner = {array[0].computation for array in targets} - {own}
    is_followed = all(most and _is_followed_to(each, region) for each in inner)
    evaluator = _Evaluator(region, most)
    for group in groups:
        if is_followed and all(array[0].computation is own for array in group):
            evaluator.evaluate(group, found)
        else:
            reached = union_of(frame for each in group for frame in backward_slice(each, region))
            doubt = _doubt_inside(region.instructions, region.registry)
            for array in targets:
                if array in reached:
                    found[array].append(Evaluation(None, reached[array], doubt))
    return found


class _TooManyArraysError(Exception):
    """More arrays are looked at than is allowed."""


class _Evaluator:
    """Walk along arrays through a region; ``most`` arrays in called computations, 0 for none."""

    def __init__(self, region: Region, most: int) -> None:
        self._registry = region.registry
        self._most = most
        self._flow = flow_in(region.computation.module, Direction.OUTPUT_TO_INPUT, region.registry)
        self._runs = Flow(region, Direction.OUTPUT_TO_INPUT, is_inlined=most > 0)
        self._steps: dict[FlowNode, list[FlowStep]] = {}

    def evaluate(
        self, starts: Sequence[Array], evaluations: Mapping[Array, list[Evaluation]]
    ) -> None:
        """Add the evaluations that need the arrays, for results that are computed at once."""
        begins = [FlowNode(*start) for start in starts]
        reached: dict[FlowNode, _Reached] = {node: {_RESULT: [itself(node[:2])]} for node in begins}
        wanted: dict[_Place | None, _Reached] = {}
        found: list[tuple[Array, _Begin, AnyDependence]] = []
        for node in topological_order(begins, self._neighbours):
            here = _united(reached.pop(node), node.sizes)
            if node not in begins and self._has_loop(node):
                place = _Place(node.instruction, node.callers, node.sizes)
                for origin, several in here.items():
                    wanted.setdefault(place, {}).setdefault(origin, []).extend(several)
                here = {_Begin(place): [itself(node[:2])]}
            if node[:2] in evaluations:
                found += ((node[:2], origin, each) for origin, (each,) in here.items())
            for step in self._steps[node]:
                found_by, doubt = step.dependence, self._doubt(node, step)
                there = reached.setdefault(step.target, {})
                for origin, (each,) in here.items():
                    after = each if found_by is None else self._flow.compose(each, found_by)
                    there.setdefault(origin.behind(doubt, step), []).append(after)
        from_result = self._from_result(wanted)
        for array, origin, needed in found:
            before, doubt = from_result[origin.place]
            evaluations[array].append(Evaluation(before, needed, doubt or origin.doubt))

    def _from_result(
        self, wanted: Mapping[_Place | None, _Reached]
    ) -> Mapping[_Place | None, tuple[AnyDependence | None, Doubt | None]]:
        """Evaluations at each place for an element of the result, and whether they are sure."""
        found: dict[_Place | None, tuple[AnyDependence | None, Doubt | None]] = {None: (None, None)}
        for place in postorder([*wanted], lambda each: [at.place for at in wanted.get(each, ())]):
            if place is not None:
                united = _united(wanted[place], place.sizes)
                parts = [self._behind(found[at.place][0], each) for at, (each,) in united.items()]
                doubts = (at.doubt or found[at.place][1] for at in united)
                doubt = next((Doubt(each.reason) for each in doubts if each), None)
                found[place] = NOTHING.union(*parts, sizes=place.sizes), doubt
        return found

    def _behind(self, before: AnyDependence | None, after: AnyDependence) -> AnyDependence:
        return after if before is None else self._flow.compose(before, after)

    def _has_loop(self, node: FlowNode) -> bool:
        """Whether one element needs elements that a range runs over, or a window holds."""
        rule = self._registry.rule_of(node.instruction)
        is_shown = any(step.has_ranges for step in self._steps[node])
        return is_shown or (rule is not None and rule.is_loop)

    def _neighbours(self, node: FlowNode) -> list[FlowNode]:
        if node not in self._steps:
            if node.callers and len(self._steps) > self._most:
                raise _TooManyArraysError
            self._steps[node] = self._runs.steps_from(node)
        return [step.target for step in self._steps[node]]

    def _doubt(self, node: FlowNode, step: FlowStep) -> Doubt | None:
        """Doubt whether values decide the needs of a step, or of an instruction that it runs.

        Values passed on into a run are sure.
        """
        if step.target.callers != node.callers:
            return None
        if self._registry.calls(node.instruction):
            return _doubt_inside((node.instruction,), self._registry)
        return self._registry.doubt(node.instruction, node.element, step.operand)


def _is_followed_to(computation: Computation, region: Region) -> bool:
    """Whether each way into a computation leads through calls that are followed run by run."""
    ways = region.computations_to(computation.root)
    sites = (site for each in ways for site in region.call_sites.get(each, ()))
    return all(site.calls.only_run for site in sites)


@lru_cache(maxsize=1 << 8)
def _doubt_inside(instructions: tuple[Instruction, ...], registry: Registry) -> Doubt | None:
    """A doubt about the needs of some instructions, or of those that they run."""
    waiting, seen = [*instructions], set["Computation"]()
    while waiting:
        each = waiting.pop()
        calls = registry.calls(each)
        places = product(each.shape.array_indices, range(len(each.operands)))
        doubts = (registry.doubt(each, *place) for place in places)
        reason = next((doubt.reason for doubt in doubts if doubt), "")
        if calls and calls.condition and not never_runs(each):
            uncounted = f"%{each.name} runs an unknown number of times"
            reason = forgotten(each, registry) if counted_loop(each) else uncounted
        if reason:
            return Doubt(reason)
        fresh = [callee for callee in calls.computations if callee not in seen] if calls else []
        seen |= {*fresh}
        waiting += (inside for callee in fresh for inside in callee.instructions)
    return None


def _united(reached: _Reached, sizes: tuple[int, ...]) -> _Reached:
    """The dependences as one for each place that is sure, and one for all others."""
    groups: dict[_Begin, list[_Begin]] = {}
    for origin in reached:
        alike = groups.setdefault(_Begin(origin.place, origin.doubt and _ANY_DOUBT), [])
        alike.append(origin)
    found: _Reached = {}
    for alike in sorted(groups.values(), key=lambda each: each[0].doubt is not None):
        several = [each for origin in alike for each in reached[origin]]
        sure = found.get(_Begin(alike[0].place), [NOTHING])[0]
        whole = several[0].union(*several[1:], sizes=sizes)
        doubtful = {*whole.indexings}.difference(sure.indexings)
        first = alike[0] if len(alike) == 1 else alike[0].behind(_ANY_DOUBT)
        found[first] = [whole.only(doubtful.__contains__)]
    return found


_ANY_DOUBT: Final = Doubt("several reasons")
