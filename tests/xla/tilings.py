"""What XLA's tests ask of tilings: their dimensions, the tiles of arrays, and sizes of tiles.

Answers are compared with all that is touched, in some tiles of some sizes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice, product
from math import prod
from random import Random
from typing import Final

from indexing import TileConstraints, TileError
from ops import (
    DimensionKind,
    Fusion,
    TilingDimension,
    TilingSpace,
    Unknown,
    hlo,
    output_to_input,
    schedule_of,
)
from ops.hlo import Instruction
from ops.limits import Device
from ops.tiling import tilings
from ops.tiling.propagation import propagate_in
from ops.xla_gpu.schedule import block_level, contracted_tile
from tests.conformance import Row
from tests.extent import IN_CI
from tests.xla.facts import Answer, Outcome, Verdict, ends, most_serious, of_values
from tests.xla.spaces import Index, Space, Steps, verdict_on_elements


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


MAX_SIZES: Final = 4096
"""So many combinations of sizes are tried."""

MAX_CHECKED: Final = 6 if IN_CI else 3
"""For so many of them all arrays' tiles are compared with all elements."""

MAX_POINTS: Final = 1 << 13
"""Tiles of more points than this are not."""

BOUNDLESS: Final = Device(
    name="boundless", warp_size=32, registers=1 << 60, shared_memory_bytes=1 << 60
)
"""A device on which tiles of all sizes fit."""


def has_tiles(row: Row) -> Outcome:
    """Whether every array has a tile of some sizes; of drawn ones, it must be exact."""
    asked = Space(row)
    drawn = [] if asked.tiled.symbolic.refused else _drawn(asked.space)
    accepted = [
        sizes for sizes, named in drawn if asked.tiled.symbolic.constraints.satisfied(named)
    ]
    return _if_exact("tiles" if accepted else "no tiles", row, accepted)


def _if_exact(answer: object, row: Row, accepted: Iterable[Index]) -> Outcome:
    """The answer, if the tiles of all arrays of some of these sizes hold what is touched."""
    if not are_exact(Space(row), accepted):
        return Outcome(Verdict.WRONG, "inexact tiles", str(row["expected"]))
    return of_values(answer, row)


def are_exact(asked: Space, sizes: Iterable[Index]) -> bool:
    return all(
        steps.ours(ids) == steps.touched(ids)
        for each in islice(sizes, MAX_CHECKED)
        for name in asked.names
        for steps in [Steps(asked, name, each)]
        if steps.points <= MAX_POINTS
        for ids in steps.drawn_tiles()
    )


def _drawn(space: TilingSpace) -> list[tuple[Index, dict[str, int]]]:
    """Combinations of sizes, in any order: all, or small ones; also by their names."""
    sizes = [_sizes(each, each.size or 1) for each in space.dimensions]
    if prod(map(len, sizes)) > MAX_SIZES:
        sizes = [_sizes(each, 4) for each in space.dimensions]
    every = [*product(*sizes)]
    drawn = Random(0).sample(every, min(MAX_SIZES, len(every)))  # noqa: S311 - no secret
    return [(each, {f"T{at}": size for at, size in enumerate(each)}) for each in drawn]


def _sizes(dimension: TilingDimension, most: int) -> Sequence[int]:
    whole = dimension.size or 1
    return range(1, min(most, whole) + 1) if dimension.can_be_cut else [whole]


def constraints_of_fusion(row: Row) -> Outcome:
    """Our constraints on sizes beside XLA's, by what they accept.

    Sizes that only we accept must give exact tiles. XLA's ``d0`` is the first dimension of
    ``order``.
    """
    asked = Space(row)
    ours = asked.tiled.symbolic.check().constraints
    theirs = TileConstraints.parse(
        re.sub(r"\bd(\d+)", lambda found: f"T{asked.order[int(found[1])]}", row["expected"])
    )
    every = _drawn(asked.space)
    only_ours = [sizes for sizes, n in every if ours.satisfied(n) and not theirs.satisfied(n)]
    if any(theirs.satisfied(n) and not ours.satisfied(n) for _, n in every):
        verdict = Verdict.DIFFERENT
    elif not are_exact(asked, only_ours):
        verdict = Verdict.WRONG
    else:
        verdict = Verdict.BETTER if only_ours else Verdict.SAME
    return Outcome(verdict, str(ours), row["expected"])


def accepted_sizes(row: Row) -> Outcome:
    """Which sizes of a row are accepted, and which refused: too few, too many or too large."""
    found = [_judged(Space(row).fusion, sizes) for sizes in row["tilings"]]
    pairs = zip(row["tilings"], found, strict=True)
    return _if_exact(found, row, [tuple(sizes) for sizes, each in pairs if each == "accepted"])


def _judged(fusion: Fusion, sizes: Sequence[int]) -> str:
    try:
        found = tilings(fusion, BOUNDLESS, sizes=[[size] for size in sizes])
    except TileError:
        return "refused"
    return "accepted" if found else "no tiles"


def _conforms(space: TilingSpace, tiling: Mapping[str, Sequence[int]]) -> bool:
    by_name: dict[str, list[TilingDimension]] = {name: [] for name in tiling}
    for each in space.dimensions:
        by_name.setdefault(each.instruction.name, []).append(each)
    try:
        pairs = [zip(by_name[name], sizes, strict=True) for name, sizes in tiling.items()]
        propagate_in(space, dict(chain.from_iterable(pairs)))
    except (TileError, ValueError):
        return False
    return True


def results_share_dimensions(row: Row) -> bool:
    space = Space(row).space
    ranks = [node.instruction.shape.arrays[node.element].rank for node in space.results]
    return len(ranks) > 1 and {len(space.parallel)} == {*ranks}


def sizes_of_config(row: Row) -> object:
    """The sizes that the configs of a kernel and its dot name, and all of other dimensions."""
    root = root_of(row)
    tiles, _ = tiles_of_config(row)
    schedule_of(root)  # or it is refused
    first, *others = [tile for at, tile in enumerate(tiles) if tile not in tiles[:at]]
    if others:
        return [first, *others]
    space = TilingSpace.of(Fusion.of_computation(root.attributes["calls"]))
    rest = space.dimensions[len(space.parallel) :]
    stated = [contracted_tile(each.instruction) or (each.size,) for each in rest]
    return [*first, *(size for (size,) in stated)]


def tiles_of_config(row: Row) -> tuple[list[list[int]], int]:
    blocks = block_level(root_of(row))
    assert blocks is not None
    return [*map(list, blocks.output_tiles)], blocks.warps


def root_of(row: Row) -> Instruction:
    return hlo.parse(row["hlo"]).entry.root


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
    "accepted sizes": accepted_sizes,
    "block level": lambda row: [*tiles_of_config(row)],
    "conforming sizes": lambda row: [_conforms(Space(row).space, each) for each in row["tilings"]],
    "contracted tile": lambda row: list(contracted_tile(root_of(row))),
    "constraints of a fusion": constraints_of_fusion,
    "has tiles": has_tiles,
    "is constrained": lambda row: (
        not Space(row).tiled.symbolic.check().constraints.is_always_satisfied),
    "results share dimensions": results_share_dimensions,
    "sizes by instruction": lambda row: [
        *map(list, Counter(each.instruction.name for each in Space(row).space.dimensions).items())],
    "sizes of a config": sizes_of_config,
    # All that are tried on a device where all fit.
    "sizes of a fusion": lambda row: sorted(
        tilings(Space(row).fusion, BOUNDLESS).columns["sizes"].tolist()),
}  # fmt: skip
