"""What a kernel computes one by one, and what each of these evaluations needs of an array.

A kernel evaluates each element of a result on its own. On the way it evaluates elements of what has
a loop: of reductions, contractions, windows, sorts. It computes such an element once for each
element that wants it, and keeps it. Everything else is computed wherever it is used.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from ops import limits
from ops.analysis.calls import itself
from ops.analysis.findings import flow_in
from ops.analysis.slices import union_of
from ops.dependence.dependence import NOTHING, Dependence, called_by
from ops.fusion.slicing import backward_slice
from ops.loops.accesses import forgotten
from ops.rules.counted_loops import counted_loop, never_runs
from ops.rules.op_indexing import Direction, Unknown
from ops.rules.rule import Doubt
from simplifier.tools.postorder import postorder, topological_order

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from ops.analysis.dataflow import Array
    from ops.dependence.dependence import AnyDependence
    from ops.fusion.slicing import Region
    from ops.hlo import Computation, Instruction
    from ops.rules.registry import Registry
    from ops.rules.rule import Calls


class Evaluation(NamedTuple):
    """Elements that are evaluated, and what each of them needs of an array.

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


class _Node(NamedTuple):
    """An array in one run of its computation, to which ``callers`` lead, outermost first."""

    instruction: Instruction
    number: int
    callers: tuple[Instruction, ...] = ()


class _Place(NamedTuple):
    """Something that is evaluated: an instruction with a loop in one of its runs, by its sizes."""

    instruction: Instruction
    callers: tuple[Instruction, ...]
    sizes: tuple[int, ...]


class _Begin(NamedTuple):
    """Where dependences begin: at a place, or the elements of the result; and if that is sure."""

    place: _Place | None = None
    doubt: Doubt | None = None

    def behind(self, doubt: Doubt | None, step: AnyDependence | None) -> _Begin:
        """The same behind a step, which may have a doubt of its own."""
        if self.doubt is None and doubt is None:
            return self
        ways = () if step is None else step.indexings
        is_plain = not (self.doubt and doubt) and not any(way.map.ranges for way in ways)
        known = self.doubt or doubt
        return self._replace(doubt=known if is_plain or known is None else Doubt(known.reason))


_Step: TypeAlias = "tuple[_Node, AnyDependence | None, Doubt | None]"
_RESULT: Final = _Begin()

_Reached: TypeAlias = "dict[_Begin, list[AnyDependence]]"
"""The dependences on an array, by where they begin."""


def evaluations_of(
    groups: Iterable[Sequence[Array]], targets: Collection[Array], region: Region
) -> dict[Array, list[Evaluation]]:
    """The evaluations that need each of some arrays, for groups of results.

    The results of a group are computed at once and have the same sizes. Calls and fusions are
    followed run by run, loops and choices are taken as one instruction; so is every call if there
    are more than :data:`ops.limits.MAX_INLINED` arrays. Where a question begins or ends in what is
    not followed run by run, there is one evaluation of all that is needed.
    """
    wanted = [*groups]
    try:
        return _followed(wanted, targets, region, limits.MAX_INLINED)
    except _TooManyArraysError:
        return _followed(wanted, targets, region, 0)


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
            reached = union_of(level for each in group for level in backward_slice(each, region))
            doubt = _doubt_inside(region.instructions, region.registry)
            for array in targets:
                if array in reached:
                    found[array].append(Evaluation(None, reached[array], doubt))
    return found


class _TooManyArraysError(Exception):
    """More arrays are looked at than is allowed."""


class _Evaluator:
    """Follows arrays through a region; ``most`` arrays in called computations, none if it is 0."""

    def __init__(self, region: Region, most: int) -> None:
        self._region = region
        self._most = most
        self._flow = flow_in(region.computation.module, Direction.OUTPUT_TO_INPUT, region.registry)
        self._steps: dict[_Node, list[_Step]] = {}

    def evaluate(
        self, starts: Sequence[Array], evaluations: Mapping[Array, list[Evaluation]]
    ) -> None:
        """Add the evaluations that need the arrays, for results that are computed at once."""
        begins = [_Node(*start) for start in starts]
        reached: dict[_Node, _Reached] = {node: {_RESULT: [itself(node[:2])]} for node in begins}
        wanted: dict[_Place | None, _Reached] = {}
        found: list[tuple[Array, _Begin, AnyDependence]] = []
        for node in topological_order(begins, self._neighbours):
            here = _united(reached.pop(node), node.instruction.shape.arrays[node.number].dimensions)
            if node not in begins and self._has_loop(node):
                place = _place(node)
                for origin, several in here.items():
                    wanted.setdefault(place, {}).setdefault(origin, []).extend(several)
                here = {_Begin(place): [itself(node[:2])]}
            if node[:2] in evaluations:
                found += ((node[:2], origin, each) for origin, (each,) in here.items())
            for target, step, doubt in self._steps[node]:
                there = reached.setdefault(target, {})
                for origin, (each,) in here.items():
                    after = each if step is None else self._flow.compose(each, step)
                    there.setdefault(origin.behind(doubt, step), []).append(after)
        from_result = self._from_result(wanted)
        for array, origin, needed in found:
            before, doubt = from_result[origin.place]
            evaluations[array].append(Evaluation(before, needed, doubt or origin.doubt))

    def _from_result(
        self, wanted: Mapping[_Place | None, _Reached]
    ) -> Mapping[_Place | None, tuple[AnyDependence | None, Doubt | None]]:
        """What is evaluated at each place for an element of the result, and if that is sure."""
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

    def _has_loop(self, node: _Node) -> bool:
        """Whether one element needs elements that a range runs over, or a window holds."""
        rule = self._region.registry.rule_of(node.instruction)
        steps = (step for _, step, _ in self._steps[node] if step is not None)
        is_shown = any(indexing.map.ranges for step in steps for indexing in step.indexings)
        return is_shown or (rule is not None and rule.is_loop)

    # Steps.

    def _neighbours(self, node: _Node) -> list[_Node]:
        if node not in self._steps:
            self._steps[node] = [*self._steps_from(node)]
        return [target for target, _, _ in self._steps[node]]

    def _steps_from(self, node: _Node) -> Iterator[_Step]:
        instruction, number, callers = node
        if callers and len(self._steps) > self._most:
            raise _TooManyArraysError
        calls = self._region.registry.calls(instruction)
        if callers and instruction.parameter_number is not None:
            *outer, caller = callers
            operand = self._operand(caller, instruction.parameter_number)
            yield _Node(operand, number, tuple(outer)), None, None
        elif not callers and instruction not in self._region.members:
            return
        elif calls and self._most and _is_one_run(calls):
            root = calls.choices[0].computation.root
            yield _Node(root, number, (*callers, instruction)), None, None
        else:
            steps = self._flow.steps_from((instruction, number))
            links = self._flow.links_from(instruction, number)
            for ((target, element), step), link in zip(steps, links, strict=True):
                doubt = _doubt(instruction, number, link.operand, self._region.registry)
                yield _Node(target, element, callers), _seen_by(callers, step), doubt

    def _operand(self, caller: Instruction, parameter: int) -> Instruction:
        calls = self._region.registry.calls(caller)
        return caller.operands[calls.choices[0].operands[parameter] if calls else parameter]


def _is_followed_to(computation: Computation, region: Region) -> bool:
    """Whether each way into a computation leads through calls that are followed run by run."""
    ways = region.computations_to(computation.root)
    sites = (site for each in ways for site in region.call_sites.get(each, ()))
    return all(_is_one_run(site.calls) for site in sites)


def _is_one_run(calls: Calls) -> bool:
    """Whether a call is one run of one computation."""
    is_choice = len(calls.choices) != 1 or calls.selector is not None
    return not (is_choice or calls.condition or calls.is_start)


def _doubt(instruction: Instruction, output: int, operand: int, registry: Registry) -> Doubt | None:
    """Whether values decide what an instruction needs, or something that it runs."""
    if registry.calls(instruction):
        return _doubt_inside((instruction,), registry)
    return registry.doubt(instruction, output, operand)


@lru_cache(maxsize=1 << 8)
def _doubt_inside(instructions: tuple[Instruction, ...], registry: Registry) -> Doubt | None:
    """A doubt about what some instructions need, or what they run."""
    waiting, seen = [*instructions], set["Computation"]()
    while waiting:
        each = waiting.pop()
        calls = registry.calls(each)
        places = product(each.shape.array_indices, range(len(each.operands)))
        doubts = (registry.doubt(each, *place) for place in places)
        reason = next((doubt.reason for doubt in doubts if doubt), "")
        if calls and calls.condition and not never_runs(each):
            reason = _why_any_iteration(each, registry)
        if reason:
            return Doubt(reason)
        fresh = [callee for callee in calls.computations if callee not in seen] if calls else []
        seen |= {*fresh}
        waiting += (inside for callee in fresh for inside in callee.instructions)
    return None


def _why_any_iteration(loop: Instruction, registry: Registry) -> str:
    """Why the maps of a loop hold what some of its runs do not do."""
    if counted_loop(loop) is None:
        return f"%{loop.name} runs an unknown number of times"
    return forgotten(loop, registry)


def _place(node: _Node) -> _Place:
    instruction, number, callers = node
    return _Place(instruction, callers, instruction.shape.arrays[number].dimensions)


def _seen_by(callers: tuple[Instruction, ...], step: AnyDependence | None) -> AnyDependence | None:
    """A step in a computation, seen from the outermost of its callers."""
    if step is None:
        return None
    for caller in reversed(callers):
        step = called_by(caller, step)
    return step


def _united(reached: _Reached, sizes: tuple[int, ...]) -> _Reached:
    """The dependences as one for each place that is sure, and one of what else there may be."""
    groups: dict[_Begin, list[_Begin]] = {}
    for origin in reached:
        alike = groups.setdefault(_Begin(origin.place, origin.doubt and _ANY_DOUBT), [])
        alike.append(origin)
    found: _Reached = {}
    for alike in sorted(groups.values(), key=lambda each: each[0].doubt is not None):
        several = [each for origin in alike for each in reached[origin]]
        sure = found.get(_Begin(alike[0].place), [NOTHING])[0]
        whole = several[0].union(*several[1:], sizes=sizes)
        if not isinstance(whole, Unknown):
            whole = Dependence(each for each in whole if each not in sure.indexings)
        first = alike[0] if len(alike) == 1 else alike[0].behind(_ANY_DOUBT, None)
        found[first] = [whole]
    return found


_ANY_DOUBT: Final = Doubt("several reasons")
