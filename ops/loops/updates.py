"""Updates in place: whether two iterations of a loop write the same element of an array."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from indexing import IndexingMap, IndexRelation, IndexSet
from ops.index_maps import dim
from simplifier import Interval
from simplifier.exact import BUDGET
from simplifier.expr import form as forms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ops.hlo import Instruction
    from ops.loops.accesses import Write
    from ops.loops.iteration_space import IterationSpace
    from simplifier.exact import Budget
    from simplifier.expr.form import Form


class Conflict(NamedTuple):
    """Two iterations that write the same element; maybe, if there is an ``approximation``.

    ``common`` are values that all iterations have in common, by name, for which they do: counters
    of loops around this one, and offsets from outside.
    """

    first: int
    second: int
    element: tuple[int, ...]
    common: tuple[tuple[str, int], ...] = ()
    approximation: str = ""

    def __str__(self) -> str:
        given = "".join(f", for {name} = {value}" for name, value in self.common)
        verb = "may both write" if self.approximation else "both write"
        reason = f": {self.approximation}" if self.approximation else ""
        pair = f"iterations {self.first} and {self.second} {verb}"
        return f"{pair} element {self.element}{given}{reason}"


@dataclass(frozen=True)
class InPlaceUpdate:
    """What the iterations of a loop write to an array that they update in place.

    ``elements`` are maps from an iteration to what each of the ``instructions`` writes in it.
    """

    array: int
    instructions: tuple[Instruction, ...]
    elements: tuple[IndexingMap, ...]
    approximation: str
    _common: int
    _trip_count: int

    @classmethod
    def of(cls, writes: Sequence[Write], iterations: IterationSpace) -> InPlaceUpdate:
        """The update by all writes to one array."""
        found = [access for each in writes for access in iterations.writes(each)]
        reasons = (each.approximation for each in found)
        return cls(
            writes[0].array,
            tuple(each.instruction for each in writes),
            tuple(each.elements for each in found),
            next(filter(None, reasons), ""),
            len(iterations.common),
            iterations.trip_count,
        )

    def is_disjoint(self, *, budget: Budget = BUDGET) -> bool:
        """Whether it is certain that no two iterations write the same element."""
        return bool(self._separation()) or self.conflict(budget=budget) is None

    def conflict(self, *, budget: Budget = BUDGET) -> Conflict | None:
        """The first two iterations that may write the same element; ``None`` if none do."""
        if self._separation():
            return None
        places = range(self._common)
        keyed = IndexRelation(*(_with_results(each, [*map(dim, places)]) for each in self.elements))
        together = keyed.compose(keyed.inverse(budget=budget), budget=budget).to_later()
        if together.is_empty(budget=budget):
            return None
        first = together.domain_set(budget=budget).lexmin()
        one = _point(first)
        second = together.apply(one, budget=budget).lexmin()
        *_, element = [(keyed.apply(one) & keyed.apply(_point(second))).lexmin()]
        names = (variable.name for variable in self.elements[0].dims)
        return Conflict(
            first[-1],
            second[-1],
            element[self._common :],
            tuple(zip(names, first[:-1], strict=False)),
            self.approximation,
        )

    def why(self, *, budget: Budget = BUDGET) -> str:
        """Why no two iterations write the same element, or two that may do so."""
        conflict = self._separation() or self.conflict(budget=budget)
        return str(conflict or "no two iterations write the same element, as isl finds")

    def _separation(self) -> str:
        """How far iterations are apart along a dimension; empty if that does not tell."""
        if self._trip_count == 1:
            return "there is one iteration"
        if not self.elements:
            return "nothing is written"
        own, *others = self.elements
        for axis, form in enumerate(() if others else own.forms):
            step, bounds = _advance(own, form, self._common)
            if bounds.lower is not None and bounds.upper is not None:
                width = bounds.upper - bounds.lower + 1
                if abs(step) >= width > 0:
                    steps = f"iterations are {abs(step)} apart along dimension {axis}"
                    return f"{steps}, and each writes {width}"
        return ""

    def __str__(self) -> str:
        names = ", ".join(f"%{each.name}" for each in self.instructions)
        maps = " or ".join(map(str, self.elements))
        return f"array {self.array} by {names}: {maps}\n{self.why()}"


def _with_results(own: IndexingMap, front: Sequence[Form]) -> IndexingMap:
    return IndexingMap.from_forms([*front, *own.forms], own.domain)


def _advance(own: IndexingMap, form: Form, common: int) -> tuple[int, Interval]:
    """How far a result moves with each iteration, and the bounds of the rest of it.

    What iterations have in common moves all of them alike, so it is left out.
    """
    iteration = dim(common)
    shared = {f"d{place}" for place in range(common)}
    terms = {forms.Form(0, {atom: 1}): factor for atom, factor in form.terms.items()}
    step = terms.get(iteration, 0)
    rest = form - iteration * step
    for term, factor in terms.items():
        if shared.issuperset(forms.variables_of([term])):
            rest -= term * factor
    if f"d{common}" in forms.variables_of([rest]):
        return step, Interval(None, None)
    (bounds,) = IndexingMap.from_forms([rest], own.domain).result_bounds()
    return step, bounds


def _point(index: Sequence[int]) -> IndexSet:
    return IndexSet.box(*((each, each) for each in index))
