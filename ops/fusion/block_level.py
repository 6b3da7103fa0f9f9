"""What a ``backend_config`` says of a kernel of tiles: its library, its tiles, and its warps."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from ops.fusion.fusion import FusionError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ops.hlo import Instruction


@dataclass(frozen=True, slots=True)
class BlockLevel:
    """The parameters of a fusion whose blocks compute tiles.

    Attributes:
        kind: what XLA calls the library, such as ``__triton``.
        output_tiles: the tile of each array of the result; empty if the library chooses.
        warps: how many warps a block has.

    >>> from ops import hlo
    >>> module = hlo.parse('''f { p = f32[8,128] parameter(0) ROOT r = f32[8,128] negate(p) }
    ... ENTRY e { p = f32[8,128] parameter(0)
    ...   ROOT r = f32[8,128] fusion(p), kind=kCustom, calls=f, backend_config={
    ...     "fusion_backend_config":{"kind":"__triton","block_level_fusion_config":{
    ...       "num_warps":"2","output_tiles":[{"sizes":["1","128"]}]}}} }''')
    >>> block_level(module.entry.root)
    BlockLevel(kind='__triton', output_tiles=((1, 128),), warps=2)
    """

    kind: str
    output_tiles: tuple[tuple[int, ...], ...]
    warps: int


def block_level(fusion: Instruction) -> BlockLevel | None:
    """What the ``backend_config`` of a fusion says; ``None`` if it names no library.

    Raises:
        FusionError: it is not written as XLA writes it.
    """
    try:
        return _read(_config(fusion).get("fusion_backend_config") or {})
    except (AttributeError, TypeError, ValueError):
        raise _unreadable(fusion) from None


def _read(config: Any) -> BlockLevel | None:  # noqa: ANN401 - JSON
    if not config.get("kind"):
        return None
    blocks: Any = config.get("block_level_fusion_config") or {}
    tiles = tuple(_numbers(tile.get("sizes", ())) for tile in blocks.get("output_tiles", ()))
    return BlockLevel(str(config["kind"]), tiles, int(blocks.get("num_warps", 1)))


def contracted_tile(dot: Instruction) -> tuple[int, ...]:
    """The tile of each contracted dimension that the ``backend_config`` of a dot names.

    Raises:
        FusionError: it is not written as XLA writes it.
    """
    try:
        return _numbers(_config(dot).get("sizes", ()))
    except (TypeError, ValueError):
        raise _unreadable(dot) from None


def _unreadable(instruction: Instruction) -> FusionError:
    message = f"fusion: the backend_config of %{instruction.name} names no tiles that can be read"
    return FusionError(f"{message}; expected lists of sizes, and a number of warps")


def _config(instruction: Instruction) -> dict[str, Any]:
    """The object of a ``backend_config``, which older texts hold as a string; or an empty one."""
    value: Any = instruction.attributes.get("backend_config", "")
    while isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _numbers(texts: Iterable[str | int]) -> tuple[int, ...]:
    return tuple(map(int, texts))
