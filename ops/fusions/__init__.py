"""Instructions that run as one, and what compilers ask of them."""

from ops.fusions.emitters import Emitter
from ops.fusions.fusion import Fusion, FusionError
from ops.fusions.producers import by_producer
from ops.fusions.provenance import Provenance
from ops.fusions.reads import Reads
from ops.fusions.scheduling import FusionSchedule, schedule_of

__all__ = [
    "Emitter",
    "Fusion",
    "FusionError",
    "FusionSchedule",
    "Provenance",
    "Reads",
    "by_producer",
    "schedule_of",
]
