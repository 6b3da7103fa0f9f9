"""Which of XLA's GPU emitters makes the kernel of a fusion, and for which of its instructions.

An emitter is made for one operation, the hero. It is found behind what computes element by element
or is the same memory; and it takes the emitter only where that is faster than a plain loop.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Final

from indexing.layout import ShapeError
from ops.rules.elementwise import ELEMENTWISE
from ops.schedules import ReductionDimensions
from ops.schedules.launch import WARP_SIZE
from ops.schedules.transpose_schedule import joined_in_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ops.hlo import Instruction

SHORTEST_SIDE: Final = 16
"""Both sides of a matrix that the transpose emitter turns have so many elements at least."""

_SHORTEST_SIDE_OF_LARGE: Final = 8
_LARGE: Final = 64 * 128
"""A matrix of so many elements may have shorter sides."""

_MOST_BITS_OF_VECTOR: Final = 64
"""A last dimension of so many bits may stay the last."""

_FEWEST_ROWS: Final = ((4 * WARP_SIZE, 8), (8 * WARP_SIZE, 3))
"""A loop folds columns of fewer elements than the first if there are fewer than the second."""

_SAME_MEMORY: Final = frozenset({"bitcast", "get-tuple-element", "reshape"})
_LOOKED_THROUGH: Final = ELEMENTWISE | _SAME_MEMORY


class Emitter(enum.Enum):
    """What makes a kernel; each has a schedule in :mod:`ops.schedules`."""

    LOOP = "loop"
    TRANSPOSE = "transpose"
    REDUCTION = "reduction"
    CONCATENATE = "concatenate"
    IN_PLACE_UPDATE = "in-place update"


def results_of(root: Instruction) -> list[Instruction]:
    """What gives each array of a root, where that is a tuple of instructions."""
    results: list[Instruction] = []
    waiting = [root]
    while waiting:
        instruction = waiting.pop()
        if instruction.opcode == "tuple":
            waiting += reversed(instruction.operands)
        else:
            results += [instruction] * len(instruction.shape.arrays)
    return results


def emitter_and_heroes(root: Instruction) -> tuple[Emitter, tuple[Instruction | None, ...]]:
    """The emitter of a fusion with this root, and the hero of each array of its result, if any.

    Source:
        XLA's ``HloFusionAnalysis``: reductions before transposes, before what has one result only.
    """
    results = results_of(root)
    for emitter, is_hero in _HEROES.items():
        through = _SAME_MEMORY if emitter is Emitter.IN_PLACE_UPDATE else _LOOKED_THROUGH
        heroes = tuple(_hero(result, is_hero, through) for result in results)
        if any(heroes) and (emitter not in _OF_ONE_RESULT or len(results) == 1):
            return emitter, heroes
    return Emitter.LOOP, (None,) * len(results)


def _hero(
    result: Instruction, is_hero: Callable[[Instruction], bool], through: frozenset[str]
) -> Instruction | None:
    """The only one of its kind that a result is made of through some opcodes."""
    found = [each for each in _leading_to(result, through) if is_hero(each)]
    return found[0] if len(found) == 1 else None


def _leading_to(result: Instruction, through: frozenset[str]) -> Iterator[Instruction]:
    """The instructions that a result is made of through some opcodes, and itself."""
    waiting, seen = [result], {result}
    while waiting:
        instruction = waiting.pop()
        yield instruction
        if instruction.opcode in through:
            fresh = [each for each in instruction.operands if each not in seen]
            waiting += fresh
            seen |= {*fresh}


def _is_fast_reduction(instruction: Instruction) -> bool:
    """Whether rows or columns are long enough for threads to share them."""
    if instruction.opcode != "reduce":
        return False
    try:
        found = ReductionDimensions.of(
            instruction.operands[0].shape, instruction.attributes["dimensions"]
        )
    except ShapeError:
        return False
    _, folded, columns = found.sizes
    if found.of_rows:
        return columns >= WARP_SIZE or (columns > 0 and WARP_SIZE % columns == 0)
    few = ((WARP_SIZE, columns + 1), (2 * WARP_SIZE, WARP_SIZE), *_FEWEST_ROWS)
    return not any(folded < rows and columns < most for rows, most in few)


def _is_tiled_transpose(instruction: Instruction) -> bool:
    """Whether the last dimension in memory changes places with one that is long enough.

    A last one of a few bits may stay.
    """
    if instruction.opcode not in {"copy", "transpose"}:
        return False
    (operand,) = instruction.operands
    sizes, order = joined_in_memory(operand.shape, instruction.shape, permutation_of(instruction))
    if order and order[-1] == len(order) - 1:
        if sizes[-1] * operand.shape.element_size_in_bits > _MOST_BITS_OF_VECTOR:
            return False
        sizes, order = sizes[:-1], order[:-1]
    if not order:
        return False
    sides = sizes[-1], sizes[order[-1]]
    is_large = sides[0] * sides[1] >= _LARGE and min(sides) >= _SHORTEST_SIDE_OF_LARGE
    return min(sides) >= SHORTEST_SIDE or is_large


def _is_update_in_place(instruction: Instruction) -> bool:
    """Whether what is updated is in memory already, an operand of the fusion."""
    if instruction.opcode != "dynamic-update-slice":
        return False
    updated = instruction.operands[0]
    return any(each.opcode == "parameter" for each in _leading_to(updated, _SAME_MEMORY))


def permutation_of(instruction: Instruction) -> tuple[int, ...]:
    """The dimensions of a transpose; those of a copy stay, and only its layout changes."""
    if instruction.opcode == "copy":
        return tuple(range(instruction.shape.rank))
    dimensions: tuple[int, ...] = instruction.attributes["dimensions"]
    return dimensions


_HEROES: Final[Mapping[Emitter, Callable[[Instruction], bool]]] = {
    Emitter.REDUCTION: _is_fast_reduction,
    Emitter.TRANSPOSE: _is_tiled_transpose,
    Emitter.CONCATENATE: lambda instruction: instruction.opcode == "concatenate",
    Emitter.IN_PLACE_UPDATE: _is_update_in_place,
}
_OF_ONE_RESULT: Final = frozenset({Emitter.CONCATENATE, Emitter.IN_PLACE_UPDATE})
