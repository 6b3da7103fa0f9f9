"""The stand-in for Triton with pointers of its own, which note what a kernel accesses."""

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

from tests.indexing.stand_in import Tensor, values_in
from tests.kernels.triton_stand_in import LANGUAGE, Pointer

Block = Any
"""A tensor of the stand-in, or a number."""

Numbers = Sequence[int]


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

    range = range

    def __init__(self) -> None:
        self.grid: Sequence[int] = ()
        self.program: Sequence[int] = ()
        self.touched: dict[tuple[int, str, str], list[Touched]] = defaultdict(list)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - a function, or a type
        if name not in LANGUAGE:
            raise AttributeError(f"tl.{name} is not known here")
        return LANGUAGE[name]

    def program_id(self, axis: int) -> int:
        return self.program[axis]

    def num_programs(self, axis: int) -> int:
        return self.grid[axis]

    def cdiv(self, one: int, other: int) -> int:
        return (one + other - 1) // other

    def dot(self, one: Block, other: Block, total: Block = 0) -> Block:
        return total + Tensor(one.values @ other.values)

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
        wanted = values_in(True if mask is None else mask)
        held, offsets = np.broadcast_arrays(wanted, pointer.places)
        touched = self.touched[line_of_kernel(), kind, pointer.array]
        for place in zip(*np.nonzero(held), strict=True) if held.ndim else [()] * bool(held):
            touched.append((*self.program, *map(int, place), int(offsets[place])))
        return Tensor(np.where(held, offsets, 0.0))


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
