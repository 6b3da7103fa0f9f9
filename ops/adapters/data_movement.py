"""Instructions that move elements: to other places, into other shapes, along new dimensions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ops.adapters.shared import check_scalars, only_dimension, sizes_of
from ops.builders.bitcasting import bitcast, bitcast_convert
from ops.builders.broadcasting import broadcast
from ops.builders.op_indexing import OpIndexing, Unknown
from ops.builders.padding import pad
from ops.builders.reordering import reverse, transpose
from ops.builders.reshaping import reshape
from ops.builders.shuffling import permute, rotate
from ops.builders.slicing import concatenate, slice  # noqa: A004 - the operation's name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ops.adapters.shared import Builder
    from ops.hlo import Instruction


def _on_dimensions(build: Callable[[tuple[int, ...], tuple[int, ...]], OpIndexing]) -> Builder:
    """A builder of the operand's sizes and the attribute ``dimensions``."""

    def adapted(instruction: Instruction) -> OpIndexing:
        return build(sizes_of(instruction.operands[0]), instruction.attributes["dimensions"])

    return adapted


def _between_shapes(build: Callable[[tuple[int, ...], tuple[int, ...]], OpIndexing]) -> Builder:
    """A builder of the operand's sizes and the result's."""

    def adapted(instruction: Instruction) -> OpIndexing:
        return build(sizes_of(instruction.operands[0]), sizes_of(instruction))

    return adapted


def _broadcast(instruction: Instruction) -> OpIndexing:
    (operand,) = instruction.operands
    return broadcast(sizes_of(operand), sizes_of(instruction), instruction.attributes["dimensions"])


def _bitcast(instruction: Instruction) -> OpIndexing:
    (operand,) = instruction.operands
    return bitcast(operand.shape, instruction.shape)


def _slice(instruction: Instruction) -> OpIndexing:
    (operand,) = instruction.operands
    bounds = instruction.attributes["slice"]
    starts, limits, strides = ([triple[place] for triple in bounds] for place in range(3))
    return slice(sizes_of(operand), starts, limits, strides)


def _concatenate(instruction: Instruction) -> OpIndexing:
    sizes = [sizes_of(operand) for operand in instruction.operands]
    return concatenate(sizes, only_dimension(instruction))


def _pad(instruction: Instruction) -> OpIndexing:
    operand, value = instruction.operands
    check_scalars("pad", [value])
    return pad(sizes_of(operand), instruction.attributes["padding"])


def _shuffle(instruction: Instruction) -> OpIndexing | Unknown:
    (operand,) = instruction.operands
    sizes, attributes = sizes_of(operand), instruction.attributes
    match attributes["mode"]:
        case "rotate":
            return rotate(sizes, attributes["dimensions"], attributes.get("shifts", ()))
        case "permute":
            return permute(sizes, attributes["dimensions"])
        case mode:
            return Unknown(f"shuffle: no indexing map of mode {mode}")


BUILDERS: Final[Mapping[str, Builder]] = {
    "bitcast": _bitcast,
    "bitcast-convert": _between_shapes(bitcast_convert),
    "broadcast": _broadcast,
    "concatenate": _concatenate,
    "pad": _pad,
    "reshape": _between_shapes(reshape),
    "reverse": _on_dimensions(reverse),
    "shuffle": _shuffle,
    "slice": _slice,
    "transpose": _on_dimensions(transpose),
}
