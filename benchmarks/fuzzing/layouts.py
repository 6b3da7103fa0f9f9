"""Random shapes with layouts, and what their maps and offsets must be: what NumPy makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any, Final

import numpy as np

from benchmarks.problems import happens
from indexing.layout import Shape, linear_index, linear_to_logical, logical_to_linear, multi_index
from indexing.layout.maps import memory_size
from tests.layout.model import PADDING, Array, memory_of

MAX_ELEMENTS: Final = 400
"""Memories have so many elements at most, with their padding: each of them is looked at."""

_TYPES: Final = ("f32", "bf16", "s8", "pred", "c64", "u4", "f64")


def drawn(random: Random) -> Shape:
    """A shape of rank up to five, with up to three tiles."""
    while True:
        shape = Shape.parse(_text(random))
        if memory_size(shape) <= MAX_ELEMENTS:
            return shape


def _text(random: Random) -> str:
    rank = random.choice((0, 1, 1, 2, 2, 3, 4, 5))
    sizes = [random.choice((1, 1, 2, 3, 4, 5, 7, 9)) for _ in range(rank)]
    if sizes and happens(random, 0.03):
        sizes[0] = 0
    order = random.sample(range(rank), rank)
    tiles = "".join(_tile(random) for _ in range(random.choice((0, 0, 1, 1, 2, 3))))
    written = f"T{tiles}" if tiles else ""
    if happens(random, 0.2):
        written += f"L({random.choice((2, 3, 8))})"
    fields = f":{written}" if written else ""
    array = f"{random.choice(_TYPES)}[{','.join(map(str, sizes))}]"
    return f"{array}{{{','.join(map(str, order))}{fields}}}" if order or fields else array


def _tile(random: Random) -> str:
    sizes = [str(random.choice((1, 2, 2, 3, 4, 8))) for _ in range(random.choice((1, 1, 2, 2, 3)))]
    starred = ["*" if happens(random, 0.15) else size for size in sizes[:-1]]
    return f"({','.join([*starred, sizes[-1]])})"


def complaint(shape: Shape) -> str | None:
    """What is wrong with the offsets and the maps of a shape, if something is."""
    if Shape.parse(str(shape)) != shape:
        return f"is read back as {Shape.parse(str(shape))}"
    memory = memory_of(shape)
    if memory_size(shape) != len(memory):
        return f"takes {memory_size(shape)} elements, not {len(memory)}"
    places = np.flatnonzero(memory != PADDING)
    offsets = np.empty(len(places), dtype=np.int64)
    offsets[memory[places]] = places
    indices = [*np.indices(shape.dimensions).reshape(shape.rank, len(places))]
    answers: dict[str, tuple[Any, list[Array]]] = {
        "linear_index": ([linear_index(tuple(indices), shape)], [offsets]),
        "logical_to_linear": (logical_to_linear(shape).evaluate(indices), [offsets]),
        "multi_index": (multi_index(offsets, shape), indices),
        "linear_to_logical": (linear_to_logical(shape).evaluate([offsets]), indices),
    }
    wrong = [name for name, (found, expected) in answers.items() if not _same(found, expected)]
    return f"{wrong[0]} is wrong" if wrong else None


def _same(found: Sequence[Any], expected: Sequence[Array]) -> bool:
    """Whether columns are equal; a constant stands for a whole one."""
    pairs = zip(found, expected, strict=True)
    return all(np.array_equal(np.broadcast_to(a, b.shape), b) for a, b in pairs)
