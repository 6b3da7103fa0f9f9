"""Pallas: which blocks of which arrays the steps of a grid take, and what is wrong with them."""

from ops.pallas.block_spec import BlockSpec, ElementBlock
from ops.pallas.blocked_array import (
    BlockedArray,
    BlockTraffic,
    OutOfBoundsBlock,
    PrefetchedScalar,
)
from ops.pallas.errors import PallasError
from ops.pallas.from_pallas import pallas_calls
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
