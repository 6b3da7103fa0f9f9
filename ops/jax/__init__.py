"""JAX functions as HLO modules, also for shapes with symbolic sizes."""

from __future__ import annotations

from ops.jax.from_jax import from_jax

__all__ = ["from_jax"]
