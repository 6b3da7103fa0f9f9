"""Values of operands: some to begin with, and others to see what changes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from indexing.layout import Kind, Shape
from tests.ops.oracle import dtype_of
from tests.ops.reached_elements import Array

INTEGERS = frozenset({Kind.SIGNED, Kind.UNSIGNED})

FAR = (np.nan, 1000, -1000)
"""Numbers in the place of others."""


def drawn(trial: int, shapes: Iterable[Shape]) -> list[Array]:
    """Some values of operands, others for each trial."""
    return [values_for(shape, (trial, place)) for place, shape in enumerate(shapes)]


def values_for(shape: Shape, seed: tuple[int, int]) -> Array:
    """Some values of an operand: numbers around 1, or indices of small arrays."""
    random = np.random.default_rng(seed)
    dtype, sizes, kind = dtype_of(shape), shape.dimensions, shape.element_type.kind
    if kind is Kind.BOOLEAN:
        return np.asarray(random.integers(0, 2, sizes)).astype(dtype)
    if kind in INTEGERS:
        most = min((3, 7, 40)[seed[0] % 3], 1 << (shape.element_type.bits - 1))
        return np.asarray(random.integers(0, most, sizes)).astype(dtype)
    drawn = random.normal(0, 2, sizes) if seed[0] % 2 else random.uniform(0.5, 1.5, sizes)
    return np.asarray(drawn).astype(dtype)


def others(value: Any, *, is_convolved: bool) -> Iterable[Any]:  # noqa: ANN401 - of NumPy
    """Other values in the place of one, those first that are felt most widely.

    A convolution may multiply its padding by what is no number.
    """
    if value.dtype.kind == "b":
        return (~value,)
    far = FAR[1:] if is_convolved else FAR
    is_integer = value.dtype.kind in "iu" or value.dtype.name.startswith(("int", "uint"))
    others = [int(value) + 1, int(value) - 1, 0, int(value) + 100] if is_integer else far
    return (np.array(other).astype(value.dtype) for other in others)
