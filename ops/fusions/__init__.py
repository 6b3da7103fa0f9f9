"""Instructions that run as one, and what compilers ask of them."""

from ops.fusions.fusion import Fusion, FusionError
from ops.fusions.producers import by_producer
from ops.fusions.provenance import Provenance

__all__ = ["Fusion", "FusionError", "Provenance", "by_producer"]
