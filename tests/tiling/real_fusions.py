"""The fusions of the GPU data whose ``backend_config`` names tiles, with these."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ops import DimensionKind, Fusion, TilingSpace, hlo

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ops.hlo import Instruction

FOLDER: Final = Path(__file__).parents[1] / "data" / "hlo" / "gpu"


@dataclass(frozen=True, slots=True)
class TiledFusion:
    """A fusion with the tile that its ``backend_config`` names, and a size for each dimension.

    Sizes beyond a dimension are cut: the kernel pads its tile.
    """

    file: str
    name: str
    fusion: Fusion
    named: tuple[int, ...]
    sizes: tuple[int, ...]
    points: int

    def __str__(self) -> str:
        return f"{self.file}-{self.name}"


@cache
def tiled_fusions() -> tuple[TiledFusion, ...]:
    """All such fusions."""
    return tuple(
        tiled
        for path in sorted(FOLDER.glob("*.hlo.gz"))
        for instruction in hlo.load(path).instructions
        for tiled in _tiled(path.name.split(".")[0], instruction)
    )


def _tiled(file: str, instruction: Instruction) -> Iterator[TiledFusion]:
    config = instruction.attributes.get("backend_config", "")
    tiles = re.search(r'"output_tiles":\[\{"sizes":(\[[^]]*\])\}\]', config)
    if instruction.opcode != "fusion" or tiles is None:
        return
    fusion = Fusion.of_computation(instruction.attributes["calls"])
    space, named = TilingSpace.of(fusion), _numbers(tiles[1])
    sizes: list[int] = []
    for number, dimension in enumerate(space.dimensions):
        whole = dimension.size or 0
        if dimension.kind is DimensionKind.PARALLEL:
            sizes.append(min(named[number], whole))
        else:
            own = dimension.instruction.attributes.get("backend_config", "")
            stated = re.fullmatch(r'\{"sizes":(\[[^]]*\])\}', own)
            sizes.append(min(_numbers(stated[1])[0], whole) if stated else whole)
    points = prod(dimension.size or 0 for dimension in space.dimensions)
    yield TiledFusion(file, instruction.name, fusion, named, tuple(sizes), points)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, json.loads(text)))
