"""Random numbers: what they are drawn from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ops.builders.building import checked_sizes, every_element, no_dimensions, paired
from ops.builders.op_indexing import OpIndexing

if TYPE_CHECKING:
    from ops.builders.building import Sizes


def rng(output_sizes: Sizes, parameters: int = 2) -> OpIndexing:
    """Every random number is drawn from a distribution that scalars tell.

    Shapes:
        parameters: scalars, such as the bounds of a uniform distribution.
        result: ``output_sizes``.

    Source:
        XLA operation semantics, RngNormal and RngUniform.

    >>> print(rng((4,)).output_to_input[1])
    (d0) -> (), domain: d0 in [0, 3]
    """
    sizes = checked_sizes("rng", "result", output_sizes)
    return OpIndexing(
        sizes, (no_dimensions(sizes),) * parameters, (every_element(sizes),) * parameters
    )


def rng_bit_generator(state_sizes: Sizes, output_sizes: Sizes) -> tuple[OpIndexing, OpIndexing]:
    """Every bit may depend on all of the state, and so may the state that comes after.

    The results are that state, and the bits. What exactly they depend on is left to the algorithm.

    Shapes:
        state, and the state after: ``state_sizes``.
        bits: ``output_sizes``.

    Source:
        XLA operation semantics, RngBitGenerator.

    >>> _, bits = rng_bit_generator((2,), (3, 5))
    >>> print(bits.output_to_input[0])
    (d0, d1)[s0] -> (s0), domain: d0 in [0, 2], d1 in [0, 4], s0 in [0, 1]
    """
    state = checked_sizes("rng-bit-generator", "state", state_sizes)
    bits = checked_sizes("rng-bit-generator", "result", output_sizes)
    after_maps, bits_maps = paired(state, state), paired(bits, state)
    return (
        OpIndexing(state, after_maps[:1], after_maps[1:]),
        OpIndexing(bits, bits_maps[:1], bits_maps[1:]),
    )
