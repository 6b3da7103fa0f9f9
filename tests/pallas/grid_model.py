"""What a grid does, step by step: the model that answers are compared with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

Step = tuple[int, ...]
IndexFunction = Callable[..., tuple[int, ...]]


@dataclass(frozen=True)
class GridModel:
    """An array in blocks of plain sizes, and the steps of a grid in the order in which they run."""

    grid: tuple[int, ...]
    shape: tuple[int, ...]
    block: tuple[int, ...]
    index: IndexFunction

    @property
    def steps(self) -> list[Step]:
        return [*product(*map(range, self.grid))]

    def elements(self, step: Step) -> set[Step]:
        """The elements of the block of a step, one by one."""
        starts = [index * size for index, size in zip(self.index(*step), self.block, strict=True)]
        places = product(
            *(range(start, start + size) for start, size in zip(starts, self.block, strict=True))
        )
        return {place for place in places if self._is_inside(place)}

    def _is_inside(self, place: Sequence[int]) -> bool:
        return all(0 <= at < size for at, size in zip(place, self.shape, strict=True))

    def first_out_of_bounds(self) -> Step | None:
        """The first step whose block does not begin within the array."""
        for step in self.steps:
            starts = [n * size for n, size in zip(self.index(*step), self.block, strict=True)]
            if not self._is_inside(starts):
                return step
        return None

    def unwritten(self) -> set[Step]:
        written = np.zeros(self.shape, dtype=bool)
        for step in self.steps:
            for place in self.elements(step):
                written[place] = True
        return {*map(tuple, np.argwhere(~written).tolist())}

    def first_race(self, parallel: Sequence[int]) -> tuple[Step, Step] | None:
        """The first two steps that differ along a parallel axis and write a common element."""
        for first, second in combinations(self.steps, 2):
            differ = any(first[axis] != second[axis] for axis in parallel)
            if differ and self.elements(first) & self.elements(second):
                return first, second
        return None

    def first_late_revisit(self) -> tuple[Step, Step] | None:
        """The first step that begins a block that an earlier step had, and the first of these."""
        for number, step in enumerate(self.steps):
            changed = not number or self.index(*step) != self.index(*self.steps[number - 1])
            for earlier in self.steps[:number] if changed else ():
                if self.elements(earlier) & self.elements(step):
                    return earlier, step
        return None

    def copies(self) -> tuple[int, int]:
        """How often a block is copied, and how many elements these have."""
        count = elements = 0
        held = None
        for step in self.steps:
            if (wanted := self.index(*step)) != held:
                held = wanted
                count += 1
                elements += len(self.elements(step))
        return count, elements
