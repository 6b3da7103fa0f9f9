"""Instructions that run as one, and what compilers ask of them."""

from ops.fusions.fusion import Fusion, FusionError
from ops.fusions.producers import by_producer
from ops.fusions.provenance import Provenance
from ops.fusions.reads import Reads

__all__ = ["Fusion", "FusionError", "Provenance", "Reads", "by_producer"]
