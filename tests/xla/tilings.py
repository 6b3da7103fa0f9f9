"""What XLA's tests ask of tiling spaces: their dimensions, and the tiles of arrays.

Both answers are compared with all that is touched, in some tiles of some sizes.
"""

from __future__ import annotations

from typing import Final

from ops import DimensionKind, Unknown, hlo, output_to_input
from tests.conformance import Row
from tests.xla.facts import Verdict
from tests.xla.outcome import Answer, Outcome, ends, most_serious
from tests.xla.spaces import Space, Steps, verdict_on_elements

# Dimensions.


def parts_of_reshape(row: Row) -> list[list[list[int]]]:
    """The dimensions of the operand and of the result that a reshape handles together.

    Those of one element take no part.
    """
    (found,) = output_to_input(hlo.parse(row["hlo"]).entry.root).indexing
    assert not isinstance(found, Unknown)
    (indexing,) = found
    parts: list[tuple[set[int], set[int]]] = []
    for number, formula in enumerate(indexing.map.results):
        dims = {int(str(name)[1:]) for name in formula.free_symbols}
        joined = [part for part in parts if part[1] & dims]
        parts = [part for part in parts if part not in joined]
        parts += [({number}.union(*(i for i, _ in joined)), dims.union(*(d for _, d in joined)))]
    return sorted([sorted(inputs), sorted(outputs)] for inputs, outputs in parts if outputs)


# Tiles.


def tile_of_array(row: Row) -> Outcome:
    asked = Space(row)
    verdicts: list[Verdict] = []
    shown = "no tile"
    for sizes in asked.drawn_sizes():
        steps = Steps(asked, row["to"], sizes)
        shown = shown if steps.tile is None else str(steps.tile)
        verdicts += [
            verdict_on_elements(steps.touched(ids), steps.ours(ids), steps.theirs(ids))
            for ids in steps.drawn_tiles()
        ]
    expected = "no tile" if row["expected"] is None else row["expected"]
    return Outcome(most_serious(verdicts), shown, expected)


QUESTIONS: Final[dict[str, Answer]] = {
    # Which dimensions are parallel, which are not, and how large they are.
    "dimensions of a space": lambda row: [
        f"{'parallel' if each.kind is DimensionKind.PARALLEL else 'sequential'} {each.size}"
        for each in Space(row).space.dimensions
    ],
    "parts of a reshape": parts_of_reshape,
    "runtime variables of a space": lambda row: [
        ends(each.bounds) for each in Space(row).array(row["to"])[1].map.runtime
    ],
    "tile of an array": tile_of_array,
}
