"""The table of Triton's tiles in docs/tiles.md; run as a program, it writes it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from indexing import Tile
from ops import propagate
from tests.pages import with_generated
from tests.tiling.real_fusions import TiledFusion, tiled_fusions

PAGE: Final = Path(__file__).parents[2] / "docs" / "tiles.md"
TRITON: Final = "triton tiles"
"""The name of the marks between which the table is generated."""

_HEAD: Final = """| fusion | named tile | reduced, contracting | tiles of the operands |
| --- | --- | --- | --- |"""


def table() -> str:
    """The first fusion of each module of the GPU data whose ``backend_config`` names a tile."""
    first = {tiled.file: tiled for tiled in reversed([*tiled_fusions()])}
    return "\n".join([_HEAD, *map(_row, reversed(first.values()))])


def _row(tiled: TiledFusion) -> str:
    found = propagate(tiled.fusion, tiled.sizes).check()
    gone_through = tiled.sizes[len(found.space.parallel) :]
    tiles = ((each.instruction.shape, each.tile) for each in found.operands)
    operands = [f"`{on}`: {_sizes(tile.sizes)}" for on, tile in tiles if isinstance(tile, Tile)]
    name = f"{tiled.file}: `{tiled.name}`"
    return f"| {name} | {_sizes(tiled.named)} | {_sizes(gone_through)} | {', '.join(operands)} |"


def _sizes(sizes: Iterable[object]) -> str:
    return "x".join(map(str, sizes)) or "scalar"


if __name__ == "__main__":
    PAGE.write_text(with_generated(PAGE.read_text(), TRITON, table()))
