"""Instructions that run as one, and what compilers ask of them."""

from ops.fusions.fusion import Fusion, FusionError
from ops.fusions.producers import by_producer

__all__ = ["Fusion", "FusionError", "by_producer"]
