"""Values of a kernel's expressions: blocks of integers by formula, and unknown ones.

A block has a shape. Its value is an expression over the place in the block, `axis(0)` and so
on, and over program ids, counters of loops and arguments. A pointer is such a value, too: the
address, in elements, is a sum of a pointer argument and an offset.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any, Final, NamedTuple, TypeAlias, cast

import sympy

from simplifier import BitAnd, BitOr, BitXor, Facts, FloorDiv, Mod, bounds_of, symbol
from simplifier.errors import quoted
from simplifier.forms import Interval, is_relation

Formula: TypeAlias = Any
"""An expression of sympy over integers, or one of its conditions."""

BlockShape: TypeAlias = "tuple[int, ...]"

MAX_AXES: Final = 3
"""Of a grid, as GPUs have them."""

MAX_RANK: Final = 16
"""Dimensions of a block: people write at most 5, and kernels of fusions have one for each digit."""

MAX_FACTORS: Final = 32
"""Of a term that is multiplied out: a formula has more terms with each factor."""

MAX_PARTS: Final = 200
"""Of a formula as it is written: an address has a few dozen, and 200 are simplified in a second."""

SHIFTS: Final = Interval(0, 63)
"""Bits by which an integer is moved: it has no more than 64."""

ANY: Final = Interval(None, None)

INT32: Final = Interval(-(1 << 31), (1 << 31) - 1)
"""Range of an integer unless a kernel asks for 64 bits: program ids, ranges and arguments."""

MAX_NARROW_BITS: Final = 32
"""Of more, numbers without bounds are taken to have enough."""

_RESERVED: Final = re.compile(
    r"(pid|i|rt|num_programs)\d+|_(before|loaded)_.*|register\d*|th_x|bl_[xyz]"
)


def is_reserved(name: str) -> bool:
    """Whether maps of kernels have a variable of this name, so that no argument may have it."""
    return _RESERVED.fullmatch(name) is not None


def limits_of(element_type: str) -> Interval | None:
    """The range of a type of integers, such as ``i32``; ``None`` for floating-point numbers."""
    sign, bits = element_type[:1], element_type[1:]
    if sign not in ("i", "u") or not bits.isdigit():
        return None
    size = 1 << int(bits)
    is_signed = sign == "i" and bits != "1"
    return Interval(-size // 2, size // 2 - 1) if is_signed else Interval(0, size - 1)


class ShapesDifferError(Exception):
    """Two blocks whose shapes do not fit; whoever asked knows the place."""


def bits_of(element_type: str) -> int:
    """How many bits a type of integers has; a constant takes the type of what is beside it."""
    return int(element_type[1:] or 0)


def common_type(element_types: Iterable[str]) -> str:
    """The type that Triton gives integers together: the wider one, or the one without a sign.

    >>> common_type(["i32", ""]), common_type(["i32", "u32"]), common_type(["u32", "i64"])
    ('i32', 'u32', 'i64')

    Source:
        ``integer_promote_impl`` of Triton's ``semantic.py``.
    """
    return max(element_types, key=lambda each: (bits_of(each), each[:1] == "u"), default="")


class Kept(sympy.Function):
    """A value that has to fit between limits, those of its type: ``Kept(x, lower, upper, wraps)``.

    If ``wraps`` is 1, it is what the bits of the type hold of x. Otherwise it is x, and right only
    where that fits.
    """

    is_integer = True

    @property
    def limits(self) -> Interval:
        """The range of the type."""
        return Interval(*map(int, self.args[1:3]))

    @property
    def wraps(self) -> bool:
        """Whether it is right, too, where the value does not fit."""
        return self.args[3] == 1

    def without_end(self) -> Formula:
        """The value, as if there were always enough bits."""
        return unmarked(self.args[0])


def unmarked(formula: Formula) -> Formula:
    """A formula without the marks of numbers that have to fit."""
    return formula.replace(Kept, _value, simultaneous=False)


def _value(value: Formula, lower: Formula, upper: Formula, wraps: Formula) -> Formula:
    return low_bits(Interval(int(lower), int(upper)), value) if wraps == 1 else value


def low_bits(limits: Interval, value: Formula) -> Formula:
    """What an integer with these limits holds of a number."""
    least, size = limits.lower or 0, limits.size or 1
    return Mod(value - least, size) + least


class Loaded(sympy.Function):
    """A number that an access gives: ``Loaded(access, *counters, *place)``.

    The counters are those of the loops around the access, and the place is in its block. Whether
    the number is an integer is open until an address or a loop needs it.
    """

    is_integer = True


def integers_of(*formulas: Formula) -> set[Formula]:
    """The loaded numbers that formulas compute with, beyond conditions: they are integers."""
    found: set[Formula] = set()
    for formula in formulas:
        if isinstance(formula, Loaded):
            found.add(formula)
        elif not is_relation(formula):
            found |= integers_of(*formula.args)
    return found


@dataclass(frozen=True, slots=True)
class IntegerBlock:
    """A block of integers, addresses or conditions, by a formula; a scalar has no dimension.

    Sums and products may leave out that the bits of the type end. Where a value has to fit, it is
    :class:`Kept`.
    """

    shape: BlockShape
    formula: Formula
    element_type: str = "i32"
    """Such as ``u8``; empty for a constant."""

    @property
    def is_condition(self) -> bool:
        """Whether it holds conditions."""
        return is_relation(self.formula)


@dataclass(frozen=True, slots=True)
class UnknownBlock:
    """A block of numbers that are known only while the kernel runs.

    Attributes:
        shape: ``None`` if nobody can tell.
        reason: what they are.
        line: where they come from, once the expression is read.
        implied: of conditions, what holds wherever they do.
    """

    shape: BlockShape | None
    reason: str
    implied: Formula = sympy.true
    line: int = 0

    def __str__(self) -> str:
        return f"{self.reason}, in line {self.line}" if self.line else self.reason


@dataclass(frozen=True, slots=True)
class TensorPointer:
    """A block of a tensor, by its offsets: ``tl.make_block_ptr``, or a tensor descriptor.

    An access leaves out what lies outside of the tensor: of a descriptor along all dimensions,
    otherwise along those that it checks. A descriptor that is an argument without a value has no
    sizes and strides, and a block only if the access tells it.
    """

    base: Formula
    sizes: tuple[Formula, ...]
    strides: tuple[Formula, ...]
    offsets: tuple[Formula, ...]
    block: BlockShape | None
    is_descriptor: bool = False

    def moved(self, by: Sequence[Formula]) -> TensorPointer:
        """The block so many elements further along each dimension."""
        offsets = tuple(one + other for one, other in zip(self.offsets, by, strict=True))
        return replace(self, offsets=offsets)

    def address(self) -> IntegerBlock:
        """The addresses of the elements of a block that is known."""
        steps = map(operator.mul, self.places(), self.strides)
        return IntegerBlock(self.block or (), self.base + sum(steps), "i64")

    def within(self, checked: Sequence[int]) -> Formula:
        """The condition that a place lies in the tensor along some dimensions."""
        places = self.places()
        pairs = [(places[number], self.sizes[number]) for number in checked]
        return sympy.And(*(sympy.And(place >= 0, place < size) for place, size in pairs))

    def places(self) -> list[Formula]:
        """The index of each element of the block, or of the first one."""
        block = self.block or (1,) * len(self.offsets)
        own = [axis(number) if size > 1 else 0 for number, size in enumerate(block)]
        return [offset + place for offset, place in zip(self.offsets, own, strict=True)]


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
    """Number of variables that a term of a formula may multiply."""
    if formula.is_Symbol:
        return 1
    degrees = [_degree(each) for each in formula.args]
    if isinstance(formula, sympy.Pow) and formula.exp.is_Integer:
        return degrees[0] * int(formula.exp)
    return sum(degrees) if isinstance(formula, sympy.Mul) else max(degrees, default=0)


def as_block(value: Value) -> IntegerBlock | UnknownBlock:
    """A number as a scalar; a value that is no integer is unknown."""
    if isinstance(value, (IntegerBlock, UnknownBlock)):
        return value
    if isinstance(value, bool):
        return IntegerBlock((), sympy.true if value else sympy.false)
    if isinstance(value, int):
        narrow = "i32" if isinstance(value, RuntimeInteger) else ""
        return IntegerBlock((), sympy.Integer(value), narrow if is_narrow(value) else "i64")
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
    """The value of a scalar, if it is a number or a truth value that is known."""
    if not isinstance(value, IntegerBlock) or value.shape:
        return value
    if value.formula in (sympy.true, sympy.false):
        return value.formula is sympy.true
    is_narrow_number = value.formula.is_Integer and value.element_type in ("", "i32")
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
    """A function of the elements of some blocks, which are broadcast.

    Raises:
        ShapesDifferError: the shapes do not fit.
    """
    shapes = [value.shape for value in values]
    told = [shape for shape in shapes if shape is not None]
    shape = common_shape(told)
    for value in values:
        if isinstance(value, UnknownBlock):
            common = shape if len(told) == len(shapes) else None
            return replace(value, shape=common, implied=sympy.true)
    blocks = [value for value in values if isinstance(value, IntegerBlock)]
    found = apply(*(aligned(value, len(shape)) for value in blocks))
    if parts_of(found) > MAX_PARTS:
        return UnknownBlock(shape, f"a formula of more than {MAX_PARTS} parts")
    return IntegerBlock(shape, found, type_of(*blocks))


def type_of(*blocks: IntegerBlock) -> str:
    """The type of blocks together, beside which conditions are numbers of any type."""
    return common_type(each.element_type for each in blocks if not each.is_condition)


@lru_cache(maxsize=1 << 14)
def parts_of(formula: Formula) -> int:
    """Number of parts of a formula as it is written, where equal ones count again."""
    return 1 + sum(map(parts_of, formula.args[:1] if isinstance(formula, Kept) else formula.args))


def aligned(value: IntegerBlock, rank: int) -> Formula:
    """The formula of a block among blocks of more dimensions: its own are the last."""
    more = rank - len(value.shape)
    return moved(value.formula, {old: old + more for old in range(len(value.shape))})


def moved(formula: Formula, places: dict[int, int]) -> Formula:
    """A formula with its dimensions at other places."""
    return formula.xreplace({axis(old): axis(new) for old, new in places.items()})


def with_axes(value: Value, items: Sequence[int | None]) -> IntegerBlock | UnknownBlock:
    """A block with its dimensions in some order, and a new one of size 1 for each ``None``."""
    if value.shape is None:
        return value
    shape = common_shape([tuple(1 if item is None else value.shape[item] for item in items)])
    if isinstance(value, UnknownBlock):
        return replace(value, shape=shape)
    places = {item: new for new, item in enumerate(items) if item is not None}
    return replace(value, shape=shape, formula=moved(value.formula, places))


# Operators on numbers that the compiler knows: constants, and arguments that have values.

MAX_BITS: Final = 4096
"""Of a number that constants make: no kernel has sizes of more."""


def of_numbers(op: ast.operator, left: Value, right: Value) -> Value:
    """An operator on two numbers that are known.

    Raises:
        ArithmeticError: the result is too large or does not exist, or it depends on whether they
            are constants or arguments.
        TypeError: they are no numbers, or the operator does not take them.
    """
    for each in (left, right):
        if not isinstance(each, (int, float)):
            raise TypeError(f"this operator has {quoted(each)} beside it; expected numbers")
    if isinstance(left, int) and isinstance(right, int):
        _check_size(op, left, right)
        _check_rounding(op, left, right)
    known_operator = OPERATORS.get(type(op))
    if known_operator is None:
        raise TypeError(f"the operator {type(op).__name__} cannot be read")
    apply: Callable[[Value, Value], Value] = getattr(operator, known_operator.name)
    try:
        found = apply(left, right)
    except OverflowError:
        raise ArithmeticError("this number is too large") from None
    return _of_type(found, left, right) if isinstance(found, int) else found


def of_number(op: ast.unaryop, operand: Value) -> Value:
    """An operator on one number that is known.

    Raises:
        TypeError: it is no number.
    """
    if not isinstance(operand, (int, float)) and not isinstance(op, ast.Not):
        raise TypeError(f"this operator is before {quoted(operand)}; expected a number")
    found = _UNARY[type(op)](operand)
    return found if isinstance(found, (bool, float)) else _of_type(found, operand)


def _of_type(found: Value, *operands: Value) -> Value:
    """A result of operands that have 32 bits while the kernel runs, or are constants."""
    is_runtime = any(isinstance(each, RuntimeInteger) for each in operands)
    return RuntimeInteger(found) if is_runtime and all(map(is_narrow, operands)) else found


def _check_size(op: ast.operator, left: int, right: int) -> None:
    if not isinstance(op, (ast.Pow, ast.LShift, ast.Mult)):
        return
    bits = left.bit_length()
    if isinstance(op, ast.Mult):
        bits += right.bit_length()
    else:
        bits = right * max(1, bits) if isinstance(op, ast.Pow) else bits + right
    if bits > MAX_BITS or (right < 0 and not isinstance(op, ast.Mult)):
        raise ArithmeticError(f"this number has more than {MAX_BITS} bits, or is no integer")


def _check_rounding(op: ast.operator, left: int, right: int) -> None:
    """Triton rounds quotients of constants down, and those of arguments toward zero."""
    is_division = isinstance(op, (ast.FloorDiv, ast.Mod)) and right
    if is_division and (left < 0) != (right < 0) and left % right:
        rounding = "constants are rounded down, and arguments toward zero"
        raise ArithmeticError(f"{left} is divided by {right}: {rounding}; expected one sign")


_UNARY: Final[Mapping[type, Callable[[Value], Value]]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Not: operator.not_,
    ast.Invert: operator.invert,
}


# Operators on formulas.


def is_nonnegative(formula: Formula, bounds: Mapping[str, Interval]) -> bool:
    """Whether a formula is known to be at least 0, if divisors are positive."""
    formula = unmarked(formula)
    known_parts = {
        part: symbol(f"part{number}")
        for number, part in enumerate(sorted(formula.atoms(Mod, FloorDiv), key=str))
        if not part.args[1].is_Integer
        and (isinstance(part, Mod) or is_nonnegative(part.args[0], bounds))
    }
    parts = {each.name: Interval(0, None) for each in known_parts.values()}
    least = bounds_with_loads(formula.xreplace(known_parts), {**bounds, **parts}).lower
    return least is not None and least >= 0


def bounds_with_loads(formula: Formula, bounds: Mapping[str, Interval]) -> Interval:
    """The bounds of a formula, also of numbers that are loaded."""
    loads = sorted(formula.atoms(Loaded), key=str)
    variables = {each: symbol(f"_loaded_{place}") for place, each in enumerate(loads)}
    limits = {
        str(name): bounds.get(name_of_load(each.args[0]), ANY) for each, name in variables.items()
    }
    return bounds_of(formula.xreplace(variables), Facts({**bounds, **limits}))


def name_of_load(access: Formula) -> str:
    """The name by which bounds have what an access gives."""
    return f"_loaded_by_{access}"


def narrow_bounds(bounds: Mapping[str, Interval]) -> dict[str, Interval]:
    """The bounds of variables that are kept in 32 bits: all but numbers that are loaded."""
    return {
        name: each if name.startswith("_loaded_") else each.intersect(INT32)
        for name, each in bounds.items()
    }


def as_number(block: Value) -> Value:
    """Conditions as 0 and 1."""
    if isinstance(block, IntegerBlock) and block.is_condition:
        return IntegerBlock(block.shape, sympy.Piecewise((1, block.formula), (0, True)), "")
    return block


def implied_by_both(left: Value, right: Value) -> UnknownBlock | None:
    """A condition of which only a part is known, or ``None`` if all of it is."""
    if not (isinstance(left, UnknownBlock) or isinstance(right, UnknownBlock)):
        return None
    both = combined(lambda *_: sympy.true, left, right)
    rank = len(both.shape or ())
    parts = [_implied(each, rank) for each in (left, right) if len(each.shape or ()) <= rank]
    return replace(cast("UnknownBlock", both), implied=sympy.And(*parts))


def _implied(block: Value, rank: int) -> Formula:
    from_block = block.implied if isinstance(block, UnknownBlock) else block.formula
    if not is_relation(from_block):
        return sympy.true
    return aligned(IntegerBlock(block.shape or (), from_block), rank)


def where(test: Formula, first: Formula, second: Formula) -> Formula:
    """One of two formulas, by a condition."""
    if all(map(is_relation, (first, second))):
        return sympy.Or(sympy.And(test, first), sympy.And(sympy.Not(test), second))
    if not any(map(is_relation, (first, second))):
        change = first - second  # so that what both share is written once
        if parts_of(change) < parts_of(first):
            return second + _choice(test, change, sympy.S.Zero)
    return _choice(test, first, second)


def _choice(test: Formula, first: Formula, second: Formula) -> Formula:
    try:
        return sympy.Piecewise((first, test), (second, True))
    except KeyError:  # sympy takes choices out of a condition by its symbols; loads have none
        return sympy.Piecewise((first, without_choices(test)), (second, True))


def without_choices(condition: Formula) -> Formula:
    """A condition on choices as one on what they choose from.

    >>> low = sympy.Piecewise((0, Loaded(1) < 0), (Loaded(1), True))
    >>> print(without_choices(low < 5))
    (Loaded(1) < 0) | ((Loaded(1) >= 0) & (Loaded(1) < 5))
    """
    choices = sorted(condition.atoms(sympy.Piecewise), key=sympy.Piecewise.count_ops)
    if not choices:
        return condition
    found, left = sympy.false, sympy.true
    for value, holds in choices[0].args:
        found = sympy.Or(found, sympy.And(left, holds, condition.xreplace({choices[0]: value})))
        left = sympy.And(left, sympy.Not(holds))
    return without_choices(found)


def all_of(*conditions: Formula) -> Formula:
    """That all conditions hold."""
    return sympy.And(*map(condition_of, conditions))


def conjuncts(condition: Formula) -> Sequence[Formula]:
    """The conditions that hold where one does."""
    return condition.args if isinstance(condition, sympy.And) else (condition,)


def any_of(*conditions: Formula) -> Formula:
    """That one of some conditions holds, at least."""
    return sympy.Or(*map(condition_of, conditions))


def condition_of(formula: Formula) -> Formula:
    """A condition; a number is true unless it is 0."""
    return formula if is_relation(formula) else sympy.Ne(formula, 0)


def power_of_two(exponent: Formula, bounds: Interval) -> Formula:
    """The power of two of an exponent in bounds.

    Raises:
        ArithmeticError: they are too wide for an integer of 64 bits.
    """
    if not SHIFTS.contains(bounds):
        expected = f"expected a number from {SHIFTS.lower} to {SHIFTS.upper}"
        raise ArithmeticError(f"bits are moved by {exponent}; {expected}")
    *others, last = range(bounds.lower or 0, (bounds.upper or 0) + 1)
    chosen = [(2**number, sympy.Eq(exponent, number)) for number in others]
    return sympy.Piecewise(*chosen, (2**last, True)) if chosen else sympy.Integer(2**last)


class Operator(NamedTuple):
    """An operator on numbers that are known, and on formulas.

    Without ``of_formulas`` the result is no integer; ``of_bits`` is for other than conditions.
    """

    name: str
    """In :mod:`operator`."""
    of_formulas: Callable[..., Formula] | None = None
    of_bits: Callable[..., Formula] | None = None


OPERATORS: Final[Mapping[type, Operator]] = {
    ast.Add: Operator("add", operator.add),
    ast.Sub: Operator("sub", operator.sub),
    ast.Mult: Operator("mul", operator.mul),
    ast.Div: Operator("truediv"),
    ast.FloorDiv: Operator("floordiv", FloorDiv),
    ast.Mod: Operator("mod", Mod),
    ast.Pow: Operator("pow"),
    ast.BitAnd: Operator("and_", all_of, BitAnd),
    ast.BitOr: Operator("or_", any_of, BitOr),
    ast.BitXor: Operator("xor", sympy.Xor, BitXor),
    ast.LShift: Operator("lshift", operator.mul),
    ast.RShift: Operator("rshift", FloorDiv),
}

COMPARISONS: Final[Mapping[type, tuple[Callable[..., Value], Callable[..., Formula]]]] = {
    ast.Eq: (operator.eq, sympy.Eq),
    ast.NotEq: (operator.ne, sympy.Ne),
    ast.Lt: (operator.lt, operator.lt),
    ast.LtE: (operator.le, operator.le),
    ast.Gt: (operator.gt, operator.gt),
    ast.GtE: (operator.ge, operator.ge),
}
