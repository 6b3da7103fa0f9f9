"""Which of XLA's GPU emitters makes the kernel of a fusion, and for which heroes.

An emitter is made for one operation, the hero. The hero is found behind what computes element by
element or is the same memory; and it takes the emitter only if that is faster than a plain loop.
:data:`KERNELS` has all that is known of each.
"""

from __future__ import annotations

import enum
import re
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from indexing.layout import ShapeError, deduce_transpose, reshape_is_bitcast
from ops.fusion.fusion import FusionError
from ops.rules.elementwise import ELEMENTWISE
from ops.schedules import (
    LaunchDimensions,
    ReductionDimensions,
    Schedule,
    concatenate_schedule,
    in_place_update_schedule,
    loop_schedule,
    reduce_schedule,
    transpose_schedule,
)
from ops.schedules.launch import WARP_SIZE
from ops.schedules.transpose_schedule import merged_in_memory
from simplifier.tools.disjoint_set import connected_components

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence

    from indexing.layout import Shape
    from ops.hlo import Computation, Instruction


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

    If the results do not fit together, the next emitter is tried, and the loop takes all.

    Source:
        XLA's ``HloFusionAnalysis``: reductions before transposes, before what has one result only.
    """
    results = results_of(root)
    for emitter, kernel in KERNELS.items():
        heroes = tuple(_hero(result, kernel) for result in results)
        if any(heroes) and kernel.fits(results, heroes):
            return emitter, heroes
    return Emitter.LOOP, (None,) * len(results)


def _hero(result: Instruction, kernel: Kernel) -> Instruction | None:
    """The only hero of a kernel that a result is made of."""
    found = [each for each in _leading_to(result, kernel.through) if kernel.is_hero(each)]
    return found[0] if len(found) == 1 else None


def _leading_to(
    result: Instruction, through: frozenset[str] | None = None
) -> Iterator[Instruction]:
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


# What is refused.


def fused_computation(fusion: Instruction) -> Computation:
    """The computation of a fusion that one of XLA's own emitters makes a kernel for.

    Raises:
        FusionError: XLA takes something else, or an emitter that has no schedule here.
    """
    kind = fusion.attributes.get("kind")
    if kind not in {"kLoop", "kInput"}:
        given = f"{fusion.opcode} of kind {kind}" if kind else fusion.opcode
        message = f"fusion: no schedule of %{fusion.name}, a {given}"
        raise FusionError(f"{message}; expected a fusion of kind kLoop or kInput")
    backend = _BACKEND.search(fusion.attributes.get("backend_config", ""))
    if backend:
        message = f"fusion: no schedule of %{fusion.name}, which its backend_config gives to"
        raise FusionError(f"{message} {backend[1]}; expected a fusion for XLA's own emitters")
    called: Computation = fusion.attributes["calls"]
    for opcode, verb in _WITHOUT_SCHEDULE.items():
        if any(each.opcode == opcode for each in called.instructions):
            raise FusionError(f"fusion: no schedule of %{fusion.name}, which {verb}")
    if all(map(_is_plain_copy, results_of(called.root))):
        raise FusionError(f"fusion: no schedule of %{fusion.name}, which only copies memory")
    _check_one_group(fusion, called.root)
    return called


_BACKEND: Final = re.compile(
    r'fusion_backend_config\\?"\s*:\s*{\s*\\?"kind\\?"\s*:\s*\\?"(\w[^"\\]*)'
)
"""The library that a fusion is for."""

_WITHOUT_SCHEDULE: Final = {"scatter": "scatters", "sort": "sorts"}


def _is_plain_copy(result: Instruction) -> bool:
    """Whether XLA calls a function that copies bytes, and makes no kernel."""
    if result.opcode != "copy":
        return False
    (operand,) = result.operands
    return operand.opcode == "parameter" and operand.shape.layout == result.shape.layout


def _check_one_group(fusion: Instruction, root: Instruction) -> None:
    """Refuse reductions that have nothing in common: XLA gives each group blocks of its own.

    Source:
        XLA's ``GroupDisjointReductions``.
    """
    emitter, heroes = emitter_and_heroes(root)
    if emitter is not Emitter.REDUCTION:
        return
    reduced = dict(zip(results_of(root), heroes, strict=True))
    of_scalars: dict[Instruction, Instruction] = {}

    def shared(result: Instruction) -> Iterator[Hashable]:
        """What puts a result into one group with others that share it."""
        yield result
        if not reduced[result]:
            yield "not reduced"
        for each in _leading_to(result):
            # Of the reductions, only the first that reads a scalar is grouped by it.
            first = of_scalars.setdefault(each, result) if reduced[result] else result
            if first is result or not _is_scalar(each):
                yield each

    groups = connected_components(reduced, shared)
    if len(groups) > 1:
        names = " and ".join(f"%{group[0].name}" for group in groups)
        message = f"fusion: no schedule of %{fusion.name}, whose reductions {names}"
        raise FusionError(f"{message} share no input; expected one group of reductions")


def _is_scalar(instruction: Instruction) -> bool:
    """Whether it is a scalar, a constant, or one of these broadcast."""
    if instruction.opcode == "broadcast":
        return _is_scalar(instruction.operands[0])
    return instruction.opcode == "constant" or (
        not instruction.shape.is_tuple and not instruction.shape.rank
    )


# What each emitter is for.

SHORTEST_SIDE: Final = 16
"""Both sides of a matrix that the transpose emitter turns have so many elements at least."""

_SHORTEST_SIDE_OF_LARGE: Final = 8
_LARGE: Final = 64 * 128
"""A matrix of so many elements may have shorter sides."""

_MAX_VECTOR_BITS: Final = 64
"""A last dimension of so many bits may stay the last."""

_FEWEST_ROWS: Final = ((4 * WARP_SIZE, 8), (8 * WARP_SIZE, 3))
"""A loop folds columns of fewer elements than the first if there are fewer than the second."""

SAME_MEMORY: Final = frozenset({"bitcast", "get-tuple-element", "reshape"})
_LOOKED_THROUGH: Final = ELEMENTWISE | SAME_MEMORY


def _is_fast_reduction(instruction: Instruction) -> bool:
    """Whether rows or columns are long enough for threads to share them."""
    if instruction.opcode != "reduce":
        return False
    try:
        found = _reduction_in_memory(instruction)
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
    sizes, order = _transpose_in_memory(instruction)
    if order and order[-1] == len(order) - 1:
        if sizes[-1] * instruction.operands[0].shape.element_size_in_bits > _MAX_VECTOR_BITS:
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
    return any(each.opcode == "parameter" for each in _leading_to(updated, SAME_MEMORY))


def permutation_of(instruction: Instruction) -> tuple[int, ...]:
    """The dimensions of a transpose; those of a copy stay, and only its layout changes."""
    if instruction.opcode == "copy":
        return tuple(range(instruction.shape.rank))
    dimensions: tuple[int, ...] = instruction.attributes["dimensions"]
    return dimensions


def _is_concatenate(instruction: Instruction) -> bool:
    return instruction.opcode == "concatenate"


def _is_none(_: Instruction) -> bool:
    return False


# Results that fit together.

Heroes: TypeAlias = "Sequence[Instruction | None]"
"""The hero of each array of a result, if it has one."""

MAX_CONCATENATED: Final = 4
"""XLA takes a loop for more operands: code for each of them would crowd a thread's registers."""


def _fit_reductions(results: Sequence[Instruction], heroes: Heroes) -> bool:
    """Whether one walk through memory serves all reductions, and what is written beside them."""
    return _fit_together(results, heroes, _reduction_in_memory, _has_as_many)


def _has_as_many(shape: Shape, other: Shape) -> bool:
    return shape.element_count == other.element_count


def _reduction_in_memory(hero: Instruction) -> ReductionDimensions:
    return ReductionDimensions.of(hero.operands[0].shape, hero.attributes["dimensions"])


def _fit_transposes(results: Sequence[Instruction], heroes: Heroes) -> bool:
    """Whether all transposes turn memory in one way, and what is beside them lies as they read."""
    return _fit_together(results, heroes, _transpose_in_memory, _is_same_memory)


def _transpose_in_memory(hero: Instruction) -> tuple[tuple[int, ...], tuple[int, ...]]:
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


def _fits_concatenate(results: Sequence[Instruction], heroes: Heroes) -> bool:
    return len(results) == 1 and all(
        len(hero.operands) <= MAX_CONCATENATED for hero in each_hero(heroes)
    )


def _fit_updates(_: Sequence[Instruction], heroes: Heroes) -> bool:
    """Whether every result is an update, all of one shape."""
    updates = {tuple(operand.shape for operand in hero.operands[:2]) for hero in each_hero(heroes)}
    return all(heroes) and len(updates) == 1


def _fits(_: Sequence[Instruction], __: Heroes) -> bool:
    return True


# Schedules of heroes.


def _launch(array: Shape, launch: LaunchDimensions | None, unroll: int) -> LaunchDimensions:
    return launch or LaunchDimensions.for_elements(array.element_count, unroll=unroll)


def _loop(result: Instruction, launch: LaunchDimensions | None, unroll: int) -> Schedule:
    (shape, *_) = result.shape.arrays
    return loop_schedule(shape, _launch(shape, launch, unroll), unroll)


def _transpose(hero: Instruction, _: LaunchDimensions | None, unroll: int) -> Schedule:
    (operand,) = hero.operands
    return transpose_schedule(operand.shape, hero.shape, permutation_of(hero), vector_size=unroll)


def _reduction(hero: Instruction, _: LaunchDimensions | None, unroll: int) -> Schedule:
    operand, (result, *others) = hero.operands[0].shape, hero.shape.arrays
    dimensions: tuple[int, ...] = hero.attributes["dimensions"]
    return reduce_schedule(operand, result, dimensions, inputs=1 + len(others), vector_size=unroll)


def _concatenate(hero: Instruction, launch: LaunchDimensions | None, unroll: int) -> Schedule:
    operands = [operand.shape for operand in hero.operands]
    (dimension,) = hero.attributes["dimensions"]
    largest = max(operands, key=lambda operand: operand.element_count)
    launched = _launch(largest, launch, unroll)
    return concatenate_schedule(operands, hero.shape, dimension, launched, unroll)


def _in_place_update(hero: Instruction, launch: LaunchDimensions | None, unroll: int) -> Schedule:
    operand, update, *_ = (each.shape for each in hero.operands)
    return in_place_update_schedule(operand, update, _launch(update, launch, unroll), unroll)


class Kernel(NamedTuple):
    """What is known of the kernels of an emitter.

    Attributes:
        schedule: the schedule for a hero, or for the first result of a fusion without one.
        is_hero: whether it is faster than a loop for an instruction.
        fits: whether one schedule serves the results of a fusion with these heroes.
        through: the opcodes behind which a hero may be.
    """

    schedule: Callable[[Instruction, LaunchDimensions | None, int], Schedule]
    is_hero: Callable[[Instruction], bool]
    fits: Callable[[Sequence[Instruction], Heroes], bool]
    through: frozenset[str] = _LOOKED_THROUGH


KERNELS: Final[Mapping[Emitter, Kernel]] = {
    Emitter.REDUCTION: Kernel(_reduction, _is_fast_reduction, _fit_reductions),
    Emitter.TRANSPOSE: Kernel(_transpose, _is_tiled_transpose, _fit_transposes),
    Emitter.CONCATENATE: Kernel(_concatenate, _is_concatenate, _fits_concatenate),
    Emitter.IN_PLACE_UPDATE: Kernel(
        _in_place_update, _is_update_in_place, _fit_updates, SAME_MEMORY
    ),
    Emitter.LOOP: Kernel(_loop, _is_none, _fits),
}
"""The emitters, in the order in which they are tried; a loop is for all that none is for."""
