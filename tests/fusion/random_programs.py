"""Random programs that move, add and sum a matrix, partly in computations that they call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from hypothesis import strategies as st

from ops.hlo import HloModule
from tests.fusion.units import ADD, entry

Array: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"
Step: TypeAlias = "tuple[str | int, int, int]"
"""A move, ``add``, or the number of a computation that is called; and the values it is done to."""

SHAPE = (3, 3)
united = np.frompyfunc(lambda left, right: left | right, 2, 1)
"""The union of sets, as a function of arrays."""

MOVES: dict[str, tuple[str, Callable[[Array], Array]]] = {
    "turn": ("v{n} = f32[3,3] transpose(v{x}), dimensions={{1,0}}", np.transpose),
    "flip": ("v{n} = f32[3,3] reverse(v{x}), dimensions={{1}}", lambda places: places[:, ::-1]),
    "wind": ("""k{n} = f32[9] reshape(v{x}) l{n} = f32[9] reverse(k{n}), dimensions={{0}}
        v{n} = f32[3,3] reshape(l{n})""", lambda places: places.ravel()[::-1].reshape(SHAPE)),
    "sums": (
        """z{n} = f32[] constant(0)
        k{n} = f32[3] reduce(v{x}, z{n}), dimensions={{1}}, to_apply=sum
        v{n} = f32[3,3] broadcast(k{n}), dimensions={{0}}""",
        lambda places: np.broadcast_to(united.reduce(places, 1)[:, None], SHAPE)),
    "row": (
        """k{n} = f32[1,3] slice(v{x}), slice={{[1:2], [0:3]}} l{n} = f32[3] reshape(k{n})
        v{n} = f32[3,3] broadcast(l{n}), dimensions={{1}}""",
        lambda places: np.broadcast_to(places[1], SHAPE)),
}  # fmt: skip
"""Moves of a matrix, in HLO and in NumPy."""


@dataclass(frozen=True)
class Program:
    """Computations of one matrix, callees first; the last one is the entry."""

    computations: list[list[Step]]

    @property
    def module(self) -> HloModule:
        *inner, main = map(_text, self.computations)
        named = (f"f{number} {{\n{body}\n}}" for number, body in enumerate(inner))
        return entry(main, "\n".join([ADD, *named]))

    def needed(self) -> Array:
        """The elements of the parameter that each element of the result needs."""
        places = np.empty(SHAPE, dtype=object)
        for index in np.ndindex(SHAPE):
            places[index] = frozenset({index})
        return self._run(len(self.computations) - 1, places)

    def _run(self, computation: int, places: Array) -> Array:
        known = [places]
        for kind, source, other in self.computations[computation]:
            if isinstance(kind, int):
                known.append(self._run(kind, known[source]))
            elif kind == "add":
                known.append(united(known[source], known[other]))
            else:
                known.append(MOVES[kind][1](known[source]))
        return known[-1]

    def __repr__(self) -> str:
        return str(self.module)


def _text(steps: Sequence[Step]) -> str:
    lines = ["v0 = f32[3,3] parameter(0)"]
    for number, (kind, source, other) in enumerate(steps, start=1):
        if isinstance(kind, int):
            lines.append(f"v{number} = f32[3,3] call(v{source}), to_apply=f{kind}")
        elif kind == "add":
            lines.append(f"v{number} = f32[3,3] add(v{source}, v{other})")
        else:
            lines.append(MOVES[kind][0].format(x=source, n=number))
    return "\n".join(lines)


@st.composite
def programs(draw: st.DrawFn, callees: int = 2, *, calls: bool = False) -> Program:
    """Programs with so many computations beside the entry, which may have to end with a call."""
    lengths = draw(st.lists(st.integers(1, 3), min_size=int(calls), max_size=callees))
    computations: list[list[Step]] = []
    for length in [*lengths, draw(st.integers(1, 6))]:
        kinds = [*MOVES, *["add"] * 4, *[*range(len(computations))] * 3]
        computations.append(
            [
                (draw(st.sampled_from(kinds)), *draw(st.tuples(*[st.integers(0, number)] * 2)))
                for number in range(length)
            ]
        )
    if calls:
        computations[-1].append((0, len(computations[-1]), 0))
    return Program(computations)
