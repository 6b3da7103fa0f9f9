"""Times C made from maps of transposes, beside C that takes plain digits.

    python -m benchmarks.c_code
    python -m benchmarks.c_code --count 100 --seed 1

A transpose of an array in memory is a map from the flat index of each element of the result to the
flat index in the operand. The library composes it from a reshape, a transpose and a reshape,
simplifies it and writes it in C. The plain form takes every digit of the flat index and multiplies
it by its stride: ``((i / 96) % 16) * 64 + ...``. The system's compiler compiles both with ``-O2``
and with loops at several alignments: where a loop lies in memory moves its time by up to a quarter.
Both run over all elements, in turn, and the least processor time of all runs counts. Their
checksums must be those of NumPy. Each formula has 32-bit integers if its values fit.
"""

from __future__ import annotations

import argparse
import ctypes
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import prod
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np

import ops
from benchmarks.clock import timed
from benchmarks.problems import seeded
from benchmarks.width import parts
from indexing import IndexingMap
from simplifier.canonical.scope import scope_of
from simplifier.expr.form import Form
from simplifier.fixpoint import range_of

COUNT: Final = 24
RUNS: Final = 15
COMPILER: Final = "cc"
FLAGS: Final = ("-std=c11", "-O2", "-shared", "-fPIC")

ALIGNMENTS: Final = (1, 32, 64)
"""Of loops, in bytes; the least time of all counts."""
NARROW: Final = 32
WIDE: Final = 64
"""The bits of integers."""

SLOWER: Final = 1.05
"""The ratio of times from which a formula counts as slower: less is noise."""

LEAST_ELEMENTS: Final = 1 << 18
MAX_ELEMENTS: Final = 1 << 22
POWERS: Final = (2, 4, 8, 16, 32, 64, 128, 256)
SIZES: Final = (*(3, 5, 6, 7, 10, 12, 15, 24, 28, 33, 48), *(50, 63, 80, 96, 100, 121, 150, 192))


@dataclass(frozen=True)
class Transposition:
    """Dimension ``i`` of the result is dimension ``order[i]`` of the operand, as in NumPy."""

    sizes: tuple[int, ...]
    order: tuple[int, ...]

    @property
    def elements(self) -> int:
        """The number of elements."""
        return prod(self.sizes)

    @property
    def result_sizes(self) -> tuple[int, ...]:
        """The sizes of the result."""
        return tuple(self.sizes[source] for source in self.order)

    @cached_property
    def flat_map(self) -> IndexingMap:
        """From the flat index in the result to that in the operand, simplified.

        >>> Transposition((4, 6), (1, 0)).flat_map.evaluate([1])
        (6,)
        """
        flat = (self.elements,)
        unflatten = ops.reshape(self.result_sizes, flat)
        permute = ops.transpose(self.sizes, self.order)
        flatten = ops.reshape(flat, self.sizes)
        steps = [step.output_to_input[0] for step in (flatten, permute, unflatten)]
        return (steps[0] @ steps[1] @ steps[2]).simplify()

    @property
    def digits(self) -> str:
        """The plain form in C: each digit times its stride; the first needs no remainder.

        >>> Transposition((4, 6), (1, 0)).digits
        '(i / 4) * 1 + ((i / 1) % 4) * 6'
        """
        into, out_of = _strides(self.sizes), _strides(self.result_sizes)
        terms = [
            f"((i / {stride}) % {size}) * {into[source]}"
            for stride, size, source in zip(out_of, self.result_sizes, self.order, strict=True)
        ]
        terms[0] = f"(i / {out_of[0]}) * {into[self.order[0]]}"
        return " + ".join(terms)

    def checksum(self) -> int:
        """The sum over all elements of the result of index times index in the operand."""
        operand = np.arange(self.elements, dtype=np.uint32).reshape(self.sizes)
        values = operand.transpose(self.order).ravel()
        return int((values * np.arange(self.elements, dtype=np.uint32)).sum(dtype=np.uint32))


def _strides(sizes: Sequence[int]) -> list[int]:
    return [prod(sizes[place + 1 :]) for place in range(len(sizes))]


def transpositions(seed: int, count: int) -> list[Transposition]:
    """This many, with sizes that are powers of two, others, and both, in turn."""
    kinds = (POWERS, SIZES, (*POWERS, *SIZES))
    return [_drawn(seeded(seed, number), kinds[number % len(kinds)]) for number in range(count)]


def _drawn(random: Random, sizes: Sequence[int]) -> Transposition:
    while True:
        drawn = tuple(random.choice(sizes) for _ in range(random.choice((2, 3, 3, 4, 4, 5))))
        order = random.sample(range(len(drawn)), len(drawn))
        moves = any(source + 1 != after for source, after in pairwise(order))
        if moves and LEAST_ELEMENTS <= prod(drawn) <= MAX_ELEMENTS:
            return Transposition(drawn, tuple(order))


_HALF: Final = 1 << (NARROW - 1)


def bits_of(found: IndexingMap) -> int:
    """32 if each part of each result fits into 32 bits, else 64."""
    scope = scope_of(tuple(sorted(found.domain.bounds.items())))

    def fits(part: Form) -> bool:
        values = range_of(scope, part)
        lower, upper = values.lower, values.upper
        return lower is not None and upper is not None and -_HALF <= lower <= upper < _HALF

    return NARROW if all(fits(part) for form in found.forms for part in parts(form)) else WIDE


# C.

_LOOPS: Final = """
{ours}
uint32_t sum_ours(int{bits}_t count) {{
  uint32_t sum = 0;
  for (int{bits}_t i = 0; i < count; ++i) {{
    int{bits}_t result;
    index_of(i, &result);
    sum += (uint32_t)result * (uint32_t)i;
  }}
  return sum;
}}

uint32_t sum_plain(int32_t count) {{
  uint32_t sum = 0;
  for (int32_t i = 0; i < count; ++i) sum += (uint32_t)({plain}) * (uint32_t)i;
  return sum;
}}
"""


def source(transposition: Transposition) -> str:
    """Both functions, ours with the integers that it needs."""
    found = transposition.flat_map
    bits = bits_of(found)
    ours = found.to_c("index_of").replace("int64_t", f"int{bits}_t")
    return _LOOPS.format(ours=ours, bits=bits, plain=transposition.digits)


def compiled(transposition: Transposition, folder: Path, alignment: int = 32) -> ctypes.CDLL:
    """The functions of a transposition as a library, with loops so aligned."""
    text, library = folder / "map.c", folder / f"map{alignment}.so"
    text.write_text(source(transposition), "utf-8")
    command = [COMPILER, *FLAGS, f"-falign-loops={alignment}", "-o", str(library), str(text)]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(library))


# Times.


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds over all elements."""

    ours: float
    plain: float

    @property
    def ratio(self) -> float:
        """Ours by the plain form's."""
        return self.ours / self.plain


def times_of(transposition: Transposition, runs: int) -> Times:
    """The least times of runs in turn.

    Raises:
        ArithmeticError: a checksum is wrong.
    """
    expected = transposition.checksum()
    rounds: list[tuple[float, float]] = []
    with TemporaryDirectory() as folder:
        for alignment in ALIGNMENTS:
            library = compiled(transposition, Path(folder), alignment)
            ours = _function(library.sum_ours, bits_of(transposition.flat_map))
            plain = _function(library.sum_plain, NARROW)
            rounds += [
                (_seconds(ours, transposition, expected), _seconds(plain, transposition, expected))
                for _ in range(runs)
            ]
    return Times(*map(min, zip(*rounds, strict=True)))


def _function(function: ctypes._NamedFuncPointer, bits: int) -> Callable[[int], int]:
    function.argtypes = [ctypes.c_int32 if bits == NARROW else ctypes.c_int64]
    function.restype = ctypes.c_uint32
    return function


def _seconds(function: Callable[[int], int], transposition: Transposition, expected: int) -> float:
    found, seconds = timed(lambda: function(transposition.elements))
    if found != expected:
        message = f"{transposition}: the checksum is {found}; NumPy's is {expected}"
        raise ArithmeticError(message)
    return seconds


# The program.


def main(arguments: list[str] | None = None) -> None:
    """Print one line a transposition, and the total."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=COUNT, help=f"transposes ({COUNT})")
    parser.add_argument("--seed", type=int, default=0, help="the seed of the transposes (0)")
    parser.add_argument("--runs", type=int, default=RUNS, help=f"runs of each loop ({RUNS})")
    options = parser.parse_args(arguments)
    if shutil.which(COMPILER) is None:
        print(f"skipped: there is no C compiler: {COMPILER}")
        return
    _print_report(transpositions(options.seed, options.count), options.runs)


def _print_report(drawn: Sequence[Transposition], runs: int) -> None:
    print(f"{'sizes':24}{'order':18}{'bits':>5}{'ours ns':>9}{'plain ns':>9}{'ratio':>7}  ours")
    rows: list[Times] = []
    for transposition in drawn:
        rows.append(times_of(transposition, runs))
        print("".join(_cells(transposition, rows[-1])), flush=True)
    total = Times(sum(row.ours for row in rows), sum(row.plain for row in rows))
    wide = sum(bits_of(transposition.flat_map) == WIDE for transposition in drawn)
    slower = sum(row.ratio > SLOWER for row in rows)
    print(
        f"total: ours {total.ours * 1e3:.1f} ms, plain {total.plain * 1e3:.1f} ms, "
        f"ratio {total.ratio:.2f}; worst ratio {max(row.ratio for row in rows):.2f}; "
        f"more than {SLOWER - 1:.0%} slower: {slower} of {len(rows)}; in {WIDE} bits: {wide}"
    )


def _cells(transposition: Transposition, times: Times) -> Iterator[str]:
    """Nanoseconds are those of one element."""
    yield f"{'x'.join(map(str, transposition.sizes)):24}"
    yield f"{' '.join(map(str, transposition.order)):18}"
    yield f"{bits_of(transposition.flat_map):5}"
    for seconds in (times.ours, times.plain):
        yield f"{seconds / transposition.elements * 1e9:9.2f}"
    formulas = str(transposition.flat_map).partition(" -> ")[2].partition(", domain")[0]
    yield f"{times.ratio:7.2f}  {formulas}"


if __name__ == "__main__":
    main()
