"""Fusions of real modules that benchmarks/hand_written.c has, their operands, and NumPy's results.

>>> [kernel.name for kernel in KERNELS[:2]]
['scale_rows', 'divide_all']
>>> str(KERNELS[0].fusion)
'fusion of %fused_computation.2 that reads %param_0.2, %param_1.3'
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod
from pathlib import Path
from typing import Any, Final, TypeAlias
from zlib import crc32

import numpy as np

from ops import Fusion, hlo
from ops.hlo import Computation, Instruction

Array: TypeAlias = "np.ndarray[Any, np.dtype[np.float32]]"
Run: TypeAlias = "Callable[..., Any]"
"""From an instruction and the values of its operands to its value."""

HAND_WRITTEN: Final = Path(__file__).with_name("hand_written.c")
MODULES: Final = Path(__file__).parents[1] / "tests" / "data" / "hlo"


@dataclass(frozen=True)
class Kernel:
    """A function in C, and the fusion that it computes."""

    name: str
    module: str
    fusion_name: str

    @cached_property
    def computation(self) -> Computation:
        """What the fusion runs."""
        module = hlo.load(MODULES / f"{self.module}.hlo.gz")
        called: Computation = module[self.fusion_name].attributes["calls"]
        return called

    @cached_property
    def fusion(self) -> Fusion:
        """The same, to be asked."""
        return Fusion.of_computation(self.computation)

    @cached_property
    def operands(self) -> list[Array]:
        """Random numbers from 0.5 to 1.5, always the same."""
        random = np.random.default_rng(crc32(self.name.encode()))
        operands = [aligned(each.shape.dimensions) for each in self.computation.parameters]
        for each in operands:
            each[...] = random.random(each.shape, np.float32) + np.float32(0.5)
        return operands

    @cached_property
    def result(self) -> Array:
        """A place for the result."""
        return aligned(self.computation.root.shape.dimensions)

    def by_numpy(self) -> Array:
        """What NumPy makes of the operands, instruction by instruction."""
        values: dict[Instruction, Any] = dict(
            zip(self.computation.parameters, self.operands, strict=True)
        )
        for each in self.computation.instructions:
            if each not in values:
                run = NUMPY[each.opcode]
                values[each] = run(each, *(values[operand] for operand in each.operands))
        return np.ascontiguousarray(values[self.computation.root])


def aligned(sizes: tuple[int, ...]) -> Array:
    """An array that begins where a line of the cache does, as times depend on that.

    >>> aligned((3, 5)).ctypes.data % 64
    0
    """
    elements = prod(sizes)
    memory = np.empty(elements + _LINE, np.float32)
    first = -memory.ctypes.data % (4 * _LINE) // 4
    return memory[first : first + elements].reshape(sizes)


_LINE: Final = 16
"""The elements of a line of the cache."""

_HEADING: Final = re.compile(r"^// (\S+/\S+): (\S+)\nvoid (\w+)\(", re.MULTILINE)

KERNELS: Final = tuple(
    Kernel(name, module, fusion)
    for module, fusion, name in _HEADING.findall(HAND_WRITTEN.read_text("utf-8"))
)
"""All functions of the file."""


# What an opcode is in NumPy.


def _constant(each: Instruction) -> np.float32:
    if each.literal is None:
        raise ValueError(f"{each} has no value")
    return np.float32(each.literal.array)


def _broadcast(each: Instruction, value: Array) -> Array:
    sizes, dimensions = each.shape.dimensions, each.attributes["dimensions"]
    spread = [sizes[place] if place in dimensions else 1 for place in range(len(sizes))]
    return np.broadcast_to(np.reshape(value, spread), sizes)


def _pad(each: Instruction, value: Array, padding: Array) -> Array:
    result = np.full(each.shape.dimensions, padding, np.float32)
    inside = zip(each.attributes["padding"], result.shape, strict=True)
    result[tuple(slice(low, size - high, step + 1) for (low, high, step), size in inside)] = value
    return result


def _slice(each: Instruction, value: Array) -> Array:
    return value[tuple(slice(*ends) for ends in each.attributes["slice"])]


def _reduce(each: Instruction, value: Array, start: Array) -> Array:
    fold = _FOLDS[each.attributes["to_apply"].root.opcode]
    reduced: Array = fold.reduce(value, axis=each.attributes["dimensions"], initial=start)
    return reduced


def _reduce_window(each: Instruction, value: Array, start: Array) -> Array:
    window: Any = each.attributes["window"]  # of numbers
    padded = np.pad(value, window.pad, constant_values=start)
    places = np.lib.stride_tricks.sliding_window_view(padded, window.size)
    kept = places[tuple(slice(None, None, stride) for stride in window.stride)]
    fold = _FOLDS[each.attributes["to_apply"].root.opcode]
    axes = tuple(range(-len(window.size), 0))
    folded: Array = fold.reduce(kept, axis=axes, initial=start)
    return folded


_FOLDS: Final[dict[str, np.ufunc]] = {"add": np.add, "maximum": np.maximum}


def _of_elements(function: Callable[..., Array]) -> Run:
    def run(_: Instruction, *values: Array) -> Array:
        return function(*values)

    return run


def _bitcast(each: Instruction, value: Array) -> Array:
    return np.reshape(value, each.shape.dimensions)


def _transpose(each: Instruction, value: Array) -> Array:
    return np.transpose(value, each.attributes["dimensions"])


NUMPY: Final[Mapping[str, Run]] = {
    "add": _of_elements(np.add),
    "bitcast": _bitcast,
    "broadcast": _broadcast,
    "compare": _of_elements(np.less),
    "constant": _constant,
    "copy": _of_elements(np.ascontiguousarray),
    "cosine": _of_elements(np.cos),
    "divide": _of_elements(np.divide),
    "exponential": _of_elements(np.exp),
    "maximum": _of_elements(np.maximum),
    "multiply": _of_elements(np.multiply),
    "negate": _of_elements(np.negative),
    "pad": _pad,
    "reduce": _reduce,
    "reduce-window": _reduce_window,
    "select": _of_elements(np.where),
    "slice": _slice,
    "sqrt": _of_elements(np.sqrt),
    "subtract": _of_elements(np.subtract),
    "tanh": _of_elements(np.tanh),
    "transpose": _transpose,
}
"""The opcodes of the kernels; the only direction that they compare is LT."""
