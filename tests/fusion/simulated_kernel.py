"""What a kernel reads of its parameter, found by running a random program on labelled elements.

A use is a way from an evaluation to an array, without another evaluation on it. Its table tells
which elements each element that is evaluated needs. Uses with the same table are one load.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Final, TypeAlias

import numpy as np

from tests.fusion.random_programs import MOVES, SHAPE, Program, united

Array: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"
Elements: TypeAlias = frozenset[tuple[int, ...]]
Table: TypeAlias = tuple[Elements, ...]
"""For each element that is evaluated, in order, the elements of an array that it needs."""

Uses: TypeAlias = "dict[str, set[Table]]"
"""The uses of each array by a value: of the parameter, and of what is evaluated."""

PARAMETER: Final = "parameter"


@dataclass
class SimulatedKernel:
    """A run of a program; ``evaluations`` has the uses of each sum of rows, in order."""

    program: Program
    evaluations: dict[str, Uses] = field(default_factory=dict[str, Uses])

    def reads(self) -> Array:
        """How often each element of the parameter is read."""
        start: Uses = {PARAMETER: {_labels(np.ndindex(SHAPE))}}
        result = self._run(len(self.program.computations) - 1, start)
        times = np.zeros(SHAPE, dtype=int)
        for table in result[PARAMETER]:
            _count(times, table)
        for name, wanted in self._wanted(result).items():
            for outer, inner in product(wanted, self.evaluations[name][PARAMETER]):
                for sums in outer:
                    _count(times, [inner[place] for (place,) in sums])
        return times

    def _wanted(self, result: Uses) -> dict[str, set[Table]]:
        """Which sums each element of the result needs; later ones read earlier ones."""
        wanted: dict[str, set[Table]] = {}
        for name in reversed(self.evaluations):
            found = set(result[name])
            for later, tables in wanted.items():
                for outer, inner in product(tables, self.evaluations[later][name]):
                    found.add(
                        tuple(
                            Elements().union(*(inner[place] for (place,) in each)) for each in outer
                        )
                    )
            wanted[name] = found
        return wanted

    def _run(self, computation: int, start: Uses) -> Uses:
        known = [start]
        for kind, source, other in self.program.computations[computation]:
            value = known[source]
            if isinstance(kind, int):
                known.append(self._run(kind, value))
            elif kind == "add":
                both = value.keys() | known[other].keys()
                known.append(
                    defaultdict(
                        set, {n: value.get(n, set()) | known[other].get(n, set()) for n in both}
                    )
                )
            elif kind == "sums":
                known.append(self._evaluated(value))
            else:
                move = MOVES[kind][1]
                known.append(
                    defaultdict(
                        set, {n: {(*move(_array(t)).flat,) for t in value[n]} for n in value}
                    )
                )
        return known[-1]

    def _evaluated(self, value: Uses) -> Uses:
        """Each row's sum, broadcast: whoever uses it finds it computed."""
        name = f"sum {len(self.evaluations)}"
        self.evaluations[name] = defaultdict(
            set, {n: {tuple(united.reduce(_array(t), 1)) for t in value[n]} for n in value}
        )
        rows = np.arange(SHAPE[0])[:, None] + np.zeros(SHAPE, dtype=int)
        return defaultdict(set, {name: {_labels((row,) for row in rows.ravel().tolist())}})


def _labels(indices: Iterable[tuple[int, ...]]) -> Table:
    return tuple(frozenset({index}) for index in indices)


def _array(table: Table) -> Array:
    places = np.empty(len(table), dtype=object)
    places[:] = table
    return places.reshape(SHAPE)


def _count(times: Array, table: Iterable[Elements]) -> None:
    for elements in table:
        for index in elements:
            times[index] += 1
