"""What an HLO program does, seen by running it with JAX on the CPU.

The pairs (index in the result, index in an operand) of what moves elements are read off a run with
unique numbers, those of what computes off runs in which one element at a time is another one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from indexing.layout import Shape
from ops import hlo
from ops.hlo import running
from ops.hlo.running import Program
from tests.evaluation import Pair

Array: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"

DISTURBANCES = (1000, -1000)
"""What is added to an element to see where it is felt; an extremum feels one of the two."""


def program(text: str, without: str = "") -> Program:
    """The compiled entry of a module, quickly: most programs compile for longer than they run."""
    options = {"xla_disable_hlo_passes": without, "xla_backend_optimization_level": 0}
    return running.program(text, **options)


def parameters(text: str) -> list[Shape]:
    return [parameter.shape for parameter in hlo.parse(text).entry.parameters]


def moved(
    text: str, operand: int, given: Mapping[int, Any] | None = None, output: int = 0
) -> set[Pair]:
    """Where the elements of an operand end up, in an array of the result.

    The operand holds 1, 2, 3, ..., the others what is ``given`` by their number, or zeros.
    """
    operands = _with([filled(shape, 0) for shape in parameters(text)], given or {})
    sizes, element_type = operands[operand].shape, operands[operand].dtype
    sources = [*np.ndindex(sizes)]
    unique = np.array(range(1, len(sources) + 1), dtype=element_type)
    operands[operand] = unique.reshape(sizes)
    result = program(text)(*operands)[output]
    places = ((index, int(result[index])) for index in np.ndindex(result.shape))
    return {(index, sources[number - 1]) for index, number in places if number}


def felt(
    text: str,
    operand: int,
    given: Mapping[int, Any] | None = None,
    output: int = 0,
    disturbances: Sequence[complex] = DISTURBANCES,
) -> set[Pair]:
    """Where it is felt, in an array of the result, that an element of an operand is another one.

    Operands hold small positive numbers that are no sums of each other, but what is ``given``.
    """
    operands = _with([_irregular(shape) for shape in parameters(text)], given or {})
    return felt_by(lambda *each: program(text)(*each)[output], operands, operand, disturbances)


def felt_by(
    run: Callable[..., Array],
    operands: Sequence[Array],
    operand: int,
    disturbances: Sequence[complex] = DISTURBANCES,
) -> set[Pair]:
    """The same of a function from arrays to an array."""
    before = run(*operands)
    pairs: set[Pair] = set()
    for place in np.ndindex(operands[operand].shape):
        for disturbance in disturbances:
            changed = operands[operand].copy()
            changed[place] += changed.dtype.type(disturbance)
            after = run(*operands[:operand], changed, *operands[operand + 1 :])
            differs = ~same(before, after)
            pairs |= {(tuple(map(int, index)), place) for index in np.argwhere(differs)}
    return pairs


def filled(shape: Shape, value: float) -> Array:
    (array,) = shape.arrays
    return np.full(array.dimensions, value, dtype=dtype_of(array))


def _irregular(shape: Shape) -> Array:
    array = filled(shape, 0)
    values = 1 + np.sqrt(np.arange(2, array.size + 2) + 0.5) % 1  # no square roots of squares
    scale = 1 if np.issubdtype(array.dtype, np.inexact) else 50
    return (values * scale).reshape(array.shape).astype(array.dtype)


def _with(operands: list[Array], given: Mapping[int, Any]) -> list[Array]:
    return [np.asarray(given.get(n, each), each.dtype) for n, each in enumerate(operands)]


def same(before: Array, after: Array) -> Array:
    both_nan = (before != before) & (after != after)  # noqa: PLR0124 - so for every type of float
    return (before == after) | both_nan


def dtype_of(shape: Shape) -> np.dtype[Any]:
    return running.dtype_of(shape.element_type)
