"""Why a map is there: the instructions along which it was made."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

from ops.analysis.answers import of_element
from ops.fusion.tracing import trails_to
from ops.fusion.trails import answer_of, shortest_paths, ways_of

if TYPE_CHECKING:
    from ops.analysis.graphs import Array
    from ops.fusion.region import Region
    from ops.fusion.trails import Path, Trail, Way
    from ops.hlo import Instruction

MOST_PATHS: Final = 8
"""So many paths are listed unless somebody asks for more."""

_LONGEST_NUMBER: Final = 64
"""Numbers of more bits are told by their size."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """All paths of instructions that one map between two of them comes from.

    Attributes:
        way: the map; or that there is none, if some step of each path has none.
        count: how many paths there are. Those that take the same arrays count once.
        paths: the shortest of them, from the instruction that asks to the one that is reached.
            What is called on the way is there with the instructions inside of it; a loop is one
            step, however many rounds it takes.

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

    way: Way
    count: int
    paths: tuple[Path, ...]

    def __str__(self) -> str:
        lines = [str(self.way), *(f"  {path_text(path)}" for path in self.paths)]
        more = self.count - len(self.paths)
        if more:
            is_short = more.bit_length() <= _LONGEST_NUMBER
            number = more if is_short else f"at least 2**{more.bit_length() - 1}"
            lines.append(f"  and {number} more")
        return "\n".join(lines)


def path_text(path: Path) -> str:
    """The instructions of a path, what is reached first."""
    return " <- ".join(map(_name, reversed(path)))


def _name(instruction: Instruction) -> str:
    is_parameter = instruction.opcode == "parameter"
    return f"%{instruction.name}" if is_parameter else f"%{instruction.name} {instruction.opcode}"


def provenance_of(
    target: Instruction, start: Array, region: Region, most: int
) -> tuple[Provenance, ...]:
    """One for each map between an array and an instruction, with so many paths at most."""
    ends: dict[Way, list[Trail]] = {}
    for trail in trails_to(target, start, region):
        (way,) = ways_of(of_element(answer_of(trail.way), trail.array[1]))
        ends.setdefault(way, []).append(trail)
    return tuple(
        Provenance(
            way,
            sum(trail.count for trail in trails),
            tuple(islice(shortest_paths(trails), most)),
        )
        for way, trails in ends.items()
    )
