"""JAX, which is imported when a test first asks it: it is untyped, and not installed everywhere."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final, TypeAlias

OfJax: TypeAlias = Any
"""A value of JAX."""


class _Imported:
    """A module, imported where one of its names is used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> OfJax:
        if name.startswith("__"):  # pytest asks all that it finds in a module
            raise AttributeError(name)
        return getattr(import_module(self._name), name)


def imported(name: str) -> OfJax:
    """A module of JAX."""
    return _Imported(name)


jax: Final[OfJax] = imported("jax")
jnp: Final[OfJax] = imported("jax.numpy")
lax: Final[OfJax] = imported("jax.lax")
pl: Final[OfJax] = imported("jax.experimental.pallas")
tpu: Final[OfJax] = imported("jax.experimental.pallas.tpu")
