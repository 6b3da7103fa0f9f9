"""Which of XLA's GPU emitters makes the kernel of a fusion, and for which heroes.

An emitter is made for one operation, the hero. The hero is found behind what computes element by
element or is the same memory; and it takes the emitter only if that is faster than a plain loop.
:data:`KERNELS` has all that is known of each.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Final, NamedTuple

from ops.fusion import heroes as kinds
from ops.fusion.fusion import FusionError
from ops.fusion.heroes import LOOKED_THROUGH, SAME_MEMORY, leading_to, permutation_of
from ops.schedules import (
    LaunchDimensions,
    Schedule,
    concatenate_schedule,
    in_place_update_schedule,
    loop_schedule,
    packed_transpose_schedule,
    reduce_schedule,
    scatter_schedule,
    sort_schedule,
    sorted_scatter_schedule,
    transpose_schedule,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from indexing.layout import Shape
    from ops.fusion.heroes import Heroes
    from ops.fusion.unrolling import Unrolling
    from ops.hlo import Instruction


class Emitter(enum.Enum):
    """What makes a kernel; each has a schedule in :mod:`ops.schedules`.

    Triton is not found by heroes: the ``backend_config`` of a fusion says so.
    """

    LOOP = "loop"
    TRANSPOSE = "transpose"
    REDUCTION = "reduction"
    CONCATENATE = "concatenate"
    IN_PLACE_UPDATE = "in-place update"
    SCATTER = "scatter"
    SORT = "sort"
    TRITON = "triton"


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
    found = [each for each in leading_to(result, kernel.through) if kernel.is_hero(each)]
    return found[0] if len(found) == 1 else None


# Schedules of heroes.


class KernelPlan(NamedTuple):
    """What the schedule of a hero depends on, besides itself.

    Attributes:
        unrolling: how many neighbours a thread handles.
        launch: what the caller says, for schedules that go through elements one after the other.
        first: the first hero of the kernel, which decides for all.
        group: the number of the hero's group of reductions.
        groups: how many there are, each on blocks of its own.
    """

    unrolling: Unrolling
    launch: LaunchDimensions | None
    first: Instruction
    group: int = 0
    groups: int = 1

    def launched(self, array: Shape, unroll: int) -> LaunchDimensions:
        """The launch for the elements of an array."""
        return self.launch or LaunchDimensions.for_elements(array.element_count, unroll=unroll)


def _loop(result: Instruction, plan: KernelPlan) -> Schedule:
    (shape, *_) = result.shape.arrays
    unroll = plan.unrolling.of_loop(shape)
    return loop_schedule(shape, plan.launched(shape, unroll), unroll)


def _transpose(hero: Instruction, plan: KernelPlan) -> Schedule:
    (operand,) = hero.operands
    shapes = operand.shape, hero.shape, permutation_of(hero)
    if kinds.is_packed_transpose(plan.first):
        return packed_transpose_schedule(*shapes)
    vector_size = plan.unrolling.of_transpose([plan.first])
    return transpose_schedule(*shapes, vector_size=vector_size)


def _reduction(hero: Instruction, plan: KernelPlan) -> Schedule:
    operand, (result, *others) = hero.operands[0].shape, hero.shape.arrays
    kind, vector_size = plan.unrolling.of_reduction(plan.first)
    return reduce_schedule(
        operand,
        result,
        hero.attributes["dimensions"],
        kind=kind,
        vector_size=vector_size,
        inputs=1 + len(others),
        group=plan.group,
        groups=plan.groups,
    )


def _concatenate(hero: Instruction, plan: KernelPlan) -> Schedule:
    operands = [operand.shape for operand in hero.operands]
    (dimension,) = hero.attributes["dimensions"]
    largest = max(operands, key=lambda operand: operand.element_count)
    unroll = plan.unrolling.of_concatenate(operands, dimension)
    launch = plan.launched(largest, unroll)
    return concatenate_schedule(operands, hero.shape, dimension, launch, unroll)


def _in_place_update(hero: Instruction, plan: KernelPlan) -> Schedule:
    operand, update, *_ = (each.shape for each in hero.operands)
    unroll = plan.unrolling.of_loop(update)
    return in_place_update_schedule(operand, update, plan.launched(update, unroll), unroll)


def _scatter(hero: Instruction, plan: KernelPlan) -> Schedule:
    inputs = len(hero.operands) // 2
    operand, indices, updates = (hero.operands[n].shape for n in (0, inputs, inputs + 1))
    named = hero.attributes
    windows = tuple(range(1, updates.rank))
    is_plain = indices.rank == 2 and named["index_vector_dim"] == 1  # noqa: PLR2004 - rows
    if not is_plain or named["update_window_dims"] != windows or named["inserted_window_dims"]:
        expected = "expected windows of the operand's rank, one for each row of the indices"
        raise FusionError(f"fusion: no schedule of the scatter %{hero.name}; {expected}")
    if not all(map(kinds.is_in_memory, hero.operands[:inputs])):
        message = f"fusion: no schedule of the scatter %{hero.name}, whose operand is computed"
        raise FusionError(f"{message}; expected one that is in memory already")
    shapes = operand, indices, updates, named["scatter_dims_to_operand_dims"]
    windows_of_warp, vector_size = plan.unrolling.of_scatter(hero)
    if windows_of_warp and not plan.launch:
        return sorted_scatter_schedule(
            *shapes, windows_of_warp=windows_of_warp, vector_size=vector_size, inputs=inputs
        )
    launch = plan.launched(updates, vector_size)
    return scatter_schedule(*shapes, launch, vector_size, inputs=inputs)


def _sort(hero: Instruction, _: KernelPlan) -> Schedule:
    (dimension,) = hero.attributes["dimensions"]
    return sort_schedule([operand.shape for operand in hero.operands], dimension)


class Kernel(NamedTuple):
    """What is known of the kernels of an emitter.

    Attributes:
        schedule: the schedule for a hero, or for the first result of a fusion without one.
        is_hero: whether it is faster than a loop for an instruction.
        fits: whether one schedule serves the results of a fusion with these heroes.
        through: the opcodes behind which a hero may be.
    """

    schedule: Callable[[Instruction, KernelPlan], Schedule]
    is_hero: Callable[[Instruction], bool]
    fits: Callable[[Sequence[Instruction], Heroes], bool]
    through: frozenset[str] = LOOKED_THROUGH


_ROOTS: Final = frozenset[str]()
"""Opcodes to look through for a hero that only a root may be."""

KERNELS: Final[Mapping[Emitter, Kernel]] = {
    Emitter.REDUCTION: Kernel(_reduction, kinds.is_fast_reduction, kinds.fit_reductions),
    Emitter.TRANSPOSE: Kernel(_transpose, kinds.is_tiled_transpose, kinds.fit_transposes),
    Emitter.SCATTER: Kernel(_scatter, kinds.is_scatter, kinds.is_only_root, _ROOTS),
    Emitter.SORT: Kernel(_sort, kinds.is_sort, kinds.is_only_root, _ROOTS),
    Emitter.CONCATENATE: Kernel(_concatenate, kinds.is_concatenate, kinds.fits_concatenate),
    Emitter.IN_PLACE_UPDATE: Kernel(
        _in_place_update, kinds.is_update_in_place, kinds.fit_updates, SAME_MEMORY
    ),
    Emitter.LOOP: Kernel(_loop, kinds.is_none, kinds.fits),
}
"""The emitters, in the order in which they are tried; a loop is for all that none is for."""
