"""Whole kernels of random programs, in each language, compared with what XLA computes.

C is compiled with the sanitizers of gcc; CUDA as C++, where threads are a loop; Triton runs in the
stand-in of the tests.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np

from benchmarks.fuzzing.kernel_programs import text_of
from benchmarks.problems import seeded
from indexing.layout import ElementType, Kind, Shape
from ops import Fusion, emit_kernel, hlo
from ops.hlo import Computation
from ops.kernels import KernelError, tiles
from ops.kernels.operations import TYPES
from tests.kernels.fusions import in_memory, run_in_numpy
from tests.kernels.triton_stand_in import run
from tests.ops import oracle

Array = np.ndarray[Any, np.dtype[Any]]

LANGUAGES: Final = ("numpy", "triton", "c", "cuda")
SMALL_BLOCK: Final = 8
"""Every other kernel in Triton has vectors of so many elements at most, so that they are loops."""
SIMPLIFIERS: Final = "algsimp,constant_folding"
"""Passes of XLA that forget where folds start, fold ``exponential(nan)`` to 0, and end on windows
whose padding is negative."""

LARGE_BLOCK: Final = tiles.BLOCK

OF_EXTREMES, EXTREMES = 0.3, 0.2
"""So many parameters have values at the ends of their type, and so many of these are."""

_SHAPE: Final = re.compile(r"(\w+)\[\S*")

BATCH: Final = 50
"""Kernels in one file: compilers take most of their time to begin."""


@dataclass(frozen=True, eq=False)
class Case:
    """A program, values for its parameters, and what XLA makes of them."""

    name: str
    text: str
    computation: Computation
    operands: Sequence[Array]
    expected: Sequence[Array]

    @classmethod
    def of(cls, name: str, text: str, operands: Sequence[Array] | None = None) -> Case:
        """The case of a program.

        Raises:
            RuntimeError: XLA does not run it.
        """
        entry = hlo.parse(text).entry
        if operands is None:
            draw = np.random.default_rng([*name.encode()])
            operands = [drawn(each.shape, draw) for each in entry.parameters]
        return cls(name, text, entry, operands, oracle.program(text, SIMPLIFIERS)(*operands))

    @property
    def results(self) -> Sequence[Shape]:
        """The shapes of the results."""
        return self.computation.root.shape.arrays

    @property
    def held(self) -> list[Array]:
        """The operands as they lie in memory."""
        pairs = zip(self.operands, self.computation.parameters, strict=True)
        return [in_memory(values, each.shape) for values, each in pairs]

    @property
    def places(self) -> list[Array]:
        """Memory for the results."""
        pairs = zip(self.expected, self.results, strict=True)
        return [np.full_like(in_memory(values, shape), 1) for values, shape in pairs]

    def complaint(self, found: Sequence[Array]) -> str:
        """What is wrong with results that lie in memory; empty if nothing is."""
        for number, (each, right, shape) in enumerate(
            zip(found, self.expected, self.results, strict=True)
        ):
            wanted = in_memory(right, shape).reshape(-1)
            if not _is_near(each.reshape(-1), wanted, shape.element_type):
                return f"result {number}: {each.reshape(-1)[:12]} for {wanted[:12]}"
        return ""


def drawn(shape: Shape, draw: np.random.Generator) -> Array:
    """Values of a parameter: small ones, and seldom those at the ends of their type."""
    sizes, element_type = shape.dimensions, shape.element_type
    if element_type.kind is Kind.BOOLEAN:
        return draw.integers(0, 2, sizes).astype(bool)
    least = 0 if element_type.kind is Kind.UNSIGNED else -4
    values = draw.integers(least, 5, sizes).astype(oracle.dtype_of(shape))
    is_float, range_ = element_type.kind is Kind.FLOAT, element_type.value_range
    ends = [np.nan, np.inf, -np.inf, 0.5] if is_float else [range_.lower, range_.upper]
    if draw.random() < OF_EXTREMES:
        is_end = draw.random(sizes) < EXTREMES
        extreme = np.asarray(draw.choice(np.array(ends, values.dtype), sizes), values.dtype)
        values = np.where(is_end, extreme, values)
    return np.asarray(values, oracle.dtype_of(shape)).reshape(sizes)


def _is_near(found: Array, wanted: Array, element_type: ElementType) -> bool:
    if element_type.kind is not Kind.FLOAT:
        return np.array_equal(found, wanted)
    tolerance = {16: 3e-2, 32: 2e-5, 64: 1e-9}[element_type.bits]
    wide = found.astype(np.float64), wanted.astype(np.float64)
    return np.allclose(*wide, rtol=tolerance, atol=tolerance, equal_nan=True)


# Languages.


def _numpy(cases: Mapping[Case, str]) -> Iterator[tuple[Case, str]]:
    for case, text in cases.items():
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = run_in_numpy(text, "kernel", case.operands)
        pairs = zip(found, case.expected, strict=True)
        if any((one.shape, one.dtype) != (right.shape, right.dtype) for one, right in pairs):
            yield case, f"shapes or types: {[(one.shape, one.dtype) for one in found]}"
            continue
        laid_out = [in_memory(each, s) for each, s in zip(found, case.results, strict=True)]
        yield case, case.complaint(laid_out)


def _triton(cases: Mapping[Case, str]) -> Iterator[tuple[Case, str]]:
    for case, text in cases.items():
        places = [each.reshape(-1) for each in case.places]
        run(text, "kernel", [*(each.reshape(-1) for each in case.held), *places])
        yield case, case.complaint(places)


_FLAGS: Final = (
    *("-O1", "-g0", "-ffp-contract=off", "-fopenmp-simd"),
    *("-fsanitize=address,undefined", "-fno-sanitize-recover=all"),
)
STRICT: Final = ("-Wall", "-Werror", "-Wno-unused-variable")
# Random programs compare values with themselves.
C_FLAGS: Final = ("-std=gnu11", *STRICT, "-Wno-tautological-compare", *_FLAGS)
CUDA_FLAGS: Final = ("-x", "c++", "-w", *_FLAGS, "-I.")

_CUDA_HEAD: Final = """
#include <math.h>
#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
struct Place { unsigned x, y, z; };
static Place blockIdx, threadIdx, blockDim = {4, 1, 1};
"""
_CUDA_HALVES: Final = """
#pragma once
typedef _Float16 __half;
static inline float __half2float(__half value) { return (float)value; }
static inline __half __float2half(float value) { return (__half)value; }
"""
_HARNESS: Final = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void *taken(FILE *in, size_t size) {
  void *values = malloc(size);
  if (fread(values, 1, size, in) != size) exit(9);
  return values;
}
"""


def _compiled(
    cases: Mapping[Case, str], compiler: str, flags: Sequence[str], head: str, call: str
) -> Iterator[tuple[Case, str]]:
    """Each kernel of one file is run in a process of its own, which the sanitizers may end."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "cuda_fp16.h").write_text(_CUDA_HALVES)
        parts = [head, _HARNESS, *cases.values(), *_calls(cases, call)]
        (folder / "kernels.c").write_text("\n".join(parts))
        command = [compiler, *flags, "-o", "kernels", "kernels.c", "-lm"]
        built = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if built.returncode:
            raise RuntimeError(built.stderr[:2000])
        for number, case in enumerate(cases):
            given = b"".join(each.tobytes() for each in (*case.held, *case.places))
            command = [str(folder / "kernels"), str(number)]
            ran = subprocess.run(command, input=given, capture_output=True, check=False)
            yield case, _said(case, ran)


def _said(case: Case, ran: subprocess.CompletedProcess[bytes]) -> str:
    if ran.returncode:
        return ran.stderr.decode(errors="replace")[:400]
    found: list[Array] = []
    start = 0
    for place in case.places:
        end = start + place.nbytes
        found.append(np.frombuffer(ran.stdout[start:end], place.dtype))
        start = end
    return case.complaint(found)


def _calls(cases: Mapping[Case, str], call: str) -> Iterator[str]:
    yield "int main(int count, char **given) { (void)count; switch (atoi(given[1])) {"
    for number, case in enumerate(cases):
        held, places = case.held, case.places
        shapes = [*(each.shape for each in case.computation.parameters), *case.results]
        yield f"case {number}: {{"
        for place, values in enumerate((*held, *places)):
            yield f"  void *a{place} = taken(stdin, {values.nbytes});"
        casts = [f"({TYPES[each.element_type]} *)a{place}" for place, each in enumerate(shapes)]
        size = max(place.size for place in places)
        called = f"kernel{number}({', '.join(casts)})"
        yield f"  {call.format(call=called, blocks=-(-size // 4))}"
        for place, values in enumerate(places, len(held)):
            yield f"  fwrite(a{place}, 1, {values.nbytes}, stdout);"
        yield f"  {' '.join(f'free(a{place});' for place in range(len(shapes)))} break; }}"
    yield "} return 0; }"


def _c(cases: Mapping[Case, str]) -> Iterator[tuple[Case, str]]:
    return _compiled(cases, "gcc", C_FLAGS, "", "{call};")


def _cuda(cases: Mapping[Case, str]) -> Iterator[tuple[Case, str]]:
    threads = (
        "for (blockIdx.x = 0; blockIdx.x < {blocks}; ++blockIdx.x) "
        "for (threadIdx.x = 0; threadIdx.x < 4; ++threadIdx.x) {call};"
    )
    return _compiled(cases, "g++", CUDA_FLAGS, _CUDA_HEAD, threads)


RUNNERS: Final[Mapping[str, Callable[[Mapping[Case, str]], Iterator[tuple[Case, str]]]]] = {
    "numpy": _numpy,
    "triton": _triton,
    "c": _c,
    "cuda": _cuda,
}


def runnable() -> list[str]:
    """The languages that run here."""
    needs = {"c": "gcc", "cuda": "g++"}
    return [each for each in LANGUAGES if each not in needs or shutil.which(needs[each])]


@dataclass
class Tally:
    """What a search has seen, by language, and why kernels were refused."""

    right: Counter[str] = field(default_factory=Counter[str])
    refused: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    not_run: int = 0

    def __str__(self) -> str:
        rows = [f"{count} right in {language}" for language, count in self.right.items()]
        rows += [
            f"{count} refused in {': '.join(why)}" for why, count in self.refused.most_common()
        ]
        return "\n".join([*rows, f"{self.not_run} not run by XLA"])


def search(seed: int, numbers: range, tally: Tally) -> Iterator[tuple[Case, str, str]]:
    """The random programs with these numbers that a language computes wrongly, and how."""
    for first in numbers[::BATCH]:
        cases = cases_of(seed, range(first, min(first + BATCH, numbers.stop)), tally)
        for language in runnable():
            for case, said in complaints(cases, language, tally):
                yield case, language, said


def complaints(cases: Sequence[Case], language: str, tally: Tally) -> Iterator[tuple[Case, str]]:
    """The cases that a language computes wrongly, and how."""
    texts: dict[Case, str] = {}
    for number, case in enumerate(cases):
        tiles.BLOCK = SMALL_BLOCK if number % 2 else LARGE_BLOCK
        name = f"kernel{len(texts)}" if language in ("c", "cuda") else "kernel"
        try:
            texts[case] = emit_kernel(Fusion.of_computation(case.computation), language, name)
        except KernelError as error:
            reason = _SHAPE.sub(r"\1", str(error).split(": ", 2)[-1])
            tally.refused[language, reason] += 1
        except Exception as error:  # noqa: BLE001 - any exception at all is a find
            yield case, f"{type(error).__name__}: {error}"
    tiles.BLOCK = LARGE_BLOCK
    if not texts:
        return
    is_one = language in ("c", "cuda")
    groups = [texts] if is_one else [{case: text} for case, text in texts.items()]
    for group in groups:
        try:
            for case, said in RUNNERS[language](group):
                if said:
                    yield case, said
                else:
                    tally.right[language] += 1
        except Exception as error:  # noqa: BLE001 - any exception at all is a find
            yield next(iter(group)), f"{type(error).__name__}: {error}"


def cases_of(seed: int, numbers: range, tally: Tally) -> list[Case]:
    """The random cases with these numbers that XLA runs."""
    found: list[Case] = []
    for number in numbers:
        name = f"{seed}/{number}"
        try:
            found.append(Case.of(name, text_of(seeded("kernels", name))))
        except RuntimeError:
            tally.not_run += 1
    return found
