"""What XLA's GPU emitters are for: which instructions are heroes, and which fit into one kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from indexing.layout import ShapeError, deduce_transpose, reshape_is_bitcast
from ops.rules.elementwise import ELEMENTWISE
from ops.schedules import ReductionDimensions
from ops.schedules.launch import WARP_SIZE
from ops.schedules.packed_transpose_schedule import is_packable
from ops.schedules.transpose_schedule import merged_in_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from indexing.layout import Shape
    from ops.hlo import Instruction


def leading_to(result: Instruction, through: frozenset[str] | None = None) -> Iterator[Instruction]:
    """The instructions that a result is made of through some opcodes or all, and itself."""
    waiting, seen = [result], {result}
    while waiting:
        instruction = waiting.pop()
        yield instruction
        if through is None or instruction.opcode in through:
            fresh = [each for each in instruction.operands if each not in seen]
            waiting += fresh
            seen |= {*fresh}


def each_hero(heroes: Iterable[Instruction | None]) -> list[Instruction]:
    """Each hero once."""
    return list(dict.fromkeys(hero for hero in heroes if hero))


# What each emitter is for.

_SHORTEST_SIDE: Final = 16
"""Both sides of a matrix that the transpose emitter turns have so many elements at least."""

_SHORTEST_SIDE_OF_LARGE: Final = 8
_LARGE: Final = 64 * 128
"""A matrix of so many elements may have shorter sides."""

_MAX_VECTOR_BITS: Final = 64
"""A last dimension of so many bits may stay the last."""

_FEWEST_BITS: Final = 128
"""With it, either dimension that changes places has so many bits at least."""

_FEWEST_ROWS: Final = ((4 * WARP_SIZE, 8), (8 * WARP_SIZE, 3))
"""A loop folds columns of fewer elements than the first if there are fewer than the second."""

SAME_MEMORY: Final = frozenset({"bitcast", "get-tuple-element", "reshape"})
LOOKED_THROUGH: Final = ELEMENTWISE | SAME_MEMORY


def is_fast_reduction(instruction: Instruction) -> bool:
    """Whether rows or columns are long enough for threads to share them."""
    if instruction.opcode != "reduce":
        return False
    try:
        found = reduction_in_memory(instruction)
    except ShapeError:
        return False
    _, folded, columns = found.sizes
    if found.of_rows:
        return columns >= WARP_SIZE or (columns > 0 and WARP_SIZE % columns == 0)
    few = ((WARP_SIZE, columns + 1), (2 * WARP_SIZE, WARP_SIZE), *_FEWEST_ROWS)
    return not any(folded < rows and columns < most for rows, most in few)


def is_tiled_transpose(instruction: Instruction) -> bool:
    """Whether the last dimension in memory changes places with one that is long enough.

    A last one of a few bits may stay, if both neighbours make up 16 bytes with it.
    """
    if instruction.opcode not in {"copy", "transpose"}:
        return False
    sizes, order = transpose_in_memory(instruction)
    if len(order) < 2:  # noqa: PLR2004 - nothing is moved
        return False
    bits = max(1, instruction.shape.element_type.bytes) * 8
    if order[-1] == len(order) - 1:
        vector = sizes[-1] * bits
        sides = sizes[-2], sizes[order[-2]]
        return vector <= _MAX_VECTOR_BITS and vector * min(sides) >= _FEWEST_BITS
    if is_packed_transpose(instruction):
        return True
    sides = sizes[-1], sizes[order[-1]]
    is_large = sides[0] * sides[1] >= _LARGE and min(sides) >= _SHORTEST_SIDE_OF_LARGE
    return min(sides) >= _SHORTEST_SIDE or is_large


def is_packed_transpose(instruction: Instruction) -> bool:
    """Whether the elements are narrow, and words of shared memory hold several of them."""
    return is_packable(*transpose_in_memory(instruction), instruction.shape)


def is_update_in_place(instruction: Instruction) -> bool:
    """Whether what is updated is in memory already, an operand of the fusion."""
    if instruction.opcode != "dynamic-update-slice":
        return False
    return is_in_memory(instruction.operands[0])


def is_in_memory(updated: Instruction) -> bool:
    """Whether it is an operand of the fusion, maybe in another shape."""
    return any(each.opcode == "parameter" for each in leading_to(updated, SAME_MEMORY))


def permutation_of(instruction: Instruction) -> tuple[int, ...]:
    """The dimensions of a transpose; those of a copy stay, and only its layout changes."""
    if instruction.opcode == "copy":
        return tuple(range(instruction.shape.rank))
    dimensions: tuple[int, ...] = instruction.attributes["dimensions"]
    return dimensions


def is_concatenate(instruction: Instruction) -> bool:
    """Whether it puts arrays in a row."""
    return instruction.opcode == "concatenate"


def is_scatter(instruction: Instruction) -> bool:
    """Whether it changes an operand where indices say."""
    return instruction.opcode == "scatter"


def is_sort(instruction: Instruction) -> bool:
    """Whether it sorts."""
    return instruction.opcode == "sort"


def is_none(_: Instruction) -> bool:
    """No instruction is."""
    return False


# Results that fit together.

Heroes: TypeAlias = "Sequence[Instruction | None]"
"""The hero of each array of a result, if it has one."""

MAX_CONCATENATED: Final = 4
"""XLA takes a loop for more operands: code for each of them would crowd a thread's registers."""


def fit_reductions(results: Sequence[Instruction], heroes: Heroes) -> bool:
    """Whether one walk through memory serves all reductions, and what is written beside them."""
    return _fit_together(results, heroes, reduction_in_memory, _has_as_many)


def _has_as_many(shape: Shape, other: Shape) -> bool:
    return shape.element_count == other.element_count


def reduction_in_memory(hero: Instruction) -> ReductionDimensions:
    """The dimensions of a reduction in memory."""
    return ReductionDimensions.of(hero.operands[0].shape, hero.attributes["dimensions"])


def fit_transposes(results: Sequence[Instruction], heroes: Heroes) -> bool:
    """Whether all transposes turn memory in one way, and what is beside them lies as they read."""
    return _fit_together(results, heroes, transpose_in_memory, _is_same_memory)


def transpose_in_memory(hero: Instruction) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The sizes and the order of a transpose in memory."""
    return merged_in_memory(hero.operands[0].shape, hero.shape, permutation_of(hero))


def _is_same_memory(shape: Shape, other: Shape) -> bool:
    """Whether a reshape or a transpose would move nothing, whatever the elements are."""
    if not _has_as_many(shape, other):
        return False
    alike = shape.with_element_type(other.element_type)
    return reshape_is_bitcast(alike, other) or deduce_transpose(alike, other) is not None


def _fit_together(
    results: Sequence[Instruction],
    heroes: Heroes,
    in_memory: Callable[[Instruction], object],
    fits_beside: Callable[[Shape, Shape], bool],
) -> bool:
    """Whether all heroes are the same in memory, and what is beside them fits what they read."""
    several = each_hero(heroes)
    first, *others = map(in_memory, several)
    read = several[0].operands[0].shape
    beside = (result for result, hero in zip(results, heroes, strict=True) if not hero)
    return all(other == first for other in others) and all(
        fits_beside(array, read) for result in beside for array in result.shape.arrays
    )


def fits_concatenate(results: Sequence[Instruction], heroes: Heroes) -> bool:
    """Whether there is one result, of few operands."""
    return len(results) == 1 and all(
        len(hero.operands) <= MAX_CONCATENATED for hero in each_hero(heroes)
    )


def fit_updates(_: Sequence[Instruction], heroes: Heroes) -> bool:
    """Whether every result is an update, all of one shape."""
    updates = {tuple(operand.shape for operand in hero.operands[:2]) for hero in each_hero(heroes)}
    return all(heroes) and len(updates) == 1


def is_only_root(results: Sequence[Instruction], _: Heroes) -> bool:
    """Whether all results are those of one instruction."""
    return len({*results}) == 1


def fits(_: Sequence[Instruction], __: Heroes) -> bool:
    """Whatever they are."""
    return True
