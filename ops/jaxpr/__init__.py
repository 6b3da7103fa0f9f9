"""JAX functions as HLO modules, also for shapes with symbolic sizes."""

from ops.jaxpr.from_jax import from_jax

__all__ = ["from_jax"]
