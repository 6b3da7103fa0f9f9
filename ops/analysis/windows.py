"""Updates in place: which part of an array of its state each iteration of a loop overwrites."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from ops.index_maps import dim, index_map
from ops.rules.constant_folding import clamped, value_of
from ops.rules.sources import source_within
from simplifier import Interval
from simplifier.expr import form as forms
from simplifier.expr import operations

if TYPE_CHECKING:
    from ops.hlo import Instruction
    from ops.rules.counted_loops import CountedLoop
    from simplifier.expr.form import Form


class UpdateWindow(NamedTuple):
    """What each iteration overwrites: ``size`` indices of one dimension from an offset on.

    The offset is ``start`` in the first iteration, and ``step`` more in each further one. Of all
    other dimensions every index is overwritten.
    """

    axis: int
    start: int
    step: int
    size: int

    @property
    def is_disjoint(self) -> bool:
        """Whether no two iterations overwrite the same element."""
        return abs(self.step) >= self.size

    def outside(self, first: Form, last: Form) -> Form:
        """A form that is positive at the elements that none of some iterations overwrites.

        >>> form = UpdateWindow(0, 2, 4, 4).outside(forms.constant(0), dim(1))
        >>> print(form)
        max(-d0 + 2, d0 - d1 * 4 - 5)
        """
        low, high = (first, last) if self.step >= 0 else (last, first)
        begin = low * self.step + self.start
        end = high * self.step + (self.start + self.size - 1)
        sides = [begin - dim(self.axis), dim(self.axis) - end]
        if abs(self.step) > self.size:
            place = dim(self.axis) - self.start
            sides.append(operations.mod(place, forms.constant(abs(self.step))) - (self.size - 1))
        return operations.maximum(sides)


def windows_of(loop: CountedLoop) -> dict[int, UpdateWindow]:
    """The arrays of a loop's state that are updated in place by windows along one dimension.

    An array whose update is more complicated is none of them.
    """
    body = loop.instruction.attributes["body"]
    (state,) = body.parameters
    found: dict[int, UpdateWindow] = {}
    for number in range(len(state.shape.arrays)):
        update, _ = source_within(state, (body.root, number))
        if update.opcode == "dynamic-update-slice":
            target = source_within(state, (update.operands[0], 0))
            window = window_of(update, loop) if target == (state, number) else None
            if window:
                found[number] = window
    return found


def window_of(update: Instruction, loop: CountedLoop) -> UpdateWindow | None:
    """What a ``dynamic-update-slice`` overwrites in each iteration, if that is a window."""
    operand, part, *starts = update.operands
    sizes, part_sizes = operand.shape.dimensions, part.shape.dimensions
    cut = [axis for axis, size in enumerate(sizes) if part_sizes[axis] != size]
    if len(cut) != 1 or len(starts) != len(sizes):
        return None
    (axis,) = cut
    size = part_sizes[axis]
    offset = offset_of(starts[axis], loop, Interval(0, sizes[axis] - size))
    return offset and UpdateWindow(axis, *offset, size)


def offset_of(start: Instruction, loop: CountedLoop, clamp: Interval) -> tuple[int, int] | None:
    """A clamped start index in the first iteration, and what each further one adds to it."""
    iterations = index_map((), (Interval(0, loop.trip_count - 1),))
    value = value_of(start, iterations, None, loop.given_after(_ITERATION))
    if value is None:
        return None
    form = clamped(value, clamp, iterations)
    step = next(iter(form.terms.values()), 0)
    rest = form - _ITERATION * step
    return (rest.constant, step) if rest.is_constant else None


_ITERATION: Final = dim(0)
