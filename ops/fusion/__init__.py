"""Instructions that run as one, and what compilers ask of them."""

from ops.fusion.fusion import Fusion, FusionError, by_producer
from ops.fusion.fusion_picture import access_picture
from ops.fusion.fusion_schedule import Emitter, FusionSchedule, schedule_of
from ops.fusion.graph_picture import FusionGraph, fusion_graph
from ops.fusion.provenance import Provenance
from ops.fusion.reads import Reads
from ops.fusion.reasons import Reason, why
from ops.fusion.tile_reads import TileRead, reads

__all__ = [
    "Emitter",
    "Fusion",
    "FusionError",
    "FusionGraph",
    "FusionSchedule",
    "Provenance",
    "Reads",
    "Reason",
    "TileRead",
    "access_picture",
    "by_producer",
    "fusion_graph",
    "reads",
    "schedule_of",
    "why",
]
