"""Why it is not known how often a loop runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ops.analysis.findings import flow_in
from ops.rules.counted_loops import counters_of, start_of
from ops.rules.op_indexing import Direction
from ops.rules.sources import kept_by, only_caller

if TYPE_CHECKING:
    from ops.hlo import Instruction
    from ops.rules.registry import Registry


def why_not_counted(loop: Instruction, registry: Registry) -> str:
    """Why nobody knows how often a ``while`` runs, of which :func:`counted_loop` does not know."""
    body, condition = loop.attributes["body"], loop.attributes["condition"]
    for computation in (body, condition):
        if only_caller(computation) is not loop:
            return f"{computation.name} is called from several places"
    flow = flow_in(condition.module, Direction.OUTPUT_TO_INPUT, registry)
    read = [
        number for (_, number), found in flow.follow_through((condition.root, 0)).items() if found
    ]
    counters, kept = counters_of(loop), kept_by(body, registry.routes)
    changing = [number for number in read if number not in kept]
    if not changing:
        return "its condition reads nothing that iterations change"
    for number in changing:
        if number not in counters:
            if loop.shape.arrays[number].rank or start_of(loop, number) is not None:
                return f"array {number} decides, and iterations add no constant to it"
            return f"array {number} decides, and its start is not known"
    limits = [number for number in read if number in kept and start_of(loop, number) is None]
    if limits:
        return f"array {limits[0]} is a limit that is not known"
    return "its counter overflows, or it never ends"
