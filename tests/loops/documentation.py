"""The table in docs/loops.md; run as a program, it writes it."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Final

from ops import Loop, LoopDependence
from tests.loops.real_loops import all_loops
from tests.pages import with_generated

PAGE: Final = Path(__file__).parents[2] / "docs" / "loops.md"
LOOPS: Final = "loops"
"""The name of the marks between which the table is generated."""

_HEAD: Final = """| loop | alike | runs | counters | distances of dependences | updates in place |
| --- | ---: | ---: | --- | --- | --- |"""


def table() -> str:
    """A row for each answer, with the first loop that has it, and how many have."""
    loops: dict[str, list[str]] = defaultdict(list)
    for name, loop in all_loops().items():
        module, _, rest = name.partition(" ")
        loops[_answer(loop)].append(f"{module} `{rest.split()[0]}`")
    rows = (f"| {names[0]} | {len(names)} | {answer} |" for answer, names in loops.items())
    return "\n".join([_HEAD, *rows])


def _answer(loop: Loop) -> str:
    if loop.trip_count is None:
        return f"? | {loop.unknown} | |"
    counters = (f"array {n}: {each.start}, step {each.step}" for n, each in loop.counters.items())
    distances = "; ".join(map(_distances, loop.dependences())) or "none"
    updates = (
        f"array {each.array}: {'disjoint' if each.is_disjoint() else each.why()}"
        for each in loop.updates()
    )
    return f"{loop.trip_count} | {'; '.join(counters)} | {distances} | {'; '.join(updates)}"


def _distances(dependence: LoopDependence) -> str:
    low, high = dependence.distances.bounds[0].ends
    found = f"array {dependence.array}: {low}" + (f" to {high}" if high != low else "")
    return found + (f", at most ({dependence.approximation})" if dependence.approximation else "")


if __name__ == "__main__":
    PAGE.write_text(with_generated(PAGE.read_text("utf-8"), LOOPS, table()), "utf-8")
