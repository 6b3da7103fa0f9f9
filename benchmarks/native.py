"""Kernels in C: compiled, called, and compared with NumPy."""

from __future__ import annotations

import ctypes
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Final

import numpy as np

from benchmarks.kernels import HAND_WRITTEN, Array, Kernel

COMPILER: Final = "cc"
FLAGS: Final = (
    *("-std=c11", "-O3", "-march=native", "-fopenmp-simd"),
    *("-falign-functions=64", "-falign-loops=32", "-shared", "-fPIC"),
)
CLOSE: Final = 1e-4
"""How far apart results may be, since sums have another order."""

_REPEAT: Final = """
void repeat_{count}(void (*call)({types}), long rounds, float **a) {{
  while (rounds-- > 0) call({arguments});
}}
"""
MAX_ARRAYS: Final = 12


@dataclass(frozen=True)
class Native:
    """A compiled function and the arrays that it works on."""

    call: ctypes._NamedFuncPointer
    repeat: ctypes._NamedFuncPointer
    operands: Sequence[Array]
    result: Array

    def run(self, rounds: int) -> None:
        """Call the function so often."""
        arrays = [*self.operands, self.result]
        pointers = (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))
        self.repeat(self.call, ctypes.c_long(rounds), pointers)


class Workshop:
    """Compiles functions into a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._numbers = folder, count()
        self._by_hand = self._library("hand_written", HAND_WRITTEN.read_text("utf-8"))
        self._repeats = self._library("repeats", "".join(map(_repeat, range(1, MAX_ARRAYS))))

    def by_hand(self, kernel: Kernel) -> Native:
        """The hand-written function."""
        return self._native(kernel, self._by_hand, kernel.name)

    def emitted(self, kernel: Kernel, text: str) -> Native:
        """The one function of a text."""
        (name,) = re.findall(r"^void (\w+)\(", text, re.MULTILINE)
        return self._native(kernel, self._library(kernel.name, text), name)

    def _native(self, kernel: Kernel, library: ctypes.CDLL, name: str) -> Native:
        repeat = getattr(self._repeats, f"repeat_{len(kernel.operands) + 1}")
        return Native(getattr(library, name), repeat, kernel.operands, kernel.result)

    def _library(self, name: str, text: str) -> ctypes.CDLL:
        stem = f"{name}{next(self._numbers)}"  # a path that is loaded is not loaded again
        source, library = self._folder / f"{stem}.c", self._folder / f"{stem}.so"
        source.write_text(text, "utf-8")
        command = [COMPILER, *FLAGS, "-o", str(library), str(source), "-lm"]
        subprocess.run(command, check=True)
        return ctypes.CDLL(str(library))


def _repeat(count: int) -> str:
    types = ", ".join(["float *"] * count)
    arguments = ", ".join(f"a[{number}]" for number in range(count))
    return _REPEAT.format(count=count, types=types, arguments=arguments)


def check(kernel: Kernel, native: Native, what: str) -> None:
    """Run a function once.

    Raises:
        ArithmeticError: its result is not NumPy's.
    """
    native.result[...] = np.nan
    native.run(1)
    expected = kernel.by_numpy()
    is_close = np.isclose(native.result, expected, rtol=CLOSE, atol=CLOSE)
    if not is_close.all():
        where = tuple(np.argwhere(~is_close)[0])
        found = f"{native.result[where]} at {[*map(int, where)]}; NumPy has {expected[where]}"
        raise ArithmeticError(f"{kernel.name}: {what} gives {found}")
