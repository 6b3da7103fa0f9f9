"""What a kernel computes one by one, and what each of these evaluations needs of an array.

A kernel evaluates each element of a result on its own. On the way it evaluates elements of what has
a loop: of reductions, contractions, windows, sorts. It computes such an element once for each
element that wants it, and keeps it. Everything else is computed wherever it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from ops import limits
from ops.analysis.calls import itself
from ops.analysis.findings import flow_in
from ops.analysis.slices import union_of
from ops.dependence.dependence import NOTHING, called_by
from ops.fusion.slicing import backward_slice
from ops.rules.op_indexing import Direction
from simplifier.tools.postorder import postorder, topological_order

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from ops.analysis.dataflow import Array
    from ops.dependence.dependence import AnyDependence
    from ops.fusion.slicing import Region
    from ops.hlo import Computation, Instruction
    from ops.rules.rule import Calls


class Evaluation(NamedTuple):
    """Elements that are evaluated, and what each of them needs of an array.

    Attributes:
        wanted: from an element of the result to those that are evaluated for it; ``None`` if these
            are the elements of the result themselves.
        needed: from an element that is evaluated to those of the array that it needs without
            another evaluation.
    """

    wanted: AnyDependence | None
    needed: AnyDependence


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


_Step: TypeAlias = "tuple[_Node, AnyDependence | None]"
_RESULT = None
"""The place of the elements of the result."""

_Reached: TypeAlias = "dict[_Place | None, list[AnyDependence]]"
"""The dependences on an array, by the place that they begin at."""


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
            for array in targets:
                if array in reached:
                    found[array].append(Evaluation(None, reached[array]))
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
        found: list[tuple[Array, _Place | None, AnyDependence]] = []
        for node in topological_order(begins, self._neighbours):
            here = _united(reached.pop(node), node.instruction.shape.arrays[node.number].dimensions)
            if node not in begins and self._has_loop(node):
                place = _place(node)
                for origin, several in here.items():
                    wanted.setdefault(place, {}).setdefault(origin, []).extend(several)
                here = {place: [itself(node[:2])]}
            if node[:2] in evaluations:
                found += ((node[:2], origin, each) for origin, (each,) in here.items())
            for target, step in self._steps[node]:
                there = reached.setdefault(target, {})
                for origin, (each,) in here.items():
                    after = each if step is None else self._flow.compose(each, step)
                    there.setdefault(origin, []).append(after)
        from_result = self._from_result(wanted)
        for array, place, needed in found:
            evaluations[array].append(Evaluation(from_result[place], needed))

    def _from_result(
        self, wanted: Mapping[_Place | None, _Reached]
    ) -> Mapping[_Place | None, AnyDependence | None]:
        """What is evaluated at each place for an element of the result."""
        found: dict[_Place | None, AnyDependence | None] = {_RESULT: None}
        for place in postorder([*wanted], lambda each: wanted.get(each, ())):
            if place is not None:
                united = _united(wanted[place], place.sizes)
                parts = [self._behind(found[origin], each) for origin, (each,) in united.items()]
                found[place] = NOTHING.union(*parts, sizes=place.sizes)
        return found

    def _behind(self, before: AnyDependence | None, after: AnyDependence) -> AnyDependence:
        return after if before is None else self._flow.compose(before, after)

    def _has_loop(self, node: _Node) -> bool:
        """Whether one element needs elements that a range runs over."""
        steps = (step for _, step in self._steps[node] if step is not None)
        return any(indexing.map.ranges for step in steps for indexing in step.indexings)

    # Steps.

    def _neighbours(self, node: _Node) -> list[_Node]:
        if node not in self._steps:
            self._steps[node] = [*self._steps_from(node)]
        return [target for target, _ in self._steps[node]]

    def _steps_from(self, node: _Node) -> Iterator[_Step]:
        instruction, number, callers = node
        if callers and len(self._steps) > self._most:
            raise _TooManyArraysError
        calls = self._region.registry.calls(instruction)
        if callers and instruction.parameter_number is not None:
            *outer, caller = callers
            operand = self._operand(caller, instruction.parameter_number)
            yield _Node(operand, number, tuple(outer)), None
        elif not callers and instruction not in self._region.members:
            return
        elif calls and self._most and _is_one_run(calls):
            yield _Node(calls.choices[0].computation.root, number, (*callers, instruction)), None
        else:
            for (target, element), step in self._flow.steps_from((instruction, number)):
                yield _Node(target, element, callers), _seen_by(callers, step)

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
    """The dependences as one for each place."""
    return {
        origin: [several[0].union(*several[1:], sizes=sizes)] for origin, several in reached.items()
    }
