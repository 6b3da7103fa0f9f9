"""All indexings from one array to another, as one value that composes and unites."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, lru_cache, partial
from itertools import chain
from typing import Final, NamedTuple, TypeAlias

from indexing import IndexingMap, UndefinedMap
from indexing.layout import UNBOUNDED_SIZE, Shape, ShapeError
from indexing.passes import Constraint, arranged, box, holds, hull
from ops import limits
from ops.dependence import operand_indexing
from ops.dependence.operand_indexing import OperandIndexing, RuntimeOrigin
from ops.devices import DeviceIndex, Devices, JointIndexing, devices_of, own_device
from ops.hlo import Instruction
from ops.hlo.errors import HloTextError
from ops.index_maps import Size, check_sizes, dimensions_of, index_map
from ops.rules.dynamic import known_sizes, with_bounds
from ops.rules.rule import (
    Direction,
    MapOfOperand,
    Maps,
    OpIndexing,
    Routes,
    Unknown,
    arrays_in_operands,
    if_known,
)
from simplifier import forms
from simplifier.errors import IndexingError, quoted
from simplifier.forms import EVERYTHING, Interval
from simplifier.tools.display import MAX_ANSWERS, AnswerTuple, html

# Widening: one indexing replaces many; it relates all that they do, maybe more, and is marked.


def widened(
    indexings: Sequence[OperandIndexing], reason: str, sizes: Sequence[int] | None = None
) -> OperandIndexing:
    """One indexing, marked with a reason, that holds all of these.

    They lead to one array, of these sizes, all on the device that asks or all on others. Where they
    agree on a dimension, a constraint or the device, that is kept, with the runtime variables that
    it needs; everything else becomes a range, from the least to the greatest value.

    >>> from indexing import parse_map
    >>> from ops import OperandIndexing
    >>> texts = ["(d0, d1) -> (d0, d1), domain: d0 in [0, 3], d1 in [0, 5]",
    ...          "(d0, d1) -> (d0, d1 + 2), domain: d0 in [0, 3], d1 in [0, 3]"]
    >>> print(widened([OperandIndexing(parse_map(text)) for text in texts], "an example"))
    (d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 3], d1 in [0, 5], s0 in [0, 5]
    approximation: an example
    """
    first = indexings[0]
    if len(indexings) == 1:
        return replace(first, approximation=reason)
    whole = _hull(indexings, _bounds(sizes, first), operand_indexing.devices_in(indexings))
    return operand_indexing.separate_form(replace(whole, approximation=reason), first.element)


def boxed(
    indexings: Sequence[OperandIndexing],
    reason: str,
    begin: Sequence[int],
    end: Sequence[int],
    devices: Devices | None,
) -> OperandIndexing:
    """One indexing that holds all of these, as :func:`widened`, and that hardly grows afterwards.

    It begins at all elements of an array of sizes ``begin``. A dimension on which all agree is kept
    if the element alone tells it; in all others it leads everywhere.
    """
    first = indexings[0]
    devices = devices or operand_indexing.devices_in(indexings)
    whole = _hull(indexings, _bounds(end, first), devices)
    dims = [*_bounds(begin, first), whole.devices]
    results = [*_bounds(end, first), whole.devices]
    every = whole.element_as(box(whole.element, dims, results))
    return operand_indexing.separate_form(replace(every, approximation=reason), first.element)


def shortened(indexing: OperandIndexing, reason: str) -> OperandIndexing:
    """The indexing without long formulas; if there are any, for any values, and marked."""
    if indexing.longest <= limits.MAX_TERMS_OF_WIDE:
        return indexing
    why = indexing.approximation or reason

    def short(joint: JointIndexing) -> JointIndexing:
        wide = joint.for_any_values()
        return wide.shortened(limits.MAX_TERMS_OF_WIDE, wide.element.result_bounds(), why)

    return operand_indexing.jointly(indexing, short)


def is_part_at_a_glance(narrow: OperandIndexing, wide: OperandIndexing) -> bool:
    """Whether one indexing is seen at a glance to tell nothing that another one does not.

    Source: :func:`indexing.transform.hull.holds`, which knows the cases.
    """
    is_plain = not wide.runtime and wide.replica_id is None and narrow.replica_id is None
    return is_plain and holds(wide.map, narrow.map)


def _bounds(sizes: Sequence[int] | None, indexing: OperandIndexing) -> list[Interval]:
    if sizes is None:
        return [EVERYTHING] * len(indexing.map.forms)
    return [Interval(0, None if size == UNBOUNDED_SIZE else size - 1) for size in sizes]


def _hull(
    indexings: Sequence[OperandIndexing], array: Sequence[Interval], devices: Devices | None
) -> JointIndexing:
    """A joint form that holds several indexings to an array, simplified but for its values.

    Values that are not the same in all of them are taken for any values.
    """
    points = [each for each in indexings if not each.map.is_known_empty] or indexings[:1]
    joints = [operand_indexing.joint_form(each, devices) for each in points]
    first = joints[0]
    values = [_values(each) for each in joints]
    shared = [value for value in values[0] if all(value in others for others in values)]
    numbers = [[own[value] for value in shared] for own in values]
    maps = [_over(*pair) for pair in zip(joints, numbers, strict=True)]
    whole = hull(maps, [*array, first.devices])
    *index, device = whole.forms
    parts = (DeviceIndex(tuple(index), device), *(first.parts[1 + each] for each in numbers[0]))
    return replace(first, parts=parts, domain=whole.domain, approximation="")


def _values(joint: JointIndexing) -> dict[object, int]:
    """The values that dimensions alone lead to, with the numbers of their variables."""
    return {
        (source.instruction, source.callers, source.clamp, index, device): number
        for number, (index, device, source) in enumerate(joint.parts[1:])
        if all(name[0] == "d" for name in forms.variables_of((*index, device)))
    }


def _over(joint: JointIndexing, numbers: Sequence[int]) -> IndexingMap:
    """The element and its device, over runtime variables of these numbers; others are ranges."""
    dims, ranges, runtime = joint.domain.by_role(joint.domain.identifiers)
    kept = [runtime[number] for number in numbers]
    others = (place for place in runtime if place not in kept)
    return arranged(joint.element, dims, (*ranges, *others), kept)


# Containment: whether one indexing relates all that others do, at a glance or as isl finds it.


def without_contained(indexings: Iterable[OperandIndexing]) -> list[OperandIndexing]:
    """The indexings without those that another one contains; of equal ones, the first.

    If a comparison takes more than :data:`ops.limits.MAX_STEPS_OF_COMPARISON`, both stay.

    >>> from indexing import parse_map
    >>> from ops import OperandIndexing
    >>> texts = ["(d0)[s0] -> (d0 * 2 + s0), domain: d0 in [0, 3], s0 in [0, 2]",
    ...          "(d0) -> (d0 * 2 + 1), domain: d0 in [0, 3]"]
    >>> print(*without_contained(OperandIndexing(parse_map(text)) for text in texts))
    (d0)[s0] -> (d0 * 2 + s0), domain: d0 in [0, 3], s0 in [0, 2]
    """
    left: list[OperandIndexing] = []
    for each in indexings:
        if not any(contains(other, each) for other in left):
            left = [*(other for other in left if not contains(each, other)), each]
    return left


def joined(indexings: Collection[OperandIndexing]) -> Collection[OperandIndexing]:
    """The indexings, but one for two that lead to the same index under conditions on values.

    One of them holds under no condition, or the one does where the other one does not.

    >>> from ops import hlo, parameter_indexing
    >>> entry = hlo.parse('''ENTRY e { x = f32[9] parameter(0) i = s32[] parameter(1)
    ...   a = f32[2] dynamic-slice(x, i), dynamic_slice_sizes={2} b = f32[2] negate(a)
    ...   ROOT r = f32[9] dynamic-update-slice(x, b, i) }''').entry
    >>> print(*parameter_indexing(entry.root)[entry.parameters[0]])
    (d0) -> (d0), domain: d0 in [0, 8]
    """
    groups: dict[object, list[OperandIndexing]] = {}
    for each in indexings:
        place = each.map.forms, each.element, each.replica_id, each.approximation
        groups.setdefault(place, []).append(each)
    left: dict[OperandIndexing, None] = {}
    for group in groups.values():
        left |= dict.fromkeys(_joined(group) if any(each.runtime for each in group) else group)
    return indexings if len(left) == len(indexings) else left


def _joined(group: Sequence[OperandIndexing]) -> list[OperandIndexing]:
    left: list[OperandIndexing] = []
    for each in group:
        for other in left:
            whole = _whole(other, each) or _whole(each, other)
            if whole is not None:
                return _joined([whole if one is other else one for one in group if one is not each])
        left.append(each)
    return left


def _whole(one: OperandIndexing, other: OperandIndexing) -> OperandIndexing | None:
    """One indexing for two to the same index, if the first holds where the second one does not."""
    if not one.runtime and other.runtime:
        return one if is_part_at_a_glance(other, one) else None
    own, others = ([(each.value_key, each.clamp) for each in way.runtime] for way in (one, other))
    if own != others:
        return None
    whole = one.map if one.map == other.map else _without_condition(one.map, other.map)
    if whole is None:
        return None
    return operand_indexing.with_values(replace(one, map=whole), {})


@lru_cache(maxsize=1 << 10)
def _without_condition(own: IndexingMap, other: IndexingMap) -> IndexingMap | None:
    """A map without a condition, if the other one is the same where that does not hold."""
    for constraint in own.domain.constraints:
        found = free_and_turned(own, constraint)
        if found and found[1].simplify(preserve_ranges=True) == other:
            return found[0]
    return None


def free_and_turned(
    own: IndexingMap, constraint: Constraint
) -> tuple[IndexingMap, IndexingMap] | None:
    """A map without one of its constraints, and the map where that does not hold.

    ``None`` unless its form has values on one side of the interval.
    """
    (form, limit), every = constraint, own.domain.constraints
    free = own.domain.with_constraints(each for each in every if each != constraint)
    (reach,) = own.derived([form], free).result_bounds()
    (first, last), (lower, upper) = reach.ends, limit.ends
    sides = map(Interval.from_range, ((first, lower - 1), (upper + 1, last)))
    outside = [(form, each) for each in sides if not each.is_empty]
    if len(outside) != 1:
        return None
    return own.derived(own.forms, free), own.derived(own.forms, free.constrained(outside))


def contains(wide: OperandIndexing, narrow: OperandIndexing) -> bool:
    """Whether isl finds, within the limit, that the first relates all that the second does.

    They lead to the same array of the same device, and their runtime variables are the same values.
    """
    is_same_place = (wide.element, wide.replica_id) == (narrow.element, narrow.replica_id)
    if not is_same_place or wide.replica_id is not None or wide.runtime != narrow.runtime:
        return False
    has_ranges = any(_uses_ranges(origin.map) for origin in wide.runtime)
    return not has_ranges and is_seen_to_be_subset(narrow.map, wide.map)


def is_seen_to_be_subset(narrow: IndexingMap, wide: IndexingMap) -> bool:
    """Whether isl finds, within the limit, that the second map has all pairs of the first."""
    most = limits.MAX_STEPS_OF_COMPARISON
    try:
        return narrow.is_subset(wide, budget=most, runtime_as_parameters=True)
    except IndexingError:
        return False


def _uses_ranges(index: IndexingMap) -> bool:
    """Whether a value that is read depends on ranges: then it is not one value for an element."""
    _, ranges, _ = index.domain.by_role(index.domain.identifiers)
    limited = (form for form, _ in index.domain.constraints)
    return not {*ranges}.isdisjoint(forms.variables_of((*index.forms, *limited)))


# Dependences.


class Dependence(AnswerTuple[OperandIndexing]):
    """All indexings from one array to another, each once; without any, it does not depend on it.

    If nobody can tell, an :class:`Unknown` takes its place, which has the same methods. The hash is
    remembered, as dependences are keys of whatever is looked up.

    >>> from indexing import parse_map
    >>> head = OperandIndexing(parse_map("(d0) -> (d0), domain: d0 in [0, 3]"))
    >>> back = OperandIndexing(parse_map("(d0) -> (-d0 + 3), domain: d0 in [0, 3]"))
    >>> both = Dependence((head,)).union(Dependence((back, head)))
    >>> len(both), both.compose(Dependence((back,))) == (back, head)
    (2, True)
    >>> print(both.compose(Unknown("sort: no indexing map")))
    unknown (sort: no indexing map)
    """

    def compose(self, producer: AnyDependence) -> AnyDependence:
        """Every indexing of the producer after every one of these, each once.

        If these are more than :data:`ops.limits.MAX_COMPOSITIONS`, both are :meth:`widened` before.
        """
        return if_known(_composed, self, producer)

    def union(self, *others: AnyDependence, sizes: Sequence[int] | None = None) -> AnyDependence:
        """All indexings of several dependences, each once; unknown if one of them is.

        Of approximate indexings to an array one is left, which holds them all. It also takes the
        place of what is seen to be a part of it, and of all others if they are more than
        :data:`ops.limits.MAX_MAPS`. ``sizes`` are those of the array that all of them lead to.
        """
        return if_known(partial(_united, sizes), self, *others)

    def widened(self) -> Dependence:
        """One indexing to each array that holds all, in short formulas; marked if it holds more.

        This is what becomes of those that take part in more than
        :data:`ops.limits.MAX_COMPOSITIONS`.
        """
        reason = f"more than {limits.MAX_COMPOSITIONS} compositions of maps"
        return Dependence(shortened(each, reason) for each in _limited(self, 1, reason))

    def singles(self) -> list[Dependence]:
        """A dependence for each indexing."""
        return [Dependence((indexing,)) for indexing in self]

    def apply(self, change: Callable[[OperandIndexing], OperandIndexing]) -> Dependence:
        """The same with each indexing changed; those that become equal are one."""
        changed = [*map(change, self)]
        is_same = all(before is after for before, after in zip(self, changed, strict=True))
        return self if is_same else Dependence(dict.fromkeys(changed))

    def only(self, wanted: Callable[[OperandIndexing], bool]) -> Dependence:
        """The same without the indexings that are not wanted."""
        return Dependence(filter(wanted, self))

    def simplify(self) -> Dependence:
        """The same with each indexing in its smallest form."""
        return self if self._smaller is None else self._smaller

    @cached_property
    def _smaller(self) -> Dependence | None:
        """The result of :meth:`simplify`, if that is another one: no value holds itself."""
        simplified = self.apply(OperandIndexing.simplify)
        return None if simplified is self else simplified

    def minimal(self) -> Dependence:
        """The same without indexings that another one contains; equal ones are one.

        Maps that isl cannot compare within :data:`ops.limits.MAX_STEPS_OF_COMPARISON` stay.
        """
        return Dependence(without_contained(self)) if len(self) > 1 else self

    @property
    def indexings(self) -> Dependence:
        """The indexings that are known: all."""
        return self

    entries = indexings
    """The indexings; of an unknown dependence, that alone."""

    @cached_property
    def burden(self) -> int:
        """Cost that long formulas add to a composition: the square of their weight."""
        beyond = (max(0, indexing.weight - limits.USUAL_WEIGHT) for indexing in self)
        return sum(weight**2 // 64 for weight in beyond)

    @cached_property
    def _hash(self) -> int:
        return super().__hash__()

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Dependence) and self._hash != other._hash:
            return False
        return super().__eq__(other)

    def _repr_html_(self) -> str:
        more = len(self) - MAX_ANSWERS
        shown = [indexing._repr_html_() for indexing in self[:MAX_ANSWERS]]
        return "".join([*shown, html(f"<p>and {more:,} more</p>")] if more > 0 else shown)

    def __reduce__(self) -> tuple[type[Dependence], tuple[tuple[OperandIndexing, ...]]]:
        return Dependence, (tuple(self),)


AnyDependence: TypeAlias = "Dependence | Unknown"

Indexings: TypeAlias = "tuple[OperandIndexing, ...] | Unknown"
"""A dependence as users get it: indexings to iterate over, or the reason why there are none."""

NOTHING: Final = Dependence()
"""No dependence at all."""


def cost(consumer: AnyDependence, producer: AnyDependence) -> int:
    """Cost of a composition: one for each pair of indexings, more if they are long."""
    first, second = (len(each.indexings) or 1 for each in (consumer, producer))
    return first * second + consumer.burden * second + producer.burden * first


def of_element(dependence: AnyDependence, element: int) -> AnyDependence:
    """The dependence on one array of a tuple."""
    if all(indexing.element == element for indexing in dependence.indexings):
        return dependence
    return dependence.apply(lambda indexing: indexing.of_element(element))


def called_by(caller: Instruction, dependence: AnyDependence) -> AnyDependence:
    """A dependence inside of a computation, seen from where it is called."""
    return dependence.apply(lambda indexing: indexing.called_by(caller))


def _composed(consumer: Dependence, producer: Dependence) -> Dependence:
    if len(consumer) * len(producer) > limits.MAX_COMPOSITIONS:
        consumer, producer = consumer.widened(), producer.widened()
    pairs = dict.fromkeys(first.compose(second) for first in consumer for second in producer)
    return Dependence(_existing(pairs))


def _united(sizes: Sequence[int] | None, *several: Dependence) -> Dependence:
    left, most = joined(_existing(dict.fromkeys(chain.from_iterable(several)))), limits.MAX_MAPS
    many = f"more than {most}" if len(left) > most else f"{len(left)}"
    suffix = "" if len(left) > most else " that depend on many values"
    return _limited(left, most, f"{many} different maps{suffix}", sizes)


def _existing(indexings: Collection[OperandIndexing]) -> Collection[OperandIndexing]:
    """The indexings without empty ones, but to an array to which no other leads."""
    if not any(each.map.is_known_empty for each in indexings):
        return indexings
    led_to = {each.element for each in indexings if not each.map.is_known_empty}
    left: list[OperandIndexing] = []
    for each in indexings:
        if not each.map.is_known_empty or each.element not in led_to:
            left.append(each)
            led_to.add(each.element)
    return left


def _limited(
    indexings: Collection[OperandIndexing],
    most: int,
    reason: str,
    sizes: Sequence[int] | None = None,
) -> Dependence:
    """The indexings, or one instead of those to an array that are more than ``most``."""
    if _number(indexings) <= most and not any(each.approximation for each in indexings):
        return Dependence(indexings)
    targets: dict[tuple[int, bool], list[OperandIndexing]] = defaultdict(list)
    for each in indexings:
        targets[each.element, each.replica_id is None].append(each)
    limited = (_limited_to_one_array(each, most, reason, sizes) for each in targets.values())
    return Dependence(chain.from_iterable(limited))


def _limited_to_one_array(
    indexings: Sequence[OperandIndexing], most: int, reason: str, sizes: Sequence[int] | None
) -> Sequence[OperandIndexing]:
    """Indexings that are all on the device that asks, or all on others: see the union."""
    exact = [each for each in indexings if not each.approximation]
    marked = [each for each in indexings if each.approximation]
    if marked:
        wide = widened(marked, marked[0].approximation, sizes)
        is_exact = replace(wide, approximation="") in exact
        marked = [] if is_exact else [wide]
        exact = [each for each in exact if is_exact or not is_part_at_a_glance(each, wide)]
    left = [*exact, *marked]
    return left if _number(left) <= most else [widened(left, reason, sizes)]


def _number(indexings: Collection[OperandIndexing]) -> int:
    """Number of indexings; along n updates at unknown places 2**n, each with n values."""
    return sum(max(1, len(each.runtime) ** 2) for each in indexings)


# Links: dependences of the arrays of one instruction on each other, by the answer of its rule.
#
# A rule answers for every instruction of the same opcode, shapes and attributes. Which
# instruction gives the value of a runtime variable, and whether that is known, differs between
# instructions.


class Link(NamedTuple):
    """Dependence of array ``output`` of a result on array ``element`` of an operand.

    Arrays in tuples are numbered through nested tuples. The dependence is that of one
    :class:`Direction`: of the result on the operand, or back.
    """

    output: int
    operand: int
    element: int
    dependence: AnyDependence

    def ends(self, direction: Direction) -> tuple[int, int]:
        """The numbers of the arrays where the maps begin and where they lead."""
        if direction is Direction.OUTPUT_TO_INPUT:
            return self.output, self.element
        return self.element, self.output


class _Pair(NamedTuple):
    """Two arrays of an instruction, and the operation whose maps ``number`` relate them.

    An array that is passed on as it is has no maps.
    """

    output: int
    operand: int
    element: int
    indexing: OpIndexing | Unknown | None = None
    number: int = 0


def links_of(
    instruction: Instruction, answer: Maps | Routes, direction: Direction
) -> Iterator[Link]:
    """The links between all arrays of the result and of the operands, in one direction."""
    for output, operand, element, indexing, number in _pairs(instruction, answer):
        if indexing is None:
            found = identity_of(instruction, output)
        else:
            found = _bound(instruction, indexing.map_of_operand(direction, number))
        yield Link(output, operand, element, found)


def reads_operands(answer: Maps | Routes) -> bool:
    """Whether values that one instruction reads may make its links differ from those of another."""
    listed = answer if isinstance(answer, tuple) else (answer,)
    maps = answer.values() if isinstance(answer, Mapping) else listed
    return any(isinstance(each, OpIndexing) and each.reads_operands for each in maps)


@contextmanager
def errors_in(instruction: Instruction) -> Generator[None]:
    """Errors about shapes become errors that show the instruction in the text."""
    try:
        yield
    except ShapeError as error:
        raise HloTextError(str(error), instruction.span, instruction=instruction.name) from error


def links_of_unfit(
    instruction: Instruction, error: HloTextError, direction: Direction
) -> Iterator[Link]:
    """The links of an instruction whose shapes and attributes do not fit: unknown, by the error."""
    return links_of(instruction, Unknown(f"{error.span}: {error.message}"), direction)


def identity_of(instruction: Instruction, element: int) -> AnyDependence:
    """Dependence of an array of a result on itself."""
    array = instruction.shape.arrays[element]
    if not array.dynamic_dimensions:
        return _identity(array.dimensions)
    return if_known(_identity, known_sizes(instruction, element)).apply(
        lambda each: replace(each, map=with_bounds(each.map, instruction))
    )


@lru_cache(maxsize=256)
def _identity(sizes: tuple[Size, ...]) -> Dependence:
    """Wide tuples hold many arrays of few sizes."""
    return Dependence((OperandIndexing(index_map(dimensions_of(sizes), sizes)),))


def _bound(instruction: Instruction, found: MapOfOperand) -> AnyDependence:
    """The answer of a rule, with the values that are known in one instruction."""
    if isinstance(found.map, UndefinedMap):
        return Unknown(found.map.reason)
    runtime = tuple(
        RuntimeOrigin(_source(instruction, each.operand), each.map, each.clamp, each.replica)
        for each in found.origins
    )
    indexing = operand_indexing.within_reach(OperandIndexing(found.map, runtime, found.replica))
    return Dependence((operand_indexing.with_known_values(indexing),))


def _source(instruction: Instruction, operand: int | None) -> Instruction:
    """The operand that holds a value; without one, the instruction of the replica's number."""
    if operand is None:
        return own_device(devices_of(instruction.computation.module))
    return instruction.operands[operand]


def _pairs(instruction: Instruction, answer: Maps | Routes) -> Iterator[_Pair]:
    """The pairs of arrays that a rule is about."""
    if isinstance(answer, Routes):
        yield from (_Pair(*route) for route in answer)
        return
    inputs = [*arrays_in_operands(instruction)]
    for output, numbers, indexing in _related(instruction, answer):
        for place, number in enumerate(numbers):
            yield _Pair(output, *inputs[number], indexing, place)


def _related(
    instruction: Instruction, answer: Maps
) -> Iterable[tuple[int, Sequence[int], OpIndexing | Unknown]]:
    """Maps of arrays of the result, with the arrays in operands that they lead to."""
    if isinstance(answer, Mapping):
        return [(output, [number], each) for (output, number), each in answer.items()]
    outputs, inputs = instruction.shape.arrays, [*arrays_in_operands(instruction)]
    each = answer if isinstance(answer, tuple) else (answer,) * len(outputs)
    return [(output, range(len(inputs)), indexing) for output, indexing in enumerate(each)]


# Checks: a rule may be a user's.


def check_answer(instruction: Instruction, answer: Maps | Routes) -> None:
    """Raise a :class:`ShapeError` unless a rule's answer fits the arrays of the instruction."""
    if isinstance(answer, Routes):
        _check_routes(instruction, answer)
        return
    outputs, count = instruction.shape.arrays, len([*arrays_in_operands(instruction)])
    if isinstance(answer, tuple):
        _check_number(instruction, "results", len(answer), len(outputs))
    for output, numbers, indexing in _related(instruction, answer):
        is_there = output in range(len(outputs)) and (not numbers or numbers[0] in range(count))
        if not is_there:
            message = f"its rule relates result {output} to operand {numbers[0]}"
            expected = f"there are {len(outputs)} and {count} arrays"
            raise ShapeError(f"{instruction.opcode}: {message}; {expected}")
        if isinstance(indexing, OpIndexing):
            _check_indexing(instruction, outputs[output], indexing, len(numbers))
        elif not isinstance(indexing, Unknown):  # pyright: ignore[reportUnnecessaryIsInstance] - rules may be untyped
            expected = "an OpIndexing, a tuple of them, or Unknown"
            message = f"the rule returns {quoted(indexing)}; expected {expected}"
            raise ShapeError(f"{instruction.opcode}: {message}")
    for pair in _pairs(instruction, answer):
        _check_maps(instruction, pair)


def _check_routes(instruction: Instruction, routes: Routes) -> None:
    outputs = instruction.shape.arrays
    inputs = [operand.shape.arrays for operand in instruction.operands]
    for output, operand, element in routes:
        is_there = output < len(outputs) and element < len(inputs[operand])
        if not (is_there and outputs[output].is_compatible_with(inputs[operand][element])):
            given = ", ".join(str(each.shape) for each in instruction.operands)
            message = f"{instruction.opcode}: {instruction.shape} is not made of {given}"
            raise ShapeError(message)


def _check_indexing(
    instruction: Instruction, result: Shape, indexing: OpIndexing, count: int
) -> None:
    """Raise a :class:`ShapeError` unless there are maps of ``count`` arrays in operands."""
    if not result.dynamic_dimensions:
        check_sizes(instruction.opcode, "the result", result.dimensions, indexing.output_sizes)
    for direction in Direction:
        maps: tuple[IndexingMap, ...] = getattr(indexing, direction.value)
        _check_number(instruction, "operands", len(maps), count)


def _check_maps(instruction: Instruction, pair: _Pair) -> None:
    """Raise a :class:`ShapeError` unless maps lead from the one shape to the other, and back.

    And unless there is an origin for each of their runtime variables.
    """
    if not isinstance(pair.indexing, OpIndexing):
        return
    result = instruction.shape.arrays[pair.output]
    operand = instruction.operands[pair.operand].shape.arrays[pair.element]
    for direction, source, target in (
        (Direction.OUTPUT_TO_INPUT, result, operand),
        (Direction.INPUT_TO_OUTPUT, operand, result),
    ):
        found, origins, _ = pair.indexing.map_of_operand(direction, pair.number)
        if found.is_undefined:
            continue
        _check_number(instruction, "runtime variables", len(origins), len(found.runtime))
        given = len(found.dims), len(found.forms)
        if given != (source.rank, target.rank):
            message = f"{instruction.opcode}: its rule has a map from rank {given[0]} to"
            expected = f"expected {source.rank} to {target.rank}, from {source} to {target}"
            raise ShapeError(f"{message} {given[1]}; {expected}")


def _check_number(instruction: Instruction, what: str, given: int, expected: int) -> None:
    """Raise a :class:`ShapeError` unless a rule gives as many things as there are."""
    if given != expected:
        message = f"{instruction.opcode}: its rule gives {given} {what}"
        raise ShapeError(f"{message}; expected {expected}")
