"""JAX functions as HLO modules, also for shapes with symbolic sizes."""

from __future__ import annotations

from ops.jax.primitives import OfJax, shape_of
from ops.jax.tracing import from_jax, traced

__all__ = [
    "OfJax",
    "from_jax",
    "shape_of",
    "traced",
]
