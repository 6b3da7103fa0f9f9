"""Questions about the loops of modules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from ops.cli.tables import Cells, TableQuestion, by_weight
from ops.hlo import HloTextError
from ops.loops import Loop, loops
from simplifier.exact import BudgetError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ops.cli.documents import Fields, Lines
    from ops.cli.selection import Selection
    from ops.hlo import HloModule
    from ops.loops import InPlaceUpdate, LoopDependence

_OF_LOOPS: Final = ("runs", "loop", "counters", "between iterations", "in place")


@dataclass(frozen=True, slots=True)
class ModuleLoops(TableQuestion):
    """How often each loop runs, what it counts, and what its iterations have to do with others."""

    name: ClassVar = "loops"

    selection: Selection

    def about(self) -> Fields:
        """Nothing but the loops."""
        return {}

    def subjects(self, module: HloModule) -> Sequence[Lines | HloTextError]:
        """A row for each loop, in the order of the module, then errors."""
        chosen = frozenset(self.selection.of(module))
        rows = [_row(loop) for loop in loops(module) if loop.instruction in chosen]
        return by_weight(_OF_LOOPS, rows, self.selection)


def _row(loop: Loop) -> Cells | HloTextError:
    try:
        fields = _fields(loop)
    except HloTextError as error:
        return error
    return Cells(_cells(fields), lambda: fields, is_unknown=bool(fields["unknown"]))


def _fields(loop: Loop) -> Fields:
    unknown = loop.unknown
    dependences: list[Fields] = []
    updates: list[Fields] = []
    try:
        if loop.trip_count is not None:
            dependences = [_dependence(each) for each in loop.dependences()]
            updates = [_update(each) for each in loop.updates()]
    except BudgetError as error:
        unknown = str(error)
    return {
        "loop": loop.instruction.name,
        "computation": loop.instruction.computation.name,
        "trip_count": loop.trip_count,
        "unknown": unknown or None,
        "counters": [
            {"array": number, "start": each.start, "step": each.step}
            for number, each in loop.counters.items()
        ],
        "dependences": dependences,
        "updates": updates,
    }


def _dependence(found: LoopDependence) -> Fields:
    return {
        "array": found.array,
        "iterations": str(found.iterations),
        "distances": str(found.distances),
        "approximation": found.approximation or None,
    }


def _update(found: InPlaceUpdate) -> Fields:
    return {
        "array": found.array,
        "instructions": [each.name for each in found.instructions],
        "elements": [*map(str, found.elements)],
        "is_disjoint": found.is_disjoint(),
        "why": found.why(),
    }


def _cells(loop: Fields) -> Sequence[str]:
    """What a row says in a line; an array of the state is told by its number."""
    if loop["trip_count"] is None:
        return ("?", f"%{loop['loop']}", loop["unknown"], "", "")
    counters = (f"{each['array']}: {each['start']} by {each['step']}" for each in loop["counters"])
    updates = (
        f"{each['array']}: {'disjoint' if each['is_disjoint'] else each['why']}"
        for each in loop["updates"]
    )
    return (
        str(loop["trip_count"]),
        f"%{loop['loop']}",
        "; ".join(counters),
        loop["unknown"] or "; ".join(map(_distances, loop["dependences"])) or "none",
        "; ".join(updates),
    )


def _distances(dependence: Fields) -> str:
    approximation = dependence["approximation"]
    _, _, distances = dependence["distances"].partition(" in ")
    at_most = f" at most: {approximation}" if approximation else ""
    return f"{dependence['array']}: {distances}{at_most}"
