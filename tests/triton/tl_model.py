"""A small model of ``triton.language`` on arrays of NumPy, which notes what a kernel accesses."""

# pyright: basic
# Arrays of any kind, and numbers.

from __future__ import annotations

import inspect
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np

Block = Any
"""An array of NumPy, or a number."""

Numbers = Sequence[int]


class Integers(np.ndarray):
    """Integers whose divisions round toward zero, as those of Triton do."""

    def __floordiv__(self, by: Block) -> Block:
        here = self.view(np.ndarray)
        quotient = np.abs(here) // np.abs(np.asarray(by))
        return np.asarray(np.sign(here) * np.sign(by) * quotient).view(Integers)

    def __mod__(self, by: Block) -> Block:
        return self - by * (self // by)

    def __iadd__(self, by: Block) -> Block:
        """A new block: other names of this one keep it."""
        return self + by


class Pointer:
    """An argument that points into memory, and offsets from it."""

    def __init__(self, name: str, offsets: Block = 0) -> None:
        self.name = name
        self.offsets = np.asarray(offsets)

    def __add__(self, by: Block) -> Pointer:
        return Pointer(self.name, self.offsets + by)

    __radd__ = __add__

    def __sub__(self, by: Block) -> Pointer:
        return Pointer(self.name, self.offsets - by)


@dataclass
class BlockPointer:
    """What ``tl.make_block_ptr`` gives, and a tensor descriptor with its offsets."""

    base: Pointer
    shape: Numbers
    strides: Numbers
    offsets: Numbers
    block: Numbers

    def at(self, checked: Sequence[int]) -> tuple[Pointer, Block]:
        """The addresses, and where these lie within the tensor."""
        places = np.indices(self.block)
        index = [place + offset for place, offset in zip(places, self.offsets, strict=True)]
        mask = np.ones(self.block, dtype=bool)
        for axis in checked:
            mask &= (index[axis] >= 0) & (index[axis] < self.shape[axis])
        by = sum(each * stride for each, stride in zip(index, self.strides, strict=True))
        return self.base + by, mask

    def load(self, offsets: Numbers) -> Block:
        return tl.note("load", *replace(self, offsets=offsets).at(range(len(self.block))))


Touched = tuple[int, ...]
"""Program ids, the place in the block, and the offset."""


class Language:
    """The functions of ``tl`` that our kernels call, for the program that runs."""

    float32, int32, constexpr = "tl.float32", "tl.int32", object
    range, static_range = range, range
    minimum, maximum = staticmethod(np.minimum), staticmethod(np.maximum)
    exp, sqrt = staticmethod(np.exp), staticmethod(np.sqrt)
    sum, max = staticmethod(np.sum), staticmethod(np.max)
    expand_dims, trans = staticmethod(np.expand_dims), staticmethod(np.transpose)

    def __init__(self) -> None:
        self.grid: Sequence[int] = ()
        self.program: Sequence[int] = ()
        self.touched: dict[tuple[int, str, str], list[Touched]] = defaultdict(list)

    def program_id(self, axis: int) -> int:
        return self.program[axis]

    def num_programs(self, axis: int) -> int:
        return self.grid[axis]

    def where(self, test: Block, one: Block, other: Block) -> Block:
        return np.where(test, one, other).view(Integers)

    def arange(self, start: int, end: int) -> Block:
        return np.arange(start, end).view(Integers)

    def cdiv(self, one: int, other: int) -> int:
        return (one + other - 1) // other

    def zeros(self, shape: Numbers, **_named: object) -> Block:
        return np.zeros(shape)

    def dot(self, one: Block, other: Block, total: Block = 0) -> Block:
        return one @ other + total

    def static_assert(self, condition: object) -> None:
        """Nothing."""

    def make_block_ptr(self, base: Pointer, *parts: Numbers, **named: Numbers) -> BlockPointer:
        given = [*parts, *named.values()]
        return BlockPointer(base, *given[:4])

    def make_tensor_descriptor(self, base: Pointer, **named: Numbers) -> BlockPointer:
        return BlockPointer(base, named["shape"], named["strides"], (), named["block_shape"])

    def advance(self, pointer: BlockPointer, by: Numbers) -> BlockPointer:
        return replace(pointer, offsets=np.add(pointer.offsets, by).tolist())

    def load(self, pointer: Pointer | BlockPointer, mask: Block = None, **named: Block) -> Block:
        if isinstance(pointer, BlockPointer):
            pointer, mask = pointer.at(named.get("boundary_check", ()))
        return self.note("load", pointer, mask)

    def store(self, pointer: Pointer, _value: Block, mask: Block = None) -> None:
        self.note("store", pointer, mask)

    def atomic_add(self, pointer: Pointer, _value: Block, mask: Block = None) -> None:
        self.note("atomic_add", pointer, mask)

    def note(self, kind: str, pointer: Pointer, mask: Block) -> Block:
        """Note each element that is touched; what is loaded are its offsets."""
        held, offsets = np.broadcast_arrays(True if mask is None else mask, pointer.offsets)
        touched = self.touched[line_of_kernel(), kind, pointer.name]
        for place in zip(*np.nonzero(held), strict=True) if held.ndim else [()] * bool(held):
            touched.append((*self.program, *map(int, place), int(offsets[place])))
        return np.where(held, offsets, 0.0)


def line_of_kernel() -> int:
    """The line that is run of the function that called something here."""
    frame = inspect.currentframe()
    while frame is not None and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    return 0 if frame is None else frame.f_lineno


tl = Language()


triton = SimpleNamespace(jit=lambda function: function)
"""The module."""


def run(
    kernel: Callable[..., Any], grid: Sequence[int], values: Mapping[str, Any]
) -> dict[tuple[int, str, str], list[Touched]]:
    """What the programs of a grid touch, by line, kind and pointer; sorted."""
    tl.grid = grid
    tl.touched.clear()
    for program in product(*map(range, grid)):
        tl.program = program
        kernel(**values)
    return {key: sorted(found) for key, found in tl.touched.items()}
