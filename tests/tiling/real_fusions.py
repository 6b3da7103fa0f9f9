"""Fusions of the data: those whose ``backend_config`` names tiles, with these, and all others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import Final

from ops import DimensionKind, Fusion, TilingSpace, hlo
from ops.hlo import Instruction
from ops.xla_gpu.schedule import block_level, contracted_tile
from tests.hlo.modules import ALL, NAMES, module_text

MODULES: Final = [name for name in NAMES if name.startswith(("cpu/", "gpu/"))]

_NAME: Final = re.compile(r"%[\w.-]+|, metadata=\{[^}]*\}")


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
    return tuple(
        tiled
        for name in ALL
        if name.startswith("gpu/")
        for instruction in hlo.parse(module_text(name)).instructions
        for tiled in _tiled(name.removeprefix("gpu/"), instruction)
    )


def _tiled(file: str, instruction: Instruction) -> Iterator[TiledFusion]:
    blocks = block_level(instruction)
    if instruction.opcode != "fusion" or blocks is None or not blocks.output_tiles:
        return
    fusion = Fusion.of_computation(instruction.attributes["calls"])
    space = TilingSpace.of(fusion)
    (named,) = blocks.output_tiles
    sizes: list[int] = []
    for number, dimension in enumerate(space.dimensions):
        whole = dimension.size or 0
        if dimension.kind is DimensionKind.PARALLEL:
            sizes.append(min(named[number], whole))
        else:
            (stated,) = contracted_tile(dimension.instruction) or (whole,)
            sizes.append(min(stated, whole))
    points = prod(dimension.size or 0 for dimension in space.dimensions)
    yield TiledFusion(file, instruction.name, fusion, named, tuple(sizes), points)


@cache
def different_fusions() -> dict[str, dict[str, Fusion]]:
    """The fusions of each such module; those that differ in names only once."""
    found: dict[str, dict[str, Fusion]] = {}
    known: set[str] = set()
    for name in MODULES:
        module = found.setdefault(name, {})
        for instruction in hlo.parse(module_text(name)).instructions:
            if instruction.opcode != "fusion":
                continue
            fusion = Fusion.of_computation(instruction.attributes["calls"])
            text = _without_names(fusion)
            if text not in known:
                known.add(text)
                module[instruction.name] = fusion
    return found


def _without_names(fusion: Fusion) -> str:
    """The text of a fusion with numbers for the names in it."""
    numbers: dict[str, str] = {}

    def number(name: re.Match[str]) -> str:
        is_name = name[0].startswith("%")
        return numbers.setdefault(name[0], f"%{len(numbers)}") if is_name else ""

    return "\n".join(_NAME.sub(number, str(each)) for each in fusion.instructions)
