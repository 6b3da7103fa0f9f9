"""Values that the iterations of a loop hand on, in closed form: so much more with each of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import sympy

from ops.triton.kernel_values import (
    IntegerBlock,
    TensorPointer,
    UnknownBlock,
    as_block,
    items_of,
    number_of,
)
from simplifier import symbol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.triton.kernel_values import Formula, Value


def mark_of(name: str, place: int) -> sympy.Symbol:
    """What stands for the value of a variable before an iteration."""
    return symbol(f"_before_{name}_{place}")


def marked(value: Value, name: str) -> Value:
    """A value with symbols in its place."""
    if isinstance(value, TensorPointer):
        marks = tuple(mark_of(name, place) for place in range(len(value.offsets)))
        return replace(value, offsets=marks)
    block = as_block(value)
    if isinstance(block, IntegerBlock) and not block.is_condition:
        return IntegerBlock(block.shape, mark_of(name, 0))
    return value


def change_of(before: Value, mark: Value, after: Value, moving: set[sympy.Symbol]) -> Value:
    """What an iteration adds to a variable."""
    if isinstance(mark, TensorPointer) and isinstance(after, TensorPointer):
        pairs = zip(after.offsets, mark.offsets, strict=True)
        changes = [sympy.expand(new - old) for new, old in pairs]
        if not any(each.free_symbols & moving for each in changes):
            return tuple(changes)
    if isinstance(mark, IntegerBlock) and not mark.is_condition:
        change = _difference(as_block(after), mark)
        if change is not None and not change.free_symbols & moving:
            return change
    after_shape = getattr(after, "shape", getattr(before, "shape", ()))
    return UnknownBlock(after_shape, "a variable that each iteration changes otherwise")


def _difference(after: IntegerBlock | UnknownBlock, mark: IntegerBlock) -> Formula | None:
    """What one block of integers is more than another; ``None`` if they are not alike."""
    if not isinstance(after, IntegerBlock) or after.is_condition or after.shape != mark.shape:
        return None
    return sympy.expand(after.formula - mark.formula)


def after_iterations(
    changes: Mapping[str, Value], before: Mapping[str, Value], name: str, iteration: Formula
) -> Value:
    """A variable after so many iterations."""
    value = before[name]
    if name not in changes:
        return value
    change = changes[name]
    if isinstance(change, UnknownBlock):
        reason = value.reason if isinstance(value, UnknownBlock) else change.reason
        return UnknownBlock(change.shape, reason)
    if isinstance(value, TensorPointer):
        return value.moved([each * iteration for each in change])
    block = as_block(value)
    if isinstance(block, UnknownBlock):
        return block
    return number_of(IntegerBlock(block.shape, block.formula + change * iteration))


def substituted(value: Value, given: Mapping[sympy.Symbol, Formula]) -> Value:
    """A value with a formula in the place of a symbol."""
    if isinstance(value, IntegerBlock):
        return IntegerBlock(value.shape, value.formula.xreplace(given))
    items = items_of(value)
    if items is not None:
        return tuple(substituted(each, given) for each in items)
    if isinstance(value, TensorPointer):
        return replace(value, offsets=tuple(each.xreplace(given) for each in value.offsets))
    return value
