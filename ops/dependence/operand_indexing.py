"""One indexing from an array of a program to another, and how one is composed after another.

What is read on another device is computed there: the values that lead to it are that device's, and
its own number is the one that a collective operation behind it asks with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain
from typing import TypeVar

from indexing import IndexingMap, Variable, format_map, passes
from indexing.passes import Ends
from ops import limits
from ops.devices import (
    EVERYTHING,
    DeviceIndex,
    Devices,
    JointIndexing,
    Separated,
    devices_of,
    is_number_of_device,
    is_own_device,
    own_device,
)
from ops.hlo import Instruction
from ops.index_maps import dim, runtime_value
from ops.rules.constant_folding import Element, bounds_of, clamped, range_in, value_of
from ops.rules.control import outside, value_of_call
from ops.rules.counted_loops import CountedLoop, loops_around
from ops.rules.dynamic import with_all_sizes, with_sizes_in
from ops.rules.rule import replica_note
from simplifier import forms
from simplifier.forms import Form, Interval, substitute
from simplifier.tools.display import Displayed


@dataclass(frozen=True, slots=True, repr=False)
class OperandIndexing(Displayed):
    """One indexing: elements of a tensor depend on these elements of another.

    ``runtime`` has one origin for each runtime variable of ``map``. ``replica_id``, a map with
    one result from the same variables, says which replica holds the element, if not the one that
    asks. ``element`` is the number of the array that is meant where the other is a
    tuple, counted through nested tuples.

    ``approximation`` is empty if the indexing is what the program says. Otherwise it is the reason
    why this one stands for many: it holds all that they relate, and maybe more.
    """

    map: IndexingMap
    runtime: tuple[RuntimeOrigin, ...] = ()
    replica_id: IndexingMap | None = None
    element: int = 0
    approximation: str = ""

    def compose(self, producer: OperandIndexing) -> OperandIndexing:
        """The dependence on the operands of the producer, in its smallest form.

        Ranges and runtime variables of the producer come before this one's, with their origins;
        those that nothing depends on are dropped. The replica that asks for the producer's element
        is the one that this element is on. An approximation of either is one of both.

        >>> from indexing import parse_map
        >>> tail = OperandIndexing(parse_map("(d0) -> (d0 + 2), domain: d0 in [0, 1]"))
        >>> rows = parse_map("(d0)[s0] -> (s0, d0), domain: d0 in [0, 3], s0 in [0, 7]")
        >>> print(tail.compose(OperandIndexing(rows)))
        (d0)[s0] -> (s0, d0 + 2), domain: d0 in [0, 1], s0 in [0, 7]
        """
        is_local = self.replica_id is None and producer.replica_id is None
        if is_local and not (self.runtime or producer.runtime):
            whole, reason = _composed(self.map, producer.map)
            reason = self.approximation or producer.approximation or reason
            return OperandIndexing(whole, element=producer.element, approximation=reason)
        return _composed_with_values(self, producer)

    def simplify(self) -> OperandIndexing:
        """The same with the map in its smallest form.

        Its ranges stay if what else the indexing has uses them.
        """
        has_others = bool(self.runtime) or self.replica_id is not None
        smallest = self.map.simplify(preserve_ranges=has_others)
        return self if smallest is self.map else replace(self, map=smallest)

    def ranges_to_dims(self) -> OperandIndexing:
        """The same with all ranges as trailing dimensions, also in the maps of origins."""
        if not self.map.ranges:
            return self

        def moved(each: IndexingMap | None) -> IndexingMap | None:
            return None if each is None else each.ranges_to_dims()

        runtime = tuple(
            replace(each, map=each.map.ranges_to_dims(), replica_id=moved(each.replica_id))
            for each in self.runtime
        )
        replica_id = moved(self.replica_id)
        return replace(self, map=self.map.ranges_to_dims(), runtime=runtime, replica_id=replica_id)

    def with_results(self, more: Sequence[Form]) -> OperandIndexing:
        """The same with further results of the map behind its own."""
        wider = IndexingMap.from_forms((*self.map.forms, *more), self.map.domain)
        return replace(self, map=wider) if more else self

    def of_element(self, element: int) -> OperandIndexing:
        """The same for one array of a tuple."""
        return self if element == self.element else replace(self, element=element)

    def called_by(self, caller: Instruction) -> OperandIndexing:
        """The same, seen from where the computation is called: with the values of this call."""
        if not self.runtime:
            return self
        seen = tuple(origin.called_by(caller) for origin in self.runtime)
        return with_known_values(within_reach(replace(self, runtime=seen)))

    @property
    def other_maps(self) -> list[IndexingMap]:
        """The maps beside its own: to values at runtime, then to the replicas that hold them."""
        replicas = (each.replica_id for each in (*self.runtime, self))
        kept = (each for each in replicas if each is not None)
        return [*(each.map for each in self.runtime), *kept]

    @property
    def weight(self) -> int:
        """Number of terms that simplification works on at once."""
        replica = [] if self.replica_id is None else [self.replica_id]
        origins = (origin.map for origin in self.runtime)
        return sum(map(passes.weight, (self.map, *replica, *origins)))

    @property
    def longest(self) -> int:
        """Number of terms in its longest formula, and in the longest one of each origin."""
        own = [self.map, *([] if self.replica_id is None else [self.replica_id])]
        origins = (passes.longest_formula(origin.map) for origin in self.runtime)
        return max(map(passes.longest_formula, own)) + sum(origins)

    def notes(self) -> list[tuple[str, str]]:
        """The parts that the map does not say itself, by name.

        These are the origins of variables, the replica, and why it is an approximation.

        >>> from ops import hlo, output_to_input
        >>> text = "ENTRY e { x = f32[9] parameter(0) i = s32[] parameter(1)"
        >>> text += "ROOT r = f32[2] dynamic-slice(x, i), dynamic_slice_sizes={2} }"
        >>> ((indexing,), _) = output_to_input(hlo.parse(text).entry.root).indexing
        >>> indexing.notes()
        [('rt0', '%i = s32[] parameter(1); (d0) -> ()')]
        >>> print(indexing)
        (d0){rt0} -> (d0 + rt0), domain: d0 in [0, 1], rt0 in [0, 7]
        rt0: %i = s32[] parameter(1); (d0) -> ()
        """
        notes: list[tuple[str, str]] = []
        if self.runtime:
            notes += zip(self.map.names[2], map(str, self.runtime), strict=True)
        if self.replica_id is not None:
            notes.append(("replica id", passes.format_head(self.replica_id)))
        if self.approximation:
            notes.append(("approximation", self.approximation))
        return notes

    def text(self, *, multiline: bool = False) -> str:
        """The map with its notes below; ``multiline`` is that of :func:`indexing.format_map`."""
        notes = (f"{name}: {note}" for name, note in self.notes())
        return "\n".join([format_map(self.map, multiline=multiline), *notes])

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return passes.html_of_map(self.map, self.notes())


# Composition.


_TOO_LONG = f"formulas of more than {limits.MAX_TERMS} terms"
_TOO_MANY = f"more than {limits.MAX_CONSTRAINTS} constraints"


@lru_cache(maxsize=limits.MAX_REMEMBERED_COMPOSITIONS)
def _composed(consumer: IndexingMap, producer: IndexingMap) -> tuple[IndexingMap, str]:
    """The composition, and why it is approximate; along the layers of a model it is the same."""
    whole, reason = consumer.compose(producer), ""
    most = _longest_to_keep(consumer, producer)
    if passes.longest_formula(whole) > most:
        whole = passes.with_tables(whole, most)
        if passes.longest_formula(whole) > most:
            whole, reason = passes.shortened(whole, most, producer.result_bounds()), _TOO_LONG
    small = whole.simplify().without_unused_symbols()
    if _has_too_many(small, consumer, producer):
        dims = [each.bounds for each in small.dims]
        return passes.box(small, dims, producer.result_bounds()), _TOO_MANY
    return small, reason


def _has_too_many(whole: IndexingMap, *parts: IndexingMap) -> bool:
    """Whether a composition has too many ranges and constraints, and more than its parts."""
    found, *own = (len(each.domain.constraints) for each in (whole, *parts))
    return found > max(limits.MAX_CONSTRAINTS, *own)


def _longest_to_keep(*maps: IndexingMap) -> int:
    """Greatest length of a formula to keep: long ones may stay, but not grow."""
    return max(limits.MAX_TERMS, *map(passes.longest_formula, maps))


def _composed_with_values(consumer: OperandIndexing, producer: OperandIndexing) -> OperandIndexing:
    devices = devices_in([consumer, producer])
    first, second = joint_form(consumer, devices), joint_form(producer, devices)
    found, reason = _composed_joint(first.numbered(len(second.parts)), second.numbered(1))
    sources = (first.own, *second.sources, *first.sources)
    runtime = ((sources[source.number], *maps) for source, *maps in found.runtime)
    found = found._replace(runtime=tuple(runtime))
    return with_known_values(_made_of(found, producer.element, reason))


@lru_cache(maxsize=limits.MAX_REMEMBERED_COMPOSITIONS)
def _composed_joint(first: JointIndexing, second: JointIndexing) -> tuple[Separated, str]:
    """The composition, and why it is approximate; many instructions read values in one way."""
    whole = first.compose(second).with_tables_of_devices()
    most = _longest_to_keep(first.flat, second.flat)
    if passes.longest_formula(whole.flat) > most:
        whole = whole.with_results_of(passes.with_tables(whole.flat, most))
        if passes.longest_formula(whole.flat) > most:
            bounds = second.element.result_bounds()
            whole = whole.for_any_values().shortened(most, bounds, _TOO_LONG)
    found = whole.separate()
    if _has_too_many(found.map, first.flat, second.flat):
        dims = [each.bounds for each in whole.domain.dims]
        wide = passes.box(whole.element, dims, second.element.result_bounds())
        return whole.element_as(wide).separate(), _TOO_MANY
    return found, whole.approximation


# The joint form, and back.


def devices_in(indexings: Iterable[OperandIndexing]) -> Devices | None:
    """The devices of the program that indexings are in, if they tell."""
    sources = (origin.instruction for each in indexings for origin in each.runtime)
    return next((devices_of(source.computation.module) for source in sources), None)


def joint_form(
    indexing: OperandIndexing, devices: Devices | None, known: Mapping[int, Form] | None = None
) -> JointIndexing:
    """The indexing as parts over one domain, with values that are known in place of variables.

    ``known`` are such values, by the number of the runtime variable, over the variables of the map
    and the :func:`device_of` the indexing. The values are in the bounds of the variables. A runtime
    variable whose value is the number of the device that asks is no variable there.
    """
    own, device = indexing.map.domain, device_of(indexing)
    every = Interval(0, devices.total - 1) if devices else EVERYTHING
    numbered = [*enumerate(indexing.runtime)]
    asking = (number for number, origin in numbered if is_own_device(origin.instruction))
    given = {**dict.fromkeys(asking, device), **(known or {})}
    left = [number for number, _ in numbered if number not in given]
    renumbered = {f"rt{number}": runtime_value(position) for position, number in enumerate(left)}
    found = dict(zip(given, substitute(given.values(), renumbered), strict=True))
    values = renumbered | {f"rt{number}": form for number, form in found.items()}
    runtime = tuple(own.runtime[number] for number in left)
    plain = own.over((*own.dims, Variable(every)), own.ranges, runtime)
    bounds = ((form, own.runtime[number].bounds) for number, form in found.items())
    inside = (each for each in bounds if not each[1].contains(range_in(each[0], plain, each[1])))
    domain = plain.constrained([*passes.substituted_constraints(own.constraints, values), *inside])
    origins = (indexing.runtime[number] for number in left)
    values_read = ((each.map, each.replica_id, each) for each in origins)
    parts = (
        DeviceIndex(
            substitute(index.forms, values),
            *substitute([device] if on is None else on.forms, values),
            source=origin,
        )
        for index, on, origin in [(indexing.map, indexing.replica_id, None), *values_read]
    )
    asks = RuntimeOrigin(own_device(devices), indexing.map) if devices else None
    return JointIndexing(tuple(parts), domain, every, asks, indexing.approximation)


def device_of(indexing: OperandIndexing) -> Form:
    """The device that asks, as a variable of the joint form."""
    return dim(len(indexing.map.dims))


def separate_form(joint: JointIndexing, element: int) -> OperandIndexing:
    """The indexing of a joint form, on an array of a tuple, in its smallest form."""
    return _made_of(joint.separate(), element, joint.approximation)


def _made_of(found: Separated, element: int, approximation: str) -> OperandIndexing:
    runtime = (
        replace(origin, map=index, replica_id=replica) for origin, index, replica in found.runtime
    )
    return OperandIndexing(found.map, tuple(runtime), found.replica, element, approximation)


def jointly(
    indexing: OperandIndexing,
    change: Callable[[JointIndexing], JointIndexing],
    known: Mapping[int, Form] | None = None,
) -> OperandIndexing:
    """The indexing with its joint form changed; ``known`` are values as of :func:`joint_form`."""
    joint = change(joint_form(indexing, devices_in([indexing]), known))
    return separate_form(joint, indexing.element)


def for_any_values(indexing: OperandIndexing) -> OperandIndexing:
    """The indexing with ranges in the place of its runtime variables."""
    if not indexing.runtime:
        return indexing
    return jointly(indexing, lambda joint: joint.for_any_values())


# Values that are known before the program runs.


def with_known_values(indexing: OperandIndexing) -> OperandIndexing:
    """The same with the values that are known in place of their runtime variables, simplified.

    A value is clamped as the operation does it, and what the map says of the variable holds for the
    value. Values computed from the number of the device are known as well, if the program says that
    it runs on several. If no value is known, the indexing stays as it is.

    >>> from ops import hlo, output_to_input
    >>> text = "ENTRY e { x = f32[9] parameter(0) i = s32[4] iota(), iota_dimension=0 ROOT r = "
    >>> text += "f32[4,7] gather(x, i), offset_dims={1}, collapsed_slice_dims={}, "
    >>> text += "start_index_map={0}, index_vector_dim=1, slice_sizes={7} }"
    >>> ((indexing,), _) = output_to_input(hlo.parse(text).entry.root).indexing
    >>> print(indexing)
    (d0, d1) -> (min(d0, 2) + d1), domain: d0 in [0, 3], d1 in [0, 6]
    """
    devices = devices_in([indexing])
    while not indexing.map.is_known_empty and (found := _known_values(indexing, devices)):
        indexing = _over_sizes(indexing, found)
        indexing, known = _over_counters(indexing, found)
        indexing = with_values(indexing, known)
    return indexing


def within_reach(indexing: OperandIndexing) -> OperandIndexing:
    """The same with the bounds of runtime variables that follow from their origins."""
    own, devices = indexing.map, devices_in([indexing])
    known = (
        (runtime_value(number), _clamped(origin.reach(own, devices), origin.clamp))
        for number, origin in enumerate(indexing.runtime)
        if not isinstance(origin.clamp, Ends)
    )
    domain = own.domain.constrained(known)
    if domain == own.domain:
        return indexing
    return replace(indexing, map=IndexingMap.from_forms(own.forms, domain))


def _clamped(values: Interval, clamp: Interval | None) -> Interval:
    """Values from a least to a greatest one, clamped."""
    if clamp is None:
        return values
    (least, most), (lower, upper) = values.ends, clamp.ends
    ends = min(max(least, lower), upper), min(max(most, lower), upper)
    return Interval.from_range(ends)


def with_values(indexing: OperandIndexing, known: Mapping[int, Form]) -> OperandIndexing:
    """The same with these values in place of the runtime variables of these numbers."""
    return jointly(indexing, lambda joint: joint, known)


def _known_values(indexing: OperandIndexing, devices: Devices | None) -> dict[int, KnownValue]:
    """The values of the runtime variables of which the values are known, by their numbers.

    None of them depends on another one of these.
    """
    found = {
        number: _seen_before(number, indexing) or origin.value(indexing.map, devices)
        for number, origin in enumerate(indexing.runtime)
        if not is_own_device(origin.instruction)
    }
    known = {f"rt{number}" for number, value in found.items() if value is not None}
    return {
        number: value
        for number, value in found.items()
        if value is not None and known.isdisjoint(forms.variables_of([value.form]))
    }


def _seen_before(number: int, indexing: OperandIndexing) -> KnownValue | None:
    """The variable before this one that has the same value, if there is one."""
    own = indexing.runtime[number]
    for before, origin in enumerate(indexing.runtime[:number]):
        if origin.clamp == own.clamp and origin.value_key == own.value_key:
            return KnownValue(runtime_value(before))
    return None


def _over_sizes(indexing: OperandIndexing, found: Mapping[int, KnownValue]) -> OperandIndexing:
    """The indexing with the sizes that these values are over as parameters."""
    used = [value.form for value in found.values()]
    program, on = indexing.runtime[next(iter(found))].instruction, indexing.replica_id
    wider = with_sizes_in(indexing.map, used, program)
    replica_id = None if on is None else with_sizes_in(on, used, program)
    return replace(indexing, map=wider, replica_id=replica_id)


def _over_counters(
    indexing: OperandIndexing, found: Mapping[int, KnownValue]
) -> tuple[OperandIndexing, dict[int, Form]]:
    """The indexing with variables for the counters of loops, and these values over them."""
    known: dict[int, Form] = {}
    for number, value in found.items():
        form = value.form
        for variable, loop in value.counters.items():
            origin = indexing.runtime[number].counter_of(loop, indexing.map)
            indexing, counter = _with_variable(indexing, origin, loop)
            (form,) = substitute([form], {variable: counter})
        known[number] = form
    return indexing, known


def _with_variable(
    indexing: OperandIndexing, origin: RuntimeOrigin, loop: CountedLoop
) -> tuple[OperandIndexing, Form]:
    """The indexing with a runtime variable that counts a loop, and this variable."""
    if origin in indexing.runtime:
        return indexing, runtime_value(indexing.runtime.index(origin))
    counter = runtime_value(len(indexing.runtime))
    domain = indexing.map.domain
    wider = replace(domain, runtime=(*domain.runtime, Variable(loop.values)))
    counted = IndexingMap.from_forms(indexing.map.forms, wider.constrained(loop.steps(counter)))
    return replace(indexing, map=counted, runtime=(*indexing.runtime, origin)), counter


Answer = TypeVar("Answer")


# Where the value of a runtime variable comes from, and what it is if the program tells.
#
# A value is known if the program computes it from constants, from the number of the device that
# asks, or from what the loops around it count.


@dataclass(frozen=True, slots=True)
class KnownValue:
    """The value of a runtime variable, and the loops that its variables count, by their names."""

    form: Form
    counters: Mapping[str, CountedLoop] = field(default_factory=dict[str, "CountedLoop"])


@dataclass(frozen=True, slots=True)
class RuntimeOrigin:
    """Origin of the value of a runtime variable: an element of the result of ``instruction``.

    ``map`` leads there from the dimensions and ranges of the map that has the variable, and
    from its runtime variables if the index depends on them. ``clamp`` is that of :class:`Origin`:
    what is known of a value may narrow the variable's bounds, but not that interval.
    ``replica_id``, a map with one result from the same variables, says which replica finds the
    value, if not the one that asks. ``callers`` are the fusions and calls, outermost first, in
    whose run the instruction gives it: a computation that is called twice has two values.

    Of a collective operation, the number of the replica that asks may be such a value; a
    ``replica-id`` or ``partition-id`` gives it (:mod:`ops.devices`). Of the induction
    variable of a ``loop``, the instruction in the body that reads it gives it; what encloses a map
    and that instruction alike is no caller.

    It differs from an :class:`Origin`, which a rule gives: a rule holds for every instruction of
    its kind, so it can name an operand by number, but no instruction and no caller.
    """

    instruction: Instruction
    map: IndexingMap
    clamp: Interval | Ends | None = None
    replica_id: IndexingMap | None = None
    callers: tuple[Instruction, ...] = ()
    loop: Instruction | None = None

    def __str__(self) -> str:
        within = "".join(f" in %{caller.name}" for caller in reversed(self.callers))
        source = f"{self.instruction.definition}{within}; {passes.format_head(self.map)}"
        return source + replica_note(self.replica_id)

    @property
    def value_key(self) -> tuple[object, ...]:
        """Key that tells the value, before it is clamped, from all others in the same map."""
        replica = None if self.replica_id is None else self.replica_id.forms
        return value_of_call(self.instruction, self.callers), self.loop, self.map.forms, replica

    def called_by(self, caller: Instruction) -> RuntimeOrigin:
        """The same, seen from where the computation is called; devices have one number in all."""
        is_counted_outside = self.loop not in {None, caller} and not self.callers
        if is_number_of_device(self.instruction) or is_counted_outside:
            return self
        return replace(self, callers=(caller, *self.callers))

    def counter_of(self, loop: CountedLoop, own: IndexingMap) -> RuntimeOrigin:
        """The origin of the induction variable of a loop around this, in a map that has this."""
        within = self.callers
        inside = within.index(loop.instruction) + 1 if loop.instruction in within else 0
        index = IndexingMap.from_forms((), replace(own.domain, runtime=(), constraints=()))
        callers = within[:inside]
        return RuntimeOrigin(loop.variable, index, loop.values, None, callers, loop.instruction)

    def value(self, own: IndexingMap, devices: Devices | None) -> KnownValue | None:
        """The value of this variable of a map, if it is known.

        It is over the variables of the map, sizes of the program, the device behind its dimensions,
        and the induction variables of loops behind that.
        """
        if self.loop:
            return None
        found, index, counters = self._asked(value_of, own, devices)
        if found is None:
            return None
        form = found if self.clamp is None else clamped(found, self.clamp, index)
        used = {*forms.variables_of([form])}
        return KnownValue(form, {name: loop for name, loop in counters.items() if name in used})

    def reach(self, own: IndexingMap, devices: Devices | None) -> Interval:
        """The values that this variable of a map may have, before they are clamped."""
        return EVERYTHING if self.loop else self._asked(bounds_of, own, devices)[0]

    def _asked(
        self, ask: Callable[..., Answer], own: IndexingMap, devices: Devices | None
    ) -> tuple[Answer, IndexingMap, dict[str, CountedLoop]]:
        """The answer about the value, its index, and the loops that count, by their counters."""
        rank = len(own.dims)
        loops = [*loops_around(self.instruction.computation)]
        counters = {f"d{rank + 1 + number}": loop for number, loop in enumerate(loops)}
        index, device = with_all_sizes(self.map, self.instruction), None
        if loops or (devices and devices.total > 1):
            index = _with_surroundings(index, devices, loops)
        if devices and devices.total > 1:
            device = dim(rank) if self.replica_id is None else self.replica_id.forms[0]
        given = (loop.given(forms.variable(name)) for name, loop in counters.items())
        (source, number), _ = outside((self.instruction, 0), self.callers)
        place = Element(index, device, (*chain.from_iterable(given),), number)
        return ask(source, place), index, counters


def _with_surroundings(
    index: IndexingMap, devices: Devices | None, loops: Iterable[CountedLoop]
) -> IndexingMap:
    """The map with the device that asks and the induction variables of loops as last dimensions."""
    every = Interval(0, devices.total - 1) if devices else EVERYTHING
    around = [every, *(loop.values for loop in loops)]
    domain = index.domain
    wider = replace(domain, dims=(*domain.dims, *map(Variable, around)))
    first = len(domain.dims) + 1
    steps = (step for place, loop in enumerate(loops, first) for step in loop.steps(dim(place)))
    return IndexingMap.from_forms(index.forms, wider.constrained(steps))
