"""The data flow of loops and choices: between the arrays before and after any number of iterations.

The steps of one iteration lead between the arrays of the loop's state. They are taken again and
again, until they lead along no other maps: a fixpoint. If the maps do not come to an end, one map
that holds whatever iterations may do takes their place.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from indexing import IndexingMap, Variable
from indexing.layout import ElementType
from ops import limits
from ops.analysis.dataflow import Budget, Interner
from ops.dependence.containment import is_seen_to_be_subset
from ops.dependence.dependence import NOTHING, AnyDependence, Dependence, combined
from ops.dependence.links import Link, identity_of
from ops.dependence.operand_indexing import OperandIndexing, devices_in, for_any_values
from ops.dependence.runtime_origin import RuntimeOrigin
from ops.dependence.widening import boxed
from ops.index_maps import every_element, no_dimensions, runtime_value
from ops.rules.dynamic_sizes import known_sizes, with_bounds
from ops.rules.op_indexing import Direction, Unknown
from simplifier import Interval
from simplifier.expr import form as forms
from simplifier.expr import operations

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from ops.analysis.dataflow import Array
    from ops.devices.numbering import Devices
    from ops.rules.rule import Calls


# Choices.


def selected(arrays: Sequence[Array], selector: int, direction: Direction) -> list[Link]:
    """The links to the scalar operand that chooses where these arrays come from."""
    return [
        Link(output, selector, 0, decided(array, direction)) for output, array in enumerate(arrays)
    ]


def decided(array: Array, direction: Direction) -> AnyDependence:
    """The dependence between all elements of an array and a scalar that decides what they are."""
    sizes = known_sizes(*array)
    if isinstance(sizes, Unknown):
        return sizes
    between = no_dimensions if direction is Direction.OUTPUT_TO_INPUT else every_element
    return Dependence((OperandIndexing(with_bounds(between(sizes), array[0])),))


def chosen(array: Array, calls: Calls, number: int) -> AnyDependence | None:
    """How an array is that of one of some choices: itself, where the selector has its value.

    ``None`` if there is no other choice. A flag that is true chooses the first of two; a number
    that no choice has chooses the last, like XLA's.
    """
    count = len(calls.choices)
    if calls.selector is None or count == 1:
        return None
    selector, value = array[0].operands[calls.selector], runtime_value(0)
    is_flag = selector.shape.element_type is ElementType.PRED
    values = Interval(0, 1) if is_flag else Interval(-1, count - 1)
    is_last = not is_flag and number == count - 1
    form = operations.mod(value, forms.constant(count)) if is_last else value
    wanted = Interval.of(1 - number if is_flag else number)

    def where_chosen(itself: OperandIndexing) -> OperandIndexing:
        domain = replace(itself.map.domain, runtime=(Variable(values),))
        index = IndexingMap.from_forms((), replace(domain, runtime=(), constraints=()))
        element = IndexingMap.from_forms(itself.map.forms, domain.constrained([(form, wanted)]))
        return replace(itself, map=element, runtime=(RuntimeOrigin(selector, index, values),))

    return identity_of(*array).apply(where_chosen)


# Loops.


def repeated(
    body: Iterable[Link],
    condition: Iterable[Link],
    arrays: Sequence[Array],
    kept: Collection[int],
    direction: Direction,
) -> list[Link]:
    """The links between the arrays of a loop's state before and after any number of iterations.

    ``body`` links the state after an iteration with that before it, ``condition`` the decision that
    there is another iteration with the state. The arrays that every iteration has ``kept`` are
    linked with themselves alone; all others depend on how many iterations there are, and so on the
    decision. A runtime variable of an iteration has another value in each of them, so it becomes a
    range here, except for the number of the device that asks.
    """
    steps = [link for link in body if link.output not in kept]
    decisions = [
        Link(changed, 0, link.element, _through_decision(link, arrays[changed], direction))
        for changed in range(len(arrays))
        if changed not in kept
        for link in condition
    ]
    edges: dict[int, list[tuple[int, AnyDependence]]] = defaultdict(list)
    for link in (*steps, *decisions):
        begin, end = link.ends(direction)
        edges[begin].append((end, link.dependence.apply(for_any_values)))
    loop = Fixpoint(arrays, edges)
    is_backward = direction is Direction.OUTPUT_TO_INPUT
    return [
        Link(begin, 0, end, found) if is_backward else Link(end, 0, begin, found)
        for begin in range(len(arrays))
        for end, found in loop.reached(begin).items()
    ]


def _through_decision(link: Link, array: Array, direction: Direction) -> AnyDependence:
    """The dependence between an array and what the decision reads."""
    decision = decided(array, direction)
    if direction is Direction.OUTPUT_TO_INPUT:
        return decision.compose(link.dependence)
    return link.dependence.compose(decision)


class _Meeting(NamedTuple):
    """A dependence between two arrays of some sizes, to which more comes; maybe without end."""

    before: AnyDependence
    more: AnyDependence
    sizes: tuple[tuple[int, ...], tuple[int, ...]]
    is_endless: bool


class Fixpoint:
    """The steps of one iteration, which begin at each array of the state, by their numbers.

    What is found for one array is remembered for the others: they often take the same steps.
    """

    def __init__(
        self, arrays: Sequence[Array], steps: Mapping[int, Sequence[tuple[int, AnyDependence]]]
    ) -> None:
        self._sizes = [each.shape.arrays[number].dimensions for each, number in arrays]
        self._interner = Interner()
        self._itself = [self._interner.interned(identity_of(*array)) for array in arrays]
        self._steps = {
            begin: [(end, self._interner.interned(step)) for end, step in each]
            for begin, each in steps.items()
        }
        listed = (step for each in steps.values() for _, step in each)
        self._devices = devices_in([each for step in listed for each in step.indexings])
        self._budget = Budget(self._interner, free=0)
        self._meetings: dict[_Meeting, tuple[AnyDependence, AnyDependence]] = {}

    def reached(self, begin: int) -> dict[int, AnyDependence]:
        """All arrays that steps lead to from one of them, and the dependences on them."""
        found: dict[int, AnyDependence] = {begin: self._itself[begin]}
        fresh = dict(found)
        came: Counter[int] = Counter()
        while fresh:
            position = next(iter(fresh))
            dependence = fresh.pop(position)
            for target, step in self._steps.get(position, ()):
                before = found.get(target, NOTHING)
                more = self._budget.compose(dependence, step)
                sizes = self._sizes[begin], self._sizes[target]
                is_endless = came[target] > limits.MAX_MAPS_OF_LOOP
                found[target], new = self._met(_Meeting(before, more, sizes, is_endless))
                if new != NOTHING:
                    came[target] += len(new.indexings) or 1
                    both = combined(fresh.get(target, NOTHING), new, _all_of)
                    fresh[target] = self._interner.interned(both)
        return {position: each for position, each in found.items() if each != NOTHING}

    def _met(self, meeting: _Meeting) -> tuple[AnyDependence, AnyDependence]:
        """The dependence between two arrays when more is found, and what is new in it."""
        before = meeting.before
        if meeting.more is before:
            return before, NOTHING
        if meeting not in self._meetings:
            after = self._interner.interned(
                combined(before, meeting.more, partial(_widest, meeting, self._devices))
            )
            new = NOTHING if after == before else combined(after, before, _without)
            self._meetings[meeting] = after, self._interner.interned(new)
        return self._meetings[meeting]


def _widest(
    meeting: _Meeting, devices: Devices | None, before: Dependence, more: Dependence
) -> Dependence:
    """All indexings but those that are parts of others, or one indexing if they do not end."""
    most = limits.MAX_MAPS_OF_LOOP
    left = without_parts(before, more)
    reasons = [each.approximation for each in left if each.approximation]
    goes_on = meeting.is_endless or len(left) > most or (before and reasons)
    if left == before or not goes_on:
        return left
    reason = f"iterations of a loop along more than {most} different maps"
    both = (*before, *more)
    return Dependence([boxed(both, [*reasons, reason][0], *meeting.sizes, devices)])


def without_parts(before: Dependence, more: Dependence) -> Dependence:
    """The indexings that are not parts of others; if they are too many, maybe not all."""
    left: tuple[OperandIndexing, ...] = before
    for one in more:
        if not one.map.is_known_empty and not any(_is_part(one, wide) for wide in left):
            left = (*(other for other in left if not _is_part(other, one)), one)
        if len(left) > limits.MAX_MAPS_OF_LOOP:
            break
    return Dependence(left)


def _is_part(narrow: OperandIndexing, wide: OperandIndexing) -> bool:
    """Whether everything that one indexing relates is seen to be related by another one."""
    is_remote = narrow.replica_id is not None or wide.replica_id is not None
    if is_remote or narrow.runtime != wide.runtime:
        return narrow == wide
    return _has_smaller_domain(narrow.map, wide.map) or (
        bool(narrow.map.ranges and wide.map.ranges) and _reaches_no_further(narrow.map, wide.map)
    )


def _has_smaller_domain(narrow: IndexingMap, wide: IndexingMap) -> bool:
    """Whether the first is the second with less in its domain."""
    domain = wide.domain
    return (
        narrow.forms == wide.forms
        and narrow.domain.identifiers == domain.identifiers
        and {*domain.constraints} <= {*narrow.domain.constraints}
        and all(
            bounds.contains(narrow.domain.bounds[place]) for place, bounds in domain.bounds.items()
        )
    )


def _reaches_no_further(narrow: IndexingMap, wide: IndexingMap) -> bool:
    """Whether isl finds, without much effort, that the second has all pairs of the first."""
    pairs = zip(narrow.result_bounds(), wide.result_bounds(), strict=True)
    is_within = all(theirs.contains(mine) for mine, theirs in pairs)
    return is_within and is_seen_to_be_subset(narrow, wide)


def _all_of(one: Dependence, other: Dependence) -> Dependence:
    """All indexings of both, each once, however many they are."""
    return Dependence(dict.fromkeys(one + other))


def _without(dependence: Dependence, known: Dependence) -> Dependence:
    """What is new."""
    return Dependence(each for each in dependence if each not in known)
