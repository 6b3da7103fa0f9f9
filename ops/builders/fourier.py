"""Fast Fourier transforms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexing.layout import ShapeError
from ops.builders.building import checked_integers, checked_sizes, paired
from ops.builders.op_indexing import OpIndexing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ops.builders.building import Sizes


def fft(operand_sizes: Sizes, fft_type: str, fft_length: Sequence[int]) -> OpIndexing:
    """Every element of the result sums all elements along the trailing, transformed dimensions.

    Shapes:
        operand, result: the trailing dimensions have the sizes ``fft_length``, but for the last
            one of the result of an ``RFFT`` and of the operand of an ``IRFFT``: of ``n`` numbers
            that belong to real ones, ``n // 2 + 1`` are kept, or none of none.

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


def fft_sizes(operand_sizes: Sizes, fft_type: str, fft_length: Sequence[int]) -> tuple[int, ...]:
    """The sizes of the result of :func:`fft`, and the errors it raises.

    >>> fft_sizes((5, 9), "IRFFT", (17,))
    (5, 17)
    """
    sizes = checked_sizes("fft", "operand", operand_sizes)
    lengths = _checked_lengths(fft_length, len(sizes))
    if fft_type not in _TYPES:
        raise ShapeError(f"fft: the type is {fft_type!r}; expected one of {', '.join(_TYPES)}")
    halved = (*lengths[:-1], lengths[-1] // 2 + 1 if lengths[-1] else 0)
    batch = sizes[: len(sizes) - len(lengths)]
    _check_trailing(sizes, (*batch, *(halved if fft_type == "IRFFT" else lengths)))
    return (*batch, *(halved if fft_type == "RFFT" else lengths))


_TYPES = ("FFT", "IFFT", "RFFT", "IRFFT")
_MOST_LENGTHS = 3


def _checked_lengths(fft_length: Sequence[int], rank: int) -> tuple[int, ...]:
    lengths = checked_integers("fft", "fft_length", fft_length)
    most = min(rank, _MOST_LENGTHS)
    if not 1 <= len(lengths) <= most:
        message = f"fft: fft_length has {len(lengths)} entries for an operand of rank {rank}"
        raise ShapeError(f"{message}; expected 1 to {_MOST_LENGTHS}, and no more than the rank")
    return lengths


def _check_trailing(sizes: Sizes, expected: Sizes) -> None:
    for place, (size, wanted) in enumerate(zip(sizes, expected, strict=True)):
        if size != wanted:
            raise ShapeError(f"fft: operand dimension {place} has size {size}; expected {wanted}")
