"""Fusions as kernels: the text of one function, with a pointer for each operand and result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from indexing.code import LANGUAGES, check_name
from ops.fusion import Fusion
from ops.hlo.module import Instruction
from ops.kernels.array_kernels import NumpyKernel
from ops.kernels.c_kernel import CKernel
from ops.kernels.elements import KernelError
from ops.kernels.tiles import WantedTiles
from ops.kernels.triton_dots import ContractionKernel
from ops.tiling import TilingCandidate, propagate
from ops.xla_gpu import FusionSchedule, Schedule
from simplifier.errors import check_integers, check_type, listed, quoted

__all__ = ["KernelError", "emit_kernel"]


# The text of a fusion as one function, in any language of a table.

WRITERS: Final[Mapping[str, Callable[[Fusion, str], str]]] = {
    "c": lambda fusion, name: CKernel(fusion, "c").text(name),
    "cuda": lambda fusion, name: CKernel(fusion, "cuda").text(name),
    "triton": lambda fusion, name: ContractionKernel(fusion, name).text(),
    "numpy": lambda fusion, name: NumpyKernel(fusion).text(name),
}

WITH_THREADS: Final = ("c", "cuda")
"""The languages in which a schedule says what each thread computes; in C, threads are loops."""


def emit_kernel(
    fusion: Fusion | Instruction,
    language: str = "c",
    name: str = "kernel",
    *,
    schedule: Schedule | FusionSchedule | None = None,
    tiling: TilingCandidate | Sequence[int] | None = None,
) -> str:
    """A function ``void NAME(const T *operand, ..., T *result, ...)`` that computes a fusion.

    Operands and results are arrays in the layouts of their shapes. In C, loops run over a result in
    the order of its memory; they are split where that spares divisions. In CUDA, each thread
    computes the element of its number, and the launch has as many threads as the largest result
    has elements, or more. In Triton, a program computes a tile of the result, and folds what is
    reduced along an axis of it; ``NAME_programs`` says how many programs there are. In NumPy, the
    function takes arrays and returns the results.

    A result is an array of its own, which shares no memory with operands: a dynamic-update-slice
    copies what it keeps. Indices that are computed are clamped, as in XLA.

    Sizes that only the running program knows, ``?`` and ``<=n``, are arguments behind the arrays,
    integers in the order of their names; comments say what each is. ``NAME_programs`` is a function
    of them then. An array ``?`` lies in memory without gaps, one of ``<=n`` has a place for ``n``;
    in NumPy, arrays have their true sizes. Shapes have to fit the program, as numbers have.

    Args:
        fusion: a fusion, or an instruction: that of a fusion stands for what it calls.
        language: ``"c"``, ``"cuda"``, ``"triton"`` or ``"numpy"``.
        name: of the function.
        schedule: which elements each thread writes, such as :func:`ops.schedule_of` gives; in CUDA
            for its own launch, in C as loops over its coordinates. A thread computes all that its
            elements need.
        tiling: which tiles a program of Triton computes, one of those that :func:`ops.tilings`
            ranks; or their sizes, as for :func:`ops.propagate`: powers of two, or all. Each program
            has one tile of the results, and goes through what is reduced tile by tile.

    Raises:
        KernelError: an operation or an element type that is not emitted, or a size that is not
            known before the kernel runs, with the instruction; a schedule of other arrays; or a
            tiling that Triton does not have.
        TileError: a tiling of other dimensions.
        MapError: a name that the language cannot use.

    >>> from ops import hlo
    >>> module = hlo.parse('''ENTRY e {
    ...   x = f32[8,32] parameter(0)
    ...   turned = f32[32,8] transpose(x), dimensions={1,0}
    ...   ROOT grown = f32[32,8] exponential(turned)
    ... }''')
    >>> print(emit_kernel(Fusion.of_computation(module.entry)))
    #include <math.h>
    #include <stdbool.h>
    #include <stdint.h>
    <BLANKLINE>
    void kernel(const float *restrict x, float *restrict grown) {
      for (int32_t d0 = 0; d0 < 32; ++d0) {
        for (int32_t d1 = 0; d1 < 8; ++d1) {
          const float x_2 = x[d1 * 32 + d0];
          const float grown_2 = expf(x_2);
          grown[d0 * 8 + d1] = grown_2;
        }
      }
    }
    <BLANKLINE>
    """
    check_type(fusion, (Fusion, Instruction), "emit_kernel: fusion", "a Fusion or an Instruction")
    check_type(language, str, "emit_kernel: language", "its name")
    if language not in WRITERS:
        expected = listed(WRITERS)
        raise KernelError(f"emit_kernel: language is {quoted(language)}; expected {expected}")
    check_name(name, "emit_kernel", LANGUAGES[language].reserved)
    fusion = Fusion.of(fusion)
    if schedule is not None:
        check_type(schedule, (Schedule, FusionSchedule), "emit_kernel: schedule", "a schedule")
        if language not in WITH_THREADS:
            reason = f"a schedule has threads, and {language} has none; expected c or cuda"
            raise KernelError(f"emit_kernel: schedule: {reason}")
        return CKernel(fusion, language, schedule).text(name)
    if tiling is not None:
        if language != "triton":
            reason = f"{language} has no tiles; expected triton"
            raise KernelError(f"emit_kernel: tiling: {reason}")
        sizes = tiling.sizes if isinstance(tiling, TilingCandidate) else tiling
        check_integers(sizes, "emit_kernel: tiling")
        return ContractionKernel(fusion, name, WantedTiles(propagate(fusion, sizes))).text()
    return WRITERS[language](fusion, name)
