"""The dimensions of a tiling space: what each range variable of an instruction's maps counts."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from simplifier.errors import listed
from simplifier.expr import form as forms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from indexing import IndexingMap, Variable
    from ops.hlo import Instruction
    from ops.hlo.values import DimensionLabels

Axis: TypeAlias = "tuple[int, int]"
"""The number of an array that an instruction reads or gives, and a dimension of it."""


class DimensionKind(enum.Enum):
    """What an instruction does along a dimension."""

    PARALLEL = "parallel"
    """It computes each element of the result by itself."""
    REDUCED = "reduced"
    """It folds the elements of an operand."""
    CONTRACTING = "contracting"
    """It adds up products."""
    WINDOW = "window"
    """It folds the elements of a window."""
    WHOLE = "whole"
    """It needs all elements at once, as a sort does."""
    SPREAD = "spread"
    """Seen from an operand: its elements take part in all elements of the result along it."""


@dataclass(frozen=True, slots=True)
class TilingDimension:
    """A dimension that a kernel may tile: of a result, or one that an instruction goes through.

    Attributes:
        instruction: the one whose dimension it is.
        kind: what the instruction does along it.
        axes: where it is: dimensions of the result, or of operands, which are numbered.
        variable: its values.
        callers: the fusions and calls, outermost first, in whose run the instruction is meant.

    >>> from ops import Fusion, TilingSpace, hlo
    >>> module = hlo.parse('''ENTRY e { x = f32[4,8] parameter(0) y = f32[8,2] parameter(1)
    ...   ROOT d = f32[4,2] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0} }''')
    >>> for dimension in TilingSpace.of(Fusion.of_computation(module.entry)).dimensions:
    ...     print(dimension)
    parallel dimension 0 of %d, in [0, 3]
    parallel dimension 1 of %d, in [0, 1]
    contracting dimension of %d, 1 of %x, 0 of %y, in [0, 7]
    """

    instruction: Instruction
    kind: DimensionKind
    axes: tuple[Axis, ...]
    variable: Variable = field(compare=False)
    callers: tuple[Instruction, ...] = ()

    @property
    def size(self) -> int | None:
        """How many values it has; ``None`` if that is a parameter."""
        return self.variable.bounds.size

    @property
    def can_be_cut(self) -> bool:
        """Whether a kernel may go through it tile by tile."""
        return self.kind not in (DimensionKind.WHOLE, DimensionKind.SPREAD)

    def __str__(self) -> str:
        within = "".join(f" in %{caller.name}" for caller in reversed(self.callers))
        if self.kind in (DimensionKind.PARALLEL, DimensionKind.SPREAD):
            places = " and ".join(str(axis) for _, axis in self.axes)
            head = f"{self.kind.value} dimension {places} of %{self.instruction.name}{within}"
        else:
            operands = self.instruction.operands
            places = listed([f"{axis} of %{operands[at].name}" for at, axis in self.axes])
            head = f"{self.kind.value} dimension of %{self.instruction.name}{within}, {places}"
        return f"{head}, in {self.variable.bounds}"


class AxisGroup(NamedTuple):
    """Dimensions of operands that one range variable goes through together."""

    kind: DimensionKind
    axes: tuple[Axis, ...]


def groups_of(instruction: Instruction) -> Sequence[AxisGroup]:
    """The dimensions that an instruction goes through, in the order of its attributes.

    >>> from ops import hlo
    >>> text = "ENTRY e { x = f32[4,8,2] parameter(0) y = f32[8,2] parameter(1) ROOT d = f32[4] "
    >>> text += "dot(x, y), lhs_contracting_dims={2,1}, rhs_contracting_dims={1,0} }"
    >>> for group in groups_of(hlo.parse(text).entry.root):
    ...     print(group.kind.value, group.axes)
    contracting ((0, 2), (1, 1))
    contracting ((0, 1), (1, 0))
    """
    listing = _GROUPS.get(instruction.opcode)
    return () if listing is None else tuple(listing(instruction))


def group_of_range(
    operand: int, instruction: Instruction, of_range: IndexingMap, name: str
) -> AxisGroup:
    """What a range of the map to an operand goes through; by itself if nobody says."""
    axes = axes_of(of_range, name)
    groups = groups_of(instruction)
    found = [group for group in groups if any((operand, axis) in group.axes for axis in axes)]
    if len(found) == 1:
        return found[0]
    return AxisGroup(DimensionKind.WHOLE, tuple((operand, axis) for axis in axes))


def axes_of(of_range: IndexingMap, name: str) -> list[int]:
    """The numbers of the results that use a range."""
    results = enumerate(of_range.forms)
    return [axis for axis, form in results if name in forms.variables_of([form])]


# By opcode.


def _contracted(instruction: Instruction) -> Iterator[AxisGroup]:
    named = instruction.attributes
    pairs = zip(
        named.get("lhs_contracting_dims", ()), named.get("rhs_contracting_dims", ()), strict=False
    )
    for pair in pairs:
        sides = enumerate(pair * (len(instruction.operands) // 2))  # scales follow their tensors
        yield AxisGroup(DimensionKind.CONTRACTING, tuple(sides))


def _folded(instruction: Instruction) -> Iterator[AxisGroup]:
    inputs = range(len(instruction.operands) // 2)
    for axis in instruction.attributes["dimensions"]:
        yield AxisGroup(DimensionKind.REDUCED, tuple((number, axis) for number in inputs))


def _windows(instruction: Instruction) -> Iterator[AxisGroup]:
    inputs = range(len(instruction.operands) // 2)
    for axis in range(instruction.operands[0].shape.rank):
        yield AxisGroup(DimensionKind.WINDOW, tuple((number, axis) for number in inputs))


def _convolved(instruction: Instruction) -> Iterator[AxisGroup]:
    labels: DimensionLabels = instruction.attributes["dim_labels"]
    for axis, label in enumerate(labels.kernel):
        if label == "i":
            axes = (0, labels.input.index("f")), (1, axis)
            yield AxisGroup(DimensionKind.CONTRACTING, axes)
        elif label != "o":
            yield AxisGroup(DimensionKind.WINDOW, ((0, labels.input.index(label)), (1, axis)))


_GROUPS: Final[Mapping[str, Callable[[Instruction], Iterator[AxisGroup]]]] = {
    "convolution": _convolved,
    "dot": _contracted,
    "ragged-dot": _contracted,
    "reduce": _folded,
    "reduce-window": _windows,
    "scaled-dot": _contracted,
}
