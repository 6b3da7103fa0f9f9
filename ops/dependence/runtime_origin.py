"""Where the value of a runtime variable comes from, and what it is if the program tells.

A value is known if the program computes it from constants, from the number of the device that asks,
or from what the loops around it count.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from indexing import IndexingMap, Variable
from indexing.formats.text import format_head
from ops.devices.joint_indexing import ANY
from ops.devices.numbering import is_number_of_device
from ops.index_maps import dim
from ops.rules.constant_folding import bounds_of, clamped, value_of
from ops.rules.counted_loops import loops_around
from ops.rules.dynamic_sizes import with_all_sizes
from ops.rules.op_indexing import replica_note
from ops.rules.sources import outside, value_of_call
from simplifier import Interval
from simplifier.expr import form as forms

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from indexing.symbolic_bounds import Ends
    from ops.devices.numbering import Devices
    from ops.hlo import Instruction
    from ops.rules.constant_folding import Given
    from ops.rules.counted_loops import CountedLoop
    from simplifier.expr.form import Form


@dataclass(frozen=True, slots=True)
class KnownValue:
    """The value of a runtime variable, and the loops that its variables count, by their names."""

    form: Form
    counters: Mapping[str, CountedLoop] = field(default_factory=dict[str, "CountedLoop"])


@dataclass(frozen=True, slots=True)
class RuntimeOrigin:
    """Where the value of a runtime variable comes from: an element of what ``instruction`` gives.

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
        source = f"{self.instruction.definition}{within}; {format_head(self.map)}"
        return source + replica_note(self.replica_id)

    @property
    def value_key(self) -> tuple[object, ...]:
        """What tells the value, before it is clamped, from all others in the same map."""
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
        index, device, counters = self._asked(own, devices)
        (source, number), _ = outside((self.instruction, 0), self.callers)
        found = value_of(source, index, device, _given(counters), number=number)
        if found is None:
            return None
        form = found if self.clamp is None else clamped(found, self.clamp, index)
        used = {*forms.variables_of([form])}
        return KnownValue(form, {name: loop for name, loop in counters.items() if name in used})

    def reach(self, own: IndexingMap, devices: Devices | None) -> Interval:
        """The values that this variable of a map may have, before they are clamped."""
        if self.loop:
            return ANY
        index, device, counters = self._asked(own, devices)
        (source, number), _ = outside((self.instruction, 0), self.callers)
        return bounds_of(source, index, device, _given(counters), number=number)

    def _asked(
        self, own: IndexingMap, devices: Devices | None
    ) -> tuple[IndexingMap, Form | None, dict[str, CountedLoop]]:
        """The element, the device that computes it, and the loops that count, by their counters."""
        place = len(own.dims)
        loops = [*loops_around(self.instruction.computation)]
        counters = {f"d{place + 1 + number}": loop for number, loop in enumerate(loops)}
        index, device = with_all_sizes(self.map, self.instruction), None
        if loops or (devices and devices.total > 1):
            index = _with_surroundings(index, devices, loops)
        if devices and devices.total > 1:
            device = dim(place) if self.replica_id is None else self.replica_id.forms[0]
        return index, device, counters


def _given(counters: Mapping[str, CountedLoop]) -> Given:
    """The values of what loops count."""
    return tuple(
        pair
        for identifier, loop in counters.items()
        for pair in loop.given(forms.variable(identifier))
    )


def _with_surroundings(
    index: IndexingMap, devices: Devices | None, loops: Iterable[CountedLoop]
) -> IndexingMap:
    """The map with the device that asks and the induction variables of loops as last dimensions."""
    every = Interval(0, devices.total - 1) if devices else ANY
    around = [every, *(loop.values for loop in loops)]
    domain = index.domain
    wider = replace(domain, dims=(*domain.dims, *map(Variable, around)))
    first = len(domain.dims) + 1
    steps = (step for place, loop in enumerate(loops, first) for step in loop.steps(dim(place)))
    return IndexingMap.from_forms(index.forms, wider.constrained(steps))
