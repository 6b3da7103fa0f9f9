"""Pallas: the blocks of arrays that the steps of a grid take, and errors in them."""

from __future__ import annotations

from ops.pallas.blocks import (
    BlockedArray,
    BlockSpec,
    BlockTraffic,
    ElementBlock,
    OutOfBoundsBlock,
    PallasError,
    PrefetchedScalar,
)
from ops.pallas.from_jax import pallas_calls
from ops.pallas.pallas_call import (
    AliasConflict,
    LateRevisit,
    PallasCall,
    UnwrittenElement,
    WriteRace,
    pallas_call,
)

__all__ = [
    "AliasConflict",
    "BlockSpec",
    "BlockTraffic",
    "BlockedArray",
    "ElementBlock",
    "LateRevisit",
    "OutOfBoundsBlock",
    "PallasCall",
    "PallasError",
    "PrefetchedScalar",
    "UnwrittenElement",
    "WriteRace",
    "pallas_call",
    "pallas_calls",
]
