"""Scan: a computation that takes slice after slice and carries values from each to the next."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from math import gcd
from typing import TYPE_CHECKING, Final

from indexing.layout import ShapeError
from ops.index_maps import (
    checked_dimensions,
    checked_numeric_sizes,
    constrained,
    dim,
    dimensions_of,
    paired,
    unrelated,
)
from ops.rules.elementwise import ELEMENTWISE
from ops.rules.op_indexing import OpIndexing
from ops.rules.rule import OpRule, only_dimension, sizes_of
from simplifier import Interval
from simplifier.expr import form as forms
from simplifier.expr.operations import mod

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from indexing import IndexingMap
    from ops.hlo import Computation, Instruction
    from ops.index_maps import Sizes
    from simplifier.expr.form import Form


class StepUse(enum.IntEnum):
    """How an array that one step of a scan computes uses an array that the step takes."""

    NONE = 0
    """Not at all."""
    ELEMENTWISE = 1
    """Each element uses the element at its own index; both arrays have one shape."""
    ANY = 2
    """Each element may use every element."""

    def then(self, other: StepUse) -> StepUse:
        """How an array uses one that it reaches through another."""
        return max(self, other) if self and other else StepUse.NONE


def scan(  # noqa: PLR0913 - the attributes of the operation, and its computation
    input_sizes: Sequence[Sizes],
    output_sizes: Sequence[Sizes],
    carry_sizes: Sequence[Sizes],
    dimension: int,
    *,
    is_reverse: bool = False,
    is_elementwise: bool = False,
    uses: Sequence[Sequence[StepUse]] | None = None,
) -> tuple[OpIndexing, ...]:
    """Applies a computation to slice after slice, and carries values from one to the next.

    The operands are the inputs and the first carried values; the results are the outputs and the
    last carried values. ``uses`` has a row for each result and a column for each operand: how one
    step's output or next carried value uses the step's slice or carried value. So a result needs a
    slice of an earlier step only if a chain of carried values leads there. Without ``uses``,
    everything may need everything; within slices at its own index, if the computation is
    elementwise on slices of one shape.

    Shapes:
        inputs, outputs: one size along ``dimension``, which is cut into slices.
        carried values: any; they stay as they are.

    Source:
        XLA's operation Scan, as its CPU compiler runs it.

    Raises:
        ShapeError: an input or an output has no such dimension, or two differ in size there, or
            slices differ in shape that are used element by element.

    >>> sums, last = scan([(5, 3)], [(5, 3)], [(3,)], 0, is_elementwise=True)
    >>> print(sums.output_to_input[0])
    (d0, d1)[s0] -> (s0, d1), domain: d0 in [0, 4], d1 in [0, 2], s0 in [0, 4], d0 - s0 in [0, 4]
    >>> print(last.output_to_input[0])
    (d0)[s0] -> (s0, d0), domain: d0 in [0, 2], s0 in [0, 4]
    >>> delay = [[StepUse.NONE, StepUse.ELEMENTWISE], [StepUse.ELEMENTWISE, StepUse.NONE]]
    >>> shifted, _ = scan([(5, 3)], [(5, 3)], [(3,)], 0, uses=delay)
    >>> print(shifted.output_to_input[0])
    (d0, d1) -> (d0 - 1, d1), domain: d0 in [1, 4], d1 in [0, 2]
    """
    inputs = [_stacked("input", sizes, dimension) for sizes in input_sizes]
    outputs = [_stacked("output", sizes, dimension) for sizes in output_sizes]
    carries = [checked_numeric_sizes("scan", "carry", sizes) for sizes in carry_sizes]
    length = _common_length(inputs + outputs)
    ends = (0, max(0, length - 1))
    first, last = reversed(ends) if is_reverse else ends
    operands = inputs + [_Slices(sizes, None, first) for sizes in carries]
    results = outputs + [_Slices(sizes, None, last) for sizes in carries]
    if uses is None:
        use = StepUse.ELEMENTWISE if is_elementwise else StepUse.ANY
        uses = [[use] * len(operands)] * len(results)
    _check_slices(operands, results, uses)
    steps = _Steps(uses, len(inputs), len(outputs), length)
    found: list[OpIndexing] = []
    for row, result in enumerate(results):
        past = steps.past(row)
        used = [past.used(column) for column in range(len(operands))]
        behind = [_negated(each.distances) if is_reverse else each.distances for each in used]
        columns = [*zip(operands, behind, (each.use for each in used), strict=True)]
        there = (_way(result, operand, apart, use) for operand, apart, use in columns)
        back = (_way(operand, result, _negated(apart), use) for operand, apart, use in columns)
        found.append(OpIndexing(result.sizes, tuple(there), tuple(back)))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Slices:
    """Sizes, and the dimension that is cut into slices; carried values have a place along it."""

    sizes: tuple[int, ...]
    steps: int | None = None
    place: int = 0

    @property
    def within(self) -> list[int]:
        """The dimensions of a slice."""
        return [axis for axis in range(len(self.sizes)) if axis != self.steps]

    @property
    def of_slice(self) -> tuple[int, ...]:
        """The sizes of a slice."""
        return tuple(self.sizes[axis] for axis in self.within)

    def place_of(self, index: Sequence[Form]) -> Form:
        """Where an element lies along the dimension that is cut."""
        return forms.constant(self.place) if self.steps is None else index[self.steps]


def _way(source: _Slices, target: _Slices, distances: range, use: StepUse) -> IndexingMap:
    """The map to the elements of a target that lie at one of these distances before the source."""
    if not distances:
        return unrelated(source.sizes, target.sizes)[0]
    is_elementwise = use is StepUse.ELEMENTWISE
    same = zip(source.within, target.within, strict=True) if is_elementwise else ()
    if len(distances) == 1 and source.steps is not None and target.steps is not None:
        found, _ = paired(source.sizes, target.sizes, [*same, (source.steps, target.steps)])
        place = dim(source.steps) - distances[0]
        moved = (place if axis == target.steps else each for axis, each in enumerate(found.forms))
        inside = Interval(0, target.sizes[target.steps] - 1)
        domain = found.domain.constrained([(place, inside)])
        return type(found).from_forms(moved, domain).simplify(preserve_size_one=True)
    found, _ = paired(source.sizes, target.sizes, same)
    distance = source.place_of(dimensions_of(source.sizes)) - target.place_of(found.forms)
    inside = Interval(min(distances), max(distances))
    found = constrained(found, distance, inside)
    on_step = mod(distance - distances[0], forms.constant(abs(distances.step)))
    return constrained(found, on_step, Interval(0, 0)).simplify(preserve_size_one=True)


def _negated(distances: range) -> range:
    return range(-distances.start, -distances.stop, -distances.step)


# Which steps reach which.

MAX_EXACT_STEPS: Final = 64
"""So many steps are followed exactly. Carried values come back to where they were much earlier, but
for long rotations of many of them; then all that may be reached counts as reached."""


@dataclass(frozen=True, slots=True)
class _Steps:
    """A step that is repeated: how its results use its operands."""

    uses: Sequence[Sequence[StepUse]]
    inputs: int
    outputs: int
    length: int

    def past(self, result: int) -> _Past:
        """What a result uses."""
        if not self.length:  # carried values stay as they are
            kept = result - self.outputs + self.inputs
            columns = range(len(self.uses[result]))
            return _Past([[StepUse(column == kept) for column in columns]], 0, 1)
        rows = [self.uses[result]]
        while len(rows) < self.length:
            row = self._before(rows[-1])
            if row in rows:
                return _Past(rows, len(rows) - rows.index(row), self.length)
            if len(rows) == MAX_EXACT_STEPS:
                return _Past([*rows, self._ever(row)], 1, self.length)
            rows.append(row)
        return _Past(rows, 0, self.length)

    def _before(self, row: Sequence[StepUse]) -> list[StepUse]:
        """What a row uses one step earlier, through the carried values."""
        carried = [*zip(row[self.inputs :], self.uses[self.outputs :], strict=True)]
        return [
            max((use.then(each[column]) for use, each in carried), default=StepUse.NONE)
            for column in range(len(row))
        ]

    def _ever(self, row: Sequence[StepUse]) -> Sequence[StepUse]:
        """What a row and all rows before it use."""
        while (wider := _united(row, self._before(row))) != row:
            row = wider
        return row


def _united(row: Sequence[StepUse], other: Sequence[StepUse]) -> list[StepUse]:
    return [max(pair) for pair in zip(row, other, strict=True)]


@dataclass(frozen=True, slots=True)
class _Past:
    """``rows[k]``: how a result uses what the step takes that is ``k`` steps before its own.

    The last ``period`` rows repeat up to the first step.
    """

    rows: Sequence[Sequence[StepUse]]
    period: int
    length: int

    def used(self, column: int) -> _Used:
        """At which distances an operand is used: the least progression that holds all of them."""
        near = [distance for distance, row in enumerate(self.rows) if row[column]]
        use = max(row[column] for row in self.rows)
        if not near:
            return _Used(range(0), use)
        last = self.length - 1
        far = [
            distance for distance in range(last, last - self.period, -1) if self[distance][column]
        ]
        repeats = [self.period] if far else []
        stride = gcd(*(distance - near[0] for distance in near), *repeats)
        return _Used(range(near[0], max(near + far) + 1, stride or 1), use)

    def __getitem__(self, distance: int) -> Sequence[StepUse]:
        beyond = distance - len(self.rows)
        return self.rows[distance if beyond < 0 else beyond % self.period - self.period]


@dataclass(frozen=True, slots=True)
class _Used:
    """How a result uses an operand, and how many steps the one may be behind the other."""

    distances: range
    use: StepUse


# Checks.


def _stacked(role: str, sizes: Sizes, dimension: int) -> _Slices:
    checked = checked_numeric_sizes("scan", role, sizes)
    (steps,) = checked_dimensions("scan", "dimensions", [dimension], len(checked))
    return _Slices(checked, steps)


def _common_length(stacked: Sequence[_Slices]) -> int:
    lengths = [array.sizes[array.steps or 0] for array in stacked]
    if not lengths:
        raise ShapeError(
            "scan: there is neither an input nor an output; expected one to step along"
        )
    for length in lengths:
        if length != lengths[0]:
            message = f"scan: dimension {stacked[0].steps} has size {lengths[0]} in one input"
            raise ShapeError(
                f"{message}, but {length} in another or in an output; expected the same"
            )
    return lengths[0]


def _check_slices(
    operands: Sequence[_Slices], results: Sequence[_Slices], uses: Sequence[Sequence[StepUse]]
) -> None:
    for result, row in zip(results, uses, strict=True):
        for operand, use in zip(operands, row, strict=True):
            one, other = result.of_slice, operand.of_slice
            if use is StepUse.ELEMENTWISE and one != other:
                message = f"scan: an elementwise computation takes slices {one} and {other}"
                raise ShapeError(f"{message}; expected one shape")


# Reading instructions.


def _scan(instruction: Instruction) -> tuple[OpIndexing, ...]:
    carries = instruction.attributes.get("num_carries", 0)
    operands = [sizes_of(operand) for operand in instruction.operands]
    results = [array.dimensions for array in instruction.shape.arrays]
    inputs, outputs = (each[: len(each) - carries] for each in (operands, results))
    return scan(
        inputs,
        outputs,
        operands[len(inputs) :],
        only_dimension(instruction),
        is_reverse=instruction.attributes.get("is_reverse", False),
        uses=_uses(instruction.attributes["to_apply"]),
    )


def _uses(computation: Computation) -> list[list[StepUse]]:
    """How each array of a computation's result uses each parameter."""
    found: dict[Instruction, list[list[StepUse]]] = {}
    parameters = len(computation.parameters)
    for each in computation.instructions:
        found[each] = _uses_of(each, [found[operand] for operand in each.operands], parameters)
    return found[computation.root]


def _uses_of(
    instruction: Instruction, operands: Sequence[list[list[StepUse]]], parameters: int
) -> list[list[StepUse]]:
    """The same of each array of an instruction, from those of its operands."""
    if instruction.parameter_number is not None:
        return [[StepUse(number == instruction.parameter_number) for number in range(parameters)]]
    arrays = [row for operand in operands for row in operand]
    if instruction.opcode == "tuple":
        return arrays
    if instruction.opcode == "get-tuple-element":
        return [arrays[instruction.attributes["index"]]]
    uses = [max(column) for column in zip(*arrays, strict=True)] or [StepUse.NONE] * parameters
    if not _is_elementwise(instruction):
        uses = [StepUse.ANY if use else use for use in uses]
    return [uses] * len(instruction.shape.arrays)


def _is_elementwise(instruction: Instruction) -> bool:
    shapes = [instruction.shape, *(operand.shape for operand in instruction.operands)]
    sizes = {array.dimensions for shape in shapes for array in shape.arrays}
    return instruction.opcode in ELEMENTWISE and len(sizes) == 1


RULES: Final[Mapping[str, OpRule]] = {
    "scan": OpRule(_scan),
}
