"""Instructions on matrices and signals: Cholesky decomposition, triangular solve, fft."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ops.adapters.shared import sizes_of
from ops.builders.fourier import fft
from ops.builders.linear_algebra import cholesky, triangular_solve

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.adapters.shared import Builder
    from ops.builders.op_indexing import OpIndexing
    from ops.hlo import Instruction


def _cholesky(instruction: Instruction) -> OpIndexing:
    lower = instruction.attributes.get("lower", False)
    return cholesky(sizes_of(instruction.operands[0]), lower=lower)


_SOLVING: Final = ("left_side", "lower", "transpose_a", "unit_diagonal")


def _triangular_solve(instruction: Instruction) -> OpIndexing:
    a, b = instruction.operands
    given = instruction.attributes
    options = {name: given[name] for name in _SOLVING if name in given}
    return triangular_solve(sizes_of(a), sizes_of(b), **options)


def _fft(instruction: Instruction) -> OpIndexing:
    (operand,) = instruction.operands
    given = instruction.attributes
    return fft(sizes_of(operand), given["fft_type"], given["fft_length"])


BUILDERS: Final[Mapping[str, Builder]] = {
    "cholesky": _cholesky,
    "fft": _fft,
    "triangular-solve": _triangular_solve,
}
