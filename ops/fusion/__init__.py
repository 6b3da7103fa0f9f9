"""Instructions that run as one, and what compilers ask of them."""

from ops.fusion.fusion import Fusion, FusionError, by_producer
from ops.fusion.fusion_picture import access_picture
from ops.fusion.fusion_schedule import Emitter, FusionSchedule, schedule_of
from ops.fusion.provenance import Provenance
from ops.fusion.reads import Reads

__all__ = [
    "Emitter",
    "Fusion",
    "FusionError",
    "FusionSchedule",
    "Provenance",
    "Reads",
    "access_picture",
    "by_producer",
    "schedule_of",
]
