"""Values that the iterations of a loop hand on, in closed form: sums of what each iteration adds.

The body of a loop runs once with a *mark*, a symbol, for each value before an iteration. What it
adds to the mark is the change. A change that is a polynomial of the counter has a sum:

    for k in range(6):
        ptr += k * stride            # ptr + stride * (k * (k - 1) // 2)
"""

from __future__ import annotations

import operator
from dataclasses import replace
from itertools import pairwise
from math import factorial
from typing import TYPE_CHECKING, Final

import sympy

from ops.triton.kernel_values import (
    IntegerBlock,
    Kept,
    TensorPointer,
    UnknownBlock,
    as_block,
    axis,
    combined,
    items_of,
    multiplied_out,
    number_of,
    unmarked,
)
from simplifier import FloorDiv, symbol

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ops.triton.kernel_values import Formula, Value

    Amounts = Mapping[str, tuple[Formula, ...] | UnknownBlock]
    """What the iterations before one add to each variable, over the counter of the loop."""

MAX_DEGREE: Final = 4
"""Of what an iteration adds, as a polynomial of the counter: kernels add constants, or count."""


def marked(value: Value, name: str) -> Value:
    """A value with symbols in its place; what is no integer may be anything in an iteration.

    The mark of a block has a symbol for each dimension, so that a transposed mark is another one.
    """
    if isinstance(value, TensorPointer):
        marks = tuple(symbol(f"{name}_{place}") for place in range(len(value.offsets)))
        return replace(value, offsets=marks)
    block = as_block(value)
    if isinstance(block, UnknownBlock):
        return block
    if block.is_condition:
        return UnknownBlock(block.shape, "a condition that a loop changes")
    places = (
        axis(number) * symbol(f"{name}_{number + 1}")
        for number, size in enumerate(block.shape)
        if size > 1
    )
    return replace(block, formula=symbol(f"{name}_0") + sum(places))


def amounts_of(
    before: Mapping[str, Value],
    marks: Mapping[str, Value],
    after: Mapping[str, Value],
    counter: sympy.Symbol,
) -> Amounts:
    """What iterations add to each marked variable, from what one of them makes of the marks.

    What one variable adds to another is known once its own sum is.
    """
    changes = {name: _changes(mark, after[name]) for name, mark in marks.items()}
    moving = {each for mark in marks.values() for each in _symbols(mark)}
    found: dict[str, tuple[Formula, ...] | UnknownBlock] = {}
    in_closed_form: dict[sympy.Symbol, Formula] = {}
    for _ in changes:  # each round finds at least one more, if any
        for name, change in changes.items():
            if name in found or change is None:
                continue
            sums = [_sum(each.xreplace(in_closed_form), counter, moving) for each in change]
            if not sums or None in sums:
                continue
            found[name] = tuple(sums)
            mark, start = marks[name], as_block(before[name])
            is_scalar = isinstance(mark, IntegerBlock) and not mark.shape
            if is_scalar and isinstance(start, IntegerBlock):
                in_closed_form[mark.formula] = start.formula + sums[0]
    others = (name for name in marks if name not in found)
    return found | {name: _unknown(name, before[name], after[name]) for name in others}


def after_iterations(
    amounts: Amounts, before: Mapping[str, Value], name: str, given: Mapping[sympy.Symbol, Formula]
) -> Value:
    """A variable after as many iterations as the counter of the loop is given to be."""
    value = before[name]
    amount = amounts.get(name)
    if amount is None:
        return value
    if isinstance(amount, UnknownBlock):
        return amount
    added = [each.xreplace(given) for each in amount]
    if isinstance(value, TensorPointer):
        return value.moved(added)
    block = as_block(value)
    return number_of(combined(operator.add, block, IntegerBlock(block.shape, added[0])))


def substituted(value: Value, given: Mapping[sympy.Symbol, Formula]) -> Value:
    """A value with a formula in the place of a symbol."""
    if isinstance(value, IntegerBlock):
        return replace(value, formula=value.formula.xreplace(given))
    items = items_of(value)
    if items is not None:
        return tuple(substituted(each, given) for each in items)
    if isinstance(value, TensorPointer):
        return replace(value, offsets=tuple(each.xreplace(given) for each in value.offsets))
    return value


def _symbols(mark: Value) -> Iterator[sympy.Symbol]:
    formulas = mark.offsets if isinstance(mark, TensorPointer) else ()
    if isinstance(mark, IntegerBlock):
        formulas = (mark.formula.subs(dict.fromkeys(map(axis, range(len(mark.shape))), 1)),)
    for formula in formulas:
        yield from formula.free_symbols


def _changes(mark: Value, after: Value) -> tuple[Formula, ...] | None:
    """What an iteration adds to each part of a mark; ``None`` if the two are not alike."""
    if isinstance(mark, TensorPointer):
        if not isinstance(after, TensorPointer) or replace(after, offsets=mark.offsets) != mark:
            return None
        return tuple(new - old for new, old in zip(after.offsets, mark.offsets, strict=True))
    block = as_block(after)
    if not isinstance(mark, IntegerBlock) or not isinstance(block, IntegerBlock):
        return None
    if block.is_condition or block.shape != mark.shape:
        return None
    return (block.formula - mark.formula,)


def _sum(change: Formula, counter: sympy.Symbol, moving: set[sympy.Symbol]) -> Formula | None:
    """The sum of a polynomial over the numbers below the counter; ``None`` if there is no such.

    By Newton's forward differences, whose binomial coefficients are integers. What has to fit in
    an iteration is added as 0.
    """
    expanded = multiplied_out(unmarked(change))
    if expanded is None or expanded.free_symbols & moving or not expanded.is_polynomial(counter):
        return None
    degree = _degree_in(counter, expanded)
    if degree > MAX_DEGREE:
        return None
    row = [expanded.xreplace({counter: sympy.Integer(n)}) for n in range(degree + 1)]
    integral: Formula = sympy.Integer(0)
    rational: Formula = sympy.Integer(0)
    factors: Formula = sympy.Integer(1)
    for order in range(1, degree + 2):
        factors = sympy.expand(factors * (counter - order + 1))
        integral += row[0] * FloorDiv(factors, factorial(order))
        rational += row[0] * factors / factorial(order)
        row = [after - before for before, after in pairwise(row)]
    simplest = sympy.expand(rational)
    has_fractions = any(not each.is_Integer for each in simplest.atoms(sympy.Rational))
    last = change.xreplace({counter: counter - 1})
    kept = (each for each in last.atoms(Kept) if not each.free_symbols & moving)
    return (integral if has_fractions else simplest) + sum(each - unmarked(each) for each in kept)


def _degree_in(variable: sympy.Symbol, polynomial: Formula) -> int:
    """The largest power of a variable in a polynomial that is multiplied out."""
    powers = (each for each in polynomial.atoms(sympy.Pow) if each.base == variable)
    return max([int(each.exp) for each in powers], default=int(variable in polynomial.free_symbols))


def _unknown(name: str, before: Value, after: Value) -> UnknownBlock:
    shape = getattr(after, "shape", getattr(before, "shape", ()))
    for value in (before, after):
        if isinstance(value, UnknownBlock):
            return UnknownBlock(shape, value.reason)
    return UnknownBlock(shape, f"{name}, whose value in a loop has no closed form")
