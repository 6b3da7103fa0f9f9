"""Tensors made from nothing, or from a few numbers: constants, iotas, random numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ops.index_maps import (
    checked_operand_count,
    checked_sizes,
    every_element,
    no_dimensions,
    paired,
)
from ops.rules.op_indexing import OpIndexing
from ops.rules.rule import OpRule, check_scalars, sizes_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.hlo import Instruction
    from ops.index_maps import Sizes


def generated(output_sizes: Sizes) -> OpIndexing:
    """Makes a tensor from nothing: a constant, an iota.

    >>> generated((5, 111)).output_to_input
    ()
    """
    return OpIndexing(checked_sizes("generated", "output", output_sizes))


def rng(output_sizes: Sizes, parameters: int = 2) -> OpIndexing:
    """Draws random numbers from a distribution with scalar parameters.

    Shapes:
        parameters: scalars, such as the bounds of a uniform distribution.
        result: ``output_sizes``.

    Source:
        XLA operation semantics, RngNormal and RngUniform.

    >>> print(rng((4,)).output_to_input[1])
    (d0) -> (), domain: d0 in [0, 3]
    """
    sizes = checked_sizes("rng", "result", output_sizes)
    parameters = checked_operand_count("rng", "parameters", parameters)
    return OpIndexing(
        sizes, (no_dimensions(sizes),) * parameters, (every_element(sizes),) * parameters
    )


def rng_bit_generator(state_sizes: Sizes, output_sizes: Sizes) -> tuple[OpIndexing, OpIndexing]:
    """Makes random bits and the next state from a state.

    The results are the next state and the bits. The algorithm is free: each element of either may
    depend on all of the state.

    Shapes:
        state, next state: ``state_sizes``.
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


# Reading instructions.


def _generated(instruction: Instruction) -> OpIndexing:
    return generated(sizes_of(instruction))


_FROM_NOTHING: Final = (
    "constant",
    "iota",
    "partition-id",
    "replica-id",
    "rng-get-and-update-state",
)


def _rng(instruction: Instruction) -> OpIndexing:
    check_scalars("rng", instruction.operands)
    return rng(sizes_of(instruction), len(instruction.operands))


def _rng_bit_generator(instruction: Instruction) -> tuple[OpIndexing, ...]:
    """The bits alone, if the result is no tuple: so programs for TPUs write it."""
    bits = instruction.shape.arrays[-1]
    both = rng_bit_generator(sizes_of(instruction.operands[0]), bits.dimensions)
    return both if instruction.shape.is_tuple else both[1:]


RULES: Final[Mapping[str, OpRule]] = {
    **dict.fromkeys(_FROM_NOTHING, OpRule(_generated)),
    "rng": OpRule(_rng),
    "rng-bit-generator": OpRule(_rng_bit_generator),
}
