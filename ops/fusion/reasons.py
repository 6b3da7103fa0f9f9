"""Why an instruction needs what it reads: each map to an operand, and the paths behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from indexing import IndexSet
from ops.dependence.dependence import NOTHING, Unknown
from ops.fusion.fusion import Fusion, FusionError
from ops.hlo.module import INSTRUCTION, Instruction
from ops.rules.registry import REGISTRY
from simplifier.errors import ArgumentError, check_integers, check_type, listed
from simplifier.exact import BudgetError, NotQuasiAffineError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from indexing.layout import ArrayShape
    from ops.dependence.operand_indexing import OperandIndexing
    from ops.fusion.provenance import Provenance
    from ops.rules.registry import Registry

FEW_PATHS: Final = 3
"""Paths that are listed for each map unless somebody wants more."""


@dataclass(frozen=True, slots=True)
class Reason:
    """One map from a result of an instruction to what it needs, and the paths that it comes from.

    Attributes:
        instruction: whose result it is.
        output: the number of the array in the result.
        target: what is needed.
        provenance: the map, and the paths of instructions.
    """

    instruction: Instruction
    output: int
    target: Instruction
    provenance: Provenance

    @property
    def indexing(self) -> OperandIndexing | Unknown:
        """The map with its notes; or why there is none."""
        return self.provenance.indexing

    def __str__(self) -> str:
        head = f"result {self.output} of " if self.instruction.shape.is_tuple else ""
        return f"{head}%{self.instruction.name} needs %{self.target.name}: {self.provenance}"


def why(
    instruction: Instruction,
    target: Instruction | None = None,
    *,
    element: Sequence[int] | None = None,
    needed: Sequence[int] | None = None,
    paths: int = FEW_PATHS,
    registry: Registry = REGISTRY,
) -> tuple[Reason, ...]:
    """Why an instruction needs elements of what it reads: along which instructions.

    Of each operand, by itself; or of a ``target`` in the same computation, on all ways that lead
    there. One reason for each map, with so many of the shortest ``paths``. With the index of an
    ``element`` of the result, or of an element that is ``needed``, only the maps that relate them.

    Raises:
        ArgumentError: an argument is of another kind, or there is no element of this index.
        FusionError: the target is in another computation.
        HloTextError: what a rule of the user answers does not fit an instruction.

    >>> from ops import hlo
    >>> module = hlo.parse('''ENTRY e {
    ...   p = f32[20,20] parameter(0)
    ...   t = f32[20,20] transpose(p), dimensions={1,0}
    ...   ROOT sum = f32[20,20] add(p, t)
    ... }''')
    >>> for reason in why(module["sum"], module["p"], element=(3, 4), needed=(4, 3)):
    ...     print(reason)
    %sum needs %p: (d0, d1) -> (d1, d0), domain: d0 in [0, 19], d1 in [0, 19]
      %p <- %t transpose <- %sum add
    """
    check_type(instruction, Instruction, "why: the instruction", INSTRUCTION)
    if target is None:
        fusion = Fusion.of_instruction(instruction, registry=registry)
        targets = fusion.operands
    else:
        check_type(target, Instruction, "why: the target", INSTRUCTION)
        fusion, targets = _between(instruction, target, registry), (target,)
    _check_index(element, (instruction,), "element")
    if needed is not None:
        _check_index(needed, targets, "needed element")
    return tuple(
        reason
        for each in targets
        for reason in _reasons(fusion, instruction, each, paths)
        if _relates(reason, element, needed)
    )


def _between(instruction: Instruction, target: Instruction, registry: Registry) -> Fusion:
    """What the way may lead through."""
    home = instruction.computation
    if target.computation is not home:
        message = f"why: %{target.name} is in %{target.computation.name}"
        raise FusionError(f"{message}; expected an instruction of %{home.name}")
    return Fusion.of_computation(home, registry=registry)


def _reasons(
    fusion: Fusion, instruction: Instruction, target: Instruction, paths: int
) -> Iterator[Reason]:
    for output in instruction.shape.array_indices:
        if fusion.indexing(instruction, output).get(target, NOTHING) != NOTHING:
            for found in fusion.why(target, instruction, output, most=paths):
                yield Reason(instruction, output, target, found)


def _relates(reason: Reason, element: Sequence[int] | None, needed: Sequence[int] | None) -> bool:
    """Whether the map may relate two elements; what nobody can tell stays."""
    indexing = reason.indexing
    if isinstance(indexing, Unknown):
        return True
    result = reason.instruction.shape.arrays[reason.output]
    operand = reason.target.shape.arrays[indexing.element]
    if not has_element(element, result) or not has_element(needed, operand):
        return False
    found = indexing.map
    if element is not None:
        found = found.restrict(_point(element))
    if needed is not None:
        found = found.restrict_results(_point(needed))
    try:
        return not found.is_empty()
    except (NotQuasiAffineError, BudgetError):
        return True


def _point(index: Iterable[int]) -> IndexSet:
    return IndexSet.box(*((each, each) for each in index))


def has_element(index: Sequence[int] | None, shape: ArrayShape) -> bool:
    """Whether an array has an element of this index; without one it may be any."""
    if index is None:
        return True
    sizes = shape.dimensions if shape.is_array else ()
    return len(index) == len(sizes) and all(
        0 <= each < size for each, size in zip(index, sizes, strict=True)
    )


def _check_index(index: Sequence[int] | None, of: Sequence[Instruction], what: str) -> None:
    if index is not None:
        check_integers(index, f"why: the {what}")
    if not any(has_element(index, shape) for each in of for shape in each.shape.arrays):
        given = f"why: the {what} is {tuple(index or ())}"
        places = [f"{shape} of %{each.name}" for each in of for shape in each.shape.arrays]
        raise ArgumentError(f"{given}; expected an index in {listed(places) or 'none'}")
