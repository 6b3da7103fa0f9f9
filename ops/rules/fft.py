"""Fast Fourier transforms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ops.hlo.result_sizes import fft_sizes
from ops.index_maps import paired
from ops.rules.op_indexing import OpIndexing
from ops.rules.rule import OpRule, sizes_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ops.hlo import Instruction
    from ops.index_maps import Sizes


def fft(operand_sizes: Sizes, fft_type: str, fft_length: Sequence[int]) -> OpIndexing:
    """Transforms the trailing dimensions: each element sums all elements along them.

    Shapes:
        operand, result: the trailing dimensions have the sizes ``fft_length``. Only the last one of
            the result of an ``RFFT`` and of the operand of an ``IRFFT`` is shorter: it has
            ``n // 2 + 1`` of ``n`` elements, or none of none.

    Source:
        XLA operation semantics, Fft; StableHLO specification, fft.

    Raises:
        ShapeError: the type is none of ``FFT IFFT RFFT IRFFT``, there are not one to three
            lengths, or a trailing dimension of the operand has another size.

    >>> spectrum = fft((5, 16), "RFFT", (16,))
    >>> print(spectrum.output_to_input[0])
    (d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 4], d1 in [0, 8], s0 in [0, 15]
    >>> print(spectrum.input_to_output[0])
    (d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 4], d1 in [0, 15], s0 in [0, 8]
    """
    output_sizes = fft_sizes(operand_sizes, fft_type, fft_length)
    same = [(place, place) for place in range(len(output_sizes) - len(fft_length))]
    to_input, to_output = paired(output_sizes, operand_sizes, same)
    return OpIndexing(output_sizes, (to_input,), (to_output,))


# Reading instructions.


def _fft(instruction: Instruction) -> OpIndexing:
    (operand,) = instruction.operands
    given = instruction.attributes
    return fft(sizes_of(operand), given["fft_type"], given["fft_length"])


RULES: Final[Mapping[str, OpRule]] = {
    "fft": OpRule(_fft),
}
