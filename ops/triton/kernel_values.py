"""What the expressions of a kernel are: blocks of integers by formula, and what nobody knows.

A block has a shape. Its value is an expression over the place in the block, ``axis(0)`` and so on,
and over program ids, counters of loops and arguments. A pointer is such a value, too: the address,
in elements, is a sum of a pointer argument and an offset.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import sympy

from simplifier import Interval, symbol
from simplifier.expr.sympy_reading import is_relation

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Formula: TypeAlias = Any
"""An expression of sympy over integers, or one of its conditions."""

BlockShape: TypeAlias = "tuple[int, ...]"

MAX_AXES: Final = 3
"""Of a grid, as GPUs have them."""

MAX_RANK: Final = 8
"""Dimensions of a block: Triton has at most 5."""

MAX_FACTORS: Final = 32
"""Of a term that is multiplied out: a formula has more terms with each factor."""

MAX_PARTS: Final = 200
"""Of a formula as it is written: an address has a few dozen, and 200 are simplified in a second."""

INT32: Final = Interval(-(1 << 31), (1 << 31) - 1)
"""What an integer holds unless a kernel asks for 64 bits: program ids, ranges and arguments."""

_RESERVED: Final = re.compile(r"(pid|i|num_programs)\d+|_before_.*|register\d*|th_x|bl_[xyz]")


def is_reserved(name: str) -> bool:
    """Whether maps of kernels have a variable of this name, so that no argument may have it."""
    return _RESERVED.fullmatch(name) is not None


class ShapesDifferError(Exception):
    """Two blocks whose shapes do not fit; whoever asked knows the place."""


class Kept(sympy.Function):
    """A value that has to fit in the bits of its type: ``Kept(x)`` is x if ``INT32`` holds it."""

    is_integer = True


def unmarked(formula: Formula) -> Formula:
    """A formula without the marks of what has to fit."""
    return formula.replace(Kept, _value, simultaneous=False)


def _value(kept: Formula) -> Formula:
    return kept


@dataclass(frozen=True, slots=True)
class IntegerBlock:
    """A block of integers, addresses or conditions, by a formula; a scalar has no dimension.

    Sums and products of 32 bits, or of 64 if it ``is_wide``, may leave out what does not fit. Where
    a value has to fit, it is :class:`Kept`.
    """

    shape: BlockShape
    formula: Formula
    is_wide: bool = False

    @property
    def is_condition(self) -> bool:
        """Whether it holds conditions."""
        return is_relation(self.formula)


@dataclass(frozen=True, slots=True)
class UnknownBlock:
    """A block of numbers that are known only while the kernel runs.

    Attributes:
        reason: where they come from.
        implied: of conditions, what holds wherever they do.
    """

    shape: BlockShape
    reason: str
    implied: Formula = sympy.true


@dataclass(frozen=True, slots=True)
class TensorPointer:
    """A block of a tensor, by its offsets: ``tl.make_block_ptr``, or a tensor descriptor.

    An access leaves out what lies outside of the tensor: of a descriptor along all dimensions,
    otherwise along those that it checks.
    """

    base: Formula
    sizes: tuple[Formula, ...]
    strides: tuple[Formula, ...]
    offsets: tuple[Formula, ...]
    block: BlockShape
    is_descriptor: bool = False

    def moved(self, by: Sequence[Formula]) -> TensorPointer:
        """The block so many elements further along each dimension."""
        offsets = tuple(one + other for one, other in zip(self.offsets, by, strict=True))
        return replace(self, offsets=offsets)

    def address(self) -> IntegerBlock:
        """The addresses of the elements of the block."""
        places = zip(self._places(), self.strides, strict=True)
        return IntegerBlock(
            self.block, self.base + sum(place * by for place, by in places), is_wide=True
        )

    def within(self, checked: Sequence[int]) -> Formula:
        """The condition that a place lies in the tensor along some dimensions."""
        places = self._places()
        return sympy.And(
            *(
                condition
                for number in checked
                for condition in (places[number] >= 0, places[number] < self.sizes[number])
            )
        )

    def _places(self) -> list[Formula]:
        return [
            offset + (axis(number) if size > 1 else 0)
            for number, (offset, size) in enumerate(zip(self.offsets, self.block, strict=True))
        ]


Value: TypeAlias = Any
"""One of the above, a tuple of values, or a number, text or ``None`` that is known."""


@cache
def axis(number: int) -> sympy.Symbol:
    """The place in a block along a dimension."""
    return symbol(f"i{number}")


def multiplied_out(formula: Formula) -> Formula | None:
    """A formula as a sum of terms; ``None`` if one may have more than ``MAX_FACTORS`` factors."""
    return None if _degree(formula) > MAX_FACTORS else sympy.expand(formula)


def _degree(formula: Formula) -> int:
    """How many variables a term of a formula may multiply."""
    if formula.is_Symbol:
        return 1
    degrees = [_degree(each) for each in formula.args]
    if isinstance(formula, sympy.Pow) and formula.exp.is_Integer:
        return degrees[0] * int(formula.exp)
    return sum(degrees) if isinstance(formula, sympy.Mul) else max(degrees, default=0)


def as_block(value: Value) -> IntegerBlock | UnknownBlock:
    """A number as a scalar; what is no integer is unknown."""
    if isinstance(value, (IntegerBlock, UnknownBlock)):
        return value
    if isinstance(value, bool):
        return IntegerBlock((), sympy.true if value else sympy.false)
    if isinstance(value, int):
        return IntegerBlock((), sympy.Integer(value), not is_narrow(value))
    return UnknownBlock((), "a value that is no integer")


class RuntimeInteger(int):
    """A number that is known, and that is kept in 32 bits while the kernel runs."""


def is_narrow(number: int) -> bool:
    """Whether an integer that is known has 32 bits."""
    return isinstance(number, RuntimeInteger) or number in INT32


def is_integer(value: Value) -> bool:
    """Whether a value is an integer that is known."""
    return isinstance(value, int) and not isinstance(value, bool)


def number_of(value: Value) -> Value:
    """What a scalar is, if it is a number or a truth value that is known."""
    if not isinstance(value, IntegerBlock) or value.shape:
        return value
    if value.formula in (sympy.true, sympy.false):
        return value.formula is sympy.true
    is_narrow_number = value.formula.is_Integer and not value.is_wide
    return RuntimeInteger(value.formula) if is_narrow_number else value


def items_of(value: Value) -> tuple[Value, ...] | None:
    """The items of a tuple; ``None`` for anything else."""
    return cast("tuple[Value, ...]", value) if isinstance(value, tuple) else None


def known(value: Value) -> bool:
    """Whether a value is no block, but something that the compiler knows, and that fits."""
    if isinstance(value, RuntimeInteger):
        return value in INT32
    return not isinstance(value, (IntegerBlock, UnknownBlock, TensorPointer))


# Shapes.


def common_shape(shapes: Sequence[BlockShape]) -> BlockShape:
    """The shape that all of them are broadcast to.

    Raises:
        ShapesDifferError: there is none.

    >>> common_shape([(16, 1), (1, 32), ()])
    (16, 32)
    """
    rank = max(map(len, shapes), default=0)
    if rank > MAX_RANK:
        raise ShapesDifferError(f"a block has {rank} dimensions; expected at most {MAX_RANK}")
    found: list[int] = []
    for sizes in zip(*((1,) * (rank - len(shape)) + shape for shape in shapes), strict=True):
        several = {*sizes} - {1}
        if len(several) > 1:
            texts = ", ".join(map(str, shapes))
            raise ShapesDifferError(f"blocks of the shapes {texts} do not fit")
        found.append(several.pop() if several else 1)
    return tuple(found)


def combined(
    apply: Callable[..., Formula], *values: IntegerBlock | UnknownBlock
) -> IntegerBlock | UnknownBlock:
    """What a function makes of the elements of some blocks, which are broadcast.

    Raises:
        ShapesDifferError: the shapes do not fit.
    """
    shape = common_shape([value.shape for value in values])
    for value in values:
        if isinstance(value, UnknownBlock):
            return UnknownBlock(shape, value.reason)
    blocks = [value for value in values if isinstance(value, IntegerBlock)]
    found = apply(*(aligned(value, len(shape)) for value in blocks))
    if parts_of(found) > MAX_PARTS:
        return UnknownBlock(shape, f"a formula of more than {MAX_PARTS} parts")
    return IntegerBlock(shape, found, any(value.is_wide for value in blocks))


@lru_cache(maxsize=1 << 14)
def parts_of(formula: Formula) -> int:
    """How many parts a formula has as it is written, where equal ones count again."""
    return 1 + sum(map(parts_of, formula.args))


def aligned(value: IntegerBlock, rank: int) -> Formula:
    """The formula of a block among blocks of more dimensions: its own are the last."""
    more = rank - len(value.shape)
    return moved(value.formula, {old: old + more for old in range(len(value.shape))})


def moved(formula: Formula, places: dict[int, int]) -> Formula:
    """A formula with its dimensions at other places."""
    return formula.xreplace({axis(old): axis(new) for old, new in places.items()})


def with_axes(value: Value, items: Sequence[int | None]) -> IntegerBlock | UnknownBlock:
    """A block with its dimensions in some order, and a new one of size 1 for each ``None``."""
    shape = common_shape([tuple(1 if item is None else value.shape[item] for item in items)])
    if isinstance(value, UnknownBlock):
        return UnknownBlock(shape, value.reason)
    places = {item: new for new, item in enumerate(items) if item is not None}
    return replace(value, shape=shape, formula=moved(value.formula, places))
