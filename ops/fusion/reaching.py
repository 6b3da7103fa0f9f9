"""From any instruction of a fusion: into the computations that it calls, and out of them."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, TypeAlias

from ops.analysis.chaining import joined
from ops.analysis.control_flow import Direction
from ops.analysis.findings import paths_in
from ops.analysis.fusion import reached
from ops.analysis.graphs import postorder
from ops.analysis.paths import itself
from ops.fusion.region import behind_parameter, behind_root, ends_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ops.analysis.answers import Answer
    from ops.analysis.graphs import Array
    from ops.analysis.paths import Paths, Reached
    from ops.fusion.region import CallSite, Region
    from ops.hlo import Computation, Instruction

Answers: TypeAlias = "dict[Array, Answer]"

_Follow: TypeAlias = "Callable[[Answers, Paths, frozenset[Instruction] | None], Answers]"
_Behind: TypeAlias = "Callable[[Array, Answer, CallSite, Paths], Iterator[Reached]]"


def needed_by(start: Array, region: Region) -> Answers:
    """The maps from an array to all that it depends on, through the instructions of a region.

    What is in a called computation stands for all its runs.
    """
    return _reached(start, region, Direction.OUTPUT_TO_INPUT, reached, behind_parameter)


def made_of(start: Array, region: Region) -> Answers:
    """The maps from an array to all that it takes part in, in its computation and its callers."""
    return _reached(start, region, Direction.INPUT_TO_OUTPUT, _followed, behind_root)


def _followed(starts: Answers, paths: Paths, within: frozenset[Instruction] | None) -> Answers:
    return paths.follow(starts, within)


def _reached(
    start: Array, region: Region, direction: Direction, follow: _Follow, behind: _Behind
) -> Answers:
    """What is reached in a computation, then in what calls it, and so on outwards."""
    paths = paths_in(region.computation.module, direction, region.registry)
    begun: dict[Computation, Answers] = defaultdict(dict)
    begun[start[0].computation] = {start: itself(start)}
    found: Answers = {}
    for computation in postorder([region.computation], paths.callees):
        if not begun[computation]:
            continue
        level = follow(begun[computation], paths, region.limit(computation))
        _join(found, level)
        ends = ends_of(computation, direction)
        for site in region.call_sites.get(computation, ()):
            for array in (array for array in level if array[0] in ends):
                for target, answer in behind(array, level[array], site, paths):
                    if target[0].computation is site.caller.computation:
                        _join(begun[site.caller.computation], {target: answer})
                    else:  # an earlier round of a loop
                        _join(found, reached({target: answer}, paths))
    return found


def _join(into: Answers, more: Mapping[Array, Answer]) -> None:
    """All ways of both to each array."""
    for array, answer in more.items():
        before = into.get(array)
        into[array] = answer if before is None else joined(before, answer)
