"""Slices of a fusion: arrays that one depends on or that depend on it, also in calls.

From any instruction of a fusion a slice leads on in its computation, into the computations that are
called there, and out to where its own computation is called.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from heapq import heappop, heappush
from itertools import chain, count, islice
from typing import Final, NamedTuple, TypeAlias

from ops import limits
from ops.analysis.calls import CallEdge, CallFrame, DataFlow, EntryEdge, enter, frames_inside
from ops.analysis.dataflow import Array
from ops.analysis.loops import chosen, decided
from ops.analysis.queries import flow_in
from ops.dependence.dependence import AnyDependence, Unknown, called_by, identity_of, of_element
from ops.dependence.operand_indexing import OperandIndexing
from ops.hlo import Computation, Instruction
from ops.rules.control import kept_by
from ops.rules.registry import Registry
from ops.rules.rule import Call, Calls, Direction
from simplifier.errors import INTEGER, ArgumentError, check_type
from simplifier.tools.display import Displayed
from simplifier.tools.graphs import postorder, topological_order


class CallSite(NamedTuple):
    """An instruction that calls computations, and which ones.

    ``kept`` are the numbers of the arrays in a loop's state that no iteration changes.
    """

    caller: Instruction
    calls: Calls
    kept: frozenset[int]

    def behind_parameter(self, array: Array, flow: DataFlow) -> Iterator[CallEdge]:
        """The operand of an array of a parameter where its computation is called.

        ``flow`` leads from outputs to inputs. The parameter of a loop is the state before some
        iteration: the initial one, or the result of an earlier iteration.
        """
        (parameter, number), (caller, calls, _) = array, self
        if calls.condition:
            for link in flow.links_from(caller, number):
                yield (caller.operands[0], link.element), link.dependence
            yield from flow.entries(caller, number)
            return
        for call in calls.choices:
            if call.computation is parameter.computation:
                operand = call.operands[parameter.parameter_number or 0]
                yield (caller.operands[operand], number), None

    def behind_root(self, array: Array, flow: DataFlow) -> Iterator[CallEdge]:
        """The arrays that depend on an array of a root where its computation is called.

        ``flow`` leads from inputs to outputs. The root of a loop is the state after some iteration,
        or the decision that there is another one.
        """
        (root, number), (caller, calls, kept) = array, self
        if calls.condition is None:
            result = caller, calls.first_output(caller) + number
            for choice, call in enumerate(calls.choices):
                if call.computation is root.computation:
                    yield result, chosen(result, calls, choice)
        elif root is calls.condition.root:
            for output in caller.shape.array_indices:
                if output not in kept:
                    yield (caller, output), decided((caller, output), flow.direction)
        else:
            for link in flow.links_from(caller, 0):
                if link.element == number:
                    yield (caller, link.output), link.dependence


@dataclass(frozen=True)
class Region:
    """Instructions of one computation, and all that they call.

    ``entered`` are the called computations in which a question is followed; ``None`` for all.
    Nothing goes through the other instructions of the computation: it may have many.
    """

    instructions: tuple[Instruction, ...]
    registry: Registry
    entered: frozenset[Computation] | None = None

    @property
    def computation(self) -> Computation:
        """The computation that the instructions are of."""
        return self.instructions[0].computation

    @cached_property
    def members(self) -> frozenset[Instruction]:
        """The instructions, to look them up."""
        return frozenset(self.instructions)

    def __contains__(self, instruction: Instruction) -> bool:
        return instruction in self.members or instruction.computation in self.call_sites

    def limit(self, computation: Computation) -> frozenset[Instruction] | None:
        """The instructions of a computation that are in the region; ``None`` for all."""
        is_all = len(self.members) == len(self.computation.instructions)
        return None if is_all or computation is not self.computation else self.members

    def callees(self, computation: Computation) -> Sequence[Computation]:
        """The computations that instructions of a computation in the region call, each once."""
        return self._callees.get(computation, ())

    def computations_to(self, instruction: Instruction) -> frozenset[Computation]:
        """Its computation, and those that call it, directly or not."""
        return frozenset(postorder([instruction.computation], self._callers))

    def towards(self, target: Instruction) -> Region:
        """The region of the instructions on paths to an instruction, and nothing else."""
        computations = self.computations_to(target)
        users: dict[Instruction, list[Instruction]] = defaultdict(list)
        begins = [target]
        for each in self.instructions:
            calls = self.registry.calls(each)
            if calls and not computations.isdisjoint(calls.computations):
                begins.append(each)
            for operand in each.operands:
                users[operand].append(each)
        leading = {*postorder(begins, lambda each: users.get(each, ()))}
        through = tuple(each for each in self.instructions if each in leading)
        return Region(through or self.instructions, self.registry, computations)

    def _callers(self, computation: Computation) -> list[Computation]:
        return [site.caller.computation for site in self.call_sites.get(computation, ())]

    @cached_property
    def call_sites(self) -> Mapping[Computation, list[CallSite]]:
        """The call sites in the region, by the computation that is called there."""
        sites: dict[Computation, list[CallSite]] = defaultdict(list)
        waiting = [*self.instructions]
        while waiting:
            caller = waiting.pop()
            calls = self.registry.calls(caller)
            if calls:
                body = calls.choices[0].computation
                kept = kept_by(body, self.registry.routes) if calls.condition else frozenset[int]()
                for callee in dict.fromkeys(calls.computations):
                    waiting += () if callee in sites else callee.instructions
                    sites[callee].append(CallSite(caller, calls, kept))
        return dict(sites)

    @cached_property
    def _callees(self) -> Mapping[Computation, Sequence[Computation]]:
        called: dict[Computation, dict[Computation, None]] = defaultdict(dict)
        for callee, sites in self.call_sites.items():
            for site in sites:
                called[site.caller.computation][callee] = None
        return {caller: tuple(reversed(callees)) for caller, callees in called.items()}


def backward_slice(start: Array, region: Region) -> list[CallFrame]:
    """The frames from an array to all that it depends on, through the instructions of a region.

    An instruction in a called computation stands for all its runs.
    """
    flow = flow_in(region.computation.module, Direction.OUTPUT_TO_INPUT, region.registry)
    begun = {start[0].computation: CallFrame.at(start)}
    frames: list[CallFrame] = []
    for computation in postorder([region.computation], region.callees):
        if computation not in begun:
            continue
        frame = begun[computation]
        inside = region.limit(computation)
        frames += frames_inside(frame, flow, inside, region.entered, region.callees)
        parameters = [array for array in frame.reached if array[0].parameter_number is not None]
        for site in region.call_sites.get(computation, ()):
            outside = site.caller.computation
            reached = {outside: begun[outside]} if outside in begun else {}
            for array in parameters:
                for edge in site.behind_parameter(array, flow):
                    enter(reached, EntryEdge(frame, array, edge, site.caller))
            if outside in reached:
                begun[outside] = reached.pop(outside)
            for earlier in reached.values():  # what an iteration of a loop before this one reaches
                frames += frames_inside(earlier, flow, entered=region.entered)
    return frames


def forward_slice(start: Array, region: Region) -> list[CallFrame]:
    """The frames from an array to all that depends on it, in its computation and its callers."""
    flow = flow_in(region.computation.module, Direction.INPUT_TO_OUTPUT, region.registry)
    begun = {start[0].computation: CallFrame.at(start)}
    frames: list[CallFrame] = []
    for computation in postorder([region.computation], region.callees):
        if computation not in begun:
            continue
        frame = begun[computation].follow(flow, region.limit(computation))
        frames.append(frame)
        for site in region.call_sites.get(computation, ()):
            for array in (array for array in frame.reached if array[0] is computation.root):
                for edge in site.behind_root(array, flow):
                    enter(begun, EntryEdge(frame, array, edge, site.caller))
    return frames


# The arrays of a region as a graph, with one node for each run of what it calls.


class FlowNode(NamedTuple):
    """An array of an instruction's result, in the run that the callers make, outermost first."""

    instruction: Instruction
    element: int = 0
    callers: tuple[Instruction, ...] = ()

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes of the array."""
        return self.instruction.shape.arrays[self.element].dimensions


class FlowStep(NamedTuple):
    """From an array to one that it depends on, or that depends on it.

    Without a dependence, each element leads to its like. ``operand`` is the number of the operand
    of ``instruction`` that one of the two arrays is; ``callers`` are those of its run.
    """

    target: FlowNode
    instruction: Instruction
    operand: int
    dependence: AnyDependence | None
    callers: tuple[Instruction, ...] = ()

    @property
    def has_ranges(self) -> bool:
        """Whether an element needs several, such as all of a reduced dimension."""
        found = () if self.dependence is None else self.dependence.indexings
        return any(indexing.map.ranges for indexing in found)


@dataclass(frozen=True)
class Flow:
    """Follows the arrays of a region in one direction, into all that runs once."""

    region: Region
    direction: Direction
    is_inlined: bool = True
    """Whether it goes into what runs once; else each call is one instruction."""

    def nodes_from(self, starts: Sequence[FlowNode]) -> list[FlowNode]:
        """All arrays that can be reached, each before those that it leads to, else in order."""
        return topological_order(starts, lambda at: [to.target for to in self.steps_from(at)])

    def steps_from(self, at: FlowNode) -> list[FlowStep]:
        """The steps from an array."""
        backward = self.direction is Direction.OUTPUT_TO_INPUT
        return list(self._to_operands(at) if backward else self._to_users(at))

    def result(self, node: FlowNode) -> FlowNode:
        """The array that an element of a tuple is."""
        while node.instruction.opcode == "tuple":
            (step,) = Flow(self.region, Direction.OUTPUT_TO_INPUT).steps_from(node)
            node = step.target
        return node

    def source(self, node: FlowNode) -> FlowNode:
        """The array passed on as this one, through tuples and into computations that run once."""
        backward = Flow(self.region, Direction.OUTPUT_TO_INPUT)
        while backward.passes_on(node.instruction) and (steps := backward.steps_from(node)):
            node = steps[0].target
        return node

    def passes_on(self, instruction: Instruction) -> bool:
        """Whether each array of a result is another array as it is."""
        routes = self.region.registry.routes(instruction)
        return bool(routes or self._only_call(instruction))

    @cached_property
    def _flow(self) -> DataFlow:
        return flow_in(self.region.computation.module, self.direction, self.region.registry)

    def _only_call(self, instruction: Instruction) -> Call | None:
        """The computation that an instruction runs once, and no other."""
        calls = self.region.registry.calls(instruction) if self.is_inlined else None
        return calls.only_run if calls else None

    def _to_operands(self, at: FlowNode) -> Iterator[FlowStep]:
        instruction, element, callers = at
        number = instruction.parameter_number
        if number is not None and callers:
            *outer, caller = callers
            call = self._only_call(caller)
            operand = call.operands[number] if call else number
            target = FlowNode(caller.operands[operand], element, tuple(outer))
            yield FlowStep(target, caller, operand, None)
        elif callers or instruction in self.region.members:
            call = self._only_call(instruction)
            if call:
                inside = FlowNode(call.computation.root, element, (*callers, instruction))
                yield FlowStep(inside, instruction, 0, None)
                return
            for link in self._flow.links_from(instruction, element):
                target = FlowNode(instruction.operands[link.operand], link.element, callers)
                found = self._seen_from(at, link.dependence)
                yield FlowStep(target, instruction, link.operand, found, callers)

    def _to_users(self, at: FlowNode) -> Iterator[FlowStep]:
        instruction, element, callers = at
        for user in instruction.users:
            if not callers and user not in self.region.members:
                continue
            for operand, each in enumerate(user.operands):
                if each is instruction:
                    yield from self._into(at, user, operand)
        if callers and instruction.is_root:
            *outer, caller = callers
            yield FlowStep(FlowNode(caller, element, tuple(outer)), caller, 0, None)

    def _into(self, at: FlowNode, user: Instruction, operand: int) -> Iterator[FlowStep]:
        """The steps from an array into one of its users."""
        call = self._only_call(user)
        if call:
            for parameter, given in zip(call.computation.parameters, call.operands, strict=True):
                if given == operand:
                    inside = FlowNode(parameter, at.element, (*at.callers, user))
                    yield FlowStep(inside, user, operand, None)
            return
        for link in self._flow.links_from(user, operand):
            if link.element == at.element:
                found = self._seen_from(at, link.dependence)
                there = FlowNode(user, link.output, at.callers)
                yield FlowStep(there, user, operand, found, at.callers)

    def _seen_from(self, at: FlowNode, dependence: AnyDependence) -> AnyDependence | None:
        """A dependence with the callers of this run; ``None`` if it is an identity."""
        if dependence == identity_of(at.instruction, at.element):
            return None
        for caller in reversed(at.callers):
            dependence = called_by(caller, dependence)
        return dependence


# Why a map is there: the instructions along which it was made, and how many paths there are.
#
# All paths to an array along one indexing are a `PathSet`. Its last steps begin at other sets, so
# that sets take no more room than the maps do, however many paths there are. They are read off
# the frames of a slice: the arrays reached, and along which steps.

Path: TypeAlias = "tuple[Instruction, ...]"

_MAX_BITS: Final = 64
"""A number of more bits is printed as a power of two."""


@dataclass(frozen=True, slots=True, repr=False)
class Provenance(Displayed):
    """All paths of instructions that one map between two of them comes from.

    Attributes:
        indexing: the map with its notes; or why there is none, if a step of each path has none.
        count: how many paths there are. Those that take the same arrays count once.
        paths: the shortest of them, from the instruction that asks to the one that is reached.
            What is called on the way is there with the instructions inside of it; a loop is one
            step, however many iterations it takes.

    >>> from ops import Fusion, hlo
    >>> module = hlo.parse(\'\'\'ENTRY e {
    ...   p = f32[20,20] parameter(0)
    ...   t = f32[20,20] transpose(p), dimensions={1,0}
    ...   ROOT sum = f32[20,20] add(p, t)
    ... }\'\'\')
    >>> for found in Fusion.of_computation(module.entry).why(module.entry.parameters[0]):
    ...     print(found)
    (d0, d1) -> (d0, d1), domain: d0 in [0, 19], d1 in [0, 19]
      %p <- %sum add
    (d0, d1) -> (d1, d0), domain: d0 in [0, 19], d1 in [0, 19]
      %p <- %t transpose <- %sum add
    """

    indexing: OperandIndexing | Unknown
    count: int
    paths: tuple[Path, ...]

    def __str__(self) -> str:
        lines = [str(self.indexing), *(f"  {path_text(path)}" for path in self.paths)]
        rest = self.rest_text()
        return "\n".join([*lines, f"  {rest}"] if rest else lines)

    def rest_text(self) -> str:
        """Number of paths that are not listed, in words; empty if all are."""
        more = self.count - len(self.paths)
        if not more:
            return ""
        is_short = more.bit_length() <= _MAX_BITS
        return f"and {more if is_short else f'at least 2**{more.bit_length() - 1}'} more"


def path_text(path: Path) -> str:
    """The instructions of a path, the one reached first."""
    return " <- ".join(map(_name, reversed(path)))


def _name(instruction: Instruction) -> str:
    is_parameter = instruction.parameter_number is not None
    return f"%{instruction.name}" if is_parameter else f"%{instruction.name} {instruction.opcode}"


def provenance_of(
    target: Instruction, start: Array, region: Region, most: int
) -> tuple[Provenance, ...]:
    """One for each map between an array and an instruction, with so many paths at most."""
    check_type(most, INTEGER, "why: most", "an integer")
    if most < 0:
        raise ArgumentError(f"why: most is {most}; expected a number of paths")
    ends: dict[AnyDependence, list[PathSet]] = {}
    for found in _PathReader(region).paths_to(target, backward_slice(start, region)):
        ends.setdefault(of_element(found.along, found.array[1]), []).append(found)
    shown = {along: tuple(islice(shortest_paths(sets), most)) for along, sets in ends.items()}
    return tuple(
        Provenance(along.entries[0], sum(found.count for found in sets), shown[along])
        for along, sets in ends.items()
    )


# Sets of paths.


@dataclass(eq=False, slots=True)
class PathSet:
    """All paths to an array ``along`` one indexing, or along maps of which one is unknown.

    ``length`` is the number of instructions on the shortest of them. Without a last step, the
    array is where paths begin.
    """

    array: Array
    along: AnyDependence
    count: int = 0
    length: int = 0
    steps: dict[PathStep, None] = field(default_factory=dict["PathStep", None])

    def arrive(self, step: PathStep) -> None:
        """One more last step, of which all paths are known; the same step counts once."""
        if step not in self.steps:
            self.steps[step] = None
            self.count += step.before.count * (step.inside.count if step.inside else 1)
            self.length = min(self.length or step.length, step.length)


class PathStep(NamedTuple):
    """From a set of paths to the next array, maybe along those ``inside`` of a call."""

    before: PathSet
    inside: PathSet | None = None

    @property
    def length(self) -> int:
        """The number of instructions on the shortest path with this step."""
        return self.before.length + (self.inside.length if self.inside else 0) + 1


PathSets: TypeAlias = "dict[Array, dict[AnyDependence, PathSet]]"
"""The paths to each array, by the one indexing that they are along."""

Further: TypeAlias = "tuple[Array, AnyDependence | None, PathSet | None]"
"""A neighbour, the dependence on it, and the paths inside of what is called on the way."""


class _PathReader:
    """Reads the paths through a region off the frames of its slices."""

    def __init__(self, region: Region) -> None:
        self._region = region
        module = region.computation.module
        self._flow = flow_in(module, Direction.OUTPUT_TO_INPUT, region.registry)
        self._inside: dict[Array, PathSets] = {}

    def paths_to(self, target: Instruction, frames: Iterable[CallFrame]) -> list[PathSet]:
        """The paths that the frames of a slice have from where they begin to an instruction."""
        for computation in postorder([self._region.computation], self._region.callees):
            self._summarize(computation)
        found: dict[CallFrame, PathSets] = {}
        for frame in frames:
            found[frame] = self._paths_in(frame, found)
        arrays = [(target, number) for number in target.shape.array_indices]
        ends = (sets.get(array, {}) for sets in found.values() for array in arrays)
        return [paths for end in ends for paths in end.values() if paths.count]

    def _summarize(self, computation: Computation) -> None:
        """Paths from the root of a called computation to its parameters; not those of a loop."""
        sites = self._region.call_sites.get(computation, ())
        if any(site.calls.condition is None for site in sites):
            for number in computation.root.shape.array_indices:
                start = computation.root, number
                frame = CallFrame.at(start).follow(self._flow, self._region.limit(computation))
                self._inside[start] = {
                    array: sets
                    for array, sets in self._paths_in(frame, {}).items()
                    if array[0] in computation.parameters
                }

    def _paths_in(self, frame: CallFrame, before: Mapping[CallFrame, PathSets]) -> PathSets:
        """The paths to all arrays that a frame reaches, given those of the frames before it."""
        sets: PathSets = {
            array: {along: PathSet(array, along) for along in dependence.singles()}
            for array, dependence in frame.reached.items()
        }
        if not frame.entries:
            for start, dependence in frame.starts.items():
                for along in dependence.singles():
                    sets[start][along] = PathSet(start, along, count=1, length=1)
        for entry in frame.entries:
            for paths in before[entry.frame][entry.array].values():
                _arrive(sets, entry.edge[0], entry.after(paths.along), PathStep(paths))
        for array in frame.reached:
            steps = self._steps_from(array)
            for paths in [*sets[array].values()]:
                for target, step, inside in steps:
                    along = paths.along
                    after = along if step is None else self._flow.compose(along, step)
                    _arrive(sets, target, after, PathStep(paths, inside))
        return sets

    def _steps_from(self, array: Array) -> list[Further]:
        """The neighbours of an array in its computation; a whole loop is one step."""
        instruction, output = array
        if instruction not in self._region:
            return []
        calls = self._region.registry.calls(instruction)
        if calls and calls.condition is None:
            root = calls.choices[0].computation.root
            inner = output - calls.first_output(instruction)
            if inner in root.shape.array_indices:
                return [*self._through(array, calls, inner)]
        return [(target, step, None) for target, step in self._flow.steps_from(array)]

    def _through(self, array: Array, calls: Calls, inner: int) -> Iterator[Further]:
        """From a result to the operands, along paths in the call, and to the selector."""
        instruction, _ = array
        for number, call in enumerate(calls.choices):
            choice = chosen(array, calls, number)
            for (parameter, element), sets in self._inside[call.computation.root, inner].items():
                operand = instruction.operands[call.operands[parameter.parameter_number or 0]]
                for inside in sets.values():
                    if inside.count:
                        dependence = called_by(instruction, inside.along)
                        if choice is not None:
                            dependence = self._flow.compose(choice, dependence)
                        step = None if dependence == identity_of(*array) else dependence
                        yield (operand, element), step, inside
        if calls.selector is not None:
            decision = decided(array, Direction.OUTPUT_TO_INPUT)
            yield (instruction.operands[calls.selector], 0), decision, None


def _arrive(sets: PathSets, target: Array, dependence: AnyDependence, step: PathStep) -> None:
    """Let a step lead to an array, along each of some indexings."""
    there = sets.setdefault(target, {})
    for along in dependence.singles() if step.before.count else ():
        is_empty = any(each.map.is_known_empty for each in along.indexings)
        if is_empty and along not in there:
            continue
        kept = _kept(along, there)
        there.setdefault(kept, PathSet(target, kept)).arrive(step)


def _kept(along: AnyDependence, there: Collection[AnyDependence]) -> AnyDependence:
    """The indexing itself; or its stand-in in the analysis, which may join it with others.

    Of too many, that is the one that holds them all; beside an unknown one some are told apart.
    """
    if along in there:
        return along
    for each in there:
        if each.indexings and along.indexings and each.union(along) == each:
            return each
    wide = (each for each in there if any(one.approximation for one in each.indexings))
    unknown = (each for each in there if not each.indexings and len(there) >= limits.MAX_MAPS)
    return next(chain(wide, unknown), along)


# Paths, listed one by one.


class _Tail(NamedTuple):
    """The end of a path."""

    instruction: Instruction
    tail: _Tail | None


class _Outside(NamedTuple):
    """Array where a path continues backwards behind the called computations around it."""

    paths: PathSet
    rest: _Outside | None


def shortest_paths(ends: Iterable[PathSet]) -> Iterator[Path]:
    """The paths of some sets, the shortest first.

    They are made backwards, always on along what can become the shortest; of equally short ones
    the newest goes on, so that one is finished before others are begun.
    """
    numbers = count(0, -1)
    unfinished: list[tuple[int, int, PathSet, _Tail | None, _Outside | None]] = []

    def put(length: int, paths: PathSet, tail: _Tail | None, rest: _Outside | None) -> None:
        heappush(unfinished, (length, next(numbers), paths, tail, rest))

    for end in reversed([*ends]):
        put(end.length, end, None, None)
    while unfinished:
        length, _, paths, tail, rest = heappop(unfinished)
        tail = _Tail(paths.array[0], tail)
        if not paths.steps and rest is None:
            yield tuple(_instructions(tail))
        elif not paths.steps and rest is not None:
            put(length, rest.paths, tail, rest.rest)
        for step in reversed(paths.steps):
            more = length - paths.length + step.length
            if step.inside is None:
                put(more, step.before, tail, rest)
            else:
                put(more, step.inside, tail, _Outside(step.before, rest))


def _instructions(tail: _Tail | None) -> Iterator[Instruction]:
    while tail:
        yield tail.instruction
        tail = tail.tail
